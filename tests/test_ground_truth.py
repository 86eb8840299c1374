"""Annotators of whom it is known how much they agree: the generator, and what is found on it."""

from collections import Counter
from itertools import cycle, pairwise, product

import numpy as np
import pytest

import beyondchance as bc
from generate import _arrangements, _known_or_guessed, knowing_annotators
from ground_truth import KINDS, MEASURES, Kind, scores

SHORT, LONG = (1, 2, 3, 4, 5), (8, 9, 10, 11, 12)
PLACES = {
    "sentences": {"tokens": (10, 20)},
    "documents": {"tokens": (40, 40)},
    "sentences of documents, guesses anywhere": {"sentences": 4, "guess_within": "document"},
    "sentences, lengths known": {"keep_lengths": True},
}


def corrected(corpus, measure):
    return bc.agreement(corpus, measure=measure).corrected


def marked(corpus):
    """The spans of each text and annotator."""
    spans = {}
    for text, annotator, start, end in zip(
        corpus.span_text, corpus.span_annotator, corpus.span_start, corpus.span_end, strict=True
    ):
        spans.setdefault((int(text), int(annotator)), []).append((int(start), int(end)))
    return {key: sorted(values) for key, values in spans.items()}


def test_annotators_who_know_everything_agree_completely():
    for where, options in PLACES.items():
        corpus = knowing_annotators(8, knowledge=1, density=0.3, lengths=SHORT, **options)
        for measure in MEASURES:
            assert corrected(corpus, measure) == 1, (where, measure)


def test_every_coefficient_is_one_for_annotators_who_know_everything():
    values = scores(Kind("sentences", "1 to 5", 0.3).corpus(1, seed=1))
    assert len(values) == 21
    assert values == pytest.approx(dict.fromkeys(values, 1))


SPANS = [(SHORT, 0.1), (SHORT, 0.6), (LONG, 0.5)]
ROTATED = [(where, *spans) for where, spans in zip(PLACES, cycle(SPANS), strict=False)]
EVERY = [(where, *spans) for where in PLACES for spans in SPANS]


@pytest.mark.parametrize(
    ("cases", "n_texts", "n_corpora"),
    [
        pytest.param(ROTATED, 12, 6, marks=pytest.mark.slow),
        pytest.param(EVERY, 24, 12, marks=pytest.mark.long),
    ],
)
def test_annotators_who_know_nothing_agree_by_chance_only(cases, n_texts, n_corpora):
    for where, lengths, density in cases:
        corpora = [
            knowing_annotators(
                n_texts, knowledge=0, density=density, lengths=lengths, seed=seed, **PLACES[where]
            )
            for seed in range(n_corpora)
        ]
        for measure in MEASURES:
            values = np.array([corrected(corpus, measure) for corpus in corpora])
            error = values.std(ddof=1) / len(values) ** 0.5
            assert abs(values.mean()) < 4 * error, (where, lengths, density, measure)


@pytest.mark.slow
def test_one_token_spans_score_what_the_formula_says():
    # Tokens that an annotator knows are closed to guesses, so fewer tokens match by chance than
    # among random annotators: docs/background/ground_truth.md has the formula.
    q, density = 0.7, 0.3
    values = np.array(
        [
            bc.coefficients(
                knowing_annotators(
                    5, knowledge=q, density=density, lengths=(1,), tokens=(300, 300), seed=seed
                ),
                which=["kappa"],
            )
            .values["kappa"]
            .value
            for seed in range(20)
        ]
    )
    truth = (q * (1 - density) / (1 - q * density)) ** 2
    assert abs(values.mean() - truth) < 4 * values.std(ddof=1) / len(values) ** 0.5


def test_spans_are_disjoint_and_have_the_lengths_asked_for():
    marks = [((1,), 0.6), (SHORT, 0.6), (LONG, 0.4)]
    for where, knowledge, (lengths, density) in product(PLACES, (0.0, 0.5, 0.9), marks):
        corpus = knowing_annotators(
            3, knowledge=knowledge, density=density, lengths=lengths, **PLACES[where]
        )
        about = (where, knowledge, lengths)
        for (text, _), spans in marked(corpus).items():
            assert all(end <= start for (_, end), (start, _) in pairwise(spans)), about
            assert {end - start for start, end in spans} <= set(lengths), about
            assert spans[0][0] >= 0, about
            assert spans[-1][1] <= corpus.text_length[text], about


@pytest.mark.slow
def test_true_spans_cover_the_share_of_tokens_asked_for():
    for kind in KINDS:
        corpus = kind.corpus(1, seed=1)
        covered = (corpus.span_end - corpus.span_start).sum() / 2
        # In texts of a few tokens all is random, down to the number of spans.
        n_spans = len(corpus.span_start) / 2
        share = covered / corpus.text_length.sum()
        assert abs(share / kind.density - 1) < 4 / n_spans**0.5


def test_the_unit_of_scoring_does_not_change_what_was_marked():
    options = {"knowledge": 0.5, "density": 0.3, "lengths": SHORT, "sentences": 4}
    for place in ("sentence", "document"):
        by_sentence, by_document = (
            knowing_annotators(10, guess_within=place, unit=unit, **options)
            for unit in ("sentence", "document")
        )
        assert (by_sentence.unit, by_document.unit) == ("sentence", "document")
        assert len(by_sentence.text_length) == 4 * len(by_document.text_length) == 40
        observed = [bc.agreement(corpus).observed for corpus in (by_sentence, by_document)]
        assert observed[0] == observed[1]


def is_even(counts, n_places):
    """Whether all places were drawn equally often, within four standard errors."""
    total, share = sum(counts.values()), 1 / n_places
    error = (total * share * (1 - share)) ** 0.5
    return len(counts) == n_places and all(
        abs(count - total * share) < 4 * error for count in counts.values()
    )


def test_all_arrangements_are_equally_likely():
    # A span of 2 and one of 1 in five positions: the first at 4 places, the other at 3.
    starts = _arrangements(5, np.array([2, 1]), 6000, np.random.default_rng(1))
    assert is_even(Counter(map(tuple, starts.tolist())), n_places=12)


@pytest.mark.slow
def test_guesses_avoid_known_spans_and_the_ends_of_sentences():
    # In a sentence of six positions and one of two, [2, 3) is known. A guess of 2 can begin
    # at 0, 3, 4 or 6. The other true span is longer than any guess, to tell them apart.
    rng = np.random.default_rng(1)
    true, sentence_of = np.array([[2, 3], [3, 6]]), np.array([0] * 6 + [1] * 2)
    places = Counter()
    while places.total() < 1000:
        spans = _known_or_guessed(true, sentence_of, 0.5, (2,), rng).tolist()
        if [2, 3] in spans and [3, 6] not in spans:
            places[spans[1][0]] += 1
    assert is_even(places, n_places=4)
    assert set(places) == {0, 3, 4, 6}
