"""Why coefficients differ: facts counted by hand and by the oracle, sentences with numbers."""

import re
from itertools import permutations
from math import isnan

import pytest
from hypothesis import given

import beyondchance as bc
import coefficient_oracle as oracle
from annotated_texts import SIMULATIONS, corpus_of, corpus_of_two, texts
from beyondchance import Corpus, agreement, coefficients
from beyondchance.other_coefficients.coefficient import Task
from beyondchance.other_coefficients.explanations import MOST, facts
from examples import examples

FOUR_1, FOUR_2 = (corpus_of_two(*SIMULATIONS[case]) for case in ("4-1", "4-2"))


def sentences(corpus, *names, **options):
    return coefficients(corpus, which=list(names), **options).differences


# --- Facts --------------------------------------------------------------------


@given(texts())
def test_facts_are_those_of_a_slow_count(found):
    facts_found = facts(Task(corpus=corpus_of(found)))
    cells = list(oracle.positions(found))
    assert facts_found.n_positions == len(cells)
    unmarked = sum(all(c == oracle.GAP for c in cell) for cell in cells)
    assert facts_found.unmarked == pytest.approx(unmarked / len(cells))
    pairs = [(c, k) for cell in cells for c, k in permutations(cell, 2)]
    either = sum({c, k} != {oracle.GAP} for c, k in pairs)
    both = sum(oracle.GAP not in {c, k} for c, k in pairs)
    assert facts_found.marked_by_both == pytest.approx(
        both / either if either else float("nan"), nan_ok=True
    )
    units = equal = near = 0
    for _, sides in oracle.shared(found):
        for spans, others in permutations(sides.values(), 2):
            for s, e, label in spans:
                units += 1
                if (s, e, label) in others:
                    equal += 1
                elif any(k == label and max(s, t) < min(e, f) for t, f, k in others):
                    near += 1
    assert (facts_found.n_units, facts_found.n_equal, facts_found.n_near) == (units, equal, near)


def test_facts_by_hand():
    found = facts(Task(corpus=FOUR_2))
    assert found.least == ("b", pytest.approx(16 / 41))
    assert found.most == ("a", pytest.approx(31 / 41))
    assert found.unmarked == pytest.approx(10 / 41)


def test_facts_of_overlapping_spans():
    spans = {"a": [[(0, 4, "P"), (2, 6, "P")]], "b": [[(0, 4, "P")]]}
    found = facts(Task(corpus=Corpus.from_spans(spans, lengths=[12])))
    assert found.unmarked == 0.5
    assert found.n_units == 0
    assert isnan(found.marked_by_both)
    assert found.most == ("a", 0.5)


# --- Sentences ----------------------------------------------------------------


def test_nothing_to_say():
    assert sentences(corpus_of_two(*SIMULATIONS["3A"]), "kappa", "corrected-f1") == ()
    assert sentences(FOUR_1, "kappa") == ()


@given(texts())
@examples(60)
def test_sentences_come_with_differences_only(found):
    names = ("kappa", "s", "alpha", "mu-alpha", "ac1", "cu-alpha", "pi", "shuffled-f1")
    result = coefficients(corpus_of(found), which=names)
    values = [one.value for one in result.values.values() if not isnan(one.value)]
    ours = agreement(corpus_of(found)).corrected
    values += [] if isnan(ours) else [ours]
    needed = len(values) > 1 and max(values) - min(values) > 0.1
    assert bool(result.differences) == needed
    assert len(result.differences) <= MOST
    for sentence in result.differences:
        assert sentence.endswith(".")
        assert not re.search(r"\bnan\b", sentence)
        assert any(character.isdigit() for character in sentence)


def assert_one_tells(found, *values):
    """Check that one of the sentences holds all of these words and numbers."""
    assert any(all(value in sentence for value in values) for sentence in found), found


def test_the_widest_difference_comes_first():
    first, *_ = sentences(FOUR_2, "alpha", "kappa", "pi")
    assert_one_tells([first], "0.65", "pi is 0.25", "alpha is 0.91")


def test_unannotated_text():
    # 3 of 1,000 tokens differ; 5 were marked by an annotator.
    found = sentences(corpus_of_two(1000, [(0, 3)], [(1, 5)]), "s", "ac1")
    assert_one_tells(found, "Unannotated", "s (0.99)", "ac1 (0.9970)", "1,000", "99%", "40%")


def test_near_misses():
    corpus = corpus_of_two(*SIMULATIONS["1A"])
    exact = agreement(corpus, measure="exact").corrected
    found = sentences(corpus, "alpha")
    assert_one_tells(found, "of 6 spans", "0 have", "6 overlap", "alpha (0.86)", f"{exact:.2f}")


def test_unequal_habits():
    found = sentences(FOUR_1, "kappa", "pi")
    assert_one_tells(found, "kappa (0.31)", "pi (0.21)", "'b' marked 37%", "'a' 76%")


def test_labels_only():
    # Both marked 4 of 12 positions that one or the other did, and agree on their labels.
    spans = {
        "a": [[(0, 4, "P"), (10, 14, "L")]],
        "b": [[(2, 6, "P"), (12, 16, "L")]],
    }
    found = sentences(Corpus.from_spans(spans, lengths=[30]), "cu-alpha", "mu-alpha")
    assert_one_tells(found, "cu-alpha (1.00)", "labels only", "33%")


def test_shuffled_tokens_and_spans():
    # In short texts spans have little room, while tokens are shuffled over all texts.
    tags = [["B-P", "I-P", "O"], ["O", "O", "O"], ["O", "O", "O"], ["O", "O", "O"]] * 3
    other = [["B-P", "O", "O"], ["O", "O", "O"], ["O", "O", "O"], ["O", "O", "O"]] * 3
    corpus = Corpus.from_tags({"a": tags, "b": other})
    result = coefficients(corpus, which=["shuffled-f1", "corrected-f1"])
    one, two = (result.values[name] for name in ("shuffled-f1", "corrected-f1"))
    assert one.value - two.value > 0.1
    assert_one_tells(
        result.differences,
        "all 36",
        f"F1 of {one.expected:.2f} by chance",
        f"texts of 3 on average {two.expected:.2f}",
        f"shuffled-f1 ({one.value:.2f})",
        f"corrected-f1 ({two.value:.2f})",
    )


def test_the_example():
    two = bc.example().select(documents=["issue-01", "issue-02"])
    found = coefficients(two, gamma={"samples": 50}).differences
    assert 2 <= len(found) <= MOST
