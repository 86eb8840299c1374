"""Formats of other packages."""

import sys

import pytest

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.io.registry import plugins
from each import each
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

MODULE = r'''
from collections.abc import Iterator

from beyondchance.formats import CHARACTERS, Draft, DraftSpan, Format, FormatError, each_upload

FORMAT = Format(
    name="stars",
    title="a text, then a line with start, end and label for each span",
    example="beyondchance agree anna.stars ben.stars",
    options=CHARACTERS,  # the options of formats that have texts
    module="stars",
)


def is_format(upload):
    """Return whether an upload is of this format."""
    return all(source.ending == ".stars" for source in upload.sources)


@each_upload
def read(upload, reading) -> Iterator[Draft]:
    """Yield the work of one annotator on each document."""
    for source in upload.sources:
        text, *lines = source.lines()
        spans = []
        for number, line in enumerate(lines, start=2):
            start, end, label = (line.split("\t") + ["", ""])[:3]
            where = f"{source.name}:{number}"
            if not (start.isdecimal() and end.isdecimal()):
                raise FormatError("no span", where=where, expected="start, end and label, by tabs")
            spans.append(DraftSpan(int(start), int(end), label, where=where))
        yield Draft(
            where=source.name,
            document=upload.document_of(source),
            annotator=upload.annotator,
            text=text,
            spans=spans,
        )
'''
"""A reader of files whose first line is the text, and every other line a span."""


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
