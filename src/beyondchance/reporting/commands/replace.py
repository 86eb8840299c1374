"""The report of `replace`: a model in the place of each person."""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from itertools import chain
from math import floor, isnan, nan
from operator import attrgetter, itemgetter
from typing import TYPE_CHECKING

from beyondchance.inference.estimates import FEW_DOCUMENTS
from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.reporting import sentences
from beyondchance.reporting.blocks import Blocks, Report, Table, counted, in_list, report_on
from beyondchance.reporting.columns import (
    COUNT,
    DATA,
    FIGURE,
    FILES,
    JSON,
    NOTES,
    NUMBER,
    TABLE,
    TAIL,
    TEXT,
    TEXTS,
    YES_OR_NO,
    Column,
    Data,
    Getter,
    Group,
    alike,
    attributes,
    command,
    data_of,
    flat_of,
    flat_rows,
    for_people,
    kind,
    many,
    maybe,
    named,
    one_of,
    picked,
    table_of,
)
from beyondchance.scoring.options import BOTH

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


def _p(key: str) -> Getter:
    return lambda row: in_digits(row[key])


def _row(one: Replacement, found: InPlaceOf) -> Data:
    return {
        **attributes(found, "human", "difference", "interval", "n_documents"),
        "model_score": found.model,
        "p": found.p if one.has_verdict else nan,
    }


def _people(one: Replacement) -> dict[str, Data]:
    adjusted = one.p_values
    return {
        name: {"name": name, **_row(one, x), "adjusted": adjusted[name]}
        for name, x in one.by_human.items()
    }


def _ceilings(one: Replacement) -> dict[str, Data]:
    return {
        name: {
            "what": _CEILINGS[name],
            "corrected": getattr(one.ceiling, name),
            "share": share.value,
            "interval": share.interval,
        }
        for name, share in one.ceiling.share.items()
    }


_LOW = Column("low", value=lambda row: row["interval"][0], outputs=DATA)
_HIGH = Column("high", value=lambda row: row["interval"][1], outputs=DATA)
_WORSE = "the largest one-sided p-value of what has to be shown; null without a verdict"
_IN_PLACE = (
    FIGURE("human", "corrected agreement of the person with the others", heading="person"),
    FIGURE("model_score", "of the model with the same others"),
    Column("difference", interval=itemgetter("interval")),
    _LOW,
    _HIGH,
    FIGURE("p", _WORSE, cell=_p("p")),
)
_PERSON = Group(
    "",
    [
        Column("name", outputs=TABLE, heading="in place of"),
        *_IN_PLACE,
        FIGURE(
            "adjusted",
            "Holm's p-value; null without a verdict",
            heading="p (Holm)",
            cell=_p("adjusted"),
        ),
        COUNT("n_documents", outputs=DATA),
    ],
)
_CEILING = Group(
    "",
    [
        Column("what", outputs=TABLE),
        Column("corrected"),
        FIGURE("share", "the model's share of it", interval=lambda row: row.get("interval")),
        _LOW,
        _HIGH,
    ],
)
_DIFFERENCE = Group(
    "",
    [
        TEXT("a", heading="first"),
        TEXT("b", heading="second"),
        *(column.only(column.outputs, about="") for column in _IN_PLACE[2:]),
    ],
)
_VERDICT = Column(
    "verdict",
    one_of("shown", "worse", "not shown", "no verdict", "would pass", "would fail"),
    cell=lambda one: f"{one.verdict}{_star(one)}",
)
_KEEPS = FIGURE(
    "keeps",
    "largest share of the people's agreement that is shown to be kept",
    cell=lambda one: None if isnan(one.keeps) else one.keeps,
)
_MODEL = Group(
    "",
    [
        TEXT("model"),
        _VERDICT,
        YES_OR_NO("is_starred", "failures in whole documents could have been missed"),
        _KEEPS,
        Column("corrected", value=attrgetter("ceiling.model")),
        COUNT("n_documents"),
        Column(
            "documents_needed",
            maybe(kind(type="integer")),
            "for a model as good as the people; null where no number would do",
        ),
        Column(
            "mean",
            Group("", [*_IN_PLACE], "over the people judged"),
            value=lambda one: _row(one, one.mean),
            heading="mean difference",
            cell=attrgetter("mean.difference"),
            interval=attrgetter("mean.interval"),
            outputs=JSON | TABLE,
        ),
        FIGURE(
            "p_every",
            "p-value of being worse than at least one person judged; null without a verdict",
        ),
        Column(
            "people",
            named(_PERSON),
            "those judged; all without a verdict",
            _people,
            outputs=JSON,
        ),
        TEXTS(
            "unjudged",
            "people who are not shown to agree with the others better than chance",
            outputs=JSON,
        ),
        TEXTS("copied", "people of whom the model looks like a copy", outputs=JSON),
        Column("ceilings", named(_CEILING), value=_ceilings, outputs=JSON),
    ],
)
_SKILL = [
    TEXT("model"),
    for_people("chance", lambda one: (one.settings.chance or "uniform").partition("-")[0]),
    FIGURE("human", "of the people judged, on average", attrgetter("mean.human"), "people"),
    FIGURE("model_score", "in their places", attrgetter("mean.model"), "model's"),
    Column("difference", value=attrgetter("mean.difference"), interval=attrgetter("mean.interval")),
    _KEEPS,
    _VERDICT,
]
"""The same against uniform chance, and against chance by the shapes of words."""
_ASKED = (
    FIGURE(
        "keep",
        "share of the people's agreement that a model has to keep; null without such a test",
    ),
    FIGURE(
        "margin",
        "how much lower the model's corrected agreement may be; null without such a test",
    ),
    Column(
        "blind",
        one_of(*_BLIND),
        "whether people annotated without seeing what the model had marked",
    ),
    NUMBER("confidence"),
)
REPLACE = command(
    "replace",
    *FILES,
    TEXTS("humans"),
    *_ASKED,
    Column("models", many(_MODEL), "the best first"),
    Column("differences", many(_DIFFERENCE), "each two models"),
    Column(
        "skill", many(Group("", _SKILL)), "against chance by the shapes of words", is_optional=True
    ),
    *TAIL,
)


def report_of_replacement(found: Replacement, skill: Replacement | None = None) -> Report:
    """Build the report of a model in the place of people; outputs show parts of it.

    `skill` is the same test against chance that sees the shapes of words.
    """
    models = list(found.models.values()) or [found]
    by_shapes = [] if skill is None else [skill.models[one.model] for one in models]
    settings = found.settings.replaced(chance=BOTH) if by_shapes else found.settings

    def blocks() -> Blocks:
        yield _compared(found)
        if len(models) > 1:
            yield models_table(models)
            yield differences_table(found)
        for one in models:
            yield verdict(one)
            yield people_table(one)
            yield ceiling_table(one)
        if by_shapes:
            rows = chain.from_iterable(zip(models, by_shapes, strict=True))
            title = "what the shapes of words give away"
            yield table_of(rows, _SKILL, title, settings=found.settings)
            yield sentences.SKILL

    def rows() -> Iterator[Data]:
        for one in models:
            yield from _rows(one, flat_of(found, _ASKED))
        yield from flat_rows(_differences(found), _DIFFERENCE.columns)
        for row in flat_rows(by_shapes, _SKILL):
            yield {"chance": "shapes", **row}

    return report_on(
        found.corpus,
        found.corpus,
        *cautions(models),
        group=REPLACE,
        signature=str(settings),
        make_blocks=blocks,
        make_data=lambda: {
            **attributes(found, "humans", *(column.key for column in _ASKED)),
            "models": models,
            "differences": _differences(found),
            "skill": by_shapes or None,
        },
        make_rows=rows,
    )


def _rows(one: Replacement, asked: Data) -> Iterator[Data]:
    """Yield a model for CSV: on average, in the place of each person, next to the ceilings."""
    model = {"model": one.model, "person": ""}
    whole = flat_of(one, _MODEL.columns)
    yield {**model, **whole, **flat_of(_row(one, one.mean), _IN_PLACE), **asked}
    for name, row in _people(one).items():
        yield {**model, "person": name, **flat_of(row, _PERSON.columns)}
    for name, row in _ceilings(one).items():
        yield {**model, "ceiling": name, **flat_of(row, _CEILING.columns)}


def _differences(found: Replacement) -> list[Data]:
    return [
        {"a": a, "b": b, **attributes(x, "difference", "interval", "p")}
        for (a, b), x in found.differences.items()
    ]


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
    hidden = () if one.has_verdict else ("p", "adjusted")
    columns = [column for column in _PERSON.columns if column.key not in hidden]
    legend = (
        "(person, model: corrected agreement with the others; a small p shows that the model is "
        "not worse than asked for)"
    )
    title = f"in the place of each person: {one.model}"
    whole = {"name": "(on average)", **_row(one, one.mean), "adjusted": nan}
    rows, own = [*_people(one).values(), whole], one.settings
    return table_of(rows, columns, title, legend, settings=own, model_score=one.model)


def ceiling_table(one: Replacement) -> Table:
    """Return a table of how much there is to reach."""
    first = {"what": one.model, "corrected": one.ceiling.model}
    ceilings = _ceilings(one)
    rows = [first, *(ceilings[name] for name in _CEILINGS if name in ceilings)]
    remark = "(a perfect model lies between the two ceilings, if people err independently)"
    return table_of(
        rows,
        _CEILING.columns,
        "how much there is to reach",
        remark if "upper" in one.ceiling.share else "",
        settings=one.settings,
        share=f"{one.model}'s share",
    )


def models_table(models: Sequence[Replacement]) -> Table:
    """Return a table of all models, the best first."""
    columns = picked(_MODEL.columns, "model corrected keeps mean verdict")
    return table_of(models, columns, "models, the best first", settings=models[0].settings)


def differences_table(found: Replacement) -> Table:
    """Return a table of the differences of each two models."""
    title = "models compared with each other"
    return table_of(_differences(found), _DIFFERENCE.columns, title, settings=found.settings)


_NEEDED = maybe(kind(type="integer"))
_CONDITION = Group(
    "",
    [
        Column("what", outputs=TABLE, heading="to be shown above 0"),
        FIGURE("assumed", "that is assumed"),
        _NEEDED("documents"),
        _NEEDED("low", heading="from"),
        _NEEDED("high", heading="to"),
    ],
)
_PLANNED = (
    TEXT("model"),
    *alike(FIGURE, "keep", "margin"),
    NUMBER("power"),
    COUNT("n_pilot"),
    _NEEDED("documents", "null where no number would do"),
)
PLAN_REPLACEMENT = command(
    "plan_replacement",
    *FILES,
    *_PLANNED,
    Column("conditions", named(_CONDITION), "what has to be shown to be positive"),
    NOTES,
    called="plan",
)


def report_of_replacement_plan(found: ReplacementPlan) -> Report:
    """Build the report of a plan for a test of replacement."""
    conditions: dict[str, Data] = {
        name: {
            "what": _CONDITIONS[name],
            "assumed": assumed,
            **dict(zip(("documents", "low", "high"), numbers or (None,) * 3, strict=True)),
        }
        for name, (assumed, numbers) in found.by_condition.items()
    }

    def blocks() -> Blocks:
        it_takes = "No number of documents would show it"
        if found.documents is not None:
            is_enough = found.documents <= found.n_pilot
            pilot = "as many as it has or fewer" if is_enough else "which are included"
            it_takes = (
                f"To show it takes about {found.documents:,} documents with marks like the pilot's "
                f"{found.n_pilot:,}, {pilot}, to succeed in {100 * found.power:g} % of such studies"
            )
        remark = "(from, to: the range of numbers that may be needed, because the pilot is small)"
        yield f"{found.model} should {_asked(found)}. {it_takes}."
        yield table_of(conditions.values(), _CONDITION.columns, remark=remark)

    return Report(
        group=PLAN_REPLACEMENT,
        signature=str(found.settings),
        make_blocks=blocks,
        make_data=lambda: {**data_of(found, _PLANNED), "conditions": conditions},
        make_rows=lambda: [
            {"condition": name, **flat_of(row, _CONDITION.columns)}
            for name, row in conditions.items()
        ],
    )
