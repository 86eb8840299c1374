"""LangExtract: JSON lines of documents with the extractions of a language model."""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from typing import Any

from beyondchance.io.conventions import other_words
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import first_row, rows_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.values import (
    identifier,
    label_of,
    listed,
    object_of,
    string_of,
    whole,
)
from beyondchance.messages import Use
from beyondchance.tallies import left_out, no_spans, not_annotated, unsure

_EXACT = "match_exact"
_GENERATED = re.compile(r"doc_[0-9a-f]{8}")
"""A document that was given no name gets one by chance, another one in each run."""


def is_format(upload: Upload) -> bool:
    """Whether the first object is a document with extractions."""
    if upload.data is not None or upload.is_folder:
        return False
    row = first_row(upload.sources[0])
    if row is None or not isinstance(row.get("extractions", 0), list | None):
        return False
    first = next(iter(row["extractions"] or ()), None)
    if isinstance(first, dict):
        # Without a place at all, null or not, they are the quotes of a model.
        has_place = "char_interval" in first or "alignment_status" in first
        return has_place and ("extraction_class" in first or "extraction_text" in first)
    return first is None and "document_id" in row and "text" in row


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents of one run, which is one annotator."""
    source = upload.sources[0]
    for where, number, row in rows_of(source):
        item = object_of(row, where)
        text = string_of(item, "text", where, "the text of the document")
        if item.get("extractions") is None:
            reading.skipped[not_annotated("documents")] += 1
            continue
        name = identifier(item, "document_id", where) or str(number)
        if _GENERATED.fullmatch(name) and reading.options["match"] == "id":
            reading.note(
                "names of documents such as doc_1a2b3c4d are made by LangExtract and differ "
                "between runs (",
                Use("match", "text"),
                " matches documents by their texts)",
                where=source.name,
            )
        extractions = enumerate(listed(item, "extractions", where), start=1)
        spans = [
            _span(value, f"{where}, extraction {n}", text, reading) for n, value in extractions
        ]
        yield Draft(
            where=where,
            document=name,
            annotator=upload.annotator,
            text=text,
            spans=[span for span in spans if span is not None],
        )


def _span(value: Any, where: str, text: str, reading: Reading) -> DraftSpan | None:
    """One extraction; None if it was not found in the text."""
    item = object_of(value, where)
    label = label_of(item.get("extraction_class"), where, "'extraction_class'")
    words = string_of(item, "extraction_text", where)
    if isinstance(attributes := item.get("attributes"), dict) and attributes:
        reading.skipped[no_spans("attributes")] += len(attributes)
    place = _interval(item, where)
    if place is None:
        reading.skipped[left_out("extractions without a place")] += 1
        return None
    start, end = place
    is_same = _plain(text[start:end]) == _plain(words)
    is_exact = item.get("alignment_status") == _EXACT
    if not is_same and not is_exact:
        what = unsure("extractions placed where the text has other words")
        named = DraftSpan(start, end, label).named
        refusal = partial(other_words, named, text[start:end], words, where)
        reading.mend("stored_words", what, refusal)
    # LangExtract compares words in lower case, and whatever white space is between them.
    return DraftSpan(start, end, label, words if is_exact and not is_same else None, where=where)


def _interval(item: Mapping[str, Any], where: str) -> tuple[int, int] | None:
    found = item.get("char_interval")
    if found is None:
        return None
    places = object_of(found, where, "'char_interval'")
    start, end = places.get("start_pos"), places.get("end_pos")
    if start is None and end is None:
        return None
    return whole(start, "'start_pos'", where), whole(end, "'end_pos'", where)


def _plain(words: str) -> str:
    return "".join(words.split()).lower()
