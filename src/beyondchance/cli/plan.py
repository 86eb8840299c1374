"""``beyondchance plan``."""

from __future__ import annotations

from dataclasses import replace
from functools import partial
from typing import Any

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load, noted, shown
from beyondchance.cli.running import refuse
from beyondchance.inference.plan import plan_replacement, plans
from beyondchance.inference.replacement import replacement
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.plan import plan_report
from beyondchance.reporting.commands.replace import report_of_replacement_plan
from beyondchance.results.resampling import SCORES
from beyondchance.scoring.api import agreement

WIDTHS = (0.1, 0.05, 0.03, 0.02, 0.01)
"""Half widths that are shown besides the one that was asked for."""


_in_plan = partial(flags.option, group="Plan")


@flags.command("plan", doing="reading and planning")
@flags.annotated_files
@flags.scoring
@_in_plan(
    "--half-width",
    type=flags.BETWEEN,
    metavar="H",
    default=0.05,
    is_everyday=True,
    help="Half the width of the interval that is wanted.",
)
@_in_plan(
    "--score",
    type=flags.Choice(SCORES),
    default="corrected",
    is_everyday=True,
    help="The score that the interval is for.",
)
@_in_plan(
    "--replace",
    metavar="MODEL",
    is_everyday=True,
    help="Plan a test of whether this model may replace people.",
)
@flags.planned
@_in_plan(
    "--power",
    type=flags.BETWEEN,
    metavar="SHARE",
    default=0.8,
    needs=flags.REPLACED,
    help="How often that test should succeed.",
)
@flags.CONFIDENCE
@flags.output
def command(**options: Any) -> Report:
    """How many documents to annotate for an interval of plus or minus H, from a pilot.

    FILE is what has been annotated so far, as in 'beyondchance agree'.

    \b
    beyondchance plan pilot/anna.conll pilot/ben.conll --half-width 0.03
    beyondchance plan pilot.json --replace gpt --margin 0.05
    """
    names = ("measure", "scope", "confidence", "keep", "margin")
    if options["replace"] is not None:
        of_scores = {"half_width", "score", *flags.SCORING}.difference(names)
        refuse(of_scores, "does not go with --replace")
    corpus = load(options)
    if options["replace"] is None:
        pilot = agreement(corpus, **flags.scoring_options(options))
        widths = tuple(dict.fromkeys((options["half_width"], *WIDTHS)))
        made = plans(pilot, widths, **flags.picked(options, ("score", "confidence")))
        return plan_report(made, pilot, noted(corpus, pilot.notes), digits=options["digits"])
    (model,) = shown([options["replace"]])
    found = replacement(corpus, model=model, **flags.picked(options, names))
    planned = plan_replacement(found, power=options["power"])
    return replace(report_of_replacement_plan(planned), corpus=corpus, notes=corpus.notes)
