"""Sums by key, and how many distinct values there are, against a look at every row."""

from collections import Counter

import numpy as np
from hypothesis import given, strategies as st

from beyondchance import Corpus, agreement
from beyondchance.core.ragged import distinct, n_distinct, total
from beyondchance.results.counts import _distinct
from beyondchance.results.sums import cut_digits, summed
from each import each

KEYS = st.lists(
    st.tuples(st.integers(0, 3) | st.just(10**9), st.integers(0, 5)), min_size=1, max_size=30
)
NUMBERS = st.integers(-5, 5) | st.sampled_from([2**40, 2**60, -(2**60)])


@given(KEYS, st.data())
def test_rows_of_one_key_are_added(keys, data):
    """Whole numbers, whole floats and truth values, however large they are."""
    n = len(keys)
    columns = {
        "whole": np.array(data.draw(st.lists(NUMBERS, min_size=n, max_size=n)), dtype=np.int64),
        "float": np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), float),
        "truth": np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))),
    }
    found = summed(np.array(keys).T, columns)
    assert list(map(tuple, found.keys.T.tolist())) == sorted(set(keys))
    for name, values in columns.items():
        expected = Counter(dict.fromkeys(keys, 0))
        for key, value in zip(keys, values.tolist(), strict=True):
            expected[key] += int(value)
        # Beyond 64 bits they wrap around, as sums of arrays do.
        own = [(expected[key] + 2**63) % 2**64 - 2**63 for key in sorted(expected)]
        assert found[name].dtype == np.int64
        assert found[name].tolist() == own


@given(st.lists(st.floats(0, 1e6).map(lambda x: round(x * 8) / 8), min_size=1))
def test_digits_that_nothing_has_are_missing(values):
    """A column without them has the same sums."""
    array, nothing = np.array(values), np.zeros((1, len(values)), dtype=np.int64)
    found = summed(nothing, cut_digits("x", array))
    lower, upper, whole = (int(part[0]) for part in found.digits("x"))
    assert lower / 2**52 + upper / 2**26 + whole == sum(values)
    assert found.has("x")


@given(st.lists(st.tuples(st.integers(0, 4), st.integers(0, 9) | st.just(10**6)), max_size=30))
def test_distinct_values(pairs):
    """Of all rows, and of each group of them."""
    group, value = np.array(pairs, dtype=np.int64).reshape(-1, 2).T
    assert n_distinct(value) == len(distinct(value)[0]) == len(set(value.tolist()))
    expected = [len({v for g, v in pairs if g == number}) for number in range(5)]
    assert _distinct(group, value, 5).tolist() == expected


@each("people", [2, 3])
@each("measure", ["token", "dice"])
def test_sums_of_documents(people, measure):
    """Added column by column, as all columns together are."""
    rng = np.random.default_rng(people)
    names = [f"d{i // 2}" for i in range(60)]
    spans = {
        f"p{who}": [
            [(s, s + int(rng.integers(1, 4)), "X") for s in rng.choice([0, 4, 8, 12], 2, False)]
            for _ in names
        ]
        for who in range(people)
    }
    corpus = Corpus.from_spans(spans, lengths=[20] * 60, documents=names)
    counts = agreement(corpus, measure=measure).counts
    times = np.arange(len(counts)) % 3
    for weights in (None, times):
        columns = counts.exact(weights)
        n = len(counts.documents)
        digits = [total(counts.document, piece, n) for piece in columns.digits.T]
        expected = columns.put_together(np.stack(digits, axis=1))
        assert counts.sums_of(counts.document, n, weights).tolist() == expected.tolist()
