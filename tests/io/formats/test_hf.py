"""Data sets given as objects: tokens and tags, by number or by name."""

import contextlib
import re
from types import SimpleNamespace

import numpy as np
import pytest
from hypothesis import given, settings, strategies as st

import beyondchance as bc
from beyondchance.io.formats import hf
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source

ANNA = [
    {"id": "a", "tokens": ["Mia", "Lund", "sings"], "ner_tags": ["B-PER", "I-PER", "O"]},
    {"id": "b", "tokens": ["Oslo"], "ner_tags": ["B-LOC"]},
]
BEN = [
    {"id": "a", "tokens": ["Mia", "Lund", "sings"], "ner_tags": ["B-PER", "O", "O"]},
    {"id": "b", "tokens": ["Oslo"], "ner_tags": ["O"]},
]


class Dataset(list):
    """What matters of a datasets.Dataset: rows, and features that name the numbers."""

    def __init__(self, rows, features):
        super().__init__(rows)
        self.features = features


def read(*data, **options):
    return bc.read(*data, format="hf", **options)


def test_lists_of_dictionaries():
    corpus = read(ANNA, BEN)
    assert corpus.documents == ("a", "b")
    assert corpus.annotators == ("annotator 1", "annotator 2")
    assert corpus.spans("a", "annotator 1") == [(0, 2, "PER")]
    assert corpus.spans("a", "annotator 2") == [(0, 1, "PER")]
    assert corpus.spans("b", "annotator 1") == [(0, 1, "LOC")]
    assert corpus.spans("b", "annotator 2") == []
    assert corpus.annotators_of("b") == corpus.annotators
    assert corpus.text_length.tolist() == [3, 1]
    assert corpus.texts == ("Mia Lund sings", "Oslo")
    assert (corpus.unit, corpus.positions) == ("sentence", "tokens")
    assert corpus.skipped == {}


def test_the_scheme_is_detected_noted_and_signed():
    corpus = read(ANNA, BEN)
    assert [str(note) for note in corpus.notes] == [
        f"data {n}, annotator {n}: tags read as IOB2" for n in (1, 2)
    ]
    assert corpus.options["scheme"] == "IOB2"
    other = [dict(ANNA[0], ner_tags=["B-PER", "E-PER", "O"]), dict(ANNA[1], ner_tags=["S-LOC"])]
    mixed = read(ANNA, other)
    assert mixed.options["scheme"] == "BIOES+IOB2"
    assert mixed.spans("a", "annotator 2") == [(0, 2, "PER")]
    given_scheme = read(ANNA, scheme="IOB2")
    assert given_scheme.notes == ()
    assert given_scheme.options["scheme"] == "IOB2"


@pytest.mark.parametrize("nested", [True, False])
def test_numbers_with_names(nested):
    kind = SimpleNamespace(names=["O", "B-PER", "I-PER", "B-LOC"])
    features = {"ner_tags": SimpleNamespace(feature=kind) if nested else kind}
    rows = [dict(ANNA[0], ner_tags=[1, 2, 0]), dict(ANNA[1], ner_tags=np.array([3]))]
    corpus = read(Dataset(rows, features))
    assert corpus.spans("a", "annotator 1") == [(0, 2, "PER")]
    assert corpus.spans("b", "annotator 1") == [(0, 1, "LOC")]


@pytest.mark.parametrize("key", ["ner_tags", "tags", "labels", "ner"])
def test_keys_of_tags_in_their_order(key):
    row = {"tokens": ("Oslo",), key: ("B-LOC",), "zzz": 1}
    assert read([row]).spans("1", "annotator 1") == [(0, 1, "LOC")]
    both = {"tokens": ["Oslo"], "labels": ["O"], "tags": ["B-LOC"]}
    assert read([both]).spans("1", "annotator 1") == [(0, 1, "LOC")]


def test_ids_are_numbers_from_one_where_missing():
    rows = [{"tokens": ["x"], "tags": ["O"]}, {"id": 7, "tokens": ["y"], "tags": ["O"]}]
    assert read(iter(rows)).documents == ("1", "7")


def test_missing_and_empty_examples_are_counted():
    rows = [
        *ANNA,
        {"id": "c", "tokens": ["x"], "ner_tags": None},
        {"id": "d", "tokens": [], "ner_tags": []},
    ]
    corpus = read(rows, BEN)
    assert corpus.documents == ("a", "b")
    assert corpus.skipped == {"examples not annotated": 1, "examples without tokens left out": 1}


def test_repairs_are_counted():
    rows = [{"tokens": ["x", "y"], "tags": ["O", "I-PER"]}]
    with pytest.raises(bc.TagError, match="data 1: example 1, token 1: tag 'I-PER' after 'O'"):
        read(rows, scheme="IOB2")
    corpus = read(rows, scheme="IOB2", repair="conlleval")
    assert corpus.spans("1", "annotator 1") == [(1, 2, "PER")]
    assert corpus.skipped == {"tags repaired by conlleval": 1}
    assert corpus.options == {"scheme": "IOB2", "repair": "conlleval", "tokens": "file"}


def test_characters():
    corpus = read([{"tokens": ["😀", "Oslo"], "tags": ["O", "B-LOC"]}], positions="characters")
    assert corpus.spans("1", "annotator 1") == [(2, 6, "LOC")]


NAMED = {"tags": SimpleNamespace(names=["O", "B-X"])}


@pytest.mark.parametrize(
    ("data", "message"),
    [
        (
            {"train": [], "test": []},
            (
                "data 1: a mapping with the keys 'train', 'test'; expected one "
                "data set: choose a split"
            ),
        ),
        (3, "data 1: a int; expected a data set or a list of dictionaries"),
        ([3], ("data 1: example 1: a int; expected a dictionary with tokens and ner_tags")),
        (
            [{"tokens": ["x"], "pos": [1]}],
            (
                "data 1: example 1: has the keys 'tokens', 'pos'; expected one of "
                "ner_tags, tags, labels, ner"
            ),
        ),
        ([{"tags": ["O"]}], "data 1: example 1: tokens is missing; expected a list"),
        ([{"tokens": "x", "tags": ["O"]}], "data 1: example 1: tokens is a str; expected a list"),
        ([{"tokens": ["x"], "tags": "O"}], "data 1: example 1: tags is a str; expected a list"),
        (
            [{"tokens": ["x"], "tags": []}],
            ("data 1: example 1: has 1 tokens and 0 tags; expected as many of each"),
        ),
        (
            [{"tokens": ["x", ""], "tags": ["O", "O"]}],
            ("data 1: example 1, token 1: the word is ''; expected a string"),
        ),
        (
            [{"tokens": [4], "tags": ["O"]}],
            "data 1: example 1, token 0: the word is 4; expected a string",
        ),
        (
            [{"tokens": ["x"], "tags": [1]}],
            (
                "data 1: example 1, token 0: has the tag 1; expected strings such as "
                "'B-PER', or a Dataset whose features name the numbers"
            ),
        ),
        (
            [{"tokens": ["x"], "tags": [True]}],
            ("data 1: example 1, token 0: has the tag True; expected a string or a number"),
        ),
        (
            Dataset([{"tokens": ["x"], "tags": [-100]}], NAMED),
            (
                "data 1: example 1, token 0: has the tag -100; expected a number from 0"
                " to 1, for 'O', 'B-X'"
            ),
        ),
        (
            [{"id": 1.5, "tokens": ["x"], "tags": ["O"]}],
            ("data 1: example 1: has the id 1.5; expected a string or a number"),
        ),
        (
            [*ANNA, ANNA[0]],
            (
                "data 1: example 3: document 'a' was annotated by 'annotator 1' before,"
                " at data 1: example 1; expected it once: repeated='last' takes the "
                "last"
            ),
        ),
        ([], "no annotated document was found; expected at least one"),
    ],
)
def test_malformed(data, message):
    with pytest.raises(bc.FormatError) as caught:
        read(data)
    assert str(caught.value) == message


def test_a_path_is_no_data_set(tmp_path):
    path = tmp_path / "x.json"
    path.write_text("[]")
    with pytest.raises(bc.FormatError, match=re.escape("a path; expected the data set itself")):
        read(path)


def test_detection():
    assert hf.is_format(Upload("data 1", "annotator 1", [], data=ANNA))
    assert hf.is_format(Upload("data 1", "annotator 1", [], data=[]))
    for content in (b"[]", b"Oslo B-LOC\n", b'{"tokens": ["x"], "ner_tags": ["O"]}\n', b""):
        assert not hf.is_format(Upload("x", "x", [Source("x", member=content)]))


values = st.recursive(
    st.none()
    | st.booleans()
    | st.integers()
    | st.floats()
    | st.text(max_size=4)
    | st.sampled_from(["O", "B-X", "I-X", "S-Y", "tokens"]),
    lambda inner: (
        st.lists(inner, max_size=3)
        | st.dictionaries(st.sampled_from(["id", "tokens", "ner_tags", "tags"]), inner, max_size=3)
    ),
    max_leaves=12,
)


@pytest.mark.slow
@settings(max_examples=300, deadline=None)
@given(values, st.integers(0, 4))
def test_nothing_but_our_errors(value, place):
    row = {"id": "a", "tokens": ["Mia", "Lund"], "ner_tags": ["B-X", "I-X"]}
    data = [
        value,
        [dict(row, tokens=value)],
        [dict(row, ner_tags=value)],
        [dict(row, id=value)],
        [row, value],
    ]
    if isinstance(data[place], str):  # a path
        return
    with contextlib.suppress(bc.BeyondChanceError):
        read(data[place])
