"""Macro averages: every label, or every document, counts the same.

Scores of all levels are sums of counts followed by one division (micro averages), in which
frequent labels and long documents count more. A macro average is the mean of their scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property, partial
from math import isnan, nan
from typing import Any, Unpack

import numpy as np

from beyondchance.checks import checked_option
from beyondchance.core.exact import exact_total, rounded
from beyondchance.core.resampling import bootstrap_weights, resample
from beyondchance.numbers import in_digits
from beyondchance.options import ResamplingOptions, documented
from beyondchance.results.counts import Counts
from beyondchance.results.intervals import (
    ConfidenceInterval,
    Counted,
    Intervals,
    interval_from,
    too_few,
)
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import SCORES, resampling_of, score_of
from beyondchance.results.score import Score, reason_of
from beyondchance.settings import Settings
from beyondchance.types import Floats, Ints

AVERAGES = ("label", "document")
"""What scores are averaged over."""


@dataclass(frozen=True, eq=False, repr=False)
class MacroAverage(Printed, Counted):
    """The mean of the scores of all labels, or of all documents.

    Labels or documents without a corrected score are left out of all three means: where nothing
    was marked, where chance agreement is 1, and where chance leaves no freedom. Where the
    overall score is undefined, so is its mean.

    Attributes
    ----------
    counts : Counts
        The table that the scores are summed from.
    by : {"label", "document"}
    settings : Settings
        How it was computed; ``str(settings)`` is the signature to cite.

    Examples
    --------
    >>> from beyondchance import agreement, example
    >>> average = agreement(example()).macro("label")
    >>> average
    MacroAverage(by='label', observed=0.7886, chance=0.2442, corrected=0.7201, n_averaged=3)
    >>> average.settings.average
    'macro-label'
    """

    counts: Counts
    by: str
    settings: Settings

    def __repr__(self) -> str:
        scores = ", ".join(f"{name}={in_digits(getattr(self, name))}" for name in SCORES)
        return f"MacroAverage(by={self.by!r}, {scores}, n_averaged={self.n_averaged})"

    @cached_property
    def scores(self) -> Mapping[str, Score]:
        """The scores that are averaged, by label or document."""
        counts = self.counts
        return counts.by_label() if self.by == "label" else counts.by_document()

    @cached_property
    def _is_undefined(self) -> bool:
        """Whether the overall score is undefined, and so its mean."""
        return self.counts.score().reason is not None

    @cached_property
    def _whole(self) -> Floats:
        """Sums of the scores of all labels or documents, with how many, shape (4, 2)."""
        place = np.zeros(len(self.counts.units), dtype=np.int64)
        return np.asarray(self._added(self._table(place, 1))[0])

    @cached_property
    def _values(self) -> list[float]:
        """The three means, and the lowest that the last could be."""
        return [float(value) for value in _ratio(self._whole)]

    def _table(self, place: Ints, n: int) -> Floats:
        """Sum what the means follow from by the place of each unit, shape (n, ...)."""
        counts, n_labels = self.counts, len(self.counts.labels)
        if self.by == "document":
            return counts.mean_table(place, n, of_all=self._is_undefined)
        sums = counts.sums_of(place[counts.document] * n_labels + counts.label, n * n_labels)
        return sums.reshape(n, n_labels, sums.shape[1])

    def _added(self, table: Floats) -> Floats:
        """Add the scores of labels; those of documents are added already."""
        return _added(table, are_all=self._is_undefined) if self.by == "label" else table

    @property
    def observed(self) -> float:
        """Mean of the observed agreement."""
        return self._values[0]

    @property
    def chance(self) -> float:
        """Mean of the agreement by chance."""
        return self._values[1]

    @property
    def corrected(self) -> float:
        """Mean of the agreement beyond chance; nan where none is defined (see `reason`)."""
        return self._values[2]

    @property
    def noun(self) -> str:
        """What is averaged, in the singular."""
        return "label" if self.by == "label" else self.extent.noun

    @property
    def reason(self) -> str | None:
        """Why `corrected` is undefined, where it is."""
        return None if self.n_averaged else f"no {self.noun} has a corrected score"

    @property
    def n_averaged(self) -> int:
        """How many labels or documents have a corrected score."""
        return int(self._whole[SCORES.index("corrected"), 1])

    @cached_property
    def left_out(self) -> dict[str, int]:
        """How many have no corrected score, by reason."""
        counts, overall = self.counts, self.counts.score().reason
        known = [reason_of(code, counts.of) for code in range(5)]
        found: Counter[str | None] = Counter()
        if self.by == "document":
            found.update({known[code]: n for code, n in counts.n_by_reason().items()})
            found[overall] += counts.n_averaged
        else:
            found.update(score.reason or overall for score in self.scores.values())
        # In an order that does not depend on that of the documents.
        return {reason: found[reason] for reason in known if found[reason]}

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; None where undefined, with the reason."""
        values = {name: getattr(self, name) for name in SCORES}
        return {
            **{name: None if isnan(value) else value for name, value in values.items()},
            **({} if self.reason is None else {"reason": self.reason}),
            "n_averaged": self.n_averaged,
            "left_out": self.left_out,
        }

    @documented(ResamplingOptions)
    def interval(
        self, score: str = "corrected", **resampling: Unpack[ResamplingOptions]
    ) -> ConfidenceInterval:
        """Compute the confidence interval of one of the means, for other documents of this kind.

        Parameters
        ----------
        score : {"corrected", "observed", "chance"}
        {options}

        Examples
        --------
        >>> from beyondchance import agreement, example
        >>> interval = agreement(example()).macro("document").interval()
        >>> round(interval.low, 2), round(interval.high, 2)
        (0.66, 0.78)
        """
        return self.intervals(**resampling).overall[checked_option("score", score, SCORES)]

    @documented(ResamplingOptions)
    def intervals(self, **resampling: Unpack[ResamplingOptions]) -> Intervals:
        """Compute the confidence intervals of all three means, from the same resamples, if any.

        The scores are averaged without each document, and in every resample that is drawn
        (the same ones as by `Agreement.intervals` with the same seed); a label that is
        undefined there is left out of the mean.

        Parameters
        ----------
        {options}
        """
        if self.drawn is not self.counts:
            return replace(self, counts=self.drawn).intervals(**resampling)
        options = resampling_of(self.settings, resampling, over="documents")
        counts, unit = self.counts, self.resampled_unit
        none = too_few([(unit, len(counts.unit_names), 2)], options)
        if none is None:
            table = self._table(counts.units.place, len(counts.unit_names))
            draw = partial(bootstrap_weights, len(table), rng=options.generator)
            found = resample(
                table, draw, options.draws, statistic=lambda sums: _ratio(self._added(sums))
            )
        overall = {
            name: none
            or interval_from(
                found.drawn[:, i],
                getattr(self, name),
                [left_out[:, i] for left_out in found.left_out],
                options,
                kinds=[unit],
                lowest=self._values[-1] if name == "corrected" else 0.0,
            )
            for i, name in enumerate(SCORES)
        }
        return self.signed({"overall": {"": overall}}, options)


def _ratio(table: Floats) -> Floats:
    """Divide sums by how many there are; nan if there are none."""
    with np.errstate(invalid="ignore"):
        return np.asarray(table[..., 0] / table[..., 1])


def _added(sums: Floats, *, are_all: bool) -> Floats:
    """Add the scores of labels, and count them: shape (n, 4, 2), as `Counts.mean_table`.

    Of those that have a corrected score; where none has, or if wanted, of all that were marked.
    """
    values = {name: rounded(score_of(sums, name)) for name in SCORES}
    undefined = np.isnan(values["corrected"]) | are_all
    left_out = undefined & ~undefined.all(axis=-1, keepdims=True)
    values = {name: np.where(left_out, nan, value) for name, value in values.items()}
    values["corrected"] = np.where(undefined, nan, values["corrected"])
    chance = np.where(undefined, nan, values["chance"])
    with np.errstate(divide="ignore", invalid="ignore"):
        values["lowest"] = rounded(-chance / (1 - chance))
    row = np.repeat(np.arange(len(sums)), sums.shape[1])
    columns = []
    for value in values.values():
        known = ~np.isnan(value)
        # Exact, so that equal resamples have equal means.
        added = exact_total(row, np.where(known, value, 0).reshape(-1), len(sums))
        columns.append(np.stack([added, known.sum(axis=1)], axis=1))
    return np.stack(columns, axis=1)
