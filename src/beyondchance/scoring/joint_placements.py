"""The lowest and the highest score over all places where quotes without offsets may be.

Quotes that were found at the same places are at different ones of these, unless they are more;
and no two spans of an annotator cross unless they do so where they were put. Documents are
independent, and so are, within a document, *clusters* of spans that cannot meet those of another.
What matches adds up over clusters; chance depends on how spans lie in one another, which few
placements change. So each cluster is enumerated on its own, and its placements are told apart by
these *shapes* only; the extremes of the score, a ratio of sums, are then found by Dinkelbach's
method.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from itertools import chain, product
from math import inf, nan, prod
from typing import NamedTuple

import numpy as np

from beyondchance.annotations.alternatives import KNOWN
from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import SharedDocuments, shared_documents
from beyondchance.errors import DataError, OverlapError
from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.results.counts import Counts
from beyondchance.results.score import Score
from beyondchance.scoring.corpus_wide import check_corpus_wide
from beyondchance.scoring.counting import counted
from beyondchance.scoring.marks import check_fit, marked
from beyondchance.scoring.options import Scoring
from beyondchance.scoring.quote_clusters import (
    MOST_IN_ALL,
    MOST_PLACED,
    MOST_SHAPES,
    Cluster,
    Outcome,
    Pool,
    Side,
    Spot,
    clustered,
    outcomes_of,
    sizes_of_side,
)
from beyondchance.types import Ints

_CLOSE = 1e-13
"""How little an extreme may be exceeded, to be found."""
_UNDEFINED = 1e-11
"""How little of the size is left by chance, so that a score is not defined."""
_MOST_CORPORA = 50
"""How often a whole corpus is scored anew, where chance depends on all of its documents."""


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
        A placement in which chance has no freedom at all has a corrected score of 0.
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
    base = Sums(score.matched, score.expected, _mean_size(score))
    n_clusters = sum(len(document.clusters) for document in documents)
    most = min(MOST_PLACED, MOST_IN_ALL // n_clusters)
    found = [_Outcomes.of(document, scoring, most) for document in documents]
    is_exact = all(one.is_exact for one in found)
    n_ambiguous = sum(document.n_ambiguous for document in documents)
    if counts.is_corpus_wide:
        choices, is_all = _corpus_wide(found, shared, scoring, base)
        is_exact &= is_all
    else:
        choices = []
        expected = counts.by_document()
        for one in found:
            now = expected[corpus.documents[one.document.number]].expected
            options, is_all = _choices(one, corpus, scoring, now)
            choices.append(options)
            is_exact &= is_all
    if np.isnan(score.corrected):
        corrected = nan, nan
    else:
        corrected = _both_ends(
            base, choices, lambda s: (s.matched - s.expected, s.size - s.expected)
        )
    observed = _both_ends(base, choices, lambda s: (s.matched, s.size))
    return PlacementRange(observed, corrected, n_ambiguous, is_exact)


def refused_in_parts() -> DataError:
    """Why quotes are not counted in parts: their places are chosen in all documents together."""
    return DataError(
        "quotes without offsets, whose words occur more than once",
        expected="offsets, where documents are counted in parts",
        remedy="read all documents at once",
    )


def placement_notes(found: PlacementRange | None) -> tuple[Note, ...]:
    """What is said about quotes that may be elsewhere."""
    if found is None:
        return ()
    number = found.n_ambiguous
    quotes, they_are = ("1 quote", "it is") if number == 1 else (f"{number:,} quotes", "they are")
    name, ends = ("corrected", found.corrected)
    if not np.isfinite(ends).all():
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
    # No score exceeds 1, though bounds of its parts may.
    return _best(base, choices, ratio, -1), min(_best(base, choices, ratio, 1), 1.0)


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
        if below <= _UNDEFINED * total.size:
            # Chance is 1, and the score not defined; or it may be anything, and so may the score.
            return float(value) if abs(above) <= _UNDEFINED * total.size else sign * inf
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
    is_free = alternatives.quote_pool != KNOWN
    quote_document = corpus.text_document[corpus.span_text[alternatives.quote_span]]
    order = np.argsort(quote_document, kind="stable")
    first = np.searchsorted(quote_document[order], np.arange(len(corpus.documents) + 1))
    first_place = np.searchsorted(alternatives.pool, np.arange(int(alternatives.pool.max()) + 2))
    who = corpus.annotation_annotator
    found = []
    for document in np.unique(quote_document[is_free]).tolist():
        rows = slice(shared.first[document], shared.first[document + 1])
        pairs = list(
            zip(who[shared.one[rows]].tolist(), who[shared.two[rows]].tolist(), strict=True)
        )
        compared = set(chain.from_iterable(pairs))
        quotes = order[first[document] : first[document + 1]]
        annotators = corpus.span_annotator[alternatives.quote_span[quotes]]
        quotes = quotes[np.isin(annotators, list(compared))]
        n_free = int(np.count_nonzero(is_free[quotes]))
        if n_free:
            sides = _sides(corpus, quotes.tolist(), first_place)
            clusters, rest = clustered(sides, is_labelled=is_labelled)
            found.append(_Document(document, pairs, clusters, rest, n_free))
    return found


def _sides(corpus: Corpus, quotes: Sequence[int], first: Ints) -> Cluster:
    """The quotes of a document by annotator; `first` is where the places of each pool begin."""
    alternatives, begin = corpus.alternatives, corpus.text_begin
    assert alternatives is not None  # noqa: S101 - asked before
    sides: Cluster = {}
    pools: dict[int, Pool] = {}
    known: set[int] = set()
    for quote in quotes:
        span = int(alternatives.quote_span[quote])
        text, base = int(corpus.span_text[span]), int(begin[corpus.span_text[span]])
        start, end = int(corpus.span_start[span]), int(corpus.span_end[span])
        spot = Spot(text, base + start, base + end, int(corpus.span_label[span]))
        side = sides.setdefault(int(corpus.span_annotator[span]), Side([], []))
        number = int(alternatives.quote_pool[quote])
        if number == KNOWN:
            if span not in known:
                known.add(span)
                side.known.append(spot)
            continue
        if number not in pools:
            rows = slice(first[number], first[number + 1])
            shift = begin[alternatives.text[rows]]
            columns = alternatives.text[rows], alternatives.start[rows], alternatives.end[rows]
            starts, ends = columns[1] + shift, columns[2] + shift
            places = zip(columns[0].tolist(), starts.tolist(), ends.tolist(), strict=True)
            pools[number] = Pool(sorted(places), [], [])
            side.pools.append(pools[number])
        pools[number].labels.append(spot.label)
        pools[number].spots.append(spot)
    return sides


# --- What a document can contribute -------------------------------------------


@dataclass(frozen=True, slots=True)
class _Outcomes:
    """What can come of the clusters of a document.

    Attributes
    ----------
    document : _Document
    by_cluster : list of list of Outcome
    is_exact : bool
        Whether they are exact, or bounds.
    """

    document: _Document
    by_cluster: list[list[Outcome]]
    is_exact: bool

    @classmethod
    def of(cls, document: _Document, scoring: Scoring, most: int) -> _Outcomes:
        """The outcomes; placements of a cluster with more than `most` spans are not enumerated."""
        found = [
            outcomes_of(cluster, document.pairs, scoring, most=most)
            for cluster in document.clusters
        ]
        return cls(document, [outcomes for outcomes, _ in found], all(exact for _, exact in found))

    @property
    def has_one_chance(self) -> bool:
        """Whether chance is the same for all."""
        return self.n_shapes == 1

    @property
    def n_shapes(self) -> float:
        """How many combinations of shapes there are; infinitely many if this is not known."""
        if any(one.example is None for outcomes in self.by_cluster for one in outcomes):
            return inf
        return prod(map(len, self.by_cluster))

    def matched(self) -> tuple[float, float]:
        """The least and the most that matches, beyond what matched where spans were put."""
        low = sum(min(one.low for one in outcomes) for outcomes in self.by_cluster)
        return low, sum(max(one.high for one in outcomes) for outcomes in self.by_cluster)


def _choices(
    found: _Outcomes, corpus: Corpus, scoring: Scoring, expected: float
) -> tuple[list[Sums], bool]:
    """What a document can add to the sums of the corpus, and whether chance is exact.

    `expected` is the expected match where spans were put.
    """
    if found.has_one_chance:
        return [Sums(matched, 0.0, 0.0) for matched in found.matched()], True
    if found.n_shapes <= MOST_SHAPES:
        return _by_shapes(found, corpus, scoring), True
    now, least, most = _sizes(found.document, scoring)
    chances = -expected, most - expected
    sums = product(found.matched(), chances, (least - now, most - now))
    return [Sums(*one) for one in sums], False


def _corpus_wide(
    found: list[_Outcomes], shared: SharedDocuments, scoring: Scoring, base: Sums
) -> tuple[list[list[Sums]], bool]:
    """The same of documents whose chance depends on one another.

    A few combinations of their shapes are scored, each with the whole corpus.
    """
    if all(one.has_one_chance for one in found):
        return [[Sums(matched, 0.0, 0.0) for matched in one.matched()] for one in found], True
    if prod(one.n_shapes for one in found) <= _MOST_CORPORA:
        return [_by_shapes_of_all(found, shared, scoring, base)], True
    choices = []
    most_in_all = base.size
    for one in found:
        now, least, most = _sizes(one.document, scoring)
        most_in_all += most - now
        sums = product(one.matched(), (0.0,), (least - now, most - now))
        choices.append([Sums(*one_of_all) for one_of_all in sums])
    chances = -base.expected, most_in_all - base.expected
    return [*choices, [Sums(0.0, chance, 0.0) for chance in chances]], False


def _placements(
    found: _Outcomes,
) -> Iterator[tuple[dict[int, list[Spot]], tuple[float, float]]]:
    """A placement of each combination of shapes, and the ends of what matches in such ones."""
    for outcomes in product(*found.by_cluster):
        placement = {who: list(side.known) for who, side in found.document.rest.items()}
        for one in outcomes:
            for who, spots in (one.example or {}).items():
                placement.setdefault(who, []).extend(spots)
        yield placement, (sum(one.low for one in outcomes), sum(one.high for one in outcomes))


def _by_shapes(found: _Outcomes, corpus: Corpus, scoring: Scoring) -> list[Sums]:
    """Every combination of shapes, with its own chance."""
    placements, ends = zip(*_placements(found), strict=True)
    default: dict[int, list[Spot]] = {}
    for cluster in (found.document.rest, *found.document.clusters):
        for who, side in cluster.items():
            default.setdefault(who, []).extend(side.default)
    base, *scores = _scored([default, *placements], found.document, corpus, scoring)
    assert base is not None  # noqa: S101 - it was scored before
    return [
        Sums(matched, sums.expected - base.expected, sums.size - base.size)
        for both, sums in zip(ends, scores, strict=True)
        if sums is not None
        for matched in both
    ]


def _by_shapes_of_all(
    found: list[_Outcomes], shared: SharedDocuments, scoring: Scoring, base: Sums
) -> list[Sums]:
    """Every combination of the shapes of all documents, with the chance of the whole corpus."""
    corpus = shared.corpus
    numbers = [one.document.number for one in found]
    stay = ~np.isin(corpus.text_document[corpus.span_text], numbers)
    columns = ("span_text", "span_annotator", "span_start", "span_end", "span_label")
    others = np.array([getattr(corpus, name)[stay] for name in columns])
    choices = []
    for combined in product(*map(list, map(_placements, found))):
        rows = [
            (spot.text, who, *spot[1:])
            for placement, _ in combined
            for who, spots in placement.items()
            for spot in set(spots)
        ]
        moved = np.array(rows, dtype=np.int64).reshape(-1, 5).T
        moved[2:4] -= corpus.text_begin[moved[0]]
        spans = dict(zip(columns, np.hstack([others, moved]), strict=True))
        copy = replace(corpus, **spans, span_id=None, alternatives=None)
        with suppress(OverlapError):
            score = _counts(copy, SharedDocuments(copy, shared.one, shared.two), scoring).score()
            expected, size = score.expected - base.expected, _mean_size(score) - base.size
            choices += [
                Sums(sum(matched), expected, size)
                for matched in zip(*(ends for _, ends in combined), strict=True)
            ]
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
        span_id=None,
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
    counts = _counts(copies, shared, scoring)
    columns = counts.matched, counts.expected, (counts.size_a + counts.size_b) / 2
    sums = (np.bincount(counts.document, weights=column, minlength=n) for column in columns)
    return (Sums(*map(float, values)) for values in zip(*sums, strict=True))


def _counts(corpus: Corpus, shared: SharedDocuments, scoring: Scoring) -> Counts:
    """The counts of a corpus in which spans are elsewhere, if the model allows them there."""
    spans = marked(corpus, scoring.scope)
    check_fit(spans, scoring.model)
    if corpus.unit == CORPUS:
        check_corpus_wide(spans, scoring)
    return counted(spans, shared, scoring)[0]


def _mean_size(score: Score) -> float:
    return (score.size_a + score.size_b) / 2


def _sizes(document: _Document, scoring: Scoring) -> tuple[float, float, float]:
    """The mean size of two annotators in a document: as it is, the least and the most."""
    total = np.zeros(3)
    for cluster in (document.rest, *document.clusters):
        for who, side in cluster.items():
            weight = sum(who in pair for pair in document.pairs) / 2
            total += weight * np.array(sizes_of_side(side, scoring))
    now, least, most = total.tolist()
    return now, least, most
