"""Confidence intervals in tables, JSON and CSV."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from typing import TYPE_CHECKING, Any, TypeAlias

from beyondchance.reporting.blocks import Range
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.results.intervals import ConfidenceInterval

Scores: TypeAlias = "Mapping[str, ConfidenceInterval]"
"""Intervals by the name of a score."""


def interval_heading(settings: Settings) -> str:
    """What stands above intervals: ``95 %``."""
    return f"{100 * settings.confidence:.10g} %"


def cell_of(interval: ConfidenceInterval | None) -> Range | None:
    """An interval for a table, with a star where it is to be taken with caution."""
    if interval is None:
        return None
    return Range(interval.low, interval.high, "*" if interval.caution else "")


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
        "seed": int(settings.seed or 0),
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
