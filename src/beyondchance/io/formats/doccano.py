"""doccano: one JSON object for each document, in a file or in one file for each user."""

from __future__ import annotations

import io
import json
import re
import zipfile
from collections.abc import Iterator
from dataclasses import dataclass
from pathlib import PurePosixPath
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.archives import members
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source, is_zip, parsed_json

_NOBODY = "unknown"
_EVERYBODY = "all"
_TEXTS = ("text", "data")
_LABELS = ("label", "labels", "entities")
_IGNORED = {
    "relations": "relations ignored",
    "cats": "categories ignored",
    "Comments": "comments ignored",
    "comments": "comments ignored",
}
# What objects of other formats have, and doccano's never.
_FOREIGN = frozenset({"annotator", "annotation_id", "completed_by", "spans", "tokens"})
_BLANK = re.compile(r"\s*")
_FIRST_LINE = re.compile(r"\s*([^\n]*)")


@dataclass(frozen=True, slots=True)
class _Entry:
    """One JSON object: its place, and its number if it has no identifier."""

    where: str
    number: int
    value: Any


_EMPTY_NOTE = (
    "documents without labels count as annotated, with nothing found (empty='missing' leaves "
    "them out)"
)


def is_format(upload: Upload) -> bool:
    """Whether the first object is a text with labels; in a folder, of every file."""
    if upload.data is not None:
        return False
    if upload.is_folder:
        files = [file for file in upload.sources if _is_entries(file) and file.head.strip()]
        return bool(files) and all(_looks_like_entries(file) for file in files)
    source = upload.sources[0]
    return _holds_entries(source) if is_zip(source) else _looks_like_entries(source)


def drafts(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, or an archive or folder with one file for each user."""
    source = upload.sources[0]
    if not upload.is_folder and not is_zip(source):
        if not source.text.strip():
            raise FormatError(
                f"{source.name}: the file is empty; expected a JSON object for each document"
            )
        yield from _drafts_of(source, upload.annotator, reading)
        return
    files = list(_files(upload, reading))
    if not files:
        raise FormatError(
            f"{upload.name}: no annotator's file in it; expected one .jsonl for each user"
        )
    for file in files:
        # Where all users share their work, nobody's name is in the archive.
        is_shared = len(files) == 1 and file.stem == _EVERYBODY
        yield from _drafts_of(file, upload.annotator if is_shared else file.stem, reading)


# --- Files --------------------------------------------------------------------


def _is_entries(source: Source) -> bool:
    """Whether a file of an archive is one that doccano writes, by its name."""
    path = PurePosixPath(source.name.replace("\\", "/"))
    is_hidden = path.name.startswith(".") or "__MACOSX" in path.parts
    return path.suffix.lower() in {".jsonl", ".json"} and not is_hidden


def _files(upload: Upload, reading: Reading) -> Iterator[Source]:
    """The files of an archive or folder that are somebody's."""
    for file in upload.sources if upload.is_folder else _members(upload.sources[0]):
        if not _is_entries(file):
            reading.skipped["other files ignored"] += 1
        elif file.stem == _NOBODY:
            n_entries = sum(1 for _ in _entries(file))
            reading.skipped["documents of nobody (unknown.jsonl) left out"] += n_entries
        else:
            yield file


def _members(archive: Source) -> list[Source]:
    try:
        return members(archive)
    except FormatError:
        raise
    except Exception as error:  # whatever a damaged archive makes its unpackers raise
        raise FormatError(f"{archive.name}: not a readable zip archive ({error})") from None


# --- Objects ------------------------------------------------------------------


def _entries(source: Source) -> Iterator[_Entry]:
    """The objects of a file: one a line, in an array, or one after the other."""
    found = _FIRST_LINE.match(source.text)
    first = found[1] if found else ""
    if first.startswith("["):
        for number, value in enumerate(source.json(), start=1):
            yield _Entry(f"{source.name}: item {number}", number, value)
    elif _is_json(first):
        for number, value in source.json_lines():
            yield _Entry(f"{source.name}:{number}", number, value)
    else:
        yield from _following(source)


def _is_json(text: str) -> bool:
    try:
        json.loads(text)
    except (ValueError, RecursionError):
        return False
    return True


def _following(source: Source) -> Iterator[_Entry]:
    """Objects of several lines, one after the other.

    Those without an identifier are numbered: the lines they begin on depend on what was
    annotated, and differ between annotators.
    """
    text, name = source.text, source.name
    place, line, number = 0, 1, 0
    while True:
        begin = _after_blanks(text, place)
        line += text.count("\n", place, begin)
        if begin == len(text):
            return
        try:
            _, place = json.JSONDecoder().raw_decode(text, begin)
        except (ValueError, RecursionError):
            place = len(text)  # to be parsed once more, and refused with its place
        number += 1
        value = parsed_json(text[begin:place], name, first_line=line)
        yield _Entry(f"{name}:{line}", number, value)
        line += text.count("\n", begin, place)


def _after_blanks(text: str, place: int) -> int:
    blank = _BLANK.match(text, place)
    return blank.end() if blank else place


def _drafts_of(source: Source, annotator: str, reading: Reading) -> Iterator[Draft]:
    """What one annotator did."""
    for entry in _entries(source):
        value = entry.value
        if not isinstance(value, dict):
            raise FormatError(
                f"{entry.where}: found {_shown(value)}; expected a JSON object with 'text' and "
                "'label'"
            )
        text = _text(value, entry.where)
        spans = [
            _span(item, f"{entry.where}, label {number}")
            for number, item in enumerate(_labels(value, entry.where), start=1)
        ]
        for key, kind in _IGNORED.items():
            if isinstance(value.get(key), list) and value[key]:
                reading.skipped[kind] += len(value[key])
        if not spans and reading.options["empty"] == "missing":
            reading.skipped["documents without labels left out as not annotated"] += 1
            continue
        if not spans and _EMPTY_NOTE not in reading.notes:
            reading.notes.append(_EMPTY_NOTE)
        yield Draft(
            where=entry.where,
            document=_identifier(value, entry),
            annotator=annotator,
            text=text,
            spans=spans,
            offsets="utf16",
        )


def _text(value: dict[str, Any], where: str) -> str:
    key = next((key for key in _TEXTS if key in value), None)
    if key is None:
        raise FormatError(
            f"{where}: has no text; expected the characters of the document under 'text' or 'data'"
        )
    if not isinstance(value[key], str):
        raise FormatError(f"{where}: {key!r} is {_shown(value[key])}; expected a string")
    text: str = value[key]
    return text


def _identifier(value: dict[str, Any], entry: _Entry) -> str:
    found = value.get("id")
    if found is None:
        return str(entry.number)
    if isinstance(found, bool) or not isinstance(found, int | str) or found == "":
        raise FormatError(f"{entry.where}: 'id' is {_shown(found)}; expected a number or a name")
    return str(found)


def _labels(value: dict[str, Any], where: str) -> list[Any]:
    """The list of labels, under whichever name."""
    keys = [key for key in _LABELS if key in value]
    if not keys:
        hint = (
            "; its 'annotations' name labels by number: export it as JSONL with text labels"
            if "annotations" in value
            else ": export a sequence labelling project as JSONL"
        )
        raise FormatError(
            f"{where}: has no labels; expected them under 'label', 'labels' or 'entities'{hint}"
        )
    if len(keys) > 1:
        raise FormatError(
            f"{where}: has labels under {' and '.join(map(repr, keys))}; expected one of them: "
            "remove the other"
        )
    found = value[keys[0]]
    if isinstance(found, str) or (isinstance(found, list) and _has_strings(found)):
        raise FormatError(
            f"{where}: {keys[0]!r} is {_shown(found)}, labels of a whole text (text "
            "classification); expected spans [start, end, label]: export a sequence labelling "
            "project"
        )
    if not isinstance(found, list):
        raise FormatError(
            f"{where}: {keys[0]!r} is {_shown(found)}; expected a list of [start, end, label]"
        )
    return found


def _has_strings(items: list[Any]) -> bool:
    return any(isinstance(item, str) for item in items)


def _span(item: Any, where: str) -> DraftSpan:
    """A span in either shape: three values, or an object with names for them."""
    parts = _parts(item)
    if parts is None:
        raise FormatError(
            f"{where}: found {_shown(item)}; expected [start, end, label] or an object with "
            "'start_offset', 'end_offset' and 'label'"
        )
    start, end, label = parts
    for offset in (start, end):
        if isinstance(offset, bool) or not isinstance(offset, int):
            raise FormatError(f"{where}: offset {_shown(offset)}; expected a whole number")
    if not isinstance(label, str) or not label:
        raise FormatError(f"{where}: the label is {_shown(label)}; expected a name")
    return DraftSpan(start, end, label, where=where)


def _parts(item: Any) -> list[Any] | None:
    """Start, end and label, of whatever type; nothing if that is not what it has."""
    if isinstance(item, list) and len(item) == 3:
        return item
    names = ("start_offset", "end_offset", "label")
    if isinstance(item, dict) and all(name in item for name in names):
        return [item[name] for name in names]
    return None


def _shown(value: Any) -> str:
    """A value as JSON, cut where it is long."""
    try:
        text = json.dumps(value, ensure_ascii=False)
    except RecursionError:
        return "a value nested too deeply"
    return text if len(text) <= 60 else f"{text[:57]}..."


# --- Telling ------------------------------------------------------------------


def _looks_like_entries(source: Source) -> bool:
    """Whether the first object of a file is doccano's."""
    found = _first_object(source.head_text)
    if found is None and len(source.head) >= 65536 and _begins_object(source.head_text):
        # The first document alone is longer than the head.
        try:
            found = _first_object(source.text)
        except FormatError:
            return False
    return found is not None and _is_entry(found)


def _begins_object(text: str) -> bool:
    return re.match(r"\s*(?:\[\s*)?\{", text) is not None


def _first_object(text: str) -> dict[str, Any] | None:
    """The first object of a file of objects, or of an array of them."""
    if not _begins_object(text):
        return None
    try:
        found, _ = json.JSONDecoder().raw_decode(text, text.index("{"))
    except (ValueError, RecursionError):
        return None
    return found if isinstance(found, dict) else None


def _is_entry(value: dict[str, Any]) -> bool:
    """Whether an object has a text and labels, and nothing that tells another format."""
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
