r"""Where random spans fall when places have weights.

Items of kind :math:`i`, spans of :math:`\ell_i` positions of which there are :math:`k_i`, are
placed apart from one another. An arrangement has a probability in proportion to the product of
the weights :math:`w_i(x)` of the places :math:`x` where they start; a weight of 0 forbids a place.
The weights of all rows that fill the first :math:`x` positions, as a polynomial whose powers count
the items of each kind, add up to

.. math:: F_x = F_{x-1} + \sum_i w_i(x - \ell_i)\, z_i\, F_{x - \ell_i}, \qquad F_0 = 1.

With :math:`B_x` the same from the right, the expected number of items of kind :math:`i` that start
at :math:`x` is

.. math:: w_i(x)\, [z^{k - e_i}] F_x B_{x + \ell_i} \,/\, [z^k] F_n .

Where there are too many powers, numbers take the place of :math:`z`, *fugacities*, for which the
*expected* counts are :math:`k`. The error is of the order of one part in :math:`k`.
"""

from __future__ import annotations

from math import prod

import numpy as np

from beyondchance.types import Floats, Ints

_MOST_STATES = 2**12
"""Combinations of counts up to which they are told apart."""
_MOST_ITEMS = 256
"""Spans up to which weights of rows stay within the range of a float."""
_MOST_CELLS = 2**25
"""Weights of rows of a text of which arrangements are drawn."""
_BALANCED = 1e-6
"""Relative deviation of expected counts from counts at which fugacities are accepted: far below
the error of the approximation."""
_MOST_ROUNDS = 500
"""Rounds of scaling; some ten are usual."""


def is_countable(count: Ints) -> bool:
    """Return whether the places of so many spans of each kind are computed without fugacities."""
    return bool(count.sum() <= _MOST_ITEMS) and prod((count + 1).tolist()) <= _MOST_STATES


def weighted_rows(weight: Floats, length: Ints, count: Ints, free: float = 1.0) -> Floats:
    """Add up the weights of all rows that fill the first positions of each text.

    Parameters
    ----------
    weight : array of float, shape (kinds, texts, positions)
        Of each place where a span of a kind starts; 0 where it has no room.
    length, count : arrays of int, shape (kinds,)
    free : float
        The weight of a position that no span covers.

    Returns
    -------
    array of float, shape (positions + 1, texts, count + 1 for each kind)

    Examples
    --------
    A span of two positions has two places in three.

    >>> weight = np.array([[[1.0, 1.0, 0.0]]])
    >>> weighted_rows(weight, np.array([2]), np.array([1]))[:, 0].tolist()
    [[1.0, 0.0], [1.0, 0.0], [1.0, 1.0], [1.0, 2.0]]
    """
    n_kinds, n_texts, n = weight.shape
    table = np.zeros((n + 1, n_texts, *(count + 1)))
    table[0].reshape(n_texts, -1)[:, 0] = 1
    wide = weight.reshape(*weight.shape, *[1] * n_kinds)
    whole: tuple[slice, ...] = (slice(None),)
    steps = [
        (kind, span, whole * (kind + 1) + (slice(1, None),), whole * (kind + 1) + (slice(-1),))
        for kind, span in enumerate(length.tolist())
    ]
    for x in range(1, n + 1):
        row = table[x]
        np.multiply(table[x - 1], free, out=row)
        for kind, span, more, fewer in steps:
            if span <= x:
                row[more] += wide[kind, :, x - span] * table[x - span][fewer]
    return table


def weighted_starts(weight: Floats, length: Ints, count: Ints) -> Floats:
    """Compute how many spans of each kind are expected to start at each place.

    Parameters
    ----------
    weight : array of float, shape (kinds, texts, positions)
        Not negative; 0 where a span has no room. The spans must have an arrangement.
    length : array of int, shape (kinds,)
    count : array of int, shape (kinds,), or (kinds, texts)
        Where texts differ, or where there are too many states, expected counts are as given.

    Returns
    -------
    array of float, shape (kinds, texts, positions)
        Not finite for a text whose weights of rows leave the range of a float.

    Examples
    --------
    The first of two places is twice as likely as the second.

    >>> weighted_starts(np.array([[[2.0, 1.0, 0.0]]]), np.array([2]), np.array([1])).round(3)
    array([[[0.667, 0.333, 0.   ]]])
    """
    # A factor that all places of a kind share changes nothing, and keeps numbers small. Sums are
    # made in order, so that no digit depends on how many places follow.
    each = count.reshape(len(length), -1)
    whole = weight.cumsum(axis=2)[:, :, -1]
    weight = weight * (each / np.where(whole > 0, whole, 1))[:, :, None]
    if count.ndim == 2 or not is_countable(count):
        with np.errstate(divide="ignore"):
            return starts_by_fugacities(np.log(weight), length, each)
    left = weighted_rows(weight, length, count)
    right = weighted_rows(_mirrored(weight, length), length, count)
    rows_of_all = left[-1].reshape(weight.shape[1], -1)[:, -1]
    found = np.zeros_like(weight)
    with np.errstate(invalid="ignore", divide="ignore"):
        for kind, span in enumerate(length.tolist()):
            rows = (rows_around(left, right, span, kind) / rows_of_all).T
            found[kind, :, : rows.shape[1]] = weight[kind, :, : rows.shape[1]] * rows
    return found


def rows_around(left: Floats, right: Floats, span: int, kind: int | None = None) -> Floats:
    """Add up the weights of all rows that leave positions out, with all spans but one of a kind.

    Parameters
    ----------
    left, right : arrays of float, shape (positions + 1, texts, count + 1 for each kind)
        The weights of rows that fill so many positions from either end.
    span : int
        How many positions are left out.
    kind : int, optional
        The kind of which a span is left out; by default no span is.

    Returns
    -------
    array of float, shape (positions + 1 - span, texts)
        By the first position that is left out.
    """
    size = len(left) - span
    one = left[:size]
    # Turned round, the counts of what is missing on the right stand where those on the left do.
    two = np.flip(right[:size], axis=(0, *range(2, right.ndim)))
    if kind is not None:
        axes: tuple[slice, ...] = (slice(None),) * (kind + 2)
        one, two = one[(*axes, slice(-1))], two[(*axes, slice(1, None))]
    return np.asarray((one * two).reshape(*one.shape[:2], -1).sum(axis=2))


def weighted_draws(
    weight: Floats, length: Ints, count: Ints, draws: int, rng: np.random.Generator
) -> Ints:
    """Draw arrangements of spans in a text, in proportion to their weights.

    The rows that fill the first positions weigh more the more positions there are; so a share of
    the weight of all rows is reached where the last span ends. What is to its left is drawn alike.

    Parameters
    ----------
    weight : array of float, shape (kinds, positions)
    length, count : arrays of int, shape (kinds,)
    draws : int
    rng : Generator

    Returns
    -------
    array of int, shape (draws, spans)
        Starts, those of a kind from left to right. There are no draws where the weights of rows
        take too much memory or leave the range of a float, as those of some 700 spans may.

    Examples
    --------
    Two spans of two positions, of which one has to be first.

    >>> weight = np.array([[1.0, 2.0, 0.0, 3.0, 0.0]])
    >>> drawn = weighted_draws(weight, np.array([2]), np.array([2]), 50, np.random.default_rng(1))
    >>> sorted(set(map(tuple, drawn.tolist())))
    [(0, 3), (1, 3)]
    """
    n, n_spans = weight.shape[1], int(count.sum())
    found = np.zeros((draws, n_spans), dtype=np.int64)
    if n_spans and n * prod((count + 1).tolist()) > _MOST_CELLS:
        return found[:0]
    with np.errstate(all="ignore"):
        weight = weight * (count / weight.sum(axis=1))[:, None]
        rows = weighted_rows(weight[:, None], length, count)
    if not 0 < rows.flat[-1] < np.inf:
        return found[:0]
    table, step = rows.reshape(n + 1, -1), np.array(rows.strides[2:]) // rows.itemsize
    first, kinds, draw = np.cumsum(count) - count, np.arange(len(count)), np.arange(draws)
    left, end = np.tile(count, (draws, 1)), np.full(draws, n)
    for _ in range(n_spans):
        state = left @ step
        share = table[end, state] * rng.random(draws)
        end[:] = 0
        for stride in (1 << np.arange(n.bit_length())[::-1]).tolist():
            end += stride * (table[np.minimum(end + stride - 1, n), state] <= share)
        start = np.maximum(end[:, None] - length, 0)
        has_room = (left > 0) & (end[:, None] >= length)
        heap = weight[kinds, start] * table[start, state[:, None] - step] * has_room
        np.cumsum(heap, axis=1, out=heap)
        kind = (heap <= heap[:, -1:] * rng.random((draws, 1))).sum(axis=1)
        left[draw, kind] -= 1
        end = start[draw, kind]
        found[draw, first[kind] + left[draw, kind]] = end
    return found


def _mirrored(weight: Floats, length: Ints) -> Floats:
    """Return the weights of places counted from the right."""
    # What has no room, at one end, comes to the other.
    turned = weight[:, :, ::-1]
    return np.array([np.roll(one, 1 - k, axis=1) for one, k in zip(turned, length, strict=True)])


def starts_by_fugacities(logs: Floats, length: Ints, count: Ints) -> Floats:
    """Compute expected starts such that the expected counts are those given, in rounds.

    The weights of rows are kept as logarithms, which no length of a text exceeds. What is free is
    an item too: a weight grows by what is missing of its kind, and by what is free too much.

    Parameters
    ----------
    logs : array of float, shape (kinds, texts, positions)
        Logarithms of weights.
    length : array of int, shape (kinds,)
    count : array of int, shape (kinds, texts) or (kinds, 1)

    Returns
    -------
    array of float, shape (kinds, texts, positions)
    """
    n = logs.shape[2]
    fugacity, found = np.zeros(logs.shape[:2]), np.zeros_like(logs)
    # Positions first, because all texts go from one to the next together.
    parts = logs, _mirrored(logs, length)[:, :, ::-1]
    starting, ending = (np.ascontiguousarray(np.moveaxis(part, 2, 0)) for part in parts)
    begun, ended = (np.isfinite(part).sum(axis=1) for part in (starting, ending))
    has_room = begun.cumsum(axis=0) + ended > ended.cumsum(axis=0)
    room = has_room.sum(axis=0)
    n_free = room - length @ count
    free = np.where(has_room & (n_free == 0), -np.inf, 0.0)
    for _ in range(_MOST_ROUNDS):
        left = _log_rows(ending + fugacity, length, free)
        right = _log_rows(starting[::-1] + fugacity, length, free[::-1])[::-1]
        for kind, span in enumerate(length.tolist()):
            rows = left[: n + 1 - span] + right[span:] - left[n]
            rows += starting[: n + 1 - span, kind] + fugacity[kind]
            found[kind, :, : n + 1 - span] = np.exp(rows.T)
        mean = found.cumsum(axis=2)[:, :, -1]
        # Kinds that a text does not have stay where they are.
        missing = np.where(count, count, 1) / np.where(count, mean, 1)
        # Text by text, so that no digit of one depends on the others.
        is_off = np.abs(missing - 1).max(axis=0) > _BALANCED
        if not is_off.any():
            break
        freed = room - (length[:, None] * mean).cumsum(axis=0)[-1]
        too_free = np.where(n_free > 0, np.maximum(freed, _BALANCED), 1) / np.maximum(n_free, 1)
        step = np.log(missing) + length[:, None] * np.log(too_free)
        fugacity += np.where(is_off, step, 0)
    return found


def _log_rows(ending: Floats, length: Ints, free: Floats) -> Floats:
    """Add up the weights of rows as `weighted_rows` does, whatever their counts, as logarithms.

    Parameters
    ----------
    ending : array of float, shape (positions, kinds, texts)
        Logarithms of the weights of spans, by their last positions.
    length : array of int, shape (kinds,)
    free : array of float, shape (positions, texts)
        Logarithms of the weights of positions that no span covers.
    """
    n, _, n_texts = ending.shape
    # Nothing ends before the first position.
    most = int(length.max())
    table = np.full((most + n + 1, n_texts), -np.inf)
    table[most] = 0
    at = most - length
    for x in range(1, n + 1):
        parts = np.logaddexp.reduce(ending[x - 1] + table[at + x])
        table[most + x] = np.logaddexp(table[most + x - 1] + free[x - 1], parts)
    return table[most:]
