"""Files that are made to take long: they take time in proportion to their length."""

import json
from contextlib import suppress
from math import inf
from tempfile import TemporaryDirectory

import pytest

import beyondchance as bc
from each import each
from slowness import MOST, Text, n_calls, time_for

LENGTH = 60_000
"""Characters, fewer than those by which formats are recognised: a format looks at all of them."""
XML = '<?xml version="1.0"?>'
ROW = "1\tAda\t_\tNOUN\t_\t_\t0\tdep\t_\t"
GRID = 'File type = "ooTextFile"\nObject class = "TextGrid"\n\n'
TIER = (
    f"{GRID}xmin = 0\nxmax = 2\ntiers? <exists>\nsize = 1\nitem []:\n    item [1]:\n"
    '        class = "IntervalTier"\n        name = "ada"\n        xmin = 0\n        xmax = 2\n'
    "        intervals: size = 1\n        intervals [1]:\n"
)
ELAN = (
    f"{XML}<ANNOTATION_DOCUMENT><TIME_ORDER><TIME_SLOT TIME_SLOT_ID='a' TIME_VALUE='0'/>"
    "<TIME_SLOT TIME_SLOT_ID='b' TIME_VALUE='9'/></TIME_ORDER><TIER TIER_ID='ada'><ANNOTATION>"
    "<ALIGNABLE_ANNOTATION ANNOTATION_ID='x' TIME_SLOT_REF1='a' TIME_SLOT_REF2='b'>"
    "<ANNOTATION_VALUE><![CDATA["
)
ELAN_END = "]]></ANNOTATION_VALUE></ALIGNABLE_ANNOTATION></ANNOTATION></TIER></ANNOTATION_DOCUMENT>"

FILES = {
    "comments before the root": Text(XML, "<!-- a -->", "<TEI><text>Ada</text></TEI>"),
    "comments in lines": Text(XML, "\n<!-- a -->\n", "<a>"),
    "comments without an end": Text(XML, "<!--a>", "<a>"),
    "a document type of blanks": Text(f"{XML}<!DOCTYPE", " ", "x"),
    "declarations without an end": Text(XML, "<!", ""),
    "projects without an end": Text(XML, "<Project ", ""),
    "a declaration of blanks": Text("<?xml encoding", " ", "?><a/>"),
    "a comment of blanks in CoNLL": Text("# newdoc id = a\n#", " ", "x\nAda\tB-PER\n"),
    "a key of blanks in CoNLL": Text("# newdoc id = a\n# a", " ", "= b =\nAda\tB-PER\n"),
    "a mark of blanks in CoNLL": Text("# newdoc id = a", " ", "\nAda\tB-PER\n"),
    "a long tag in CoNLL-U": Text(f"{ROW}NER=", "a", "\n"),
    "names in brackets in CoNLL-U": Text(f"{ROW}Entity=(PER", "a", ")\n"),
    "names without brackets in CoNLL-U": Text(f"{ROW}Entity=(PER)", "a", "\n"),
    "open brackets in CoNLL-U": Text(f"{ROW}Entity=", "(a", "\n"),
    "a comment of blanks in CoNLL-U": Text("# global.Entity", " ", f"= b\n{ROW}NER=B-PER\n"),
    "a negative time in a TextGrid": Text(f"{GRID}xmin = -", "1", " x\n"),
    "names in a TextGrid": Text(f"{GRID}0\n2\n<exists>\n1\n", '"IntervalTier"\n"', ""),
    "texts in a TextGrid": Text(f"{TIER}xmin = 0\nxmax = 2\ntext = ", '"text="', "x\n"),
    "comments in ELAN": Text(ELAN, "<!--", ELAN_END),
    "brackets in ELAN": Text(ELAN, "]", ELAN_END),
    "strings of JSON": Text('[{"a": 1, "a": 1}, "', '\\"', ""),
    "brackets of JSON": Text("[ ", "[ ", ""),
}


LINES = Text("#FORMAT=WebAnno TSV 3.3\n", f"#Text={'a' * 100}\n", "")


TAGS = (
    *("<!", "<a", "<a ", "</", "</a ", "<!--", "<!--a>", "<?", "<", "&", "&#", "<a b='", "<a b='>"),
    *('<a b= "', "<br>", "<script>", "<![CDATA[", "-- >"),
)


def reading(text, path):
    """A function that reads what a text repeats, whether it is refused or not."""
    options = {"grid": "10ms"} if text.before.startswith(GRID) else {}

    def read(content):
        path.write_text(content, encoding="utf-8")
        with suppress(bc.BeyondChanceError):
            bc.read(path, **options)

    return read


def reading_pages(path):
    """A function that reads a web page of Label Studio."""
    value = {"globalOffsets": {"start": 0, "end": 3}, "hypertextlabels": ["PER"]}
    result = {"type": "hypertextlabels", "to_name": "page", "value": value}

    def read(page):
        done = {"id": 1, "completed_by": 1, "result": [result]}
        tasks = [{"id": 1, "data": {"html": page}, "annotations": [done]}]
        path.write_text(json.dumps(tasks), encoding="utf-8")
        with suppress(bc.BeyondChanceError):
            bc.read(path)

    return read


def writing(folder):
    """A function that writes a span over blanks, which might be part of a line break."""

    def write(words):
        corpus = bc.corpus([[{"start": 0, "end": len(words), "label": "PER"}]], texts=[words])
        with TemporaryDirectory(dir=folder) as target:
            bc.write(corpus, target, format="brat")

    return write


BLANKS = Text("Ada", " ", "Mia")

# --- Calls --------------------------------------------------------------------


def is_linear(run, text, number=16):
    """Whether four times as much takes about four times as many calls."""
    run(text.times(number))  # what is imported or remembered once
    few, many = (n_calls(lambda n=n: run(text.times(n))) for n in (number, 4 * number))
    return many < MOST**2 * few


@each("name", [*FILES, "lines"])
def test_calls_of_reading(name, tmp_path):
    text = FILES.get(name, LINES)
    assert is_linear(reading(text, tmp_path / "ada"), text)


@each("tag", TAGS)
def test_calls_of_reading_web_pages(tag, tmp_path):
    assert is_linear(reading_pages(tmp_path / "export.json"), Text("Ada", tag, ""))


def test_calls_of_writing(tmp_path):
    assert is_linear(writing(tmp_path), BLANKS)


# --- Time ---------------------------------------------------------------------


@pytest.mark.long
@each(("text", "length"), [*((text, LENGTH) for text in FILES.values()), (LINES, 1_000_000)])
def test_reading(text, length, tmp_path):
    assert time_for(reading(text, tmp_path / "ada"), text, length) < inf


@pytest.mark.long
@each("tag", TAGS)
def test_web_pages(tag, tmp_path):
    run = reading_pages(tmp_path / "export.json")
    assert time_for(run, Text("Ada", tag, ""), LENGTH // 2) < inf


@pytest.mark.long
def test_writing(tmp_path):
    assert time_for(writing(tmp_path), BLANKS) < inf
