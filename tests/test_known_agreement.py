"""Corpora of known agreement for other coefficients: how annotators guess, files and tables."""

import csv
from collections import Counter
from itertools import pairwise, product

import numpy as np
import pytest

import beyondchance as bc
import known_agreement as module
from known_agreement import DENSITIES, GUESSES, TEXTS, guessed, sentences, tags_of, truth


def as_corpus(rows):
    words, first, second = zip(*rows, strict=True)
    return bc.Corpus.from_tags({"first": first, "second": second}, tokens=words)


def agree_with(counts, weights):
    """Whether cases were drawn in proportion to weights, within four standard errors."""
    n, total = counts.total(), sum(weights.values())
    assert set(counts) <= set(weights)
    return all(
        abs(counts[case] - n * w / total) < 4 * (n * w / total * (1 - w / total)) ** 0.5
        for case, w in weights.items()
    )


@pytest.mark.slow
def test_guesses_are_as_likely_as_the_odds_of_their_words(monkeypatch):
    rng = np.random.default_rng(1)
    nothing = np.zeros(4, dtype=bool)
    monkeypatch.setattr(module, "LENGTHS", (1,))
    odds = np.array([1.0, 2.0, 3.0, 0.5])
    drawn = (sorted(guessed(2, nothing, odds, rng)[:, 0].tolist()) for _ in range(4000))
    weights = {(a, b): odds[a] * odds[b] for a, b in product(range(4), repeat=2) if a < b}
    assert agree_with(Counter(map(tuple, drawn)), weights)
    # Two of two positions where one of five is taken: [0, 2) and [3, 5), or nothing.
    monkeypatch.setattr(module, "LENGTHS", (2,))
    taken = np.array([False, False, True, False, False])
    assert sorted(guessed(2, taken, np.ones(5), rng).tolist()) == [[0, 2], [3, 5]]
    one = (int(guessed(1, taken, np.array([1, 2, 1, 3, 1.0]), rng)[0, 0]) for _ in range(2000))
    assert agree_with(Counter(one), {0: 2, 3: 3})
    # The lengths 1 and 2, either of which may be first, have three places each in four positions.
    monkeypatch.setattr(module, "LENGTHS", (1, 2))
    drawn = (tuple(map(tuple, guessed(2, nothing, np.ones(4), rng).tolist())) for _ in range(6000))
    mixed = Counter(spans for spans in drawn if {e - s for s, e in spans} == {1, 2})
    assert agree_with(mixed, dict.fromkeys(mixed, 1))
    assert len(mixed) == 6


@pytest.mark.slow
def test_annotators_know_the_share_of_spans_that_is_said():
    for guesses, texts in product(GUESSES, TEXTS):
        rows = sentences(guesses, texts, 0.3, 1.0, seed=1)
        assert all(first == second for _, first, second in rows)
    assert truth("uniform", 0.7) == truth("shapes", 0.7) == pytest.approx(0.49)
    # Half of the spans are known to everyone, the other half with probability .4.
    assert truth("hard", 0.7) == pytest.approx((1 + 0.16) / 2)
    # Long spans are hardly ever equal by luck.
    for guesses in ("uniform", "hard"):
        found = [
            bc.agreement(
                as_corpus(sentences(guesses, "documents", 0.1, 0.7, seed)), measure="exact"
            )
            for seed in range(6)
        ]
        values = [result.corrected for result in found]
        assert abs(np.mean(values) - truth(guesses, 0.7)) < 0.04, guesses


@pytest.mark.slow
def test_annotators_without_knowledge():
    def means(guesses, measure, **options):
        corpora = [as_corpus(sentences(guesses, "sentences", 0.3, 0.0, seed)) for seed in range(4)]
        return np.mean([bc.agreement(x, measure=measure, **options).corrected for x in corpora])

    assert abs(means("uniform", "token")) < 0.03
    # Those who see shapes agree more than at random, and share what is shared.
    assert means("shapes", "token") > 0.3
    assert means("shared", "exact") == pytest.approx(0.25, abs=0.05)


@pytest.mark.slow
def test_spans_do_not_overlap():
    for guesses, texts, density, q in product(GUESSES, TEXTS, DENSITIES[1:], (0.5,)):
        corpus = as_corpus(sentences(guesses, texts, density, q, seed=1)[:8])
        for document, name in product(corpus.documents, corpus.annotators):
            spans = corpus.spans(document, name)
            assert all(a.end <= b.start for a, b in pairwise(spans)), guesses
            assert {span.end - span.start for span in spans} <= {1, 2, 3, 4, 5}
    assert tags_of(np.array([[1, 3], [3, 4]]), 5) == ["O", "B-X", "I-X", "B-X", "O"]


@pytest.mark.slow
def test_files_are_written_read_and_scored(tmp_path, monkeypatch, capsys):
    monkeypatch.setattr(module, "KNOWLEDGE", (0.0, 0.7))
    monkeypatch.setattr(module, "TEXTS", {"sentences": (10, 12)})
    monkeypatch.setattr(module, "DENSITIES", (0.3,))
    monkeypatch.setattr(module, "N_SPANS", 12)
    for folder in ("one", "two"):
        module.write(tmp_path / folder, 2)
    names = sorted(path.name for path in (tmp_path / "one").iterdir())
    assert len(names) == 2 * 7 + 1
    for name in names:
        both = [(tmp_path / folder / name).read_bytes() for folder in ("one", "two")]
        assert both[0] == both[1]
    # Whoever reads it by our command line has the same score.
    path = tmp_path / "one" / "shapes-sentences-0.3-0.7-01.conll"
    corpus = module.read(path)
    again = bc.read(path)
    skill = [bc.agreement(one, chance="shapes").corrected for one in (corpus, again)]
    assert skill[0] == skill[1]
    known = module.known(tmp_path / "one")
    with (tmp_path / "mine.csv").open("w", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "score", "value"])
        for number, (name, about) in enumerate(known.items()):
            rows.writerow([name, "mine", float(about["truth"]) + (number % 2) / 10])
    folder = str(tmp_path / "one")
    monkeypatch.setattr(module.sys, "argv", ["", "score", folder, str(tmp_path / "mine.csv")])
    module.main()
    printed = capsys.readouterr().out
    assert "| mine | 0.05 to 0.05 | 0.54 to 0.54 |" in printed
    assert "| mine | +0.05 (0.07) |" in printed
