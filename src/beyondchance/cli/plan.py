"""``beyondchance plan``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from beyondchance.cli.loading import load, streams
from beyondchance.cli.options import (
    OUTPUT,
    RESAMPLES,
    Choice,
    annotated_files,
    option,
    output,
    picked,
    scoring,
    scoring_options,
    seed,
)
from beyondchance.cli.running import Command, emit, working
from beyondchance.inference.plan import plan
from beyondchance.reporting.commands.plan import plan_report
from beyondchance.results.resampling import SCORES
from beyondchance.scoring.api import agreement

WIDTHS = (0.1, 0.05, 0.03, 0.02, 0.01)
"""Half widths that are shown beside the one that was asked for."""


@click.command("plan", cls=Command)
@annotated_files
@scoring
@option(
    "--half-width",
    group="Plan",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="H",
    default=0.05,
    show_default=True,
    help="How well the score is to be known: to within plus or minus this.",
)
@option(
    "--score",
    group="Plan",
    type=Choice(SCORES),
    default="corrected",
    show_default=True,
    help="The score that is to be known so well.",
)
@option(
    "--confidence",
    group="Plan",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="C",
    default=0.95,
    show_default=True,
    help="How sure to be that it lies within.",
)
@RESAMPLES
@output
def command(files: tuple[str, ...], **options: Any) -> None:
    """How many documents to annotate for an interval of plus or minus H, from a pilot.

    FILE is what has been annotated so far, as in 'beyondchance agree'.

    \b
    beyondchance plan pilot/anna.conll pilot/ben.conll --half-width 0.03
    """
    with working("reading and planning", quiet=options["quiet"]):
        corpus = load(streams(files), options)
        pilot = agreement(corpus, **scoring_options(options))
        corpus = replace(corpus, notes=(*corpus.notes, *pilot.notes))
        wanted = options["half_width"]
        plans = [
            plan(
                pilot,
                width,
                score=options["score"],
                confidence=options["confidence"],
                resamples=options["resamples"],
                rng=seed(options),
            )
            for width in (wanted, *(width for width in WIDTHS if width != wanted))
        ]
        report = plan_report(plans, pilot, corpus, score=options["score"], digits=options["digits"])
    emit(report, **picked(options, OUTPUT))
