"""Macro averages: every label, or every document, counts the same.

Scores of all levels are sums of counts followed by one division (micro averages), in which
frequent labels and long documents count more. A macro average is the mean of their scores.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping
from dataclasses import dataclass, replace
from functools import cached_property
from math import isnan, nan
from typing import Any, Unpack

import numpy as np

from beyondchance.checks import checked_option
from beyondchance.core.bootstrap import bootstrap_weights
from beyondchance.core.exact import exact_total, rounded
from beyondchance.numbers import in_digits
from beyondchance.options import ResamplingOptions, documented
from beyondchance.results.counted import Counted, signed_with
from beyondchance.results.counts import Counts
from beyondchance.results.intervals import ConfidenceInterval, Intervals, interval_from
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import (
    SCORES,
    Levels,
    Resampling,
    resampled,
    resampling_of,
    score_of,
    stacked,
    team_of,
    totals_of,
)
from beyondchance.results.score import Score, reason_of
from beyondchance.settings import Settings
from beyondchance.types import Floats

AVERAGES = ("label", "document")
"""What scores are averaged over."""


@dataclass(frozen=True, eq=False)
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
    def _sums(self) -> Floats:
        """Sums of each label."""
        counts = self.counts
        levels = Levels(len(counts))
        levels.add("label", counts.labels, counts.label)
        everything = np.zeros(len(counts), dtype=np.int64)
        sums = counts.leveled(levels).sums(everything, 1, range(1, len(levels)))
        return np.asarray(sums[0])

    @cached_property
    def _is_undefined(self) -> bool:
        """Whether the overall score is undefined, and so its mean."""
        return self.counts.score().reason is not None

    @cached_property
    def _values(self) -> _ByScore:
        """Each score of each label; nan where it is left out of the mean."""
        if not self._is_undefined:
            return _scores_in_means(self._sums)
        values = {name: rounded(score_of(self._sums, name)) for name in SCORES}
        return values | {"corrected": np.full(len(self._sums), nan)}

    def _mean(self, name: str) -> float:
        if self.by == "label":
            return _mean(self._values[name])
        return self.counts.mean_of(name, of_all=self._is_undefined)

    @property
    def observed(self) -> float:
        """Mean of the observed agreement."""
        return self._mean("observed")

    @property
    def chance(self) -> float:
        """Mean of the agreement by chance."""
        return self._mean("chance")

    @property
    def corrected(self) -> float:
        """Mean of the agreement beyond chance; nan where none is defined (see `reason`)."""
        return self._mean("corrected")

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
        if self.by == "document":
            return 0 if self._is_undefined else self.counts.n_averaged
        return int(np.count_nonzero(~np.isnan(self._values["corrected"])))

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
        """Plain values; None where undefined, with the reason."""
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
        """The confidence interval of one of the means, for other documents of this kind.

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
        """The confidence intervals of all three means, from the same resamples, if any.

        The scores are averaged without each document, and in every resample that is drawn
        (the same ones as by `Agreement.intervals` with the same seed); a label that is
        undefined there is left out of the mean.

        Parameters
        ----------
        {options}
        """
        options = resampling_of(self.settings, resampling, over="documents")
        counts = self.drawn
        if counts is not self.counts:
            return replace(self, counts=counts).intervals(**resampling)
        settings, unit = signed_with(options, self.settings, counts), self.resampled_unit
        n_documents = len(counts.unit_names)
        if n_documents < 2:
            why = f"there are too few {unit}: found {n_documents}, expected 2 or more"
            none = ConfidenceInterval(
                nan, nan, why=why, units=((unit, n_documents),), method=options.method
            )
            return Intervals(overall=dict.fromkeys(SCORES, none), settings=settings)
        if self.by == "document":
            table = counts.mean_table(of_all=self._is_undefined)
            drawn, left_out = _of_documents(table, options)
        else:
            drawn, left_out = _of_labels(self.counts, options)
        found = {
            name: interval_from(
                drawn[name],
                getattr(self, name),
                [left_out[name]],
                options,
                kinds=[unit],
                lowest=self._lowest(name),
            )
            for name in SCORES
        }
        return Intervals(overall=found, settings=settings)

    def _lowest(self, name: str) -> float:
        """The lowest that a mean can be: of corrected scores, if nothing matched."""
        if name != "corrected":
            return 0.0
        if self.by == "document":
            return self._mean("lowest")
        chance = self._values["chance"][~np.isnan(self._values["corrected"])]
        return _mean(rounded(-chance / (1 - chance)))


_ByScore = dict[str, Floats]


def _of_documents(table: Floats, options: Resampling) -> tuple[_ByScore, _ByScore]:
    """Means over the documents of every resample, and without each document."""
    totals = totals_of(table)
    weights = bootstrap_weights(len(table), options.draws, options.generator)
    drawn = stacked((totals(block) for block in weights), table[0])
    left_out = totals(np.ones((1, len(table)))) - table
    return _by_score(drawn), _by_score(left_out)


def _of_labels(counts: Counts, options: Resampling) -> tuple[_ByScore, _ByScore]:
    """Means over the labels in every resample, and without each document."""
    levels = Levels(len(counts))
    levels.add("label", counts.labels, counts.label)
    rows = counts.leveled(levels)
    drawn = np.zeros((options.draws, 2 * len(SCORES)))
    left_out = np.zeros((len(counts.unit_names), 2 * len(SCORES)))
    for portion, found in resampled(rows, options, team_of(rows)):
        # The first level is that of all rows.
        is_label = slice(1, None) if portion.start == 0 else slice(None)
        for sums, added in ((found.drawn, drawn), (found.left_out[0], left_out)):
            known = _scores_in_means(sums[:, is_label])
            for number, name in enumerate(SCORES):
                value, defined = _parts(known[name])
                added[:, 2 * number] += _row_sums(value)
                added[:, 2 * number + 1] += defined.sum(axis=1)
    return _by_score(drawn), _by_score(left_out)


def _scores_in_means(sums: Floats) -> _ByScore:
    """The scores of levels, in the last axis but one: all three are means of the same.

    Of those that have a corrected score; where none has, of all that were marked.
    """
    values = {name: rounded(score_of(sums, name)) for name in SCORES}
    undefined = np.isnan(values["corrected"])
    left_out = undefined & ~undefined.all(axis=-1, keepdims=True)
    return {name: np.where(left_out, nan, value) for name, value in values.items()}


def _parts(values: Floats) -> tuple[Floats, Floats]:
    """Values with zeros for those that are undefined, and ones for those that are not."""
    defined = ~np.isnan(values)
    return np.where(defined, values, 0), defined.astype(np.float64)


def _mean(values: Floats) -> float:
    """The mean of the values that are defined; nan if none is."""
    value, defined = _parts(values)
    return float(_row_sums(value[None])[0] / defined.sum()) if defined.any() else nan


def _row_sums(values: Floats) -> Floats:
    """Sums of multiples of 2**-52, exact, so that equal resamples have equal means."""
    row = np.repeat(np.arange(len(values)), values.shape[1])
    return exact_total(row, values.reshape(-1), len(values))


def _by_score(table: Floats) -> _ByScore:
    """Means of the scores from columns of sums and numbers."""
    with np.errstate(invalid="ignore"):
        return {
            name: table[:, 2 * number] / table[:, 2 * number + 1]
            for number, name in enumerate(SCORES)
        }
