"""Confidence intervals of scores, from resamples."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from math import isfinite, nan

import numpy as np

from beyondchance.core.bootstrap import (
    accelerated,
    are_alike,
    degrees_of_freedom,
    influences,
    percentiles,
)
from beyondchance.messages import Text, Use
from beyondchance.results.resampling import Resampling, Rows, resampled, score_of, team_of
from beyondchance.settings import Settings
from beyondchance.types import Floats

FEW = 30
"""BCa and percentiles are too narrow where the spread is known no better than from fewer than
this many documents."""

VERY_FEW = 10
"""The same for the expanded interval; and annotators, below which no method helps."""


@dataclass(frozen=True, slots=True)
class ConfidenceInterval:
    """Where the score of all documents of this kind probably lies.

    Attributes
    ----------
    low, high : float
        Its ends; nan where there is none.
    reason : str, optional
        Why there is none.
    over : str
        What was resampled: documents, sentences, annotators, or documents and annotators.
    n_units : int
        How many of them there are.
    effective : float
        How well its width is known: as well as from this many of them, if each moved the
        score as any other does. Few, where most documents have no disagreement at all.
        (Satterthwaite's degrees of freedom and one more; it counts no documents.) Nan where
        there is no interval.
    method : str
    n_annotators : int
        How many of the units are annotators.

    Examples
    --------
    >>> interval = ConfidenceInterval(0.61, 0.82, n_units=30, effective=12.4)
    >>> interval.low, interval.high
    (0.61, 0.82)
    >>> interval.caution
    "its width is known only about as well as from 12 documents; with fewer than 30 it tends \
to be too narrow, which method='expanded' allows for"
    """

    low: float
    high: float
    reason: str | None = None
    over: str = field(default="documents", repr=False)
    n_units: int = field(default=0, repr=False)
    effective: float = field(default=nan, repr=False)
    method: str = field(default="bca", repr=False)
    n_annotators: int = field(default=0, repr=False)

    @property
    def units(self) -> tuple[tuple[str, int], ...]:
        """What was resampled, and how many of each there are."""
        kinds = self.over.split(" and ")
        both = (self.n_units - self.n_annotators, self.n_annotators)
        return tuple(zip(kinds, both if len(kinds) > 1 else (self.n_units,), strict=True))

    @property
    def why(self) -> Text:
        """The reason, in pieces."""
        return self.reason or ()

    @property
    def caution_text(self) -> Text:
        """The caution, in pieces."""
        text, option, rest = (self.caution or "").partition("method='expanded'")
        return (text, Use("method", "expanded", flag="interval_method"), rest) if option else text

    @property
    def has_few_annotators(self) -> bool:
        """Whether annotators were drawn, and are too few for it to hold what it promises."""
        return self.reason is None and 0 < self.n_annotators < VERY_FEW

    @property
    def caution(self) -> str | None:
        """What to know before relying on it, if anything."""
        if self.has_few_annotators:
            return (
                f"it is over {self.n_annotators} annotators; with fewer than {VERY_FEW} it is too "
                "narrow, by any method"
            )
        expanded = self.method == "expanded"
        if not self.effective < (VERY_FEW if expanded else FEW):
            return None
        known = f"its width is known only about as well as from {self.effective:.0f} {self.over}"
        if expanded:
            return f"{known}; take it as a rough guide"
        return (
            f"{known}; with fewer than {FEW} it tends to be too narrow, which "
            "method='expanded' allows for"
        )


@dataclass(frozen=True, slots=True, kw_only=True)
class Intervals:
    """Confidence intervals of a result at every level, from the same resamples.

    Attributes
    ----------
    overall : mapping of str to ConfidenceInterval
        By ``observed``, ``chance`` and ``corrected``.
    by_label, by_pair, by_annotator : mapping of name to such mappings
    without : mapping of annotator to such mappings
        Of the team without the annotator, where two are left.
    by_field : mapping of field to mapping of value to such mappings
    settings : Settings
        How it was computed, with the seed; ``str(settings)`` is the signature to cite.
    """

    overall: Mapping[str, ConfidenceInterval]
    by_label: Mapping[str, Mapping[str, ConfidenceInterval]] = field(default_factory=dict)
    by_pair: Mapping[tuple[str, str], Mapping[str, ConfidenceInterval]] = field(
        default_factory=dict
    )
    by_annotator: Mapping[str, Mapping[str, ConfidenceInterval]] = field(default_factory=dict)
    without: Mapping[str, Mapping[str, ConfidenceInterval]] = field(default_factory=dict)
    by_field: Mapping[str, Mapping[str, Mapping[str, ConfidenceInterval]]] = field(
        default_factory=dict
    )
    settings: Settings


def intervals_of(
    rows: Rows, names: Sequence[str], options: Resampling, *, unit: str = "documents"
) -> list[dict[str, ConfidenceInterval]]:
    """For each level, the interval of each of the scores named.

    Parameters
    ----------
    rows : Rows
    names : sequence of str
        Among ``observed``, ``chance``, ``corrected`` and ``difficulty``.
    options : Resampling
    unit : {"documents", "sentences"}
        What the documents are called.
    """
    team = team_of(rows)
    kinds = [(unit, rows.n_documents, 2)] if options.over != "annotators" else []
    kinds += [("annotators", team.n_members, 3)] if options.over != "documents" else []
    over, sizes = " and ".join(kind for kind, *_ in kinds), [size for _, size, _ in kinds]
    for kind, size, least in kinds:
        if size < least:
            reason = f"there are too few {kind}: found {size}, expected {least} or more"
            empty = _undefined(reason, options, over, sizes)
            return [dict.fromkeys(names, empty) for _ in range(rows.n_levels)]
    return [
        {
            name: interval_from(
                score_of(found.drawn[:, place], name),
                float(score_of(found.whole[place], name)),
                [score_of(left_out[:, place], name) for left_out in found.left_out],
                options,
                over=over,
            )
            for name in names
        }
        for levels, found in resampled(rows, options, team)
        for place in range(len(levels))
    ]


def interval_from(
    values: Floats,
    estimate: float,
    left_out: Sequence[Floats],
    options: Resampling,
    *,
    over: str,
) -> ConfidenceInterval:
    """The interval of a score from its resamples, or why there is none.

    Parameters
    ----------
    values : array of float, shape (resamples,)
    estimate : float
        The score itself.
    left_out : sequence of arrays of float, shape (units,)
        The score without each unit, for each kind of unit that is drawn.
    options : Resampling
    over : str
        What the units are called.
    """
    sizes = [len(part) for part in left_out]
    reason = _reason(values, estimate, left_out, over)
    if reason is not None:
        return _undefined(reason, options, over, sizes)
    pulls = [influences(part) for part in left_out]
    if options.method == "percentile":
        ends: tuple[float, float] | None = percentiles(values, options.confidence)
    else:
        expanded = options.method == "expanded"
        ends = accelerated(values, estimate, pulls, options.confidence, expanded=expanded)
    if ends is None:
        moved = any(pull.any() for pull in pulls)
        why = (
            f"too few {over} carry the score" if moved else f"no one of the {over} moves the score"
        )
        reason = f"{why} for method='{options.method}'; method='percentile' gives a rough one"
        return _undefined(reason, options, over, sizes)
    effective = degrees_of_freedom(pulls) + 1
    return ConfidenceInterval(
        *ends,
        over=over,
        n_units=sum(sizes),
        effective=effective,
        method=options.method,
        n_annotators=_n_annotators(over, sizes),
    )


def _reason(values: Floats, estimate: float, left_out: Sequence[Floats], over: str) -> str | None:
    """Why there is no interval, where there is none."""
    missing = int(np.count_nonzero(np.isnan(values)))
    if not isfinite(estimate):
        return "the score itself is undefined"
    kinds = over.split(" and ")
    # Documents of two results are two samples of one kind.
    kinds = kinds if len(kinds) == len(left_out) else kinds * len(left_out)
    for kind, part in zip(kinds, left_out, strict=True):
        if np.isnan(part).any():
            return f"without one of the {kind} it is undefined"
    if missing:
        share = f"{missing:,} of {len(values):,} resamples"
        return f"it is undefined in {share}: too few of the {over} have it"
    if are_alike(values):
        return "every resample gives the same value, which tells nothing of its spread"
    return None


def _undefined(
    reason: str, options: Resampling, over: str, sizes: Sequence[int]
) -> ConfidenceInterval:
    return ConfidenceInterval(
        nan,
        nan,
        reason=reason,
        over=over,
        n_units=sum(sizes),
        method=options.method,
        n_annotators=_n_annotators(over, sizes),
    )


def _n_annotators(over: str, sizes: Sequence[int]) -> int:
    """How many of the units are annotators, who come last."""
    return sizes[-1] if over.endswith("annotators") else 0
