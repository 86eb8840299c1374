"""``beyondchance rank``: which file or column is the gold standard."""

import json

import pytest

from beyondchance.cli.main import main
from refusals import assert_tells

ONE = "Anna NN B-PER B-PER\nmet VB O O\nBen NN B-PER O\n"
OTHER = "Anna NN B-PER O\nmet VB O B-PER\nBen NN B-PER O\n"
PLAIN = "Anna B-PER\nmet O\nBen B-PER\n"


@pytest.fixture
def run(tmp_path, monkeypatch, capsys):
    """A command in a folder with files of the contents given."""
    monkeypatch.chdir(tmp_path)

    def called(*words, **contents):
        for name, content in contents.items():
            (tmp_path / f"{name}.txt").write_text(content)
        code = main(["rank", *words])
        return code, capsys.readouterr()

    return called


def ranked(out):
    found = json.loads(out)
    return found["gold"], [system["name"] for system in found["systems"]]


def test_gold_columns_are_the_gold_standard_of_all_files(run):
    code, said = run("s1.txt", "s2.txt", "--output", "json", s1=ONE, s2=OTHER)
    assert (code, ranked(said.out)) == (0, ("gold", ["s1", "s2"]))


def test_the_order_is_that_of_the_files(run):
    _, said = run("s1.txt", "s2.txt", s1=ONE, s2=OTHER)
    assert "\ns1 and s2 against the gold standard gold: " in said.out


def test_a_system_that_found_nothing(run):
    nothing = ONE.replace("B-PER B-PER", "B-PER O")
    code, said = run("s1.txt", "s2.txt", "--output", "json", s1=ONE, s2=nothing)
    assert (code, ranked(said.out)) == (0, ("gold", ["s1", "s2"]))


def test_gold_columns_that_differ(run):
    code, said = run("s1.txt", "s2.txt", s1=ONE, s2=OTHER.replace("NN B-PER O", "NN O O"))
    assert code == 1
    assert_tells(said.err, "s2.txt:1: … gold standard … '1' … s1.txt:1")


def test_a_file_and_columns_of_gold(run):
    code, said = run("ref.txt", "s1.txt", ref=PLAIN, s1=ONE)
    assert code == 1
    assert_tells(said.err, "ref.txt … 'gold' … --columns tag=last")
    code, said = run("ref.txt", "s1.txt", "--columns", "tag=last", "--output", "json")
    assert (code, ranked(said.out)) == (0, ("ref", ["s1"]))


def test_a_gold_file_that_holds_gold_and_system(run):
    code, said = run("s2.txt", "--gold", "s1.txt", s1=ONE, s2=OTHER)
    assert code == 1
    assert_tells(said.err, "s1.txt: … 2 … ('gold', 's1') … gold standard")


def test_a_plain_file_called_gold(run):
    code, said = run("gold.txt", "s1.txt", "--output", "json", gold=PLAIN, s1=ONE)
    assert (code, ranked(said.out)) == (0, ("gold", ["s1"]))
