"""Below the score: what it is by document and by characters."""

import json

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from each import each

pytestmark = pytest.mark.usefixtures("example")
FILES = [f"example/{name}.conll" for name in ("ada", "ben", "cleo")]


def told(capsys, *asked):
    assert main(["agree", *FILES, "--quiet", *asked]) == 0
    lines = capsys.readouterr().out.splitlines()
    return [line for line in lines if line.startswith("Counted otherwise")]


@each("asked", [{}, {"measure": "exact"}, {"scope": "joint"}])
def test_it_is_what_reading_anew_gives(capsys, asked):
    (line,) = told(capsys, *(f"--{name}={value}" for name, value in asked.items()))
    by_document = bc.agreement(*FILES, unit="document", **asked).corrected
    by_characters = bc.agreement(*FILES, positions="characters", **asked).corrected
    assert f"{by_document:.4f} by document" in line
    assert f"{by_characters:.4f} by characters" in line


def test_only_what_is_another_count(capsys):
    (line,) = told(capsys, "--unit", "document")
    assert "by document" not in line
    (line,) = told(capsys, "--positions", "characters")
    assert "by characters" not in line
    assert not told(capsys, "--unit", "document", "--positions", "characters")
    assert not told(capsys, "--no-text", "--unit", "document")


def test_json_has_it(capsys):
    assert main(["agree", *FILES, "--quiet", "--output", "json"]) == 0
    found = json.loads(capsys.readouterr().out)["otherwise"]
    assert found["document"] == bc.agreement(*FILES, unit="document").corrected
    assert found["characters"] == bc.agreement(*FILES, positions="characters").corrected


def test_not_where_spans_cut_tokens(capsys, example):
    rows = ["document,annotator,start,end,label,text", "a,x,0,2,P,Adas sat", "a,y,0,4,P,"]
    (example / "t.csv").write_text("\n".join(rows) + "\n", encoding="utf-8")
    assert main(["agree", "t.csv", "--quiet"]) == 0
    assert "Counted otherwise" not in capsys.readouterr().out
