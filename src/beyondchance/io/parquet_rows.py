"""Parquet files of rows with lists in them, by pyarrow, a batch at a time."""

from __future__ import annotations

from collections.abc import Callable, Collection, Iterator, Mapping, Sequence
from contextlib import contextmanager
from importlib import import_module
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.columns import check_distinct
from beyondchance.io.registry import required
from beyondchance.io.sources import Source, once, parsed_json, too_large
from beyondchance.io.values import reason

_BATCH = 1024
_PER_VALUE, _PER_OBJECT = 8, 60
"""Bytes of memory: of a value in a column, at least, and of one in a row besides its content."""


@once
def schema_of(source: Source) -> Any:
    """Read the schema of a Parquet file, to recognise a format by; None if it cannot be read."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        # Of a file, its end is enough.
        is_file = source.path is not None and source.member is None and not source.is_packed
        place = str(source.path) if is_file else arrow.BufferReader(source.data)
        return parquet.read_schema(place)
    except Exception:  # not installed, or whatever a damaged file makes it raise
        return None


def list_columns(schema: Any) -> dict[str, bool]:
    """Map each column of a schema to whether it holds lists."""
    types = import_module("pyarrow").types
    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return {item.name: any(is_kind(item.type) for is_kind in kinds) for item in schema}


def stored_features(schema: Any, name: str) -> Any:
    """Read the features that the library datasets keeps in a schema; None if there are none."""
    stored = (schema.metadata or {}).get(b"huggingface")
    if stored is None:
        return None
    content = parsed_json(stored.decode("utf-8", errors="replace"), f"{name}, schema")
    info = content.get("info") if isinstance(content, dict) else None
    return info.get("features") if isinstance(info, dict) else None


def opened_parquet(
    source: Source,
    coded: Callable[[Any], Collection[str]] = lambda _: (),
    place: Any = None,
) -> Any:
    """Open a file with pyarrow; refuse it with a reason if it cannot be read.

    Parameters
    ----------
    source : Source
    coded : function, optional
        Finds the columns of a schema whose strings are read as numbers that stand for them.
    place : str or file, optional
        From where no more is read than needed; by default all of the file is.
    """
    arrow = required("pyarrow", extra="parquet", purpose="reading Parquet")
    parquet = required("pyarrow.parquet", extra="parquet", purpose="reading Parquet")
    with readable(source):
        place = place or arrow.BufferReader(source.data)
        schema = parquet.read_schema(place)
        check_distinct(schema.names, source.name)
        return parquet.ParquetFile(place, read_dictionary=[*coded(schema)], pre_buffer=False)


def parquet_rows(
    source: Source, columns: Sequence[str] | None = None
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """Yield the rows of a file: the place of each, its number, and the row with these columns."""
    number = 0
    with readable(source):
        file = opened_parquet(source)
        check_memory(source, file, columns)
        for batch in file.iter_batches(batch_size=_BATCH, columns=columns):
            for row in transposed(batch.to_pydict()):
                number += 1
                yield f"{source.name}: row {number}", number, row


def check_memory(
    source: Source,
    file: Any,
    columns: Sequence[str] | None = None,
    *,
    coded: Collection[str] = (),
) -> None:
    """Refuse a file whose columns would take more memory than they may.

    A value that is stored once can stand in any number of rows, so that sizes in the file are
    not enough. Where the file could take too much by them, strings are weighed by the numbers
    that stand for them.

    Parameters
    ----------
    source : Source
    file : ParquetFile
    columns : sequence of str, optional
        Those that are read; by default all.
    coded : collection of str
        Columns of which each row keeps the number of its value.
    """
    metadata, known = file.metadata, file.schema
    n_bytes = sum(metadata.row_group(i).total_byte_size for i in range(metadata.num_row_groups))
    _check(source, n_bytes)
    types = import_module("pyarrow").types
    if all(item.name in coded or types.is_primitive(item.type) for item in file.schema_arrow):
        _check(source, n_bytes + _PER_VALUE * metadata.num_rows * metadata.num_columns)
        return
    # Of a damaged file, the library ends the process when it is asked about a column that it has
    # not gone through.
    file.scan_contents()
    chunks = [
        (metadata.row_group(group).column(number), known.column(number))
        for group in range(metadata.num_row_groups)
        for number in range(metadata.num_columns)
        if columns is None or _is_part_of(known.column(number).path, columns)
    ]
    sizes = [
        max(chunk.total_uncompressed_size, chunk.num_values * max(_PER_VALUE, column.length or 0))
        for chunk, column in chunks
    ]
    _check(source, sum(sizes))
    largest = sum(
        chunk.num_values * (_PER_OBJECT + chunk.total_uncompressed_size * _is_text(column))
        for chunk, column in chunks
    )
    if largest <= source.most:
        return
    arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
    strings = dict.fromkeys(column.path for _, column in chunks if _is_text(column))
    options = {"metadata": metadata, "read_dictionary": list(strings)}
    numbered = parquet.ParquetFile(arrow.BufferReader(source.data), **options)
    n_bytes = 0
    for batch in numbered.iter_batches(batch_size=_BATCH, columns=columns):
        weights = [_weight(column) for column in batch.columns]
        own = sum(size for size, _ in weights)
        n_bytes += own
        if max(n_bytes, own + _PER_OBJECT * sum(number for _, number in weights)) > source.most:
            found = f"its columns take more than {source.most:,} bytes"
            raise too_large(source.name, found, most=source.most)


def _check(source: Source, n_bytes: int) -> None:
    if n_bytes > source.most:
        found = f"its columns take {n_bytes:,} bytes or more"
        raise too_large(source.name, found, most=source.most, size=2 * n_bytes)


def _is_part_of(path: str, columns: Sequence[str]) -> bool:
    return any(path == name or path.startswith(f"{name}.") for name in columns)


def _is_text(column: Any) -> bool:
    return bool(column.physical_type == "BYTE_ARRAY" and column.logical_type.type != "DECIMAL")


def _weight(array: Any) -> tuple[int, int]:
    """Count the bytes of a column's content, if it were written out, and its values."""
    types, compute = import_module("pyarrow").types, import_module("pyarrow.compute")
    if types.is_dictionary(array.type):
        lengths = compute.binary_length(array.dictionary)
        return compute.sum(lengths.take(array.indices)).as_py() or 0, len(array)
    if types.is_nested(array.type):
        parts = array.flatten()
        weights = [_weight(part) for part in (parts if isinstance(parts, list) else [parts])]
        return sum(size for size, _ in weights), sum(number for _, number in weights) + len(array)
    return array.nbytes, len(array)


def transposed(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Yield rows from columns."""
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


@contextmanager
def readable(source: Source) -> Iterator[None]:
    """Refuse a file with the reason for which the library cannot read it."""
    try:
        yield
    except (FormatError, MemoryError):
        raise
    except Exception as error:
        found = ("not a readable Parquet file", *reason(error))
        raise FormatError(*found, where=source.name, remedy="write it again") from None
