"""Counts of annotators who are too many for their pairs to be listed."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.checks import checked_option
from beyondchance.errors import DataError
from beyondchance.results.counts import Counts, Scores
from beyondchance.results.score import Score
from beyondchance.types import Ints


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Crowd(Counts):
    """Counts with a row for each text and label, of all pairs of annotators together.

    Attributes
    ----------
    own : mapping of str to array, shape (annotators,)
        For each annotator against all others, as side a: what `Score` is made of.
    lost : two arrays of int, shape (annotators,)
        Documents and spans that are compared no more without each annotator.
    spans_of : array of int, shape (annotators, labels)
        How many spans each annotator marked.
    size_of : array of float, shape (annotators,)
        How much each annotator marked, in the measure's own unit.
    """

    own: Mapping[str, NDArray[Any]] = field(default_factory=dict)
    lost: tuple[Ints, Ints] = field(default_factory=lambda: (np.zeros(0, int), np.zeros(0, int)))
    spans_of: Ints = field(default_factory=lambda: np.zeros((0, 0), dtype=np.int64))
    size_of: NDArray[Any] = field(default_factory=lambda: np.zeros(0))

    has_pairs = False

    def by_pair(self) -> Mapping[tuple[str, str], Score]:
        """Nothing: pairs are not listed."""
        return {}

    def by_annotator(self) -> Mapping[str, Score]:
        """A score for each annotator, as side a, against all others."""
        return Scores(self.annotators, self.own, self.of)

    def without_each(self) -> Mapping[str, Score]:
        """A score for the team without each annotator: all pairs less those of the annotator."""
        whole, own = self.score(), self.own
        half = (whole.size_a + whole.size_b - own["size_a"] - own["size_b"]) / 2
        columns: dict[str, NDArray[Any]] = {
            "matched": whole.matched - own["matched"],
            "expected": whole.expected - own["expected"],
            "size_a": half,
            "size_b": half,
            "n_documents": whole.n_documents - self.lost[0],
            "n_spans": whole.n_spans - self.lost[1],
        }
        columns |= {name: np.zeros(len(half), dtype=bool) for name in ("certain", "fixed")}
        return Scores(self.annotators, columns, self.of)

    def size_by_annotator(self) -> dict[str, float]:
        """How much each annotator marked."""
        return dict(zip(self.annotators, self.size_of.tolist(), strict=True))

    def spans_by_label(self, annotator: str) -> dict[str, int]:
        """How many spans of each label an annotator marked."""
        checked_option("annotator", annotator, self.annotators, are_data=True)
        spans = self.spans_of[self.annotators.index(annotator)]
        return dict(zip(self.labels, spans.tolist(), strict=True))

    def against(self, annotator: str) -> Mapping[str, Score]:
        """Refused: pairs are not listed."""
        raise DataError(
            f"{len(self.annotators):,} annotators have too many pairs to be listed",
            expected="scores overall, by label, document or annotator",
            remedy=f"pass gold={annotator!r} to compare all with one",
        )
