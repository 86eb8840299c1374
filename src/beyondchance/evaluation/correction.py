"""Scores of a system beyond chance, from the entities that were found."""

from __future__ import annotations

from math import isnan, nan
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.evaluation.entities import Entities
from beyondchance.evaluation.rates import MICRO, WEIGHTED, LabelCounts, checked_average
from beyondchance.results.agreement import Agreement
from beyondchance.results.score import Score
from beyondchance.types import Floats

SIDES = ("true", "predicted")


def corpus_of_entities(entities: Entities) -> Corpus:
    """Build a corpus in which a gold standard and a system have marked these entities.

    Each text is a document of its own.
    """
    sides = (entities.true, entities.predicted)
    text, start, end = (
        np.concatenate(column)
        for column in zip(*(entities.places(side) for side in sides), strict=True)
    )
    labels, label = sorted_names(
        entities.labels, np.concatenate([entities.true.label, entities.predicted.label])
    )
    n_texts = len(entities.lengths)
    return Corpus(
        documents=tuple(map(str, range(n_texts))),
        text_document=np.arange(n_texts),
        text_length=entities.lengths,
        annotators=SIDES,
        labels=tuple(labels),
        annotation_document=np.repeat(np.arange(n_texts), 2),
        annotation_annotator=np.tile([0, 1], n_texts),
        span_text=text,
        span_annotator=np.repeat([0, 1], [len(side.start) for side in sides]),
        span_label=label,
        span_start=start,
        span_end=end,
        unit="sentence",
    )


def averaged(
    scores: Agreement,
    name: str,
    counts: LabelCounts,
    *,
    average: object,
    filler: float | None = None,
) -> tuple[Any, dict[str, str]]:
    """Return one of the values of scores, overall, by label, or as an average of labels.

    Parameters
    ----------
    scores : Agreement
    name : str
        Of a property of `Score`.
    counts : LabelCounts
        The labels, and how many entities of the gold standard each has.
    average : {None, "micro", "macro", "weighted"}
        Micro is the overall value. Labels without a value are left out of means, and where the
        overall value is undefined, so are they. Of chance, labels are left out that have no
        corrected score, as in `MacroAverage`.
    filler : float, optional
        What counts in the place of a value that is undefined.

    Returns
    -------
    value : float or array of float
        nan where it is undefined.
    undefined : dict of str to str
        The labels whose value is undefined, or the empty name for all of them; and why.
    """
    is_whole = checked_average(average) == MICRO or (
        average is not None and isnan(getattr(scores.score, name))
    )
    chosen = (
        {"": scores.score}
        if is_whole
        else {label: scores.by_label[label] for label in counts.labels}
    )
    values: Floats = np.array([getattr(score, name) for score in chosen.values()], dtype=np.float64)
    is_known = ~np.isnan(values)
    undefined = {
        label: _why(score, name)
        for (label, score), known in zip(chosen.items(), is_known, strict=True)
        if not known
    }
    if filler is not None:
        values[~is_known], is_known[:] = filler, True
    if is_whole or average is None:
        return values[0] if is_whole else values, undefined
    weights = counts.true if average == WEIGHTED else np.ones_like(counts.true)
    if name == "chance" and not isnan(scores.score.corrected):
        is_known &= [not isnan(score.corrected) for score in chosen.values()]
    total = weights[is_known].sum()
    mean = (values * weights)[is_known].sum() / total if total else np.float64(nan)
    return mean, undefined


def _why(score: Score, name: str) -> str:
    """Return why a value is undefined."""
    part = name.removeprefix("corrected_")
    return str((score.rate(part) if part in ("precision", "recall") else score).reason)
