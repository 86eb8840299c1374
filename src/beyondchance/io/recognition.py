"""Files that no format recognises: what they look like, and what broke it."""

from __future__ import annotations

import io
import zipfile
from collections import Counter
from functools import partial

from beyondchance.errors import DataError
from beyondchance.io import json_rows
from beyondchance.io.fields import asking
from beyondchance.io.json_rows import rows_of
from beyondchance.io.registry import Format, Upload, recognised
from beyondchance.io.sources import Source, is_type_system, is_zip, members, parsed_json
from beyondchance.io.table_files import delimiter_of, head_rows
from beyondchance.io.tagged import TAG
from beyondchance.io.values import refusal, shown
from beyondchance.messages import Piece, Use, quotes

_SIGNATURES = {
    b"%PDF": ("a PDF", "export the annotations, not the page"),
    b"\xd0\xcf\x11\xe0": ("a file of an old Microsoft Office", "save a spreadsheet as CSV"),
    b"7z\xbc\xaf": ("a 7z archive", "unpack it first"),
    b"Rar!": ("a rar archive", "unpack it first"),
    b"SQLite": ("a database of SQLite", "export the annotations from the tool that made it"),
    b"\x89PNG": ("a picture", "export the annotations"),
    b"\xff\xd8\xff": ("a picture", "export the annotations"),
}
"""What files of other kinds begin with, what they are, and what to do instead."""
_MOST_LINES = 400
_MOST_WORDS = 5
"""Words that the name of a column can have."""
_TOKENS = ("tokens", "words")
_SPAN = "start, end and label"
_RECORD = "text with spans (start, end, label), tokens with tags, or a table of spans"


def unrecognised(upload: Upload) -> DataError:
    """Refuse an upload of no known format, with the nearest one and what broke it."""
    if upload.is_folder and len(upload.sources) > 1:
        return _unrecognised_folder(upload)
    source = upload.sources[0]
    refused = partial(refusal, source.name)
    if not source.head:
        return refused("is empty", expected="annotations")
    for signature, (kind, remedy) in _SIGNATURES.items():
        if source.head.startswith(signature):
            return refused(f"is {kind}", expected="text", remedy=remedy)
    if is_zip(source):
        return _unrecognised_archive(source)
    if not source.head_text or (source.is_packed and source.head.startswith(b"BZh")):
        source.text  # noqa: B018 - raises an error that says why it is not text
    for near in (_near_json, _near_xml, _near_table, _near_columns):
        nearest = near(source)
        if nearest is not None:
            return nearest
    mend = ("'beyondchance formats' lists what can be read; or pass ", _FORMAT)
    plain = "is plain text, without columns, JSON or XML"
    return refused(plain, expected="annotations", remedy=mend)


_FORMAT = Use("format", placeholder="NAME")
_MOST_FILES = 1000


def _unrecognised_folder(upload: Upload) -> DataError:
    """Refuse the first file of a folder that is not what the others are."""
    files = [Upload(source.name, source.stem, [source]) for source in upload.sources]
    # A type system is no annotation, and says nothing of why there are none.
    files = [file for file in files if not is_type_system(file.sources[0])] or files[:1]
    first: tuple[Upload, Format] | None = None
    for file in files[:_MOST_FILES]:
        found = recognised(file)
        if found is None:
            return unrecognised(file)
        if first is not None and first[1] is not found:
            other = f"looks like {first[1].name}, and {file.name} like {found.name}"
            return refusal(first[0].name, other, expected="files of one format")
        first = first or (file, found)
    return unrecognised(files[0])


def _unrecognised_archive(archive: Source) -> DataError:
    """Refuse a zip archive; its directory is at its end."""
    if not zipfile.is_zipfile(io.BytesIO(archive.data)):
        cut = "is a zip archive that is cut off"
        return refusal(archive.name, cut, remedy="export it again")
    members(archive)  # says what is wrong with one that cannot be unpacked
    return refusal(
        archive.name,
        "a zip archive of no known kind",
        expected="an export of doccano or INCEpTION, or a project of REFI-QDA",
        remedy="save a spreadsheet as CSV, or unpack the archive and give its files",
    )


def _near_json(source: Source) -> DataError | None:
    """Refuse JSON that is broken, or whose keys no format has."""
    if not source.is_json:
        return None
    rows = json_rows.head_rows(source)
    first = next(iter(rows), None)
    if first is None:
        if source.beginning[0] == "{":  # lines, perhaps
            parsed_json(source.text.lstrip().partition("\n")[0], source.name)
        parsed_json(source.text, source.name)  # says where it breaks
    for key in _TOKENS:
        words = first.get(key) if isinstance(first, dict) else None
        if isinstance(words, list) and any(isinstance(word, str) for word in words):
            odd = next((i for i, word in enumerate(words) if not isinstance(word, str)), None)
            if odd is not None:
                problem = f"{key!r} has {{}} in place {odd + 1}"
                value = (shown(words[odd]),)
                return refusal(next(rows_of(source))[0], problem, value, expected="words")
    what: tuple[Piece, ...] = (_KINDS.get(type(first), "numbers"),)
    mend: tuple[Piece, ...] = ("the documentation of files lists the keys; or pass ", _FORMAT)
    if isinstance(first, dict):
        what = ("objects with the keys ", *quotes(first))
        mend = asking(rows)
    return refusal(source.name, "looks like JSON, of {}", what, expected=_RECORD, remedy=mend)


_KINDS = {list: "lists", str: "strings", bool: "truth values", type(None): "nothing"}


def _near_xml(source: Source) -> DataError | None:
    if not source.beginning.startswith("<"):
        return None
    if is_type_system(source):
        expected = "the XMI file that belongs to it"
        return refusal(source.name, "is a type system of UIMA", expected=expected)
    return refusal(
        source.name,
        "looks like XML of no known format",
        expected="a format that 'beyondchance formats' lists",
        remedy=(
            "if its elements are the annotations, pass ",
            *(Use("format", "tei"), " and ", Use("layer", placeholder="ELEMENTS")),
        ),
    )


def _near_table(source: Source) -> DataError | None:
    """Refuse rows of equally many cells, divided by what divides tables."""
    rows = head_rows(source, delimiter_of(source, ",;\t|"), _MOST_LINES)
    rows = [row for row in rows if any(row)] or [[]]
    names = [cell.strip() for cell in rows[0]]
    if len(names) < 3 or len({len(row) for row in rows}) > 1:
        return None
    if any(len(name.split()) > _MOST_WORDS for name in names):
        return None  # a sentence, rather than a header
    if any(_is_tag_like(cell) for row in rows[:50] for cell in row[1:]):
        return None
    return refusal(
        source.name,
        "looks like a table with the columns {}",
        # They may be named after annotators.
        (f"1 to {len(names)}",) if source.given else quotes(names),
        expected=f"columns for {_SPAN}, and document and annotator where there are several",
        remedy="rename the columns",
    )


def _is_tag_like(cell: str) -> bool:
    """Return whether a cell is a tag, or like one: in lower case or with _ for the dash."""
    cell = cell.strip()
    return TAG.fullmatch(cell) is not None or (
        len(cell) > 2 and cell[0].upper() in "BIELSUM" and cell[1] in "-_"
    )


def _near_columns(source: Source) -> DataError | None:
    """Refuse lines of a token and something that resembles a tag."""
    numbered = ((number, line.split()) for number, line in enumerate(source.head_lines, start=1))
    rows = [(number, row) for number, row in numbered if row and row[0][0] != "#"]
    widths = Counter(len(row) for _, row in rows)
    if not rows or max(widths) < 2:
        return None
    # The column that has most of what resembles a tag.
    width = max(widths)
    likeness = [
        sum(_is_tag_like(row[column]) for _, row in rows if len(row) > column)
        for column in range(1, width)
    ]
    if max(likeness) < len(rows) / 2:
        return None
    column = likeness.index(max(likeness)) + 1
    looks = "looks like columns of tokens and tags, but "
    for number, row in rows:
        where = f"{source.name}:{number}"
        if len(row) <= column:
            expected = f"{column + 1} columns, a token and its tag among them"
            return refusal(where, f"{looks}this line has {len(row)}", expected=expected)
        if not TAG.fullmatch(row[column]):
            expected = "O, or a prefix such as B- or I- and a label"
            return refusal(where, looks + "{} is no tag", row[column], expected=expected)
    return None
