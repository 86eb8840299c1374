"""Gold standards to files: what `consensus` and `adjudicate` have in common."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

import click

from beyondchance.adjudication.added import only
from beyondchance.adjudication.consensus import TIES
from beyondchance.annotations.corpus import Corpus
from beyondchance.cli import options as flags
from beyondchance.cli.running import tell
from beyondchance.errors import DataError
from beyondchance.io.writing import WRITTEN, target_of, write
from beyondchance.messages import Use
from beyondchance.reporting.blocks import counted

WHICH = f"which format? pass --to with one of {', '.join(WRITTEN)}"
UNSAVED = "is for what --save writes; say where to write it"
_SAVED = (lambda given: given.get("place", True), UNSAVED)
"""What options of writing need."""
AS_PREDICTIONS = flags.in_output(
    "--as-predictions",
    is_flag=True,
    needs=_SAVED,
    help="For Label Studio: write annotations as predictions, each of a model that is called as "
    "the annotator is.",
)
saving = flags.together(
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
        metavar="NAME",
        is_everyday=True,
        needs=_SAVED,
        help="The format to write; by default that of the files, or what --save ends with.",
    ),
    AS_PREDICTIONS,
    flags.in_output(
        "--with-annotators",
        is_flag=True,
        needs=_SAVED,
        help="Write what the annotators marked, too.",
    ),
)
"""Where and how a gold standard is written."""
TIES_FLAG = flags.in_scoring(
    "--ties",
    type=flags.Choice(TIES),
    is_everyday=True,
    help="Write what votes on entities do not decide, or leave it out.",
    more="By default it is written, unless more than a tenth of all entities are ties.",
)


def ask_for_ties(n_ties: int, n_entities: int, options: Mapping[str, Any]) -> None:
    """Refuse to write a gold standard with many ties if nothing was said about them."""
    if options["place"] and options["ties"] is None and 10 * n_ties > n_entities:
        raise DataError(
            f"{n_ties:,} of {n_entities:,} entities are ties, which votes do not decide",
            expected="a decision about them",
            remedy=(Use("ties", "drop"), " leaves them out, ", Use("ties", "keep"), " writes them"),
        )


def save_gold(corpus: Corpus, name: str, options: Mapping[str, Any]) -> None:
    """Write an annotator, or all of them, if that is asked for."""
    place = options["place"]
    if place is None:
        return
    chosen = corpus if options["with_annotators"] else only(corpus, [name])
    if options["to"] is None and target_of(chosen, place) is None:
        raise click.UsageError(WHICH)
    write(chosen, place, format=options["to"], as_predictions=options["as_predictions"])
    spans = counted(len(chosen.span_start), "span")
    tell(f"wrote {place}: {counted(len(chosen.documents), 'document')}, {spans}")
