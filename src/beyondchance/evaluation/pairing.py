"""Pair the entities of one side with those of the other that they overlap.

Each entity has one partner at most. Of all ways to pair them, one is taken that has the most
correct pairs and, among those, the most pairs. How many there are does not depend on the order
of the entities.
"""

from __future__ import annotations

from collections import defaultdict, deque
from collections.abc import Sequence
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
    of_predicted: defaultdict[int, list[Edge]] = defaultdict(list)
    for edge in edges:
        of_predicted[edge.predicted].append(edge)

    def weight(edge: Edge) -> int:
        """Let a correct pair count more than all others together."""
        return len(edges) + 1 if edge.is_correct else 1

    most = {number: max(map(weight, own)) for number, own in of_predicted.items()}
    by_true: dict[int, Edge] = {}
    by_predicted: dict[int, Edge] = {}
    for first in of_predicted:
        gain: dict[int, int] = {}
        came_by: dict[int, Edge] = {}
        best, last = 0, None
        waiting = deque([(first, 0)])
        # An entity that joins gains no more than its best pair counts.
        while waiting and best < most[first]:
            number, before = waiting.popleft()
            for edge in of_predicted[number]:
                gained = before + weight(edge)
                if gained <= gain.get(edge.true, -inf):
                    continue
                gain[edge.true], came_by[edge.true] = gained, edge
                old = by_true.get(edge.true)
                left = gained - (weight(old) if old else 0)
                if left > best:
                    best, last = left, edge.true
                if old and left + most[old.predicted] > best:
                    waiting.append((old.predicted, left))
        if last in by_true:
            del by_predicted[by_true[last].predicted]
        # Change partners along the path, from its end to its beginning.
        while last is not None:
            edge = came_by[last]
            former = by_predicted.get(edge.predicted)
            by_true[last] = by_predicted[edge.predicted] = edge
            last = former.true if former else None
    return list(by_true.values())
