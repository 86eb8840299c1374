"""The report of `agree`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan
from typing import TYPE_CHECKING, Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note
from beyondchance.numbers import p_is
from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import (
    CUT,
    Block,
    Cell,
    PaperTable,
    Prose,
    Report,
    Table,
    counted,
    cut,
    in_list,
)
from beyondchance.reporting.columns import (
    COUNT,
    CSV,
    FIGURE,
    FILES,
    JSON,
    METHODS,
    NUMBER,
    SHARE,
    TAIL,
    TEXT,
    TEXTS,
    Column,
    Group,
    command,
    flat_of,
    for_people,
    kind,
    made,
    many,
    named,
    one_of,
)
from beyondchance.reporting.paper_tables import paper_table
from beyondchance.reporting.parts import (
    MACRO,
    Part,
    left_out,
    parts_of,
    parts_table,
    parts_tables,
)
from beyondchance.results.agreement import Agreement
from beyondchance.results.difficulty import Difficulty

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.inference.trend import Trend
    from beyondchance.messages import Text
    from beyondchance.other_coefficients.coefficients import Coefficients
    from beyondchance.reporting.paragraphs import Paragraph
    from beyondchance.results.averages import MacroAverage
    from beyondchance.results.intervals import ConfidenceInterval, Intervals
    from beyondchance.results.labelling import Labelling
    from beyondchance.results.score import Score

_OF_ALL = "chance agreement of all annotators with each other and with themselves"
"""What the difficulty of documents is computed from."""


_MOST_PAIRS = 15
"""Pairs of annotators that the table of a paper has room for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Variant:
    """The score under another measure, unit and scope."""

    measure: str
    unit: str
    scope: str
    score: Score


_CHOICES = tuple(Column(name, TEXT) for name in ("measure", "unit", "scope"))
VARIANT = Group("variant", [*(column.only(~CSV) for column in _CHOICES), *levels.FIGURES])
_VARIANT_ROW = (
    Column("level", TEXT, value=lambda _: "sensitivity"),
    Column("name", TEXT, value=lambda row: f"{row.measure} {row.unit} {row.scope}"),
    _CHOICES[0],
    *levels.FIGURES,
)
_SCORES = named(levels.SCORE)
_POSITIVE = kind(type="number", exclusiveMinimum=0)
TREND = Group(
    "trend",
    [
        Column("order", TEXTS, outputs=JSON),
        Column("corrected", many(FIGURE), outputs=JSON),
        Column("slope", NUMBER, "change of corrected agreement a step"),
        Column("error", _POSITIVE, "standard error of the slope"),
        Column("freedom", _POSITIVE, "degrees of freedom of the standard error"),
        Column("p_value", SHARE),
        Column(
            "needed",
            kind(type="integer", minimum=4),
            "documents for each of two values to find a change by .1 in four of five corpora",
        ),
        Column("n_documents", COUNT),
        Column("n_left_out", COUNT, "documents without a value"),
    ],
)
_FREEDOM = Group(
    "",
    [Column("texts", COUNT), Column("without", COUNT)],
    "texts with a span, and those of them in which every random arrangement gives the same match",
)
_COEFFICIENT = Group("coefficient", [])
_COEFFICIENT.columns.extend(
    [
        Column("value", FIGURE, "null where undefined"),
        Column("observed"),
        Column("expected"),
        Column("reason", TEXT, is_optional=True),
        Column(
            "interval",
            many(FIGURE, minItems=2, maxItems=2),
            "where the value lies, if it was sampled",
            is_optional=True,
        ),
        Column("settings", named(TEXT), is_optional=True),
        Column("by_label", named(_COEFFICIENT), is_optional=True),
        *(Column(name, TEXT, is_optional=True) for name in ("title", "definition", "reference")),
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
    Column("measures", _SCORES),
    Column("labels", _SCORES),
    Column("pairs", many(levels.LEVELS["pair"])),
    Column("annotators", named(levels.LEVELS["annotator"])),
    levels.UNCERTAINTY,
    levels.NULL.only(JSON, value=None),
    Column("documents", named(levels.LEVELS["document"]), is_optional=True),
    Column("groups", named(_SCORES), is_optional=True),
    Column(
        "finding",
        levels.SCORE,
        "of the spans, whatever their labels; where there are two labels or more",
        is_optional=True,
    ),
    Column(
        "labelling",
        levels.SCORE,
        "of the labels of what both found; chance is that of permuted labels",
        is_optional=True,
    ),
    Column("macro", MACRO, is_optional=True),
    Column("freedom", _FREEDOM, is_optional=True),
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
    Column("differences", TEXTS, "what makes coefficients differ here", is_optional=True),
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
    split: Labelling | None = None,
    part_intervals: Mapping[str, levels.Scores] | None = None,
    trends: Sequence[Trend] = (),
    loss: Mapping[str, float] | None = None,
    top: int = 20,
    digits: int = 4,
) -> Report:
    """The report of `agree`, of which an output shows a part.

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
        The score under other choices.
    others : Coefficients, optional
        Other coefficients on the same annotations.
    intervals : mapping of measure to Intervals, optional
        For every one of the `results`.
    null : NullDistribution, optional
        Of the first of the `results`.
    split : Labelling, optional
        The first of the `results` in its parts.
    part_intervals : mapping of str to intervals, optional
        Of ``finding`` and ``labelling``, and of the means of each ``label`` and ``document``.
    trends : sequence of Trend
        Over fields of the documents whose values have an order.
    loss : mapping of str to float, optional
        What the first of the `results` lacks to full agreement, by cause.
    top : int
        Rows of long tables for people; 0 shows all.
    digits : int
        For numbers within sentences.
    """
    result = next(iter(results.values()))
    annotators = result.counts.annotators
    breakdown = levels.breakdown_of(results, intervals, by=by, difficulty=difficulty, null=null)
    parts = parts_of(breakdown.rows[0].measure, result, split, part_intervals)
    settings = breakdown.settings or result.settings
    if null is not None:
        # Random annotations are drawn, even where intervals need no draws.
        drawn = null.settings
        settings = settings.replaced(resamples=drawn.resamples, seed=drawn.seed, ties=drawn.ties)
    if others is not None:
        from beyondchance.reporting.commands import coefficients  # noqa: PLC0415 - rarely wanted

        settings = settings.replaced(gamma=others.settings.gamma)

    listed = [breakdown.of("annotator"), breakdown.of("pair"), *map(breakdown.by, by)]
    notes = (
        *agree_notes(corpus, result, breakdown),
        *([CUT] if 0 < top < max(map(len, listed)) else []),
    )

    def blocks() -> list[Block]:
        who = in_list(annotators)
        return [
            Prose(verdict(breakdown, annotators, loss or {})),
            Prose(
                sentences.compared(who, result.extent, result.n_spans, result.settings.positions)
            ),
            overall_table(breakdown),
            Prose(meaning(breakdown, digits)),
            *([Prose(sentences.random_agreement(null, digits))] if null is not None else []),
            *parts_tables(parts, breakdown.settings, _by(breakdown)),
            *_differing_part(split, digits),
            *_tables(breakdown, top=top),
        ]

    def asked() -> list[Block]:
        changes = {found.field: trend_sentence(found, digits) for found in trends}
        return [
            *_tables_by(breakdown, by, changes, top=top),
            *([_variants_table(variants)] if variants else []),
            *(coefficients.blocks_of(others) if others is not None else []),
            *map(Prose, explanation(breakdown, parts)),
        ]

    def data() -> dict[str, Any]:
        n_fixed, n_texts = result.counts.texts_without_freedom()
        split_in = {part.level: part for part in parts if part.level != "macro"}
        return {
            **agree_data(breakdown, by=by),
            **split_in,
            **({"null_distribution": null} if null is not None else {}),
            "macro": {part.name: part for part in parts if part.level == "macro"},
            "freedom": {"texts": n_texts, "without": n_fixed},
            **({"trends": {found.field: found for found in trends}} if trends else {}),
            **({"sensitivity": variants} if variants else {}),
            **(others.to_dict() | {"signature": str(settings)} if others is not None else {}),
        }

    def methods() -> Paragraph:
        from beyondchance.reporting.methods import methods_of_agreement  # noqa: PLC0415 - rarely wanted

        own = next(iter((intervals or {}).values()), None)
        return methods_of_agreement(result, own, null=null, settings=settings, digits=digits)

    def rows() -> list[dict[str, Any]]:
        return [
            *(row.to_flat() for row in breakdown.rows),
            *(part.to_flat() for part in parts),
            *(
                {"level": "trend", "name": found.field, **flat_of(found, TREND.columns)}
                for found in trends
            ),
            *(flat_of(item, _VARIANT_ROW) for item in variants),
            *(coefficients.rows_of(others) if others is not None else ()),
        ]

    return Report(
        command="agree",
        group=AGREE,
        corpus=corpus,
        signature=str(settings),
        skipped=dict(result.skipped),
        notes=notes,
        make_blocks=blocks,
        make_asked=asked,
        make_data=data,
        make_rows=rows,
        make_paper=lambda: agree_paper(result, breakdown, null=null, digits=digits),
        make_methods=methods,
        noun=breakdown.noun,
    )


def trend_sentence(found: Trend, digits: int) -> str:
    """How agreement changes over a field."""
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
    """The report of a trend alone."""
    rows = list(zip(found.order, found.corrected, strict=True))
    headings, said = (found.field, "corrected"), trend_sentence(found, 4)
    return Report(
        command="trend",
        signature=str(found.settings),
        make_blocks=lambda: [Table(headings, rows, remark=said)],
        make_data=lambda: {"field": found.field, **TREND.make(found)},
        make_rows=lambda: [dict(zip(headings, row, strict=True)) for row in rows],
    )


def agree_notes(
    corpus: Corpus | None, result: Agreement, breakdown: levels.Breakdown
) -> list[Note]:
    """What to know besides the result."""
    notes = list(result.notes)
    if corpus is not None and not corpus.documents:
        notes += sentences.unshared_in_counts(result.counts)
    elif corpus is not None:
        notes = [*corpus.notes, *sentences.unshared_labels(corpus, result.counts.annotators)]
    gold = None if corpus is None else corpus.gold
    if gold is not None and gold not in result.counts.annotators:
        notes.append(sentences.gold_left_out(gold, "rank compares all annotators with it"))
    if result.settings.pairs is None and result.settings.average == "micro":
        notes += sentences.heaviest(result.counts, result.extent.noun)
    first = breakdown.rows[0].intervals
    return notes + sentences.cautions([first["corrected"]] if first else [])


def explanation(breakdown: levels.Breakdown, parts: Sequence[Part] = ()) -> list[Text]:
    """How the intervals were made; nothing if there are none."""
    first = breakdown.rows[0].intervals
    if breakdown.settings is None:
        return []
    shown = shown_intervals(breakdown)
    shown += [(part.shown, part.intervals["corrected"]) for part in parts if part.intervals]
    return [sentences.explained(first["corrected"], shown, breakdown.settings)]


def verdict(
    breakdown: levels.Breakdown, annotators: Sequence[str], loss: Mapping[str, float]
) -> str:
    """How far agreement is by every measure, and where the largest part of the rest is lost."""
    gold = breakdown.gold
    who = in_list([name for name in annotators if name != gold])
    whose = f"Agreement of {who}{f' with {gold}' if gold else ''}"
    scores = [
        (sentences.explained_measure(row.measure, breakdown.positions), row.score)
        for row in breakdown.of("all")
    ]
    is_above = breakdown.rows[0].score.corrected >= 0
    lost = sentences.largest_loss(loss if is_above else {}, _by(breakdown))
    return f"{sentences.headline(whose, scores)} {lost}".strip()


def meaning(breakdown: levels.Breakdown, digits: int) -> str:
    """How large chance is, whether correction matters, and how to compare with other corpora."""
    said = sentences.meaning(breakdown.rows[0].score, _by(breakdown), digits)
    return f"{said} {sentences.across_corpora(breakdown.positions)}"


def _differing_part(split: Labelling | None, digits: int) -> list[Prose]:
    """What annotators differ in, if it is mainly one part."""
    if split is None:
        return []
    said = sentences.finding_and_labelling(split.finding.score, split.labelling.score, digits)
    return [Prose(said)] if said else []


def shown_intervals(breakdown: levels.Breakdown) -> list[tuple[str, ConfidenceInterval]]:
    """The intervals that tables show, by name."""
    # Two annotators are one pair, and need no tables besides the first.
    is_team = len(breakdown.of("annotator")) > 2
    hidden = set() if is_team else {"pair", "annotator"}
    return [
        (row.measure if row.level == "all" else row.shown, row.intervals["corrected"])
        for row in breakdown.rows
        if row.intervals and row.level not in hidden
    ]


# --- Results in Python --------------------------------------------------------


def report_of_agreement(result: Agreement) -> Report:
    """The report of a result by one measure."""
    return agree_report(result.measures)


def report_of_labelling(result: Labelling) -> Report:
    """Both parts of an agreement, overall and by label."""
    finding, labelling = sentences.PARTS.values()
    parts = {finding: result.finding, labelling: result.labelling}
    measure = result.settings.measure
    rows = {name: levels.breakdown_of({measure: part}).rows for name, part in parts.items()}
    overall = [
        levels.Row(measure=measure, score=item.score, name=name) for name, item in parts.items()
    ]

    def blocks() -> list[Block]:
        labels = [row for row in rows[labelling] if row.level == "label"]
        return [
            parts_table(overall, "agreement in two parts"),
            *_differing_part(result, 4),
            levels.scores_table("label", labels, None, title=labelling),
        ]

    return Report(
        command="labelling",
        signature=str(result.settings),
        skipped=dict(result.finding.skipped),
        noun=result.finding.extent.noun,
        notes=result.finding.notes,
        make_blocks=blocks,
        make_data=lambda: {
            "finding": levels.SCORE.make(result.finding.score),
            "labelling": result.labelling.to_dict(),
        },
        make_rows=lambda: [
            {"part": name, **row.to_flat()} for name, found in rows.items() for row in found
        ],
    )


def report_of_average(result: MacroAverage) -> Report:
    """The mean of scores, and how many there are."""
    mean: Any = result
    part = Part(name=result.by, level="macro", measure=result.settings.measure, score=mean)
    return Report(
        command="macro",
        signature=str(result.settings),
        make_blocks=lambda: [parts_table([part], remark=left_out([result]))],
        make_data=lambda: {"by": result.by, **part.group.make(part)},
        make_rows=lambda: [part.to_flat()],
    )


def report_of_score(score: Score) -> Report:
    """One score, with precision and recall."""
    row = levels.Row(measure="", score=score, support=0)
    return Report(
        command="score",
        make_blocks=lambda: [levels.scored([row], (*levels.RATE_COLUMNS, levels.SPANS))],
        make_data=lambda: levels.SCORE.make(row),
        make_rows=lambda: [flat_of(row, (*levels.FIGURES[:-1], *levels.RATE_COLUMNS[:2]))],
    )


# --- Tables for people --------------------------------------------------------


def _by(breakdown: levels.Breakdown) -> str:
    """What scores are by, for titles."""
    return sentences.by_measure(breakdown.rows[0].measure, breakdown.positions)


def overall_table(breakdown: levels.Breakdown) -> Table:
    """The score by each measure."""
    gold = breakdown.gold
    name = for_people("measure", lambda row: sentences.by_measure(row.measure, breakdown.positions))
    return levels.scored(
        breakdown.of("all"),
        (name, *(levels.SCORE_COLUMNS if gold is None else levels.RATE_COLUMNS)),
        "agreement" if gold is None else f"agreement with the gold standard {gold}",
        settings=breakdown.settings,
    )


def _tables(breakdown: levels.Breakdown, *, top: int) -> list[Table]:
    """The tables of labels, pairs and annotators."""
    settings, annotators = breakdown.settings, breakdown.of("annotator")
    labels, title = breakdown.of("label"), f"labels, by {_by(breakdown)}"
    tables = (
        [levels.scores_table("label", labels, settings, title=title)]
        if breakdown.gold is None
        else levels.rates_tables(labels, settings, title)
    )
    is_team = len(annotators) > 2
    if is_team:
        pairs = breakdown.of("pair")
        tables.append(
            levels.scores_table("pair", pairs, settings, title="pairs of annotators", top=top)
        )
    others = [row for row in annotators if row.name != breakdown.gold]
    tables.append(levels.habits_table(others, top, gold=breakdown.gold))
    if is_team:
        title = "intervals of the annotators"
        tables += levels.intervals_tables("annotator", annotators, settings, title, top)
    return tables


def _tables_by(
    breakdown: levels.Breakdown, by: Sequence[str], changes: Mapping[str, str], *, top: int
) -> list[Table]:
    """The tables of documents and of fields of them, with how agreement changes over a field."""
    tables: list[Table] = []
    for name in by:
        if name == "document":
            tables += _document_tables(breakdown, top)
        else:
            said = {"title": f"{breakdown.noun}s by {name}", "remark": changes.get(name, "")}
            groups = breakdown.by(name)
            tables.append(levels.scores_table(name, groups, breakdown.settings, top=top, **said))
    return tables


def shown_levels(result: Agreement, top: int) -> dict[str, list[Any]]:
    """Return the labels, pairs and annotators that tables list; all of them if `top` is 0."""
    top = max(top, _MOST_PAIRS) if top else 0
    return {
        "label": list(result.by_label),
        "pair": levels.lowest_names(result.by_pair, top),
        "annotator": levels.lowest_names(result.by_annotator, top),
    }


def _document_tables(breakdown: levels.Breakdown, top: int) -> list[Table]:
    """The most contested documents, and those of the highest difficulty; with p-values, if any."""
    documents, noun = breakdown.of("document"), breakdown.noun
    columns = [levels.NAMED, levels.SPANS, *levels.SCORE_COLUMNS, levels.DIFFICULTY, _P_CHANCE]
    nulls = [row.null for row in documents if row.null is not None]
    contested = levels.most_contested(row for row in documents if row.score.n_spans)
    # Undefined ones come last.
    least_likely = sorted(contested, key=lambda row: (isnan(row.difficulty), -row.difficulty))
    tables = []
    for title, rows in (
        (f"the most contested {noun}s first", contested),
        (sentences.least_likely(noun), least_likely),
    ):
        shown, remark = cut(rows, top)
        remarks = [
            remark,
            f"(difficulty: {sentences.DIFFICULTY}, 1 minus the {_OF_ALL})",
            *(
                levels.floor_remark(_P_CHANCE.cells(shown), null.settings, levels.DRAWS)
                for null in nulls[:1]
            ),
        ]
        remark = " ".join(filter(None, remarks))
        tables.append(levels.scored(shown, columns, title, remark, name=noun))
    return tables


def _p_chance(row: levels.Row) -> Cell:
    """The p-value of the agreement of a document."""
    if row.null is None:
        return None
    return levels.p_cell(row.null.p_value, is_floor=row.null.p_is_floor)


_P_CHANCE = for_people("p (chance)", _p_chance, is_optional=True)


def _variants_table(variants: Sequence[Variant]) -> Table:
    columns = (*_CHOICES, *levels.SCORE_COLUMNS)
    return levels.scored(variants, columns, "the score by other choices")


def agree_paper(
    result: Agreement,
    breakdown: levels.Breakdown,
    *,
    null: NullDistribution | None = None,
    digits: int = 4,
) -> PaperTable:
    """For a paper, the scores by each measure and, by the first, of labels and pairs."""
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


def agree_data(breakdown: levels.Breakdown, *, by: Sequence[str] = ()) -> dict[str, Any]:
    """The scores for JSON."""

    def named_rows(rows: Sequence[levels.Row]) -> dict[Any, levels.Row]:
        return {row.name: row for row in rows}

    first = breakdown.rows[0]
    data: dict[str, Any] = {
        **levels.SCORE.make(first),
        "measures": {row.measure: row for row in breakdown.of("all")},
        "labels": named_rows(breakdown.of("label")),
        "pairs": breakdown.of("pair"),
        "annotators": named_rows(breakdown.of("annotator")),
    }
    if breakdown.settings is not None:
        ends = first.intervals["corrected"]
        data["uncertainty"] = levels.uncertainty(ends, breakdown.settings)
    if "document" in by:
        data["documents"] = named_rows(breakdown.of("document"))
    fields = [name for name in by if name != "document"]
    if fields:
        data["groups"] = {name: named_rows(breakdown.by(name)) for name in fields}
    return data
