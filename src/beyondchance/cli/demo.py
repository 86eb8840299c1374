"""``beyondchance demo``."""

from __future__ import annotations

from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.agree import scored_otherwise, scored_parts
from beyondchance.cli.running import tell
from beyondchance.diagnosis.loss import loss_of
from beyondchance.io.example import example
from beyondchance.io.writing import write
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.agree import agree_report
from beyondchance.scoring.api import agreement
from beyondchance.scoring.options import scoring_of


@flags.command("demo")
@flags.in_output(
    "--files",
    "folder",
    metavar="FOLDER",
    type=click.Path(),
    help="Also write the example as one file for each annotator, to try other commands on.",
)
@flags.output
def command(folder: str | None, **options: Any) -> Report:
    """The agreement of the example that ships with the package.

    Three annotators marked persons, places and events in 46 sentences of a town's newspaper:
    ada marks long spans, ben short ones, and cleo overlooks some.
    """
    corpus = example()
    if folder:
        write(corpus, f"{folder}/", format="conll")
        tell(f"wrote {folder}: try beyondchance agree {folder}/*.conll")
    result, scoring = agreement(corpus), {"measure": "token", "average": "micro"}
    return agree_report(
        result.measures,
        corpus,
        parts=scored_parts(corpus, scoring, []),
        loss=loss_of(result, corpus, scoring_of({})),
        otherwise=scored_otherwise(corpus, scoring),
        digits=options["digits"],
    )
