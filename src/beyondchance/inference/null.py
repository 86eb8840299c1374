"""What agreement random annotation would give: its whole distribution, not only its mean.

Every annotator's spans are placed at random, text by text, thousands of times: those of
each label on their own or all together, as the scope says, and spans inside others within
these. The mean is known exactly; so is the variance of the token match where spans of one label
are disjoint and texts are not too long. Each annotation of a text has random numbers of its
own, which depend on the seed and on names, so that parts of a corpus give the same draws as
the whole.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cache, partial
from itertools import combinations
from math import nan, sqrt
from typing import Any, Unpack

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.annotations.building import CORPUS
from beyondchance.checks import (
    checked_generator,
    checked_option,
    checked_share,
    checked_whole,
)
from beyondchance.core.estimates import sampled_match
from beyondchance.core.models import Model
from beyondchance.core.observed import Matched, shared_positions
from beyondchance.core.ragged import bounds, distinct
from beyondchance.core.resampling import blocks, places
from beyondchance.core.span_trees import Forest, Nodes, flattened
from beyondchance.core.variance import covariance, is_within_reach, team_variance
from beyondchance.errors import LengthsError, OptionError
from beyondchance.messages import Quote, Use
from beyondchance.numbers import in_digits
from beyondchance.options import (
    FEWEST_RESAMPLES,
    MOST_RESAMPLES,
    ScoredOptions,
    ScoringOptions,
    documented,
)
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.printed import Printed
from beyondchance.results.score import NOTHING_MARKED, Score
from beyondchance.scoring.answers import without_gold
from beyondchance.scoring.api import agreement
from beyondchance.scoring.counting import Placement
from beyondchance.scoring.data import scored_data
from beyondchance.scoring.marks import marked
from beyondchance.scoring.one_text import validated_text
from beyondchance.scoring.options import scoring_of
from beyondchance.settings import Settings
from beyondchance.types import Floats, Ints

TIES = ("counted", "randomised")
QUANTILES = (0.025, 0.5, 0.975)

_DRAWS_AT_A_TIME = 2**20
"""Starts of spans held at a time."""
_SHORT = 100
"""Positions of texts that are common enough, and small enough, to keep their covariances."""

_Covariances = dict[tuple[int, tuple[int, ...]], tuple[Floats, Floats]]


@dataclass(frozen=True, eq=False, slots=True, kw_only=True)
class NullDistribution(Printed):
    """The agreement (F1) of random annotations, next to the observed one.

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

    def __repr__(self) -> str:
        names = ("observed", "mean", "sd", "p_value")
        values = ", ".join(f"{name}={in_digits(getattr(self, name))}" for name in names)
        return f"NullDistribution({values})"

    @property
    def p_floor(self) -> float:
        """The smallest p-value that so many draws can show."""
        return 1 / ((self.settings.resamples or 0) + 1)

    @property
    def p_is_floor(self) -> bool:
        """Whether the p-value is the smallest that the draws can show, and may be smaller."""
        return self.p_value <= self.p_floor

    @property
    def reason(self) -> str | None:
        """Why there is no distribution, where there is none."""
        return NOTHING_MARKED if np.isnan(self.mean) else None

    def quantile(self, share: float) -> float:
        """Return the agreement that this share of random annotations stays below.

        Only for the whole; a document keeps no draws.
        """
        if not len(self.samples):
            raise OptionError("a document keeps no draws", expected="the distribution of the whole")
        level = checked_share("share", share, low=True, high=True)
        return float(np.quantile(self.samples, level))


def match_variance(n: int, lengths_a: ArrayLike, lengths_b: ArrayLike) -> float:
    """Compute the exact variance of the positions that two random annotators have in common.

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
    sides = [validated_text(n, lengths, "disjoint") for lengths in (lengths_a, lengths_b)]
    size = sides[0].n
    found = _variance(size, [side.lengths for side in sides], {})
    if np.isnan(found):
        raise LengthsError(
            f"a text of {size} positions with so many spans is too long for the exact variance",
            expected="a sentence or a paragraph",
            remedy="sample it with sample_arrangements",
        )
    return found


def _variance(n: int, sides: Sequence[Ints], known: _Covariances) -> float:
    """Compute the exact variance of the match of all pairs; nan where it is out of reach.

    Parameters
    ----------
    n : int
        Positions of the text.
    sides : sequence of arrays of int
        Lengths of the spans of each annotator.
    known : dict
        Covariances of short texts, which are looked up and added.
    """
    counted = [np.unique(lengths, return_counts=True) for lengths in sides]
    if not all(is_within_reach(n, *side) for side in counted):
        return nan
    team = []
    for lengths, side in zip(sides, counted, strict=True):
        problem = n, tuple(lengths.tolist())
        team.append(known.get(problem) or covariance(n, *side))
        if n <= _SHORT:
            known[problem] = team[-1]
    return team_variance(team)


@documented(ScoringOptions)
def null_distribution(
    data: Any,
    *others: Any,
    resamples: int = 9999,
    ties: str = "counted",
    **options: Unpack[ScoredOptions],
) -> NullDistribution:
    """Compute the agreement that random annotation would give in these texts.

    Parameters
    ----------
    data, *others
        As in `agreement`.
    resamples : int
        How often to draw.
    ties : {"counted", "randomised"}
        Draws that agree as much as was observed count as reaching it, so that the p-value
        is never too small; or a random share of them does, so that p-values of random
        annotations are spread evenly between 0 and 1.
    {options}
    {others} : optional
        How these become a corpus (see `corpus`), and how large files are counted (see `agreement`).

    Returns
    -------
    NullDistribution

    Examples
    --------
    One token of four is marked by either: a quarter of all random annotations agree.

    >>> tags = [["B-P", "O", "O", "O"]]
    >>> found = null_distribution(tags, tags, seed=1)
    >>> found.observed, found.mean, round(found.sd, 4), found.sd_is
    (1.0, 0.25, 0.433, 'exact')
    >>> abs(found.p_value - 0.25) < 4 * found.p_error
    True
    """
    corpus, gold, scoring = scored_data(data, others, options)
    draws = checked_whole("resamples", resamples, least=FEWEST_RESAMPLES, most=MOST_RESAMPLES)
    checked_option("ties", ties, TIES)
    if corpus.unit == CORPUS:
        raise OptionError(
            "random annotations are drawn text by text, and the unit is ",
            Quote(corpus.unit),
            remedy=("read the annotations with ", Use("unit", "document")),
        )
    if gold is not None and len(corpus.annotators) > 2:
        raise OptionError(
            f"random annotations are drawn of all {len(corpus.annotators)} annotators, and ",
            *(Use("gold", is_name=True), " asks for pairs with one of them"),
            expected="the gold standard and one other annotator",
            remedy="select(annotators=[...]) keeps two",
        )
    seed = scoring.pop("seed", None)
    rng = checked_generator(seed)
    # Without a seed one is drawn, so that the signature brings the same digits again. Where
    # chance is estimated too, it begins with the same seed, because a signature has one.
    is_drawn = seed is None or isinstance(seed, np.random.Generator)
    key = int(rng.integers(2**63)) if is_drawn else int(seed)
    if "seed" in scoring_of(scoring).measure.parameters:
        scoring["seed"] = key
    resolved = scoring_of(scoring)
    compared = without_gold(corpus) if gold is None else corpus.with_gold(gold)
    result = agreement(corpus, gold=gold, **scoring)
    # The gold standard comes first there, and annotators are known by their numbers here.
    result = replace(result, counts=result.counts.ordered(compared.annotators))
    sampler = _Sampler(
        result=result,
        matched=resolved.measure.matched,
        model=resolved.model,
        key=key,
        draws=draws,
        ties=ties,
    )
    spans = marked(compared, resolved.scope)
    return sampler.run(_cells(Placement(spans, resolved.model), result.counts.each_document()))


@dataclass(frozen=True, slots=True)
class _Line:
    """Spans of one annotator that are placed together.

    Attributes
    ----------
    nodes : Nodes
    kinds : mapping of int to a choice of spans
        The spans of each kind: only spans of one kind, which is their label where labels share a
        line, are compared.
    are_disjoint : bool
        Whether no two of them ever overlap.
    """

    nodes: Nodes
    kinds: Mapping[int, Ints | slice]
    are_disjoint: bool


def _line(trees: Forest, *, is_independent: bool) -> _Line:
    nodes, kind = flattened(trees)
    numbers = [number for number in distinct(kind)[0].tolist() if number]
    kinds: dict[int, Ints | slice] = {numbers[0]: slice(None)}
    if len(numbers) > 1 or not kind.all():
        kinds = {number: np.flatnonzero(kind == number) for number in numbers}
    are_disjoint = bool((nodes.parent < 0).all()) and not (is_independent and len(kind) > 1)
    return _Line(nodes, kinds, are_disjoint)


@dataclass(frozen=True, slots=True)
class _Cell:
    """What is drawn at a time: a text, or one label in it, and who marked something there.

    Attributes
    ----------
    n : int
        Positions of the text.
    members : list of (str, line)
        For each annotator, the name that random numbers depend on, and the spans.
    """

    n: int
    members: list[tuple[str, _Line]]

    @property
    def are_disjoint(self) -> bool:
        """Whether no two spans of one annotator ever overlap."""
        return all(line.are_disjoint for _, line in self.members)


def _cells(placed: Placement, counts: Counts) -> Iterator[list[_Cell]]:
    """List what two annotators or more marked in each document, in the order of `places`."""
    spans, model, structure = placed.spans, placed.model, placed.structure
    corpus = spans.corpus
    n_labels, n_annotators = len(spans.labels), len(corpus.annotators)
    # Labels that share a line are drawn at once, others one by one.
    is_joint = spans.scope.is_joint and not model.is_independent
    # Only spans of one kind are compared: on a joint line, those of one label.
    kind = spans.label[spans.owner()] * is_joint + 1
    # The groups of spans that are compared with others, and their lines. Spans that no other
    # annotator marked in the same text and label match nothing, wherever they are placed.
    where = (counts.text * n_labels + counts.label) * n_annotators
    code = (spans.text * n_labels + spans.label) * n_annotators + spans.annotator
    sides = np.stack([where + counts.a, where + counts.b])
    groups = np.searchsorted(code, sides[:, np.isin(sides, code).all(axis=0)].ravel())
    lines, number = distinct(structure.line[spans.first[groups]])
    # Any group on a line tells its text and annotator.
    holder = np.zeros(len(lines), dtype=np.int64)
    holder[number] = groups
    cell = spans.text[holder] * n_labels + (0 if is_joint else spans.label[holder])
    cells, number = distinct(cell)
    first = bounds(number, len(cells))
    line_of = cache(partial(_line, is_independent=model.is_independent))
    document_of = np.zeros(len(corpus.text_length), dtype=np.int64)
    document_of[counts.text] = counts.document_places[counts.document]
    number_of = corpus.number_in_document(np.arange(len(corpus.text_length)))
    annotator = places(corpus.annotators)[spans.annotator[holder]]
    # Sums of fractions depend on their order, in the last digit.
    document = document_of[cells // n_labels]
    order = np.argsort(document, kind="stable")

    def cell_of(index: int) -> _Cell:
        text, label = divmod(int(cells[index]), n_labels)
        title = (
            corpus.documents[corpus.text_document[text]],
            str(number_of[text]),
            "" if is_joint else spans.labels[label],
        )
        members = [
            (
                "\x1f".join((*title, corpus.annotators[spans.annotator[holder[member]]])),
                line_of(placed.trees(int(lines[member]), kind.__getitem__)),
            )
            for member in sorted(range(first[index], first[index + 1]), key=annotator.__getitem__)
        ]
        return _Cell(int(corpus.text_length[text]), members)

    for own in np.split(order, bounds(document[order], len(counts.documents))[1:-1]):
        yield [cell_of(index) for index in own.tolist()]


@dataclass(frozen=True, slots=True, kw_only=True)
class _Sampler:
    """Draws random annotations of a corpus, and compares the observed ones with them."""

    result: Agreement
    matched: Matched
    model: Model
    key: int
    draws: int
    ties: str

    def run(self, documents: Iterable[Sequence[_Cell]]) -> NullDistribution:
        """Draw one document after the other, so that the draws of one are held at a time.

        Texts are independent: their matches add up draw by draw, and so do their variances.
        """
        by_document, counts = self.result.by_document, self.result.counts.each_document()
        names = [counts.documents[i] for i in np.argsort(counts.document_places).tolist()]
        overall = np.zeros(self.draws)
        variances: list[float] = []
        known: _Covariances = {}
        found: dict[str, NullDistribution] = {}
        for name, cells in zip(names, documents, strict=True):
            here = sum(map(self.match, cells), np.zeros(self.draws))
            variances.append(sum((self.variance(cell, known) for cell in cells), 0.0))
            summary = self.summary(here, by_document[name], variances[-1], name)
            found[name] = replace(summary, samples=np.zeros(0))
            overall += here
        total = self.summary(overall, self.result.score, float(np.sum(variances)), "")
        return replace(total, by_document={name: found[name] for name in by_document})

    def match(self, cell: _Cell) -> Floats:
        """Compute what all pairs have in common, draw by draw."""
        generators = [_generator(self.key, name) for name, _ in cell.members]
        n_spans = sum(len(line.nodes.length) for _, line in cell.members)
        parts = []
        for size in blocks(self.draws, n_spans, cells=_DRAWS_AT_A_TIME):
            sides = []
            for (_, line), rng in zip(cell.members, generators, strict=True):
                starts, length = self.model.draw(cell.n, line.nodes, size, rng), line.nodes.length
                sides.append({kind: (starts[:, i], length[i]) for kind, i in line.kinds.items()})
            shared = np.zeros(size)
            for a, b in combinations(sides, 2):
                for kind in sorted(a.keys() & b.keys()):
                    shared += sampled_match(
                        *(cell.n, a[kind], b[kind]),
                        matched=self.matched,
                        are_disjoint=cell.are_disjoint,
                    )
            parts.append(shared)
        return np.concatenate(parts)

    def variance(self, cell: _Cell, known: _Covariances) -> float:
        """Compute the exact variance; nan where it is out of reach."""
        kinds = {kind for _, line in cell.members for kind in line.kinds}
        # Known for positions that both cover, where the spans of one line are disjoint and all
        # of one kind.
        if self.matched is not shared_positions or len(kinds) > 1 or not cell.are_disjoint:
            return nan
        return _variance(cell.n, [line.nodes.length for _, line in cell.members], known)

    def summary(
        self, matched: Floats, score: Score, variance: float, name: str
    ) -> NullDistribution:
        """Compute the distribution of a score, from the match in every draw."""
        settings = self.result.settings.replaced(
            resamples=self.draws,
            seed=self.key,
            ties=None if self.ties == "counted" else self.ties,
        )
        # Everything is undefined where nothing was marked.
        size = score.size_a + score.size_b or nan
        samples = 2 * matched / size
        exact = not np.isnan(variance)
        p_value = nan if np.isnan(size) else self.p_value(matched, score.matched, name)
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
        """Compute the share of draws that reach what was observed, itself included."""
        slack = 1e-12 * abs(observed)
        more = int(np.count_nonzero(matched > observed + slack))
        equal = int(np.count_nonzero(matched >= observed - slack)) - more
        share = 1.0 if self.ties == "counted" else float(_generator(self.key, name).random())
        return (more + share * (equal + 1)) / (self.draws + 1)


def _generator(key: int, name: str) -> np.random.Generator:
    """Return the random numbers that belong to a name."""
    from hashlib import blake2b  # noqa: PLC0415 - only for those who sample

    digest = blake2b(name.encode("utf-8", "surrogatepass"), digest_size=16).digest()
    return np.random.default_rng([key, int.from_bytes(digest, "little")])
