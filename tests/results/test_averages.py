"""Macro averages: examples, laws, and intervals against resamples that are scored anew."""

from dataclasses import replace
from math import isnan

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from annotated_texts import random_spans, span_lists
from beyondchance import Agreement, Corpus, Counts, OptionError, agreement, example, labelling, rank
from beyondchance.core.resampling import bootstrap_weights
from beyondchance.results.averages import AVERAGES
from beyondchance.results.resampling import SCORES
from each import each
from examples import examples
from refusals import assert_tells, refused

every_average = each("by", AVERAGES)


def result_of(a, b, n=8, **options):
    names = [str(number) for number in range(len(a))]
    spans = {"anna": a, "ben": b}
    return agreement(Corpus.from_spans(spans, lengths=[n] * len(a), documents=names), **options)


def direct(result, by, *, is_defined=None):
    """The means, from the scores of labels or documents one by one."""
    scores = list(getattr(result, f"by_{by}").values())
    # Of those with a corrected score, if there are any and the result has one.
    is_defined = result.reason is None if is_defined is None else is_defined
    scores = [score for score in scores if is_defined and not isnan(score.corrected)] or scores
    found = {}
    for name in SCORES:
        values = [getattr(score, name) for score in scores]
        if name == "corrected" and not is_defined:
            values = []
        defined = [value for value in values if not isnan(value)]
        found[name] = sum(defined) / len(defined) if defined else np.nan
    return found


# --- Examples -----------------------------------------------------------------


def test_labels_count_the_same():
    # P: 3 of 3 spans equal; L: 0 of 1. Micro 3/4, macro 1/2.
    p = [(0, 1, "P"), (2, 3, "P"), (4, 5, "P")]
    result = result_of([[*p, (6, 7, "L")]], [[*p, (7, 8, "L")]])
    average = result.macro("label")
    assert (result.observed, average.observed) == (0.75, 0.5)
    assert average.chance == pytest.approx((3 / 8 + 1 / 8) / 2)
    assert average.corrected == pytest.approx((1 - (1 / 7)) / 2)
    assert (average.n_averaged, average.left_out, average.reason) == (2, {}, None)


def test_documents_count_the_same():
    # Three of three spans in one document, none of one in the other.
    p = [(0, 1, "P"), (2, 3, "P"), (4, 5, "P")]
    result = result_of([p, [(0, 1, "P")]], [p, [(7, 8, "P")]])
    assert (result.observed, result.macro("document").observed) == (0.75, 0.5)


def test_what_is_undefined_is_left_out_and_counted():
    # A document without spans, and one that both mark completely, so that chance is 1.
    result = result_of([[], [(0, 8, "P")], [(0, 2, "P")]], [[], [(0, 8, "P")], [(0, 2, "P")]])
    average = result.macro("document")
    assert average.left_out == {
        "nothing was marked by either": 1,
        "chance agreement is 1: every random arrangement agrees completely": 1,
    }
    assert average.n_averaged == 1
    assert average.observed == 1
    # All three are means of the same documents.
    assert average.chance == pytest.approx(result.by_document["2"].chance)


def test_where_the_overall_score_is_undefined_its_mean_is_too():
    # Texts of one position: only those in which one marked something and the other nothing
    # would be left, with 0 each.
    tags = [[["B-P"]] * 4 + [["O"]] * 2, [["B-P"]] * 3 + [["O"]] * 3]
    result = agreement(*tags)
    average = result.macro("document")
    assert isnan(average.corrected)
    assert average.observed == pytest.approx(3 / 4)
    assert sum(average.left_out.values()) == 6


def test_where_chance_is_that_of_the_corpus_documents_have_no_mean_of_it():
    spans = [[(0, 2, "P")], [(1, 3, "P")], []]
    corpus = Corpus.from_spans({"a": spans, "b": spans[::-1]}, lengths=[6] * 3, unit="corpus")
    result = agreement(corpus)
    average = result.macro("document")
    assert average.observed == pytest.approx(direct(result, "document")["observed"])
    assert isnan(average.chance)
    assert isnan(average.corrected)
    assert sum(average.left_out.values()) == 3
    assert "itself" in average.interval(seed=1).reason
    assert result.macro("label").corrected == pytest.approx(result.corrected)


def test_nothing_to_average():
    average = result_of([[], []], [[], []]).macro("label")
    assert isnan(average.corrected)
    assert_tells(average.reason, "no label … corrected")
    assert average.to_dict() == {
        **dict.fromkeys(SCORES),
        "reason": average.reason,
        "n_averaged": 0,
        "left_out": {},
    }
    assert "itself" in average.interval(seed=1).reason


@every_average
def test_signatures_tell_averages_apart(by):
    result = agreement(example())
    average = result.macro(by)
    assert f"|average:macro-{by}|" in str(average.settings)
    found = average.intervals(seed=7, resamples=99, method="bca")
    assert (found.settings.average, found.settings.seed) == (f"macro-{by}", 7)
    assert result.settings.average == "micro"


@every_average
def test_systems_and_labels_have_averages_too(by):
    for system in rank(example(), gold="ada").systems.values():
        assert system.macro(by).corrected == pytest.approx(direct(system, by)["corrected"])
    labels = labelling(example()).labelling
    assert labels.macro(by).corrected == pytest.approx(direct(labels, by)["corrected"])


def test_another_average_is_refused():
    with pytest.raises(OptionError, match="'pair'"):
        agreement(example()).macro("pair")


def test_another_score_is_refused():
    with pytest.raises(OptionError, match="'f1'"):
        agreement(example()).macro("label").interval("f1", seed=1)


def test_the_default_interval_of_a_mean_over_documents_is_students():
    average = agreement(example()).macro("document")
    values = np.array([score.observed for score in agreement(example()).by_document.values()])
    n, mean = len(values), values.mean()
    kurtosis = max(stats.kurtosis(values, bias=False), 0)
    tail = stats.t.ppf(0.975, 2 / (kurtosis / n + 2 / (n - 1)))
    reach = tail * values.std(ddof=1) / n**0.5 / (mean * (1 - mean))
    expected = [1 / (1 + (1 - mean) / mean * np.exp(-x)) for x in (-reach, reach)]
    found = average.interval("observed")
    assert (found.low, found.high) == pytest.approx(expected, rel=1e-9)


def test_intervals_are_over_documents_only():
    with refused(OptionError, "over … 'annotators' … 'documents'"):
        agreement(example()).macro("label").interval(over="annotators")


def test_one_document_has_no_interval():
    interval = result_of([[(0, 1, "P")]], [[(0, 1, "P")]]).macro("document").interval(seed=1)
    assert_tells(interval.reason, "documents … 1 … 2")


# --- Laws ---------------------------------------------------------------------


@examples(120)
@given(st.sampled_from(sorted(AVERAGES)), st.data())
def test_averages_are_means_of_scores(by, data):
    a, b = ([data.draw(span_lists(6, "PLM")) for _ in range(3)] for _ in range(2))
    result = result_of(a, b, n=6)
    average = result.macro(by)
    for name, value in direct(result, by).items():
        assert getattr(average, name) == pytest.approx(value, rel=1e-14, abs=1e-14, nan_ok=True)
    n_levels = len(getattr(result, f"by_{by}"))
    assert average.n_averaged + sum(average.left_out.values()) == n_levels


@examples(40)
@given(st.data())
def test_with_one_label_both_averages_are_the_same(data):
    a, b = ([data.draw(span_lists(6, "P")) for _ in range(3)] for _ in range(2))
    result = result_of(a, b, n=6)
    average = result.macro("label")
    for name in SCORES:
        micro = getattr(result, name)
        assert getattr(average, name) == pytest.approx(micro, rel=1e-15, abs=1e-15, nan_ok=True)


@examples(40)
@given(st.data())
def test_with_documents_alike_both_averages_are_the_same(data):
    a, b = (data.draw(span_lists(6, "PL")) for _ in range(2))
    result = result_of([a] * 3, [b] * 3, n=6)
    average = result.macro("document")
    for name in SCORES:
        assert getattr(average, name) == pytest.approx(getattr(result, name), nan_ok=True)


def test_one_label_has_the_interval_of_the_overall_score():
    rng = np.random.default_rng(3)
    starts = rng.integers(0, 7, (2, 30))
    a, b = ([[(int(start), int(start) + 2, "P")] for start in side] for side in starts)
    result = result_of(a, b)
    options = {"seed": 5, "resamples": 499}
    one, two = result.interval(**options), result.macro("label").interval(**options)
    assert (one.low, one.high) == pytest.approx((two.low, two.high), rel=1e-12)
    assert one.effective == pytest.approx(two.effective, rel=1e-9)


# --- Intervals against resamples that are scored anew --------------------------


@pytest.mark.slow
@every_average
@each("seed", range(2))
def test_percentiles_are_those_of_resampled_corpora(by, seed):
    n_documents, resamples = 7, 99
    rng = np.random.default_rng(seed)
    a, b = ([random_spans(rng, 6, "PL") for _ in range(n_documents)] for _ in range(2))
    # A label of one document only, which many resamples do not have.
    a[0], b[0] = [(0, 2, "M"), (3, 4, "P")], [(1, 3, "M"), (3, 4, "P")]
    result = result_of(a, b, n=6)
    weights = np.concatenate(
        list(bootstrap_weights(n_documents, resamples, np.random.default_rng(seed)))
    )
    drawn = [direct(resample(result, row), by, is_defined=True) for row in weights]
    found = result.macro(by).intervals(seed=seed, resamples=resamples, method="percentile")
    for name, interval in found.overall.items():
        ends = np.quantile([means[name] for means in drawn], [0.025, 0.975])
        assert (interval.low, interval.high) == pytest.approx(tuple(ends), abs=1e-12)


def resample(result, weights):
    """The agreement on documents drawn anew, each copy a document of its own."""
    parts = []
    for number, times in enumerate(weights.astype(int).tolist()):
        part = result.counts.of_documents(np.arange(len(weights)) == number)
        parts += [replace(part, documents=(f"{number} {copy}",)) for copy in range(times)]
    return Agreement(Counts.joined(parts), result.settings)


@every_average
def test_intervals_do_not_depend_on_how_many_resamples_are_held_at_a_time(by, monkeypatch):
    result, options = agreement(example()), {"seed": 2, "resamples": 99, "method": "bca"}
    whole = result.macro(by).interval(**options)
    monkeypatch.setattr("beyondchance.core.resampling.DRAWN_AT_A_TIME", 1)
    parts = result.macro(by).interval(**options)
    assert (whole.low, whole.high) == pytest.approx((parts.low, parts.high), rel=1e-14)
