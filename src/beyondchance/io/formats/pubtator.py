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
from collections.abc import Iterator, Sequence

from beyondchance.annotations.tags import UNNAMED
from beyondchance.io.drafts import Draft
from beyondchance.io.marked import Marked, MarkedText, drafts_of, fitted
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import DIGITS, refusal
from beyondchance.messages import Quote, Text, quotes
from beyondchance.tallies import mended, no_spans

_TEXT = re.compile(r"([^\s|]+)\|([ta])\|(.*)", re.DOTALL)
_NUMBER = re.compile(r"\s*[-+]?\.?[0-9]+\s*\Z|\s*[-+]?[0-9]+\.")
# What tmVar writes for a variant, such as p|SUB|P|29|S: an identifier, not a type.
_VARIANT = re.compile(r"[a-z]?\|[A-Za-z]+\|")
_ENDING = ".pubtator"


def _looks_right(source: Source) -> bool:
    """Return whether a file begins with a title and its document."""
    lines = filter(str.strip, source.head_lines)
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
        MarkedText(where=where, name=name, text=text, marked=marked, annotator=upload.annotator)
        for source in upload.sources_of(_looks_right, reading, _ENDING)
        for where, name, text, marked in _documents(source, reading)
    ]
    unit, documents = fitted(lambda _: found, reading, where=upload.name)
    yield from drafts_of(documents, unit, reading, where=upload.name)


def _documents(
    source: Source, reading: Reading
) -> Iterator[tuple[str, str, str, Sequence[Marked]]]:
    """Return the place, the name, the text and the annotations of each document of a file."""
    blocks: list[tuple[str, str, dict[str, str], list[Marked]]] = []
    for where, line in source.placed_lines():
        text = _TEXT.fullmatch(line)
        name = blocks[-1][1] if blocks else ""
        own, *cells = line.rstrip("\r").split("\t")
        if text is not None:
            if text[2] == "t" or text[1] != name:
                blocks.append((where, text[1], {}, []))
            elif text[2] in blocks[-1][2]:
                raise refusal(where, "a second abstract of {}", name, expected="one")
            blocks[-1][2][text[2]] = text[3]
        elif not blocks or not cells or own != name:
            annotation = f"{name}<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE"
            expected: Text = (Quote(annotation), ", or another document")
            if not blocks:
                expected = "the title of a document first, as 'ID|t|TITLE'"
            raise refusal(where, "found {}", line, expected=expected)
        else:
            blocks[-1][3].extend(_marked(cells, where, reading))
    if not blocks:
        raise refusal(source.name, "holds no document", expected="'ID|t|TITLE'")
    for where, name, parts, marked in blocks:
        title, abstract = (parts.get(part, "") for part in "ta")
        # Where there is no title, its line break still counts.
        yield where, name, f"{title.rstrip()}\n{abstract}" if abstract else title, marked


def _marked(cells: list[str], where: str, reading: Reading) -> Iterator[Marked]:
    """Return the annotation, if it is one, that follows the name of its document."""
    if not _NUMBER.match(cells[0]):
        # A relation has a type and two identifiers.
        kind = "relations" if len(cells) > 2 else "lines without offsets"
        reading.skipped[no_spans(kind)] += 1
        return
    if len(cells) < 3 or not all(map(DIGITS.fullmatch, cells[:2])):
        raise refusal(
            where,
            "found offsets {}",
            quotes(cells[:2]),
            expected="'ID<TAB>START<TAB>END<TAB>WORDS<TAB>TYPE'",
        )
    start, end, words, *others = cells
    label = others[0].strip() if others else ""
    if not label or _VARIANT.match(label):
        reading.skipped[mended(f"annotations without a type, labelled '{UNNAMED}'")] += 1
        label = UNNAMED
    yield Marked(where, label, [(int(start), int(end))], words if words.split() else None)
