"""The metrics of seqeval and nervaluate, and the same beyond chance.

``from seqeval.metrics import …`` becomes ``from beyondchance.metrics import …``: the functions have
the same names and arguments, and give the same numbers to the last digit. Each has a twin, whose
name begins with ``corrected_``, that corrects for the matches that random entities of the same
number and lengths would have.

`schema_scores` counts by the four schemas of nervaluate.
"""

from __future__ import annotations

from collections.abc import Callable, Collection, Mapping, Sequence
from itertools import chain
from operator import eq
from typing import Any, Protocol

from beyondchance.checks import checked_whole
from beyondchance.errors import DataError
from beyondchance.evaluation.entities import (
    OUTSIDE,
    Entities,
    checked_lengths,
    detected_scheme,
    entities_of,
    is_strict,
)
from beyondchance.evaluation.rates import (
    AVERAGES,
    F_SCORE,
    PRECISION,
    RECALL,
    WARN,
    Rates,
    UndefinedMetricWarning,
    averaged,
    corpus_of_entities,
    filler_of,
    label_counts,
    rates,
    warn,
    warn_of_undefined,
)
from beyondchance.evaluation.schemas import schema_scores
from beyondchance.scoring.api import agreement

__all__ = [
    "UndefinedMetricWarning",
    "accuracy_score",
    "classification_report",
    "corrected_f1_score",
    "corrected_precision_score",
    "corrected_recall_score",
    "f1_score",
    "get_entities",
    "performance_measure",
    "precision_recall_fscore_support",
    "precision_score",
    "recall_score",
    "schema_scores",
]

_ALL = (PRECISION, RECALL, F_SCORE)
_COLUMNS = ("precision", "recall", "f1-score")
_BEYOND = ("chance", "corrected")


# --- As seqeval has them ------------------------------------------------------


class _Score(Protocol):
    """A function with the options of seqeval."""

    def __call__(
        self,
        y_true: Any,
        y_pred: Any,
        *,
        average: str | None = "micro",
        suffix: bool = False,
        mode: str | None = None,
        sample_weight: Any = None,
        zero_division: str | float = WARN,
        scheme: Any = None,
    ) -> Any: ...


def _as_in_seqeval(function: Callable[..., Any]) -> _Score:
    """Give a function of entities and of options the tags and the options of seqeval."""

    def call(
        y_true: Any,
        y_pred: Any,
        *,
        average: str | None = "micro",
        suffix: bool = False,
        mode: str | None = None,
        sample_weight: Any = None,
        zero_division: str | float = WARN,
        scheme: Any = None,
    ) -> Any:
        del sample_weight
        entities = _decoded(y_true, y_pred, mode=mode, scheme=scheme, suffix=suffix)
        return function(entities, average=average, zero_division=zero_division)

    call.__doc__, call.__name__ = function.__doc__, function.__name__
    call.__qualname__, call.__module__ = function.__name__, __name__
    return call


@_as_in_seqeval
def f1_score(entities: Entities, **options: Any) -> Any:
    """Compute F1 of entities, equal to that of seqeval.

    Parameters
    ----------
    y_true, y_pred : list of lists of str
        The tags of the gold standard and of the system, one list for each text.
    average : {"micro", "macro", "weighted", None}
        Of all entities, of the labels, of the labels by their number of true entities; or None
        for an array with a value for each label, in alphabetical order.
    suffix : bool
        Whether tags are ``PER-B`` rather than ``B-PER``.
    mode : {None, "default", "strict"}
        By default every sequence of tags is read somehow, as the conlleval script does. In
        strict mode an entity counts only if it begins and ends as `scheme` says; without a scheme,
        strict mode is the default mode, as in seqeval.
    sample_weight : optional
        Ignored, as in seqeval.
    zero_division : {"warn", 0, 1}
        What a rate is that is undefined; "warn" is 0 with a warning.
    scheme : {"IOB1", "IOE1", "IOB2", "IOE2", "IOBES", "BILOU"} or class of seqeval, optional
        For strict mode.

    Returns
    -------
    float, or array of float, shape (labels,)

    Raises
    ------
    ListsError
        If the tags are not a list of lists; it is a TypeError.
    MismatchError
        If the two sides have different texts.
    TagError
        If a tag is not in the scheme, or no string at all.
    OptionError
        For an unknown average, mode, scheme or zero_division.

    Examples
    --------
    One of two entities is found, and one is wrong.

    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"]]
    >>> float(f1_score(y_true, y_pred)), f1_score(y_true, y_pred, average=None)
    (0.5, array([1., 0.]))
    """
    return rates(label_counts(entities), warn_for=(F_SCORE,), **options)[2]


@_as_in_seqeval
def precision_score(entities: Entities, **options: Any) -> Any:
    """Compute the share of predicted entities that are true, equal to that of seqeval.

    Parameters
    ----------
    y_true, y_pred, average, suffix, mode, sample_weight, zero_division, scheme
        As in `f1_score`.

    Returns
    -------
    float, or array of float, shape (labels,)

    Examples
    --------
    Two are predicted, one of them is true.

    >>> float(precision_score([["B-PER", "O", "O"]], [["B-PER", "O", "B-PER"]]))
    0.5
    """
    return rates(label_counts(entities), warn_for=(PRECISION,), **options)[0]


@_as_in_seqeval
def recall_score(entities: Entities, **options: Any) -> Any:
    """Compute the share of true entities that are predicted, equal to that of seqeval.

    Parameters
    ----------
    y_true, y_pred, average, suffix, mode, sample_weight, zero_division, scheme
        As in `f1_score`.

    Returns
    -------
    float, or array of float, shape (labels,)

    Examples
    --------
    Two are true, one of them is predicted.

    >>> float(recall_score([["B-PER", "O", "B-PER"]], [["B-PER", "O", "O"]]))
    0.5
    """
    return rates(label_counts(entities), warn_for=(RECALL,), **options)[1]


def precision_recall_fscore_support(
    y_true: Any,
    y_pred: Any,
    *,
    average: str | None = None,
    warn_for: Collection[str] = _ALL,
    beta: float = 1.0,
    sample_weight: Any = None,
    zero_division: str | float = WARN,
    suffix: bool = False,
    mode: str | None = None,
    scheme: Any = None,
) -> Rates:
    """Compute precision, recall, F and number of true entities, equal to those of seqeval.

    Parameters
    ----------
    y_true, y_pred, average, suffix, sample_weight, zero_division
        As in `f1_score`; by default a value for each label.
    warn_for : collection of {"precision", "recall", "f-score"}
        The rates to warn of where they are undefined.
    beta : float
        How much more recall counts than precision.
    mode, scheme
        As in `f1_score`, except that a scheme without a mode is strict, as in
        ``seqeval.metrics.v1``.

    Returns
    -------
    precision, recall, f_score : float, or arrays of float, shape (labels,)
    support : int, or array of int, shape (labels,)

    Examples
    --------
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"]]
    >>> precision_recall_fscore_support(y_true, y_pred)
    (array([1., 0.]), array([1., 0.]), array([1., 0.]), array([1, 1]))
    """
    del sample_weight
    if mode is None and scheme is not None:
        mode = "strict"
    counts = label_counts(_decoded(y_true, y_pred, mode=mode, scheme=scheme, suffix=suffix))
    return rates(counts, average=average, zero_division=zero_division, beta=beta, warn_for=warn_for)


def accuracy_score(y_true: Any, y_pred: Any) -> float:
    """Compute the share of tags that are equal, as in seqeval.

    Parameters
    ----------
    y_true, y_pred : list of lists of str, or list of str

    Raises
    ------
    MismatchError
        If the two sides have different texts, of which seqeval would compare what there is.
    DataError
        If there are no tags.

    Examples
    --------
    >>> accuracy_score([["B-PER", "O", "O", "B-LOC"]], [["B-PER", "O", "O", "O"]])
    0.75
    """
    true, predicted = _flat(y_true, y_pred)
    if not true:
        raise DataError("there are no tags", expected="at least one")
    return float(sum(map(eq, true, predicted)) / len(true))


def performance_measure(y_true: Any, y_pred: Any) -> dict[str, int]:
    """Count tags by whether they are equal and whether they are ``O``, as in seqeval.

    Parameters
    ----------
    y_true, y_pred : list of lists of str, or list of str

    Returns
    -------
    dict
        TP: equal and not ``O``. FP: different, and not ``O`` in the prediction. FN: ``O`` in
        the prediction only. TN: ``O`` in both.

    Examples
    --------
    >>> performance_measure([["B-PER", "O", "O", "B-LOC"]], [["B-PER", "O", "B-LOC", "O"]])
    {'TP': 1, 'FP': 1, 'FN': 1, 'TN': 1}
    """
    pairs = list(zip(*_flat(y_true, y_pred), strict=True))
    return {
        "TP": sum(one == two != OUTSIDE for one, two in pairs),
        "FP": sum(one != two != OUTSIDE for one, two in pairs),
        "FN": sum(one != two == OUTSIDE for one, two in pairs),
        "TN": sum(one == two == OUTSIDE for one, two in pairs),
    }


def get_entities(seq: Any, suffix: bool = False) -> list[tuple[str, int, int]]:
    """Find the entities of tags in default mode, as in seqeval.

    Parameters
    ----------
    seq : list of str, or list of lists of str
    suffix : bool
        Whether tags are ``PER-B`` rather than ``B-PER``.

    Returns
    -------
    list of (label, first position, last position)
        The last position is part of the entity. Positions of several texts go on counting, with
        one between each text and the next.

    Examples
    --------
    >>> get_entities(["B-PER", "I-PER", "O", "B-LOC"])
    [('PER', 0, 1), ('LOC', 3, 3)]
    """
    texts = _texts(seq)
    entities = _decoded(texts, texts, suffix=suffix)
    side = entities.true
    columns = (side.label.tolist(), side.start.tolist(), (side.stop - 1).tolist())
    return [
        (entities.labels[label], first, last) for label, first, last in zip(*columns, strict=True)
    ]


def classification_report(  # noqa: PLR0917 - as seqeval has them
    y_true: Any,
    y_pred: Any,
    digits: int = 2,
    suffix: bool = False,
    output_dict: bool = False,
    mode: str | None = None,
    sample_weight: Any = None,
    zero_division: str | float = WARN,
    scheme: Any = None,
    *,
    corrected: bool = False,
) -> Any:
    """Report precision, recall, F1 and support of labels and their averages, as seqeval does.

    Parameters
    ----------
    y_true, y_pred, suffix, mode, sample_weight, zero_division
        As in `f1_score`.
    digits : int
        Digits after the point.
    output_dict : bool
        Whether to return a dictionary instead of a text.
    scheme : str or class of seqeval, optional
        For strict mode, which by default takes the scheme of the prefixes in `y_true`.
    corrected : bool
        Whether to add two columns, the F1 of random entities and the F1 beyond it: nan where
        it is undefined. Their averages leave out labels where it is.

    Returns
    -------
    str, or dict

    Raises
    ------
    DataError
        If there is no entity, and a text is wanted.

    Examples
    --------
    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"]]
    >>> print(classification_report(y_true, y_pred, corrected=True))
                  precision    recall  f1-score    chance corrected   support
    <BLANKLINE>
             LOC       1.00      1.00      1.00      0.25      1.00         1
             PER       0.00      0.00      0.00      0.00      0.00         1
    <BLANKLINE>
       micro avg       0.50      0.50      0.50      0.12      0.43         2
       macro avg       0.50      0.50      0.50      0.12      0.50         2
    weighted avg       0.50      0.50      0.50      0.12      0.50         2
    <BLANKLINE>
    """
    del sample_weight
    n_digits = checked_whole("digits", digits, most=100)
    if is_strict(mode) and scheme is None:
        checked_lengths(y_true, y_pred)
        scheme = detected_scheme(y_true, suffix=suffix)
    entities = _decoded(y_true, y_pred, mode=mode, scheme=scheme, suffix=suffix)
    counts = label_counts(entities)
    if not counts.labels and not output_dict:
        raise DataError("there is no entity on either side", expected="at least one to report on")
    scores = agreement(corpus_of_entities(entities), measure="exact") if corrected else None
    names = (*_COLUMNS, *(_BEYOND if scores else ()), "support")
    rows: list[tuple[str, dict[str, Any]]] = []
    for average in (None, *AVERAGES):
        *found, support = rates(counts, average=average, zero_division=zero_division, warn_for=_ALL)
        if scores:
            found += [averaged(scores, name, counts, average=average)[0] for name in _BEYOND]
        columns = [*found, support]
        of_rows = zip(*columns, strict=True) if average is None else [columns]
        titles = counts.labels if average is None else [f"{average} avg"]
        for title, values in zip(titles, of_rows, strict=True):
            rows.append((title, dict(zip(names, values, strict=True))))
    return dict(rows) if output_dict else _table(rows, len(counts.labels), n_digits)


# --- Beyond chance ------------------------------------------------------------


@_as_in_seqeval
def corrected_f1_score(entities: Entities, **options: Any) -> Any:
    """Compute F1 of entities beyond chance: (F1 − chance) / (1 − chance).

    Chance is the F1 that random entities reach which have, in each text and for each label, the
    same number and lengths on both sides: the measure ``exact`` of `beyondchance.agreement`.

    Parameters
    ----------
    y_true, y_pred, suffix, mode, sample_weight, scheme
        As in `f1_score`.
    average : {"micro", "macro", "weighted", None}
        Of all entities together; the mean of the labels, or their mean weighted by the number of
        their true entities, in which labels are left out that have no value; or None for an
        array with a value for each label.
    zero_division : {"warn", 0, 1}
        What a value is that is undefined, because nothing was marked, or because every random
        arrangement gives the same match. "warn" is nan with a warning.

    Returns
    -------
    float, or array of float, shape (labels,)

    Examples
    --------
    Both mark one of four tokens as a place, the same one. A random token would be the same in
    a quarter of all cases, so that all that is possible beyond chance was reached.

    >>> y_true = [["B-PER", "I-PER", "O", "B-LOC"]]
    >>> y_pred = [["B-PER", "O", "O", "B-LOC"]]
    >>> corrected_f1_score(y_true, y_pred, average=None)
    array([1., 0.])

    Of all, F1 is .5 and chance .125.

    >>> round(float(corrected_f1_score(y_true, y_pred)), 4)
    0.4286
    """
    return _corrected("corrected", entities, **options)


@_as_in_seqeval
def corrected_precision_score(entities: Entities, **options: Any) -> Any:
    """Compute precision of entities beyond chance.

    Parameters
    ----------
    y_true, y_pred, average, suffix, mode, sample_weight, zero_division, scheme
        As in `corrected_f1_score`.

    Returns
    -------
    float, or array of float, shape (labels,)

    Examples
    --------
    Two of four tokens are predicted, one of them is true. A random token is true in a
    quarter of all cases: (1/2 − 1/4) / (1 − 1/4).

    >>> y_true, y_pred = [["B-PER", "O", "O", "O"]], [["B-PER", "O", "O", "B-PER"]]
    >>> round(float(corrected_precision_score(y_true, y_pred)), 4)
    0.3333
    """
    return _corrected("corrected_precision", entities, **options)


@_as_in_seqeval
def corrected_recall_score(entities: Entities, **options: Any) -> Any:
    """Compute recall of entities beyond chance.

    Parameters
    ----------
    y_true, y_pred, average, suffix, mode, sample_weight, zero_division, scheme
        As in `corrected_f1_score`.

    Returns
    -------
    float, or array of float, shape (labels,)

    Examples
    --------
    Two of four tokens are true, one of them is predicted: (1/2 − 1/4) / (1 − 1/4).

    >>> y_true, y_pred = [["B-PER", "O", "O", "B-PER"]], [["B-PER", "O", "O", "O"]]
    >>> round(float(corrected_recall_score(y_true, y_pred)), 4)
    0.3333
    """
    return _corrected("corrected_recall", entities, **options)


# --- The work behind them -----------------------------------------------------


def _decoded(y_true: Any, y_pred: Any, **reading: Any) -> Entities:
    """Find the entities of both sides, and warn of tags that do not look like one."""
    entities = entities_of(y_true, y_pred, **reading)
    for tag in entities.odd:
        warn(f"{tag} seems not to be NE tag.")
    return entities


def _corrected(name: str, entities: Entities, *, average: Any, zero_division: Any) -> Any:
    """Compute one of the corrected scores, and warn where it is undefined."""
    filler, counts = filler_of(zero_division), label_counts(entities)
    scores = agreement(corpus_of_entities(entities), measure="exact")
    value, undefined = averaged(scores, name, counts, average=average, filler=filler)
    if filler is None and undefined:
        title = f"{name.replace('_', ' ')} score".replace("corrected score", "corrected F-score")
        labels = ", ".join(filter(None, undefined))
        where, why = f" in {labels}" if labels else "", "; ".join(dict.fromkeys(undefined.values()))
        warn_of_undefined([f"The {title} is undefined and being set to nan{where}: {why}."])
    return value


def _table(rows: Sequence[tuple[str, Mapping[str, Any]]], n_labels: int, digits: int) -> str:
    """Print rows as seqeval does: labels, a blank line, averages."""
    names = list(rows[0][1])
    width = max(*(len(title) for title, _ in rows), digits)
    lines = [f"{'':>{width}} " + "".join(f" {name:>9}" for name in names), ""]
    for number, (title, row) in enumerate(rows):
        *numbers, support = row.values()
        cells = "".join(f" {value:>9.{digits}f}" for value in numbers)
        lines += [""] * (number == n_labels)
        lines.append(f"{title:>{width}} {cells} {support:>9}")
    return "\n".join([*lines, ""])


def _flat(y_true: Any, y_pred: Any) -> tuple[list[Any], list[Any]]:
    """Put the tags of all texts, or of one text, end to end."""
    texts = _texts(y_true), _texts(y_pred)
    checked_lengths(*texts)
    true, predicted = (list(chain.from_iterable(side)) for side in texts)
    return true, predicted


def _texts(tags: Any) -> Any:
    """Return texts; tags that are no lists of tags are one text."""
    is_nested = isinstance(tags, list) and any(isinstance(text, list) for text in tags)
    return tags if is_nested else [tags]
