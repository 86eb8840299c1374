"""Tokens and tags of Hugging Face, in memory and in files."""

import contextlib
import io
import json

import datasets
import numpy as np
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest
from hypothesis import given, strategies as st

import beyondchance as bc
from beyondchance.io.formats import hf
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from each import each
from examples import examples
from mutation import places, replaced
from refusals import assert_tells, refused

ANNA = [
    {"id": "a", "tokens": ["Mia", "Lund", "sings"], "ner_tags": ["B-PER", "I-PER", "O"]},
    {"id": "b", "tokens": ["Oslo"], "ner_tags": ["B-LOC"]},
]
BEN = [
    {"id": "a", "tokens": ["Mia", "Lund", "sings"], "ner_tags": ["B-PER", "O", "O"]},
    {"id": "b", "tokens": ["Oslo"], "ner_tags": ["O"]},
]


NAMES = ["O", "B-PER", "I-PER", "B-LOC"]
NUMBERED = [dict(ANNA[0], ner_tags=[1, 2, 0]), dict(ANNA[1], ner_tags=[3])]


def features(**others):
    return datasets.Features(
        {
            "id": datasets.Value("string"),
            "tokens": datasets.Sequence(datasets.Value("string")),
            "ner_tags": datasets.Sequence(datasets.ClassLabel(names=NAMES)),
            **others,
        }
    )


def data_set(rows=NUMBERED, **others):
    return datasets.Dataset.from_list(rows, features=features(**others))


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


@each("kind", [None, "numpy", "pandas", "arrow"])
def test_a_data_set_names_its_numbers(kind):
    corpus = read(data_set().with_format(kind), BEN)
    assert corpus.spans("a", "annotator 1") == [(0, 2, "PER")]
    assert corpus.spans("b", "annotator 1") == [(0, 1, "LOC")]


@pytest.mark.slow
def test_a_streamed_data_set_names_its_numbers():
    corpus = read(data_set().to_iterable_dataset())
    assert corpus.spans("a", "annotator 1") == [(0, 2, "PER")]

    def rows():
        yield from ANNA

    unknown = datasets.IterableDataset.from_generator(rows)
    assert unknown.features is None
    assert read(unknown).spans("b", "annotator 1") == [(0, 1, "LOC")]


def test_columns_that_are_not_read_are_noted():
    corpus = read(data_set([dict(row, zzz=1) for row in NUMBERED], zzz=datasets.Value("int64")))
    assert_tells(corpus.notes[0], "data 1: … columns … 'zzz'")


def test_splits_are_no_annotators():
    splits = datasets.DatasetDict({"train": data_set(), "test": data_set(NUMBERED[1:])})
    corpus = read(splits)
    assert corpus.annotators == ("annotator 1",)
    assert corpus.documents == ("train/a", "train/b", "test/b")
    assert corpus.fields["split"] == ("train", "train", "test")
    with refused(bc.FormatError, "mapping … 'anna' … 'ben'"):
        read({"anna": data_set(), "ben": data_set()})
    broken = datasets.DatasetDict({"test": data_set([dict(NUMBERED[1], tokens=[])] * 2)})
    with refused(bc.FormatError, "document"):
        read(broken)
    wrong = datasets.DatasetDict({"test": data_set([dict(NUMBERED[1], tokens=["a", "b"])])})
    with refused(bc.FormatError, "data 1: test: example 1: … 2 … 1"):
        read(wrong)


@each("key", ["ner_tags", "tags", "labels", "ner", "tags_skill", "fine_tags"])
def test_the_one_column_of_tags_is_found_by_its_name(key):
    row = {"words": ("Oslo",), key: ("B-LOC",), "zzz": 1}
    assert read([row]).spans("1", "annotator 1") == [(0, 1, "LOC")]
    # One that is named as usual comes before similar names, and lists before single values.
    more = {"tokens": ["Oslo"], "tags": ["B-LOC"], "pos_tags": ["NNP"], "labels": 3}
    assert read([more]).spans("1", "annotator 1") == [(0, 1, "LOC")]


LAYERS = [
    {
        "tokens": ["Java", "and", "teams"],
        "tags_skill": ["O", "O", "B"],
        "tags_know": ["B", "O", "O"],
    },
    {
        "tokens": ["lead", "Java", "teams"],
        "tags_skill": ["B", "I", "I"],
        "tags_know": ["O", "B", "O"],
    },
]


def test_layers_of_one_annotator():
    with refused(bc.FormatError, "'tags_skill', 'tags_know' … layers of one", use="columns"):
        bc.read(LAYERS)
    corpus = bc.read(LAYERS, columns="tag=tags_skill+tags_know")
    (who,) = corpus.annotators
    assert corpus.spans("1", who) == [(0, 1, "tags_know"), (2, 3, "tags_skill")]
    assert corpus.spans("2", who) == [(0, 3, "tags_skill"), (1, 2, "tags_know")]
    assert bc.read(LAYERS, columns="tag=tags_skill,tags_know").annotators == (
        "tags_skill",
        "tags_know",
    )


def test_layers_with_labels_keep_them_and_what_is_not_scored_is_left_out():
    rows = [{"tokens": ["a", "b"], "x_tags": [1, -100], "y_tags": [2, -100]}, {"tokens": ["c"]}]
    corpus = bc.read(rows, columns="tag=x_tags+y_tags", label_names="O,B-X,B-Y")
    (who,) = corpus.annotators
    assert corpus.spans("1", who) == [(0, 1, "X"), (0, 1, "Y")]
    assert corpus.texts == ("a",)
    assert corpus.skipped["examples not annotated"] == 1


def test_a_span_in_two_layers():
    rows = [{"tokens": ["a", "b"], "x_tags": ["B-X", "O"], "y_tags": ["B-X", "O"]}]
    corpus = bc.read(rows, columns="tag=x_tags+y_tags")
    assert len(corpus.span_start) == 1
    assert corpus.skipped == {"spans marked twice, second left out": 1}
    with refused(bc.OptionError, "'z_tags'"):
        bc.read(rows, columns="tag=x_tags+z_tags")


def test_several_columns_of_tags_are_several_annotators_if_asked_for():
    row = {"tokens": ["Mia", "Lund"], "tags_skill": ["B", "I"], "tags_knowledge": ["O", "B"]}
    with refused(
        bc.FormatError,
        "data 1: example 1: … under … 'tags_skill' … "
        "'tags_knowledge' … columns='tag=tags_skill' … "
        "columns='tag=tags_skill,tags_knowledge'",
    ):
        read([row])
    one = read([row], columns="tag=tags_knowledge")
    assert one.spans("1", "annotator 1") == [(1, 2, "_")]
    both = read([row], columns="tag=tags_skill, tags_knowledge")
    assert both.annotators == ("tags_skill", "tags_knowledge")
    assert both.spans("1", "tags_skill") == [(0, 2, "_")]
    with pytest.raises(bc.OptionError) as missing:
        read([row], columns="tag=skill")
    assert str(missing.value) == (
        "data 1: example 1: columns is 'skill', and the columns are 'tokens', 'tags_skill', "
        "'tags_knowledge'; expected one of them"
    )


def test_the_column_of_tokens_can_be_chosen():
    row = {"forms": ["Oslo"], "words": ["x", "y"], "tags": ["B-LOC"]}
    options = {"columns": "token=forms"}
    assert read([row], **options).texts == ("Oslo",)


@each(
    "names",
    [
        NAMES,
        tuple(NAMES),
        "O,B-PER, I-PER,B-LOC",
        dict(enumerate(NAMES)),
        {name: number for number, name in enumerate(NAMES)},
        {str(number): name for number, name in enumerate(NAMES)},
    ],
)
def test_names_of_numbers_can_be_given(names, tmp_path):
    corpus = read(NUMBERED, label_names=names)
    assert corpus.spans("a", "annotator 1") == [(0, 2, "PER")]
    assert corpus.spans("b", "annotator 1") == [(0, 1, "LOC")]
    if not isinstance(names, str):
        path = tmp_path / "labels.json"
        path.write_text(json.dumps(names))
        for given_path in (path, str(path)):
            assert read(NUMBERED, label_names=given_path).spans("b", "annotator 1") == [
                (0, 1, "LOC")
            ]


def test_names_that_differ_from_those_of_the_data_are_refused():
    assert read(data_set(), label_names=[*NAMES, "I-MORE"]).labels == read(data_set()).labels
    message = "data 1: ner_tags: … number … 1 … 'B-PER' … 'B-X'"
    with refused(bc.OptionError, message):
        read(data_set(), label_names=["O", "B-X", "I-X", "B-Y"])


@each("names", [3, [], ["O", 1], {}, {"O": "B"}, {0: "O", "0": "B-X"}, [""]])
def test_what_does_not_name_numbers_is_refused(names, tmp_path):
    with refused(bc.OptionError, "numbers"):
        read(NUMBERED, label_names=names)
    path = tmp_path / "labels.json"
    path.write_text(json.dumps(names if names != {0: "O", "0": "B-X"} else [None]))
    with refused(bc.FormatError, "labels.json: … labels"):
        read(NUMBERED, label_names=path)
    with refused(bc.FormatError, "cannot"):
        read(NUMBERED, label_names="nowhere.json")


def test_positions_that_are_not_scored_are_left_out():
    rows = [
        {"tokens": ["[CLS]", "Mia", "##mi", "Lund", "[SEP]"], "labels": [-100, 1, -100, 2, -100]},
        {"tokens": ["[CLS]"], "labels": [-100]},
    ]
    corpus = read(rows, label_names=NAMES)
    assert corpus.texts == ("Mia Lund",)
    assert corpus.spans("1", "annotator 1") == [(0, 2, "PER")]
    assert corpus.skipped == {
        "positions with the tag -100 left out": 4,
        "examples without tokens left out": 1,
    }
    rows[0]["labels"][1] = 0
    with refused(bc.TagError, "example 1, token 3: tag 'I-PER' … after … 'O'"):
        read(rows, label_names=NAMES, scheme="IOB2", repair="none")


def test_arrays_and_numbers_of_numpy_are_read():
    rows = [
        dict(NUMBERED[0], id=np.int64(4), ner_tags=np.array([1, 2, 0])),
        dict(NUMBERED[1], id=None, tokens=np.array(["Oslo"]), ner_tags=[np.int8(3)]),
    ]
    corpus = read(rows, label_names=NAMES)
    assert corpus.documents == ("4", "2")
    assert corpus.spans("2", "annotator 1") == [(0, 1, "LOC")]


def test_a_generator_is_read_once():
    assert read((row for row in ANNA), BEN).spans("a", "annotator 1") == [(0, 2, "PER")]


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
    with refused(bc.TagError, "data 1: example 1, token 1: tag 'I-PER' … after … 'O'"):
        read(rows, scheme="IOB2", strict=True)
    corpus = read(rows, scheme="IOB2")
    assert corpus.spans("1", "annotator 1") == [(1, 2, "PER")]
    assert corpus.skipped == {"tags repaired by conlleval": 1}
    assert corpus.options == {"scheme": "IOB2", "repair": "conlleval", "tokens": "file"}


def test_characters():
    corpus = read([{"tokens": ["😀", "Oslo"], "tags": ["O", "B-LOC"]}], positions="characters")
    assert corpus.spans("1", "annotator 1") == [(2, 6, "LOC")]


@each(
    ("data", "message"),
    [
        (
            {"train": [], "test": []},
            "data 1: … mapping … 'train' … 'test'",
        ),
        (3, "data 1: … int"),
        ([3], "data 1: example 1: … int"),
        (
            [{"tokens": ["x"], "pos": [1]}],
            "data 1: example 1: … columns … 'tokens' … 'pos' … columns=tag=NAME",
        ),
        (
            [{"tags": ["O"]}],
            "data 1: example 1: … columns … 'tags' … columns=token=NAME",
        ),
        ([ANNA[0], {"id": "b"}], "data 1: example 2: … tokens … null"),
        ([{"tokens": "x", "tags": ["O"]}], "data 1: example 1: … tokens … 'x'"),
        ([{"tokens": ["x"], "tags": "O"}], "data 1: example 1: … tags … 'O'"),
        (
            [{"tokens": ["x"], "tags": []}],
            "data 1: example 1: … 1 … 0 … tags",
        ),
        (
            [{"tokens": ["x", ""], "tags": ["O", "O"]}],
            "data 1: example 1, token 1: … word … ''",
        ),
        (
            [{"tokens": [4], "tags": ["O"]}],
            "data 1: example 1, token 0: … word … 4",
        ),
        (
            [{"tokens": ["x"], "tags": [1]}],
            "data 1: example 1, token 0: … tag … 1 … 'B-PER' … label_names='O,B-PER,I-PER'",
        ),
        (
            [{"tokens": ["x"], "tags": [True]}],
            "data 1: example 1, token 0: … true",
        ),
        (
            datasets.Dataset.from_list(
                [{"tokens": ["x"], "tags": [-1]}],
                features=datasets.Features(
                    {
                        "tokens": datasets.List(datasets.Value("string")),
                        "tags": datasets.List(datasets.ClassLabel(names=["O", "B-X"])),
                    }
                ),
            ),
            "data 1: example 1, token 0: … tag … -1 … 2 … 'O' … 'B-X'",
        ),
        (
            [{"tokens": ["x"], "tags": [None]}],
            "data 1: example 1, token 0: … null",
        ),
        (
            [{"tokens": ["x", None], "tags": ["O", "O"]}],
            "data 1: example 1, token 1: … null",
        ),
        (
            [{"tokens": ["x"], "tags": [b"B-PER"]}],
            "data 1: example 1, token 0: … B-PER",
        ),
        (
            [{"id": 1.5, "tokens": ["x"], "tags": ["O"]}],
            "data 1: example 1: … 1.5 … string",
        ),
        (
            [*ANNA, ANNA[0]],
            "data 1: example 3: … document 'a' … 'annotator 1' … 1 … example … 1 … repeated='last'",
        ),
        ([], "document"),
    ],
)
def test_malformed(data, message):
    with refused(bc.FormatError, message):
        read(data, strict=True)


# --- Files --------------------------------------------------------------------


def parquet(rows, kept=None, **columns):
    table = pa.Table.from_pylist(rows)
    for name, column in columns.items():
        table = table.set_column(table.column_names.index(name), name, column)
    sink = io.BytesIO()
    pq.write_table(table.replace_schema_metadata(kept), sink)
    return sink.getvalue()


def stored(**kinds):
    """What the library keeps in the schema."""
    return {"huggingface": json.dumps({"info": {"features": kinds}})}


CLASSES = {"names": NAMES, "_type": "ClassLabel"}
VIEWER = {
    "features": [
        {"feature_idx": 0, "name": "tokens", "type": {"feature": {"dtype": "string"}}},
        {"feature_idx": 1, "name": "ner_tags", "type": {"feature": CLASSES, "_type": "Sequence"}},
    ],
    "rows": [
        {"row_idx": number, "row": row, "truncated_cells": []}
        for number, row in enumerate(NUMBERED)
    ],
    "num_rows_total": 2,
}
FILES = {
    "array": json.dumps(ANNA).encode(),
    "data": json.dumps({"version": "1", "data": ANNA}, indent=1).encode(),
    "viewer": json.dumps(VIEWER).encode(),
    "lines": "\n".join(map(json.dumps, ANNA)).encode(),
    "objects": "\n".join(json.dumps(row, indent=1) for row in ANNA).encode(),
    "parquet": parquet(ANNA),
    "list": parquet(NUMBERED, stored(ner_tags={"feature": CLASSES, "_type": "List"})),
    "old": parquet(NUMBERED, stored(ner_tags=[CLASSES])),
    "large": parquet(
        ANNA, ner_tags=pa.array([["B-PER", "I-PER", "O"], ["B-LOC"]], pa.large_list(pa.string()))
    ),
}


@each("content", FILES.values())
def test_files_are_detected_and_read(tmp_path, content):
    path = tmp_path / "anna.data"
    path.write_bytes(content)
    corpus = bc.read(path)
    assert corpus.annotators == ("anna",)
    assert corpus.documents == ("a", "b")
    assert corpus.spans("a", "anna") == [(0, 2, "PER")]
    assert corpus.spans("b", "anna") == [(0, 1, "LOC")]
    assert corpus.inputs[0].format == "hf"


def test_what_the_library_writes_is_read(tmp_path):
    data_set().to_parquet(tmp_path / "anna.parquet")
    data_set().to_json(tmp_path / "ben.jsonl")
    corpus = bc.read(tmp_path / "anna.parquet", tmp_path / "ben.jsonl", label_names=NAMES)
    assert bc.agreement(corpus).observed == 1
    with refused(
        bc.FormatError, "ben.jsonl:1 … token … 0 … 1 … 'B-PER' … label_names='O,B-PER,I-PER'"
    ):
        bc.read(tmp_path / "ben.jsonl")


@each("kind", [pl.String, pl.Categorical, pl.Enum(NAMES)])
def test_what_polars_writes_is_read(kind):
    frame = pl.DataFrame(ANNA).with_columns(pl.col("ner_tags").cast(pl.List(kind)))
    for write in (frame.write_parquet, frame.write_json, frame.write_ndjson):
        made = io.BytesIO()
        write(made)
        corpus = bc.read(io.BytesIO(made.getvalue()))
        assert corpus.inputs[0].format == "hf"
        assert corpus.spans("a", "stream 1") == [(0, 2, "PER")]


def malformed(content, **options):
    with pytest.raises(bc.BeyondChanceError) as caught:
        read(io.BytesIO(content), **options)
    return str(caught.value)


BINARY = pa.array([[b"B-PER", b"I-PER", b"O"], [b"B-LOC"]])


@each(
    ("content", "message"),
    [
        (b"", "document"),
        (b"[]", "document"),
        (b"[1]", "1 … item … 1"),
        (
            b'{"tokens": ["a"], "tags": ["O"]}\n[]',
            "1 … 2 … list",
        ),
        (
            b'{"tokens": ["a"], "tags": ["O"], "tags": ["B-X"]}',
            "1 … 1 … 'tags' … occurs",
        ),
        (
            b'{"tokens": ["a", null], "tags": ["O", "O"]}',
            "1 … 1 … token … 1",
        ),
        (
            parquet(ANNA, ner_tags=BINARY),
            "1 … row … 1 … 0",
        ),
        (
            parquet(NUMBERED, {"huggingface": "{"}),
            "1 … 1 … 2 … Expecting",
        ),
        (
            parquet([{"tokens": ["a"], "x": 1}]),
            "1 … columns … 'tokens' … 'x' … columns=tag=NAME",
        ),
    ],
)
def test_malformed_files(content, message):
    assert_tells(malformed(content), message)


def test_columns_of_one_name_are_refused():
    sink = io.BytesIO()
    columns = [pa.array([["a"]]), pa.array([["O"]]), pa.array([["B-X"]])]
    pq.write_table(pa.Table.from_arrays(columns, ["tokens", "ner_tags", "ner_tags"]), sink)
    message = "1 … name … 'ner_tags'"
    assert_tells(malformed(sink.getvalue()), message)


@each("end", [4, 100, -100, -1])
def test_a_damaged_parquet_file_is_refused(end):
    assert "stream 1: not a readable Parquet file (" in malformed(FILES["list"][:end])


def upload(content):
    return Upload("x", "x", [Source("x", member=content)])


def test_detection_in_memory():
    def in_memory(data):
        return hf.is_format(Upload("data 1", "annotator 1", [], data=data))

    for data in (ANNA, tuple(NUMBERED), data_set(), data_set().to_iterable_dataset()):
        assert in_memory(data)
    assert in_memory(datasets.DatasetDict({"train": data_set()}))
    assert not in_memory({"anna": data_set()})
    rows = iter(ANNA)
    for data in (rows, [], [["B-X"]], [{"text": "x"}], {"train": ANNA}, 3, "x", [{"tokens": "x"}]):
        assert not in_memory(data)
    assert len(list(rows)) == 2


LONG = ["word"] * 20_000


@each(
    ("row", "is_ours"),
    [
        ({"tokens": ["a"], "ner_tags": ["O"]}, True),
        ({"tokens": ["a"], "ner_tags": None}, True),
        ({"words": ["a"], "tags_x": [0], "tags_y": [0]}, True),
        ({"tokens": LONG, "ner_tags": ["O"] * 20_000}, True),
        ({"ner_tags": ["O"] * 20_000, "tokens": LONG}, False),
        ({"tokens": ["a"]}, False),
        ({"tokens": ["a"], "labels": "x"}, False),
        ({"tokens": ["a", "b"], "ner": [[0, 1, "PER"]]}, False),
        ({"tokenized_text": ["a"], "ner": []}, False),
        ({"tokens": [{"text": "a", "start": 0, "end": 1}], "tags": ["O"], "text": "a"}, False),
        ({"text": "a", "entities": []}, False),
    ],
)
def test_detection_of_files(row, is_ours):
    assert hf.is_format(upload(json.dumps(row).encode())) == is_ours
    assert hf.is_format(upload(json.dumps([row]).encode())) == is_ours


def test_detection_of_parquet():
    assert hf.is_format(upload(FILES["parquet"]))
    spans = [{"document": "1", "annotator": "a", "start": 0, "end": 1, "label": "X"}]
    for content in (parquet(spans), parquet([{"tokens": "a", "tags": ["O"]}]), b"PAR1", b"", b"x"):
        assert not hf.is_format(upload(content))
    folder = Upload("x", "x", [Source("x/a", member=FILES["lines"])], is_folder=True)
    assert not hf.is_format(folder)


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
@examples(120)
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


NEW = [None, True, -1, 2.5, "", "x", [], {}, [None], ["O"], {"feature": 1}, [[]]]
CONTENTS = [ANNA, {"data": ANNA}, VIEWER]


@pytest.mark.slow
@each("content", CONTENTS)
def test_changed_files_raise_nothing_but_our_errors(content):
    for path in places(content):
        for new in NEW:
            changed = json.dumps(replaced(content, path, new)).encode()
            hf.is_format(upload(changed))
            with contextlib.suppress(bc.BeyondChanceError):
                read(io.BytesIO(changed))


@pytest.mark.parametrize(
    "step", [pytest.param(1, marks=pytest.mark.long), pytest.param(11, marks=pytest.mark.slow)]
)
def test_damaged_parquet_raises_nothing_but_our_errors(step):
    content = FILES["list"]
    for place in range(0, len(content), step):
        for byte in (0, 255, content[place] ^ 1):
            changed = content[:place] + bytes([byte]) + content[place + 1 :]
            hf.is_format(upload(changed))
            with contextlib.suppress(bc.BeyondChanceError):
                read(io.BytesIO(changed))


@pytest.mark.slow
def test_changed_schemas_raise_nothing_but_our_errors():
    kept = {"info": {"features": {"ner_tags": {"feature": CLASSES, "_type": "List"}}}}
    for path in places(kept):
        for new in NEW:
            changed = {"huggingface": json.dumps(replaced(kept, path, new))}
            with contextlib.suppress(bc.BeyondChanceError):
                read(io.BytesIO(parquet(NUMBERED, changed)))
