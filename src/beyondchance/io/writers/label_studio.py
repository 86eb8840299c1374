"""Label Studio's JSON: a task for each document, with the annotations of all annotators."""

from __future__ import annotations

import json
from typing import Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import DataError
from beyondchance.io.formats.label_studio import DOCUMENT, NOTE
from beyondchance.io.writers.shared import NUMBER, Documents, Export, Files, encoded, number_or_name
from beyondchance.messages import Quote


def composed(export: Export) -> Files:
    """Compose a list of tasks, as Label Studio imports it."""
    documents = export.documents()
    tasks: dict[int, dict[str, Any]] = {}
    kind = "predictions" if export.as_predictions else "annotations"
    for (document, annotator), spans in export.annotations.items():
        if document not in tasks:
            task = _task(export, document, documents.texts[document])
            task["data"] |= export.places_of(documents, document)
            tasks[document] = task
        results = _results(export, documents, document, spans)
        who = _who(export.corpus, annotator, is_model=export.as_predictions)
        tasks[document][kind].append({**who, "result": results})
    lines = ",\n".join(json.dumps(task, ensure_ascii=False) for task in tasks.values())
    return encoded(f"[\n{lines}\n]\n", "the tasks")


def _task(export: Export, document: int, text: str) -> dict[str, Any]:
    """Return a task without annotations: its number or name, its text and its fields."""
    name, origin = export.corpus.documents[document], export.corpus.origin
    fields, note = export.fields_of(document), export.notes.get(name)
    # Label Studio numbers tasks itself; a name stays only as a part of the data.
    number = {"id": int(name)} if NUMBER.fullmatch(name) else {}
    others = {} if number else {DOCUMENT: name}
    others |= {} if note is None else {NOTE: note}
    key = origin.get("text_key", "text")
    if key in others:
        raise DataError(
            *("the text of document ", Quote(name), f" is {key!r} in the data of its task"),
            ", and so would something else be",
            remedy="leave out the notes, or call the text 'text': replace(corpus, origin={})",
        )
    data = {key: text, **others}
    if "text_key" in origin:
        # They are from the data of tasks, where a project may show them.
        data, fields = {**fields, **data}, {}
    meta = {"meta": fields} if fields else {}
    return {**number, "data": data, **meta, "annotations": [], "predictions": []}


def _who(corpus: Corpus, annotator: int, *, is_model: bool) -> dict[str, Any]:
    """Return the annotator, as far as Label Studio lets an import name one.

    It takes numbers and e-mail addresses of its users and refuses other names under the key
    ``completed_by``. Without that key, the annotation is of whoever imports it.
    """
    name = corpus.annotators[annotator]
    if is_model:
        return {"model_version": name}
    known = number_or_name(name)
    who: dict[str, Any] = {"completed_by": known}
    if isinstance(known, str):
        who = {"completed_by": {"email": name}} if "@" in name else {"annotator": name}
    # By default an import marks everything as ground truth.
    return {**who, "ground_truth": name == corpus.gold}


def _results(
    export: Export, documents: Documents, document: int, spans: list[int]
) -> list[dict[str, Any]]:
    """Return a region for each span; labels that the source gave to one stay together."""
    regions: dict[tuple[str | int, int, int], list[int]] = {}
    ids, origin = export.corpus.span_id, export.corpus.origin
    for index in spans:
        own = "" if ids is None else ids[index]
        regions.setdefault((own or index, *documents.places[index]), []).append(index)
    names = export.ids_of([members[0] for members in regions.values()], "span-")
    return [
        {
            "id": name,
            "from_name": origin.get("from_name", "label"),
            "to_name": origin.get("to_name", "text"),
            "type": "labels",
            "value": {
                "start": start,
                "end": end,
                "text": documents.texts[document][start:end],
                "labels": [documents.labels[index] for index in members],
            },
        }
        for name, ((_, start, end), members) in zip(names, regions.items(), strict=True)
    ]
