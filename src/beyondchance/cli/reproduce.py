"""``beyondchance reproduce``."""

from __future__ import annotations

from typing import Any

from beyondchance.cli import options as flags
from beyondchance.cli.main import DATA
from beyondchance.cli.running import emit
from beyondchance.paper import reproduce
from beyondchance.reporting.commands.reproduce import reproduce_report


@flags.command("reproduce")
@flags.output
def command(**_: Any) -> Any:
    """The simulation tables of the paper, printed next to ours, cell by cell.

    Exits with 1 if a cell differs that no known deviation explains.
    """
    cases = reproduce()
    code = DATA if any(item.unexplained for item in cases) else 0
    return lambda: emit(reproduce_report(cases)) or code
