"""Names of annotators and files: given, changed, and hidden.

Under ``--pseudonyms`` the name of every annotator and of every file holds the mark, and no
label, document or text does. So the mark in what a command shows or writes is a name that
got out.
"""

import io
import json
import random
import re
from dataclasses import replace
from itertools import cycle
from pathlib import Path

import numpy as np
import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io import naming, scanning
from beyondchance.io.naming import short_names
from beyondchance.reporting.rendering import LIST_OUTPUTS, OUTPUTS
from deciding import decided_for, file_of
from every_format import EXAMPLES, Annotations, brat, conll, lines
from mutation import places, replaced
from refusals import assert_tells, refused

MARK = "Kanaria"
ADA, BEN = f"{MARK}Ada", f"{MARK}Ben"
DATA = Annotations(
    {
        "1": ["Zoe met Max in Bonn.", "They saw Rome later."],
        "doc2": ["Anna is in Paris now.", "Max is not."],
    },
    {
        ("1", ADA): [(0, 1, "PER"), (2, 3, "PER"), (4, 5, "LOC")],
        ("1", BEN): [(0, 1, "PER"), (4, 5, "LOC"), (7, 8, "LOC")],
        ("doc2", ADA): [(0, 1, "PER"), (3, 4, "LOC")],
        ("doc2", BEN): [(0, 1, "LOC"), (3, 4, "LOC")],
    },
)
COMMANDS = [
    ["agree", "--by", "document", "--confidence", "0.95", "--coefficients", "alpha,kappa"],
    ["rank", "--gold", ADA],
    ["rank", "--gold", ADA, "--confidence", "0.95", "--output", "json"],
    ["difficulty", "--output", "json"],
    ["difficulty", "--gold", BEN],
    ["disagreements", "--output", "json"],
    ["convert", "--to", "table"],
    ["agree", "--annotators", f"{ADA},{BEN}", "--output", "json"],
    ["plan"],
]


@pytest.fixture
def run(capsys, tmp_path, monkeypatch):
    """Run a command in a folder of its own: exit code, what it printed, and the messages."""
    monkeypatch.chdir(tmp_path)

    def runner(*arguments, given=b""):
        stdin = io.TextIOWrapper(io.BytesIO(given))
        monkeypatch.setattr("sys.stdin", stdin)
        code = main(list(map(str, arguments)))
        captured = capsys.readouterr()
        return code, captured.out, captured.err

    return runner


def tags(*rows):
    return "\n".join(f"{word} {tag}" for word, tag in rows) + "\n"


ONE = tags(("Zoe", "B-PER"), ("met", "O"), ("Max", "B-PER"), (".", "O"))
TWO = tags(("Zoe", "B-PER"), ("met", "O"), ("Max", "O"), (".", "O"))


@pytest.fixture
def files(tmp_path):
    for name in ("a", "g", "a=b"):
        (tmp_path / f"{name}.conll").write_text(ONE)
    (tmp_path / "b.conll").write_text(TWO)
    return tmp_path


def annotators(out):
    """The annotators of a result, which is JSON."""
    return list(json.loads(out)["annotators"])


def prodigy(*people):
    return lines(
        {
            "text": "Zoe met Max.",
            "_input_hash": 1,
            "_task_hash": number,
            "_annotator_id": f"set-{person}",
            "_session_id": f"set-{person}",
            "spans": [{"start": 0, "end": 3, "label": "PER"}],
            "answer": "accept",
        }
        for number, person in enumerate(people)
    )


# --- NAME=FILE ----------------------------------------------------------------


@pytest.mark.usefixtures("files")
class TestNamedFiles:
    def test_annotators_have_the_names_given(self, run):
        code, out, _ = run("agree", "Ada L=a.conll", "ben=b.conll", "--output", "json")
        assert (code, annotators(out)) == (0, ["Ada L", "ben"])

    def test_a_file_whose_own_name_has_an_equals_sign(self, run):
        code, out, _ = run("agree", "a=b.conll", "b.conll", "--output", "json")
        assert (code, annotators(out)) == (0, ["a=b", "b"])
        code, out, _ = run("agree", "ada=a=b.conll", "b.conll", "--output", "json")
        assert (code, annotators(out)) == (0, ["ada", "b"])

    def test_neither_a_file_nor_a_name(self, run):
        for word in ("=b.conll", "ada=", " ada=b.conll"):
            code, _, err = run("agree", "a.conll", word)
            assert code == 2
            assert_tells(err, f"'{word}' … NAME=FILE")

    def test_a_named_file_that_is_not_there(self, run):
        code, _, err = run("agree", "ada=nowhere.conll", "b.conll")
        assert code == 1
        assert err.startswith("beyondchance: nowhere.conll: ")

    def test_two_files_of_one_name(self, run):
        code, _, err = run("agree", "ada=a.conll", "ada=b.conll")
        assert code == 2
        assert_tells(err, "two files … 'ada'")

    def test_one_file_under_two_names(self, run):
        code, _, err = run("agree", "ada=a.conll", "ben=a.conll")
        assert code == 2
        assert_tells(err, "a.conll … twice")

    def test_the_name_of_another_file(self, run):
        code, out, _ = run("agree", "a=b.conll", "a.conll", "--output", "json")
        assert code == 0
        assert annotators(out)[0] == "a=b"  # there is a file of that name

    def test_a_stream(self, run):
        given = ONE.encode()
        code, out, _ = run("agree", "ada=-", "b.conll", "--output", "json", given=given)
        assert (code, annotators(out)) == (0, ["ada", "b"])
        code, _, err = run("agree", "ada=-", "-", given=given)
        assert code == 2
        assert_tells(err, "standard input … twice")

    def test_a_gold_standard(self, run):
        words = ["rank", "a.conll", "b.conll", "--gold", "truth=g.conll", "--output", "json"]
        code, out, _ = run(*words)
        assert (code, json.loads(out)["gold"]) == (0, "truth")

    def test_a_gold_standard_among_the_files(self, run):
        words = ["rank", "a.conll", "b.conll", "--gold", "truth=a.conll", "--output", "json"]
        code, out, _ = run(*words)
        assert (code, json.loads(out)["gold"]) == (0, "truth")
        assert [system["name"] for system in json.loads(out)["systems"]] == ["b"]

    def test_the_first_file_of_a_ranking(self, run):
        code, out, _ = run("rank", "truth=g.conll", "sys=b.conll", "--output", "json")
        assert (code, json.loads(out)["gold"]) == (0, "truth")
        code, _, err = run("rank", "truth=-", "b.conll", given=ONE.encode())
        assert code == 2
        assert_tells(err, "standard input … gold standard")

    def test_a_gold_standard_that_is_not_there(self, run):
        code, _, err = run("rank", "a.conll", "b.conll", "--gold", "truth=x.conll")
        assert code == 1
        assert_tells(err, "gold standard … 'truth=x.conll' … annotators")

    def test_no_result_is_written_over_a_named_file(self, run, files):
        code, _, err = run("agree", "ada=a.conll", "b.conll", "--save", "a.conll")
        assert code == 2
        assert_tells(err, "a.conll … input")
        code, _, err = run("rank", "b.conll", "--gold", "x=g.conll", "--save", "g.conll")
        assert code == 2
        assert (files / "a.conll").read_text() == (files / "g.conll").read_text() == ONE

    def test_the_only_annotator_of_a_file_is_renamed(self, run, files):
        (files / "one.jsonl").write_bytes(prodigy("user"))
        (files / "two.jsonl").write_bytes(prodigy("user"))
        code, out, _ = run("agree", "ada=one.jsonl", "ben=two.jsonl", "--output", "json")
        assert (code, annotators(out)) == (0, ["ada", "ben"])

    def test_one_name_for_several_annotators(self, run, files):
        (files / "team.jsonl").write_bytes(prodigy("ada", "ben"))
        code, _, err = run("agree", "ada=team.jsonl")
        assert code == 1
        assert_tells(err, "team.jsonl: … 2 … ada' … ben' … one name")

    def test_a_table_has_names_of_its_own(self, run, files):
        head = "document,annotator,start,end,label\n"
        (files / "one.csv").write_text(f"{head}d,user,0,3,PER\n")
        (files / "two.csv").write_text(f"{head}d,user,0,2,PER\n")
        words = ["agree", "x=one.csv", "y=two.csv", "--length", "20", "--output", "json"]
        code, out, err = run(*words)
        assert (code, annotators(out)) == (0, ["x", "y"])
        (files / "one.csv").write_text(f"{head}d,ada,0,3,PER\nd,ben,0,3,PER\n")
        code, out, err = run(*words)
        assert code == 1
        assert_tells(err, "one.csv: … 2 … ('ada', 'ben')")


# --- --rename-annotator -------------------------------------------------------


@pytest.mark.usefixtures("files")
class TestRenaming:
    def test_new_names_are_everywhere(self, run):
        words = ["agree", "a.conll", "b.conll", "--rename-annotator", "a=Ada Lovelace"]
        code, out, err = run(*words, "--output", "json")
        assert (code, annotators(out)) == (0, ["Ada Lovelace", "b"])
        code, out, err = run(*words, "--annotators", "Ada Lovelace,b")
        assert code == 0
        assert out.startswith("Agreement of Ada Lovelace and b ")
        assert ", a:" not in err

    def test_a_gold_standard_by_its_old_and_new_name(self, run):
        for name in ("a", "ada"):
            words = ["rank", "a.conll", "b.conll", "--rename-annotator", "a=ada", "--gold", name]
            code, out, _ = run(*words, "--output", "json")
            assert (code, json.loads(out)["gold"]) == (0, "ada")

    def test_annotators_by_their_old_and_new_names(self, run):
        words = ["a.conll", "b.conll", "g.conll", "--rename-annotator", "a=ada"]
        for names in ("a,b", "ada,b", "b,ada"):
            code, out, _ = run("agree", *words, "--annotators", names, "--output", "json")
            assert (code, annotators(out)) == (0, ["ada", "b"]), names

    def test_names_can_be_exchanged(self, run):
        words = ["--rename-annotator", "a=b", "--rename-annotator", "b=a", "--output", "json"]
        code, out, _ = run("agree", "a.conll", "b.conll", *words)
        assert (code, annotators(out)) == (0, ["b", "a"])

    def test_two_who_share_a_document_cannot_become_one(self, run):
        code, _, err = run("agree", "a.conll", "b.conll", "--rename-annotator", "a=b")
        assert code == 1
        assert_tells(err, "two annotators … 'b'")

    def test_two_who_share_no_document_become_one(self, run, files):
        rows = "d1,x,0,3,PER\nd2,y,0,3,PER\nd1,z,0,3,PER\nd2,z,0,3,PER\n"
        (files / "t.csv").write_text(f"document,annotator,start,end,label\n{rows}")
        words = ["agree", "t.csv", "--length", "9", "--empty", "missing", "--output", "json"]
        code, out, _ = run(*words, "--rename-annotator", "x=xy", "--rename-annotator", "y=xy")
        assert (code, annotators(out)) == (0, ["xy", "z"])

    def test_one_who_is_not_there(self, run):
        code, _, err = run("agree", "a.conll", "b.conll", "--rename-annotator", "x=y")
        assert code == 1
        assert "'x'" in err

    def test_two_names_for_one(self, run):
        words = ["--rename-annotator", "a=x", "--rename-annotator", "a=y"]
        code, _, err = run("agree", "a.conll", "b.conll", *words)
        assert code == 2
        assert_tells(err, "--rename-annotator … twice")


# --- E-mail addresses and paths -----------------------------------------------


def test_names_of_addresses_stay_distinct():
    names = ["ada", "ada@x.org", "ada@y.org", "ben@x.org", "ada 2", "no@address", "@x.org"]
    assert short_names(names) == {
        "ada@x.org": "ada 3",
        "ada@y.org": "ada 4",
        "ben@x.org": "ben",
    }


def test_many_of_one_name_are_numbered_once_each(monkeypatch):
    calls = []
    sub = naming._ADDRESS.sub

    class Counted:
        search = naming._ADDRESS.search

        @staticmethod
        def sub(*given):
            calls.append(given)
            return sub(*given)

    monkeypatch.setattr(naming, "_ADDRESS", Counted)
    found = short_names(f"ada@{i}.org" for i in range(500))
    assert list(found.values()) == ["ada", *(f"ada {i}" for i in range(2, 501))]
    assert len(calls) == 2 * 500 - 1


class TestAddresses:
    @pytest.fixture(autouse=True)
    def _table(self, tmp_path):
        people = ["ada@example.org", "ben@example.org", "ben@example.com"]
        rows = "".join(f"d,{person},0,3,PER\n" for person in people)
        (tmp_path / "t.csv").write_text(f"document,annotator,start,end,label\n{rows}")
        for person in people[:2]:
            (tmp_path / f"{person}.conll").write_text(ONE)

    def test_annotators_are_named_by_what_is_before_the_at(self, run):
        code, out, err = run("agree", "t.csv", "--length", "9", "--output", "json")
        assert (code, annotators(out)) == (0, ["ada", "ben", "ben 2"])
        (what,) = [note for note in json.loads(out)["notes"] if "@" in note]
        assert_tells(what, "annotators … e-mail")
        assert what in err
        assert "@example" not in out + err

    def test_options_take_addresses(self, run):
        given = ["t.csv", "--length", "9", "--output", "json"]
        for name in ("ada", "ada@example.org"):
            code, out, _ = run("rank", *given, "--gold", name)
            assert (code, json.loads(out)["gold"]) == (0, "ada"), name
            code, out, _ = run("agree", *given, "--annotators", f"{name},ben@example.com")
            assert (code, annotators(out)) == (0, ["ada", "ben 2"]), name
            words = ["--rename-annotator", f"{name}=A", "--annotators", f"{name},ben"]
            code, out, _ = run("agree", *given, *words)
            assert (code, annotators(out)) == (0, ["A", "ben"]), name

    def test_files_that_are_called_as_addresses(self, run, tmp_path):
        paths = [tmp_path / f"{name}@example.org.conll" for name in ("ada", "ben")]
        for output in OUTPUTS:
            code, out, err = run("agree", *paths, "--output", output)
            assert code == 0
            assert "@example" not in out + err
            assert str(tmp_path) not in out + err
            assert "ada" in out

    def test_the_addresses_of_written_files(self, run):
        code, out, _ = run("convert", "t.csv", "--length", "9", "--to", "table")
        assert code == 0
        assert "@example" not in out
        assert "ben 2" in out

    def test_the_library_does_the_same(self, tmp_path):
        corpus = bc.read(tmp_path / "t.csv", length=9, gold="ben@example.com")
        assert (corpus.annotators, corpus.gold) == (("ada", "ben", "ben 2"), "ben 2")

    def test_addresses_with_more_behind_them(self, run, tmp_path):
        paths = [tmp_path / f"{name}@x.org.conll" for name in ("ada", "ben")]
        for path in paths:
            path.write_text("Ada B-PER O\nleft O O\n")
        words = [*paths, "--columns", "tag=2,3"]
        code, out, err = run("agree", *words, "--output", "json")
        names = ["ada, column 2", "ada, column 3", "ben, column 2", "ben, column 3"]
        assert (code, annotators(out)) == (0, names)
        assert "@x.org" not in out + err

    def test_errors(self, run, tmp_path):
        done = {"completed_by": {"email": "ada@example.org"}, "result": []}
        task = {"id": 1, "data": {"text": "Ada"}, "annotations": [done, done]}
        (tmp_path / "export.json").write_text(json.dumps([task]))
        code, _, err = run("agree", "export.json", "--strict")
        assert code == 1
        assert_tells(err, "annotation #2 … 'ada' … task")
        with refused(bc.FormatError, "'ada' … task"):
            bc.read(tmp_path / "export.json", strict=True)
        code, _, err = run("agree", "ada@x.org=t.csv", "--length", "9")
        assert code == 1
        assert_tells(err, "3 … ('ada', 'ben', 'ben')")


class TestPaths:
    def test_files_are_shown_without_their_folders(self, files):
        corpus = bc.read(files / "a.conll", files / "b.conll")
        assert [item.name for item in corpus.inputs] == ["a.conll", "b.conll"]
        assert str(corpus.notes[0]) == "a.conll: read as conll"

    def test_a_path_from_here_stays(self, files, monkeypatch):
        monkeypatch.chdir(files.parent)
        corpus = bc.read(f"{files.name}/a.conll", files / "b.conll")
        assert [item.name for item in corpus.inputs] == [f"{files.name}/a.conll", "b.conll"]

    def test_the_folder_distinguishes_files_of_one_name(self, tmp_path):
        for name in ("x", "y"):
            (tmp_path / name).mkdir()
            (tmp_path / name / "ner.conll").write_text(ONE)
        corpus = bc.read(tmp_path / "x" / "ner.conll", tmp_path / "y" / "ner.conll")
        assert [item.name for item in corpus.inputs] == ["x/ner.conll", "y/ner.conll"]

    def test_files_in_a_folder_are_shown_below_it(self, tmp_path):
        paths = brat(DATA).saved(tmp_path)
        corpus = bc.read(*paths)
        assert all(not item.name.startswith("/") for item in corpus.inputs)
        assert str(tmp_path) not in "".join(map(str, corpus.notes))

    def test_a_folder_of_annotators(self, tmp_path):
        (tmp_path / "team").mkdir()
        for name, content in {"ada": ONE, "ben": TWO}.items():
            (tmp_path / "team" / f"{name}.conll").write_text(content)
        corpus = bc.read(tmp_path / "team", format="conll")
        assert corpus.annotators == ("ada", "ben")
        assert corpus.notes[0].where == "team"
        assert str(tmp_path) not in "".join(map(str, corpus.notes))

    def test_no_output_holds_one(self, run, files):
        paths = [files / "a.conll", files / "b.conll"]
        for output, flags in zip(OUTPUTS, cycle([[], ["--by", "document"]]), strict=False):
            code, out, _ = run("agree", *paths, "--output", output, *flags)
            assert code == 0
            assert str(files) not in out, output


# --- --pseudonyms -------------------------------------------------------------


@pytest.fixture
def saved(tmp_path, monkeypatch):
    """Write an example, each file in a folder with the mark: what to give, and the example."""

    def writer(name):
        made = EXAMPLES[name](DATA)
        made.saved(tmp_path / name / MARK)
        monkeypatch.chdir(tmp_path / name)
        options = {
            key: f"{MARK}/{value}" if value in made.files else value
            for key, value in made.options.items()
        }
        return [f"{MARK}/{path}" for path in made.given], replace(made, options=options)

    return writer


def hidden(code, *shown, expected=(0,)):
    assert code in expected, shown
    assert not any(MARK in text for text in shown), shown
    assert not any("a defect of" in text for text in shown)


N_BATCHES = 16
BATCHES = [pytest.param(n, marks=[pytest.mark.slow] * (n % 8 > 0)) for n in range(N_BATCHES)]
ROTATION = list(zip(EXAMPLES, cycle(COMMANDS), strict=False))
"""Every format and every command once."""


@pytest.mark.parametrize("batch", BATCHES)
def test_results_show_no_name(run, saved, batch):
    for name, command in ROTATION[batch::N_BATCHES]:
        given, made = saved(name)
        hidden(*run(*command, *given, *made.flags(), "--pseudonyms"))


@pytest.mark.slow
def test_no_output_shows_a_name(run, tmp_path):
    given = conll(DATA).saved(tmp_path / MARK)
    for output in OUTPUTS:
        words = ["--by", "document", "--output", output, "--pseudonyms"]
        code, out, err = run("agree", *given, *words)
        hidden(code, out, err)
        assert "annotator 1" in out
        hidden(*run("agree", *given, *words, "--save", "saved"))
        assert (tmp_path / "saved").read_text("utf-8") == out
        code, out, err = run("rank", *given, "--output", output, "--pseudonyms")
        hidden(code, out, err)
        assert "gold" in out


def test_no_list_shows_a_name(run, tmp_path):
    given = conll(DATA).saved(tmp_path / MARK)
    for output in LIST_OUTPUTS:
        words = ["--output", output, "--pseudonyms", "--save", "saved"]
        hidden(*run("disagreements", *given, *words))
        written = (tmp_path / "saved").read_text("utf-8")
        hidden(0, written)
        assert "annotator 1" in written


def test_those_who_decided_are_not_named(run, tmp_path):
    given = conll(DATA).saved(tmp_path / "given")
    corpus = bc.read(*given)
    flags = []
    for who, by in zip(corpus.annotators, (f"{MARK}Mia", f"{MARK}Tom"), strict=True):
        path = tmp_path / f"{len(flags)}.json"
        path.write_text(json.dumps(file_of(corpus, decided_for(corpus, who, by))), "utf-8")
        flags += ["--decisions", path]
    for output in LIST_OUTPUTS:
        words = [*flags, "--compare", "--output", output, "--pseudonyms"]
        code, out, err = run("adjudicate", *given, *words)
        hidden(code, out, err)
        assert "person 1" in out
    hidden(*run("adjudicate", *given, *flags[:2], "--pseudonyms"))


@pytest.mark.slow
@pytest.mark.parametrize(
    "flags",
    [
        ["--figures", "figures"],
        ["--gold", ADA, "--no-text"],
    ],
)
def test_neither_page_nor_figures_show_a_name(run, tmp_path, flags):
    given = conll(DATA).saved(tmp_path / MARK)
    words = ["-o", "page.html", "--resamples", "99", "--pseudonyms", *flags]
    hidden(*run("report", *given, *words))
    page = (tmp_path / "page.html").read_text("utf-8")
    assert ("system 1" if "--gold" in flags else "annotator 1") in page
    hidden(0, page)
    figures = [*(tmp_path / "figures").glob("*")]
    assert bool(figures) == ("--figures" in flags)
    for figure in figures:
        assert MARK not in figure.name
        assert MARK.encode() not in figure.read_bytes()


@pytest.mark.slow
def test_written_files_hold_no_name(run, tmp_path):
    given = conll(DATA).saved(tmp_path / MARK)
    for to, place in (("conll", "x/"), ("brat", "y/"), ("table", "x.jsonl"), ("spacy", "z/")):
        hidden(*run("convert", *given, "--to", to, "--save", place, "--pseudonyms"))
        written = tmp_path / place
        listed = [written] if written.is_file() else [x for x in written.rglob("*") if x.is_file()]
        assert listed
        for file in listed:
            assert MARK not in str(file.relative_to(tmp_path))
            assert MARK.encode() not in file.read_bytes()
        again = bc.read(written)
        assert not any(MARK in name for name in again.annotators)


def unpacked(data):
    """A file, and after it what it holds packed."""
    start = data.find(b"PK\x03\x04")
    if start < 0:
        return data
    with np.load(io.BytesIO(data[start:]), allow_pickle=False) as arrays:
        return data + b"".join(arrays[name].tobytes() for name in arrays)


PEOPLE = (f"{ADA}@{MARK}.org", f"{BEN}@{MARK}.org", MARK)
LATE = "\n".join(
    [
        "document,annotator,start,end,label,length",
        *(
            f"d{document},{name},0,{document % 3 + len(name) % 2 + 1},P,9"
            for document in range(10, 30)
            for name in PEOPLE[: 2 + (document > 20)]
        ),
        "",
    ]
)
"""A table in which the third annotator comes after the first part."""
IN_PARTS = ("--save-counts", "x.counts")


@pytest.mark.parametrize(
    ("words", "forms"),
    [
        (("agree",), ("json", "csv", "txt")),
        (("agree", *IN_PARTS), ("json",)),
        (("agree", *IN_PARTS, "--annotators", ",".join(PEOPLE[:2])), ("csv",)),
        (("agree", *IN_PARTS, "--rename-annotator", f"{PEOPLE[0]}={ADA}"), ("txt",)),
        (("rank", "--gold", MARK, *IN_PARTS), ("json",)),
        pytest.param(("report", "--resamples", "99"), ("html",), marks=pytest.mark.slow),
        pytest.param(("report", "--resamples", "99", *IN_PARTS), ("html",), marks=pytest.mark.slow),
    ],
)
def test_what_is_saved_holds_no_name(run, tmp_path, monkeypatch, words, forms):
    monkeypatch.setattr(scanning, "AT_A_TIME", 300)
    file = tmp_path / f"{PEOPLE[0]}.csv"
    file.write_text(LATE)
    for form in forms:
        hidden(*run(*words, file, "--pseudonyms", "--save", f"x.{form}"))
    written = {path.name: path for path in tmp_path.rglob("*") if path.is_file() and path != file}
    assert ("x.counts" in written) == ("--save-counts" in words)
    assert not [
        name for name, path in written.items() if MARK.encode() in unpacked(path.read_bytes())
    ]
    if "agree" in words and "--save-counts" in words:
        again = run("agree", "x.counts", "--output", "json")
        hidden(*again)
        assert annotators(again[1])[:2] == ["annotator 1", "annotator 2"]


@pytest.mark.slow
def test_gold_and_papers_hold_no_name(run, tmp_path):
    given = conll(DATA).saved(tmp_path / MARK)
    corpus = bc.read(*given)
    made = [item | {"note": MARK} for item in decided_for(corpus, corpus.annotators[0], by=MARK)]
    decisions = tmp_path / MARK / f"{MARK}.json"
    decisions.write_text(json.dumps(file_of(corpus, made)))
    gold = ("consensus", "--ties", "keep"), ("adjudicate", "--decisions", decisions)
    saving = [
        *((*words, "--to", to, *more) for words in gold for to, more in zip(TO, MORE, strict=True)),
        *(("agree", "--output", form) for form in OUTPUTS),
        *(("disagreements", "--output", form) for form in LIST_OUTPUTS),
    ]
    for number, words in enumerate(saving):
        hidden(*run(*words, *given, "--save", f"saved {number}", "--pseudonyms"))
        data = (tmp_path / f"saved {number}").read_bytes()
        assert MARK.encode() not in unpacked(data), words


TO = ("table", "conll", "label-studio", "prodigy")
MORE = ((), (), ("--with-annotators",), ("--with-annotators",))


@pytest.mark.slow
def test_counts_with_pseudonyms_are_not_added(run, tmp_path):
    header = "document,annotator,start,end,label,length\n"
    for name, people in (("x", (ADA, BEN)), ("y", (BEN, MARK))):
        rows = [f"{name},{who},0,{end},P,9\n" for end, who in enumerate(people, start=1)]
        (tmp_path / f"{name}.csv").write_text(header + "".join(rows))
        words = ["agree", f"{name}.csv", "--pseudonyms", "--save-counts", f"{name}.counts"]
        hidden(*run(*words))
        assert run("agree", f"{name}.csv", "--save-counts", f"{name}.open")[0] == 0
    assert run("agree", "x.counts")[0] == 0
    for pair in (("x.counts", "y.counts"), ("x.counts", "y.open")):
        code, out, err = run("agree", *pair)
        assert (code, out) == (1, "")
        assert_tells(err, "pseudonym … different people … at once")
        with refused(bc.MismatchError, "pseudonym"):
            bc.agreement(bc.scan(*pair))


def test_the_command_that_sorts_rows_shows_no_name(run, tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "AT_A_TIME", 300)
    file = tmp_path / f"{MARK}.csv"
    file.write_text(LATE + LATE.split("\n", 1)[1])
    words = ["--pseudonyms", "--format", "table", "--workers", "1"]
    hidden(*run("agree", file, *words), expected=(1,))


def test_saved_counts_get_no_pseudonyms(run, tmp_path):
    (tmp_path / "in.csv").write_text(
        f"document,annotator,start,end,label,length\nd,{ADA},0,1,P,9\nd,{BEN},0,2,P,9\n"
    )
    assert run("agree", "in.csv", "--save-counts", "x.counts")[0] == 0
    hidden(*run("agree", "x.counts", "--pseudonyms"), expected=(2,))
    words = ["--part", "1/1", "--save-counts", "y.counts"]
    hidden(*run("agree", "in.csv", *words, "--pseudonyms"), expected=(2,))


def test_numbers_do_not_depend_on_who_is_chosen(run, tmp_path):
    given = conll(DATA).saved(tmp_path)
    (tmp_path / "c.conll").write_bytes(given[0].read_bytes())
    words = ["agree", *given, tmp_path / "c.conll", "--pseudonyms", "--output", "json"]
    code, out, _ = run(*words, "--annotators", f"{BEN},c")
    assert (code, annotators(out)) == (0, ["annotator 2", "annotator 3"])
    assert "annotators:annotator 2" in json.loads(out)["signature"]


def test_renamed_annotators_are_hidden_as_well(run, tmp_path):
    given = conll(DATA).saved(tmp_path)
    words = ["--pseudonyms", "--rename-annotator", f"{ADA}={MARK}", "--gold", MARK]
    hidden(*run("rank", *given, *words, "--output", "json"))


ERRORS = [
    [f"{MARK}.conll"],
    [f"{MARK}=nowhere"],
    [f"={MARK}"],
    ["a.conll", "--gold", MARK],
    ["a.conll", "--annotators", MARK],
    ["a.conll", "--rename-annotator", f"{MARK}=x"],
    [f"{MARK}/a.conll", f"{MARK}/a.conll"],
    [f"{MARK}/a.conll", "b.conll", "--save", f"{MARK}/a.conll"],
    [f"{MARK}=a.conll", f"{MARK}=b.conll"],
    [f"{MARK}/empty.conll"],
    [f"{MARK}/empty"],
    [f"{MARK}/{MARK}.ann"],
    [f"{MARK}/bad.conll", "a.conll"],
    [f"{MARK}/archive.zip"],
    [f"{MARK}/latin.csv"],
    [f"x={MARK}/team.jsonl"],
    ["t.csv", "--documents", f"{MARK}/nowhere.csv"],
    ["t.csv", "--documents", f"{MARK}/a.conll"],
]


def test_errors_show_no_name(run, files):
    folder = files / MARK
    (folder / "empty").mkdir(parents=True)
    (folder / "empty.conll").write_text("")
    (folder / "a.conll").write_text(ONE)
    (folder / f"{MARK}.ann").write_text("T1\tPER 0 3\tZoe\n")
    (folder / "bad.conll").write_text(ONE.replace("met O", "met"))
    (folder / "archive.zip").write_bytes(b"PK\x03\x04broken")
    (folder / "latin.csv").write_bytes(b"document,annotator\nd,\xff\n")
    (folder / "team.jsonl").write_bytes(prodigy(ADA, BEN))
    (files / "t.csv").write_text("document,annotator,start,end,label\nd,ada,0,1,PER\n")
    for words in ERRORS:
        hidden(*run("agree", *words, "--pseudonyms"), expected=(1, 2))
        if "--save" not in words:
            hidden(*run("report", *words, "--pseudonyms", "-o", "x.html"), expected=(1, 2))


def mutated(content, dice):
    """A file with something else somewhere."""
    try:
        value = json.loads(content)
    except ValueError:
        place = dice.randrange(len(content))
        added = dice.choice([b"", b"\t", b"\n", b'"', b"\0", b"odd", b"x", b"<"])
        return content[:place] + added + content[place + dice.randint(0, 9) :]
    chosen = dice.choice(list(places(value)))
    odd = dice.choice([None, -1, "", "odd", ["odd"], {"odd": 1}, 10**9, []])
    return json.dumps(replaced(value, chosen, odd)).encode()


def is_data(paths, options):
    """Whether the mark has become part of a document, label or field."""
    try:
        corpus = bc.read(*paths, **options)
    except bc.BeyondChanceError:
        return False
    values = [value for values in corpus.fields.values() for value in values]
    texts = corpus.texts or ()
    return any(
        MARK in word
        for word in [*corpus.labels, *corpus.documents, *corpus.fields, *values, *texts]
    )


def damaged(run, saved, name, numbers):
    """What is wrong with what commands say of damaged files of a format."""
    given, made = saved(name)
    for number in numbers:
        dice = random.Random(f"{name} {number}")  # noqa: S311 - the same on every run
        path = dice.choice(list(made.files))
        Path(MARK, path).write_bytes(mutated(made.files[path], dice))
        command = COMMANDS[number % len(COMMANDS)]
        code, out, err = run(*command, *given, *made.flags(), "--pseudonyms")
        is_leak = MARK in out + err and not is_data(given, made.options)
        if is_leak or code not in {0, 1, 2} or "a defect of" in err:
            kind = re.sub(r"[^a-z]+", " ", err)
            yield kind, f"{name}, mutant {number}, {path}, exit {code}: {(out + err)[-300:]}"
        Path(MARK, path).write_bytes(made.files[path])


@pytest.mark.long
@pytest.mark.parametrize("batch", range(N_BATCHES))
def test_damaged_files_show_no_name(run, saved, batch):
    wrong = {}
    for name in [*EXAMPLES][batch::N_BATCHES]:
        wrong |= dict(damaged(run, saved, name, range(100)))
    assert not wrong, "\n".join(wrong.values())


@pytest.mark.slow
def test_a_damaged_file_of_each_format_shows_no_name(run, saved):
    wrong = {}
    for number, name in enumerate(EXAMPLES):
        wrong |= dict(damaged(run, saved, name, [number]))
    assert not wrong, "\n".join(wrong.values())


def test_the_library_hides_names_too(tmp_path):
    corpus = bc.read(*conll(DATA).saved(tmp_path / MARK), gold=BEN).with_pseudonyms()
    assert corpus.annotators == ("system 1", "gold")
    assert [item.name for item in corpus.inputs] == ["file 1", "file 2"]
    assert MARK not in "".join(map(str, corpus.notes))
    assert MARK not in str(bc.rank(corpus))
