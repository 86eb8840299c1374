"""Plans from pilots."""

import re
from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from scipy import stats

from beyondchance import Corpus, DataError, OptionError, Settings, agreement, plan
from beyondchance.core.resampling import influences
from beyondchance.inference.plan import freedom_of_spread, plans
from beyondchance.results.resampling import score_of
from refusals import assert_tells, refused


def pilot(n_documents, *, seed=1, share=0.8, length=12):
    """Two annotators who find most of the same spans."""
    rng = np.random.default_rng(seed)
    spans = {"anna": [], "ben": []}
    for _ in range(n_documents):
        true = [(s, s + int(rng.integers(1, 4)), "P") for s in (0, 5) if rng.random() < 0.8]
        for texts in spans.values():
            texts.append([span for span in true if rng.random() < share])
    return agreement(Corpus.from_spans(spans, lengths=[length] * n_documents))


def spread_by_loops(result):
    """The jackknife's standard error times the root of the number of documents."""
    names = result.counts.documents
    left_out = [
        result.counts.only(result.counts.document != number).score().corrected
        for number in range(len(names))
    ]
    n = len(names)
    return (n - 1) * np.std(left_out, ddof=1)


def test_spread_is_that_of_the_jackknife():
    result = pilot(30)
    assert plan(result, 0.05).spread == pytest.approx(spread_by_loops(result), rel=1e-12)


@pytest.mark.parametrize(
    ("half_width", "confidence"), [(0.3, 0.8), (0.1, 0.95), (0.02, 0.8), (0.001, 0.95)]
)
def test_the_smallest_number_that_is_enough(half_width, confidence):
    result = pilot(30)
    found = plan(result, half_width, confidence=confidence)
    sums = result.counts.document_sums()
    moves = influences(score_of(sums.sum(axis=0) - sums, "corrected"))
    kurtosis = max(stats.kurtosis(moves, bias=False), 0)

    def freedom(n):
        return 2 / (kurtosis / n + 2 / (n - 1))

    def width(n):
        return stats.t.ppf((1 + confidence) / 2, freedom(n)) * found.spread / n**0.5

    def likely_width(n):
        known = freedom_of_spread(moves, sums[:, 2])
        return width(n) * stats.f.ppf(0.8, freedom(n), known) ** 0.5

    assert found.kurtosis == pytest.approx(kurtosis, abs=1e-9)
    assert found.half_width_of(found.documents) == pytest.approx(width(found.documents), rel=1e-9)
    assert found.low <= found.documents <= found.high
    if found.documents < 30 or not found.pilot_is_enough:
        assert likely_width(found.documents) <= half_width
        assert found.documents == 2 or likely_width(found.documents - 1) > half_width


def test_the_half_width_of_two_documents():
    """Two of four agree: each moves F1 by a half, and Student's t of one degree is 12.706."""
    here, there = [(0, 1, "P")], [(1, 2, "P")]
    spans = {"a": [here] * 4, "b": [here, here, there, there]}
    found = plan(agreement(Corpus.from_spans(spans, lengths=[2] * 4)), 0.5, score="observed")
    assert found.half_width_of(2) == pytest.approx(12.706 * (1 / 3) ** 0.5 / 2**0.5, rel=1e-4)
    assert isnan(found.half_width_of(1))


def test_several_half_widths_are_planned_as_each_alone():
    result, widths = pilot(30), (0.3, 0.05, 0.01)
    assert plans(result, widths) == tuple(plan(result, width) for width in widths)
    assert plans(result, ()) == ()


def test_the_range_is_that_of_the_variance():
    # Documents of one length, all influences alike: as many degrees of freedom as documents,
    # less one.
    half = [["B-P", "O"]] * 8
    other = [["B-P", "O"], ["O", "B-P"]] * 4
    found = plan(agreement(half, other), 0.05, score="observed")
    # Each moves the score by a half, so the spread is the root of 8 x .25 / 7.
    assert found.spread == pytest.approx((2 / 7) ** 0.5)
    for number, share in ((found.low, 0.975), (found.high, 0.025)):
        spread = (2 / stats.chi2.ppf(share, 7)) ** 0.5

        def width(n, spread=spread):
            return stats.t.ppf(0.975, n - 1) * spread / n**0.5

        assert width(number) <= 0.05 < width(number - 1)


def test_unlike_documents_leave_fewer_degrees_of_freedom():
    alike, moves = np.full(20, 3.0), np.array([1.0, -1.0] * 10)
    assert freedom_of_spread(moves, alike) == pytest.approx(19)
    # Kish's size of nineteen documents of 3 and one of 30, which is 87^2 / 1071, of 20.
    longer = np.r_[np.full(19, 3.0), 30.0]
    assert freedom_of_spread(moves, longer) == pytest.approx(19 * max(0.4, 87**2 / 1071 / 20))
    few = np.r_[np.zeros(18), 1.0, -1.0]
    kurtosis = stats.kurtosis(few, bias=False)
    freedom = 2 / (kurtosis / 20 + 2 / 19)
    assert freedom_of_spread(few, alike) == pytest.approx(0.4 * freedom)


def test_half_the_width_takes_four_times_the_documents():
    result = pilot(200)
    ratio = plan(result, 0.005).documents / plan(result, 0.01).documents
    assert ratio == pytest.approx(4, rel=0.01)


@pytest.mark.slow
def test_a_plan_comes_true():
    # Pilots of 100; as many documents as each asks for are as narrow as wanted in four of five.
    widths = []
    for seed in range(20):
        found = plan(pilot(100, seed=seed), 0.04)
        real = pilot(found.documents, seed=1000 + seed).interval()
        widths.append((real.high - real.low) / 2)
    assert np.count_nonzero(np.array(widths) <= 0.04) >= 12
    assert 0.8 * 0.04 <= np.mean(widths) < 0.04


@pytest.mark.long
def test_the_range_holds_what_a_large_pilot_says():
    truth = plan(pilot(20_000, seed=99), 0.03).documents
    held = 0
    for seed in range(60):
        found = plan(pilot(100, seed=seed), 0.03)
        held += found.low <= truth <= found.high
    assert held >= 50


def test_a_pilot_that_is_enough():
    result = pilot(70)
    now = plan(result, 0.5).half_width_of(70)
    enough, more = (plan(result, now * factor) for factor in (1.001, 0.999))
    assert enough.pilot_is_enough
    assert enough.documents <= 70
    assert enough.to_annotate == 0
    assert not more.pilot_is_enough
    assert more.to_annotate == more.documents - 70 > 0


def test_few_documents_are_said_to_be_few():
    found = plan(pilot(12), 0.05)
    assert_tells(found.caution, f"{round(found.effective)} … 30")
    assert plan(pilot(400), 0.05).caution is None


def test_no_plan():
    def reason(spans, lengths):
        result = agreement(Corpus.from_spans(spans, lengths=lengths))
        found = plan(result, 0.05)
        assert found.documents is found.low is found.high is None
        assert found.to_annotate is None
        assert not found.pilot_is_enough
        assert isnan(found.spread)
        assert isnan(found.half_width_of(100))
        assert found.caution is None
        return found.reason

    one = {"a": [[(0, 1, "P")]], "b": [[(1, 2, "P")]]}
    assert_tells(reason(one, [5]), "too few documents … 1 … 2")
    lone = {name: [*texts, []] for name, texts in one.items()}
    assert_tells(reason(lone, [5, 5]), "without one of the documents … undefined")
    same = {name: [[(0, 1, "P")]] * 5 for name in "ab"}
    assert_tells(reason(same, [5] * 5), "same influence")
    empty = {name: [[], []] for name in "ab"}
    assert_tells(reason(empty, [5, 5]), "score of the pilot is undefined")


def test_sentences_are_called_so():
    tags = [["B-P", "O"], ["O", "B-P"], ["B-P", "O"]]
    found = plan(agreement(tags, [["B-P", "O"], ["B-P", "O"], ["O", "O"]]), 0.1)
    assert found.unit == "sentences"


def test_options():
    cases = [
        ({"half_width": 0}, "half_width … 0 … 1"),
        ({"half_width": "wide"}, "half_width … 'wide'"),
        ({"half_width": True}, "half_width … True"),
        ({"half_width": 0.1, "confidence": 95}, "confidence … 95"),
        ({"half_width": 0.1, "score": "f1"}, "score … 'f1'"),
    ]
    for options, told in cases:
        with refused(OptionError, told):
            plan(pilot(5), **options)


@pytest.mark.slow
def test_half_widths_that_nobody_can_annotate_for():
    result = pilot(30)
    for half_width in (1e-200, 1e-9, 5e-324):
        with refused(OptionError, "half_width … 1,000,000,000") as said:
            plan(result, half_width)
        # What is named can be planned for, and what is a little less cannot.
        least = float(re.search(r"expected (\S+)", str(said.value))[1])
        found = plan(result, least)
        assert 8e8 < found.high <= 10**9
        with refused(OptionError, f"half_width … {0.89 * least}"):
            plan(result, 0.89 * least)


def test_what_is_no_pilot():
    for wrong in (1, None, [pilot]):
        with refused(DataError, f"{type(wrong).__name__} … pilot"):
            plan(wrong, 0.05)


def test_the_signature_brings_the_same_plan_again():
    result = pilot(30)
    found = plan(result, 0.05, confidence=0.9)
    signed = Settings.parse(str(found.settings))
    assert (signed.seed, signed.resamples) == (None, None)
    assert plan(result, 0.05, confidence=signed.confidence) == found
    assert_tells(replace(found, effective=3.0).caution, "3")
