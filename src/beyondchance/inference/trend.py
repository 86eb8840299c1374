"""Whether agreement changes over rounds, dates, or any other order of the documents."""

from __future__ import annotations

import re
from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beyondchance.checks import checked_generator, checked_instance, checked_whole
from beyondchance.core.bootstrap import blocks
from beyondchance.core.permutation import least_share, tail_share
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import Quote
from beyondchance.options import FEWEST_RESAMPLES, MOST_RESAMPLES
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import score_of
from beyondchance.settings import Settings
from beyondchance.types import Floats

_NUMBER = re.compile(r"\d+(?:\.\d+)?")
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
    settings : Settings
    """

    field: str
    order: tuple[str, ...]
    corrected: tuple[float, ...]
    slope: float
    p_value: float
    p_floor: float
    n_documents: int
    settings: Settings

    def __repr__(self) -> str:
        return f"Trend({self.field!r}: {self.slope:+.4f} a step, p_value={self.p_value:.4f})"


def in_order(values: Sequence[str]) -> tuple[str, ...] | None:
    """Values in the order that their numbers have; None if they have none.

    Numbers, dates such as 2024-05-31, and names that differ in a number, such as round 2.

    Examples
    --------
    >>> in_order(["round 10", "round 9"]), in_order(["spring", "autumn"])
    (('round 9', 'round 10'), None)
    >>> in_order(["2024-05", "2023-11"]), in_order(["1", "x"])
    (('2023-11', '2024-05'), None)
    """
    distinct = list(dict.fromkeys(values))
    keys = {value: tuple(map(float, _NUMBER.findall(value))) for value in distinct}
    shapes = {_NUMBER.sub("#", value) for value in distinct}
    if len(distinct) < 2 or len(shapes) > 1 or len(set(keys.values())) < len(distinct):
        return None
    return tuple(sorted(distinct, key=keys.__getitem__))


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
        Its values from the first to the last; by default by the numbers in them.
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
    ordered = in_order(values) if order is None else tuple(map(str, order))
    if ordered is None or set(ordered) != set(values):
        lost = next((value for value in values if value not in (ordered or ())), values[0])
        found = ("the field ", Quote(by), " has the value ", Quote(lost))
        raise OptionError(*found, expected="values with an order", remedy="pass order=")
    sums = counts.document_sums()[counts.document_places]
    place = np.array([ordered.index(value) for value in values], dtype=np.float64)[number]
    is_marked = sums[:, 2] > 0
    own, x = sums[is_marked], place[is_marked]
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
    groups = [own[x == i].sum(axis=0) for i in range(len(ordered))]
    return Trend(
        field=by,
        order=ordered,
        corrected=tuple(float(score_of(group, "corrected")) for group in groups),
        slope=float(x @ residual) / spread if spread else 0.0,
        p_value=float(p[0]),
        p_floor=least_share(resamples, enumerated=False),
        n_documents=len(own),
        settings=result.settings.replaced(
            resamples=resamples, seed=seed if isinstance(seed, int) else None
        ),
    )


def _permuted(x: Floats, residual: Floats, resamples: int, rng: np.random.Generator) -> Floats:
    """The statistic with values exchanged at random."""
    parts = [
        rng.permuted(np.tile(x, (rows, 1)), axis=1) @ residual for rows in blocks(resamples, len(x))
    ]
    return np.concatenate(parts)
