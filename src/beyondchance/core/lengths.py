"""What is placed at random: the size of a text and the lengths of the spans in it."""

from __future__ import annotations

import numpy as np

from beyondchance.core.ragged import bounds, distinct, largest, members, total, widths
from beyondchance.types import Ints
from beyondchance.values import internal


@internal
class LengthTable:
    """Text sizes and multisets of span lengths, one entry each.

    Chance depends on nothing else, so equal entries are kept once.

    Attributes
    ----------
    n : array of int, shape (entries,)
        Positions of the text.
    first : array of int, shape (entries + 1,)
        Entry i owns the runs ``first[i]:first[i + 1]``.
    length, count : arrays of int, shape (runs,)
        A span length, ascending within an entry, and how often it occurs.
    """

    n: Ints
    first: Ints
    length: Ints
    count: Ints

    def __len__(self) -> int:
        return len(self.n)

    def owner(self) -> Ints:
        """Return the entry of each run."""
        return np.arange(len(self)).repeat(widths(self.first))

    def sum_by_entry(self, values: Ints) -> Ints:
        """Sum one integer per run over each entry."""
        return total(self.owner(), values, len(self)).astype(np.int64)

    def free(self) -> Ints:
        """Count the positions that no span covers when none overlap."""
        return self.n - self.sum_by_entry(self.length * self.count)


def tabulate(n: Ints, owner: Ints, length: Ints) -> tuple[LengthTable, Ints]:
    """Collect equal (text size, multiset of lengths) into one entry each.

    Parameters
    ----------
    n : array of int, shape (groups,)
        The text size of each group of spans.
    owner, length : arrays of int, shape (spans,)
        The group and the length of each span, in any order.

    Returns
    -------
    table : LengthTable
    entry : array of int, shape (groups,)
        The entry of each group.

    Examples
    --------
    Groups 0 and 2 are equal; order does not matter.

    >>> table, entry = tabulate(
    ...     np.array([9, 9, 9]), np.array([0, 0, 1, 2, 2]), np.array([2, 3, 2, 3, 2])
    ... )
    >>> len(table), bool(entry[0] == entry[2]), bool(entry[0] == entry[1])
    (2, True, False)
    """
    first, run_length, count = _runs(len(n), owner, length)
    entry = _ranked(n, first, run_length, count)
    # Any group stands for its entry; the last one written is as good as another.
    keeper = np.empty(largest(entry, -1) + 1, dtype=np.int64)
    keeper[entry] = np.arange(len(n))
    kept, picked = members(first, keeper)
    table = LengthTable(
        n=n[keeper],
        first=bounds(kept, len(keeper)),
        length=run_length[picked],
        count=count[picked],
    )
    return table, entry


def table_of(n: int, *sides: Ints) -> LengthTable:
    """Build a table with one entry for each list of lengths, of one text of size n."""
    runs = [_counted(lengths, largest(lengths) + 1) for lengths in sides]
    return LengthTable(
        n=np.full(len(sides), n),
        first=np.cumsum([0, *(len(length) for length, _ in runs)]),
        length=np.concatenate([length for length, _ in runs]),
        count=np.concatenate([count for _, count in runs]),
    )


def _runs(n_groups: int, owner: Ints, length: Ints) -> tuple[Ints, Ints, Ints]:
    """Count the distinct lengths of each group: where they begin, the lengths, the counts."""
    stride = largest(length) + 1
    runs, count = _counted(owner * stride + length, n_groups * stride)
    run_owner, run_length = np.divmod(runs, stride)
    return bounds(run_owner, n_groups), run_length, count


def _counted(code: Ints, n_codes: int) -> tuple[Ints, Ints]:
    """Count how often each distinct code occurs, by sorting only where codes are sparse."""
    if n_codes > 16 * len(code) + 1024:
        found, number = distinct(code)
        return found, np.bincount(number)
    count = np.bincount(code)
    found = count.nonzero()[0]
    return found, count[found]


def _ranked(n: Ints, first: Ints, length: Ints, count: Ints) -> Ints:
    """Number the groups so that equal ones, and only those, get equal numbers.

    Among the groups with equally many runs, the number so far and the next run
    are ranked together, run by run: no hashing, so no collisions, and the
    numbers stay small.
    """
    n_runs = widths(first)
    _, run = distinct(length * (largest(count) + 1) + count)
    width = largest(run) + 1
    ranked = np.empty(len(n), dtype=np.int64)
    used = 0
    for runs in np.bincount(n_runs).nonzero()[0].tolist():
        groups = (n_runs == runs).nonzero()[0]
        rows = run[first[groups][:, None] + np.arange(runs)]
        # Runs that all have in common distinguish none of them.
        columns = rows.T[(rows != rows[0]).any(axis=0)]
        found, code = distinct(n[groups] * width + (columns[0] if len(columns) else 0))
        for column in columns[1:]:
            if len(found) == len(groups):
                break
            found, code = distinct(code * width + column)
        ranked[groups] = code + used
        used += len(found)
    return ranked
