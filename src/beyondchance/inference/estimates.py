"""Estimate values by leaving out documents, one by one."""

from __future__ import annotations

from bisect import bisect_left
from collections.abc import Callable, Iterable, Mapping
from dataclasses import dataclass
from math import inf, isnan, nan, sqrt
from typing import TypeVar

import numpy as np

from beyondchance.core.distributions import skewed, student_quantile, student_share, unskewed
from beyondchance.core.resampling import degrees_of_freedom, holm, influences, skewness, variance_of
from beyondchance.types import Floats

FEW_DOCUMENTS = 20
"""With fewer documents with marks nothing is shown: tests pass too often."""
_MOST_DOCUMENTS = 10**7

_Key = TypeVar("_Key")


def adjusted(
    p_values: Mapping[_Key, float], method: Callable[[Floats], Floats] = holm
) -> dict[_Key, float]:
    """Adjust p-values for their number; undefined ones stay so, and are not counted."""
    known = {name: p for name, p in p_values.items() if not isnan(p)}
    raised = method(np.array([*known.values()])).tolist()
    return {**p_values, **dict(zip(known, raised, strict=True))}


def largest(numbers: Iterable[int | None]) -> int | None:
    """Return the largest of some numbers of documents; None if one of them is not known."""
    return max(numbers, key=lambda number: inf if number is None else number)


@dataclass(frozen=True, slots=True, kw_only=True)
class Estimate:
    """An estimated value and its uncertainty.

    Attributes
    ----------
    value : float
    error : float
        Its standard error, by the jackknife over documents.
    freedom : float
        Satterthwaite's degrees of freedom.
    n_documents : int
        Documents with marks.
    skewness : float
        Of the influences of documents. Tests and intervals follow Hall's transformation (1992): a
        few documents in which a model fails would otherwise be missed too often.
    """

    value: float
    error: float
    freedom: float
    n_documents: int
    skewness: float = 0.0

    @classmethod
    def of(cls, value: float, left_out: Floats) -> Estimate:
        """Estimate from the values without each document."""
        n = len(left_out)
        if n < 2 or isnan(value) or not np.isfinite(left_out).all():
            return cls(value=value, error=nan, freedom=nan, n_documents=n)
        moves = [influences(left_out)]
        error, freedom = sqrt(variance_of(moves)), degrees_of_freedom(moves)
        return cls(
            value=value, error=error, freedom=freedom, n_documents=n, skewness=skewness(moves[0])
        )

    def interval(self, confidence: float) -> tuple[float, float]:
        """Compute the two-sided interval; nan where it is undefined."""
        if isnan(self.error):
            return nan, nan
        reach = student_quantile((1 + confidence) / 2, self.freedom) if self.error else 0.0
        low, high = (skewed(t, self.skewness / sqrt(self.n_documents)) for t in (reach, -reach))
        return self.value - low * self.error, self.value - high * self.error

    def p_positive(self) -> float:
        """Compute the one-sided p-value of values of 0 or less."""
        if isnan(self.error):
            return nan
        if not self.error:
            return 0.0 if self.value > 0 else 1.0
        t = unskewed(self.value / self.error, self.skewness / sqrt(self.n_documents))
        return student_share(-t, self.freedom)

    def p_of_zero(self) -> float:
        """Compute the two-sided p-value of 0."""
        if not self.error:
            return 0.0 if self.value else 1.0
        p = self.p_positive()
        return 2 * min(p, 1 - p)

    def documents(self, confidence: float, power: float, *, inflated: float = 1) -> int | None:
        """Return how many documents show that the value is positive; None if no number does.

        Parameters
        ----------
        confidence, power : float
        inflated : float
            A factor for the standard error, which is itself uncertain.
        """
        if isnan(self.error) or self.value <= 0:
            return None
        scale = inflated * self.error * sqrt(self.n_documents) / self.value
        shares = (confidence, power)

        def is_enough(needed: int) -> bool:
            return sum(student_quantile(x, needed - 1) for x in shares) * scale <= sqrt(needed)

        numbers = range(FEW_DOCUMENTS, _MOST_DOCUMENTS)
        found = bisect_left(numbers, True, key=is_enough)
        return numbers[found] if found < len(numbers) else None
