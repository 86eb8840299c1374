"""Random spans in any text of the corpus, against all arrangements in rational arithmetic."""

from collections import Counter
from fractions import Fraction
from functools import cache
from itertools import cycle, product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, strategies as st

import oracle
from beyondchance import (
    Corpus,
    CustomMeasure,
    DataError,
    OptionError,
    OverlapError,
    agreement,
    coefficients,
    difficulty,
    null_distribution,
    rank,
    read,
)
from beyondchance.scoring.options import SCOPES
from each import each
from examples import examples
from refusals import assert_tells, refused

SIZES = (1, 3, 2, 2)
SPANS = {
    "anna": ([(0, 1, "P")], [(0, 1, "L"), (1, 3, "P")], [], [(1, 2, "P")]),
    "ben": ([], [(0, 2, "P")], [(0, 1, "L")], [(0, 1, "P"), (1, 2, "L")]),
    "cleo": ([], [], [(0, 2, "L")], []),
}
SQUARES = CustomMeasure(
    name="squares",
    phi=lambda start_a, length_a, start_b, length_b: (
        (np.minimum(start_a + length_a, start_b + length_b) - np.maximum(start_a, start_b)) ** 2
        / ((1 + np.minimum(start_a, start_b)) * np.maximum(length_a, length_b))
    ),
    size=lambda length: length,
)


def corpus_of(spans=SPANS, sizes=SIZES, **options):
    return Corpus.from_spans(
        {name: list(texts) for name, texts in spans.items()},
        lengths=list(sizes),
        **{"unit": "corpus", **options},
    )


@cache
def placements(name, scope):
    """Every way to place the spans of an annotator, as spans of each text, with its probability."""
    seen = [oracle.seen(tuple(text), scope) for text in SPANS[name]]
    spans = [span for text in seen for span in text]
    lines = oracle.lines(tuple(spans), scope)
    ways = []
    for line in lines:
        lengths = tuple(oracle.length(span) for span in line)
        ways.append(
            [
                [
                    (text, (s, s + a, span[2]))
                    for (text, s), a, span in zip(found, lengths, line, strict=True)
                ]
                for found in oracle.corpus_arrangements(SIZES, lengths)
            ]
        )
    found = Counter()
    for chosen in product(*ways):
        texts = [[] for _ in SIZES]
        for text, span in (item for part in chosen for item in part):
            texts[text].append(span)
        found[tuple(tuple(sorted(text)) for text in texts)] += 1
    return {way: Fraction(times, found.total()) for way, times in found.items()}


@pytest.mark.slow
@each("scope", SCOPES)
@each("measure", ["token", "exact", "boundary", "dice", "iou", "custom"])
def test_every_text_against_brute_force(measure, scope):
    result = agreement(
        corpus_of(), measure=SQUARES if measure == "custom" else measure, scope=scope
    )
    match = oracle.MATCHES[measure]
    counts = result.counts
    for row in range(len(counts)):
        a, b = (counts.annotators[side[row]] for side in (counts.a, counts.b))
        text, label = int(counts.text[row]), counts.labels[counts.label[row]]
        sides = []
        for name in (a, b):
            ways = Counter()
            for way, p in placements(name, scope).items():
                ways[oracle.only(way[text], label)] += p
            sides.append(ways)
        exact = sum(
            (p * q * match(x, y) for x, p in sides[0].items() for y, q in sides[1].items()),
            Fraction(0),
        )
        assert abs(Fraction(float(counts.expected[row])) - exact) < 1e-14, (a, b, text, label)
    assert len(counts) == 3 * len(SIZES) * len(counts.labels)


def test_one_text_is_the_unit_document():
    spans = {"a": ([(0, 2, "P"), (5, 6, "P")],), "b": ([(1, 3, "P")],)}
    for measure in ("token", "exact", "boundary", "dice", "iou"):
        wide, own = (
            agreement(corpus_of(spans, (9,), unit=unit), measure=measure)
            for unit in ("corpus", "document")
        )
        assert wide.chance == pytest.approx(own.chance, abs=1e-14)
        assert wide.observed == own.observed


@examples(40)
@given(st.data())
def test_one_token_texts_are_token_kappa(data):
    # One label against the rest, tokens shuffled over all texts: Cohen's kappa.
    n = data.draw(st.integers(2, 40))
    tags = [
        [
            ["B-P"] if x else ["O"]
            for x in data.draw(st.lists(st.booleans(), min_size=n, max_size=n))
        ]
        for _ in range(2)
    ]
    corpus = Corpus.from_tags({"a": tags[0], "b": tags[1]}, unit="corpus")
    result = agreement(corpus)
    kappa = coefficients(corpus, which="kappa").values["kappa"].value
    if isnan(result.corrected):
        assert isnan(kappa) or result.reason
    else:
        assert result.corrected == pytest.approx(kappa, abs=1e-12)


def test_documents_and_fields_have_no_chance_of_their_own():
    result = agreement(corpus_of())
    score = result.by_document["1"]
    assert score.observed == 2 * score.matched / (score.size_a + score.size_b)
    assert isnan(score.chance)
    assert isnan(score.corrected)
    assert "whole corpus" in score.reason
    assert result.settings.unit == "corpus"
    assert result.n_documents == 4
    assert not isnan(result.by_label["P"].corrected)
    assert not isnan(result.by_pair["anna", "ben"].corrected)
    found = difficulty(corpus_of())
    assert 0 < found.overall < 1
    assert all(map(isnan, found.by_document.values()))
    assert 0 <= found.by_label["P"] <= 1


def test_full_texts_leave_no_freedom():
    spans = {"a": ([(0, 2, "P")], [(0, 1, "P")]), "b": ([(0, 1, "P")], [])}
    result = agreement(corpus_of(spans, (2, 1)))
    assert isnan(result.corrected)
    assert "random placement scores the same" in result.reason
    both = {"a": spans["a"], "b": spans["a"]}
    assert "chance agreement is 1" in agreement(corpus_of(both, (2, 1))).reason


def test_annotators_are_compared_where_both_annotated():
    # anna annotated eight texts of one token, ben the first four: her spans are placed in these.
    anna = [["B-P"] if x else ["O"] for x in (1, 1, 0, 0, 1, 1, 1, 1)]
    ben = [["B-P"], ["O"], ["B-P"], ["O"], None, None, None, None]
    result = agreement(Corpus.from_tags({"anna": anna, "ben": ben}, unit="corpus"))
    shared = agreement(Corpus.from_tags({"anna": anna[:4], "ben": ben[:4]}, unit="corpus"))
    assert (result.chance, result.corrected) == (0.5, 0)
    assert result.score.expected == shared.score.expected
    # She marked none of the texts that he marked, and all of the others.
    anna = [["O"]] * 5 + [["B-P"]] * 5
    ben = [["B-P"]] * 5 + [None] * 5
    result = agreement(Corpus.from_tags({"anna": anna, "ben": ben}, unit="corpus"))
    assert (result.observed, result.chance, result.corrected) == (0, 0, 0)


def test_a_match_that_is_always_the_same_has_a_reason():
    # anna fills both texts, so that ben's token meets a span of 2 wherever it is.
    spans = {"anna": ([(0, 2, "P")], [(0, 2, "P")]), "ben": ([(0, 1, "P")], [])}
    result = agreement(corpus_of(spans, (2, 2)), measure="dice")
    assert result.observed == pytest.approx(result.chance)
    assert "random placement scores the same" in result.reason
    # Both fill both texts, with 1 + 3 and 2 + 2: only the ends of texts are equal, and always.
    spans = {"anna": ([(0, 1, "P"), (1, 4, "P")],) * 2, "ben": ([(0, 2, "P"), (2, 4, "P")],) * 2}
    result = agreement(corpus_of(spans, (4, 4)), measure="boundary")
    assert "random placement scores the same" in result.reason


MEASURES = ("token", "exact", "boundary", "dice", "iou")
FULL = [(1, 1, 1), (1, 2), (3,), (2,), (1,), (1, 1), (2, 2), (4,), (1, 3)]
PAIRS = list(product(FULL, FULL))


@pytest.mark.parametrize(
    "cases",
    [
        # Measures in turn, the first of which is another one for each text of the first side.
        pytest.param(list(zip(PAIRS, cycle(MEASURES), strict=False)), marks=pytest.mark.slow),
        pytest.param(list(product(PAIRS, MEASURES)), marks=pytest.mark.long),
    ],
    ids=["in turn", "all"],
)
def test_one_text_has_freedom_where_the_unit_document_has(cases):
    # Texts that are full, or nearly, where a match is often the same without being all or nothing.
    for lengths, measure in cases:
        ends = [np.cumsum(side).tolist() for side in lengths]
        spans = {
            name: ([(e - d, e, "P") for e, d in zip(end, side, strict=True)],)
            for name, end, side in zip("ab", ends, lengths, strict=True)
        }
        for n in range(max(map(sum, lengths)), 5):
            wide, own = (
                agreement(corpus_of(spans, (n,), unit=unit), measure=measure).score
                for unit in ("corpus", "document")
            )
            case = n, lengths, measure
            assert (wide.fixed, wide.reason) == (own.fixed, own.reason), case
            assert (wide.certain_a, wide.certain_b) == (own.certain_a, own.certain_b), case


def test_no_freedom_of_a_label_beside_another():
    # Labels are placed each on their own: anna's L does not take room from her P.
    spans = {
        "anna": ([(0, 1, "P"), (1, 2, "P"), (2, 3, "P"), (0, 3, "L")], [(0, 1, "P")]),
        "ben": ([(0, 2, "P")], [(0, 1, "P")]),
    }
    score = agreement(corpus_of(spans, (3, 1)), measure="exact").by_label["P"]
    assert (score.matched, score.expected) == (1, pytest.approx(1))
    assert "random placement scores the same" in score.reason


@pytest.mark.slow
@each(("measure", "scope"), zip(MEASURES, cycle(SCOPES), strict=False))
def test_the_order_of_annotators_changes_no_digit(measure, scope):
    rng = np.random.default_rng(3)
    sizes = rng.integers(4, 12, 5).tolist()
    spans = {
        name: [[(i, i + 1 + int(rng.integers(3)), "PL"[i % 2])] for i in rng.integers(0, 2, 5)]
        for name in ("a", "b", "c")
    }
    found, turned = (
        agreement(
            corpus_of({name: spans[name] for name in names}, sizes), measure=measure, scope=scope
        ).by_pair
        for names in ("abc", "cba")
    )
    for (a, b), score in found.items():
        assert turned[b, a].expected == score.expected


def test_what_is_refused():
    overlapping = {"a": ([(0, 2, "P"), (1, 3, "P")],), "b": ([(0, 2, "P")],)}
    with refused(OverlapError, "annotator 'a' … [0, 2) … [1, 3) … 'corpus'"):
        agreement(corpus_of(overlapping, (9,)))
    with refused(OptionError, "'corpus' … 'overlapping'"):
        agreement(corpus_of(), model="overlapping")
    with refused(OptionError, "theta … 0.5"):
        agreement(corpus_of(), measure="iou", theta=0.2)
    with refused(OptionError, "random … corpus"):
        null_distribution(corpus_of())
    counts = agreement(corpus_of()).counts
    with refused(DataError, "corpus … table"):
        counts + counts


def test_systems_and_intervals():
    corpus = corpus_of()
    ranking = rank(corpus, gold="anna")
    alone = rank(corpus.select(annotators=["anna", "ben"]), gold="anna")
    assert alone.systems["ben"].score == ranking.systems["ben"].score
    interval = agreement(corpus).interval(seed=1, resamples=199)
    assert interval.reason is None or "undefined" in interval.reason


@pytest.mark.slow
def test_large_corpora_are_estimated_by_fugacities():
    # 3,000 texts of 12 tokens, half of them with a span of 2, 3 or 4 somewhere.
    rng = np.random.default_rng(1)
    spans = {
        name: [
            [(int(s), int(s) + 2 + i % 3, "P")] if rng.random() < 0.5 else []
            for i, s in enumerate(rng.integers(0, 8, 3000))
        ]
        for name in ("a", "b")
    }
    result = agreement(corpus_of(spans, (12,) * 3000))
    # A token is covered by chance with about the share of tokens that are.
    share = (result.score.size_a + result.score.size_b) / 2 / (12 * 3000)
    assert result.chance == pytest.approx(share, rel=0.15)  # less at the edges, more in the middle
    (note,) = result.notes
    assert_tells(note, "fugacities")
    ranking = rank(corpus_of(spans, (12,) * 3000), gold="a")
    assert ranking.notes == ranking.systems["b"].notes == result.notes


def test_reading(tmp_path):
    path = tmp_path / "one.conll"
    path.write_text("a\tB-P\tO\n\nb\tO\tB-P\n\nc\tB-P\tB-P\n", "utf-8")
    corpus = read(path, unit="corpus", columns="tag=2,3")
    assert (corpus.unit, len(corpus.text_length)) == ("corpus", 3)
    # Two of three tokens each, one in common: 4/3 by chance.
    result = agreement(corpus)
    assert (result.score.matched, result.score.expected) == (1, pytest.approx(4 / 3))
