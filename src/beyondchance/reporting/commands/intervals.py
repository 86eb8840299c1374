"""What confidence intervals print."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from typing import Any

from beyondchance.messages import Note
from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import Cell, Prose, Report, Table
from beyondchance.results.intervals import ConfidenceInterval, Intervals


def report_of_interval(interval: ConfidenceInterval) -> Report:
    """One interval, with what to know of it."""
    row = {"low": interval.low, "high": interval.high, "reason": interval.reason}
    caution = [] if interval.caution is None else [Note(interval.caution_text, is_caution=True)]

    def blocks() -> list[Prose | Table]:
        if interval.reason is not None:
            return [Prose(f"No interval: {interval.reason}.")]
        units = ", ".join(f"{number:,} {kind}" for kind, number in interval.units)
        cells: list[Cell] = [interval.low, interval.high, interval.method, units]
        return [Table(("low", "high", "method", "over"), [cells])]

    return Report(
        command="interval",
        notes=tuple(caution),
        make_blocks=blocks,
        make_data=lambda: {
            **row,
            "method": interval.method,
            "units": dict(interval.units),
            "effective_units": interval.effective,
        },
        make_rows=lambda: [row],
    )


def report_of_intervals(found: Intervals) -> Report:
    """The intervals of every level."""
    rows = [*_rows(found)]
    names = list(found.overall)
    shown = [(f"{row['level']} {row['name']}".strip(), ends[names[-1]]) for row, ends in rows]
    first = found.overall[names[0]]

    def blocks() -> list[Prose | Table]:
        cells = [
            (f"{row['level']} {row['name']}".strip(), *(levels.cell_of(ends[n]) for n in names))
            for row, ends in rows
        ]
        title = f"{levels.interval_heading(found.settings)} confidence intervals"
        table = Table(("", *names), cells, title)
        return [table, Prose(sentences.explained(first, shown, found.settings))]

    return Report(
        command="intervals",
        signature=str(found.settings),
        notes=tuple(sentences.cautions(found.overall.values())),
        make_blocks=blocks,
        make_data=lambda: {
            "levels": [{**row, **levels.json_intervals(ends)} for row, ends in rows],
            "uncertainty": levels.json_uncertainty(first, found.settings),
        },
        make_rows=lambda: [{**row, **levels.flat_intervals(ends)} for row, ends in rows],
    )


def _rows(found: Intervals) -> Iterator[tuple[dict[str, Any], Mapping[str, ConfidenceInterval]]]:
    """Level and name, with their intervals."""
    yield {"level": "all", "name": ""}, found.overall
    named: list[tuple[str, Mapping[Any, Mapping[str, ConfidenceInterval]]]] = [
        ("label", found.by_label),
        ("pair", found.by_pair),
        ("annotator", found.by_annotator),
        ("without", found.without),
        *found.by_field.items(),
    ]
    for level, by_name in named:
        for name, ends in by_name.items():
            shown = name if isinstance(name, str) else " and ".join(name)
            yield {"level": level, "name": shown}, ends
