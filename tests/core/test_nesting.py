"""Which span lies in which, against looking at every pair."""

import numpy as np
from hypothesis import given, strategies as st

import oracle
from beyondchance.core.nesting import nesting

spans_on_lines = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(1, 12)), max_size=8
).map(lambda found: [(line, start, start + length) for line, start, length in found])


def columns(spans):
    return (
        np.array(column, dtype=np.int64)
        for column in (zip(*spans, strict=True) if spans else ([], [], []))
    )


def share(one, two):
    return one[0] == two[0] and max(one[1], two[1]) < min(one[2], two[2])


def cross(one, two):
    holds = one[1] <= two[1] and two[2] <= one[2]
    lies_in = two[1] <= one[1] and one[2] <= two[2]
    return share(one, two) and not holds and not lies_in


@given(spans_on_lines)
def test_every_pair(spans):
    found = nesting(*columns(spans))
    pairs = [(i, j) for i in range(len(spans)) for j in range(len(spans)) if i != j]
    overlapping = [pair for pair in pairs if share(*(spans[i] for i in pair))]
    crossing = [pair for pair in pairs if cross(*(spans[i] for i in pair))]
    assert (found.overlap is None) == (not overlapping)
    assert found.overlap is None or found.overlap in overlapping
    assert (found.crossing is None) == (not crossing)
    assert found.crossing is None or found.crossing in crossing
    crossed = {spans[i][0] for i, _ in crossing}
    assert set(found.crossed.tolist()) == crossed
    for i, (line, start, end) in enumerate(spans):
        if line in crossed:
            continue
        beside = [(s, e, "") for other, s, e in spans if other == line]
        number = [j for j, (other, _, _) in enumerate(spans) if other == line]
        parent = oracle.around(tuple(beside), number.index(i))
        assert found.parent[i] == (-1 if parent < 0 else number[parent])
        holding = [j for j in number if j != i and spans[j][1] <= start and end <= spans[j][2]]
        equal = [j for j in holding if spans[j] == spans[i] and j > i]
        assert found.depth[i] == 1 + len(holding) - len(equal)


def test_spans_far_apart_on_many_lines():
    # Codes of line, start and end together would not fit into 64 bits.
    line = np.array([2**40, 2**40, 7])
    start, end = np.array([0, 5, 0]), np.array([2**31 - 2, 9, 3])
    found = nesting(line, start, end)
    assert found.parent.tolist() == [-1, 0, -1]
