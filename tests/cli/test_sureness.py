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
    example as the_example,
    null_distribution,
    plan,
    rank,
    trend,
    write,
)
from beyondchance.cli.main import main
from beyondchance.results import agreement as agreement_module
from beyondchance.scoring import answers
from refusals import assert_tells

OPTIONS = {"confidence": 0.9, "resamples": 499, "seed": 7}
FLAGS = ("--confidence", "0.9", "--resamples", "499", "--seed", "7", "--quiet")
FEW = ("--confidence", "0.9", "--resamples", "99", "--seed", "7", "--quiet")


TEAM = tuple(f"example/{name}.conll" for name in ("ada", "ben", "cleo"))
pytestmark = pytest.mark.usefixtures("example")


def run(capsys, *args):
    assert main(list(args)) == 0
    return capsys.readouterr()


def in_json(capsys, *args):
    return json.loads(run(capsys, *args, "--output", "json").out)


def ends(scores):
    return {name: [item.low, item.high] for name, item in scores.items()}


def test_options_of_intervals_that_nobody_asked_for(capsys):
    for command in ("agree", "rank", "difficulty"):
        assert main([command, *TEAM, "--interval-method", "expanded"]) == 2
        assert_tells(capsys.readouterr().err, "--interval-method … --confidence 0.95")


def test_intervals_of_what_is_shown(capsys, monkeypatch):
    rng = np.random.default_rng(1)
    crowd = {
        f"p{i}": [[(int(s), int(s) + 4, "P")] for s in rng.integers(0, 4, 12)] for i in range(7)
    }
    write(Corpus.from_spans(crowd, lengths=[20] * 12), "crowd.csv")
    n_levels = []
    intervals_of = agreement_module.intervals_of

    def watched(rows, *given, **more):
        n_levels.append(len(rows.levels))
        return intervals_of(rows, *given, **more)

    monkeypatch.setattr(agreement_module, "intervals_of", watched)
    call = ("agree", "crowd.csv", "--confidence", "0.9", "--quiet", "--top", "3")
    text = run(capsys, *call).out
    # All, a label, 15 of 21 pairs (as many as the table of a paper has), and seven annotators
    # with the team without each; by the other measure, and of what two and seven support, overall.
    assert n_levels == [1 + 1 + 15 + 7 + 7, 1, 1, 1]
    assert "The 3 lowest of 21." in text
    n_levels.clear()
    pairs = in_json(capsys, *call)["pairs"]
    assert n_levels == [1 + 1 + 21 + 7 + 7, 1, 1, 1]
    assert all("intervals" in pair for pair in pairs)
    lowest = sorted((pair["corrected"], *pair["intervals"]["corrected"]) for pair in pairs)[:3]
    for score, low, high in lowest:
        row = next(line for line in text.splitlines() if f" {score:.4f} " in line)
        assert f"{low:.4f} to {high:.4f}" in row


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

    @pytest.mark.usefixtures("by_characters")
    def test_the_other_order_on_shared_documents_is_said(self, found):
        assert_tells(found, "On the 10 sentences … careful is ahead of lucky")


class TestAgree:
    @pytest.mark.slow
    def test_every_score_has_the_intervals_of_the_library(self, capsys):
        found = in_json(capsys, "agree", *TEAM, *FLAGS, "--by", "season")
        corpus = the_example()
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
        expected = agreement(the_example()).intervals(**OPTIONS, method="bca")
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

    @pytest.mark.slow
    def test_the_same_seed_gives_the_same_digits(self, capsys):
        for command in (("agree", "--null"), ("rank", "--measure", "exact")):
            call = (*command, *TEAM[: 2 + (command[0] == "rank")], *FEW)
            found = run(capsys, *call).out
            assert run(capsys, *call).out == found
            assert run(capsys, *call, "--seed", "8").out != found

    @pytest.mark.slow
    def test_sampled_chance_has_the_same_seed(self, capsys):
        measure = ("--measure", "iou", "--theta", "0.3", "--samples", "20")
        found = in_json(capsys, "agree", *TEAM, *FEW, *measure, "--null")
        settings = Settings.parse(found["signature"])
        assert (settings.seed, settings.samples, settings.resamples) == (7, 20, 99)
        expected = agreement(the_example(), measure="iou", theta=0.3, samples=20, seed=7)
        assert found["chance"] == expected.chance
        assert found["null_distribution"]["mean"] == expected.chance
        own = expected.interval(confidence=0.9, resamples=99)
        assert found["intervals"]["corrected"] == [own.low, own.high]
        # Without a seed both begin at 0.
        found = in_json(capsys, "agree", *TEAM, *measure, "--confidence", "0.9", "--quiet")
        assert Settings.parse(found["signature"]).seed == 0

    @pytest.mark.slow
    def test_what_is_drawn_is_signed(self, capsys):
        def signed(*flags):
            found = Settings.parse(in_json(capsys, "agree", *TEAM, *FEW, *flags)["signature"])
            return found.interval_method, found.resamples, found.seed

        assert signed() == ("expanded", None, None)
        assert signed("--null") == ("expanded", 99, 7)
        assert signed("--interval-method", "bca") == ("bca", 99, 7)

    @pytest.mark.slow
    def test_csv_has_both_ends(self, capsys):
        out = run(capsys, "agree", *TEAM, *FLAGS, "--output", "csv").out
        rows = list(csv.DictReader(io.StringIO(out)))
        expected = agreement(the_example()).intervals(**OPTIONS)
        assert float(rows[0]["corrected_low"]) == expected.overall["corrected"].low
        labels = {row["name"]: row for row in rows if row["level"] == "label"}
        assert float(labels["PLACE"]["chance_high"]) == expected.by_label["PLACE"]["chance"].high

    @pytest.mark.slow
    def test_few_documents_are_warned_of(self, capsys):
        args = ("agree", *TEAM, "--confidence", "0.9")
        found = run(capsys, *args, "--resamples", "99", "--interval-method", "bca")
        assert "--interval-method expanded" in found.err
        assert_tells(
            " ".join(found.out.split()), "* the least certain … fewer than 30 … too narrow"
        )
        found = run(capsys, *args)
        assert "interval" not in found.err
        assert "too narrow" not in found.out

    def test_very_few_documents_are_warned_of(self, capsys):
        spans = {"a": [[(0, 2, "P")]] * 4, "b": [[(0, 1 + n % 2, "P")] for n in range(4)]}
        write(Corpus.from_spans(spans, lengths=[9] * 4), "spans.csv", format="table")
        found = run(capsys, "agree", "spans.csv", "--confidence", "0.9")
        assert_tells(found.err, "4 documents … rough guide")
        assert_tells(" ".join(found.out.split()), "* the least certain … rough guide")

    def test_sentences_are_said_to_be_drawn(self, capsys, tmp_path):
        tags = [["B-P", "O", "O"], ["O", "B-P", "O"], ["B-P", "I-P", "O"], ["O", "O", "B-P"]]
        other = [["B-P", "O", "O"], ["O", "B-P", "O"], ["B-P", "O", "O"], ["O", "B-P", "O"]]
        for name, side in (("anna", tags), ("ben", other)):
            text = "\n".join("".join(f"w {tag}\n" for tag in sentence) for sentence in side)
            (tmp_path / f"{name}.conll").write_text(text)
        out = run(capsys, "agree", "anna.conll", "ben.conll", *FLAGS).out
        assert_tells(" ".join(out.split()), "90 %, expanded … 4 sentences … each sentence")

    def test_reasons(self, capsys):
        spans = {
            "a": [[(0, 2, "P"), (4, 5, "L")], *[[(0, 2, "P")]] * 5],
            "b": [[(1, 3, "P"), (4, 6, "L")], *[[(0, 1 + n % 2, "P")] for n in range(5)]],
        }
        write(Corpus.from_spans(spans, lengths=[9] * 6), "spans.csv", format="table")
        found = in_json(capsys, "agree", "spans.csv", *FLAGS)
        intervals = found["labels"]["L"]["intervals"]
        reasons = intervals.pop("reasons")
        assert intervals == dict.fromkeys(("observed", "chance", "corrected"))
        assert reasons.keys() == intervals.keys()
        (reason,) = {*reasons.values()}
        assert_tells(reason, "documents … undefined")
        text = " ".join(run(capsys, "agree", "spans.csv", *FLAGS).out.split())
        assert f"No interval for L: {reason}." in text

    def test_over_annotators(self, capsys):
        found = in_json(capsys, "agree", *TEAM, *FLAGS, "--over", "annotators")
        expected = agreement(the_example()).intervals(over="annotators", **OPTIONS)
        assert found["intervals"] == ends(expected.overall)
        assert found["uncertainty"]["over"] == "annotators"
        assert "intervals" not in found["pairs"][0]

    @pytest.mark.slow
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

    def test_few_annotators_are_warned_of(self, capsys):
        for method, over, drawn in (
            ("bca", "annotators", "3 annotators"),
            ("expanded", "both", "12 documents and 3 annotators"),
        ):
            words = ("--over", over, "--interval-method", method)
            found = run(capsys, "agree", *TEAM, *FEW[:-1], *words)
            text, noted = " ".join(found.out.split()), " ".join(found.err.split())
            assert_tells(noted, "over 3 annotators … fewer than 10")
            assert_tells(text, "* the least certain … annotators … fewer than 10")
            # What this method allows for, the other one does not.
            assert ("too narrow" in noted) == ("too narrow" in text) == (method == "bca")
            assert ("unlike" in noted) == ("unlike" in text) == (method == "expanded")
            is_drawn = f"99 resamples of {drawn}, seed 7" in text
            assert (is_drawn, f"jackknife of {drawn})" in text) == (
                method == "bca", method == "expanded",
            )  # fmt: skip
            assert ("--interval-method expanded" in noted) == (method == "bca")

    @pytest.mark.slow
    def test_null(self, capsys):
        found = in_json(capsys, "agree", *TEAM, *FLAGS[2:], "--null", "--by", "document")
        expected = null_distribution(the_example(), resamples=499, seed=7)
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

    def test_wrong_options(self, capsys):
        for flags, told in (
            ("--confidence 95", "95.0 … 0<x<1"),
            ("--resamples 7", "7 … 99<=x<=10000000"),
            ("--seed -1", "-1 … x>=0"),
            ("--interval-method bcaa", "'bcaa' … mean bca?"),
        ):
            assert main(["agree", *TEAM, *flags.split()]) == 2
            assert_tells(capsys.readouterr().err, f"{flags.split()[0]} … {told}")


class TestRank:
    def test_systems_are_compared_as_the_library_does(self, capsys):
        found = in_json(capsys, "rank", *TEAM, *FLAGS)
        ranking = rank(the_example(), gold="ada")
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
        standings = compare_systems(rank(the_example(), gold="ada"), **OPTIONS, method="bca")
        pair = standings.pairs["cleo", "ben"]
        assert "12 documents" in pair.interval.caution
        shown = [line.split() for line in found.out.splitlines() if line.startswith("cleo   ben")]
        low, high = f"{pair.interval.low:.4f}", f"{pair.interval.high:.4f}*"
        assert shown == [["cleo", "ben", f"{pair.difference:.4f}", low, "to", high]]
        assert_tells(
            " ".join(found.out.split()), "* the least certain … fewer than 30 … too narrow"
        )
        assert "--interval-method expanded" in found.err

    @pytest.mark.slow
    def test_differences_without_an_interval_have_a_reason(self, capsys):
        self.overtaking(3, capsys)
        found = in_json(capsys, "rank", "systems.csv", "--gold", "gold", *FLAGS)["comparisons"][0]
        assert found["interval"] is None
        reason = found["interval_reason"]
        assert_tells(reason, "documents … spread")
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
        assert_tells(text, "short overtakes long (p = 0.2500): not significant")

    def test_one_that_is(self, capsys):
        found, text = self.overtaking(9, capsys)
        assert found == [{"system": "short", "overtaken": "long", "significant": True}]
        assert_tells(text, "in all ways … short overtakes long (p = 0.0039): significant")

    @pytest.mark.slow
    def test_one_system(self, capsys):
        found = in_json(capsys, "rank", *TEAM[:2], *FLAGS)
        assert found["comparisons"] == []
        assert found["systems"][0]["p_best"] is None
        assert "Tested" not in run(capsys, "rank", *TEAM[:2], *FLAGS).out

    @pytest.mark.slow
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

    @pytest.mark.slow
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
    expected = difficulty(the_example()).interval(**OPTIONS)
    assert found["intervals"] == {"difficulty": [expected.low, expected.high]}
    assert Settings.parse(found["signature"]).interval_method == "expanded"
    text = run(capsys, "difficulty", *TEAM, *FLAGS).out
    assert f"{expected.low:.4f} to {expected.high:.4f}" in text


class TestPlan:
    def test_as_the_library_plans(self, capsys):
        flags = ("--half-width", "0.03", "--confidence", "0.9", "--quiet")
        found = in_json(capsys, "plan", *TEAM, *flags)
        expected = plan(agreement(the_example()), 0.03, confidence=0.9)
        assert (found["documents"], found["low"], found["high"]) == (
            expected.documents, expected.low, expected.high,
        )  # fmt: skip
        assert [item["half_width"] for item in found["plans"]] == [0.03, 0.1, 0.05, 0.02, 0.01]
        assert found["pilot"]["spread"] == expected.spread
        text = " ".join(run(capsys, "plan", *TEAM, *flags).out.split())
        assert f"For ± 0.03 it takes {expected.documents} documents like these" in text

    def test_no_plan(self, capsys):
        same = {name: [[(0, 1, "P")]] * 5 for name in "ab"}
        write(Corpus.from_spans(same, lengths=[5] * 5), "spans.csv", format="table")
        found = in_json(capsys, "plan", "spans.csv", "--quiet")
        assert found["documents"] is None
        assert_tells(found["reason"], "pilot … same")
        text = " ".join(run(capsys, "plan", "spans.csv", "--quiet").out.split())
        assert_tells(text, f"pilot … {found['reason']}")

    def test_few_documents_are_warned_of(self, capsys):
        assert_tells(run(capsys, "plan", *TEAM).err, "10 documents … fewer than 30")

    def test_options_of_the_other_plan_are_refused(self, capsys):
        replaced = ("--replace", "cleo", "--margin", "0.05")
        for given in (("--half-width", "0.03"), ("--score", "observed"), ("--model", "nested")):
            assert main(["plan", *TEAM, *replaced, *given]) == 2
            assert_tells(capsys.readouterr().err, f"{given[0]} … --replace")
        assert main(["plan", *TEAM, "--power", "0.9"]) == 2
        assert_tells(capsys.readouterr().err, "--power … --replace")


class TestTrend:
    """Rounds of ten documents, of which the second is worse; seasons are in no order."""

    @pytest.fixture
    def rounds(self, example):  # noqa: ARG002 - in its folder
        rng = np.random.default_rng(5)
        a = [[(x, x + 1, "P") for x in (0, 4, 8)] for _ in range(20)]
        b = [[s for s in spans if rng.random() < 0.95 - i // 10 / 2] for i, spans in enumerate(a)]
        fields = {
            "round": [str(1 + i // 10) for i in range(20)],
            "season": ["spring" if i < 10 else "autumn" for i in range(20)],
        }
        corpus = Corpus.from_spans({"ada": a, "ben": b}, lengths=[12] * 20, fields=fields)
        write(corpus, "rounds.csv", format="table")
        return corpus

    @pytest.mark.parametrize("parts", [(), ("--workers", "1")])
    def test_as_the_library_tests_it(self, capsys, rounds, parts):
        call = ("agree", "rounds.csv", "--by", "round", "--quiet", *parts)
        found = in_json(capsys, *call)["trends"]
        expected = trend(agreement(rounds), "round")
        names = ("slope", "error", "freedom", "p_value", "needed", "n_documents", "n_left_out")
        assert {name: found["round"][name] for name in names} == {
            name: getattr(expected, name) for name in names
        }
        text = " ".join(run(capsys, *call).out.split())
        assert f"changes by {expected.slope:+.4f} a step (p = {expected.p_value:.4f})" in text
        assert f"about {expected.needed} documents like these for each" in text

    def test_an_order_of_one_s_own(self, capsys, rounds):
        call = ("agree", "rounds.csv", "--by", "season")
        assert "trends" not in in_json(capsys, *call, "--quiet")
        found = in_json(capsys, *call, "--order", "spring,autumn", "--quiet")["trends"]
        assert found["season"]["slope"] == trend(agreement(rounds), "round").slope
        assert main([*call, "--order", "spring,summer"]) == 2
        assert_tells(capsys.readouterr().err, "'autumn' … once")
        for by in ((), ("--by", "document"), ("--by", "season", "--by", "round")):
            assert main(["agree", "rounds.csv", *by, "--order", "spring,autumn"]) == 2
            assert_tells(capsys.readouterr().err, "--order … --by")

    def test_why_there_is_none(self, capsys):
        call = ("agree", *TEAM, "--by", "season", "--order", "spring,summer,autumn")
        assert_tells(run(capsys, *call).err, "no trend … 'season' … effective … 'spring' … 4")
        assert "spring" not in run(capsys, *call, "--no-text").err

    @pytest.mark.usefixtures("rounds")
    def test_many_documents_read_in_parts(self, capsys, monkeypatch):
        monkeypatch.setattr(answers, "MOST_DOCUMENTS", 8)
        call = ("agree", "rounds.csv", "--workers", "1", "--by", "round")
        assert_tells(run(capsys, *call).err, "no trend … 'round' … in parts … one by one")
