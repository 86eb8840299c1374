"""Weighted placement, against all arrangements in fractions."""

from __future__ import annotations

from collections import Counter
from fractions import Fraction
from itertools import product
from math import prod

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from beyondchance import start_probabilities
from beyondchance.core import weighted
from beyondchance.core.corpus_placement import corpus_starts
from beyondchance.core.weighted import weighted_draws, weighted_rows, weighted_starts
from examples import examples


def arrangements(weight, length, count):
    """All arrangements of spans, those of a kind in any order, and the weight of each."""
    n = len(weight[0])
    kinds = [kind for kind, k in enumerate(count) for _ in range(k)]
    for starts in product(range(n), repeat=len(kinds)):
        covered = [
            x for kind, s in zip(kinds, starts, strict=True) for x in range(s, s + length[kind])
        ]
        if len(set(covered)) < len(covered) or max(covered, default=0) >= n:
            continue
        yield (
            starts,
            prod(
                (Fraction(weight[kind][s]) for kind, s in zip(kinds, starts, strict=True)),
                start=Fraction(1),
            ),
        )


def by_enumeration(weight, length, count):
    """Expected starts over all arrangements; None if none of them has a weight."""
    kinds = [kind for kind, k in enumerate(count) for _ in range(k)]
    found = [[Fraction(0)] * len(weight[0]) for _ in length]
    whole = Fraction(0)
    for starts, w in arrangements(weight, length, count):
        whole += w
        for kind, s in zip(kinds, starts, strict=True):
            found[kind][s] += w
    return [[value / whole for value in row] for row in found] if whole else None


@st.composite
def problems(draw):
    n = draw(st.integers(1, 7))
    length = draw(st.lists(st.integers(1, 3), min_size=1, max_size=2))
    count = [draw(st.integers(1, 2)) for _ in length]
    assume(sum(count) <= 3)
    assume(all(span <= n for span in length))
    weight = [
        [draw(st.integers(0, 5)) if x + span <= n else 0 for x in range(n)] for span in length
    ]
    return weight, length, count


@examples(300)
@given(problems())
def test_all_arrangements(problem):
    weight, length, count = problem
    expected = by_enumeration(weight, length, count)
    assume(expected is not None)
    found = weighted_starts(
        np.array(weight, dtype=float)[:, None], np.array(length), np.array(count)
    )
    np.testing.assert_allclose(found[:, 0], np.array(expected, dtype=float), rtol=0, atol=1e-13)


@pytest.mark.parametrize(("n", "lengths"), [(20, [2, 3, 4]), (30, [1, 1, 2, 2, 5]), (9, [9])])
def test_equal_weights_are_uniform_placement(n, lengths):
    length, count = np.unique(lengths, return_counts=True)
    weight = np.array([[[float(x + span <= n) for x in range(n)]] for span in length])
    found = weighted_starts(weight, length, count)[:, 0]
    for kind, span in enumerate(length.tolist()):
        each = start_probabilities(n, lengths)[lengths.index(span)]
        np.testing.assert_allclose(found[kind, : len(each)], count[kind] * each, atol=1e-13)


def random_batch(seed, n=12, texts=3):
    rng = np.random.default_rng(seed)
    length, count = np.array([1, 2, 4]), np.array([2, 1, 1])
    weight = rng.random((3, texts, n))
    for kind, span in enumerate(length):
        weight[kind, :, n - span + 1 :] = 0
    return weight, length, count


def test_starts_add_up_to_counts_and_do_not_depend_on_neighbours():
    weight, length, count = random_batch(1)
    found = weighted_starts(weight, length, count)
    np.testing.assert_allclose(found.sum(axis=2), np.tile(count[:, None], 3), rtol=1e-13)
    for text in range(3):
        alone = weighted_starts(weight[:, text : text + 1], length, count)
        assert (alone[:, 0] == found[:, text]).all()


def test_mirror():
    weight, length, count = random_batch(2)
    mirrored = weighted._mirrored(weight, length)
    found = weighted._mirrored(weighted_starts(weight, length, count), length)
    np.testing.assert_allclose(weighted_starts(mirrored, length, count), found, atol=1e-14)


def test_padding_and_walls_are_weights_of_zero():
    weight, length, count = random_batch(3)
    padded = np.concatenate([weight, np.zeros((3, 3, 5))], axis=2)
    found = weighted_starts(padded, length, count)
    np.testing.assert_allclose(found[:, :, :12], weighted_starts(weight, length, count), atol=1e-15)


def test_fugacities_have_the_counts_and_are_near():
    rng = np.random.default_rng(4)
    n, length, count = 400, np.array([1, 3]), np.array([30, 20])
    weight = rng.random((2, 2, n)) + 0.1
    weight[1, :, n - 2 :] = 0
    exact = weighted_starts(weight, length, count)
    near = weighted_starts(weight, length, np.tile(count[:, None], 2))
    np.testing.assert_allclose(near.sum(axis=2), np.tile(count[:, None], 2), rtol=2e-6)
    assert np.abs(near - exact).max() < exact.max() / 20
    assert abs((near[0, 0] * near[0, 1]).sum() / (exact[0, 0] * exact[0, 1]).sum() - 1) < 1e-3


@pytest.mark.parametrize(
    ("n", "length", "count"),
    [(300, [1, 2], [150, 75]), (200, [2], [100]), (301, [1, 2], [150, 75])],
)
def test_fugacities_of_texts_that_are_full_or_nearly_so(n, length, count):
    rng = np.random.default_rng(6)
    length, count = np.array(length), np.array(count)
    # Padding is free, however full a text is.
    weight = rng.random((len(length), 1, n + 9)) + 0.1
    weight *= np.arange(n + 9) <= n - length[:, None, None]
    found = weighted_starts(weight, length, count[:, None])[:, 0]
    np.testing.assert_allclose(found.sum(axis=1), count, rtol=1e-6)
    covered = sum(
        np.convolve(own, np.ones(span))[:n] for own, span in zip(found, length, strict=True)
    )
    assert covered.max() <= 1 + 1e-9
    if n == length @ count:
        np.testing.assert_allclose(covered, 1, rtol=1e-9)


def test_weights_beyond_the_range_of_a_float():
    # Six spans for two good places: four are in eight places that are hardly ever used.
    logs = np.array([[[0.0] * 2 + [-200.0] * 8]])
    one, six = np.array([1]), np.array([6])
    assert not np.isfinite(weighted_starts(np.exp(logs), one, six)).any()
    found = weighted.starts_by_fugacities(logs, one, six[:, None])
    np.testing.assert_allclose(found[0, 0], [1] * 2 + [0.5] * 8, rtol=1e-5)


def test_concentrated_weights_place_spans_there():
    weight = np.full((1, 1, 10), 1e-9)
    weight[0, 0, [2, 6]] = 1
    weight[0, 0, 9:] = 0
    found = weighted_starts(weight, np.array([2]), np.array([2]))
    assert found[0, 0, [2, 6]].tolist() == pytest.approx([1, 1], abs=1e-6)


def test_free_positions_have_a_weight():
    weight = np.array([[[1.0, 1.0, 0.0]]])
    rows = weighted_rows(weight, np.array([2]), np.array([1]), 0.5)
    assert rows[3, 0].tolist() == [0.125, 1.0]


def test_kinds_that_a_text_does_not_have_change_nothing():
    rng = np.random.default_rng(5)
    weight = rng.random((2, 1, 40))
    weight[1, :, 38:] = 0
    length, count = np.array([1, 3]), np.array([[6], [4]])
    alone = weighted_starts(weight, length, count)
    more = np.concatenate([weight, rng.random((1, 1, 40)), np.zeros((1, 1, 40))])
    found = weighted_starts(more, np.array([1, 3, 2, 40]), np.array([[6], [4], [0], [0]]))
    assert (found[:2] == alone).all()
    assert not found[2:].any()


# --- Texts one after the other ------------------------------------------------


def end_to_end(sizes, length):
    """Weights of places in texts that lie end to end, which no span crosses."""
    room = np.concatenate([np.arange(n, 0, -1) for n in sizes])
    return (room >= np.array(length)[:, None]).astype(float)


@pytest.mark.parametrize(
    ("sizes", "lengths"),
    [([4, 3], [2, 1]), ([5, 4, 5, 2], [3, 2, 2, 1]), ([2, 2, 2], [2, 1]), ([9, 1, 6], [4, 3, 1])],
)
def test_walls_make_a_corpus_of_a_text(sizes, lengths):
    length, count = np.unique(lengths, return_counts=True)
    found = weighted_starts(end_to_end(sizes, length)[:, None], length, count)[:, 0]
    n, texts = np.unique(sizes, return_counts=True)
    wide = corpus_starts(n, texts, length, count)
    assert wide.is_exact
    for i, (size, run) in enumerate(zip(wide.size, wide.run, strict=True)):
        for text in np.flatnonzero(np.array(sizes) == n[size]):
            here = found[run, sum(sizes[:text]) :][: n[size] - length[run] + 1]
            np.testing.assert_allclose(here, wide.starts.expand(i), rtol=0, atol=1e-13)


# --- Draws --------------------------------------------------------------------


WEIGHTED = [
    ([[3, 0, 1, 2, 5, 0]], [2], [2]),
    ([[1, 4, 1, 0, 2, 3, 1], [2, 1, 0, 0, 7, 0, 0]], [1, 3], [2, 1]),
    ([[0, 1, 2, 3, 0], [1, 1, 1, 0, 0], [5, 1, 0, 2, 3]], [2, 3, 1], [1, 0, 2]),
    ([[1, 0, 1, 0, 1, 0]], [2], [3]),
]


@pytest.mark.parametrize(("weight", "length", "count"), WEIGHTED)
def test_draws_of_all_arrangements(weight, length, count):
    draws = 20_000
    rng = np.random.default_rng(7)
    found = weighted_draws(np.array(weight, float), *map(np.array, (length, count)), draws, rng)
    ends = np.cumsum(count)[:-1]

    def sorted_starts(starts):
        return tuple(tuple(sorted(part)) for part in np.split(np.array(starts), ends))

    drawn = Counter(map(sorted_starts, found.tolist()))
    weights = Counter()
    for starts, w in arrangements(weight, length, count):
        weights[sorted_starts(starts)] += w
    whole = sum(weights.values())
    assert set(drawn) <= {starts for starts, w in weights.items() if w}
    for starts, w in weights.items():
        p = float(w / whole)
        assert abs(drawn[starts] / draws - p) <= 4 * np.sqrt(p * (1 - p) / draws)


def test_draws_have_the_expected_starts():
    weight, length, count = random_batch(8, n=40)
    rng = np.random.default_rng(9)
    expected = weighted_starts(weight, length, count)
    for text in range(3):
        found = weighted_draws(weight[:, text], length, count, 5_000, rng)
        for kind, own in enumerate(np.split(found, np.cumsum(count)[:-1], axis=1)):
            share = np.bincount(own.ravel(), minlength=40) / 5_000
            p = expected[kind, text]
            assert (np.abs(share - p) <= 4 * np.sqrt(p * (1 - p) / 5_000) + 1e-9).all()


def test_nothing_is_drawn_where_nothing_is_or_where_it_cannot_be():
    rng = np.random.default_rng(1)
    nothing = np.zeros(0, dtype=np.int64)
    assert weighted_draws(np.ones((0, 9)), nothing, nothing, 5, rng).shape == (5, 0)
    no_room = np.array([[0.0, 1.0, 1.0, 0.0]])
    assert weighted_draws(no_room, np.array([2]), np.array([2]), 5, rng).shape == (0, 2)
    # Weights of rows that no float can hold, and too many of them.
    many = np.array([1_500])
    for n in (4_000, 40_000):
        assert not len(weighted_draws(np.ones((1, n)), np.array([1]), many, 5, rng))
