"""Rows regrouped so that no document is in two tables."""

from itertools import chain, pairwise

import pytest
from hypothesis import given, strategies as st

from beyondchance.io.pieces import _arrow_blocks

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


@given(runs=RUNS, n_rows=st.sampled_from([1, 2, 64, 100, 10**4]))
def test_no_document_is_in_two_tables(runs, n_rows):
    """Runs of rows of a document are kept together, however long they are, and in their order."""
    rows = [name for name, n in runs for _ in range(n)]
    for column in columns(rows):
        table = pa.table({"row": range(len(rows)), "document": column})
        parts = (table[first : first + 50] for first in range(0, len(rows), 50))
        found = [*_arrow_blocks(parts, 1, n_rows, 7)]
        names = [own.column(1).to_pylist() for _, own in found]
        assert [*chain(*names)] == rows
        assert all(own[-1] != other[0] for own, other in pairwise(names))
        assert [n for n, _ in found] == [own.column(0)[0].as_py() + 7 for _, own in found]
        is_many = len(rows) > max((n for _, n in runs), default=0) * 3 + 2 * n_rows + 100
        assert len(found) > 1 or not is_many or len({*rows}) < 2
