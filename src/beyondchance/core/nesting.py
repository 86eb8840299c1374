"""Spans inside spans.

Spans that share a line are *nested* when any two of them are either disjoint or one
inside the other. A span that begins or ends with another lies inside the longer one.
Of two equal spans the second is taken to lie inside the first; where that matters,
they have different labels, and then it does not matter which is which. Spans *cross* if
they share a position, and each has one that the other has not.
"""

from __future__ import annotations

from typing import NamedTuple

import numpy as np

from beyondchance.core.ragged import distinct, largest
from beyondchance.types import Ints


class Nesting(NamedTuple):
    """Which span lies in which.

    Attributes
    ----------
    parent : array of int, shape (spans,)
        The smallest span around each span; -1 if there is none.
    depth : array of int, shape (spans,)
        1 for the outermost spans, 2 for those inside them, and so on.
    overlap : tuple of int, optional
        The first two spans that share a position.
    crossing : tuple of int, optional
        The first two spans that cross.
    crossed : array of int
        The lines on which spans cross, ascending. There, parents and depths are incomplete.
    """

    parent: Ints
    depth: Ints
    overlap: tuple[int, int] | None
    crossing: tuple[int, int] | None
    crossed: Ints


def nesting(line: Ints, start: Ints, end: Ints) -> Nesting:
    """Find out which spans lie inside others, layer by layer.

    Parameters
    ----------
    line, start, end : arrays of int, shape (spans,)
        In any order; of equal spans on one line the first is taken as the outer one.

    Examples
    --------
    [0, 5) holds [0, 2) and [2, 4), and [3, 4) is in the second of them.

    >>> zero = np.zeros(4, dtype=np.int64)
    >>> found = nesting(zero, np.array([0, 0, 2, 3]), np.array([5, 2, 4, 4]))
    >>> found.parent.tolist(), found.depth.tolist(), found.crossing
    ([-1, 0, 0, 2], [1, 2, 2, 3], None)
    >>> nesting(zero[:2], np.array([0, 2]), np.array([3, 5])).crossing
    (0, 1)
    """
    parent = np.full(len(line), -1)
    depth = np.ones(len(line), dtype=np.int64)
    overlap: tuple[int, int] | None = None
    crossing: tuple[int, int] | None = None
    crossed = np.zeros(0, dtype=np.int64)
    # Most spans come in order, each behind the one before it or on a later line.
    is_later, is_same = line[1:] > line[:-1], line[1:] == line[:-1]
    if (is_later | (is_same & (start[1:] >= end[:-1]))).all():
        return Nesting(parent, depth, None, None, crossed)
    span = outer_first(line, start, end)
    inside = line[span]
    while len(span):
        # Everything that has the same line, or the same span around it, stands in a row.
        begins = np.diff(inside, prepend=-1) != 0
        offset = np.cumsum(begins) * (int(end.max()) + 1)
        furthest = np.maximum.accumulate(offset + end[span])
        before = np.concatenate([[0], furthest[:-1]]) - offset
        is_outer = start[span] >= before
        outer = span[np.maximum.accumulate(np.where(is_outer, np.arange(len(span)), 0))]
        if overlap is None and not is_outer.all():
            first = int(np.argmin(is_outer))
            overlap = int(outer[first]), int(span[first])
        crosses = ~is_outer & (end[span] > before)
        is_inner = ~is_outer
        if crosses.any():
            first = int(np.argmax(crosses))
            crossing = crossing or (int(outer[first]), int(span[first]))
            crossed = np.union1d(crossed, distinct(line[span[crosses]])[0])
            is_inner &= ~np.isin(line[span], crossed)
        parent[span[is_inner]] = outer[is_inner]
        span = span[is_inner]
        inside = parent[span]
        depth[span] += 1
    return Nesting(parent, depth, overlap, crossing, crossed)


def outer_first(line: Ints, start: Ints, end: Ints) -> Ints:
    """Order spans by line and start, and so that each comes after those around it."""
    return in_order(line, start, -end)


def in_order(line: Ints, start: Ints, end: Ints) -> Ints:
    """Order spans by line, start and end; ends may be negative, to sort the furthest first."""
    stride = largest(np.abs(end)) + 1
    if largest(line) < 2**62 // stride**2:
        return ((line * stride + start) * stride + end).argsort(kind="stable")
    return np.lexsort((end, start, line))
