"""What records of many programs call the same things; the first that is there counts."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

TEXTS = (
    *("text", "full_text", "sentence", "content", "input", "raw_text", "raw", "body", "passage"),
    *("context", "source_text", "sourceText", "Text"),
)
IDS = ("id", "doc_id", "document_id", "docid", "uid", "guid", "_id")
ANNOTATORS = ("annotator", "annotator_id", "annotator_name", "annotated_by", "coder", "rater")


def has_text(record: Mapping[str, Any]) -> bool:
    """Whether a record has a text."""
    return any(isinstance(record.get(key), str) for key in TEXTS)
