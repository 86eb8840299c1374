"""MedTator, MAE and n2c2 XML: tags, links, folders of annotators, and what is wrong."""

from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import medtator
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

#       0         1         2
#       0123456789012345678901234567
TEXT = "Seen 3 May by Dr. Vale.\nNo <pain>."
DATE = '<DATE spans="5~10" text="3 May" id="D0" comment=""/>'
NAME = '<NAME spans="18~22" text="Vale" id="N0"/>'
N2C2 = '<NAME id="P1" start="18" end="22" text="Vale" TYPE="DOCTOR" comment=""/>'
LINK = '<SEEN id="L0" link_aID="D0" link_aText="3 May" link_bID="N0" comment=""/>'


def content(*tags, text=TEXT, rest="<META/>"):
    inner = "\n".join(tags)
    return (
        f'<?xml version="1.0" encoding="UTF-8" ?>\n<NOTES>\n<TEXT><![CDATA[{text}]]></TEXT>\n'
        f"<TAGS>\n{inner}\n</TAGS>\n{rest}</NOTES>"
    )


@pytest.fixture
def read(tmp_path):
    def read(*tags, text=TEXT, **options):
        path = tmp_path / "anna.xml"
        path.write_text(content(*tags, text=text), encoding="utf-8")
        return bc.read(path, **options)

    return read


def saved(folder, name, *tags, text=TEXT):
    folder.mkdir(parents=True, exist_ok=True)
    (folder / name).write_text(content(*tags, text=text))


# --- Valid --------------------------------------------------------------------


def test_tags_are_labels(read):
    corpus = read(DATE, NAME)
    assert corpus.annotators == ("anna",)
    assert corpus.spans("1", "anna") == [(5, 10, "DATE"), (18, 22, "NAME")]
    assert corpus.texts == (TEXT,)
    assert corpus.skipped == {}


def test_start_and_end(read):
    assert read(N2C2).spans("1", "anna") == [(18, 22, "NAME")]


def test_an_attribute_is_the_label(read):
    corpus = read(N2C2, DATE, feature="TYPE")
    assert corpus.spans("1", "anna") == [(18, 22, "DOCTOR")]
    assert corpus.skipped == {"annotations without a label": 1}
    with refused(bc.FormatError, "attribute … 'KIND' … 'id' … 'start'"):
        read(N2C2, feature="KIND")


def test_links_and_tags_of_whole_documents_are_counted(read):
    corpus = read(
        DATE,
        LINK,
        '<REL id="R0" fromID="D0" toID="N0"/>',
        '<REL id="R1" arg0ID="D0" arg1ID="N0"/>',
        '<REL id="R2" PainID="D0" PainText="x"/>',
        '<COUGH id="C0" spans="-1~-1" text=""/>',
        '<COUGH id="C1" start="-1" end="-1"/>',
        '<COHORT met="not met"/>',
        '<FLU id="F0" spans=""/>',
    )
    assert corpus.spans("1", "anna") == [(5, 10, "DATE")]
    assert corpus.skipped == {
        "links between tags ignored": 4,
        "tags of whole documents ignored": 4,
    }


def test_several_fragments(read):
    apart = '<NAME spans="5~10,18~22" text="3 May ... Vale" id="N0"/>'
    assert read(apart, DATE).parts(0) == [(5, 10), (18, 22)]
    shorter = DATE.replace("D0", "D1").replace("5~10", "5~6").replace("3 May", "3")
    with refused(bc.SpanError, "tag 'N0': … 'NAME' … 2 … fragments"):
        read(apart, DATE, shorter, strict="discontinuous")
    corpus = read(apart, NAME, discontinuous="split")
    assert corpus.spans("1", "anna") == [(5, 10, "NAME"), (18, 22, "NAME")]
    assert corpus.skipped == {
        "spans whose stored words differ from the text": 1,
        "discontinuous spans split": 1,
        "spans marked twice, second left out": 1,
    }


def test_line_ends_inside_a_span(read):
    words = '<NAME spans="18~26" text="Vale. No" id="N0"/>'
    corpus = read(words)
    assert corpus.spans("1", "anna") == [(18, 26, "NAME")]
    assert corpus.skipped == {}


def test_stored_words_in_another_case_are_counted(read):
    corpus = read(DATE, NAME.replace("Vale", "VALE"))
    assert len(corpus.spans("1", "anna")) == 2
    assert corpus.skipped == {"spans whose stored words differ from the text": 1}


def test_offsets_that_count_utf16_units(read):
    corpus = read('<NAME spans="3~7" text="Vale" id="N0"/>', text="😀 Vale")
    assert corpus.spans("1", "anna") == [(2, 6, "NAME")]


def test_a_text_about_documents_types(read):
    corpus = read('<X spans="0~9" text="&lt;!DOCTYPE" id="X0"/>', text="<!DOCTYPE a [<!ENTITY b>]>")
    assert corpus.spans("1", "anna") == [(0, 9, "X")]


# --- Folders ------------------------------------------------------------------


def test_one_folder_each(tmp_path):
    for who in ("anna", "ben"):
        saved(tmp_path / who, "one.txt.xml", DATE)
        saved(tmp_path / who, "two.xml", text="Nothing")
        (tmp_path / who / "schema.dtd").write_text("x")
    corpus = bc.read(tmp_path / "anna", tmp_path / "ben")
    assert corpus.documents == ("one", "two")
    assert corpus.annotators_of("two") == ("anna", "ben")
    assert corpus.skipped == {"files of other formats ignored": 2}


def test_a_folder_of_folders(tmp_path):
    for who in ("anna", "ben"):
        saved(tmp_path / "all" / who, "one.xml", DATE)
    corpus = bc.read(tmp_path / "all")
    assert corpus.annotators == ("anna", "ben")
    assert corpus.documents == ("one",)
    assert_tells(corpus.notes[-1], "annotators … 'anna' … 'ben'")


def test_files_of_several_annotators_side_by_side(tmp_path):
    for who in "AB":
        saved(tmp_path / "all", f"{who}_one.xml", DATE)
        saved(tmp_path / "all", f"{who}_two.xml", text="Nothing")
    with refused(bc.FormatError, f"{tmp_path / 'all'}: … 2 … 4 … another … 'A_one' … 'B_one'"):
        bc.read(tmp_path / "all")


def test_an_annotator_may_have_a_text_twice(tmp_path):
    for number in range(3):
        saved(tmp_path / "anna", f"{number}.xml", DATE, text=TEXT + "x" * max(number, 1))
    corpus = bc.read(tmp_path / "anna")
    assert corpus.documents == ("0", "1", "2")
    assert_tells(corpus.notes[-1], "1 … 3 … another … '0' … '1'")


# --- Wrong --------------------------------------------------------------------


@each(
    ("text", "message"),
    [
        (
            content('<DATE spans="5-10" id="D0"/>'),
            ": tag 'D0': … spans … '5-10' … 'START~END' … several",
        ),
        (
            content('<DATE spans="5~10," id="D0"/>'),
            ": tag 'D0': … spans … '5~10,' … 'START~END' … several",
        ),
        (
            content('<DATE start="5" id="D0"/>'),
            ": tag 'D0': … '5' … None",
        ),
        (
            content('<DATE start="5" end="x"/>'),
            ": tag 1: … start … '5' … 'x'",
        ),
        (
            content('<DATE spans="5~99" id="D0"/>'),
            ": tag 'D0': … [5, 99) … 'DATE' … 34 … characters",
        ),
        (
            content('<DATE spans="-1~5" id="D0"/>'),
            ": tag 'D0': … -1 … 5 … 'DATE' … 34 … characters",
        ),
        (
            content('<DATE spans="6~11" text="3 May" id="D0"/>'),
            ": tag 'D0': … [6, 11) … 'DATE' … stores … '3 May'",
        ),
        (content(rest="<TAGS/>"), ": … 2 … TAGS"),
        ("<X><TAGS/></X>", ": … 0 … elements"),
        (
            "<X><TEXT/>",
            ":1: … well-formed … 11",
        ),
    ],
)
def test_wrong(tmp_path, text, message):
    (tmp_path / "anna").write_text(text)
    with pytest.raises(bc.DataError) as caught:
        bc.read(tmp_path / "anna", format="medtator")
    assert_tells(caught.value, f"{tmp_path / 'anna'}{message}")


# --- Detection ----------------------------------------------------------------


def upload(data):
    return Upload("anna", "anna", [Source("anna", member=data)])


@each(
    "text",
    [
        content(),
        content(text="x" * 2**17),
        "<X><META filename='a'/><TEXT>a</TEXT><TAGS/></X>",
        "<!DOCTYPE X SYSTEM 'x.dtd'><X a='b'>\n<TEXT>a</TEXT><TAGS></TAGS></X>",
    ],
)
@each("encoding", ["utf-8", "utf-16"])
def test_detected(text, encoding):
    assert medtator.is_format(upload(text.encode(encoding)))


@each(
    "text",
    ["", "<X/>", "<X><TEXT>a</TEXT></X>", "<X><TAGS/></X>", "<X><A/><TEXT/><TAGS/></X>", "x"],
)
def test_not_detected(text):
    assert not medtator.is_format(upload(text.encode()))


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_broken_files_give_only_our_errors(data):
    apart = '<NAME spans="5~10,18~22" id="N1"/>'
    whole = content(DATE, NAME, N2C2, LINK, apart).encode()
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(whole)))
        length = data.draw(st.integers(0, 5))
        new = st.binary(max_size=3) | st.sampled_from([b"<", b"~", b",", b"9", b"-", b"</TAGS>"])
        whole = whole[:place] + data.draw(new) + whole[place + length :]
    reading = Reading(ReadOptions(discontinuous="split"))
    with suppress(bc.BeyondChanceError):
        drafts = medtator.read([upload(whole)], reading)
        assembled(drafts, reading, unit="document", positions="characters")
