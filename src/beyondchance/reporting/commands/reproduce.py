"""The report of `reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from beyondchance.paper import Reproduced
from beyondchance.reporting.blocks import Block, Prose, Report, Table, counted

UNEXPLAINED = "differs, and no known deviation explains it"


def reproduce_report(cases: Sequence[Reproduced]) -> Report:
    """The report of `reproduce`, of which an output shows a part."""
    return Report(
        command="reproduce",
        make_blocks=lambda: _blocks(cases),
        make_data=lambda: {"cases": [_plain(item) for item in cases]},
        make_rows=lambda: [row for item in cases for row in _rows(item)],
    )


def _blocks(cases: Sequence[Reproduced]) -> list[Block]:
    columns = ("case", "column", "printed", "ours", "note")
    blocks: list[Block] = []
    notes: list[str | None] = []
    for title, group in groupby(cases, key=lambda item: item.case.title):
        rows = [row for item in group for row in _rows(item)]
        notes += [row["note"] for row in rows]
        blocks.append(Table(columns, [tuple(row[name] for name in columns) for row in rows], title))
    unexplained = notes.count(UNEXPLAINED)
    differ = len(notes) - notes.count(None)
    summary = (
        f"{counted(len(notes), 'cell')}: {len(notes) - differ} as printed, {differ - unexplained} "
        f"by a known slip of the paper, {unexplained} unexplained."
    )
    return [*blocks, Prose(summary)]


def _plain(item: Reproduced) -> dict[str, Any]:
    notes = [f"{row['column']}: {row['note']}" for row in _rows(item) if row["note"]]
    return {
        "table": item.case.table,
        "case": item.case.case,
        "printed": dict(item.case.printed),
        "ours": dict(item.ours),
        "note": "; ".join(notes) or None,
    }


def _rows(item: Reproduced) -> list[dict[str, Any]]:
    """One row for each cell that was computed."""
    return [
        {
            "table": item.case.table,
            "case": item.case.case,
            "column": column,
            "printed": item.case.printed[column],
            "ours": value,
            "note": UNEXPLAINED if column in item.unexplained else item.notes.get(column),
        }
        for column, value in item.ours.items()
    ]
