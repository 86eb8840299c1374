"""Columns of a table: CSV, TSV, JSON Lines or Parquet, as codes and whole numbers.

A column is a list of Python values, or a column of pyarrow: of int64, or of strings that are
dictionary-encoded. The second kind is never turned into Python objects.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager
from dataclasses import dataclass
from functools import cached_property, lru_cache
from importlib import import_module
from threading import Lock
from typing import Any

import numpy as np

from beyondchance.errors import FormatError
from beyondchance.io.registry import required
from beyondchance.io.sources import Source
from beyondchance.messages import Quote, quotes
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
"""Our names of columns, and the names that files may give them."""
NUMBERS = ("start", "end", "length")
"""The columns that hold whole numbers."""
SPAN = ("start", "end", "label")
"""The columns that every table of spans has."""
_BARE = ("annotator", "label", "start", "end")
_PARQUET = b"PAR1"
_WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}(\.0*)?\s*", re.ASCII)
_TOO_LARGE = 10**18
_QUICK_FROM = 2**20
"""Bytes from which on a file is read by pyarrow, if it is installed."""
_FIELD_LIMIT = Lock()


@dataclass(frozen=True)
class Table:
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
    def _all_lines(self) -> Sequence[int]:
        """The line of each row; pyarrow does not tell."""
        if self.lines is not None:
            return self.lines
        if is_parquet(self.source):
            return range(1, len(self) + 1)
        text = self.source.text
        if text.count("\n", 0, len(text) - 1) == len(self):
            return range(2, len(self) + 2)
        return [line for line, _ in csv_rows(self.source)][1:]

    def where(self, row: int) -> str:
        """Name a row by its file and line."""
        return f"{self.source.name}:{self._all_lines[row]}"


def our_name(own: str) -> str:
    """Our name for a column, or its own name if it is none that we know.

    Examples
    --------
    >>> our_name("Doc"), our_name("genre")
    ('document', 'genre')
    """
    return next((ours for ours, others in NAMES.items() if own.lower() in others), own)


# --- Detection ----------------------------------------------------------------


def is_parquet(source: Source) -> bool:
    """Whether a file is Parquet, by its first bytes."""
    return source.head.startswith(_PARQUET)


def looks_like_spans(source: Source) -> bool:
    """Whether there is a header, or JSON keys, with the columns of a table of spans."""
    if is_parquet(source):
        return True
    line = _first_line(source)
    if line.startswith("{"):
        keys = map(our_name, re.findall(r'[{,]\s*"(\w+)"\s*:', line))
        return {*SPAN, "document"} <= set(keys)
    cells = {our_name(cell.strip().strip('"')) for cell in re.split("[,;\t]", line)}
    return set(SPAN) <= cells or _is_bare(source)


def _first_line(source: Source) -> str:
    return source.head_text.lstrip("\n\r").partition("\n")[0].strip("\r")


def _delimiter(source: Source) -> str:
    """The separator that divides the first line into most cells."""
    return max(",;\t", key=_first_line(source).count)


def _is_bare(source: Source) -> bool:
    """Whether rows are annotator, label, start, end without a header."""
    cells = _first_line(source).split(_delimiter(source))
    return len(cells) == len(_BARE) and all(map(_WHOLE.fullmatch, cells[2:]))


# --- Files to columns ---------------------------------------------------------


def read_table(source: Source, *, needed: Sequence[str] = SPAN) -> Table:
    """Read one table, whatever kind of file it is."""
    if is_parquet(source):
        table = _parquet(source)
    elif source.head_text.lstrip().startswith("{"):
        table = _json_lines(source)
    else:
        table = _quick(source) or _separated(source)
    columns: dict[str, Any] = {}
    for own, values in table.columns.items():
        if our_name(own) in columns:
            found = f"two columns for {our_name(own)!r}"
            raise FormatError(found, where=source.name, expected="one")
        columns[our_name(own)] = values
    for name in needed:
        if name not in columns:
            problem = (f"no column {name!r} among ", *quotes(table.columns))
            raise FormatError(*problem, where=source.name, expected=", ".join(needed))
    return Table(source, columns, table.lines)


def _parquet(source: Source) -> Table:
    arrow = required("pyarrow", extra="parquet", purpose="reading Parquet")
    parquet = required("pyarrow.parquet", extra="parquet", purpose="reading Parquet")
    try:
        table = parquet.read_table(arrow.BufferReader(source.data))
        columns = {name: _typed(table.column(name), name, arrow) for name in table.column_names}
    except Exception as error:
        raise FormatError(f"not a readable Parquet file ({error})", where=source.name) from None
    return Table(source, columns)


def _typed(column: Any, name: str, arrow: Any) -> Any:
    """A column of Parquet as pyarrow's where that means the same, else as Python objects."""
    kind, ours, types = column.type, our_name(name), arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    is_number = types.is_integer(kind)
    is_string = types.is_string(kind) or types.is_large_string(kind)
    if ours in NUMBERS and is_number and not types.is_uint64(kind):
        return column.cast(arrow.int64())
    if ours not in NUMBERS and ours != "text" and (is_number or is_string):
        # Encoded anew, because a dictionary may hold values that no row has.
        return column.cast(arrow.string()).dictionary_encode().unify_dictionaries()
    return column.to_pylist()


def _json_lines(source: Source) -> Table:
    rows, lines = [], []
    for number, row in source.json_lines():
        if not isinstance(row, dict):
            where = f"{source.name}:{number}"
            raise FormatError("found ", Quote(row), where=where, expected="an object")
        rows.append(row)
        lines.append(number)
    names = dict.fromkeys(key for row in rows for key in row)
    return Table(source, {name: [row.get(name) for row in rows] for name in names}, lines)


def _separated(source: Source) -> Table:
    """Read CSV or TSV row by row."""
    rows = csv_rows(source)
    if not rows:
        raise FormatError(
            "holds no rows", where=source.name, expected="a header and a row for each span"
        )
    names: Sequence[str] = _BARE
    if not _is_bare(source):
        names = [cell.strip() for cell in rows.pop(0)[1]]
    if len(set(names)) < len(names):
        where = f"{source.name}:1"
        raise FormatError("a column name occurs twice", where=where, expected="distinct names")
    columns = {name: [row[i] or None for _, row in rows] for i, name in enumerate(names)}
    return Table(source, columns, [line for line, _ in rows])


@contextmanager
def _fields_up_to(length: int) -> Iterator[None]:
    """Let the csv module read long fields; its limit is one for the whole process."""
    # Within the lock, because another thread may have raised the limit for a while.
    with _FIELD_LIMIT:
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, length))
        try:
            yield
        finally:
            csv.field_size_limit(before)


def csv_rows(source: Source, delimiter: str = "") -> list[tuple[int, list[str]]]:
    """The rows and the lines where they begin; all have as many cells as the first."""
    text = source.text
    delimiter = delimiter or _delimiter(source)
    reader = csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, strict=True)
    rows: list[tuple[int, list[str]]] = []
    line = 0
    try:
        with _fields_up_to(len(text)):
            for row in reader:
                # A row may go over several lines, and the reader is at the end of the last.
                begins, line = line + 1, reader.line_num
                if any(row):  # spreadsheets leave rows of nothing but separators behind
                    rows.append((begins, row))
    except csv.Error as error:
        raise FormatError(f"not valid CSV ({error})", where=f"{source.name}:{line + 1}") from None
    for begins, row in rows:
        if len(row) != len(rows[0][1]):
            raise FormatError(
                f"found {len(row)} columns",
                where=f"{source.name}:{begins}",
                expected=f"{len(rows[0][1])}, as in the first row",
            )
    return rows


def _quick(source: Source) -> Table | None:
    """Read a large file by pyarrow; None where that is missing or objects to anything.

    What it objects to is found again, and named, by reading row by row.
    """
    data, header, delimiter = source.data, _first_line(source), _delimiter(source)
    # pyarrow would read 0x1F as a number and "1"2 as 12, which reading row by row does not.
    is_plain = data.count(b'"') == header.count('"') and b"\0" not in data
    if len(data) < _QUICK_FROM or not is_plain or _is_bare(source):
        return None
    # To look for one letter takes a twentieth of the time.
    if any(letter in data and b"0" + letter in data for letter in (b"x", b"X")):
        return None
    try:
        arrow, arrow_csv = import_module("pyarrow"), import_module("pyarrow.csv")
    except ImportError:
        return None
    names = [name.removeprefix('"').removesuffix('"') for name in header.split(delimiter)]
    coded = arrow.dictionary(arrow.int32(), arrow.string())
    special = {"text": arrow.string(), **dict.fromkeys(NUMBERS, arrow.int64())}
    kinds = {name: special.get(our_name(name), coded) for name in names}
    try:
        table = arrow_csv.read_csv(
            arrow.BufferReader(data),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter),
            convert_options=arrow_csv.ConvertOptions(
                column_types=kinds, strings_can_be_null=True, null_values=[""]
            ),
        ).unify_dictionaries()
    except Exception:
        return None
    is_expected = table.column_names == names and len(set(names)) == len(names)
    # There may be rows of nothing but separators, which reading row by row leaves out.
    may_have_blanks = all(column.null_count for column in table.columns)
    if not is_expected or may_have_blanks or any(name != name.strip() for name in names):
        return None
    pairs = zip(names, table.columns, strict=True)
    return Table(source, {n: c.to_pylist() if our_name(n) == "text" else c for n, c in pairs})


# --- Columns to numbers -------------------------------------------------------


def codes_of(table: Table, column: str) -> tuple[list[str], Ints]:
    """The distinct values of a column, and the number of each row's; -1 for none."""
    values = table.columns[column]
    if hasattr(values, "combine_chunks"):
        joined = values.combine_chunks()
        own = joined.dictionary.to_pylist()
        codes = np.asarray(joined.indices.fill_null(-1)).astype(np.int64)
    else:
        if column in NAMES:
            _check_single(table, column, "a name")
        texts = [None if value is None else str(value) for value in values]
        own = list(dict.fromkeys(text for text in texts if text is not None))
        number: dict[str | None, int] = {None: -1, **{text: i for i, text in enumerate(own)}}
        codes = np.fromiter(map(number.__getitem__, texts), np.int64, len(texts))
    # White space around a name is not part of it.
    names: dict[str, int] = {}
    renumbered = [
        names.setdefault(name, len(names)) if name else -1 for name in map(str.strip, own)
    ]
    if renumbered != list(range(len(own))):
        codes = np.array([*renumbered, -1])[codes]
    return list(names), codes


def _check_single(table: Table, column: str, expected: str) -> None:
    """Refuse lists and objects where a single value is expected."""
    for row, value in enumerate(table.columns[column]):
        if isinstance(value, list | dict):
            raise _unfit(table, row, column, value, expected)


def _unfit(table: Table, row: int, column: str, value: object, expected: str) -> FormatError:
    return FormatError(f"{column} is ", Quote(value), where=table.where(row), expected=expected)


def whole_numbers(table: Table, column: str) -> tuple[Ints, Bools]:
    """A column of whole numbers, and which rows have none (value 0)."""
    values = table.columns[column]
    expected = "a whole number"
    if hasattr(values, "combine_chunks"):
        missing = values.is_null().to_numpy()
        numbers = (values.fill_null(0) if values.null_count else values).to_numpy()
        is_large = (numbers <= -_TOO_LARGE) | (numbers >= _TOO_LARGE)
        if is_large.any():
            row = int(np.argmax(is_large))
            raise _unfit(table, row, column, int(numbers[row]), expected)
        return numbers, missing
    _check_single(table, column, expected)
    blanks = (value is None or (isinstance(value, str) and not value.strip()) for value in values)
    missing = np.fromiter(blanks, bool, len(values))
    numbers = np.zeros(len(values), dtype=np.int64)
    for row in np.flatnonzero(~missing).tolist():
        number = _number(values[row])
        if number is None:
            raise _unfit(table, row, column, values[row], expected)
        numbers[row] = number
    return numbers, missing


@lru_cache(maxsize=2**16, typed=True)
def _number(value: object) -> int | None:
    """A value as a whole number; spreadsheets write some of them as 12.0."""
    if isinstance(value, str):
        return int(value.partition(".")[0]) if _WHOLE.fullmatch(value) else None
    if isinstance(value, bool) or not isinstance(value, int | float):
        return None
    return int(value) if abs(value) < _TOO_LARGE and value == int(value) else None
