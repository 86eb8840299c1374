"""Tables of counts: how they add, and what is left without an annotator."""

from dataclasses import replace
from itertools import pairwise

import numpy as np
import pytest
from hypothesis import given, strategies as st

from beyondchance import (
    Agreement,
    Corpus,
    Counts,
    DataError,
    Difficulty,
    Settings,
    agreement,
    difficulty,
)
from examples import examples
from refusals import refused


def table(documents, annotators=("anna", "ben"), **columns):
    """One row for each document."""
    n = len(documents)
    ones = np.ones(n)
    no = np.zeros(n, dtype=bool)
    return Counts(
        documents=tuple(documents),
        n_texts=n,
        labels=("P",),
        annotators=annotators,
        pairs=np.array([[0], [1]]),
        document=np.arange(n),
        text=np.arange(n),
        label=np.zeros(n, dtype=np.int64),
        a=np.zeros(n, dtype=np.int64),
        b=np.ones(n, dtype=np.int64),
        matched=ones,
        expected=ones / 4,
        size_a=ones,
        size_b=2 * ones,
        spans_a=np.ones(n, dtype=np.int64),
        spans_b=np.full(n, 2),
        certain=no,
        certain_a=no,
        certain_b=no,
        fixed=no,
        **columns,
    )


class Name(str):
    """A name that counts how often it is looked up."""

    __slots__ = ()
    n_lookups = 0

    def __hash__(self):
        Name.n_lookups += 1
        return super().__hash__()


def team(n_documents, annotators, seed=1):
    """Annotators who mark most of the same spans, each in some of the documents."""
    rng = np.random.default_rng(seed)
    spans = {name: [] for name in annotators}
    for _ in range(n_documents):
        true = [(s, s + int(rng.integers(1, 4)), "PL"[int(rng.integers(2))]) for s in (0, 5, 10)]
        for texts in spans.values():
            has_it = rng.random() < 0.8
            texts.append([span for span in true if rng.random() < 0.7] if has_it else None)
    return Corpus.from_spans(spans, lengths=[15] * n_documents)


class TestJoined:
    def test_every_name_is_looked_up_a_few_times(self):
        n = 10_000
        one, other = (table([Name(f"{part}{i}") for i in range(n)]) for part in "ab")
        Name.n_lookups = 0
        assert len(one + other) == 2 * n
        assert Name.n_lookups <= 4 * 2 * n

    def test_many_tables_are_joined_at_once(self):
        # One annotator more in each, who is looked up in his own table only.
        tables = [table([f"d{i}"], (Name("anna"), Name(f"w{i}"))) for i in range(300)]
        Name.n_lookups = 0
        found = Counts.joined(iter(tables))
        assert Name.n_lookups <= 8 * 2 * 300
        assert found.annotators == ("anna", *(f"w{i}" for i in range(300)))
        assert found.b.tolist() == list(range(1, 301))
        assert found.document.tolist() == found.text.tolist() == list(range(300))

    @examples(20)
    @given(st.integers(0, 1000), st.lists(st.integers(0, 12), max_size=3))
    def test_parts_in_any_order_are_the_whole(self, seed, cuts):
        corpus = team(12, ("anna", "ben", "cleo"), seed)
        edges = sorted({0, *cuts, 12})
        parts = []
        for low, high in pairwise(edges):
            documents = corpus.documents[low:high]
            order = ("cleo", "anna", "ben") if low % 2 else ("anna", "ben", "cleo")
            whole = agreement(corpus).counts
            keep = np.isin(np.array(whole.documents), documents)
            parts.append(replace(whole.of_documents(keep), n_texts=12).ordered(order))
        whole, found = agreement(corpus), Agreement(Counts.joined(parts), Settings())
        assert found.counts.documents == whole.counts.documents
        assert found.score == whole.score
        assert dict(found.by_document) == dict(whole.by_document)
        assert dict(found.by_label) == dict(whole.by_label)

    def test_one_table_stays_as_it_is(self):
        one = agreement(team(5, ("anna", "ben", "cleo"))).counts
        assert Counts.joined([one]).to_rows() == one.to_rows()

    def test_what_cannot_be_joined(self):
        one = table(["x", "y"])
        with refused(DataError, "both … document 'y'"):
            one + table(["y", "z"])
        with refused(DataError, "fields … [] … ['round']"):
            one + replace(table(["z"]), fields={"round": ("1",)})
        with refused(DataError, "measures"):
            one + table(["z"], error=np.ones(1), stream=np.ones(1, dtype=np.int64))
        with refused(DataError, "no table"):
            Counts.joined([])
        with refused(DataError, "an int … tables"):
            Counts.joined([one, 3])
        with pytest.raises(TypeError):
            one + 3


class TestWithout:
    @examples(30)
    @given(
        st.integers(0, 1000),
        st.integers(2, 5),
        st.sampled_from(["token", "dice", "exact"]),
    )
    def test_no_digit_differs_from_a_table_without_the_annotator(self, seed, n, measure):
        result = agreement(team(9, "abcde"[:n], seed), measure=measure)
        assert list(result.without) == list(result.counts.annotators)
        for name, score in result.without.items():
            # By the words, for nan is not equal to itself.
            assert repr(score) == repr(result.counts.without(name).score())

    def test_where_chance_was_estimated(self):
        result = agreement(team(6, "abc"), measure="iou", theta=0.3, samples=20, seed=1)
        for name, score in result.without.items():
            assert score.error > 0
            assert repr(score) == repr(result.counts.without(name).score())

    def test_a_table_of_difficulty(self):
        counts = difficulty(team(6, "abc")).counts
        for name, score in counts.without_each().items():
            assert repr(score) == repr(counts.without(name).score())

    def test_nothing_marked(self):
        result = agreement(Corpus.from_spans({name: [[]] for name in "abc"}, lengths=[3]))
        assert all(score.n_spans == 0 for score in result.without.values())

    def test_a_large_team_takes_no_more_columns(self, monkeypatch):
        taken = []
        leveled = Counts.leveled

        def watched(counts, levels=None):
            taken.append(len(levels.members) + len(levels.absent))
            return leveled(counts, levels)

        monkeypatch.setattr(Counts, "leveled", watched)
        for names in ("abc", "abcdefgh"):
            agreement(team(6, names)).intervals(resamples=99, seed=1)
        assert taken[0] == taken[1]


def test_nothing_is_rounded_to_one_that_is_not():
    one = table(["x"])
    nearly = Agreement(replace(one, matched=np.array([0.99996 * 1.5])), Settings())
    assert "Agreement(observed=>0.9999, chance=0.1667, corrected=>0.9999, " in repr(nearly)
    easy = Difficulty(replace(one, expected=np.array([1.5 * 0.00004])), Settings())
    assert repr(easy) == "Difficulty(overall=>0.9999)"
    empty = Agreement(replace(one, size_a=np.zeros(1), size_b=np.zeros(1)), Settings())
    assert repr(empty).startswith("Agreement(observed=-, chance=-, corrected=-, ")


def test_texts_in_which_every_arrangement_matches_as_much():
    # One position; two positions of which one is free; nothing by ben; nothing by either.
    tags = {
        "ada": [["B-P"], ["B-P", "O"], ["B-P", "O"], ["O", "O"]],
        "ben": [["B-P"], ["O", "B-P"], ["O", "O"], ["O", "O"]],
    }
    assert agreement(Corpus.from_tags(tags)).counts.texts_without_freedom() == (2, 3)
