"""A measure as an entry of `core/measures.py`, which imports nothing but the core.

It counts what `boundary` counts, at half the size, so that its scores are known.
"""

from functools import partial

import numpy as np

from beyondchance.core import expected_by_pairs, expected_by_sums, measures, observed
from beyondchance.core.random_places import starts_of


def half(function, *given):
    return np.asarray(function(*given)) / 2


TOY = measures.Measure(
    name="edges",
    counts="edges that both set, in {positions}",
    definition="half an edge that both set between two {position}s",
    size=np.ones_like,
    matched=partial(half, observed.equal_boundaries),
    members_of=starts_of,
    on_lines=partial(half, expected_by_sums.expected_boundaries),
    overlapping=partial(half, expected_by_pairs.expected_boundaries_overlapping),
)
