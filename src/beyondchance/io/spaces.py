"""Texts whose runs of white space are one space each, and offsets in both texts.

Programs that indent a file, or show it as a page, change white space and nothing else. Texts
without such differences can be compared and searched.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Sequence
from dataclasses import dataclass

_RUN = re.compile(r"\s+")


@dataclass(frozen=True, slots=True)
class Collapsed:
    """A text with one space for each run of white space, and none at its ends.

    Attributes
    ----------
    text : str
    limits, ends : sequence of int
        Of each run that became shorter, the offsets in the full text up to which it was kept,
        and where it ends.
    own_ends : sequence of int
        Where it ends in this text.
    """

    text: str
    limits: Sequence[int]
    ends: Sequence[int]
    own_ends: Sequence[int]

    def inside(self, offset: int) -> int:
        """Return the offset in this text of an offset in the full text."""
        number = bisect_right(self.ends, offset)
        if number < len(self.limits):
            offset = min(offset, self.limits[number])
        return offset - self._removed(number)

    def outside(self, offset: int) -> int:
        """Return the offset in the full text of a character of this text."""
        return offset + self._removed(bisect_right(self.own_ends, offset))

    def _removed(self, number: int) -> int:
        """Return how many characters the first so many runs have lost."""
        return self.ends[number - 1] - self.own_ends[number - 1] if number else 0


def collapsed(text: str) -> Collapsed:
    r"""Make one space of each run of white space, and nothing of it at the ends.

    Examples
    --------
    >>> found = collapsed("  Ada\n  met Bo ")
    >>> found.text, found.inside(8), found.outside(4)
    ('Ada met Bo', 4, 8)
    """
    parts: list[str] = []
    limits: list[int] = []
    ends: list[int] = []
    own_ends: list[int] = []
    last = removed = 0
    for match in _RUN.finditer(text):
        start, end = match.span()
        kept = " " if start > 0 and end < len(text) else ""
        parts += text[last:start], kept
        last = end
        if end - start > len(kept):
            removed += end - start - len(kept)
            limits.append(start + len(kept))
            ends.append(end)
            own_ends.append(end - removed)
    parts.append(text[last:])
    return Collapsed("".join(parts), limits, ends, own_ends)
