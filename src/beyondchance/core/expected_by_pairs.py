"""Expected match: what two random annotations of one text have in common.

Each function takes sets of spans and two arrays of these, and gives the expectation
for each pair of sets, every arrangement of either side being equally likely. The sets
of a pair belong to texts of equal size. By Proposition 1, what adds up over pairs of
spans has an expectation that adds up over pairs of spans.
"""

from __future__ import annotations

from functools import cache

import numpy as np

from beyondchance.core.observed import Phi
from beyondchance.core.overlapping import (
    binomial_tails,
    level_profiles,
    rank_profiles,
    start_tails,
)
from beyondchance.core.placement import coverage_profiles
from beyondchance.core.profiles import Profiles, boxes, convolved, joined
from beyondchance.core.ragged import (
    blocks,
    distinct,
    largest,
    members,
    spread,
    starts,
    total,
    widths,
)
from beyondchance.core.random_places import (
    SpanSets,
    coded,
    coverage_of,
    layers_in,
    member_coverage,
    start_profiles,
)
from beyondchance.types import Bools, Floats, Ints

_MOST_CELLS = 2**18
"""Pairs of starts for which a function of two spans is evaluated at once."""

# --- Spans on lines -----------------------------------------------------------


def expected_positions(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the expected number of positions that both of two random sets cover, pair by pair.

    A position counts as often as both sides cover it. It is covered m times or more if, and only
    if, layer m covers it: the result is the sum over layers of the products of their coverages.
    """
    if sets.are_lines:
        used, where = distinct(np.concatenate([i, j]))
        return coverage_profiles(sets.table, used).dot(*where.reshape(2, -1))
    layers = layers_in(sets)
    n_layers = widths(layers.first)
    pair, level = spread(np.minimum(n_layers[i], n_layers[j]))
    used, where = distinct(np.concatenate([layers.first[k][pair] + level for k in (i, j)]))
    covered = coverage_of(sets, layers, used)
    x, y = where.reshape(2, -1)
    row, one = members(covered.first, x)
    which, two = members(covered.first, y[row])
    one = one[which]
    is_rigid = covered.is_rigid[one] | covered.is_rigid[two]
    shared = _met(covered.profiles, one, two, covered.shift[one] - covered.shift[two], is_rigid)
    shared *= covered.weight[one] * covered.weight[two]
    return total(pair[row[which]], shared, len(i))


def expected_equal_spans(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the expected number of equal spans in two random sets, pair by pair.

    Equal spans have the same length and start at the same place.
    """
    pair, one, two = _alike(sets, i, j, sets.length)
    profiles, x, y = _starts(sets, one, two)
    is_rigid = sets.is_rigid[one] | sets.is_rigid[two]
    same = _met(profiles, x, y, sets.shift[one] - sets.shift[two], is_rigid)
    return total(pair, _times(sets, one, two) * same, len(i))


def expected_boundaries(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the expected number of starts and ends that two random sets share, pair by pair.

    What they share is the smaller of the two counts at each place. By mirror symmetry as many ends
    are shared as starts, except where spans cross.
    """
    is_end = np.zeros_like(sets.kind) if sets.are_lines else sets.kind
    pair, one, two = _alike(sets, i, j, 2 * sets.level + is_end)
    profiles, x, y = _starts(sets, one, two)
    lag = sets.shift[one] - sets.shift[two]
    row, once = _asked_once(sets, x, y, lag - lag.min(initial=0))
    same = profiles.meet(x[once], y[once], lag[once])[row] * _times(sets, one, two)
    found = [
        total(pair[side], same[side], len(i))
        for side in (np.flatnonzero(is_end[one] == end) for end in (0, 1))
    ]
    return found[0] + (found[1] if is_end.any() else found[0])


def expected_parts(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the expected overlap of spans of equal rank, as parts of spans, pair by pair.

    The shortest span at a position has rank 1, the second shortest rank 2, and so on.

    Returns
    -------
    array of float, shape (3, pairs)
        What spans share divided by the mean of their lengths, by the length of the span of i,
        and by that of the span of j.
    """
    pair, one, two = _alike(sets, i, j, sets.level)
    sides = np.concatenate([one, two])
    where, used = coded(sets.place[sides], sets.length[sides])
    x, y = where.reshape(2, -1)
    is_rigid = sets.is_rigid[one] | sets.is_rigid[two]
    lag = sets.shift[one] - sets.shift[two]
    row, once = _asked_once(sets, x, y, lag - lag.min(initial=0), is_rigid)
    covered = member_coverage(sets, sides[used])
    shared = _met(covered, x[once], y[once], lag[once], is_rigid[once])[row]
    shared *= _times(sets, one, two)
    a, b = sets.kind[one], sets.kind[two]
    return np.array([total(pair, shared / size, len(i)) for size in ((a + b) / 2, a, b)])


def expected_partners(sets: SpanSets, i: Ints, j: Ints, *, theta: float) -> Floats:
    """Compute the expected number of pairs of spans at IoU > theta, for theta from 1/2 on.

    A span that shares more than half with another shares less than half with any other
    that is disjoint from that one, so that pairs are one to one by themselves.
    """
    pair, one, two = _alike(sets, i, j, np.zeros_like(sets.length))
    needed = _needed_for(theta, sets.length[one] + sets.length[two])
    possible = needed <= np.minimum(sets.length[one], sets.length[two])
    pair, one, two, needed = pair[possible], one[possible], two[possible], needed[possible]
    a, b = sets.length[one], sets.length[two]
    profiles, x, y = _starts(sets, one, two)
    # Spans that start at s and t share min(a, b, s + a - t, t + b - s) positions: enough of
    # them if t lies in a window from s + needed - b to s + a - needed.
    width = a + b - 2 * needed + 1
    window, which = distinct(y * (largest(width) + 1) + width)
    start, size = np.divmod(window, largest(width) + 1)
    in_window = convolved(profiles.take(start), boxes(size))
    lag = a - needed + sets.shift[one] - sets.shift[two]
    met = joined(profiles, in_window).meet(x, len(profiles) + which, lag)
    return total(pair, _times(sets, one, two) * met, len(i))


def _needed_for(theta: float, both: Ints) -> Ints:
    """Compute the fewest positions to share for IoU > theta; `both` adds up the two lengths."""
    needed = np.maximum((theta / (1 + theta) * both).astype(np.int64) - 1, 1)
    for _ in range(4):
        needed += ~(needed / (both - needed) > theta)
    return needed


def expected_phi(sets: SpanSets, i: Ints, j: Ints, *, phi: Phi) -> Floats:
    """Compute the expected sum of a function of two spans over intersecting ones, pair by pair.

    It is evaluated for every two starts at which the two spans intersect: as many as
    the text has positions, times the two lengths.
    """
    pair, one, two = _alike(sets, i, j, np.zeros_like(sets.length))
    profiles, x, y = _starts(sets, one, two)
    a, b = sets.length[one], sets.length[two]
    low, lowest = sets.shift[one], sets.shift[two]
    high, highest = low + profiles.size[x], lowest + profiles.size[y]
    # A row for each pair of members and lag from 1 - b to a - 1; its cells are starts.
    which, lag = spread(a + b - 1)
    lag += 1 - b[which]
    begin = np.maximum(low[which], lowest[which] - lag)
    n_starts = np.minimum(high[which], highest[which] - lag) - begin
    matched = np.empty(len(which))
    for rows in blocks(np.maximum(n_starts, 0), _MOST_CELLS):
        row, start = spread(np.maximum(n_starts[rows], 0))
        k, other = which[rows][row], lag[rows][row]
        start += begin[rows][row]
        other += start
        chance = profiles.at(x[k], start - low[k]) * profiles.at(y[k], other - lowest[k])
        value = chance * phi(start, a[k], other, b[k])
        matched[rows] = total(row, value, len(which[rows]))
    return total(pair, _times(sets, one, two) * total(which, matched, len(pair)), len(i))


def _alike(sets: SpanSets, i: Ints, j: Ints, key: Ints) -> tuple[Ints, Ints, Ints]:
    """Find the members of i and j that have the same key: pair of sets, member, member."""
    stride = largest(key) + 1
    code = sets.owner() * stride + key
    order = np.argsort(code, kind="stable")
    pair, one = sets.members(i)
    wanted = j[pair] * stride + key[one]
    begin = np.searchsorted(code[order], wanted, side="left")
    stop = np.searchsorted(code[order], wanted, side="right")
    which, place = spread(stop - begin)
    return pair[which], one[which], order[begin[which] + place]


def _starts(sets: SpanSets, one: Ints, two: Ints) -> tuple[Profiles, Ints, Ints]:
    """Compute distributions of members' starts, without shifts, and the sequence of each member."""
    used, where = distinct(sets.place[np.concatenate([one, two])])
    x, y = where.reshape(2, -1)
    return start_profiles(sets, used), x, y


def _met(profiles: Profiles, x: Ints, y: Ints, lag: Ints, is_rigid: Bools) -> Floats:
    """Sum products of two sequences, those of rigid members moved against each other."""
    if not is_rigid.any():
        return profiles.dot(x, y)
    met, free = np.empty(len(x)), ~is_rigid
    met[free] = profiles.dot(x[free], y[free])
    met[is_rigid] = profiles.meet(x[is_rigid], y[is_rigid], lag[is_rigid])
    return met


def _asked_once(sets: SpanSets, *columns: Ints | Bools) -> tuple[Ints, Ints]:
    """Number the distinct questions: the number of each row, and a row that asks each.

    Where spans lie in others, the same two nodes are compared at many levels.
    """
    if sets.are_lines:
        rows = np.arange(len(columns[0]))
        return rows, rows
    return coded(*columns)


def _times(sets: SpanSets, one: Ints, two: Ints) -> Floats:
    """Compute how many pairs of spans a pair of members stands for."""
    return np.asarray(sets.weight[one] * sets.weight[two])


# --- Spans that may overlap ---------------------------------------------------


def expected_levels(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the expected number of shared positions, where spans may overlap.

    What two sets share is the smaller of the two counts at each position.
    """
    profiles, n_levels = level_profiles(sets.table)
    first = starts(n_levels)
    pair, level = spread(np.minimum(n_levels[i], n_levels[j]))
    return total(pair, profiles.dot(first[i][pair] + level, first[j][pair] + level), len(i))


def expected_equal_overlapping(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the expected number of equal spans in two sets, where spans may overlap.

    Of spans that occur several times, the smaller of the two counts is shared. Of k
    spans of one length, the number that start at a given place is binomial.
    """
    pair, one, two = _alike(sets, i, j, sets.length)
    places = sets.n[i][pair] - sets.length[one] + 1
    tails = cache(binomial_tails)
    matched = np.zeros(len(pair))
    for row, (n_places, *counts) in enumerate(
        zip(places.tolist(), *(sets.table.count[k].tolist() for k in (one, two)), strict=True)
    ):
        a, b = (tails(count, 1 / n_places) for count in counts)
        levels = min(len(a), len(b))
        matched[row] = n_places * float((a[:levels] * b[:levels]).sum())
    return total(pair, matched, len(i))


def expected_boundaries_overlapping(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the expected number of shared starts and ends, where spans may overlap.

    What two sets share is the smaller of the two counts at each place.

    How many spans start at a place is Poisson-binomial, and the same from one place to
    the next until one of the spans would run past the end of the text.
    """
    tails = {s: start_tails(sets.table, s) for s in distinct(np.concatenate([i, j]))[0].tolist()}
    matched = np.zeros(len(i))
    for row, (one, two) in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        (stop_a, a), (stop_b, b) = tails[one], tails[two]
        stops = np.union1d(stop_a, stop_b)
        stops = stops[stops <= min(stop_a[-1], stop_b[-1])]
        levels = min(len(a), len(b))
        shared = (
            a[:levels, np.searchsorted(stop_a, stops)] * b[:levels, np.searchsorted(stop_b, stops)]
        )
        matched[row] = 2 * float((np.diff(stops, prepend=0) * shared.sum(axis=0)).sum())
    return matched


def expected_parts_overlapping(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Compute the same as `expected_parts`, where spans may overlap."""
    runs = [
        slice(*ends) for ends in zip(sets.first[:-1].tolist(), sets.first[1:].tolist(), strict=True)
    ]
    found = np.zeros((3, len(i)))
    for row, sides in enumerate(zip(i.tolist(), j.tolist(), strict=True)):
        n = int(sets.n[sides[0]])
        lengths = [sets.table.length[runs[side]] for side in sides]
        counts = [sets.table.count[runs[side]] for side in sides]
        # Positions are alike from where the longest span no longer touches the edge.
        edge = max(int(np.minimum(side, n - side + 1).max()) for side in lengths)
        edge = min(edge, (n + 1) // 2)
        a, b = (rank_profiles(n, *side, edge) for side in zip(lengths, counts, strict=True))
        times = np.full(edge, 2.0)
        times[-1] = n - 2 * (edge - 1)
        ranks = min(a.shape[1], b.shape[1])
        shared = np.einsum("irt,jrt,t->ij", a[:, :ranks], b[:, :ranks], times)
        one, two = lengths[0][:, None], lengths[1]
        for side, size in enumerate(((one + two) / 2, one, two)):
            found[side, row] = float((shared / size).sum())
    return found
