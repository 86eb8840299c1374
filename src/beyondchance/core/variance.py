r"""Exact variance of the token match of random annotators.

Let :math:`K_A(t, u)` be the covariance of "position t is annotated" and "position u is
annotated" when A's spans are placed at random, and :math:`c_A(t)` the probability of the
former. Annotators are independent, so that for the match :math:`M_{AB}` of two of them

.. math::
    \mathrm{Var}(M_{AB}) = \sum_{t,u} K_A K_B + \sum_{t,u} c_B(t) K_A(t,u) c_B(u)
    + \sum_{t,u} c_A(t) K_B(t,u) c_A(u)

and for the sum of the matches of all pairs of a team, with :math:`s_A = \sum_{B \ne A} c_B`,

.. math::
    \sum_{A < B} \sum_{t,u} K_A K_B + \sum_A \sum_{t,u} s_A(t) K_A(t,u) s_A(u)

What is covered and what is free have the same covariance, so that all that is needed is the
probability that two positions are both free. That is a count of rows: spans of one position
and free positions alike are units, and the rows of given length are counted by how many
spans of each greater length they hold.
"""

from __future__ import annotations

from collections.abc import Sequence
from itertools import combinations
from math import prod

import numpy as np

from beyondchance.core.weighted import rows_around, weighted_rows
from beyondchance.types import Floats, Ints

MOST_POSITIONS = 1000
"""Positions of a text, up to which counts of rows stay within the range of a float."""
MOST_WORK = 2**29
"""Products that the covariance of one annotation may take."""
_LAST_DIGITS = 2.0**-48
"""What a variance is, relative to the products that it is a difference of, if it is 0."""


def is_within_reach(n: int, length: Ints, count: Ints) -> bool:
    """Return whether a text is short enough for the exact variance.

    Examples
    --------
    A sentence is, and a paragraph; a chapter is not.

    >>> is_within_reach(30, np.array([1, 2, 3]), np.array([2, 2, 1]))
    True
    >>> is_within_reach(5000, np.array([2]), np.array([100]))
    False
    """
    n_states = prod((count[length > 1] + 1).tolist())
    return n <= MOST_POSITIONS and n**2 * n_states**2 <= MOST_WORK


def covariance(n: int, length: Ints, count: Ints) -> tuple[Floats, Floats]:
    """Compute how likely each position is annotated, and the covariances of two positions.

    Parameters
    ----------
    n : int
        Positions of the text.
    length, count : arrays of int
        The distinct lengths of the spans, and how many have each.

    Returns
    -------
    cover : array of float, shape (n,)
    covariance : array of float, shape (n, n)

    Examples
    --------
    One token of two: either, so that one is covered exactly when the other is not.

    >>> cover, found = covariance(2, np.array([1]), np.array([1]))
    >>> cover.tolist(), found.tolist()
    ([0.5, 0.5], [[0.25, -0.25], [-0.25, 0.25]])
    """
    n_free = n - int((length * count).sum())
    n_units = n_free + int(count[length == 1].sum())
    longs, counts = length[length > 1], count[length > 1]
    rows = weighted_rows(np.ones((len(longs), 1, n)), longs, counts)
    all_rows = rows.flat[-1]
    # A unit at a place: rows to its left, and rows to its right with the other spans.
    free = rows_around(rows, rows, 1)[:, 0] * (n_free / max(n_units, 1) / all_rows)
    both = np.zeros((n, n))
    share = n_free * (n_free - 1) / max(n_units * (n_units - 1), 1)
    # Rows of fewer spans than none are zeros: numbers of states are added and subtracted.
    axes = counts.tolist()
    padded = np.pad(rows[:, 0], [(0, 0), *((k, 0) for k in axes)]).reshape(n + 1, -1)
    numbers = np.arange(padded.shape[1]).reshape(2 * counts + 1)
    state = numbers[tuple(slice(k + 1) for k in axes)].ravel()
    rest = numbers.size - 1 - state[:, None] - state
    rows = rows.reshape(n + 1, -1)
    for right in range(n - 1 if share else 0):
        # Places t < u with `right` positions to the right of u; all t at once.
        left = np.arange(n - 1 - right)
        found = ((rows[left] @ padded[right, rest]) * rows[left[::-1]]).sum(axis=1)
        both[left, n - 1 - right] = found * (share / all_rows)
    both += both.T
    both[np.diag_indices(n)] = free
    return 1 - free, both - np.outer(free, free)


def team_variance(team: Sequence[tuple[Floats, Floats]]) -> float:
    """Compute the variance of the sum of the matches of all pairs of a team, in one text.

    Parameters
    ----------
    team : sequence of (cover, covariance)
        One for each annotator who marked something.

    Examples
    --------
    Two annotators mark one token of two: the match is 0 or 1.

    >>> one = covariance(2, np.array([1]), np.array([1]))
    >>> team_variance([one, one])
    0.25
    """
    together = sum(cover for cover, _ in team)
    variance = sum(float((one * other).sum()) for (_, one), (_, other) in combinations(team, 2))
    scale = 0.0
    for cover, own in team:
        others = together - cover
        variance += float(others @ own @ others)
        scale += float(others @ (1 - cover)) ** 2
    # What is certain has no variance, but covariances are differences of products, whose last
    # digits add up to something.
    return variance if variance > _LAST_DIGITS * scale else 0.0
