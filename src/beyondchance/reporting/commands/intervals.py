"""What confidence intervals print."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from typing import NamedTuple

from beyondchance.messages import Note
from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import Blocks, Report
from beyondchance.reporting.columns import (
    COUNT,
    DATA,
    JSON,
    PEOPLE,
    TEXT,
    Column,
    Data,
    Getter,
    alike,
    cell_of,
    data_of,
    for_people,
    interval_heading,
    named,
    report_of_rows,
    table_of,
)
from beyondchance.results.intervals import ConfidenceInterval, Intervals

_INTERVAL = (
    Column("low"),
    Column("high"),
    TEXT("reason", outputs=DATA),
    TEXT("method", outputs=PEOPLE | JSON),
    for_people("over", lambda x: ", ".join(f"{number:,} {kind}" for kind, number in x.units)),
    Column("units", named(COUNT), value=lambda interval: dict(interval.units), outputs=JSON),
    Column("effective_units", value=lambda interval: interval.effective, outputs=JSON),
)


def report_of_interval(interval: ConfidenceInterval) -> Report:
    """Build the report of one interval."""
    caution = [] if interval.caution is None else [Note(interval.caution_text, is_caution=True)]
    report = report_of_rows([interval], _INTERVAL, notes=tuple(caution))
    if interval.reason is None:
        return report
    return replace(report, make_blocks=lambda: [f"No interval: {interval.reason}."])


class _Row(NamedTuple):
    """The intervals of a label, a pair, an annotator; or of all."""

    level: str
    name: str
    intervals: levels.Scores

    @property
    def shown(self) -> str:
        """The name for people."""
        return f"{self.level} {self.name}".strip()


def _interval(name: str) -> Getter:
    return lambda row: cell_of(row.intervals[name])


_ROW = (*alike(TEXT, "level", "name"), levels.INTERVALS)


def report_of_intervals(found: Intervals) -> Report:
    """Build the report of the intervals of every level."""
    rows, names = [*_rows(found)], list(found.overall)
    first = found.overall[names[0]]

    def blocks() -> Blocks:
        columns = [for_people(name, _interval(name)) for name in names]
        title = f"{interval_heading(found.settings)} confidence intervals"
        shown = [(row.shown, row.intervals[names[-1]]) for row in rows]
        yield table_of(rows, [levels.NAMED, *columns], title, name="")
        yield sentences.explained(first, shown, found.settings)

    return report_of_rows(
        rows,
        _ROW,
        settings=found.settings,
        notes=tuple(sentences.cautions(found.overall.values())),
        make_blocks=blocks,
        make_data=lambda: {
            "levels": [data_of(row, _ROW) for row in rows],
            "uncertainty": levels.uncertainty(first, found.settings),
        },
    )


def _rows(found: Intervals) -> Iterator[_Row]:
    """Yield level and name, with their intervals."""
    yield _Row("all", "", found.overall)
    by_level: Data = {
        "label": found.by_label,
        "pair": found.by_pair,
        "annotator": found.by_annotator,
        "without": found.without,
        **found.by_field,
    }
    for level, by_name in by_level.items():
        for name, ends in by_name.items():
            yield _Row(level, name if isinstance(name, str) else " and ".join(name), ends)
