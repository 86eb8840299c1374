"""Counts as tables of Arrow, which any engine can carry, concatenate and store.

A row is a whole table of counts, and its cells are lists: so rows of different batches stay apart
until they are added, and need nothing besides their columns.
"""

from __future__ import annotations

import json
from collections.abc import Sequence
from dataclasses import asdict, replace
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.checks import checked_instance
from beyondchance.errors import DataError
from beyondchance.installing import required
from beyondchance.results.adding import Columns, concatenated
from beyondchance.results.counts import Added, Counts
from beyondchance.results.score import Score
from beyondchance.results.units import Units
from beyondchance.settings import Settings

_FORMAT = 1
_PARTS = ("row", "size", "mean", "unit", "pair", "tenth")
_NAMES = ("documents", "labels", "annotators", "fields")
_PLAIN = ("of", "n_texts", "n_compared_texts")
_WHOLE = -1
"""In the place of a field: all documents, whatever their values."""


def table_of(counts: Counts) -> Any:
    """Make a table of one row that holds counts by unit."""
    arrow = required("pyarrow", extra="parquet", purpose="a table of Arrow")
    counts = counts.by_unit()
    added = checked_instance(counts.added, Added, "counts by unit")
    fields = enumerate(counts.fields.values())
    tables = [(_WHOLE, counts), *((number, part) for number, part in fields if part is not None)]
    parts: dict[str, Columns] = {
        "row": _in_fields([(number, part._columns()) for number, part in tables]),
        "size": _in_fields([(number, part.added.sizes) for number, part in tables]),
        "mean": added.means,
        "unit": {"documents": added.units.n_documents, "prints": added.units.prints},
        "pair": {"a": counts.pairs[0], "b": counts.pairs[1]},
        "tenth": {"documents": added.histogram},
    }
    cells = {
        f"{part}_{name}": arrow.array([column], arrow.list_(arrow.from_numpy_dtype(column.dtype)))
        for part, columns in parts.items()
        for name, column in columns.items()
    }
    strings = arrow.list_(arrow.string())
    names = {name: list(getattr(counts, name)) for name in _NAMES}
    values = [None if part is None else list(part.labels) for part in counts.fields.values()]
    cells |= {name: arrow.array([listed], strings) for name, listed in names.items()}
    cells["values"] = arrow.array([values], arrow.list_(strings))
    plain = {name: getattr(counts, name) for name in _PLAIN} | {
        "format": _FORMAT,
        "groups": added.units.n_groups,
        "settings": counts.settings and str(counts.settings),
        "kept": json.dumps([[*rank, asdict(score)] for *rank, score in added.kept]),
    }
    for name, value in plain.items():
        kind = arrow.int64() if isinstance(value, int) else arrow.string()
        cells[name] = arrow.array([value], kind)
    return arrow.table(cells)


def _in_fields(tables: Sequence[tuple[int, Columns]]) -> Columns:
    """Put tables together, with the number of the field of each."""
    return concatenated([{"field": np.full(len(x["label"]), n), **x} for n, x in tables])


def counts_in(table: Any) -> list[Counts]:
    """Read the counts in the rows of a table.

    Raises
    ------
    DataError
        If the table is none that `table_of` makes, or of another version.
    """
    try:
        columns = {name: table.column(name) for name in table.column_names}
        return [
            _counts_in({name: column[row] for name, column in columns.items()})
            for row in range(table.num_rows)
        ]
    except (AttributeError, KeyError, TypeError, ValueError, IndexError) as error:
        raise DataError(
            f"no table of counts ({type(error).__name__}: {error})",
            expected="what Counts.to_arrow of this version makes",
        ) from None


def _counts_in(cells: dict[str, Any]) -> Counts:
    parts: dict[str, dict[str, NDArray[Any]]] = {part: {} for part in _PARTS}
    plain = {}
    for name, cell in cells.items():
        part, _, column = name.partition("_")
        if part in parts:
            parts[part][column] = cell.values.to_numpy(zero_copy_only=False)
        else:
            plain[name] = cell.as_py()
    if plain["format"] != _FORMAT:
        raise ValueError(f"format {plain['format']}")
    documents, labels, annotators, fields = (tuple(plain[name]) for name in _NAMES)
    units = Units(documents, plain["groups"], *parts["unit"].values())
    kept = tuple((*rank, Score(**score)) for *rank, score in json.loads(plain["kept"]))

    def in_field(number: int, part: str) -> dict[str, Any]:
        table = dict(parts[part])
        own = table.pop("field") == number
        return {name: column[own] for name, column in table.items()}

    whole = Counts(
        documents=documents,
        labels=labels,
        annotators=annotators,
        pairs=np.stack([parts["pair"]["a"], parts["pair"]["b"]]),
        text=np.zeros(0, dtype=np.int64),
        settings=plain["settings"] and Settings.parse(plain["settings"]),
        added=Added(
            units, in_field(_WHOLE, "size"), parts["mean"], parts["tenth"]["documents"], kept
        ),
        **{name: plain[name] for name in _PLAIN},
        **in_field(_WHOLE, "row"),
    )
    known = {
        name: None
        if values is None
        else replace(
            whole.of_values(values, Added(units, in_field(number, "size"))),
            **in_field(number, "row"),
        )
        for number, (name, values) in enumerate(zip(fields, plain["values"], strict=True))
    }
    return replace(whole, fields=known)
