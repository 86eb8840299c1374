"""Precision, recall and F1 of entities, by label and averaged, with the arithmetic of seqeval.

The order of operations is part of the definition here: results are equal to the last digit.
The same scores beyond chance follow from a corpus of the entities.
"""

from __future__ import annotations

import sys
import warnings
from collections.abc import Collection, Iterable
from dataclasses import dataclass
from inspect import currentframe
from math import isnan, nan
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.checks import Within, as_float, checked_number, checked_option
from beyondchance.errors import OptionError
from beyondchance.evaluation.entities import Entities
from beyondchance.messages import given
from beyondchance.results.agreement import Agreement
from beyondchance.results.score import Score
from beyondchance.types import Floats, Ints

MICRO, MACRO, WEIGHTED = AVERAGES = ("micro", "macro", "weighted")
PRECISION, RECALL, F_SCORE = "precision", "recall", "f-score"
WARN = "warn"

Rates = tuple[Any, Any, Any, Any]
"""Precision, recall, F and support: arrays, or numbers where they are averages."""


class UndefinedMetricWarning(UserWarning):
    """A rate is undefined because there is nothing to divide by."""


@dataclass(frozen=True, slots=True)
class LabelCounts:
    """How many entities each label has, and how many of them are equal on both sides.

    Attributes
    ----------
    labels : list of str
        In alphabetical order.
    matched, predicted, true : arrays of int, shape (labels,)
    """

    labels: list[str]
    matched: Ints
    predicted: Ints
    true: Ints


def label_counts(entities: Entities) -> LabelCounts:
    """Count the entities of each label that has any.

    Examples
    --------
    >>> from beyondchance.evaluation.entities import entities_of
    >>> label_counts(entities_of([["B-P", "I-P", "B-L"]], [["B-P", "O", "B-L"]]))
    LabelCounts(labels=['L', 'P'], matched=array([1, 0]), predicted=array([1, 1]), \
true=array([1, 1]))
    """
    one, two = entities.true, entities.predicted
    # No two entities of one side end at one place.
    at = np.full(int(entities.lengths.sum()) + len(entities.lengths) + 1, -1)
    at[one.stop] = np.arange(len(one.stop))
    partner = at[two.stop]
    is_match = (
        (partner >= 0) & (one.start[partner] == two.start) & (one.label[partner] == two.label)
        if len(one.stop)
        else np.zeros(len(two.stop), dtype=bool)
    )
    n_labels = len(entities.labels)
    matched, predicted, true = (
        np.bincount(label, minlength=n_labels)
        for label in (two.label[is_match], two.label, one.label)
    )
    used = np.flatnonzero(predicted + true).tolist()
    order = sorted(used, key=entities.labels.__getitem__)
    return LabelCounts(
        [entities.labels[i] for i in order], matched[order], predicted[order], true[order]
    )


def rates(
    counts: LabelCounts,
    *,
    average: object,
    zero_division: object = 0,
    beta: float = 1.0,
    warn_for: Collection[str] = (),
) -> Rates:
    """Compute the rates of each label, or their average, and warn of undefined ones.

    Parameters
    ----------
    counts : LabelCounts
    average : {None, "micro", "macro", "weighted"}
    zero_division : {"warn", 0, 1}
        What a rate is that is undefined; "warn" is 0.
    beta : float
        How much more recall counts than precision.
    warn_for : collection of str
        The rates that are wanted.

    Examples
    --------
    >>> counts = LabelCounts(["L", "P"], np.array([1, 0]), np.array([1, 1]), np.array([1, 2]))
    >>> [float(rate) for rate in rates(counts, average="micro")[:3]]
    [0.5, 0.3333333333333333, 0.4]
    """
    matched, predicted, true = counts.matched, counts.predicted, counts.true
    if checked_average(average) == MICRO:
        matched, predicted, true = (np.array([n.sum()]) for n in (matched, predicted, true))
    known = filler_of(zero_division)
    filler = known or 0.0
    beta = checked_number("beta", beta, Within(0))
    precision, recall = (_ratio(matched, size, filler) for size in (predicted, true))
    if known is None:
        warn_of_undefined(_cautions(predicted, true, warn_for))
    if np.isposinf(beta):
        f_score = recall
    else:
        squared = beta**2
        room = squared * precision + recall
        room[room == 0.0] = 1
        f_score = (1 + squared) * precision * recall / room
    if average is None:
        return precision, recall, f_score, true
    support = sum(true)
    if average == WEIGHTED and not true.sum():
        nothing = filler if not predicted.sum() else 0.0
        return nothing, filler, nothing, support
    weights = true if average == WEIGHTED else None
    means = [
        rate[0] if average == MICRO else np.average(rate, weights=weights)
        for rate in (precision, recall, f_score)
    ]
    return means[0], means[1], means[2], support


def _ratio(matched: Ints, size: Ints, filler: float) -> Floats:
    is_empty = size == 0
    found = matched / np.where(is_empty, 1, size)
    found[is_empty] = filler
    return np.asarray(found)


def checked_average(average: object) -> str | None:
    """Return one of the averages, or None for a score of each label."""
    return None if average is None else checked_option("average", average, AVERAGES)


def filler_of(zero_division: object) -> float | None:
    """Return what a rate is where it is undefined; None where that is to be warned of."""
    if isinstance(zero_division, str) and zero_division == WARN:
        return None
    value = float(zero_division) if isinstance(zero_division, bool) else as_float(zero_division)
    if value not in {0.0, 1.0}:
        raise OptionError(*given("zero_division", zero_division), expected="'warn', 0 or 1")
    return value


# --- Warnings -----------------------------------------------------------------


def _cautions(predicted: Ints, true: Ints, warn_for: Collection[str]) -> list[str]:
    """List the warnings about undefined rates, in the words of scikit-learn."""
    where = "due to" if len(true) == 1 else "in labels with"
    ending = "samples. Use `zero_division` parameter to control this behavior."
    found = []
    for rate, size, kind in ((PRECISION, predicted, "predicted"), (RECALL, true, "true")):
        if rate in warn_for and np.any(size == 0):
            name = rate.title()
            what = f"{name} and F-score are" if F_SCORE in warn_for else f"{name} is"
            found.append(f"{what} ill-defined and being set to 0.0 {where} no {kind} {ending}")
    if tuple(warn_for) == (F_SCORE,) and np.any((predicted == 0) & (true == 0)):
        what = "F-score is ill-defined and being set to 0.0"
        found.append(f"{what} {where} no true nor predicted {ending}")
    return found


def warn_of_undefined(cautions: Iterable[str]) -> None:
    """Warn of rates that are undefined.

    Where scikit-learn is in use, whose warning seqeval has, so is its class: filters hold.
    """
    library = sys.modules.get("sklearn.exceptions")
    category = getattr(library, "UndefinedMetricWarning", UndefinedMetricWarning)
    for caution in cautions:
        warn(caution, category)


def warn(caution: str, category: type[Warning] = UserWarning) -> None:
    """Warn at the line that called this package."""
    frame, level = currentframe(), 1
    while frame is not None and frame.f_globals["__name__"].startswith("beyondchance."):
        frame, level = frame.f_back, level + 1
    warnings.warn(caution, category, stacklevel=level)


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
