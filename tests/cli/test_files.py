"""Files and signals: nothing is lost, left half-written or said of the wrong file."""

import io
import json
import os
import signal
import subprocess
import sys
import time
import zipfile
from itertools import cycle
from pathlib import Path

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io import saving
from beyondchance.io.sources import opened
from beyondchance.reporting.rendering import OUTPUTS
from deciding import file_of
from refusals import assert_tells, refused

ANNA = "Mia B-P\nLund I-P\n\nOslo B-L\nis O\n"
TABLE = "document,annotator,start,end,label,length\n" + "".join(
    f"{document},{name},0,{end},{label},9\n"
    for document, label in (("d1", "P"), ("d2", "L"))
    for name, end in (("anna", 3), ("ben", 5))
)
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


@pytest.fixture
def table(tmp_path, monkeypatch):
    """A table with two names more, next to which commands run."""
    monkeypatch.chdir(tmp_path)
    path = tmp_path / "in.csv"
    path.write_text(TABLE)
    (tmp_path / "link.csv").symlink_to(path)
    (tmp_path / "hard.csv").hardlink_to(path)
    return path


def ran(*words, **options):
    """A command in a process of its own."""
    given = {"capture_output": True, "text": True, **options}
    return subprocess.run([sys.executable, "-m", "beyondchance", *words], check=False, **given)


class TestReading:
    def test_links_that_lead_to_one_another(self, team):
        (team / "x").symlink_to("y")
        (team / "y").symlink_to("x")
        with refused(bc.FormatError, "team/x: … link"):
            opened(team)

    def test_links_to_nothing_are_not_passed_over(self, team):
        (team / "cleo.conll").symlink_to("nowhere")
        with refused(bc.FormatError, "cleo.conll: … link"):
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
            assert_tells(capsys.readouterr().err, "team/secret: … permission denied")

    def test_files_that_cannot_be_read(self, team, monkeypatch, capsys):
        (team.parent / "x.conll").write_text(ANNA)

        def refusing(path, *_):
            raise PermissionError(13, "Permission denied", str(path))

        monkeypatch.setattr(Path, "open", refusing)
        for words in ("team/anna.conll", "team", "team --gold x.conll"):
            assert main(["agree", *words.split()]) == 1
            assert_tells(capsys.readouterr().err, ".conll: … permission denied")

    @pytest.mark.usefixtures("team")
    def test_long_names(self, capsys):
        for n in (300, 5000):
            assert main(["agree", "x" * n]) == 1
            assert "file name too long" in capsys.readouterr().err
        for n, words in (
            (300, "agree team --save {}"),
            (5000, "convert team --to brat --save {}/"),
            (5000, "report team --resamples 99 -o {}.html"),
        ):
            name = "x" * n
            assert main([*words.format(name).split(), "--quiet"]) == 1
            said = capsys.readouterr().err
            assert said.startswith(f"beyondchance: {name}")
            assert "file name too long" in said
            assert said.count("\n") == 1

    def test_names_with_nul_and_empty_ones(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        corpus = bc.example()
        with pytest.raises(bc.BeyondChanceError):
            bc.read("a\0b")
        with pytest.raises(bc.FormatError, match="written"):
            bc.write(corpus, tmp_path / "a\0b", format="table")
        with pytest.raises(bc.FormatError, match="empty"):
            bc.write(corpus, "", format="table")
        assert main(["agree", ""]) == 2


def test_halves_of_characters_are_written_escaped(team):
    half = "\\ud800"
    (team.parent / "x.jsonl").write_text(
        "\n".join(
            f'{{"text": "Mia Lund", "document": "d{half}", "annotator": "{name}{half}", '
            f'"spans": [{{"start": 0, "end": {end}, "label": "P{half}"}}]}}'
            for name, end in (("ann", 3), ("ben", 8))
        )
    )
    commands = cycle(["agree", "disagreements"])
    for form, command in zip(OUTPUTS, commands, strict=False):
        assert main([command, "x.jsonl", "--quiet", "--output", form, "--save", "out"]) == 0
        written = (team.parent / "out").read_text("utf-8")
        if form == "json":
            json.loads(written)
        assert "ud800" in written, (command, form)


class TestWriting:
    def test_what_is_read_is_not_overwritten(self, team, capsys):
        link, hard = team.parent / "link.conll", team.parent / "hard.conll"
        link.symlink_to(team / "anna.conll")
        hard.hardlink_to(team / "anna.conll")
        for place, command in ((team / "anna.conll", "agree"), (link, "report"), (hard, "convert")):
            assert main([command, "team", "--save", str(place), "--quiet"]) == 2
            assert_tells(capsys.readouterr().err, f"{place} … input")
            assert (team / "anna.conll").read_text() == ANNA

    def test_saved_counts_replace_no_input(self, table, capsys):
        for place in ("in.csv", "link.csv"):
            assert main(["agree", "in.csv", "--save-counts", place, "--quiet"]) == 2
            assert_tells(capsys.readouterr().err, f"{place} … input")
        with refused(bc.OptionError, "in.csv: … input"):
            bc.agreement(bc.scan("in.csv"), save_counts="in.csv")
        assert table.read_text() == TABLE

    def test_standard_input_is_not_replaced(self, table, capsys, monkeypatch):
        for command in ("agree", "disagreements", "convert"):
            monkeypatch.setattr("sys.stdin", io.TextIOWrapper(io.BytesIO(TABLE.encode())))
            assert main([command, "-", "--labels", "P", "--save", "in.csv", "--quiet"]) == 2
            assert_tells(capsys.readouterr().err, "in.csv … input")
            assert table.read_text() == TABLE

    def test_python_replaces_no_input(self, table):
        corpus = bc.read("in.csv").select(labels=["P"])
        for place in ("in.csv", "link.csv", "hard.csv"):
            with refused(bc.OptionError, f"{place}: … input"):
                bc.write(corpus, place, format="table")
        assert table.read_text() == TABLE
        # A file that has the same content loses nothing.
        bc.write(corpus, "out.csv")
        bc.write(bc.read("out.csv"), "out.csv")

    def test_python_replaces_no_archive(self, table):
        place = table.parent / "team.zip"
        with zipfile.ZipFile(place, "w") as archive:
            for name, end in (("anna", 3), ("ben", 8)):
                task = {"id": 1, "text": "Mia Lund", "label": [[0, end, "P"]]}
                archive.writestr(f"{name}.jsonl", json.dumps(task))
        packed = place.read_bytes()
        with refused(bc.OptionError, "team.zip: … input"):
            bc.write(bc.read(place), place, format="table")
        assert place.read_bytes() == packed

    @pytest.mark.slow
    @pytest.mark.parametrize("given", ["at once", "in parts", "counted"])
    def test_results_know_what_they_were_computed_from(self, table, given):
        places = ["in.csv", str(table), "link.csv", "hard.csv"]
        if given == "at once":
            result = bc.agreement("in.csv")
        elif given == "in parts":
            result = bc.agreement(bc.scan("in.csv"))
        else:
            bc.agreement(bc.scan("in.csv"), save_counts="x.counts")
            result = bc.agreement(bc.scan("x.counts"))
            places.append("x.counts")
        before = {place: Path(place).read_bytes() for place in places}
        page = bc.report(result, resamples=99)
        for place in places:
            with refused(bc.OptionError, f"{place}: … input"):
                page.save(place)
        assert {place: Path(place).read_bytes() for place in places} == before

    def test_an_input_that_has_changed_is_not_replaced(self, table):
        corpus = bc.read("in.csv")
        table.write_text(TABLE + "d9,ben,0,3,P,9\n")
        with refused(bc.OptionError, "in.csv: … input"):
            bc.write(corpus, "in.csv")

    def test_what_is_read_beside_is_not_replaced(self, tmp_path, monkeypatch):
        monkeypatch.chdir(tmp_path)
        corpus = bc.Corpus.from_spans({"ada": [[(0, 2, "P")]], "ben": [[]]}, lengths=[5])
        made = {"document": "0", "text": 0, "start": 0, "end": 2, "spans": []}
        Path("mia.json").write_text(json.dumps(file_of(corpus, [made])))
        Path("names.json").write_text(json.dumps(["O", "B-P"]))
        Path("a.jsonl").write_text('{"tokens": ["Mia"], "ner_tags": [1]}\n')
        Path("d.txt").write_text("Mia Lund")
        Path("d.ann").write_text("T1\tP 0 3\tMia\n")
        for made, place in (
            (bc.adjudicated(corpus, "mia.json"), "mia.json"),
            (bc.read("a.jsonl", label_names="names.json"), "names.json"),
            (bc.read("d.ann"), "d.txt"),
        ):
            before = Path(place).read_bytes()
            with refused(bc.OptionError, f"{place}: … input"):
                bc.write(made, place, format="table")
            assert Path(place).read_bytes() == before

    @pytest.mark.slow
    def test_pages_and_figures_replace_no_input(self, table, capsys):
        page = bc.report("in.csv", resamples=99)
        with refused(bc.OptionError, "in.csv: … input"):
            page.save("in.csv")
        name = next(iter(page.charts))
        place = table.parent / "figures" / f"{name}.svg"
        place.parent.mkdir()
        place.write_text(TABLE)
        for options in ([], ["--workers", "1"]):
            words = ["report", f"figures/{name}.svg", *options, "-o", "x.html", "--format", "table"]
            assert main([*words, "--figures", "figures", "--resamples", "99", "--quiet"]) == 2
            assert_tells(capsys.readouterr().err, f"{name}.svg … input")
            assert [file.read_text() for file in place.parent.iterdir()] == [TABLE]

    def test_a_file_to_be_kept(self, team, capsys):
        kept = team.parent / "kept.txt"
        kept.write_text("old")
        kept.chmod(0o444)
        assert main(["agree", "team", "--save", "kept.txt"]) == 1
        assert_tells(capsys.readouterr().err, "kept.txt: … changed")
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
    @pytest.mark.slow
    def test_standard_output_by_its_name(self, team, capsys):
        words = ("agree", "team", "--quiet", "--output", "json")
        assert main(words) == 0
        printed = capsys.readouterr().out
        log = team.parent / "log"
        log.write_text("old\n")
        with log.open("a") as file:
            ran(*words, "--save", "/dev/stdout", capture_output=False, stdout=file)
        assert log.read_text() == f"old\n{printed}"

    @on_linux
    @pytest.mark.slow
    @pytest.mark.usefixtures("team")
    def test_a_full_device(self):
        with open("/dev/full", "w") as full:  # noqa: PTH123
            result = ran("agree", "team", capture_output=False, stdout=full, stderr=-1)
        assert result.returncode == 1
        assert_tells(result.stderr.splitlines()[-1], "result … no space left on device")


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
    _, said = process.communicate(timeout=60)
    return process.returncode, said.strip()


def until(is_so):
    """Wait for something that another process does."""
    for _ in range(1200):
        if is_so():
            return
        time.sleep(0.05)
    pytest.fail("it does not happen")


@on_linux
@pytest.mark.slow
class TestSignals:
    @pytest.mark.parametrize(
        ("number", "code"),
        [
            ("SIGTERM", 143),
            pytest.param("SIGINT", 130, marks=pytest.mark.long),
            pytest.param("SIGHUP", 129, marks=pytest.mark.long),
        ],
    )
    def test_nothing_half_written_is_left(self, number, code, team):
        with subprocess.Popen([sys.executable, "-c", SLOW], stderr=subprocess.PIPE) as process:
            until(lambda: any(team.parent.glob(".*.part")))
            assert ended(process, getattr(signal, number)) == (code, b"")
        assert [path.name for path in team.parent.iterdir()] == ["team"]

    def test_what_outlives_its_terminal(self, team):
        code = SLOW.replace("60", "1").replace("SIG_DFL", "SIG_IGN")
        with subprocess.Popen([sys.executable, "-c", code], stderr=subprocess.PIPE) as process:
            until(lambda: any(team.parent.glob(".*.part")))
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
            until((tmp_path / "loading").exists)
            assert ended(process, signal.SIGINT) == (130, b"")

    def test_a_report_where_memory_is_limited(self, team):
        import resource  # noqa: PLC0415 - not on every system

        limit = 400 * 2**20
        found = ran(
            *("report", "team", "-o", "out.html", "--quiet"),
            preexec_fn=lambda: resource.setrlimit(resource.RLIMIT_AS, (limit, limit)),
        )
        assert (found.returncode, found.stderr) == (0, "")
        assert (team.parent / "out.html").stat().st_size > 100_000
