"""doccano: one JSON object for each document, in a file or in one file for each user."""

from __future__ import annotations

from collections.abc import Iterator
from itertools import islice
from typing import Any

from beyondchance.io.drafts import Draft
from beyondchance.io.json_rows import head_rows, rows_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.shapes import Item, Row, Shape, numbered, rows
from beyondchance.io.sources import Source, heads_in, is_zip, members, names_in
from beyondchance.io.values import refusal, refused, shown
from beyondchance.messages import Use, quotes
from beyondchance.tallies import left_out, no_spans, not_annotated, not_read

# Files that are not named after an annotator: of no annotator, and of all together.
_NO_ANNOTATOR = "unknown"
_ALL_ANNOTATORS = "all"
_LABELS = ("label", "labels", "entities")
_PARTS = ("start_offset", "end_offset", "label")
_EXPECTED = ("[start, end, label] or an object with ", *quotes(_PARTS))
# What only doccano's own exports have; other programs write texts with labels in the same way.
_OWN = frozenset({"Comments", "annotation_approver"})
# What objects of other formats have, and doccano's never.
_FOREIGN = frozenset({"annotator", "annotation_id", "completed_by", "spans", "tokens"})


def is_format(upload: Upload) -> bool:
    """Return whether the first object is a text with labels; in a folder, of every file."""
    first = upload.sources[0]
    if upload.is_folder:
        files = [file for file in upload.sources if _is_entries(file) and file.head.strip()]
        return bool(files) and all(map(_looks_like_entries, files))
    if is_zip(first):
        names = [name for name in names_in(first) if _is_entries(Source(name))]
        heads = (head for head in heads_in(first, names) if head.head.strip())
        return any(map(_looks_like_entries, islice(heads, 1)))
    return _looks_like_entries(first)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, or an archive or folder with one file for each user."""
    first, files = upload.sources[0], []
    if not (upload.is_folder or is_zip(first)):
        if not first.text.strip():
            expected = "a JSON object for each document"
            raise refusal(first.name, "the file is empty", expected=expected)
        yield from _drafts_of(first, upload.annotator, reading)
        return
    for file in upload.sources if upload.is_folder else members(first):
        if not _is_entries(file):
            reading.skipped[not_read("other files")] += 1
        elif file.stem == _NO_ANNOTATOR:
            n_entries = sum(1 for _ in rows_of(file))
            reading.skipped[left_out("documents of no annotator (unknown.jsonl)")] += n_entries
        else:
            files.append(file)
    if not files:
        expected = "one .jsonl for each user"
        raise refusal(upload.name, "holds no file of an annotator", expected=expected)
    for file in files:
        # Where all users share their work, no annotator is named in the archive.
        is_shared = len(files) == 1 and file.stem == _ALL_ANNOTATORS
        who = upload.annotator if is_shared else file.stem
        yield from _drafts_of(file, who, reading, is_own=not upload.is_folder)


# --- Files --------------------------------------------------------------------


def _is_entries(source: Source) -> bool:
    """Return whether a file of an archive is one that doccano writes, by its name."""
    path = source.posix_path
    is_hidden = path.name.startswith(".") or "__MACOSX" in path.parts
    return path.suffix.lower() in {".jsonl", ".json"} and not is_hidden


# --- Objects ------------------------------------------------------------------


def _is_own(value: dict[str, Any]) -> bool:
    """Return whether an object is certainly doccano's, so that offsets count UTF-16 units."""
    items = (item for key in _LABELS if isinstance(value.get(key), list) for item in value[key])
    return not _OWN.isdisjoint(value) or any(isinstance(item, dict) for item in items)


_SHAPE = Shape(
    texts=("text", "data"),
    documents=("id",),
    kind="label",
    start="start_offset",
    end="end_offset",
    id="id",
    fields="meta",
    not_spans={
        "relations": no_spans("relations"),
        "cats": no_spans("categories"),
        "Comments": no_spans("comments"),
        "comments": no_spans("comments"),
    },
    offsets="utf16",
    empty=not_annotated("documents without labels", " left out as not annotated"),
)
_FROM_OTHERS = _SHAPE._replace(
    units=(
        *("pass ", Use("offsets", "utf16"), " for an export of doccano, or "),
        *(Use("offsets", "codepoints"), " for spans that a program made"),
    ),
)
"""What other programs write in the shape of doccano."""


def _drafts_of(
    source: Source, annotator: str, reading: Reading, *, is_own: bool = False
) -> Iterator[Draft]:
    """Read what one annotator did."""
    found = list(rows(source))
    is_own |= reading.asked_format == "doccano" or any(_is_own(row.item) for row in found)
    shape = _SHAPE if is_own else _FROM_OTHERS
    for row in found:
        for draft in shape.drafts(row, annotator, reading, _labels(row, reading)):
            if not draft.spans:
                note = "documents without labels count as annotated without a span ("
                reading.note(note, Use("empty", "missing"), " leaves them out)")
            yield draft


def _labels(row: Row, reading: Reading) -> list[Any]:
    """Return the list of labels, under whichever name, as objects."""
    where, item = row.where, row.item
    keys = [key for key in _LABELS if key in item]
    if len(keys) != 1:
        numbers = ", but annotations with numbers for labels" if "annotations" in item else ""
        raise refusal(
            where,
            "has labels under {}",
            quotes(keys, none=f"no key{numbers}"),
            expected=("them under one of ", *quotes(_LABELS)),
            remedy="export a sequence labelling project as JSONL with text labels",
        )
    (key,) = keys
    labels = item[key]
    if any(isinstance(one, str) for one in (labels if isinstance(labels, list) else [labels])):
        raise refusal(
            where,
            f"{key!r} is {{}}, labels of a whole text (text classification)",
            (shown(labels),),
            expected="spans [start, end, label]",
            remedy="export a sequence labelling project",
        )
    if not isinstance(labels, list):
        raise row.refused(key, _EXPECTED)
    reading.calls("labels_key", key)
    found = list(map(_as_object, labels))
    if None in found:
        ((at, value), *_) = islice(numbered(labels, where, _SHAPE.kind), found.index(None), None)
        raise refused(value, "it", at, _EXPECTED)
    return found


def _as_object(value: Any) -> Item | None:
    """Return a label, which may be three values, as an object with names for them, if it is one."""
    if isinstance(value, list) and len(value) == len(_PARTS):
        return dict(zip(_PARTS, value, strict=True))
    return value if isinstance(value, dict) and value.keys() >= set(_PARTS) else None


# --- Detection ----------------------------------------------------------------


def _looks_like_entries(source: Source) -> bool:
    """Return whether the objects of a file are doccano's, by the first that has labels."""
    found = [
        row for row in head_rows(source, ("id", *_SHAPE.texts, *_LABELS)) if isinstance(row, dict)
    ]
    labelled = (row for row in found if any(row.get(key) for key in _LABELS))
    first = next(labelled, found[0] if found else {})
    keys = [key for key in _LABELS if isinstance(first.get(key), list)]
    has_text = any(isinstance(first.get(key), str) for key in _SHAPE.texts)
    if not has_text or len(keys) != 1 or _FOREIGN & first.keys():
        return False
    # Labels of whole texts are doccano's too, and refused with a reason.
    return all(isinstance(item, str) or _as_object(item) is not None for item in first[keys[0]])
