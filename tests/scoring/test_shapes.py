"""Chance of annotators who see the shapes of words."""

from __future__ import annotations

from fractions import Fraction
from itertools import combinations, permutations, product
from zlib import crc32

import numpy as np
import pytest

import beyondchance as bc
from beyondchance.errors import DataError, OptionError, OverlapError
from beyondchance.scoring.shapes import shape_of
from refusals import refused

WORDS = [
    ["Ada", "met", "Bo", "in", "Oslo", "."],
    ["NATO", ",", "founded", "1949", "."],
    ["She", "left", "Rome", "for", "UNO", "."],
]
ADA = [
    ["B-P", "O", "B-P", "O", "B-L", "O"],
    ["B-O", "O", "O", "O", "O"],
    ["O", "O", "B-L", "O", "B-O", "O"],
]
BEN = [
    ["B-P", "I-P", "O", "O", "B-L", "O"],
    ["B-O", "O", "O", "B-L", "O"],
    ["B-P", "O", "B-L", "O", "B-O", "I-O"],
]


def corpus():
    return bc.Corpus.from_tags({"ada": ADA, "ben": BEN}, tokens=WORDS)


def spans_of(found, text, annotator):
    own = (found.span_text == text) & (found.span_annotator == annotator)
    columns = found.span_label[own], found.span_start[own], found.span_end[own]
    return [(int(label), int(start), int(end)) for label, start, end in zip(*columns, strict=True)]


def shape(word, place):
    name = shape_of(word)
    return "first" if name == 4 and place == 0 else name


def odds(found, text, annotator, labels):
    """Odds of each shape inside spans, in the other texts, each a document; by plain counting."""
    inside, words = {}, {}
    for other in range(len(WORDS)):
        if other == text:
            continue
        covered = {
            x
            for label, start, end in spans_of(found, other, annotator)
            if label in labels
            for x in range(start, end)
        }
        for place, word in enumerate(WORDS[other]):
            key = shape(word, place)
            words[key] = words.get(key, 0) + 1
            inside[key] = inside.get(key, 0) + (place in covered)
    half = Fraction(1, 2)
    return lambda key: (inside.get(key, 0) + half) / (words.get(key, 0) - inside.get(key, 0) + half)


def arrangements(found, text, annotator, scope):
    """All arrangements of an annotator's spans, with the weight of each."""
    n = len(WORDS[text])
    marked = spans_of(found, text, annotator)
    by_label = {}
    for label, start, end in marked:
        by_label.setdefault(label if scope == "label" else 0, []).append((label, end - start))
    labels = range(len(found.labels)) if scope == "unlabelled" else None
    for line in by_label.values():
        yield [
            (weight, placed)
            for starts in product(range(n), repeat=len(line))
            if (placed := _placed(line, starts, n)) is not None
            for weight in [_weight(found, text, annotator, placed, labels)]
        ]


def _placed(line, starts, n):
    placed = [(label, s, s + size) for (label, size), s in zip(line, starts, strict=True)]
    covered = [x for _, start, end in placed for x in range(start, end)]
    return None if len(set(covered)) < len(covered) or max(covered) >= n else placed


def _weight(found, text, annotator, placed, labels):
    weight = Fraction(1)
    for label, start, end in placed:
        own = odds(found, text, annotator, labels or [label])
        for x in range(start, end):
            weight *= own(shape(WORDS[text][x], x))
    return weight


def match(measure, one, two, scope):
    def parts(placed):
        for name, start, end in placed:
            label = 0 if scope == "unlabelled" else name
            if measure == "token":
                yield from ((label, x) for x in range(start, end))
            elif measure == "exact":
                yield label, start, end
            else:
                yield from ((label, "start", start), (label, "end", end))

    return len(set(parts(one)) & set(parts(two)))


@pytest.mark.parametrize("measure", ["token", "exact", "boundary"])
@pytest.mark.parametrize("scope", ["label", "joint", "unlabelled"])
def test_all_arrangements(measure, scope):
    found = corpus()
    expected = Fraction(0)
    for text in range(len(WORDS)):
        sides = [list(arrangements(found, text, who, scope)) for who in (0, 1)]
        for line, other in product(*sides):
            whole = sum(w for w, _ in line) * sum(w for w, _ in other)
            expected += (
                sum(v * w * match(measure, one, two, scope) for v, one in line for w, two in other)
                / whole
            )
    result = bc.agreement(found, measure=measure, scope=scope, chance="shapes")
    assert result.score.expected == pytest.approx(float(expected), abs=1e-13)
    plain = bc.agreement(found, measure=measure, scope=scope)
    assert result.observed == plain.observed
    assert result.settings == plain.settings.replaced(chance="shapes-1")


def test_words_of_one_shape_are_as_uniform():
    tokens = [["a"] * len(words) for words in WORDS]
    found = bc.Corpus.from_tags({"ada": ADA, "ben": BEN}, tokens=tokens)
    informed = bc.agreement(found, chance="shapes")
    assert informed.chance == pytest.approx(bc.agreement(found).chance, abs=1e-13)


def test_names_and_order_change_nothing():
    result = bc.agreement(corpus(), chance="shapes")
    swapped = bc.Corpus.from_tags({"x": BEN, "y": ADA}, tokens=WORDS)
    assert bc.agreement(swapped, chance="shapes").score.expected == result.score.expected
    turned = bc.Corpus.from_tags(
        {"ada": ADA[::-1], "ben": BEN[::-1]}, tokens=WORDS[::-1], documents=["3", "2", "1"]
    )
    assert bc.agreement(turned, chance="shapes").score.expected == result.score.expected


def test_every_system_of_a_ranking():
    found = bc.Corpus.from_tags({"gold": ADA, "one": BEN, "two": ADA}, tokens=WORDS)
    ranking = bc.rank(found, gold="gold", chance="shapes")
    assert ranking.ranks("corrected") == {"two": 1, "one": 2}
    alone = bc.agreement(found.select(annotators=["gold", "one"]), gold="gold", chance="shapes")
    assert ranking.systems["one"].score.expected == alone.score.expected


def test_folds_are_by_the_names_of_documents():
    """Of ten documents or more, those of a fold do not count for one another."""
    names = [f"d{i}" for i in range(12)]
    folds = {name: crc32(name.encode()) % 10 for name in names}
    same = next(pair for pair in combinations(names, 2) if folds[pair[0]] == folds[pair[1]])
    rows = [["B-P", "O", "O"] if name in same else ["O", "O", "O"] for name in names]
    words = [["Ada", "a", "a"]] * 12
    found = bc.Corpus.from_tags({"x": rows, "y": rows}, tokens=words, documents=names)
    # Nobody marked a word in the documents of other folds: of either shape, none of so many.
    others = sum(fold != folds[same[0]] for fold in folds.values())
    half = Fraction(1, 2)
    by_hand = [half / (others + half), *[half / (2 * others + half)] * 2]
    share = [odd / sum(by_hand) for odd in by_hand]
    result = bc.agreement(found, chance="shapes")
    assert result.chance == pytest.approx(float(sum(x**2 for x in share)), abs=1e-13)


def test_many_spans_are_approximated_and_said():
    rng = np.random.default_rng(1)
    tags = [[["B-P" if x else "O" for x in rng.random(900) < 0.4] for _ in "ab"] for _ in "xy"]
    words = [[("Ada", "a")[int(x)] for x in rng.random(900) < 0.5] for _ in "ab"]
    found = bc.Corpus.from_tags(dict(zip("xy", tags, strict=True)), tokens=words, unit="document")
    result = bc.agreement(found, chance="shapes")
    assert any("fugacities" in str(note) for note in result.notes)
    assert result.chance == pytest.approx(bc.agreement(found).chance, abs=0.01)


def test_long_spans_that_are_next_to_impossible():
    """Elsewhere spans are of capitals only; here one of two has to be in lower case."""
    size = 60
    marked = ["B-P"] + ["I-P"] * (size - 1)
    words = [["a"] * 3000 + ["Ada"] * size, ["a"] * (size + 1) + ["Ada"] * size]
    tags = [["O"] * 3000 + marked, ["O"] + marked * 2]
    found = bc.Corpus.from_tags({"x": tags, "y": tags}, tokens=words, unit="document")
    result = bc.agreement(found, chance="shapes")
    alone = bc.agreement(found, chance="shapes", measure="exact").by_document
    # All capitals are covered: the second span is fixed, the first at one of two places.
    assert alone[found.documents[1]].expected == pytest.approx(1.5, abs=1e-5)
    assert result.chance < 1
    assert any("fugacities" in str(note) for note in result.notes)


def test_a_text_that_many_spans_fill_leaves_no_freedom():
    rng = np.random.default_rng(2)
    tags = [[f"B-{x}" for x in rng.choice(list("PL"), 400)] for _ in range(4)]
    words = [[("Ada", "a")[int(x)] for x in rng.random(400) < 0.5] for _ in "ab"]
    found = bc.Corpus.from_tags({"x": tags[:2], "y": tags[2:]}, tokens=words)
    result = bc.agreement(found, scope="unlabelled", chance="shapes")
    assert result.chance == pytest.approx(1, abs=1e-9)
    assert np.isnan(result.corrected)


class TestRefused:
    def test_without_words(self):
        with refused(DataError, "texts are not known … tokens="):
            bc.agreement(ADA, BEN, chance="shapes")

    def test_one_document(self):
        with refused(DataError, "one document"):
            bc.agreement(ADA[:1], BEN[:1], tokens=WORDS[:1], chance="shapes")

    def test_other_measures_and_questions(self):
        with refused(OptionError, "shapes … dice"):
            bc.agreement(corpus(), measure="dice", chance="shapes")
        with refused(OptionError, "shapes"):
            bc.difficulty(corpus(), chance="shapes")
        with refused(OptionError, "shapes"):
            bc.count(corpus(), chance="shapes")
        everywhere = bc.Corpus.from_tags({"a": ADA, "b": BEN}, tokens=WORDS, unit="corpus")
        with refused(OptionError, "shapes", use="unit"):
            bc.agreement(everywhere, chance="shapes")

    def test_spans_that_overlap(self):
        spans = [[(0, 2, "P"), (1, 3, "P")], []]
        with refused(OverlapError, "[0, 2) … [1, 3)"):
            bc.agreement(spans, spans, tokens=[["Ada", "B", "c"], ["d"]], chance="shapes")


def test_orders_of_annotators_give_the_same_digits():
    tags = {"a": ADA, "b": BEN, "c": [BEN[0], ADA[1], BEN[2]]}
    values = {
        bc.agreement(
            bc.Corpus.from_tags({name: tags[name] for name in order}, tokens=WORDS),
            chance="shapes",
        ).score.expected
        for order in permutations(tags)
    }
    assert len(values) == 1
