"""Shapes of records that are known, asked for, or guessed."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import Any

from beyondchance.errors import OptionError
from beyondchance.io.shapes import Shape
from beyondchance.messages import given
from beyondchance.tallies import no_spans

_RELATIONS = no_spans("relations")
_GLINER = Shape(
    tokens="tokenized_text", spans="ner", start="0", end="1", label="2", ends="inclusive"
)
KNOWN = (
    _GLINER,
    # DyGIE++, as SciERC: offsets count the words of the document
    replace(
        _GLINER,
        tokens="sentences.*",
        spans="ner.*",
        documents=("doc_key",),
        not_spans={
            "relations.*": _RELATIONS,
            "clusters": no_spans("clusters"),
            "events.*": no_spans("events"),
        },
    ),
    # SpERT
    Shape(
        tokens="tokens",
        spans="entities",
        label="type",
        documents=("orig_id",),
        not_spans={"relations": _RELATIONS},
    ),
    # Dataturks
    Shape(
        texts=("content",),
        spans="annotation",
        start="points.*.start",
        end="points.*.end",
        words="points.*.text",
        ends="inclusive",
    ),
    # LightTag
    Shape(
        texts=("content",),
        documents=("example_id",),
        annotators=("seen_by.*.annotator",),
        spans="annotations",
        label="tag",
        words="value",
        annotator="annotated_by.*.annotator",
        not_spans={"classifications": no_spans("categories of whole texts")},
    ),
    # Amazon Comprehend
    Shape(
        texts=(),
        documents=("File",),
        line="Line",
        spans="Entities",
        start="BeginOffset",
        end="EndOffset",
        label="Type",
    ),
)
"""Shapes of popular files."""


def known_shape(records: Sequence[Any]) -> Shape | None:
    """Return the known shape of records: some have all of it, or all of them what is not spans."""
    for shape in KNOWN:
        found = [shape.fits(record) for record in records]
        if any(found) or (found and False not in found):
            return shape
    return None


_RECORD = {"text": "texts", "document": "documents", "annotator": "annotators"}
_KEYS = (*("records", *_RECORD, "line", "tokens", "spans", "start", "end", "label", "words"),)


def shape_of(fields: object) -> Shape:
    """Return the shape that the option ``fields`` describes.

    Examples
    --------
    >>> shape = shape_of("text=content,spans=annotation,start=points.0.start")
    >>> shape.texts, shape.start, shape.end
    (('content',), 'points.0.start', 'end')
    """
    parts = (part.partition("=")[::2] for part in str(fields).split(","))
    pairs = fields.items() if isinstance(fields, Mapping) else parts
    known = {str(key).strip(): str(path).strip() for key, path in pairs}
    if not known.keys() <= set(_KEYS) or {"text", "tokens"} <= known.keys():
        expected = f"KEY=PATH, separated by commas, for some of {', '.join(_KEYS)}; text or tokens"
        raise OptionError(*given("fields", fields), expected=expected)
    asked: dict[str, Any] = {**known, "has_numbers": True}
    asked |= {
        ours: (asked.pop(key),) * bool(known[key]) for key, ours in _RECORD.items() if key in known
    }
    return Shape(**asked, annotator=known.get("annotator", ""))
