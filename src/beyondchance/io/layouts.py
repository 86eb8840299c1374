"""What all rows of a file of tokens and tags decide, for readers that are given a piece of it.

Which columns hold tags, and by which scheme, follows from all rows. It is found out when the file
is cut, so that every piece is read as the whole would be.
"""

from __future__ import annotations

from dataclasses import dataclass


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
