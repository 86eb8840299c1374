"""``beyondchance plan``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load_named, noted, streams
from beyondchance.cli.running import Command, emit, is_given, working
from beyondchance.inference.plan import plan_replacement, plans
from beyondchance.inference.replacement import replacement
from beyondchance.reporting.commands.plan import plan_report
from beyondchance.reporting.commands.replace import report_of_replacement_plan
from beyondchance.results.resampling import SCORES
from beyondchance.scoring.api import agreement

WIDTHS = (0.1, 0.05, 0.03, 0.02, 0.01)
"""Half widths that are shown besides the one that was asked for."""


@click.command("plan", cls=Command)
@flags.annotated_files
@flags.scoring
@flags.option(
    "--half-width",
    group="Plan",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="H",
    default=0.05,
    is_everyday=True,
    help="Half the width of the interval that is wanted.",
)
@flags.option(
    "--score",
    group="Plan",
    type=flags.Choice(SCORES),
    default="corrected",
    is_everyday=True,
    help="The score that the interval is for.",
)
@flags.option(
    "--replace",
    group="Plan",
    metavar="MODEL",
    is_everyday=True,
    help="Plan a test of whether this model may replace people.",
)
@flags.planned
@flags.option(
    "--power",
    group="Plan",
    type=click.FloatRange(0, 1, min_open=True, max_open=True),
    metavar="SHARE",
    default=0.8,
    help="How often that test should succeed.",
)
@flags.CONFIDENCE
@flags.output
def command(files: tuple[str, ...], **options: Any) -> None:
    """How many documents to annotate for an interval of plus or minus H, from a pilot.

    FILE is what has been annotated so far, as in 'beyondchance agree'.

    \b
    beyondchance plan pilot/anna.conll pilot/ben.conll --half-width 0.03
    beyondchance plan pilot.json --replace gpt --margin 0.05
    """
    asked = flags.replacing_options(options, is_asked=options["replace"] is not None)
    _check_asked(options)
    with working("reading and planning", quiet=options["quiet"]):
        corpus, shown = load_named(streams(files), options)
        if options["replace"] is not None:
            asked |= flags.picked(options, ("measure", "scope", "confidence"))
            found = replacement(corpus, model=shown(options["replace"]), **asked)
            planned = plan_replacement(found, power=options["power"])
            report = replace(report_of_replacement_plan(planned), corpus=corpus, notes=corpus.notes)
        else:
            pilot = agreement(corpus, **flags.scoring_options(options))
            widths = tuple(dict.fromkeys((options["half_width"], *WIDTHS)))
            made = plans(pilot, widths, **flags.picked(options, ("score", "confidence")))
            report = plan_report(made, pilot, noted(corpus, pilot.notes), digits=options["digits"])
    emit(report, **options)


def _check_asked(options: dict[str, Any]) -> None:
    """Refuse options of the other kind of plan, rather than ignore them."""
    is_replaced = options["replace"] is not None
    of_scores = {"half_width", "score", *flags.SCORING} - {"measure", "scope"}
    for name in of_scores if is_replaced else ("power",):
        if is_given(click.get_current_context(), name):
            what = "does not go with" if is_replaced else "is for"
            raise click.UsageError(f"--{name.replace('_', '-')} {what} --replace")
