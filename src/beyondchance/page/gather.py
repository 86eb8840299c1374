"""Everything that a page shows of a result, computed once."""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, replace
from functools import cached_property
from itertools import islice
from typing import Any, Unpack

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus, only
from beyondchance.checks import checked_instance
from beyondchance.diagnosis.diagnose import diagnosis_of
from beyondchance.diagnosis.diagnosis import Diagnosis
from beyondchance.diagnosis.periods import periods_of
from beyondchance.errors import DataError
from beyondchance.inference.careless import CarelessWork, careless_work
from beyondchance.inference.replacement import Replacement, replacement
from beyondchance.inference.standings import Standings, compare_systems
from beyondchance.options import ResamplingOptions, documented
from beyondchance.other_coefficients.coefficients import (
    CATALOGUE,
    GAMMAS,
    Coefficients,
    coefficients,
)
from beyondchance.page.documents import places_by_document
from beyondchance.reporting.breakdown import Breakdown, breakdown_of
from beyondchance.reporting.commands.rank import Sureness, SystemRow, system_rows
from beyondchance.results.agreement import LEVELS, Agreement
from beyondchance.results.difficulty import Difficulty
from beyondchance.results.intervals import Intervals
from beyondchance.results.ranking import Ranking
from beyondchance.scoring.answers import without_gold
from beyondchance.scoring.api import agreement, difficulty, rank
from beyondchance.scoring.disagreements import Disagreements, disagreements
from beyondchance.scoring.one_text import coverage
from beyondchance.scoring.options import scoring_of
from beyondchance.settings import Settings
from beyondchance.types import Floats

MAIN = ("token", "exact")
"""The measures that are best known."""
WITHOUT_GAMMA = tuple(name for name in CATALOGUE if name not in GAMMAS)
"""The coefficients that cost little."""
LARGE_TEAM = 30
"""Annotators; where there are more, pairs have no intervals."""


@dataclass(frozen=True, kw_only=True)
class Overview:
    """A result, and what belongs to it.

    Attributes
    ----------
    results : mapping of measure to Agreement
        Among annotators; or of all systems together with the gold standard. The first is the
        one to break down, and ``token`` is among them. Empty for a ranking without its corpus.
    rankings : mapping of measure to Ranking
        Where there is a gold standard, else empty.
    intervals : mapping of measure to Intervals
        Of the results; of the first of them where there are rankings, which have their own.
    standings : mapping of measure to Standings
        Of the rankings.
    gold : str, optional
        The gold standard that all annotators were compared with.
    corpus : Corpus, optional
        What was compared; without it there is nothing of what follows.
    difficulty : Difficulty, optional
    disagreements : Disagreements, optional
    diagnosis : Diagnosis, optional
        What to fix first; nothing where chance cannot be divided among texts.
    coefficients : Coefficients, optional
        Of annotators among themselves; there are none with a gold standard.
    replacement : Replacement, optional
        Whether models may replace people, where some are named; all else is of people only.
    informed : mapping of measure to Ranking
        The rankings against chance by the shapes of words, if that was asked for.
    placements : sequence of (str, array of float)
        Names of few texts, and the probability that each position is annotated at random.
    """

    results: Mapping[str, Agreement]
    rankings: Mapping[str, Ranking]
    intervals: Mapping[str, Intervals]
    standings: Mapping[str, Standings]
    gold: str | None = None
    corpus: Corpus | None = None
    difficulty: Difficulty | None = None
    disagreements: Disagreements | None = None
    diagnosis: Diagnosis | None = None
    coefficients: Coefficients | None = None
    replacement: Replacement | None = None
    informed: Mapping[str, Ranking] = field(default_factory=dict)
    placements: Sequence[tuple[str, Floats]] = ()

    @property
    def result(self) -> Agreement:
        """The first of the results."""
        return next(iter(self.results.values()))

    @cached_property
    def breakdown(self) -> Breakdown:
        """The results at every level; it has no rows where there are none."""
        if not self.results:
            return Breakdown(rows=(), settings=None)
        return breakdown_of(
            self.results, self.intervals, by=["document"], difficulty=self.difficulty
        )

    @cached_property
    def places(self) -> Mapping[str, int]:
        """For each document the places where annotators differ; nothing without the corpus."""
        return {} if self.disagreements is None else places_by_document(self.disagreements)

    @cached_property
    def careless(self) -> CarelessWork | None:
        """Whose work differs as a whole, and documents to look at; nothing where it is unknown."""
        found = self.disagreements
        if found is None or len(found.corpus.annotators) < 3:
            return None
        with suppress(DataError):
            return careless_work(found.corpus)
        return None

    @cached_property
    def systems(self) -> Mapping[str, list[SystemRow]]:
        """The systems of each ranking."""
        return {
            name: system_rows(
                ranking, name, Sureness(standings=self.standings[name]), self.informed.get(name)
            )
            for name, ranking in self.rankings.items()
        }

    @property
    def leaderboard(self) -> list[SystemRow]:
        """The systems of the first ranking, the best one first."""
        return next(iter(self.systems.values()))

    @property
    def settings(self) -> Settings:
        """How everything was computed, intervals included."""
        signed: list[Standings | Intervals]
        signed = [*self.standings.values(), *self.intervals.values()]
        return signed[0].settings


@documented(ResamplingOptions)
def overview(
    result: Agreement | Ranking,
    corpus: Corpus | None = None,
    *,
    others: str | Collection[str] = WITHOUT_GAMMA,
    gamma: Mapping[str, Any] | None = None,
    models: Sequence[str] = (),
    asked: Mapping[str, Any] | None = None,
    informed: Mapping[str, Ranking] | None = None,
    by: str | None = None,
    **resampling: Unpack[ResamplingOptions],
) -> Overview:
    """Compute what belongs to a result.

    Parameters
    ----------
    result : Agreement or Ranking
    corpus : Corpus, optional
        What it was computed from.
    others : "all" or collection of str
        Other coefficients, by name; they are for annotators among themselves.
    gamma : mapping, optional
        The parameters of gamma, if it is among `others`.
    models : sequence of str
        Annotators who may replace the others: all else is computed without them.
    asked : mapping, optional
        What they have to show: options of `replacement`.
    informed : mapping of measure to Ranking, optional
        The ranking against chance by the shapes of words.
    by : str, optional
        Agreement over time, by this (see `diagnose`).
    {options}

    Raises
    ------
    DataError
        If the corpus is not the one that the result was computed from.

    Examples
    --------
    >>> from beyondchance.io.example import example
    >>> found = overview(agreement(example()), example(), resamples=99)
    >>> list(found.results), len(found.disagreements), len(found.placements)
    (['token', 'exact'], 228, 3)
    """
    resampling.setdefault("seed", 0)
    settings = result.settings if isinstance(result, Agreement | Ranking) else Settings()
    if isinstance(result, Ranking):
        gold: str | None = result.gold
        rankings, results = _by_measures(result, corpus, gold, MAIN), {}
        if corpus is not None:
            together = agreement(corpus, gold=gold, **_options(settings))
            # By token too, because habits are counted in positions.
            results = _by_measures(together, corpus, gold, ("token",))
    else:
        checked_instance(result, Agreement, "an Agreement or a Ranking")
        gold = settings.gold if settings.pairs == "gold" else None
        if models and corpus is not None:
            scored = {"gold": gold, **_options(settings)}
            _check_same(agreement(corpus, **scored), result)
            corpus = corpus if gold is None else corpus.with_gold(gold)
            scoring = {"measure": settings.measure, "scope": settings.scope, **(asked or {})}
            level = resampling.get("confidence", 0.95)
            replaced = replacement(corpus, model=list(models), confidence=level, **scoring)
            people = corpus.select(annotators=set(corpus.annotators) - set(models))
            own = agreement(people, **scored)
            found = overview(own, people, others=others, gamma=gamma, by=by, **resampling)
            return replace(found, replacement=replaced)
        rankings, results = {}, _by_measures(result, corpus, gold, MAIN)
    found = Overview(
        results=results,
        rankings=rankings,
        intervals={
            name: item.intervals(levels=_levels(item), **resampling)
            for name, item in islice(results.items(), 1 if rankings else None)
        },
        standings={name: compare_systems(item, **resampling) for name, item in rankings.items()},
        gold=gold,
        informed=informed or {},
    )
    if corpus is None:
        return found
    compared = without_gold(corpus) if gold is None else corpus.with_gold(gold)
    pairs = None if gold is None else [(gold, n) for n in corpus.annotators if n != gold]
    values = None
    if gold is None and others:
        values = coefficients(
            compared,
            which=others,
            model=settings.model,
            gamma=gamma,
            seed=resampling["seed"],
            scored=_of_labels(results),
        )
    return replace(
        found,
        corpus=corpus,
        difficulty=difficulty(replace(compared, gold=gold), **_options(settings)),
        disagreements=disagreements(compared, pairs=pairs),
        diagnosis=_diagnosis(found, compared, settings, by),
        coefficients=values,
        placements=[*_placements(compared, settings)],
    )


def _diagnosis(
    found: Overview, compared: Corpus, settings: Settings, by: str | None
) -> Diagnosis | None:
    """Diagnose all annotators, or the best system, by the measure of the result.

    Nothing where chance is of all texts at once. Over time, systems are compared all together.
    """
    results, everybody = found.results, compared
    if found.rankings:
        best = found.leaderboard[0].shown
        results = {name: ranking.systems[best] for name, ranking in found.rankings.items()}
        compared = only(compared, [str(found.gold), best])
    if compared.unit == CORPUS or not found.result.counts.is_by_document:
        return None
    diagnosis = diagnosed(results, compared, settings, found.gold)
    if by is None:
        return diagnosis
    together = found.results[diagnosis.settings.measure or "token"].counts
    return replace(diagnosis, periods=periods_of(everybody, together, by))


def diagnosed(
    results: Mapping[str, Agreement], compared: Corpus, settings: Settings, gold: str | None
) -> Diagnosis:
    """Diagnose annotators by the measure of a result; by token where that is one's own."""
    asked = {name: value for name, value in _options(settings).items() if value is not None}
    result = results[asked.get("measure", "token")]
    return diagnosis_of(result, compared, scoring_of(asked), gold=gold)


def _levels(result: Agreement) -> tuple[str, ...]:
    """Return the levels with intervals; large teams have none for pairs and annotators."""
    is_listed = result.settings.pairs is None and len(result.counts.annotators) <= LARGE_TEAM
    return LEVELS if is_listed else ("label",)


def _options(settings: Settings) -> dict[str, Any]:
    """Return the options of a result; without the measure if it is a custom one."""
    if settings.custom is not None:
        return _arrangement(settings)
    names = ("measure", "model", "scope", "theta", "samples", "seed")
    return {name: getattr(settings, name) for name in names}


def _arrangement(settings: Settings) -> dict[str, Any]:
    """Return how random spans are placed, whatever the measure."""
    return {"model": settings.model, "scope": settings.scope}


def _named(settings: Settings) -> str:
    """Return the name of the measure, also of a custom one."""
    return str(settings.custom or settings.measure)


def _by_measures(
    result: Agreement | Ranking, corpus: Corpus | None, gold: str | None, names: Collection[str]
) -> dict[str, Any]:
    """Return the result, and the same by some of the measures that are best known."""
    settings = result.settings
    measure = _named(settings)
    if corpus is None:
        return {measure: result}
    score: Any = rank if isinstance(result, Ranking) else agreement
    others = {
        name: score(corpus, measure=name, gold=gold, **_arrangement(settings))
        for name in names
        if name != measure
    }
    for item in others.values():
        _check_same(item, result)
    return {measure: result, **others}


def _of_labels(results: Mapping[str, Agreement]) -> dict[str, Agreement]:
    """Return results by our measures with labels placed separately, as in other coefficients."""
    return {
        name: item
        for name, item in results.items()
        if item.settings.scope == "label" and item.settings.custom is None
    }


def _check_same(found: Agreement | Ranking, expected: Agreement | Ranking) -> None:
    if _contents(found) != _contents(expected):
        raise DataError(
            "the corpus has other documents, annotators, labels or spans than the result",
            expected="the one that the result was computed from",
        )


def _contents(result: Agreement | Ranking) -> object:
    """Return what a result is about, whatever the measure."""
    if isinstance(result, Ranking):
        return {name: _contents(system) for name, system in result.systems.items()}
    counts = result.counts
    return set(counts.unit_names), set(counts.annotators), set(counts.labels), result.n_spans


def _placements(corpus: Corpus, settings: Settings) -> Iterator[tuple[str, Floats]]:
    """Yield probabilities of positions in a short, a medium and a long text of the corpus.

    Of each text, the spans of the annotator and label that has most of them. Spans that
    overlap are shown only where each is placed by itself.
    """
    is_independent = settings.model == "overlapping"
    if not len(corpus.span_text) or settings.unit == CORPUS:
        return
    n_labels, n_annotators = len(corpus.labels), len(corpus.annotators)
    cell = (corpus.span_text * n_annotators + corpus.span_annotator) * n_labels + corpus.span_label
    cells, first, count = np.unique(cell, return_index=True, return_counts=True)
    text = corpus.span_text[first]
    # The largest cell of each text, then the texts by length.
    order = np.lexsort((cells, -count, text))
    largest = order[np.r_[True, text[order][1:] != text[order][:-1]]]
    largest = largest[np.argsort(corpus.text_length[text[largest]], kind="stable")]
    for share in (0.1, 0.5, 0.9):
        chosen = cells[largest[int(share * (len(largest) - 1))]]
        spans = np.flatnonzero(cell == chosen)
        here, one = int(corpus.span_text[spans[0]]), spans[0]
        lengths = (corpus.span_end - corpus.span_start)[spans]
        starts, ends = np.sort(corpus.span_start[spans]), np.sort(corpus.span_end[spans])
        if not is_independent and (starts[1:] < ends[:-1]).any():
            continue
        document = corpus.documents[corpus.text_document[here]]
        label = corpus.labels[corpus.span_label[one]]
        name = f"{document}: {label} by {corpus.annotators[corpus.span_annotator[one]]}"
        model = "overlapping" if is_independent else "disjoint"
        yield name, coverage(int(corpus.text_length[here]), lengths, model=model)
