"""How many documents to annotate."""

from __future__ import annotations

from dataclasses import dataclass
from math import ceil, floor, isnan, log10, nan, sqrt
from typing import Unpack

import numpy as np

from beyondchance.checks import as_float, checked_option
from beyondchance.core.bootstrap import (
    bootstrap_weights,
    degrees_of_freedom,
    influences,
    percentiles,
)
from beyondchance.core.distributions import normal_quantile, student_quantile
from beyondchance.errors import DataError, OptionError
from beyondchance.options import ResamplingOptions, documented
from beyondchance.results.agreement import Agreement
from beyondchance.results.intervals import FEW
from beyondchance.results.resampling import SCORES, resampling_of, score_of
from beyondchance.settings import Settings

MOST_DOCUMENTS = 10**9
"""Documents that can be planned for."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan:
    """How many documents it takes to know a score to within ± `half_width`.

    Attributes
    ----------
    documents : int, optional
        How many in all; None where the pilot does not tell (see `reason`). No more than
        `n_pilot` where the pilot is enough (see `pilot_is_enough`).
    low, high : int, optional
        How many it may turn out to take, for a pilot shows its own spread only roughly.
    half_width : float
    score : float
        Of the pilot.
    spread : float
        How much a single document moves the score: the half width falls with the square
        root of the number of documents.
    effective : float
        How well the spread is known: as well as from this many documents, if each moved
        the score as any other does.
    n_pilot : int
        Documents of the pilot.
    unit : {"documents", "sentences"}
        What the documents are.
    settings : Settings
        Of the pilot, with the confidence and the seed.
    reason : str, optional
        Why there is no plan.
    """

    documents: int | None
    low: int | None
    high: int | None
    half_width: float
    score: float
    spread: float
    effective: float
    n_pilot: int
    unit: str
    settings: Settings
    reason: str | None = None

    def half_width_of(self, documents: int) -> float:
        """The half width to expect of so many documents; nan where there is no plan."""
        confidence = self.settings.confidence
        return _half_width(self.spread, documents, confidence)

    @property
    def pilot_is_enough(self) -> bool:
        """Whether the pilot's own documents make the interval as narrow as was wanted."""
        return self.documents is not None and self.documents <= self.n_pilot

    @property
    def to_annotate(self) -> int | None:
        """How many documents to annotate beside the pilot; None where there is no plan.

        Examples
        --------
        >>> from beyondchance import agreement
        >>> a = [["B-P", "O"], ["B-P", "O"], ["B-P", "O"], ["B-P", "O"]]
        >>> b = [["B-P", "O"], ["B-P", "O"], ["O", "B-P"], ["O", "B-P"]]
        >>> pilot = agreement(a, b)
        >>> plan(pilot, 0.5, score="observed", seed=1).to_annotate
        4
        >>> plan(pilot, 0.95, score="observed", seed=1).to_annotate
        0
        """
        return None if self.documents is None else max(self.documents - self.n_pilot, 0)

    @property
    def caution(self) -> str | None:
        """What to know before relying on it, if anything."""
        if not self.effective < FEW:
            return None
        return (
            f"the pilot's spread is known only about as well as from {self.effective:.0f} "
            f"{self.unit}; with fewer than {FEW}, plan again when more have been annotated"
        )


@documented(ResamplingOptions)
def plan(
    pilot: Agreement,
    half_width: float,
    *,
    score: str = "corrected",
    **resampling: Unpack[ResamplingOptions],
) -> Plan:
    r"""How many documents like those of a pilot make the interval ± `half_width` wide.

    With :math:`u_d` what each of the n documents of the pilot pulls (the jackknife), the
    spread is :math:`s = \sqrt{\sum u_d^2 / (n - 1)}`, and N documents give the half width
    :math:`t_{N-1}\, s / \sqrt N` with Student's quantile t.

    Parameters
    ----------
    pilot : Agreement
    half_width : float
        Between 0 and 1.
    score : {"corrected", "observed", "chance"}
    {options}

    Returns
    -------
    Plan

    Raises
    ------
    DataError
        If the pilot is no result of `agreement`.
    OptionError
        If the half width may take more than a thousand million documents.

    Examples
    --------
    Two of four sentences agree and two do not, so each pulls F1 by a half: s is 0.577. With
    eight sentences, Student's 2.365 times that, divided by the root of 8, is 0.483.

    >>> from beyondchance import agreement
    >>> a = [["B-P", "O"], ["B-P", "O"], ["B-P", "O"], ["B-P", "O"]]
    >>> b = [["B-P", "O"], ["B-P", "O"], ["O", "B-P"], ["O", "B-P"]]
    >>> found = plan(agreement(a, b), 0.5, score="observed", seed=1)
    >>> found.documents, round(found.spread, 3), round(found.half_width_of(8), 3)
    (8, 0.577, 0.483)
    """
    if not isinstance(pilot, Agreement):
        raise DataError(
            f"found one {type(pilot).__name__}; expected the pilot as a result of agreement()"
        )
    wanted = as_float(half_width)
    if not 0 < wanted < 1:
        raise OptionError(f"half_width is {half_width!r}; expected a number between 0 and 1")
    options = resampling_of(pilot.settings, resampling, method="percentile", over="documents")
    checked_option("score", score, SCORES)
    sums = pilot.counts.document_sums()
    whole = sums.sum(axis=0)
    estimate = float(score_of(whole, score))
    pulls = influences(score_of(whole - sums, score)) if len(sums) > 1 else np.full(1, nan)
    spread = _spread(pulls)
    reason = None
    if isnan(estimate):
        reason = "the score of the pilot is undefined"
    elif len(sums) < 2:
        reason = f"there are too few {pilot.resampled_unit}: found {len(sums)}, expected 2 or more"
    elif isnan(spread):
        reason = f"without one of the {pilot.resampled_unit} of the pilot the score is undefined"
    elif not pulls.any():
        reason = (
            f"all {pilot.resampled_unit} of the pilot pull alike, so nothing is known of its spread"
        )
    found: list[int | None] = [None, None, None]
    if reason is None:
        draws = [
            weights @ np.stack([pulls, pulls**2], axis=1)
            for weights in bootstrap_weights(len(pulls), options.resamples, options.generator)
        ]
        mean, square = np.concatenate(draws).T / len(pulls)
        spreads = np.sqrt(np.abs(square - mean**2) * len(pulls) / (len(pulls) - 1))
        low, high = percentiles(spreads, options.confidence)
        _check_reach(wanted, max(spread, high), options.confidence, pilot.resampled_unit)
        found = [_documents(s, wanted, options.confidence) for s in (spread, low, high)]
    return Plan(
        documents=found[0],
        low=found[1],
        high=found[2],
        half_width=wanted,
        score=estimate,
        spread=spread if reason is None else nan,
        effective=degrees_of_freedom([pulls]) + 1 if reason is None else nan,
        n_pilot=len(sums),
        unit=pilot.resampled_unit,
        settings=options.sign(pilot.settings),
        reason=reason,
    )


def _spread(pulls: np.ndarray) -> float:
    return sqrt(float((pulls * pulls).sum()) / (len(pulls) - 1)) if len(pulls) > 1 else nan


def _half_width(spread: float, documents: int, confidence: float) -> float:
    if documents < 2:
        return nan
    return student_quantile((1 + confidence) / 2, documents - 1) * spread / sqrt(documents)


def _check_reach(half_width: float, spread: float, confidence: float, unit: str) -> None:
    """Refuse a half width that takes more documents than can be planned for."""
    narrowest = _half_width(spread, MOST_DOCUMENTS, confidence)
    if half_width < narrowest:
        # Two digits, rounded up, so that what is named can be had.
        step = 10.0 ** (floor(log10(narrowest)) - 1)
        least = f"{ceil(narrowest / step) * step:.2g}"
        raise OptionError(
            f"half_width is {half_width!r}, which may take more than {MOST_DOCUMENTS:,} {unit} "
            f"like those of the pilot; expected {least} or more"
        )


def _documents(spread: float, half_width: float, confidence: float) -> int:
    """The smallest number of documents with at most this half width, 2 at least."""
    # By the normal distribution first, which is a little less than Student's asks for.
    least = ceil((normal_quantile((1 + confidence) / 2) * spread / half_width) ** 2)
    documents = max(least, 2)
    while _half_width(spread, documents, confidence) > half_width:
        documents += 1
    return documents
