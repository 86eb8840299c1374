"""What moves with what: spans inside spans, clusters of spans that cross, and their cells."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
from beyondchance.core.draws import starts_on_lines
from beyondchance.core.nesting import nesting
from beyondchance.core.span_trees import FREE, flattened, forest, structure_of, written

spans_on_lines = st.lists(
    st.tuples(st.integers(0, 2), st.integers(0, 12), st.integers(1, 12)), unique=True, max_size=8
).map(lambda found: [(line, start, start + length) for line, start, length in found])


def structure(spans, group=None):
    columns = zip(*spans, strict=True) if spans else ([], [], [])
    line, start, end = (np.array(column, dtype=np.int64) for column in columns)
    own = line if group is None else np.array(group, dtype=np.int64)
    return structure_of(line, start, end, own, nesting(line, start, end))


def trees(found):
    order = np.argsort(found.depth, kind="stable").tolist()
    columns = found.parent, found.length, np.ones_like(found.length), found.offset
    rows = zip(*(column.tolist() for column in columns), strict=True)
    nodes = dict(enumerate(rows))
    return forest({i: nodes[i] for i in order})


def test_two_spans_that_cross_with_one_inside():
    # [0, 4) and [3, 6) cross; [1, 2) lies in the first of their three cells.
    found = structure([(0, 0, 4), (0, 3, 6), (0, 1, 2)])
    assert found.length.tolist() == [4, 3, 1, 6, 3, 1, 2]
    assert found.parent.tolist() == [3, 3, 4, -1, 3, 3, 3]
    assert found.offset.tolist() == [0, 3, FREE, FREE, 0, 3, 4]
    assert found.stacks.node.tolist() == [2, 4, 5, 6]
    assert found.stacks.height().tolist() == [1, 1, 2, 1]
    assert found.stacks.around.tolist() == [1, -1, -1, -1]
    assert found.stacks.starting.tolist() == [1, 1, 1, 0]
    assert found.stacks.ending.tolist() == [1, 0, 1, 1]


@given(spans_on_lines)
def test_clusters_are_what_crossing_links(spans):
    found = structure(spans)
    for line in {line for line, _, _ in spans}:
        number = [i for i, span in enumerate(spans) if span[0] == line]
        own = tuple((spans[i][1], spans[i][2], "") for i in number)
        parts = [part for part in oracle.clusters(own, tuple(range(len(own)))) if len(part) > 1]
        expected = {tuple(sorted(number[i] for i in part)) for part in parts}
        fixed = [i for i in number if found.offset[i] != FREE]
        by_parent = {int(found.parent[i]): [] for i in fixed}
        for i in fixed:
            by_parent[int(found.parent[i])].append(i)
        assert {tuple(sorted(part)) for part in by_parent.values()} == expected


@given(spans_on_lines)
def test_every_node_lies_in_its_parent(spans):
    found = structure(spans)
    fixed = found.offset != FREE
    around = found.parent[fixed]
    assert (found.offset[fixed] + found.length[fixed] <= found.length[around]).all()
    for parent in {int(p) for p in found.parent if p >= 0}:
        free = (found.parent == parent) & ~fixed
        assert found.length[free].sum() <= found.length[parent]


@given(spans_on_lines, st.data())
def test_stacks_hold_the_spans_around_them(spans, data):
    group = [2 * line + data.draw(st.integers(0, 1)) for line, _, _ in spans]
    found = structure(spans, group)
    stacks = found.stacks
    # Every span's positions lie in stacks: as many times as spans of its group cover them.
    for g in set(group):
        own = [span for span, which in zip(spans, group, strict=True) if which == g]
        covered = sum(end - start for _, start, end in own)
        rows = np.flatnonzero(stacks.group == g)
        assert (found.length[stacks.node[rows]] * stacks.height()[rows]).sum() == covered
        assert stacks.starting[rows].sum() == len(own) == stacks.ending[rows].sum()
        for row in rows.tolist():
            if stacks.around[row] >= 0:
                inner, outer = stacks.node[row], stacks.node[stacks.around[row]]
                assert found.length[inner] <= found.length[outer]
                assert stacks.length[stacks.first[row + 1] - 1] <= found.length[outer]


@given(spans_on_lines)
def test_mirroring_twice_changes_nothing(spans):
    found = structure(spans)
    again = found.mirrored().mirrored()
    np.testing.assert_array_equal(again.offset, found.offset)
    np.testing.assert_array_equal(again.stacks.starting, found.stacks.starting)


@given(spans_on_lines)
def test_trees_do_not_depend_on_the_order_of_spans(spans):
    # One line after the other mixes their trees, which does not matter here.
    assert trees(structure(spans)) == trees(structure(spans[::-1]))


@given(spans_on_lines, st.integers(0, 99))
def test_drawn_clusters_keep_their_distances(spans, seed):
    own = [(0, start, end) for line, start, end in spans if line == 0]
    if not own:
        return
    found = structure(own)
    nodes, _ = flattened(trees(found))
    n = max(end for _, _, end in own) + 3
    for starts in starts_on_lines(n, nodes, 3, np.random.default_rng(seed)):
        assert (starts >= 0).all()
        assert (starts + nodes.length <= n).all()
        fixed = nodes.offset != FREE
        np.testing.assert_array_equal(
            starts[fixed] - starts[nodes.parent[fixed]], nodes.offset[fixed]
        )
        # A cluster that was drawn is a cluster again.
        again = structure([(0, s, s + a) for s, a in zip(starts, nodes.length, strict=True)])
        del again


def nodes_of_a_chain(depth):
    return {i: (i - 1, 2 * depth - i, 1, FREE) for i in range(depth)}


@pytest.mark.slow
def test_trees_of_any_depth_are_compared_and_written():
    depth = 5000
    deep, deeper = (forest(nodes_of_a_chain(size)) for size in (depth, depth + 1))
    assert deep == forest(nodes_of_a_chain(depth)) != deeper
    assert min(deeper, deep) == deep
    assert hash(deep) == hash(forest(nodes_of_a_chain(depth)))
    assert written(deep).count("(") == 2 * depth + 1
    nodes, _ = flattened(deep)
    assert nodes.parent.tolist() == list(range(-1, depth - 1))


nested_trees = st.recursive(
    st.tuples(st.integers(1, 2), st.integers(0, 1), st.sampled_from([FREE, 0]), st.just(())),
    lambda inner: st.tuples(
        st.integers(1, 2),
        st.integers(0, 1),
        st.sampled_from([FREE, 0]),
        st.lists(inner, max_size=3).map(lambda trees: tuple(sorted(trees))),
    ),
    max_leaves=6,
)
nested_forests = st.lists(nested_trees, min_size=1, max_size=3).map(lambda f: tuple(sorted(f)))


def flat(trees, depth=0):
    return tuple(
        row
        for length, mark, offset, inner in trees
        for row in ((depth, length, mark, offset), *flat(inner, depth + 1))
    )


@given(nested_forests, nested_forests)
def test_forests_compare_and_are_written_as_nested_tuples(one, two):
    assert (flat(one) < flat(two)) == (one < two)
    assert written(flat(one)) == repr(one)
    nodes, marks = flattened(flat(one))
    columns = nodes.parent, nodes.length, marks, nodes.offset
    rows = zip(*(column.tolist() for column in columns), strict=True)
    assert forest(dict(enumerate(rows))) == flat(one)
