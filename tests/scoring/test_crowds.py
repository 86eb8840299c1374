"""Annotators who are too many for their pairs to be listed, against all pairs."""

from __future__ import annotations

import numpy as np
import pytest
from hypothesis import given, strategies as st

from beyondchance import Agreement, Corpus, agreement
from beyondchance.errors import DataError, OverlapError
from beyondchance.scoring import answers
from examples import examples
from refusals import refused


def team(n_people: int, n_documents: int, n: int, seed: int) -> Corpus:
    """Annotators of whom each left out some documents, and found nothing in others."""
    rng = np.random.default_rng(seed)
    spans: dict[str, list[list[tuple[int, int, str]] | None]] = {}
    for person in range(n_people):
        lists: list[list[tuple[int, int, str]] | None] = []
        for _ in range(n_documents):
            own, place = [], int(rng.integers(0, 4))
            while place < n:
                end = min(n, place + int(rng.integers(1, 4)))
                own.append((place, end, "XY"[int(rng.integers(2))]))
                place = end + int(rng.integers(0, 5))
            lists.append(None if rng.random() < 0.2 else own if rng.random() < 0.9 else [])
        spans[f"a{person}"] = lists
    return Corpus.from_spans(spans, lengths=[n] * n_documents)


def by_sums(corpus: Corpus, **options: str) -> Agreement:
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(answers, "is_crowd", lambda *_: True)
        return agreement(corpus, **options)


@examples(40)
@given(st.integers(0, 10**6), st.sampled_from(["label", "unlabelled"]), st.integers(1, 9))
def test_sums_are_those_of_all_pairs(seed: int, scope: str, n: int) -> None:
    corpus = team(5, 4, n, seed)
    whole, crowd = agreement(corpus, scope=scope), by_sums(corpus, scope=scope)
    assert crowd.settings == whole.settings
    assert crowd.skipped == whole.skipped
    for level in ("by_label", "by_annotator", "without", "by_document"):
        one, other = getattr(whole, level), getattr(crowd, level)
        assert list(one) == list(other)
        for name in one:
            for value in ("matched", "expected", "n_spans", "n_documents"):
                found = getattr(other[name], value)
                assert found == pytest.approx(getattr(one[name], value), abs=1e-12), name
            sizes = [score.size_a + score.size_b for score in (one[name], other[name])]
            assert sizes[0] == pytest.approx(sizes[1])
    assert crowd.precision == pytest.approx(whole.precision, nan_ok=True)
    assert crowd.reason == whole.reason
    assert crowd.counts.size_by_annotator() == whole.counts.size_by_annotator()
    assert crowd.counts.spans_by_label("a1") == whole.counts.spans_by_label("a1")
    one, other = (r.intervals(levels=["label"]).overall["corrected"] for r in (whole, crowd))
    assert tuple(other) == pytest.approx(tuple(one), nan_ok=True, abs=1e-9)


@pytest.mark.slow
def test_thousands_of_annotators_of_one_document() -> None:
    result = agreement(team(3000, 1, 40, 1))
    assert result.counts.has_pairs is False
    assert not result.by_pair
    assert len(result.by_annotator) == 3000
    assert any("pairs are not listed" in str(note) for note in result.notes)
    assert "by annotator" in str(result)
    # The mean of all scores against the others, weighted by what was marked, is the score.
    own = result.counts.by_annotator().values()
    assert sum(score.matched for score in own) == pytest.approx(2 * result.score.matched)
    assert sum(score.expected for score in own) == pytest.approx(2 * result.score.expected)


def test_overlapping_spans_are_refused() -> None:
    spans = {name: [[(0, 3, "X"), (1, 4, "X")]] for name in ("ada", "ben", "cleo")}
    with refused(OverlapError, "annotators … pair"):
        by_sums(Corpus.from_spans(spans, lengths=[6]))


def test_pairs_are_refused() -> None:
    with refused(DataError, "gold='a1'"):
        by_sums(team(4, 3, 8, 1)).against("a1")
