"""The plainest CoNLL files, read quickly: rows of a token and a tag, and marks of documents.

Everything else, such as a header, other comments, a row with too many columns or tokens
that differ between annotators, is left to `beyondchance.io.formats.conll`, which has a
message for what is wrong.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, replace
from itertools import chain

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.annotations.tags import decode_tags, scheme_with_ends
from beyondchance.errors import BeyondChanceError
from beyondchance.io.layouts import Layout, layout_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.io.tagged import (
    NUMBERED,
    are_counting,
    are_numbers,
    are_tags,
    note_columns,
    trailing_tags,
)
from beyondchance.tallies import mended
from beyondchance.types import Bools, Ints

DOCUMENT_LINE = "-DOCSTART-"
"""The first cell of a line that begins a document without a name."""
SHARED_MARKS = mended("files divided into documents as another file marks them")
"""What to count files under that lack the marks of documents which others have."""

_PLAIN = frozenset({"gold", "strict", "repair", "scheme", "duplicates", "mismatch", "marks"})
"""Options that make no difference to what is plain."""
_AT_A_TIME = 2**20
"""Bytes that are cut at a time: arrays of more take memory, and longer."""
_MOST_COLUMNS = 64
"""More are not plain: each is cut by itself, which would take long."""
_END = ord("\n")
_BEGINNING = re.compile(rb"\n(?:#|%b)" % DOCUMENT_LINE.encode())
# The cells of a line are divided by tabs if it has any, else by spaces.
_MARK = re.compile(
    rf"{DOCUMENT_LINE}(?:\t[^\n]*| [^\t\n]*)?|# newdoc(?: id = (\S(?:[^\t\n]*\S)?))?"
)


@dataclass(frozen=True, slots=True)
class _Plain:
    """A file cut into columns, whose cells lie end to end, each with a line end.

    Millions of strings would take several times the memory of the file, and longer to make
    than all else; as bytes, columns are cut, compared and searched as a whole.

    Attributes
    ----------
    words, tags : bytes
    lengths : array of int
        How many words each sentence has.
    documents : list of str
    document : array of int
        The document of each sentence.
    columns : list of set of str
        The distinct cells of each column.
    has_marks : bool
        Whether lines begin documents.
    is_numbered : bool
        Whether the first column numbers the words, which are in the second.
    """

    words: bytes
    tags: bytes
    lengths: Ints
    documents: list[str]
    document: Ints
    columns: list[set[str]]
    has_marks: bool
    is_numbered: bool


def quick_corpus(uploads: list[Upload], reading: Reading) -> Corpus | None:
    """The corpus, if all files are plain and hold the same words; else None."""
    names = [upload.annotator for upload in uploads]
    if (
        not _PLAIN.issuperset(reading.changed())
        or any(upload.is_folder for upload in uploads)
        or len(set(names)) < len(names)
    ):
        return None
    files: list[_Plain] = []
    for upload in uploads:
        file = _plain_source(upload.sources[0])
        if file is None:
            return None
        if files and file.words == files[0].words:
            file = replace(file, words=files[0].words)  # kept once
        files.append(file)
    layouts = [layout_of(upload.sources[0]) for upload in uploads]
    n_unmarked = _share_marks(files)
    if (
        _has_gold(files, layouts[0])
        or (n_unmarked and reading.refuses("marks"))
        or not all(_same_words(file, files[0]) for file in files)
    ):
        return None
    schemes = {
        reading.options["scheme"] or _scheme(file, layout)
        for file, layout in zip(files, layouts, strict=True)
    }
    scheme = schemes.pop()
    if scheme is None or schemes:
        return None
    corpus = _built(files, names, scheme, reading.options["repair"])
    if corpus is None:
        return None
    if n_unmarked:
        # Files that are read in parts are counted with their first.
        is_first = not uploads[0].sources[0].texts_before
        reading.skipped.update({SHARED_MARKS: n_unmarked} if is_first else {})
        reading.signed["marks"] = "shared"
    for upload, file in zip(uploads, files, strict=True):
        _note(file, upload, scheme, reading)
    return corpus


def _encoded(source: Source) -> bytes:
    """The text in UTF-8; a source would keep the text as long as there is the source itself."""
    return replace(source, member=source.data).text.encode()


def _note(file: _Plain, upload: Upload, scheme: str, reading: Reading) -> None:
    """Say how a file was read."""
    if file.is_numbered:
        reading.note(NUMBERED, where=upload.name)
    note_columns(file.columns, reading, file=upload.name)
    if reading.options["scheme"] is None:
        reading.note("tags read as ", scheme, where=upload.name, who=upload.annotator)


def _has_gold(files: list[_Plain], layout: Layout | None) -> bool:
    """Whether files of as many columns, taken together, end with gold standard and system."""
    if layout is not None:
        return any(len(file.columns) in layout.widths for file in files)
    cells: dict[int, list[set[str]]] = {}
    for file in files:
        known = cells.setdefault(len(file.columns), [set()] * len(file.columns))
        cells[len(file.columns)] = list(map(set.union, known, file.columns))
    return any(len(trailing_tags(known)) == 2 for known in cells.values())


def _share_marks(files: list[_Plain]) -> int:
    """Divide files without marks as the first file that has them; how many there were."""
    marked = next((file for file in files if file.has_marks), None)
    if marked is None:
        return 0
    bare = [i for i, file in enumerate(files) if not file.has_marks]
    for i in bare:
        if len(files[i].lengths) == len(marked.lengths):
            files[i] = replace(files[i], documents=marked.documents, document=marked.document)
    return len(bare)


def _same_words(one: _Plain, other: _Plain) -> bool:
    return (
        one.words == other.words
        and one.documents == other.documents
        and np.array_equal(one.lengths, other.lengths)
        and np.array_equal(one.document, other.document)
    )


def _plain_source(source: Source) -> _Plain | None:
    """Cut a file, or some of its lines, as all of its rows say."""
    layout = layout_of(source)
    if layout is not None and layout.is_numbered:
        return None  # some rows do not show that numbers count the tokens
    return _plain(_encoded(source), source.texts_before, is_whole=layout is None)


def _plain(data: bytes, n_before: int = 0, *, is_whole: bool = True) -> _Plain | None:
    """Cut a text with as many separators on every row as on the first.

    `n_before` documents stand before it, if it is not the whole file.
    """
    if not data.endswith(b"\n"):
        data += b"\n"
    marks: dict[int, str] = {}
    mark = DOCUMENT_LINE.encode()
    if b"#" in data or mark in data:
        found = _cut_marks(data, n_before)
        if found is None:
            return None
        marks, data = found
    separator = b"\t" if b"\t" in data else b" "
    if b"\r" in data or mark in data or not _is_clean(data, separator):
        return None
    cut = _cut_columns(data, separator)
    if cut is None:
        return None
    is_filled, cells = cut
    words, tags = cells[0], cells[-1]
    if not _FIRST_TAG.match(tags):
        return None  # a first row without a tag may be a header
    blank = np.concatenate([[-1], np.flatnonzero(~is_filled), [len(is_filled)]])
    lengths = np.diff(blank) - 1
    documents, document = _documents(marks, blank[:-1][lengths > 0], n_before)
    # A word and its tag are all that most files have; no other column is asked about then.
    columns = [set(_cells(column)) if len(cells) > 2 else set() for column in cells]
    lengths = lengths[lengths > 0]
    is_numbered = (
        is_whole and words[: words.index(b"\n")].decode().isdecimal() and are_numbers(_cells(words))
    )
    if is_numbered:
        if not _is_numbered(list(_cells(words)), lengths, columns):
            return None
        words = cells[1]
    return _Plain(words, tags, lengths, documents, document, columns, bool(marks), is_numbered)


def _is_numbered(numbers: list[str], lengths: Ints, columns: list[set[str]]) -> bool:
    """Whether numbers count the tokens, which come next, and only the last column holds tags."""
    _, *others, _ = columns
    return bool(others) and not any(map(are_tags, others)) and are_counting(numbers, lengths)


def _cut_marks(data: bytes, n_before: int) -> tuple[dict[int, str], bytes] | None:
    """Blank the lines that begin documents; their numbers and the names of the documents.

    None if there are other comments, or if two documents have one name.
    """
    marks: dict[int, str] = {}
    kept: list[bytes] = []
    number, place = 0, 1
    data = b"\n" + data  # every line follows a line end, which is quick to search for
    # Marks are few: they are searched for in the text, and lines are counted in between.
    for beginning in _BEGINNING.finditer(data):
        start = beginning.start() + 1
        end = data.index(b"\n", start)
        mark = _MARK.fullmatch(data[start:end].decode())
        if mark is None:
            return None
        number += data.count(b"\n", place, start)
        marks[number] = mark[1] or str(n_before + len(marks) + 1)
        kept.append(data[place:start])
        place = end
    kept.append(data[place:])
    is_distinct = len({"0", *marks.values()}) == len(marks) + 1
    return (marks, b"".join(kept)) if is_distinct else None


def _documents(marks: dict[int, str], before: Ints, n_before: int) -> tuple[list[str], Ints]:
    """The documents that have sentences, and the document of each sentence.

    `before` are the lines before the sentences. What stands before the first mark is
    document 0; without marks each sentence is a document.
    """
    if not marks:
        numbers = range(n_before + 1, n_before + len(before) + 1)
        return [str(number) for number in numbers], np.arange(len(before))
    number = np.searchsorted([*marks], before, side="right")
    used, document = np.unique(number, return_inverse=True)
    names = ["0", *marks.values()]
    return [names[index] for index in used.tolist()], document


_NO_SPACES = bytes(code for code in range(128) if not chr(code).isspace())
"""ASCII without white space."""
_SPACE_AT_EDGE = re.compile(r"[^\S\t\n](?:(?![^\t\n])|(?<![^\t\n].))")
"""White space at the beginning or the end of a cell, where tabs divide them."""


def _is_clean(data: bytes, separator: bytes) -> bool:
    """Whether no cell has white space in it where it does not belong."""
    # Little is left of most texts, and there are few distinct characters in what is.
    rest = data.translate(None, _NO_SPACES + separator + b"\n").decode()
    if not any(map(str.isspace, set(rest))):
        return True
    return separator == b"\t" and not _SPACE_AT_EDGE.search(data.decode())


def _cut_columns(data: bytes, separator: bytes) -> tuple[Bools, list[bytes]] | None:
    """For each line, whether it has anything; and the columns, if rows are alike and filled."""
    first = _LINE.search(data)
    width = first[0].count(separator) + 1 if first else 1
    if not 1 < width <= _MOST_COLUMNS:
        return None
    cut = []
    for part in _parts(data):
        found = _cut_part(np.frombuffer(part, dtype=np.uint8), ord(separator), width)
        if found is None:
            return None
        cut.append(found)
    is_filled, cells = zip(*cut, strict=True)
    return np.concatenate(is_filled), list(map(b"".join, zip(*cells, strict=True)))


def _cut_part(
    part: NDArray[np.uint8], separator: int, width: int
) -> tuple[Bools, list[bytes]] | None:
    """Cut some of the lines into columns; None unless all rows have as many cells, none empty."""
    ends = np.flatnonzero((part == separator) | (part == _END))
    sizes = np.diff(ends, prepend=-1)
    ends_line = part[ends] == _END
    begins_line = np.concatenate([[True], ends_line[:-1]])
    is_cell = ~(begins_line & ends_line & (sizes == 1))
    n_rows, rest = divmod(np.count_nonzero(is_cell), width)
    if rest:
        return None
    # The cells of all rows are in columns 0, 1, ... again and again; blank lines are in none.
    column = np.full(len(ends), width, dtype=np.uint8)
    column[is_cell] = np.tile(np.arange(width, dtype=np.uint8), n_rows)
    if np.any(is_cell & ((sizes == 1) | (ends_line != (column == width - 1)))):
        return None
    # What ends a cell belongs to it, and is a line end in its column.
    column_of_byte = np.repeat(column, sizes)
    lines = np.where(part == separator, np.uint8(_END), part)
    return is_cell[ends_line], [lines[column_of_byte == i].tobytes() for i in range(width)]


def _parts(lines: bytes) -> Iterator[bytes]:
    """Cut a text, whose last line has an end, into parts of whole lines."""
    begin = 0
    while begin < len(lines):
        end = lines.find(b"\n", begin + _AT_A_TIME) + 1 or len(lines)
        yield lines[begin:end]
        begin = end


def _cells(column: bytes) -> Iterator[str]:
    """The cells of a column, which are never all in memory."""
    return chain.from_iterable(part[:-1].decode().split("\n") for part in _parts(column))


_LINE = re.compile(rb"[^\n]+")
_FIRST_TAG = re.compile(rb"O\n|[BIELSUM]-")


def _scheme(file: _Plain, layout: Layout | None) -> str | None:
    """The scheme, where few tags are enough to recognise it, or where it is known."""
    known = None if layout is None else layout.scheme_of(len(file.columns) - 1)
    if known is not None:
        return known
    tags = b"\nO\n" + file.tags  # every tag follows a line end
    scheme = scheme_with_ends({prefix for prefix in "LUESM" if f"\n{prefix}".encode() in tags})
    if scheme is not None:
        return scheme
    # A B after an O begins a span alone, even if a sentence ends between them.
    return "IOB2" if b"\nO\nB" in tags else None


def _built(files: list[_Plain], names: list[str], scheme: str, repair: str) -> Corpus | None:
    """Build the corpus column by column; None where the general reader has a message."""
    lengths, documents = files[0].lengths, files[0].documents
    tags = chain.from_iterable(_cells(file.tags) for file in files)
    try:
        found = decode_tags(
            tags, np.tile(lengths, len(files)), scheme=scheme, repair=repair, where="{} {}".format
        )
    except BeyondChanceError:
        return None
    annotator, text = np.divmod(found.text, len(lengths))
    labels, label = sorted_names(found.labels, found.label)
    texts, token_start, token_end = _texts(files[0].words, lengths)
    pairs = np.indices((len(documents), len(names))).reshape(2, -1)
    return Corpus(
        documents=tuple(documents),
        text_document=files[0].document,
        text_length=lengths,
        annotators=tuple(names),
        labels=labels,
        annotation_document=pairs[0],
        annotation_annotator=pairs[1],
        span_text=text,
        span_annotator=annotator,
        span_label=label,
        span_start=found.start,
        span_end=found.end,
        unit="sentence",
        positions="tokens",
        options={
            "scheme": scheme,
            "tokens": "file",
            **({"repair": repair} if found.n_repaired else {}),
        },
        skipped={mended(f"tags repaired by {repair}"): found.n_repaired}
        if found.n_repaired
        else {},
        texts=texts,
        token_start=token_start,
        token_end=token_end,
    )


def _texts(words: bytes, lengths: Ints) -> tuple[tuple[str, ...], Ints, Ints]:
    """The sentences, words joined by single spaces; where words begin and end in them."""
    data = np.frombuffer(words, dtype=np.uint8)
    # Offsets count characters: those bytes that do not go on with one.
    ends = np.flatnonzero(data[(data & 0xC0) != 0x80] == _END)
    starts = np.concatenate([[0], ends[:-1] + 1])
    last = np.cumsum(lengths) - 1
    begins = starts[last + 1 - lengths]
    bounds = zip(begins.tolist(), ends[last].tolist(), strict=True)
    text = words.decode().replace("\n", " ")
    texts = tuple(text[begin:end] for begin, end in bounds)
    before = np.repeat(begins, lengths)
    starts -= before
    ends -= before
    return texts, starts, ends
