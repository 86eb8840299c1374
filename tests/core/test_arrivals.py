"""Dense texts, by the integral over arrival times, against sums of positive terms."""

from fractions import Fraction
from itertools import cycle, product

import numpy as np
import pytest

import oracle
from beyondchance import coverage, expected_match, start_probabilities
from beyondchance.core import arrivals, placement
from beyondchance.core.lengths import table_of
from each import each

MEASURES = ("token", "exact", "boundary", "dice", "iou")
EXTREMES = {
    "full, one length": (600, [12] * 50),
    "full, two lengths": (660, [12] * 30 + [10] * 30),
    "full, many lengths": (819, list(range(2, 41))),
    "full, multiples of 6": (1260, [6 * i for i in range(1, 21)]),
    "one free position, one length": (601, [12] * 50),
    "one free position, many lengths": (820, list(range(2, 41))),
    "one span that is not long": (602, [12] * 50 + [1]),
    "half full": (1000, [7] * 40 + [11] * 20),
    "few long spans": (900, [170, 180, 190, 200, 150]),
    "flat in the middle": (700, [2] * 80 + [3] * 40 + [5] * 20),
}


@pytest.fixture
def by_arrival(monkeypatch):
    """All texts by the integral, and how often factors are evaluated: nodes times frequencies."""
    monkeypatch.setattr(placement, "_SMALL_LONGS", -1)
    monkeypatch.setattr(placement, "_FEW_LONGS", -1)
    monkeypatch.setattr(placement, "_MOST_WORK", 0)
    return counted(monkeypatch)


def counted(monkeypatch):
    factors, product_of = [], arrivals._product

    def _product(p, length, *others):
        factors.append(p.size * len(length))
        return product_of(p, length, *others)

    monkeypatch.setattr(arrivals, "_product", _product)
    return factors


def random_text(seed):
    """A text that is half full at least, often to the last position or to the last but one."""
    rng = np.random.default_rng(seed)
    n = int(rng.integers(60, 900))
    kinds = rng.integers(2 + n // 150, rng.integers(10, 60), size=rng.integers(1, 41)).tolist()
    left = int(n * rng.choice([rng.uniform(0.5, 1), rng.uniform(0.95, 1)]))
    lengths = []
    while fitting := [a for a in kinds if a <= left]:
        lengths.append(int(rng.choice(fitting)))
        left -= lengths[-1]
    return (n, sum(lengths), sum(lengths) + 1)[rng.integers(3)], lengths


def expected_by_oracle(n, lengths, measure):
    """The expected match of two annotations with these lengths, from sums of positive terms."""
    count = {a: lengths.count(a) for a in sorted(set(lengths))}
    starts = {a: oracle.by_positive_terms(n, lengths, a) for a in count}
    if measure == "exact":
        return sum(k * k * (starts[a] @ starts[a]) for a, k in count.items())
    if measure == "boundary":
        any_start = np.zeros(n)
        for a, k in count.items():
            any_start[: n - a + 1] += k * starts[a]
        return 2 * any_start @ any_start
    covered = {a: np.convolve(starts[a], np.ones(a)) for a in count}
    if measure == "token":
        any_span = sum(k * covered[a] for a, k in count.items())
        return any_span @ any_span
    pairs = [(a, b, count[a] * count[b]) for a, b in product(count, count)]
    if measure == "dice":
        return sum(times * 2 / (a + b) * (covered[a] @ covered[b]) for a, b, times in pairs)
    # Spans whose starts differ by so much share more than half of what they cover.
    return sum(
        times
        * (starts[a][max(0, -lag) : n - b + 1 - lag] @ starts[b][max(0, lag) : n - a + 1 + lag])
        for a, b, times in pairs
        for lag in range(1 - b, a)
        if 3 * (min(a, lag + b) - max(0, lag)) > a + b
    )


def test_oracle_agrees_with_fractions():
    for n, lengths in [(40, [3, 4, 4, 7, 1, 9]), (25, [5] * 5), (60, [11, 13, 2, 2, 2, 20])]:
        for taken in {*lengths, *([0] if sum(lengths) < n else [])}:
            exact = oracle.pooled_equation_1(n, lengths, taken, n + 1)
            found = oracle.by_positive_terms(n, lengths, taken)
            assert max(abs(Fraction(p) - q) for p, q in zip(found, exact, strict=True)) < 1e-16


def check(n, lengths, asked):
    starts = dict(zip(lengths, start_probabilities(n, lengths), strict=True))
    for a in asked:
        exact = oracle.by_positive_terms(n, lengths, a)
        np.testing.assert_allclose(starts[a], exact, rtol=0, atol=1e-13 * exact.max())
    if sum(lengths) < n:
        exact = 1 - (n - sum(lengths)) * oracle.by_positive_terms(n, lengths, 0)
        np.testing.assert_allclose(coverage(n, lengths), exact, rtol=0, atol=1e-13)


@pytest.mark.slow
@pytest.mark.parametrize(
    "seeds",
    [
        range(3),
        pytest.param(range(3, 15), marks=pytest.mark.slow),
        pytest.param(range(15, 40), marks=pytest.mark.long),
    ],
)
def test_random_dense_texts(by_arrival, seeds):
    for seed in seeds:
        n, lengths = random_text(seed)
        check(n, lengths, sorted(set(lengths))[:: max(1, len(set(lengths)) // 3)])
        assert by_arrival or len(lengths) == 1, seed
        by_arrival.clear()


@pytest.mark.slow
def test_extremes(by_arrival):
    for name, (n, lengths) in EXTREMES.items():
        check(n, lengths, sorted(set(lengths))[:: max(1, len(set(lengths)) // 4)])
        assert by_arrival, name
        by_arrival.clear()


@pytest.mark.parametrize(
    "cases",
    [
        pytest.param(list(zip(EXTREMES, cycle(MEASURES), strict=False)), marks=pytest.mark.slow),
        pytest.param(list(product(EXTREMES, MEASURES)), marks=pytest.mark.long),
    ],
    ids=["in turn", "all"],
)
def test_every_measure(by_arrival, cases):
    for name, measure in cases:
        n, lengths = EXTREMES[name]
        exact = expected_by_oracle(n, lengths, measure)
        found = expected_match(n, lengths, lengths, measure=measure)
        assert found == pytest.approx(exact, rel=1e-12), (name, measure)
        assert by_arrival or (measure == "token" and n == sum(lengths)), (name, measure)
        by_arrival.clear()


def test_flat_middle_agrees_with_the_table(monkeypatch):
    n, lengths = 20_000, [5] * 500 + [9] * 700 + [14] * 300
    by_table = start_probabilities(n, lengths)[0]
    monkeypatch.setattr(placement, "_MOST_WORK", 0)
    factors = counted(monkeypatch)
    by_integral = start_probabilities(n, lengths)[0]
    # Whole, it would be 36 nodes and 4 lengths at every other position.
    assert 0 < sum(factors) < 5 * n
    np.testing.assert_allclose(by_integral, by_table, rtol=1e-13)


def test_middle_that_is_flat_costs_nothing(by_arrival):
    for n in (20_000, 40_000, 1_000_000):
        found = coverage(n, [2] * (n // 10) + [7] * (n // 20) + [30] * (n // 100))
        assert found.sum() == pytest.approx(n * 0.85, rel=1e-13)
    first, *others = np.array(by_arrival).reshape(3, -1).sum(axis=1).tolist()
    assert others == [first, first]


@pytest.mark.slow
def test_cost_grows_with_the_text_where_the_middle_is_not_flat(monkeypatch):
    # Whatever comes before the integral is small.
    factors, cost = counted(monkeypatch), []
    for n in (25_000, 50_000):
        coverage(n, [25] * (39 * n // 1000))
        cost.append(sum(factors))
        factors.clear()
    assert 0 < cost[0] < 25_000 / 2 * 40 * 2 + 10_000
    assert cost[1] < 2.5 * cost[0]


def test_all_items_share_the_product(by_arrival):
    lengths = list(range(2, 42))
    coverage(1000, lengths)
    once = sum(by_arrival)
    by_arrival.clear()
    start_probabilities(1000, lengths)
    assert sum(by_arrival) == once
    by_arrival.clear()
    # And so do two sides that are equal.
    expected_match(1000, lengths, lengths, measure="exact")
    assert sum(by_arrival) == once


@pytest.mark.slow
@each(("n", "lengths"), [(1000, list(range(2, 42))), (4000, [4] * 400 + [9] * 200)])
def test_no_digit_depends_on_which_other_items_are_asked_for(by_arrival, n, lengths):
    table = table_of(n, np.array(lengths))
    items = np.unique([1, *lengths])
    together = placement.item_profiles(table, np.zeros_like(items), items)
    for index, item in enumerate(items.tolist()):
        alone = placement.item_profiles(table, np.array([0]), np.array([item]))
        np.testing.assert_array_equal(alone.expand(0), together.expand(index))
    assert by_arrival


@pytest.mark.slow
def test_table_where_it_takes_less_work(monkeypatch):
    factors = counted(monkeypatch)
    coverage(1000, [10] * 90)
    expected_match(3000, [3 + i % 28 for i in range(90)], [5, 6], measure="exact")
    # Long rows, but few of them.
    coverage(200_000, [30_000, 31_000, 32_000, 33_000, 34_000])
    assert not factors
    # One table is fast; one for each of 60 lengths is not.
    lengths = list(range(40, 100))
    coverage(sum(lengths) + 100, lengths)
    assert not factors
    start_probabilities(sum(lengths) + 100, lengths)
    assert factors


def test_rule_is_right_to_the_last_digit():
    node, weight = arrivals._rule(arrivals._NODES)
    for power in (0, 1, 5, 20, 2 * arrivals._NODES - 1):
        total = sum(Fraction(w) * Fraction(x) ** power for x, w in zip(node, weight, strict=True))
        assert abs(total * (power + 1) - 1) < 2e-15
