"""REFI-QDA: what NVivo, ATLAS.ti, MAXQDA and QualCoder exchange as projects (.qdpx, .qde).

Users are annotators, codes are labels, and sources of text are documents. A user who coded
nothing in a source did not annotate it, because a project does not say who has read what.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections import Counter
from collections.abc import Collection, Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import accumulate, product
from typing import TypeVar
from xml.etree import ElementTree as ET

from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.markup import local_name, number_of, xml_root
from beyondchance.io.offsets import Interval, length_of, words_at
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source, is_zip, members, names_in
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Piece, Quote, Text
from beyondchance.tallies import left_out, no_spans

K = TypeVar("K")

_ROOT = re.compile(r"<(?:\w+:)?Project\s[^<>]*urn:QDA-XML:project")
_OTHERS = {
    "PictureSelection": "in pictures",
    "PDFSelection": "of areas in PDF pages",
    "AudioSelection": "in recordings",
    "VideoSelection": "in recordings",
    "TranscriptSelection": "of times in transcripts",
}
_BESIDES = {
    "{*}Sources/*/{*}Coding": "codes of entire sources",
    "{*}Notes/{*}Note": "notes",
    "{*}Links/{*}Link": "links",
}
_MOST_LEVELS = 100
"""How deep codes may be nested: the path of each holds all above it."""
_MARK = "\ufeff"
_LONGEST_NAME = 500
"""How much of a selection's name is compared with the text."""


_Selection = tuple[Interval, str, Text, Sequence[tuple[str, str]]]
"""A selection: its offsets, its name, its place, and the users and labels of its codings."""
_Way = tuple[str, int, int]
"""How positions count: the unit, the characters of a line end, the number of the first."""


# --- Files --------------------------------------------------------------------


def _is_project(source: Source) -> bool:
    """Return whether a file is a project."""
    return any(map(_is_project_name, names_in(source))) if is_zip(source) else _is_bare(source)


is_format = by_files(any, _is_project)


def _is_bare(source: Source) -> bool:
    return _ROOT.search(source.head_text[:4096]) is not None


def _is_project_name(name: str) -> bool:
    # A Mac adds files whose names begin with a full stop.
    return name.lower().endswith(".qde") and not name.rpartition("/")[2].startswith(".")


def _projects(upload: Upload, reading: Reading) -> Iterator[tuple[str, Source, Sequence[Source]]]:
    """Return the projects of an upload, each with its annotator and the files that belong to it."""
    # What lies next to a project that is not packed are its sources.
    beside = upload.sources if any(map(_is_bare, upload.sources)) else ()
    for source in upload.sources_of(_is_project, reading, ".qdpx", ".qde", beside=beside):
        annotator = source.stem if upload.is_folder else upload.annotator
        if not is_zip(source):
            yield annotator, source, upload.sources if upload.is_folder else []
            continue
        files = members(source)
        projects = [file for file in files if _is_project_name(file.name)]
        if len(projects) != 1:
            raise refusal(
                source.name, f"holds {len(projects)} project files", expected="one project.qde"
            )
        yield annotator, projects[0], files


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read projects; a user of several projects with one source is an annotator in each."""
    found = [
        (upload.name, own, project.name, draft)
        for upload in uploads
        for own, project, files in _projects(upload, reading)
        for draft in _drafts(own, project, files, reading)
    ]
    times = Counter((draft.document, draft.annotator) for *_, draft in found)
    again = {annotator for (_, annotator), number in times.items() if number > 1}
    people: dict[str, set[str]] = {}
    for *_, project, draft in found:
        people.setdefault(project, set()).add(draft.annotator)
    for upload, own, project, draft in found:
        user = name = draft.annotator
        if user in again:
            name = own if len(people[project]) == 1 else f"{own}/{user}"
            note = quoting("user {} of several projects is read as {} here", user, name)
            reading.note(*note, where=upload)
        reading.met(upload, [name])
        yield replace(draft, annotator=name)


# --- A project ----------------------------------------------------------------


def _drafts(
    own: str, project: Source, sources: Sequence[Source], reading: Reading
) -> Iterator[Draft]:
    """Return what each user coded in each text."""
    where = project.name
    root = xml_root(project, program="a QDA program", name="{*}Project")
    files = {file.posix_path.name.lower(): file for file in sources}
    names = _codes(root, where), {**_users(root), "": own}, _guids(root, "{*}Cases/{*}Case")
    _count_others(root, reading)
    n_missing = n_read = 0
    for element, document in _texts(root).items():
        place = (f"{where}: source ", Quote(document))
        selections = list(_selections(element, names, place, reading))
        content = _content(element, files) if selections else None
        if not selections:
            reading.skipped[left_out("texts without a coded selection")] += 1
        elif content is None:
            n_missing += 1
            reading.skipped[left_out("selections of sources without their text")] += len(selections)
        else:
            n_read += 1
            unit, marks = _placed(content, selections, root.get("origin") or "", reading, where)
            by_user: dict[str, list[DraftSpan]] = {}
            for (*_, spot, codings), mark in zip(selections, marks, strict=True):
                for user, label in codings:
                    by_user.setdefault(user, []).append(DraftSpan(*mark, label, where=spot))
            for user, spans in by_user.items():
                yield Draft(
                    where=place,
                    document=document,
                    annotator=user,
                    text=_plain(content),
                    spans=spans,
                    offsets=unit,
                )
    if not n_read:
        raise refusal(
            where,
            f"holds the text of none of its {n_missing} coded sources"
            if n_missing
            else "no text is coded",
            expected="coded selections of texts, and the texts in its folder 'sources'",
            remedy="export the project with its sources, as .qdpx",
        )


def _guid(element: ET.Element, key: str = "guid") -> str:
    return (element.get(key) or "").strip().lower()


def _guids(root: ET.Element, path: str) -> dict[str, ET.Element]:
    return {_guid(element): element for element in root.iterfind(path)}


def _name(element: ET.Element) -> str:
    return (element.get("name") or "").strip() or (element.get("guid") or "").strip()


def _told_apart(names: Mapping[K, tuple[str, str]]) -> dict[K, str]:
    """Return a name for each key: the short one, or the long one where others share the short."""
    times = Counter(short for short, _ in names.values())
    return {key: long if times[short] > 1 else short for key, (short, long) in names.items()}


def _codes(root: ET.Element, where: str) -> dict[str, str]:
    """Return the names of codes by identifier."""
    names: dict[str, tuple[str, str]] = {}
    level = [("", code) for code in root.iterfind("{*}CodeBook/{*}Codes/{*}Code")]
    for _ in range(_MOST_LEVELS):
        names |= {_guid(code): (_name(code), f"{above}{_name(code)}") for above, code in level}
        level = [
            (f"{names[_guid(code)][1]}/", inner)
            for _, code in level
            for inner in code.iterfind("{*}Code")
        ]
    if level:
        raise refusal(
            where, f"codes are nested more than {_MOST_LEVELS} deep", expected="fewer levels"
        )
    return _told_apart(names)


def _users(root: ET.Element) -> dict[str, str]:
    """Return the names of users by identifier."""
    users = _guids(root, "{*}Users/{*}User").items()
    return _told_apart({g: (_name(x), f"{_name(x)} ({x.get('guid')})") for g, x in users})


def _texts(root: ET.Element) -> dict[ET.Element, str]:
    """Return the names of sources of text, and of texts that stand for PDF files and pictures."""
    found = {}
    for source in root.iterfind("{*}Sources/*"):
        is_text = local_name(source.tag) == "TextSource"
        for text in [source] if is_text else source.iterfind("{*}Representation"):
            guid = text.get("guid") or source.get("guid") or ""
            found[text] = (_name(source), f"{_name(source)} ({guid})")
    return _told_apart(found)


def _count_others(root: ET.Element, reading: Reading) -> None:
    """Count what is not a coded selection of a text."""
    for element in root.iterfind("{*}Sources//*"):
        kind = local_name(element.tag)
        if kind.endswith("Selection") and kind != "PlainTextSelection":
            reading.skipped[no_spans(f"selections {_OTHERS.get(kind, 'of other kinds')}")] += 1
    for path, what in _BESIDES.items():
        reading.skipped[no_spans(what)] += len(root.findall(path))


def _selections(
    text: ET.Element,
    names: tuple[Mapping[str, str], Mapping[str, str], Collection[str]],
    where: tuple[Piece, ...],
    reading: Reading,
) -> Iterator[_Selection]:
    """Return the coded selections of a text, by the names of codes, of users and of cases."""
    codes, users, cases = names
    for element in text.iterfind("{*}PlainTextSelection"):
        place = (*where, ", selection ", Quote(element.get("guid")))
        codings = element.findall("{*}Coding")
        reading.skipped[no_spans("selections without a code")] += not codings
        coded = []
        for coding in codings:
            reference = coding.find("{*}CodeRef")
            code = "" if reference is None else _guid(reference, "targetGUID")
            user = _guid(coding, "creatingUser") or _guid(element, "creatingUser")
            if code in codes:
                coded.append((users.get(user, user), codes[code]))
            elif code in cases:
                reading.skipped[no_spans("codings by cases")] += 1
            else:
                reading.skipped[left_out("codings by codes that the project does not list")] += 1
        if coded:
            start, end = (number_of(element, f"{key}Position", place) for key in ("start", "end"))
            yield (start, end), element.get("name") or "", place, coded


def _content(text: ET.Element, files: Mapping[str, Source]) -> str | None:
    """Return the plain text with its byte order mark: a file of the project, or in the element."""
    path = text.get("plainTextPath") or ""
    file = files.get(path.replace("\\", "/").rpartition("/")[2].lower())
    if file is None:
        return text.findtext("{*}PlainTextContent")
    return _MARK + file.text if file.head.startswith(_MARK.encode()) else file.text


def _plain(content: str) -> str:
    r"""Return a text whose lines end with ``\n``, without a byte order mark."""
    return content.removeprefix(_MARK).replace("\r\n", "\n")


# --- Offsets ------------------------------------------------------------------


def _placed(
    content: str, selections: Sequence[_Selection], origin: str, reading: Reading, where: str
) -> tuple[str, list[Interval]]:
    """Return what offsets count, and the offsets in the plain text.

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
    marks = {way: _shifted(content, way, selections) for way in product(units, widths, firsts)}
    plain = _plain(content)
    unit, width, first = way = max(
        marks, key=lambda way: len(marks) > 1 and _fit(plain, way[0], marks[way], selections)
    )
    if len(widths) > 1:
        number = "one character" if width == 1 else "two characters"
        reading.note(f"the ends of lines count as {number}", where=where)
    if unit != units[0]:
        reading.note("positions count UTF-16 units", where=where)
    if first:
        reading.note("positions count the byte order mark", where=where)
    return unit, marks[way]


def _shifted(content: str, way: _Way, selections: Sequence[_Selection]) -> list[Interval]:
    """Return offsets in the plain text, if positions count in this way."""
    unit, width, first = way
    lines = content.removeprefix(_MARK).split("\r\n") if width == 2 else [""]
    # Where the lines end, without the last: behind it is no line end.
    ends = [end - 2 for end in accumulate(length_of(line, unit) + 2 for line in lines)][:-1]

    def shifted(offset: int) -> int:
        return offset - first - bisect_left(ends, offset - first)

    return [(shifted(start), shifted(end)) for (start, end), *_ in selections]


def _fit(
    plain: str, unit: str, marks: Sequence[Interval], selections: Sequence[_Selection]
) -> tuple[bool, int]:
    """Return whether all selections lie in the text, and how many begin as they are named."""
    words_of = words_at(plain, unit)
    n_fitting, are_inside = 0, True
    for (start, end), (_, full, *_) in zip(marks, selections, strict=True):
        covered = words_of(start, end)
        if covered is None:
            are_inside = False
            continue
        name = " ".join(full.removesuffix("…").removesuffix("...").split())[:_LONGEST_NAME]
        words = covered[: 4 * _LONGEST_NAME]
        # White space at its beginning would fit where a line end is counted wrongly.
        is_exact = bool(name) and not words[:1].isspace()
        n_fitting += is_exact and " ".join(words.split()).startswith(name)
    return are_inside, n_fitting
