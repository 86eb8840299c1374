"""Whether agreement changes over rounds, dates, or any other order of the documents."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isnan, sqrt

import numpy as np

from beyondchance.annotations.dates import in_order
from beyondchance.checks import checked_instance
from beyondchance.core.distributions import normal_quantile
from beyondchance.core.resampling import (
    degrees_of_freedom,
    influences,
    student_tail,
    variance_of,
)
from beyondchance.errors import DataError, OptionError
from beyondchance.inference.compare import FEWEST, why_few
from beyondchance.messages import Quote, Use, quotes
from beyondchance.results.agreement import Agreement
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import jackknifed
from beyondchance.results.score import PART
from beyondchance.settings import Settings

DROP, POWER, ALPHA = 0.1, 0.8, 0.05
"""The change between two rounds, and how often it should be found at which level, for `needed`."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Trend(Printed):
    """How agreement changes over a field of the documents.

    Attributes
    ----------
    field : str
    order : tuple of str
        The values of the field, from the first to the last.
    corrected : tuple of float
        The corrected agreement of each.
    slope : float
        How much corrected agreement changes from one value to the next, on average.
    error : float
        The standard error of the slope.
    freedom : float
        The degrees of freedom of the standard error.
    p_value : float
        Two-sided, of no change.
    needed : int
        How many documents like these it takes for each of two values to find a change of .1
        between them four times in five.
    n_documents : int
        Documents with marks.
    n_left_out : int
        Documents without a value.
    settings : Settings
    """

    field: str
    order: tuple[str, ...]
    corrected: tuple[float, ...]
    slope: float
    error: float
    freedom: float
    p_value: float
    needed: int
    n_documents: int
    n_left_out: int
    settings: Settings

    def __repr__(self) -> str:
        return f"Trend({self.field!r}: {self.slope:+.4f} a step, p_value={self.p_value:.4f})"


def trend(result: Agreement, by: str, *, order: Sequence[str] | None = None) -> Trend:
    r"""Test whether agreement changes over a field of the documents, such as a round.

    With :math:`C_g` the corrected agreement of round g, :math:`D_g = S_g - E_g` its weight and
    :math:`x_g` its place in the order, the slope is that of a weighted line,

    .. math:: \sum_g a_g C_g, \quad a_g = D_g (x_g - \bar x) / \sum_h D_h (x_h - \bar x)^2

    with :math:`\bar x` the mean weighted by D. Its variance is the sum of those of the rounds,
    each by the jackknife over the documents of the round, and p is that of Student's distribution
    with Satterthwaite's degrees of freedom.

    Parameters
    ----------
    result : Agreement
    by : str
        A field of the documents.
    order : sequence of str, optional
        Its values from the first to the last; by default numbers, dates as 2024-05-31, and names
        that differ in one whole number have an order. Documents without a value are left out.

    Returns
    -------
    Trend

    Raises
    ------
    OptionError
        If the values have no order, or the order given lacks one.
    DataError
        If the result is not of documents that are known one by one; if a value has fewer than
        four effective documents, :math:`(\sum D)^2 / \sum D^2`; or if agreement is the same
        without any one of the documents, so that its spread is unknown.

    Examples
    --------
    Ben finds none of Ada's spans, or all of them: one of four times in the first round, two times
    in the second and three times in the third.

    >>> from beyondchance import Corpus, agreement
    >>> ada, other = ["B-P", "O", "O", "O"], ["O", "B-P", "O", "O"]
    >>> ben = [ada] + [other] * 3 + [ada] * 2 + [other] * 2 + [ada] * 3 + [other]
    >>> rounds = ["1"] * 4 + ["2"] * 4 + ["3"] * 4
    >>> corpus = Corpus.from_tags({"ada": [ada] * 12, "ben": ben}, fields={"round": rounds})
    >>> found = trend(agreement(corpus), "round")
    >>> found.order, [round(value, 2) for value in found.corrected], round(found.slope, 2)
    (('1', '2', '3'), [0.0, 0.33, 0.67], 0.33)
    >>> round(found.p_value, 2), found.needed
    (0.27, 776)
    """
    checked_instance(result, Agreement, "a result of agreement()")
    counts = result.counts
    if not counts.is_by_document:
        raise DataError(
            "only sums of many documents are known, from files that were read in parts",
            expected="documents one by one",
        )
    if counts.is_corpus_wide:
        raise DataError(PART, expected="a unit other than the corpus")
    values, number = counts.field_values(by)
    ordered = _checked_order(by, values, order)
    places = np.array([ordered.index(value) if value in ordered else -1 for value in values])
    # In the order of the names, so that files in any order give the same digits.
    place = places[number][np.argsort(counts.document_places)]
    sums = counts.document_sums()
    rounds = [sums[(place == x) & (sums[:, 2] > 0)] for x in range(len(ordered))]
    for value, own in zip(ordered, rounds, strict=True):
        if few := why_few(own):
            raise DataError(
                *(f"{few} of ", Quote(value)), expected=f"{FEWEST} or more for each value"
            )
    whole, scores = np.array([own.sum(axis=0) for own in rounds]), list(map(jackknifed, rounds))
    corrected, weight = np.array([x[0] for x in scores]), whole[:, 2] / 2 - whole[:, 1]
    centred = np.arange(len(ordered)) - np.average(np.arange(len(ordered)), weights=weight)
    share = weight * centred / (weight @ (centred * centred))
    moves = [influences(x[1:]) for x in scores]
    effects = [own * move for own, move in zip(share, moves, strict=True)]
    slope, error = float(share @ corrected), sqrt(variance_of(effects))
    if not error > 0:
        undefined = isnan(error)
        what = "is undefined without one of the documents" if undefined else "has no spread"
        raise DataError(
            f"corrected agreement {what}, within the values of the field ",
            Quote(by),
            expected="documents that agree more and less within a value",
        )
    spread = sum(float(move @ move) for move in moves) / sum(len(move) - 1 for move in moves)
    reach = normal_quantile(1 - ALPHA / 2) + normal_quantile(POWER)
    return Trend(
        field=by,
        order=ordered,
        corrected=tuple(corrected.tolist()),
        slope=slope,
        error=error,
        freedom=degrees_of_freedom(effects),
        p_value=2 * student_tail(-abs(slope), effects),
        needed=max(ceil(2 * spread * (reach / DROP) ** 2), FEWEST),
        n_documents=sum(map(len, rounds)),
        n_left_out=int(np.count_nonzero(place < 0)),
        settings=result.settings,
    )


def _checked_order(by: str, values: Sequence[str], order: Sequence[str] | None) -> tuple[str, ...]:
    """Return the values in order, refused where there is none or a value is missing."""
    known = [value for value in values if value]
    if order is None:
        found = in_order(values)
        if found is None:
            listed = ("the values of the field ", Quote(by), " are ", *quotes(known))
            expected = "numbers, dates such as 2024-05-31, or names that differ in a whole number"
            raise OptionError(
                *listed, expected=expected, remedy=("pass ", Use("order", placeholder="A,B,C"))
            )
        return found
    given = (order,) if isinstance(order, str) else tuple(map(str, order))
    if len(known) < 2 or not set(known) <= set(given) or len(set(given)) < len(given):
        raise OptionError(
            *(Use("order", is_name=True), " is ", *quotes(given), ", and the field ", Quote(by)),
            *(" has the values ", *quotes(known)),
            expected="two values or more, each of them once",
        )
    return tuple(value for value in given if value in known)
