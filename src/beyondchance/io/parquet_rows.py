"""Parquet files of rows with lists in them, by pyarrow, a batch at a time."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from importlib import import_module
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.registry import required
from beyondchance.io.sources import Source, parsed_json
from beyondchance.messages import Quote

_BATCH = 1024


def schema_of(source: Source) -> Any:
    """The schema of a Parquet file, to recognise a format by; None if it cannot be read."""
    try:
        arrow, parquet = import_module("pyarrow"), import_module("pyarrow.parquet")
        return parquet.read_schema(arrow.BufferReader(source.data))
    except Exception:  # not installed, or whatever a damaged file makes it raise
        return None


def list_columns(schema: Any) -> dict[str, bool]:
    """The columns of a schema, and whether each holds lists."""
    types = import_module("pyarrow").types
    kinds = (types.is_list, types.is_large_list, types.is_fixed_size_list)
    return {item.name: any(is_kind(item.type) for is_kind in kinds) for item in schema}


def stored_features(schema: Any, name: str) -> Any:
    """The features that the library datasets keeps in a schema; None if there are none."""
    stored = (schema.metadata or {}).get(b"huggingface")
    if stored is None:
        return None
    content = parsed_json(stored.decode("utf-8", errors="replace"), f"{name}, schema")
    info = content.get("info") if isinstance(content, dict) else None
    return info.get("features") if isinstance(info, dict) else None


def opened_parquet(source: Source) -> Any:
    """The file as pyarrow's, refused with a reason if it cannot be read."""
    arrow = required("pyarrow", extra="parquet", purpose="reading Parquet")
    parquet = required("pyarrow.parquet", extra="parquet", purpose="reading Parquet")
    try:
        file = parquet.ParquetFile(arrow.BufferReader(source.data))
        names = file.schema_arrow.names
    except Exception as error:
        raise _unreadable(source, error) from None
    if len(set(names)) < len(names):
        twice = next(name for name, count in Counter(names).items() if count > 1)
        found = ("several columns are named ", Quote(twice))
        raise FormatError(*found, where=source.name, expected="distinct names")
    return file


def parquet_rows(
    source: Source, columns: Sequence[str] | None = None
) -> Iterator[tuple[str, int, dict[str, Any]]]:
    """The rows of a file: the place of each, its number, and the row with these columns."""
    number = 0
    try:
        for batch in opened_parquet(source).iter_batches(batch_size=_BATCH, columns=columns):
            for row in transposed(batch.to_pydict()):
                number += 1
                yield f"{source.name}: row {number}", number, row
    except FormatError:
        raise
    except Exception as error:
        raise _unreadable(source, error) from None


def transposed(columns: Mapping[str, Sequence[Any]]) -> Iterator[dict[str, Any]]:
    """Rows from columns."""
    for values in zip(*columns.values(), strict=True):
        yield dict(zip(columns, values, strict=True))


def _unreadable(source: Source, error: Exception) -> FormatError:
    return FormatError(f"not a readable Parquet file ({error})", where=source.name)
