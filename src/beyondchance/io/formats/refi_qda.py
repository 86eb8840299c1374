"""REFI-QDA: what NVivo, ATLAS.ti, MAXQDA and QualCoder exchange as projects (.qdpx, .qde).

Users are annotators, codes are labels, and sources of text are documents. A user who coded
nothing in a source did not annotate it, because a project does not say who has read what.
"""

from __future__ import annotations

import io
import re
import zipfile
from bisect import bisect_left
from collections import Counter
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import accumulate, product
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.markup import local_name, xml_root
from beyondchance.io.offsets import Interval, indices, length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source, is_zip, members
from beyondchance.io.values import DIGITS, quoting
from beyondchance.messages import Piece, Quote
from beyondchance.tallies import left_out, no_spans

_ROOT = re.compile(r"<(?:\w+:)?Project\s[^<>]*urn:QDA-XML:project")
_OTHERS = {
    "PictureSelection": no_spans("selections in pictures"),
    "PDFSelection": no_spans("selections of areas in PDF pages"),
    "AudioSelection": no_spans("selections in recordings"),
    "VideoSelection": no_spans("selections in recordings"),
    "TranscriptSelection": no_spans("selections of times in transcripts"),
}
_MOST_LEVELS = 100
"""How deep codes may be nested: the path of each holds all above it."""
_MARK = "\ufeff"
_CUT = ("…", "...")
"""How the names of long selections end."""
_LONGEST_NAME = 500
"""How much of a selection's name is compared with the text."""


@dataclass(frozen=True, slots=True)
class _Archive:
    """A project, the files that belong to it, and its annotator where it names no user."""

    annotator: str
    project: Source
    files: Sequence[Source]


@dataclass(frozen=True, slots=True)
class _Text:
    """An element with a plain text, before it is read."""

    element: ET.Element
    name: str
    guid: str


@dataclass(frozen=True, slots=True)
class _Selection:
    """A selection: its place, its name, and the annotators and labels of its codings."""

    start: int
    end: int
    name: str
    where: tuple[Piece, ...]
    codings: Sequence[tuple[str, str]]


@dataclass(frozen=True, slots=True)
class _Way:
    """How positions count: the unit, the characters of a line end, the number of the first."""

    unit: str
    width: int
    first: int


@dataclass(frozen=True, slots=True)
class _Names:
    """What identifiers stand for: codes and users by name, and which of them are cases."""

    codes: Mapping[str, str]
    users: Mapping[str, str]
    cases: frozenset[str]
    unnamed: str


# --- Files --------------------------------------------------------------------


def _is_project(source: Source) -> bool:
    """Whether a file is a project."""
    return _holds_project(source) if is_zip(source) else _is_bare(source)


is_format = by_files(any, _is_project)


def _is_bare(source: Source) -> bool:
    return _ROOT.search(source.head_text[:4096]) is not None


def _holds_project(source: Source) -> bool:
    try:
        with zipfile.ZipFile(io.BytesIO(source.data)) as archive:
            return any(_is_project_name(name) for name in archive.namelist())
    except Exception:  # damaged archives make their unpackers raise anything
        return False


def _is_project_name(name: str) -> bool:
    # A Mac adds files whose names begin with a full stop.
    return name.lower().endswith(".qde") and not name.rpartition("/")[2].startswith(".")


def _archives(upload: Upload, reading: Reading) -> Iterator[_Archive]:
    """The projects of an upload."""
    # What lies next to a project that is not packed are its sources.
    beside = upload.sources if any(map(_is_bare, upload.sources)) else ()
    for source in upload.sources_of(_is_project, reading, ".qdpx", ".qde", beside=beside):
        annotator = source.stem if upload.is_folder else upload.annotator
        if is_zip(source):
            files = members(source)
            projects = [file for file in files if _is_project_name(file.name)]
            if len(projects) != 1:
                found = f"holds {len(projects)} project files"
                raise FormatError(found, where=source.name, expected="one project.qde")
            yield _Archive(annotator, projects[0], files)
        else:
            yield _Archive(annotator, source, upload.sources if upload.is_folder else [])


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read projects; a user of several projects with one source is an annotator in each."""
    found: list[tuple[Upload, _Archive, Draft]] = [
        (upload, archive, draft)
        for upload in uploads
        for archive in _archives(upload, reading)
        for draft in _drafts(archive, reading)
    ]
    times = Counter((draft.document, draft.annotator) for *_, draft in found)
    again = {annotator for (_, annotator), number in times.items() if number > 1}
    people: dict[str, set[str]] = {}
    for _, archive, draft in found:
        people.setdefault(archive.project.name, set()).add(draft.annotator)
    for upload, archive, draft in found:
        name = draft.annotator
        if name in again:
            is_only = len(people[archive.project.name]) == 1
            name = archive.annotator if is_only else f"{archive.annotator}/{name}"
            reading.note(
                *("user ", Quote(draft.annotator), " of several projects is read as "),
                *(Quote(name), " here"),
                where=upload.name,
            )
        reading.met(upload.name, [name])
        yield replace(draft, annotator=name)


# --- A project ----------------------------------------------------------------


def _drafts(archive: _Archive, reading: Reading) -> Iterator[Draft]:
    """What each user coded in each text."""
    where = archive.project.name
    root = xml_root(archive.project, program="a QDA program")
    if local_name(root.tag) != "Project":
        found = quoting("the root element is {}", local_name(root.tag))
        raise FormatError(*found, where=where, expected="Project")
    files = {file.posix_path.name.lower(): file for file in archive.files}
    names = _names(root, archive)
    _count_others(root, reading)
    origin = root.get("origin") or ""
    n_missing = n_read = 0
    for text in _texts(root):
        place = (f"{where}: source ", Quote(text.name))
        selections = list(_selections(text.element, names, place, reading))
        if not selections:
            reading.skipped[left_out("texts without a coded selection")] += 1
            continue
        content = _content(text.element, files)
        if content is None:
            n_missing += 1
            reading.skipped[left_out("selections of sources without their text")] += len(selections)
            continue
        n_read += 1
        unit, marks = _placed(content, selections, origin, reading, where=where)
        plain = _plain(content)
        by_user: dict[str, list[DraftSpan]] = {}
        for selection, (start, end) in zip(selections, marks, strict=True):
            for user, label in selection.codings:
                span = DraftSpan(start, end, label, where=selection.where)
                by_user.setdefault(user, []).append(span)
        for user, spans in by_user.items():
            yield Draft(
                where=place,
                document=text.name,
                annotator=user,
                text=plain,
                spans=spans,
                offsets=unit,
            )
    if n_missing and not n_read:
        raise FormatError(
            f"holds the text of none of its {n_missing} coded sources",
            where=where,
            expected="text files in its folder 'sources'",
            remedy="export the project with its sources, as .qdpx",
        )
    if not n_read:
        raise FormatError("no text is coded", where=where, expected="coded selections of texts")


def _guid(element: ET.Element, key: str = "guid") -> str:
    return (element.get(key) or "").strip().lower()


def _name(element: ET.Element) -> str:
    return (element.get("name") or "").strip() or (element.get("guid") or "").strip()


def _names(root: ET.Element, archive: _Archive) -> _Names:
    """Codes and users by identifier; those that share a name are told apart."""
    paths: dict[str, tuple[str, ...]] = {}
    waiting: list[tuple[ET.Element, tuple[str, ...]]] = [
        (code, ()) for code in root.iterfind("{*}CodeBook/{*}Codes/{*}Code")
    ]
    while waiting:
        code, above = waiting.pop()
        if len(above) == _MOST_LEVELS:
            found = f"codes are nested more than {_MOST_LEVELS} deep"
            raise FormatError(found, where=archive.project.name, expected="fewer levels")
        paths[_guid(code)] = (*above, _name(code))
        waiting += [(inner, paths[_guid(code)]) for inner in code.iterfind("{*}Code")]
    twice = _repeated(path[-1] for path in paths.values())
    users = {_guid(user): user for user in root.iterfind("{*}Users/{*}User")}
    shared = _repeated(map(_name, users.values()))
    return _Names(
        codes={
            guid: "/".join(path) if path[-1] in twice else path[-1] for guid, path in paths.items()
        },
        users={
            guid: f"{_name(user)} ({user.get('guid')})" if _name(user) in shared else _name(user)
            for guid, user in users.items()
        },
        cases=frozenset(_guid(case) for case in root.iterfind("{*}Cases/{*}Case")),
        unnamed=archive.annotator,
    )


def _repeated(names: Iterable[str]) -> frozenset[str]:
    return frozenset(name for name, number in Counter(names).items() if number > 1)


def _texts(root: ET.Element) -> Iterator[_Text]:
    """Sources of text, and the texts that stand for PDF files and pictures."""
    found = []
    for source in root.iterfind("{*}Sources/*"):
        name, guid = _name(source), source.get("guid") or ""
        if local_name(source.tag) == "TextSource":
            found.append(_Text(source, name, guid))
        else:
            texts = source.iterfind("{*}Representation")
            found += [_Text(text, name, text.get("guid") or guid) for text in texts]
    again = _repeated(text.name for text in found)
    for text in found:
        yield replace(text, name=f"{text.name} ({text.guid})") if text.name in again else text


def _count_others(root: ET.Element, reading: Reading) -> None:
    """Count what is not a coded selection of a text."""
    for element in root.iterfind("{*}Sources//*"):
        kind = local_name(element.tag)
        if kind.endswith("Selection") and kind != "PlainTextSelection":
            reading.skipped[_OTHERS.get(kind, no_spans("selections of other kinds"))] += 1
    for path, what in (
        ("{*}Sources/*/{*}Coding", no_spans("codes of entire sources")),
        ("{*}Notes/{*}Note", no_spans("notes")),
        ("{*}Links/{*}Link", no_spans("links")),
    ):
        number = len(root.findall(path))
        if number:
            reading.skipped[what] += number


def _selections(
    text: ET.Element, names: _Names, where: tuple[Piece, ...], reading: Reading
) -> Iterator[_Selection]:
    """The coded selections of a text."""
    for element in text.iterfind("{*}PlainTextSelection"):
        place = (*where, ", selection ", Quote(element.get("guid")))
        codings = element.findall("{*}Coding")
        if not codings:
            reading.skipped[no_spans("selections without a code")] += 1
        coded = []
        for coding in codings:
            reference = coding.find("{*}CodeRef")
            code = "" if reference is None else _guid(reference, "targetGUID")
            user = _guid(coding, "creatingUser") or _guid(element, "creatingUser")
            if code in names.codes:
                annotator = names.users.get(user, user) if user else names.unnamed
                coded.append((annotator, names.codes[code]))
            elif code in names.cases:
                reading.skipped[no_spans("codings by cases")] += 1
            else:
                reading.skipped[left_out("codings by codes that the project does not list")] += 1
        if coded:
            start, end = (_number(element, f"{key}Position", place) for key in ("start", "end"))
            yield _Selection(start, end, element.get("name") or "", place, coded)


def _number(element: ET.Element, key: str, where: tuple[Piece, ...]) -> int:
    value = element.get(key)
    if value is None or not DIGITS.fullmatch(value):
        found = quoting(f"{key} is {{}}", value)
        raise FormatError(*found, where=where, expected="a whole number")
    return int(value)


def _content(text: ET.Element, files: Mapping[str, Source]) -> str | None:
    """The plain text, with its byte order mark: a file of the project, or inside of the element."""
    path = text.get("plainTextPath") or ""
    file = files.get(path.replace("\\", "/").rpartition("/")[2].lower())
    if file is None:
        return text.findtext("{*}PlainTextContent")
    return _MARK + file.text if file.head.startswith(_MARK.encode()) else file.text


def _plain(content: str) -> str:
    r"""A text whose lines end with ``\n``, without a byte order mark."""
    return content.removeprefix(_MARK).replace("\r\n", "\n")


# --- Offsets ------------------------------------------------------------------


def _placed(
    content: str, selections: Sequence[_Selection], origin: str, reading: Reading, *, where: str
) -> tuple[str, list[Interval]]:
    """What offsets count, and the offsets in the plain text.

    Positions are code points from 0 and half-open. The standard does not say whether the two
    characters at the end of a line count as one, or a byte order mark as any; programs differ, and
    some count UTF-16 units. Selections that are named by their words show it. Without any, line
    ends count as in the file, and as one for ATLAS.ti.
    """
    asked = reading.options["offsets"]
    is_wide = not content.isascii() and max(content) > "\uffff"
    # What is most likely comes first, and stays where nothing is better.
    units = (asked,) if asked else ("codepoints", "utf16") if is_wide else ("codepoints",)
    widths = ((1, 2) if "ATLAS" in origin.upper() else (2, 1)) if "\r\n" in content else (1,)
    firsts = (0, 1) if content.startswith(_MARK) else (0,)
    ways = [_Way(*way) for way in product(units, widths, firsts)]
    marks = {way: _shifted(content, way, selections) for way in ways}
    way = ways[0]
    if len(ways) > 1:
        plain = _plain(content)
        way = max(ways, key=lambda way: _fit(plain, way.unit, marks[way], selections))
    if len(widths) > 1:
        number = "one character" if way.width == 1 else "two characters"
        reading.note(f"the ends of lines count as {number}", where=where)
    if way.unit != units[0]:
        reading.note("positions count UTF-16 units", where=where)
    if way.first:
        reading.note("positions count the byte order mark", where=where)
    return way.unit, marks[way]


def _shifted(content: str, way: _Way, selections: Sequence[_Selection]) -> list[Interval]:
    """Offsets in the plain text, if positions count in this way."""
    marks = [(mark.start - way.first, mark.end - way.first) for mark in selections]
    if way.width == 1:
        return marks
    lines = content.removeprefix(_MARK).split("\r\n")
    # Where the lines end, without the last: behind it is no line end.
    ends = [end - 2 for end in accumulate(length_of(line, way.unit) + 2 for line in lines)][:-1]
    return [
        (start - bisect_left(ends, start), end - bisect_left(ends, end)) for start, end in marks
    ]


def _fit(
    plain: str, unit: str, marks: Sequence[Interval], selections: Sequence[_Selection]
) -> tuple[bool, int]:
    """Whether all selections lie in the text, and how many begin as they are named."""
    place = indices(plain, unit)
    n_fitting, are_inside = 0, True
    for (start, end), selection in zip(marks, selections, strict=True):
        if start not in place or end not in place:
            are_inside = False
            continue
        name = " ".join(selection.name.removesuffix(_CUT[0]).removesuffix(_CUT[1]).split())
        name = name[:_LONGEST_NAME]
        words = plain[place[start] : min(place[end], place[start] + 4 * _LONGEST_NAME)]
        # White space at its beginning would fit where a line end is counted wrongly.
        is_exact = bool(name) and not words[:1].isspace()
        n_fitting += is_exact and " ".join(words.split()).startswith(name)
    return are_inside, n_fitting
