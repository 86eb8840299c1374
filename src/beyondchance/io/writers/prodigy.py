"""Prodigy's JSONL: a task for each document of each annotator."""

from __future__ import annotations

from bisect import bisect_left, bisect_right
from functools import partial
from itertools import chain
from typing import Any

from beyondchance.io.formats.prodigy import DOCUMENT
from beyondchance.io.offsets import Interval
from beyondchance.io.shapes import WRITTEN
from beyondchance.io.writers.shared import Documents, Export, Files, number_or_name


def composed(export: Export) -> Files:
    """Compose a file with the tasks of all annotators, or one for each in a folder."""
    return export.json_lines(partial(_task, export, export.documents()), "the tasks")


def _task(
    export: Export, documents: Documents, pair: tuple[int, int], spans: list[int]
) -> dict[str, Any]:
    """Return the task that one annotator accepted."""
    corpus, (document, annotator) = export.corpus, pair
    text, name = documents.texts[document], corpus.documents[document]
    places = [documents.places[index] for index in spans]
    marked: list[dict[str, Any]] = [
        {"start": start, "end": end, "label": documents.labels[index]}
        for (start, end), index in zip(places, spans, strict=True)
    ]
    task: dict[str, Any] = {"text": text}
    if fields := export.about(document):
        task["meta"] = fields
    if corpus.origin.get("document_key") == "_input_hash":
        task["_input_hash"] = int(name) if name.removeprefix("-").isdecimal() else name
    else:
        task[DOCUMENT] = number_or_name(name)
    if export.has_sentences:
        task[WRITTEN["sentences"]] = documents.sentences[document]
    if documents.tokens is not None:
        tokens = list(chain.from_iterable(documents.tokens[document]))
        task["tokens"] = _tokens(text, tokens)
        starts, ends = [s for s, _ in tokens], [e for _, e in tokens]
        for span, (start, end) in zip(marked, places, strict=True):
            # The last token is part of the span.
            span["token_start"] = bisect_right(ends, start)
            span["token_end"] = bisect_left(starts, end) - 1
    who = corpus.annotators[annotator]
    return {**task, "_session_id": who, "_annotator_id": who, "spans": marked, "answer": "accept"}


def _tokens(text: str, tokens: list[Interval]) -> list[dict[str, Any]]:
    """Return tokens as Prodigy has them, with whether white space follows."""
    return [
        {
            "text": text[start:end],
            "start": start,
            "end": end,
            "id": number,
            "ws": text[end : end + 1].isspace(),
        }
        for number, (start, end) in enumerate(tokens)
    ]
