"""Finding and labelling, and macro averages, on the command line."""

import csv
import io
import json

import pytest

from beyondchance import Corpus, agreement, example as the_example, labelling, rank, write
from beyondchance.cli.main import main
from refusals import assert_tells

OPTIONS = {"confidence": 0.9, "resamples": 99, "seed": 7}
FLAGS = ("--confidence", "0.9", "--resamples", "99", "--seed", "7")
TEAM = tuple(f"example/{name}.conll" for name in ("ada", "ben", "cleo"))
pytestmark = pytest.mark.usefixtures("example")


def run(capsys, *args):
    assert main(list(args)) == 0
    return capsys.readouterr()


def in_json(capsys, *args):
    return json.loads(run(capsys, *args, "--output", "json").out)


def ends(intervals):
    return {
        name: None if item.reason else [item.low, item.high] for name, item in intervals.items()
    }


def without_reasons(plain):
    return {name: value for name, value in plain.items() if name != "reasons"}


@pytest.mark.parametrize("measure", ["token", pytest.param("exact", marks=pytest.mark.slow)])
def test_parts_and_means_are_those_of_the_library(capsys, measure):
    found = in_json(capsys, "agree", *TEAM, "--measure", measure, *FLAGS)
    split, result = (
        labelling(the_example(), measure=measure),
        agreement(the_example(), measure=measure),
    )
    for name in ("finding", "labelling"):
        part = getattr(split, name)
        assert found[name]["corrected"] == part.corrected
        overall = part.intervals(**OPTIONS).overall
        assert without_reasons(found[name]["intervals"]) == ends(overall)
    for by in ("label", "document"):
        mean = result.macro(by)
        assert found["macro"][by]["corrected"] == mean.corrected
        assert found["macro"][by]["n_averaged"] == mean.n_averaged
        assert found["macro"][by]["intervals"] == ends(mean.intervals(**OPTIONS).overall)


def test_parts_and_means_are_rows_of_csv(capsys):
    text = run(capsys, "agree", *TEAM, *FLAGS, "--output", "csv").out
    rows = {(row["level"], row["name"]): row for row in csv.DictReader(io.StringIO(text))}
    split, result = labelling(the_example()), agreement(the_example())
    assert float(rows["finding", ""]["corrected"]) == split.finding.corrected
    assert float(rows["labelling", ""]["matched"]) == split.labelling.score.matched
    for by in ("label", "document"):
        assert float(rows["macro", by]["corrected"]) == result.macro(by).corrected
        assert float(rows["macro", by]["corrected_low"]) < result.macro(by).corrected


@pytest.mark.parametrize("measure", ["token", pytest.param("exact", marks=pytest.mark.slow)])
def test_what_two_and_all_of_a_team_support(capsys, measure):
    asked = ("agree", *TEAM, "--measure", measure)
    found = in_json(capsys, *asked, *FLAGS)["supported"]
    text = run(capsys, *asked, *FLAGS, "--output", "csv").out
    rows = {(row["level"], row["name"]): row for row in csv.DictReader(io.StringIO(text))}
    assert list(found) == ["2", "3"]
    for number, score in found.items():
        result = agreement(the_example(), support=int(number), measure=measure)
        assert score["corrected"] == result.corrected
        assert score["intervals"] == ends(result.intervals(levels=(), **OPTIONS).overall)
        assert float(rows["supported", number]["corrected"]) == result.corrected
    said = run(capsys, *asked).out
    assert "supported by at least 2" in said
    assert "supported by at least 3" in said


def test_what_is_supported_needs_teams_of_three_and_spans_apart(capsys):
    for flags in ("--measure dice", "--average annotation", "--annotators ada,ben"):
        assert "supported" not in in_json(capsys, "agree", *TEAM, *flags.split())
    spans = [[(0, 3, "P"), (1, 2, "P")]]
    write(Corpus.from_spans(dict.fromkeys("abc", spans), lengths=[9]), "nested.csv")
    out, told = run(capsys, "agree", "nested.csv")
    assert "supported" not in out
    assert_tells(told, "support … [0, 3) … [1, 2) … not to overlap")


def test_without_two_labels_or_with_other_measures_nothing_is_split(capsys):
    for flags in ("--scope unlabelled", "--labels PERSON", "--measure dice"):
        found = in_json(capsys, "agree", *TEAM, *flags.split())
        assert "finding" not in found, flags
        assert found["macro"]["document"]["n_averaged"] == 12


def test_over_annotators_means_have_no_intervals(capsys):
    found = in_json(capsys, "agree", *TEAM, *FLAGS, "--over", "annotators")
    assert "intervals" in found["finding"]
    assert "intervals" not in found["macro"]["label"]


def test_spans_that_overlap_across_labels_under_a_strict_model_are_not_split(capsys):
    spans = {"a": [[(0, 4, "secretP"), (2, 6, "L")]], "b": [[(0, 4, "secretP"), (2, 6, "L")]]}
    corpus = Corpus.from_spans(spans, lengths=[9], documents=["d"])
    write(corpus, "spans.csv", format="table")
    args = ("agree", "spans.csv", "--length", "9", "--model", "disjoint")
    found = in_json(capsys, *args)
    assert "finding" not in found
    (note,) = [note for note in found["notes"] if note.startswith("no split")]
    assert "secretP" in note
    assert "secretP" not in "".join(in_json(capsys, *args, "--no-text")["notes"])


def test_a_single_document_with_a_single_label_has_no_table_of_parts(capsys):
    corpus = Corpus.from_spans({"a": [[(0, 2, "P")]], "b": [[(0, 2, "P")]]}, lengths=[9])
    write(corpus, "spans.csv", format="table")
    text = run(capsys, "agree", "spans.csv", "--length", "9").out
    assert "parts and means" not in text


def test_what_is_not_in_a_mean_is_said(capsys):
    full, one = [(0, 9, "P")], [(0, 2, "P")]
    corpus = Corpus.from_spans({"a": [full, one, one], "b": [full, one, one]}, lengths=[9] * 3)
    write(corpus, "spans.csv", format="table")
    text = " ".join(run(capsys, "agree", "spans.csv", "--length", "9").out.split())
    assert_tells(text, "mean of 2 documents … Not in the means: 1 document")


@pytest.mark.slow
def test_systems_have_means(capsys):
    found = in_json(capsys, "rank", *TEAM, *FLAGS)
    ranking = rank(the_example(), gold="ada")
    for row in found["systems"]:
        for by in ("label", "document"):
            mean = ranking.systems[row["name"]].macro(by)
            assert row["macro"][by]["corrected"] == mean.corrected
            assert row["macro"][by]["intervals"] == ends(mean.intervals(**OPTIONS).overall)
    text = run(capsys, "rank", *TEAM, "--output", "csv").out
    (cleo, *_) = csv.DictReader(io.StringIO(text))
    assert float(cleo["macro_label"]) == ranking.systems["cleo"].macro("label").corrected


def test_what_a_team_supports_is_no_part_of_a_whole_corpus(capsys):
    found = run(capsys, "agree", *TEAM, "--unit", "corpus")
    assert "supported by" not in found.out
    assert_tells(found.err, "no share that several support … --unit corpus")
