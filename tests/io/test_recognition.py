"""A file of no known format is told what it looks like, and what broke it."""

from __future__ import annotations

import pytest

import beyondchance as bc

UNKNOWN = {
    "EU\tB-ORG\nGerman\tb-MISC\n": (
        ":2: looks like columns of tokens and tags, but 'b-MISC' is no tag; expected O, or a "
        "prefix such as B- or I- and a label"
    ),
    "EU b_org\ncalls\n": (
        ":1: looks like columns of tokens and tags, but 'b_org' is no tag; expected O, or a prefix "
        "such as B- or I- and a label"
    ),
    '{"words": 1, "x": [2]}\n': (
        ": looks like JSON, of objects with the keys 'words', 'x'; expected text with spans "
        "(start, end, label), tokens with tags, or a table of spans: the documentation of files "
        "lists the keys; or pass format=NAME"
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


@pytest.mark.parametrize("content", UNKNOWN)
def test_what_no_format_recognises(tmp_path, content):
    path = tmp_path / "file"
    path.write_text(content)
    with pytest.raises(bc.FormatError) as caught:
        bc.read(path)
    message = str(caught.value).removeprefix(str(path))
    if "trailing comma" in UNKNOWN[content]:  # which Python words by its version
        assert message.startswith(":1: not valid JSON at column ")
    else:
        assert message == UNKNOWN[content]


@pytest.mark.parametrize(
    ("content", "kind"),
    [(b"\x1f\x8b\x08", "compressed by gzip"), (b"\xd0\xcf\x11\xe0\xa1", "an old Microsoft Office")],
)
def test_binary_files_of_other_kinds(tmp_path, content, kind):
    path = tmp_path / "file"
    path.write_bytes(content)
    with pytest.raises(bc.FormatError, match=kind):
        bc.read(path)
