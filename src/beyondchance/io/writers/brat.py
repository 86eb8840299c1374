"""brat's folders: a text and its annotations for each document of each annotator."""

from __future__ import annotations

import re

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError
from beyondchance.io.values import quoting
from beyondchance.io.writers.shared import (
    Annotations,
    Files,
    begins_of,
    encoded,
    file_name,
    joined_texts,
    known_texts,
    tokens_of,
)
from beyondchance.messages import Quote

_BLANKS = re.compile(r"\s+")
_LINE_END = re.compile(r"[\r\n]")


def composed(corpus: Corpus, annotations: Annotations, path: str, spans_key: str | None) -> Files:
    """A text and its annotations for each document in the folder of each annotator."""
    del path, spans_key
    texts = known_texts(corpus, "brat")
    tokens = tokens_of(corpus, texts) if corpus.positions == "tokens" else None
    begins = begins_of(corpus, np.array([len(text) for text in texts], dtype=np.int64), gap=1)
    joined = joined_texts(corpus, texts)
    contents = {}
    for document in dict.fromkeys(document for document, _ in annotations):
        data = encoded(joined[document], "document ", Quote(corpus.documents[document]))
        # A reader takes the first mark for the encoding's, and the second for the text's.
        contents[document] = b"\xef\xbb\xbf" + data if data[:3] == b"\xef\xbb\xbf" else data
    for label in corpus.labels:
        if _BLANKS.search(label):
            found = quoting("label {} holds white space, which brat cannot represent", label)
            raise DataError(*found, remedy="rename it")
    files = {}
    for (document, annotator), spans in annotations.items():
        lines = []
        for number, index in enumerate(spans, start=1):
            text = int(corpus.span_text[index])
            span = corpus.span(index)
            start, end = span.start, span.end
            if tokens is not None:
                start, end = tokens[text][start][0], tokens[text][end - 1][1]
            first = int(begins[text])
            place, words = _fragments(joined[document], first + start, first + end)
            lines.append(f"T{number}\t{span.label} {place}\t{words}\n")
        name = corpus.documents[document]
        folder = file_name("annotator", corpus.annotators[annotator])
        stem = f"{folder}/{file_name('document', name, may_nest=True)}"
        files[f"{stem}.txt"] = contents[document]
        files[f"{stem}.ann"] = encoded("".join(lines), "document ", Quote(name))
    return files


def _fragments(text: str, start: int, end: int) -> tuple[str, str]:
    """Offsets and words of a span, cut at line breaks, as brat does it."""
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
