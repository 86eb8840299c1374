"""Columns of a table: CSV, TSV, JSON Lines, Parquet or a data frame, as codes and whole numbers.

A column is a list of Python values, an array, or a column of pyarrow: of integers, or of strings
that are dictionary-encoded, with no value twice in the dictionary. The last kind is never turned
into Python objects.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import import_module
from numbers import Integral, Real
from typing import Any

import numpy as np

from beyondchance.annotations.letters import letters_of
from beyondchance.errors import FormatError, OptionError
from beyondchance.io.sources import Source
from beyondchance.io.values import reason
from beyondchance.messages import Quote, Use, quotes
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
_ALSO: Mapping[str, tuple[str, ...]] = {
    "document": ("docid", "document_name", "doc_name"),
    "annotator": (
        *("annotator_name", "annotated_by", "username", "user_id", "user_name", "worker_id"),
        *("coder_id", "rater_id"),
    ),
}
"""Names that count where there is no other: next to it, they are fields."""
_UNCLEAR = ("id", "sentence_id", "sent_id", "text_id", "uid", "guid")
"""What may number documents, sentences or rows."""
NUMBERS = ("start", "end", "length")
"""The columns that hold whole numbers."""
SPAN = ("start", "end", "label")
"""The columns that every table of spans has."""
WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}(\.0*)?\s*", re.ASCII)
"""A whole number as files write it."""
_TEXT, _WHOLE = frozenset({str, type(None)}), frozenset({int})
_SINGLE = _TEXT | {int, float, bool}
"""Types that need no look at each of many values."""
_TOO_LARGE = 10**18
_MOST_GAPS = 10**6
"""Cells without a value that a table may have, whatever it holds."""
_FIELD = re.compile(r"\w+(?:[ .-]\w+)*")
_LONGEST_FIELD = 1000
_MOST_SORTED = 2**30
"""Bytes of strings that are put together to see whether they are sorted."""
_HEAD = 2**12
"""Rows that most likely have every value of a column with few values."""
_GAPS = frozenset({"NAType", "NaTType"})
"""The types of pandas for a missing value, by name: nothing here imports pandas."""


@dataclass(frozen=True)
class Table:
    """Columns of equal length; a missing value is None.

    Attributes
    ----------
    source : Source
    columns : mapping of str to list or pyarrow column
        By our names where they are known, else by their own.
    find_lines : function, optional
        Finds the line of each row, when an error needs it; by default it is its number.
    is_frame : bool
        Whether it was given as a data frame, so that its rows have no lines.
    """

    source: Source
    columns: Mapping[str, Any]
    find_lines: Callable[[], Sequence[int]] | None = None
    is_frame: bool = False

    def __len__(self) -> int:
        return len(next(iter(self.columns.values()), ()))

    @cached_property
    def _lines(self) -> Sequence[int]:
        return range(1, len(self) + 1) if self.find_lines is None else self.find_lines()

    def where(self, row: int) -> str:
        """Name a row by its file and line, or by its number in the data frame, from 1 on."""
        if self.is_frame:
            return f"row {row + 1 + self.source.before} of {self.source.name}"
        return f"{self.source.name}:{self._lines[row] + self.source.before}"


def our_name(own: str) -> str:
    """Our name for a column, or its own name if it is none that we know.

    Examples
    --------
    >>> our_name("Doc"), our_name("genre")
    ('document', 'genre')
    """
    return next((ours for ours, others in NAMES.items() if own.lower() in others), own)


def known_columns(table: Table, needed: Sequence[str] = SPAN) -> Table:
    """The table with our names for its columns."""
    columns: dict[str, Any] = {}
    for own, values in table.columns.items():
        if our_name(own) in columns:
            found = f"two columns for {our_name(own)!r}"
            raise FormatError(found, where=table.source.name, expected="one")
        columns[our_name(own)] = values
    for name, others in _ALSO.items():
        also = [own for own in columns if own.lower() in others]
        if name not in columns and len(also) > 1:
            several = ("columns ", *quotes(also), f" for {name!r}")
            remedy = f"rename one to {name}"
            raise FormatError(*several, where=table.source.name, expected="one", remedy=remedy)
        if name not in columns and also:
            columns = {name if own in also else own: columns[own] for own in columns}
    unclear = [own for own in columns if own.lower() in _UNCLEAR]
    if "document" not in columns and "document" not in needed and unclear:
        raise FormatError(
            *("column ", Quote(unclear[0]), " may number documents, sentences or rows"),
            where=table.source.name,
            expected="a column 'document'",
            remedy="rename it to document, or drop it",
        )
    for name in needed:
        if name not in columns:
            problem = (f"no column {name!r} among ", *quotes(table.columns))
            raise FormatError(*problem, where=table.source.name, expected=", ".join(needed))
    return replace(table, columns=columns)


def check_distinct(names: Sequence[str], where: str) -> None:
    """Refuse two columns of one name."""
    again = next((name for name, n in Counter(names).items() if n > 1), None)
    if again is not None:
        found = ("the column name ", Quote(again), " occurs twice")
        raise FormatError(*found, where=where, expected="distinct names")


def check_filled(n_columns: int, n_rows: int, n_given: int, where: str = "") -> None:
    """Refuse columns and rows, or fields and documents, that would have nearly only gaps."""
    if n_columns * n_rows > _MOST_GAPS + 10 * n_given:
        raise FormatError(
            f"{n_columns:,} fields in {n_rows:,} documents or rows, most without a value",
            where=where,
            expected="fewer",
            remedy="leave out fields that few of them have",
        )


def named_fields(about: object) -> dict[str, str]:
    r"""What an object says about a document that can be a field of it: short strings.

    Anything else, and what a table would take for one of its own columns, could not be written
    in other formats.

    Examples
    --------
    >>> named_fields({"source": "news", "score": 0.5, "user": "ada", "body": "x\ny"})
    {'source': 'news'}
    """
    return {
        name: value
        for name, value in (about.items() if isinstance(about, dict) else ())
        if isinstance(value, str)
        and len(value) <= _LONGEST_FIELD
        and value.isprintable()
        and value == value.strip()
        and _FIELD.fullmatch(name)
        and our_name(name) not in NAMES
    }


def named_twice(table: Table) -> OptionError:
    """The error for the option ``columns`` where the columns have names."""
    option = Use("columns", is_name=True)
    return OptionError(
        *("the columns have names: ", *quotes(table.columns)),
        where=table.source.name,
        expected=("no ", option, ", which is for tables without a header"),
        remedy=("leave ", option, " out"),
    )


# --- Tables of pyarrow --------------------------------------------------------


def arrow_table(table: Any, source: Source, arrow: Any, *, is_frame: bool = False) -> Table:
    """A table of pyarrow."""
    names = table.column_names
    check_distinct(names, source.name)
    try:
        columns = {name: _typed(table.column(name), name, arrow) for name in names}
    except MemoryError:
        raise
    except Exception as error:
        raise FormatError("not a readable table", *reason(error), where=source.name) from None
    return Table(source, columns, is_frame=is_frame)


def is_string(kind: Any, types: Any) -> bool:
    """Whether a type of pyarrow is one of strings, or of numbers that stand for strings."""
    values = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(values) or types.is_large_string(values))


def _typed(column: Any, name: str, arrow: Any) -> Any:
    """A column of Parquet as pyarrow's where that means the same, else as Python objects."""
    kind, ours, types = column.type, our_name(name), arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    is_number = types.is_integer(kind)
    if ours in NUMBERS and is_number and not types.is_uint64(kind):
        return column.cast(arrow.int64())
    if ours not in NUMBERS and ours != "text":
        if types.is_dictionary(column.type) and is_string(kind, types):
            return _distinct(column, arrow)
        if is_number or is_string(kind, types):
            return _encoded(column.cast(arrow.string()), arrow)
    return column.to_pylist()


def _encoded(column: Any, arrow: Any) -> Any:
    """A column of strings, dictionary-encoded with one dictionary."""
    if column.null_count or len(column) < 2 or column.nbytes > _MOST_SORTED:
        return column.dictionary_encode().unify_dictionaries()
    values, compute = column.combine_chunks(), import_module("pyarrow.compute")
    # What is sorted, as documents mostly are, needs no table of hashes; the first rows of what is
    # not tell it.
    for rows in (values.slice(0, _HEAD), values):
        before, after = rows.slice(0, len(rows) - 1), rows.slice(1)
        if not compute.all(compute.less_equal(before, after)).as_py():
            return column.dictionary_encode().unify_dictionaries()
    is_new = np.ones(len(values), dtype=bool)
    is_new[1:] = _array(compute.less(before, after).cast("uint8"))
    first, codes = np.flatnonzero(is_new), np.cumsum(is_new, dtype=np.int32) - np.int32(1)
    names, indices = (
        arrow.Array.from_buffers(kind, len(numbers), [None, arrow.py_buffer(numbers)])
        for kind, numbers in ((arrow.int64(), first), (arrow.int32(), codes))
    )
    coded = arrow.DictionaryArray.from_arrays(indices, values.take(names))
    return arrow.chunked_array([coded])


def _distinct(column: Any, arrow: Any) -> Any:
    """A dictionary-encoded column with one dictionary, which has no value twice."""
    unified = column.unify_dictionaries()
    if not column.num_chunks:
        return unified
    known = unified.chunk(0).dictionary
    # A dictionary that was put together of several has each value once; one that stayed as
    # others made it may not.
    if len(known) > len(column.chunk(0).dictionary) or len(known.unique()) == len(known):
        return unified
    once = known.dictionary_encode()
    indices = once.indices.take(unified.combine_chunks().indices)
    return arrow.chunked_array([arrow.DictionaryArray.from_arrays(indices, once.dictionary)])


# --- Columns to numbers -------------------------------------------------------


def codes_of(table: Table, column: str) -> tuple[list[str], Ints]:
    """The distinct values of a column as they first occur, and each row's number; -1 for none."""
    own, codes, _ = stripped_codes(table, column)
    return own, codes


def stripped_codes(table: Table, column: str) -> tuple[list[str], Ints, int]:
    """As `codes_of`, and how many rows have a value with white space around it."""
    values = table.columns[column]
    if hasattr(values, "combine_chunks"):
        own, codes = _arrow_codes(values)
    else:
        if column in NAMES:
            _check_single(table, column, "a name")
        is_text = _TEXT.issuperset(map(type, values))
        texts = values if is_text else [None if is_gap(v) else str(v) for v in values]
        own = list(dict.fromkeys(text for text in texts if text is not None))
        number: dict[str | None, int] = {None: -1, **{text: i for i, text in enumerate(own)}}
        codes = np.fromiter(map(number.__getitem__, texts), np.int64, len(texts))
    # White space around a name is not part of it.
    if _are_bare(own):
        return own, codes, 0
    stripped = list(map(str.strip, own))
    if stripped == own and all(own):
        return own, codes, 0
    names: dict[str, int] = {}
    renumbered = [names.setdefault(name, len(names)) if name else -1 for name in stripped]
    is_other = [bool(name) and name != given for name, given in zip(stripped, own, strict=True)]
    n_stripped = int(np.array([*is_other, False])[codes].sum())
    return list(names), np.array([*renumbered, -1])[codes], n_stripped


def _are_bare(names: list[str]) -> bool:
    """Whether all names begin and end with an ASCII character that is no white space."""
    letters = letters_of(names)
    if not names or not letters.sizes.all():
        return not names
    edges = letters.edges()
    return bool(np.all((edges > ord(" ")) & (edges < 128)))


def _arrow_codes(values: Any) -> tuple[list[str], Ints]:
    """The values of a dictionary-encoded column as they first occur, and each row's number."""
    joined = values.combine_chunks()
    own = joined.dictionary.to_pylist()
    indices = joined.indices
    if indices.null_count:
        indices = indices.cast("int64").fill_null(-1)  # they may be unsigned
    codes = _array(indices)
    if is_in_order(codes, len(own)) and not joined.dictionary.null_count:
        return own, codes.astype(np.int64)
    # The dictionary may have another order, and values that no row has.
    first = np.full(len(own) + 1, len(codes))  # one more, for the rows without a value
    np.minimum.at(first, codes, np.arange(len(codes)))
    order = np.argsort(first[:-1], kind="stable")
    used = [i for i in order.tolist() if first[i] < len(codes) and own[i] is not None]
    number = np.full(len(own) + 1, -1)
    number[used] = np.arange(len(used))
    return [own[i] for i in used], number[codes]


_OTHER_NAMES = {"double": "float64", "float": "float32", "halffloat": "float16"}
"""What NumPy calls types of pyarrow that have another name there."""


def _array(numbers: Any) -> Any:
    """Numbers of pyarrow, none of them missing, as an array; its `to_numpy` imports pandas."""
    if not len(numbers):
        return np.zeros(0, dtype=np.int64)
    name = _OTHER_NAMES.get(str(numbers.type), str(numbers.type))
    data = np.frombuffer(numbers.buffers()[1], dtype=name)
    return data[numbers.offset : numbers.offset + len(numbers)]


def is_in_order(codes: Ints, n_values: int) -> bool:
    """Whether 0, 1, ... first occur in this order, and all do; -1 stands for no value.

    Examples
    --------
    >>> is_in_order(np.array([0, 0, -1, 1, 0, 2]), 3), is_in_order(np.array([0, 2, 1]), 3)
    (True, False)
    """
    n_head = min(len(codes), max(_HEAD, 4 * n_values))
    head = codes[:n_head]
    for part in (head, codes):
        seen = np.maximum.accumulate(part)
        if len(seen) and (seen[0] > 0 or np.any(seen[1:] - seen[:-1] > 1)):
            return False
        # The few values of most columns all occur in the first rows.
        if len(seen) and seen[-1] == n_values - 1:
            return True
    return n_values == 0


def is_gap(value: object) -> bool:
    """Whether a value stands for none: null, NaN, or a missing value of pandas."""
    if isinstance(value, float):
        return value != value  # noqa: PLR0124 - only NaN differs from itself
    return value is None or type(value).__name__ in _GAPS


def is_single(value: object) -> bool:
    """Whether a value is neither bytes nor made of several values."""
    return isinstance(value, str) or not hasattr(value, "__len__")


def _check_single(table: Table, column: str, expected: str) -> None:
    """Refuse bytes, lists and objects where a single value is expected."""
    values = table.columns[column]
    if _SINGLE.issuperset(map(type, values)):
        return
    for row, value in enumerate(values):
        if not is_single(value):
            raise _unfit(table, row, column, value, expected)


def _unfit(table: Table, row: int, column: str, value: object, expected: str) -> FormatError:
    found, remedy = (f"{column} is ", Quote(value)), ""
    if isinstance(value, bytes | bytearray):
        expected = f"{expected}, not bytes"
        remedy = "save or decode the column as text"
    return FormatError(*found, where=table.where(row), expected=expected, remedy=remedy)


def whole_numbers(table: Table, column: str) -> tuple[Ints, Bools]:
    """A column of whole numbers, and which rows have none (value 0)."""
    values = _as_array(table.columns[column])
    expected = "a whole number"
    if hasattr(values, "combine_chunks"):
        missing = np.zeros(len(values), dtype=bool)
        if values.null_count:
            missing = _array(values.is_null().cast("uint8").combine_chunks()).astype(bool)
            values = values.fill_null(0)
        numbers = _array(values.combine_chunks()).astype(np.int64, copy=False)
    elif isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        missing = np.isnan(values)
        filled = np.where(missing, 0, values)
        # Compared before the conversion, which would wrap around.
        is_whole = (filled > -_TOO_LARGE) & (filled < _TOO_LARGE)
        if filled.dtype.kind == "f":
            is_whole &= filled == np.floor(filled)
        if not is_whole.all():
            row = int(np.argmin(is_whole))
            raise _unfit(table, row, column, values[row].item(), expected)
        return filled.astype(np.int64), missing
    else:
        return _listed_numbers(table, column, expected)
    if len(numbers) and not -_TOO_LARGE < numbers.min() <= numbers.max() < _TOO_LARGE:
        row = int(np.argmax((numbers <= -_TOO_LARGE) | (numbers >= _TOO_LARGE)))
        raise _unfit(table, row, column, int(numbers[row]), expected)
    return numbers, missing


def _as_array(values: Any) -> Any:
    """A list of nothing but whole numbers as an array; whatever else it is stays."""
    if isinstance(values, list) and _WHOLE.issuperset(map(type, values)):
        with suppress(OverflowError):
            return np.array(values, dtype=np.int64)
    return values


def _listed_numbers(table: Table, column: str, expected: str) -> tuple[Ints, Bools]:
    """Whole numbers from a list of Python values."""
    values = table.columns[column]
    _check_single(table, column, expected)
    blanks = (is_gap(value) or (isinstance(value, str) and not value.strip()) for value in values)
    missing = np.fromiter(blanks, bool, len(values))
    numbers = np.zeros(len(values), dtype=np.int64)
    for row in np.flatnonzero(~missing).tolist():
        number = number_of(values[row])
        if number is None:
            raise _unfit(table, row, column, values[row], expected)
        numbers[row] = number
    return numbers, missing


@lru_cache(maxsize=2**16, typed=True)
def number_of(value: object) -> int | None:
    """A value as a whole number; spreadsheets write some of them as 12.0."""
    if isinstance(value, str):
        return int(value.partition(".")[0]) if WHOLE.fullmatch(value) else None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    number = int(value) if isinstance(value, Integral) else float(value)
    is_whole = abs(number) < _TOO_LARGE and float(number).is_integer()
    return int(number) if is_whole else None
