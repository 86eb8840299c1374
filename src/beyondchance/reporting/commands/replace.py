"""The report of `replace`: a model in the place of each person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import floor, isnan, nan
from typing import TYPE_CHECKING, Any

from beyondchance.inference.replacement import FEW_DOCUMENTS
from beyondchance.messages import Note
from beyondchance.numbers import in_digits, p_in_digits
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import (
    Block,
    Cell,
    Prose,
    Range,
    Report,
    Table,
    counted,
    in_list,
    report_of_corpus,
)

if TYPE_CHECKING:
    from beyondchance.inference.plan import ReplacementPlan
    from beyondchance.inference.replacement import InPlaceOf, Replacement

FEW_HUMANS = Note(
    "with fewer than three people, a person's habits cannot be separated from the model's",
    is_caution=True,
)
_BLIND = {
    "yes": "The people did not see what the model had marked (blind: yes).",
    "no": "The people saw what the model had marked (blind: no) and may have adopted it, so that "
    "their agreement with it shows little.",
    "unknown": "Whether the people saw what the model had marked is not known (blind: unknown); if "
    "they did, their agreement with it shows little.",
}
_CONDITIONS = {
    "people": "agreement of the people",
    "chance": "agreement of the model",
    "margin": "difference plus margin",
    "keep": "model minus the share to keep",
}
_CEILINGS = {
    "human": "people among each other",
    "about": "about what a perfect model reaches (the root of that)",
    "lower": "best observed consensus of the others with each person (lower ceiling)",
    "upper": "people with their own best observed consensus (upper ceiling)",
}


def report_of_replacement(found: Replacement, *, digits: int = 4) -> Report:
    """The report of a model in the place of people, of which an output shows a part."""
    models = list(found.models.values()) or [found]

    def blocks() -> list[Block]:
        made: list[Block] = [Prose(_compared(found))]
        if len(models) > 1:
            made.append(models_table(models))
            made.append(differences_table(found))
        for one in models:
            made += [
                Prose(verdict(one)),
                people_table(one),
                Prose(mean(one, digits)),
                ceiling_table(one),
            ]
        return made

    def data() -> dict[str, Any]:
        return {
            "humans": list(found.humans),
            "keep": found.keep,
            "margin": found.margin,
            "blind": found.blind,
            "confidence": found.confidence,
            "models": [_data(one) for one in models],
            "differences": [
                {"a": a, "b": b, **_ends(x.difference, x.interval), "p": x.p}
                for (a, b), x in found.differences.items()
            ],
        }

    def rows() -> list[dict[str, Any]]:
        whole = data()
        asked = _single(whole)
        return [*chain(*(_rows(one, asked) for one in whole["models"])), *whole["differences"]]

    return report_of_corpus(
        "replace",
        found.corpus,
        *cautions(models),
        signature=str(found.settings),
        make_blocks=blocks,
        make_data=data,
        make_rows=rows,
    )


def _rows(one: dict[str, Any], asked: dict[str, Any]) -> Iterator[dict[str, Any]]:
    """A model for CSV: on average, in the place of each person, and next to the ceilings."""
    model = {"model": one["model"], "person": ""}
    yield {**model, **_single(one), **one["mean"], **asked}
    yield from ({**model, "person": name, **row} for name, row in one["people"].items())
    yield from ({**model, "ceiling": name, **row} for name, row in one["ceilings"].items())


def _single(data: dict[str, Any]) -> dict[str, Any]:
    return {name: value for name, value in data.items() if not isinstance(value, dict | list)}


def cautions(models: Sequence[Replacement]) -> list[Note]:
    """Return what to know before relying on it."""
    notes = [FEW_HUMANS] if any(one.has_few_humans for one in models) else []
    if any(map(_star, models)):
        nouns = f"{models[0].corpus.extent.noun}s"
        missed = f"* failures in whole {nouns} could have been missed: too few {nouns} carry the"
        notes.append(Note(f"{missed} result", is_caution=True))
    return notes + [
        Note(
            f"{one.model} agrees with {in_list(one.copied)} much better than people agree with "
            "each other: it looks like a copy",
            is_caution=True,
        )
        for one in models
        if one.copied
    ]


def _compared(found: Replacement) -> str:
    by = sentences.by_measure(found.settings.measure, found.settings.positions)
    counts = [one.n_documents for one in found.models.values()] or [found.n_documents]
    noun = found.corpus.extent.noun
    extent = counted(max(counts), noun)
    if min(counts) < max(counts):
        extent = f"{min(counts):,} to {extent}"
    return (
        f"People: {in_list(found.humans)}. Each is compared with the others, and so is the model "
        f"in that place, by {by}, in the same {noun}s ({extent} with marks)."
    )


def verdict(one: Replacement) -> str:
    """Say what is shown, and no more than that."""
    headline = _headline(one)
    who = "It" if headline else one.model
    said = [headline, _outcome(one, who)] if one.has_verdict else [_without_verdict(one)]
    if one.has_verdict and one.unjudged:
        said.append(
            f"Not judged, and not compared with: {in_list(one.unjudged)}, not shown to agree with "
            "the others better than chance."
        )
    return " ".join(filter(None, [*said, _BLIND[one.blind]]))


def _headline(one: Replacement) -> str:
    if isnan(one.keeps):
        return ""
    keeps = "would keep" if one.has_few_documents else "keeps"
    share = floor(100 * one.keeps + 1e-6)
    return f"{one.model} {keeps} at least {share} % of the people's agreement beyond chance."


def _outcome(one: Replacement, who: str) -> str:
    """Say whether it is as good as asked for, on average and in the place of each person."""
    people = in_list(list(one.by_human))
    how = f"(on average over {people}; one-sided tests at {100 * (1 - one.confidence):g} %)"
    found, star, noun = one.verdict, _star(one), one.corpus.extent.noun
    if one.has_few_documents and found != "not shown":
        few = f"too few {noun}s to rely on ({one.n_documents} with marks, expected 20)"
        return f"{who} {found}{star}; {few}. It should {_asked(one)} {how}."
    if found == "shown":
        return f"{who} is shown{star} to {_asked(one)} {how}. {_by_person(one)}"
    if found == "worse":
        return f"{who} is shown to be worse than asked for: it should {_asked(one)} {how}."
    needed = one.documents_needed
    number = f"no number of {noun}s" if needed is None else f"about {counted(needed, noun)}"
    return (
        f"{who} is not shown to {_asked(one)} {how}, which does not mean that it is worse. "
        f"For a model as good as these people, {number} would show it in 80 % of studies."
    )


def _asked(one: Replacement | ReplacementPlan) -> str:
    agreement = "the people's agreement beyond chance"
    keep = "" if one.keep is None else f"keep {100 * one.keep:g} % of {agreement}"
    if one.margin is None:
        return keep
    return (f"{keep} and " if keep else "") + (
        f"be less than {one.margin:g} below {'it' if keep else agreement}"
    )


def _by_person(one: Replacement) -> str:
    """Say for whom the same is shown."""
    level = 1 - one.confidence
    short = [name for name, x in one.by_human.items() if x.n_documents < FEW_DOCUMENTS]
    if one.p_every <= level and not short:
        return "The same is shown in the place of every person judged."
    passed = [name for name, p in one.p_values.items() if p <= level and name not in short]
    alone = f", only in the place of {in_list(passed)} (by Holm's method)" if passed else ""
    return f"The same is not shown in the place of every person judged{alone}."


def _without_verdict(one: Replacement) -> str:
    if one.pooled.p_positive() <= 1 - one.confidence:
        who = (
            f"{in_list(one.unjudged)} are not" if one.unjudged[1:] else f"{one.unjudged[0]} is not"
        )
        why = (
            f"{who} shown to agree with the others better than chance, and too few people are left"
        )
    else:
        why = "the people are not shown to agree with each other better than chance"
    return f"No verdict on {one.model}: {why}."


def _star(one: Replacement) -> str:
    return "*" if one.is_starred and one.verdict in ("shown", "would pass") else ""


def people_table(one: Replacement) -> Table:
    """Show the model in the place of each person."""
    headings = ["in place of", "person", one.model, "difference", _heading(one)]
    if one.has_verdict:
        headings += ["p", "p (Holm)"]
    adjusted = one.p_values
    rows: list[list[Cell]] = []
    for name, x in one.by_human.items():
        row: list[Cell] = [name, x.human, x.model, x.difference, Range(*x.interval)]
        rows.append([*row, *([_p(x.p), _p(adjusted[name])] if one.has_verdict else [])])
    legend = (
        "(person, model: corrected agreement with the others; a small p shows that the model is "
        "not worse than asked for)"
    )
    return Table(headings, rows, f"in the place of each person: {one.model}", legend)


def _p(value: float) -> Cell:
    return "-" if isnan(value) else p_in_digits(value, 4)


def _heading(one: Replacement) -> str:
    return f"{100 * one.confidence:g} %"


def mean(one: Replacement, digits: int) -> str:
    """Say the mean difference."""
    found = one.mean
    low, high = (in_digits(end, digits) for end in found.interval)
    ends = "" if isnan(found.interval[0]) else f" ({_heading(one)}: {low} to {high})"
    difference = in_digits(found.difference, digits)
    return f"On average {one.model} differs from the people by {difference}{ends}."


def ceiling_table(one: Replacement) -> Table:
    """How much there is to reach."""
    found = one.ceiling
    rows: list[Sequence[Cell]] = [(one.model, found.model, None, None)]
    rows += [
        (what, getattr(found, name), share.value, Range(*share.interval))
        for name, what in _CEILINGS.items()
        if (share := found.share.get(name))
    ]
    headings = ("what", "corrected", f"{one.model}'s share", _heading(one))
    remark = "(a perfect model lies between the two ceilings, if people err independently)"
    has_both = "upper" in found.share
    return Table(headings, rows, "how much there is to reach", remark if has_both else "")


def models_table(models: Sequence[Replacement]) -> Table:
    """All models, the best first."""
    rows: list[Sequence[Cell]] = [
        (
            one.model,
            one.ceiling.model,
            None if isnan(one.keeps) else one.keeps,
            one.mean.difference,
            Range(*one.mean.interval),
            f"{one.verdict}{_star(one)}",
        )
        for one in models
    ]
    headings = ("model", "corrected", "keeps", "mean difference", _heading(models[0]), "verdict")
    return Table(headings, rows, "models, the best first")


def differences_table(found: Replacement) -> Table:
    """Each two models."""
    rows: list[Sequence[Cell]] = [
        (a, b, x.difference, Range(*x.interval), _p(x.p)) for (a, b), x in found.differences.items()
    ]
    headings = ("first", "second", "difference", _heading(found), "p")
    return Table(headings, rows, "models compared with each other")


def _ends(difference: float, interval: tuple[float, float]) -> dict[str, Any]:
    low, high = interval
    return {"difference": difference, "low": low, "high": high}


def _row(x: InPlaceOf, p: float) -> dict[str, Any]:
    return {"human": x.human, "model_score": x.model, **_ends(x.difference, x.interval), "p": p}


def _people(one: Replacement) -> dict[str, dict[str, Any]]:
    adjusted = one.p_values
    return {
        name: {
            **_row(x, x.p if one.has_verdict else nan),
            "adjusted": adjusted[name],
            "n_documents": x.n_documents,
        }
        for name, x in one.by_human.items()
    }


def _data(one: Replacement) -> dict[str, Any]:
    found = one.ceiling
    return {
        "model": one.model,
        "verdict": one.verdict,
        "is_starred": one.is_starred,
        "keeps": one.keeps,
        "corrected": found.model,
        "n_documents": one.n_documents,
        "documents_needed": one.documents_needed,
        "mean": _row(one.mean, one.mean.p if one.has_verdict else nan),
        "p_every": one.p_every,
        "people": _people(one),
        "unjudged": list(one.unjudged),
        "copied": list(one.copied),
        "ceilings": {
            name: {
                "corrected": getattr(found, name),
                "share": share.value,
                **dict(zip(("low", "high"), share.interval, strict=True)),
            }
            for name, share in found.share.items()
        },
    }


def report_of_replacement_plan(found: ReplacementPlan) -> Report:
    """Build the report of a plan for a test of replacement."""
    conditions: dict[str, dict[str, Any]] = {
        name: {
            "assumed": assumed,
            **dict(zip(("documents", "low", "high"), numbers or (None,) * 3, strict=True)),
        }
        for name, (assumed, numbers) in found.by_condition.items()
    }

    def blocks() -> list[Block]:
        it_takes = "No number of documents would show it"
        if found.documents is not None:
            is_enough = found.documents <= found.n_pilot
            pilot = "as many as it has or fewer" if is_enough else "which are included"
            it_takes = (
                f"To show it takes about {found.documents:,} documents with marks like the pilot's "
                f"{found.n_pilot:,}, {pilot}, to succeed in {100 * found.power:g} % of such studies"
            )
        headings = ("to be shown above 0", "assumed", "documents", "from", "to")
        rows = [(_CONDITIONS[name], *row.values()) for name, row in conditions.items()]
        remark = "(from, to: the range of numbers that may be needed, because the pilot is small)"
        return [
            Prose(f"{found.model} should {_asked(found)}. {it_takes}."),
            Table(headings, rows, remark=remark),
        ]

    names = ("model", "keep", "margin", "power", "n_pilot", "documents")
    return Report(
        command="plan",
        signature=str(found.settings),
        make_blocks=blocks,
        make_data=lambda: {
            **{name: getattr(found, name) for name in names},
            "conditions": conditions,
        },
        make_rows=lambda: [{"condition": name, **row} for name, row in conditions.items()],
    )
