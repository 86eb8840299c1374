"""Random arrangements, and what is estimated from them."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from math import sqrt

import numpy as np

from beyondchance.arrays import Ints
from beyondchance.core.matching import paired
from beyondchance.core.nesting import Forest

_MOST_CELLS = 2**22
"""Pairs of spans, over all draws, that are looked at in one go."""


@dataclass(frozen=True, slots=True)
class Estimate:
    """A mean over random arrangements.

    Attributes
    ----------
    mean, error : float
        The estimate and its standard error.
    stream : int
        Where the random numbers came from: estimates with the same stream are equal.
    least : int
        The smallest value among the draws.
    """

    mean: float
    error: float
    stream: int
    least: int


def disjoint_starts(n: int, lengths: Ints, draws: int, rng: np.random.Generator) -> Ints:
    """Starts of spans that do not overlap, every arrangement equally likely.

    The spans are put in random order and the free positions are spread over the gaps
    around them, every way of spreading being equally likely: a Dirichlet-multinomial
    with all parameters 1. The cost does not depend on n.

    Returns
    -------
    array of int, shape (draws, spans)
    """
    k = len(lengths)
    order = rng.permuted(np.tile(np.arange(k), (draws, 1)), axis=1)
    shares = rng.dirichlet(np.ones(k + 1), size=draws)
    gaps = rng.multinomial(n - int(lengths.sum()), shares)
    ends = np.cumsum(gaps[:, :k] + lengths[order], axis=1)
    starts = np.empty((draws, k), dtype=np.int64)
    np.put_along_axis(starts, order, ends - lengths[order], axis=1)
    return starts


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
    starts = np.zeros((draws, len(lengths)), dtype=np.int64)
    for parent in np.unique(parents).tolist():
        inner = np.flatnonzero(parents == parent)
        size = n if parent < 0 else int(lengths[parent])
        starts[:, inner] = disjoint_starts(size, lengths[inner], draws, rng)
        if parent >= 0:
            starts[:, inner] += starts[:, parent, None]
    return starts


def sampled_partners(
    n: int, a: Forest, b: Forest, *, overlapping: bool, theta: float, samples: int, seed: int
) -> Estimate:
    """Estimate how many spans can be paired one to one at IoU > theta, layer by layer.

    The random numbers depend on what is asked and on nothing else.
    """
    sides = sorted((a, b))
    question = repr((seed, samples, theta, overlapping, n, sides))
    stream = int.from_bytes(blake2b(question.encode(), digest_size=7).digest(), "big")
    rng = np.random.default_rng(stream)
    drawn = []
    for side in sides:
        lengths, layers, parents = np.array(_flat(side)).T
        if overlapping:
            starts = overlapping_starts(n, lengths, samples, rng)
        else:
            starts = nested_starts(n, lengths, parents, samples, rng)
        drawn.append((starts, lengths, layers))
    (start_a, a_lengths, a_layers), (start_b, b_lengths, b_layers) = drawn
    count = np.zeros(samples, dtype=np.int64)
    for layer in range(1, int(min(a_layers.max(), b_layers.max())) + 1):
        one, two = a_layers == layer, b_layers == layer
        count += _partners(
            start_a[:, one], a_lengths[one], start_b[:, two], b_lengths[two], theta=theta
        )
    # As if one more draw had differed by one: draws that are all alike prove nothing.
    squares = float(((count - count.mean()) ** 2).sum()) + 1
    error = sqrt(squares / (samples * (samples - 1)))
    return Estimate(float(count.mean()), error, stream, int(count.min()))


def _flat(trees: Forest) -> list[tuple[int, int, int]]:
    """Length, layer and parent of every span, each after the one around it.

    Examples
    --------
    >>> _flat(((1, 1, ()), (5, 1, ((2, 2, ()),))))
    [(1, 1, -1), (5, 1, -1), (2, 2, 1)]
    """
    found: list[tuple[int, int, int]] = []
    waiting = [(tree, -1) for tree in trees]
    for (length, layer, inner), parent in waiting:
        waiting += [(tree, len(found)) for tree in inner]
        found.append((length, layer, parent))
    return found


def _partners(start_a: Ints, a: Ints, start_b: Ints, b: Ints, *, theta: float) -> Ints:
    """Spans that can be paired in each draw."""
    step = max(_MOST_CELLS // (len(a) * len(b)), 1)
    sizes = []
    for begin in range(0, len(start_a), step):
        left = start_a[begin : begin + step, :, None]
        right = start_b[begin : begin + step, None, :]
        shared = np.minimum(left + a[:, None], right + b) - np.maximum(left, right)
        close = (shared > 0) & (shared / (a[:, None] + b - shared) > theta)
        draw, one, two = np.nonzero(close)
        sizes.append(paired(draw, one, two, len(left)))
    return np.concatenate(sizes)
