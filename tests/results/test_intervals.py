"""Intervals of results: against SciPy, against loops, and where there are none."""

import inspect
import pickle
from copy import copy, deepcopy
from dataclasses import replace
from fractions import Fraction
from itertools import combinations
from math import isnan, nan

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from beyondchance import (
    Agreement,
    Corpus,
    DataError,
    Difficulty,
    OptionError,
    Score,
    Settings,
    UnknownNameError,
    agreement,
    compare,
    count,
    difficulty,
    example,
    plan,
)
from beyondchance.core import resampling
from beyondchance.messages import COMMAND_LINE, spoken
from beyondchance.results import difficulty as difficulty_module, resampling as uncertainty
from beyondchance.results.intervals import ConfidenceInterval, signed_with
from each import each
from examples import examples
from refusals import assert_tells, refused

SCORES = ("observed", "chance", "corrected")

# What a reason tells where nothing varies, and by which no other reason could be mistaken for it.
SAME = {
    "expanded": "the same … without any … documents",
    "bca": "every resample … the same",
    "percentile": "every resample … the same",
}
ITSELF = "the score itself"


def noisy(n_documents, annotators=("anna", "ben"), *, seed=1, labels="PL", texts_each=1, length=15):
    """Documents in which annotators mark the same spans, but not always."""
    rng = np.random.default_rng(seed)
    names, spans = [], {name: [] for name in annotators}
    for document in range(n_documents):
        for _ in range(texts_each):
            names.append(f"d{document}")
            true = [(s, s + int(rng.integers(1, 4)), labels[int(rng.integers(len(labels)))])
                    for s in range(0, length - 3, 5) if rng.random() < 0.7]  # fmt: skip
            for name in annotators:
                kept = [span for span in true if rng.random() < 0.8]
                spans[name].append([(s, e + int(rng.random() < 0.2), x) for s, e, x in kept])
    unit = "sentence" if texts_each > 1 else "document"
    return Corpus.from_spans(spans, lengths=[length] * len(names), documents=names, unit=unit)


def naive_score(rows, name):
    """A score from rows of numbers, by its definition."""
    matched, expected, size = (sum(row[i] for row in rows) for i in range(3))
    if not size:
        return nan
    if name == "corrected" and all(row[3] for row in rows):
        return nan
    observed, chance = 2 * matched / size, 2 * expected / size
    return {
        "observed": observed,
        "chance": chance,
        "corrected": (matched - expected) / (size / 2 - expected),
    }[name]


def everything(_row):
    return True


def rows_of(counts, keep=everything):
    """For each document, its rows as (matched, expected, size, certain, a, b)."""
    found = [[] for _ in counts.documents]
    number = {name: i for i, name in enumerate(counts.documents)}
    for row, certain in zip(counts.to_rows(), counts.certain.tolist(), strict=True):
        if keep(row):
            size = row["size_a"] + row["size_b"]
            found[number[row["document"]]].append(
                (row["matched"], row["expected"], size, certain, row["a"], row["b"])
            )
    return found


def naive_values(documents, drawn, name):
    return [naive_score([row for d in numbers for row in documents[d]], name) for numbers in drawn]


class TestAgainstScipy:
    @each("method", ["percentile", "BCa"])
    @each("name", SCORES)
    def test_interval(self, name, method):
        result = agreement(noisy(40))
        documents = rows_of(result.counts)
        sums = np.array([[sum(row[i] for row in rows) for i in range(3)] for rows in documents])

        def statistic(index, axis):  # noqa: ARG001 - SciPy passes it
            matched, expected, size = np.moveaxis(sums[index.astype(int)].sum(axis=-2), -1, 0)
            observed, chance = 2 * matched / size, 2 * expected / size
            corrected = (observed - chance) / (1 - chance)
            return {"observed": observed, "chance": chance, "corrected": corrected}[name]

        theirs = stats.bootstrap(
            (np.arange(40.0),), statistic, n_resamples=999, method=method,
            vectorized=True, rng=np.random.default_rng(7),
        )  # fmt: skip
        ours = result.interval(name, resamples=999, method=method.lower(), seed=7)
        assert (ours.low, ours.high) == pytest.approx(theirs.confidence_interval, rel=1e-12)
        assert ours.reason is None
        assert ours.n_units == 40

    @each("method", ["percentile", "BCa"])
    def test_difficulty(self, method):
        result = difficulty(noisy(40))
        counts = result.counts
        sums = np.zeros((40, 2))
        for document, a, b, expected, size in zip(
            counts.document, counts.a, counts.b, counts.expected, counts.size_a + counts.size_b,
            strict=True,
        ):  # fmt: skip
            sums[document] += np.array([expected, size]) * (1 if a == b else 2)

        def statistic(index, axis):  # noqa: ARG001 - SciPy passes it
            expected, size = np.moveaxis(sums[index.astype(int)].sum(axis=-2), -1, 0)
            return 1 - 2 * expected / size

        theirs = stats.bootstrap(
            (np.arange(40.0),), statistic, n_resamples=999, method=method,
            vectorized=True, rng=np.random.default_rng(7),
        )  # fmt: skip
        ours = result.interval(resamples=999, method=method.lower(), seed=7)
        assert (ours.low, ours.high) == pytest.approx(theirs.confidence_interval, rel=1e-12)
        assert ours.low < result.overall < ours.high


class TestEveryLevel:
    def test_all_levels_come_from_the_same_documents(self):
        result = agreement(noisy(25, ("anna", "ben", "cleo"), texts_each=2))
        found = result.intervals(resamples=199, method="percentile", seed=3)
        drawn = np.random.default_rng(3).integers(0, 25, (199, 25)).tolist()
        levels = {("overall",): (found.overall, everything)}
        for label, item in found.by_label.items():
            levels["label", label] = item, lambda row, x=label: row["label"] == x
        for pair, item in found.by_pair.items():
            levels["pair", pair] = item, lambda row, x=pair: (row["a"], row["b"]) == x
        for who, item in found.by_annotator.items():
            levels["annotator", who] = item, lambda row, x=who: x in (row["a"], row["b"])
        for who, item in found.without.items():
            levels["without", who] = item, lambda row, x=who: x not in (row["a"], row["b"])
        assert len(levels) == 1 + 2 + 3 + 3 + 3
        for item, keep in levels.values():
            documents = rows_of(result.counts, keep)
            for name in SCORES:
                values = naive_values(documents, drawn, name)
                expected = np.quantile(values, [0.025, 0.975])
                assert (item[name].low, item[name].high) == pytest.approx(expected, rel=1e-12)

    @each("method", ["expanded", "bca"])
    @each("over", ["documents", "annotators", "both"])
    @each("team", [("anna", "ben"), ("anna", "ben", "cleo", "dora")])
    def test_one_interval_is_that_of_all(self, over, team, method):
        result = agreement(noisy(25, team))
        options = {"resamples": 199, "seed": 3, "over": over, "method": method}
        found = result.intervals(**options)
        for name in SCORES:
            one = result.interval(name, **options)
            # By the words, for nan is not equal to itself.
            assert repr(one) == repr(found.overall[name])
            assert repr(one.effective) == repr(found.overall[name].effective)
        assert set(found.by_label) == {"P", "L"}
        if over == "documents":
            assert set(found.by_pair) == set(combinations(team, 2))
            assert set(found.by_annotator) == set(team)
            assert set(found.without) == (set(team) if len(team) > 2 else set())
        else:
            assert not found.by_pair
            assert not found.by_annotator
            assert not found.without

    def test_the_values_of_a_field_draw_from_their_own_documents(self):
        corpus = noisy(25, ("anna", "ben", "cleo"))
        halves = ("first",) * 12 + ("second",) * 13
        result = agreement(replace(corpus, fields={"half": halves}))
        options = {"resamples": 199, "method": "bca"}
        found = result.intervals(by=["half"], seed=3, **options).by_field["half"]
        assert list(found) == ["first", "second"]
        assert [item["chance"].n_units for item in found.values()] == [12, 13]
        alone = agreement(corpus.select(documents=corpus.documents[:12]))
        # The documents of the whole were drawn first.
        rng = np.random.default_rng(3)
        result.intervals(seed=rng, **options)
        for name in SCORES:
            expected = alone.interval(name, seed=deepcopy(rng), **options)
            assert repr(found["first"][name]) == repr(expected)

    def test_a_field_named_as_a_level_is_a_field(self):
        corpus = replace(noisy(12), fields={"label": ("P",) * 5 + ("L",) * 7, "pair": ("x",) * 12})
        found = agreement(corpus).intervals(by=["label", "pair"], resamples=99, seed=1)
        assert {name: item["chance"].n_units for name, item in found.by_label.items()} == {
            "L": 12,
            "P": 12,
        }
        assert {name: item["chance"].n_units for name, item in found.by_field["label"].items()} == {
            "P": 5,
            "L": 7,
        }
        assert list(found.by_field["pair"]) == ["x"]
        assert list(found.by_pair) == [("anna", "ben")]

    def test_two_annotators_are_one_pair(self):
        found = agreement(noisy(25)).intervals(resamples=199, seed=3)
        assert found.by_pair == {("anna", "ben"): found.overall}
        assert found.by_annotator == {"anna": found.overall, "ben": found.overall}

    def test_one_label_is_all(self):
        found = agreement(noisy(25, labels="P")).intervals(resamples=199, seed=3)
        assert found.by_label == {"P": found.overall}

    @pytest.mark.slow
    @each(
        ("over", "method"),
        [("documents", "bca"), ("documents", "expanded"), ("annotators", "bca"), ("both", "bca")],
    )
    @each(("name", "most"), [("SUMS_AT_A_TIME", 30), ("DRAWN_AT_A_TIME", 500)])
    def test_portions_and_blocks_change_nothing(self, monkeypatch, name, most, over, method):
        result = agreement(noisy(12, ("anna", "ben", "cleo", "dora")))
        options = {"resamples": 99, "seed": 3, "over": over, "method": method}
        found = result.intervals(**options)
        monkeypatch.setattr(uncertainty, name, most)
        if over == "documents":
            # Teams that were one annotator only are drawn again in another order.
            monkeypatch.setattr(resampling, "CELLS", 70)
        again = result.intervals(**options)
        assert repr(found) == repr(again)

    def test_documents_that_a_pair_lacks_need_not_be_left_out(self, monkeypatch):
        spans = {name: [[]] * 40 for name in "abcdef"}
        rng = np.random.default_rng(3)
        people = [sorted(rng.choice(list("abcdef"), 2 + i % 2, replace=False)) for i in range(40)]
        for name in spans:
            starts = rng.integers(0, 9, 40).tolist()
            spans[name] = [
                [(s, s + 3, "P")] if name in here else None
                for s, here in zip(starts, people, strict=True)
            ]
        result = agreement(Corpus.from_spans(spans, lengths=[12] * 40))
        found = result.intervals()
        monkeypatch.setattr("beyondchance.results.agreement.SUMS_AT_A_TIME", 1)
        again = result.intervals()
        assert again.without == found.without
        assert again.overall == found.overall
        for level in ("by_pair", "by_annotator"):
            assert getattr(again, level).keys() == getattr(found, level).keys()
            for name, scores in getattr(again, level).items():
                for score, interval in scores.items():
                    other = getattr(found, level)[name][score]
                    assert interval.reason == other.reason
                    assert interval.units == other.units
                    assert [*interval, interval.effective] == pytest.approx(
                        [*other, other.effective], abs=2e-12, nan_ok=True
                    )

    def test_parts_of_a_corpus_added_give_the_same_digits(self):
        corpus = noisy(30, ("anna", "ben", "cleo"))
        whole = agreement(corpus)
        parts = [
            agreement(corpus.select(documents=corpus.documents[cut])).counts
            for cut in (slice(0, 11), slice(11, 13), slice(13, 30))
        ]
        joined = replace(whole, counts=parts[0] + parts[1] + parts[2])
        for method in uncertainty.METHODS:
            options = {"resamples": 199, "seed": 3, "method": method}
            assert repr(joined.intervals(**options)) == repr(whole.intervals(**options))


class TestAnnotators:
    def naive(self, result, resamples, rng):
        """Teams as they are drawn: all pairs of places that hold different annotators."""
        names = result.counts.annotators
        by_pair = {}
        for rows in rows_of(result.counts):
            for row in rows:
                by_pair.setdefault(frozenset(row[4:]), []).append(row)
        teams = rng.integers(0, len(names), (resamples, len(names))).tolist()
        # Teams of one are drawn again, all at once, until there are none.
        lonely = [i for i, team in enumerate(teams) if len(set(team)) == 1]
        while lonely:
            again = rng.integers(0, len(names), (len(lonely), len(names))).tolist()
            for i, team in zip(lonely, again, strict=True):
                teams[i] = team
            lonely = [i for i in lonely if len(set(teams[i])) == 1]
        return by_pair, [
            [frozenset((names[i], names[j])) for i, j in combinations(team, 2) if i != j]
            for team in teams
        ]

    def test_teams(self):
        result = agreement(noisy(12, ("anna", "bert", "cleo", "dora")))
        by_pair, teams = self.naive(result, 199, np.random.default_rng(4))
        for name in SCORES:
            values = [naive_score([r for p in team for r in by_pair[p]], name) for team in teams]
            found = result.interval(
                name, resamples=199, method="percentile", seed=4, over="annotators"
            )
            expected = np.quantile(values, [0.025, 0.975])
            assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
            assert (found.over, found.n_units) == ("annotators", 4)

    def test_teams_of_other_documents(self):
        result = agreement(noisy(12, ("anna", "bert", "cleo", "dora")))
        rng = np.random.default_rng(4)
        _, teams = self.naive(result, 199, rng)
        drawn = rng.integers(0, 12, (199, 12)).tolist()
        documents = rows_of(result.counts)
        for name in SCORES:
            values = [
                naive_score(
                    [
                        row
                        for d in numbers
                        for row in documents[d]
                        for pair in team
                        if pair == frozenset(row[4:])
                    ],
                    name,
                )
                for team, numbers in zip(teams, drawn, strict=True)
            ]
            found = result.interval(name, resamples=199, method="percentile", seed=4, over="both")
            expected = np.quantile(values, [0.025, 0.975])
            assert (found.low, found.high) == pytest.approx(expected, rel=1e-12)
            assert (found.over, found.n_units) == ("documents and annotators", 16)

    def test_left_out_annotators_are_what_without_gives(self):
        result = agreement(noisy(12, ("anna", "bert", "cleo", "dora")))
        options = uncertainty.resampling_of(
            result.settings, {"confidence": 0.9, "over": "annotators"}
        )
        rows = result.counts.leveled()
        ((_, found),) = uncertainty.resampled(rows, options, uncertainty.team_of(rows))
        left_out = uncertainty.score_of(found.left_out[0][:, 0], "corrected")
        expected = [
            result.counts.without(name).score().corrected for name in result.counts.annotators
        ]
        assert left_out.tolist() == pytest.approx(expected, rel=1e-13)

    def test_two_annotators_do_not_vary(self):
        for over in ("annotators", "both"):
            found = agreement(noisy(12)).interval(over=over, seed=1)
            assert isnan(found.low)
            assert_tells(found.reason, "annotators … 2 … 3")


class TestUndefined:
    def reason(self, spans, lengths, score="corrected", **options):
        result = agreement(Corpus.from_spans(spans, lengths=lengths))
        found = result.interval(score, resamples=199, seed=1, **options)
        assert isnan(found.low)
        assert isnan(found.high)
        assert found.caution is None
        return found.reason

    def test_one_document(self):
        same = [[(0, 2, "P")]]
        found = self.reason({"a": same, "b": [[(1, 2, "P")]]}, [9])
        assert_tells(found, "documents … 1 … 2")

    def test_nothing_marked(self):
        assert ITSELF in self.reason({"a": [[], []], "b": [[], []]}, [9, 9])

    def test_chance_is_one(self):
        full = [[(0, 3, "P")]] * 4
        assert ITSELF in self.reason({"a": full, "b": full}, [3] * 4)
        # Observed is defined, and does not vary.
        for method, told in SAME.items():
            found = self.reason({"a": full, "b": full}, [3] * 4, "observed", method=method)
            assert_tells(found, told)

    def test_no_disagreement(self):
        same = [[(0, n % 3 + 1, "P")] for n in range(9)]
        for method, told in SAME.items():
            assert_tells(self.reason({"a": same, "b": same}, [9] * 9, method=method), told)

    def test_no_agreement(self):
        # Chance varies from document to document, but nothing shows how much agreement does.
        spans = {"a": [[(0, n % 3 + 1, "P")] for n in range(9)], "b": [[(6, 8, "P")]] * 9}
        found = self.reason(spans, [9] * 9)
        assert_tells(found, "nothing matches")

    def test_last_digits_are_no_spread(self):
        # Chance of both kinds of sentences is 1/7; its last digit depends on how they are mixed.
        a = [["B-A"] + ["O"] * 6, ["B-A", "B-B", "B-C"] + ["O"] * 4] * 10
        b = [["O"] * 6 + ["B-A"], ["O"] * 4 + ["B-B", "B-C", "B-A"]] * 10
        result = agreement(a, b)
        for method in uncertainty.METHODS:
            found = result.intervals(seed=1, method=method)
            for item in found.overall.values():
                assert_tells(item.reason, SAME[method].replace("documents", "sentences"))
                assert ("sentences" in item.reason) == (method == "expanded")
        assert plan(result, 0.05).documents is None

    @pytest.mark.slow
    @each("method", uncertainty.METHODS)
    def test_an_interval_is_never_made_of_last_digits(self, method):
        # Sentences of one length, a few kinds of them again and again: many scores are constant.
        rng = np.random.default_rng(1)
        n_without = n_with = 0
        for _ in range(40):
            length, n_kinds = int(rng.integers(3, 9)), int(rng.integers(1, 4))
            sides = []
            for _ in range(2):
                starts = [rng.permutation(length)[:3].tolist() for _ in range(n_kinds)]
                sides.append(
                    [
                        [(s, s + 1, label) for s, label in zip(places, "ABC", strict=True)][: k + 1]
                        for k, places in enumerate(starts)
                    ]
                )
            a, b = (texts * 8 for texts in sides)
            corpus = Corpus.from_spans({"a": a, "b": b}, lengths=[length] * len(a))
            found = agreement(corpus).intervals(resamples=99, seed=1, method=method)
            for item in found.overall.values():
                assert item.reason is not None or item.high - item.low > 1e-9
                n_without += item.reason is not None
                n_with += item.reason is None
        assert n_without > 40
        assert n_with >= 20

    @each("method", uncertainty.METHODS)
    def test_teams_in_which_nobody_matters_alone(self, method):
        # Two agree, and two others agree: the score is the same without any one of them, yet
        # teams that are drawn from them differ.
        one, other = [[(0, 1, "P")]] * 5, [[(3, 4, "P")]] * 5
        spans = {"a": one, "b": one, "c": other, "d": other}
        result = agreement(Corpus.from_spans(spans, lengths=[9] * 5))
        found = result.interval("observed", resamples=999, seed=1, method=method, over="annotators")
        if method == "percentile":
            assert (found.low, found.high) == (0, 1)
        elif method == "expanded":
            assert_tells(found.reason, "the same … without any … annotators")
        else:
            assert_tells(found.reason, f"annotators … method='{method}' … method='percentile'")

    def test_one_document_has_it(self):
        spans = {"a": [[(0, 2, "P")], *[[]] * 8], "b": [[(1, 3, "P")], *[[]] * 8]}
        assert_tells(self.reason(spans, [9] * 9), "without one … documents … undefined")

    def test_one_document_that_leaves_a_choice(self):
        # All documents have the label, but random spans can disagree in the first only.
        spans = {
            "a": [[(0, 2, "P")], *[[(0, 3, "P")]] * 8],
            "b": [[(1, 3, "P")], *[[(0, 3, "P")]] * 8],
        }
        found = self.reason(spans, [9] + [3] * 8)
        assert_tells(found, "without one … documents … undefined")

    @each("over", ["annotators", "both"])
    def test_one_annotator_without_whom_nothing_is_left(self, over):
        # Everybody shares documents with anna only.
        spans = {
            "anna": [[(0, 2, "P")]] * 6,
            "ben": [[(0, n % 2 + 1, "P")] for n in range(3)] + [None] * 3,
            "cleo": [None] * 3 + [[(0, n % 2 + 1, "P")] for n in range(3)],
        }
        found = self.reason(spans, [9] * 6, over=over)
        assert_tells(found, "without one … annotators … undefined")

    def test_too_few_documents_have_it(self):
        spans = {
            "a": [[(0, 2, "P")], [(1, 2, "P")], *[[]] * 8],
            "b": [[(1, 3, "P")], [(1, 2, "P")], *[[]] * 8],
        }
        drawn = np.random.default_rng(1).integers(0, 10, (199, 10))
        missing = sum(min(row) > 1 for row in drawn.tolist())
        assert missing > 5
        found = self.reason(spans, [9] * 10, method="bca")
        assert_tells(found, f"undefined … {missing} … 199 … documents")
        # Without resamples there is one, of which little is known.
        found = agreement(Corpus.from_spans(spans, lengths=[9] * 10)).interval()
        assert found.low < 0.1
        assert found.high > 0.9
        assert "rough guide" in found.caution

    def test_resamples_of_texts_that_leave_no_choice(self):
        # One document of two in which random spans could disagree: some resamples lack it.
        spans = {
            "a": [[(0, 3, "P")], [(0, 2, "P")], [(0, 1, "P")]],
            "b": [[(0, 3, "P")], [(1, 3, "P")], [(0, 1, "P")]],
        }
        found = self.reason(spans, [3, 5, 9], method="bca")
        assert_tells(found, "undefined … 199 … documents")
        result = agreement(Corpus.from_spans(spans, lengths=[3, 5, 9]))
        assert (
            result.interval("observed", resamples=199, seed=1, method="percentile").reason is None
        )

    def test_labels_have_reasons_of_their_own(self):
        spans = {
            "a": [[(0, 2, "P"), (4, 5, "L")], *[[(0, 2, "P")]] * 5],
            "b": [[(1, 3, "P"), (4, 6, "L")], *[[(0, 1 + n % 2, "P")] for n in range(5)]],
        }
        result = agreement(Corpus.from_spans(spans, lengths=[9] * 6))
        found = result.intervals(resamples=199, seed=1)
        assert_tells(found.by_label["L"]["corrected"].reason, "without one … documents")
        assert found.by_label["P"]["corrected"].reason is None
        assert found.overall["corrected"].reason is None

    def test_nobody_marked_anything_at_any_level(self):
        result = agreement(Corpus.from_spans({"a": [[], []], "b": [[], []]}, lengths=[3, 3]))
        found = result.intervals(resamples=99, seed=1)
        assert ITSELF in found.overall["observed"].reason
        assert set(found.by_annotator) == {"a", "b"}

    def test_a_score_that_few_documents_carry(self):
        # One disagreement in a hundred documents.
        same = [[(0, 2, "P")]] * 99
        spans = {"a": [[(0, 2, "P")], *same], "b": [[(5, 7, "P")], *same]}
        result = agreement(Corpus.from_spans(spans, lengths=[9] * 100))
        assert_tells(result.interval().caution, "3 documents … rough guide")
        found = result.interval(resamples=999, seed=1, method="bca")
        assert_tells(found.caution, "3 documents … 30")

    def test_ten_documents_that_disagree_are_not_ten_documents(self):
        # Of 100: they pull by .9 each, the others by -.1. The mean of the squares is .09 and of
        # the fourth powers .0657, so the excess kurtosis is .0657/.0081 - 3, and unbiased
        # 99/(98 x 97) (101 x (.0657/.0081 - 3) + 6).
        spans = {
            "a": [[(0, 2, "P")]] * 100,
            "b": [[(5, 7, "P")]] * 10 + [[(0, 2, "P")]] * 90,
        }
        result = agreement(Corpus.from_spans(spans, lengths=[9] * 100))
        kurtosis = 99 / (98 * 97) * (101 * (0.0657 / 0.0081 - 3) + 6)
        found = result.interval("observed")
        assert found.effective == pytest.approx(2 / (kurtosis / 100 + 2 / 99) + 1)
        assert f"{found.effective:.0f}" == "28"
        # The score is .9 and its error the root of .09/99; the odds are 9.
        tail = stats.t.ppf(0.975, found.effective - 1) * (0.09 / 99) ** 0.5 / 0.09
        for end, sign in ((found.low, -1), (found.high, 1)):
            assert end == pytest.approx(1 / (1 + np.exp(-np.log(9) - sign * tail)))

    @each("name", SCORES)
    @each("over", ["documents", "annotators", "both"])
    def test_expanded_by_loops(self, name, over):
        result = agreement(noisy(14, ("anna", "ben", "cleo", "dora")))
        documents, names = rows_of(result.counts), result.counts.annotators
        rows = [row for document in documents for row in document]
        score, chance = naive_score(rows, name), naive_score(rows, "chance")
        left_out = {
            "documents": [
                [row for other in documents[:i] + documents[i + 1 :] for row in other]
                for i in range(14)
            ],
            "annotators": [[row for row in rows if who not in row[4:]] for who in names],
        }
        variances, freedoms = [], []
        for kind in left_out if over == "both" else [over]:
            values = np.array([naive_score(part, name) for part in left_out[kind]])
            n = len(values)
            variances.append((n - 1) ** 2 * values.var(ddof=1) / n)
            kurtosis = max(stats.kurtosis(values, bias=False), 0)
            freedoms.append(2 / (kurtosis / n + 2 / (n - 1)))
        freedom = sum(variances) ** 2 / sum(np.square(variances) / freedoms)
        lowest = -chance / (1 - chance) if name == "corrected" else 0
        share = (score - lowest) / (1 - lowest)
        middle = np.log(share / (1 - share))
        reach = sum(variances) ** 0.5 / ((1 - lowest) * share * (1 - share))
        ends = middle + stats.t.ppf([0.05, 0.95], freedom) * reach
        found = result.interval(name, confidence=0.9, over=over)
        expected = lowest + (1 - lowest) / (1 + np.exp(-ends))
        assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)
        assert found.effective == pytest.approx(freedom + 1, rel=1e-9)


class TestOptions:
    @each(
        ("options", "told"),
        [
            ({"confidence": 1}, "confidence … 1; … 0 and 1"),
            ({"confidence": "0.9"}, "confidence … '0.9'"),
            ({"confidence": True}, "confidence … True"),
            ({"confidence": np.nan}, "confidence … nan"),
            ({"confidence": Fraction(10**30 - 1, 10**30)}, f"confidence … {10**30 - 1}"),
            ({"confidence": 0.99999999, "method": "bca"}, "10,000,000 … 0.9999998"),
            (
                {"confidence": 0.999, "resamples": 1998, "method": "percentile"},
                "resamples … 1,998 … 0.999 … 1,999",
            ),
            ({"resamples": 98}, "resamples … 98 … 99"),
            ({"resamples": 100.0}, "resamples … 100.0"),
            ({"resamples": True}, "resamples … True"),
            ({"method": "basic"}, "method … 'basic' … expanded … bca"),
            ({"over": "texts"}, "over … 'texts' … documents … annotators"),
            ({"rng": 1}, "'rng' … confidence … method … over … resamples"),
            ({"seed": -1}, "seed … -1 … generator … None"),
            ({"seed": "one"}, "seed … 'one' … generator"),
        ],
    )
    def test_wrong_ones(self, options, told):
        with refused(OptionError, told):
            agreement(noisy(5)).interval(**options)

    def test_options_that_have_one_value_only(self):
        result = agreement(noisy(5))
        for function in (difficulty(noisy(5)).interval, difficulty(noisy(5)).intervals):
            with refused(OptionError, "over … 'annotators' … 'documents'"):
                function(over="annotators")
        with refused(OptionError, "over … 'annotators' … 'documents'"):
            compare(result, result, over="annotators")

    def test_options_are_documented(self):
        for function in (Agreement.interval, Agreement.intervals, Difficulty.intervals, compare):
            document = inspect.getdoc(function)
            assert "{options}" not in document
            assert "\nconfidence : float, default 0.95\n    The confidence" in document
            assert "\nseed : int, optional\n    " in document

    def test_unknown_score(self):
        with refused(OptionError, "score … 'recall' … observed"):
            agreement(noisy(5)).interval("recall")

    def test_the_same_seed_gives_the_same_digits(self):
        result, options = agreement(noisy(30)), {"resamples": 199, "method": "bca"}
        one = result.interval(seed=11, **options)
        assert one == result.interval(seed=11, **options)
        assert one == result.interval(seed=np.random.default_rng(11), **options)
        assert one != result.interval(seed=12, **options)

    def test_the_default_draws_nothing(self):
        result, rng = agreement(noisy(30)), np.random.default_rng(11)
        state = rng.bit_generator.state
        found = result.intervals(seed=rng)
        assert rng.bit_generator.state == state
        assert repr(found) == repr(result.intervals())
        assert (found.settings.seed, found.settings.resamples) == (None, None)
        # However high the confidence, resamples need not reach the tails.
        most = result.interval(confidence=1 - 1e-12)
        assert most.low < found.overall["corrected"].low

    def test_a_generator_goes_on(self):
        result, rng = agreement(noisy(30)), np.random.default_rng(11)
        options = {"resamples": 199, "method": "bca", "seed": rng}
        assert result.interval(**options) != result.interval(**options)
        assert result.intervals(**options).settings.seed is None

    def test_the_signature_brings_the_same_digits_again(self):
        result = agreement(noisy(30))
        found = result.intervals(resamples=199, confidence=0.9, method="percentile")
        signed = Settings.parse(str(found.settings))
        assert signed == found.settings
        again = result.intervals(
            resamples=int(signed.resamples),
            confidence=float(signed.confidence),
            method=signed.interval_method,
            seed=int(signed.seed),
            over=signed.over,
        )
        assert repr(again) == repr(found)
        assert "|confidence:0.9|interval_method:percentile|resamples:199|over:" in str(signed)

    def test_tails_that_are_just_reached(self):
        result = agreement(noisy(30))
        for method in uncertainty.METHODS:
            found = result.interval(confidence=0.999, resamples=1999, seed=1, method=method)
            assert found.low < result.corrected < found.high
        most = {"confidence": 0.9999998, "resamples": 10**7, "method": "bca"}
        assert uncertainty.resampling_of(Settings(), most).confidence == 0.9999998

    def test_any_real_number_is_a_confidence(self):
        result = agreement(noisy(30))
        for half in (np.float32(0.5), np.float64(0.5), Fraction(1, 2)):
            found = result.intervals(confidence=half, resamples=199, seed=1)
            assert found.settings.confidence == 0.5
            assert repr(found) == repr(result.intervals(confidence=0.5, resamples=199, seed=1))

    @given(st.floats(0.001, 0.9998))
    def test_the_signature_keeps_every_digit_of_the_confidence(self, confidence):
        options = uncertainty.resampling_of(
            Settings(), {"confidence": confidence, "seed": 1, "over": "both"}
        )
        signed = Settings.parse(str(signed_with(options, Settings(), count([["O"]], [["O"]]))))
        assert float(signed.confidence) == confidence

    def test_a_higher_confidence_is_wider(self):
        result = agreement(noisy(30))
        for method in uncertainty.METHODS:
            narrow, wide = (
                result.interval(confidence=c, method=method, seed=1) for c in (0.8, 0.99)
            )
            assert wide.low < narrow.low < result.corrected < narrow.high < wide.high


class TestWhatIsDrawn:
    def test_documents(self):
        assert agreement(noisy(9)).interval(seed=1, resamples=99).over == "documents"
        assert agreement(noisy(9, texts_each=3)).interval(seed=1, resamples=99).over == "documents"

    def test_sentences_where_nothing_larger_is_known(self):
        tags = [["B-P", "O", "O"], ["B-P", "I-P", "O"], ["O", "B-P", "O"]]
        other = [["B-P", "O", "O"], ["O", "B-P", "O"], ["O", "B-P", "I-P"]]
        found = agreement(tags, other).interval(seed=1, resamples=99, method="percentile")
        assert (found.over, found.n_units) == ("sentences", 3)
        assert difficulty(tags, other).interval(seed=1, resamples=99).over == "sentences"

    def test_cautions(self):
        interval = ConfidenceInterval(0.1, 0.2, (), (("documents", 400),), 29.4, "bca")
        assert_tells(interval.caution, "29 documents … 30 … method='expanded'")
        assert replace(interval, effective=30.0).caution is None
        assert replace(interval, method="expanded").caution is None
        rough = replace(interval, method="expanded", effective=4.4).caution
        assert_tells(rough, "4 documents … rough guide")
        assert "method=" not in rough
        assert replace(interval, method="expanded", effective=5.0).caution is None

    def test_options_in_sentences_are_those_of_the_command_line_there(self):
        interval = ConfidenceInterval(0.1, 0.2, (), (("documents", 400),), 29.4, "bca")
        said = spoken(interval.caution_text, COMMAND_LINE)
        assert_tells(said, "--interval-method expanded")
        one, other = [[(0, 1, "P")]] * 5, [[(3, 4, "P")]] * 5
        spans = {"a": one, "b": one, "c": other, "d": other}
        result = agreement(Corpus.from_spans(spans, lengths=[9] * 5))
        found = result.interval("observed", resamples=99, seed=1, over="annotators", method="bca")
        said = spoken(found.why, COMMAND_LINE)
        assert_tells(said, "annotators … --interval-method bca … --interval-method percentile")

    def test_few_annotators_are_warned_of_whatever_the_method(self):
        # Of 400 documents and 9 annotators; the documents do not make up for the annotators.
        documents = ("documents", 400)
        interval = ConfidenceInterval(0.1, 0.2, (), (documents, ("annotators", 9)), 300.0, "bca")
        assert (interval.over, interval.n_units) == ("documents and annotators", 409)
        for method in ("bca", "percentile"):
            caution = replace(interval, method=method).caution
            assert_tells(caution, "9 annotators … 10 … method='expanded'")
        caution = replace(interval, method="expanded").caution
        assert_tells(caution, "9 annotators … 10 … unlike")
        assert "method=" not in caution
        assert replace(interval, units=(documents, ("annotators", 10))).caution is None
        # Nothing has to be said of an interval that does not exist.
        assert replace(interval, why="none", effective=nan).caution is None

    @each(("over", "n_units"), [("annotators", 3), ("both", 15)])
    def test_annotators_are_counted(self, over, n_units):
        found = agreement(example()).interval(over=over, resamples=199, seed=1)
        assert (found.n_units, found.n_annotators) == (n_units, 3)
        assert agreement(example()).interval(resamples=199, seed=1).n_annotators == 0


def test_difficulty_of_labels_and_annotators():
    corpus = noisy(30, ("anna", "ben", "cleo"))
    result = difficulty(corpus)
    found = result.intervals(resamples=199, method="percentile", seed=3)
    drawn = np.random.default_rng(3).integers(0, 30, (199, 30)).tolist()
    rows = result.counts.to_rows()
    levels = [(found.by_label, "label", lambda row: row["label"])]
    levels.append(
        (found.by_annotator, "annotator", lambda row: row["a"] if row["a"] == row["b"] else None)
    )
    points = {"label": result.by_label, "annotator": result.by_annotator}
    for intervals, kind, name_of in levels:
        assert set(intervals) == set(points[kind])
        for name, interval in intervals.items():
            sums = np.zeros((30, 2))
            for row in rows:
                if name_of(row) == name:
                    times = 1 if row["a"] == row["b"] else 2
                    place = result.counts.documents.index(row["document"])
                    sums[place] += times * np.array(
                        [row["expected"], row["size_a"] + row["size_b"]]
                    )
            whole = 1 - 2 * sums[:, 0].sum() / sums[:, 1].sum()
            assert points[kind][name] == pytest.approx(whole, rel=1e-12)
            values = [1 - 2 * sums[d, 0].sum() / sums[d, 1].sum() for d in drawn]
            ends = np.quantile(values, [0.025, 0.975])
            assert (interval["difficulty"].low, interval["difficulty"].high) == pytest.approx(ends)


def test_one_interval_of_difficulty_takes_one_level(monkeypatch):
    levels = []
    intervals_of = difficulty_module.intervals_of

    def watched(rows, *options, **more):
        levels.append(len(rows.levels))
        return intervals_of(rows, *options, **more)

    monkeypatch.setattr(difficulty_module, "intervals_of", watched)
    result = difficulty(noisy(12, ("anna", "ben", "cleo")))
    one = result.interval(resamples=99, seed=1)
    assert one == result.intervals(resamples=99, seed=1).overall["difficulty"]
    assert levels == [1, 1 + 2 + 3]


def test_some_levels_only():
    result = agreement(noisy(12, ("anna", "ben", "cleo")))
    every = result.intervals(resamples=99, seed=1)
    some = result.intervals(levels=["label"], resamples=99, seed=1)
    assert (some.overall, some.by_label) == (every.overall, every.by_label)
    assert some.by_pair == some.by_annotator == some.without == {}
    pair = agreement(noisy(12))
    assert pair.intervals(levels=["pair"], resamples=99, seed=1).by_annotator == {}
    with refused(OptionError, "level … 'document' … pair"):
        result.intervals(levels=["document"])


def test_some_names_only(monkeypatch):
    result = agreement(noisy(12, ("anna", "ben", "cleo", "dan"), seed=5))
    sizes = []
    drawn = uncertainty.Rows.sums
    monkeypatch.setattr(
        uncertainty.Rows,
        "sums",
        lambda rows, unit, n, levels: sizes.append(len(levels)) or drawn(rows, unit, n, levels),
    )
    for method in ("expanded", "bca"):
        options = {"method": method, "resamples": 99, "seed": 1}
        full = result.intervals(**options)
        sizes.clear()
        chosen = {"pair": [("ben", "dan")], "annotator": ["dan", "ben"]}
        found = result.intervals(levels=chosen, **options)
        # All, a pair, two annotators, and the team without either.
        assert sum(sizes) == 1 + 1 + 2 + 2
        assert found.overall == full.overall
        assert found.by_label == {}
        assert found.by_pair == {("ben", "dan"): full.by_pair["ben", "dan"]}
        assert list(found.by_annotator) == ["ben", "dan"]
        for name in ("ben", "dan"):
            assert found.by_annotator[name] == full.by_annotator[name]
            assert found.without[name] == full.without[name]
    assert result.intervals(levels={"pair": None}).by_pair == result.intervals().by_pair
    with refused(UnknownNameError, "'nemo' … 'dan'"):
        result.intervals(levels={"annotator": ["nemo"]})


# --- Laws ---------------------------------------------------------------------


@examples(40)
@given(
    seed=st.integers(0, 10**6), method=st.sampled_from(uncertainty.METHODS), n=st.integers(2, 30)
)
def test_an_interval_lies_within_the_scale(seed, method, n):
    result = agreement(noisy(n, seed=seed))
    found = result.intervals(resamples=99, seed=seed, method=method)
    for item in (found.overall, *found.by_label.values()):
        for name in ("observed", "chance", "corrected"):
            interval = item[name]
            if interval.reason is None:
                assert interval.low <= interval.high <= 1
                assert interval.low >= (-np.inf if name == "corrected" else 0)
                assert 1 < interval.effective <= n * (1 + 1e-12)
            else:
                assert isnan(interval.low)


@examples(20)
@given(seed=st.integers(0, 10**6))
def test_names_of_labels_and_sides_do_not_matter(seed):
    corpus = noisy(12, seed=seed)
    renamed = (
        corpus.rename_labels({"P": "zeta", "L": "alpha"}) if len(corpus.labels) == 2 else corpus
    )
    for method in ("expanded", "bca"):
        options = {"seed": 1, "resamples": 99, "method": method}
        one, two = (agreement(c).interval(**options) for c in (corpus, renamed))
        assert repr(one) == repr(two)


@examples(30)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 30), times=st.integers(2, 5))
def test_an_expanded_interval_holds_the_score_and_narrows_with_more_of_the_same(seed, n, times):
    once = agreement(noisy(n, seed=seed))
    again = replace(
        once,
        counts=type(once.counts).joined(
            replace(once.counts, documents=tuple(f"{i} {x}" for x in once.counts.documents))
            for i in range(times)
        ),
    )
    for name in SCORES:
        one, more = once.interval(name), again.interval(name)
        if one.reason is None:
            assert one.low < more.low < getattr(once, name) < more.high < one.high


@examples(30)
@given(seed=st.integers(0, 10**6), n=st.integers(2, 30))
def test_an_expanded_interval_does_not_depend_on_the_order_of_documents(seed, n):
    result = agreement(noisy(n, seed=seed))
    order = np.random.default_rng(seed).permutation(len(result.counts.documents))
    counts = result.counts
    shuffled = replace(
        counts,
        documents=tuple(counts.documents[i] for i in order),
        document=np.argsort(order)[counts.document],
    )
    one, other = result.interval(), replace(result, counts=shuffled).interval()
    assert (one.low, one.high) == pytest.approx((other.low, other.high), rel=1e-9, nan_ok=True)


def test_scores_are_those_of_score():
    # Chance of 1 is told by a branch, for the last digit of what is expected may be off.
    nearly = np.nextafter(4.0, 0.0)
    sums = np.array([[7.0, 2.5, 20.0, 1.0], [0.0, 0.0, 0.0, 0.0], [4.0, nearly, 8.0, 0.0]])
    scores = [
        Score(matched=m, expected=e, size_a=s / 4, size_b=3 * s / 4, certain=not u)
        for m, e, s, u in sums.tolist()
    ]
    for name in SCORES:
        expected = [getattr(score, name) for score in scores]
        np.testing.assert_array_equal(uncertainty.score_of(sums, name), expected)


class TestEstimatedChance:
    """Where chance is sampled, one seed is in the signature, and stands for both."""

    def result(self, seed):
        return agreement(noisy(12), measure="iou", theta=0.3, samples=50, seed=seed)

    def test_the_seed_of_the_estimates_is_taken(self):
        options = {"resamples": 99, "method": "bca"}
        found = self.result(5).intervals(**options)
        assert found.settings.seed == 5
        assert repr(found) == repr(self.result(5).intervals(seed=5, **options))
        assert self.result(5).intervals().settings.seed == 5

    def test_another_seed_is_refused(self):
        with refused(OptionError, "seed … 6 … 5"):
            self.result(5).interval(resamples=99, seed=6)

    def test_a_generator_leaves_the_seed_of_the_estimates(self):
        found = self.result(5).intervals(resamples=99, seed=np.random.default_rng(1))
        assert found.settings.seed == 5


@each("measure", ["boundary", "dice", "iou"])
def test_other_measures_by_hand(measure):
    result = agreement(noisy(15), measure=measure)
    found = result.interval("corrected", resamples=199, method="percentile", seed=3)
    drawn = np.random.default_rng(3).integers(0, 15, (199, 15)).tolist()
    scores = list(result.by_document.values())
    values = []
    for numbers in drawn:
        matched, expected, size = (
            sum(column)
            for column in zip(
                *(
                    (scores[d].matched, scores[d].expected, scores[d].size_a + scores[d].size_b)
                    for d in numbers
                ),
                strict=True,
            )
        )
        values.append((matched - expected) / (size / 2 - expected))
    assert (found.low, found.high) == pytest.approx(np.quantile(values, [0.025, 0.975]), rel=1e-12)


class TestPartsOfAResult:
    """What a result is broken down by has the intervals of the result."""

    def test_are_those_of_the_result(self):
        result = agreement(example())
        expected = result.intervals(by=["season"])
        for level in ("label", "pair", "annotator"):
            for name, score in getattr(result, f"by_{level}").items():
                assert score.interval() == getattr(expected, f"by_{level}")[name]["corrected"]
        for value, score in result.by_field("season").items():
            assert score.interval("observed") == expected.by_field["season"][value]["observed"]

    def test_of_one_document_there_is_none(self):
        score = agreement(example()).by_document["issue-01"]
        assert score.interval().reason == "there are too few documents: found 1, expected 2 or more"
        assert score.interval(over="annotators").reason is None

    def test_of_other_annotators_there_is_none_of_a_pair(self):
        result = agreement(example())
        with refused(OptionError, "over … 'annotators' … 'documents'"):
            result.by_pair["ada", "ben"].interval(over="annotators")

    def test_a_score_by_itself_has_none(self):
        with refused(DataError, "result … .by_label[...]"):
            Score(matched=1, size_a=1, size_b=1).interval()

    def test_are_kept_when_pickled(self):
        result = agreement(example())
        score = result.by_label["PLACE"]
        kept = pickle.loads(pickle.dumps(result))  # noqa: S301 - our own
        for again in (kept.by_label["PLACE"], copy(score)):
            assert again == score
            assert again.interval() == score.interval()
