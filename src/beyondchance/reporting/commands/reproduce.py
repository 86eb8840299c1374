"""The report of `reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from beyondchance.paper import Reproduced
from beyondchance.reporting.blocks import Block, Prose, Report, counted
from beyondchance.reporting.columns import (
    NUMBER,
    TABLE,
    TEXT,
    Column,
    Group,
    command,
    many,
    maybe,
    named,
    table_of,
)

UNEXPLAINED = "differs, and no known deviation explains it"
_NUMBERS = named(NUMBER)
_CASE = [Column("table", TEXT, outputs=~TABLE), Column("case", TEXT)]
_CELL = (
    *_CASE,
    *(Column(name) for name in ("column", "printed", "ours", "note")),
)
REPRODUCE = command(
    "reproduce",
    Column(
        "cases",
        many(
            Group(
                "",
                [
                    *_CASE,
                    Column("printed", _NUMBERS),
                    Column("ours", _NUMBERS),
                    Column("note", maybe(TEXT)),
                ],
            )
        ),
    ),
)


def reproduce_report(cases: Sequence[Reproduced]) -> Report:
    """The report of `reproduce`, of which an output shows a part."""
    return Report(
        command="reproduce",
        group=REPRODUCE,
        make_blocks=lambda: _blocks(cases),
        make_data=lambda: {"cases": [_plain(item) for item in cases]},
        make_rows=lambda: [row for item in cases for row in _rows(item)],
    )


def _blocks(cases: Sequence[Reproduced]) -> list[Block]:
    blocks: list[Block] = []
    notes: list[str | None] = []
    for title, group in groupby(cases, key=lambda item: item.case.title):
        rows = [row for item in group for row in _rows(item)]
        notes += [row["note"] for row in rows]
        blocks.append(table_of(rows, _CELL, title))
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
        "printed": item.case.printed,
        "ours": item.ours,
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
