"""Files of tagged sentences and of records, cut into stretches with the same texts.

All files are gone through before the first stretch is read: texts are counted, so that those of
all files can be cut before the same one, and what all rows of a file decide is found out.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from dataclasses import dataclass, field, fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path

import numpy as np

from beyondchance.io.cutting import Piece
from beyondchance.io.formats.conll import (
    DOCUMENT_NAMES,
    LAST,
    OTHER_LAYERS,
    SENTENCE_NAMES,
    TOKEN_NAMES,
    cells_of,
    is_header,
    kind_of,
    names_of,
    other_number,
    parts_of_comment,
)
from beyondchance.io.formats.quick_conll import DOCUMENT_LINE
from beyondchance.io.formats.records import KEYS_OF_PEOPLE
from beyondchance.io.layouts import Layout, Stretch
from beyondchance.io.options import Reading
from beyondchance.io.record_keys import TEXTS
from beyondchance.io.sources import Source
from beyondchance.io.surveying import (
    BLANK,
    COMMENT,
    MARK,
    ROW,
    STEP,
    Cells,
    Column,
    Lines,
    Mark,
    Rules,
    Texts,
    cells_in,
    csv_cells,
    is_tag_cell,
    surveyed,
)
from beyondchance.io.tagged import TAG, scheme_of_pairs, trailing_tags
from beyondchance.types import Ints

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LARGE = 2**20
"""Stretches of so many bytes need not be cut at the very text that fills them."""
_KEYS_OF_PEOPLE = [f'"{key}"'.encode() for key in KEYS_OF_PEOPLE]
_WORDS = "tokenized_text"
_KINDS = {"blank": BLANK, "comment": COMMENT, "document": MARK, "row": ROW, "odd": ROW}


class _UncutError(Exception):
    """A file that is read as a whole."""


@dataclass(frozen=True)
class PieceOfTexts(Piece):
    """A stretch of a file of texts.

    Attributes
    ----------
    n_lines : int
        The lines of the file before it.
    layout : Layout, optional
        What all rows of a file of tokens and tags decide.
    """

    n_lines: int = 0
    layout: Layout | None = None

    def read(self, source: Source) -> Source:
        """The stretch as a file of its own."""
        part = replace(super().read(source), before=self.n_lines - self.header.count(b"\n"))
        own = {item.name: getattr(part, item.name) for item in fields(Source)}
        return part if self.layout is None else Stretch(**own, layout=self.layout)

    def lines_before(self) -> int:
        """How many lines stand before those of which the stretch knows: it knows of all."""
        return 0


def cut_conll(
    sources: Sequence[Source], reading: Reading, at_a_time: int
) -> Iterator[tuple[Piece, ...]]:
    """Cut files of tokens and tags, one for each annotator, into stretches of documents.

    Parameters
    ----------
    sources : sequence of Source
    reading : Reading
        Its options.
    at_a_time : int
        Bytes that a stretch of the first file has, or a few more or less.

    Raises
    ------
    MismatchError
        If a file without marks of documents has other sentences than those with them.
    """
    try:
        files = [_tagged_file(source, reading, at_a_time) for source in sources]
        cuts = _cuts_of_tagged(sources, files, reading, at_a_time)
        layouts = _layouts(files, reading)
    except _UncutError:
        yield _whole(sources)
        return
    for pieces in _pieces(sources, [(file.texts, file.header) for file in files], cuts):
        yield tuple(
            replace(piece, layout=layout) for piece, layout in zip(pieces, layouts, strict=True)
        )


def cut_records(
    sources: Sequence[Source],
    reading: Reading,
    at_a_time: int,
) -> Iterator[tuple[Piece, ...]]:
    """Cut files of records, one for each annotator, into stretches of the same records.

    JSON Lines are cut. Other files are one stretch, and so are those whose records are matched by
    their texts or name annotators: all records together say who annotated what.
    """
    files = None
    if reading.options["match"] != "text":
        with suppress(_UncutError):
            files = [_file_of_records(source, at_a_time) for source in sources]
    if files is None:
        yield _whole(sources)
        return
    cuts = list(_numbered_cuts(files, at_a_time))
    yield from _pieces(sources, [(texts, b"") for texts in files], _sound_records(files, cuts))


# --- Cuts -----------------------------------------------------------------------------


@dataclass(frozen=True)
class _Cut:
    """Where all files are cut.

    Attributes
    ----------
    offsets : tuple of int
        The first byte behind it, in each file.
    lines : tuple of int
        The lines before it.
    before : tuple of int
        The texts or documents before it, in each file.
    """

    offsets: tuple[int, ...]
    lines: tuple[int, ...]
    before: tuple[int, ...]


def _whole(sources: Sequence[Source]) -> tuple[Piece, ...]:
    """All files as a stretch of each."""
    return tuple(
        Piece(i, source.name, 0, _path(source).stat().st_size, path=str(source.path))
        for i, source in enumerate(sources)
    )


def _path(source: Source) -> Path:
    if source.path is None:
        raise AssertionError(source.name)
    return source.path


def _pieces(
    sources: Sequence[Source], files: Sequence[tuple[Texts, bytes]], cuts: Sequence[_Cut]
) -> Iterator[tuple[PieceOfTexts, ...]]:
    """The stretches between cuts."""
    none = (0,) * len(files)
    sizes = tuple(texts.size for texts, _ in files)
    bounds = [_Cut(none, none, none), *cuts, _Cut(sizes, none, none)]
    for one, other in pairwise(bounds):
        yield tuple(
            PieceOfTexts(
                *(i, sources[i].name, one.offsets[i], other.offsets[i]),
                path=texts.path,
                # The first stretch has it in its place.
                header=header if one.offsets[i] else b"",
                texts_before=one.before[i],
                n_lines=one.lines[i],
            )
            for i, (texts, header) in enumerate(files)
        )


def _numbered_cuts(files: Sequence[Texts], at_a_time: int) -> Iterator[_Cut]:
    """Cuts before the same text of all files."""
    first = files[0]
    known, begin = first.known()[0], first.begin
    least = min(texts.n for texts in files)
    while True:
        index = max(int(np.searchsorted(known, begin + at_a_time)), 1)
        number = index * first.step
        if index >= len(known) or number >= least:
            return
        begin = int(known[index])
        offsets, lines = zip(*(texts.place(number) for texts in files), strict=True)
        yield _Cut(offsets, lines, (number,) * len(files))


def _step(at_a_time: int) -> int:
    return STEP if at_a_time >= _LARGE else 1


# --- Files of tokens and tags ---------------------------------------------------------


@dataclass
class _Tagged:
    """A file of tokens and tags that was gone through.

    Attributes
    ----------
    texts : Texts
    header : bytes
        What names the columns, for every stretch.
    names : list of str, optional
        The columns, if a header names them.
    width : int
        How many columns there are.
    comma : bool
        Whether cells are divided by commas.
    first_row : int
        Where the first row is that does not begin with a number sign.
    columns : dict
        The tags of columns that may hold them.
    kept : set of int
        Columns whose tags are wanted, even if not all are.
    n_tags : dict
        How many cells of a column look like tags.
    n_rows : int
    is_numbers : bool
        Whether the first column holds numbers only.
    dividing : tuple of int
        The columns that name documents and sentences, instead of blank lines.
    """

    texts: Texts
    header: bytes
    names: list[str] | None
    width: int
    comma: bool
    columns: dict[int, Column] = field(default_factory=dict)
    kept: set[int] = field(default_factory=set)
    n_tags: dict[int, int] = field(default_factory=dict)
    n_rows: int = 0
    is_numbers: bool = True
    dividing: tuple[int, ...] = ()

    def cells_of(self, line: bytes) -> list[bytes]:
        """The cells of a row."""
        cells = self.text_cells(_text(line))[1]
        return [cell.encode("utf-8", "surrogatepass") for cell in cells]

    def text_cells(self, line: str) -> tuple[str, list[str]]:
        """A line as the reader takes it, and its cells."""
        if self.comma:
            cells = csv_cells(line)
            if cells is None:
                raise _UncutError
            line = "\t".join(cells)
        return line, cells_of(line)

    def see(self, lines: Lines, begins: Ints) -> None:
        """Take what rows say about the columns."""
        cells = cells_in(lines, self.width, self.cells_of, self.comma)
        n_rows = cells.starts.shape[1]
        if not n_rows:
            return
        is_begin = np.zeros(len(lines.kinds), dtype=bool)
        is_begin[begins] = True
        is_begin = is_begin[lines.kinds == ROW]
        self.n_rows += n_rows
        if self.names is None and self.is_numbers:
            self.is_numbers = all(cells.text(0, row).isdecimal() for row in range(n_rows))
        for number, column in list(self.columns.items()):
            fresh = column.see(cells, number, is_begin)
            if number not in self.kept and not all(map(TAG.fullmatch, fresh)):
                del self.columns[number]
        for number in self.n_tags:
            self.n_tags[number] += int(np.count_nonzero(is_tag_cell(cells, number)))


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _tagged_file(source: Source, reading: Reading, at_a_time: int) -> _Tagged:
    """Go through a file of tokens and tags."""
    if source.head.startswith(_UTF16):
        raise _UncutError
    file, marks, start = _begun(source, _step(at_a_time))
    file.texts.marks += marks
    wanted = _wanted(file, reading)
    file.columns = {column: Column() for column in wanted}
    lowered = [name.lower() for name in file.names or ()]
    if {*DOCUMENT_NAMES, *SENTENCE_NAMES}.isdisjoint(lowered):
        surveyed(file.texts, file.see)
    else:
        _divide(file, lowered)
    if not file.texts.n or start is None:
        raise _UncutError
    return file


def _begun(source: Source, step: int) -> tuple[_Tagged, list[Mark], int | None]:
    """The columns of a file; the documents that begin before its first row, and where that is."""
    path = str(_path(source))
    begin = len(_BOM) if source.head.startswith(_BOM) else 0
    width, comma = _width_of(path, begin)
    file = _Tagged(Texts(path, begin, Rules(lambda _: (ROW, "")), step), b"", None, width, comma)
    kind = partial(_kind_of_line, file)
    file.texts.rules = Rules(kind, b'#-",' if comma else b"#-")
    place = begin
    with Path(path).open("rb") as stream:
        stream.seek(begin)
        for raw in stream:
            text, cells = file.text_cells(_text(raw.removesuffix(b"\n")))
            found, _ = _kind_of_text(text, cells, width)
            if found == COMMENT and file.names is None:
                key, _, value = parts_of_comment(text)
                if key == "columns":
                    file.names, file.header = names_of(value), _ended(raw)
            elif found == ROW:
                if file.names is not None or not is_header(cells):
                    return file, [], place
                file.names, file.header = [cell.strip() for cell in cells], _ended(raw)
                # What follows is gone through; a document that began before goes on.
                file.texts.begin = place + len(raw)
                return file, _marks_before(file, begin, place), place
            place += len(raw)
    return file, [], None


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"


def _marks_before(file: _Tagged, begin: int, end: int) -> list[Mark]:
    """The documents that begin before a header."""
    marks: list[Mark] = []
    with Path(file.texts.path).open("rb") as stream:
        stream.seek(begin)
        place = begin
        while place < end:
            line = stream.readline()
            kind, name = _kind_of_line(file, line.removesuffix(b"\n"))
            if kind == MARK:
                marks.append(Mark(place, len(marks), 0, name))
            place += len(line)
    return marks


def _width_of(path: str, begin: int) -> tuple[int, bool]:
    """How many cells the first row has, and whether commas divide them."""
    comma = False
    with Path(path).open("rb") as stream:
        stream.seek(begin)
        for number, raw in enumerate(stream):
            text = _text(raw.removesuffix(b"\n"))
            if not number:
                comma = "," in text and "\t" not in text and is_header(text.split(","))
            if comma:
                text = "\t".join(csv_cells(text) or ())
            if text.strip() and text[0] != "#":
                cells = cells_of(text)
                if cells[0] != DOCUMENT_LINE:
                    return len(cells), comma
    raise _UncutError


def _kind_of_text(text: str, cells: list[str], width: int) -> tuple[int, str]:
    """What a line is; the name of the document that it begins."""
    if len(cells) == width and cells[0] > " " and text[0] not in "#-":
        return ROW, ""
    kind = _KINDS[kind_of(text, cells, width)]
    if kind == COMMENT:
        key, _, value = parts_of_comment(text)
        if key in {"newdoc", "newdoc id"}:
            return MARK, value
    return kind, ""


def _kind_of_line(file: _Tagged, line: bytes) -> tuple[int, str]:
    """The same from the bytes of a line."""
    if line.startswith((b"# sent_id = ", b"# text = ")) and not file.comma:
        return COMMENT, ""  # most comments, quickly
    text, cells = file.text_cells(_text(line))
    kind, name = _kind_of_text(text, cells, file.width)
    if kind == COMMENT:
        key, _, value = parts_of_comment(text)
        if key == "columns" and names_of(value) != file.names:
            raise _UncutError  # refused by the reader
    return kind, name


def _wanted(file: _Tagged, reading: Reading) -> list[int]:
    """The columns whose tags are looked at; those that may hold them."""
    width, asked = file.width, reading.options["tag_column"]
    if asked is not None:
        names = file.names or []
        columns = [width - 1] if asked == LAST and LAST not in names else []
        for name in () if columns else map(str.strip, str(asked).split(",")):
            if name in names:
                columns.append(names.index(name))
            elif name.isdecimal() and len(name) < 10:
                columns.append(int(name) - 1)
        file.kept = {column for column in columns if 0 <= column < width}
        return sorted(file.kept)
    if file.names is None:
        file.kept = {width - 1}
        return list(range(1, width))
    reserved = (*TOKEN_NAMES, *SENTENCE_NAMES, *DOCUMENT_NAMES, *OTHER_LAYERS)
    columns = [i for i, name in enumerate(file.names[:width]) if name.lower() not in reserved]
    file.kept = set(columns)
    file.n_tags = dict.fromkeys(columns, 0)
    return columns


def _divide(file: _Tagged, lowered: list[str]) -> None:
    """Go through a file whose columns name sentences and documents."""
    texts = file.texts
    document, sentence = (
        next((lowered.index(name) for name in names if name in lowered), None)
        for names in (DOCUMENT_NAMES, SENTENCE_NAMES)
    )
    filled = _Filled(file, {column for column in (document, sentence) if column is not None})
    surveyed(Texts(texts.path, texts.begin, texts.rules, STEP), filled.look)
    document, sentence = (
        None if column in filled.empty else column for column in (document, sentence)
    )
    file.dividing = tuple(column for column in (document, sentence) if column is not None)
    if not file.dividing:
        surveyed(texts, file.see)
        return
    if _plain_row(file, texts.begin) is None:
        raise _UncutError  # what is above the first that has a name has none
    texts.step = 1
    # The lines that begin documents are told apart in a place of their own.
    lines = Texts(texts.path, texts.begin, texts.rules, STEP)
    lines.marks = texts.marks if document is None else []
    surveyed(lines, _Divider(file, lines, document, sentence).see)
    texts.marks = texts.marks if document is not None else lines.marks


@dataclass
class _Filled:
    """Which of some columns have nothing in any row."""

    file: _Tagged
    empty: set[int]

    def look(self, lines: Lines, begins: Ints) -> None:
        """Look for cells that are not empty."""
        del begins
        if self.empty:
            cells = cells_in(lines, self.file.width, self.file.cells_of, self.file.comma)
            rows = range(cells.starts.shape[1])
            self.empty -= {
                column
                for column in self.empty
                if any(cells.text(column, row).strip() for row in rows)
            }


@dataclass
class _Divider:
    """Finds the sentences and documents that columns name, as the reader does.

    Attributes
    ----------
    file : _Tagged
    lines : Texts
        The texts that blank lines divide, and the documents that lines begin.
    document, sentence : int, optional
        The columns.
    """

    file: _Tagged
    lines: Texts
    document: int | None
    sentence: int | None
    place: int = -1
    n_lines: int = 0
    n_texts: int = 0
    n_marks: int = 0
    names: tuple[str, str] = ("", "")
    before: tuple[int | str, int | str] | None = None

    def see(self, lines: Lines, begins: Ints) -> None:
        """Take the rows of a block."""
        file, texts = self.file, self.file.texts
        if self.place < 0:
            self.place = texts.begin
            with Path(texts.path).open("rb") as stream:
                self.n_lines = stream.read(texts.begin).count(b"\n")
            self.n_marks = len(self.lines.marks) - len(lines.marks)
            texts.marks = [] if self.document is not None else texts.marks
        cells = cells_in(lines, file.width, file.cells_of, file.comma)
        marks = [line for line, _ in lines.marks]
        begin_lines = set(begins.tolist())
        found: list[int] = []
        for row, line in enumerate(np.flatnonzero(lines.kinds == ROW).tolist()):
            while marks and marks[0] < line:
                self._mark(len(found))
                del marks[0]
            self.n_texts += line in begin_lines
            here = self._here(cells, row)
            is_new = self.before is None or here[0] != self.before[0]
            if self.document is not None and is_new:
                place = self.place + int(lines.starts[line])
                n_before = texts.n + len(found)
                texts.marks.append(Mark(place, self.n_lines + line, n_before, str(here[0])))
            if here != self.before:
                found.append(line)
            self.before = here
        for _ in marks:
            self._mark(len(found))
        chosen = np.array(found, dtype=np.int64)
        texts.add(self.place + lines.starts[chosen], self.n_lines + chosen)
        file.see(lines, chosen)
        self.place += len(lines.block)
        self.n_lines += len(lines.kinds)

    def _mark(self, n_found: int) -> None:
        """Pass a line that begins a document, behind so many texts of the block."""
        mark = self.lines.marks[self.n_marks]
        self.lines.marks[self.n_marks] = mark._replace(text=self.file.texts.n + n_found)
        self.n_marks += 1

    def _here(self, cells: Cells, row: int) -> tuple[int | str, int | str]:
        """The document and the sentence of a row; an empty cell says: as above."""
        columns = (self.document, self.sentence)
        own = ["" if i is None else cells.text(i, row).strip() for i in columns]
        self.names = own[0] or self.names[0], own[1] or self.names[1]
        return (
            self.n_marks if self.document is None else self.names[0],
            self.n_texts if self.sentence is None else self.names[1],
        )


def _layouts(files: Sequence[_Tagged], reading: Reading) -> list[Layout]:
    """What all rows of each file decide."""
    known: dict[int, list[set[str]]] = {}
    is_numbered = [
        file.names is None and file.is_numbers and reading.options["token_column"] is None
        for file in files
    ]
    for file, is_it in zip(files, is_numbered, strict=True):
        if is_it and 1 in file.columns:
            raise _UncutError  # all of its rows say whether tokens or their numbers stand there
        if file.names is None and reading.options["tag_column"] is None:
            cells = known.setdefault(file.width, [set() for _ in range(file.width)])
            cells[0].add("1" if file.is_numbers else "word")
            for number in range(1, file.width):
                column = file.columns.get(number)
                pairs = None if column is None else column.pairs
                cells[number] |= {""} if pairs is None else {tag for _, tag in pairs}
    widths = {width for width, cells in known.items() if len(trailing_tags(cells)) == 2}
    return [
        Layout(
            frozenset(widths),
            frozenset(
                column
                for column, seen in file.columns.items()
                if (
                    2 * file.n_tags[column] > file.n_rows
                    if column in file.n_tags
                    else seen.pairs is not None and all(TAG.fullmatch(tag) for _, tag in seen.pairs)
                )
            ),
            tuple(
                (column, scheme_of_pairs(seen.pairs))
                for column, seen in file.columns.items()
                if seen.pairs
            ),
            is_it,
        )
        for file, is_it in zip(files, is_numbered, strict=True)
    ]


# --- Where files of tokens and tags are cut -------------------------------------------


def _cuts_of_tagged(
    sources: Sequence[Source], files: Sequence[_Tagged], reading: Reading, at_a_time: int
) -> list[_Cut]:
    """The places at which all files are cut."""
    match = reading.options["match"]
    marked = [i for i, file in enumerate(files) if file.texts.marks]
    if match == "text" or (marked and match == "order"):
        return []
    cuts: Iterable[_Cut]
    if marked:
        first = marked[0]
        for i, file in enumerate(files):
            n, n_first = file.texts.n, files[first].texts.n
            if i not in marked and n != n_first:
                raise other_number(sources[i], n, sources[first], n_first)
        cuts = _unscattered(files, marked, list(_cuts_at_marks(files, marked, at_a_time)))
    elif reading.options["unit"] == "document":
        return []
    else:
        cuts = _numbered_cuts([file.texts for file in files], at_a_time)
    begins = tuple(file.texts.begin for file in files)
    checks = [partial(_plain_row, file) for file in files]
    return _sound(cuts, begins, checks)


def _cuts_at_marks(
    files: Sequence[_Tagged], marked: Sequence[int], at_a_time: int
) -> Iterator[_Cut]:
    """Cuts before a document that all files with marks have."""
    names = {i: _names_of_marks(files[i]) for i in marked}
    numbers = {i: {name: n for n, name in reversed([*enumerate(own)])} for i, own in names.items()}
    first = marked[0]
    begin = files[first].texts.begin
    last = (0,) * len(files)
    for number, name in enumerate(names[first]):
        mark = files[first].texts.marks[number]
        if mark.place < begin + at_a_time:
            continue
        # What stands before the first mark belongs to it: alone it would have none.
        if any(not numbers[i].get(name) for i in marked):
            continue
        before = tuple(numbers[i][name] if i in numbers else number for i in range(len(files)))
        if mark.text >= files[first].texts.n or any(
            new <= old for new, old in zip(before, last, strict=True)
        ):
            continue
        places = [
            file.texts.marks[before[i]][:2] if i in numbers else file.texts.place(mark.text)
            for i, file in enumerate(files)
        ]
        offsets, lines = zip(*places, strict=True)
        yield _Cut(offsets, lines, before)
        begin, last = mark.place, before


def _names_of_marks(file: _Tagged) -> list[str]:
    """The documents of a file, as the reader names them."""
    return [mark.name or str(n) for n, mark in enumerate(file.texts.marks, start=1)]


def _unscattered(
    files: Sequence[_Tagged], marked: Sequence[int], cuts: Sequence[_Cut]
) -> list[_Cut]:
    """Without those cuts that have one document on both sides, in the same file or in others."""
    seen: dict[str, tuple[int, int]] = {"0": (0, 0)}
    for i in marked:
        bounds = [cut.before[i] for cut in cuts]
        parts = np.searchsorted(bounds, np.arange(len(files[i].texts.marks)), side="right")
        for name, part in zip(_names_of_marks(files[i]), parts.tolist(), strict=True):
            low, high = seen.get(name, (part, part))
            seen[name] = min(low, part), max(high, part)
    inside = np.zeros(len(cuts) + 1, dtype=np.int64)
    for low, high in seen.values():
        if low < high:
            inside[low] += 1
            inside[high] -= 1
    crossed = np.cumsum(inside).tolist()
    return [cut for cut, n in zip(cuts, crossed, strict=False) if not n]


_Check = Callable[[int], int | None]
"""From the place of a cut to that of the first row behind it which shows how it is read."""


def _sound(cuts: Iterable[_Cut], begins: tuple[int, ...], checks: Sequence[_Check]) -> list[_Cut]:
    """The cuts between which each file has rows that are read as the whole file is."""
    kept: list[_Cut] = []
    shown = [check(begin) for begin, check in zip(begins, checks, strict=True)]
    for cut in cuts:
        is_apart = all(
            place is not None and place < offset
            for place, offset in zip(shown, cut.offsets, strict=True)
        )
        next_shown = [check(place) for place, check in zip(cut.offsets, checks, strict=True)]
        if is_apart and None not in next_shown:
            kept.append(cut)
            shown = next_shown
    return kept


def _plain_row(file: _Tagged, begin: int) -> int | None:
    """The first row that says how many columns there are; None if it is no row like the others."""
    place = begin
    is_first = True
    with Path(file.texts.path).open("rb") as stream:
        stream.seek(begin)
        for raw in stream:
            text, cells = file.text_cells(_text(raw.removesuffix(b"\n")))
            kind, _ = _kind_of_text(text, cells, file.width)
            if kind == ROW and text[0] != "#" and not _is_like(file, cells):
                return None
            # A cell that is empty says: as in the row above, which is not in the stretch.
            if kind == ROW and is_first and not all(cells[i].strip() for i in file.dividing):
                return None
            if kind == ROW and text[0] != "#":
                return place
            is_first &= kind != ROW
            place += len(raw)
    return None


def _is_like(file: _Tagged, cells: list[str]) -> bool:
    """Whether a row has the columns of the file, and would not be taken for a header."""
    return len(cells) == file.width and (file.names is not None or not is_header(cells))


# --- Records --------------------------------------------------------------------------


def _file_of_records(source: Source, at_a_time: int) -> Texts:
    """Go through a file of records; refused unless each is on a line."""
    path = _path(source)
    begin = len(_BOM) if source.head.startswith(_BOM) else 0
    with path.open("rb") as stream:
        stream.seek(begin)
        line = next((line for line in stream if not _is_blank(line)), b"")
    try:
        if not line.lstrip().startswith(b"{"):
            raise _UncutError
        record = json.loads(line)
    except (ValueError, RecursionError):
        raise _UncutError from None
    rules = Rules(lambda line: (BLANK if _is_blank(line) else ROW, ""), is_each=True)
    texts = Texts(str(path), begin, rules, _step(at_a_time))
    # Records of tokens and tags have no annotators.
    has_texts = any(isinstance(record.get(key), str) for key in TEXTS) or _WORDS in record
    surveyed(texts, _refuse_people if has_texts else None)
    return texts


def _refuse_people(lines: Lines, begins: Ints) -> None:
    """Leave a file as a whole whose records may name annotators."""
    del begins
    if any(key in lines.block for key in _KEYS_OF_PEOPLE):
        raise _UncutError


def _is_blank(line: bytes) -> bool:
    return not line.decode("utf-8", "replace").strip()


def _sound_records(files: Sequence[Texts], cuts: Sequence[_Cut]) -> list[_Cut]:
    """The cuts between which there are several records, each an object.

    A single record could be taken for one that stands for a whole file.
    """
    kept: list[_Cut] = []
    least = min(texts.n for texts in files)
    for cut in cuts:
        last = kept[-1].before[0] if kept else 0
        is_apart = cut.before[0] - last > 1 and least - cut.before[0] > 1
        if is_apart and all(map(_begins_object, files, cut.offsets)):
            kept.append(cut)
    return kept


def _begins_object(texts: Texts, place: int) -> bool:
    with Path(texts.path).open("rb") as stream:
        stream.seek(place)
        return stream.read(2**10).lstrip().startswith(b"{")
