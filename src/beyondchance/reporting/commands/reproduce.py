"""The report of `reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby

from beyondchance.paper import Reproduced
from beyondchance.reporting.blocks import Blocks, Report, counted
from beyondchance.reporting.columns import (
    DATA,
    FIGURE,
    NUMBER,
    TEXT,
    Column,
    Data,
    Group,
    alike,
    attributes,
    command,
    many,
    maybe,
    named,
    table_of,
)

UNEXPLAINED = "differs, and no known deviation explains it"
_NUMBERS = named(NUMBER)
_CASE = [TEXT("table", outputs=DATA), TEXT("case")]
_CELL = (
    *_CASE,
    *alike(FIGURE, "column", "printed", "ours", "note"),
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
                    _NUMBERS("printed"),
                    _NUMBERS("ours"),
                    Column("note", maybe(TEXT)),
                ],
            )
        ),
    ),
)


def reproduce_report(cases: Sequence[Reproduced]) -> Report:
    """Build the report of `reproduce`; outputs show parts of it."""
    return Report(
        group=REPRODUCE,
        make_blocks=lambda: _blocks(cases),
        make_data=lambda: {"cases": [_plain(item) for item in cases]},
        make_rows=lambda: [row for item in cases for row in _rows(item)],
    )


def _blocks(cases: Sequence[Reproduced]) -> Blocks:
    notes: list[str | None] = []
    for title, group in groupby(cases, key=lambda item: item.case.title):
        rows = [row for item in group for row in _rows(item)]
        notes += [row["note"] for row in rows]
        yield table_of(rows, _CELL, title)
    unexplained = notes.count(UNEXPLAINED)
    differ = len(notes) - notes.count(None)
    yield (
        f"{counted(len(notes), 'cell')}: {len(notes) - differ} as printed, {differ - unexplained} "
        f"by a known slip of the paper, {unexplained} unexplained."
    )


def _plain(item: Reproduced) -> Data:
    notes = [f"{row['column']}: {row['note']}" for row in _rows(item) if row["note"]]
    return {
        **attributes(item.case, "table", "case", "printed"),
        "ours": item.ours,
        "note": "; ".join(notes) or None,
    }


def _rows(item: Reproduced) -> list[Data]:
    """Return a row for each cell that was computed."""
    return [
        {
            **attributes(item.case, "table", "case"),
            "column": column,
            "printed": item.case.printed[column],
            "ours": value,
            "note": UNEXPLAINED if column in item.unexplained else item.notes.get(column),
        }
        for column, value in item.ours.items()
    ]
