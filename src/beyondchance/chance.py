"""What random annotators do in one text: the public face of the mathematics."""

from __future__ import annotations

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.arrays import Bools, Floats, Ints
from beyondchance.core.lengths import table_of
from beyondchance.core.measures import MEASURES
from beyondchance.core.overlapping import level_profiles
from beyondchance.core.placement import coverage_profiles, item_profiles
from beyondchance.errors import LengthsError, OptionError, checked_option

MODELS = ("disjoint", "overlapping")
METHODS = ("exact", "uniform")
_MOST = 2**40
"""Positions that a text may have; sums over a million spans of them fit into 64 bits."""


def start_probabilities(
    n: int,
    lengths: ArrayLike,
    *,
    model: str = "disjoint",
    method: str = "exact",
    alpha: float = 0.99,
) -> list[Floats]:
    r"""Probability that each span starts at each place, by chance.

    All arrangements of the spans in a text of `n` positions are equally likely:
    Equation 1 of the paper for the disjoint model, Proposition 5 for the
    overlapping one.

    Parameters
    ----------
    n : int
        Positions of the text.
    lengths : array of int, shape (k,)
        Lengths of the spans.
    model : {"disjoint", "overlapping"}
        Whether spans keep clear of one another.
    method : {"exact", "uniform"}
        ``uniform`` is the paper's approximation: every place of span i is taken
        to be equally likely if :math:`(n - a + k)/(n - a_i + 1) > \alpha`, with
        a the total length; other spans are treated exactly.
    alpha : float
        The threshold of the approximation.

    Returns
    -------
    list of k arrays
        For each span, in the order given, the probabilities of its
        ``n - length + 1`` places. They are read-only: spans of equal length
        share one array.

    Examples
    --------
    Of two spans, of 1 and 2 tokens, in three tokens: one is first or the other.

    >>> start_probabilities(3, [1, 2])
    [array([0.5, 0. , 0.5]), array([0.5, 0.5])]
    """
    size, spans = _validated_text(n, lengths, model)
    checked_option("method", method, METHODS)
    distinct = np.unique(spans)
    if model == "overlapping":
        uniform = np.ones(len(distinct), dtype=bool)
    elif method == "uniform":
        uniform = _nearly_uniform(size, spans, distinct, alpha)
    else:
        uniform = np.zeros(len(distinct), dtype=bool)
    exact = distinct[~uniform]
    profiles = item_profiles(table_of(size, spans), np.zeros_like(exact), exact)
    found = {length: profiles.expand(index) for index, length in enumerate(exact.tolist())} | {
        length: np.full(size - length + 1, 1 / (size - length + 1))
        for length in distinct[uniform].tolist()
    }
    for places in found.values():
        places.flags.writeable = False
    return [found[length] for length in spans.tolist()]


def coverage(
    n: int,
    lengths: ArrayLike,
    *,
    model: str = "disjoint",
    method: str = "exact",
    alpha: float = 0.99,
) -> Floats:
    """Probability that each position is annotated, by chance.

    Parameters
    ----------
    n, lengths, model, method, alpha
        As in `start_probabilities`.

    Returns
    -------
    array of float, shape (n,)

    Examples
    --------
    A two-token span in three tokens always covers the middle one.

    >>> coverage(3, [2])
    array([0.5, 1. , 0.5])
    """
    size, spans = _validated_text(n, lengths, model)
    if checked_option("method", method, METHODS) == "uniform" and model == "disjoint":
        steps = np.zeros(size + 1)
        starts = start_probabilities(size, spans, method=method, alpha=alpha)
        for length, places in zip(spans.tolist(), starts, strict=True):
            steps[: size - length + 1] += places
            steps[length:] -= places
        return np.cumsum(steps[:-1])
    if not len(spans):
        return np.zeros(size)
    table = table_of(size, spans)
    profiles = coverage_profiles(table) if model == "disjoint" else level_profiles(table)[0]
    return profiles.expand(0)


def expected_match(
    n: int,
    lengths_a: ArrayLike,
    lengths_b: ArrayLike,
    *,
    measure: str = "token",
    model: str = "disjoint",
) -> float:
    """Match that two random annotators with these spans would reach on average.

    Parameters
    ----------
    n : int
        Positions of the text.
    lengths_a, lengths_b : array of int
        Lengths of the spans of either annotator.
    measure : {"token", "exact"}
        Positions that both cover, or spans that are equal.
    model : {"disjoint", "overlapping"}
        Whether spans of one annotator keep clear of one another.

    Returns
    -------
    float
        Chance agreement (F1) is twice this, divided by the two sizes.

    Examples
    --------
    The case A of the paper's first simulation: chance F1 is .5335.

    >>> round(2 * expected_match(20, [2, 3, 4], [3, 4, 5]) / (9 + 12), 4)
    0.5335
    """
    rules = MEASURES[checked_option("measure", measure, MEASURES)].rules
    size, spans_a = _validated_text(n, lengths_a, checked_option("model", model, rules))
    _, spans_b = _validated_text(n, lengths_b, model)
    if not len(spans_a) or not len(spans_b):
        return 0.0
    table = table_of(size, spans_a, spans_b)
    return float(rules[model].expected(table, np.array([0]), np.array([1]))[0])


def sample_arrangements(
    n: int,
    lengths: ArrayLike,
    *,
    size: int,
    model: str = "disjoint",
    rng: np.random.Generator | int | None = None,
) -> Ints:
    """Draw random annotations, every arrangement equally likely.

    Parameters
    ----------
    n : int
        Positions of the text.
    lengths : array of int, shape (k,)
        Lengths of the spans.
    size : int
        How many arrangements to draw.
    model : {"disjoint", "overlapping"}
        Whether spans keep clear of one another.
    rng : numpy.random.Generator or int, optional
        The source of randomness, or its seed.

    Returns
    -------
    array of int, shape (size, k)
        The starts of the spans, in the order of `lengths`.

    Notes
    -----
    For the disjoint model the spans are put in random order and the free
    positions are spread over the gaps around them, every way of spreading being
    equally likely: a Dirichlet-multinomial with all parameters 1. The cost does
    not depend on `n`.

    Examples
    --------
    Spans of 2 and 3 fill five positions in one order or in the other.

    >>> starts = sample_arrangements(5, [2, 3], size=100, rng=1)
    >>> sorted(set(map(tuple, starts.tolist())))
    [(0, 2), (3, 0)]
    """
    text, spans = _validated_text(n, lengths, model)
    draws = _whole_number(size, "size")
    try:
        generator = np.random.default_rng(rng)
    except (TypeError, ValueError):
        raise OptionError(f"rng is {rng!r}; expected a generator, a seed or None") from None
    if model == "overlapping":
        return generator.integers(0, text - spans + 1, size=(draws, len(spans)))
    k = len(spans)
    order = generator.permuted(np.tile(np.arange(k), (draws, 1)), axis=1)
    shares = generator.dirichlet(np.ones(k + 1), size=draws)
    gaps = generator.multinomial(text - int(spans.sum()), shares)
    ends = np.cumsum(gaps[:, :k] + spans[order], axis=1)
    starts = np.empty((draws, k), dtype=np.int64)
    np.put_along_axis(starts, order, ends - spans[order], axis=1)
    return starts


def _nearly_uniform(n: int, spans: Ints, distinct: Ints, alpha: float) -> Bools:
    """The paper's criterion: the highest probability is close to the uniform one."""
    if not isinstance(alpha, int | float) or not 0 < alpha < 1:
        raise OptionError(f"alpha is {alpha!r}; expected a number between 0 and 1")
    return np.asarray((n - spans.sum() + len(spans)) / (n - distinct + 1) > alpha)


def _validated_text(n: int, lengths: ArrayLike, model: str) -> tuple[int, Ints]:
    """Check that the spans are positive integers and fit the text."""
    checked_option("model", model, MODELS)
    size = _whole_number(n, "n")
    try:
        column = np.asarray(lengths)
    except ValueError:
        raise LengthsError("lengths are nested unevenly; expected a list of lengths") from None
    if column.ndim != 1:
        raise LengthsError(f"lengths have {column.ndim} dimensions; expected a list of lengths")
    if column.size == 0:
        return size, np.zeros(0, dtype=np.int64)
    if column.dtype.kind not in "iu":
        given = lengths.tolist() if isinstance(lengths, np.ndarray) else list(lengths)  # type: ignore[arg-type]
        strange = [v for v in given if isinstance(v, bool) or not isinstance(v, int | np.integer)]
        found = repr(strange[0]) if strange else "integers beyond 64 bits"
        raise LengthsError(f"lengths contain {found}; expected positive integers")
    for wrong, problem in ((column.min() < 1, column.min()), (column.max() > _MOST, column.max())):
        if wrong:
            raise LengthsError(
                f"lengths contain {problem}; expected positive integers up to {_MOST:,}"
            )
    spans = column.astype(np.int64)
    needed = int(spans.sum() if model == "disjoint" else spans.max())
    if needed > size:
        what = "spans of total length" if model == "disjoint" else "a span of length"
        raise LengthsError(
            f"{what} {needed} cannot be placed in a text of {size} positions; "
            "expected no more than the text holds"
        )
    return size, spans


def _whole_number(value: int, name: str) -> int:
    """Check a number that must be an integer and not negative."""
    is_integer = isinstance(value, int | np.integer) and not isinstance(value, bool)
    if not is_integer or not 0 <= value <= _MOST:
        raise LengthsError(f"{name} is {value!r}; expected an integer from 0 to {_MOST:,}")
    return int(value)
