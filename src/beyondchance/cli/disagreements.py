"""``beyondchance disagreements``."""

from __future__ import annotations

from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load, streams
from beyondchance.cli.running import Command, emit, working
from beyondchance.reporting.commands.disagreements import disagreements_report
from beyondchance.reporting.rendering import LIST_OUTPUTS
from beyondchance.scoring.disagreements import KINDS, disagreements


@click.command("disagreements", cls=Command)
@flags.annotated_files
@flags.in_output(
    "--kind",
    type=flags.NAMES,
    is_everyday=True,
    help=f"List only these: {', '.join(KINDS)}.",
    more="missed: marked by the first annotator only; extra: by the second only. All but agree by "
    "default; counts are of all.",
)
@flags.in_output(
    "--label",
    type=flags.NAMES,
    is_everyday=True,
    help="List only those in which either span has one of these labels.",
    more="Counts are of all.",
)
@flags.TOP
@flags.list_output
def command(files: tuple[str, ...], **options: Any) -> None:
    """Every disagreement, its kind and its place.

    The spans of two annotators are aligned one to one. Aligned spans agree, or differ in
    their boundaries, in their label or in both; a span without a partner was marked by one of
    them only. Against a gold standard it was missed, or is extra. A gold standard comes first;
    with several annotators it is left out.

    \b
    beyondchance disagreements anna.conll ben.conll
    beyondchance disagreements export.json --kind label,both --output csv
    beyondchance disagreements spans.csv --gold expert --annotators anna
    """
    with working("reading and aligning", quiet=options["quiet"]):
        corpus = load(streams(files), options)
        found = disagreements(corpus)
        kinds = options["kind"]
        if kinds is None:
            kinds = [kind for kind in KINDS if kind != "agree"]
        listed = found.only(kinds=kinds).only(labels=options["label"])
        report = disagreements_report(found, listed, top=options["top"])
    emit(report, **options, forms=LIST_OUTPUTS)
