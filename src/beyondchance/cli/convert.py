"""``beyondchance convert``."""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load
from beyondchance.cli.running import tell, tell_notes
from beyondchance.cli.writing import PRINTED, WHICH, write_annotations, writing


@flags.command("convert", doing="reading and writing")
@flags.annotated_files
@writing
@flags.QUIET
def command(**options: Any) -> None:
    """Write annotations in another format.

    \b
    beyondchance convert export.json --save spans.csv
    beyondchance convert brat/ --to conll --positions tokens --save conll/
    """
    to = options["to"]
    if options["place"] is None and to not in PRINTED:
        unprinted = f"{to} cannot be printed; pass --save to write a file"
        raise click.UsageError(unprinted if to else WHICH)
    corpus = load(options)
    if options["no_text"]:
        # A field can be anything, such as a translation.
        corpus = replace(corpus, fields={})
    wrote = write_annotations(corpus, options)
    tell_notes(corpus.notes)
    for what, number in corpus.skipped.items():
        tell(f"{number:,} {what}")
    tell(wrote)
