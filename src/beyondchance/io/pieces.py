"""Cut tables into pieces with whole documents; a piece is read like a file.

A piece of text ends before the last document that begins in it, so that little is looked at to cut
a file. A piece of Parquet ends where the document ends that goes beyond its row groups.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import partial
from itertools import accumulate, chain, pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from beyondchance.errors import DataError, FormatError
from beyondchance.installing import required
from beyondchance.io.columns import Table, coded_columns, known_columns
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import opened_parquet, readable
from beyondchance.io.sources import Source, open_remote, parsed_json, too_large
from beyondchance.io.table_files import delimiter_of, first_line, head_rows, named_columns
from beyondchance.io.tagged import Layout
from beyondchance.messages import quotes

WINDOW = 2**16
"""Bytes at the end of a piece in which another document is looked for at first."""
_ROWS = 64
"""Rows in which a document most likely ends."""
_Rows = TypeVar("_Rows", bytes, Any)


@dataclass(frozen=True)
class Range:
    """Some bytes or rows of a file.

    Attributes
    ----------
    file : int
        The number of what was given.
    name : str
        The file, for messages.
    first, last : int
        Its first byte or row, and the one behind its last; all, if this is -1.
    kind : {"bytes", "rows", "packed"}
    source : int
        The number of the file in a folder.
    header : bytes
        What stands before the rows of every piece.
    before : int
        Lines of the file before these, for messages.
    texts_before : int
        Texts of the file before these, for those that are named by their numbers.
    layout : Layout, optional
        What all rows of a file of tokens and tags decide.
    """

    file: int
    name: str
    first: int = 0
    last: int = -1
    kind: str = "bytes"
    source: int = 0
    header: bytes = b""
    before: int = 0
    texts_before: int = 0
    layout: Layout | None = None

    def __str__(self) -> str:
        place = f", {self.kind} {self.first:,} to {self.last:,}" if self.last >= 0 else ""
        return self.name + place

    def read(self, source: Source) -> Source:
        """Return the bytes as a file of its own."""
        if self.last < 0:
            return replace(source, digest="")
        with source.opened() as file:
            file.seek(self.first)
            data = file.read(self.last - self.first)
        return some_of(
            source,
            self.header + data,
            before=self.before - self.header.count(b"\n"),
            texts_before=self.texts_before,
            layout=self.layout,
        )


def some_of(source: Source, data: bytes, **known: Any) -> Source:
    """Return some bytes of a file as a file of its own."""
    return replace(source, path=None, url="", member=data, digest="", **known)


def in_order(results: Iterable[Any], jobs: Iterable[Any]) -> Iterator[Any]:
    """Yield the results of jobs by their numbers, in whatever order they come."""
    waiting: dict[int, Any] = {}
    coming = iter(results)
    for job in jobs:
        while job.number not in waiting:
            result = next(coming, None)
            if result is None:
                raise DataError("the executor gave no result", where=str(job))
            waiting[result.number] = result
        yield waiting.pop(job.number)


# --- Whole documents ------------------------------------------------------------------


def whole_documents(
    blocks: Iterable[_Rows],
    size: int,
    join: Callable[[list[_Rows]], _Rows],
    last_change: Callable[[_Rows], int],
) -> Iterator[_Rows]:
    """Regroup rows so that no document is in two blocks.

    Parameters
    ----------
    blocks : iterable of bytes or pyarrow.Table
    size : int
        How long those that are yielded are, or a bit longer; as long as its document, if one is
        longer.
    join : function
    last_change : function
        Finds where the last document of a block begins; 0 if it is the only one.
    """
    held: list[_Rows] = []
    wanted = size
    for block in blocks:
        held.append(block)
        if sum(map(len, held)) < wanted:
            continue
        rows = join(held)
        cut = last_change(rows)
        if cut:
            yield rows[:cut]
        held = [rows[cut:]]
        wanted = size if cut else 2 * wanted
    if held:
        yield join(held)


def _last_change(
    size: int, window: int, documents_from: Callable[[int], Sequence[tuple[int, object]]]
) -> int:
    """Return where the last document begins; 0 if it is the only one.

    `documents_from` gives the places and the documents of rows from a place on.
    """
    while True:
        begin = max(size - window, 0)
        for (_, one), (place, other) in reversed([*pairwise(documents_from(begin))]):
            if one != other:
                return place
        if not begin:
            return 0
        window *= 4


def _document_column(names: Sequence[str], source: Source) -> int:
    """Return the column of documents, without which nothing says where to cut."""
    known = known_columns(Table(source, dict.fromkeys(names, ())), needed=()).columns
    if "document" not in known:
        raise FormatError(
            *("no column of documents among ", *quotes(names)),
            where=source.name,
            expected="one, to read the table in parts",
        )
    return [*known].index("document")


# --- Tables of text -------------------------------------------------------------------


class TextRows(NamedTuple):
    """How the rows of a table are told apart, and their documents.

    Attributes
    ----------
    header : bytes
        The row that names the columns, with what stands before it; nothing if there is none.
    document_of : function
        Finds the document of a row, from its bytes; None if it cannot be told.
    has_quotes : bool
        Whether a line can end within a row, because quotes enclose it.
    """

    header: bytes
    document_of: Callable[[bytes], str | None]
    has_quotes: bool

    def last_change(self, block: bytes) -> int:
        r"""Return where the last document of a block begins; 0 if it is the only one.

        The block begins with a row, and may end within one.

        Examples
        --------
        >>> rows = TextRows(b"", lambda row: row[:1].decode(), has_quotes=True)
        >>> rows.last_change(b"a,1\na,2\nb,1\nb,2\nb")
        8
        """
        data = np.frombuffer(block, dtype=np.uint8)
        quotes = np.zeros(0, dtype=np.int64)
        if self.has_quotes and b'"' in block:
            # Quotes amid other letters enclose nothing.
            quotes = np.flatnonzero(data == ord('"'))
            padded = np.concatenate([_EDGES[:1], data, _EDGES[:1]])
            near = np.isin(padded[quotes], _EDGES) | np.isin(padded[quotes + 2], _EDGES)
            quotes = quotes[near]

        def documents_from(begin: int) -> list[tuple[int, str | None]]:
            ends = begin + np.flatnonzero(data[begin:] == ord("\n"))
            # A line that ends within quotes goes on.
            ends = ends[np.searchsorted(quotes, ends) % 2 == 0]
            places = [*([] if begin else [0]), *(ends + 1).tolist()]
            return [
                (first, self.document_of(block[first : last - 1]))
                for first, last in pairwise(places)
                if last - 1 > first
            ]

        return _last_change(len(block), WINDOW, documents_from)


_EDGES = np.frombuffer(b'\n\r,;\t|"', dtype=np.uint8)
"""What is next to a quote that encloses a cell, or is written twice within it."""


def text_rows(source: Source, reading: Reading) -> TextRows:
    """Find out how the rows of a table are told apart.

    Raises
    ------
    FormatError
        If nothing says which document a row belongs to.
    """
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")):
        found = "UTF-16 is not read in parts"
        raise FormatError(found, where=source.name, remedy="save the file as UTF-8")
    line = first_line(source)
    if line.startswith("{"):
        data = b""
        with source.opened() as file:
            while b"\n" not in data.strip(b"\r\n") and (more := source.read(file, WINDOW)):
                data += more
        lines = enumerate(data.decode("utf-8-sig", "replace").split("\n"), start=1)
        number, text = next(item for item in lines if item[1].strip())
        keys = list(parsed_json(text.rstrip(), source.name, first_line=number))
        key = keys[_document_column(keys, source)]
        return TextRows(b"", lambda row: _value_of(row, key), has_quotes=False)
    delimiter, option = delimiter_of(source), reading.options["columns"]
    header = b""
    if option is None:
        rows = head_rows(source, delimiter)
        if not rows:
            problem = "the line of column names cannot be read"
            raise FormatError(problem, where=source.name, expected="names of columns")
        names = rows[0]
        begin = len(source.head) - len(source.head.lstrip(b"\r\n"))
        header = source.head[: source.head.find(b"\n", begin) + 1] or source.head
    else:
        names = list(named_columns(option))
    place = _document_column([name.strip() for name in names], source)
    return TextRows(header, lambda row: _cell_of(row, delimiter, place), has_quotes=True)


def _value_of(row: bytes, key: str) -> str | None:
    try:
        return str(json.loads(row)[key])
    except (ValueError, KeyError, TypeError):
        return None


def _cell_of(row: bytes, delimiter: str, place: int) -> str | None:
    text = row.decode("utf-8", "replace")
    if '"' not in text:
        cells = text.split(delimiter, place + 1)
    else:
        try:
            cells = next(csv.reader([text], delimiter=delimiter), [])
        except csv.Error:  # a quote within a cell, which encloses nothing
            return None
    return cells[place].strip() if len(cells) > place else None


def _text_blocks(source: Source, rows: TextRows, size: int) -> Iterator[tuple[int, int, bytes]]:
    """Read the rows of a table of text, so many bytes at a time, or a few more.

    Before each block come the bytes and the lines before it.
    """
    first, before = len(rows.header), rows.header.count(b"\n")
    with source.opened() as file:
        read = partial(source.read, file)
        read(first)
        blocks = chain([b""], iter(lambda: read(size), b""))
        for block in whole_documents(blocks, size, b"".join, rows.last_change):
            yield first, before, block
            first, before = first + len(block), before + block.count(b"\n")


def text_ranges(number: int, source: Source, reading: Reading, size: int) -> Iterator[Range]:
    """Cut a table of text into pieces; one that is compressed is a piece."""
    rows = text_rows(source, reading)
    if source.is_packed:
        yield Range(number, source.name, kind="packed")
        return
    for first, before, block in _text_blocks(source, rows, size):
        last = first + len(block)
        yield Range(number, source.name, first, last, header=rows.header, before=before)


def packed_pieces(source: Source, reading: Reading, size: int) -> Iterator[Source]:
    """Unpack a table, so many bytes at a time, or a few more."""
    rows = text_rows(source, reading)
    for _, before, block in _text_blocks(source, rows, size):
        own = before - rows.header.count(b"\n")
        yield some_of(source, rows.header + block, before=own)


# --- Parquet and Arrow ----------------------------------------------------------------


def parquet_ranges(number: int, source: Source, n_rows: int) -> Iterator[Range]:
    """Cut a Parquet file into pieces of row groups with so many rows, or a few more."""
    file = _opened(source)
    with readable(source):
        groups = [file.metadata.row_group(i) for i in range(file.metadata.num_row_groups)]
        document = _document_column(file.schema_arrow.names, source)
    largest = max((group.total_byte_size for group in groups), default=0)
    if largest > source.most:
        found = f"a row group takes {largest:,} bytes"
        raise too_large(source.name, found, most=source.most, size=largest)
    first = row = filled = 0
    for place, group in enumerate(groups):
        if row - first >= n_rows:
            with readable(source):
                last = row + _n_rows_going_on(file, filled, place, document)
            yield Range(number, source.name, first, last, "rows")
            first = last
        row += group.num_rows
        filled = place if group.num_rows else filled
    if first < row:
        yield Range(number, source.name, first, row, "rows")


def _n_rows_going_on(file: Any, before: int, place: int, document: int) -> int:
    """Return how many rows from a row group on have the document with which another ends."""
    columns = [file.schema_arrow.names[document]]
    values = file.read_row_group(before, columns=columns).column(0)
    last, n_rows = values[len(values) - 1].as_py(), 0
    for group in range(place, file.metadata.num_row_groups):
        for batch in file.iter_batches(batch_size=_ROWS, row_groups=[group], columns=columns):
            for name in batch.column(0).to_pylist():
                if name != last:
                    return n_rows
                n_rows += 1
    return n_rows


def parquet_tables(source: Source, piece: Range, n_rows: int) -> Iterator[tuple[int, Any]]:
    """Read the rows of a piece, so many at a time, and count the rows before them."""
    file = _opened(source)
    with readable(source):
        document = _document_column(file.schema_arrow.names, source)
        yield from _arrow_blocks(_tables(file, piece, n_rows), document, n_rows, piece.first)


def _tables(file: Any, piece: Range, n_rows: int) -> Iterator[Any]:
    arrow = _library("pyarrow")
    metadata = file.metadata
    sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
    bounds = [*pairwise(accumulate(sizes, initial=0))]
    groups = [i for i, (low, high) in enumerate(bounds) if low < piece.last and high > piece.first]
    row = bounds[groups[0]][0]
    for batch in file.iter_batches(batch_size=n_rows, row_groups=groups, use_threads=False):
        table = arrow.Table.from_batches([batch])
        table.validate(full=True)  # bytes that are no text, numbers of no value
        yield table[max(piece.first - row, 0) : max(piece.last - row, 0)]
        row += len(table)
        if row >= piece.last:
            return


def frame_tables(data: Any, n_rows: int, source: Source) -> Iterator[tuple[int, Any]]:
    """Read a data frame or an Arrow stream, so many rows at a time."""
    arrow = _library("pyarrow")
    reader = _reader(data, arrow)
    document = _document_column(reader.schema.names, source)
    # Views of strings cannot be compared.
    schema = arrow.schema(
        item.with_type(arrow.large_string()) if arrow.types.is_string_view(item.type) else item
        for item in reader.schema
    )
    tables = (
        arrow.Table.from_batches([batch])[first : first + n_rows].cast(schema)
        for batch in reader
        for first in range(0, batch.num_rows, n_rows)
    )
    yield from _arrow_blocks(tables, document, n_rows, 0)


def _arrow_blocks(
    tables: Iterator[Any], document: int, n_rows: int, before: int
) -> Iterator[tuple[int, Any]]:
    """Regroup rows so that no document is in two tables, and count the rows before each."""
    arrow = _library("pyarrow")

    def last_change(table: Any) -> int:
        values = table.column(document)
        return _last_change(
            len(values), _ROWS, lambda begin: [*enumerate(values[begin:].to_pylist(), begin)]
        )

    for table in whole_documents(tables, n_rows, arrow.concat_tables, last_change):
        if len(table):
            yield before, table
            before += len(table)


def _library(name: str) -> Any:
    return required(name, extra="parquet", purpose="reading Parquet and Arrow data in parts")


def _opened(source: Source) -> Any:
    # Documents are nearly as many as rows: their codes are made table by table.
    place = None if source.is_packed else (source.url and open_remote(source.url)) or source.place
    return opened_parquet(source, lambda schema: coded_columns(schema, "document"), place)


def _reader(data: Any, arrow: Any) -> Any:
    """Return a stream of record batches, of whatever data frame."""
    if hasattr(data, "__arrow_c_stream__"):
        return arrow.RecordBatchReader.from_stream(data)
    is_pandas = hasattr(data, "to_dict")
    return (arrow.Table.from_pandas(data) if is_pandas else arrow.table(data)).to_reader()


@dataclass(frozen=True)
class Spool:
    """A stream that was written to disk, and can be read as often as needed.

    Attributes
    ----------
    path : str
    """

    path: str

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """Return the rows as a stream."""
        arrow = _library("pyarrow")
        parquet = _library("pyarrow.parquet")
        file = parquet.ParquetFile(self.path)
        reader = arrow.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
        return reader.__arrow_c_stream__(requested_schema)


def lasting(data: Any, path: str) -> Any:
    """Return data that can be read several times: a stream that ends is written to a file."""
    is_stream = hasattr(data, "__arrow_c_stream__") and not hasattr(data, "__len__")
    if not is_stream or isinstance(data, Spool):
        return data
    arrow = _library("pyarrow")
    parquet = _library("pyarrow.parquet")
    reader = _reader(data, arrow)
    with parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return Spool(path)
