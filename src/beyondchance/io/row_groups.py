"""Parquet files and Arrow streams, batch by batch, each with whole documents."""

from __future__ import annotations

from collections.abc import Callable, Iterator
from dataclasses import dataclass
from itertools import chain
from typing import Any

from beyondchance.installing import required
from beyondchance.io.columns import NUMBERS, Table, is_string, known_columns, our_name
from beyondchance.io.cutting import Piece, only_column
from beyondchance.io.parquet_rows import readable
from beyondchance.io.remote import open_remote
from beyondchance.io.sources import Source, too_large

_PURPOSE = "reading Parquet and Arrow data in parts"


def pieces(number: int, source: Source, n_rows: int) -> Iterator[Piece]:
    """Cut a file into stretches of row groups with so many rows, or a few more."""
    with readable(source):
        file = _opened(source)
        metadata = file.metadata
        sizes = [metadata.row_group(i).num_rows for i in range(metadata.num_row_groups)]
        weights = [metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups)]
    _document_column(file.schema_arrow.names, source)
    if weights and max(weights) > source.most:
        found = f"a row group takes {max(weights):,} bytes"
        raise too_large(source.name, found, most=source.most, size=max(weights))
    first = begun = 0
    for group, size in enumerate(sizes):
        begun += size
        if begun >= n_rows or group == len(sizes) - 1:
            yield Piece(number, source.name, first, group + 1, kind="groups")
            first, begun = group + 1, 0


def batches(source: Source, piece: Piece, n_rows: int) -> Iterator[tuple[int, Any]]:
    """The rows of a stretch, so many at a time, and how many rows stand before them.

    The document that the stretch before ends with belongs to that one, and the document that this
    one ends with is read to its end.
    """
    with readable(source):
        file = _opened(source)
        names = file.schema_arrow.names
        document = _document_column(names, source)
        metadata = file.metadata
        before = sum(metadata.row_group(i).num_rows for i in range(piece.first))
        begins = _last_document(file, piece.first - 1, document) if piece.first else None
        n_own = sum(metadata.row_group(i).num_rows for i in range(piece.first, piece.last))
        # Those behind the stretch one by one: all at once, a reader of each would be made.
        groups = [list(range(piece.first, piece.last))]
        groups += [[group] for group in range(piece.last, metadata.num_row_groups)]
        tables = chain.from_iterable(_tables(file, some, n_rows) for some in groups)
        own = _own_rows(tables, document, begins, before, before + n_own)
        yield from _whole_documents(own, document)


def frame_batches(data: Any, n_rows: int, source: Source) -> Iterator[tuple[int, Any]]:
    """The rows of a data frame or an Arrow stream, so many at a time."""
    arrow = required("pyarrow", extra="parquet", purpose=_PURPOSE)
    reader = _reader(data, arrow)
    document = _document_column(reader.schema.names, source)
    # Views of strings cannot be compared.
    schema = arrow.schema(
        item.with_type(arrow.large_string()) if arrow.types.is_string_view(item.type) else item
        for item in reader.schema
    )

    def tables() -> Iterator[Any]:
        for batch in reader:
            table = arrow.Table.from_batches([batch])
            for first in range(0, batch.num_rows, n_rows):
                yield table.slice(first, n_rows).cast(schema)

    filled = _filled(tables(), n_rows, arrow)
    yield from _whole_documents(_own_rows(filled, document, None, 0, None), document)


@dataclass(frozen=True)
class Spool:
    """A stream that was written to disk, and can be read as often as needed.

    Attributes
    ----------
    path : str
    """

    path: str

    def __arrow_c_stream__(self, requested_schema: Any = None) -> Any:
        """The rows as a stream."""
        arrow = required("pyarrow", extra="parquet", purpose=_PURPOSE)
        parquet = required("pyarrow.parquet", extra="parquet", purpose=_PURPOSE)
        file = parquet.ParquetFile(self.path)
        reader = arrow.RecordBatchReader.from_batches(file.schema_arrow, file.iter_batches())
        return reader.__arrow_c_stream__(requested_schema)


def lasting(data: Any, path: str) -> Any:
    """Data that can be read several times: a stream that ends is written to a file."""
    if not hasattr(data, "__arrow_c_stream__") or hasattr(data, "__len__"):
        return data
    if isinstance(data, Spool):
        return data
    arrow = required("pyarrow", extra="parquet", purpose=_PURPOSE)
    parquet = required("pyarrow.parquet", extra="parquet", purpose=_PURPOSE)
    reader = _reader(data, arrow)
    with parquet.ParquetWriter(path, reader.schema) as writer:
        for batch in reader:
            writer.write_batch(batch)
    return Spool(path)


def _filled(tables: Iterator[Any], n_rows: int, arrow: Any) -> Iterator[Any]:
    """Small tables put together, so that each has about so many rows."""
    waiting: list[Any] = []
    for table in tables:
        waiting.append(table)
        if sum(map(len, waiting)) >= n_rows:
            yield arrow.concat_tables(waiting)
            waiting = []
    if waiting:
        yield arrow.concat_tables(waiting)


def _reader(data: Any, arrow: Any) -> Any:
    """A stream of record batches, of whatever data frame."""
    if hasattr(data, "__arrow_c_stream__"):
        return arrow.RecordBatchReader.from_stream(data)
    if hasattr(data, "to_dict") or isinstance(data, dict):
        table = arrow.table(data) if isinstance(data, dict) else arrow.Table.from_pandas(data)
        return table.to_reader()
    return arrow.table(data).to_reader()


def _opened(source: Source) -> Any:
    arrow = required("pyarrow", extra="parquet", purpose=_PURPOSE)
    parquet = required("pyarrow.parquet", extra="parquet", purpose=_PURPOSE)
    place: Any = source.place
    if source.url:
        place = open_remote(source.url)
    elif not place:
        place = arrow.BufferReader(source.data)
    schema = parquet.read_schema(place)
    # Names as codes: strings are made of few of them.
    coded = [
        name
        for name, kind in zip(schema.names, schema.types, strict=True)
        # Documents are nearly as many as rows: their codes are made batch by batch.
        if our_name(name) not in {*NUMBERS, "text", "document"} and is_string(kind, arrow.types)
    ]
    return parquet.ParquetFile(place, read_dictionary=coded, pre_buffer=False)


def _tables(file: Any, groups: list[int], n_rows: int) -> Iterator[Any]:
    arrow = required("pyarrow", extra="parquet", purpose=_PURPOSE)
    for batch in file.iter_batches(batch_size=n_rows, row_groups=groups, use_threads=False):
        table = arrow.Table.from_batches([batch])
        table.validate(full=True)  # bytes that are no text, numbers of no value
        yield table


def _document_column(names: list[str], source: Source) -> str:
    """The column of documents, without which nothing says where to cut."""
    known = known_columns(Table(source, dict.fromkeys(names, ())), needed=()).columns
    if "document" not in known:
        only_column([], names, source)
    return names[list(known).index("document")]


def _last_document(file: Any, group: int, document: str) -> Any:
    """The document of the last row of a row group that has any."""
    while group >= 0 and not file.metadata.row_group(group).num_rows:
        group -= 1
    if group < 0:
        return None
    column = file.read_row_group(group, columns=[document]).column(0)
    return column[len(column) - 1].as_py()


def _own_rows(
    tables: Iterator[Any], document: str, begins: Any, row: int, own_end: int | None
) -> Iterator[tuple[int, Any]]:
    """The rows of the documents that begin in a stretch, each table with the rows before it.

    Parameters
    ----------
    tables : iterator of pyarrow.Table
        The rows from the first on, beyond the stretch.
    document : str
        The column of documents.
    begins : object
        The document that the stretch before ends with, and that may go on here.
    row : int
        Rows before the first.
    own_end : int, optional
        The number of the row that the next stretch begins with; by default there is none.
    """
    last, is_own = begins, begins is None
    for table in tables:
        n_skipped = 0 if is_own else _n_equal(table.column(document), last)
        own = table.slice(n_skipped)
        row += n_skipped
        is_own |= len(own) > 0
        values = own.column(document)
        stop = len(own) if own_end is None else max(min(len(own), own_end - row), 0)
        last = values[stop - 1].as_py() if stop else last
        # The last document is read to its end.
        stop += _n_equal(values.slice(stop), last)
        if stop:
            yield row, own.slice(0, stop)
        row += stop
        if stop < len(own):
            return


def _whole_documents(tables: Iterator[tuple[int, Any]], document: str) -> Iterator[tuple[int, Any]]:
    """The same rows, so that no document is in two tables."""
    arrow = required("pyarrow", extra="parquet", purpose=_PURPOSE)
    rest: list[Any] = []
    begin = 0
    for row, table in tables:
        values = table.column(document)
        cut = len(table) - _n_equal_at_end(values)
        if rest and not cut and rest[0].column(document)[0].as_py() == values[0].as_py():
            rest.append(table)
            continue
        whole = [*rest, table.slice(0, cut)] if cut else rest
        if whole:
            yield begin if rest else row, arrow.concat_tables(whole)
        rest, begin = [table.slice(cut)], row + cut
    if rest:
        yield begin, arrow.concat_tables(rest)


def _n_equal(values: Any, name: Any) -> int:
    """How many of the first rows have a document."""
    return _n_first(lambda n: values.slice(0, n).to_pylist(), name, len(values))


def _n_equal_at_end(values: Any) -> int:
    """How many of the last rows have one document."""
    n_rows = len(values)
    last = values[n_rows - 1].as_py()
    return _n_first(lambda n: values.slice(max(n_rows - n, 0)).to_pylist()[::-1], last, n_rows)


def _n_first(first: Callable[[int], list[Any]], name: Any, n_rows: int) -> int:
    """How many values from the first on are a name; `first` gives so many of them.

    A document has few rows, so that few are looked at. To compare all of them with a name, pyarrow
    would import pandas, which takes as long as hundreds of thousands of rows.
    """
    n = _LOOKED_AT
    while (some := first(n)).count(name) == len(some) < n_rows:
        n *= 8
    return next((i for i, value in enumerate(some) if value != name), len(some))


_LOOKED_AT = 64
"""Rows in which a document most likely ends."""
