"""The scores of a result at every level: the rows of which tables, JSON and CSV are made."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan, nan
from operator import attrgetter
from typing import TYPE_CHECKING, Any, TypeAlias, TypeVar

from beyondchance.reporting.blocks import Amount, Below, Cell, Range, Table, in_list
from beyondchance.results.intervals import ConfidenceInterval, Intervals
from beyondchance.results.resampling import SCORES
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
DRAWS = "random annotations"
"""What p-values of chance agreement are computed from."""


# --- Intervals ----------------------------------------------------------------


def interval_heading(settings: Settings) -> str:
    """What stands above intervals: ``95 %``."""
    return f"{100 * settings.confidence:.10g} %"


def cell_of(interval: ConfidenceInterval | None) -> Range | None:
    """An interval for a table, with a star where it is to be taken with caution."""
    if interval is None:
        return None
    return Range(interval.low, interval.high, "*" if interval.caution else "")


def p_cell(p_value: float, *, is_floor: bool) -> float | Below:
    """A p-value for a table, as a bound where it is the smallest that its test can show."""
    return Below(p_value) if is_floor else p_value


def floor_remark(
    cells: Iterable[Cell], settings: Settings, trials: str, *, is_adjusted: bool = False
) -> str:
    """What the sign in front of some p-values means; nothing if none has one.

    Parameters
    ----------
    cells : iterable of Cell
    settings : Settings
        Of the test.
    trials : str
        What was drawn, as a plural.
    is_adjusted : bool
        Whether p-values are adjusted for several comparisons.
    """
    if not any(isinstance(cell, Below) for cell in cells):
        return ""
    text = f"<: the smallest p-value that {settings.resamples:,} {trials} can show"
    return f"({text}, adjusted)" if is_adjusted else f"({text})"


def json_intervals(intervals: Scores) -> dict[str, Any]:
    """What a score gains in JSON."""
    if not intervals:
        return {}
    ends: dict[str, Any] = {name: json_ends(item) for name, item in intervals.items()}
    reasons = {name: item.reason for name, item in intervals.items() if item.reason is not None}
    return {"intervals": {**ends, "reasons": reasons} if reasons else ends}


def json_ends(interval: ConfidenceInterval) -> list[float] | None:
    """The ends of an interval, for JSON."""
    return None if isnan(interval.low) else [interval.low, interval.high]


def json_uncertainty(first: ConfidenceInterval, settings: Settings) -> dict[str, Any]:
    """How intervals were made, for JSON."""
    return {
        "confidence": settings.confidence,
        "method": settings.interval_method,
        "resamples": settings.resamples,
        "seed": settings.seed if settings.resamples else None,
        "over": first.over,
        "units": first.n_units,
        "effective_units": first.effective,
    }


def flat_intervals(intervals: Scores) -> dict[str, Any]:
    """What a row gains in CSV."""
    return {
        f"{name}_{end}": getattr(item, end)
        for name, item in intervals.items()
        for end in ("low", "high")
    }


# --- Rows ---------------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class Habits:
    """How an annotator marks, compared with the others.

    Attributes
    ----------
    mean_length : float
        Positions in a span.
    marking_ratio : float
        How much the annotator marked, for each position that the others marked in the same
        texts.
    over_marking, under_marking : float
        The share of the own marks that the others do not have, and of the others' marks
        that the annotator does not have.
    """

    mean_length: float
    marking_ratio: float
    over_marking: float
    under_marking: float


@dataclass(frozen=True, slots=True, kw_only=True)
class Row:
    """A score with its intervals, what it is the score of, and what else is known of that.

    Attributes
    ----------
    measure : str
    score : Score
    level : {"all", "label", "pair", "annotator", "without", "document", "field"}
    name : str or (str, str)
        Of the label, pair, annotator, document or value of the field.
    of_field : str
        The field of the documents, at the level of fields.
    intervals : mapping of str to ConfidenceInterval
        Empty where there are none.
    habits : Habits, optional
        Of an annotator.
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
    habits: Habits | None = None
    without: Row | None = None
    difficulty: float = nan
    null: NullDistribution | None = None
    support: int | None = None

    @property
    def shown(self) -> str:
        """The name for people."""
        return self.name if isinstance(self.name, str) else " and ".join(self.name)

    def to_dict(self) -> dict[str, Any]:
        """The row for JSON."""
        pair = {"a": self.name[0], "b": self.name[1]} if self.level == "pair" else {}
        row = {**pair, **self.score.to_dict(), **json_intervals(self.intervals)}
        if self.habits is not None:
            without = None if self.without is None else self.without.to_dict()
            row |= {"spans": self.score.n_spans, **asdict(self.habits), "without": without}
        if self.level == "document":
            row["difficulty"] = self.difficulty
            row |= {} if self.null is None else {"null_distribution": plain_null(self.null)}
        return row

    def to_flat(self) -> dict[str, Any]:
        """The row for CSV."""
        names = {
            "level": self.of_field or self.level,
            "name": self.shown,
            "measure": self.measure,
        }
        return {**names, **self.numbers()}

    def numbers(self) -> dict[str, Any]:
        """The row for CSV, without its names."""
        row = flat_score(self.score)
        if self.support is not None:
            row |= {**flat_rates(self.score), "support": self.support}
        row |= flat_intervals(self.intervals)
        if self.level == "pair":
            row |= {"a": self.name[0], "b": self.name[1]}
        if self.habits is not None:
            without = None if self.without is None else self.without.score.corrected
            row |= {**asdict(self.habits), "without": without}
        if self.level == "document":
            row["difficulty"] = self.difficulty
        return row if self.null is None else {**row, **flat_null(self.null)}


AnyRow = TypeVar("AnyRow", bound=Row)


def flat_score(score: Score) -> dict[str, Any]:
    """A score for a row of CSV."""
    nested = score.to_dict()
    return {
        **{name: nested[name] for name in SCORES},
        **nested["counts"],
        "n_documents": score.n_documents,
        "n_spans": score.n_spans,
        "reason": score.reason,
    }


def flat_rates(score: Score) -> dict[str, float]:
    """Precision and recall for a row of CSV, against a gold standard."""
    return {name: getattr(score, name) for name in RATES}


def plain_null(null: NullDistribution) -> dict[str, Any]:
    """The agreement of random annotations, for JSON."""
    return {
        "mean": null.mean,
        "sd": null.sd,
        "sd_is": null.sd_is,
        "quantiles": {str(share): value for share, value in null.quantiles.items()},
        "p_value": null.p_value,
        "p_error": null.p_error,
    }


def flat_null(null: NullDistribution) -> dict[str, float]:
    """The agreement of random annotations, for a row of CSV."""
    shares = {f"null_{share}": value for share, value in null.quantiles.items()}
    return {"null_mean": null.mean, "null_sd": null.sd, **shares, "p_value": null.p_value}


@dataclass(frozen=True, slots=True, kw_only=True)
class Breakdown:
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

    def of(self, level: str, of_field: str = "") -> list[Row]:
        """The rows of a level, or of a field of the documents."""
        return [row for row in self.rows if (row.level, row.of_field) == (level, of_field)]

    def by(self, name: str) -> list[Row]:
        """The rows of the documents, or of a field of them."""
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

    def rows_of(
        level: str,
        scores: Mapping[Any, Score],
        ends: Mapping[Any, Scores],
        of_field: str = "",
        **more: Mapping[Any, Any],
    ) -> list[Row]:
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
    rows += rows_of("label", result.by_label, own.by_label, support=support or {})
    rows += rows_of("pair", result.by_pair, own.by_pair)
    rows += rows_of(
        "annotator",
        result.by_annotator,
        own.by_annotator,
        habits=habits_of(result, results.get("token")),
        without={row.name: row for row in rows_of("without", without, own.without)},
    )
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


def habits_of(result: Agreement, by_position: Agreement | None) -> dict[str, Habits]:
    """The habits of every annotator.

    Parameters
    ----------
    result : Agreement
    by_position : Agreement, optional
        The same by the token measure, whose sizes are numbers of positions: without it,
        lengths are not known, and what was marked is counted as the measure does. Weighted sizes
        are no lengths either.
    """
    sides = (by_position or result).by_annotator
    is_known = by_position is not None and by_position.settings.average == "micro"
    sizes = by_position.counts.size_by_annotator() if by_position and is_known else {}
    return {
        name: Habits(
            mean_length=_ratio(sizes.get(name, nan), score.n_spans),
            marking_ratio=_ratio(sides[name].size_a, sides[name].size_b),
            over_marking=1 - _ratio(score.matched, score.size_a),
            under_marking=1 - _ratio(score.matched, score.size_b),
        )
        for name, score in result.by_annotator.items()
    }


def _ratio(amount: float, whole: float) -> float:
    return amount / whole if whole else nan


# --- Tables for people --------------------------------------------------------

Column: TypeAlias = tuple[str, Callable[[Any], Cell]]
"""A heading, and the cell of a row."""

SCORE_COLUMNS: tuple[Column, ...] = tuple((name, attrgetter(f"score.{name}")) for name in SCORES)
SPANS: Column = ("spans", attrgetter("score.n_spans"))
RATES = ("precision", "recall")
RATE_COLUMNS: tuple[Column, ...] = (
    # Means have neither, and no support.
    *((name, lambda row, name=name: getattr(row.score, name, None)) for name in RATES),
    ("F1", attrgetter("score.observed")),
    *SCORE_COLUMNS[1:],
)
"""Against a gold standard, what is observed is an F1, with its precision and recall."""
SUPPORT: Column = ("support", lambda row: getattr(row, "support", None))


def table_of(
    rows: Sequence[Any],
    *columns: Column,
    settings: Settings | None = None,
    title: str = "",
    remark: str = "",
    has_reasons: bool = True,
) -> Table:
    """A table of rows.

    Parameters
    ----------
    rows : sequence of Row
        Or of anything with a score, where no intervals are asked for.
    *columns : Column
    settings : Settings, optional
        Of the intervals, which then stand after the corrected scores, if there are any.
    title, remark : str
    has_reasons : bool
        Whether it is said below why scores are undefined, if some are.
    """
    shown = list(columns)
    if settings is not None and any(row.intervals for row in rows):
        place = [heading for heading, _ in shown].index("corrected") + 1
        ends: Column = (
            interval_heading(settings),
            lambda row: cell_of(row.intervals.get("corrected")),
        )
        shown.insert(place, ends)
    cells = [tuple(cell(row) for _, cell in shown) for row in rows]
    reasons = _undefined(rows, columns[0][1]) if has_reasons else ()
    remark = " ".join(filter(None, (remark, *reasons)))
    return Table([heading for heading, _ in shown], cells, title, remark)


def _undefined(rows: Sequence[Any], name: Callable[[Any], Cell]) -> list[str]:
    """Why corrected scores are undefined, each reason once; of which rows, unless of all."""
    by_reason: dict[str, list[str]] = {}
    for row in rows:
        if row.score.reason is not None:
            by_reason.setdefault(row.score.reason, []).append(str(name(row)))
    return [
        f"Undefined{f' ({in_list(names)})' if len(names) < len(rows) else ''}: {reason}."
        for reason, names in by_reason.items()
    ]


def scores_table(
    heading: str,
    rows: Sequence[Row],
    settings: Settings | None,
    *,
    title: str = "",
    top: int = 0,
    remark: str = "",
) -> Table:
    """A row for each name; where there are too many, those of the lowest scores."""
    shown, cut = lowest(rows, top)
    columns: list[Column] = [(heading, attrgetter("shown")), SPANS, *SCORE_COLUMNS]
    remark = " ".join(filter(None, (cut, remark)))
    return table_of(shown, *columns, settings=settings, title=title, remark=remark)


def rates_tables(rows: Sequence[Any], settings: Settings | None, title: str) -> list[Table]:
    """Precision, recall and F1 of labels against a gold standard, and its spans."""
    name = ("label", attrgetter("shown"))
    tables = [table_of(rows, name, *RATE_COLUMNS, SUPPORT, title=title)]
    # There is no room for intervals in the same table.
    return [*tables, *intervals_tables("label", rows, settings, f"intervals of the {title}")]


def intervals_tables(
    kind: str, rows: Sequence[Any], settings: Settings | None, title: str, top: int = 0
) -> list[Table]:
    """The intervals of rows, where their own table has no room for them; nothing without any."""
    if not any(row.intervals for row in rows):
        return []
    shown, remark = lowest(rows, top)
    columns = ((kind, attrgetter("shown")), ("corrected", attrgetter("score.corrected")))
    return [
        table_of(shown, *columns, settings=settings, title=title, remark=remark, has_reasons=False)
    ]


def lowest(rows: Sequence[AnyRow], top: int) -> tuple[Sequence[AnyRow], str]:
    """All rows, or the lowest scores and a remark on how many there are."""
    if not top or len(rows) <= top:
        return rows, ""
    return most_contested(rows)[:top], f"The {top:,} lowest of {len(rows):,}."


def lowest_names(scores: Mapping[Any, Score], top: int) -> list[Any]:
    """Return all names, or those of the lowest scores."""
    rows = [Row(measure="", score=score, name=name) for name, score in scores.items()]
    return [row.name for row in lowest(rows, top)[0]]


def most_contested(rows: Iterable[AnyRow]) -> list[AnyRow]:
    """By corrected score, the lowest first; undefined ones last; many spans first."""

    def key(row: Row) -> tuple[bool, float, int]:
        corrected = row.score.corrected
        return isnan(corrected), 0.0 if isnan(corrected) else corrected, -row.score.n_spans

    return sorted(rows, key=key)


def habits_table(rows: Sequence[Row], top: int, *, gold: str | None = None) -> Table:
    """How each annotator marks, compared with the others or with a gold standard."""
    shown, remark = lowest(rows, top)
    is_team = len(rows) > 2 and gold is None
    has_lengths = not all(isnan(row.habits.mean_length) for row in rows if row.habits)
    columns: list[Column] = [
        ("annotator", attrgetter("name")),
        SPANS,
        *([("length", lambda row: _length(row.habits.mean_length))] if has_lengths else []),
        ("marks", lambda row: _more_or_less(row.habits.marking_ratio)),
        *SCORE_COLUMNS,
    ]
    others = "the others" if gold is None else "the gold standard"
    legend = "length: mean of the spans; " if has_lengths else ""
    legend += f"marks: more or less than {others} in the same texts"
    if is_team:
        columns.append(("without", lambda row: row.without.score.corrected if row.without else nan))
        legend += "; without: corrected, of the others among themselves"
    return table_of(
        shown,
        *columns,
        title=f"annotators, each against {others}" if is_team or gold else "annotators",
        remark=" ".join(filter(None, (remark, f"({legend})"))),
        has_reasons=False,
    )


def _length(mean: float) -> Amount | None:
    return None if isnan(mean) else Amount(mean, f"{mean:.1f}")


def _more_or_less(ratio: float) -> Amount | None:
    """A change in percent.

    >>> [_more_or_less(ratio).text for ratio in (1.5, 0.999, 1)]
    ['+50 %', '-0 %', '0 %']
    """
    if isnan(ratio):
        return None
    return Amount(ratio - 1, "0 %" if ratio == 1 else f"{100 * (ratio - 1):+.0f} %")
