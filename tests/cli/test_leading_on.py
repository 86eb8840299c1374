"""Commands that lead on: files without a command, the next step, a page without a name."""

import sys

import pytest

from beyondchance.cli import running
from beyondchance.cli.main import COMMANDS, NEXT, main

pytestmark = pytest.mark.usefixtures("example")
PAIR = ["example/ada.conll", "example/ben.conll"]


def test_files_without_a_command_are_compared(capsys):
    assert main(["agree", *PAIR]) == 0
    expected = capsys.readouterr()
    assert main(PAIR) == 0
    assert capsys.readouterr() == expected
    assert main(["a=example/ada.conll", "b=example/ben.conll", "--measure", "exact"]) == 0
    assert "exact" in capsys.readouterr().out


def test_the_name_of_a_command_wins_over_a_file(example, capsys):
    (example / "formats").write_text("Ada B-PER\n")
    assert main(["formats"]) == 0
    assert "conll" in capsys.readouterr().out


def test_what_is_neither_a_command_nor_a_file(capsys):
    assert main(["agre", *PAIR]) == 2
    assert "did you mean agree?" in capsys.readouterr().err
    assert main(["missing.conll"]) == 1
    assert "missing.conll: no such file" in capsys.readouterr().err


class TestNext:
    @pytest.fixture(autouse=True)
    def _terminal(self, monkeypatch):
        monkeypatch.setattr(running, "is_terminal", lambda _: True)

    def test_the_files_are_named(self, capsys):
        main(["agree", *PAIR])
        *_, last = capsys.readouterr().err.splitlines()
        assert last.startswith("Next: beyondchance diagnose example/ada.conll example/ben.conll ")

    def test_with_the_options_that_read_them(self, capsys):
        main(["agree", *PAIR, "--scheme", "IOB2", "--strict", "--measure", "exact"])
        *_, last = capsys.readouterr().err.splitlines()
        assert "ben.conll --scheme=IOB2 --strict=all shows" in last

    def test_files_that_have_pseudonyms_are_not(self, capsys):
        main(["agree", *PAIR, "--pseudonyms"])
        assert "ada" not in capsys.readouterr().err

    @pytest.mark.parametrize("more", [["--quiet"], ["--fail-under", "0.99"], ["--labels", "x"]])
    def test_nothing_follows(self, more, capsys):
        main(["agree", *PAIR, *more])
        assert "Next:" not in capsys.readouterr().err

    def test_it_is_for_terminals(self, monkeypatch, capsys):
        monkeypatch.setattr(running, "is_terminal", lambda stream: stream is not sys.stderr)
        main(["agree", *PAIR])
        assert "Next:" not in capsys.readouterr().err


def test_next_steps_are_commands_of_commands():
    assert NEXT.keys() <= COMMANDS.keys()
    told = {words[1] for text in NEXT.values() if (words := text.split())[0] == "beyondchance"}
    assert told <= COMMANDS.keys()


@pytest.mark.slow
def test_a_page_without_a_name_replaces_no_other(example):
    for name in ("report.html", "report-2.html"):
        assert not (example / name).exists()
        assert main(["report", *PAIR, "--quiet"]) == 0
        assert (example / name).exists()
