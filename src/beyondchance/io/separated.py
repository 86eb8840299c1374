"""Rows of cells with separators: CSV and TSV."""

from __future__ import annotations

import csv
import io
from collections.abc import Iterator, Mapping, Sequence
from contextlib import contextmanager, suppress
from itertools import islice
from threading import Lock
from typing import Any

from beyondchance.checks import repeated
from beyondchance.errors import FormatError, OptionError
from beyondchance.io.columns import SPAN, our_name
from beyondchance.io.sources import Source, once
from beyondchance.io.values import refusal
from beyondchance.messages import given, quotes

IGNORED = "_"
"""What stands for a column to ignore, in the option ``columns``."""
_FIELD_LIMIT = Lock()
_MOST_ROWS = 400

Columns = Mapping[str, tuple[str, ...]]
"""What is looked for in a kind of table, and the names that a column of it can have."""


def first_line(source: Source) -> str:
    """Return the first line that is not blank."""
    return source.head_text.lstrip("\n\r").partition("\n")[0].strip("\r")


def delimiter_of(source: Source, signs: str = ",;\t") -> str:
    """Return the separator that divides the first line into most cells."""
    return max(signs, key=first_line(source).count)


def head_rows(source: Source, delimiter: str = "", most: int = 1) -> list[list[str]]:
    """Cut the first lines of a file into cells, to recognise a format by."""
    return _first_rows(source, delimiter or delimiter_of(source))[:most]


@once
def _first_rows(source: Source, delimiter: str) -> list[list[str]]:
    """Cut the head of a file into rows, up to one that is not CSV or may be cut off."""
    rows: list[list[str]] = []
    with suppress(csv.Error):
        rows += islice(_cut(source.head_text.lstrip("\n\r"), delimiter), _MOST_ROWS)
    is_cut = source.is_longer_than_head and 1 < len(rows) < _MOST_ROWS
    return rows[:-1] if is_cut else rows


def _cut(text: str, delimiter: str, **options: Any) -> Any:
    """Cut a text into rows of cells: the one place where CSV is read."""
    return csv.reader(io.StringIO(text, newline=""), delimiter=delimiter, **options)


def kind_of(row: Sequence[str], kinds: Sequence[Columns]) -> Columns | None:
    """Return the first of several kinds of tables all of whose columns a header names.

    Examples
    --------
    >>> kind_of(["Seg ID", "text"], [{"segment": ("seg_id", "number")}])
    {'segment': ('seg_id', 'number')}
    """
    names = set(_names_in(row))
    found = (kind for kind in kinds if all(names.intersection(also) for also in kind.values()))
    return next(found, None)


def _names_in(row: Sequence[str]) -> list[str]:
    """Return the names of columns; files differ in capitals, and in blanks for underscores."""
    return [name.strip().lower().replace(" ", "_") for name in row]


def declared_rows(
    source: Source, kinds: Sequence[Columns], delimiter: str, *, has_quotes: bool = True
) -> Iterator[tuple[str, dict[str, str], dict[str, str]]]:
    """Yield the place of each row of a table, its declared cells, and its others by their names.

    A table that is of no kind is expected to be of the last one.
    """
    (_, header), *rows = csv_rows(source, delimiter, has_quotes=has_quotes) or [(1, [])]
    names, kind = _names_in(header), kind_of(header, kinds)
    if kind is None or repeated(filter(None, names)):
        raise refusal(
            f"{source.name}:1",
            "the columns are {}",
            quotes(names),
            expected=f"{', '.join(kinds[-1])}, each once, divided by {delimiter!r}",
        )
    for line, cells in rows:
        row = dict(zip(names, cells, strict=False))
        declared = {
            what: row.pop(next(name for name in also if name in row)) for what, also in kind.items()
        }
        yield f"{source.name}:{line}", declared, row


def named_columns(value: object) -> tuple[str, ...]:
    """Return the names of the option ``columns``: names, or a string of names with commas.

    Examples
    --------
    >>> named_columns("document, label,start,end") == named_columns(
    ...     ["document", "label", "start", "end"]
    ... )
    True
    """
    names = value.split(",") if isinstance(value, str) else value
    expected = "names with commas between them"
    if isinstance(names, list | tuple) and all(isinstance(name, str) for name in names):
        stripped = tuple(name.strip() for name in names)
        ours = [our_name(name) for name in stripped if name != IGNORED]
        expected = f"distinct names, or {IGNORED} for each column to ignore"
        if not set(SPAN) <= set(ours):
            expected = f"{', '.join(SPAN)} among them"
        elif all(stripped) and not repeated(ours):
            return stripped
    raise OptionError(*given("columns", value), expected=expected)


@contextmanager
def _fields_up_to(length: int) -> Iterator[None]:
    """Let the csv module read long fields; its limit is one for the whole process."""
    # Within the lock, because another thread may have raised the limit for a while.
    with _FIELD_LIMIT:
        before = csv.field_size_limit()
        csv.field_size_limit(max(before, length))
        try:
            yield
        finally:
            csv.field_size_limit(before)


def csv_rows(
    source: Source, delimiter: str = "", *, has_quotes: bool = True
) -> list[tuple[int, list[str]]]:
    """Return the rows and the lines where they begin; all have as many cells as the first.

    Where quotes are part of the cells, columns whose name is a remark may be missing in rows.
    """
    text, rows, n_spare = source.text, [], 0
    is_sheet = source.ending.startswith(".xls")  # whose rows people know by their numbers
    if has_quotes:
        reader = _cut(text, delimiter or delimiter_of(source), strict=True)
        line = 0
        try:
            with _fields_up_to(len(text)):
                for row in reader:
                    # A row may go over several lines, and the reader is at the end of the last.
                    begins, line = line + 1, line + 1 if is_sheet else reader.line_num
                    if any(row):  # spreadsheets leave rows of nothing but separators behind
                        rows.append((begins, row))
        except csv.Error as error:
            where = f"{source.name}:{line + 1 + source.before}"
            raise FormatError(f"not valid CSV ({error})", where=where) from None
    else:
        lines = enumerate(source.lines(), start=1)
        rows = [(number, line.split(delimiter)) for number, line in lines if line.strip()]
        n_spare = sum(name.startswith("#") for _, names in rows[:1] for name in names)
    for begins, row in rows:
        if not -n_spare <= len(row) - len(rows[0][1]) <= 0:
            raise FormatError(
                f"found {len(row)} columns",
                where=f"{source.name}:{begins + source.before}",
                expected=f"{len(rows[0][1]) - n_spare}, as in the first row",
            )
    return rows
