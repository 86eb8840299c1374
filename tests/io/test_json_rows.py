"""Files of many JSON objects."""

import json
from itertools import cycle

import pytest

from beyondchance.errors import FormatError
from beyondchance.io.json_rows import head_row, head_rows, rows_of
from beyondchance.io.registry import FORMATS, Upload
from beyondchance.io.sources import Source
from each import each
from refusals import refused

LONG = 70_000


def source(text):
    return Source("a.json", member=text.encode())


@each(
    ("text", "rows"),
    [
        ("", []),
        ('[{"a": 1}, {"a": 2}]', [("a.json: item 1", 1, 1), ("a.json: item 2", 2, 2)]),
        (
            '\n{"data": [\n{"a": 1}, {"a": 2}]}',
            [("a.json: item 1", 1, 1), ("a.json: item 2", 2, 2)],
        ),
        ('{"features": [], "rows": [{"row_idx": 0, "row": {"a": 1}}]}', [("a.json: item 1", 1, 1)]),
        ('{"a": 1}\n\n{"a": 2}\n', [("a.json:1", 1, 1), ("a.json:3", 3, 2)]),
        ('{"a": 1}', [("a.json:1", 1, 1)]),
        ('{"a":\n1}\n{"a": 2}', [("a.json:1", 1, 1), ("a.json:3", 2, 2)]),
        ('{"a": 1} {"a": 2}', [("a.json:1", 1, 1), ("a.json:1", 2, 2)]),
    ],
)
def test_rows_have_their_place_and_number_in_every_layout(text, rows):
    assert [(where, number, row["a"]) for where, number, row in rows_of(source(text))] == rows
    assert (head_row(source(text)) or {"a": None})["a"] == (rows[0][2] if rows else None)


@each("data", ["a text", [], [1, 2], {"text": "x"}])
def test_an_object_whose_data_are_no_objects_is_a_row(data):
    row = {"data": data}
    assert [row for _, _, row in rows_of(source(json.dumps(row)))] == [row]


def test_one_of_several_lines_is_never_taken_for_the_whole_file():
    line = '{"data": [{"a": 1}]}'
    assert [row for _, _, row in rows_of(source(f"{line}\n{line}"))] == [{"data": [{"a": 1}]}] * 2


@each(
    ("text", "message"),
    [
        ('{"a": 1}\n{"a": }', "a.json:2: … 7 … Expecting"),
        ('{"a":\n1}\n{"a":\n}', "a.json:4: … 1 … Expecting"),
        ('{"a":\n1}\n{"a":\nNaN}', "a.json:3: … NaN"),
        (
            '{"a": 1',
            "a.json:1: … 8 … ',' … delimiter",
        ),
        (
            '{"a": 1}\n{"a": {"b": 1, "a": "}", "b": 2}}',
            "a.json:2: … 'b' … occurs",
        ),
        (
            '[{"a": 1},\n {"a": "}"},\n {"a": 1,\n "a": 1}]',
            "a.json:4: … 'a' … occurs",
        ),
        (
            '{"a":\n1}\n{"a": 1, "b": 2,\n "b": 1}',
            "a.json:4: … 'b' … occurs",
        ),
    ],
)
def test_what_cannot_be_read_is_named_with_its_place(text, message):
    with refused(FormatError, message):
        list(rows_of(source(text)))


OPENINGS = cycle(["", "[", '{"data": [', '{"rows": [{"row_idx": 0, "row": '])


@each(
    ("row", "keys"),
    [
        ({"text": "x" * LONG, "spans": []}, ["text"]),
        ({"text": "\\u" * LONG, "spans": []}, ["text"]),
        ({"text": '"' * LONG}, ["text"]),
        ({"a": 1, "tokens": ["word", "}]"] * 7000, "tags": []}, ["a", "tokens"]),
        ({"a": 1, "spans": [{"start": 1, "end": 2}] * 3500}, ["a", "spans"]),
        ({"x" * LONG: 1}, []),
        ({"b": {"c": "x" * LONG}}, ["b"]),
        ({"text": "x" * LONG, "spans": [], "a": 1}, ["text"]),
    ],
)
def test_a_row_longer_than_the_head_is_known_by_its_first_keys(row, keys):
    head = source(next(OPENINGS) + json.dumps(row))
    assert list(head_row(head)) == keys
    for key in keys:
        assert type(head_row(head)[key]) is type(row[key])


@each("end", range(1, 60))
def test_wherever_the_head_ends_no_value_but_the_last_is_changed(end):
    row = {"a": [1.5, {"b": None}], "c": "\\\U0001f600é", "d": True}
    text = json.dumps(row)[:end]
    padded = Source("a.json", member=(" " * (65536 - len(text)) + text).encode())
    found = head_row(padded) or {}
    assert list(found) == list(row)[: len(found)]
    assert all(found[key] == row[key] for key in list(found)[:-1])


@each("text", ["", "x", '"a"', "{", "[1, 2]", "[]", "}" * LONG, "[" * LONG])
def test_other_content_has_no_first_object(text):
    assert head_row(source(text)) is None


def test_the_first_row_need_not_be_an_object():
    assert head_rows(source('[["a text", {"entities": []}]]')) == [["a text", {"entities": []}]]


@each(
    ("text", "values"),
    [
        ("", []),
        ("Ada B-PER", []),
        ("1\n2\n", []),
        ("[]", []),
        ("[1, [2]]", [1, [2]]),
        ('{"a": 1}\n{"a": 2}\n', [{"a": 1}, {"a": 2}]),
        ('{"a": 1}\n{"a": ', [{"a": 1}]),
        ('{"data": [{"a": 1}, {"a": 2}]}', [{"a": 1}, {"a": 2}]),
        ('{"a": ', []),
        ('[{"row_idx": 1}]', [{"row_idx": 1}]),
    ],
)
def test_rows_of_the_head(text, values):
    assert head_rows(source(text)) == values


def test_rows_of_a_head_that_is_cut():
    row = {"a": "x" * 30_000}
    assert head_rows(source(json.dumps([row] * 3))) == [row] * 2
    assert head_rows(source(json.dumps({"data": [row] * 3}))) == [row] * 2
    assert head_rows(source("".join(json.dumps(row) + "\n" for _ in range(3)))) == [row] * 2
    (first,) = head_rows(source(json.dumps([{"b": 1, "a": "x" * LONG}])))
    assert first["b"] == 1
    assert set(first["a"]) == {"x"}


LONG_TEXT = "Ada met Bo. " * 8000
MANY = ["Ada"] * 20_000
SPAN = {"start": 0, "end": 3, "label": "PER"}
FIRST_RECORDS = {
    "records": {"text": LONG_TEXT, "entities": [SPAN]},
    "records, a pair": [LONG_TEXT, {"entities": [[0, 3, "PER"]]}],
    "records, GLiNER": {"tokenized_text": MANY, "ner": [[0, 0, "PER"]]},
    "quotes": {"text": LONG_TEXT, "entities": [{"text": "Ada", "label": "PER"}]},
    "hf": {"id": "1", "tokens": MANY, "ner_tags": ["O"] * len(MANY)},
    "argilla": {"id": "1", "fields": {"text": LONG_TEXT}, "suggestions": {}, "responses": {}},
    "argilla, flat": {
        "id": "1",
        "status": "completed",
        "text": LONG_TEXT,
        "spans.responses": [[SPAN]],
        "spans.responses.users": ["u"],
        "_server_id": "1",
    },
    "mqm": {
        "filename": "a",
        "source": LONG_TEXT,
        "target": LONG_TEXT,
        "source_errors": [],
        "target_errors": [],
        "Annotator_ID": "1",
    },
    "esa, pearmut": {
        "item": [{"tgt": {"one": LONG_TEXT}}],
        "annotation": [],
        "user_id": 1,
        "item_i": 0,
    },
    "esa, WMT": {"doc_id": "1", "src_text": LONG_TEXT, "tgt_text": {}, "scores": {}},
    "factgenie": {
        "dataset": "d",
        "split": "s",
        "setup_id": "m",
        "example_idx": 0,
        "output": LONG_TEXT,
    },
}


IN_LINES = [kind for kind in FIRST_RECORDS if kind not in {"records, a pair", "mqm"}]
IN_LISTS = [kind for kind in FIRST_RECORDS if not kind.startswith(("esa", "factgenie"))]


@pytest.mark.slow
@pytest.mark.parametrize(
    ("kind", "is_list"),
    [
        (kind, kind in IN_LISTS and (kind not in IN_LINES or place % 2 == 0))
        for place, kind in enumerate(FIRST_RECORDS)
    ],
)
def test_a_first_record_longer_than_the_head(kind, is_list):
    """It is recognised by its last keys too, in a list and in lines."""
    content = json.dumps([FIRST_RECORDS[kind]] if is_list else FIRST_RECORDS[kind])
    upload = Upload("x", "x", [Source("x.json", member=content.encode())])
    assert len(content) > 65536
    found = [one.name for one in FORMATS.values() if one.reader().is_format(upload)]
    assert found[0] == kind.partition(",")[0]
