"""Random annotations: every arrangement equally often, and their match by hand."""

from collections import Counter

import numpy as np
from hypothesis import given, strategies as st
from scipy import stats

import oracle
from beyondchance.core import observed
from beyondchance.core.draws import disjoint_starts, starts_on_lines
from beyondchance.core.estimates import _drawn, sampled_match, sampled_partners
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import MODELS
from beyondchance.core.observed import equal_spans
from beyondchance.core.span_trees import FREE, Nodes
from each import each
from examples import examples


def starts_of(model, n, lengths, draws, rng):
    nodes = Nodes(lengths, np.full_like(lengths, -1), np.full_like(lengths, FREE))
    return MODELS[model].draw(n, nodes, draws, rng)


@each("model", MODELS)
@each(
    ("n", "lengths"),
    [(4, (1,)), (5, (2, 3)), (6, (1, 2)), (6, (2, 2, 1)), (7, (3,)), (5, (1, 1, 1))],
)
def test_every_arrangement_is_equally_likely(model, n, lengths):
    starts = starts_of(model, n, np.array(lengths), 4_000, np.random.default_rng(2))
    seen = Counter(map(tuple, starts.tolist()))
    possible = oracle.arrangements(n, lengths, model)
    assert set(seen) <= set(possible)
    if len(possible) > 1:
        assert stats.chisquare([seen[starts] for starts in possible]).pvalue > 1e-3


def test_inner_spans_move_with_the_outer_ones():
    # [    4    ]  ..      in 7: the outer spans of 4 and 1, a 2 and a 1 inside the first,
    # [2][1]               and a 1 inside the 2.
    line = ((0, 4, "P"), (0, 2, "Q"), (0, 1, "R"), (2, 3, "S"), (5, 6, "T"))
    lengths, parents = np.array([4, 1, 2, 1, 1]), np.array([-1, -1, 0, 0, 2])
    nodes = Nodes(lengths, parents, np.full_like(lengths, FREE))
    starts = starts_on_lines(7, nodes, 10_000, np.random.default_rng(3))
    seen = Counter(map(tuple, starts.tolist()))
    possible = [(p, t, q, s, r) for p, q, r, s, t in oracle.placed(7, line, "nested")]
    assert set(seen) <= set(possible)
    assert stats.chisquare([seen[starts] for starts in possible]).pvalue > 1e-3


def test_clusters_are_drawn_alike():
    # [0, 3) and [2, 5) cross, and [0, 1) lies in their first cell; a span of 1 is beside them.
    line = ((0, 3, "P"), (2, 5, "Q"), (0, 1, "R"), (6, 7, "S"))
    # The cluster, its two spans, its first cell, what is in there, what is beside.
    nodes = Nodes(
        np.array([5, 3, 3, 2, 1, 1]),
        np.array([-1, 0, 0, 0, 3, -1]),
        np.array([FREE, 0, 2, 0, FREE, FREE]),
    )
    starts = starts_on_lines(8, nodes, 10_000, np.random.default_rng(3))
    seen = Counter(map(tuple, starts[:, [1, 2, 4, 5]].tolist()))
    possible = oracle.placed(8, line, "auto")
    assert set(seen) == set(possible)
    assert stats.chisquare([seen[starts] for starts in possible]).pvalue > 1e-3


def test_many_spans():
    lengths = np.array([1, 2, 3] * 6)
    starts = disjoint_starts(50, lengths, 20_000, np.random.default_rng(1))
    cover = np.zeros((20_000, 50), dtype=np.int64)
    for i, length in enumerate(lengths.tolist()):
        for offset in range(length):
            cover[np.arange(20_000), starts[:, i] + offset] += 1
    assert cover.max() == 1
    expected = np.array(
        [float(1 - 14 * p) for p in oracle.pooled_equation_1(50, lengths.tolist(), 0, 50)]
    )
    error = np.sqrt(expected * (1 - expected) / 20_000)
    assert (np.abs(cover.mean(axis=0) - expected) < 4.5 * error + 1e-12).all()


@st.composite
def drawn(draw):
    """Two annotations of one text, drawn a few times."""
    model = draw(st.sampled_from(list(MODELS)))
    n = draw(st.integers(1, 90))
    sides = []
    rng = np.random.default_rng(draw(st.integers(0, 1000)))
    for _ in range(2):
        lengths = draw(st.lists(st.integers(1, min(n, 9)), min_size=1, max_size=9))
        while not MODELS[model].is_independent and sum(lengths) > n:
            lengths.pop()
        lengths = np.array(lengths or [1])
        sides.append((starts_of(model, n, lengths, 5, rng), lengths))
    return model, n, sides


@given(drawn())
def test_match_by_loops(case):
    model, n, (a, b) = case
    for measure in ("token", "exact"):
        are_disjoint = not MODELS[model].is_independent
        matched = MEASURES[measure].matched
        found = sampled_match(n, a, b, matched=matched, are_disjoint=are_disjoint)
        for draw in range(5):
            spans = [
                Counter(zip(starts[draw].tolist(), lengths.tolist(), strict=True))
                for starts, lengths in (a, b)
            ]
            if measure == "exact":
                expected = (spans[0] & spans[1]).total()
            else:
                held = [
                    [sum(k for (s, d), k in side.items() if s <= t < s + d) for t in range(n)]
                    for side in spans
                ]
                expected = sum(map(min, *held))
            assert found[draw] == expected


def test_many_pairs_of_spans():
    rng = np.random.default_rng(1)
    lengths = np.array([1, 2] * 6)
    sides = [(disjoint_starts(30, lengths, 50, rng), lengths) for _ in range(2)]
    found = sampled_match(30, *sides, matched=equal_spans, are_disjoint=True)
    for draw in range(50):
        one, other = (
            set(zip(starts[draw].tolist(), lengths.tolist(), strict=True)) for starts, _ in sides
        )
        assert found[draw] == len(one & other)


@examples(60)
@given(
    n=st.integers(8, 40),
    lengths=st.tuples(*[st.lists(st.integers(1, 8), min_size=1, max_size=5)] * 2),
    theta=st.sampled_from([0.2, 0.5, 0.7]),
)
def test_partners_are_those_of_every_two_spans_compared(n, lengths, theta):
    a, b = (tuple((0, length, 1, FREE) for length in sorted(side)) for side in lengths)
    model = MODELS["overlapping"]
    found = sampled_partners(n, a, b, model=model, theta=theta, samples=20, seed=1)
    stream, ((one, x), (two, y)) = _drawn(n, a, b, (1, 20, theta, True), model=model, draws=20)
    shared = np.minimum((one + x)[:, :, None], (two + y)[:, None])
    shared -= np.maximum(one[:, :, None], two[:, None])
    close = shared / (x[:, None] + y - shared) > theta
    counts = observed.paired(*np.nonzero(close), 20)
    assert found.stream == stream
    assert (found.mean, found.least) == (counts.mean(), counts.min())
    possible = any(min(i, j) / max(i, j) > theta for i in lengths[0] for j in lengths[1])
    assert found.most == max(counts.max(), possible)


def test_only_spans_that_meet_are_compared(monkeypatch):
    compared = []
    intersecting = observed.intersecting

    def watched(groups, a, b):
        found = intersecting(groups, a, b)
        compared.append(len(found[0]))
        return found

    monkeypatch.setattr(observed, "intersecting", watched)
    spans = tuple((0, length, 1, FREE) for length in range(2, 102))
    options = {"model": MODELS["disjoint"], "theta": 0.3, "samples": 50, "seed": 0}
    sampled_partners(20_000, spans, spans, **options)
    # Disjoint spans of one side meet at most twice as many of the other; there are 10,000 pairs.
    assert 0 < sum(compared) <= 50 * 200
