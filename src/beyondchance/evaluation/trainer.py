"""Metrics for the Trainer of Hugging Face."""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from functools import partial
from itertools import chain
from math import isnan
from operator import eq
from typing import Any

import numpy as np

from beyondchance.errors import DataError, MismatchError, OptionError, TagError
from beyondchance.evaluation.entities import (
    Texts,
    checked_scheme,
    entities_of,
    is_strict,
    types_of,
)
from beyondchance.evaluation.rates import MICRO, Rates, corpus_of_entities, label_counts, rates
from beyondchance.io.label_names import label_names_of
from beyondchance.io.tagged import IGNORED
from beyondchance.messages import Use, given, quotes
from beyondchance.results.score import Score
from beyondchance.scoring.api import agreement
from beyondchance.types import Bools, Ints

_SHAPES = "numbers of labels, of shape (texts, tokens), or scores of labels, of shape \
(texts, tokens, labels)"
_PREFIXED, _SUFFIXED = re.compile("[BIESUL](-.+)?"), re.compile("(.+-)?[BIESUL]")


def compute_metrics(
    label_names: Any,
    *,
    by_label: bool = False,
    mode: str | None = None,
    scheme: Any = None,
    suffix: bool = False,
) -> Callable[[Any], dict[str, float]]:
    """Return a function for ``transformers.Trainer(compute_metrics=…)``.

    Parameters
    ----------
    label_names : list of str, or mapping
        The tags in the order of their numbers, or a mapping of numbers to tags such as
        ``model.config.id2label``.
    by_label : bool
        Whether to add the scores of each label.
    mode, scheme, suffix
        How tags are read, as in `beyondchance.metrics.f1_score`.

    Returns
    -------
    function
        Of what the Trainer passes: an object with ``predictions`` and ``label_ids``, or a tuple
        of both. Predictions are scores of shape (texts, tokens, labels) or numbers of shape
        (texts, tokens); of a tuple of predictions, the first counts. Positions with the
        label −100 are left out.

        It returns a dictionary of numbers, 0 where they are undefined, because a Trainer that meets
        a nan keeps it for the best model for ever: ``precision``, ``recall``,
        ``f1`` and ``accuracy`` of entities, as seqeval computes them; ``chance_f1``, the F1 of
        random entities; ``corrected_f1``, ``corrected_precision`` and ``corrected_recall``, what is
        beyond chance; ``token_f1`` and ``corrected_token_f1`` of the tokens in entities;
        ``repaired``, how many tags begin or end an entity although their prefix does not allow it
        (0 in strict mode, where such entities are left out). With `by_label`, for each label
        such as PER also ``PER_precision``, ``PER_recall``, ``PER_f1``, ``PER_chance_f1``,
        ``PER_corrected_f1`` and ``PER_support``.

    Raises
    ------
    OptionError
        For names that are none, at once.
    DataError
        For predictions or labels that cannot be used, when the function is called.

    Examples
    --------
    Of two persons one is found. The third position is padding.

    >>> import numpy as np
    >>> compute = compute_metrics(["O", "B-PER"])
    >>> labels = np.array([[1, 0, -100], [0, 1, 0]])
    >>> predictions = np.array([[1, 0, 0], [0, 0, 0]])
    >>> found = compute((predictions, labels))
    >>> found["precision"], found["recall"], round(found["f1"], 4), found["accuracy"]
    (1.0, 0.5, 0.6667, 0.8)
    >>> round(found["chance_f1"], 4), round(found["corrected_f1"], 4)
    (0.3333, 0.5)
    """
    names = label_names_of(label_names)
    if names is None:
        expected = "a list of tags, or a mapping of numbers to tags"
        raise OptionError(*given("label_names", label_names), expected=expected)
    tags = list(names.values())
    reading: dict[str, Any] = {"mode": mode, "scheme": checked_scheme(scheme), "suffix": suffix}
    # Refuse tags that are none before a model is trained.
    entities_of([tags], [tags], **reading)
    if not any(map((_SUFFIXED if suffix else _PREFIXED).fullmatch, tags)):
        expected = "tags such as B-PER and I-PER among them"
        raise OptionError("label_names are ", *quotes(tags), expected=expected)
    strict = is_strict(mode) and scheme is not None
    prefixes = {tag[-1 if suffix else 0] for tag in tags}
    return partial(
        _computed,
        names=names,
        reading=reading,
        prefixes="" if strict or reading["scheme"] == "IOB1" else "".join(sorted(prefixes)),
        labels=sorted(types_of(tags, is_strict=strict, suffix=suffix)) if by_label else [],
    )


def _computed(
    given_by_trainer: Any,
    *,
    names: Mapping[int, str],
    reading: Mapping[str, Any],
    prefixes: str,
    labels: Sequence[str],
) -> dict[str, float]:
    """Compute the metrics of one evaluation, also of labels that it lacks: keys never change."""
    predictions, label_ids = _parts(given_by_trainer)
    true, predicted = _tags(predictions, label_ids, names)
    entities = entities_of(true, predicted, **reading)
    corpus = corpus_of_entities(entities)
    exact, token = (agreement(corpus, measure=measure) for measure in ("exact", "token"))
    counts = label_counts(entities)
    n_tags = int(entities.lengths.sum())
    n_equal = sum(map(eq, *map(chain.from_iterable, (true, predicted))))
    found = {
        **_rates(rates(counts, average=MICRO)),
        "accuracy": n_equal / max(n_tags, 1),
        **_beyond(exact.score),
        "corrected_precision": exact.score.corrected_precision,
        "corrected_recall": exact.score.corrected_recall,
        "token_f1": token.observed,
        "corrected_token_f1": token.corrected,
        "repaired": entities.n_repaired(prefixes),
    }
    known = dict(zip(counts.labels, zip(*rates(counts, average=None), strict=True), strict=True))
    for label in labels:
        values = known.get(label, (0, 0, 0, 0))
        beyond = _beyond(exact.by_label.get(label, Score()))
        own = {**_rates(values), **beyond, "support": values[3]}
        found |= {f"{label}_{name}": value for name, value in own.items()}
    return {name: 0.0 if isnan(value) else float(value) for name, value in found.items()}


def _rates(values: Rates) -> dict[str, float]:
    return dict(zip(("precision", "recall", "f1"), values, strict=False))


def _beyond(score: Score) -> dict[str, float]:
    return {"chance_f1": score.chance, "corrected_f1": score.corrected}


# --- What the Trainer passes --------------------------------------------------


def _parts(value: Any) -> tuple[Any, Any]:
    """Return predictions and labels, by their names or in this order."""
    if hasattr(value, "predictions") and hasattr(value, "label_ids"):
        return value.predictions, value.label_ids
    if isinstance(value, tuple | list) and len(value) >= 2:
        return value[0], value[1]
    found = f"got {type(value).__name__}"
    raise DataError(found, expected="predictions and label_ids, as the Trainer passes them")


def _tags(predictions: Any, label_ids: Any, names: Mapping[int, str]) -> tuple[Texts, Texts]:
    """Return the tags of both sides, without positions that are ignored."""
    labels = _numbers("label_ids", label_ids, "numbers of labels, of shape (texts, tokens)")
    if isinstance(predictions, tuple):
        if not predictions:
            raise DataError("predictions are an empty tuple", expected=_SHAPES)
        predictions = predictions[0]
    predicted = _numbers("predictions", predictions, _SHAPES, has_scores=True)
    if predicted.shape != labels.shape:
        found = f"predictions are of {predicted.shape} tokens, label_ids of {labels.shape}"
        raise MismatchError(found, expected="the same texts and tokens")
    if not len(labels):
        raise DataError("there are no texts", expected="at least one")
    counts = labels != IGNORED
    one = _named("label_ids", labels, counts, names)
    return one, _named("predictions", predicted, counts, names)


def _numbers(name: str, value: Any, expected: str, *, has_scores: bool = False) -> Ints:
    """Return numbers of labels; where scores of labels may be given, those of the highest."""
    try:
        found = np.asarray(value)
    except (ValueError, TypeError, RuntimeError):
        raise DataError(f"{name} are nested unevenly", expected="an array") from None
    if has_scores and found.ndim == 3 and found.shape[2] and found.dtype.kind in "fiu":
        found = found.argmax(axis=-1)
    if found.ndim != 2 or found.dtype.kind not in "iu":
        what = f"{name} have the shape {found.shape} and the type {found.dtype}"
        raise DataError(what, expected=expected)
    return found


def _named(name: str, numbers: Ints, counts: Bools, names: Mapping[int, str]) -> Texts:
    """Return the tag of each position that counts."""
    unknown = sorted(set(np.unique(numbers[counts]).tolist()) - names.keys())
    if unknown:
        text, place = (int(axis[0]) for axis in np.nonzero((numbers == unknown[0]) & counts))
        raise TagError(
            f"number {unknown[0]} has no name",
            where=f"{name}, text {text}, position {place}",
            expected=("one of the numbers of ", *quotes(names.values(), most=50)),
            remedy=("check ", Use("label_names", is_name=True)),
        )
    return [
        [names[number] for number in row[is_counted].tolist()]
        for row, is_counted in zip(numbers, counts, strict=True)
    ]
