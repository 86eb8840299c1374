"""Columns of a table: CSV, TSV, JSON Lines, Parquet or a data frame, as codes and whole numbers.

A column is a list of Python values, an array, or a column of pyarrow: of integers, or of strings
that are dictionary-encoded, with no value twice in the dictionary. The last kind is never turned
into Python objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from numbers import Integral, Real
from typing import Any

import numpy as np

from beyondchance.annotations.letters import letters_of
from beyondchance.checks import repeated
from beyondchance.errors import DataError, FormatError, OptionError
from beyondchance.io.sources import Source
from beyondchance.io.values import reason, refusal
from beyondchance.messages import Use, quotes
from beyondchance.types import Bools, Ints

NAMES: Mapping[str, tuple[str, ...]] = {
    "document": ("document", "document_id", "doc", "doc_id", "file", "filename"),
    "annotator": ("annotator", "annotator_id", "coder", "user", "rater"),
    "start": ("start", "begin", "start_offset"),
    "end": ("end", "stop", "end_offset"),
    "label": ("label", "category", "tag", "type"),
    "length": ("length", "n", "document_length"),
    "text": ("text",),
    "offsets_in": ("offsets_in",),
    "sentence_lengths": ("sentence_lengths",),
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
_TOKENS = frozenset({"token", "word", "form"})
"""Columns of data frames with one row for each token, which are not read."""
_OF_TOKENS = "pass the tags of each annotator as a list of lists, one for each sentence"
_OTHERS = "add document and annotator where there are several, and length or text"
_UNCLEAR = ("id", "sentence_id", "sent_id", "text_id", "uid", "guid")
"""What may number documents, sentences or rows."""
NUMBERS = ("start", "end", "length")
"""The columns that hold whole numbers."""
DATE = "date"
"""The column of the day of each annotation; of several rows, the last."""
SPAN = ("start", "end", "label")
"""The columns that every table of spans has."""
WHOLE = re.compile(r"\s*[+-]?[0-9]{1,18}(\.0*)?\s*", re.ASCII)
"""A whole number as files write it."""
_TEXT = frozenset({str, type(None)})
_SINGLE = _TEXT | {int, float, bool}
"""Types that need no look at each of many values."""
_TOO_LARGE = 10**18
_MOST_GAPS = 10**6
"""Cells without a value that a table may have, whatever it holds."""
_FIELD = re.compile(r"\w+(?:[ .-]\w+)*")
_LONGEST_FIELD = 1000
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
    """Return our name for a column, or its own name if it is none that we know.

    Examples
    --------
    >>> our_name("Doc"), our_name("genre")
    ('document', 'genre')
    """
    return next((ours for ours, others in NAMES.items() if own.lower() in others), own)


def known_columns(table: Table, needed: Sequence[str] = SPAN) -> Table:
    """Return the table with our names for its columns."""
    where, names = table.source.name, {own: our_name(own) for own in table.columns}
    for name, others in _ALSO.items():
        if name not in names.values():
            names |= {own: name for own in names if own.lower() in others}
    for name in repeated(names.values())[:1]:
        several = quotes(own for own, ours in names.items() if ours == name)
        remedy = f"keep one of them as {name}, and rename the others"
        raise refusal(where, "columns {} for {}", several, name, expected="one", remedy=remedy)
    columns = {names[own]: values for own, values in table.columns.items()}
    unclear = [own for own in columns if own.lower() in _UNCLEAR]
    if unclear and "document" not in {*columns, *needed}:
        raise refusal(
            where,
            "column {} may number documents, sentences or rows",
            unclear[0],
            expected="a column 'document'",
            remedy="rename it to document, or drop it",
        )
    for name in needed:
        if name not in columns:
            is_tokens = table.is_frame and not _TOKENS.isdisjoint(map(str.lower, table.columns))
            raise refusal(
                where,
                "no column {} among {}",
                *(name, quotes(table.columns)),
                expected=f"a row for each span or document, with {', '.join(needed)}",
                remedy=_OF_TOKENS if is_tokens else _OTHERS,
            )
    return replace(table, columns=columns)


def check_distinct(names: Sequence[str], where: str) -> None:
    """Refuse two columns of one name."""
    for again in repeated(names)[:1]:
        raise refusal(where, "the column name {} occurs twice", again, expected="distinct names")


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
    r"""Return what an object says about a document that can be a field of it: short strings.

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
    """Build the refusal of the option ``columns`` where the columns have names."""
    option = Use("columns", is_name=True)
    return OptionError(
        *("the columns have names: ", *quotes(table.columns)),
        where=table.source.name,
        expected=("no ", option, ", which is for tables without a header"),
        remedy=("leave ", option, " out"),
    )


# --- Tables of pyarrow --------------------------------------------------------


def arrow_table(table: Any, source: Source, arrow: Any, *, is_frame: bool = False) -> Table:
    """Return a table of pyarrow as ours."""
    names = table.column_names
    check_distinct(names, source.name)
    try:
        columns = {name: _typed(table.column(name), name, arrow) for name in names}
    except MemoryError:
        raise
    except Exception as error:
        raise refusal(source.name, "not a readable table{}", reason(error)) from None
    return Table(source, columns, is_frame=is_frame)


def coded_columns(schema: Any, types: Any, *others: str) -> list[str]:
    """Return the columns of a schema of pyarrow whose strings are few, and so read as codes."""
    uncoded = {*NUMBERS, "text", *others}
    pairs = zip(schema.names, schema.types, strict=True)
    return [x for x, kind in pairs if our_name(x) not in uncoded and is_string(kind, types)]


def is_string(kind: Any, types: Any) -> bool:
    """Return whether a pyarrow type is one of strings, or of numbers that stand for strings."""
    values = kind.value_type if types.is_dictionary(kind) else kind
    return bool(types.is_string(values) or types.is_large_string(values))


def _typed(column: Any, name: str, arrow: Any) -> Any:
    """Return a column of pyarrow as it is where that means the same, else as Python objects."""
    kind, ours, types = column.type, our_name(name), arrow.types
    if types.is_dictionary(kind):
        kind = kind.value_type
    is_number = types.is_integer(kind)
    if ours in NUMBERS and is_number and not types.is_uint64(kind):
        return column.cast(arrow.int64())
    if ours not in NUMBERS and ours != "text" and (is_number or is_string(kind, types)):
        if types.is_dictionary(column.type) and not is_number:
            return column.unify_dictionaries()
        return column.cast(arrow.string()).dictionary_encode()
    return column.to_pylist()


# --- Columns to numbers -------------------------------------------------------


def codes_of(table: Table, column: str) -> tuple[list[str], Ints]:
    """Return the distinct values of a column as they first occur, and each row's; -1 for none.

    A column that the table does not have is one without values.
    """
    return stripped_codes(table, column)[:2]


def stripped_codes(table: Table, column: str) -> tuple[list[str], Ints, int]:
    """Number the values of a column.

    Returns
    -------
    names : list of str
        The distinct values as they first occur, without white space around them.
    codes : array of int, shape (rows,)
        The number of each row's value; -1 for none.
    n_stripped : int
        How many rows have a value with white space around it.
    """
    values = table.columns.get(column, [None] * len(table))
    if hasattr(values, "combine_chunks"):
        own, codes = _arrow_codes(values)
    else:
        if column in NAMES and not _SINGLE.issuperset(map(type, values)):
            for row, value in enumerate(values):
                if not is_single(value):
                    raise _unfit(table, row, column, value, "a name")
        is_text = _TEXT.issuperset(map(type, values))
        texts = values if is_text else [None if is_gap(v) else str(v) for v in values]
        own = list(dict.fromkeys(text for text in texts if text is not None))
        number: dict[str | None, int] = {None: -1, **{text: i for i, text in enumerate(own)}}
        codes = np.fromiter(map(number.__getitem__, texts), np.int64, len(texts))
    # What others numbered may have a name twice.
    if _are_bare(own) and len(set(own)) == len(own):
        return own, codes, 0
    stripped = list(map(str.strip, own))
    names: dict[str, int] = {}
    renumbered = [names.setdefault(name, len(names)) if name else -1 for name in stripped]
    is_other = [bool(name) and name != given for name, given in zip(stripped, own, strict=True)]
    n_stripped = int(np.array([*is_other, False])[codes].sum())
    return list(names), np.array([*renumbered, -1])[codes], n_stripped


def _are_bare(names: list[str]) -> bool:
    """Return whether all names begin and end with an ASCII character that is no white space."""
    letters = letters_of(names)
    if not names or not letters.sizes.all():
        return not names
    edges = letters.edges()
    return bool(np.all((edges > ord(" ")) & (edges < 128)))


def _arrow_codes(values: Any) -> tuple[list[str], Ints]:
    """Return the values of a dictionary-encoded column as they first occur, and their numbers."""
    coded = values.combine_chunks()
    names, codes = coded.dictionary, _array(coded.indices, -1)
    if names.null_count or not is_in_order(codes, len(names)):
        # The dictionary may have another order, and values that no row has.
        found = coded.cast(names.type).dictionary_encode()
        names, codes = found.dictionary, _array(found.indices, -1)
    return names.to_pylist(), codes


def _array(numbers: Any, gap: int) -> Any:
    """Return whole numbers of pyarrow as an array, with a number for those that are missing."""
    filled = numbers.cast("int64")
    if filled.null_count:  # otherwise nothing of pyarrow that imports pandas is used
        filled = filled.fill_null(gap)
    return np.from_dlpack(filled)


def is_in_order(codes: Ints, n_values: int) -> bool:
    """Return whether 0, 1, ... all occur, and first occur in this order; -1 stands for no value.

    Examples
    --------
    >>> is_in_order(np.array([0, 0, -1, 1, 0, 2]), 3), is_in_order(np.array([0, 2, 1]), 3)
    (True, False)
    """
    # The few values of most columns all occur in the first rows.
    for part in (codes[: max(_HEAD, 4 * n_values)], codes):
        seen = np.maximum.accumulate(part)
        if np.any(seen[:1] > 0) or np.any(np.diff(seen) > 1):
            return False
        if np.any(seen[-1:] == n_values - 1):
            return True
    return n_values == 0


def is_gap(value: object) -> bool:
    """Return whether a value stands for none: null, NaN, or a missing value of pandas."""
    if isinstance(value, float):
        return value != value  # noqa: PLR0124 - only NaN differs from itself
    return value is None or type(value).__name__ in _GAPS


def is_single(value: object) -> bool:
    """Return whether a value is neither bytes nor made of several values."""
    return isinstance(value, str) or not hasattr(value, "__len__")


def _unfit(table: Table, row: int, column: str, value: object, expected: str) -> DataError:
    remedy = ""
    if isinstance(value, bytes | bytearray):
        expected, remedy = f"{expected}, not bytes", "save or decode the column as text"
    return refusal(table.where(row), column + " is {}", value, expected=expected, remedy=remedy)


def whole_numbers(table: Table, column: str) -> tuple[Ints, Bools]:
    """Return a column of whole numbers, and which rows have none (value 0)."""
    values, expected = table.columns.get(column, np.full(len(table), np.nan)), "a whole number"
    if isinstance(values, list) and {int}.issuperset(map(type, values)):
        with suppress(OverflowError):
            values = np.array(values, dtype=np.int64)
    if hasattr(values, "combine_chunks"):
        numbers = _array(values.combine_chunks(), 0)
        missing = _array(values.is_null().combine_chunks(), 0).astype(bool)
    elif isinstance(values, np.ndarray) and values.dtype.kind in "iuf":
        missing = np.isnan(values)
        numbers = np.where(missing, 0, values)
    else:
        blanks = (is_gap(x) or (isinstance(x, str) and not x.strip()) for x in values)
        missing = np.fromiter(blanks, bool, len(values))
        numbers = np.zeros(len(values), dtype=np.int64)
        for row in np.flatnonzero(~missing).tolist():
            number = number_of(values[row]) if is_single(values[row]) else None
            if number is None:
                raise _unfit(table, row, column, values[row], expected)
            numbers[row] = number
    # Compared before the conversion, which would wrap around.
    is_whole = (numbers > -_TOO_LARGE) & (numbers < _TOO_LARGE)
    if numbers.dtype.kind == "f":
        is_whole &= numbers == np.floor(numbers)
    if not is_whole.all():
        row = int(np.argmin(is_whole))
        raise _unfit(table, row, column, numbers[row].item(), expected)
    return numbers.astype(np.int64, copy=False), missing


@lru_cache(maxsize=2**16, typed=True)
def number_of(value: object) -> int | None:
    """Return a value as a whole number; spreadsheets write some of them as 12.0."""
    if isinstance(value, str):
        return int(value.partition(".")[0]) if WHOLE.fullmatch(value) else None
    if isinstance(value, bool | np.bool_) or not isinstance(value, Real):
        return None
    number = int(value) if isinstance(value, Integral) else float(value)
    is_whole = abs(number) < _TOO_LARGE and float(number).is_integer()
    return int(number) if is_whole else None
