"""How hard it is to agree by chance."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from functools import cached_property
from math import nan
from typing import Any, Unpack

import numpy as np

from beyondchance.messages import Note
from beyondchance.numbers import in_digits
from beyondchance.options import ResamplingOptions, documented
from beyondchance.results.counts import Counts
from beyondchance.results.intervals import ConfidenceInterval, Counted, Intervals, intervals_of
from beyondchance.results.printed import Described, Named
from beyondchance.results.resampling import Levels, resampling_of, score_of
from beyondchance.settings import Settings
from beyondchance.types import Floats, Ints


@dataclass(frozen=True, eq=False, repr=False)
class Difficulty(Described, Counted):
    """How hard it is to agree by chance: 1 minus the agreement of random annotations.

    Attributes
    ----------
    counts : Counts
        With a gold standard its rows against itself; without one the rows of all
        pairs of annotators, each with itself included.
    settings : Settings
    skipped : mapping of str to int
        What was left out, and how often.
    notes : tuple of Note
        What was chosen and why.
    """

    counts: Counts
    settings: Settings
    skipped: Mapping[str, int] = field(default_factory=dict)
    notes: tuple[Note, ...] = ()

    @cached_property
    def overall(self) -> float:
        """Difficulty of the corpus; nan where nothing was marked."""
        return float(self._of(np.zeros(len(self.counts), dtype=np.int64), 1)[0])

    @cached_property
    def hardest(self) -> Mapping[str, float]:
        """The documents of the highest difficulty, the hardest first; at most 100 of many."""
        return Named((name, -rank) for rank, _, name, _ in self.counts.outstanding())

    @cached_property
    def error(self) -> float:
        """Standard error of `overall`, where chance was estimated; 0 where it is exact."""
        size = float(self.counts.sums_of(np.zeros(len(self.counts), dtype=np.int64), 1)[0, 2])
        return 2 * self.counts.estimate_error() / size if size else nan

    @cached_property
    def by_document(self) -> dict[str, float]:
        """Difficulty of each document; nan where nothing was marked, and with unit ``corpus``."""
        counts = self.counts.each_document()
        return self._named(counts.document, counts.documents, are_parts=counts.is_corpus_wide)

    @cached_property
    def by_text(self) -> Floats:
        """Difficulty of each text; nan where nothing was marked, and with unit ``corpus``."""
        counts = self.counts.each_document()
        return self._of(counts.text, counts.n_texts, are_parts=counts.is_corpus_wide)

    @cached_property
    def by_label(self) -> dict[str, float]:
        """Difficulty of each label; nan where nothing was marked."""
        return self._named(self.counts.label, self.counts.labels)

    @cached_property
    def by_annotator(self) -> dict[str, float]:
        """Difficulty of what each annotator marked, by chance agreement with itself."""
        counts = self.counts
        return self._named(np.where(counts.a == counts.b, counts.a, -1), counts.annotators)

    @documented(ResamplingOptions)
    def interval(self, **resampling: Unpack[ResamplingOptions]) -> ConfidenceInterval:
        """Compute the confidence interval of the overall difficulty, for other such documents.

        Parameters
        ----------
        {options}

        Examples
        --------
        >>> from beyondchance import difficulty
        >>> tags = [["B-P", "O"], ["B-P", "O"], ["B-P", "O", "O", "O"]]
        >>> found = difficulty(tags, tags)
        >>> round(found.overall, 4)
        0.5833
        >>> found.interval(method="percentile", seed=1)
        ConfidenceInterval(0.5000 to 0.7500)
        """
        return self._intervals(resampling, is_overall=True).overall["difficulty"]

    @documented(ResamplingOptions)
    def intervals(self, **resampling: Unpack[ResamplingOptions]) -> Intervals:
        """Compute the confidence intervals of the overall difficulty, of labels and of annotators.

        All come from the same resamples, if any; each interval is under ``difficulty``.

        Parameters
        ----------
        {options}
        """
        return self._intervals(resampling, is_overall=False)

    def _intervals(self, resampling: Mapping[str, Any], *, is_overall: bool) -> Intervals:
        """Compute the intervals of all levels, or only of the corpus."""
        options = resampling_of(self.settings, resampling, over="documents")
        counts, levels = self.drawn, Levels(len(self.drawn))
        if not is_overall:
            own = np.where(counts.a == counts.b, counts.a, -1)
            levels.add("by_label", counts.labels, counts.label)
            levels.add("by_annotator", counts.annotators, own)
        rows = counts.leveled(levels)
        found = levels.named(intervals_of(rows, ["difficulty"], options, unit=self.resampled_unit))
        return self.signed(found, options)

    def _named(
        self, group: Ints, names: tuple[str, ...], *, are_parts: bool = False
    ) -> dict[str, float]:
        """Compute the difficulty of each group, by its name."""
        found = self._of(group, len(names), are_parts=are_parts)
        return Named(zip(names, found.tolist(), strict=True))

    def _of(self, group: Ints, n_groups: int, *, are_parts: bool = False) -> Floats:
        """Compute the difficulty of each group of rows; nan for parts of a placement."""
        if are_parts:
            return np.full(n_groups, nan)
        return score_of(self.counts.sums_of(group, n_groups), "difficulty")

    def __repr__(self) -> str:
        return f"Difficulty(overall={in_digits(self.overall)})"
