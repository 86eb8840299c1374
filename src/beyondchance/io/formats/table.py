"""One row for each span: CSV, TSV, JSON Lines or Parquet.

The columns ``document``, ``annotator``, ``start``, ``end`` and ``label`` may have a few
other names (`NAMES`). The length of each document comes from a column ``length`` or
``text``, from a second table with one row for each document, or from the option
``length``. All further columns are fields of the documents; one that varies within a
document is not, and is left out. Without texts, offsets are taken to count what
``positions`` says; with texts they count characters. Files without a header have the
columns annotator, label, start, end.

A row without start, end and label says that the annotator found nothing in the document.
If there is such a row, only those who have a row for a document are taken to have
annotated it; if there is none, everybody is taken to have annotated every document, unless
``empty="missing"`` says otherwise.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass
from functools import cached_property
from importlib import import_module
from operator import itemgetter
from os import PathLike
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.errors import FormatError, MismatchError, OptionError, SpanError
from beyondchance.io.assembling import assembled
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, required
from beyondchance.io.sources import Source, opened
from beyondchance.types import Bools, Ints

NAMES: Mapping[str, tuple[str, ...]] = {
    "document": ("document", "document_id", "doc", "doc_id", "file", "filename"),
    "annotator": ("annotator", "annotator_id", "coder", "user", "rater"),
    "start": ("start", "begin", "start_offset"),
    "end": ("end", "stop", "end_offset"),
    "label": ("label", "category", "tag", "type"),
    "length": ("length", "n", "document_length"),
    "text": ("text",),
}
_SPAN = ("start", "end", "label")
_BARE = ("annotator", "label", "start", "end")
_NUMBERS = ("start", "end", "length")
_PARQUET = b"PAR1"
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}(\.0*)?\s*", re.ASCII)
_QUICK_FROM = 2**20
"""Bytes from which on a file is read by pyarrow, if it is installed."""
_LONGEST = 2**31 - 1
_MOST_PAIRS = 10**8


@dataclass(frozen=True)
class _Table:
    """Columns of equal length; a missing value is None.

    Attributes
    ----------
    source : Source
    columns : mapping of str to list or pyarrow column
        By our names where they are known, else by their own.
    lines : sequence of int, optional
        The line of each row; found out when needed by default.
    """

    source: Source
    columns: Mapping[str, Any]
    lines: Sequence[int] | None = None

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @cached_property
    def _found_lines(self) -> Sequence[int]:
        """The lines of a table that pyarrow read, which does not tell them."""
        if self.source.head.startswith(_PARQUET):
            return range(1, len(self) + 1)
        text = self.source.text
        if text.count("\n", 0, len(text) - 1) == len(self):
            return range(2, len(self) + 2)
        return [line for line, _ in _csv_rows(self.source)][1:]

    def where(self, row: int) -> str:
        """Name a row by its file and line."""
        lines = self._found_lines if self.lines is None else self.lines
        return f"{self.source.name}:{lines[row]}"


@dataclass(frozen=True, slots=True)
class _Rows:
    """The rows of all tables: names by number, and which rows are spans."""

    tables: list[_Table]
    documents: list[str]
    annotators: list[str]
    labels: list[str]
    document: Ints
    annotator: Ints
    label: Ints
    start: Ints
    end: Ints
    is_span: Bools

    def where(self, row: int) -> str:
        """Name a row by its file and line."""
        for table in self.tables:
            if row < len(table):
                return table.where(row)
            row -= len(table)
        return self.tables[-1].source.name

    def of(self, table: int) -> slice:
        """The rows of one table."""
        first = sum(map(len, self.tables[:table]))
        return slice(first, first + len(self.tables[table]))


def is_format(upload: Upload) -> bool:
    """Whether there is a header, or JSON keys, with the columns of a table of spans."""
    if upload.data is not None:
        return False
    source = upload.sources[0]
    if source.head.startswith(_PARQUET):
        return True
    line = _first_line(source)
    if line.startswith("{"):
        keys = set(re.findall(r'[{,]\s*"(\w+)"\s*:', line))
        return _known(keys) >= {"start", "end", "label", "document"}
    cells = {cell.strip().strip('"') for cell in re.split("[,;\t]", line)}
    return _known(cells) >= set(_SPAN) or _is_bare(source)


def read(uploads: list[Upload], reading: Reading) -> Corpus:
    """Read tables to a corpus; texts go by the road of all formats with texts."""
    tables = [(upload, _read(source)) for upload in uploads for source in upload.sources]
    documents = _read_documents(reading)
    rows = _combined(tables, documents, reading)
    given = [*rows.tables, *([documents] if documents is not None else [])]
    if any("text" in table.columns for table in given):
        drafts = _drafts(rows, documents, reading)
        return assembled(drafts, reading, unit="document", positions="characters")
    if reading.options["unit"] == "sentence":
        raise OptionError("a table has no sentences; say unit='document'")
    return _numbered(rows, documents, reading)


# --- Files to columns ---------------------------------------------------------


def _known(cells: set[str]) -> set[str]:
    """Our names for the columns that are among these."""
    lowered = {cell.lower() for cell in cells}
    return {name for name, others in NAMES.items() if lowered & set(others)}


def _first_line(source: Source) -> str:
    return source.head_text.lstrip("\n\r").partition("\n")[0].strip("\r")


def _delimiter(source: Source) -> str:
    """The separator that divides the first line into most cells."""
    return max(",;\t", key=_first_line(source).count)


def _is_bare(source: Source) -> bool:
    """Whether rows are annotator, label, start, end without a header."""
    cells = _first_line(source).split(_delimiter(source))
    return len(cells) == len(_BARE) and all(map(_WHOLE.fullmatch, cells[2:]))


def _read(source: Source, *, of_documents: bool = False) -> _Table:
    """Read one table, whatever kind of file it is."""
    if source.head.startswith(_PARQUET):
        table = _parquet(source)
    elif source.head_text.lstrip().startswith("{"):
        table = _json_lines(source)
    else:
        table = _quick(source) or _separated(source)
    found: dict[str, Any] = {}
    for own, values in table.columns.items():
        ours = next((ours for ours, others in NAMES.items() if own.lower() in others), own)
        if ours in found:
            raise FormatError(f"{source.name}: two columns for {ours!r}; expected one")
        found[ours] = values
    needed = ("document",) if of_documents else _SPAN
    missing = [column for column in needed if column not in found]
    if missing:
        raise FormatError(
            f"{source.name}: no column {missing[0]!r} among {', '.join(table.columns) or 'none'}; "
            f"expected {', '.join(needed)}"
        )
    return _Table(source, found, table.lines)


def _parquet(source: Source) -> _Table:
    arrow = required("pyarrow", extra="parquet", purpose="reading Parquet")
    parquet = required("pyarrow.parquet", extra="parquet", purpose="reading Parquet")
    try:
        table = parquet.read_table(arrow.BufferReader(source.data))
        columns = {name: table.column(name).to_pylist() for name in table.column_names}
    except Exception as error:
        raise FormatError(f"{source.name}: not a readable Parquet file ({error})") from None
    return _Table(source, columns, range(1, len(table) + 1))


def _json_lines(source: Source) -> _Table:
    rows, lines = [], []
    for number, row in source.json_lines():
        if not isinstance(row, dict):
            raise FormatError(f"{source.name}:{number}: found {row!r:.60}; expected an object")
        rows.append(row)
        lines.append(number)
    names = dict.fromkeys(key for row in rows for key in row)
    return _Table(source, {name: [row.get(name) for row in rows] for name in names}, lines)


def _separated(source: Source) -> _Table:
    """Read CSV or TSV row by row."""
    rows = list(_csv_rows(source))
    if not rows:
        raise FormatError(
            f"{source.name}: holds no rows; expected a header and a row for each span"
        )
    names: Sequence[str] = _BARE
    if not _is_bare(source):
        names = [cell.strip() for cell in rows.pop(0)[1]]
    if len(set(names)) < len(names):
        raise FormatError(f"{source.name}:1: a column name occurs twice; expected distinct names")
    columns = {name: [row[i] or None for _, row in rows] for i, name in enumerate(names)}
    return _Table(source, columns, [line for line, _ in rows])


def _csv_rows(source: Source) -> Iterator[tuple[int, list[str]]]:
    """The rows and the lines where they begin; all have as many cells as the first."""
    csv.field_size_limit(2**31 - 1)
    text = io.StringIO(source.text, newline="")
    reader = csv.reader(text, delimiter=_delimiter(source), strict=True)
    width = line = 0
    try:
        for row in reader:
            # A row may go over several lines, and the reader is at the end of the last.
            begins, line = line + 1, reader.line_num
            if not any(row):
                continue  # spreadsheets leave rows of nothing but separators behind
            width = width or len(row)
            if len(row) != width:
                raise FormatError(
                    f"{source.name}:{begins}: found {len(row)} columns; expected {width}, as in "
                    "the first row"
                )
            yield begins, row
    except csv.Error as error:
        raise FormatError(f"{source.name}:{line + 1}: not valid CSV ({error})") from None


def _has_hexadecimal(data: bytes) -> bool:
    # To look for one letter takes a twentieth of the time.
    return (b"x" in data and b"0x" in data) or (b"X" in data and b"0X" in data)


def _quick(source: Source) -> _Table | None:
    """Read a large file by pyarrow; None where that is missing or objects to anything.

    What it objects to is found again, and named, by reading row by row.
    """
    data = source.data
    # pyarrow would read 0x1F as a number and "1"2 as 12, which reading row by row does not.
    if len(data) < _QUICK_FROM or b"\0" in data or b'"' in data or _has_hexadecimal(data):
        return None
    try:
        arrow, arrow_csv = import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None
    delimiter = _delimiter(source)
    names = _first_line(source).split(delimiter)
    blank = f"\n{delimiter * (len(names) - 1)}".encode()
    has_blank_rows = blank + b"\n" in data or blank + b"\r\n" in data
    if has_blank_rows or _is_bare(source) or any(name != name.strip() for name in names):
        return None
    numbers = {name for name in names if _known({name}) & set(_NUMBERS)}
    texts = {name for name in names if _known({name}) == {"text"}}
    coded = arrow.dictionary(arrow.int32(), arrow.string())
    kinds = {name: arrow.string() if name in texts else coded for name in names}
    kinds.update(dict.fromkeys(numbers, arrow.int64()))
    try:
        table = arrow_csv.read_csv(
            arrow.BufferReader(data),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter),
            convert_options=arrow_csv.ConvertOptions(
                column_types=kinds, strings_can_be_null=True, null_values=[""]
            ),
        )
        if table.column_names != names or len(set(names)) < len(names):
            return None
        columns = dict(zip(names, table.unify_dictionaries().columns, strict=True))
    except Exception:
        return None
    return _Table(
        source, {name: c.to_pylist() if name in texts else c for name, c in columns.items()}
    )


def _read_documents(reading: Reading) -> _Table | None:
    """The second table, one row for each document."""
    path = reading.options["documents"]
    if path is None:
        return None
    found = opened(path) if isinstance(path, str | PathLike) else None
    if not isinstance(found, Source):
        raise OptionError(f"documents is {path!r}; expected the path of a table of documents")
    table = _read(found, of_documents=True)
    names, codes = _codes(table, "document")
    if np.any(codes < 0):
        row = int(np.argmax(codes < 0))
        raise FormatError(f"{table.where(row)}: no document; expected its identifier")
    if len(names) < len(table):
        row = next(row for row in range(len(table)) if codes[row] in codes[:row])
        raise FormatError(
            f"{table.where(row)}: document {names[int(codes[row])]!r} has two rows; expected one"
        )
    return table


# --- Columns to numbers -------------------------------------------------------


def _codes(table: _Table, column: str) -> tuple[list[str], Ints]:
    """The distinct values of a column, and the number of each row's; -1 for none."""
    values = table.columns[column]
    if hasattr(values, "combine_chunks"):
        joined = values.combine_chunks()
        own = joined.dictionary.to_pylist()
        codes = np.asarray(joined.indices.fill_null(-1)).astype(np.int64)
    else:
        number: dict[Any, int] = {}
        codes = np.empty(len(values), dtype=np.int64)
        for row, value in enumerate(values):
            if isinstance(value, list | dict) and column in NAMES:
                raise FormatError(f"{table.where(row)}: {column} is {value!r:.60}; expected a name")
            name = None if value is None else str(value)
            codes[row] = -1 if name is None else number.setdefault(name, len(number))
        own = list(number)
    # White space around a name is not part of it.
    names: dict[str, int] = {}
    renumbered = [
        names.setdefault(name.strip(), len(names)) if name.strip() else -1 for name in own
    ]
    if renumbered != list(range(len(own))):
        codes = np.array([*renumbered, -1])[codes]
    return list(names), codes


def _whole(table: _Table, name: str) -> tuple[Ints, Bools]:
    """A column of whole numbers, and which rows have none (value 0)."""
    values = table.columns[name]
    if hasattr(values, "combine_chunks"):
        if not values.null_count:
            return values.to_numpy(), np.zeros(len(values), dtype=bool)
        missing = values.is_null().to_numpy()
        return values.fill_null(0).to_numpy(), missing
    numbers = np.zeros(len(values), dtype=np.int64)
    missing = np.zeros(len(values), dtype=bool)
    for row, value in enumerate(values):
        if value is None or (isinstance(value, str) and not value.strip()):
            missing[row] = True
            continue
        number = _number(value)
        if number is None:
            raise FormatError(
                f"{table.where(row)}: {name} is {value!r:.60}; expected a whole number"
            )
        numbers[row] = number
    return numbers, missing


def _number(value: object) -> int | None:
    """A value as a whole number; spreadsheets write some of them as 12.0."""
    if isinstance(value, str):
        return int(value.partition(".")[0]) if _WHOLE.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < 10**18 and value == int(value) else None


def _combined(
    tables: list[tuple[Upload, _Table]], documents: _Table | None, reading: Reading
) -> _Rows:
    """Put the rows of all tables below one another."""
    names: dict[str, dict[str, int]] = {kind: {} for kind in ("document", "annotator", "label")}
    columns: dict[str, list[Any]] = {kind: [] for kind in (*names, "start", "end", "is_span")}
    for upload, table in tables:
        part: dict[str, Any] = {}
        start, no_start = _whole(table, "start")
        end, no_end = _whole(table, "end")
        for kind, default in (("document", "1"), ("annotator", upload.annotator), ("label", "")):
            own, codes = [default], np.zeros(len(table), dtype=np.int64)
            if kind in table.columns:
                own, codes = _codes(table, kind)
            if kind == "annotator":
                reading.met(upload.name, own)
            known = names[kind]
            number = [known.setdefault(name, len(known)) for name in own]
            part[kind] = codes
            if number != list(range(len(own))):
                part[kind] = np.array([*number, -1])[codes]
            if kind != "label" and codes.min(initial=0) < 0:
                row = int(np.argmin(codes))
                raise FormatError(f"{table.where(row)}: {kind} missing; expected a name")
        is_span = _is_span(table, no_start, no_end, part["label"] < 0)
        for kind, values in {**part, "start": start, "end": end, "is_span": is_span}.items():
            columns[kind].append(values)
    joined: dict[str, Any] = {
        k: v[0] if len(v) == 1 else np.concatenate(v) for k, v in columns.items()
    }
    if documents is not None and joined["is_span"].all() and reading.options["empty"] != "missing":
        # Everybody is taken to have found nothing in the documents without a row.
        for name in _codes(documents, "document")[0]:
            names["document"].setdefault(name, len(names["document"]))
    return _Rows(
        tables=[table for _, table in tables],
        documents=list(names["document"]),
        annotators=list(names["annotator"]),
        labels=list(names["label"]),
        **joined,
    )


def _is_span(table: _Table, no_start: Bools, no_end: Bools, no_label: Bools) -> Bools:
    """Which rows are spans; a row has all of start, end and label, or none."""
    torn = (no_start != no_end) | (no_start != no_label)
    if torn.any():
        row = int(np.argmax(torn))
        lacking = [
            name
            for name, gaps in zip(_SPAN, (no_start, no_end, no_label), strict=True)
            if gaps[row]
        ]
        raise FormatError(
            f"{table.where(row)}: {' and '.join(lacking)} missing; expected start, end and label, "
            "or none of them where the annotator found nothing"
        )
    return ~no_start


# --- Numbers to a corpus ------------------------------------------------------


def _numbered(rows: _Rows, documents: _Table | None, reading: Reading) -> Corpus:
    """Build a corpus without texts, column by column."""
    for name in ("offsets", "align", "whitespace", "match"):
        if name in reading.changed():
            raise OptionError(
                f"option {name!r} needs the texts; expected a column text, or a table of "
                "documents= with one"
            )
    if not rows.documents or not rows.annotators:
        raise FormatError(
            f"{rows.tables[0].source.name}: holds no rows; expected one for each span"
        )
    lengths = _lengths(rows, documents, reading)
    is_good = _checked_spans(rows, lengths, reading)
    keep = slice(None) if is_good.all() else np.flatnonzero(is_good)
    labels, label = sorted_names(tuple(rows.labels), rows.label[keep])
    annotated = _annotated(rows, reading)
    return Corpus(
        documents=tuple(rows.documents),
        fields=_fields(rows, documents, reading),
        text_document=np.arange(len(rows.documents)),
        text_length=lengths,
        annotators=tuple(rows.annotators),
        labels=labels,
        annotation_document=annotated[0],
        annotation_annotator=annotated[1],
        span_text=rows.document[keep],
        span_annotator=rows.annotator[keep],
        span_label=label,
        span_start=rows.start[keep],
        span_end=rows.end[keep],
        unit=reading.options["unit"] or "document",
        positions=reading.options["positions"] or "characters",
    )


def _checked_spans(rows: _Rows, lengths: Ints, reading: Reading) -> Bools:
    """Which rows become spans; refuse those that do not lie in their document."""
    start, end = rows.start, rows.end
    room = lengths[rows.document]
    wrong = (start < 0) | (end <= start) | (end > room)
    is_good = rows.is_span
    if wrong.any():
        empty = wrong & is_good & (start == end) & (start >= 0) & (end <= room)
        if reading.options["zero_length"] == "skip" and empty.any():
            reading.skipped["empty spans left out"] += int(empty.sum())
            is_good = is_good & ~empty
        wrong &= is_good
    if wrong.any():
        row = int(np.argmax(wrong))
        problem = (
            "is empty; expected at least one position (zero_length='skip' leaves such spans out)"
            if empty[row]
            else f"does not lie in its document, which has the length {room[row]}; expected "
            "0 <= start < end <= length"
        )
        raise SpanError(f"{_named(rows, row)} {problem}")
    twice = _repeated(rows, is_good)
    if len(twice) and reading.options["duplicates"] == "error":
        raise SpanError(
            f"{_named(rows, int(twice[0]))} was marked twice by "
            f"{rows.annotators[int(rows.annotator[twice[0]])]!r} in document "
            f"{rows.documents[int(rows.document[twice[0]])]!r}; expected it once "
            "(duplicates='skip' leaves the second out)"
        )
    if len(twice):
        reading.skipped["spans marked twice, second left out"] += len(twice)
        is_good = is_good.copy()
        is_good[twice] = False
    return is_good


def _named(rows: _Rows, row: int) -> str:
    """Name the span of a row in a message."""
    label = rows.labels[int(rows.label[row])]
    return f"{rows.where(row)}: span [{rows.start[row]}, {rows.end[row]}) {label!r}"


def _repeated(rows: _Rows, is_good: Bools) -> Ints:
    """The rows that say again what an earlier row said, in ascending order."""
    columns = (rows.document, rows.annotator, rows.label, rows.start, rows.end)
    # Most tables are sorted, and then a look at neighbours suffices.
    step, onwards = np.diff(rows.document), np.diff(rows.start)
    if np.all((step > 0) | ((step == 0) & (onwards > 0))):
        return np.zeros(0, dtype=np.int64)
    # Rows that fall into slots of their own are distinct; few others need to be compared.
    mixed = rows.document * len(rows.annotators)
    mixed += rows.annotator
    mixed *= len(rows.labels)
    mixed += rows.label
    mixed *= 0x1E3779B97F4A7C15
    mixed ^= rows.start << 32
    mixed += rows.end
    mixed *= 0x5851F42D4C957F2D
    n_bits = min(len(mixed).bit_length() + 2, 24)
    slot = (mixed.view(np.uint64) >> np.uint64(64 - n_bits)).view(np.int64)
    is_crowded = np.bincount(slot) > 1
    spans = np.flatnonzero(is_crowded[slot] & is_good)
    alone = np.sort(mixed[spans])
    again = np.unique(alone[1:][alone[1:] == alone[:-1]])
    if not len(again):
        return again
    spans = spans[np.isin(mixed[spans], again)]
    spans = spans[np.lexsort([column[spans] for column in columns])]
    same = np.ones(max(len(spans) - 1, 0), dtype=bool)
    for column in columns:
        same &= column[spans[1:]] == column[spans[:-1]]
    return np.sort(spans[1:][same])


def _everybody(rows: _Rows, reading: Reading) -> bool:
    """Whether everybody is taken to have annotated every document."""
    if reading.options["empty"] == "missing" or not rows.is_span.all():
        return False
    if len(rows.documents) * len(rows.annotators) > _MOST_PAIRS:
        raise FormatError(
            f"{rows.tables[0].source.name}: {len(rows.documents):,} documents and "
            f"{len(rows.annotators):,} annotators; expected fewer, or say empty='missing' if not "
            "everybody annotated every document"
        )
    if len(rows.annotators) > 1:
        reading.notes.append(
            "no row without a span: everybody is taken to have annotated every document "
            "(empty='missing' takes only those who have a row)"
        )
    return True


def _annotated(rows: _Rows, reading: Reading) -> Ints:
    """Who annotated which document, shape (2, annotations)."""
    n = len(rows.annotators)
    if _everybody(rows, reading):
        return np.indices((len(rows.documents), n)).reshape(2, -1)
    pairs = np.unique(rows.document * n + rows.annotator)
    return np.stack([pairs // n, pairs % n])


def _lengths(rows: _Rows, documents: _Table | None, reading: Reading) -> Ints:
    """The length of each document."""
    lengths = np.full(len(rows.documents), -1)
    for index, table in enumerate(rows.tables):
        if "length" in table.columns:
            _fill_lengths(lengths, rows.document[rows.of(index)], table, rows.documents)
    if documents is not None and "length" in documents.columns:
        _fill_lengths(lengths, _listed(rows, documents), documents, rows.documents)
    if reading.options["length"] is not None:
        if reading.options["length"] > _LONGEST:
            raise OptionError(
                f"length is {reading.options['length']:,}; expected at most {_LONGEST:,}"
            )
        lengths[lengths < 0] = reading.options["length"]
    unknown = lengths < 0
    if unknown.any():
        raise FormatError(
            f"{rows.tables[0].source.name}: the length of document "
            f"{rows.documents[int(np.argmax(unknown))]!r} is not known; expected a column length "
            "or text, a table of documents=, or length="
        )
    return lengths


def _listed(rows: _Rows, documents: _Table) -> Ints:
    """The number of each document of the second table; -1 if it has no part in the first."""
    number = {name: i for i, name in enumerate(rows.documents)}
    names, codes = _codes(documents, "document")
    return np.array([*(number.get(name, -1) for name in names), -1])[codes]


def _fill_lengths(lengths: Ints, document: Ints, table: _Table, names: list[str]) -> None:
    """Take the lengths that a table gives; they must not contradict one another."""
    given, missing = _whole(table, "length")
    strange = (given < 0) | (given > _LONGEST)
    if strange.any():
        row = int(np.argmax(strange))
        raise FormatError(
            f"{table.where(row)}: length is {given[row]}; expected a number from 0 to {_LONGEST:,}"
        )
    rows = None
    if missing.any() or document.min(initial=0) < 0:
        rows = np.flatnonzero(~missing & (document >= 0))
        document, given = document[rows], given[rows]
    before = lengths.copy()
    lengths[document] = given
    differs = lengths[document] != given
    if (before >= 0).any():
        differs |= (before[document] >= 0) & (before[document] != given)
    if differs.any():
        place = int(np.argmax(differs))
        row = place if rows is None else int(rows[place])
        raise MismatchError(
            f"{table.where(row)}: document {names[int(document[place])]!r} has the length "
            f"{given[place]} here and another elsewhere; expected one"
        )


def _fields(rows: _Rows, documents: _Table | None, reading: Reading) -> dict[str, tuple[str, ...]]:
    """The further columns, one value for each document."""
    given = [(table, rows.document[rows.of(i)]) for i, table in enumerate(rows.tables)]
    if documents is not None:
        given.append((documents, _listed(rows, documents)))
    names = dict.fromkeys(name for table, _ in given for name in table.columns)
    fields = {}
    for name in names:
        if name in NAMES or not name.strip():
            continue
        values = [""] * len(rows.documents)
        whole = [
            _fill_field(values, at, table, name) for table, at in given if name in table.columns
        ]
        if all(whole):
            fields[name.strip()] = tuple(values)
        else:
            reading.skipped["columns that vary within documents left out"] += 1
            reading.notes.append(f"column {name!r} varies within documents and is not a field")
    return fields


def _fill_field(values: list[str], document: Ints, table: _Table, name: str) -> bool:
    """Take the values of a further column; whether each document has one of them."""
    own, codes = _codes(table, name)
    rows = np.flatnonzero((codes >= 0) & (document >= 0))
    chosen = np.full(len(values), -1)
    chosen[document[rows]] = codes[rows]
    if (chosen[document[rows]] != codes[rows]).any():
        return False
    for index in np.flatnonzero(chosen >= 0).tolist():
        if values[index] not in {"", own[chosen[index]]}:
            return False
        values[index] = own[chosen[index]]
    return True


# --- Texts --------------------------------------------------------------------


def _drafts(rows: _Rows, documents: _Table | None, reading: Reading) -> Iterator[Draft]:
    """Rows with texts, as drafts."""
    by_id = reading.options["match"] == "id"
    texts = _texts(rows, documents, by_id=by_id)
    fields = _fields(rows, documents, reading)
    groups: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(zip(rows.document.tolist(), rows.annotator.tolist(), strict=True)):
        groups.setdefault(key, []).append(row)
    # Names that differ between annotators do not tell who left what out.
    if by_id and _everybody(rows, reading):
        for d in range(len(rows.documents)):
            for a in range(len(rows.annotators)):
                groups.setdefault((d, a), [])
    # The first annotator's names stay where the documents of others are matched to them.
    order = sorted(groups, key=None if by_id else itemgetter(1, 0))
    for d, a in order:
        members = groups[d, a]
        name, annotator = rows.documents[d], rows.annotators[a]
        where = rows.where(members[0]) if members else rows.tables[0].source.name
        text = texts.get((name, "" if by_id else annotator), texts.get((name, "")))
        if text is None:
            raise FormatError(f"{where}: no text for document {name!r}; expected one")
        yield Draft(
            where=where,
            document=name,
            annotator=annotator,
            text=text,
            spans=[
                DraftSpan(
                    int(rows.start[row]),
                    int(rows.end[row]),
                    rows.labels[int(rows.label[row])],
                    where=rows.where(row),
                )
                for row in members
                if rows.is_span[row]
            ],
            fields={kind: values[d] for kind, values in fields.items()},
        )


def _texts(rows: _Rows, documents: _Table | None, *, by_id: bool) -> dict[tuple[str, str], str]:
    """The text of each document, or of each annotator's; it may stand in some rows only."""
    given: list[tuple[_Table, Iterator[tuple[str, str]]]] = []
    for index, table in enumerate(rows.tables):
        if "text" in table.columns:
            part = rows.of(index)
            codes = zip(rows.document[part].tolist(), rows.annotator[part].tolist(), strict=True)
            keys = ((rows.documents[d], "" if by_id else rows.annotators[a]) for d, a in codes)
            given.append((table, keys))
    if documents is not None and "text" in documents.columns:
        names, numbers = _codes(documents, "document")
        listed = [(names[i], "") for i in numbers.tolist()]
        given.append((documents, iter(listed)))
    texts: dict[tuple[str, str], str] = {}
    for table, owners in given:
        for row, (key, text) in enumerate(zip(owners, table.columns["text"], strict=True)):
            if text is None:
                continue
            if not isinstance(text, str):
                raise FormatError(f"{table.where(row)}: text is {text!r:.60}; expected a string")
            if texts.setdefault(key, text) != text:
                raise MismatchError(
                    f"{table.where(row)}: document {key[0]!r} has another text than before; "
                    "expected one"
                )
    return texts
