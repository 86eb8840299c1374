"""Every measure under every model and scope, against all arrangements in rational arithmetic."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import cycle, product

import numpy as np
import pytest

import oracle
from beyondchance import (
    Corpus,
    CustomMeasure,
    agreement,
    coverage,
    expected_match,
    sample_arrangements,
    start_probabilities,
)
from beyondchance.core import expected_by_pairs
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import MODELS
from beyondchance.core.random_places import coverage_of, layers_in, layers_of, sets_of
from beyondchance.core.span_trees import nested_structure
from beyondchance.scoring.options import SCOPES
from each import each


def squares(start_a, length_a, start_b, length_b):
    shared = np.minimum(start_a + length_a, start_b + length_b) - np.maximum(start_a, start_b)
    return shared**2 / ((1 + np.minimum(start_a, start_b)) * np.maximum(length_a, length_b))


def positions(start_a, length_a, start_b, length_b):
    return np.minimum(start_a + length_a, start_b + length_b) - np.maximum(start_a, start_b)


SQUARES = CustomMeasure(name="squares", phi=squares, size=lambda length: length)
POSITIONS = CustomMeasure(name="positions", phi=positions, size=lambda length: length)

NAMED = {**{name: name for name in MEASURES}, "custom": SQUARES}
PLACEMENTS = ("auto", *MODELS)
RULES = [
    (measure, model, scope)
    for measure, model, scope in product(NAMED, PLACEMENTS, SCOPES)
    # A measure of one's own takes no spans of one label that overlap.
    if measure != "custom" or model == "disjoint"
]
# Every measure under every model, with scopes in turn.
IN_TURN = [
    (measure, model, scope)
    for (measure, model), scope in zip(
        dict.fromkeys(rule[:2] for rule in RULES), cycle(SCOPES), strict=False
    )
]
# Every measure, with models and scopes in turn.
OWN = [[rule for rule in IN_TURN if rule[0] == measure] for measure in NAMED]
FEW_RULES = [rules[number % len(rules)] for number, rules in enumerate(OWN)]


def every_rule(few, some, every):
    """How many cases there are of few rules, of rules in turn, and of every rule."""
    return pytest.mark.parametrize(
        ("rules", "number"),
        [
            pytest.param(FEW_RULES, few, id="few"),
            pytest.param(IN_TURN, some, marks=pytest.mark.slow, id="in turn"),
            pytest.param(RULES, every, marks=pytest.mark.long, id="every"),
        ],
    )


MATCHES = oracle.MATCHES
FEW = {"samples": 2000}


def options_of(measure, model, scope):
    few = FEW if measure == "iou" else {}
    return {"measure": NAMED[measure], "model": model, "scope": scope, **few}


def test_the_oracle_knows_every_measure():
    assert {name for name in MATCHES if not name.startswith("dice of")} == set(NAMED)


# --- Cases --------------------------------------------------------------------


def fits(spans, model, scope):
    for line in oracle.lines(oracle.seen(tuple(spans), scope), scope):
        for i, (s, e, _) in enumerate(line):
            for t, f, _ in line[i + 1 :]:
                apart = e <= t or f <= s
                nested = (s <= t and f <= e) or (t <= s and e <= f)
                if {"disjoint": not apart, "nested": not apart and not nested}.get(model):
                    return False
    return True


def drawn(rng, n, model, scope, most):
    spans = []
    labels = "PLM"[: int(rng.integers(1, 4))]
    for _ in range(12):
        start, end = sorted(rng.choice(n + 1, 2, replace=False).tolist())
        label = labels[int(rng.integers(len(labels)))]
        span = start, end, label
        if len(spans) < most and span not in spans and fits([*spans, span], model, scope):
            spans.append(span)
    return tuple(spans)


@cache
def cases(model, scope, how_many=70, most_arrangements=2500):
    """Pairs of small annotations with labels, each with few enough arrangements."""
    rng = np.random.default_rng([1, PLACEMENTS.index(model), list(SCOPES).index(scope)])
    found = []
    while len(found) < how_many:
        n = int(rng.integers(2, 8 if model in {"auto", "nested"} else 7))
        most = 2 if model == "overlapping" else 4
        a, b = (drawn(rng, n, model, scope, int(rng.integers(1, most + 1))) for _ in range(2))
        # Spans cross on no side, on one, or on both, in turn.
        if model == "auto" and sum(bool(clusters_in(s, scope)) for s in (a, b)) != len(found) % 3:
            continue
        ways = [len(oracle.shuffled(n, side, scope, model)) for side in (a, b)]
        if ways[0] * ways[1] <= most_arrangements:
            found.append((n, a, b))
    return found


def clusters_in(side, scope):
    """The stretches of spans that cross, and what lies in there, cluster by cluster."""
    found = oracle.lines(oracle.seen(side, scope), scope)
    parts = [part for line in found for part in oracle.outermost(line, tuple(range(len(line))))]
    return [cells for spans, cells in parts if len(spans) > 1]


def corpus_of(n, a, b):
    return Corpus.from_spans({"a": [list(a)], "b": [list(b)]}, lengths=[n])


def test_rules_in_turn_are_all_measures_models_and_scopes():
    assert {rule[0] for rule in FEW_RULES} == set(NAMED)
    assert {rule[:2] for rule in IN_TURN} == {rule[:2] for rule in RULES}
    for place, known in ((1, PLACEMENTS), (2, SCOPES)):
        assert {rule[place] for rule in FEW_RULES} == set(known)


@pytest.mark.long
def test_cases_are_as_rich_as_they_should_be():
    joint = [a for _, a, _ in cases("disjoint", "joint")]
    assert max(len({label for _, _, label in a}) for a in joint) == 3
    for scope in SCOPES:
        depths = Counter(
            max(depth for _, depth in oracle.layers(oracle.seen(side, scope)))
            for _, *sides in cases("nested", scope)
            for side in sides
        )
        assert depths[1] >= 5
        assert depths[2] >= 5
        assert depths[3] >= 3, scope
        clusters = [
            cells
            for _, *sides in cases("auto", scope)
            for side in sides
            for cells in clusters_in(side, scope)
        ]
        assert max(map(len, clusters)) >= 4
        assert sum(any(inner for *_, inner in cells) for cells in clusters) >= 3


@every_rule(few=4, some=16, every=70)
def test_every_small_case_against_brute_force(rules, number):
    for measure, model, scope in rules:
        for n, a, b in cases(model, scope, number):
            result = agreement(corpus_of(n, a, b), **options_of(measure, model, scope))
            case = measure, model, scope, n, a, b
            check_expected(result, measure, case)
            check_observed(result, measure, case)


def check_expected(result, measure, case):
    _, model, scope, n, a, b = case
    columns = {"expected": measure}
    if measure == "dice":
        columns |= {"expected_a": "dice of a", "expected_b": "dice of b"}
    for label, score in result.by_label.items():
        for column, name in columns.items():
            exact = oracle.expected(
                n, a, b, scope=scope, model=model, label=label, match=MATCHES[name]
            )
            found = getattr(score, column)
            # Where a span may have several partners, it is estimated.
            slack = 4 * score.error + 1e-14
            assert abs(Fraction(found) - exact) < slack, (case, label)


def check_observed(result, measure, case):
    _, _, scope, _, a, b = case
    one, two = oracle.seen(a, scope), oracle.seen(b, scope)
    match = MATCHES[measure]
    for label, score in result.by_label.items():
        exact = match(oracle.only(one, label), oracle.only(two, label))
        assert abs(Fraction(score.matched) - exact) < 1e-15, (case, label)
    if measure == "dice":
        for side in "ab":
            exact = MATCHES[f"dice of {side}"](one, two)
            found = getattr(result.score, f"matched_{side}")
            assert abs(Fraction(found) - exact) < 1e-14, case


ESTIMATED = [(0.3, "disjoint"), (0, "nested"), (0.2, "overlapping"), (0.2, "auto"), (0.6, "auto")]


@pytest.mark.parametrize(
    ("ways", "number"),
    [
        pytest.param(
            list(zip(ESTIMATED, cycle(SCOPES), strict=False)),
            24,
            marks=pytest.mark.slow,
            id="in turn",
        ),
        pytest.param(list(product(ESTIMATED, SCOPES)), 70, marks=pytest.mark.long, id="every"),
    ],
)
def test_estimates_are_within_their_error(ways, number):
    for (theta, model), scope in ways:
        check_estimates(theta, model, scope, number)


def check_estimates(theta, model, scope, number):
    match = oracle.matched_pairs(Fraction(theta).limit_denominator())
    n_estimated = 0
    for n, a, b in cases(model, scope, number):
        result = agreement(
            corpus_of(n, a, b), measure="iou", theta=theta, model=model, scope=scope, samples=2000
        )
        assert result.settings.samples == (2000 if result.score.error else None)
        for label, score in result.by_label.items():
            one, two = (oracle.only(oracle.seen(side, scope), label) for side in (a, b))
            assert score.matched == match(one, two)
            exact = oracle.expected(n, a, b, scope=scope, model=model, label=label, match=match)
            n_estimated += 0 < exact < min(len(one), len(two)) and score.error > 0
            assert abs(score.expected - exact) <= 4 * score.error + 1e-12, (n, a, b, label)
    assert n_estimated >= (number // 7 if theta < 0.5 else number // 70), (theta, model, scope)


def test_one_to_one_pairs_are_exact_where_no_span_has_two_partners():
    # A span of 2 inside one of 8 has a quarter of its length; one of 3 has more.
    for inner, is_exact in ((2, True), (3, False)):
        a = ((0, 8, "P"), (0, inner, "P"))
        result = agreement(corpus_of(10, a, ((0, 8, "P"),)), measure="iou")
        assert (result.score.error == 0) is is_exact
        exact = oracle.expected(
            10, a, ((0, 8, "P"),), scope="label", model="auto", label="P", match=MATCHES["iou"]
        )
        assert abs(result.score.expected - exact) <= 4 * result.score.error + 1e-14


# --- Where chance is 1, and where it has no freedom ---------------------------


@cache
def dense_cases(model, scope, how_many):
    """Pairs of annotations that fill most of a very small text."""
    rng = np.random.default_rng([2, PLACEMENTS.index(model), list(SCOPES).index(scope)])
    found = []
    while len(found) < how_many:
        n = int(rng.integers(1, 5))
        a, b = (drawn(rng, n, model, scope, 3) for _ in range(2))
        filled = min(sum(e - s for s, e, _ in oracle.seen(side, scope)) for side in (a, b))
        ways = [len(oracle.shuffled(n, side, scope, model)) for side in (a, b)]
        if filled >= n - 1 and ways[0] * ways[1] <= 600:
            found.append((n, a, b))
    return found


def size_of(measure, spans):
    if measure in {"token", "custom"}:
        return sum(e - s for s, e, _ in spans)
    return len(spans) * (2 if measure == "boundary" else 1)


@every_rule(few=5, some=25, every=150)
def test_chance_is_1_or_fixed_where_every_arrangement_says_so(rules, number):
    total = Counter()
    for measure, model, scope in rules:
        seen = chance_of_dense_cases(measure, model, scope, number)
        total += seen
        if number == 150:
            if measure != "custom":
                for side in ("both", "a", "b"):
                    assert seen[side, True] >= 3, (side, seen)
                    assert seen[side, False] >= 10
            assert min(seen["fixed", True, False], seen["fixed", False, False]) >= 3
    for key in product(("both", "a", "b"), (True, False)):
        assert total[key] >= 3, key
    assert min(total["fixed", True, False], total["fixed", False, False]) >= 3


def chance_of_dense_cases(measure, model, scope, number):
    """How often chance is 1 and has no freedom, which is checked case by case."""
    names = [measure] * 3 if measure != "dice" else ["dice", "dice of a", "dice of b"]
    matches = [MATCHES[name] for name in names]
    seen = Counter()
    for n, a, b in dense_cases(model, scope, number):
        result = agreement(corpus_of(n, a, b), **options_of(measure, model, scope))
        for label, score in result.by_label.items():
            one, two = (oracle.only(oracle.seen(side, scope), label) for side in (a, b))
            if not one or not two:
                assert not score.certain
                assert score.fixed
                continue
            sizes = [size_of(measure, side) for side in (one, two)]
            limits = [Fraction(sum(sizes), 2), *sizes]
            ways = [oracle.shuffled(n, side, scope, model) for side in (a, b)]
            values = [
                [match(oracle.only(x, label), oracle.only(y, label)) for match in matches]
                for x, y in product(*ways)
            ]
            wholly = [all(value[i] == limit for value in values) for i, limit in enumerate(limits)]
            found = [score.certain, score.certain_a, score.certain_b]
            case = measure, model, scope, n, a, b, label
            assert found == wholly or measure == "custom", case
            is_fixed = len({value[0] for value in values}) == 1
            assert score.fixed == is_fixed, case
            seen.update(zip(("both", "a", "b"), wholly, strict=True))
            seen["fixed", is_fixed, values[0][0] not in {0, min(sizes)}] += 1
    return seen


# --- One text, spans inside spans ---------------------------------------------


def nested_texts(number):
    """Small texts with the lengths and the parents of spans, in shuffled order."""
    rng = np.random.default_rng(3)
    for n, *sides in cases("nested", "unlabelled", number):
        for side in sides:
            line = oracle.seen(side, "unlabelled")
            order = rng.permutation(len(line)).tolist()
            parents = [oracle.around(line, i) for i in order]
            parents = [-1 if p < 0 else order.index(p) for p in parents]
            yield n, side, [oracle.length(line[i]) for i in order], parents, order


@pytest.mark.parametrize("number", [8, pytest.param(30, marks=pytest.mark.slow)])
def test_starts_and_layers_of_nested_spans(number):
    for n, side, lengths, parents, order in nested_texts(number):
        line = oracle.seen(side, "unlabelled")
        starts = [Counter() for _ in line]
        placed = oracle.placed(n, line, "nested")
        for found in placed:
            for i, start in enumerate(found):
                starts[i][start] += Fraction(1, len(placed))
        found = start_probabilities(n, lengths, model="nested", parents=parents)
        for i, places in zip(order, found, strict=True):
            assert len(places) == n - oracle.length(line[i]) + 1
            for x, p in enumerate(places.tolist()):
                assert abs(Fraction(p) - starts[i][x]) < 1e-15
        for layer in range(1, 6):
            held = [Fraction(0)] * n
            for spans, p in oracle.shuffled(n, side, "unlabelled", "nested").items():
                for t, count in enumerate(
                    Counter(t for s, e, _ in spans for t in range(s, e)).get(t, 0) for t in range(n)
                ):
                    held[t] += p * (count >= layer)
            cover = coverage(n, lengths, model="nested", parents=parents, layer=layer)
            for t in range(n):
                assert abs(Fraction(float(cover[t])) - held[t]) < 1e-15


@pytest.mark.slow
def test_nested_arrangements_are_drawn_alike():
    # A span of 3 with one of 1 inside, and one of 1 beside it, in five: 6 * 3 ways.
    starts = sample_arrangements(
        5, [1, 3, 1], size=36_000, model="nested", parents=[1, -1, -1], seed=5
    )
    seen = Counter(map(tuple, starts.tolist()))
    assert len(seen) == 18
    assert all(s[1] <= s[0] < s[1] + 3 for s in seen)
    statistic = sum((count - 2000) ** 2 / 2000 for count in seen.values())
    assert abs(statistic - 17) < 5 * np.sqrt(2 * 17)


@pytest.mark.slow
def test_expected_match_of_nested_spans():
    n_deep = 0
    for (n, a, b), measure in zip(cases("nested", "unlabelled", 24), cycle(MEASURES), strict=False):
        texts = []
        for side in (a, b):
            line = oracle.seen(side, "unlabelled")
            texts.append(
                (
                    [oracle.length(s) for s in line],
                    [oracle.around(line, i) for i in range(len(line))],
                )
            )
        (one, parents_a), (two, parents_b) = texts
        found = expected_match(
            n,
            one,
            two,
            measure=measure,
            model="nested",
            parents_a=parents_a,
            parents_b=parents_b,
        )
        exact = agreement(
            corpus_of(n, a, b), measure=measure, model="nested", scope="unlabelled"
        ).score.expected
        assert found == pytest.approx(exact, rel=1e-15, abs=2e-15), measure
        n_deep += max(parents_a) >= 0
    assert n_deep >= 6


# --- Larger texts, by sampling ------------------------------------------------

LARGE = {
    "disjoint": (
        40,
        ((0, 2, "P"), (3, 6, "L"), (8, 15, "P"), (20, 21, "M"), (22, 26, "L")),
        ((0, 2, "P"), (5, 6, "L"), (7, 10, "L"), (20, 27, "P"), (30, 31, "M")),
    ),
    "nested": (
        40,
        ((0, 20, "P"), (1, 6, "P"), (2, 4, "P"), (8, 15, "L"), (9, 11, "P"), (25, 30, "L")),
        ((3, 18, "P"), (3, 9, "P"), (4, 8, "L"), (5, 7, "P"), (20, 33, "L"), (21, 26, "L")),
    ),
    "auto": (
        40,
        ((0, 9, "P"), (3, 12, "P"), (4, 6, "P"), (3, 12, "L"), (20, 27, "L"), (22, 23, "L")),
        ((0, 12, "P"), (5, 14, "L"), (6, 9, "P"), (7, 20, "P"), (25, 30, "L"), (28, 36, "L")),
    ),
    "overlapping": (
        40,
        ((0, 9, "P"), (3, 12, "P"), (3, 12, "L"), (20, 27, "L")),
        ((0, 12, "P"), (5, 14, "L"), (6, 9, "P"), (7, 20, "P")),
    ),
}


@every_rule(few=60, some=250, every=1500)
def test_larger_texts_against_sampling(rules, number):
    for measure, model, scope in rules:
        n, a, b = LARGE[model]
        match = MATCHES[measure]
        rng = np.random.default_rng(11)
        values = []
        for _ in range(number):
            one, two = (
                tuple(
                    span
                    for line in oracle.lines(oracle.seen(side, scope), scope)
                    for span in oracle.thrown(n, line, model, rng)
                )
                for side in (a, b)
            )
            labels = {label for _, _, label in one}
            values.append(
                float(sum(match(oracle.only(one, k), oracle.only(two, k)) for k in labels))
            )
        result = agreement(corpus_of(n, a, b), **options_of(measure, model, scope))
        error = np.hypot(np.std(values) / np.sqrt(number), result.score.error)
        assert error > 0
        assert abs(np.mean(values) - result.score.expected) < 4 * error, (measure, model, scope)


# --- Larger texts, by identities ----------------------------------------------

LONG = {
    "tokens": (1250, [2] * 25 + [3] * 15 + [7] * 5, [2] * 20 + [5] * 12 + [7] * 8),
    "characters": (900, [4 + 7 * i % 27 for i in range(11)], [3 + 5 * i % 28 for i in range(13)]),
    "dense": (1000, [10] * 60 + [9] * 30, [10] * 40 + [8] * 60),
}
every_long_text = each(("n", "a", "b"), LONG.values())


@every_long_text
def test_what_only_equal_spans_reach_is_exact(n, a, b):
    # Spans of 30 that differ by one position share 29 of 30 at most.
    close = expected_match(n, a, b, measure="iou", theta=0.99)
    assert close == pytest.approx(expected_match(n, a, b, measure="exact"), rel=1e-12)


@pytest.mark.slow
@every_long_text
def test_positions_are_tokens(n, a, b):
    custom = expected_match(n, a, b, measure=POSITIONS)
    assert custom == pytest.approx(expected_match(n, a, b), rel=1e-12)


def test_asking_a_function_in_blocks_changes_no_bit(monkeypatch):
    n, a, b = LONG["tokens"]
    together = expected_match(n, a, b, measure=SQUARES)
    monkeypatch.setattr(expected_by_pairs, "_MOST_CELLS", 1000)
    assert expected_match(n, a, b, measure=SQUARES) == together


@pytest.mark.slow
@every_long_text
def test_close_spans_as_a_function(n, a, b):
    def close(start_a, length_a, start_b, length_b):
        shared = positions(start_a, length_a, start_b, length_b)
        return shared / (length_a + length_b - shared) > 0.6

    custom = CustomMeasure(name="close", phi=close, size=np.ones_like)
    found = expected_match(n, a, b, measure=custom)
    assert expected_match(n, a, b, measure="iou", theta=0.6) == pytest.approx(found, rel=1e-12)


@pytest.mark.slow
@every_long_text
def test_parts_as_a_function(n, a, b):
    def part(start_a, length_a, start_b, length_b):
        return 2 * positions(start_a, length_a, start_b, length_b) / (length_a + length_b)

    custom = CustomMeasure(name="part", phi=part, size=np.ones_like)
    found = expected_match(n, a, b, measure=custom)
    assert expected_match(n, a, b, measure="dice") == pytest.approx(found, rel=1e-12)


@pytest.mark.slow
@every_long_text
def test_boundaries_as_a_function(n, a, b):
    def boundaries(start_a, length_a, start_b, length_b):
        return 1.0 * (start_a == start_b) + (start_a + length_a == start_b + length_b)

    custom = CustomMeasure(name="boundaries", phi=boundaries, size=lambda length: 2 * length)
    found = expected_match(n, a, b, measure="boundary")
    # A span that meets another from outside shares no position, and no boundary either.
    assert found == pytest.approx(expected_match(n, a, b, measure=custom), rel=1e-12)


@every_long_text
def test_labels_of_one_line_add_up_to_the_line(n, a, b):
    del b
    lengths = np.array(a)
    labels = np.arange(len(a)) % 3
    zero = np.zeros_like(lengths)
    structure = nested_structure(zero, lengths, labels, parent=zero - 1, depth=zero + 1)
    sets, number = sets_of(np.array([n]), structure, layers_of)
    parts = coverage_of(sets, layers_in(sets), number).profiles
    total = sum(parts.expand(i) for i in range(3))
    np.testing.assert_allclose(total, coverage(n, a), rtol=0, atol=2e-13)


@every_long_text
def test_spans_that_fill_the_one_around_them_are_where_that_is(n, a, b):
    # Each span of a holds one as long as itself: the layers are alike.
    k = len(a)
    twice, parents = [*a, *a], [-1] * k + list(range(k))
    options = {"model": "nested", "parents": parents}
    np.testing.assert_array_equal(coverage(n, twice, **options, layer=2), coverage(n, a))
    for measure in ("token", "boundary", "dice"):
        found = expected_match(n, twice, b, measure=measure, model="nested", parents_a=parents)
        # But for the order in which pairs of spans are added up.
        assert found == pytest.approx(expected_match(n, a, b, measure=measure), rel=2e-14)


@every_long_text
def test_inner_spans_cover_what_they_should(n, a, b):
    # Inside the spans of a, spans of half their length: the layer covers half as much.
    del b
    lengths = [*a, *(length // 2 for length in a)]
    parents = [-1] * len(a) + list(range(len(a)))
    inner = coverage(n, lengths, model="nested", parents=parents, layer=2)
    assert inner.sum() == pytest.approx(sum(length // 2 for length in a), rel=1e-12)
    assert np.all(inner <= coverage(n, a) + 1e-13)
    np.testing.assert_allclose(inner, inner[::-1], rtol=0, atol=1e-14)


def test_a_long_span_with_spans_inside():
    # A chapter of 60,000 characters in a book of 1,000,000, with names inside.
    n, chapter, names = 1_000_000, 60_000, [5] * 200 + [12] * 100
    parents = [-1] + [0] * 300
    starts = start_probabilities(n, [chapter, *names], model="nested", parents=parents)
    assert len(starts[1]) == n - 4
    assert starts[1].sum() == pytest.approx(1, abs=1e-9)
    # In the middle every place is as likely as the chapter's.
    assert starts[1][n // 2] == pytest.approx(1 / (n - chapter + 1), rel=1e-9)
    cover = coverage(n, [chapter, *names], model="nested", parents=parents, layer=2)
    assert cover.sum() == pytest.approx(200 * 5 + 100 * 12, rel=1e-9)
    # The first position needs the chapter and a name to begin there.
    first = coverage(chapter, names)[0] / (n - chapter + 1)
    assert cover[0] == pytest.approx(first, rel=1e-6)
