"""Random arrangements of spans, by the thousand, and how much weight they cover."""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.core.ragged import largest, rows_by_value
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
    return _starts(place[:, None], lengths[None])[:, 0].T


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


_MANY_SPANS = 64
"""Spans from which on texts are drawn one by one; with fewer, each two spans are compared."""


def sampled_weights(
    n: Ints, lengths: Ints, begin: Ints, before: Ints, *, draws: int, rng: np.random.Generator
) -> Ints:
    """Draw the weight that random spans cover, in several texts with as many spans each.

    Positions of a text have weights, such as how many others marked them. Spans are placed apart
    from one another, every arrangement being equally likely; what they cover adds up.
    Spans that together are longer than their text are placed one by one, each by itself.

    Parameters
    ----------
    n : array of int, shape (texts,)
        Positions of each text.
    lengths : array of int, shape (texts, spans)
    begin : array of int, shape (texts,)
        Where each text begins in `before`.
    before : array of int
        The weight of all positions before each one, texts lying end to end.
    draws : int

    Returns
    -------
    array of int, shape (texts, draws)

    Examples
    --------
    A span of two in three positions, of which the first counts 1 and the last 2.

    >>> text = np.array([3]), np.array([[2]]), np.array([0]), np.array([0, 1, 1, 3])
    >>> (drawn,) = sampled_weights(*text, draws=50, rng=np.random.default_rng(1))
    >>> sorted(set(drawn.tolist()))
    [1, 2]
    """
    k = lengths.shape[1]
    n_free = n - lengths.sum(axis=1)
    is_apart = n_free >= 0
    room = np.where(
        is_apart[:, None], n_free[:, None] + np.arange(k, 0, -1), n[:, None] - lengths + 1
    )
    drawn = rng.random((k, len(n), draws))
    drawn *= room.T[:, :, None]
    # The smallest type that holds the positions of all texts: most of the time goes into memory.
    start = drawn.astype(np.min_scalar_type(-largest(n) - 1))
    apart = np.flatnonzero(is_apart)
    if k >= _MANY_SPANS:
        for i in apart.tolist():
            start[:, i] = disjoint_starts(int(n[i]), lengths[i], draws, rng).T
    else:
        start[:, apart] = _starts(start[:, apart], lengths[apart].astype(start.dtype))
    found = np.zeros((len(n), draws), dtype=np.int64)
    for own, length in zip(start, lengths.T, strict=True):
        place = own + begin[:, None]
        found -= before.take(place)
        place += length[:, None]
        found += before.take(place)
    return found


def _starts(place: NDArray[Any], lengths: NDArray[Any]) -> NDArray[Any]:
    """Compute the starts of spans whose places were drawn among those that earlier spans left.

    Spans and free positions are items in random order (see `disjoint_starts`).

    Parameters
    ----------
    place : array of int, shape (spans, texts, draws)
    lengths : array of int, shape (texts, spans)
    """
    ascending: list[NDArray[Any]] = []
    for i in range(len(place)):
        # The places that are taken are stepped over, from the lowest to the highest.
        for taken in ascending:
            place[i] += place[i] >= taken
        last = place[i]
        for j, taken in enumerate(ascending):
            ascending[j], last = np.minimum(taken, last), np.maximum(taken, last)
        ascending.append(last)
    start = place.copy()
    more = lengths.T[:, :, None] - 1
    for i in range(len(place)):
        for j in range(i):
            is_before = place[j] < place[i]
            start[i] += is_before * more[j]
            start[j] += ~is_before * more[i]
    return start
