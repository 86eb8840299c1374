"""Careless work: documents in which somebody's spans are no better than random ones.

For each annotator and document, the spans of the others stay where they are, and the annotator's
are placed at random, those of each label by themselves. If random spans often meet as many
positions of the others as the real ones do, the work is no better than random. A document is taken
into account only if it could show more: if usual work, at its low end, would be better than random.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from math import ceil, exp, isnan, lgamma, log, log1p, nan
from typing import Any, Unpack
from zlib import crc32

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_generator, checked_share, checked_whole
from beyondchance.core.covered_weight import distribution, is_within_reach, sampled_weights
from beyondchance.core.permutation import benjamini_hochberg
from beyondchance.core.ragged import bounds
from beyondchance.errors import DataError
from beyondchance.options import FEWEST_RESAMPLES, MOST_RESAMPLES, CorpusOptions
from beyondchance.results.printed import Printed
from beyondchance.scoring.api import agreement
from beyondchance.scoring.data import corpus_of
from beyondchance.settings import Settings
from beyondchance.types import Floats, Ints

BETTER, RANDOM, UNKNOWN, NOTHING = "better", "random", "unknown", "nothing"
VERDICTS = (BETTER, RANDOM, UNKNOWN, NOTHING)
"""Better than random, no better, cannot be told, nothing marked."""
_LOW_END = 0.01
"""The share of documents of usual work that are even worse than what must be visible."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentWork:
    """The work of one annotator on one document.

    Attributes
    ----------
    document : str
    matched : int
        Positions of others that it meets, each with its label, added over the others.
    expected : float
        What random spans meet on average.
    p : float
        How often random spans meet as many, or more.
    adjusted : float
        The same, adjusted for all documents that could show it (Benjamini and Hochberg); nan for
        the others.
    verdict : {"better", "random", "unknown", "nothing"}
        Better than random spans; no better; too little to tell; nothing marked.
    is_exact : bool
        Whether the distribution was computed rather than sampled.
    """

    document: str
    matched: int
    expected: float
    p: float
    adjusted: float
    verdict: str
    is_exact: bool


@dataclass(frozen=True, eq=False, kw_only=True)
class CarelessWork(Printed):
    """Which documents of each annotator are no better than random.

    Attributes
    ----------
    by_annotator : mapping of str to tuple of DocumentWork
    level : float
        The share of false discoveries among documents that are called better than random.
    settings : Settings
    corpus : Corpus
    """

    by_annotator: Mapping[str, tuple[DocumentWork, ...]]
    level: float
    settings: Settings
    corpus: Corpus = field(repr=False)

    def __repr__(self) -> str:
        found = ", ".join(
            f"{name}: {len(self.random[name])} of {self.n_told[name]}" for name in self.random
        )
        return f"CarelessWork({found} documents no better than random)"

    @property
    def random(self) -> dict[str, list[str]]:
        """For each annotator, the documents that are no better than random."""
        return {
            name: [work.document for work in works if work.verdict == RANDOM]
            for name, works in self.by_annotator.items()
        }

    @property
    def n_told(self) -> dict[str, int]:
        """For each annotator, how many documents could show that they are better."""
        return {
            name: sum(work.verdict in {BETTER, RANDOM} for work in works)
            for name, works in self.by_annotator.items()
        }


def careless_work(
    data: Any,
    other: Any = None,
    *,
    level: float = 0.05,
    resamples: int = 1999,
    seed: np.random.Generator | int | None = 0,
    **options: Unpack[CorpusOptions],
) -> CarelessWork:
    """Whether the work of each annotator on each document is better than random spans would be.

    The annotator's spans are placed at random, as many and as long for each label, and the
    others' stay. Where texts are short the distribution of what is met is computed exactly, else it
    is sampled. A document is *no better than random* if it could show more, and does not: if
    usual work would be better than random at this level, even at its low end (as if each span
    were right with a probability that is the corrected agreement of the pair that agrees best,
    and few of them were), and this document is not, after adjustment for all such documents.

    Parameters
    ----------
    data, other
        As in `agreement`. Where the corpus names a gold standard, all others are compared with
        it, and it is not judged.
    level : float
        How many of the documents that are called better than random may be false, as a share.
    resamples : int
        Random placements, where they are sampled.
    seed : int or generator, optional
        Where random numbers begin.
    **options
        How `data` and `other` become a corpus (see `corpus`).

    Returns
    -------
    CarelessWork

    Raises
    ------
    DataError
        If no document was annotated by two.

    Examples
    --------
    Dan has the right number of spans in the wrong places.

    >>> right = [[(i, i + 2, "P") for i in range(0, 90, 9)]] * 3
    >>> wrong = [*right[:2], [(i + 4, i + 6, "P") for i in range(0, 90, 9)]]
    >>> spans = {"ada": right, "ben": right, "dan": wrong}
    >>> found = careless_work(Corpus.from_spans(spans, lengths=[90] * 3))
    >>> found.random
    {'ada': [], 'ben': [], 'dan': ['2']}
    """
    corpus = corpus_of(data, other, options)
    checked_share("level", level)
    checked_whole("resamples", resamples, least=FEWEST_RESAMPLES, most=MOST_RESAMPLES)
    generator = checked_generator(seed)
    if corpus.unit == CORPUS:
        raise DataError("spans of unit corpus have no text of their own", expected="another unit")
    result = agreement(corpus, gold=corpus.gold)
    pairs = [score.corrected for score in result.by_pair.values() if not isnan(score.corrected)]
    # Whoever is careless does not make that usual.
    usual = max([*pairs, 0.0])
    bar = _Bar(usual, level, resamples, int(generator.integers(2**63)))
    judged = [name for name in corpus.annotators if name != corpus.gold]
    by_text = _by_text(corpus)
    works = {name: _works(corpus, by_text, name, bar) for name in judged}
    told = [
        (name, i)
        for name, listed in works.items()
        for i, work in enumerate(listed)
        if work.verdict == RANDOM
    ]
    raised = benjamini_hochberg(np.array([works[name][i].p for name, i in told]))
    for (name, i), p in zip(told, raised.tolist(), strict=True):
        verdict = BETTER if p <= level else RANDOM
        works[name][i] = replace(works[name][i], adjusted=p, verdict=verdict)
    return CarelessWork(
        by_annotator={name: tuple(listed) for name, listed in works.items()},
        level=level,
        settings=result.settings.replaced(
            resamples=resamples, seed=seed if isinstance(seed, int) else None
        ),
        corpus=corpus,
    )


@dataclass(frozen=True, slots=True)
class _Bar:
    """What work is compared with.

    Attributes
    ----------
    usual : float
        The corrected agreement of the pair that agrees best.
    level : float
    draws : int
    seed : int
    """

    usual: float
    level: float
    draws: int
    seed: int


_Spans = dict[int, dict[int, dict[int, list[tuple[int, int]]]]]
"""Spans by text, label and annotator."""


def _by_text(corpus: Corpus) -> _Spans:
    found: _Spans = {}
    columns = (
        corpus.span_text,
        corpus.span_label,
        corpus.span_annotator,
        corpus.span_start,
        corpus.span_end,
    )
    for text, label, who, start, end in zip(*(x.tolist() for x in columns), strict=True):
        found.setdefault(text, {}).setdefault(label, {}).setdefault(who, []).append((start, end))
    return found


def _works(corpus: Corpus, by_text: _Spans, name: str, bar: _Bar) -> list[DocumentWork]:
    """The work of one annotator, in the documents that somebody else annotated."""
    own = corpus.annotators.index(name)
    gold = None if corpus.gold is None else corpus.annotators.index(corpus.gold)
    cuts = bounds(corpus.annotation_document, len(corpus.documents)).tolist()
    annotators = corpus.annotation_annotator.tolist()
    works = []
    for document in range(len(corpus.documents)):
        team = annotators[cuts[document] : cuts[document + 1]]
        others = [who for who in team if who != own and (gold is None or who == gold)]
        if own in team and others:
            works.append(_work(corpus, document, by_text, own, others, bar=bar))
    return works


def _work(
    corpus: Corpus, number: int, by_text: _Spans, own: int, others: Sequence[int], *, bar: _Bar
) -> DocumentWork:
    """The work of one annotator on one document."""
    document = corpus.documents[number]
    names = (document, corpus.annotators[own])
    key = [bar.seed, *(crc32(name.encode(errors="backslashreplace")) for name in names)]
    rng = np.random.default_rng(key)
    parts: list[tuple[int, Ints, Ints]] = []  # positions, lengths, and the others' marks
    matched = most = 0
    for text in range(*np.searchsorted(corpus.text_document, [number, number + 1]).tolist()):
        n = int(corpus.text_length[text])
        for spans in by_text.get(text, {}).values():
            mine = spans.get(own, ())
            theirs = [span for who in others for span in spans.get(who, ())]
            if not mine:
                continue
            steps = np.zeros(n + 1, dtype=np.int64)
            for start, end in theirs:
                steps[start] += 1
                steps[end] -= 1
            weights = np.cumsum(steps[:-1])
            matched += sum(int(weights[start:end].sum()) for start, end in mine)
            lengths = np.array([end - start for start, end in mine], dtype=np.int64)
            # No arrangement meets more than the positions with most marks.
            most += int(np.sort(weights)[-int(lengths.sum()) :].sum())
            parts.append((n, lengths, weights))
    work = partial(DocumentWork, document=document, adjusted=nan, matched=matched)
    if not parts:
        return work(expected=0.0, p=1.0, verdict=NOTHING, is_exact=True)
    null = _Null.of(parts, bar.draws, rng)
    n_spans = sum(len(lengths) for _, lengths, _ in parts)
    needed = null.mean + _low_end(n_spans, bar.usual) * (most - null.mean)
    can_tell = needed > null.mean and null.share_from(needed) <= bar.level
    p = null.share_from(matched)
    # What is better than random has told it, however little there is.
    verdict = RANDOM if can_tell else BETTER if p <= bar.level else UNKNOWN
    return work(expected=null.mean, p=p, verdict=verdict, is_exact=null.is_exact)


@cache
def _low_end(n: int, usual: float) -> float:
    """The share of n spans that usual work has right in nearly every document.

    >>> _low_end(1, 0.9), _low_end(20, 0.5)
    (0.0, 0.25)
    """
    if not 0 < usual < 1:
        return usual
    below = 0.0
    for right in range(n + 1):
        ways = lgamma(n + 1) - lgamma(right + 1) - lgamma(n - right + 1)
        below += exp(ways + right * log(usual) + (n - right) * log1p(-usual))
        if below > _LOW_END:
            return right / n
    return 1.0


@dataclass(frozen=True, eq=False)
class _Null:
    """What random spans meet in a document.

    Attributes
    ----------
    shares : array of float
        The probability of 0, 1, 2, ...; how often each was drawn, where it was sampled.
    mean : float
    n_draws : int
        0 where it was computed.
    """

    shares: Floats
    mean: float
    n_draws: int

    @classmethod
    def of(
        cls, parts: Sequence[tuple[int, Ints, Ints]], draws: int, rng: np.random.Generator
    ) -> _Null:
        """Of stretches with spans and weights; exact, if all of them are within reach."""
        is_exact = all(
            int(lengths.sum()) <= n and is_within_reach(n, lengths, weights)
            for n, lengths, weights in parts
        )
        if is_exact:
            shares = np.ones(1)
            for part in parts:
                shares = np.convolve(shares, distribution(*part))
            return cls(shares, float(shares @ np.arange(len(shares))), 0)
        drawn = np.zeros(draws, dtype=np.int64)
        for part in parts:
            drawn += sampled_weights(*part, draws, rng)
        return cls(np.bincount(drawn).astype(np.float64), float(drawn.mean()), draws)

    @property
    def is_exact(self) -> bool:
        """Whether it was computed."""
        return not self.n_draws

    def share_from(self, least: float) -> float:
        """How often random spans meet as many, or more."""
        above = float(self.shares[max(ceil(least - 1e-9), 0) :].sum())
        if self.is_exact:
            return min(above, 1.0)
        return (above + 1) / (self.n_draws + 1)
