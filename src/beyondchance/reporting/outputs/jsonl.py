"""The rows of a report as lines of JSON, one object each."""

from __future__ import annotations

import json

from beyondchance.reporting.blocks import Report
from beyondchance.reporting.outputs.json import plain


def rendered(report: Report) -> str:
    """Render each row as a line of JSON, with all digits and the signature; undefined is null."""
    signature = {} if report.signature is None else {"signature": report.signature}
    return "".join(
        f"{json.dumps(plain({**row, **signature}), ensure_ascii=False)}\n" for row in report.rows
    )
