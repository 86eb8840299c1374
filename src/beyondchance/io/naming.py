"""Names that can be sent to others: of annotators without addresses, of files without folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note, Quote, pieces, renamed

_ADDRESS = re.compile(r"[^@\s]+@[^@\s]+\.[^@\s.]+")


def short_names(annotators: Iterable[str]) -> dict[str, str]:
    """A name for each annotator who has an e-mail address: what is before the @, or a number too.

    Examples
    --------
    >>> short_names(["ada@a.org", "ada@b.org", "ben", "ben@a.org", "@cleo"])
    {'ada@a.org': 'ada', 'ada@b.org': 'ada 2', 'ben@a.org': 'ben 2'}
    """
    listed = list(annotators)
    addresses = [name for name in listed if _ADDRESS.fullmatch(name)]
    taken = set(listed) - set(addresses)
    found = {}
    for address in addresses:
        name, number = address.partition("@")[0], 1
        while name in taken:
            number += 1
            name = f"{address.partition('@')[0]} {number}"
        taken.add(name)
        found[address] = name
    return found


def with_short_names(corpus: Corpus, *, is_noted: bool) -> tuple[Corpus, dict[str, str]]:
    """Rename annotators who have an e-mail address, also in notes and in the names of files.

    Parameters
    ----------
    corpus : Corpus
    is_noted : bool
        Whether a note says so; not where the names will not be shown.

    Returns
    -------
    corpus : Corpus
    known : dict
        The annotators by their addresses.
    """
    short = short_names(corpus.annotators)
    if not short:
        return corpus, {}
    corpus = corpus.rename_annotators(short)
    notes = tuple(renamed(note, short, short) for note in corpus.notes)
    if is_noted:
        what = "annotators are named by the part of their e-mail address before the @"
        notes = (*notes, Note(what))
    inputs = tuple(replace(item, name=_without(short, item.name)) for item in corpus.inputs)
    return replace(corpus, notes=notes, inputs=inputs), short


def with_new_names(
    corpus: Corpus, known: Mapping[str, str], names: Mapping[str, str]
) -> tuple[Corpus, dict[str, str]]:
    """Rename annotators, who may be given by former names, and keep all of these."""
    own = corpus.annotators
    new = {old if old in own else known.get(old, old): name for old, name in names.items()}
    if new:
        corpus = corpus.rename_annotators(new)
    return corpus, {**{old: new.get(name, name) for old, name in known.items()}, **new}


def _without(names: Mapping[str, str], text: str) -> str:
    """A text with other names in it."""
    for old in sorted(names, key=len, reverse=True):
        text = text.replace(old, names[old])
    return text


def with_short_paths(corpus: Corpus, paths: Iterable[str]) -> Corpus:
    """Show files without the folders that hold them, unless the path was given from here."""
    short = short_paths(paths)
    if not short:
        return corpus
    inputs = tuple(replace(item, name=_without(short, item.name)) for item in corpus.inputs)
    notes = tuple(replace(note, where=_without(short, note.where)) for note in corpus.notes)
    return replace(corpus, inputs=inputs, notes=notes)


def short_paths(paths: Iterable[str]) -> dict[str, str]:
    """A name for each absolute path: its last part, after its folder where two would be equal.

    Examples
    --------
    >>> short_paths(["/home/ada/x.csv", "/home/ben/x.csv", "/home/y.csv", "data/z.csv"])
    {'/home/ada/x.csv': 'ada/x.csv', '/home/ben/x.csv': 'ben/x.csv', '/home/y.csv': 'y.csv'}
    """
    listed = list(map(Path, dict.fromkeys(paths)))
    ends = Counter(path.name if path.is_absolute() else str(path) for path in listed)
    found = {}
    for path in listed:
        if path.is_absolute():
            name = path.name if ends[path.name] == 1 else f"{path.parent.name}/{path.name}"
            found[str(path)] = name.lstrip("/") or "files"
    return found


def sendable(note: Note, paths: Iterable[str]) -> Note:
    """A note of an error without the folders of files, and without e-mail addresses.

    Examples
    --------
    >>> note = Note(("/home/ada/x.csv:3: ", Quote("ada@x.org"), " is there twice"))
    >>> print(sendable(note, ["/home/ada/x.csv"]))
    x.csv:3: 'ada' is there twice
    """
    short = short_paths(paths)
    addresses = [
        str(piece.value)
        for piece in pieces(note.text)
        if isinstance(piece, Quote) and _ADDRESS.fullmatch(str(piece.value))
    ]
    note = renamed(note, {name: name.partition("@")[0] for name in addresses}, {})
    text = (_without(short, x) if isinstance(x, str) else x for x in pieces(note.text))
    return replace(note, text=tuple(text))
