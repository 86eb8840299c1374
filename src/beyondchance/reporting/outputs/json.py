"""A report as JSON, by the schema that ships with the package."""

from __future__ import annotations

import json
from collections.abc import Mapping, Sequence
from math import isnan
from typing import Any

from beyondchance.messages import PYTHON, Voice
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.columns import FORMAT
from beyondchance.version import __version__


def rendered(report: Report, voice: Voice = PYTHON) -> str:
    """Write data with all digits, null for undefined numbers, and notes in the words of Python."""
    command = report.command or (report.group and report.group.command)
    head = {"format": FORMAT, "command": command, "version": __version__}
    data = {**head, **spoken_data(report, voice)}
    return json.dumps(plain(data), ensure_ascii=False, indent=2) + "\n"


def spoken_data(report: Report, voice: Voice = PYTHON) -> dict[str, Any]:
    """Return the data of a report, with its notes as sentences."""
    data = dict(report.data)
    if "notes" in data:
        own = PYTHON if voice.has_quotes else PYTHON.without_quotes()
        data["notes"] = [note.spoken(own) for note in report.notes]
    return data


def plain(value: Any) -> Any:
    """Return values that JSON has: null for what is not a number, whole numbers as such."""
    if isinstance(value, float):
        if isnan(value):
            return None
        return int(value) if value.is_integer() and abs(value) < 2**53 else value
    if isinstance(value, Mapping):
        return {str(key): plain(item) for key, item in value.items()}
    if isinstance(value, Sequence) and not isinstance(value, str):
        return [plain(item) for item in value]
    return value
