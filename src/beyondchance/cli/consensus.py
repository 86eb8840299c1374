"""``beyondchance consensus``."""

from __future__ import annotations

from typing import Any

from beyondchance.adjudication.consensus import MEASURES, NAME, consensus
from beyondchance.adjudication.votes import ENTITIES, METHODS
from beyondchance.cli import options as flags
from beyondchance.cli.loading import load
from beyondchance.cli.writing import TIES_FLAG, gold_output, save_gold
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.consensus import report_of_consensus


@flags.command("consensus", doing="reading and voting")
@flags.annotated_files
@flags.in_scoring(
    "--method",
    type=flags.Choice(METHODS),
    default=ENTITIES,
    is_everyday=True,
    help="Vote on entities, or take what agrees best, what most marked, or what any marked.",
)
@TIES_FLAG
@flags.in_scoring(
    "--measure",
    type=flags.Choice(MEASURES),
    help="For --method best: vote on tokens with their labels, or on whole spans.",
    more="By default on tokens, and on whole spans where positions are characters.",
)
@flags.in_scoring(
    "--weights",
    type=flags.WEIGHTS,
    help="How much the votes of annotators count, where it is not 1; or agreement.",
    more="agreement: the square of each annotator's token F1 with the others, for crowds.",
)
@gold_output("consensus", NAME)
def command(**options: Any) -> Report:
    """The consensus of a team, and its ties.

    Spans are matched to entities, and annotators vote on whether there is one, its label and
    its edges. Ties are listed by what deciding them is worth. --save writes the consensus as
    annotations, in the format of the files.

    \b
    beyondchance consensus anna.conll ben.conll --save gold.conll --ties drop
    beyondchance consensus export.json --method best --save gold.json
    beyondchance consensus export.json --weights anna=2 --output csv
    """
    asked = flags.picked(options, ("measure", "method", "weights", "name"))
    found = consensus(load(options), **asked, ties=options["ties"] or "keep")
    entities = found.entities
    n_ties = int(entities.is_tie.sum()) if options["method"] == ENTITIES else 0
    save_gold(found.corpus, n_ties, len(entities.votes), options)
    return report_of_consensus(found, top=options["top"])
