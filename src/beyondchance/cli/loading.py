"""From the arguments of a command to a corpus."""

from __future__ import annotations

import io
import re
import sys
from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli.options import READING
from beyondchance.errors import BeyondChanceError
from beyondchance.io.reading import read

_QUOTING = re.compile(r"""['"(\[{<:]""")
"""What a message puts before what it quotes."""
_PLACE = re.compile(r"[^:]*?(:\d+)*: |")
"""What is left of a file's name, and a line in it."""
_KIND = re.compile(r".* results ignored", re.DOTALL)
_OWN_NOTE = re.compile(r"read as [a-z-]+|tags of .* read as [A-Z0-9]+", re.DOTALL)
"""Notes that quote nothing but names."""


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
    reading = {name: options[name] for name in READING if options[name] is not None}
    gold = options["gold"]
    if gold == "":
        raise click.UsageError("--gold is empty; expected an annotator or a file")
    try:
        corpus = _with_gold(files, gold, {"format": options["format"], **reading, **other})
    except BeyondChanceError as error:
        if options["no_text"]:
            given = [*map(_name, files), *map(_name, filter(None, (gold, options["documents"])))]
            raise type(error)(without_text(str(error), given)) from None
        raise
    return _kept(corpus, options)


def _with_gold(files: Sequence[Any], gold: str | Path | None, reading: dict[str, Any]) -> Corpus:
    """Read the files with their gold standard: a file, or one of the annotators.

    What could be either is an annotator, if there is one of that name.
    """
    if isinstance(gold, Path):
        return read(*files, gold=gold, **reading)
    corpus = read(*files, **reading)
    if gold is None or gold in corpus.annotators or not _exists(gold):
        return corpus if gold is None else corpus.with_gold(gold)
    return read(*files, gold=Path(gold), **reading)


def _exists(path: str) -> bool:
    try:
        return Path(path).exists()
    except OSError:  # a name that is too long
        return False


def streams(files: Sequence[str]) -> list[Any]:
    """The files with standard input in the place of ``-``, so that it can be read again."""
    if "-" not in files:
        return list(files)
    if files.count("-") > 1:
        raise click.UsageError("standard input was given twice; expected '-' once")
    if sys.stdin is None:
        raise click.UsageError("standard input is closed; give a file")
    content = _Stream(sys.stdin.buffer.read())
    return [content if file == "-" else file for file in files]


class _Stream(io.BytesIO):
    """Standard input, kept."""

    name = "stdin"

    def read(self, size: int | None = -1, /) -> bytes:
        self.seek(0)
        return super().read(size)


def _kept(corpus: Corpus, options: Mapping[str, Any]) -> Corpus:
    """Rename labels, then leave out those and the annotators that are not wanted."""
    renamed = dict(options["rename_label"])
    if len(renamed) < len(options["rename_label"]):
        raise click.UsageError("--rename-label was given twice for a label; expected one name")
    if renamed:
        duplicates = options["duplicates"] or "error"
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


def _name(file: Any) -> str:
    return str(file) if isinstance(file, str | Path) else str(file.name)


def _without_texts(corpus: Corpus) -> Corpus:
    """The corpus without its texts, and without what was found out and may quote them."""
    own = tuple(note for note in corpus.notes if _OWN_NOTE.fullmatch(note.partition(": ")[2]))
    hidden = len(corpus.notes) - len(own)
    skipped: Counter[str] = Counter()
    for what, number in corpus.skipped.items():
        # Exports name the kind of what is ignored, and a kind can be anything.
        skipped[_KIND.sub("results ignored", what)] += number
    return replace(
        corpus,
        texts=None,
        token_start=None,
        token_end=None,
        notes=(*own, f"{hidden} notes on reading are hidden by --no-text") if hidden else own,
        skipped=dict(skipped),
    )


def without_text(message: str, given: Sequence[str]) -> str:
    """A message up to what it may quote from a file: its place, and what is wrong there.

    Parameters
    ----------
    message : str
    given : sequence of str
        The files that were given; their names are no text, whatever characters they have.

    Examples
    --------
    >>> without_text("anna.conll:12: tag 'X-PER' of 'Anna' is unknown", ["anna.conll"])
    'anna.conll:12: tag … (--no-text hides the rest)'
    >>> without_text("anna.conll: is empty; expected annotations", ["anna.conll"])
    'anna.conll: is empty; expected annotations'
    """
    file = max((name for name in given if message.startswith(name)), key=len, default="")
    place = file + _PLACE.match(message.removeprefix(file))[0] if file else ""  # type: ignore[index]
    found = message.removeprefix(place)
    said = _QUOTING.split(found, maxsplit=1)[0]
    return message if said == found else f"{place}{said.rstrip()} … (--no-text hides the rest)"
