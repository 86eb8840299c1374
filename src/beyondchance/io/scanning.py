"""Read files in pieces, so that they may be larger than memory.

A *piece* has whole documents: some rows of Parquet, or some bytes of text. The reader of the format
makes a corpus of it, as of a file; what must be known of the whole (all annotators, and whether
rows without spans occur) is found out on the way. A piece of many rows is read batch by batch.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from os import PathLike, fspath
from typing import Any, NamedTuple, Unpack, cast

import numpy as np

from beyondchance.annotations.corpus import Corpus, Input
from beyondchance.annotations.hashing import Hashes, hashed
from beyondchance.annotations.letters import letters_of
from beyondchance.checks import checked_gold, checked_option
from beyondchance.errors import FormatError, OptionError
from beyondchance.io.aligned import Engine, aligned_ranges
from beyondchance.io.columns import names_of
from beyondchance.io.copies import Copies
from beyondchance.io.identifiers import ways_to_write
from beyondchance.io.options import Reading, Whole
from beyondchance.io.pieces import (
    Range,
    frame_tables,
    packed_pieces,
    parquet_ranges,
    parquet_tables,
    some_of,
    text_ranges,
)
from beyondchance.io.reading import (
    Named,
    Naming,
    Selection,
    formats_of,
    is_about,
    named_file,
    read_part,
    uploads_of,
)
from beyondchance.io.registry import FORMATS, Format, Upload
from beyondchance.io.sources import (
    Source,
    holds_counts,
    is_parquet,
    is_url,
    limited,
    matching,
    opened,
)
from beyondchance.messages import Use
from beyondchance.options import ReadOptions, documented

AT_A_TIME = 2**21
"""Bytes of text that a piece has, or a few more."""
ROWS_AT_A_TIME = 2**17
"""Rows of a table that are read at a time."""
ROWS_OF_PIECE = 2**20
"""Rows of Parquet that a piece has, or a few more."""
_WAYS = ("table", "conll", "records", "hf")
"""The formats that are read in parts."""


@dataclass(frozen=True)
class Scan:
    """Annotations that are read in parts, and never all at once (see `scan`).

    Attributes
    ----------
    items : tuple
        Files, some with the names of their annotators, or data frames.
    format : str, optional
    options : mapping
        Of `ReadOptions`.
    naming : Naming
    selection : Selection
    """

    items: tuple[Any, ...]
    format: str | None = None
    options: Mapping[str, Any] = field(default_factory=dict)
    naming: Naming = field(default_factory=Naming)
    selection: Selection = field(default_factory=Selection)

    def __repr__(self) -> str:
        kinds = [item if isinstance(item, str) else type(item).__name__ for item in self.items]
        return f"Scan({', '.join(map(repr, kinds[:3]))}{', ...' * (len(kinds) > 3)})"


@documented(ReadOptions)
def scan(
    *paths: Any,
    format: str | None = None,  # noqa: A002 - what it is called everywhere
    **options: Unpack[ReadOptions],
) -> Scan:
    """Prepare annotations to be read in parts, where they are too large to be read at once.

    `agreement`, `rank` and `difficulty` take the result in the place of a corpus. Tables
    (Parquet, CSV, TSV, JSON Lines, also compressed; data frames and Arrow streams), CoNLL columns,
    JSON Lines of records and files of the Hugging Face hub are read in parts.

    Parameters
    ----------
    *paths : str, path or data frame
        Files, folders of tables, or patterns such as ``spans/*.parquet``. Tables are put below one
        another; of other formats, each file is one annotator's.
    format : str, optional
        One of the names in `FORMATS`; detected from the content by default.
    {options}

    Returns
    -------
    Scan

    Raises
    ------
    FormatError
        If there is no such file.
    OptionError
        For a format that is read as a whole.

    Examples
    --------
    >>> from importlib.resources import files
    >>> from beyondchance import agreement
    >>> path = files("beyondchance") / "resources" / "example.conll"
    >>> agreement(scan(path))
    Agreement(observed=0.7877, chance=0.2468, corrected=0.7181, measure='token')
    """
    if format is not None:
        checked_option("format", format, FORMATS)
    found = Scan(expanded(paths), format, options)
    Reading(cast("ReadOptions", {**options, "gold": None}))  # refuses unknown ones
    if not any(map(holds_counts, found.items)):
        opened_files(found)  # refuses what is not there, or is read as a whole
    return found


def expanded(paths: Sequence[Any]) -> tuple[Any, ...]:
    """List the files that paths, folders of tables and patterns stand for, in order."""
    if not paths:
        raise OptionError("nothing to read", expected="at least one file or folder")
    items: list[Any] = []
    for path in paths:
        if not isinstance(path, str | PathLike):
            items.append(path)
            continue
        for place in matching(fspath(path)):
            found = opened(place)
            if isinstance(found, Source):
                items.append(place)
                continue
            files = [file for file in found if file.posix_path.name[0] != "_"]
            shown = [file.place for file in files if not is_about(file.posix_path)]
            if not shown:
                raise FormatError("the folder holds no files", where=place)
            items += shown
    return tuple(items)


# --- Files to parts -------------------------------------------------------------------


class Opened(NamedTuple):
    """The files of a scan, and the format that they have.

    Attributes
    ----------
    uploads : list of Upload
    format : Format
    reading : Reading
        The options, but for the gold standard.
    """

    uploads: list[Upload]
    format: Format
    reading: Reading

    @property
    def is_table(self) -> bool:
        """Whether the files are tables, and so are put below one another."""
        return self.format.name == "table"


def opened_files(found: Scan) -> Opened:
    """Open the files of a scan, and find out their format; refuse what needs all at once."""
    given = {name: value for name, value in found.options.items() if name != "gold"}
    with limited(given.get("max_size")):
        reading = Reading(cast("ReadOptions", given), hides_files=found.naming.hides_files)
        if any(map(_is_frame, found.items)):
            uploads, formats = _frames_of(found), [FORMATS["table"]]
        else:
            items = [Source(x, url=x) if is_url(x) else x for x in found.items]
            uploads = [
                replace(upload, path=upload.path or upload.sources[0].url)
                for upload in uploads_of(items, found.naming)
            ]
            formats = formats_of(uploads, found.format, reading)
    names = list(dict.fromkeys(item.name for item in formats))
    if len(names) > 1:
        raise OptionError(
            f"files of the formats {' and '.join(names)}",
            expected="one format, where files are read in parts",
        )
    if names[0] not in _WAYS:
        raise OptionError(
            f"{names[0]} is not read in parts",
            where=uploads[0].name,
            expected=f"one of {', '.join(_WAYS)}",
            remedy="read it as a whole, or convert it to a table",
        )
    for name, remedy in (
        ("documents", "add a column length to the table"),
        ("folder", f"leave it out: {names[0]} has one file for each annotator"),
        ("anonymous", "read all at once"),
    ):
        if name in reading.changed():
            option = Use(name, is_name=True)
            raise OptionError(option, " does not go with reading in parts", remedy=remedy)
    return Opened(uploads, formats[0], reading)


def _is_frame(item: Any) -> bool:
    return not isinstance(item, str | PathLike | Named) and (
        hasattr(item, "__arrow_c_stream__") or names_of(item) is not None
    )


def _frames_of(found: Scan) -> list[Upload]:
    if not all(map(_is_frame, found.items)):
        raise OptionError("files and data frames", expected="one or the other")
    sources = (Source(f"the data frame {i}", member=b"") for i, _ in enumerate(found.items, 1))
    return [
        replace(upload, sources=[source])
        for upload, source in zip(uploads_of(found.items, found.naming), sources, strict=True)
    ]


class Piece(NamedTuple):
    """Some whole documents of the files.

    Attributes
    ----------
    number : int
    ranges : tuple of Range
        A range of one table, or of each of the files that are aligned.
    """

    number: int
    ranges: tuple[Range, ...]

    def __str__(self) -> str:
        return "; ".join(map(str, self.ranges))


def pieces_of(found: Scan, engine: Engine = map) -> list[Piece]:
    """Cut the files into pieces; what must be looked through for this, the engine does."""
    files = opened_files(found)
    if files.is_table:
        ranges: Iterable[tuple[Range, ...]] = (
            (replace(own, source=place),)
            for number, upload in enumerate(files.uploads)
            for place, source in enumerate(upload.sources)
            for own in _ranges_of_table(number, upload, source, files.reading)
        )
    else:
        if any(upload.is_folder for upload in files.uploads):
            expected = "files, one for each annotator"
            raise OptionError("a folder is not read in parts", expected=expected)
        sources = [upload.sources[0] for upload in files.uploads]
        are_tagged = files.format.name == "conll"
        ranges = aligned_ranges(sources, files.reading, AT_A_TIME, engine, are_tagged=are_tagged)
    return [Piece(*numbered) for numbered in enumerate(ranges)]


def _ranges_of_table(
    number: int, upload: Upload, source: Source, reading: Reading
) -> Iterable[Range]:
    if upload.data is not None:
        return [Range(number, upload.name)]
    if is_parquet(source):
        return parquet_ranges(number, source, ROWS_OF_PIECE)
    return text_ranges(number, source, reading, AT_A_TIME)


# --- Parts to corpora -----------------------------------------------------------------


@dataclass(frozen=True, eq=False)
class Seen:
    """Which documents a part has, to find those that are in two parts; adds.

    Attributes
    ----------
    hashes : array of int
        Of all names.
    ways : tuple of (bool, bool)
        Whether some names are whole numbers, and some whole numbers with a point.
    """

    hashes: Hashes
    ways: tuple[bool, bool]


@dataclass(frozen=True, eq=False)
class Batch:
    """Some of the documents of a part.

    Attributes
    ----------
    corpus : Corpus
    found : Whole
        What these documents show of all.
    labels : tuple of str
        Before any of them was left out.
    annotators : tuple of str
        By the names that they are shown by, before any of them was left out.
    people : tuple of int
        The numbers of those who marked something.
    copies : Copies, optional
        Which texts there are, if it is not known whose.
    """

    corpus: Corpus
    found: Whole
    labels: tuple[str, ...]
    annotators: tuple[str, ...]
    people: tuple[int, ...]
    copies: Copies | None


def batches_of(found: Scan, piece: Piece, whole: Whole | None) -> Iterator[Batch]:
    """Read the corpora of a piece."""
    files = opened_files(found)
    options = dict(files.reading.given or {})
    if whole is not None and whole.scheme is not None and "+" not in whole.scheme:
        options["scheme"] = whole.scheme
    uploads = [files.uploads[own.file] for own in piece.ranges]
    given = [upload.sources[own.source] for upload, own in zip(uploads, piece.ranges, strict=True)]
    formats = [files.format] * len(uploads)
    with limited(options.get("max_size")):
        for sources in _sources_of(uploads, given, piece, files.reading):
            parts = [
                replace(upload, sources=[source], data=None)
                for upload, source in zip(uploads, sources, strict=True)
            ]
            corpus, known, shown, copies = read_part(parts, formats, options, found.naming, whole)
            kept, names = _kept(corpus, known, found)
            people = np.flatnonzero(np.bincount(corpus.span_annotator)).tolist()
            yield Batch(kept, shown, corpus.labels, names, tuple(people), copies)


def _sources_of(
    uploads: Sequence[Upload], given: Sequence[Source], piece: Piece, reading: Reading
) -> Iterator[list[Source]]:
    """Read the sources of a piece: for every batch, one for each file."""
    own, upload, source = piece.ranges[0], uploads[0], given[0]
    if upload.data is not None:
        tables = frame_tables(upload.data, ROWS_AT_A_TIME, source)
    elif own.kind == "rows":
        tables = parquet_tables(source, own, ROWS_AT_A_TIME)
    elif own.kind == "packed":
        yield from ([piece] for piece in packed_pieces(source, reading, AT_A_TIME))
        return
    else:
        yield list(map(Range.read, piece.ranges, given))
        return
    for before, rows in tables:
        yield [some_of(source, b"", rows=rows, before=before)]


def _kept(corpus: Corpus, known: Mapping[str, str], found: Scan) -> tuple[Corpus, tuple[str, ...]]:
    """Keep what was asked for of a corpus, and return it with the names of all annotators."""
    corpus = found.selection.of_labels(corpus)
    # The choice of labels is signed for all parts together.
    signed = {name: value for name, value in corpus.options.items() if name != "labels"}
    corpus = replace(corpus, options=signed)
    gold = found.options.get("gold")
    if gold is not None:
        corpus = corpus.with_gold(_gold_of(found, corpus, known))
    pseudonyms = corpus.pseudonyms()
    names = corpus.annotators
    corpus = found.selection.of_annotators(corpus, known)
    if found.naming.hides_files:
        corpus = corpus.with_pseudonyms(pseudonyms)
        names = tuple(pseudonyms.values())
    return replace(corpus, texts=None, token_start=None, token_end=None), names


def _gold_of(found: Scan, corpus: Corpus, known: Mapping[str, str]) -> str:
    """Find the gold standard, by its name or by its file."""
    gold = found.options["gold"]
    checked_gold(gold if isinstance(gold, str) else None)
    if gold in corpus.annotators:
        return str(gold)
    if gold in known:
        return known[str(gold)]
    file = named_file(gold) if isinstance(gold, str) else gold
    name = file.name if isinstance(file, Named) else Source(fspath(file or "")).stem
    return name if name in corpus.annotators else str(gold)


# --- Documents in two parts -----------------------------------------------------------


def seen_in(documents: Sequence[str]) -> Seen:
    """Summarise which documents a batch has."""
    return Seen(hashed(documents), ways_to_write(documents, letters_of(documents)))


def seen_together(parts: Sequence[Seen]) -> Seen:
    """Summarise which documents several batches have; refuse a document that is in two.

    Raises
    ------
    ScatteredError
    """
    hashes = np.sort(np.concatenate([part.hashes for part in parts]))
    if np.any(hashes[1:] == hashes[:-1]):
        raise ScatteredError
    integers, with_points = zip(*(part.ways for part in parts), strict=True)
    return Seen(hashes, (any(integers), any(with_points)))


class ScatteredError(Exception):
    """A document has rows in several places, far from each other."""


def inputs_of(found: Scan) -> tuple[Input, ...]:
    """List the files that are read, with their digests."""
    files = opened_files(found)
    return tuple(
        Input(name=source.name, sha256=source.sha256, format=files.format.name)
        for upload in files.uploads
        if upload.data is None
        for source in upload.sources
    )
