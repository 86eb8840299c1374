"""Expected match: what two random annotations of one text have in common.

Each function takes a table of lengths and two arrays of its entries, and gives
the expectation for each pair, every arrangement of either side being equally
likely. The entries of a pair belong to texts of equal size.
"""

from __future__ import annotations

import numpy as np

from beyondchance.arrays import Bools, Floats, Ints
from beyondchance.core.lengths import LengthTable
from beyondchance.core.overlapping import binomial_tails, level_profiles
from beyondchance.core.placement import coverage_profiles, item_profiles
from beyondchance.core.ragged import distinct, spread, starts, total


def expected_positions(table: LengthTable, i: Ints, j: Ints) -> Floats:
    """Positions covered by both: the sum of products of the coverages."""
    return coverage_profiles(table).dot(i, j)


def expected_equal_spans(table: LengthTable, i: Ints, j: Ints) -> Floats:
    """Spans of equal length that start at the same place (Proposition 1)."""
    pair, run, other = _equal_lengths(table, i, j)
    used, place = distinct(np.concatenate([run, other]))
    profiles = item_profiles(table, table.owner()[used], table.length[used])
    same_start = profiles.dot(*place.reshape(2, -1))
    return total(pair, (table.count[run] * table.count[other]) * same_start, len(i))


def expected_levels(table: LengthTable, i: Ints, j: Ints) -> Floats:
    """Smaller of the two counts at each position, where spans may overlap."""
    profiles, n_levels = level_profiles(table)
    first = starts(n_levels)
    pair, level = spread(np.minimum(n_levels[i], n_levels[j]))
    return total(pair, profiles.dot(first[i][pair] + level, first[j][pair] + level), len(i))


def expected_equal_overlapping(table: LengthTable, i: Ints, j: Ints) -> Floats:
    """Smaller of the two counts of equal spans, where spans may overlap.

    Of k spans of one length, the number that start at a given place is binomial.
    """
    pair, run, other = _equal_lengths(table, i, j)
    places = table.n[i][pair] - table.length[run] + 1
    tails: dict[tuple[int, int], Floats] = {}
    matched = np.zeros(len(pair))
    for row, (n_places, *counts) in enumerate(
        zip(places.tolist(), table.count[run].tolist(), table.count[other].tolist(), strict=True)
    ):
        for count in counts:
            if (n_places, count) not in tails:
                tails[n_places, count] = binomial_tails(count, 1 / n_places)
        a, b = (tails[n_places, count] for count in counts)
        levels = min(len(a), len(b))
        matched[row] = n_places * float((a[:levels] * b[:levels]).sum())
    return total(pair, matched, len(i))


def _equal_lengths(table: LengthTable, i: Ints, j: Ints) -> tuple[Ints, Ints, Ints]:
    """The runs of entries i and j that have the same length: pair, run, run."""
    pair, place = spread(np.diff(table.first)[i])
    run = table.first[i][pair] + place
    stride = int(table.length.max(initial=0)) + 1
    known = table.owner() * stride + table.length
    wanted = j[pair] * stride + table.length[run]
    other = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    met = known[other] == wanted
    return pair[met], run[met], other[met]


def all_covered(table: LengthTable, i: Ints, j: Ints) -> Bools:
    """Whether both cover every position however they are arranged."""
    full = table.free() == 0
    return np.asarray(full[i] & full[j])


def all_equal(table: LengthTable, i: Ints, j: Ints) -> Bools:
    """Whether both consist of the same spans however they are arranged."""
    rigid = (table.free() == 0) & (np.diff(table.first) == 1)
    length = table.length[table.first[:-1]]
    return np.asarray(rigid[i] & rigid[j] & (length[i] == length[j]))


def all_in_place(table: LengthTable, i: Ints, j: Ints) -> Bools:
    """Whether spans that may overlap all fill the text, equally many on both sides."""
    first = table.first[:-1]
    filled = (np.diff(table.first) == 1) & (table.length[first] == table.n)
    count = table.count[first]
    return np.asarray(filled[i] & filled[j] & (count[i] == count[j]))
