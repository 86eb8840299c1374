"""Permutation tests: units whose sides are exchanged."""

from __future__ import annotations

from collections.abc import Iterator

import numpy as np

from beyondchance.core.bootstrap import blocks
from beyondchance.core.exact import LAST_DIGITS
from beyondchance.types import Floats


def swaps(n_units: int, resamples: int, rng: np.random.Generator) -> Iterator[Floats]:
    """Whether each unit's two sides are exchanged: 1 for no, -1 for yes.

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


def tail_share(values: Floats, observed: Floats, *, enumerated: bool) -> tuple[Floats, Floats]:
    """Two-sided p-values: twice the smaller tail, and their Monte Carlo errors.

    A value counts as reached when it differs in its last digits only. Unless all ways were
    gone through, the observed value counts as one more, so that no p-value is 0.

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
    """The smallest p-value that `tail_share` can give; 0 where all ways were gone through.

    Examples
    --------
    >>> least_share(9_999, enumerated=False), least_share(8, enumerated=True)
    (0.0002, 0.0)
    """
    return 0.0 if enumerated else 2 / (trials + 1)


def holm(p_values: Floats) -> Floats:
    """P-values raised so that all of them may be read together (Holm 1979).

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
    """P-values adjusted so that few of those below a bar are false (Benjamini and Hochberg 1995).

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
