"""UIMA CAS: a file, a folder or archive of files, or an INCEpTION project export."""

from __future__ import annotations

import io
import re
import zipfile
from collections import Counter
from collections.abc import Collection, Iterator, Sequence
from dataclasses import replace
from pathlib import PurePosixPath
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.cas import EXPORT, Entry, Loader, entry_of, kind_of_file, unpacked
from beyondchance.io.cas_checks import json_object
from beyondchance.io.drafts import Draft
from beyondchance.io.layers import Layered, layer_drafts
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload, is_unknown
from beyondchance.io.sources import Source, is_zip
from beyondchance.messages import Quote
from beyondchance.tallies import left_out, not_read

_PROJECT = re.compile(r"(?:.*/)?(annotation|curation)(_ser)?/([^/]+)/([^/]+)")
_PROJECT_JSON = re.compile(r"(?:.*/)?exportedproject[^/]*\.json")
_READABLE = ("xmi", "json", "tsv", "zip")
_FINISHED = frozenset({"FINISHED", "ANNOTATION_FINISHED"})


# --- Detection ----------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Whether a file, or one of the files of a folder, is a CAS or an archive of such."""
    if upload.data is not None:
        return False
    try:
        return any(_is_cas(source) for source in upload.sources)
    except FormatError:
        return False


def _is_cas(source: Source) -> bool:
    kind = kind_of_file(source)
    return kind in {"xmi", "json"} or (kind == "zip" and _holds_cas(source))


def _holds_cas(source: Source) -> bool:
    """Whether an archive is a project export or holds a CAS, by the heads of its files."""
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            entries = [entry for entry in archive.infolist() if not entry.is_dir()]
            if any(_PROJECT_JSON.fullmatch(entry.filename) for entry in entries):
                return True
            for entry in entries:
                with archive.open(entry) as file:
                    head = Source(entry.filename, member=file.read(65536))
                if not is_zip(head) and _is_cas(head):
                    return True
    except Exception:
        return False
    return False


# --- Uploads ------------------------------------------------------------------


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read a file, a folder with a file for each document, or a project export."""
    entries = _entries(upload)
    loader = Loader(entries, reading)
    if any(_PROJECT_JSON.fullmatch(e.path) or _PROJECT.fullmatch(e.path) for e in entries):
        documents = _project(upload, loader)
    else:
        documents = _documents(upload, loader)
    yield from layer_drafts(documents, reading, name=upload.name, name_as_label=False)


def _entries(upload: Upload) -> list[Entry]:
    """The files that were given, those of an archive if it is one."""
    if not upload.is_folder and is_zip(upload.sources[0]):
        return unpacked(upload.sources[0])
    return [entry_of(source, root=upload.full_name) for source in upload.sources]


def _documents(upload: Upload, loader: Loader) -> list[Layered]:
    """Files of one annotator, a document each."""
    is_single = not upload.is_folder and not is_zip(upload.sources[0])
    found: list[Layered] = []
    names: list[str] = []
    kinds = {"xmi", "json", "zip"}
    own = {".xmi", *(entry.source.ending for entry in loader.entries if entry.kind in kinds)}
    for entry in loader.entries:
        if entry.kind in kinds:
            found.append(loader.loaded(entry, "", upload.annotator))
            names.append(str(PurePosixPath(entry.path).with_suffix("")))
        elif entry.kind != "types":
            _check_whole(entry, own)
            if not is_single:
                loader.reading.skipped[not_read("files of other formats")] += 1
    if not found:
        raise _nothing(upload, loader.entries)
    # Titles name documents, unless they are missing or all the same.
    titles = [document.draft.document for document in found]
    if len(set(titles)) < len(titles) or not all(titles):
        titles = ["1"] if len(found) == 1 and not upload.is_folder else names
    return [
        replace(document, draft=replace(document.draft, document=title))
        for document, title in zip(found, titles, strict=True)
    ]


def _check_whole(entry: Entry, endings: Collection[str]) -> None:
    """Refuse a file that ends as those with annotations do, and holds none."""
    if entry.source.ending in endings and is_unknown(entry.source):
        found = "is not XMI or CAS JSON" if entry.source.head.strip() else "is empty"
        where = entry.source.name
        raise FormatError(found, where=where, expected="annotations", remedy=EXPORT)


def _nothing(upload: Upload, entries: Sequence[Entry]) -> FormatError:
    """The error that names what there is instead of annotations."""
    found, parts = "neither XMI nor CAS JSON nor a project export", {"remedy": EXPORT}
    if not any(entry.source.head for entry in entries):
        found, parts = "is empty", {"expected": "XMI or CAS JSON"}
    elif entries[0].kind == "types" and len(entries) == 1:
        found, parts = "is a type system", {"expected": "the XMI file that belongs to it"}
    elif any(entry.kind == "ser" for entry in entries):
        found = "holds Java objects, which are not read"
    return FormatError(found, where=upload.name, **parts)


# --- INCEpTION projects -------------------------------------------------------


def _project(upload: Upload, loader: Loader) -> list[Layered]:
    """The finished work of all users, and of the curator as gold."""
    skipped = loader.reading.skipped
    states, curated = _states(loader.entries)
    found = []
    unread: Counter[str] = Counter()
    is_readable = False
    for entry in loader.entries:
        match = _PROJECT.fullmatch(entry.path)
        if match is None:
            continue
        folder, serialised, document, file = match.groups()
        user = PurePosixPath(file).stem
        is_gold = folder == "curation" or user == "CURATION_USER"
        if serialised or entry.kind == "ser":
            skipped[not_read("Java-serialised files")] += 1
            unread[".ser"] += not is_gold
        elif user == "INITIAL_CAS":
            skipped[not_read("initial documents without an annotator")] += 1
        elif entry.kind not in _READABLE:
            _check_whole(entry, {f".{kind}" for kind in _READABLE})
            skipped[not_read("files of other formats")] += 1
            unread[PurePosixPath(file).suffix or file] += not is_gold
        else:
            is_readable |= not is_gold
            # All work counts as annotated if the project knows no states.
            is_finished = not states or states.get((document, user)) in _FINISHED
            if is_gold:
                is_finished = curated.get(document) != "CURATION_IN_PROGRESS"
            if is_finished:
                who = "gold" if is_gold else user
                found.append(loader.loaded(entry, document, who, is_gold=is_gold))
            else:
                skipped[left_out("unfinished annotations")] += 1
    if not is_readable:
        kinds = ", ".join(sorted(kind for kind, number in unread.items() if number)) or "no files"
        problem = f"the project holds the annotators' work only as {kinds}, which cannot be read"
        raise FormatError(problem, where=upload.name, remedy=EXPORT)
    if not found:
        listed = ", ".join(f"{n} {state}" for state, n in sorted(Counter(states.values()).items()))
        raise FormatError(
            *("no annotator finished a document (", Quote(listed), ")"),
            where=upload.name,
            remedy="mark documents as finished in INCEpTION and export again",
        )
    return found


def _states(entries: Sequence[Entry]) -> tuple[dict[tuple[str, str], str], dict[str, str]]:
    """The state of each document for each user, and that of each document itself."""
    states: dict[tuple[str, str], str] = {}
    curated: dict[str, str] = {}
    for entry in entries:
        if not _PROJECT_JSON.fullmatch(entry.path):
            continue
        project = json_object(entry.source.json(), entry.source.name)
        for item in _records(project, "annotation_documents", entry):
            states[item["name"], item["user"]] = item["state"]
        for item in _records(project, "source_documents", entry):
            curated[item["name"]] = item["state"]
    return states, curated


def _records(project: dict[str, Any], key: str, entry: Entry) -> Iterator[dict[str, str]]:
    records = project.get(key) or []
    needed = ("name", "user", "state") if key == "annotation_documents" else ("name", "state")
    if not isinstance(records, list):
        found = f"{key} is {type(records).__name__}"
        raise FormatError(found, where=entry.source.name, expected="a list")
    for number, record in enumerate(records, start=1):
        if not isinstance(record, dict) or not all(
            isinstance(record.get(name), str) for name in needed
        ):
            raise FormatError(
                "is incomplete",
                where=f"{entry.source.name}: {key}, number {number}",
                expected=f"an object with the texts {', '.join(needed)}",
            )
        yield record
