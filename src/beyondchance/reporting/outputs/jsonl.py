"""The rows of a report as lines of JSON, one object each."""

from __future__ import annotations

import json

from beyondchance.reporting.blocks import Report
from beyondchance.reporting.outputs.json import plain


def rendered(report: Report, *, digits: int) -> str:
    """All digits, whatever `digits` says; undefined numbers are null."""
    del digits
    signature = {"signature": report.data["signature"]} if "signature" in report.data else {}
    return "".join(
        f"{json.dumps(plain({**row, **signature}), ensure_ascii=False)}\n" for row in report.rows
    )
