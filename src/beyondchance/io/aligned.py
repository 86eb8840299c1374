"""Cut files of tagged sentences or of records, one for each annotator, into pieces of same texts.

All files are looked through before the first piece is read: texts are counted, so that all files
can be cut before the same one, and what all rows of a file decide is found out. The reader itself
parses the rows for this, some at a time. Several processes can each look through some bytes of a
file: what they see adds.
"""

from __future__ import annotations

import csv
import json
from array import array
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field, replace
from itertools import accumulate, chain, compress, pairwise, repeat
from typing import Any

import numpy as np

from beyondchance.annotations.tags import scheme_of_pairs
from beyondchance.errors import FormatError
from beyondchance.io.formats.conll import (
    DOCUMENT_NAMES,
    RESERVED_COLUMNS,
    SENTENCE_NAMES,
    cells_of,
    comma_of,
    is_header,
    kind_of,
    other_number,
    parsed_file,
)
from beyondchance.io.formats.records import KEYS_OF_PEOPLE
from beyondchance.io.options import Reading
from beyondchance.io.packed import is_packed
from beyondchance.io.pieces import Range, in_order, some_of
from beyondchance.io.remote import open_file
from beyondchance.io.sources import Source
from beyondchance.io.span_objects import has_text
from beyondchance.io.tagged import (
    TAG,
    Layout,
    are_numbers,
    are_tags,
    chosen_columns,
    trailing_tags,
)

BLOCK = 2**16
"""Bytes that are parsed at a time, or a few more."""
MOST = 2**22
"""Bytes that are parsed again to be sure that they are wrong."""
BYTES_OF_JOB = 2**24
"""Bytes of a file that one process looks through, or a few more."""
LARGE = 2**20
"""Pieces of so many bytes need not be cut at the very text that fills them."""
STEP = 64
"""Large pieces begin with a document that is marked, or a text with a multiple of this number."""
_FEWER = 16
"""How much smaller the first of them is: it is read before all others, while workers wait."""
_MOST_PAIRS = 2**16
"""More distinct pairs of neighbours are none of tags."""
_KEYS_OF_PEOPLE = [f'"{key}"' for key in KEYS_OF_PEOPLE]
_WORDS = "tokenized_text"

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
    FormatError
        If a file of tokens and tags cannot be parsed.
    MismatchError
        If a file without marks of documents has other sentences than those with them.
    """
    try:
        files = _looked_through(sources, reading, size, engine, are_tagged=are_tagged)
        layouts = _layouts(files, reading) if are_tagged else [None] * len(files)
        cuts = _cuts(sources, files, size, 1 if are_tagged else 2)
    except _UncutError:
        return [tuple(Range(i, source.name) for i, source in enumerate(sources))]
    bounds = [[(0, 0)] * len(files), *cuts, [(file.whole.last, 0) for file in files]]
    return [
        tuple(
            Range(
                *(i, file.name, first, last),
                # The first piece has it in its place.
                header=file.header if first else b"",
                texts_before=n_before,
                layout=layout,
            )
            for i, (file, layout, (first, n_before), (last, _)) in enumerate(
                zip((file.whole for file in files), layouts, one, other, strict=True)
            )
        )
        for one, other in pairwise(bounds)
    ]


# --- Files looked through -------------------------------------------------------------


@dataclass(frozen=True)
class _Job(Range):
    """Bytes of a file that are to be looked through.

    Attributes
    ----------
    number : int
        Of all jobs.
    origin : Source
        The file.
    may_name : bool
        Whether records may name annotators.
    width : int
        How many columns the file has, if that is known.
    """

    number: int = 0
    origin: Source = field(kw_only=True)
    may_name: bool = False
    width: int = 0


@dataclass(eq=False)
class _Texts:
    """What is seen of a file, or of some of its bytes.

    Attributes
    ----------
    whole : _Job
    step : int
        One text in so many is in `places`.
    number : int
        Of the job.
    n, n_documents, n_rows : int
        How many texts, marks of documents, and rows there are.
    places : array of int
        Where texts begin: behind the one before, with all that is between. -1 for a record with
        which no piece can begin, because it could be taken for another kind of file.
    documents : list of (int, int, int, str or int)
        For each that has texts, its place, how many texts and documents are before, and its name,
        or its number if it has none.
    names : list of str
        The columns, if a header names them.
    width : int
        How many there are.
    pairs : dict
        For columns of tags, each with the one before, which is O for the first of a text.
    n_tags : Counter
        How many cells of a column look like tags.
    is_numbers : bool
        Whether the first column holds numbers only.
    """

    whole: _Job
    step: int = 1
    number: int = 0
    n: int = 0
    n_documents: int = 0
    n_rows: int = 0
    places: array[int] = field(default_factory=lambda: array("q"))
    documents: list[tuple[int, int, int, str | int]] = field(default_factory=list)
    names: list[str] = field(default_factory=list)
    width: int = 0
    pairs: dict[int, set[tuple[str, str]]] = field(default_factory=dict)
    n_tags: Counter[int] = field(default_factory=Counter)
    is_numbers: bool = True

    def add(self, other: _Texts) -> None:
        """Add what follows."""
        self.places += other.places[-self.n % self.step :: self.step]
        self.documents += [
            (
                *(place, self.n + text, self.n_documents + before),
                name if isinstance(name, str) else self.n_documents + name,
            )
            for place, text, before, name in other.documents
        ]
        known = self.pairs if self.n else other.pairs
        self.pairs = {n: known[n] | own for n, own in other.pairs.items() if n in known}
        self.names, self.width = other.names, other.width
        self.n += other.n
        self.n_documents += other.n_documents
        self.n_rows += other.n_rows
        self.n_tags += other.n_tags
        self.is_numbers &= other.is_numbers

    def see(self, file: Any, n_texts: int) -> None:
        """Take what the rows of some texts say of the columns."""
        rows = slice(file.first[n_texts] if n_texts < len(file.first) else len(file.lines))
        columns = [column[rows] for column in file.columns]
        if not self.n:
            self.names, self.width = file.header or [], len(columns)
            self.pairs = {number: set() for number in range(self.width)}
        self.n += n_texts
        self.n_rows += len(columns[0])
        self.is_numbers = self.is_numbers and are_numbers(columns[0])
        for number, column in enumerate(columns):
            if self.names:
                counts = Counter(column)
                self.n_tags[number] += sum(n for tag, n in counts.items() if TAG.fullmatch(tag))
            pairs = self.pairs.get(number)
            if pairs is None:
                continue
            tags = set(column)
            # Once a B is known to begin a span alone, what is before other tags tells nothing.
            if any(one == "O" and two[:1] == "B" for one, two in pairs):
                pairs.update(zip(repeat("O"), tags))
            elif are_tags(tags):
                before = ["O", *column[:-1]]
                for row in file.first[:n_texts]:
                    before[row] = "O"
                pairs.update(zip(before, column, strict=True))
            if not are_tags(tags) or len(pairs) > _MOST_PAIRS:
                del self.pairs[number]

    def begin_of(self, number: int | None, text: int, n_before: int) -> tuple[int, int]:
        """Return where a document begins, and how many are before; -1, if it is not there.

        It is the document with a number, where the file marks documents; else the one with a text.
        """
        if self.documents:
            place, _, own, _ = (-1, 0, 0, 0) if number is None else self.documents[number]
            return place, own
        index, left = divmod(text, self.step)
        first, last = (*self.places[index : index + 2], self.whole.last, self.whole.last)[:2]
        if text >= self.n or (left and not self.can_begin_at(first)):
            return -1, n_before
        if left:
            first = _look_at_tags(replace(self.whole, first=first, last=last)).places[left]
        return first, n_before

    def can_begin_at(self, place: int) -> bool:
        """Return whether a piece that begins at a place would be read as the whole file is."""
        if not self.width:
            return place >= 0
        try:
            file, _ = _parsed_from(replace(self.whole, first=place), BLOCK)
        except FormatError:
            return False
        is_alike = (file.header or [], len(file.columns)) == (self.names, self.width)
        return is_alike and all(file.columns[i][0].strip() for i in _dividing(file))


def _looked_through(
    sources: Sequence[Source], reading: Reading, size: int, engine: Engine, *, are_tagged: bool
) -> list[_Texts]:
    """Look through files, and return what is seen of each."""
    match = reading.options["match"]
    if match == "text" or reading.options["fields"] is not None:
        raise _UncutError  # records may name annotators under any key
    jobs_of = _jobs_of_tags if are_tagged else _jobs_of_records
    by_file = [jobs_of(i, source) for i, source in enumerate(sources)]
    jobs = [replace(own, number=n) for n, own in enumerate(chain(*by_file))]
    step = STEP if size >= LARGE else 1
    files = [_Texts(replace(own[0], last=own[-1].last), step) for own in by_file]
    look = _look_at_tags if are_tagged else _look_at_records
    for seen in in_order(engine(look, jobs), jobs):
        files[jobs[seen.number].file].add(seen)
    has_marks = any(file.documents for file in files)
    is_one = match == "order" if has_marks else reading.options["unit"] == "document"
    # Where all marks are behind the texts, these are one document.
    is_one |= any(file.n_documents and not file.documents for file in files)
    if not all(file.n for file in files) or (are_tagged and is_one):
        raise _UncutError
    return files


def _whole(number: int, source: Source) -> _Job:
    """Return all of a file; refused if its bytes cannot be cut."""
    if source.head.startswith((b"\xff\xfe", b"\xfe\xff")) or is_packed(source):
        raise _UncutError
    with open_file(source.place) as stream:
        end = stream.seek(0, 2)
    return _Job(number, source.name, 0, end, origin=source)


def _jobs_of(whole: _Job, following: Callable[[Any], int]) -> list[_Job]:
    """Cut a file into jobs; `following` finds where one can begin, from a stream on."""
    bounds = [whole.first]
    with open_file(whole.origin.place) as stream:
        while bounds[-1] < whole.last:
            stream.seek(bounds[-1] + BYTES_OF_JOB)
            stream.readline()
            bounds.append(min(following(stream), whole.last))
    return [replace(whole, first=first, last=last) for first, last in pairwise(bounds)]


# --- Records --------------------------------------------------------------------------


def _jobs_of_records(number: int, source: Source) -> list[_Job]:
    """Return the jobs of a file of records; refused unless each is on a line."""
    whole = _whole(number, source)
    with open_file(source.place) as stream:
        lines = (line.decode("utf-8-sig", "replace") for line in stream)
        line = next(filter(str.strip, lines), "")
    try:
        record = json.loads(line) if line.lstrip().startswith("{") else None
    except (ValueError, RecursionError):
        record = None
    if record is None:
        raise _UncutError
    # Records of tokens and tags have no annotators.
    whole = replace(whole, may_name=has_text(record) or _WORDS in record)
    return _jobs_of(whole, lambda stream: stream.tell())


def _look_at_records(job: _Job) -> _Texts:
    """Find where records begin; refused if they may name annotators."""
    seen = _Texts(job, number=job.number)
    place = job.first
    with open_file(job.origin.place) as stream:
        stream.seek(place)
        while place < job.last:
            line = stream.readline()
            text = line.decode("utf-8", "replace").strip()
            if job.may_name and any(key in text for key in _KEYS_OF_PEOPLE):
                raise _UncutError
            if text:
                seen.places.append(place if text[0] == "{" else -1)
            place += len(line)
    seen.n = len(seen.places)
    return seen


# --- Tokens and tags ------------------------------------------------------------------


def _jobs_of_tags(number: int, source: Source) -> list[_Job]:
    """Return the jobs of a file of tokens and tags.

    Each begins behind the last row of a text, and its first row is read as in the whole file. A
    file whose columns name sentences or documents, or are divided by commas, is one job.
    """
    whole = _whole(number, source)
    file, data = _parsed_from(whole, BLOCK)
    if _dividing(file) and not _is_clear(file, 0):
        raise _UncutError  # a later row says whether the column divides the first ones
    names, width = file.header or [], len(file.columns)
    whole = replace(whole, width=width)
    line = data[: data.find(b"\n") + 1]
    has_commas = comma_of(line.decode("utf-8-sig", "replace"))
    if names:
        named = line if has_commas else ("# columns = " + "\t".join(names) + "\n").encode()
        whole = replace(whole, header=named)
    if has_commas or _dividing(file):
        return [whole]

    def following(stream: Any) -> int:
        end, is_apart = 0, False
        for line in iter(stream.readline, b""):
            text = line.decode("utf-8", "replace").rstrip("\r\n")
            cells = cells_of(text)
            kind = kind_of(text, cells, width)
            is_apart |= kind == "blank"
            if kind in {"row", "odd"}:
                is_like = len(cells) == width and (names or not is_header(cells))
                if end and is_apart and is_like and text[0] != "#":
                    return end
                end, is_apart = stream.tell(), False
        return whole.last

    return _jobs_of(whole, following)


def _dividing(file: Any) -> list[int]:
    """Return the columns that name documents and sentences."""
    columns = map(file.column_named, (DOCUMENT_NAMES, SENTENCE_NAMES))
    return [column for column in columns if column is not None]


def _is_clear(file: Any, row: int) -> bool:
    """Return whether a row would be read in the same way, if it were the first of a file.

    An empty cell that names a document or a sentence says: as above.
    """
    cells = [column[row] for column in file.columns]
    are_named = all(cells[column].strip() for column in _dividing(file))
    return are_named and cells[0][:1] != "#" and bool(file.header or not is_header(cells))


def _parsed_from(job: _Job, size: int) -> tuple[Any, bytes]:
    """Parse about so many bytes of a job; more, if they seem to be wrong."""
    header = job.header if job.first else b""
    data = b""
    with open_file(job.origin.place) as stream:
        stream.seek(job.first)
        while True:
            left = job.last - job.first - len(data)
            data += stream.read(min(size, left)) + (stream.readline() if left > size else b"")
            piece = some_of(job.origin, header + data)
            try:
                _check_commas(piece)
                return parsed_file(piece, job.width), data
            except FormatError:
                if left <= size or len(data) >= MOST:
                    located = replace(job, header=header).located(job.origin, piece)
                    parsed_file(located, job.width)
                    raise
                size *= 4


def _check_commas(piece: Source) -> None:
    """Leave a file as a whole in which a cell divided by commas goes on in the next line."""
    if comma := comma_of(piece.text.partition("\n")[0]):
        lines = piece.lines()
        try:
            n_rows = sum(1 for _ in csv.reader(lines, delimiter=comma))
        except csv.Error:
            n_rows = 0
        if n_rows < len(lines):
            raise _UncutError


def _look_at_tags(job: _Job) -> _Texts:
    """Find where texts and documents begin, and what rows say of columns."""
    seen = _Texts(job, number=job.number)
    rest, size = job, BLOCK
    while rest.first < job.last:
        file, data = _parsed_from(rest, size)
        header = rest.header if rest.first else b""
        ends = np.flatnonzero(np.frombuffer(header + data, dtype=np.uint8) == ord("\n"))
        # A text begins behind the last row of the one before.
        before = np.array(file.lines)[np.array(file.first[1:], dtype=np.int64) - 1]
        places = [rest.first, *(rest.first - len(header) + 1 + ends[before - 1]).tolist()]
        n_texts = len(places)
        if rest.first + len(data) < job.last:
            n_texts -= 1  # the last one may go on
            while n_texts and not _is_clear(file, file.first[n_texts]):
                n_texts -= 1
        if not n_texts:
            size *= 2
            continue
        _take_documents(seen, file, places[:n_texts])
        seen.places.extend(places[:n_texts])
        seen.see(file, n_texts)
        rest = replace(rest, first=[*places, job.last][n_texts])
        size = BLOCK
    return seen


def _take_documents(seen: _Texts, file: Any, places: Sequence[int]) -> None:
    """Add the documents that begin with texts at these places."""
    shift, previous = seen.n_documents, -1
    names = [name if is_named else number for number, (name, is_named) in enumerate(file.names, 1)]
    is_divided = file.column_named(DOCUMENT_NAMES) is not None
    if is_divided and seen.documents and names[:1] == [seen.documents[-1][3]]:
        shift, previous = shift - 1, 0  # a column goes on to name the last one
    for text, (place, number) in enumerate(zip(places, file.document, strict=False), seen.n):
        if number != previous:
            name = names[number]
            own = shift + name if isinstance(name, int) else name
            seen.documents.append((place, text, shift + previous + 1, own))
            previous = number
    # Behind the last text of a file there may be marks as well.
    is_last = len(places) == len(file.first)
    seen.n_documents = shift + (len(file.names) if is_last else file.document[len(places) - 1] + 1)


def _layouts(files: Sequence[_Texts], reading: Reading) -> list[Layout]:
    """Find out what all rows of each file decide."""
    known: dict[int, list[set[str]]] = {}
    chosen = chosen_columns(reading)
    may_number, is_asked = "token" not in chosen, "tag" in chosen
    for file in files:
        file.is_numbers &= may_number and not file.names
        if file.is_numbers and 1 in file.pairs:
            raise _UncutError  # all of its rows say whether tokens or their numbers stand there
        if not file.names and not is_asked:
            if file.width - 1 not in file.pairs:
                raise _UncutError  # all of its rows say which column holds tags
            cells = known.setdefault(file.width, [set() for _ in range(file.width)])
            cells[0].add("1" if file.is_numbers else "word")
            for number in range(1, file.width):
                cells[number].update(tag for _, tag in file.pairs.get(number, {("", "")}))
    widths = frozenset(width for width, cells in known.items() if len(trailing_tags(cells)) == 2)
    found: list[Layout] = []
    for file in files:
        tags = {*file.pairs}
        if file.names and not is_asked:
            most = {n for n, n_tags in file.n_tags.items() if 2 * n_tags > file.n_rows}
            tags = {n for n in most if file.names[n].lower() not in RESERVED_COLUMNS}
        schemes = tuple((n, scheme_of_pairs(pairs)) for n, pairs in file.pairs.items())
        found.append(Layout(file.width, widths, frozenset(tags), schemes, file.is_numbers))
    return found


# --- Cuts -----------------------------------------------------------------------------

_Cut = list[tuple[int, int]]
"""For each file, the first byte behind a cut, and how many texts or documents are before it."""


def _cuts(
    sources: Sequence[Source], files: Sequence[_Texts], size: int, n_least: int
) -> list[_Cut]:
    """Find places at which all files are cut, before the same text or document.

    A piece has at least `n_least` texts: a single record could stand for a whole file.
    """
    lead = next((i for i, file in enumerate(files) if file.documents), 0)
    first = files[lead]
    for source, file in zip(sources, files, strict=True):
        if first.documents and not file.documents and file.n != first.n:
            raise other_number(source, file.n, sources[lead], first.n)
    texts = range(0, first.n, first.step)
    begins = first.documents or zip(first.places, texts, texts, repeat(""))
    numbers = [
        {str(name): n for n, (*_, name) in reversed([*enumerate(file.documents)])} for file in files
    ]
    kept: list[_Cut] = [[(0, 0)] * len(files)]
    last, wanted = 0, size if size < LARGE else size // _FEWER
    fewest = first.n if first.documents else min(file.n for file in files)
    for place, text, n_before, name in begins:
        if place < kept[-1][lead][0] + wanted or not last + n_least <= text <= fewest - n_least:
            continue
        here = [
            file.begin_of(own.get(str(name)), text, n_before)
            for file, own in zip(files, numbers, strict=True)
        ]
        if all(
            own[0] > old[0] and own[1] > old[1] and file.can_begin_at(own[0])
            for file, own, old in zip(files, here, kept[-1], strict=True)
        ):
            kept.append(here)
            last, wanted = text, size
    return _unscattered(files, kept[1:])


def _unscattered(files: Sequence[_Texts], cuts: Sequence[_Cut]) -> list[_Cut]:
    """Leave out cuts that have one document on both sides, in the same file or in others."""
    found: dict[str, tuple[int, int]] = {"0": (0, 0)}
    for i, file in enumerate(files):
        bounds = [cut[i][1] for cut in cuts]
        for *_, n_before, name in file.documents:
            piece = bisect(bounds, n_before)
            low, high = found.get(str(name), (piece, piece))
            found[str(name)] = min(low, piece), max(high, piece)
    reach = [*range(len(cuts) + 1)]
    for low, high in found.values():
        reach[low] = max(reach[low], high)
    apart = (n == high for n, high in enumerate(accumulate(reach, max)))
    return [*compress(cuts, apart)]
