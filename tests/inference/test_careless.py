"""Documents that are no better than random: planted ones are found, others are not."""

import numpy as np
import pytest

import beyondchance as bc
from beyondchance.inference.careless import _low_end
from refusals import refused


def team(rng, *, n_documents=40, n_spans=10, length=150, planted=(), right=0.9):
    """Three people who find most spans; some documents of the last have spans anywhere."""
    work = {"ada": [], "ben": [], "cleo": []}
    for document in range(n_documents):
        places = np.sort(rng.choice(length // 3, n_spans, replace=False)) * 3
        for name, listed in work.items():
            if name == "cleo" and document in planted:
                own = np.sort(bc.sample_arrangements(length, [2] * n_spans, size=1, seed=rng)[0])
            else:
                kept = places[rng.random(n_spans) < right]
                others = rng.choice(length // 3, n_spans - len(kept), replace=False) * 3
                own = np.unique(np.concatenate([kept, others]))
            listed.append([(int(x), int(x) + 2, "P") for x in own])
    return bc.Corpus.from_spans(work, lengths=[length] * n_documents)


class TestPlanted:
    def test_they_are_found_and_others_are_not(self):
        planted = range(0, 20, 2)
        corpus = team(np.random.default_rng(3), n_documents=20, planted=planted)
        found = bc.careless_work(corpus)
        assert found.random["ada"] == found.random["ben"] == []
        assert set(found.random["cleo"]) <= {str(x) for x in planted}
        assert len(found.random["cleo"]) >= 9
        assert found.n_told["cleo"] >= 18

    @pytest.mark.parametrize(
        "n_teams",
        [pytest.param(3, marks=pytest.mark.slow), pytest.param(12, marks=pytest.mark.long)],
    )
    def test_the_rate_of_misses_is_the_level(self, n_teams):
        """Of documents that are random, about 5 % look better than that."""
        n_missed = n_planted = n_false = 0
        for seed in range(n_teams):
            rng = np.random.default_rng(seed)
            found = bc.careless_work(team(rng, planted=range(0, 40, 2)), seed=seed)
            works = {work.document: work.verdict for work in found.by_annotator["cleo"]}
            told = [works[str(x)] for x in range(0, 40, 2) if works[str(x)] in {"random", "better"}]
            n_planted += len(told)
            n_missed += told.count("better")
            n_false += sum(len(found.random[name]) for name in ("ada", "ben"))
        assert n_planted > 12 * n_teams
        assert n_missed <= 0.1 * n_planted
        assert n_false <= n_teams  # of 80 documents each

    def test_a_gold_standard_is_what_others_are_compared_with(self):
        corpus = team(np.random.default_rng(5), n_documents=18, planted=range(0, 18, 3)).with_gold(
            "ada"
        )
        found = bc.careless_work(corpus)
        assert set(found.by_annotator) == {"ben", "cleo"}
        assert len(found.random["cleo"]) > len(found.random["ben"])


class TestJudged:
    @pytest.mark.parametrize("n_wrong", [5, 10, 20])
    def test_two_who_agree_and_one_who_is_random(self, n_wrong):
        """However many spans the random one marks."""
        rng = np.random.default_rng(n_wrong)
        right = [
            [(int(x), int(x) + 2, "P") for x in np.sort(rng.choice(30, 10, replace=False)) * 3]
            for _ in range(20)
        ]
        wrong = [
            sorted((int(x), int(x) + 2, "P") for x in one)
            for one in bc.sample_arrangements(90, [2] * n_wrong, size=20, seed=rng)
        ]
        spans = {"ada": right, "ben": right, "dan": wrong}
        found = bc.careless_work(bc.Corpus.from_spans(spans, lengths=[90] * 20))
        assert found.random["ada"] == found.random["ben"] == []
        assert found.n_told["ada"] == 20
        assert len(found.random["dan"]) >= 17

    def test_long_documents_are_judged(self):
        assert _low_end(324, 0.9) == pytest.approx(_low_end(323, 0.9), abs=0.01)
        assert 0.45 < _low_end(1100, 0.5) < 0.5
        assert _low_end(5, 1.0) == 1.0
        assert _low_end(5, 0.0) == 0.0

    def test_names_with_half_a_character(self):
        spans = {"a\ud800": [[(1, 3, "P")]], "ben": [[(1, 3, "P")]]}
        corpus = bc.Corpus.from_spans(spans, lengths=[5], documents=["d\ud800"])
        assert len(bc.careless_work(corpus).by_annotator) == 2


class TestNumbers:
    def test_by_hand(self):
        """One span of two in five positions has four places, of which one meets two.

        ada  .PP..
        ben  .PP..
        """
        spans = {"ada": [[(1, 3, "P")]], "ben": [[(1, 3, "P")]]}
        found = bc.careless_work(bc.Corpus.from_spans(spans, lengths=[5]))
        (work,) = found.by_annotator["ada"]
        assert (work.matched, work.expected, work.p, work.is_exact) == (2, 1.0, 0.25, True)
        assert work.verdict == "unknown"

    def test_labels_are_placed_by_themselves_and_must_be_the_same(self):
        spans = {"ada": [[(1, 3, "P")]], "ben": [[(1, 3, "Q")]]}
        found = bc.careless_work(bc.Corpus.from_spans(spans, lengths=[5]))
        (work,) = found.by_annotator["ada"]
        assert (work.matched, work.expected, work.verdict) == (0, 0.0, "unknown")

    def test_nothing_marked_is_not_judged(self):
        spans = {"ada": [[(1, 3, "P")]], "ben": [[]]}
        found = bc.careless_work(bc.Corpus.from_spans(spans, lengths=[5]))
        assert found.by_annotator["ben"][0].verdict == "nothing"

    def test_samples_agree_with_exact_numbers(self, monkeypatch):
        corpus = team(np.random.default_rng(1), n_documents=3)
        exact = bc.careless_work(corpus)
        assert all(work.is_exact for work in exact.by_annotator["ada"])
        monkeypatch.setattr("beyondchance.core.covered_weight.MOST_CELLS", 0)
        drawn = bc.careless_work(corpus, resamples=9999)
        for one, other in zip(exact.by_annotator["cleo"], drawn.by_annotator["cleo"], strict=True):
            assert not other.is_exact
            assert other.p == pytest.approx(
                one.p, abs=4 * np.sqrt(one.p * (1 - one.p) / 9999) + 2e-4
            )
            assert other.expected == pytest.approx(one.expected, rel=0.1)

    def test_the_order_of_documents_does_not_matter(self):
        corpus = team(np.random.default_rng(2), length=3000, n_documents=4)
        back = bc.Corpus.from_spans(
            {n: [corpus.spans(d, n) for d in corpus.documents[::-1]] for n in corpus.annotators},
            lengths=[3000] * 4, documents=corpus.documents[::-1],
        )  # fmt: skip
        one, other = (bc.careless_work(x) for x in (corpus, back))
        for name in corpus.annotators:
            assert {w.document: w for w in one.by_annotator[name]} == {
                w.document: w for w in other.by_annotator[name]
            }

    def test_spans_of_a_label_that_overlap(self):
        spans = {"ada": [[(0, 4, "P"), (1, 5, "P")]], "ben": [[(0, 4, "P")]]}
        found = bc.careless_work(bc.Corpus.from_spans(spans, lengths=[6]))
        assert 0 < found.by_annotator["ada"][0].p <= 1


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
