"""Resampling from sums: the bootstrap, the jackknife, permutations, and what follows from them.

A score is a ratio of sums over units (documents). A resample is then a row of *weights*,
how often each unit was drawn, and all scores of many resamples are one product of a matrix
of weights with a matrix of sums. Weights are made in blocks, so that memory is bounded
however many units and resamples there are. Products are exact: no digit depends on the
size of the blocks or on the library that multiplies.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Sequence
from math import isfinite, log, prod, sqrt, tanh
from typing import NamedTuple

import numpy as np

from beyondchance.core.distributions import (
    normal_quantile,
    normal_share,
    student_quantile,
    student_share,
)
from beyondchance.core.exact import LAST_DIGITS, are_alike, exact_columns
from beyondchance.core.ragged import total
from beyondchance.types import Floats, Ints

CELLS = 2**15
"""Weights held at a time: few enough to stay in the cache of a processor."""
ROWS, MOST_CELLS = 16, 2**22
"""Resamples that are made at a time in any case, because the sums of many units do not fit into
the cache, and are read once for all of them; but never more weights than this."""
DRAWN_AT_A_TIME = 2**22
"""Sums of all resamples that are held at a time."""


# --- Weights --------------------------------------------------------------------------


def places(names: Sequence[str]) -> Ints:
    """Number names by an order that follows from the names alone.

    Units are drawn in this order, so that a seed draws the same documents in whatever order
    they were read. Shorter names come first, which leaves numbers in their order.

    Examples
    --------
    >>> places(["10", "9", "text", "8"]).tolist()
    [2, 1, 3, 0]
    """
    lengths = list(map(len, names))
    order = sorted(sorted(range(len(names)), key=names.__getitem__), key=lengths.__getitem__)
    found = np.empty(len(names), dtype=np.int64)
    found[order] = np.arange(len(names))
    return found


def blocks(resamples: int, n_units: int, *, cells: int | None = None) -> Iterator[int]:
    """Yield how many resamples to make at a time, so that about so many `cells` are held.

    Examples
    --------
    >>> list(blocks(20, 2**14)), list(blocks(5, 2**14, cells=2**15))
    ([16, 4], [2, 2, 1])
    """
    units = max(n_units, 1)
    fitting = CELLS // units if cells is None else cells // units
    most = max(fitting, min(ROWS, MOST_CELLS // units) if cells is None else 1, 1)
    for first in range(0, resamples, most):
        yield min(most, resamples - first)


def bootstrap_weights(n_units: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw units with replacement, and count how often each is in each resample.

    Yields
    ------
    array of float, shape (block, n_units)

    Examples
    --------
    >>> (weights,) = bootstrap_weights(3, 4, np.random.default_rng(1))
    >>> weights.shape, weights.sum(axis=1).tolist()
    ((4, 3), [3.0, 3.0, 3.0, 3.0])
    """
    for rows in blocks(resamples, n_units):
        drawn = rng.integers(0, n_units, (rows, n_units))
        yield _counted(drawn, n_units)


def team_weights(
    n_members: int, left: Ints, right: Ints, resamples: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Draw teams with replacement, and count how often each pair is in each of them.

    Members that were drawn i and j times make i times j pairs. A member makes no pair with
    itself, however often it was drawn.

    Parameters
    ----------
    n_members : int
    left, right : arrays of int, shape (pairs,)
        The members of each pair.

    Yields
    ------
    array of float, shape (block, pairs)

    Examples
    --------
    Three members: each once, or one of them twice next to another.

    >>> left, right = np.array([0, 0, 1]), np.array([1, 2, 2])
    >>> (weights,) = team_weights(3, left, right, 50, np.random.default_rng(1))
    >>> sorted(set(map(tuple, weights.tolist())))
    [(0.0, 0.0, 2.0), (0.0, 2.0, 0.0), (1.0, 1.0, 1.0), (2.0, 0.0, 0.0)]
    """
    for times in member_weights(n_members, len(left), resamples, rng):
        yield times[:, left] * times[:, right]


def member_weights(
    n_members: int, n_pairs: int, resamples: int, rng: np.random.Generator
) -> Iterator[Floats]:
    """Draw members into each team, and count them; a team of one only is drawn again.

    Yields
    ------
    array of float, shape (block, n_members)
        In blocks that have room for all pairs.

    Examples
    --------
    >>> (weights,) = member_weights(2, 1, 3, np.random.default_rng(1))
    >>> weights.tolist()
    [[1.0, 1.0], [1.0, 1.0], [1.0, 1.0]]
    """
    for rows in blocks(resamples, max(n_members, n_pairs)):
        times = _counted(rng.integers(0, n_members, (rows, n_members)), n_members)
        alone = np.flatnonzero((times > 0).sum(axis=1) < 2)
        while len(alone):
            again = rng.integers(0, n_members, (len(alone), n_members))
            times[alone] = _counted(again, n_members)
            alone = alone[(times[alone] > 0).sum(axis=1) < 2]
        yield times


def _counted(drawn: Ints, n_units: int) -> Floats:
    """Count how often each number is in each row."""
    rows = len(drawn)
    drawn += np.arange(rows)[:, None] * n_units
    counts = np.bincount(drawn.reshape(-1), minlength=rows * n_units)
    return counts.reshape(rows, n_units).astype(np.float64)


def swaps(n_units: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Draw whether each unit's two sides are exchanged: 1 for no, -1 for yes.

    Every way of exchanging, once, where there are no more of them than `resamples`; else as
    many random ones.

    Yields
    ------
    array of float, shape (block, n_units)

    Examples
    --------
    >>> [block.tolist() for block in swaps(2, 9, np.random.default_rng(1))]
    [[[1.0, 1.0], [-1.0, 1.0], [1.0, -1.0], [-1.0, -1.0]]]
    """
    if n_units < 64 and 2**n_units <= resamples:
        first = 0
        for rows in blocks(2**n_units, n_units):
            code = np.arange(first, first + rows)[:, None]
            yield np.where(code >> np.arange(n_units) & 1, -1.0, 1.0)
            first += rows
        return
    for rows in blocks(resamples, n_units):
        # A byte holds eight of them.
        width = -(-n_units // 8)
        drawn = np.frombuffer(rng.bytes(rows * width), dtype=np.uint8).reshape(rows, width)
        yield np.where(np.unpackbits(drawn, axis=1, count=n_units), -1.0, 1.0)


# --- Distributions --------------------------------------------------------------------


class Distribution(NamedTuple):
    """A statistic of sums over units.

    Attributes
    ----------
    drawn : array of float, shape (resamples, ...)
        In every resample.
    whole : array of float, shape (...)
        Of all units, each once.
    left_out : sequence of arrays of float, shape (units, ...)
        Without each unit, for each kind of unit that is drawn.
    """

    drawn: Floats
    whole: Floats
    left_out: Sequence[Floats]


def resample(
    table: Floats,
    draw: Callable[[int], Iterable[Floats]],
    resamples: int,
    *,
    statistic: Callable[[Floats], Floats] = np.asarray,
    without: Floats | None = None,
) -> Distribution:
    """Compute a statistic of sums over units: in every resample, as it is, and without each unit.

    Parameters
    ----------
    table : array of float, shape (units, ...)
    draw : function
        Returns weights of the units for a number of resamples, in blocks.
    resamples : int
    statistic : function
        Of sums of rows of the table, one after the other; the sums themselves by default.
    without : array of float, shape (kinds, units), optional
        The weights that leave out a unit, where it is not a row of the table.

    Examples
    --------
    >>> from functools import partial
    >>> draw = partial(bootstrap_weights, 3, rng=np.random.default_rng(1))
    >>> found = resample(np.array([1.0, 2.0, 6.0]), draw, 4, statistic=lambda sums: sums / 3)
    >>> found.whole.item(), found.left_out[0].tolist(), found.drawn.shape
    (3.0, [2.6666666666666665, 2.3333333333333335, 1.0], (4,))
    """
    totals = totals_of(table)
    whole = totals(np.ones((1, len(table))))
    drawn = (
        statistic(stacked(map(totals, draw(n)), whole[0]))
        for n in blocks(resamples, whole.size, cells=DRAWN_AT_A_TIME)
    )
    left_out = whole - table if without is None else totals(without)
    found = statistic(whole)[0]
    return Distribution(stacked(drawn, found), found, [statistic(left_out)])


def totals_of(table: Floats) -> Callable[[Floats], Floats]:
    """Return a function of weights: exact weighted sums of the rows of a table, each like a row."""
    shape = table.shape[1:]
    columns = exact_columns(table.reshape(len(table), prod(shape)))
    return lambda weights: columns.totals(weights).reshape(len(weights), *shape)


def stacked(blocks: Iterable[Floats], like: Floats) -> Floats:
    """Put blocks of rows that are shaped alike one after the other; there may be none."""
    return np.concatenate([np.empty((0, *like.shape)), *blocks])


# --- Intervals ------------------------------------------------------------------------


def influences(left_out: Floats) -> Floats:
    """Compute how much each unit moves a score, from the scores without each unit.

    Nothing, where these differ in their last digits only.

    Examples
    --------
    The mean of 1, 2 and 6 is 3; the units move it by -2, -1 and 3 (over 3).

    >>> influences(np.array([4.0, 3.5, 1.5])).tolist()
    [-2.0, -1.0, 3.0]
    """
    if are_alike(left_out):
        return np.zeros(len(left_out))
    return np.asarray((len(left_out) - 1) * (left_out.mean() - left_out))


def few_moments(whole: Floats, left_out: Floats, owner: Ints, n: int) -> tuple[Floats, Floats]:
    """Compute mean second and fourth powers of influences of n units, of which few matter.

    Parameters
    ----------
    whole : array of float, shape (scores,)
    left_out : array of float, shape (cells,)
        A score without each of the units that can move it; the others leave it as it is.
    owner : array of int, shape (cells,)
        The score of each cell.
    n : int

    Examples
    --------
    The mean of 3, 3, 3, 3 and 8 is 4; one of five units moves it, to 3.

    >>> whole, left_out, owner = np.array([4.0]), np.array([4.25] * 4 + [3.0]), np.zeros(5, int)
    >>> few_moments(whole, left_out, owner, 5)[0].tolist()
    [4.0]
    >>> float(np.mean(influences(left_out) ** 2))
    4.0
    """
    n_scores, moved = len(whole), left_out - whole[owner]
    moved[np.abs(moved) <= LAST_DIGITS * np.maximum(1, np.abs(whole[owner]))] = 0
    mean = total(owner, moved, n_scores) / n
    n_others = n - np.bincount(owner, minlength=n_scores)
    own, rest = (n - 1) * (mean[owner] - moved), (n - 1) * mean
    second, fourth = (
        (total(owner, own**power, n_scores) + n_others * rest**power) / n for power in (2, 4)
    )
    return second, fourth


def variance_of(effects: Sequence[Floats]) -> float:
    """Compute the jackknife variance of a score from the influences of the units.

    Parameters
    ----------
    effects : sequence of arrays
        The influences of the units of each sample.

    Examples
    --------
    Of the mean of 1, 2 and 6: their variance, 7, divided by 3.

    >>> round(variance_of([np.array([-2.0, -1.0, 3.0])]), 4)
    2.3333
    """
    return sum(_variance(effect) for effect in effects)


def _variance(effect: Floats) -> float:
    n = len(effect)
    return float((effect * effect).sum()) / (n * (n - 1))


def degrees_of_freedom(effects: Sequence[Floats]) -> float:
    r"""Compute how well the variance of a score is known: its degrees of freedom.

    Where all units move the score alike there are as many as units, less one. Where few units
    move it, such as a handful of documents with a disagreement among hundreds without, the
    variance is as uncertain as if there were few units, about two for each of the handful:
    with :math:`g` the excess kurtosis of the influences of n units (the estimate that is
    unbiased for normal data, and 0 at least), by Satterthwaite's rule,

    .. math:: 2 / (g / n + 2 / (n - 1))

    Parameters
    ----------
    effects : sequence of arrays
        The influences of the units of each sample.

    Examples
    --------
    >>> round(degrees_of_freedom([np.array([1.0, -1.0, 1.0, -1.0])]), 9)
    3.0
    >>> round(degrees_of_freedom([np.r_[np.zeros(97), 1.0, -2.0, 1.0]]), 2)
    3.88
    """
    variance = variance_of(effects)
    if not variance:
        return float(sum(len(effect) - 1 for effect in effects))
    return variance**2 / sum(_variance(effect) ** 2 / _freedom(effect) for effect in effects)


def _freedom(effect: Floats) -> float:
    """Compute the degrees of freedom of one sample."""
    squares = effect * effect
    return freedom_of(len(effect), float(squares.mean()), float((squares * squares).mean()))


def freedom_of(n: int, second: float, fourth: float) -> float:
    """Compute the degrees of freedom of n units, from mean powers of their influences.

    Fewer than four units show no kurtosis.
    """
    if n < 4 or not second:
        return n - 1.0
    excess = fourth / second**2 - 3
    unbiased = (n - 1) / ((n - 2) * (n - 3)) * ((n + 1) * excess + 6)
    return 2 / (max(unbiased, 0.0) / n + 2 / (n - 1))


def student_tail(value: float, effects: Sequence[Floats]) -> float:
    """Compute how often a score of 0 would come out as low, by Student's distribution.

    Examples
    --------
    The mean of -1, -2 and -6 is -3, with a standard error of 1.5275.

    >>> round(student_tail(-3.0, [np.array([2.0, 1.0, -3.0])]), 3)
    0.094
    """
    error = sqrt(variance_of(effects))
    return student_share(value / error, degrees_of_freedom(effects)) if error else float(value >= 0)


def effective_number(weights: Floats) -> float:
    """Compute how many equal weights would be as even as these (Kish 1965); 0 if none.

    Examples
    --------
    >>> effective_number(np.array([1.0, 1.0])), effective_number(np.array([3.0, 1.0]))
    (2.0, 1.6)
    """
    squares = float(weights @ weights)
    return float(weights.sum()) ** 2 / squares if squares else 0.0


def skewness(effect: Floats) -> float:
    """Compute the skewness of the influences of one sample; fewer than three units show none.

    Examples
    --------
    >>> round(skewness(np.array([-2.0, -1.0, 3.0])), 3)
    1.458
    """
    n = len(effect)
    mean = float((effect * effect).mean())
    if n < 3 or not mean:
        return 0.0
    third = float((effect**3).mean())
    return third / float(mean**1.5) * sqrt(n * (n - 1)) / (n - 2)


def student(
    estimate: float,
    effects: Sequence[Floats],
    confidence: float,
    *,
    lowest: float | None = None,
) -> tuple[float, float] | None:
    r"""Compute Student's interval of a score, from the influences of the units.

    The estimate plus or minus Student's quantile, with `degrees_of_freedom` degrees of
    freedom, times the standard error. A score between `lowest` and 1 is taken on the scale
    of its log odds, :math:`\log((x - l) / (1 - x))`, on which it varies nearly alike in both
    directions; so the interval stays within the bounds.

    Parameters
    ----------
    estimate : float
        The score itself.
    effects : sequence of arrays
        The influences of the units of each sample.
    confidence : float
    lowest : float, optional
        The lowest value that the score can have; for a difference, which has no bounds, None.

    Returns
    -------
    low, high : float
        None where no unit moves the score, or where it is at one of its bounds.

    Examples
    --------
    The mean of 1, 2 and 6 is 3, with a standard error of 1.5275; Student's quantile is 4.3027.

    >>> low, high = student(3.0, [np.array([-2.0, -1.0, 3.0])], 0.95)
    >>> round(low, 3), round(high, 3)
    (-3.572, 9.572)
    """
    freedom = degrees_of_freedom(effects)
    return student_around(estimate, variance_of(effects), freedom, confidence, lowest=lowest)


def student_around(
    estimate: float,
    variance: float,
    freedom: float,
    confidence: float,
    *,
    lowest: float | None = None,
) -> tuple[float, float] | None:
    """Compute Student's interval of a score, from its variance (see `student`)."""
    if not variance:
        return None
    reach = -student_quantile((1 - confidence) / 2, freedom) * sqrt(variance)
    if lowest is None:
        return estimate - reach, estimate + reach
    below, above = estimate - lowest, 1 - estimate
    if min(below, above) < LAST_DIGITS:
        return None
    odds, reach = log(below / above), reach * (1 - lowest) / (below * above)
    # Odds back to shares; a hyperbolic tangent does not overflow.
    low, high = (1 - (1 - lowest) * (1 - tanh(x / 2)) / 2 for x in (odds - reach, odds + reach))
    return low, high


def percentiles(values: Floats, confidence: float) -> tuple[float, float]:
    """Return the ends of the middle part of the resampled scores.

    Examples
    --------
    >>> percentiles(np.arange(101.0), 0.5)
    (25.0, 75.0)
    """
    tail = (1 - confidence) / 2
    low, high = np.quantile(values, [tail, 1 - tail])
    return float(low), float(high)


def accelerated(
    values: Floats,
    estimate: float,
    effects: Sequence[Floats],
    confidence: float,
) -> tuple[float, float] | None:
    r"""Compute the BCa interval: percentiles moved by the bias and the skewness of a score.

    Efron (1987). With :math:`z_0` the normal quantile of the share of resamples below the
    estimate, and :math:`a = \sum u^3 / (6 (\sum u^2)^{3/2})` from the influences, the
    quantile for the tail :math:`z` is taken at :math:`\Phi(z_0 + (z_0 + z)/(1 - a(z_0 + z)))`.

    Parameters
    ----------
    values : array of float, shape (resamples,)
        The resampled scores.
    estimate : float
        The score itself.
    effects : sequence of arrays
        The influences of the units of each sample that was resampled.
    confidence : float

    Returns
    -------
    low, high : float
        None where the formula breaks down: no resample lies on one side of the estimate,
        no unit moves the score, or so few units carry it that the denominator is not
        positive.
    """
    below = np.count_nonzero(values < estimate) + np.count_nonzero(values <= estimate)
    bias = normal_quantile(below / (2 * len(values)))
    if not isfinite(bias):
        return None
    squares = sum(float((effect * effect).sum()) / len(effect) ** 2 for effect in effects)
    if not squares:
        return None
    cubes = sum(float((effect * effect * effect).sum()) / len(effect) ** 3 for effect in effects)
    skewness = cubes / squares**1.5 / 6
    tail = normal_quantile((1 - confidence) / 2)
    shares = []
    for z in (bias + tail, bias - tail):
        room = 1 - skewness * z
        if room <= 0:
            return None
        shares.append(normal_share(bias + z / room))
    low, high = np.quantile(values, shares)
    return float(low), float(high)


# --- Tests ----------------------------------------------------------------------------


def tail_share(values: Floats, observed: Floats, *, enumerated: bool) -> tuple[Floats, Floats]:
    """Compute two-sided p-values, twice the smaller tail, and their Monte Carlo errors.

    A value counts as reached when it differs in its last digits only. Unless all ways were
    enumerated, the observed value counts as one more, so that no p-value is 0.

    Parameters
    ----------
    values : array of float, shape (resamples, tests)
    observed : array of float, shape (tests,)
    enumerated : bool
    """
    slack = LAST_DIGITS * np.maximum(1.0, np.abs(observed))
    extra = 0 if enumerated else 1
    tails = [
        (np.count_nonzero(reached, axis=0) + extra) / (len(values) + extra)
        for reached in (values >= observed - slack, values <= observed + slack)
    ]
    smaller = np.minimum(*tails)
    error = np.zeros_like(smaller) if enumerated else np.sqrt(smaller * (1 - smaller) / len(values))
    return np.minimum(2 * smaller, 1.0), 2 * error


def least_share(trials: int, *, enumerated: bool) -> float:
    """Compute the smallest p-value that `tail_share` can give; 0 where all are enumerated.

    Examples
    --------
    >>> least_share(9_999, enumerated=False), least_share(8, enumerated=True)
    (0.0002, 0.0)
    """
    return 0.0 if enumerated else 2 / (trials + 1)


def holm(p_values: Floats) -> Floats:
    """Raise p-values so that all of them may be read together (Holm 1979).

    Examples
    --------
    >>> holm(np.array([0.01, 0.04, 0.03])).tolist()
    [0.03, 0.06, 0.06]
    """
    order = np.argsort(p_values, kind="stable")
    factors = np.arange(len(p_values), 0, -1)
    raised = np.empty(len(p_values))
    raised[order] = np.minimum(np.maximum.accumulate(factors * p_values[order]), 1.0)
    return raised


def benjamini_hochberg(p_values: Floats) -> Floats:
    """Adjust p-values for a rate of false discoveries (Benjamini and Hochberg 1995).

    Examples
    --------
    >>> benjamini_hochberg(np.array([0.01, 0.5, 0.03])).round(4).tolist()
    [0.03, 0.5, 0.045]
    """
    n = len(p_values)
    order = np.argsort(-p_values)
    found = np.empty(n)
    raised = np.minimum(p_values[order] * n / (n - np.arange(n)), 1.0)
    found[order] = np.minimum.accumulate(raised)
    return found
