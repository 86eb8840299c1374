"""What agreement random annotation would give: its whole distribution, not only its mean.

Every annotator's spans are put down at random, text by text, thousands of times: those of
each label on their own or all together, as the scope says, and spans inside others within
these. The mean is known exactly; so is the variance of the token match where spans of one label
are disjoint and texts are not too long. Each annotation of a text draws from a stream of its
own, which depends on the seed and on names, so that parts of a corpus give the same draws as
the whole.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator, Mapping
from dataclasses import dataclass, field, replace
from functools import cache
from itertools import combinations
from math import nan, sqrt
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_option
from beyondchance.core.bootstrap import blocks
from beyondchance.core.draws import nested_starts, overlapping_starts, sampled_match
from beyondchance.core.nesting import Forest, flattened
from beyondchance.core.observed import SpanGroups
from beyondchance.core.ragged import bounds, distinct
from beyondchance.core.variance import covariance, is_within_reach, team_variance
from beyondchance.errors import DataError, LengthsError, OptionError
from beyondchance.options import CustomMeasure
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.resampling import checked_resamples, checked_rng
from beyondchance.results.score import NOTHING_MARKED, Score
from beyondchance.scoring.api import agreement, without_gold
from beyondchance.scoring.counting import Layers, layers_of, trees_on_lines
from beyondchance.scoring.marks import checked_nesting, marked
from beyondchance.scoring.one_text import validated_text
from beyondchance.scoring.options import chosen_measure
from beyondchance.settings import Settings
from beyondchance.types import Floats, Ints

TIES = ("counted", "randomised")
QUANTILES = (0.025, 0.5, 0.975)

_DRAWS_AT_A_TIME = 2**20
"""Starts of spans held at a time."""
_SHORT = 100
"""Positions of texts that are common enough, and small enough, to keep their covariances."""

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
        As in `agreement`.
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
    fitting, chosen = result.settings.model, chosen_measure(measure, **sampling)
    spans = marked(without_gold(corpus), scope)
    layers = layers_of(
        spans,
        checked_nesting(spans, fitting),
        chosen.measure,
        overlapping=fitting == "overlapping",
    )
    sampler = _Sampler(
        result=result,
        matched=chosen.rule(fitting).matched,
        overlapping=layers.overlapping,
        key=key,
        draws=draws,
        ties=ties,
    )
    return sampler.run(_cells(layers, result.counts))


@dataclass(frozen=True, slots=True)
class _Line:
    """Spans of one annotator that are shuffled together.

    Attributes
    ----------
    trees : Forest
        Each span with the number of its kind: only spans of one kind, a label and a layer,
        are compared.
    lengths, parents : arrays of int, shape (spans,)
        The length of each span, and the one in which it lies, which comes before it; -1 for
        the text.
    kinds : mapping of int to a choice of spans
        The spans of each kind.
    """

    trees: Forest
    lengths: Ints
    parents: Ints
    kinds: Mapping[int, Ints | slice]


def _line(trees: Forest) -> _Line:
    lengths, kind, parents = np.array(flattened(trees)).T
    found = distinct(kind)[0].tolist()
    kinds = {which: np.flatnonzero(kind == which) for which in found}
    return _Line(trees, lengths, parents, kinds if len(found) > 1 else {found[0]: slice(None)})


@dataclass(frozen=True, slots=True)
class _Cell:
    """What is drawn at a time: a text, or one label in it, and those who marked something.

    Attributes
    ----------
    document : int
        Among those that were compared.
    n : int
        Positions of the text.
    members : list of (name of the stream, line)
    """

    document: int
    n: int
    members: list[tuple[str, _Line]]

    @property
    def problem(self) -> tuple[object, ...]:
        """Equal cells have equal distributions."""
        return self.n, *sorted(line.trees for _, line in self.members)


def _cells(layers: Layers, counts: Counts) -> Iterator[_Cell]:
    """What two annotators or more marked, document by document."""
    spans, corpus = layers.spans, layers.spans.corpus
    n_labels, n_annotators = max(len(spans.labels), 1), max(len(corpus.annotators), 1)
    # Labels that share a line are drawn at once, others one by one.
    is_joint = spans.scope == "joint" and not layers.overlapping
    kind = layers.layer
    if is_joint:
        kind = kind + spans.label[spans.owner()] * (int(kind.max(initial=0)) + 1)
    # The groups of spans that have somebody to be compared with, and their lines.
    both = np.flatnonzero((counts.spans_a > 0) & (counts.spans_b > 0))
    where = counts.text[both] * n_labels + counts.label[both]
    code = (spans.text * n_labels + spans.label) * n_annotators + spans.annotator
    groups = np.searchsorted(
        code, np.concatenate([where * n_annotators + side[both] for side in (counts.a, counts.b)])
    )
    lines, number = distinct(layers.line()[spans.first[groups]])
    holder = np.zeros(len(lines), dtype=np.int64)
    holder[number] = groups
    cell = spans.text[holder] * n_labels + (0 if is_joint else spans.label[holder])
    cells, number = distinct(cell)
    first = bounds(number, len(cells))
    trees, line_of = trees_on_lines(layers), cache(_line)
    document_of = np.zeros(len(corpus.text_length), dtype=np.int64)
    document_of[counts.text] = counts.document
    first_text = np.searchsorted(corpus.text_document, corpus.text_document)
    for index, place in enumerate(cells.tolist()):
        text, label = divmod(place, n_labels)
        title = (
            corpus.documents[corpus.text_document[text]],
            str(text - first_text[text]),
            "" if is_joint else spans.labels[label],
        )
        members = [
            (
                "\x1f".join((*title, corpus.annotators[spans.annotator[holder[member]]])),
                line_of(trees(int(lines[member]), kind.__getitem__)),
            )
            for member in range(first[index], first[index + 1])
        ]
        yield _Cell(int(document_of[text]), int(corpus.text_length[text]), members)


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampler:
    """Draws random annotations of a corpus, and puts the observed ones beside them."""

    result: Agreement
    matched: Callable[[SpanGroups, Ints, Ints], Ints | Floats]
    overlapping: bool
    key: int
    draws: int
    ties: str

    def run(self, cells: Iterable[_Cell]) -> NullDistribution:
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

        for cell in cells:
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
        streams = [_stream(self.key, name) for name, _ in cell.members]
        n_spans = sum(len(line.lengths) for _, line in cell.members)
        parts = []
        for size in blocks(self.draws, n_spans, cells=_DRAWS_AT_A_TIME):
            sides = [
                self.drawn(cell.n, line, size, stream)
                for (_, line), stream in zip(cell.members, streams, strict=True)
            ]
            found = np.zeros(size)
            for a, b in combinations(sides, 2):
                for kind in a:
                    if kind in b:
                        found += sampled_match(
                            cell.n,
                            a[kind],
                            b[kind],
                            matched=self.matched,
                            overlapping=self.overlapping,
                        )
            parts.append(found)
        return np.concatenate(parts)

    def drawn(
        self, n: int, line: _Line, size: int, rng: np.random.Generator
    ) -> dict[int, tuple[Ints, Ints]]:
        """Random starts of the spans of each kind, and their lengths."""
        if self.overlapping:
            starts = overlapping_starts(n, line.lengths, size, rng)
        else:
            starts = nested_starts(n, line.lengths, line.parents, size, rng)
        return {
            kind: (starts[:, chosen], line.lengths[chosen]) for kind, chosen in line.kinds.items()
        }

    def variance(self, cell: _Cell, known: _Covariances) -> float:
        """The exact variance; nan where it is out of reach."""
        kinds = {kind for _, line in cell.members for kind in line.kinds}
        if self.result.settings.measure != "token" or self.overlapping or len(kinds) > 1:
            return nan
        # Spans of a single kind are disjoint, and share their lines with no others.
        sides = [np.unique(line.lengths, return_counts=True) for _, line in cell.members]
        if not all(is_within_reach(cell.n, *side) for side in sides):
            return nan
        team = []
        for (_, line), side in zip(cell.members, sides, strict=True):
            problem = cell.n, tuple(line.lengths.tolist())
            found = known.get(problem) or covariance(cell.n, *side)
            if cell.n <= _SHORT:
                known[problem] = found
            team.append(found)
        return team_variance(team)

    def summary(
        self, matched: Floats, score: Score, variance: float, name: str
    ) -> NullDistribution:
        """The distribution of a score, from the match in every draw."""
        settings = self.result.settings.replaced(
            resamples=self.draws,
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
