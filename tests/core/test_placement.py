"""Where random spans fall, against brute force and three independent roads."""

from fractions import Fraction
from itertools import combinations_with_replacement
from math import comb, factorial, perm

import numpy as np
import pytest

import oracle
from beyondchance import coverage, start_probabilities
from beyondchance.core import placement
from beyondchance.core.lengths import table_of
from each import each

SMALL = [(n, lengths) for n in range(9) for lengths in oracle.multisets(n)]
SMALL_OVERLAPPING = [
    (n, lengths)
    for n in range(1, 5)
    for k in range(4)
    for lengths in combinations_with_replacement(range(1, n + 1), k)
]


def assert_equal(found, exact, tolerance=1e-15):
    assert len(found) == len(exact)
    for value, fraction in zip(found.tolist(), exact, strict=True):
        assert abs(Fraction(value) - fraction) <= tolerance


@pytest.mark.parametrize("most", [5, pytest.param(8, marks=pytest.mark.slow)])
@each("small_longs", [4, 1, 0])
def test_every_small_text_against_brute_force(monkeypatch, small_longs, most):
    # The same problems by the road for few longs and by the one for many.
    monkeypatch.setattr(placement, "_SMALL_LONGS", small_longs)
    for n, lengths in SMALL:
        if n > most:
            break
        assert_equal(coverage(n, lengths), oracle.coverage(n, lengths, "disjoint"))
        found = start_probabilities(n, lengths)
        exact = oracle.start_probabilities(n, lengths, "disjoint")
        assert len(found) == len(exact)
        for places, fractions in zip(found, exact, strict=True):
            assert_equal(places, fractions)


def test_small_cases_are_all_there():
    # Partitions of 0 to n: 1, 2, 4, 7, 12, 19, 30, 45, 67.
    assert len(SMALL) == 1 + 2 + 4 + 7 + 12 + 19 + 30 + 45 + 67


@each(("n", "lengths"), SMALL_OVERLAPPING)
def test_overlapping_against_brute_force(n, lengths):
    assert_equal(
        coverage(n, lengths, model="overlapping"), oracle.coverage(n, lengths, "overlapping")
    )
    found = start_probabilities(n, lengths, model="overlapping")
    exact = oracle.start_probabilities(n, lengths, "overlapping")
    for places, fractions in zip(found, exact, strict=True):
        assert_equal(places, fractions)


def random_text(rng):
    n = int(rng.integers(9, 61))
    lengths = []
    while (length := int(rng.integers(1, 9))) <= n - sum(lengths) and len(lengths) < 9:
        lengths.append(length)
    return n, lengths or [n]


@pytest.mark.parametrize(
    "seeds",
    [
        range(3),
        pytest.param(range(3, 20), marks=pytest.mark.slow),
        pytest.param(range(20, 60), marks=pytest.mark.long),
    ],
)
def test_random_texts_against_equation_1(seeds):
    for seed in seeds:
        n, lengths = random_text(np.random.default_rng(seed))
        found = start_probabilities(n, lengths)
        covered = [Fraction(0)] * n
        for i, length in enumerate(lengths):
            exact = oracle.equation_1(n, lengths, i)
            assert_equal(found[i], exact, tolerance=1e-14)
            for start, probability in enumerate(exact):
                for t in range(start, start + length):
                    covered[t] += probability
        assert_equal(coverage(n, lengths), covered, tolerance=1e-14)


def test_figure_1_of_the_paper():
    # Length 100, spans of 1, 5, 10 and 15: inverted trapezoids. The ends are
    # 1/(n - a + k), the middle is flat from place a - a_i - k + 2 on.
    found = start_probabilities(100, [1, 5, 10, 15])
    for length, places in zip([1, 5, 10, 15], found, strict=True):
        assert places[0] == pytest.approx(1 / (100 - 31 + 4), abs=1e-16)
        low, high = 31 - length - 4 + 2, 100 - 31 + 4
        assert np.ptp(places[low - 1 : high]) == 0
        assert places[low - 2] != places[low - 1]


def test_arrival_times_agree_with_equation_1():
    # The oracle of the larger texts meets the printed formula.
    lengths = [2, 3, 3, 5]
    exact = [float(p) for p in oracle.equation_1(20, lengths, 1)]
    np.testing.assert_allclose(oracle.by_arrival_times(20, lengths, 3, 40), exact, atol=1e-15)


@each("taken", [0, 10])
def test_no_flat_middle(taken):
    # 90 spans of 10 in 1,000 positions: nothing is constant anywhere.
    lengths = [10] * 90
    exact = oracle.pooled_equation_1(1000, lengths, taken, 1000)
    if taken:
        assert_equal(start_probabilities(1000, lengths)[0], exact, tolerance=1e-15)
    else:
        covered = [1 - 100 * p for p in exact]
        assert_equal(coverage(1000, lengths), covered, tolerance=1e-13)
        assert np.ptp(coverage(1000, lengths)[485:515]) > 1e-5


@pytest.mark.slow
@each("taken", [0, 9, 10])
def test_two_lengths_that_fill_most_of_a_long_text(taken):
    lengths = [10] * 225 + [9] * 225
    exact = oracle.by_arrival_times(5_000, lengths, taken, 400)
    if taken:
        found = start_probabilities(5_000, lengths)[0 if taken == 10 else -1]
        np.testing.assert_allclose(found, exact, rtol=1e-9)
    else:
        np.testing.assert_allclose(coverage(5_000, lengths), 1 - 725 * exact, atol=1e-9)


@pytest.mark.parametrize(
    "n",
    [
        pytest.param(3_000, marks=pytest.mark.slow),
        pytest.param(30_000, marks=pytest.mark.long),
    ],
)
def test_characters(n):
    lengths = [3 + i % 28 for i in range(n // 100)]
    free = n - sum(lengths)
    found = coverage(n, lengths)
    exact = oracle.pooled_equation_1(n, lengths, 0, 120)
    assert_equal(found[:120], [1 - free * p for p in exact], tolerance=1e-13)
    # From the total excess on, Proposition 3 gives the value in closed form.
    middle = 1 - free * oracle.flat_value(n, lengths, 0)
    excess = sum(lengths) - len(lengths)
    assert_equal(found[excess : excess + 5], [middle] * 5, tolerance=1e-13)
    # Between the two, the integral.
    between = 1 - free * oracle.by_arrival_times(n, lengths, 0, 500)
    np.testing.assert_allclose(found, between, atol=1e-9)


def test_a_million_tokens_with_a_hundred_thousand_spans():
    lengths = [1] * 40_000 + [2] * 30_000 + [3] * 20_000 + [7] * 10_000
    n = 1_000_000
    found = coverage(n, lengths)
    assert found.sum() == pytest.approx(sum(lengths), rel=1e-12)
    # Near the edge, subsets of at most 30 positions suffice: counted by length.
    exact = _million_edge(n, lengths, 30)
    assert_equal(found[:30], exact, tolerance=1e-12)
    assert_equal(found[500_000:500_002], [_million_middle(n, lengths)] * 2, tolerance=1e-12)


def _million_edge(n, lengths, most):
    """Equation 1 for a free position; equal lengths chosen by binomials."""
    kinds = sorted({a for a in lengths if a > 1})
    states = {(0, 0): 1}
    for a in kinds:
        k = lengths.count(a)
        states_now = {}
        for (m, s), ways in states.items():
            for i in range((most - s) // a + 1):
                key = (m + i, s + i * a)
                states_now[key] = states_now.get(key, 0) + ways * comb(k, i)
        states = states_now
    longs = sum(lengths.count(a) for a in kinds)
    items = n - sum(lengths) + len(lengths)
    free = n - sum(lengths)
    result = []
    for x in range(most):
        total = Fraction(0)
        for (m, s), ways in states.items():
            before = x - s + m  # items before, of which m are longs
            if before >= m:
                # m! C(before, m) (N-1-before)_(K-m) / (N-1)_K for each subset of m longs
                ratio = Fraction(perm(before, m), perm(items - 1, m))
                rest = Fraction(1)
                for i in range(before - m):
                    rest *= Fraction(items - 1 - longs - i, items - 1 - m - i)
                total += ways * ratio * rest
        result.append(1 - free * total / items)
    return result


def _million_middle(n, lengths):
    """Proposition 3's constant, as far as its terms matter."""
    items = n - sum(lengths) + len(lengths)
    most = 40
    symmetric = [1] + [0] * most
    for a in sorted({a for a in lengths if a > 1}):
        k = lengths.count(a)
        symmetric = [
            sum(symmetric[j - i] * comb(k, i) * (a - 1) ** i for i in range(j + 1))
            for j in range(most + 1)
        ]
    total = sum(
        Fraction((-1) ** j * factorial(j) * value, perm(items - 1, j))
        for j, value in enumerate(symmetric)
    )
    return 1 - (n - sum(lengths)) * total / items


@pytest.mark.slow
@each("n", [1, 2, 7, 1_000_000])
def test_one_span(n):
    # One span is uniform: position t is covered by min(t, a, n - a + 1, n - t + 1) places.
    for a in {1, 2, 5, n} - {x for x in (2, 5) if x > n}:
        places = n - a + 1
        t = np.arange(1, n + 1)
        ways = np.minimum(np.minimum(t, n - t + 1), min(a, places))
        np.testing.assert_allclose(coverage(n, [a]), ways / places, rtol=0, atol=1e-15)
        np.testing.assert_allclose(start_probabilities(n, [a])[0], 1 / places, rtol=1e-15)


def test_no_free_position():
    np.testing.assert_array_equal(coverage(6, [1, 2, 3]), np.ones(6))
    np.testing.assert_array_equal(coverage(4000, [4] * 1000), np.ones(4000))
    # 1,000 equal spans side by side: each is first with probability 1/1000.
    places = start_probabilities(4000, [4] * 1000)[0]
    np.testing.assert_allclose(places[::4], 1 / 1000, rtol=1e-12)
    assert np.abs(np.delete(places, np.s_[::4])).max() < 1e-15


def test_no_spans_and_no_positions():
    np.testing.assert_array_equal(coverage(5, []), np.zeros(5))
    assert start_probabilities(5, []) == []
    assert coverage(0, []).shape == (0,)


def test_equal_lengths_share_one_read_only_array():
    first, second, third = start_probabilities(9, [2, 3, 2])
    assert first is third
    assert first is not second
    assert not first.flags.writeable


def test_integral_agrees_with_the_table_of_subsets(monkeypatch):
    lengths = [10] * 30 + [9] * 25 + [1] * 5
    table = coverage(600, lengths), start_probabilities(600, lengths)
    monkeypatch.setattr(placement, "_MOST_WORK", 0)
    np.testing.assert_allclose(coverage(600, lengths), table[0], atol=1e-11)
    for by_integral, by_table in zip(start_probabilities(600, lengths), table[1], strict=True):
        np.testing.assert_allclose(by_integral, by_table, atol=1e-13)


def test_hypergeometric_columns_agree_with_rows():
    # 400 good among 1,000,000: the columns begin below the range of a float.
    rows = placement._hypergeometric(400, 999_600, 300, 100)
    for d, i in [(0, 0), (300, 0), (300, 3), (100, 100), (250, 20)]:
        exact = Fraction(comb(400, i) * comb(999_600, d - i), comb(1_000_000, d))
        assert rows[d, i] == pytest.approx(float(exact), rel=1e-12, abs=1e-320)
    np.testing.assert_allclose(rows.sum(axis=1), 1, rtol=1e-12)


@each("n", [500, 2500])
def test_no_digit_depends_on_which_other_items_are_asked_for(n):
    lengths = np.array([1, 3, 9, 14, 20, 26, 33, 40, 40])
    table = table_of(n, lengths)
    items = np.unique(lengths)
    together = placement.item_profiles(table, np.zeros_like(items), items)
    for index, item in enumerate(items.tolist()):
        alone = placement.item_profiles(table, np.array([0]), np.array([item]))
        np.testing.assert_array_equal(alone.expand(0), together.expand(index))


class TestUniformApproximation:
    def test_is_uniform_where_the_text_is_long(self):
        # (n - a + k)/(n - a_i + 1) = 1000 - 5 + 2 / (1000 - 2 + 1) = .998 > .99
        two, three = start_probabilities(1000, [2, 3], method="uniform")
        assert np.ptp(two) == 0
        assert np.ptp(three) == 0
        assert two[0] == 1 / 999

    def test_is_exact_where_it_is_not(self):
        exact = start_probabilities(20, [2, 3, 4])
        for a, b in zip(start_probabilities(20, [2, 3, 4], method="uniform"), exact, strict=True):
            np.testing.assert_array_equal(a, b)

    def test_coverage_follows_from_the_starts(self):
        exact = coverage(2000, [2, 3, 4])
        nearly = coverage(2000, [2, 3, 4], method="uniform")
        assert 0 < np.abs(nearly - exact).max() < 1e-5
        assert nearly.sum() == pytest.approx(9)

    def test_threshold(self):
        places = start_probabilities(20, [2, 3], method="uniform", alpha=0.5)
        assert np.ptp(places[0]) == 0
