"""Files and signals: nothing is lost, left half-written or said of the wrong file."""

import json
import os
import signal
import subprocess
import sys
import time

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io import saving
from beyondchance.io.sources import opened

ANNA = "Mia B-P\nLund I-P\n\nOslo B-L\nis O\n"
BEN = "Mia B-P\nLund O\n\nOslo B-L\nis O\n"
on_linux = pytest.mark.skipif(sys.platform != "linux", reason="of Linux")


@pytest.fixture
def team(tmp_path, monkeypatch):
    """A folder with two files, next to which commands run."""
    monkeypatch.chdir(tmp_path)
    folder = tmp_path / "team"
    folder.mkdir()
    (folder / "anna.conll").write_text(ANNA)
    (folder / "ben.conll").write_text(BEN)
    return folder


def ran(*words, **options):
    """A command in a process of its own."""
    given = {"capture_output": True, "text": True, **options}
    return subprocess.run([sys.executable, "-m", "beyondchance", *words], check=False, **given)


class TestReading:
    def test_links_that_lead_to_one_another(self, team):
        (team / "x").symlink_to("y")
        (team / "y").symlink_to("x")
        with pytest.raises(bc.FormatError, match=r"team/x: a link that leads nowhere; remove it"):
            opened(team)

    def test_links_to_nothing_are_not_passed_over(self, team):
        (team / "cleo.conll").symlink_to("nowhere")
        with pytest.raises(bc.FormatError, match=r"cleo.conll: a link that leads nowhere"):
            bc.read(team)

    def test_a_folder_that_holds_itself(self, team):
        (team / "self").symlink_to(".")
        assert len(opened(team)) == 2

    def test_folders_that_cannot_be_read(self, team, monkeypatch, capsys):
        (team / "secret").mkdir()
        real = os.scandir

        def refusing(path):
            if str(path).endswith("secret"):
                raise PermissionError(13, "Permission denied", str(path))
            return real(path)

        monkeypatch.setattr(os, "scandir", refusing)
        for gold in ([], ["--gold", "team/anna.conll"]):
            assert main(["agree", "team", *gold]) == 1
            assert "team/secret: cannot be read (permission denied)" in capsys.readouterr().err

    @pytest.mark.parametrize("words", ["team/anna.conll", "team", "team --gold x.conll"])
    def test_files_that_cannot_be_read(self, team, words, monkeypatch, capsys):
        (team.parent / "x.conll").write_text(ANNA)
        from pathlib import Path  # noqa: PLC0415

        def refusing(path, *_):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(Path, "open", refusing)
        assert main(["agree", *words.split()]) == 1
        assert ".conll: cannot be read (permission denied)" in capsys.readouterr().err

    @pytest.mark.parametrize("n", [300, 5000])
    @pytest.mark.usefixtures("team")
    def test_long_names(self, n, capsys):
        name = "x" * n
        assert main(["agree", name]) == 1
        assert "cannot be read (file name too long)" in capsys.readouterr().err
        for words in (
            ["agree", "team", "--save", name],
            ["convert", "team", "--to", "brat", "--save", f"{name}/"],
            ["report", "team", "-o", f"{name}.html"],
        ):
            assert main([*words, "--quiet"]) == 1
            said = capsys.readouterr().err
            assert said.startswith(f"beyondchance: {name}")
            assert said.endswith(": cannot be written (file name too long)\n")

    def test_names_with_nul_and_empty_ones(self, tmp_path):
        corpus = bc.example()
        with pytest.raises(bc.BeyondChanceError):
            bc.read("a\0b")
        with pytest.raises(bc.FormatError, match="cannot be written"):
            bc.write(corpus, tmp_path / "a\0b", format="table")
        with pytest.raises(bc.FormatError, match="the path to write to is empty"):
            bc.write(corpus, "", format="table")
        assert main(["agree", ""]) == 2


class TestHalvesOfCharacters:
    @pytest.mark.parametrize("form", ["text", "json", "csv", "markdown", "latex"])
    @pytest.mark.parametrize("command", ["agree", "disagreements", "difficulty"])
    def test_names_are_written_escaped(self, command, form, team):
        half = "\\ud800"
        (team.parent / "x.jsonl").write_text(
            "\n".join(
                f'{{"text": "Mia Lund", "document": "d{half}", "annotator": "{name}{half}", '
                f'"spans": [{{"start": 0, "end": {end}, "label": "P{half}"}}]}}'
                for name, end in (("ann", 3), ("ben", 8))
            )
        )
        assert main([command, "x.jsonl", "--quiet", "--output", form, "--save", "out"]) == 0
        written = (team.parent / "out").read_text("utf-8")
        if form == "json":
            json.loads(written)
        assert "ud800" in written or command == "difficulty"


class TestWriting:
    @pytest.mark.parametrize("kind", ["same", "link", "hard link"])
    @pytest.mark.parametrize("command", ["agree", "report", "convert"])
    def test_what_is_read_is_not_overwritten(self, kind, command, team, capsys):
        place = team / "anna.conll"
        if kind == "link":
            place = team.parent / "link.conll"
            place.symlink_to(team / "anna.conll")
        elif kind == "hard link":
            place = team.parent / "hard.conll"
            place.hardlink_to(team / "anna.conll")
        assert main([command, "team", "--save", str(place), "--quiet"]) == 2
        assert "is one of the files to read" in capsys.readouterr().err
        assert (team / "anna.conll").read_text() == ANNA

    def test_a_file_to_be_kept(self, team, capsys):
        kept = team.parent / "kept.txt"
        kept.write_text("old")
        kept.chmod(0o444)
        assert main(["agree", "team", "--save", "kept.txt"]) == 1
        assert "kept.txt: is a file that must not be changed" in capsys.readouterr().err
        assert kept.read_text() == "old"

    @pytest.mark.usefixtures("team")
    def test_content_is_on_the_disk_before_it_gets_its_name(self, monkeypatch):
        steps = []
        real = saving.Path.replace
        monkeypatch.setattr(os, "fsync", lambda _: steps.append("synced"))
        monkeypatch.setattr(
            saving.Path, "replace", lambda *paths: steps.append("moved") or real(*paths)
        )
        assert main(["agree", "team", "--save", "out.txt", "--quiet"]) == 0
        assert steps == ["synced", "moved"]
        assert main(["convert", "team", "--to", "conll", "--save", "out/", "--quiet"]) == 0
        assert steps[2:] == ["synced", "synced", "moved"]

    @on_linux
    def test_standard_output_by_its_name(self, team):
        words = ("agree", "team", "--quiet", "--output", "json")
        printed = ran(*words).stdout
        assert ran(*words, "--save", "/dev/stdout").stdout == printed
        log = team.parent / "log"
        log.write_text("old\n")
        with log.open("a") as file:
            ran(*words, "--save", "/dev/stdout", capture_output=False, stdout=file)
        assert log.read_text() == f"old\n{printed}"

    @on_linux
    def test_full_devices(self, team):
        del team
        with open("/dev/full", "w") as full:  # noqa: PTH123
            notes = ran("agree", "team", capture_output=False, stdout=-1, stderr=full)
            assert notes.returncode == 0
            assert notes.stdout.startswith("anna and ben")
            for words, code in ((("agree", "nothing"), 1), (("agree", "--nothing"), 2)):
                assert ran(*words, capture_output=False, stderr=full).returncode == code
            result = ran("agree", "team", capture_output=False, stdout=full, stderr=-1)
        assert result.returncode == 1
        assert result.stderr.endswith("the result cannot be written (no space left on device)\n")


# Whoever runs the tests may ignore that their terminal is gone.
SLOW = """
import signal; signal.signal(signal.SIGHUP, signal.SIG_DFL)
import os, sys, time
os.fsync = lambda _: time.sleep(60)
from beyondchance.__main__ import run
sys.argv = ["beyondchance", "agree", "team", "--quiet", "--save", "out.txt"]
run()
"""


def ended(process, number):
    process.send_signal(number)
    _, said = process.communicate(timeout=20)
    return process.returncode, said.strip()


@on_linux
class TestSignals:
    @pytest.mark.parametrize(
        ("number", "code"), [("SIGTERM", 143), ("SIGHUP", 129), ("SIGINT", 130)]
    )
    def test_nothing_half_written_is_left(self, number, code, team):
        with subprocess.Popen([sys.executable, "-c", SLOW], stderr=subprocess.PIPE) as process:
            for _ in range(400):
                if any(team.parent.glob(".*.part")):
                    break
                time.sleep(0.05)
            else:
                pytest.fail("nothing is being written")
            assert ended(process, getattr(signal, number)) == (code, b"")
        assert [path.name for path in team.parent.iterdir()] == ["team"]

    def test_what_outlives_its_terminal(self, team):
        del team
        code = SLOW.replace("60", "1").replace("SIG_DFL", "SIG_IGN")
        with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as process:
            time.sleep(1)
            assert ended(process, signal.SIGHUP) == (0, b"")

    def test_interrupted_while_it_is_loaded(self, tmp_path):
        (tmp_path / "click.py").write_text(
            "import pathlib, time\npathlib.Path('loading').touch()\ntime.sleep(60)\n"
        )
        found = [str(tmp_path), *filter(None, sys.path)]
        environment = {**os.environ, "PYTHONPATH": os.pathsep.join(found)}
        words = [sys.executable, "-m", "beyondchance", "--version"]
        with subprocess.Popen(
            words, env=environment, cwd=tmp_path, stderr=subprocess.PIPE
        ) as process:
            for _ in range(400):
                if (tmp_path / "loading").exists():
                    break
                time.sleep(0.05)
            assert ended(process, signal.SIGINT) == (130, b"")

    @pytest.mark.parametrize("limit", [400 * 2**20, 4 * 2**30])
    def test_a_report_where_memory_is_limited(self, limit, team):
        del team
        import resource  # noqa: PLC0415 - not on every system

        found = ran(
            *("report", "team", "-o", "out.html", "--quiet"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
        assert found.returncode == 1
        assert "addresses are limited to" in found.stderr or "not enough memory" in found.stderr
        assert found.stderr.count("\n") == 1
