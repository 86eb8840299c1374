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
    runs : sequence of (limit, end, removed)
        The runs that became shorter: the offset in the full text up to which one was kept,
        the offset where it ends, and how many characters were removed up to there.
    """

    text: str
    runs: Sequence[tuple[int, int, int]]

    def inside(self, offset: int) -> int:
        """The offset in this text of an offset in the full text."""
        number = bisect_right(self.runs, offset, key=lambda run: run[1])
        if number < len(self.runs):
            offset = min(offset, self.runs[number][0])
        return offset - (self.runs[number - 1][2] if number else 0)

    def outside(self, offset: int) -> int:
        """The offset in the full text of a character of this text."""
        number = bisect_right(self.runs, offset, key=lambda run: run[1] - run[2])
        return offset + (self.runs[number - 1][2] if number else 0)


def collapsed(text: str) -> Collapsed:
    r"""Make one space of each run of white space, and nothing of it at the ends.

    Examples
    --------
    >>> found = collapsed("  Ada\n  met Bo ")
    >>> found.text, found.inside(8), found.outside(4)
    ('Ada met Bo', 4, 8)
    """
    parts: list[str] = []
    runs: list[tuple[int, int, int]] = []
    last = removed = 0
    for match in _RUN.finditer(text):
        start, end = match.span()
        kept = " " if start > 0 and end < len(text) else ""
        parts += text[last:start], kept
        last = end
        if end - start > len(kept):
            removed += end - start - len(kept)
            runs.append((start + len(kept), end, removed))
    parts.append(text[last:])
    return Collapsed("".join(parts), runs)
