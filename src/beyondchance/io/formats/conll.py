"""Columns of tokens and tags: one token a line, a blank line after each sentence.

The token is in the first column and the tag in the last, unless the options or a header
say otherwise. A header is a first line that names the columns (one of them ``token``,
``word`` or ``form``), or a comment ``# columns = token anna ben``; with a header every
column of tags is an annotator, and a column named ``sentence``, ``sent`` or ``document``
divides the file instead of blank lines. After a header with commas, cells are divided by commas.

A line ``-DOCSTART-`` or ``# newdoc id = x`` begins a document; comments ``# key = value``
right after the latter are its fields. What stands before the first is document ``0``.
Without such lines each sentence is a document, or each file of a folder. If some files have
them and others do not, they hold for all.

The last two columns of a file without header are the gold standard and a system, if they hold
tags with labels in common, as in what the conlleval script takes.
"""

from __future__ import annotations

import csv
import re
from array import array
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, field
from functools import cached_property, partial
from itertools import accumulate, chain
from typing import Any

import numpy as np

from beyondchance.errors import DataError, MismatchError, OptionError
from beyondchance.io.columns import check_distinct
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.tagged import (
    NUMBERED,
    TAG,
    Layout,
    TaggedTexts,
    are_counting,
    are_numbers,
    are_tags,
    chosen_columns,
    decoded,
    either,
    layered,
    layers_of,
    note_columns,
    trailing_tags,
)
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Text, Use, quotes
from beyondchance.options import MENDED
from beyondchance.tallies import mended
from beyondchance.types import Bools, Ints

DOCUMENT_LINE = "-DOCSTART-"
"""The first cell of a line that begins a document without a name."""
SHARED_MARKS = mended("files divided into documents as another file marks them")
"""What to count files under that lack the marks of documents which others have."""
GOLD = "gold"
"""What the gold standard of a file with a column for it is called."""
LAST = "last"
"""The name that asks for the last column of each file."""
# A tag that is no word either, as I and B may be.
_CLEAR = re.compile(r"O|[BIELSUM]-\S.*")
_LABEL = re.compile(r"[^\W\d_]{2}[\w/-]*")
TOKEN_NAMES = ("token", "tokens", "word", "words", "form")
SENTENCE_NAMES = ("sentence", "sentence_id", "sent", "sent_id", "sentence #")
DOCUMENT_NAMES = ("document", "document_id", "doc", "doc_id")
# Columns that may look like tags and are not annotations of spans.
OTHER_LAYERS = ("pos", "upos", "xpos", "chunk", "chunks", "chunk_tags", "pos_tags", "lemma", "id")
_SENTENCE_KEYS = ("sent_id", "text", "newpar", "newpar id", "text_en")
RESERVED_COLUMNS = frozenset((*TOKEN_NAMES, *SENTENCE_NAMES, *DOCUMENT_NAMES, *OTHER_LAYERS))
"""Columns that are not an annotator's tags, whatever they hold."""
RESERVED_KEYS = frozenset(("columns", "newdoc", "newdoc id", *_SENTENCE_KEYS))
"""Comments that are not fields of documents."""
_UNEVEN = ("  ", " \n", *"\r\x0b\x0c\x1c\x1d\x1e\x1f")
"""What divides cells otherwise than a single space does."""
_LINE = re.compile(r"[^\n]+")
_NO_FIELDS: dict[str, str] = {}
_BLOCK = 2**18
"""Characters that are cut into lines at a time."""


@dataclass
class _File:
    """A file cut into columns, sentences and documents.

    Attributes
    ----------
    source : Source
    columns : list of list of str
        The cells, column by column, all sentences end to end.
    header : list of str, optional
    lines : array of int
        The line of each row.
    first, document : list of int
        The first row of each sentence, and its document (-1: before the first).
    names : list of (str, bool)
        The documents, and whether the file itself names them.
    fields : list of dict
        What comments say about each document.
    begins : bool
        Whether the next row begins a sentence.
    in_head : bool
        Whether the next comment may be about the document.
    """

    source: Source
    columns: list[list[str]]
    header: list[str] | None = None
    lines: array[int] = field(default_factory=lambda: array("q"))
    first: list[int] = field(default_factory=list)
    document: list[int] = field(default_factory=list)
    names: list[tuple[str, bool]] = field(default_factory=list)
    fields: list[dict[str, str]] = field(default_factory=list)
    begins: bool = True
    in_head: bool = False

    def __post_init__(self) -> None:
        self.layout: Layout | None = self.source.layout

    def place(self, row: int) -> str:
        """Name the line of a row, for messages."""
        return f"{self.source.name}:{self.lines[row]}"

    @cached_property
    def lengths(self) -> Ints:
        """How many rows each sentence has."""
        return np.diff(self.first, append=len(self.lines))

    @cached_property
    def distinct(self) -> list[set[str]]:
        """The distinct cells of each column, if there are others than tokens and tags."""
        return [set(column) if len(self.columns) > 2 else set() for column in self.columns]

    @property
    def is_numbered(self) -> bool:
        """Whether numbers stand in the first column."""
        return self.layout.is_numbered if self.layout else are_numbers(self.columns[0])

    def holds_tags(self, column: int) -> bool:
        """Return whether cells of a column are tags: all, or most where a header names it.

        A column with a misspelt one is still an annotator's, and is refused later with the line.
        """
        if self.layout is not None:
            return column in self.layout.tags
        if not self.header:
            return are_tags(set(self.columns[column]))
        counts = Counter(self.columns[column])
        n_tags = sum(n for cell, n in counts.items() if TAG.fullmatch(cell))
        return self.header[column].lower() not in OTHER_LAYERS and 2 * n_tags > len(self.lines)

    def begin(self, name: str) -> None:
        """Begin a document; one without a name has a number."""
        number = self.source.texts_before + len(self.names) + 1
        self.names.append((name, True) if name else (str(number), False))
        self.fields.append(_NO_FIELDS)

    def add(self, text: str, number: int) -> list[str]:
        """Add lines, of which the first has a number, and return the cells of their rows."""
        sign, width = ("\t" if "\t" in text else " "), len(self.columns)
        if sign == " " and any(map(text.__contains__, _UNEVEN)):
            # Other signs divide cells too.
            lines = enumerate(text.split("\n")[:-1], number)
            return [cell for at, line in lines for cell in self._odd(line, at)]
        data = text.encode("utf-8", "surrogatepass")
        codes = np.frombuffer(data, dtype=np.uint8)
        ends = (codes == ord("\n")).nonzero()[0]
        bounds = np.concatenate([[0], ends + 1])
        signs = (codes == ord(sign)).nonzero()[0]
        first, after = codes[bounds[:-1]], codes[signs + 1]
        is_row = np.diff(signs.searchsorted(ends), prepend=0) == width - 1
        is_row &= (first > ord(" ")) & (first != ord("#")) & (first != ord("-"))
        # A row without empty cells; what is no such row and not blank is looked at by itself.
        is_row[ends.searchsorted(signs[(after == ord(sign)) | (after == ord("\n"))])] = False
        kept: list[str] = []
        done = 0

        def lines_of(begin: int, end: int) -> str:
            if end - begin == len(ends) or len(data) == len(text):
                return text[bounds[begin] : bounds[end]]
            return data[bounds[begin] : bounds[end]].decode("utf-8", "surrogatepass")

        for place in (~is_row & (first != ord("\n"))).nonzero()[0].tolist():
            kept += self._rows(lines_of(done, place), is_row[done:place], sign, number + done)
            done = place + 1
            kept += self._odd(lines_of(place, done)[:-1], number + place)
        return kept + self._rows(lines_of(done, len(ends)), is_row[done:], sign, number + done)

    def _rows(self, text: str, is_row: Bools, sign: str, number: int) -> list[str]:
        """Add lines that are rows or blank, and return the cells of the rows."""
        if not text:
            return []
        if sign == " " and text.isascii():
            cells = text.split()
        else:
            cells = list(filter(None, text.replace("\n", sign).split(sign)))
        if self._is_header(cells[: len(self.columns)]):
            is_row[is_row.argmax()] = False
            del cells[: len(self.columns)]
        rows = is_row.nonzero()[0]
        before = np.empty_like(rows)
        before[:1], before[1:] = -1 - self.begins, rows[:-1]
        firsts = (rows - before > 1).nonzero()[0]
        self.first += (firsts + len(self.lines)).tolist()
        self.document += [len(self.names) - 1] * len(firsts)
        self.lines.frombytes((rows + number).tobytes())
        self.in_head &= not len(rows)
        self.begins = (self.begins and not len(rows)) or not is_row[-1]
        return cells

    def _is_header(self, cells: list[str]) -> bool:
        """Return whether the first row names the columns, and keep their names."""
        is_first = not self.lines and self.header is None and is_header(cells)
        if is_first:
            self.header = [cell.strip() for cell in cells]
        return is_first

    def _odd(self, line: str, number: int) -> list[str]:
        """Add a line that may be no row, and return its cells if it is one."""
        width = len(self.columns)
        cells = cells_of(line)
        kind = kind_of(line, cells, width)
        if kind == "row" and not self._is_header(cells):
            if self.begins:
                self.first.append(len(self.lines))
                self.document.append(len(self.names) - 1)
            self.begins = self.in_head = False
            self.lines.append(number)
            return cells
        if kind == "odd":
            raise _other_width(
                len(cells), f"{self.source.name}:{number}", f"{width}, as in the first row"
            )
        if kind == "document":
            self.begin("")
            self.in_head = False
        if kind in {"blank", "document"} or (
            kind == "comment" and self._take_comment(line, number)
        ):
            self.begins = True
        return []

    def _take_comment(self, line: str, number: int) -> bool:
        """Take what a comment says; return whether it begins a document."""
        key, is_pair, value = parts_of_comment(line)
        if key == "columns" and self.header is None and not self.lines:
            self.header = names_of(value)
        elif key == "columns" and names_of(value) != self.header:
            raise refusal(
                f"{self.source.name}:{number}",
                "a second '# columns' line names other columns",
                expected="one, before the first token",
            )
        elif key in {"newdoc", "newdoc id"}:
            self.begin(value)
            self.in_head = True
            return True
        elif self.in_head and is_pair and key not in _SENTENCE_KEYS:
            self.fields[-1] = {**self.fields[-1], key: value}
        return False

    def column_named(self, names: Iterable[str]) -> int | None:
        """Find the column of the first of these names that the header has; None if it has none."""
        lowered = [name.lower() for name in self.header or ()]
        return next((lowered.index(name) for name in names if name in lowered), None)


def is_format(upload: Upload) -> bool:
    """Return whether the lines have columns, one of which holds tags."""
    lines = _without_commas(upload.sources[0].head_lines)
    rows = [cells_of(line) for line in lines if line.strip() and line[0] != "#"]
    rows = [row for row in rows if row[0] != DOCUMENT_LINE]
    if rows and is_header(rows[0]):
        del rows[0]
    width = len(rows[0]) if rows else 0
    for column in range(width if width > 1 else 0):
        cells = [row[column] for row in rows if len(row) > column]
        tags = list(filter(TAG.fullmatch, cells))
        # In the middle of a line, I and O may be words.
        is_last = column == width - 1
        are_tags = any((is_last and tag == "O") or "-" in tag for tag in tags)
        if len(tags) >= 0.9 * len(rows) and are_tags:
            return True
        if is_last and len(cells) == len(rows) and _are_labels(cells):
            return True
    return False


def _are_labels(cells: list[str]) -> bool:
    """Return whether a column holds labels without prefixes: few different ones, and O."""
    labels = set(cells) - {"O"}
    are_few = 3 * len(labels) <= len(cells) + 3
    return "O" in cells and bool(labels) and are_few and all(map(_LABEL.fullmatch, labels))


def read(uploads: list[Upload], reading: Reading) -> Iterator[TaggedTexts]:
    """Read the files of one annotator each, or files that hold several."""
    files = {id(upload): list(map(parsed_file, upload.sources)) for upload in uploads}
    parsed = list(chain.from_iterable(files.values()))
    if reading.options["repeated"] == "annotators":
        for file in parsed:
            file.names.clear()  # sentences have copies
    if not any(upload.is_folder for upload in uploads):
        _share_marks(parsed, reading)
    read_one = partial(
        _read_one, files=files, widths=_widths_of_conlleval(parsed), is_single=len(uploads) == 1
    )
    return each_upload(read_one)(uploads, reading)


def _share_marks(files: list[_File], reading: Reading) -> None:
    """Divide files without marks of documents as the first file that has them."""
    marked = next((file for file in files if file.names), None)
    for file in files:
        if marked is None or file.names:
            continue
        source, other = file.source, marked.source
        problem = partial(
            refusal,
            source.name,
            f"has no lines that begin documents, and {other.name} has them",
            expected="them in all files or in none",
            remedy=(Use("strict", "-marks"), " divides all files as that one is"),
            kind=MismatchError,
        )
        # A file that is read in parts is counted with its first.
        is_counted = not source.texts_before
        reading.mend("marks", SHARED_MARKS, problem, int(is_counted))
        if not is_counted:
            reading.signed["marks"] = MENDED["marks"].signed
        if len(file.first) != len(marked.first):
            raise other_number(source, len(file.first), other, len(marked.first))
        file.document, file.names, file.fields = marked.document, marked.names, marked.fields


def other_number(source: Source, n: int, other: Source, n_other: int) -> DataError:
    """Build the refusal of a file without marks that has more or fewer sentences than another."""
    return refusal(
        source.name,
        f"has {n} sentences and no lines that begin documents; {other.name} has them, and "
        f"{n_other} sentences",
        expected="as many sentences",
        kind=MismatchError,
    )


def _read_one(
    upload: Upload,
    reading: Reading,
    *,
    files: Mapping[int, list[_File]],
    widths: AbstractSet[int],
    is_single: bool,
) -> Iterator[TaggedTexts]:
    """Read the files of one upload."""
    for file in files[id(upload)]:
        token = _token_column(file, reading)
        annotators, gold = _tag_columns(file, upload, reading, widths, is_single=is_single)
        # Without marks each sentence is a document, unless documents are asked for.
        by_sentence = not (file.names or upload.is_folder or reading.options["unit"] == "document")
        if "" in file.columns[token]:
            raise refusal(
                file.place(file.columns[token].index("")), "the token is empty", expected="a word"
            )
        number = np.arange(len(file.first)) if by_sentence else np.array(file.document)
        begins = np.diff(number, prepend=-2) != 0
        firsts = np.flatnonzero(begins).tolist()
        fields = [*file.fields, {}]  # the last are those of what stands before the first
        if len(annotators) > 1 and not (is_single or file.header or gold):
            # Columns of several files are of different annotators, though they have one number.
            annotators = [(f"{upload.annotator}, {name}", tag) for name, tag in annotators]
        _check_swapped(file, token, annotators[0][1][0])
        for annotator, tags in annotators:
            if by_sentence:
                reading.numbered[annotator] = file.source.texts_before + len(firsts)
            layers = {
                _name_of(file, tag): decoded(
                    file.columns[tag],
                    file.lengths,
                    reading,
                    file=file.source.name,
                    annotator=annotator,
                    where=partial(_place, file),
                    detected=None if file.layout is None else file.layout.scheme_of(tag),
                )
                for tag in tags
            }
            yield TaggedTexts(
                file=file.source.name,
                annotator=annotator,
                words=file.columns[token],
                lines=file.lines,
                lengths=file.lengths,
                document=np.cumsum(begins) - 1,
                names=_names(file, firsts, upload),
                fields=[fields[file.document[sentence]] for sentence in firsts],
                spans=layered(layers, len(file.lengths), reading, partial(_place, file)),
                is_gold=annotator == gold,
                is_ordered=by_sentence,
            )


def _widths_of_conlleval(files: list[_File]) -> AbstractSet[int]:
    """Find the widths of files without header whose last columns are gold standard and system.

    All files of as many columns are looked at together: a single one may lack a label that both
    columns have, because the document is short or the system found nothing.
    """
    if files[0].layout is not None:
        return files[0].layout.widths
    cells: dict[int, list[set[str]]] = {}
    for file in files:
        if not file.header:
            known = cells.setdefault(len(file.columns), [set() for _ in file.columns])
            for own, distinct in zip(file.distinct, known, strict=True):
                distinct.update(own)
    return {width for width, known in cells.items() if len(trailing_tags(known)) == 2}


def _place(file: _File, sentence: int, token: int) -> str:
    return file.place(file.first[sentence] + token)


# --- Lines to columns ---------------------------------------------------------


def cells_of(line: str) -> list[str]:
    """Split a line into columns: by tabs if there are any, else by spaces."""
    if "\t" in line:
        return line.split("\t")
    # Other white space, such as a no-break space, may be part of a token.
    return line.split() if line.isascii() else [cell for cell in line.split(" ") if cell]


def comma_of(first: str) -> str:
    """Return what divides the cells of CSV, if the first line is a header that names a token."""
    return next((x for x in ",;" if "\t" not in first and is_header(first.split(x))), "")


def _without_commas(lines: list[str]) -> list[str]:
    """Return the lines of CSV with tabs between their cells, and others as they are."""
    if not (comma := comma_of(lines[0])):
        return lines
    try:
        return ["\t".join(row) for row in csv.reader(lines, delimiter=comma)]
    except csv.Error:  # a cell that is too long; refused as a line of one column
        return lines


def is_header(cells: Sequence[str]) -> bool:
    """Return whether a row names columns: one is the token, and none is a tag."""
    lowered = [cell.strip().lower() for cell in cells]
    return (
        len(cells) > 1
        and any(name in lowered for name in TOKEN_NAMES)
        and not any(TAG.fullmatch(cell) for cell in cells)
    )


def parsed_file(source: Source, known_width: int = 0) -> _File:
    """Cut a file into columns; every row must have as many cells as the first.

    How many the file has may be known, where all rows of a part of it look like comments.
    """
    blocks = list(_blocks(source))
    width = _width(line[0] for block in blocks for line in _LINE.finditer(block))
    width = width or known_width or (source.layout.width if source.layout else 0)
    if not width:
        raise refusal(source.name, "holds no tokens", expected="a token and its tag on each line")
    file = _File(source, [[] for _ in range(width)])
    known: dict[str, str] = {}
    number = 1 + source.before
    for block in blocks:
        kept = file.add(block, number)
        for index, column in enumerate(file.columns):
            own = kept[index::width]
            # Equal cells of a large file become one string, because few are distinct.
            column.extend(map(known.setdefault, own, own) if len(blocks) > 2 else own)
        number += block.count("\n")
    _check(file, width)
    _divide(file)
    return file


def _blocks(source: Source) -> Iterator[str]:
    """Yield some lines of a file at a time: cut into cells they take much memory."""
    text = source.text.replace("\r\n", "\n").removesuffix("\n")
    if comma_of(text.partition("\n")[0]):
        text = "\n".join(_without_commas(text.split("\n")))
    begin = 0
    while begin <= len(text):
        end = text.find("\n", begin + _BLOCK)
        end = len(text) if end < 0 else end
        yield f"{text[begin:end]}\n"
        begin = end + 1


def _width(lines: Iterable[str]) -> int:
    """Count the cells of the first row; return 0 if there is none."""
    for line in lines:
        if line.strip() and line[0] != "#":
            cells = cells_of(line)
            if cells[0] != DOCUMENT_LINE:
                return len(cells)
    return 0


def kind_of(line: str, cells: list[str], width: int) -> str:
    """Return the kind of a line that does not look like a row at first sight."""
    if not line.strip():
        return "blank"
    if cells[0] == DOCUMENT_LINE:
        return "document"
    if len(cells) == width and (
        line[0] != "#" or ("=" not in line.split() and any(map(TAG.fullmatch, cells)))
    ):
        return "row"
    return "comment" if line[0] == "#" else "odd"


def parts_of_comment(line: str) -> tuple[str, str, str]:
    """Split a comment into key, sign and value; without a key and a sign, all of it is the key."""
    key, is_pair, value = (part.strip() for part in line[1:].partition("="))
    return (key, is_pair, value) if key and is_pair else (line.lstrip("# ").strip(), "", "")


def names_of(value: str) -> list[str]:
    """List the names of columns in a comment; tabs divide names that have spaces in them."""
    return [name.strip() for name in value.split("\t")] if "\t" in value else value.split()


def _other_width(width: int, where: str, expected: Text) -> DataError:
    columns = "one column" if width == 1 else f"{width} columns"
    return refusal(where, f"found {columns}", expected=expected)


def _check(file: _File, width: int) -> None:
    """Refuse a file without tags, and a header that does not fit."""
    if not file.lines:
        raise refusal(file.source.name, "holds a header only", expected="a token on each line")
    header = file.header or []
    if width < 2:
        raise _other_width(width, file.place(0), "at least a token and a tag")
    if file.header is not None and len(header) != width:
        raise _other_width(
            width, file.place(0), (f"{len(header)}, as the header names: ", *quotes(header))
        )
    check_distinct(header, file.source.name)


def _divide(file: _File) -> None:
    """Cut by the columns that name sentences and documents, where a header has them."""
    by_document, by_sentence = (_filled(file, names) for names in (DOCUMENT_NAMES, SENTENCE_NAMES))
    if not (by_document or by_sentence):
        return
    rows = np.arange(len(file.lines))
    sentences = (np.searchsorted(file.first, rows, "right") - 1).tolist()
    documents: list[Any] = by_document or [file.document[sentence] for sentence in sentences]
    keys = list(zip(documents, by_sentence or sentences, strict=True))
    file.first = [row for row, key in enumerate(keys) if not row or key != keys[row - 1]]
    file.document = [documents[row] for row in file.first]
    if by_document:
        file.names, file.fields = [], []
        last, file.document = None, []
        for row in file.first:
            if documents[row] != last:
                file.begin(last := documents[row])
            file.document.append(len(file.names) - 1)


def _filled(file: _File, names: Iterable[str]) -> list[str]:
    """Fill each empty cell of a column with the cell above; return nothing if all are empty."""
    column = file.column_named(names)
    cells = map(str.strip, [] if column is None else file.columns[column])
    found = list(accumulate(cells, lambda above, cell: cell or above, initial=""))
    return found[1:] if found[-1] else []


# --- Columns to drafts --------------------------------------------------------


def _column_of(name: str, file: _File) -> int:
    """Find a column by its number from 1 on, or by its name."""
    width = len(file.columns)
    if file.header and name in file.header:
        return file.header.index(name)
    if name.isdecimal() and len(name) < 10 and 1 <= int(name) <= width:
        return int(name) - 1
    raise OptionError(
        *quoting("there is no column {}", name),
        where=file.source.name,
        expected=(
            f"a number from 1 to {width}",
            *((" or one of ", *quotes(file.header)) if file.header else ()),
        ),
    )


def _token_column(file: _File, reading: Reading) -> int:
    """Find the column of tokens: as the option or the header says, else the first.

    It is the second where the first numbers the tokens.
    """
    asked = chosen_columns(reading).get("token")
    if asked is not None:
        return _column_of(asked[0], file)
    if file.header or not file.is_numbered:
        return file.column_named(TOKEN_NAMES) or 0
    # Sentences of one token, which are all that a part may have, do not tell.
    is_counting = file.layout is not None and file.layout.tells and int(file.lengths.max()) < 2
    is_counting = is_counting or are_counting(file.columns[0], file.lengths)
    are_all_tags = file.layout is None and file.holds_tags(1)
    if are_all_tags and not is_counting:
        return 0
    if are_all_tags or not is_counting:
        raise refusal(
            file.place(0),
            "column 1 "
            + (
                "numbers the tokens, and no other column holds them"
                if is_counting
                else "holds numbers only"
            ),
            expected="tokens",
            remedy=(
                *(() if is_counting else ("pass ", Use("columns", "token=2"), ", or ")),
                "if the numbers are the tokens, pass ",
                Use("columns", "token=1"),
            ),
        )
    reading.note(NUMBERED, where=file.source.name)
    return 1


def _check_layers(file: _File) -> None:
    """Refuse several columns of tags behind tokens with numbers: they may be layers of one."""
    if not file.is_numbered:
        return
    tags = [str(i + 1) for i in range(2, len(file.columns)) if file.holds_tags(i)]
    if len(tags) > 1:
        raise refusal(
            file.place(0),
            f"columns {' and '.join(tags)} hold tags, and nothing says whether they are layers or "
            "annotators",
            expected="one column",
            remedy=(
                "pass ",
                *[piece for number in tags for piece in (" or ", Use("columns", f"tag={number}"))][
                    1:
                ],
                "; ",
                *either(tags),
            ),
        )


def _tag_columns(
    file: _File,
    upload: Upload,
    reading: Reading,
    widths: AbstractSet[int],
    *,
    is_single: bool,
) -> tuple[list[tuple[str, list[int]]], str | None]:
    """Find the annotators, the columns of each, which are layers, and the gold standard, if any."""
    width, where = len(file.columns), file.source.name
    chosen = chosen_columns(reading)
    asked = chosen.get("tag")
    if asked == [LAST] and LAST not in (file.header or ()):
        columns = [[width - 1]]
    elif asked is not None:
        groups = (layers_of(names, file.header or ()) for names in asked)
        wanted = [tuple(_column_of(name, file) for name in group) for group in groups]
        columns = [[*dict.fromkeys(group)] for group in dict.fromkeys(wanted)]
    elif file.header:
        columns = [[column] for column in _columns_of_tags(file, reading)]
    else:
        if "token" not in chosen:
            _check_layers(file)
        if width in widths:
            pair = f"columns {width - 1} and {width} "
            if not reading.is_strict:
                reading.note(f"{pair}are gold standard and system, as for conlleval", where=where)
                reading.signed["layout"] = "conlleval"
                system = "system" if upload.annotator == GOLD else upload.annotator
                return [(GOLD, [width - 2]), (system, [width - 1])], GOLD
            both, last = Use("columns", f"tag={width - 1},{width}"), Use("columns", f"tag={LAST}")
            each = (both, " reads each as an annotator, ", last, " the last")
            problem = refusal(
                where,
                f"{pair}hold tags with labels in common",
                expected="one column of tags",
                remedy=each if is_single else (last, " reads the last column of each file"),
            )
            reading.keep(both if is_single else last, problem)
        columns = [[_last_of_tags(file, reading)]]
        note_columns(file.distinct[: columns[0][0] + 1], reading, file=where)
    if len(columns) == 1:
        return [(upload.annotator, columns[0])], None
    return [("+".join(_name_of(file, tag) for tag in tags), tags) for tags in columns], None


def _name_of(file: _File, column: int) -> str:
    return file.header[column] if file.header else f"column {column + 1}"


def _last_of_tags(file: _File, reading: Reading) -> int:
    """Find the last column, or the last with tags if those behind it hold none at all."""
    last = len(file.columns) - 1
    if file.layout is not None or any(map(_CLEAR.fullmatch, file.columns[last])):
        return last
    found = max(filter(file.holds_tags, range(1, last)), default=last)
    if found < last:
        reading.note(
            f"tags read from column {found + 1}; those behind it hold none", where=file.source.name
        )
    return found


def _check_swapped(file: _File, token: int, tag: int) -> None:
    """Refuse a column of words for one of tags, where the tags are read as tokens."""
    cells = file.columns[token]
    if (
        all(map(TAG.fullmatch, cells))
        and any(map(_CLEAR.fullmatch, cells))
        and 2 * len([*filter(_CLEAR.fullmatch, file.columns[tag])]) < len(cells)
    ):
        raise refusal(
            file.place(0),
            f"column {token + 1} holds tags, and column {tag + 1} words",
            expected="the reverse",
            remedy=("pass ", Use("columns", f"token={tag + 1},tag={token + 1}")),
        )


def _columns_of_tags(file: _File, reading: Reading) -> list[int]:
    """Return the columns that hold tags, and say which others a header names."""
    header, where = file.header or [], file.source.name
    cut = (*TOKEN_NAMES, *SENTENCE_NAMES, *DOCUMENT_NAMES)
    others = [column for column, name in enumerate(header) if name.lower() not in cut]
    columns = list(filter(file.holds_tags, others))
    if not columns:
        raise refusal(
            where,
            "none of the columns {} holds tags",
            quotes(header),
            remedy=("pass ", Use("columns", placeholder="tag=COLUMN")),
        )
    if len(columns) < len(others):
        names = quotes(header[column] for column in others if column not in columns)
        reading.note("columns not read: ", *names, where=where)
    return columns


def _names(file: _File, sentences: Iterable[int], upload: Upload) -> list[str]:
    """Return the documents of sentences: as the file names them, else by number."""
    prefix = upload.prefix_of(file.source)
    if not file.names:
        before = file.source.texts_before + 1
        return [prefix[:-1] or str(before + sentence) for sentence in sentences]
    named = [*file.names, ("0", False)]  # the last is what stands before the first
    found = (named[file.document[sentence]] for sentence in sentences)
    return [name if is_named else f"{prefix}{name}" for name, is_named in found]
