"""``beyondchance diagnose``."""

from __future__ import annotations

from typing import Any

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load
from beyondchance.diagnosis.diagnose import diagnose
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.diagnose import diagnose_report


@flags.command("diagnose", doing="reading and comparing")
@flags.annotated_files
@flags.scoring
@flags.resampling("confidence", is_flat=False)
@flags.BY
@flags.TOP
@flags.output
def command(**options: Any) -> Report:
    """What to fix first: each pattern of disagreement, and what agreement would be without it.

    Says where agreement is lost, which patterns cost most, whether they are habits of one annotator
    or the guideline is unclear, and which labels might be one. With --gold, the errors of systems.

    \b
    beyondchance diagnose anna.conll ben.conll
    beyondchance diagnose export.json --measure exact
    beyondchance diagnose export.json --by week
    beyondchance diagnose gold.conll system.conll --gold gold
    """
    corpus = load(options)
    gold = None if options["gold"] is None else corpus.gold
    found = diagnose(corpus, gold=gold, by=options["by"], **flags.scoring_options(options))
    return diagnose_report(found, **flags.picked(options, ("top", "digits", "confidence")))
