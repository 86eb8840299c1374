"""Files to run commands on, and what commands print about them."""

import json
import re
import shutil
from dataclasses import dataclass
from functools import partial
from pathlib import Path

import pytest

from beyondchance import read
from beyondchance.cli import running
from beyondchance.cli.main import main
from beyondchance.reporting import methods
from beyondchance.reporting.blocks import Report
from deciding import decided_for, file_of

TEAM = ("example/ada.conll", "example/ben.conll", "example/cleo.conll")


def at_rest(monkeypatch):
    """No terminal to fit to, and nothing that asks for colours."""
    for name in ("COLUMNS", "NO_COLOR", "FORCE_COLOR"):
        monkeypatch.delenv(name, raising=False)


@pytest.fixture(scope="session")
def example_files(tmp_path_factory):
    """The folder ``example`` that the demonstration writes, made once."""
    folder = tmp_path_factory.mktemp("demo") / "example"
    assert main(["demo", "--quiet", "--files", str(folder)]) == 0
    return folder


@pytest.fixture
def example(example_files, tmp_path, monkeypatch):
    """A folder to work in, with the example's files."""
    shutil.copytree(example_files, tmp_path / "example")
    monkeypatch.chdir(tmp_path)
    at_rest(monkeypatch)
    return tmp_path


def shifted(lines, by):
    """The tags of each sentence moved on by some words, round its end."""
    found, sentence = [], []
    for line in [*lines, ""]:
        if line and not line.startswith("#"):
            sentence.append(line.split("\t"))
            continue
        tags = [tag for _, tag in sentence]
        moved = tags[len(tags) - by * len(tags) // 2 :] + tags[: len(tags) - by * len(tags) // 2]
        found += ["\t".join(pair) for pair in zip((w for w, _ in sentence), moved, strict=True)]
        found.append(line)
        sentence = []
    return found[:-1]


@pytest.fixture(scope="session")
def worked_example(example_files, tmp_path_factory):
    """A folder that is only read: the example, in rounds too, more annotators, and decisions."""
    folder = tmp_path_factory.mktemp("worked")
    shutil.copytree(example_files, folder / "example")
    (folder / "rounds").mkdir()
    for path in map(Path, TEAM):
        text = (folder / path).read_text("utf-8")
        start, *rest = re.split(r"# season = \w+", text)
        halves = (f"# round = {1 + 2 * i // len(rest)}{each}" for i, each in enumerate(rest))
        text = start + "".join(halves)
        (folder / "rounds" / path.name).write_text(text, "utf-8")
    # Somebody who marks as many tokens as ada, at other places, and somebody like ben.
    for name, of, shift in (("dan", "ada", 1), ("eve", "ben", 0)):
        lines = (folder / f"example/{of}.conll").read_text("utf-8").splitlines()
        moved = "\n".join(shifted(lines, shift))
        (folder / f"{name}.conll").write_text(f"{moved}\n", "utf-8")
    corpus = read(*(folder / path for path in TEAM))
    for who, by in (("ada", "mia"), ("ben", "tom")):
        made = decided_for(corpus, who, by)[::2]
        made[0]["note"] = "as in the guideline"
        text = json.dumps(file_of(corpus, made))
        (folder / f"{by}.json").write_text(text, encoding="utf-8")
    return folder


@dataclass(frozen=True)
class Printed:
    """What a command printed, and the report that it printed: other outputs cost little."""

    text: str
    report: Report
    write: partial

    def as_output(self, output, **options):
        return self.write(self.report, output, **options)

    @property
    def data(self):
        """The JSON that it prints, anew: whoever asks may change it."""
        return json.loads(self.as_output("json"))


@pytest.fixture(scope="session")
def _kept():
    return {}


@pytest.fixture
def printed(worked_example, _kept, monkeypatch, capsys):
    """Run a command among the files of the example; each is run once."""
    monkeypatch.chdir(worked_example)
    at_rest(monkeypatch)

    def runner(*words):
        if words in _kept:
            return _kept[words]
        caught = []

        def keeping(rendered):
            def keep(report, output, **options):
                options.pop("width", None)
                options.pop("colour", None)
                caught.extend([report, partial(rendered, **options)])
                return rendered(report, output, **options)

            return keep

        with monkeypatch.context() as patch:
            patch.setattr(running, "rendered", keeping(running.rendered))
            patch.setattr(methods, "rendered_methods", keeping(methods.rendered_methods))
            capsys.readouterr()
            code = main([*words, "--quiet"])
        out, err = capsys.readouterr()
        assert (code, err) == (0, "")
        _kept[words] = Printed(out, *caught)
        return _kept[words]

    return runner
