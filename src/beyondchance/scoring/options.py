"""From the options that users give to what is computed: a measure, a model and a scope."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import field
from functools import partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.checks import checked_option
from beyondchance.core.labels import PLACES
from beyondchance.core.measures import CUSTOM, CUSTOM_DEFINITION, MEASURES, Measure, additive
from beyondchance.core.models import AUTO, MODELS, Model
from beyondchance.errors import OptionError
from beyondchance.messages import Quote, Use
from beyondchance.options import (
    CHOICES,
    CustomMeasure,
    ScoringOptions,
    checked_options,
    declared,
)
from beyondchance.types import Floats, Ints
from beyondchance.values import internal

_CLOSE = 1e-12
"""How much two values of a function that should be equal may differ."""


class Scope(NamedTuple):
    """Which spans are placed together, and which can match.

    Attributes
    ----------
    name : str
    placed : str
        The same as a clause.
    by_label : bool
        Whether the spans of each label are placed on their own.
    labelled : bool
        Whether spans match only if their labels are equal.
    """

    name: str
    placed: str
    by_label: bool
    labelled: bool

    @property
    def is_joint(self) -> bool:
        """Whether labels that are compared one by one share a line."""
        return self.labelled and not self.by_label


SCOPES: Mapping[str, Scope] = {
    "label": Scope(
        "label", "the spans of each label are placed separately", by_label=True, labelled=True
    ),
    "joint": Scope(
        "joint", "the spans of all labels are placed together", by_label=False, labelled=True
    ),
    "unlabelled": Scope(
        "unlabelled",
        "labels are ignored and all spans placed together",
        by_label=False,
        labelled=False,
    ),
}
CHOICES.update(
    measure={name: item.counts.format(positions="positions") for name, item in MEASURES.items()},
    model={item.name: ", ".join(item.definition) for item in (AUTO, *MODELS.values())},
    scope={name: item.placed for name, item in SCOPES.items()},
)

SHAPES = "shapes-1"
"""What signatures call the shapes of words, folds and odds that make chance informed."""
BOTH = f"uniform+{SHAPES}"
"""What they call results that have both."""
INFORMED = ("token", "exact", "boundary")
"""The measures whose expected match follows from where spans start."""
INSIDE, CROSSING = "placed one inside the other", "with spans that cross, which move together"
"""What notes say model 'auto' did, where spans lie in others and where they cross."""


@internal
class Scoring:
    """How annotations are scored.

    Attributes
    ----------
    measure : Measure
    model : Model
    scope : Scope
    options : mapping of str to object
        Options of all measures, those that have another value than their default.
    """

    measure: Measure
    model: Model
    scope: Scope
    options: Mapping[str, Any] = field(default_factory=dict)

    def signature(self, *, is_estimated: bool = False) -> dict[str, Any]:
        """Return what the signature says about the options, the measure, the model and the scope.

        Parameters
        ----------
        is_estimated : bool
            Whether chance was estimated from random arrangements.
        """
        measure = self.measure
        drawing = measure.drawing if is_estimated else {}
        names = {"measure": measure.name, "model": self.model.name, "scope": self.scope.name}
        informed = {"chance": SHAPES} if self.options.get("chance") == "shapes" else {}
        return {**names, **measure.signed, **drawing, **self.options, **informed}

    @property
    def is_informed(self) -> bool:
        """Whether random annotators know anything of the words."""
        return "chance" in self.options


def scoring_of(
    given: Mapping[str, object], *, is_team: bool = False, is_informed: bool = False
) -> Scoring:
    """Check the options of scoring and put together what they stand for.

    Parameters
    ----------
    given : mapping of str to object
    is_team : bool
        Whether all annotators are compared with one another, so that pairs can be weighted.
    is_informed : bool
        Whether random annotators may see the shapes of words.

    Raises
    ------
    OptionError
        For an unknown measure, model or scope, or those that do not go with one another.

    Examples
    --------
    >>> scoring_of({"measure": "exact", "model": "nested"}).signature()
    {'measure': 'exact', 'model': 'nested', 'scope': 'label'}
    """
    options = checked_options(ScoringOptions, given)
    model = checked_option("model", options.pop("model"), CHOICES["model"])
    scope = checked_option("scope", options.pop("scope"), SCOPES)
    measure = _measure(options.pop("measure"))
    known = declared(ScoringOptions)
    options = {n: value for n, value in options.items() if value != known[n].option.default}
    if "average" in options and not is_team:
        raise OptionError(
            Use("average", options["average"]),
            " weights pairs of annotators",
            expected="agreement among a team: against a gold standard, in null distributions and "
            "in diagnoses all pairs weigh the same",
        )
    if "chance" in options and not (is_informed and measure.name in INFORMED):
        found = f" does not go with measure {measure.name!r}"
        raise OptionError(
            Use("chance", options["chance"]),
            found if is_informed else " is for agreement and rankings only",
            remedy=f"use one of {', '.join(INFORMED)}" if is_informed else "",
        )
    is_apart = measure.name in PLACES and not model_named(model).is_independent
    if "support" in options and not (is_team and is_apart and len(options) == 1):
        raise OptionError(
            Use("support", options["support"]),
            " is for spans of a team that are placed apart, by token or exact",
            expected="no gold standard, and no other option",
        )
    parameters = {}
    for name in list(options):
        takers = [other.name for other in MEASURES.values() if name in other.parameters]
        if takers and name not in measure.parameters:
            names = " or ".join(map(repr, takers))
            found = f" goes with measure {names}, not with {measure.name!r}"
            raise OptionError(Use(name, is_name=True), found)
        if takers:
            parameters[name] = options.pop(name)
    if parameters and measure.with_parameters:
        measure = measure.with_parameters(**parameters)
    scoring = Scoring(measure, model_named(model), SCOPES[scope], options)
    if not measure.is_defined(scoring.model):
        others = [name for name, other in MEASURES.items() if other.is_defined(scoring.model)]
        raise OptionError(
            f"measure {measure.name!r} is not defined for model {model!r}: {measure.why_refused}",
            remedy=f"use one of {', '.join(others)}, or another model",
        )
    return scoring


def words_of(measure: str) -> tuple[str, str]:
    """Return what a measure counts, and what a match is; measures of one's own have the latter.

    Examples
    --------
    >>> words_of("token"), words_of("mine")
    (('{positions} that both marked', 'a {position} that both marked'), \
('', "what the custom measure '{custom}' counts"))
    """
    found = MEASURES.get(measure)
    return (found.counts, found.definition) if found else ("", CUSTOM_DEFINITION)


def model_named(name: str) -> Model:
    """Return the model of a name."""
    return MODELS.get(name, AUTO)


def _measure(given: object) -> Measure:
    """Return the measure of a name, or one of the user's own."""
    if isinstance(given, CustomMeasure):
        size = partial(_checked_size, given)
        return additive(given.name, partial(_checked_phi, given), size)
    if isinstance(given, str) and given == CUSTOM:
        raise OptionError(
            f"measure {CUSTOM!r} does not say how spans match",
            expected="measure=CustomMeasure(...)",
        )
    return MEASURES[checked_option("measure", given, MEASURES)]


def _checked_phi(
    custom: CustomMeasure, start_a: Ints, length_a: Ints, start_b: Ints, length_b: Ints
) -> Floats:
    """Compute phi, the same both ways to the last digit; refuse a phi that differs."""
    one = _column(custom, "phi", custom.phi(start_a, length_a, start_b, length_b), start_a)
    two = _column(custom, "phi", custom.phi(start_b, length_b, start_a, length_a), start_a)
    differs = np.flatnonzero(np.abs(one - two) > _CLOSE * np.maximum(one, two))
    if len(differs):
        i = int(differs[0])
        a = f"[{start_a[i]}, {start_a[i] + length_a[i]})"
        b = f"[{start_b[i]}, {start_b[i] + length_b[i]})"
        found = f"phi of {a} and {b} is {one[i]}, and {two[i]} the other way round"
        raise _refused(custom, found, "the same, because agreement has no direction")
    return np.asarray((one + two) / 2)


def _checked_size(custom: CustomMeasure, length: Ints) -> Floats:
    return _column(custom, "size", custom.size(length), length)


def _refused(custom: CustomMeasure, found: str, expected: str) -> OptionError:
    return OptionError(found, where=("measure ", Quote(custom.name)), expected=expected)


def _column(custom: CustomMeasure, part: str, given: ArrayLike, like: Ints) -> Floats:
    """Check that a function gave one number for each question."""
    try:
        column = np.asarray(given, dtype=np.float64)
    except (TypeError, ValueError):
        found = f"{part} returned a {type(given).__name__}"
        raise _refused(custom, found, "an array of numbers") from None
    if column.shape != like.shape:
        found = f"{part} returned the shape {column.shape} for {like.shape}"
        raise _refused(custom, found, "one number for each")
    wrong = ~(np.isfinite(column) & (column >= 0))
    if wrong.any():
        found = f"{part} returned {column[wrong][0]}"
        raise _refused(custom, found, "finite numbers that are not negative")
    return column
