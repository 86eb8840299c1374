"""Tag sequences in files: which scheme they follow, and the spans that they stand for."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence, Set as AbstractSet

import numpy as np

from beyondchance.annotations.tags import DecodedTags, decode_tags
from beyondchance.io.options import Reading
from beyondchance.messages import Use
from beyondchance.types import Ints

TAG = re.compile(r"O|[BIELSUM](-\S.*)?")
"""What a tag looks like, whatever its scheme."""
Marks = list[tuple[int, int, str]]
"""The spans of one text: start, end and label."""


def decoded(
    tags: Sequence[str],
    lengths: Ints,
    reading: Reading,
    *,
    file: str,
    annotator: str,
    where: Callable[[int, int], str],
) -> DecodedTags:
    """Find the spans of texts whose tags lie end to end, as the options say.

    Parameters
    ----------
    tags : sequence of str
        The tags of all texts, one text after the other.
    lengths : array of int, shape (texts,)
        How many tags each text has.
    reading : Reading
        Its notes, counters and signed choices are added to.
    file, annotator : str
        What a note on the scheme is about.
    where : function of a text and a place in it
        Names the place in error messages.
    """
    scheme: str | None = reading.options["scheme"]
    if scheme is None:
        ends = np.cumsum(lengths).tolist()
        sequences = (tags[end - n : end] for n, end in zip(lengths.tolist(), ends, strict=True))
        scheme = detected_scheme(sequences)
        reading.note("tags read as ", scheme, where=file, who=annotator)
    reading.schemes.add(scheme)
    reading.signed["scheme"] = "+".join(sorted(reading.schemes))
    repair = reading.options["repair"]
    found = decode_tags(tags, lengths, scheme=scheme, repair=repair, where=where)
    if found.n_repaired:
        reading.skipped[f"tags repaired by {repair}"] += found.n_repaired
    return found


def note_columns(columns: Iterable[Iterable[str]], reading: Reading, *, file: str) -> None:
    """Tell if columns between the token and the last hold tags as well.

    `columns` are the distinct cells of each column.
    """
    *others, (last, _) = enumerate(columns, start=1)
    also = [
        str(number)
        for number, cells in others[1:]
        if all(map(TAG.fullmatch, cells)) and any("-" in cell for cell in cells)
    ]
    if also:
        reading.note(
            f"read from the last column; column {' and '.join(also)} holds tags too (",
            Use("tag_column", ",".join([*also, str(last)])),
            " reads each as an annotator)",
            where=file,
        )


def marks_of(found: DecodedTags, n_texts: int) -> Iterator[Marks]:
    """The spans of one text after the other."""
    marks: list[Marks] = [[] for _ in range(n_texts)]
    columns = (found.text, found.start, found.end, found.label)
    for text, start, end, label in zip(*(column.tolist() for column in columns), strict=True):
        marks[text].append((start, end, found.labels[label]))
    return iter(marks)


def detected_scheme(sequences: Iterable[Sequence[str]]) -> str:
    """The scheme that tag sequences follow, by their prefixes and where spans begin.

    Examples
    --------
    >>> detected_scheme([["B-X", "I-X", "O", "B-Y"]])
    'IOB2'
    >>> detected_scheme([["I-X", "I-X", "B-X", "O"]])
    'IOB1'
    >>> detected_scheme([["B-X", "E-X", "S-Y"]])
    'BIOES'
    """
    # There are few distinct pairs of neighbours, however many tags there are.
    pairs: Counter[tuple[str, str]] = Counter()
    for tags in sequences:
        pairs.update(zip(("O", *tags), tags, strict=False))
    prefixes: set[str] = set()
    begin_adjoins = begin_alone = False
    for before, tag in pairs:
        if tag != "O":
            prefixes.add(tag[:1])
            adjoins = before != "O" and before[1:] == tag[1:]
            begin_adjoins |= tag[:1] == "B" and adjoins
            begin_alone |= tag[:1] == "B" and not adjoins
    scheme = scheme_with_ends(prefixes)
    if scheme is not None:
        return scheme
    if "I" in prefixes and not begin_alone:
        return "IOB1" if begin_adjoins else "IO"
    return "IOB2"


def scheme_with_ends(prefixes: AbstractSet[str]) -> str | None:
    """The scheme that these prefixes belong to, if it marks ends and single tokens."""
    if prefixes & {"L", "U"}:
        return "BILOU"
    if prefixes & {"E", "S", "M"}:
        return "BMES" if "M" in prefixes else "BIOES"
    return None
