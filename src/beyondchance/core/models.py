"""The models: how random spans may be placed relative to each other.

A model says which arrangements it allows, and draws from them with equal probability. To
add a model, enter it here; measures say in `core.measures` how they are computed under it.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping
from typing import NamedTuple

import numpy as np

from beyondchance.core.draws import overlapping_starts, starts_on_lines
from beyondchance.core.nesting import Nesting
from beyondchance.core.span_trees import Nodes
from beyondchance.types import Ints


class Model(NamedTuple):
    """How the spans of one annotator may be placed relative to each other.

    Attributes
    ----------
    name : str
    definition : tuple of str
        Which arrangements it allows, clause by clause.
    contradiction : function of a Nesting
        The first two spans that the model does not allow; None if it allows all.
    draw : function of the text size, nodes, number of draws and generator
        Starts of random nodes, shape (draws, nodes).
    is_independent : bool
        Whether each span is placed without regard to the others. Then labels do not share a
        line, no span lies in a parent, and measures have rules of their own.
    has_parents : bool
        Whether spans inside a span are placed within it.
    expects : str
        What it expects of the spans that are placed together.
    contradicts : str
        What the first of two spans that contradict it does to the second.
    """

    name: str
    definition: tuple[str, ...]
    contradiction: Callable[[Nesting], tuple[int, int] | None]
    draw: Callable[[int, Nodes, int, np.random.Generator], Ints]
    is_independent: bool = False
    has_parents: bool = False
    expects: str = ""
    contradicts: str = ""


AUTO = Model(
    name="auto",
    definition=(
        "spans that are apart stay apart",
        "spans inside another stay inside it",
        "spans that cross move together",
    ),
    contradiction=lambda nesting: None,  # noqa: ARG005 - it allows all
    draw=starts_on_lines,
    has_parents=True,
)
"""The strictest placement that fits, annotator by annotator, text by text, label by label."""

_ALL = (
    Model(
        name="disjoint",
        definition=("spans do not overlap",),
        contradiction=lambda nesting: nesting.overlap,
        draw=starts_on_lines,
        expects="not to overlap",
        contradicts="overlaps",
    ),
    Model(
        name="nested",
        definition=("spans inside another stay inside it", "others do not overlap"),
        contradiction=lambda nesting: nesting.crossing,
        draw=starts_on_lines,
        has_parents=True,
        expects="to be disjoint or one inside the other",
        contradicts="crosses",
    ),
    Model(
        name="overlapping",
        definition=("each span is placed independently of the others",),
        contradiction=lambda nesting: None,  # noqa: ARG005 - it allows all
        draw=overlapping_starts,
        is_independent=True,
    ),
)
MODELS: Mapping[str, Model] = {model.name: model for model in _ALL}
"""Those that hold for all spans of a corpus, by name, the strictest first."""
