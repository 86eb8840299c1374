"""Comparisons of results: against SciPy, against loops, and laws."""

from dataclasses import replace
from itertools import combinations, product
from math import isnan

import numpy as np
import pytest
from hypothesis import given, strategies as st
from scipy import stats

from beyondchance import Corpus, DataError, OptionError, Settings, agreement, rank
from beyondchance.inference import standings
from beyondchance.inference.compare import compare
from beyondchance.inference.standings import _groups, compare_systems
from refusals import assert_tells, refused

SCORES = ("observed", "chance", "corrected")
SAME = "the same without any one of the"


def ranked(n_documents, quality, *, seed=1, length=15):
    """Systems that find each span of the gold standard with some probability."""
    rng = np.random.default_rng(seed)
    spans = {name: [] for name in ("gold", *quality)}
    for _ in range(n_documents):
        gold = [(s, s + int(rng.integers(1, 4)), "PL"[int(rng.integers(2))])
                for s in range(0, length - 3, 5) if rng.random() < 0.8]  # fmt: skip
        spans["gold"].append(gold)
        for name, share in quality.items():
            kept = [span for span in gold if rng.random() < share]
            spans[name].append([(s, e + int(rng.random() < 0.2), x) for s, e, x in kept])
    return rank(Corpus.from_spans(spans, lengths=[length] * n_documents), gold="gold")


def sums_of(result):
    """Matched, expected and size of each document."""
    counts = result.counts
    found = np.zeros((len(counts.documents), 3))
    np.add.at(found[:, 0], counts.document, counts.matched)
    np.add.at(found[:, 1], counts.document, counts.expected)
    np.add.at(found[:, 2], counts.document, counts.size_a + counts.size_b)
    return found


def score(sums, name="corrected"):
    matched, expected, size = np.moveaxis(sums, -1, 0)
    observed, chance = 2 * matched / size, 2 * expected / size
    values = {"observed": observed, "chance": chance}
    values["corrected"] = (observed - chance) / (1 - chance)
    return values[name]


def difference_of(one, other, name="corrected"):
    """A statistic for SciPy: it gets the numbers of documents, of one system and the other."""
    both = np.concatenate([one, other])

    def statistic(x, y, axis):
        sums = [
            both[index.astype(int)].sum(axis=axis - 1 if axis < 0 else axis) for index in (x, y)
        ]
        return score(sums[0], name) - score(sums[1], name)

    return statistic


class TestPaired:
    @pytest.mark.parametrize("name", SCORES)
    def test_every_exchange_as_scipy(self, name):
        systems = ranked(9, {"good": 0.9, "fair": 0.6}).systems.values()
        one, other = map(sums_of, systems)
        theirs = stats.permutation_test(
            (np.arange(9.0), np.arange(9.0, 18.0)), difference_of(one, other, name),
            permutation_type="samples", vectorized=True, n_resamples=9999,
        )  # fmt: skip
        ours = compare(*systems, score=name)
        assert ours.difference == pytest.approx(theirs.statistic, rel=1e-12)
        assert ours.p_value == theirs.pvalue
        assert ours.p_error == 0

    def test_every_exchange_by_loops(self):
        systems = list(ranked(7, {"good": 0.9, "fair": 0.6}, seed=3).systems.values())
        tables = [sums_of(system) for system in systems]
        observed = float(score(tables[0].sum(axis=0)) - score(tables[1].sum(axis=0)))
        reached = 0
        for ways in product([0, 1], repeat=7):
            sides = [np.zeros(3), np.zeros(3)]
            for document, way in enumerate(ways):
                sides[way] += tables[0][document]
                sides[1 - way] += tables[1][document]
            reached += abs(score(sides[0]) - score(sides[1])) >= abs(observed) - 1e-12
        assert compare(*systems).p_value == reached / 2**7

    def test_sampled_as_scipy_within_their_errors(self):
        systems = ranked(40, {"good": 0.75, "fair": 0.65}, seed=5).systems.values()
        one, other = map(sums_of, systems)
        theirs = stats.permutation_test(
            (np.arange(40.0), np.arange(40.0, 80.0)), difference_of(one, other),
            permutation_type="samples", vectorized=True, n_resamples=9_999,
            rng=np.random.default_rng(1),
        )  # fmt: skip
        ours = compare(*systems, resamples=9_999, seed=1)
        assert 0.01 < ours.p_value < 0.9
        assert 0 < ours.p_error < 0.01
        assert abs(ours.p_value - theirs.pvalue) < 4 * 2**0.5 * ours.p_error

    @pytest.mark.parametrize("method", ["percentile", "BCa"])
    def test_interval_as_scipy(self, method):
        systems = ranked(30, {"good": 0.9, "fair": 0.6}).systems.values()
        one, other = map(sums_of, systems)

        def statistic(index, axis):  # noqa: ARG001 - SciPy passes it
            chosen = index.astype(int)
            return score(one[chosen].sum(axis=-2)) - score(other[chosen].sum(axis=-2))

        theirs = stats.bootstrap(
            (np.arange(30.0),), statistic, n_resamples=999, method=method, vectorized=True,
            rng=np.random.default_rng(7),
        )  # fmt: skip
        ours = compare(*systems, resamples=999, method=method.lower(), seed=7).interval
        assert (ours.low, ours.high) == pytest.approx(theirs.confidence_interval, rel=1e-11)

    def test_expanded_is_students_interval_of_the_jackknife(self):
        systems = list(ranked(14, {"good": 0.75, "fair": 0.6}).systems.values())
        one, other = map(sums_of, systems)
        whole = score(one.sum(axis=0)) - score(other.sum(axis=0))
        left_out = score(one.sum(axis=0) - one) - score(other.sum(axis=0) - other)
        error = (13**2 * left_out.var(ddof=1) / 14) ** 0.5
        kurtosis = max(stats.kurtosis(left_out, bias=False), 0)
        reach = stats.t.ppf(0.975, 2 / (kurtosis / 14 + 2 / 13)) * error
        found = compare(*systems).interval
        assert (found.low, found.high) == pytest.approx((whole - reach, whole + reach), rel=1e-9)

    def test_p_values_do_not_depend_on_the_method_of_intervals(self):
        systems = list(ranked(30, {"good": 0.75, "fair": 0.65}).systems.values())
        for options in ({}, {"paired": False}):
            p_values = {
                compare(*systems, seed=3, resamples=999, method=method, **options).p_value
                for method in ("expanded", "bca", "percentile")
            }
            assert len(p_values) == 1

    def test_few_documents_are_warned_of(self):
        # By BCa below 30 documents that carry the difference, by default below 5.
        few, many = (ranked(n, {"x": 0.8, "y": 0.6}).systems for n in (25, 250))
        for systems, bca, expanded in ((few, True, False), (many, False, False)):
            for method, warned in (("bca", bca), ("expanded", expanded)):
                found = compare(systems["x"], systems["y"], seed=1, resamples=199, method=method)
                assert (found.interval.caution is not None) is warned

    def test_bootstrap_test(self):
        systems = ranked(30, {"good": 0.75, "fair": 0.6}).systems.values()
        one, other = map(sums_of, systems)
        drawn = np.random.default_rng(7).integers(0, 30, (999, 30))
        values = score(one[drawn].sum(axis=1)) - score(other[drawn].sum(axis=1))
        observed = float(score(one.sum(axis=0)) - score(other.sum(axis=0)))
        tails = [np.sum(values - observed >= observed), np.sum(values - observed <= observed)]
        found = compare(*systems, test="bootstrap", resamples=999, seed=7)
        assert found.p_value == pytest.approx(min(2 * (min(tails) + 1) / 1000, 1))
        assert found.p_error > 0

    def test_the_order_of_the_documents_does_not_matter(self):
        systems = list(ranked(9, {"good": 0.9, "fair": 0.6}).systems.values())
        counts = systems[1].counts
        order = np.random.default_rng(1).permutation(9)
        names = tuple(counts.documents[i] for i in order)
        shuffled = replace(counts, documents=names, document=np.argsort(order)[counts.document])
        again = compare(systems[0], replace(systems[1], counts=shuffled))
        assert again.p_value == compare(*systems).p_value

    def test_no_difference(self):
        systems = list(ranked(20, {"good": 0.8}).systems.values())
        found = compare(systems[0], systems[0], seed=1)
        assert (found.difference, found.p_value) == (0, 1)
        assert_tells(found.interval.reason, f"{SAME} documents")
        by_draws = compare(systems[0], systems[0], seed=1, method="bca", resamples=99).interval
        assert_tells(by_draws.reason, "every resample")

    def test_last_digits_are_no_difference(self):
        # Both systems miss every span, in documents of two kinds whose chance is 1/7.
        gold = [["B-A"] + ["O"] * 6, ["B-A", "B-B", "B-C"] + ["O"] * 4] * 10
        one = [["O"] * 6 + ["B-A"], ["O"] * 4 + ["B-B", "B-C", "B-A"]] * 10
        other = [["O"] * 5 + ["B-A", "O"], ["O"] * 4 + ["B-C", "B-A", "B-B"]] * 10
        ranking = rank(Corpus.from_tags({"gold": gold, "one": one, "other": other}), gold="gold")
        found = compare_systems(ranking, seed=1)
        assert found.groups == (found.order,)
        (pair,) = found.pairs.values()
        assert pair.p_value == 1
        assert_tells(pair.interval.reason, f"{SAME} sentences")
        for intervals in found.intervals.values():
            assert_tells(intervals["chance"].reason, f"{SAME} sentences")

    @given(st.integers(0, 10**6))
    def test_exchanging_the_two_changes_the_sign(self, seed):
        one, other = ranked(8, {"good": 0.8, "fair": 0.7}, seed=seed).systems.values()
        forth, back = compare(one, other, seed=1), compare(other, one, seed=1)
        assert forth.difference == -back.difference
        assert forth.p_value == back.p_value
        assert 0 < forth.p_value <= 1

    def test_rows_that_cannot_be_scored(self):
        spans = {"gold": [[], [(0, 1, "P")]], "a": [[], [(0, 1, "P")]], "b": [[], []]}
        ranking = rank(Corpus.from_spans(spans, lengths=[3, 3]), gold="gold")
        found = compare(*ranking.systems.values(), seed=1)
        assert found.p_value == 1
        assert_tells(found.interval.reason, "without one of the documents … undefined")

    def test_an_undefined_score(self):
        spans = {name: [[(0, 2, "P")], [(0, 2, "P")]] for name in ("gold", "a", "b")}
        ranking = rank(Corpus.from_spans(spans, lengths=[2, 2]), gold="gold")
        found = compare(*ranking.systems.values(), seed=1)
        assert isnan(found.p_value)
        assert_tells(found.reason, "scores … undefined")
        ranked_again = compare_systems(ranking, seed=1)
        assert isnan(ranked_again.adjusted["a", "b"])
        assert ranked_again.groups == (("a", "b"),)


class TestUnpaired:
    def rounds(self, n_first, n_second, *, seed=1):
        corpora = []
        for number, (n, share) in enumerate(((n_first, 0.9), (n_second, 0.6))):
            ranking = ranked(n, {"ben": share}, seed=seed + number)
            (result,) = ranking.systems.values()
            names = tuple(f"round {number}, {name}" for name in result.counts.documents)
            corpora.append(replace(result, counts=replace(result.counts, documents=names)))
        return corpora

    @pytest.mark.parametrize("name", SCORES)
    def test_students_test_by_loops(self, name):
        rounds = self.rounds(9, 12)
        whole, variance, freedom = [], [], []
        for sums in map(sums_of, rounds):
            n, left_out = len(sums), score(sums.sum(axis=0) - sums, name)
            whole.append(score(sums.sum(axis=0), name))
            variance.append((n - 1) ** 2 / n * left_out.var(ddof=1))
            kurtosis = max(stats.kurtosis(left_out, bias=False), 0)
            freedom.append(2 / (kurtosis / n + 2 / (n - 1)))
        nu = sum(variance) ** 2 / sum(v**2 / f for v, f in zip(variance, freedom, strict=True))
        t = (whole[0] - whole[1]) / sum(variance) ** 0.5
        found = compare(*rounds, score=name)
        assert not found.paired
        assert found.n_documents == (9, 12)
        assert found.p_value == pytest.approx(2 * stats.t.sf(abs(t), nu), rel=1e-9)
        assert (found.p_error, found.p_floor, found.p_is_floor) == (0, 0, False)
        # Nothing is drawn.
        assert (found.settings.resamples, found.settings.seed) == (None, None)

    def test_exchanging_the_two_changes_the_sign(self):
        one, other = self.rounds(9, 12)
        forth, back = compare(one, other), compare(other, one)
        assert (forth.difference, forth.p_value) == (-back.difference, back.p_value)

    def test_few_effective_documents(self):
        one, other = self.rounds(3, 12)
        for pair in ((one, other), (other, one)):
            found = compare(*pair)
            assert isnan(found.p_value)
            assert_tells(found.reason, "effective number … documents … expected 4")
        assert compare(one, other, test="bootstrap", resamples=199, seed=1).p_value <= 1

    def test_no_spread(self):
        right = [[(0, 1, "P")]] * 9
        corpus = Corpus.from_spans({"gold": right, "a": right}, lengths=[9] * 9)
        result = rank(corpus, gold="gold").systems["a"]
        assert_tells(compare(result, result, paired=False).reason, SAME)

    @pytest.mark.parametrize("method", ["percentile", "BCa"])
    def test_interval_as_scipy(self, method):
        rounds = self.rounds(20, 30)
        one, other = map(sums_of, rounds)
        theirs = stats.bootstrap(
            (np.arange(20.0), np.arange(20.0, 50.0)), difference_of(one, other),
            n_resamples=999, method=method, vectorized=True, rng=np.random.default_rng(7),
        )  # fmt: skip
        ours = compare(*rounds, resamples=999, method=method.lower(), seed=7).interval
        assert (ours.low, ours.high) == pytest.approx(theirs.confidence_interval, rel=1e-11)
        assert ours.n_units == 50


class TestWhatCanBeCompared:
    def test_different_signatures(self):
        one = agreement([["B-P", "O"]], [["B-P", "O"]])
        other = agreement([["B-P", "O"]], [["B-P", "O"]], measure="exact")
        with refused(OptionError, "measure is 'token' … 'exact'"):
            compare(one, other)

    def test_options_of_intervals_are_no_difference(self):
        one = agreement([["B-P", "O"], ["O", "B-P"]], [["B-P", "O"], ["B-P", "O"]])
        signed = one.intervals(resamples=99, seed=1).settings
        assert compare(one, replace(one, settings=signed)).p_value == 1

    def test_some_documents_in_common(self):
        corpus = Corpus.from_tags(
            {name: [["B-P", "O"], ["O", "B-P"], ["O", "O"]] for name in "ab"},
            documents=["x", "y", "z"],
        )
        one, other = (
            agreement(corpus.select(documents=chosen)) for chosen in (["x", "y"], ["y", "z"])
        )
        with refused(DataError, "1 documents … 1 in the first … 1 in the second", use="paired"):
            compare(one, other)
        assert compare(one, other, paired=True).n_documents == (1, 1)
        assert compare(one, other, paired=False).n_documents == (2, 2)

    def test_no_document_in_common(self):
        corpus = Corpus.from_tags(
            {name: [["B-P", "O"], ["O", "B-P"]] for name in "ab"}, documents=["x", "y"]
        )
        one, other = (agreement(corpus.select(documents=[name])) for name in "xy")
        with refused(DataError, "no document"):
            compare(one, other, paired=True)

    def test_what_is_no_result(self):
        one = agreement([["B-P", "O"]], [["B-P", "O"]])
        ranking = ranked(5, {"a": 0.8, "b": 0.7})
        for pair, name in (((1, 2), "int"), ((one, None), "NoneType"), ((ranking, one), "Ranking")):
            with refused(DataError, f"{name} … two results"):
                compare(*pair)
        for given_, name in ((one, "Agreement"), (3, "int"), ([one, one], "list")):
            with refused(DataError, f"{name} … Ranking"):
                compare_systems(given_)

    def test_tag_lists_without_names_are_taken_as_paired(self):
        one = agreement([["B-P", "O"], ["O", "B-P"]], [["B-P", "O"], ["B-P", "O"]])
        other = agreement([["B-P", "O"], ["B-P", "O"]], [["B-P", "O"], ["O", "B-P"]])
        assert compare(one, other, seed=1).paired
        assert not compare(one, other, seed=1, paired=False).paired

    def test_unknown_options(self):
        one = agreement([["B-P", "O"]], [["B-P", "O"]])
        with refused(OptionError, "test 't' … permutation"):
            compare(one, one, test="t")
        with refused(OptionError, "score 'f1' … observed"):
            compare(one, one, score="f1")
        with refused(OptionError, "resamples … 3"):
            compare(one, one, resamples=3)
        with refused(OptionError, "resamples … 198 … 199"):
            compare(one, one, resamples=198, confidence=0.99)
        ranking = ranked(5, {"a": 0.8, "b": 0.7})
        with refused(OptionError, "resamples … 198 … 199"):
            compare_systems(ranking, resamples=198, confidence=0.99)

    def test_the_seed_is_in_the_signature(self):
        one, other = ranked(20, {"good": 0.8, "fair": 0.7}).systems.values()
        found = compare(one, other, resamples=199)
        signed = Settings.parse(str(found.settings))
        assert compare(one, other, resamples=199, seed=int(signed.seed)) == found


class TestSystems:
    def test_every_pair_is_compared_as_it_is_alone(self):
        ranking = ranked(11, {"poor": 0.3, "good": 0.95, "fair": 0.7})
        found = compare_systems(ranking, resamples=4999, seed=1)
        assert found.order == ("good", "fair", "poor")
        for one, other in combinations(found.order, 2):
            alone = compare(ranking.systems[one], ranking.systems[other], resamples=4999, seed=1)
            assert found.pairs[one, other].p_value == alone.p_value
            assert found.pairs[one, other].interval == alone.interval
        for name, system in ranking.systems.items():
            for kind in SCORES:
                expected = system.interval(kind, resamples=4999, seed=1)
                assert found.intervals[name][kind] == expected

    def test_p_values_are_raised_together(self):
        ranking = ranked(60, {"a": 0.9, "b": 0.85, "c": 0.6, "d": 0.55}, seed=4)
        found = compare_systems(ranking, resamples=999, seed=1)
        plain = sorted(item.p_value for item in found.pairs.values())
        worst = 0.0
        expected = []
        for rank_, p in enumerate(plain):
            worst = max(worst, min(p * (6 - rank_), 1))
            expected.append(worst)
        assert sorted(found.adjusted.values()) == pytest.approx(expected)
        best, *others = found.order
        assert isnan(found.p_best(best))
        assert isnan(found.p_next(others[-1]))
        for name in others:
            assert found.p_best(name) == found.adjusted[best, name]
        assert found.p_next(best) == found.p_between(others[0], best)

    def test_one_against_the_others_is_adjusted_for_its_own_tests(self):
        ranking = ranked(60, {"a": 0.9, "b": 0.85, "c": 0.6, "d": 0.55}, seed=4)
        found = compare_systems(ranking, against="b", resamples=999, seed=1)
        assert found.pairs == compare_systems(ranking, resamples=999, seed=1).pairs
        plain = sorted(pair.p_value for names, pair in found.pairs.items() if "b" in names)
        expected = [
            max(min(p * (3 - i), 1) for i, p in enumerate(plain[: n + 1])) for n in range(3)
        ]
        assert sorted(map(found.p_against, "acd")) == pytest.approx(expected)
        assert isnan(found.p_against("b"))
        assert all(found.p_against(name) <= found.p_between("b", name) for name in "acd")
        assert isnan(compare_systems(ranking, resamples=999, seed=1).p_against("a"))
        with refused(OptionError, "'x' … 'a'"):
            compare_systems(ranking, against="x")

    def test_groups(self):
        ranking = ranked(80, {"a": 0.9, "b": 0.88, "c": 0.4, "d": 0.38}, seed=2)
        found = compare_systems(ranking, resamples=999, seed=1)
        assert {frozenset(group) for group in found.groups} == {frozenset("ab"), frozenset("cd")}

    def test_a_p_value_of_just_as_much_tells_apart(self, monkeypatch):
        ranking = ranked(5, {"a": 0.9, "b": 0.3})
        levels = [(0.9, 0.1), (0.95, 0.05), (0.8, 0.2), (0.7, 0.3), (0.99, 0.01)]
        for (confidence, p), (factor, n_groups) in product(levels, ((1, 2), (1 + 1e-6, 1))):
            monkeypatch.setattr(
                standings, "adjusted", lambda ps, x=p * factor: dict.fromkeys(ps, x)
            )
            found = compare_systems(ranking, confidence=confidence, resamples=199, seed=1)
            assert len(found.groups) == n_groups, (confidence, factor)

    def test_documents_that_not_all_have(self):
        corpus = Corpus.from_tags(
            {
                "gold": [["B-P", "O", "O"], ["O", "B-P", "O"], ["O", "B-P", "O"]],
                "a": [["B-P", "O", "O"], ["O", "B-P", "O"], ["B-P", "O", "O"]],
                "b": [["B-P", "O", "O"], ["O", "O", "B-P"], None],
            }
        )
        ranking = rank(corpus, gold="gold")
        found = compare_systems(ranking, seed=1)
        assert found.n_documents == 2
        # An interval is that of the score that it stands beside.
        for name, system in ranking.systems.items():
            assert repr(found.intervals[name]["observed"]) == repr(
                system.interval("observed", seed=1)
            )
        # It says over how many documents it is.
        assert {n: found.intervals[n]["observed"].n_units for n in "ab"} == {"a": 3, "b": 2}
        assert found.pairs["a", "b"].n_documents == (2, 2)
        assert found.reversed_pairs == ()
        apart = Corpus.from_tags(
            {
                "gold": [["B-P", "O"], ["O", "B-P"]],
                "a": [["B-P", "O"], None],
                "b": [None, ["O", "B-P"]],
            }
        )
        with refused(DataError, "no document … all"):
            compare_systems(rank(apart, gold="gold"), seed=1)

    def test_pairs_that_stand_in_the_other_order_on_shared_documents(self):
        # Of six documents good gets all right; lucky one of the first three and the last three;
        # shy two of the first three, and it does not have the others.
        right, wrong = [(0, 1, "P")], [(1, 2, "P")]
        spans = {
            "gold": [right] * 6,
            "good": [right] * 6,
            "lucky": [right, wrong, wrong, right, right, right],
            "shy": [right, right, [*wrong, (2, 3, "P")], None, None, None],
        }
        ranking = rank(Corpus.from_spans(spans, lengths=[9] * 6), gold="gold")
        # F1: 4 of 6, and 2 x 2 of 3 + 4; on the shared documents 1 of 3, and the same.
        found = compare_systems(ranking, score="observed", resamples=199, seed=1)
        assert found.order == ("good", "lucky", "shy")
        assert found.n_documents == 3
        assert found.pairs["lucky", "shy"].difference == pytest.approx(1 / 3 - 4 / 7)
        assert found.reversed_pairs == (("lucky", "shy"),)
        sizes = {name: item["observed"].n_units for name, item in found.intervals.items()}
        assert sizes == {"good": 6, "lucky": 6, "shy": 3}

    def test_one_system(self):
        found = compare_systems(ranked(9, {"only": 0.7}), resamples=99, seed=1)
        assert found.groups == (("only",),)
        assert not found.pairs
        assert isnan(found.p_next("only"))

    def test_overtakings(self):
        # Of long spans more is matched by luck: the paper's fourth simulation.
        five = [(0, 3, "P"), (5, 8, "P"), (10, 13, "P"), (15, 18, "P"), (20, 23, "P")]
        long = [(25, 41, "P")]
        spans = {"gold": [five + long] * 9, "short": [five] * 9, "long": [long] * 9}
        ranking = rank(Corpus.from_spans(spans, lengths=[41] * 9), gold="gold")
        assert ranking.ranks("observed") == {"short": 2, "long": 1}
        assert ranking.ranks("corrected") == {"short": 1, "long": 2}
        found = compare_systems(ranking, seed=1)
        # Nine documents that are all alike: each exchange but none and all is closer to 0.
        assert found.adjusted["short", "long"] == 2 / 2**9
        assert found.overtakings == {("short", "long"): True}
        few = ranking.among(np.arange(9) < 3)
        found = compare_systems(few, seed=1)
        assert found.overtakings == {("short", "long"): False}


class TestFloor:
    """The smallest p-value that a test can show."""

    def test_nothing_drawn_reaches_what_was_found(self):
        systems = ranked(40, {"good": 1.0, "poor": 0.2}).systems
        for test in ("permutation", "bootstrap"):
            found = compare(systems["good"], systems["poor"], test=test, resamples=199, seed=1)
            # Both tails count, each with the observed value as one more.
            assert found.p_floor == 2 / 200
            assert found.p_value == found.p_floor
            assert found.p_is_floor
            assert_tells(str(found), "< 0.0100 … 199 permutations")

    def test_a_larger_p_value_is_none(self):
        systems = ranked(40, {"one": 0.6, "other": 0.6}).systems
        found = compare(systems["one"], systems["other"], resamples=199, seed=1)
        assert found.p_value > found.p_floor > 0
        assert not found.p_is_floor

    def test_an_enumerated_p_value_is_exact(self):
        systems = ranked(5, {"good": 1.0, "poor": 0.2}).systems
        found = compare(systems["good"], systems["poor"], resamples=199, seed=1)
        assert found.p_floor == 0
        assert found.p_value == 2 / 2**5
        assert not found.p_is_floor

    def test_an_undefined_p_value_is_none(self):
        corpus = Corpus.from_tags({"gold": [["O"]], "a": [["O"]], "b": [["O"]]})
        systems = rank(corpus, gold="gold").systems
        assert not compare(systems["a"], systems["b"], seed=1).p_is_floor

    def test_adjusted_p_values_come_from_it(self):
        ranking = ranked(40, {"good": 1.0, "poor": 0.15, "same": 0.15})
        found = compare_systems(ranking, resamples=199, seed=1)
        first, *_, last = found.order
        assert first == "good"
        # Three pairs: the smallest p-value counts three times.
        assert found.adjusted["good", last] == pytest.approx(3 * 2 / 200)
        assert found.is_floored("good", last)
        assert found.is_floored(last, "good")
        assert f"< {found.p_best(last):.4f}" in str(found)
        assert_tells(str(found), "199 permutations … adjusted")
        below = found.order[1], last
        assert found.floored == {names for names in found.pairs if names != below}
        assert found.next_below("good") == found.order[1]
        assert found.next_below(last) == last

    def test_a_p_value_raised_to_that_of_a_floor_may_be_smaller_too(self):
        def of(p_value, floor=0.01):
            systems = ranked(4, {"a": 0.9, "b": 0.4}).systems
            made = compare(systems["a"], systems["b"], seed=1)
            return replace(made, p_value=p_value, p_floor=floor)

        pairs = {("a", "b"): of(0.01), ("a", "c"): of(0.012), ("b", "c"): of(0.5)}
        adjusted = standings.adjusted({names: pair.p_value for names, pair in pairs.items()})
        assert [round(p, 4) for p in adjusted.values()] == [0.03, 0.03, 0.5]
        assert standings._floored(pairs, adjusted) == {("a", "b"), ("a", "c")}


def largest_groups(order, apart):
    """All sets of systems of which no two are distinguished, and that no other system fits."""
    fine = [
        set(chosen)
        for size in range(1, len(order) + 1)
        for chosen in combinations(order, size)
        if not apart & set(combinations(chosen, 2))
    ]
    return [group for group in fine if not any(group < other for other in fine)]


@given(st.integers(1, 7), st.data())
def test_groups_hold_every_pair_that_is_not_distinguished_and_no_other(n, data):
    order = "abcdefg"[:n]
    pairs = list(combinations(order, 2))
    apart = set(data.draw(st.lists(st.sampled_from(pairs), unique=True))) if pairs else set()
    found = _groups(order, apart)
    shared = {pair for group in found for pair in combinations(group, 2)}
    assert shared == set(pairs) - apart
    assert set().union(*found) == set(order)
    # Each is as large as it can be, in order, and listed once.
    assert all(set(group) in largest_groups(order, apart) for group in found)
    assert list(found) == sorted(set(found))


@given(st.lists(st.tuples(st.integers(0, 12), st.integers(0, 6)), min_size=1, max_size=8))
def test_groups_are_all_the_largest_ones_where_systems_lie_on_a_scale(ends):
    # Systems are distinguished if their ranges do not meet: an interval order.
    order = "abcdefgh"[: len(ends)]
    ranges = {name: (low, low + size) for name, (low, size) in zip(order, ends, strict=True)}
    apart = {
        (one, other)
        for one, other in combinations(order, 2)
        if ranges[one][1] < ranges[other][0] or ranges[other][1] < ranges[one][0]
    }
    expected = sorted(map(sorted, largest_groups(order, apart)))
    assert expected == [list(group) for group in _groups(order, apart)]


def test_groups_of_disjoint_pairs_are_few():
    # 24 systems, each distinguished from one other: 2**12 sets are as large as can be.
    order = "abcdefghijklmnopqrstuvwx"
    apart = {(order[i], order[i + 1]) for i in range(0, 24, 2)}
    found = _groups(order, apart)
    shared = {pair for group in found for pair in combinations(group, 2)}
    assert shared == set(combinations(order, 2)) - apart
    assert len(found) <= 12


@pytest.mark.parametrize(
    "n", [pytest.param(100, marks=pytest.mark.slow), pytest.param(400, marks=pytest.mark.long)]
)
def test_false_alarms_are_as_rare_as_promised(n):
    # Two systems that are alike: of 400 comparisons about one in twenty is below .05.
    alarms = 0
    for seed in range(n):
        one, other = ranked(10, {"a": 0.7, "b": 0.7}, seed=seed).systems.values()
        alarms += compare(one, other, resamples=1024).p_value <= 0.05
    expected, error = n * 0.05, (n * 0.05 * 0.95) ** 0.5
    assert alarms <= expected + 3 * error
    assert alarms >= expected - 4 * error
