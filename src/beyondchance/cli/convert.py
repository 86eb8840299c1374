"""``beyondchance convert``."""

from __future__ import annotations

import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.gold import AS_PREDICTIONS, WHICH
from beyondchance.cli.loading import load
from beyondchance.cli.running import Command, tell, tell_notes
from beyondchance.io.writing import WRITTEN, target_of, write
from beyondchance.reporting.blocks import counted

_PRINTED = {
    "table": ".csv",
    "conll": ".conll",
    "label-studio": ".json",
    "prodigy": ".jsonl",
    "bioc": ".xml",
}
"""Formats that are one file of text, and can go to standard output; and how that ends."""


@click.command("convert", cls=Command, doing="reading and writing")
@flags.annotated_files
@flags.in_output(
    "--to",
    type=flags.Choice(WRITTEN),
    is_everyday=True,
    help="The format to write; by default what --save ends with.",
    more="Of several formats with that ending, and for a folder, the format that was read.",
)
@flags.in_output(
    "--save",
    metavar="FILE|FOLDER",
    type=click.Path(),
    is_everyday=True,
    help="Where to write; a folder, ending with /, gets one file for each annotator.",
)
@AS_PREDICTIONS
@flags.QUIET
def command(files: tuple[str, ...], to: str | None, save: str | None, **options: Any) -> None:
    """Write annotations in another format.

    \b
    beyondchance convert export.json --save spans.csv
    beyondchance convert brat/ --to conll --positions tokens --save conll/
    """
    if to is None and save is None:
        raise click.UsageError(WHICH)
    if save is None and to not in _PRINTED:
        raise click.UsageError(f"{to} cannot be printed; pass --save to write a file")
    corpus = load(files, options)
    target = to or target_of(corpus, save or "")
    if target is None:
        raise click.UsageError(WHICH)
    if options["no_text"]:
        # A field can be anything, such as a translation.
        corpus = replace(corpus, fields={})
    with tempfile.TemporaryDirectory() as folder:
        place = save or Path(folder) / f"converted{_PRINTED[target]}"
        write(
            corpus,
            place,
            format=target,
            spans_key=options["spans_key"] if target == "spacy" else None,
            as_predictions=options["as_predictions"],
        )
        if save is None:
            click.echo(Path(place).read_bytes(), nl=False)
    tell_notes(corpus.notes)
    if target == "table" and corpus.unit == "sentence":
        tell("a table has no sentences: when it is read again, it is scored by document")
    for what, number in corpus.skipped.items():
        tell(f"{number:,} {what}")
    tell(
        f"wrote {save or 'standard output'} as {target}: "
        f"{counted(len(corpus.documents), 'document')}, "
        f"{counted(len(corpus.annotators), 'annotator')}, "
        f"{counted(len(corpus.span_start), 'span')}"
    )
