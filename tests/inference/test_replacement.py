"""A model in the place of people: laws, and other ways to the same numbers."""

from __future__ import annotations

from dataclasses import replace
from math import inf, isnan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import beyondchance as bc
from beyondchance.inference.estimates import Estimate
from examples import examples
from refusals import assert_tells, refused

NAMES = ("ada", "ben", "cleo", "gpt")


def spans() -> st.SearchStrategy[list[tuple[int, int, str]]]:
    """Up to three short spans of nine tokens, which could always be elsewhere."""

    def made(found: list[tuple[bool, int, str]]) -> list[tuple[int, int, str]]:
        return [(3 * i, 3 * i + n, label) for i, (here, n, label) in enumerate(found) if here]

    one = st.tuples(st.booleans(), st.integers(1, 2), st.sampled_from("PL"))
    return st.lists(one, min_size=3, max_size=3).map(made)


@st.composite
def teams(draw: Any, *, with_gaps: bool = True) -> dict[str, list[Any]]:
    """What three people and a model marked in a few documents; some did not annotate some."""
    n = draw(st.integers(3, 5))
    own = st.one_of(spans(), st.none()) if with_gaps else spans()
    found = {name: [draw(own) for _ in range(n)] for name in NAMES}
    for name in NAMES:  # one document that all annotated, with marks
        found[name][0] = draw(spans()) or [(0, 1, "P")]
    return found


def corpus_of(team: dict[str, list[Any]]) -> bc.Corpus:
    return bc.Corpus.from_spans(team, lengths=[9] * len(next(iter(team.values()))))


def score_with(corpus: bc.Corpus, who: str, others: list[str], besides: list[str]) -> float:
    """The corrected agreement of somebody with others, in documents of all `besides`."""
    matched = expected = size = 0.0
    for other in others:
        together = {who, other, *besides}
        documents = [x for x in corpus.documents if together <= set(corpus.annotators_of(x))]
        if not documents:
            continue
        part = corpus.select(annotators=[who, other], documents=documents)
        score = bc.agreement(part).score
        matched += score.matched
        expected += score.expected
        size += score.size_a + score.size_b
    return (matched - expected) / (size / 2 - expected) if size else float("nan")


class TestLaws:
    @given(teams(), st.sampled_from(NAMES[:3]))
    @examples(40)
    def test_a_copy_of_a_person_keeps_all_of_that_persons_agreement(
        self, team: dict[str, Any], who: str
    ) -> None:
        corpus = corpus_of({**team, "gpt": team[who]})
        found = bc.replacement(corpus, model="gpt", keep=1, confidence=0.5)
        if who in found.by_human:
            one = found.by_human[who]
            assert one.difference == 0 or isnan(one.difference)
            assert one.conditions["keep"].value == one.difference or isnan(one.difference)
            assert not one.is_worse

    @given(teams(with_gaps=False))
    @examples(40)
    def test_marking_nothing_scores_nothing_and_never_passes(self, team: dict[str, Any]) -> None:
        nothing: list[Any] = [[] for _ in team["gpt"]]
        for confidence, margin in ((0.95, 0.05), (0.5, 1.0)):
            found = bc.replacement(
                corpus_of({**team, "gpt": nothing}),
                model="gpt",
                keep=0,
                margin=margin,
                confidence=confidence,
            )
            assert all(one.model == 0 or isnan(one.model) for one in found.by_human.values())
            assert found.verdict not in {"shown", "would pass"}
            assert isnan(found.keeps)

    @pytest.mark.slow
    @given(teams())
    @examples(20)
    def test_documents_without_marks_change_no_number(self, team: dict[str, Any]) -> None:
        more = {name: [*marked, [], []] for name, marked in team.items()}
        one, other = (
            bc.replacement(corpus_of(x), model="gpt", confidence=0.6) for x in (team, more)
        )
        plain, extended = one.to_dict(), other.to_dict()
        plain.pop("inputs", None), extended.pop("inputs", None)
        assert repr(plain) == repr(extended)
        assert repr(one.effective_documents) == repr(other.effective_documents)

    @pytest.mark.slow
    @given(teams())
    @examples(25)
    def test_the_jackknife_leaves_out_each_document(self, team: dict[str, Any]) -> None:
        self.assert_jackknife(corpus_of(team))

    @pytest.mark.slow
    def test_the_jackknife_by_an_example(self) -> None:
        one, two, three = [(0, 2, "P"), (3, 4, "L")], [(0, 1, "P")], [(3, 5, "L")]
        team = {
            "ada": [one, two, three, []],
            "ben": [one, two, None, []],
            "cleo": [two, one, three, two],
            "gpt": [one, three, three, []],
        }
        self.assert_jackknife(corpus_of(team))

    def assert_jackknife(self, corpus: bc.Corpus) -> None:
        """Score again without each document, for a person and for all on average."""
        found = bc.replacement(corpus, model="gpt", confidence=0.9999)
        assert not found.has_verdict  # all people are compared
        for name, one in found.by_human.items():
            scores = score_pair(corpus, name)
            assert [one.model, one.human] == pytest.approx(scores, abs=1e-12, nan_ok=True)
            used = [x for x in corpus.documents if _is_used(corpus, x, name)]
            left_out = np.array([score_pair(_without(corpus, x), name) for x in used])
            assert one.n_documents == len(used)
            if len(used) > 1 and np.isfinite(left_out).all():
                errors = {"chance": (1, 0), "keep": (1, -0.9), "margin": (1, -1)}
                for condition, weights in errors.items():
                    error = _jackknife(left_out @ weights)
                    assert one.conditions[condition].error == pytest.approx(error, abs=1e-9)
        used = [x for x in corpus.documents if any(_is_used(corpus, x, n) for n in NAMES[:3])]
        left_out = np.array(
            [
                np.mean([score_pair(_without(corpus, x), name) for name in NAMES[:3]], axis=0)
                for x in used
            ]
        )
        if len(used) > 1 and np.isfinite(left_out).all():
            error = _jackknife(left_out @ (1, -0.9))
            assert found.mean.conditions["keep"].error == pytest.approx(error, abs=1e-9)


def score_pair(corpus: bc.Corpus, human: str) -> list[float]:
    """The model and the person, each with the others, by scoring pairs one by one."""
    people = [name for name in corpus.annotators if name not in {"gpt", human}]
    sides = (("gpt", human), (human, "gpt"))
    return [score_with(corpus, who, people, [other]) for who, other in sides]


def _without(corpus: bc.Corpus, document: str) -> bc.Corpus:
    return corpus.select(documents=[x for x in corpus.documents if x != document])


def _jackknife(left_out: np.ndarray) -> float:
    n = len(left_out)
    return sqrt((n - 1) / n * float(((left_out - left_out.mean()) ** 2).sum()))


def _is_used(corpus: bc.Corpus, document: str, human: str) -> bool:
    """Whether a document has marks of those who are compared."""
    here = set(corpus.annotators_of(document))
    others = here - {human, "gpt"}
    if not {human, "gpt"} <= here or not others:
        return False
    return any(corpus.spans(document, name) for name in here)


def noisy(rates: dict[str, float], n: int = 60, seed: int = 4) -> dict[str, list[Any]]:
    """Annotators who find a share of three spans in each of some texts of 20 tokens."""
    rng = np.random.default_rng(seed)
    truth = [sorted(rng.choice(20, 3, replace=False).tolist()) for _ in range(n)]
    return {
        name: [[(x, x + 1, "P") for x in marked if rng.random() < rate] for marked in truth]
        for name, rate in rates.items()
    }


def judged(team: dict[str, list[Any]], **options: Any) -> bc.Replacement:
    corpus = bc.Corpus.from_spans(team, lengths=[20] * len(next(iter(team.values()))))
    return bc.replacement(corpus, model="gpt", **options)


def elsewhere(n: int, seed: int) -> list[Any]:
    """Random work."""
    rng = np.random.default_rng(seed)
    return [[(int(x), int(x) + 2, "P")] for x in rng.integers(0, 19, n)]


def said(found: bc.Replacement) -> str:
    """The text without line breaks."""
    return " ".join(str(found).split())


RATES = dict(zip(NAMES, (0.8, 0.7, 0.75, 0.7), strict=True))


class TestTests:
    def test_p_values_are_student_s_without_skewness(self) -> None:
        def hall(t: float, x: Estimate) -> float:
            s = x.skewness / np.sqrt(x.n_documents)
            return t + s * t**2 / 3 + s**2 * t**3 / 27 + s / 6

        found = judged(noisy(RATES), keep=0.8, margin=0.08)
        assert abs(found.mean.estimate.skewness) > 0.1
        for one in (found.mean, *found.by_human.values()):
            values = {"keep": one.model - 0.8 * one.human, "margin": one.difference + 0.08}
            values["chance"] = one.model
            raw = []
            for name, x in one.conditions.items():
                assert x.value == pytest.approx(values[name])
                raw.append(stats.t.sf(hall(x.value / x.error, x), x.freedom))
            assert one.p == pytest.approx(max(raw))
            # The ends of the interval are the differences that are just not rejected.
            x = one.estimate
            ends = [hall((x.value - end) / x.error, x) for end in one.interval]
            assert ends == pytest.approx(stats.t.ppf([0.975, 0.025], x.freedom).tolist())
        means = np.mean([[x.model, x.human] for x in found.by_human.values()], axis=0)
        assert [found.mean.model, found.mean.human] == pytest.approx(means.tolist())
        raw = [one.p for one in found.by_human.values()]
        assert found.p_every == max(raw)
        # By Holm: the smallest of three counts threefold, and none less than one before it.
        ranked = np.maximum.accumulate(np.sort(raw) * [3, 2, 1]).clip(max=1)
        adjusted = ranked[np.argsort(np.argsort(raw))]
        assert list(found.p_values.values()) == pytest.approx(adjusted.tolist())

    def test_each_condition_can_be_switched_off(self) -> None:
        team = noisy(RATES)
        both, keep, margin = (
            judged(team, **options) for options in ({}, {"margin": None}, {"keep": None})
        )
        assert set(both.mean.conditions) == {"chance", "keep", "margin"}
        assert set(keep.mean.conditions) == {"chance", "keep"}
        assert set(margin.mean.conditions) == {"chance", "margin"}
        assert both.mean.p == max(keep.mean.p, margin.mean.p)
        assert_tells(said(keep), "keep 90 % of the people's")
        assert "below" not in str(keep)
        assert_tells(said(margin), "less than 0.05 below the people's agreement")

    def test_the_largest_share_is_where_the_test_turns(self) -> None:
        found = judged(noisy(RATES))
        assert 0.5 < found.keeps < 1
        for share, p in ((found.keeps - 1e-6, 0.05), (found.keeps + 1e-6, 0.05)):
            one = judged(noisy(RATES), keep=share, margin=None)
            assert (one.mean.p <= p) == (share < found.keeps)

    @pytest.mark.slow
    def test_three_outcomes(self) -> None:
        rates = dict.fromkeys(NAMES, 0.75)
        good = judged(noisy(rates, 300))
        assert good.verdict == "shown"
        assert not good.is_starred
        assert_tells(
            said(good), "gpt keeps at least … It is shown to keep 90 % … every person judged"
        )
        bad = judged(noisy({**rates, "gpt": 0.3}, 300))
        assert bad.verdict == "worse"
        assert_tells(said(bad), "shown to be worse")
        unclear = judged(noisy(dict.fromkeys(NAMES, 0.5), 30))
        assert unclear.verdict == "not shown"
        needed = unclear.documents_needed
        assert needed is not None
        assert needed > 30
        assert_tells(said(unclear), "is not shown to keep 90 % … does not mean that it is worse")
        assert_tells(said(unclear), f"about {needed} documents would show it in 80 %")
        never = judged(noisy(dict.fromkeys(NAMES, 0.5), 30), margin=0)
        assert never.documents_needed is None
        assert_tells(said(never), "no number of documents")

    def test_few_documents_show_nothing(self) -> None:
        for n, expected in ((19, "would pass"), (20, "shown")):
            found = judged(noisy(dict.fromkeys(NAMES, 0.95), n), keep=0.5, margin=0.5)
            assert found.verdict == expected
            assert found.has_few_documents == (n < 20)
            assert ("too few documents to rely on" in said(found)) == (n < 20)
        team = {**noisy(dict.fromkeys(NAMES, 0.95), 19), "gpt": [[] for _ in range(19)]}
        assert judged(team).verdict == "would fail"

    @pytest.mark.slow
    def test_a_star_where_failures_in_whole_documents_could_be_missed(self) -> None:
        team = noisy(dict.fromkeys(NAMES, 0.9), 100)
        found = judged(team)
        weights = []
        corpus = found.corpus
        for name in corpus.documents:
            part = corpus.select(documents=[name], annotators=NAMES[:3])
            score = bc.agreement(part).score
            weights.append((score.size_a + score.size_b) / 2 - score.expected)
        effective = sum(weights) ** 2 / sum(x * x for x in weights)
        assert found.effective_documents == pytest.approx(effective)
        for keep, margin in ((0.9, 0.05), (0.98, None), (None, 0.02), (0.9, 0.01), (1, None)):
            losses = [] if keep is None else [1 - keep]
            losses += [] if margin is None else [margin / found.mean.human]
            least = 3 / min(losses) if min(losses) else inf
            one = judged(team, keep=keep, margin=margin)
            assert one.is_starred == (effective < least)
        starred = judged(noisy(dict.fromkeys(NAMES, 0.9), 25), keep=0.5, margin=0.1)
        assert starred.verdict == "shown"
        assert_tells(said(starred), "It is shown* to … * failures in whole documents")

    def test_blind_is_said(self) -> None:
        team = noisy(RATES, 20)
        for blind in ("yes", "no", "unknown"):
            found = judged(team, blind=blind)
            assert found.blind == blind == found.to_dict()["blind"]
            assert f"(blind: {blind})" in said(found)

    def test_a_copy_is_warned_of(self) -> None:
        team = noisy(RATES)
        assert judged(team).copied == ()
        found = judged({**team, "gpt": team["ben"]})
        assert found.copied == ("ben",)
        assert_tells(said(found), "gpt agrees with ben much better … looks like a copy")
        assert judged({name: marked[:4] for name, marked in team.items()}).copied == ()


class TestVerdicts:
    def test_none_where_people_do_not_agree(self) -> None:
        team = {name: elsewhere(60, i) for i, name in enumerate(NAMES)}
        found = judged({**team, "gpt": team["ada"]})
        assert found.verdict == "no verdict"
        assert isnan(found.keeps)
        assert isnan(found.p_every)
        assert set(found.by_human) == set(NAMES[:3])
        assert found.to_dict()["models"][0]["people"]["ada"]["p"] is None
        assert_tells(said(found), "No verdict on gpt … the people are not shown to agree")

    def test_who_does_not_agree_is_named_and_left_out(self) -> None:
        """A copy of the one who works at random agrees with nobody else."""
        team = noisy({"ada": 0.8, "ben": 0.8, "gpt": 0.8}, 80)
        team["cleo"] = elsewhere(80, 1)
        found = judged(team)
        assert found.unjudged == ("cleo",)
        assert set(found.by_human) == {"ada", "ben"}
        alone = judged({name: marked for name, marked in team.items() if name != "cleo"})
        assert repr(found.by_human) == repr(alone.by_human)
        assert_tells(said(found), "Not judged, and not compared with: cleo")
        copy = judged({**team, "gpt": team["cleo"]})
        assert copy.verdict == "worse"
        assert copy.copied == ("cleo",)

    def test_more_than_half_of_the_people_have_to_agree(self) -> None:
        team = noisy({"ada": 0.8, "ben": 0.8, "gpt": 0.8}, 80)
        more = {f"r{i}": elsewhere(80, i) for i in range(3)}
        assert judged({**team, "r0": more["r0"]}).has_verdict
        found = judged({**team, **more})
        assert found.verdict == "no verdict"
        assert found.unjudged == ("r0", "r1", "r2")
        assert_tells(said(found), "r0, r1 and r2 are not shown to agree … too few people are left")


class TestModels:
    def test_several_models_are_compared(self) -> None:
        corpus = bc.example()
        marked = {
            name: [corpus.spans(x, "ben" if name == "twin" else name) for x in corpus.documents]
            for name in (*corpus.annotators, "twin")
        }
        whole = bc.Corpus.from_spans(marked, lengths=[30] * 12)
        found = bc.replacement(whole, model=["cleo", "twin"], humans=["ada", "ben"])
        assert set(found.models) == {"cleo", "twin"}
        best = list(found.models.values())
        assert best[0].mean.difference >= best[1].mean.difference
        ((names, x),) = found.differences.items()
        assert x.difference == pytest.approx(best[0].mean.difference - best[1].mean.difference)
        assert names == tuple(found.models)
        assert 0 <= x.p <= 1


def _sums(score: bc.Score) -> np.ndarray:
    return np.array([score.matched, score.expected, score.size_a + score.size_b])


class TestCeilings:
    @pytest.mark.slow
    @given(teams(with_gaps=False))
    @examples(20)
    def test_they_are_what_they_say(self, team: dict[str, Any]) -> None:
        """Ties go to the first, and both orders count alike."""
        self.assert_as_said(team)

    def test_they_are_what_they_say_of_an_example(self) -> None:
        one, two, three = [(0, 2, "P"), (3, 4, "L")], [(0, 1, "P")], [(3, 5, "L"), (6, 7, "P")]
        self.assert_as_said(
            {
                "ada": [one, two, three],
                "ben": [one, [], two],
                "cleo": [two, one, three],
                "gpt": [one, three, []],
            }
        )

    def assert_as_said(self, team: dict[str, Any]) -> None:
        corpus = corpus_of(team)
        # At this confidence there is no verdict, and nobody is left out.
        found = bc.replacement(corpus, model="gpt", confidence=0.9999).ceiling
        people = corpus.select(annotators=NAMES[:3])
        assert found.human == pytest.approx(bc.agreement(people).corrected, abs=1e-12, nan_ok=True)
        model = score_with(corpus, "gpt", list(NAMES[:3]), [])
        assert found.model == pytest.approx(model, abs=1e-12, nan_ok=True)
        sums = {"lower": np.zeros(3), "upper": np.zeros(3)}
        best = bc.consensus(corpus_of({name: team[name] for name in NAMES[:3]}), method="best")
        sums["upper"] += _sums(bc.agreement(best.corpus, gold="consensus").score)
        for name in NAMES[:3]:
            others = {other: team[other] for other in NAMES[:3] if other != name}
            voted = bc.consensus(corpus_of(others), method="best").corpus
            marked = [voted.spans(x, "consensus") for x in voted.documents]
            pair = corpus_of({name: team[name], "c": marked})
            sums["lower"] += _sums(bc.agreement(pair).score)
        for name, (matched, expected, size) in sums.items():
            value = (matched - expected) / (size / 2 - expected)
            assert getattr(found, name) == pytest.approx(value, abs=1e-12, nan_ok=True)
        assert isnan(found.about)

    def test_two_people_have_a_root(self) -> None:
        found = bc.replacement(bc.example(), model="cleo").ceiling
        assert found.about == pytest.approx(sqrt(found.human))
        assert found.share["about"].value == pytest.approx(found.model / found.about)
        assert found.lower == pytest.approx(found.human)

    @pytest.mark.parametrize("n_people", [2, 3, pytest.param(5, marks=pytest.mark.slow)])
    def test_a_perfect_model_lies_between(self, n_people: int) -> None:
        """People who overlook some of the truth and mark some at other places."""
        rng = np.random.default_rng(n_people)
        n, length = 120, 30
        truth = [sorted(rng.choice(length, 4, replace=False).tolist()) for _ in range(n)]

        def person() -> list[Any]:
            work = []
            for marked in truth:
                kept = [x for x in marked if rng.random() < 0.8]
                extra = [int(x) for x in rng.choice(length, 1) if int(x) not in kept]
                work.append([(x, x + 1, "P") for x in sorted({*kept, *extra})])
            return work

        team = {f"p{i}": person() for i in range(n_people)}
        team["truth"] = [[(x, x + 1, "P") for x in marked] for marked in truth]
        corpus = bc.Corpus.from_spans(team, lengths=[length] * n)
        found = bc.replacement(corpus, model="truth").ceiling
        assert found.lower <= found.model <= found.upper
        if n_people == 2:
            assert found.about == pytest.approx(found.model, abs=0.05)

    def test_other_measures_have_no_best_consensus(self) -> None:
        corpus = corpus_of(
            {
                "ada": [[(0, 2, "P")], [(3, 5, "P")]],
                "ben": [[(0, 2, "P")], [(3, 4, "P")]],
                "gpt": [[(0, 2, "P")], [(2, 5, "P")]],
            }
        )
        for measure in ("boundary", "dice", "iou"):
            found = bc.replacement(corpus, model="gpt", measure=measure)
            assert found.settings.measure == measure
            assert 0 < found.ceiling.human < 1, measure
            assert isnan(found.ceiling.lower), measure
            assert isnan(found.ceiling.upper), measure
            assert set(found.ceiling.share) == {"human", "about"}, measure
            assert "ceiling" not in str(found), measure

    def test_exact(self) -> None:
        found = bc.replacement(bc.example(), model="cleo", measure="exact").ceiling
        assert 0 < found.lower <= found.upper <= 1

    @pytest.mark.slow
    @given(teams(with_gaps=False), st.sampled_from(["token", "exact"]))
    @examples(15)
    def test_the_order_of_three_people_does_not_matter(
        self, team: dict[str, Any], measure: str
    ) -> None:
        found = [
            bc.replacement(
                corpus_of({name: team[name] for name in (*order, "gpt")}),
                model="gpt",
                measure=measure,
                confidence=0.9999,
            ).ceiling
            for order in (("ada", "ben", "cleo"), ("cleo", "ada", "ben"), ("ben", "cleo", "ada"))
        ]
        assert len({round(x.lower, 12) for x in found if not isnan(x.lower)}) <= 1


class TestPlans:
    def test_more_documents_for_smaller_margins_and_more_power(self) -> None:
        wide, narrow = (bc.replacement(bc.example(), model="cleo", margin=m) for m in (0.05, 0.03))
        found = bc.plan_replacement(narrow, difference=0.0)
        sure = bc.plan_replacement(narrow, difference=0.0, power=0.95)
        numbers = [bc.plan_replacement(wide, difference=0.0).documents, found.documents]
        assert numbers[0] < numbers[1] < sure.documents  # type: ignore[operator]
        assert set(found.by_condition) == {"people", "chance", "margin", "keep"}
        value, (documents, low, high) = found.by_condition["margin"]  # type: ignore[misc]
        assert value == pytest.approx(0.03)
        assert low <= documents <= high
        x = narrow.mean.estimate
        spread = x.error * sqrt(x.n_documents)

        def reach(n: int) -> float:
            t = stats.t.ppf(0.95, n - 1) + stats.t.ppf(0.8, n - 1)
            return float(t * spread / sqrt(n))

        assert reach(documents) <= 0.03 < reach(documents - 1)
        assert found.documents == documents == narrow.documents_needed

    def test_no_number_would_do(self) -> None:
        pilot = bc.replacement(bc.example(), model="cleo")
        found = bc.plan_replacement(pilot, difference=-0.06)
        assert found.documents is None
        assert found.by_condition["margin"] == (pytest.approx(-0.01), None)
        assert "No number of documents" in str(found)
        assert bc.plan_replacement(pilot).documents == 20

    def test_the_pilot_may_be_enough(self) -> None:
        found = bc.plan_replacement(bc.replacement(bc.example(), model="cleo"))
        for n_pilot, told in ((19, "included"), (20, "or fewer"), (21, "or fewer")):
            said = " ".join(str(replace(found, n_pilot=n_pilot)).split())
            assert_tells(said, f"20 documents … pilot's {n_pilot}, … {told}")

    def test_power_is_a_share(self) -> None:
        pilot = bc.replacement(bc.example(), model="cleo")
        for power in (0, 1, 80, -0.1, "high"):
            with refused(bc.OptionError, f"power is {power!r} … 0 … 1"):
                bc.plan_replacement(pilot, power=power)  # type: ignore[arg-type]


class TestRefused:
    def test_options(self) -> None:
        cases: list[tuple[dict[str, Any], type[Exception], tuple[object, ...]]] = [
            ({"model": "eve"}, bc.OptionError, "model … 'eve' … 'ada', 'ben', 'cleo'"),
            ({"model": None}, bc.OptionError, "model is None … list"),
            ({"model": []}, bc.OptionError, "no model"),
            ({"model": ["ada", "ada"]}, bc.OptionError, "model … twice"),
            ({"model": "ada", "humans": "ben"}, bc.OptionError, "humans is 'ben' … list"),
            ({"model": "ada", "humans": ["ada", "ben"]}, bc.OptionError, "'ada' … and a human"),
            ({"model": "ada", "humans": ["ben"]}, bc.DataError, "1 … people … two"),
            ({"model": ["ada", "ben"]}, bc.DataError, "1 … people … two"),
            ({"model": "ada", "humans": ["eve"]}, bc.OptionError, "human 'eve'"),
            ({"model": "ada", "margin": 2}, bc.OptionError, "margin … 2 … 0 … 1"),
            ({"model": "ada", "keep": "x"}, bc.OptionError, "keep … 'x' … 0 … 1"),
            ({"model": "ada", "keep": None, "margin": None}, bc.OptionError, "keep and margin"),
            ({"model": "ada", "blind": True}, bc.OptionError, "blind … yes, no, unknown"),
            ({"model": "ada", "confidence": 1}, bc.OptionError, "confidence … 1"),
            ({"model": "ada", "measure": "f1"}, bc.OptionError, "measure … 'f1'"),
        ]
        for options, kind, told in cases:
            with refused(kind, told):
                bc.replacement(bc.example(), **options)

    def test_a_model_without_documents_in_common(self) -> None:
        team = {"a": [[(0, 1, "P")], None], "b": [[(0, 1, "P")], None], "m": [None, [(0, 1, "P")]]}
        corpus = bc.Corpus.from_spans(team, lengths=[5, 5])
        with refused(bc.DataError, "'m' … shares no document"):
            bc.replacement(corpus, model="m")

    def test_a_gold_standard_is_nobody_to_replace(self) -> None:
        corpus = bc.example().with_gold("ada")
        with refused(bc.DataError, "1 … people"):
            bc.replacement(corpus, model="cleo")

    def test_equal_models_do_not_differ(self) -> None:
        team = {name: [[(i % 6, i % 6 + 2, "P")] for i in range(6)] for name in NAMES[:2]}
        team["cleo"] = team["m"] = [[(i % 5, i % 5 + 2, "P")] for i in range(6)]
        found = bc.replacement(corpus_of(team), model=["cleo", "m"])
        (x,) = found.differences.values()
        assert (x.difference, x.p) == (0.0, 1.0)

    def test_chance_does_not_pass(self) -> None:
        """Not shown to agree better than chance: whatever is tolerated."""
        team: dict[str, Any] = dict.fromkeys(NAMES[:3], elsewhere(40, 1))
        found = judged({**team, "gpt": elsewhere(40, 2)}, keep=0, margin=1)
        assert found.verdict == "not shown"
        assert isnan(found.keeps)
