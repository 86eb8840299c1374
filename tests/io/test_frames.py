"""Data frames of spans: pandas, polars, pyarrow and columns in dictionaries."""

import numpy as np
import pandas as pd
import polars as pl
import pyarrow as pa
import pytest

import beyondchance as bc
from beyondchance.io.columns import names_of
from beyondchance.io.formats import table
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from each import each
from refusals import assert_tells, refused

pytestmark = pytest.mark.usefixtures("by_characters")

COLUMNS = {
    "document": ["d1", "d1", "d2", "d2"],
    "annotator": ["anna", "ben", "anna", "ben"],
    "start": [0, 0, 3, None],
    "end": [4, 9, 5, None],
    "label": ["PER", "PER", "LOC", None],
    "length": [20, 20, 8, 8],
    "round": ["x", "x", "y", "y"],
}
EXPECTED = {
    ("d1", "anna"): [(0, 4, "PER")],
    ("d1", "ben"): [(0, 9, "PER")],
    ("d2", "anna"): [(3, 5, "LOC")],
    ("d2", "ben"): [],
}
#       0123456789012345678901234
TEXT = "Mira Holt sailed to Lund."


def everything(corpus):
    return {
        (d, a): [tuple(span) for span in corpus.spans(d, a)]
        for d in corpus.documents
        for a in corpus.annotators_of(d)
    }


def given(data):
    return Upload("data 1", "annotator 1", [Source("data 1", member=b"")], data=data)


def with_categories(frame):
    return frame.assign(
        label=frame["label"].astype("category"), document=frame["document"].astype("category")
    )


KINDS = {
    "pandas": pd.DataFrame(COLUMNS),
    "pandas, nullable": pd.DataFrame(COLUMNS).convert_dtypes(),
    "pandas, objects": pd.DataFrame(COLUMNS, dtype=object),
    "pandas, categories": with_categories(pd.DataFrame(COLUMNS)),
    "pandas, index": pd.DataFrame(COLUMNS, index=[7, 7, 7, 7]),
    "pandas, columns in the index": pd.DataFrame(COLUMNS).set_index(["document", "label"]),
    "pandas, pyarrow": pd.DataFrame(COLUMNS).convert_dtypes(dtype_backend="pyarrow"),
    "pandas, 32 bits": pd.DataFrame(COLUMNS).astype({"start": "float32", "length": "int8"}),
    "polars": pl.DataFrame(COLUMNS),
    "polars, categories": pl.DataFrame(COLUMNS).with_columns(
        pl.col("label", "document").cast(pl.Categorical), pl.col("start").cast(pl.UInt8)
    ),
    "polars, NaN": pl.DataFrame(COLUMNS).with_columns(
        pl.col("start", "end").cast(pl.Float64).fill_null(float("nan"))
    ),
    "pyarrow": pa.table(COLUMNS),
    "pyarrow, batch": pa.RecordBatch.from_pydict(COLUMNS),
    "pyarrow, categories": pa.table(
        {**COLUMNS, "label": pa.array(COLUMNS["label"]).dictionary_encode()}
    ),
    "pyarrow, unsigned": pa.table(
        {
            **COLUMNS,
            "label": pa.DictionaryArray.from_arrays(
                pa.array([2, 2, 0, None], pa.uint8()), pa.array(["LOC", "unused", "PER"])
            ),
        }
    ),
    "polars as pyarrow": pl.DataFrame(COLUMNS)
    .with_columns(pl.col("label", "document").cast(pl.Categorical))
    .to_arrow(),
    "dictionary": COLUMNS,
    "dictionary of arrays": {k: np.array(v, dtype=object) for k, v in COLUMNS.items()},
    "dictionary of tuples": {k: tuple(v) for k, v in COLUMNS.items()},
    "dictionary of Series": {k: pd.Series(v) for k, v in COLUMNS.items()},
}


@each("kind", KINDS)
def test_every_kind_of_data_frame_is_read(kind):
    data = KINDS[kind]
    assert table.is_format(given(data))
    corpus = bc.read(data)
    assert everything(corpus) == EXPECTED
    assert corpus.documents == ("d1", "d2")
    assert corpus.labels == ("LOC", "PER")
    assert corpus.text_length.tolist() == [20, 8]
    assert corpus.fields == {"round": ("x", "y")}
    assert [*map(str, corpus.notes)] == ["data 1: read as table"]
    assert corpus.skipped == {}


def test_a_reader_of_batches_is_read():
    assert everything(bc.read(pa.table(COLUMNS).to_reader())) == EXPECTED


@each("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_documents_are_a_second_data_frame(make):
    rows = {name: COLUMNS[name][:3] for name in ("document", "annotator", "start", "end", "label")}
    listing = make({"doc": ["d2", "d1", "d3"], "length": [8, 20, 5], "round": [2, 1, 3]})
    corpus = bc.read(make(rows), documents=listing)
    assert everything(corpus) == {**EXPECTED, ("d3", "anna"): [], ("d3", "ben"): []}
    assert corpus.text_length.tolist() == [20, 8, 5]
    assert corpus.fields == {"round": ("1", "2", "3")}
    texts = make({"document": ["d1", "d2"], "text": [TEXT, "on it, on it"]})
    corpus = bc.read(make(rows), documents=texts, positions="tokens")
    assert corpus.texts == (TEXT, "on it, on it")
    assert everything(corpus)["d1", "ben"] == [(0, 2, "PER")]


@each("make", [pd.DataFrame, pl.DataFrame, pa.table, dict])
def test_texts_may_be_missing_in_some_rows(make):
    rows = {**COLUMNS, "text": [None, TEXT, "on it, on it", None]}
    del rows["length"]
    assert bc.read(make(rows)).texts == (TEXT, "on it, on it")


def test_one_data_frame_for_each_annotator():
    anna = pd.DataFrame({"document": [1, 2], "start": [0, 2], "end": [4, 3], "label": ["X", "X"]})
    ben = pl.DataFrame({"document": [1], "start": [0], "end": [5], "label": ["X"]})
    corpus = bc.read(anna, ben, length=9)
    assert everything(corpus) == {
        ("1", "annotator 1"): [(0, 4, "X")],
        ("1", "annotator 2"): [(0, 5, "X")],
        ("2", "annotator 1"): [(2, 3, "X")],
        ("2", "annotator 2"): [],
    }


MALFORMED = [
    ({"start": [0, 1, 2.5, 3]}, 'row 3 … start … 2.5'),
    ({"end": [4, 9, 5, "x"]}, "row 4 of the data frame: … end … 'x'"),
    ({"end": [4, 9, True, 9]}, 'row 3 … True'),
    ({"start": [0, 2**63, 0, 0]},
     f'row 2 … start … {2 ** 63}'),
    ({"label": ["X", "X", None, None]},
     'row 3 … missing'),
    ({"document": ["d1", None, "d2", "d2"]},
     'row 2 … missing'),
    ({"label": ["X", b"PER", "X", None]},
     'row 2 … PER'),
    ({"label": ["X", ["PER", None], "X", None]},
     "row 2 of the data frame: … 'PER' … None"),
    ({"label": [None, {"a": 1}, "X", None]},
     "row 2 of the data frame: … label … 'a' … 1"),
    ({"start": [0, 21, 3, None], "end": [4, 22, 5, None]},
     "row 2 of the data frame: … span … [21, 22) … 'PER' … 20 … 0"),
    ({"doc": ["d1"] * 4}, "'document', 'doc' … 'document'"),
]  # fmt: skip


@each("make", [lambda columns: pd.DataFrame(columns, dtype=object), dict])
@each(("changed", "message"), MALFORMED)
def test_malformed_data_frames_are_refused(make, changed, message):
    with pytest.raises(bc.BeyondChanceError) as caught:
        bc.read(make({**COLUMNS, **changed}))
    assert_tells(caught.value, message)


def test_bytes_in_columns_of_arrow_are_refused():
    content = pa.table({**COLUMNS, "label": [b"PER", b"PER", b"LOC", None]})
    for frame in (content, pl.from_arrow(content), content.to_pandas()):
        with refused(bc.FormatError, "row 1 of the data frame: … PER"):
            bc.read(frame)


@each("make", [pd.DataFrame, pl.DataFrame, pa.table])
def test_further_columns_of_lists_are_left_out_and_counted(make):
    corpus = bc.read(make({**COLUMNS, "parts": [[1], None, [2, None], [3]], "raw": [b"x"] * 4}))
    assert everything(corpus) == EXPECTED
    assert corpus.fields == {"round": ("x", "y")}
    assert corpus.skipped == {"columns of bytes, lists or objects left out": 2}
    assert_tells(corpus.notes[1], "'parts' … objects")


def test_columns_of_one_name_are_refused():
    frame = pd.DataFrame(COLUMNS).rename(columns={"round": "label"})
    arrow = pa.table([[1]] * 4, names=["start", "end", "label", "label"])
    for data in (frame, arrow):
        with refused(bc.FormatError, "'label' … twice"):
            bc.read(data)


def test_a_column_that_is_also_the_index_is_refused():
    frame = pd.DataFrame(COLUMNS).set_index("document", drop=False)
    with refused(bc.FormatError, "'document' … occurs"):
        bc.read(frame)


def test_names_that_are_no_strings_are_refused():
    frame = pd.DataFrame(COLUMNS).rename(columns={"round": 7})
    with refused(bc.FormatError, "named … 7"):
        bc.read(frame)


def test_columns_of_unequal_length_are_refused():
    with refused(bc.FormatError, "'start' … 2 … values … 'label' … 1"):
        bc.read({"start": [1, 2], "end": [2, 3], "label": ["X"]})


def test_the_name_says_which_of_several_data_frames_is_meant():
    frame = pd.DataFrame(COLUMNS)
    with refused(bc.FormatError, "row 1 … 'data 2' … start … 'x'"):
        bc.read(frame, frame.assign(start="x"))


def test_names_for_columns_that_have_names_are_refused():
    with refused(bc.OptionError, "names … 'document'"):
        bc.read(pd.DataFrame(COLUMNS), columns="document,label,start,end")


@each(
    ("columns", "message"),
    [
        ({"name": ["Mira"], "age": [7]},
         "no column 'start' … 'name' … 'age'"),
        ({"token": ["Mira"], "ada": ["B-PER"], "ben": ["O"]},
         "no column 'start' … 'token' … 'ada' … 'ben' … list of lists"),
    ],
)  # fmt: skip
def test_a_data_frame_of_something_else_is_refused(columns, message):
    for make in (pd.DataFrame, pl.DataFrame, pa.table):
        with refused(bc.FormatError, message):
            bc.read(make(columns))


def test_a_data_frame_without_columns_or_rows_is_refused():
    for frame in (pd.DataFrame(), pl.DataFrame()):
        with refused(bc.FormatError, "none"):
            bc.read(frame)
    for frame in (pd.DataFrame(COLUMNS)[:0], pl.DataFrame(COLUMNS)[:0], pa.table(COLUMNS)[:0]):
        with refused(bc.FormatError, "rows"):
            bc.read(frame)


def test_a_data_frame_that_raises_is_refused():
    class Broken:
        columns = ("start", "end", "label")

        def __dataframe__(self):
            raise NotImplementedError

        def __getitem__(self, name):
            raise RuntimeError(name)

    with refused(bc.FormatError, "'start' … cannot"):
        bc.read(Broken())


def test_a_listing_that_repeats_a_document_is_refused():
    listing = pd.DataFrame({"document": ["d1", "d1"], "length": [20, 20]})
    with refused(bc.FormatError, "row 2 of the data frame of documents: … 'd1'"):
        bc.read(pd.DataFrame(COLUMNS), documents=listing)


@each(
    "data",
    [
        [],
        [{"start": 0, "end": 1, "label": "X"}],
        {"start": 0, "end": 4, "label": "PER"},
        {"ada": [["B-PER"]], "ben": [["O"]]},
        {"start": "abc", "end": [1], "label": [1]},
        pd.Series([1, 2]),
        pl.Series([1, 2]),
        pd.DataFrame({"tokens": [["a"]], "ner_tags": [[0]]}),
        pl.DataFrame({"text": ["a"], "entities": [[0]]}),
        np.zeros(3),
        "a.csv",
        5,
    ],
)
def test_other_data_are_no_table(data):
    assert not table.is_format(given(data))


def test_the_columns_of_a_data_frame_are_its_names():
    for data in (pd.DataFrame(COLUMNS), pl.DataFrame(COLUMNS), pa.table(COLUMNS), COLUMNS):
        assert names_of(data) == [*COLUMNS]


# --- Ids that differ as 1 and 1.0 ---------------------------------------------


def ids(*names, **columns):
    rows = {"document": list(names), "start": [0] * len(names), "end": [1] * len(names)}
    return {**rows, "label": ["X"] * len(names), **columns}


MENDED = "document ids such as 1.0 read as 1"


def test_ids_of_floats_are_those_of_whole_numbers():
    corpus = bc.read(pd.DataFrame(ids(1, 2)), pd.DataFrame(ids(2.0, 1.0, 3.5)), length=9)
    assert corpus.documents == ("1", "2", "3.5")
    assert corpus.annotators_of("1") == ("annotator 1", "annotator 2")
    assert corpus.skipped == {MENDED: 2}


def test_ids_of_floats_come_first_and_are_those_of_whole_numbers():
    corpus = bc.read(ids(2.0, 1.0), ids("1", "2"), length=9)
    assert corpus.documents == ("2", "1")
    assert corpus.skipped == {MENDED: 2}


def test_ids_of_floats_are_found_in_the_table_of_documents():
    listing = pd.DataFrame({"document": [1, 2, 3], "length": [7, 8, 9]})
    corpus = bc.read(pd.DataFrame(ids(2.0, 1.0)), documents=listing)
    assert corpus.documents == ("2", "1", "3")
    assert corpus.text_length.tolist() == [8, 7, 9]
    listing = pd.DataFrame({"document": [1.0, 2.0], "text": ["one", "two"]})
    corpus = bc.read(pd.DataFrame(ids(2, 1)), documents=listing)
    assert sorted(zip(corpus.documents, corpus.texts, strict=True)) == [("1", "one"), ("2", "two")]
    assert corpus.skipped == {MENDED: 2}


def test_ids_of_one_annotator_stay_apart():
    columns = ids("1", "1.0", "2", "2.0", annotator=["anna", "anna", "anna", "ben"])
    corpus = bc.read(columns, length=9)
    assert corpus.documents == ("1", "1.0", "2", "2.0")
    assert corpus.skipped == {}


def test_ids_of_annotators_in_one_table_are_mended():
    columns = ids("1", "2", "1.0", "2.0", annotator=["anna", "anna", "ben", "ben"])
    corpus = bc.read(columns, length=9)
    assert corpus.documents == ("1", "2")
    assert corpus.skipped == {MENDED: 2}


def test_labels_of_floats_are_those_of_whole_numbers():
    anna = pd.DataFrame({**ids(1, 2, 3), "label": [3, 4, None], "end": [1, 1, None]})
    anna["start"] = [0, 0, None]
    ben = pd.DataFrame({**ids(1, 2, 3), "label": [3, 4, 5]})
    corpus = bc.read(anna, ben, length=9)
    assert corpus.labels == ("3", "4", "5")
    assert everything(corpus)["1", "annotator 1"] == [(0, 1, "3")]
    assert everything(corpus)["3", "annotator 1"] == []
    assert corpus.skipped == {"labels such as 1.0 read as 1": 2}


def test_labels_of_one_annotator_stay_apart():
    corpus = bc.read(ids("a", "b") | {"label": ["1", "1.0"]}, ids("a") | {"label": [1]}, length=9)
    assert corpus.labels == ("1", "1.0")
    assert corpus.skipped == {}


def test_masked_values_are_missing():
    columns = {**ids("a", "b"), "annotator": ["anna", "anna"], "label": ["X", None]}
    for name in ("start", "end"):
        columns[name] = np.ma.array(columns[name], mask=[False, True])
    assert everything(bc.read(columns, length=9)) == {
        ("a", "anna"): [(0, 1, "X")],
        ("b", "anna"): [],
    }


# --- What would have to be guessed --------------------------------------------

ROWS = {name: COLUMNS[name][:3] for name in ("document", "annotator", "start", "end", "label")}


def renamed(**names):
    return {names.get(name, name): values for name, values in ROWS.items()}


@each("name", ["annotator_name", "Annotated_By", "coder", "user", "worker_id"])
def test_other_names_of_annotators(name):
    assert everything(bc.read(pd.DataFrame(renamed(annotator=name)), length=20)) == {
        key: EXPECTED[key] for key in EXPECTED
    }


@each("name", ["docid", "doc_name", "filename", "doc"])
def test_other_names_of_documents(name):
    assert bc.read(renamed(document=name), length=20).documents == ("d1", "d2")


def test_other_names_next_to_the_usual_one_are_fields():
    corpus = bc.read({**ROWS, "docid": ["7", "7", "8"]}, length=20)
    assert (corpus.documents, corpus.fields) == (("d1", "d2"), {"docid": ("7", "8")})
    twice = {**renamed(annotator="user_id"), "annotated_by": ["x", "y", "z"]}
    with refused(bc.FormatError, "columns … 'user_id' … 'annotated_by' … 'annotator'"):
        bc.read(twice, length=20)


@each("name", ["id", "sentence_id"])
def test_columns_that_may_be_documents_are_refused(name, tmp_path):
    message = f"'{name}' … sentences … 'document'"
    with refused(bc.FormatError, message):
        bc.read(renamed(document=name), length=20)
    path = tmp_path / "spans.csv"
    pd.DataFrame(renamed(document=name)).to_csv(path, index=False)
    with refused(bc.FormatError, message):
        bc.read(path, length=20)
    assert bc.read({**ROWS, name: [1, 2, 3]}, length=20).documents == ("d1", "d2")


def test_without_documents_there_is_one_and_a_note_says_so():
    columns = {name: values for name, values in ROWS.items() if name != "document"}
    corpus = bc.read(columns, length=20)
    assert corpus.documents == ("1",)
    assert_tells(corpus.notes[1], "documents … document")


@each(
    ("frame", "options", "message"),
    [
        (ROWS, {"documents": {"document": ["d1", "d2"], "length": [10, 10]}, "length": 500},
         "document 'd1' … length … 10 … 500"),
        ({**ROWS, "text": ["Ada sat down"] * 3}, {"length": 500},
         "document 'd1' … length … 12 … 500"),
    ],
)  # fmt: skip
def test_lengths_that_contradict_each_other_are_refused(frame, options, message):
    with refused(bc.OptionError, message):
        bc.read(frame, **options)
    known = {"document": ["d1"], "length": [10]}
    assert bc.read(ROWS, documents=known, length=9).text_length.tolist() == [10, 9]


@each("make", [pd.DataFrame, pl.DataFrame, pa.table])
@each("values", [pd.to_datetime([1, 2, 3]), pd.to_timedelta([1, 2, 3]), [False, True, True]])
def test_times_and_truth_values_are_no_offsets(make, values):
    with refused(bc.FormatError, "expected … whole number"):
        bc.read(make({**ROWS, "start": list(values)}), length=20)


def test_dates_are_names():
    dates = pd.to_datetime(["2024-01-01", "2024-01-01", "2024-01-02"])
    corpus = bc.read(pd.DataFrame({**ROWS, "document": dates}), length=20)
    assert [name[:10] for name in corpus.documents] == ["2024-01-01", "2024-01-02"]


def test_white_space_around_labels_is_counted():
    for make in (pd.DataFrame, pl.DataFrame, pa.table, dict):
        corpus = bc.read(make({**ROWS, "label": ["PER", " PER", "LOC "]}), length=20)
        assert corpus.labels == ("LOC", "PER")
        assert corpus.skipped == {"labels trimmed of white space": 2}


def test_documents_may_be_a_lazy_frame():
    listing = pl.LazyFrame({"document": ["d1", "d2"], "length": [20, 8]})
    assert bc.read(pl.DataFrame(ROWS), documents=listing).text_length.tolist() == [20, 8]


def test_strict_reading_refuses_ids_and_labels_of_floats():
    one, other = pd.DataFrame(ids(1)), pd.DataFrame(ids(1.0))
    with refused(bc.MismatchError, "document '1' … annotator … '1.0'"):
        bc.read(one, other, length=9, strict=True)
    labels = [pd.DataFrame({**ids("a"), "label": [label]}) for label in (1, 1.0)]
    with refused(bc.MismatchError, "label '1' … annotator … '1.0'"):
        bc.read(*labels, length=9, strict=True)
