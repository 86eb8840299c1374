"""TEI and other XML with inline elements: what is an annotation, white space, what is refused."""

import contextlib

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import tei
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from every_format import Annotations, tei_names
from examples import examples
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

BODY = (
    '<p><persName>Ada</persName> met <rs type="person">Bo</rs> in <placeName>Oslo</placeName>.</p>'
)
XMLNS = 'xmlns="http://www.tei-c.org/ns/1.0"'


def document(body=BODY, root="TEI", more=""):
    return (
        f'<?xml version="1.0" encoding="UTF-8"?>\n<{root} {XMLNS}>\n<teiHeader><fileDesc>'
        f"<title>The <name>Title</name></title></fileDesc></teiHeader>\n{more}"
        f"<text>\n <body>{body}</body>\n</text>\n</{root}>\n"
    )


@pytest.fixture
def read(tmp_path):
    def reader(*contents, **options):
        paths = []
        for number, content in enumerate(contents):
            paths.append(tmp_path / f"{'abc'[number]}.xml")
            paths[-1].write_text(content, encoding="utf-8")
        return bc.read(*paths, **{"format": "tei", **options})

    return reader


@pytest.fixture
def marked(read):
    """The words and labels of one file, and its text."""

    def reader(content, **options):
        corpus = read(content, **options)
        (text,) = corpus.texts
        return [(text[s:e], label) for s, e, label in corpus.spans("1", "a")], text

    return reader


# --- Annotations --------------------------------------------------------------


def test_elements_that_name_things_are_spans_labelled_by_name_and_type(marked):
    spans, text = marked(document())
    assert spans == [("Ada", "persName"), ("Bo", "rs[person]"), ("Oslo", "placeName")]
    assert text == "Ada met Bo in Oslo."


def test_the_option_layer_chooses_elements(marked, read):
    content = document("<p><persName>Ada</persName> met <hi>Bo</hi> in <emph>Oslo</emph></p>")
    assert marked(content, layer="hi, emph")[0] == [("Bo", "hi"), ("Oslo", "emph")]
    corpus = read(content, layer="hi,rs")
    assert corpus.options["layer"] == "hi,rs"
    assert_tells(corpus.notes[0], "element … 'rs'")


def test_the_option_feature_takes_the_label_from_an_attribute(marked, read):
    content = document(
        '<p><rs type="person" xml:id="x">Ada</rs> and <rs>Bo</rs> and <date when="1">1</date></p>'
    )
    assert marked(content, feature="type")[0] == [("Ada", "person")]
    assert marked(content, feature="id")[0] == [("Ada", "x")]
    assert read(content, feature="type").skipped == {"elements without a label left out": 2}


def test_nested_elements_are_nested_spans(marked):
    content = document("<p><orgName>Bank of <placeName>Oslo</placeName></orgName></p>")
    assert marked(content)[0] == [("Bank of Oslo", "orgName"), ("Oslo", "placeName")]


def test_elements_of_one_place_are_two_spans(marked):
    content = document("<p><rs><name>Ada</name></rs></p>")
    assert sorted(marked(content)[0]) == [("Ada", "name"), ("Ada", "rs")]


def test_notes_and_registers_are_left_out_and_counted(read, marked):
    content = document(
        "<p><name>Ada</name><note>See <date>1889</date> and <name>B</name>.</note>, said "
        "<name>Bo</name></p><listPerson><person><persName>Ada</persName></person></listPerson>"
    )
    spans, text = marked(content)
    assert text == "Ada, said Bo"
    assert spans == [("Ada", "name"), ("Bo", "name")]
    assert read(content).skipped == {
        "notes left out": 1,
        "elements in notes left out": 2,
        "registers left out": 1,
        "elements in registers left out": 1,
    }


def test_notes_that_are_asked_for_are_part_of_the_text(marked):
    content = document("<p>Ada <note>or <name>Bo</name></note></p>")
    spans, text = marked(content, layer="note,name")
    assert text == "Ada or Bo"
    assert spans == [("or Bo", "note"), ("Bo", "name")]


def test_empty_elements_are_counted(read):
    corpus = read(document('<p><date when="1889"/>Ada <name> </name><name>Bo</name></p>'))
    assert corpus.skipped == {"elements without text left out": 2}
    assert len(corpus.span_start) == 1


def test_parts_of_split_elements_are_counted(read):
    corpus = read(document('<p><name next="#b">Ada</name> x <name prev="#a">Lund</name></p>'))
    assert corpus.skipped == {"parts of split elements read as spans of their own": 2}


def test_it_says_which_elements_were_read(read):
    assert_tells(read(document()).notes[0], "annotations … 'persName' … 'rs' … 'placeName'")


def test_old_tei_without_a_namespace(marked):
    assert marked(document(root="TEI.2").replace(XMLNS, ""))[0][0] == ("Ada", "persName")


def test_prefixes_of_the_namespace(marked):
    content = (
        '<t:TEI xmlns:t="http://www.tei-c.org/ns/1.0"><t:text><t:p><t:name>Ada</t:name></t:p>'
        "</t:text></t:TEI>"
    )
    assert tei.is_format(upload(content))
    assert marked(content)[0] == [("Ada", "name")]


def test_what_is_outside_of_the_text_is_not_read(marked):
    content = document(more="<standOff><listPerson><name>X</name></listPerson></standOff>")
    assert marked(content)[1] == "Ada met Bo in Oslo."


# --- White space --------------------------------------------------------------


def test_an_indented_copy_has_the_same_text_and_spans(read):
    indented = document(
        "\n   <p>\n      <persName>\n  Ada </persName>\n   met\n"
        '<rs type="person">Bo</rs> in <placeName>Oslo</placeName>.\n  </p>\n  '
    )
    corpus = read(document(), indented)
    assert corpus.texts == ("Ada met Bo in Oslo.",)
    assert bc.agreement(corpus).observed == 1


@each(
    ("body", "text"),
    [
        ("<p>one</p><p>two</p>", "one two"),
        ("<lg><l>one</l><l>two</l></lg>", "one two"),
        ("<p>one<lb/>two</p>", "one two"),
        ('<p>one<lb break="no"/>two</p>', "onetwo"),
        ("<p>on<hi>e</hi> two</p>", "one two"),
        ("<p>one \n\t two</p>", "one two"),
        ("<p>a<!-- comment -->b<?pi x?>c</p>", "abc"),
    ],
)
def test_words_are_apart_between_paragraphs_and_lines(marked, body, text):
    assert marked(document(body))[1] == text


# --- Other XML ----------------------------------------------------------------

MUC = (
    '<DOC><TEXT><ENAMEX TYPE="PERSON">Ada</ENAMEX> in <TIMEX TYPE="DATE">1889</TIMEX></TEXT></DOC>'
)


def test_elements_of_muc_are_labelled_by_their_type(marked):
    assert tei.is_format(upload(MUC))
    assert marked(MUC)[0] == [("Ada", "PERSON"), ("1889", "DATE")]
    assert marked(MUC.replace(' TYPE="DATE"', ""))[0][1] == ("1889", "TIMEX")


def test_a_file_of_muc_without_entities_was_annotated(read):
    corpus = read(MUC, "<DOC><TEXT>Ada in 1889</TEXT></DOC>")
    assert corpus.annotators_of("1") == ("a", "b")
    assert corpus.spans("1", "b") == []


def test_other_xml_needs_the_names_of_its_elements(marked):
    content = "<letter><line><who>Ada</who> met</line> <line>Bo</line></letter>"
    assert marked(content, layer="who")[0] == [("Ada", "who")]


# --- Documents ----------------------------------------------------------------


def test_a_folder_holds_a_document_in_each_file(tmp_path):
    for person in ("anna", "ben"):
        (tmp_path / person).mkdir()
        for name in ("one", "two"):
            (tmp_path / person / f"{name}.xml").write_text(document(f"{BODY}<p>{name}</p>"))
        (tmp_path / person / "readme.md").write_text("x")
    corpus = bc.read(tmp_path / "anna", tmp_path / "ben")
    assert corpus.documents == ("one", "two")
    assert corpus.annotators == ("anna", "ben")
    assert corpus.skipped == {"files of other formats ignored": 2}


def test_a_corpus_of_tei_holds_several_documents(read):
    one, two = (
        f"<TEI {more}><teiHeader/><text><p><name>Ada</name></p></text></TEI>"
        for more in ('xml:id="L1"', "")
    )
    corpus = read(f"<teiCorpus {XMLNS}><teiHeader/>{one}{two}</teiCorpus>")
    assert corpus.documents == ("L1", "2")


def test_the_builder_gives_the_spans_that_it_was_given(tmp_path):
    data = Annotations({"1": ["Ada 😀 < Bo"]}, {("1", "anna"): [(0, 2, "X"), (3, 4, "Y")]})
    example = tei_names(data)
    corpus = bc.read(*example.saved(tmp_path), **example.options)
    assert corpus.spans("1", "anna") == [span[:3] for span in data.marked("1", "anna")]
    assert corpus.texts == ("Ada 😀 < Bo",)


# --- What is refused ----------------------------------------------------------


@each(
    ("content", "options", "message"),
    [
        (
            "<letter><p>Ada</p></letter>",
            {},
            "a.xml: … elements … 'letter' … 'p' … layer=NAME",
        ),
        (
            document(),
            {"layer": "persname"},
            (
                "a.xml: … element … 'persname' … 'TEI' … 'body' … "
                "'fileDesc' … 'name' … 'p' … 'persName' … "
                "'placeName' … 'rs' … 'teiHeader' … 'text' … "
                "'title'"
            ),
        ),
        (
            document(),
            {"layer": "rs,"},
            "layer … 'rs,'",
        ),
        (
            f"<TEI {XMLNS}><teiHeader/></TEI>",
            {},
            "a.xml: … without … 'text'",
        ),
        (
            document("<p><name>Ada</p></name>"),
            {},
            "a.xml:5: … well-formed … 22",
        ),
        (
            '<!DOCTYPE TEI [<!ENTITY a "b">]><TEI><text>&a;</text></TEI>',
            {},
            None,
        ),
    ],
)
def test_what_is_refused(read, content, options, message):
    with pytest.raises(bc.BeyondChanceError) as caught:
        read(content, **options)
    if message is not None:
        assert_tells(caught.value, message)


def test_annotators_with_other_words_are_refused(read):
    with refused(bc.MismatchError, "document … '1'"):
        read(document(), document("<p>Ada met Bo.</p>"))


# --- Detection and damage -----------------------------------------------------


def upload(content):
    data = content.encode() if isinstance(content, str) else content
    return Upload("x.xml", "x", [Source("x.xml", member=data)])


def test_it_is_told_by_its_root():
    assert tei.is_format(upload(document()))
    assert tei.is_format(upload(f"<!-- c -->\n<?xml-model x?>\n<teiCorpus {XMLNS}></teiCorpus>"))
    assert tei.is_format(upload("<!DOCTYPE TEI.2 SYSTEM 'x.dtd'>\n<TEI.2><text>a</text></TEI.2>"))
    for other in ("", "TEI", "<letter><TEI/></letter>", "<GateDocument/>", "{}", "<!-- <TEI>", "<"):
        assert not tei.is_format(upload(other))
    assert not tei.is_format(Upload("x", "x", [], data=[]))


def test_deeply_nested_elements_are_read(read):
    depth = 5_000
    corpus = read(document("<hi>" * depth + "<name>Ada</name>" + "</hi>" * depth))
    assert len(corpus.span_start) == 1


@pytest.mark.slow
@examples(160)
@given(
    st.sampled_from([document().encode(), MUC.encode(), b""]),
    st.lists(
        st.tuples(
            st.integers(0, 400),
            st.integers(0, 6),
            st.binary(max_size=3) | st.sampled_from([b"<", b">", b"</p>", b"<note>", b"<lb/>"]),
        ),
        max_size=4,
    ),
    st.sampled_from([None, "rs", "p,name"]),
)
def test_nothing_but_our_errors(content, changes, layer):
    for start, cut, new in changes:
        content = content[:start] + new + content[start + cut :]
    reading = Reading(ReadOptions(layer=layer))
    tei.is_format(upload(content))
    with contextlib.suppress(bc.BeyondChanceError):
        assembled(
            tei.read([upload(content)], reading), reading, unit="document", positions="characters"
        )
