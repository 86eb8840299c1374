"""From the arguments of a command to a corpus."""

from __future__ import annotations

import io
import sys
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli.options import READING, picked
from beyondchance.io.reading import Named, read_all
from beyondchance.messages import HIDDEN, Note, Quote, pieces


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
    reading = {"format": options["format"], **picked(options, READING), **other}
    if options["gold"] == "":
        raise click.UsageError("--gold is empty; expected an annotator or a file")
    form = reading.pop("format")
    return _kept(read_all(files, form, {"gold": options["gold"], **reading}), options)


def _named(file: str) -> Any:
    """A file, with the name of its annotator where it is given as NAME=FILE."""
    name, equals, path = file.partition("=")
    if not equals or _exists(file):
        return file
    if not name or not path or name != name.strip():
        raise click.UsageError(f"'{file}' is neither a file nor NAME=FILE")
    return Named(name, path)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except (OSError, ValueError):  # a name that is too long, or no name at all
        return False


def streams(files: Sequence[str]) -> list[Any]:
    """The files, some with names, and standard input in the place of ``-``, to be read again."""
    if "-" not in files:
        return [_named(file) for file in files]
    if files.count("-") > 1:
        raise click.UsageError("standard input was given twice; expected '-' once")
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; give a file")
    content = _Stream(sys.stdin.buffer.read())
    return [content if file == "-" else _named(file) for file in files]


class _Stream(io.BytesIO):
    """Standard input, kept."""

    name = "stdin"

    def read(self, size: int | None = -1, /) -> bytes:
        self.seek(0)
        return super().read(size)


def _kept(corpus: Corpus, options: Mapping[str, Any]) -> Corpus:
    """Rename labels, then select labels and annotators."""
    renamed = dict(options["rename_label"])
    if len(renamed) < len(options["rename_label"]):
        raise click.UsageError("--rename-label was given twice for a label; expected one name")
    if renamed:
        duplicates = options["duplicates"] or ("error" if options["strict"] else "skip")
        corpus = corpus.rename_labels(renamed, duplicates=duplicates)
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
        names = [*options["annotators"], *([corpus.gold] if corpus.gold else [])]
        corpus = corpus.select(annotators=list(dict.fromkeys(names)))
    return _without_texts(corpus) if options["no_text"] else corpus


def noted(corpus: Corpus, notes: Iterable[Note]) -> Corpus:
    """The corpus with more notes, for the report."""
    return replace(corpus, notes=(*corpus.notes, *notes))


def unquoted(note: Note) -> Note:
    """The note without what it quotes, wherever it is printed."""
    parts = (HIDDEN if isinstance(piece, Quote) else piece for piece in pieces(note.text))
    return replace(note, text=tuple(parts))


def _without_texts(corpus: Corpus) -> Corpus:
    """The corpus without its texts, and notes without what they may quote of them."""
    notes = tuple(map(unquoted, corpus.notes))
    return replace(corpus, texts=None, token_start=None, token_end=None, notes=notes)
