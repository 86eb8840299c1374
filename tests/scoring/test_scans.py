"""Files that are read in parts: the same digits as of what is read at once."""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, settings, strategies as st

import beyondchance as bc
from beyondchance.errors import BeyondChanceError, MismatchError
from beyondchance.io import scanning
from beyondchance.results import totals
from beyondchance.scoring import answers, scans
from large_tables import (
    PACKERS,
    REMARKS,
    Row,
    difficulty_digits,
    digits,
    in_memory,
    json_lines,
    packed,
    parquet,
    ranking_digits,
    separated,
    spans_table,
)


@contextmanager
def sizes(
    at_a_time: int = 90, rows: int = 5, rows_of_part: int = 9, most_documents: int = 4096
) -> Iterator[None]:
    """Let few rows make many parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "AT_A_TIME", at_a_time)
        patch.setattr(scanning, "BYTES_OF_PART", 2 * at_a_time)
        patch.setattr(scanning, "ROWS_AT_A_TIME", rows)
        patch.setattr(scanning, "ROWS_OF_PART", rows_of_part)
        if most_documents < 4096:
            patch.setattr(totals, "MOST_DOCUMENTS", most_documents)
            patch.setattr(answers, "MOST_DOCUMENTS", most_documents)
            patch.setattr(totals, "FEWEST_GROUPS", 2)
        yield


@pytest.fixture
def small() -> Iterator[None]:
    """Few rows make many parts."""
    with sizes():
        yield


def outcome(made: Callable[[], Any]) -> Any:
    """What is made, or the sentence that says why it is not."""
    try:
        return made()
    except BeyondChanceError as error:
        return str(error)


def blocks(rows: Sequence[Row]) -> list[list[Row]]:
    """The rows of each document."""
    found: dict[str, list[Row]] = {}
    for row in rows:
        found.setdefault(row["document"], []).append(row)
    return list(found.values())


# --- Laws -----------------------------------------------------------------------------

Write = Callable[[Path, Sequence[Row]], str]
KINDS: Mapping[str, Write] = {
    "parquet": lambda folder, rows: parquet(folder / "a.parquet", rows, 4),
    "large groups": lambda folder, rows: parquet(folder / "a.parquet", rows, [13, 1, 40]),
    "csv": lambda folder, rows: separated(folder / "a.csv", rows),
    "quoted": lambda folder, rows: separated(folder / "a.csv", rows, is_quoted=True),
    "windows": lambda folder, rows: separated(
        folder / "a.csv", rows, newline="\r\n", bom=True, delimiter=";"
    ),
    "tsv": lambda folder, rows: separated(folder / "a.tsv", rows, delimiter="\t"),
    "jsonl": lambda folder, rows: json_lines(folder / "a.jsonl", rows),
}

tables = st.builds(
    spans_table,
    st.integers(0, 2**32),
    st.integers(1, 30),
    st.integers(2, 4),
    has_gaps=st.booleans(),
    in_order=st.booleans(),
    remarks=st.sampled_from([REMARKS, REMARKS[:2]]),
).filter(bool)
cuts = st.builds(
    dict,
    at_a_time=st.integers(1, 1500),
    rows=st.integers(1, 40),
    rows_of_part=st.integers(1, 60),
    most_documents=st.sampled_from([8, 4096]),
)


ONE_BY_ONE = {"at_a_time": 1, "rows": 1, "rows_of_part": 1, "most_documents": 8}


@settings(max_examples=15)
@given(tables, st.sampled_from(sorted(KINDS)), cuts, st.sampled_from(["token", "exact", "dice"]))
# The first spans that cross are named, and documents without a mark tell no measure.
@example(spans_table(15702, 9, 4, has_gaps=False, in_order=True), "csv", ONE_BY_ONE, "token")
@example(spans_table(8, 9, 4, has_gaps=False, in_order=True), "csv", ONE_BY_ONE, "dice")
def test_digits_do_not_depend_on_parts(
    rows: list[Row], kind: str, cut: dict[str, int], measure: str
) -> None:
    with TemporaryDirectory() as folder, sizes(**cut):
        path = KINDS[kind](Path(folder), rows)
        whole = outcome(lambda: in_memory(path, measure=measure))
        in_parts = outcome(lambda: digits(bc.agreement(bc.scan(path), measure=measure)))
    assert in_parts == whole


@settings(max_examples=6)
@given(tables, st.sampled_from(["parquet", "csv", "jsonl"]), cuts)
def test_rankings_and_difficulty_do_not_depend_on_parts(
    rows: list[Row], kind: str, cut: dict[str, int]
) -> None:
    with TemporaryDirectory() as folder, sizes(**cut):
        path = KINDS[kind](Path(folder), rows)
        corpus, scan = bc.read(path), bc.scan(path)
        notes = corpus.notes
        for gold in ("ada", "ben"):
            assert outcome(lambda: ranking_digits(bc.rank(scan, gold=gold))) == outcome(  # noqa: B023
                lambda: ranking_digits(bc.rank(corpus, gold=gold), notes)  # noqa: B023
            )
            assert outcome(lambda: digits(bc.agreement(scan, gold=gold))) == outcome(  # noqa: B023
                lambda: digits(bc.agreement(corpus, gold=gold), notes=notes)  # noqa: B023
            )
        for gold in (None, "ben"):
            assert outcome(lambda: difficulty_digits(bc.difficulty(scan, gold=gold))) == outcome(  # noqa: B023
                lambda: difficulty_digits(bc.difficulty(corpus, gold=gold), notes)  # noqa: B023
            )


@pytest.mark.parametrize("most_documents", [8, 4096])
def test_many_partitionings_give_one_result(tmp_path: Path, most_documents: int) -> None:
    rows = spans_table(3, 60, 4, has_gaps=True)
    found = []
    for number, (groups, at_a_time, part) in enumerate(
        [
            (1, 1, 1),
            (2, 3, 5),
            (5, 100, 1),
            (7, 4, 30),
            (50, 10, 20),
            (1000, 9, 9),
            (1000, 999, 999),
        ]
    ):
        path = parquet(tmp_path / f"{number}.parquet", rows, groups)
        with sizes(rows=at_a_time, rows_of_part=part, most_documents=most_documents):
            result = bc.agreement(bc.scan(path, format="table"))
            found.append(digits(result, methods=("expanded",)))
    assert all(item == found[0] for item in found[1:])


@pytest.mark.parametrize("most_documents", [8, 4096])
def test_the_order_of_documents_does_not_matter(tmp_path: Path, most_documents: int) -> None:
    rows = spans_table(4, 40, 3, has_gaps=True)
    by_document, rng = blocks(rows), np.random.default_rng(1)
    found = []
    for number in range(4):
        path = parquet(
            tmp_path / f"{number}.parquet", [row for own in by_document for row in own], 6
        )
        with sizes(most_documents=most_documents):
            result = bc.agreement(bc.scan(path, format="table"))
            found.append(digits(result, methods=("expanded",)))
        # All annotators stay in the order in which they occur first.
        rest = by_document[15:]
        rng.shuffle(rest)
        by_document[15:] = rest
    for item in found[1:]:
        for name in found[0]:
            # The example of spans that cross, in a note, is the first one.
            if name != "notes":
                assert item[name] == found[0][name], name


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("ending", sorted(PACKERS))
@pytest.mark.parametrize("kind", ["csv", "windows", "jsonl"])
def test_packed_files(tmp_path: Path, kind: str, ending: str) -> None:
    path = KINDS[kind](tmp_path, spans_table(5, 25, has_gaps=True))
    whole = in_memory(path)
    found = digits(bc.agreement(bc.scan(packed(path, ending))))
    assert found.pop("notes") == {
        note.replace("a.csv: read", f"a.csv.{ending}: read").replace(
            "a.jsonl: read", f"a.jsonl.{ending}: read"
        )
        for note in whole.pop("notes")
    }
    assert found == whole


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["parquet", "csv", "jsonl"])
def test_shards_in_a_folder_and_by_a_pattern(tmp_path: Path, kind: str) -> None:
    rows = spans_table(6, 30, has_gaps=True)
    own = blocks(rows)
    (tmp_path / "shards" / "deeper").mkdir(parents=True)
    ending = {"parquet": "parquet", "csv": "csv", "jsonl": "jsonl"}[kind]
    paths = []
    for number, first in enumerate(range(0, len(own), 8)):
        shard = [row for block in own[first : first + 8] for row in block]
        made = Path(KINDS[kind](tmp_path, shard))
        paths.append(str(made.rename(tmp_path / "shards" / f"{number}.{ending}")))
    whole = in_memory(*paths)
    (tmp_path / "shards" / "_SUCCESS").write_text("")
    (tmp_path / "shards" / ".hidden").write_text("nothing")
    for scan in (
        bc.scan(tmp_path / "shards"),
        bc.scan(tmp_path / "shards" / f"*.{ending}"),
        bc.scan(*paths),
    ):
        assert digits(bc.agreement(scan)) == whole
    with pytest.raises(BeyondChanceError, match="no file matches the pattern"):
        bc.scan(tmp_path / "*.nothing")
    with pytest.raises(BeyondChanceError, match="the folder holds no files"):
        bc.scan(tmp_path / "shards" / "deeper")


# --- Facts that change ----------------------------------------------------------------


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_annotator_who_comes_last(tmp_path: Path, kind: str) -> None:
    rows = spans_table(7, 30, 2)
    rows[-1] = {**rows[-1], "annotator": "zoe"}
    path = KINDS[kind](tmp_path, rows)
    assert digits(bc.agreement(bc.scan(path))) == in_memory(path)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_a_row_without_a_span_that_comes_last(tmp_path: Path, kind: str) -> None:
    rows = spans_table(8, 30, 2)
    last = {**rows[-1], "document": "the last", "length": 4}
    nothing = {**last, "annotator": "ben", "start": None, "end": None, "label": None}
    rows += [{**last, "annotator": "ada", "start": 0, "end": 1}, nothing]
    path = KINDS[kind](tmp_path, rows)
    assert digits(bc.agreement(bc.scan(path))) == in_memory(path)


# --- Rows in no order -----------------------------------------------------------------


@pytest.mark.parametrize("most_documents", [8, 4096])
@pytest.mark.parametrize("kind", ["parquet", "csv", "quoted", "windows", "tsv", "jsonl"])
def test_rows_in_no_order_are_put_together(tmp_path: Path, kind: str, most_documents: int) -> None:
    rows = spans_table(9, 30, 4, has_gaps=True)
    np.random.default_rng(2).shuffle(rows)  # type: ignore[arg-type]
    path = KINDS[kind](tmp_path, rows)
    with sizes(most_documents=most_documents):
        found, whole = digits(bc.agreement(bc.scan(path))), in_memory(path)
    for name in whole:
        if name != "notes":  # which show another example of spans that cross
            assert found[name] == whole[name], name


@pytest.mark.usefixtures("small")
def test_files_of_one_annotator_each(tmp_path: Path) -> None:
    rows = spans_table(10, 30, 3)
    names = dict.fromkeys(row["annotator"] for row in rows)
    paths = []
    for name in names:
        own = [
            {key: value for key, value in row.items() if key != "annotator"}
            for row in rows
            if row["annotator"] == name
        ]
        paths.append(separated(tmp_path / f"{name}.csv", own))
    found, whole = digits(bc.agreement(bc.scan(*paths))), in_memory(*paths)
    assert found["annotators"] == tuple(names)
    for name in whole:
        if name != "notes":
            assert found[name] == whole[name], name


@pytest.mark.usefixtures("small")
def test_files_that_share_no_document_are_refused(tmp_path: Path) -> None:
    rows = spans_table(11, 20, 2)
    paths = [
        parquet(
            tmp_path / f"{name}.parquet",
            [
                {**row, "document": f"{name} {row['document']}"}
                for row in rows
                if row["annotator"] == name
            ],
        )
        for name in ("ada", "ben")
    ]
    whole = outcome(lambda: bc.read(*paths))
    assert "shares no document with another file" in whole
    assert outcome(lambda: bc.agreement(bc.scan(*paths))) == whole


@pytest.mark.usefixtures("small")
def test_without_duckdb_there_is_a_hint(tmp_path: Path, monkeypatch: pytest.MonkeyPatch) -> None:
    rows = spans_table(12, 20, 2)
    path = separated(tmp_path / "a.csv", rows[::2] + rows[1::2])
    monkeypatch.setitem(__import__("sys").modules, "duckdb", None)
    with pytest.raises(BeyondChanceError) as caught:
        bc.agreement(bc.scan(path))
    assert "duckdb" in str(caught.value)
    assert "pip install" in str(caught.value)
    assert "\n" not in str(caught.value)


@pytest.mark.usefixtures("small")
def test_a_share_of_rows_in_no_order_is_refused(tmp_path: Path) -> None:
    rows = spans_table(12, 20, 2)
    path = separated(tmp_path / "a.csv", rows[::2] + rows[1::2])
    with pytest.raises(BeyondChanceError, match="sort the rows by document"):
        bc.agreement(bc.scan(path), part="1/1", save_counts=tmp_path / "a.counts")


# --- What is refused ------------------------------------------------------------------


def test_options_of_counting_need_a_scan(tmp_path: Path) -> None:
    with pytest.raises(BeyondChanceError, match="is for files that are read in parts"):
        bc.agreement(bc.example(), workers=2)
    path = parquet(tmp_path / "a.parquet", spans_table(1))
    with pytest.raises(BeyondChanceError, match="does not go with a Scan"):
        bc.agreement(bc.scan(path), empty="missing")
    for part in ("0/3", "4/3", "3", "a/b", "1/0"):
        with pytest.raises(BeyondChanceError, match="such as 3/100"):
            bc.agreement(bc.scan(path), part=part)
    for workers in (0, -1, "many", 1.5):
        with pytest.raises(BeyondChanceError, match="workers"):
            bc.agreement(bc.scan(path), workers=workers)  # type: ignore[arg-type]


def test_random_spans_anywhere_need_all_documents(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", spans_table(1))
    with pytest.raises(BeyondChanceError, match="another unit, where documents are counted"):
        bc.agreement(bc.scan(path, unit="corpus"))


def test_progress_is_told(tmp_path: Path) -> None:
    path, told = parquet(tmp_path / "a.parquet", spans_table(1)), []
    with sizes():
        bc.agreement(bc.scan(path), progress=lambda *numbers: told.append(numbers))
        n = len(scanning.parts_of(bc.scan(path)))
    assert told[-1] == (n, n)


def test_shares_are_all_parts() -> None:
    shares = [scans._share(list(range(10)), (i, 7)) for i in range(1, 8)]  # type: ignore[arg-type]
    assert [part for share in shares for part in share] == list(range(10))


def test_parts_are_added_in_their_order(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", spans_table(3, 80, has_gaps=True), 7)
    with sizes():
        whole = digits(bc.agreement(bc.scan(path)))
        for order in (lambda parts: parts[::-1], lambda parts: parts[5:] + parts[:5]):

            def engine(count: Any, parts: Any, order: Any = order) -> Any:
                return map(count, order(parts))

            assert digits(bc.agreement(bc.scan(path), executor=engine)) == whole


def test_documents_named_1_and_1_0_far_from_each_other_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "BYTES_OF_PART", 60)
    path = tmp_path / "spans.csv"
    names = ["1", "2", "3", "4", "1.0", "2.0"]
    rows = [f"{name},{who},0,2,PER,9" for name in names for who in ("ada", "ben")]
    path.write_text("\n".join(["document,annotator,start,end,label,length", *rows, ""]))
    with pytest.raises(MismatchError, match="such as 1.0 are there next to 1"):
        bc.agreement(bc.scan(path))
    assert bc.agreement(bc.scan(path, match="exact")).n_documents == 6
