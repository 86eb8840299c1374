"""``beyondchance replace``."""

from __future__ import annotations

from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load_named, streams
from beyondchance.cli.running import Command, emit, working
from beyondchance.inference.replacement import replacement
from beyondchance.reporting.commands.replace import report_of_replacement


@click.command("replace", cls=Command)
@flags.annotated_files
@flags.MODEL
@flags.HUMANS
@flags.replacing
@flags.together([flags.flag(flags.SCORING[name], group="Scoring") for name in ("measure", "scope")])
@flags.CONFIDENCE
@flags.output
def command(files: tuple[str, ...], **options: Any) -> None:
    """May a model replace a person? And how much is there to reach?

    For each person: how well the person agrees with the others, and how well the model does in
    that place. On average over people the model has to keep a share of their agreement beyond
    chance, and to be less than a margin below it.

    \b
    beyondchance replace export.json --model gpt --blind yes
    beyondchance replace anna.conll ben.conll cleo.conll gpt.conll --model gpt
    beyondchance replace export.json --model gpt,llama --humans anna,ben,cleo
    """
    with working("reading and comparing", quiet=options["quiet"]):
        corpus, shown = load_named(streams(files), options)
        asked = {name: options[name] for name in ("measure", "scope", "confidence")}
        asked |= flags.replacing_options(options)
        humans = options["humans"] and [shown(name) for name in options["humans"]]
        models = [shown(name) for name in options["models"]]
        found = replacement(corpus, model=models, humans=humans, **asked)
        report = report_of_replacement(found, digits=options["digits"])
    emit(report, **options)
