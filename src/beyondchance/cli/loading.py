"""From the arguments of a command to a corpus."""

from __future__ import annotations

import io
import sys
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import replace
from typing import Any

import click

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli.options import READING, picked
from beyondchance.errors import BeyondChanceError
from beyondchance.io.reading import Named, Naming, named_file, read_by_names
from beyondchance.io.sources import limited, read_stream
from beyondchance.messages import HIDDEN, Note, Piece, Quote, pieces


def load(files: Sequence[Any], options: Mapping[str, Any], **other: Any) -> Corpus:
    """Read the files, and keep what was asked for; see `load_named`."""
    return load_named(files, options, **other)[0]


def load_named(
    files: Sequence[Any], options: Mapping[str, Any], **other: Any
) -> tuple[Corpus, Callable[[str], str]]:
    """Read the files, and keep what was asked for.

    Parameters
    ----------
    files : sequence of str or streams
    options : mapping
        The options of the command.
    **other
        Options of `read` that take the place of those.

    Returns
    -------
    corpus : Corpus
    shown : function
        Returns what an annotator is called in it, by the name in the files.
    """
    if not files:
        raise click.UsageError("no files; expected at least one, or - for standard input")
    reading = {"format": options["format"], **picked(options, READING), **other}
    if options["gold"] == "":
        raise click.UsageError("--gold is empty; expected an annotator or a file")
    form = reading.pop("format")
    naming = Naming(renamed=renaming("annotator", options), hides_files=options["pseudonyms"])
    try:
        corpus, known = read_by_names(files, form, {"gold": options["gold"], **reading}, naming)
        kept = _kept(corpus, known, options)
    except BeyondChanceError as error:
        if options["pseudonyms"]:
            # Any quote can be a name while files are read.
            error.rewrite(_hidden)
        raise
    if not options["pseudonyms"]:
        return kept, str
    names = corpus.pseudonyms()
    return kept.with_pseudonyms(names), lambda name: names.get(name, name)


def renaming(kind: str, options: Mapping[str, Any]) -> dict[str, str]:
    """New names, by the old ones."""
    given = options[f"rename_{kind}"]
    renamed = dict(given)
    if len(renamed) < len(given):
        article = "an" if kind == "annotator" else "a"
        found = f"--rename-{kind} was given twice for {article} {kind}; expected one name"
        raise click.UsageError(found)
    return renamed


def _named(file: str) -> Any:
    """A file, with the name of its annotator where it is given as NAME=FILE."""
    named = named_file(file)
    if named is None:
        is_hidden = click.get_current_context().params.get("pseudonyms")
        what = "an argument" if is_hidden else f"'{file}'"
        raise click.UsageError(f"{what} is neither a file nor NAME=FILE")
    return named


def streams(files: Sequence[str]) -> list[Any]:
    """The files, some with names, and standard input in the place of ``-``, to be read again."""
    named = [_named(file) for file in files]
    places = [file.item if isinstance(file, Named) else file for file in named]
    if "-" not in places:
        return named
    if places.count("-") > 1:
        raise click.UsageError("standard input was given twice; expected '-' once")
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; give a file")
    with limited(click.get_current_context().params.get("max_size")):
        content = _Stream(read_stream(sys.stdin.buffer, "stdin"))
    return [
        file if place != "-" else Named(file.name, content) if isinstance(file, Named) else content
        for file, place in zip(named, places, strict=True)
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
        asked = (
            name if name in corpus.annotators else known.get(name, name)
            for name in options["annotators"]
        )
        names = [*asked, *([corpus.gold] if corpus.gold else [])]
        corpus = corpus.select(annotators=list(dict.fromkeys(names)))
    return _without_texts(corpus) if options["no_text"] else corpus


def noted(corpus: Corpus, notes: Iterable[Note]) -> Corpus:
    """The corpus with more notes, for the report."""
    return replace(corpus, notes=(*corpus.notes, *notes))


def unquoted(note: Note) -> Note:
    """The note without what it quotes, wherever it is printed."""
    return replace(note, text=tuple(map(_hidden, pieces(note.text))))


def _hidden(piece: Piece) -> Piece:
    return HIDDEN if isinstance(piece, Quote) else piece


def _without_texts(corpus: Corpus) -> Corpus:
    """The corpus without its texts, and notes without what they may quote of them."""
    notes = tuple(map(unquoted, corpus.notes))
    return replace(corpus, texts=None, token_start=None, token_end=None, notes=notes)
