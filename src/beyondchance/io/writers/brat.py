"""brat's folders: a text and its annotations for each document of each annotator."""

from __future__ import annotations

import re

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError
from beyondchance.io.values import quoting
from beyondchance.io.writers.shared import (
    Annotations,
    Asked,
    Files,
    encoded,
    file_name,
    ids_of,
    whole_documents,
)
from beyondchance.messages import Quote

_BLANKS = re.compile(r"\s+")
_LINE_END = re.compile(r"[\r\n]")
_ID = re.compile("T[1-9][0-9]*")


def composed(corpus: Corpus, annotations: Annotations, path: str, asked: Asked) -> Files:
    """Write a text and its annotations for each document in the folder of each annotator."""
    del path, asked
    documents = whole_documents(corpus, "brat")
    contents = {}
    for document in dict.fromkeys(document for document, _ in annotations):
        data = encoded(documents.texts[document], "document ", Quote(corpus.documents[document]))
        # A reader takes the first mark for the encoding's, and the second for the text's.
        contents[document] = b"\xef\xbb\xbf" + data if data[:3] == b"\xef\xbb\xbf" else data
    for label in corpus.labels:
        if _BLANKS.search(label):
            found = quoting("label {} holds white space, which brat cannot represent", label)
            raise DataError(*found, remedy="rename it")
    files = {}
    for (document, annotator), spans in annotations.items():
        lines = []
        for name, index in zip(ids_of(corpus, spans, "T", _ID), spans, strict=True):
            place, words = _fragments(
                documents.texts[document], documents.start[index], documents.end[index]
            )
            lines.append(f"{name}\t{corpus.span(index).label} {place}\t{words}\n")
        name = corpus.documents[document]
        folder = file_name("annotator", corpus.annotators[annotator])
        stem = f"{folder}/{file_name('document', name, may_nest=True)}"
        files[f"{stem}.txt"] = contents[document]
        files[f"{stem}.ann"] = encoded("".join(lines), "document ", Quote(name))
    return files


def _fragments(text: str, start: int, end: int) -> tuple[str, str]:
    """Return offsets and words of a span, cut at line breaks, as brat does it."""
    edges = [start]
    for blanks in _BLANKS.finditer(text, start, end):
        if _LINE_END.search(blanks[0]):
            edges += blanks.span()
    edges.append(end)
    parts = list(zip(edges[::2], edges[1::2], strict=True))
    if any(first == last for first, last in parts):  # a line break at an edge is part of the span
        return f"{start} {end}", _LINE_END.sub(" ", text[start:end])
    place = ";".join(f"{first} {last}" for first, last in parts)
    return place, " ".join(text[first:last] for first, last in parts)
