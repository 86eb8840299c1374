"""Which entity of one side stands for which of the other, where they overlap.

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


Edges = dict[int, list[Edge]]


def best_pairs(edges: Sequence[Edge]) -> list[Edge]:
    """Pair entities that overlap.

    Examples
    --------
    The second predicted entity is a correct partner, the first is not.

    >>> best_pairs([Edge(0, 0, is_correct=False), Edge(0, 1, is_correct=True)])
    [Edge(true=0, predicted=1, is_correct=True)]
    """
    of_true, of_predicted = defaultdict(list), defaultdict(list)
    for edge in edges:
        of_true[edge.true].append(edge)
        of_predicted[edge.predicted].append(edge)
    pairs = []
    seen: set[int] = set()
    for edge in edges:
        if len(of_true[edge.true]) == 1 and len(of_predicted[edge.predicted]) == 1:
            pairs.append(edge)
        elif edge.predicted not in seen:
            predicted = _connected(edge.predicted, of_true, of_predicted)
            seen |= predicted
            pairs += _Pairs({number: of_predicted[number] for number in sorted(predicted)}).best()
    return pairs


def _connected(first: int, of_true: Edges, of_predicted: Edges) -> set[int]:
    """The predicted entities that are connected with one by overlaps."""
    found, waiting, passed = {first}, [first], set()
    while waiting:
        for edge in of_predicted[waiting.pop()]:
            if edge.true not in passed:
                passed.add(edge.true)
                new = {other.predicted for other in of_true[edge.true]} - found
                found |= new
                waiting += new
    return found


class _Pairs:
    """Pairs of connected entities, which grow along paths.

    A path leads from a predicted entity without a partner to a true one without, by way of
    others that change partners. Each adds one pair.
    """

    def __init__(self, of_predicted: Edges) -> None:
        self.of_predicted = of_predicted
        self.by_true: dict[int, Edge] = {}
        self.by_predicted: dict[int, Edge] = {}

    def best(self) -> list[Edge]:
        """The most correct pairs, and then the most pairs."""
        self._grow({p: [e for e in own if e.is_correct] for p, own in self.of_predicted.items()})
        # Whatever is left may be paired without a change to correct pairs. Most often that is all.
        rest = {
            number: [edge for edge in own if edge.true not in self.by_true]
            for number, own in self.of_predicted.items()
            if number not in self.by_predicted
        }
        self._grow(rest)
        while self._exchange():
            pass
        return list(self.by_true.values())

    def _grow(self, of_predicted: Edges) -> None:
        """Add pairs of these edges while there is a path."""
        for first in of_predicted:
            came_by: dict[int, Edge] = {}
            waiting = deque([first])
            while waiting:
                new = [e for e in of_predicted[waiting.popleft()] if e.true not in came_by]
                came_by |= {edge.true: edge for edge in new}
                free = next((edge.true for edge in new if edge.true not in self.by_true), None)
                if free is not None:
                    self._follow(free, came_by)
                    break
                waiting.extend(self.by_true[edge.true].predicted for edge in new)

    def _exchange(self) -> bool:
        """Add a pair by a path that keeps the number of correct pairs, if there is one.

        It is a longest path, in which a correct pair counts more than all others. No circle can
        add anything, because there are as many correct pairs as there can be.
        """
        reached = {p: 0 for p in self.of_predicted if p not in self.by_predicted}
        has_room = any(
            e.true not in self.by_true for own in self.of_predicted.values() for e in own
        )
        if not reached or not has_room:
            return False
        gain: dict[int, int] = {}
        came_by: dict[int, Edge] = {}
        waiting, listed = deque(reached), set(reached)
        while waiting:
            number = waiting.popleft()
            listed.discard(number)
            for edge in self.of_predicted[number]:
                added = reached[number] + self._weight(edge)
                old = self.by_true.get(edge.true)
                if old == edge or added <= gain.get(edge.true, -inf):
                    continue
                gain[edge.true], came_by[edge.true] = added, edge
                if old is not None:
                    reached[old.predicted] = added - self._weight(old)
                    if old.predicted not in listed:
                        waiting.append(old.predicted)
                        listed.add(old.predicted)
        free = [number for number, added in gain.items() if number not in self.by_true]
        last = max(free, key=gain.__getitem__, default=None)
        if last is None or gain[last] <= 0:
            return False
        self._follow(last, came_by)
        return True

    def _weight(self, edge: Edge) -> int:
        return len(self.of_predicted) + 1 if edge.is_correct else 1

    def _follow(self, last: int, came_by: dict[int, Edge]) -> None:
        """Change partners along a path, from its end to its beginning."""
        true: int | None = last
        while true is not None:
            edge = came_by[true]
            before = self.by_predicted.get(edge.predicted)
            self.by_predicted[edge.predicted] = self.by_true[true] = edge
            true = None if before is None else before.true
