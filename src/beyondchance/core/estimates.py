"""What two random annotations have in common, draw by draw and on average."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from hashlib import blake2b
from math import sqrt

import numpy as np
from numpy.typing import NDArray

from beyondchance.core.models import Model
from beyondchance.core.nesting import Forest, flattened
from beyondchance.core.observed import SpanGroups, equal_spans, paired, shared_positions
from beyondchance.types import Floats, Ints

_MASK_BITS = 64
_FEW_PAIRS = 64
"""Pairs of spans up to which they are compared one by one."""

_MOST_CELLS = 2**22
"""Pairs of spans, over all draws, that are compared at a time."""


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
    n: int, a: Forest, b: Forest, *, model: Model, theta: float, samples: int, seed: int
) -> Estimate:
    """Estimate how many spans can be paired one to one at IoU > theta, layer by layer.

    The random numbers depend on what is asked and on nothing else.
    """
    sides = sorted((a, b))
    question = repr((seed, samples, theta, model.is_independent, n, sides))
    stream = int.from_bytes(blake2b(question.encode(), digest_size=7).digest(), "big")
    rng = np.random.default_rng(stream)
    drawn = []
    for side in sides:
        lengths, layers, parents = np.array(flattened(side)).T
        drawn.append((model.draw(n, lengths, parents, samples, rng), lengths, layers))
    (start_a, a_lengths, a_layers), (start_b, b_lengths, b_layers) = drawn
    count = np.zeros(samples, dtype=np.int64)
    for layer in range(1, int(min(a_layers.max(), b_layers.max())) + 1):
        one, two = a_layers == layer, b_layers == layer
        count += _partners(
            start_a[:, one], a_lengths[one], start_b[:, two], b_lengths[two], theta=theta
        )
    # As if one more draw had differed by one: equal draws do not prove that all are equal.
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


def sampled_match(
    n: int,
    a: tuple[Ints, Ints],
    b: tuple[Ints, Ints],
    *,
    matched: Callable[[SpanGroups, Ints, Ints], Ints | Floats],
    model: Model,
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
    model : Model
        How the spans were drawn.

    Returns
    -------
    array of float, shape (size,)

    Examples
    --------
    [0, 2) and [1, 4) share one position, [3, 5) and [0, 3) none.

    >>> a = np.array([[0], [3]]), np.array([2])
    >>> b = np.array([[1], [0]]), np.array([3])
    >>> from beyondchance.core.models import MODELS
    >>> disjoint = MODELS["disjoint"]
    >>> sampled_match(5, a, b, matched=shared_positions, model=disjoint).tolist()
    [1.0, 0.0]
    """
    (starts_a, lengths_a), (starts_b, lengths_b) = a, b
    n_pairs = len(lengths_a) * len(lengths_b)
    # Short texts and few spans are the usual case, and have faster ways.
    if matched is shared_positions and n <= _MASK_BITS:
        return np.asarray(np.bitwise_count(_masks(*a) & _masks(*b)), dtype=np.float64)
    # Independent spans of one annotation may be equal, and then each has one partner only.
    if matched is equal_spans and not model.is_independent and n_pairs <= _FEW_PAIRS:
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
