"""Decisions in the table of places that ``disagreements --by place`` saves."""

import csv
import io

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from each import each
from every_format import as_csv, workbook
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")
SPANS = [
    ["document", "annotator", "start", "end", "label", "text"],
    ["a", "x", 0, 3, "PER", "Ada sat in Rome"],
    ["a", "x", 11, 15, "LOC", ""],
    ["a", "y", 0, 7, "PER", ""],
    ["b", "x", 0, 3, "PER", "Bob ran"],
    ["b", "y", 0, 3, "LOC", ""],
]


@pytest.fixture
def folder(tmp_path, monkeypatch):
    (tmp_path / "spans.csv").write_bytes(as_csv(SPANS))
    monkeypatch.chdir(tmp_path)
    asked = ["disagreements", "spans.csv", "--positions", "characters", "--by", "place"]
    assert main([*asked, "--save", "places.csv"]) == 0
    return tmp_path


def decided(folder, *decisions, name="decided.csv", **changed):
    """Fill in the three places, in reading order."""
    rows = list(csv.DictReader(io.StringIO((folder / "places.csv").read_text("utf-8"))))
    assert [row["decision"] for row in rows] == [""] * 3
    for row, decision in zip(rows, decisions, strict=True):
        row |= {"decision": decision, **changed}
    listed = [[*rows[0]], *([*row.values()] for row in rows)]
    is_book = name.endswith(".xlsx")
    (folder / name).write_bytes(workbook(Places=listed) if is_book else as_csv(listed))
    return folder / name


def gold(folder, *decisions, **changed):
    corpus = bc.read(folder / "spans.csv")
    return bc.adjudicated(corpus, decided(folder, *decisions, **changed))


@each("first", ["y", "by y", "0-7 PER: Ada sat", "0-7 PER"])
def test_what_can_be_filled_in(folder, first):
    found = gold(folder, first, "11-13 LOC, 14-15 LOC: e", "nothing")
    assert found.spans("a", "gold") == [(0, 7, "PER"), (11, 13, "LOC"), (14, 15, "LOC")]
    assert found.spans("b", "gold") == []
    assert (found.n_decided, found.n_places) == (3, 3)
    choices = [decision.choice for decision in found.decisions]
    assert choices == ["version" if first[-1] == "y" else "edited", "edited", "nothing"]


def test_empty_cells_decide_nothing(folder):
    found = gold(folder, "", "x", "")
    assert found.n_decided == 1
    assert (11, 15, "LOC") in found.spans("a", "gold")


def test_the_command(folder, capsys):
    path = decided(folder, "y", "nothing", "x")
    asked = ["adjudicate", "spans.csv", "--positions", "characters", "--decisions", path.name]
    assert main([*asked, "--save", "gold.csv"]) == 0
    assert "3 of 3" in capsys.readouterr().out
    made = bc.read(folder / "gold.csv")
    assert made.spans("a", "gold") == [(0, 7, "PER")]
    assert made.spans("b", "gold") == [(0, 3, "PER")]


def test_a_workbook(folder):
    pytest.importorskip("python_calamine")
    assert gold(folder, "y", "nothing", "x", name="decided.xlsx").n_decided == 3


def test_two_people(folder):
    one, other = decided(folder, "x", "", ""), decided(folder, "", "", "y", name="b.csv")
    corpus = bc.read(folder / "spans.csv")
    assert bc.adjudicated(corpus, [one, other]).n_decided == 2
    with refused(bc.DataError, "'a' … [0, 7): … 1"):
        bc.adjudicated(corpus, [one, decided(folder, "y", "", "", name="c.csv")])


@each(
    ("decision", "kind", "told"),
    [
        ("LOC", bc.FormatError, "decided.csv:4: … 'LOC'"),
        ("0-9 PER", bc.FormatError, "decided.csv:4: … [0, 3)"),
        ("z", bc.FormatError, "decided.csv:4: … 'z'"),
    ],
)
def test_no_decisions(folder, decision, kind, told):
    with refused(kind, told):
        gold(folder, "", "", decision)


@each(
    ("changed", "kind", "told"),
    [
        ({"document": "q"}, bc.MismatchError, "decided.csv:2: … 'q'"),
        ({"start": "x"}, bc.FormatError, "decided.csv:2: …"),
        ({"end": "99"}, bc.MismatchError, "decided.csv:2: … 99"),
        ({"signature": "?"}, bc.OptionError, "'?'"),
    ],
)
def test_changed_rows(folder, changed, kind, told):
    with refused(kind, told):
        gold(folder, "x", "x", "x", **changed)


def test_other_positions(folder):
    corpus = bc.read(folder / "spans.csv", positions="tokens")
    with refused(bc.MismatchError, "'characters' … 'tokens'", use="positions"):
        bc.adjudicated(corpus, decided(folder, "x", "x", "x"))


def test_nothing_is_decided(folder):
    with refused(bc.FormatError, "places.csv: … decision"):
        bc.adjudicated(bc.read(folder / "spans.csv"), folder / "places.csv")


def test_another_table(folder):
    with refused(bc.FormatError, "spans.csv:1: … 'annotator' … decision"):
        bc.adjudicated(bc.read(folder / "spans.csv"), folder / "spans.csv")
