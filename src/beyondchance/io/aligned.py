"""Cut files of tagged sentences or of records, one for each annotator, into pieces of same texts.

All files are looked through before the first piece is read: texts are counted, so that all files
can be cut before the same one, and what all rows of a file decide is found out. Several processes
can each look through a stretch of a file: what they see adds.
"""

from __future__ import annotations

import csv
import json
import re
from array import array
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Iterator, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, compress, islice, pairwise, repeat
from typing import Any

from beyondchance.io.formats.conll import (
    DOCUMENT_LINE,
    DOCUMENT_NAMES,
    LAST,
    RESERVED_COLUMNS,
    SENTENCE_NAMES,
    cells_of,
    is_header,
    kind_of,
    names_of,
    other_number,
    parts_of_comment,
)
from beyondchance.io.formats.records import KEYS_OF_PEOPLE
from beyondchance.io.layouts import Layout
from beyondchance.io.options import Reading
from beyondchance.io.pieces import Range, in_order
from beyondchance.io.record_keys import has_text
from beyondchance.io.remote import open_file
from beyondchance.io.sources import Source
from beyondchance.io.tagged import TAG, are_numbers, are_tags, scheme_of_pairs, trailing_tags

BLOCK = 2**16
"""Bytes that are looked at, at a time."""
STRETCH = 2**24
"""Bytes of a file that are looked through by one process, or a few more."""
LARGE = 2**20
"""Pieces of so many bytes need not be cut at the very text that fills them."""
STEP = 64
"""Large pieces begin with a text whose number is a multiple of this."""
_FEWER = 16
"""How much smaller the first of them is: it is read before all others, while workers wait."""
_MOST_PAIRS = 2**16
"""More distinct pairs of neighbours are none of tags."""
_BOM = b"\xef\xbb\xbf"
_SPACES = [re.escape(chr(code).encode()) for code in range(14, 0x3001) if chr(code).isspace()]
_ODD = re.compile(
    rb"\n(?:#|%b|[\t\x0b\x0c]|\r(?!\n)|%b)[^\n]*" % (DOCUMENT_LINE.encode(), b"|".join(_SPACES))
)
"""A line that may be no row, and is not empty, behind the end of another."""
_GAP = re.compile(rb"\n(?:\r?\n)+(?=\r*[^\r\n])")
"""What is between texts, where nothing but empty lines is."""
_LINE = re.compile(rb"\n[^\n]*(?=\n)")
_NO_SPACES = bytes(code for code in range(256) if code > 127 or not chr(code).isspace())
"""All bytes but those that divide ASCII text."""
_KEYS_OF_PEOPLE = [f'"{key}"'.encode() for key in KEYS_OF_PEOPLE]
_WORDS = "tokenized_text"
_BETWEEN = frozenset({"blank", "comment", "document"})
"""Kinds of lines that are no rows."""

Engine = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""A function like `map`, which may give results in another order."""


class _UncutError(Exception):
    """A file that is read as a whole."""


def aligned_ranges(
    sources: Sequence[Source],
    reading: Reading,
    size: int,
    engine: Engine = map,
    *,
    are_tagged: bool,
) -> list[tuple[Range, ...]]:
    """Cut files, one for each annotator, into pieces of the same texts.

    Files of tokens and tags are cut between sentences or documents, JSON Lines between records.
    Other files are one piece, and so are those whose texts are matched by their words, or whose
    records name annotators: all of them together say who annotated what.

    Parameters
    ----------
    sources : sequence of Source
    reading : Reading
        Its options.
    size : int
        Bytes that a piece of the first file has, or a few more or less.
    engine : function like `map`
        Looks through the files.
    are_tagged : bool
        Whether the files hold tokens and tags.

    Raises
    ------
    MismatchError
        If a file without marks of documents has other sentences than those with them.
    """
    try:
        files = _looked_through(sources, reading, size, engine, are_tagged=are_tagged)
        layouts = _layouts(files, reading) if are_tagged else [None] * len(files)
        cuts = _cuts(sources, files, size)
    except _UncutError:
        return [tuple(Range(i, source.name) for i, source in enumerate(sources))]
    bounds = [[(0, 0)] * len(files), *cuts, [(file.lines.end, 0) for file in files]]
    return [
        tuple(
            Range(
                *(i, file.lines.name, first, last),
                # The first piece has it in its place.
                header=file.lines.header if first else b"",
                texts_before=n_before,
                layout=layout,
            )
            for i, (file, layout, (first, n_before), (last, _)) in enumerate(
                zip(files, layouts, one, other, strict=True)
            )
        )
        for one, other in pairwise(bounds)
    ]


# --- How lines are read ---------------------------------------------------------------


@dataclass(frozen=True)
class _Lines:
    """How the lines of a file are read: as records, unless it is one of tokens and tags.

    Attributes
    ----------
    name, place : str
        The file, for messages, and its path or URL.
    begin, end : int
        The first byte that is looked at, and the one behind the last.
    may_name : bool
        Whether records may name annotators.
    header : bytes
        What names the columns, for every piece.
    names : tuple of str
        The columns, if a header names them.
    comma : bool
        Whether cells are divided by commas.
    width : int
        How many columns there are.
    dividing : tuple of int
        The columns that name documents and sentences, if there are any.
    columns, kept : frozenset of int
        The columns whose tags are looked at; those that are wanted, even if not all are tags.
    is_counted : bool
        Whether a column is one of tags if most of its cells are.
    """

    name: str
    place: str
    begin: int
    end: int
    may_name: bool = False
    header: bytes = b""
    names: tuple[str, ...] = ()
    comma: bool = False
    width: int = 0
    dividing: tuple[int | None, int | None] = (None, None)
    columns: frozenset[int] = frozenset()
    kept: frozenset[int] = frozenset()
    is_counted: bool = False

    is_each = True

    @property
    def singly(self) -> re.Pattern[bytes]:
        """The lines that are looked at one by one."""
        return _LINE

    def kind_of(self, line: bytes) -> tuple[str, str]:
        """Return what a line is, and the row, or the name of the document that it begins."""
        text = self.text_of(line)
        return ("row" if text.strip() else "blank"), text

    def look(self, rows: bytes, seen: _Texts) -> None:
        """Take what rows, with an empty line before each text, say of the whole file."""
        del seen
        if self.may_name and any(key in rows for key in _KEYS_OF_PEOPLE):
            raise _UncutError

    def shown(self, place: int) -> int:
        """Return where a piece that begins here shows that it is read as the whole file is.

        The end of the file, if it does not. A single record could stand for a whole file.
        """
        rows = [*islice(self.rows_from(place), 2)]
        return rows[1][0] if len(rows) > 1 and rows[0][1].lstrip().startswith("{") else self.end

    def text_of(self, line: bytes) -> str:
        """Return a line as the reader takes it."""
        text = line.removesuffix(b"\n").removesuffix(b"\r").decode("utf-8", "replace")
        if not self.comma:
            return text
        try:
            rows = [*csv.reader([text, "x"])]
        except csv.Error:
            raise _UncutError from None
        if len(rows) != 2:
            raise _UncutError  # the last cell goes on in the next line
        return "\t".join(rows[0])

    def rows_from(self, place: int) -> Iterator[tuple[int, str]]:
        """Read rows one by one, each with its place."""
        with open_file(self.place) as file:
            file.seek(place)
            for line in file:
                kind, text = self.kind_of(line)
                if kind not in _BETWEEN:
                    yield place, text
                place += len(line)


@dataclass(frozen=True)
class _Tagged(_Lines):
    """How the lines of a file of tokens and tags are read."""

    is_each = False

    @property
    def singly(self) -> re.Pattern[bytes]:
        return _LINE if self.comma or self.dividing != (None, None) else _ODD

    def kind_of(self, line: bytes) -> tuple[str, str]:
        text = self.text_of(line)
        kind = kind_of(text, cells_of(text), self.width)
        key, _, value = parts_of_comment(text) if kind == "comment" else ("", "", "")
        if key == "columns" and names_of(value) != [*self.names]:
            raise _UncutError  # refused by the reader
        if key in {"newdoc", "newdoc id"}:
            return "document", value
        return kind, "" if kind in _BETWEEN else text

    def look(self, rows: bytes, seen: _Texts) -> None:
        sign = b"\t" if b"\t" in rows else b" "
        # Each text follows a row of O: so its first tags have no other before.
        nothing = b"\n0" + (sign + b"O") * (self.width - 1) + b"\n"
        data, n_texts = _GAP.subn(nothing, b"\n" + rows)
        data = data.strip(b"\r\n").replace(b"\r\n", b"\n") + b"\n"
        if data == b"\n":
            return
        columns = self._cells(data, sign)
        seen.n_rows += len(columns[0]) - n_texts
        seen.is_numbers = seen.is_numbers and are_numbers(map(bytes.decode, columns[0]))
        for number, pairs in [*seen.pairs.items()]:
            column = columns[number]
            counts = {cell.decode(): n for cell, n in Counter(column).items()}
            seen.n_tags[number] += (
                sum(n for tag, n in counts.items() if TAG.fullmatch(tag)) - n_texts
            )
            # Once a B is known to begin a span alone, what is before other tags tells nothing.
            if any(one == "O" and two[:1] == "B" for one, two in pairs):
                pairs.update(("O", tag) for tag in counts)
            else:
                found = {*pairwise((seen.last.get(number, b"O"), *column))}
                pairs.update((one.decode(), two.decode()) for one, two in found)
            seen.last[number] = column[-1]
            is_wanted = number in self.kept or are_tags({*counts})
            if not is_wanted or len(pairs) > _MOST_PAIRS:
                del seen.pairs[number]

    def _cells(self, data: bytes, sign: bytes) -> list[Sequence[bytes]]:
        """Return the columns of rows, with empty cells where a row has too few."""
        width = self.width
        cells = data.split() if sign == b" " else data.replace(b"\n", sign).split(sign)[:-1]
        signs = data.translate(None, _NO_SPACES + (b" " if sign == b"\t" else b""))
        if signs == (sign * (width - 1) + b"\n") * (len(cells) // width):
            return [cells[i::width] for i in range(width)]
        rows = (cells_of(row) for row in data.decode("utf-8", "replace").split("\n")[:-1])
        filled = ((*row, *[""] * width)[:width] for row in rows)
        return [[cell.encode() for cell in column] for column in zip(*filled, strict=True)]

    def shown(self, place: int) -> int:
        # The first row that is surely none says how many columns there are. The first of all must
        # not take its sentence or document from the row above.
        for number, (row, text) in enumerate(self.rows_from(place)):
            if not number and "" in _named(self, text, ("", ""), (0, 0)):
                break
            if text[0] != "#":
                cells = cells_of(text)
                is_like = len(cells) == self.width and (self.names or not is_header(cells))
                return row if is_like else self.end
        return self.end


def _named(
    lines: _Lines, row: str, above: Sequence[object], numbers: Sequence[object]
) -> tuple[object, ...]:
    """Return the document and the sentence of a row: what columns name, or else their numbers.

    A cell that is empty says: as above.
    """
    cells = [*map(str.strip, cells_of(row)), *[""] * lines.width]
    return tuple(
        number if column is None else cells[column] or old
        for column, old, number in zip(lines.dividing, above, numbers, strict=True)
    )


def _begun(source: Source) -> dict[str, Any]:
    """Return where a file lies, begins and ends."""
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")):
        raise _UncutError
    with open_file(source.place) as file:
        end = file.seek(0, 2)
    begin = len(_BOM) if source.head.startswith(_BOM) else 0
    return {"name": source.name, "place": source.place, "begin": begin, "end": end}


def _records(source: Source, reading: Reading) -> _Lines:
    """Look at the first record; refused unless each is on a line."""
    del reading
    lines = _Lines(**_begun(source))
    _, line = next(lines.rows_from(lines.begin), (0, ""))
    try:
        record = json.loads(line) if line.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        record = None
    if record is None:
        raise _UncutError
    # Records of tokens and tags have no annotators.
    return replace(lines, may_name=has_text(record) or _WORDS in record)


def _tagged(source: Source, reading: Reading) -> _Tagged:
    """Look at the first rows, which say how many columns there are and may name them."""
    lines = _Tagged(**_begun(source))
    begin = lines.begin
    for line in source.head[begin:].splitlines(keepends=True):
        text = lines.text_of(line)
        if begin == lines.begin and "," in text and "\t" not in text:
            lines = replace(lines, comma=is_header(text.split(",")))
            text = lines.text_of(line)
        begin += len(line)
        key, _, value = parts_of_comment(text)
        if text.startswith("#") and key == "columns" and not lines.names:
            lines = replace(lines, names=tuple(names_of(value)), header=line)
        cells = cells_of(text)
        if not text.strip() or text[0] == "#" or cells[0] == DOCUMENT_LINE:
            continue
        if not lines.names and is_header(cells):
            before = source.head[: begin - len(line)]
            if b"newdoc" in before or DOCUMENT_LINE.encode() in before:
                raise _UncutError  # a document that begins before the header
            lines = replace(lines, names=tuple(map(str.strip, cells)), header=line, begin=begin)
        return _with_columns(replace(lines, width=len(cells)), reading.options["tag_column"])
    raise _UncutError


def _with_columns(lines: _Tagged, asked: object) -> _Tagged:
    """Find the columns that name documents and sentences, and those whose tags are looked at."""
    lowered = [name.lower() for name in lines.names]
    document, sentence = (
        next((lowered.index(name) for name in names if name in lowered), None)
        for names in (DOCUMENT_NAMES, SENTENCE_NAMES)
    )
    columns = range(lines.width)
    looked_at: Iterable[int] = columns[1:]
    kept = looked_at if lines.names else columns[-1:]
    if asked == LAST and LAST not in lines.names:
        looked_at = kept = columns[-1:]
    elif asked is not None:
        numbers = {str(i + 1): i for i in columns} | {name: i for i, name in enumerate(lines.names)}
        wanted = {numbers.get(name.strip()) for name in str(asked).split(",")}
        looked_at = kept = [i for i in columns if i in wanted]
    elif lines.names:
        pairs = zip(columns, lowered, strict=False)
        looked_at = kept = [i for i, name in pairs if name not in RESERVED_COLUMNS]
    return replace(
        lines,
        dividing=(document, sentence),
        columns=frozenset(looked_at),
        kept=frozenset(kept),
        is_counted=asked is None and bool(lines.names),
    )


# --- Files looked through -------------------------------------------------------------


@dataclass(eq=False)
class _Texts:
    """What is seen of a file, or of a stretch of it.

    Attributes
    ----------
    lines : _Lines
    step : int
        One text in so many is in `places`.
    number : int
        Of the stretch.
    n : int
        How many texts there are.
    places : array of int
        Where texts begin.
    marks : list of (int, int, str)
        Where documents begin, how many texts stand before each, and its name.
    pairs : dict
        For columns that may hold tags, each tag with the one before, which is O for the first.
    last : dict
        The last cells of these columns.
    n_tags : Counter
        How many cells of a column look like tags.
    n_rows : int
    is_numbers : bool
        Whether the first column holds numbers only.
    """

    lines: _Lines
    step: int = 1
    number: int = 0
    n: int = 0
    places: array[int] = field(default_factory=lambda: array("q"))
    marks: list[tuple[int, int, str]] = field(default_factory=list)
    pairs: dict[int, set[tuple[str, str]]] = field(init=False)
    last: dict[int, bytes] = field(default_factory=dict)
    n_tags: Counter[int] = field(default_factory=Counter)
    n_rows: int = 0
    is_numbers: bool = field(init=False)

    def __post_init__(self) -> None:
        self.pairs = {column: set() for column in self.lines.columns}
        self.is_numbers = not self.lines.names

    def add(self, other: _Texts) -> None:
        """Add the stretch that follows."""
        self.places += other.places[-self.n % self.step :: self.step]
        self.marks += [(place, self.n + text, name) for place, text, name in other.marks]
        self.n += other.n
        self.pairs = {n: own | other.pairs[n] for n, own in self.pairs.items() if n in other.pairs}
        self.n_tags += other.n_tags
        self.n_rows += other.n_rows
        self.is_numbers &= other.is_numbers

    def documents(self) -> list[tuple[int, int, str]]:
        """Return where documents begin, how many texts are before, and their names in a corpus."""
        return [
            (place, text, name or str(n)) for n, (place, text, name) in enumerate(self.marks, 1)
        ]

    def begin_of(self, number: int | None, text: int, n_before: int) -> tuple[int, int]:
        """Return where a document begins, and how many are before; zeros, if it is not there.

        It is the document with a number, where the file marks documents; else the one with a text.
        """
        if self.marks:
            return (0, 0) if number is None else (self.marks[number][0], number)
        if text >= self.n:
            return 0, 0
        index, left = divmod(text, self.step)
        first, last = (*self.places[index : index + 2], self.lines.end)[:2]
        stretch = _Stretch(0, "", first, last, lines=self.lines)
        return _texts_in(stretch).places[left] if left else first, n_before


@dataclass(frozen=True)
class _Stretch(Range):
    """A stretch of a file that is to be looked through.

    Attributes
    ----------
    number : int
        Of all stretches of all files.
    lines : _Lines
    """

    number: int = 0
    lines: _Lines = field(kw_only=True)


def _looked_through(
    sources: Sequence[Source], reading: Reading, size: int, engine: Engine, *, are_tagged: bool
) -> list[_Texts]:
    """Look through files; what is seen of each, from its stretches."""
    match = reading.options["match"]
    if match == "text":
        raise _UncutError
    begun = [(_tagged if are_tagged else _records)(source, reading) for source in sources]
    files = [_Texts(lines, STEP if size >= LARGE else 1) for lines in begun]
    bounds = [(i, lines.name, *own) for i, lines in enumerate(begun) for own in _stretches(lines)]
    jobs = [_Stretch(*own, number=n, lines=begun[own[0]]) for n, own in enumerate(bounds)]
    for seen in in_order(engine(_texts_in, jobs), jobs):
        files[jobs[seen.number].file].add(seen)
    has_marks = any(file.marks for file in files)
    is_one = match == "order" if has_marks else reading.options["unit"] == "document"
    if not all(file.n for file in files) or (are_tagged and is_one):
        raise _UncutError
    return files


def _stretches(lines: _Lines) -> list[tuple[int, int]]:
    """Return where stretches of a file begin and end, so that no text is in two of them.

    Each begins right behind an empty line; behind any line, where each row is a text. Blank lines
    do not divide a file whose columns do.
    """
    bounds = [lines.begin]
    with open_file(lines.place) as file:
        while lines.dividing == (None, None):
            file.seek(bounds[-1] + STRETCH)
            file.readline()
            while not lines.is_each and file.readline().strip(b"\r\n"):
                pass
            if file.tell() >= lines.end:
                break
            bounds.append(file.tell())
    return [*pairwise([*bounds, lines.end])]


def _texts_in(job: _Stretch) -> _Texts:
    """Find where texts and documents begin, and what rows say of columns."""
    lines, seen = job.lines, _Texts(job.lines, number=job.number)
    is_new, n_texts = True, 0
    before: tuple[object, ...] = ("", "")
    for place, block in _blocks(job):
        rows: list[bytes] = []
        for first, last, kind, text in _segments(block, lines):
            if kind == "document" and lines.dividing[0] is None:
                seen.marks.append((place + first, len(seen.places), text))
            if kind in _BETWEEN:
                is_new |= kind != "comment"
                continue
            if lines.dividing != (None, None):
                n_texts += is_new
                here = _named(lines, text, before, (len(seen.marks), n_texts))
                if "" in here:
                    raise _UncutError  # what is above the first that has a name has none
                if lines.dividing[0] is not None and here[0] != before[0]:
                    seen.marks.append((place + first, len(seen.places), str(here[0])))
                is_new, before = here != before, here
            run = text.encode() + b"\n" if lines.comma else block[first:last]
            own = b"\n" * (1 + is_new) + run
            begin = place + first + len(run) - len(own)
            seen.places.extend(begin + gap.end() for gap in _GAP.finditer(own))
            rows.append(own[1:])
            is_new = lines.is_each or own.endswith((b"\n\n", b"\n\r\n"))
        lines.look(b"".join(rows), seen)
    seen.n = len(seen.places)
    return seen


def _blocks(job: _Stretch) -> Iterator[tuple[int, bytes]]:
    """Read whole lines, some at a time, and where they begin; all of them have an end."""
    place = job.first
    with open_file(job.lines.place) as file:
        file.seek(place)
        while place < job.last:
            block = file.read(min(BLOCK, job.last - place))
            block += b"" if block.endswith(b"\n") else file.readline()
            yield place, block if block.endswith(b"\n") else block + b"\n"
            place += len(block)


def _segments(block: bytes, lines: _Lines) -> Iterator[tuple[int, int, str, str]]:
    """Find runs of rows, and other lines: where each begins and ends, its kind and its text."""
    at = 0
    for line in lines.singly.finditer(b"\n" + block):
        first, last = line.span()
        if at < first:
            yield at, first, "rows", ""
        yield first, last, *lines.kind_of(block[first:last])
        at = last
    if at < len(block):
        yield at, len(block), "rows", ""


def _layouts(files: Sequence[_Texts], reading: Reading) -> list[Layout]:
    """Find out what all rows of each file decide."""
    known: dict[int, list[set[str]]] = {}
    may_number = reading.options["token_column"] is None
    for file in files:
        width = file.lines.width
        if file.is_numbers and may_number and 1 in file.pairs:
            raise _UncutError  # all of its rows say whether tokens or their numbers stand there
        if not file.lines.names and reading.options["tag_column"] is None:
            cells = known.setdefault(width, [set() for _ in range(width)])
            cells[0].add("1" if file.is_numbers else "word")
            for number in range(1, width):
                cells[number].update(tag for _, tag in file.pairs.get(number, {("", "")}))
    widths = frozenset(width for width, cells in known.items() if len(trailing_tags(cells)) == 2)
    found: list[Layout] = []
    for file in files:
        tags = {n for n, pairs in file.pairs.items() if are_tags({tag for _, tag in pairs})}
        if file.lines.is_counted:
            tags = {n for n in file.lines.columns if 2 * file.n_tags[n] > file.n_rows}
        schemes = tuple((n, scheme_of_pairs(pairs)) for n, pairs in file.pairs.items())
        is_numbered = file.is_numbers and may_number
        found.append(Layout(widths, frozenset(tags), schemes, is_numbered))
    return found


# --- Cuts -----------------------------------------------------------------------------

_Cut = list[tuple[int, int]]
"""For each file, the first byte behind a cut, and how many texts or documents are before it."""


def _cuts(sources: Sequence[Source], files: Sequence[_Texts], size: int) -> list[_Cut]:
    """Find places at which all files are cut, before the same text or document."""
    lead = next((i for i, file in enumerate(files) if file.marks), 0)
    first = files[lead]
    for source, file in zip(sources, files, strict=True):
        if first.marks and not file.marks and file.n != first.n:
            raise other_number(source, file.n, sources[lead], first.n)
    texts = zip(first.places, range(0, first.n, first.step), repeat(""))
    begins = enumerate(first.documents()) if first.marks else ((own[1], own) for own in texts)
    numbers = [
        {name: n for n, (*_, name) in reversed([*enumerate(file.documents())])} for file in files
    ]
    kept: list[_Cut] = [[(file.lines.begin, 0) for file in files]]
    shown = [file.lines.shown(file.lines.begin) for file in files]
    wanted = size if size < LARGE else size // _FEWER
    for n_before, (place, text, name) in begins:
        if place < kept[-1][lead][0] + wanted:
            continue
        here = [
            file.begin_of(own.get(name), text, n_before)
            for file, own in zip(files, numbers, strict=True)
        ]
        if any(
            n <= n_last or place <= seen
            for (place, n), (_, n_last), seen in zip(here, kept[-1], shown, strict=True)
        ):
            continue
        next_shown = [file.lines.shown(place) for file, (place, _) in zip(files, here, strict=True)]
        if all(seen < file.lines.end for file, seen in zip(files, next_shown, strict=True)):
            kept.append(here)
            shown, wanted = next_shown, size
    return _unscattered(files, kept[1:])


def _unscattered(files: Sequence[_Texts], cuts: Sequence[_Cut]) -> list[_Cut]:
    """Leave out cuts that have one document on both sides, in the same file or in others."""
    found: dict[str, tuple[int, int]] = {"0": (0, 0)}
    for i, file in enumerate(files):
        bounds = [cut[i][1] for cut in cuts]
        for n, (*_, name) in enumerate(file.documents()):
            piece = bisect(bounds, n)
            low, high = found.get(name, (piece, piece))
            found[name] = min(low, piece), max(high, piece)
    reach = [*range(len(cuts) + 1)]
    for low, high in found.values():
        reach[low] = max(reach[low], high)
    apart = (n == high for n, high in enumerate(accumulate(reach, max)))
    return [*compress(cuts, apart)]
