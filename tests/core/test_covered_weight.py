"""What random spans cover, against all arrangements."""

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from beyondchance.core.covered_weight import distribution, is_within_reach, sampled_weights


def enumerated(n, lengths, weights):
    """Every order of spans and free positions, once for each: the weight that is covered."""
    items = [*enumerate(lengths), *((-1 - i, 0) for i in range(n - sum(lengths)))]
    counts = Counter()
    for order in set(permutations(items)):
        place = covered = 0
        for number, length in order:
            if number >= 0:
                covered += sum(weights[place : place + length])
            place += length if number >= 0 else 1
        counts[covered] += 1
    total = sum(counts.values())
    return {weight: Fraction(n, total) for weight, n in counts.items()}


@st.composite
def texts(draw):
    lengths = draw(st.lists(st.integers(1, 3), min_size=1, max_size=3))
    n = sum(lengths) + draw(st.integers(0, 3))
    return n, lengths, draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))


@given(texts())
def test_every_arrangement(text):
    n, lengths, weights = text
    found = distribution(n, np.array(lengths), np.array(weights))
    expected = enumerated(n, lengths, weights)
    assert len(found) == sum(weights) + 1
    for weight, share in enumerate(found.tolist()):
        assert share == pytest.approx(float(expected.get(weight, 0)), abs=1e-14)


@given(texts())
def test_draws_have_the_same_mean(text):
    n, lengths, weights = (np.array(x) for x in text)
    found = distribution(int(n), lengths, weights)
    mean = found @ np.arange(len(found))
    drawn = sampled_weights(int(n), lengths, weights, 4000, np.random.default_rng(1))
    sd = np.sqrt(found @ (np.arange(len(found)) - mean) ** 2)
    assert drawn.mean() == pytest.approx(mean, abs=5 * sd / np.sqrt(4000) + 1e-9)
    assert drawn.max() <= weights.sum()


def test_long_texts_keep_their_scale():
    weights = np.zeros(400, dtype=np.int64)
    weights[:5] = 1
    found = distribution(400, np.full(60, 2), weights)
    assert found.sum() == pytest.approx(1)
    assert np.isfinite(found).all()


def test_what_is_within_reach():
    ones = np.ones(20, dtype=np.int64)
    assert is_within_reach(20, np.array([1, 2]), ones)
    assert not is_within_reach(5000, np.array([1, 2]), np.ones(5000, dtype=np.int64))


def test_spans_longer_than_the_text_are_placed_one_by_one():
    drawn = sampled_weights(3, np.array([2, 2]), np.array([1, 0, 0]), 500, np.random.default_rng(1))
    assert set(drawn.tolist()) == {0, 1, 2}
