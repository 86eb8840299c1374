"""The measures: what counts as match, as observed and as expected by chance.

Agreement is twice the match divided by the two sizes. What two annotations have in common
does not depend on how random spans are placed; what random annotations have in common does:
on lines (disjoint, nested, or crossing and rigid) or each span by itself. A measure owns its
parameters, whose values are in its `signed`, and its words. To add a measure, write its observed
and its expected match for either, and enter it here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import field
from functools import partial
from typing import Any

import numpy as np

from beyondchance.core import expected_by_pairs, expected_by_sums, observed as matching
from beyondchance.core.estimates import Estimate, sampled_partners
from beyondchance.core.models import Model
from beyondchance.core.observed import Matched, Phi
from beyondchance.core.random_places import (
    MembersOf,
    SpanSets,
    layers_of,
    ranks_of,
    spans_of,
    starts_of,
)
from beyondchance.core.span_trees import Forest, Structure
from beyondchance.types import Bools, Floats, Ints
from beyondchance.values import internal

CUSTOM = "custom"
"""What the signature calls a measure of the user's own."""

CUSTOM_DEFINITION = "what the custom measure '{custom}' counts"

_EXCEEDS = "summed over pairs of spans that overlap one another, it could exceed 1"

Expected = Callable[[SpanSets, Ints, Ints], Floats]
"""Of sets of spans and two arrays of these: the expected match, pair by pair."""


@internal(kw_only=True)
class Measure:
    """What counts as match.

    Attributes
    ----------
    name : str
    counts : str
        What it counts, in a few words; ``{positions}`` stands for tokens or characters.
    definition : str
        What a match is, for a paper; ``{position}`` stands for a token or character, and the
        name of a parameter, such as ``{theta}``, for its value.
    size : function of lengths
        How much each span counts.
    matched : function of groups and two arrays of groups
        Observed match, pair by pair.
    members_of : function of a structure and its places
        What of the spans on lines the expected match depends on.
    on_lines : function of sets of spans and two arrays of sets
        Expected match of spans on lines.
    overlapping : function of sets of spans and two arrays of sets, optional
        Expected match of spans that are each placed by itself.
    estimate : function of the text size, the spans of either side and the model, optional
        Expected match, where there is no exact one.
    has_form : function of a structure, optional
        For which groups of spans on lines the expected match is exact; by default for all.
    why_refused : str
        Why there is no match where there is neither an exact nor an estimated one.
    adds_up : bool
        Whether the match of disjoint spans adds up over pairs of them.
    is_one_to_one : bool
        Whether nothing is matched twice, so that a match is at most the smaller size.
    own_sides : bool
        Whether precision and recall have a match of their own.
    parameters : frozenset of str
        The options that it takes.
    with_parameters : function of these options, optional
        The same measure with other values for them.
    signed : mapping of str to value
        What the signature says besides the name, or instead of it.
    drawing : mapping of str to value
        What it says where the expected match was estimated.
    """

    name: str
    counts: str
    definition: str
    size: Callable[[Ints], Ints | Floats]
    matched: Matched
    members_of: MembersOf = spans_of
    on_lines: Expected
    overlapping: Expected | None
    estimate: Callable[[int, Forest, Forest, Model], Estimate] | None = None
    has_form: Callable[[Structure], Bools] | None = None
    why_refused: str = ""
    adds_up: bool = True
    is_one_to_one: bool = True
    own_sides: bool = False
    parameters: frozenset[str] = frozenset()
    with_parameters: Callable[..., Measure] | None = None
    signed: Mapping[str, Any] = field(default_factory=dict)
    drawing: Mapping[str, Any] = field(default_factory=dict)

    def is_defined(self, model: Model) -> bool:
        """Return whether spans that a model places at random have an expected match."""
        return not model.is_independent or not (self.overlapping is None and self.estimate is None)

    def expectation(self, model: Model) -> Expected:
        """Return the function for the exact expected match under a model; raise if it has none."""
        found = self.overlapping if model.is_independent else self.on_lines
        if found is None:
            raise ValueError(f"{self.name} has no exact expectation under {model.name}")
        return found


def _apart(structure: Structure, *, ratio: float) -> Bools:
    """Find the groups without a span that has more than this share of another's length.

    Spans of a group that lie beside each other do not count.
    """
    stacks = structure.stacks
    outer = np.maximum(stacks.around, 0)
    around = stacks.length[stacks.first[:-1]][outer] if len(stacks) else stacks.around
    longest = stacks.length[stacks.first[1:] - 1]
    close = (stacks.height() > 1) | ((stacks.around >= 0) & (longest > ratio * around))
    found = np.ones(int(structure.group.max(initial=-1)) + 1, dtype=bool)
    found[stacks.group[close]] = False
    return found


def iou(*, theta: float = 0.5, samples: int = 1000, seed: int = 0) -> Measure:
    """Make the measure of one-to-one pairs at IoU > theta, as many as possible.

    From theta = 1/2 on, no span has two partners that are disjoint; nor two of which one lies
    in the other and has at most theta squared of its length. Then the match adds up over pairs of
    spans. Elsewhere a pairing of one span depends on those of others, and so the match has no
    exact expectation: it is estimated from random arrangements.
    """
    drawing: dict[str, Any] = {"samples": samples, "seed": seed}

    def estimate(n: int, a: Forest, b: Forest, model: Model) -> Estimate:
        return sampled_partners(n, a, b, model=model, theta=theta, **drawing)

    def has_form(structure: Structure) -> Bools:
        apart = _apart(structure, ratio=theta**2)
        return apart if theta >= 0.5 else np.zeros_like(apart)

    return Measure(
        name="iou",
        counts="spans that overlap enough",
        definition="a pair of spans, one to one, that share more than {theta} of the {position}s "
        "that they cover together",
        size=np.ones_like,
        matched=partial(matching.partners, theta=theta),
        on_lines=partial(expected_by_pairs.expected_partners, theta=theta),
        overlapping=None,
        estimate=estimate,
        has_form=has_form,
        adds_up=theta >= 0.5,
        parameters=frozenset(("theta", "samples", "seed")),
        with_parameters=iou,
        signed={"theta": theta},
        drawing=drawing,
    )


def additive(name: str, phi: Phi, size: Callable[[Ints], Floats]) -> Measure:
    """Make the measure that sums a function of two spans over those that intersect."""
    return Measure(
        name=name,
        counts="",
        definition=CUSTOM_DEFINITION,
        size=size,
        matched=partial(matching.summed_phi, phi=phi),
        on_lines=partial(expected_by_pairs.expected_phi, phi=phi),
        overlapping=None,
        has_form=partial(_apart, ratio=0.0),
        why_refused=_EXCEEDS,
        is_one_to_one=False,
        signed={"measure": CUSTOM, "custom": name},
    )


_ALL = (
    Measure(
        name="token",
        counts="{positions} that both marked",
        definition="a {position} that both marked",
        size=np.asarray,
        matched=matching.shared_positions,
        members_of=layers_of,
        on_lines=expected_by_sums.expected_positions,
        overlapping=expected_by_pairs.expected_levels,
    ),
    Measure(
        name="exact",
        counts="spans with the same edges, as in seqeval",
        definition="a span with the same start and end in both annotations",
        size=np.ones_like,
        matched=matching.equal_spans,
        on_lines=expected_by_sums.expected_equal_spans,
        overlapping=expected_by_pairs.expected_equal_overlapping,
    ),
    Measure(
        name="boundary",
        counts="starts and ends that both set",
        definition="a start or an end that spans have in both annotations",
        size=partial(np.full_like, fill_value=2),
        matched=matching.equal_boundaries,
        members_of=starts_of,
        on_lines=expected_by_sums.expected_boundaries,
        overlapping=expected_by_pairs.expected_boundaries_overlapping,
    ),
    Measure(
        name="dice",
        counts="overlap of spans, as a share of their lengths",
        definition="the overlap of two spans, as the Dice coefficient of their {position}s",
        size=np.ones_like,
        matched=matching.shared_parts,
        members_of=ranks_of,
        on_lines=expected_by_sums.expected_parts,
        overlapping=expected_by_pairs.expected_parts_overlapping,
        is_one_to_one=False,
        own_sides=True,
    ),
    iou(),
)
MEASURES: Mapping[str, Measure] = {measure.name: measure for measure in _ALL}
"""By name, each with the default values of its parameters."""
