"""Spans that may meet, and the ways to place the quotes among them.

A *cluster* holds spans of one document that can match each other or get in each other's way,
wherever their quotes are. What matches adds up over clusters. Chance depends on the *shapes* of
placements only: the lengths of spans, and how they overlap.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import comb, inf, prod
from typing import Any, NamedTuple

import numpy as np

from beyondchance.core.measures import Measure
from beyondchance.core.observed import SpanGroups, intersecting
from beyondchance.scoring.options import Scoring
from beyondchance.types import Floats, Ints

MOST_PLACEMENTS = 100_000
"""How many joint placements of a cluster are enumerated."""
MOST_OF_ONE = 10_000
"""How many placements of one annotator are."""
MOST_IN_ALL = 2_000_000
"""How many joint placements are enumerated in all clusters of a corpus."""
MOST_SHAPES = 500
"""How many combinations of shapes are told apart."""


class Spot(NamedTuple):
    """A place with a label: text, start and end in the whole corpus, label."""

    text: int
    start: int
    end: int
    label: int


@dataclass(frozen=True, slots=True)
class Pool:
    """Quotes of one string by one annotator, and where they may be.

    Attributes
    ----------
    places : list of (text, start, end)
    labels : list of int
        The label of each quote.
    spots : list of Spot
        Where they were put.
    """

    places: list[tuple[int, int, int]]
    labels: list[int]
    spots: list[Spot]

    def quotas(self) -> list[tuple[int, int]]:
        """Each label with the number of its quotes."""
        return sorted(Counter(self.labels).items())

    @property
    def is_shared(self) -> bool:
        """Whether there are more quotes than places, so that labels may share one."""
        return len(self.labels) > len(self.places)

    def possible(self) -> list[Spot]:
        """Every place with every label."""
        return [Spot(*place, label) for place in self.places for label in set(self.labels)]


@dataclass(frozen=True, slots=True)
class Side:
    """The spans of one annotator in a cluster: those whose place is known, and pools."""

    known: list[Spot]
    pools: list[Pool]

    @property
    def default(self) -> list[Spot]:
        """Where all spans were put."""
        return [*self.known, *(spot for pool in self.pools for spot in pool.spots)]

    def possible(self) -> list[Spot]:
        """Wherever spans may be."""
        return [*self.known, *(spot for pool in self.pools for spot in pool.possible())]


Cluster = dict[int, Side]
"""The sides of a cluster by annotator."""


@dataclass(frozen=True, slots=True)
class Outcome:
    """Placements of a cluster that chance does not tell apart.

    Attributes
    ----------
    low, high : float
        The least and the most that matches, beyond what matched where spans were put.
    example : mapping of annotator to list of Spot, optional
        One of the placements.
    """

    low: float
    high: float
    example: dict[int, list[Spot]] | None


def clustered(sides: Cluster, *, is_labelled: bool) -> tuple[list[Cluster], Cluster]:
    """Spans that may meet, together; those that have nothing to choose are the rest.

    Spans of one annotator meet if they share a position, because they may get in each other's way;
    spans of two annotators if they also share their label, because they may match.
    """
    nodes: list[tuple[int, Spot | Pool]] = []
    for who, side in sides.items():
        nodes += [(who, spot) for spot in side.known]
        nodes += [(who, pool) for pool in side.pools]
    lines: dict[tuple[str, int], list[tuple[int, int, int]]] = {}
    for number, (who, node) in enumerate(nodes):
        for spot in [node] if isinstance(node, Spot) else node.possible():
            place = spot.start, spot.end, number
            lines.setdefault(("annotator", who), []).append(place)
            lines.setdefault(("label", spot.label if is_labelled else 0), []).append(place)
    owner = _linked(lines.values(), len(nodes))
    clusters: dict[int, Cluster] = {}
    for number, (who, node) in enumerate(nodes):
        side = clusters.setdefault(owner[number], {}).setdefault(who, Side([], []))
        if isinstance(node, Spot):
            side.known.append(node)
        else:
            side.pools.append(node)
    free: list[Cluster] = []
    rest: Cluster = {}
    for cluster in clusters.values():
        if any(side.pools for side in cluster.values()):
            free.append(cluster)
            continue
        for who, side in cluster.items():
            rest.setdefault(who, Side([], [])).known.extend(side.known)
    return free, rest


def _linked(lines: Iterable[list[tuple[int, int, int]]], n_nodes: int) -> list[int]:
    """Join nodes that share a position on one of the lines: equal numbers for those joined.

    A line has the start and the end of each place, and the node that it belongs to.
    """
    parent = list(range(n_nodes))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    for places in lines:
        last, reach = -1, -1
        for start, end, node in sorted(places):
            if start < reach:
                parent[root(node)] = root(last)
            last, reach = node, max(reach, end)
    return list(map(root, range(n_nodes)))


def outcomes_of(
    cluster: Cluster, pairs: Sequence[tuple[int, int]], scoring: Scoring, *, most: int
) -> tuple[list[Outcome], bool]:
    """All outcomes of a cluster, and whether they are exact or bounds.

    At most `most` joint placements are enumerated.
    """
    found = (
        _separate(cluster, pairs, scoring)
        or _of_one_string(cluster, pairs, scoring)
        or _enumerated(cluster, pairs, scoring, most)
    )
    return (found, True) if found else (_relaxed(cluster, pairs, scoring, most), False)


def sizes_of(spots: Sequence[Spot], measure: Measure) -> Floats:
    """How much each span counts."""
    lengths = np.array([spot.end - spot.start for spot in spots], dtype=np.int64)
    return np.asarray(measure.size(lengths), dtype=np.float64)


def _separate(
    cluster: Cluster, pairs: Iterable[tuple[int, int]], scoring: Scoring
) -> list[Outcome] | None:
    """The outcome of a cluster in which each place counts for itself; None of others.

    One annotator has something to choose, none of whose places share a position, and nobody else
    has spans of one label that do. Then the best places of each string are best for all.
    """
    chooser, *others = [who for who, side in cluster.items() if side.pools]
    if others or not scoring.measure.adds_up:
        return None
    side = cluster[chooser]
    is_labelled = scoring.scope.labelled
    if any(
        len(set(pool.labels)) > 1 or len({(text, e - s) for text, s, e in pool.places}) > 1
        for pool in side.pools
    ):
        return None
    if not _is_apart(side.possible()) or not all(
        _is_apart(spots) for who in cluster for spots in _by_label(cluster[who].known, is_labelled)
    ):
        return None
    opponents = [
        cluster[a + b - chooser].known
        for a, b in pairs
        if chooser in {a, b} and a + b - chooser in cluster
    ]
    low = high = 0.0
    for pool in side.pools:
        spots = pool.possible()
        number = len(pool.labels)
        value = sum(
            (_matrix([[spot] for spot in spots], [known], scoring)[:, 0] for known in opponents),
            np.zeros(len(spots)),
        )
        number_of = {spot: number for number, spot in enumerate(spots)}
        now = sum(value[number_of[spot]] for spot in pool.spots)
        ranked = np.sort(value)
        low += float(ranked[:number].sum() - now)
        high += float(ranked[len(spots) - number :].sum() - now)
    return [Outcome(low, high, {who: one.default for who, one in cluster.items()})]


def _by_label(spots: Iterable[Spot], is_labelled: bool) -> Iterable[list[Spot]]:
    groups: dict[int, list[Spot]] = {}
    for spot in spots:
        groups.setdefault(spot.label if is_labelled else 0, []).append(spot)
    return groups.values()


def _is_apart(spots: Iterable[Spot]) -> bool:
    """Whether no two share a position."""
    reach = -1
    for _, start, end, _ in sorted(spots, key=lambda spot: (spot.start, spot.end)):
        if start < reach:
            return False
        reach = end
    return True


def _of_one_string(
    cluster: Cluster, pairs: Sequence[tuple[int, int]], scoring: Scoring
) -> list[Outcome] | None:
    """The outcome of a cluster in which two annotators chose among the same places; None of others.

    How many places both chose is all that counts. Of n places, a and b were chosen: at least
    a + b - n of them by both, at most the smaller of a and b.
    """
    pools = [pool for side in cluster.values() for pool in side.pools]
    if len(cluster) != 2 or len(pools) != 2 or any(side.known for side in cluster.values()):
        return None
    one, two = pools
    if (
        len({*one.labels, *two.labels}) > 1
        or one.places != two.places
        or len({(text, end - start) for text, start, end in one.places}) > 1
        or not _is_apart(one.possible())
        or not any(set(pair) == set(cluster) for pair in pairs)
    ):
        return None
    n, a, b = len(one.places), len(one.labels), len(two.labels)
    value = float(_matrix([one.spots[:1]], [one.spots[:1]], scoring)[0, 0])
    now = len({*one.spots} & {*two.spots})
    low, high = (value * (number - now) for number in (max(a + b - n, 0), min(a, b)))
    return [Outcome(low, high, {who: side.default for who, side in cluster.items()})]


def _enumerated(
    cluster: Cluster, pairs: Iterable[tuple[int, int]], scoring: Scoring, most: int
) -> list[Outcome] | None:
    """All placements of a cluster, by shape; None if there are too many."""
    people = list(cluster)
    placements: list[list[list[Spot]]] = []
    for who in people:
        found = _placements(cluster[who], min(most, MOST_OF_ONE))
        if not found:
            return None
        # The first one is where spans were put.
        placements.append([cluster[who].default, *found])
    if prod(len(found) - 1 for found in placements) > most:
        return None
    matched = np.zeros([len(found) for found in placements])
    for a, b in pairs:
        if a in cluster and b in cluster:
            i, j = people.index(a), people.index(b)
            matrix = _matrix(placements[i], placements[j], scoring)
            shape = [len(found) if k in {i, j} else 1 for k, found in enumerate(placements)]
            matched += (matrix if i < j else matrix.T).reshape(shape)
    joint = matched[(slice(1, None),) * len(people)] - matched[(0,) * len(people)]
    shapes = [_numbered([_shape(spots, scoring) for spots in found[1:]]) for found in placements]
    n_shapes = [int(number.max()) + 1 for number in shapes]
    code = np.ravel_multi_index(np.meshgrid(*shapes, indexing="ij"), n_shapes).ravel()
    used, example, number = np.unique(code, return_index=True, return_inverse=True)
    if len(used) > MOST_SHAPES:
        return [Outcome(float(joint.min()), float(joint.max()), None)]
    low, high = np.full(len(used), inf), np.full(len(used), -inf)
    np.minimum.at(low, number.ravel(), joint.ravel())
    np.maximum.at(high, number.ravel(), joint.ravel())
    chosen = zip(*(index.tolist() for index in np.unravel_index(example, joint.shape)), strict=True)
    examples = [
        {who: placements[k][index[k] + 1] for k, who in enumerate(people)} for index in chosen
    ]
    ends = zip(low.tolist(), high.tolist(), strict=True)
    return [Outcome(*end, one) for end, one in zip(ends, examples, strict=True)]


def _numbered(values: Sequence[object]) -> Ints:
    """Equal values by equal numbers."""
    number: dict[object, int] = {}
    return np.array([number.setdefault(value, len(number)) for value in values])


def _shape(spots: Sequence[Spot], scoring: Scoring) -> object:
    """What chance depends on: the lengths of spans, and how those placed together overlap."""
    if scoring.model.is_independent:
        return tuple(sorted((text, label, end - start) for text, start, end, label in set(spots)))
    heaps: list[object] = []
    is_labelled = scoring.scope.labelled
    for group in _by_label(set(spots), scoring.scope.by_label):
        first = reach = -1
        heap: list[tuple[int, int, int]] = []
        ordered = sorted(group, key=lambda spot: (spot.start, spot.end))
        for text, start, end, label in ordered:
            if start >= reach:
                heaps.append(tuple(heap))
                first, heap = start, []
            heap.append((start - first, end - first, label if is_labelled else 0))
            if len(heap) == 1:
                heap.insert(0, (text, label if is_labelled else 0, -1))
            reach = max(reach, end)
        heaps.append(tuple(heap))
    return tuple(sorted(map(repr, heaps)))


def _crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two spans share a position and none lies in the other."""
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def _placements(side: Side, most: int) -> list[list[Spot]] | None:
    """All joint placements of the spans of an annotator; None if there are more than `most`."""
    if not side.pools:
        return [side.default]
    n_free = prod(
        comb(len(pool.places), number) for pool in side.pools for _, number in pool.quotas()
    )
    if n_free > 100 * most:
        return None
    owners = [*([spot] for spot in side.known), *(pool.spots for pool in side.pools)]
    n_known = len(side.known)
    crossing = {
        (i, j)
        for j, two in enumerate(owners)
        for i, one in enumerate(owners[:j])
        if j >= n_known and any(_crosses(a[1:3], b[1:3]) for a in one for b in two)
    }

    def fits(place: tuple[int, int, int], owner: int, other: Spot, other_owner: int) -> bool:
        """Whether a place does not cross a span, or may because the two cross already."""
        return (other_owner, owner) in crossing or not _crosses(place[1:], other[1:3])

    tasks = []
    for owner, pool in enumerate(side.pools, start=n_known):
        places = [
            place
            for place in pool.places
            if all(fits(place, owner, spot, known) for known, spot in enumerate(side.known))
        ]
        tasks += [(owner, pool, places, label, number) for label, number in pool.quotas()]
    found: list[list[Spot]] = []
    partial: list[tuple[int, Spot]] = []

    def extend(task: int) -> bool:
        """Place what is left; False if there are too many placements."""
        if task == len(tasks):
            found.append([*side.known, *(spot for _, spot in partial)])
            return len(found) <= most
        owner, pool, places, label, number = tasks[task]
        taken = set() if pool.is_shared else {spot[:3] for own, spot in partial if own == owner}
        free = [
            place
            for place in places
            if place not in taken
            and all(fits(place, owner, spot, own) for own, spot in partial if own != owner)
        ]
        for chosen in combinations(free, number):
            partial.extend((owner, Spot(*place, label)) for place in chosen)
            goes_on = extend(task + 1)
            del partial[len(partial) - number :]
            if not goes_on:
                return False
        return True

    return found if extend(0) else None


def _matrix(one: list[list[Spot]], two: list[list[Spot]], scoring: Scoring) -> Floats:
    """What every placement of one annotator has in common with every one of another."""
    found = np.zeros((len(one), len(two)))
    is_labelled = scoring.scope.labelled
    labels = {spot.label for spots in one for spot in spots} if is_labelled else {0}
    for label in labels:
        # Many placements differ in other labels only.
        groups: dict[tuple[tuple[int, int], ...], int] = {}

        def group(spots: list[Spot], label: int = label, groups: Any = groups) -> int:
            own = {spot[1:3] for spot in spots if not is_labelled or spot.label == label}
            return int(groups.setdefault(tuple(sorted(own)), len(groups)))

        (rows, row), (columns, column) = (
            np.unique(list(map(group, side)), return_inverse=True) for side in (one, two)
        )
        first = np.cumsum([0, *map(len, groups)])
        start, end = np.array([*chain.from_iterable(groups)], dtype=np.int64).reshape(-1, 2).T
        a, b = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        both = (np.diff(first)[a] > 0) & (np.diff(first)[b] > 0)
        grid = np.zeros(len(a))
        if both.any():
            spans = SpanGroups(first, start, end)
            grid[both] = np.atleast_2d(scoring.measure.matched(spans, a[both], b[both]))[0]
        found += grid.reshape(len(rows), len(columns))[row][:, column]
    return found


def _relaxed(
    cluster: Cluster, pairs: Iterable[tuple[int, int]], scoring: Scoring, most: int
) -> list[Outcome]:
    """Bounds of what matches in a cluster with too many placements, pair by pair of annotators.

    At most, every span is at the place where it meets most of what the other may have marked; at
    least, where it meets least of what the other is known to have marked.
    """
    low = high = 0.0
    for a, b in pairs:
        if a in cluster and b in cluster:
            sides = ((cluster[a], cluster[b]), (cluster[b], cluster[a]))
            now = float(_matrix([cluster[a].default], [cluster[b].default], scoring)[0, 0])
            low += max(_at_least(*both, scoring) for both in sides) - now
            high += min(_at_most(*both, scoring) for both in sides) - now
    examples = [_shapes(side, scoring, most) for side in cluster.values()]
    if not all(examples) or prod(map(len, examples)) > MOST_SHAPES:
        return [Outcome(low, high, None)]
    return [
        Outcome(low, high, dict(zip(cluster, chosen, strict=True))) for chosen in product(*examples)
    ]


def _shapes(side: Side, scoring: Scoring, most: int) -> list[list[Spot]]:
    """A placement of each shape; none if it is not known which there are."""
    if _has_one_shape(side, scoring):
        return [side.default]
    placements = _placements(side, min(most, MOST_OF_ONE)) or []
    return list({_shape(spots, scoring): spots for spots in placements}.values())


def _has_one_shape(side: Side, scoring: Scoring) -> bool:
    """Whether chance is the same wherever the quotes of an annotator are."""
    if any(len({(text, e - s) for text, s, e in pool.places}) > 1 for pool in side.pools):
        return False
    if scoring.model.is_independent:
        return True
    if any(pool.is_shared for pool in side.pools):
        return False
    places: dict[int, list[Spot]] = {}
    for owner in ([[spot] for spot in side.known], [pool.possible() for pool in side.pools]):
        for spots in owner:
            for label in {spot.label if scoring.scope.by_label else 0 for spot in spots}:
                # Labels do not share the places of a string.
                group = places.setdefault(label, [])
                group += {spot._replace(label=0) for spot in spots}
    return all(map(_is_apart, places.values()))


def _at_most(side: Side, other: Side, scoring: Scoring) -> float:
    """No match is more than the sum of what single spans match."""
    measure, is_labelled = scoring.measure, scoring.scope.labelled
    against = {
        group[0].label if is_labelled else 0: sorted({spot[1:3] for spot in group})
        for group in _by_label(other.possible(), is_labelled)
    }

    def value(spots: list[Spot]) -> Floats:
        """What each of some spots of one label can match of all that the other may have."""
        places = against.get(spots[0].label if is_labelled else 0, [])
        n = len(spots)
        start, end = np.array([*(spot[1:3] for spot in spots), *places], dtype=np.int64).T
        as_one = SpanGroups(np.append(np.arange(n + 1), n + len(places)), start, end)
        row, one, two = intersecting(as_one, np.arange(n), np.full(n, n))
        single = SpanGroups(np.arange(len(start) + 1), start, end)
        matched = np.atleast_2d(measure.matched(single, one, two))[0] if len(row) else row
        met = np.bincount(row, weights=matched, minlength=n)
        most = sizes_of(spots, measure) if measure.is_one_to_one else inf
        return np.asarray(np.minimum(met, most), dtype=np.float64)

    return _summed(side, value, is_labelled=is_labelled, largest=True)


def _at_least(side: Side, other: Side, scoring: Scoring) -> float:
    """What known spans match; what the others do too, where the match of spans adds up."""
    known = [[*other.known]]
    is_labelled = scoring.scope.labelled
    is_additive = scoring.measure.adds_up and all(
        _is_apart(group)
        for spots in (side.possible(), other.known)
        for group in _by_label(set(spots), is_labelled)
    )
    if not is_additive:
        return float(_matrix([side.known], known, scoring)[0, 0])

    def value(spots: list[Spot]) -> Floats:
        return _matrix([[spot] for spot in spots], known, scoring)[:, 0]

    return _summed(side, value, is_labelled=is_labelled, largest=False)


def _summed(
    side: Side, value: Callable[[list[Spot]], Floats], *, is_labelled: bool, largest: bool
) -> float:
    """The sum over spans, each string at the places with the largest or smallest values.

    `value` takes spots of one label.
    """
    total = sum(float(value(group).sum()) for group in _by_label(side.known, is_labelled))
    for pool in side.pools:
        for label, number in pool.quotas():
            ranked = np.sort(value([Spot(*place, label) for place in pool.places]))
            total += float((ranked[len(ranked) - number :] if largest else ranked[:number]).sum())
    return total
