"""From the arguments of a command to a corpus."""

from __future__ import annotations

import io
import re
import sys
from collections.abc import Mapping, Sequence
from dataclasses import replace
from pathlib import Path
from typing import Any

import click

from beyondchance.cli.options import READING
from beyondchance.errors import BeyondChanceError
from beyondchance.io import read
from beyondchance.spans import Corpus

_QUOTED = re.compile(r"""'(?:[^'\\]|\\.)*'|"(?:[^"\\]|\\.)*"|\([^()]*\)""")


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
    # A name is looked up after reading, when all names can be told.
    gold_file = gold if gold is not None and Path(gold).exists() else None
    if gold_file is not None:
        reading["gold"] = gold_file
    try:
        corpus = read(*files, format=options["format"], **{**reading, **other})
    except BeyondChanceError as error:
        if options["no_text"]:
            raise type(error)(without_text(str(error))) from None
        raise
    if gold is not None and gold_file is None:
        corpus = corpus.with_gold(gold)
    return _kept(corpus, options)


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
    if options["rename_label"]:
        corpus = corpus.rename_labels(dict(options["rename_label"]))
    labels, excluded = options["labels"], options["exclude_labels"]
    if labels is not None and excluded is not None:
        raise click.UsageError("--labels and --exclude-labels were both given; expected one")
    if excluded is not None:
        corpus.select(labels=excluded)
        labels = [label for label in corpus.labels if label not in excluded]
    if labels is not None:
        corpus = corpus.select(labels=labels)
    if options["annotators"] is not None:
        names = [*options["annotators"], *([corpus.gold] if corpus.gold else [])]
        corpus = corpus.select(annotators=list(dict.fromkeys(names)))
    if options["no_text"]:
        notes = tuple(map(without_text, corpus.notes))
        corpus = replace(corpus, texts=None, token_start=None, token_end=None, notes=notes)
    return corpus


def without_text(message: str) -> str:
    """A message with everything hidden that it may quote from a file.

    Examples
    --------
    >>> without_text("anna.conll:12: 'Anna X-PER' has the tag 'X-PER'; expected 'O'")
    'anna.conll:12: … has the tag …; expected …'
    """
    return _QUOTED.sub("…", message)
