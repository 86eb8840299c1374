"""``beyondchance replace``."""

from __future__ import annotations

from functools import partial
from typing import Any

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load, shown
from beyondchance.inference.replacement import replacement
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands.replace import report_of_replacement


@flags.command("replace", doing="reading and comparing")
@flags.annotated_files
@flags.in_annotations(
    "--model",
    "models",
    type=flags.NAMES,
    required=True,
    is_everyday=True,
    help="The model among the annotators; several are compared with each other.",
)
@flags.in_annotations(
    "--humans", type=flags.NAMES, is_everyday=True, help="The people; by default all others."
)
@flags.replacing
@flags.together(*(flags.flag(flags.SCORING[n], group="Scoring") for n in ("measure", "scope")))
@flags.informed()
@flags.CONFIDENCE
@flags.output
def command(**options: Any) -> Report:
    """May a model replace a person? And how much is there to reach?

    For each person: how well the person agrees with the others, and how well the model does in
    that place. On average over people the model has to keep a share of their agreement beyond
    chance, and to be less than a margin below it.

    \b
    beyondchance replace export.json --model gpt --blind yes
    beyondchance replace anna.conll ben.conll cleo.conll gpt.conll --model gpt
    beyondchance replace export.json --model gpt,llama --humans anna,ben,cleo
    """
    corpus = load(options)
    asked = ("measure", "scope", "confidence", "keep", "margin", "blind")
    test = partial(
        replacement,
        corpus,
        model=shown(options["models"]),
        humans=options["humans"] and shown(options["humans"]),
        **flags.picked(options, asked),
    )
    skill = test(chance="shapes") if options["chance"] == "shapes" else None
    return report_of_replacement(test(), skill)
