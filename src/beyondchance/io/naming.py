"""Names that can be sent to others: of annotators without addresses, of files without folders."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterable, Mapping
from dataclasses import replace
from pathlib import Path

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note, renamed

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


def with_short_names(corpus: Corpus) -> tuple[Corpus, dict[str, str]]:
    """Rename annotators who have an e-mail address, also in notes and in the names of files.

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
    note = Note("annotators are named by the part of their e-mail address before the @")
    notes = (*(renamed(item, short, short) for item in corpus.notes), note)
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
    """Show files without the folders that hold them, unless the path was given from here.

    The name of the folder is kept where two files would have the same name.
    """
    listed = list(dict.fromkeys(paths))
    if not any(Path(path).is_absolute() for path in listed):
        return corpus
    ends = Counter(Path(path).name if Path(path).is_absolute() else path for path in listed)
    short = {}
    for path in map(Path, listed):
        if path.is_absolute():
            is_one = ends[path.name] == 1
            name = path.name if is_one else f"{path.parent.name}/{path.name}"
            short[str(path)] = name.lstrip("/") or "files"
    inputs = tuple(replace(item, name=_begun(item.name, short)) for item in corpus.inputs)
    notes = tuple(replace(note, where=_begun(note.where, short)) for note in corpus.notes)
    return replace(corpus, inputs=inputs, notes=notes)


def _begun(text: str, names: Mapping[str, str]) -> str:
    """A name with another beginning."""
    # Longest first: one file can be inside another folder that was given.
    for old in sorted(names, key=len, reverse=True):
        if text.startswith(old):
            return f"{names[old]}{text[len(old) :]}"
    return text
