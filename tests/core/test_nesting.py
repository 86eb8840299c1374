"""Which span lies in which, against looking at every pair."""

import numpy as np
from hypothesis import given, strategies as st

import oracle
from beyondchance.core.nesting import depth_among, forest, nesting, outer_first

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
    if found.crossing is not None:
        assert found.crossing in crossing
        return
    for i, (line, start, end) in enumerate(spans):
        beside = [(s, e, "") for other, s, e in spans if other == line]
        number = [j for j, (other, _, _) in enumerate(spans) if other == line]
        parent = oracle.around(tuple(beside), number.index(i))
        assert found.parent[i] == (-1 if parent < 0 else number[parent])
        holding = [j for j in number if j != i and spans[j][1] <= start and end <= spans[j][2]]
        equal = [j for j in holding if spans[j] == spans[i] and j > i]
        assert found.depth[i] == 1 + len(holding) - len(equal)


@given(spans_on_lines, st.data())
def test_depth_among_the_spans_of_a_group(spans, data):
    found = nesting(*columns(spans))
    if found.crossing is not None:
        return
    group = np.array([data.draw(st.integers(0, 1)) for _ in spans], dtype=np.int64)
    depth = depth_among(group, found.parent, found.depth)
    for i in range(len(spans)):
        expected, j = 1, int(found.parent[i])
        while j >= 0:
            expected += int(group[j] == group[i])
            j = int(found.parent[j])
        assert depth[i] == expected


@given(spans_on_lines)
def test_trees_do_not_depend_on_the_order_of_spans(spans):
    def trees(found):
        line, start, end = columns(found)
        nest = nesting(line, start, end)
        if nest.crossing is not None:
            return None
        order = outer_first(line, start, end).tolist()
        # One line after the other would mix their trees, which does not matter here.
        return forest({i: (int(nest.parent[i]), int(end[i] - start[i]), 1) for i in order})

    assert trees(spans) == trees(spans[::-1])


def test_spans_far_apart_on_many_lines():
    # Codes of line, start and end together would not fit into 64 bits.
    line = np.array([2**40, 2**40, 7])
    start, end = np.array([0, 5, 0]), np.array([2**31 - 2, 9, 3])
    found = nesting(line, start, end)
    assert found.parent.tolist() == [-1, 0, -1]
