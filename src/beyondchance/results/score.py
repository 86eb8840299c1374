"""A sum of rows of counts, and what follows from it."""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass, field
from math import fsum, nan
from typing import TYPE_CHECKING, Any, NamedTuple, Unpack

import numpy as np

from beyondchance.checks import checked_option
from beyondchance.errors import DataError
from beyondchance.numbers import in_digits
from beyondchance.options import ResamplingOptions, documented
from beyondchance.results.printed import Printed
from beyondchance.results.resampling import SCORES
from beyondchance.tallies import unmarked
from beyondchance.types import Bools, Floats, Ints

if TYPE_CHECKING:
    from beyondchance.results.intervals import ConfidenceInterval

NOTHING_MARKED = "nothing was marked by either"

UNMARKED = unmarked("{documents} in which no annotator marked anything")
"""Documents without a row of counts, as they are counted."""
NO_ROOM = "chance agreement is 1: every random arrangement agrees completely"
PART = "chance is known of the whole corpus only"
EXCEEDED = "chance agreement exceeds 1: the measure counts more than the sizes that it gives spans"
NO_FREEDOM = "every random placement scores the same in these texts; use a larger unit"

SPANS, LABELS = "spans", "labels"
"""What can be scored: spans, or the labels of what both found."""
_REASONS = {
    SPANS: (NOTHING_MARKED, NO_ROOM, NO_FREEDOM),
    LABELS: (
        "nothing was found by both",
        "chance agreement is 1: all labels are the same",
        "every random arrangement scores the same: an annotator has one label only",
    ),
}
"""Why a corrected score is undefined: there is nothing to score, chance agreement is 1, or every
random arrangement gives the same match."""

_SLACK = 1e-9
"""How much chance may exceed 1 by rounding."""
SUMS = (
    *("matched", "expected", "size_a", "size_b"),
    *("matched_a", "matched_b", "expected_a", "expected_b"),
)
"""What is added up."""


def reason_of(code: int, of: str = SPANS) -> str:
    """Say why a corrected score is undefined, by its number: 0 for nothing marked."""
    nothing, no_room, no_freedom = _REASONS[of]
    return (nothing, EXCEEDED, no_room, no_freedom, PART)[code]


def reason_codes(
    matched: Floats, expected: Floats, size: Floats, free: Floats, *, is_certain: Bools
) -> Ints:
    """Number the reasons (see `reason_of`) of many scores where something was marked.

    0 where the score is defined, or where nothing was marked. `size` is that of both sides.
    """
    is_fixed = (free == 0) & (matched > 0)
    exceeds = expected > size / 2 * (1 + _SLACK)
    codes = np.select([exceeds, is_certain, is_fixed], [1, 2, 3])
    return np.where(size > 0, codes, 0).astype(np.int64)


class Rate(NamedTuple):
    """A share: what matched, and what random annotations would match, of how much."""

    matched: float
    expected: float
    size: float
    certain: bool
    fixed: bool
    is_part: bool
    nothing: str = NOTHING_MARKED
    no_room: str = NO_ROOM
    no_freedom: str = NO_FREEDOM

    @property
    def observed(self) -> float:
        """What matched; nan where nothing was marked."""
        return self.matched / self.size if self.size else nan

    @property
    def chance(self) -> float:
        """What random annotations would match."""
        return self.expected / self.size if self.size and not self.is_part else nan

    @property
    def corrected(self) -> float:
        """What matched beyond chance; nan with a `reason`."""
        if self.reason is not None:
            return nan
        return (self.matched - self.expected) / (self.size - self.expected)

    @property
    def reason(self) -> str | None:
        """Why `corrected` is undefined, where it is."""
        if not self.size:
            return self.nothing
        if self.is_part:
            return PART
        if self.expected > self.size * (1 + _SLACK):
            return EXCEEDED
        if self.certain:
            return self.no_room
        # Where nothing matched, there is no agreement to correct: 0 needs no explanation.
        return self.no_freedom if self.fixed and self.matched else None


class Rates:
    """F1, precision and recall: as observed, by chance and beyond it."""

    __slots__ = ()

    @abstractmethod
    def rate(self, name: str = "f1") -> Rate:
        """Return F1, precision or recall, with its chance and its reason."""

    @property
    def observed(self) -> float:
        """F1 of the two sides; nan where neither marked anything."""
        return self.rate().observed

    @property
    def chance(self) -> float:
        """F1 that random annotations of the same lengths would reach."""
        return self.rate().chance

    @property
    def corrected(self) -> float:
        """Share of the agreement beyond chance that was attained; nan with a `reason`."""
        return self.rate().corrected

    @property
    def reason(self) -> str | None:
        """Why `corrected` is undefined, where it is."""
        return self.rate().reason

    @property
    def f1(self) -> float:
        """What `observed` is called against a gold standard."""
        return self.rate().observed

    @property
    def corrected_f1(self) -> float:
        """What `corrected` is called against a gold standard."""
        return self.rate().corrected

    @property
    def precision(self) -> float:
        """Share of what side b marked that matches side a."""
        return self.rate("precision").observed

    @property
    def chance_precision(self) -> float:
        """Share of what side b marked that random annotations would match."""
        return self.rate("precision").chance

    @property
    def corrected_precision(self) -> float:
        """Precision beyond chance; nan if chance is 1, or side b marked nothing."""
        return self.rate("precision").corrected

    @property
    def recall(self) -> float:
        """Share of what side a marked that is matched by side b."""
        return self.rate("recall").observed

    @property
    def chance_recall(self) -> float:
        """Share of what side a marked that random annotations would match."""
        return self.rate("recall").chance

    @property
    def corrected_recall(self) -> float:
        """Recall beyond chance; nan if chance is 1, or side a marked nothing."""
        return self.rate("recall").corrected


@dataclass(frozen=True, slots=True, repr=False, kw_only=True)
class Score(Rates, Printed):
    """A sum of rows of Counts, and what follows from it.

    Attributes
    ----------
    matched, expected : float
        Observed match, and the match expected of random annotations.
    size_a, size_b : float
        How much each side marked, in the measure's own unit.
    certain, certain_a, certain_b : bool
        Whether every random arrangement agrees completely: of both sides, or in what one
        side marked.
    fixed : bool
        Whether every random arrangement gives the same match.
    is_part : bool
        Whether it is a part of what random spans were placed in, of which chance is not known.
    matched_a, matched_b, expected_a, expected_b : float, optional
        The match of either side, where it is not the same for recall and precision.
    error : float
        Standard error of `expected`, where that was estimated; 0 where it is exact.
    n_documents, n_spans : int
        Documents in which something was marked, and spans marked in them (of one
        annotator against the others: that annotator's spans).
    of : {"spans", "labels"}
        What is scored: spans, or the labels of what both found.
    ask : function, optional
        Returns the intervals of a score that is a part of a result.

    Examples
    --------
    Two annotators mark 4 tokens each and share 3; by chance they would share 1.

    >>> score = Score(matched=3, expected=1, size_a=4, size_b=4)
    >>> score.observed, score.chance, round(score.corrected, 4)
    (0.75, 0.25, 0.6667)
    """

    matched: float = 0.0
    expected: float = 0.0
    size_a: float = 0.0
    size_b: float = 0.0
    certain: bool = False
    certain_a: bool = False
    certain_b: bool = False
    fixed: bool = False
    is_part: bool = False
    matched_a: float | None = None
    matched_b: float | None = None
    expected_a: float | None = None
    expected_b: float | None = None
    error: float = 0.0
    n_documents: int = 0
    n_spans: int = 0
    of: str = SPANS
    ask: Callable[..., Mapping[str, ConfidenceInterval]] | None = field(default=None, compare=False)

    def __repr__(self) -> str:
        values = (f"{name}={in_digits(getattr(self, name))}" for name in SCORES)
        return f"Score({', '.join(values)})"

    def rate(self, name: str = "f1") -> Rate:
        """Return F1, precision or recall, with its chance and its reason."""
        nothing, *reasons = _REASONS[self.of]
        side = {"precision": "_b", "recall": "_a"}.get(name, "")
        matched, expected = getattr(self, f"matched{side}"), getattr(self, f"expected{side}")
        return Rate(
            self.matched if matched is None else matched,
            self.expected if expected is None else expected,
            getattr(self, f"size{side}") if side else (self.size_a + self.size_b) / 2,
            getattr(self, f"certain{side}"),
            self.fixed,
            self.is_part,
            f"nothing was marked by side {side[1]}" if side else nothing,
            *reasons,
        )

    @property
    def chance_error(self) -> float:
        """Standard error of `chance`, where it was estimated; 0 where it is exact."""
        size = (self.size_a + self.size_b) / 2
        return self.error / size if size else nan

    @documented(ResamplingOptions)
    def interval(
        self, score: str = "corrected", **resampling: Unpack[ResamplingOptions]
    ) -> ConfidenceInterval:
        """Compute the confidence interval of a label, pair, annotator or document of a result.

        Parameters
        ----------
        score : {"corrected", "observed", "chance"}
        {options}

        Examples
        --------
        >>> from beyondchance import agreement, example
        >>> agreement(example()).by_label["PLACE"].interval()
        ConfidenceInterval(0.6011 to 0.8092)
        """
        if self.ask is None:
            raise DataError(
                "the score belongs to no result",
                expected="one of agreement(...), such as .by_label[...], or .intervals()",
            )
        return self.ask(**resampling)[checked_option("score", score, SCORES)]


def pooled(scores: Iterable[Score]) -> Score:
    """Add scores, whatever their order; those of nothing say nothing of chance.

    Examples
    --------
    >>> one = Score(matched=1, expected=0.5, size_a=2, size_b=1, certain=True)
    >>> pooled([one, Score()]).reason == one.reason, pooled([one, one]).matched
    (True, 2.0)
    """
    marked = [score for score in scores if score.size_a + score.size_b]
    sums: dict[str, Any] = {
        name: fsum(getattr(score, name) for score in marked) for name in SUMS[:4]
    }
    is_so: dict[str, Any] = {
        name: all(getattr(score, name) for score in marked) for name in ("certain", "fixed")
    }
    return Score(**sums, **is_so)
