"""The report of `formats`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beyondchance.messages import Use
from beyondchance.reporting.blocks import Block, Prose, Report, Table


def formats_report(formats: Sequence[dict[str, Any]]) -> Report:
    """The report of `formats`, of which an output shows a part.

    Parameters
    ----------
    formats : sequence of dict
        With the keys name, title, example, unit, positions, offsets, written, library,
        installed, install.
    """

    def blocks() -> list[Block]:
        titles = [(item["name"], item["title"]) for item in formats]
        uses = [
            (
                item["name"],
                "read, written" if item["written"] else "read",
                f"{item['unit']}, {item['positions']}",
                _needs(item),
                item["example"],
            )
            for item in formats
        ]
        return [
            Table(("format", "what it is"), titles),
            Table(("format", "can be", "scored by", "needs", "example"), uses),
            Prose(
                (
                    *("The format of a file is detected from its content; ", Use("format")),
                    *(" names it. ", Use("unit"), " and ", Use("positions")),
                    " change what it is scored by.",
                )
            ),
        ]

    return Report(
        command="formats",
        make_blocks=blocks,
        make_data=lambda: {"formats": list(formats)},
        make_rows=lambda: formats,
    )


def _needs(item: dict[str, Any]) -> str | None:
    if item["library"] is None:
        return None
    return f"{item['library']}" if item["installed"] else str(item["install"])
