"""Spans as dictionaries, tuples and objects: which names are known, and what is refused."""

from types import SimpleNamespace

import numpy as np
import spacy
from spacy.tokens import Doc, Span

import beyondchance as bc
from beyondchance.io.span_objects import has_offsets, triples_of, words_of
from each import each
from refusals import refused

NAMES = [
    ("start", "end"),
    ("start_offset", "end_offset"),
    ("start_char", "end_char"),
    ("char_start", "char_end"),
    ("start_position", "end_position"),
    ("start_pos", "end_pos"),
    ("start_index", "end_index"),
    ("start_idx", "end_idx"),
    ("begin", "end"),
    ("begin_offset", "end_offset"),
    ("startOffset", "endOffset"),
    ("BeginOffset", "EndOffset"),
]


def triple_of(span, where="", **options):
    (found,) = triples_of(span, where, **options)
    return found


@each(("start", "end"), NAMES)
def test_names_of_start_and_end(start, end):
    assert triple_of({start: 3, end: 7, "label": "LOC"}) == (3, 7, "LOC")
    assert has_offsets({start: 3, end: 7})


@each(
    "span",
    [
        {"offset": 3, "length": 4},
        {"span": [3, 7]},
        {"span": (3, 7)},
        {"offsets": [3, 7]},
        {"offsets": [[3, 7]]},
        {"pos": [3, 7]},
        {"position": [3, 7]},
        {"start": np.int64(3), "end": np.int32(7)},
        # Next to names that can only mean characters, these count tokens.
        {"start": 0, "end": 1, "start_char": 3, "end_char": 7},
    ],
)
def test_other_shapes_of_start_and_end(span):
    assert triple_of(span | {"label": "LOC"}) == (3, 7, "LOC")
    assert has_offsets(span)


@each(
    "name",
    [
        *("label", "entity_group", "entity_type", "type", "tag", "ner", "class", "category"),
        *("labels", "Type", "entity"),
    ],
)
def test_names_of_labels(name):
    span = {"start": 3, "end": 7}
    assert triple_of(span | {name: "LOC"}) == (3, 7, "LOC")
    assert triple_of(span | {name: ["LOC"]}) == (3, 7, "LOC")
    assert triple_of(span | {name: 4}) == (3, 7, "4")


def test_several_labels_are_several_spans():
    span = {"start": 3, "end": 7, "labels": ["LOC", "GPE"]}
    assert list(triples_of(span)) == [(3, 7, "LOC"), (3, 7, "GPE")]


@each("name", ["text", "word", "value", "name", "entity_value", "surface", "mention"])
def test_names_of_words(name):
    assert words_of({"start": 3, "end": 7, "label": "LOC", name: "Oslo"}) == "Oslo"


def test_an_entity_is_the_label_or_the_words():
    assert words_of({"start": 3, "end": 7, "entity": "LOC", "word": "Oslo"}) == "Oslo"
    assert words_of({"start": 3, "end": 7, "entity": "LOC"}) is None
    span = {"start": 3, "end": 7, "entity": "Oslo", "type": "LOC"}
    assert (triple_of(span), words_of(span)) == ((3, 7, "LOC"), "Oslo")
    assert words_of([3, 7, "LOC"]) is None


def test_tuples_and_lists():
    assert triple_of((3, 7, "LOC")) == triple_of([3, 7, ["LOC"]]) == (3, 7, "LOC")


def test_spans_of_spacy_know_characters_and_tokens():
    doc = Doc(spacy.blank("xx").vocab, words=["in", "Oslo"])
    span = Span(doc, 1, 2, "LOC")
    assert triple_of(span) == (3, 7, "LOC")
    assert triple_of(span, positions="tokens") == (1, 2, "LOC")
    assert words_of(span) is None


def test_other_objects_have_attributes():
    span = SimpleNamespace(start=3, end=7, entity_type="LOC", score=0.5)
    assert triple_of(span) == (3, 7, "LOC")


@each(
    ("span", "message"),
    [
        (
            {"entity": "B-PER", "index": 1, "word": "An", "start": 0, "end": 2},
            'piece … aggregation_strategy="simple"',
        ),
        (
            {"text": "Oslo", "label": "LOC"},
            "keys … 'text' … 'label' … 'start' … 'end' … 'offset' … 'length' … 'span'",
        ),
        (
            {"offsets": [[0, 1], [3, 4]], "label": "LOC"},
            "2 … fragments",
        ),
        (
            {},
            "empty … 'start' … 'end' … 'offset' … 'length' … 'span'",
        ),
        ("Oslo", "span … 'Oslo'"),
        (None, "null"),
        (object(), "object"),
        ([0, 4], "2 … values"),
        ((0, "4", "LOC"), "end … '4'"),
        ({"start": 0.5, "end": 4, "label": "LOC"}, "start … 0.5"),
        ({"start": None, "end": 4, "label": "X"}, "'start' … null"),
        ({"start": True, "end": 4, "label": "LOC"}, "true"),
        ({"start": 0, "end": 4}, "'label' … null"),
        ({"start": 0, "end": 4, "type": ""}, "'type' … '' … name"),
        ({"start": 0, "end": 4, "type": []}, "'type' … list"),
        ({"start": 0, "end": 4, "tag": {"a": 1}}, "'tag' … object"),
    ],
)
def test_refused(span, message):
    with refused(bc.FormatError, f"x: … {message}"):
        triple_of(span, "x")


@each(
    "span",
    [None, 3, "Oslo", {}, {"start": 3}, {"start": None, "end": None}, ["Oslo", "LOC"], ["a"] * 3],
)
def test_without_offsets(span):
    assert not has_offsets(span)
