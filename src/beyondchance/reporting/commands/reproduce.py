"""The report of `reproduce`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from beyondchance.paper import Reproduced
from beyondchance.reporting.blocks import Block, Prose, Report, Table, counted

UNEXPLAINED = "differs, and no known deviation explains it"


def reproduce_report(cases: Sequence[Reproduced]) -> Report:
    """What `reproduce` has to say."""
    rows = [row for item in cases for row in _rows(item)]
    blocks: list[Block] = []
    for title, group in groupby(cases, key=lambda item: item.case.title):
        cells = [
            (row["case"], row["column"], row["printed"], row["ours"], row["note"])
            for item in group
            for row in _rows(item)
        ]
        blocks.append(Table(("case", "column", "printed", "ours", "note"), cells, title))
    differ = [row for row in rows if row["note"]]
    unexplained = [row for row in rows if row["note"] == UNEXPLAINED]
    summary = (
        f"{counted(len(rows), 'cell')}: {len(rows) - len(differ)} as printed, "
        f"{len(differ) - len(unexplained)} by a known slip of the paper, {len(unexplained)} "
        "unexplained."
    )
    blocks.append(Prose(summary))
    data: dict[str, Any] = {
        "cases": [
            {
                "table": item.case.table,
                "case": item.case.case,
                "printed": dict(item.case.printed),
                "ours": dict(item.ours),
                "note": "; ".join(
                    f"{row['column']}: {row['note']}" for row in _rows(item) if row["note"]
                )
                or None,
            }
            for item in cases
        ],
    }
    return Report(command="reproduce", blocks=tuple(blocks), data=data, rows=rows)


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
