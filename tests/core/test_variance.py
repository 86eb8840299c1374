"""The exact variance beside brute force, sampling and sum rules."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
from beyondchance import coverage
from beyondchance.core.draws import disjoint_starts
from beyondchance.core.estimates import sampled_match
from beyondchance.core.observed import shared_positions
from beyondchance.core.variance import covariance, is_within_reach, team_variance
from each import each


def covariance_of(n, lengths):
    length, count = np.unique(np.array(lengths, dtype=np.int64), return_counts=True)
    return covariance(n, length, count)


@cache
def covers(n, lengths):
    """Which positions are covered, and by how many arrangements."""
    found = oracle.arrangements(n, lengths, "disjoint")
    return list(Counter(tuple(oracle.holders(n, lengths, starts)) for starts in found).items())


def brute_force(n, *team):
    """The variance of the sum of the matches of all pairs, over all arrangements."""
    first = second = weight = 0
    for sides in product(*(covers(n, lengths) for lengths in team)):
        ways = prod(times for _, times in sides)
        # At each position, the pairs among those who cover it.
        held = map(sum, zip(*(cover for cover, _ in sides), strict=True))
        match = sum(k * (k - 1) // 2 for k in held)
        first += ways * match
        second += ways * match**2
        weight += ways
    return Fraction(second, weight) - Fraction(first, weight) ** 2


@pytest.mark.parametrize(
    "n",
    [
        *range(4, 6),
        *(pytest.param(n, marks=pytest.mark.slow) for n in (6, 7)),
        pytest.param(8, marks=pytest.mark.long),
    ],
)
def test_every_text_by_brute_force(n):
    multisets = [lengths for lengths in oracle.multisets(n) if lengths]
    known = {lengths: covariance_of(n, lengths) for lengths in multisets}
    for i, a in enumerate(multisets):
        for b in multisets[: i + 1]:
            exact = float(brute_force(n, a, b))
            assert team_variance([known[a], known[b]]) == pytest.approx(exact, abs=1e-12)


@each("n", [7, 90, 999])
def test_small_variances_keep_their_digits(n):
    # Two tokens at random meet with probability 1/n.
    exact = Fraction(1, n) - Fraction(1, n) ** 2
    found = team_variance([covariance_of(n, [1])] * 2)
    assert found == pytest.approx(float(exact), rel=1e-12, abs=0)


@each("full", [[300], [1] * 300, [100, 200]])
def test_no_variance_where_one_side_covers_all(full):
    # One side covers all, and the other always matches as many positions as it has.
    assert team_variance([covariance_of(300, [1] * 3), covariance_of(300, full)]) == 0
    assert team_variance([covariance_of(300, [7, 2]), covariance_of(300, full)]) == 0


@pytest.mark.parametrize("n", [3, 4, pytest.param(5, marks=pytest.mark.slow)])
def test_every_team_of_three_by_brute_force(n):
    multisets = [lengths for lengths in oracle.multisets(n) if lengths]
    known = {lengths: covariance_of(n, lengths) for lengths in multisets}
    for i, a in enumerate(multisets):
        for j, b in enumerate(multisets[: i + 1]):
            for c in multisets[: j + 1]:
                exact = float(brute_force(n, a, b, c))
                found = team_variance([known[a], known[b], known[c]])
                assert found == pytest.approx(exact, abs=1e-12)


@pytest.mark.slow
@each(
    ("a", "b"),
    [
        ([1], [1]),
        ([5], [9]),
        ([1, 2, 2, 3, 5], [2, 2, 4]),
        ([1] * 10, [2] * 8 + [7]),
        ([10, 10, 10, 10, 10], [9, 9, 9, 9, 9, 9]),
        ([30, 25], [1, 1, 2, 3, 3, 4, 12]),
    ],
)
def test_sampling_at_60_positions(a, b):
    rng = np.random.default_rng(1)
    size = 50_000
    sides = [
        (disjoint_starts(60, lengths, size, rng), lengths) for lengths in (np.array(a), np.array(b))
    ]
    match = sampled_match(60, *sides, matched=shared_positions, are_disjoint=True)
    exact = team_variance([covariance_of(60, a), covariance_of(60, b)])
    centred = match - match.mean()
    error = np.sqrt((np.mean(centred**4) - np.mean(centred**2) ** 2) / size)
    assert abs(match.var(ddof=1) - exact) < 4 * error


@st.composite
def texts(draw):
    lengths = draw(st.lists(st.integers(1, 9), min_size=1, max_size=6))
    return sum(lengths) + draw(st.integers(0, 40)), lengths


@given(texts())
def test_what_is_covered_adds_up(text):
    n, lengths = text
    cover, found = covariance_of(n, lengths)
    np.testing.assert_allclose(cover, coverage(n, lengths), atol=1e-12)
    # The number of covered positions is certain, so it has no covariance with anything.
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-11)
    joint = found + np.outer(cover, cover)
    np.testing.assert_allclose(joint.sum(axis=1), sum(lengths) * cover, atol=1e-11)
    np.testing.assert_allclose(np.diag(joint), cover, atol=1e-13)
    np.testing.assert_array_equal(found, found.T)
    np.testing.assert_allclose(found, found[::-1, ::-1], atol=1e-13)
    assert np.linalg.eigvalsh(found).min() > -1e-10


@given(texts(), st.data())
def test_variance_is_symmetric(text, data):
    n, lengths = text
    other = data.draw(st.lists(st.sampled_from(lengths), min_size=1, max_size=len(lengths)))
    other = other if sum(other) <= n else [1]
    one, two = covariance_of(n, lengths), covariance_of(n, other)
    assert team_variance([one, two]) == pytest.approx(team_variance([two, one]), abs=1e-11)


def test_what_is_certain_has_no_variance():
    # One side covers everything, or nothing can move.
    assert team_variance([covariance_of(9, [9]), covariance_of(9, [1, 2, 3])]) == 0
    assert team_variance([covariance_of(9, [4, 5]), covariance_of(9, [2, 7])]) == 0
    assert team_variance([covariance_of(9, [3])]) == 0


def test_reach():
    one = np.array([1])
    assert is_within_reach(1000, one, np.array([500]))
    assert not is_within_reach(1001, one, one)
    assert is_within_reach(150, np.array([1, 2, 3, 4, 6]), np.array([5, 5, 3, 1, 1]))
    assert not is_within_reach(600, np.arange(2, 14), np.ones(12, dtype=np.int64))


def test_counts_of_rows_stay_finite():
    # The longest text within reach that has the most ways to arrange its spans.
    cover, found = covariance_of(1000, [2] * 20)
    assert np.isfinite(found).all()
    np.testing.assert_allclose(cover, coverage(1000, [2] * 20), atol=1e-12)
    np.testing.assert_allclose(found.sum(axis=1), 0, atol=1e-9)
