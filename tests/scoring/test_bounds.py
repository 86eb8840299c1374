"""Time and memory follow the input; what cannot be kept is refused with a sentence."""

import tracemalloc
from functools import partial

import numpy as np
import pytest
from numpy.testing import assert_allclose
from scipy.optimize import linear_sum_assignment

import beyondchance as bc
from beyondchance import Corpus, DataError, OverlapError
from beyondchance.core import expected_by_sums, labels
from beyondchance.core.exact import LAST_DIGITS
from beyondchance.core.labels import expected_alike
from beyondchance.scoring import counting, labelling, one_to_one
from each import each
from refusals import refused


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


@pytest.mark.slow
@each(
    "score",
    [partial(bc.agreement, measure="exact"), bc.difficulty, bc.labelling, bc.disagreements],
)
def test_too_many_pairs_are_refused_before_they_are_made(crowd, score):
    def tried():
        with refused(DataError, "5,000 … 12,497,500 … gold"):
            score(crowd)

    _, peak = peak_of(tried)
    assert peak < 20_000_000


@pytest.mark.slow
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
    with refused(DataError, "4 … 2 … 12"):
        bc.agreement(corpus_of(spans, 3))
    assert len(bc.agreement(corpus_of(spans, 3), gold="a").counts) == 6


# --- Spans that overlap -------------------------------------------------------


def crossing(k, seed):
    """Spans of one label of which each crosses many others."""
    rng = np.random.default_rng(seed)
    start = np.sort(rng.integers(0, 2 * k, k))
    end = start + rng.integers(k // 2, k, k)
    return sorted({(s, e, "P") for s, e in zip(start.tolist(), end.tolist(), strict=True)})


def nested(k):
    """Spans of one label, each inside the one before."""
    return [(i, 4 * k - 2 * i, "P") for i in range(k)]


def test_memory_follows_the_spans_that_cross():
    corpus = corpus_of({"a": crossing(250, 1), "b": crossing(250, 2)}, 1000)
    assert peak_of(lambda: bc.agreement(corpus))[1] < 20_000_000


@pytest.mark.slow
@each("spans", [crossing(24, 1), nested(16)])
@each("measure", ["token", "exact", "boundary", "dice"])
def test_members_added_up_share_what_they_share_one_by_one(monkeypatch, spans, measure):
    other = [(start, end + 1, label) for start, end, label in spans]
    corpus = corpus_of({"a": spans, "b": other, "c": spans[::2]}, 120)
    monkeypatch.setattr(expected_by_sums, "_FEW_PAIRS", 10**9)
    one_by_one = bc.agreement(corpus, measure=measure).counts
    monkeypatch.setattr(expected_by_sums, "_FEW_PAIRS", 0)
    monkeypatch.setattr(expected_by_sums, "_PAIRS_FOR_EACH", 0)
    monkeypatch.setattr(expected_by_sums, "_MOST_CELLS", 400)
    added_up = bc.agreement(corpus, measure=measure).counts
    assert_allclose(added_up.expected, one_by_one.expected, rtol=LAST_DIGITS, atol=0)
    if measure == "dice":
        assert_allclose(added_up.expected_a, one_by_one.expected_a, rtol=LAST_DIGITS, atol=0)
        assert_allclose(added_up.expected_b, one_by_one.expected_b, rtol=LAST_DIGITS, atol=0)


@each("measure", ["token", "exact", "boundary", "dice"])
def test_the_middle_of_a_text_is_looked_at_once(monkeypatch, measure):
    rng = np.random.default_rng(2)
    spans = [(s, s + int(rng.integers(2, 9)), "P") for s in range(0, 600, 20)]
    spans += [(s + 1, s + 12, "P") for s in range(0, 600, 60)]
    other = [(start, end + 1, label) for start, end, label in spans]
    corpus = corpus_of({"a": spans, "b": other}, 20_000)
    one_by_one = bc.agreement(corpus, measure=measure).counts
    sizes = []
    added_up = expected_by_sums._Gathered.added_up

    def watched(*given):
        found = added_up(*given)
        sizes.append(found.shape[1])
        return found

    monkeypatch.setattr(expected_by_sums._Gathered, "added_up", watched)
    monkeypatch.setattr(expected_by_sums, "_FEW_PAIRS", 0)
    monkeypatch.setattr(expected_by_sums, "_PAIRS_FOR_EACH", 0)
    found = bc.agreement(corpus, measure=measure).counts
    assert_allclose(found.expected, one_by_one.expected, rtol=LAST_DIGITS, atol=0)
    assert 0 < max(sizes) < 1_000


def test_too_many_ranks_are_refused(monkeypatch):
    monkeypatch.setattr(counting, "_MOST_RANKS", 50)
    corpus = corpus_of({"a": nested(10), "b": nested(10)}, 40)
    with refused(OverlapError, "'dice' … 10"):
        bc.agreement(corpus, measure="dice")
    assert bc.agreement(corpus).observed == 1


@pytest.mark.slow
def test_spans_nested_six_hundred_deep_are_drawn():
    corpus = corpus_of({"a": nested(600), "b": nested(600)}, 2400)
    found = bc.agreement(corpus, measure="iou", samples=3)
    assert found.observed == 1


def total_overlap(found):
    rows = found.to_rows()
    pairs = [row for row in rows if row["start_a"] is not None and row["start_b"] is not None]
    return sum(
        min(row["end_a"], row["end_b"]) - max(row["start_a"], row["start_b"]) for row in pairs
    )


@each("seed", range(5))
def test_many_spans_that_overlap_share_as_much_as_an_assignment_finds(seed):
    rng = np.random.default_rng(seed)
    sides = {
        name: sorted({(s, s + int(rng.integers(1, 90)), "P") for s in rng.integers(0, 99, size)})
        for name, size in (("a", 60), ("b", 80))
    }
    found = bc.disagreements(corpus_of(sides, 200))
    start, end = ([np.array([span[i] for span in side]) for side in sides.values()] for i in (0, 1))
    shared = np.minimum(end[0][:, None], end[1]) - np.maximum(start[0][:, None], start[1])
    shared = np.maximum(shared, 0)
    assert total_overlap(found) == shared[linear_sum_assignment(-shared)].sum()


@pytest.mark.slow
def test_memory_is_linear_however_many_spans_overlap():
    peaks = []
    for k in (120, 480):
        corpus = corpus_of({"a": crossing(k, 1), "b": crossing(k, 2)}, 4 * k)
        found, peak = peak_of(lambda corpus=corpus: bc.disagreements(corpus))
        assert sum(found.by_kind().values()) >= 0.98 * k
        peaks.append(peak)
    # Four times as many spans have sixteen times as many pairs.
    assert peaks[1] < 6 * peaks[0]


def test_an_assignment_that_takes_too_long_takes_what_is_left(monkeypatch):
    monkeypatch.setattr(one_to_one, "_MOST_LOOKS", 0)
    monkeypatch.setattr(one_to_one, "_LOOKS_FOR_EACH", 0)
    sides = {"a": crossing(40, 1), "b": crossing(40, 2)}
    found = bc.disagreements(corpus_of(sides, 200))
    assert found.n_spans == len({*sides["a"]}) + len({*sides["b"]})


# --- Labels -------------------------------------------------------------------


def labelled(k):
    """Spans inside one another, each with a label of its own."""
    return [(start, end, f"L{start}") for start, end, _ in nested(k)]


def test_labels_are_permuted_in_memory_that_is_bounded():
    n = 20_000
    drawn, pool = np.full(n, 20), np.array([np.arange(n) % 90 + 10.0, np.full(n, 100.0)])
    alike, peak = peak_of(lambda: expected_alike(drawn, drawn, pool, pool))
    assert alike[90] == alike[0] == expected_alike(drawn[:1], drawn[:1], pool[:, :1], pool[:, :1])
    assert peak < 15_000_000


def test_a_label_more_at_one_place_costs_no_more_at_the_others():
    steps = []

    def counted(drawn, *pool):
        steps.append(int(drawn.max()) * len(drawn))
        return at_least(drawn, *pool)

    at_least = labels._at_least
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(labels, "_at_least", counted)
        patch.setattr(labels, "_MOST_CELLS", 100)
        drawn = np.array([1] * 1000 + [500])
        pool = np.array([np.full(1001, 10.0), np.full(1001, 1000.0)])
        expected_alike(drawn, drawn, pool, pool)
    assert sum(steps) < 2 * (1000 + 500 * 100)


@pytest.mark.slow
def test_too_many_labels_on_top_of_one_another_are_refused():
    corpus = corpus_of({"a": labelled(400), "b": labelled(400)}, 1600)
    with refused(OverlapError, "labels … exact", use="measure"):
        labelling._counted(corpus, "token", None)
    assert bc.labelling(corpus, measure="exact").labelling.observed == 1


def test_spans_cut_into_too_many_pieces_are_refused():
    corpus = corpus_of({"a": nested(3000), "b": nested(3000)}, 12_000)
    with refused(OverlapError, "6,000 … pieces"):
        labelling._counted(corpus, "token", None)


def test_labels_of_five_thousand_annotators_are_compared_with_those_of_one(crowd):
    found, peak = peak_of(lambda: bc.labelling(crowd, gold="a0000"))
    assert len(found.labelling.by_pair) == 4999
    assert peak < 40_000_000


@pytest.mark.slow
def test_too_many_pairs_of_drawn_spans_are_refused():
    corpus = corpus_of({"a": nested(2200), "b": nested(2200)}, 8800)
    with refused(OverlapError, "1,000 … 2,200"):
        bc.agreement(corpus, measure="iou")


@pytest.mark.slow
def test_lines_of_many_positions_are_solved_a_few_at_a_time(monkeypatch):
    spans = {
        name: [(i, 150 - i - shift, f"L{i}") for i in range(50)] for shift, name in enumerate("ab")
    }
    corpus = corpus_of(spans, 150)
    at_once, memory = peak_of(lambda: bc.agreement(corpus).counts.expected)
    monkeypatch.setattr(counting, "_MOST_POSITIONS", 150)
    one_by_one, less = peak_of(lambda: bc.agreement(corpus).counts.expected)
    assert one_by_one.tolist() == at_once.tolist()
    assert less < memory / 2


def test_spans_of_millions_of_positions_are_refused():
    spans = {"ada": [[(0, 2**20 + 1, "P")]], "ben": [[(0, 5, "P")]]}
    corpus = bc.Corpus.from_spans(spans, lengths=[2**30])
    with refused(bc.SpanError, "document '0', annotator 'ada': … 1,048,577 … 1,048,576"):
        bc.agreement(corpus)
