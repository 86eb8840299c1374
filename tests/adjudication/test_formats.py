"""Every format that is written: read, adjudicated by the command, written, and read again."""

from __future__ import annotations

import json
from collections.abc import Sequence
from pathlib import Path
from typing import Any

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io.writing import WRITTEN
from deciding import decided_for, file_of, marks
from every_format import EXAMPLES, FORMATS, Annotations
from refusals import assert_tells

TEXTS = {
    "1": "Mia 😀 Lund met Bo Li in Oslo , said Bo .",
    "2": "The fair of Rome opened 🎉 🎉 when Ada Berg came home to Rome",
    "3": "Nothing to see here today",
}
SPANS = {
    ("1", "anna"): [(0, 3, "PER"), (4, 6, "PER"), (7, 8, "LOC")],
    ("1", "ben"): [(2, 3, "PER"), (4, 6, "PER"), (7, 8, "LOC"), (10, 11, "PER")],
    ("2", "anna"): [(0, 4, "EVENT"), (8, 10, "PER"), (13, 14, "LOC")],
    ("2", "ben"): [(1, 2, "EVENT"), (3, 4, "LOC"), (8, 9, "PER"), (13, 14, "LOC")],
    ("3", "anna"): [(3, 5, "EVENT")],
    ("3", "ben"): [],
}
DATA = Annotations({name: [text] for name, text in TEXTS.items()}, SPANS)
ONE_FILE = {"label-studio": "gold.json", "prodigy": "gold.jsonl", "bioc": "gold.xml"}
SAVED = ONE_FILE | {
    "table": "gold.csv",
    "conll": "gold.conll",
    "doccano": "gold.jsonl",
    "spacy": "gold.spacy",
}
"""Where each format is written; the others write folders."""
VARIANTS = [(name, one.__name__) for name in WRITTEN for one in FORMATS[name]]
OTHERS = {one.__name__ for name in WRITTEN for one in FORMATS[name][1:]} | {"spacy"}
"""Other variants of formats, and those that load a large library."""


def in_turn(cases: Sequence[tuple[str, ...]]) -> list[Any]:
    """Cases whose last part is a variant, as parameters of a test."""
    return [
        pytest.param(*case, marks=pytest.mark.slow if case[-1] in OTHERS else ()) for case in cases
    ]


def given(variant: str, folder: Path) -> tuple[list[str], dict[str, str]]:
    example = EXAMPLES[variant](DATA)
    options = {k: str(folder / v) if v in example.files else v for k, v in example.options.items()}
    return [str(path) for path in example.saved(folder)], options


def only(found: bc.Corpus) -> str:
    (name,) = found.annotators
    return name


@pytest.mark.parametrize(("form", "variant"), in_turn(VARIANTS))
def test_gold_is_written_as_it_was_read(
    form: str, variant: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files, options = given(variant, tmp_path / "given")
    corpus = bc.read(*files, **options)
    assert sorted(corpus.annotators) == ["anna", "ben"]
    flags = [
        part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", value)
    ]
    # One or the other is right, in turn.
    who = ("anna", "ben")[VARIANTS.index((form, variant)) % 2]
    Path("decisions.json").write_text(
        json.dumps(file_of(corpus, decided_for(corpus, who))), "utf-8"
    )
    place = SAVED.get(form, "gold/")
    call = ["adjudicate", *files, *flags, "--decisions", "decisions.json", "--rest", "refuse"]
    assert main([*call, "--save", place, "--to", form, "--quiet"]) == 0
    again = bc.read(*written(form, place), **reading(corpus, options))
    assert marks(again, only(again)) == marks(corpus, who)
    if corpus.texts is not None and again.texts is not None:
        assert again.texts == corpus.texts
    if corpus.span_id is not None and again.span_id is not None:
        # Those of a span that both have are the first one's.
        known, own = (ids(found) for found in (corpus, again))
        assert own.keys() <= known.keys()
        # Two annotators' may clash, and are given anew then.
        is_first = who == corpus.annotators[0]
        assert all(own[span] <= known[span] for span in own if is_first)


def ids(corpus: bc.Corpus) -> dict[tuple[int, ...], set[str]]:
    """The identifiers of each span, whoever marked it."""
    found: dict[tuple[int, ...], set[str]] = {}
    assert corpus.span_id is not None
    for i, name in enumerate(corpus.span_id):
        found.setdefault((int(corpus.span_text[i]), *corpus.span(i)), set()).add(name)
    return found


def written(form: str, place: str) -> list[str]:
    """What is read again: for formats of folders, the one of the gold standard."""
    return [place] if form in SAVED else sorted(str(path) for path in Path(place).iterdir())


def reading(corpus: bc.Corpus, options: dict[str, str]) -> dict[str, str]:
    """How the gold standard is read: as the files were, but for where columns are."""
    known = {k: v for k, v in options.items() if k not in {"documents", "columns"}}
    return known | {"unit": corpus.unit, "positions": corpus.positions}


@pytest.mark.parametrize("form", in_turn([(name,) for name in WRITTEN]))
def test_the_format_of_the_files_is_the_default(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files, options = given(FORMATS[form][0].__name__, tmp_path / "given")
    corpus = bc.read(*files, **options)
    flags = [
        part for key, value in options.items() for part in (f"--{key.replace('_', '-')}", value)
    ]
    place = SAVED.get(form, "gold/")
    assert main(["consensus", *files, *flags, "--save", place, "--ties", "keep", "--quiet"]) == 0
    again = bc.read(*written(form, place), **reading(corpus, options))
    assert {item.format for item in again.inputs} == {form}
    assert marks(again, only(again)) == marks(bc.consensus(corpus).corpus, "consensus")


@pytest.mark.parametrize("form", ["label-studio", "doccano", "prodigy"])
def test_disagreements_are_tasks(
    form: str, tmp_path: Path, monkeypatch: pytest.MonkeyPatch
) -> None:
    monkeypatch.chdir(tmp_path)
    files, _ = given(FORMATS[form][0].__name__, tmp_path / "given")
    place = SAVED[form]
    call = ["disagreements", *files, "--to", form, "--kind", "label,boundary,both", "--quiet"]
    assert main([*call, "--save", place]) == 0
    content = Path(place).read_text("utf-8")
    tasks = (
        json.loads(content)
        if form == "label-studio"
        else list(map(json.loads, content.splitlines()))
    )
    assert len(tasks) == 2  # nobody differs from somebody in the third document
    assert "anna: PER Mia 😀 Lund | ben: PER Lund" in json.dumps(tasks, ensure_ascii=False)
    if form == "label-studio":
        assert [x["model_version"] for x in tasks[0]["predictions"]] == ["anna", "ben", "consensus"]
        assert not any(task.get("annotations") for task in tasks)


def test_nothing_to_decide(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, _ = given("label_studio", tmp_path)
    call = ["disagreements", *files, "--to", "label-studio", "--label", "LOC", "--kind", "label"]
    assert main([*call, "--save", str(tmp_path / "x.json")]) == 1
    assert "no disagreement" in capsys.readouterr().err
    assert main(["disagreements", *files, "--to", "brat"]) == 2
    assert_tells(capsys.readouterr().err, "--to … --save")


def test_many_ties_are_asked_about(tmp_path: Path, capsys: pytest.CaptureFixture[str]) -> None:
    files, _ = given("label_studio", tmp_path)
    place = tmp_path / "x.json"
    assert main(["consensus", *files, "--save", str(place), "--quiet"]) == 1
    assert_tells(capsys.readouterr().err, "6 … 9 … ties … --ties")
    assert not place.exists()
    assert main(["consensus", *files, "--save", str(place), "--quiet", "--ties", "drop"]) == 0
    assert_tells(capsys.readouterr().out, "3 documents with fewer than three annotators")
    assert len(bc.read(place).span_start) == 3
