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
from beyondchance.other_coefficients.explanations import (
    MOST,
    marked_shares,
    near_misses,
    share_marked_by_both,
    unmarked_share,
)
from beyondchance.other_coefficients.sections import cut
from examples import examples

FOUR_1, FOUR_2 = (corpus_of_two(*SIMULATIONS[case]) for case in ("4-1", "4-2"))


def sentences(corpus, *names, **options):
    return coefficients(corpus, which=list(names), **options).differences


# --- Facts --------------------------------------------------------------------


@given(texts())
def test_facts_are_those_of_a_slow_count(found):
    parts = cut(corpus_of(found), by_label=False)
    cells = list(oracle.positions(found))
    assert parts.n_positions == len(cells)
    unmarked = sum(all(c == oracle.GAP for c in cell) for cell in cells)
    assert unmarked_share(parts) == pytest.approx(unmarked / len(cells))
    pairs = [(c, k) for cell in cells for c, k in permutations(cell, 2)]
    either = sum({c, k} != {oracle.GAP} for c, k in pairs)
    both = sum(oracle.GAP not in {c, k} for c, k in pairs)
    if either:
        assert share_marked_by_both(parts) == pytest.approx(both / either)
    units = equal = near = 0
    for _, sides in oracle.shared(found):
        for spans, others in permutations(sides.values(), 2):
            for s, e, label in spans:
                units += 1
                if (s, e, label) in others:
                    equal += 1
                elif any(k == label and max(s, t) < min(e, f) for t, f, k in others):
                    near += 1
    assert near_misses(cut(corpus_of(found), by_label=True)) == (units, equal, near)


def test_facts_by_hand():
    parts = cut(FOUR_2, by_label=False)
    assert marked_shares(parts) == {0: pytest.approx(31 / 41), 1: pytest.approx(16 / 41)}
    assert unmarked_share(parts) == pytest.approx(10 / 41)


def test_overlapping_spans_leave_sentences():
    # Gamma has a value, but spans are not held against each other.
    spans = {"a": [[(0, 4, "P"), (2, 6, "P")]], "b": [[(0, 5, "P")]]}
    corpus = Corpus.from_spans(spans, lengths=[30])
    (first,) = sentences(corpus, "gamma", "kappa", gamma={"samples": 30})
    assert "gamma is" in first


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
