"""What two random annotations have in common, draw by draw and on average."""

from __future__ import annotations

from functools import partial
from math import nan, sqrt
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beyondchance.core.exact import are_alike
from beyondchance.core.models import Model
from beyondchance.core.observed import (
    Matched,
    SpanGroups,
    equal_spans,
    partners,
    shared_positions,
)
from beyondchance.core.ragged import largest
from beyondchance.core.span_trees import Forest, flattened, written
from beyondchance.types import Floats, Ints

_MASK_BITS = 64
_FEW_PAIRS = 64
"""Pairs of spans up to which they are compared one by one."""

_MOST_CELLS = 2**22
"""Pairs of spans, over all draws, of which those that share a position are held at a time."""

_DRAWS_TO_SEE = 20
"""Draws for each position of a text after which nothing that is possible is left unseen."""

TRIED = 256
"""Draws that show whether all arrangements have as much in common."""


class Estimate(NamedTuple):
    """A mean over random arrangements.

    Attributes
    ----------
    mean, error : float
        The estimate and its standard error.
    stream : int
        Where the random numbers came from: estimates with the same stream are equal.
    least, most : int
        The smallest and the largest value among the draws; 1 at least is the largest where the
        lengths of two spans permit a pair, because that may be too rare to be drawn.
    """

    mean: float
    error: float
    stream: int
    least: int
    most: int


def sampled_partners(
    n: int, a: Forest, b: Forest, *, model: Model, theta: float, samples: int, seed: int
) -> Estimate:
    """Estimate how many spans can be paired one to one at IoU > theta.

    The random numbers depend on what is asked and on nothing else.
    """
    question = seed, samples, theta, model.is_independent
    stream, (one, two) = _drawn(n, a, b, question, model=model, draws=samples)
    step = max(_MOST_CELLS // (len(one[1]) * len(two[1])), 1)
    count = np.concatenate(
        [
            sampled_match(
                n,
                *((starts[begin : begin + step], lengths) for starts, lengths in (one, two)),
                matched=partial(partners, theta=theta),
            )
            for begin in range(0, samples, step)
        ]
    )
    # As if one more draw had differed by one: equal draws do not prove that all are equal.
    squares = float(((count - count.mean()) ** 2).sum()) + 1
    error = sqrt(squares / (samples * (samples - 1)))
    # In a short text, a pair that is possible would have been drawn; in a long one, it may not.
    # Two spans have most in common where one lies in the other.
    shorter, longer = np.minimum(one[1][:, None], two[1]), np.maximum(one[1][:, None], two[1])
    is_possible = bool((shorter / longer > theta).any())
    most = max(int(count.max()), int(is_possible and n * _DRAWS_TO_SEE > samples))
    return Estimate(float(count.mean()), error, stream, int(count.min()), most)


def constant_match(n: int, a: Forest, b: Forest, *, model: Model, matched: Matched) -> float:
    """Compute the match that all of many random draws have; nan if they differ."""
    _, (one, two) = _drawn(n, a, b, (), model=model, draws=TRIED)
    return same_or_nan(sampled_match(n, one, two, matched=matched))


def same_or_nan(values: Floats) -> float:
    """Return the value that all draws have; nan if they differ.

    Examples
    --------
    >>> same_or_nan(np.array([2.0, 2.0])), same_or_nan(np.array([2.0, 1.0]))
    (2.0, nan)
    """
    return float(values[0]) if are_alike(values) else nan


def _drawn(
    n: int, a: Forest, b: Forest, question: tuple[object, ...], *, model: Model, draws: int
) -> tuple[int, list[tuple[Ints, Ints]]]:
    """Draw the spans that are compared: the random stream, then starts and lengths of each side.

    Both sides are drawn in an order that does not depend on who comes first.
    """
    from hashlib import blake2b  # noqa: PLC0415 - slow to load, for estimates only

    sides = sorted((a, b))
    parts = *map(repr, question), repr(n), f"[{', '.join(map(written, sides))}]"
    key = f"({', '.join(parts)})".encode()
    stream = int.from_bytes(blake2b(key, digest_size=7).digest(), "big")
    rng = np.random.default_rng(stream)
    found = []
    for side in sides:
        nodes, marks = flattened(side)
        starts = model.draw(n, nodes, draws, rng)
        found.append((starts[:, marks > 0], np.maximum(nodes.length, marks)[marks > 0]))
    return stream, found


def sampled_match(
    n: int,
    a: tuple[Ints, Ints],
    b: tuple[Ints, Ints],
    *,
    matched: Matched,
    are_disjoint: bool = False,
) -> Floats:
    """Compute what two random annotations have in common, draw by draw.

    Parameters
    ----------
    n : int
        Positions of the text.
    a, b : (starts, lengths)
        Shapes (size, spans) and (spans,).
    matched : function of groups and two arrays of groups
        The observed match of a measure.
    are_disjoint : bool
        Whether the spans of either side are disjoint in every draw.

    Returns
    -------
    array of float, shape (size,)

    Examples
    --------
    [0, 2) and [1, 4) share one position, [3, 5) and [0, 3) none.

    >>> a = np.array([[0], [3]]), np.array([2])
    >>> b = np.array([[1], [0]]), np.array([3])
    >>> sampled_match(5, a, b, matched=shared_positions).tolist()
    [1.0, 0.0]
    """
    (starts_a, lengths_a), (starts_b, lengths_b) = a, b
    n_pairs = len(lengths_a) * len(lengths_b)
    # Short texts and few spans are the usual case, and have faster ways.
    if are_disjoint and matched is shared_positions and n <= _MASK_BITS:
        return np.asarray(np.bitwise_count(_masks(*a) & _masks(*b)), dtype=np.float64)
    if are_disjoint and matched is equal_spans and n_pairs <= _FEW_PAIRS:
        equal = np.zeros(len(starts_a))
        for i, j in zip(*np.nonzero(lengths_a[:, None] == lengths_b), strict=True):
            equal += starts_a[:, i] == starts_b[:, j]
        return equal
    stride = n + max(map(largest, (lengths_a, lengths_b))) + 1
    sides = [_spans(*side, stride) for side in (a, b)]
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
    """Encode the covered positions of each draw as the bits of a number."""
    filled = np.array([(1 << length) - 1 for length in lengths.tolist()], dtype=np.uint64)
    bits = filled << starts.astype(np.uint64)
    return np.asarray(np.bitwise_or.reduce(bits, axis=1))


def _spans(starts: Ints, lengths: Ints, stride: int) -> tuple[Ints, Ints]:
    """List the spans of every draw, sorted by start and end, one draw after the other.

    All ends are below `stride`.
    """
    code = np.sort(starts * stride + starts + lengths, axis=1)
    start, end = np.divmod(code.reshape(-1), stride)
    return start, end
