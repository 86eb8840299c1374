"""Expected support: what so many of several random annotations of one text have in common.

A position, or a place where a span can start, is looked at by itself: annotators are independent,
so that how many of them mark it is Poisson-binomial. The middle of a text, in which all positions
are alike, is looked at once.
"""

from __future__ import annotations

import numpy as np

from beyondchance.core.overlapping import tails_of
from beyondchance.core.ragged import (
    blocks,
    bounds,
    distinct,
    largest,
    members,
    spread,
    total,
)
from beyondchance.core.random_places import SpanSets, coverage_of, layers_in, start_profiles
from beyondchance.types import Floats, Ints

_MOST_CELLS = 2**20
"""Probabilities that are held at a time."""


def expected_support(
    sets: SpanSets, team: Ints, side: Ints, n_teams: int, fewest: int, *, by_length: bool
) -> Floats:
    """Compute how much of what random teams mark so many of each team mark, as often as they do.

    Parameters
    ----------
    sets : SpanSets
    team, side : arrays of int, shape (annotations,)
        The team of each annotation and its set.
    n_teams : int
    fewest : int
    by_length : bool
        Whether spans with equal lengths are compared, rather than positions.

    Examples
    --------
    Three annotators mark one of two positions each: with probability 1/4 all mark the same, and
    otherwise two of them do.

    >>> from beyondchance.core.lengths import table_of
    >>> from beyondchance.core.random_places import whole_lines
    >>> sets, alike = whole_lines(table_of(2, np.array([1]))), np.zeros(3, dtype=int)
    >>> for fewest in (2, 3):
    ...     expected_support(sets, alike, alike, 1, fewest, by_length=False).tolist()
    [2.25]
    [0.75]
    """
    found, layers = np.zeros(n_teams), layers_in(sets)
    if by_length:
        first, weight, length = sets.first, sets.weight, sets.length
        profiles = start_profiles(sets, sets.place)
    else:
        # Spans that are apart are one layer.
        first, weight = layers.first, np.ones(len(sets))
        length = np.zeros_like(first)
        profiles = coverage_of(sets, layers, np.arange(len(sets))).profiles
    row, sequence = members(first, side)
    key = distinct(team[row] * (largest(length) + 1) + length[sequence])[1]
    order, n_people = np.argsort(key, kind="stable"), np.bincount(key)
    begin = bounds(key[order], len(n_people))
    for people in distinct(n_people[n_people >= fewest])[0].tolist():
        keys = np.flatnonzero(n_people == people)
        who = order[begin[keys][:, None] + np.arange(people)]
        reach = profiles.reach[sequence[who]].max(axis=1)
        for block in blocks((reach + 1) * people, _MOST_CELLS):
            cell, place = spread(reach[block] + 1)
            each = sequence[who[block]][cell]
            # Sorted, so that the order of annotators changes no digit.
            p = np.sort(weight[each] * profiles.at(each, place[:, None]), axis=1)
            tails = tails_of(p.T, np.ones(people, dtype=np.int64))[fewest - 1 :]
            value = (fewest - 1) * tails[:1].sum(axis=0) + tails.sum(axis=0)
            middle = profiles.size[each[:, 0]] - 2 * place
            times = np.where(place == reach[block][cell], middle, 2)
            found += total(team[row[who[block, 0]]][cell], times * value, n_teams)
    return found
