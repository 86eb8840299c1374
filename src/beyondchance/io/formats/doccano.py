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
from beyondchance.messages import Text, Use, quotes
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
    if not _has_files(upload):
        return _looks_like_entries(upload.sources[0])
    if not upload.is_folder:
        archive = upload.sources[0]
        names = [name for name in names_in(archive) if _is_entries(Source(name))]
        heads = (head for head in heads_in(archive, names) if head.head.strip())
        return any(map(_looks_like_entries, islice(heads, 1)))
    files = [file for file in upload.sources if _is_entries(file) and file.head.strip()]
    return bool(files) and all(map(_looks_like_entries, files))


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, or an archive or folder with one file for each user."""
    if not _has_files(upload):
        source = upload.sources[0]
        if not source.text.strip():
            raise refusal(
                source.name, "the file is empty", expected="a JSON object for each document"
            )
        yield from _drafts_of(source, upload.annotator, reading)
        return
    files = []
    for file in _files(upload):
        if not _is_entries(file):
            reading.skipped[not_read("other files")] += 1
        elif file.stem == _NO_ANNOTATOR:
            n_entries = sum(1 for _ in rows_of(file))
            reading.skipped[left_out("documents of no annotator (unknown.jsonl)")] += n_entries
        else:
            files.append(file)
    if not files:
        raise refusal(
            upload.name, "holds no file of an annotator", expected="one .jsonl for each user"
        )
    for file in files:
        # Where all users share their work, no annotator is named in the archive.
        is_shared = len(files) == 1 and file.stem == _ALL_ANNOTATORS
        who = upload.annotator if is_shared else file.stem
        yield from _drafts_of(file, who, reading, is_own=not upload.is_folder)


# --- Files --------------------------------------------------------------------


def _has_files(upload: Upload) -> bool:
    return upload.is_folder or is_zip(upload.sources[0])


def _files(upload: Upload) -> list[Source]:
    """Return the files of a folder or an archive."""
    return upload.sources if upload.is_folder else members(upload.sources[0])


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
        raise refused(labels, f"{key!r}", where, _EXPECTED)
    reading.calls("labels_key", key)
    return [_as_object(value, at) for at, value in numbered(labels, where, _SHAPE.kind)]


def _as_object(value: Any, where: Text) -> Item:
    """Return a label, which may be three values, as an object with names for them."""
    if isinstance(value, list) and len(value) == len(_PARTS):
        return dict(zip(_PARTS, value, strict=True))
    if not _is_label(value):
        raise refused(value, "it", where, _EXPECTED)
    return value  # type: ignore[no-any-return]


def _is_label(value: Any) -> bool:
    if isinstance(value, list):
        return len(value) == len(_PARTS)
    return isinstance(value, dict) and all(part in value for part in _PARTS)


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
    return all(isinstance(item, str) or _is_label(item) for item in first[keys[0]])
