"""GATE documents: XML and bdocjs; gatenlp is the oracle."""

import contextlib
import copy
import json
import tempfile
from xml.etree import ElementTree as ET

import gatenlp
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import gate
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "😀 Mia Lund lives in Oslo."


def annotation(number, type_, start, end, **features):
    return {"id": number, "type": type_, "start": start, "end": end, "features": features}


def annotation_set(name, *annotations):
    return {"name": name, "annotations": list(annotations), "next_annid": 99}


def bdocjs(*sets, text=TEXT, unit="p", name=""):
    return {
        "annotation_sets": {item["name"]: item for item in sets},
        "text": text,
        "features": {},
        "offset_type": unit,
        "name": name,
    }


ANNA = annotation_set(
    "anna",
    annotation(0, "Person", 2, 10, sure=True),
    annotation(1, "Place", 20, 24, kind="city"),
)
BEN = annotation_set("ben", annotation(0, "Person", 2, 5))
TWO = bdocjs(ANNA, BEN)


def feature(name, value, kind="java.lang.String"):
    return (
        f'<Feature><Name className="java.lang.String">{name}</Name>'
        f'<Value className="{kind}">{value}</Value></Feature>'
    )


def xml_annotation(number, kind, start, end, features=""):
    return (
        f'<Annotation Id="{number}" Type="{kind}" StartNode="{start}" EndNode="{end}">'
        f"{features}</Annotation>\n"
    )


# The numbers of nodes count UTF-16 units, as GATE writes them.
NODES = (
    '<TextWithNodes><Node id="0"/>😀 <Node id="3"/>Mia<Node id="6"/> Lund<Node id="11"/> lives in '
    '<Node id="21"/>Oslo<Node id="25"/>.<Node id="26"/></TextWithNodes>\n'
)


def xml(*sets, nodes=NODES):
    return (
        "<?xml version='1.0' encoding='UTF-8'?>\n<GateDocument version=\"3\">\n"
        f"<GateDocumentFeatures>{feature('a', 'b')}</GateDocumentFeatures>\n{nodes}"
        + "".join(sets)
        + "</GateDocument>\n"
    )


def xml_set(name, *annotations):
    attribute = f' Name="{name}"' if name else ""
    return f"<AnnotationSet{attribute}>\n{''.join(annotations)}</AnnotationSet>\n"


PERSON = xml_annotation(0, "Person", 3, 11, feature("sure", "false", "java.lang.Boolean"))
PLACE = xml_annotation(1, "Place", 21, 25, feature("kind", "city"))
XML = xml(
    xml_set(""),
    xml_set("anna", PERSON, PLACE),
    xml_set("ben", xml_annotation(0, "Person", 3, 6)),
)


@pytest.fixture
def read(tmp_path):
    def reader(content, **options):
        path = tmp_path / "file.xml"
        if isinstance(content, dict):
            content = json.dumps(content)
        path.write_bytes(content.encode() if isinstance(content, str) else content)
        return bc.read(path, format="gate", **options)

    return reader


@each("content", [TWO, XML])
def test_sets_are_annotators_and_types_are_labels(read, content):
    corpus = read(content)
    assert corpus.documents == ("1",)
    assert corpus.annotators == ("anna", "ben")
    assert corpus.texts == (TEXT,)
    assert corpus.spans("1", "anna") == [(2, 10, "Person"), (20, 24, "Place")]
    assert corpus.spans("1", "ben") == [(2, 5, "Person")]
    assert (corpus.unit, corpus.positions) == ("document", "characters")
    assert corpus.skipped == {}


def test_offsets_in_utf16_units(read):
    ours = annotation_set("anna", annotation(0, "Place", 21, 25))
    assert read(bdocjs(ours, unit="j")).spans("1", "anna") == [(20, 24, "Place")]


def test_written_by_the_library(read):
    document = gatenlp.Document(TEXT)
    document.annset("anna").add(20, 24, "Place", {"kind": "city"})
    document.annset("ben")
    corpus = read(document.save_mem(fmt="bdocjs"))
    assert corpus.spans("1", "anna") == [(20, 24, "Place")]
    assert corpus.annotators_of("1") == ("anna", "ben")


letters = st.text(
    st.characters(codec="utf-8", categories=("L", "N", "P", "S", "Zs")) | st.sampled_from("\r\n\t"),
    max_size=6,
)
names = st.text(st.sampled_from("abcÄ😀 &<'-"), min_size=1, max_size=4)


@st.composite
def gate_documents(draw):
    """A text cut by nodes, and sets of annotations between them, as XML."""
    pieces = draw(st.lists(letters, min_size=1, max_size=5))
    root = ET.Element("GateDocument", version="3")
    text = ET.SubElement(root, "TextWithNodes")
    text.text = draw(letters)
    for number, piece in enumerate(pieces):
        ET.SubElement(text, "Node", id=str(7 * number)).tail = piece
    kinds = draw(st.lists(names, min_size=1, max_size=3))
    for name in draw(st.lists(names | st.just(""), unique=True, max_size=3)):
        of_set = ET.SubElement(root, "AnnotationSet", {"Name": name} if name else {})
        for number in range(draw(st.integers(0, 4))):
            nodes = sorted(draw(st.tuples(*[st.integers(0, len(pieces) - 1)] * 2)))
            start, end = (str(7 * node) for node in nodes)
            one = ET.SubElement(
                of_set,
                "Annotation",
                Id=str(number),
                Type=draw(st.sampled_from(kinds)),
                StartNode=start,
                EndNode=end,
            )
            for key, value in draw(st.dictionaries(names, letters, max_size=2)).items():
                pair = ET.SubElement(one, "Feature")
                for tag, content in (("Name", key), ("Value", value)):
                    ET.SubElement(pair, tag, className="java.lang.String").text = content
    # A carriage return by itself would be read as the end of a line.
    return ET.tostring(root, encoding="utf-8").replace(b"\r", b"&#13;")


@examples(200)
@given(gate_documents())
def test_gatenlp_reads_the_same(tmp_path_factory, content):
    path = tmp_path_factory.mktemp("gate") / "file.xml"
    path.write_bytes(content)
    theirs = gatenlp.Document.load(path, fmt="gatexml", show_warnings=False)
    ours, sets = gate._from_xml(Source("x", member=content), "x", Reading(ReadOptions()))
    assert ours.text == (theirs.text or "")
    assert list(sets) == list(theirs.annset_names())
    for name, found in sets.items():
        assert [(a.label, a.start, a.end, features) for a, features in found] == [
            (a.type, a.start, a.end, dict(a.features)) for a in theirs.annset(name)
        ]


def test_nothing_is_written_to_disk(monkeypatch):
    def refuse(*_, **__):
        raise AssertionError("a temporary file")

    monkeypatch.setattr(tempfile, "mkdtemp", refuse)
    monkeypatch.setattr(tempfile, "mkstemp", refuse)
    reading = Reading(ReadOptions())
    anna, ben = gate.read([upload(XML.encode())], reading)
    assert (anna.annotator, ben.annotator) == ("anna", "ben")


def test_a_type_and_a_feature_can_be_chosen(read):
    corpus = read(XML, layer="Place", feature="kind")
    assert corpus.annotators == ("anna",)
    assert corpus.spans("1", "anna") == [(20, 24, "city")]
    assert corpus.skipped == {"annotations of other types ignored": 2}
    assert read(XML, layer="Person").spans("1", "anna") == [(2, 10, "Person")]


def test_booleans_keep_their_value(read):
    only = xml(xml_set("anna", PERSON))
    assert read(only, feature="sure").spans("1", "anna") == [(2, 10, "false")]
    only = bdocjs(annotation_set("anna", ANNA["annotations"][0]))
    assert read(only, feature="sure").spans("1", "anna") == [(2, 10, "true")]


def test_the_default_set_counts_where_nobody_is_named(read):
    default = annotation_set("", annotation(0, "Place", 20, 24), annotation(1, "Lookup", 2, 5))
    markup = annotation_set("Original markups", annotation(0, "p", 0, 25))
    corpus = read(bdocjs(default, markup))
    assert corpus.annotators == ("file",)
    assert corpus.spans("1", "file") == [(20, 24, "Place")]
    assert corpus.skipped == {
        "annotations of other types ignored": 1,
        "annotations of the original markup ignored": 1,
    }
    named = read(bdocjs(default, BEN))
    assert named.annotators == ("ben",)
    assert named.skipped == {
        "annotations of other types ignored": 1,
        "annotations of the default set ignored": 1,
    }


def test_an_empty_set_is_annotated_and_one_of_tokens_is_no_annotator(read):
    tools = annotation_set("tools", annotation(0, "Token", 2, 5))
    corpus = read(bdocjs(ANNA, annotation_set("ben"), tools))
    assert corpus.annotators == ("anna", "ben")
    assert corpus.spans("1", "ben") == []
    assert read(bdocjs()).annotators == ("file",)
    assert read(bdocjs(annotation_set("ben"))).annotators == ("ben",)


def test_tokens_and_sentences(read):
    places = [(0, 1), (2, 5), (6, 10), (11, 16), (17, 19), (20, 25)]
    tokens = [annotation(i, "Token", *place) for i, place in enumerate(places)]
    sentences = [annotation(10, "Sentence", 0, 10), annotation(11, "Sentence", 11, 25)]
    content = bdocjs(annotation_set("", *tokens, *sentences), ANNA, BEN)
    corpus = read(content, positions="tokens")
    assert corpus.text_length.tolist() == [6]
    assert corpus.spans("1", "anna") == [(1, 3, "Person"), (5, 6, "Place")]
    assert corpus.options["tokens"] == "file"
    assert corpus.skipped == {
        "annotations of other types ignored": 8,
        "spans widened to whole tokens": 1,
    }
    by_sentence = read(content, positions="tokens", unit="sentence")
    assert by_sentence.text_length.tolist() == [3, 3]
    assert by_sentence.spans("1", "anna") == [(1, 3, "Person"), (2, 3, "Place")]


def test_tokens_that_overlap_are_not_used(read):
    tokens = annotation_set("", annotation(0, "Token", 0, 5), annotation(1, "Token", 2, 5))
    corpus = read(bdocjs(tokens, ANNA), positions="tokens")
    assert corpus.options["tokens"] == "rule"
    assert corpus.skipped["documents whose tokens overlap or do not fit"] == 1


def test_features_of_several_values_are_never_opened(read):
    inner = '&lt;!DOCTYPE a [&lt;!ENTITY b "c"&gt;]&gt;&lt;a&gt;&amp;b;&lt;/a&gt;'
    listed = feature("list", inner, "gate.corpora.ObjectWrapper")
    content = xml(xml_set("anna", xml_annotation(0, "Place", 21, 25, listed)))
    corpus = read(content)
    assert corpus.spans("1", "anna") == [(20, 24, "Place")]
    assert corpus.skipped == {"features that are no single value ignored": 1}


def test_line_ends_stay(read):
    nodes = '<TextWithNodes>a&#13;\n<Node id="3"/>b<Node id="4"/></TextWithNodes>'
    corpus = read(xml(xml_set("anna", xml_annotation(0, "X", 3, 4)), nodes=nodes))
    assert corpus.texts == ("a\r\nb",)
    assert corpus.spans("1", "anna") == [(3, 4, "X")]


def test_names_and_folders(read, tmp_path):
    assert read(bdocjs(ANNA, name="one")).documents == ("one",)
    folder = tmp_path / "folder"
    folder.mkdir()
    (folder / "a.xml").write_text(XML, encoding="utf-8")
    (folder / "b.bdocjs").write_text("\ufeff" + json.dumps(bdocjs(BEN)), encoding="utf-8")
    (folder / "LICENSE").write_text("Free.")
    corpus = bc.read(folder, format="gate")
    assert corpus.documents == ("a", "b")
    assert corpus.annotators_of("a") == ("anna", "ben")
    assert corpus.annotators_of("b") == ("ben",)
    assert corpus.skipped == {"files of other formats ignored": 1}


def broken(**values):
    """A bdocjs whose first annotation has other values."""
    content = copy.deepcopy(bdocjs(ANNA))
    content["annotation_sets"]["anna"]["annotations"][0].update(values)
    return content


def place(**values):
    """An XML whose only annotation has other attributes."""
    attributes = {"Id": "0", "Type": "Place", "StartNode": "21", "EndNode": "25", **values}
    written = " ".join(f'{key}="{value}"' for key, value in attributes.items() if value is not None)
    return xml(xml_set("anna", f"<Annotation {written}/>"))


@each(
    ("content", "options", "message"),
    [
        (
            "",
            {},
            ":1: … well-formed … 1",
        ),
        (
            XML.replace("</AnnotationSet>", "", 1),
            {},
            ":14: … well-formed … 3",
        ),
        ("<a/>", {}, ": … element … 'a'"),
        (
            XML.replace("<GateDocument ", '<!DOCTYPE a [<!ENTITY b "c">]>\n<GateDocument '),
            {},
            ":2: … <!ENTITY … need",
        ),
        (xml(nodes=""), {}, ": … 0 … TextWithNodes"),
        (
            xml(xml_set("a"), xml_set("a")),
            {},
            ": … 'a' … occurs … 2",
        ),
        (
            xml(xml_set("a", PLACE, PLACE)),
            {},
            ": … 'a' … '1' … occurs … 2",
        ),
        (place(Id="x"), {}, ": … 'anna' … 'x' … number"),
        (place(Type=None), {}, ": … 'anna' … '0' … Type"),
        (
            place(EndNode="99"),
            {},
            ": … 'anna' … '0' … EndNode … '99'",
        ),
        (
            place(StartNode="26"),
            {},
            ": … 'anna' … '0' … '26', '25' … order",
        ),
        (
            "{",
            {},
            ":1: … 2 … Expecting",
        ),
        ({}, {}, ": … 'annotation_sets' … an object"),
        (bdocjs(text=None), {}, ": … 'text' … null"),
        (
            bdocjs(unit="x"),
            {},
            ": … 'offset_type' … 'x' … 'p' … points … 'j' … UTF-16",
        ),
        (
            {**TWO, "annotation_sets": {"anna": []}},
            {},
            ": … 'anna' … list … object",
        ),
        (bdocjs(annotation_set("anna", 3)), {}, ": … set … 'anna' … 1 … 3"),
        (broken(type=3), {}, ": … set … 'anna' … 1 … 'type' … 3"),
        (broken(start=1.5), {}, ": … set … 'anna' … 1 … 'start' … 1.5"),
        (broken(end=None), {}, ": … 'anna' … 1 … 'end' … null"),
        (broken(features=[]), {}, ": … 'anna' … 1 … 'features' … list"),
        (
            TWO,
            {"layer": "Date"},
            ": … type … 'Date' … 'Person' … 'Place'",
        ),
        (
            TWO,
            {"feature": "kind"},
            ": … 'anna' … 1 … feature … 'kind' … 'Person' … 'sure'",
        ),
        (b'{"a": "\xff"}', {}, ":1: … byte … 0xff … UTF-8 … UTF-8"),
    ],
)
def test_malformed(read, content, options, message):
    with refused(bc.FormatError, f"/file.xml{message}"):
        read(content, **options)


def test_spans_past_the_end(read):
    with refused(bc.SpanError, "file.xml: … 'anna' … 1 … span … 99 … 'Person'"):
        read(broken(end=99))


def upload(content):
    return Upload("x", "x", [Source("x", member=content)])


def test_detection():
    long = json.dumps(bdocjs(ANNA, text="x" * 100_000))
    for content in (XML, json.dumps(TWO), long, "\ufeff" + XML):
        assert gate.is_format(upload(content.encode()))
    for other in (
        b"",
        b"{",
        b'{"text": "annotation_sets offset_type"}',
        b"<?xml version='1.0'?><xmi:XMI/>",
        b"<p><GateDocument/></p>",
        b"Oslo B-LOC\n",
        b"T1\tPlace 0 4\tOslo\n",
        b"\x78\x9c\0\xff",
    ):
        assert not gate.is_format(upload(other))
    assert not gate.is_format(Upload("x", "x", [], data=[]))


def check(content, **options):
    reading = Reading(ReadOptions(**options))
    gate.is_format(upload(content))
    with contextlib.suppress(bc.BeyondChanceError):
        assembled(
            gate.read([upload(content)], reading), reading, unit="document", positions="characters"
        )


edits = st.lists(
    st.tuples(
        st.integers(0, 900),
        st.integers(0, 3),
        st.binary(max_size=3) | st.sampled_from([b"<", b">", b'"', b"0", b"&#13;", b"{", b","]),
    ),
    max_size=4,
)


@pytest.mark.slow
@examples(160)
@given(
    st.sampled_from([XML.encode(), json.dumps(TWO).encode(), b""]),
    edits,
    st.sampled_from([None, "kind"]),
)
def test_nothing_but_our_errors(content, changes, label):
    for start, cut, new in changes:
        content = content[:start] + new + content[start + cut :]
    check(content, feature=label)


values = st.recursive(
    st.none() | st.booleans() | st.integers() | st.text(max_size=3) | st.just("Token"),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=6,
)


def replaced(data, path, value):
    """The data with one value inside it replaced; the path says which way to go."""
    if not path or not isinstance(data, dict | list) or not data:
        return value
    keys = list(data) if isinstance(data, dict) else list(range(len(data)))
    key = keys[path[0] % len(keys)]
    data[key] = replaced(data[key], path[1:], value)
    return data


@pytest.mark.slow
@examples(120)
@given(st.lists(st.integers(0, 5), max_size=6), values, st.sampled_from(["p", "j"]))
def test_nothing_but_our_errors_for_other_values(path, value, unit):
    content = replaced(copy.deepcopy({**TWO, "offset_type": unit}), path, value)
    check(json.dumps(content).encode(), feature="sure" if unit == "j" else None)
