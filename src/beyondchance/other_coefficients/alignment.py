"""The best alignment of units, for gamma: which spans of different annotators belong together.

A *unit* is one span of one annotator, a *continuum* one text with the units of all
its annotators. A *unitary alignment* takes at most one unit from each annotator; a
complete alignment puts every unit into exactly one of them. Many continua are aligned at
once: their units lie end to end in flat arrays. Everything here is measured in Δ∅, the
cost of a unit that is aligned with nothing.

The search has three steps, each of which leaves little to the next:

1. `_candidates` lists the unitary alignments that a best alignment may contain. All
   others can be taken apart without a loss, so that they need not be considered.
2. `_islands` groups units that candidates connect. Groups do not affect each other, and
   most of them are so small that the best candidate can be read off.
3. What is left is solved exactly: as an assignment where there are two annotators, as a
   linear or integer programme where there are more.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass
from functools import cache
from itertools import combinations
from math import inf, sqrt
from types import ModuleType

import numpy as np

from beyondchance.core.ragged import bounds, distinct, spread, total
from beyondchance.errors import DataError
from beyondchance.installing import required
from beyondchance.other_coefficients.coefficient import UndefinedError
from beyondchance.other_coefficients.continua import Units, units_at_once
from beyondchance.types import Bools, Floats, Ints

_MOST_COMBINATIONS = 3_000_000
"""Units of different annotators to put together at once: about a gigabyte."""
_MANY_CANDIDATES, _MOST_FOR_EACH = 30_000, 250
"""Candidates, and candidates for each unit, beyond which choosing among them takes minutes."""
_SLACK = 1e-6
"""More than rounding adds to a sum of dissimilarities."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Dissimilarity:
    """How different two units are: α·position, and β if their labels differ, in Δ∅."""

    alpha: float
    beta: float

    def position(self, units: Units, u: Ints, v: Ints) -> Floats:
        """Compute the shift of both ends over the lengths, squared; 1 or more if disjoint."""
        start, end = units.start, units.end
        shift = np.abs(start[u] - start[v]) + np.abs(end[u] - end[v])
        ratio: Floats = shift / (end[u] - start[u] + end[v] - start[v])
        return ratio * ratio

    def between(self, units: Units, u: Ints, v: Ints) -> Floats:
        """Compute the dissimilarity of each u and v."""
        differ = units.label[u] != units.label[v]
        found: Floats = self.alpha * self.position(units, u, v) + self.beta * differ
        return found


@dataclass(frozen=True, slots=True, kw_only=True)
class Unitary:
    """Unitary alignments of the same number of units.

    Attributes
    ----------
    members : array of int, shape (alignments, k)
        Numbers of the units, by annotator.
    disorder : array of float, shape (alignments,)
        Mean dissimilarity of the pairs, each pair with an empty place counting 1.
    """

    members: Ints
    disorder: Floats

    def __len__(self) -> int:
        return len(self.members)

    def at(self, which: slice | Ints | Bools) -> Unitary:
        """Select some of them."""
        return Unitary(members=self.members[which], disorder=self.disorder[which])

    @property
    def saved(self) -> Floats:
        """What is saved by aligning these units instead of leaving each alone."""
        return np.asarray(self.members.shape[1] - self.disorder)


def best_alignment(units: Units, dissimilarity: Dissimilarity) -> tuple[list[Unitary], Floats]:
    """Align the units of each continuum at the least cost.

    Parameters
    ----------
    units : Units
    dissimilarity : Dissimilarity

    Returns
    -------
    aligned : list of Unitary
        The unitary alignments of two units or more; all other units stay alone. Among
        alignments of the same cost, the one with fewer units aligned is preferred where
        a unitary alignment could as well be taken apart.
    cost : array of float, shape (continua,)
        The sum of the disorders of the unitary alignments, lone units included.

    Examples
    --------
    Two units that coincide are aligned for nothing; the third stays alone for 1.

    >>> units = Units(
    ...     team=np.array([2]),
    ...     continuum=np.array([0, 0, 0]),
    ...     annotator=np.array([0, 0, 1]),
    ...     start=np.array([0, 8, 0]),
    ...     end=np.array([2, 9, 2]),
    ...     label=np.array([0, 0, 0]),
    ... )
    >>> aligned, cost = best_alignment(units, Dissimilarity(alpha=3.0, beta=1.0))
    >>> [unitary.members.tolist() for unitary in aligned], cost.tolist()
    ([[[0, 2]]], [1.0])
    """
    n_continua = len(units.team)
    first = bounds(units.continuum, n_continua)
    # Continua are taken in batches, because candidates need memory by the square and more.
    aligned = []
    for part in _runs(first[:-1] // units_at_once(units.team)):
        begin, end = first[part.start], first[part.stop]
        here = units.at(slice(begin, end))
        aligned += [
            Unitary(members=begin + unitary.members, disorder=unitary.disorder)
            for unitary in _chosen(here, list(_candidates(here, dissimilarity)))
        ]
    # Every unit alone costs 1; an alignment of k units replaces k of these by its disorder.
    cost = np.diff(first).astype(np.float64)
    for unitary in aligned:
        continuum = units.continuum[unitary.members[:, 0]]
        cost -= unitary.members.shape[1] * np.bincount(continuum, minlength=n_continua)
        cost += total(continuum, unitary.disorder, n_continua)
    return aligned, cost


def _runs(values: Ints) -> Iterator[slice]:
    """Find the stretches of equal values.

    Examples
    --------
    >>> list(_runs(np.array([3, 3, 5])))
    [slice(0, 2, None), slice(2, 3, None)]
    """
    begins = np.flatnonzero(np.diff(values, prepend=-1)).tolist()
    return map(slice, begins, [*begins[1:], len(values)])


# --- What can be aligned ------------------------------------------------------


def _candidates(units: Units, dissimilarity: Dissimilarity) -> Iterator[Unitary]:
    """Yield every unitary alignment that a best alignment may need, by number of units.

    With C pairs of annotators, k units whose dissimilarities sum to D cost
    (D + C - k(k-1)/2)/C together and k alone. Taking k units apart into p and q is
    better, or as good, once the dissimilarities between both parts sum to C + p·q or
    more: such an alignment is never needed.
    """
    if not len(units):
        return
    # Alignments grow by one unit at a time, of a later annotator than all before, so that each
    # set of units is met once. `distances` holds those of all pairs of members, in the order in
    # which they joined: a new member appends its distances to the others.
    u, v, distance = _neighbours(units, dissimilarity)
    first = bounds(u, len(units))
    members, distances = np.stack([u, v], axis=1), distance[:, None]
    largest, n_candidates = int(units.team.max()), 0
    most = max(_MANY_CANDIDATES, _MOST_FOR_EACH * len(units))
    for n_units in range(2, largest + 1):
        team = units.team[units.continuum[members[:, 0]]]
        pairs = team * (team - 1) // 2
        needed = _indivisible(distances, n_units, pairs, team, final=True)
        n_candidates += int(needed.sum())
        if n_candidates > most:
            raise _too_many(units, largest, most)
        # Of all pairs of annotators, those with an empty place cost 1 each.
        n_filled = n_units * (n_units - 1) // 2
        disorder = (distances[needed].sum(axis=1) + (pairs[needed] - n_filled)) / pairs[needed]
        yield Unitary(members=members[needed], disorder=disorder)
        if n_units < largest:
            # What is divisible now can become indivisible when another unit joins, so that more
            # alignments grow than are candidates.
            growing = _indivisible(distances, n_units, pairs, team, final=False)
            members, distances = members[growing], distances[growing]
            partners = first[members[:, -1] + 1] - first[members[:, -1]]
            if partners.sum() > _MOST_COMBINATIONS:
                raise _too_many(units, largest, _MOST_COMBINATIONS)
            # Neighbours of the last member are enough: a unit that is too far from one member is
            # too far from the alignment.
            row, place = spread(partners)
            added = v[first[members[row, -1]] + place]
            to_added = [
                dissimilarity.between(units, members[row, i], added) for i in range(n_units)
            ]
            members = np.concatenate([members[row], added[:, None]], axis=1)
            distances = np.concatenate([distances[row], np.stack(to_added, axis=1)], axis=1)


def _too_many(units: Units, team: int, most: int) -> UndefinedError:
    return UndefinedError(
        f"{len(units)} units of {team} annotators could be aligned in more than {most:,} ways, too "
        "many to choose from",
        remedy="compare fewer annotators, or give positions more weight (alpha)",
    )


def _neighbours(units: Units, dissimilarity: Dissimilarity) -> tuple[Ints, Ints, Floats]:
    """Find pairs of units, by increasing annotator, that some best alignment may hold.

    Of `team` annotators with C pairs, two units in one unitary alignment are less than
    C + team - 1 apart (see `_candidates`), which bounds the distance of their starts.
    """
    n_places = int(units.team.max())
    stride = int(units.start.max()) + 1
    length = units.end - units.start
    # One number for continuum, annotator and start, in which units are sorted: the units of
    # another annotator within reach of a unit are found by two binary searches.
    side = units.continuum * n_places + units.annotator
    key = side * stride + units.start
    longest = np.zeros(len(units.team) * n_places, dtype=np.int64)
    np.maximum.at(longest, side, length)
    # alpha * (shift / lengths)**2 < limit bounds the shift of the starts by
    # sqrt(limit / alpha) * lengths; the longest unit of the other annotator stands for its length.
    team = units.team[units.continuum]
    limit = team * (team - 1) // 2 + team - 1
    reach = np.sqrt(limit) * (inf if dissimilarity.alpha == 0 else 1 / sqrt(dissimilarity.alpha))
    found = []
    for i, j in combinations(range(n_places), 2):
        one = np.flatnonzero(units.annotator == i)
        other = side[one] + j - i
        within = np.minimum(reach[one] * (length[one] + longest[other]), stride)
        low = np.maximum(units.start[one] - within, 0).astype(np.int64)
        high = np.minimum(units.start[one] + within, stride - 1).astype(np.int64)
        begin = np.searchsorted(key, other * stride + low, side="left")
        end = np.searchsorted(key, other * stride + high, side="right")
        row, place = spread(end - begin)
        u, v = one[row], begin[row] + place
        distance = dissimilarity.between(units, u, v)
        near = distance < limit[u]
        found.append((u[near], v[near], distance[near]))
    u, v, distance = (np.concatenate(columns) for columns in zip(*found, strict=True))
    order = np.lexsort((v, u))
    return u[order], v[order], distance[order]


def _indivisible(distances: Floats, n_units: int, pairs: Ints, team: Ints, *, final: bool) -> Bools:
    """Return whether every way of taking units apart in two would cost more.

    If not `final`, whether this may still become so when others join one of the parts.

    Parameters
    ----------
    distances : array of float, shape (rows, n_units * (n_units - 1) / 2)
        Of the units 0-1, 0-2, 1-2, 0-3, ...
    pairs, team : arrays of int, shape (rows,)
        Pairs of annotators, and annotators, of the continuum.
    """
    # What all dissimilarities have above 1 is the most that those between two parts can have
    # above p * q: where that is little, no part needs to be looked at. Nearly all are like this.
    result: Bools = np.maximum(distances - 1, 0).sum(axis=1) < pairs - _SLACK
    rows = np.flatnonzero(~result)
    for p, crossing in _splits(n_units):
        q, size = n_units - p, team[rows]
        # If all units that join later join the second part, p * q grows to p * (team - p) at
        # most; if they join the first, to q * (team - q). Beyond the smaller one of these, the
        # units can always be taken apart.
        room = p * q if final else np.minimum(p * (size - p), q * (size - q))
        rows = rows[distances[rows[:, None], crossing].sum(axis=1) < pairs[rows] + room]
    result[rows] = True
    return result


@cache
def _splits(n_units: int) -> list[tuple[int, list[int]]]:
    """List ways to split units in two: the size of a part, and the pairs between parts.

    Single units come first, because most that can be taken apart can be in this way.

    Examples
    --------
    >>> _splits(3)
    [(1, [0, 1]), (2, [1, 2]), (2, [0, 2])]
    """
    pairs = [(a, b) for b in range(n_units) for a in range(b)]
    splits = [
        (len(part), [c for c, (a, b) in enumerate(pairs) if (a in part) != (b in part)])
        for size in range(n_units - 1)
        for rest in combinations(range(1, n_units), size)
        for part in [{0, *rest}]
    ]
    return sorted(splits, key=lambda split: len(split[1]))


# --- What is aligned ----------------------------------------------------------


def _chosen(units: Units, candidates: list[Unitary]) -> list[Unitary]:
    """Choose the candidates that save most and share no unit.

    Candidates that share no unit, not even through other candidates, are chosen
    independently. Where one unit is in all of them, the best one is taken.
    """
    sizes = [len(unitary) for unitary in candidates]
    if not sum(sizes):
        return []
    saved = np.concatenate([unitary.saved for unitary in candidates])
    lead = np.concatenate([unitary.members[:, 0] for unitary in candidates])
    unit = np.concatenate([unitary.members.reshape(-1) for unitary in candidates])
    n_units = np.repeat([unitary.members.shape[1] for unitary in candidates], sizes)
    candidate = np.repeat(np.arange(len(saved)), n_units)
    island = _islands(lead[candidate], unit, len(units))[lead]

    # If one unit is in as many candidates as the island has, all of them exclude each other,
    # and the one that saves most is taken. Nearly all islands are like this.
    rivals = np.bincount(island)
    popularity = np.zeros(len(rivals), dtype=np.int64)
    np.maximum.at(popularity, island[candidate], np.bincount(unit)[unit])
    exclusive = (popularity == rivals)[island]
    order = np.lexsort((-saved, island))
    best = order[np.diff(island[order], prepend=-1) > 0]

    # The others need a solver: assignment for two annotators, a programme for more.
    of_two = units.team[units.continuum[lead]] == 2
    taken = np.zeros(len(saved), dtype=bool)
    taken[best[exclusive[best]]] = True
    in_pairs = np.flatnonzero(~exclusive & of_two)
    taken[_assigned(candidates[0].members, in_pairs, saved, island)] = True
    in_teams = ~exclusive & ~of_two
    kept = in_teams[candidate]
    taken[_packed(unit[kept], candidate[kept], saved, island)] = True
    parts = np.split(taken, np.cumsum(sizes)[:-1])
    return [unitary.at(part) for unitary, part in zip(candidates, parts, strict=True)]


def _islands(one: Ints, other: Ints, n_units: int) -> Ints:
    """Number the parts of the units that candidates connect."""
    sparse, graph = _scipy("sparse"), _scipy("sparse.csgraph")
    edges = sparse.coo_array((np.ones(len(one), dtype=bool), (one, other)), (n_units, n_units))
    _, island = graph.connected_components(edges, directed=False)
    return np.asarray(island.astype(np.int64))


def _assigned(members: Ints, pairs: Ints, saved: Floats, island: Ints) -> Ints:
    """Choose pairs of units by linear assignment, island by island.

    Parameters
    ----------
    members : array of int, shape (candidates, 2)
    pairs : array of int
        The candidates to choose from.
    saved, island : arrays of float and int, shape (candidates,)
    """
    optimize = _scipy("optimize")
    order = pairs[np.argsort(island[pairs], kind="stable")]
    found = []
    for here in _runs(island[order]):
        chosen = order[here]
        (rows, row), (columns, column) = map(distinct, members[chosen].T)
        # Pairs that are no candidates gain nothing; if they are assigned, both stay alone.
        gain, which = np.zeros((len(rows), len(columns))), np.full((len(rows), len(columns)), -1)
        gain[row, column] = saved[chosen]
        which[row, column] = chosen
        assigned = which[optimize.linear_sum_assignment(gain, maximize=True)]
        found.append(assigned[assigned >= 0])
    return np.concatenate(found) if found else np.zeros(0, dtype=np.int64)


def _packed(unit: Ints, candidate: Ints, saved: Floats, island: Ints) -> Ints:
    """Choose unitary alignments that share no unit, to save most.

    First all of them as a linear programme, whose answer is nearly always whole. The
    islands where it is not are solved once more, each as an integer programme.

    Parameters
    ----------
    unit, candidate : arrays of int, shape (memberships,)
        Which unit is in which candidate.
    saved, island : arrays of float and int, shape (candidates,)
    """
    if not len(unit):
        return np.zeros(0, dtype=np.int64)
    listed, share = _programme(unit, candidate, saved, whole=False)
    broken = np.unique(island[listed[np.abs(share - np.rint(share)) > 1e-6]])
    found = [listed[(share > 0.5) & ~np.isin(island[listed], broken)]]
    again = np.flatnonzero(np.isin(island[candidate], broken))
    again = again[np.argsort(island[candidate[again]], kind="stable")]
    for here in _runs(island[candidate[again]]):
        part = again[here]
        listed, share = _programme(unit[part], candidate[part], saved, whole=True)
        found.append(listed[share > 0.5])
    return np.concatenate(found)


def _programme(unit: Ints, candidate: Ints, saved: Floats, *, whole: bool) -> tuple[Ints, Floats]:
    """Return the candidates, and the share of each that saves most, once for each unit."""
    optimize, sparse = _scipy("optimize"), _scipy("sparse")
    rows, row = distinct(unit)
    listed, column = distinct(candidate)
    holds = sparse.csc_array((np.ones(len(unit)), (row, column)), (len(rows), len(listed)))
    answer = optimize.milp(
        -saved[listed],
        integrality=np.full(len(listed), int(whole)),
        bounds=optimize.Bounds(0, 1),
        constraints=optimize.LinearConstraint(holds, ub=1),
        options={"mip_rel_gap": 0},  # the best one, not one that is nearly as good
    )
    if not answer.success:
        raise DataError(f"no best alignment of {len(rows)} units was found: {answer.message}")
    return listed, answer.x


def _scipy(name: str) -> ModuleType:
    """Import a part of scipy, which only these coefficients need."""
    # The reason why a coefficient is undefined is part of a result, and holds no path.
    purpose = "the coefficient gamma"
    return required(f"scipy.{name}", extra="coefficients", purpose=purpose, has_path=False)
