"""What random spans cover, against all arrangements."""

from collections import Counter
from fractions import Fraction
from itertools import permutations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from beyondchance.core.draws import sampled_weights

DRAWS = 4000


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


def drawn(*texts, draws=DRAWS):
    """Texts with as many spans each, end to end."""
    n, lengths, weights = zip(*texts, strict=True)
    begin = np.cumsum([0, *n[:-1]])
    before = np.concatenate([[0], np.cumsum(np.concatenate(weights))]).astype(np.int64)
    rng = np.random.default_rng(1)
    return sampled_weights(np.array(n), np.array(lengths), begin, before, draws=draws, rng=rng)


@st.composite
def texts(draw):
    k = draw(st.integers(1, 3))
    found = []
    for _ in range(2):
        lengths = draw(st.lists(st.integers(1, 3), min_size=k, max_size=k))
        n = sum(lengths) + draw(st.integers(0, 3))
        found.append((n, lengths, draw(st.lists(st.integers(0, 3), min_size=n, max_size=n))))
    return found


@given(texts())
def test_every_arrangement(both):
    """Each weight is drawn as often as arrangements cover it, within five standard errors."""
    for text, found in zip(both, drawn(*both), strict=True):
        expected = enumerated(*text)
        assert set(found.tolist()) <= expected.keys()
        for weight, share in expected.items():
            error = np.sqrt(float(share * (1 - share)) / DRAWS)
            assert np.mean(found == weight) == pytest.approx(float(share), abs=5 * error + 1e-12)


@pytest.mark.parametrize("k", [63, 64])
def test_many_spans(k):
    """Single positions cover 5 of 400 with a hypergeometric distribution."""
    weights = np.zeros(400, dtype=np.int64)
    weights[:5] = 1
    (found,) = drawn((400, np.ones(k, dtype=np.int64), weights), draws=1000)
    assert found.mean() == pytest.approx(k * 5 / 400, abs=0.15)
    assert found.max() <= 5


def test_spans_longer_than_the_text_are_placed_one_by_one():
    (found,) = drawn((3, [2, 2], [1, 0, 0]), draws=500)
    assert set(found.tolist()) == {0, 1, 2}
