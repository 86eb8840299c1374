"""The report of `formats`."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beyondchance.messages import Use
from beyondchance.reporting.blocks import Block, Prose, Report
from beyondchance.reporting.columns import (
    DATA,
    TEXT,
    YES_OR_NO,
    Column,
    Group,
    command,
    for_people,
    many,
    maybe,
    table_of,
)


def _needs(item: dict[str, Any]) -> str | None:
    if item["library"] is None:
        return None
    return f"{item['library']}" if item["installed"] else str(item["install"])


_NAME = Column("name", TEXT, heading="format")
_FORMAT = Group(
    "",
    [
        _NAME,
        Column("title", TEXT, outputs=DATA),
        Column(
            "written",
            YES_OR_NO,
            heading="can be",
            cell=lambda item: "read, written" if item["written"] else "read",
        ),
        for_people("scored by", lambda item: f"{item['unit']}, {item['positions']}"),
        *(Column(name, TEXT, outputs=DATA) for name in ("unit", "positions", "offsets")),
        Column("library", maybe(TEXT), heading="needs", cell=_needs),
        Column("installed", YES_OR_NO, outputs=DATA),
        Column("install", maybe(TEXT), outputs=DATA),
        Column("example", TEXT),
    ],
)
FORMATS = command("formats", Column("formats", many(_FORMAT)))


def formats_report(formats: Sequence[dict[str, Any]]) -> Report:
    """The report of `formats`, of which an output shows a part.

    Parameters
    ----------
    formats : sequence of dict
        With the keys name, title, example, unit, positions, offsets, written, library,
        installed, install.
    """
    said = (
        *("The format of a file is detected from its content; ", Use("format")),
        *(" names it. ", Use("unit"), " and ", Use("positions")),
        " change what it is scored by.",
    )

    def blocks() -> list[Block]:
        return [
            table_of(formats, [_NAME, Column("title", heading="what it is")]),
            table_of(formats, _FORMAT.columns),
            Prose(said),
        ]

    return Report(
        command="formats",
        group=FORMATS,
        make_blocks=blocks,
        make_data=lambda: {"formats": formats},
        make_rows=lambda: formats,
    )
