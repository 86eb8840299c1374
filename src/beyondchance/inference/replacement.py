"""May the model replace a person? Chance-corrected agreement, pooled over documents.

For each person j: how well j agrees with the others, and how well the model does in the place of
j, with the same others in the same documents. The model may replace j if it agrees no worse than j,
but for a margin. Documents in which nobody marked anything change no number.
"""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import combinations
from math import inf, isnan, nan, sqrt
from typing import Any, Unpack

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import checked_option, checked_share
from beyondchance.core.bootstrap import degrees_of_freedom, influences, variance_of
from beyondchance.core.distributions import student_quantile, student_share
from beyondchance.core.permutation import holm
from beyondchance.errors import DataError, OptionError
from beyondchance.inference.ceilings import Ceiling, Ceilings, ceilings_of
from beyondchance.messages import Quote, given
from beyondchance.numbers import in_digits
from beyondchance.options import CorpusOptions
from beyondchance.results.counts import Counts
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import Levels, score_of
from beyondchance.scoring.api import agreement
from beyondchance.scoring.data import corpus_of
from beyondchance.scoring.options import scoring_of
from beyondchance.settings import Settings
from beyondchance.types import Bools, Floats

FEW_DOCUMENTS, VERY_FEW_DOCUMENTS = 50, 20
"""With fewer documents with marks, intervals of the mean are too narrow, and then tests too."""
FEW_HUMANS = 3
"""With fewer people, a person's habits cannot be told from what the model does otherwise."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """A difference, and how well documents show it.

    Attributes
    ----------
    value : float
    error : float
        Its standard error, by the jackknife over documents.
    freedom : float
        Satterthwaite's degrees of freedom.
    n_documents : int
        Documents with marks.
    """

    value: float
    error: float
    freedom: float
    n_documents: int

    @classmethod
    def of(cls, value: float, left_out: Floats) -> Estimate:
        """From the difference without each document."""
        n = len(left_out)
        if n < 2 or isnan(value) or not np.isfinite(left_out).all():
            return cls(value=value, error=nan, freedom=nan, n_documents=n)
        moves = [influences(left_out)]
        error, freedom = sqrt(variance_of(moves)), degrees_of_freedom(moves)
        return cls(value=value, error=error, freedom=freedom, n_documents=n)

    def interval(self, confidence: float) -> tuple[float, float]:
        """Student's interval; nan where documents do not tell."""
        if isnan(self.error):
            return nan, nan
        reach = self._reach((1 + confidence) / 2)
        return self.value - reach, self.value + reach

    def smallest_margin(self, confidence: float) -> float:
        """The smallest margin for which the difference would pass; not below 0."""
        if isnan(self.error):
            return nan
        return max(self._reach(confidence) - self.value, 0.0)

    def _reach(self, share: float) -> float:
        return student_quantile(share, self.freedom) * self.error if self.error else 0.0

    def p_value(self, margin: float) -> float:
        """How often the difference would come out as high if it were no higher than -margin."""
        above = self.value + margin
        if isnan(self.error):
            return nan
        if not self.error:
            return 0.0 if above > 0 else 1.0
        return student_share(-above / self.error, self.freedom)

    def p_of_zero(self) -> float:
        """How often a difference as large, up or down, would come out if there were none."""
        if isnan(self.error):
            return nan
        if not self.error:
            return 0.0 if self.value else 1.0
        return 2 * student_share(-abs(self.value) / self.error, self.freedom)


@dataclass(frozen=True, slots=True, kw_only=True)
class InPlaceOf:
    """The model in the place of one person.

    Attributes
    ----------
    human : float
        The corrected agreement of the person with the others.
    model : float
        That of the model with the same others, in the same documents.
    difference : float
        The second minus the first.
    interval : tuple of (float, float)
        Of the difference.
    smallest_margin : float
        The smallest margin that this person would pass at, by itself.
    p : float
        How often a difference as high would come out if the model were worse by the margin, or
        agreed as chance does, whichever is more often; by Holm's method for all people. Nan
        without a margin.
    p_chance : float
        How often the model's own score would come out as high by chance.
    n_documents : int
        Documents with marks that both annotated, with another person.
    estimate : Estimate
    """

    human: float
    model: float
    difference: float
    interval: tuple[float, float]
    smallest_margin: float
    p: float
    p_chance: float
    n_documents: int
    estimate: Estimate = field(repr=False)


@dataclass(frozen=True, slots=True, kw_only=True)
class ModelDifference:
    """Two models in the place of the same people: the first minus the second, on average.

    The p-value is by Holm's method for all pairs of models.
    """

    difference: float
    interval: tuple[float, float]
    p: float


@dataclass(frozen=True, eq=False, kw_only=True)
class Replacement(Printed):
    """Whether a model may replace people.

    Attributes
    ----------
    model : str
    humans : tuple of str
    margin : float, optional
        How much worse than a person the model may be.
    confidence : float
        Of intervals, two-sided; tests are one-sided, at 1 minus this.
    by_human : mapping of str to InPlaceOf
    mean_difference : float
        The mean of the differences of all people.
    mean_interval : tuple of (float, float)
    mean_margin : float
        The smallest margin at which the mean would pass.
    ceiling : Ceiling
    n_documents : int
        Documents with marks that were compared.
    models : mapping of str to Replacement
        All models that were asked for, this one included, the best first.
    differences : mapping of (str, str) to ModelDifference
        Between each two of them.
    settings : Settings
    corpus : Corpus
    """

    model: str
    humans: tuple[str, ...]
    margin: float | None
    confidence: float
    by_human: Mapping[str, InPlaceOf]
    mean_difference: float
    mean_interval: tuple[float, float]
    mean_margin: float
    ceiling: Ceiling
    n_documents: int
    settings: Settings
    corpus: Corpus = field(repr=False)
    models: Mapping[str, Replacement] = field(default_factory=dict)
    differences: Mapping[tuple[str, str], ModelDifference] = field(default_factory=dict)

    def __repr__(self) -> str:
        return (
            f"Replacement({self.model!r} for {len(self.humans)} people: mean difference "
            f"{in_digits(self.mean_difference)}, smallest margin {in_digits(self.smallest_margin)})"
        )

    def passes(self, margin: float) -> bool:
        """Whether the model is shown to be no worse than every person, but for the margin.

        A model that is not shown to agree better than chance passes at no margin.
        """
        p = self.p_values(checked_margin(margin))
        return all(value <= 1 - self.confidence for value in p.values())

    def p_values(self, margin: float) -> dict[str, float]:
        """For each person, Holm's p-value at a margin; nan where documents do not tell."""
        return holm_p_values(self.by_human, margin)

    @cached_property
    def smallest_margin(self) -> float:
        """The smallest margin at which the model would pass for all people; inf for none.

        Between two margins that differ by less than a millionth.
        """
        if not self.passes(1.0):
            return inf
        low, high = 0.0, 1.0
        if self.passes(0.0):
            return 0.0
        while high - low > 1e-6:
            middle = (low + high) / 2
            low, high = (low, middle) if self.passes(middle) else (middle, high)
        return high

    @property
    def has_few_documents(self) -> bool:
        """Whether there are so few documents that tests tend to pass too often."""
        return self.n_documents < FEW_DOCUMENTS

    @property
    def has_very_few_documents(self) -> bool:
        """Whether there are so few documents that no test can be relied on."""
        return min(x.n_documents for x in self.by_human.values()) < VERY_FEW_DOCUMENTS

    @property
    def has_few_humans(self) -> bool:
        """Whether there are so few people that habits of one of them decide."""
        return len(self.humans) < FEW_HUMANS


def checked_margin(margin: object) -> float:
    """A margin from 0 to 1."""
    return checked_share("margin", margin, low=True, high=True)


def holm_p_values(by_human: Mapping[str, InPlaceOf], margin: float) -> dict[str, float]:
    """Holm's p-values of all people at a margin; undefined ones stay so, and are not counted."""
    raw = {
        name: max(found.estimate.p_value(margin), found.p_chance) if found.n_documents > 1 else nan
        for name, found in by_human.items()
    }
    known = [name for name, p in raw.items() if not isnan(p)]
    raised = holm(np.array([raw[name] for name in known])).tolist() if known else []
    return {**raw, **dict(zip(known, raised, strict=True))}


def replacement(
    data: Any,
    other: Any = None,
    *,
    model: str | Sequence[str],
    humans: Sequence[str] | None = None,
    margin: float | None = None,
    measure: str = "token",
    scope: str = "label",
    confidence: float = 0.95,
    **options: Unpack[CorpusOptions],
) -> Replacement:
    """Whether a model may replace people, by chance-corrected agreement.

    For each person, how well the person agrees with the others and how well the model does in
    that place, over the documents that both annotated. A model that copies a person differs by 0
    from that person; one that marks nothing scores 0 and never passes; documents in which
    nobody marked anything change no number. (The alternative annotator test of Calderon,
    Reichart and Dror, 2025, counts items in which both agree by having nothing; the last two do not
    hold for it.)

    Parameters
    ----------
    data, other
        As in `agreement`.
    model : str or sequence of str
        The model, or several, which are then compared with one another.
    humans : sequence of str, optional
        The people; by default all other annotators but a gold standard.
    margin : float, optional
        How much worse than a person the model may be, in corrected agreement. Without it there is
        no test, and the smallest margin that would pass is what to look at.
    confidence : float
        Of intervals, two-sided; tests are one-sided, at 1 minus this.
    measure, scope : str
        How to score, as in `agreement`.
    **options
        How `data` and `other` become a corpus (see `corpus`).

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
    Three annotators, of whom cleo is taken for a model; with two people only.

    >>> from beyondchance import example
    >>> found = replacement(example(), model="cleo")
    >>> {name: round(one.difference, 3) for name, one in found.by_human.items()}
    {'ada': 0.039, 'ben': 0.01}
    >>> round(found.mean_difference, 3), found.passes(0.1)
    (0.025, True)
    """
    corpus = corpus_of(data, other, options)
    scoring = {"measure": measure, "scope": scope}
    scoring_of(scoring)
    if not isinstance(model, str | Sequence):
        raise OptionError(*given("model", model), expected="an annotator, or a list of them")
    models = [model] if isinstance(model, str) else list(model)
    people = _checked_names(corpus, models, humans)
    checked_share("confidence", confidence)
    if margin is not None:
        checked_margin(margin)
    table = _Table.of(corpus, people, models, scoring)
    found = [table.replacement(name, margin, confidence) for name in models]
    best_first = sorted(found, key=lambda item: -np.nan_to_num(item.mean_difference, nan=-inf))
    by_name = {item.model: item for item in best_first}
    between = {
        (one, two): table.between(one, two, confidence) for one, two in combinations(by_name, 2)
    }
    known = [names for names, x in between.items() if not isnan(x.p)]
    raised = holm(np.array([between[names].p for names in known])).tolist() if known else []
    for names, p in zip(known, raised, strict=True):
        between[names] = replace(between[names], p=p)
    return replace(found[0], models=by_name, differences=between)


def _checked_names(
    corpus: Corpus, models: Sequence[str], humans: Sequence[str] | None
) -> tuple[str, ...]:
    """The people, in the order of the corpus."""
    if not models:
        raise OptionError("no model is named", expected="at least one of the annotators")
    for name in models:
        checked_option("model", name, corpus.annotators, are_data=True)
    if isinstance(humans, str):
        raise OptionError(*given("humans", humans), expected="a list of annotators")
    for name in humans or ():
        checked_option("human", name, corpus.annotators, are_data=True)
    both = next((name for name in humans or () if name in models), None)
    if both is not None:
        raise OptionError(Quote(both), " is a model and a human", expected="one or the other")
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
class _Table:
    """Sums of every pair in every document.

    Attributes
    ----------
    corpus : Corpus
        Of people and models.
    humans : tuple of str
    documents : tuple of str
        Those compared.
    sums : mapping of (str, str) to array of float, shape (documents, 4)
        Of each two, in either order.
    present : mapping of str to array of bool, shape (documents,)
        Who annotated what.
    scoring : mapping
    settings : Settings
    ceilings : dict
        Those of the documents of a model: most models have the same.
    """

    corpus: Corpus
    humans: tuple[str, ...]
    documents: tuple[str, ...]
    sums: Mapping[tuple[str, str], Floats]
    present: Mapping[str, Bools]
    scoring: Mapping[str, Any]
    settings: Settings
    ceilings: dict[tuple[str, ...], Ceilings] = field(default_factory=dict)

    @classmethod
    def of(
        cls,
        corpus: Corpus,
        humans: tuple[str, ...],
        models: Sequence[str],
        scoring: Mapping[str, Any],
    ) -> _Table:
        """Score all pairs."""
        chosen = [name for name in corpus.annotators if name in {*humans, *models}]
        part = replace(corpus.select(annotators=chosen), options=corpus.options, gold=None)
        result = agreement(part, **scoring)
        counts = result.counts
        if not isinstance(counts, Counts):
            raise DataError("too many annotators of one document", expected="pairs that are few")
        number = {name: i for i, name in enumerate(part.documents)}
        rows = np.array([number[name] for name in counts.documents], dtype=np.int64)
        annotated = np.zeros((len(part.documents), len(chosen)), dtype=bool)
        annotated[part.annotation_document, part.annotation_annotator] = True
        return cls(
            corpus=replace(part, notes=(*part.notes, *result.notes)),
            humans=humans,
            documents=counts.documents,
            sums=_sums_by_pair(counts),
            present={name: annotated[rows, i] for i, name in enumerate(part.annotators)},
            scoring=scoring,
            settings=result.settings,
        )

    def in_place_of(self, model: str, human: str) -> Floats:
        """The model, then the person, with the others: shape (documents, 2, 4).

        Others are those who annotated the document with both.
        """
        table = np.zeros((len(self.documents), 2, 4))
        for other in self.humans:
            if other == human:
                continue
            seen = self.present[model] & self.present[human] & self.present[other]
            for side, who in enumerate((model, human)):
                own = self.sums.get((who, other))
                if own is not None:
                    table[seen, side] += own[seen]
        return table

    def replacement(self, model: str, margin: float | None, confidence: float) -> Replacement:
        """One model in the place of every person."""
        tables = {name: self.in_place_of(model, name) for name in self.humans}
        by_human = {name: _compared(table, confidence) for name, table in tables.items()}
        if margin is not None:
            p = holm_p_values(by_human, margin)
            by_human = {name: replace(found, p=p[name]) for name, found in by_human.items()}
        if not any(found.n_documents for found in by_human.values()):
            raise DataError(
                *("model ", Quote(model), " shares no document with marks with two people"),
                expected="documents that two people annotated, too",
            )
        mean = _mean(list(tables.values()))
        seen = np.any([table[:, :, 2].any(axis=1) for table in tables.values()], axis=0)
        return Replacement(
            model=model,
            humans=self.humans,
            margin=margin,
            confidence=confidence,
            by_human=by_human,
            mean_difference=mean.value,
            mean_interval=mean.interval(confidence),
            mean_margin=mean.smallest_margin(confidence),
            ceiling=self._ceiling(model, confidence),
            n_documents=int(np.count_nonzero(seen)),
            settings=self.settings.replaced(confidence=confidence),
            corpus=self.corpus,
        )

    def _ceiling(self, model: str, confidence: float) -> Ceiling:
        """The ceilings in the documents of a model that two people annotated as well."""
        n_people = np.sum([self.present[name] for name in self.humans], axis=0)
        rows = np.flatnonzero(self.present[model] & (n_people > 1))
        documents = tuple(self.documents[i] for i in rows.tolist())
        if documents not in self.ceilings:
            found = ceilings_of(self.corpus, self.humans, documents, self.scoring)
            self.ceilings[documents] = found
        own = np.zeros((len(rows), 4))
        for name in self.humans:
            sums = self.sums.get((model, name))
            if sums is not None:
                own += np.where(self.present[name][rows, None], sums[rows], 0)
        return self.ceilings[documents].of(own, confidence)

    def between(self, one: str, two: str, confidence: float) -> ModelDifference:
        """Two models in the place of every person, in the documents of both."""
        both = self.present[one] & self.present[two]
        tables = [
            np.stack([self.in_place_of(name, human)[both, 0] for name in (one, two)], axis=1)
            for human in self.humans
        ]
        estimate = _mean(tables)
        return ModelDifference(
            difference=estimate.value,
            interval=estimate.interval(confidence),
            p=estimate.p_of_zero(),
        )


def _sums_by_pair(counts: Counts) -> dict[tuple[str, str], Floats]:
    """Sums of each two who share a document, in the order of the documents."""
    names = [tuple(counts.annotators[i] for i in pair) for pair in counts.pairs.T.tolist()]
    levels = Levels(len(counts))
    levels.add("pair", names, counts.pair_numbers())
    rows = counts.leveled(levels)
    sums = rows.sums(rows.document, rows.n_documents, range(1, len(levels)))
    sums = sums[counts.document_places]
    found: dict[tuple[str, str], Floats] = {}
    for i, (one, other) in enumerate(names):
        found[one, other] = found[other, one] = sums[:, i]
    return found


def _scores(table: Floats) -> tuple[Floats, Floats]:
    """The two scores of all documents, and both without each document that has marks."""
    own = table[table[:, :, 2].any(axis=1)]
    whole = own.sum(axis=0)
    return score_of(whole, "corrected"), score_of(whole - own, "corrected")


def _compared(table: Floats, confidence: float) -> InPlaceOf:
    (model, human), without = _scores(table)
    estimate = Estimate.of(float(model - human), without[:, 0] - without[:, 1])
    p_chance = 1.0
    if model > 0:
        p_chance = Estimate.of(float(model), without[:, 0]).p_value(0.0)
    smallest = estimate.smallest_margin(confidence)
    return InPlaceOf(
        human=float(human),
        model=float(model),
        difference=estimate.value,
        interval=estimate.interval(confidence),
        smallest_margin=inf if p_chance > 1 - confidence and not isnan(smallest) else smallest,
        p=nan,
        p_chance=p_chance,
        n_documents=estimate.n_documents,
        estimate=estimate,
    )


def _mean(tables: Sequence[Floats]) -> Estimate:
    """The mean of the differences of several tables over the same documents."""
    whole = np.stack(tables, axis=1)
    whole = whole[whole[..., 2].any(axis=(1, 2))]
    # Those with whom there is nothing to compare have no say.
    known = whole[..., 2].any(axis=(0, 2))
    whole = whole[:, known]
    if not whole.size:
        return Estimate.of(nan, np.zeros(0))
    totals = whole.sum(axis=0)
    scores, left_out = (score_of(x, "corrected") for x in (totals, totals - whole))
    value = float((scores[:, 0] - scores[:, 1]).mean())
    return Estimate.of(value, (left_out[..., 0] - left_out[..., 1]).mean(axis=1))
