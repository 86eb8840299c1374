"""Columns of a table: CSV, TSV, JSON Lines, Parquet or a data frame, as codes and whole numbers.

A column is a list of Python values, an array, or a column of pyarrow: of integers, or of strings
that are dictionary-encoded, with no value twice in the dictionary. The last kind is never turned
into Python objects.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from contextlib import suppress
from dataclasses import dataclass, replace
from functools import cached_property, lru_cache
from importlib import import_module
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
_NESTED = frozenset({"tokens", "words", "spans", "entities"})
"""Columns of data sets with one row for each text, which other readers take."""
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


def coded_columns(schema: Any, *others: str) -> list[str]:
    """Return the columns of a schema of pyarrow whose strings are few, and so read as codes."""
    uncoded, types = {*NUMBERS, "text", *others}, import_module("pyarrow").types
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
    if column not in table.columns:
        return [], np.full(len(table), -1), 0
    values = table.columns[column]
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


# --- Data frames: pandas, polars, pyarrow, or columns in a dictionary ---------
# They are recognised by their structure: nothing here imports pandas or polars.


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
