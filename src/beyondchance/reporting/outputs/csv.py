"""A report as one flat table of comma-separated values."""

from __future__ import annotations

import csv
import io
import re
from itertools import chain
from typing import Any

from beyondchance.reporting.blocks import Report
from beyondchance.reporting.escaping import visible
from beyondchance.reporting.outputs.json import plain

_FORMULA = re.compile(r"[=+\-@\t\r].", re.DOTALL)
"""How texts begin that a spreadsheet would run; one such character alone is nothing to run."""


def rendered(report: Report) -> str:
    """Write rows with all digits; undefined numbers are empty."""
    text, headings = io.StringIO(), dict.fromkeys(chain.from_iterable(report.rows))
    # The signature comes last, whatever else only some of the rows have, and stands without rows.
    columns = [*headings, *([] if report.signature is None else ["signature"])]
    writer = csv.DictWriter(text, columns, restval="", lineterminator="\n")
    writer.writerow({name: _cell(name) for name in columns})
    writer.writerows({name: _cell(row[name]) for name in row} for row in report.signed_rows())
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
