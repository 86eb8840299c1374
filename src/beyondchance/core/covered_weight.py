"""Draw how much weight random spans cover.

Positions of a text have weights, such as how many others marked them. Spans of given lengths are
placed at random, apart from one another, every arrangement being equally likely; what they cover
adds up.
"""

from __future__ import annotations

from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.core.draws import disjoint_starts
from beyondchance.core.ragged import largest
from beyondchance.types import Ints

_MANY_SPANS = 64
"""Spans from which on texts are drawn one by one; with fewer, each two spans are compared."""


def sampled_weights(
    n: Ints, lengths: Ints, begin: Ints, before: Ints, *, draws: int, rng: np.random.Generator
) -> Ints:
    """Draw the weight that random spans cover, in several texts with as many spans each.

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
