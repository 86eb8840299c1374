"""Quotes that are not in their texts: they add to their annotator's size, and match nothing."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.core.measures import MEASURES
from beyondchance.scoring.edits import Base, Edits
from beyondchance.scoring.options import scoring_of
from each import each
from examples import examples

TEXT = "Mira Holt sailed to Lund. Mira won."
GOLD = {"PER": ["Mira Holt"], "LOC": ["Lund"]}
MODEL = {"PER": ["Mira Holt"], "LOC": ["New Oslo"]}


def quoted(*answers, text=TEXT):
    return [
        {
            "id": name,
            "text": f"{text} {name}",
            "entities": answer,
            "annotator": ["gold", "model"][who],
        }
        for name, both in answers
        for who, answer in enumerate(both)
    ]


ROWS = quoted(
    ("d1", (GOLD, MODEL)),
    ("d2", ({}, {"ORG": ["Nowhere"]})),
    ("d3", (GOLD, {"PER": ["Mira", "Mira", "Mira"]})),
)


def read(rows=ROWS, **options):
    return bc.read(rows, positions="tokens", format="quotes", **options)


def test_an_invented_quote_costs_precision():
    """One of two quotes is right, one of two entities is found."""
    rank = bc.rank(read(ROWS[:2]), gold="gold", measure="exact")
    score = rank.systems["model"].score
    assert (score.matched, score.size_a, score.size_b, score.n_spans) == (1, 2, 2, 4)
    assert (score.precision, score.recall) == (0.5, 0.5)
    skipped = bc.rank(read(ROWS[:2], missing_quotes="skip"), gold="gold", measure="exact")
    assert skipped.systems["model"].score.precision == 1
    assert skipped.systems["model"].score.expected == score.expected


@each(("measure", "sizes"), [("exact", (4, 6)), ("token", (6, 8)), ("boundary", (8, 12))])
def test_sizes(measure, sizes):
    """Mira Holt, Mira, Mira are found, New Oslo, Nowhere and Mira are not: 4 + 4 tokens."""
    result = bc.agreement(read(), gold="gold", measure=measure)
    assert (result.score.size_a, result.score.size_b) == sizes
    left = bc.agreement(read(missing_quotes="skip"), gold="gold", measure=measure)
    assert (result.score.matched, result.score.expected) == (
        left.score.matched,
        left.score.expected,
    )
    assert result.score.size_a == left.score.size_a


def test_levels():
    result = bc.agreement(read(), gold="gold", measure="exact")
    assert (result.n_documents, result.n_spans) == (3, 10)
    assert {name: score.size_b for name, score in result.by_label.items()} == {
        "LOC": 1,
        "ORG": 1,
        "PER": 4,
    }
    assert {name: score.size_b for name, score in result.by_document.items()} == {
        "d1": 2,
        "d2": 1,
        "d3": 3,
    }
    assert result.by_document["d2"].observed == 0
    assert result.by_pair["gold", "model"].size_b == 6
    assert result.settings.to_dict()["missing_quotes"] == "count"


def test_difficulty_ignores_them():
    one, two = (bc.difficulty(read(missing_quotes=how)) for how in ("count", "skip"))
    assert one.overall == two.overall
    assert len(one.counts) == len(two.counts)


@each("measure", [name for name in MEASURES if name != "custom"])
@each("scope", ["label", "unlabelled", "joint"])
def test_parts_equal_the_whole(measure, scope):
    options = {"gold": "gold", "measure": measure, "scope": scope}
    corpus = read()
    whole = bc.agreement(corpus, **options)
    parts = [
        bc.agreement(corpus.select(documents=[name]), **options).counts for name in corpus.documents
    ]
    joined = parts[2] + parts[0] + parts[1]
    assert joined.score() == whole.counts.score()
    assert joined.by_unit().score() == whole.counts.score()
    assert joined.by_label() == whole.counts.by_label()


def test_random_spans_in_any_text():
    wide = bc.agreement(read(unit="corpus"), gold="gold", measure="exact")
    assert (wide.score.size_a, wide.score.size_b) == (4, 6)
    assert (
        wide.score.expected
        == bc.agreement(
            read(unit="corpus", missing_quotes="skip"), gold="gold", measure="exact"
        ).score.expected
    )


def test_random_annotations_and_intervals():
    null, left = (
        bc.null_distribution(read(missing_quotes=how), gold="gold", resamples=99, seed=1)
        for how in ("count", "skip")
    )
    assert null.p_value == left.p_value
    rows = [{**row, "id": f"{row['id']} {i}"} for i in range(5) for row in ROWS]
    full, less = (
        bc.agreement(read(rows, missing_quotes=how)).interval("observed")
        for how in ("count", "skip")
    )
    assert full.low < less.low
    assert full.high < less.high


NAMES = st.lists(st.sampled_from(["Mira", "Lund", "Oslo", "won", "New Oslo"]), max_size=4)
LISTS = st.fixed_dictionaries({"PER": NAMES, "LOC": NAMES})


@examples(100)
@given(
    st.lists(st.tuples(LISTS, LISTS), min_size=1, max_size=3), st.sampled_from(["exact", "token"])
)
def test_only_sizes_change(answers, measure):
    rows = quoted(*((f"d{i}", both) for i, both in enumerate(answers)))
    full, left = (read(rows, missing_quotes=how) for how in ("count", "skip"))
    assert len(full.span_start) == len(left.span_start)
    one, two = (bc.agreement(corpus, measure=measure) for corpus in (full, left))
    assert (one.score.matched, one.score.expected) == (two.score.matched, two.score.expected)
    lost = full.missing_length if measure == "token" else np.ones_like(full.missing_length)
    who = full.missing_annotator
    assert one.score.size_a - two.score.size_a == lost[who == 0].sum()
    assert one.score.size_b - two.score.size_b == lost[who == 1].sum()


@each("measure", ["exact", "token", "boundary"])
def test_variants_have_the_scores_of_corpora(measure):
    """As diagnosis asks for them: every span removed in turn."""
    corpus, scoring = read(), scoring_of({"measure": measure})
    counts = bc.agreement(corpus, measure=measure).counts
    n = len(corpus.span_start)
    nothing = np.zeros(0, dtype=np.int64)
    edits = Edits(
        removed_from=np.arange(n),
        removed=np.arange(n),
        **dict.fromkeys(("variant", "text", "annotator", "label", "start", "end"), nothing),
    )
    found = Base(corpus, counts, scoring).scores(edits, n)
    for i, score in enumerate(found):
        keep = np.arange(n) != i
        columns = {
            x: getattr(corpus, x)[keep]
            for x in vars(corpus)
            if x.startswith("span_") and getattr(corpus, x) is not None
        }
        again = bc.agreement(replace(corpus, **columns, elsewhere=None), measure=measure).score
        assert score.matched == again.matched
        assert score.size_a + score.size_b == again.size_a + again.size_b


def test_they_move_with_their_labels_and_annotators():
    corpus = read().rename_labels({"ORG": "LOC"}).rename_annotators({"model": "aa"})
    assert corpus.labels == ("LOC", "PER")
    assert corpus.missing_label.tolist() == [0, 0, 1]
    only = corpus.select(labels=["PER"], documents=["d3"])
    assert (only.missing_text.tolist(), only.missing_length.tolist()) == ([0], [1])
    assert len(corpus.select(annotators=["gold"]).missing_text) == 0
    assert pytest.approx(bc.agreement(corpus, gold="gold", measure="exact").score.size_b) == 6
