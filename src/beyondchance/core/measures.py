"""The measures: what counts as match, as observed and as expected by chance.

Agreement is twice the match divided by the two sizes. Spans on lines, disjoint or nested,
are compared layer by layer (spans of one layer are disjoint); spans that may overlap are
compared all at once. A measure owns its parameters: what it is called and with which values
is in its `signed`. To add a measure, write its observed and its expected match for either,
say when chance is 1, and enter it here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from functools import partial
from typing import Any

import numpy as np

from beyondchance.core import certainty, expected as chance, observed as matching
from beyondchance.core.certainty import Certainty
from beyondchance.core.estimates import Estimate, sampled_partners
from beyondchance.core.models import MODELS, Model
from beyondchance.core.nesting import Forest
from beyondchance.core.observed import Phi, SpanGroups
from beyondchance.core.sets import SpanSets
from beyondchance.types import Floats, Ints

CUSTOM = "custom"
"""What the signature calls a measure of the user's own."""
_EXCEEDS = "summed over pairs of spans that overlap one another, it could exceed 1"


@dataclass(frozen=True, slots=True)
class Rule:
    """How a measure is computed.

    Where precision and recall have a match of their own, matches have the shape
    (3, pairs): the match, that of side a, that of side b.

    Attributes
    ----------
    matched : function of groups and two arrays of groups
        Observed match, pair by pair.
    expected : function of sets of spans and two arrays of sets
        Expected match, pair by pair.
    certain : function of the text size, the spans of either side and a layer, optional
        Whether every arrangement of both sides agrees completely. It is called only where
        the expected match is close to its limit; without it, that decides.
    """

    matched: Callable[[SpanGroups, Ints, Ints], Ints | Floats]
    expected: Callable[[SpanSets, Ints, Ints], Floats]
    certain: Callable[[int, Forest, Forest, int], Certainty] | None


@dataclass(frozen=True, slots=True)
class SampledRule:
    """How a measure is estimated that has no exact expectation.

    Attributes
    ----------
    matched : function of groups and two arrays of groups
        Observed match, pair by pair.
    estimate : function of the text size and the spans of either side
        Expected match, over all layers.
    signed : mapping of str to value
        What the signature says besides the measure: how the estimate was drawn.
    """

    matched: Callable[[SpanGroups, Ints, Ints], Ints | Floats]
    estimate: Callable[[int, Forest, Forest], Estimate]
    signed: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class Measure:
    """What counts as match.

    Attributes
    ----------
    name : str
        For messages.
    size : function of lengths
        How much each span counts.
    lines : Rule or SampledRule
        For spans on lines, disjoint or nested.
    overlapping : Rule, SampledRule or str
        For spans that may overlap; or why there is none.
    by_layer : bool
        Whether nested spans are compared layer by layer. Otherwise all at once.
    own_sides : bool
        Whether precision and recall have a match of their own.
    parameters : frozenset of str
        The options that it takes.
    with_parameters : function of these options, optional
        The same measure with other values for them.
    signed : mapping of str to value
        What the signature says besides the name, or instead of it.
    """

    name: str
    size: Callable[[Ints], Ints | Floats]
    lines: Rule | SampledRule
    overlapping: Rule | SampledRule | str
    by_layer: bool = True
    own_sides: bool = False
    parameters: frozenset[str] = frozenset()
    with_parameters: Callable[..., Measure] | None = None
    signed: Mapping[str, Any] = field(default_factory=dict)

    def rule(self, model: Model) -> Rule | SampledRule | str:
        """How it is computed under a model; or why it is not."""
        return self.overlapping if model.is_independent else self.lines

    def signature(self, rule: Rule | SampledRule) -> dict[str, Any]:
        """What the signature says where it is computed by one of its rules."""
        drawing = rule.signed if isinstance(rule, SampledRule) else {}
        return {"measure": self.name, **self.signed, **drawing}


def _lengths(length: Ints) -> Ints:
    return length


def _ones(length: Ints) -> Ints:
    return np.ones_like(length)


def _twos(length: Ints) -> Ints:
    return np.full_like(length, 2)


def iou(*, theta: float = 0.5, samples: int = 1000, seed: int = 0) -> Measure:
    """One-to-one pairs at IoU > theta: exact for disjoint spans and theta from 1/2 on.

    Elsewhere a pairing of one span depends on those of others, and so the match has no exact
    expectation: it is estimated from random arrangements.
    """
    matched = partial(matching.partners, theta=theta)

    def sampled(model: Model) -> SampledRule:
        drawing: dict[str, Any] = {"samples": samples, "seed": seed}
        estimate = partial(sampled_partners, model=model, theta=theta, **drawing)
        return SampledRule(matched, estimate, drawing)

    close = partial(certainty.close_spans, theta=theta)
    exact = Rule(
        matched,
        partial(chance.expected_partners, theta=theta),
        partial(certainty.if_never_missed, proof=close),
    )
    return Measure(
        name="iou",
        size=_ones,
        lines=exact if theta >= 0.5 else sampled(MODELS["nested"]),
        overlapping=sampled(MODELS["overlapping"]),
        parameters=frozenset(("theta", "samples", "seed")),
        with_parameters=iou,
        signed={"theta": theta},
    )


def additive(name: str, phi: Phi, size: Callable[[Ints], Floats]) -> Measure:
    """Any function of two spans, summed over those that intersect."""
    return Measure(
        name=name,
        size=size,
        lines=Rule(
            partial(matching.summed_phi, phi=phi), partial(chance.expected_phi, phi=phi), None
        ),
        overlapping=_EXCEEDS,
        signed={"measure": CUSTOM, "custom": name},
    )


_ALL = (
    Measure(
        name="token",
        size=_lengths,
        lines=Rule(
            matching.shared_positions, chance.expected_positions, certainty.if_all_is_covered
        ),
        overlapping=Rule(
            matching.shared_levels, chance.expected_levels, certainty.if_levels_are_full
        ),
    ),
    Measure(
        name="exact",
        size=_ones,
        lines=Rule(
            matching.equal_spans,
            chance.expected_equal_spans,
            partial(certainty.if_never_missed, proof=certainty.equal_spans),
        ),
        overlapping=Rule(
            matching.equal_spans, chance.expected_equal_overlapping, certainty.if_all_fill
        ),
        by_layer=False,
    ),
    Measure(
        name="boundary",
        size=_twos,
        lines=Rule(
            matching.equal_boundaries,
            chance.expected_boundaries,
            partial(certainty.if_never_missed, proof=certainty.equal_starts),
        ),
        overlapping=Rule(
            matching.equal_boundaries, chance.expected_boundaries_overlapping, certainty.if_all_fill
        ),
    ),
    Measure(
        name="dice",
        size=_ones,
        lines=Rule(matching.shared_parts, chance.expected_parts, certainty.if_covered_by_equals),
        overlapping=_EXCEEDS,
        own_sides=True,
    ),
    iou(),
)
MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in _ALL}
"""By name, each with the default values of its parameters."""
