"""Sequences kept as edge and middle, against the same sequences written out."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

from beyondchance.core import profiles
from beyondchance.core.profiles import boxes, convolved, joined, profiles_of, summed

values = st.floats(0, 1, allow_subnormal=False)


@st.composite
def sequences(draw, most=12):
    """A mirror-symmetric sequence: edge, middle, size."""
    edge = draw(st.lists(values, max_size=most))
    size = 2 * len(edge) + draw(st.integers(0 if edge else 1, most))
    return np.array(edge), draw(values), size


def of(*found):
    return profiles_of([(e, m) for e, m, _ in found], np.array([size for _, _, size in found]))


def dense(sequence):
    edge, middle, size = sequence
    return np.concatenate([edge, np.full(size - 2 * len(edge), middle), edge[::-1]])


@given(st.lists(sequences(), min_size=1, max_size=4), st.data())
def test_values_at_any_place(found, data):
    joint = of(*found)
    i = data.draw(st.integers(0, len(found) - 1))
    np.testing.assert_array_equal(joint.expand(i), dense(found[i]))
    places = np.arange(found[i][2])
    np.testing.assert_array_equal(joint.at(np.full_like(places, i), places), dense(found[i]))


@pytest.mark.parametrize("most_terms", [2**15, 0], ids=["directly", "by transforms"])
@given(p=sequences(), q=sequences())
def test_convolution(most_terms, p, q):
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "_MOST_TERMS", most_terms)
        found = convolved(of(p), of(q)).expand(0)
    np.testing.assert_allclose(found, np.convolve(dense(p), dense(q)), rtol=1e-13, atol=1e-13)


@given(st.lists(sequences(), min_size=2, max_size=4), st.integers(1, 9))
def test_convolution_with_boxes_one_by_one(found, width):
    p, q = of(*found), boxes(np.full(len(found), width))
    together = convolved(p, q)
    for i, sequence in enumerate(found):
        np.testing.assert_allclose(
            together.expand(i), np.convolve(dense(sequence), np.ones(width)), rtol=1e-13, atol=1e-14
        )
        # To the last bit, whatever stands beside it.
        alone = convolved(of(sequence), boxes(np.array([width])))
        np.testing.assert_array_equal(alone.expand(0), together.expand(i))


@given(sequences(), sequences(), st.integers(-30, 30))
def test_meeting(p, q, lag):
    found = of(p, q).meet(np.array([0]), np.array([1]), np.array([lag]))[0]
    one, two = dense(p), dense(q)
    exact = sum(one[x] * two[x + lag] for x in range(len(one)) if 0 <= x + lag < len(two))
    assert found == pytest.approx(exact, rel=1e-13, abs=1e-300)
    mirrored = of(q, p).meet(np.array([0]), np.array([1]), np.array([-lag]))[0]
    assert found == mirrored


@given(sequences(), sequences(), st.integers(-30, 30))
def test_long_pairs_one_by_one_have_the_same_digits(p, q, lag):
    q = q[0][: p[2] // 2], q[1], p[2]
    both, one, two = of(p, q), np.array([0, 1, 0]), np.array([1, 1, 0])
    together = both.dot(one, two), both.meet(one, two, np.array([lag, 0, -lag]))
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(profiles, "_MOST_GATHERED", 3)
        found = both.dot(one, two), both.meet(one, two, np.array([lag, 0, -lag]))
    np.testing.assert_array_equal(found, together)


@given(sequences(), st.data())
def test_sums_of_sequences(p, data):
    edge = np.array(data.draw(st.lists(values, max_size=p[2] // 2)))
    q = edge, data.draw(values), p[2]
    both = joined(of(p), of(q), of(p))
    found = summed(both, np.array([2, 3, 1]), np.array([0, 0, 1]), 2)
    np.testing.assert_allclose(found.expand(0), 2 * dense(p) + 3 * dense(q), rtol=1e-14)
    np.testing.assert_array_equal(found.expand(1), dense(p))
    one = np.array([0]), np.array([1])
    assert both.dot(*one)[0] == pytest.approx(dense(p) @ dense(q), rel=1e-12, abs=1e-300)


@given(st.lists(st.tuples(sequences(), sequences()), min_size=1, max_size=5), st.data())
def test_cutting_the_work_into_blocks_changes_no_bit(pairs, data):
    left, right = (of(*side) for side in zip(*pairs, strict=True))
    both = joined(left, right)
    i = np.arange(len(pairs))
    lag = np.array([data.draw(st.integers(-9, 9)) for _ in pairs])
    found = []
    for most_cells in (2**21, 7):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(profiles, "_MOST_CELLS", most_cells)
            found.append(
                (convolved(left, right).values, both.meet(i, i + len(pairs), lag), both.dot(i, i))
            )
    for one, two in zip(*found, strict=True):
        np.testing.assert_array_equal(one, two)
