"""From the words that people use to what is computed: measures, models, scopes."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.checks import checked_option
from beyondchance.core.measures import MEASURES, SAMPLES, Measure, Rule, SampledRule, additive, iou
from beyondchance.errors import OptionError
from beyondchance.options import CustomMeasure
from beyondchance.types import Floats, Ints

MODELS = ("disjoint", "nested", "overlapping")
"""How random spans may lie to one another, the strictest first."""

_CLOSE = 1e-12
"""How much two values of a function that should be equal may differ."""


@dataclass(frozen=True, slots=True)
class Scope:
    """Which spans are shuffled together, and which can match.

    Attributes
    ----------
    by_label : bool
        Whether the spans of each label are shuffled on their own.
    labelled : bool
        Whether spans match only if their labels are equal.
    """

    by_label: bool
    labelled: bool


SCOPES: Mapping[str, Scope] = {
    "label": Scope(by_label=True, labelled=True),
    "joint": Scope(by_label=False, labelled=True),
    "unlabelled": Scope(by_label=False, labelled=False),
}


@dataclass(frozen=True, slots=True)
class Chosen:
    """A measure and how it is named in the signature."""

    measure: Measure
    name: str
    signature: Mapping[str, Any]
    sampling: Mapping[str, Any]

    def rule(self, model: str, *, why: str = "") -> Rule | SampledRule:
        """The rule of the measure under a model, which was chosen for a reason.

        Raises
        ------
        OptionError
            If there is none, with the reason.
        """
        if model != "overlapping":
            return self.measure.lines
        if isinstance(self.measure.overlapping, str):
            others = [
                name for name, other in MEASURES.items() if not isinstance(other.overlapping, str)
            ]
            raise OptionError(
                f"measure {self.name!r} is not defined for model 'overlapping'"
                f"{why and f', which is needed because {why}'}: {self.measure.overlapping}; "
                f"use one of {', '.join(others)}, or annotations in which no spans cross"
            )
        return self.measure.overlapping

    def settings(self, rule: Rule | SampledRule) -> dict[str, Any]:
        """What the signature says about the measure."""
        return {**self.signature, **(self.sampling if isinstance(rule, SampledRule) else {})}


def chosen_measure(
    measure: str | CustomMeasure,
    *,
    theta: float | None = None,
    samples: int | None = None,
    seed: int | None = None,
) -> Chosen:
    """Check the options of a measure and put it together.

    Examples
    --------
    >>> chosen = chosen_measure("iou", theta=0.7)
    >>> chosen.settings(chosen.rule("nested"))
    {'measure': 'iou', 'theta': 0.7}
    """
    if isinstance(measure, CustomMeasure):
        signature: dict[str, Any] = {"measure": "custom", "custom": measure.name}
        found = additive(_checked_phi(measure), _checked_size(measure))
    elif isinstance(measure, str) and measure == "custom":
        raise OptionError(
            "measure 'custom' needs to be told what it is; expected measure=CustomMeasure(...)"
        )
    else:
        signature = {"measure": checked_option("measure", measure, MEASURES)}
        found = MEASURES[signature["measure"]]
    for name, value in (("theta", theta), ("samples", samples), ("seed", seed)):
        if value is not None and signature["measure"] != "iou":
            raise OptionError(f"{name} goes with measure 'iou', not with {signature['measure']!r}")
    sampling = {
        "samples": _whole(samples, "samples", SAMPLES, least=2),
        "seed": _whole(seed, "seed", 0, least=0),
    }
    if signature["measure"] == "iou":
        signature["theta"] = _threshold(theta)
        found = iou(signature["theta"], **sampling)
    return Chosen(found, signature.get("custom", signature["measure"]), signature, sampling)


def _threshold(theta: float | None) -> float:
    if theta is None:
        return 0.5
    is_number = isinstance(theta, int | float | np.number) and not isinstance(theta, bool)
    if not is_number or not 0 <= theta < 1:
        raise OptionError(f"theta is {theta!r}; expected a number from 0 to 1, and less than 1")
    return float(theta)


def _whole(value: int | None, name: str, default: int, *, least: int) -> int:
    if value is None:
        return default
    if not isinstance(value, int | np.integer) or isinstance(value, bool) or value < least:
        raise OptionError(f"{name} is {value!r}; expected a whole number from {least} on")
    return int(value)


def _checked_phi(custom: CustomMeasure) -> Callable[[Ints, Ints, Ints, Ints], Floats]:
    """Phi, the same both ways to the last digit."""

    def phi(start_a: Ints, length_a: Ints, start_b: Ints, length_b: Ints) -> Floats:
        one = _column(custom, "phi", custom.phi(start_a, length_a, start_b, length_b), start_a)
        two = _column(custom, "phi", custom.phi(start_b, length_b, start_a, length_a), start_a)
        differs = np.flatnonzero(np.abs(one - two) > _CLOSE * np.maximum(one, two))
        if len(differs):
            i = int(differs[0])
            a = f"[{start_a[i]}, {start_a[i] + length_a[i]})"
            b = f"[{start_b[i]}, {start_b[i] + length_b[i]})"
            raise OptionError(
                f"measure {custom.name!r}: phi of {a} and {b} is {one[i]}, and {two[i]} the other "
                "way round; expected the same, for agreement has no direction"
            )
        return np.asarray((one + two) / 2)

    return phi


def _checked_size(custom: CustomMeasure) -> Callable[[Ints], Floats]:
    def size(length: Ints) -> Floats:
        return _column(custom, "size", custom.size(length), length)

    return size


def _column(custom: CustomMeasure, part: str, given: ArrayLike, like: Ints) -> Floats:
    """Check that a function gave one number for each question."""
    try:
        found = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        raise OptionError(
            f"measure {custom.name!r}: {part} gave a {type(given).__name__}; expected an array of "
            "numbers"
        ) from None
    if found.shape != like.shape:
        raise OptionError(
            f"measure {custom.name!r}: {part} gave the shape {found.shape} for {like.shape}; "
            "expected one number for each"
        )
    wrong = ~(np.isfinite(found) & (found >= 0))
    if wrong.any():
        raise OptionError(
            f"measure {custom.name!r}: {part} gave {found[wrong][0]}; expected finite numbers that "
            "are not negative"
        )
    return found
