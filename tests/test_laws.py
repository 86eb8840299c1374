"""Laws: what holds for every text, every corpus, every measure and model.

A measure or model that is added appears here by itself; one that breaks a law
must say so.
"""

from collections import Counter
from fractions import Fraction
from itertools import product
from math import comb, isnan, prod

import numpy as np
import pytest
from hypothesis import given, settings
from hypothesis import strategies as st

import oracle
from beyondchance import (
    Corpus,
    agreement,
    coverage,
    difficulty,
    expected_match,
    start_probabilities,
)
from beyondchance.core.matching import SpanGroups
from beyondchance.core.measures import MEASURES

RULES = [(measure, model) for measure in MEASURES for model in MEASURES[measure].rules]
every_rule = pytest.mark.parametrize(("measure", "model"), RULES)


@st.composite
def texts(draw, most=400):
    """A text size, and lengths of spans that fit without overlap."""
    lengths = draw(st.lists(st.integers(1, 12), min_size=1, max_size=25))
    free = draw(st.integers(0, most))
    return sum(lengths) + free, lengths


@st.composite
def span_lists(draw, n, labels="PL"):
    """Spans that do not overlap, in any order."""
    cuts = sorted(draw(st.sets(st.integers(0, n), max_size=8)))
    found = []
    for start, end in zip(cuts[::2], cuts[1::2], strict=False):
        found.append((start, end, draw(st.sampled_from(labels))))
    return draw(st.permutations(found))


@st.composite
def corpora(draw):
    """A few texts and annotators, not all of whom annotated everything."""
    lengths = draw(st.lists(st.integers(1, 14), min_size=1, max_size=4))
    names = ["anna", "ben", "cleo"][: draw(st.integers(2, 3))]
    spans = {
        name: [draw(span_lists(n)) for n in lengths]
        if name != "cleo"
        else [draw(st.none() | span_lists(n)) for n in lengths]
        for name in names
    }
    return spans, lengths


def build(spans, lengths, **options):
    return Corpus.from_spans(spans, lengths=lengths, **options)


def numbers(result):
    score = result.score
    return score.matched, score.expected, score.size_a + score.size_b, score.n_spans


# --- One text -----------------------------------------------------------------


@given(texts())
def test_probabilities_sum_to_one(text):
    for places in start_probabilities(*text):
        assert places.min() >= -1e-15
        assert places.sum() == pytest.approx(1, abs=1e-12)


@given(texts())
def test_coverage_sums_to_the_total_length(text):
    n, lengths = text
    found = coverage(n, lengths)
    assert found.sum() == pytest.approx(sum(lengths), abs=1e-11)
    assert found.min() >= 0
    assert found.max() <= 1


@given(texts())
def test_overlapping_coverage_is_that_of_independent_spans(text):
    n, lengths = text
    alone = [coverage(n, [length]) for length in lengths]
    found = coverage(n, lengths, model="overlapping")
    np.testing.assert_allclose(found, 1 - prod(1 - c for c in alone), atol=1e-13)


@given(texts())
def test_distributions_mirror(text):
    for sequence in (coverage(*text), *start_probabilities(*text)):
        np.testing.assert_array_equal(sequence, sequence[::-1])


@given(texts())
def test_proposition_3_flat_range_is_flat(text):
    n, lengths = text
    a, k = sum(lengths), len(lengths)
    for length, places in zip(lengths, start_probabilities(n, lengths), strict=True):
        flat = places[a - length - k + 1 : n - a + k]
        if len(flat):
            assert np.ptp(flat) <= 1e-13 * flat[0]
            exact = oracle.flat_value(n, lengths, length)
            assert abs(Fraction(float(flat[0])) - exact) <= 1e-13


@given(texts())
def test_coverage_is_the_sum_of_the_spans(text):
    n, lengths = text
    total = np.zeros(n)
    for length, places in zip(lengths, start_probabilities(n, lengths), strict=True):
        for offset in range(length):
            total[offset : offset + len(places)] += places
    np.testing.assert_allclose(coverage(n, lengths), total, atol=1e-12)


@every_rule
@given(text=texts(most=60), data=st.data())
def test_expected_match_is_symmetric_and_unordered(measure, model, text, data):
    n, lengths = text
    other = [length for length in data.draw(st.permutations(lengths)) if length < 6] or [1]
    found = expected_match(n, lengths, other, measure=measure, model=model)
    assert found == expected_match(n, other, lengths[::-1], measure=measure, model=model)


@every_rule
@given(text=texts(most=60))
def test_expected_match_is_at_most_the_size(measure, model, text):
    n, lengths = text
    size = sum(lengths) if measure == "token" else len(lengths)
    assert 0 <= expected_match(n, lengths, lengths, measure=measure, model=model) <= size + 1e-12


@every_rule
def test_proposition_4_chance_vanishes_in_long_texts(measure, model):
    a, b = [2, 3, 4], [3, 4, 5]
    chances = [
        expected_match(n, a, b, measure=measure, model=model) for n in (30, 300, 3000, 3_000_000)
    ]
    assert chances == sorted(chances, reverse=True)
    assert chances[-1] < 1e-4
    # Where the text is long, it is what independent uniform spans give.
    uniform = sum(a) * sum(b) if measure == "token" else sum(x == y for x in a for y in b)
    assert chances[-1] * 3_000_000 == pytest.approx(uniform, rel=1e-4)


@given(texts(most=30), st.data())
def test_proposition_4_probability_of_no_overlap_bounds_the_match(text, data):
    # E(matched) <= P(some overlap) * min(sizes), with the paper's count of the rest.
    n, a = text
    b = data.draw(st.lists(st.integers(1, 5), min_size=1, max_size=4))
    if sum(b) > n:
        return
    free = n - sum(a) - sum(b)
    none = 0.0
    if free >= 0:
        k, m = len(a), len(b)
        none = comb(free + k + m, k + m) * comb(k + m, k)
        none /= comb(n - sum(a) + k, k) * comb(n - sum(b) + m, m)
    assert expected_match(n, a, b) <= (1 - none) * min(sum(a), sum(b)) + 1e-9


# --- The mean over all arrangements -------------------------------------------


@every_rule
@settings(max_examples=30)
@given(data=st.data())
def test_mean_of_the_observed_match_is_the_expected_one(measure, model, data):
    # Every arrangement of either side becomes a document; observed matches are averaged.
    n = data.draw(st.integers(1, 6))
    drawn = st.lists(st.integers(1, n), min_size=1, max_size=2)
    fits = drawn.filter(lambda lengths: model == "overlapping" or sum(lengths) <= n)
    a, b = tuple(data.draw(fits)), tuple(data.draw(fits))
    sides = [oracle.arrangements(n, side, model) for side in (a, b)]
    pairs = list(product(range(len(sides[0])), range(len(sides[1]))))
    # Straight to the rule: as random arrangements, unlike annotations, may repeat a span.
    rows = [
        sorted((s, s + d) for s, d in zip(starts, side, strict=True))
        for found, side in zip(sides, (a, b), strict=True)
        for starts in found
    ]
    groups = SpanGroups(
        first=np.cumsum([0, *map(len, rows)]),
        start=np.array([s for row in rows for s, _ in row]),
        end=np.array([e for row in rows for _, e in row]),
    )
    left = np.array([i for i, _ in pairs])
    right = np.array([len(sides[0]) + j for _, j in pairs])
    expected = expected_match(n, a, b, measure=measure, model=model)
    if (measure, model) == ("exact", "overlapping"):
        # Observed annotations are sets of spans, so equal ones are counted by hand here.
        total = sum(
            (Counter(rows[i]) & Counter(rows[j])).total()
            for i, j in zip(left.tolist(), right.tolist(), strict=True)
        )
    else:
        total = MEASURES[measure].rules[model].matched(groups, left, right).sum()
    assert total / len(pairs) == pytest.approx(expected, abs=1e-12)


@given(data=st.data())
def test_observed_overlapping_match_is_the_smaller_count(data):
    n = data.draw(st.integers(1, 9))
    span = st.tuples(st.integers(0, n - 1), st.integers(1, n)).map(
        lambda s: (s[0], min(s[0] + s[1], n), "P")
    )
    sides = [data.draw(st.lists(span, unique=True, max_size=5)) for _ in range(2)]
    result = agreement(build({"a": [sides[0]], "b": [sides[1]]}, [n]), model="overlapping")
    held = [[sum(s <= t < e for s, e, _ in side) for t in range(n)] for side in sides]
    assert result.score.matched == sum(map(min, *held))
    exact = agreement(
        build({"a": [sides[0]], "b": [sides[1]]}, [n]), model="overlapping", measure="exact"
    )
    assert exact.score.matched == len(set(sides[0]) & set(sides[1]))


# --- Corpora ------------------------------------------------------------------


@every_rule
@given(corpus=corpora())
def test_symmetric_in_the_annotators(measure, model, corpus):
    spans, lengths = corpus
    options = {"measure": measure, "model": model}
    result = agreement(build(spans, lengths), **options)
    mirrored = agreement(build(dict(reversed(spans.items())), lengths), **options)
    assert numbers(result) == numbers(mirrored)
    for (a, b), score in result.by_pair.items():
        other = mirrored.by_pair[b, a]
        assert (score.matched, score.expected) == (other.matched, other.expected)
        assert (score.size_a, score.size_b) == (other.size_b, other.size_a)


@every_rule
@given(corpus=corpora(), data=st.data())
def test_order_and_names_do_not_matter(measure, model, corpus, data):
    spans, lengths = corpus
    order = data.draw(st.permutations(range(len(lengths))))
    shuffled = {
        name: [
            None
            if texts[i] is None
            else [(s, e, {"P": "zeta", "L": "alpha"}[label]) for s, e, label in reversed(texts[i])]
            for i in order
        ]
        for name, texts in spans.items()
    }
    options = {"measure": measure, "model": model}
    result = agreement(build(spans, lengths), **options)
    renamed = agreement(build(shuffled, [lengths[i] for i in order]), **options)
    assert numbers(result) == numbers(renamed)
    for name, new_name in (("P", "zeta"), ("L", "alpha")):
        if name in result.by_label:
            assert result.by_label[name] == renamed.by_label[new_name]


@every_rule
@given(corpus=corpora(), data=st.data())
def test_splitting_a_corpus_and_adding_the_counts_changes_nothing(measure, model, corpus, data):
    whole = build(*corpus)
    options = {"measure": measure, "model": model}
    result = agreement(whole, **options)
    cut = data.draw(st.integers(0, len(whole.documents)))
    parts = [whole.documents[:cut], whole.documents[cut:]]
    counts = [agreement(whole.select(documents=part), **options).counts for part in parts if part]
    joined = counts[0] if len(counts) == 1 else counts[0] + counts[1]
    # To the last bit.
    assert joined.score() == result.score
    assert joined.by_label() == result.by_label
    assert joined.by_document() == result.by_document
    assert joined.by_pair() == result.by_pair
    assert joined.by_annotator() == result.by_annotator


@every_rule
@given(corpus=corpora())
def test_identical_annotations_agree_wholly_or_are_undefined(measure, model, corpus):
    spans, lengths = corpus
    same = build({"a": spans["anna"], "b": spans["anna"]}, lengths)
    result = agreement(same, measure=measure, model=model)
    if not isnan(result.corrected):
        assert result.observed == 1
        assert result.corrected == pytest.approx(1)
    else:
        assert result.reason is not None


@given(corpus=corpora())
def test_breakdowns_add_up_to_the_whole(corpus):
    result = agreement(build(*corpus))
    for scores in (result.by_label, result.by_document, result.by_pair):
        assert sum(score.matched for score in scores.values()) == result.score.matched
        total = sum(Fraction(score.expected) for score in scores.values())
        assert float(total) == pytest.approx(result.score.expected, rel=1e-15)
    twice = sum(score.matched for score in result.by_annotator.values())
    assert twice == 2 * result.score.matched


@given(corpus=corpora())
def test_difficulty_lies_between_zero_and_one(corpus):
    found = difficulty(build(*corpus))
    for value in (found.overall, *found.by_document.values(), *found.by_text.tolist()):
        assert isnan(value) or -1e-12 <= value <= 1


def test_a_row_does_not_depend_on_its_neighbours():
    # Bit for bit: each of 300 texts alone, and all of them together.
    rng = np.random.default_rng(5)
    lengths = rng.integers(5, 90, 300).tolist()
    spans = {}
    for name in ("anna", "ben"):
        spans[name] = []
        for n in lengths:
            cuts = np.sort(rng.choice(n + 1, 2 * int(rng.integers(0, min(n // 2, 9))), False))
            spans[name].append([(int(s), int(e), "P") for s, e in cuts.reshape(-1, 2)])
    for measure in ("token", "exact"):
        whole = agreement(build(spans, lengths), measure=measure).by_document
        for i in range(len(lengths)):
            one = build({k: [v[i]] for k, v in spans.items()}, [lengths[i]])
            assert agreement(one, measure=measure).by_document["0"] == whole[str(i)]
