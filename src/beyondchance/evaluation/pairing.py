"""Which entity of one side stands for which of the other, where they overlap.

Each entity has one partner at most. Of all ways to pair them, one is taken that has the most
correct pairs and, among those, the most pairs. How many there are does not depend on the order
of the entities.
"""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Sequence
from dataclasses import dataclass
from math import inf


@dataclass(frozen=True, slots=True)
class Edge:
    """Two entities that overlap, by their numbers, and whether they are a correct pair."""

    true: int
    predicted: int
    is_correct: bool


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
        if len(of_true[edge.true]) == len(of_predicted[edge.predicted]) == 1:
            pairs.append(edge)
        elif edge.predicted not in seen:
            predicted = _connected(edge.predicted, of_true, of_predicted)
            seen |= predicted
            pairs += _heaviest({number: of_predicted[number] for number in sorted(predicted)})
    return pairs


def _connected(
    first: int, of_true: dict[int, list[Edge]], of_predicted: dict[int, list[Edge]]
) -> set[int]:
    """The predicted entities that are connected with one by overlaps."""
    found, waiting = {first}, [first]
    while waiting:
        for edge in of_predicted[waiting.pop()]:
            new = {other.predicted for other in of_true[edge.true]} - found
            found |= new
            waiting += new
    return found


def _heaviest(of_predicted: dict[int, list[Edge]]) -> list[Edge]:
    """Pairs of the greatest weight, in which one correct pair outweighs all that are not.

    Pairs are added one by one, each along the path that adds most: from a predicted entity without
    a partner to a true one without, by way of others that change partners.
    """
    correct = len(of_predicted) + 1
    partner: dict[int, Edge] = {}

    def weight(edge: Edge) -> int:
        return correct if edge.is_correct else 1

    while True:
        taken = {edge.predicted for edge in partner.values()}
        gain: dict[int, int] = {}
        came_by: dict[int, Edge] = {}
        waiting = [(0, number) for number in of_predicted if number not in taken]
        while waiting:
            so_far, number = waiting.pop()
            for edge in of_predicted[number]:
                reached = so_far + weight(edge)
                if partner.get(edge.true) == edge or reached <= gain.get(edge.true, -inf):
                    continue
                gain[edge.true], came_by[edge.true] = reached, edge
                if edge.true in partner:
                    given_up = partner[edge.true]
                    waiting.append((reached - weight(given_up), given_up.predicted))
        free = [number for number, added in gain.items() if number not in partner and added > 0]
        if not free:
            return list(partner.values())
        true: int | None = max(free, key=gain.__getitem__)
        while true is not None:
            edge = came_by[true]
            left = next((t for t, old in partner.items() if old.predicted == edge.predicted), None)
            partner[true] = edge
            true = left
