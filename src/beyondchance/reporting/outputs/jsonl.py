"""The rows of a report as lines of JSON, one object each."""

from __future__ import annotations

import json

from beyondchance.reporting.blocks import Report
from beyondchance.reporting.outputs.json import plain


def rendered(report: Report) -> str:
    """Render each row as a line of JSON, with all digits and the signature; undefined is null."""
    rows = map(plain, report.signed_rows())
    return "".join(f"{json.dumps(row, ensure_ascii=False)}\n" for row in rows)
