"""Files that are tables of spans: CSV, TSV, JSON Lines or Parquet.

Large files are read by pyarrow where it is installed. What it objects to is found again, and
named, by reading row by row; both ways find the same cells.
"""

from __future__ import annotations

import csv
import io
import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from dataclasses import replace
from functools import partial
from importlib import import_module
from itertools import islice
from threading import Lock
from typing import Any

from beyondchance.checks import repeated
from beyondchance.errors import DataError, FormatError, OptionError
from beyondchance.io.columns import (
    NAMES,
    NUMBERS,
    SPAN,
    WHOLE,
    Table,
    arrow_table,
    check_distinct,
    check_filled,
    coded_columns,
    known_columns,
    named_twice,
    number_of,
    our_name,
)
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import check_memory, opened_parquet, readable
from beyondchance.io.sources import Source, is_parquet, once, parsed_json
from beyondchance.io.values import refusal
from beyondchance.messages import Use, given, quotes
from beyondchance.tallies import left_out

IGNORED = "_"
"""What stands for a column to ignore, in the option ``columns``."""
_FIELD_LIMIT = Lock()
_MOST_ROWS = 400

Columns = Mapping[str, tuple[str, ...]]
"""What is looked for in a kind of table, and the names that a column of it can have."""


# --- Rows of cells with separators ---------------------------------------------


def first_line(source: Source) -> str:
    """Return the first line that is not blank."""
    return source.head_text.lstrip("\n\r").partition("\n")[0].strip("\r")


def delimiter_of(source: Source, signs: str = ",;\t") -> str:
    """Return the separator that divides the first line into most cells."""
    return max(signs, key=first_line(source).count)


def head_rows(source: Source, delimiter: str = "", most: int = 1) -> list[list[str]]:
    """Cut the first lines of a file into cells, to recognise a format by."""
    return _first_rows(source, delimiter or delimiter_of(source))[:most]


@once
def _first_rows(source: Source, delimiter: str) -> list[list[str]]:
    """Cut the head of a file into rows, up to one that is not CSV or may be cut off."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows += islice(_cut(source.head_text.lstrip("\n\r"), delimiter), _MOST_ROWS)
    is_cut = source.is_longer_than_head and 1 < len(rows) < _MOST_ROWS
    return rows[:-1] if is_cut else rows


def _cut(text: str, delimiter: str, **options: Any) -> Any:
    """Cut a text into rows of cells: the one place where CSV is read."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **options)


def kind_of(row: Sequence[str], kinds: Sequence[Columns]) -> Columns | None:
    """Return the first of several kinds of tables all of whose columns a header names.

    Examples
    --------
    >>> kind_of(["Seg ID", "text"], [{"segment": ("seg_id", "number")}])
    {'segment': ('seg_id', 'number')}
    """
    names = set(_names_in(row))
    found = (kind for kind in kinds if all(names.intersection(also) for also in kind.values()))
    return next(found, None)


def _names_in(row: Sequence[str]) -> list[str]:
    """Return the names of columns; files differ in capitals, and in blanks for underscores."""
    return [name.strip().lower().replace(" ", "_") for name in row]


def declared_rows(
    source: Source, kinds: Sequence[Columns], delimiter: str, *, has_quotes: bool = True
) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Yield the place of each row of a table, its declared cells, and its others by their names.

    A table that is of no kind is expected to be of the last one.
    """
    (_, header), *rows = csv_rows(source, delimiter, has_quotes=has_quotes) or [(1, [])]
    names, kind = _names_in(header), kind_of(header, kinds)
    if kind is None or repeated(filter(None, names)):
        raise refusal(
            f"{source.name}:1",
            "the columns are {}",
            quotes(names),
            expected=f"{', '.join(kinds[-1])}, each once, divided by {delimiter!r}",
        )
    for line, cells in rows:
        row = dict(zip(names, cells, strict=False))
        declared = {
            what: row.pop(next(name for name in also if name in row)) for what, also in kind.items()
        }
        yield f"{source.name}:{line}", declared, row


def named_columns(value: object) -> tuple[str, ...]:
    """Return the names of the option ``columns``: names, or a string of names with commas.

    Examples
    --------
    >>> named_columns("document, label,start,end") == named_columns(
    ...     ["document", "label", "start", "end"]
    ... )
    True
    """
    names = value.split(",") if isinstance(value, str) else value
    expected = "names with commas between them"
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
        stripped = tuple(name.strip() for name in names)
        ours = [our_name(name) for name in stripped if name != IGNORED]
        expected = f"distinct names, or {IGNORED} for each column to ignore"
        if not set(SPAN) <= set(ours):
            expected = f"{', '.join(SPAN)} among them"
        elif all(stripped) and not repeated(ours):
            return stripped
    raise OptionError(*given("columns", value), expected=expected)


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


def csv_rows(
    source: Source, delimiter: str = "", *, has_quotes: bool = True
) -> list[tuple[int, list[str]]]:
    """Return the rows and the lines where they begin; all have as many cells as the first.

    Where quotes are part of the cells, columns whose name is a remark may be missing in rows.
    """
    text, rows, n_spare = source.text, [], 0
    is_sheet = source.ending.startswith(".xls")  # whose rows people know by their numbers
    if has_quotes:
        reader = _cut(text, delimiter or delimiter_of(source), strict=True)
        line = 0
        try:
            with _fields_up_to(len(text)):
                for row in reader:
                    # A row may go over several lines, and the reader is at the end of the last.
                    begins, line = line + 1, line + 1 if is_sheet else reader.line_num
                    if any(row):  # spreadsheets leave rows of nothing but separators behind
                        rows.append((begins, row))
        except csv.Error as error:
            where = f"{source.name}:{line + 1 + source.before}"
            raise FormatError(f"not valid CSV ({error})", where=where) from None
    else:
        lines = enumerate(source.lines(), start=1)
        rows = [(number, line.split(delimiter)) for number, line in lines if line.strip()]
        n_spare = sum(name.startswith("#") for _, names in rows[:1] for name in names)
    for begins, row in rows:
        if not -n_spare <= len(row) - len(rows[0][1]) <= 0:
            raise FormatError(
                f"found {len(row)} columns",
                where=f"{source.name}:{begins + source.before}",
                expected=f"{len(rows[0][1]) - n_spare}, as in the first row",
            )
    return rows


_FULL = ("document", "annotator", *SPAN)
_KEY = re.compile(r'[{,]\s*"(\w+)"\s*:')
_TAG = re.compile(r"O|[BIELSUM]-\S+")
_BARE_LINES = 5
"""How many lines are looked at to recognise a table without a header."""
_QUICK_FROM = 2**20
"""Bytes from which on a file is read by pyarrow, if it is installed."""
_BLOCK = 2**22
"""Bytes that pyarrow reads at a time: each block numbers its names, which costs time to join."""
_CELL = '^("[^"]*"|[^"]*)$'
"""A cell that is enclosed in quotes, or has none; for pyarrow."""


# --- Detection ----------------------------------------------------------------


def looks_like_spans(source: Source) -> bool:
    """Return whether there is a header, or JSON keys, with the columns of a table of spans."""
    if is_parquet(source):
        return True
    line = first_line(source)
    if line.startswith("{"):
        return {*SPAN, "document"} <= set(map(our_name, _KEY.findall(line)))
    header = {our_name(cell.strip()) for row in head_rows(source) for cell in row}
    return header.issuperset(SPAN) or _looks_bare(source)


def _looks_bare(source: Source) -> bool:
    """Return whether the first lines are rows of a table of spans, without a header.

    Columns of tokens and tags are not.
    """
    rows = head_rows(source, most=_BARE_LINES)
    return bool(rows) and all(
        len(row) == len(rows[0]) >= len(SPAN)
        and _offsets_of(row) is not None
        and not any(map(_TAG.fullmatch, row))
        for row in rows
    )


def _offsets_of(row: Sequence[str]) -> int | None:
    """Return where the last two neighbouring cells are that can be a start and an end."""
    for i in reversed(range(len(row) - 1)):
        if WHOLE.fullmatch(row[i]) and WHOLE.fullmatch(row[i + 1]):
            return i if (number_of(row[i]) or 0) <= (number_of(row[i + 1]) or 0) else None
    return None


# --- Reading ------------------------------------------------------------------


def read_table(source: Source, reading: Reading, *, needed: Sequence[str] = SPAN) -> Table:
    """Read one table, whatever kind of file it is.

    The option ``columns`` names the columns of a table of spans, not of documents.
    """
    option = reading.options["columns"] if needed == SPAN else None
    named = () if option is None else named_columns(option)
    if source.rows is not None:
        table = arrow_table(source.rows, source, import_module("pyarrow"))
    elif is_parquet(source):
        table = _parquet(source)
    elif source.beginning.startswith("{"):
        table = _quick(source, _arrow_json_lines) or _json_lines(source)
    else:
        return known_columns(_separated(source, reading, named), needed)
    if named:
        raise named_twice(table)
    return known_columns(table, needed)


def _quick(source: Source, read: Callable[[Source, Any], Any]) -> Table | None:
    """Read a large file by pyarrow; None where that is missing or objects to anything."""
    if len(source.data) < _QUICK_FROM:
        return None
    try:
        arrow = import_module("pyarrow")
        return arrow_table(read(source, arrow), source, arrow)
    except Exception:
        return None


def _parquet(source: Source) -> Table:
    # Names as codes: to make strings of them, only to count them, takes four times as long.
    file = opened_parquet(source, coded_columns)
    with readable(source):
        check_memory(source, file, coded=coded_columns(file.schema_arrow))
        table = file.read()
        table.validate(full=True)  # bytes that are no text, numbers of no value
    return arrow_table(table, source, import_module("pyarrow"))


def _json_lines(source: Source) -> Table:
    rows, lines = [], []
    for number, row in source.json_lines():
        if not isinstance(row, dict):
            raise refusal(f"{source.name}:{number}", "found {}", row, expected="an object")
        rows.append(row)
        lines.append(number - source.before)
    names = dict.fromkeys(key for row in rows for key in row)
    check_filled(len(names), len(rows), sum(map(len, rows)), source.name)
    return Table(source, {name: [row.get(name) for row in rows] for name in names}, lambda: lines)


def _arrow_json_lines(source: Source, arrow: Any) -> Any:
    """Read JSON Lines by pyarrow; all rows must have the keys and the types of the first."""
    data, arrow_json = source.data, import_module("pyarrow.json")
    first = parsed_json(data[: data.find(b"\n")].decode(), source.name)
    kinds = {
        # No position is beyond 32 bits; what is gets its error row by row.
        name: arrow.int32()
        if our_name(name) in NUMBERS
        else {str: arrow.string(), type(None): arrow.string(), int: arrow.int64()}[type(value)]
        for name, value in first.items()
    }
    table = arrow_json.read_json(
        arrow.BufferReader(data),
        read_options=arrow_json.ReadOptions(block_size=_BLOCK),
        parse_options=arrow_json.ParseOptions(
            explicit_schema=arrow.schema(kinds), unexpected_field_behavior="error"
        ),
    )
    table.validate(full=True)  # bytes that are no text
    n_given = sum(len(column) - column.null_count for column in table.columns)
    check_filled(len(kinds), len(table), n_given)
    # It takes several objects in a line, and objects over several lines, in which no } is
    # followed by {.
    n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if not len(table) == n_lines == data.count(b"}\n{") + 1:
        raise ValueError("not one object in each line")
    return table


# --- Separated values ---------------------------------------------------------


def _separated(source: Source, reading: Reading, named: Sequence[str]) -> Table:
    """Read CSV or TSV; `named` are the columns of a file without a header."""
    header = [name for row in head_rows(source) for name in row]
    names = [
        f"{IGNORED} {i}" if name == IGNORED else name for i, name in enumerate(named or header)
    ]
    if named or any(our_name(name) in NAMES for name in names):
        has_header = not named
        table = _quick(source, partial(_arrow_separated, names, has_header=has_header))
        if table is not None:
            columns = zip(named or names, table.columns.values(), strict=True)
            find_lines = partial(_lines_of, source, len(table), has_header=has_header)
            kept = {name: values for name, values in columns if name != IGNORED}
            return replace(table, columns=kept, find_lines=find_lines)
    return _row_by_row(source, reading, named)


def _bare(source: Source, row: Sequence[str]) -> DataError:
    """Refuse a table without a header, with the names that its columns may have."""
    ways: list[list[str]] = [["document", "label"], ["annotator", "label"]]
    if len(row) < len(_FULL) - 1:
        ways = [["label"]]
    elif len(row) >= len(_FULL):
        ways = [["document", "annotator", "label", *[IGNORED] * (len(row) - len(_FULL))]]
    place = _offsets_of(row)
    named = [[*others[:place], "start", "end", *others[place:]] for others in ways]
    tries = [Use("columns", ",".join(names)) for names in ([_FULL] if place is None else named)]
    return refusal(
        f"{source.name}:1",
        "no header: the first row is {}",
        quotes(row),
        expected="the names of the columns",
        remedy=(
            *("add them as first row, or pass ", tries[0]),
            *(piece for use in tries[1:] for piece in (" or ", use)),
            f", whichever is true; {IGNORED} ignores a column",
        ),
    )


def _names_of(source: Source, row: Sequence[str], named: Sequence[str]) -> Sequence[str]:
    """Return the names in the first row, or those that were given for a table without a header.

    A first row that holds data is refused, because anything fits it.
    """
    where, option = f"{source.name}:1", Use("columns", is_name=True)
    if not named:
        names = [cell.strip() for cell in row]
        if NAMES.keys().isdisjoint(map(our_name, names)) and any(map(WHOLE.fullmatch, names)):
            raise _bare(source, row)
        check_distinct(names, where)
        return names
    if len(row) != len(named):
        raise refusal(
            where,
            f"the first row has {len(row)} cells, {{}}, and {{}} names {len(named)}",
            *(quotes(row), (option,)),
            expected="a name for each",
            remedy=f"{IGNORED} ignores a column",
        )
    pairs = zip(map(our_name, named), row, strict=True)
    numbers = [cell for name, cell in pairs if name in NUMBERS and cell.strip()]
    if numbers and not any(map(WHOLE.fullmatch, numbers)):
        raise refusal(
            where,
            "the first row is a header: {}",
            quotes(row),
            expected=("data, because ", option, " names the columns"),
            remedy=("remove the header, or leave ", option, " out"),
        )
    return named


def _row_by_row(source: Source, reading: Reading, named: Sequence[str]) -> Table:
    rows = csv_rows(source)
    if not rows:
        expected = "a header and a row for each span"
        raise FormatError("holds no rows", where=source.name, expected=expected)
    _, first = rows[0]
    names = _names_of(source, first, named)
    if not named:
        # Files that were put below one another have headers in the middle.
        data = rows[1:] if reading.is_strict else [row for row in rows if row[1] != first]
        if n_headers := len(rows) - 1 - len(data):
            reading.skipped[left_out("rows that repeat the header")] += n_headers
        rows = data
    columns = {
        name: [row[i] or None for _, row in rows] for i, name in enumerate(names) if name != IGNORED
    }
    return Table(source, columns, lambda: [line for line, _ in rows])


def _arrow_separated(names: Sequence[str], source: Source, arrow: Any, *, has_header: bool) -> Any:
    """Read CSV by pyarrow."""
    data, arrow_csv = source.data, import_module("pyarrow.csv")
    # It would read 0x1F as a number; to look for one letter takes a twentieth of the time.
    is_plain = b"\0" not in data and not any(x in data and b"0" + x in data for x in (b"x", b"X"))
    if not is_plain or repeated(names) or list(names) != [name.strip() for name in names]:
        raise ValueError("not plain")
    coded = arrow.dictionary(arrow.int32(), arrow.string())
    # No position is beyond 32 bits; what is gets its error row by row.
    special = {"text": arrow.string(), **dict.fromkeys(NUMBERS, arrow.int32())}
    has_quotes = data.find(b'"', max(data.find(b"\n"), 0) if has_header else 0) >= 0
    table = arrow_csv.read_csv(
        arrow.BufferReader(data),
        read_options=arrow_csv.ReadOptions(
            column_names=names, skip_rows=int(has_header), block_size=_BLOCK
        ),
        # Cells are taken with their quotes, of which pyarrow would allow too many.
        parse_options=arrow_csv.ParseOptions(delimiter=delimiter_of(source), quote_char=False),
        convert_options=arrow_csv.ConvertOptions(
            column_types={
                name: coded if has_quotes else special.get(our_name(name), coded) for name in names
            },
            strings_can_be_null=True,
            null_values=["", '""'],
        ),
    )
    # There may be rows of nothing but separators, which reading row by row leaves out.
    if all(column.null_count for column in table.columns):
        raise ValueError("perhaps rows without a cell")
    if not has_quotes:
        return table
    kinds = [special.get(our_name(name), arrow.string()) for name in names]
    columns = [_unquoted(*pair, arrow) for pair in zip(table.columns, kinds, strict=True)]
    return arrow.table(columns, names)


def _unquoted(column: Any, kind: Any, arrow: Any) -> Any:
    """Return a column without the quotes that enclose cells; refuse cells with other quotes.

    A cell with a separator or a line break in it was cut, so that its parts have one quote each.
    """
    compute, chunks = import_module("pyarrow.compute"), []
    for chunk in column.chunks:
        cells = chunk.dictionary
        if not compute.all(compute.match_substring_regex(cells, _CELL)).as_py():
            raise ValueError("quotes within cells")
        bare = compute.utf8_trim(cells, '"').cast(kind)
        chunks.append(arrow.DictionaryArray.from_arrays(chunk.indices, bare))
    return arrow.chunked_array(chunks)


def _lines_of(source: Source, n_rows: int, *, has_header: bool) -> Sequence[int]:
    """Return the line of each row; pyarrow does not tell."""
    text, before = source.text, int(has_header)
    is_usual = text.count("\r") == text.count("\r\n")
    if is_usual and text.count("\n", 0, len(text) - 1) == n_rows + before - 1:
        return range(1 + before, 1 + before + n_rows)
    return [line for line, _ in csv_rows(source)][before:]
