"""What surrounds the commands: progress, colour, saving, completion, start-up."""

import os
import pty
import subprocess
import sys
import time

import click
import pytest

from beyondchance import __version__
from beyondchance.cli import running
from beyondchance.cli.main import COMMANDS, cli, main
from beyondchance.cli.running import working
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import AUTO, MODELS
from beyondchance.errors import DataError
from beyondchance.messages import Quote, Use
from beyondchance.options import ReadOptions, ResamplingOptions, ScoringOptions, declared
from beyondchance.scoring.options import SCOPES
from refusals import assert_tells

pytestmark = pytest.mark.usefixtures("example")


class TestProgress:
    def test_nothing_is_said_before_a_second(self, monkeypatch, capsys):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        with working("counting", quiet=False):
            pass
        assert capsys.readouterr().err == ""

    def test_whoever_waits_is_told_what_for(self, monkeypatch, capsys):
        monkeypatch.setattr(sys.stderr, "isatty", lambda: True)
        monkeypatch.setattr(running, "_PATIENCE", 0.0)
        with working("counting", quiet=False):
            for _ in range(200):
                time.sleep(0.02)
                if "counting" in (found := capsys.readouterr().err):
                    break
        assert "counting" in found

    def test_silence_where_it_is_wanted(self, monkeypatch, capsys):
        monkeypatch.setattr(running, "_PATIENCE", 0.0)
        monkeypatch.setattr(running, "_LOG_EVERY", 0.0)
        for is_terminal in (True, False):
            monkeypatch.setattr(sys.stderr, "isatty", lambda is_terminal=is_terminal: is_terminal)
            with working("counting", quiet=True):
                time.sleep(0.05)
            assert capsys.readouterr().err == ""

    def test_a_log_is_told_now_and_then(self, monkeypatch, capsys):
        monkeypatch.setattr(running, "_LOG_EVERY", 0.02)
        with working("counting", quiet=False) as say:
            say("1 of 2 parts")
            found = ""
            for _ in range(200):
                time.sleep(0.02)
                found += capsys.readouterr().err
                if len(found.splitlines()) > 1:
                    break
        assert len(found.splitlines()) > 1
        # The first line may have been told before there were details.
        assert "counting: 1 of 2 parts" in found.splitlines()[-1]
        time.sleep(0.2)
        capsys.readouterr()
        time.sleep(0.1)
        assert capsys.readouterr().err == ""


class TestSaving:
    def test_the_name_says_the_form(self, tmp_path, capsys):
        people = "Agreement of ada and ben "
        for name, beginning in {
            "result.json": "{",
            "result.csv": "level,name,measure,",
            "result.md": people,
            "result.tex": "% Needs",
            "result.txt": people,
            "result": people,
        }.items():
            assert main(["agree", "example/ada.conll", "example/ben.conll", "--save", name]) == 0
            found = capsys.readouterr()
            assert found.out == ""
            assert found.err.splitlines()[-1] == f"wrote {name}"
            assert (tmp_path / name).read_text("utf-8").startswith(beginning)
            (tmp_path / name).unlink()
            assert [path.name for path in tmp_path.iterdir()] == ["example"]

    def test_lines_of_json_are_for_lists(self, tmp_path):
        call = ["example/ada.conll", "example/ben.conll", "--quiet", "--save", "x.jsonl"]
        assert main(["disagreements", *call]) == 0
        assert (tmp_path / "x.jsonl").read_text("utf-8").startswith('{"document": "issue-01"')
        assert main(["agree", *call]) == 0
        assert (tmp_path / "x.jsonl").read_text("utf-8").startswith("Agreement of ada and ben ")

    def test_output_overrules_the_name(self, tmp_path):
        assert main(["reproduce", "--save", "x.md", "--output", "json", "--quiet"]) == 0
        assert (tmp_path / "x.md").read_text("utf-8").startswith("{")

    def test_an_old_file_stays_if_anything_fails(self, tmp_path):
        (tmp_path / "x.json").write_text("old")
        assert main(["agree", "missing.conll", "--save", "x.json"]) == 1
        assert (tmp_path / "x.json").read_text() == "old"

    def test_what_is_no_file_stays_what_it_is(self, tmp_path):
        pipe = tmp_path / "pipe"
        os.mkfifo(pipe)
        reader = os.open(pipe, os.O_RDONLY | os.O_NONBLOCK)
        assert main(["reproduce", "--save", "pipe", "--quiet"]) == 0
        assert os.read(reader, 10).startswith(b"simulation")
        os.close(reader)
        assert pipe.is_fifo()

    def test_a_file_keeps_its_mode(self, tmp_path):
        (tmp_path / "x.txt").touch(mode=0o600)
        assert main(["reproduce", "--save", "x.txt", "--quiet"]) == 0
        assert (tmp_path / "x.txt").stat().st_mode & 0o777 == 0o600

    def test_plots(self, tmp_path):
        call = ["place", "--length", "20", "--spans", "2,5", "--plot", "x.svg", "--quiet"]
        assert main(call) == 0
        assert (tmp_path / "x.svg").read_bytes().startswith(b"<svg")


class TestStart:
    def test_version(self, capsys):
        capsys.readouterr()
        assert main(["--version"]) == 0
        assert capsys.readouterr().out == f"beyondchance {__version__}\n"

    def test_citation(self, capsys):
        capsys.readouterr()
        assert main(["--cite"]) == 0
        out = capsys.readouterr().out
        assert out.count("@") == 2
        assert out.count("{") == out.count("}")
        assert f"note   = {{Version {__version__}}}" in out
        assert r"Ros{\'e}, Carolyn" in out

    def test_completion_script(self, capsys):
        for shell in ("bash", "zsh", "fish"):
            assert main(["--completion", shell]) == 0
            assert "_BEYONDCHANCE_COMPLETE" in capsys.readouterr().out

    @pytest.mark.slow
    def test_completion_completes(self):
        environment = {
            **os.environ,
            "_BEYONDCHANCE_COMPLETE": "bash_complete",
            "COMP_WORDS": "beyondchance agree --meas",
            "COMP_CWORD": "2",
        }
        found = subprocess.run(
            [sys.executable, "-m", "beyondchance"],
            env=environment, capture_output=True, text=True, check=False,
        )  # fmt: skip
        assert found.stdout == "plain,--measure\n"

    def test_the_version_waits_for_nothing(self):
        code = (
            "import sys; from beyondchance.cli.main import main; main(['--version']); "
            "assert not {'numpy'} & set(sys.modules)"
        )
        subprocess.run([sys.executable, "-c", code], check=True, capture_output=True)

    def test_help_of_every_command(self, capsys):
        for name in COMMANDS:
            capsys.readouterr()
            assert main([name, "--help"]) == 0
            found = capsys.readouterr().out
            assert COMMANDS[name].rstrip(".").split(",")[0] in found or name in {
                "place",
                "reproduce",
            }

    def test_options_are_the_words_of_the_library(self):
        from beyondchance.cli.options import READING  # noqa: PLC0415

        assert set(READING) | {"gold"} == set(ReadOptions.__annotations__)


@pytest.fixture
def flags():
    """The options of the command agree, by their names."""
    return {item.name: item for item in cli.get_command(click.Context(cli), "agree").params}


class TestDeclarations:
    """The flags say what the declarations of the library say."""

    def test_help_and_default(self, flags):
        groups = (ReadOptions, ScoringOptions, ResamplingOptions)
        for name, item in (pair for group in groups for pair in declared(group).items()):
            if not item.option.in_commands:
                continue
            flag = flags[item.signed_name]
            assert flag.opts == [f"--{item.signed_name.replace('_', '-')}"]
            assert flag.help.startswith(item.option.help)
            # Intervals are asked for by their confidence; what mends depends on --strict.
            is_open = name == "confidence" or item.option.refuses
            assert flag.default == (None if is_open else item.option.default)
            assert not item.option.refuses or flag.show_default == item.option.default
            if item.option.is_list:
                assert flag.metavar == "|".join(item.choices)
            else:
                assert not item.choices or tuple(flag.type.choices) == item.choices

    def test_choices_of_registries(self, flags):
        assert tuple(flags["measure"].type.choices) == tuple(MEASURES)
        assert tuple(flags["model"].type.choices) == (AUTO.name, *MODELS)
        assert tuple(flags["scope"].type.choices) == tuple(SCOPES)

    def test_numbers_out_of_range(self, capsys):
        for words in (
            *("--theta 1.0", "--samples 1", "--seed -1", "--confidence 0.0"),
            *("--confidence 1.0", "--resamples 98", "--length -1"),
        ):
            assert main(["agree", "example/ada.conll", *words.split()]) == 2
            assert_tells(capsys.readouterr().err, f"{words.replace(' ', ' … ')} … range")


class TestNoText:
    @pytest.fixture
    def fails(self, monkeypatch):
        def failing(*_, **__):
            raise DataError(
                "span ",
                Quote("Anna"),
                " is empty",
                where=("x.csv:3, document ", Quote("d1")),
                remedy=(Use("zero_length", "skip"), " leaves it out"),
            )

        cli.get_command(click.Context(cli), "agree")
        monkeypatch.setattr("beyondchance.cli.scanning.load", failing)

    @pytest.mark.usefixtures("fails")
    def test_errors_are_in_the_words_of_the_command_line(self, capsys):
        capsys.readouterr()
        assert main(["agree", "x.csv"]) == 1
        assert capsys.readouterr().err == (
            "beyondchance: x.csv:3, document 'd1': span 'Anna' is empty; --zero-length skip leaves "
            "it out\n"
        )

    @pytest.mark.usefixtures("fails")
    def test_errors_quote_nothing(self, capsys):
        capsys.readouterr()
        assert main(["agree", "x.csv", "--no-text"]) == 1
        assert capsys.readouterr().err == (
            "beyondchance: x.csv:3, document …: span … is empty; --zero-length skip leaves it out\n"
        )


def test_names_that_a_terminal_cannot_show(tmp_path, monkeypatch):
    (tmp_path / "one.conll").write_text("Zoë B-Σ\n", "utf-8")
    (tmp_path / "two.conll").write_text("Zoë B-Σ\n", "utf-8")
    with open(tmp_path / "out", "w", encoding="latin-1") as stream:  # noqa: PTH123 - as the terminal
        monkeypatch.setattr(sys, "stdout", stream)
        assert main(["agree", str(tmp_path / "one.conll"), str(tmp_path / "two.conll")]) == 0
    assert r"\u03a3" in (tmp_path / "out").read_text("latin-1")


@pytest.mark.long
def test_a_terminal_gets_colour():
    pid, terminal = pty.fork()
    if pid == 0:
        os.environ.update(TERM="xterm", NO_COLOR="")
        os.execv(sys.executable, [sys.executable, "-m", "beyondchance", "demo"])  # noqa: S606
    found = b""
    try:
        while part := os.read(terminal, 4096):
            found += part
    except OSError:  # Linux says so when the other end is closed
        pass
    assert os.waitstatus_to_exitcode(os.waitpid(pid, 0)[1]) == 0
    assert b"\x1b[1m" in found
    assert b"0.7181" in found


def test_no_colour_for_those_who_want_none(monkeypatch, capsys):
    for no_color, term, is_terminal in (
        *(("", "xterm", True), ("1", "xterm", True)),
        *(("", "dumb", True), ("", "xterm", False)),
    ):
        monkeypatch.setenv("NO_COLOR", no_color)
        monkeypatch.setenv("TERM", term)
        monkeypatch.setattr(sys.stdout, "isatty", lambda is_terminal=is_terminal: is_terminal)
        assert main(["place", "--length", "9", "--spans", "1,2", "--quiet"]) == 0
        is_coloured = (no_color, term, is_terminal) == ("", "xterm", True)
        assert ("\x1b[" in capsys.readouterr().out) == is_coloured, (no_color, term)


class TestGold:
    def test_an_annotator_comes_before_a_file_of_that_name(self, tmp_path, capsys):
        (tmp_path / "ada").mkdir()
        capsys.readouterr()
        team = [f"example/{name}.conll" for name in ("ada", "ben", "cleo")]
        assert main(["rank", *team, "--gold", "ada", "--quiet"]) == 0
        assert "against the gold standard ada:" in capsys.readouterr().out

    def test_an_empty_name(self, capsys):
        assert main(["difficulty", "example/ada.conll", "--gold", ""]) == 2
        assert_tells(capsys.readouterr().err, "--gold … empty")


def test_documents_that_cannot_be_compared_are_counted(tmp_path, capsys):
    header = "document,annotator,start,end,label,length"
    (tmp_path / "gold.csv").write_text(f"{header}\n1,gold,0,2,P,9\n2,gold,0,2,P,9\n")
    (tmp_path / "x.csv").write_text(f"{header}\n1,x,0,2,P,9\n3,x,0,2,P,9\n4,x,0,2,P,9\n")
    capsys.readouterr()
    call = ["rank", "gold.csv", "x.csv", "--quiet", "--empty", "missing"]
    assert main(call) == 0
    out = capsys.readouterr().out
    assert "\nx against the gold standard gold: 1 document, 2 spans;" in out
    assert_tells(out, "1 document of the gold standard only … 2 documents without")


def test_equal_spans_after_renaming(tmp_path, capsys):
    header = "document,annotator,start,end,label,length"
    rows = "1,a,0,2,P,9\n1,a,0,2,Q,9\n1,b,0,2,P,9\n"
    (tmp_path / "x.csv").write_text(f"{header}\n{rows}")
    call = ["agree", "x.csv", "--rename-label", "Q=P", "--quiet"]
    assert main([*call, "--strict"]) == 1
    capsys.readouterr()
    assert main(call) == 0
    assert "1 spans marked twice" in capsys.readouterr().out


def test_tokens_by_white_space(tmp_path, capsys):
    (tmp_path / "x.csv").write_text(
        "document,annotator,start,end,label,text\n1,a,0,4,P,Anna left.\n1,b,5,9,P,Anna left.\n"
    )
    assert main(["agree", "x.csv", "--positions", "whitespace", "--quiet"]) == 0
    out = capsys.readouterr().out
    assert "1 spans widened" in out
    assert "|tokens:whitespace|" in out


def test_the_length_of_documents_is_signed(tmp_path, capsys):
    (tmp_path / "x.csv").write_text("document,annotator,start,end,label\n1,a,0,2,P\n1,b,0,2,P\n")
    capsys.readouterr()
    assert main(["agree", "x.csv", "--length", "40", "--quiet"]) == 0
    assert "|length:40|" in capsys.readouterr().out


def test_the_demonstration_says_what_to_try_unless_it_is_quiet(tmp_path, capsys):
    for number, quiet in enumerate(([], ["--quiet"])):
        assert main(["demo", "--files", f"{tmp_path}/{number}", *quiet]) == 0
        said = capsys.readouterr().err
        assert ("beyondchance agree" in said) == (not quiet)
