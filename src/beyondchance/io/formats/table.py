"""One row for each span: CSV, TSV, JSON Lines, Parquet or a data frame.

The columns ``document``, ``annotator``, ``start``, ``end`` and ``label`` may have a few
other names (`columns.NAMES`). The length of each document comes from a column ``length`` or
``text``, from a second table with one row for each document, or from the option
``length``. All further columns are fields of the documents; one that varies within a
document is not, and is left out. Without texts, offsets are taken to count what
``positions`` says; with texts they count characters. A file without a header is read only
if ``columns`` names its columns: what they are cannot be known.

A row without start, end and label means that the annotator found nothing in the document.
If there is such a row, only annotators with a row for a document are taken to have
annotated it; if there is none, all annotators are taken to have annotated every document,
unless ``empty="missing"`` is passed.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import accumulate, chain, compress, pairwise, product
from operator import itemgetter
from typing import TypeAlias

import numpy as np

from beyondchance.annotations.building import POSITIONS
from beyondchance.annotations.corpus import MOST_POSITIONS, Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.checks import is_bytes_as_text
from beyondchance.errors import (
    DataError,
    FormatError,
    MismatchError,
    NothingSharedError,
    OptionError,
    SpanError,
)
from beyondchance.io.assembling import assembled, twice_by, with_dates
from beyondchance.io.columns import (
    DATE,
    NAMES,
    SPAN,
    Table,
    check_filled,
    codes_of,
    frame_table,
    is_single,
    is_table,
    known_columns,
    named_twice,
    names_of,
    stripped_codes,
    whole_numbers,
)
from beyondchance.io.conventions import count_duplicate, emptiness, fitted, remedy
from beyondchance.io.drafts import Draft, DraftSpan, check_everybody
from beyondchance.io.identifiers import PLAIN_IDS, PLAIN_LABELS, plain_ids, written_twice
from beyondchance.io.offsets import Interval, length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import EITHER, Upload
from beyondchance.io.shapes import UNPLACED
from beyondchance.io.sources import digested
from beyondchance.io.table_files import looks_like_spans, read_table
from beyondchance.io.values import refusal
from beyondchance.io.workbooks import sheet_of
from beyondchance.messages import Quote, Text, Use, quotes
from beyondchance.tallies import Tally, left_out, mended, not_read
from beyondchance.types import Bools, Ints

_MOST_LOOKED_AT = 1000
"""Rows that show whether texts are those of spans or of documents."""
_SKIP = Use("bad_rows", "skip")
_SIZES = re.compile(r"[0-9]{1,9}(?: [0-9]{1,9})*")
"""Of the sentences of a document."""
_Coded: TypeAlias = tuple[list[str], Ints]
"""Distinct names, and the number of each row's; -1 for none."""


@dataclass(frozen=True)
class _Rows:
    """The rows of all tables, one below the other, with names by number.

    Attributes
    ----------
    uploads : list of Upload
        That of each table of spans.
    tables : list of Table
        Those of spans; the table of documents comes last, if there is one.
    documents, annotators, labels : list of str
    document : array of int, shape (rows of all tables,)
        -1 for one that only the table of documents has, if nobody is taken to have seen it.
    annotator, label, start, end, is_span : array, shape (rows of tables of spans,)
    gaps : array of bool, shape (3, rows of tables of spans)
        Which of them have no start, end and label.
    words : list of str or None
        The words stored with each of them; empty if no table has any.
    """

    uploads: list[Upload]
    tables: list[Table]
    documents: list[str]
    annotators: list[str]
    labels: list[str]
    document: Ints
    annotator: Ints
    label: Ints
    start: Ints
    end: Ints
    is_span: Bools
    gaps: Bools
    words: list[str | None]

    @cached_property
    def begins(self) -> list[int]:
        """Return where the rows of each table begin, and where the last ones end."""
        return list(accumulate(map(len, self.tables), initial=0))

    @property
    def marked(self) -> Ints:
        """Return the documents of the rows of tables of spans."""
        return self.document[: len(self.start)]

    @property
    def name(self) -> str:
        """Return what messages about all rows name: the first file."""
        return self.tables[0].source.name

    def coded(self, column: str) -> _Coded:
        """Return the values of a column of all tables, and the number of each row's."""
        return _joined([codes_of(table, column) for table in self.tables])

    def where(self, row: int) -> str:
        """Name a row by its file and line."""
        number = bisect_right(self.begins, row) - 1
        return self.tables[number].where(row - self.begins[number])

    def span(self, row: int) -> DraftSpan:
        """Return the span of a row."""
        start, end, label = int(self.start[row]), int(self.end[row]), int(self.label[row])
        words = self.words[row] if self.words else None
        return DraftSpan(start, end, self.labels[label], words, where=self.where(row))


def is_format(upload: Upload) -> bool:
    """Return whether there is a header, or JSON keys, with the columns of a table of spans.

    Data frames are tables too, and rows of spans without a header, which are refused if their
    columns are not named.
    """
    if upload.data is not None:
        return is_table(upload.data)
    return looks_like_spans(upload.sources[0])


def read(uploads: list[Upload], reading: Reading) -> Corpus:
    """Read tables to a corpus; rows with texts become drafts, as in all formats with texts."""
    tables = [
        (upload, table) for upload in uploads for table in _tables(upload, len(uploads), reading)
    ]
    # The digests are needed in the end, and to make them meanwhile costs no time.
    with digested(source for upload in uploads for source in upload.sources):
        rows = _combined(tables, _read_documents(reading), reading)
        if any("text" in table.columns for table in rows.tables):
            drafts = _drafts(rows, reading)
            return assembled(drafts, reading, unit=EITHER, positions=_counted(rows) or "tokens")
        return _numbered(rows, reading)


def _tables(upload: Upload, n_uploads: int, reading: Reading) -> Iterator[Table]:
    """Yield the tables of one upload: a data frame, or files."""
    if upload.data is None:
        for source in upload.sources:
            yield read_table(source, reading)
        return
    # One needs no name; of several, the name says which.
    called = "the data frame" if n_uploads == 1 else f"the data frame {upload.name!r}"
    table = frame_table(upload.data, called)
    if reading.options["columns"] is not None:
        raise named_twice(table)
    yield known_columns(table)


def _read_documents(reading: Reading) -> list[Table]:
    """Read the second table, one row for each document, if there is one."""
    given = reading.options["documents"]
    if given is None:
        return []
    if names_of(given) is not None:
        table = known_columns(frame_table(given, "the data frame of documents"), ("document",))
    else:
        source = reading.documents_file("the path of a table of documents")
        table = read_table(sheet_of(source), reading, needed=("document",))
    names, codes = codes_of(table, "document")
    if len(names) < len(table) or np.any(codes < 0):
        is_other = np.ones(len(codes), dtype=bool)
        is_other[np.unique(codes, return_index=True)[1]] = False
        row = int(np.argmax(is_other | (codes < 0)))
        if codes[row] < 0:
            raise FormatError("no document", where=table.where(row), expected="its identifier")
        name = names[int(codes[row])]
        raise refusal(table.where(row), "document {} has two rows", name, expected="one")
    return [table]


# --- Rows of all tables -------------------------------------------------------


def _combined(given: list[tuple[Upload, Table]], listing: list[Table], reading: Reading) -> _Rows:
    """Put the rows of all tables below one another."""
    marked = [table for _, table in given]
    tables = [*marked, *listing]
    for table in marked:
        if "document" not in table.columns:
            where = "" if table.is_frame else table.source.name
            reading.note("no column of documents: all rows are one document", where=where)
        if table.is_frame:  # in files, white space belongs to the separators
            n_stripped = stripped_codes(table, "label")[2]
            reading.skipped[mended("labels trimmed of white space")] += n_stripped
    people = [_annotators(upload, table, reading) for upload, table in given]
    if reading.whole is not None:
        people.insert(0, ([*reading.whole.annotators], np.zeros(0, dtype=np.int64)))
    coded = {
        "document": _joined([_names(table, "document", "1") for table in tables]),
        "annotator": _joined(people),
        "label": _joined([codes_of(table, "label") for table in marked]),
    }
    (start, no_start), (end, no_end) = (
        map(np.concatenate, zip(*(whole_numbers(table, side) for table in marked), strict=True))
        for side in ("start", "end")
    )
    if reading.ends == "inclusive":
        end = end + ~no_end
    gaps = np.stack([no_start, no_end, coded["label"][1] < 0])
    is_span: Bools = ~np.all(gaps, axis=0)
    words = _stored_words(tables, start, end)
    if reading.knows_plain_ids:
        annotators, annotator = coded["annotator"]
        owner = np.repeat(np.arange(len(tables)), [*map(len, tables)]) * (1 + len(annotators))
        owner[: len(annotator)] += annotator
        for kind, counter in (("document", PLAIN_IDS), ("label", PLAIN_LABELS)):
            coded[kind] = _with_plain_ids(kind, coded[kind], owner, counter, reading)
    documents, document = coded["document"]
    if listing and (reading.options["empty"] == "missing" or not is_span.all()):
        # Nobody is taken to have seen the documents without a row.
        n_marked = int(document[: len(start)].max(initial=-1)) + 1
        documents, document = documents[:n_marked], np.where(document < n_marked, document, -1)
    rows = _Rows(
        uploads=[upload for upload, _ in given],
        tables=tables,
        documents=documents,
        annotators=coded["annotator"][0],
        labels=coded["label"][0],
        document=document,
        annotator=coded["annotator"][1],
        label=coded["label"][1],
        start=start,
        end=end,
        is_span=is_span,
        gaps=gaps,
        words=words,
    )
    _check_cells(rows)
    return rows


def _stored_words(tables: list[Table], start: Ints, end: Ints) -> list[str | None]:
    """Take the texts of tables that are the words of spans, and not of documents, out of them."""
    words: list[str | None] = []
    first = 0
    for number, table in enumerate(tables):
        own = table.columns.get("text", ())
        head = slice(first, first + min(len(own), _MOST_LOOKED_AT))
        given = zip(own, start[head].tolist(), end[head].tolist(), strict=False)
        known = [(len(text), s, e) for text, s, e in given if s < e and isinstance(text, str)]
        n_fitting = sum(0 <= size - (e - s) <= 1 for size, s, e in known)
        if 2 * n_fitting > len(known) and any(e > size for size, _, e in known):
            words += [None] * (first - len(words)) + [*own]
            others = {name: cells for name, cells in table.columns.items() if name != "text"}
            tables[number] = replace(table, columns=others)
        first += len(table)
    return words + [None] * (len(start) - len(words) if words else 0)


def _names(table: Table, kind: str, default: str) -> _Coded:
    """Return the names in a column, or the one name of all rows if there is no such column."""
    if kind in table.columns:
        return codes_of(table, kind)
    return [default], np.zeros(len(table), dtype=np.int64)


def _annotators(upload: Upload, table: Table, reading: Reading) -> _Coded:
    """Return the annotators of a table, who may be one that was named with the file."""
    names, codes = _names(table, "annotator", upload.annotator)
    reading.met(upload.name, names)
    upload.check_named(names)
    return [upload.annotator] if upload.is_named else names, codes


def _check_cells(rows: _Rows) -> None:
    """Refuse rows without a name, and bytes written as if they were text."""
    for kind, names, codes in (
        ("document", rows.documents, rows.document),
        ("annotator", rows.annotators, rows.annotator),
        ("label", rows.labels, rows.label),
    ):
        own = codes[: len(rows.start)]
        if kind != "label" and own.min(initial=0) < 0:
            where = rows.where(int(np.argmin(own)))
            raise FormatError(f"{kind} missing", where=where, expected="a name")
        together = "\n".join(names)
        for index, name in enumerate(names if "b'" in together or 'b"' in together else ()):
            if is_bytes_as_text(name):
                raise refusal(
                    rows.where(int(np.argmax(codes == index))),
                    kind + " is {}",
                    name,
                    expected="a name, not bytes written as text",
                    remedy="decode the column before it is saved",
                )


def _joined(columns: Sequence[_Coded]) -> _Coded:
    """Put columns below one another; names are numbered as they first occur."""
    if len(columns) == 1:
        return columns[0]
    known: dict[str, int] = {}
    codes = [
        np.array([*(known.setdefault(name, len(known)) for name in names), -1])[own]
        for names, own in columns
    ]
    return list(known), np.concatenate(codes)


def _with_plain_ids(
    kind: str, column: _Coded, owner: Ints, counter: Tally, reading: Reading
) -> _Coded:
    """Read documents or labels such as 1.0 as 1, unless the rows of one owner have both."""
    names, codes = column
    plain = plain_ids(names)
    if not plain:
        return column
    new = _joined([([plain.get(name, name) for name in names], codes), ([], codes[:0])])
    own = owner[: len(codes)] * (1 + len(names))
    if len(np.unique(own + new[1])) < len(np.unique(own + codes)):
        return column
    reading.mend("match", counter, partial(written_twice, kind, plain), len(plain))
    return new


# --- Numbers to a corpus ------------------------------------------------------


def _numbered(rows: _Rows, reading: Reading) -> Corpus:
    """Build a corpus without texts, column by column."""
    texts = "a column text, or a table of documents with one: ", Use("documents")
    reading.check_unused("offsets", "match", needs=texts)
    if not rows.documents or not rows.annotators:
        raise FormatError("holds no rows", where=rows.name, expected="one for each span")
    lengths = _lengths(rows, reading)
    if rows.words and all(
        len(words) == end - start + 1
        for words, start, end in zip(rows.words, rows.start, rows.end, strict=True)
        if words
    ):
        raise SpanError(
            "all words stored with spans are longer by a character than end - start",
            where=rows.name,
            remedy=("if ends are inclusive, pass ", Use("offsets", "inclusive")),
        )
    is_good = _checked_spans(rows, lengths, reading)
    keep = slice(None) if is_good.all() else np.flatnonzero(is_good)
    labels, label = sorted_names(tuple(rows.labels), rows.label[keep])
    annotated = _annotated(rows, reading)
    counted, asked = _counted(rows), reading.options["positions"]
    if counted and asked and asked != counted:
        problem = f"offsets count {counted}, as the column offsets_in says"
        raise OptionError(problem, expected=Use("positions", counted))
    if counted == "tokens":
        reading.signed["tokens"] = "file"
    corpus = Corpus(
        documents=tuple(rows.documents),
        fields=_fields(rows, reading),
        text_document=np.arange(len(rows.documents)),
        text_length=lengths,
        annotators=tuple(rows.annotators),
        labels=labels,
        annotation_document=annotated[0],
        annotation_annotator=annotated[1],
        span_text=rows.marked[keep],
        span_annotator=rows.annotator[keep],
        span_label=label,
        span_start=rows.start[keep],
        span_end=rows.end[keep],
        unit=reading.options["unit"] or "document",
        positions=asked or counted or "characters",
    )
    dated = with_dates(corpus, _dates(rows), reading)
    return _by_sentences(dated, rows, keep, reading)


def _by_sentences(corpus: Corpus, rows: _Rows, keep: Ints | slice, reading: Reading) -> Corpus:
    """Cut documents into sentences, if a column has the sizes of these for all documents."""
    unit, found = reading.options["unit"], _sentences(rows)
    if found is None and unit == "sentence":
        raise OptionError("a table has no sentences", remedy=("pass ", Use("unit", "document")))
    if found is None or unit == "document":
        return corpus
    size, length = np.concatenate(found), corpus.text_length
    odd = next((i for i, own in enumerate(found) if own.sum() != length[i]), None)
    if odd is not None:
        problem = f"the sentences of document {{}} add up to {found[odd].sum()}, not {length[odd]}"
        raise refusal(rows.name, problem, corpus.documents[odd], expected="its length")
    # All documents end to end.
    begin, place = size.cumsum() - size, (length.cumsum() - length)[corpus.span_text]
    text = begin.searchsorted(place + corpus.span_start, side="right") - 1
    start, end = (place + side - begin[text] for side in (corpus.span_start, corpus.span_end))
    across = np.flatnonzero(end > size[text])
    if len(across):
        row = int(np.arange(len(rows.start))[keep][across[0]])
        problem = "does not lie within one sentence"
        mend = ("correct it, or pass ", Use("unit", "document"))
        raise SpanError(*rows.span(row).named, problem, where=rows.where(row), remedy=mend)
    return replace(
        corpus,
        text_document=np.arange(len(found)).repeat([*map(len, found)]),
        text_length=size,
        span_text=text,
        span_start=start,
        span_end=end,
        unit="sentence",
    )


def _counted(rows: _Rows) -> str:
    """Return what a column says that offsets count; empty if there is no such column."""
    found = set(rows.coded("offsets_in")[0])
    if len(found) > 1 or not found <= {*POSITIONS}:
        raise refusal(
            *(rows.name, "column offsets_in has {}", quotes(sorted(found))),
            expected=f"one of {', '.join(POSITIONS)}",
        )
    return found.pop() if found else ""


def _sentences(rows: _Rows) -> list[Ints] | None:
    """Return the sizes of the sentences of each document; None if a column lacks them for some."""
    if not any("sentence_lengths" in table.columns for table in rows.tables):
        return None
    names, codes = rows.coded("sentence_lengths")
    own, row = _of_documents(rows, codes, codes >= 0)
    odd = [name for name in names if not _SIZES.fullmatch(name)][:1]
    if odd or row is not None:
        found = quotes(odd or [names[codes[row]]])
        expected = "the sizes of the sentences of a document, the same in its rows, such as 12 9 8"
        raise refusal(rows.name, "sentence_lengths are {}", found, expected=expected)
    if not len(own) or own.max() < 0:
        return None
    if own.min() < 0:
        lacking = rows.documents[int(np.argmin(own))]
        problem = "document {} has no sentence_lengths, and others have"
        raise refusal(rows.name, problem, lacking, expected="them for all documents, or for none")
    sizes = [np.array(name.split(), dtype=np.int64) for name in names]
    return [sizes[code] for code in own.tolist()]


def _filled(rows: _Rows, room: Ints, reading: Reading, mend: Text = ()) -> Bools:
    """Return which rows become spans; refuse others, or leave them out if that is asked for.

    Parameters
    ----------
    rows : _Rows
    room : array of int, shape (rows,)
        The length of the document of each row.
    reading : Reading
    mend : Text, optional
        What may mend rows that lie outside.
    """
    start, end = rows.start, rows.end
    torn = rows.is_span & rows.gaps.any(axis=0)
    good = rows.is_span & ~torn
    outside = good & ((start < 0) | (end < start) | (end > room))
    empty = good & (start == end) & ~outside
    good &= ~(outside | empty)
    bad = {
        "rows without a start, an end or a label": torn,
        "spans outside of their document": outside,
        "empty spans": empty,
    }
    found = {
        what: (int(own.sum()), _problem(rows, int(np.argmax(own)), room, mend))
        for what, own in bad.items()
        if own.any()
    }
    is_refused = reading.refuses("bad_rows")
    is_alone = is_refused and [*found] == ["empty spans"]
    if empty.any() and (is_alone or not reading.refuses("zero_length")):
        number, problem = found.pop("empty spans")
        reading.mend("zero_length", left_out("empty spans"), lambda: problem, number)
    for what, (number, _) in found.items():
        # A refusal says itself how many there are of each kind.
        n = 0 if is_refused else number
        reading.mend("bad_rows", left_out(what), partial(_no_spans, [*found.values()]), n)
    return good


def _problem(rows: _Rows, row: int, room: Ints, mend: Text) -> DataError:
    """Build the refusal of a row that is no span."""
    where = rows.where(row)
    if (gaps := rows.gaps[:, row]).any():
        expected = "start, end and label, or none of them where the annotator found nothing"
        missing = " and ".join(compress(SPAN, gaps))
        return FormatError(f"{missing} missing", where=where, expected=expected)
    span = rows.span(row)
    if span.start == span.end <= room[row]:
        return emptiness(span)
    lost = f" does not lie in its document, which has the length {room[row]}"
    expected = "0 <= start < end <= length"
    return SpanError(*span.named, lost, where=where, expected=expected, remedy=mend)


def _no_spans(found: Sequence[tuple[int, DataError]]) -> DataError:
    """Build the refusal of rows that are no spans: the first of each kind, and how many."""
    listed = [
        piece
        for number, problem in found
        for piece in ("; ", *problem.told, f" ({number:,} such rows)" if number > 1 else "")
    ]
    first = found[0][1]
    return type(first)(
        *listed[1 + len(first.told) - len(first.found) :],
        where=first.where,
        expected=first.expected,
        remedy=(*first.remedy, "; " if first.remedy else "", _SKIP, " leaves such rows out"),
    )


def _checked_spans(rows: _Rows, lengths: Ints, reading: Reading) -> Bools:
    """Return which rows become spans; those that say again what others said are left out."""
    is_good = _filled(rows, lengths[rows.marked], reading)
    twice = _repeated(rows, is_good)
    if len(twice):
        row = int(twice[0])
        who, document = rows.annotators[rows.annotator[row]], rows.documents[rows.document[row]]
        found = (*rows.span(row).named, *twice_by(who, document))
        count_duplicate(reading, rows.where(row), *found, number=len(twice))
        is_good[twice] = False
    return is_good


def _repeated(rows: _Rows, is_good: Bools) -> Ints:
    """Return the rows that say again what an earlier row said, in ascending order."""
    columns = (rows.marked, rows.annotator, rows.label, rows.start, rows.end)
    mixed = rows.marked * len(rows.annotators) + rows.annotator
    # Most tables are sorted, and then a look at neighbours suffices.
    is_on = rows.start[1:] > rows.start[:-1]
    for sets in (rows.marked, mixed):
        before, after = sets[:-1], sets[1:]
        if np.all((after > before) | ((after == before) & is_on)):
            return np.zeros(0, dtype=np.int64)
    # Only rows that are mixed to the same number need to be compared.
    mixed = (mixed * len(rows.labels) + rows.label) * 0x1E3779B97F4A7C15
    mixed = ((mixed ^ rows.start << 32) + rows.end) * 0x5851F42D4C957F2D
    ordered = np.sort(mixed[is_good])
    spans = np.flatnonzero(is_good & np.isin(mixed, ordered[1:][np.diff(ordered) == 0]))
    spans = spans[np.lexsort([column[spans] for column in columns])]
    same = [np.diff(column[spans]) == 0 for column in columns]
    return np.sort(spans[1:][np.all(same, axis=0)])


def _is_complete(rows: _Rows, reading: Reading) -> bool:
    """Decide whether all annotators are taken to have annotated every document."""
    has_gaps = not rows.is_span.all()
    reading.found_gaps.append(has_gaps)
    if reading.whole is not None:
        has_gaps |= reading.whole.has_gaps
    if reading.options["empty"] == "missing" or has_gaps:
        return False
    check_everybody(len(rows.documents), len(rows.annotators), rows.begins[-1], rows.name)
    if len(rows.annotators) > 1:
        if reading.whole is None and len(rows.tables) == len(rows.uploads) > 1:
            _check_common(rows)
        reading.note(
            "no row without a span: all annotators are taken to have annotated every document (",
            *(Use("empty", "missing"), " takes only those who have a row)"),
        )
    return True


def _check_common(rows: _Rows) -> None:
    """Refuse a file of other annotators that has no document in common with any other file."""
    has: dict[Upload, tuple[Bools, Bools]] = {}
    for upload, (first, last) in zip(rows.uploads, pairwise(rows.begins), strict=True):
        none = np.zeros(len(rows.annotators), dtype=bool), np.zeros(len(rows.documents), dtype=bool)
        people, documents = has.setdefault(upload, none)
        people[rows.annotator[first:last]] = True
        documents[rows.document[first:last]] = True
    n_files = np.sum([documents for _, documents in has.values()], axis=0)
    if any(np.all(n_files[documents] < 2) for _, documents in has.values()):
        check_common(
            [
                (upload.name, {*np.flatnonzero(who).tolist()}, [*compress(rows.documents, own)])
                for upload, (who, own) in has.items()
            ]
        )


def check_common(files: Sequence[tuple[str, AbstractSet[int], Sequence[str]]]) -> None:
    """Refuse a file of other annotators that has no document in common with any other file.

    Its documents may have other names, or may not have been seen by the others. Of each file, the
    name, the annotators and the documents are given.
    """
    everybody = set().union(*(people for _, people, _ in files))
    n_files = Counter(chain.from_iterable(documents for *_, documents in files))
    for name, people, documents in files:
        if people != everybody and all(n_files[document] < 2 for document in documents):
            other, _, others = files[files[0][0] == name]
            raise NothingSharedError(
                *("shares no document with another file: it has ", *quotes(documents, most=3)),
                *(f", and {other} has ", *quotes(others, most=3)),
                where=name,
                expected="documents in common",
                remedy=(
                    "check that all use the same document names, or pass ",
                    *(Use("empty", "missing"), " if the annotators saw different documents"),
                ),
            )


def _annotated(rows: _Rows, reading: Reading) -> Ints:
    """Return who annotated which document, shape (2, annotations)."""
    n = len(rows.annotators)
    if _is_complete(rows, reading):
        return np.indices((len(rows.documents), n)).reshape(2, -1)
    pairs = rows.marked * n + rows.annotator
    # To count is faster than to sort, unless there are many more pairs than rows.
    is_dense = len(rows.documents) * n <= 8 * len(pairs)
    pairs = np.flatnonzero(np.bincount(pairs)) if is_dense else np.unique(pairs)
    return np.stack([pairs // n, pairs % n])


def _lengths(rows: _Rows, reading: Reading) -> Ints:
    """Return the length of each document; those that are given must not differ."""
    parts = (whole_numbers(table, "length") for table in rows.tables)
    given, missing = map(np.concatenate, zip(*parts, strict=True))
    wrong = (given < 0) | (given > MOST_POSITIONS)
    if wrong.any():
        row = int(np.argmax(wrong))
        expected = f"a number from 0 to {MOST_POSITIONS:,}"
        raise FormatError(f"length is {given[row]}", where=rows.where(row), expected=expected)
    lengths, odd = _of_documents(rows, given, ~missing)
    if odd is not None:
        raise refusal(
            rows.where(odd),
            f"document {{}} has the length {given[odd]} here and another elsewhere",
            rows.documents[rows.document[odd]],
            expected="one",
            kind=MismatchError,
        )
    option = reading.options["length"]
    if option is not None:
        if option > MOST_POSITIONS:
            raise OptionError(f"length is {option:,}", expected=f"at most {MOST_POSITIONS:,}")
        if (lengths >= 0).all():
            _check_length(zip(rows.documents, lengths, strict=True), option)
        lengths[lengths < 0] = option
    if (lengths < 0).any():
        ways = ("a column length or text, a table of documents: ", Use("documents"))
        raise refusal(
            rows.name,
            "the length of document {} is not known",
            rows.documents[int(np.argmax(lengths < 0))],
            expected=(*ways, ", or ", Use("length")),
        )
    return lengths


def _of_documents(rows: _Rows, values: Ints, is_given: Bools) -> tuple[Ints, int | None]:
    """Return the value of each document, -1 for none, and the first row that has another."""
    is_known = is_given & (rows.document >= 0)
    known = slice(None) if is_known.all() else np.flatnonzero(is_known)
    document, own = rows.document[known], values[known]
    found = np.full(len(rows.documents), -1)
    found[document] = own
    differs = found[document] != own
    row = int(np.flatnonzero(is_known)[np.argmax(differs)]) if differs.any() else None
    return found, row


def _check_length(lengths: Iterable[tuple[str, int]], given: int) -> None:
    """Refuse a length of all documents that the data contradict."""
    for name, length in lengths:
        if length != given:
            option = Use("length", is_name=True)
            raise OptionError(
                *("document ", Quote(name), f" has the length {length}, and {given} by ", option),
                expected="one length",
                remedy=("leave ", option, " out"),
            )


def _fields(rows: _Rows, reading: Reading) -> dict[str, tuple[str, ...]]:
    """Return the further columns, one value for each document."""
    names = dict.fromkeys(name for table in rows.tables for name in table.columns)
    n_cells = sum(len(table) * len(table.columns) for table in rows.tables)
    check_filled(len(names), len(rows.documents), n_cells, rows.name)
    fields = {}
    for name in names:
        if name in NAMES or not name.strip():
            continue
        what, why = "columns that vary within documents", "varies within documents"
        columns = [table.columns.get(name) for table in rows.tables]
        if any(isinstance(column, list) and not all(map(is_single, column)) for column in columns):
            what, why = "columns of bytes, lists or objects", "holds bytes, lists or objects"
        else:
            own, codes = rows.coded(name)
            chosen, odd = _of_documents(rows, codes, codes >= 0)
            if odd is None:
                fields[name.strip()] = tuple(map([*own, ""].__getitem__, chosen.tolist()))
                continue
            if name == DATE:
                continue
        reading.skipped[not_read(what, " left out")] += 1
        reading.note("column ", Quote(name), f" {why} and is not a field")
    return fields


def _dates(rows: _Rows) -> dict[tuple[str, str], str]:
    """Return the last date of each document and annotator, where there is a column of them."""
    found: dict[tuple[str, str], str] = {}
    if any(DATE in table.columns for table in rows.tables):
        names, codes = rows.coded(DATE)
        for row in np.flatnonzero(codes[: len(rows.start)] >= 0).tolist():
            key = rows.documents[rows.document[row]], rows.annotators[rows.annotator[row]]
            found[key] = max(found.get(key, ""), names[codes[row]])
    return found


# --- Texts --------------------------------------------------------------------


def _drafts(rows: _Rows, reading: Reading) -> list[Draft]:
    """Return the rows with texts, as drafts."""
    by_id = reading.changed().get("match", "id") in {"id", "exact"}
    texts = _texts(rows, by_id=by_id)
    if reading.options["length"] is not None:
        known = ((rows.documents[d], len(text)) for (d, _), text in texts.items())
        _check_length(known, reading.options["length"])
    fields, dates = _fields(rows, reading), _dates(rows)
    is_good = _good_in_texts(rows, texts, reading)
    sentences = _places_of_sentences(rows)
    if sentences is not None and reading.options["offsets"]:
        reading.note(UNPLACED)
        sentences = None
    groups: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(zip(rows.marked.tolist(), rows.annotator.tolist(), strict=True)):
        groups.setdefault(key, []).append(row)
    # Names that differ between annotators do not show who left out what.
    if by_id and _is_complete(rows, reading):
        for key in product(range(len(rows.documents)), range(len(rows.annotators))):
            groups.setdefault(key, [])
    drafts: list[Draft] = []
    # The first annotator's names stay where the documents of others are matched to them.
    for d, a in sorted(groups, key=None if by_id else itemgetter(1, 0)):
        members, name = groups[d, a], rows.documents[d]
        where = rows.where(members[0]) if members else rows.name
        text = texts.get((d, a), texts.get((d, -1)))
        if text is None:
            place = rows.where(int(np.argmax(rows.document == d)))
            expected = "one in a column text, here or in the table of documents"
            raise refusal(place, "no text for document {}", name, expected=expected)
        if sentences is not None and sentences[d][-1][1] != len(text):
            problem = f"the sentences of document {{}} end at {sentences[d][-1][1]}"
            expected = f"the end of its text, {len(text)}, with a line break between sentences"
            raise refusal(rows.name, problem, name, expected=expected)
        draft = Draft(
            where=where,
            document=name,
            annotator=rows.annotators[a],
            text=text,
            spans=[rows.span(row) for row in members if is_good[row]],
            fields={kind: values[d] for kind, values in fields.items()},
            sentences=None if sentences is None else sentences[d],
            date=dates.get((name, rows.annotators[a])),
        )
        drafts.append(draft)
    if not rows.words:
        return drafts
    marked = [(str(draft.where), draft.text, list(draft.spans)) for draft in drafts]
    fitting = fitted(marked, replace(reading, ends=None), file=rows.name)
    return [replace(draft, spans=own) for draft, own in zip(drafts, fitting, strict=True)]


def _places_of_sentences(rows: _Rows) -> Sequence[list[Interval]] | None:
    """Return the characters of the sentences of each document, with a line break between them."""
    found = _sentences(rows)
    if found is None:
        return None
    ends = ((size + 1).cumsum() - 1 for size in found)
    return [
        list(zip((end - size).tolist(), end.tolist(), strict=True))
        for size, end in zip(found, ends, strict=True)
    ]


def _good_in_texts(rows: _Rows, texts: Mapping[tuple[int, int], str], reading: Reading) -> Bools:
    """Return which rows with texts become spans."""
    unit = reading.options["offsets"] or "codepoints"
    keys = zip(rows.marked.tolist(), rows.annotator.tolist(), strict=True)
    own = [key if key in texts else (key[0], -1) for key in keys]
    lengths = {key: length_of(text, unit) for key, text in texts.items()}
    # Documents without a text are refused later.
    room = np.array([lengths.get(key, MOST_POSITIONS) for key in own], dtype=np.int64)
    lost = np.flatnonzero((rows.end > room) & ~rows.gaps.any(axis=0))[:_MOST_LOOKED_AT]
    mend = remedy(((texts[own[row]], rows.span(row)) for row in lost.tolist()), unit)
    return _filled(rows, room, reading, mend if len(lost) else ())


def _texts(rows: _Rows, *, by_id: bool) -> dict[tuple[int, int], str]:
    """Return the text of each document, or of each annotator's; some rows may lack it.

    The annotator is -1 in a text that is everybody's.
    """
    annotators = np.full(len(rows.document), -1)
    if not by_id:
        annotators[: len(rows.annotator)] = rows.annotator
    columns = (table.columns.get("text", [None] * len(table)) for table in rows.tables)
    given = zip(rows.document.tolist(), annotators.tolist(), chain(*columns), strict=True)
    texts: dict[tuple[int, int], str] = {}
    for row, (document, annotator, text) in enumerate(given):
        if text is None or document < 0:
            continue
        if not isinstance(text, str):
            raise refusal(rows.where(row), "text is {}", text, expected="a string")
        if texts.setdefault((document, annotator), text) != text:
            name, found = rows.documents[document], "document {} has another text than before"
            raise refusal(rows.where(row), found, name, expected="one", kind=MismatchError)
    return texts
