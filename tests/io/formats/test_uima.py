"""UIMA CAS: XMI, CAS JSON and INCEpTION projects, written by dkpro-cassis."""

import contextlib
import io
import json
import re
import zipfile

import cassis
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import uima
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.options import ReadOptions
from each import each
from examples import examples
from refusals import assert_notes, assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

DKPRO = "de.tudarmstadt.ukp.dkpro.core.api"
NE = f"{DKPRO}.ner.type.NamedEntity"
TOKEN = f"{DKPRO}.segmentation.type.Token"
SENTENCE = f"{DKPRO}.segmentation.type.Sentence"
META = f"{DKPRO}.metadata.type.DocumentMetaData"
TEXT = "Ada met Bo Li. Rome slept."
ADA_BO = [(0, 3, "PER"), (8, 13, "PER")]


def types():
    system = cassis.TypeSystem()
    string = "uima.cas.String"
    named = system.create_type(NE)
    system.create_feature(named, "value", string)
    system.create_feature(named, "identifier", string)
    person = system.create_type(f"{DKPRO}.ner.type.Person", NE)
    assert person
    for name in (TOKEN, SENTENCE):
        system.create_type(name)
    meta = system.create_type(META, "uima.tcas.DocumentAnnotation")
    system.create_feature(meta, "documentTitle", string)
    mood = system.create_type("my.Mood")
    system.create_feature(mood, "tone", string)
    system.create_feature(mood, "strength", "uima.cas.Integer")
    system.create_feature(mood, "sure", "uima.cas.Boolean")
    pair = system.create_type("my.Pair")
    system.create_feature(pair, "left", string)
    system.create_feature(pair, "right", string)
    system.create_type("my.Bare")
    system.create_type("your.Mood")
    relation = system.create_type("my.Rel")
    for end in ("Governor", "Dependent"):
        system.create_feature(relation, end, "uima.tcas.Annotation")
    link = system.create_type("my.ChainLink")
    system.create_feature(link, "next", link)
    pos = system.create_type(f"{DKPRO}.lexmorph.type.pos.POS")
    system.create_feature(pos, "PosValue", string)
    return system


SYSTEM = types()
SYSTEM_XML = SYSTEM.to_xml()


def cas(spans=(), text=TEXT, title=None, extra=()):
    """A CAS with named entities; `extra` are (type, start, end, features)."""
    made = cassis.Cas(SYSTEM)
    made.sofa_string = text
    made.sofa_mime = "text/plain"
    if title:
        made.add(SYSTEM.get_type(META)(begin=0, end=len(text), documentTitle=title))
    kind = SYSTEM.get_type(NE)
    for start, end, label in spans:
        made.add(kind(begin=start, end=end, value=label))
    for name, start, end, features in extra:
        made.add(SYSTEM.get_type(name)(begin=start, end=end, **features))
    return made


def zipped(files):
    made = io.BytesIO()
    with zipfile.ZipFile(made, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name, content)
    return made.getvalue()


def written(tmp_path, content, name="anna.json"):
    path = tmp_path / name
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    return path


def read(tmp_path, content, name="anna.json", **options):
    return bc.read(written(tmp_path, content, name), format="uima", **options)


def refuses(path, message, **options):
    with pytest.raises(bc.BeyondChanceError) as caught:
        bc.read(path, format="uima", **options)
    assert_tells(caught.value, message.replace("FILE", str(path)))


def both(tmp_path, made):
    """A CAS as JSON and as XMI."""
    written(tmp_path, SYSTEM_XML, "TypeSystem.xml")
    return [
        written(tmp_path, made.to_json(), "anna.json"),
        written(tmp_path, made.to_xmi(), "anna.xmi"),
    ]


# --- Files --------------------------------------------------------------------


def test_json_and_xmi(tmp_path):
    for path in both(tmp_path, cas(ADA_BO)):
        corpus = bc.read(path, format="uima")
        assert (corpus.unit, corpus.positions) == ("document", "characters")
        assert corpus.documents == ("1",)
        assert corpus.annotators == ("anna",)
        assert corpus.texts == (TEXT,)
        assert corpus.spans("1", "anna") == ADA_BO
        assert dict(corpus.skipped) == {}
        assert_notes(corpus.notes, f"{path.name}: … {NE!r} … feature … 'value'")
        assert corpus.options == {"layer": NE, "feature": "value"}


def test_feature_structures_as_an_object(tmp_path):
    data = json.loads(cas(ADA_BO).to_json())
    data["%FEATURE_STRUCTURES"] = {
        str(item.pop("%ID")): item for item in data["%FEATURE_STRUCTURES"]
    }
    assert read(tmp_path, json.dumps(data)).spans("1", "anna") == ADA_BO


def test_emoji(tmp_path):
    text = "😀 Ada 👍🏽 Bo"
    spans = [(2, 5, "PER"), (6, 8, "GOOD"), (9, 11, "PER")]
    made = cas(spans, text, extra=[(TOKEN, s, e, {}) for s, e in [(0, 1), (2, 5), (6, 8), (9, 11)]])
    for path in both(tmp_path, made):
        # The files count UTF-16 units.
        assert re.search(r'begin"?[=:] ?"?3\b', path.read_text(encoding="utf-8"))
        corpus = bc.read(path, format="uima")
        assert corpus.spans("1", "anna") == spans
        assert [text[s.start : s.end] for s in corpus.spans("1", "anna")] == ["Ada", "👍🏽", "Bo"]
        corpus = bc.read(path, format="uima", positions="tokens")
        assert corpus.spans("1", "anna") == [(1, 2, "PER"), (2, 3, "GOOD"), (3, 4, "PER")]


def test_offsets_that_count_code_points(tmp_path):
    for path in both(tmp_path, cas([(0, 1, "FUN")], "😀 Ada")):
        content = path.read_text(encoding="utf-8")
        content = content.replace('"end": 2', '"end": 1').replace('end="2"', 'end="1"')
        path.write_text(content, encoding="utf-8")
        refuses(
            path,
            "FILE: … 1 … character … UTF-16 … offsets='codepoints'",
        )
        corpus = bc.read(path, format="uima", offsets="codepoints")
        assert corpus.spans("1", "anna") == [(0, 1, "FUN")]


def test_byte_order_mark_and_encodings(tmp_path):
    made = cas(ADA_BO)
    written(tmp_path, SYSTEM_XML, "TypeSystem.xml")
    bom = b"\xef\xbb\xbf"
    xml = made.to_xmi()
    utf16 = re.sub(r"<\?xml.*?\?>", '<?xml version="1.0" encoding="UTF-16"?>', xml)
    for name, content in (
        ("anna.json", bom + made.to_json().encode()),
        ("anna.json", made.to_json().replace("\n", "\r\n").encode()),
        ("anna.json", made.to_json().encode("utf-16")),
        ("anna.xmi", bom + xml.encode()),
        ("anna.xmi", utf16.encode("utf-16")),
    ):
        assert read(tmp_path, content, name).spans("1", "anna") == ADA_BO


def test_tokens_and_sentences(tmp_path):
    extra = [(TOKEN, s, e, {}) for s, e in [(0, 3), (4, 7), (8, 13), (13, 14), (15, 19), (20, 26)]]
    extra += [(SENTENCE, 0, 14, {}), (SENTENCE, 15, 26, {})]
    made = cas([(0, 3, "PER"), (8, 10, "PER"), (15, 19, "LOC")], extra=extra)
    for path in both(tmp_path, made):
        corpus = bc.read(path, format="uima", unit="sentence", positions="tokens")
        assert corpus.texts == ("Ada met Bo Li.", "Rome slept.")
        assert corpus.text_length.tolist() == [4, 2]
        assert corpus.span_start.tolist() == [0, 2, 0]
        assert corpus.options["tokens"] == "file"
        assert corpus.skipped == {"spans widened to whole tokens": 1}
    path = written(tmp_path, cas(extra=[(TOKEN, 0, 3, {}), (TOKEN, 2, 4, {})]).to_json())
    refuses(
        path,
        "FILE: … [2, 4) … follow",
        positions="tokens",
    )


def test_titles_name_documents(tmp_path):
    folder = tmp_path / "anna"
    folder.mkdir()
    for number in (1, 2):
        made = cas(ADA_BO, title=f"doc {number}")
        written(folder, made.to_json(), f"x{number}.json")
    written(folder, "hello", "readme.md")
    corpus = bc.read(folder, format="uima")
    assert corpus.documents == ("doc 1", "doc 2")
    assert corpus.annotators == ("anna",)
    assert corpus.skipped == {"files of other formats ignored": 1}
    written(folder, cas(title="doc 1").to_json(), "x2.json")
    assert bc.read(folder, format="uima", folder="documents").documents == ("x1", "x2")


def test_type_system_anywhere_in_a_folder(tmp_path):
    folder = tmp_path / "anna"
    (folder / "deep").mkdir(parents=True)
    written(folder, SYSTEM_XML, "our types.xml")
    written(folder / "deep", cas(ADA_BO).to_xmi(), "d.xmi")
    assert bc.read(folder, format="uima", folder="documents").documents == ("deep/d",)


def test_the_type_system_that_fits_is_taken(tmp_path):
    other = cassis.TypeSystem()
    other.create_type("other.Thing")
    written(tmp_path, other.to_xml(), "a-typesystem.xml")
    written(tmp_path, "<x/>", "b-typesystem.xml")
    path = written(tmp_path, cas(ADA_BO).to_xmi(), "anna.xmi")
    refuses(
        path,
        (f"FILE: … all … {tmp_path / 'a-typesystem.xml'} … {NE!r}"),
    )
    written(tmp_path, SYSTEM_XML, "z-TypeSystem.xml")
    assert bc.read(path, format="uima").spans("1", "anna") == ADA_BO


def test_zip_of_one_document(tmp_path):
    content = zipped({"doc.xmi": cas(ADA_BO).to_xmi(), "TypeSystem.xml": SYSTEM_XML})
    corpus = read(tmp_path, content, "anna.zip")
    assert corpus.documents == ("1",)
    assert corpus.spans("1", "anna") == ADA_BO
    folder = tmp_path / "ben"
    folder.mkdir()
    written(folder, content, "d1.zip")
    written(folder, content, "d2.zip")
    assert bc.read(folder, format="uima", folder="documents").documents == ("d1", "d2")


def test_text_in_another_view(tmp_path):
    made = cassis.Cas(SYSTEM)
    view = made.create_view("plain")
    view.sofa_string = TEXT
    view.add(SYSTEM.get_type(NE)(begin=0, end=3, value="PER"))
    written(tmp_path, SYSTEM_XML, "TypeSystem.xml")
    assert read(tmp_path, made.to_xmi(), "anna.xmi").spans("1", "anna") == [(0, 3, "PER")]


def test_further_views_are_counted(tmp_path):
    made = cas(ADA_BO)
    made.create_view("translation").sofa_string = "Ada verließ Bo"
    written(tmp_path, SYSTEM_XML, "TypeSystem.xml")
    corpus = read(tmp_path, made.to_xmi(), "anna.xmi")
    assert corpus.spans("1", "anna") == ADA_BO
    assert corpus.skipped == {"other views of documents ignored": 1}
    with refused(
        bc.FormatError,
        f"{tmp_path / 'anna.xmi'}: … views … '_InitialView' … 'translation' … strict",
    ):
        read(tmp_path, made.to_xmi(), "anna.xmi", strict=True)


# --- Layers and features ------------------------------------------------------


def test_named_entities_come_first_and_kinds_of_them_count(tmp_path):
    extra = [
        (f"{DKPRO}.ner.type.Person", 15, 19, {"value": "X"}),
        ("my.Mood", 0, 3, {"tone": "glad"}),
        ("my.Rel", 0, 3, {}),
        ("my.ChainLink", 0, 3, {}),
        (f"{DKPRO}.lexmorph.type.pos.POS", 0, 3, {"PosValue": "N"}),
        (NE, 21, 25, {"identifier": "http://x"}),
    ]
    for path in both(tmp_path, cas([(0, 3, "PER")], extra=extra)):
        corpus = bc.read(path, format="uima")
        assert corpus.spans("1", "anna") == [(0, 3, "PER"), (15, 19, "X")]
        assert corpus.skipped == {
            "relations ignored": 1,
            "chain links ignored": 1,
            "annotations of other layers ignored": 1,
            "annotations without a label": 1,
        }
        corpus = bc.read(path, format="uima", layer="Person")
        assert corpus.spans("1", "anna") == [(15, 19, "X")]
        corpus = bc.read(path, format="uima", layer="NamedEntity", feature="identifier")
        assert corpus.labels == ("http://x",)
        assert bc.read(path, format="uima", layer="POS").labels == ("N",)


def test_the_only_layer_and_the_only_string(tmp_path):
    extra = [("my.Mood", 0, 3, {"tone": "glad", "strength": 3, "sure": True})]
    for path in both(tmp_path, cas(extra=extra)):
        assert bc.read(path, format="uima").labels == ("glad",)
        assert bc.read(path, format="uima", feature="strength").labels == ("3",)
        assert bc.read(path, format="uima", feature="sure").labels == ("true",)
        refuses(
            path,
            "FILE: … layer … 'my.Mood' … 'x' … 'tone' … 'strength' … 'sure'",
            feature="x",
        )


def test_layers_without_features_are_labelled_by_their_names(tmp_path):
    path = written(tmp_path, cas(extra=[("my.Bare", 0, 3, {})]).to_json())
    assert bc.read(path, format="uima").spans("1", "anna") == [(0, 3, "Bare")]
    path = written(tmp_path, cas(extra=[("uima.tcas.Annotation", 0, 3, {})]).to_json())
    assert bc.read(path, format="uima").spans("1", "anna") == [(0, 3, "Annotation")]


def test_choices_that_must_be_made(tmp_path):
    extra = [("my.Pair", 0, 3, {"left": "L", "right": "R"}), ("my.Bare", 0, 3, {})]
    path = written(tmp_path, cas(extra=extra).to_json())
    refuses(path, "FILE: … layers … 'my.Bare' … 'my.Pair' … layer=NAME")
    refuses(
        path,
        "FILE: … 'my.Pair' … features … 'left' … 'right' … feature=NAME",
        layer="Pair",
    )
    refuses(
        path,
        "FILE: … layers … 'my.Mood' … 'your.Mood' … full name … layer=NAME",
        layer="Mood",
    )
    with refused(bc.FormatError, "layer … 'Pear' … my.Bar"):
        bc.read(path, format="uima", layer="Pear")
    assert bc.read(path, format="uima", layer="Pair", feature="right").labels == ("R",)
    assert bc.read(path, format="uima", layer="my.Mood").spans("1", "anna") == []


def test_nothing_marked(tmp_path):
    for path in both(tmp_path, cas(extra=[(TOKEN, 0, 3, {})])):
        corpus = bc.read(path, format="uima")
        assert corpus.annotators_of("1") == ("anna",)
        assert corpus.spans("1", "anna") == []
        assert_notes(corpus.notes, f"{path.name}: … layer … annotations")


def test_empty_annotations_are_refused_or_skipped(tmp_path):
    path = written(tmp_path, cas([(0, 3, "PER"), (4, 4, "PER")]).to_json())
    with refused(bc.SpanError, "anna.json: annotation … : … span … [4, 4) … 'PER'"):
        bc.read(path, format="uima")
    corpus = bc.read(path, format="uima", zero_length="skip")
    assert corpus.spans("1", "anna") == [(0, 3, "PER")]
    assert corpus.skipped == {"empty spans left out": 1}


def test_annotations_past_the_end(tmp_path):
    for path in both(tmp_path, cas([(0, 3, "PER")])):
        content = path.read_text()
        for old, new in (('"end": 3', '"end": 99'), ('end="3"', 'end="99"')):
            content = content.replace(old, new)
        path.write_text(content)
        with refused(bc.SpanError, f"{path}: annotation … [0, 99) … 'PER' … 26 … characters"):
            bc.read(path, format="uima")


# --- Projects -----------------------------------------------------------------


def project(states, files, *, documents=()):
    known = {
        "name": "ours",
        "annotation_documents": [{"name": d, "user": u, "state": s} for d, u, s in states],
        "source_documents": [{"name": d, "state": s} for d, s in documents],
    }
    return zipped({"exportedproject1.json": json.dumps(known), **files})


def members_of_all_kinds():
    pair = {"x.xmi": cas(ADA_BO[:1]).to_xmi(), "TypeSystem.xml": SYSTEM_XML}
    tsv = (
        f"#FORMAT=WebAnno TSV 3.3\n#T_SP={NE}|value\n\n\n#Text=Ada met Bo Li. Rome slept.\n"
        "1-1\t0-3\tAda\tPER\t\n1-2\t4-7\tmet\t_\t\n"
    )
    return {
        "annotation/d.txt/anna.json": cas(ADA_BO).to_json(),
        "annotation/d.txt/ben.b.zip": zipped(pair),
        "annotation/d.txt/cleo.tsv": tsv,
        "annotation/d.txt/dan.xmi": cas().to_xmi(),
        "annotation/d.txt/eve.json": cas(ADA_BO).to_json(),
        "annotation/d.txt/INITIAL_CAS.json": cas().to_json(),
        "annotation_ser/d.txt/anna.ser": b"\xac\xed\x00\x05",
        "annotation/d.txt/fay.txt": "Ada",
        "curation/d.txt/CURATION_USER.json": cas(ADA_BO).to_json(),
        "source/d.txt": TEXT,
        "TypeSystem.xml": SYSTEM_XML,
    }


USERS = ("anna", "ben.b", "cleo", "dan")


def test_project(tmp_path):
    states = [("d.txt", user, "FINISHED") for user in USERS] + [("d.txt", "eve", "IN_PROGRESS")]
    content = project(states, members_of_all_kinds())
    corpus = read(tmp_path, content, "project.zip")
    assert corpus.documents == ("d.txt",)
    assert set(corpus.annotators) == {*USERS, "gold"}
    assert corpus.gold == "gold"
    assert corpus.spans("d.txt", "anna") == ADA_BO
    assert corpus.spans("d.txt", "ben.b") == ADA_BO[:1]
    assert corpus.spans("d.txt", "cleo") == ADA_BO[:1]
    assert corpus.spans("d.txt", "dan") == []
    assert corpus.spans("d.txt", "gold") == ADA_BO
    assert corpus.skipped == {
        "unfinished annotations left out": 1,
        "initial documents without an annotator ignored": 1,
        "Java-serialised files ignored": 1,
        "files of other formats ignored": 1,
    }


def test_unpacked_project(tmp_path):
    for name, content in members_of_all_kinds().items():
        path = tmp_path / "project" / name
        path.parent.mkdir(parents=True, exist_ok=True)
        path.write_bytes(content if isinstance(content, bytes) else content.encode())
    corpus = bc.read(tmp_path / "project", format="uima")
    # Nothing says who has finished, so everybody has.
    assert set(corpus.annotators) == {*USERS, "eve", "gold"}


@each("damaged", ["", '{"%TY', cas(ADA_BO).to_json()[:-9], "<html></html>"])
def test_damaged_work_in_a_project_is_refused(tmp_path, damaged):
    files = {
        "annotation/d/anna.json": cas(ADA_BO).to_json(),
        "annotation/d/ben.json": damaged,
        "annotation/d/cleo.json": cas().to_json(),
    }
    states = [("d", user, "FINISHED") for user in ("anna", "ben", "cleo")]
    path = written(tmp_path, project(states, files), "p.zip")
    for options in ({}, {"strict": True}):
        refuses(path, "FILE/annotation/d/ben.json", **options)


def test_unfinished_curation_is_no_gold(tmp_path):
    files = {
        "annotation/d/anna.json": cas(ADA_BO).to_json(),
        "curation/d/CURATION_USER.json": cas().to_json(),
    }
    states = [("d", "anna", "ANNOTATION_FINISHED")]
    content = project(states, files, documents=[("d", "CURATION_IN_PROGRESS")])
    corpus = read(tmp_path, content, "p.zip")
    assert corpus.annotators == ("anna",)
    assert corpus.gold is None
    content = project(states, files, documents=[("d", "CURATION_FINISHED")])
    assert read(tmp_path, content, "p.zip").gold == "gold"


def test_project_that_cannot_be_read(tmp_path):
    files = {
        "annotation_ser/d/anna.ser": b"\xac\xed",
        "annotation/d/anna.txt": "Ada",
        "curation/d/CURATION_USER.json": cas().to_json(),
    }
    refuses(
        written(tmp_path, project([("d", "anna", "FINISHED")], files), "p.zip"),
        "FILE: … annotators … .ser … .txt",
    )
    files = {"annotation/d/anna.json": cas().to_json()}
    refuses(
        written(tmp_path, project([("d", "anna", "IN_PROGRESS")], files), "p.zip"),
        "FILE: … annotator … '1 IN_PROGRESS'",
    )
    for known, message in (
        ("[]", "list"),
        ('{"annotation_documents": 3}', "'annotation_documents' is 3; expected a list"),
        (
            '{"annotation_documents": [{"name": 1}]}',
            "1: … 'name' … 1",
        ),
    ):
        content = zipped({"exportedproject1.json": known, **files})
        path = written(tmp_path, content, "p.zip")
        refuses(path, f"FILE/exportedproject1.json: … {message}")
    content = project([], {"annotation/d/anna.zip": zipped({"a.txt": "a"})})
    refuses(
        written(tmp_path, content, "p.zip"),
        "FILE/annotation/d/anna.zip: … 0 … files",
    )


# --- Malformed files ----------------------------------------------------------


def changed(**keys):
    data = json.loads(cas([(0, 3, "PER")]).to_json())
    data.update({f"%{key}": value for key, value in keys.items()})
    return json.dumps(data)


def with_member(structure):
    text = {"%ID": 1, "%TYPE": "uima.cas.Sofa", "sofaID": "_InitialView", "sofaString": TEXT}
    return changed(FEATURE_STRUCTURES=[text, structure])


@each(
    ("content", "message"),
    [
        (b"", "FILE: … empty"),
        ("hello", "FILE: … neither"),
        (b"\xac\xed\x00\x05", "FILE: … objects"),
        (SYSTEM_XML, "FILE: … system"),
        (b"PK\x03\x04hello", "FILE: … archive"),
        (
            '{"%TYPES": {}, ',
            "FILE:1: … 16 … Expecting",
        ),
        (
            b'{"%TYPES": "\xff"}',
            "FILE:1: … byte … 0xff … UTF-8 … UTF-8",
        ),
        (
            changed(TYPES=None),
            "FILE: … type … NamedEntity … declared",
        ),
        (changed(TYPES={"a.B": 3}), "FILE: … TYPES … 'a.B'"),
        (
            changed(TYPES={"a.B": {"%SUPER_TYPE": "uima.tcas.Annotation", "x=print(1)": {}}}),
            f"FILE: … {NE!r} … declared",
        ),
        (
            changed(TYPES={"a b": {"%SUPER_TYPE": "uima.tcas.Annotation"}}),
            f"FILE: … {NE!r} … declared",
        ),
        (
            changed(FEATURE_STRUCTURES=3),
            "FILE:",
        ),
        (
            changed(FEATURE_STRUCTURES=[{"%TYPE": "x"}, 3]),
            "FILE: … %FEATURE_STRUCTURES … number 1: … %ID",
        ),
        (
            changed(FEATURE_STRUCTURES={"x": {"%TYPE": NE}}),
            "FILE: … %ID … 'x'",
        ),
        (
            changed(FEATURE_STRUCTURES=[{"%ID": 1}]),
            "FILE: … number 1: … %TYPE",
        ),
        (
            with_member({"%ID": 2, "%TYPE": NE, "begin": "0", "end": 3}),
            "FILE: annotation 2: … offsets … '0' … 3",
        ),
        (
            with_member({"%ID": 2, "%TYPE": "no.Such"}),
            "FILE: … 'no.Such'",
        ),
        (
            with_member({"%ID": 2, "%TYPE": NE, "begin": 0, "end": 3, "mood": "x"}),
            "FILE: annotation 2: … feature 'mood'",
        ),
        (
            changed(VIEWS={"_InitialView": {"%SOFA": 1}}),
            "FILE: … view '_InitialView' … members",
        ),
        (
            changed(FEATURE_STRUCTURES=[], VIEWS={}),
            "FILE: … none",
        ),
    ],
)
def test_malformed_json_and_others(tmp_path, content, message):
    refuses(written(tmp_path, content), message)


def test_value_that_is_no_text(tmp_path):
    content = cas([(0, 3, "PER")]).to_json().replace('"PER"', "7")
    path = written(tmp_path, content)
    with refused(bc.FormatError, "'value' … 7"):
        bc.read(path, format="uima")


def test_malformed_xmi(tmp_path):
    good = cas([(0, 3, "PER")]).to_xmi()
    path = written(tmp_path, good, "anna.xmi")
    refuses(
        path,
        "FILE: … without … TypeSystem.xml",
    )
    written(tmp_path, SYSTEM_XML, "TypeSystem.xml")
    number = re.search(r'<type\d*:NamedEntity xmi:id="(\d+)"', good) or re.search(
        r'NamedEntity[^>]*xmi:id="(\d+)"', good
    )
    assert number is not None
    path.write_text(good.replace('begin="0"', 'begin="zero"'))
    with refused(bc.FormatError, f"{path}: annotation {number[1]}: … 'zero' … 3"):
        bc.read(path, format="uima")
    path.write_text(re.sub(r"<xmi:XMI", '<!DOCTYPE x [<!ENTITY a "b">]><xmi:XMI', good))
    with refused(bc.FormatError, "XML … <!ENTITY"):
        list(uima.read([_upload(path.read_bytes(), xmi=True)], _reading()))
    path.write_text(good[:-10])
    with refused(bc.FormatError, "anna.xmi: … : … well-formed"):
        bc.read(path, format="uima")
    path.write_text(re.sub(r'members="[^"]*"', 'members="9999"', good))
    refuses(path, "FILE: … member … 9999")
    path.write_text(good)
    bad = SYSTEM_XML.replace("<name>value</name>", "<name>v=print(1)</name>")
    bad = re.sub(r">\s*value\s*</(\w+:)?name>", r">v=print(1)</\1name>", bad)
    written(tmp_path, bad, "TypeSystem.xml")
    with refused(bc.FormatError, f"{path}: annotation {number[1]}: … 'value'"):
        bc.read(path, format="uima")


# --- Detection and fuzzing ----------------------------------------------------


def _reading():
    return Reading(ReadOptions(zero_length="skip", positions="tokens"))


def _upload(data, *, xmi=False):
    sources = [Source("up/a", member=data)]
    if xmi:
        sources.append(Source("up/TypeSystem.xml", member=SYSTEM_XML.encode()))
    return Upload("up" if xmi else "up/a", "anna", sources, is_folder=xmi)


def test_is_format():
    made = cas(ADA_BO)
    assert uima.is_format(_upload(made.to_json().encode()))
    assert uima.is_format(_upload(made.to_xmi().encode()))
    assert uima.is_format(_upload(made.to_xmi().encode(), xmi=True))
    assert uima.is_format(_upload(zipped({"a.xmi": made.to_xmi()})))
    assert uima.is_format(_upload(project([], {})))
    for other in (
        b"",
        b"\xac\xed\x00\x05",
        b"PK\x03\x04nothing",
        b"\xff\xfe\x00",
        SYSTEM_XML.encode(),
        b'{"text": "a", "label": [[0, 1, "X"]]}\n',
        b'<?xml version="1.0"?><GateDocument version="3"/>',
        b'<?xml version="1.0"?><ANNOTATION_DOCUMENT/>',
        b"#FORMAT=WebAnno TSV 3.3\n",
        b"T1\tPER 0 1\ta\n",
        zipped({"anna.jsonl": '{"text": "a", "label": []}\n'}),
    ):
        assert not uima.is_format(_upload(other))


def _seed_cas():
    extra = [(TOKEN, 0, 3, {}), (SENTENCE, 0, 12, {}), ("my.Mood", 0, 3, {"tone": "x"})]
    return cas([(0, 1, "A"), (2, 5, "B")], text="😀 Ada met Bo.", extra=extra)


JSON_SEED = json.loads(_seed_cas().to_json())
XMI_SEED = _seed_cas().to_xmi().encode()
ZIP_SEED = project([("d", "a", "FINISHED")], {"annotation/d/a.json": _seed_cas().to_json()})
VALUES = st.sampled_from(
    [None, True, -1, 0, 1, 2, 10**12, 1.5, "", "x", NE, "uima.cas.Sofa", [], [1], {}, {"%ID": 1}]
)
PIECES = st.sampled_from([b'"', b"<", b">", b"/", b"0", b"-1", b"99", b"x", b"\0", b"\xff", b""])


def fuzzed(upload):
    uima.is_format(upload)
    reading = _reading()
    with contextlib.suppress(bc.BeyondChanceError):
        assembled(uima.read([upload], reading), reading, unit="document", positions="characters")


def _places(value, path=()):
    yield path
    items = (
        value.items()
        if isinstance(value, dict)
        else enumerate(value)
        if isinstance(value, list)
        else ()
    )
    for key, item in items:
        yield from _places(item, (*path, key))


JSON_PLACES = list(_places(JSON_SEED))


@pytest.mark.slow
@examples(120)
@given(st.lists(st.tuples(st.sampled_from(JSON_PLACES), VALUES), min_size=1, max_size=3))
def test_nothing_but_our_errors_from_other_values(changes):
    data = json.loads(json.dumps(JSON_SEED))
    for path, value in changes:
        if not path:
            data = value
            break
        with contextlib.suppress(KeyError, IndexError, TypeError):
            inner = data
            for key in path[:-1]:
                inner = inner[key]
            inner[path[-1]] = value
    fuzzed(_upload(json.dumps(data).encode()))


@st.composite
def mutated(draw, seed):
    data = seed
    for _ in range(draw(st.integers(1, 4))):
        start = draw(st.integers(0, len(data)))
        end = min(len(data), start + draw(st.integers(0, 8)))
        data = data[:start] + draw(PIECES | st.binary(max_size=4)) + data[end:]
    return data


@pytest.mark.slow
@examples(120)
@given(mutated(XMI_SEED))
def test_nothing_but_our_errors_from_xmi(data):
    fuzzed(_upload(data, xmi=True))


@pytest.mark.slow
@examples(75)
@given(mutated(SYSTEM_XML.encode()))
def test_nothing_but_our_errors_from_type_systems(data):
    sources = [Source("up/a", member=XMI_SEED), Source("up/TypeSystem.xml", member=data)]
    fuzzed(Upload("up", "anna", sources, is_folder=True))


@pytest.mark.slow
@examples(100)
@given(mutated(json.dumps(JSON_SEED).encode()) | mutated(ZIP_SEED) | st.binary(max_size=100))
def test_nothing_but_our_errors_from_bytes(data):
    fuzzed(_upload(data))


@each(("content", "message"), [("", "is empty"), ("<a/>", "XMI")])
def test_a_broken_file_of_a_folder_is_named(tmp_path, content, message):
    folder = tmp_path / "anna"
    folder.mkdir()
    written(folder, SYSTEM_XML, "TypeSystem.xml")
    written(folder, cas(ADA_BO).to_xmi(), "one.xmi")
    written(folder, content, "two.xmi")
    with refused(bc.FormatError, f"{folder / 'two.xmi'}: … {message} … annotations"):
        bc.read(folder)
