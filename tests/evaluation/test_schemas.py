"""The four schemas, beside nervaluate and beside all ways to pair."""

import random
from itertools import pairwise, permutations, product
from math import isnan
from typing import NamedTuple

import numpy as np
import pytest
from hypothesis import given, strategies as st
from nervaluate import Evaluator

import beyondchance as bc
from beyondchance.evaluation.schemas import best_pairs
from beyondchance.metrics import schema_scores
from refusals import refused

SCHEMAS = ("strict", "exact", "partial", "ent_type")
FIELDS = (
    *("correct", "incorrect", "partial", "missed", "spurious", "possible", "actual"),
    *("precision", "recall", "f1"),
)


def entity(start, end, label="A"):
    """An entity as nervaluate has it: the position `end` is part of it."""
    return {"start": start, "end": end, "label": label}


def theirs(true, found, loader="dict", **options):
    result = Evaluator(true, found, tags=["A", "B", "C"], loader=loader, **options).evaluate()
    return {
        "overall": plain(result["overall"]),
        "entities": {label: plain(schemas) for label, schemas in result["entities"].items()},
    }


def plain(schemas):
    return {name: {f: getattr(schemas[name], f) for f in FIELDS} for name in SCHEMAS}


def ours(true, found, **options):
    def counts(schemas):
        return {name: {f: schemas[name][f] for f in FIELDS} for name in SCHEMAS}

    result = schema_scores(true, found, **options)
    return {
        "overall": counts(result["overall"]),
        "entities": {label: counts(schemas) for label, schemas in result["entities"].items()},
    }


def apart(rng, n):
    """Entities of a text of n tokens that do not overlap."""
    found, place = [], 0
    while place < n:
        if rng.random() < 0.5:
            end = min(n - 1, place + rng.randint(0, 3))
            found.append(entity(place, end, rng.choice("ABC")))
            place = end
        place += 1
    return found


def anywhere(rng, n):
    starts = [rng.randint(0, n - 1) for _ in range(rng.randint(0, 4))]
    return [entity(start, start + rng.randint(0, 4), rng.choice("AB")) for start in starts]


def tags(rng, n):
    return [rng.choice(["O", "B-A", "I-A", "B-B", "I-B", "B-C", "I-C"]) for _ in range(n)]


def cases(make, number, seed):
    rng = random.Random(seed)  # noqa: S311 - the same on every run
    for _ in range(number):
        sizes = [rng.randint(1, 12) for _ in range(rng.randint(1, 3))]
        yield tuple([make(rng, n) for n in sizes] for _ in range(2))


# The table of nervaluate's documentation: a gold and a predicted entity, and what each schema
# makes of them.
TABLE = [
    ([entity(0, 0)], [], "missed missed missed missed"),
    ([], [entity(0, 0)], "spurious spurious spurious spurious"),
    ([entity(1, 1)], [entity(0, 1)], "incorrect incorrect partial correct"),
    ([entity(0, 0)], [entity(0, 0, "B")], "incorrect correct correct incorrect"),
    ([entity(0, 0)], [entity(0, 0)], "correct correct correct correct"),
    ([entity(1, 1)], [entity(0, 1, "B")], "incorrect incorrect partial incorrect"),
]


def test_the_table_of_definitions():
    for true, found, kinds in TABLE:
        scores = ours([true], [found])["overall"]
        for schema, kind in zip(SCHEMAS, kinds.split(), strict=True):
            assert scores[schema][kind] == 1, (true, found, schema)
            assert sum(scores[schema][name] for name in FIELDS[:5]) == 1, (true, found, schema)


def test_all_rows_of_the_table_together():
    true, found = ([row[side] for row in TABLE] for side in range(2))
    scores = ours(true, found)["overall"]
    # correct, incorrect, partial, missed, spurious
    expected = {
        "strict": (1, 3, 0, 1, 1),
        "exact": (2, 2, 0, 1, 1),
        "partial": (2, 0, 2, 1, 1),
        "ent_type": (2, 2, 0, 1, 1),
    }
    for schema, numbers in expected.items():
        assert tuple(scores[schema][name] for name in FIELDS[:5]) == numbers
        assert scores[schema]["possible"] == scores[schema]["actual"] == 5
    assert scores["partial"]["precision"] == (2 + 2 / 2) / 5


@pytest.mark.parametrize(
    ("make", "loader", "number", "seed"),
    [
        (tags, "list", 12, "few"),
        (apart, "dict", 60, "few"),
        pytest.param(tags, "list", 120, "list", marks=pytest.mark.slow),
        pytest.param(apart, "dict", 500, "dict", marks=pytest.mark.slow),
        pytest.param(tags, "list", 3000, "list", marks=pytest.mark.long),
    ],
)
def test_equal_to_nervaluate_where_entities_do_not_overlap(make, loader, number, seed):
    n_equal = n_better = 0
    for true, found in cases(make, number, seed):
        mine, other = ours(true, found), theirs(true, found, loader)
        assert mine["entities"].keys() == other["entities"].keys()
        pairs = [(mine["overall"], other["overall"])]
        pairs += [(mine["entities"][label], other["entities"][label]) for label in mine["entities"]]
        for one, two in pairs:
            for schema in ("strict", "exact", "partial"):
                assert one[schema] == two[schema], (true, found)
            # Where an entity is taken by a worse partner that comes first, theirs has fewer.
            if one["ent_type"] == two["ent_type"]:
                n_equal += 1
            else:
                n_better += 1
                assert is_more(one["ent_type"], two["ent_type"]), (true, found)
    assert n_equal > 20 * n_better
    assert n_better or number <= 100


def is_more(one, two):
    """Whether there are more correct pairs, or as many and more pairs."""
    paired = [(c["correct"], c["incorrect"] + c["partial"]) for c in (one, two)]
    return paired[0] > paired[1]


@pytest.mark.parametrize("number", [100, pytest.param(600, marks=pytest.mark.slow)])
def test_never_less_than_nervaluate_where_entities_overlap(number):
    n_equal = n_better = 0
    for true, found in cases(anywhere, number, seed="anywhere"):
        mine, other = ours(true, found)["overall"], theirs(true, found)["overall"]
        for schema in SCHEMAS:
            if mine[schema] == other[schema]:
                n_equal += 1
            else:
                n_better += 1
                assert is_more(mine[schema], other[schema])
    assert n_equal > 5 * n_better > 0


@pytest.mark.parametrize("make", [apart, anywhere])
def test_counts_do_not_depend_on_the_order(make):
    rng = random.Random(3)  # noqa: S311 - the same on every run
    for true, found in cases(make, 30, seed="order"):
        shuffled = [[rng.sample(text, len(text)) for text in side] for side in (true, found)]
        assert ours(*shuffled) == ours(true, found)


def best_of_all_pairings(true, found, is_correct):
    """The most correct pairs, and then the most pairs, of every way to pair them."""
    padded = [*range(len(found)), *[None] * len(true)]
    best = (0, 0)
    for partners in set(permutations(padded, len(true))):
        correct = other = 0
        for one, j in zip(true, partners, strict=True):
            two = None if j is None else found[j]
            if two is not None and max(one["start"], two["start"]) <= min(one["end"], two["end"]):
                correct, other = (
                    (correct + 1, other) if is_correct(one, two) else (correct, other + 1)
                )
        best = max(best, (correct, other))
    return best


def test_pairs_are_the_best_of_all_pairings():
    rules = {
        "strict": lambda one, two: one == two,
        "exact": lambda one, two: (one["start"], one["end"]) == (two["start"], two["end"]),
        "ent_type": lambda one, two: one["label"] == two["label"],
    }
    rng = random.Random(8)  # noqa: S311 - the same on every run
    for _ in range(40):
        true, found = anywhere(rng, 6)[:3], anywhere(rng, 6)[:3]
        scores = ours([true], [found])["overall"]
        for schema, rule in rules.items():
            pairs = best_of_all_pairings(true, found, rule)
            assert (scores[schema]["correct"], scores[schema]["incorrect"]) == pairs
        pairs = best_of_all_pairings(true, found, rules["exact"])
        assert (scores["partial"]["correct"], scores["partial"]["partial"]) == pairs


# --- Where nervaluate differs: one example of each, as docs/howto/habits.md lists them ---


def test_an_entity_taken_by_a_wrong_type_that_comes_first():
    true, found = [[entity(0, 3, "A")]], [[entity(0, 1, "B"), entity(2, 3, "A")]]
    assert theirs(true, found)["overall"]["ent_type"]["correct"] == 0
    assert theirs(true, [found[0][::-1]])["overall"]["ent_type"]["correct"] == 1
    assert ours(true, found)["overall"]["ent_type"]["correct"] == 1


def test_an_entity_taken_because_it_is_closer():
    # The first predicted entity is closer to the second true one, which the second one needs.
    true, found = [[entity(0, 1), entity(2, 5)]], [[entity(1, 4), entity(5, 6)]]
    assert theirs(true, found)["overall"]["ent_type"]["correct"] == 1
    assert ours(true, found)["overall"]["ent_type"]["correct"] == 2


def test_an_equal_entity_taken_by_one_that_overlaps():
    true, found = [[entity(0, 3)]], [[entity(0, 1), entity(0, 3)]]
    for schema in ("strict", "exact", "partial"):
        assert theirs(true, found)["overall"][schema]["correct"] == 0
        assert theirs(true, [found[0][::-1]])["overall"][schema]["correct"] == 1
        assert ours(true, found)["overall"][schema]["correct"] == 1


def test_a_short_overlap_with_a_long_entity():
    true, found = [[entity(0, 199)]], [[entity(0, 0)]]
    assert theirs(true, found)["overall"]["partial"]["partial"] == 0
    assert ours(true, found)["overall"]["partial"]["partial"] == 1
    assert ours(true, found, min_overlap_percentage=1) == theirs(true, found)


def test_offsets_of_characters_whose_ends_are_exclusive():
    # "Oslo" and ", see" touch in a text, and share no character.
    true, found = [[entity(0, 4)]], [[entity(4, 9)]]
    assert theirs(true, found)["overall"]["partial"]["partial"] == 1
    assert ours(true, found)["overall"]["partial"]["partial"] == 1
    assert ours(true, found, ends="exclusive")["overall"]["partial"]["spurious"] == 1


def test_tags_of_other_schemes():
    true = [["B-A", "E-A", "S-A"]]
    assert theirs(true, true, "list")["overall"]["strict"]["correct"] == 1
    assert ours(true, true)["overall"]["strict"]["correct"] == 2


def test_a_first_text_without_entities():
    with pytest.raises(IndexError):
        theirs([[], [entity(0, 1)]], [[], [entity(0, 1)]], "default")
    assert ours([[], [entity(0, 1)]], [[], [entity(0, 1)]])["overall"]["strict"]["correct"] == 1


def test_minimal_overlap():
    for true, found in cases(apart, 25, seed="overlap"):
        for least in (1, 50, 66.0, 100):
            mine = ours(true, found, min_overlap_percentage=least)
            other = theirs(true, found, min_overlap_percentage=least)
            for schema in ("strict", "exact", "partial"):
                assert mine["overall"][schema] == other["overall"][schema]


# --- Data ---------------------------------------------------------------------


def test_lines_of_tokens_and_tags():
    true, found = [["O", "B-A", "I-A"], ["B-B"]], [["O", "B-A", "O"], ["B-A"]]

    def lines(texts):
        return "\n\n".join("\n".join(f"word\t{tag}" for tag in text) for text in texts) + "\n\n"

    expected = ours(true, found)
    assert ours(lines(true), lines(found)) == expected
    assert ours(lines(true).replace("\n", "\r\n"), lines(found)) == expected
    assert theirs(lines(true), lines(found), "conll") == expected


def test_labels():
    true, found = [[entity(0, 1), entity(3, 3, "B")]], [[entity(0, 1), entity(3, 3, "A")]]
    scores = ours(true, found, labels=["A"])
    assert list(scores["entities"]) == ["A"]
    assert scores["overall"]["strict"]["spurious"] == 1
    assert scores["overall"] == scores["entities"]["A"]


def test_nothing():
    scores = schema_scores([[]], [[]])
    assert scores["entities"] == {}
    assert scores["overall"]["strict"]["f1"] == 0
    assert isnan(scores["overall"]["strict"]["corrected"])
    assert schema_scores([], [])["overall"]["exact"]["possible"] == 0


def test_bad_data():
    none, one = [["O"]], [[entity(0, 9)]]
    cases = [
        (3, [[]], {}, bc.DataError, "true is 3 … list"),
        ([3], [[]], {}, bc.DataError, "true … text 0 … 3"),
        (none, [["O"], []], {}, bc.MismatchError, "1 … 2 … texts"),
        (none, [["O", "O"]], {}, bc.MismatchError, "1 … 2 … tokens"),
        ([["X-A"]], none, {}, bc.TagError, "'X-A' … scheme"),
        ([[{"start": 0}]], [[]], {}, bc.SpanError, "true, text 0, entity 0 … end … label"),
        ([[entity(0.5, 1)]], [[]], {}, bc.SpanError, "0.5 … whole numbers"),
        ([[entity(0, 1, " A")]], [[]], {}, bc.SpanError, "true, text 0, entity 0 … ' A' … label"),
        ([[entity(2, 1)]], [[]], {}, bc.SpanError, "2 … 1"),
        ([[entity(0, 0)]], [[]], {"ends": "exclusive"}, bc.SpanError, "entity 0 … at 0"),
        ([[entity(0, 0)]], none, {}, bc.SpanError, "predicted, text 0, entity 0 … 'O'"),
        (one, [[]], {"lengths": [5]}, bc.SpanError, "[0, 10) … 5"),
        (one, [[]], {"lengths": [5, 5]}, bc.MismatchError, "2 … lengths … 1"),
        (one, [[]], {"lengths": "ab"}, bc.DataError, "lengths … 'ab'"),
        (none, none, {"lengths": [1]}, bc.OptionError, "lengths … entities"),
        (none, none, {"ends": "open"}, bc.OptionError, "ends … 'open' … exclusive"),
        (none, none, {"labels": "PER"}, bc.DataError, "labels … 'PER' … list"),
        (none, none, {"min_overlap_percentage": 101}, bc.OptionError, "101 … 100"),
        ("word O", "word O", {}, bc.DataError, "line 1 … 'word O' … tab"),
    ]
    for true, found, options, error, told in cases:
        with refused(error, told):
            schema_scores(true, found, **options)


# --- Beyond chance ------------------------------------------------------------


def arrangements(n, lengths):
    """Starts of spans that do not overlap, in every way there is."""
    for starts in product(*(range(n - length + 1) for length in lengths)):
        spans = sorted(zip(starts, lengths, strict=True))
        if all(start + length <= after for (start, length), (after, _) in pairwise(spans)):
            yield starts


def mean_correct(schema, n, true, found):
    """The correct entities of all arrangements of both sides, on average."""
    every = []
    for starts in arrangements(n, [length for length, _ in true]):
        for others in arrangements(n, [length for length, _ in found]):
            sides = [
                [
                    entity(s, s + length - 1, label)
                    for s, (length, label) in zip(at, side, strict=True)
                ]
                for at, side in ((starts, true), (others, found))
            ]
            every.append(schema_scores([sides[0]], [sides[1]])["overall"][schema]["correct"])
    return sum(every) / len(every)


@pytest.mark.slow
def test_chance_is_the_mean_of_all_arrangements():
    n = 5
    true, found = [(2, "A"), (1, "A"), (1, "B")], [(1, "A"), (2, "B")]
    given = [[[entity(0, 1), entity(2, 2), entity(4, 4, "B")]], [[entity(4, 4), entity(1, 2, "B")]]]
    scores = schema_scores(*given, lengths=[n])
    mean_size = (len(true) + len(found)) / 2
    expected = mean_correct("exact", n, true, found)
    assert scores["overall"]["exact"]["chance"] == pytest.approx(expected / mean_size)
    # Labels are placed one by one.
    expected = 0
    for label in "AB":
        own = [[span for span in side if span[1] == label] for side in (true, found)]
        mean = mean_correct("strict", n, *own)
        size = sum(map(len, own)) / 2
        assert scores["entities"][label]["strict"]["chance"] == pytest.approx(mean / size)
        expected += mean
    assert scores["overall"]["strict"]["chance"] == pytest.approx(expected / mean_size)
    for schema in ("strict", "exact"):
        counts = scores["overall"][schema]
        beyond = (counts["f1"] - counts["chance"]) / (1 - counts["chance"])
        assert counts["corrected"] == pytest.approx(beyond)


def test_chance_of_tags_is_that_of_agreement():
    for true, found in cases(tags, 5, seed="chance"):
        scores = schema_scores(true, found)
        for schema, scope in (("strict", "label"), ("exact", "unlabelled")):
            result = bc.agreement(true, found, measure="exact", scope=scope)
            counts = scores["overall"][schema]
            assert counts["f1"] == pytest.approx(result.observed if counts["possible"] else 0)
            assert counts["chance"] == pytest.approx(result.chance, nan_ok=True)
            assert counts["corrected"] == pytest.approx(result.corrected, nan_ok=True)


def test_other_schemas_have_no_chance_and_entities_need_lengths():
    scores = schema_scores([[entity(0, 1)]], [[entity(0, 1)]])["overall"]
    assert isnan(scores["strict"]["chance"])
    assert isnan(scores["exact"]["corrected"])
    assert "chance" not in scores["partial"]
    assert "corrected" not in scores["ent_type"]


class Edge(NamedTuple):
    true: int
    predicted: int
    is_correct: bool


def paired(edges):
    if not edges:
        return []
    columns = np.array(edges, dtype=np.int64).T
    return [edges[i] for i in best_pairs(columns[0], columns[1], columns[2] > 0).tolist()]


EDGES = st.lists(
    st.builds(Edge, st.integers(0, 4), st.integers(0, 4), st.booleans()),
    max_size=10,
    unique_by=lambda edge: (edge.true, edge.predicted),
)


def most(edges):
    """Correct pairs and others of the best of all choices, one edge after the other."""
    if not edges:
        return (0, 0)
    first, *rest = edges
    free = [e for e in rest if e.true != first.true and e.predicted != first.predicted]
    correct, other = most(free)
    return max(most(rest), (correct + first.is_correct, other + (not first.is_correct)))


@given(EDGES)
def test_no_choice_has_more_correct_pairs_or_more_pairs(edges):
    pairs = paired(edges)
    assert set(pairs) <= set(edges)
    assert len({edge.true for edge in pairs}) == len(pairs)
    assert len({edge.predicted for edge in pairs}) == len(pairs)
    n_correct = sum(edge.is_correct for edge in pairs)
    assert (n_correct, len(pairs) - n_correct) == most(edges)


@given(EDGES, st.randoms())
def test_the_order_makes_no_difference(edges, rng):
    shuffled = rng.sample(edges, len(edges))
    one, two = paired(edges), paired(shuffled)
    assert len(one) == len(two)
    assert sum(e.is_correct for e in one) == sum(e.is_correct for e in two)


def test_partners_change_where_that_adds_a_pair():
    # The first predicted entity can have either true one, the second only the first.
    edges = [Edge(0, 0, True), Edge(1, 0, True), Edge(0, 1, True)]
    assert len(paired(edges)) == 2
