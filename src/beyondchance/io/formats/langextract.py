"""LangExtract: JSON lines of documents with the extractions of a language model."""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from itertools import chain

from beyondchance.io.conventions import bare, other_words
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import head_row
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.shapes import Row, Shape, all_rows
from beyondchance.messages import Use
from beyondchance.tallies import left_out, no_spans, not_annotated, unsure

_GENERATED = re.compile(r"doc_[0-9a-f]{8}")
"""A document that was given no name gets one by chance, another one in each run."""


def is_format(upload: Upload) -> bool:
    """Return whether the first object is a document with extractions."""
    if upload.is_folder:
        return False
    row = head_row(upload.sources[0])
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
    drafts = (_SHAPE.drafts(row, upload.annotator, reading) for row in all_rows(upload))
    for draft in chain.from_iterable(drafts):
        if _GENERATED.fullmatch(draft.document) and reading.options["match"] == "id":
            reading.note(
                "names of documents such as doc_1a2b3c4d are made by LangExtract and differ "
                "between runs (",
                Use("match", "text"),
                " matches documents by their texts)",
                where=upload.name,
            )
        yield draft


def _checked(row: Row, span: DraftSpan, text: str, reading: Reading) -> DraftSpan:
    """Keep the words to be checked if LangExtract says that they are those of the text."""
    covered = text[span.start : span.end]
    # It compares words in lower case, and whatever white space is between them.
    is_same = bare(covered).lower() == bare(span.surface or "").lower()
    if not is_same and row.at("alignment_status") == "match_exact":
        return span
    if not is_same:
        what = unsure("extractions placed where the text has other words")
        refusal = partial(other_words, span.named, covered, span.surface, span.where)
        reading.mend("stored_words", what, refusal)
    return replace(span, surface=None)


_SHAPE = Shape(
    documents=("document_id",),
    spans="extractions",
    kind="extraction",
    start="char_interval.start_pos",
    end="char_interval.end_pos",
    label="extraction_class",
    words="extraction_text",
    needs_words=True,
    not_spans={"attributes": no_spans("attributes")},
    unplaced=left_out("extractions without a place"),
    unannotated=not_annotated("documents"),
    checked=_checked,
)
