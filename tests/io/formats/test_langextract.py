"""LangExtract: documents with the extractions of a language model."""

import contextlib
import io
import json

import pytest

import beyondchance as bc
from beyondchance.io.formats import langextract
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from each import each
from mutation import places, replaced
from refusals import assert_tells

pytestmark = pytest.mark.usefixtures("by_characters")

TEXT = "Mia Lund sings in\nOslo."


def extraction(start, end, label="PER", words=None, status="match_exact", **more):
    place = None if start is None else {"start_pos": start, "end_pos": end}
    return {
        "extraction_class": label,
        "extraction_text": TEXT[start:end] if words is None else words,
        "char_interval": place,
        "alignment_status": status,
        "extraction_index": 1,
        "group_index": 0,
        "description": None,
        "attributes": {},
        **more,
    }


def document(*extractions, name="a", text=TEXT):
    return {"extractions": list(extractions), "text": text, "document_id": name}


def read(*rows, **options):
    content = "\n".join(map(json.dumps, rows)).encode()
    return bc.read(io.BytesIO(content), format="langextract", **options)


def test_extractions_are_spans_of_their_class():
    corpus = read(document(extraction(0, 8), extraction(18, 22, "LOC")), document(name="b"))
    assert corpus.documents == ("a", "b")
    assert corpus.annotators == ("stream 1",)
    assert corpus.spans("a", "stream 1") == [(0, 8, "PER"), (18, 22, "LOC")]
    assert corpus.spans("b", "stream 1") == []
    assert (corpus.unit, corpus.positions) == ("document", "characters")
    assert corpus.skipped == {}
    assert corpus.notes == ()


def test_extractions_that_were_not_found_are_counted():
    lost = extraction(None, None, words="a song")
    open_place = extraction(None, None) | {"char_interval": {"start_pos": None, "end_pos": None}}
    corpus = read(document(extraction(0, 8), lost, open_place))
    assert corpus.spans("a", "stream 1") == [(0, 8, "PER")]
    assert corpus.skipped == {"extractions without a place left out": 2}


@each("status", ["match_fuzzy", "match_lesser", "match_greater", None])
def test_words_that_were_found_approximately_are_not_checked_but_counted(status):
    near = extraction(0, 14, words="Lund sings", status=status)
    corpus = read(document(near, extraction(18, 22, "LOC", status=status)))
    assert corpus.spans("a", "stream 1") == [(0, 14, "PER"), (18, 22, "LOC")]
    assert corpus.skipped == {"extractions placed where the text has other words": 1}


def test_exact_words_may_differ_in_case_and_white_space():
    corpus = read(document(extraction(9, 22, words="Sings in OSLO")))
    assert corpus.spans("a", "stream 1") == [(9, 22, "PER")]
    assert corpus.skipped == {}


def test_attributes_are_counted():
    corpus = read(document(extraction(0, 8, attributes={"age": "40", "roles": ["singer"]})))
    assert corpus.skipped == {"attributes ignored": 2}


def test_documents_without_an_answer_are_not_annotated():
    corpus = read(document(extraction(0, 8)), document(name="b") | {"extractions": None})
    assert corpus.documents == ("a",)
    assert corpus.skipped == {"documents not annotated": 1}


def test_names_that_differ_between_runs_are_noted(tmp_path):
    for run, name in (("one", "doc_00c0ffee"), ("two", "doc_0badcafe")):
        row = document(extraction(0, 8), name=name)
        (tmp_path / f"{run}.jsonl").write_text(json.dumps(row))
    paths = [tmp_path / "one.jsonl", tmp_path / "two.jsonl"]
    corpus = bc.read(*paths)
    assert corpus.documents == ("doc_00c0ffee", "doc_0badcafe")
    note = (
        "two.jsonl: names of documents such as doc_1a2b3c4d are made by LangExtract and differ "
        "between runs (match='text' matches documents by their texts)"
    )
    assert note in map(str, corpus.notes)
    matched = bc.read(*paths, match="text")
    assert bc.agreement(matched).observed == 1
    assert not any("LangExtract" in str(note) for note in matched.notes)


def test_documents_without_a_name_are_numbered():
    rows = [document(name=None), document(extraction(0, 8), name="")]
    assert read(*rows).documents == ("1", "2")


@each(
    ("row", "message"),
    [
        (3, "stream 1:1: … 3"),
        (document(text=None), "1 … 1 … 'text' … null"),
        (
            document() | {"extractions": {}},
            "1 … 1 … 'extractions' … object",
        ),
        (document(3), "1 … 1 … extraction … 1 … 3"),
        (
            document(extraction(0, 8, "")),
            "1 … 1 … extraction … 1 … 'extraction_class' … ''",
        ),
        (
            document(extraction(0, 8) | {"extraction_text": 4}),
            "1 … 1 … extraction … 1 … 'extraction_text' … 4",
        ),
        (
            document(extraction(0, 8) | {"char_interval": [0, 8]}),
            "1 … 1 … 1 … 'char_interval' … list",
        ),
        (
            document(extraction(0, 8) | {"char_interval": {"start_pos": 0}}),
            "1 … 1 … 1 … 'char_interval.end_pos' … null",
        ),
        (
            document(extraction(0, 99)),
            "1 … 1 … 1 … [0, 99) … 'PER' … 23 … characters",
        ),
        (
            document(extraction(0, 8, words="Lund")),
            "1 … 1 … 1 … [0, 8) … 'PER' … covers … 'Mia Lund' … 'Lund'",
        ),
    ],
)
def test_malformed(row, message):
    with pytest.raises(bc.BeyondChanceError) as caught:
        read(row)
    assert_tells(caught.value, message)


def upload(content):
    return Upload("x", "x", [Source("x", member=content)])


@each(
    ("row", "is_ours"),
    [
        (document(extraction(0, 8)), True),
        (document(), True),
        (document() | {"extractions": None}, True),
        (document(*[extraction(0, 8)] * 1000), True),
        ({"extractions": []}, False),
        ({"extractions": ["a"], "text": "x", "document_id": "a"}, False),
        ({"extractions": "x", "text": "x", "document_id": "a"}, False),
        ({"text": TEXT, "entities": []}, False),
        ([], False),
    ],
)
def test_detection(row, is_ours):
    assert langextract.is_format(upload(json.dumps(row).encode())) == is_ours


NEW = [None, True, -1, 2.5, 10**30, "", "x", [], {}, [None], {"start_pos": 0, "end_pos": 9}]


@pytest.mark.slow
def test_changed_files_raise_nothing_but_our_errors():
    row = document(extraction(0, 8, attributes={"a": "b"}), extraction(None, None, words="x"))
    for path in places(row):
        for new in NEW:
            content = json.dumps(replaced(row, path, new)).encode()
            langextract.is_format(upload(content))
            with contextlib.suppress(bc.BeyondChanceError):
                bc.read(io.BytesIO(content), format="langextract")
