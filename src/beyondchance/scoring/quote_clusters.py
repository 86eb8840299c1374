"""Spans that may meet, and the ways to place the quotes among them.

A *cluster* holds spans of one document that can match each other or get in each other's way,
wherever their quotes are. What matches adds up over clusters. Chance depends on the *shapes* of
placements only: the lengths of spans, and how they overlap.
"""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from collections import Counter
from collections.abc import Callable, Collection, Iterable, Iterator, Sequence
from dataclasses import dataclass
from itertools import chain, combinations, product
from math import comb, inf, prod
from typing import Any, NamedTuple

import numpy as np

from beyondchance.core.measures import Measure
from beyondchance.core.observed import SpanGroups, intersecting
from beyondchance.scoring.options import Scoring
from beyondchance.types import Floats, Ints

MOST_PLACED = 1_000_000
"""How many spans are placed to enumerate a cluster: those of all its joint placements."""
MOST_OF_ONE = 100_000
"""How many of one annotator are."""
MOST_IN_ALL = 20_000_000
"""How many are in all clusters of a corpus."""
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
    """Quotes of one annotator that are at different ones of some places.

    Attributes
    ----------
    places : list of (text, start, end)
        One is there as often as it can have a quote: twice, if two parts of a token can.
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
    def has_one_length(self) -> bool:
        """Whether all places are equally long and in one text."""
        return len({(text, end - start) for text, start, end in self.places}) == 1

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

    @property
    def n_spans(self) -> int:
        """How many spans there are, if none coincide."""
        return len(self.known) + sum(len(pool.labels) for pool in self.pools)

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

    Joint placements are enumerated if they have at most `most` spans in all.
    """
    found = (
        _separate(cluster, pairs, scoring)
        or _of_one_string(cluster, pairs, scoring)
        or _enumerated(cluster, pairs, scoring, most)
    )
    return (found, True) if found else (_relaxed(cluster, pairs, scoring, most), False)


def sizes_of(spots: Collection[Spot], measure: Measure) -> Floats:
    """How much each span counts."""
    lengths = np.array([spot.end - spot.start for spot in spots], dtype=np.int64)
    return np.asarray(measure.size(lengths), dtype=np.float64)


def sizes_of_side(side: Side, scoring: Scoring) -> tuple[float, float, float]:
    """The size of an annotator's spans: where they were put, at least and at most.

    Spans at one place count once, unless their labels differ and count.
    """

    def distinct(spots: Iterable[Spot]) -> set[Spot]:
        return {spot if scoring.scope.labelled else spot._replace(label=0) for spot in spots}

    def total(spots: Iterable[Spot]) -> float:
        return float(sizes_of(distinct(spots), scoring.measure).sum())

    least = most = total(side.known)
    owners = Counter(distinct(side.known))
    for pool in side.pools:
        owners.update(distinct(pool.possible()))
    for pool in side.pools:
        number = len(pool.labels)
        sizes = np.sort(sizes_of([Spot(*place, 0) for place in pool.places], scoring.measure))
        most += float(sizes[len(sizes) - number :].sum())
        is_alone = len(set(pool.places)) == len(pool.places)
        if is_alone and all(owners[spot] == 1 for spot in distinct(pool.possible())):
            least += float(sizes[:number].sum())
    return total(side.default), least, most


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
    if any(len(set(pool.labels)) > 1 or not pool.has_one_length for pool in side.pools):
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
        or not one.has_one_length
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
    shapes: list[Ints] = []
    n_spans = sum(side.n_spans for side in cluster.values())
    for side in cluster.values():
        found = _placements(side, min(most, MOST_OF_ONE) // max(side.n_spans, 1))
        if not found or prod(map(len, shapes)) * len(found) * n_spans > most:
            return None
        # The first one is where spans were put.
        placements.append([side.default, *([*side.known, *spots] for spots in found)])
        shapes.append(_numbered(map(_Shapes.of(side.known, scoring).shape, found)))
    matched = np.zeros([len(found) for found in placements])
    for a, b in pairs:
        if a in cluster and b in cluster:
            i, j = people.index(a), people.index(b)
            matrix = _matrix(placements[i], placements[j], scoring)
            shape = [len(found) if k in {i, j} else 1 for k, found in enumerate(placements)]
            matched += (matrix if i < j else matrix.T).reshape(shape)
    joint = matched[(slice(1, None),) * len(people)] - matched[(0,) * len(people)]
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


def _numbered(values: Iterable[object]) -> Ints:
    """Equal values by equal numbers."""
    number: dict[object, int] = {}
    return np.array([number.setdefault(value, len(number)) for value in values])


@dataclass(frozen=True, slots=True)
class _Heaps:
    """Spans in their order, in heaps of those that hang together because they overlap.

    Attributes
    ----------
    members : list of list of Spot
    starts, ends : list of int
        Where each heap begins and ends.
    """

    members: list[list[Spot]]
    starts: list[int]
    ends: list[int]

    @classmethod
    def of(cls, spots: Iterable[Spot]) -> _Heaps:
        """Put spans into heaps."""
        found = cls([], [], [])
        for spot in sorted(set(spots), key=lambda spot: spot[1:]):
            if not found.members or spot.start >= found.ends[-1]:
                found.members.append([])
                found.starts.append(spot.start)
                found.ends.append(spot.end)
            found.members[-1].append(spot)
            found.ends[-1] = max(found.ends[-1], spot.end)
        return found

    def met(self, start: int, end: int) -> range:
        """The numbers of the heaps that share a position with a stretch of text."""
        return range(bisect_right(self.ends, start), bisect_left(self.starts, end))


@dataclass(frozen=True, slots=True)
class _Shapes:
    """What chance depends on: the lengths of spans, and how those placed together overlap.

    Attributes
    ----------
    known : set of Spot
        Spans whose place is known.
    lines : dict
        The same in heaps, for each line of spans that are placed together.
    scoring : Scoring
    """

    known: set[Spot]
    lines: dict[int, _Heaps]
    scoring: Scoring

    @classmethod
    def of(cls, known: Iterable[Spot], scoring: Scoring) -> _Shapes:
        """The shapes of placements next to known spans."""
        found = cls(set(), {}, scoring)
        found.known.update(map(found._as_compared, known))
        for group in _by_label(found.known, scoring.scope.by_label):
            found.lines[found._line(group[0])] = _Heaps.of(group)
        return found

    def _as_compared(self, spot: Spot) -> Spot:
        return spot if self.scoring.scope.labelled else spot._replace(label=0)

    def _line(self, spot: Spot) -> int:
        return spot.label if self.scoring.scope.by_label else 0

    def shape(self, spots: Iterable[Spot]) -> frozenset[tuple[object, int]]:
        """What spots change about the known spans: equal for placements of equal shape."""
        new = set(map(self._as_compared, spots)) - self.known
        change: Counter[object] = Counter()
        if self.scoring.model.is_independent:
            change.update((text, label, end - start) for text, start, end, label in new)
            return frozenset(change.items())
        for group in _by_label(new, self.scoring.scope.by_label):
            line = self.lines.get(self._line(group[0])) or _Heaps([], [], [])
            met = {number for spot in group for number in line.met(spot.start, spot.end)}
            old = [line.members[number] for number in met]
            change.subtract(map(_form, old))
            change.update(map(_form, _Heaps.of([*group, *chain.from_iterable(old)]).members))
        return frozenset(item for item in change.items() if item[1])


def _form(heap: list[Spot]) -> object:
    """How the spans of a heap overlap, wherever it is in its text."""
    text, first, _, _ = heap[0]
    return text, *((start - first, end - first, label) for _, start, end, label in heap)


def _crosses(a: tuple[int, int], b: tuple[int, int]) -> bool:
    """Whether two spans share a position and none lies in the other."""
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def _places(side: Side) -> Iterator[list[tuple[int, tuple[int, int, int]]]]:
    """The places of each pool, with their numbers, that cross no known span where none does so."""
    heaps = _Heaps.of(side.known)

    def crossed(place: tuple[int, int]) -> Iterator[Spot]:
        for number in heaps.met(*place):
            yield from (spot for spot in heaps.members[number] if _crosses(place, spot[1:3]))

    for pool in side.pools:
        allowed = {other for spot in pool.spots for other in crossed(spot[1:3])}
        yield [
            (number, place)
            for number, place in enumerate(pool.places)
            if allowed.issuperset(crossed(place[1:]))
        ]


def _placements(side: Side, most: int) -> list[list[Spot]] | None:
    """All joint placements of an annotator's quotes; None if there are more than `most`."""
    if not side.pools:
        return [[]]
    n_free = prod(
        comb(len(pool.places), number) for pool in side.pools for _, number in pool.quotas()
    )
    if n_free > 100 * most:
        return None
    may_cross = {
        (i, j)
        for (i, one), (j, two) in combinations(enumerate(side.pools), 2)
        if any(_crosses(a[1:3], b[1:3]) for a in one.spots for b in two.spots)
    }
    # Places have numbers, because two of them can be equal.
    tasks = [
        (owner, places, label, number)
        for owner, (pool, places) in enumerate(zip(side.pools, _places(side), strict=True))
        for label, number in pool.quotas()
    ]
    found: dict[frozenset[Spot], list[Spot]] = {}
    partial: list[tuple[int, int, Spot]] = []

    def extend(task: int) -> bool:
        """Place what is left; False if there are too many placements."""
        if task == len(tasks):
            spots = {spot for _, _, spot in partial}
            found.setdefault(frozenset(spots), sorted(spots))
            return len(found) <= most
        owner, places, label, number = tasks[task]
        taken = {place for own, place, _ in partial if own == owner}
        others = [
            spot for own, _, spot in partial if own != owner and (own, owner) not in may_cross
        ]
        free = [
            (which, place)
            for which, place in places
            if which not in taken and not any(_crosses(place[1:], spot[1:3]) for spot in others)
        ]
        for chosen in combinations(free, number):
            partial.extend((owner, which, Spot(*place, label)) for which, place in chosen)
            goes_on = extend(task + 1)
            del partial[len(partial) - number :]
            if not goes_on:
                return False
        return True

    return [*found.values()] if extend(0) else None


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
    n_free = sum(len(pool.labels) for pool in side.pools)
    placements = _placements(side, min(most, MOST_OF_ONE) // max(n_free, 1)) or []
    shape = _Shapes.of(side.known, scoring).shape
    return [
        [*side.known, *spots] for spots in {shape(spots): spots for spots in placements}.values()
    ]


def _has_one_shape(side: Side, scoring: Scoring) -> bool:
    """Whether chance is the same wherever the quotes of an annotator are."""
    if not all(pool.has_one_length for pool in side.pools):
        return False
    scope = scoring.scope
    # Spans that are each placed by itself matter to one another only where they coincide.
    is_alone = _is_unlike if scoring.model.is_independent else _is_apart
    is_by_label = scope.labelled if scoring.model.is_independent else scope.by_label
    places: dict[int, list[Spot]] = {}
    for spot in side.known:
        places.setdefault(spot.label if is_by_label else 0, []).append(spot)
    for pool in side.pools:
        # The labels of a pool do not share a place.
        for label in {label if is_by_label else 0 for label in pool.labels}:
            places.setdefault(label, []).extend(Spot(*place, 0) for place in pool.places)
    return all(map(is_alone, places.values()))


def _is_unlike(spots: Iterable[Spot]) -> bool:
    """Whether no two are at the same place."""
    places = [spot[:3] for spot in spots]
    return len(set(places)) == len(places)


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
        for group in _by_label(spots, is_labelled)
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
