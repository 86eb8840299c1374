"""Write annotations to files, for `convert`, `consensus` and `adjudicate`."""

from __future__ import annotations

import tempfile
from collections.abc import Mapping
from pathlib import Path
from typing import Any

import click

from beyondchance.adjudication.consensus import TIES, check_ties
from beyondchance.annotations.corpus import Corpus, only
from beyondchance.cli import options as flags
from beyondchance.cli.running import tell
from beyondchance.io.writing import WRITTEN, target_of, write
from beyondchance.reporting.blocks import counted

PRINTED = {
    "table": ".csv",
    "conll": ".conll",
    "label-studio": ".json",
    "prodigy": ".jsonl",
    "bioc": ".xml",
}
"""Formats that are one file of text, and can go to standard output; and how that ends."""
WHICH = f"which format? pass --to with one of {', '.join(WRITTEN)}"
UNSAVED = "is for what --save writes; say where to write it"
_SAVED = (lambda given: given["place"] or "with_annotators" not in given, UNSAVED)
"""What options of writing need; a corpus that is converted can be printed."""
writing = flags.together(
    flags.in_output(
        "--save",
        "place",
        metavar="FILE|FOLDER",
        type=click.Path(),
        is_everyday=True,
        help="Write the annotations to a file or folder.",
        more="A folder, ending with /, gets one file for each annotator.",
    ),
    flags.in_output(
        "--to",
        type=flags.Choice(WRITTEN),
        is_everyday=True,
        needs=_SAVED,
        help="The format to write; by default what --save ends with.",
        more="Of several formats with that ending, and for a folder, the format that was read.",
    ),
    flags.in_output(
        "--as-predictions",
        is_flag=True,
        needs=_SAVED,
        help="For Label Studio: write annotations as predictions, each of a model that is called "
        "as the annotator is.",
    ),
)
"""Where and how annotations are written."""
TIES_FLAG = flags.in_scoring(
    "--ties",
    type=flags.Choice(TIES),
    is_everyday=True,
    help="Write what votes on entities do not decide, or leave it out.",
    more="By default it is written, unless more than a tenth of all entities are ties.",
)


def gold_output(what: str, name: str) -> flags.Decorator:
    """Make the options for where a gold standard is written, and how the result is printed."""
    return flags.together(
        flags.in_output("--name", default=name, help=f"What the {what} is called."),
        writing,
        flags.in_output(
            "--with-annotators",
            is_flag=True,
            needs=_SAVED,
            help="Write what the annotators marked, too.",
        ),
        flags.TOP,
        flags.printed_list,
    )


def save_gold(corpus: Corpus, n_ties: int, n_entities: int, options: Mapping[str, Any]) -> None:
    """Write a gold standard, if that is asked for; refuse many ties if nothing was said of them."""
    if options["place"] is None:
        return
    if options["ties"] is None:
        check_ties(n_ties, n_entities)
    chosen = corpus if options["with_annotators"] else only(corpus, [options["name"]])
    tell(write_annotations(chosen, options))


def _has_groups(corpus: Corpus) -> bool:
    """Return whether a layer of the files is a group of spans, and not a type of annotations."""
    return {item.format for item in corpus.inputs} <= {"spacy", "records"}


def write_annotations(corpus: Corpus, options: Mapping[str, Any]) -> str:
    """Write annotations to the place that is asked for or to standard output, and say what."""
    place = options["place"]
    target = options["to"] or target_of(corpus, place)
    if target is None:
        raise click.UsageError(WHICH)
    with tempfile.TemporaryDirectory() as folder:
        file = place or f"{folder}/converted{PRINTED[target]}"
        write(
            corpus,
            file,
            format=target,
            spans_key=options["layer"] if target == "spacy" and _has_groups(corpus) else None,
            as_predictions=options["as_predictions"],
        )
        if place is None:
            click.echo(Path(file).read_bytes(), nl=False)
    if target == "table" and corpus.unit == "sentence":
        tell("a table has no sentences: when it is read again, it is scored by document")
    numbers = {
        "document": corpus.documents,
        "annotator": corpus.annotators,
        "span": corpus.span_start,
    }
    content = ", ".join(counted(len(rows), what) for what, rows in numbers.items())
    return f"wrote {place or 'standard output'} as {target}: {content}"
