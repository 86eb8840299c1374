"""The report of `formats`."""

from __future__ import annotations

from collections.abc import Sequence

from beyondchance.messages import Use
from beyondchance.reporting.blocks import Blocks, Report
from beyondchance.reporting.columns import (
    DATA,
    TEXT,
    YES_OR_NO,
    Column,
    Data,
    Group,
    alike,
    command,
    for_people,
    many,
    maybe,
    table_of,
)


def _needs(item: Data) -> str | None:
    if item["library"] is None:
        return None
    return f"{item['library']}" if item["installed"] else str(item["install"])


_NAME = TEXT("name", heading="format")
_FORMAT = Group(
    "",
    [
        _NAME,
        TEXT("title", outputs=DATA),
        YES_OR_NO(
            "written",
            heading="can be",
            cell=lambda item: "read, written" if item["written"] else "read",
        ),
        for_people("scored by", lambda item: f"{item['unit']}, {item['positions']}"),
        *alike(TEXT, "unit", "positions", "offsets", outputs=DATA),
        Column("library", maybe(TEXT), heading="needs", cell=_needs),
        YES_OR_NO("installed", outputs=DATA),
        Column("install", maybe(TEXT), outputs=DATA),
        TEXT("example"),
    ],
)
FORMATS = command("formats", Column("formats", many(_FORMAT)))


def formats_report(formats: Sequence[Data]) -> Report:
    """Build the report of `formats`; outputs show parts of it.

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

    def blocks() -> Blocks:
        yield table_of(formats, [_NAME, Column("title", heading="what it is")])
        yield table_of(formats, _FORMAT.columns)
        yield said

    return Report(
        group=FORMATS,
        make_blocks=blocks,
        make_data=lambda: {"formats": formats},
        make_rows=lambda: formats,
    )
