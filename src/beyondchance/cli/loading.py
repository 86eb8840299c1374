"""Read the files of a command into a corpus."""

from __future__ import annotations

import io
import os
import sys
from collections.abc import Iterable, Mapping
from contextlib import nullcontext
from dataclasses import replace
from itertools import chain
from pathlib import Path
from typing import Any

import click

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli.options import READING, picked
from beyondchance.errors import BeyondChanceError
from beyondchance.io.reading import Named, Naming, Selection, named_file, read_by_names
from beyondchance.io.saving import is_same_file, replaces_input
from beyondchance.io.sources import is_pipe, limited, matching, read_stream
from beyondchance.messages import Note, unquoted
from beyondchance.options import refused_kinds

_NAMES = "beyondchance.pseudonyms"
"""Where a context keeps what annotators are called, by their names in the files."""


def load(options: Mapping[str, Any]) -> Corpus:
    """Read the files of a command, and keep what was asked for."""
    if not options["files"]:
        raise click.UsageError("no files; expected at least one, or - for standard input")
    reading = {"gold": options["gold"], **picked(options, READING), "anonymous": False}
    try:
        corpus, known = read_by_names(
            options["files"], options["format"], reading, naming_of(options)
        )
        kept = _kept(corpus, known, options)
    except BeyondChanceError as error:
        if options["pseudonyms"]:
            # Any quote can be a name while files are read.
            error.rewrite(unquoted)
        raise
    if not options["pseudonyms"]:
        return kept
    names = click.get_current_context().meta[_NAMES] = corpus.pseudonyms()
    if not options["anonymous"]:
        return kept.with_pseudonyms(names)
    by = options.get("by")
    # Weeks and months are those of the field date.
    asked = {"date", *([by] if isinstance(by, str) else by)} if by else ()
    return kept.anonymous(names, fields=asked)


def shown(names: Iterable[str]) -> list[str]:
    """Return what annotators of the files are called in the corpus that was read."""
    known = click.get_current_context().meta.get(_NAMES, {})
    return [known.get(name, name) for name in names]


def naming_of(options: Mapping[str, Any]) -> Naming:
    """Return how annotators and files are to be named."""
    return Naming(renamed=options["rename_annotator"], hides_files=options["pseudonyms"])


def selection_of(options: Mapping[str, Any]) -> Selection:
    """Return what is to be kept of the annotations."""
    # Spans of one annotator that are, or become, equal.
    equal = "error" if "duplicates" in refused_kinds(options["strict"]) else "skip"
    labels, excluded = options["labels"], options["exclude_labels"]
    return Selection(labels, excluded, options["annotators"], options["rename_label"], equal)


def path_of(item: Any) -> Any:
    """Return what is to be read, without the name of its annotator."""
    return item.item if isinstance(item, Named) else item


def opened(params: Mapping[str, Any]) -> list[Any]:
    """Return the files of a command, some with names, and standard input for ``-``.

    Refuse to write over one of them, before anything is computed.
    """
    try:
        files = list(chain.from_iterable(map(_matching, params["files"])))
    except BeyondChanceError as error:
        error.where = () if params["pseudonyms"] else error.where
        raise
    named = list(map(named_file, files))
    if None in named:
        what = "an argument" if params["pseudonyms"] else f"'{files[named.index(None)]}'"
        raise click.UsageError(f"{what} is neither a file nor NAME=FILE")
    paths = list(map(path_of, named))
    for place in filter(None, map(params.get, ("save", "place", "save_counts"))):
        for top in paths:
            within = (Path(folder, name) for folder, _, names in os.walk(top) for name in names)
            if any(is_same_file(path, place) for path in (top, *within)):
                raise replaces_input(place)
    if paths.count("-") > 1:
        raise click.UsageError("standard input was given twice; expected '-' once")
    if "-" in paths and sys.stdin is None:
        raise click.UsageError("standard input is closed; give a file")
    for number, path in enumerate(paths):
        if path == "-" or is_pipe(path):
            with limited(params["max_size"]):
                content = _Stream("stdin" if path == "-" else path)
            own = named[number]
            named[number] = replace(own, item=content) if isinstance(own, Named) else content
    return named


def _matching(file: str) -> list[str]:
    """Return the files of a pattern; the file of NAME=FILE is none."""
    return [file] if isinstance(named_file(file), Named) else matching(file)


class _Stream(io.BytesIO):
    """Standard input or a pipe, kept: from its beginning again, once it was read to its end."""

    def __init__(self, name: str) -> None:
        with nullcontext(sys.stdin.buffer) if name == "stdin" else Path(name).open("rb") as stream:
            super().__init__(read_stream(stream, name))
        self.name = name

    def read(self, size: int | None = -1, /) -> bytes:
        part = super().read(size)
        if not part:
            self.seek(0)
        return part


def _kept(corpus: Corpus, known: Mapping[str, str], options: Mapping[str, Any]) -> Corpus:
    """Rename labels, then select labels and annotators, who may be given by former names."""
    selection = selection_of(options)
    selection.check(corpus.labels)
    corpus = selection.of_labels(corpus)
    if selection.excluded is not None and not corpus.labels:
        raise click.UsageError("--exclude-labels leaves no label; expected fewer")
    corpus = selection.of_annotators(corpus, known)
    if options["no_text"]:
        return replace(corpus, texts=None, token_start=None, token_end=None)
    return corpus


def noted(corpus: Corpus, notes: Iterable[Note]) -> Corpus:
    """Return the corpus with more notes, for the report."""
    return replace(corpus, notes=(*corpus.notes, *notes))
