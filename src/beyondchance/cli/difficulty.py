"""``beyondchance difficulty``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from beyondchance.cli.loading import load, streams
from beyondchance.cli.options import (
    OUTPUT,
    TOP,
    annotated_files,
    check_intervals_wanted,
    interval_options,
    output,
    picked,
    scoring,
    scoring_options,
    uncertainty,
)
from beyondchance.cli.running import Command, emit, working
from beyondchance.reporting.commands.difficulty import difficulty_report
from beyondchance.scoring.api import difficulty


@click.command("difficulty", cls=Command)
@annotated_files
@scoring
@uncertainty
@TOP
@output
def command(files: tuple[str, ...], **options: Any) -> None:
    """How unlikely luck is, overall and by document.

    Difficulty is 1 minus the agreement of random annotators: of the gold standard with itself
    where there is one, else of all annotators with one another and themselves.

    \b
    beyondchance difficulty gold.conll
    beyondchance difficulty export.json --gold expert
    """
    check_intervals_wanted(options)
    with working("reading and scoring", quiet=options["quiet"]):
        corpus = load(streams(files), options)
        result = difficulty(corpus, **scoring_options(options))
        corpus = replace(corpus, notes=(*corpus.notes, *result.notes))
        report = difficulty_report(
            result,
            corpus,
            intervals=result.intervals(**interval_options(options))
            if options["confidence"] is not None
            else None,
            top=options["top"],
            digits=options["digits"],
        )
    emit(report, **picked(options, OUTPUT))
