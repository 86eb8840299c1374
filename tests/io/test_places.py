"""Where files may lie: patterns, pipes and places that fsspec knows, for reading and commands."""

import os
from threading import Thread

import fsspec
import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from refusals import refused

ADA, BEN = b"Ada B-PER\nleft O\n", b"Ada O\nleft O\n"


@pytest.fixture
def team(tmp_path, monkeypatch):
    monkeypatch.chdir(tmp_path)
    for name, data in (("ada", ADA), ("ben", BEN)):
        (tmp_path / f"{name}.conll").write_bytes(data)
    return tmp_path


@pytest.fixture
def store():
    """A store in memory, as object stores are."""
    system = fsspec.filesystem("memory")
    for name, data in (("ada", ADA), ("ben", BEN)):
        system.pipe(f"/team/{name}.conll", data)
        system.pipe(f"/folders/{name}/d1.conll", data)
    yield "memory://"
    system.store.clear()


def pipe(path, data):
    """Write to a pipe once somebody reads it."""
    os.mkfifo(path)
    thread = Thread(target=path.write_bytes, args=[data])
    thread.start()
    return thread


@pytest.mark.usefixtures("team")
class TestPatterns:
    def test_each_file_is_an_annotator_in_order(self):
        assert bc.read("*.conll").annotators == ("ada", "ben")
        assert bc.agreement("???.conll").by_pair.keys() == {("ada", "ben")}

    def test_commands(self, team, capsys):
        main(["agree", f"{team}/*.conll"])
        assert "ada and ben" in capsys.readouterr().out

    def test_a_file_of_that_name_comes_first(self, team):
        (team / "[ab]*.conll").write_bytes(ADA)
        assert bc.read("[ab]*.conll").annotators == ("[ab]*",)

    def test_nothing_matches(self, capsys):
        with refused(bc.FormatError, "*.xmi: no file matches"):
            bc.read("*.xmi")
        assert main(["agree", "*.xmi"])
        assert "no file matches" in capsys.readouterr().err


class TestPipes:
    def test_a_pipe_is_read_once(self, team):
        thread = pipe(team / "cleo.conll", BEN)
        assert bc.read("ada.conll", team / "cleo.conll").annotators == ("ada", "cleo")
        thread.join()

    def test_commands(self, team, capsys):
        thread = pipe(team / "cleo.conll", BEN)
        main(["agree", "ada.conll", f"cleo={team}/cleo.conll"])
        assert "ada and cleo" in capsys.readouterr().out
        thread.join()


class TestStores:
    def test_files(self, store):
        corpus = bc.read(f"{store}team/ada.conll", f"{store}team/ben.conll")
        assert corpus.annotators == ("ada", "ben")
        assert corpus.spans("1", "ada") == [(0, 1, "PER")]
        assert bc.agreement(f"{store}team/ada.conll", f"{store}team/ben.conll").observed == 0

    def test_patterns_and_folders(self, store):
        assert bc.read(f"{store}team/*.conll").annotators == ("ada", "ben")
        corpus = bc.read(f"{store}folders/ada", f"{store}folders/ben")
        assert (corpus.annotators, corpus.documents) == (("ada", "ben"), ("d1",))

    def test_refusals(self, store):
        with refused(bc.FormatError, "memory://team/cleo.conll: no such file"):
            bc.read(f"{store}team/cleo.conll")
        with refused(bc.FormatError, "ada.conll: … at most 9", "max_size"):
            bc.read(f"{store}team/ada.conll", max_size=9)
        with refused(bc.FormatError, "nowhere://a: cannot be read"):
            bc.read("nowhere://a")
