r"""Where random spans fall when they may be placed in any text of a corpus.

The spans of one annotator are arranged over all texts: disjoint, none across the end of a
text, every arrangement of the corpus equally likely. As in :mod:`~beyondchance.core.placement`,
a text is a row of *items*: *long* spans of two positions or more, and *units*, each of which is a
free position or a span of one position. The corpus has as many units in every arrangement, and
its spans of one position are a random choice of them. So only long spans need to be counted.

Give every item of length :math:`\ell` a weight :math:`p_\ell`. The weights of all rows that fill
:math:`x` positions add up to

.. math:: F_x = \sum_\ell p_\ell F_{x - \ell}, \qquad F_0 = 1.

**By counts.** With :math:`p_\ell z_\ell` instead of :math:`p_\ell`, :math:`F_x` is a polynomial,
whose coefficients sort the rows by how many spans of each length they contain. Let :math:`R_n` be
the product of the polynomials of all texts but one of size :math:`n`, and :math:`K` the counts
of the corpus. In that text the expected number of spans of length :math:`\ell` that start at
:math:`x`, their *intensity*, is

.. math:: s_\ell(x; n) = p_\ell\, [z^{K - e_\ell}] F_x F_{n-x-\ell} R_n \,/\, [z^K] F_n R_n .

**By fugacities.** Without :math:`z`, :math:`s_\ell(x; n) = p_\ell F_x F_{n-x-\ell} / F_n`, where
the weights are chosen such that the *expected* counts are :math:`K`. Weights that add up to 1 are
the probabilities of independent items, and :math:`F_x` is the probability that an item ends at
:math:`x`; it becomes constant away from the edge, and no number grows with the text.

Counting gives the same result with any weights; with those of the second method, rounding errors
are smallest.
"""

from __future__ import annotations

from itertools import accumulate
from typing import NamedTuple

import numpy as np

from beyondchance.core.lengths import LengthTable
from beyondchance.core.placement import item_profiles
from beyondchance.core.profiles import Profiles, profiles_of, summed
from beyondchance.core.ragged import distinct, rows_by_value, spread, starts
from beyondchance.core.weighted import rows_around, weighted_draws, weighted_rows
from beyondchance.types import Floats, Ints
from beyondchance.values import internal

_MOST_PRODUCTS = 2**23
"""Products of numbers that counting may take; beyond, fugacities are used."""
_FLAT = 1e-13
"""Relative deviation up to which values count as constant."""
_BALANCED = 1e-12
"""Relative deviation of expected counts from counts at which weights are accepted."""
_SETTLED = 1e-9
"""The same, where a round does not halve it: what is left is rounding."""
_MOST_ROUNDS = 200
"""Rounds of Newton's method; some ten are usual, more in corpora that are nearly full."""
_LONGEST_STEP = 5.0
"""The most that the logarithm of a weight changes in a round."""


class CorpusStarts(NamedTuple):
    """Expected numbers of spans that start at each place of one text of each size.

    Attributes
    ----------
    n : array of int, shape (sizes,)
    length : array of int, shape (lengths,)
    size, run : arrays of int, shape (sequences,)
        The number of the text size and of the length of each sequence, both ascending.
        Lengths that a text has no room for have no sequence.
    starts : Profiles
        A sequence of ``n - length + 1`` intensities for each of these.
    is_exact : bool
        Whether they come from counting; if not, from fugacities.
    """

    n: Ints
    length: Ints
    size: Ints
    run: Ints
    starts: Profiles
    is_exact: bool


def corpus_starts(n: Ints, texts: Ints, length: Ints, count: Ints) -> CorpusStarts:
    """Compute how many spans are expected to start at each place, if any text may hold them.

    Exact for one text; for more of them where counting is cheap, which follows from the
    numbers given and nothing else. The spans must have an arrangement.

    Parameters
    ----------
    n, texts : arrays of int, shape (sizes,)
        Distinct text sizes, and how many texts have each.
    length, count : arrays of int, shape (lengths,)
        Distinct span lengths in ascending order, and how many spans of the corpus have each,
        at least one.

    Examples
    --------
    A span of 2 has one place in each of two texts of 2 positions, and two in a text of 3.

    >>> found = corpus_starts(np.array([2, 3]), np.array([2, 1]), np.array([2]), np.array([1]))
    >>> [found.starts.expand(i).round(3).tolist() for i in range(2)]
    [[0.25], [0.25, 0.25]]
    >>> found.is_exact
    True
    """
    size, run = np.nonzero(n[:, None] >= length)
    if texts.sum() == 1 or not len(length):
        table = LengthTable(n, np.array([0, len(length)]), length, count)
        profiles = item_profiles(table, size, length[run])
        each = summed(profiles, count[run], np.arange(len(run)), len(run))
        return CorpusStarts(n, length, size, run, each, is_exact=True)
    items = _items(n, texts, length, count)
    weight = _weights(items)
    # Spans of one position are a random choice of the units.
    item = np.searchsorted(items.length, length)
    factor = weight[item] * (count / items.count[item])
    has_longs = bool(items.length[-1] > 1)
    # Without long spans there is one row for each text, and nothing to count.
    is_exact = not has_longs or _products(items) <= _MOST_PRODUCTS
    method = _by_counts if is_exact and has_longs else _by_fugacities
    return CorpusStarts(n, length, size, run, method(items, weight, length, factor), is_exact)


@internal
class _Items:
    """The items of a corpus: units, if there are any, and long spans.

    Attributes
    ----------
    n, texts : arrays of int, shape (sizes,)
    length, count : arrays of int, shape (lengths,)
        Distinct lengths of items in ascending order, and how many items have each.
    """

    n: Ints
    texts: Ints
    length: Ints
    count: Ints

    def longs(self) -> tuple[Ints, Ints]:
        """Return the lengths and counts of the long spans."""
        is_long = self.length > 1
        return self.length[is_long], self.count[is_long]


def _items(n: Ints, texts: Ints, length: Ints, count: Ints) -> _Items:
    """Collect the items of a corpus with these spans: its units and its long spans."""
    is_long = length > 1
    n_units = n @ texts - length[is_long] @ count[is_long]
    length, count = np.append(1, length[is_long]), np.append(n_units, count[is_long])
    return _Items(n, texts, length[count > 0], count[count > 0])


# --- By fugacities: independent items -----------------------------------------


class _Rows(NamedTuple):
    r"""Weights of all rows that fill x positions, and their powers.

    Attributes
    ----------
    values : array of float, shape (3, positions)
        With :math:`G = \sum_x F_x t^x` the coefficients of :math:`G`, :math:`G^2` and :math:`G^3`:
        up to the longest text, or to where those of :math:`G` have been constant for long enough.
    reach : int
        From where :math:`F_x` is constant; the number of positions if it is nowhere.
    middle : float
        That constant.
    """

    values: Floats
    reach: int
    middle: float

    def at(self, power: int, x: Ints) -> Floats:
        """Compute coefficients at any places: 0 before the first, polynomials beyond the last.

        Where those of G are constant, those of its square grow linearly, of its cube quadratically.
        """
        last = self.values.shape[1] - 1
        value = np.where(x < 0, 0.0, self.values[power - 1, np.clip(x, 0, last)])
        beyond = np.maximum(x - last, 0)
        if power == 2:
            value += beyond * self.middle**2
        elif power == 3 and last:
            slope = self.values[2, last] - self.values[2, last - 1]
            value += beyond * slope + beyond * (beyond + 1) / 2 * self.middle**3
        return np.asarray(value)


def _rows(length: Ints, weight: Floats, longest: int) -> _Rows:
    """Fill texts with independent items, up to the longest text.

    A value is an average of those before it, as many as the longest item has positions.
    If these are equal, all that follow are.
    """
    window = int(length.max())
    kernel = np.zeros(window)
    kernel[window - length] = weight
    middle = float(1 / (length @ weight))
    table = np.zeros((window + longest + 1, 3))
    table[window] = 1
    n_equal, reach, stop = 0, longest + 1, longest
    for x in range(1, longest + 1):
        table[window + x] = (kernel @ table[x : x + window]).cumsum()
        n_equal = n_equal + 1 if abs(table[window + x, 0] - middle) <= _FLAT * middle else 0
        if n_equal == window and reach > longest:
            reach = x - window + 1
            # Sums of two and three places, one of which at least is in the middle.
            stop = min(3 * reach, longest)
        if x >= stop:
            break
    return _Rows(table[window : window + stop + 1].T, reach, middle)


def _weights(items: _Items) -> Floats:
    r"""Find the weights for which the expected counts equal the counts, by Newton's method.

    The weights maximise :math:`\sum_\ell K_\ell \log p_\ell - \sum \log F_n(p)` over the texts, a
    concave function of their logarithms, whose derivatives are the differences of counts and
    expected counts, and the covariances of the counts. Both come from powers of
    :math:`G = 1/(1 - \sum p_\ell t^\ell)`, because
    :math:`\partial G / \partial p_\ell = t^\ell G^2`. Where the corpus is full in some sense (no
    text could have one more long span), weights tend to 0 or infinity, and the expected counts
    to the counts: the method stops when they are as close as rounding permits.

    Returns
    -------
    array of float, shape (items,)
        They add up to 1.
    """
    n, texts, length, count = items.n, items.texts, items.length, items.count
    logs = np.log(count / count.sum())
    best: Floats = np.exp(logs)
    best_gap = np.inf
    if len(length) == 1:
        return best
    step, value = np.zeros(len(logs)), -np.inf
    two, of_two = distinct((length[:, None] + length).ravel())
    for _ in range(_MOST_ROUNDS):
        weight = _normalised(logs + step, length)
        rows = _rows(length, weight, int(n.max()))
        whole = rows.at(1, n)
        if not whole.all():
            # Below the range of a float: too few units, or a step that was too long.
            logs[0] += float(value == -np.inf)
            step /= 4
            continue
        now = float(count @ np.log(weight) - texts @ np.log(whole))
        if now < value - 1e-10 * abs(value):
            step /= 4
            continue
        logs, value = np.log(weight), now
        mean = weight * rows.at(2, n[:, None] - length) / whole[:, None]
        gap = count - texts @ mean
        relative = float(np.abs(gap / count).max())
        has_settled = relative < _SETTLED and relative > best_gap / 2
        if relative < best_gap:
            best, best_gap = weight, relative
        if relative < _BALANCED or has_settled:
            break
        pairs = 2 * ((texts / whole) @ rows.at(3, n[:, None] - two))[of_two]
        covariance = np.outer(weight, weight) * pairs.reshape(len(length), -1)
        covariance += np.diag(texts @ mean) - mean.T @ (texts[:, None] * mean)
        # The lengths add up to the texts: the first count follows from the others.
        scale = np.sqrt(count[1:])
        variance, direction = np.linalg.eigh(covariance[1:, 1:] / np.outer(scale, scale))
        along = direction.T @ (gap[1:] / scale) / np.maximum(variance, 1e-15)
        step = np.concatenate([[0.0], direction @ along / scale])
        # A power of the length changes nothing; without it, steps are comparable.
        step -= length * (weight @ step) / (weight @ length)
        step /= max(1.0, float(np.abs(step).max()) / _LONGEST_STEP)
    return best


def _normalised(logs: Floats, length: Ints) -> Floats:
    """Compute weights from their logarithms, times the c**length that makes them add up to 1."""
    tilt = 0.0
    # The logarithm of the sum is convex and increasing in the tilt.
    for _ in range(60):
        tilted = logs + tilt * length
        parts = np.exp(tilted - tilted.max())
        excess = float(tilted.max() + np.log(parts.sum()))
        tilt -= excess * float(parts.sum() / (parts @ length))
        if abs(excess) < 1e-14:
            break
    weight = np.maximum(np.exp(logs + tilt * length), np.finfo(np.float64).tiny)
    weight[np.argmax(weight)] += 1 - weight.sum()
    return weight


def _by_fugacities(items: _Items, weight: Floats, length: Ints, factor: Floats) -> Profiles:
    """Compute intensities of independent items, for each text size and each length that fits.

    Away from the ends of a text, the weight of what follows is constant, and so is that of
    the text: long texts have the same edge.
    """
    n = items.n
    rows = _rows(items.length, weight, int(n.max()))
    size, run = np.nonzero(n[:, None] >= length)
    places = n[size] - length[run] + 1
    reach = np.minimum(rows.reach, places // 2)
    code = run * (len(n) + 1) + np.where(reach < rows.reach, size, len(n))
    _, kept, number = np.unique(code, return_index=True, return_inverse=True)
    one, x = spread(reach[kept] + 1)
    one = kept[one]
    values = factor[run[one]] / rows.at(1, n[size[one]])
    values *= rows.at(1, x) * rows.at(1, places[one] - 1 - x)
    return Profiles(values, starts(reach[kept] + 1)[number], reach, places)


# --- By counts: polynomials ---------------------------------------------------


def _products(items: _Items) -> float:
    """Estimate how many products of numbers counting takes."""
    grid = float(np.prod(2.0 * items.longs()[1] + 1)) / 2
    squarings = float(np.log2(items.texts + 1).sum() + 3 * len(items.n))
    # Every step takes some time, however small the polynomials are.
    steps = len(items.length) * float(items.n.sum() / 2 + items.n.max())
    return (grid + 256) * (steps + 32 * squarings)


def _by_counts(items: _Items, weight: Floats, length: Ints, factor: Floats) -> Profiles:
    """Compute exact intensities, for each text size and each length that fits."""
    n = items.n
    longs, counts = items.longs()
    units, own = np.split(weight, [len(weight) - len(longs)])
    places = np.broadcast_to(own[:, None, None], (len(longs), 1, int(n.max())))
    filled = weighted_rows(places, longs, counts, float(units.sum()))
    rests = _others([filled[i, 0] for i in n.tolist()], items.texts.tolist())
    pieces: list[tuple[Floats, float]] = []
    for size, rest in zip(n.tolist(), rests, strict=True):
        left = filled[: size + 1]
        # To the right, what is left of the text, and all other texts.
        right = _times(left, rest)
        for one, p in zip(length[length <= size].tolist(), factor, strict=False):
            kind = int(np.searchsorted(longs, one)) if one > 1 else None
            rows = rows_around(left, right, one, kind)[: (size - one + 1) // 2 + 1, 0]
            each = rows / right.flat[-1] * p
            pieces.append((each[:-1], float(each[-1])))
    sizes, runs = np.nonzero(n[:, None] >= length)
    return profiles_of(pieces, n[sizes] - length[runs] + 1)


def _others(polynomials: list[Floats], texts: list[int]) -> list[Floats]:
    """Multiply, for each text size, the polynomials of all texts but one of that size."""
    one = np.zeros_like(polynomials[0])
    one.flat[0] = 1
    polynomials = [_near_one(p) for p in polynomials]
    powers = [_power(p, m - 1, one) for p, m in zip(polynomials, texts, strict=True)]
    factors = [_times(p, q) for p, q in zip(polynomials, powers, strict=True)]
    before = accumulate(factors[:-1], _times, initial=one)
    after = [*accumulate(factors[:0:-1], _times, initial=one)][::-1]
    return [
        _times(_times(left, right), power)
        for left, right, power in zip(before, after, powers, strict=True)
    ]


def _power(base: Floats, exponent: int, one: Floats) -> Floats:
    """Raise a polynomial to a power, up to a factor that is a power of two."""
    half = _power(_times(base, base), exponent // 2, one) if exponent > 1 else one
    return _times(half, base) if exponent % 2 else half


def _times(p: Floats, q: Floats) -> Floats:
    """Multiply polynomials by one up to the powers they have, times a power of two.

    By Fourier transforms, which have so many places that nothing wraps around to these powers.
    """
    grid = [2 * k - 1 for k in q.shape]
    axes = range(-q.ndim, 0)
    product = np.fft.irfftn(np.fft.rfftn(p, grid, axes) * np.fft.rfftn(q, grid, axes), grid, axes)
    return _near_one(np.maximum(product[tuple(map(slice, (*p.shape[: -q.ndim], *q.shape)))], 0))


def _near_one(polynomial: Floats) -> Floats:
    """Divide a polynomial by a power of two, so that its largest coefficient is near 1."""
    return np.ldexp(polynomial, -int(np.frexp(polynomial.max())[1]))


# --- Random arrangements ------------------------------------------------------


def corpus_draws(n: Ints, lengths: Ints, draws: int, rng: np.random.Generator) -> tuple[Ints, Ints]:
    """Draw arrangements of spans over all texts, every one equally likely.

    The texts lie end to end, and places where a span would cross an end have no weight.

    Parameters
    ----------
    n : array of int, shape (texts,)
    lengths : array of int, shape (spans,)
    draws : int
        None are returned where there are too many arrangements (see `weighted_draws`).
    rng : Generator

    Returns
    -------
    text, start : arrays of int, shape (draws, spans)

    Examples
    --------
    Two spans of one position in three texts of one.

    >>> text, start = corpus_draws(np.ones(3, int), np.ones(2, int), 50, np.random.default_rng(1))
    >>> sorted(set(map(tuple, text.tolist())))
    [(0, 1), (0, 2), (1, 0), (1, 2), (2, 0), (2, 1)]
    """
    text, place = spread(n)
    length, kind = distinct(lengths)
    has_room = (n[text] - place >= length[:, None]).astype(np.float64)
    drawn = weighted_draws(has_room, length, np.bincount(kind), draws, rng)
    # Equal spans change places.
    for equal in rows_by_value(np.sort(kind)):
        drawn[:, equal] = rng.permuted(drawn[:, equal], axis=1)
    drawn[:, np.argsort(kind, kind="stable")] = drawn.copy()
    return text[drawn], place[drawn]
