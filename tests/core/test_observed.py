"""Observed match, against looking at every pair of spans."""

import tracemalloc
from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from beyondchance.core.observed import (
    SpanGroups,
    _shared_by_several,
    _shared_once,
    intersecting,
    largest_pairing,
    overlapping_groups,
    paired,
    partners,
    shared_positions,
)
from each import each

spans = st.lists(
    st.tuples(st.integers(0, 10), st.integers(1, 6)).map(lambda s: (s[0], s[0] + s[1])),
    min_size=1, max_size=6, unique=True,
).map(sorted)  # fmt: skip


def groups_of(*found):
    return SpanGroups(
        first=np.cumsum([0, *map(len, found)]),
        start=np.array([s for side in found for s, _ in side], dtype=np.int64),
        end=np.array([e for side in found for _, e in side], dtype=np.int64),
    )


def covered(side):
    """How often each position is covered."""
    return Counter(position for start, end in side for position in range(start, end))


teams = st.lists(st.just([]) | spans | spans.map(lambda side: side[:1]), min_size=1, max_size=5)


@given(teams)
def test_positions_in_common(sides):
    """Of groups of no span, of one and of several, which may overlap."""
    groups = groups_of(*sides)
    a, b = (side.ravel() for side in np.indices((len(sides), len(sides))))
    pairs = [(sides[i], sides[j]) for i, j in zip(a.tolist(), b.tolist(), strict=True)]
    expected = [(covered(one) & covered(two)).total() for one, two in pairs]
    assert shared_positions(groups, a, b).tolist() == expected
    overlaps = [max(covered(side).values(), default=0) > 1 for side in sides]
    assert overlapping_groups(groups).tolist() == overlaps
    if not any(overlaps):
        assert _shared_once(groups, a, b).tolist() == expected
        if all(sides):
            assert _shared_by_several(groups, a, b).tolist() == expected


@given(spans, spans, spans)
def test_spans_that_intersect(a, b, c):
    row, one, two = intersecting(groups_of(a, b, c), np.array([0, 2]), np.array([1, 0]))
    expected = []
    for which, (left, first, right, second) in enumerate(
        ((a, 0, b, len(a)), (c, len(a) + len(b), a, 0))
    ):
        expected += [
            (which, first + i, second + j)
            for i, (s, e) in enumerate(left)
            for j, (t, f) in enumerate(right)
            if max(s, t) < min(e, f)
        ]
    assert sorted(zip(row.tolist(), one.tolist(), two.tolist(), strict=True)) == sorted(expected)


def most_pairs(wishes):
    """By trying everything."""
    if not wishes:
        return 0
    (one, two), rest = wishes[0], wishes[1:]
    without = most_pairs(rest)
    return max(without, 1 + most_pairs([w for w in rest if w[0] != one and w[1] != two]))


@given(st.lists(st.sets(st.tuples(st.integers(0, 4), st.integers(0, 4)), max_size=9), max_size=3))
def test_the_largest_pairing(rows):
    edges = [(row, one, two) for row, found in enumerate(rows) for one, two in sorted(found)]
    columns = np.array(edges, dtype=np.int64).reshape(-1, 3).T
    found = paired(*columns, len(rows))
    assert found.tolist() == [most_pairs(sorted(wishes)) for wishes in rows]


def test_a_long_chain_of_wishes():
    # 0 wants 0; 1 wants 0 and 1; 2 wants 1 and 2; ... the last one upsets all.
    n = 3000
    one = np.concatenate([np.arange(n), np.arange(1, n)])
    two = np.concatenate([np.arange(n), np.arange(n - 1)])
    assert paired(np.zeros_like(one), one[::-1], two[::-1], 1).tolist() == [n]


@each(("theta", "found"), [(0.7, 0), (0.69, 1)])
def test_at_the_threshold(theta, found):
    # Seven of ten positions are not more than .7, although .7 is not seven tenths to a computer.
    groups = groups_of([(0, 10)], [(0, 7)])
    assert partners(groups, np.array([0]), np.array([1]), theta=theta).tolist() == [found]


def test_what_meets_is_found_without_looking_at_what_does_not():
    # Ten thousand spans inside one: each meets that one and its twin, and no other is looked at.
    k = 10_000
    start = np.concatenate([[0], np.arange(k)] * 2)
    end = np.concatenate([[k], np.arange(k) + 1] * 2)
    groups = SpanGroups(np.array([0, k + 1, 2 * k + 2]), start, end)
    tracemalloc.start()
    row, _, _ = intersecting(groups, np.array([0]), np.array([1]))
    _, peak = tracemalloc.get_traced_memory()
    tracemalloc.stop()
    assert len(row) == 3 * k + 1
    assert peak < 1000 * k


@given(st.dictionaries(st.integers(0, 5), st.integers(1, 63), max_size=6))
def test_the_largest_pairing_of_bits(wishes):
    pairs = [(one, two) for one, bits in wishes.items() for two in range(6) if bits >> two & 1]
    assert largest_pairing(wishes) == most_pairs(pairs)


def test_a_dense_pairing_asks_each_once():
    # The last k - 1 find nobody, and ask no one whom the first has asked in vain.
    k = 3000
    assert largest_pairing(dict.fromkeys(range(k), (1 << k // 2) - 1)) == k // 2
