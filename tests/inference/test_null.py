"""The distribution of the agreement of random annotations."""

from collections import Counter
from dataclasses import replace
from itertools import combinations, cycle, islice, product
from math import hypot, isnan

import numpy as np
import pytest
from scipy import stats

import oracle
from beyondchance import (
    Corpus,
    LengthsError,
    NothingSharedError,
    OptionError,
    Settings,
    agreement,
    example,
)
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import MODELS
from beyondchance.inference.null import match_variance, null_distribution
from beyondchance.scoring.options import SCOPES
from refusals import refused

RULES = [
    (name, model, scope)
    for name, measure in MEASURES.items()
    for model in ("auto", *MODELS)
    for scope in SCOPES
]
ROTATED = list(
    zip(islice(cycle(MEASURES), 15), cycle(("auto", *MODELS)), cycle(SCOPES), strict=False)
)
"""Each measure with each scope, and each model in turn."""


def rules(mark, *chosen):
    """Rules as parameters, all of which only a long run tries."""
    few = [pytest.param(*rule, marks=mark) for rule in chosen]
    rest = [pytest.param(*rule, marks=pytest.mark.long) for rule in RULES if rule not in chosen]
    return pytest.mark.parametrize(("measure", "model", "scope"), [*few, *rest])


def random_corpus(rng, texts, n_documents):
    """Annotators who put spans anywhere, in documents of these texts."""
    spans = {"a": [], "b": []}
    for _, (n, *sides) in product(range(n_documents), texts):
        for name, lengths in zip("ab", sides, strict=True):
            found = oracle.arrangements(n, lengths, "disjoint")
            starts = found[int(rng.integers(len(found)))]
            spans[name].append([(s, s + d, "P") for s, d in zip(starts, lengths, strict=True)])
    return Corpus.from_spans(
        spans,
        lengths=[n for n, *_ in texts] * n_documents,
        documents=[f"d{i}" for i in range(n_documents) for _ in texts],
    )


class TestOneText:
    def test_exact_variance_by_hand(self):
        # A span of 2 in 3 tokens is at 0 or 1: two of them share 2 tokens or 1.
        assert match_variance(3, [2], [2]) == 0.25
        assert match_variance(5, [], [2]) == 0
        assert match_variance(5, [1, 4], [2]) == 0

    def test_too_long(self):
        with refused(LengthsError, "2000"):
            match_variance(2000, [2], [3])

    def test_lengths_that_do_not_fit(self):
        with pytest.raises(LengthsError, match="cannot be placed"):
            match_variance(3, [2, 2], [1])

    def test_p_value_of_one_text(self):
        # Spans of 2 in 4 tokens stand at 0, 1 or 2: 3 of 9 cases share both tokens.
        spans = {name: [[(1, 3, "P")]] for name in "ab"}
        found = null_distribution(Corpus.from_spans(spans, lengths=[4]), seed=3)
        assert abs(found.p_value - 3 / 9) < 4 * found.p_error
        assert found.p_error == pytest.approx((found.p_value * (1 - found.p_value) / 9999) ** 0.5)
        assert (found.observed, found.sd_is) == (1, "exact")
        assert set(found.samples.tolist()) == {0.0, 0.5, 1.0}
        assert found.quantiles == {0.025: 0.0, 0.5: 0.5, 0.975: 1.0}
        assert found.quantile(0.5) == found.quantile(np.float32(0.5)) == 0.5


def nested_example():
    """The example with a span inside every third one that has room for it."""
    corpus = example()
    room = np.flatnonzero(corpus.span_end - corpus.span_start > 1)[::3]
    columns = {
        name: np.concatenate([getattr(corpus, name), getattr(corpus, name)[room]])
        for name in ("span_text", "span_annotator", "span_label", "span_start", "span_end")
    }
    columns["span_start"][len(corpus.span_start) :] += 1
    return replace(corpus, **columns)


@rules(pytest.mark.slow, *ROTATED[::2])
def test_draws_have_the_mean_and_the_variance_that_they_should(measure, model, scope):
    options = {"measure": measure, "model": model, "scope": scope}
    corpus = nested_example() if model in {"auto", "nested"} else example()
    corpus = corpus.select(documents=corpus.documents[3:6])
    found = null_distribution(corpus, seed=1, **options)
    result = agreement(corpus, seed=1 if measure == "iou" else None, **options)
    assert found.mean == result.chance
    assert found.observed == result.observed
    error = hypot(found.sd / 9999**0.5, result.score.chance_error)
    assert abs(found.samples.mean() - found.mean) < 4 * error
    assert found.samples.std(ddof=1) == pytest.approx(found.sd, rel=4 / (2 * 9999) ** 0.5)
    # Labels that share a line, and spans inside others, have no exact variance.
    exact = (measure, model) == ("token", "disjoint") and scope != "joint"
    assert found.sd_is == ("exact" if exact else "sampled")
    assert found.p_value == 1 / 10_000
    for name, score in result.by_document.items():
        own = found.by_document[name]
        assert own.mean == pytest.approx(score.chance, abs=1e-15)
        assert own.quantiles[0.025] <= own.mean <= own.quantiles[0.975]


#        auto       disjoint    nested     overlapping
#    a   PPP..Q     PPQP..      PPPPQ.     PPPP..
#        ..PP..                 .P....     .QQQQ.
#                                          ..PP..
#    b   PPQQQ.     .QQPP.      QQQPP.     PPPP..
#        .PP...                 .P.P..     .QQQ..
SMALL = {
    "auto": (
        ((0, 3, "P"), (2, 4, "P"), (5, 6, "Q")),
        ((0, 2, "P"), (1, 3, "P"), (2, 5, "Q")),
    ),
    "disjoint": (
        ((0, 2, "P"), (2, 3, "Q"), (3, 4, "P")),
        ((1, 3, "Q"), (3, 5, "P")),
    ),
    "nested": (
        ((0, 4, "P"), (1, 2, "P"), (4, 5, "Q")),
        ((0, 3, "Q"), (1, 2, "P"), (3, 5, "P"), (3, 4, "P")),
    ),
    "overlapping": (
        ((0, 4, "P"), (1, 5, "Q"), (2, 4, "P")),
        ((1, 4, "Q"), (0, 4, "P")),
    ),
}


def by_brute_force(n, sides, scope, model, match):
    """The match of all pairs of annotations, over everything that chance can make of them."""
    found = Counter()
    for drawn in product(*(oracle.shuffled(n, side, scope, model).items() for side in sides)):
        probability, together = 1, 0
        for _, share in drawn:
            probability *= share
        for (x, _), (y, _) in combinations(drawn, 2):
            labels = {label for *_, label in (*x, *y)}
            together += sum(match(oracle.only(x, name), oracle.only(y, name)) for name in labels)
        found[together] += probability
    return found


def assert_drawn_from(found, expected, size):
    """Every value as often as it should be, in all draws."""
    values = sorted(expected)
    possible = np.array([float(2 * value / size) for value in values])
    nearest = np.abs(found.samples[:, None] - possible).argmin(axis=1)
    np.testing.assert_allclose(found.samples, possible[nearest], rtol=0, atol=1e-12)
    times = np.bincount(nearest, minlength=len(values))
    wanted = np.array([float(expected[value]) for value in values]) * len(found.samples)
    # Rare values are taken together, as the test asks.
    rare = wanted < 5
    seen, wanted = (
        [*part[~rare], part[rare].sum()] if rare.any() else part for part in (times, wanted)
    )
    if len(seen) > 1:
        assert stats.chisquare(seen, wanted).pvalue > 1e-3


@rules(pytest.mark.slow, *ROTATED)
def test_the_whole_distribution_by_brute_force(measure, model, scope):
    sides = SMALL[model]
    corpus = Corpus.from_spans({"a": [list(sides[0])], "b": [list(sides[1])]}, lengths=[6])
    found = null_distribution(corpus, measure=measure, model=model, scope=scope, seed=2)
    match = oracle.MATCHES[measure]
    score = agreement(corpus, measure=measure, model=model, scope=scope).score
    expected = by_brute_force(6, sides, scope, model, match)
    assert len(expected) > 1
    assert_drawn_from(found, expected, score.size_a + score.size_b)


@pytest.mark.parametrize(
    "scope", [pytest.param("label", marks=pytest.mark.slow), "joint", "unlabelled"]
)
def test_the_whole_distribution_of_a_team_by_brute_force(scope):
    #       a  PPP..    b  QQQ..    c  .PPPQ
    #          .Q...       PP...       .P...
    sides = (
        ((0, 3, "P"), (1, 2, "Q")),
        ((0, 3, "Q"), (0, 2, "P")),
        ((1, 4, "P"), (1, 2, "P"), (4, 5, "Q")),
    )
    spans = {name: [list(side)] for name, side in zip("abc", sides, strict=True)}
    corpus = Corpus.from_spans(spans, lengths=[5])
    found = null_distribution(corpus, model="nested", scope=scope, seed=1)
    expected = by_brute_force(5, sides, scope, "nested", oracle.MATCHES["token"])
    score = agreement(corpus, model="nested", scope=scope).score
    assert_drawn_from(found, expected, score.size_a + score.size_b)


def test_labels_on_one_line_keep_out_of_each_others_way():
    # P and Q fill two tokens in one order or the other: both tokens match, or none.
    spans = {name: [[(0, 1, "P"), (1, 2, "Q")]] for name in "ab"}
    corpus = Corpus.from_spans(spans, lengths=[2])
    joint = null_distribution(corpus, scope="joint", seed=1)
    assert set(joint.samples.tolist()) == {0.0, 1.0}
    apart = null_distribution(corpus, scope="label", seed=1)
    assert set(apart.samples.tolist()) == {0.0, 0.5, 1.0}


def test_exact_wherever_spans_of_one_kind_are_alone():
    # The second text has one label and nothing inside anything, whatever the first has.
    spans = {name: [[(0, 3, "P"), (1, 2, "Q")], [(0, 2, "P")]] for name in "ab"}
    found = null_distribution(Corpus.from_spans(spans, lengths=[5, 7]), scope="joint", seed=1)
    assert [item.sd_is for item in found.by_document.values()] == ["sampled", "exact"]
    assert found.by_document["1"].sd == pytest.approx(match_variance(7, [2], [2]) ** 0.5 / 2)


def test_a_single_label_has_a_line_of_its_own_in_every_scope():
    spans = {"a": [[(0, 2, "P")], [(0, 1, "P")]], "b": [[(1, 4, "P")], [(2, 4, "P")]]}
    corpus = Corpus.from_spans(spans, lengths=[9, 5])
    joint, apart = (null_distribution(corpus, scope=s, seed=1) for s in ("joint", "label"))
    assert (
        joint.sd
        == apart.sd
        == pytest.approx(
            2 * (match_variance(9, [2], [3]) + match_variance(5, [1], [2])) ** 0.5 / (2 + 1 + 3 + 2)
        )
    )
    assert joint.by_document["0"].sd == apart.by_document["0"].sd


def test_the_variance_of_a_corpus_is_the_sum_of_its_texts():
    spans = {
        "a": [[(0, 2, "P"), (3, 4, "L")], [(0, 1, "P")], []],
        "b": [[(1, 4, "P"), (5, 6, "L")], [(2, 4, "P")], [(0, 1, "P")]],
    }
    found = null_distribution(Corpus.from_spans(spans, lengths=[9, 5, 4]), seed=1)
    variance = match_variance(9, [2], [3]) + match_variance(9, [1], [1])
    variance += match_variance(5, [1], [2])
    size = 2 + 1 + 1 + 3 + 1 + 2 + 1
    assert found.sd == pytest.approx(2 * variance**0.5 / size, rel=1e-12)


def test_a_team_is_not_a_sum_of_independent_pairs():
    # Spans of 3 in 5 tokens stand at 0, 1 or 2. Over all 27 cases the pairs share 6 tokens
    # on average, with the variance 16/9; independent pairs would have 3 times 44/81.
    spans = {name: [[(0, 3, "P")]] for name in "abc"}
    found = null_distribution(Corpus.from_spans(spans, lengths=[5]), seed=1)
    assert found.sd == pytest.approx(2 * (16 / 9) ** 0.5 / 18, rel=1e-11)
    assert 3 * match_variance(5, [3], [3]) == pytest.approx(3 * 44 / 81, rel=1e-11)
    assert found.samples.std(ddof=1) == pytest.approx(found.sd, rel=0.03)


def test_long_texts_are_sampled_and_said_to_be():
    spans = {"a": [[(0, 2, "P")], [(0, 2, "P")]], "b": [[(1, 3, "P")], [(0, 2, "P")]]}
    found = null_distribution(Corpus.from_spans(spans, lengths=[5000, 9]), seed=1)
    assert found.sd_is == "sampled"
    assert [item.sd_is for item in found.by_document.values()] == ["sampled", "exact"]


class TestRandomAnnotations:
    TEXTS = ((6, (2,), (1, 2)), (5, (1,), (3,)), (7, (2, 2), (2, 1)))

    def p_values(self, ties, texts=TEXTS, n=2000):
        corpus = random_corpus(np.random.default_rng(17), texts, n)
        found = null_distribution(corpus, resamples=999, ties=ties, seed=5)
        return np.array([item.p_value for item in found.by_document.values()])

    def assert_not_too_small(self, found):
        for level in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8):
            error = (level * (1 - level) / len(found)) ** 0.5
            assert np.mean(found <= level) <= level + 3 * error, level

    @pytest.mark.parametrize(
        "n",
        [pytest.param(300, marks=pytest.mark.slow), pytest.param(2000, marks=pytest.mark.long)],
    )
    def test_never_anti_conservative_and_uniform_with_randomised_ties(self, n):
        self.assert_not_too_small(self.p_values("counted", n=n))
        assert stats.kstest(self.p_values("randomised", n=n), "uniform").pvalue > 0.01

    def nested_p_values(self, ties, n):
        """Of annotators who put nested spans of two labels, on one line, anywhere."""
        rng = np.random.default_rng(23)
        spans = {}
        for name, side in zip("ab", SMALL["nested"], strict=True):
            possible = oracle.shuffled(7, side, "joint", "nested")
            chosen = rng.choice(len(possible), n, p=[float(p) for p in possible.values()])
            spans[name] = [list(list(possible)[i]) for i in chosen.tolist()]
        corpus = Corpus.from_spans(spans, lengths=[7] * n)
        found = null_distribution(corpus, scope="joint", resamples=999, ties=ties, seed=3)
        assert found.settings.model == "auto"
        return np.array([item.p_value for item in found.by_document.values()])

    @pytest.mark.parametrize(
        "n",
        [pytest.param(100, marks=pytest.mark.slow), pytest.param(2000, marks=pytest.mark.long)],
    )
    def test_nested_spans_of_several_labels(self, n):
        self.assert_not_too_small(self.nested_p_values("counted", n))
        assert stats.kstest(self.nested_p_values("randomised", n), "uniform").pvalue > 0.01

    def test_ties_at_nothing_in_common(self):
        # Most random annotations have nothing in common, and neither do these.
        spans = {"a": [[(0, 1, "P")]] * 50, "b": [[(9, 10, "P")]] * 50}
        corpus = Corpus.from_spans(spans, lengths=[20] * 50)
        counted, randomised = (
            [
                item.p_value
                for item in null_distribution(
                    corpus, resamples=99, seed=1, ties=ties
                ).by_document.values()
            ]
            for ties in ("counted", "randomised")
        )
        assert set(counted) == {1.0}
        assert min(randomised) < 0.2
        assert max(randomised) > 0.8

    def test_discrete_without(self):
        # One text has few values, so that p-values are far from uniform, on the safe side.
        found = self.p_values("counted", self.TEXTS[:1], n=150)
        test = stats.kstest(found, "uniform", alternative="less")
        assert test.pvalue < 1e-6
        assert stats.kstest(found, "uniform", alternative="greater").pvalue > 0.05


class TestStreams:
    @pytest.mark.parametrize("scope", SCOPES)
    def test_parts_draw_what_the_whole_draws(self, scope):
        corpus = nested_example()
        corpus = corpus.select(documents=corpus.documents[:2])
        whole = null_distribution(corpus, scope=scope, resamples=199, seed=5)
        half = len(corpus.documents) // 2
        sums = np.zeros(199)
        for names in (corpus.documents[half:], corpus.documents[:half]):
            chosen = corpus.select(documents=names)
            part = null_distribution(chosen, scope=scope, resamples=199, seed=5)
            score = agreement(chosen, scope=scope).score
            sums += part.samples * (score.size_a + score.size_b) / 2
            for name, item in part.by_document.items():
                other = whole.by_document[name]
                assert (item.p_value, item.sd) == (other.p_value, other.sd)
                assert item.quantiles == other.quantiles
        score = agreement(corpus, scope=scope).score
        np.testing.assert_allclose(
            sums * 2 / (score.size_a + score.size_b), whole.samples, rtol=1e-12
        )

    def test_the_order_of_annotators_and_documents_does_not_matter(self):
        spans = {
            "a": [[(0, 2, "P")], [(1, 2, "P")]],
            "b": [[(1, 3, "P")], [(3, 5, "P")]],
            "c": [[(2, 3, "P")], [(0, 5, "P")]],
        }
        one = Corpus.from_spans(spans, lengths=[7, 9], documents=["x", "y"])
        other = Corpus.from_spans(
            {name: texts[::-1] for name, texts in reversed(spans.items())},
            lengths=[9, 7],
            documents=["y", "x"],
        )
        a, b = (null_distribution(corpus, resamples=99, seed=2) for corpus in (one, other))
        np.testing.assert_array_equal(a.samples, b.samples)

    def test_seeds(self):
        corpus = example()
        corpus = corpus.select(documents=corpus.documents[:3])
        one = null_distribution(corpus, resamples=99, seed=1)
        assert (null_distribution(corpus, resamples=99, seed=1).samples == one.samples).all()
        assert (null_distribution(corpus, resamples=99, seed=2).samples != one.samples).any()
        drawn = null_distribution(corpus, resamples=99, seed=np.random.default_rng(1))
        signed = Settings.parse(str(drawn.settings))
        again = null_distribution(corpus, resamples=int(signed.resamples), seed=int(signed.seed))
        assert (again.samples == drawn.samples).all()
        assert (one.settings.resamples, one.settings.seed) == (99, 1)

    def test_randomised_ties_are_signed(self):
        found = null_distribution(example(), resamples=99, seed=1, ties="randomised")
        assert "|ties:randomised|" in str(found.settings)


class TestUndefined:
    def test_nothing_marked(self):
        found = null_distribution(
            Corpus.from_spans({"a": [[], [(0, 1, "P")]], "b": [[], []]}, lengths=[3, 3]), seed=1
        )
        empty = found.by_document["0"]
        assert empty.reason == "nothing was marked by either"
        assert isnan(empty.p_value)
        # One side is empty: random annotations never match, and neither do these.
        assert (found.observed, found.mean, found.sd, found.p_value) == (0, 0, 0, 1)
        assert found.reason is None

    def test_no_choice(self):
        spans = {name: [[(0, 3, "P")]] for name in "ab"}
        found = null_distribution(Corpus.from_spans(spans, lengths=[3]), seed=1)
        assert (found.mean, found.sd, found.p_value) == (1, 0, 1)

    def test_a_gold_standard_beside_several_is_left_out(self):
        corpus = replace(example(), gold="ada")
        found = null_distribution(corpus, resamples=99, seed=1)
        assert found.mean == agreement(corpus).chance
        assert found.settings.gold == "ada"

    def test_options(self):
        cases = [
            ({"resamples": 5}, "resamples … 5"),
            ({"ties": "broken"}, "ties … 'broken' … counted, randomised"),
            ({"measure": "f1"}, "measure … 'f1'"),
            ({"seed": 1.5}, "seed … 1.5"),
        ]
        for options, told in cases:
            with refused(OptionError, told):
                null_distribution(example(), **options)

    def test_a_threshold_reaches_the_draws(self):
        # One of two tokens against both: an IoU of 1/2, which is above .4 and not above .5.
        spans = {"a": [[(0, 1, "P")]], "b": [[(0, 2, "P")]]}
        corpus = Corpus.from_spans(spans, lengths=[2])
        for theta, share in ((0.4, 1), (0.5, 0)):
            found = null_distribution(corpus, measure="iou", theta=theta, resamples=99, seed=1)
            assert set(found.samples.tolist()) == {share}
            assert found.settings.seed == 1

    def test_no_corpus(self):
        with refused(NothingSharedError, "one annotator"):
            null_distribution([["O"]])

    def test_quantiles_of_documents(self):
        found = null_distribution(example(), resamples=99, seed=1)
        document = next(iter(found.by_document.values()))
        with refused(OptionError, "no draws"):
            document.quantile(0.5)
        with refused(OptionError, "share … 2 … 0 … 1"):
            found.quantile(2)

    def test_quantiles_reach_from_the_least_to_the_most(self):
        found = null_distribution(example(), resamples=99, seed=1)
        assert (found.quantile(0), found.quantile(1)) == (found.samples.min(), found.samples.max())

    def test_what_draws_say_and_how_far_they_are_off(self):
        long = Corpus.from_spans(
            {"a": [[(i, i + 9, "P") for i in range(0, 3000, 20)]],
             "b": [[(i, i + 9, "P") for i in range(0, 3000, 50)]]}, lengths=[3000],
        )  # fmt: skip
        found = null_distribution(long, resamples=99, seed=1)
        assert found.sd_is == "sampled"
        assert found.sd == pytest.approx(np.std(found.samples, ddof=1), rel=1e-12)
        p = found.p_value
        assert found.p_error == pytest.approx((p * (1 - p) / 99) ** 0.5, rel=1e-12)


def test_a_gold_standard_is_compared_with_one_annotator():
    two = example().select(annotators=["ada", "cleo"], documents=example().documents[:4])
    for gold in ("ada", "cleo"):
        found, result = null_distribution(two, gold=gold, seed=1), agreement(two, gold=gold)
        assert (found.observed, found.mean) == (result.observed, result.chance)
        assert found.samples.mean() == pytest.approx(found.mean, abs=5 * found.sd / 30)
        assert found.settings.gold == gold
    with refused(OptionError, "3 … gold … pairs"):
        null_distribution(example(), gold="ada")
