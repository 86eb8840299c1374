"""doccano: one JSON object for each document, in a file or in one file for each user."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.columns import named_fields
from beyondchance.io.conventions import check_unit
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import head_values, rows_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.sources import Source, is_zip, members
from beyondchance.io.values import (
    identifier,
    label_of,
    object_of,
    refused,
    shown,
    string_of,
    whole,
)
from beyondchance.messages import Use
from beyondchance.tallies import left_out, no_spans, not_annotated, not_read

_OBJECT = re.compile(r"\s*(?:\[\s*)?\{")
# Files that are not named after an annotator: of no annotator, and of all together.
_NO_ANNOTATOR = "unknown"
_ALL_ANNOTATORS = "all"
_TEXTS = ("text", "data")
_LABELS = ("label", "labels", "entities")
_IGNORED = {
    "relations": no_spans("relations"),
    "cats": no_spans("categories"),
    "Comments": no_spans("comments"),
    "comments": no_spans("comments"),
}
# What only doccano's own exports have; other programs write texts with labels in the same way.
_OWN = frozenset({"Comments", "annotation_approver"})
# What objects of other formats have, and doccano's never.
_FOREIGN = frozenset({"annotator", "annotation_id", "completed_by", "spans", "tokens"})


def is_format(upload: Upload) -> bool:
    """Whether the first object is a text with labels; in a folder, of every file."""
    if upload.data is not None:
        return False
    if upload.is_folder:
        files = [file for file in upload.sources if _is_entries(file) and file.head.strip()]
        return bool(files) and all(_looks_like_entries(file) for file in files)
    source = upload.sources[0]
    return _holds_entries(source) if is_zip(source) else _looks_like_entries(source)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, or an archive or folder with one file for each user."""
    source = upload.sources[0]
    if not upload.is_folder and not is_zip(source):
        if not source.text.strip():
            expected = "a JSON object for each document"
            raise FormatError("the file is empty", where=source.name, expected=expected)
        yield from _drafts_of(source, upload.annotator, reading)
        return
    files = list(_files(upload, reading))
    if not files:
        expected = "one .jsonl for each user"
        raise FormatError("holds no file of an annotator", where=upload.name, expected=expected)
    for file in files:
        # Where all users share their work, no annotator is named in the archive.
        is_shared = len(files) == 1 and file.stem == _ALL_ANNOTATORS
        who = upload.annotator if is_shared else file.stem
        yield from _drafts_of(file, who, reading, is_own=not upload.is_folder)


# --- Files --------------------------------------------------------------------


def _is_entries(source: Source) -> bool:
    """Whether a file of an archive is one that doccano writes, by its name."""
    path = source.posix_path
    is_hidden = path.name.startswith(".") or "__MACOSX" in path.parts
    return path.suffix.lower() in {".jsonl", ".json"} and not is_hidden


def _files(upload: Upload, reading: Reading) -> Iterator[Source]:
    """The files of an archive or folder that belong to an annotator."""
    for file in upload.sources if upload.is_folder else members(upload.sources[0]):
        if not _is_entries(file):
            reading.skipped[not_read("other files")] += 1
        elif file.stem == _NO_ANNOTATOR:
            n_entries = sum(1 for _ in rows_of(file))
            reading.skipped[left_out("documents of no annotator (unknown.jsonl)")] += n_entries
        else:
            yield file


# --- Objects ------------------------------------------------------------------


_UNITS = (
    *("pass ", Use("offsets", "utf16"), " for an export of doccano, or "),
    *(Use("offsets", "codepoints"), " for spans that a program made"),
)


def _is_own(value: dict[str, Any]) -> bool:
    """Whether an object is certainly doccano's, so that offsets count UTF-16 units."""
    items = (item for key in _LABELS if isinstance(value.get(key), list) for item in value[key])
    return not _OWN.isdisjoint(value) or any(isinstance(item, dict) for item in items)


def _drafts_of(
    source: Source, annotator: str, reading: Reading, *, is_own: bool = False
) -> Iterator[Draft]:
    """What one annotator did."""
    rows = [(where, number, object_of(item, where)) for where, number, item in rows_of(source)]
    is_own = (
        is_own or reading.asked_format == "doccano" or any(_is_own(value) for *_, value in rows)
    )
    for where, number, value in rows:
        text = _text(value, where)
        labels = enumerate(_labels(value, where, reading), start=1)
        spans = [_span(label, f"{where}, label {place}") for place, label in labels]
        if not is_own and reading.options["offsets"] is None:
            check_unit(text, spans, where, _UNITS)
        for key, kind in _IGNORED.items():
            if isinstance(value.get(key), list) and value[key]:
                reading.skipped[kind] += len(value[key])
        if not spans and reading.options["empty"] == "missing":
            reading.skipped[
                not_annotated("documents without labels", " left out as not annotated")
            ] += 1
            continue
        if not spans:
            note = "documents without labels count as annotated without a span ("
            reading.note(note, Use("empty", "missing"), " leaves them out)")
        yield Draft(
            where=where,
            document=identifier(value, "id", where) or str(number),
            annotator=annotator,
            text=text,
            spans=spans,
            offsets="utf16",
            fields=named_fields(value.get("meta")),
        )


def _text(value: dict[str, Any], where: str) -> str:
    key = next((key for key in _TEXTS if key in value), None)
    if key is None:
        expected = "the characters of the document under 'text' or 'data'"
        raise FormatError("has no text", where=where, expected=expected)
    return string_of(value, key, where)


def _labels(value: dict[str, Any], where: str, reading: Reading) -> list[Any]:
    """The list of labels, under whichever name."""
    keys = [key for key in _LABELS if key in value]
    if not keys:
        is_numbered = "annotations" in value
        raise FormatError(
            f"has no labels{', but annotations with numbers for labels' if is_numbered else ''}",
            where=where,
            expected="labels under 'label', 'labels' or 'entities'",
            remedy="export a sequence labelling project as JSONL with text labels",
        )
    if len(keys) > 1:
        found = f"has labels under {' and '.join(map(repr, keys))}"
        raise FormatError(found, where=where, expected="one of them", remedy="remove the other")
    key, labels = keys[0], value[keys[0]]
    items = labels if isinstance(labels, list) else [labels]
    if any(isinstance(item, str) for item in items):
        raise FormatError(
            *(f"{key!r} is ", shown(labels), ", labels of a whole text (text classification)"),
            where=where,
            expected="spans [start, end, label]",
            remedy="export a sequence labelling project",
        )
    if not isinstance(labels, list):
        raise refused(labels, f"{key!r}", where, "a list of [start, end, label]")
    reading.calls("labels_key", key)
    return labels


def _span(item: Any, where: str) -> DraftSpan:
    """A span in either shape: three values, or an object with names for them."""
    parts = _parts(item)
    if parts is None:
        names = "'start_offset', 'end_offset' and 'label'"
        raise refused(item, "it", where, f"[start, end, label] or an object with {names}")
    start, end = (whole(offset, "an offset", where) for offset in parts[:2])
    name = item.get("id") if isinstance(item, dict) else None
    label = label_of(parts[2], where, "the label")
    return DraftSpan(
        start, end, label, where=where, id=str(name) if isinstance(name, str | int) else ""
    )


def _parts(item: Any) -> list[Any] | None:
    """Start, end and label, of whatever type; nothing if that is not what it has."""
    if isinstance(item, list) and len(item) == 3:
        return item
    names = ("start_offset", "end_offset", "label")
    if isinstance(item, dict) and all(name in item for name in names):
        return [item[name] for name in names]
    return None


# --- Detection ----------------------------------------------------------------


def _looks_like_entries(source: Source) -> bool:
    """Whether the first object of a file is doccano's."""
    first = _first_object(source.head_text)
    if first is None and source.is_longer_than_head and _begins_object(source.head_text):
        # The first document alone is longer than the head.
        try:
            first = _first_object(source.text)
        except FormatError:
            return False
    if first is not None and not any(first.get(key) for key in _LABELS):
        # Records without spans look alike: the first that has some tells.
        objects = (value for value in head_values(source) if isinstance(value, dict))
        labelled = (value for value in objects if any(value.get(key) for key in _LABELS))
        first = next(labelled, first)
    return first is not None and _is_entry(first)


def _begins_object(text: str) -> bool:
    return _OBJECT.match(text) is not None


def _first_object(text: str) -> dict[str, Any] | None:
    """The first object of a file of objects, or of an array of them."""
    if not _begins_object(text):
        return None
    try:
        first, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    except (ValueError, RecursionError):
        return None
    return first if isinstance(first, dict) else None


def _is_entry(value: dict[str, Any]) -> bool:
    """Whether an object has a text and labels, and nothing of another format."""
    keys = [key for key in _LABELS if isinstance(value.get(key), list)]
    has_text = any(isinstance(value.get(key), str) for key in _TEXTS)
    if not has_text or len(keys) != 1 or _FOREIGN & value.keys():
        return False
    # Labels of whole texts are doccano's too, and refused with a reason.
    return all(isinstance(item, str) or _parts(item) is not None for item in value[keys[0]])


def _holds_entries(archive: Source) -> bool:
    """Whether the files of an archive are doccano's; only the first is unpacked, in part."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.data)) as opened_archive:
            for name in sorted(opened_archive.namelist()):
                if _is_entries(Source(name, member=b"")):
                    with opened_archive.open(name) as file:
                        # The cut may have gone through the last character.
                        head = file.read(2**20).decode("utf-8", errors="ignore")
                    if head.strip():
                        return _looks_like_entries(Source(name, member=head.encode()))
    except Exception:  # whatever a damaged archive makes its unpackers raise
        return False
    return False
