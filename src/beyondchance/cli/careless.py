"""``beyondchance careless``."""

from __future__ import annotations

from typing import Any

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load
from beyondchance.inference.careless import careless_work
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.careless import report_of_careless


@flags.command("careless", doing="reading and drawing")
@flags.annotated_files
@flags.in_uncertainty(
    "--level",
    type=flags.BETWEEN,
    metavar="SHARE",
    default=0.05,
    is_everyday=True,
    help="How many of the annotators named may be named wrongly.",
)
@flags.resampling("resamples", default=999, help="Random placements.")
@flags.flag(flags.SCORING["seed"], group="Uncertainty", default=0, help="The random seed.")
@flags.TOP
@flags.output
def command(**options: Any) -> Report:
    """Annotators who agree much less than the others, and documents to look at.

    Annotators are named if they agree less than half as much with the others as these do among
    themselves. It takes three annotators of a document, and five such documents.

    \b
    beyondchance careless export.json
    beyondchance careless anna.conll ben.conll cleo.conll --output csv
    """
    asked = flags.picked(options, ("level", "resamples", "seed"))
    found = careless_work(load(options), **asked)
    return report_of_careless(found, top=options["top"])
