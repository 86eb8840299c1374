"""The value of a coefficient, with what it was made of."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any

NOBODY_TO_COMPARE = "no position was seen by two annotators"
NOTHING_MARKED = "nothing was marked by anybody"


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """What one coefficient says about a corpus.

    Attributes
    ----------
    name : str
        As in the catalogue: ``alpha``, ``mu-alpha``, ``kappa`` and so on.
    value : float
        The coefficient; nan where it is undefined.
    observed, expected : float
        The two parts it is made of: agreement, disagreement or disorder, as the
        catalogue says.
    reason : str, optional
        Why the value is undefined, where it is.
    by_label : mapping of str to Coefficient
        The same for each label, where the coefficient has a value for each.
    settings : mapping of str to str
        Whatever else moves a digit of the value.
    interval : (float, float), optional
        Where the value lies with the stated confidence, if it was sampled.

    Examples
    --------
    >>> kappa = Coefficient(name="kappa", value=0.5, observed=0.75, expected=0.5)
    >>> kappa.to_dict()
    {'value': 0.5, 'observed': 0.75, 'expected': 0.5}
    >>> Coefficient(name="kappa", value=float("nan"), reason="no text").to_dict()
    {'value': None, 'observed': None, 'expected': None, 'reason': 'no text'}
    """

    name: str
    value: float
    observed: float = nan
    expected: float = nan
    reason: str | None = None
    by_label: Mapping[str, Coefficient] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    interval: tuple[float, float] | None = None

    def to_dict(self) -> dict[str, Any]:
        """Plain values; None where undefined, with the reason; no entry for what is empty."""
        result: dict[str, Any] = {
            "value": _plain(self.value),
            "observed": _plain(self.observed),
            "expected": _plain(self.expected),
        }
        if self.reason is not None:
            result["reason"] = self.reason
        if self.interval is not None:
            result["interval"] = list(map(_plain, self.interval))
        if self.settings:
            result["settings"] = dict(self.settings)
        if self.by_label:
            result["by_label"] = {label: part.to_dict() for label, part in self.by_label.items()}
        return result


def from_disagreement(name: str, observed: float, expected: float, *, reason: str) -> Coefficient:
    """One minus observed over expected disagreement; undefined where none is expected.

    Parameters
    ----------
    name : str
    observed, expected : float
        Disagreement.
    reason : str
        Why no disagreement is expected, if none is.

    Examples
    --------
    >>> from_disagreement("alpha", 0.1, 0.4, reason="").value
    0.75
    >>> from_disagreement("alpha", 0.0, 0.0, reason="nothing was marked").value
    nan
    """
    is_defined = expected > 0
    return Coefficient(
        name=name,
        value=1 - observed / expected if is_defined else nan,
        observed=observed,
        expected=expected,
        reason=None if is_defined else reason,
    )


def _plain(number: float) -> float | None:
    return None if isnan(number) else number
