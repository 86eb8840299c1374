"""Laws: what holds for every text, every corpus, every measure, model and scope.

A measure or model that is added appears here by itself, and must declare its laws.
"""

from collections.abc import Callable
from dataclasses import dataclass
from fractions import Fraction
from itertools import product
from math import comb, isnan, prod

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
from beyondchance import (
    Corpus,
    CustomMeasure,
    agreement,
    coverage,
    difficulty,
    expected_match,
    rank,
    start_probabilities,
)
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import MODELS
from beyondchance.core.observed import SpanGroups
from beyondchance.scoring.options import SCOPES, scoring_of
from examples import examples

PLACEMENTS = ("auto", *MODELS)

POSITIONS = CustomMeasure(
    name="positions",
    phi=lambda start_a, length_a, start_b, length_b: (
        np.minimum(start_a + length_a, start_b + length_b) - np.maximum(start_a, start_b)
    ),
    size=lambda length: length,
)


@dataclass(frozen=True)
class Laws:
    """What a measure promises beside the laws that all keep.

    Attributes
    ----------
    size : function of lengths
        How much an annotation counts.
    in_long_texts : function of two lists of lengths
        What the expected match of a very long text tends to, times the positions.
    models : tuple of str
        The models for which it is defined.
    is_whole : bool
        Whether matches are whole numbers.
    estimated : tuple of str
        The models under which the expected match may be estimated.
    measure : str or CustomMeasure, optional
        If it is not the one of that name.
    """

    size: Callable
    in_long_texts: Callable
    models: tuple = PLACEMENTS
    is_whole: bool = True
    estimated: tuple = ()
    measure: CustomMeasure | None = None


def pairwise(phi):
    return lambda a, b: sum(phi(x, y) for x in a for y in b)


LAWS = {
    "token": Laws(size=sum, in_long_texts=lambda a, b: sum(a) * sum(b)),
    "exact": Laws(size=len, in_long_texts=pairwise(lambda x, y: x == y)),
    "boundary": Laws(size=lambda a: 2 * len(a), in_long_texts=lambda a, b: 2 * len(a) * len(b)),
    "dice": Laws(
        size=len,
        in_long_texts=pairwise(lambda x, y: 2 * x * y / (x + y)),
        is_whole=False,
    ),
    "iou": Laws(
        size=len,
        in_long_texts=pairwise(
            lambda x, y: sum(3 * min(x, y, x - lag, y + lag) > x + y for lag in range(1 - y, x))
        ),
        estimated=("auto", "nested", "overlapping"),
    ),
    "custom": Laws(
        size=sum,
        in_long_texts=lambda a, b: sum(a) * sum(b),
        models=("disjoint",),
        is_whole=False,
        measure=POSITIONS,
    ),
}

RULES = [(measure, model) for measure, laws in LAWS.items() for model in laws.models]
# One text has a model that is named, and no span in another.
TEXT_RULES = [rule for rule in RULES if rule[1] in MODELS]
EXACT_RULES = [rule for rule in TEXT_RULES if rule != ("iou", "overlapping")]
measures = st.sampled_from(tuple(MEASURES))
scopes = st.sampled_from(sorted(SCOPES))


@st.composite
def rules(draw, among=tuple(RULES)):
    """A measure, and one of its models: each measure equally often, however few it has."""
    measure = draw(st.sampled_from(list(dict.fromkeys(measure for measure, _ in among))))
    return measure, draw(st.sampled_from([model for own, model in among if own == measure]))


def test_every_measure_declares_its_laws():
    assert set(LAWS) == {*MEASURES, "custom"}


def options_of(measure, model, **others):
    """How to ask for a measure; few samples where it is estimated."""
    few = {"samples": 5} if model in LAWS[measure].estimated else {}
    return {"measure": LAWS[measure].measure or measure, "model": model, **few, **others}


@st.composite
def texts(draw, most=400):
    """A text size, and lengths of spans that fit without overlap."""
    lengths = draw(st.lists(st.integers(1, 12), min_size=1, max_size=25))
    free = draw(st.integers(0, most))
    return sum(lengths) + free, lengths


@st.composite
def span_lists(draw, n, model, labels="PL"):
    """Spans that a model allows in every scope, in any order."""
    if model == "disjoint":
        cuts = sorted(draw(st.sets(st.integers(0, n), max_size=8)))
        pairs = list(zip(cuts[::2], cuts[1::2], strict=False))
    else:
        ends = st.tuples(st.integers(0, n - 1), st.integers(1, n))
        pairs = []
        for start, length in draw(st.lists(ends, max_size=5)):
            end = min(start + length, n)
            crosses = any(s < start < e < end or start < s < end < e for s, e in pairs)
            # A span may have two labels, but not one label twice.
            if pairs.count((start, end)) < 2 and not (model == "nested" and crosses):
                pairs.append((start, end))
    found = []
    for start, end in pairs:
        taken = [label for s, e, label in found if (s, e) == (start, end)]
        label = draw(st.sampled_from([label for label in labels if label not in taken]))
        found.append((start, end, label))
    return draw(st.permutations(found))


@st.composite
def corpora(draw, model="disjoint"):
    """A few texts and annotators, not all of whom annotated everything."""
    lengths = draw(st.lists(st.integers(1, 14), min_size=1, max_size=4))
    names = ["anna", "ben", "cleo"][: draw(st.integers(2, 3))]
    spans = {
        name: [draw(span_lists(n, model)) for n in lengths]
        if name != "cleo"
        else [draw(st.none() | span_lists(n, model)) for n in lengths]
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


@examples(400)
@given(rule=rules(TEXT_RULES), text=texts(most=60), data=st.data())
def test_expected_match_is_symmetric_and_unordered(rule, text, data):
    n, lengths = text
    other = [length for length in data.draw(st.permutations(lengths)) if length < 6] or [1]
    options = options_of(*rule)
    found = expected_match(n, lengths, other, **options)
    assert found == expected_match(n, other, lengths[::-1], **options)


@examples(400)
@given(rule=rules(TEXT_RULES), text=texts(most=60))
def test_expected_match_is_at_most_the_size(rule, text):
    measure, model = rule
    n, lengths = text
    size = LAWS[measure].size(lengths)
    found = expected_match(n, lengths, lengths, **options_of(measure, model))
    assert 0 <= found <= size + 1e-12


def test_proposition_4_chance_vanishes_in_long_texts():
    a, b = [2, 3, 4], [3, 4, 5]
    for measure, model in EXACT_RULES:
        options = options_of(measure, model)
        # A function of one's own is asked about every place.
        sizes = (30, 300, 3000, 30_000 if measure == "custom" else 3_000_000)
        chances = [expected_match(n, a, b, **options) for n in sizes]
        assert chances == sorted(chances, reverse=True), (measure, model)
        # Where the text is long, it is what independent uniform spans give.
        uniform = LAWS[measure].in_long_texts(a, b)
        assert chances[-1] * sizes[-1] == pytest.approx(
            uniform, rel=1e-2 if measure == "custom" else 1e-4
        ), (measure, model)


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


@examples(300)
@given(rule=rules([rule for rule in EXACT_RULES if rule[1] != "nested"]), data=st.data())
def test_mean_of_the_observed_match_is_the_expected_one(rule, data):
    measure, model = rule
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
    options = options_of(measure, model)
    matched = scoring_of({"measure": options["measure"]}).measure.matched
    total = np.atleast_2d(matched(groups, left, right))[0].sum()
    assert total / len(pairs) == pytest.approx(expected_match(n, a, b, **options), abs=1e-12)


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


def scored(corpus, measure, model, scope):
    return agreement(build(*corpus), **options_of(measure, model, scope=scope))


@examples(200)
@given(rule=rules(), data=st.data(), scope=scopes)
def test_symmetric_in_the_annotators(rule, data, scope):
    measure, model = rule
    spans, lengths = data.draw(corpora(model))
    result = scored((spans, lengths), measure, model, scope)
    mirrored = scored((dict(reversed(spans.items())), lengths), measure, model, scope)
    assert numbers(result) == numbers(mirrored)
    for (a, b), score in result.by_pair.items():
        other = mirrored.by_pair[b, a]
        assert (score.matched, score.expected) == (other.matched, other.expected)
        assert (score.size_a, score.size_b) == (other.size_b, other.size_a)
        assert str((score.recall, score.chance_recall, score.corrected_recall)) == str(
            (other.precision, other.chance_precision, other.corrected_precision)
        )


@examples(200)
@given(rule=rules(), data=st.data(), scope=scopes)
def test_order_and_names_do_not_matter(rule, data, scope):
    measure, model = rule
    spans, lengths = data.draw(corpora(model))
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
    result = scored((spans, lengths), measure, model, scope)
    renamed = scored((shuffled, [lengths[i] for i in order]), measure, model, scope)
    assert numbers(result) == numbers(renamed)
    for name, new_name in (("P", "zeta"), ("L", "alpha"), ("(any)", "(any)")):
        if name in result.by_label:
            assert result.by_label[name] == renamed.by_label[new_name]


@examples(200)
@given(rule=rules(), data=st.data(), scope=scopes)
def test_splitting_a_corpus_and_adding_the_counts_changes_nothing(rule, data, scope):
    measure, model = rule
    whole = build(*data.draw(corpora(model)))
    options = options_of(measure, model, scope=scope)
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
    assert joined.against("anna") == result.against("anna")


@examples(200)
@given(rule=rules(), data=st.data(), scope=scopes)
def test_identical_annotations_agree_wholly_or_are_undefined(rule, data, scope):
    measure, model = rule
    spans, lengths = data.draw(corpora(model))
    same = {"a": spans["anna"], "b": spans["anna"]}
    result = scored((same, lengths), measure, model, scope)
    for rate in ("observed", "corrected", "recall", "precision", "corrected_recall"):
        value = getattr(result.score, rate)
        if isnan(value):
            assert result.score.to_dict()["recall"]["reason"]
        else:
            assert value == pytest.approx(1)
    assert (result.reason is not None) == isnan(result.corrected)


@examples(200)
@given(rule=rules(), data=st.data(), scope=scopes)
def test_nothing_exceeds_its_limit(rule, data, scope):
    measure, model = rule
    result = scored(data.draw(corpora(model)), measure, model, scope)
    for score in (result.score, *result.by_label.values(), *result.by_pair.values()):
        for observed, chance in (
            (score.observed, score.chance),
            (score.recall, score.chance_recall),
            (score.precision, score.chance_precision),
        ):
            assert isnan(observed) or 0 <= observed <= 1 + 1e-12
            assert isnan(chance) or 0 <= chance <= 1 + 1e-12
        assert score.matched.is_integer() or not LAWS[measure].is_whole
        assert (score.error > 0) <= (model in LAWS[measure].estimated)
        if score.matched_a is None and score.size_a and score.size_b:
            mean = 2 / (1 / score.recall + 1 / score.precision) if score.matched else 0
            assert score.observed == pytest.approx(mean)


@examples(200)
@given(rule=rules(), data=st.data(), scope=scopes)
def test_breakdowns_add_up_to_the_whole(rule, data, scope):
    measure, model = rule
    result = scored(data.draw(corpora(model)), measure, model, scope)
    for scores in (result.by_label, result.by_document, result.by_pair):
        for name in ("matched", "expected"):
            total = sum(Fraction(getattr(score, name)) for score in scores.values())
            assert float(total) == pytest.approx(getattr(result.score, name), rel=1e-15)
    twice = sum(Fraction(score.matched) for score in result.by_annotator.values())
    assert float(twice) == pytest.approx(2 * result.score.matched, rel=1e-15)


@examples(200)
@given(rule=rules(), data=st.data(), scope=scopes)
def test_difficulty_lies_between_zero_and_one(rule, data, scope):
    measure, model = rule
    found = difficulty(build(*data.draw(corpora(model))), **options_of(measure, model, scope=scope))
    for value in (found.overall, *found.by_document.values(), *found.by_text.tolist()):
        assert isnan(value) or -1e-12 <= value <= 1


# --- What is the same by definition -------------------------------------------


def same_counts(one, two):
    assert len(one.counts) == len(two.counts)
    assert one.score == two.score
    assert one.by_label == two.by_label
    assert one.by_document == two.by_document


@examples(120)
@given(measure=st.sampled_from(tuple(LAWS)), data=st.data(), scope=scopes)
def test_what_auto_takes_is_the_strictest_that_fits(measure, data, scope):
    # To the last bit.
    corpus = data.draw(corpora("disjoint"))
    disjoint = agreement(build(*corpus), **options_of(measure, "disjoint", scope=scope))
    for model in ("nested", "auto"):
        few = options_of(measure, "disjoint", scope=scope)
        same_counts(disjoint, agreement(build(*corpus), **{**few, "model": model}))
    if measure != "custom":
        corpus = data.draw(corpora("nested"))
        same_counts(*(scored(corpus, measure, model, scope) for model in ("nested", "auto")))


@examples(200)
@given(measure=measures, data=st.data(), scope=scopes, kind=st.sampled_from(tuple(MODELS)))
def test_observed_does_not_depend_on_the_model(measure, data, scope, kind):
    corpus = data.draw(corpora(kind))
    names = ("auto", *list(MODELS)[list(MODELS).index(kind) :])
    results = [scored(corpus, measure, model, scope) for model in names]
    for result in results[1:]:
        np.testing.assert_array_equal(result.counts.matched, results[0].counts.matched)
        assert str(result.score.recall) == str(results[0].score.recall)


@examples(100)
@given(
    data=st.data(),
    scope=scopes,
    model=st.sampled_from(PLACEMENTS),
    theta=st.sampled_from([0.0, 0.2, 0.5, 0.7, 0.9, 0.99]),
)
def test_a_laxer_measure_never_counts_less_than_a_stricter_one(data, scope, model, theta):
    corpus = build(*data.draw(corpora(model)))

    def matched(measure, **options):
        return agreement(
            corpus, measure=measure, model=model, scope=scope, **options
        ).counts.matched

    exact = matched("exact")
    close = matched("iou", theta=theta, samples=2)
    assert (exact <= close).all()
    assert (close <= matched("iou", theta=theta / 2, samples=2)).all()
    # Every equal span has two equal boundaries.
    assert (2 * exact <= matched("boundary")).all()
    assert (exact <= matched("dice") + 1e-12).all()
    # Spans that share a position at all are paired at theta = 0.
    touching = matched("iou", theta=0.0, samples=2)
    assert ((matched("token") > 0) == (touching > 0)).all()


@examples(75)
@given(measure=measures, data=st.data(), scope=scopes, seed=st.integers(0, 9))
def test_the_score_of_a_system_does_not_depend_on_the_others(measure, data, scope, seed):
    lengths = data.draw(st.lists(st.integers(1, 14), min_size=1, max_size=3))
    kinds = ("disjoint", "nested", "overlapping", "overlapping")
    names = ("gold", "one", "two", "three")
    spans = {
        name: [data.draw(span_lists(n, kind)) for n in lengths]
        for name, kind in zip(names, kinds, strict=True)
    }
    few = {"samples": 5, "seed": seed} if measure == "iou" else {}
    options = {"measure": measure, "scope": scope, "gold": "gold", **few}
    together = rank(build(spans, lengths), **options)
    for name in names[1:]:
        alone = rank(build({n: spans[n] for n in ("gold", name)}, lengths), **options)
        # A label that only others marked is listed, with nothing in it.
        one, two = (
            {label: score for label, score in found.systems[name].by_label.items() if score.n_spans}
            for found in (alone, together)
        )
        assert one == two
        assert alone.systems[name].by_document == together.systems[name].by_document
        assert str(alone.systems[name].settings) == str(together.systems[name].settings)


@examples(200)
@given(rule=rules(), data=st.data())
def test_one_label_is_the_same_in_every_scope(rule, data):
    measure, model = rule
    spans, lengths = data.draw(corpora(model))
    one_label = {
        name: [
            None if text is None else [(s, e, "P") for s, e in sorted({span[:2] for span in text})]
            for text in texts
        ]
        for name, texts in spans.items()
    }
    label, joint, unlabelled = (
        scored((one_label, lengths), measure, model, scope)
        for scope in ("label", "joint", "unlabelled")
    )
    same_counts(label, joint)
    assert label.score == unlabelled.score
    assert label.by_document == unlabelled.by_document


@examples(60)
@given(data=st.data(), scope=scopes)
def test_positions_as_a_custom_measure_are_tokens(data, scope):
    corpus = data.draw(corpora("disjoint"))
    token, custom = (scored(corpus, measure, "disjoint", scope) for measure in ("token", "custom"))
    for name, score in token.by_label.items():
        other = custom.by_label[name]
        assert (score.matched, score.size_a, score.size_b) == (
            other.matched, other.size_a, other.size_b
        )  # fmt: skip
        assert score.expected == pytest.approx(other.expected, abs=1e-13)
        assert (score.certain, score.certain_a) == (other.certain, other.certain_a)


@examples(200)
@given(rule=rules(), data=st.data())
def test_labels_that_never_share_a_text_are_the_same_jointly(rule, data):
    measure, model = rule
    spans, lengths = data.draw(corpora(model))
    apart = {
        name: [
            None
            if text is None
            else [(s, e, "PL"[i % 2]) for s, e in sorted({span[:2] for span in text})]
            for i, text in enumerate(texts)
        ]
        for name, texts in spans.items()
    }
    same_counts(*(scored((apart, lengths), measure, model, s) for s in ("label", "joint")))


@pytest.mark.slow
@pytest.mark.parametrize(
    "turn", [0, *(pytest.param(turn, marks=pytest.mark.long) for turn in (1, 2))]
)
def test_a_row_does_not_depend_on_its_neighbours(turn):
    # Bit for bit: each of many texts alone, and all of them together. Scopes take turns.
    for number, (measure, model) in enumerate(RULES):
        scope = sorted(SCOPES)[(number + turn) % len(SCOPES)]
        rng = np.random.default_rng(5 + number)
        lengths = rng.integers(5, 90, 15).tolist()
        spans = {name: [random_spans(n, model, rng) for n in lengths] for name in ("anna", "ben")}
        options = options_of(measure, model, scope=scope)
        whole = agreement(build(spans, lengths), **options).by_document
        for i in range(len(lengths)):
            one = build({k: [v[i]] for k, v in spans.items()}, [lengths[i]])
            found = agreement(one, **options).by_document["0"]
            assert found == whole[str(i)], (measure, model, scope, i)


def random_spans(n, model, rng):
    cuts = np.sort(rng.choice(n + 1, 2 * int(rng.integers(0, min(n // 2, 9))), False))
    found = [(int(s), int(e)) for s, e in cuts.reshape(-1, 2)]
    if model != "disjoint":
        found += [(s, e - 1) for s, e in found if e - s > 2]
    if model in {"auto", "overlapping"}:
        found += [(s + 1, e) for s, e in found if e < n and e - s > 4]
    return [(s, e, "PL"[int(rng.integers(2))]) for s, e in sorted(set(found))]
