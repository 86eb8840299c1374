"""The lowest and the highest score over all places where quotes without offsets may be.

The quotes of one string are at different occurrences of it, and no two spans of an annotator
cross unless they do so where they were put. Documents are independent, and so are, within a
document, *clusters* of spans that cannot meet those of another. What matches adds up over
clusters; chance depends on how spans lie in one another, which few placements change. So each
cluster is enumerated on its own, and its placements are told apart by these *shapes* only; the
extremes of the score, a ratio of sums, are then found by Dinkelbach's method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, replace
from itertools import chain, product
from math import inf, nan, prod
from typing import NamedTuple

import numpy as np

from beyondchance.annotations.alternatives import KNOWN
from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import SharedDocuments, shared_documents
from beyondchance.errors import OverlapError
from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.results.counts import Counts
from beyondchance.scoring.counting import counted
from beyondchance.scoring.marks import check_fit, marked
from beyondchance.scoring.options import Scoring
from beyondchance.scoring.quote_clusters import (
    MOST_IN_ALL,
    MOST_PLACEMENTS,
    MOST_SHAPES,
    Cluster,
    Outcome,
    Pool,
    Side,
    Spot,
    clustered,
    outcomes_of,
    sizes_of,
)
from beyondchance.types import Ints

_CLOSE = 1e-13
"""How little an extreme may be exceeded, to be found."""


class Sums(NamedTuple):
    """What is added up over documents: the match, the expected match, and the mean size."""

    matched: float
    expected: float
    size: float

    def plus(self, other: Sums) -> Sums:
        """The sums of both."""
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
    documents = _documents(corpus, shared, is_labelled=scoring.scope.labelled)
    if not documents:
        return None
    score = counts.score()
    base = Sums(score.matched, score.expected, (score.size_a + score.size_b) / 2)
    choices: list[list[Sums]] = []
    is_exact, n_ambiguous = True, 0
    expected = counts.by_document()
    n_clusters = sum(len(document.clusters) for document in documents)
    most = min(MOST_PLACEMENTS, MOST_IN_ALL // n_clusters)
    for document in documents:
        name = corpus.documents[document.number]
        now = base.expected if counts.is_corpus_wide else expected[name].expected
        found, is_all = _choices(document, corpus, scoring, now, most=most)
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
    quotes, they_are = ("1 quote", "it is") if number == 1 else (f"{number:,} quotes", "they are")
    name, ends = ("corrected", found.corrected)
    if np.isnan(ends).any():
        name, ends = ("observed", found.observed)
    low, high = (in_digits(end, 3) for end in ends)
    said = f"{quotes} may be at other occurrences of the same words; "
    if low == high:
        return (Note(f"{said}wherever {they_are}, {name} agreement is {low}"),)
    how = "between" if found.is_exact else "somewhere between"
    return (
        Note(f"{said}depending on where {they_are}, {name} agreement is {how} {low} and {high}"),
    )


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
    clusters: list[Cluster]
    rest: Cluster
    n_ambiguous: int


def _documents(corpus: Corpus, shared: SharedDocuments, *, is_labelled: bool) -> list[_Document]:
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
            clusters, rest = clustered(_sides(corpus, spans, first_place), is_labelled=is_labelled)
            found.append(_Document(document, pairs, clusters, rest, n_free))
    return found


def _sides(corpus: Corpus, spans: Sequence[int], first: Ints) -> Cluster:
    """The spans of a document by annotator; `first` is where the places of each pool begin."""
    alternatives, begin = corpus.alternatives, corpus.text_begin
    assert alternatives is not None  # noqa: S101 - asked before
    sides: Cluster = {}
    pools: dict[int, Pool] = {}
    for span in spans:
        text, base = int(corpus.span_text[span]), int(begin[corpus.span_text[span]])
        start, end = int(corpus.span_start[span]), int(corpus.span_end[span])
        spot = Spot(text, base + start, base + end, int(corpus.span_label[span]))
        side = sides.setdefault(int(corpus.span_annotator[span]), Side([], []))
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
            pools[number] = Pool(sorted(set(places)), [], [])
            side.pools.append(pools[number])
        pools[number].labels.append(spot.label)
        pools[number].spots.append(spot)
    return sides


# --- What a document can contribute -------------------------------------------


def _choices(
    document: _Document, corpus: Corpus, scoring: Scoring, expected: float, *, most: int
) -> tuple[list[Sums], bool]:
    """What a document can add to the sums of the corpus, and whether this is exact.

    `expected` is the expected match where spans were put; at most `most` joint placements of a
    cluster are enumerated.
    """
    outcomes = []
    is_exact = True
    for cluster in document.clusters:
        found, is_all = outcomes_of(cluster, document.pairs, scoring, most=most)
        outcomes.append(found)
        is_exact &= is_all
    if all(len(found) == 1 and found[0].example is not None for found in outcomes):
        # Chance is the same for all.
        low, high = (sum(getattr(found[0], end) for found in outcomes) for end in ("low", "high"))
        return [Sums(low, 0.0, 0.0), Sums(high, 0.0, 0.0)], is_exact
    known = [one.example is not None for found in outcomes for one in found]
    n_shapes = prod(map(len, outcomes))
    if all(known) and n_shapes <= MOST_SHAPES and corpus.unit != CORPUS:
        return _by_shapes(document, corpus, scoring, outcomes), is_exact
    return _without_chance(document, scoring, outcomes, expected), False


def _by_shapes(
    document: _Document, corpus: Corpus, scoring: Scoring, outcomes: list[list[Outcome]]
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
    texts = np.arange(
        *np.searchsorted(corpus.text_document, (document.number, document.number + 1))
    )
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
    document: _Document, scoring: Scoring, outcomes: list[list[Outcome]], expected: float
) -> list[Sums]:
    """What a document adds at most and at least, if its chance agreement can be anything."""
    least = most = now = 0.0
    for cluster in (document.rest, *document.clusters):
        for who, side in cluster.items():
            weight = sum(who in pair for pair in document.pairs) / 2
            now += weight * float(sizes_of(side.default, scoring.measure).sum())
            known = float(sizes_of(side.known, scoring.measure).sum())
            sizes = [(sizes_of(pool.possible(), scoring.measure), pool) for pool in side.pools]
            least += weight * (known + sum(len(p.labels) * float(size.min()) for size, p in sizes))
            most += weight * (known + sum(len(p.labels) * float(size.max()) for size, p in sizes))
    if not scoring.scope.labelled:
        least = 0.0  # spans at one place count once
    ends = (
        (sum(min(one.low for one in found) for found in outcomes), most - expected, most - now),
        (sum(max(one.high for one in found) for found in outcomes), -expected, least - now),
    )
    return [Sums(*sums) for sums in product(*zip(*ends, strict=True))]
