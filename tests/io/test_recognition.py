"""A file of no known format is told what it looks like, and what broke it."""

from __future__ import annotations

import json
import zipfile
from collections import Counter
from xml.parsers import expat

import pytest

import beyondchance as bc
from beyondchance.io import sources
from beyondchance.io.registry import Format, Upload, recognised
from each import each
from refusals import assert_tells, refused

UNKNOWN = {
    "EU\tB-ORG\nGerman\tb-MISC\n": (
        ":2: looks like columns of tokens and tags, but 'b-MISC' is no tag; expected O, or a "
        "prefix such as B- or I- and a label"
    ),
    "EU b_org\ncalls\n": (
        ":1: looks like columns of tokens and tags, but 'b_org' is no tag; expected O, or a prefix "
        "such as B- or I- and a label"
    ),
    '\n{"tokens": ["Anna", null], "ner_tags": ["B-PER", "O"]}\n': (
        ":2: 'tokens' has null in place 2; expected words"
    ),
    '{"words": 1, "x": [2]}\n': (
        ": looks like JSON, of objects with the keys 'words', 'x'; expected text with spans "
        "(start, end, label), tokens with tags, or a table of spans: say where they are, such as "
        "fields='text=KEY,spans=KEY,start=KEY,end=KEY,label=KEY'"
    ),
    "[1, 2]": (
        ": looks like JSON, of numbers; expected text with spans (start, end, label), tokens with "
        "tags, or a table of spans: the documentation of files lists the keys; or pass format=NAME"
    ),
    '[{"a": 1,}]': ":1: not valid JSON at column 9 (Illegal trailing comma before end of object)",
    '{"a": "b': (
        ":1: not valid JSON at column 7 (Unterminated string starting at); the file seems to be "
        "cut off: export it again"
    ),
    "<a><b>x</b></a>": (
        ": looks like XML of no known format; expected a format that 'beyondchance formats' lists: "
        "if its elements are the annotations, pass format='tei' and layer=ELEMENTS"
    ),
    "id,name,value\n1,a,2\n": (
        ": looks like a table with the columns 'id', 'name', 'value'; expected columns for start, "
        "end and label, and document and annotator where there are several: rename the columns"
    ),
    "Dear Anna,\n": (
        ": is plain text, without columns, JSON or XML; expected annotations: 'beyondchance "
        "formats' lists what can be read; or pass format=NAME"
    ),
    "%PDF-1.4": ": is a PDF; expected text: export the annotations, not the page",
    "": ": is empty; expected annotations",
}


@each("content", UNKNOWN)
def test_what_no_format_recognises(tmp_path, content):
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(bc.FormatError) as caught:
        bc.read(path)
    message = str(caught.value).removeprefix(str(path))
    if "trailing comma" in UNKNOWN[content]:  # which Python words by its version
        assert_tells(message, ":1: … valid … column")
    else:
        assert message == UNKNOWN[content]


@each(
    ("content", "kind"),
    [(b"Rar!\x1a", "a rar archive"), (b"\xd0\xcf\x11\xe0\xa1", "an old Microsoft Office")],
)
def test_binary_files_of_other_kinds(tmp_path, content, kind):
    path = tmp_path / "file"
    path.write_bytes(content)
    with refused(bc.FormatError, kind):
        bc.read(path)


SPANS = '{"id": 1, "text": "Ada", "label": [[0, 3, "PER"]]}\n'
TYPES = "<typeSystemDescription><types/></typeSystemDescription>"
CUT = "the file seems to be cut off: export it again"
RECORDS = '[{"text": "Ada", "entities": [{"start": 0, "end": 3, "label": "PER"}]}]'
TOKENS = '{"tokens": ["a"], "ner_tags": ["O"]}\n'
FOLDERS = {
    "2.jsonl:1: … not valid JSON at column 26 (Unterminated string starting at); " + CUT: {
        "1.jsonl": SPANS,
        "2.jsonl": SPANS[:30],
    },
    "2.json:1: … not valid JSON at column 18 (Unterminated string starting at); " + CUT: {
        "1.json": RECORDS,
        "2.json": RECORDS[:20],
    },
    "2.jsonl: … is empty; expected annotations": {
        "1.jsonl": TOKENS,
        "2.jsonl": "",
        "3.jsonl": TOKENS,
    },
    "1.json: … looks like records, and … 2.jsonl like hf; expected files of one format": {
        "1.json": RECORDS,
        "2.jsonl": TOKENS,
    },
    "doc.xmi: … is empty; expected annotations": {"TypeSystem.xml": TYPES, "doc.xmi": ""},
    "Other.xml: … is a type system of UIMA; expected the XMI file that belongs to it": {
        "TypeSystem.xml": TYPES,
        "Other.xml": TYPES,
    },
}


@each("message", FOLDERS)
def test_the_file_of_a_folder_that_broke_it_is_named(tmp_path, message):
    for file, content in FOLDERS[message].items():
        (tmp_path / file).write_text(content)
    with refused(bc.FormatError, message):
        bc.read(tmp_path)


def test_an_archive_that_is_cut_off(tmp_path):
    with zipfile.ZipFile(tmp_path / "whole.zip", "w") as archive:
        archive.writestr("admin.jsonl", SPANS * 100)
    path = tmp_path / "cut.zip"
    path.write_bytes((tmp_path / "whole.zip").read_bytes()[:-40])
    with refused(bc.FormatError, f"{path}: … cut"):
        bc.read(path)
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("letter.txt", "Dear Anna,")
    with refused(bc.FormatError, "known"):
        bc.read(path)


def test_plain_text_with_words_that_are_tags_is_no_conll(tmp_path):
    path = tmp_path / "content.txt"
    for text in (
        "I\nam home.\n\nThe\nhouse\nis O.\n\nSo I\nsaid home.\n",
        "Tell me, O muse, of that ingenious hero who travelled far and wide, and came home.\n",
        "Tell me O muse of that ingenious hero who travelled far and wide and came home.\n",
    ):
        path.write_text(text)
        with refused(bc.FormatError, "without"):
            bc.read(path)


def _tried(path, monkeypatch):
    """How often the head of a file is decoded and parsed while all formats are tried."""
    calls = Counter()

    def counted(owner, name):
        call = getattr(owner, name)
        count = lambda *given, **named: (calls.update([name]), call(*given, **named))[1]  # noqa: E731
        monkeypatch.setattr(owner, name, count)

    counted(json.JSONDecoder, "raw_decode")
    counted(expat, "ParserCreate")
    counted(sources, "getincrementaldecoder")
    source = sources.Source(str(path), path=path)
    assert recognised(Upload(str(path), path.stem, [source])) is None
    assert not source.found
    assert "data" not in vars(source)
    return calls


@pytest.mark.parametrize(
    ("content", "parser"), [('{"a": [1, 2]}', "raw_decode"), ("<a><b/></a>", "ParserCreate")]
)
def test_a_head_is_decoded_and_parsed_once(tmp_path, monkeypatch, content, parser):
    path = tmp_path / "unknown"
    path.write_text(content)
    calls = _tried(path, monkeypatch)
    assert calls == {"getincrementaldecoder": 1, parser: 1}


def test_an_archive_is_not_unpacked_to_be_recognised(tmp_path, monkeypatch):
    path = tmp_path / "unknown.zip"
    with zipfile.ZipFile(path, "w") as archive:
        archive.writestr("a.txt", "nothing")
    monkeypatch.setattr(sources, "members", None)
    _tried(path, monkeypatch)


def test_data_are_of_the_formats_that_can_be_in_memory(monkeypatch):
    asked = []
    monkeypatch.setattr(Format, "reader", lambda item: asked.append(item.name) or Empty)
    data = Upload("data 1", "annotator 1", [sources.Source("data 1", member=b"")], data=[1])
    assert recognised(data) is None
    assert asked == ["spacy", "records", "quotes", "hf", "table"]


class Empty:
    """The reader of a format that nothing is of."""

    @staticmethod
    def is_format(_):
        return False
