"""Time and memory follow the input; what cannot be kept is refused with a sentence."""

import tracemalloc

import numpy as np
import pytest

import beyondchance as bc
from beyondchance import Corpus, DataError
from beyondchance.scoring import counting


def corpus_of(spans, n):
    """One text of n positions, with the spans (start, end, label) of each annotator."""
    return Corpus.from_spans({name: [found] for name, found in spans.items()}, lengths=[n])


def peak_of(run):
    tracemalloc.start()
    try:
        found = run()
        return found, tracemalloc.get_traced_memory()[1]
    finally:
        tracemalloc.stop()


# --- Annotators ---------------------------------------------------------------


@pytest.fixture(scope="module")
def crowd():
    """Five thousand annotators of one text."""
    return corpus_of({f"a{i:04}": [(i % 90, i % 90 + 5, "P")] for i in range(5000)}, 100)


@pytest.mark.parametrize("score", [bc.agreement, bc.difficulty, bc.labelling, bc.disagreements])
def test_too_many_pairs_are_refused_before_they_are_made(crowd, score):
    def refused():
        with pytest.raises(DataError, match="5,000 annotators .* 12,497,500 pairs.*gold") as found:
            score(crowd)
        return found

    _, peak = peak_of(refused)
    assert peak < 20_000_000


def test_five_thousand_annotators_are_compared_with_one(crowd):
    found, peak = peak_of(lambda: bc.agreement(crowd, gold="a0000"))
    assert len(found.by_pair) == 4999
    assert peak < 20_000_000


def test_annotators_who_marked_nothing_are_not_listed_for_every_label():
    # Each has a label of its own: a row for each label and partner, not for each label and pair.
    n = 200
    spans = {f"a{i}": [(i, i + 1, f"L{i}")] for i in range(n)}
    found, peak = peak_of(lambda: bc.agreement(corpus_of(spans, n)))
    assert len(found.counts) == n * (n - 1)
    assert peak < 500 * n * n


def test_rows_are_the_same_whichever_way_they_are_found(monkeypatch):
    rng = np.random.default_rng(7)
    spans = {
        f"a{i}": [
            [(s, s + 2, f"L{rng.integers(6)}") for s in range(0, 20, 2) if rng.random() < 0.2]
            for _ in range(3)
        ]
        for i in range(5)
    }
    corpus = Corpus.from_spans(spans, lengths=[20] * 3)
    sparse = bc.agreement(corpus).counts.to_dict()
    monkeypatch.setattr(counting, "_DENSE", 10**9)
    assert bc.agreement(corpus).counts.to_dict() == sparse
    monkeypatch.setattr(counting, "_DENSE", 0)
    assert bc.agreement(corpus).counts.to_dict() == sparse


def test_too_many_rows_are_refused(monkeypatch):
    monkeypatch.setattr(counting, "_MOST_ROWS", 10)
    monkeypatch.setattr(counting, "_ROWS_FOR_EACH", 0)
    spans = {name: [(0, 1, "P"), (1, 2, "Q")] for name in "abcd"}
    with pytest.raises(DataError, match="4 annotators with 2 labels make 12 comparisons"):
        bc.agreement(corpus_of(spans, 3))
    assert len(bc.agreement(corpus_of(spans, 3), gold="a").counts) == 6
