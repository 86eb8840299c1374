"""PubTator: a title and an abstract, followed by lines of annotations.

::

    26000|t|Aspirin in mice
    26000|a|Aspirin was given to mice.
    26000	0	7	Aspirin	Chemical	MESH:D001241

Offsets count through the title, one character and the abstract. The blanks with which some
writers end the title are not counted. Lines without offsets are relations.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import dataclass, field

from beyondchance.annotations.tags import UNNAMED
from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.marked import Marked, MarkedText, drafts_of, fitted
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import DIGITS, quoting
from beyondchance.messages import Quote, Text, quotes
from beyondchance.tallies import mended, no_spans

_TEXT = re.compile(r"([^\s|]+)\|([ta])\|(.*)", re.DOTALL)
_NUMBER = re.compile(r"\s*[-+]?\.?[0-9]+\s*\Z|\s*[-+]?[0-9]+\.")
# What tmVar writes for a variant, such as p|SUB|P|29|S: an identifier, not a type.
_VARIANT = re.compile(r"[a-z]?\|[A-Za-z]+\|")
_ENDING = ".pubtator"
_PARTS = {"t": "title", "a": "abstract"}


@dataclass(slots=True)
class _Document:
    """What was read of a document so far."""

    where: str
    name: str
    parts: dict[str, str] = field(default_factory=dict)
    marked: list[Marked] = field(default_factory=list)

    @property
    def text(self) -> str:
        title, abstract = (self.parts.get(key) for key in _PARTS)
        # Where there is no title, its line break still counts.
        return f"{(title or '').rstrip()}\n{abstract}" if abstract else title or ""


def _looks_right(source: Source) -> bool:
    """Whether a file begins with a title and its document."""
    lines = (line for line in source.head_text.split("\n") if line.strip())
    first = _TEXT.match(next(lines, ""))
    if first is None or first[2] != "t":
        return False
    following = next(lines, None)
    # A title that fills the head, or is alone in its file, is followed by nothing.
    return (
        following is None
        or _TEXT.match(following) is not None
        or following.startswith(f"{first[1]}\t")
    )


is_format = by_files(any, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents of one annotator."""
    found = [
        MarkedText(
            where=one.where,
            name=one.name,
            text=one.text,
            marked=one.marked,
            annotator=upload.annotator,
        )
        for source in upload.sources_of(_looks_right, reading, _ENDING)
        for one in _documents(source, reading)
    ]
    unit, documents = fitted(lambda _: found, reading, where=upload.name)
    yield from drafts_of(documents, unit, reading, where=upload.name)


def _documents(source: Source, reading: Reading) -> Iterator[_Document]:
    """The documents of a file, each with its annotations."""
    current: _Document | None = None
    for number, line in enumerate(source.lines(), start=1):
        where = f"{source.name}:{number}"
        if not line.strip():
            continue
        text = _TEXT.fullmatch(line)
        name, *cells = line.rstrip("\r").split("\t")
        if text is not None and (current is None or text[2] == "t" or text[1] != current.name):
            if current is not None:
                yield current
            current = _Document(where, text[1])
        elif text is None and (current is None or name != current.name or not cells):
            raise _lost(line, current, where)
        assert current is not None  # noqa: S101 - the first line begins a document
        if text is not None:
            if text[2] in current.parts:
                found = quoting(f"a second {_PARTS[text[2]]} of {{}}", current.name)
                raise FormatError(*found, where=where, expected="one")
            current.parts[text[2]] = text[3]
        elif _NUMBER.match(cells[0]):
            current.marked.append(_marked(cells, where, reading))
        else:
            # A relation has a type and two identifiers.
            kind = "relations" if len(cells) > 2 else "lines without offsets"
            reading.skipped[no_spans(kind)] += 1
    if current is None:
        raise FormatError("holds no document", where=source.name, expected="'ID|t|TITLE'")
    yield current


def _marked(cells: list[str], where: str, reading: Reading) -> Marked:
    """One annotation, from what follows the name of its document."""
    if len(cells) < 3 or not all(map(DIGITS.fullmatch, cells[:2])):
        expected = "'ID<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE'"
        raise FormatError("found offsets ", *quotes(cells[:2]), where=where, expected=expected)
    start, end, words, *others = cells
    label = others[0].strip() if others else ""
    if not label or _VARIANT.match(label):
        reading.skipped[mended(f"annotations without a type, labelled '{UNNAMED}'")] += 1
        label = UNNAMED
    return Marked(where, label, [(int(start), int(end))], words if words.split() else None)


def _lost(line: str, current: _Document | None, where: str) -> FormatError:
    """The error for a line that belongs to no document, or to another one."""
    if current is None:
        expected: Text = "the title of a document first, as 'ID|t|TITLE'"
    else:
        annotation = f"{current.name}<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE"
        expected = (Quote(annotation), ", or another document")
    return FormatError("found ", Quote(line), where=where, expected=expected)
