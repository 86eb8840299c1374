"""Careless work: annotators who agree much less than the others, and documents to look at.

An annotator is compared with the others in the documents that two or more others annotated: how
well they agree with the annotator, and how well with one another. Who agrees less than half as much
is named, if the documents show it. Whether the spans of such an annotator are in random places, or
follow another rule, is a question of its own: the others' spans stay, and those of the annotator
are placed at random.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field, replace
from math import floor, isnan, nan
from typing import Any, Unpack

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_generator, checked_share, checked_whole
from beyondchance.core.distributions import beta_share
from beyondchance.core.draws import sampled_weights
from beyondchance.core.ragged import (
    bounds,
    distinct,
    is_among,
    largest,
    n_distinct,
    rows_by_value,
    spread,
    starts,
    total,
)
from beyondchance.core.resampling import benjamini_hochberg, influences, places, student_tail
from beyondchance.errors import DataError
from beyondchance.inference.estimates import adjusted
from beyondchance.options import FEWEST_RESAMPLES, MOST_RESAMPLES, CorpusOptions
from beyondchance.results.counts import Counts
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import jackknifed, score_of
from beyondchance.scoring.api import agreement
from beyondchance.scoring.data import corpus_of
from beyondchance.settings import Settings
from beyondchance.types import Bools, Floats, Ints

RANDOM, ANOTHER_RULE, BELOW, HALF, TOO_FEW = "random", "another_rule", "below", "half", "too_few"
"""Less than half: not above chance, by another rule, or above chance; at least half; not shown."""
FEWEST_DOCUMENTS = 5
"""Documents that two or more others annotated, from which on an annotator is tested."""
_SHARE = 0.5
"""Of the agreement among the others: who agrees less is named."""
_MISSED = 0.01
"""How likely a stretch of usual work may be taken for a random one."""
_CELLS = 2**17
"""Random spans that are held at a time."""


@dataclass(frozen=True, slots=True, kw_only=True)
class AnnotatorWork:
    """The work of one annotator, compared with that of the others.

    Attributes
    ----------
    agreement : float
        The corrected agreement with the others, in documents that two or more others annotated.
    others : float
        That of the others among themselves, in the same documents.
    n_documents : int
        These documents, without those in which nothing was marked.
    p : float
        How often agreement as low would come out if it were half of that of the others, or if
        that of the others were none, whichever is more often; nan if not tested.
    adjusted : float
        The same, adjusted for all annotators who are tested (Benjamini and Hochberg).
    verdict : {"random", "another_rule", "below", "half", "too_few"}
        Agrees less than half as much as the others do: not above chance; by another rule; above
        chance. Or agrees at least half as much; or documents do not show either.
    n_spans : int
        All spans of the annotator.
    is_full : bool
        Whether every position is marked.
    n_stretches : int
        Stretches of documents that would show random work.
    n_left : int
        Documents that are in no such stretch: too few to tell.
    luck : float
        How many of the stretches are expected to be listed if the work is as elsewhere.
    """

    agreement: float
    others: float
    n_documents: int
    p: float
    adjusted: float = nan
    verdict: str
    n_spans: int
    is_full: bool
    n_stretches: int = 0
    n_left: int
    luck: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class Stretch:
    """Documents of one annotator, in their order, in which the match is not above chance.

    Attributes
    ----------
    annotator : str
    documents : tuple of str
    n_spans : int
        Spans of the annotator.
    matched : int
        Positions of others that they meet, each with its label, added over the others.
    expected : float
        What random spans meet on average.
    p : float
        How often random spans meet as many, or more.
    luck : float
        How often work as elsewhere would be listed.
    """

    annotator: str
    documents: tuple[str, ...]
    n_spans: int
    matched: int
    expected: float
    p: float
    luck: float


@dataclass(frozen=True, eq=False, kw_only=True)
class CarelessWork(Printed):
    """Annotators who agree much less than the others, and documents to look at.

    Attributes
    ----------
    by_annotator : mapping of str to AnnotatorWork
        All but a gold standard.
    stretches : tuple of Stretch
        Documents to look at, which are no verdict: some are expected by luck.
    level : float
    settings : Settings
    corpus : Corpus
    """

    by_annotator: Mapping[str, AnnotatorWork]
    stretches: tuple[Stretch, ...]
    level: float
    settings: Settings
    corpus: Corpus = field(repr=False)

    def __repr__(self) -> str:
        return (
            f"CarelessWork(below={self.below}, random={self.random}, "
            f"another_rule={self.another_rule}, {len(self.stretches)} stretches to look at, "
            f"{self.luck:.1f} expected by luck)"
        )

    def _named(self, *verdicts: str) -> tuple[str, ...]:
        return tuple(n for n, work in self.by_annotator.items() if work.verdict in verdicts)

    @property
    def below(self) -> tuple[str, ...]:
        """Annotators who agree less than half as much as the others do among themselves."""
        return self._named(RANDOM, ANOTHER_RULE, BELOW)

    @property
    def random(self) -> tuple[str, ...]:
        """Those of them whose match is not above chance, not even next to the others' spans."""
        return self._named(RANDOM)

    @property
    def another_rule(self) -> tuple[str, ...]:
        """Those of them whose match is below chance, or above it only next to the others' spans."""
        return self._named(ANOTHER_RULE)

    @property
    def too_few(self) -> tuple[str, ...]:
        """Annotators of whom documents do not show whether they agree half as much."""
        return self._named(TOO_FEW)

    @property
    def nothing(self) -> tuple[str, ...]:
        """Annotators who marked nothing."""
        return tuple(name for name, work in self.by_annotator.items() if not work.n_spans)

    @property
    def everything(self) -> tuple[str, ...]:
        """Annotators who marked every position."""
        return tuple(name for name, work in self.by_annotator.items() if work.is_full)

    @property
    def luck(self) -> float:
        """How many stretches are expected to be listed by luck."""
        return sum(work.luck for work in self.by_annotator.values())


def careless_work(
    data: Any,
    *others: Any,
    level: float = 0.05,
    resamples: int = 999,
    seed: np.random.Generator | int | None = 0,
    **options: Unpack[CorpusOptions],
) -> CarelessWork:
    r"""Name annotators who agree much less than the others, and list documents to look at.

    An annotator with at least five documents that two or more others annotated is tested: that the
    corrected agreement with the others, :math:`C_j`, is below half of that of the others among
    themselves, :math:`C_{-j}`, and that the latter is above 0; both by the jackknife over
    documents, after adjustment for all who are tested. Of those named, *random* are those whose
    match is not above chance if the others' spans stay and the annotator's are placed at random,
    and still is not if the others' spans are widened by a token on either side and labels are
    ignored. Where it is then, or where the match is below chance, it is *another rule*.

    Parameters
    ----------
    data, *others
        As in `agreement`. A gold standard that the corpus names is one of the others, and is not
        judged.
    level : float
        How many of the annotators named may be named wrongly, as a share; and the level of tests
        of chance.
    resamples : int
        Random placements.
    seed : int or generator, optional
        The random seed.
    **options
        How these become a corpus (see `corpus`).

    Returns
    -------
    CarelessWork

    Raises
    ------
    DataError
        If no document was annotated by two, or so many annotated one that pairs are too many.

    Notes
    -----
    Stretches to look at: in the order of documents, those of an annotator are joined until work as
    elsewhere would be found not above chance with a probability of .01 at most, if each span were
    right with the probability of the agreement; at most a third of the annotator's documents. Those
    not above chance are listed. The probabilities add up to the number expected by luck.

    Examples
    --------
    Dan marks as many words as the others, anywhere.

    >>> rng = np.random.default_rng(1)
    >>> work = [
    ...     [
    ...         [(int(i), int(i) + 1, "P") for i in rng.choice(60, 8, replace=False)]
    ...         for _ in range(20)
    ...     ]
    ...     for _ in range(2)
    ... ]
    >>> team = {"ada": work[0], "ben": work[0], "dan": work[1]}
    >>> found = careless_work(Corpus.from_spans(team, lengths=[60] * 20))
    >>> found.below, found.random, found.too_few
    (('dan',), ('dan',), ('ada', 'ben'))

    Of Ada nothing is shown, because the others, Ben and Dan, do not agree with each other.
    """
    corpus = corpus_of(data, others, options)
    checked_share("level", level)
    checked_whole("resamples", resamples, least=FEWEST_RESAMPLES, most=MOST_RESAMPLES)
    key = int(checked_generator(seed).integers(2**63))
    if corpus.unit == CORPUS:
        raise DataError("spans of unit corpus have no text of their own", expected="another unit")
    result = agreement(replace(corpus, gold=None))
    table = _Table.of(corpus, result.counts, level=level, draws=resamples, seed=key)
    judged = [name for name in corpus.annotators if name != corpus.gold]
    found = {name: table.tested(corpus.annotators.index(name)) for name in judged}
    raised = adjusted({name: work.p for name, work in found.items()}, benjamini_hochberg)
    listed: list[Stretch] = []
    for name, p in raised.items():
        if isnan(p):
            continue
        number, work = corpus.annotators.index(name), found[name]
        verdict = work.verdict
        if p <= level:
            verdict = table.placed(number) if work.n_spans else BELOW
        stretches = table.stretches(number)
        listed += [stretch for stretch in stretches if stretch.p > level]
        found[name] = replace(
            work,
            adjusted=p,
            verdict=verdict,
            n_stretches=len(stretches),
            n_left=work.n_documents - sum(len(stretch.documents) for stretch in stretches),
            luck=sum((stretch.luck for stretch in stretches), 0.0),
        )
    return CarelessWork(
        by_annotator=found,
        stretches=tuple(listed),
        level=level,
        settings=result.settings.replaced(
            resamples=resamples, seed=seed if isinstance(seed, int) else None
        ),
        corpus=corpus,
    )


@dataclass(frozen=True, eq=False, kw_only=True)
class _Own:
    """The spans of one annotator, next to the others' spans at each position.

    Spans are in cells: those of each text and label, or of each text.

    Attributes
    ----------
    document, n, begin : arrays of int, shape (cells,)
        The document of each cell, ascending, its positions, and where it begins.
    first : array of int, shape (cells + 1,)
    length : array of int, shape (spans,)
    before : array of int
        How many of the others' spans cover positions before each one, added up.
    met : array of int, shape (cells,)
        How many of them cover positions of the annotator's spans.
    """

    document: Ints
    n: Ints
    begin: Ints
    first: Ints
    length: Ints
    before: Ints
    met: Ints

    @classmethod
    def of(cls, corpus: Corpus, annotator: int, reach: int = 0) -> _Own:
        """Find the spans of one annotator.

        With a reach, the others' spans are widened by it on either side, and labels are ignored.
        """
        n_labels = 1 if reach else len(corpus.labels)
        code = corpus.span_text * n_labels + corpus.span_label * (not reach)
        is_own = corpus.span_annotator == annotator
        cells, cell = distinct(code[is_own])
        text = cells // n_labels
        n = corpus.text_length[text]
        # A position more, at which spans end that reach the end of the text.
        begin = starts(n + 1)
        is_seen = np.zeros(len(corpus.text_length), dtype=bool)
        is_seen[text] = True
        others = np.flatnonzero(is_seen[corpus.span_text] & ~is_own)
        others = others[is_among(code[others], cells)]
        there = np.searchsorted(cells, code[others])
        low = begin[there] + np.maximum(corpus.span_start[others] - reach, 0)
        high = begin[there] + np.minimum(corpus.span_end[others] + reach, n[there])
        size = int((n + 1).sum())
        steps = np.bincount(low, minlength=size) - np.bincount(high, minlength=size)
        before = np.append(0, np.cumsum(np.cumsum(steps)))
        start, end = (begin[cell] + x[is_own] for x in (corpus.span_start, corpus.span_end))
        return cls(
            document=corpus.text_document[text],
            n=n,
            begin=begin,
            first=bounds(cell, len(cells)),
            length=(end - start)[np.argsort(cell, kind="stable")],
            before=before,
            met=total(cell, before[end] - before[start], len(cells)).astype(np.int64),
        )

    def drawn(self, documents: Ints, draws: int, seed: int) -> Iterator[Ints]:
        """Count what the spans meet and then what each draw of random ones does, by document."""
        rng = np.random.default_rng(seed)
        low, high = (np.searchsorted(self.document, documents, side) for side in ("left", "right"))
        n_spans, width = np.diff(self.first), max(_CELLS // draws, 1)
        for at in range(0, len(documents), width):
            counts = (high - low)[at : at + width]
            which, place = spread(counts)
            cells = low[at : at + width][which] + place
            found = np.repeat(self.met[cells, None], draws + 1, axis=1)
            for same in rows_by_value(n_spans[cells]):
                some = cells[same]
                k = largest(n_spans[some])
                lengths = self.length[self.first[some][:, None] + np.arange(k)]
                found[same, 1:] = sampled_weights(
                    self.n[some], lengths, self.begin[some], self.before, draws=draws, rng=rng
                )
            yield from (x.sum(axis=0) for x in np.split(found, np.cumsum(counts)[:-1]))


@dataclass(frozen=True, eq=False)
class _Table:
    """Sums of each annotation, and tests of chance: the others stay, and one is placed at random.

    Attributes
    ----------
    corpus : Corpus
    sums : array of float, shape (annotations, 2, 4)
        Of the annotator with the others, and of the others.
    is_shared : array of bool, shape (annotations,)
        Whether the document has marks, and two or more others annotated it.
    level : float
    draws, seed : int
    """

    corpus: Corpus
    sums: Floats
    is_shared: Bools
    level: float
    draws: int
    seed: int

    @classmethod
    def of(cls, corpus: Corpus, counts: Counts, **chance: Any) -> _Table:
        """Add the counts of pairs."""
        where, sums = corpus.annotation_document, counts.sums_by_annotation(corpus)
        is_shared = (np.bincount(where) > 2)[where] & (sums[:, 0, 2] > 0)
        return cls(corpus=corpus, sums=sums, is_shared=is_shared, **chance)

    def rows(self, annotator: int) -> Ints:
        """Find the annotations by which an annotator is judged."""
        return np.flatnonzero(self.is_shared & (self.corpus.annotation_annotator == annotator))

    def tested(self, annotator: int) -> AnnotatorWork:
        """Compare one annotator with the others."""
        sums = self.sums[self.rows(annotator)]
        scores = jackknifed(sums)
        own, others = scores[0].tolist()
        p, verdict = nan, TOO_FEW
        # Of an annotator who marks every position no random placement differs: there is no score.
        if len(sums) >= FEWEST_DOCUMENTS and not isnan(own):
            below = _share_below(scores[:, 0] - _SHARE * scores[:, 1])
            chance = _share_below(-scores[:, 1])
            p = max(below, chance)
            if max(1 - below, chance) <= self.level:
                verdict = HALF
        return AnnotatorWork(
            agreement=own,
            others=others,
            n_documents=len(sums),
            p=p,
            verdict=verdict,
            n_spans=int(np.count_nonzero(self.corpus.span_annotator == annotator)),
            is_full=_marks_everything(self.corpus, annotator),
            n_left=len(sums),
        )

    def missed(self, n_spans: int, here: Floats, whole: Floats, null: Ints) -> float:
        """Compute how often work as elsewhere would not be above chance; 1 if that is not known.

        Parameters
        ----------
        n_spans : int
        here, whole : arrays of float, shape (2, 4)
            Sums of the annotator with the others, and of the others: of the stretch, of all.
        null : array of int, shape (draws,)
            What random spans match in the stretch.
        """
        sums = np.stack([*(whole - here), here[1]])
        own, others, others_here = score_of(sums, "corrected").tolist()
        if not (n_spans and min(own, others, others_here) > 0):
            return 1.0
        right = min(own * min(1.0, others_here / others), others_here)
        if _share_up_to(0, n_spans, right) > _MISSED:
            return 1.0
        # The largest match that as many random spans reach as the level allows, or more.
        rank = max(self.draws - floor(self.level * (self.draws + 1)), 0)
        most, expected, full = np.partition(null, rank)[rank], null.mean(), here[0, 2] / 2
        if full <= expected:
            return 1.0
        return _share_up_to(floor(n_spans * (most - expected) / (full - expected)), n_spans, right)

    def placed(self, annotator: int) -> str:
        """Decide whether spans are in random places, by another rule, or above chance."""
        own, near = (_Own.of(self.corpus, annotator, reach) for reach in (0, 1))
        # In an order that follows from the names alone, so that it does not change any verdict.
        order = np.argsort(places(self.corpus.documents))
        seen = order[is_among(order, own.document)]
        sums = [np.asarray(sum(x.drawn(seen, self.draws, self.seed))) for x in (own, near)]
        # The real spans are one of the draws.
        above, beside = ((x >= x[0]).mean() for x in sums)
        if above <= self.level:
            return BELOW
        below = (sums[0] <= sums[0][0]).mean()
        return ANOTHER_RULE if min(below, beside) <= self.level else RANDOM

    def stretches(self, annotator: int) -> list[Stretch]:
        """Join documents of one annotator to stretches that would show random work."""
        corpus, rows = self.corpus, self.rows(annotator)
        own = _Own.of(corpus, annotator)
        sums, documents = self.sums[rows], corpus.annotation_document[rows]
        n_spans = total(own.document, np.diff(own.first), len(corpus.documents))[documents]
        whole = sums.sum(axis=0)
        found: list[Stretch] = []
        begin = 0
        for end, row in enumerate(own.drawn(documents, self.draws, self.seed), 1):
            if begin == end - 1:
                k, here, met = 0, np.zeros_like(whole), np.zeros_like(row)
            k += int(n_spans[end - 1])
            here += sums[end - 1]
            met += row
            missed = self.missed(k, here, whole, met[1:])
            if missed <= _MISSED:
                stretch = Stretch(
                    annotator=corpus.annotators[annotator],
                    documents=tuple(corpus.documents[i] for i in documents[begin:end].tolist()),
                    n_spans=k,
                    matched=int(met[0]),
                    expected=float(met[1:].mean()),
                    p=float((met >= met[0]).mean()),
                    luck=missed,
                )
                found.append(stretch)
            elif end - begin < len(rows) // 3:
                continue
            begin = end
        return found


def _share_below(scores: Floats) -> float:
    """Compute how often a score would be as low if it were 0 in truth; 1 where it is not known.

    The score is the first, and then comes that without each document.
    """
    if not np.isfinite(scores).all():
        return 1.0
    return student_tail(float(scores[0]), [influences(scores[1:])])


def _share_up_to(most: int, n: int, share: float) -> float:
    """Compute the probability of at most so many of n, by the binomial distribution.

    >>> round(_share_up_to(1, 3, 0.5), 9), _share_up_to(2, 3, 1.0), _share_up_to(-1, 3, 0.5)
    (0.5, 0.0, 0.0)
    """
    if not 0 <= most < n or share >= 1:
        return float(most >= n)
    return beta_share(n - most, most + 1, 1 - share)


def _marks_everything(corpus: Corpus, annotator: int) -> bool:
    """Return whether an annotator marked every position of all documents annotated."""
    documents = corpus.annotation_document[corpus.annotation_annotator == annotator]
    there = int(corpus.text_length[is_among(corpus.text_document, documents)].sum())
    spans = np.flatnonzero(corpus.span_annotator == annotator)
    own, step = spread((corpus.span_end - corpus.span_start)[spans])
    start = corpus.text_begin[corpus.span_text[spans]] + corpus.span_start[spans]
    return 0 < there == n_distinct(start[own] + step)
