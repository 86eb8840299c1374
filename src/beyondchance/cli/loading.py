"""From the arguments of a command to a corpus."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli.options import READING, picked
from beyondchance.errors import BeyondChanceError
from beyondchance.io.reading import Named, Naming, named_file, read_by_names
from beyondchance.io.sources import limited, read_stream
from beyondchance.messages import HIDDEN, Note, Quote

_NAMES = "beyondchance.pseudonyms"
"""Where a context keeps what annotators are called, by their names in the files."""


def load(files: Sequence[Any], options: Mapping[str, Any], **other: Any) -> Corpus:
    """Read the files, and keep what was asked for.

    Parameters
    ----------
    files : sequence of str or streams
    options : mapping
        The options of the command.
    **other
        Options of `read` that take the place of those.
    """
    if not files:
        raise click.UsageError("no files; expected at least one, or - for standard input")
    if options["gold"] == "":
        raise click.UsageError("--gold is empty; expected an annotator or a file")
    reading = {"gold": options["gold"], **picked(options, READING), **other}
    try:
        corpus, known = read_by_names(
            streams(files), options["format"], reading, naming_of(options)
        )
        kept = _kept(corpus, known, options)
    except BeyondChanceError as error:
        if options["pseudonyms"]:
            # Any quote can be a name while files are read.
            error.rewrite(lambda piece: HIDDEN if isinstance(piece, Quote) else piece)
        raise
    if not options["pseudonyms"]:
        return kept
    names = click.get_current_context().meta[_NAMES] = corpus.pseudonyms()
    return kept.with_pseudonyms(names)


def shown(names: Iterable[str]) -> list[str]:
    """Return what annotators of the files are called in the corpus that was read."""
    known = click.get_current_context().meta.get(_NAMES, {})
    return [known.get(name, name) for name in names]


def naming_of(options: Mapping[str, Any]) -> Naming:
    """Return how annotators and files are to be named."""
    return Naming(renamed=renaming("annotator", options), hides_files=options["pseudonyms"])


def renaming(kind: str, options: Mapping[str, Any]) -> dict[str, str]:
    """Return new names, by the old ones."""
    given = options[f"rename_{kind}"]
    renamed = dict(given)
    if len(renamed) < len(given):
        found = f"--rename-{kind} was given twice for one {kind}; expected one name"
        raise click.UsageError(found)
    return renamed


def equal_spans(options: Mapping[str, Any]) -> str:
    """Return what becomes of spans of one annotator that are, or become, equal."""
    default: str = READING["duplicates"].default(is_strict=options["strict"])
    return options["duplicates"] or default


def path_of(item: Any) -> Any:
    """Return what is to be read, without the name of its annotator."""
    return item.item if isinstance(item, Named) else item


def streams(files: Sequence[Any]) -> list[Any]:
    """Return the files, some with names, and standard input for ``-``, to be read again."""
    named = [named_file(file) if isinstance(file, str) else file for file in files]
    params = click.get_current_context().params
    if None in named:
        what = "an argument" if params["pseudonyms"] else f"'{files[named.index(None)]}'"
        raise click.UsageError(f"{what} is neither a file nor NAME=FILE")
    number = [path_of(item) for item in named].count("-")
    if number > 1:
        raise click.UsageError("standard input was given twice; expected '-' once")
    if not number:
        return named
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; give a file")
    with limited(params["max_size"]):
        content = _Stream(read_stream(sys.stdin.buffer, "stdin"))
    return [
        item
        if path_of(item) != "-"
        else replace(item, item=content)
        if isinstance(item, Named)
        else content
        for item in named
    ]


class _Stream(io.BytesIO):
    """Standard input, kept: from its beginning again, once it was read to its end."""

    name = "stdin"

    def read(self, size: int | None = -1, /) -> bytes:
        part = super().read(size)
        if not part:
            self.seek(0)
        return part


def _kept(corpus: Corpus, known: Mapping[str, str], options: Mapping[str, Any]) -> Corpus:
    """Rename labels, then select labels and annotators, who may be given by former names."""
    renamed = renaming("label", options)
    if renamed:
        corpus = corpus.rename_labels(renamed, duplicates=equal_spans(options))
    labels, excluded = options["labels"], options["exclude_labels"]
    if labels is not None and excluded is not None:
        raise click.UsageError("--labels and --exclude-labels were both given; expected one")
    if excluded is not None:
        corpus.select(labels=excluded)  # refuses unknown ones
        labels = [label for label in corpus.labels if label not in excluded]
        if not labels:
            raise click.UsageError("--exclude-labels leaves no label; expected fewer")
    if labels is not None:
        corpus = corpus.select(labels=labels)
    if options["annotators"] is not None:
        asked = (
            name if name in corpus.annotators else known.get(name, name)
            for name in options["annotators"]
        )
        names = [*asked, *([corpus.gold] if corpus.gold else [])]
        corpus = corpus.select(annotators=list(dict.fromkeys(names)))
    if options["no_text"]:
        return replace(corpus, texts=None, token_start=None, token_end=None)
    return corpus


def noted(corpus: Corpus, notes: Iterable[Note]) -> Corpus:
    """Return the corpus with more notes, for the report."""
    return replace(corpus, notes=(*corpus.notes, *notes))
