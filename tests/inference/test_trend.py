"""Whether agreement changes over rounds."""

from dataclasses import replace
from itertools import permutations

import numpy as np
import pytest

import beyondchance as bc
from beyondchance.inference.trend import in_order
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


def test_p_is_that_of_all_permutations():
    corpus = rounds((0.3, 0.9), n=3, seed=5)
    result = bc.agreement(corpus)
    found = bc.trend(result, "round", resamples=20_000)
    scores = [result.by_document[name] for name in result.counts.documents]
    weight = np.array([(s.size_a + s.size_b) / 2 - s.expected for s in scores])
    residual = np.array([s.matched - s.expected for s in scores]) - result.corrected * weight
    x = np.array([0, 0, 0, 1, 1, 1])
    drawn = np.array([np.array(order) @ residual for order in permutations(x)])
    tails = [(drawn >= x @ residual - 1e-12).mean(), (drawn <= x @ residual + 1e-12).mean()]
    assert found.p_value == pytest.approx(min(2 * min(tails), 1), abs=0.02)


@pytest.mark.slow
def test_false_alarms_are_as_many_as_they_should_be():
    results = (bc.agreement(rounds((0.7,) * 3, n=8, seed=seed)) for seed in range(150))
    p = np.array([bc.trend(result, "round", resamples=199).p_value for result in results])
    assert 0.01 <= np.mean(p <= 0.05) <= 0.1


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
    result = bc.agreement(bc.example())
    found = bc.trend(result, "season", order=["spring", "summer", "autumn"])
    assert found.order == ("spring", "summer", "autumn")
    with refused(bc.OptionError, "'season' … 'spring' … order="):
        bc.trend(result, "season")
    for order in (["spring", "summer"], ["spring", "summer", "autumn", "autumn"], "spring"):
        with refused(bc.OptionError, "order … once"):
            bc.trend(result, "season", order=order)
    with refused(bc.OptionError, "field 'round' … season"):
        bc.trend(result, "round")
    with refused(bc.DataError, "Corpus … agreement"):
        bc.trend(bc.example(), "season")
    few = bc.agreement(rounds((0.9, 0.9), n=1))
    with refused(bc.DataError, "2 … 3"):
        bc.trend(few, "round")


def test_documents_without_a_value_are_left_out_and_counted():
    corpus = rounds((0.5, 0.9), n=6)
    values = list(corpus.fields["round"])
    values[0] = values[7] = ""
    found = bc.trend(bc.agreement(replace(corpus, fields={"round": tuple(values)})), "round")
    assert (found.n_documents, found.n_left_out) == (10, 2)
    assert_tells(str(found), "2 documents without")


def test_negative_scores_are_drawn_as_what_they_are():
    spans = {"a": [[(0, 1, "P")]] * 6, "b": [[(3, 4, "P")]] * 3 + [[(0, 1, "P")]] * 3}
    fields = {"round": ["1"] * 3 + ["2"] * 3}
    result = bc.agreement(bc.Corpus.from_spans(spans, lengths=[5] * 6, fields=fields))
    assert "-0.2500" in str(bc.trend(result, "round"))
