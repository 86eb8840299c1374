"""MQM: errors that raters marked in translations, in the files of WMT and of Bio-MQM.

In the tables, a row is an error, and the words of the error stand between marks in the text:
``<v>`` and ``</v>`` in the files of WMT, ``<tag>`` and ``</tag>`` in those of Bio-MQM. The JSON
of Bio-MQM has offsets instead. A document is a segment as one system translated it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import partial
from typing import Any

from beyondchance.errors import FormatError, MismatchError, OptionError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.error_spans import Labels, asked_labels, visible
from beyondchance.io.json_rows import head_row
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import (
    identifier,
    listed,
    object_of,
    quoting,
    refused,
    string_of,
    whole,
    words_of,
)
from beyondchance.messages import Use, given, quotes
from beyondchance.tallies import left_out, mended

_LAYERS = ("target", "source")
_NO_ERROR = frozenset({"no-error", "no error"})
_CHECK = "hotw-test"
"""The severity of rows that say whether a rater found an error that was put in as a test."""


@dataclass(frozen=True, slots=True)
class _Kind:
    """A kind of table.

    Attributes
    ----------
    columns : mapping of str to tuple of str
        What we look for, and the names that a column of it can have.
    marks : re.Pattern
        The marks around the words of an error.
    """

    columns: Mapping[str, tuple[str, ...]]
    marks: re.Pattern[str]


_SHARED = {"source": ("source",), "target": ("target",), "severity": ("severity",), "doc": ("doc",)}
_WMT = _Kind(
    columns={
        **_SHARED,
        "system": ("system",),
        "segment": ("seg_id", "docsegid", "globalsegid"),
        "rater": ("rater",),
        "category": ("category",),
    },
    marks=re.compile("</?v>"),
)
_BIO = _Kind(
    columns={
        **_SHARED,
        "system": ("mt",),
        "segment": ("seg_id",),
        "rater": ("annotator_id",),
        "category": ("error_category",),
        "marked source": ("tagged_source",),
        "marked target": ("tagged_target",),
    },
    marks=re.compile("</?tag>"),
)
_BY_WORDS = "marks placed by their words, because the text differs from the marked one"
_KEYS = {"category": "error_category", "severity": "severity"}
_BIO_KEYS = ("source_errors", "target_errors", "Annotator_ID")
_BIO_BEGIN = frozenset({*_BIO_KEYS, "source", "target", "filename", "MT_Engine", "SEG_ID"})


@dataclass(frozen=True, slots=True)
class _Asked:
    """What is to be read.

    Attributes
    ----------
    layer, other : str
        The text whose marks are read, and the text whose marks are not.
    labels : Labels
    reading : Reading
    """

    layer: str
    other: str
    labels: Labels
    reading: Reading

    def count_other(self, number: int) -> None:
        """Count errors that are marked in the other text."""
        self.reading.skipped[left_out(f"errors marked in the {self.other}")] += number


@dataclass(frozen=True, slots=True)
class _Row:
    """A row of a table: the line, the cells by what they are, and the marks of its kind."""

    line: int
    cells: Mapping[str, str]
    marks: re.Pattern[str]

    def __getitem__(self, name: str) -> str:
        return self.cells[name].strip()

    def plain(self, layer: str) -> str:
        """The text without marks; white space at its end differs between rows."""
        return self.marks.sub("", self.cells[layer]).rstrip()

    def marked(self, layer: str) -> str:
        """The text with marks, if it has any."""
        text = self.cells.get(f"marked {layer}", self.cells[layer])
        return text if self.marks.search(text) else ""


@dataclass(slots=True)
class _Work:
    """The rows of one rater on one segment, as far as they have been read."""

    document: str
    rater: str
    text: str
    line: int
    fields: dict[str, str]
    spans: list[DraftSpan] = field(default_factory=list)


@dataclass(slots=True)
class _Names:
    """Names of documents, by the names of segments, the raters and the texts.

    A rater may have several texts in one segment, because a sentence was split or a number was
    given twice: these are documents of their own. Texts that differ between raters are not.
    """

    by_text: dict[tuple[str, str], str] = field(default_factory=dict)
    by_rater: dict[tuple[str, str, str], str] = field(default_factory=dict)
    taken: set[tuple[str, str]] = field(default_factory=set)
    numbers: Counter[str] = field(default_factory=Counter)

    def of(self, segment: str, rater: str, text: str, where: str, reading: Reading) -> str:
        """The document of a text."""
        key = (segment, rater, text)
        if key not in self.by_rater:
            name = self.by_text.get((segment, text), segment)
            if (name, rater) in self.taken:
                self.numbers[segment] += 1
                name = f"{segment} ({self.numbers[segment] + 1})"
                what = "segments with several texts kept apart"
                reading.mend("mismatch", what, partial(_several, segment, rater, where))
            self.by_rater[key] = self.by_text[segment, text] = name
            self.taken.add((name, rater))
        return self.by_rater[key]


def _several(segment: str, rater: str, where: str) -> MismatchError:
    found = quoting("{} has another text of segment {} already", rater, segment)
    remedy = (Use("mismatch", "align"), " takes it for a document of its own")
    return MismatchError(*found, where=where, expected="one", remedy=remedy)


# --- Detection ----------------------------------------------------------------


def _looks_right(source: Source) -> bool:
    """Whether a file has the columns of a table of MQM, or the keys of Bio-MQM."""
    if _is_json(source):
        row = head_row(source, _seems_a_record)
        return row is not None and all(key in row for key in _BIO_KEYS)
    line = source.head_text.partition("\n")[0]
    return _kind_of(_names_in(line)) is not None


is_format = by_files(all, _looks_right)


def _seems_a_record(row: Any) -> bool:
    """Whether the beginning of a record has a key of Bio-MQM."""
    return isinstance(row, dict) and not row.keys().isdisjoint(_BIO_BEGIN)


def _is_json(source: Source) -> bool:
    return source.head_text.lstrip()[:1] in {"[", "{"}


def _names_in(header: str) -> list[str]:
    """Names of columns; files differ in capitals, and in blanks for underscores."""
    return [name.strip().lower().replace(" ", "_") for name in header.split("\t")]


def _kind_of(names: Sequence[str]) -> _Kind | None:
    """The kind of table that has these columns."""
    return next(
        (
            kind
            for kind in (_WMT, _BIO)
            if all(set(others) & set(names) for others in kind.columns.values())
        ),
        None,
    )


# --- Reading ------------------------------------------------------------------


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the work of all raters: one draft for each rater and segment."""
    layer = reading.options["layer"] or _LAYERS[0]
    if layer not in _LAYERS:
        raise OptionError(*given("layer", layer), expected="target or source")
    other = next(name for name in _LAYERS if name != layer)
    asked = _Asked(layer, other, asked_labels(reading, "category"), reading)
    for source in upload.sources:
        from_file = _from_json if _is_json(source) else _from_table
        yield from from_file(source, upload.annotator, asked)


# --- Tables -------------------------------------------------------------------


def _rows(source: Source) -> Iterator[_Row]:
    """The rows of a table. Quotation marks are part of the texts, and often unbalanced."""
    header, *lines = source.lines() or [""]
    names = _names_in(header)
    kind = _kind_of(names)
    if kind is None:
        raise FormatError(
            *("the columns are ", *quotes(names)),
            where=f"{source.name}:1",
            expected=f"at least {', '.join(_WMT.columns)}, separated by tabs",
        )
    # A remark may stand in the place of a last column.
    n_cells = len([name for name in names if not name.startswith("#")])
    place = {
        what: next(names.index(name) for name in others if name in names)
        for what, others in kind.columns.items()
    }
    for line, text in enumerate(lines, start=2):
        if not text.strip():
            continue
        cells = text.split("\t")
        if not n_cells <= len(cells) <= len(names):
            raise FormatError(
                f"the row has {len(cells)} cells",
                where=f"{source.name}:{line}",
                expected=f"{n_cells}, as the header has",
            )
        yield _Row(line, {what: cells[i] for what, i in place.items()}, kind.marks)


def _from_table(source: Source, annotator: str, asked: _Asked) -> Iterator[Draft]:
    """Read a table: the rows of a rater on a segment may stand anywhere in it."""
    reading, names = asked.reading, _Names()
    works: dict[tuple[str, str], _Work] = {}
    for row in _rows(source):
        if row["severity"].lower() == _CHECK:
            reading.skipped[left_out("attention checks")] += 1
            continue
        where = f"{source.name}:{row.line}"
        if not row["segment"]:
            raise FormatError("no segment", where=where, expected="its number")
        rater, text = row["rater"] or annotator, row.plain(asked.layer)
        segment = "/".join(filter(None, (row["system"], row["doc"], row["segment"])))
        document = names.of(segment, rater, text, where, reading)
        if (document, rater) not in works:
            fields = {"system": row["system"], "article": row["doc"]}
            fields = {name: value for name, value in fields.items() if value}
            works[document, rater] = _Work(document, rater, text, row.line, fields)
        work = works[document, rater]
        if not _NO_ERROR & {row["category"].lower(), row["severity"].lower()}:
            work.spans += _spans_of(row, asked, where)
    for work in works.values():
        yield Draft(
            where=f"{source.name}:{work.line}",
            document=work.document,
            annotator=work.rater,
            text=work.text,
            spans=work.spans,
            fields=work.fields,
        )


def _spans_of(row: _Row, asked: _Asked, where: str) -> Iterator[DraftSpan]:
    """The spans of one error: usually one."""
    reading, marked = asked.reading, row.marked(asked.layer)
    if not marked:
        if row.marked(asked.other):
            asked.count_other(1)
        elif row["category"] or row["severity"]:
            reading.skipped[left_out("errors without a mark")] += 1
        return
    label = asked.labels.of(row.__getitem__)
    if not label:
        return
    places = _pairs(marked, row.marks, where, reading)
    text = row.plain(asked.layer)
    plain = row.marks.sub("", marked)
    if plain.rstrip() != text:
        reading.mend("mismatch", _BY_WORDS, partial(_other_text, where), len(places))
    for place in _in_text(text, plain, places, where):
        if kept := visible(text, place, reading):
            yield DraftSpan(*kept, label, where=where)


def _other_text(where: str) -> MismatchError:
    found = "the words of an error differ from the text"
    remedy = (Use("mismatch", "align"), " finds them if only backslashes differ")
    return MismatchError(found, where=where, expected="the same words", remedy=remedy)


def _in_text(text: str, marked: str, places: list[Interval], where: str) -> Iterator[Interval]:
    """Where marked words are in a text that may differ a little from the marked one."""
    if marked.rstrip() == text:
        yield from ((min(start, len(text)), min(end, len(text))) for start, end in places)
        return
    pairs = enumerate(zip(marked, text, strict=False))
    n_same = next((i for i, (one, other) in pairs if one != other), min(len(marked), len(text)))
    for start, end in places:
        found = placed(text, start, marked[start:end]) if start <= n_same else None
        if found is None:
            raise FormatError(
                *quoting("{} is marked, but is not there in the text", marked[start:end]),
                where=where,
                expected="the same text with and without marks",
            )
        yield found


def _pairs(marked: str, marks: re.Pattern[str], where: str, reading: Reading) -> list[Interval]:
    """Where the marked words of one error are; nowhere if its marks do not pair."""
    places = _between_marks(marked, marks)
    if places is None and reading.options["strict"]:
        found = quoting("a mark in {} does not begin or does not end", marked)
        raise FormatError(*found, where=where, expected="marks in pairs")
    if places is None:
        reading.skipped[left_out("errors whose mark does not begin or does not end")] += 1
    elif len(places) > 1:
        reading.skipped[mended("errors with several marks split")] += 1
    return places or []


def _between_marks(marked: str, marks: re.Pattern[str]) -> list[Interval] | None:
    """Where the marked words are in the text without marks; None if the marks do not pair."""
    places: list[Interval] = []
    begin, removed = None, 0
    for mark in marks.finditer(marked):
        place = mark.start() - removed
        removed += len(mark[0])
        is_end = mark[0].startswith("</")
        if is_end == (begin is None):
            return None
        if begin is not None:
            places.append((begin, place))
        begin = None if is_end else place
    return places if begin is None else None


def placed(text: str, start: int, words: str) -> Interval | None:
    r"""Where marked words are in a text, from their beginning; None if they are not there.

    Bio-MQM has more backslashes before the apostrophes of marked words than of the text.

    Examples
    --------
    >>> placed("the child's toy", 4, "child's"), placed("the child's toy", 4, "child\\'s")
    ((4, 11), (4, 11))
    >>> placed("the child's toy", 4, "toy")
    """
    end = start
    for character in words.rstrip():
        if character == "\\":
            continue
        while text.startswith("\\", end):
            end += 1
        if not text.startswith(character, end):
            return None
        end += 1
    return start, end


# --- JSON ---------------------------------------------------------------------


def _from_json(source: Source, annotator: str, asked: _Asked) -> Iterator[Draft]:
    """Read the JSON of Bio-MQM: a record for each rater and segment."""
    records = source.json()
    if not isinstance(records, list):
        raise refused(records, "the file", source.name, "a list of segments")
    names: dict[tuple[str | int, ...], str] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    for number, record in enumerate(records, start=1):
        where = f"{source.name}: item {number}"
        object_of(record, where)
        rater = identifier(record, "Annotator_ID", where) or annotator
        texts = [string_of(record, name, where, "a text") for name in _LAYERS]
        parts = [identifier(record, key, where) for key in ("filename", "MT_Engine", "SEG_ID")]
        # Segments are numbered within documents, which are not named: a rater may have several
        # segments of one number and text.
        key = (*(part or "" for part in parts), *texts)
        seen[rater, *key] += 1
        name = "/".join(filter(None, (*parts[:2], str(number))))
        text = texts[_LAYERS.index(asked.layer)].rstrip()
        if errors := listed(record, f"{asked.other}_errors", where):
            asked.count_other(len(errors))
        yield Draft(
            where=where,
            document=names.setdefault((*key, seen[rater, *key]), name),
            annotator=rater,
            text=text,
            spans=list(_json_spans(record, text, asked, where)),
            fields={"system": parts[1]} if parts[1] else {},
        )


def _json_spans(
    record: Mapping[str, Any], text: str, asked: _Asked, where: str
) -> Iterator[DraftSpan]:
    for number, error in enumerate(listed(record, f"{asked.layer}_errors", where), start=1):
        place = f"{where}: error #{number}"
        object_of(error, where, f"error #{number}")
        start = whole(error.get("startIndex"), "'startIndex'", place)
        # The last index belongs to the error.
        end = whole(error.get("endIndex"), "'endIndex'", place) + 1
        words = string_of(error, "term", place, "the words of the error")
        names = {p: words_of(error, place, key, "a name") or "" for p, key in _KEYS.items()}
        label = asked.labels.of({part: name.strip() for part, name in names.items()}.__getitem__)
        if not label:
            continue
        found = (start, end)
        if text[start:end] != words and start >= 0:
            found = placed(text, start, words) or found
            asked.reading.mend("mismatch", _BY_WORDS, partial(_other_text, place))
        if not 0 <= found[0] <= found[1] <= len(text):
            yield DraftSpan(start, end, label, words, where=place)
        elif kept := visible(text, found, asked.reading):
            surface = None if found != (start, end) else words
            yield DraftSpan(*kept, label, surface, where=place)
