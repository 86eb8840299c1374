"""A report as one flat table of comma-separated values."""

from __future__ import annotations

import csv
import io

from beyondchance.report.blocks import Report
from beyondchance.report.json_output import plain


def rendered(report: Report, *, digits: int) -> str:
    """All digits, whatever `digits` says; undefined numbers are empty."""
    del digits
    headings = list(dict.fromkeys(name for row in report.rows for name in row))
    text = io.StringIO()
    writer = csv.DictWriter(text, headings, restval="", lineterminator="\n")
    writer.writeheader()
    writer.writerows({name: plain(value) for name, value in row.items()} for row in report.rows)
    return text.getvalue()
