"""Pair the entities of one side with those of the other that they overlap.

Each entity has one partner at most. Of all ways to pair them, one is taken that has the most
correct pairs and, among those, the most pairs. How many there are does not depend on the order
of the entities.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Mapping, Sequence
from math import inf
from typing import NamedTuple


class Edge(NamedTuple):
    """Two entities that overlap, by their numbers, and whether they are a correct pair."""

    true: int
    predicted: int
    is_correct: bool


def best_pairs(edges: Sequence[Edge]) -> list[Edge]:
    """Pair entities that overlap.

    Predicted entities join one after the other. Each may take a partner from another one, which
    may take its partner from the next, or stay alone: of all such paths, the one is followed that
    gains most, so that the pairs are the best of the entities that have joined.

    Examples
    --------
    The second predicted entity is a correct partner, the first is not.

    >>> best_pairs([Edge(0, 0, is_correct=False), Edge(0, 1, is_correct=True)])
    [Edge(true=0, predicted=1, is_correct=True)]
    """
    of_predicted: _Edges = defaultdict(list)
    for edge in edges:
        # A correct pair counts more than all others together.
        of_predicted[edge.predicted].append((len(edges) * edge.is_correct + 1, edge))
    by_true: dict[int, tuple[int, Edge]] = {}
    by_predicted: dict[int, Edge] = {}
    for first in of_predicted:
        true, came_by = _best_path(first, of_predicted, by_true)
        if true in by_true:
            del by_predicted[by_true[true][1].predicted]
        # Change partners along the path, from its end to its beginning.
        while true is not None:
            by_true[true] = came_by[true]
            edge = came_by[true][1]
            former = by_predicted.get(edge.predicted)
            by_predicted[edge.predicted] = edge
            true = former.true if former else None
    return list(by_predicted.values())


_Edges = dict[int, list[tuple[int, Edge]]]
"""The edges of each predicted entity, with how much they count as a pair."""


def _best_path(
    first: int, of_predicted: _Edges, by_true: Mapping[int, tuple[int, Edge]]
) -> tuple[int | None, dict[int, tuple[int, Edge]]]:
    """Return the true entity at which the best path ends, and how each one was reached."""
    best, last = 0, None
    gain: dict[int, int] = {}
    came_by: dict[int, tuple[int, Edge]] = {}
    waiting = deque([(first, 0)])
    # An entity that joins gains no more than its best pair counts.
    while waiting and best < max(of_predicted[first])[0]:
        number, before = waiting.popleft()
        for weight, edge in of_predicted[number]:
            gained = before + weight
            if gained <= gain.get(edge.true, -inf):
                continue
            gain[edge.true], came_by[edge.true] = gained, (weight, edge)
            taken, old = by_true.get(edge.true, (0, None))
            if gained - taken > best:
                best, last = gained - taken, edge.true
            if old and gained - taken + max(of_predicted[old.predicted])[0] > best:
                waiting.append((old.predicted, gained - taken))
    return last, came_by
