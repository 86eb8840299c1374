"""Files that are read in parts: the same digits as of what is read at once."""

from __future__ import annotations

import re
import shlex
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager
from itertools import cycle
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

import numpy as np
import pytest
from hypothesis import example, given, strategies as st

import beyondchance as bc
from beyondchance.cli.main import main
from beyondchance.errors import (
    BeyondChanceError,
    DataError,
    FormatError,
    MismatchError,
    NothingSharedError,
    OptionError,
)
from beyondchance.io import scanning
from beyondchance.io.reading import Selection
from beyondchance.results import counts, units
from beyondchance.scoring import answers, scans
from examples import examples
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
from refusals import refused


@contextmanager
def sizes(
    at_a_time: int = 90, rows: int = 5, rows_of_part: int = 9, most_documents: int = 4096
) -> Iterator[None]:
    """Let few rows make many parts."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "AT_A_TIME", at_a_time)
        patch.setattr(scanning, "ROWS_AT_A_TIME", rows)
        patch.setattr(scanning, "ROWS_OF_PIECE", rows_of_part)
        if most_documents < 4096:
            for module in (counts, units, answers):
                patch.setattr(module, "MOST_DOCUMENTS", most_documents)
            patch.setattr(counts, "FEWEST_GROUPS", 2)
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


def brief(result: bc.Agreement) -> dict[str, Any]:
    return digits(result, methods=("expanded",))


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
    st.integers(1, 14),
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
# One part, and one that has all documents but does not keep their rows.
CUTS = ({}, ONE_BY_ONE, {"rows": 40, "rows_of_part": 99, "at_a_time": 9999, "most_documents": 8})


def check_digits(rows: list[Row], kind: str, cut: Mapping[str, int], measure: str) -> None:
    with TemporaryDirectory() as folder, sizes(**cut):
        path = KINDS[kind](Path(folder), rows)
        whole = outcome(lambda: in_memory(path, measure=measure))
        in_parts = outcome(lambda: digits(bc.agreement(bc.scan(path), measure=measure)))
    assert in_parts == whole, (kind, cut, measure)


@pytest.mark.slow
def test_digits_of_every_kind_of_file() -> None:
    rows = spans_table(5, 10, 4, has_gaps=True)
    for kind, cut, measure in zip(
        KINDS, cycle(CUTS), cycle(["token", "exact", "dice", "boundary"]), strict=False
    ):
        check_digits(rows, kind, cut, measure)


@pytest.mark.slow
@examples(15)
@given(tables, st.sampled_from(sorted(KINDS)), cuts, st.sampled_from(["token", "exact", "dice"]))
# The first spans that cross are named, and documents without a mark tell no measure.
@example(spans_table(15702, 9, 4, has_gaps=False, in_order=True), "csv", ONE_BY_ONE, "token")
@example(spans_table(8, 9, 4, has_gaps=False, in_order=True), "csv", ONE_BY_ONE, "dice")
def test_digits_do_not_depend_on_parts(
    rows: list[Row], kind: str, cut: dict[str, int], measure: str
) -> None:
    check_digits(rows, kind, cut, measure)


def check_rankings(rows: list[Row], kind: str, cut: Mapping[str, int], gold: str) -> None:
    with TemporaryDirectory() as folder, sizes(**cut):
        path = KINDS[kind](Path(folder), rows)
        corpus, scan = bc.read(path), bc.scan(path)
        notes = corpus.notes
        assert outcome(lambda: ranking_digits(bc.rank(scan, gold=gold))) == outcome(
            lambda: ranking_digits(bc.rank(corpus, gold=gold), notes)
        )
        assert outcome(lambda: digits(bc.agreement(scan, gold=gold))) == outcome(
            lambda: digits(bc.agreement(corpus, gold=gold), notes=notes)
        )
        own = None if gold == "ada" else gold
        assert outcome(lambda: difficulty_digits(bc.difficulty(scan, gold=own))) == outcome(
            lambda: difficulty_digits(bc.difficulty(corpus, gold=own), notes)
        )


@pytest.mark.slow
def test_rankings_and_difficulty_in_parts() -> None:
    rows = spans_table(6, 10, 4, has_gaps=True)
    check_rankings(rows, "parquet", {"most_documents": 8}, "ada")
    check_rankings(rows, "csv", {}, "ben")


@pytest.mark.long
@examples(6)
@given(tables, st.sampled_from(["parquet", "csv", "jsonl"]), cuts, st.sampled_from(["ada", "ben"]))
def test_rankings_and_difficulty_do_not_depend_on_parts(
    rows: list[Row], kind: str, cut: dict[str, int], gold: str
) -> None:
    check_rankings(rows, kind, cut, gold)


@pytest.mark.slow
@pytest.mark.parametrize("most_documents", [8, 4096])
def test_many_partitionings_give_one_result(tmp_path: Path, most_documents: int) -> None:
    rows = spans_table(3, 9, 4, has_gaps=True)
    found = []
    for number, (groups, at_a_time, part) in enumerate(
        [(1, 1, 1), (2, 3, 5), (7, 4, 30), (1000, 999, 999)]
    ):
        path = parquet(tmp_path / f"{number}.parquet", rows, groups)
        with sizes(rows=at_a_time, rows_of_part=part, most_documents=most_documents):
            result = bc.agreement(bc.scan(path, format="table"))
            found.append(brief(result))
    assert all(item == found[0] for item in found[1:])


@pytest.mark.slow
@pytest.mark.parametrize("most_documents", [8, 4096])
def test_the_order_of_documents_does_not_matter(tmp_path: Path, most_documents: int) -> None:
    rows = spans_table(4, 12, 3, has_gaps=True)
    by_document, rng = blocks(rows), np.random.default_rng(1)
    found = []
    for number in range(3):
        path = parquet(
            tmp_path / f"{number}.parquet", [row for own in by_document for row in own], 6
        )
        with sizes(rows_of_part=20, most_documents=most_documents):
            result = bc.agreement(bc.scan(path, format="table"))
            found.append(brief(result))
        # All annotators stay in the order in which they occur first.
        rest = by_document[6:]
        rng.shuffle(rest)
        by_document[6:] = rest
    for item in found[1:]:
        for name in found[0]:
            # The example of spans that cross, in a note, is the first one.
            if name != "notes":
                assert item[name] == found[0][name], name


@pytest.mark.slow
def test_packed_files(tmp_path: Path) -> None:
    rows = spans_table(5, 8, has_gaps=True)
    for ending, kind in zip(sorted(PACKERS), cycle(["csv", "windows", "jsonl"]), strict=False):
        path = KINDS[kind](tmp_path, rows)
        name = Path(path).name
        with sizes():
            whole, found = in_memory(path), digits(bc.agreement(bc.scan(packed(path, ending))))
        assert found.pop("notes") == {
            note.replace(f"{name}: read", f"{name}.{ending}: read") for note in whole.pop("notes")
        }
        assert found == whole, (ending, kind)


@pytest.mark.slow
@pytest.mark.usefixtures("small")
def test_shards_in_a_folder_and_by_a_pattern(tmp_path: Path) -> None:
    own = blocks(spans_table(6, 12, has_gaps=True))
    for kind in ("parquet", "csv", "jsonl"):
        folder = tmp_path / kind
        (folder / "deeper").mkdir(parents=True)
        paths = []
        for number, first in enumerate(range(0, len(own), 4)):
            shard = [row for block in own[first : first + 4] for row in block]
            made = Path(KINDS[kind](tmp_path, shard))
            paths.append(str(made.rename(folder / f"{number}.{kind}")))
        (folder / "_SUCCESS").write_text("")
        (folder / ".hidden").write_text("nothing")
        scan = {
            "parquet": lambda: bc.scan(folder),  # noqa: B023
            "csv": lambda: bc.scan(folder / "*.csv"),  # noqa: B023
            "jsonl": lambda: bc.scan(*paths),  # noqa: B023
        }[kind]()
        assert digits(bc.agreement(scan)) == in_memory(*paths), kind


def test_no_shards(tmp_path: Path) -> None:
    with refused(FormatError, "*.nothing: … pattern"):
        bc.scan(tmp_path / "*.nothing")
    (tmp_path / "shards").mkdir()
    (tmp_path / "shards" / "_SUCCESS").write_text("")
    with refused(FormatError, "shards: … no files"):
        bc.scan(tmp_path / "shards")


# --- Facts that change ----------------------------------------------------------------


@pytest.mark.slow
@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("kind", ["parquet", "csv"])
def test_an_annotator_or_a_row_without_a_span_that_comes_last(tmp_path: Path, kind: str) -> None:
    rows = spans_table(7, 8, 2)
    rows[-1] = {**rows[-1], "annotator": "zoe"}
    path = KINDS[kind](tmp_path, rows)
    assert digits(bc.agreement(bc.scan(path))) == in_memory(path)
    rows = spans_table(8, 8, 2)
    last = {**rows[-1], "document": "the last", "length": 4}
    nothing = {**last, "annotator": "ben", "start": None, "end": None, "label": None}
    rows += [{**last, "annotator": "ada", "start": 0, "end": 1}, nothing]
    path = KINDS[kind](tmp_path, rows)
    assert digits(bc.agreement(bc.scan(path))) == in_memory(path)


# --- Rows in no order -----------------------------------------------------------------


@pytest.mark.usefixtures("small")
def test_files_that_share_no_document_are_refused(tmp_path: Path) -> None:
    rows = spans_table(11, 4, 2)
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
    with refused(
        NothingSharedError, "ada.parquet: … ada doc 0 … ben.parquet … ben doc 1", use="empty"
    ) as caught:
        bc.read(*paths)
    assert outcome(lambda: bc.agreement(bc.scan(*paths))) == str(caught.value)


@pytest.mark.usefixtures("small")
def test_documents_of_one_annotator_each_are_refused(tmp_path: Path) -> None:
    """Systems are compared with the gold standard, and other annotators without it."""
    span = {"start": 0, "end": 2, "label": "P", "length": 9}
    rows = [{"document": f"d{i}", "annotator": who, **span} for i, who in enumerate("abcgggggggg")]
    path = separated(tmp_path / "a.csv", rows)
    for reading in (bc.scan, bc.read):
        data = reading(path, gold="g", empty="missing")
        with refused(NothingSharedError, "'g' and another"):
            bc.rank(data)
        with refused(NothingSharedError, "two annotators"):
            bc.agreement(data)


@pytest.mark.usefixtures("small")
@pytest.mark.parametrize("n_files", [1, 2])
def test_rows_in_no_order_are_refused_with_the_command_that_sorts_them(
    tmp_path: Path, n_files: int
) -> None:
    rows = spans_table(12, 5, 2)
    paths = [separated(tmp_path / "a.csv", rows[::2] + rows[1::2])]
    if n_files == 2:
        halves = rows[::2], rows[1::2]
        paths = [separated(tmp_path / f"{x}[1].csv", r) for x, r in zip("ab", halves, strict=True)]
    for options in ({}, {"part": "1/1", "save_counts": tmp_path / "a.counts"}):
        with refused(DataError, "csv: … document … rows … convert … --save") as caught:
            bc.agreement(bc.scan(*paths), **options)
    command = re.search("'beyondchance (convert .*) --save", str(caught.value))[1]
    path = tmp_path / "sorted.parquet"
    assert main([*shlex.split(command), "--save", str(path), "--quiet"]) == 0
    found, whole = bc.agreement(bc.scan(path)), bc.agreement(bc.read(*paths))
    assert found.score == whole.score
    assert dict(found.by_pair) == dict(whole.by_pair)


# --- What is refused ------------------------------------------------------------------


@pytest.mark.slow
def test_options_of_counting_need_a_scan(tmp_path: Path) -> None:
    with refused(OptionError, "workers … parts"):
        bc.agreement(bc.example(), workers=2)
    path = parquet(tmp_path / "a.parquet", spans_table(1, 2))
    with refused(OptionError, "empty … Scan"):
        bc.agreement(bc.scan(path), empty="missing")
    for part in ("0/3", "4/3", "3", "a/b", "1/0"):
        with refused(OptionError, f"{part} … 3/100"):
            bc.agreement(bc.scan(path), part=part)
    with refused(OptionError, "workers … parts"):
        bc.labelling(bc.example(), workers=2)
    for function in (bc.labelling, bc.disagreements, bc.consensus, bc.diagnose, bc.report):
        with refused(OptionError, "needs all texts at once … read()"):
            function(bc.scan(path))
    for workers in (0, -1, "many", 1.5):
        with refused(OptionError, f"workers … {workers!r}"):
            bc.agreement(bc.scan(path), workers=workers)  # type: ignore[arg-type]


def test_random_spans_anywhere_need_all_documents(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", spans_table(1, 2))
    with refused(OptionError, "corpus", use="unit"):
        bc.agreement(bc.scan(path, unit="corpus"))


def test_progress_is_told(tmp_path: Path) -> None:
    path, told = parquet(tmp_path / "a.parquet", spans_table(1, 4)), []
    with sizes():
        bc.agreement(bc.scan(path), progress=lambda *numbers: told.append(numbers))
        n = len(scanning.pieces_of(bc.scan(path)))
    assert n > 1
    assert told[-1] == (n, n)


def test_shares_are_all_parts() -> None:
    shares = [scans._shared(list(range(10)), (i, 7)) for i in range(1, 8)]  # type: ignore[arg-type]
    assert [part for share in shares for part in share] == list(range(10))


@pytest.mark.slow
def test_parts_are_added_in_their_order(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", spans_table(3, 10, has_gaps=True), 2)
    with sizes():
        assert len(scanning.pieces_of(bc.scan(path))) > 3
        whole = digits(bc.agreement(bc.scan(path)))
        for order in (lambda parts: parts[::-1], lambda parts: parts[2:] + parts[:2]):

            def engine(count: Any, parts: Any, order: Any = order) -> Any:
                return map(count, order(parts))

            assert digits(bc.agreement(bc.scan(path), executor=engine)) == whole


@pytest.mark.slow
def test_an_executor_that_loses_a_part_is_refused(tmp_path: Path) -> None:
    path = parquet(tmp_path / "a.parquet", spans_table(3, 10, has_gaps=True), 2)
    with sizes(), refused(DataError, "a.parquet … executor … no result"):
        bc.agreement(bc.scan(path), executor=lambda count, parts: map(count, parts[:1] + parts[2:]))


def test_documents_named_1_and_1_0_far_from_each_other_are_refused(tmp_path, monkeypatch):
    monkeypatch.setattr(scanning, "AT_A_TIME", 60)
    path = tmp_path / "spans.csv"
    names = ["1", "2", "3", "4", "1.0", "2.0"]
    rows = [f"{name},{who},0,2,PER,9" for name in names for who in ("ada", "ben")]
    path.write_text("\n".join(["document,annotator,start,end,label,length", *rows, ""]))
    with refused(MismatchError, "1.0 … 1", use="match"):
        bc.agreement(bc.scan(path))
    assert bc.agreement(bc.scan(path, match="exact")).n_documents == 6


def test_labels_are_chosen_by_their_new_names() -> None:
    chosen = Selection(labels=("A",), rename_label={"A": "B"})
    with refused(DataError, "label 'A' … has: 'B', 'C'"):
        chosen.check(["A", "C"])
    chosen._replace(labels=("B",)).check(["A", "C"])
    with refused(DataError, "label 'X' … has: 'C'"):
        Selection(rename_label={"X": "C"}).check(["C"])
