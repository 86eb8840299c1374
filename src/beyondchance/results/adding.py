"""Tables whose rows are added by key, exactly, whatever their order.

A table is a mapping of names to columns. Numbers are multiples of 2**-52. A sum that needs more
than the 53 bits of a float takes two rows: its whole part, and the rest. So rows are never final:
they are what remains to be added.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping, Sequence
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.core.exact import are_whole, carried, digits_of
from beyondchance.core.ragged import distinct, largest
from beyondchance.types import Ints

Columns = Mapping[str, NDArray[Any]]


def summed(table: Columns, by: Sequence[str]) -> dict[str, NDArray[Any]]:
    """Add the rows that have the same keys; truth values are true if they are in all rows.

    Parameters
    ----------
    table : mapping of str to array
    by : sequence of str
        The columns that are keys: whole numbers, -1 or more.

    Examples
    --------
    >>> found = summed({"unit": np.array([2, 1, 2]), "size": np.array([0.5, 1.0, 1.0])}, ["unit"])
    >>> found["unit"].tolist(), found["size"].tolist()
    ([1, 2, 2], [1.0, 1.0, 0.5])
    """
    keys, number = distinct(coded([table[name] for name in by]))
    n = len(keys)
    first, rests = firsts(number, n), {}
    sums = {name: table[name][first] for name in by}
    for name, values in table.items():
        if name in sums:
            continue
        if values.dtype == bool:
            sums[name] = np.bincount(number[~values], minlength=n) == 0
        elif are_whole(values):
            sums[name] = whole_totals(number, values, n).astype(values.dtype, copy=False)
        else:
            digits = (whole_totals(number, part, n) for part in digits_of(values))
            sums[name], rests[name] = carried(*digits)
    rest: Ints = np.flatnonzero(np.any([np.zeros(n), *rests.values()], axis=0))
    if not len(rest):
        return sums
    keys_of_rests = {name: sums[name][rest] for name in by}
    found = concatenated([sums, {**keys_of_rests, **{x: rests[x][rest] for x in rests}}])
    return {name: found[name] for name in sums}


def firsts(number: Ints, n: int) -> Ints:
    """Find the first row of each number.

    Examples
    --------
    >>> firsts(np.array([1, 0, 1]), 2).tolist()
    [1, 0]
    """
    found = np.empty(n, dtype=np.int64)
    found[number[::-1]] = np.arange(len(number))[::-1]
    return found


def coded(keys: Sequence[Ints]) -> Ints:
    """Number keys of several parts so that their order stays; each part is -1 or more."""
    code, width = np.zeros(len(keys[0]), dtype=np.int64), 1
    for part in keys:
        if largest(part) >= 2**31:
            part = distinct(part)[1]  # noqa: PLW2901 - by their ranks
        n = largest(part) + 2
        if width * n >= 2**62:
            code = distinct(code)[1]
            width = largest(code) + 1
        code, width = code * n + part + 1, width * n
    return code


def whole_totals(owner: Ints, values: NDArray[Any], n: int) -> NDArray[Any]:
    """Add whole numbers by owner, exactly as long as sums have no more than 63 bits.

    Examples
    --------
    >>> whole_totals(np.array([0, 0]), np.array([2.0**53, 1.0]), 1).tolist()
    [9007199254740993]
    """
    limit = max(float(values.max(initial=0)), -float(values.min(initial=0))) * len(values)
    if limit < 2**53:
        return np.bincount(owner, weights=values, minlength=n)
    found = np.zeros(n, dtype=np.int64)
    np.add.at(found, owner, values.astype(np.int64))
    return found


def concatenated(tables: Sequence[Columns]) -> dict[str, NDArray[Any]]:
    """Put tables one after the other; a column that one does not have is 0 there, or true."""
    if len(tables) == 1:
        return dict(tables[0])
    columns = {name: column for table in reversed(tables) for name, column in table.items()}
    sizes = [len(next(iter(table.values()))) for table in tables]

    def own(name: str, table: Columns, size: int) -> NDArray[Any]:
        like = columns[name]
        return table[name] if name in table else np.full(size, like.dtype == bool, like.dtype)

    return {
        name: np.concatenate([own(name, *each) for each in zip(tables, sizes, strict=True)])
        for name in columns
    }


def numbered(names: Iterable[Any]) -> dict[Any, int]:
    """Number names."""
    return {name: number for number, name in enumerate(names)}


def numbers(names: Sequence[Any], number: Mapping[Any, int]) -> Ints:
    """Look up the number of each name."""
    return np.fromiter((number[name] for name in names), dtype=np.int64, count=len(names))


def united(parts: Sequence[Sequence[str]]) -> list[str]:
    """List all names of several lists, each once, as they come."""
    return list(dict.fromkeys(chain.from_iterable(parts)))
