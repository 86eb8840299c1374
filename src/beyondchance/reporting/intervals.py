"""Confidence intervals in tables, sentences, JSON and CSV."""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

from beyondchance.reporting.blocks import Range, Table, counted, in_list
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.results.intervals import ConfidenceInterval

Scores: TypeAlias = "Mapping[str, ConfidenceInterval]"
"""Intervals by the name of a score."""

_MOST_REASONS = 6
CAUTION = "the interval: "
"""How a note begins that asks for caution."""

_METHODS = {"bca": "BCa", "percentile": "percentiles", "expanded": "expanded BCa"}


def with_intervals(table: Table, intervals: Sequence[Scores], settings: Settings | None) -> Table:
    """A table with a column of intervals after that of corrected scores, if there are any."""
    if settings is None:
        return table
    place = list(table.headings).index("corrected") + 1
    headings = [*table.headings[:place], interval_heading(settings), *table.headings[place:]]
    rows = [
        (*row[:place], cell_of(found.get("corrected")), *row[place:])
        for row, found in zip(table.rows, intervals, strict=True)
    ]
    return Table(headings, rows, table.title, table.remark)


def interval_heading(settings: Settings) -> str:
    """What stands above intervals: ``95 %``."""
    return f"{100 * settings.confidence:.10g} %"


def cell_of(interval: ConfidenceInterval | None) -> Range | None:
    """An interval for a table, with a star where it is to be taken with caution."""
    if interval is None:
        return None
    return Range(interval.low, interval.high, "*" if interval.caution else "")


def explained(
    first: ConfidenceInterval, shown: Sequence[tuple[str, ConfidenceInterval]], settings: Settings
) -> str:
    """How intervals were made, what the star means, and why some are missing.

    Parameters
    ----------
    first : ConfidenceInterval
        One of them, which tells what was drawn.
    shown : sequence of (name, ConfidenceInterval)
        All that are shown.
    settings : Settings
    """
    method = _METHODS.get(settings.interval_method or "", "")
    kinds = first.over.split(" and ")
    both = [first.n_units - first.n_annotators, first.n_annotators]
    sizes = both if len(kinds) > 1 else [first.n_units]
    drawn = " and ".join(
        counted(size, kind.removesuffix("s")) for size, kind in zip(sizes, kinds, strict=True)
    )
    draws = f"{settings.resamples:,} resamples of {drawn}, seed {settings.seed}"
    sentences = [f"Intervals: {interval_heading(settings)}, {method}, {draws}."]
    if first.over.startswith("sentences") and first.reason is None:
        sentences.append(
            "No documents larger than sentences are known, so that sentences were drawn: if they "
            "come from a few articles, the intervals are too narrow."
        )
    if any(interval.caution for _, interval in shown):
        advice = (
            "too narrow, by any method."
            if first.has_few_annotators
            else "a rough guide."
            if settings.interval_method == "expanded"
            else "probably too narrow; --interval-method expanded allows for it."
        )
        few = "annotators" if first.has_few_annotators else first.over
        sentences.append(f"* few {few} tell how wide it is: {advice}")
    sentences += _missing(shown)
    return " ".join(sentences)


def _missing(shown: Sequence[tuple[str, ConfidenceInterval]]) -> list[str]:
    """Why some intervals are missing; names with the same reason together."""
    reasons: dict[str, list[str]] = {}
    for name, interval in shown:
        if interval.reason is not None:
            reasons.setdefault(interval.reason, []).append(name)
    said = [f"No interval for {in_list(names)}: {reason}." for reason, names in reasons.items()]
    rest = sum(len(names) for names in list(reasons.values())[_MOST_REASONS:])
    return said[:_MOST_REASONS] + ([f"No interval for {rest:,} more."] if rest else [])


def cautions(intervals: Iterable[ConfidenceInterval]) -> list[str]:
    """Notes on intervals that are to be taken with caution, once each."""
    found = [f"{CAUTION}{item.caution}" for item in intervals if item.caution]
    return [note.replace("method=", "interval_method=") for note in dict.fromkeys(found)]


def json_intervals(intervals: Scores | None) -> dict[str, Any]:
    """What a score gains in JSON."""
    if not intervals:
        return {}
    found: dict[str, Any] = {name: json_ends(item) for name, item in intervals.items()}
    reasons = {name: item.reason for name, item in intervals.items() if item.reason is not None}
    return {"intervals": {**found, "reasons": reasons} if reasons else found}


def json_ends(interval: ConfidenceInterval) -> list[float] | None:
    """The ends of an interval, for JSON."""
    return None if isnan(interval.low) else [interval.low, interval.high]


def json_uncertainty(first: ConfidenceInterval, settings: Settings) -> dict[str, Any]:
    """How intervals were made, for JSON."""
    return {
        "confidence": settings.confidence,
        "method": settings.interval_method,
        "resamples": settings.resamples,
        "seed": int(settings.seed or 0),
        "over": first.over,
        "units": first.n_units,
        "effective_units": first.effective,
    }


def flat_intervals(intervals: Scores | None) -> dict[str, Any]:
    """What a row gains in CSV."""
    return {
        f"{name}_{end}": getattr(item, end)
        for name, item in (intervals or {}).items()
        for end in ("low", "high")
    }
