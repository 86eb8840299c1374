"""Sums by key, and how many distinct values there are, against a look at every row."""

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from beyondchance import Corpus, agreement, difficulty
from beyondchance.core.exact import rounded
from beyondchance.core.ragged import distinct, n_distinct, total
from beyondchance.results.adding import concatenated, summed
from beyondchance.results.counts import _distinct
from each import each

KEYS = st.lists(
    st.tuples(st.integers(-1, 3) | st.just(10**9), st.integers(0, 5)), min_size=1, max_size=30
)
NUMBERS = st.integers(-5, 5) | st.sampled_from([2**40, 2**57, -(2**57)])


@given(KEYS, st.data())
def test_rows_of_one_key_are_added(keys, data):
    """Whole numbers, whole floats and truth values, however large they are."""
    n = len(keys)
    columns = {
        "whole": np.array(data.draw(st.lists(NUMBERS, min_size=n, max_size=n)), dtype=np.int64),
        "float": np.array(data.draw(st.lists(st.integers(0, 9), min_size=n, max_size=n)), float),
        "truth": np.array(data.draw(st.lists(st.booleans(), min_size=n, max_size=n))),
    }
    one, other = np.array(keys).T
    found = summed({"one": one, "other": other, **columns}, ["one", "other"])
    own = list(zip(found["one"].tolist(), found["other"].tolist(), strict=True))
    assert own == sorted(set(keys))
    for name, values in columns.items():
        by_key = {key: [] for key in own}
        for key, value in zip(keys, values.tolist(), strict=True):
            by_key[key].append(value)
        add = all if name == "truth" else sum
        assert found[name].dtype == values.dtype
        assert found[name].tolist() == [add(by_key[key]) for key in own]


def test_keys_of_more_than_63_bits_stay_in_order():
    rows = np.array([[2**31 - 1] * 3, [0] * 3])
    found = summed({**dict(zip("abc", rows.T, strict=True)), "n": np.array([1, 2])}, list("abc"))
    assert found["n"].tolist() == [2, 1]


@given(st.lists(st.integers(0, 2**72).map(lambda x: x % 2 ** (x % 64) * 2.0**-52), min_size=1))
def test_a_sum_of_more_than_53_bits_takes_two_rows(values):
    """Whole part and rest are the sum, exactly, and so are sums of such rows."""
    table = {"key": np.zeros(len(values), dtype=np.int64), "x": rounded(np.array(values))}
    expected = sum(Fraction(x) for x in table["x"].tolist())
    found = summed(table, ["key"])
    assert sum(map(Fraction, found["x"].tolist())) == expected
    assert len(found["x"]) == 1 + (expected.denominator > 1)
    twice = summed(concatenated([found, found]), ["key"])
    assert sum(map(Fraction, twice["x"].tolist())) == 2 * expected


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
    for result in (agreement(corpus, measure=measure), difficulty(corpus, measure=measure)):
        counts = result.counts
        columns = counts.leveled().columns
        n = len(counts.documents)
        digits = [total(counts.document, piece, n) for piece in columns.digits.T]
        expected = columns.put_together(np.stack(digits, axis=1))
        assert counts.sums_of(counts.document, n).tolist() == expected.tolist()
