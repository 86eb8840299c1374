"""The report of `agree`."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from operator import itemgetter
from typing import TYPE_CHECKING, Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note
from beyondchance.numbers import in_digits, p_is
from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import (
    Blocks,
    PaperTable,
    Report,
    Table,
    counted,
    in_list,
    methods,
    report_on,
)
from beyondchance.reporting.columns import (
    COUNT,
    CSV,
    FIGURE,
    FILES,
    JSON,
    METHODS,
    NUMBER,
    PEOPLE,
    SHARE,
    TABLE,
    TAIL,
    TEXT,
    TEXTS,
    Column,
    Data,
    Group,
    alike,
    command,
    data_of,
    flat_of,
    for_people,
    kind,
    made,
    many,
    named,
    one_of,
    report_of_rows,
    table_of,
)
from beyondchance.reporting.paper_tables import paper_table
from beyondchance.results.agreement import Agreement
from beyondchance.results.difficulty import Difficulty
from beyondchance.scoring.options import BOTH

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.inference.trend import Trend
    from beyondchance.messages import Text
    from beyondchance.other_coefficients.coefficients import Coefficients
    from beyondchance.results.agreement import Labelling
    from beyondchance.results.averages import MacroAverage
    from beyondchance.results.intervals import ConfidenceInterval, Intervals
    from beyondchance.results.score import Score

_OF_ALL = "chance agreement of all annotators with each other and with themselves"
"""What the difficulty of documents is computed from."""


_MOST_PAIRS = 15
"""Pairs of annotators that the table of a paper has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant(levels.Row):
    """The score against chance that sees the shapes of words."""

    level: str = "sensitivity"
    unit: str
    scope: str
    chance_by: str = "shapes"

    @property
    def joined(self) -> str:
        """The name in one piece."""
        return f"{self.measure} {self.unit} {self.scope} {self.chance_by}"


_CHOICES = alike(TEXT, "measure", "unit", "scope", "chance_by", outputs=JSON)
VARIANT = Group("variant", [*_CHOICES, *levels.FIGURES])
_LADDER = (
    TEXT("measure", outputs=TABLE),
    for_people("observed", lambda row: row.score.observed),
    for_people("by shapes", lambda row: row.score.chance),
    for_people("skill", lambda row: row.score.corrected),
)
_SCORES = named(levels.SCORE)
_POSITIVE = kind(type="number", exclusiveMinimum=0)
TREND = Group(
    "trend",
    [
        TEXTS("order", outputs=JSON),
        Column("corrected", many(FIGURE), outputs=JSON),
        NUMBER("slope", "change of corrected agreement a step"),
        _POSITIVE("error", "standard error of the slope"),
        _POSITIVE("freedom", "degrees of freedom of the standard error"),
        SHARE("p_value"),
        Column(
            "needed",
            kind(type="integer", minimum=4),
            "documents for each of two values to find a change by .1 in four of five corpora",
        ),
        COUNT("n_documents"),
        COUNT("n_left_out", "documents without a value"),
    ],
)
_FREEDOM = Group(
    "",
    alike(COUNT, "texts", "without"),
    "texts with a span, and those of them in which every random arrangement gives the same match",
)
_COEFFICIENT = Group("coefficient", [])
_COEFFICIENT.columns.extend(
    [
        FIGURE("value", "null where undefined"),
        *alike(FIGURE, "observed", "expected"),
        TEXT("reason", is_optional=True),
        Column(
            "interval",
            many(FIGURE, minItems=2, maxItems=2),
            "where the value lies, if it was sampled",
            is_optional=True,
        ),
        Column("settings", named(TEXT), is_optional=True),
        Column("by_label", named(_COEFFICIENT), is_optional=True),
        *alike(TEXT, "title", "definition", "reference", is_optional=True),
        Column(
            "parts",
            one_of("agreement", "disagreement", "disorder"),
            "what observed and expected are",
            is_optional=True,
        ),
    ]
)
AGREE = command(
    "agree",
    *FILES,
    *made(levels.SCORE.columns),
    *alike(_SCORES, "measures", "labels"),
    Column("pairs", many(levels.LEVELS["pair"])),
    Column("annotators", named(levels.LEVELS["annotator"])),
    levels.UNCERTAINTY,
    levels.NULL.only(JSON, value=None),
    Column("documents", named(levels.LEVELS["document"]), is_optional=True),
    Column("groups", named(_SCORES), is_optional=True),
    levels.SCORE(
        "finding",
        "of the spans, whatever their labels; where there are two labels or more",
        is_optional=True,
    ),
    levels.SCORE(
        "labelling",
        "of the labels of what both found; chance is that of permuted labels",
        is_optional=True,
    ),
    Column(
        "supported",
        named(levels.SCORE),
        "of what is marked, the share that so many annotators marked",
        is_optional=True,
    ),
    Column(
        "otherwise",
        named(FIGURE),
        "the corrected score by document instead of sentence, and by characters instead of tokens",
        is_optional=True,
    ),
    levels.MACRO("macro", is_optional=True),
    _FREEDOM("freedom", is_optional=True),
    Column(
        "trends",
        named(TREND),
        "by field whose values have an order, where it was asked for",
        is_optional=True,
    ),
    Column("sensitivity", many(VARIANT), is_optional=True),
    METHODS,
    *TAIL,
    Column("coefficients", named(_COEFFICIENT), is_optional=True),
    TEXTS("differences", "what makes coefficients differ here", is_optional=True),
)


def agree_report(
    results: Mapping[str, Agreement],
    corpus: Corpus | None = None,
    *,
    by: Sequence[str] = (),
    difficulty: Difficulty | None = None,
    variants: Sequence[Variant] = (),
    others: Coefficients | None = None,
    intervals: Mapping[str, Intervals] | None = None,
    null: NullDistribution | None = None,
    parts: Mapping[str, Agreement] | None = None,
    part_intervals: Mapping[str, levels.Scores] | None = None,
    trends: Sequence[Trend] = (),
    loss: Mapping[str, float] | None = None,
    otherwise: Mapping[str, float] | None = None,
    top: int = 20,
    digits: int = 4,
) -> Report:
    """Build the report of `agree`; outputs show parts of it.

    Parameters
    ----------
    results : mapping of measure to Agreement
        The first is the one that is broken down. Lengths of spans are known if ``token`` is
        among them.
    corpus : Corpus, optional
        What was compared.
    by : sequence of str
        ``document``, or fields of the documents.
    difficulty : Difficulty, optional
        Of the documents, for ``document``.
    variants : sequence of Variant
        The scores against chance that sees the shapes of words.
    others : Coefficients, optional
        Other coefficients on the same annotations.
    intervals : mapping of measure to Intervals, optional
        For every one of the `results`.
    null : NullDistribution, optional
        Of the first of the `results`.
    parts : mapping of str to Agreement, optional
        Of the first of the `results`: ``finding`` and ``labelling``, and what so many annotators
        support.
    part_intervals : mapping of str to intervals, optional
        Of ``finding`` and ``labelling``, of what is supported, and of the means of each ``label``
        and ``document``.
    trends : sequence of Trend
        Over fields of the documents whose values have an order.
    loss : mapping of str to float, optional
        What the first of the `results` lacks to full agreement, by cause.
    otherwise : mapping of str to float, optional
        Its corrected score in another unit and other positions.
    top : int
        Rows of long tables for people; 0 shows all.
    digits : int
        For numbers within sentences.
    """
    result = next(iter(results.values()))
    annotators = result.counts.annotators
    breakdown = levels.breakdown_of(results, intervals, by=by, difficulty=difficulty, null=null)
    measure = breakdown.rows[0].measure
    part_rows = levels.parts_of(measure, result, parts, part_intervals)
    settings = breakdown.settings or result.settings
    if null is not None:
        # Random annotations are drawn, even where intervals need no draws.
        drawn = null.settings
        settings = settings.replaced(resamples=drawn.resamples, seed=drawn.seed, ties=drawn.ties)
    if others is not None:
        settings = settings.replaced(gamma=others.settings.gamma)
    settings = settings.replaced(chance=BOTH if variants else settings.chance)

    def blocks() -> Blocks:
        yield verdict(breakdown, annotators, loss or {})
        yield sentences.compared(
            in_list(annotators), result.extent, result.n_spans, result.settings.positions
        )
        yield overall_table(breakdown)
        yield _counted_otherwise(otherwise or {}, measure, digits)
        yield meaning(breakdown, digits)
        if null is not None:
            yield sentences.random_agreement(null, digits)
        yield from levels.parts_tables(part_rows, breakdown.settings, _by(breakdown))
        yield from _tables(breakdown, top=top)

    def asked() -> Blocks:
        changes = {found.field: trend_sentence(found, digits) for found in trends}
        yield from _tables_by(breakdown, by, changes, top=top)
        if variants:
            yield table_of(variants, _LADDER, "what the shapes of words give away")
            yield sentences.SKILL
        if others is not None:
            yield from _coefficients().blocks_of(others)
        yield explanation(breakdown, part_rows)

    def data() -> Data:
        n_fixed, n_texts = result.counts.texts_without_freedom()
        return {
            **agree_data(breakdown, by),
            **{part.level: part for part in part_rows},
            "null_distribution": null,
            "supported": {part.name: part for part in part_rows if part.level == "supported"}
            or None,
            "otherwise": otherwise or None,
            "macro": {part.name: part for part in part_rows if part.level == "macro"},
            "freedom": {"texts": n_texts, "without": n_fixed},
            "trends": {found.field: found for found in trends} or None,
            "sensitivity": variants or None,
            **(others.to_dict() | {"signature": str(settings)} if others is not None else {}),
        }

    return report_on(
        result,
        corpus,
        group=AGREE,
        signature=str(settings),
        notes=tuple(agree_notes(corpus, result, breakdown)),
        make_blocks=blocks,
        make_asked=asked,
        make_data=data,
        make_rows=lambda: _rows((*breakdown.rows, *part_rows), trends, variants, others),
        make_paper=lambda: agree_paper(result, breakdown, null=null, digits=digits),
        make_methods=lambda digits=3: methods(
            "methods_of_agreement",
            *results.values(),
            intervals=[*(intervals or {}).values()],
            null=null,
            settings=settings,
            digits=digits,
        ),
    )


def _coefficients() -> Any:
    from beyondchance.reporting.commands import coefficients  # noqa: PLC0415 - rarely wanted

    return coefficients


def _rows(
    rows: Sequence[levels.Row],
    trends: Sequence[Trend],
    variants: Sequence[Variant],
    others: Coefficients | None,
) -> Iterator[Data]:
    """Yield all of it for CSV."""
    yield from (row.to_flat() for row in rows)
    for found in trends:
        yield {"level": "trend", "name": found.field, **flat_of(found, TREND.columns)}
    yield from (row.to_flat() for row in variants)
    if others is not None:
        yield from _coefficients().rows_of(others)


def trend_sentence(found: Trend, digits: int) -> str:
    """Say how agreement changes over a field."""
    said = (
        f"Over {found.field}, from {found.order[0]} to {found.order[-1]}, corrected agreement "
        f"changes by {found.slope:+.{digits}f} a step ({p_is(found.p_value, digits)}). A change by "
        f"0.1 between two values is found in four of five corpora with about {found.needed:,} "
        "documents like these for each."
    )
    if found.n_left_out:
        said += f" {counted(found.n_left_out, 'document')} without a value left out."
    return said


def report_of_trend(found: Trend) -> Report:
    """Build the report of a trend alone."""
    columns = [Column(found.field, value=itemgetter(0)), Column("corrected", value=itemgetter(1))]
    return report_of_rows(
        list(zip(found.order, found.corrected, strict=True)),
        columns,
        trend_sentence(found, 4),
        settings=found.settings,
        make_data=lambda: {"field": found.field, **TREND.make(found)},
    )


def agree_notes(
    corpus: Corpus | None, result: Agreement, breakdown: levels.Breakdown
) -> list[Note]:
    """Return what to know besides the result."""
    notes = list(result.notes)
    if corpus is not None:
        notes = [*(corpus.notes if corpus.documents else notes)]
        notes += sentences.unshared_labels(result.settings, result.counts)
    gold = None if corpus is None else corpus.gold
    if gold is not None and gold not in result.counts.annotators:
        notes.append(sentences.gold_left_out(gold, "rank compares all annotators with it"))
    if result.settings.pairs is None and result.settings.average == "micro":
        notes += sentences.heaviest(result.counts, result.extent.noun)
    first = breakdown.rows[0].intervals
    return notes + sentences.cautions([first["corrected"]] if first else [])


def explanation(breakdown: levels.Breakdown, parts: Sequence[levels.Row]) -> Text:
    """Say how the intervals were made; nothing if there are none."""
    if breakdown.settings is None:
        return ""
    shown = shown_intervals(breakdown)
    shown += [(part.shown, part.intervals["corrected"]) for part in parts if part.intervals]
    return sentences.explained(shown[0][1], shown, breakdown.settings)


def verdict(
    breakdown: levels.Breakdown,
    annotators: Sequence[str],
    loss: Mapping[str, float],
    named: Callable[[str, str], str] = sentences.explained_measure,
) -> str:
    """Say how far agreement is by every measure, and where most of the rest is lost."""
    gold = breakdown.gold
    who = in_list([name for name in annotators if name != gold])
    whose = f"Agreement of {who}{f' with {gold}' if gold else ''}"
    scores = [(named(row.measure, breakdown.positions), row.score) for row in breakdown.of("all")]
    is_above = breakdown.rows[0].score.corrected >= 0
    lost = sentences.largest_loss(loss if is_above else {}, _by(breakdown))
    return f"{sentences.headline(whose, scores)} {lost}".strip()


def meaning(breakdown: levels.Breakdown, digits: int) -> str:
    """Say how large chance is, whether correction matters, and how to compare corpora."""
    said = sentences.meaning(breakdown.rows[0].score, _by(breakdown), digits)
    return f"{said} {sentences.across_corpora(breakdown.positions)}"


def _counted_otherwise(scores: Mapping[str, float], measure: str, digits: int) -> str:
    """Say what the score is in another unit and other positions."""
    said = [f"{in_digits(score, digits)} by {name}" for name, score in scores.items()]
    return f"Counted otherwise, corrected {measure} is {in_list(said)}." if said else ""


def shown_intervals(breakdown: levels.Breakdown) -> list[tuple[str, ConfidenceInterval]]:
    """Return the intervals that tables show, by name."""
    # Two annotators are one pair, and need no tables besides the first.
    hidden = set() if breakdown.is_team else {"pair", "annotator"}
    return [
        (row.measure if row.level == "all" else row.shown, row.intervals["corrected"])
        for row in breakdown.rows
        if row.intervals and row.level not in hidden
    ]


# --- Results in Python --------------------------------------------------------


def report_of_agreement(result: Agreement) -> Report:
    """Build the report of a result by one measure."""
    return (report_of_support if result.settings.support else agree_report)(result.measures)


def report_of_support(results: Mapping[str, Agreement]) -> Report:
    """Build the report of what several annotators support: by each measure, and of labels."""
    result, found = next(iter(results.values())), levels.breakdown_of(results)
    rows = [*(replace(row, name=row.measure) for row in found.of("all")), *found.of("label")]
    title = f"what at least {result.settings.support} annotators marked, of all that is marked"
    return report_on(
        result,
        None,
        signature=str(result.settings),
        make_blocks=lambda: [levels.scores_table("", rows, None, title=title)],
        make_data=lambda: {row.joined: levels.SCORE.make(row) for row in rows},
        make_rows=lambda: [row.to_flat() for row in rows],
    )


def report_of_labelling(result: Labelling) -> Report:
    """Build the report of both parts of an agreement, overall and by label."""
    field = result.settings.field or "labels"
    parts = {
        sentences.PARTS[part].replace("labels", field): levels.breakdown_of(
            {result.settings.measure: found}
        )
        for part, found in result.parts.items()
    }
    title, last = list(parts.items())[-1]
    overall = [replace(found.rows[0], name=name) for name, found in parts.items()]
    return report_on(
        result.finding,
        None,
        signature=str(result.settings),
        make_blocks=lambda: [
            levels.parts_table(overall, "agreement in two parts"),
            levels.scores_table("label", last.of("label"), None, title=title),
        ],
        make_data=lambda: {
            "finding": levels.SCORE.make(result.finding.score),
            "labelling": result.labelling.to_dict(),
        },
        make_rows=lambda: [
            {"part": name, **row.to_flat()} for name, found in parts.items() for row in found.rows
        ],
    )


def report_of_average(result: MacroAverage) -> Report:
    """Build the report of a mean of scores."""
    mean: Any = result
    part = levels.Row(name=result.by, level="macro", measure=result.settings.measure, score=mean)
    return Report(
        signature=str(result.settings),
        make_blocks=lambda: [levels.parts_table([part])],
        make_data=lambda: {"by": result.by, **part.group.make(part)},
        make_rows=lambda: [part.to_flat()],
    )


def report_of_score(score: Score) -> Report:
    """Build the report of one score, with precision and recall."""
    row = levels.Row(measure="", score=score, support=0)
    return Report(
        make_blocks=lambda: [table_of([row], (*levels.RATE_COLUMNS, levels.SPANS))],
        make_data=lambda: levels.SCORE.make(row),
        make_rows=lambda: [flat_of(row, (*levels.FIGURES[:-1], *levels.RATE_COLUMNS[:2]))],
    )


# --- Tables for people --------------------------------------------------------


def _by(breakdown: levels.Breakdown) -> str:
    """Return what scores are by, for titles."""
    return sentences.by_measure(breakdown.rows[0].measure, breakdown.positions)


def overall_table(breakdown: levels.Breakdown) -> Table:
    """Return a table of the score by each measure."""
    gold = breakdown.gold
    name = for_people("measure", lambda row: sentences.by_measure(row.measure, breakdown.positions))
    return table_of(
        breakdown.of("all"),
        (name, *(levels.SCORE_COLUMNS if gold is None else levels.RATE_COLUMNS)),
        "agreement" if gold is None else f"agreement with the gold standard {gold}",
        settings=breakdown.settings,
    )


def _tables(breakdown: levels.Breakdown, *, top: int) -> Iterator[Table]:
    """Yield the tables of labels, pairs and annotators."""
    settings, annotators = breakdown.settings, breakdown.of("annotator")
    labels, title = breakdown.of("label"), f"labels, by {_by(breakdown)}"
    if breakdown.gold is None:
        yield levels.scores_table("label", labels, settings, title=title)
    else:
        yield from levels.rates_tables(labels, settings, title)
    if breakdown.is_team:
        pairs, title = breakdown.of("pair"), "pairs of annotators"
        yield levels.scores_table("pair", pairs, settings, title=title, top=top)
    others = [row for row in annotators if row.name != breakdown.gold]
    yield levels.habits_table(others, top, gold=breakdown.gold)
    if breakdown.is_team:
        title = "intervals of the annotators"
        yield from levels.intervals_tables("annotator", annotators, settings, title, top)


def _tables_by(
    breakdown: levels.Breakdown, by: Sequence[str], changes: Mapping[str, str], *, top: int
) -> Iterator[Table]:
    """Yield the tables of documents and of their fields, with how agreement changes over one."""
    for name in by:
        if name == "document":
            yield _documents_table(breakdown, top)
        else:
            said = {"title": f"{breakdown.noun}s by {name}", "remark": changes.get(name, "")}
            groups = breakdown.by(name)
            yield levels.scores_table(name, groups, breakdown.settings, top=top, **said)


def shown_levels(result: Agreement, top: int) -> dict[str, list[Any]]:
    """Return the labels, pairs and annotators that tables list; all of them if `top` is 0."""
    top = max(top, _MOST_PAIRS) if top else 0
    return {
        "label": list(result.by_label),
        "pair": levels.lowest_names(result.by_pair, top),
        "annotator": levels.lowest_names(result.by_annotator, top),
    }


def _documents_table(breakdown: levels.Breakdown, top: int) -> Table:
    """Return a table of the most contested documents."""
    documents, noun = breakdown.of("document"), breakdown.noun
    columns = [levels.NAMED, levels.SPANS, *levels.SCORE_COLUMNS, levels.DIFFICULTY, _P_CHANCE]
    contested = levels.most_contested(row for row in documents if row.score.n_spans)
    remark = f"(difficulty: {sentences.DIFFICULTY}, 1 minus the {_OF_ALL})"
    title = f"the most contested {noun}s first"
    return table_of(contested, columns, title, remark, top=top, name=noun)


_P_CHANCE = for_people("p (chance)", lambda row: levels.p_cell(row.null), is_optional=True)


def agree_paper(
    result: Agreement,
    breakdown: levels.Breakdown,
    *,
    null: NullDistribution | None = None,
    digits: int = 4,
) -> PaperTable:
    """Return the table of a paper: scores by each measure; by the first, labels and pairs."""
    by, labels, pairs = _by(breakdown), breakdown.of("label"), breakdown.of("pair")
    sections = {"overall": breakdown.of("all")}
    sections |= {f"labels, by {by}": labels} if len(labels) > 1 else {}
    if 1 < len(pairs) <= _MOST_PAIRS:
        sections[f"pairs of annotators, by {by}"] = pairs
    who = in_list(result.counts.annotators)
    said = [f"Agreement of {sentences.compared(who, result.extent, result.n_spans)}"]
    said += [] if null is None else [sentences.random_agreement(null, digits)]
    return paper_table(
        sections,
        settings=breakdown.settings or result.settings,
        said=" ".join(said),
        label="tab:agreement",
        gold=breakdown.gold,
    )


# --- JSON ---------------------------------------------------------------------


def agree_data(breakdown: levels.Breakdown, by: Sequence[str]) -> Data:
    """Return the scores for JSON."""

    def named_rows(rows: Sequence[levels.Row]) -> dict[Any, levels.Row]:
        return {row.name: row for row in rows}

    first, settings = breakdown.rows[0], breakdown.settings
    fields = [name for name in by if name != "document"]
    return {
        **levels.SCORE.make(first),
        "measures": {row.measure: row for row in breakdown.of("all")},
        "labels": named_rows(breakdown.of("label")),
        "pairs": breakdown.of("pair"),
        "annotators": named_rows(breakdown.of("annotator")),
        "uncertainty": settings and levels.uncertainty(first.intervals["corrected"], settings),
        "documents": named_rows(breakdown.of("document")) if "document" in by else None,
        "groups": {name: named_rows(breakdown.by(name)) for name in fields} or None,
    }


_OF_NULL = (
    Column("observed"),
    *alike(FIGURE, "mean", "sd", outputs=PEOPLE | CSV),
    Column("p_value", heading="p (chance)", cell=levels.p_cell, outputs=PEOPLE | CSV),
    *(column.only(JSON) for column in levels.NULL_COLUMNS),
)
_MOST_RANDOM = 20
"""Documents that are listed at most, those least different from chance."""


def report_of_null(null: NullDistribution) -> Report:
    """Build the report of random agreement, overall and by document."""
    documents = null.by_document
    names = {id(item): name for name, item in documents.items()}
    defined = [item for item in documents.values() if item.reason is None]
    defined.sort(key=lambda item: -item.p_value)
    columns = [Column("document", value=lambda item: names[id(item)]), *_OF_NULL]
    title = "documents, the least different from chance first"
    return Report(
        signature=str(null.settings),
        make_blocks=lambda: [
            sentences.random_agreement(null, 4),
            table_of(defined, columns, title, top=_MOST_RANDOM) if defined[1:] else "",
        ],
        make_data=lambda: {
            **data_of(null, _OF_NULL),
            "documents": {name: data_of(item, _OF_NULL) for name, item in documents.items()},
        },
        make_rows=lambda: [
            {"level": level, "name": name, **flat_of(item, _OF_NULL)}
            for level, found in (("all", {"": null}), ("document", documents))
            for name, item in found.items()
        ],
    )
