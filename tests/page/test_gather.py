"""What belongs to a result is computed as the functions for it do."""

import re

import numpy as np
import pytest

from beyondchance import (
    Corpus,
    CustomMeasure,
    DataError,
    agreement,
    compare_systems,
    coverage,
    difficulty,
    disagreements,
    example,
    rank,
)
from beyondchance.page.gather import overview
from beyondchance.scoring import answers
from refusals import refused

FEW = {"resamples": 99}
SMALL = example().select(documents=["issue-01", "issue-02", "issue-03"])


def test_annotators():
    corpus = SMALL
    result = agreement(corpus, measure="exact")
    found = overview(result, corpus, **FEW)
    assert list(found.results) == ["exact", "token"]
    assert found.results["exact"] is result
    assert found.results["token"].score == agreement(corpus).score
    assert found.rankings == found.standings == {}
    expected = result.intervals(seed=0, **FEW)
    assert repr(found.intervals["exact"]) == repr(expected)
    assert found.difficulty.by_document == difficulty(corpus, measure="exact").by_document
    assert found.disagreements.by_kind() == disagreements(corpus).by_kind()
    assert found.coefficients.values["corrected-f1"].value == agreement(corpus).corrected
    assert "gamma" not in found.coefficients.values


def with_model(corpus):
    """The corpus with a model that marks what cleo does, in other texts."""
    marked = {name: [corpus.spans(x, name) for x in corpus.documents] for name in corpus.annotators}
    marked["gpt"] = marked["cleo"][1:] + marked["cleo"][:1]
    return Corpus.from_spans(marked, lengths=[99] * len(corpus.documents))


@pytest.mark.slow
def test_models_are_compared_with_people_who_are_described_alone():
    whole = with_model(SMALL)
    people = whole.select(annotators=SMALL.annotators)
    result = agreement(whole, measure="exact")
    found = overview(result, whole, models=["gpt"], **FEW)
    expected = overview(agreement(people, measure="exact"), people, **FEW)
    for name in ("token", "exact"):
        assert found.results[name].score == expected.results[name].score
        assert found.results[name].counts.annotators == SMALL.annotators
    assert found.results["exact"].score != result.score
    assert repr(found.intervals) == repr(expected.intervals)
    assert found.settings == expected.settings
    patterns = [[str(x) for x in each.diagnosis.patterns] for each in (found, expected)]
    assert patterns[0] == patterns[1]
    assert found.diagnosis.corrected == found.results["exact"].corrected
    assert found.disagreements.by_kind() == expected.disagreements.by_kind()
    assert found.difficulty.by_document == expected.difficulty.by_document
    assert found.coefficients.values == expected.coefficients.values
    assert found.corpus.annotators == SMALL.annotators
    assert list(found.replacement.models) == ["gpt"]
    assert found.replacement.humans == SMALL.annotators
    assert found.replacement.settings.measure == "exact"


def test_models_of_another_corpus():
    whole = with_model(SMALL)
    with refused(DataError):
        overview(agreement(whole), with_model(example()), models=["gpt"], **FEW)


def test_systems():
    corpus = example().with_gold("ada")
    ranking = rank(corpus)
    found = overview(ranking, corpus, **FEW)
    assert found.rankings["token"] is ranking
    assert list(found.rankings) == ["token", "exact"]
    # All systems together: the rows of each with the gold standard, added.
    together = sum(system.score.matched for system in ranking.systems.values())
    assert found.results["token"].score.matched == together
    assert repr(found.standings["token"]) == repr(compare_systems(ranking, seed=0, **FEW))
    assert found.difficulty.overall == difficulty(corpus).overall
    assert found.disagreements.pairs == (("ada", "ben"), ("ada", "cleo"))
    assert found.coefficients is None


def test_all_against_the_gold_standard():
    corpus = example()
    found = overview(agreement(corpus, gold="ada"), corpus, **FEW)
    assert found.disagreements.pairs == (("ada", "ben"), ("ada", "cleo"))
    assert set(found.results["exact"].by_pair) == {("ada", "ben"), ("ada", "cleo")}


def test_a_gold_standard_is_left_out():
    corpus = example().with_gold("ada")
    found = overview(agreement(corpus), corpus, **FEW)
    assert found.disagreements.pairs == (("ben", "cleo"),)
    assert found.results["exact"].counts.annotators == ("ben", "cleo")


def test_gamma_on_request():
    corpus = example().select(documents=["issue-01", "issue-02"])
    found = overview(
        agreement(corpus), corpus, others=["gamma", "kappa"], gamma={"samples": 30}, **FEW
    )
    assert list(found.coefficients.values) == ["gamma", "kappa"]
    assert "samples=30" in found.coefficients.settings.gamma


def test_without_a_corpus():
    found = overview(agreement(example()), **FEW)
    assert list(found.results) == ["token"]
    assert found.disagreements is found.difficulty is found.coefficients is found.corpus is None
    found = overview(rank(example(), gold="ada"), **FEW)
    assert found.results == {}
    assert list(found.standings) == ["token"]


def test_measures_of_ones_own():
    def half(start_a, length_a, start_b, length_b):
        return np.where(start_a == start_b, np.minimum(length_a, length_b), 0.0)

    measure = CustomMeasure(name="half", phi=half, size=lambda length: length)
    corpus = SMALL
    result = agreement(corpus, measure=measure)
    found = overview(result, corpus, **FEW)
    assert found.results["half"] is result
    # Difficulty is that of the token measure then.
    assert found.difficulty.overall == difficulty(corpus).overall
    ranking = rank(corpus, gold="ada", measure=measure)
    found = overview(ranking, corpus, **FEW)
    assert found.rankings["half"] is ranking
    assert list(found.results) == ["token"]


def test_random_spans_in_three_texts():
    corpus = SMALL
    found = overview(agreement(corpus), corpus, **FEW).placements
    assert len(found) == 3
    for name, covered in found:
        document, label, annotator = re.fullmatch("(.*): (.*) by (.*)", name).groups()
        # A document has sentences; the spans of one of them are placed.
        texts = np.flatnonzero(corpus.text_document == corpus.documents.index(document))
        is_own = (corpus.span_annotator == corpus.annotators.index(annotator)) & (
            corpus.span_label == corpus.labels.index(label)
        )
        sizes = [
            (corpus.span_end - corpus.span_start)[is_own & (corpus.span_text == text)].tolist()
            for text in texts.tolist()
            if corpus.text_length[text] == len(covered)
        ]
        expected = [coverage(len(covered), lengths).tolist() for lengths in sizes if lengths]
        assert any(covered.tolist() == pytest.approx(one, rel=1e-12) for one in expected)


def test_nothing_marked():
    corpus = Corpus.from_spans({"a": [[]], "b": [[]]}, lengths=[5])
    found = overview(agreement(corpus), corpus, **FEW)
    assert found.placements == []
    assert len(found.disagreements) == 0


def test_nested_spans_are_not_placed():
    spans = {name: [[(0, 4, "P"), (1, 2, "P")]] for name in "ab"}
    corpus = Corpus.from_spans(spans, lengths=[6])
    assert overview(agreement(corpus), corpus, **FEW).placements == []


class TestScoredOnce:
    """Nothing is scored twice: a page of the example takes three more scorings, or four.

    Other coefficients take one, of the same spans in texts of twice the length.
    """

    @pytest.fixture
    def calls(self, monkeypatch):
        calls = []
        counted = answers.counted

        def counting(*args, **options):
            calls.append(options)
            return counted(*args, **options)

        monkeypatch.setattr(answers, "counted", counting)
        return calls

    @pytest.mark.parametrize(
        ("measure", "n_calls"),
        [
            ("token", 2),  # exact, difficulty
            ("dice", 3),  # token, exact, difficulty
        ],
    )
    def test_annotators(self, calls, measure, n_calls):
        corpus = SMALL
        result = agreement(corpus, measure=measure)
        calls.clear()
        overview(result, corpus, **FEW)
        assert len(calls) == n_calls

    def test_all_against_one(self, calls):
        corpus = example()
        result = agreement(corpus, gold="ada")
        calls.clear()
        overview(result, corpus, **FEW)
        assert len(calls) == 2  # exact, difficulty

    def test_systems(self, calls):
        corpus = example().with_gold("ada")
        ranking = rank(corpus)
        calls.clear()
        overview(ranking, corpus, **FEW)
        assert len(calls) == 4  # exact for either system, all systems together, difficulty


class TestRefused:
    def test_labels_that_were_left_out(self):
        persons = example().select(labels=["PERSON"])
        with refused(DataError, "labels"):
            overview(agreement(persons), example(), **FEW)

    def test_another_corpus(self):
        other = example().select(documents=["issue-01"])
        with refused(DataError, "result"):
            overview(agreement(example()), other, **FEW)

    def test_another_corpus_of_systems(self):
        other = example().select(documents=["issue-01"])
        with refused(DataError, "result"):
            overview(rank(example(), gold="ada"), other, **FEW)

    def test_no_result(self):
        with refused(DataError, "Corpus … Agreement … Ranking"):
            overview(example(), **FEW)
