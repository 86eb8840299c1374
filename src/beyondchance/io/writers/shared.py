"""What the writers share: annotations in order, texts, tokens, and names of files."""

from __future__ import annotations

import re
from collections.abc import Callable, Sequence
from itertools import pairwise
from pathlib import PurePosixPath, PureWindowsPath

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError, OverlapError
from beyondchance.io.offsets import Interval, tokenized
from beyondchance.messages import Piece, Quote, Text, pieces
from beyondchance.types import Ints

Annotations = dict[tuple[int, int], list[int]]
"""The spans of each (document, annotator)."""
Files = bytes | dict[str, bytes]
"""What is written: one file, or the files of a folder by their names."""
FOLDER = "give a folder, a path that ends with '/', for a file each"
"""How to write what does not fit into one file."""
_IN_NO_NAME = re.compile(r"[\\\x00-\x1f\x7f\ud800-\udfff]")


def annotations_of(corpus: Corpus) -> Annotations:
    """Spans of each (document, annotator) that there is, by text, start and end."""
    pairs = np.stack([corpus.annotation_document, corpus.annotation_annotator], axis=1)
    found: Annotations = {(document, annotator): [] for document, annotator in pairs.tolist()}
    order = np.lexsort((corpus.span_label, corpus.span_end, corpus.span_start, corpus.span_text))
    documents = corpus.text_document[corpus.span_text[order]]
    rows = np.stack([documents, corpus.span_annotator[order], order], axis=1)
    for document, annotator, span in rows.tolist():
        found[document, annotator].append(span)
    return found


def begins_of(corpus: Corpus, sizes: Ints, gap: int = 0) -> Ints:
    """Where each text begins in its document if the texts follow one another."""
    begins = np.cumsum(sizes + gap) - sizes - gap
    first = np.searchsorted(corpus.text_document, corpus.text_document)
    return np.asarray(begins - begins[first], dtype=np.int64)


def joined_texts(corpus: Corpus, texts: Sequence[str]) -> list[str]:
    """The text of each document."""
    parts: list[list[str]] = [[] for _ in corpus.documents]
    for document, text in zip(corpus.text_document.tolist(), texts, strict=True):
        parts[document].append(text)
    return ["\n".join(part) for part in parts]


def tokens_of(corpus: Corpus, texts: Sequence[str]) -> list[list[Interval]]:
    """The characters of each token of each text; by rule where positions are characters."""
    if corpus.positions == "characters":
        return [tokenized(text) for text in texts]
    if corpus.token_start is None or corpus.token_end is None:
        found = "the corpus does not know its tokens, only how many there are"
        raise DataError(found, remedy="read it from a format that has them, or write a table")
    pairs = list(zip(corpus.token_start.tolist(), corpus.token_end.tolist(), strict=True))
    ends = np.cumsum(corpus.text_length).tolist()
    return [pairs[start:end] for start, end in pairwise([0, *ends])]


def known_texts(corpus: Corpus, name: str) -> tuple[str, ...]:
    """The texts, refused if they are not known or positions are not in them."""
    if corpus.positions == "frames":
        raise DataError("positions are frames of time", expected=f"tokens or characters for {name}")
    if corpus.texts is None:
        found = f"{name} needs the texts, which this corpus does not know"
        raise DataError(found, remedy="read it from a format that has them, or write a table")
    return corpus.texts


def check_overlap(corpus: Corpus, spans: Sequence[int], remedy: Text) -> None:
    """Refuse spans of one annotator that share a position; they are sorted."""
    for last, span in pairwise(spans):
        is_same = corpus.span_text[last] == corpus.span_text[span]
        if is_same and corpus.span_start[span] < corpus.span_end[last]:
            other = corpus.span(last)
            raise OverlapError(
                *(*pieces(corpus.describe_span(span)), f" overlaps [{other.start}, {other.end}) "),
                Quote(other.label),
                " of the same annotator",
                remedy=remedy,
            )


def encoded(text: str, *name: Piece) -> bytes:
    """UTF-8, refused where no reader would take it."""
    try:
        data = text.encode("utf-8")
    except UnicodeEncodeError as error:
        half = Quote(text[error.start])
        found = (*name, " holds half of a character (", half, "), which UTF-8 cannot represent")
        raise DataError(*found, remedy="correct the text") from None
    if b"\0" in data:
        found = (*name, " holds a NUL character, which text cannot represent")
        raise DataError(*found, remedy="correct the text")
    return data


def file_name(kind: str, name: str, *, may_nest: bool = False) -> str:
    """A name, refused if no file can have it or if it would lie somewhere else."""
    parts = name.split("/") if may_nest else [name]
    is_safe = (
        all(part and not part.startswith(".") and part == part.strip() for part in parts)
        and str(PurePosixPath(name)) == name
        and not _IN_NO_NAME.search(name)
        and not PureWindowsPath(name).drive
        and ("/" not in name or may_nest)
    )
    if not is_safe:
        found = (f"{kind} ", Quote(name), " cannot be the name of a file")
        raise DataError(*found, remedy="rename it")
    return name


def by_annotator(
    corpus: Corpus, annotations: Annotations, ending: str, composed: Callable[[int], bytes]
) -> dict[str, bytes]:
    """A file for each annotator who annotated something."""
    people = sorted({annotator for _, annotator in annotations})
    stems = [file_name("annotator", corpus.annotators[annotator]) for annotator in people]
    return {f"{stem}.{ending}": composed(one) for stem, one in zip(stems, people, strict=True)}
