"""BioC: both forms, passages and sentences, what offsets count, and what is wrong."""

import json
import re
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import bioc
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from mutation import places, replaced
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

#        0         1         2
#        012345678901234567890123456
TITLE = "Zinc in mice"
BODY = "Mice had no zinc."
START = len(TITLE) + 1


def marked(start, end, label="CHEM", *, number="a", words=None, **infons):
    return {
        "id": number,
        "infons": ({"type": label} if label else {}) | infons,
        "text": (f"{TITLE}\n{BODY}"[start:end] if words is None else words),
        "locations": [{"offset": start, "length": end - start}],
    }


def passage(offset, text, *annotations, **others):
    return {"offset": offset, "infons": {}, "text": text, "annotations": [*annotations], **others}


def document(*passages, name="7", **others):
    return {"id": name, "infons": {}, "passages": [*passages], **others}


def collection(*documents):
    return {"source": "x", "date": "", "key": "", "infons": {}, "documents": [*documents]}


ZINC, MICE, LAST = marked(0, 4), marked(8, 12, "SPECIES"), marked(25, 29)
TWO = document(passage(0, TITLE, ZINC, MICE), passage(START, BODY, LAST))
EXPECTED = [(0, 4, "CHEM"), (8, 12, "SPECIES"), (25, 29, "CHEM")]


def as_xml(data):
    """The XML form of a collection."""

    def infons(item):
        return "".join(f"<infon key='{k}'>{v}</infon>" for k, v in item.get("infons", {}).items())

    def level(item, kind):
        inner = {"document": "passages", "passage": "sentences"}.get(kind)
        parts = [f"<{kind}>", infons(item)]
        parts += [f"<id>{item['id']}</id>"] if kind == "document" else []
        parts += [f"<{key}>{item[key]}</{key}>" for key in ("offset", "text") if key in item]
        for one in item.get("annotations", ()):
            spots = "".join(
                f"<location offset='{o['offset']}' length='{o['length']}'/>"
                for o in one["locations"]
            )
            words = f"<text>{one['text']}</text>" if "text" in one else ""
            parts.append(f"<annotation id='{one['id']}'>{infons(one)}{spots}{words}</annotation>")
        parts += [f"<relation id='{one['id']}'/>" for one in item.get("relations", ())]
        parts += [level(one, inner[:-1]) for one in item.get(inner or "", ())]
        return "".join([*parts, f"</{kind}>\n"])

    documents = "".join(level(one, "document") for one in data["documents"])
    return (
        "<?xml version='1.0' encoding='UTF-8'?><!DOCTYPE collection SYSTEM 'BioC.dtd'>\n"
        f"<collection><source>x</source><date/><key/>\n{documents}</collection>"
    )


FORMS = {"json": json.dumps, "xml": as_xml}


@pytest.fixture(params=FORMS)
def read(request, tmp_path):
    """Read documents in each of the two forms."""

    def read(*documents, **options):
        path = tmp_path / f"anna.{request.param}"
        path.write_text(FORMS[request.param](collection(*documents)), encoding="utf-8")
        return bc.read(path, **options)

    return read


def spans(corpus, name="7", annotator="anna"):
    return corpus.spans(name, annotator)


# --- Valid --------------------------------------------------------------------


def test_a_collection(read):
    corpus = read(TWO, document(passage(0, BODY), name="8"))
    assert corpus.documents == ("7", "8")
    assert corpus.annotators == ("anna",)
    assert spans(corpus) == EXPECTED
    assert spans(corpus, "8") == []
    assert corpus.texts == (f"{TITLE}\n{BODY}", BODY)
    assert corpus.skipped == {}
    assert [note.text for note in corpus.notes] == [("read as ", "bioc")]


def test_passages_in_any_order(read):
    first, second = TWO["passages"]
    assert spans(read(document(second, first))) == EXPECTED


@each("base", [0, 27, 10**15])
def test_gaps_of_any_length_are_one_line_break(read, base):
    far = document(passage(base, TITLE, shifted(ZINC, base)), passage(base + 999, BODY))
    later = shifted(marked(25, 29), base + 999 - START)
    far["passages"][1]["annotations"] = [later]
    corpus = read(far)
    assert corpus.texts == (f"{TITLE}\n{BODY}",)
    assert spans(corpus) == [(0, 4, "CHEM"), (25, 29, "CHEM")]


def shifted(one, by):
    (spot,) = one["locations"]
    return one | {"locations": [spot | {"offset": spot["offset"] + by}]}


def test_passages_that_adjoin_have_nothing_between(read):
    corpus = read(document(passage(0, "Zinc"), passage(4, " in mice")))
    assert corpus.texts == ("Zinc in mice",)


def test_sentences(read):
    inner = [passage(0, TITLE, ZINC), passage(START, BODY, LAST)]
    whole = {"offset": 0, "infons": {}, "sentences": inner}
    corpus = read(document(whole), unit="sentence")
    assert corpus.texts == (TITLE, BODY)
    assert spans(read(document(whole))) == [(0, 4, "CHEM"), (25, 29, "CHEM")]


def test_passages_are_not_sentences(read):
    with refused(bc.DataError, "document '7' … sentences … unit='document'"):
        read(TWO, unit="sentence")


def test_annotations_of_the_whole_document(read):
    assert spans(read(document(passage(0, TITLE), annotations=[ZINC]))) == [(0, 4, "CHEM")]


def test_relations_are_counted_wherever_they_are(read):
    relation = [{"id": "R1"}]
    inner = passage(0, TITLE, relations=relation)
    corpus = read(
        document(
            {"offset": 0, "infons": {}, "sentences": [inner], "relations": relation},
            relations=relation * 2,
        )
    )
    assert corpus.skipped == {"relations ignored": 4}


def test_an_annotation_without_a_place_is_counted(read):
    corpus = read(document(passage(0, TITLE, ZINC, ZINC | {"locations": []})))
    assert corpus.skipped == {"annotations without a place ignored": 1}


def test_a_location_written_twice_is_one(read):
    twice = ZINC | {"locations": ZINC["locations"] * 2}
    assert spans(read(document(passage(0, TITLE, twice)))) == [(0, 4, "CHEM")]


def test_no_words_are_stored(read):
    bare = {key: value for key, value in ZINC.items() if key != "text"}
    assert spans(read(document(passage(0, TITLE, bare)))) == [(0, 4, "CHEM")]


# --- Labels and annotators ----------------------------------------------------


def test_without_a_type(read):
    corpus = read(document(passage(0, TITLE, marked(0, 4, None, mesh="D1"), MICE)))
    assert spans(corpus) == [(0, 4, "_"), (8, 12, "SPECIES")]
    assert_tells(corpus.notes[-1], "1 … annotations … 'type' … '_' … feature=KEY … 'mesh'")


def test_another_infon_is_the_label(read):
    corpus = read(document(passage(0, TITLE, marked(0, 4, mesh="D1"), MICE)), feature="mesh")
    assert spans(corpus) == [(0, 4, "D1")]
    assert corpus.skipped == {"annotations without a label": 1}
    with refused(bc.FormatError, "infon … 'x' … 'type'"):
        read(TWO, feature="x")
    with refused(bc.FormatError, "infon … 'x' … none"):
        read(document(passage(0, TITLE, marked(0, 4, None))), feature="x")


def test_annotators_in_the_file(read):
    first = document(
        passage(0, TITLE, marked(0, 4, annotator="ada"), marked(8, 12, annotator="bo"))
    )
    second = document(passage(0, BODY, marked(0, 4, words="Mice", annotator="ada")), name="8")
    corpus = read(first, second)
    assert corpus.annotators == ("ada", "bo")
    assert spans(corpus, "7", "bo") == [(8, 12, "CHEM")]
    assert spans(corpus, "8", "bo") == []
    assert_tells(corpus.notes[-1], "1 … annotator … empty='missing'")
    missing = read(first, second, empty="missing")
    assert missing.annotators_of("8") == ("ada",)


def test_who_is_not_named_is_the_file(read):
    corpus = read(document(passage(0, TITLE, ZINC, marked(8, 12, annotator="bo"))))
    assert corpus.annotators == ("anna", "bo")


def test_one_file_each(tmp_path):
    for name in ("anna", "ben"):
        (tmp_path / f"{name}.xml").write_text(as_xml(collection(TWO)))
    corpus = bc.read(tmp_path / "anna.xml", tmp_path / "ben.xml")
    assert corpus.annotators_of("7") == ("anna", "ben")


def test_a_folder_of_collections(tmp_path):
    folder = tmp_path / "anna"
    folder.mkdir()
    (folder / "a.xml").write_text(as_xml(collection(TWO, document(passage(0, BODY), name="8"))))
    (folder / "b.json").write_text(json.dumps(collection(document(passage(0, "x"), name=""))))
    (folder / "notes.txt").write_text("x")
    corpus = bc.read(folder)
    assert corpus.annotators == ("anna",)
    assert corpus.documents == ("7", "8", "b:1")
    assert corpus.skipped == {"files of other formats ignored": 1}


@each(
    "content",
    [
        json.dumps([collection(TWO)]),
        json.dumps(TWO),
        json.dumps([TWO]),
        json.dumps({"PubTator3": [TWO]}),
        json.dumps(TWO) + "\n" + json.dumps(document(passage(0, BODY), name="8")) + "\n",
        json.dumps(collection(TWO)) + "\r\n" + json.dumps(collection()),
        "\ufeff" + json.dumps(collection(TWO), indent=1),
    ],
)
def test_the_shapes_of_json(tmp_path, content):
    (tmp_path / "anna.json").write_text(content, encoding="utf-8")
    assert spans(bc.read(tmp_path / "anna.json")) == EXPECTED


def test_utf16_xml(tmp_path):
    content = as_xml(collection(TWO)).replace("UTF-8", "UTF-16")
    (tmp_path / "anna.xml").write_bytes(content.encode("utf-16"))
    assert spans(bc.read(tmp_path / "anna.xml")) == EXPECTED


# --- Offsets and words --------------------------------------------------------

GREEK = "😀 β-Zinc in mice"
UNITS = {
    "codepoints": len,
    "utf16": lambda text: len(text.encode("utf-16-le")) // 2,
    "bytes": lambda text: len(text.encode()),
}


def counted(unit, words="mice"):
    length = UNITS[unit]
    first, second = GREEK, "Mice had β-zinc."
    offset = length(first) + 1
    start = offset + length("Mice had ")
    return document(
        passage(0, first, marked(length(first[:-4]), length(first), words=words)),
        passage(offset, second, marked(start, start + length("β-zinc"), words="β-zinc")),
    )


@each("unit", UNITS)
@each("is_asked", [True, False])
def test_the_words_show_what_offsets_count(read, unit, is_asked):
    corpus = read(counted(unit), **({"offsets": unit} if is_asked else {}))
    assert spans(corpus) == [(12, 16, "CHEM"), (26, 32, "CHEM")]
    notes = [str(note) for note in corpus.notes if "offsets" in str(note)]
    assert len(notes) == (unit != "codepoints" and not is_asked)


def test_the_note_on_bytes(read):
    assert_tells(read(counted("bytes")).notes[-1], "offsets … UTF-8")


def test_normalised_words_are_counted(read):
    corpus = read(counted("codepoints", words="MOUSE"))
    assert spans(corpus) == [(12, 16, "CHEM"), (26, 32, "CHEM")]
    assert corpus.skipped == {"spans whose stored words differ from the text": 1}
    assert corpus.options == {"stored_words": "ignore"}
    with refused(bc.SpanError, "stores … 'MOUSE' … strict='-stored_words'"):
        read(counted("codepoints", words="MOUSE"), strict=True)


def test_offsets_asked_for_that_do_not_fit(read):
    with refused(bc.SpanError, "words"):
        read(counted("bytes"), offsets="codepoints")


# --- Several locations --------------------------------------------------------

APART = ZINC | {
    "locations": [{"offset": 0, "length": 4}, {"offset": 8, "length": 4}],
    "text": "Zinc mice",
}


def test_discontinuous(read):
    apart = document(passage(0, TITLE, APART))
    with refused(bc.SpanError, "annotation 'a': … 'CHEM' … 2 … fragments", use="discontinuous"):
        read(apart, strict="discontinuous")
    assert read(apart).parts(0) == [(0, 4), (8, 12)]
    assert spans(read(apart, discontinuous="split")) == [(0, 4, "CHEM"), (8, 12, "CHEM")]
    joined = read(apart, discontinuous="join")
    assert spans(joined) == [(0, 12, "CHEM")]
    assert joined.skipped == {"discontinuous spans joined": 1}


def test_an_annotation_across_two_passages(read):
    corpus = read(document(passage(0, TITLE), passage(START, BODY, marked(8, START + 4))))
    assert spans(corpus) == [(8, START + 4, "CHEM")]


def test_fragments_on_both_sides_of_a_line_break_are_one(read):
    both = marked(8, 12, words="mice Mice")
    both["locations"].append({"offset": START, "length": 4})
    assert spans(read(document(passage(0, TITLE), passage(START, BODY, both)))) == [
        (8, START + 4, "CHEM")
    ]


# --- Wrong --------------------------------------------------------------------


@each(
    ("content", "message"),
    [
        (
            document(passage(0, TITLE), passage(5, BODY)),
            ": document '7': … offset … 5 … 12 … offsets=UNIT",
        ),
        (
            document(passage("x", TITLE)),
            ": document '7', passage 1: … 'offset' … 'x' … number",
        ),
        (
            document(passage(0, TITLE, ZINC | {"locations": [{"offset": "", "length": 1}]})),
            ": document '7', annotation 'a': … 'offset' … '' … number",
        ),
        (
            document(passage(0, TITLE, ZINC | {"locations": [{"offset": 0, "length": "4.5"}]})),
            ": document '7', annotation 'a': … 'length' … '4.5' … number",
        ),
        (
            document(passage(0, TITLE, marked(0, 4, words="Iron"))),
            ": document '7', annotation 'a': … [0, 4) … 'CHEM' … stores … 'Iron'",
        ),
        (
            document(passage(0, TITLE, marked(8, 44, words=""))),
            ": document '7', annotation 'a': … [8, 44) … 'CHEM' … lie",
        ),
        (
            document(passage(50, TITLE, marked(8, 12, words=""))),
            ": document '7', annotation 'a': … [8, 12) … 'CHEM' … lie",
        ),
        (
            document(passage(0, TITLE, marked(14, 16, words="")), passage(50, BODY)),
            ": document '7', annotation 'a': … [14, 16) … 'CHEM' … lie",
        ),
    ],
)
def test_wrong_in_both_forms(read, content, message):
    with pytest.raises(bc.DataError) as caught:
        read(content)
    assert re.search(r"anna\.(xml|json)", str(caught.value))
    assert_tells(caught.value, message)


@each(
    ("content", "message"),
    [
        (
            "[1]",
            ": … 1 … object",
        ),
        (
            '{"a": 1}',
            ": … neither … 'documents' … 'passages' … 'documents' … 'passages'",
        ),
        ('{"documents": 1}', ": … 'documents' … 1 … list"),
        ('{"documents": [1]}', ": … document … 1"),
        ('{"passages": [1]}', ": document '1', passage 1: … 1 … object"),
        (
            '{"id": [], "passages": []}',
            ": document 1: … 'id' … list",
        ),
        (
            '{"passages": [{"offset": true, "text": "x"}]}',
            ": document '1', passage 1: … 'offset' … true",
        ),
        (
            '{"passages": [{"offset": 0, "text": 5}]}',
            ": document '1', passage 1: … 'text' … 5 … string",
        ),
        (
            '{"passages": [{"infons": 1}], "annotations": [{"infons": 1}]}',
            ": … '1' … None … 'infons' … 1",
        ),
        ("<a/>", ": … element … 'a'"),
        ('<collection xmlns="urn:x"><document/></collection>', ": … '{urn:x}collection'"),
        (
            "<collection><document></collection>",
            ":1: … well-formed … 25",
        ),
        (
            "<!DOCTYPE collection [<!ENTITY a 'b'>]><collection/>",
            ":1: … <!ENTITY … need",
        ),
    ],
)
def test_wrong(tmp_path, content, message):
    (tmp_path / "anna").write_text(content)
    with refused(bc.FormatError, f"{tmp_path / 'anna'}{message}"):
        bc.read(tmp_path / "anna", format="bioc")


# --- Detection ----------------------------------------------------------------


def upload(content):
    return Upload("anna", "anna", [Source("anna", member=content)])


@each("form", FORMS)
def test_detected_by_the_head_alone(form):
    content = FORMS[form](collection(*[TWO] * 300)).encode()
    assert len(content) > 2**16
    assert bioc.is_format(upload(content))
    assert bioc.is_format(upload(content[: 2**16]))


@each(
    "content",
    [
        b"",
        b"<collection><book/></collection>",
        b'{"passages": ["a"]}',
        b'{"infons": {}}',
        b"<a><collection><document></a>",
        b"\xff\xfe\xff",
    ],
)
def test_not_detected(content):
    assert not bioc.is_format(upload(content))


# --- Anything -----------------------------------------------------------------

WHOLE = collection(
    document(passage(0, GREEK, marked(12, 16, words="mice", annotator="ada"), APART)),
    document(
        {"offset": 0, "infons": {}, "sentences": [passage(3, BODY, relations=[{"id": "R"}])]},
        name="8",
        annotations=[marked(3, 7, None, words="Mice")],
    ),
)
JSON = st.recursive(
    st.none() | st.booleans() | st.integers() | st.floats(allow_nan=False) | st.text(max_size=3),
    lambda inner: st.lists(inner, max_size=3) | st.dictionaries(st.text(max_size=3), inner),
    max_leaves=5,
)


def only_our_errors(content, **options):
    reading = Reading(ReadOptions(**{"discontinuous": "split", **options}))
    with suppress(bc.BeyondChanceError):
        drafts = bioc.read([upload(content)], reading)
        assembled(drafts, reading, unit="document", positions="characters")


def test_the_example_for_mutations_is_valid():
    for form in FORMS.values():
        reading = Reading(ReadOptions(discontinuous="split"))
        assert len(list(bioc.read([upload(form(WHOLE).encode())], reading))) == 4


@pytest.mark.slow
@examples(120)
@given(data=st.data())
def test_replaced_values(data):
    content = WHOLE
    for _ in range(data.draw(st.integers(1, 3))):
        path = data.draw(st.sampled_from([p for p in places(content) if p]))
        content = replaced(content, path, data.draw(JSON))
    unit = data.draw(st.sampled_from([None, "utf16", "bytes"]))
    only_our_errors(json.dumps(content).encode(), offsets=unit)


@pytest.mark.slow
@examples(120)
@given(data=st.data(), form=st.sampled_from(sorted(FORMS)))
def test_broken_bytes(data, form):
    content = bytearray(FORMS[form](WHOLE).encode())
    for _ in range(data.draw(st.integers(1, 4))):
        place = data.draw(st.integers(0, len(content)))
        length = data.draw(st.integers(0, 5))
        content[place : place + length] = data.draw(
            st.binary(max_size=3) | st.sampled_from([b"<", b"9", b"</passage>", b'"', b"-", b"{"])
        )
    only_our_errors(bytes(content))


def test_elements_nested_without_end():
    deep = b"<passage>" * 5000 + b"</passage>" * 5000
    only_our_errors(b"<collection><document>" + deep + b"</document></collection>")
    only_our_errors(b'{"passages": ' + b"[" * 5000 + b"]" * 5000 + b"}")
