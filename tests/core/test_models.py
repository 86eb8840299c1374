"""Models: what each allows, by comparing all spans with all others."""

from itertools import combinations

import numpy as np
from hypothesis import given, strategies as st

from beyondchance.core.models import AUTO, MODELS
from beyondchance.core.nesting import nesting
from beyondchance.core.span_trees import FREE, Nodes

SPANS = st.lists(st.tuples(st.integers(0, 6), st.integers(1, 4)), unique=True, max_size=5)


def overlap(one, other):
    return max(one[0], other[0]) < min(sum(one), sum(other))


def inside(one, other):
    return other[0] <= one[0] and sum(one) <= sum(other)


@given(SPANS)
def test_a_model_allows_what_a_stricter_one_allows(spans):
    start, length = np.array(spans, dtype=np.int64).reshape(-1, 2).T
    pairs = [pair for pair in combinations(spans, 2) if overlap(*pair)]
    crossing = [pair for pair in pairs if not inside(*pair) and not inside(*pair[::-1])]
    expected = "overlapping" if crossing else "nested" if pairs else "disjoint"
    found = nesting(np.zeros_like(start), start, start + length)
    assert AUTO.contradiction(found) is None
    allowed = [name for name, other in MODELS.items() if other.contradiction(found) is None]
    assert allowed == list(MODELS)[list(MODELS).index(expected) :]


@given(SPANS, st.integers(0, 99))
def test_what_a_model_draws_it_allows(spans, seed):
    lengths = np.array([length for _, length in spans], dtype=np.int64)
    parents = np.full_like(lengths, -1)
    nodes = Nodes(lengths, parents, np.full_like(lengths, FREE))
    for model in MODELS.values():
        starts = model.draw(40, nodes, 3, np.random.default_rng(seed))
        for row in starts:
            found = nesting(np.zeros_like(lengths), row, row + lengths)
            assert model.contradiction(found) is None
