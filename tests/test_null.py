"""The distribution of the agreement of random annotations."""

from dataclasses import replace
from itertools import product
from math import hypot, isnan

import numpy as np
import pytest
from scipy import stats

import oracle
from beyondchance import Corpus, DataError, LengthsError, OptionError, Settings, agreement, example
from beyondchance.core.measures import MEASURES
from beyondchance.null import match_variance, null_distribution

RULES = [
    (name, model)
    for name, measure in MEASURES.items()
    for model in ("disjoint", "overlapping")
    if model == "disjoint" or not isinstance(measure.overlapping, str)
]


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
        with pytest.raises(LengthsError, match="2000 positions with so many spans is too much"):
            match_variance(2000, [2], [3])

    def test_lengths_that_do_not_fit(self):
        with pytest.raises(LengthsError, match="cannot be placed"):
            match_variance(3, [2, 2], [1])

    def test_p_value_of_one_text(self):
        # Spans of 2 in 4 tokens stand at 0, 1 or 2: 3 of 9 cases share both tokens.
        spans = {name: [[(1, 3, "P")]] for name in "ab"}
        found = null_distribution(Corpus.from_spans(spans, lengths=[4]), rng=3)
        assert abs(found.p_value - 3 / 9) < 4 * found.p_error
        assert found.p_error == pytest.approx((found.p_value * (1 - found.p_value) / 9999) ** 0.5)
        assert (found.observed, found.sd_is) == (1, "exact")
        assert set(found.samples.tolist()) == {0.0, 0.5, 1.0}
        assert found.quantiles == {0.025: 0.0, 0.5: 0.5, 0.975: 1.0}
        assert found.quantile(0.5) == 0.5


@pytest.mark.parametrize(("measure", "model"), RULES)
def test_draws_have_the_mean_and_the_variance_that_they_should(measure, model):
    options = {"measure": measure, "model": model}
    found = null_distribution(example(), rng=1, **options)
    result = agreement(example(), seed=1 if measure == "iou" else None, **options)
    assert found.mean == result.chance
    assert found.observed == result.observed
    error = hypot(found.sd / 9999**0.5, result.score.chance_error)
    assert abs(found.samples.mean() - found.mean) < 4 * error
    assert found.samples.std(ddof=1) == pytest.approx(found.sd, rel=4 / (2 * 9999) ** 0.5)
    assert found.sd_is == ("exact" if (measure, model) == ("token", "disjoint") else "sampled")
    assert found.p_value == 1 / 10_000
    for name, score in result.by_document.items():
        own = found.by_document[name]
        assert own.mean == pytest.approx(score.chance, abs=1e-15)
        assert own.quantiles[0.025] <= own.mean <= own.quantiles[0.975]


def test_the_variance_of_a_corpus_is_the_sum_of_its_texts():
    spans = {
        "a": [[(0, 2, "P"), (3, 4, "L")], [(0, 1, "P")], []],
        "b": [[(1, 4, "P"), (5, 6, "L")], [(2, 4, "P")], [(0, 1, "P")]],
    }
    found = null_distribution(Corpus.from_spans(spans, lengths=[9, 5, 4]), rng=1)
    variance = match_variance(9, [2], [3]) + match_variance(9, [1], [1])
    variance += match_variance(5, [1], [2])
    size = 2 + 1 + 1 + 3 + 1 + 2 + 1
    assert found.sd == pytest.approx(2 * variance**0.5 / size, rel=1e-12)


def test_a_team_is_not_a_sum_of_independent_pairs():
    # Spans of 3 in 5 tokens stand at 0, 1 or 2. Over all 27 cases the pairs share 6 tokens
    # on average, with the variance 16/9; independent pairs would have 3 times 44/81.
    spans = {name: [[(0, 3, "P")]] for name in "abc"}
    found = null_distribution(Corpus.from_spans(spans, lengths=[5]), rng=1)
    assert found.sd == pytest.approx(2 * (16 / 9) ** 0.5 / 18, rel=1e-11)
    assert 3 * match_variance(5, [3], [3]) == pytest.approx(3 * 44 / 81, rel=1e-11)
    assert found.samples.std(ddof=1) == pytest.approx(found.sd, rel=0.03)


def test_long_texts_are_sampled_and_said_to_be():
    spans = {"a": [[(0, 2, "P")], [(0, 2, "P")]], "b": [[(1, 3, "P")], [(0, 2, "P")]]}
    found = null_distribution(Corpus.from_spans(spans, lengths=[5000, 9]), rng=1)
    assert found.sd_is == "sampled"
    assert [item.sd_is for item in found.by_document.values()] == ["sampled", "exact"]


class TestRandomAnnotations:
    TEXTS = ((6, (2,), (1, 2)), (5, (1,), (3,)), (7, (2, 2), (2, 1)))

    def p_values(self, ties, texts=TEXTS, n=2000):
        corpus = random_corpus(np.random.default_rng(17), texts, n)
        found = null_distribution(corpus, resamples=999, ties=ties, rng=5)
        return np.array([item.p_value for item in found.by_document.values()])

    def test_never_anti_conservative(self):
        found = self.p_values("counted")
        for level in (0.01, 0.02, 0.05, 0.1, 0.2, 0.3, 0.5, 0.8):
            error = (level * (1 - level) / len(found)) ** 0.5
            assert np.mean(found <= level) <= level + 3 * error

    def test_uniform_with_randomised_ties(self):
        found = self.p_values("randomised")
        assert stats.kstest(found, "uniform").pvalue > 0.01

    def test_ties_at_nothing_in_common(self):
        # Most random annotations have nothing in common, and neither do these.
        spans = {"a": [[(0, 1, "P")]] * 50, "b": [[(9, 10, "P")]] * 50}
        corpus = Corpus.from_spans(spans, lengths=[20] * 50)
        counted, randomised = (
            [
                item.p_value
                for item in null_distribution(
                    corpus, resamples=99, rng=1, ties=ties
                ).by_document.values()
            ]
            for ties in ("counted", "randomised")
        )
        assert set(counted) == {1.0}
        assert min(randomised) < 0.2
        assert max(randomised) > 0.8

    def test_discrete_without(self):
        # One text has few values, so that p-values are far from uniform, on the safe side.
        found = self.p_values("counted", self.TEXTS[:1], n=300)
        test = stats.kstest(found, "uniform", alternative="less")
        assert test.pvalue < 1e-6
        assert stats.kstest(found, "uniform", alternative="greater").pvalue > 0.05


class TestStreams:
    def test_parts_draw_what_the_whole_draws(self):
        corpus = example()
        whole = null_distribution(corpus, resamples=199, rng=5)
        half = len(corpus.documents) // 2
        sums = np.zeros(199)
        for names in (corpus.documents[half:], corpus.documents[:half]):
            part = null_distribution(corpus.select(documents=names), resamples=199, rng=5)
            score = agreement(corpus.select(documents=names)).score
            sums += part.samples * (score.size_a + score.size_b) / 2
            for name, item in part.by_document.items():
                other = whole.by_document[name]
                assert (item.p_value, item.sd) == (other.p_value, other.sd)
                assert item.quantiles == other.quantiles
        score = agreement(corpus).score
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
        a, b = (null_distribution(corpus, resamples=99, rng=2) for corpus in (one, other))
        np.testing.assert_array_equal(a.samples, b.samples)

    def test_seeds(self):
        corpus = example()
        one = null_distribution(corpus, resamples=99, rng=1)
        assert (null_distribution(corpus, resamples=99, rng=1).samples == one.samples).all()
        assert (null_distribution(corpus, resamples=99, rng=2).samples != one.samples).any()
        drawn = null_distribution(corpus, resamples=99, rng=np.random.default_rng(1))
        signed = Settings.parse(str(drawn.settings))
        again = null_distribution(corpus, resamples=int(signed.resamples), rng=int(signed.seed))
        assert (again.samples == drawn.samples).all()
        assert (one.settings.resamples, one.settings.seed) == ("99", 1)

    def test_randomised_ties_are_signed(self):
        found = null_distribution(example(), resamples=99, rng=1, ties="randomised")
        assert "|ties:randomised|" in str(found.settings)


class TestUndefined:
    def test_nothing_marked(self):
        found = null_distribution(
            Corpus.from_spans({"a": [[], [(0, 1, "P")]], "b": [[], []]}, lengths=[3, 3]), rng=1
        )
        empty = found.by_document["0"]
        assert empty.reason == "nothing was marked by either"
        assert isnan(empty.p_value)
        # One side is empty: random annotations never match, and neither do these.
        assert (found.observed, found.mean, found.sd, found.p_value) == (0, 0, 0, 1)
        assert found.reason is None

    def test_no_choice(self):
        spans = {name: [[(0, 3, "P")]] for name in "ab"}
        found = null_distribution(Corpus.from_spans(spans, lengths=[3]), rng=1)
        assert (found.mean, found.sd, found.p_value) == (1, 0, 1)

    def test_a_gold_standard_beside_several_is_left_out(self):
        corpus = replace(example(), gold="ada")
        found = null_distribution(corpus, resamples=99, rng=1)
        assert found.mean == agreement(corpus).chance
        assert found.settings.gold == "ada"

    @pytest.mark.parametrize(
        ("options", "message"),
        [
            ({"resamples": 5}, "resamples is 5"),
            ({"ties": "broken"}, "unknown ties 'broken'; choose one of: counted, randomised"),
            ({"measure": "f1"}, "unknown measure"),
            ({"rng": 1.5}, "rng is 1.5"),
        ],
    )
    def test_options(self, options, message):
        with pytest.raises(OptionError, match=message):
            null_distribution(example(), **options)

    def test_nested_spans_are_refused(self):
        spans = {name: [[(0, 3, "P"), (1, 2, "P")]] for name in "ab"}
        message = "cannot be drawn for model 'nested' and scope 'label'"
        with pytest.raises(OptionError, match=message):
            null_distribution(Corpus.from_spans(spans, lengths=[5]), rng=1)

    def test_a_threshold_reaches_the_draws(self):
        # One of two tokens against both: an IoU of 1/2, which is above .4 and not above .5.
        spans = {"a": [[(0, 1, "P")]], "b": [[(0, 2, "P")]]}
        corpus = Corpus.from_spans(spans, lengths=[2])
        for theta, share in ((0.4, 1), (0.5, 0)):
            found = null_distribution(corpus, measure="iou", theta=theta, resamples=99, rng=1)
            assert set(found.samples.tolist()) == {share}
            assert found.settings.seed == 1

    def test_no_corpus(self):
        with pytest.raises(DataError, match="found one list; expected a Corpus"):
            null_distribution([["O"]])

    def test_quantiles_of_documents(self):
        found = null_distribution(example(), resamples=99, rng=1)
        document = next(iter(found.by_document.values()))
        with pytest.raises(OptionError, match="a document keeps no draws"):
            document.quantile(0.5)
        with pytest.raises(OptionError, match="share is 2; expected a number from 0 to 1"):
            found.quantile(2)
