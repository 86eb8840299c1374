"""All coefficients side by side: names, options, what is undefined, the signature."""

import json
import pickle
import re
import sys
from itertools import permutations
from math import isnan
from pathlib import Path

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
import coefficient_oracle as oracle
from annotated_texts import (
    FAMILY,
    NAMES,
    SIMULATIONS,
    TOKENS,
    alpha,
    corpus_of,
    corpus_of_two,
    family,
    texts,
    token_coefficients,
)
from beyondchance import (
    Corpus,
    NothingSharedError,
    OptionError,
    Settings,
    agreement,
    coefficients,
)
from beyondchance.other_coefficients.coefficient import Task, UndefinedError
from beyondchance.other_coefficients.coefficients import (
    CATALOGUE,
    near_misses,
    share_marked_by_both,
    unmarked_share,
    value_of,
)
from beyondchance.other_coefficients.gamma import gamma
from beyondchance.other_coefficients.sections import cut
from examples import examples
from refusals import assert_tells, refused

PAGE = Path(__file__).parents[2] / "docs" / "background" / "coefficients.md"
GAMMAS = ("gamma", "gamma-cat", "gamma-k")
FEW = {"samples": 30}
PAIR = corpus_of_two(*SIMULATIONS["1A"])
OVERLAPPING = Corpus.from_spans(
    {"a": [[(0, 4, "P"), (2, 6, "P")]], "b": [[(0, 4, "P")]]}, lengths=[12]
)


def _same(one, other):
    """Equal, nan included."""
    return repr(one) == repr(other)


# --- What is computed ---------------------------------------------------------


def test_all_is_everything_in_the_catalogue():
    found = coefficients(PAIR, gamma=FEW)
    assert list(found.values) == list(CATALOGUE)
    assert set(CATALOGUE) == {"corrected-f1", "alpha", *FAMILY, *TOKENS, *GAMMAS}
    for name, one in found.values.items():
        assert {one.name, *(part.name for part in one.by_label.values())} == {name}
        assert isnan(one.value) == (one.reason is not None)


@examples(30)
@given(texts())
def test_each_is_what_its_function_says(found):
    corpus = corpus_of(found)
    values = coefficients(corpus, which=[*FAMILY, *TOKENS, "alpha", "corrected-f1"]).values
    expected = {"alpha": alpha(corpus), **family(corpus), **token_coefficients(corpus)}
    for name, one in expected.items():
        assert _same(values[name], one)
    score = agreement(corpus).score
    assert _same(values["corrected-f1"].value, score.corrected)
    assert _same(values["corrected-f1"].observed, score.observed)
    assert _same(values["corrected-f1"].expected, score.chance)
    for label, part in agreement(corpus).by_label.items():
        assert _same(values["corrected-f1"].by_label[label].value, part.corrected)


def test_gamma_gets_its_options_and_its_randomness():
    options = {"alpha": 1.0, "samples": 40}
    found = coefficients(PAIR, which=["gamma"], gamma=options, seed=7)
    assert found.values["gamma"] == value_of("gamma", Task(corpus=PAIR, gamma=options, seed=7))
    assert found.values["gamma"].value == gamma(PAIR, **options, seed=7)["gamma"].value
    other = coefficients(PAIR, which=["gamma"], gamma=options, seed=np.random.default_rng(8))
    assert other.values["gamma"].value != found.values["gamma"].value


def test_progress_is_passed_on():
    seen = []
    coefficients(
        PAIR, which=["gamma"], gamma=FEW, progress=lambda done, total: seen.append((done, total))
    )
    assert seen[-1] == (30, 30)


def test_nothing_is_sampled_unless_asked_for():
    seen = []
    coefficients(PAIR, which=["kappa"], progress=lambda *done: seen.append(done))
    assert not seen


def test_which():
    cases = [("kappa", ["kappa"]), (("s", "alpha", "s"), ["s", "alpha"]), ([], [])]
    for names, expected in cases:
        assert list(coefficients(PAIR, which=names).values) == expected


def test_gold_standard_is_left_out():
    spans = {name: [[(0, end, "P")]] for name, end in (("anna", 3), ("ben", 4), ("gold", 9))}
    corpus = Corpus.from_spans(spans, lengths=[20])
    with_gold = corpus.with_gold("gold")
    found = coefficients(with_gold, which=["kappa", "alpha", "corrected-f1"])
    without = coefficients(corpus.select(annotators=["anna", "ben"]), which=list(found.values))
    assert _same(found.values, without.values)
    assert found.settings == agreement(with_gold).settings
    assert found.settings.gold == "gold"


# --- Refused, undefined -------------------------------------------------------


def test_not_a_corpus():
    with refused(NothingSharedError, "one annotator"):
        coefficients([["B-X"]])


def test_what_coefficients_share_is_computed_once():
    calls = []

    def shared(task):
        calls.append(task)
        raise UndefinedError("no value")

    task = Task(corpus=PAIR)
    for _ in range(2):
        with refused(UndefinedError, "no value"):
            task.once(shared)
    assert calls == [task]


def test_unknown_names():
    with refused(OptionError, "coefficient 'cohen' … kappa"):
        coefficients(PAIR, which=["alpha", "cohen"])
    with refused(OptionError, "gamma 'sample' … samples"):
        coefficients(PAIR, gamma={"sample": 3})
    with refused(OptionError, "model 'nesting' … nested"):
        coefficients(PAIR, model="nesting")


def test_no_annotators_to_compare():
    corpus = Corpus.from_spans({"a": [[(0, 1, "P")], None], "b": [None, []]}, lengths=[5, 5])
    with pytest.raises(NothingSharedError):
        coefficients(corpus, which=["kappa"])


def test_overlapping_spans_leave_a_table():
    found = coefficients(OVERLAPPING, gamma=FEW, model="disjoint")
    for name, one in found.values.items():
        if name in GAMMAS:
            continue
        assert isnan(one.value)
        assert_tells(one.reason, "annotator 'a' … [0, 4) 'P' … [2, 6) 'P'")
    assert not isnan(found.values["gamma"].value)
    assert str(found)


def test_the_model_of_the_corrected_f1():
    found = coefficients(OVERLAPPING, which=["corrected-f1"], model="overlapping")
    expected = agreement(OVERLAPPING, model="overlapping")
    assert found.values["corrected-f1"].value == expected.corrected
    assert found.settings == expected.settings


def test_without_scipy_gamma_says_what_to_install(monkeypatch):
    for name in [name for name in sys.modules if name.partition(".")[0] == "scipy"]:
        monkeypatch.setitem(sys.modules, name, None)
    monkeypatch.setitem(sys.modules, "scipy", None)
    found = coefficients(PAIR)
    for name in GAMMAS:
        assert isnan(found.values[name].value)
        assert_tells(found.values[name].reason, "pip install … scipy>=")
    assert found.values["alpha"].value == pytest.approx(0.8602, abs=5e-5)
    assert found.settings.gamma is None
    assert str(found).count("pip install") == 1


# --- Results ------------------------------------------------------------------


def test_signature():
    found = coefficients(PAIR, which=["gamma"], gamma={"samples": 30, "beta": 2}, seed=5)
    text = str(found.settings)
    assert "|gamma:alpha=3,beta=2,delta=1," in text
    assert "samples=30" in text
    assert "seed=5" in text
    assert Settings.parse(text) == found.settings
    assert coefficients(PAIR, which=["kappa"]).settings == agreement(PAIR).settings


def test_plain_values():
    two = bc.example().select(documents=["issue-01", "issue-02"])
    found = coefficients(two, gamma=FEW).to_dict()
    again = json.loads(json.dumps(found, allow_nan=False))
    assert again == found
    kappa = found["coefficients"]["kappa"]
    assert kappa["parts"] == "agreement"
    assert set(kappa["by_label"]) == {"EVENT", "PERSON", "PLACE"}
    assert found["coefficients"]["ku-alpha"]["value"] is None
    assert found["coefficients"]["ku-alpha"]["reason"]
    assert found["coefficients"]["gamma"]["interval"]
    assert found["signature"].startswith("beyondchance|")
    assert found["differences"]


def test_table():
    lines = str(coefficients(bc.example(), which=["kappa", "ku-alpha", "cu-alpha"])).splitlines()
    assert lines[1].split() == ["coefficient", "value", "observed", "expected", "of"]
    assert [line.split()[0] for line in lines[3:9]] == [
        "kappa",
        "ku-alpha",
        "EVENT",
        "PERSON",
        "PLACE",
        "cu-alpha",
    ]
    assert lines[3].split()[1:] == ["0.7300", "0.8531", "0.4557", "agreement"]
    assert lines[-1].startswith("beyondchance|")


def test_results_survive_pickling():
    found = coefficients(PAIR, gamma=FEW)
    assert _same(pickle.loads(pickle.dumps(found)), found)  # noqa: S301


# --- The catalogue ------------------------------------------------------------


def test_entries_are_complete():
    for name, entry in CATALOGUE.items():
        assert entry.parts in {"agreement", "disagreement", "disorder"}, name
        assert entry.is_sampled == (entry.name in GAMMAS), name
        for text in (entry.title, entry.definition, entry.reference):
            assert text, name
            assert "\n" not in text, name
        assert entry.definition.isascii(), name  # they go into terminals


def what_the_page_says_about_length():
    """The last column of the table of coefficients, by name."""
    rows = (line.strip("| ").split("|") for line in PAGE.read_text("utf-8").splitlines())
    named = {
        name.strip(" `"): row[-1].strip()
        for row in rows
        for name in row[0].split(",")
        if len(row) == 5
    }
    return {name: named[name] for name in CATALOGUE}


LENGTHS = what_the_page_says_about_length()


@examples(30)
@given(texts(labels="P", most_texts=1, most_annotators=3))
def test_what_the_page_says_about_length(found):
    # With ever more text at the end, in which nothing is marked.
    n, sides = found[-1]
    if len(sides) < 2 or not any(sides.values()):
        return
    names = NAMES[:3]
    far, farther = (
        coefficients(
            corpus_of([(length, sides)], names),
            which=[name for name in CATALOGUE if name not in GAMMAS],
        ).values
        for length in (n + 10**8, n + 10**9)
    )
    f1 = agreement(corpus_of([(n, sides)], names)).observed
    for name, one in far.items():
        length = LENGTHS[name]
        if length.startswith("tends to F1"):
            assert one.value == pytest.approx(f1, abs=1e-6), name
        elif length.startswith("tends to 1"):
            assert one.value == pytest.approx(1, abs=1e-6), name
        else:
            assert length in {"tends to a limit", "stays"}
            assert farther[name].value == pytest.approx(one.value, abs=1e-6, nan_ok=True), name


def test_what_the_page_says_about_length_and_gamma():
    spans = {
        "a": [[(0, 3, "P"), (5, 9, "L"), (12, 14, "M"), (16, 20, "P"), (25, 28, "L")]],
        "b": [[(0, 4, "P"), (5, 9, "M"), (12, 15, "M"), (17, 20, "P"), (24, 28, "L")]],
    }
    short, long, longer = (
        gamma(Corpus.from_spans(spans, lengths=[n]), samples=4000) for n in (30, 1000, 2000)
    )
    assert LENGTHS["gamma"] == LENGTHS["gamma-cat"] == "tends to a limit"
    assert longer["gamma"].value == pytest.approx(long["gamma"].value, abs=0.01)
    assert longer["gamma"].value > short["gamma"].value + 0.05
    (low, high), (lower, higher) = long["gamma-cat"].interval, longer["gamma-cat"].interval
    assert max(low, lower) < min(high, higher) < max(low, lower) + 0.2


@examples(20)
@given(texts(most_texts=2), st.integers(1, 50))
def test_cu_alpha_stays_when_text_is_added(found, more):
    longer = [(n + more, sides) for n, sides in found]
    before, after = (family(corpus_of(each)) for each in (found, longer))
    assert after["cu-alpha"].value == pytest.approx(before["cu-alpha"].value, nan_ok=True)


@given(texts(labels="P", most_annotators=2))
@examples(60)
def test_parts_are_what_the_catalogue_says(found):
    names = [name for name in CATALOGUE if name not in GAMMAS]
    for name, one in coefficients(corpus_of(found), which=names).values.items():
        if isnan(one.value):
            continue
        if CATALOGUE[name].parts == "agreement":
            value = (one.observed - one.expected) / (1 - one.expected)
        else:
            value = 1 - one.observed / one.expected
        assert one.value == pytest.approx(value, rel=1e-9, abs=1e-9), name


def test_what_gamma_refuses_leaves_the_others():
    rng = np.random.default_rng(1)
    spans = {
        f"p{i}": [[(10 * k + s, 10 * k + s + 4, "P") for k, s in enumerate(starts)]]
        for i, starts in enumerate(rng.integers(0, 5, (12, 10)).tolist())
    }
    team = bc.Corpus.from_spans(spans, lengths=[120])
    found = bc.coefficients(team, which=["gamma", "kappa"], seed=1)
    assert_tells(found["gamma"].reason, "120 units … 12 annotators … fewer annotators")
    assert not isnan(found["kappa"].value)


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


def test_labels_only():
    # Both marked 4 of 12 positions that one or the other did, and agree on their labels.
    spans = {
        "a": [[(0, 4, "P"), (10, 14, "L")]],
        "b": [[(2, 6, "P"), (12, 16, "L")]],
    }
    found = sentences(Corpus.from_spans(spans, lengths=[30]), "cu-alpha", "mu-alpha")
    assert_one_tells(found, "cu-alpha (1.00)", "labels only", "33%")


def test_the_example():
    two = bc.example().select(documents=["issue-01", "issue-02"])
    found = coefficients(two, gamma={"samples": 50}).differences
    assert len(found) >= 2
