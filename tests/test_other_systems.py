"""What differs on Windows and macOS, imitated where these tests run.

Not imitated: which files Windows locks. It is told as other errors of writing are.
"""

import io
import os
import signal
import sys
from pathlib import Path

import pytest

import beyondchance as bc
from beyondchance.cli import main as command
from beyondchance.io.saving import save_file
from beyondchance.io.sources import Source
from beyondchance.io.writers import shared
from beyondchance.scoring import engines
from refusals import refused

EXAMPLE = Path(bc.__file__).parent / "resources" / "example.conll"


class Windows:
    """The module `sys`, as what asks it for the system sees it."""

    platform = "win32"

    def __getattr__(self, name):
        return getattr(sys, name)


@pytest.fixture
def windows(monkeypatch):
    """Say that this is Windows to the modules that ask."""
    for module in (command, engines, shared):
        monkeypatch.setattr(module, "sys", Windows())


def printed(monkeypatch):
    """What the demo writes into a pipe with the code page of Western Europe."""
    stream = io.TextIOWrapper(io.BytesIO(), encoding="cp1252", newline="\n")
    monkeypatch.setattr(sys, "stdout", stream)
    assert command.main(["demo", "--quiet"]) == 0
    return stream.buffer.getvalue()


class TestPrinting:
    @pytest.mark.usefixtures("windows")
    def test_pipes_and_files_are_utf_8_on_windows(self, monkeypatch):
        assert "───" in printed(monkeypatch).decode("utf-8")

    def test_elsewhere_they_are_what_the_machine_says(self, monkeypatch):
        assert rb"\u2500" in printed(monkeypatch)


def bo_in(document):
    """One span in one document."""
    return bc.Corpus.from_spans({"ada": [[(0, 2, "P")]]}, texts=["Bo"], documents=[document])


@pytest.mark.usefixtures("windows")
class TestNames:
    @pytest.mark.parametrize(
        "name", ["doc:1", "why?", "a|b", "<a>", 'a"b', "a*b", "etc.", "nul", "Con.1", "a/COM1"]
    )
    def test_names_that_windows_has_not(self, name, tmp_path):
        corpus = bo_in(name)
        with refused(bc.DataError, f"document '{name}' cannot be the name of a file … rename"):
            bc.write(corpus, tmp_path / "out", format="brat")
        assert not list(tmp_path.iterdir())


def test_names_that_windows_has_not_are_fine_elsewhere(tmp_path):
    bc.write(bo_in("doc:1"), tmp_path / "out", format="brat")
    assert (tmp_path / "out" / "ada" / "doc:1.ann").is_file()


def test_a_file_that_another_program_has_open_is_not_replaced(tmp_path, monkeypatch):
    # As Windows does, where a table is open in a spreadsheet.
    def locked(*_):
        raise PermissionError(13, "Access is denied")

    place = tmp_path / "a.csv"
    place.write_bytes(b"old")
    monkeypatch.setattr(Path, "replace", locked)
    with refused(bc.FormatError, "a.csv: cannot be written (access is denied)"):
        save_file(place, b"new")
    assert [path.name for path in tmp_path.iterdir()] == ["a.csv"]
    assert place.read_bytes() == b"old"


def test_signals_that_windows_has_not(monkeypatch):
    monkeypatch.delattr(signal, "SIGHUP", raising=False)
    kept = signal.getsignal(signal.SIGTERM)
    try:
        signal.signal(signal.SIGTERM, signal.SIG_DFL)
        command._end_by_signals()
        assert callable(signal.getsignal(signal.SIGTERM))
    finally:
        signal.signal(signal.SIGTERM, kept)


class TestWorkers:
    @pytest.mark.usefixtures("windows")
    def test_windows_waits_for_no_more_than_61(self, monkeypatch):
        class Pool:
            _processes = None

            def __init__(self, n, *_):
                assert n <= 61

            shutdown = print

        monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", Pool)
        with engines.engine_of(100) as engine:
            assert callable(engine)

    def test_macos_and_windows_do_not_say_which_cores_are_ours(self, monkeypatch):
        monkeypatch.delattr(os, "sched_getaffinity", raising=False)
        assert engines.n_workers("auto") == os.cpu_count()


def test_paths_with_backslashes():
    path = Source(r"C:\team\ada\d1.ann").posix_path
    assert (path.parent.name, path.stem) == ("ada", "d1")


def test_lines_that_end_as_on_windows(tmp_path):
    path = tmp_path / "example.conll"
    path.write_bytes(EXAMPLE.read_bytes().replace(b"\n", b"\r\n"))
    assert bc.agreement(path).score == bc.agreement(EXAMPLE).score


def test_names_of_one_letter_case_do_not_replace_each_other(tmp_path):
    # macOS and Windows take Ada.ann and ada.ann for one file: a file is made, and never replaced.
    from beyondchance.io.saving import _write  # noqa: PLC0415 - what every file passes

    _write(tmp_path / "ada.ann", b"")
    with pytest.raises(FileExistsError):
        _write(tmp_path / "ada.ann", b"")
