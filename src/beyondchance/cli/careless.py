"""``beyondchance careless``."""

from __future__ import annotations

from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load, streams
from beyondchance.cli.running import Command, emit, working
from beyondchance.inference.careless import careless_work
from beyondchance.options import FEWEST_RESAMPLES, MOST_RESAMPLES
from beyondchance.reporting.commands.careless import report_of_careless


@click.command("careless", cls=Command)
@flags.annotated_files
@flags.in_uncertainty(
    "--level",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    default=0.05,
    is_everyday=True,
    help="How many of the annotators named may be named wrongly.",
)
@flags.in_uncertainty(
    "--resamples",
    type=click.IntRange(FEWEST_RESAMPLES, MOST_RESAMPLES),
    metavar="N",
    default=999,
    help="Random placements.",
)
@flags.in_uncertainty(
    "--seed", type=click.IntRange(0), metavar="N", default=0, help="The random seed."
)
@flags.TOP
@flags.output
def command(files: tuple[str, ...], **options: Any) -> None:
    """Annotators who agree much less than the others, and documents to look at.

    Annotators are named if they agree less than half as much with the others as these do among
    themselves. It takes three annotators of a document, and five such documents.

    \b
    beyondchance careless export.json
    beyondchance careless anna.conll ben.conll cleo.conll --output csv
    """
    with working("reading and drawing", quiet=options["quiet"]):
        corpus = load(streams(files), options)
        asked = flags.picked(options, ("level", "resamples", "seed"))
        report = report_of_careless(
            careless_work(corpus, **asked), top=options["top"], digits=options["digits"]
        )
    emit(report, **options)
