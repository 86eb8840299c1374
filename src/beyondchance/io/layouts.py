"""What all rows of a file of tokens and tags decide, for readers that are given some of them.

Which columns hold tags, and by which scheme, follows from all rows. Of a file that is read in
parts it is found out when it is cut, so that every part is read as the whole would be.
"""

from __future__ import annotations

from collections.abc import Iterable
from dataclasses import dataclass

from beyondchance.annotations.tags import scheme_with_ends
from beyondchance.io.sources import Source


@dataclass(frozen=True)
class Layout:
    """What all rows of a file decide.

    Attributes
    ----------
    widths : frozenset of int
        How many columns files have that end with gold standard and system.
    tags : frozenset of int
        The columns that hold tags: all of their cells, or most where a header names them.
    schemes : tuple of (int, str)
        The schemes of columns.
    is_numbered : bool
        Whether the first column numbers the tokens.
    """

    widths: frozenset[int] = frozenset()
    tags: frozenset[int] = frozenset()
    schemes: tuple[tuple[int, str], ...] = ()
    is_numbered: bool = False

    def scheme_of(self, column: int) -> str | None:
        """The scheme of a column, if it is known."""
        return dict(self.schemes).get(column)


@dataclass(frozen=True, eq=False)
class Stretch(Source):
    """Some lines of a file of tokens and tags.

    Attributes
    ----------
    layout : Layout, optional
    """

    layout: Layout | None = None


def layout_of(source: Source) -> Layout | None:
    """What is known of the whole file, where a source has some of its lines."""
    return source.layout if isinstance(source, Stretch) else None


def scheme_of_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """The scheme of tags, from each tag with the one before, which is O for the first of a text.

    Examples
    --------
    >>> scheme_of_pairs([("O", "I-X"), ("I-X", "B-X")]), scheme_of_pairs([("O", "B-X")])
    ('IOB1', 'IOB2')
    """
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
