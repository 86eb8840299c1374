"""Text files cut into stretches of bytes, each with whole documents.

A stretch ends where the document of a row is another than that of the row before; it is looked for
in the last rows before the place where a stretch has become long enough, so that little is read
to cut a file.
"""

from __future__ import annotations

import csv
import json
from collections.abc import Callable, Iterator
from dataclasses import dataclass
from io import BytesIO
from itertools import pairwise
from pathlib import Path
from typing import Any

import numpy as np

from beyondchance.errors import FormatError
from beyondchance.io.columns import Table, known_columns, our_name
from beyondchance.io.options import Reading
from beyondchance.io.remote import open_remote, size_of
from beyondchance.io.separated import delimiter_of, first_line, named_columns
from beyondchance.io.sources import Source, is_url, parsed_json
from beyondchance.messages import quotes

WINDOW = 2**16
"""Bytes of the end of a stretch in which another document is looked for at first."""

DocumentOf = Callable[[bytes], str | None]
"""The document of a row, from its bytes; None if it cannot be told."""


@dataclass(frozen=True)
class Piece:
    """A stretch of a file.

    Attributes
    ----------
    file : int
        The number of what was given.
    name : str
        The file, for messages.
    first, last : int
        Where it begins and ends: bytes, or row groups.
    kind : {"bytes", "groups", "packed", "frame"}
    source : int
        The number of the file in a folder.
    path : str
    header : bytes
        What stands before the rows of every stretch.
    before : int
        Lines before, if they are known.
    texts_before : int
        Texts before, for those that are named by their numbers.
    """

    file: int
    name: str
    first: int
    last: int
    kind: str = "bytes"
    source: int = 0
    path: str = ""
    header: bytes = b""
    texts_before: int = 0

    def __str__(self) -> str:
        if self.kind in {"packed", "frame"}:
            return self.name
        what = "row groups" if self.kind == "groups" else "bytes"
        return f"{self.name}, {what} {self.first:,} to {self.last:,}"

    def read(self, source: Source) -> Source:
        """The stretch as a file of its own."""
        with open_place(self.path) as file:
            file.seek(self.first)
            data = file.read(self.last - self.first)
        return part_of(source, self.header + data, texts_before=self.texts_before)

    def lines_before(self) -> int:
        """How many lines of the file stand before the first row, less those of the header."""
        n_lines = 0
        with open_place(self.path) as file:
            left = self.first
            while left and (data := file.read(min(left, 2**24))):
                n_lines += data.count(b"\n")
                left -= len(data)
        return n_lines - self.header.count(b"\n")


def open_place(path: str) -> Any:
    """A file by its path or URL, to read bytes from."""
    return open_remote(path) if is_url(path) else Path(path).open("rb")


def part_of(source: Source, data: bytes, *, before: int = 0, texts_before: int = 0) -> Source:
    """Some bytes of a file as a file of its own."""
    return Source(
        source.name,
        member=data,
        given=source.given,
        allowed=source.allowed,
        before=before,
        texts_before=texts_before,
        digest="",
    )


# --- Tables ---------------------------------------------------------------------------


@dataclass(frozen=True)
class RowsOfText:
    """How the rows of a table are told apart, and their documents.

    Attributes
    ----------
    header : bytes
        The row that names the columns, with what stands before it; nothing if there is none.
    document_of : function
    has_quotes : bool
        Whether a line can end within a row, because quotes enclose it.
    """

    header: bytes
    document_of: DocumentOf
    has_quotes: bool


def rows_of_text(source: Source, reading: Reading) -> RowsOfText:
    """How the rows of a table are told apart.

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
        # The beginning of a packed file is in memory.
        begun = None if source.member is None else BytesIO(source.member)
        with begun or open_place(source.place) as file:
            number, row = next(item for item in enumerate(file, start=1) if item[1].strip())
        text = row.decode("utf-8-sig", "replace").rstrip()
        names = list(parsed_json(text, source.name, first_line=number))
        key = only_column([key for key in names if our_name(key) == "document"], names, source)
        return RowsOfText(b"", lambda row: _value_of(row, key), has_quotes=False)
    delimiter, option = delimiter_of(source), reading.options["columns"]
    if option is None:
        try:
            names = next(csv.reader([line], delimiter=delimiter))
        except csv.Error:
            problem = "the line of column names cannot be read"
            raise FormatError(problem, where=source.name, expected="names of columns") from None
        head = source.head
        begin = len(head) - len(head.lstrip(b"\r\n"))
        header = head[: head.find(b"\n", begin) + 1] or head
    else:
        names, header = list(named_columns(option)), b""
    table = known_columns(Table(source, {name.strip(): () for name in names}))
    place = [*table.columns].index("document") if "document" in table.columns else None
    if place is None:
        only_column([], names, source)
    return RowsOfText(header, lambda row: _cell_of(row, delimiter, place or 0), has_quotes=True)


def only_column(found: list[str], names: list[str], source: Source) -> str:
    """The column of documents, without which nothing says where to cut."""
    if len(found) != 1:
        raise FormatError(
            *("no column of documents among ", *quotes(names)),
            where=source.name,
            expected="one, to read the table in parts",
        )
    return found[0]


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


def cut_table(number: int, source: Source, reading: Reading, at_a_time: int) -> Iterator[Piece]:
    """Cut a table of text into stretches of so many bytes, or a few more."""
    rows = rows_of_text(source, reading)
    path = source.place
    with open_place(path) as file:

        def block(first: int, size: int) -> bytes:
            file.seek(first)
            return bytes(file.read(size))

        size = size_of(path) if is_url(path) else Path(path).stat().st_size
        for first, last in _stretches(block, len(rows.header), size, rows, at_a_time):
            yield Piece(number, source.name, first, last, path=path, header=rows.header)


def cut_bytes(source: Source, rows: RowsOfText, at_a_time: int) -> Iterator[Source]:
    """Cut a stretch of a table that was read, so that less of it is worked on at a time."""
    data, header = source.data, rows.header
    stretches = _stretches(
        lambda first, size: data[first : first + size], len(header), len(data), rows, at_a_time
    )
    for first, last in stretches:
        before = source.before + data.count(b"\n", len(header), first)
        yield part_of(source, header + data[first:last], before=before)


def _stretches(
    block: Callable[[int, int], bytes], first: int, size: int, rows: RowsOfText, at_a_time: int
) -> Iterator[tuple[int, int]]:
    """Where stretches of whole documents begin and end; one, if there are no rows."""
    if size == first:
        yield first, size
    while first < size:
        last, wanted = size, at_a_time
        while size - first > wanted:
            cut = last_change(block(first, wanted), rows)
            if cut:
                last = first + cut
                break
            wanted *= 2  # one document fills all of it
        yield first, last
        first = last


def last_change(block: bytes, rows: RowsOfText) -> int:
    r"""Where the last document of a block begins; 0 if it is the only one.

    The block begins with a row, and may end within one.

    Examples
    --------
    >>> rows = RowsOfText(b"", lambda row: row[:1].decode(), has_quotes=True)
    >>> last_change(b"a,1\na,2\nb,1\nb,2\nb", rows)
    8
    """
    window = WINDOW
    while True:
        begin = max(len(block) - window, 0)
        lines = _rows_from(block, begin, has_quotes=rows.has_quotes)
        documents = [rows.document_of(block[first:last]) for first, last in lines]
        places = [
            first
            for (first, _), (one, other) in zip(lines[1:], pairwise(documents), strict=True)
            if one != other
        ]
        if places or not begin:
            return places[-1] if places else 0
        window *= 4


_EDGES = np.frombuffer(b'\n\r,;\t|"', dtype=np.uint8)
"""What is next to a quote that encloses a cell, or is written twice within it."""


def _rows_from(block: bytes, begin: int, *, has_quotes: bool) -> list[tuple[int, int]]:
    """The rows of a block that begin at a place or behind it, and are whole."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends = begin + np.flatnonzero(data[begin:] == ord("\n"))
    if has_quotes and b'"' in block:
        # A line that ends within quotes goes on. Quotes amid other letters enclose nothing.
        place = np.flatnonzero(data == ord('"'))
        padded = np.concatenate([_EDGES[:1], data, _EDGES[:1]])
        near = np.isin(padded[place], _EDGES) | np.isin(padded[place + 2], _EDGES)
        ends = ends[np.searchsorted(place[near], ends) % 2 == 0]
    places = ([0] if not begin else []) + (ends + 1).tolist()
    return [(first, last - 1) for first, last in pairwise(places) if last - 1 > first]
