"""doccano's JSONL: an object for each document of one annotator."""

from __future__ import annotations

from functools import partial
from typing import Any

from beyondchance.io.offsets import length_of, offsets_at
from beyondchance.io.writers.shared import NUMBER, Documents, Export, Files, number_or_name


def composed(export: Export) -> Files:
    """Compose a file of the only annotator, or one for each in a folder."""
    row = partial(_row, export, export.documents())
    return export.json_lines(row, "the export", alone="file of doccano")


def _row(
    export: Export, documents: Documents, pair: tuple[int, int], spans: list[int]
) -> dict[str, Any]:
    """Return a document and its labels: three values each, or objects if they have ids."""
    corpus, (document, _) = export.corpus, pair
    text = documents.texts[document]
    offset = offsets_at(text)
    labels: list[Any] = [
        [*(offset[place] for place in documents.places[index]), documents.labels[index]]
        for index in spans
    ]
    key = corpus.origin.get("labels_key", "label")
    has_ids = corpus.span_id is not None and "labels_key" in corpus.origin
    if has_ids:
        keys = ("id", "start_offset", "end_offset", "label")
        ids = map(int, export.ids_of(spans, kind=NUMBER))
        labels = [
            dict(zip(keys, (name, *label), strict=True))
            for name, label in zip(ids, labels, strict=True)
        ]
    row: dict[str, Any] = {
        "id": number_or_name(corpus.documents[document]), "text": text, key: labels
    }  # fmt: skip
    if fields := export.about(document):
        row["meta"] = fields
    for name, places in export.places_of(documents, document).items():
        row[name] = [[offset[start], offset[end]] for start, end in places]
    if length_of(text, "utf16") > len(text) and not has_ids:
        # Only what doccano itself writes says what offsets count, which differs here.
        row["Comments"] = []
    return row
