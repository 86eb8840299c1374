"""The first contribution in CONTRIBUTING.md does what it says, word by word."""

import re
import shlex
import sys
import tomllib
from pathlib import Path
from textwrap import dedent

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io.registry import plugins

PAGE = (Path(__file__).parent.parent / "CONTRIBUTING.md").read_text("utf-8")
SECTION = PAGE.partition("## A first contribution")[2].partition("\n## ")[0]
BLOCKS = [
    (kind, dedent(text)) for kind, text in re.findall(r"```(\w+)\n(.*?)```", SECTION, re.DOTALL)
]


def blocks(kind):
    """The blocks of one kind, in their order."""
    return [text for name, text in BLOCKS if name == kind]


@pytest.fixture
def installed(tmp_path, monkeypatch):
    """The package, where Python finds it, with what its project file says of it."""
    for kind in ("python", "toml"):
        (text,) = blocks(kind)
        (tmp_path / text.partition("\n")[0].removeprefix("# ")).write_text(text, "utf-8")
    project = tomllib.loads((tmp_path / "pyproject.toml").read_text("utf-8"))["project"]
    info = tmp_path / f"{project['name'].replace('-', '_')}-{project['version']}.dist-info"
    info.mkdir()
    named = f"Name: {project['name']}\nVersion: {project['version']}\n"
    (info / "METADATA").write_text(f"Metadata-Version: 2.1\n{named}")
    groups = project["entry-points"].items()
    lines = (
        f"[{group}]\n" + "".join(f"{name} = {place}\n" for name, place in points.items())
        for group, points in groups
    )
    (info / "entry_points.txt").write_text("".join(lines))
    monkeypatch.syspath_prepend(tmp_path)
    monkeypatch.delitem(sys.modules, "brackets", raising=False)
    plugins.cache_clear()
    yield tmp_path
    plugins.cache_clear()


def test_each_step(installed, monkeypatch, capsys):
    monkeypatch.chdir(installed)
    names = re.search(r"in\s`(\S+)` and `(\S+)`", SECTION).groups()
    for name, text in zip(names, blocks("text"), strict=True):
        Path(name).write_text(text, "utf-8")
    (shown,) = blocks("console")
    command, *lines = shown.removeprefix("$ beyondchance ").split("\n")
    assert main(shlex.split(command)) == 0
    said = capsys.readouterr().out
    for piece in "\n".join(lines).split("…\n"):
        assert piece in said
    corpus = bc.read(*names, positions="characters")
    words = [corpus.texts[0][start:end] for start, end, _ in corpus.spans("1", "ada")]
    assert words == ["Ada", "Mr. Bo", "Rome"]
    result = bc.agreement(*names, measure="exact", unit="document")
    assert (result.observed, result.chance) == (2 * 1 / (3 + 2), 2 * 0.25 / (3 + 2))
