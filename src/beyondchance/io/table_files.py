"""Files that are tables of spans: CSV, TSV, JSON Lines or Parquet."""

from __future__ import annotations

import re
from collections.abc import Sequence
from importlib import import_module
from typing import Any

from beyondchance.io.columns import (
    NUMBERS,
    SPAN,
    Table,
    arrow_table,
    check_filled,
    is_string,
    known_columns,
    named_twice,
    our_name,
)
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import check_memory, readable
from beyondchance.io.registry import required
from beyondchance.io.separated import (
    first_line,
    head_rows,
    looks_bare,
    named_columns,
    read_separated,
)
from beyondchance.io.sources import Source, is_parquet, parsed_json
from beyondchance.io.values import refusal

_KEY = re.compile(r'[{,]\s*"(\w+)"\s*:')
_QUICK_FROM = 2**20
"""Bytes from which on JSON Lines are read by pyarrow, if it is installed."""
_BLOCK = 2**22
"""Bytes that pyarrow reads at a time; a row that is longer is left to be read row by row."""


def looks_like_spans(source: Source) -> bool:
    """Whether there is a header, or JSON keys, with the columns of a table of spans."""
    if is_parquet(source):
        return True
    line = first_line(source)
    if line.startswith("{"):
        return {*SPAN, "document"} <= set(map(our_name, _KEY.findall(line)))
    header = {our_name(cell.strip()) for row in head_rows(source) for cell in row}
    return header.issuperset(SPAN) or looks_bare(source)


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
    elif source.head_text.lstrip().startswith("{"):
        table = _quick_json_lines(source) or _json_lines(source)
    else:
        return known_columns(read_separated(source, reading, named), needed)
    if named:
        raise named_twice(table)
    return known_columns(table, needed)


def _parquet(source: Source) -> Table:
    arrow = required("pyarrow", extra="parquet", purpose="reading Parquet")
    parquet = required("pyarrow.parquet", extra="parquet", purpose="reading Parquet")
    with readable(source):
        file = parquet.ParquetFile(arrow.BufferReader(source.data))
        coded = [
            name
            for name, kind in zip(file.schema_arrow.names, file.schema_arrow.types, strict=True)
            if our_name(name) not in {*NUMBERS, "text"} and is_string(kind, arrow.types)
        ]
        # Names as codes: to make strings of them, only to count them, takes four times as long.
        check_memory(source, file, coded=coded)
        options = {"metadata": file.metadata, "read_dictionary": coded}
        table = parquet.ParquetFile(arrow.BufferReader(source.data), **options).read()
        table.validate(full=True)  # bytes that are no text, numbers of no value
    return arrow_table(table, source, arrow)


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


def _quick_json_lines(source: Source) -> Table | None:
    """Read a large file by pyarrow; None where that is missing or objects to anything.

    All rows must have the keys and the types of the first. What pyarrow objects to, such as keys
    that occur twice, is found again, and named, by reading row by row.
    """
    data = source.data
    if len(data) < _QUICK_FROM:
        return None
    try:
        arrow, arrow_json = import_module("pyarrow"), import_module("pyarrow.json")
        first = parsed_json(data[: data.find(b"\n")].decode(), source.name)
        kinds = {name: _kind_of(name, value, arrow) for name, value in first.items()}
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
    except Exception:
        return None
    # It takes several objects in a line, and objects over several lines, in which no } is
    # followed by {.
    n_lines = data.count(b"\n") + (not data.endswith(b"\n"))
    if not len(table) == n_lines == data.count(b"}\n{") + 1:
        return None
    return arrow_table(table, source, arrow)


def _kind_of(name: str, value: object, arrow: Any) -> Any:
    """The type of pyarrow that all values of a key must have to be read by it."""
    if our_name(name) in NUMBERS:
        return arrow.int32()  # no position is beyond; what is gets its error row by row
    return {str: arrow.string(), type(None): arrow.string(), int: arrow.int64()}[type(value)]
