"""``beyondchance formats``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.running import Command, emit
from beyondchance.io.registry import FORMATS
from beyondchance.io.writing import WRITTEN
from beyondchance.reporting.commands.formats import formats_report


@click.command("formats", cls=Command)
@flags.output
def command(**options: Any) -> None:
    """What can be read and written, what each format needs, and an example."""
    formats = [
        {
            "name": item.name,
            "title": item.title,
            "written": item.name in WRITTEN,
            "unit": item.unit,
            "positions": item.positions,
            "offsets": item.offsets,
            "library": item.library,
            "installed": item.library is None or find_spec(item.library) is not None,
            "install": f"pip install 'beyondchance[{item.extra}]'" if item.extra else None,
            "example": item.example,
        }
        for item in FORMATS.values()
    ]
    emit(formats_report(formats), **options)
