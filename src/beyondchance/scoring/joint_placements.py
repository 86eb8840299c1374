"""The lowest and the highest score over all places where quotes without offsets may be.

The quotes of one string are at different occurrences of it, and no two spans of an annotator
cross unless they do so where they were put. Documents are independent, and so are, within a
document, *clusters* of spans that cannot meet those of another. What matches adds up over
clusters; chance depends on how spans lie in one another, which few placements change. So each
cluster is enumerated on its own, and its placements are told apart by these *shapes* only; the
extremes of the score, a ratio of sums, are then found by Dinkelbach's method.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, combinations, product
from math import comb, inf, nan, prod
from typing import NamedTuple

import numpy as np

from beyondchance.annotations.alternatives import KNOWN
from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import SharedDocuments, shared_documents
from beyondchance.core.measures import Measure
from beyondchance.core.observed import SpanGroups
from beyondchance.errors import OverlapError
from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.results.counts import Counts
from beyondchance.scoring.counting import counted
from beyondchance.scoring.marks import check_fit, marked
from beyondchance.scoring.options import Scoring
from beyondchance.types import Floats, Ints

MOST_PLACEMENTS = 20_000
"""How many joint placements of a cluster are enumerated."""
_MOST_SHAPES = 500
"""For how many combinations of shapes the chance of a document is computed."""
_CLOSE = 1e-13


class Spot(NamedTuple):
    """A place with a label: text, start and end in the whole corpus, label."""

    text: int
    start: int
    end: int
    label: int


@dataclass(frozen=True, slots=True)
class _Pool:
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
class _Side:
    """The spans of one annotator in a cluster: those whose place is known, and pools."""

    known: list[Spot]
    pools: list[_Pool]

    @property
    def default(self) -> list[Spot]:
        return [*self.known, *(spot for pool in self.pools for spot in pool.spots)]

    def possible(self) -> list[Spot]:
        return [*self.known, *(spot for pool in self.pools for spot in pool.possible())]


_Cluster = dict[int, _Side]
"""The sides of a cluster by annotator."""


class Sums(NamedTuple):
    """What is added up over documents: the match, the expected match, and the mean size."""

    matched: float
    expected: float
    size: float

    def plus(self, other: Sums) -> Sums:
        return Sums(*(a + b for a, b in zip(self, other, strict=True)))


@dataclass(frozen=True, slots=True)
class PlacementRange:
    """The lowest and the highest scores.

    Attributes
    ----------
    observed, corrected : (float, float)
    n_ambiguous : int
        Quotes that may be elsewhere.
    is_exact : bool
        Whether some placement has these scores; otherwise all placements lie between them.
    """

    observed: tuple[float, float]
    corrected: tuple[float, float]
    n_ambiguous: int
    is_exact: bool


def extremes(
    corpus: Corpus, shared: SharedDocuments, scoring: Scoring, counts: Counts
) -> PlacementRange | None:
    """The range of scores; None where no quote that is compared may be elsewhere.

    Parameters
    ----------
    corpus : Corpus
    shared : SharedDocuments
        Who is compared with whom.
    scoring : Scoring
    counts : Counts
        Of the corpus as it is.
    """
    if corpus.alternatives is None:
        return None
    documents = _documents(corpus, shared)
    if not documents:
        return None
    score = counts.score()
    base = Sums(score.matched, score.expected, (score.size_a + score.size_b) / 2)
    choices: list[list[Sums]] = []
    is_exact, n_ambiguous = True, 0
    expected = counts.by_document()
    for document in documents:
        name = corpus.documents[document.number]
        now = base.expected if counts.is_corpus_wide else expected[name].expected
        found, is_all = _choices(document, corpus, scoring, now)
        choices.append(found)
        is_exact &= is_all
        n_ambiguous += document.n_ambiguous
    if np.isnan(score.corrected):
        corrected = nan, nan
    else:
        corrected = _both_ends(
            base, choices, lambda s: (s.matched - s.expected, s.size - s.expected)
        )
    observed = _both_ends(base, choices, lambda s: (s.matched, s.size))
    return PlacementRange(observed, corrected, n_ambiguous, is_exact)


def placement_notes(found: PlacementRange | None) -> tuple[Note, ...]:
    """What is said about quotes that may be elsewhere."""
    if found is None:
        return ()
    number = found.n_ambiguous
    quotes = "1 quote" if number == 1 else f"{number:,} quotes"
    name, ends = ("corrected", found.corrected)
    if np.isnan(ends).any():
        name, ends = ("observed", found.observed)
    low, high = (in_digits(end, 3) for end in ends)
    said = f"{quotes} may be at other occurrences of the same words; "
    if low == high:
        return (Note(f"{said}wherever they are, {name} agreement is {low}"),)
    how = "between" if found.is_exact else "somewhere between"
    return (Note(f"{said}depending on where they are, {name} agreement is {how} {low} and {high}"),)


_Ratio = Callable[[Sums], tuple[float, float]]


def _both_ends(base: Sums, choices: list[list[Sums]], ratio: _Ratio) -> tuple[float, float]:
    return _best(base, choices, ratio, -1), _best(base, choices, ratio, 1)


def _best(base: Sums, choices: list[list[Sums]], ratio: _Ratio, sign: int) -> float:
    """The extreme of a ratio of sums, by Dinkelbach's method.

    Given a value of the ratio, each document chooses for itself what is most in favour of
    exceeding it; this is repeated until nothing exceeds the value.
    """
    value = np.divide(*ratio(base))
    while True:
        total = base
        for options in choices:
            gains = [(above - value * below) * sign for above, below in map(ratio, options)]
            total = total.plus(options[int(np.argmax(gains))])
        above, below = ratio(total)
        if not below > 0:  # chance may be anything, and so the ratio
            return sign * inf
        if above / below * sign <= value * sign + _CLOSE:
            return float(value)
        value = above / below


# --- Documents ----------------------------------------------------------------


@dataclass(frozen=True, slots=True)
class _Document:
    """A document in which a quote may be elsewhere.

    Attributes
    ----------
    number : int
    pairs : list of (int, int)
        The annotators who are compared.
    clusters : list of Cluster
        Those with something to choose.
    rest : Cluster
        All other spans.
    n_ambiguous : int
    """

    number: int
    pairs: list[tuple[int, int]]
    clusters: list[_Cluster]
    rest: _Cluster
    n_ambiguous: int


def _documents(corpus: Corpus, shared: SharedDocuments) -> list[_Document]:
    """The documents in which a quote that is compared may be elsewhere."""
    alternatives = corpus.alternatives
    assert alternatives is not None  # noqa: S101 - asked before
    is_free = alternatives.span_pool != KNOWN
    span_document = corpus.text_document[corpus.span_text]
    order = np.argsort(span_document, kind="stable")
    first = np.searchsorted(span_document[order], np.arange(len(corpus.documents) + 1))
    first_place = np.searchsorted(alternatives.pool, np.arange(int(alternatives.pool.max()) + 2))
    who = corpus.annotation_annotator
    found = []
    for document in np.unique(span_document[is_free]).tolist():
        rows = slice(shared.first[document], shared.first[document + 1])
        pairs = list(
            zip(who[shared.one[rows]].tolist(), who[shared.two[rows]].tolist(), strict=True)
        )
        compared = set(chain.from_iterable(pairs))
        spans = [
            span
            for span in order[first[document] : first[document + 1]].tolist()
            if int(corpus.span_annotator[span]) in compared
        ]
        n_free = int(np.count_nonzero(is_free[spans])) if spans else 0
        if n_free:
            clusters, rest = _clustered(_sides(corpus, spans, first_place))
            found.append(_Document(document, pairs, clusters, rest, n_free))
    return found


def _sides(corpus: Corpus, spans: Sequence[int], first: Ints) -> _Cluster:
    """The spans of a document by annotator; `first` is where the places of each pool begin."""
    alternatives, begin = corpus.alternatives, corpus.text_begin
    assert alternatives is not None  # noqa: S101 - asked before
    sides: _Cluster = {}
    pools: dict[int, _Pool] = {}
    for span in spans:
        text, base = int(corpus.span_text[span]), int(begin[corpus.span_text[span]])
        start, end = int(corpus.span_start[span]), int(corpus.span_end[span])
        spot = Spot(text, base + start, base + end, int(corpus.span_label[span]))
        side = sides.setdefault(int(corpus.span_annotator[span]), _Side([], []))
        number = int(alternatives.span_pool[span])
        if number == KNOWN:
            side.known.append(spot)
            continue
        if number not in pools:
            rows = slice(first[number], first[number + 1])
            shift = begin[alternatives.text[rows]]
            columns = alternatives.text[rows], alternatives.start[rows], alternatives.end[rows]
            starts, ends = columns[1] + shift, columns[2] + shift
            places = zip(columns[0].tolist(), starts.tolist(), ends.tolist(), strict=True)
            pools[number] = _Pool(sorted(set(places)), [], [])
            side.pools.append(pools[number])
        pools[number].labels.append(spot.label)
        pools[number].spots.append(spot)
    return sides


def _clustered(sides: _Cluster) -> tuple[list[_Cluster], _Cluster]:
    """Spans that may meet, together; those that have nothing to choose are the rest.

    Spans meet if they share a position, whatever their labels: of two annotators they may
    match, of one annotator they may get in each other's way.
    """
    nodes: list[tuple[int, Spot | _Pool]] = [
        (who, node) for who, side in sides.items() for node in (*side.known, *side.pools)
    ]
    parent = list(range(len(nodes)))

    def root(node: int) -> int:
        while parent[node] != node:
            parent[node] = parent[parent[node]]
            node = parent[node]
        return node

    places = sorted(
        (start, end, number)
        for number, (_, node) in enumerate(nodes)
        for _, start, end, *_ in ([node] if isinstance(node, Spot) else node.places)
    )
    last, reach = -1, -1
    for start, end, number in places:
        if start < reach:
            parent[root(number)] = root(last)
        last, reach = number, max(reach, end)
    clusters: dict[int, _Cluster] = {}
    for number, (who, node) in enumerate(nodes):
        side = clusters.setdefault(root(number), {}).setdefault(who, _Side([], []))
        if isinstance(node, Spot):
            side.known.append(node)
        else:
            side.pools.append(node)
    free, rest = [], {}
    for cluster in clusters.values():
        if any(side.pools for side in cluster.values()):
            free.append(cluster)
            continue
        for who, side in cluster.items():
            rest.setdefault(who, _Side([], [])).known.extend(side.known)
    return free, rest


# --- What a document can contribute -------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outcome:
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


def _choices(
    document: _Document, corpus: Corpus, scoring: Scoring, expected: float
) -> tuple[list[Sums], bool]:
    """What a document can add to the sums of the corpus, and whether this is exact.

    `expected` is the expected match where spans were put.
    """
    outcomes = []
    is_exact = True
    for cluster in document.clusters:
        found = _separate(cluster, document.pairs, scoring)
        if found is None:
            found = _enumerated(cluster, document.pairs, scoring)
        if found is None:
            found = [_relaxed(cluster, document.pairs, scoring)]
            is_exact = False
        outcomes.append(found)
    if all(len(found) == 1 and found[0].example is not None for found in outcomes):
        # Chance is the same for all.
        low, high = (sum(getattr(found[0], end) for found in outcomes) for end in ("low", "high"))
        return [Sums(low, 0.0, 0.0), Sums(high, 0.0, 0.0)], is_exact
    known = [one.example is not None for found in outcomes for one in found]
    n_shapes = prod(map(len, outcomes))
    if all(known) and n_shapes <= _MOST_SHAPES and corpus.unit != CORPUS:
        return _by_shapes(document, corpus, scoring, outcomes), is_exact
    return _without_chance(document, scoring, outcomes, expected), False


def _by_shapes(
    document: _Document, corpus: Corpus, scoring: Scoring, outcomes: list[list[_Outcome]]
) -> list[Sums]:
    """Every combination of shapes, with its own chance."""
    combined = list(product(*outcomes))
    placements = []
    for outcome in combined:
        placement = {who: list(side.known) for who, side in document.rest.items()}
        for one in outcome:
            for who, spots in (one.example or {}).items():
                placement.setdefault(who, []).extend(spots)
        placements.append(placement)
    default: dict[int, list[Spot]] = {}
    for cluster in (document.rest, *document.clusters):
        for who, side in cluster.items():
            default.setdefault(who, []).extend(side.default)
    base, *found = _scored([default, *placements], document, corpus, scoring)
    assert base is not None  # noqa: S101 - it was scored before
    choices = []
    for outcome, sums in zip(combined, found, strict=True):
        if sums is not None:
            expected, size = sums.expected - base.expected, sums.size - base.size
            for end in ("low", "high"):
                matched = sum(getattr(one, end) for one in outcome)
                choices.append(Sums(matched, expected, size))
    return choices


def _scored(
    placements: list[dict[int, list[Spot]]],
    document: _Document,
    corpus: Corpus,
    scoring: Scoring,
) -> list[Sums | None]:
    """The sums of a document with other placements; None where the model does not allow one."""
    try:
        return [*_scored_together(placements, document, corpus, scoring)]
    except OverlapError:
        if len(placements) == 1:
            return [None]
        return [_scored([one], document, corpus, scoring)[0] for one in placements]


def _scored_together(
    placements: list[dict[int, list[Spot]]],
    document: _Document,
    corpus: Corpus,
    scoring: Scoring,
) -> Iterator[Sums]:
    """Score a corpus in which each placement is a document."""
    texts = np.flatnonzero(corpus.text_document == document.number)
    n, n_texts = len(placements), len(texts)
    rows = [
        (copy * n_texts + spot.text - int(texts[0]), who, *spot[1:])
        for copy, placement in enumerate(placements)
        for who, spots in placement.items()
        for spot in set(spots)
    ]
    text, who, start, end, label = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    base = corpus.text_begin[texts][text % n_texts]
    people = np.array(sorted(set(chain.from_iterable(document.pairs))))
    copies = replace(
        corpus,
        documents=tuple(map(str, range(n))),
        fields={},
        text_document=np.repeat(np.arange(n), n_texts),
        text_length=np.tile(corpus.text_length[texts], n),
        annotation_document=np.repeat(np.arange(n), len(people)),
        annotation_annotator=np.tile(people, n),
        span_text=text,
        span_annotator=who,
        span_label=label,
        span_start=start - base,
        span_end=end - base,
        texts=None,
        token_start=None,
        token_end=None,
        alternatives=None,
    )
    shared = shared_documents(copies)
    wanted = np.isin(
        copies.annotation_annotator[shared.one] * len(corpus.annotators)
        + copies.annotation_annotator[shared.two],
        [a * len(corpus.annotators) + b for a, b in document.pairs],
    )
    shared = SharedDocuments(copies, shared.one[wanted], shared.two[wanted])
    spans = marked(copies, scoring.scope)
    check_fit(spans, scoring.model)
    counts, _ = counted(spans, shared, scoring)
    columns = counts.matched, counts.expected, (counts.size_a + counts.size_b) / 2
    sums = (np.bincount(counts.document, weights=column, minlength=n) for column in columns)
    return (Sums(*map(float, values)) for values in zip(*sums, strict=True))


def _without_chance(
    document: _Document, scoring: Scoring, outcomes: list[list[_Outcome]], expected: float
) -> list[Sums]:
    """What a document adds at most and at least, if its chance agreement can be anything."""
    least = most = now = 0.0
    for cluster in (document.rest, *document.clusters):
        for who, side in cluster.items():
            weight = sum(who in pair for pair in document.pairs) / 2
            now += weight * float(_sizes(side.default, scoring.measure).sum())
            known = float(_sizes(side.known, scoring.measure).sum())
            sizes = [(_sizes(pool.possible(), scoring.measure), pool) for pool in side.pools]
            least += weight * (known + sum(len(p.labels) * float(size.min()) for size, p in sizes))
            most += weight * (known + sum(len(p.labels) * float(size.max()) for size, p in sizes))
    ends = (
        (sum(min(one.low for one in found) for found in outcomes), most - expected, most - now),
        (sum(max(one.high for one in found) for found in outcomes), -expected, least - now),
    )
    return [Sums(*sums) for sums in product(*zip(*ends, strict=True))]


def _sizes(spots: Sequence[Spot], measure: Measure) -> Floats:
    lengths = np.array([spot.end - spot.start for spot in spots], dtype=np.int64)
    return np.asarray(measure.size(lengths), dtype=np.float64)


# --- Clusters -----------------------------------------------------------------


def _separate(
    cluster: _Cluster, pairs: Iterable[tuple[int, int]], scoring: Scoring
) -> list[_Outcome] | None:
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
        now = sum(value[spots.index(spot)] for spot in pool.spots)
        ranked = np.sort(value)
        low += float(ranked[:number].sum() - now)
        high += float(ranked[len(spots) - number :].sum() - now)
    return [_Outcome(low, high, {who: one.default for who, one in cluster.items()})]


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


def _enumerated(
    cluster: _Cluster, pairs: Iterable[tuple[int, int]], scoring: Scoring
) -> list[_Outcome] | None:
    """All placements of a cluster, by shape; None if there are too many."""
    people = list(cluster)
    placements: list[list[list[Spot]]] = []
    n_joint = 1
    for who in people:
        found = _placements(cluster[who], MOST_PLACEMENTS // n_joint)
        if not found:
            return None
        # The first one is where spans were put.
        placements.append([cluster[who].default, *found])
        n_joint *= len(found)
    matched = np.zeros([len(found) for found in placements])
    for a, b in pairs:
        if a in cluster and b in cluster:
            i, j = people.index(a), people.index(b)
            matrix = _matrix(placements[i], placements[j], scoring)
            shape = [len(found) if k in {i, j} else 1 for k, found in enumerate(placements)]
            matched += (matrix if i < j else matrix.T).reshape(shape)
    now = matched[(0,) * len(people)]
    joint = matched[(slice(1, None),) * len(people)] - now
    shapes = [_numbered([_shape(spots, scoring) for spots in found[1:]]) for found in placements]
    sizes = [int(number.max()) + 1 for number in shapes]
    code = np.ravel_multi_index(np.meshgrid(*shapes, indexing="ij"), sizes).ravel()
    used, example, shape = np.unique(code, return_index=True, return_inverse=True)
    if len(used) > _MOST_SHAPES:
        return [_Outcome(float(joint.min()), float(joint.max()), None)]
    low, high = np.full(len(used), inf), np.full(len(used), -inf)
    np.minimum.at(low, shape.ravel(), joint.ravel())
    np.maximum.at(high, shape.ravel(), joint.ravel())
    chosen = zip(*(index.tolist() for index in np.unravel_index(example, joint.shape)), strict=True)
    examples = [
        {who: placements[k][index[k] + 1] for k, who in enumerate(people)} for index in chosen
    ]
    return [_Outcome(*ends) for ends in zip(low.tolist(), high.tolist(), examples, strict=True)]


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


def _placements(side: _Side, most: int) -> list[list[Spot]] | None:
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
        groups: dict[tuple[tuple[int, int], ...], int] = {}
        numbers = [
            np.array(
                [
                    groups.setdefault(
                        tuple(
                            sorted({s[1:3] for s in spots if not is_labelled or s.label == label})
                        ),
                        len(groups),
                    )
                    for spots in side
                ]
            )
            for side in (one, two)
        ]
        (rows, row), (columns, column) = (
            np.unique(number, return_inverse=True) for number in numbers
        )
        first = np.cumsum([0, *map(len, groups)])
        start, end = np.array([*chain.from_iterable(groups)], dtype=np.int64).reshape(-1, 2).T
        a, b = np.repeat(rows, len(columns)), np.tile(columns, len(rows))
        both = (np.diff(first)[a] > 0) & (np.diff(first)[b] > 0)
        grid = np.zeros(len(a))
        if both.any():
            spans = SpanGroups(first, start, end)
            matched = np.atleast_2d(scoring.measure.matched(spans, a[both], b[both]))
            grid[both] = matched[0]
        found += grid.reshape(len(rows), len(columns))[row][:, column]
    return found


def _relaxed(cluster: _Cluster, pairs: Iterable[tuple[int, int]], scoring: Scoring) -> _Outcome:
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
    has_one_shape = all(_has_one_shape(side, scoring) for side in cluster.values())
    default = {who: side.default for who, side in cluster.items()}
    return _Outcome(low, high, default if has_one_shape else None)


def _has_one_shape(side: _Side, scoring: Scoring) -> bool:
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


def _at_most(side: _Side, other: _Side, scoring: Scoring) -> float:
    """No match is more than the sum of what single spans match."""
    singles = [[spot] for spot in set(other.possible())]

    def value(spots: list[Spot]) -> Floats:
        met = _matrix([[spot] for spot in spots], singles, scoring).sum(axis=1)
        return np.minimum(met, _sizes(spots, scoring.measure)) if is_limited else met

    is_limited = scoring.measure.is_one_to_one
    return _summed(side, value, largest=True)


def _at_least(side: _Side, other: _Side, scoring: Scoring) -> float:
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
    return _summed(
        side, lambda spots: _matrix([[s] for s in spots], known, scoring)[:, 0], largest=False
    )


def _summed(side: _Side, value: Callable[[list[Spot]], Floats], *, largest: bool) -> float:
    """The sum over spans, each string at the places with the largest or smallest values."""
    total = float(value(side.known).sum()) if side.known else 0.0
    for pool in side.pools:
        for label, number in pool.quotas():
            ranked = np.sort(value([Spot(*place, label) for place in pool.places]))
            total += float((ranked[len(ranked) - number :] if largest else ranked[:number]).sum())
    return total
