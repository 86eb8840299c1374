"""Intervals, tests, null distributions and plans on the command line."""

import csv
import io
import json

import numpy as np
import pytest

from beyondchance import (
    Corpus,
    Settings,
    agreement,
    compare_systems,
    difficulty,
    example,
    null_distribution,
    plan,
    rank,
    write,
)
from beyondchance.cli.main import main

OPTIONS = {"confidence": 0.9, "resamples": 499, "seed": 7}
FLAGS = ("--confidence", "0.9", "--resamples", "499", "--seed", "7", "--quiet")


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch, capsys):
    """The example's files in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    assert main(["demo", "--quiet", "--files", "example"]) == 0
    capsys.readouterr()


TEAM = tuple(f"example/{name}.conll" for name in ("ada", "ben", "cleo"))


def run(capsys, *args):
    assert main(list(args)) == 0
    return capsys.readouterr()


def in_json(capsys, *args):
    return json.loads(run(capsys, *args, "--output", "json").out)


def ends(scores):
    return {name: [item.low, item.high] for name, item in scores.items()}


@pytest.mark.parametrize("command", ["agree", "rank", "difficulty"])
def test_options_of_intervals_that_nobody_asked_for(capsys, command):
    assert main([command, *TEAM, "--interval-method", "expanded"]) == 2
    message = "--interval-method is for intervals; pass --confidence 0.95 as well"
    assert message in capsys.readouterr().err


def tagged(*spans):
    """One sentence of ten tokens, with these one-token spans."""
    return ["B-P" if place in spans else "O" for place in range(10)]


class TestRankedOnDifferentDocuments:
    """The worse of two systems has easier documents only."""

    @pytest.fixture
    def found(self, capsys):
        easy, hard = [tagged(1, 5)] * 10, [tagged(2, 7)] * 30
        tags = {
            "gold": [*easy, *hard],
            "careful": [*easy, *([tagged(4, 8)] * 30)],
            "lucky": [*([tagged(1, 6)] * 10), *([None] * 30)],
        }
        corpus = Corpus.from_tags(tags, documents=[f"d{number}" for number in range(40)])
        write(corpus, "all.csv", format="table")
        call = ("rank", "all.csv", "--gold", "gold", "--empty", "missing", *FLAGS)
        return " ".join(run(capsys, *call).out.split())

    def test_the_other_order_on_shared_documents_is_said(self, found):
        assert "On the 10 documents that all have, careful is ahead of lucky" in found


class TestAgree:
    def test_every_score_has_the_intervals_of_the_library(self, capsys):
        found = in_json(capsys, "agree", *TEAM, *FLAGS, "--by", "season")
        corpus = example()
        expected = agreement(corpus).intervals(by=["season"], **OPTIONS)
        exact = agreement(corpus, measure="exact").intervals(**OPTIONS)
        assert found["intervals"] == ends(expected.overall)
        assert found["measures"]["token"]["intervals"] == ends(expected.overall)
        assert found["measures"]["exact"]["intervals"] == ends(exact.overall)
        for name, scores in expected.by_label.items():
            assert found["labels"][name]["intervals"] == ends(scores)
        for pair in found["pairs"]:
            assert pair["intervals"] == ends(expected.by_pair[pair["a"], pair["b"]])
        for name, item in found["annotators"].items():
            assert item["intervals"] == ends(expected.by_annotator[name])
            assert item["without"]["intervals"] == ends(expected.without[name])
        for name, item in found["groups"]["season"].items():
            assert item["intervals"] == ends(expected.by_field["season"][name])
        uncertainty = found["uncertainty"]
        effective = expected.overall["corrected"].effective
        assert uncertainty == {
            "confidence": 0.9, "method": "expanded", "resamples": None, "seed": None,
            "over": "documents", "units": 12, "effective_units": pytest.approx(effective),
        }  # fmt: skip
        drawn = in_json(capsys, "agree", *TEAM, *FLAGS, "--interval-method", "bca")
        expected = agreement(example()).intervals(**OPTIONS, method="bca")
        assert drawn["intervals"] == ends(expected.overall)
        made = drawn["uncertainty"]
        assert (made["method"], made["resamples"], made["seed"]) == ("bca", 499, 7)

    def test_the_signature_has_the_seed(self, capsys):
        found = in_json(capsys, "agree", *TEAM, *FLAGS, "--interval-method", "percentile")
        settings = Settings.parse(found["signature"])
        assert (settings.seed, settings.resamples, settings.confidence) == (7, 499, 0.9)
        assert (settings.interval_method, settings.over) == ("percentile", "documents")

    def test_without_confidence_nothing_changes(self, capsys):
        found = in_json(capsys, "agree", *TEAM, "--quiet", "--seed", "7")
        assert "intervals" not in found
        assert "uncertainty" not in found
        assert Settings.parse(found["signature"]).seed is None

    def test_the_same_seed_gives_the_same_digits(self, capsys):
        calls = [("agree", *TEAM, *FLAGS, "--null"), ("rank", *TEAM, *FLAGS)]
        for call in calls:
            assert run(capsys, *call).out == run(capsys, *call).out
        other = run(capsys, "agree", *TEAM, *FLAGS, "--null", "--seed", "8").out
        assert other != run(capsys, *calls[0]).out

    def test_sampled_chance_has_the_same_seed(self, capsys):
        measure = ("--measure", "iou", "--theta", "0.3", "--samples", "20")
        found = in_json(capsys, "agree", *TEAM, *FLAGS, *measure, "--null")
        settings = Settings.parse(found["signature"])
        assert (settings.seed, settings.samples, settings.resamples) == (7, 20, 499)
        expected = agreement(example(), measure="iou", theta=0.3, samples=20, seed=7)
        assert found["chance"] == expected.chance
        assert found["null_distribution"]["mean"] == expected.chance
        own = expected.interval(confidence=0.9, resamples=499)
        assert found["intervals"]["corrected"] == [own.low, own.high]
        # Without a seed both begin at 0.
        found = in_json(capsys, "agree", *TEAM, *measure, "--confidence", "0.9", "--quiet")
        assert Settings.parse(found["signature"]).seed == 0

    def test_what_is_drawn_is_signed(self, capsys):
        def signed(*flags):
            found = Settings.parse(in_json(capsys, "agree", *TEAM, *FLAGS, *flags)["signature"])
            return found.interval_method, found.resamples, found.seed

        assert signed() == ("expanded", None, None)
        assert signed("--null") == ("expanded", 499, 7)
        assert signed("--interval-method", "bca") == ("bca", 499, 7)

    def test_csv_has_both_ends(self, capsys):
        out = run(capsys, "agree", *TEAM, *FLAGS, "--output", "csv").out
        rows = list(csv.DictReader(io.StringIO(out)))
        expected = agreement(example()).intervals(**OPTIONS)
        assert float(rows[0]["corrected_low"]) == expected.overall["corrected"].low
        labels = {row["name"]: row for row in rows if row["level"] == "label"}
        assert float(labels["PLACE"]["chance_high"]) == expected.by_label["PLACE"]["chance"].high

    def test_few_documents_are_warned_of(self, capsys):
        args = ("agree", *TEAM, "--confidence", "0.9")
        found = run(capsys, *args, "--resamples", "199", "--interval-method", "bca")
        assert "which --interval-method expanded allows for" in found.err
        said = "* fewer than 30 effective documents: the interval is probably too narrow"
        assert said in " ".join(found.out.split())
        found = run(capsys, *args)
        assert "interval" not in found.err
        assert "too narrow" not in found.out

    def test_very_few_documents_are_warned_of(self, capsys):
        spans = {"a": [[(0, 2, "P")]] * 4, "b": [[(0, 1 + n % 2, "P")] for n in range(4)]}
        write(Corpus.from_spans(spans, lengths=[9] * 4), "spans.csv", format="table")
        found = run(capsys, "agree", "spans.csv", "--confidence", "0.9")
        assert "as well as from 4 documents; take it as a rough guide" in found.err
        said = "* fewer than 5 effective documents: the interval is a rough guide."
        assert said in " ".join(found.out.split())

    def test_sentences_are_said_to_be_drawn(self, capsys, tmp_path):
        tags = [["B-P", "O", "O"], ["O", "B-P", "O"], ["B-P", "I-P", "O"], ["O", "O", "B-P"]]
        other = [["B-P", "O", "O"], ["O", "B-P", "O"], ["B-P", "O", "O"], ["O", "B-P", "O"]]
        for name, side in (("anna", tags), ("ben", other)):
            text = "\n".join("".join(f"w {tag}\n" for tag in sentence) for sentence in side)
            (tmp_path / f"{name}.conll").write_text(text)
        out = run(capsys, "agree", "anna.conll", "ben.conll", *FLAGS).out
        assert "Intervals: 90 %, expanded (Student's t, jackknife of 4 sentences)." in out
        assert "so each sentence counts as one" in " ".join(out.split())

    def test_reasons(self, capsys):
        spans = {
            "a": [[(0, 2, "P"), (4, 5, "L")], *[[(0, 2, "P")]] * 5],
            "b": [[(1, 3, "P"), (4, 6, "L")], *[[(0, 1 + n % 2, "P")] for n in range(5)]],
        }
        write(Corpus.from_spans(spans, lengths=[9] * 6), "spans.csv", format="table")
        found = in_json(capsys, "agree", "spans.csv", *FLAGS)
        assert found["labels"]["L"]["intervals"] == {
            **dict.fromkeys(("observed", "chance", "corrected")),
            "reasons": dict.fromkeys(
                ("observed", "chance", "corrected"), "without one of the documents it is undefined"
            ),
        }
        text = " ".join(run(capsys, "agree", "spans.csv", *FLAGS).out.split())
        assert "No interval for L: without one of the documents it is undefined." in text

    def test_over_annotators(self, capsys):
        found = in_json(capsys, "agree", *TEAM, *FLAGS, "--over", "annotators")
        expected = agreement(example()).intervals(over="annotators", **OPTIONS)
        assert found["intervals"] == ends(expected.overall)
        assert found["uncertainty"]["over"] == "annotators"
        assert "intervals" not in found["pairs"][0]

    def test_pairs_whose_names_run_together(self, capsys):
        #   'a' with 'b and c', and 'a and b' with 'c', are both "a and b and c".
        rng = np.random.default_rng(1)
        names = ("a", "a and b", "b and c", "c")
        spans = {
            name: [[(s, s + 2, "P")] for s in rng.integers(0, 3 + 2 * i, 8).tolist()]
            for i, name in enumerate(names)
        }
        corpus = Corpus.from_spans(spans, lengths=list(range(12, 20)))
        write(corpus, "spans.csv", format="table")
        expected = agreement(corpus).intervals(**OPTIONS).by_pair
        wanted = expected["a", "b and c"], expected["a and b", "c"]
        assert wanted[0] != wanted[1]
        found = in_json(capsys, "agree", "spans.csv", *FLAGS)
        for pair in found["pairs"]:
            assert pair["intervals"] == ends(expected[pair["a"], pair["b"]])
        out = run(capsys, "agree", "spans.csv", *FLAGS, "--output", "csv").out
        rows = [row for row in csv.DictReader(io.StringIO(out)) if row["level"] == "pair"]
        for row in rows:
            assert float(row["observed_low"]) == expected[row["a"], row["b"]]["observed"].low
        text = run(capsys, "agree", "spans.csv", *FLAGS).out
        shown = [line for line in text.splitlines() if line.startswith("a and b and c ")]
        for line, item in zip(shown, wanted, strict=True):
            assert f"{item['corrected'].low:.4f} to {item['corrected'].high:.4f}" in line

    @pytest.mark.parametrize("method", ["bca", "expanded"])
    @pytest.mark.parametrize(
        ("over", "drawn"),
        [("annotators", "3 annotators"), ("both", "12 documents and 3 annotators")],
    )
    def test_few_annotators_are_warned_of(self, capsys, over, drawn, method):
        found = run(
            capsys, "agree", *TEAM, *FLAGS[:-1], "--over", over, "--interval-method", method
        )
        text, noted = " ".join(found.out.split()), " ".join(found.err.split())
        if method == "bca":
            assert f"499 resamples of {drawn}, seed 7" in text
            said = "the interval: it is over 3 annotators; with fewer than 10 it is too narrow"
            assert f"{said}, which --interval-method expanded allows for" in noted
            assert "* fewer than 10 annotators: the interval is too narrow; --interval" in text
        else:
            assert f"jackknife of {drawn})" in text
            unlike = "does not allow for annotators who are unlike these"
            assert f"it is over 3 annotators; with fewer than 10 it {unlike}" in noted
            assert f"* fewer than 10 annotators: the interval {unlike}." in text

    def test_null(self, capsys):
        found = in_json(capsys, "agree", *TEAM, *FLAGS[2:], "--null", "--by", "document")
        expected = null_distribution(example(), resamples=499, seed=7)
        null = found["null_distribution"]
        assert null == {
            "mean": found["chance"],
            "sd": expected.sd,
            "sd_is": "exact",
            "quantiles": {str(share): value for share, value in expected.quantiles.items()},
            "p_value": 1 / 500,
            "p_error": expected.p_error,
        }
        for name, item in found["documents"].items():
            assert item["null_distribution"]["p_value"] == expected.by_document[name].p_value
        assert Settings.parse(found["signature"]).seed == 7
        text = run(capsys, "agree", *TEAM, *FLAGS[2:], "--null", "--measure", "exact").out
        assert "standard deviation 0.01" in " ".join(text.split())
        assert "sampled)" in text

    @pytest.mark.parametrize(
        ("flags", "message"),
        [
            (("--confidence", "95"), "95.0 is not in the range 0<x<1"),
            (("--resamples", "7"), "7 is not in the range 99<=x<=10000000"),
            (("--seed", "-1"), "-1 is not in the range x>=0"),
            (("--interval-method", "bcaa"), "did you mean 'bca'?"),
        ],
    )
    def test_wrong_options(self, capsys, flags, message):
        assert main(["agree", *TEAM, *flags]) == 2
        assert message in capsys.readouterr().err


class TestRank:
    def test_systems_are_compared_as_the_library_does(self, capsys):
        found = in_json(capsys, "rank", *TEAM, *FLAGS)
        ranking = rank(example(), gold="ada")
        expected = compare_systems(ranking, **OPTIONS)
        assert [item["name"] for item in found["systems"]] == list(expected.order)
        for item in found["systems"]:
            name = item["name"]
            assert item["intervals"] == ends(expected.intervals[name])
            labels = ranking.systems[name].intervals(**OPTIONS).by_label
            for label, score in item["labels"].items():
                assert score["intervals"] == ends(labels[label])
        best, last = found["systems"]
        p = expected.adjusted["cleo", "ben"]
        assert (best["p_best"], best["p_next"]) == (None, p)
        assert (last["p_best"], last["p_next"]) == (p, None)
        pair = expected.pairs["cleo", "ben"]
        assert found["comparisons"] == [
            {
                "a": "cleo", "b": "ben", "difference": pair.difference,
                "interval": [pair.interval.low, pair.interval.high], "p_value": pair.p_value,
                "p_error": pair.p_error, "p_adjusted": p, "n_documents": 12,
            }
        ]  # fmt: skip
        assert found["groups"] == [["cleo", "ben"]]

    def test_differences_from_few_documents_are_shown_with_a_star(self, capsys):
        found = run(capsys, "rank", *TEAM, *FLAGS[:-1], "--interval-method", "bca")
        standings = compare_systems(rank(example(), gold="ada"), **OPTIONS, method="bca")
        pair = standings.pairs["cleo", "ben"]
        assert pair.interval.caution.startswith(
            "its width is known only about as well as from 12 documents"
        )
        shown = [line.split() for line in found.out.splitlines() if line.startswith("cleo     ben")]
        low, high = f"{pair.interval.low:.4f}", f"{pair.interval.high:.4f}*"
        assert shown == [["cleo", "ben", f"{pair.difference:.4f}", low, "to", high]]
        said = "* fewer than 30 effective documents: the interval is probably too narrow"
        assert said in " ".join(found.out.split())
        assert "which --interval-method expanded allows for" in found.err

    def test_differences_without_an_interval_have_a_reason(self, capsys):
        self.overtaking(3, capsys)
        found = in_json(capsys, "rank", "systems.csv", "--gold", "gold", *FLAGS)["comparisons"][0]
        reason = "it is the same without any one of the documents, so its spread is unknown"
        assert (found["interval"], found["interval_reason"]) == (None, reason)
        text = " ".join(run(capsys, "rank", "systems.csv", "--gold", "gold", *FLAGS).out.split())
        said = "No interval for short, long and the difference between short and long"
        assert f"{said}: {reason}." in text

    def overtaking(self, n_documents, capsys):
        """The paper's fourth simulation, in so many documents."""
        five = [(0, 3, "P"), (5, 8, "P"), (10, 13, "P"), (15, 18, "P"), (20, 23, "P")]
        long = [(25, 41, "P")]
        sides = {"gold": five + long, "short": five, "long": long}
        spans = {name: [side] * n_documents for name, side in sides.items()}
        corpus = Corpus.from_spans(spans, lengths=[41] * n_documents)
        write(corpus, "systems.csv", format="table")
        args = ("rank", "systems.csv", "--gold", "gold", "--confidence", "0.95", "--quiet")
        found = in_json(capsys, *args)
        return found["overtakings"], " ".join(run(capsys, *args).out.split())

    def test_a_change_of_rank_that_is_not_significant_is_said_not_to_be(self, capsys):
        found, text = self.overtaking(3, capsys)
        assert found == [{"system": "short", "overtaken": "long", "significant": False}]
        assert "short overtakes long; the change is not significant (p = 0.2500)." in text
        assert "short and long do not differ significantly" in text

    def test_one_that_is(self, capsys):
        found, text = self.overtaking(9, capsys)
        assert found == [{"system": "short", "overtaken": "long", "significant": True}]
        assert "short overtakes long; the change is significant (p = 0.0039)." in text
        assert "all systems differ significantly" in text
        assert "in all ways" in text

    def test_one_system(self, capsys):
        found = in_json(capsys, "rank", *TEAM[:2], *FLAGS)
        assert found["comparisons"] == []
        assert found["systems"][0]["p_best"] is None
        assert "Tested" not in run(capsys, "rank", *TEAM[:2], *FLAGS).out

    def test_subsets_are_compared_too(self, capsys):
        found = in_json(capsys, "rank", *TEAM, *FLAGS, "--split-by-difficulty", "0.7")
        for subset in found["subsets"]:
            assert all("intervals" in item for item in subset["systems"])


@pytest.fixture
def contest(tmp_path):
    """Thirty sentences, in which one system finds every span and two find none."""
    places = {"gold": 0, "good": 0, "poor": 3, "same": 2}
    for name, place in places.items():
        tags = ("B-P" if token == place else "O" for token in range(4))
        sentence = "".join(f"word\t{tag}\n" for tag in tags)
        (tmp_path / f"{name}.conll").write_text(f"{sentence}\n" * 30)
    return [f"{name}.conll" for name in places]


class TestSmallestPValue:
    """A p-value that is the smallest its test can show is printed as a bound."""

    def test_of_systems(self, contest, capsys):
        call = ("rank", *contest, "--measure", "exact", *FLAGS)
        found = run(capsys, *call).out
        # Two tails of 499 permutations, and three pairs.
        row = next(line for line in found.splitlines() if line.startswith("good") and "<" in line)
        assert row.split()[-3:] == ["<", "0.0120", "a"]
        assert "(<: the smallest p-value that 499 permutations can show, adjusted)" in found
        plain = in_json(capsys, *call)
        assert plain["systems"][0]["p_next"] == pytest.approx(0.012)
        assert plain["comparisons"][0]["p_value"] == pytest.approx(0.004)
        table = run(capsys, *call, "--output", "markdown").out
        assert r"\< 0.0120 | a |" in table
        assert r"(\<: the smallest p-value that 499" in table

    def test_of_two_systems_nothing_is_adjusted(self, contest, capsys):
        found = run(capsys, "rank", *contest[:3], "--measure", "exact", *FLAGS).out
        assert "< 0.0040" in found
        assert "(<: the smallest p-value that 499 permutations can show)" in found

    def test_enumerated_ones_are_exact(self, contest, tmp_path, capsys):
        for file in contest:
            text = (tmp_path / file).read_text("utf-8")
            (tmp_path / file).write_text("\n\n".join(text.split("\n\n")[:5]) + "\n\n")
        found = run(capsys, "rank", *contest[:3], "--measure", "exact", *FLAGS).out
        assert "0.0625" in found
        assert "<" not in found
        assert "in all ways" in found

    def test_of_chance(self, contest, capsys):
        call = ("agree", *contest[:2], "--null", "--resamples", "499", "--quiet")
        found = " ".join(run(capsys, *call, "--by", "document", "--top", "2").out.split())
        smallest = "the smallest that 499 random annotations can show"
        said = f"p < 0.0020 ({smallest}) for agreement of 1.0000 or more under the chance model. A"
        assert said in found
        # A document of one sentence is often right by chance.
        assert "(<:" not in found
        assert in_json(capsys, *call)["null_distribution"]["p_value"] == pytest.approx(0.002)

    def test_a_larger_one_is_printed_with_its_error(self, contest, capsys):
        call = ("agree", contest[0], contest[2], "--null", "--resamples", "499", "--quiet")
        found = " ".join(run(capsys, *call).out.split())
        assert (
            "p = 1.0000 for agreement of 0.0000 or more under the chance model (± 0.0000" in found
        )


def test_difficulty(capsys):
    found = in_json(capsys, "difficulty", *TEAM, *FLAGS)
    expected = difficulty(example()).interval(**OPTIONS)
    assert found["intervals"] == {"difficulty": [expected.low, expected.high]}
    assert Settings.parse(found["signature"]).interval_method == "expanded"
    text = run(capsys, "difficulty", *TEAM, *FLAGS).out
    assert f"90 % interval of the difficulty: {expected.low:.4f} to {expected.high:.4f}." in text


class TestPlan:
    def test_as_the_library_plans(self, capsys):
        flags = ("--half-width", "0.03", "--confidence", "0.9", "--quiet")
        found = in_json(capsys, "plan", *TEAM, *flags)
        expected = plan(agreement(example()), 0.03, confidence=0.9)
        assert (found["documents"], found["low"], found["high"]) == (
            expected.documents, expected.low, expected.high,
        )  # fmt: skip
        assert [item["half_width"] for item in found["plans"]] == [0.03, 0.1, 0.05, 0.02, 0.01]
        assert found["pilot"]["spread"] == expected.spread
        text = " ".join(run(capsys, "plan", *TEAM, *flags).out.split())
        assert f"For ± 0.03 it takes about {expected.documents} documents like these" in text

    def test_no_plan(self, capsys):
        same = {name: [[(0, 1, "P")]] * 5 for name in "ab"}
        write(Corpus.from_spans(same, lengths=[5] * 5), "spans.csv", format="table")
        found = in_json(capsys, "plan", "spans.csv", "--quiet")
        assert found["documents"] is None
        assert found["reason"].startswith("all documents of the pilot have the same influence")
        text = run(capsys, "plan", "spans.csv", "--quiet").out
        assert "The pilot does not show how many documents to annotate" in text

    def test_few_documents_are_warned_of(self, capsys):
        assert "plan again when more have been annotated" in run(capsys, "plan", *TEAM).err
