"""A report as one flat table of comma-separated values."""

from __future__ import annotations

import csv
import io
from typing import Any

from beyondchance.reporting.blocks import Report
from beyondchance.reporting.outputs.json import plain
from beyondchance.reporting.visible import visible


def rendered(report: Report) -> str:
    """All digits; undefined numbers are empty."""
    headings = list(dict.fromkeys(name for row in report.rows for name in row))
    signature = {} if report.signature is None else {"signature": report.signature}
    text = io.StringIO()
    writer = csv.DictWriter(text, [*headings, *signature], restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows(
        {name: _cell(value) for name, value in {**row, **signature}.items()} for row in report.rows
    )
    return text.getvalue()


def _cell(value: Any) -> Any:
    """A plain value; names may hold line ends, but nothing that moves a cursor."""
    if isinstance(value, str):
        return "\n".join(map(visible, value.split("\n")))
    return plain(value)
