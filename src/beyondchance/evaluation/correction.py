"""Scores of a system beyond chance, from the entities that were found."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from math import isnan, nan
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.evaluation.entities import Entities
from beyondchance.evaluation.rates import MICRO, WEIGHTED
from beyondchance.results.score import Score
from beyondchance.scoring.api import agreement
from beyondchance.types import Floats, Ints

SIDES = ("true", "predicted")


@dataclass(frozen=True, slots=True)
class Corrected:
    """Scores of a system against a gold standard, overall and by label.

    Attributes
    ----------
    overall : Score
        Side a is the gold standard, side b the system.
    by_label : mapping of str to Score
        Of labels that have an entity.
    """

    overall: Score
    by_label: Mapping[str, Score]


def corpus_of_entities(entities: Entities) -> Corpus:
    """A corpus in which a gold standard and a system have marked these entities."""
    sides = (entities.true, entities.predicted)
    text, start, end = (
        np.concatenate(column)
        for column in zip(*(entities.places(side) for side in sides), strict=True)
    )
    labels, label = sorted_names(
        entities.labels, np.concatenate([entities.true.label, entities.predicted.label])
    )
    return corpus_of_columns(
        entities.lengths,
        labels,
        text=text,
        annotator=np.repeat([0, 1], [len(side.start) for side in sides]),
        label=label,
        start=start,
        end=end,
        unit="sentence",
    )


def corpus_of_columns(
    lengths: Ints,
    labels: Sequence[str],
    *,
    text: Ints,
    annotator: Ints,
    label: Ints,
    start: Ints,
    end: Ints,
    unit: str,
) -> Corpus:
    """A corpus of two sides, each of whose texts is a document of its own."""
    n_texts = len(lengths)
    return Corpus(
        documents=tuple(map(str, range(n_texts))),
        text_document=np.arange(n_texts),
        text_length=lengths,
        annotators=SIDES,
        labels=tuple(labels),
        annotation_document=np.repeat(np.arange(n_texts), 2),
        annotation_annotator=np.tile([0, 1], n_texts),
        span_text=text,
        span_annotator=annotator,
        span_label=label,
        span_start=start,
        span_end=end,
        unit=unit,
    )


def corrected_scores(corpus: Corpus, *, measure: str = "exact", scope: str = "label") -> Corrected:
    """Score a corpus of two sides.

    Examples
    --------
    >>> from beyondchance.evaluation.entities import entities_of
    >>> entities = entities_of([["B-PER", "O", "O"]], [["B-PER", "O", "O"]])
    >>> score = corrected_scores(corpus_of_entities(entities)).overall
    >>> score.observed, round(score.chance, 4), score.corrected
    (1.0, 0.3333, 1.0)
    """
    found = agreement(corpus, measure=measure, scope=scope)
    return Corrected(found.score, found.by_label)


@dataclass(frozen=True, slots=True)
class Averaged:
    """A value by label, or an average of labels.

    Attributes
    ----------
    value : float or array of float
        nan where it is undefined.
    undefined : mapping of str to str
        The labels whose value is undefined, or the empty name for all of them; and why.
    """

    value: Any
    undefined: Mapping[str, str]


def averaged(
    scores: Corrected,
    name: str,
    *,
    average: str | None,
    labels: Sequence[str],
    support: Ints,
    filler: float | None = None,
) -> Averaged:
    """One of the values of scores, overall, by label, or as an average of labels.

    Parameters
    ----------
    scores : Corrected
    name : str
        Of a property of `Score`.
    average : {None, "micro", "macro", "weighted"}
        Micro is the overall value. Labels without a value are left out of means, and where the
        overall value is undefined, so are they. Of chance, labels are left out that have no
        corrected score, as in `MacroAverage`.
    labels : sequence of str
    support : array of int, shape (labels,)
        How many entities of the gold standard each label has.
    filler : float, optional
        What counts in the place of a value that is undefined.
    """
    overall = _value(scores.overall, name, filler)
    everything = {"": _why(scores.overall, name)} if isnan(getattr(scores.overall, name)) else {}
    if average == MICRO:
        return Averaged(np.float64(overall), everything)
    found = [scores.by_label[label] for label in labels]
    values: Floats = np.array([_value(score, name, filler) for score in found])
    undefined = {
        label: _why(score, name)
        for label, score in zip(labels, found, strict=True)
        if isnan(getattr(score, name))
    }
    if average is None:
        return Averaged(values, undefined)
    if everything:
        return Averaged(np.float64(overall), everything)
    weights = support if average == WEIGHTED else np.ones_like(support)
    is_known = ~np.isnan(values)
    if name == "chance" and not isnan(scores.overall.corrected):
        is_known &= [not isnan(score.corrected) for score in found]
    total = weights[is_known].sum()
    mean = (values * weights)[is_known].sum() / total if total else np.float64(nan)
    return Averaged(mean, undefined)


def _value(score: Score, name: str, filler: float | None) -> float:
    value: float = getattr(score, name)
    return filler if isnan(value) and filler is not None else value


def _why(score: Score, name: str) -> str:
    """Why a value is undefined."""
    part = next((part for part in ("precision", "recall") if name.endswith(part)), None)
    return str((score.rate(part) if part else score).reason)
