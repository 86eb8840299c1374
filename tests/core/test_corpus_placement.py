"""Spans in any text of a corpus, against all arrangements in exact arithmetic."""

from collections import Counter
from fractions import Fraction

import numpy as np
import pytest
from hypothesis import given, strategies as st

import corpus_unit
import oracle
from beyondchance.core import corpus_placement
from beyondchance.core.corpus_placement import corpus_draws, corpus_starts
from beyondchance.core.lengths import table_of
from beyondchance.core.placement import coverage_profiles, item_profiles
from beyondchance.core.profiles import boxes, joined
from each import each

CORPORA = [(1, 1, 1, 2), (3, 2, 2), (4, 1), (4, 3), (3, 3, 1), (1, 2, 4), (7,)]


def tallied(values):
    """Distinct values and how often each occurs."""
    found = sorted(Counter(values).items())
    return tuple(np.array(column, dtype=np.int64) for column in zip(*found, strict=True))


def starts_of(sizes, lengths):
    return corpus_starts(*tallied(sizes), *tallied(lengths))


def everything(found):
    return corpus_unit.coverage(found, np.ones(len(found.length)))


def sums(found, texts):
    """The expected number of spans of each length in the corpus."""
    k = len(found.run)
    both = joined(found.starts, boxes(found.starts.size))
    by_sequence = both.dot(np.arange(k), k + np.arange(k))
    return np.bincount(found.run, by_sequence * texts[found.size], minlength=len(found.length))


def feasible(sizes):
    for lengths in oracle.multisets(sum(sizes)):
        if lengths and oracle.corpus_arrangements(sizes, lengths):
            yield lengths


def exact_intensities(sizes, lengths):
    """By counting arrangements: {(text, start, length): expected number}."""
    found = oracle.corpus_arrangements(sizes, lengths)
    times = Counter(
        (text, start, length)
        for arrangement in found
        for (text, start), length in zip(arrangement, lengths, strict=True)
    )
    return {key: Fraction(value, len(found)) for key, value in times.items()}


def exact_coverage(sizes, lengths):
    covered = Counter()
    for (text, start, length), intensity in exact_intensities(sizes, lengths).items():
        for t in range(start, start + length):
            covered[text, t] += intensity
    return covered


@st.composite
def annotated(draw, most_texts=6, most_positions=9):
    """Sizes of texts, and lengths of spans that fit: those of an annotation."""
    sizes = draw(st.lists(st.integers(1, most_positions), min_size=1, max_size=most_texts))
    lengths = []
    for n in sizes:
        at = 0
        while at < n:
            step = draw(st.integers(1, n - at))
            if draw(st.booleans()):
                lengths.append(step)
            at += step
    return sizes, lengths or [1]


@pytest.fixture
def no_counting(monkeypatch):
    monkeypatch.setattr(corpus_placement, "_MOST_PRODUCTS", -1)


# --- Counting -----------------------------------------------------------------


@pytest.mark.parametrize(
    "corpora",
    [
        CORPORA[2:3],
        pytest.param(CORPORA[::2], marks=pytest.mark.slow),
        pytest.param(CORPORA[1::2], marks=pytest.mark.long),
    ],
    ids=["one", "some", "others"],
)
def test_every_small_corpus_against_brute_force(corpora):
    for sizes, lengths in [(one, lengths) for one in corpora for lengths in feasible(one)]:
        found = starts_of(sizes, lengths)
        assert found.is_exact
        exact = exact_intensities(sizes, lengths)
        for i, (size, run) in enumerate(zip(found.size, found.run, strict=True)):
            text, length = sizes.index(found.n[size]), int(found.length[run])
            places = found.starts.expand(i).tolist()
            assert len(places) == found.n[size] - length + 1
            for start, intensity in enumerate(places):
                assert abs(intensity - exact.get((text, start, length), 0)) <= 2e-15
        expected, covered = exact_coverage(sizes, lengths), everything(found)
        for i, n in enumerate(found.n.tolist()):
            text = sizes.index(n)
            for t, c in enumerate(covered.expand(i).tolist()):
                assert abs(c - expected[text, t]) <= 2e-15


@each(
    ("sizes", "a", "b"),
    [
        ((1, 1, 1, 2), (1, 2), (1, 1)),
        ((3, 2, 2), (2, 2, 1), (3, 1)),
        ((4, 1), (2, 2), (1, 2)),
        ((5, 4), (3, 2, 1), (4, 2)),
        ((2, 2, 4), (2, 2), (1, 2, 2)),
    ],
)
def test_expected_match_of_two_annotators_over_all_pairs_of_arrangements(sizes, a, b):
    tokens = equal = Fraction(0)
    left, right = (oracle.corpus_arrangements(sizes, side) for side in (a, b))

    def positions(arrangement, lengths):
        return {
            (text, t)
            for (text, start), length in zip(arrangement, lengths, strict=True)
            for t in range(start, start + length)
        }

    for one in left:
        for two in right:
            tokens += len(positions(one, a) & positions(two, b))
            equal += len({*zip(one, a, strict=True)} & {*zip(two, b, strict=True)})
    pairs = len(left) * len(right)
    _, texts = tallied(sizes)
    found = corpus_unit.expected(starts_of(sizes, a), starts_of(sizes, b), texts)
    assert found == pytest.approx([float(tokens / pairs), float(equal / pairs)], abs=1e-14)


def test_one_token_texts_agree_as_a_contingency_table_does():
    one, thousand = np.array([1]), np.array([1000])
    found = corpus_starts(one, thousand, one, np.array([500]))
    assert found.is_exact
    covered = everything(found)
    zero = np.array([0])
    assert (1000 * covered.dot(zero, zero)).tolist() == [250.0]


@given(annotated(most_texts=1, most_positions=40))
def test_one_text_is_the_disjoint_model(case):
    (n,), lengths = case
    found = starts_of([n], lengths)
    table = table_of(n, np.array(lengths))
    zero = np.zeros(len(table.length), dtype=np.int64)
    starts = item_profiles(table, zero, table.length)
    for i, count in enumerate(table.count.tolist()):
        np.testing.assert_array_equal(found.starts.expand(i), count * starts.expand(i))
    covered = coverage_profiles(table, np.array([0])).expand(0)
    np.testing.assert_allclose(everything(found).expand(0), covered, rtol=0, atol=1e-13)


@given(annotated(most_texts=1, most_positions=30))
def test_counting_gives_the_disjoint_model_for_one_text_as_well(case):
    (n,), lengths = case
    length, count = tallied(lengths)
    items = corpus_placement._items(np.array([n]), np.array([1]), length, count)
    if items.length[-1] == 1 or corpus_placement._products(items) > 2**24:
        return
    weight = corpus_placement._weights(items)
    longs = items.longs()[0]
    factor = weight[np.searchsorted(items.length, longs)]
    found = corpus_placement._by_counts(items, weight, longs, factor)
    table = table_of(n, np.array(lengths))
    starts = item_profiles(table, np.zeros(len(longs), dtype=np.int64), longs)
    for i, k in enumerate(items.longs()[1].tolist()):
        np.testing.assert_allclose(found.expand(i), k * starts.expand(i), rtol=0, atol=1e-13)


# --- Laws of both methods -----------------------------------------------------


def check_laws(sizes, lengths, tolerance):
    n, texts = tallied(sizes)
    length, count = tallied(lengths)
    found = corpus_starts(n, texts, length, count)
    np.testing.assert_allclose(sums(found, texts), count, rtol=tolerance)
    assert found.starts.values.min() >= 0
    assert found.starts.values.max() <= 1 + 1e-12
    covered = everything(found)
    assert covered.size.tolist() == n.tolist()
    assert covered.values.max() <= 1 + 1e-12
    total = sum(m * covered.expand(i).sum() for i, m in enumerate(texts.tolist()))
    assert total == pytest.approx(sum(lengths), rel=tolerance)
    # Halves of the spans cover half as much.
    half = corpus_unit.coverage(found, np.full(len(length), 0.5))
    np.testing.assert_allclose(2 * half.expand(0), covered.expand(0), rtol=1e-14)
    return found


@given(annotated())
def test_intensities_add_up_to_the_counts(case):
    check_laws(*case, tolerance=1e-12)


@given(annotated(most_texts=20, most_positions=30))
def test_intensities_by_fugacities_add_up_to_the_counts(case):
    usual = corpus_placement._MOST_PRODUCTS
    corpus_placement._MOST_PRODUCTS = -1
    try:
        check_laws(*case, tolerance=1e-9)
    finally:
        corpus_placement._MOST_PRODUCTS = usual


@given(annotated(), st.data())
def test_the_order_of_the_texts_changes_nothing(case, data):
    sizes, lengths = case
    n, texts = tallied(sizes)
    order = np.array(data.draw(st.permutations(range(len(n)))))
    side = tallied(lengths)
    one = everything(corpus_starts(n, texts, *side))
    two = everything(corpus_starts(n[order], texts[order], *side))
    for i, j in enumerate(order.tolist()):
        np.testing.assert_allclose(two.expand(i), one.expand(j), rtol=0, atol=1e-13)


def test_no_spans_cover_nothing():
    nothing = np.zeros(0, dtype=np.int64)
    for texts in (np.array([1, 2]), np.array([1])):
        n = np.array([3, 4])[: len(texts)]
        found = corpus_starts(n, texts, nothing, nothing)
        assert (len(found.run), found.is_exact) == (0, True)
        assert everything(found).expand(0).tolist() == [0, 0, 0]


def test_texts_without_room_are_not_covered():
    found = starts_of([1, 2, 4], [3])
    assert (found.n[found.size].tolist(), found.starts.expand(0).tolist()) == ([4], [0.5, 0.5])
    assert [everything(found).expand(i).tolist() for i in range(3)] == [
        [0],
        [0, 0],
        [0.5, 1, 1, 0.5],
    ]


def test_empty_texts_change_nothing():
    found = corpus_starts(np.array([0, 3]), np.array([2, 2]), np.array([2]), np.array([2]))
    assert found.size.tolist() == [1]
    assert [everything(found).expand(i).tolist() for i in range(2)] == [[], [0.5, 1, 0.5]]


# --- Fugacities ---------------------------------------------------------------


FULL = [
    ([4] * 100 + [1], [2] * 200),
    ([5] * 100, [2, 3] * 100),
    ([5] * 100 + [6] * 10, [2, 3] * 100 + [2] * 30),
    ([5] * 100 + [6] * 10, [2, 3] * 100 + [3] * 20),
    ([9] * 100 + [10] * 10 + [30] * 5, [2, 3] * 150 + [10] * 25),
    ([99] * 100 + [100] * 10, [100] * 10),
    ([99] * 100 + [100] * 10, [50] * 120),
    ([2] * 1000, [2] * 999),
    ([12, 11] * 8, [12] * 8 + [11] * 8),
    ([4, 6] * 50, [2] * 250),
    # Rows of units alone, where units are rare: below the range of a float at first.
    ([1200] * 30_000 + [1000], [1200] * 30_000),
    ([1200] * 30_000 + [1000], [1200] * 29_999),
]


@pytest.mark.parametrize("full", [FULL[:-2], pytest.param(FULL[-2:], marks=pytest.mark.slow)])
@pytest.mark.usefixtures("no_counting")
def test_corpora_that_are_full_or_nearly_so_are_no_obstacle(full):
    for sizes, lengths in full:
        assert not check_laws(sizes, lengths, tolerance=1e-11).is_exact


def test_full_corpora_are_covered():
    found = starts_of([4, 4, 3], [3, 2, 2, 1, 2, 1])
    np.testing.assert_allclose(everything(found).values, 1, rtol=1e-14)


@pytest.mark.slow
@each("name", corpus_unit.CORPORA)
def test_the_error_of_fugacities_falls_with_the_number_of_spans(name):
    sizes, share = corpus_unit.CORPORA[name]
    for k in (5, 20, 100):
        sides = [corpus_unit.spans(lengths, k) for lengths in corpus_unit.LENGTHS]
        n, m = corpus_unit.texts(sizes, float(sides[0][0] @ sides[0][1]) / share)
        exact, approximate = (
            corpus_unit.expected(*(corpus_unit.found_by(n, m, s, most) for s in sides), m)
            for most in (np.inf, -1)
        )
        token, equal = np.abs(approximate / exact - 1)
        # What docs/background/maths.md says.
        assert token < 0.03 / k
        assert equal < 0.3 / k


@pytest.mark.usefixtures("no_counting")
def test_long_texts_share_their_edge():
    n = np.array([5_000, 20_000, 100_000])
    found = corpus_starts(n, np.array([3, 2, 1]), np.array([2, 7]), np.array([900, 400]))
    assert len(set(found.starts.first.tolist())) == 2
    assert found.starts.size.tolist() == [x - a + 1 for x in n.tolist() for a in (2, 7)]
    np.testing.assert_allclose(sums(found, np.array([3, 2, 1])), [900, 400], rtol=1e-12)


def test_long_texts_with_many_spans_are_as_one_text():
    # Ten documents of 20,000, or one of 200,000: in the middle the same.
    length, count = np.arange(1, 11), np.full(10, 300)
    ten = corpus_starts(np.array([20_000]), np.array([10]), length, count)
    one = corpus_starts(np.array([200_000]), np.array([1]), length, count)
    assert (ten.is_exact, one.is_exact) == (False, True)
    np.testing.assert_allclose(ten.starts.middle, one.starts.middle, rtol=1e-3)


@pytest.mark.slow
@pytest.mark.usefixtures("no_counting")
def test_spans_of_one_length_that_fill_nearly_everything():
    # Nothing becomes constant.
    n = np.array([9_000, 10_000])
    found = corpus_starts(n, np.array([1, 1]), np.array([10]), np.array([1_890]))
    np.testing.assert_allclose(sums(found, np.array([1, 1])), [1_890], rtol=1e-11)


# --- Random arrangements ------------------------------------------------------


@pytest.mark.slow
@each(
    ("sizes", "lengths"),
    [
        ((3, 2, 2), (2, 1, 1)),
        ((4, 1), (2, 2)),
        ((1, 4, 5), (3, 1, 2)),
        ((5, 4, 1), (1, 2, 2)),
        ((2, 2, 1), (1, 1)),
        ((4, 5), (2, 3, 4)),
        ((7,), (2, 1, 2)),
    ],
)
def test_draws_are_uniform_over_all_arrangements(sizes, lengths):
    draws = 5_000
    text, start = corpus_draws(np.array(sizes), np.array(lengths), draws, np.random.default_rng(3))
    drawn = Counter(
        tuple(zip(*row, strict=True)) for row in zip(text.tolist(), start.tolist(), strict=True)
    )
    every = oracle.corpus_arrangements(sizes, lengths)
    assert set(drawn) <= set(every)
    share = draws / len(every)
    statistic = sum((drawn[one] - share) ** 2 / share for one in every)
    # Chi-squared: five standard deviations.
    freedom = len(every) - 1
    assert abs(statistic - freedom) < 5 * np.sqrt(2 * freedom)


@pytest.mark.slow
def test_draws_have_the_expected_coverage():
    sizes, lengths = [12] * 6 + [7] * 5 + [1] * 4, [1] * 8 + [2] * 6 + [3] * 5 + [5] * 3
    draws = 4_000
    text, start = corpus_draws(np.array(sizes), np.array(lengths), draws, np.random.default_rng(5))
    held = np.zeros((draws, len(sizes), 12))
    for i, length in enumerate(lengths):
        for t in range(length):
            held[np.arange(draws), text[:, i], start[:, i] + t] += 1
    assert held.max() == 1
    covered = everything(starts_of(sizes, lengths))
    for i, n in enumerate([1, 7, 12]):
        texts = [k for k, size in enumerate(sizes) if size == n]
        c = covered.expand(i)
        error = np.sqrt(c * (1 - c) / draws / len(texts))
        assert (np.abs(held[:, texts, :n].mean(axis=(0, 1)) - c) < 5 * error).all()
