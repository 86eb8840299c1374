"""Finding spans and labelling them: examples, all permutations in fractions, laws."""

from collections import Counter
from fractions import Fraction
from itertools import combinations, permutations
from math import isnan, sqrt

import numpy as np
import pytest
from hypothesis import assume, given, strategies as st

from annotated_texts import span_lists
from beyondchance import (
    Corpus,
    Counts,
    CustomMeasure,
    DataError,
    NothingSharedError,
    OptionError,
    agreement,
    example,
    labelling,
)
from each import each
from examples import examples
from refusals import assert_tells, refused

MEASURES = ("token", "exact")
measures = st.sampled_from(MEASURES)


def corpus_of(*sides, n=10, **options):
    names = ("anna", "ben", "cleo")[: len(sides)]
    lengths = [n] * len(sides[0])
    return Corpus.from_spans(dict(zip(names, sides, strict=True)), lengths=lengths, **options)


# --- The definition, in the plainest words ------------------------------------


def places(spans, measure):
    """The spans of one text at each place: at a position, or with these offsets."""
    found = {}
    for start, end, label in spans:
        for place in range(start, end) if measure == "token" else [(start, end)]:
            found.setdefault(place, []).append((start, end, label))
    return found


def compared_labels(a, b, measure):
    """For all texts, the labels of both at each place where they have equally many spans."""
    for text, (one, two) in enumerate(zip(a, b, strict=True)):
        left, right = places(one, measure), places(two, measure)
        for place in left.keys() & right.keys():
            spans = [{span[:2] for span in side[place]} for side in (left, right)]
            if len(spans[0]) == len(spans[1]):
                yield text, *([span[2] for span in side[place]] for side in (left, right))


def dealt(sizes, labels):
    """For each hand of a side, how probable each set of labels is, over all permutations."""
    ways = list(permutations(labels))
    found = [Counter() for _ in sizes]
    for way in ways:
        rest = list(way)
        for hand, size in zip(found, sizes, strict=True):
            hand[tuple(sorted(rest[:size]))] += Fraction(1, len(ways))
            del rest[:size]
    return found


def by_text_and_label(a, b, measure):
    """Matched, expected and sizes of each text and label, from all permutations."""
    table = {}
    shared = list(compared_labels(a, b, measure))
    sides = [
        dealt([len(hand) for hand in side], [label for hand in side for label in hand])
        for side in ([one for _, one, _ in shared], [two for _, _, two in shared])
    ]
    labels = sorted({label for _, one, two in shared for label in one + two})
    for (text, one, two), left, right in zip(shared, *sides, strict=True):
        for label in labels:
            row = table.setdefault((text, label), [Fraction(0)] * 4)
            row[0] += min(one.count(label), two.count(label))
            row[1] += sum(
                p * q * min(x.count(label), y.count(label))
                for x, p in left.items()
                for y, q in right.items()
            )
            row[2] += one.count(label)
            row[3] += two.count(label)
    return table


@st.composite
def any_spans(draw, n, labels="PL"):
    """Spans that may be nested, cross, and have two labels."""
    ends = [(start, end) for start, end in combinations(range(n + 1), 2)]
    span = st.tuples(st.sampled_from(ends), st.sampled_from(labels))
    return [(*offsets, label) for offsets, label in draw(st.sets(span, max_size=3))]


def is_small(a, b, measure):
    shared = list(compared_labels(a, b, measure))
    return all(sum(len(hand[side]) for hand in shared) <= 6 for side in (1, 2))


@examples(150)
@given(measures, st.data())
def test_every_label_is_expected_as_often_as_over_all_permutations(measure, data):
    n = 3 if measure == "token" else 2
    a, b = ([data.draw(any_spans(n)) for _ in range(2)] for _ in range(2))
    assume(is_small(a, b, measure))
    table = by_text_and_label(a, b, measure)
    result = labelling(corpus_of(a, b, n=n), measure=measure).labelling
    for label in {label for _, label in table}:
        rows = [row for (_, other), row in table.items() if other == label]
        matched, expected, size_a, size_b = map(sum, zip(*rows, strict=True))
        score = result.by_label[label]
        assert (score.matched, score.size_a, score.size_b) == (matched, size_a, size_b)
        assert score.expected == pytest.approx(float(expected), abs=1e-14)
    for row in result.counts.to_rows():
        matched, _, size_a, size_b = table[row["text"], row["label"]]
        assert (row["matched"], row["size_a"], row["size_b"]) == (matched, size_a, size_b)


def deals(sides_labels):
    """The hands of a side under all permutations of its labels."""
    labels = [label for hand in sides_labels for label in hand]
    for way in set(permutations(labels)):
        rest = iter(way)
        yield [[next(rest) for _ in hand] for hand in sides_labels]


@examples(100)
@given(measures, st.data())
def test_where_chance_has_no_freedom_all_permutations_match_as_much(measure, data):
    n = 2
    a, b = ([data.draw(any_spans(n)) for _ in range(2)] for _ in range(2))
    shared = list(compared_labels(a, b, measure))
    assume(shared)
    assume(all(sum(len(hand[side]) for hand in shared) <= 5 for side in (1, 2)))
    left, right = ([hand[side] for hand in shared] for side in (1, 2))
    counts = labelling(corpus_of(a, b, n=n), measure=measure).labelling.counts
    for number in set(counts.label.tolist()):
        label = counts.labels[number]
        matches = {
            sum(min(x.count(label), y.count(label)) for x, y in zip(one, two, strict=True))
            for one in deals(left)
            for two in deals(right)
        }
        fixed = set(counts.fixed[counts.label == number].tolist())
        assert len(fixed) == 1
        if True in fixed:
            assert len(matches) == 1
        elif all(len(hand) == 1 for hand in left + right):
            assert len(matches) > 1


def test_two_labels_on_spans_that_overlap():
    # anna PP, LL and P.. crossing; two labels on one span of ben.
    a = [[(0, 2, "P"), (0, 2, "L"), (1, 3, "P")]]
    b = [[(0, 2, "P"), (1, 3, "L"), (1, 3, "P")]]
    for measure in MEASURES:
        table = by_text_and_label(a, b, measure)
        score = labelling(corpus_of(a, b, n=3), measure=measure).labelling.score
        matched, expected, size_a, size_b = map(sum, zip(*table.values(), strict=True))
        assert (score.matched, score.size_a, score.size_b) == (matched, size_a, size_b)
        assert score.expected == pytest.approx(float(expected), abs=1e-15)
        assert 0 < expected < size_a


# --- By hand ------------------------------------------------------------------


def test_labels_exchanged_by_half():
    # Four equal spans: P P L L against P L P L, 2 alike; by chance 4 * (1/4 + 1/4) = 2.
    a = [[(0, 1, "P"), (2, 3, "P"), (4, 5, "L"), (6, 7, "L")]]
    b = [[(0, 1, "P"), (2, 3, "L"), (4, 5, "P"), (6, 7, "L")]]
    split = labelling(corpus_of(a, b))
    assert split.finding.corrected == 1
    assert (split.labelling.observed, split.labelling.chance) == (0.5, 0.5)
    assert split.labelling.corrected == 0
    assert split.labelling.by_label["P"].observed == 0.5


def test_the_chance_of_a_label_is_the_same_in_every_document():
    # P P | P L against P P | L L: of 4 places P is expected at 3/4 * 2/4, of sizes 3 and 2.
    a = [[(0, 1, "P"), (2, 3, "P")], [(0, 1, "P"), (2, 3, "L")]]
    b = [[(0, 1, "P"), (2, 3, "P")], [(0, 1, "L"), (2, 3, "L")]]
    result = labelling(corpus_of(a, b)).labelling
    p, label_l = 1.5 / 2.5, 0.5 / 1.5
    assert result.by_label["P"].chance == pytest.approx(p)
    assert result.by_document["0"].chance == pytest.approx(p)
    assert result.by_document["1"].chance == pytest.approx((0.5 * p + 1.5 * label_l) / 2)
    assert result.chance == pytest.approx((1.5 + 0.5) / 4)


def test_only_what_both_found_is_labelled():
    # anna PPPP..LL   ben ..PPPP..: two positions in common, both P; L changes nothing.
    split = labelling(corpus_of([[(0, 4, "P"), (6, 8, "L")]], [[(2, 6, "P")]]))
    score = split.labelling.score
    assert (score.matched, score.size_a, score.size_b, score.n_spans) == (2, 2, 2, 2)
    assert split.finding.score.matched == 2


def test_a_second_label_on_a_span_is_a_difference_in_labels():
    # Found completely; of two labels and one, one is alike, as in scope label.
    corpus = corpus_of([[(0, 2, "P"), (0, 2, "L")]], [[(0, 2, "P")]])
    for measure in MEASURES:
        split = labelling(corpus, measure=measure)
        assert split.finding.observed == 1
        assert split.labelling.observed == pytest.approx(2 / 3)
        assert agreement(corpus, measure=measure).observed == pytest.approx(2 / 3)


def test_a_missing_inner_span_is_a_matter_of_finding():
    # ben misses the span inside; where anna has two spans and ben one, no labels are compared.
    corpus = corpus_of([[(0, 6, "P"), (2, 4, "L")]], [[(0, 6, "P")]])
    split = labelling(corpus)
    assert split.finding.observed < 1
    assert (split.labelling.observed, split.labelling.score.matched) == (1, 4)


def test_pairs_are_permuted_by_themselves_and_add():
    corpus = example()
    team = labelling(corpus).labelling
    for pair, score in team.by_pair.items():
        alone = labelling(corpus.select(annotators=list(pair))).labelling.score
        assert (alone.matched, alone.expected) == (score.matched, score.expected)
        assert (alone.size_a, alone.size_b) == (score.size_a, score.size_b)
    assert team.score.matched == sum(score.matched for score in team.by_pair.values())
    assert len(team.by_document) == len(corpus.documents)


def test_a_gold_standard_is_compared_with_each():
    split = labelling(example(), gold="ada")
    assert list(split.labelling.by_pair) == [("ada", "ben"), ("ada", "cleo")]
    assert split.labelling.settings.pairs == "gold"
    named = Corpus.from_tags({"a": [["B-P"]], "b": [["B-P"]], "g": [["B-L"]]}).with_gold("g")
    assert labelling(named).labelling.counts.annotators == ("a", "b")


def test_lists_of_tags():
    a, b = [["B-P", "I-P", "O"]], [["B-P", "O", "B-L"]]
    split = labelling(a, b)
    assert split.finding.score.matched == 1
    assert split.labelling.score.matched == 1
    scheme = labelling([["S-P", "O"]], [["S-P", "O"]], scheme="BIOES")
    assert scheme.settings.scheme == "BIOES"


def test_signatures_tell_the_parts_apart():
    split = labelling(example(), measure="exact")
    assert split.finding.settings.scope == "unlabelled"
    assert (split.labelling.settings.model, split.labelling.settings.scope) == ("permuted", "found")
    assert split.settings.model == split.finding.settings.model
    assert split.settings.scope == "split"
    assert repr(split) == "Labelling(finding=0.5327, labelling=0.9750)"
    assert str(split).endswith(str(split.settings))


def test_the_same_label_on_everything_has_no_score_but_a_reason():
    result = labelling(corpus_of([[(0, 2, "P")]], [[(0, 2, "P")]])).labelling
    assert (result.observed, result.chance) == (1, 1)
    assert isnan(result.corrected)
    assert_tells(result.reason, "chance agreement is 1 … labels")
    assert result.score.to_dict()["recall"]["reason"] == result.reason


def test_one_label_of_one_annotator_has_no_score_but_a_reason():
    # anna calls everything P, so that every permutation agrees at ben's two P of three.
    a = [[(0, 1, "P"), (2, 3, "P"), (4, 5, "P")]]
    b = [[(0, 1, "P"), (2, 3, "P"), (4, 5, "L")]]
    for measure in MEASURES:
        result = labelling(corpus_of(a, b), measure=measure).labelling
        assert (result.observed, result.chance) == (pytest.approx(2 / 3), pytest.approx(2 / 3))
        assert isnan(result.corrected)
        assert_tells(result.reason, "scores the same … one label")
    # Labels that never meet agree nowhere, and need no explanation.
    assert labelling(corpus_of([[(0, 1, "P")]], [[(0, 1, "L")]])).labelling.corrected == 0


def test_nothing_in_common_has_no_score_but_a_reason():
    result = labelling(corpus_of([[(0, 2, "P")]], [[(4, 6, "P")]])).labelling
    assert isnan(result.corrected)
    assert_tells(result.reason, "nothing … both")
    assert_tells(result.by_document["0"].reason, "nothing … both")
    assert_tells(labelling(corpus_of([[]], [[]])).labelling.reason, "nothing … both")


def test_tables_of_labels_and_of_spans_do_not_add():
    a, b = [[(0, 2, "P")]], [[(0, 2, "P")]]
    split = labelling(corpus_of(a, b, documents=["1"]))
    other = labelling(corpus_of(a, b, documents=["2"]))
    joined = Counts.joined([split.labelling.counts, other.labelling.counts])
    assert_tells(joined.score().reason, "chance agreement is 1 … labels")
    with refused(DataError, "measures"):
        Counts.joined([split.labelling.counts, other.finding.counts])


# --- The case that this is for ------------------------------------------------


@each("measure", MEASURES)
def test_equal_spans_with_labels_by_dice_are_found_and_not_labelled(measure):
    rng = np.random.default_rng(14)
    n_texts, labels = 300, "PLMXY"
    spans = [[(start, start + 2) for start in range(0, 100, 10)] for _ in range(n_texts)]
    sides = [
        [[(*span, labels[rng.integers(5)]) for span in text] for text in spans] for _ in range(2)
    ]
    corpus = corpus_of(*sides, n=100)
    error = sqrt(0.2 * 0.8 / 3000) / 0.8
    blended = agreement(corpus, measure=measure).corrected
    split = labelling(corpus, measure=measure)
    assert 0.16 < blended < 0.24
    assert split.finding.corrected == 1
    assert abs(split.labelling.corrected) < 4 * error
    interval = split.labelling.interval(seed=1, resamples=999)
    assert interval.low < 0 < interval.high
    assert interval.high - interval.low == pytest.approx(2 * 1.96 * error, rel=0.15)


# --- Laws ---------------------------------------------------------------------


@examples(60)
@given(measures, st.data())
def test_observed_agreement_is_finding_times_labelling(measure, data):
    a, b = ([data.draw(span_lists(8, "PLM")) for _ in range(3)] for _ in range(2))
    corpus = corpus_of(a, b, n=8)
    split = labelling(corpus, measure=measure)
    whole = agreement(corpus, measure=measure).score
    assert split.labelling.score.matched == whole.matched
    assert split.labelling.score.size_a == split.finding.score.matched
    if whole.matched:
        product = split.finding.observed * split.labelling.observed
        assert product == pytest.approx(whole.observed, rel=1e-14)


@examples(60)
@given(measures, st.data())
def test_labelling_is_the_kappa_of_what_both_found(measure, data):
    a, b = ([data.draw(span_lists(8, "PLM")) for _ in range(3)] for _ in range(2))
    shared = [(one[0], two[0]) for _, one, two in compared_labels(a, b, measure)]
    assume(shared)
    n = len(shared)
    observed = Fraction(sum(one == two for one, two in shared), n)
    left, right = (Counter(labels) for labels in zip(*shared, strict=True))
    chance = sum(Fraction(left[label] * right[label], n * n) for label in left)
    result = labelling(corpus_of(a, b, n=8), measure=measure).labelling
    assert result.observed == pytest.approx(float(observed), rel=1e-14)
    assert result.chance == pytest.approx(float(chance), rel=1e-14)
    has_one = min(len(left), len(right)) == 1
    if has_one and observed:
        assert isnan(result.corrected)
    elif chance < 1:
        kappa = (observed - chance) / (1 - chance)
        assert result.corrected == pytest.approx(float(kappa), abs=1e-13)
    else:
        assert isnan(result.corrected)


@examples(60)
@given(measures, st.data())
def test_no_label_is_expected_more_than_it_is_used(measure, data):
    a, b, c = ([data.draw(any_spans(5)) for _ in range(2)] for _ in range(3))
    result = labelling(corpus_of(a, b, c, n=5), measure=measure).labelling
    levels = (result.by_label, result.by_document, result.by_pair, {"all": result.score})
    counts = result.counts
    assert (counts.expected <= (counts.size_a + counts.size_b) / 2 * (1 + 1e-12)).all()
    for score in (score for level in levels for score in level.values()):
        size = (score.size_a + score.size_b) / 2
        assert score.matched <= min(score.size_a, score.size_b)
        assert score.expected <= size * (1 + 1e-12)
        assert isnan(score.corrected) == (score.reason is not None)
        assert score.reason is not None or score.corrected <= 1 + 1e-12


@examples(40)
@given(measures, st.data())
def test_names_and_sides_change_nothing(measure, data):
    a, b = ([data.draw(any_spans(5, "PLM")) for _ in range(2)] for _ in range(2))
    other = {"P": "M", "L": "P", "M": "L"}
    renamed = [
        [[(start, end, other[label]) for start, end, label in text] for text in side]
        for side in (b, a)
    ]
    one = labelling(corpus_of(a, b, n=5), measure=measure).labelling.score
    two = labelling(corpus_of(*renamed, n=5), measure=measure).labelling.score
    assert (one.matched, one.size_a, one.size_b) == (two.matched, two.size_b, two.size_a)
    assert one.expected == pytest.approx(two.expected, abs=1e-13)


# --- What is refused ----------------------------------------------------------


def test_other_measures_are_refused():
    custom = CustomMeasure(name="mine", phi=lambda s, *_: s, size=lambda n: n)
    for measure, named in (("iou", "'iou'"), (custom, "'mine'")):
        with refused(OptionError, f"{named} … token … exact"):
            labelling(example(), measure=measure)
    with refused(OptionError, "measure … 3"):
        labelling(example(), measure=3)


def test_a_scope_is_refused():
    with refused(OptionError, "scope"):
        labelling(example(), scope="label")


def test_what_agreement_refuses_is_refused():
    with refused(OptionError, "second … Corpus"):
        labelling(example(), [["O"]])
    with refused(DataError, "mapping"):
        labelling({"a": [["O"]]}, [["O"]])
    with refused(NothingSharedError, "one annotator"):
        labelling([["O"]])
    with refused(NothingSharedError):
        labelling(Corpus.from_tags({"a": [["O"]]}))
    with refused(OptionError, "wrong … gold"):
        labelling(example(), wrong=1)


def test_labels_of_what_both_found_have_no_length():
    found = labelling(example()).to_dict()["labelling"]["annotators"]
    assert [one["mean_length"] for one in found.values()] == [None] * 3
