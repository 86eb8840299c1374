"""Observed match: what two annotations of one text have in common."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beyondchance.arrays import Ints
from beyondchance.core.ragged import bounds, distinct, spread, total


@dataclass(frozen=True, slots=True)
class SpanGroups:
    """Spans in groups: those of one annotator with one label in one text.

    Attributes
    ----------
    first : array of int, shape (groups + 1,)
        Group g owns the spans ``first[g]:first[g + 1]``, sorted by start, then end.
    start, end : arrays of int, shape (spans,)
        Half-open.
    """

    first: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.first) - 1

    def owner(self) -> Ints:
        """The group of each span."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))


def covered(groups: SpanGroups) -> Ints:
    """Total length of each group's spans."""
    length = groups.end - groups.start
    return total(groups.owner(), length, len(groups)).astype(np.int64)


def counted(groups: SpanGroups) -> Ints:
    """Number of spans of each group."""
    return np.diff(groups.first)


def shared_positions(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Positions that group a and group b both cover, pair by pair.

    The spans of a group do not overlap. For each span of a, what b covers before
    its end minus what b covers before its start.

    Examples
    --------
    [0, 3) and [2, 5) share one position.

    >>> groups = SpanGroups(np.array([0, 1, 2]), np.array([0, 2]), np.array([3, 5]))
    >>> shared_positions(groups, np.array([0]), np.array([1])).tolist()
    [1]
    """
    pair, place = spread(np.diff(groups.first)[a])
    span = groups.first[a][pair] + place
    stride = int(groups.end.max(initial=0)) + 1
    begins = groups.owner() * stride + groups.start
    covered_before = np.concatenate([[0], np.cumsum(groups.end - groups.start)])
    other = b[pair]

    def covered_by_other(x: Ints) -> Ints:
        last = np.searchsorted(begins, other * stride + x, side="right") - 1
        inside = np.minimum(x, groups.end[last]) - groups.start[last]
        until = covered_before[last] - covered_before[groups.first[other]] + inside
        return np.where(last >= groups.first[other], until, 0)

    overlap = covered_by_other(groups.end[span]) - covered_by_other(groups.start[span])
    return total(pair, overlap, len(a)).astype(np.int64)


def shared_levels(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Sum over positions of the smaller of the two counts, pair by pair.

    For spans that may overlap. The positions that a group holds at least m times
    are its level m, and level m of one is met by level m of the other.

    Examples
    --------
    [0, 4) and [1, 3) against [0, 2) and [1, 2): counts 1221 and 1200.

    >>> groups = SpanGroups(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([4, 3, 2, 2]))
    >>> shared_levels(groups, np.array([0]), np.array([1])).tolist()
    [3]
    """
    levels, first_level = _levels(groups)
    n_levels = np.diff(first_level)
    pair, level = spread(np.minimum(n_levels[a], n_levels[b]))
    shared = shared_positions(levels, first_level[a][pair] + level, first_level[b][pair] + level)
    return total(pair, shared, len(a)).astype(np.int64)


def _levels(groups: SpanGroups) -> tuple[SpanGroups, Ints]:
    """Cut each group into levels of disjoint intervals.

    A start that makes the count m opens an interval of level m, and the next end
    that makes it m - 1 closes it.
    """
    owner = groups.owner()
    group = np.concatenate([owner, owner])
    where = np.concatenate([groups.start, groups.end])
    change = np.repeat([1, -1], len(owner))
    order = np.lexsort((change, where, group))
    group, where, change = group[order], where[order], change[order]
    # Every group's changes add up to zero, so the running count needs no reset.
    level = np.cumsum(change) - (change > 0)
    height = np.zeros(len(groups), dtype=np.int64)
    np.maximum.at(height, group, level + 1)
    first_level = np.concatenate([[0], np.cumsum(height)])
    row = first_level[group] + level
    order = np.lexsort((where, row))
    opened = order[change[order] > 0]
    closed = order[change[order] < 0]
    return (
        SpanGroups(bounds(row[opened], int(first_level[-1])), where[opened], where[closed]),
        first_level,
    )


def equal_spans(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Spans with the same start and end in group a and in group b, pair by pair.

    Examples
    --------
    >>> groups = SpanGroups(np.array([0, 2, 4]), np.array([0, 4, 0, 5]), np.array([2, 6, 2, 6]))
    >>> equal_spans(groups, np.array([0]), np.array([1])).tolist()
    [1]
    """
    stride = int(groups.end.max(initial=0)) + 1
    shape = distinct(groups.start * stride + groups.end)[1]
    n_shapes = int(shape.max(initial=0)) + 1
    known = groups.owner() * n_shapes + shape
    pair, place = spread(np.diff(groups.first)[a])
    wanted = b[pair] * n_shapes + shape[groups.first[a][pair] + place]
    found = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return total(pair, known[found] == wanted, len(a)).astype(np.int64)
