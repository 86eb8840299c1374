"""What agreement random annotation would give: its whole distribution, not only its mean.

Every annotator's spans are put down at random, text by text and label by label, thousands of
times. The mean is known exactly; so is the variance of the token match where texts are not
too long. Each annotation of a text draws from a stream of its own, which depends on the seed
and on names, so that parts of a corpus give the same draws as the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from itertools import combinations
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.arrays import Floats, Ints
from beyondchance.chance import validated_text
from beyondchance.choices import CustomMeasure, chosen_measure
from beyondchance.core.arrangements import disjoint_starts, overlapping_starts, sampled_match
from beyondchance.core.matching import SpanGroups
from beyondchance.core.ragged import bounds, distinct
from beyondchance.core.resampling import blocks
from beyondchance.core.variance import covariance, is_within_reach, team_variance
from beyondchance.errors import DataError, LengthsError, OptionError, checked_option
from beyondchance.results import NOTHING_MARKED, Agreement, Score
from beyondchance.scoring import agreement, without_gold
from beyondchance.settings import Settings
from beyondchance.spans import Corpus
from beyondchance.uncertainty import checked_resamples, checked_rng

TIES = ("counted", "randomised")
QUANTILES = (0.025, 0.5, 0.975)

_DRAWS_AT_A_TIME = 2**20
"""Starts of spans held at a time."""
_SHORT = 100
"""Positions of texts that are common enough, and small enough, to keep their covariances."""

STARTS = {"disjoint": disjoint_starts, "overlapping": overlapping_starts}
"""How random annotations are drawn, by model."""

_Covariances = dict[tuple[int, tuple[int, ...]], tuple[Floats, Floats]]


@dataclass(frozen=True, slots=True, kw_only=True)
class NullDistribution:
    """The agreement (F1) of random annotations, beside the observed one.

    Attributes
    ----------
    observed : float
    mean : float
        Chance agreement, exact where the result's is; nan where nothing was marked.
    sd : float
        The standard deviation of the agreement of random annotations.
    sd_is : {"exact", "sampled"}
        Whether it was computed or estimated from the draws.
    quantiles : mapping of float to float
        Of the sampled agreement: at .025, .5 and .975.
    p_value : float
        How often random annotations agree as much as was observed, or more.
    p_error : float
        The standard error that `p_value` has from being sampled.
    samples : array of float
        The sampled agreement, draw by draw; empty for a document.
    by_document : mapping of str to NullDistribution
        The same for each document; empty for a document.
    settings : Settings
        With the number of draws and the seed.
    """

    observed: float
    mean: float
    sd: float
    sd_is: str
    quantiles: Mapping[float, float]
    p_value: float
    p_error: float
    samples: Floats = field(repr=False)
    by_document: Mapping[str, NullDistribution] = field(default_factory=dict, repr=False)
    settings: Settings

    @property
    def reason(self) -> str | None:
        """Why there is no distribution, where there is none."""
        return NOTHING_MARKED if np.isnan(self.mean) else None

    def quantile(self, share: float) -> float:
        """The agreement that this share of random annotations stays below.

        Only for the whole; a document keeps no draws.
        """
        if not len(self.samples):
            raise OptionError("a document keeps no draws; expected the distribution of the whole")
        if not isinstance(share, int | float) or not 0 <= share <= 1:
            raise OptionError(f"share is {share!r}; expected a number from 0 to 1")
        return float(np.quantile(self.samples, share))


def match_variance(n: int, lengths_a: ArrayLike, lengths_b: ArrayLike) -> float:
    """Exact variance of the positions that two random annotators have in common.

    Spans of one annotator do not overlap. The mean is `expected_match`.

    Parameters
    ----------
    n : int
        Positions of the text.
    lengths_a, lengths_b : array of int
        Lengths of the spans of either annotator.

    Raises
    ------
    LengthsError
        If the text is too long for it, or holds too many spans of too many lengths.

    Examples
    --------
    Two tokens of four, at random: they meet in one case of four, 1/4 - 1/16.

    >>> match_variance(4, [1], [1])
    0.1875
    """
    text = validated_text(n, lengths_a, "disjoint")
    size, spans_a = text.n, text.lengths
    spans_b = validated_text(n, lengths_b, "disjoint").lengths
    counted = [np.unique(spans, return_counts=True) for spans in (spans_a, spans_b)]
    if not all(is_within_reach(size, *side) for side in counted):
        raise LengthsError(
            f"a text of {size} positions with so many spans is too much for the exact variance; "
            "expected a sentence or a paragraph: sample it with sample_arrangements"
        )
    return team_variance([covariance(size, *side) for side in counted])


def null_distribution(
    corpus: Corpus,
    *,
    measure: str | CustomMeasure = "token",
    model: str = "auto",
    scope: str = "label",
    theta: float | None = None,
    samples: int | None = None,
    resamples: int = 9999,
    ties: str = "counted",
    rng: np.random.Generator | int | None = None,
) -> NullDistribution:
    """The agreement that random annotation would give in these texts.

    Parameters
    ----------
    corpus : Corpus
    measure, model, scope, theta, samples
        As in `agreement`; the spans of each label must be arranged on their own, disjoint or
        overlapping.
    resamples : int
        How often to draw.
    ties : {"counted", "randomised"}
        Draws that agree as much as was observed count as reaching it, so that the p-value
        is never too small; or a random share of them does, so that p-values of random
        annotations are spread evenly between 0 and 1.
    rng : numpy.random.Generator or int, optional
        The source of randomness, or its seed; the same seed gives the same digits.

    Returns
    -------
    NullDistribution

    Examples
    --------
    One token of four is marked by either: a quarter of all random annotations agree.

    >>> corpus = Corpus.from_tags({"a": [["B-P", "O", "O", "O"]], "b": [["B-P", "O", "O", "O"]]})
    >>> found = null_distribution(corpus, rng=1)
    >>> found.observed, found.mean, round(found.sd, 4), found.sd_is
    (1.0, 0.25, 0.433, 'exact')
    >>> abs(found.p_value - 0.25) < 4 * found.p_error
    True
    """
    if not isinstance(corpus, Corpus):
        raise DataError(f"found one {type(corpus).__name__}; expected a Corpus")
    draws = checked_resamples(resamples)
    checked_option("ties", ties, TIES)
    generator, seed = checked_rng(rng, Settings())
    key = int(generator.integers(2**63)) if seed is None else seed
    sampling: dict[str, Any] = {"theta": theta, "samples": samples}
    if measure == "iou":
        sampling["seed"] = key
    result = agreement(corpus, measure=measure, model=model, scope=scope, **sampling)
    fitting = result.settings.model
    if fitting not in STARTS or scope != "label":
        raise OptionError(
            f"random annotations cannot be drawn for model {fitting!r} and scope {scope!r}; "
            "expected model 'disjoint' or 'overlapping' with scope 'label'"
        )
    sampler = _Sampler(
        result=result,
        matched=chosen_measure(measure, **sampling).rule(fitting).matched,
        key=key,
        draws=draws,
        ties=ties,
    )
    return sampler.run(without_gold(corpus))


@dataclass(frozen=True, slots=True)
class _Cell:
    """One label in one text, and those who marked something with it.

    Attributes
    ----------
    document : int
        Among those that were compared.
    n : int
        Positions of the text.
    members : list of (name of the stream, lengths)
    """

    document: int
    n: int
    members: list[tuple[str, Ints]]

    @property
    def problem(self) -> tuple[object, ...]:
        """Equal cells have equal distributions."""
        return self.n, *sorted(tuple(lengths.tolist()) for _, lengths in self.members)


def _cells(corpus: Corpus, result: Agreement) -> Iterator[_Cell]:
    """Texts and labels that two annotators or more marked, document by document."""
    counts = result.counts
    n_labels, n_annotators = max(len(corpus.labels), 1), max(len(corpus.annotators), 1)
    code = (corpus.span_text * n_labels + corpus.span_label) * n_annotators + corpus.span_annotator
    length = corpus.span_end - corpus.span_start
    order = np.lexsort((length, code))
    groups, owner = distinct(code[order])
    first = bounds(owner, len(groups))
    length = length[order]
    # Who is compared, in the numbers of the corpus.
    known = np.array([corpus.annotators.index(name) for name in counts.annotators], dtype=np.int64)
    both = np.flatnonzero((counts.spans_a > 0) & (counts.spans_b > 0))
    cell = counts.text[both] * n_labels + counts.label[both]
    marks = np.concatenate(
        [cell * n_annotators + known[side[both]] for side in (counts.a, counts.b)]
    )
    members = distinct(marks)[0]
    cells, number = distinct(members // n_annotators)
    begins = bounds(number, len(cells))
    place = np.searchsorted(groups, members)
    document_of = np.zeros(len(corpus.text_length), dtype=np.int64)
    document_of[counts.text] = counts.document
    first_text = np.searchsorted(corpus.text_document, corpus.text_document)
    for index, where in enumerate(cells.tolist()):
        text, label = divmod(where, n_labels)
        title = (
            corpus.documents[corpus.text_document[text]],
            str(text - first_text[text]),
            corpus.labels[label],
        )
        found = []
        for member in range(begins[index], begins[index + 1]):
            annotator = corpus.annotators[members[member] % n_annotators]
            group = place[member]
            lengths = length[first[group] : first[group + 1]]
            found.append(("\x1f".join((*title, annotator)), lengths))
        yield _Cell(int(document_of[text]), int(corpus.text_length[text]), found)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampler:
    """Draws random annotations of a corpus, and puts the observed ones beside them."""

    result: Agreement
    matched: Callable[[SpanGroups, Ints, Ints], Ints | Floats]
    key: int
    draws: int
    ties: str

    def run(self, corpus: Corpus) -> NullDistribution:
        """Text by text; documents are summed up as they are done."""
        n_documents = len(self.result.counts.documents)
        scores = list(self.result.by_document.items())
        overall, here = np.zeros(self.draws), np.zeros(self.draws)
        variance = np.zeros(n_documents)
        known: dict[tuple[object, ...], float] = {}
        covariances: _Covariances = {}
        documents: dict[str, NullDistribution] = {}

        def finish(upto: int) -> None:
            """Close the documents before this one; all but the first had nothing to draw."""
            while len(documents) < upto:
                name, score = scores[len(documents)]
                own = float(variance[len(documents)])
                found = self.summary(here, score, own, name)
                documents[name] = replace(found, samples=np.zeros(0))
                overall[:] += here
                here[:] = 0

        for cell in _cells(corpus, self.result):
            finish(cell.document)
            here += self.match(cell)
            if cell.problem not in known:
                known[cell.problem] = self.variance(cell, covariances)
            variance[cell.document] += known[cell.problem]
        finish(n_documents)
        whole = self.summary(overall, self.result.score, float(variance.sum()), "")
        return replace(whole, by_document=documents)

    def match(self, cell: _Cell) -> Floats:
        """What all pairs have in common, draw by draw."""
        model = self.result.settings.model
        streams = [_stream(self.key, name) for name, _ in cell.members]
        n_spans = sum(len(lengths) for _, lengths in cell.members)
        parts = []
        for size in blocks(self.draws, n_spans, cells=_DRAWS_AT_A_TIME):
            sides = [
                (STARTS[model](cell.n, lengths, size, stream), lengths)
                for (_, lengths), stream in zip(cell.members, streams, strict=True)
            ]
            found = np.zeros(size)
            for a, b in combinations(sides, 2):
                found += sampled_match(
                    cell.n, a, b, matched=self.matched, overlapping=model == "overlapping"
                )
            parts.append(found)
        return np.concatenate(parts)

    def variance(self, cell: _Cell, known: _Covariances) -> float:
        """The exact variance; nan where it is out of reach."""
        settings = self.result.settings
        counted = [np.unique(lengths, return_counts=True) for _, lengths in cell.members]
        if (settings.measure, settings.model) != ("token", "disjoint"):
            return nan
        if not all(is_within_reach(cell.n, *side) for side in counted):
            return nan
        team = []
        for (_, lengths), side in zip(cell.members, counted, strict=True):
            problem = cell.n, tuple(lengths.tolist())
            found = known.get(problem) or covariance(cell.n, *side)
            if cell.n <= _SHORT:
                known[problem] = found
            team.append(found)
        return team_variance(team)

    def summary(
        self, matched: Floats, score: Score, variance: float, name: str
    ) -> NullDistribution:
        """The distribution of a score, from the match in every draw."""
        settings = replace(
            self.result.settings,
            resamples=str(self.draws),
            seed=self.key,
            ties=None if self.ties == "counted" else self.ties,
        )
        size = score.size_a + score.size_b
        if not size:
            return NullDistribution(
                observed=nan, mean=nan, sd=nan, sd_is="exact",
                quantiles=dict.fromkeys(QUANTILES, nan), p_value=nan, p_error=nan,
                samples=np.zeros(0), settings=settings,
            )  # fmt: skip
        samples = 2 * matched / size
        exact = not np.isnan(variance)
        p_value = self.p_value(matched, score.matched, name)
        return NullDistribution(
            observed=score.observed,
            mean=score.chance,
            sd=2 * sqrt(variance) / size if exact else float(samples.std(ddof=1)),
            sd_is="exact" if exact else "sampled",
            quantiles=dict(zip(QUANTILES, np.quantile(samples, QUANTILES).tolist(), strict=True)),
            p_value=p_value,
            p_error=sqrt(p_value * (1 - p_value) / self.draws),
            samples=samples,
            settings=settings,
        )

    def p_value(self, matched: Floats, observed: float, name: str) -> float:
        """The share of draws that reach what was observed, itself included."""
        slack = 1e-12 * abs(observed)
        more = int(np.count_nonzero(matched > observed + slack))
        equal = int(np.count_nonzero(matched >= observed - slack)) - more
        share = 1.0 if self.ties == "counted" else float(_stream(self.key, name).random())
        return (more + share * (equal + 1)) / (self.draws + 1)


def _stream(key: int, name: str) -> np.random.Generator:
    """The random numbers that belong to a name."""
    from hashlib import blake2b  # noqa: PLC0415 - only for those who sample

    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.default_rng([key, int.from_bytes(digest, "little")])
