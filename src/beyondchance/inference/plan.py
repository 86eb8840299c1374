"""How many documents to annotate."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Iterable, Mapping
from dataclasses import dataclass, replace
from math import ceil, floor, inf, isnan, log10, nan, sqrt

import numpy as np

from beyondchance.checks import checked_instance, checked_option, checked_share
from beyondchance.core.distributions import (
    chi_square_quantile,
    fisher_share,
    student_quantile,
)
from beyondchance.core.resampling import degrees_of_freedom, effective_number, influences
from beyondchance.errors import OptionError
from beyondchance.inference.estimates import Estimate, largest
from beyondchance.inference.replacement import Replacement
from beyondchance.messages import Text
from beyondchance.results.agreement import Agreement
from beyondchance.results.intervals import FEW, signed_with, units_of
from beyondchance.results.printed import Printed, Reasoned
from beyondchance.results.resampling import SCORES, jackknifed, resampling_of
from beyondchance.settings import Settings
from beyondchance.types import Floats

MOST_DOCUMENTS = 10**9
"""Documents that can be planned for."""

SHARE = 0.8
"""How often the interval should turn out as narrow as was planned."""

LEAST_FREEDOM = 0.4
"""Where documents are unlike, their own spread shows only a part of how unlike they are: the
degrees of freedom are taken down to this share of them. Found by simulation."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Plan(Reasoned):
    """How many documents it takes to know a score to within ± `half_width`.

    Attributes
    ----------
    documents : int, optional
        How many in all, so that the interval is as narrow in four of five studies; None where the
        pilot does not show it (see `reason`). No more than `n_pilot` where the pilot is enough
        (see `pilot_is_enough`).
    low, high : int, optional
        How many it may turn out to take, because a pilot shows its own spread only roughly.
    half_width : float
    score : float
        Of the pilot.
    of : {"corrected", "observed", "chance"}
        Which score it is.
    spread : float
        How much a single document moves the score: the half width falls with the square
        root of the number of documents.
    kurtosis : float
        How unlike the documents are in how much they move it: their excess kurtosis, 0 at least.
    effective : float
        How well the spread is known: as well as from this many documents, if each moved
        the score as any other does.
    n_pilot : int
        Documents of the pilot.
    unit : {"documents", "sentences"}
        What the documents are.
    settings : Settings
        Of the pilot, with the confidence.
    why : Text
        Why there is no plan, in parts; empty where there is one.
    """

    documents: int | None
    low: int | None
    high: int | None
    half_width: float
    score: float
    spread: float
    kurtosis: float
    effective: float
    n_pilot: int
    unit: str
    settings: Settings
    of: str = "corrected"
    why: Text = ()

    def __repr__(self) -> str:
        range_of = f"from {self.low} to {self.high}" if self.reason is None else self.reason
        return f"Plan(documents={self.documents}, half_width={self.half_width:g}: {range_of})"

    def half_width_of(self, documents: int) -> float:
        """Return the half width to expect of so many documents; nan where there is no plan."""
        return _half_width(self.spread, self.kurtosis, documents, self.settings.confidence)

    @property
    def pilot_is_enough(self) -> bool:
        """Whether the pilot's own documents make the interval as narrow as was wanted."""
        return self.half_width_of(self.n_pilot) <= self.half_width

    @property
    def to_annotate(self) -> int | None:
        """How many documents to annotate besides the pilot; None where there is no plan.

        Examples
        --------
        >>> from beyondchance import agreement
        >>> a = [["B-P", "O"], ["B-P", "O"], ["B-P", "O"], ["B-P", "O"]]
        >>> b = [["B-P", "O"], ["B-P", "O"], ["O", "B-P"], ["O", "B-P"]]
        >>> pilot = agreement(a, b)
        >>> plan(pilot, 0.5, score="observed").to_annotate
        14
        >>> plan(pilot, 0.95, score="observed").to_annotate
        0
        """
        return None if self.documents is None else max(self.documents - self.n_pilot, 0)

    @property
    def caution_text(self) -> Text:
        """What to know before relying on it, in parts; empty if nothing."""
        if not self.effective < FEW:
            return ()
        return (
            f"the pilot's spread is known only about as well as from {self.effective:.0f} "
            f"{self.unit}; with fewer than {FEW}, plan again when more have been annotated"
        )


def plan(
    pilot: Agreement, half_width: float, *, score: str = "corrected", confidence: float = 0.95
) -> Plan:
    r"""Plan how many documents make the interval ± `half_width` wide, from a pilot.

    With :math:`u_d` the influence of each of the n documents of the pilot (by the jackknife),
    the spread is :math:`s = \sqrt{\sum u_d^2 / (n - 1)}`, and N documents, the pilot's included,
    give the half width w or less in four of five studies if

    .. math:: t_{\nu_N}^2\, s^2\, F_{.8;\, \nu_N, \nu} / N \le w^2

    with the quantiles of Student's and Fisher's distribution [1]_. The degrees of freedom of N
    documents are :math:`\nu_N = 2 / (g / N + 2 / (N - 1))`, g the kurtosis of the influences;
    those of the pilot, :math:`\nu`, are fewer where documents differ in length or in influence
    (`freedom_of_spread`). The range is that of s, by the chi-square distribution.

    Parameters
    ----------
    pilot : Agreement
    half_width : float
        Between 0 and 1.
    score : {"corrected", "observed", "chance"}
    confidence : float
        Of the interval that is wanted, and of the range.

    Returns
    -------
    Plan

    Raises
    ------
    DataError
        If the pilot is not a result of `agreement`.
    OptionError
        If the half width may take more than a thousand million documents.

    References
    ----------
    .. [1] Kelley, K. & Rausch, J. R. (2006). Sample size planning for the standardized mean
       difference: accuracy in parameter estimation via narrow confidence intervals.
       Psychological Methods 11(4).

    Examples
    --------
    Two of four sentences agree and two do not, so each moves F1 by a half: s is 0.577. With
    eight sentences, Student's 2.365 times that, divided by the root of 8, is 0.483; but from
    four sentences s is known so roughly that it takes more to be sure.

    >>> from beyondchance import agreement
    >>> a = [["B-P", "O"], ["B-P", "O"], ["B-P", "O"], ["B-P", "O"]]
    >>> b = [["B-P", "O"], ["B-P", "O"], ["O", "B-P"], ["O", "B-P"]]
    >>> found = plan(agreement(a, b), 0.5, score="observed")
    >>> found.documents, round(found.spread, 3), round(found.half_width_of(8), 3)
    (18, 0.577, 0.483)
    """
    return plans(pilot, (half_width,), score=score, confidence=confidence)[0]


def plans(
    pilot: Agreement,
    half_widths: Iterable[float],
    *,
    score: str = "corrected",
    confidence: float = 0.95,
) -> tuple[Plan, ...]:
    """Plan for several half widths, as `plan` does for one."""
    checked_instance(pilot, Agreement, "the pilot as a result of agreement()")
    widths = [checked_share("half_width", width) for width in half_widths]
    options = resampling_of(pilot.settings, {"confidence": confidence})
    checked_option("score", score, SCORES)
    sums, unit = pilot.counts.document_sums(), units_of(pilot.counts, pilot.settings)
    scores = jackknifed(sums, score)
    estimate = float(scores[0])
    moves = influences(scores[1:]) if len(sums) > 1 else np.full(1, nan)
    spread = _spread(moves)
    why: Text = ()
    if isnan(estimate):
        why = "the score of the pilot is undefined"
    elif len(sums) < 2:
        why = f"there are too few {unit}: found {len(sums)}, expected 2 or more"
    elif isnan(spread):
        why = f"without one of the {unit} of the pilot the score is undefined"
    elif not moves.any():
        why = f"all {unit} of the pilot have the same influence, so its spread is unknown"
    n, level = len(sums), options.confidence
    freedom, kurtosis = nan, nan
    if not why:
        freedom = degrees_of_freedom([moves])
        kurtosis = n * (2 / freedom - 2 / (n - 1))
        known = freedom_of_spread(moves, sums[:, 2])
        ends = _spread_range(spread, known, level)
        for width in widths:
            _check_reach(width, max(spread, ends[1]), kurtosis, level, unit)

    def planned(width: float) -> Plan:
        low = documents = high = None
        if not why:
            low, high = (_documents(end, kurtosis, width, level) for end in ends)
            documents = _documents(spread, kurtosis, width, level, known)
            if _half_width(spread, kurtosis, n, level) <= width:
                documents = min(documents, n)
            low, high = min(low, documents), max(high, documents)
        return Plan(
            documents=documents,
            low=low,
            high=high,
            half_width=width,
            score=estimate,
            spread=nan if why else spread,
            kurtosis=kurtosis,
            effective=freedom + 1,
            n_pilot=n,
            unit=unit,
            settings=signed_with(options, pilot.settings, pilot.counts),
            of=score,
            why=why,
        )

    return tuple(planned(width) for width in widths)


def freedom_of_spread(moves: Floats, sizes: Floats) -> float:
    """Compute the degrees of freedom with which a pilot knows the spread of all documents.

    Those of the influences, if the documents are alike. A pilot has probably none of the few
    documents that are much longer, or much harder, than the others, so that unlike documents
    vary even more than they show: there are fewer degrees of freedom, the more the documents
    differ in length (by Kish's effective size) and in influence.

    Parameters
    ----------
    moves, sizes : arrays of float, shape (documents,)
        The influence of each document, and how much was marked in it.

    Examples
    --------
    >>> alike, unlike = np.full(10, 5.0), np.r_[np.full(9, 5.0), 45.0]
    >>> moves = np.array([1.0, -1.0] * 5)
    >>> [round(freedom_of_spread(moves, sizes), 2) for sizes in (alike, unlike)]
    [9.0, 3.6]
    """
    n = len(moves)
    freedom = degrees_of_freedom([moves])
    return freedom * max(LEAST_FREEDOM, effective_number(sizes) / n * freedom / (n - 1))


def _spread_range(spread: float, freedom: float, confidence: float) -> tuple[float, float]:
    """Compute the confidence interval of the spread of all documents."""
    low, high = (
        spread * sqrt(freedom / chi_square_quantile(share, freedom))
        for share in ((1 + confidence) / 2, (1 - confidence) / 2)
    )
    return low, high


def _spread(moves: Floats) -> float:
    return sqrt(float((moves * moves).sum()) / (len(moves) - 1)) if len(moves) > 1 else nan


def _half_width(spread: float, kurtosis: float, documents: int, confidence: float) -> float:
    if documents < 2 or isnan(spread):
        return nan
    freedom = _freedom(kurtosis, documents)
    return student_quantile((1 + confidence) / 2, freedom) * spread / sqrt(documents)


def _freedom(kurtosis: float, documents: int) -> float:
    """Return the degrees of freedom of so many documents."""
    return 2 / (kurtosis / documents + 2 / (documents - 1))


def _check_reach(
    half_width: float, spread: float, kurtosis: float, confidence: float, unit: str
) -> None:
    """Refuse a half width that takes more documents than can be planned for."""
    narrowest = _half_width(spread, kurtosis, MOST_DOCUMENTS, confidence)
    if half_width < narrowest:
        # Two digits, rounded up, so that the half width named is within reach.
        step = 10.0 ** (floor(log10(narrowest)) - 1)
        least = f"{ceil(narrowest / step) * step:.2g}"
        raise OptionError(
            f"half_width is {half_width!r}, which may take more than {MOST_DOCUMENTS:,} {unit} "
            "like those of the pilot",
            expected=f"{least} or more",
        )


def _documents(
    spread: float, kurtosis: float, half_width: float, confidence: float, known: float = inf
) -> int:
    """Return the smallest number of documents with at most this half width, 2 at least.

    If the spread is known with so many degrees of freedom only, in `SHARE` of all studies.
    """

    def is_enough(documents: int) -> bool:
        ratio = (half_width / _half_width(spread, kurtosis, documents, confidence)) ** 2
        if known == inf:
            return ratio >= 1
        return fisher_share(ratio, _freedom(kurtosis, documents), known) >= SHARE

    return 2 + bisect_left(range(2, MOST_DOCUMENTS), True, key=is_enough)


# --- To replace a person --------------------------------------------------------------


@dataclass(frozen=True, slots=True, kw_only=True)
class ReplacementPlan(Printed):
    """How many documents a test of replacement takes.

    Attributes
    ----------
    by_condition : mapping of str to (float, (documents, low, high) or None)
        Of what has to be shown to be positive (see `Replacement`; ``people`` is the people's pooled
        agreement), the value that is assumed, how many documents with marks it takes in all, and
        how many it may turn out to take, because a pilot shows its own spread only roughly; None
        where no number of documents would do.
    documents : int, optional
        For all of them; None where no number would do for one of them.
    keep, margin : float, optional
        As in the pilot.
    power : float
    n_pilot : int
    model : str
    settings : Settings
    """

    by_condition: Mapping[str, tuple[float, tuple[int, int, int] | None]]
    keep: float | None
    margin: float | None
    power: float
    n_pilot: int
    model: str
    settings: Settings

    def __repr__(self) -> str:
        return f"ReplacementPlan({self.model!r}: documents={self.documents})"

    @property
    def documents(self) -> int | None:
        """How many it takes for all conditions; None if no number would do for one of them."""
        return largest(numbers and numbers[0] for _, numbers in self.by_condition.values())


def plan_replacement(
    pilot: Replacement, *, power: float = 0.8, difference: float | None = None
) -> ReplacementPlan:
    r"""Compute how many documents it takes to show that a model may replace people.

    With :math:`s` the spread of a condition (its standard error in the pilot times the root of
    the number of documents) and :math:`v` its value, N documents show it with the power wanted if
    :math:`v \sqrt N \ge s\,(t_{1 - \alpha} + t_{power})`, with Student's quantiles. At least 20
    are needed.

    Parameters
    ----------
    pilot : Replacement
        With the share to keep and the margin of the test.
    power : float
        How often the test should pass.
    difference : float, optional
        What to assume of the model, on average; by default what the pilot shows. 0 assumes that it
        is as good as people are.

    Returns
    -------
    ReplacementPlan

    Examples
    --------
    >>> from beyondchance import example, replacement
    >>> pilot = replacement(example(), model="cleo", margin=0.03)
    >>> plan_replacement(pilot, difference=0.0).documents
    50
    """
    checked_instance(pilot, Replacement, "the pilot as a result of replacement()")
    checked_share("power", power)
    shift = 0.0 if difference is None else difference - pilot.mean.difference
    found = {"people": pilot.pooled}
    for name, one in pilot.mean.conditions.items():
        found[name] = replace(one, value=one.value + shift)
    return ReplacementPlan(
        by_condition={
            name: (one.value, _documents_for(one, pilot.confidence, power))
            for name, one in found.items()
        },
        keep=pilot.keep,
        margin=pilot.margin,
        power=power,
        n_pilot=pilot.n_documents,
        model=pilot.model,
        settings=pilot.settings,
    )


def _documents_for(one: Estimate, confidence: float, power: float) -> tuple[int, int, int] | None:
    """Return how many documents show that a value is positive, and a range of that number."""
    spreads = (1.0, *(_spread_range(1.0, one.freedom, confidence) if one.error > 0 else (1.0, 1.0)))
    found, low, high = (one.documents(confidence, power, inflated=x) for x in spreads)
    return None if found is None or low is None or high is None else (found, low, high)
