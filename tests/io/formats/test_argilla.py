"""Argilla: records with the responses of users, nested or flattened."""

import contextlib
import io
import json

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beyondchance as bc
from beyondchance.io.formats import argilla
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from each import each
from mutation import places, replaced
from refusals import assert_notes, assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Mia Lund sings in Oslo"
PER = {"label": "PER", "start": 0, "end": 8}
LOC = {"label": "LOC", "start": 18, "end": 22}


def nested(*responses, name="a", text=TEXT, suggestion=None, **more):
    """A record as `records.to_json` writes it."""
    return {
        "id": name,
        "fields": {"text": text},
        "metadata": {"book": "Songs", "page": 3},
        "suggestions": {} if suggestion is None else {"spans": suggestion},
        "responses": {"spans": [{"value": value, "user_id": who} for who, value in responses]},
        "vectors": {},
        "status": "pending",
        "_server_id": None,
        **more,
    }


def flat(*responses, name="a", text=TEXT, **more):
    """A record as it is on the hub; responses are user, value and status."""
    users, values, statuses = zip(*responses, strict=True) if responses else ((), (), ())
    return {
        "id": name,
        "status": "completed",
        "_server_id": None,
        "text": text,
        "book": "Songs",
        "spans.responses": list(values),
        "spans.responses.users": list(users),
        "spans.responses.status": list(statuses),
        **more,
    }


def read(*rows, **options):
    content = json.dumps(rows).encode()
    return bc.read(io.BytesIO(content), format="argilla", **options)


def test_users_are_annotators_of_nested_records():
    corpus = read(nested(("u1", [PER, LOC]), ("u2", [PER])), nested(("u2", []), name="b"))
    assert corpus.annotators == ("u1", "u2")
    assert corpus.documents == ("a", "b")
    assert corpus.spans("a", "u1") == [(0, 8, "PER"), (18, 22, "LOC")]
    assert corpus.spans("a", "u2") == [(0, 8, "PER")]
    assert corpus.annotators_of("b") == ("u2",)
    assert corpus.fields["book"] == ("Songs", "Songs")
    assert_notes(corpus.notes, "1 … responses")


def test_users_are_annotators_of_flattened_records():
    corpus = read(
        flat(("u1", [PER, LOC], "submitted"), ("u2", [PER], "submitted")),
        flat(("u1", [PER], "discarded"), ("u2", [LOC], "draft"), ("u3", [], "submitted"), name="b"),
        flat(("u1", None, "submitted"), name="c"),
        flat(name="d") | {"spans.responses": None, "spans.responses.users": None},
    )
    assert corpus.annotators == ("u1", "u2", "u3")
    assert corpus.documents == ("a", "b")
    assert corpus.spans("a", "u1") == [(0, 8, "PER"), (18, 22, "LOC")]
    assert corpus.annotators_of("b") == ("u3",)
    assert corpus.fields == {"book": ("Songs", "Songs")}
    assert corpus.notes == ()
    assert corpus.skipped == {
        "discarded responses left out": 1,
        "draft responses left out": 1,
        "responses without a value left out": 1,
        "records not annotated": 2,
    }


def test_a_response_may_have_its_status_in_nested_records():
    record = nested(("u1", [PER]), ("u2", [LOC]))
    record["responses"]["spans"][0]["status"] = "discarded"
    record["responses"]["spans"][1]["status"] = "submitted"
    corpus = read(record)
    assert corpus.annotators == ("u2",)
    assert corpus.skipped == {"discarded responses left out": 1}
    assert corpus.notes == ()


@each("agent", ["gliner", None])
def test_suggestions_are_annotators_if_asked_for(agent):
    suggestion = {"value": [LOC], "score": None, "agent": agent}
    records = [
        nested(("u1", [PER]), suggestion=suggestion),
        nested(name="b", suggestion=suggestion | {"value": None}),
    ]
    corpus = read(*records)
    assert corpus.annotators == ("u1",)
    assert corpus.skipped == {"suggestions ignored": 1, "records not annotated": 1}
    both = read(*records, predictions=True)
    assert both.spans("a", agent or "suggestion") == [(18, 22, "LOC")]
    flattened = flat(("u1", [PER], "submitted"), **{"spans.suggestion": [LOC]})
    flattened["spans.suggestion.agent"] = agent
    assert read(flattened).skipped == {"suggestions ignored": 1}
    assert read(flattened, predictions=True).annotators == ("u1", agent or "suggestion")


def test_answers_to_other_questions_are_counted():
    others = {
        "rating": [{"value": 3, "user_id": "u1"}],
        "order": [{"value": [{"value": "a", "rank": 1}], "user_id": "u1"}],
        "kinds": [{"value": [], "user_id": "u1"}],
    }
    record = nested(("u1", [PER]))
    record["responses"] |= others
    corpus = read(record)
    assert corpus.spans("a", "u1") == [(0, 8, "PER")]
    assert corpus.skipped == {"answers to other questions ignored": 3}


def test_one_of_several_questions_about_spans_is_chosen():
    record = nested(("u1", [PER]))
    record["responses"]["places"] = [{"value": [LOC], "user_id": "u1"}]
    with refused(bc.FormatError, "1 … several … 'spans' … 'places' … layer='spans'"):
        read(record)
    corpus = read(record, layer="places")
    assert corpus.spans("a", "u1") == [(18, 22, "LOC")]
    assert corpus.skipped == {"answers to other questions ignored": 1}
    with pytest.raises(bc.OptionError) as missing:
        read(record, layer="names")
    assert str(missing.value) == (
        "stream 1: layer is 'names', and the questions are 'spans', 'places'; expected one of them"
    )


def test_where_nothing_was_marked_the_empty_answers_are_read():
    corpus = read(nested(("u1", []), ("u2", [])))
    assert corpus.annotators == ("u1", "u2")
    assert corpus.spans("a", "u1") == []


def test_the_annotated_field_is_the_only_one_or_named_text():
    record = nested(("u1", [PER]))
    record["fields"] = {"song": TEXT, "chat": [{"role": "user"}]}
    assert read(record).texts == (TEXT,)
    record["fields"]["text"] = "Mia Lund dances"
    assert read(record).texts == ("Mia Lund dances",)


def test_identifiers_fall_back_to_the_server_and_the_number():
    rows = [nested(("u1", [PER]), name=None), nested(("u1", [PER]), name=None, _server_id="s")]
    assert read(*rows).documents == ("1", "s")


def test_what_offsets_count_after_emoji_must_be_given():
    text = "Mia Lund 🎤 sings in Oslo"
    before = read(nested(("u1", [PER]), text=text))
    assert before.spans("a", "u1") == [(0, 8, "PER")]
    after = nested(("u1", [{"label": "LOC", "start": 21, "end": 25}]), text=text)
    with refused(
        bc.FormatError,
        "1 … 1 … 1 … [21, 25) … 'LOC' … character … 9 … offsets='utf16' … offsets='codepoints'",
    ):
        read(after)
    assert read(after, offsets="utf16").spans("a", "u1") == [(20, 24, "LOC")]


def parquet(*rows):
    sink = io.BytesIO()
    pq.write_table(pa.Table.from_pylist(list(rows)), sink)
    return sink.getvalue()


def test_flattened_records_in_parquet(tmp_path):
    path = tmp_path / "train.parquet"
    path.write_bytes(parquet(flat(("u1", [PER, LOC], "submitted"), ("u2", [], "submitted"))))
    corpus = bc.read(path)
    assert corpus.inputs[0].format == "argilla"
    assert corpus.spans("a", "u1") == [(0, 8, "PER"), (18, 22, "LOC")]
    assert corpus.spans("a", "u2") == []


@each(
    ("row", "message"),
    [
        ([], "1 … 1 … list"),
        (
            nested(("u1", [PER])) | {"responses": []},
            "1 … 1 … 'responses' … list",
        ),
        (
            nested() | {"responses": {"spans": 3}},
            "1 … item … 1 … 'spans' … 3",
        ),
        (
            nested(("u1", [PER, 3])),
            "1 … 1 … 1 … span … 2 … 3",
        ),
        (
            nested(("u1", [PER | {"start": "0"}])),
            "1 … 1 … 1 … span … 1 … 'start' … '0'",
        ),
        (
            nested(("u1", [PER | {"label": None}])),
            "1 … 1 … 1 … 1 … 'label' … null",
        ),
        (
            nested(("u1", [PER]), ("u2", "x")),
            "1 … 1 … 2 … answer … 'x'",
        ),
        (
            nested(("u1", [PER | {"end": 90}])),
            "1 … 1 … 1 … 1 … [0, 90) … 'PER' … 22 … characters",
        ),
        (
            nested(("u1", "positive")),
            "1 … questions … 'spans'",
        ),
        (
            nested(("u1", [PER])) | {"fields": {"one": "x", "two": "y"}},
            "1 … 1 … fields … 'one' … 'two' … 'text' … 'text'",
        ),
        (
            nested(("u1", [PER])) | {"fields": {}},
            "1 … 1 … field",
        ),
        (
            flat(("u1", [PER], "submitted")) | {"spans.responses.users": ["u1", "u2"]},
            "1 … 1 … 1 … answers … 'spans.responses' … 2 … 'users'",
        ),
        (
            flat(("u1", [PER], "lost")),
            "1 … 1 … 1 … status … 'lost'",
        ),
        (
            nested(("u1", [PER]), ("u1", [LOC])),
            "1 … 1 … 2 … 'a' … annotated … 'u1' … 1 … 1 … 1 … repeated='last'",
        ),
    ],
)
def test_malformed(row, message):
    with pytest.raises(bc.BeyondChanceError) as caught:
        read(row, repeated="error")
    assert_tells(caught.value, message)


def upload(content):
    return Upload("x", "x", [Source("x", member=content)])


@each(
    ("row", "is_ours"),
    [
        (nested(), True),
        (nested(text="x" * 70_000), True),
        (flat(), True),
        (flat(text="x" * 70_000), True),
        ({"text": "x", "spans.suggestion": [], "spans.suggestion.agent": None}, True),
        ({"id": 1, "fields": {"text": "x"}}, False),
        ({"fields": ["text"], "responses": {}, "suggestions": {}}, False),
        ({"text": "x", "a.responses": 3}, False),
        ({"text": "x", "spans": []}, False),
        ([], False),
    ],
)
def test_detection(row, is_ours):
    assert argilla.is_format(upload(json.dumps(row).encode())) == is_ours
    assert argilla.is_format(upload(json.dumps([row]).encode())) == is_ours


def test_other_parquet_is_not_ours():
    for content in (parquet({"text": "x", "spans": []}), b"PAR1"):
        assert not argilla.is_format(upload(content))


NEW = [None, True, -1, 2.5, 10**30, "", "x", [], {}, [None], [PER], {"spans": 3}]
RECORDS = [
    nested(("u1", [PER]), suggestion={"value": [LOC], "score": 0.5, "agent": "m"}),
    flat(("u1", [PER], "submitted"), **{"spans.suggestion": [LOC], "spans.suggestion.agent": "m"}),
]


@pytest.mark.slow
@each("record", RECORDS)
@each("predictions", [True, False])
def test_changed_files_raise_nothing_but_our_errors(record, predictions):
    for path in places([record]):
        for new in NEW:
            content = json.dumps(replaced([record], path, new)).encode()
            argilla.is_format(upload(content))
            with contextlib.suppress(bc.BeyondChanceError):
                bc.read(io.BytesIO(content), format="argilla", predictions=predictions)
