"""brat's folders: a text and its annotations for each document of each annotator."""

from __future__ import annotations

import re

from beyondchance.io.writers.shared import Export, Files, encoded
from beyondchance.messages import Quote

_BLANKS = re.compile(r"\s+")
_LINE_END = re.compile(r"[\r\n]")
_ID = re.compile("T[1-9][0-9]*")


def composed(export: Export) -> Files:
    """Write a text and its annotations for each document in the folder of each annotator."""
    documents = export.documents()
    contents = {}
    for document in dict.fromkeys(document for document, _ in export.annotations):
        data = encoded(documents.texts[document], *export.named(document))
        # A reader takes the first mark for the encoding's, and the second for the text's.
        contents[document] = b"\xef\xbb\xbf" + data if data[:3] == b"\xef\xbb\xbf" else data
    for label in export.corpus.labels:
        if _BLANKS.search(label):
            raise export.unfit("label ", Quote(label), " holds white space", remedy="rename it")
    files = {}
    for pair, spans in export.annotations.items():
        document, _ = pair
        lines = []
        for name, index in zip(export.ids_of(spans, "T", _ID), spans, strict=True):
            place, words = _fragments(documents.texts[document], *documents.places[index])
            lines.append(f"{name}\t{documents.labels[index]} {place}\t{words}\n")
        stem = export.stem_of(*pair)
        files[f"{stem}.txt"] = contents[document]
        files[f"{stem}.ann"] = encoded("".join(lines), *export.named(document))
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
