"""Whether agreement changes over rounds."""

from dataclasses import replace

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import beyondchance as bc
from beyondchance.annotations.dates import in_order
from examples import examples
from refusals import assert_tells, refused


def rounds(rates, n=20, seed=1, length=12):
    """Documents of rounds in which ben finds a share of what ada marks."""
    rng = np.random.default_rng(seed)
    ada, ben, field = [], [], []
    for number, rate in enumerate(rates, start=1):
        for _ in range(n):
            places = sorted(rng.choice(length, 3, replace=False).tolist())
            ada.append([(x, x + 1, "P") for x in places])
            ben.append([(x, x + 1, "P") for x in places if rng.random() < rate])
            field.append(f"round {number}")
    fields = {"round": field}
    return bc.Corpus.from_spans(
        {"ada": ada, "ben": ben}, lengths=[length] * len(ada), fields=fields
    )


def test_a_change_is_found_and_its_absence_too():
    up = bc.trend(bc.agreement(rounds((0.5, 0.7, 0.9))), "round")
    assert up.p_value < 0.01
    assert up.slope > 0.05
    level = bc.trend(bc.agreement(rounds((0.7, 0.7, 0.7))), "round")
    assert level.p_value > 0.05
    down = bc.trend(bc.agreement(rounds((0.9, 0.5))), "round")
    assert down.slope < 0
    assert down.p_value < 0.01


@examples(20)
@given(st.integers(0, 10**6), st.integers(5, 30))
def test_of_two_rounds_it_is_their_comparison(seed, n):
    corpus = rounds((0.8, 0.6), n=n, seed=seed)
    found = bc.trend(bc.agreement(corpus), "round")
    one, two = (
        bc.agreement(corpus.select(documents=corpus.documents[part]))
        for part in (slice(n), slice(n, None))
    )
    compared = bc.compare(two, one)
    assert compared.difference == pytest.approx(found.slope, abs=1e-12)
    assert compared.p_value == pytest.approx(found.p_value, rel=1e-9)


def test_scores_are_those_of_the_groups():
    result = bc.agreement(rounds((0.5, 0.9)))
    found = bc.trend(result, "round")
    by_field = result.by_field("round")
    assert found.corrected == pytest.approx([by_field[name].corrected for name in found.order])


def test_the_slope_is_that_of_a_weighted_line():
    result = bc.agreement(rounds((0.4, 0.6, 0.9)))
    found = bc.trend(result, "round")
    documents = result.by_document
    x, y, w = [], [], []
    for name, value in zip(result.counts.documents, result.counts.fields["round"], strict=True):
        score = documents[name]
        weight = (score.size_a + score.size_b) / 2 - score.expected
        x.append(found.order.index(value))
        y.append((score.matched - score.expected) / weight)
        w.append(weight)
    slope = np.polyfit(x, y, 1, w=np.sqrt(w))[0]
    assert found.slope == pytest.approx(slope, abs=1e-9)


def loops(result, by, order):
    """The slope, its standard error and its degrees of freedom, by leaving out each document."""
    counts = result.counts
    values = np.array(counts.fields[by])
    corrected, weights, squares, freedoms = [], [], [], []
    for value in order:
        own = np.flatnonzero(values == value).tolist()
        chosen = np.isin(counts.document, own)
        score = counts.only(chosen).score()
        without = np.array(
            [counts.only(chosen & (counts.document != number)).score().corrected for number in own]
        )
        n = len(own)
        corrected.append(score.corrected)
        weights.append((score.size_a + score.size_b) / 2 - score.expected)
        squares.append((n - 1) / n * ((without - without.mean()) ** 2).sum())
        kurtosis = max(stats.kurtosis(without, bias=False), 0)
        freedoms.append(2 / (kurtosis / n + 2 / (n - 1)))
    x = np.arange(len(order))
    slope = np.polyfit(x, corrected, 1, w=np.sqrt(weights))[0]
    centred = x - np.average(x, weights=weights)
    share = np.array(weights) * centred / (weights @ centred**2)
    parts = share**2 * np.array(squares)
    return slope, parts.sum() ** 0.5, parts.sum() ** 2 / (parts**2 / np.array(freedoms)).sum()


@pytest.mark.parametrize("rates", [(0.4, 0.9), (0.4, 0.6, 0.9, 0.5)])
def test_slope_error_and_p_are_those_of_loops(rates):
    result = bc.agreement(rounds(rates, n=7, seed=4))
    found = bc.trend(result, "round")
    slope, error, freedom = loops(result, "round", found.order)
    assert found.slope == pytest.approx(slope, rel=1e-9)
    assert found.error == pytest.approx(error, rel=1e-9)
    assert found.freedom == pytest.approx(freedom, rel=1e-9)
    p = 2 * stats.t.sf(abs(slope / error), freedom)
    assert found.p_value == pytest.approx(p, rel=1e-9)


@examples(60)
@given(st.lists(st.floats(0.2, 0.9), min_size=2, max_size=4), st.integers(0, 999))
def test_laws_of_a_trend(rates, seed):
    corpus = rounds(rates, n=8, seed=seed)
    found = bc.trend(bc.agreement(corpus), "round")
    # The other way round, it falls as much as it rose.
    turned = bc.trend(bc.agreement(corpus), "round", order=found.order[::-1])
    assert turned.slope == pytest.approx(-found.slope, abs=1e-12)
    assert turned.p_value == pytest.approx(found.p_value, rel=1e-6)
    assert turned.needed == found.needed
    # Documents in another order give the same digits.
    names = np.random.default_rng(seed).permutation(corpus.documents).tolist()
    again = bc.trend(bc.agreement(corpus.select(documents=names)), "round")
    assert (again.slope, again.p_value) == (found.slope, found.p_value)


def test_two_rounds_of_the_same_are_compared_as_by_welch():
    # All documents weigh the same, and no round shows kurtosis: Welch's test of their scores.
    a = [[(0, 1, "P")]] * 10
    right, wrong = [(0, 1, "P")], [(1, 2, "P")]
    b = [right, wrong] * 2 + [right, wrong] * 3
    fields = {"round": ["1"] * 4 + ["2"] * 6}
    corpus = bc.Corpus.from_spans({"a": a, "b": [wrong, *b[1:]]}, lengths=[4] * 10, fields=fields)
    result = bc.agreement(corpus)
    one, two = np.split(np.array([s.corrected for s in result.by_document.values()]), [4])
    found = bc.trend(result, "round")
    welch = stats.ttest_ind(two, one, equal_var=False)
    assert found.slope / found.error == pytest.approx(welch.statistic)
    assert found.freedom <= welch.df + 1e-9


@pytest.mark.slow
def test_false_alarms_are_as_many_as_they_should_be():
    results = (bc.agreement(rounds((0.7,) * 3, n=8, seed=seed)) for seed in range(150))
    p = np.array([bc.trend(result, "round").p_value for result in results])
    assert 0.01 <= np.mean(p <= 0.05) <= 0.1


@pytest.mark.slow
def test_the_number_of_documents_that_finds_a_change():
    # From 0.7 to 0.8 of the spans found is a change by about .08 here: a little less power.
    needed = bc.trend(bc.agreement(rounds((0.7, 0.8), n=200)), "round").needed
    results = (bc.agreement(rounds((0.7, 0.83), n=needed, seed=seed)) for seed in range(60))
    found = [bc.trend(result, "round") for result in results]
    assert np.mean([trend.slope for trend in found]) == pytest.approx(0.1, abs=0.02)
    assert 0.65 <= np.mean([trend.p_value <= 0.05 for trend in found]) <= 0.93


def test_rounds_of_too_few_documents_are_refused():
    with refused(bc.DataError, "effective number of documents … 3.0 … 'round 1' … 4 or more"):
        bc.trend(bc.agreement(rounds((0.5, 0.9), n=3)), "round")
    # Four documents are enough if they weigh the same, and not if one is longer.
    ada = [[(0, 1, "P")]] * 8
    ben = [[(x, x + 1, "P")] for x in (0, 0, 1, 1, 0, 0, 0, 1)]
    fields = {"round": ["1"] * 4 + ["2"] * 4}

    def trend(**options):
        spans = {"ada": ada, "ben": ben}
        return bc.trend(
            bc.agreement(bc.Corpus.from_spans(spans, fields=fields, **options)), "round"
        )

    assert trend(lengths=[4] * 8).n_documents == 8
    with refused(bc.DataError, "effective … '2' … 4 or more"):
        trend(lengths=[4] * 7 + [40])


def test_no_spread_is_refused():
    spans = {"a": [[(0, 1, "P")]] * 10, "b": [[(3, 4, "P")]] * 5 + [[(0, 1, "P")]] * 5}
    fields = {"round": ["1"] * 5 + ["2"] * 5}
    result = bc.agreement(bc.Corpus.from_spans(spans, lengths=[5] * 10, fields=fields))
    with refused(bc.DataError, "no spread … 'round'"):
        bc.trend(result, "round")


def test_whole_corpora_and_parts_have_no_documents_of_their_own():
    corpus = rounds((0.5, 0.9))
    with refused(bc.DataError, "whole corpus"):
        bc.trend(bc.agreement(replace(corpus, unit="corpus")), "round")
    result = bc.agreement(corpus)
    with refused(bc.DataError, "in parts … one by one"):
        bc.trend(replace(result, counts=result.counts.by_unit()), "round")


def test_what_has_an_order():
    cases = [
        (["3", "1", "2"], ("1", "2", "3")),
        (["round 10", "round 2"], ("round 2", "round 10")),
        (["2024-12-01", "2024-02-11", "2023-07-30"], ("2023-07-30", "2024-02-11", "2024-12-01")),
        (["1.5", "0.25"], ("0.25", "1.5")),
        (["spring", "autumn"], None),
        (["1"], None),
        (["2", "", "1"], ("1", "2")),
        (["-1", "-3", "2"], ("-3", "-1", "2")),
        (["31.05.2023", "01.06.2023"], None),
        (["v1.10", "v1.9"], None),
        (["Q1 2023", "Q2 2023"], None),
        (["a1", "b2"], None),
        (["1", "01"], None),
    ]
    for values, order in cases:
        assert in_order(values) == order, values


def test_an_order_of_one_s_own():
    corpus = rounds((0.5, 0.7, 0.9))
    seasons = [("spring", "summer", "autumn")[int(x[-1]) - 1] for x in corpus.fields["round"]]
    result = bc.agreement(replace(corpus, fields={"season": tuple(seasons)}))
    found = bc.trend(result, "season", order=["spring", "summer", "autumn", "winter"])
    assert found.order == ("spring", "summer", "autumn")
    assert found.slope == bc.trend(bc.agreement(corpus), "round").slope
    with refused(bc.OptionError, "'season' … 'spring'", use="order"):
        bc.trend(result, "season")
    for order in (["spring", "summer"], ["spring", "summer", "autumn", "autumn"], "spring"):
        with refused(bc.OptionError, "order … once"):
            bc.trend(result, "season", order=order)
    with refused(bc.OptionError, "field 'round' … season"):
        bc.trend(result, "round")
    with refused(bc.DataError, "Corpus … agreement"):
        bc.trend(bc.example(), "season")


def test_documents_without_a_value_are_left_out_and_counted():
    corpus = rounds((0.5, 0.9), n=6)
    values = list(corpus.fields["round"])
    values[0] = values[7] = ""
    found = bc.trend(bc.agreement(replace(corpus, fields={"round": tuple(values)})), "round")
    assert (found.n_documents, found.n_left_out) == (10, 2)
    assert_tells(str(found), "2 documents without")


def test_negative_scores_are_drawn_as_what_they_are():
    spans = {
        "a": [[(0, 1, "P")]] * 9,
        "b": [[(3, 4, "P")]] * 4 + [[(0, 1, "P")]] * 4 + [[(1, 2, "P")]],
    }
    fields = {"round": ["1"] * 4 + ["2"] * 5}
    result = bc.agreement(bc.Corpus.from_spans(spans, lengths=[5] * 9, fields=fields))
    assert "-0.2500" in str(bc.trend(result, "round"))
