"""The models: how random spans may be placed relative to each other.

A model says which arrangements it allows, and draws from them with equal probability. To
add a model, enter it here; measures say in `core.measures` how they are computed under it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass

import numpy as np

from beyondchance.core.draws import nested_starts, overlapping_starts
from beyondchance.core.nesting import Nesting
from beyondchance.types import Ints


@dataclass(frozen=True, slots=True)
class Model:
    """How the spans of one annotator may be placed relative to each other.

    Attributes
    ----------
    name : str
    contradiction : function of a Nesting
        The first two spans that the model does not allow; None if it allows all.
    draw : function of the text size, lengths, parents, number of draws and generator
        Starts of random spans, shape (draws, spans). Parents come before the spans in them.
    is_independent : bool
        Whether each span is placed without regard to the others. Then labels do not share a
        line, no span lies in a parent, and measures have rules of their own.
    has_parents : bool
        Whether spans inside a span are placed within it.
    is_fulfilled : str
        Why it fits, of the spans that are placed together.
    expects : str
        What it expects of them.
    contradicts, evidence : str
        What the first of two spans does to the second: where they contradict the model, and
        where they contradict the next stricter one.
    """

    name: str
    contradiction: Callable[[Nesting], tuple[int, int] | None]
    draw: Callable[[int, Ints, Ints, int, np.random.Generator], Ints]
    is_independent: bool = False
    has_parents: bool = False
    is_fulfilled: str = ""
    expects: str = ""
    contradicts: str = ""
    evidence: str = ""


_ALL = (
    Model(
        name="disjoint",
        contradiction=lambda nesting: nesting.overlap,
        draw=nested_starts,
        is_fulfilled="no two {} overlap",
        expects="not to overlap",
        contradicts="overlaps",
    ),
    Model(
        name="nested",
        contradiction=lambda nesting: nesting.crossing,
        draw=nested_starts,
        has_parents=True,
        is_fulfilled="{} lie inside one another and none cross",
        expects="to be disjoint or one inside the other",
        contradicts="crosses",
        evidence="holds",
    ),
    Model(
        name="overlapping",
        contradiction=lambda nesting: None,  # noqa: ARG005 - it allows all
        draw=overlapping_starts,
        is_independent=True,
        is_fulfilled="{} cross",
        evidence="crosses",
    ),
)
MODELS: Mapping[str, Model] = {model.name: model for model in _ALL}
"""By name, the strictest first."""


def strictest(nesting: Nesting) -> tuple[Model, tuple[int, int] | None]:
    """The first model that allows these spans, and two spans that the one before does not.

    Examples
    --------
    [0, 3) holds [0, 2).

    >>> from beyondchance.core.nesting import nesting
    >>> model, spans = strictest(nesting(np.zeros(2, int), np.array([0, 0]), np.array([3, 2])))
    >>> model.name, spans
    ('nested', (0, 1))
    """
    evidence = None
    for model in _ALL[:-1]:
        contradiction = model.contradiction(nesting)
        if contradiction is None:
            return model, evidence
        evidence = contradiction
    return _ALL[-1], evidence
