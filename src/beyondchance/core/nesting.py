"""Spans inside spans.

Spans that share a line are *nested* when any two of them are either disjoint or one
inside the other. A span that begins or ends with another lies inside the longer one.
Of two equal spans the second is taken to lie inside the first; where that matters,
they have different labels, and then it does not matter which is which.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import TypeAlias

import numpy as np

from beyondchance.types import Ints

Tree: TypeAlias = "tuple[int, int, tuple[Tree, ...]]"
"""A span: its length, a number for what it is compared with (its layer; 0: nothing), and
the spans inside it, sorted."""

Forest: TypeAlias = tuple[Tree, ...]
"""All spans on a line, sorted: whatever chance depends on besides the size of the text."""


@dataclass(frozen=True, slots=True)
class Nesting:
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
        The first two spans that share a position and have one each that they do not
        share. The other attributes are then incomplete.
    """

    parent: Ints
    depth: Ints
    overlap: tuple[int, int] | None
    crossing: tuple[int, int] | None


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
    span = outer_first(line, start, end)
    inside = line[span]
    if np.all((start[span[1:]] >= end[span[:-1]]) | (inside[1:] != inside[:-1])):
        return Nesting(parent, depth, None, None)
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
        if crosses.any():
            first = int(np.argmax(crosses))
            return Nesting(parent, depth, overlap, (int(outer[first]), int(span[first])))
        parent[span[~is_outer]] = outer[~is_outer]
        span = span[~is_outer]
        inside = parent[span]
        depth[span] += 1
    return Nesting(parent, depth, overlap, None)


def depth_among(group: Ints, parent: Ints, depth: Ints) -> Ints:
    """Depth of each span among the spans of its own group only.

    Examples
    --------
    A span of group 0 in one of group 1 in one of group 0.

    >>> depth_among(np.array([0, 1, 0]), np.array([-1, 0, 1]), np.array([1, 2, 3])).tolist()
    [1, 1, 2]
    """
    found = np.ones_like(depth)
    around = parent.copy()
    for _ in range(int(depth.max(initial=1)) - 1):
        found += (around >= 0) & (group[around] == group)
        around = np.where(around >= 0, parent[around], -1)
    return found


def forest(spans: dict[int, tuple[int, int, int]]) -> Forest:
    """The spans of a line as sorted trees.

    Parameters
    ----------
    spans : dict of int to tuple of int
        For each span, after the one around it: that one or -1, its length, its layer.

    Examples
    --------
    >>> forest({0: (-1, 5, 1), 1: (0, 2, 2), 2: (-1, 1, 1)})
    ((1, 1, ()), (5, 1, ((2, 2, ()),)))
    """
    inside: dict[int, list[Tree]] = {}
    for span, (parent, length, layer) in reversed(spans.items()):
        tree = length, layer, tuple(sorted(inside.pop(span, ())))
        inside.setdefault(parent, []).append(tree)
    return tuple(sorted(inside.get(-1, ())))


def flattened(trees: Forest) -> list[tuple[int, int, int]]:
    """Length, layer and parent of every span, each after the one around it: `forest` undone.

    Examples
    --------
    >>> flattened(((1, 1, ()), (5, 1, ((2, 2, ()),))))
    [(1, 1, -1), (5, 1, -1), (2, 2, 1)]
    """
    found: list[tuple[int, int, int]] = []
    waiting = [(tree, -1) for tree in trees]
    for (length, layer, inner), parent in waiting:
        waiting += [(tree, len(found)) for tree in inner]
        found.append((length, layer, parent))
    return found


def outer_first(line: Ints, start: Ints, end: Ints) -> Ints:
    """Order spans by line and start, and so that each comes after those around it."""
    return in_order(line, start, -end)


def in_order(line: Ints, start: Ints, end: Ints) -> Ints:
    """Order spans by line, start and end; ends may be negative, to sort the furthest first."""
    stride = int(np.abs(end).max(initial=0)) + 1
    if int(line.max(initial=0)) < 2**62 // stride**2:
        return np.argsort((line * stride + start) * stride + end, kind="stable")
    return np.lexsort((end, start, line))
