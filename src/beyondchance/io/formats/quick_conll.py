"""The plainest CoNLL files, quickly: a token and a tag on each line, nothing else.

Everything that is not so plain, a comment, a header, a column too many, a token that
differs between annotators, is left to `beyondchance.io.formats.conll`, which knows what to say.
"""

from __future__ import annotations

from dataclasses import dataclass
from itertools import pairwise

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import sorted_names
from beyondchance.annotations.tags import decode_tags
from beyondchance.errors import BeyondChanceError
from beyondchance.io.formats.conll import notes_on_columns, scheme_with_ends
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.types import Bools, Ints

_PLAIN = frozenset({"gold", "repair", "scheme", "duplicates"})
"""Options that make no difference to what is plain."""


@dataclass(frozen=True, slots=True)
class _Plain:
    """The words and tags of a file, how many each sentence has, and the cells of each column."""

    words: list[str]
    tags: list[str]
    lengths: Ints
    columns: list[set[str]]


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
        if file is None or (files and not _same_words(file, files[0])):
            return None
        files.append(file)
    schemes = [reading.options["scheme"] or _scheme(file) for file in files]
    if None in schemes or len(set(schemes)) > 1:
        return None
    corpus = _built(files, names, str(schemes[0]), reading.options["repair"])
    if corpus is None:
        return None
    for upload, file in zip(uploads, files, strict=True):
        reading.notes.extend(notes_on_columns(upload.name, file.columns))
        if reading.options["scheme"] is None:
            reading.notes.append(f"{upload.name}: tags of {upload.annotator} read as {schemes[0]}")
    return corpus


def _same_words(one: _Plain, other: _Plain) -> bool:
    return one.words == other.words and np.array_equal(one.lengths, other.lengths)


def _plain(text: str) -> _Plain | None:
    """Cut a text with as many separators on every line as on the first."""
    if text.startswith(("#", "\n")) or "\n#" in text or "-DOCSTART-" in text or "\r" in text:
        return None
    separator = "\t" if "\t" in text else " "
    n_separators = text.partition("\n")[0].count(separator)
    counts, is_filled = _lines(text, separator)
    if not n_separators or np.any(counts[is_filled] != n_separators):
        return None
    cells = separator.join(filter(None, text.split("\n"))).split(separator)
    if not _is_clean(cells, text, separator):
        return None
    blank = np.flatnonzero(~is_filled)
    lengths = np.diff(np.concatenate([[-1], blank, [len(is_filled)]])) - 1
    width = n_separators + 1
    words, tags = cells[::width], cells[n_separators::width]
    if tags[0][:2] not in _BEGINNINGS:
        return None  # a first line without a tag may be a header
    # A word and its tag are all that most files have; nobody asks about other columns then.
    columns = [set(cells[i::width]) for i in range(width)] if width > 2 else [set(), set()]
    return _Plain(words, tags, lengths[lengths > 0], columns)


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
    """The scheme, where a look at few tags tells it."""
    scheme = scheme_with_ends({tag[:1] for tag in set(file.tags)})
    if scheme is not None:
        return scheme
    before = "O"
    for tag in file.tags:
        # A B behind an O begins a span alone, even if a sentence ends between them.
        if tag[:1] == "B" and before == "O":
            return "IOB2"
        before = tag
    return None


def _built(files: list[_Plain], names: list[str], scheme: str, repair: str) -> Corpus | None:
    """Build the corpus column by column; None where the slow road has something to say."""
    words, lengths = files[0].words, files[0].lengths
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
    pairs = np.indices((n_texts, len(names))).reshape(2, -1)
    return Corpus(
        documents=tuple(map(str, range(1, n_texts + 1))),
        text_document=np.arange(n_texts),
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
        options={"scheme": scheme, "tokens": "file"},
        skipped={f"tags repaired by {repair}": found.n_repaired} if found.n_repaired else {},
        texts=tuple(" ".join(words[low:high]) for low, high in pairwise(bounds)),
        token_start=ends - sizes - begins,
        token_end=ends - begins,
    )
