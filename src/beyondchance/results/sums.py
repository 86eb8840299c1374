"""Whole numbers by key, which add in any order."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from functools import reduce
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.core.exact import are_whole, digits_of
from beyondchance.core.ragged import distinct
from beyondchance.types import Bools, Floats, Ints


@dataclass(frozen=True, eq=False)
class Sums:
    """Whole numbers by key, sorted by key.

    Attributes
    ----------
    keys : array of int, shape (parts of a key, rows)
    columns : mapping of str to array of int, shape (rows,)
        A number with digits behind the point has three: ``name.0`` in units of 2**-52,
        ``name.1`` of 2**-26, ``name.2`` of 1. What is 0 everywhere may be missing.
    """

    keys: Ints
    columns: Mapping[str, Ints]

    def __len__(self) -> int:
        return int(self.keys.shape[1])

    def __getitem__(self, name: str) -> Ints:
        column = self.columns.get(name)
        return np.zeros(len(self), dtype=np.int64) if column is None else column

    def digits(self, name: str) -> tuple[Ints, Ints, Ints]:
        """The digits of a number, the smallest first."""
        return self[f"{name}.0"], self[f"{name}.1"], self[f"{name}.2"]

    def has(self, name: str) -> bool:
        """Whether a number with digits is there."""
        return f"{name}.2" in self.columns

    def rekeyed(self, keys: Ints) -> Sums:
        """The same numbers with other keys; those that become equal are added."""
        return summed(keys, self.columns)

    def only(self, keep: Bools | Ints) -> Sums:
        """Some of the rows."""
        return Sums(self.keys[:, keep], {n: column[keep] for n, column in self.columns.items()})


def summed(keys: Ints, columns: Mapping[str, NDArray[Any]]) -> Sums:
    """Add the rows of equal key.

    Examples
    --------
    >>> found = summed(np.array([[2, 1, 2]]), {"rows": np.array([1, 1, 1])})
    >>> found.keys.tolist(), found["rows"].tolist()
    ([[1, 2]], [1, 2])
    """
    n_rows = keys.shape[1]
    widths = [int(part.max(initial=0)) + 1 for part in keys]
    if reduce(lambda one, other: one * other, widths, 1) < 2**62:
        code = np.zeros(n_rows, dtype=np.int64)
        for part, width in zip(keys, widths, strict=True):
            code = code * width + part
        if int(code.max(initial=0)) <= 16 * n_rows:
            found, number = distinct(code)
            return _summed_by_number(np.stack(_cells(found, widths)), number, columns)
        order = np.argsort(code, kind="stable")
        is_first = np.diff(code[order], prepend=-1) != 0
    else:
        order = np.lexsort(keys[::-1])
        is_first = np.ones(n_rows, dtype=bool)
        is_first[1:] = np.any(keys[:, order[1:]] != keys[:, order[:-1]], axis=0)
    first = np.flatnonzero(is_first)
    sums = {}
    for name, values in columns.items():
        column = np.asarray(values, dtype=np.int64)[order]
        sums[name] = np.add.reduceat(column, first) if len(first) else column
    return Sums(keys[:, order[first]], _without_zeros(sums))


def _cells(code: Ints, widths: Sequence[int]) -> list[Ints]:
    """The parts of keys, from the number that they make."""
    parts: list[Ints] = []
    for width in reversed(widths):
        code, part = np.divmod(code, width)
        parts.insert(0, part)
    return parts


def _summed_by_number(keys: Ints, number: Ints, columns: Mapping[str, NDArray[Any]]) -> Sums:
    """Add the rows of each number: where these are dense, nothing needs to be sorted."""
    sums, n = {}, keys.shape[1]
    for name, values in columns.items():
        if values.dtype == bool:
            sums[name] = np.bincount(number[values], minlength=n)
            continue
        largest = max(int(values.max(initial=0)), -int(values.min(initial=0)))
        # Sums of floats are exact as long as they are below 2**53.
        if largest * len(number) < 2**53:
            sums[name] = np.bincount(number, weights=values, minlength=n).astype(np.int64)
        else:
            sums[name] = int_totals(number, np.asarray(values, dtype=np.int64), n)
    return Sums(keys, _without_zeros(sums))


def _without_zeros(sums: Mapping[str, Ints]) -> dict[str, Ints]:
    """The columns, without digits behind the point that nothing has."""
    return {n: values for n, values in sums.items() if not n.endswith((".0", ".1")) or values.any()}


def added(parts: Sequence[Sums]) -> Sums:
    """All numbers of several tables, whose keys mean the same."""
    if len(parts) == 1:
        return parts[0]
    names = dict.fromkeys(chain.from_iterable(part.columns for part in parts))
    keys = np.concatenate([part.keys for part in parts], axis=1)
    return summed(keys, {n: np.concatenate([part[n] for part in parts]) for n in names})


def cut_digits(name: str, values: Floats) -> dict[str, Floats]:
    """The columns of a number with digits behind the point; digits that nothing has are missing."""
    if are_whole(values):
        return {f"{name}.2": values}
    return {f"{name}.{place}": digits for place, digits in enumerate(digits_of(values))}


def renumbered(keys: Ints, sizes: Sequence[Ints]) -> Ints:
    """Keys by other numbers: each part of a key by its own."""
    return np.stack([size[part] for size, part in zip(sizes, keys, strict=True)])


def int_totals(owner: Ints, values: Ints, n: int) -> Ints:
    """Sums of whole numbers, exact whatever their size."""
    found = np.zeros(n, dtype=np.int64)
    np.add.at(found, owner, values)
    return found
