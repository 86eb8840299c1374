"""The report of `formats`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beyondchance.reporting.blocks import Prose, Report, Table


def formats_report(formats: Sequence[dict[str, Any]]) -> Report:
    """What `formats` has to say.

    Parameters
    ----------
    formats : sequence of dict
        With the keys name, title, example, unit, positions, offsets, written, library,
        installed, install.
    """
    rows = [
        (
            item["name"],
            "read, written" if item["written"] else "read",
            f"{item['unit']}, {item['positions']}",
            _needs(item),
            item["example"],
        )
        for item in formats
    ]
    titles = [(item["name"], item["title"]) for item in formats]
    return Report(
        command="formats",
        blocks=(
            Table(("format", "what it is"), titles),
            Table(("format", "can be", "scored by", "needs", "example"), rows),
            Prose(
                "The format of a file is told from its content; --format names it. "
                "--unit and --positions change what it is scored by."
            ),
        ),
        data={"formats": list(formats)},
        rows=formats,
    )


def _needs(item: dict[str, Any]) -> str | None:
    if item["library"] is None:
        return None
    return f"{item['library']}" if item["installed"] else str(item["install"])
