"""Random arrangements of spans, by the thousand."""

from __future__ import annotations

import numpy as np

from beyondchance.core.ragged import rows_by_value
from beyondchance.core.span_trees import FREE, Nodes
from beyondchance.types import Ints

_FEW_SPANS = 16
"""Spans up to which places are drawn one by one."""


def disjoint_starts(n: int, lengths: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Draw arrangements of disjoint spans, every one equally likely.

    The spans and the free positions are items in random order. A few spans draw places among
    them, each one of those that the spans before it have left; where a span starts follows
    from which others have a place before it. Many are put in random order, and the free
    positions are spread over the gaps around them, every way of spreading being equally
    likely: a Dirichlet-multinomial with all parameters 1. The cost does not depend on n.

    Returns
    -------
    array of int, shape (draws, spans)

    Examples
    --------
    Spans of 2 and 3 fill five positions in one order or in the other.

    >>> starts = disjoint_starts(5, np.array([2, 3]), 50, np.random.default_rng(1))
    >>> sorted(set(map(tuple, starts.tolist())))
    [(0, 2), (3, 0)]
    """
    k = len(lengths)
    n_free = n - int(lengths.sum())
    if k > _FEW_SPANS:
        order = rng.permuted(np.tile(np.arange(k), (draws, 1)), axis=1)
        gaps = rng.multinomial(n_free, rng.dirichlet(np.ones(k + 1), draws))
        ends = np.cumsum(gaps[:, :k] + lengths[order], axis=1)
        starts = np.empty((draws, k), dtype=np.int64)
        np.put_along_axis(starts, order, ends - lengths[order], axis=1)
        return starts
    place = np.empty((k, draws), dtype=np.int64)
    for i in range(k):
        place[i] = rng.integers(0, n_free + k - i, draws)
        # The places that are taken are stepped over, from the lowest to the highest.
        for taken in np.sort(place[:i], axis=0):
            place[i] += place[i] >= taken
    start = place.copy()
    for i in range(k):
        for j in range(k):
            start[i] += (place[j] < place[i]) * (lengths[j] - 1)
    return start.T


def overlapping_starts(n: int, nodes: Nodes, draws: int, rng: np.random.Generator) -> Ints:
    """Draw starts of spans that are placed one by one, each uniform on its places.

    No span lies in a parent.

    Returns
    -------
    array of int, shape (draws, spans)
    """
    return rng.integers(0, n - nodes.length + 1, size=(draws, len(nodes.length)))


def starts_on_lines(n: int, nodes: Nodes, draws: int, rng: np.random.Generator) -> Ints:
    """Draw starts of nodes that are disjoint, lie inside one another, or are fixed in one another.

    Every arrangement of the outermost nodes is equally likely, and so is every
    arrangement of the nodes that are placed at random inside each node.

    Returns
    -------
    array of int, shape (draws, nodes)
    """
    lengths, parents, offsets = nodes
    if (parents < 0).all():
        return disjoint_starts(n, lengths, draws, rng)
    starts = np.zeros((draws, len(lengths)), dtype=np.int64)
    for inner in rows_by_value(parents):
        parent = int(parents[inner[0]])
        size = n if parent < 0 else int(lengths[parent])
        is_free = offsets[inner] == FREE
        free, fixed = inner[is_free], inner[~is_free]
        starts[:, free] = disjoint_starts(size, lengths[free], draws, rng)
        starts[:, fixed] = offsets[fixed]
        if parent >= 0:
            starts[:, inner] += starts[:, parent, None]
    return starts
