"""The measures: what counts as match, as observed and as expected by chance.

A measure is additive (Proposition 1): it sums over pairs of spans, and agreement
is twice the match divided by the two sizes. To add one, write its size, its
observed match and its expected match, and enter them here.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

from beyondchance.arrays import Bools, Floats, Ints
from beyondchance.core import chance, matching
from beyondchance.core.lengths import LengthTable
from beyondchance.core.matching import SpanGroups


@dataclass(frozen=True, slots=True)
class Rule:
    """How a measure is computed under one chance model.

    Attributes
    ----------
    matched : function of groups and two arrays of groups
        Observed match, pair by pair.
    expected : function of a table and two arrays of entries
        Expected match, pair by pair.
    certain : function of a table and two arrays of entries
        Whether every arrangement of both sides agrees wholly: chance is 1.
    """

    matched: Callable[[SpanGroups, Ints, Ints], Ints]
    expected: Callable[[LengthTable, Ints, Ints], Floats]
    certain: Callable[[LengthTable, Ints, Ints], Bools]


@dataclass(frozen=True, slots=True)
class Measure:
    """A size for each group of spans, and a rule for each chance model."""

    size: Callable[[SpanGroups], Ints]
    rules: Mapping[str, Rule]


MEASURES: Mapping[str, Measure] = {
    "token": Measure(
        size=matching.covered,
        rules={
            "disjoint": Rule(
                matched=matching.shared_positions,
                expected=chance.expected_positions,
                certain=chance.all_covered,
            ),
            "overlapping": Rule(
                matched=matching.shared_levels,
                expected=chance.expected_levels,
                certain=chance.all_in_place,
            ),
        },
    ),
    "exact": Measure(
        size=matching.counted,
        rules={
            "disjoint": Rule(
                matched=matching.equal_spans,
                expected=chance.expected_equal_spans,
                certain=chance.all_equal,
            ),
            "overlapping": Rule(
                matched=matching.equal_spans,
                expected=chance.expected_equal_overlapping,
                certain=chance.all_in_place,
            ),
        },
    ),
}
