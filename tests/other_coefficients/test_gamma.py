"""Gamma, gamma-cat and gamma-k.

The oracle tries every alignment, every shift and every choice of a source, with
fractions where it can. Nothing in it is shared with the package.
"""

from collections import Counter
from fractions import Fraction
from itertools import combinations, product
from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from beyondchance import Corpus, MissingLibraryError, OptionError, installing
from beyondchance.other_coefficients import alignment, continua
from beyondchance.other_coefficients.alignment import Dissimilarity, best_alignment
from beyondchance.other_coefficients.coefficient import UndefinedError
from beyondchance.other_coefficients.continua import Units
from beyondchance.other_coefficients.gamma import gamma
from examples import examples
from refusals import assert_tells, refused

# --- Oracle -------------------------------------------------------------------


def dissimilarity(u, v, *, alpha=3, beta=1):
    """Of two units (start, end, label); an empty place is 1 away from everything."""
    if u is None or v is None:
        return Fraction(1)
    shift = Fraction(abs(u[0] - v[0]) + abs(u[1] - v[1]), u[1] - u[0] + v[1] - v[0])
    return alpha * shift**2 + beta * (u[2] != v[2])


def disorder(places, **options):
    """Mean dissimilarity of all pairs of annotators."""
    pairs = list(combinations(places, 2))
    return sum(dissimilarity(u, v, **options) for u, v in pairs) / Fraction(len(pairs))


def alignments(sides):
    """Every way to put each unit of each annotator into one unitary alignment."""
    first = next((i for i, side in enumerate(sides) if side), None)
    if first is None:
        yield []
        return
    choices = [[None]] * first + [[0]]
    choices += [[None, *range(len(side))] for side in sides[first + 1 :]]
    for choice in product(*choices):
        unitary = [None if c is None else side[c] for c, side in zip(choice, sides, strict=True)]
        rest = [
            side if c is None else side[:c] + side[c + 1 :]
            for c, side in zip(choice, sides, strict=True)
        ]
        for others in alignments(rest):
            yield [unitary, *others]


def best(sides, **options):
    """The least cost, and the alignments that have it."""
    found, least = [], None
    for candidate in alignments([list(side) for side in sides]):
        cost = sum((disorder(unitary, **options) for unitary in candidate), Fraction(0))
        if least is None or cost < least:
            found, least = [], cost
        if cost == least:
            found.append(candidate)
    return least, found


def categorial(aligned, label=None):
    """Weighted mean distance of labels of the pairs in one alignment; None without any."""
    top = bottom = Fraction(0)
    for unitary in aligned:
        units = [unit for unit in unitary if unit is not None]
        for u, v in combinations(units, 2):
            if label is None or label in (u[2], v[2]):
                position = dissimilarity(u, v, alpha=1, beta=0)
                weight = max(Fraction(0), 1 - position) / (len(units) - 1)
                top += weight * (u[2] != v[2])
                bottom += weight
    return top / bottom if bottom else None


def pivots(n, length, apart):
    """Every sequence of pivots with its probability."""
    if n == 0:
        return {(): Fraction(1)}
    found = Counter()
    for before, probability in pivots(n - 1, length, apart).items():
        room = [x for x in range(length) if all(abs(x - p) >= apart for p in before)]
        for place in room or range(length):
            found[*before, place] += probability / len(room or range(length))
    return found


def expected_disorder(length, sides, apart):
    """Mean disorder over every source and pivot of every annotator."""
    top = bottom = Fraction(0)
    for sources in product(sides, repeat=len(sides)):
        n_units = sum(map(len, sources))
        if n_units:
            for places, probability in pivots(len(sides), length, apart).items():
                moved = [
                    [((s - p) % length, (s - p) % length + e - s, label) for s, e, label in source]
                    for source, p in zip(sources, places, strict=True)
                ]
                top += probability * best(moved)[0] * len(sides) / n_units
                bottom += probability
    return top / bottom


# --- Corpora ------------------------------------------------------------------


def corpus_of(length, *sides):
    names = ["anna", "ben", "cleo", "dora", "emil"]
    spans = {name: [list(side)] for name, side in zip(names, sides, strict=False)}
    # Units that stand twice stay, as in the reference: with "error" only scores refuse them.
    return Corpus.from_spans(spans, lengths=[length], duplicates="error")


def plain(pairs, label="X"):
    return [(start, end, label) for start, end in pairs]


@st.composite
def units(draw, most, length=12, labels="AB"):
    """What one annotator marked; units may overlap."""
    found = []
    for _ in range(draw(st.integers(0, most))):
        start = draw(st.integers(0, length - 1))
        end = draw(st.integers(start + 1, min(length, start + 5)))
        found.append((start, end, draw(st.sampled_from(labels))))
    return found


@st.composite
def teams(draw, labels="AB"):
    """What two to four annotators marked, few enough to try every alignment."""
    n = draw(st.integers(2, 4))
    return [draw(units({2: 4, 3: 3, 4: 2}[n], labels=labels)) for _ in range(n)]


def columns(texts, labels="ABC"):
    """Many continua as the aligner takes them."""
    rows = [
        (text, annotator, start, end, labels.index(label))
        for text, sides in enumerate(texts)
        for annotator, side in enumerate(sides)
        for start, end, label in side
    ]
    continuum, annotator, start, end, label = np.array(rows, dtype=np.int64).reshape(-1, 5).T
    return Units(
        team=np.array([len(sides) for sides in texts]),
        continuum=continuum,
        annotator=annotator,
        start=start,
        end=end,
        label=label,
    ).sorted()


# --- The best alignment -------------------------------------------------------


@pytest.mark.slow
@given(
    st.lists(teams(labels="ABC"), min_size=1, max_size=4),
    st.sampled_from([0, Fraction(1, 4), 1, 3]),
    st.sampled_from([0, 1, Fraction(9, 4), Fraction(9, 2)]),
)
@examples(50)
def test_no_alignment_is_cheaper(texts, alpha, beta):
    assume(alpha or beta)
    data = columns(texts)
    aligned, cost = best_alignment(data, Dissimilarity(alpha=float(alpha), beta=float(beta)))
    options = {"alpha": alpha, "beta": beta}
    for text, sides in enumerate(texts):
        assert cost[text] == pytest.approx(float(best(sides, **options)[0]), abs=1e-9)

    # It is an alignment, and its cost is what it says.
    used = [unit for unitary in aligned for unit in unitary.members.reshape(-1).tolist()]
    assert len(used) == len(set(used))
    again = np.bincount(data.continuum, minlength=len(texts)).astype(float)
    for unitary in aligned:
        for members in unitary.members.tolist():
            (text,) = {int(data.continuum[unit]) for unit in members}
            places = [None] * len(texts[text])
            for unit in members:
                assert places[data.annotator[unit]] is None
                label = "ABC"[data.label[unit]]
                places[data.annotator[unit]] = (int(data.start[unit]), int(data.end[unit]), label)
            again[text] += float(disorder(places, **options)) - len(members)
    np.testing.assert_allclose(cost, again, atol=1e-9)


@given(st.tuples(units(2), *[units(1)] * 4), st.sampled_from([1, 3]))
def test_no_alignment_of_five_annotators_is_cheaper(sides, alpha):
    options = Dissimilarity(alpha=float(alpha), beta=1.0)
    _, cost = best_alignment(columns([sides]), options)
    assert cost[0] == pytest.approx(float(best(sides, alpha=alpha)[0]), abs=1e-9)


def test_half_of_each_pair_is_no_alignment():
    # Three units in one place, 9/4 apart. Half of each pair would save most: 3/2 · (4 - 9/4)/3;
    # of whole alignments all three together cost least: 9/4 instead of 3.
    corpus = corpus_of(9, [(0, 2, "A")], [(0, 2, "B")], [(0, 2, "C")])
    assert gamma(corpus, beta=2.25, samples=2)["gamma"].observed == pytest.approx(2.25, abs=1e-12)


def test_a_third_unit_can_bring_two_together():
    # anna's and ben's units are 17/4 apart, too far for a pair of their own, but cleo's is
    # near both: together (17/4 + 2·17/36)/3 = 187/108. A pair with cleo and one alone would
    # cost (17/36 + 2)/3 + 1 = 197/108, and all alone 3.
    corpus = corpus_of(9, [(0, 2, "A")], [(2, 4, "A")], [(0, 4, "A")])
    found = gamma(corpus, alpha=4.25, samples=2)["gamma"]
    assert found.observed == pytest.approx(187 / 108, abs=1e-12)


def test_what_can_as_well_be_taken_apart_is():
    # cleo's unit is 5/2 from either of two equal ones: all together cost (5/2 + 5/2)/3, and the
    # two (0 + 2)/3 besides cleo's alone, both 5/3.
    sides = [plain([(0, 2)], "A"), plain([(0, 2)], "A"), plain([(2, 4)], "A")]
    options = Dissimilarity(alpha=2.5, beta=1.0)
    aligned, cost = best_alignment(columns([sides]), options)
    assert [members for unitary in aligned for members in unitary.members.tolist()] == [[0, 1]]
    assert cost.tolist() == pytest.approx([5 / 3])


def test_many_texts_are_aligned_as_each_alone():
    rng = np.random.default_rng(5)
    texts = []
    for _ in range(30):
        starts = [rng.integers(0, 40, rng.integers(0, 9)) for _ in range(rng.integers(2, 5))]
        texts.append([[(int(s), int(s) + 4, "AB"[s % 2]) for s in side] for side in starts])
    options = Dissimilarity(alpha=3.0, beta=1.0)
    alone = [best_alignment(columns([sides]), options)[1][0] for sides in texts]
    np.testing.assert_allclose(best_alignment(columns(texts), options)[1], alone, atol=1e-9)


def test_too_many_annotators_are_refused(monkeypatch):
    monkeypatch.setattr(alignment, "_MOST_COMBINATIONS", 2)
    with refused(UndefinedError, "6 … 3 … 2"):
        gamma(corpus_of(9, *[[(0, 2, "A"), (1, 3, "A")]] * 3))


def test_twelve_annotators_are_refused_before_anything_is_chosen(monkeypatch):
    monkeypatch.setattr(alignment, "_chosen", None)
    rng = np.random.default_rng(1)
    team = {
        f"p{i}": [[(s + int(rng.integers(2)), s + 6, "A") for s in range(0, 200, 20)]]
        for i in range(12)
    }
    with refused(UndefinedError, "120 … 12"):
        gamma(Corpus.from_spans(team, lengths=[220]))


@examples(60)
@given(st.integers(2, 6), st.integers(0, 2), st.integers(0, 10**6), st.booleans())
def test_what_can_be_taken_apart_by_all_splits(n_units, more, seed, final):
    n_pairs, team = n_units * (n_units - 1) // 2, n_units + more
    rng = np.random.default_rng(seed)
    distances = rng.random((50, n_pairs)) * rng.choice([1, 3, 8], (50, 1))
    size = np.full(50, team)
    found = alignment._indivisible(distances, n_units, size * (size - 1) // 2, size, final=final)
    pairs = [(a, b) for b in range(n_units) for a in range(b)]
    for row, is_one in zip(distances, found.tolist(), strict=True):
        expected = True
        for mask in range(1, 2 ** (n_units - 1)):
            apart = [mask >> a & 1 != mask >> b & 1 for a, b in pairs]
            p = mask.bit_count()
            q = n_units - p
            room = p * q if final else min(p * (team - p), q * (team - q))
            expected &= row[apart].sum() < team * (team - 1) // 2 + room
        assert is_one == expected


# --- Examples to check by hand ------------------------------------------------


def test_three_annotators_by_hand():
    # aaa.......   Two coincide: (0 + 1 + 1)/3. The third is alone: 1. One unit each.
    # bbb.......
    # .......ccc
    corpus = corpus_of(10, plain([(0, 3)]), plain([(0, 3)]), plain([(7, 10)]))
    assert gamma(corpus)["gamma"].observed == pytest.approx(5 / 3, abs=1e-15)


def test_an_annotator_who_found_nothing_counts():
    # One pair for (0 + 1 + 1)/3, and 2/3 of a unit per annotator.
    assert gamma(corpus_of(10, plain([(0, 3)]), plain([(0, 3)]), []))["gamma"].observed == 1
    # Against nobody's units, every unit is alone: 1 each, half a unit per annotator.
    assert gamma(corpus_of(10, plain([(0, 3), (5, 6)]), []))["gamma"].observed == 2


def test_positions_and_labels_by_hand():
    # aaaa......  starts 2 apart, ends 0: (2/6)² = 1/9, three times: 1/3; labels differ: 1.
    # ..bb......
    corpus = corpus_of(10, [(0, 4, "A")], [(2, 4, "B")])
    assert gamma(corpus)["gamma"].observed == pytest.approx(4 / 3, abs=1e-15)
    assert gamma(corpus, beta=0)["gamma"].observed == pytest.approx(1 / 3, abs=1e-15)
    assert gamma(corpus, alpha=0)["gamma"].observed == 1
    assert gamma(corpus, beta=0.25)["gamma"].observed == pytest.approx(1 / 3 + 1 / 4, abs=1e-15)


def test_labels_of_aligned_units_by_hand():
    # AAAA..BBBB  The first pair coincides and weighs 1; the second pair weighs
    # BBBB..BB..  1 - (2/6)² = 8/9. Labels differ in the first only: 1/(1 + 8/9) = 9/17.
    found = gamma(corpus_of(10, [(0, 4, "A"), (6, 10, "B")], [(0, 4, "B"), (6, 8, "B")]))
    assert found["gamma-cat"].observed == pytest.approx(9 / 17, abs=1e-15)
    # A is in the first pair only; B is in both.
    by_label = found["gamma-k"].by_label
    assert by_label["A"].observed == 1
    assert by_label["B"].observed == pytest.approx(9 / 17, abs=1e-15)
    assert isnan(found["gamma-k"].value)
    assert_tells(found["gamma-k"].reason, "each label")


def test_units_that_do_not_overlap_say_nothing_about_labels():
    # AA...BB...  Positions weigh so little that the two are aligned: 0.1·(10/4)² + 1 = 1.625.
    found = gamma(corpus_of(10, [(0, 2, "A")], [(5, 7, "B")]), alpha=0.1)
    assert found["gamma"].observed == pytest.approx(1.625, abs=1e-12)
    assert_tells(found["gamma-cat"].reason, "no two units")


# --- Recorded values ----------------------------------------------------------

# The simulations of Li, Rosé, Yuan & Zhou (2024), as in test_published. Values recorded
# from pygamma-agreement with alpha 3, shuffled continua bounded by the text, 300 samples.
THREE_A, THREE_B = [(3, 5), (8, 11), (14, 18)], [(2, 5), (8, 12), (14, 19)]
FIVE = [(0, 3), (5, 8), (10, 13), (15, 18), (20, 23)]
SIXTEEN = [(25, 41)]
RECORDED = {
    "simulation 1A": (20, THREE_A, THREE_B, 0.929, 0.006),
    "simulation 1B": (30, THREE_A, THREE_B, 0.946, 0.006),
    "simulation 2B": (20, [(6, 15)], [(4, 16)], 0.961, 0.006),
    "simulation 3A": (20, [(8, 11)], [(8, 12)], 0.968, 0.006),
    "simulation 4, annotator 1": (41, FIVE + SIXTEEN, FIVE, 0.854, 0.006),
    "simulation 4, annotator 2": (41, FIVE + SIXTEEN, SIXTEEN, 0.073, 0.03),
}


@pytest.mark.parametrize(
    "options", [{}, pytest.param({"samples": 5000, "seed": 1}, marks=pytest.mark.slow)]
)
def test_simulations(options):
    for name, (n, a, b, value, tolerance) in RECORDED.items():
        found = gamma(corpus_of(n, plain(a), plain(b)), **options)["gamma"].value
        assert found == pytest.approx(value, abs=tolerance), name


# Disorders of the best alignment, recorded from pygamma-agreement 0.5.9 (single
# precision) on the small samples that it comes with: three, four and five annotators.
SAMPLES = {
    "Alex, Paul, Suzan": (
        63,
        0.70497,
        [(2, 9, "1"), (11, 17, "2"), (24, 30, "5"), (32, 36, "6"), (36, 44, "6"), (47, 63, "7")],
        [(2, 9, "1"), (11, 17, "3"), (19, 25, "5"), (32, 44, "6"), (48, 58, "7")],
        [
            *[(2, 9, "1"), (11, 17, "4"), (21, 27, "5"), (32, 36, "6"), (36, 40, "6")],
            *[(42, 46, "6"), (48, 58, "7")],
        ],
    ),
    "Averell, Jack, Joe, William": (
        70,
        0.78246,
        [(2, 25, "A"), (33, 43, "B"), (55, 65, "C")],
        [(3, 11, "A"), (30, 40, "B"), (60, 70, "C")],
        [(6, 15, "A"), (29, 38, "B"), (50, 70, "C")],
        [(12, 25, "A"), (31, 40, "B"), (50, 60, "C")],
    ),
    "Alex, Lou, Paul, Sue, Suzan": (
        22,
        0.95455,
        [(2, 9, "1"), (11, 17, "2")],
        [(2, 9, "1"), (11, 17, "2")],
        [(2, 9, "5"), (11, 17, "2")],
        [(2, 9, "1"), (11, 17, "3"), (20, 22, "2")],
        [(2, 9, "4"), (11, 17, "2")],
    ),
}


def test_recorded_disorder():
    for name, (length, recorded, *sides) in SAMPLES.items():
        found = gamma(corpus_of(length, *sides), samples=2)["gamma"]
        assert found.observed == pytest.approx(recorded, abs=5e-6), name


# The same of labels: recorded from its own function, applied to its alignment without the
# empty places, which it makes extra costs of, and without alpha in the weights.
LABELS = {
    ("Alex, Paul, Suzan", None): 0.19434,
    ("Alex, Paul, Suzan", "2"): 1,
    ("Alex, Paul, Suzan", "6"): 0,
    ("Averell, Jack, Joe, William", None): 0,
    ("Alex, Lou, Paul, Sue, Suzan", None): 0.55,
    ("Alex, Lou, Paul, Sue, Suzan", "1"): 0.66667,
    ("Alex, Lou, Paul, Sue, Suzan", "2"): 0.4,
    ("Alex, Lou, Paul, Sue, Suzan", "3"): 1,
}


@pytest.mark.parametrize("alpha", [1, 3])
def test_recorded_disorder_of_labels(alpha):
    for name, (length, _, *sides) in SAMPLES.items():
        found = gamma(corpus_of(length, *sides), alpha=alpha, samples=2)
        for (sample, label), recorded in LABELS.items():
            if sample == name:
                value = found["gamma-cat"] if label is None else found["gamma-k"].by_label[label]
                assert value.observed == pytest.approx(recorded, abs=5e-6), (sample, label)


# --- Laws ---------------------------------------------------------------------


@pytest.mark.slow
@given(teams())
@examples(60)
def test_disorder_is_that_of_the_best_alignment(sides):
    assume(any(sides))
    found = gamma(corpus_of(12, *sides), samples=2)
    cost, aligned = best(sides)
    mean = Fraction(sum(map(len, sides)), len(sides))
    assert found["gamma"].observed == pytest.approx(float(cost / mean), abs=1e-9)
    # With several best alignments, labels are judged by one of them.
    for label in (None, *sorted({unit[2] for side in sides for unit in side})):
        value = found["gamma-cat"] if label is None else found["gamma-k"].by_label[label]
        possible = {categorial(candidate, label) for candidate in aligned}
        if isnan(value.observed):
            assert None in possible
            assert_tells(value.reason, "no two units")
        else:
            assert min(
                abs(value.observed - float(known)) for known in possible - {None}
            ) == pytest.approx(0, abs=1e-9)


@given(
    st.lists(
        st.lists(st.sampled_from("ABC."), min_size=4, max_size=4), min_size=1, max_size=6
    ).filter(lambda rows: any(sum(label != "." for label in row) > 1 for row in rows))
)
@examples(60)
def test_labels_of_given_units_disagree_as_in_nominal_alpha(items):
    # Units are given, one to an item; "." is a missing value. Krippendorff's observed
    # disagreement weighs each pair of values of an item by 1 / (values - 1).
    sides = [
        [(10 * i, 10 * i + 4, row[who]) for i, row in enumerate(items) if row[who] != "."]
        for who in range(4)
    ]
    found = gamma(corpus_of(10 * len(items), *sides), samples=2)["gamma-cat"]
    top, values = Fraction(0), 0
    for row in items:
        present = [label for label in row if label != "."]
        if len(present) > 1:
            values += len(present)
            differ = sum(one != other for one in present for other in present)
            top += Fraction(differ, len(present) - 1)
    assert found.observed == pytest.approx(float(top / values), abs=1e-12)


@pytest.mark.slow
@given(teams(), st.data())
@examples(30)
def test_order_direction_and_scale_do_not_matter(sides, data):
    assume(any(sides))

    def observed(length, *changed):
        return gamma(corpus_of(length, *changed), samples=2)["gamma"].observed

    disorder = pytest.approx(observed(12, *sides), abs=1e-9)
    assert observed(12, *data.draw(st.permutations(sides))) == disorder
    assert observed(12, *[[(12 - e, 12 - s, x) for s, e, x in side] for side in sides]) == disorder
    assert observed(36, *[[(3 * s, 3 * e, x) for s, e, x in side] for side in sides]) == disorder
    renamed = [[(s, e, {"A": "Z", "B": "Y"}[x]) for s, e, x in side] for side in sides]
    assert observed(12, *renamed) == disorder


@given(units(4), st.integers(2, 4))
@examples(60)
def test_identical_annotations_agree_or_cannot_help_it(side, n):
    found = gamma(corpus_of(12, *[side] * n), samples=5)
    value = found["gamma"]
    assert value.value == 1 or (isnan(value.value) and value.reason)
    if side:
        assert value.observed == 0
        assert found["gamma-cat"].observed == 0


@given(teams(), st.sampled_from([0.1, 1 / 3, 7]))
@examples(50)
def test_delta_is_a_unit_of_measurement(sides, delta):
    one = gamma(corpus_of(12, *sides), samples=5)
    other = gamma(corpus_of(12, *sides), samples=5, delta=delta)
    for name in ("gamma", "gamma-cat"):
        assert other[name].value == pytest.approx(one[name].value, nan_ok=True, abs=1e-9)
        assert other[name].observed == pytest.approx(delta * one[name].observed, nan_ok=True)
        assert other[name].expected == pytest.approx(delta * one[name].expected, nan_ok=True)


@pytest.mark.slow
@given(st.lists(teams(), min_size=2, max_size=3))
@examples(50)
def test_texts_count_by_what_is_marked_in_them(texts):
    n = min(map(len, texts))
    texts = [sides[:n] for sides in texts]
    assume(all(any(sides) for sides in texts))
    alone = [gamma(corpus_of(12, *sides), samples=2)["gamma"].observed for sides in texts]
    weights = [sum(map(len, sides)) for sides in texts]
    names = ["anna", "ben", "cleo", "dora"][:n]
    spans = {name: [sides[i] for sides in texts] for i, name in enumerate(names)}
    together = Corpus.from_spans(spans, lengths=[12] * len(texts), duplicates="error")
    found = gamma(together, samples=2)["gamma"].observed
    assert found == pytest.approx(np.average(alone, weights=weights), abs=1e-9)


@given(teams())
@examples(50)
def test_texts_that_tell_nothing_change_nothing(sides):
    names = ["anna", "ben", "cleo", "dora"][: len(sides)]
    less = {name: [side, None] for name, side in zip(names, sides, strict=True)}
    less |= {"zoe": [None, [(0, 3, "A")]]}
    more = {"aaron": [None, None, [(0, 3, "A")]]}
    more |= {name: [[], side, None] for name, side in zip(names, sides, strict=True)}
    found = gamma(Corpus.from_spans(more, lengths=[30, 12, 8]), samples=5)
    assert repr(found) == repr(gamma(Corpus.from_spans(less, lengths=[12, 8]), samples=5))


def test_who_did_not_annotate_a_text_is_not_missed_there():
    spans = {
        "anna": [[(0, 3, "A")], [(2, 4, "B")]],
        "ben": [[(0, 3, "A")], [(2, 4, "B")]],
        "cleo": [None, []],
    }
    found = gamma(Corpus.from_spans(spans, lengths=[9, 9]))["gamma"]
    # The second text costs (0 + 1 + 1)/3; units per annotator: 1 and 2/3.
    assert found.observed == pytest.approx((2 / 3) / (5 / 3), abs=1e-15)


# --- Random corpora -----------------------------------------------------------


@pytest.mark.parametrize(
    ("n", "length", "apart"),
    [(2, 6, 1), (2, 5, 2), (2, 3, 9), pytest.param(3, 6, 2, marks=pytest.mark.slow)],
)
def test_pivots_are_uniform_where_there_is_room(n, length, apart):
    # Sixty equally spaced numbers stand for uniform ones: 1 to 6 divide 60.
    steps = (np.arange(60) + 0.5) / 60
    draws = np.stack(np.meshgrid(*[steps] * n, indexing="ij"), axis=-1).reshape(-1, 1, n)
    found = continua._pivots(draws, np.array([length]), np.array([apart]))
    counts = Counter(map(tuple, found[:, 0].tolist()))
    expected = pivots(n, length, apart)
    assert {key: Fraction(count, 60**n) for key, count in counts.items()} == expected


def test_random_annotators_are_shifted_real_ones():
    spans = {
        "anna": [[(0, 2, "A"), (3, 7, "B")], [(1, 2, "A")], None],
        "ben": [[(5, 8, "A")], [(0, 1, "B"), (0, 4, "A")], [(2, 3, "B")]],
        "cleo": [None, [], [(0, 3, "A")]],
    }
    lengths = [8, 5, 3]
    texts = continua.compared_texts(Corpus.from_spans(spans, lengths=lengths))
    ((drawn, n_corpora),) = continua.random_corpora(*texts, 40, np.random.default_rng(2))
    found = {(continuum, who): [] for continuum in range(40 * 3) for who in range(3)}
    rows = (drawn.continuum, drawn.annotator, drawn.start, drawn.end, drawn.label)
    for continuum, who, start, end, label in zip(*(r.tolist() for r in rows), strict=True):
        found[continuum, who].append((start, end, "AB"[label]))
    for (continuum, who), units in found.items():
        length = lengths[continuum % 3]
        real = [texts[continuum % 3] for texts in spans.values()]
        real = [side for side in real if side is not None]
        shifted = [
            sorted(((s - p) % length, (s - p) % length + e - s, x) for s, e, x in side)
            for side in real
            for p in range(length)
        ]
        assert units in shifted if who < len(real) else units == []
    assert n_corpora == 40


@pytest.mark.slow
@pytest.mark.parametrize(
    ("length", "apart", "sides"),
    [
        (9, 2, [[(0, 3, "A"), (5, 7, "B")], [(1, 3, "A"), (4, 8, "B")]]),
        (7, 2, [[(0, 5, "A"), (4, 6, "B")], [(3, 4, "A")]]),
        (3, 1, [[(0, 1, "A"), (2, 3, "A")], [(1, 2, "B")], [(1, 2, "A")]]),
    ],
)
def test_expected_disorder_is_the_mean_over_all_shifts_and_sources(length, apart, sides):
    exact = float(expected_disorder(length, sides, apart))
    found = gamma(corpus_of(length, *sides), samples=20_000, seed=3, confidence=0.9999)["gamma"]
    assert found.interval[0] <= 1 - found.observed / exact <= found.interval[1]
    assert found.expected == pytest.approx(exact, rel=0.01)


@pytest.mark.long
def test_the_interval_covers_the_value_as_often_as_it_says():
    sides = [[(0, 3, "A"), (5, 7, "B")], [(1, 3, "A"), (4, 8, "B")]]
    corpus = corpus_of(9, *sides)
    exact = float(expected_disorder(9, sides, 2))
    drawn = [gamma(corpus, samples=60, confidence=0.8, seed=seed)["gamma"] for seed in range(300)]
    covered = sum(
        found.interval[0] <= 1 - found.observed / exact <= found.interval[1] for found in drawn
    )
    # 240 expected; four standard deviations of a binomial are 28.
    assert 212 <= covered <= 268


def test_samples_follow_from_the_precision():
    corpus = corpus_of(20, plain(THREE_A), plain(THREE_B))
    rough, fine = (gamma(corpus, precision=p)["gamma"] for p in (0.1, 0.01))
    for found, precision in ((rough, 0.1), (fine, 0.01)):
        n = int(found.settings["samples"])
        low, high = (found.observed / (1 - edge) for edge in found.interval)
        assert (high - low) / 2 <= precision * found.expected * (1 + 1e-9)
        # Not many more than needed: the width goes with the root of their number.
        assert n == 30 or (high - low) / 2 >= precision * found.expected * 0.9
    # Random texts without units tell nothing: more are drawn instead.
    found = gamma(corpus_of(20, plain([(0, 5), (10, 18)]), []), precision=0.01)["gamma"]
    low, high = (found.observed / (1 - edge) for edge in found.interval)
    assert (high - low) / 2 <= 0.01 * found.expected * (1 + 1e-9)
    assert int(fine.settings["samples"]) > 50 * int(rough.settings["samples"])
    assert int(gamma(corpus, samples=7)["gamma"].settings["samples"]) == 7


def test_seeds_make_it_repeatable():
    corpus = corpus_of(20, plain(THREE_A), plain(THREE_B))
    assert gamma(corpus, samples=40) == gamma(corpus, samples=40, seed=0)
    assert gamma(corpus, samples=40, seed=1) != gamma(corpus, samples=40, seed=2)
    seeded = gamma(corpus, samples=40, seed=np.random.default_rng(1))["gamma"]
    assert seeded.value == gamma(corpus, samples=40, seed=1)["gamma"].value
    assert seeded.settings["seed"] == "of the generator"
    assert gamma(corpus, samples=40, seed=1)["gamma"].settings == {
        "alpha": "3",
        "beta": "1",
        "delta": "1",
        "sampler": "shuffle",
        "samples": "40",
        "confidence": "0.95",
        "seed": "1",
    }


@pytest.mark.parametrize("n", [2, 3])
def test_memory_does_not_change_the_result(monkeypatch, n):
    texts = [[[(0, 3, "A"), (5, 7, "B")], [(1, 3, "A")], [(4, 8, "B")]][:n], [plain([(0, 2)])] * n]
    spans = {name: [text[i] for text in texts] for i, name in enumerate(["a", "b", "c"][:n])}
    corpus = Corpus.from_spans(spans, lengths=[9, 5])
    at_once = gamma(corpus, samples=20)
    for module in (alignment, continua):
        monkeypatch.setattr(module, "units_at_once", lambda _: 1)
    one_by_one = gamma(corpus, samples=20)
    for name in ("gamma", "gamma-cat"):
        assert one_by_one[name].observed == pytest.approx(at_once[name].observed, abs=1e-12)
        assert one_by_one[name].expected == pytest.approx(at_once[name].expected, abs=1e-12)


def test_progress_is_calls():
    corpus = corpus_of(20, plain(THREE_A), plain(THREE_B))
    calls = []
    found = gamma(corpus, progress=lambda done, total: calls.append((done, total)))["gamma"]
    assert calls[0] == (30, 30)
    assert calls[-1] == (int(found.settings["samples"]),) * 2
    assert [done for done, _ in calls] == sorted({done for done, _ in calls})
    assert all(done <= total for done, total in calls)


# --- Undefined ----------------------------------------------------------------


def undefined(corpus, name="gamma", **options):
    value = gamma(corpus, samples=20, **options)[name]
    assert isnan(value.value)
    assert value.interval is None
    return value.reason


def test_undefined_values_have_reasons():
    nothing = corpus_of(5, [], [])
    assert undefined(nothing) == undefined(nothing, "gamma-cat")
    assert_tells(undefined(nothing), "marked anything")
    alone = Corpus.from_spans({"anna": [[(0, 1, "A")]], "ben": [None]}, lengths=[3])
    assert_tells(undefined(alone), "no text … two annotators")
    assert undefined(Corpus.from_spans({"anna": [[(0, 1, "A")]]}, lengths=[3])) == undefined(alone)
    certain = corpus_of(1, [(0, 1, "A")], [(0, 1, "A")])
    assert_tells(undefined(certain), "random annotations")
    one_label = corpus_of(20, plain(THREE_A), plain(THREE_B))
    assert_tells(undefined(one_label, "gamma-cat"), "never differ")
    apart = corpus_of(9, [(0, 2, "A")], [(7, 9, "B")])
    assert_tells(undefined(apart, "gamma-cat"), "no two units")


def test_random_texts_without_units_are_left_out():
    # A random text is empty where both annotators get what ben marked. In all others
    # one unit is alone, 1 over half a unit, or there are two, 2 or less.
    corpus = corpus_of(50, [(0, 1, "A")], [])
    found = gamma(corpus, samples=200)["gamma"]
    assert found.observed == 2
    assert 1.8 < found.expected <= 2
    seeds = range(100)
    empty = next(s for s in seeds if isnan(gamma(corpus, samples=2, seed=s)["gamma"].expected))
    assert_tells(gamma(corpus, samples=2, seed=empty)["gamma"].reason, "more samples")


# --- Options ------------------------------------------------------------------


def test_options_out_of_range():
    corpus = corpus_of(9, [(0, 3, "A")], [(1, 3, "B")])
    cases = [
        ({"alpha": -1}, "alpha … -1 … 0"),
        ({"beta": float("nan")}, "beta … nan … 0"),
        ({"alpha": "3"}, "alpha … '3' … 0"),
        ({"alpha": 0, "beta": 0}, "alpha … beta … both"),
        ({"delta": 0}, "delta … 0"),
        ({"precision": 1}, "precision … 1 … 0"),
        ({"confidence": 0}, "confidence … 0 … 1"),
        ({"samples": 1}, "samples … 1 … 2"),
        ({"samples": 2.5}, "samples … 2.5 … whole number"),
        ({"seed": "x"}, "seed … 'x' … generator"),
        ({"seed": -1}, "seed … -1 … 0"),
    ]
    for options, told in cases:
        with refused(OptionError, told):
            gamma(corpus, **options)


def test_scipy_is_asked_for_when_missing(monkeypatch):
    def missing(name):
        raise ImportError(f"No module named {name!r}")

    monkeypatch.setattr(installing, "import_module", missing)
    with refused(MissingLibraryError, "pip install … scipy>="):
        gamma(corpus_of(9, [(0, 3, "A")], [(1, 3, "A")]))
