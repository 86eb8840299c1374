"""A report as one flat table of comma-separated values."""

from __future__ import annotations

import csv
import io
import re
from typing import Any

from beyondchance.reporting.blocks import Report
from beyondchance.reporting.escaping import visible
from beyondchance.reporting.outputs.json import plain

_FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)
"""How texts begin that a spreadsheet would run; one such character alone is nothing to run."""


def rendered(report: Report) -> str:
    """Write rows with all digits; undefined numbers are empty."""
    headings = list(dict.fromkeys(name for row in report.rows for name in row))
    signature = {} if report.signature is None else {"signature": report.signature}
    text = io.StringIO()
    columns = [*headings, *signature]
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writerow({name: _cell(name) for name in columns})
    writer.writerows(
        {name: _cell(value) for name, value in {**row, **signature}.items()} for row in report.rows
    )
    return text.getvalue()


def _cell(value: Any) -> Any:
    """Return a plain value; names may hold line ends, but nothing that is run."""
    if isinstance(value, str):
        return harmless("\n".join(map(visible, value.split("\n"))))
    return plain(value)


def harmless(text: str) -> str:
    """Put an apostrophe in front of a text that a spreadsheet would run.

    Examples
    --------
    >>> harmless("=1+1"), harmless("@cleo"), harmless("ada"), harmless("=")
    ("'=1+1", "'@cleo", 'ada', '=')
    """
    return f"'{text}" if _FORMULA.match(text) else text
