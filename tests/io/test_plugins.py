"""Formats of other packages, as the documentation of files shows one."""

import re
import sys
from pathlib import Path

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io.registry import plugins
from each import each
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

PAGE = (Path(__file__).parents[2] / "docs" / "reference" / "formats.md").read_text("utf-8")
MODULE = re.search(r"```python\n(# stars\.py\n.*?)```", PAGE, re.DOTALL)[1]


@pytest.fixture(autouse=True)
def package(tmp_path, monkeypatch):
    """A package of one module, installed."""
    info = tmp_path / "site" / "stars-1.0.dist-info"
    info.mkdir(parents=True)
    (info / "METADATA").write_text("Metadata-Version: 2.1\nName: stars\nVersion: 1.0\n")
    (info / "entry_points.txt").write_text("[beyondchance.formats]\nstars = stars:FORMAT\n")
    module = tmp_path / "site" / "stars.py"
    module.write_text(MODULE)
    monkeypatch.syspath_prepend(tmp_path / "site")
    monkeypatch.delitem(sys.modules, "stars", raising=False)
    plugins.cache_clear()
    yield module
    plugins.cache_clear()


@pytest.fixture
def files(tmp_path):
    paths = [tmp_path / "ada.stars", tmp_path / "ben.stars"]
    paths[0].write_text("Ada met Bo.\n0\t3\tPER\n8\t10\tPER\n")
    paths[1].write_text("Ada met Bo.\n0\t4\tPER\n")
    return paths


def test_files_are_detected_and_read(files):
    corpus = bc.read(*files)
    assert corpus.annotators == ("ada", "ben")
    assert corpus.spans("1", "ada") == [(0, 3, "PER"), (8, 10, "PER")]
    assert corpus.spans("1", "ben") == [(0, 3, "PER")]
    assert list(map(str, corpus.skipped)) == ["spans trimmed of white space"]
    assert bc.read(*files, format="stars", positions="tokens").positions == "tokens"


def test_folders_have_a_document_for_each_file(tmp_path):
    for name in ("ada", "ben"):
        (tmp_path / name).mkdir()
        (tmp_path / name / "d1.stars").write_text("Bo left.\n0\t2\tPER\n")
    assert bc.read(tmp_path / "ada", tmp_path / "ben").documents == ("d1",)


def test_refusals_are_those_of_every_format(files):
    files[1].write_text("Ada met Bo.\nx\n")
    with refused(bc.FormatError, "ben.stars:2: … expected start, end and label"):
        bc.read(*files)
    files[1].write_text("Ada met Bo.\n8\t99\tPER\n")
    with refused(bc.SpanError, "ben.stars:2: … [8, 99) … 11 characters"):
        bc.read(*files)
    with refused(bc.OptionError, "scheme"):
        bc.read(*files, scheme="IOB2")


def test_commands_know_it(files, capsys):
    main(["formats", "--output", "csv"])
    assert "\nstars," in capsys.readouterr().out
    main(["agree", "--format", "stars", *map(str, files)])
    assert "ada and ben" in capsys.readouterr().out


@each(
    ("text", "told"),
    [
        ("import nothing_of_that_name", "cannot be loaded (ModuleNotFoundError"),
        ("FORMAT = 3", "is 3, and not a Format"),
        (MODULE.replace('name="stars"', 'name="conll"'), "is called conll, as another"),
    ],
)
def test_a_broken_package_is_named(tmp_path, package, monkeypatch, text, told):
    plugins.cache_clear()
    monkeypatch.delitem(sys.modules, "stars", raising=False)
    package.write_text(text)
    path = tmp_path / "x.unknown"
    path.write_text("nothing that anybody reads")
    with refused(bc.DataError, f"stars:FORMAT adds {told} … uninstall stars"):
        bc.read(path)


def test_what_no_format_reads_is_refused_as_before(tmp_path):
    path = tmp_path / "x.unknown"
    path.write_text("nothing that anybody reads")
    with refused(bc.FormatError, "x.unknown: … plain text"):
        bc.read(path)
    with refused(bc.OptionError, "unknown format 'starz' … stars"):
        bc.read(path, format="starz")
