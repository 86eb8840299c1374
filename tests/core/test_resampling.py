"""Weights, exact sums, intervals and permutations."""

from collections import Counter
from fractions import Fraction
from itertools import combinations

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from beyondchance.core import resampling
from beyondchance.core.exact import exact_columns, rounded
from beyondchance.core.resampling import (
    accelerated,
    bootstrap_weights,
    degrees_of_freedom,
    holm,
    influences,
    percentiles,
    skewness,
    student,
    swaps,
    tail_share,
    team_weights,
)
from each import each


def all_of(blocks):
    return np.concatenate(list(blocks))


class TestWeights:
    def test_weights_count_what_was_drawn(self):
        drawn = np.random.default_rng(3).integers(0, 7, (50, 7))
        weights = all_of(bootstrap_weights(7, 50, np.random.default_rng(3)))
        for row, numbers in zip(weights, drawn, strict=True):
            assert dict(Counter(numbers.tolist())) == {i: w for i, w in enumerate(row) if w}

    @each("cells", [1, 20, 21, 1000])
    def test_blocks_change_nothing(self, monkeypatch, cells):
        whole = all_of(bootstrap_weights(7, 50, np.random.default_rng(3)))
        monkeypatch.setattr(resampling, "CELLS", cells)
        monkeypatch.setattr(resampling, "ROWS", 1)
        blocks = list(bootstrap_weights(7, 50, np.random.default_rng(3)))
        assert len(blocks) == -(-50 // max(cells // 7, 1))
        np.testing.assert_array_equal(np.concatenate(blocks), whole)

    def test_a_team_is_made_of_pairs_of_different_members(self):
        left, right = np.array(list(combinations(range(4), 2))).T
        weights = all_of(team_weights(4, left, right, 2000, np.random.default_rng(1)))
        # Four draws fall on members (i, j, k, l) times; the pairs are their products.
        possible = set()
        for times in np.ndindex(5, 5, 5, 5):
            if sum(times) == 4 and sum(t > 0 for t in times) > 1:
                possible.add(tuple(times[i] * times[j] for i, j in combinations(range(4), 2)))
        assert set(map(tuple, weights.astype(int).tolist())) == possible

    def test_a_team_of_two_is_always_the_same(self):
        weights = all_of(
            team_weights(2, np.array([0]), np.array([1]), 99, np.random.default_rng(1))
        )
        assert set(weights.reshape(-1).tolist()) == {1.0}


class TestExactSums:
    @given(
        st.lists(
            st.tuples(st.floats(0, 1000), st.floats(0, 1e-9), st.integers(0, 400)),
            min_size=1,
            max_size=30,
        )
    )
    def test_sums_have_no_error_but_the_last_rounding(self, rows):
        columns = np.array(
            [[float(rounded(np.array(x))), float(rounded(np.array(y)))] for x, y, _ in rows]
        )
        weights = np.array([[float(w) for *_, w in rows]])
        found = exact_columns(columns).totals(weights)[0]
        for value, column in zip(found, columns.T, strict=True):
            exact = sum(
                (Fraction(x) * int(w) for x, w in zip(column, weights[0], strict=True)), Fraction(0)
            )
            # Pieces of 26 bits are put together in two steps.
            assert abs(Fraction(float(value)) - exact) <= exact * Fraction(2) ** -52

    def test_the_order_of_the_units_does_not_matter(self):
        rng = np.random.default_rng(2)
        columns = rounded(rng.random((5000, 3)) * 40)
        weights = np.ones((1, 5000))
        order = rng.permutation(5000)
        np.testing.assert_array_equal(
            exact_columns(columns).totals(weights), exact_columns(columns[order]).totals(weights)
        )

    def test_signs(self):
        columns = np.array([[0.75], [2.5], [2.0**-52]])
        found = exact_columns(columns).totals(np.array([[1.0, -1.0, 1.0], [-1.0, 1.0, -1.0]]))
        assert found[:, 0].tolist() == [-1.75 + 2.0**-52, 1.75 - 2.0**-52]

    def test_nothing_but_zeros(self):
        assert exact_columns(np.zeros((3, 2))).totals(np.ones((4, 3))).tolist() == [[0.0, 0.0]] * 4


class TestIntervals:
    @each("confidence", [0.5, 0.9, 0.95, 0.999])
    @each("method", ["percentile", "BCa"])
    def test_equal_to_scipy(self, method, confidence):
        data = np.random.default_rng(8).lognormal(size=40)
        theirs = stats.bootstrap(
            (data,),
            np.mean,
            confidence_level=confidence,
            n_resamples=999,
            method=method,
            rng=np.random.default_rng(5),
        )
        weights = all_of(bootstrap_weights(40, 999, np.random.default_rng(5)))
        values = weights @ data / 40
        if method == "percentile":
            ours = percentiles(values, confidence)
        else:
            pulls = influences((data.sum() - data) / 39)
            ours = accelerated(values, float(data.mean()), [pulls], confidence)
        assert ours == pytest.approx(theirs.confidence_interval, rel=1e-12)

    def test_ties_equal_to_scipy(self):
        # Of ten documents three agree: many resamples give the very same score.
        data = np.r_[np.ones(3), np.zeros(7)]
        theirs = stats.bootstrap(
            (data,), np.mean, n_resamples=999, method="BCa", rng=np.random.default_rng(5)
        )
        values = all_of(bootstrap_weights(10, 999, np.random.default_rng(5))) @ data / 10
        assert np.count_nonzero(values == 0.3) > 200
        pulls = influences((data.sum() - data) / 9)
        ours = accelerated(values, 0.3, [pulls], 0.95)
        assert ours == pytest.approx(theirs.confidence_interval, rel=1e-12)

    def test_two_samples_equal_to_scipy(self):
        rng = np.random.default_rng(8)
        data = rng.lognormal(size=20), rng.lognormal(1, size=35)

        def difference(x, y, axis=-1):
            return x.mean(axis=axis) - y.mean(axis=axis)

        theirs = stats.bootstrap(
            data, difference, n_resamples=999, method="BCa", rng=np.random.default_rng(5)
        )
        generator = np.random.default_rng(5)
        means = [all_of(bootstrap_weights(len(x), 999, generator)) @ x / len(x) for x in data]
        pulls = [
            influences(sign * (x.sum() - x) / (len(x) - 1))
            for sign, x in zip((1, -1), data, strict=True)
        ]
        ours = accelerated(means[0] - means[1], float(difference(*data)), pulls, 0.95)
        assert ours == pytest.approx(theirs.confidence_interval, rel=1e-12)

    def test_student_of_a_mean_is_the_t_interval(self):
        # Of data with no more kurtosis than normal ones.
        data = np.random.default_rng(8).random(40)
        pulls = [influences((data.sum() - data) / 39)]
        theirs = stats.ttest_1samp(data, 0).confidence_interval(0.9)
        ours = student(float(data.mean()), pulls, 0.9)
        assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-12)

    def test_student_of_two_means_is_nearly_welchs_interval(self):
        # Welch's degrees of freedom are Satterthwaite's, for normal data.
        rng = np.random.default_rng(8)
        data = rng.random(20), 3 * rng.random(35)
        pulls = [
            influences(sign * (x.sum() - x) / (len(x) - 1))
            for sign, x in zip((1, -1), data, strict=True)
        ]
        theirs = stats.ttest_ind(*data, equal_var=False).confidence_interval(0.95)
        ours = student(float(data[0].mean() - data[1].mean()), pulls, 0.95)
        assert ours == pytest.approx((theirs.low, theirs.high), rel=1e-12)

    def test_student_on_the_scale_of_odds(self):
        pulls = [np.array([0.3, -0.1, -0.2, 0.1, -0.1])]
        plain = student(0.8, pulls, 0.95)
        assert sum(plain) == pytest.approx(1.6)
        reach = (plain[1] - 0.8) / (0.8 * 0.2)
        odds = np.log(4) + np.array([-reach, reach])
        expected = 1 / (1 + np.exp(-odds))
        assert student(0.8, pulls, 0.95, lowest=0.0) == pytest.approx(expected, rel=1e-12)
        # A score between -1 and 1 is twice one between 0 and 1, less one.
        twice = student(0.6, [2 * pulls[0]], 0.95, lowest=-1.0)
        assert twice == pytest.approx(2 * expected - 1, rel=1e-12)

    def test_student_at_a_bound(self):
        pulls = [np.array([1.0, -1.0])]
        assert student(1.0, pulls, 0.95, lowest=0.0) is None
        assert student(-0.5, pulls, 0.95, lowest=-0.5) is None
        assert student(0.5, [np.zeros(3)], 0.95, lowest=0.0) is None
        # Nothing is known, but it stays within the bounds.
        assert student(1e-6, [1e9 * pulls[0]], 0.95, lowest=0.0) == (0.0, 1.0)

    def test_influences_of_a_mean_are_deviations(self):
        data = np.random.default_rng(8).normal(size=9)
        found = influences((data.sum() - data) / 8)
        np.testing.assert_allclose(found, data - data.mean(), atol=1e-14)

    def test_degrees_of_freedom_of_normal_data_are_nearly_all(self):
        data = np.random.default_rng(8).normal(size=100_000)
        assert degrees_of_freedom([data - data.mean()]) == pytest.approx(100_000, rel=0.05)

    def test_degrees_of_freedom_are_at_most_all_less_one(self):
        assert degrees_of_freedom([np.array([1.0, -1.0] * 50)]) == pytest.approx(99)
        two = degrees_of_freedom([np.array([1.0, -1.0]), np.array([2.0, -2.0, 0.0])])
        assert two <= 3
        # Variances of 1 and of 4/3, with one and two degrees of freedom.
        assert two == pytest.approx((1 + 4 / 3) ** 2 / (1 + (4 / 3) ** 2 / 2))

    @given(st.lists(st.integers(-9, 9), min_size=4, max_size=30))
    def test_degrees_of_freedom_by_the_kurtosis_of_scipy(self, values):
        moves = np.array(values) - np.mean(values)
        if np.ptp(moves) > 0:
            kurtosis = max(stats.kurtosis(values, bias=False), 0)
            expected = 2 / (kurtosis / len(values) + 2 / (len(values) - 1))
            assert degrees_of_freedom([moves]) == pytest.approx(expected, rel=1e-9)
            assert skewness(moves) == pytest.approx(stats.skew(values, bias=False), abs=1e-9)

    def test_nothing_on_one_side_of_the_estimate(self):
        assert accelerated(np.arange(99.0), -1.0, [np.array([1.0, -1.0])], 0.95) is None
        assert accelerated(np.arange(99.0), 100.0, [np.array([1.0, -1.0])], 0.95) is None

    def test_no_unit_pulls(self):
        assert accelerated(np.arange(99.0), 49.0, [np.zeros(5)], 0.95) is None
        assert not influences(np.array([0.1 + 0.2, 0.3, 0.3])).any()

    def test_too_skewed(self):
        pulls = [np.array([1.0] + [-0.01] * 100)]
        values = np.r_[np.zeros(90), np.ones(9)]
        assert accelerated(values, 0.5, pulls, 0.999999) is None


class TestPermutations:
    @each("n", [1, 3, 6])
    def test_every_swap_once(self, n):
        found = all_of(swaps(n, 2**n, np.random.default_rng(1)))
        assert len(found) == len(set(map(tuple, found.tolist()))) == 2**n
        assert set(found.reshape(-1).tolist()) == {-1.0, 1.0}

    def test_random_swaps_where_there_are_too_many(self):
        found = all_of(swaps(13, 8191, np.random.default_rng(1)))
        assert found.shape == (8191, 13)
        # Each unit is exchanged in half of them, and each pair of units alike in half.
        assert np.abs(found.mean(axis=0)).max() < 4 / 8191**0.5
        assert abs((found[:, 0] * found[:, 12]).mean()) < 4 / 8191**0.5

    def test_p_value_by_hand(self):
        # Of 9 values one reaches 8 and eight lie below: with the observed one (1 + 1)/(9 + 1).
        p, error = tail_share(np.arange(9.0)[:, None], np.array([8.0]), enumerated=False)
        assert p.tolist() == [2 * 0.2]
        assert error.tolist() == pytest.approx([2 * (0.2 * 0.8 / 9) ** 0.5])
        p, error = tail_share(np.arange(10.0)[:, None], np.array([9.0]), enumerated=True)
        assert (p.tolist(), error.tolist()) == ([0.2], [0.0])

    def test_a_difference_in_the_last_digit_is_always_reached(self):
        p, _ = tail_share(np.zeros((99, 1)), np.array([1e-16]), enumerated=False)
        assert p.tolist() == [1.0]

    @given(st.lists(st.floats(0, 1), min_size=1, max_size=9))
    def test_holm_by_its_definition(self, p):
        found = holm(np.array(p))
        order = sorted(range(len(p)), key=lambda i: p[i])
        worst = 0.0
        for rank, i in enumerate(order):
            worst = max(worst, (len(p) - rank) * p[i])
            assert found[i] == min(worst, 1.0)
