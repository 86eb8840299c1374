"""Annotators far below the others: planted ones are named, innocent ones are not."""

from functools import cache
from math import sqrt

import numpy as np
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.core.distributions import student_share
from beyondchance.core.resampling import degrees_of_freedom
from beyondchance.inference.careless import _share_below, _share_up_to
from examples import examples
from refusals import refused

LENGTH, N_SPANS = 60, 8


def anywhere(rng, n_documents, n_spans=N_SPANS):
    """Single words, every choice being equally likely."""
    return [np.sort(rng.choice(LENGTH, n_spans, replace=False)) for _ in range(n_documents)]


def noisy(rng, truth, right=0.8):
    """Most of the words, and others in the place of the rest."""
    found = []
    for words in truth:
        kept = words[rng.random(len(words)) < right]
        others = np.setdiff1d(np.arange(LENGTH), kept)
        more = rng.choice(others, len(words) - len(kept), replace=False)
        found.append(np.sort(np.concatenate([kept, more])))
    return found


def corpus_of(work, *, label="P", **options):
    """One label for all, or one for each annotator."""
    labels = label if isinstance(label, dict) else dict.fromkeys(work, label)
    spans = {
        name: [[(int(x), int(x) + 1, labels[name]) for x in words] for words in listed]
        for name, listed in work.items()
    }
    n_documents = len(next(iter(work.values())))
    return bc.Corpus.from_spans(spans, lengths=[LENGTH] * n_documents, **options)


def team(seed, n_documents=20, people=("ada", "ben", "cleo"), **planted):
    """People who find most words, and planted work."""
    rng = np.random.default_rng(seed)
    truth = anywhere(rng, n_documents)
    work = {name: noisy(rng, truth) for name in people}
    return {**work, **{name: make(rng, truth) for name, make in planted.items()}}


def random_work(rng, truth):
    return anywhere(rng, len(truth))


class TestNamed:
    def test_a_random_annotator(self):
        found = bc.careless_work(corpus_of(team(1, dan=random_work)))
        assert (found.below, found.random, found.another_rule) == (("dan",), ("dan",), ())
        assert found.too_few == found.nothing == found.everything == ()
        assert found.by_annotator["ada"].verdict == "half"

    def test_nobody_is_blamed_for_a_partner(self):
        """With a random one of three, nothing is known of the other two."""
        found = bc.careless_work(corpus_of(team(2, people=("ada", "ben"), dan=random_work)))
        assert (found.below, found.random) == (("dan",), ("dan",))
        assert found.too_few == ("ada", "ben")

    def test_two_annotators(self):
        found = bc.careless_work(corpus_of(team(3, people=("ada",), dan=random_work)))
        assert found.below == ()
        assert found.too_few == ("ada", "dan")
        assert found.by_annotator["dan"].n_documents == 0
        assert np.isnan(found.by_annotator["dan"].p)

    def test_all_random(self):
        people = dict.fromkeys(("dan", "eve", "fay", "gus"), random_work)
        found = bc.careless_work(corpus_of(team(4, people=(), **people)))
        assert found.below == ()
        assert len(found.too_few) == 4

    def test_the_word_after(self):
        def beside(rng, truth):
            return [np.unique((words + 1) % LENGTH) for words in noisy(rng, truth)]

        found = bc.careless_work(corpus_of(team(5, dan=beside)))
        assert (found.below, found.random, found.another_rule) == (("dan",), (), ("dan",))

    def test_other_labels(self):
        work = team(6, dan=noisy)
        labels = {**dict.fromkeys(work, "P"), "dan": "Q"}
        found = bc.careless_work(corpus_of(work, label=labels))
        assert (found.below, found.another_rule) == (("dan",), ("dan",))

    def test_away_from_the_others(self):
        def away(rng, truth):
            return [
                rng.choice(np.setdiff1d(np.arange(LENGTH), words), N_SPANS, replace=False)
                for words in truth
            ]

        found = bc.careless_work(corpus_of(team(7, n_documents=40, dan=away)))
        assert (found.below, found.another_rule) == (("dan",), ("dan",))

    def test_few_spans_are_not_random(self):
        def few(rng, truth):
            return [words[: int(rng.integers(0, 3))] for words in truth]

        found = bc.careless_work(corpus_of(team(8, dan=few)))
        assert (found.below, found.random, found.another_rule) == (("dan",), (), ())

    @pytest.mark.parametrize(
        ("marks", "name"), [(np.zeros(0, int), "nothing"), (np.arange(LENGTH), "everything")]
    )
    def test_nothing_and_everything(self, marks, name):
        found = bc.careless_work(corpus_of(team(9, dan=lambda _, truth: [marks for _ in truth])))
        assert getattr(found, name) == ("dan",)
        assert found.random == found.another_rule == ()
        assert found.below == (("dan",) if name == "nothing" else ())

    def test_a_gold_standard_is_one_of_the_others(self):
        work = team(10, people=("ada", "gold"), dan=random_work)
        found = bc.careless_work(corpus_of(work).with_gold("gold"))
        assert set(found.by_annotator) == {"ada", "dan"}
        assert found.random == ("dan",)

    def test_fewer_than_five_documents(self):
        found = bc.careless_work(corpus_of(team(11, n_documents=4, dan=random_work)))
        assert found.below == ()
        assert len(found.too_few) == 4


class TestNumbers:
    def test_left_out_one_by_one(self):
        """The jackknife, by scoring the corpus without each document."""
        work = team(12, n_documents=8, dan=random_work)
        corpus = corpus_of(work)

        def scores(part):
            result = bc.agreement(part)
            others = bc.agreement(part.select(annotators=["ada", "ben", "cleo"]))
            pairs = [x for names, x in result.by_pair.items() if "dan" in names]
            matched, expected, size = (
                sum(getattr(x, name) for x in pairs) for name in ("matched", "expected", "size_a")
            )
            size += sum(x.size_b for x in pairs)
            return (matched - expected) / (size / 2 - expected), others.corrected

        own, others = scores(corpus)
        documents = corpus.documents
        without = np.array(
            [scores(corpus.select(documents=[x for x in documents if x != d])) for d in documents]
        )

        def share(value, left_out):
            moves = (len(left_out) - 1) * (left_out.mean() - left_out)
            error = sqrt((moves**2).sum() / (len(moves) * (len(moves) - 1)))
            return student_share(value / error, degrees_of_freedom([moves]))

        p = max(
            share(own - others / 2, without[:, 0] - without[:, 1] / 2),
            share(-others, -without[:, 1]),
        )
        found = bc.careless_work(corpus).by_annotator["dan"]
        assert (found.agreement, found.others) == pytest.approx((own, others), abs=1e-12)
        assert found.p == pytest.approx(p, rel=1e-6)
        assert found.n_documents == 8

    def test_documents_without_marks_change_nothing(self):
        work = team(13, dan=random_work)
        more = {name: [*listed, *[np.zeros(0, int)] * 9] for name, listed in work.items()}
        one, other = (bc.careless_work(corpus_of(x)) for x in (work, more))
        assert {n: x.p for n, x in one.by_annotator.items()} == {
            n: x.p for n, x in other.by_annotator.items()
        }

    @staticmethod
    @cache
    def in_order():
        work = team(14, n_documents=12, dan=random_work)
        return work, bc.careless_work(corpus_of(work, documents=[f"d{i}" for i in range(12)]))

    @examples(20)
    @given(st.permutations(range(12)), st.permutations(("ada", "ben", "cleo", "dan")))
    def test_no_order_matters(self, documents, people):
        work, one = self.in_order()
        other = {name: [work[name][i] for i in documents] for name in people}
        two = bc.careless_work(corpus_of(other, documents=[f"d{i}" for i in documents]))
        for name in work:
            assert one.by_annotator[name].p == pytest.approx(two.by_annotator[name].p, rel=1e-9)
            assert one.by_annotator[name].verdict == two.by_annotator[name].verdict

    def test_binomial(self):
        assert _share_up_to(1, 4, 0.25) == pytest.approx((0.75**4) + 4 * 0.25 * 0.75**3)
        assert _share_up_to(4, 4, 0.25) == 1
        assert _share_up_to(3, 4, 1.0) == 0

    def test_no_spread(self):
        assert _share_below(np.full(7, -0.5)) == 0
        assert _share_below(np.full(7, 0.5)) == 1
        assert _share_below(np.r_[np.nan, np.full(6, 0.5)]) == 1


class TestStretches:
    def test_random_at_the_end(self):
        def late(rng, truth):
            return [*noisy(rng, truth[:30]), *anywhere(rng, 10)]

        people = team(15, n_documents=40, dan=late)
        found = bc.careless_work(corpus_of(people))
        assert found.below == ()
        listed = [stretch for stretch in found.stretches if stretch.annotator == "dan"]
        assert listed
        assert all(int(stretch.documents[-1]) >= 30 for stretch in listed)
        for stretch in listed:
            assert stretch.p > 0.05
            assert stretch.luck <= 0.01
            assert stretch.n_spans == N_SPANS * len(stretch.documents)
            assert stretch.matched == sum(
                len(np.intersect1d(people["dan"][i], people[name][i]))
                for i in map(int, stretch.documents)
                for name in ("ada", "ben", "cleo")
            )
            # A word at random meets each of three times 8 words in one of 60 cases.
            expected = stretch.n_spans * 3 * N_SPANS / LENGTH
            assert stretch.expected == pytest.approx(expected, rel=0.05)
        work = found.by_annotator["dan"]
        assert work.n_stretches > len(listed)
        assert 0 < work.luck < 0.01 * work.n_stretches
        assert found.luck == sum(work.luck for work in found.by_annotator.values())

    def test_honest_work(self):
        listed = luck = 0.0
        for seed in range(4):
            found = bc.careless_work(corpus_of(team(seed)))
            listed, luck = listed + len(found.stretches), luck + found.luck
            assert found.below == ()
        assert listed <= 2
        assert luck < 2

    def test_too_few_documents(self):
        """A third of five documents is one, and it must show by itself."""
        found = bc.careless_work(corpus_of(team(16, n_documents=5, dan=random_work)))
        work = found.by_annotator["dan"]
        assert (work.n_stretches, work.n_left, work.luck) == (0, 5, 0)


class TestData:
    def test_crowds(self):
        """Three annotators each; documents of two are left out."""
        work = team(17, n_documents=30, people=("a", "b", "c", "d"), dan=random_work)
        seen = np.random.default_rng(1).permuted(np.tile(np.arange(5), (30, 1)), axis=1)[:, :3]
        seen[:3, 2] = seen[:3, 1]
        spans = {
            name: [
                [(int(x), int(x) + 1, "P") for x in words] if who in seen[i] else None
                for i, words in enumerate(listed)
            ]
            for who, (name, listed) in enumerate(work.items())
        }
        found = bc.careless_work(bc.Corpus.from_spans(spans, lengths=[LENGTH] * 30))
        assert found.by_annotator["dan"].n_documents == int((seen[3:] == 4).sum())
        assert set(found.below) <= {"dan"}

    def test_spans_that_overlap(self):
        spans = [[(0, 4, "P"), (1, 5, "P")] for _ in range(6)]
        corpus = bc.Corpus.from_spans(dict.fromkeys("abc", spans), lengths=[6] * 6)
        assert bc.careless_work(corpus).below == ()


class TestRefused:
    def test_options(self):
        corpus = bc.example()
        with refused(bc.OptionError, "level … 1"):
            bc.careless_work(corpus, level=1)
        with refused(bc.OptionError, "resamples … 5 … 99"):
            bc.careless_work(corpus, resamples=5)

    def test_one_annotator(self):
        with pytest.raises(bc.DataError):
            bc.careless_work(bc.Corpus.from_spans({"ada": [[(0, 1, "P")]]}, lengths=[3]))

    def test_unit_corpus(self):
        spans = {"a": [[(0, 1, "P")]], "b": [[(0, 1, "P")]]}
        corpus = bc.Corpus.from_spans(spans, lengths=[3], unit="corpus")
        with refused(bc.DataError, "unit corpus"):
            bc.careless_work(corpus)

    def test_too_many_annotators(self, monkeypatch):
        monkeypatch.setattr("beyondchance.annotations.pairs.MOST_PAIRS", 1)
        monkeypatch.setattr("beyondchance.annotations.pairs.PARTNERS", 0)
        with refused(bc.DataError, "annotators … document … pairs", use="gold"):
            bc.careless_work(corpus_of(team(18)))


def test_who_marks_everything_has_no_score_and_no_verdict():
    right = [[(i, i + 2, "P") for i in range(k, 80, 9)] for k in range(8)]
    spans = {"ada": right, "ben": right, "cleo": right, "all": [[(0, 90, "P")]] * 8}
    found = bc.careless_work(bc.Corpus.from_spans(spans, lengths=[90] * 8))
    assert found.everything == ("all",)
    assert found.by_annotator["all"].verdict == "too_few"
    assert found.below == ()


def test_two_annotators_cannot_be_judged():
    spans = {"ada": [[(0, 2, "P")]] * 20, "ben": [[(4, 6, "P")]] * 20}
    found = bc.careless_work(bc.Corpus.from_spans(spans, lengths=[9] * 20))
    assert "no document has marks of three annotators" in " ".join(str(found).split())
