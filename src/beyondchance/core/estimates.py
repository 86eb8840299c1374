"""What is estimated from random arrangements."""

from __future__ import annotations

from dataclasses import dataclass
from hashlib import blake2b
from math import sqrt

import numpy as np

from beyondchance.core.draws import nested_starts, overlapping_starts
from beyondchance.core.nesting import Forest, flattened
from beyondchance.core.observed import paired
from beyondchance.types import Ints

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
        lengths, layers, parents = np.array(flattened(side)).T
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
