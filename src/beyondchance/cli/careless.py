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
    help="How many of the documents that are called better than random may be false.",
)
@flags.in_uncertainty(
    "--resamples",
    type=click.IntRange(FEWEST_RESAMPLES, MOST_RESAMPLES),
    metavar="N",
    default=1999,
    help="Random placements, where they are sampled.",
)
@flags.in_uncertainty(
    "--seed", type=click.IntRange(0), metavar="N", default=0, help="Where random numbers begin."
)
@flags.TOP
@flags.output
def command(files: tuple[str, ...], **options: Any) -> None:
    """Documents in which somebody's spans are no better than random ones.

    Each annotator's spans are placed at random in the text, and those of the others stay. Only
    documents with enough spans to tell are taken into account.

    \b
    beyondchance careless export.json
    beyondchance careless anna.conll ben.conll --level 0.01 --output csv
    """
    with working("reading and drawing", quiet=options["quiet"]):
        corpus = load(streams(files), options)
        asked = {name: options[name] for name in ("level", "resamples", "seed")}
        report = report_of_careless(careless_work(corpus, **asked), top=options["top"])
    emit(report, **options)
