"""Files that are counted in parts, on the command line."""

from __future__ import annotations

import json
import shutil
from concurrent.futures import ThreadPoolExecutor
from pathlib import Path

import pytest

from beyondchance import DataError, agreement, scan
from beyondchance.cli import scanning as large
from beyondchance.cli.main import main
from beyondchance.io import scanning
from large_tables import parquet, separated, spans_table
from refusals import assert_tells, refused

WHOLE_ONLY = {"finding", "labelling"}


@pytest.fixture(scope="module")
def tables(tmp_path_factory):
    """The same table twice, in a few parts each."""
    folder = tmp_path_factory.mktemp("tables")
    rows = spans_table(3, 14, has_gaps=True)
    parquet(folder / "a.parquet", rows, 20)
    separated(folder / "a.csv", rows)
    return folder


@pytest.fixture(autouse=True)
def files(tables, tmp_path, monkeypatch):
    """The tables in a folder to work in."""
    monkeypatch.chdir(tmp_path)
    monkeypatch.setattr(scanning, "ROWS_OF_PIECE", 20)
    monkeypatch.setattr(scanning, "AT_A_TIME", 1500)
    for path in tables.iterdir():
        shutil.copy(path, tmp_path)


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
    two = without(in_json(capsys, *args, "--save-counts", "x.counts"), WHOLE_ONLY)
    assert len(scanning.pieces_of(scanning.scan(args[1]))) > 1
    if "notes" in one:
        said = [note for note in two["notes"] if "finding and labelling" not in str(note)]
        two["notes"] = said
        assert sorted(map(str, one.pop("notes"))) == sorted(map(str, two.pop("notes")))
    assert one == two
    return two


@pytest.mark.slow
@pytest.mark.parametrize(
    "command",
    [
        ("agree", "a.parquet"),
        pytest.param(
            ("agree", "a.csv", "--confidence", "0.9", "--resamples", "99", "--by", "genre"),
            marks=pytest.mark.slow,
        ),
        ("rank", "a.parquet", "--gold", "ada", "--by", "label"),
        pytest.param(
            ("rank", "a.parquet", "--gold", "ada", "--confidence", "0.9", "--resamples", "99"),
            marks=pytest.mark.slow,
        ),
        ("difficulty", "a.parquet"),
        ("difficulty", "a.csv", "--gold", "ben"),
    ],
)
def test_parts_give_what_all_at_once_gives(capsys, command):
    same(capsys, *command)


@pytest.mark.slow
def test_workers_give_what_all_at_once_gives(capsys):
    names = {*WHOLE_ONLY, "notes"}
    words = ("rank", "a.parquet", "--gold", "ada")
    one = without(in_json(capsys, *words), names)
    for workers in ("2", "auto"):
        assert without(in_json(capsys, *words, "--workers", workers), names) == one


@pytest.mark.parametrize(
    "options",
    [
        pytest.param("--labels PER,0 --empty missing", marks=pytest.mark.slow),
        "--exclude-labels PER --measure exact --scope unlabelled",
        pytest.param("--rename-label PER=0", marks=pytest.mark.slow),
        pytest.param("--rename-label PER=X --labels X,0", marks=pytest.mark.slow),
        pytest.param("--annotators ada,ben", marks=pytest.mark.slow),
        pytest.param("--pseudonyms", marks=pytest.mark.slow),
        "--gold ben --pseudonyms",
    ],
)
def test_choices_in_parts(capsys, options):
    found = same(capsys, "agree", "a.csv" if "gold" in options else "a.parquet", *options.split())
    assert "signature" in found


def test_labels_that_occur_nowhere(capsys):
    for option in ("--labels", "--exclude-labels"):
        words = ("agree", "a.parquet", option, "PER,NONE")
        assert "'NONE'" in refusal(capsys, *words)
        assert "'NONE'" in refusal(capsys, *words, "--save-counts", "x.counts")


def test_what_needs_all_documents(capsys):
    for option in ("--null", "--coefficients kappa"):
        said = refusal(capsys, "agree", "a.parquet", *option.split(), "--workers", "2")
        assert_tells(said, f"{option.split()[0]} … --workers")


@pytest.mark.slow
def test_no_cluster(capsys):
    said = refusal(capsys, "agree", "a.parquet", "--dask", "tcp://127.0.0.1:9")
    assert_tells(said, "Dask … 'tcp://127.0.0.1:9'")


@pytest.mark.slow
def test_shares_that_are_saved_add_up(capsys):
    whole = in_json(capsys, "agree", "a.parquet", "--save-counts", "x.counts")
    for i in (1, 2):
        in_json(capsys, "agree", "a.parquet", "--part", f"{i}/2", "--save-counts", f"{i}.counts")
    found = in_json(capsys, "agree", "2.counts", "1.counts")
    names = {"notes", "inputs"}
    assert without(found, names) == without(whole, names)


def test_saved_counts_and_a_choice_of_labels(capsys):
    whole = in_json(capsys, "agree", "a.parquet", "--labels", "PER,0")
    in_json(capsys, "agree", "a.parquet", "--labels", "PER,0", "--save-counts", "x.counts")
    found = in_json(capsys, "agree", "x.counts")
    names = {*WHOLE_ONLY, "notes"}
    assert without(found, names) == without(whole, names)
    assert_tells(refusal(capsys, "agree", "x.counts", "--null"), "--null … counts")
    for option in ("--rename-annotator a=b", "--labels PER", "--annotators a,b", "--length 9"):
        said = refusal(capsys, "agree", "x.counts", *option.split())
        assert_tells(said, f"{option.split()[0]} … annotations … counts")


def test_a_share_without_documents_adds_nothing(capsys):
    Path("few.csv").write_text("document,annotator,label,start,end\n1,a,P,0,2\n1,b,P,1,2\n")
    words = ("agree", "few.csv", "--length", "9")
    whole = in_json(capsys, *words)
    for i in (1, 2, 3):
        assert main([*words, "--part", f"{i}/3", "--save-counts", f"{i}.counts", "--quiet"]) == 0
    assert_tells(capsys.readouterr().err, "no document … 1/3 … 2/3")
    found = in_json(capsys, "agree", "1.counts", "2.counts", "3.counts")
    names = {*WHOLE_ONLY, "notes", "inputs"}
    assert without(found, names) == without(whole, names)
    with refused(DataError, "part 1/3"):
        agreement(scan("few.csv", length=9), part="1/3")


def test_a_share_must_be_saved(capsys):
    assert "--save-counts" in refusal(capsys, "agree", "a.parquet", "--part", "1/3")
    said = refusal(capsys, "agree", "a.parquet", "--part", "7", "--save-counts", "x.counts")
    assert_tells(said, "part … 7")


def test_the_client_of_a_cluster_is_closed(capsys, monkeypatch):
    closed = []

    class Client(ThreadPoolExecutor):
        def close(self):
            self.shutdown()
            closed.append(self)

    monkeypatch.setattr(large, "_client", lambda _: Client(1))
    words, names = ("agree", "a.parquet"), {*WHOLE_ONLY, "notes"}
    found = in_json(capsys, *words, "--dask", "tcp://127.0.0.1:9")
    assert without(found, names) == without(in_json(capsys, *words), names)
    assert len(closed) == 1
    refusal(capsys, *words, "--labels", "NONE", "--dask", "tcp://127.0.0.1:9")
    assert len(closed) == 2


def test_large_tables_are_read_in_parts_unless_an_option_needs_all(capsys, monkeypatch):
    """Agreement is not split into finding and labelling where a file is read in parts."""
    rows = [f"{d},{who},{d % 3},{d % 3 + 2},{'PQ'[d % 2]},9" for d in range(6) for who in "ab"]
    Path("b.csv").write_text("\n".join(["document,annotator,start,end,label,length", *rows, ""]))

    def is_in_parts(*words):
        return "labelling" not in in_json(capsys, "agree", "b.csv", *words)

    assert not is_in_parts()
    monkeypatch.setattr(large, "LARGE", 1)
    assert is_in_parts()
    assert not is_in_parts("--unit", "corpus")


def test_compressed_tables_count_as_what_they_hold(capsys, monkeypatch):
    for name, is_large in (("a.csv", False), ("a.parquet", True)):
        monkeypatch.setattr(large, "LARGE", 2 * Path(name).stat().st_size)
        assert ("labelling" not in in_json(capsys, "agree", name)) == is_large, name
