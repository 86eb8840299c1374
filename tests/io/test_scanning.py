"""Files cut into parts with whole documents, and what is said about their rows."""

from __future__ import annotations

from itertools import chain, cycle
from pathlib import Path

import pandas as pd
import polars as pl
import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beyondchance as bc
from beyondchance.errors import BeyondChanceError
from beyondchance.io import pieces, scanning
from beyondchance.io.scanning import batches_of, opened_files, pieces_of
from beyondchance.io.sources import Source
from each import each
from large_tables import (
    PACKERS,
    arrow_table,
    digits,
    in_memory,
    json_lines,
    packed,
    parquet,
    separated,
    spans_table,
)
from refusals import assert_tells


@pytest.fixture(autouse=True)
def few_rows(monkeypatch):
    """Let few rows make many parts."""
    monkeypatch.setattr(scanning, "AT_A_TIME", 80)
    monkeypatch.setattr(scanning, "ROWS_AT_A_TIME", 4)
    monkeypatch.setattr(scanning, "ROWS_OF_PIECE", 8)


def refusal(made):
    """The sentence of an error."""
    with pytest.raises(BeyondChanceError) as caught:
        made()
    assert "\n" not in str(caught.value)
    return str(caught.value)


def documents_of(path):
    """The documents of every batch of every part."""
    scan = bc.scan(path)
    return [
        [list(batch.corpus.documents) for batch in batches_of(scan, part, None)]
        for part in pieces_of(scan)
    ]


def rows_of(*sizes):
    """Documents with so many rows each, of two annotators in turn."""
    return [
        {
            "document": f"d{number:03}",
            "annotator": ("ada", "ben")[i % 2],
            "start": i % 9,
            "end": i % 9 + 1,
            "label": "ABC"[i % 3],
            "length": 9,
        }
        for number, size in enumerate(sizes)
        for i in range(size)
    ]


WRITERS = {
    "parquet": lambda folder, rows: parquet(folder / "a.parquet", rows, 5),
    "csv": lambda folder, rows: separated(folder / "a.csv", rows),
    "quoted": lambda folder, rows: separated(folder / "a.csv", rows, is_quoted=True),
    "jsonl": lambda folder, rows: json_lines(folder / "a.jsonl", rows),
    "gz": lambda folder, rows: packed(separated(folder / "a.csv", rows), "gz"),
}


def assert_same(path, *, has_notes=True, **options):
    """Compare what parts and the whole file say, except for intervals, which follow from that."""
    plain = str(path).removesuffix(".gz")
    corpus = bc.read(plain, **options)
    whole = digits(bc.agreement(corpus), methods=(), notes=corpus.notes)
    found = digits(bc.agreement(bc.scan(path, **options)), methods=())
    if not has_notes:
        found["notes"] = whole["notes"] = ()
    assert found == whole


# --- Documents and parts --------------------------------------------------------------


SIZES = [
    (1, 1, 1),
    (3, 2, 4, 2, 3, 2, 2, 5),
    (2, 40, 2),  # one fills many batches, groups and parts
    (40,),
    (40, 1),
    (1, 40),
    (5, 5, 5, 5, 5),  # each is a row group
    (8, 8, 8, 8),
    (4,) * 9,
    (6, 4, 10, 1, 9, 5),
]


@pytest.mark.parametrize("kind", WRITERS)
def test_no_document_is_in_two_batches(tmp_path, kind):
    """Each kind of file has half of the sizes, and each size half of the kinds."""
    first = list(WRITERS).index(kind)
    for sizes in SIZES[first % 2 :: 2]:
        path = WRITERS[kind](tmp_path, rows_of(*sizes))
        found = documents_of(path)
        assert list(chain.from_iterable(chain.from_iterable(found))) == [
            f"d{number:03}" for number in range(len(sizes))
        ], sizes
        if sizes in {(3, 2, 4, 2, 3, 2, 2, 5), (6, 4, 10, 1, 9, 5)}:
            assert len(list(chain.from_iterable(found))) > 2


@pytest.mark.parametrize(
    ("sizes", "kind"),
    [
        (sizes, kind) if place == 1 else pytest.param(sizes, kind, marks=pytest.mark.slow)
        for place, (sizes, kind) in enumerate(zip(SIZES, cycle(WRITERS), strict=False))
        if max(sizes) > 2
    ],
)
def test_parts_say_what_the_whole_says(tmp_path, sizes, kind):
    assert_same(WRITERS[kind](tmp_path, rows_of(*sizes)), has_notes=False)


@pytest.mark.slow
def test_intervals_of_parts(tmp_path):
    path = WRITERS["csv"](tmp_path, rows_of(3, 2, 4, 2, 3, 2, 2, 5))
    assert digits(bc.agreement(bc.scan(path))) == in_memory(path)


@pytest.mark.slow
@each("sizes", [[0, 3, 0, 0, 7, 0], [0, 0, 50, 0], [9, 0, 1, 0, 0, 2]])
def test_empty_row_groups(tmp_path, sizes):
    rows = rows_of(3, 2, 4, 2, 9, 2, 2, 5)
    path = parquet(tmp_path / "a.parquet", rows, sizes)
    assert any(
        not pq.read_metadata(path).row_group(i).num_rows
        for i in range(pq.read_metadata(path).num_row_groups)
    )
    assert_same(path)


def test_a_last_row_without_a_line_break(tmp_path):
    path = Path(separated(tmp_path / "a.csv", rows_of(3, 2, 4, 2, 3)))
    path.write_bytes(path.read_bytes().rstrip(b"\n"))
    assert_same(path)


def test_blank_lines_and_spaces_around_cells(tmp_path):
    path = Path(separated(tmp_path / "a.csv", rows_of(3, 2, 4, 2, 3)))
    lines = path.read_text().splitlines()
    text = "\n".join(line.replace(",", " , ") + "\n" * (i % 3) for i, line in enumerate(lines))
    path.write_text(f"\n{text}\n\n\n")
    assert_same(path)


def test_columns_without_a_header(tmp_path):
    path = Path(separated(tmp_path / "a.csv", rows_of(3, 2, 4, 2, 3)))
    path.write_text(path.read_text().partition("\n")[2])
    columns = "document,annotator,start,end,label,length"
    assert_same(path, has_notes=False, columns=columns)


@pytest.mark.slow
@each(
    ("name", "kind"),
    [("doc_id", "parquet"), ("File", "csv"), ("docid", "gz"), ("document_name", "parquet")],
)
def test_other_names_of_columns(tmp_path, kind, name):
    rows = [
        {(name if key == "document" else key): value for key, value in own.items()}
        for own in rows_of(3, 2, 4, 2, 3)
    ]
    assert_same(WRITERS[kind](tmp_path, rows), has_notes=False)


@pytest.mark.slow
def test_names_of_documents_that_are_numbers(tmp_path):
    rows = [{**own, "document": int(own["document"][1:])} for own in rows_of(3, 2, 4, 2, 3, 12, 3)]
    table = pa.Table.from_pylist(rows)
    pq.write_table(table, tmp_path / "a.parquet", row_group_size=4)
    json_lines(tmp_path / "a.jsonl", rows)
    for path in (tmp_path / "a.parquet", tmp_path / "a.jsonl"):
        assert_same(path)


def test_numbers_with_a_point_are_the_same_documents_and_labels(tmp_path):
    rows = rows_of(3, 2, 4, 2, 3, 12, 3)
    for i, own in enumerate(rows):
        own["label"] = ("1", "1.0", "2")[i * 7 % 3]
    path = separated(tmp_path / "a.csv", rows)
    assert_tells(refusal(lambda: bc.agreement(bc.scan(path))), "1.0 … 1 … match='exact'")
    assert_same(path, has_notes=False, match="exact")


@pytest.mark.slow
def test_quotes_that_begin_within_a_cell(tmp_path):
    rows = [
        {**own, "remark": 'so 5" wide' if i % 3 else ""} for i, own in enumerate(rows_of(*[3] * 5))
    ]
    path = separated(tmp_path / "a.csv", rows)
    Path(path).write_text(Path(path).read_text().replace('"so 5"" wide"', 'so 5" wide'))
    assert_same(path)


def test_the_last_change_of_a_block():
    rows = pieces.TextRows(b"", lambda line: line[:1].decode(), has_quotes=True)
    assert rows.last_change(b"a,1\na,2\n") == 0
    assert rows.last_change(b"a,1\nb,2\n") == 4
    assert rows.last_change(b"a,1\nb,2\nb,") == 4
    assert rows.last_change(b'a,"1\nb\nc"\nb,2\n') == 10
    assert rows.last_change(b"") == 0


def test_a_change_far_from_the_end_is_found(tmp_path, monkeypatch):
    monkeypatch.setattr(pieces, "WINDOW", 16)
    monkeypatch.setattr(scanning, "AT_A_TIME", 500)
    path = separated(tmp_path / "a.csv", rows_of(3, 60, 3, 60, 2))
    assert len(pieces_of(bc.scan(path))) > 2
    assert_same(path)


# --- What is said about rows ----------------------------------------------------------

DAMAGES = {
    "offsets behind the end": {"start": 3, "end": 99},
    "an end before the start": {"start": 3, "end": 2},
    "no annotator": {"annotator": None},
    "no document": {"document": None},
    "no label": {"label": None},
    "no start": {"start": None},
    "another length": {"length": 8},
    "no offset": {"start": -1},
}


KINDS = ["parquet", "csv", "quoted", "jsonl"]
PLACES = [0, 20, -1]


def check_damage(tmp_path, damage, turn):
    """Compare what is said of a damaged row, in each kind of file, at each place, in turn."""
    first = sorted(DAMAGES).index(damage)
    kind, place = KINDS[(first + turn) % 4], PLACES[(first + 2 * turn) % 3]
    rows = rows_of(3, 2, 4, 2, 3, 12, 3, 4, 3)
    rows[place] = {**rows[place], **DAMAGES[damage]}
    path = WRITERS[kind](tmp_path, rows)
    found = refusal(lambda: bc.agreement(bc.scan(path)))
    assert found == refusal(lambda: bc.agreement(bc.read(path))), (kind, place)


@pytest.mark.parametrize("damage", sorted(DAMAGES))
def test_errors_name_the_row_of_the_whole_file(tmp_path, damage):
    check_damage(tmp_path, damage, 0)


@pytest.mark.slow
@each("damage", sorted(DAMAGES))
@each("turn", [1, 2, 3])
def test_errors_name_the_row_of_other_files(tmp_path, damage, turn):
    check_damage(tmp_path, damage, turn)


@each("ending", sorted(PACKERS))
def test_errors_name_the_line_of_packed_files(tmp_path, ending):
    rows = rows_of(3, 2, 4, 2, 3, 12, 3, 4, 3)
    rows[-2] = {**rows[-2], "start": 3, "end": 99}
    path = separated(tmp_path / "a.csv", rows)
    whole = refusal(lambda: bc.read(path))
    found = refusal(lambda: bc.agreement(bc.scan(packed(path, ending))))
    assert found == whole.replace("a.csv:", f"a.csv.{ending}:")


def test_lines_are_counted_with_line_breaks_in_cells(tmp_path):
    rows = [{**own, "remark": "two\nlines"} for own in rows_of(3, 2, 4, 2, 3, 12, 3, 4, 3)]
    rows[-1] = {**rows[-1], "start": 3, "end": 99}
    path = separated(tmp_path / "a.csv", rows, newline="\r\n")
    assert refusal(lambda: bc.agreement(bc.scan(path))) == refusal(lambda: bc.read(path))


def test_a_number_that_is_none_names_its_line(tmp_path):
    path = Path(separated(tmp_path / "a.csv", rows_of(3, 2, 4, 2, 3)))
    path.write_text(path.read_text().replace("d004,ada,2,3", "d004,ada,two,3"))
    assert refusal(lambda: bc.agreement(bc.scan(path))) == refusal(lambda: bc.read(path))


@each("kind", sorted(WRITERS))
def test_a_header_only(tmp_path, kind):
    path = WRITERS[kind](tmp_path, [])
    if kind == "jsonl":
        assert refusal(lambda: bc.scan(path)) == refusal(lambda: bc.read(path))
    elif kind == "gz":
        assert_tells(refusal(lambda: bc.agreement(bc.scan(path))), "a.csv.gz … rows")
    else:
        assert refusal(lambda: bc.agreement(bc.scan(path))) == refusal(lambda: bc.read(path))


def test_no_row_group_at_all(tmp_path):
    path = parquet(tmp_path / "a.parquet", [], [])
    assert refusal(lambda: bc.agreement(bc.scan(path))) == refusal(lambda: bc.read(path))


@each("kind", ["parquet", "csv", "gz"])
def test_no_column_of_documents(tmp_path, kind):
    rows = [{key: own[key] for key in own if key != "document"} for own in rows_of(4)]
    path = WRITERS[kind](tmp_path, rows)
    said = refusal(lambda: bc.agreement(bc.scan(path)))
    assert_tells(said, "documents … 'annotator', 'start', 'end', 'label', 'length' … parts")


def test_what_is_not_read_in_parts(tmp_path):
    (tmp_path / "a.json").write_text("[]")
    (tmp_path / "ada.ann").write_text("T1\tPER 0 3\tAda\n")
    (tmp_path / "ada.txt").write_text("Ada\n")
    assert_tells(refusal(lambda: bc.scan(tmp_path / "ada.ann")), "ada.ann … brat … parts")
    path = separated(tmp_path / "a.csv", rows_of(4))
    Path(path).write_bytes(Path(path).read_text().encode("utf-16"))
    assert_tells(refusal(lambda: bc.agreement(bc.scan(path))), "a.csv … UTF-16 … parts")
    assert_tells(refusal(bc.scan), "nothing")
    assert_tells(refusal(lambda: bc.scan(tmp_path / "none.csv")), "none.csv … no such")
    listing = separated(tmp_path / "documents.csv", [{"document": "d000", "length": 9}])
    path = separated(tmp_path / "b.csv", rows_of(4))
    said = refusal(lambda: bc.agreement(bc.scan(path, documents=listing)))
    assert_tells(said, "documents … parts")


@each("ending", sorted(PACKERS))
def test_packed_files_that_are_cut_off(tmp_path, ending):
    path = packed(separated(tmp_path / "a.csv", rows_of(*[7] * 40)), ending)
    data = Path(path).read_bytes()
    Path(path).write_bytes(data[: len(data) * 2 // 3])
    assert_tells(refusal(lambda: bc.agreement(bc.scan(path))), f"a.csv.{ending} … unpacked")


# --- Data frames ----------------------------------------------------------------------

FRAMES = {
    "pandas": lambda table: table.to_pandas(),
    "polars": pl.from_arrow,
    "pyarrow": lambda table: table,
    "batches": lambda table: pa.Table.from_batches(table.to_batches(max_chunksize=3)),
    "categories": lambda table: table.to_pandas().astype({"label": "category"}),
    "stream": lambda table: pa.RecordBatchReader.from_batches(
        table.schema, table.to_batches(max_chunksize=3)
    ),
    "one batch": lambda table: table.combine_chunks().to_batches()[0],
}


@pytest.mark.parametrize(
    ("kind", "has_gaps"),
    [
        (kind, has_gaps)
        if kind == "batches"
        else pytest.param(kind, has_gaps, marks=pytest.mark.slow)
        for kind, has_gaps in zip(sorted(FRAMES), cycle([False, True]), strict=False)
    ],
)
def test_data_frames(kind, has_gaps):
    table = arrow_table(spans_table(3, 6, has_gaps=has_gaps))
    corpus = bc.corpus(table.to_pandas())
    whole = digits(bc.agreement(corpus), methods=())
    found = digits(bc.agreement(bc.scan(FRAMES[kind](table))), methods=())
    assert {**found, "notes": ()} == {**whole, "notes": ()}


@pytest.mark.slow
def test_an_annotator_who_comes_last_in_a_stream():
    rows = rows_of(3, 2, 4, 2, 3, 12, 3, 4, 3)
    rows[-1] = {**rows[-1], "annotator": "zoe"}
    table = pa.Table.from_pylist(rows)
    whole = digits(bc.agreement(bc.corpus(table.to_pandas())), methods=())
    found = digits(bc.agreement(bc.scan(FRAMES["stream"](table))), methods=())
    assert {**found, "notes": ()} == {**whole, "notes": ()}


@pytest.mark.slow
def test_a_stream_is_read_once():
    stream = FRAMES["stream"](arrow_table(spans_table(3, 6)))
    scan = bc.scan(stream)
    bc.agreement(scan)
    assert_tells(refusal(lambda: bc.agreement(scan)), "rows")


def test_documents_in_several_places_of_a_frame():
    rows = rows_of(3, 2, 4, 2, 3, 12, 3, 4, 3)
    frame = pd.DataFrame(rows[::2] + rows[1::2])
    assert_tells(refusal(lambda: bc.agreement(bc.scan(frame))), "sort … data frame")


def test_frames_and_files(tmp_path):
    frame = pd.DataFrame(rows_of(3))
    path = separated(tmp_path / "a.csv", rows_of(3))
    assert_tells(refusal(lambda: bc.scan(frame, path)), "files … data frame")


def test_rows_of_frames_are_named():
    rows = rows_of(3, 2, 4, 2, 3, 12, 3, 4, 3)
    rows[-1] = {**rows[-1], "start": 3, "end": 99}
    whole = refusal(lambda: bc.corpus(pd.DataFrame(rows)))
    found = refusal(lambda: bc.agreement(bc.scan(pd.DataFrame(rows))))
    assert_tells(whole, f"row {len(rows)} of … [3, 99)")
    assert_tells(found, f"the data frame 1:{len(rows)} … [3, 99)")


@each("first", ['{"document": "d0", "ann', '{"a": 1, "a": 2}', '{"document": NaN}'])
def test_a_first_line_that_is_no_json_is_named(tmp_path, first):
    path = tmp_path / "a.jsonl"
    json_lines(path, spans_table(1, 3))
    path.write_text(f"\n{first}\n{path.read_text()}")
    told = refusal(lambda: bc.agreement(bc.scan(path, format="table")))
    assert told == refusal(lambda: bc.read(path, format="table"))
    assert_tells(told, "a.jsonl:2:")


def test_a_first_line_longer_than_the_head(tmp_path):
    path = tmp_path / "a.jsonl"
    text = "Mia Lund ran " * 6000
    rows = [
        {"text": text, "document": name, "annotator": who, "start": 0, "end": end, "label": "P"}
        for name in "de"
        for who, end in (("ann", 3), ("ben", 8))
    ]
    json_lines(path, rows)
    whole = bc.agreement(bc.read(path, format="table")).score
    assert bc.agreement(bc.scan(path, format="table")).score == whole


@pytest.mark.slow
@each("is_long", [False, True])
def test_no_file_is_loaded_whole_to_be_recognised(tmp_path, monkeypatch, is_long):
    path = tmp_path / "a.jsonl"
    text = "Mia ran " * (10_000 if is_long else 1)
    json_lines(
        path,
        [
            {"text": text, "entities": [{"start": 0, "end": 3, "label": "P"}]}
            for _ in range(200 if is_long else 20_000)
        ],
    )
    asked = []
    real = Source._raw
    monkeypatch.setattr(
        Source, "_raw", lambda own, most=None: asked.append(most) or real(own, most)
    )
    assert opened_files(bc.scan(path)).format.name == "records"
    assert max(asked, key=lambda most: most or float("inf")) <= 2**20
