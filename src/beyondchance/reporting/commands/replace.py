"""The report of `replace`: a model in the place of each person."""

from __future__ import annotations

from collections.abc import Sequence
from math import isinf, isnan
from typing import TYPE_CHECKING, Any

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
)

if TYPE_CHECKING:
    from beyondchance.inference.plan import ReplacementPlan
    from beyondchance.inference.replacement import Replacement

FEW_HUMANS = Note(
    "with fewer than three people, what one of them does otherwise cannot be told from what the "
    "model does",
    is_caution=True,
)
FEW_DOCUMENTS = Note(
    "* fewer than 50 documents with marks: the interval of the mean is too narrow", is_caution=True
)
VERY_FEW_DOCUMENTS = Note(
    "with fewer than 20 documents with marks, no test of a person can be relied on",
    is_caution=True,
)
_CEILINGS = {
    "human": "people among each other",
    "about": "about what a perfect model reaches (the root of that)",
    "lower": "best observed consensus of the others with each person (lower ceiling)",
    "upper": "people with their own best observed consensus (upper ceiling)",
}


def report_of_replacement(found: Replacement, *, digits: int = 4) -> Report:
    """The report of a model in the place of people, of which an output shows a part."""
    models = list(found.models.values()) or [found]
    corpus = found.corpus

    def blocks() -> list[Block]:
        made: list[Block] = [Prose(_compared(found))]
        if len(models) > 1:
            made.append(models_table(models))
            made.append(differences_table(found))
        for one in models:
            made += [
                Prose(verdict(one, digits)),
                people_table(one),
                Prose(mean(one, digits)),
                ceiling_table(one),
            ]
        return made

    notes = [*corpus.notes, *cautions(models)]
    return Report(
        command="replace",
        corpus=corpus,
        signature=str(found.settings),
        notes=tuple(notes),
        skipped=dict(corpus.skipped),
        make_blocks=blocks,
        make_data=lambda: {
            "humans": list(found.humans),
            "margin": found.margin,
            "confidence": found.confidence,
            "models": [_data(one) for one in models],
            "differences": [
                {"a": a, "b": b, **_ends(x.difference, x.interval), "p": x.p}
                for (a, b), x in found.differences.items()
            ],
        },
        make_rows=lambda: [
            {"model": one.model, "person": name, **_person(compared)}
            for one in models
            for name, compared in one.by_human.items()
        ],
    )


def cautions(models: Sequence[Replacement]) -> list[Note]:
    """What to know before relying on it."""
    known = (
        (FEW_HUMANS, any(one.has_few_humans for one in models)),
        (VERY_FEW_DOCUMENTS, any(one.has_very_few_documents for one in models)),
        (FEW_DOCUMENTS, any(one.has_few_documents for one in models)),
    )
    return [note for note, holds in known if holds]


def _compared(found: Replacement) -> str:
    by = sentences.by_measure(found.settings.measure, found.settings.positions)
    counts = [one.n_documents for one in found.models.values()] or [found.n_documents]
    extent = counted(max(counts), "document")
    if min(counts) < max(counts):
        extent = f"{min(counts):,} to {extent}"
    return (
        f"People: {in_list(found.humans)}. Each is compared with the others, and so is the model "
        f"in that place, by {by}, in the same documents ({extent} with marks)."
    )


def verdict(one: Replacement, digits: int) -> str:
    """What was shown, and no more than that."""
    level = f"{100 * (1 - one.confidence):g} %"
    if one.margin is None:
        smallest = one.smallest_margin
        if isinf(smallest):
            return (
                f"{one.model} is not shown to be no worse than each person at any margin: it does "
                "not agree better than chance, or documents are too few."
            )
        return (
            f"The smallest margin at which {one.model} would be shown to be no worse than each "
            f"person is {in_digits(smallest, digits)} (one-sided tests at {level}, by Holm's "
            "method)."
        )
    p = one.p_values(one.margin)
    how = f"(one-sided tests at {level}, by Holm's method)"
    by_human = one.by_human
    passed = [name for name, value in p.items() if value <= 1 - one.confidence]
    apart = [name for name in one.humans if not by_human[name].n_documents]
    worse = [name for name in one.humans if by_human[name].interval[1] < -one.margin]
    unclear = [name for name in one.humans if name not in {*passed, *apart, *worse}]
    much = f"less than {one.margin:g} worse" if one.margin else "not worse"
    if len(passed) == len(one.humans):
        return (
            f"{one.model} is shown to be {much} than each of {in_list(one.humans)} {how}. That is "
            "about agreement with the others on documents like these, and about nothing else."
        )
    said = []
    if passed:
        said.append(f"{one.model} is shown to be {much} than {in_list(passed)} {how}.")
    if worse:
        than = f"more than {one.margin:g} worse than" if one.margin else "worse than"
        said.append(f"It is {than} {in_list(worse)}, by the interval of the difference.")
    if unclear:
        said.append(
            f"It is not shown to be {much} than {in_list(unclear)}{'' if passed else f' {how}'}, "
            "which does not mean that it is worse."
        )
    if apart:
        said.append(f"It cannot be compared with {in_list(apart)}: no document in common.")
    return " ".join(said).replace("It is", f"{one.model} is", 0 if passed else 1)


def _star(one: Replacement) -> str:
    return "*" if one.has_few_documents else ""


def people_table(one: Replacement) -> Table:
    """The model in the place of each person."""
    p = {} if one.margin is None else one.p_values(one.margin)
    headings = ["in place of", "person", one.model, "difference", _heading(one), "smallest margin"]
    rows: list[list[Cell]] = []
    for name, x in one.by_human.items():
        row: list[Cell] = [
            *(name, x.human, x.model, x.difference),
            *(Range(*x.interval), None if isinf(x.smallest_margin) else x.smallest_margin),
        ]
        rows.append([*row, *([_p(p[name])] if p else [])])
    if p:
        headings.append(f"p ({one.margin:g})")
    legend = "(person, model: corrected agreement with the others)"
    return Table(headings, rows, f"in the place of each person: {one.model}", legend)


def _p(value: float) -> Cell:
    return "-" if isnan(value) else p_in_digits(value, 4)


def _heading(one: Replacement) -> str:
    return f"{100 * one.confidence:g} %"


def mean(one: Replacement, digits: int) -> str:
    """The mean difference, in a sentence."""
    low, high = (in_digits(end, digits) for end in one.mean_interval)
    ends = "" if isnan(one.mean_interval[0]) else f" ({_heading(one)}: {low} to {high}{_star(one)})"
    difference = in_digits(one.mean_difference, digits)
    return f"On average {one.model} differs from the people by {difference}{ends}."


def ceiling_table(one: Replacement) -> Table:
    """How much there is to reach."""
    found = one.ceiling
    rows: list[Sequence[Cell]] = [(one.model, found.model, None, None)]
    rows += [
        (
            what,
            getattr(found, name),
            found.share[name].value,
            Range(*found.share[name].interval),
        )
        for name, what in _CEILINGS.items()
        if name in found.share
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
            one.mean_difference,
            Range(*one.mean_interval, _star(one)),
            None if isinf(one.smallest_margin) else one.smallest_margin,
        )
        for one in models
    ]
    headings = ("model", "corrected", "mean difference", _heading(models[0]), "smallest margin")
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


def _person(x: Any) -> dict[str, Any]:
    return {
        "human": x.human,
        "model_score": x.model,
        **_ends(x.difference, x.interval),
        "smallest_margin": None if isinf(x.smallest_margin) else x.smallest_margin,
        "p": x.p,
        "n_documents": x.n_documents,
    }


def _data(one: Replacement) -> dict[str, Any]:
    low, high = one.mean_interval
    ceiling = one.ceiling
    return {
        "model": one.model,
        "corrected": ceiling.model,
        "n_documents": one.n_documents,
        "people": {name: _person(x) for name, x in one.by_human.items()},
        "mean": {"difference": one.mean_difference, "low": low, "high": high},
        "smallest_margin": None if isinf(one.smallest_margin) else one.smallest_margin,
        "passes": None if one.margin is None else one.passes(one.margin),
        "ceilings": {
            name: {
                "corrected": getattr(ceiling, name),
                "share": share.value,
                "low": share.interval[0],
                "high": share.interval[1],
            }
            for name, share in ceiling.share.items()
        },
    }


def report_of_replacement_plan(found: ReplacementPlan) -> Report:
    """The report of a plan for a test of replacement."""
    rows: list[dict[str, Any]] = []
    for name, numbers in found.by_human.items():
        documents, low, high = numbers or (None, None, None)
        difference = found.differences[name]
        rows.append(
            {
                "person": name,
                "difference": difference,
                "documents": documents,
                "low": low,
                "high": high,
            }
        )

    def blocks() -> list[Block]:
        cells: list[Sequence[Cell]] = [tuple(row.values()) for row in rows]
        lost = [row["person"] for row in rows if row["documents"] is None]
        said = (
            f"To show that {found.model} is less than {found.margin:g} worse than each person "
            f"takes about {found.documents:,} documents with marks like the pilot's "
            f"{found.n_pilot:,}, which are included, to succeed in {100 * found.power:g} % of such "
            "studies."
            if found.documents is not None
            else f"No number of documents would show it for {in_list(lost)}: the difference that "
            f"is assumed is not above -{found.margin:g}, or the model agrees as chance does."
        )
        headings = ("person", "assumed difference", "documents", "from", "to")
        remark = (
            "(from, to: the range of numbers that may be needed; a pilot shows its spread roughly)"
        )
        return [Prose(said), Table(headings, cells, remark=remark)]

    return Report(
        command="plan",
        signature=str(found.settings),
        make_blocks=blocks,
        make_data=lambda: {
            "model": found.model,
            "margin": found.margin,
            "power": found.power,
            "n_pilot": found.n_pilot,
            "documents": found.documents,
            "people": {
                row["person"]: {k: v for k, v in row.items() if k != "person"} for row in rows
            },
        },
        make_rows=lambda: rows,
    )
