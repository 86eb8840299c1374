"""Expected match, against brute force in rational arithmetic."""

from fractions import Fraction
from itertools import combinations_with_replacement

import numpy as np
import pytest

import oracle
from beyondchance import expected_match, sample_arrangements
from each import each


def pairs(texts):
    return [(n, a, b) for n, found in texts.items() for a in found for b in found if a <= b]


DISJOINT = pairs({n: [m for m in oracle.multisets(n) if m] for n in range(1, 9)})
OVERLAPPING = pairs(
    {
        n: [m for k in (1, 2, 3) for m in combinations_with_replacement(range(1, n + 1), k)]
        for n in range(1, 6)
    }
)


PAIRS = {"disjoint": DISJOINT, "overlapping": OVERLAPPING}
EXACT = {"token": oracle.expected_tokens, "exact": oracle.expected_equal}


def test_small_pairs_are_all_there():
    assert (len(DISJOINT), len(OVERLAPPING)) == (3901, 2376)


@pytest.mark.parametrize(
    ("most", "every"),
    [
        pytest.param(5, 31, id="some"),
        pytest.param(7, 17, marks=pytest.mark.slow, id="more"),
        pytest.param(8, 1, marks=pytest.mark.long, id="all"),
    ],
)
@each("model", PAIRS)
@each("measure", EXACT)
def test_every_small_pair_against_brute_force(model, measure, most, every):
    cases = [case for case in PAIRS[model] if case[0] <= most]
    for n, a, b in cases[::every]:
        exact = EXACT[measure](n, a, b, model)
        found = expected_match(n, a, b, measure=measure, model=model)
        assert abs(Fraction(found) - exact) < 5e-15, (n, a, b)


@pytest.mark.parametrize(
    ("every", "total"),
    [
        pytest.param(70, 10, id="some"),
        pytest.param(7, 100, marks=pytest.mark.slow, id="more"),
        pytest.param(1, 700, marks=pytest.mark.long, id="all"),
    ],
)
@each(
    ("measure", "phi"),
    [
        ("boundary", lambda a, b: (a[0] == b[0]) + (a[1] == b[1])),
        ("dice", oracle.dice),
        ("iou", lambda a, b: oracle.close(a, b, Fraction(1, 2))),
    ],
)
def test_every_small_pair_span_by_span(measure, phi, every, total):
    # Proposition 1: the expectation adds up over pairs of spans.
    found = [case for case in DISJOINT if case[0] <= 6][::every]
    assert len(found) == total
    for n, a, b in found:
        exact = Fraction(0)
        starts = [oracle.start_probabilities(n, side, "disjoint") for side in (a, b)]
        for i, p in enumerate(starts[0]):
            for j, q in enumerate(starts[1]):
                exact += sum(
                    p[x] * q[y] * phi((x, x + a[i], ""), (y, y + b[j], ""))
                    for x in range(len(p))
                    for y in range(len(q))
                )
        assert abs(Fraction(expected_match(n, a, b, measure=measure)) - exact) < 5e-15, (n, a, b)


@pytest.mark.parametrize(
    "seeds", [range(4), pytest.param(range(4, 40), marks=pytest.mark.slow)], ids=["few", "many"]
)
def test_random_texts_against_equation_1(seeds):
    for seed in seeds:
        check_by_equation_1(np.random.default_rng(seed))


def check_by_equation_1(rng):
    n = int(rng.integers(12, 61))
    a, b = (_random_lengths(n, rng) for _ in range(2))
    starts = [[oracle.equation_1(n, side, i) for i in range(len(side))] for side in (a, b)]
    covered = []
    for side, found in zip((a, b), starts, strict=True):
        cover = [Fraction(0)] * n
        for length, places in zip(side, found, strict=True):
            for start, p in enumerate(places):
                for t in range(start, start + length):
                    cover[t] += p
        covered.append(cover)
    tokens = sum(p * q for p, q in zip(*covered, strict=True))
    equal = sum(
        (
            p * q
            for length_a, places_a in zip(a, starts[0], strict=True)
            for length_b, places_b in zip(b, starts[1], strict=True)
            if length_a == length_b
            for p, q in zip(places_a, places_b, strict=True)
        ),
        Fraction(0),
    )
    assert abs(Fraction(expected_match(n, a, b)) - tokens) < 1e-12
    assert abs(Fraction(expected_match(n, a, b, measure="exact")) - equal) < 1e-12


def _random_lengths(n, rng):
    lengths = [int(rng.integers(1, 9))]
    while (length := int(rng.integers(1, 9))) <= n - sum(lengths) and len(lengths) < 7:
        lengths.append(length)
    return lengths


def test_empty_annotation_matches_nothing():
    assert expected_match(5, [], [2]) == 0
    assert expected_match(5, [2], []) == 0
    assert expected_match(0, [], []) == 0


def test_million_tokens_one_span_each():
    # Two spans of 5 in a million tokens overlap by 5 * 5 / n, but for the edges.
    n, places = 1_000_000, 999_996
    edge = sum(min(t, 5) ** 2 - 25 for t in range(1, 5))
    assert expected_match(n, [5], [5]) == pytest.approx((25 * n + 2 * edge) / places**2, rel=1e-9)
    assert expected_match(n, [5], [5], measure="exact") == pytest.approx(1 / places, rel=1e-12)


@pytest.mark.parametrize(
    "n",
    [
        pytest.param(3_000, marks=pytest.mark.slow),
        pytest.param(30_000, marks=pytest.mark.long),
    ],
)
def test_large_text_by_the_token_measure(n):
    # 300 spans in 30,000 characters against themselves: coverage by the integral.
    lengths = [3 + i % 28 for i in range(n // 100)]
    free = n - sum(lengths)
    cover = 1 - free * oracle.by_arrival_times(n, lengths, 0, 500)
    found = expected_match(n, lengths, lengths)
    assert found == pytest.approx(float(cover @ cover), rel=1e-9)


@pytest.mark.slow
def test_large_text_by_the_exact_measure():
    # Few distinct lengths, so that the integral is cheap: 2 and 7 in 5,000 tokens.
    lengths = [2] * 225 + [7] * 75
    found = expected_match(5000, lengths, lengths, measure="exact")
    exact = 0.0
    for length, count in ((2, 225), (7, 75)):
        places = oracle.by_arrival_times(5000, lengths, length, 400)
        middle = float(oracle.flat_value(5000, lengths, length))
        assert places[2500] == pytest.approx(middle, rel=1e-9)
        exact += count * count * float(places @ places)
    assert found == pytest.approx(exact, rel=1e-9)


def test_a_million_tokens_by_the_exact_measure():
    # The middle, by Proposition 3's constant, is all but a millionth part of it.
    n, lengths = 1_000_000, [2] * 300 + [5] * 200
    middle = {length: float(oracle.flat_value(n, lengths, length)) for length in (2, 5)}
    exact = sum(
        count * count * (n - length + 1) * middle[length] ** 2
        for length, count in ((2, 300), (5, 200))
    )
    found = expected_match(n, lengths, lengths, measure="exact")
    assert found == pytest.approx(exact, rel=1e-8)


class TestSampling:
    @each("model", ["disjoint", "overlapping"])
    def test_every_arrangement_is_equally_likely(self, model):
        # Pearson's chi-squared over all arrangements; 5.2 standard deviations.
        n, lengths, draws = 6, (1, 2, 1), 20_000
        arrangements = oracle.arrangements(n, lengths, model)
        number = {starts: i for i, starts in enumerate(arrangements)}
        found = sample_arrangements(n, lengths, size=draws, model=model, seed=7)
        seen = np.bincount([number[tuple(s)] for s in found.tolist()], minlength=len(number))
        expected = draws / len(arrangements)
        statistic = ((seen - expected) ** 2 / expected).sum()
        freedom = len(arrangements) - 1
        assert abs(statistic - freedom) < 5.2 * np.sqrt(2 * freedom)

    def test_mean_match_is_the_expected_one(self):
        n, a, b, draws = 40, [2, 3, 7], [1, 2, 3, 4], 20_000
        rng = np.random.default_rng(1)
        cover = [np.zeros((draws, n)), np.zeros((draws, n))]
        for side, lengths in enumerate((a, b)):
            starts = sample_arrangements(n, lengths, size=draws, seed=rng)
            for i, length in enumerate(lengths):
                for t in range(length):
                    cover[side][np.arange(draws), starts[:, i] + t] = 1
        matched = (cover[0] * cover[1]).sum(axis=1)
        error = matched.std() / np.sqrt(draws)
        assert abs(matched.mean() - expected_match(n, a, b)) < 4 * error

    def test_same_seed_same_draws(self):
        first = sample_arrangements(30, [2, 5], size=10, seed=3)
        second = sample_arrangements(30, [2, 5], size=10, seed=np.random.default_rng(3))
        np.testing.assert_array_equal(first, second)

    def test_degenerate_texts(self):
        assert sample_arrangements(4, [], size=3, seed=1).shape == (3, 0)
        assert sample_arrangements(4, [4], size=2, seed=1).tolist() == [[0], [0]]
        full = sample_arrangements(5, [2, 3], size=50, seed=1)
        assert {tuple(s) for s in full.tolist()} == {(0, 2), (3, 0)}
