"""Data frames as tables: pandas, polars, pyarrow, or columns in a dictionary.

A data frame is recognised by its structure, and read by NumPy or, if it is one of pyarrow's,
by pyarrow. Nothing here imports pandas or polars.
"""

from __future__ import annotations

from collections.abc import Iterable, Mapping
from importlib import import_module
from typing import Any

import numpy as np

from beyondchance.io.columns import (
    NAMES,
    NUMBERS,
    SPAN,
    Table,
    arrow_table,
    check_distinct,
    is_gap,
    our_name,
)
from beyondchance.io.sources import Source
from beyondchance.io.values import reason, refusal

_NESTED = frozenset({"tokens", "words", "spans", "entities"})
"""Columns of data sets with one row for each text, which other readers take."""


def names_of(data: object) -> list[str] | None:
    """Return the columns of a data frame; None for anything else.

    Examples
    --------
    >>> names_of({"start": [0], "end": [4], "label": ["PER"]})
    ['start', 'end', 'label']
    >>> names_of({"start": 0, "end": 4, "label": "PER"}), names_of([1, 2])
    (None, None)
    """
    if isinstance(data, Mapping):
        are_columns = all(
            hasattr(values, "__len__") and not isinstance(values, str | bytes | Mapping)
            for values in data.values()
        )
        return list(data) if are_columns else None
    if not any(hasattr(data, name) for name in ("__arrow_c_stream__", "__dataframe__", "to_dict")):
        return None
    schema = getattr(data, "schema", None)
    # What pyarrow calls columns are the values; its readers and batches have names in the schema.
    for listed in (getattr(data, "column_names", None), getattr(schema, "names", None)):
        if isinstance(listed, list):
            return listed
    columns: Any = getattr(data, "columns", None)
    if not hasattr(columns, "__iter__") or not hasattr(data, "__getitem__"):
        return None
    return [*_indexed(data), *columns]


def collected(data: Any) -> Any:
    """Return the data frame that a LazyFrame of polars stands for; anything else as it is."""
    return data.collect() if type(data).__name__ == "LazyFrame" else data


def rows_of_frame(data: Any) -> list[Any] | None:
    """Return the rows of a data frame that has a text or its tokens in each, else None.

    Such rows are records, as they are in files of the hub.
    """
    if isinstance(data, Mapping | str | list | tuple) or hasattr(data, "features"):
        return None
    names = names_of(data)
    if names is None or _is_long(names) or not _is_nested(names):
        return None
    for method, arguments in (("to_dicts", ()), ("to_pylist", ()), ("to_dict", ("records",))):
        if hasattr(data, method):
            return list(getattr(data, method)(*arguments))
    return None


def _is_nested(names: Iterable[object]) -> bool:
    """Return whether some column has the tokens or the spans of whole texts."""
    return any(isinstance(name, str) and name.lower() in _NESTED for name in names)


def is_table(data: object) -> bool:
    """Return whether this is a data frame of spans, or one that no other reader takes."""
    names = names_of(data)
    if names is None:
        return False
    # A data set of Hugging Face has features and a reader of its own; a dictionary may as well
    # have the annotations of one annotator under each name.
    is_other = _is_nested(names) or hasattr(data, "features") or isinstance(data, Mapping)
    return _is_long(names) or not is_other


def frame_table(data: Any, called: str) -> Table:
    """Return a data frame as a table; `called` is what messages call it."""
    source = Source(called, member=b"")
    names: list[Any] = names_of(data) or []
    for name in names:
        if not isinstance(name, str):
            expected = "names that are strings"
            raise refusal(called, "a column is named {}", name, expected=expected)
    check_distinct(names, called)
    if type(data).__module__.partition(".")[0] == "pyarrow":
        arrow = import_module("pyarrow")
        table = data.read_all() if hasattr(data, "read_all") else data
        if isinstance(table, arrow.RecordBatch):
            table = arrow.Table.from_batches([table])
        return arrow_table(table, source, arrow, is_frame=True)
    columns = {name: _values(data, name, called) for name in names}
    for name, values in columns.items():
        n_rows = len(columns[names[0]])
        if len(values) != n_rows:
            found = f"column {{}} has {n_rows} values, {{}} has {len(values)}"
            raise refusal(called, found, names[0], name, expected="columns of equal length")
    return Table(source, columns, is_frame=True)


def _indexed(data: Any) -> list[str]:
    """Return the levels of the index of pandas that have the name of a column that we know.

    Other indices number the rows, and are ignored.
    """
    names = getattr(getattr(data, "index", None), "names", None) or ()
    return [name for name in names if isinstance(name, str) and our_name(name) in NAMES]


def _is_long(names: list[Any]) -> bool:
    """Return whether these are the columns of a table of spans."""
    return set(SPAN) <= {our_name(name) for name in names if isinstance(name, str)}


def _values(data: Any, name: str, called: str) -> Any:
    """Return the values of a column: an array of numbers, or a list."""
    try:
        column = data.index.get_level_values(name) if name in _indexed(data) else data[name]
        if isinstance(column, np.ma.MaskedArray):
            column = column.tolist()  # None where it is masked, which an array would show
        array = None if isinstance(column, list | tuple) else np.asarray(column)
    except Exception as error:  # the code of others may raise anything
        found, expected = "column {} cannot be read{}", "values that NumPy takes"
        raise refusal(called, found, name, reason(error), expected=expected) from None
    if array is not None and array.ndim == 1:
        is_number, kind = our_name(name) in NUMBERS, array.dtype.kind
        if kind in "iuf" and is_number:
            return array
        if kind in "mM" and is_number:
            found = f"column {{}} holds times ({array.dtype})"
            raise refusal(called, found, name, expected="whole numbers")
        # Some times would become numbers.
        times = array.astype(str).tolist() if kind in "mM" else ()
        column = [None if time == "NaT" else time for time in times] or array.tolist()
    return [None if is_gap(value) else value for value in column]
