"""Sums that no order changes.

Values are rounded to multiples of 2**-52 and cut into whole numbers of 26 bits, which add up
without error. Only the last step rounds, so that a sum is the same, bit for bit, however
it is split and whichever library adds.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beyondchance.core.ragged import total
from beyondchance.types import Floats, Ints

_PRODUCTS_AT_A_TIME = 2**19
LAST_DIGITS = 1e-12
"""How far scores may lie apart and still be the same: they are of order 1, and what is left of
rounding is far smaller."""


def are_alike(values: Floats) -> bool:
    """Whether scores differ in their last digits at most.

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
    lower, upper, whole = _digits(values)
    if not (lower.any() or upper.any()):
        return total(owner, values, rows)
    return total(owner, whole, rows) + (
        total(owner, upper, rows) * 2.0**-26 + total(owner, lower, rows) * 2.0**-52
    )


def _digits(values: Floats) -> tuple[Floats, Floats, Floats]:
    """Numbers as whole numbers of three units: 2**-52, 2**-26 and 1."""
    whole = np.floor(values)
    rest = (values - whole) * 2.0**26
    upper = np.floor(rest)
    return (rest - upper) * 2.0**26, upper, whole


@dataclass(frozen=True, slots=True)
class ExactColumns:
    """Columns of multiples of 2**-52, cut into whole numbers that add up without error.

    Attributes
    ----------
    digits : array of float, shape (units, pieces)
        Whole numbers.
    scale : tuple of (int, float)
        The column of each piece, and what its ones are worth there; the smallest first.
    n_columns : int
    """

    digits: Floats
    scale: tuple[tuple[int, float], ...]
    n_columns: int

    def totals(self, weights: Floats) -> Floats:
        """Weighted sums over the units, the same on every machine.

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

    def put_together(self, sums: Floats) -> Floats:
        """Columns again, from sums of the pieces: the only step that rounds.

        Returns
        -------
        array of float, shape (len(sums), columns)
        """
        found = np.zeros((len(sums), self.n_columns))
        for piece, (column, scale) in enumerate(self.scale):
            found[:, column] += sums[:, piece] * scale
        return found


def exact_columns(columns: Floats) -> ExactColumns:
    """Cut columns into pieces of 26 bits.

    Examples
    --------
    One unit in ten thousand makes a difference in the last bit only, and is not lost.

    >>> columns = exact_columns(np.array([[1.0], [2.0**-52]]))
    >>> float(columns.totals(np.array([[1.0, 1.0]]))[0, 0]) - 1 == 2.0**-52
    True
    """
    pieces, scale = [], []
    for part, unit in zip(_digits(columns), (2.0**-52, 2.0**-26, 1.0), strict=True):
        for column in range(columns.shape[1]):
            if part[:, column].any():
                pieces.append(part[:, column])
                scale.append((column, unit))
    digits = np.stack(pieces, axis=1) if pieces else np.zeros((len(columns), 0))
    return ExactColumns(digits, tuple(scale), columns.shape[1])
