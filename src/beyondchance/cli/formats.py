"""``beyondchance formats``."""

from __future__ import annotations

from importlib.util import find_spec
from typing import Any

from beyondchance.cli import options as flags
from beyondchance.installing import distribution, install_command
from beyondchance.io.registry import FORMATS, plugins
from beyondchance.io.writing import WRITTEN
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.formats import formats_report


@flags.command("formats")
@flags.output
def command(**_: Any) -> Report:
    """What can be read and written, what each format needs, and an example."""
    formats = [
        {
            "name": item.name,
            "title": item.title,
            "written": item.name in WRITTEN,
            "unit": item.unit,
            "positions": item.positions,
            "offsets": item.offsets,
            "library": distribution(item.library) if item.library else None,
            "installed": item.library is None or find_spec(item.library) is not None,
            "install": install_command(item.extra, item.library)
            if item.extra and item.library
            else None,
            "example": item.example,
        }
        for item in (*FORMATS.values(), *plugins().values())
    ]
    return formats_report(formats)
