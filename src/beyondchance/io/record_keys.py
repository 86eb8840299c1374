"""What records of many programs call the same things; the first that is there counts."""

from __future__ import annotations

TEXTS = (
    *("text", "full_text", "sentence", "content", "input", "raw_text", "raw", "body", "passage"),
    *("context", "source_text", "sourceText", "Text"),
)
IDS = ("id", "doc_id", "document_id", "docid", "uid", "guid", "_id")
ANNOTATORS = ("annotator", "annotator_id", "annotator_name", "annotated_by", "coder", "rater")
