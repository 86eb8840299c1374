"""The scores of a result at every level: the rows of which tables, JSON and CSV are made."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import partial
from math import isnan, nan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from beyondchance.reporting.blocks import Amount, Below, Table, counted, in_list, in_one
from beyondchance.reporting.columns import (
    COUNT,
    CSV,
    DATA,
    FIGURE,
    JSON,
    NUMBER,
    PEOPLE,
    SHARE,
    TEXT,
    Column,
    Data,
    Group,
    Kind,
    alike,
    flat_of,
    for_people,
    kind,
    many,
    maybe,
    named,
    one_of,
    table_of,
)
from beyondchance.reporting.sentences import PARTS
from beyondchance.results.averages import AVERAGES, MacroAverage
from beyondchance.results.intervals import ConfidenceInterval, Intervals
from beyondchance.results.resampling import SCORES
from beyondchance.results.score import SPANS as OF_SPANS, SUMS
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.results.agreement import Agreement
    from beyondchance.results.difficulty import Difficulty
    from beyondchance.results.score import Score

Name: TypeAlias = str | tuple[str, str]
"""Of a label, an annotator, a group of documents; or of a pair of annotators, whose names
joined are not unique: 'a and b' may be one annotator."""
Scores: TypeAlias = Mapping[str, ConfidenceInterval]
"""Intervals by the name of a score."""


# --- Intervals ----------------------------------------------------------------


def p_cell(found: Any, draws: str = "random annotations") -> float | Below | None:
    """Return a p-value for a table, as a bound where it is the smallest its draws can show."""
    if found is None or not found.p_is_floor:
        return found and float(found.p_value)
    return Below(found.p_value, f"{found.settings.resamples:,} {draws} can show")


ENDS = Kind(
    maybe(many(NUMBER, minItems=2, maxItems=2)).schema,
    lambda interval: None if isnan(interval.low) else [*interval],
)
"""Both ends of an interval."""
_INTERVALS = Group(
    "intervals",
    [
        *alike(ENDS, *SCORES, "difficulty", is_optional=True),
        Column(
            "reasons", named(TEXT), "why an interval is null, only where one is", is_optional=True
        ),
    ],
    "with --confidence: lower and upper end, null where there is none",
)


def _plain_intervals(intervals: Scores) -> Data:
    reasons = {name: item.reason for name, item in intervals.items() if item.reason is not None}
    return _INTERVALS.make({**intervals, "reasons": reasons or None})


def _flat_intervals(row: Any) -> Data:
    return {
        f"{name}_{end}": getattr(item, end)
        for name, item in row.intervals.items()
        for end in ("low", "high")
    }


INTERVALS = Column(
    "intervals",
    Kind(_INTERVALS.schema, _plain_intervals),
    value=lambda row: getattr(row, "intervals", None) or None,
    flat=_flat_intervals,
    is_optional=True,
)
"""The intervals of a row: ends side by side in CSV, an object in JSON."""
_DRAWN = "null where nothing was drawn"
UNCERTAINTY = Column(
    "uncertainty",
    Group(
        "uncertainty",
        [
            Column("confidence", kind(type="number", exclusiveMinimum=0, exclusiveMaximum=1)),
            TEXT("method"),
            Column("resamples", maybe(kind(type="integer", minimum=99)), _DRAWN),
            Column("seed", maybe(COUNT), _DRAWN),
            TEXT("over", "what was drawn: documents, sentences, annotators"),
            COUNT("units"),
            FIGURE(
                "effective_units",
                "from how many of them the width of the first interval would be known as well",
            ),
        ],
        "how intervals were made",
    ),
    is_optional=True,
)


def uncertainty(first: ConfidenceInterval, settings: Settings) -> Data:
    """Return how intervals were made, for JSON."""
    return {
        "confidence": settings.confidence,
        "method": settings.interval_method,
        "resamples": settings.resamples,
        "seed": settings.seed if settings.resamples else None,
        "over": first.over,
        "units": first.n_units,
        "effective_units": first.effective,
    }


# --- Rows ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A score with its intervals, what it is the score of, and what else is known of that.

    Attributes
    ----------
    measure : str
    score : Score
        Or a mean of scores, which has the same figures.
    level : {"all", "label", "pair", "annotator", "without", "document", "field", "macro"}
        Or a part of agreement, ``finding`` or ``labelling``; or ``supported``, by the number of
        annotators in the name.
    name : str or (str, str)
        Of the label, pair, annotator, document or value of the field.
    of_field : str
        The field of the documents, at the level of fields.
    intervals : mapping of str to ConfidenceInterval
        Empty where there are none.
    mean_length : float
        Positions in a span of an annotator; nan where it is not known.
    marking_ratio : float
        How much the annotator marked, for each position that the others marked in the same
        texts.
    over_marking, under_marking : float
        The share of the own marks that the others do not have, and of the others' marks
        that the annotator does not have.
    without : Row, optional
        The team without the annotator, where two are left.
    difficulty : float
        Of a document; nan where it is not known.
    null : NullDistribution, optional
        The agreement of random annotations: of all by the first measure, or of a document.
    support : int, optional
        Spans of the gold standard, where one is side a.
    """

    measure: str
    score: Score
    level: str = "all"
    name: Name = ""
    of_field: str = ""
    intervals: Scores = field(default_factory=dict)
    mean_length: float = nan
    marking_ratio: float = nan
    over_marking: float = nan
    under_marking: float = nan
    without: Row | None = None
    difficulty: float = nan
    null: NullDistribution | None = None
    support: int | None = None

    @property
    def joined(self) -> str:
        """The name in one piece."""
        return self.name if isinstance(self.name, str) else " and ".join(self.name)

    @property
    def shown(self) -> str:
        """The name for people; of a part of agreement or a mean, what it is."""
        if isinstance(self.score, MacroAverage):
            return f"mean of {counted(self.score.n_averaged, self.score.noun)}"
        return f"{PARTS.get(self.level, '')} {self.joined}".strip()

    @property
    def group(self) -> Group:
        """What JSON and CSV have of it."""
        return LEVELS.get(self.level, SCORE)

    def to_flat(self) -> Data:
        """Return the row for CSV."""
        return flat_of(self, (*ROW, *self.group.columns))


AnyRow = TypeVar("AnyRow", bound=Row)


# --- Columns ------------------------------------------------------------------


def _score(row: Any) -> Any:
    """Return the score of a row, or the score itself."""
    return getattr(row, "score", row)


def figure(name: str, about: str = "", sort: Kind = FIGURE, **more: Any) -> Column:
    """Declare a column of scores."""
    return Column(name, sort, about, lambda row: getattr(_score(row), name, None), **more)


SCORE_COLUMNS = (
    figure("observed", "F1 of the two sides; null where neither marked anything"),
    figure("chance", "F1 that random annotations of the same lengths would reach"),
    figure(
        "corrected",
        "(observed - chance) / (1 - chance); null where undefined",
        interval=lambda row: getattr(row, "intervals", {}).get("corrected"),
        why=lambda row: getattr(_score(row), "reason", None),
    ),
)
REASON = figure(
    "reason", "why corrected is null, only where it is", TEXT, is_optional=True, outputs=JSON
)
_REASON_CELL = REASON.only(CSV, is_optional=False)
_RATE = Group("rate", [*map(figure, SCORES), REASON.only(JSON, about="")])
_SIZE = kind(type="number", minimum=0)
_SIDES = "of either side, for measures whose precision and recall have one"
_COUNTS = Group(
    "counts",
    [
        *alike(_SIZE, *SUMS[:4]),
        *alike(_SIZE, *SUMS[4:], about=_SIDES, is_optional=True),
    ],
)
SPANS = figure("n_spans", sort=COUNT, heading="spans")
# Means have neither, and no support.
_RATE_CELLS = [*map(figure, ("precision", "recall"))]
SUPPORT = COUNT("support", value=lambda row: getattr(row, "support", None))
RATE_COLUMNS = (*_RATE_CELLS, SCORE_COLUMNS[0].only(PEOPLE, heading="F1"), *SCORE_COLUMNS[1:])
"""Against a gold standard, what is observed is an F1, with its precision and recall."""


def _against_gold(row: Any) -> Data:
    """Return precision, recall and support for CSV, where there is a gold standard."""
    found = flat_of(row, (*_RATE_CELLS, SUPPORT))
    return {} if found["support"] is None else found


def _rate(name: str, about: str) -> Column:
    return _RATE(name, about, lambda row: _score(row).rate(name), outputs=JSON)


FIGURES = (
    *SCORE_COLUMNS,
    REASON,
    NUMBER(
        "chance_error",
        "standard error of chance, where it was sampled",
        lambda row: _score(row).chance_error if _score(row).error else None,
        is_optional=True,
        outputs=JSON,
    ),
    _rate("precision", "share of what side b marked that matches side a"),
    _rate("recall", "share of what side a marked that is matched by side b"),
    _COUNTS("counts", value=_score),
    figure("n_documents", sort=COUNT),
    SPANS,
    _REASON_CELL,
    SUPPORT.only(CSV, flat=_against_gold),
)
"""A score, in JSON and CSV."""
NULL_COLUMNS = [
    FIGURE("mean", "exact"),
    Column("sd"),
    Column("sd_is", one_of("exact", "sampled")),
    Column("quantiles", named(FIGURE)),
    Column(
        "p_value",
        maybe(SHARE),
        "how often random annotations agree as much as was observed, or more",
    ),
    FIGURE("p_error", "its standard error from sampling"),
]


def _flat_null(row: Row) -> dict[str, float]:
    """Return the agreement of random annotations for a row of CSV, where it is known."""
    if (null := row.null) is None:
        return {}
    shares = {f"null_{share}": value for share, value in null.quantiles.items()}
    return {"null_mean": null.mean, "null_sd": null.sd, **shares, "p_value": null.p_value}


NULL = Column(
    "null_distribution",
    Group("null_distribution", NULL_COLUMNS, "with --null: the F1 of random annotations"),
    value=attrgetter("null"),
    flat=_flat_null,
    is_optional=True,
)


SCORE = Group("score", [*FIGURES, INTERVALS, NULL.only(CSV)])


_A = TEXT("a", value=lambda row: row.name[0], outputs=JSON)
_B = TEXT("b", value=lambda row: row.name[1], outputs=JSON)
DIFFICULTY = Column("difficulty")


HABITS = (
    FIGURE(
        "mean_length",
        "positions in a span of this annotator",
        heading="length",
        cell=lambda row: _length(row.mean_length),
    ),
    FIGURE(
        "marking_ratio",
        "how much was marked for each position that the others marked in the same texts",
        heading="marks",
        cell=lambda row: _more_or_less(row.marking_ratio),
    ),
    FIGURE("over_marking", "share of the own marks that the others do not have"),
    FIGURE("under_marking", "share of the others' marks that this annotator does not have"),
)
WITHOUT = Column(
    "without",
    maybe(SCORE),
    "the team without this annotator, where two are left",
    cell=lambda row: nan if row.without is None else row.without.score.corrected,
    flat=lambda row: {"without": row.without and row.without.score.corrected},
)
LEVELS = {
    "pair": Group(
        "pair",
        [_A, _B, *FIGURES, INTERVALS, _A.only(CSV), _B.only(CSV)],
    ),
    "annotator": Group(
        "annotator",
        [
            *FIGURES,
            INTERVALS,
            COUNT("spans", value=attrgetter("score.n_spans"), outputs=JSON),
            *HABITS,
            WITHOUT,
        ],
    ),
    "document": Group("document", [*FIGURES, DIFFICULTY, NULL]),
    "macro": Group(
        "mean",
        [
            *(column.only(DATA, about="") for column in SCORE_COLUMNS),
            REASON,
            _REASON_CELL,
            figure("n_averaged", "how many have a corrected score", COUNT, outputs=JSON),
            figure(
                "left_out",
                "how many have none, by reason",
                named(kind(type="integer")),
                outputs=JSON,
            ),
            INTERVALS,
        ],
        "mean of the scores of labels or documents, undefined ones left out",
    ),
}
"""What is shown of pairs, annotators, documents and means; of others, a score."""
ROW = (
    TEXT("level", value=lambda row: row.of_field or row.level),
    TEXT("name", value=attrgetter("joined")),
    TEXT("measure"),
)
"""What a row of CSV begins with."""


class Breakdown(NamedTuple):
    """A result by every measure, and at every level by the first of them.

    Attributes
    ----------
    rows : tuple of Row
        In the order of the outputs.
    settings : Settings, optional
        Of the intervals; None where there are none.
    gold : str, optional
        The gold standard that all were compared with, as side a.
    positions : {"tokens", "characters", "frames"}
        What offsets count.
    noun : {"document", "sentence"}
        What documents are called.
    """

    rows: tuple[Row, ...]
    settings: Settings | None
    gold: str | None = None
    positions: str = "tokens"
    noun: str = "document"

    @property
    def is_team(self) -> bool:
        """Whether there are more than two annotators, who are more than one pair."""
        return len(self.of("annotator")) > 2

    def of(self, level: str, of_field: str = "") -> list[Row]:
        """Return the rows of a level, or of a field of the documents."""
        return [row for row in self.rows if (row.level, row.of_field) == (level, of_field)]

    def by(self, name: str) -> list[Row]:
        """Return the rows of the documents, or of a field of them."""
        return self.of("document") if name == "document" else self.of("field", name)


def breakdown_of(
    results: Mapping[str, Agreement],
    intervals: Mapping[str, Intervals] | None = None,
    *,
    by: Iterable[str] = (),
    difficulty: Difficulty | None = None,
    null: NullDistribution | None = None,
) -> Breakdown:
    """Break a result down.

    Parameters
    ----------
    results : mapping of measure to Agreement
        The first is the one that is broken down. Habits are counted in positions if
        ``token`` is among them.
    intervals : mapping of measure to Intervals, optional
        Of the first of the `results` at least.
    by : iterable of str
        ``document``, or fields of the documents.
    difficulty : Difficulty, optional
        Of the documents.
    null : NullDistribution, optional
        Of the first of the `results`.
    """
    measure, result = next(iter(results.items()))
    known = intervals or {}
    own = known.get(measure, Intervals(overall={}, settings=result.settings))

    rows_of = partial(_rows_of, measure)
    support = result.support
    rows = [
        Row(
            measure=name,
            score=item.score,
            intervals=known[name].overall if name in known else {},
            null=null if name == measure else None,
            support=None if support is None else sum(support.values()),
        )
        for name, item in results.items()
    ]
    # The team without each annotator, where two are left.
    without = result.without if len(result.by_annotator) > 2 else {}
    rows += labels_of(measure, result, own.by_label)
    rows += rows_of("pair", result.by_pair, own.by_pair)
    habits = habits_of(result, results.get("token"))
    others = {row.name: row for row in rows_of("without", without, own.without)}
    rows += [
        replace(row, **habits[row.joined], without=others.get(row.name))
        for row in rows_of("annotator", result.by_annotator, own.by_annotator)
    ]
    for name in by:
        if name == "document":
            rows += rows_of(
                "document",
                result.by_document if result.counts.is_by_document else result.contested,
                {},
                difficulty={} if difficulty is None else difficulty.by_document,
                null={} if null is None else null.by_document,
            )
        else:
            rows += rows_of("field", result.by_field(name), own.by_field.get(name, {}), name)
    return Breakdown(
        rows=tuple(rows),
        settings=own.settings if known else None,
        gold=result.gold,
        positions=result.settings.positions,
        noun=result.extent.noun,
    )


def _rows_of(
    measure: str,
    level: str,
    scores: Mapping[Any, Score],
    ends: Mapping[Any, Scores],
    of_field: str = "",
    **more: Mapping[Any, Any],
) -> list[Row]:
    """Return a row for each score of a level, with what else is known by the same names."""
    return [
        Row(
            measure=measure,
            score=score,
            level=level,
            name=name,
            of_field=of_field,
            intervals=ends.get(name, {}),
            **{column: values[name] for column, values in more.items() if name in values},
        )
        for name, score in scores.items()
    ]


def labels_of(measure: str, result: Agreement, intervals: Mapping[str, Scores]) -> list[Row]:
    """Return the labels of a result."""
    return _rows_of(measure, "label", result.by_label, intervals, support=result.support or {})


def habits_of(result: Agreement, by_position: Agreement | None) -> dict[str, Data]:
    """Return how every annotator marks, compared with the others.

    Parameters
    ----------
    result : Agreement
    by_position : Agreement, optional
        The same by the token measure, whose sizes are numbers of positions: without it,
        lengths are not known, and what was marked is counted as the measure does. Weighted sizes
        are no lengths either, nor are those of labels, which depend on what another one found.
    """
    sides = (by_position or result).by_annotator
    sizes: Mapping[str, float] = {}
    if by_position and by_position.settings.average == "micro" and result.counts.of == OF_SPANS:
        sizes = by_position.counts.size_by_annotator()
    return {
        name: {
            "mean_length": _ratio(sizes.get(name, nan), score.n_spans),
            "marking_ratio": _ratio(sides[name].size_a, sides[name].size_b),
            "over_marking": 1 - _ratio(score.matched, score.size_a),
            "under_marking": 1 - _ratio(score.matched, score.size_b),
        }
        for name, score in result.by_annotator.items()
    }


def _ratio(amount: float, whole: float) -> float:
    return amount / whole if whole else nan


# --- Tables for people --------------------------------------------------------


NAMED = for_people("name", attrgetter("shown"), "name")


def scores_table(
    heading: str,
    rows: Sequence[Row],
    settings: Settings | None,
    *,
    title: str = "",
    top: int = 0,
    remark: str = "",
) -> Table:
    """Return a table of scores by name; of too many, those of the lowest scores."""
    columns = (NAMED, SPANS, *SCORE_COLUMNS)
    shown = partial(table_of, settings=settings, top=top, lowest=contested, name=heading)
    return shown(rows, columns, title, remark)


def rates_tables(rows: Sequence[Any], settings: Settings | None, title: str) -> list[Table]:
    """Return tables of precision, recall and F1 of labels against a gold standard."""
    tables = [table_of(rows, (NAMED, *RATE_COLUMNS, SUPPORT), title, name="label")]
    # There is no room for intervals in the same table.
    return [*tables, *intervals_tables("label", rows, settings, f"intervals of the {title}")]


def intervals_tables(
    heading: str, rows: Sequence[Any], settings: Settings | None, title: str, top: int = 0
) -> list[Table]:
    """Return a table of intervals, where another one has no room for them; none without any."""
    if not any(row.intervals for row in rows):
        return []
    columns = (NAMED, SCORE_COLUMNS[-1]._replace(why=None))
    return [
        table_of(rows, columns, title, settings=settings, top=top, lowest=contested, name=heading)
    ]


def lowest_names(scores: Mapping[Any, Score], top: int) -> list[Any]:
    """Return all names, or those of the lowest scores."""
    if not 0 < top < len(scores):
        return list(scores)
    return sorted(scores, key=lambda name: contested(scores[name]))[:top]


def contested(row: Row | Score) -> tuple[bool, float, int]:
    """Return what to sort rows by: the lowest first and undefined ones last; then by spans."""
    score = _score(row)
    is_undefined = isnan(score.corrected)
    return is_undefined, 0.0 if is_undefined else score.corrected, -score.n_spans


def most_contested(rows: Iterable[AnyRow]) -> list[AnyRow]:
    """Sort by corrected score, the lowest first and undefined ones last; then by spans."""
    return sorted(rows, key=contested)


def habits_table(rows: Sequence[Row], top: int, *, gold: str | None = None) -> Table:
    """Return how each annotator marks, compared with the others or with a gold standard."""
    is_team = len(rows) > 2 and gold is None
    has_lengths = not all(isnan(row.mean_length) for row in rows)
    others = "the others" if gold is None else "the gold standard"
    legend = "length: mean of the spans; " if has_lengths else ""
    legend += f"marks: more or less than {others} in the same texts"
    legend += "; without: corrected, of the others among themselves" if is_team else ""
    marks = HABITS[0 if has_lengths else 1 : 2]
    return table_of(
        rows,
        (NAMED, SPANS, *marks, *SCORE_COLUMNS, *([WITHOUT] if is_team else [])),
        f"annotators, each against {others}" if is_team or gold else "annotators",
        f"({legend})",
        top=top,
        lowest=contested,
        name="annotator",
    )


def _length(mean: float) -> Amount | None:
    return None if isnan(mean) else Amount(mean, f"{mean:.1f}")


def _more_or_less(ratio: float) -> Amount | None:
    """Return a change in percent.

    >>> [_more_or_less(ratio).text for ratio in (1.5, 0.999, 1)]
    ['+50 %', '-0 %', '0 %']
    """
    if isnan(ratio):
        return None
    return Amount(ratio - 1, "0 %" if ratio == 1 else f"{100 * (ratio - 1):+.0f} %")


# --- Parts and means --------------------------------------------------------

MACRO = Group(
    "macro",
    [Column(by, LEVELS["macro"]) for by in AVERAGES],
    "macro averages: every label, or every document, counts the same",
)


def parts_of(
    measure: str,
    result: Agreement,
    parts: Mapping[str, Agreement] | None = None,
    intervals: Mapping[str, Scores] | None = None,
) -> list[Row]:
    """Return the parts of a result, and its means.

    Parameters
    ----------
    measure : str
    result : Agreement
    parts : mapping of str to Agreement, optional
        By name: ``finding``, ``labelling``, ``supported 2`` for what two or more support.
    intervals : mapping of str to intervals, optional
        By the name of the part, or of what is averaged.
    """
    known = intervals or {}
    rows = []
    for name, item in (parts or {}).items():
        level, _, number = name.partition(" ")
        ends = known.get(name, {})
        rows.append(
            Row(measure=measure, score=item.score, level=level, name=number, intervals=ends)
        )
    for by in AVERAGES:
        mean: Any = result.macro(by)
        ends = known.get(by, {})
        rows.append(Row(measure=measure, score=mean, level="macro", name=by, intervals=ends))
    return rows


def parts_tables(parts: Sequence[Row], settings: Settings | None, by: str) -> list[Table]:
    """Return a table of both parts and both means; none of a single label or document.

    Parameters
    ----------
    parts : sequence of Row
    settings : Settings, optional
        Of the intervals.
    by : str
        What the scores are by, for people.
    """
    shown = [part for part in parts if getattr(part.score, "n_averaged", 2) > 1]
    return [parts_table(shown, f"parts and means, by {by}", settings=settings)] if shown else []


def parts_table(rows: Sequence[Row], title: str = "", **more: Any) -> Table:
    """Return a table of parts or means, with how many scores are not in the means."""
    left_out = [
        f"{counted(number, row.score.noun)} ({reason})"
        for row in rows
        if isinstance(row.score, MacroAverage)
        for reason, number in row.score.left_out.items()
    ]
    remark = f"Not in the means: {in_list(left_out)}." if left_out else ""
    if any(row.level == "supported" for row in rows):
        remark = in_one("(supported: of what is marked, the share that so many marked)", remark)
    columns = (NAMED, *SCORE_COLUMNS)
    return table_of(rows, columns, title, remark, name="", **more)
