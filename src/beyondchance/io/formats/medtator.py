"""MedTator, MAE and n2c2 XML: one file for each document, tags named by their labels.

The outermost element is named after the schema. It holds the text, ``TEXT``, and the
annotations, ``TAGS``, with ``spans="5~12"`` or ``start="5" end="12"``. Links between tags
and tags of whole documents are counted. One folder is one annotator; a folder that holds
only folders holds one for each.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from functools import partial
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.layers import unknown
from beyondchance.io.marked import Marked, MarkedText, by_folders, drafts_of, fitted
from beyondchance.io.markup import outermost, xml_root
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote, quotes
from beyondchance.tallies import left_out, no_spans

_PLACE = re.compile(r"\s*(-?[0-9]{1,18})\s*~\s*(-?[0-9]{1,18})\s*")
_NOWHERE = (-1, -1)
"""The offsets of a tag that is about the document as a whole."""
# The two ends of a link are identifiers of tags: fromID, arg0ID, link_aID, PainID.
_LINK = re.compile(r".+ID")
_BEGIN = re.compile(r"<[^<>]*>\s*(?:<META[^<>]*>\s*)?<TEXT[\s>]")


def _looks_right(source: Source) -> bool:
    """Whether a file has a text and tags."""
    head = source.head_text
    root = outermost(head)
    if root is None or _BEGIN.match(head, head.find(f"<{root}")) is None:
        return False
    try:
        # The tags may stand behind a long text.
        return any(tags in source.data.replace(b"\0", b"") for tags in (b"<TAGS>", b"<TAGS/>"))
    except FormatError:
        return False


is_format = by_files(any, _looks_right)


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read the documents of annotators, each in a folder or file of their own."""
    return each_upload(partial(_drafts, is_alone=len(uploads) == 1))(uploads, reading)


def _drafts(upload: Upload, reading: Reading, *, is_alone: bool) -> Iterator[Draft]:
    """Read one file, the folder of an annotator, or a folder of such folders."""
    sources = upload.sources_of(_looks_right, reading, ".xml")
    if upload.is_folder:
        stems = [_stem(upload, source) for source in sources]
        whose = list(by_folders(upload, stems, reading))
    else:
        whose = [(upload.document_of(source), upload.annotator) for source in sources]
    known: dict[str, None] = {}
    documents = [
        _document(source, name, annotator, known, reading)
        for source, (name, annotator) in zip(sources, whose, strict=True)
    ]
    feature = reading.options["feature"]
    if feature is not None and known and feature not in known:
        raise unknown("attribute", feature, known, upload.name)
    _check_equal_texts(documents, upload.name, reading, is_alone=is_alone)
    unit, texts = fitted(lambda _: documents, reading, where=upload.name)
    yield from drafts_of(texts, unit, reading, where=upload.name)


def _stem(upload: Upload, source: Source) -> PurePosixPath:
    """The name of the text file: MedTator adds its ending to it, as in ``letter.txt.xml``."""
    stem = upload.stem_of(source)
    return stem.with_suffix("") if stem.suffix == ".txt" else stem


def _check_equal_texts(
    documents: list[MarkedText], where: str, reading: Reading, *, is_alone: bool
) -> None:
    """Lead on from a folder in which the files of several annotators lie side by side.

    One annotator may have the same text twice. If it is so for half of the files and there
    is no other annotator to compare with, the folder is not what was meant.
    """
    first: dict[tuple[str, str], str] = {}
    equal = [
        (before, document.name)
        for document in documents
        if (before := first.setdefault((document.annotator, document.text), document.name))
        != document.name
    ]
    if not equal:
        return
    pair = quoting("such as {} and {}", *equal[0])
    found = (f"{len(equal)} of {len(documents)} files have the text of another, ", *pair)
    remedy = "if they are by different annotators, give each a folder of their own"
    if is_alone and 2 * len(equal) >= len(documents):
        raise FormatError(*found, where=where, expected="the files of one annotator", remedy=remedy)
    reading.note(*found, f": {remedy}", where=where)


def _document(
    source: Source, name: str, annotator: str, known: dict[str, None], reading: Reading
) -> MarkedText:
    """One file; the attributes of its tags are added to those that are known."""
    root = xml_root(source, program="MedTator")
    texts, tags = root.findall("TEXT"), root.findall("TAGS")
    for elements, kind in ((texts, "TEXT"), (tags, "TAGS")):
        if len(elements) != 1:
            found = f"{len(elements)} elements {kind}"
            raise FormatError(found, where=source.name, expected="one")
    return MarkedText(
        where=source.name,
        name=name,
        text=texts[0].text or "",
        marked=list(_marked(tags[0], known, source.name, reading)),
        annotator=annotator,
    )


def _marked(
    tags: ET.Element, known: dict[str, None], where: str, reading: Reading
) -> Iterator[Marked]:
    """The tags that mark a piece of text; others are counted."""
    feature: str | None = reading.options["feature"]
    for number, tag in enumerate(tags, start=1):
        place = (f"{where}: tag ", Quote(tag.get("id", number)))
        fragments = _fragments(tag, place)
        if not fragments:
            is_link = any(map(_LINK.fullmatch, tag.keys()))
            kind = (
                no_spans("links between tags") if is_link else no_spans("tags of whole documents")
            )
            reading.skipped[kind] += 1
            continue
        known.update(dict.fromkeys(tag.keys()))
        label = tag.tag if feature is None else tag.get(feature, "").strip()
        words = tag.get("text", "")
        if label:
            yield Marked(
                place, label, fragments, words if words.split() else None, id=tag.get("id", "")
            )
        else:
            reading.skipped[left_out("annotations without a label", "")] += 1


def _fragments(tag: ET.Element, where: tuple[Piece, ...]) -> list[Interval]:
    """The places of a tag; none if it marks no piece of text."""
    spans = tag.get("spans")
    if spans is None:
        start, end = tag.get("start"), tag.get("end")
        spans = None if start is None and end is None else f"{start}~{end}"
    if spans is None or not spans.strip():
        return []
    places = [_PLACE.fullmatch(part) for part in spans.split(",")]
    found = [(int(place[1]), int(place[2])) for place in places if place is not None]
    if len(found) < len(places):
        if tag.get("spans") is not None:
            expected = "'START~END', or several with commas"
            raise FormatError("'spans' is ", Quote(spans), where=where, expected=expected)
        values = quotes([tag.get("start"), tag.get("end")])
        raise FormatError("start and end are ", *values, where=where, expected="whole numbers")
    return [place for place in found if place != _NOWHERE]
