"""``beyondchance consensus``."""

from __future__ import annotations

from typing import Any

import click

from beyondchance.adjudication.consensus import MEASURES, NAME, consensus
from beyondchance.adjudication.votes import METHODS
from beyondchance.cli import options as flags
from beyondchance.cli.gold import save_gold, saving
from beyondchance.cli.loading import load, streams
from beyondchance.cli.running import Command, emit, working
from beyondchance.reporting.commands.consensus import report_of_consensus
from beyondchance.reporting.rendering import LIST_OUTPUTS


@click.command("consensus", cls=Command)
@flags.annotated_files
@flags.in_scoring(
    "--measure",
    type=flags.Choice(MEASURES),
    is_everyday=True,
    help="Vote on tokens with their labels, or on whole spans.",
    more="By default on tokens, and on whole spans where positions are characters.",
)
@flags.in_scoring(
    "--method",
    type=flags.Choice(METHODS),
    default="best",
    is_everyday=True,
    help="What agrees best with all, what more than half marked, or what anybody marked.",
)
@flags.in_scoring(
    "--weights",
    type=flags.PARAMETERS,
    help="How much the votes of annotators count, where it is not 1.",
)
@flags.in_output("--name", default=NAME, help="What the consensus is called.")
@saving
@flags.TOP
@flags.printed(LIST_OUTPUTS)
def command(files: tuple[str, ...], **options: Any) -> None:
    """The annotation that agrees best with a team, and its votes.

    No annotation has a higher observed agreement with all annotators together. Ties are listed
    by what deciding them is worth. --save writes the consensus as annotations, in the format of
    the files.

    \b
    beyondchance consensus anna.conll ben.conll --save gold.conll
    beyondchance consensus export.json --method majority --save gold.json
    beyondchance consensus export.json --weights anna=2 --output csv
    """
    with working("reading and voting", quiet=options["quiet"]):
        corpus = load(streams(files), options)
        asked = {name: options[name] for name in ("measure", "method", "weights", "name")}
        found = consensus(corpus, **asked)
        report = report_of_consensus(found, top=options["top"])
        save_gold(found.corpus, found.name, options)
    emit(report, **{**options, "save": None}, forms=LIST_OUTPUTS)
