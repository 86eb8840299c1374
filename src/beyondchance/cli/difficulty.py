"""``beyondchance difficulty``."""

from __future__ import annotations

from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.agree import questions
from beyondchance.cli.loading import load, noted, streams
from beyondchance.cli.running import Command, emit, working
from beyondchance.cli.scanning import answers, scan_of
from beyondchance.reporting.commands.difficulty import difficulty_report
from beyondchance.scoring.answers import difficulty_from
from beyondchance.scoring.api import difficulty


@click.command("difficulty", cls=Command)
@flags.annotated_files
@flags.scoring
@flags.uncertainty
@flags.counting
@flags.TOP
@flags.METHODS
@flags.output
def command(files: tuple[str, ...], **options: Any) -> None:
    """How hard it is to agree by chance, overall and by document.

    Difficulty is 1 minus the agreement of random annotators: of the gold standard with itself
    if there is one, otherwise of all annotators with each other and with themselves.

    \b
    beyondchance difficulty gold.conll
    beyondchance difficulty export.json --gold expert
    """
    flags.check_intervals_wanted(options)
    given = streams(files)
    scan = scan_of(given, options)
    with working("reading and scoring", quiet=options["quiet"]) as say:
        if scan is None:
            corpus = load(given, options)
            result = difficulty(corpus, **flags.scoring_options(options))
        else:
            asked = questions("difficulty", options)[:1]
            corpus, found = answers(scan, asked, options, say)
            result = difficulty_from(found[0])
        report = difficulty_report(
            result,
            noted(corpus, result.notes),
            intervals=flags.if_intervals(options, result.intervals),
            top=options["top"],
            digits=options["digits"],
        )
    emit(report, **options)
