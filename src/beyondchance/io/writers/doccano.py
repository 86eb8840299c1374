"""doccano's JSONL: an object for each document of one annotator."""

from __future__ import annotations

from collections.abc import Sequence
from typing import Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.io.offsets import length_of, offsets_at
from beyondchance.io.writers.shared import (
    NUMBER,
    Annotations,
    Asked,
    Documents,
    Files,
    about,
    encoded,
    for_each_or_all,
    ids_of,
    json_lines,
    number_or_name,
    whole_documents,
)


def composed(corpus: Corpus, annotations: Annotations, path: str, asked: Asked) -> Files:
    """Compose a file of the only annotator, or one for each in a folder."""
    documents = whole_documents(corpus, "doccano")

    def lines(annotators: Sequence[int]) -> bytes:
        rows = (
            _row(corpus, documents, document, spans, asked)
            for (document, who), spans in annotations.items()
            if who in annotators
        )
        return encoded(json_lines(rows), "the export")

    return for_each_or_all(corpus, annotations, path, "jsonl", lines, alone="file of doccano")


def _row(
    corpus: Corpus, documents: Documents, document: int, spans: list[int], asked: Asked
) -> dict[str, Any]:
    """Return a document and its labels: three values each, or objects if they have ids."""
    text = documents.texts[document]
    offset = offsets_at(text)
    labels: list[Any] = [
        [offset[documents.start[index]], offset[documents.end[index]], corpus.span(index).label]
        for index in spans
    ]
    key = corpus.origin.get("labels_key", "label")
    has_ids = corpus.span_id is not None and "labels_key" in corpus.origin
    if has_ids:
        keys = ("id", "start_offset", "end_offset", "label")
        ids = map(int, ids_of(corpus, spans, kind=NUMBER))
        labels = [
            dict(zip(keys, (name, *label), strict=True))
            for name, label in zip(ids, labels, strict=True)
        ]
    row: dict[str, Any] = {
        "id": number_or_name(corpus.documents[document]), "text": text, key: labels
    }  # fmt: skip
    if fields := about(corpus, document, asked.notes):
        row["meta"] = fields
    if length_of(text, "utf16") > len(text) and not has_ids:
        # Only what doccano itself writes says what offsets count, which differs here.
        row["Comments"] = []
    return row
