"""Sums that no order changes, against sums of fractions."""

from __future__ import annotations

from fractions import Fraction

import numpy as np
from hypothesis import given, strategies as st

from beyondchance.core.exact import (
    are_whole,
    digits_of,
    exact_columns,
    exact_total,
    put_together,
    rounded,
)
from beyondchance.core.ragged import total

VALUES = st.lists(st.floats(0, 1e6), min_size=1, max_size=40)


@given(VALUES)
def test_a_sum_is_rounded_once(values: list[float]) -> None:
    cut = rounded(np.array(values))
    found = exact_total(np.zeros(len(cut), dtype=np.int64), cut, 1)[0]
    assert found == float(sum(map(Fraction, cut.tolist())))


@given(VALUES)
def test_whole_numbers_are_added_as_they_are(values: list[float]) -> None:
    whole = np.floor(np.array(values))
    nothing = np.zeros(len(whole), dtype=np.int64)
    assert are_whole(whole)
    expected = put_together(*(total(nothing, digits, 1) for digits in digits_of(whole)))
    for numbers in (whole, whole.astype(np.int64)):
        assert exact_total(nothing, numbers, 1).tolist() == expected.tolist()
    assert not are_whole(whole + 2.0**-20)


@given(VALUES, st.integers(1, 5))
def test_a_number_is_the_same_however_it_was_cut(values: list[float], times: int) -> None:
    cut = rounded(np.array(values))
    of_digits = put_together(*(times * digits for digits in digits_of(cut)))
    assert of_digits.tolist() == [float(times * Fraction(value)) for value in cut.tolist()]


@given(VALUES)
def test_columns_of_weights_are_rounded_once(values: list[float]) -> None:
    cut = rounded(np.array(values))
    weights = np.arange(len(cut), dtype=np.float64)[None]
    found = exact_columns(cut[:, None]).totals(weights)[0, 0]
    assert found == float(sum(i * Fraction(value) for i, value in enumerate(cut.tolist())))
