"""A model in the place of people: laws, and other ways to the same numbers."""

from __future__ import annotations

from math import inf, isnan, sqrt
from typing import Any

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

import beyondchance as bc
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


def difference(corpus: bc.Corpus, human: str, model: str = "gpt") -> float:
    """The model minus the person, each with the others, by scoring pairs one by one."""
    people = [name for name in corpus.annotators if name not in {model, human}]
    return score_with(corpus, model, people, [human]) - score_with(corpus, human, people, [model])


class TestLaws:
    @given(teams(), st.sampled_from(NAMES[:3]))
    @examples(40)
    def test_a_copy_of_somebody_differs_by_nothing(self, team: dict[str, Any], who: str) -> None:
        found = bc.replacement(corpus_of({**team, "gpt": team[who]}), model="gpt")
        one = found.by_human[who]
        assert one.difference == 0 or isnan(one.difference)
        if one.n_documents > 1 and one.p_chance <= 0.05:
            assert one.smallest_margin == 0

    @given(teams(with_gaps=False))
    @examples(40)
    def test_marking_nothing_scores_nothing_and_never_passes(self, team: dict[str, Any]) -> None:
        nothing: list[Any] = [[] for _ in team["gpt"]]
        found = bc.replacement(corpus_of({**team, "gpt": nothing}), model="gpt")
        assert all(one.model == 0 or isnan(one.model) for one in found.by_human.values())
        assert not any(found.passes(margin) for margin in (0.0, 0.05, 0.5, 1.0))
        assert found.smallest_margin == inf

    @pytest.mark.slow
    @given(teams())
    @examples(20)
    def test_documents_without_marks_change_no_number(self, team: dict[str, Any]) -> None:
        more = {name: [*marked, [], []] for name, marked in team.items()}
        one, other = (bc.replacement(corpus_of(x), model="gpt", margin=0.1) for x in (team, more))
        assert repr(one.by_human) == repr(other.by_human)
        assert repr(
            (one.mean_difference, one.mean_interval, one.mean_margin, one.n_documents)
        ) == repr(
            (other.mean_difference, other.mean_interval, other.mean_margin, other.n_documents)
        )
        assert repr(one.ceiling) == repr(other.ceiling)

    @pytest.mark.slow
    @given(teams())
    @examples(25)
    def test_the_jackknife_leaves_out_each_document(self, team: dict[str, Any]) -> None:
        self.assert_jackknife(corpus_of(team))

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
        found = bc.replacement(corpus, model="gpt")
        for name, one in found.by_human.items():
            assert one.difference == pytest.approx(difference(corpus, name), abs=1e-12, nan_ok=True)
            left_out = []
            for document in corpus.documents:
                rest = [x for x in corpus.documents if x != document]
                if _is_used(corpus, document, name):
                    left_out.append(difference(corpus.select(documents=rest), name))
            assert one.n_documents == len(left_out)
            if len(left_out) > 1 and np.isfinite(left_out).all():
                n = len(left_out)
                error = sqrt((n - 1) / n * sum((x - np.mean(left_out)) ** 2 for x in left_out))
                assert one.estimate.error == pytest.approx(error, abs=1e-9)

    @given(teams(with_gaps=False), st.floats(0, 1), st.floats(0, 1))
    @examples(40)
    def test_means_and_margins(self, team: dict[str, Any], one: float, other: float) -> None:
        """What passes passes at a larger margin."""
        found = bc.replacement(corpus_of(team), model="gpt")
        known = [human.difference for human in found.by_human.values()]
        assert found.mean_difference == pytest.approx(np.mean(known), abs=1e-12, nan_ok=True)
        small, large = sorted((one, other))
        assert found.passes(large) or not found.passes(small)
        if 0 < found.smallest_margin < 1:
            assert found.passes(found.smallest_margin)
            assert not found.passes(max(found.smallest_margin - 2e-6, 0))


def _is_used(corpus: bc.Corpus, document: str, human: str) -> bool:
    """Whether a document has marks of those who are compared."""
    here = set(corpus.annotators_of(document))
    others = here - {human, "gpt"}
    if not {human, "gpt"} <= here or not others:
        return False
    return any(corpus.spans(document, name) for name in here)


class TestTests:
    def example(self, margin: float | None = None) -> bc.Replacement:
        rng = np.random.default_rng(4)
        truth = [sorted(rng.choice(20, 3, replace=False).tolist()) for _ in range(60)]
        team: dict[str, list[Any]] = {}
        for name, rate in zip(NAMES, (0.8, 0.7, 0.75, 0.7), strict=True):
            team[name] = [
                [(x, x + 1, "P") for x in marked if rng.random() < rate] for marked in truth
            ]
        corpus = bc.Corpus.from_spans(team, lengths=[20] * 60)
        return bc.replacement(corpus, model="gpt", margin=margin)

    def test_p_values_are_student_s_by_holm(self) -> None:
        found = self.example(0.08)
        assert all(one.p_chance < 1e-6 for one in found.by_human.values())
        raw = [
            stats.t.sf((one.difference + 0.08) / one.estimate.error, one.estimate.freedom)
            for one in found.by_human.values()
        ]
        # By Holm: the smallest of three counts threefold, and none less than one before it.
        ranked = np.maximum.accumulate(np.sort(raw) * [3, 2, 1]).clip(max=1)
        adjusted = ranked[np.argsort(np.argsort(raw))]
        assert [one.p for one in found.by_human.values()] == pytest.approx(adjusted.tolist())
        assert found.passes(0.08) == bool((adjusted <= 0.05).all())

    def test_intervals_and_margins_are_student_s(self) -> None:
        for one in self.example().by_human.values():
            x = one.estimate
            low, high = stats.t.interval(0.95, x.freedom, one.difference, x.error)
            assert one.interval == pytest.approx((low, high))
            margin = stats.t.ppf(0.95, x.freedom) * x.error - one.difference
            assert one.smallest_margin == pytest.approx(max(margin, 0))
            assert isnan(one.p)

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
        assert best[0].mean_difference >= best[1].mean_difference
        ((names, x),) = found.differences.items()
        assert x.difference == pytest.approx(best[0].mean_difference - best[1].mean_difference)
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
        found = bc.replacement(corpus, model="gpt").ceiling
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
            ).ceiling
            for order in (("ada", "ben", "cleo"), ("cleo", "ada", "ben"), ("ben", "cleo", "ada"))
        ]
        assert len({round(x.lower, 12) for x in found if not isnan(x.lower)}) <= 1


class TestPlans:
    def test_more_documents_for_smaller_margins_and_more_power(self) -> None:
        pilot = bc.replacement(bc.example(), model="cleo")
        wide, narrow = (bc.plan_replacement(pilot, m, difference=0.0) for m in (0.1, 0.05))
        sure = bc.plan_replacement(pilot, 0.05, difference=0.0, power=0.95)
        assert wide.documents < narrow.documents < sure.documents  # type: ignore[operator]
        for name, (documents, low, high) in narrow.by_human.items():  # type: ignore[misc]
            assert low <= documents <= high
            x = pilot.by_human[name].estimate
            spread = x.error * sqrt(x.n_documents)

            def reach(n: int, spread: float = spread) -> float:
                t = stats.t.ppf(1 - 0.05 / 2, n - 1) + stats.t.ppf(0.8, n - 1)
                return float(t * spread / sqrt(n))

            assert reach(documents) <= 0.05 < reach(documents - 1)

    @pytest.mark.slow
    def test_a_copy_needs_few_and_nothing_marked_no_number(self) -> None:
        corpus = bc.example()
        marked = {n: [corpus.spans(x, n) for x in corpus.documents[:6]] for n in corpus.annotators}
        lengths = [40] * 6
        twin = bc.Corpus.from_spans({**marked, "m": marked["ada"]}, lengths=lengths)
        found = bc.plan_replacement(bc.replacement(twin, model="m"), 0.05)
        assert found.by_human["ada"] == (2, 2, 2)
        none = bc.Corpus.from_spans({**marked, "m": [[] for _ in lengths]}, lengths=lengths)
        assert bc.plan_replacement(bc.replacement(none, model="m"), 0.99).documents is None

    def test_no_number_would_do(self) -> None:
        pilot = bc.replacement(bc.example(), model="cleo")
        found = bc.plan_replacement(pilot, 0.01, difference=-0.02)
        assert found.documents is None
        assert set(found.by_human.values()) == {None}
        assert "No number of documents" in str(found)


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

    def test_what_is_said(self) -> None:
        found = bc.replacement(bc.example(), model="cleo", margin=0.5)
        text = " ".join(str(found).split())
        assert_tells(text, "cleo is shown … less than 0.5 worse … each of ada and ben")
        assert_tells(text, "three people … fewer than 20 documents … fewer than 50 documents")

    def test_what_is_plainly_worse_is_called_so(self) -> None:
        team = {name: [[(i % 6, i % 6 + 2, "P")] for i in range(12)] for name in NAMES[:3]}
        corpus = corpus_of({**team, "m": [[] for _ in range(12)]})
        found = bc.replacement(corpus, model="m", margin=0.05)
        text = " ".join(str(found).split())
        assert_tells(text, "m is more than 0.05 worse than ada, ben and cleo")
        equal = bc.replacement(bc.example(), model="cleo", margin=0.0)
        assert "not worse than" in str(equal)

    def test_equal_models_do_not_differ(self) -> None:
        team = {name: [[(i % 6, i % 6 + 2, "P")] for i in range(6)] for name in NAMES[:2]}
        team["cleo"] = team["m"] = [[(i % 5, i % 5 + 2, "P")] for i in range(6)]
        found = bc.replacement(corpus_of(team), model=["cleo", "m"])
        (x,) = found.differences.values()
        assert (x.difference, x.p) == (0.0, 1.0)

    def test_chance_does_not_pass(self) -> None:
        """Not shown to be better than chance: no margin is large enough."""
        rng = np.random.default_rng(2)
        right = [[(int(x), int(x) + 2, "P")] for x in rng.integers(0, 18, 40)]
        wrong = [[(int(x), int(x) + 2, "P")] for x in rng.integers(0, 18, 40)]
        team = {"a": right, "b": right, "c": right, "m": wrong}
        found = bc.replacement(bc.Corpus.from_spans(team, lengths=[20] * 40), model="m")
        assert not found.passes(1.0)
        assert found.smallest_margin == inf
