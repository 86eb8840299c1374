"""Expected match of sets with many members, which are added up before they are compared.

What two sets share is a sum over pairs of their members, each of which has a distribution of its
own. Where many members have the same key, they are added up position by position, which gives the
same sum from as many sequences as there are members rather than pairs of them. The middle of a
text, in which all positions are alike, is looked at once.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import replace
from typing import NamedTuple, TypeAlias

import numpy as np

from beyondchance.core import expected_by_pairs
from beyondchance.core.profiles import Profiles
from beyondchance.core.ragged import distinct, largest, total, widths
from beyondchance.core.random_places import SpanSets, coded, start_profiles
from beyondchance.types import Floats, Ints

_OneByOne: TypeAlias = Callable[[SpanSets, Ints, Ints], Floats]

_FEW_PAIRS = 2**12
"""Pairs of members, in two sets, that are compared one by one."""
_PAIRS_FOR_EACH = 2
"""Pairs for each member up to which they are compared one by one, however many they are."""
_MOST_CELLS = 2**22
"""Positions of all keys that are held at a time."""


def expected_positions(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the same as `expected_by_pairs.expected_positions`."""
    return _expected(sets, i, j, sets.level, expected_by_pairs.expected_positions, covers=True)


def expected_equal_spans(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the same as `expected_by_pairs.expected_equal_spans`."""
    return _expected(sets, i, j, sets.length, expected_by_pairs.expected_equal_spans)


def expected_boundaries(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the same as `expected_by_pairs.expected_boundaries`."""
    # Without members for ends, these are as many as starts.
    times = 1 if sets.kind.any() else 2
    key = 2 * sets.level + sets.kind
    return _expected(sets, i, j, key, expected_by_pairs.expected_boundaries, times=times)


def expected_parts(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the same as `expected_by_pairs.expected_parts`.

    Returns
    -------
    array of float, shape (3, pairs)
    """
    if sets.are_lines:
        return expected_by_pairs.expected_parts(sets, i, j)
    found = _split(sets, i, j, sets.level, expected_by_pairs.expected_parts, sides=3)
    for row in np.flatnonzero(np.isnan(found[0])).tolist():
        found[:, row] = _parts(sets, int(i[row]), int(j[row]))
    return found


def _expected(
    sets: SpanSets,
    i: Ints,
    j: Ints,
    key: Ints,
    one_by_one: _OneByOne,
    *,
    covers: bool = False,
    times: int = 1,
) -> Floats:
    """Compute the expected match from what members with the same key share."""
    if sets.are_lines:
        return one_by_one(sets, i, j)
    found: Floats = _split(sets, i, j, key, one_by_one)[0]
    for row in np.isnan(found).nonzero()[0].tolist():
        found[row] = times * _shared(_Gathered.of(sets, i[row], j[row], key, covers=covers))
    return found


def _split(
    sets: SpanSets,
    i: Ints,
    j: Ints,
    key: Ints,
    one_by_one: _OneByOne,
    *,
    sides: int = 1,
) -> Floats:
    """Compute the expected match where few pairs of members have equal keys; nan elsewhere."""
    stride = largest(key) + 1
    code = np.sort(sets.owner() * stride + key)
    pair, member = sets.members(i)
    wanted = j[pair] * stride + key[member]
    met = np.searchsorted(code, wanted, side="right") - np.searchsorted(code, wanted, side="left")
    n_members = widths(sets.first)[i] + widths(sets.first)[j]
    is_few = total(pair, met, len(i)) <= np.maximum(_FEW_PAIRS, _PAIRS_FOR_EACH * n_members)
    found = np.full((sides, len(i)), np.nan)
    if is_few.any():
        found[:, is_few] = one_by_one(sets, i[is_few], j[is_few])
    return found


class _Gathered(NamedTuple):
    """Two sets whose members are added up.

    Attributes
    ----------
    sets : SpanSets
    size : int
        Positions of the text, less those that were cut.
    sides : tuple of array of int
        The members of either set that have a key in common with the other, sorted by place.
    key : array of int
        The key of every member of all sets.
    keys : array of int
        Those that they have in common, ascending.
    places : array of int
        All places of members, ascending.
    starts : Profiles
        Where a member of each of these starts.
    covers : bool
        Whether members are compared by what they cover, rather than by where they start.
    middle, n_cut : int
        Where all members are in the middle of the text, at which nothing changes; and how many
        positions like that one were cut.
    """

    sets: SpanSets
    size: int
    sides: tuple[Ints, Ints]
    key: Ints
    keys: Ints
    places: Ints
    starts: Profiles
    covers: bool
    middle: int
    n_cut: int

    @classmethod
    def of(cls, sets: SpanSets, i: int, j: int, key: Ints, *, covers: bool = False) -> _Gathered:
        """Gather the members of two sets that have a key in common."""
        one, two = (np.arange(sets.first[k], sets.first[k + 1]) for k in (i, j))
        keys = np.intersect1d(key[one], key[two])
        one, two = (
            side[np.argsort(sets.place[side], kind="stable")]
            for side in (one[np.isin(key[one], keys)], two[np.isin(key[two], keys)])
        )
        both = np.concatenate([one, two])
        places, place = distinct(sets.place[both])
        starts = start_profiles(sets, places)
        shift, reach = sets.shift[both], starts.reach[place]
        middle = largest(shift + sets.length[both] + reach)
        n_cut = max(int((shift + starts.size[place] - reach).min()) - middle - 1, 0)
        starts, size = replace(starts, size=starts.size - n_cut), int(sets.n[i]) - n_cut
        return cls(sets, size, (one, two), key, keys, places, starts, covers, middle, n_cut)

    def added_up(self, side: int, keys: Ints) -> Floats:
        """Add up the weighted sequences of the members of one side, shape (keys, size + 1)."""
        sets, member = self.sets, self.sides[side]
        member = member[np.isin(self.key[member], keys)]
        sums = np.zeros((len(keys), self.size + 1))
        columns = (
            np.searchsorted(self.places, sets.place[member]),
            np.searchsorted(keys, self.key[member]),
            *(sets.shift[member], sets.length[member], sets.weight[member]),
        )
        last, starts = -1, np.zeros(0)
        for place, row, shift, length, weight in zip(*(c.tolist() for c in columns), strict=True):
            if place != last:
                last, starts = place, self.starts.expand(place)
            stop = shift + len(starts)
            sums[row, shift:stop] += weight * starts
            if self.covers:
                sums[row, shift + length : stop + length] -= weight * starts
        return np.cumsum(sums, axis=1) if self.covers else sums


def _shared(found: _Gathered) -> float:
    """Sum the products of both sides over positions and keys."""
    step = max(_MOST_CELLS // (found.size + 1), 1)
    shared = 0.0
    for k in range(0, len(found.keys), step):
        keys = found.keys[k : k + step]
        products = found.added_up(0, keys) * found.added_up(1, keys)
        shared += float(products.sum() + found.n_cut * products[:, found.middle].sum())
    return shared


def _parts(sets: SpanSets, i: int, j: int) -> Floats:
    """Compute what two sets share at each level, divided by the lengths of the spans, shape (3,).

    What two nodes share does not depend on the level, at which the same nodes may have other
    spans: it is found once for each two of them.
    """
    nodes = coded(sets.place, sets.shift, sets.length)[0]
    found = _Gathered.of(sets, i, j, sets.level, covers=True)
    sides, names = [], []
    for side in found.sides:
        own, number = distinct(nodes[side])
        example = np.zeros(len(own), dtype=np.int64)
        example[number] = side
        names.append((own, example))
        order = np.argsort(sets.level[side], kind="stable")
        sides.append((side[order], number[order], sets.level[side][order]))
    met = _met(found._replace(key=nodes), *names)
    shared = np.zeros(3)
    for level in found.keys.tolist():
        rows = [slice(*np.searchsorted(own[2], (level, level + 1))) for own in sides]
        (one, x), (two, y) = (
            (own[0][row], own[1][row]) for own, row in zip(sides, rows, strict=True)
        )
        weighted = met[np.ix_(x, y)] * (sets.weight[one][:, None] * sets.weight[two])
        a, b = sets.kind[one], sets.kind[two]
        shared[1] += float((weighted.sum(axis=1) / a).sum())
        shared[2] += float((weighted.sum(axis=0) / b).sum())
        weighted /= (a[:, None] + b) / 2
        shared[0] += float(weighted.sum())
    return shared


def _met(found: _Gathered, one: tuple[Ints, Ints], two: tuple[Ints, Ints]) -> Floats:
    """Compute how many positions two nodes share on average, shape (nodes of one, nodes of two).

    Nodes are given by their keys, and a member of each.
    """
    ones = replace(found.sets, weight=np.ones_like(found.sets.weight))
    step = max(_MOST_CELLS // (found.size + 1), 1)

    def covered(side: Ints, first: int) -> Floats:
        member = side[first : first + step]
        member = member[np.argsort(ones.place[member], kind="stable")]
        part = found._replace(sets=ones, sides=(member, member))
        return part.added_up(0, found.key[side[first : first + step]])

    met = np.zeros((len(one[0]), len(two[0])))
    for i in range(0, met.shape[0], step):
        left = covered(one[1], i)
        for j in range(0, met.shape[1], step):
            right = covered(two[1], j)
            cut = found.n_cut * np.outer(left[:, found.middle], right[:, found.middle])
            met[i : i + step, j : j + step] = left @ right.T + cut
    return met
