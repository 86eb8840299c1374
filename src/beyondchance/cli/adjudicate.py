"""``beyondchance adjudicate``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from beyondchance.adjudication.adjudicated import NAME, RESTS, AdjudicatedCorpus, adjudicated
from beyondchance.adjudication.comparison import compared_decisions
from beyondchance.adjudication.consensus import MEASURES
from beyondchance.adjudication.decisions import Decision
from beyondchance.cli import options as flags
from beyondchance.cli.gold import save_gold, saving
from beyondchance.cli.loading import load, streams
from beyondchance.cli.running import Command, emit, working
from beyondchance.reporting.commands.adjudicate import adjudicate_report, deciders_report
from beyondchance.reporting.rendering import LIST_OUTPUTS
from beyondchance.scoring.api import agreement


@click.command("adjudicate", cls=Command)
@flags.annotated_files
@flags.in_annotations(
    "--decisions",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(),
    is_everyday=True,
    help="What was decided in the page of 'report'; can be repeated.",
)
@flags.in_scoring(
    "--rest",
    type=flags.Choice(RESTS),
    default="consensus",
    is_everyday=True,
    help="What decides where nobody did; or refuse that there is such a place.",
)
@flags.in_scoring(
    "--measure",
    type=flags.Choice(MEASURES),
    default="token",
    help="Of the consensus or majority: vote on positions with their labels, or on whole spans.",
)
@flags.in_scoring(
    "--compare",
    is_flag=True,
    is_everyday=True,
    help="Compare what people decided, each in a file, and write nothing.",
)
@flags.in_output("--name", default=NAME, help="What the gold standard is called.")
@saving
@flags.TOP
@flags.printed(LIST_OUTPUTS)
def command(files: tuple[str, ...], **options: Any) -> None:
    """A gold standard from what people decided in the page of 'report'.

    It has what was decided, what all annotators agree on, and for the rest what --rest says.
    --save writes it as annotations, in the format of the files.

    \b
    beyondchance adjudicate export.json --decisions mia.json --save gold.json
    beyondchance adjudicate brat/ --decisions mia.json --save gold/
    beyondchance adjudicate x.json --decisions a.json --decisions b.json --compare
    """
    if options["compare"] and options["save"] is not None:
        raise click.UsageError("--compare writes no gold standard; leave out --save")
    with working("reading and deciding", quiet=options["quiet"]):
        corpus = load(streams(files), options)
        paths, measure = list(options["decisions"]), options["measure"]
        if options["compare"]:
            compared = compared_decisions(corpus, paths, measure=measure)
            if options["no_text"]:
                pairs = tuple((_bare(one), _bare(other)) for one, other in compared.differing)
                compared = replace(compared, differing=pairs)
            report = deciders_report(compared, top=options["top"])
        else:
            gold = adjudicated(
                corpus, paths, rest=options["rest"], measure=measure, name=options["name"]
            )
            save_gold(gold, options["name"], options)
            if options["no_text"]:
                gold = _without_words(gold)
            others = [name for name in gold.annotators if name != corpus.gold]
            part = replace(gold.select(annotators=others), options=gold.options)
            result = agreement(part, gold=options["name"], measure=measure)
            report = adjudicate_report(gold, result, top=options["top"])
    emit(report, **{**options, "save": None}, forms=LIST_OUTPUTS)


def _without_words(gold: AdjudicatedCorpus) -> AdjudicatedCorpus:
    return replace(gold, decisions=tuple(map(_bare, gold.decisions)))


def _bare(decision: Decision) -> Decision:
    """A decision without what may quote the text."""
    return replace(decision, words=None, note="")
