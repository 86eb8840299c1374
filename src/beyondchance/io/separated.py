"""Rows of cells with separators: CSV and TSV, with a header or with columns that are named."""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Iterator, Sequence
from contextlib import contextmanager
from functools import partial
from importlib import import_module
from threading import Lock

import numpy as np

from beyondchance.errors import FormatError, OptionError
from beyondchance.io.columns import (
    NAMES,
    NUMBERS,
    SPAN,
    WHOLE,
    Table,
    check_distinct,
    number_of,
    our_name,
)
from beyondchance.io.options import Reading
from beyondchance.io.sources import Source
from beyondchance.messages import Use, given, quotes
from beyondchance.tallies import left_out

IGNORED = "_"
"""What stands for a column to ignore, in the option ``columns``."""
_FULL = ("document", "annotator", *SPAN)
_TAG = re.compile(r"O|[BIELSUM]-\S+")
_BARE_LINES = 5
"""How many lines are looked at to recognise a table without a header."""
_QUICK_FROM = 2**20
"""Bytes from which on a file is read by pyarrow, if it is installed."""
_BLOCK = 2**22
"""Bytes that pyarrow reads at a time: each block numbers its names, which costs time to join."""
_COUNTED = 2**18
"""Bytes that are looked at together, so that what is found of them stays in the cache."""
_FIELD_LIMIT = Lock()


# --- Detection ----------------------------------------------------------------


def first_line(source: Source) -> str:
    """The first line that is not blank."""
    return source.head_text.lstrip("\n\r").partition("\n")[0].strip("\r")


def delimiter_of(source: Source) -> str:
    """The separator that divides the first line into most cells."""
    return max(",;\t", key=first_line(source).count)


def looks_bare(source: Source) -> bool:
    """Whether the first lines are rows of a table of spans, without a header.

    Columns of tokens and tags are not.
    """
    text = source.head_text.lstrip("\n\r")
    lines = text.split("\n", _BARE_LINES)
    # The last one may be cut off, or be all the others.
    lines = lines[:-1] if len(lines) > 1 else lines
    delimiter = delimiter_of(source)
    rows = [line.strip("\r").split(delimiter) for line in lines]
    width = len(rows[0])
    return all(
        len(row) == width > len(SPAN) - 1
        and _offsets_of(row) is not None
        and not any(map(_TAG.fullmatch, row))
        for row in rows
    )


def _offsets_of(row: Sequence[str]) -> int | None:
    """Where the last two neighbouring cells are that can be a start and an end."""
    for i in reversed(range(len(row) - 1)):
        if WHOLE.fullmatch(row[i]) and WHOLE.fullmatch(row[i + 1]):
            return i if (number_of(row[i]) or 0) <= (number_of(row[i + 1]) or 0) else None
    return None


# --- Names of columns ---------------------------------------------------------


def named_columns(value: object) -> tuple[str, ...]:
    """The option ``columns``: names, or a string of names with commas.

    Examples
    --------
    >>> named_columns("document, label,start,end") == named_columns(
    ...     ["document", "label", "start", "end"]
    ... )
    True
    """
    names = value.split(",") if isinstance(value, str) else value
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        raise OptionError(*given("columns", value), expected="names with commas between them")
    stripped = tuple(name.strip() for name in names)
    ours = [our_name(name) for name in stripped if name != IGNORED]
    for name in SPAN:
        if name not in ours:
            expected = f"{', '.join(SPAN)} among them"
            raise OptionError(*given("columns", value), expected=expected)
    if "" in stripped or len(set(ours)) < len(ours):
        expected = f"distinct names, or {IGNORED} for each column to ignore"
        raise OptionError(*given("columns", value), expected=expected)
    return stripped


def _header_of(source: Source, row: Sequence[str]) -> list[str]:
    """The names in the first row; one that holds data is refused, because anything fits it."""
    names = [cell.strip() for cell in row]
    is_known = any(our_name(name) in NAMES for name in names)
    if not is_known and any(map(WHOLE.fullmatch, names)):
        raise _bare(source, row)
    check_distinct(names, f"{source.name}:1")
    return names


def _bare(source: Source, row: Sequence[str]) -> FormatError:
    """The error for a table without a header, with the names that its columns may have."""
    ways = [Use("columns", ",".join(names)) for names in _possible_names(row)]
    tries = [piece for way in ways for piece in (" or ", way)][1:]
    return FormatError(
        *("no header: the first row is ", *quotes(row)),
        where=f"{source.name}:1",
        expected="the names of the columns",
        remedy=(
            *("add them as first row, or pass ", *tries),
            f", whichever is true; {IGNORED} ignores a column",
        ),
    )


def _possible_names(row: Sequence[str]) -> list[list[str]]:
    """What the columns of a table without a header may be."""
    place = _offsets_of(row)
    if place is None:
        return [[*_FULL]]
    ways = (
        [["label"]]
        if len(row) < len(_FULL) - 1
        else [["document", "label"], ["annotator", "label"]]
    )
    if len(row) >= len(_FULL):
        ways = [["document", "annotator", "label", *[IGNORED] * (len(row) - len(_FULL))]]
    return [[*others[:place], "start", "end", *others[place:]] for others in ways]


def _checked_names(source: Source, row: Sequence[str], named: Sequence[str]) -> Sequence[str]:
    """The names that were given for the columns of a table without a header."""
    if len(row) != len(named):
        raise FormatError(
            *(f"the first row has {len(row)} cells, ", *quotes(row), ", and "),
            *(Use("columns", is_name=True), f" names {len(named)}"),
            where=f"{source.name}:1",
            expected="a name for each",
            remedy=f"{IGNORED} ignores a column",
        )
    cells = dict(zip(map(our_name, named), row, strict=True))
    numbers = [cells[name] for name in NUMBERS if name in cells]
    if any(cell.strip() and not WHOLE.fullmatch(cell) for cell in numbers) and not any(
        map(WHOLE.fullmatch, numbers)
    ):
        raise FormatError(
            *("the first row is a header: ", *quotes(row)),
            where=f"{source.name}:1",
            expected=("data, because ", Use("columns", is_name=True), " names the columns"),
            remedy=("remove the header, or leave ", Use("columns", is_name=True), " out"),
        )
    return named


# --- Rows to columns ----------------------------------------------------------


def read_separated(source: Source, reading: Reading, named: Sequence[str] = ()) -> Table:
    """Read CSV or TSV; `named` are the columns of a file without a header."""
    return _quick(source, named) or _row_by_row(source, reading, named)


def _row_by_row(source: Source, reading: Reading, named: Sequence[str]) -> Table:
    rows = csv_rows(source)
    if not rows:
        raise FormatError(
            "holds no rows", where=source.name, expected="a header and a row for each span"
        )
    _, first = rows[0]
    if named:
        names = _checked_names(source, first, named)
    else:
        names = _header_of(source, first)
        # Files that were put below one another have headers in the middle.
        data = (
            [row for row in rows if row[1] != first] if not reading.options["strict"] else rows[1:]
        )
        if len(data) < len(rows) - 1:
            reading.skipped[left_out("rows that repeat the header")] += len(rows) - 1 - len(data)
        rows = data
    columns = {
        name: [row[i] or None for _, row in rows] for i, name in enumerate(names) if name != IGNORED
    }
    return Table(source, columns, lambda: [line for line, _ in rows])


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
    delimiter = delimiter or delimiter_of(source)
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
        where = f"{source.name}:{line + 1 + source.before}"
        raise FormatError(f"not valid CSV ({error})", where=where) from None
    for begins, row in rows:
        if len(row) != len(rows[0][1]):
            raise FormatError(
                f"found {len(row)} columns",
                where=f"{source.name}:{begins + source.before}",
                expected=f"{len(rows[0][1])}, as in the first row",
            )
    return rows


def _quick(source: Source, named: Sequence[str] = ()) -> Table | None:
    """Read a large file by pyarrow; None where that is missing or objects to anything.

    What it objects to is found again, and named, by reading row by row.
    """
    data, delimiter = source.data, delimiter_of(source)
    if len(data) < _QUICK_FROM or not _is_plain(data):
        return None
    begin = 0 if named else max(data.find(b"\n"), 0)
    has_quotes = data.find(b'"', begin) >= 0
    n_cells = _enclosed_cells(data, begin, delimiter) if has_quotes else 0
    header = first_line(source).split(delimiter)
    own = [name.removeprefix('"').removesuffix('"') for name in header]
    names = [f"{IGNORED} {i}" if name == IGNORED else name for i, name in enumerate(named or own)]
    if n_cells is None or not (named or any(our_name(name) in NAMES for name in own)):
        return None
    try:
        arrow, arrow_csv = import_module("pyarrow"), import_module("pyarrow.csv")
        coded = arrow.dictionary(arrow.int32(), arrow.string())
        # No position is beyond 32 bits; what is gets its error row by row.
        special = {"text": arrow.string(), **dict.fromkeys(NUMBERS, arrow.int32())}
        table = arrow_csv.read_csv(
            arrow.BufferReader(data),
            read_options=arrow_csv.ReadOptions(
                column_names=names if named else None, block_size=_BLOCK
            ),
            parse_options=arrow_csv.ParseOptions(delimiter=delimiter),
            convert_options=arrow_csv.ConvertOptions(
                column_types={name: special.get(our_name(name), coded) for name in names},
                strings_can_be_null=True,
                null_values=[""],
            ),
        ).unify_dictionaries()
    except Exception:
        return None
    # There may be rows of nothing but separators, which reading row by row leaves out.
    may_have_blanks = all(column.null_count for column in table.columns)
    is_expected = table.column_names == names == [name.strip() for name in names]
    has_others = has_quotes and n_cells != len(table) * len(names)
    if may_have_blanks or not is_expected or has_others or len(set(names)) < len(names):
        return None
    columns = {
        name: column.to_pylist() if our_name(name) == "text" else column
        for name, column in zip(named or names, table.columns, strict=True)
        if name != IGNORED
    }
    return Table(source, columns, partial(_lines_of, source, len(table), has_header=not named))


def _is_plain(data: bytes) -> bool:
    """Whether pyarrow takes the same cells for numbers; it would read 0x1F as one."""
    # To look for one letter takes a twentieth of the time.
    return b"\0" not in data and not any(
        letter in data and b"0" + letter in data for letter in (b"x", b"X")
    )


def _enclosed_cells(data: bytes, begin: int, delimiter: str) -> int | None:
    """The number of cells from a place on, if all that have quotes are enclosed in two.

    None where this is not so: pyarrow would read "1"2 as 12. Separators and ends of lines are
    taken to be no part of cells. That is true if pyarrow finds as many cells; then a cell that
    begins with a quote has another one, and so the three numbers are in proportion only if it
    has no more, the second is its end, and no other cell has any.
    """
    has_returns = b"\r" in data and data.count(b"\r") != data.count(b"\r\n")
    last = data[max(data.rfind(b"\n", 0, -1), data.rfind(delimiter.encode())) + 1 :]
    # It would take the end of the file for the end of a cell, too.
    if has_returns or not data.endswith(b"\n") or last.count(b'"') not in {0, 2}:
        return None
    n_quotes = n_cells = n_closing = 0
    n_opening = int(begin == 0 and data.startswith(b'"'))
    for first in range(begin, len(data) - 1, _COUNTED):
        # Pieces overlap by one byte, so that each byte but the last is followed by its neighbour.
        n_bytes = min(_COUNTED + 1, len(data) - first)
        piece = np.frombuffer(data, dtype=np.uint8, count=n_bytes, offset=first)
        is_quote = piece == ord('"')
        is_border = (piece == ord(delimiter)) | (piece == ord("\n"))
        n_quotes += int(np.count_nonzero(is_quote[:-1]))
        n_opening += int(np.count_nonzero(is_border[:-1] & is_quote[1:]))
        n_cells += int(np.count_nonzero(is_border[1:]))
        is_end = is_border[1:] | (piece[1:] == ord("\r"))
        n_closing += int(np.count_nonzero(is_quote[:-1] & is_end))
    return n_cells if n_quotes == 2 * n_opening == 2 * n_closing else None


def _lines_of(source: Source, n_rows: int, *, has_header: bool) -> Sequence[int]:
    """The line of each row; pyarrow does not tell."""
    text, before = source.text, int(has_header)
    is_usual = text.count("\r") == text.count("\r\n")
    if is_usual and text.count("\n", 0, len(text) - 1) == n_rows + before - 1:
        return range(1 + before, 1 + before + n_rows)
    return [line for line, _ in csv_rows(source)][before:]
