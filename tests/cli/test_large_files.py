"""Files that are counted in parts, on the command line."""

from __future__ import annotations

import json
import time

import pytest

from beyondchance.cli.main import main
from beyondchance.io import scanning
from large_tables import parquet, separated, spans_table

WHOLE_ONLY = {"finding", "labelling"}


@pytest.fixture(autouse=True)
def files(tmp_path, monkeypatch):
    """A table of a dozen parts in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scanning, "ROWS_OF_PART", 20)
    parquet(tmp_path / "a.parquet", spans_table(3, 60, has_gaps=True), 7)
    separated(tmp_path / "a.csv", spans_table(3, 60, has_gaps=True))


def in_json(capsys, *args):
    code = main([*args, "--output", "json", "--quiet"])
    out, err = capsys.readouterr()
    assert code == 0, err
    return json.loads(out)


def without(plain, names):
    """The same without some keys, at any depth."""
    if isinstance(plain, dict):
        return {key: without(item, names) for key, item in plain.items() if key not in names}
    return [without(item, names) for item in plain] if isinstance(plain, list) else plain


def refusal(capsys, *args):
    assert main([*args, "--quiet"]) != 0
    out, err = capsys.readouterr()
    assert not out
    assert "Traceback" not in err
    return err


def same(capsys, *args):
    """What is counted in parts and at once."""
    one = without(in_json(capsys, *args), WHOLE_ONLY)
    two = without(in_json(capsys, *args, "--keep-parts", "parts"), WHOLE_ONLY)
    if "notes" in one:
        said = [note for note in two["notes"] if "finding and labelling" not in str(note)]
        two["notes"] = said
        assert sorted(map(str, one.pop("notes"))) == sorted(map(str, two.pop("notes")))
    assert one == two
    return two


@pytest.mark.parametrize(
    "command",
    [
        ("agree", "a.parquet"),
        ("agree", "a.csv", "--confidence", "0.9", "--resamples", "99", "--by", "genre"),
        ("rank", "a.parquet", "--gold", "ada", "--by", "label"),
        ("rank", "a.parquet", "--gold", "ada", "--confidence", "0.9", "--resamples", "99"),
        ("difficulty", "a.parquet"),
        ("difficulty", "a.csv", "--gold", "ben"),
    ],
)
def test_parts_give_what_all_at_once_gives(capsys, command):
    same(capsys, *command)


@pytest.mark.parametrize("command", [("agree",), ("rank", "--gold", "ada"), ("difficulty",)])
def test_workers_give_what_all_at_once_gives(capsys, command):
    name, *rest = command
    names = {*WHOLE_ONLY, "notes"}
    one = without(in_json(capsys, name, "a.parquet", *rest), names)
    assert without(in_json(capsys, name, "a.parquet", *rest, "--workers", "2"), names) == one


@pytest.mark.parametrize(
    "options",
    [
        ("--pseudonyms",),
        ("--labels", "PER,0"),
        ("--exclude-labels", "PER"),
        ("--rename-label", "PER=0"),
        ("--rename-label", "PER=X", "--labels", "X,0"),
        ("--annotators", "ada,ben"),
        ("--gold", "ada"),
        ("--gold", "ada", "--pseudonyms"),
        ("--measure", "exact", "--scope", "unlabelled"),
        ("--empty", "missing"),
    ],
)
def test_choices_in_parts(capsys, options):
    found = same(capsys, "agree", "a.parquet", *options)
    assert "signature" in json.dumps(found)


@pytest.mark.parametrize("option", ["--labels", "--exclude-labels"])
def test_labels_that_occur_nowhere(capsys, option):
    whole = refusal(capsys, "agree", "a.parquet", option, "PER,NONE")
    found = refusal(capsys, "agree", "a.parquet", option, "PER,NONE", "--workers", "2")
    assert "'NONE'" in whole
    assert "'NONE'" in found


@pytest.mark.parametrize(
    "option",
    [("--null",), ("--coefficients", "kappa"), ("--sensitivity",)],
    ids=lambda item: item[0],
)
def test_what_needs_all_documents(capsys, option):
    said = refusal(capsys, "agree", "a.parquet", *option, "--workers", "2")
    assert "needs all documents at once, and --workers counts parts" in said


def test_no_cluster(capsys):
    begin = time.monotonic()
    said = refusal(capsys, "agree", "a.parquet", "--dask", "tcp://127.0.0.1:9")
    assert "no cluster of Dask at 'tcp://127.0.0.1:9'" in said
    assert time.monotonic() - begin < 15


def test_shares_that_are_saved_add_up(capsys):
    whole = in_json(capsys, "agree", "a.parquet", "--keep-parts", "parts")
    for i in (1, 2, 3):
        in_json(capsys, "agree", "a.parquet", "--part", f"{i}/3", "--save-counts", f"{i}.counts")
    found = in_json(capsys, "agree", "3.counts", "1.counts", "2.counts")
    names = {"notes", "inputs"}
    assert without(found, names) == without(whole, names)


def test_saved_counts_and_a_choice_of_labels(capsys):
    whole = in_json(capsys, "agree", "a.parquet", "--labels", "PER,0")
    in_json(capsys, "agree", "a.parquet", "--labels", "PER,0", "--save-counts", "x.counts")
    found = in_json(capsys, "agree", "x.counts")
    names = {*WHOLE_ONLY, "notes"}
    assert without(found, names) == without(whole, names)
    assert "saved counts" in refusal(capsys, "agree", "x.counts", "--null")


def test_a_share_must_be_saved(capsys):
    assert "--save-counts" in refusal(capsys, "agree", "a.parquet", "--part", "1/3")
    said = refusal(capsys, "agree", "a.parquet", "--part", "7", "--save-counts", "x.counts")
    assert "such as 3/100" in said
