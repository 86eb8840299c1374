"""Unitizing alpha and its family: printed values, the oracle, laws, what is undefined."""

from math import isnan

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

import coefficient_oracle as oracle
from annotated_texts import (
    FAMILY,
    NAMES,
    SIMULATIONS,
    alpha,
    corpus_of,
    corpus_of_two,
    family,
    random_spans,
    texts,
)
from beyondchance import Corpus, OverlapError
from beyondchance.other_coefficients import unitizing
from beyondchance.other_coefficients.coefficient import Task
from examples import examples
from refusals import assert_tells, refused

CLOSE = {"rel": 1e-12, "abs": 1e-13}


# --- Printed: Li, Rosé, Yuan & Zhou, ACL 2024, tables 3, 5, 7 and 9 ------------

# ObsD, ExpD, Alpha, ObsμD, ExpμD, μAlpha.
PRINTED = {
    "1A": (0.0075, 0.0537, 0.8602, 0.15, 0.5313, 0.7177),
    # The paper prints .0366 and .9090 for ExpD and Alpha: see the next test.
    "1B": (0.0033, 0.0411, 0.9189, 0.1, 0.4704, 0.7874),
    "2A": (0.0075, 0.0537, 0.8602, 0.15, 0.5313, 0.7177),
    "2B": (0.0125, 0.1047, 0.8806, 0.15, 0.5885, 0.7451),
    "3A": (0.0025, 0.0388, 0.9356, 0.05, 0.2996, 0.8331),
    "3B": (0.0125, 0.1047, 0.8806, 0.15, 0.5885, 0.7451),
    "4-1": (0.1523, 0.2154, 0.2931, 0.3902, 0.5222, 0.2527),
    "4-2": (0.0268, 0.2881, 0.9071, 0.3659, 0.5365, 0.3181),
}


def test_tables_of_the_paper():
    for case, simulated in SIMULATIONS.items():
        corpus = corpus_of_two(*simulated)
        one, mu = alpha(corpus), family(corpus)["mu-alpha"]
        found = (one.observed, one.expected, one.value, mu.observed, mu.expected, mu.value)
        assert tuple(round(value, 4) for value in found) == PRINTED[case], case


def test_where_the_paper_differs():
    # Table 3, case B: its .0366 and .9090 follow if the ten zeros appended to each side are
    # a gap of their own, of ten, instead of prolonging the last gap of two and of one.
    lengths = [2, 3, 4, 3, 4, 5]
    gaps = [3, 3, 3, 2, 10, 2, 3, 2, 1, 10]
    slid = sum(
        5 * (2 * b**3 - 3 * b**2 + b) / 3 + b**2 * sum(g - b + 1 for g in gaps if g >= b)
        for b in lengths
    )
    expected = 2 / 30 * slid / (60 * 59 - sum(b * (b - 1) for b in lengths))
    assert round(expected, 4) == 0.0366
    observed = alpha(corpus_of_two(*SIMULATIONS["1B"])).observed
    assert round(1 - observed / expected, 4) == 0.9090


# --- Printed: Krippendorff ----------------------------------------------------


def test_example_of_2004():
    # Content Analysis, second edition, p. 254: positions 150 to 450, labels c and k.
    spans = {
        "i": [(225, 70, "c"), (370, 30, "c"), (180, 60, "k"), (300, 50, "k")],
        "j": [(220, 80, "c"), (355, 20, "c"), (400, 20, "c"), (180, 60, "k"), (300, 50, "k")],
    }
    moved = {
        name: [[(s - 150, s - 150 + b, c) for s, b, c in side]] for name, side in spans.items()
    }
    found = alpha(Corpus.from_spans(moved, lengths=[300]))
    parts = [
        round(value, 4)
        for one in found.by_label.values()
        for value in (one.observed, one.expected, one.value)
    ]
    assert parts == [0.0144, 0.0532, 0.7286, 0, 0.0490, 1]
    # The book has .8591, from parts already rounded.
    assert round(found.value, 4) == 0.8587


# Sociological Methodology 25, p. 57: (start, length) in a continuum of 24. The observed
# disagreements are exact. The expected ones are limits for ever finer measurement, good
# to .005, and the alphas that follow to .02.
OF_1995 = {
    "A": ([(2, 8), (14, 6)], [(4, 4), (15, 2)], (0.03125, 0.0699, 0.553)),
    "B": (
        [(0, 18)],
        [(0, 2), (2, 1), (3, 1), (4, 1), (5, 1), (6, 3), (9, 1)],
        (2.26736, 1.17731, -0.926),
    ),
    "C": (
        [(2, 6), (10, 2), (14, 4), (20, 2)],
        [(0, 2), (4, 4), (10, 4), (16, 2), (20, 2)],
        (0.02777, 0.08642, 0.679),
    ),
    "D": (
        [(0, 2), (2, 8), (10, 4), (14, 6), (20, 4)],
        [(0, 4), (4, 4), (8, 7), (15, 2), (17, 7)],
        (0.38715, 0.41445, 0.066),
    ),
}


def test_examples_of_1995():
    def measured(a, b, finer):
        sides = ([(s * finer, (s + d) * finer) for s, d in side] for side in (a, b))
        return alpha(corpus_of_two(24 * finer, *sides))

    for name, (a, b, (observed, expected, value)) in OF_1995.items():
        assert measured(a, b, 1).observed == pytest.approx(observed, abs=1e-5), name
        fine = measured(a, b, 10_000)
        assert fine.observed == pytest.approx(observed, abs=1e-5), name
        assert fine.expected == pytest.approx(expected, abs=0.005), name
        assert fine.value == pytest.approx(value, abs=0.02), name


def test_example_of_dkpro_statistics():
    found = alpha(corpus_of_two(10, [(1, 9)], [(2, 3), (4, 5), (6, 7)]))
    assert found.observed == pytest.approx(0.91, abs=1e-12)
    assert found.expected == pytest.approx(0.5351, abs=1e-4)
    assert found.value == pytest.approx(-0.7003, abs=1e-4)


# --- The oracle ---------------------------------------------------------------


def test_expected_disagreement_by_sliding():
    # Every unit slides over every other section, place by place.
    rng = np.random.default_rng(1)
    marked = 0
    for _ in range(60):
        n, m = int(rng.integers(1, 25)), int(rng.integers(2, 5))
        sides = {name: random_spans(rng, n) for name in NAMES[:m]}
        found = alpha(corpus_of([(n, sides)], NAMES[:m]))
        observed, expected = oracle.alpha_of_field(n, sides)
        assert found.observed == pytest.approx(float(observed), **CLOSE)
        assert found.expected == pytest.approx(float(expected), **CLOSE)
        marked += any(sides.values())
    assert marked > 45


@examples(60)
@given(texts(most_positions=9))
def test_alpha_meets_the_oracle(found):
    one = alpha(corpus_of(found))
    observed, expected = oracle.alpha(found, "PLM")
    assert one.observed == pytest.approx(float(observed), **CLOSE)
    assert one.expected == pytest.approx(float(expected), **CLOSE)
    if expected:
        assert one.value == pytest.approx(float(1 - observed / expected), **CLOSE)
    else:
        assert isnan(one.value)
        assert one.reason
    assert one.observed == pytest.approx(sum(part.observed for part in one.by_label.values()))
    assert one.expected == pytest.approx(sum(part.expected for part in one.by_label.values()))


@examples(100)
@given(texts())
def test_the_family_meets_the_oracle(found):
    values = family(corpus_of(found))
    assert tuple(values) == tuple(FAMILY)
    for name, of_oracle in (("mu-alpha", oracle.mu_alpha), ("bar-u-alpha", oracle.bar_u_alpha)):
        _assert_same(values[name], of_oracle(found))
    try:
        expected = oracle.cu_alpha(found)
    except ZeroDivisionError:
        assert isnan(values["cu-alpha"].value)
        assert_tells(values["cu-alpha"].reason, "infinite")
        assert not values["ku-alpha"].by_label
        return
    _assert_same(values["cu-alpha"], expected)
    assert isnan(values["ku-alpha"].value)
    for label, part in values["ku-alpha"].by_label.items():
        _assert_same(part, oracle.ku_alpha(found, label))


def _assert_same(found, expected):
    if expected is None:
        assert isnan(found.value)
        assert found.reason
    else:
        assert found.reason is None
        assert found.value == pytest.approx(float(expected), rel=1e-11, abs=1e-12)
        assert found.value == pytest.approx(1 - found.observed / found.expected, abs=1e-12)


@pytest.mark.parametrize("m", [2, 3])
def test_large_numbers_lose_nothing(m):
    # Cubes of these lengths need 93 bits, squares of the length of the pooled text 66.
    n = 2**31 - 1
    sides = {
        "anna": [(0, 5, "P"), (7, 2**30, "P"), (2**30, 2**30 + 3, "P"), (n - 10, n, "P")],
        "ben": [(1, 6, "P"), (100, 2**30 - 1, "P"), (2**30 + 2, n - 1, "P")],
        "cleo": [(2**29, 2**31 - 5, "P")],
    }
    sides = dict(list(sides.items())[:m])
    found = alpha(corpus_of([(n, sides)], NAMES[:m]))
    observed, expected = oracle.alpha_by_formula(n, sides)
    assert found.observed == pytest.approx(float(observed), rel=1e-14)
    assert found.expected == pytest.approx(float(expected), rel=1e-14)
    # Exact products of totals: 2 l (mL - l) / ((mL)^2 - sum of squares).
    mu = family(corpus_of([(n, sides)], NAMES[:m]))["mu-alpha"]
    held = sum(e - s for side in sides.values() for s, e, _ in side)
    squares = sum((e - s) ** 2 for side in sides.values() for s, e, _ in side)
    room = (m * n) ** 2 - squares - (m * n - held)
    assert mu.expected == pytest.approx(2 * held * (m * n - held) / room, rel=1e-14)


# --- Laws ---------------------------------------------------------------------


def _values(corpus):
    return {"alpha": alpha(corpus), **family(corpus)}


@given(texts())
@examples(60)
def test_identical_annotations_agree_completely_or_are_undefined(found):
    same = [(n, dict.fromkeys(("anna", "ben"), next(iter(sides.values())))) for n, sides in found]
    for name, one in _values(corpus_of(same, NAMES[:2])).items():
        assert one.value == 1 or (isnan(one.value) and one.reason), name


@given(texts(), st.randoms())
@examples(60)
def test_order_and_names_do_not_matter(found, random):
    shuffled = random.sample(found, len(found))
    names = dict(zip(NAMES, random.sample(NAMES, len(NAMES)), strict=True))
    new = dict(zip("PLM", random.sample(["x", "y", "z"], 3), strict=True))
    renamed = [
        (
            n,
            {
                names[name]: [
                    (s, e, new[label]) for s, e, label in random.sample(spans, len(spans))
                ]
                for name, spans in sides.items()
            },
        )
        for n, sides in shuffled
    ]
    before, after = _values(corpus_of(found)), _values(corpus_of(renamed))
    for name, one in before.items():
        assert after[name].value == pytest.approx(one.value, nan_ok=True, **CLOSE)
        for label, part in one.by_label.items():
            value = after[name].by_label[new[label]].value
            assert value == pytest.approx(part.value, nan_ok=True, **CLOSE)


@given(texts())
@examples(60)
def test_the_mirror_image_is_the_same(found):
    mirrored = [
        (n, {name: [(n - e, n - s, label) for s, e, label in side] for name, side in sides.items()})
        for n, sides in found
    ]
    others = _values(corpus_of(mirrored))
    for name, one in _values(corpus_of(found)).items():
        assert others[name].value == pytest.approx(one.value, nan_ok=True, **CLOSE)


@given(texts(), st.integers(2, 4))
@examples(60)
def test_a_text_counts_by_its_length_however_often_it_comes(found, times):
    again = _values(corpus_of(found * times))
    for name, one in _values(corpus_of(found)).items():
        assert again[name].value == pytest.approx(one.value, nan_ok=True, **CLOSE)
        assert again[name].observed == pytest.approx(one.observed, nan_ok=True, **CLOSE)


@given(texts(labels="P"))
@examples(60)
def test_with_one_label_marking_is_all_there_is(found):
    values = family(corpus_of(found))
    mu, bar = values["mu-alpha"], values["bar-u-alpha"]
    assert mu.value == pytest.approx(bar.value, nan_ok=True, **CLOSE)
    assert mu.observed == pytest.approx(bar.observed, **CLOSE)
    assert mu.expected == pytest.approx(bar.expected, **CLOSE)
    assert isnan(values["cu-alpha"].value)


@given(texts())
@examples(60)
def test_texts_with_one_annotator_do_not_count(found):
    more = [*found, (7, {"anna": [(0, 5, "P")]})]
    others = _values(corpus_of(more))
    for name, one in _values(corpus_of(found)).items():
        assert others[name].value == pytest.approx(one.value, nan_ok=True, **CLOSE)


@given(st.integers(2, 1000), st.data())
def test_one_empty_side(n, data):
    # One unit of one position against nothing is what chance gives; more is worse, though
    # not always for alpha, whose long units may slide over short ones of the same side.
    place = data.draw(st.integers(0, n - 1))
    one = corpus_of_two(n, [(place, place + 1)], [])
    assert alpha(one).value == pytest.approx(0, abs=1e-12)
    assert family(one)["mu-alpha"].value == pytest.approx(0, abs=1e-12)
    cuts = sorted(data.draw(st.sets(st.integers(0, n), min_size=2, max_size=9)))
    spans = list(zip(cuts[:-1:2], cuts[1::2], strict=False))
    assume(sum(end - start for start, end in spans) > 1)
    more = corpus_of_two(n, spans, [])
    assert family(more)["mu-alpha"].value < 0


# --- Examples by hand ---------------------------------------------------------


def test_touching_units_stay_two():
    # aabb against one unit of four: the boundaries in the middle count.
    together = alpha(corpus_of_two(10, [(2, 6)], [(2, 6)]))
    apart = alpha(corpus_of_two(10, [(2, 4), (4, 6)], [(2, 6)]))
    assert together.observed == 0
    assert apart.observed == pytest.approx(2 * (2**2 + 2**2) / (2 * 100))


def test_a_unit_across_the_edge_of_a_gap_costs_nothing():
    # [3, 6) meets the gap [0, 4) and the unit [4, 6): only the units differ.
    found = alpha(corpus_of_two(10, [(3, 6)], [(4, 6)]))
    assert found.observed == pytest.approx(2 * 1 / (2 * 100))


def test_labels_are_compared_one_by_one():
    # The same span with two labels: for each label a unit in the other's gap.
    corpus = Corpus.from_spans({"a": [[(0, 2, "P")]], "b": [[(0, 2, "L")]]}, lengths=[4])
    found = alpha(corpus)
    assert [part.observed for part in found.by_label.values()] == [4 / 16, 4 / 16]
    assert found.observed == 8 / 16
    values = family(corpus)
    # Marked alike, labelled differently.
    assert values["bar-u-alpha"].value == 1
    assert values["mu-alpha"].observed == 0.5
    # cu-alpha: two units of two positions, which would differ in every case.
    assert values["cu-alpha"].observed == 1
    assert values["cu-alpha"].expected == 1
    assert values["cu-alpha"].value == 0


def test_texts_are_not_put_end_to_end():
    parts = [(6, {"anna": [(4, 6, "P")], "ben": [(4, 6, "P")]}), (6, {"anna": [], "ben": []})]
    joined = [(12, parts[0][1])]
    assert alpha(corpus_of(parts)).expected != alpha(corpus_of(joined)).expected
    only = alpha(corpus_of(parts[:1]))
    assert alpha(corpus_of(parts)).expected == pytest.approx(only.expected / 2)


# --- Undefined, refused -------------------------------------------------------


def test_nothing_marked():
    corpus = Corpus.from_spans({"a": [[]], "b": [[]]}, lengths=[5])
    for one in _values(corpus).values():
        assert isnan(one.value)
    assert_tells(alpha(corpus).reason, "marked anything")
    assert_tells(family(corpus)["mu-alpha"].reason, "marked anything")
    assert_tells(family(corpus)["cu-alpha"].reason, "no position … two annotators")


def test_everything_marked():
    corpus = corpus_of_two(5, [(0, 5)], [(0, 5)])
    assert alpha(corpus).value == 1
    values = family(corpus)
    assert_tells(values["mu-alpha"].reason, "one label")
    assert_tells(values["bar-u-alpha"].reason, "throughout")
    ones = [(t, t + 1) for t in range(5)]
    assert_tells(alpha(corpus_of_two(5, ones, ones)).reason, "every position")


def test_no_annotators_to_compare():
    corpus = Corpus.from_spans({"a": [[(0, 1, "P")], None], "b": [None, []]}, lengths=[5, 5])
    for one in _values(corpus).values():
        assert isnan(one.value)
        assert_tells(one.reason, "no position … two annotators")


def test_too_few_meetings_for_the_labels():
    # Of three annotators two marked the same positions, with different labels.
    spans = {"a": [[], [(0, 2, "P")]], "b": [[], [(0, 2, "L")]], "c": [[], []]}
    found = family(Corpus.from_spans(spans, lengths=[4, 4], documents=["one", "one"]))
    assert_tells(found["cu-alpha"].reason, "document 'one', text 1 … too few")
    assert isnan(found["cu-alpha"].value)
    assert isnan(found["ku-alpha"].value)


def test_overlap_within_a_label_is_refused():
    corpus = corpus_of_two(9, [(0, 3), (2, 5)], [(0, 3)])
    with refused(OverlapError, "annotator 'a' … [0, 3) 'X' … [2, 5)"):
        unitizing.alpha(Task(corpus=corpus))


def test_overlap_between_labels_is_undefined_for_the_family_only():
    spans = {"a": [[(0, 3, "P"), (2, 5, "L")]], "b": [[(0, 3, "P")]]}
    corpus = Corpus.from_spans(spans, lengths=[9])
    assert not isnan(alpha(corpus).value)
    for one in family(corpus).values():
        assert isnan(one.value)
        assert_tells(one.reason, "document '0', annotator 'a' … [0, 3) 'P' … [2, 5) 'L'")


def test_overlap_in_a_text_that_is_not_compared_does_not_matter():
    spans = {"a": [[(0, 3, "P"), (2, 5, "P")], [(0, 3, "P")]], "b": [None, [(0, 2, "P")]]}
    assert not isnan(alpha(Corpus.from_spans(spans, lengths=[9, 9])).value)
