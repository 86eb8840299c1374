"""Where documents begin and end in the rows of a table, and how they are numbered."""

from itertools import takewhile

import pytest
from hypothesis import given, strategies as st

from beyondchance.io.row_groups import _n_equal, _n_equal_at_end

pa = pytest.importorskip("pyarrow")

NAMES = st.sampled_from(["a", "b", "d10", None])
RUNS = st.lists(st.tuples(NAMES, st.sampled_from([1, 2, 3, 63, 64, 65, 600])), max_size=5)


def columns(rows):
    """A column as it may come: whole, in chunks, and with numbers that stand for names."""
    whole = pa.array(rows, type=pa.string())
    cut = len(rows) // 3
    yield pa.chunked_array([whole])
    yield pa.chunked_array([whole.slice(0, cut), whole.slice(cut)])
    yield pa.chunked_array([whole.dictionary_encode()])


@given(runs=RUNS, name=NAMES)
def test_runs_at_both_ends(runs, name):
    """As a look at every row finds them, however long they are."""
    rows = [name for name, n in runs for _ in range(n)]
    for column in columns(rows):
        assert _n_equal(column, name) == len(list(takewhile(lambda row: row == name, rows)))
        if rows:
            same = takewhile(lambda row: row == rows[-1], reversed(rows))
            assert _n_equal_at_end(column) == len(list(same))
