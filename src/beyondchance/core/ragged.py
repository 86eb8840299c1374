"""Rows of unequal length in flat arrays."""

from __future__ import annotations

from itertools import pairwise

import numpy as np

from beyondchance.types import Bools, Floats, Ints


def largest(values: Ints, default: int = 0) -> int:
    """Return the largest of whole numbers, or the default where there are none.

    Examples
    --------
    >>> largest(np.array([3, 7])), largest(np.array([], dtype=np.int64))
    (7, 0)
    """
    return int(values[values.argmax()]) if len(values) else default


def widths(first: Ints) -> Ints:
    """Return how many members each row has, from where rows begin and where the last ends.

    Examples
    --------
    >>> widths(np.array([0, 2, 2, 5])).tolist()
    [2, 0, 3]
    """
    return first[1:] - first[:-1]


def starts(counts: Ints) -> Ints:
    """Return where each row begins when rows of these lengths lie end to end.

    Examples
    --------
    >>> starts(np.array([2, 0, 3])).tolist()
    [0, 2, 2]
    """
    return counts.cumsum() - counts


def spread(counts: Ints) -> tuple[Ints, Ints]:
    """Number the cells of ragged rows: the row of each cell, its place in it.

    Parameters
    ----------
    counts : array of int, shape (rows,)
        How many cells each row has.

    Returns
    -------
    owner, place : arrays of int, shape (counts.sum(),)

    Examples
    --------
    >>> owner, place = spread(np.array([2, 0, 3]))
    >>> owner.tolist(), place.tolist()
    ([0, 0, 2, 2, 2], [0, 1, 0, 1, 2])
    """
    owner = np.arange(len(counts)).repeat(counts)
    return owner, np.arange(len(owner)) - starts(counts)[owner]


def bounds(owner: Ints, rows: int) -> Ints:
    """Return where each row begins in an array sorted by `owner`, and where the last ends.

    Examples
    --------
    >>> bounds(np.array([0, 0, 2, 2, 2]), 3).tolist()
    [0, 2, 2, 5]
    """
    return np.bincount(owner + 1, minlength=rows + 1).cumsum()


def members(first: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """List the members of the rows chosen: which of these rows each is in, and the member.

    Examples
    --------
    >>> which, member = members(np.array([0, 2, 5]), np.array([1, 0]))
    >>> which.tolist(), member.tolist()
    ([0, 0, 0, 1, 1], [2, 3, 4, 0, 1])
    """
    begin = first[chosen]
    which, place = spread(first[chosen + 1] - begin)
    return which, begin[which] + place


def rows_by_value(values: Ints) -> list[Ints]:
    """List the rows that have each value, the least value first.

    Examples
    --------
    >>> [rows.tolist() for rows in rows_by_value(np.array([2, 1, 2]))]
    [[1], [0, 2]]
    """
    order = np.argsort(values, kind="stable")
    return np.split(order, np.flatnonzero(np.diff(values[order])) + 1)


def distinct(values: Ints) -> tuple[Ints, Ints]:
    """Find the distinct values in ascending order, and for each value its number among them.

    What `np.unique` gives with its inverse, by sorting only where values are sparse, and
    without loading NumPy's masked arrays on the first call, which takes as long as scoring
    a small corpus. Values are not negative.

    Examples
    --------
    >>> found, number = distinct(np.array([7, 3, 7]))
    >>> found.tolist(), number.tolist()
    ([3, 7], [1, 0, 1])
    """
    most = largest(values)
    if most <= 16 * len(values) + 1024:
        number = np.zeros(most + 1, dtype=np.int64)
        number[values] = 1
        found = number.nonzero()[0]
        number[found] = np.arange(len(found))
        return found, number[values]
    order = values.argsort(kind="stable")
    ranked = values[order]
    is_new = np.diff(ranked, prepend=-1) > 0
    number = np.empty(len(ranked), dtype=np.int64)
    number[order] = np.cumsum(is_new) - 1
    return ranked[is_new], number


def n_distinct(values: Ints) -> int:
    """Count the distinct values, none of which is negative.

    Examples
    --------
    >>> n_distinct(np.array([7, 3, 7]))
    2
    """
    most = largest(values)
    if most > 16 * len(values) + 1024:
        return len(distinct(values)[0])
    occurs = np.zeros(most + 1, dtype=bool)
    occurs[values] = True
    return int(np.count_nonzero(occurs))


def is_among(values: Ints, known: Ints) -> Bools:
    """Return which values are among known ones, which ascend.

    Examples
    --------
    >>> is_among(np.array([5, 2]), np.array([1, 2, 3])).tolist()
    [False, True]
    """
    if not len(known):
        return np.zeros(len(values), dtype=bool)
    place = np.minimum(np.searchsorted(known, values), len(known) - 1)
    return np.asarray(known[place] == values)


def repeats(*columns: Ints) -> Bools:
    """Return which rows have the values of the row before in all columns.

    Examples
    --------
    >>> repeats(np.array([4, 4, 4]), np.array([1, 1, 2])).tolist()
    [False, True, False]
    """
    again = np.ones(len(columns[0]), dtype=bool)
    again[:1] = False
    for column in columns:
        again[1:] &= column[1:] == column[:-1]
    return again


def begins_apart(start: Ints, end: Ints) -> Bools:
    """Return which stretches, sorted by start, begin at or after the ends of all before them.

    Examples
    --------
    >>> begins_apart(np.array([0, 2, 5]), np.array([5, 3, 7])).tolist()
    [True, False, True]
    """
    begins = np.ones(len(start), dtype=bool)
    begins[1:] = start[1:] >= np.maximum.accumulate(end)[:-1]
    return begins


def total(owner: Ints, values: Bools | Floats | Ints, rows: int) -> Floats:
    """Sum the values of each row, one after the other in the order given.

    The order is fixed, so that a row's sum does not depend on its neighbours
    (a padded `sum(axis=1)` changes last bits with the width of the padding).

    Examples
    --------
    >>> total(np.array([0, 0, 2]), np.array([1.0, 2.0, 5.0]), 3).tolist()
    [3.0, 0.0, 5.0]
    """
    return np.bincount(owner, weights=values, minlength=rows).astype(np.float64, copy=False)


def blocks(counts: Ints, most: int) -> list[slice]:
    """Cut rows into stretches with about `most` cells, so that memory stays bounded.

    Rows stay whole, so that nothing that is computed row by row depends on the cuts.

    Examples
    --------
    >>> blocks(np.array([3, 3, 9, 1]), 5)
    [slice(0, 1, None), slice(1, 2, None), slice(2, 4, None)]
    >>> blocks(np.array([1, 1]), 5)
    [slice(0, 2, None)]
    """
    block = counts.cumsum() // most
    cuts = [0, *((block[1:] != block[:-1]).nonzero()[0] + 1).tolist(), len(counts)]
    return [slice(*ends) for ends in pairwise(cuts)]
