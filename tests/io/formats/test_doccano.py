"""doccano: both shapes, every way to put objects into a file, archives, and what is wrong."""

import io
import json
import zipfile
from contextlib import suppress

import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.assembling import assembled
from beyondchance.io.formats import doccano
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
TEXT = "Mira Holt sailed to Lund."
TUPLES = {"id": 7, "text": TEXT, "label": [[0, 9, "PER"], [20, 24, "LOC"]], "Comments": ["?"]}
OBJECTS = {
    "id": 7,
    "text": TEXT,
    "entities": [
        {"id": 1, "label": "PER", "start_offset": 0, "end_offset": 9},
        {"id": 2, "label": "LOC", "start_offset": 20, "end_offset": 24},
    ],
    "relations": [{"id": 3, "from_id": 1, "to_id": 2, "type": "sailed"}],
    "Comments": [],
}
EXPECTED = [(0, 9, "PER"), (20, 24, "LOC")]


def spans(corpus, document, annotator):
    return [tuple(span) for span in corpus.spans(document, annotator)]


def written(path, *values, **options):
    path.write_text("".join(json.dumps(value, **options) + "\n" for value in values))
    return path


def zipped(path, **files):
    """Write ``name="..."`` as the member ``name.jsonl``."""
    with zipfile.ZipFile(path, "w", zipfile.ZIP_DEFLATED) as archive:
        for name, content in files.items():
            archive.writestr(name if "." in name else f"{name}.jsonl", content)
    return path


def lines(*values):
    return "".join(json.dumps(value) + "\n" for value in values)


def test_tuples(tmp_path):
    corpus = bc.read(written(tmp_path / "anna.jsonl", TUPLES), format="doccano")
    assert corpus.annotators == ("anna",)
    assert corpus.documents == ("7",)
    assert corpus.texts == (TEXT,)
    assert spans(corpus, "7", "anna") == EXPECTED
    assert corpus.skipped == {"comments ignored": 1}
    assert corpus.notes == ()
    assert (corpus.unit, corpus.positions) == ("document", "characters")


def test_objects(tmp_path):
    corpus = bc.read(written(tmp_path / "anna.jsonl", OBJECTS), format="doccano")
    assert spans(corpus, "7", "anna") == EXPECTED
    assert corpus.skipped == {"relations ignored": 1}


@each(
    "value",
    [
        {"data": TEXT, "labels": TUPLES["label"], "meta": {"batch": 1}},
        {"text": TEXT, "entities": TUPLES["label"], "cats": []},
        {"id": None, "text": TEXT, "label": OBJECTS["entities"]},
    ],
)
def test_other_names(tmp_path, value):
    corpus = bc.read(written(tmp_path / "anna.jsonl", value), format="doccano")
    assert spans(corpus, "1", "anna") == EXPECTED
    assert corpus.skipped == {}
    assert corpus.fields == {}


def test_categories_beside_spans_are_counted(tmp_path):
    value = {"text": TEXT, "entities": TUPLES["label"], "cats": ["news", "sea"]}
    corpus = bc.read(written(tmp_path / "anna.jsonl", value), format="doccano")
    assert corpus.skipped == {"categories ignored": 2}


def test_documents_without_identifier_have_the_line_number(tmp_path):
    path = tmp_path / "anna.jsonl"
    path.write_text(
        f"\n{lines({'text': 'Ah.', 'label': []})}\r\n{lines({'text': '', 'label': []})}"
    )
    corpus = bc.read(path, format="doccano")
    assert corpus.documents == ("2", "4")
    assert spans(corpus, "2", "anna") == spans(corpus, "4", "anna") == []


def test_identifiers_may_be_names(tmp_path):
    value = {"id": "d-1", "text": "Ah.", "label": []}
    assert bc.read(written(tmp_path / "a.jsonl", value), format="doccano").documents == ("d-1",)


@each("indent", [None, 2])
def test_array(tmp_path, indent):
    other = {"text": "Ah.", "label": []}
    path = written(tmp_path / "anna.json", [TUPLES, other], indent=indent)
    corpus = bc.read(path, format="doccano")
    assert corpus.documents == ("7", "2")
    assert spans(corpus, "7", "anna") == EXPECTED


def test_objects_of_several_lines(tmp_path):
    without = {key: OBJECTS[key] for key in ("text", "entities")}
    path = written(tmp_path / "anna.jsonl", OBJECTS, without, {"text": "", "label": []}, indent=4)
    corpus = bc.read(path, format="doccano")
    assert corpus.documents == ("7", "2", "3")
    assert spans(corpus, "7", "anna") == spans(corpus, "2", "anna") == EXPECTED


def test_one_file_for_each_annotator(tmp_path):
    anna = written(tmp_path / "anna.jsonl", TUPLES)
    ben = written(tmp_path / "ben.jsonl", {**OBJECTS, "id": 12})
    corpus = bc.read(anna, ben, format="doccano", match="text")
    assert corpus.annotators_of("7") == ("anna", "ben")
    assert spans(corpus, "7", "ben") == EXPECTED


def test_archive(tmp_path):
    path = zipped(
        tmp_path / "project.zip",
        admin=lines(TUPLES),
        ben=lines(OBJECTS, {"id": 8, "text": "Ah.", "label": []}),
        cleo="",
        unknown=lines({"id": 9, "text": "Oh.", "label": []}, {"id": 8, "text": "Ah.", "label": []}),
        **{"__MACOSX/._ben.jsonl": "\0", "README.txt": "?"},
    )
    corpus = bc.read(path, format="doccano")
    assert corpus.annotators == ("admin", "ben")
    assert corpus.documents == ("7", "8")
    assert corpus.annotators_of("8") == ("ben",)
    assert spans(corpus, "7", "admin") == spans(corpus, "7", "ben") == EXPECTED
    assert corpus.skipped == {
        "comments ignored": 1,
        "relations ignored": 1,
        "documents of no annotator (unknown.jsonl) left out": 2,
        "other files ignored": 2,
    }


def test_archive_that_was_unpacked(tmp_path):
    (tmp_path / "project").mkdir()
    written(tmp_path / "project" / "anna.jsonl", TUPLES)
    written(tmp_path / "project" / "ben.jsonl", OBJECTS)
    written(tmp_path / "project" / "unknown.jsonl", OBJECTS)
    corpus = bc.read(tmp_path / "project", format="doccano")
    assert corpus.annotators_of("7") == ("anna", "ben")
    assert corpus.skipped["documents of no annotator (unknown.jsonl) left out"] == 1


def test_archive_of_shared_work_has_no_names(tmp_path):
    anna = zipped(tmp_path / "anna.zip", all=lines(TUPLES))
    ben = zipped(tmp_path / "ben.zip", all=lines(TUPLES))
    assert bc.read(anna, ben, format="doccano").annotators == ("anna", "ben")
    both = zipped(tmp_path / "both.zip", all=lines(TUPLES), admin=lines(TUPLES))
    assert bc.read(both, format="doccano").annotators == ("admin", "all")


def test_documents_without_labels_as_missing():
    reading = Reading(ReadOptions(empty="missing"))
    content = lines(TUPLES, {"id": 8, "text": "Ah.", "label": []}).encode()
    found = list(doccano.read([Upload("x", "x", [Source("x", member=content)])], reading))
    assert [draft.document for draft in found] == ["7"]
    assert reading.skipped["documents without labels left out as not annotated"] == 1


# --- Encodings ----------------------------------------------------------------


def test_offsets_count_utf16(tmp_path):
    text = "\N{GRINNING FACE} Ada, \N{GRINNING FACE} Bo"
    value = {"text": text, "label": [[0, 2, "FACE"], [3, 6, "PER"], [11, 13, "PER"]]}
    path = written(tmp_path / "anna.jsonl", value, ensure_ascii=False)
    expected = [(0, 1, "FACE"), (2, 5, "PER"), (9, 11, "PER")]
    assert spans(bc.read(path, format="doccano"), "1", "anna") == expected


@each(
    "value",
    [
        {"label": [[3, 6, "PER"]], "Comments": []},
        {"labels": [[3, 6, "PER"]], "annotation_approver": None},
        {"entities": [{"id": 1, "label": "PER", "start_offset": 3, "end_offset": 6}]},
    ],
)
def test_exports_of_doccano_count_utf16(tmp_path, value):
    path = written(tmp_path / "anna.jsonl", {"text": "\N{GRINNING FACE} Ada", **value})
    assert spans(bc.read(path), "1", "anna") == [(2, 5, "PER")]


def test_so_do_archives(tmp_path):
    content = lines({"text": "\N{GRINNING FACE} Ada", "label": [[3, 6, "PER"]]})
    assert spans(bc.read(zipped(tmp_path / "p.zip", anna=content)), "1", "anna") == [(2, 5, "PER")]


def test_what_other_files_count_after_emoji_must_be_given(tmp_path):
    face = "\N{GRINNING FACE}"
    values = [{"text": "Ada", "label": [[0, 3, "PER"]]}, {"text": f"{face} Bo", "label": []}]
    path = written(tmp_path / "a.jsonl", *values, {"text": f"Ada {face}", "label": [[0, 3, "PER"]]})
    assert spans(bc.read(path), "3", "a") == [(0, 3, "PER")]
    path = written(
        tmp_path / "b.jsonl", *values, {"text": f"{face} Bo x", "label": [[3, 5, "PER"]]}
    )
    with refused(
        bc.FormatError,
        f"{path}:3: … [3, 5) … 'PER' … 0 … counts … offsets='utf16' … offsets='codepoints'",
    ):
        bc.read(path)
    assert spans(bc.read(path, offsets="utf16"), "3", "b") == [(2, 4, "PER")]
    assert spans(bc.read(path, offsets="codepoints"), "3", "b") == [(3, 4, "PER")]


def test_offsets_count_code_points_on_request(tmp_path):
    value = {"text": "\N{GRINNING FACE} Ada", "label": [[2, 5, "PER"]]}
    path = written(tmp_path / "anna.jsonl", value)
    corpus = bc.read(path, format="doccano", offsets="codepoints")
    assert spans(corpus, "1", "anna") == [(2, 5, "PER")]


def test_offset_inside_a_character(tmp_path):
    value = {"text": "\N{GRINNING FACE} Ada", "label": [[1, 5, "PER"]]}
    with refused(bc.SpanError, "pass … offsets='codepoints'"):
        bc.read(written(tmp_path / "anna.jsonl", value), format="doccano")


@each("encoding", ["utf-8-sig", "utf-16"])
def test_byte_order_marks_and_line_ends(tmp_path, encoding):
    path = tmp_path / "anna.jsonl"
    path.write_bytes(lines(TUPLES).replace("\n", "\r\n").encode(encoding))
    assert spans(bc.read(path, format="doccano"), "7", "anna") == EXPECTED


def test_one_long_line(tmp_path):
    text = "Ah. " * 300_000
    path = written(tmp_path / "anna.jsonl", {"text": text, "label": [[0, 2, "X"]]})
    assert doccano.is_format(Upload("x", "x", [Source("x", path=path)]))
    assert spans(bc.read(path, format="doccano"), "1", "anna") == [(0, 2, "X")]


# --- Wrong --------------------------------------------------------------------


@each(
    ("content", "message"),
    [
        ("", ": … empty"),
        (" \n\n", ": … empty"),
        (
            lines(TUPLES, {"label": []}),
            ":2: … text … 'text' … 'data'",
        ),
        (lines({"text": 5, "label": []}), ":1: … 'text' … 5 … string"),
        (
            lines({"text": "Ah."}),
            ":1: … labels … 'label' … 'labels' … 'entities'",
        ),
        (
            lines({"text": "Ah.", "annotations": []}),
            ":1: … annotations … 'label' … 'labels' … 'entities'",
        ),
        (
            lines({"text": "Ah.", "label": [], "entities": []}),
            ":1: … under … 'label' … 'entities'",
        ),
        (
            lines({"text": "Ah.", "label": ["good", "short"]}),
            ":1: … 'label' … classification",
        ),
        (
            lines({"text": "Ah.", "label": None}),
            ":1: … 'label' … null",
        ),
        (
            lines({"text": "Ah.", "label": [[0, 1, "X"], [0, 1]]}),
            ":1: label #2: … list … 'start_offset' … 'end_offset' … 'label'",
        ),
        (
            lines({"text": "Ah.", "entities": [{"start": 0, "end": 1, "label": "X"}]}),
            ":1: label #1: … object … 'start_offset' … 'end_offset' … 'label'",
        ),
        (
            lines({"text": "Ah.", "label": [[0, 1.5, "X"]]}),
            ":1: label #1: … offset … 1.5",
        ),
        (
            lines({"text": "Ah.", "label": [[False, 1, "X"]]}),
            ":1: label #1: … false",
        ),
        (
            lines({"text": "Ah.", "label": [[0, 1, 4]]}),
            ":1: label #1: … label … 4",
        ),
        (
            lines({"id": 1.5, "text": "Ah.", "label": []}),
            ":1: … 'id' … 1.5 … number",
        ),
        (
            lines({"text": "Ah.", "label": [[1, 9, "X"]]}),
            ":1: label #1: … [1, 9) … 'X' … 3 … characters",
        ),
        (
            lines({"text": "Ah.", "label": [[2, 2, "X"]]}),
            ":1: label #1: … [2, 2) … 'X' … empty … zero_length='skip'",
        ),
        (
            lines(TUPLES, 4),
            ":2: … 4 … object",
        ),
        (
            "[4]",
            ": item 1: … 4 … object",
        ),
        (
            lines(TUPLES) + '{"text": "Ah."\n',
            ":2: … 15 … ',' … delimiter",
        ),
        (
            json.dumps(TUPLES, indent=1) + "\n{\n 4}",
            ":21: … 2 … property",
        ),
        ("Mira B-PER\n", ":1: … 1 … value"),
        ("[" * 200_000, ":1: … nested"),
        ('{"a":' * 200_000, ":1: … nested"),
        (b'\n{"text": "M\xe9re"}', ":2: … byte … 0xe9 … UTF-8 … UTF-8"),
        (
            b'{"text": "\0"}',
            ":1: … contains … NUL … UTF-16",
        ),
        (
            lines(TUPLES, TUPLES),
            ":2: … document '7' … annotated … 'anna' … 1 … repeated='last'",
        ),
    ],
)
def test_malformed(tmp_path, content, message):
    path = tmp_path / "anna.jsonl"
    path.write_bytes(content if isinstance(content, bytes) else content.encode())
    with pytest.raises(bc.DataError) as caught:
        bc.read(path, format="doccano", strict=True)
    assert_tells(caught.value, f"{path}{message.replace('{path}', str(path))}")


def test_numbers_are_finite(tmp_path):
    path = tmp_path / "anna.jsonl"
    path.write_text('{"text": "Ah.", "label": [[NaN, 1, "X"]]}')
    with refused(bc.FormatError, f"{path}:1: … NaN"):
        bc.read(path, format="doccano")


def test_long_values_are_cut_in_messages(tmp_path):
    path = written(tmp_path / "anna.jsonl", {"text": "Ah.", "label": [[0, "A" * 99, "X"]]})
    with pytest.raises(bc.FormatError) as caught:
        bc.read(path, format="doccano")
    cut = f"'{'A' * 46}...{'A' * 29}'"
    assert_tells(caught.value, f"{path}:1: label #1: … offset … {cut}")


def test_malformed_archives(tmp_path):
    path = zipped(tmp_path / "a.zip", anna=lines(TUPLES, {"id": 1}))
    with refused(bc.FormatError, f"{path}/anna.jsonl:2: … text"):
        bc.read(path, format="doccano")
    for files in ({"README.txt": "?"}, {"unknown": lines(TUPLES)}, {}):
        path = zipped(tmp_path / "b.zip", **files)
        with refused(bc.FormatError, f"{path}: … annotator … .jsonl"):
            bc.read(path, format="doccano")
    path.write_bytes(b"PK\x03\x04 and no more")
    with refused(bc.FormatError, f"{path}: … readable"):
        bc.read(path, format="doccano")


# --- Telling it from others ---------------------------------------------------


def upload(content, name="x.jsonl"):
    data = content if isinstance(content, bytes) else content.encode()
    return Upload(name, "x", [Source(name, member=data)])


@each(
    "content",
    [
        lines(TUPLES),
        lines(OBJECTS),
        json.dumps([TUPLES]),
        json.dumps([OBJECTS], indent=2),
        json.dumps(OBJECTS, indent=4),
        "\ufeff" + lines({"data": "Ah.", "labels": []}),
        lines({"text": "Ah.", "label": ["good"]}),
    ],
)
def test_is_format(tmp_path, content):
    assert doccano.is_format(upload(content))
    archive = zipped(tmp_path / "x.zip", aaron="", anna=content)
    assert doccano.is_format(upload(archive.read_bytes(), "x.zip"))
    sources = [Source("x/a.jsonl", member=content.encode()), Source("x/b.txt", member=b"?")]
    assert doccano.is_format(Upload("x", "x", sources, is_folder=True))


@each(
    "content",
    [
        lines({"text": "Ah.", "spans": [], "answer": "accept", "label": []}),
        lines({"document": "1", "annotator": "a", "start": 0, "end": 1, "label": "X"}),
        lines({"tokens": ["Ah"], "ner_tags": [0]}),
        json.dumps([{"id": 1, "data": {"text": "Ah."}, "annotations": []}]),
        json.dumps([{"text": "Ah.", "label": [{"start": 0, "end": 2, "labels": ["X"]}]}]),
        json.dumps({"%TYPES": {}, "%FEATURE_STRUCTURES": []}),
        json.dumps({"text": "Ah.", "annotation_sets": {}}),
        "T1\tPER 0 9\tMira Holt\n",
        "Mira B-PER\n",
        "{",
        "[",
        '{"a":' * 100_000,
        "\0",
        "",
        b"PK\x03\x04",
        b"\xff\xfe\xff",
    ],
)
def test_is_not_format(tmp_path, content):
    assert not doccano.is_format(upload(content))
    archive = zipped(tmp_path / "x.zip", anna=content)
    assert not doccano.is_format(upload(archive.read_bytes(), "x.zip"))


# --- Any input ----------------------------------------------------------------

how = st.builds(
    ReadOptions,
    offsets=st.sampled_from([None, "codepoints"]),
    positions=st.sampled_from(["characters", "tokens"]),
    zero_length=st.sampled_from(["error", "skip"]),
    strict=st.sampled_from([False, "duplicates"]),
    empty=st.sampled_from(["annotated", "missing"]),
)
anything = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.integers(0, 30)
    | st.floats()
    | st.text(st.characters(), max_size=5)
    | st.sampled_from(["\ud83d", "\N{GRINNING FACE}"]),
    lambda inner: (
        st.lists(inner, max_size=4)
        | st.dictionaries(st.sampled_from(["id", "text", "label", "entities"]), inner, max_size=3)
    ),
    max_leaves=6,
)
edits = st.lists(
    st.tuples(st.integers(0, 2**16), st.integers(0, 3), st.binary(max_size=4)), max_size=6
)


def survives(data, options, name="x.jsonl"):
    found_file = upload(data, name)
    doccano.is_format(found_file)
    reading = Reading(options)
    found = doccano.read([found_file], reading)
    with suppress(bc.BeyondChanceError):
        assembled(found, reading, unit="document", positions="characters")


def edited(data, changes):
    for place, n_deleted, inserted in changes:
        at = place % (len(data) + 1)
        data = data[:at] + inserted + data[at + n_deleted :]
    return data


def places(value, path=()):
    """Every place in a JSON value, as the keys that lead there."""
    yield path
    if isinstance(value, dict | list):
        for key in value if isinstance(value, dict) else range(len(value)):
            yield from places(value[key], (*path, key))


def replaced(value, path, new):
    if not path:
        return new
    copy = value.copy()
    copy[path[0]] = replaced(value[path[0]], path[1:], new)
    return copy


@pytest.mark.slow
@given(st.data(), st.sampled_from([TUPLES, OBJECTS]), anything, how, st.sampled_from([None, 1]))
@examples(150)
def test_replaced_values(data, value, new, options, indent):
    changed = replaced(value, data.draw(st.sampled_from(list(places(value)))), new)
    content = f"{json.dumps(changed, indent=indent)}\n{json.dumps(value, indent=indent)}"
    survives(content, options)
    survives(f"[{content.replace(chr(10), ' ')}]", options)


@given(edits, how)
@examples(150)
def test_edited_files(changes, options):
    survives(edited(lines(TUPLES, {**OBJECTS, "id": 8}).encode(), changes), options)


@given(edits, how)
@examples(150)
def test_edited_archives(changes, options):
    file = io.BytesIO()
    zipped(file, anna=lines(TUPLES), ben=lines(OBJECTS) * 20, unknown=lines(OBJECTS))
    survives(edited(file.getvalue(), changes), options, "x.zip")


@given(st.binary(max_size=200), st.sampled_from([b"", b"{", b"[", b"PK\x03\x04"]), how)
@examples(150)
def test_any_bytes(data, head, options):
    survives(head + data, options)


def test_how_it_names_things(tmp_path):
    entity = {"id": 3, "start_offset": 0, "end_offset": 3, "label": "PER"}
    row = {"id": 1, "text": "Mia ran", "entities": [entity], "meta": {"round": "2", "page": 4}}
    (tmp_path / "x.jsonl").write_text(json.dumps(row))
    corpus = bc.read(tmp_path / "x.jsonl", format="doccano")
    assert (corpus.span_id, corpus.origin) == (("3",), {"labels_key": "entities"})
    assert corpus.fields == {"round": ("2",)}
