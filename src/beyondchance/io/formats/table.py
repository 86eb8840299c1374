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

from collections.abc import Iterable, Iterator, Sequence
from dataclasses import dataclass, replace
from functools import cached_property, partial
from itertools import compress, product
from operator import itemgetter
from os import PathLike
from pathlib import Path
from typing import Any, TypeAlias

import numpy as np

from beyondchance.annotations.corpus import MOST_POSITIONS, Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.checks import is_bytes_as_text
from beyondchance.errors import (
    FormatError,
    MismatchError,
    NothingSharedError,
    OptionError,
    SpanError,
)
from beyondchance.io.assembling import assembled, count_duplicate, twice_by
from beyondchance.io.columns import (
    NAMES,
    SPAN,
    Table,
    check_filled,
    codes_of,
    is_single,
    known_columns,
    named_twice,
    stripped_codes,
    whole_numbers,
)
from beyondchance.io.drafts import Draft, DraftSpan, check_everybody
from beyondchance.io.frames import check_long, frame_table, is_table, names_of
from beyondchance.io.identifiers import PLAIN_IDS, PLAIN_LABELS, plain_ids, written_twice
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source, digested, opened
from beyondchance.io.table_files import looks_like_spans, read_table
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote, Use, quotes
from beyondchance.tallies import left_out, mended, not_read
from beyondchance.types import Bools, Ints

_Part: TypeAlias = tuple[dict[str, list[str]], dict[str, Any]]
"""Of one table: documents, annotators and labels, and the columns, names by number."""


@dataclass(frozen=True)
class _Rows:
    """The rows of all tables: names by number, and which rows are spans.

    The `listing` is the table of documents, if there is one; `uploads` are those of the tables.
    """

    uploads: list[Upload]
    tables: list[Table]
    listing: Table | None
    documents: list[str]
    annotators: list[str]
    labels: list[str]
    document: Ints
    annotator: Ints
    label: Ints
    start: Ints
    end: Ints
    is_span: Bools

    @cached_property
    def _ends(self) -> Ints:
        """Where the rows of each table end."""
        return np.cumsum([len(table) for table in self.tables])

    def where(self, row: int) -> str:
        """Name a row by its file and line."""
        table = int(np.searchsorted(self._ends, row, side="right"))
        if table == len(self.tables):
            return self.tables[-1].source.name
        return self.tables[table].where(row - self.of(table).start)

    def span(self, row: int) -> DraftSpan:
        """The span of a row."""
        start, end, label = int(self.start[row]), int(self.end[row]), int(self.label[row])
        return DraftSpan(start, end, self.labels[label], where=self.where(row))

    def of(self, table: int) -> slice:
        """The rows of one table."""
        end = int(self._ends[table])
        return slice(end - len(self.tables[table]), end)

    @cached_property
    def described(self) -> list[tuple[Table, Ints]]:
        """Each table with the documents of its rows; -1 for one that only the listing has."""
        described = [(table, self.document[self.of(i)]) for i, table in enumerate(self.tables)]
        if self.listing is not None:
            number = {name: i for i, name in enumerate(self.documents)}
            names, codes = codes_of(self.listing, "document")
            numbers = np.array([*(number.get(name, -1) for name in names), -1])
            described.append((self.listing, numbers[codes]))
        return described


def is_format(upload: Upload) -> bool:
    """Whether there is a header, or JSON keys, with the columns of a table of spans.

    So are rows of spans without a header, which are refused if their columns are not named,
    and data frames.
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
        return _corpus(tables, reading)


def _corpus(tables: list[tuple[Upload, Table]], reading: Reading) -> Corpus:
    rows = _combined(tables, _read_documents(reading), reading)
    if any("text" in table.columns for table, _ in rows.described):
        drafts = _drafts(rows, reading)
        return assembled(drafts, reading, unit="document", positions="characters")
    if reading.options["unit"] == "sentence":
        raise OptionError("a table has no sentences", remedy=("pass ", Use("unit", "document")))
    return _numbered(rows, reading)


def _tables(upload: Upload, n_uploads: int, reading: Reading) -> Iterator[Table]:
    """The tables of one upload: a data frame, or files."""
    if upload.data is None:
        for source in upload.sources:
            yield read_table(source, reading)
        return
    # One needs no name; of several, the name says which.
    called = "the data frame" if n_uploads == 1 else f"the data frame {upload.name!r}"
    table = frame_table(upload.data, called)
    if reading.options["columns"] is not None:
        raise named_twice(table)
    check_long(table)
    yield known_columns(table)


def _read_documents(reading: Reading) -> Table | None:
    """The second table, one row for each document."""
    given = reading.options["documents"]
    if given is None:
        return None
    if names_of(given) is not None:
        table = known_columns(frame_table(given, "the data frame of documents"), ("document",))
    else:
        is_path = isinstance(given, str | PathLike)
        try:
            source = opened(Path(given)) if is_path else None
        except FormatError as error:
            error.where = ("the table of documents",) if reading.hides_files else error.where
            raise
        if not isinstance(source, Source):
            expected = "the path of a table of documents"
            other = "" if is_path else ", or a data frame"
            raise OptionError("documents is ", Quote(given), expected=expected + other)
        if reading.hides_files:
            source = source.hidden("documents")
        table = read_table(source, reading, needed=("document",))
    names, codes = codes_of(table, "document")
    if np.any(codes < 0):
        where = table.where(int(np.argmax(codes < 0)))
        raise FormatError("no document", where=where, expected="its identifier")
    if len(names) < len(table):
        is_again = np.ones(len(codes), dtype=bool)
        is_again[np.unique(codes, return_index=True)[1]] = False
        row = int(np.argmax(is_again))
        found = quoting("document {} has two rows", names[int(codes[row])])
        raise FormatError(*found, where=table.where(row), expected="one")
    return table


# --- Rows of all tables -------------------------------------------------------


def _combined(tables: list[tuple[Upload, Table]], listing: Table | None, reading: Reading) -> _Rows:
    """Put the rows of all tables below one another."""
    parts = [_part(upload, table, reading) for upload, table in tables]
    names = {kind: _numbered_alike(parts, kind) for kind in ("document", "annotator", "label")}
    joined: dict[str, Any] = {
        kind: values if len(parts) == 1 else np.concatenate([part[kind] for _, part in parts])
        for kind, values in parts[0][1].items()
    }
    if reading.whole is not None:
        everybody = list(dict.fromkeys([*reading.whole.annotators, *names["annotator"]]))
        place = {name: i for i, name in enumerate(everybody)}
        number = np.array([place[name] for name in names["annotator"]], dtype=np.int64)
        names["annotator"], joined["annotator"] = everybody, number[joined["annotator"]]
    if reading.knows_plain_ids:
        listing = _mend(names, joined, [part for _, part in parts], listing, reading)
    if listing is not None and joined["is_span"].all() and reading.options["empty"] != "missing":
        # All annotators are taken to have found nothing in the documents without a row.
        listed = codes_of(listing, "document")[0]
        names["document"] = list(dict.fromkeys([*names["document"], *listed]))
    return _Rows(
        uploads=[upload for upload, _ in tables],
        tables=[table for _, table in tables],
        listing=listing,
        documents=names["document"],
        annotators=names["annotator"],
        labels=names["label"],
        **joined,
    )


def _numbered_alike(parts: list[_Part], kind: str) -> list[str]:
    """The names of all tables as they first occur; their numbers in each become the same."""
    if len(parts) == 1:
        return parts[0][0][kind]
    known: dict[str, int] = {}
    for names, columns in parts:
        number = [known.setdefault(name, len(known)) for name in names[kind]]
        columns[kind] = np.array([*number, -1])[columns[kind]]
    return list(known)


def _part(upload: Upload, table: Table, reading: Reading) -> _Part:
    """The names and the columns of one table."""
    names: dict[str, list[str]] = {}
    part: dict[str, Any] = {}
    where = "" if table.is_frame else table.source.name
    start, no_start = whole_numbers(table, "start")
    end, no_end = whole_numbers(table, "end")
    for kind, default in (("document", "1"), ("annotator", upload.annotator), ("label", "")):
        if kind in table.columns:
            own, codes, n_stripped = stripped_codes(table, kind)
            _check_bytes(table, kind, own, codes)
            # In files it belongs to the separators.
            if n_stripped and kind == "label" and table.is_frame:
                reading.skipped[mended("labels trimmed of white space")] += n_stripped
        else:
            if kind == "document":
                reading.note("no column of documents: all rows are one document", where=where)
            own, codes = [default], np.zeros(len(table), dtype=np.int64)
        if kind == "annotator":
            reading.met(upload.name, own)
            upload.check_named(own)
            own = [upload.annotator] if upload.is_named else own
        if kind != "label" and codes.min(initial=0) < 0:
            row = int(np.argmin(codes))
            raise FormatError(f"{kind} missing", where=table.where(row), expected="a name")
        names[kind], part[kind] = own, codes
    is_span = _is_span(table, no_start, no_end, part["label"] < 0)
    return names, {**part, "start": start, "end": end, "is_span": is_span}


def _check_bytes(table: Table, kind: str, names: list[str], codes: Ints) -> None:
    """Refuse names such as "b'PER'", which are bytes that were written as if they were text."""
    together = "\n".join(names)
    if "b'" not in together and 'b"' not in together:
        return
    for index, name in enumerate(names):
        if is_bytes_as_text(name):
            raise FormatError(
                *(f"{kind} is ", Quote(name)),
                where=table.where(int(np.argmax(codes == index))),
                expected="a name, not bytes written as text",
                remedy="decode the column before it is saved",
            )


def _mend(
    names: dict[str, list[str]],
    joined: dict[str, Ints],
    parts: list[dict[str, Ints]],
    listing: Table | None,
    reading: Reading,
) -> Table | None:
    """Read documents and labels such as 1.0 as 1; return the table of documents with such ids."""
    listed = [] if listing is None else codes_of(listing, "document")[0]
    for kind, others, counter in (("document", listed, PLAIN_IDS), ("label", [], PLAIN_LABELS)):
        own = names[kind]
        ids = [*own, *others] if others else own
        if not plain_ids(ids):
            continue
        distinct = [others, *(group for part in parts for group in _by_annotator(part, kind, own))]
        plain = plain_ids(ids, distinct=distinct)
        if not plain:
            continue
        reading.mend("match", counter, partial(written_twice, kind, plain), len(plain))
        known: dict[str, int] = {}
        number = [known.setdefault(plain.get(name, name), len(known)) for name in own]
        names[kind], joined[kind] = list(known), np.array([*number, -1])[joined[kind]]
        if kind == "document" and listing is not None:
            _, codes = codes_of(listing, kind)
            new = [plain.get(name, name) for name in listed]
            listing = replace(listing, columns={**listing.columns, kind: [new[i] for i in codes]})
    return listing


def _by_annotator(part: dict[str, Ints], kind: str, names: list[str]) -> Iterable[list[str]]:
    """The documents or labels that each annotator has in one table."""
    n = len(names)
    groups: dict[int, list[str]] = {}
    is_known = part[kind] >= 0
    pairs = part["annotator"][is_known] * n + part[kind][is_known]
    for pair in np.unique(pairs).tolist():
        groups.setdefault(pair // n, []).append(names[pair % n])
    return groups.values()


def _is_span(table: Table, no_start: Bools, no_end: Bools, no_label: Bools) -> Bools:
    """Which rows are spans; a row has all of start, end and label, or none."""
    if not (no_start.any() or no_end.any() or no_label.any()):
        return ~no_start
    gaps = np.stack([no_start, no_end, no_label])
    torn = gaps.any(axis=0) & ~gaps.all(axis=0)
    if torn.any():
        row = int(np.argmax(torn))
        raise FormatError(
            f"{' and '.join(compress(SPAN, gaps[:, row]))} missing",
            where=table.where(row),
            expected="start, end and label, or none of them where the annotator found nothing",
        )
    return ~no_start


# --- Numbers to a corpus ------------------------------------------------------


def _numbered(rows: _Rows, reading: Reading) -> Corpus:
    """Build a corpus without texts, column by column."""
    texts = "a column text, or a table of documents with one: ", Use("documents")
    reading.check_unused("offsets", "align", "whitespace", "match", "tokeniser", needs=texts)
    if not rows.documents or not rows.annotators:
        where = rows.tables[0].source.name
        raise FormatError("holds no rows", where=where, expected="one for each span")
    lengths = _lengths(rows, reading)
    is_good = _checked_spans(rows, lengths, reading)
    keep = slice(None) if is_good.all() else np.flatnonzero(is_good)
    labels, label = sorted_names(tuple(rows.labels), rows.label[keep])
    annotated = _annotated(rows, reading)
    return Corpus(
        documents=tuple(rows.documents),
        fields=_fields(rows, reading),
        text_document=np.arange(len(rows.documents)),
        text_length=lengths,
        annotators=tuple(rows.annotators),
        labels=labels,
        annotation_document=annotated[0],
        annotation_annotator=annotated[1],
        span_text=rows.document[keep],
        span_annotator=rows.annotator[keep],
        span_label=label,
        span_start=rows.start[keep],
        span_end=rows.end[keep],
        unit=reading.options["unit"] or "document",
        positions=reading.options["positions"] or "characters",
    )


def _checked_spans(rows: _Rows, lengths: Ints, reading: Reading) -> Bools:
    """Which rows become spans; refuse those that do not lie in their document."""
    start, end = rows.start, rows.end
    room = lengths[rows.document]
    wrong = (start < 0) | (end <= start) | (end > room)
    is_good = rows.is_span
    if wrong.any():
        empty = wrong & is_good & (start == end) & (start >= 0) & (end <= room)
        if empty.any():
            refusal = partial(_emptiness, rows, int(np.argmax(empty)))
            reading.mend("zero_length", left_out("empty spans"), refusal, int(empty.sum()))
            is_good = is_good & ~empty
        wrong &= is_good
    if wrong.any():
        row = int(np.argmax(wrong))
        raise SpanError(
            *rows.span(row).named,
            f" does not lie in its document, which has the length {room[row]}",
            where=rows.where(row),
            expected="0 <= start < end <= length",
        )
    twice = _repeated(rows, is_good)
    if len(twice):
        count_duplicate(partial(_duplicate, rows, int(twice[0])), reading, len(twice))
        is_good = is_good.copy()
        is_good[twice] = False
    return is_good


def _duplicate(rows: _Rows, row: int) -> tuple[tuple[Piece, ...], str]:
    """What is said of a row that repeats another, and where it is."""
    who, document = rows.annotators[rows.annotator[row]], rows.documents[rows.document[row]]
    return (*rows.span(row).named, *twice_by(who, document)), rows.where(row)


def _emptiness(rows: _Rows, row: int) -> SpanError:
    return SpanError(
        *(*rows.span(row).named, " is empty"),
        where=rows.where(row),
        expected="at least one position",
        remedy=(Use("zero_length", "skip"), " leaves such spans out"),
    )


def _repeated(rows: _Rows, is_good: Bools) -> Ints:
    """The rows that say again what an earlier row said, in ascending order."""
    columns = (rows.document, rows.annotator, rows.label, rows.start, rows.end)
    # Most tables are sorted, and then a look at neighbours suffices.
    is_on = rows.start[1:] > rows.start[:-1]
    if _is_sorted(rows.document, is_on):
        return np.zeros(0, dtype=np.int64)
    mixed = rows.document * len(rows.annotators)
    mixed += rows.annotator
    if _is_sorted(mixed, is_on):
        return np.zeros(0, dtype=np.int64)
    # Rows that fall into slots of their own are distinct; few others need to be compared.
    mixed *= len(rows.labels)
    mixed += rows.label
    mixed *= 0x1E3779B97F4A7C15
    mixed ^= rows.start << 32
    mixed += rows.end
    mixed *= 0x5851F42D4C957F2D
    n_bits = min(len(mixed).bit_length() + 2, 24)
    slot = (mixed.view(np.uint64) >> np.uint64(64 - n_bits)).view(np.int64)
    is_crowded = np.bincount(slot) > 1
    spans = np.flatnonzero(is_crowded[slot] & is_good)
    alone = np.sort(mixed[spans])
    again = np.unique(alone[1:][alone[1:] == alone[:-1]])
    if not len(again):
        return again
    spans = spans[np.isin(mixed[spans], again)]
    spans = spans[np.lexsort([column[spans] for column in columns])]
    same = [column[spans[1:]] == column[spans[:-1]] for column in columns]
    return np.sort(spans[1:][np.all(same, axis=0)])


def _is_sorted(sets: Ints, is_on: Bools) -> bool:
    """Whether each row belongs to a later set than the row before, or is further on in the same."""
    before, after = sets[:-1], sets[1:]
    return bool(np.all((after > before) | ((after == before) & is_on)))


def _is_complete(rows: _Rows, reading: Reading) -> bool:
    """Whether all annotators are taken to have annotated every document."""
    has_gaps = not rows.is_span.all()
    reading.found_gaps.append(has_gaps)
    if reading.whole is not None:
        has_gaps |= reading.whole.has_gaps
    if reading.options["empty"] == "missing" or has_gaps:
        return False
    n_rows = sum(len(table) for table, _ in rows.described)
    where = rows.tables[0].source.name
    check_everybody(len(rows.documents), len(rows.annotators), n_rows, where)
    if len(rows.annotators) > 1:
        if reading.whole is None:
            _check_common(rows)
        reading.note(
            "no row without a span: all annotators are taken to have annotated every document (",
            *(Use("empty", "missing"), " takes only those who have a row)"),
        )
    return True


def _check_common(rows: _Rows) -> None:
    """Refuse a file of other annotators that has no document in common with any other file.

    Its documents may have other names, or may not have been seen by the others.
    """
    if rows.uploads[0] is rows.uploads[-1] or rows.listing is not None:
        return
    has: dict[Upload, tuple[Bools, Bools]] = {}
    for i, upload in enumerate(rows.uploads):
        part, known = rows.of(i), has.get(upload)
        own = (
            np.bincount(rows.document[part], minlength=len(rows.documents)) > 0,
            np.bincount(rows.annotator[part], minlength=len(rows.annotators)) > 0,
        )
        has[upload] = own if known is None else (own[0] | known[0], own[1] | known[1])
    n_files = np.sum([documents for documents, _ in has.values()], axis=0)
    for upload, (documents, people) in has.items():
        if people.all() or np.any(n_files[documents] > 1):
            continue
        other = next(name for name in has if name is not upload)
        names = [
            [rows.documents[j] for j in np.flatnonzero(has[one][0])[:4]] for one in (upload, other)
        ]
        raise shares_nothing(upload.name, names[0], other.name, names[1])


def shares_nothing(
    name: str, documents: Sequence[str], other: str, others: Sequence[str]
) -> NothingSharedError:
    """Why a file of other annotators is refused, with the first documents of it and another."""
    return NothingSharedError(
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
    """Who annotated which document, shape (2, annotations)."""
    n = len(rows.annotators)
    if _is_complete(rows, reading):
        return np.indices((len(rows.documents), n)).reshape(2, -1)
    pairs = rows.document * n + rows.annotator
    # To count is faster than to sort, unless there are many more pairs than rows.
    is_dense = len(rows.documents) * n <= 8 * len(pairs)
    pairs = np.flatnonzero(np.bincount(pairs)) if is_dense else np.unique(pairs)
    return np.stack([pairs // n, pairs % n])


def _lengths(rows: _Rows, reading: Reading) -> Ints:
    """The length of each document."""
    lengths = np.full(len(rows.documents), -1)
    for table, document in rows.described:
        if "length" in table.columns:
            _fill_lengths(lengths, document, table, rows.documents)
    given = reading.options["length"]
    if given is not None:
        if given > MOST_POSITIONS:
            raise OptionError(f"length is {given:,}", expected=f"at most {MOST_POSITIONS:,}")
        if (lengths >= 0).all():
            _check_length(lengths, rows.documents, given)
        lengths[lengths < 0] = given
    unknown = lengths < 0
    if unknown.any():
        name = rows.documents[int(np.argmax(unknown))]
        ways = ("a column length or text, a table of documents: ", Use("documents"))
        raise FormatError(
            *("the length of document ", Quote(name), " is not known"),
            where=rows.tables[0].source.name,
            expected=(*ways, ", or ", Use("length")),
        )
    return lengths


def _check_length(lengths: Iterable[int], documents: list[str], given: int) -> None:
    """Refuse a length of all documents that the data contradict."""
    for name, length in zip(documents, lengths, strict=True):
        if length != given:
            option = Use("length", is_name=True)
            raise OptionError(
                *("document ", Quote(name), f" has the length {length}, and {given} by "),
                option,
                expected="one length",
                remedy=("leave ", option, " out"),
            )


def _fill_lengths(lengths: Ints, document: Ints, table: Table, names: list[str]) -> None:
    """Take the lengths that a table gives; they must not contradict one another."""
    given, missing = whole_numbers(table, "length")
    if len(given) and not 0 <= given.min() <= given.max() <= MOST_POSITIONS:
        row = int(np.argmax((given < 0) | (given > MOST_POSITIONS)))
        raise FormatError(
            f"length is {given[row]}",
            where=table.where(row),
            expected=f"a number from 0 to {MOST_POSITIONS:,}",
        )
    is_known = ~missing & (document >= 0)
    # Most rows repeat what the row before says.
    is_known[1:] &= (document[1:] != document[:-1]) | (given[1:] != given[:-1]) | ~is_known[:-1]
    rows = np.flatnonzero(is_known)
    document, given = document[rows], given[rows]
    before = lengths.copy()
    lengths[document] = given
    differs = lengths[document] != given
    if (before >= 0).any():
        differs |= (before[document] >= 0) & (before[document] != given)
    if differs.any():
        place = int(np.argmax(differs))
        raise MismatchError(
            *("document ", Quote(names[document[place]])),
            f" has the length {given[place]} here and another elsewhere",
            where=table.where(int(rows[place])),
            expected="one",
        )


def _fields(rows: _Rows, reading: Reading) -> dict[str, tuple[str, ...]]:
    """The further columns, one value for each document."""
    parts_of: dict[str, list[tuple[Table, Ints]]] = {}
    for table, document in rows.described:
        for name in table.columns:
            parts_of.setdefault(name, []).append((table, document))
    n_cells = sum(len(table) * len(table.columns) for table, _ in rows.described)
    check_filled(len(parts_of), len(rows.documents), n_cells, rows.tables[0].source.name)
    fields = {}
    for name, parts in parts_of.items():
        if name in NAMES or not name.strip():
            continue
        values = [""] * len(rows.documents)
        if any(_is_composite(table.columns[name]) for table, _ in parts):
            reading.skipped[not_read("columns of bytes, lists or objects", " left out")] += 1
            reading.note(
                "column ", Quote(name), " holds bytes, lists or objects and is not a field"
            )
            continue
        whole = [_fill_field(values, document, table, name) for table, document in parts]
        if all(whole):
            fields[name.strip()] = tuple(values)
        else:
            reading.skipped[not_read("columns that vary within documents", " left out")] += 1
            reading.note("column ", Quote(name), " varies within documents and is not a field")
    return fields


def _is_composite(values: Any) -> bool:
    """Whether a column holds bytes, lists or objects, which are no names."""
    return isinstance(values, list) and not all(map(is_single, values))


def _fill_field(values: list[str], document: Ints, table: Table, name: str) -> bool:
    """Take the values of a further column; whether each document has one of them."""
    own, codes = codes_of(table, name)
    rows = np.flatnonzero((codes >= 0) & (document >= 0))
    chosen = np.full(len(values), -1)
    chosen[document[rows]] = codes[rows]
    if (chosen[document[rows]] != codes[rows]).any():
        return False
    for index in np.flatnonzero(chosen >= 0).tolist():
        if values[index] not in {"", own[chosen[index]]}:
            return False
        values[index] = own[chosen[index]]
    return True


# --- Texts --------------------------------------------------------------------


def _drafts(rows: _Rows, reading: Reading) -> Iterator[Draft]:
    """Rows with texts, as drafts."""
    by_id = reading.changed().get("match", "id") in {"id", "exact"}
    texts = _texts(rows, by_id=by_id)
    if reading.options["length"] is not None:
        known = {name: len(text) for (name, _), text in texts.items()}
        _check_length(known.values(), list(known), reading.options["length"])
    fields = _fields(rows, reading)
    own_fields = [
        {kind: values[d] for kind, values in fields.items()} for d in range(len(rows.documents))
    ]
    groups: dict[tuple[int, int], list[int]] = {}
    for row, key in enumerate(zip(rows.document.tolist(), rows.annotator.tolist(), strict=True)):
        groups.setdefault(key, []).append(row)
    # Names that differ between annotators do not show who left out what.
    if by_id and _is_complete(rows, reading):
        for key in product(range(len(rows.documents)), range(len(rows.annotators))):
            groups.setdefault(key, [])
    # The first annotator's names stay where the documents of others are matched to them.
    order = sorted(groups, key=None if by_id else itemgetter(1, 0))
    for d, a in order:
        members, name, annotator = groups[d, a], rows.documents[d], rows.annotators[a]
        where = rows.where(members[0]) if members else rows.tables[0].source.name
        text = texts.get((name, "" if by_id else annotator), texts.get((name, "")))
        if text is None:
            raise FormatError("no text for document ", Quote(name), where=where, expected="one")
        yield Draft(
            where=where,
            document=name,
            annotator=annotator,
            text=text,
            spans=[rows.span(row) for row in members if rows.is_span[row]],
            fields=own_fields[d],
        )


def _texts(rows: _Rows, *, by_id: bool) -> dict[tuple[str, str], str]:
    """The text of each document, or of each annotator's; some rows may lack it."""
    given: list[tuple[Table, Iterator[tuple[str, str]]]] = []
    for index, table in enumerate(rows.tables):
        if "text" in table.columns:
            part = rows.of(index)
            codes = zip(rows.document[part].tolist(), rows.annotator[part].tolist(), strict=True)
            keys = ((rows.documents[d], "" if by_id else rows.annotators[a]) for d, a in codes)
            given.append((table, keys))
    if rows.listing is not None and "text" in rows.listing.columns:
        names, numbers = codes_of(rows.listing, "document")
        given.append((rows.listing, ((names[i], "") for i in numbers.tolist())))
    texts: dict[tuple[str, str], str] = {}
    for table, owners in given:
        for row, (key, text) in enumerate(zip(owners, table.columns["text"], strict=True)):
            if text is None:
                continue
            if not isinstance(text, str):
                where = table.where(row)
                raise FormatError("text is ", Quote(text), where=where, expected="a string")
            if texts.setdefault(key, text) != text:
                found = quoting("document {} has another text than before", key[0])
                raise MismatchError(*found, where=table.where(row), expected="one")
    return texts
