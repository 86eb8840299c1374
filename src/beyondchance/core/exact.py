"""Sums that no order changes.

Values are rounded to multiples of 2**-52 and cut into whole numbers of 26 bits, which add up
without error. Only the last step rounds, so that a sum is the same, bit for bit, however
it is split and whichever library adds.
"""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beyondchance.core.ragged import total
from beyondchance.types import Floats, Ints

_PRODUCTS_AT_A_TIME = 2**19
LAST_DIGITS = 1e-12
"""How far scores may lie apart and still be the same: they are of order 1, and what is left of
rounding is far smaller."""


def are_alike(values: Floats) -> bool:
    """Return whether scores differ in their last digits at most.

    Examples
    --------
    >>> are_alike(np.array([0.1 + 0.2, 0.3])), are_alike(np.array([0.3, 0.3001]))
    (True, False)
    """
    low, high = float(values.min()), float(values.max())
    return high - low <= LAST_DIGITS * max(1.0, abs(low), abs(high))


def rounded(values: Floats) -> Floats:
    """Round to multiples of 2**-52, which `exact_total` adds without error.

    Examples
    --------
    >>> rounded(np.array([0.5, 2.0**-53 * 3])).tolist() == [0.5, 2.0**-51]
    True
    """
    return np.rint(values * 2.0**52) * 2.0**-52


def exact_total(owner: Ints, values: Floats, rows: int) -> Floats:
    """Sum multiples of 2**-52 by row, exactly, whatever their order.

    Whole parts and two halves of 26 bits are added as integers; only the result
    is rounded. So the sum is the same, bit for bit, however the rows are split.

    Examples
    --------
    >>> exact_total(np.array([0, 0, 0]), np.array([1.0, 2.0**-52, -1.0]), 1).tolist()
    [2.220446049250313e-16]
    """
    if are_whole(values):
        return total(owner, values, rows)
    return put_together(*(total(owner, part, rows) for part in digits_of(values)))


def are_whole(values: NDArray[Any]) -> bool:
    """Return whether all numbers are whole, as sizes and most matches are."""
    return values.dtype.kind in "iu" or bool((np.floor(values) == values).all())


def digits_of(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Split numbers into whole numbers of three units: 2**-52, 2**-26 and 1."""
    whole = np.floor(values)
    rest = (values - whole) * 2.0**26
    upper = np.floor(rest)
    return (rest - upper) * 2.0**26, upper, whole


def carried(lower: Floats, upper: Floats, whole: Floats) -> tuple[Floats, Floats]:
    """Carry what digits exceed 26 bits by: the whole part, and the rest, which a float holds.

    Examples
    --------
    >>> [part.tolist() for part in carried(np.array([0.0]), np.array([2.0**26]), np.array([3.0]))]
    [[4.0], [0.0]]
    """
    over = np.floor(lower * 2.0**-26)
    upper = upper + over
    above = np.floor(upper * 2.0**-26)
    rest = (upper - above * 2.0**26) * 2.0**-26 + (lower - over * 2.0**26) * 2.0**-52
    return whole + above, rest


def put_together(lower: Floats, upper: Floats, whole: Floats) -> Floats:
    """Compute numbers from sums of their digits, rounding once.

    What digits exceed 26 bits by is carried first, so that the same number has the same float,
    however it was cut.

    Examples
    --------
    >>> put_together(np.array([2.0**26]), np.array([2.0**26 - 1]), np.array([3.0])).tolist()
    [4.0]
    """
    return np.add(*carried(lower, upper, whole))


class ExactColumns(NamedTuple):
    """Columns of multiples of 2**-52, cut into whole numbers that add up without error.

    Attributes
    ----------
    digits : array of float, shape (units, pieces)
        Whole numbers.
    places : tuple of (int, int)
        The column of each piece, and its place there: 0 for ones of 2**-52, 1 of 2**-26, 2 of 1.
    n_columns : int
    """

    digits: Floats
    places: tuple[tuple[int, int], ...]
    n_columns: int

    def totals(self, weights: Floats) -> Floats:
        """Compute weighted sums over the units, the same on every machine.

        Returns
        -------
        array of float, shape (len(weights), columns)
        """
        sums = np.zeros((len(weights), self.digits.shape[1]))
        # Small products stay on one thread; threads that wait for one another on a busy machine
        # made larger ones forty times slower.
        step = max(1, _PRODUCTS_AT_A_TIME // max(sums.size, 1))
        for first in range(0, len(self.digits), step):
            sums += weights[:, first : first + step] @ self.digits[first : first + step]
        return self.put_together(sums)

    def by(self, owner: Ints, n: int, rows: Any = slice(None)) -> Floats:
        """Sum the pieces of some rows by owner, shape (n, pieces)."""
        sums = np.zeros((n, self.digits.shape[1]))
        for piece in range(self.digits.shape[1] if len(owner) else 0):
            sums[:, piece] = total(owner, self.digits[rows, piece], n)
        return sums

    def put_together(self, sums: Floats) -> Floats:
        """Compute columns from sums of the pieces: the only step that rounds.

        Returns
        -------
        array of float, shape (len(sums), columns)
        """
        cut = np.zeros((3, len(sums), self.n_columns))
        for piece, (column, place) in enumerate(self.places):
            cut[place, :, column] = sums[:, piece]
        return put_together(*cut)


def exact_columns(columns: Floats) -> ExactColumns:
    """Cut columns into pieces of 26 bits.

    Examples
    --------
    One unit in ten thousand makes a difference in the last bit only, and is not lost.

    >>> columns = exact_columns(np.array([[1.0], [2.0**-52]]))
    >>> float(columns.totals(np.array([[1.0, 1.0]]))[0, 0]) - 1 == 2.0**-52
    True
    """
    return cut_columns([digits_of(column) for column in columns.T], len(columns))


def cut_columns(columns: Sequence[Sequence[Floats | None]], n_rows: int) -> ExactColumns:
    """Build columns from their digits, the smallest first; leave out pieces that are all 0."""
    pieces, places = [], []
    for place in range(3):
        for number, column in enumerate(columns):
            digits = column[place]
            if digits is not None and digits.any():
                pieces.append(digits)
                places.append((number, place))
    digits = np.stack(pieces, axis=1) if pieces else np.zeros((n_rows, 0))
    return ExactColumns(digits.astype(np.float64, copy=False), tuple(places), len(columns))
