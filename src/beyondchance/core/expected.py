"""Expected match: what two random annotations of one text have in common.

Each function takes sets of spans and two arrays of these, and gives the expectation
for each pair of sets, every arrangement of either side being equally likely. The sets
of a pair belong to texts of equal size. By Proposition 1, what adds up over pairs of
spans has an expectation that adds up over pairs of spans.
"""

from __future__ import annotations

from collections.abc import Callable
from functools import cache

import numpy as np

from beyondchance.core.observed import Phi
from beyondchance.core.overlapping import binomial_tails, level_profiles, start_tails
from beyondchance.core.profiles import Profiles, boxes, convolved, joined
from beyondchance.core.ragged import blocks, distinct, spread, starts, total
from beyondchance.core.sets import SpanSets, place_coverage, set_coverage, start_profiles
from beyondchance.types import Floats, Ints

ProfilesOfPlaces = Callable[[SpanSets, Ints], Profiles]

_MOST_CELLS = 2**18
"""Pairs of starts for which a function of two spans is evaluated at once."""

# --- Spans on lines -----------------------------------------------------------


def expected_positions(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Positions covered by both: the sum of products of the coverages."""
    used, where = distinct(np.concatenate([i, j]))
    return set_coverage(sets, used).dot(*where.reshape(2, -1))


def expected_equal_spans(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Spans of equal length that start at the same place."""
    pair, one, two = _equal_lengths(sets, i, j)
    profiles, x, y = _of_members(sets, one, two, start_profiles)
    return total(pair, _times(sets, one, two) * profiles.dot(x, y), len(i))


def expected_boundaries(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Starts in common and ends in common, which by mirror symmetry are as many."""
    pair, one, two = _all_members(sets, i, j)
    profiles, x, y = _of_members(sets, one, two, start_profiles)
    same_start = profiles.meet(x, y, np.zeros_like(x))
    return total(pair, 2 * _times(sets, one, two) * same_start, len(i))


def expected_parts(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """What intersecting spans share, divided by the mean of their lengths, and by either.

    Returns
    -------
    array of float, shape (3, pairs)
    """
    pair, one, two = _all_members(sets, i, j)
    profiles, x, y = _of_members(sets, one, two, place_coverage)
    shared = _times(sets, one, two) * profiles.dot(x, y)
    lengths = sets.length()
    sizes = ((lengths[one] + lengths[two]) / 2, lengths[one], lengths[two])
    return np.array([total(pair, shared / size, len(i)) for size in sizes])


def expected_partners(sets: SpanSets, i: Ints, j: Ints, *, theta: float) -> Floats:
    """Pairs of spans at IoU > theta, for theta from 1/2 on.

    A span that shares more than half with another shares less than half with any other
    that is disjoint from that one, so that pairs are one to one by themselves.
    """
    pair, one, two = _all_members(sets, i, j)
    lengths = sets.length()
    needed = _needed_for(theta, lengths[one] + lengths[two])
    possible = needed <= np.minimum(lengths[one], lengths[two])
    pair, one, two, needed = pair[possible], one[possible], two[possible], needed[possible]
    a, b = lengths[one], lengths[two]
    profiles, x, y = _of_members(sets, one, two, start_profiles)
    # Spans that start at s and t share min(a, b, s + a - t, t + b - s) positions: enough of
    # them if t lies in a window from s + needed - b to s + a - needed.
    width = a + b - 2 * needed + 1
    window, which = distinct(y * (int(width.max(initial=0)) + 1) + width)
    start, size = np.divmod(window, int(width.max(initial=0)) + 1)
    in_window = convolved(profiles.take(start), boxes(size))
    met = joined(profiles, in_window).meet(x, len(profiles) + which, a - needed)
    return total(pair, _times(sets, one, two) * met, len(i))


def _needed_for(theta: float, both: Ints) -> Ints:
    """The fewest positions that spans of so many together share at IoU > theta."""
    needed = np.maximum((theta / (1 + theta) * both).astype(np.int64) - 1, 1)
    for _ in range(4):
        needed += ~(needed / (both - needed) > theta)
    return needed


def expected_phi(sets: SpanSets, i: Ints, j: Ints, *, phi: Phi) -> Floats:
    """Any function of two spans, summed over those that intersect.

    It is evaluated for every two starts at which the two spans intersect: as many as
    the text has positions, times the two lengths.
    """
    pair, one, two = _all_members(sets, i, j)
    lengths = sets.length()
    profiles, x, y = _of_members(sets, one, two, start_profiles)
    a, b, n = lengths[one], lengths[two], sets.n[i][pair]
    # A row for each pair of members and lag from 1 - b to a - 1; its cells are starts.
    which, lag = spread(a + b - 1)
    lag += 1 - b[which]
    begin = np.maximum(0, -lag)
    n_starts = np.minimum(n[which] - a[which], n[which] - b[which] - lag) + 1 - begin
    matched = np.empty(len(which))
    for rows in blocks(np.maximum(n_starts, 0), _MOST_CELLS):
        row, start = spread(np.maximum(n_starts[rows], 0))
        k, other = which[rows][row], lag[rows][row]
        start += begin[rows][row]
        other += start
        chance = profiles.at(x[k], start) * profiles.at(y[k], other)
        value = chance * phi(start, a[k], other, b[k])
        matched[rows] = total(row, value, len(which[rows]))
    return total(pair, _times(sets, one, two) * total(which, matched, len(pair)), len(i))


def _all_members(sets: SpanSets, i: Ints, j: Ints) -> tuple[Ints, Ints, Ints]:
    """Every member of i with every member of j: pair of sets, member, member."""
    pair, one = sets.members(i)
    which, two = sets.members(j[pair])
    return pair[which], one[which], two


def _equal_lengths(sets: SpanSets, i: Ints, j: Ints) -> tuple[Ints, Ints, Ints]:
    """The members of i and j that have the same length: pair of sets, member, member."""
    lengths = sets.length()
    stride = int(lengths.max(initial=0)) + 1
    key = sets.owner() * stride + lengths
    order = np.argsort(key, kind="stable")
    pair, one = sets.members(i)
    wanted = j[pair] * stride + lengths[one]
    begin = np.searchsorted(key[order], wanted, side="left")
    stop = np.searchsorted(key[order], wanted, side="right")
    which, place = spread(stop - begin)
    return pair[which], one[which], order[begin[which] + place]


def _of_members(
    sets: SpanSets, one: Ints, two: Ints, profiles_of_places: ProfilesOfPlaces
) -> tuple[Profiles, Ints, Ints]:
    """Profiles of the places of these members, and where in them each member is."""
    used, where = distinct(sets.place[np.concatenate([one, two])])
    x, y = where.reshape(2, -1)
    return profiles_of_places(sets, used), x, y


def _times(sets: SpanSets, one: Ints, two: Ints) -> Ints:
    """How many pairs of spans a pair of members stands for."""
    return np.asarray(sets.count[one] * sets.count[two])


# --- Spans that may overlap ---------------------------------------------------


def expected_levels(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Smaller of the two counts at each position, where spans may overlap."""
    profiles, n_levels = level_profiles(sets.table)
    first = starts(n_levels)
    pair, level = spread(np.minimum(n_levels[i], n_levels[j]))
    return total(pair, profiles.dot(first[i][pair] + level, first[j][pair] + level), len(i))


def expected_equal_overlapping(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Smaller of the two counts of equal spans, where spans may overlap.

    Of k spans of one length, the number that start at a given place is binomial.
    """
    pair, one, two = _equal_lengths(sets, i, j)
    places = sets.n[i][pair] - sets.length()[one] + 1
    tails = cache(binomial_tails)
    matched = np.zeros(len(pair))
    for row, (n_places, *counts) in enumerate(
        zip(places.tolist(), sets.count[one].tolist(), sets.count[two].tolist(), strict=True)
    ):
        a, b = (tails(count, 1 / n_places) for count in counts)
        levels = min(len(a), len(b))
        matched[row] = n_places * float((a[:levels] * b[:levels]).sum())
    return total(pair, matched, len(i))


def expected_boundaries_overlapping(sets: SpanSets, i: Ints, j: Ints) -> Floats:
    """Smaller of the two counts of starts at each place, and the same for ends.

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
