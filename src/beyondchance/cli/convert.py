"""``beyondchance convert``."""

from __future__ import annotations

import sys
import tempfile
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from beyondchance.cli import options as flags
from beyondchance.cli.loading import load, streams
from beyondchance.cli.running import Command, tell, tell_notes, working
from beyondchance.io.writing import WRITTEN, write
from beyondchance.reporting.blocks import counted

_ENDINGS = {
    **dict.fromkeys((".csv", ".tsv", ".jsonl", ".parquet"), "table"),
    ".conll": "conll",
    ".spacy": "spacy",
}
_PRINTED = ("table", "conll")
"""Formats that are one file of text, and can go to standard output."""


@click.command("convert", cls=Command)
@flags.annotated_files
@flags.in_output(
    "--to",
    type=flags.Choice(WRITTEN),
    is_everyday=True,
    help="The format to write; by default what --save ends with.",
)
@flags.in_output(
    "--save",
    metavar="FILE|FOLDER",
    type=click.Path(),
    is_everyday=True,
    help="Where to write; a folder, ending with /, gets one file for each annotator.",
)
@flags.QUIET
def command(
    files: tuple[str, ...], to: str | None, save: str | None, quiet: bool, **options: Any
) -> None:
    """Write annotations in another format.

    \b
    beyondchance convert export.json --save spans.csv
    beyondchance convert brat/ --to conll --positions tokens --save conll/
    """
    target = to or _ENDINGS.get(Path(save or "").suffix.lower())
    if target is None:
        raise click.UsageError(f"which format? pass --to with one of {', '.join(WRITTEN)}")
    if save is None and target not in _PRINTED:
        raise click.UsageError(f"{target} cannot be printed; pass --save to write a file")
    with working("reading and writing", quiet=quiet):
        corpus = load(streams(files), options)
        if options["no_text"]:
            # A field can be anything, such as a translation.
            corpus = replace(corpus, fields={})
        key = options["spans_key"] if target == "spacy" else None
        if save is None:
            with tempfile.TemporaryDirectory() as folder:
                place = Path(folder) / f"converted.{'csv' if target == 'table' else target}"
                write(corpus, place, format=target)
                if sys.stdout is not None:
                    click.echo(place.read_bytes(), nl=False)
        else:
            write(corpus, save, format=target, spans_key=key)
    if not quiet:
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
