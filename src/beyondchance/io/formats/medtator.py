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
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.layers import Features
from beyondchance.io.marked import Marked, MarkedText, by_folders, drafts_of, fitted
from beyondchance.io.markup import only, outermost, xml_root
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Quote, Text, quotes
from beyondchance.tallies import no_spans

_PLACE = re.compile(r"\s*(-?[0-9]{1,18})\s*~\s*(-?[0-9]{1,18})\s*")
_NOWHERE = (-1, -1)
"""The offsets of a tag that is about the document as a whole."""
# The two ends of a link are identifiers of tags: fromID, arg0ID, link_aID, PainID.
_LINK = re.compile(r".+ID")
_BEGIN = re.compile(r"<[^<>]*>\s*(?:<META[^<>]*>\s*)?<TEXT[\s>]")


def _looks_right(source: Source) -> bool:
    """Return whether a file has a text and tags."""
    head = source.head_text
    root = outermost(source)
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
    whose = [("1", upload.annotator)]
    if upload.is_folder:
        stems = map(upload.stem_of, sources)
        # MedTator adds its ending to that of the text file, as in ``letter.txt.xml``.
        names = [stem.with_suffix("") if stem.suffix == ".txt" else stem for stem in stems]
        whose = list(by_folders(upload, names, reading))
    features = Features(reading)
    documents = []
    for source, (name, annotator) in zip(sources, whose, strict=True):
        root = xml_root(source, program="MedTator")
        text, tags = (only(root, kind, source.name) for kind in ("TEXT", "TAGS"))
        documents.append(
            MarkedText(
                where=source.name,
                name=name,
                text=text.text or "",
                marked=list(_marked(tags, features, source.name, reading)),
                annotator=annotator,
            )
        )
    features.check("attribute", upload.name)
    _check_equal_texts(documents, upload.name, reading, is_alone=is_alone)
    unit, texts = fitted(lambda _: documents, reading, where=upload.name)
    yield from drafts_of(texts, unit, reading, where=upload.name)


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
    found = (
        f"{len(equal)} of {len(documents)} files have the text of another, such as {{}} and {{}}"
    )
    remedy = "if they are by different annotators, give each a folder of their own"
    if is_alone and 2 * len(equal) >= len(documents):
        raise refusal(where, found, *equal[0], expected="the files of one annotator", remedy=remedy)
    reading.note(*quoting(found, *equal[0]), f": {remedy}", where=where)


def _marked(tags: ET.Element, features: Features, where: str, reading: Reading) -> Iterator[Marked]:
    """Return the tags that mark a piece of text; others are counted."""
    for number, tag in enumerate(tags, start=1):
        place = (f"{where}: tag ", Quote(tag.get("id", number)))
        fragments = _fragments(tag, place)
        if not fragments:
            is_link = any(map(_LINK.fullmatch, tag.keys()))
            what = "links between tags" if is_link else "tags of whole documents"
            reading.skipped[no_spans(what)] += 1
        elif label := features.label(tag.attrib, tag.tag):
            words = tag.get("text", "")
            surface = words if words.split() else None
            yield Marked(place, label, fragments, surface, id=tag.get("id", ""))


def _fragments(tag: ET.Element, where: Text) -> list[Interval]:
    """Return the places of a tag; none if it marks no piece of text."""
    ends = tag.get("start"), tag.get("end")
    spans = tag.get("spans", "" if ends == (None, None) else f"{ends[0]}~{ends[1]}")
    if not spans.strip():
        return []
    places = [_PLACE.fullmatch(part) for part in spans.split(",")]
    found = [(int(place[1]), int(place[2])) for place in places if place is not None]
    if len(found) < len(places):
        raise refusal(
            where,
            "spans, start and end are {}",
            quotes([tag.get("spans"), *ends]),
            expected="offsets as 'START~END', several with commas, or whole numbers",
        )
    return [place for place in found if place != _NOWHERE]
