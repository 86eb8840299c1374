"""Where files may lie: patterns, pipes, compressed files and places that fsspec knows."""

import gzip
import os
from hashlib import sha256
from importlib import import_module
from threading import Thread

import fsspec
import pyarrow as pa
import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from each import each
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

    def test_the_file_of_a_name_is_no_pattern(self, team, capsys):
        (team / "x[1].conll").write_bytes(BEN)
        main(["agree", "ada.conll", "cleo=x[1].conll"])
        assert "ada and cleo" in capsys.readouterr().out

    def test_patterns_are_hidden_with_names(self, capsys):
        assert main(["agree", "--pseudonyms", "secret*.conll"])
        assert "secret" not in capsys.readouterr().err

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


@pytest.mark.usefixtures("team")
class TestPacked:
    def test_zstandard(self, team):
        path = team / "cleo.conll.zst"
        path.write_bytes(pa.Codec("zstd").compress(BEN, asbytes=True))
        assert bc.read("ada.conll", path).annotators == ("ada", "cleo")

    def test_a_damaged_file_is_refused(self, team):
        path = team / "cleo.conll.gz"
        data = bytearray(gzip.compress(bytes(range(256)) * 9))
        data[30:90] = b"\xff" * 60
        path.write_bytes(data)
        with refused(bc.FormatError, "cleo.conll.gz: cannot be unpacked"):
            bc.read(path)

    @each("kind", ["gzip", "bz2", "lzma"])
    def test_compressed_files_are_what_they_hold(self, team, kind):
        path = team / {"gzip": "cleo.conll.gz", "bz2": "cleo.conll.bz2", "lzma": "cleo.xz"}[kind]
        path.write_bytes(import_module(kind).compress(BEN))
        corpus = bc.read("ada.conll", path)
        assert corpus.annotators == ("ada", "cleo")
        assert corpus.spans("1", "cleo") == []
        # The digest is that of the file, so that people can check it.
        assert corpus.inputs[1].sha256 == sha256(path.read_bytes()).hexdigest()

    def test_folders(self, team):
        (team / "cleo").mkdir()
        (team / "cleo" / "d1.conll.gz").write_bytes(gzip.compress(BEN))
        assert bc.read(team / "cleo", folder="documents").documents == ("d1",)

    def test_commands(self, team, capsys):
        (team / "cleo.conll.gz").write_bytes(gzip.compress(BEN))
        main(["agree", "ada.conll", "cleo.conll.gz"])
        assert "ada and cleo" in capsys.readouterr().out

    @pytest.mark.slow
    def test_what_is_cut_off_or_expands_too_much_is_refused(self, team):
        path = team / "cleo.conll.gz"
        path.write_bytes(gzip.compress(BEN)[:-9])
        with refused(bc.FormatError, "cleo.conll.gz: cannot be unpacked"):
            bc.read(path)
        path.write_bytes(gzip.compress(b"a O\n" * 10**6))
        with refused(bc.FormatError, "cleo.conll.gz: unpacks from … to more than", "max_size"):
            bc.read(path)
        assert bc.read(path, max_size="5MB").text_length.sum() == 10**6
