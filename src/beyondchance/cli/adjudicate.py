"""``beyondchance adjudicate``."""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from dataclasses import replace
from functools import partial
from typing import Any

import click

from beyondchance.adjudication.adjudicated import NAME, RESTS, adjudicated, compared_decisions
from beyondchance.adjudication.consensus import MEASURES
from beyondchance.adjudication.decisions import Decision
from beyondchance.annotations.corpus import only
from beyondchance.cli import options as flags
from beyondchance.cli.loading import load
from beyondchance.cli.writing import TIES_FLAG, gold_output, save_gold
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.adjudicate import adjudicate_report, deciders_report
from beyondchance.scoring.api import agreement


@flags.command("adjudicate", doing="reading and deciding")
@flags.annotated_files
@flags.in_annotations(
    "--decisions",
    multiple=True,
    required=True,
    metavar="FILE",
    type=click.Path(),
    is_everyday=True,
    help="What was decided in the page of 'report' or in a table of places; can be repeated.",
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
    help="Score by tokens with their labels, or by whole spans.",
    is_flat=False,
)
@TIES_FLAG
@flags.in_scoring(
    "--compare",
    is_flag=True,
    is_everyday=True,
    needs=(lambda given: not given["place"], "writes no gold standard; leave out --save"),
    help="Compare what people decided, each in a file, and write nothing.",
)
@gold_output("gold standard", NAME)
def command(**options: Any) -> Report:
    """A gold standard from what people decided in the page of 'report'.

    It has what was decided, what all annotators agree on, and for the rest what --rest says.
    --save writes it as annotations, in the format of the files.

    \b
    beyondchance adjudicate export.json --decisions mia.json --save gold.json
    beyondchance adjudicate brat/ --decisions mia.json --save gold/
    beyondchance adjudicate x.json --decisions a.json --decisions b.json --compare
    """
    corpus = load(options)
    paths, measure = list(options["decisions"]), options["measure"]
    if options["compare"]:
        compared = compared_decisions(corpus, paths, measure=measure)
        alias = _aliases(options, compared.names)
        show = partial(_shown, options, alias)
        compared = replace(
            compared,
            names=tuple(alias.values()),
            pairs={(alias[a], alias[b]): x for (a, b), x in compared.pairs.items()},
            differing=tuple((show(a), show(b)) for a, b in compared.differing),
        )
        return deciders_report(compared, top=options["top"])
    asked = flags.picked(options, ("rest", "name"))
    gold = adjudicated(corpus, paths, **asked, ties=options["ties"] or "keep")
    n_ties = gold.n_ties if gold.rest == "consensus" else 0
    n_spans = int((gold.span_annotator == len(corpus.annotators)).sum())
    save_gold(gold, n_ties, n_spans, options)
    alias = _aliases(options, dict.fromkeys(x.by for x in gold.decisions))
    gold = replace(gold, decisions=tuple(_shown(options, alias, x) for x in gold.decisions))
    part = only(gold, [name for name in gold.annotators if name != corpus.gold])
    result = agreement(part, gold=options["name"], measure=measure or "token")
    return adjudicate_report(gold, result, top=options["top"])


def _aliases(options: Mapping[str, Any], people: Iterable[str]) -> dict[str, str]:
    """Return what people who decided are called."""
    numbered = enumerate(people, start=1)
    return {name: f"person {i}" if options["pseudonyms"] else name for i, name in numbered}


def _shown(options: Mapping[str, Any], alias: Mapping[str, str], x: Decision) -> Decision:
    """Return what may be shown of a decision: not what may quote the text, and no names."""
    if options["no_text"]:
        x = replace(x, words=None, note="")
    return replace(x, of=(), by=alias.get(x.by, ""), note="") if options["pseudonyms"] else x
