"""``beyondchance difficulty``."""

from __future__ import annotations

from typing import Any

from beyondchance.cli import options as flags
from beyondchance.cli.loading import noted
from beyondchance.cli.scanning import scored
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.difficulty import difficulty_report


@flags.command("difficulty", doing="reading and scoring")
@flags.annotated_files
@flags.scoring
@flags.uncertainty
@flags.counting
@flags.TOP
@flags.METHODS
@flags.output
def command(**options: Any) -> Report:
    """How hard it is to agree by chance, overall and by document.

    Difficulty is 1 minus the agreement of random annotators: of the gold standard with itself
    if there is one, otherwise of all annotators with each other and with themselves.

    \b
    beyondchance difficulty gold.conll
    beyondchance difficulty export.json --gold expert
    """
    corpus, results = scored("difficulty", options, only=True)
    (result,) = results.values()
    return difficulty_report(
        result,
        noted(corpus, result.notes),
        intervals=flags.if_intervals(options, result.intervals),
        top=options["top"],
        digits=options["digits"],
    )
