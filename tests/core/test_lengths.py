"""Equal texts and lengths once, against a look at every group."""

import numpy as np
from hypothesis import given, strategies as st

from beyondchance.core.lengths import _counted, _runs, tabulate
from beyondchance.core.ragged import bounds

LENGTHS = st.lists(st.integers(1, 5), min_size=1, max_size=4)
GROUPS = st.lists(st.tuples(st.integers(1, 4), LENGTHS), min_size=1, max_size=12)


def columns(groups, seed):
    """The text size of each group; the group and the length of each span, in any order."""
    owner = np.repeat(np.arange(len(groups)), [len(lengths) for _, lengths in groups])
    length = np.array([size for _, lengths in groups for size in lengths], dtype=np.int64)
    order = np.random.default_rng(seed).permutation(len(owner))
    return np.array([n for n, _ in groups]), owner[order], length[order]


def plain_runs(n_groups, owner, length):
    """The runs of all groups, by counting the spans of all of them."""
    stride = int(length.max(initial=0)) + 1
    runs, count = _counted(owner * stride + length, n_groups * stride)
    run_owner, run_length = np.divmod(runs, stride)
    return bounds(run_owner, n_groups), run_length, count


@given(st.lists(st.tuples(st.just(9), LENGTHS | st.just([])), min_size=1), st.integers(0, 3))
def test_runs_of_groups(groups, seed):
    """Groups of one span are not counted, and have the same runs."""
    n, owner, length = columns(groups, seed)
    expected = plain_runs(len(n), owner, length)
    for found, column in zip(_runs(len(n), owner, length), expected, strict=True):
        assert found.dtype == column.dtype
        assert found.tolist() == column.tolist()


@given(GROUPS, st.integers(0, 3))
def test_equal_groups_are_one_entry(groups, seed):
    """Entries are ordered by the number of lengths, the text, and the lengths."""
    table, entry = tabulate(*columns(groups, seed))
    kinds = [(n, *sorted(lengths)) for n, lengths in groups]
    runs = [(len(set(kind[1:])), kind[0], _run_lengths(kind[1:])) for kind in kinds]
    ranked = {run: number for number, run in enumerate(sorted(set(runs)))}
    assert entry.tolist() == [ranked[run] for run in runs]
    for number, kind in zip(entry.tolist(), kinds, strict=True):
        own = slice(table.first[number], table.first[number + 1])
        lengths = np.repeat(table.length[own], table.count[own])
        assert (int(table.n[number]), *lengths.tolist()) == kind


def _run_lengths(lengths):
    return tuple((size, lengths.count(size)) for size in sorted(set(lengths)))
