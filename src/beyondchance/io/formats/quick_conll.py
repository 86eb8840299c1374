"""The plainest CoNLL files, read quickly: rows of a token and a tag, and marks of documents.

Everything else, such as a header, other comments, a row with too many columns or tokens
that differ between annotators, is left to `beyondchance.io.formats.conll`, which has a
message for what is wrong.
"""

from __future__ import annotations

import re
from dataclasses import dataclass, replace
from itertools import chain, pairwise

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.annotations.tags import decode_tags, scheme_with_ends
from beyondchance.errors import BeyondChanceError
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
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
# The cells of a line are divided by tabs if it has any, else by spaces.
_BEGINNING = re.compile(rf"^(?:#|{DOCUMENT_LINE})", re.MULTILINE)
_MARK = re.compile(
    rf"{DOCUMENT_LINE}(?:\t[^\n]*| [^\t\n]*)?|# newdoc(?: id = (\S(?:[^\t\n]*\S)?))?"
)


@dataclass(frozen=True, slots=True)
class _Plain:
    """A file cut into cells.

    Attributes
    ----------
    words, tags : list of str
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

    words: list[str]
    tags: list[str]
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
        file = _plain(upload.sources[0].text)
        if file is None:
            return None
        files.append(file)
    n_unmarked = _share_marks(files)
    if (
        _has_gold(files)
        or (n_unmarked and reading.refuses("marks"))
        or not all(_same_words(file, files[0]) for file in files)
    ):
        return None
    schemes = {reading.options["scheme"] or _scheme(file) for file in files}
    scheme = schemes.pop()
    if scheme is None or schemes:
        return None
    corpus = _built(files, names, scheme, reading.options["repair"])
    if corpus is None:
        return None
    if n_unmarked:
        reading.skipped[SHARED_MARKS] += n_unmarked
        reading.signed["marks"] = "shared"
    for upload, file in zip(uploads, files, strict=True):
        _note(file, upload, scheme, reading)
    return corpus


def _note(file: _Plain, upload: Upload, scheme: str, reading: Reading) -> None:
    """Say how a file was read."""
    if file.is_numbered:
        reading.note(NUMBERED, where=upload.name)
    note_columns(file.columns, reading, file=upload.name)
    if reading.options["scheme"] is None:
        reading.note("tags read as ", scheme, where=upload.name, who=upload.annotator)


def _has_gold(files: list[_Plain]) -> bool:
    """Whether files of as many columns, taken together, end with gold standard and system."""
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


def _plain(text: str) -> _Plain | None:
    """Cut a text with as many separators on every row as on the first."""
    lines = text.split("\n")
    marks = _cut_marks(text, lines) if "#" in text or DOCUMENT_LINE in text else {}
    if marks:
        text = "\n".join(lines)
    if marks is None or "\r" in text or DOCUMENT_LINE in text:
        return None
    separator = "\t" if "\t" in text else " "
    counts, is_filled = _lines(text, separator)
    widths = counts[is_filled] + 1
    if not len(widths) or widths[0] == 1 or np.any(widths != widths[0]):
        return None
    width = int(widths[0])
    cells = separator.join(filter(None, lines)).split(separator)
    if not _is_clean(cells, text, separator):
        return None
    words, tags = cells[::width], cells[width - 1 :: width]
    if tags[0][:2] not in _BEGINNINGS:
        return None  # a first row without a tag may be a header
    blank = np.concatenate([[-1], np.flatnonzero(~is_filled), [len(is_filled)]])
    lengths = np.diff(blank) - 1
    documents, document = _documents(marks, blank[:-1][lengths > 0])
    # A word and its tag are all that most files have; no other column is asked about then.
    columns = [set(cells[i::width]) for i in range(width)] if width > 2 else [set(), set()]
    lengths = lengths[lengths > 0]
    is_numbered = words[0].isdecimal() and are_numbers(words)
    if is_numbered:
        if not _is_numbered(words, lengths, columns):
            return None
        words = cells[1::width]
    return _Plain(words, tags, lengths, documents, document, columns, bool(marks), is_numbered)


def _is_numbered(numbers: list[str], lengths: Ints, columns: list[set[str]]) -> bool:
    """Whether numbers count the tokens, which come next, and only the last column holds tags."""
    _, *others, _ = columns
    return bool(others) and not any(map(are_tags, others)) and are_counting(numbers, lengths)


def _cut_marks(text: str, lines: list[str]) -> dict[int, str] | None:
    """Blank the lines that begin documents; their numbers and the names of the documents.

    None if there are other comments, or if two documents have one name.
    """
    marks: dict[int, str] = {}
    number = place = 0
    # Marks are few: they are searched for in the text, and lines are counted in between.
    for beginning in _BEGINNING.finditer(text):
        number += text.count("\n", place, beginning.start())
        place = beginning.start()
        mark = _MARK.fullmatch(lines[number])
        if mark is None:
            return None
        marks[number] = mark[1] or str(len(marks) + 1)
        lines[number] = ""
    return marks if len({"0", *marks.values()}) == len(marks) + 1 else None


def _documents(marks: dict[int, str], before: Ints) -> tuple[list[str], Ints]:
    """The documents that have sentences, and the document of each sentence.

    `before` are the lines before the sentences. What stands before the first mark is
    document 0; without marks each sentence is a document.
    """
    if not marks:
        return [str(number) for number in range(1, len(before) + 1)], np.arange(len(before))
    number = np.searchsorted([*marks], before, side="right")
    used, document = np.unique(number, return_inverse=True)
    names = ["0", *marks.values()]
    return [names[index] for index in used.tolist()], document


_ODD_SPACES = b"\x0b\x0c\x0d\x1c\x1d\x1e\x1f"
"""White space of ASCII that is neither a line end nor a separator."""


def _is_clean(cells: list[str], text: str, separator: str) -> bool:
    """Whether no cell is empty or has white space in it where it does not belong."""
    other = " " if separator == "\t" else "\t"
    if text.isascii() and other not in text:
        data = text.encode()
        if len(data.translate(None, _ODD_SPACES)) == len(data):
            return "" not in cells
    distinct = set(cells)
    if "" in distinct or any(cell != cell.strip() for cell in distinct):
        return False
    return separator == "\t" or len(" ".join(distinct).split()) == len(distinct)


def _lines(text: str, separator: str) -> tuple[Ints, Bools]:
    """For each line, how many separators it has, and whether it has anything."""
    data = np.frombuffer(text.encode(), dtype=np.uint8)
    ends = np.concatenate([np.flatnonzero(data == ord("\n")), [len(data)]])
    starts = np.concatenate([[0], ends[:-1] + 1])
    before = np.concatenate([[0], np.cumsum(data == ord(separator))])
    return before[ends] - before[starts], ends > starts


_BEGINNINGS = frozenset({"O", *(f"{prefix}-" for prefix in "BIELSUM")})


def _scheme(file: _Plain) -> str | None:
    """The scheme, where few tags are enough to recognise it."""
    scheme = scheme_with_ends({tag[:1] for tag in set(file.tags)})
    if scheme is not None:
        return scheme
    # A B after an O begins a span alone, even if a sentence ends between them.
    pairs = pairwise(chain(["O"], file.tags))
    return "IOB2" if any(tag[:1] == "B" and before == "O" for before, tag in pairs) else None


def _built(files: list[_Plain], names: list[str], scheme: str, repair: str) -> Corpus | None:
    """Build the corpus column by column; None where the general reader has a message."""
    words, lengths, documents = files[0].words, files[0].lengths, files[0].documents
    n_texts = len(lengths)
    tags = [tag for file in files for tag in file.tags]
    try:
        found = decode_tags(
            tags, np.tile(lengths, len(files)), scheme=scheme, repair=repair, where="{} {}".format
        )
    except BeyondChanceError:
        return None
    annotator, text = np.divmod(found.text, n_texts)
    labels, label = sorted_names(found.labels, found.label)
    # Words are joined by single spaces; offsets count from the beginning of each sentence.
    sizes = np.fromiter(map(len, words), dtype=np.int64, count=len(words))
    ends = np.cumsum(sizes + 1) - 1
    first = np.cumsum(lengths) - lengths
    begins = np.repeat((ends - sizes)[first], lengths)
    bounds = [*first.tolist(), len(words)]
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
        texts=tuple(" ".join(words[low:high]) for low, high in pairwise(bounds)),
        token_start=ends - sizes - begins,
        token_end=ends - begins,
    )
