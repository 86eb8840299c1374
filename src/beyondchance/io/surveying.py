"""Files of lines looked through once, to know where they can be cut and what all rows say.

Nothing but some lines is in memory at a time. Most lines are told apart by their first byte, all
at once; the others, such as comments, are looked at one by one as the reader does. Files are
looked through in stretches, of which several processes can each take some: what they show adds.
"""

from __future__ import annotations

import csv
import re
from collections.abc import Callable, Iterator
from dataclasses import dataclass, field
from itertools import pairwise
from pathlib import Path
from typing import BinaryIO, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beyondchance.types import Bools, Ints

BLOCK = 2**19
"""Bytes that are looked at, at a time: arrays of more take memory, and longer."""
STRETCH = 2**24
"""Bytes of a file that are looked through by one process, or a few more."""
STEP = 64
"""One text in so many is kept in mind, where a file is cut into large stretches."""
ROW, BLANK, COMMENT, MARK, _LOOK = range(5)
"""Kinds of lines; a MARK begins a document."""
_WINDOW = 2**16
"""Bytes in which the next place is looked for."""
_LINE_END, _EMPTY_LINE = re.compile(rb"\n"), re.compile(rb"\n\r?\n")
"""What a stretch of a file begins behind."""
_MOST_PAIRS = 2**16
"""More distinct pairs of neighbours are none of tags."""
_LONGEST = 256
"""Bytes of a cell that are compared."""
_TAB, _SPACE, _COMMA, _RETURN, _END = b"\t ,\r\n"
_OTHER_SPACE = b"\x0b\x0c\x1c\x1d\x1e\x1f"

Bytes = NDArray[np.uint8]
Keys = NDArray[np.uint64]
KindOf = Callable[[bytes], tuple[int, str]]
"""What a line is, and the name of the document that it begins."""


def _first_bytes(others: bytes) -> Bytes:
    """What a line is, as far as its first byte tells."""
    kinds = np.zeros(256, dtype=np.uint8)
    # The bytes that begin white space in UTF-8 are among those that begin words.
    kinds[list(b"\t\r " + _OTHER_SPACE + b"\xc2\xe1\xe2\xe3" + others)] = _LOOK
    kinds[_END] = BLANK
    return kinds


def _wide_spaces() -> Ints:
    """White space that is not ASCII, as numbers of two or three bytes of UTF-8."""
    spaces = (chr(code) for code in range(128, 0x3001) if chr(code).isspace())
    return np.array([int.from_bytes(space.encode(), "big") for space in spaces])


_WIDE_SPACES = _wide_spaces()


@dataclass(frozen=True)
class Rules:
    """How the lines of a file are told apart.

    Attributes
    ----------
    kind_of : function
        Of a line that its first byte does not tell.
    first_bytes : bytes
        The first bytes of such lines, next to white space.
    is_each : bool
        Whether each row is a text, and not those up to a blank line.
    """

    kind_of: KindOf
    first_bytes: bytes = b""
    is_each: bool = False


def stretches(path: str, begin: int, *, is_each: bool) -> list[tuple[int, int]]:
    """Where stretches of a file begin and end, so that no text is in two of them.

    Each begins right behind an empty line; behind any line, where each row is a text.
    """
    sign = _LINE_END if is_each else _EMPTY_LINE
    with Path(path).open("rb") as file:
        size = file.seek(0, 2)
        bounds = [begin]
        while (place := _behind(file, bounds[-1] + STRETCH, sign)) < size:
            bounds.append(place)
    return list(pairwise([*bounds, size]))


def _behind(file: BinaryIO, place: int, sign: re.Pattern[bytes]) -> int:
    """The place behind the next sign, or the end of the file."""
    file.seek(place)
    held = b""
    while data := file.read(_WINDOW):
        if found := sign.search(held + data):
            return place - len(held) + found.end()
        place += len(data)
        held = data[-2:]
    return file.seek(0, 2)


def blocks(path: str, begin: int, end: int, size: int) -> Iterator[tuple[int, bytes]]:
    """Whole lines of a stretch, some at a time, and where they begin; all of them have an end."""
    with Path(path).open("rb") as file:
        file.seek(begin)
        held: list[bytes] = []
        while data := file.read(max(min(size, end - file.tell()), 0)):
            n_bytes = data.rfind(b"\n") + 1
            if not n_bytes:
                held.append(data)
                continue
            block = b"".join([*held, data[:n_bytes]])
            yield begin, block
            begin += len(block)
            held = [data[n_bytes:]]
        if rest := b"".join(held):
            yield begin, rest + b"\n"


@dataclass(frozen=True)
class Lines:
    """The lines of a block.

    Attributes
    ----------
    block : bytes
    data : array of byte
    starts, ends : array of int
        Where each line begins and ends; its end is not part of it.
    kinds : array of byte
    marks : list of (int, str)
        The lines that begin documents, and the names of these.
    """

    block: bytes
    data: Bytes
    starts: Ints
    ends: Ints
    kinds: Bytes
    marks: list[tuple[int, str]]


def lines_of(block: bytes, rules: Rules, first_bytes: Bytes) -> Lines:
    """Tell the lines of a block apart."""
    data = np.frombuffer(block, dtype=np.uint8)
    ends = np.flatnonzero(data == _END)
    starts = np.empty_like(ends)
    starts[0] = 0
    np.add(ends[:-1], 1, out=starts[1:])
    kinds = first_bytes[data[starts]]
    marks: list[tuple[int, str]] = []
    look = np.flatnonzero(kinds == _LOOK)
    if len(look):
        look = _not_told(data, starts, kinds, look)
    for line in look.tolist():
        kind, name = rules.kind_of(block[starts[line] : ends[line]])
        kinds[line] = kind
        if kind == MARK:
            marks.append((line, name))
    return Lines(block, data, starts, ends, kinds, marks)


def _not_told(data: Bytes, starts: Ints, kinds: Bytes, look: Ints) -> Ints:
    """The lines that the second and third bytes do not tell either; the others are told."""
    first = data[starts[look]].astype(np.int64)
    last = len(data) - 1
    second = data[np.minimum(starts[look] + 1, last)]
    third = data[np.minimum(starts[look] + 2, last)]
    is_blank = (first == _RETURN) & (second == _END)
    two = first << 8 | second
    wide = np.where(first == 0xC2, two, two << 8 | third)
    is_word = ((first >= 128) & ~np.isin(wide, _WIDE_SPACES)) | (
        (first == ord("-")) & (second != ord("D"))
    )
    kinds[look[is_blank]] = BLANK
    kinds[look[is_word]] = ROW
    rest: Ints = look[~(is_blank | is_word)]
    return rest


# --- Texts ----------------------------------------------------------------------------


class Mark(NamedTuple):
    """Where a document begins: the byte, the lines and texts before, and its name."""

    place: int
    line: int
    text: int
    name: str


@dataclass(eq=False)
class Texts:
    """Where the texts of a file, or of a stretch of it, begin, and its documents.

    Attributes
    ----------
    path : str
    begin, end : int
        The first byte, behind a header, and the one behind the last.
    rules : Rules
    step : int
        One text in so many, or a few more, is in `places`.
    n : int
        How many texts there are.
    n_lines : int
        How many lines there are, with those of a header.
    places : list of array of int, shape (3, texts)
        The numbers of these texts, where they begin, and how many lines stand before.
    marks : list of Mark
    """

    path: str
    begin: int
    end: int
    rules: Rules
    step: int
    n: int = 0
    n_lines: int = 0
    places: list[Ints] = field(default_factory=lambda: [np.zeros((3, 0), dtype=np.int64)])
    marks: list[Mark] = field(default_factory=list)

    def add(self, places: Ints, lines: Ints) -> None:
        """Add texts that begin at these places, behind so many lines."""
        own = slice(-self.n % self.step, None, self.step)
        numbers = np.arange(self.n, self.n + len(places))
        self.places.append(np.stack([numbers[own], places[own], lines[own]]))
        self.n += len(places)

    def join(self, other: Texts) -> None:
        """Add the stretch that follows."""
        self.places.append(other.known() + np.array([[self.n], [0], [self.n_lines]]))
        self.marks += [
            mark._replace(line=mark.line + self.n_lines, text=mark.text + self.n)
            for mark in other.marks
        ]
        self.n += other.n
        self.n_lines += other.n_lines
        self.end = other.end

    def known(self) -> Ints:
        """The texts that are kept in mind: their numbers, their places and the lines before."""
        if len(self.places) > 1:
            self.places = [np.concatenate(self.places, axis=1)]
        return self.places[0]

    def place(self, number: int) -> tuple[int, int]:
        """Where a text begins, and how many lines stand before."""
        known = self.known()
        index = int(np.searchsorted(known[0], number, side="right")) - 1
        nearest, begin, n_lines = known[:, index].tolist()
        left = number - nearest
        if not left:
            return begin, n_lines
        first_bytes = _first_bytes(self.rules.first_bytes)
        before = BLANK
        for place, block in blocks(self.path, begin, self.end, _WINDOW):
            lines = lines_of(block, self.rules, first_bytes)
            found, before = beginnings(lines.kinds, before, is_each=self.rules.is_each)
            if left < len(found):
                line = int(found[left])
                return place + int(lines.starts[line]), n_lines + line
            left -= len(found)
            n_lines += len(lines.kinds)
        raise AssertionError(number)

    def number_from(self, place: int) -> int:
        """The first text at this place or behind whose number is a multiple of the step.

        It is not the first of all, and `n` or more if there is none: so the stretches in which a
        file was looked through do not matter.
        """
        numbers, places, _ = self.known()
        index = int(np.searchsorted(places, place))
        number = int(numbers[max(index - 1, 0)]) // self.step * self.step + self.step
        while number < self.n and self.place(number)[0] < place:
            number += self.step
        return number


def beginnings(kinds: Bytes, before: int, *, is_each: bool) -> tuple[Ints, int]:
    """The lines with which texts begin, and the kind of the last line but for comments."""
    if is_each:
        return np.flatnonzero(kinds == ROW), before
    solid = np.flatnonzero(kinds != COMMENT)
    if not len(solid):
        return solid, before
    own = kinds if len(solid) == len(kinds) else kinds[solid]
    is_row = own == ROW
    begins = is_row.copy()
    begins[1:] &= ~is_row[:-1]
    begins[0] &= before != ROW
    return solid[begins], int(own[-1])


def survey(texts: Texts, see: Callable[[Lines, Ints], None] | None = None) -> None:
    """Go through a stretch, and note where its texts and documents begin.

    `see` is shown all lines, and those with which texts begin.
    """
    first_bytes = _first_bytes(texts.rules.first_bytes)
    before = BLANK
    for place, block in blocks(texts.path, texts.begin, texts.end, BLOCK):
        lines = lines_of(block, texts.rules, first_bytes)
        found, before = beginnings(lines.kinds, before, is_each=texts.rules.is_each)
        for line, name in lines.marks:
            n_before = texts.n + int(np.searchsorted(found, line))
            texts.marks.append(
                Mark(place + int(lines.starts[line]), texts.n_lines + line, n_before, name)
            )
        texts.add(place + lines.starts[found], texts.n_lines + found)
        if see is not None:
            see(lines, found)
        texts.n_lines += len(lines.kinds)


# --- Columns --------------------------------------------------------------------------


@dataclass(frozen=True)
class Cells:
    """The cells of the rows of a block, column by column.

    Attributes
    ----------
    data : array of byte
        With so many bytes more that all can be looked at by eights.
    starts, ends : array of int, shape (columns, rows)
    """

    data: Bytes
    starts: Ints
    ends: Ints

    def text(self, column: int, row: int) -> str:
        """One cell."""
        cell = self.data[self.starts[column, row] : self.ends[column, row]]
        return cell.tobytes().decode("utf-8", "replace")

    def keys(self, column: int) -> Keys:
        """Numbers that are equal for equal cells, and different for different ones."""
        starts = self.starts[column]
        sizes = np.minimum(self.ends[column] - starts, _LONGEST)
        eights = np.ndarray(len(self.data) - 7, dtype="<u8", buffer=self.data, strides=(1,))
        keys: Keys = sizes.astype(np.uint64) * _PRIMES[0]
        for place in range(0, int(sizes.max(initial=0)), 8):
            part = eights[np.minimum(starts + place, len(eights) - 1)]
            part &= _MASKS[np.clip(sizes - place, 0, 8)]
            keys = (keys ^ part) * _PRIMES[1]
            keys ^= keys >> np.uint64(29)
        return keys


_PRIMES = np.array([0x9E3779B97F4A7C15, 0xBF58476D1CE4E5B9, 0x94D049BB133111EB], dtype=np.uint64)
_MASKS = np.array([(1 << (8 * n)) - 1 for n in range(9)], dtype=np.uint64)


def cells_in(
    lines: Lines, width: int, cells_of: Callable[[bytes], list[bytes]], comma: bool
) -> Cells:
    """The cells of all rows; of rows with another number of them, as many as there should be."""
    rows = np.flatnonzero(lines.kinds == ROW)
    found = _regular(lines, rows, width, comma=comma)
    if found is not None:
        return found
    block = lines.block
    bounds = zip(lines.starts[rows].tolist(), lines.ends[rows].tolist(), strict=True)
    cells: list[bytes] = []
    for start, end in bounds:
        own = cells_of(block[start:end])[:width]
        cells += [*own, *([b""] * (width - len(own)))]
    sizes = np.fromiter(map(len, cells), dtype=np.int64, count=len(cells))
    ends = np.cumsum(sizes)
    data = np.frombuffer(b"".join(cells) + bytes(16), dtype=np.uint8)
    return Cells(data, (ends - sizes).reshape(-1, width).T, ends.reshape(-1, width).T)


def _regular(lines: Lines, rows: Ints, width: int, *, comma: bool) -> Cells | None:
    """The cells of rows that are all divided by the same sign; None if some are not."""
    block = lines.block
    n_returns = block.count(b"\r")
    has_odd = any(bytes([code]) in block for code in _OTHER_SPACE)
    if has_odd or (n_returns and n_returns != block.count(b"\r\n")):
        return None
    has_tab = b"\t" in block
    if comma and (has_tab or b'"' in block):
        return None
    separator = _COMMA if comma else _TAB if has_tab else _SPACE
    places = np.flatnonzero(lines.data == separator)
    first, last = lines.starts[rows], lines.ends[rows]
    if len(places) != len(rows) * (width - 1):
        # Comments have some as well.
        line = np.searchsorted(lines.ends, places)
        places = places[lines.kinds[line] == ROW]
    if len(places) != len(rows) * (width - 1) or width < 2:
        return None
    between = places.reshape(-1, width - 1).T
    # As many as there should be, and those of each row within it: none has more or fewer.
    if np.any(between[0] < first) or np.any(between[-1] > last):
        return None
    starts, ends = np.empty((2, width, len(rows)), dtype=np.int64)
    starts[0], ends[-1] = first, last
    ends[:-1] = between
    np.add(between, 1, out=starts[1:])
    if n_returns:
        ends[-1] -= lines.data[ends[-1] - 1] == _RETURN
    if separator == _SPACE and np.any(starts == ends):
        return None
    return Cells(np.frombuffer(block + bytes(16), dtype=np.uint8), starts, ends)


@dataclass(eq=False)
class Column:
    """The tags of a column: the distinct ones, and what stands before them.

    Attributes
    ----------
    pairs : dict, optional
        Each tag with the one before, which is O for the first of a text; None if there are too
        many distinct ones.
    known : array of int
        The keys of the pairs, ascending.
    last : (int, str)
        The last tag, and its key.
    """

    pairs: dict[tuple[str, str], None] | None = field(default_factory=dict)
    known: Keys = field(default_factory=lambda: np.zeros(0, dtype=np.uint64))
    last: tuple[np.uint64, str] = (np.uint64(0), "O")

    def join(self, other: Column) -> None:
        """Add the tags of another stretch, whose texts are others."""
        both = None if self.pairs is None or other.pairs is None else self.pairs | other.pairs
        self.pairs = both if both is not None and len(both) <= _MOST_PAIRS else None

    def see(self, cells: Cells, column: int, begins: Bools) -> set[str]:
        """See the tags of more rows; those that come after an other one for the first time."""
        if self.pairs is None or not cells.starts.shape[1]:
            return set()
        keys = cells.keys(column)
        before = np.empty_like(keys)
        before[0] = self.last[0]
        before[1:] = keys[:-1]
        before[begins] = 0
        pairs = before * _PRIMES[2] + keys
        fresh = self._fresh(pairs)
        tags: set[str] = set()
        for row in fresh.tolist():
            tag = cells.text(column, row)
            other = cells.text(column, row - 1) if row else self.last[1]
            self.pairs["O" if begins[row] else other, tag] = None
            tags.add(tag)
        self.known = np.union1d(self.known, pairs[fresh])
        self.last = keys[-1], cells.text(column, -1)
        if len(self.pairs) > _MOST_PAIRS:
            self.pairs = None
        return tags

    def _fresh(self, pairs: Keys) -> Ints:
        """One row of each pair that is not known."""
        rows = np.arange(len(pairs))
        if len(self.known):
            # Most are like the most frequent one, which need not be looked up.
            rows = np.flatnonzero(pairs != pairs[len(pairs) // 2])
            rows = np.append(rows, len(pairs) // 2)
            own = pairs[rows]
            place = np.minimum(np.searchsorted(self.known, own), len(self.known) - 1)
            rows = rows[self.known[place] != own]
        _, first = np.unique(pairs[rows], return_index=True)
        return rows[first[: _MOST_PAIRS + 1]]


def csv_cells(line: str) -> list[str] | None:
    """The cells of a line of CSV; None if its last cell goes on in the next line."""
    try:
        rows = list(csv.reader([line, "x"]))
    except csv.Error:
        return None
    return rows[0] if len(rows) == 2 else None


def is_tag_cell(cells: Cells, column: int) -> Bools:
    """Whether cells look like tags, whatever their scheme."""
    starts, sizes = cells.starts[column], cells.ends[column] - cells.starts[column]
    first, second, third = (cells.data[starts + i] for i in range(3))
    is_prefix = np.isin(first, _PREFIXES)
    is_alone = (sizes == 1) & (is_prefix | (first == ord("O")))
    is_labelled = (sizes > 2) & is_prefix & (second == ord("-")) & ~np.isin(third, _SPACES)
    is_tag: Bools = is_alone | is_labelled
    return is_tag


_PREFIXES = np.frombuffer(b"BIELSUM", dtype=np.uint8)
_SPACES = np.frombuffer(b"\t\r\n " + _OTHER_SPACE, dtype=np.uint8)
