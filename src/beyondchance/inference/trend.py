"""Whether agreement changes over rounds, dates, or any other order of the documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass
from math import nan
from typing import Any

import numpy as np

from beyondchance.checks import checked_generator, checked_instance, checked_whole
from beyondchance.core.bootstrap import blocks
from beyondchance.core.permutation import least_share, tail_share
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import Quote, quotes
from beyondchance.options import FEWEST_RESAMPLES, MOST_RESAMPLES
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import score_of
from beyondchance.settings import Settings
from beyondchance.types import Floats

_PLAIN = re.compile(r"[-+]?\d+(?:\.\d+)?")
_DATE = re.compile(r"(\d{4})-(\d{2})(?:-(\d{2}))?(?:[T ].*)?")
_WHOLE = re.compile(r"\d+")
LEAST = 3
"""Documents with marks from which on a trend is tested."""


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
    p_value : float
        How often a change as large, up or down, would come about if documents were in any order.
    p_floor : float
        The smallest p-value that so many permutations can show.
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
    p_value: float
    p_floor: float
    n_documents: int
    n_left_out: int
    settings: Settings

    def __repr__(self) -> str:
        return f"Trend({self.field!r}: {self.slope:+.4f} a step, p_value={self.p_value:.4f})"


def in_order(values: Sequence[str]) -> tuple[str, ...] | None:
    """Values in the order that they have; None if they have none.

    Numbers, dates such as 2024-05-31, and names that differ in one whole number, such as round 2.
    No value is left out but the empty one.

    Examples
    --------
    >>> in_order(["round 10", "round 9"]), in_order(["spring", "autumn"])
    (('round 9', 'round 10'), None)
    >>> in_order(["2024-05", "2023-11", ""]), in_order(["31.05.2023", "01.06.2023"])
    (('2023-11', '2024-05'), None)
    """
    distinct = [value for value in dict.fromkeys(values) if value]
    keys: list[Any] = []
    if all(map(_PLAIN.fullmatch, distinct)):
        keys = [float(value) for value in distinct]
    elif all(map(_DATE.fullmatch, distinct)):
        keys = list(distinct)
    elif len({_WHOLE.sub("#", value) for value in distinct}) == 1:
        numbers = [_WHOLE.findall(value) for value in distinct]
        keys = [int(found[0]) for found in numbers if len(found) == 1]
    if len(distinct) < 2 or len(set(keys)) < len(distinct):
        return None
    place = dict(zip(distinct, keys, strict=True))
    return tuple(sorted(distinct, key=place.__getitem__))


def trend(
    result: Agreement,
    by: str,
    *,
    order: Sequence[str] | None = None,
    resamples: int = 9999,
    seed: np.random.Generator | int | None = 0,
) -> Trend:
    r"""Test whether agreement changes over a field of the documents, such as a round.

    With :math:`m_d, E_d, S_d` the sums of document d and C the corrected score of all, the
    residual of d is :math:`r_d = (m_d - E_d) - C (S_d - E_d)`, and the statistic
    :math:`\sum_d x_d r_d`, with :math:`x_d` the place of its value in the order. Documents exchange
    their values at random.

    Parameters
    ----------
    result : Agreement
    by : str
        A field of the documents.
    order : sequence of str, optional
        Its values from the first to the last; by default numbers, dates as 2024-05-31, and names
        that differ in one whole number have an order. Documents without a value are left out.
    resamples : int
        Permutations.
    seed : int or generator, optional

    Returns
    -------
    Trend

    Raises
    ------
    OptionError
        If the values have no order, or the order given lacks one.
    DataError
        If the result is not of documents that are known one by one, or has fewer than three with
        marks.

    Examples
    --------
    Ben agrees more from round to round.

    >>> from beyondchance import Corpus, agreement
    >>> ada = [["B-P", "O", "O", "O"]] * 12
    >>> ben = [["O", "B-P", "O", "O"]] * 4 + [ada[0], ["O", "O", "B-P", "O"]] * 2 + ada[:4]
    >>> rounds = ["1"] * 4 + ["2"] * 4 + ["3"] * 4
    >>> corpus = Corpus.from_tags({"ada": ada, "ben": ben}, fields={"round": rounds})
    >>> found = trend(agreement(corpus), "round")
    >>> found.order, [round(value, 2) for value in found.corrected], found.p_value < 0.05
    (('1', '2', '3'), [-0.33, 0.33, 1.0], True)
    """
    checked_instance(result, Agreement, "a result of agreement()")
    counts = result.counts
    if not isinstance(counts, Counts):
        raise DataError("documents are not known one by one", expected="a corpus in memory")
    checked_whole("resamples", resamples, least=FEWEST_RESAMPLES, most=MOST_RESAMPLES)
    rng = checked_generator(seed)
    values, number = counts.field_values(by)
    ordered = _checked_order(by, values, order)
    places = {value: float(i) for i, value in enumerate(ordered)}
    place = np.array([places.get(value, nan) for value in values])[number]
    sums = counts.document_sums()[counts.document_places]
    is_used = (sums[:, 2] > 0) & ~np.isnan(place)
    own, x = sums[is_used], place[is_used]
    if len(own) < LEAST:
        raise DataError(f"{len(own)} documents have marks", expected=f"{LEAST} or more")
    whole = own.sum(axis=0)
    corrected = float(score_of(whole, "corrected"))
    weight = own[:, 2] / 2 - own[:, 1]
    residual = (own[:, 0] - own[:, 1]) - corrected * weight
    centred = x - (weight @ x) / weight.sum()
    spread = float(weight @ (centred * centred))
    drawn = _permuted(x, residual, resamples, rng)
    p, _ = tail_share(drawn[:, None], np.array([x @ residual]), enumerated=False)
    groups = np.zeros((len(ordered), own.shape[1]))
    np.add.at(groups, x.astype(np.int64), own)
    return Trend(
        field=by,
        order=ordered,
        corrected=tuple(score_of(groups, "corrected").tolist()),
        slope=float(x @ residual) / spread if spread else 0.0,
        p_value=float(p[0]),
        p_floor=least_share(resamples, enumerated=False),
        n_documents=len(own),
        n_left_out=int(np.count_nonzero(np.isnan(place))),
        settings=result.settings.replaced(
            resamples=resamples, seed=seed if isinstance(seed, int) else None
        ),
    )


def _checked_order(by: str, values: Sequence[str], order: Sequence[str] | None) -> tuple[str, ...]:
    """The values in an order, refused where there is none or one is missing."""
    known = [value for value in values if value]
    if order is None:
        found = in_order(values)
        if found is None:
            listed = ("the values of the field ", Quote(by), " are ", *quotes(known))
            expected = "numbers, dates such as 2024-05-31, or names that differ in a whole number"
            raise OptionError(*listed, expected=expected, remedy="pass order=")
        return found
    listed = tuple(map(str, order))
    lost = next((value for value in known if value not in listed), None)
    if isinstance(order, str) or lost is not None or len(set(listed)) < len(listed):
        raise OptionError(
            *("order is ", Quote(order), ", and the field ", Quote(by), " has the values "),
            *quotes(known),
            expected="each of them once",
        )
    return tuple(value for value in listed if value in known)


def _permuted(x: Floats, residual: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """The statistic with values exchanged at random."""
    parts = [
        rng.permuted(np.tile(x, (rows, 1)), axis=1) @ residual for rows in blocks(resamples, len(x))
    ]
    return np.concatenate(parts)
