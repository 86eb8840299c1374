"""Toxic spans: runs of indices, names of documents, and what is refused."""

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import toxic_spans
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

FILE = b'spans,text\n"[4, 5, 6, 8, 9]",You fool !!\n[],"Dear\nall, ""hello"""\n'


@pytest.fixture
def read(tmp_path):
    def reader(content=FILE, **options):
        path = tmp_path / "ada.csv"
        path.write_bytes(content)
        return bc.read(path, format="toxic-spans", **options)

    return reader


@pytest.fixture
def refuses(read):
    def refuser(content, message, error=bc.FormatError):
        with refused(error, message):
            read(content)

    return refuser


def upload_of(content, data=None):
    return Upload("ada.csv", "ada", [Source("ada.csv", member=content)], data=data)


def test_spans_are_runs_of_indices(read):
    corpus = read()
    assert corpus.documents == ("1", "2")
    assert corpus.annotators == ("ada",)
    assert corpus.spans("1", "ada") == [(4, 7, "toxic"), (9, 10, "toxic")]
    assert corpus.spans("2", "ada") == []
    assert corpus.texts == ("You fool !!", 'Dear\nall, "hello"')
    assert corpus.skipped == {"spans trimmed of white space": 1}


def test_one_file_each(tmp_path):
    for name, spans in (("ada", '"[0, 1]"'), ("bo", "[0]")):
        (tmp_path / f"{name}.csv").write_text(f"spans,text\n{spans},You\n")
    corpus = bc.read(tmp_path / "ada.csv", tmp_path / "bo.csv")
    assert corpus.annotators_of("1") == ("ada", "bo")
    assert [item.format for item in corpus.inputs] == ["toxic-spans"] * 2


def test_order_and_repetition_of_indices_do_not_matter(read):
    assert read(b'spans,text\n"[2, 0,1 ,1]",You\n').spans("1", "ada") == [(0, 3, "toxic")]


def test_columns_that_name_and_describe_documents(read):
    corpus = read(b"\xef\xbb\xbfText,ID,Spans,source\r\nYou,t7,[0],web\r\n")
    assert corpus.documents == ("t7",)
    assert corpus.fields == {"source": ("web",)}


def test_runs_of_white_space_are_counted(read):
    corpus = read(b"spans,text\n[3],You fool\n")
    assert corpus.spans("1", "ada") == []
    assert corpus.skipped == {"marks of nothing but white space left out": 1}


def test_a_folder(tmp_path):
    folder = tmp_path / "ada"
    folder.mkdir()
    for name in ("one", "two"):
        (folder / f"{name}.csv").write_bytes(FILE)
    corpus = bc.read(folder, format="toxic-spans", folder="documents")
    assert corpus.documents == ("one:1", "one:2", "two:1", "two:2")


@each(
    ("content", "message"),
    [
        (b"", "ada.csv:1: … none"),
        (b"a,b\n", "ada.csv:1: … columns … 'a' … 'b'"),
        (
            b"spans,text,text\n",
            "ada.csv:1: … columns … 'spans' … 'text' … 'text'",
        ),
        (
            b"spans,text\n[0],a\n0,a\n",
            "ada.csv:3: … spans … '0' … 0 … 1 … 2",
        ),
        (
            b'spans,text\n"[0, x]",a\n',
            "ada.csv:2: … index … 'x' … 0 … 1 … 2",
        ),
        (
            b"spans,text\n[-1],a\n",
            "ada.csv:2: … index … '-1' … 0 … 1 … 2",
        ),
        (b"spans,text\n[0]\n", "ada.csv:2: … 1 … columns … 2"),
        (b'spans,text\n"[0]', "ada.csv:2: … unexpected"),
        (b"spans,text\n\xff", "ada.csv:2: … byte … 0xff … UTF-8 … UTF-8"),
    ],
)
def test_refused(refuses, content, message):
    refuses(content, message)


@each("options", [{}, {"strict": True}])
def test_spans_behind_the_text_are_not_white_space(read, options):
    message = "ada.csv:2: … span … [100, 102) … 'toxic' … 9"
    with refused(bc.SpanError, message):
        read(b'spans,text\n"[100, 101]",hello you\n', **options)


def test_refused_spans(refuses):
    refuses(
        b'spans,text\n"[2, 3]",You\n',
        "ada.csv:2: … [2, 4) … 'toxic' … 3 … characters",
        bc.SpanError,
    )


@each(
    "content",
    [FILE, b"\xef\xbb\xbf" + FILE, FILE * 5000, b"text,spans\nYou,[]\n", b"spans,text\n"],
)
def test_told(content):
    assert toxic_spans.is_format(upload_of(content))


@each(
    "content",
    [
        b"",
        b"\x89PNG\0\0",
        b"spans,text\n0-3,You\n",
        b'spans,text\n[],You\n"[[0, 3, ""X""]]",You\n',
        b"document,annotator,start,end,label\n1,ada,0,3,PER\n",
        b"Ada\tB-PER\nmet\tO\n",
        b'{"spans": [], "text": ""}\n',
    ],
)
def test_not_told(content):
    assert not toxic_spans.is_format(upload_of(content))


def test_data_in_memory_is_something_else():
    assert not toxic_spans.is_format(upload_of(FILE, data=[]))


def only_our_errors(content):
    upload = upload_of(content)
    toxic_spans.is_format(upload)
    reading = Reading(ReadOptions())
    try:
        drafts = toxic_spans.read([upload], reading)
        assembled(drafts, reading, unit="document", positions="characters")
    except bc.BeyondChanceError as error:
        assert str(error)  # noqa: PT017 - the message is what is checked


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_bytes(data):
    content = bytearray(FILE)
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        content[place : place + length] = data.draw(st.binary(max_size=4))
    only_our_errors(bytes(content))


@examples(150)
@given(content=st.binary() | st.text(max_size=30).map(lambda text: FILE + text.encode()))
def test_anything(content):
    only_our_errors(content)
