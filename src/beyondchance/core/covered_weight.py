"""How much weight random spans cover: its whole distribution.

Positions of a text have weights, such as how many others marked them. Spans of given lengths are
placed at random, apart from one another, every arrangement being equally likely; what they cover
adds up.
"""

from __future__ import annotations

from collections import Counter

import numpy as np

from beyondchance.core.draws import disjoint_starts
from beyondchance.types import Floats, Ints

MOST_CELLS, MOST_STEPS = 2**18, 2**10
"""Positions times numbers of spans of each length times weights, and positions times lengths, up to
which the distribution is computed exactly: a few milliseconds."""


def is_within_reach(n: int, lengths: Ints, weights: Ints) -> bool:
    """Whether the distribution is computed in milliseconds."""
    kinds = Counter(lengths.tolist())
    cells = n * (int(weights.sum()) + 1)
    for number in kinds.values():
        cells *= number + 1
    return cells <= MOST_CELLS and n * len(kinds) <= MOST_STEPS


def distribution(n: int, lengths: Ints, weights: Ints) -> Floats:
    """The probability that random spans cover a weight of 0, 1, 2, ...

    With :math:`F_x` the arrangements of the first x positions, by the spans of each length that
    they hold and the weight that these cover, :math:`F_x` is :math:`F_{x-1}` (a free position)
    plus, for each length, :math:`F_{x - l}` with one span and its weight more. All terms are
    positive.

    Parameters
    ----------
    n : int
    lengths : array of int, shape (spans,)
        Together no more than n.
    weights : array of int, shape (n,)
        Not negative.

    Examples
    --------
    A span of two in three positions, of which the first counts 1 and the last 2.

    >>> distribution(3, np.array([2]), np.array([1, 0, 2])).tolist()
    [0.0, 0.5, 0.5, 0.0]
    """
    kinds = sorted(Counter(lengths.tolist()).items())
    size = int(weights.sum()) + 1
    before = np.concatenate([[0], np.cumsum(weights)])
    shape = tuple(number + 1 for _, number in kinds)
    tables: list[Floats] = []
    for x in range(n + 1):
        table = np.zeros((*shape, size))
        if not x:
            table[(0,) * len(shape)][0] = 1.0
            tables.append(table)
            continue
        table += tables[x - 1]
        for axis, (length, _) in enumerate(kinds):
            if length > x:
                continue
            weight = int(before[x] - before[x - length])
            one_more = tuple(
                slice(1, None) if i == axis else slice(None) for i in range(len(shape))
            )
            fewer = tuple(slice(None, -1) if i == axis else slice(None) for i in range(len(shape)))
            table[one_more][..., weight:] += tables[x - length][fewer][..., : size - weight]
        # Counts of arrangements grow fast, and only shares matter: all tables have one scale.
        largest = table.max()
        if largest > 1e200:
            tables = [known / largest for known in tables]
            table /= largest
        tables.append(table)
    found = tables[n][tuple(number for _, number in kinds)]
    return np.asarray(found / found.sum())


def sampled_weights(
    n: int, lengths: Ints, weights: Ints, draws: int, rng: np.random.Generator
) -> Ints:
    """The weight that random spans cover, in every draw.

    Spans that together are longer than the text are placed one by one, each by itself.
    """
    before = np.concatenate([[0], np.cumsum(weights)])
    if int(lengths.sum()) <= n:
        starts = disjoint_starts(n, lengths, draws, rng)
    else:
        starts = rng.integers(0, n - lengths + 1, size=(draws, len(lengths)))
    return np.asarray((before[starts + lengths] - before[starts]).sum(axis=1))
