"""Names that can be sent to others: of annotators without addresses, of files without folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path, PurePosixPath, PureWindowsPath

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import BeyondChanceError
from beyondchance.messages import Note, Piece, Quote, renamed, renaming

# It begins where a word does: to look from each of its letters on takes time that grows squared.
_ADDRESS = re.compile(r"(?<![^@\s,/])([^@\s,/]+)@[^@\s,/]+\.[^@\s.,/]+")


def short_names(annotators: Iterable[str]) -> dict[str, str]:
    """Shorten e-mail addresses of annotators to what is before the @, numbered if it is taken.

    Examples
    --------
    >>> short_names(["ada@a.org", "ada@b.org", "ben", "ben@a.org", "@cleo"])
    {'ada@a.org': 'ada', 'ada@b.org': 'ada 2', 'ben@a.org': 'ben 2'}
    """
    listed = list(annotators)
    addresses = [name for name in listed if _ADDRESS.search(name)]
    taken = set(listed) - set(addresses)
    found = {}
    numbers: dict[str, int] = {}
    for address in addresses:
        # More may follow, such as the column of a file that is named after its annotator.
        name = short = _ADDRESS.sub(r"\1", address)
        while name in taken:
            numbers[short] = numbers.get(short, 1) + 1
            name = _ADDRESS.sub(rf"\1 {numbers[short]}", address)
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
    found = (address for name in short for address in _ADDRESS.finditer(name))
    in_file = renaming({**{address[0]: address[1] for address in found}, **short})
    notes = tuple(renamed(note, short, in_file) for note in corpus.notes)
    if is_noted:
        what = "annotators are named by the part of their e-mail address before the @"
        notes = (*notes, Note(what))
    inputs = tuple(replace(item, name=in_file(item.name)) for item in corpus.inputs)
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


def with_short_paths(corpus: Corpus, paths: Iterable[str]) -> Corpus:
    """Show files without the folders that hold them, unless the path was given from here."""
    short = short_paths(paths)
    if not short:
        return corpus
    without = renaming(short)
    inputs = tuple(replace(item, name=without(item.name)) for item in corpus.inputs)
    notes = tuple(replace(note, where=without(note.where)) for note in corpus.notes)
    return replace(corpus, inputs=inputs, notes=notes)


def short_paths(paths: Iterable[str]) -> dict[str, str]:
    """Shorten each absolute path to its last part, after its folder where two would be equal.

    Examples
    --------
    >>> short_paths(["/home/ada/x.csv", "/home/ben/x.csv", "/home/y.csv", "data/z.csv"])
    {'/home/ada/x.csv': 'ada/x.csv', '/home/ben/x.csv': 'ben/x.csv', '/home/y.csv': 'y.csv'}
    """
    found = file_names([str(Path(path)) for path in paths])
    return {path: name for path, name in found.items() if Path(path).is_absolute()}


def file_names(paths: list[str]) -> dict[str, str]:
    r"""Shorten each path that has folders to its last part, after its folder if need be.

    Examples
    --------
    >>> file_names(["/home/x.csv", "a/y.csv", "b/y.csv", "z.csv", r"C:\data\w.csv"])
    {'/home/x.csv': 'x.csv', 'a/y.csv': 'a/y.csv', 'b/y.csv': 'b/y.csv', 'C:\\data\\w.csv': 'w.csv'}
    """
    parts = {path: _parts(path) for path in paths}
    ends = Counter(last for *_, last in parts.values())
    return {
        path: names[-1] if ends[names[-1]] == 1 else "/".join(names[-2:])
        for path, names in parts.items()
        if names[-1] != path
    }


def _parts(path: str) -> tuple[str, ...]:
    """Split the path of a file, of any system, into its folders and its name."""
    pure = PureWindowsPath(path) if PureWindowsPath(path).drive else PurePosixPath(path)
    return tuple(part for part in pure.parts if part != pure.anchor) or (path,)


def hide_addresses(error: BeyondChanceError) -> None:
    """Name annotators in an error by the part of their e-mail address before the @.

    Examples
    --------
    >>> error = BeyondChanceError(Quote("ada@x.org"), " is there twice")
    >>> hide_addresses(error)
    >>> print(error)
    'ada' is there twice
    """
    error.rewrite(_without_address)


def _without_address(piece: Piece) -> Piece:
    if not isinstance(piece, Quote) or piece.is_given:
        return piece
    address = _ADDRESS.fullmatch(str(piece.value))
    return piece if address is None else replace(piece, value=address[1])
