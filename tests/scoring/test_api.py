"""Agreement and difficulty: examples to check by hand, and what is refused."""

from dataclasses import replace
from itertools import cycle, product
from math import isnan
from typing import Annotated

import numpy as np
import pytest

from beyondchance import (
    Corpus,
    CustomMeasure,
    DataError,
    FormatError,
    LengthsError,
    NothingSharedError,
    OptionError,
    OverlapError,
    Settings,
    UnknownNameError,
    agreement,
    coverage,
    difficulty,
    expected_match,
    rank,
    sample_arrangements,
    start_probabilities,
)
from beyondchance.options import Option, ScoringOptions
from beyondchance.scoring import options as scoring_options
from each import each
from refusals import assert_tells, refused


def spans_corpus(a, b, n=10, **options):
    return Corpus.from_spans({"anna": a, "ben": b}, lengths=[n] * len(a), **options)


TOUCHING = CustomMeasure(
    name="touching",
    phi=lambda start, *_: np.ones(len(start)),
    size=lambda length: np.ones(len(length)),
)


class TestByHand:
    def test_one_token_each(self):
        # anna P...   ben P...: found by luck in 1 of 4 cases.
        result = agreement([["B-P", "O", "O", "O"]], [["B-P", "O", "O", "O"]])
        assert (result.observed, result.chance, result.corrected) == (1, 0.25, 1)
        assert (result.n_documents, result.n_spans) == (1, 2)

    def test_never_where_the_other_is(self):
        # anna P...   ben .P..: observed 0, chance 1/4, corrected -1/3.
        result = agreement([["B-P", "O", "O", "O"]], [["O", "B-P", "O", "O"]])
        assert result.observed == 0
        assert result.corrected == pytest.approx(-1 / 3)

    def test_texts_and_labels_add(self):
        # Text 0: both mark token 0 of 2 as P, expected 1/2. Text 1: anna marks P in
        # token 0 of 4, ben L in token 0: nothing matched, nothing expected.
        result = agreement(
            [["B-P", "O"], ["B-P", "O", "O", "O"]], [["B-P", "O"], ["B-L", "O", "O", "O"]]
        )
        assert result.observed == 2 * 1 / 4
        assert result.chance == 2 * 0.5 / 4
        assert result.by_label["P"].matched == 1
        assert result.by_label["P"].size_a == 2
        assert result.by_label["L"].observed == 0
        assert result.by_document["0"].observed == 1
        assert result.by_document["1"].observed == 0

    def test_precision_and_recall(self):
        # anna marks 4 tokens, ben 2 of them.
        score = agreement(spans_corpus([[(0, 4, "P")]], [[(1, 3, "P")]])).score
        assert (score.precision, score.recall) == (1, 0.5)
        assert score.observed == pytest.approx(2 / 3)

    def test_exact_measure_counts_equal_spans(self):
        corpus = spans_corpus([[(0, 2, "P"), (4, 6, "P")]], [[(0, 2, "P"), (4, 7, "P")]])
        assert agreement(corpus, measure="exact").observed == 0.5
        assert agreement(corpus).observed == 8 / 9

    def test_overlapping_spans_share_the_smaller_count(self):
        # anna 1221000000, ben 1200000000: 3 shared of 6 and 3.
        corpus = spans_corpus([[(0, 4, "P"), (1, 3, "P")]], [[(0, 2, "P"), (1, 2, "P")]])
        result = agreement(corpus, model="overlapping")
        assert result.score.matched == 3
        assert result.observed == 2 * 3 / 9
        assert 0 < result.chance < 1

    # anna PPPP....  ben ..PPPP..: they share 2 of 6; boundaries differ.
    shifted = spans_corpus([[(0, 4, "P")]], [[(2, 6, "P")]], n=8)

    def test_boundaries(self):
        # Five places each: starts meet in 1 of 5 cases, and then so do the ends.
        result = agreement(self.shifted, measure="boundary")
        assert (result.observed, result.chance) == (0, pytest.approx(1 / 5))
        half = agreement(spans_corpus([[(0, 4, "P")]], [[(0, 3, "P")]], n=8), measure="boundary")
        # One start of two boundaries each; 5 of 5 * 6 pairs of places share it, as many the end.
        assert (half.observed, half.chance) == (0.5, pytest.approx(1 / 6))

    def test_dice(self):
        # They share 2 of 4; over all 25 pairs of places 5 * 4 + 2 * (4 * 3 + 3 * 2 + 2 * 1) = 60.
        score = agreement(self.shifted, measure="dice").score
        assert (score.observed, score.precision, score.recall) == (0.5, 0.5, 0.5)
        assert score.chance == pytest.approx(60 / 25 / 4)

    def test_dice_has_precision_and_recall_of_its_own(self):
        # anna marks 4 tokens, ben 2 of them: 2 * 2 / 6, all of ben's and half of anna's.
        score = agreement(spans_corpus([[(0, 4, "P")]], [[(1, 3, "P")]]), measure="dice").score
        assert score.observed == pytest.approx(2 / 3)
        assert (score.precision, score.recall) == (1, 0.5)
        assert score.to_dict()["counts"]["matched_b"] == 1

    def test_iou(self):
        # 2 of 6 is more than .3 and not more than a third.
        assert agreement(self.shifted, measure="iou").observed == 0
        assert agreement(self.shifted, measure="iou", theta=0.3, samples=10).observed == 1
        assert agreement(self.shifted, measure="iou", theta=1 / 3, samples=10).observed == 0
        # Shifted by at most one place they share 3 of 5 or all: 5 + 2 * 4 of 25.
        assert agreement(self.shifted, measure="iou").chance == pytest.approx(13 / 25)

    def test_iou_pairs_one_to_one(self):
        # anna PPPPPP, ben PPP|PPP: each of ben's is half of anna's; at .4 one of them is paired.
        corpus = spans_corpus([[(0, 6, "P")]], [[(0, 3, "P"), (3, 6, "P")]])
        score = agreement(corpus, measure="iou", theta=0.4, samples=10).score
        assert (score.matched, score.size_a, score.size_b) == (1, 1, 2)

    def test_labels_share_the_text(self):
        # anna P.L   ben P.L in three tokens. Alone, P meets P in 1 of 3 cases; so does L.
        # Sharing the line, still each stands anywhere: coverage is 1/3 everywhere.
        corpus = spans_corpus([[(0, 1, "P"), (2, 3, "L")]], [[(0, 1, "P"), (2, 3, "L")]], n=3)
        assert agreement(corpus, scope="joint").chance == pytest.approx(1 / 3)
        # PPL has two arrangements, PPL and LPP: the middle is always P.
        corpus = spans_corpus([[(0, 2, "P"), (2, 3, "L")]], [[(0, 2, "P"), (2, 3, "L")]], n=3)
        joint = agreement(corpus, scope="joint").by_label
        assert joint["P"].chance == pytest.approx((1 / 4 + 1 + 1 / 4) / 2)
        assert joint["L"].chance == pytest.approx(1 / 4 + 1 / 4)
        apart = agreement(corpus, scope="label").by_label
        assert apart["L"].chance == pytest.approx(1 / 3)

    def test_spans_only(self):
        # anna P.L   ben L.P: all labels differ, the spans are the same.
        corpus = spans_corpus([[(0, 1, "P"), (2, 3, "L")]], [[(0, 1, "L"), (2, 3, "P")]], n=3)
        assert agreement(corpus).observed == 0
        result = agreement(corpus, scope="unlabelled", measure="exact")
        assert (result.observed, result.chance) == (1, pytest.approx(2 / 3))
        assert list(result.by_label) == ["(any)"]

    def test_a_span_with_two_labels_is_one_span(self):
        corpus = spans_corpus([[(0, 2, "P"), (0, 2, "L")]], [[(0, 2, "P")]])
        result = agreement(corpus, scope="unlabelled")
        assert (result.observed, result.n_spans) == (1, 2)
        assert result.skipped == {"spans that differ from another in their label alone": 1}

    def test_a_span_inside_a_span(self):
        # anna AAA. with .a.. inside, ben ditto, in four tokens. The outer span stands at 0
        # or 1, the inner one at one of three places in it: starts 1/6, 1/3, 1/3, 1/6.
        inner = [1 / 6, 1 / 3, 1 / 3, 1 / 6]
        outer = [1 / 2, 1, 1, 1 / 2]
        spans = [[(0, 3, "P"), (1, 2, "P")]]
        result = agreement(spans_corpus(spans, spans, n=4))
        assert (result.score.matched, result.score.size_a) == (4, 4)
        expected = sum(x * x for x in outer) + sum(x * x for x in inner)
        assert result.score.expected == pytest.approx(expected)

    def test_spans_match_at_any_depth(self):
        # ben has no outer span: his span equals anna's inner one, by every measure.
        corpus = spans_corpus([[(0, 10, "P"), (2, 5, "P")]], [[(2, 5, "P")]], n=12)
        for measure in ("exact", "iou", "boundary", "dice"):
            assert agreement(corpus, measure=measure).observed == pytest.approx(2 / 3)

    def test_boundaries_of_nested_spans(self):
        # A span of 2 in 3 tokens with one of 1 inside, on both sides. The outer one starts at
        # 0 or 1. The inner one starts with it or one later, and shares a start with it in half
        # of all cases: one start or more at 0, 1, 2 with 1/2, 3/4, 1/4, two at 0 and 1 with 1/4.
        spans = [[(0, 2, "P"), (0, 1, "P")]]
        score = agreement(spans_corpus(spans, spans, n=3), measure="boundary").score
        assert score.matched == 4
        once, twice = (1 / 2, 3 / 4, 1 / 4), (1 / 4, 1 / 4)
        assert score.expected == 2 * sum(p * p for p in (*once, *twice))

    def test_spans_that_cross_move_together(self):
        # [0, 2) and [1, 3) are one item of 3 in four tokens, at 0 or 1: covered once or more
        # 1/2, 1, 1, 1/2, twice 0, 1/2, 1/2, 0.
        spans = [[(0, 2, "P"), (1, 3, "P")]]
        score = agreement(spans_corpus(spans, spans, n=4)).score
        assert (score.matched, score.expected) == (4, 2 + 2 / 4 + 2 / 4)
        # Both spans are equal where both sides stand at the same place, else one of them.
        exact = agreement(spans_corpus(spans, spans, n=4), measure="exact").score
        assert (exact.matched, exact.expected) == (2, (2 + 2 + 1 + 1) / 4)

    def test_the_shortest_span_meets_the_shortest(self):
        # At 2 to 4, anna's 3 meets ben's 4, and nothing meets her 10; elsewhere her 10 does.
        corpus = spans_corpus([[(0, 10, "P"), (2, 5, "P")]], [[(2, 6, "P")]], n=12)
        score = agreement(corpus, measure="dice").score
        assert score.matched == pytest.approx(3 * 2 / (3 + 4) + 1 * 2 / (10 + 4))
        assert score.matched_a == pytest.approx(3 / 3 + 1 / 10)
        assert score.matched_b == pytest.approx(1)


class TestTeams:
    corpus = Corpus.from_spans(
        {
            "anna": [[(0, 2, "P")], [(0, 2, "P")], []],
            "ben": [[(0, 2, "P")], None, [(1, 2, "P")]],
            "cleo": [[(5, 9, "P")], [(0, 2, "P")], None],
            "dora": [None, None, None],
        },
        lengths=[10, 10, 10],
        documents=["x", "y", "z"],
        fields={"round": ["one", "one", "two"]},
    )
    result = agreement(corpus, measure="exact")

    def test_pairs_that_share_a_document(self):
        assert {pair: score.matched for pair, score in self.result.by_pair.items()} == {
            ("anna", "ben"): 1,  # x; in z only ben marked something
            ("anna", "cleo"): 1,  # y
            ("ben", "cleo"): 0,
        }
        assert self.result.by_pair["anna", "ben"].size_b == 2

    def test_pairs_that_marked_nothing_are_listed(self):
        spans = {"a": [[], []], "b": [[], None], "c": [None, [(0, 1, "P")]], "d": [None, None]}
        result = agreement(Corpus.from_spans(spans, lengths=[3, 3]))
        assert result.by_pair.keys() == {("a", "b"), ("a", "c")}
        assert_tells(result.by_pair["a", "b"].reason, "nothing … either")
        assert result.by_pair["a", "c"].observed == 0
        with refused(UnknownNameError, "('c', 'd') … ('a', 'b')"):
            result.by_pair["c", "d"]
        assert repr(result.by_pair) == repr(dict(result.by_pair.items()))

    def test_everybody_against_the_gold_standard(self):
        result = agreement(self.corpus, measure="exact", gold="cleo")
        assert result.by_pair.keys() == {("cleo", "anna"), ("cleo", "ben")}
        assert str(result.settings).count("|gold:cleo|pairs:gold|") == 1
        assert result.skipped["documents without the gold standard"] == 1
        scores = result.against("cleo")
        assert scores.keys() == {"anna", "ben"}
        # anna found one of cleo's two spans, and half of hers are right.
        assert (scores["anna"].recall, scores["anna"].precision) == (0.5, 0.5)
        assert (scores["ben"].size_a, scores["ben"].size_b) == (1, 1)
        everybody = agreement(self.corpus, measure="exact")
        assert everybody.against("cleo")["anna"] == scores["anna"]
        with refused(DataError, "'eve' … 'cleo'"):
            agreement(self.corpus, gold="eve")
        with refused(OptionError, "annotator 'eve' … 'cleo'"):
            everybody.against("eve")

    def test_nobody_to_compare_the_gold_standard_with(self):
        corpus = Corpus.from_tags({"a": [["B-P"], None], "b": [["O"], None], "c": [None, ["O"]]})
        with refused(NothingSharedError, "'c' … another"):
            agreement(corpus, gold="c")

    def test_annotators_against_the_others(self):
        anna = self.result.by_annotator["anna"]
        assert (anna.matched, anna.size_a, anna.size_b) == (2, 3, 4)
        assert_tells(self.result.by_annotator["dora"].reason, "nothing … either")

    def test_spans_are_counted_once(self):
        assert self.result.n_spans == 6
        assert self.result.by_annotator["anna"].n_spans == 2
        assert self.result.by_pair["anna", "ben"].n_spans == 3

    def test_fields(self):
        by_round = self.result.by_field("round")
        assert by_round["one"].n_documents == 2
        assert by_round["two"].observed == 0
        with refused(OptionError, "field 'batch' … 'round'"):
            self.result.by_field("batch")

    def test_rows(self):
        rows = self.result.counts.to_rows()
        assert len(rows) == 5
        assert rows[0] == {
            "document": "x", "text": 0, "label": "P", "a": "anna", "b": "ben", "matched": 1.0,
            "expected": round(2**52 / 9) / 2**52, "size_a": 1.0, "size_b": 1.0,
            "spans_a": 1, "spans_b": 1,
        }  # fmt: skip

    def test_many_annotators_few_documents_each(self):
        # 300 documents, each annotated by three of 400 workers.
        rng = np.random.default_rng(1)
        workers = [f"w{i:03}" for i in range(400)]
        teams = [rng.choice(400, 3, replace=False).tolist() for _ in range(300)]
        pairs = [(document, worker) for document, team in enumerate(teams) for worker in team]
        corpus = Corpus.from_columns(
            text=[document for document, _ in pairs],
            annotator=[workers[worker] for _, worker in pairs],
            start=[0] * len(pairs),
            end=[1] * len(pairs),
            label=["P"] * len(pairs),
            lengths=[2] * 300,
            annotated=[(str(document), workers[worker]) for document, worker in pairs],
            annotators=workers,
        )
        result = agreement(corpus)
        assert len(result.counts) == 900
        assert (result.observed, result.chance) == (1, 0.5)


class TestChoosingTheModel:
    disjoint = spans_corpus([[(0, 3, "P"), (2, 5, "L")]], [[(0, 3, "P")]])
    nested = spans_corpus([[(0, 5, "P"), (1, 3, "P")]], [[(0, 3, "P"), (3, 4, "P")]])
    crossing = spans_corpus([[(0, 3, "P"), (2, 5, "P")]], [[(0, 3, "P")]])

    where = "document '0', annotator 'anna'"

    @each(
        ("name", "scope", "told"),
        [
            (
                "disjoint",
                "joint",
                (
                    f"2 groups … whatever … 1 placed apart … 1 with … {where} … "
                    "[0, 3) 'P' … crosses … [2, 5) 'L'"
                ),
            ),
            (
                "nested",
                "label",
                (
                    "2 groups … one label … 1 placed apart … 1 placed one inside "
                    f"… {where} … [0, 5) 'P' … holds … [1, 3) 'P'"
                ),
            ),
        ],
    )
    def test_what_is_said(self, name, scope, told):
        result = agreement(getattr(self, name), scope=scope)
        assert result.settings.model == "auto"
        (note,) = map(str, result.notes)
        assert_tells(note, f"'auto' … {told}")
        assert note in " ".join(str(result).split())
        ranking = rank(getattr(self, name), scope=scope, gold="anna")
        assert ranking.notes == result.notes
        assert difficulty(getattr(self, name), scope=scope).settings.model == "auto"

    def test_nothing_is_said_where_all_lie_apart(self):
        assert agreement(self.disjoint).notes == ()
        assert rank(self.disjoint, gold="anna").notes == ()
        assert difficulty(self.disjoint).notes == ()

    def test_a_pair_of_spans_that_crosses_moves_nobody_else(self):
        # As if it were not there, to the last bit; under one model for all it was .7 higher.
        rng = np.random.default_rng(1)
        tags = [[["B-P", "O", "O"][int(rng.integers(3))] for _ in range(12)] for _ in range(200)]
        spans = [[(i, i + 1, "P") for i, tag in enumerate(text) if tag != "O"] for text in tags]
        other = [text[1:] for text in spans]
        crossing = [(0, 3, "P"), (2, 5, "P")]
        alone = agreement(spans_corpus(spans, other, n=12))
        among = agreement(spans_corpus([*spans, crossing], [*other, crossing[:1]], n=12))
        for name, score in alone.by_document.items():
            assert among.by_document[name] == score
        assert abs(among.corrected - alone.corrected) < 0.01

    def test_sides_need_not_be_alike(self):
        # anna's span of 3 moves; ben's three, one inside another and two that cross, do not.
        corpus = spans_corpus([[(0, 3, "P")]], [[(0, 3, "P"), (2, 4, "P"), (0, 1, "P")]], n=4)
        score = agreement(corpus).score
        # anna covers 1/2, 1, 1, 1/2; ben covers all once.
        assert score.expected == 3
        assert score.matched == 3

    @each(
        ("name", "model", "told"),
        [
            ("nested", "disjoint", "[0, 5) 'P' … overlaps … [1, 3) 'P' … model='auto'"),
            ("crossing", "disjoint", "overlaps … [2, 5) 'P' … model='auto'"),
            ("crossing", "nested", "[0, 3) 'P' … crosses … [2, 5) 'P' … 'nested'"),
        ],
    )
    def test_what_the_data_contradict(self, name, model, told):
        with refused(OverlapError, told):
            agreement(getattr(self, name), model=model)

    @each("model", ["auto", "nested", "overlapping"])
    @each("scope", ["label", "joint", "unlabelled"])
    def test_a_span_marked_twice(self, model, scope):
        spans = {"a": [[(0, 3, "P"), (0, 3, "P")]], "b": [[]]}
        corpus = Corpus.from_spans(spans, lengths=[5], duplicates="error")
        with refused(OverlapError, "[0, 3) 'P' … twice"):
            agreement(corpus, model=model, scope=scope)

    def test_a_measure_that_could_exceed_1(self):
        with refused(OptionError, "'touching' … 'overlapping'"):
            agreement(self.disjoint, measure=TOUCHING, model="overlapping")
        with refused(OptionError, "'touching' … 'overlapping'"):
            expected_match(5, [1], [1], measure=TOUCHING, model="overlapping")
        nested = {"model": "nested", "parents_a": [-1, 0]}
        with refused(OptionError, "'touching' … overlap"):
            expected_match(5, [3, 1], [1], measure=TOUCHING, **nested)
        with refused(OverlapError, "[0, 3) 'P' … [2, 5) 'P' … 'touching'"):
            agreement(self.crossing, measure=TOUCHING)
        # Spans of different labels may overlap: they are never compared.
        assert agreement(self.disjoint, measure=TOUCHING, scope="joint").observed == 2 / 3


class TestOptionsOfMeasures:
    corpus = spans_corpus([[(0, 4, "P")]], [[(2, 6, "P")]])

    def test_signature(self):
        exact = agreement(self.corpus, measure="iou", theta=0.75).settings
        assert str(exact).startswith("beyondchance|measure:iou|theta:0.75|model:auto|")
        assert (exact.samples, exact.seed) == (None, None)
        estimated = agreement(self.corpus, measure="iou", theta=0.25, seed=3).settings
        assert (estimated.samples, estimated.seed) == (1000, 3)
        custom = agreement(self.corpus, measure=TOUCHING).settings
        assert (custom.measure, custom.custom) == ("custom", "touching")
        for settings in (exact, estimated, custom):
            assert Settings.parse(str(settings)) == settings

    def test_estimates_depend_on_the_seed_and_nothing_else(self):
        options = {"measure": "iou", "theta": 0.1, "samples": 200}
        one, again, other = (agreement(self.corpus, **options, seed=s) for s in (1, 1, 2))
        assert one.score == again.score
        assert one.chance != other.chance
        assert one.score.error > 0
        assert abs(one.chance - other.chance) < 5 * one.score.chance_error
        said = " ".join(str(one).split())
        assert_tells(said, "random arrangements … standard error")
        assert "standard error of 0.0" in said
        assert one.score.to_dict()["chance_error"] == one.score.chance_error

    def test_errors_of_equal_texts_add_up_and_those_of_others_do_not(self):
        # The same question is asked once: its error is the same error every time.
        options = {"measure": "iou", "theta": 0.1, "samples": 200}
        one, two = [(0, 4, "P")], [(2, 6, "P")]
        alone = agreement(self.corpus, **options).score.error
        twice = agreement(spans_corpus([one] * 2, [two] * 2), **options).score.error
        assert twice == pytest.approx(2 * alone)
        other = spans_corpus([one], [two], n=11)
        longer = agreement(other, **options).score.error
        both = Corpus.from_spans({"anna": [one] * 2, "ben": [two] * 2}, lengths=[10, 11])
        found = agreement(both, **options)
        assert found.score.error == pytest.approx(np.hypot(alone, longer))
        assert agreement(self.corpus).score.error == 0
        with refused(DataError, "measures"):
            found.counts + agreement(replace(other, documents=("x",)), measure="dice").counts

    @each(
        ("options", "told"),
        [
            ({"theta": 0.5}, "theta … 'iou' … 'token'"),
            ({"seed": 1}, "seed … 'iou' … 'token'"),
            ({"measure": "iou", "theta": 1}, "theta … 1; … 0 to 1"),
            ({"measure": "iou", "theta": "x"}, "theta … 'x'"),
            ({"measure": "iou", "theta": True}, "theta … True"),
            ({"measure": "iou", "samples": 1}, "samples … 1 … 2"),
            ({"measure": "iou", "seed": -1}, "seed … -1 … 0"),
            ({"measure": "custom"}, "CustomMeasure("),
        ],
    )
    def test_refused(self, options, told):
        with refused(OptionError, told):
            agreement(self.corpus, **options)

    @each(
        ("phi", "size", "told"),
        [
            (lambda s, *_: s, lambda length: length, "phi … other way round"),
            (lambda *_: 1, lambda length: length, "phi … () … (1,)"),
            (lambda s, *_: s * np.nan, lambda length: length, "phi … nan … finite"),
            (lambda *_: ["x"], lambda length: length, "phi … list … array"),
            (lambda _, a, __, b: a + b, lambda length: -length, "size … -4.0 … finite"),
        ],
    )
    def test_functions_that_do_not_do(self, phi, size, told):
        custom = CustomMeasure(name="mine", phi=phi, size=size)
        with refused(OptionError, f"'mine' … {told}"):
            agreement(self.corpus, measure=custom)

    def test_not_a_custom_measure(self):
        with refused(OptionError, "'' … string"):
            CustomMeasure(name="", phi=len, size=len)
        with refused(OptionError, "'mine' … phi is 3"):
            CustomMeasure(name="mine", phi=3, size=len)


class TestAddingTables:
    def counts(self, document, *annotators):
        spans = {name: [[(i, i + 2, "P")]] for i, name in enumerate(annotators)}
        corpus = Corpus.from_spans(spans, lengths=[9], documents=[document])
        return agreement(corpus).counts

    def test_in_whatever_order_the_annotators_stand(self):
        one, two = self.counts("x", "ben", "cleo"), self.counts("y", "anna", "ben", "cleo")
        for total in (one + two, two + one):
            assert total.by_pair().keys() == {
                tuple(sorted(pair, key=total.annotators.index))
                for pair in (("ben", "cleo"), ("anna", "ben"), ("anna", "cleo"))
            }
            assert total.score().matched == one.score().matched + two.score().matched
        swapped = (self.counts("x", "a", "b") + self.counts("y", "b", "a")).by_pair()["a", "b"]
        assert (swapped.size_a, swapped.size_b, swapped.n_spans) == (4, 4, 4)

    def test_what_cannot_be_added(self):
        one = self.counts("x", "a", "b")
        with refused(DataError, "both … document 'x'"):
            one + one
        with pytest.raises(TypeError):
            one + 3
        other = Corpus.from_tags({"a": [["O"]], "b": [["O"]]}, fields={"round": ["1"]})
        with refused(DataError, "fields … [] … ['round']"):
            one + agreement(other).counts


class TestUndefined:
    @each(
        ("tags", "observed"),
        [(([["O"]], [["O"]]), None), (([["B-P"]], [["O"]]), 0.0), (([[]], [[]]), None)],
    )
    # Scopes in turn: three of them, next to four measures under four models.
    @pytest.mark.slow
    @each(
        ("measure", "model", "scope"),
        [
            (*rule, scope)
            for rule, scope in zip(
                product(
                    ["token", "exact", "boundary", "iou"],
                    ["auto", "disjoint", "nested", "overlapping"],
                ),
                cycle(["label", "joint", "unlabelled"]),
                strict=False,
            )
        ],
    )
    def test_next_to_nothing(self, tags, observed, measure, model, scope):
        a, b = tags
        options = {"measure": measure, "model": model, "scope": scope}
        result = agreement(a, b, **options)
        assert result.score.to_dict()["observed"] == observed
        assert result.by_pair.keys() == {("a", "b")}
        assert result.against("b")["a"].to_dict()["observed"] == observed
        assert str(result.settings) in str(result)
        found = difficulty(a, b, **options)
        assert isnan(found.overall) == isnan(found.error) == (observed is None)

    def test_nothing_marked(self):
        result = agreement([["O", "O"]], [["O", "O"]])
        assert isnan(result.observed)
        assert isnan(result.corrected)
        assert_tells(result.reason, "nothing … either")
        assert result.skipped == {"documents in which no annotator marked anything": 1}
        assert_tells(result.by_document["0"].reason, "nothing … either")

    def test_chance_is_one(self):
        # Both cover every token however the spans are arranged.
        result = agreement([["B-P", "I-P", "B-P"]], [["B-P", "B-P", "I-P"]])
        assert (result.observed, result.chance) == (1, 1)
        assert isnan(result.corrected)
        assert_tells(result.reason, "chance agreement is 1")
        # As spans they can differ.
        assert (
            agreement([["B-P", "I-P", "B-P"]], [["B-P", "B-P", "I-P"]], measure="exact").chance < 1
        )

    def test_still_adds_up_in_the_total(self):
        full, half = ["B-P", "I-P"], ["B-P", "O"]
        result = agreement([full, half], [full, half])
        assert isnan(result.by_document["0"].corrected)
        assert result.chance == 2 * (2 + 0.5) / 6
        assert result.corrected == 1

    def test_exact_spans_that_cannot_differ(self):
        result = agreement([["B-P", "B-P"]], [["B-P", "B-P"]], measure="exact")
        assert result.chance == 1
        assert isnan(result.corrected)

    def test_overlapping_span_as_long_as_the_text(self):
        corpus = spans_corpus([[(0, 10, "P")]], [[(0, 10, "P")]])
        for measure in ("token", "exact", "boundary", "iou"):
            result = agreement(corpus, model="overlapping", measure=measure)
            assert result.chance == 1
            assert isnan(result.corrected)

    def test_one_side_empty(self):
        result = agreement([["B-P", "O"]], [["O", "O"]])
        assert (result.observed, result.chance, result.corrected) == (0, 0, 0)

    def test_score_as_plain_values(self):
        assert agreement([["O"]], [["O"]]).score.to_dict() == {
            "observed": None, "chance": None, "corrected": None,
            "reason": "nothing was marked by either",
            "precision": {
                "observed": None, "chance": None, "corrected": None,
                "reason": "nothing was marked by side b",
            },
            "recall": {
                "observed": None, "chance": None, "corrected": None,
                "reason": "nothing was marked by side a",
            },
            "counts": {"matched": 0, "expected": 0, "size_a": 0, "size_b": 0},
            "n_documents": 0, "n_spans": 0,
        }  # fmt: skip

    def test_one_side_cannot_be_missed(self):
        # anna marks all four tokens, so that whatever ben marks is matched; he marks two.
        score = agreement([["B-P", "B-P", "B-P", "B-P"]], [["B-P", "I-P", "O", "O"]]).score
        assert (score.precision, score.chance_precision) == (1, 1)
        assert isnan(score.corrected_precision)
        assert "chance agreement is 1" in score.to_dict()["precision"]["reason"]
        assert (score.recall, score.chance_recall) == (0.5, 0.5)
        # Two tokens are matched wherever ben's two are: chance has no freedom.
        assert isnan(score.corrected)
        assert isnan(score.corrected_recall)
        assert "random placement scores the same" in score.reason

    def test_no_freedom_at_one_level_and_some_at_another(self):
        # One token each in the first text, where ben's cannot miss; two of four in the second.
        result = agreement([["B-P"], ["B-P", "O", "O", "O"]], [["B-P"], ["B-P", "O", "O", "O"]])
        assert "chance agreement is 1" in result.by_document["0"].reason
        assert result.corrected == 1
        # Where one of them marks nothing, nothing is matched: 0 needs no reason.
        score = agreement([["B-P", "O"]], [["O", "O"]]).score
        assert (score.observed, score.corrected, score.reason) == (0, 0, None)

    def test_a_measure_that_counts_more_than_its_sizes(self):
        # Any overlap counts: a span of 5 in 6 touches at least three of four single tokens.
        spans = [[(0, 5, "P")]], [[(i, i + 1, "P") for i in range(4)]]
        score = agreement(spans_corpus(*spans, n=6), measure=TOUCHING).score
        assert score.chance > 1
        assert isnan(score.corrected)
        assert "exceeds 1" in score.reason

    def test_texts_of_one_token(self):
        # 980 of 1,000 alike: every arrangement of either side has as much in common.
        anna = [["B-P" if i < 500 else "O"] for i in range(1000)]
        ben = [["B-P" if 10 <= i < 510 else "O"] for i in range(1000)]
        result = agreement(anna, ben)
        assert (result.observed, result.chance) == (0.98, 0.98)
        assert isnan(result.corrected)
        assert "random placement scores the same" in result.reason
        # In any text of the corpus: token kappa.
        corpus = Corpus.from_tags({"anna": anna, "ben": ben}, unit="corpus")
        assert agreement(corpus).corrected == pytest.approx(0.96, abs=1e-12)

    def test_pairs_too_rare_to_be_drawn_leave_freedom(self):
        # No draw has a pair, though one is possible; spans of 1 and 10 never make one.
        for b, fixed in (((50, 53, "P"), False), ((50, 60, "P"), True)):
            corpus = spans_corpus([[(0, 3 - 2 * fixed, "P")]], [[b]], 100_000)
            score = agreement(corpus, measure="iou", theta=0.3).score
            assert (score.observed, score.expected, score.fixed) == (0, 0, fixed)

    def test_spans_that_always_come_close(self):
        # Spans of 9 in ten tokens share at least 8 of 10; 8 of 12 and 9 of 12 do not.
        for n, undefined in ((10, True), (12, False)):
            result = agreement(spans_corpus([[(0, 9, "P")]], [[(1, 10, "P")]], n), measure="iou")
            assert result.observed == 1
            assert isnan(result.corrected) == undefined
            assert (result.chance == 1) == undefined


class TestDifficulty:
    def test_gold(self):
        # One of four tokens: chance 1/4. Two of four tokens, one by one: chance 1/2.
        gold = [["B-P", "O", "O", "O"], ["B-P", "B-P", "O", "O"], ["O"]]
        found = difficulty(gold, gold, gold="b")
        assert found.by_document["0"] == 0.75
        assert found.by_document["1"] == 0.5
        assert isnan(found.by_document["2"])
        assert found.overall == 1 - 2 * (0.25 + 1) / 6
        assert found.by_text[:2].tolist() == [0.75, 0.5]
        assert found.settings.gold == "b"

    def test_all_ordered_pairs(self):
        # anna marks 1 of 4 tokens, ben 2 of 4: expected 1/4, 1 and twice 1/2.
        found = difficulty([["B-P", "O", "O", "O"]], [["B-P", "B-P", "O", "O"]])
        assert found.overall == 1 - 2 * (0.25 + 1 + 0.5 + 0.5) / (2 + 4 + 3 + 3)

    def test_labels_are_pooled(self):
        tags = [["B-P", "O", "O", "B-L"]]
        assert difficulty(tags, tags, gold="a").overall == 0.75

    def test_estimated(self):
        # Chance of the gold standard with itself; one row, so that the error is its own.
        corpus = spans_corpus([[(0, 4, "P")]], [[(2, 6, "P")]])
        options = {"measure": "iou", "theta": 0.1, "samples": 200}
        found = difficulty(corpus, gold="anna", **options)
        same = agreement(spans_corpus([[(0, 4, "P")]], [[(0, 4, "P")]]), **options).score
        assert found.overall == 1 - same.chance
        assert found.error == same.chance_error > 0
        assert difficulty(corpus).error == 0
        # Equal lengths: the three rows share one stream, and two of the pairs count twice.
        assert difficulty(corpus, **options).error == pytest.approx(found.error)

    def test_unknown_gold(self):
        with refused(DataError, "'c' … 'a'"):
            difficulty([["O"]], [["O"]], gold="c")

    def test_one_annotator_is_enough(self):
        corpus = Corpus.from_tags({"anna": [["B-P", "O"]]})
        assert difficulty(corpus).overall == 0.5

    def test_own_rows_stay_out_of_agreement(self):
        tags = [["B-P", "O"]]
        assert len(agreement(tags, tags).counts) == 1
        assert len(difficulty(tags, tags).counts) == 3


class TestRefused:
    def test_overlap_names_both_spans(self):
        corpus = spans_corpus([[(0, 3, "P"), (2, 5, "P")]], [[]])
        told = "document '0', annotator 'anna' … [0, 3) 'P' … [2, 5) 'P' … 'disjoint'"
        with refused(OverlapError, told):
            agreement(corpus, model="disjoint")
        assert agreement(corpus, model="overlapping").observed == 0

    def test_different_labels_may_overlap(self):
        corpus = spans_corpus([[(0, 3, "P"), (2, 5, "L")]], [[(0, 3, "P")]])
        assert agreement(corpus).by_label["P"].observed == 1

    def test_adjacent_spans_do_not_overlap(self):
        corpus = spans_corpus([[(0, 3, "P"), (3, 5, "P")]], [[(0, 5, "P")]])
        assert agreement(corpus).observed == 1

    @each(("model", "told"), [("disjoint", "overlaps"), ("overlapping", "twice")])
    def test_span_marked_twice(self, model, told):
        spans = {"a": [[(0, 3, "P"), (0, 3, "P")]], "b": [[]]}
        corpus = Corpus.from_spans(spans, lengths=[5], duplicates="error")
        with refused(OverlapError, f"[0, 3) 'P' … {told}"):
            agreement(corpus, model=model)

    def test_only_one_annotator(self):
        corpus = Corpus.from_tags({"anna": [["B-P"]]})
        with refused(NothingSharedError, "one annotator … 'anna'"):
            agreement(corpus)

    def test_no_document_in_common(self):
        corpus = Corpus.from_tags({"anna": [["B-P"], None], "ben": [None, ["B-P"]]})
        with refused(NothingSharedError, "'anna' annotated 1 … 'ben' annotated 1"):
            agreement(corpus)

    def test_no_documents(self):
        with refused(NothingSharedError, "no documents"):
            agreement([], [])

    def test_documents_left_out_are_counted(self):
        corpus = Corpus.from_tags({"anna": [["B-P"], ["O"], None], "ben": [["O"], None, None]})
        assert agreement(corpus).skipped == {
            "documents with one annotator only": 1,
            "documents without an annotator": 1,
        }

    @each(
        ("option", "value", "valid"),
        [
            ("measure", "f1", "token, exact, boundary, dice, iou"),
            ("model", "random", "auto, disjoint, nested, overlapping"),
            ("scope", "all", "label, joint, unlabelled"),
            ("measure", None, "token, exact, boundary, dice, iou"),
        ],
    )
    def test_unknown_options_name_the_valid_ones(self, option, value, valid):
        with refused(OptionError, f"{option} … {value!r} … {valid}"):
            agreement([["O"]], [["O"]], **{option: value})

    def test_neither_corpus_nor_tags(self):
        with refused(NothingSharedError, "one annotator … 'annotator 1'"):
            agreement([["O"]])
        with refused(FormatError, "annotator 'a': … an int … path"):
            agreement(3, 4)
        with refused(DataError, "mapping … second"):
            agreement({"a": [["O"]]}, {"b": [["O"]]})
        with refused(OptionError, "scheme '' … IOB2"):
            agreement([["O"]], [["O"]], scheme="")
        with refused(OptionError, "scheme … Corpus"):
            agreement(Corpus.from_tags({"a": [["O"]]}), scheme="IO")


class TestRefusedLengths:
    @each("function", [coverage, start_probabilities])
    @each(
        ("n", "lengths", "told"),
        [
            (5, [3, 3], "length 6 … text … 5 positions"),
            (5, [0], "lengths … 0"),
            (5, [-2], "lengths … -2"),
            (5, [1.5], "lengths … 1.5"),
            (5, [float("nan")], "lengths … nan"),
            (5, ["2"], "lengths … '2'"),
            (5, [None], "lengths … None"),
            (5, 3, "lengths … 0 dimensions"),
            (-1, [1], "n is … -1"),
            (2**70, [1], f"n is … {2**70}"),
            (5, [2**70], "lengths … 64 bits"),
            (5, [2**62] * 4, f"lengths … {2**62}"),
            (5, [[1], [1, 2]], "lengths … unevenly"),
            (5, [1, "a"], "lengths … 'a'"),
            (5.0, [1], "n is … 5.0"),
            (True, [1], "n is … True"),
        ],
    )
    def test_one_text(self, function, n, lengths, told):
        with refused(LengthsError, told):
            function(n, lengths)

    def test_overlapping_spans_only_need_to_fit_one_by_one(self):
        assert len(coverage(5, [3, 3], model="overlapping")) == 5
        with refused(LengthsError, "length 6"):
            coverage(5, [6], model="overlapping")

    def test_options(self):
        with refused(OptionError, "method 'fast' … exact … uniform"):
            start_probabilities(5, [1], method="fast")
        with refused(OptionError, "model 'x' … disjoint"):
            coverage(5, [1], model="x")
        for theta in (np.float32(0.75), np.float64(0.75)):
            assert expected_match(9, [2], [2], measure="iou", theta=theta) == expected_match(
                9, [2], [2], measure="iou", theta=0.75
            )
        uniform = start_probabilities(90, [1], method="uniform", alpha=0.75)
        narrow = start_probabilities(90, [1], method="uniform", alpha=np.float32(0.75))
        assert uniform[0].tolist() == narrow[0].tolist()
        for options in ({"scope": "label"}, {"model": "auto"}, {"colour": "red"}):
            with pytest.raises(OptionError, match="scope does not apply|unknown"):
                expected_match(5, [1], [1], **options)
        for alpha in (1.5, "x", None):
            with refused(OptionError, f"alpha … {alpha!r}"):
                start_probabilities(5, [1], method="uniform", alpha=alpha)
        for seed in ("x", 3.5, -1):
            with refused(OptionError, f"seed … {seed!r}"):
                sample_arrangements(5, [1], size=1, seed=seed)
        with refused(OptionError, "measure 'f1' … token"):
            expected_match(5, [1], [1], measure="f1")
        with refused(LengthsError, "size … -1"):
            sample_arrangements(5, [1], size=-1)
        with refused(LengthsError, "layer … 0 … 1"):
            coverage(5, [1], layer=0)

    @each(
        ("lengths", "parents", "told"),
        [
            ([3, 2, 2], [-1, 0, 0], "length 4 … span of 3"),
            ([3, 4], [-1, -1], "length 7 … text of 5"),
            ([3, 2], [-1], "1 parents … 2 spans"),
            ([3, 2], [-1, 2], "parents … 2 … -1 to 1"),
            ([3, 3], [1, 0], "parents … circle"),
            ([3, 2], [-1, -2], "parents … -2 … -1"),
            ([3, 2], [-1, 0.5], "parents … 0.5 … -1"),
        ],
    )
    def test_parents(self, lengths, parents, told):
        with refused(LengthsError, told):
            start_probabilities(5, lengths, model="nested", parents=parents)

    def test_parents_and_methods_that_do_not_go_together(self):
        with refused(OptionError, "parents … 'nested' … 'disjoint'"):
            coverage(5, [1], parents=[-1])
        with refused(OptionError, "'uniform' … 'disjoint'"):
            coverage(5, [1], model="nested", method="uniform")

    def test_layers_that_are_not_there(self):
        for model in ("disjoint", "nested", "overlapping"):
            assert coverage(5, [2, 1], model=model, layer=3).tolist() == [0] * 5
            assert coverage(5, [], model=model).tolist() == [0] * 5
        assert coverage(3, [3, 3], model="overlapping", layer=2).tolist() == [1] * 3


class TestRank:
    """Four tokens, gold marks the first two.

    ```
    gold   XX..
    exact  XX..
    short  X...
    wrong  ..XX
    ```
    """

    CORPUS = Corpus.from_tags(
        {
            "wrong": [["O", "O", "B-P", "I-P"], ["O"]],
            "gold": [["B-P", "I-P", "O", "O"], ["O"]],
            "short": [["B-P", "O", "O", "O"], ["O"]],
            "exact": [["B-P", "I-P", "O", "O"], ["O"]],
        }
    )

    def test_each_system_is_compared_with_the_gold_standard_alone(self):
        ranking = rank(self.CORPUS, gold="gold")
        assert ranking.gold == ranking.settings.gold == "gold"
        assert list(ranking.systems) == ["wrong", "short", "exact"]
        for name, system in ranking.systems.items():
            pair = agreement(self.CORPUS.select(annotators=["gold", name]))
            assert system.corrected == pair.corrected
            assert list(system.by_pair) == [("gold", name)]
        assert ranking.systems["short"].score.precision == 1
        assert ranking.systems["short"].score.recall == 0.5

    def test_ranks(self):
        ranking = rank(self.CORPUS, gold="gold")
        expected = {"wrong": 3, "short": 2, "exact": 1}
        assert ranking.ranks("observed") == ranking.ranks("corrected") == expected
        with refused(OptionError, "by 'chance' … observed"):
            ranking.ranks("chance")

    def test_equal_scores_share_a_rank_and_undefined_ones_have_none(self):
        ranking = rank(self.CORPUS, gold="gold", measure="exact")
        assert ranking.ranks("observed") == {"wrong": 2, "short": 2, "exact": 1}
        empty = Corpus.from_tags({"gold": [["O"]], "a": [["O"]], "b": [["B-P"]]})
        assert rank(empty, gold="gold").ranks("observed") == {"a": None, "b": 1}

    def test_correction_can_change_ranks(self):
        # F1 12/17 = .706 and 8/12 = .667; random spans would share 3.93 and 2.09 tokens, which
        # leaves (6 - 3.93)/(8.5 - 3.93) = .453 and (4 - 2.09)/(6 - 2.09) = .488.
        corpus = Corpus.from_spans(
            {
                "gold": [[(0, 6, "P")]],
                "long": [[(0, 11, "P")]],
                "short": [[(2, 8, "P")]],
            },
            lengths=[20],
        )
        ranking = rank(corpus, gold="gold")
        assert ranking.ranks("observed") == {"long": 1, "short": 2}
        assert ranking.ranks("corrected") == {"long": 2, "short": 1}

    def test_subsets_of_texts(self):
        corpus = Corpus.from_tags(
            {"gold": [["B-P", "O", "O"], ["B-P"]], "system": [["O", "B-P", "O"], ["B-P"]]}
        )
        hard = rank(corpus, gold="gold").among(difficulty(corpus, gold="gold").by_text >= 0.5)
        assert hard.systems["system"].observed == 0
        easy = rank(corpus, gold="gold").among(difficulty(corpus, gold="gold").by_text < 0.5)
        assert easy.systems["system"].observed == 1

    TEXTS = rank(
        Corpus.from_spans(
            {
                "gold": [[(0, 2, "P")], [(0, 3, "P")], [(4, 6, "P")]],
                "a": [[(0, 2, "P")], [], [(4, 5, "P")]],
                "b": [[(1, 2, "P")], [(0, 3, "P")], []],
            },
            lengths=[9, 8, 7],
        ),
        gold="gold",
    )

    @each(
        "texts",
        [
            [True, False, True],
            (True, False, True),
            [np.True_, np.False_, np.True_],
            np.array([True, False, True]),
            np.array([True, False, True], dtype=object),
            [0, 2],
            [2, 0],
            range(0, 3, 2),
            np.array([0, 2]),
            np.array([2, 0], dtype=np.uint8),
            np.flatnonzero([1, 0, 1]),
            [np.int32(0), 2],
        ],
    )
    def test_subsets_by_truth_values_or_by_numbers(self, texts):
        found = self.TEXTS.among(texts)
        # By hand: a matches 2 + 1 of (2 + 2) and (2 + 1) tokens, b 1 of (2 + 2) and 1.
        assert found.systems["a"].observed == 2 * 3 / 7
        assert found.systems["b"].observed == 2 * 1 / 5
        assert found.systems["a"].counts.text.tolist() == [0, 2]

    BOTH = "truth value … numbers"

    @each("texts", [[], np.array([], dtype=int), [False] * 3])
    def test_a_subset_may_be_empty(self, texts):
        assert np.isnan(self.TEXTS.among(texts).systems["a"].observed)

    @each(
        ("texts", "told"),
        [
            ([True, False], "2 truth values … 3 texts"),
            (np.zeros(0, dtype=bool), "0 truth values … 3 texts"),
            (np.ones(4, dtype=bool), "4 truth values … 3 texts"),
            ([0, 3], "texts hold … 3 … 0 to 2"),
            (np.array([-1]), "texts hold … -1 … 0 to 2"),
            ([2**70], f"texts hold … {2**70} … 0 to 2"),
            ([1, 0, 1], "texts hold … 1 … twice"),
            ([True, 2], f"texts hold … True … {BOTH}"),
            ([0, False, True], f"texts hold … False … {BOTH}"),
            ([0.0, 1.0], f"texts hold … 0.0 … {BOTH}"),
            (np.array([0.5]), f"texts hold … 0.5 … {BOTH}"),
            (["0"], f"texts hold … '0' … {BOTH}"),
            ([None], f"texts hold … None … {BOTH}"),
            ([[0, 1], [2]], f"texts hold … 0, 1 … {BOTH}"),
            ([[0, 1], [1, 2]], f"2 dimensions … {BOTH}"),
            (np.eye(3, dtype=bool), f"2 dimensions … {BOTH}"),
            (1, f"texts are … 1 … {BOTH}"),
            ("012", f"texts are … '012' … {BOTH}"),
            (None, f"texts are … None … {BOTH}"),
            ({0, 1}, f"texts are … {BOTH}"),
        ],
    )
    def test_subsets_that_are_neither(self, texts, told):
        with refused(OptionError, told):
            self.TEXTS.among(texts)

    def test_the_gold_standard_must_be_known(self):
        assert rank(self.CORPUS.with_gold("gold")).gold == "gold"
        with refused(OptionError, "gold=NAME … 'wrong'"):
            rank(self.CORPUS)
        with refused(DataError, "'nobody' … 'wrong'"):
            rank(self.CORPUS, gold="nobody")
        with refused(NothingSharedError, "one annotator … 'gold'"):
            rank(self.CORPUS.select(annotators=["gold"]), gold="gold")
        with refused(DataError, "'gold' … 'annotator 1'"):
            rank([["O"]], gold="gold")


class TestTablesOfSomeRows:
    CORPUS = Corpus.from_tags(
        {"a": [["B-P", "O", "O"]], "b": [["B-P", "I-P", "O"]], "c": [["O", "B-L", "I-L"]]}
    )

    def test_without_an_annotator(self):
        counts = agreement(self.CORPUS).counts
        alone = agreement(self.CORPUS.select(annotators=["a", "b"]))
        assert counts.without("c").score() == alone.score
        with refused(OptionError, "annotator 'd' … 'a'"):
            counts.without("d")

    def test_sizes_are_counted_once(self):
        counts = agreement(self.CORPUS).counts
        assert counts.size_by_annotator() == {"a": 1, "b": 2, "c": 2}

    def test_another_order(self):
        counts = agreement(self.CORPUS).counts
        score = counts.ordered(("b", "a", "c")).by_pair()["b", "a"]
        assert (score.size_a, score.size_b) == (2, 1)


class TestRenamedLabels:
    def test_labels_that_become_one(self):
        corpus = Corpus.from_tags(
            {"a": [["B-PERSON", "B-LOC"]], "b": [["B-PER", "B-LOC"]]}
        ).rename_labels({"PERSON": "PER"})
        assert corpus.labels == ("LOC", "PER")
        result = agreement(corpus)
        assert result.observed == 1
        assert result.settings.rename_label == ("PERSON=PER",)
        assert Settings.parse(str(result.settings)) == result.settings

    def test_labels_may_change_places(self):
        corpus = Corpus.from_tags({"a": [["B-X", "B-Y"]]}).rename_labels({"X": "Y", "Y": "X"})
        assert [span.label for span in corpus.spans("0", "a")] == ["Y", "X"]

    @each(("names", "told"), [({"Z": "X"}, "label 'Z' … 'X'"), ({"X": " "}, "' ' … name")])
    def test_names_that_cannot_be(self, names, told):
        with refused(DataError, told):
            Corpus.from_tags({"a": [["B-X"]]}).rename_labels(names)


def test_an_option_of_all_measures_is_declared_once(monkeypatch):
    class Extended(ScoringOptions, total=False):
        halve: Annotated[bool, Option("A toy.", False)]

    monkeypatch.setattr(scoring_options, "ScoringOptions", Extended)
    scoring = scoring_options.scoring_of({"halve": True})
    assert scoring.options == {"halve": True}
    assert scoring.signature()["halve"] is True
    assert scoring_options.scoring_of({"halve": False}).options == {}
    with refused(OptionError, "halve … 2 … True … False"):
        scoring_options.scoring_of({"halve": 2})


class TestMissingAnnotations:
    """Who has which document, and what a ranking says of it."""

    SPANS = ((0, 2, "A"),)
    CORPUS = Corpus.from_spans(
        {
            "gold": [SPANS, SPANS, SPANS, None],
            "x": [SPANS, SPANS, SPANS, SPANS],
            "y": [SPANS, None, None, SPANS],
        },
        lengths=[9] * 4,
    )

    def test_a_ranking_counts_documents_and_not_pairs(self):
        ranking = rank(self.CORPUS, gold="gold")
        assert ranking.skipped == {"documents without the gold standard": 1}
        assert "documents without the gold standard (1)" in ranking.methods()
        assert_tells(str(ranking), "1 document … gold standard")
