"""Random annotations by the thousand, and what two of them have in common."""

from __future__ import annotations

from collections.abc import Callable

import numpy as np
from numpy.typing import NDArray

from beyondchance.core.observed import SpanGroups, equal_spans, shared_positions
from beyondchance.types import Floats, Ints

_MASK_BITS = 64
_FEW_SPANS = 16
"""Spans up to which places are drawn one by one."""
_FEW_PAIRS = 64
"""Pairs of spans up to which each is looked at."""


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


def overlapping_starts(n: int, lengths: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Starts of spans that are placed one by one, each uniform on its places.

    Returns
    -------
    array of int, shape (draws, spans)
    """
    return rng.integers(0, n - lengths + 1, size=(draws, len(lengths)))


def nested_starts(
    n: int, lengths: Ints, parents: Ints, draws: int, rng: np.random.Generator
) -> Ints:
    """Starts of spans that are disjoint or lie inside one another.

    Every arrangement of the outermost spans is equally likely, and so is every
    arrangement of the spans inside each span.

    Parameters
    ----------
    parents : array of int, shape (spans,)
        The span in which each span lies, which comes before it; -1 for the text.

    Returns
    -------
    array of int, shape (draws, spans)
    """
    if (parents < 0).all():
        return disjoint_starts(n, lengths, draws, rng)
    starts = np.zeros((draws, len(lengths)), dtype=np.int64)
    for parent in np.unique(parents).tolist():
        inner = np.flatnonzero(parents == parent)
        size = n if parent < 0 else int(lengths[parent])
        starts[:, inner] = disjoint_starts(size, lengths[inner], draws, rng)
        if parent >= 0:
            starts[:, inner] += starts[:, parent, None]
    return starts


def sampled_match(
    n: int,
    a: tuple[Ints, Ints],
    b: tuple[Ints, Ints],
    *,
    matched: Callable[[SpanGroups, Ints, Ints], Ints | Floats],
    overlapping: bool,
) -> Floats:
    """What two random annotations have in common, draw by draw.

    Parameters
    ----------
    n : int
        Positions of the text.
    a, b : (starts, lengths)
        Shapes (size, spans) and (spans,).
    matched : function of groups and two arrays of groups
        The observed match of a measure.
    overlapping : bool
        Whether the spans of one annotation may overlap.

    Returns
    -------
    array of float, shape (size,)

    Examples
    --------
    [0, 2) and [1, 4) share one position, [3, 5) and [0, 3) none.

    >>> a = np.array([[0], [3]]), np.array([2])
    >>> b = np.array([[1], [0]]), np.array([3])
    >>> sampled_match(5, a, b, matched=shared_positions, overlapping=False).tolist()
    [1.0, 0.0]
    """
    (starts_a, lengths_a), (starts_b, lengths_b) = a, b
    n_pairs = len(lengths_a) * len(lengths_b)
    # Short texts and few spans are the rule, and have ways of their own.
    if matched is shared_positions and n <= _MASK_BITS:
        return np.asarray(np.bitwise_count(_masks(*a) & _masks(*b)), dtype=np.float64)
    if matched is equal_spans and not overlapping and n_pairs <= _FEW_PAIRS:
        equal = np.zeros(len(starts_a))
        for i, j in zip(*np.nonzero(lengths_a[:, None] == lengths_b), strict=True):
            equal += starts_a[:, i] == starts_b[:, j]
        return equal
    sides = [_spans(*side, n + 1) for side in (a, b)]
    draw = np.arange(len(starts_a))
    first = [draw * len(lengths_a), starts_a.size + draw * len(lengths_b)]
    groups = SpanGroups(
        first=np.concatenate([*first, [starts_a.size + starts_b.size]]),
        start=np.concatenate([start for start, _ in sides]),
        end=np.concatenate([end for _, end in sides]),
    )
    # Of measures whose sides have a match of their own, that of both comes first.
    found = np.atleast_2d(matched(groups, draw, len(draw) + draw))[0]
    return np.asarray(found, dtype=np.float64)


def _masks(starts: Ints, lengths: Ints) -> NDArray[np.uint64]:
    """Covered positions as the bits of a number."""
    filled = np.array([(1 << length) - 1 for length in lengths.tolist()], dtype=np.uint64)
    bits = filled << starts.astype(np.uint64)
    return np.asarray(np.bitwise_or.reduce(bits, axis=1))


def _spans(starts: Ints, lengths: Ints, stride: int) -> tuple[Ints, Ints]:
    """The spans of every draw, sorted by start and end, one draw after the other.

    All ends are below `stride`.
    """
    code = np.sort(starts * stride + starts + lengths, axis=1)
    start, end = np.divmod(code.reshape(-1), stride)
    return start, end
