"""Coefficients of positions: other libraries, the oracle, printed values, laws."""

from collections import Counter
from fractions import Fraction
from itertools import permutations, product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, strategies as st

import coefficient_oracle as oracle
from annotated_texts import (
    NAMES,
    SIMULATIONS,
    TOKENS,
    corpus_of,
    corpus_of_two,
    random_spans,
    texts,
    token_coefficients,
)
from beyondchance import Corpus, OverlapError
from beyondchance.other_coefficients.coefficient import Task
from beyondchance.other_coefficients.tokens import shuffled_tokens
from examples import examples
from refusals import assert_tells, refused

CLOSE = {"rel": 1e-11, "abs": 1e-12}


# --- Other libraries ----------------------------------------------------------


def _random_texts(rng, n_annotators):
    """Texts that all annotators annotated, in which something is marked and something is not."""
    names = NAMES[:n_annotators]
    while True:
        lengths = rng.integers(3, 40, rng.integers(1, 5)).tolist()
        found = [(n, {name: random_spans(rng, n, "PLM") for name in names}) for n in lengths]
        seen = {c for cell in oracle.positions(found) for c in cell}
        if len(seen) == 4:
            return found


@pytest.mark.slow
def test_kappa_and_pi_against_scikit_learn():
    from sklearn.metrics import cohen_kappa_score  # noqa: PLC0415 - slow to load

    rng = np.random.default_rng(2)
    for _ in range(25):
        found = _random_texts(rng, 2)
        values = token_coefficients(corpus_of(found, NAMES[:2]))
        (one, other) = oracle.pair_lists(found)["anna", "ben"]
        assert values["kappa"].value == pytest.approx(cohen_kappa_score(one, other), **CLOSE)
        for label in "PLM":
            binary = [[c == label for c in side] for side in (one, other)]
            expected = cohen_kappa_score(*binary)
            assert values["kappa"].by_label[label].value == pytest.approx(expected, **CLOSE)
        # Scott's pi is Cohen's kappa of both lists put after one another, either way round.
        pooled = cohen_kappa_score(one + other, other + one)
        assert values["pi"].value == pytest.approx(pooled, **CLOSE)


@pytest.mark.slow
def test_fleiss_against_statsmodels():
    from statsmodels.stats.inter_rater import (  # noqa: PLC0415 - slow to load
        aggregate_raters,
        fleiss_kappa,
    )

    rng = np.random.default_rng(3)
    for _, n_annotators in product(range(20), (2, 3, 4)):
        found = _random_texts(rng, n_annotators)
        table, _ = aggregate_raters(np.array(list(oracle.positions(found))))
        values = token_coefficients(corpus_of(found, NAMES[:n_annotators]))
        expected = fleiss_kappa(table, method="fleiss")
        assert values["fleiss"].value == pytest.approx(expected, **CLOSE)
        assert values["pi"].value == pytest.approx(expected, **CLOSE)
        uniform = fleiss_kappa(table, method="uniform")  # Randolph's, which is S for teams
        assert values["s"].value == pytest.approx(uniform, **CLOSE)


# --- Printed ------------------------------------------------------------------

# The simulations of Li, Rosé, Yuan & Zhou (2024): kappa, pi, nominal alpha, S, AC1. Not in the
# paper; each follows from a table of two rows and two columns.
OF_SIMULATIONS = {
    "1A": (0.7059, 0.6992, 0.7068, 0.7, 0.7007),
    "1B": (0.7826, 0.7802, 0.7839, 0.8, 0.8165),
    "2B": (0.7059, 0.6992, 0.7068, 0.7, 0.7007),
    "3A": (0.8276, 0.8268, 0.8312, 0.9, 0.9297),
    "4-1": (0.3138, 0.2077, 0.2174, 0.2195, 0.2309),
    "4-2": (0.3422, 0.2523, 0.2614, 0.2683, 0.2836),
}


def test_simulations():
    for case, expected in OF_SIMULATIONS.items():
        values = token_coefficients(corpus_of_two(*SIMULATIONS[case]))
        found = [values[name].value for name in ("kappa", "pi", "nominal-alpha", "s", "ac1")]
        assert tuple(round(value, 4) for value in found) == expected, case


def test_examples_of_1995():
    # Krippendorff, Sociological Methodology 25, p. 57; (start, length) of 24 positions.
    examples = {
        "A": ([(2, 8), (14, 6)], [(4, 4), (15, 2)], (0.385, 0.314, 0.329)),
        "B": ([(0, 18)], [(0, 2), (2, 1), (3, 1), (4, 1), (5, 1), (6, 3), (9, 1)], (0.385, 0.314)),
        "C": (
            [(2, 6), (10, 2), (14, 4), (20, 2)],
            [(0, 2), (4, 4), (10, 4), (16, 2), (20, 2)],
            (0.314, 0.314),
        ),
    }
    for a, b, printed in examples.values():
        sides = ([(s, s + d) for s, d in side] for side in (a, b))
        values = token_coefficients(corpus_of_two(24, *sides))
        names = ("kappa", "pi", "nominal-alpha")[: len(printed)]
        assert tuple(round(values[name].value, 3) for name in names) == printed


# --- The oracle: teams, also unequal ones -------------------------------------


@examples(150)
@given(texts())
def test_all_meet_the_oracle(found):
    corpus = corpus_of(found)
    values = token_coefficients(corpus)
    assert set(values) == set(TOKENS)
    cells = list(oracle.positions(found))
    if all(c == oracle.GAP for cell in cells for c in cell):
        for one in values.values():
            assert isnan(one.value)
            assert_tells(one.reason, "marked anything")
        return
    expected = {
        "kappa": oracle.kappa(found),
        "pi": oracle.pi(found),
        **oracle.by_position(found, len(corpus.labels) + 1),
    }
    for name, value in expected.items():
        if value is None:
            assert isnan(values[name].value)
            assert_tells(values[name].reason, "same category")
        else:
            assert values[name].value == pytest.approx(float(value), **CLOSE)
            observed, chance = values[name].observed, values[name].expected
            assert (observed - chance) / (1 - chance) == pytest.approx(float(value), abs=1e-9)


# --- Kappa of a label is corrected F1 under shuffling -------------------------


@given(texts())
def test_kappa_of_a_label_is_corrected_f1_of_shuffled_tokens(found):
    corpus = corpus_of(found)
    values = token_coefficients(corpus)
    if not values["kappa"].by_label:
        return
    for label, score in shuffled_tokens(Task(corpus=corpus)).items():
        kappa = values["kappa"].by_label[label]
        assert isnan(kappa.value) == isnan(score.corrected)
        assert kappa.value == pytest.approx(score.corrected, nan_ok=True, **CLOSE)
        shuffled = values["shuffled-f1"].by_label[label]
        assert shuffled.value == pytest.approx(score.corrected, nan_ok=True)
        assert shuffled.observed == pytest.approx(score.observed, nan_ok=True)
        assert shuffled.expected == pytest.approx(score.chance, nan_ok=True)


@examples(40)
@given(texts(labels="PL", most_annotators=2, most_texts=2, most_positions=3))
def test_expected_match_is_the_mean_over_all_shuffles(found):
    # Every order of one annotator's positions, over all texts at once.
    ((one, other),) = oracle.pair_lists(found).values()
    orders = list(permutations(other))
    scores = shuffled_tokens(Task(corpus=corpus_of(found)))
    for label, score in scores.items():
        met = sum(c == k == label for order in orders for c, k in zip(one, order, strict=True))
        assert score.expected == pytest.approx(float(Fraction(met, len(orders))), abs=1e-12)
        assert score.matched == sum(c == k == label for c, k in zip(one, other, strict=True))
        assert score.size_a == Counter(one)[label]


@given(texts(labels="P"))
@examples(60)
def test_with_one_label_kappa_is_corrected_f1_of_shuffled_tokens(found):
    values = token_coefficients(corpus_of(found))
    assert values["shuffled-f1"].value == pytest.approx(values["kappa"].value, nan_ok=True, **CLOSE)


def test_with_several_labels_it_is_not():
    spans = {"a": [[(0, 2, "P"), (2, 4, "L")]], "b": [[(0, 2, "P"), (2, 4, "P")]]}
    values = token_coefficients(Corpus.from_spans(spans, lengths=[8]))
    assert values["shuffled-f1"].value != pytest.approx(values["kappa"].value, abs=0.01)


# --- Laws ---------------------------------------------------------------------


@given(texts())
@examples(60)
def test_identical_annotations_agree_completely_or_are_undefined(found):
    same = [(n, dict.fromkeys(("anna", "ben"), next(iter(sides.values())))) for n, sides in found]
    for one in token_coefficients(corpus_of(same, NAMES[:2])).values():
        assert one.value == pytest.approx(1) or (isnan(one.value) and one.reason)


@given(texts(), st.randoms())
@examples(60)
def test_order_and_names_do_not_matter(found, random):
    names = dict(zip(NAMES, random.sample(NAMES, len(NAMES)), strict=True))
    renamed = [
        (n, {names[name]: spans for name, spans in sides.items()})
        for n, sides in random.sample(found, len(found))
    ]
    before, after = (token_coefficients(corpus_of(each)) for each in (found, renamed))
    for name, one in before.items():
        assert after[name].value == pytest.approx(one.value, nan_ok=True, **CLOSE)


@given(texts(most_texts=2), st.integers(2, 5))
@examples(60)
def test_only_shares_of_positions_matter(found, times):
    # All but nominal alpha, which takes the number of positions into account.
    longer = [
        (
            n * times,
            {
                name: [(s * times, e * times, label) for s, e, label in side]
                for name, side in sides.items()
            },
        )
        for n, sides in found
    ]
    before, after = (token_coefficients(corpus_of(each)) for each in (found, longer))
    for name in set(TOKENS) - {"nominal-alpha"}:
        assert after[name].value == pytest.approx(before[name].value, nan_ok=True, **CLOSE)


def test_in_long_texts_kappa_tends_to_f1_and_s_and_ac1_to_1():
    # 2 of 3 and 4 tokens shared: F1 is 4 / 7.
    corpus = corpus_of_two(2_000_000_000, [(0, 3)], [(1, 5)])
    values = token_coefficients(corpus)
    for name in ("kappa", "shuffled-f1", "pi", "fleiss", "nominal-alpha"):
        assert values[name].value == pytest.approx(4 / 7, abs=1e-7)
    for name in ("s", "ac1"):
        assert values[name].value == pytest.approx(1, abs=1e-7)


# --- By hand, undefined, refused ----------------------------------------------


def test_a_label_that_is_confused():
    # PP.. against LL..: half of the positions agree, by being unmarked.
    corpus = Corpus.from_spans({"a": [[(0, 2, "P")]], "b": [[(0, 2, "L")]]}, lengths=[4])
    values = token_coefficients(corpus)
    assert values["kappa"].observed == 0.5
    assert values["kappa"].expected == 0.25
    assert values["kappa"].value == pytest.approx(1 / 3)
    assert values["kappa"].by_label["P"].value == 0
    assert values["s"].value == pytest.approx((1 / 2 - 1 / 3) / (1 - 1 / 3))


def test_a_pair_counts_only_what_both_saw():
    # Cleo saw one text only; her habits in it are those that count.
    found = [
        (4, {"anna": [(0, 2, "P")], "ben": [(0, 2, "P")], "cleo": [(0, 1, "P")]}),
        (4, {"anna": [(0, 1, "P")], "ben": [(1, 2, "P")]}),
    ]
    value = token_coefficients(corpus_of(found))["kappa"]
    # Anna and Ben: 6 of 8 agree, 3 * 3 / 8 + 5 * 5 / 8 expected. Either and Cleo: 3 of 4 agree,
    # 2 * 1 / 4 + 2 * 3 / 4 expected.
    assert value.observed == pytest.approx((6 + 3 + 3) / 16)
    assert value.expected == pytest.approx((34 / 8 + 2 + 2) / 16)


def test_unequal_teams_in_fleiss():
    # Three annotators, one of whom differs, then two who agree: 1/3 and 1 of the pairs agree.
    found = [
        (1, {"anna": [(0, 1, "P")], "ben": [(0, 1, "P")], "cleo": []}),
        (1, {"anna": [(0, 1, "P")], "ben": [(0, 1, "P")]}),
    ]
    value = token_coefficients(corpus_of(found))["fleiss"]
    assert value.observed == pytest.approx((1 / 3 + 1) / 2)
    share = (2 / 3 + 1) / 2
    assert value.expected == pytest.approx(share**2 + (1 - share) ** 2)


def test_nothing_to_expect():
    values = token_coefficients(corpus_of_two(5, [(0, 5)], [(0, 5)]))
    for name in ("kappa", "pi", "fleiss", "nominal-alpha"):
        assert isnan(values[name].value)
        assert_tells(values[name].reason, "same category")
    assert_tells(values["shuffled-f1"].reason, "chance agreement … 1")
    assert values["s"].value == 1


def test_one_pair_marked_everything_and_the_others_nothing():
    # Each pair saw another text, and in none of them could anything else be expected.
    found = [
        (2, {"anna": [], "ben": []}),
        (2, {"anna": [(0, 2, "P")], "cleo": [(0, 2, "P")]}),
    ]
    values = token_coefficients(corpus_of(found))
    for name in ("kappa", "shuffled-f1"):
        assert isnan(values[name].value)
        assert isnan(values[name].by_label["P"].value)
    assert values["pi"].value == 1


def test_a_label_that_is_not_used_here():
    spans = {"a": [[(0, 1, "P")], [(0, 1, "L")]], "b": [[(1, 2, "P")], None]}
    values = token_coefficients(Corpus.from_spans(spans, lengths=[4, 4]))
    assert isnan(values["kappa"].by_label["L"].value)
    assert_tells(values["kappa"].by_label["L"].reason, "marked anything")


def test_no_annotators_to_compare():
    corpus = Corpus.from_spans({"a": [[(0, 1, "P")], None], "b": [None, []]}, lengths=[5, 5])
    for one in token_coefficients(corpus).values():
        assert_tells(one.reason, "no position … two annotators")


def test_overlap_is_undefined_with_its_place():
    spans = {"a": [[], [(0, 3, "P"), (2, 5, "L")]], "b": [[], [(0, 3, "P")]]}
    corpus = Corpus.from_spans(spans, lengths=[9, 9])
    for one in token_coefficients(corpus).values():
        assert isnan(one.value)
        assert_tells(one.reason, "document '1', annotator 'a' … [0, 3) 'P' … [2, 5)")
    with refused(OverlapError, "[0, 3) 'P' … one label"):
        shuffled_tokens(Task(corpus=corpus))


def test_text_without_positions():
    spans = {"a": [[], [(0, 1, "P")]], "b": [[], [(0, 2, "P")]]}
    with_empty = token_coefficients(Corpus.from_spans(spans, lengths=[0, 4]))
    without = token_coefficients(corpus_of_two(4, [(0, 1)], [(0, 2)], label="P"))
    for name in TOKENS:
        assert with_empty[name].value == without[name].value
