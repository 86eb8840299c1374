"""Files of tagged sentences and of records, cut into stretches with the same texts.

All files are gone through before the first stretch is read: texts are counted, so that those of
all files can be cut before the same one, and what all rows of a file decide is found out. This is
done wherever parts are counted, for some megabytes at a time.
"""

from __future__ import annotations

import json
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import suppress
from copy import deepcopy
from dataclasses import dataclass, fields, replace
from functools import partial
from itertools import pairwise
from pathlib import Path
from typing import Any, TypeVar

import numpy as np

from beyondchance.io.cutting import Piece
from beyondchance.io.formats.conll import (
    DOCUMENT_LINE,
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
from beyondchance.io.formats.records import KEYS_OF_PEOPLE
from beyondchance.io.layouts import Layout, Stretch
from beyondchance.io.options import Reading
from beyondchance.io.record_keys import has_text
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
    stretches,
    survey,
)
from beyondchance.io.tagged import TAG, scheme_of_pairs, trailing_tags
from beyondchance.types import Ints

_BOM = b"\xef\xbb\xbf"
_UTF16 = (b"\xff\xfe", b"\xfe\xff")
_LARGE = 2**20
"""Stretches of so many bytes need not be cut at the very text that fills them."""
_FEWER = 16
"""How much smaller the first of them is."""
_KEYS_OF_PEOPLE = [f'"{key}"'.encode() for key in KEYS_OF_PEOPLE]
_WORDS = "tokenized_text"
_KINDS = {"blank": BLANK, "comment": COMMENT, "document": MARK, "row": ROW, "odd": ROW}


Engine = Callable[[Callable[[Any], Any], Sequence[Any]], Iterable[Any]]
"""A function like `map`, which may give results in another order."""


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
    sources: Sequence[Source], reading: Reading, at_a_time: int, engine: Engine = map
) -> Iterator[tuple[Piece, ...]]:
    """Cut files of tokens and tags, one for each annotator, into stretches of documents.

    Parameters
    ----------
    sources : sequence of Source
    reading : Reading
        Its options.
    at_a_time : int
        Bytes that a stretch of the first file has, or a few more or less.
    engine : function like `map`
        Goes through the files.

    Raises
    ------
    MismatchError
        If a file without marks of documents has other sentences than those with them.
    """
    try:
        begun = [_tagged_file(source, reading, _step(at_a_time)) for source in sources]
        files = _gone_through(sources, begun, engine)
        cuts = _cuts_of_tagged(sources, files, reading, at_a_time)
        layouts = _layouts(files, reading)
    except _UncutError:
        yield _whole(sources)
        return
    for pieces in _pieces(sources, [(file.texts, file.form.header) for file in files], cuts):
        yield tuple(
            replace(piece, layout=layout) for piece, layout in zip(pieces, layouts, strict=True)
        )


def cut_records(
    sources: Sequence[Source], reading: Reading, at_a_time: int, engine: Engine = map
) -> Iterator[tuple[Piece, ...]]:
    """Cut files of records, one for each annotator, into stretches of the same records.

    JSON Lines are cut. Other files are one stretch, and so are those whose records are matched by
    their texts or name annotators: all records together say who annotated what.
    """
    files = None
    if reading.options["match"] != "text":
        with suppress(_UncutError):
            begun = [_file_of_records(source, _step(at_a_time)) for source in sources]
            files = [file.texts for file in _gone_through(sources, begun, engine)]
    if files is None:
        yield _whole(sources)
        return
    cuts = list(_numbered_cuts(files, at_a_time))
    yield from _pieces(sources, [(texts, b"") for texts in files], _sound_records(files, cuts))


# --- Files gone through ---------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class _Job:
    """A stretch of a file that is to be gone through.

    Attributes
    ----------
    number : int
        Of all stretches of all files.
    name : str
        The file, for messages.
    file : _Tagged or _Records
        The stretch, of which nothing was seen yet.
    """

    number: int
    name: str
    file: _Tagged | _Records

    def __str__(self) -> str:
        texts = self.file.texts
        return f"{self.name}, bytes {texts.begin:,} to {texts.end:,}"


_File = TypeVar("_File", "_Tagged", "_Records")


def _gone_through(
    sources: Sequence[Source], files: Sequence[Sequence[_File]], engine: Engine
) -> list[_File]:
    """What is seen of each file, from its stretches."""
    jobs: list[_Job] = []
    for source, own in zip(sources, files, strict=True):
        jobs += [_Job(number, source.name, file) for number, file in enumerate(own, len(jobs))]
    seen: dict[int, _File] = {}
    for number, file in engine(_look, jobs):
        if file is None:
            raise _UncutError
        seen[number] = file
    found: list[_File] = []
    numbers = iter(range(len(jobs)))
    for own in files:
        parts: list[_File] = [seen[next(numbers)] for _ in own]
        for part in parts[1:]:
            parts[0].join(part)
        if not parts[0].texts.n:
            raise _UncutError
        found.append(parts[0])
    return found


def _look(job: _Job) -> tuple[int, _Tagged | _Records | None]:
    """Go through a stretch; None if its file is not cut."""
    file = deepcopy(job.file)  # a job that fails may be done again
    try:
        file.look()
    except _UncutError:
        return job.number, None
    return job.number, file


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
    sizes = tuple(texts.end for texts, _ in files)
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
    begin = first.begin
    least = min(texts.n for texts in files)
    # Large stretches begin with a small one, which is read before all others to know what holds for
    # the whole, while workers wait.
    size = at_a_time if at_a_time < _LARGE else at_a_time // _FEWER
    while (number := first.number_from(begin + size)) < least:
        offsets, lines = zip(*(texts.place(number) for texts in files), strict=True)
        begin, size = offsets[0], at_a_time
        yield _Cut(offsets, lines, (number,) * len(files))


def _step(at_a_time: int) -> int:
    return STEP if at_a_time >= _LARGE else 1


# --- Files of tokens and tags ---------------------------------------------------------


@dataclass(frozen=True)
class _Form:
    """How the rows of a file of tokens and tags are read.

    Attributes
    ----------
    width : int
        How many columns there are.
    comma : bool
        Whether cells are divided by commas.
    names : list of str, optional
        The columns, if a header names them.
    header : bytes
        What names the columns, for every stretch.
    """

    width: int
    comma: bool
    names: list[str] | None = None
    header: bytes = b""

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

    def cells_in(self, lines: Lines) -> Cells:
        """The cells of all rows of a block."""
        return cells_in(lines, self.width, self.cells_of, self.comma)

    def dividing(self) -> list[int | None]:
        """The columns that name documents and sentences."""
        lowered = [name.lower() for name in self.names or ()]
        return [
            next((lowered.index(name) for name in names if name in lowered), None)
            for names in (DOCUMENT_NAMES, SENTENCE_NAMES)
        ]


@dataclass(eq=False)
class _Tagged:
    """What is seen of a file of tokens and tags, or of a stretch of it.

    Attributes
    ----------
    form : _Form
    texts : Texts
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

    form: _Form
    texts: Texts
    columns: dict[int, Column]
    kept: set[int]
    n_tags: dict[int, int]
    n_rows: int = 0
    is_numbers: bool = True
    dividing: tuple[int, ...] = ()

    def look(self) -> None:
        """Go through the stretch."""
        if self.form.dividing() == [None, None]:
            survey(self.texts, self.see)
        else:
            _divide(self)

    def see(self, lines: Lines, begins: Ints) -> None:
        """Take what rows say about the columns."""
        cells = self.form.cells_in(lines)
        n_rows = cells.starts.shape[1]
        if not n_rows:
            return
        is_begin = np.zeros(len(lines.kinds), dtype=bool)
        is_begin[begins] = True
        is_begin = is_begin[lines.kinds == ROW]
        self.n_rows += n_rows
        if self.form.names is None and self.is_numbers:
            self.is_numbers = all(cells.text(0, row).isdecimal() for row in range(n_rows))
        for number, column in list(self.columns.items()):
            # Most columns of other things are told by this, quickly.
            is_other = number not in self.kept and not is_tag_cell(cells, number).all()
            fresh = set() if is_other else column.see(cells, number, is_begin)
            if is_other or (number not in self.kept and not all(map(TAG.fullmatch, fresh))):
                del self.columns[number]
        for number in self.n_tags:
            self.n_tags[number] += int(np.count_nonzero(is_tag_cell(cells, number)))

    def join(self, other: _Tagged) -> None:
        """Add the stretch that follows."""
        self.texts.join(other.texts)
        self.columns = {n: own for n, own in self.columns.items() if n in other.columns}
        for number, column in self.columns.items():
            column.join(other.columns[number])
        self.n_tags = {n: own + other.n_tags[n] for n, own in self.n_tags.items()}
        self.n_rows += other.n_rows
        self.is_numbers &= other.is_numbers


def _text(line: bytes) -> str:
    return line.removesuffix(b"\r").decode("utf-8", "replace")


def _tagged_file(source: Source, reading: Reading, step: int) -> list[_Tagged]:
    """The stretches of a file of tokens and tags, which are to be gone through."""
    if source.head.startswith(_UTF16):
        raise _UncutError
    path = str(_path(source))
    form, begin, marks = _begun(path, len(_BOM) if source.head.startswith(_BOM) else 0)
    columns, kept = _wanted(form, reading)
    counted = columns if form.names is not None and reading.options["tag_column"] is None else []
    rules = Rules(partial(_kind_of_line, form), b'#-",' if form.comma else b"#-")
    # Blank lines do not divide a file whose columns do.
    is_whole = form.dividing() != [None, None]
    bounds = (
        [(begin, _path(source).stat().st_size)]
        if is_whole
        else stretches(path, begin, is_each=False)
    )
    files = [
        _Tagged(
            form,
            Texts(path, *own, rules, step),
            {column: Column() for column in columns},
            kept,
            dict.fromkeys(counted, 0),
        )
        for own in bounds
    ]
    with Path(path).open("rb") as stream:
        files[0].texts.n_lines = stream.read(begin).count(b"\n")
    files[0].texts.marks += marks
    return files


def _begun(path: str, begin: int) -> tuple[_Form, int, list[Mark]]:
    """The columns of a file; where what is gone through begins, and the documents before."""
    width, comma = _width_of(path, begin)
    form = _Form(width, comma)
    place = begin
    with Path(path).open("rb") as stream:
        stream.seek(begin)
        for raw in stream:
            text, cells = form.text_cells(_text(raw.removesuffix(b"\n")))
            found, _ = _kind_of_text(text, cells, width)
            if found == COMMENT and form.names is None:
                key, _, value = parts_of_comment(text)
                if key == "columns":
                    form = replace(form, names=names_of(value), header=_ended(raw))
            elif found == ROW:
                if form.names is not None or not is_header(cells):
                    return form, begin, []
                names = [cell.strip() for cell in cells]
                form = replace(form, names=names, header=_ended(raw))
                # What follows is gone through; a document that began before goes on.
                return form, place + len(raw), _marks_before(path, form, begin, place)
            place += len(raw)
    raise _UncutError


def _ended(line: bytes) -> bytes:
    return line if line.endswith(b"\n") else line + b"\n"


def _marks_before(path: str, form: _Form, begin: int, end: int) -> list[Mark]:
    """The documents that begin before a header."""
    marks: list[Mark] = []
    with Path(path).open("rb") as stream:
        stream.seek(begin)
        place = begin
        while place < end:
            line = stream.readline()
            kind, name = _kind_of_line(form, line.removesuffix(b"\n"))
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


def _kind_of_line(form: _Form, line: bytes) -> tuple[int, str]:
    """The same from the bytes of a line."""
    if line.startswith((b"# sent_id = ", b"# text = ")) and not form.comma:
        return COMMENT, ""  # most comments, quickly
    text, cells = form.text_cells(_text(line))
    kind, name = _kind_of_text(text, cells, form.width)
    if kind == COMMENT:
        key, _, value = parts_of_comment(text)
        if key == "columns" and names_of(value) != form.names:
            raise _UncutError  # refused by the reader
    return kind, name


def _wanted(form: _Form, reading: Reading) -> tuple[list[int], set[int]]:
    """The columns whose tags are looked at; those of them that are wanted in any case."""
    width, asked = form.width, reading.options["tag_column"]
    if asked is not None:
        names = form.names or []
        columns = [width - 1] if asked == LAST and LAST not in names else []
        for name in () if columns else map(str.strip, str(asked).split(",")):
            if name in names:
                columns.append(names.index(name))
            elif name.isdecimal() and len(name) < 10:
                columns.append(int(name) - 1)
        kept = {column for column in columns if 0 <= column < width}
        return sorted(kept), kept
    if form.names is None:
        return list(range(1, width)), {width - 1}
    reserved = (*TOKEN_NAMES, *SENTENCE_NAMES, *DOCUMENT_NAMES, *OTHER_LAYERS)
    columns = [i for i, name in enumerate(form.names[:width]) if name.lower() not in reserved]
    return columns, set(columns)


def _divide(file: _Tagged) -> None:
    """Go through a file whose columns name sentences and documents."""
    texts = file.texts
    document, sentence = file.form.dividing()
    filled = _Filled(file.form, {column for column in (document, sentence) if column is not None})
    survey(Texts(texts.path, texts.begin, texts.end, texts.rules, STEP), filled.look)
    document, sentence = (
        None if column in filled.empty else column for column in (document, sentence)
    )
    file.dividing = tuple(column for column in (document, sentence) if column is not None)
    if not file.dividing:
        survey(texts, file.see)
        return
    if _plain_row(file, texts.begin) is None:
        raise _UncutError  # what is above the first that has a name has none
    texts.step = 1
    # The lines that begin documents are told apart in a place of their own.
    lines = Texts(texts.path, texts.begin, texts.end, texts.rules, STEP, n_lines=texts.n_lines)
    lines.marks = texts.marks if document is None else []
    survey(lines, _Divider(file, lines, document, sentence).see)
    texts.marks = texts.marks if document is not None else lines.marks


@dataclass
class _Filled:
    """Which of some columns have nothing in any row."""

    form: _Form
    empty: set[int]

    def look(self, lines: Lines, begins: Ints) -> None:
        """Look for cells that are not empty."""
        del begins
        if self.empty:
            cells = self.form.cells_in(lines)
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
    n_texts: int = 0
    n_marks: int = 0
    names: tuple[str, str] = ("", "")
    before: tuple[int | str, int | str] | None = None

    def see(self, lines: Lines, begins: Ints) -> None:
        """Take the rows of a block."""
        file, texts = self.file, self.file.texts
        if self.place < 0:
            self.place = texts.begin
            self.n_marks = len(self.lines.marks) - len(lines.marks)
            texts.marks = [] if self.document is not None else texts.marks
        cells = file.form.cells_in(lines)
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
                texts.marks.append(Mark(place, self.lines.n_lines + line, n_before, str(here[0])))
            if here != self.before:
                found.append(line)
            self.before = here
        for _ in marks:
            self._mark(len(found))
        chosen = np.array(found, dtype=np.int64)
        texts.add(self.place + lines.starts[chosen], self.lines.n_lines + chosen)
        file.see(lines, chosen)
        self.place += len(lines.block)

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
        file.form.names is None and file.is_numbers and reading.options["token_column"] is None
        for file in files
    ]
    for file, is_it in zip(files, is_numbered, strict=True):
        if is_it and 1 in file.columns:
            raise _UncutError  # all of its rows say whether tokens or their numbers stand there
        if file.form.names is None and reading.options["tag_column"] is None:
            cells = known.setdefault(file.form.width, [set() for _ in range(file.form.width)])
            cells[0].add("1" if file.is_numbers else "word")
            for number in range(1, file.form.width):
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
            text, cells = file.form.text_cells(_text(raw.removesuffix(b"\n")))
            kind, _ = _kind_of_text(text, cells, file.form.width)
            if kind == ROW and text[0] != "#" and not _is_like(file.form, cells):
                return None
            # A cell that is empty says: as in the row above, which is not in the stretch.
            if kind == ROW and is_first and not all(cells[i].strip() for i in file.dividing):
                return None
            if kind == ROW and text[0] != "#":
                return place
            is_first &= kind != ROW
            place += len(raw)
    return None


def _is_like(form: _Form, cells: list[str]) -> bool:
    """Whether a row has the columns of the file, and would not be taken for a header."""
    return len(cells) == form.width and (form.names is not None or not is_header(cells))


# --- Records --------------------------------------------------------------------------


@dataclass(eq=False)
class _Records:
    """What is seen of a file of records, or of a stretch of it.

    Attributes
    ----------
    texts : Texts
    may_name : bool
        Whether its records may name annotators.
    """

    texts: Texts
    may_name: bool

    def look(self) -> None:
        """Go through the stretch."""
        survey(self.texts, _refuse_people if self.may_name else None)

    def join(self, other: _Records) -> None:
        """Add the stretch that follows."""
        self.texts.join(other.texts)


def _file_of_records(source: Source, step: int) -> list[_Records]:
    """The stretches of a file of records; refused unless each is on a line."""
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
    # Records of tokens and tags have no annotators.
    may_name = has_text(record) or _WORDS in record
    rules = Rules(_kind_of_record, is_each=True)
    return [
        _Records(Texts(str(path), *own, rules, step), may_name)
        for own in stretches(str(path), begin, is_each=True)
    ]


def _refuse_people(lines: Lines, begins: Ints) -> None:
    """Leave a file as a whole whose records may name annotators."""
    del begins
    if any(key in lines.block for key in _KEYS_OF_PEOPLE):
        raise _UncutError


def _kind_of_record(line: bytes) -> tuple[int, str]:
    return (BLANK if _is_blank(line) else ROW), ""


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
