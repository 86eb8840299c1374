"""Pairs: beside all ways to pair."""

from hypothesis import given, strategies as st

from beyondchance.evaluation.pairing import Edge, best_pairs

EDGES = st.lists(
    st.builds(Edge, st.integers(0, 4), st.integers(0, 4), st.booleans()),
    max_size=10,
    unique_by=lambda edge: (edge.true, edge.predicted),
)


def most(edges):
    """Correct pairs and others of the best of all choices, one edge after the other."""
    if not edges:
        return (0, 0)
    first, *rest = edges
    free = [e for e in rest if e.true != first.true and e.predicted != first.predicted]
    correct, other = most(free)
    return max(most(rest), (correct + first.is_correct, other + (not first.is_correct)))


@given(EDGES)
def test_no_choice_has_more_correct_pairs_or_more_pairs(edges):
    pairs = best_pairs(edges)
    assert set(pairs) <= set(edges)
    assert len({edge.true for edge in pairs}) == len(pairs)
    assert len({edge.predicted for edge in pairs}) == len(pairs)
    n_correct = sum(edge.is_correct for edge in pairs)
    assert (n_correct, len(pairs) - n_correct) == most(edges)


@given(EDGES, st.randoms())
def test_the_order_makes_no_difference(edges, rng):
    shuffled = rng.sample(edges, len(edges))
    one, two = best_pairs(edges), best_pairs(shuffled)
    assert len(one) == len(two)
    assert sum(e.is_correct for e in one) == sum(e.is_correct for e in two)


def test_partners_change_where_that_adds_a_pair():
    # The first predicted entity can have either true one, the second only the first.
    edges = [Edge(0, 0, True), Edge(1, 0, True), Edge(0, 1, True)]
    assert len(best_pairs(edges)) == 2
