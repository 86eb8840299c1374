"""Test whether a model may replace people, by chance-corrected agreement pooled over documents.

For each person j: how well j agrees with the other people, and how well the model does in the place
of j, with the same others in the same documents. The model has to keep a share of the people's
agreement, and to lose less than a margin of it, on average over people.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import inf, nan
from typing import Any, Unpack

import numpy as np

from beyondchance.annotations.corpus import Corpus, only
from beyondchance.annotations.names import kept
from beyondchance.checks import checked_list, checked_option, checked_share
from beyondchance.core.ragged import is_among
from beyondchance.core.resampling import effective_number
from beyondchance.errors import DataError, OptionError
from beyondchance.inference.ceilings import Ceiling, ceiling_of, ceiling_sums
from beyondchance.inference.estimates import (
    FEW_DOCUMENTS,
    Estimate,
    adjusted,
    largest,
)
from beyondchance.messages import Quote, given
from beyondchance.numbers import in_digits
from beyondchance.options import BLIND, CorpusOptions
from beyondchance.results.adding import numbered, numbers
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import jackknifed, score_of
from beyondchance.scoring.api import agreement
from beyondchance.scoring.data import corpus_of
from beyondchance.scoring.options import scoring_of
from beyondchance.settings import Settings
from beyondchance.types import Bools, Floats

FEW_HUMANS = 3
"""With fewer people, a person's habits cannot be separated from the model's."""
FAILURES = 3
"""Documents in which a model at the margin has to fail, for the test to see such failures."""
POWER = 0.8
"""How often a test should succeed with the number of documents that is said to be needed."""
_COPY, _COPIED_DOCUMENTS = 0.25, 5
"""A model copies a person if it is short of full agreement by less than this share of what people
are short of it, in at least so many documents."""


@dataclass(frozen=True, eq=False, slots=True)
class Scores:
    """Corrected agreement of a model and of people.

    Attributes
    ----------
    values : array of float, shape (1 + documents, 2)
        The model's and the people's: of all documents, and then without each.
    """

    values: Floats

    @classmethod
    def of(cls, tables: Floats) -> Scores:
        """Compute the means over people: shape (people, documents, 2, 4).

        People with whom the model shares no document with marks are left out.
        """
        is_marked = np.asarray(np.any(tables[..., 2] != 0, axis=2))
        own = tables[is_marked.any(axis=1)][:, is_marked.any(axis=0)]
        if not own.size:
            return cls(np.full((1, 2), nan))
        return cls(jackknifed(own.swapaxes(0, 1)).mean(axis=1))

    def estimate(self, *, model: float = 0, human: float = 0) -> Estimate:
        """Estimate a weighted sum of the two scores."""
        # A score that does not count may be undefined.
        found = np.zeros(len(self.values))
        for i, weight in enumerate((model, human)):
            if weight:
                found += weight * self.values[:, i]
        return Estimate.of(float(found[0]), found[1:])

    def largest_share(self, confidence: float) -> float:
        """Return the largest share of the people's score that the model is shown to keep.

        Nan where the interval of the people's score includes 0 or less, or where the model is not
        shown to agree better than chance.
        """

        def is_shown(share: float) -> bool:
            return self.estimate(model=1, human=-share).p_positive() <= 1 - confidence

        if not (self.estimate(human=1).interval(confidence)[0] > 0 and is_shown(0)):
            return nan
        low, high = 0.0, 1.0
        while is_shown(high):
            low, high = high, 2 * high
        while high - low > 1e-9:
            middle = (low + high) / 2
            low, high = (middle, high) if is_shown(middle) else (low, middle)
        return low


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlaceOf:
    """The model in the place of one person, or of each on average.

    Attributes
    ----------
    human : float
        The corrected agreement of the person with the others.
    model : float
        That of the model with the same others, in the same documents.
    estimate : Estimate
        The second minus the first.
    confidence : float
    conditions : mapping of str to Estimate
        Values that all have to be shown to be positive: ``keep``, the model minus the share of the
        person; ``margin``, the difference plus the margin; ``chance``, the model.
    p : float
        The largest one-sided p-value of the conditions.
    is_worse : bool
        Whether the interval of a condition other than ``chance`` is below 0.
    """

    human: float
    model: float
    estimate: Estimate
    confidence: float
    conditions: Mapping[str, Estimate]
    p: float
    is_worse: bool

    @classmethod
    def of(cls, scores: Scores, asked: Asked) -> InPlaceOf:
        """Compare the two scores."""
        found = scores.estimate(model=1, human=-1)
        conditions = {"chance": scores.estimate(model=1)}
        if asked.margin is not None:
            conditions["margin"] = replace(found, value=found.value + asked.margin)
        if asked.keep is not None:
            conditions["keep"] = scores.estimate(model=1, human=-asked.keep)
        model, human = scores.values[0].tolist()
        p = {name: one.p_positive() for name, one in conditions.items()}
        # The upper end of a two-sided interval is below 0.
        most = (1 + asked.confidence) / 2
        return cls(
            human=human,
            model=model,
            estimate=found,
            confidence=asked.confidence,
            conditions=conditions,
            p=float(np.max([*p.values()])),
            is_worse=any(
                name != "chance" and one.value < 0 and p[name] > most
                for name, one in conditions.items()
            ),
        )

    @property
    def difference(self) -> float:
        """The model minus the person."""
        return self.estimate.value

    @property
    def interval(self) -> tuple[float, float]:
        """Of the difference."""
        return self.estimate.interval(self.confidence)

    @property
    def n_documents(self) -> int:
        """Documents with marks."""
        return self.estimate.n_documents


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDifference:
    """Two models in the place of the same people: the first minus the second, on average.

    The p-value is by Holm's method for all pairs of models.
    """

    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, kw_only=True)
class Asked:
    """What a model has to show."""

    keep: float | None = 0.9
    margin: float | None = 0.05
    blind: str = "unknown"
    confidence: float = 0.95


@dataclass(frozen=True, eq=False, kw_only=True)
class Replacement(Asked, Printed):
    """Whether a model may replace people.

    Attributes
    ----------
    model : str
    humans : tuple of str
    keep, margin : float, optional
        The share of the people's agreement that the model has to keep, and how much of it it may
        lose; None if not asked for.
    blind : {"yes", "no", "unknown"}
        Whether the people annotated without seeing what the model had marked.
    confidence : float
        Of intervals, two-sided; tests are one-sided, at 1 minus this.
    pooled : Estimate
        The corrected agreement of all people with each other.
    unjudged : tuple of str
        People who are not shown to agree with the others better than chance. Without them there
        is a verdict if more than half of the people, at least two, are left.
    has_verdict : bool
        Whether these are, and the pooled agreement is shown to be better than chance.
    mean : InPlaceOf
        On average over the people judged.
    by_human : mapping of str to InPlaceOf
        The people judged; all people where there is no verdict.
    effective_documents : float
        How many documents of one size would weigh as evenly as these: (ΣD)²/ΣD², with D what each
        of them adds to the people's largest possible agreement beyond chance.
    copied : tuple of str
        People of whom the model looks like a copy.
    models : mapping of str to Replacement
        All models that were asked for, this one included, the best first.
    differences : mapping of (str, str) to ModelDifference
        Between each two of them.
    settings : Settings
    corpus : Corpus
    """

    model: str
    humans: tuple[str, ...]
    pooled: Estimate
    unjudged: tuple[str, ...]
    has_verdict: bool
    mean: InPlaceOf
    by_human: Mapping[str, InPlaceOf]
    scores: Scores = field(repr=False)
    effective_documents: float
    copied: tuple[str, ...]
    settings: Settings
    corpus: Corpus = field(repr=False)
    sums: PairSums = field(repr=False)
    models: Mapping[str, Replacement] = field(default_factory=dict)
    differences: Mapping[tuple[str, str], ModelDifference] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Replacement({self.model!r} for {len(self.humans)} people: {self.verdict}, mean "
            f"difference {in_digits(self.mean.difference)})"
        )

    @property
    def verdict(self) -> str:
        """``shown``, ``worse``, ``not shown`` or ``no verdict``.

        With fewer than 20 documents, ``would pass`` and ``would fail`` for the first two.
        """
        if not self.has_verdict:
            return "no verdict"
        if self.mean.p <= 1 - self.confidence:
            return "would pass" if self.has_few_documents else "shown"
        if self.mean.is_worse:
            return "would fail" if self.has_few_documents else "worse"
        return "not shown"

    @property
    def p_every(self) -> float:
        """The p-value of being worse than at least one person judged; nan without a verdict."""
        if not self.has_verdict:
            return nan
        return float(np.max([one.p for one in self.by_human.values()]))

    @property
    def p_values(self) -> dict[str, float]:
        """For each person judged, Holm's p-value; nan without a verdict."""
        people = self.by_human.items()
        return adjusted({name: one.p if self.has_verdict else nan for name, one in people})

    @cached_property
    def keeps(self) -> float:
        """The largest share of the people's agreement that is shown to be kept; nan if none."""
        return self.scores.largest_share(self.confidence) if self.has_verdict else nan

    @cached_property
    def documents_needed(self) -> int | None:
        """How many documents would show it of a model as good as the people, in 80 % of studies.

        None if no number would.
        """
        return largest(
            replace(x, value=x.value - self.mean.difference).documents(self.confidence, POWER)
            for x in self.mean.conditions.values()
        )

    @property
    def n_documents(self) -> int:
        """Documents with marks that were compared."""
        return self.mean.n_documents

    @cached_property
    def ceiling(self) -> Ceiling:
        """How high the model's score can get."""
        return self.sums.ceiling(self.model, tuple(self.by_human), self.confidence)

    @property
    def is_starred(self) -> bool:
        """Whether failures of the model in whole documents could have been missed."""
        losses = [] if self.keep is None else [1 - self.keep]
        if self.margin is not None and self.mean.human > 0:
            losses.append(self.margin / self.mean.human)
        return not self.effective_documents * min(losses, default=inf) >= FAILURES

    @property
    def has_few_documents(self) -> bool:
        """Whether there are too few documents to show anything."""
        return self.n_documents < FEW_DOCUMENTS

    @property
    def has_few_humans(self) -> bool:
        """Whether there are so few people that habits of one of them decide."""
        return len(self.by_human) < FEW_HUMANS


def replacement(
    data: Any,
    *others: Any,
    model: str | Sequence[str],
    humans: Sequence[str] | None = None,
    keep: float | None = 0.9,
    margin: float | None = 0.05,
    blind: str = "unknown",
    measure: str = "token",
    scope: str = "label",
    chance: str = "uniform",
    confidence: float = 0.95,
    **options: Unpack[CorpusOptions],
) -> Replacement:
    """Test whether a model may replace people, by chance-corrected agreement.

    For each person, how well the person agrees with the others and how well the model does in
    that place, over the documents that both annotated. On average over people, the model has to be
    shown to keep a share of their agreement, to lose less than a margin of it, and to agree better
    than chance. There is no verdict unless the people are shown to agree better than chance. A
    model that marks nothing never passes; documents in which nobody marked anything change no
    number.

    Parameters
    ----------
    data, *others
        As in `agreement`.
    model : str or sequence of str
        The model, or several, which are then compared with one another.
    humans : sequence of str, optional
        The people; by default all other annotators but a gold standard.
    keep : float, optional
        The share of the people's corrected agreement that the model has to keep; None for no such
        test. It is the stricter one where people agree less than ``margin / (1 - keep)``.
    margin : float, optional
        How much lower than the people's the model's corrected agreement may be; None for no such
        test.
    blind : {"yes", "no", "unknown"}
        Whether the people annotated without seeing what the model had marked. The data cannot
        show it; the result repeats it.
    confidence : float
        Of intervals, two-sided; tests are one-sided, at 1 minus this.
    measure, scope, chance : str
        How to score, as in `agreement`. With chance by ``shapes``, what is compared is skill.
    **options
        How these become a corpus (see `corpus`).

    Returns
    -------
    Replacement
        Of the first model; `models` has all of them.

    Raises
    ------
    DataError
        For fewer than two people, or a model that shares no document with two of them.

    Examples
    --------
    Three annotators, of whom cleo is taken for a model; twelve documents are too few.

    >>> from beyondchance import example
    >>> found = replacement(example(), model="cleo", blind="yes")
    >>> {name: round(one.difference, 3) for name, one in found.by_human.items()}
    {'ada': 0.039, 'ben': 0.01}
    >>> round(found.mean.difference, 3), round(found.keeps, 2), found.verdict
    (0.025, 0.97, 'would pass')
    """
    corpus = corpus_of(data, others, options)
    scoring = {"measure": measure, "scope": scope, "chance": chance}
    scoring_of(scoring, is_informed=True)
    models = checked_list("model", model)
    people = _checked_names(corpus, models, humans)
    checked_share("confidence", confidence)
    checked_option("blind", blind, BLIND)
    for name, value in (("keep", keep), ("margin", margin)):
        if value is not None:
            checked_share(name, value, low=True, high=True)
    if keep is None and margin is None:
        raise OptionError("keep and margin are both None", expected="at least one of the tests")
    asked = Asked(keep=keep, margin=margin, blind=blind, confidence=confidence)
    table = PairSums.of(corpus, people, models, scoring)
    found = [table.replacement(name, asked) for name in models]
    best_first = sorted(found, key=lambda item: -np.nan_to_num(item.mean.difference, nan=-inf))
    between = {
        (one.model, two.model): table.between(one, two) for one, two in combinations(best_first, 2)
    }
    p = adjusted({names: x.p_of_zero() for names, x in between.items()})
    return replace(
        found[0],
        models={item.model: item for item in best_first},
        differences={
            names: ModelDifference(difference=x.value, interval=x.interval(confidence), p=p[names])
            for names, x in between.items()
        },
    )


def _checked_names(
    corpus: Corpus, models: Sequence[str], humans: Sequence[str] | None
) -> tuple[str, ...]:
    """Check the names, and return the people in the order of the corpus."""
    if not models:
        raise OptionError("no model is named", expected="at least one of the annotators")
    if isinstance(humans, str):
        raise OptionError(*given("humans", humans), expected="a list of annotators")
    for kind, names in (("model", models), ("human", humans or ())):
        for name in names:
            checked_option(kind, name, corpus.annotators, are_data=True)
            if kind == "human" and name in models:
                raise OptionError(Quote(name), " is a model and a human", expected="one of them")
    if len(set(models)) < len(models):
        raise OptionError("a model is named twice", expected="each once")
    wanted = set(corpus.annotators) - {corpus.gold} if humans is None else set(humans)
    people = tuple(name for name in corpus.annotators if name in wanted - set(models))
    if len(people) < 2:
        raise DataError(
            f"{len(people)} of the annotators are people",
            expected="two at least, because each is compared with the others",
        )
    return people


@dataclass(frozen=True, eq=False)
class PairSums:
    """Sums of every pair in every document.

    Attributes
    ----------
    corpus : Corpus
        Of people and models.
    humans : tuple of str
    documents : tuple of str
        Those compared.
    sums : mapping of (str, str) to array of float, shape (documents, 4)
        Of each two, in either order; 0 where one of them did not annotate.
    present : mapping of str to array of bool, shape (documents,)
        Who annotated what.
    scoring : mapping
    settings : Settings
    ceilings : dict
        Sums of the ceilings of people in some documents: most models have the same.
    """

    corpus: Corpus
    humans: tuple[str, ...]
    documents: tuple[str, ...]
    sums: Mapping[tuple[str, str], Floats]
    present: Mapping[str, Bools]
    scoring: Mapping[str, Any]
    settings: Settings
    ceilings: dict[object, Mapping[str, Floats]] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        humans: tuple[str, ...],
        models: Sequence[str],
        scoring: Mapping[str, Any],
    ) -> PairSums:
        """Score all pairs."""
        chosen = [name for name in corpus.annotators if name in {*humans, *models}]
        part = replace(only(corpus, chosen), gold=None)
        result = agreement(part, **scoring)
        counts = result.counts
        n = len(counts.documents)
        group = counts.pair * n + counts.document
        sums = counts.sums_of(group, counts.pairs.shape[1] * n).reshape(-1, n, 4)
        found = dict(zip(counts.by_pair(), sums, strict=True))
        rows = numbers(counts.documents, numbered(part.documents))
        document, who = part.annotation_document, part.annotation_annotator
        return cls(
            corpus=replace(part, notes=(*part.notes, *result.notes)),
            humans=humans,
            documents=counts.documents,
            sums=found | {pair[::-1]: own for pair, own in found.items()},
            present={
                name: is_among(rows, document[who == i]) for i, name in enumerate(part.annotators)
            },
            scoring=scoring,
            settings=result.settings,
        )

    def sums_with(self, who: str, others: Sequence[str]) -> Floats:
        """Return the sums of an annotator with several others: shape (documents, 4)."""
        found = np.zeros((len(self.documents), 4))
        for other in others:
            if (own := self.sums.get((who, other))) is not None:
                found += own
        return found

    def in_places(self, model: str, team: Sequence[str]) -> Floats:
        """Return the model, and each person, with the others: shape (people, documents, 2, 4).

        Others are those of the team who annotated the document with both.
        """
        found = np.zeros((len(team), len(self.documents), 2, 4))
        for table, person in zip(found, team, strict=True):
            others = [other for other in team if other != person]
            table[:, 0] = self.sums_with(model, others)
            table[:, 1] = self.sums_with(person, others)
            table[~(self.present[model] & self.present[person])] = 0
        return found

    def replacement(self, model: str, asked: Asked) -> Replacement:
        """Compare one model with every person."""
        level = 1 - asked.confidence
        tables = self.in_places(model, self.humans)
        if not tables.any():
            raise DataError(
                *("model ", Quote(model), " shares no document with marks with two people"),
                expected="documents that two people annotated, too",
            )
        pooled = Scores.of(tables.sum(axis=0, keepdims=True)).estimate(human=1)
        agree = [Scores.of(tables[[i]]).estimate(human=1) for i in range(len(tables))]
        judged = tuple(
            name for name, own in zip(self.humans, agree, strict=True) if own.p_positive() <= level
        )
        n_compared = sum(own.n_documents > 0 for own in agree)
        has_verdict = pooled.p_positive() <= level and len(judged) >= max(2, n_compared // 2 + 1)
        team = judged if has_verdict else self.humans
        if team != self.humans:
            tables = self.in_places(model, team)
        scores = Scores.of(tables)
        weights = tables[:, :, 1, 2].sum(axis=0) / 2 - tables[:, :, 1, 1].sum(axis=0)
        return Replacement(
            **vars(asked),
            model=model,
            humans=self.humans,
            pooled=pooled,
            unjudged=tuple(name for name in self.humans if name not in judged),
            has_verdict=has_verdict,
            mean=InPlaceOf.of(scores, asked),
            by_human={
                name: InPlaceOf.of(Scores.of(tables[[i]]), asked) for i, name in enumerate(team)
            },
            scores=scores,
            effective_documents=effective_number(weights),
            copied=self._copied(model, float(scores.values[0, 1])),
            settings=self.settings.replaced(confidence=asked.confidence),
            corpus=self.corpus,
            sums=self,
        )

    def _copied(self, model: str, pooled: float) -> tuple[str, ...]:
        """Return the people of whom the model looks like a copy."""
        found = []
        for name in self.humans:
            sums = self.sums_with(model, [name])
            is_enough = np.count_nonzero(sums[:, 2]) >= _COPIED_DOCUMENTS
            own = float(score_of(sums.sum(axis=0), "corrected"))
            if is_enough and 1 - own < _COPY * (1 - pooled):
                found.append(name)
        return tuple(found)

    def ceiling(self, model: str, team: tuple[str, ...], confidence: float) -> Ceiling:
        """Compute the ceilings in the documents of a model that two people annotated as well."""
        n_people = np.sum([self.present[name] for name in team], axis=0)
        rows = self.present[model] & (n_people > 1)
        documents = kept(self.documents, rows)
        if (team, documents) not in self.ceilings:
            found = ceiling_sums(self.corpus, team, documents, self.scoring)
            self.ceilings[team, documents] = found
        sums = {"model": self.sums_with(model, team)[rows], **self.ceilings[team, documents]}
        return ceiling_of(sums, len(team), confidence)

    def between(self, one: Replacement, two: Replacement) -> Estimate:
        """Compare two models in the place of the people judged, in the documents of both."""
        names = (one.model, two.model)
        team = [name for name in one.by_human if name in two.by_human]
        both = np.all([self.present[name] for name in names], axis=0)
        tables = [self.in_places(name, team)[:, both, 0] for name in names]
        return Scores.of(np.stack(tables, axis=2)).estimate(model=1, human=-1)
