"""Cut files of tagged sentences or of records, one for each annotator, into pieces of same texts.

All files are looked through before the first piece is read: texts are counted, so that all files
can be cut before the same one, and what all rows of a file decide is found out. The reader itself
parses the rows for this, some at a time. Several processes can each look through a file.
"""

from __future__ import annotations

import json
from array import array
from bisect import bisect
from collections import Counter
from collections.abc import Callable, Iterable, Sequence
from dataclasses import dataclass, field
from itertools import accumulate, compress, pairwise, repeat
from typing import Any, NamedTuple

import numpy as np

from beyondchance.annotations.tags import scheme_of_pairs
from beyondchance.errors import FormatError
from beyondchance.io.formats.conll import (
    DOCUMENT_NAMES,
    RESERVED_COLUMNS,
    SENTENCE_NAMES,
    comma_of,
    is_header,
    other_number,
    parsed_file,
)
from beyondchance.io.formats.records import KEYS_OF_PEOPLE
from beyondchance.io.options import Reading
from beyondchance.io.pieces import Range, in_order, some_of
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
STEP = 64
"""Where documents have no marks, pieces begin with a text with a multiple of this number."""
_FEWER = 16
"""How much smaller the first piece is: it is read before all others, while workers wait."""
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
        files = _looked_through(sources, reading, engine, are_tagged=are_tagged)
        layouts = _layouts(files, reading) if are_tagged else [None] * len(files)
        cuts = _cuts(files, size, 1 if are_tagged else 2)
    except _UncutError:
        return [tuple(Range(i, source.name) for i, source in enumerate(sources))]
    bounds = [[_START] * len(files), *cuts, [_Start(file.end, 0, 0) for file in files]]
    return [
        tuple(
            Range(
                *(file.number, file.source.name, start.place, end.place),
                # The first piece has it in its place.
                header=file.header if start.place else b"",
                before=start.lines,
                texts_before=start.texts,
                layout=layout,
            )
            for file, layout, start, end in zip(files, layouts, one, other, strict=True)
        )
        for one, other in pairwise(bounds)
    ]


# --- Files looked through -------------------------------------------------------------


class _Start(NamedTuple):
    """Where a text or document begins: behind the text before, with all that is between.

    Attributes
    ----------
    place : int
        The byte; -1 if no piece can begin there, because it would be read otherwise.
    lines, texts : int
        How many lines, and how many texts or marked documents, are before.
    """

    place: int
    lines: int
    texts: int


_START = _Start(0, 0, 0)


@dataclass(eq=False)
class _Texts:
    """A file, and what is seen of its texts.

    Attributes
    ----------
    number : int
        Of the file.
    source : Source
    step : int
        Pieces may begin with a text with a multiple of this number, or with a marked document.
    n, n_documents, n_rows : int
        How many texts, marks of documents, and rows there are.
    end : int
        How many bytes were looked through.
    places, lines : array of int
        For each of these texts, where it begins, and how many lines are before.
    documents : list of (str, int, _Start)
        Those that have texts: name, or number if it has none; and its first text.
    header : bytes
        What stands before the rows of every piece.
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
    tells : bool
        Whether a text has several tokens.
    """

    number: int
    source: Source
    step: int
    n: int = 0
    n_documents: int = 0
    n_rows: int = 0
    end: int = 0
    places: array[int] = field(default_factory=lambda: array("q"))
    lines: array[int] = field(default_factory=lambda: array("q"))
    documents: list[tuple[str, int, _Start]] = field(default_factory=list)
    header: bytes = b""
    names: list[str] = field(default_factory=list)
    width: int = 0
    pairs: dict[int, set[tuple[str, str]]] = field(default_factory=dict)
    n_tags: Counter[int] = field(default_factory=Counter)
    is_numbers: bool = True
    tells: bool = False

    def __str__(self) -> str:
        return self.source.name

    def start_of(self, text: int) -> _Start:
        """Return where a text begins; the start of the file, if no piece begins with it."""
        index, left = divmod(text, self.step)
        return _START if left else _Start(self.places[index], self.lines[index], text)

    def see(self, file: Any, n_texts: int) -> None:
        """Take what the rows of some texts say of the columns."""
        rows = slice(file.first[n_texts] if n_texts < len(file.first) else len(file.lines))
        columns = [column[rows] for column in file.columns]
        self.n_rows += len(columns[0])
        self.is_numbers = self.is_numbers and are_numbers(columns[0])
        self.tells |= bool((file.lengths[:n_texts] > 1).any())
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


def _looked_through(
    sources: Sequence[Source], reading: Reading, engine: Engine, *, are_tagged: bool
) -> list[_Texts]:
    """Look through files, and return what is seen of each."""
    match = reading.options["match"]
    if match == "text" or reading.options["fields"] is not None:
        raise _UncutError  # records may name annotators under any key
    for source in sources:
        if source.head.startswith((b"\xff\xfe", b"\xfe\xff")) or source.is_packed:
            raise _UncutError
    look = _look_at_tags if are_tagged else _look_at_records
    jobs = [_Texts(number, source, STEP) for number, source in enumerate(sources)]
    files = list(in_order(engine(look, jobs), jobs))
    lead = _lead_of(files)
    is_one = match == "order" if lead.documents else reading.options["unit"] == "document"
    # Where all marks are behind the texts, these are one document.
    is_one |= any(file.n_documents and not file.documents for file in files)
    if not all(file.n for file in files) or (are_tagged and is_one):
        raise _UncutError
    for number, file in enumerate(files):
        if lead.documents and not file.documents:
            if file.n != lead.n:
                raise other_number(file.source, file.n, lead.source, lead.n)
            files[number] = look(_Texts(number, file.source, 1))
    return files


def _lead_of(files: Sequence[_Texts]) -> _Texts:
    """Return the first file that marks documents, or else the first one."""
    return next((file for file in files if file.documents), files[0])


def _look_at_records(seen: _Texts) -> _Texts:
    """Find where records begin, each on a line; refused if they may name annotators."""
    may_name, n_lines = False, 0
    with seen.source.opened() as stream:
        for line in stream:
            text = line.decode("utf-8" if seen.end else "utf-8-sig", "replace").strip()
            if text and not seen.n:
                try:
                    record = json.loads(text) if text[0] == "{" else None
                except (ValueError, RecursionError):
                    record = None
                if record is None:
                    raise _UncutError
                # Records of tokens and tags have no annotators.
                may_name = has_text(record) or _WORDS in record
            if may_name and any(key in text for key in _KEYS_OF_PEOPLE):
                raise _UncutError
            if text:
                if seen.n % seen.step == 0:
                    # A pair could be taken for another kind of file.
                    seen.places.append(seen.end if text[0] == "{" else -1)
                    seen.lines.append(n_lines)
                seen.n += 1
            seen.end += len(line)
            n_lines += 1
    return seen


# --- Tokens and tags ------------------------------------------------------------------


def _look_at_tags(seen: _Texts) -> _Texts:
    """Find where texts and documents begin, and what rows say of columns."""
    data, size, n_lines = b"", BLOCK, 0
    with seen.source.opened() as stream:
        while True:
            more = stream.read(size)
            data += more + stream.readline()
            if not data:
                return seen
            header = seen.header if seen.n else b""
            piece = some_of(
                seen.source,
                header + data,
                before=n_lines - header.count(b"\n"),
                texts_before=seen.n_documents,
            )
            size *= 2
            try:
                file = parsed_file(piece, seen.width)
            except FormatError:
                if more and len(data) < MOST:
                    continue
                raise
            _check_columns(seen, file, data)
            n_texts = len(file.first)
            if more:
                n_texts -= 1  # the last one may go on
                while n_texts and not _is_clear(file, n_texts):
                    n_texts -= 1
            if not n_texts:
                continue
            # A text begins behind the last row of the one before.
            lines = [n_lines, *(file.lines[row - 1] for row in file.first[1:])]
            ends = np.flatnonzero(np.frombuffer(data, dtype=np.uint8) == ord("\n"))
            places = [0, *(1 + ends[np.array(lines[1:], dtype=np.int64) - n_lines - 1]).tolist()]
            _take_texts(seen, file, [*zip(places, lines, strict=True)][:n_texts])
            seen.see(file, n_texts)
            seen.n += n_texts
            done = places[n_texts] if n_texts < len(places) else len(data)
            n_lines = lines[n_texts] if n_texts < len(lines) else n_lines
            seen.end += done
            data, size = data[done:], BLOCK


def _check_columns(seen: _Texts, file: Any, data: bytes) -> None:
    """Keep the columns of a file, and how they are named; refused if later rows have others."""
    if not seen.n:
        seen.names, seen.width = file.header or [], len(file.columns)
        seen.pairs = {number: set() for number in range(seen.width)}
        line = data[: data.find(b"\n") + 1]
        has_commas = comma_of(line.decode("utf-8-sig", "replace"))
        if seen.names:
            named = "# columns = " + "\t".join(seen.names) + "\n"
            seen.header = line if has_commas else named.encode()
        # A later row says whether an empty cell divides the first rows.
        if _dividing(file) and not _is_clear(file, 0):
            raise _UncutError
    # A cell in quotes may go on in the next line.
    has_quotes = b'"' in data and comma_of(seen.header.decode("utf-8-sig", "replace"))
    if has_quotes or (file.header or [], len(file.columns)) != (seen.names, seen.width):
        raise _UncutError


def _dividing(file: Any) -> list[int]:
    """Return the columns that name documents and sentences."""
    columns = map(file.column_named, (DOCUMENT_NAMES, SENTENCE_NAMES))
    return [column for column in columns if column is not None]


def _is_clear(file: Any, text: int) -> bool:
    """Return whether a text would be read in the same way, if it were the first of a file.

    An empty cell that names a document or a sentence says: as above.
    """
    cells = [column[file.first[text]] for column in file.columns]
    are_named = all(cells[column].strip() for column in _dividing(file))
    return are_named and cells[0][:1] != "#" and bool(file.header or not is_header(cells))


def _take_texts(seen: _Texts, file: Any, places: Sequence[tuple[int, int]]) -> None:
    """Add the texts and documents that begin at these places, with so many lines before."""
    n_before, previous = seen.n_documents, -1
    names = [name for name, _ in file.names]
    is_divided = file.column_named(DOCUMENT_NAMES) is not None
    if is_divided and seen.documents and names[:1] == [seen.documents[-1][0]]:
        n_before, previous = n_before - 1, 0  # a column goes on to name the last one
    for text, (place, lines) in enumerate(places):
        number, own = file.document[text], seen.n + text
        if number == previous and own % seen.step:
            continue
        start = _Start(seen.end + place if _is_clear(file, text) else -1, lines, own)
        if own % seen.step == 0:
            seen.places.append(start.place)
            seen.lines.append(lines)
        if number != previous:
            start = start._replace(texts=n_before + previous + 1)
            seen.documents.append((names[number], own, start))
            previous = number
    # Behind the last text of a file there may be marks as well.
    is_last = len(places) == len(file.first)
    seen.n_documents = n_before + (len(names) if is_last else file.document[len(places) - 1] + 1)


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
        told = file.is_numbers, file.tells
        found.append(Layout(file.width, widths, frozenset(tags), schemes, *told))
    return found


# --- Cuts -----------------------------------------------------------------------------

_Cut = list[_Start]
"""Where each file is cut."""


def _cuts(files: Sequence[_Texts], size: int, n_least: int) -> list[_Cut]:
    """Find places at which all files are cut, before the same text or document.

    A piece has at least `n_least` texts: a single record could stand for a whole file.
    """
    lead = _lead_of(files)
    named = [{name: own for name, _, own in reversed(file.documents)} for file in files]
    kept: list[_Cut] = [[_START] * len(files)]
    last, wanted = 0, size // _FEWER
    fewest = lead.n if lead.documents else min(file.n for file in files)
    texts = (("", text, lead.start_of(text)) for text in range(0, lead.n, lead.step))
    for name, text, start in lead.documents or texts:
        is_enough = start.place >= kept[-1][lead.number].place + wanted
        if not is_enough or not last + n_least <= text <= fewest - n_least:
            continue
        here = [
            own.get(name, _START) if own else file.start_of(text)._replace(texts=start.texts)
            for file, own in zip(files, named, strict=True)
        ]
        if all(
            own.place > old.place and own.texts > old.texts
            for own, old in zip(here, kept[-1], strict=True)
        ):
            kept.append(here)
            last, wanted = text, size
    return _unscattered(files, kept[1:])


def _unscattered(files: Sequence[_Texts], cuts: Sequence[_Cut]) -> list[_Cut]:
    """Leave out cuts that have one document on both sides, in the same file or in others."""
    found: dict[str, tuple[int, int]] = {"0": (0, 0)}
    for i, file in enumerate(files):
        bounds = [cut[i].texts for cut in cuts]
        for name, _, start in file.documents:
            piece = bisect(bounds, start.texts)
            low, high = found.get(name, (piece, piece))
            found[name] = min(low, piece), max(high, piece)
    reach = [*range(len(cuts) + 1)]
    for low, high in found.values():
        reach[low] = max(reach[low], high)
    apart = (n == high for n, high in enumerate(accumulate(reach, max)))
    return [*compress(cuts, apart)]
