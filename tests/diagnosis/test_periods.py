"""Agreement over time: hand-made examples, scores of parts, planted changes, and honest teams."""

from dataclasses import replace
from math import isnan, nan

import numpy as np
import pytest
from scipy.stats import t as student

import beyondchance as bc
from beyondchance.annotations.dates import day_of
from beyondchance.core.resampling import freedom_of
from beyondchance.diagnosis.periods import periods_of
from each import each
from refusals import refused

WEEKS = ("2024-W07", "2024-W08")


def of_tokens(tags, **fields):
    """Documents of four tokens, of which each annotator marks one, by its number; or none."""
    spans = {
        name: [None if i is None else [(i, i + 1, "P")] for i in marks]
        for name, marks in tags.items()
    }
    n = len(next(iter(tags.values())))
    return bc.Corpus.from_spans(spans, lengths=[4] * n, fields=fields)


def periods(corpus, by="round", **options):
    return bc.diagnose(corpus, by=by, **options).periods


# One token of four matches by chance: corrected is 1 where it is the same, else -1/3.
ROUNDS = ["1"] * 6 + ["2"] * 6
PAIR = {"ada": [0] * 12, "ben": [0] * 5 + [1] + [0] + [1] * 5}
SAME = [(5 - 1.5) / 4.5, (1 - 1.5) / 4.5]


def test_a_pair_by_hand():
    found = periods(of_tokens(PAIR, round=ROUNDS))
    assert found.periods == ("1", "2")
    assert found.annotators == ("ada", "ben")
    assert found.corrected == pytest.approx(np.array([SAME, SAME]))
    assert found.n_documents.tolist() == [[6, 6], [6, 6]]
    assert (found.field, found.n_tested, found.n_undated) == ("round", 1, 0)


def test_the_change_of_a_pair_is_a_t_test_of_two_means():
    # All documents weigh the same, so that the score of a round is a mean of 1 and -1/3.
    n = 30
    ben = [0] * (n - 3) + [1] * 3 + [0] * 10 + [1] * (n - 10)
    (found,) = periods(
        of_tokens({"ada": [0] * 2 * n, "ben": ben}, round=["1"] * n + ["2"] * n)
    ).changes
    sides = [np.array([1.0] * k + [-1 / 3] * (n - k)) for k in (n - 3, 10)]
    means, errors = [x.mean() for x in sides], [x.var(ddof=1) / n for x in sides]
    centred = [x - x.mean() for x in sides]
    own = [freedom_of(n, (x**2).mean(), (x**4).mean()) for x in centred]
    freedom = sum(errors) ** 2 / sum(e * e / f for e, f in zip(errors, own, strict=True))
    p = 2 * student.cdf((means[1] - means[0]) / sum(errors) ** 0.5, freedom)
    assert (found.who, found.since) == ("ada or ben", "2")
    assert (found.before, found.after) == pytest.approx(means)
    assert found.p_adjusted == pytest.approx(p)
    assert isnan(found.others_before)
    assert isnan(found.others_after)


def noisy(rng, n, wrong):
    """Marks of an annotator who misses the first token in some documents."""
    return [int(rng.integers(1, 4)) if rng.random() < wrong[i] else 0 for i in range(n)]


def team(names="abc", n=60, seed=0, wrong=0.2, **worse):
    """Annotators who are wrong at random, some more often in the second half."""
    rng = np.random.default_rng(seed)
    half = n // 2
    marks = {
        x: noisy(rng, n, [wrong] * half + [worse.get(x, worse.get("all", wrong))] * (n - half))
        for x in names
    }
    return of_tokens(marks, round=[str(1 + 4 * i // n) for i in range(n)])


def test_scores_are_those_of_the_documents_of_a_period():
    corpus = team("abcd")
    found = periods(corpus)
    for number, value in enumerate(found.periods):
        own = [
            d for d, x in zip(corpus.documents, corpus.fields["round"], strict=True) if x == value
        ]
        by_annotator = bc.agreement(corpus.select(documents=own)).by_annotator
        expected = [by_annotator[name].corrected for name in found.annotators]
        assert found.corrected[:, number].tolist() == pytest.approx(expected, abs=1e-12)


@each("names", ["abc", "abcde"])
def test_who_changed_is_named_and_nobody_else(names):
    (found,) = periods(team(names, b=0.9)).changes
    assert (found.who, found.since) == ("b", "3")
    assert found.after < found.before
    # The others, without b, are as good as before.
    assert abs(found.others_after - found.others_before) < 0.25
    assert found.p_adjusted < 0.02


def test_who_got_better_is_named():
    (found,) = periods(team(wrong=0.1, all=0.1, seed=2, b=0.1)).changes or [None]
    assert found is None
    rng = np.random.default_rng(1)
    marks = {x: noisy(rng, 60, [0.1] * 60) for x in "ac"}
    marks["b"] = noisy(rng, 60, [0.9] * 30 + [0.1] * 30)
    (found,) = periods(of_tokens(marks, round=[str(1 + i // 30) for i in range(60)])).changes
    assert (found.who, found.since) == ("b", "2")
    assert found.after > found.before


def test_two_changes_are_told_apart():
    # The second is hidden by the first: among the others there is one who changed, too.
    found = periods(team("abcde", n=120, b=0.95, d=0.7)).changes
    assert [x.who for x in found] == ["b", "d"]
    assert found[0].p_adjusted <= found[1].p_adjusted


@each("options", [{"all": 0.6}, {"wrong": 0.9, "a": 0.9, "all": 0.9}])
def test_documents_that_get_harder_for_all_name_nobody(options):
    for seed in range(5):
        assert periods(team("abcd", seed=seed, **options)).changes == ()


def test_the_best_of_a_team_is_not_named_because_documents_get_harder():
    # ada, who is better than the others, has most to lose. In the second half, all are misled to
    # the second token in every other document. If it did not count that she agrees as well as the
    # others do in the end, she would be named with each of these seeds.
    for seed in (7, 12, 30):
        rng = np.random.default_rng(seed)
        marks = {}
        for name, wrong in {"ada": 0.02, "ben": 0.3, "cleo": 0.3}.items():
            late = [1 if rng.random() < 0.5 else i for i in noisy(rng, 100, [wrong] * 100)]
            marks[name] = noisy(rng, 100, [wrong] * 100) + late
        found = periods(of_tokens(marks, round=["1"] * 100 + ["2"] * 100))
        assert found.corrected[0, 0] - found.corrected[0, 1] > 0.2
        assert found.changes == ()


def test_a_bad_partner_makes_nobody_be_named():
    # ada agrees less when documents get harder, with ben only: she never agreed with dan.
    rng = np.random.default_rng(4)
    for _ in range(5):
        marks = {x: noisy(rng, 60, [0.05] * 30 + [0.5] * 30) for x in ("ada", "ben")}
        marks["dan"] = rng.integers(0, 4, 60).tolist()
        found = periods(of_tokens(marks, round=[str(1 + i // 30) for i in range(60)]))
        assert found.changes == ()
        assert found.n_tested == 3


def test_names_and_their_order_change_nothing():
    corpus = team(b=0.9)
    other = corpus.rename_annotators({"b": "z", "a": "m"})
    (one,), (two,) = periods(corpus).changes, periods(other).changes
    assert two.who == "z"
    assert two.p_adjusted == pytest.approx(one.p_adjusted)
    assert (two.before, two.after) == pytest.approx((one.before, one.after))


def test_with_a_gold_standard_only_one_can_have_changed():
    corpus = team("ab", b=0.9)
    found = periods(corpus, gold="a")
    assert found.annotators == ("b",)
    assert [x.who for x in found.changes] == ["b"]
    both = periods(team("abc", b=0.9), gold="a")
    assert both.annotators == ("b", "c")
    (change,) = both.changes
    assert change.who == "b"
    assert change.others_before > 0.4


def dated(corpus, dates):
    """A corpus with a day for each annotation, by annotator."""
    order = zip(corpus.annotation_document, corpus.annotation_annotator, strict=True)
    days = [day_of(dates[corpus.annotators[a]][d]) for d, a in order]
    return replace(corpus, annotation_date=np.array(days))


def test_each_annotation_counts_for_its_own_week():
    # ben is a week later than ada, and did not say when he did the last document.
    first, second = "2024-02-12", "2024-02-19"
    corpus = of_tokens({"ada": [0, 0, 0, 0], "ben": [0, 1, 1, 1]})
    days = {"ada": [first] * 2 + [second] * 2, "ben": [second] * 3 + [""]}
    found = periods(dated(corpus, days), "week")
    assert found.periods == WEEKS
    # One of two alike, and none of two; for ben, one of three.
    assert found.corrected == pytest.approx(np.array([[1 / 3, -1 / 3], [nan, 1 / 9]]), nan_ok=True)
    assert found.n_documents.tolist() == [[2, 2], [0, 3]]
    assert found.n_undated == 1


def test_weeks_of_a_field_of_dates():
    corpus = of_tokens(PAIR, date=["2024-02-14"] * 6 + ["2024-02-20"] * 5 + ["soon"])
    found = periods(corpus, "week")
    assert (found.periods, found.n_undated) == (WEEKS, 2)
    assert periods(corpus, "month").periods == ("2024-02",)
    # A field of that name comes first.
    named = replace(corpus, fields={**corpus.fields, "week": tuple("ab" * 6)})
    assert periods(named, "week").periods == ("a", "b")


def test_values_without_an_order_are_not_tested():
    found = periods(of_tokens(PAIR, genre=["news", "mail"] * 6), "genre")
    assert (found.periods, found.n_tested, found.changes) == (("mail", "news"), 0, ())
    assert not np.isnan(found.corrected).any()


def test_few_documents_are_not_tested():
    few = of_tokens({name: marks[2:10] for name, marks in PAIR.items()}, round=ROUNDS[2:10])
    assert periods(few).n_tested == 0


def test_nobody_is_judged_by_documents_of_two():
    # Three people, and never more than two of a document.
    rng = np.random.default_rng(0)
    marks = {x: noisy(rng, 60, [0.1] * 30 + [0.8] * 30) for x in "abc"}
    for i in range(60):
        marks["abc"[i % 3]][i] = None
    found = periods(of_tokens(marks, round=[str(1 + i // 30) for i in range(60)]))
    assert (found.n_tested, found.changes) == (0, ())
    assert found.n_documents.tolist() == [[20, 20]] * 3


def test_nothing_to_go_by():
    corpus = of_tokens(PAIR, round=ROUNDS)
    with refused(bc.OptionError, "date … Label Studio, Prodigy, INCEpTION … Argilla … 'date'"):
        periods(corpus, "week")
    with refused(bc.OptionError, "'batch' … 'round' … column"):
        periods(corpus, "batch")
    with refused(bc.OptionError, "'batch' … column"):
        periods(of_tokens(PAIR), "batch")
    assert bc.diagnose(corpus).periods is None


@pytest.mark.slow
@each("names", ["ab", "abc", "abcde"])
def test_in_honest_teams_hardly_anybody_is_named(names):
    found = 0
    for seed in range(60):
        corpus = team(names, n=40, seed=seed)
        found += bool(periods_of(corpus, bc.agreement(corpus).counts, "round").changes)
    # 5 % of 60, and three standard errors more.
    assert found <= 8
