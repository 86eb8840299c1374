"""Tables of spans: every kind of file, lengths, texts, fields, and what is wrong."""

import csv
import io
import json
import re
import subprocess
import sys
from concurrent.futures import ThreadPoolExecutor
from contextlib import suppress
from time import process_time

import numpy as np
import pyarrow as pa
import pytest
from hypothesis import given, strategies as st
from pyarrow import parquet

import beyondchance as bc
from beyondchance.io import columns, drafts, table_files
from beyondchance.io.formats import table
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.messages import COMMAND_LINE
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

CSV = """document,annotator,start,end,label,length
d1,anna,0,4,PER,20
d1,ben,0,9,PER,20
d2,anna,3,5,LOC,8
"""
EXPECTED = {
    ("d1", "anna"): [(0, 4, "PER")],
    ("d1", "ben"): [(0, 9, "PER")],
    ("d2", "anna"): [(3, 5, "LOC")],
    ("d2", "ben"): [],
}
EVERYBODY = (
    "no row without a span: all annotators are taken to have annotated every document "
    "(empty='missing' takes only those who have a row)"
)
#       0123456789012345678901234
TEXT = "Mira Holt sailed to Lund."


def written(path, text, encoding="utf-8"):
    path.write_bytes(text.encode(encoding))
    return path


def spans(corpus, document, annotator):
    return [tuple(span) for span in corpus.spans(document, annotator)]


def everything(corpus):
    return {(d, a): spans(corpus, d, a) for d in corpus.documents for a in corpus.annotators_of(d)}


def upload(text, name="a.csv"):
    data = text if isinstance(text, bytes) else text.encode()
    return Upload(name, "a", [Source(name, member=data)])


def as_json(text):
    header, *rows = [line.split(",") for line in text.splitlines()]
    values = [[int(cell) if cell.isdigit() else cell for cell in row] for row in rows]
    return "".join(json.dumps(dict(zip(header, row, strict=True))) + "\n" for row in values)


@each(
    ("text", "encoding"),
    [
        (CSV, "utf-8"),
        (CSV.replace(",", ";").replace("\n", "\r\n"), "utf-8-sig"),
        (CSV.replace(",", "\t"), "utf-16"),
        (CSV.replace("d1", '"d1"').replace("label", '"label"'), "utf-8"),
        (CSV.replace(",", ", ").replace("\n", "\n\n"), "utf-8"),
        (CSV.replace("4,PER", "4.0,PER"), "utf-8"),
        ("\n" + CSV.rstrip("\n"), "utf-8"),
        (CSV.replace("document,annotator,start,end,label,length", "Doc,Coder,BEGIN,stop,type,n"),
         "utf-8"),
        (as_json(CSV), "utf-8"),
        (as_json(CSV).replace("\n", "\n\n"), "utf-8"),
    ],
)  # fmt: skip
def test_kinds_of_files(tmp_path, text, encoding):
    corpus = bc.read(written(tmp_path / "a.csv", text, encoding), format="table")
    assert corpus.annotators == ("anna", "ben")
    assert corpus.documents == ("d1", "d2")
    assert corpus.labels == ("LOC", "PER")
    assert everything(corpus) == EXPECTED
    assert corpus.text_length.tolist() == [20, 8]
    assert (corpus.unit, corpus.positions) == ("document", "characters")
    assert [*map(str, corpus.notes)] == [EVERYBODY]
    assert corpus.skipped == {}


@each("kind", ["plain", "categories", "floats"])
def test_parquet(tmp_path, kind):
    columns = {
        "document": ["d1", "d1", "d2"],
        "annotator": ["anna", "ben", "anna"],
        "start": [0, 0, 3],
        "end": [4, 9, 5],
        "label": ["PER", "PER", "LOC"],
        "length": [20, 20, 8],
    }
    content = pa.table(columns)
    if kind == "categories":
        place = content.column_names.index("label")
        content = content.set_column(place, "label", content["label"].dictionary_encode())
    if kind == "floats":
        content = content.set_column(2, "start", content["start"].cast(pa.float64()))
    parquet.write_table(content, tmp_path / "a.parquet")
    assert everything(bc.read(tmp_path / "a.parquet")) == EXPECTED


def test_rows_without_a_span(tmp_path):
    path = written(tmp_path / "a.csv", CSV + "d2,ben,,,,8\nd3,ben,,,,5\n")
    corpus = bc.read(path)
    assert everything(corpus) == {**EXPECTED, ("d3", "ben"): []}
    assert corpus.annotators_of("d3") == ("ben",)
    assert [*map(str, corpus.notes)] == [f"{path.name}: read as table"]


def test_empty_missing(tmp_path):
    corpus = bc.read(written(tmp_path / "a.csv", CSV), empty="missing")
    assert corpus.annotators_of("d2") == ("anna",)
    assert corpus.options["empty"] == "missing"


def test_one_table_for_each_annotator(tmp_path):
    anna = written(tmp_path / "anna.csv", "doc,start,end,label,n\nd1,0,4,PER,9\nd2,0,1,X,7\n")
    ben = written(tmp_path / "ben.csv", "doc,start,end,label,n\nd1,0,4,LOC,9\n")
    corpus = bc.read(anna, ben)
    assert everything(corpus) == {
        ("d1", "anna"): [(0, 4, "PER")],
        ("d1", "ben"): [(0, 4, "LOC")],
        ("d2", "anna"): [(0, 1, "X")],
        ("d2", "ben"): [],
    }


@pytest.fixture(params=[0, 2**40], ids=["quick", "row by row"])
def each_way(request, monkeypatch):
    monkeypatch.setattr(table_files, "_QUICK_FROM", request.param)


BARE = "anna,1,2,9\nanna,2,11,17\nben,1,2,9\n"


@pytest.mark.usefixtures("each_way")
@each("names", ["annotator, label,start,end", ["coder", "type", "start", "end"]])
def test_columns_of_a_table_without_a_header_are_named(tmp_path, names):
    path = written(tmp_path / "a.csv", BARE)
    corpus = bc.read(path, length=50, columns=names)
    assert everything(corpus) == {
        ("1", "anna"): [(2, 9, "1"), (11, 17, "2")],
        ("1", "ben"): [(2, 9, "1")],
    }
    assert corpus.text_length.tolist() == [50]
    assert "columns" not in corpus.options


@pytest.mark.usefixtures("each_way")
def test_columns_may_be_ignored_or_be_fields(tmp_path):
    text = "7\td1\tanna\t0\t4\tPER\tx\t8\n8\td1\tben\t0\t4\tPER\tx\t9\n"
    path = written(tmp_path / "a.tsv", text)
    corpus = bc.read(path, columns="_,document,annotator,start,end,label,round,_", length=9)
    assert everything(corpus) == {("d1", name): [(0, 4, "PER")] for name in ("anna", "ben")}
    assert corpus.fields == {"round": ("x",)}
    assert corpus.skipped == {}


@pytest.mark.usefixtures("each_way")
@each(
    ("text", "tries"),
    [
        (BARE, ["document,label,start,end", "annotator,label,start,end"]),
        ("999\tName_Calling\t34\t40\n", ["document,label,start,end", "annotator,label,start,end"]),
        ("3,8,PER\n", ["start,end,label"]),
        ("d,3,8,PER\n", ["document,start,end,label", "annotator,start,end,label"]),
        ("d;anna;PER;3;8\n", ["document,annotator,label,start,end"]),
        ("d,anna,3,8,PER,x\n", ["document,annotator,start,end,label,_"]),
        ("d,8,x\n", ["document,annotator,start,end,label"]),
    ],
)
def test_a_table_without_a_header_is_refused(tmp_path, text, tries):
    path = written(tmp_path / "a.csv", text)
    with pytest.raises(bc.FormatError) as caught:
        bc.read(path, length=50, format="table")
    cells = ", ".join(map(repr, re.split("[,;\t]", text.splitlines()[0])))
    ways = " or ".join(f"columns={names!r}" for names in tries)
    assert_tells(caught.value, f"{path}:1: … header … {cells} … {ways}")
    assert f"--columns {tries[0]}" in caught.value.spoken(COMMAND_LINE)
    assert cells not in caught.value.spoken(COMMAND_LINE.without_quotes())


@pytest.mark.usefixtures("each_way")
@each(
    ("text", "names", "message"),
    [
        (CSV, "document,annotator,start,end,label,length",
         "{}:1: … header … 'document' … 'annotator' … 'start' … 'end' … 'label' … 'length'"),
        (BARE, "label,start,end",
         "{}:1: … 4 … cells … 'anna' … '1' … '2' … '9' … 3"),
        (as_json(CSV), "label,start,end",
         "{}: … names … 'document' … 'annotator' … 'start' … 'end' … 'label' … 'length'"),
        (BARE, "label,start", "columns … 'label,start'"),
        (BARE, "label,start,end,begin",
         "columns … 'label,start,end,begin'"),
        (BARE, "label,start,end,", "columns … 'label,start,end,'"),
        (BARE, 5, 'columns … 5'),
        (BARE, ["start", 5], "columns … 'start' … 5"),
        (BARE + "ben,1,x,9\n", "annotator,label,start,end",
         "{}:4: … start … 'x'"),
        (BARE + "\nben,1,9,9\n", "annotator,label,start,end",
         "{}:5: … [9, 9) … '1' … empty … zero_length='skip'"),
    ],
)  # fmt: skip
def test_names_that_do_not_fit(tmp_path, text, names, message):
    path = written(tmp_path / "a.csv", text)
    with pytest.raises(bc.BeyondChanceError) as caught:
        bc.read(path, length=50, columns=names, format="table", zero_length="error")
    assert_tells(caught.value, message.replace("{}", str(path)))


@pytest.mark.usefixtures("each_way")
def test_headers_in_the_middle_are_left_out_and_counted(tmp_path):
    header, *rows = CSV.splitlines(keepends=True)
    path = written(tmp_path / "a.csv", header + header.join(rows))
    corpus = bc.read(path)
    assert everything(corpus) == EXPECTED
    assert corpus.skipped == {"rows that repeat the header left out": 2}


def test_documents_table(tmp_path):
    rows = "document,annotator,start,end,label\nd1,anna,0,4,PER\nd1,ben,0,9,PER\nd2,anna,3,5,LOC\n"
    path = written(tmp_path / "a.csv", rows)
    other = written(tmp_path / "d.csv", "document,length,round\nd2,8,2\nd1,20,1\nd3,5,3\n")
    corpus = bc.read(path, documents=str(other))
    assert everything(corpus) == {**EXPECTED, ("d3", "anna"): [], ("d3", "ben"): []}
    assert corpus.text_length.tolist() == [20, 8, 5]
    assert corpus.fields == {"round": ("1", "2", "3")}
    corpus = bc.read(path, documents=other, empty="missing")
    assert corpus.documents == ("d1", "d2")


def test_documents_table_with_texts(tmp_path):
    path = written(tmp_path / "a.csv", "document,annotator,start,end,label\nd1,anna,0,9,PER\n")
    other = written(tmp_path / "d.jsonl", json.dumps({"doc": "d1", "text": TEXT, "round": 1}))
    corpus = bc.read(path, documents=other, positions="tokens")
    assert everything(corpus) == {("d1", "anna"): [(0, 2, "PER")]}
    assert corpus.fields == {"round": ("1",)}
    assert corpus.texts == (TEXT,)


def test_texts_on_characters_and_tokens(tmp_path):
    text = (
        "document,annotator,start,end,label,text,batch\n"
        f'd1,anna,0,10,PER,"{TEXT}",x\n'
        "d1,ben,5,9,PER,,\n"
        'd2,ben,0,3,X,"on\nit",y\n'
    )
    path = written(tmp_path / "a.csv", text)
    corpus = bc.read(path)
    assert everything(corpus) == {
        ("d1", "anna"): [(0, 9, "PER")],
        ("d1", "ben"): [(5, 9, "PER")],
        ("d2", "anna"): [],
        ("d2", "ben"): [(0, 2, "X")],
    }
    assert corpus.fields == {"batch": ("x", "y")}
    assert corpus.skipped == {"spans trimmed of white space": 2}
    tokens = bc.read(path, positions="tokens")
    assert spans(tokens, "d1", "anna") == [(0, 2, "PER")]
    assert spans(tokens, "d1", "ben") == [(1, 2, "PER")]
    assert tokens.text_length.tolist() == [6, 2]


def test_texts_matched_by_text(tmp_path):
    head = "document,start,end,label,text"
    a = written(tmp_path / "anna.csv", f"{head}\n1,0,4,PER,{TEXT}\n2,0,2,X,Other\n")
    b = written(tmp_path / "ben.csv", f"{head}\n1,0,2,X,Other\n2,0,9,PER,{TEXT}\n")
    corpus = bc.read(a, b, match="text")
    assert everything(corpus) == {
        ("1", "anna"): [(0, 4, "PER")],
        ("1", "ben"): [(0, 9, "PER")],
        ("2", "anna"): [(0, 2, "X")],
        ("2", "ben"): [(0, 2, "X")],
    }


def test_columns_that_vary_are_left_out(tmp_path):
    text = (
        "id,document,annotator,start,end,label,length,round\n"
        "1,d,a,0,1,X,9,one\n2,d,a,1,2,X,9,\n3,d,b,1,2,X,9,one\n"
    )
    corpus = bc.read(written(tmp_path / "a.csv", text))
    assert corpus.fields == {"round": ("one",)}
    assert corpus.skipped == {"columns that vary within documents left out": 1}
    assert_tells(corpus.notes[2], "'id' … documents")


def test_duplicates_and_empty_spans(tmp_path):
    path = written(tmp_path / "a.csv", CSV + "d1,anna,0,4,PER,20\nd1,anna,7,7,PER,20\n")
    corpus = bc.read(path, zero_length="skip")
    assert everything(corpus) == EXPECTED
    assert corpus.skipped == {"empty spans left out": 1, "spans marked twice, second left out": 1}


HEAD = "document,annotator,start,end,label,length\n"
MALFORMED = {
    "": "{}: … rows",
    HEAD: "{}: … rows",
    "document,annotator,start,label\nd,a,0,X\n": (
        "{}: … 'end' … among … 'document' … 'annotator' … 'start' … 'label'"
    ),
    HEAD + "d,a,0,1,X\n": "{}:2: … 5 … columns … 6",
    HEAD + '"d\n\ne",a,0,1,X,9\nd,a,x,1,X,9\n': "{}:5: … start … 'x'",
    HEAD + "d,a,0,1.5,X,9\n": "{}:2: … end … '1.5'",
    HEAD + "d,a,0,0x2,X,9\n": "{}:2: … end … '0x2'",
    HEAD + '\n\nd,a,0,"1"2,X,9\n': "{}:4: … CSV … ',' … '\"'",
    HEAD + 'd,a,0,1,X,9\n"d,a,0,1,X,9\n': "{}:3: … unexpected",
    HEAD + "d,a,0,1,,9\n": "{}:2: … missing",
    HEAD + "d,a,,1,,9\n": "{}:2: … missing",
    HEAD + "d,a,0,1,X,9\n ,a,0,1,X,9\n": "{}:3: … missing",
    HEAD + "d,,0,1,X,9\n": "{}:2: … annotator",
    HEAD + "d,a,0,1,X,\n": "{}: … 'd' … known",
    HEAD + "d,a,0,1,X,9\nd,a,1,2,X,8\n": "{}:2: … document 'd' … 9 … elsewhere",
    HEAD + "d,a,0,1,X,-9\n": "{}:2: … length … -9 … 0 … 2,147,483,647",
    HEAD + "d,a,0,1,X,9\nd,a,8,10,X,9\n": "{}:3: … [8, 10) … 'X' … lie … 9 … 0",
    HEAD + "d,a,3,1,X,9\n": "{}:2: … [3, 1) … 'X' … lie … 9 … 0",
    HEAD + "d,a,3,3,X,9\n": "{}:2: … [3, 3) … 'X' … empty … zero_length='skip'",
    HEAD + "d,a,3,4,X,9\nd,a,3,4,X,9\n": "{}:3: … [3, 4) … 'X' … 'a' … 'd' … strict='-duplicates'",
    HEAD + "d,a,0,1,X,9\nd,a,0,1,b'X',9\n": "{}:3: … label … \"b'X'\"",
    "start,end,label,label\n0,1,X,X\n": "{}:1: … 'label' … occurs",
    "start,begin,end,label\n0,0,1,X\n": "{}: … 'start', 'begin' … 'start'",
    '{"start": 0, "end": 1, "label": ["X"]}\n': "{}:1: … label … 'X'",
    '{"start": 0, "end": true, "label": "X"}\n': "{}:1: … True",
    '{"start": 0, "end": 1, "label": "X"}\n[]\n': "{}:2: … object",
    '{"start": 0,\n': "{}:1: … 13 … Expecting",
    '{"start": 0, "end": 1, "label": "X", "text": 5}\n': "{}:1: … text … 5",
    "document,start,end,label,text\nd,0,1,X,one\nd,0,1,Y,two\n": "{}:3: … document 'd' … another",
    "document,start,end,label,text\nd,0,1,X,one\ne,0,1,Y,\n": "{}:3: … text … 'e'",
}


def check_malformed(tmp_path, text):
    path = written(tmp_path / "a.csv", text)
    with pytest.raises(bc.BeyondChanceError) as caught:
        bc.read(path, format="table", strict=True)
    assert_tells(caught.value, MALFORMED[text].replace("{}", str(path)))


@each("text", MALFORMED)
def test_malformed(tmp_path, text):
    check_malformed(tmp_path, text)


def test_malformed_parquet(tmp_path):
    path = tmp_path / "a.parquet"
    path.write_bytes(b"PAR1 and nothing more")
    with refused(bc.FormatError, "a.parquet: … readable"):
        bc.read(path, format="table")


def test_parquet_with_bytes_that_are_no_text(tmp_path):
    rows = {"document": ["d"], "annotator": ["ada"], "start": [0], "end": [1], "label": ["PERSON"]}
    made = io.BytesIO()
    parquet.write_table(pa.table(rows), made, compression="none")
    path = tmp_path / "a.parquet"
    path.write_bytes(made.getvalue().replace(b"PERSON", b"P\xb8RSON"))
    with refused(bc.FormatError, "a.parquet: … readable"):
        bc.read(path)


def test_a_plain_table_is_not_weighed_string_by_string(tmp_path, monkeypatch):
    # To go through a file once more takes as long as to read it.
    rows = {"document": ["d"] * 9, "annotator": ["ada"] * 9, "start": range(9), "end": range(1, 10)}
    parquet.write_table(pa.table({**rows, "label": ["P"] * 9}), tmp_path / "a.parquet")
    monkeypatch.setattr(parquet.ParquetFile, "scan_contents", None)
    assert len(bc.read(tmp_path / "a.parquet", length=9).span_start) == 9


@each(
    "option",
    [{"offsets": "utf16"}, {"match": "text"}, {"positions": "whitespace"}],
)
def test_options_that_need_texts(tmp_path, option):
    (name,) = option
    with refused(bc.OptionError, f"option … {name!r}"):
        bc.read(written(tmp_path / "a.csv", CSV), format="table", **option)


def test_documents_that_are_no_table(tmp_path):
    path = written(tmp_path / "a.csv", CSV)
    for wrong in (tmp_path, 5):
        with refused(bc.OptionError, "table"):
            bc.read(path, format="table", documents=wrong)
    other = written(tmp_path / "d.csv", "document,text\nd9,Ada\n")
    with refused(bc.FormatError, f"{path}:2: … 'd1' … text"):
        bc.read(path, format="table", documents=other)
    twice = written(tmp_path / "d.csv", "document,length\nd1,20\nd1,20\n")
    with refused(bc.FormatError, f"{twice}:3: … document 'd1' … two"):
        bc.read(path, format="table", documents=twice)


def test_too_many_pairs(tmp_path, monkeypatch):
    monkeypatch.setattr(drafts, "MOST_ASSUMED", -100)
    with refused(bc.FormatError, f"{tmp_path / 'a.csv'}: … 2 … 2 … annotators … empty='missing'"):
        bc.read(written(tmp_path / "a.csv", CSV), format="table")


def test_length_option_is_bounded(tmp_path):
    path = written(tmp_path / "a.csv", "start,end,label\n2,9,1\n")
    with refused(bc.OptionError, "most … 2,147,483,647"):
        bc.read(path, format="table", length=2**40)


# --- The quick road -----------------------------------------------------------


def generated(n, rng, *, gaps=False):
    """Rows for a large file: distinct spans, and a field of documents."""
    document = np.sort(rng.integers(0, 50, n))
    rows = ["document,annotator,start,end,label,length,round"]
    for i, d in enumerate(document.tolist()):
        if gaps and i % 1000 == 7:
            rows.append(f"doc {d},c{i % 3},,,,{n},r{d % 4}")
            continue
        label = ("PER", "LÖC", "a; b", " PER")[i % 4]
        rows.append(f"doc {d},c{i % 3},{i},{i + 1 + i % 5},{label},{n + 9},r{d % 4}")
    return "\n".join(rows).replace(f",{n},", f",{n + 9},") + "\n"


def same(one, other):
    assert everything(one) == everything(other)
    assert one.annotators == other.annotators
    assert one.labels == other.labels
    assert one.fields == other.fields
    assert one.skipped == other.skipped
    assert one.notes == other.notes
    for name in ("text_length", "span_text", "span_annotator", "span_label", "span_start",
                 "span_end", "annotation_document", "annotation_annotator"):  # fmt: skip
        assert np.array_equal(getattr(one, name), getattr(other, name)), name
        assert getattr(one, name).dtype == getattr(other, name).dtype, name


@pytest.mark.slow
@each(
    ("gaps", "encoding"),
    [(False, "utf-8"), (True, "utf-8"), (True, "utf-8-sig"), (False, "utf-16")],
)
def test_quick_and_slow_agree(tmp_path, monkeypatch, gaps, encoding):
    text = generated(4_000, np.random.default_rng(3), gaps=gaps)
    path = written(tmp_path / "a.csv", text, encoding)
    monkeypatch.setattr(table_files, "_QUICK_FROM", path.stat().st_size - 1)
    source = Source(str(path), path=path)
    with monkeypatch.context() as patch:
        patch.setattr(table_files, "_row_by_row", lambda *_: None)
        names = table_files._separated(source, Reading(ReadOptions()), ())
    assert (names is not None) == (encoding != "utf-16")
    quick = bc.read(path, format="table")
    monkeypatch.setattr(table_files, "_quick", lambda *_: None)
    same(quick, bc.read(path, format="table"))


def test_quoted_cells_are_read_row_by_row(tmp_path, monkeypatch):
    monkeypatch.setattr(table_files, "_QUICK_FROM", 0)
    path = written(tmp_path / "a.csv", HEAD + '"d, 1",a,0,1,"X\nY",9\n')
    assert not agree(path)
    assert bc.read(path, format="table").spans("d, 1", "a") == [(0, 1, "X\nY")]


@each("bad", ["0x1F", "x", "1.5", "+ 1"])
def test_errors_of_large_files_have_lines(tmp_path, monkeypatch, bad):
    monkeypatch.setattr(table_files, "_QUICK_FROM", 0)
    path = written(tmp_path / "a.csv", HEAD + f'"d\n1",a,0,1,X,9\n\nd2,a,{bad},1,X,9\n')
    with refused(bc.FormatError, f"{path}:5: … start … {bad!r}"):
        bc.read(path, format="table")


@each("text", [text for text in MALFORMED if "{" not in text])
def test_malformed_large_files(tmp_path, monkeypatch, text):
    monkeypatch.setattr(table_files, "_QUICK_FROM", 0)
    check_malformed(tmp_path, text)


@each("number", ["12", " 12", "12 ", "-3", "+5", "5.0", "5.", "007", "1e3", "", "0x1", "1_0"])
def test_numbers_agree(tmp_path, monkeypatch, number):
    path = written(tmp_path / "a.csv", HEAD + f"d,a,0,{number},X,99\nd,b,0,1,X,99\n")
    found = []
    for size in (0, 2**40):
        monkeypatch.setattr(table_files, "_QUICK_FROM", size)
        try:
            found.append(everything(bc.read(path, format="table")))
        except bc.BeyondChanceError as error:
            found.append(str(error))
    assert found[0] == found[1]


def said_of(path, **options):
    """Everything about a corpus, or what is wrong with it."""
    try:
        corpus = bc.read(path, format="table", **options)
    except bc.BeyondChanceError as error:
        return type(error), str(error)
    names = corpus.documents, corpus.annotators, corpus.labels, corpus.fields
    notes = corpus.skipped, [*map(str, corpus.notes)]
    return names, everything(corpus), corpus.text_length.tolist(), notes


def agree(path, **options):
    """Whether a file could be read by pyarrow, which must find what is found row by row."""
    found = []
    for size in (0, 2**40):
        with pytest.MonkeyPatch.context() as patch:
            patch.setattr(table_files, "_QUICK_FROM", size)
            found.append(said_of(path, **options))
    assert found[0] == found[1]
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "_QUICK_FROM", 0)
        patch.setattr(table_files, "_row_by_row", None)
        patch.setattr(table_files, "_json_lines", None)
        try:
            said_of(path, **options)
        except TypeError:
            return False
    return True


QUOTED = "\n".join(
    ",".join(cell if cell.isdigit() else f'"{cell}"' for cell in line.split(","))
    for line in CSV.splitlines()
)


@each(
    "text",
    [
        QUOTED + "\n",
        (QUOTED + "\n").replace("\n", "\r\n"),
        (QUOTED + "\n").replace("\n", "\r"),
        (QUOTED + "\n").replace(",", "\t"),
        (QUOTED + "\n").replace(",0,", ',"0",'),
        QUOTED + '\n"d3","",,,"",5\n"d3","ben","","","",""\n',
        QUOTED,
        QUOTED + '\n\n"d3","a",0,1,"X",5\n',
    ],
)
def test_cells_enclosed_in_quotes_are_no_reason_to_be_slow(tmp_path, text):
    assert agree(written(tmp_path / "a.csv", text))


@each(
    "text",
    [
        QUOTED + '\n"d3","a"b,0,1,"X",5\n',
        QUOTED + '\n"d3","a",0,"1"2,"X",50\n',
        QUOTED + '\n"d3"x,x","a,0,1,"X",5\n',
        QUOTED + '\n"d3","a",0,1,"X""Y",5\n',
        QUOTED + '\n"d3","a",0,1,"X,Y",5\n',
        QUOTED + '\n"d3","a",0,1,"X\nY",5\n',
        QUOTED + '\n"d3","a",0,1,"X\rY",5\n',
        QUOTED + '\n"d3","a",0,1, "X",5\n',
        QUOTED + '\n"d3","a",0,1,"X""",5\n',
        QUOTED + '\n"","","","","",""\n"d3","","","","",""\n',
        QUOTED + '\nd3",a,0,1,X,5\n"d4,a,0,1,X,5',
        QUOTED + '\nd3",a,0,1,X,"5\n',
        QUOTED + '\nd3",a,0,1,X,5\n"d4,a,0,1,X,5\n',
    ],
)
def test_other_quotes_are_read_row_by_row(tmp_path, text):
    assert not agree(written(tmp_path / "a.csv", text))


def test_quotes_in_a_table_without_a_header(tmp_path):
    rows = QUOTED.partition("\n")[2] + "\n"
    names = "document,annotator,start,end,label,length"
    for text in (rows, "\ufeff" + rows, rows + "\n"):
        assert agree(written(tmp_path / "a.csv", text), columns=names)


LETTERS = st.text(st.sampled_from('"",,\n\rab1 '), max_size=4)
ENCLOSED = st.text(st.sampled_from("ab1 ,\n"), max_size=3).map(lambda text: f'"{text}"')
SIMPLE = st.sampled_from(["a", '"a"', '"b"', '""', "", '"1"', "1"])


@examples(400)
@given(
    rows=st.lists(
        st.tuples(
            *[SIMPLE | ENCLOSED | LETTERS] * 2,
            st.sampled_from(["0", '"0"', '"1"', '"1"2', ""]),
            st.sampled_from(["2", '"3"', '" 3"', '"3', '3"', ""]),
            SIMPLE | LETTERS,
        ),
        max_size=5,
    ),
    end=st.sampled_from(["\n", "\n", "\r\n", "\r", ""]),
    block=st.sampled_from([1, 2, 7, 2**18]),
)
def test_quotes_anywhere_are_read_as_row_by_row(tmp_path_factory, rows, end, block):
    line = "\n" if end == "" else end
    text = line.join(map(",".join, [["document", "annotator", "start", "end", "label"], *rows]))
    path = written(tmp_path_factory.mktemp("quotes") / "a.csv", text + end)
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "_BLOCK", block)
        agree(path, length=99)


def cells_by(road, source):
    """The columns of a table by one of two roads, with the line of each row; None if it objects."""
    other = "_quick" if road == "_row_by_row" else "_row_by_row"
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "_QUICK_FROM", 0)
        patch.setattr(table_files, other, lambda *_: None)
        found = table_files._separated(source, Reading(ReadOptions()), ())
    if found is None:
        return None
    cells = {}
    for name in found.columns:
        try:
            values = (columns.whole_numbers if name in columns.NUMBERS else columns.codes_of)(
                found, name
            )
            cells[name] = [np.asarray(part).tolist() for part in values]
        except bc.FormatError as error:
            cells[name] = str(error)
    return cells, [found.where(row) for row in range(len(found))]


PLAIN = st.sampled_from(["a", '"a"', '"b c"', '""', "", '"1"', "1", "\u00e9", '"\u00e9"'])


@pytest.mark.slow
@examples(2000)
@given(
    rows=st.lists(
        st.tuples(
            PLAIN | ENCLOSED | LETTERS,
            PLAIN,
            st.sampled_from(["0", '"1"', "", '"1"2', '"0"']),
            st.sampled_from(["2", '"3"', '" 3"', '"3']),
            PLAIN,
        ),
        max_size=4,
    ),
    end=st.sampled_from(["\n", "\r\n", "\r", ""]),
    block=st.sampled_from([5, 40, 2**18]),
)
def test_both_parsers_find_the_same_cells(rows, end, block):
    header = ["document", "annotator", "start", "end", "label"]
    text = (end or "\n").join(map(",".join, [header, *rows])) + end
    source = Source("a.csv", member=text.encode())
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(table_files, "_BLOCK", block)
        quick = cells_by("_quick", source)
    if quick is not None:
        assert quick == cells_by("_row_by_row", source)


def test_large_json_lines_of_plain_rows_are_quick(tmp_path):
    text = as_json(CSV)
    more = '{"document": "d\\u00e9\\/2", "start": null, "annotator": "ben", "length": 8}\n'
    assert agree(written(tmp_path / "a.jsonl", text))
    assert agree(written(tmp_path / "b.jsonl", text.rstrip("\n")))
    assert agree(written(tmp_path / "c.jsonl", text + more))
    numbers = text.replace('"d1"', "1").replace('"d2"', "2")
    assert agree(written(tmp_path / "d.jsonl", numbers))


ROW = '{"document": "d3", "annotator": "ben", "start": 0, "end": 1, "label": "X", "length": 5}'
NEXT_LINE = ":\n0"


@each(
    "more",
    [
        ROW.replace("0", "NaN"),
        ROW.replace("0", "0.0"),
        ROW.replace("0", '"0"'),
        ROW.replace("0", "true"),
        ROW.replace("1", str(2**40)),
        ROW.replace("1", str(2**70)),
        ROW.replace('"X"', "1"),
        ROW.replace('"X"', "[]"),
        ROW.replace('"X"', '"X\t"'),
        ROW.replace("X", "\\ud800"),
        ROW.replace("annotator", "label"),
        ROW.replace("}", ', "round": 1}'),
        ROW.replace("}", "}{}"),
        ROW.replace(": 0", ":\n0"),
        f"{ROW} {ROW.replace('3', '4')}",
        f"{ROW}{ROW.replace('3', '4')}\n{ROW.replace('d3', 'd5').replace(': 0', NEXT_LINE)}",
        f"\n{ROW}",
        f"{ROW}\r\n{ROW.replace('3', '4')}\r",
        "[]",
        ROW[:-1],
    ],
)
def test_other_json_lines_are_read_row_by_row(tmp_path, more):
    assert not agree(written(tmp_path / "a.jsonl", f"{as_json(CSV)}{more}\n"))


def test_bytes_that_are_no_text_in_json_lines(tmp_path):
    path = tmp_path / "a.jsonl"
    path.write_bytes(as_json(CSV).encode().replace(b"LOC", b"\xff"))
    assert not agree(path)


@examples(200)
@given(
    rows=st.lists(
        st.fixed_dictionaries(
            {
                "document": st.sampled_from(["d", "e", 1]),
                "start": st.sampled_from([0, 0, 1, None]),
                "end": st.sampled_from([2, 2, 3, None, 2**31, "2"]),
                "label": st.sampled_from(["X", "Y", None]) | st.text(max_size=2),
            },
            optional={
                "annotator": st.text(max_size=2),
                "round": st.sampled_from([1, 2, -0, None, "1", 10**17, 10**20]),
                "genre": st.text(max_size=3),
            },
        ),
        min_size=1,
        max_size=4,
    ),
    is_ascii=st.booleans(),
)
def test_json_lines_are_read_as_row_by_row(tmp_path_factory, rows, is_ascii):
    lines = [json.dumps(row, ensure_ascii=is_ascii) + "\n" for row in rows]
    path = tmp_path_factory.mktemp("json") / "a.jsonl"
    path.write_bytes("".join(lines).encode(errors="surrogatepass"))
    agree(path, length=99)


# --- Telling it apart, and bytes of any kind ----------------------------------


@each(
    "text",
    [
        CSV,
        CSV.replace(",", ";"),
        CSV.replace(",", "\t"),
        as_json(CSV),
        b"PAR1....",
        "a,X,0,5\n",
        "a,X,0,5",
        "a,X,0,5\r\nb,X,7,19\r\n",
        "7\tX\t0\t5\n" * 20_000,
        "0,5,X\n",
        "d,a,0,5,X,1,the words\n",
    ],
)
def test_is_format(text):
    assert table.is_format(upload(text))


@each(
    "text",
    [
        "",
        "Mira B-PER\nHolt I-PER\n",
        "T1\tPER 0 4\tMira\n",
        '{"text": "x", "label": [[0, 1, "X"]]}\n',
        '{"text": "x", "spans": [{"start": 0, "end": 1, "label": "X"}]}\n',
        "token\tanna\tben\nx\tO\tO\n",
        "EU\t0\t2\tB-ORG\nrejects\t3\t10\tO\n",
        "EU\tB-ORG\t0\t2\n",
        "a,X,0,5\nb,X\n",
        "a,X,5,0\n",
        "0,5\n",
        b"\x00\xff",
    ],
)
def test_is_not_format(text):
    assert not table.is_format(upload(text))
    assert not table.is_format(Upload("x", "x", [Source("x", member=b"")], data=[{}]))


def read_bytes(data, **options):
    given = upload(data)
    table.is_format(given)
    for names in (None, "annotator,label,start,end"):
        with suppress(bc.BeyondChanceError):
            table.read([given], Reading(ReadOptions(**options, columns=names)))


BASES = [
    CSV,
    as_json(CSV),
    "a,X,0,5\nb,X,0,5\n",
    f'document,annotator,start,end,label,text\nd,a,0,4,X,"{TEXT}"\n',
]


@pytest.mark.slow
@examples(120)
@given(
    base=st.sampled_from(BASES),
    cuts=st.lists(
        st.tuples(st.integers(0, 200), st.integers(0, 4), st.binary(max_size=6)), max_size=6
    ),
    is_quick=st.booleans(),
)
def test_mutated_bytes(base, cuts, is_quick):
    data = base.encode()
    for place, n, new in cuts:
        data = data[:place] + new + data[place + n :]
    with pytest.MonkeyPatch.context() as patch:
        if is_quick:
            patch.setattr(table_files, "_QUICK_FROM", 0)
        read_bytes(data, length=50)


CELLS = st.sampled_from(
    ["0", "1", "5", "-1", "", " ", "d", "X", '"', '"a\nb"', "1.0", "1e9", "9" * 30, "nan", "\r",
     "\u0661", "\ufeff", "a;b", "\u2028"]
)  # fmt: skip


@pytest.mark.slow
@examples(120)
@given(
    rows=st.lists(st.lists(CELLS, min_size=6, max_size=6), max_size=5),
    header=st.permutations(["document", "annotator", "start", "end", "label", "length"])
    | st.permutations(["document", "text", "start", "end", "label", "round"]),
    is_quick=st.booleans(),
)
def test_random_cells(rows, header, is_quick):
    text = "\n".join(map(",".join, [header, *rows]))
    with pytest.MonkeyPatch.context() as patch:
        if is_quick:
            patch.setattr(table_files, "_QUICK_FROM", 0)
        read_bytes(text, length=9)


JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats() | st.text(max_size=4),
    lambda inner: st.lists(inner, max_size=2) | st.dictionaries(st.text(max_size=2), inner),
    max_leaves=4,
)


@pytest.mark.slow
@examples(120)
@given(
    rows=st.lists(
        st.dictionaries(
            st.sampled_from(["document", "annotator", "start", "end", "label", "length", "text",
                             "round", ""]),
            st.sampled_from([0, 1, "X", TEXT]) | JSON,
            min_size=5,
        ),
        max_size=4,
    )
)  # fmt: skip
def test_random_json(rows):
    read_bytes("".join(json.dumps(row) + "\n" for row in rows), length=9)


@examples(150)
@given(data=st.binary(max_size=80))
def test_random_bytes(data):
    read_bytes(data)
    read_bytes(b"PAR1" + data)


@each("quick_from", [0, 2**20])
@each("end", ["\n", "\r\n"])
def test_rows_of_nothing_but_separators(tmp_path, monkeypatch, quick_from, end):
    monkeypatch.setattr(table_files, "_QUICK_FROM", quick_from)
    text = (HEAD + "d,a,0,1,X,9\n,,,,,\nd,b,0,1,X,9\n,,,,,\n").replace("\n", end)
    corpus = bc.read(written(tmp_path / "a.csv", text), format="table")
    assert corpus.annotators_of("d") == ("a", "b")


# --- Defects ------------------------------------------------------------------


@each("end", ["", '"'])
def test_the_limit_on_fields_of_the_process_is_left_alone(tmp_path, end):
    before = csv.field_size_limit(100_000)
    try:
        words = "word " * 50_000
        rows = f'document,annotator,start,end,label,text\nd1,anna,0,4,X,"{words}"\n{end}'
        path = written(tmp_path / "a.csv", rows)
        with suppress(bc.FormatError):
            assert bc.read(path, format="table").texts == (words,)
        assert csv.field_size_limit() == 100_000
    finally:
        csv.field_size_limit(before)


@pytest.mark.slow
def test_two_threads_read_long_fields(tmp_path):
    before = csv.field_size_limit()
    words = "word " * 50_000
    rows = "".join(f'd{i},anna,0,4,X,"{words}"\n' for i in range(5))
    path = written(tmp_path / "a.csv", "document,annotator,start,end,label,text\n" + rows)
    with ThreadPoolExecutor(4) as pool:
        corpora = list(pool.map(lambda _: bc.read(path, format="table"), range(8)))
    assert {corpus.documents for corpus in corpora} == {("d0", "d1", "d2", "d3", "d4")}
    assert csv.field_size_limit() == before


def two_rows(folder, n):
    """A table of spans, and one of documents, of which the last is there twice."""
    spans_path = written(folder / "a.csv", "document,annotator,start,end,label\nd1,anna,0,4,X\n")
    rows = "".join(f"d{i},9\n" for i in range(n))
    return spans_path, written(folder / "d.csv", f"document,length\n{rows}d{n - 1},9\n")


def test_a_document_with_two_rows_is_found(tmp_path):
    spans_path, other = two_rows(tmp_path, 50)
    with refused(bc.FormatError, "d.csv:52: … 'd49'"):
        bc.read(spans_path, documents=str(other))


def test_bytes_in_a_table_of_documents_are_found(tmp_path):
    spans_path = written(tmp_path / "a.csv", "document,annotator,start,end,label\nd1,anna,0,4,X\n")
    other = written(tmp_path / "d.csv", "document,length\nd1,9\nb'd2',9\n")
    with refused(bc.FormatError, "d.csv:3: document … bytes"):
        bc.read(spans_path, documents=str(other))


@pytest.mark.long
def test_a_document_with_two_rows_is_found_in_linear_time(tmp_path):
    def seconds(n):
        spans_path, other = two_rows(tmp_path, n)
        times = []
        for _ in range(3):
            begin = process_time()
            with refused(bc.FormatError, f"d.csv:{n + 2}: … 'd{n - 1}'"):
                bc.read(spans_path, documents=str(other))
            times.append(process_time() - begin)
        return min(times)

    # Linear work takes 8 times as long, quadratic work 64 times.
    assert seconds(160_000) < 16 * seconds(20_000)


def test_a_quoted_header_is_no_reason_to_be_slow(tmp_path, monkeypatch):
    rows = "".join(f"d{i},anna,0,4,X,20\n" for i in range(60_000))
    path = written(
        tmp_path / "a.csv", '"document","annotator","start","end","label","length"\n' + rows
    )
    monkeypatch.setattr(table_files, "_row_by_row", None)
    assert len(bc.read(path, format="table").documents) == 60_000


PARQUET = {
    "document": ["d1", "d2", "d1", "d2"],
    "annotator": ["anna", "anna", "ben", "ben"],
    "start": [0, 1, 2, 3],
    "end": [4, 4, 4, 4],
    "label": ["X", "X ", "Z", "Y"],
}
odd_values = st.sampled_from(
    [
        *(pa.array(values) for values in ([1, 2, 1, None], [1.0, 2.0, 3.5, None], [True] * 4)),
        *(pa.array(values) for values in ([" a", "a ", "", None], [None] * 4, [2**62] * 4)),
        *(
            pa.array(values)
            for values in ([[1], [2], [], None], [0, 1, 2, 3], ["0", "1", "2", "3"])
        ),
        pa.array([0, 1, 2, 3], pa.uint8()),
        pa.array(["a", "b", "a", None], pa.large_string()),
        pa.DictionaryArray.from_arrays(pa.array([0, 2, None, 0]), pa.array(["a", "unused", "b"])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 0, 1]), pa.array([5, 6])),
        pa.DictionaryArray.from_arrays(pa.array([0, 1, 2, 3]), pa.array(["a", "b", "a", "c"])),
    ]
)


@examples(150)
@given(st.dictionaries(st.sampled_from([*PARQUET, "length", "genre"]), odd_values, max_size=3))
def test_parquet_is_read_as_if_it_were_python_objects(tmp_path_factory, changed):
    content = pa.table({**PARQUET, "length": [9] * 4, **changed})
    path = tmp_path_factory.mktemp("parquet") / "a.parquet"
    parquet.write_table(content, path)

    def said(kind):
        try:
            corpus = bc.read(path, format="table")
        except bc.BeyondChanceError as error:
            return f"{kind}{type(error)} {error}"
        names = corpus.documents, corpus.annotators, corpus.labels, corpus.fields
        return kind, names, everything(corpus), corpus.text_length.tolist(), corpus.skipped

    quick = said("")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_typed", lambda column, *_: column.to_pylist())
        assert said("") == quick


@pytest.mark.slow
@given(
    values=st.lists(st.sampled_from(["a", "b", " a", "c", "", None]), max_size=12),
    dictionary=st.permutations(["a", "b", " a", "c", "", "unused"]),
    n_head=st.integers(1, 12),
)
def test_codes_do_not_depend_on_the_dictionary(values, dictionary, n_head):
    places = pa.array([None if value is None else dictionary.index(value) for value in values])
    coded = pa.DictionaryArray.from_arrays(places.cast(pa.int8()), pa.array(dictionary))
    source = Source("a", member=b"")
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(columns, "_HEAD", n_head)
        for column in (
            pa.chunked_array([coded]),
            pa.chunked_array([pa.array(values, pa.string())]),
        ):
            arrow = column if column.type == coded.type else column.dictionary_encode()
            names, codes = columns.codes_of(columns.Table(source, {"genre": arrow}), "genre")
            plain = columns.codes_of(columns.Table(source, {"genre": values}), "genre")
            assert (names, codes.tolist()) == (plain[0], plain[1].tolist())
            assert codes.dtype == plain[1].dtype


@given(
    parts=st.lists(
        st.tuples(
            st.lists(st.sampled_from(["a", "b", "c", " a"]), min_size=1, max_size=4),
            st.lists(st.integers(0, 99) | st.none(), max_size=6),
        ),
        max_size=3,
    )
)
def test_values_that_a_dictionary_has_twice_are_one(parts):
    kind = pa.dictionary(pa.int8(), pa.string())
    chunks = [
        pa.DictionaryArray.from_arrays(
            pa.array([None if i is None else i % len(known) for i in places], pa.int8()),
            pa.array(known, pa.string()),
        )
        for known, places in parts
    ]
    content = pa.table({"genre": pa.chunked_array(chunks, kind)})
    source = Source("a", member=b"")
    names, codes = columns.codes_of(columns.arrow_table(content, source, pa), "genre")
    values = content["genre"].to_pylist()
    plain = columns.codes_of(columns.Table(source, {"genre": values}), "genre")
    assert (names, codes.tolist()) == (plain[0], plain[1].tolist())


def test_categories_of_parquet_are_weighed_as_numbers(tmp_path, monkeypatch):
    content = pa.table({**PARQUET, "length": [9] * 4})
    place = content.column_names.index("label")
    content = content.set_column(place, "label", content["label"].dictionary_encode())
    parquet.write_table(content, tmp_path / "a.parquet")
    monkeypatch.setattr(parquet.ParquetFile, "iter_batches", None)
    monkeypatch.setattr(parquet.ParquetFile, "scan_contents", None)
    assert bc.read(tmp_path / "a.parquet").labels == ("X", "Y", "Z")


@pytest.mark.slow
def test_no_table_imports_pandas(tmp_path):
    paths = [tmp_path / f"a.{suffix}" for suffix in ("csv", "jsonl", "parquet")]
    parquet.write_table(pa.table({**PARQUET, "length": [9] * 4}), paths[2])
    written(paths[0], CSV)
    written(paths[1], as_json(CSV))
    code = (
        "import sys, beyondchance as bc\n"
        "from beyondchance.io import table_files\n"
        "table_files._QUICK_FROM = 0\n"
        f"for path in {list(map(str, paths))}:\n"
        "    bc.read(path, format='table')\n"
        "assert 'pyarrow' in sys.modules and 'pandas' not in sys.modules\n"
    )
    subprocess.run([sys.executable, "-c", code], check=True)


def test_bytes_in_parquet_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    parquet.write_table(pa.table({**PARQUET, "label": [b"X"] * 4}), path)
    with refused(bc.FormatError, f"{path}:1: … label"):
        bc.read(path)


def test_columns_of_one_name_in_parquet_are_refused(tmp_path):
    path = tmp_path / "a.parquet"
    names = ["start", "end", "label", "label"]
    parquet.write_table(pa.table([[1], [2], ["X"], ["Y"]], names=names), path)
    with refused(bc.FormatError, "'label' … occurs"):
        bc.read(path)


def test_nan_in_parquet_is_a_missing_value(tmp_path):
    path = tmp_path / "a.parquet"
    gaps = {"start": [0.0, np.nan, 2.0, np.nan], "end": [4.0, np.nan, 4.0, np.nan]}
    parquet.write_table(pa.table({**PARQUET, **gaps, "label": ["X", None, "Z", None]}), path)
    assert everything(bc.read(path, length=9)) == {
        ("d1", "anna"): [(0, 4, "X")],
        ("d1", "ben"): [(2, 4, "Z")],
        ("d2", "anna"): [],
        ("d2", "ben"): [],
    }


@each("names", [("1", "1.0"), ("1.0", "1")])
def test_ids_of_files_that_differ_in_the_decimal_point_are_one(tmp_path, names):
    one, other = names
    anna = written(tmp_path / "anna.csv", f"document,start,end,label\n{one},0,4,PER\n")
    ben = written(tmp_path / "ben.csv", f"document,start,end,label\n{other},0,5,PER\n")
    corpus = bc.read(anna, ben, length=9)
    assert everything(corpus) == {("1", "anna"): [(0, 4, "PER")], ("1", "ben"): [(0, 5, "PER")]}
    assert corpus.skipped == {"document ids such as 1.0 read as 1": 1}


class TestFilesWithoutCommonDocuments:
    HEAD = "document,start,end,label,length\n"

    def paths(self, folder, head, **rows):
        paths = []
        for name, content in rows.items():
            path = folder / f"{name}.csv"
            path.write_text(f"{head}{content}")
            paths.append(path)
        return paths

    @each(("head", "rest"), [(HEAD, "9"), ("document,start,end,label,text\n", "Ada left.")])
    def test_are_refused(self, tmp_path, head, rest):
        paths = self.paths(tmp_path, head, y=f"1,0,3,PER,{rest}\n", q=f"7,0,3,PER,{rest}\n")
        with refused(
            bc.NothingSharedError,
            f"{paths[0]}: … shares … '1' … {paths[1]} … '7' … empty='missing'",
        ):
            bc.read(*paths)
        assert bc.read(*paths, empty="missing").documents == ("1", "7")

    def test_one_of_three(self, tmp_path):
        rows = {
            name: f"{document},0,3,PER,9\n" for name, document in zip("abc", "112", strict=True)
        }
        with refused(bc.NothingSharedError, "c.csv: shares … '2' … and … a.csv"):
            bc.read(*self.paths(tmp_path, self.HEAD, **rows))

    def test_rounds_of_the_same_annotators_are_read(self, tmp_path):
        head = "document,annotator,start,end,label,length\n"
        rows = {f"r{i}": f"{i},anna,0,3,X,9\n{i},ben,0,3,X,9\n" for i in (1, 2)}
        assert bc.agreement(bc.read(*self.paths(tmp_path, head, **rows))).observed == 1
        rows["r2"] = rows["r2"].replace("anna", "cleo").replace("ben", "dan")
        with pytest.raises(bc.NothingSharedError):
            bc.read(*self.paths(tmp_path, head, **rows))

    def test_a_table_of_documents_says_that_they_are_common(self, tmp_path):
        paths = self.paths(tmp_path, self.HEAD, y="1,0,3,PER,9\n", q="7,0,3,PER,9\n")
        (listing,) = self.paths(tmp_path, "document,length\n", all="1,9\n7,9\n")
        assert len(bc.read(*paths, documents=listing).annotation_document) == 4

    def test_so_does_one_file(self, tmp_path):
        head = "document,annotator,start,end,label,length\n"
        paths = self.paths(tmp_path, head, one="1,anna,0,3,X,9\n2,ben,0,3,X,9\n")
        assert len(bc.read(*paths).annotation_document) == 4
