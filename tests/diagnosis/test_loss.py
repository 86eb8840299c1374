"""Causes of the loss: the published formula, by hand, and laws."""

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from annotated_spans import apart, build, overlapping, teams
from beyondchance.core.resampling import influences, student
from beyondchance.diagnosis import loss
from examples import examples
from refusals import assert_tells

ONE_TO_ONE = ("token", "exact", "boundary", "iou")


def test_the_example_loses_what_was_computed_by_hand():
    found = bc.diagnose(bc.example()).loss
    assert {cause: round(share, 3) for cause, share in found.items()} == {
        "more overall": 0.211,
        "more in some texts": 0.055,
        "more of some labels": 0.016,
        "elsewhere in the text": 0.0,
    }


def test_each_cause_by_itself():
    a = [[(0, 2, "P")], [(4, 8, "P")]]
    cases = {
        "more overall": [[(0, 2, "P")], []],
        "elsewhere in the text": [[(0, 2, "P")], [(0, 4, "P")]],
        "more in some texts": [[(0, 2, "P"), (4, 8, "P")], []],
        "more of some labels": [[(0, 2, "P")], [(4, 8, "Q")]],
    }
    for cause, b in cases.items():
        found = bc.diagnose(bc.Corpus.from_spans({"a": a, "b": b}, lengths=[9, 9])).loss
        assert found[cause] > 0, cause
        assert sum(found.values()) == pytest.approx(found[cause], abs=1e-12), cause


def test_other_lengths_are_a_cause_of_exact():
    a, b = [[(0, 2, "P")]], [[(0, 3, "P")]]
    corpus = bc.Corpus.from_spans({"a": a, "b": b}, lengths=[9])
    assert bc.diagnose(corpus, measure="exact").loss == {
        "more overall": 0,
        "more in some texts": 0,
        "more of some labels": 0,
        "other lengths": pytest.approx(1),
        "elsewhere in the text": 0,
    }


def formula(counts):
    """The terms as sums of smaller sizes: over pairs, texts, and labels."""

    def smaller(*keys):
        _, number = np.unique(np.stack(keys), axis=1, return_inverse=True)
        sizes = [np.bincount(number.ravel(), weights=s) for s in (counts.size_a, counts.size_b)]
        return np.minimum(*sizes).sum()

    pair = counts.pair
    size = (counts.size_a + counts.size_b).sum() / 2
    most = [
        size,
        smaller(pair),
        smaller(pair, counts.text),
        smaller(pair, counts.text, counts.label),
    ]
    return -np.diff(most) / (size - counts.expected.sum())


@pytest.mark.parametrize("measure", ONE_TO_ONE)
@given(sides=teams(spans=overlapping), scope=st.sampled_from(["label", "joint", "unlabelled"]))
@examples(45)
def test_causes_are_not_negative_and_add_up(measure, scope, sides):
    if measure == "iou":
        sides = {n: [None if s is None else s[:1] for s in side] for n, side in sides.items()}
    corpus = build(sides)
    if not corpus.labels:
        return
    found = bc.diagnose(corpus, measure=measure, scope=scope)
    result, shares = found.agreement, found.loss
    if np.isnan(result.corrected):
        return
    assert all(share >= 0 for share in shares.values())
    assert sum(shares.values()) == pytest.approx(1 - result.corrected, abs=1e-12)
    amount, text, label = formula(result.counts)
    assert shares["more overall"] == pytest.approx(amount, abs=1e-12)
    assert shares["more in some texts"] == pytest.approx(text, abs=1e-12)
    if scope != "unlabelled":
        assert shares["more of some labels"] == pytest.approx(label, abs=1e-12)
    for by, scores in (
        (found.loss_by_label, result.by_label),
        (found.loss_by_pair, result.by_pair),
    ):
        for name, own in by.items():
            if not np.isnan(scores[name].corrected):
                assert sum(own.values()) == pytest.approx(1 - scores[name].corrected, abs=1e-12)
                assert all(share >= 0 for share in own.values())


def test_measures_without_a_limit_have_no_causes():
    found = bc.diagnose(bc.example(), measure="dice")
    assert found.loss == {}
    assert found.loss_intervals()[""] == {}
    assert any("smaller size" in str(note) for note in found.notes)
    assert found.patterns[0].gain > 0


def test_intervals_are_from_leaving_out_each_document():
    corpus = bc.example()
    corpus = corpus.select(documents=corpus.documents[6:11])
    found = bc.diagnose(corpus)
    assert "PLACE" in found.loss_by_label
    without = [
        bc.diagnose(corpus.select(documents=[x for x in corpus.documents if x != name]))
        for name in corpus.documents
    ]
    overall = found.loss_intervals(confidence=0.9)[""]
    by_label = found.loss_intervals("label", confidence=0.9)["PLACE"]
    for cause in ("more overall", "more in some texts", "more of some labels"):
        for estimate, left_out, interval in (
            (found.loss, [one.loss for one in without], overall),
            (
                found.loss_by_label["PLACE"],
                [one.loss_by_label["PLACE"] for one in without],
                by_label,
            ),
        ):
            moved = influences(np.array([one[cause] for one in left_out]))
            ends = student(estimate[cause], [moved], 0.9, lowest=0.0)
            assert tuple(interval[cause]) == pytest.approx(ends, abs=1e-9), cause


def test_intervals_some_documents_at_a_time(monkeypatch):
    found = bc.diagnose(bc.example())
    at_once = {by: str(found.loss_intervals(by)) for by in ("all", "label", "pair")}
    monkeypatch.setattr(loss, "_CELLS", 20)
    assert {by: str(found.loss_intervals(by)) for by in at_once} == at_once


def test_one_document_has_no_interval():
    corpus = bc.Corpus.from_spans({"a": [[(0, 2, "P")]], "b": [[(0, 3, "P")]]}, lengths=[9])
    interval = bc.diagnose(corpus).loss_intervals()[""]["more overall"]
    assert_tells(interval.reason, "without one of the documents … undefined")


@given(apart(), apart())
def test_spans_that_are_equal_lose_nothing(one, other):
    corpus = build({"a": [one, other], "b": [one, other]})
    if not corpus.labels:
        return
    found = bc.diagnose(corpus)
    assert found.patterns == ()
    if not np.isnan(found.corrected):
        assert sum(found.loss.values()) == 0
