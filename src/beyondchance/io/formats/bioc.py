"""BioC, as XML and as JSON: collections of documents, each a row of passages.

A document's text is put together from its passages, or their sentences, in the order of
their offsets. Offsets count through the document; between two passages, however far apart
they are, stands one line break, because no annotator could mark what is not there. The
specification wants offsets in bytes, most writers count code points: the words that are
stored with annotations decide, and ``offsets`` overrides them.

The label is the infon ``type``, or the one that ``feature`` names; the infon ``annotator``
names the annotator.
"""

from __future__ import annotations

import re
from bisect import bisect_right
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from typing import Any
from xml.etree import ElementTree as ET

from beyondchance.annotations.tags import UNNAMED
from beyondchance.errors import FormatError, SpanError
from beyondchance.io.drafts import Draft
from beyondchance.io.layers import as_label, unknown
from beyondchance.io.marked import Marked, MarkedText, drafts_of, fitted
from beyondchance.io.markup import is_json, outermost, xml_root
from beyondchance.io.offsets import Interval, length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import identifier, listed, object_of, refused, whole
from beyondchance.messages import Piece, Quote, Text, Use, quotes
from beyondchance.tallies import left_out, no_spans

_ROOT = "collection"
_TYPE, _ANNOTATOR = "type", "annotator"
_PASSAGES = re.compile(r'"passages"\s*:\s*\[')
_LINES = re.compile(r"\s*\{.*\}[ \t]*\r?\n\s*\{")  # one object a line
_NUMBER = re.compile(r"\s*[0-9]{1,18}\s*")
_INSIDE = {
    "document": ("passage", "annotation", "relation"),
    "passage": ("sentence", "annotation", "relation"),
    "sentence": ("annotation", "relation"),
}
# What the interfaces of PubTator call a list of documents.
_LISTS = ("documents", "PubTator3")


@dataclass(frozen=True, slots=True)
class _Piece:
    """A passage or a sentence: a stretch of text with its offset in the document."""

    offset: int
    text: str
    is_sentence: bool


@dataclass(frozen=True, slots=True)
class _Annotation:
    """One annotation, with its offsets in the document."""

    where: Text
    infons: Mapping[str, str]
    places: Sequence[Interval]
    surface: str | None
    id: str


@dataclass(frozen=True, slots=True)
class _Document:
    """One document, before it is known what its offsets count."""

    where: Text
    name: str
    pieces: Sequence[_Piece]
    annotations: Sequence[_Annotation]


def _looks_right(source: Source) -> bool:
    """Whether a file is a BioC collection."""
    head = source.head_text
    if head.lstrip()[:1] in {"{", "["}:
        return _PASSAGES.search(head) is not None and '"infons"' in head
    return outermost(head) == _ROOT and ("<document>" in head or "<passage>" in head)


is_format = by_files(any, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents of all collections."""
    documents = [
        document
        for source in upload.sources_of(_looks_right, reading)
        for document in _documents(source, upload, reading)
    ]
    label_of = _labels(documents, upload.name, reading)

    def documents_in(unit: str) -> list[MarkedText]:
        return [_marked_text(one, unit, upload.annotator, label_of) for one in documents]

    unit, texts = fitted(documents_in, reading, where=upload.name)
    for document, text in zip(documents, texts, strict=True):
        labelled = [one for one in document.annotations if label_of(one)]
        _check_places(labelled, text, unit)
    yield from drafts_of(texts, unit, reading, where=upload.name)


# --- Labels -------------------------------------------------------------------


def _labels(
    documents: Sequence[_Document], name: str, reading: Reading
) -> Callable[[_Annotation], str | None]:
    """A function of an annotation that returns its label; None leaves it out."""
    annotations = [one for document in documents for one in document.annotations]
    known = dict.fromkeys(key for one in annotations for key in one.infons)
    feature: str | None = reading.options["feature"]
    reading.calls("infon", feature or _TYPE)
    n_without = sum(not one.infons.get(feature or _TYPE) for one in annotations)
    if feature is None:
        if n_without:
            others = [key for key in known if key not in {_TYPE, _ANNOTATOR}]
            note = f"{n_without} annotations have no infon 'type' and are labelled '{UNNAMED}'"
            use = Use("feature", placeholder="KEY")
            choice = (" (", use, " takes another as the label: ", *quotes(others), ")")
            reading.note(note, *(choice if others else ()), where=name)
        return lambda one: one.infons.get(_TYPE) or UNNAMED
    if annotations and feature not in known:
        raise unknown("infon", feature, known, name)
    if n_without:
        reading.skipped[left_out("annotations without a label", "")] += n_without
    return lambda one: one.infons.get(feature)


# --- The text and its offsets -------------------------------------------------


def _marked_text(
    document: _Document,
    unit: str,
    annotator: str,
    label_of: Callable[[_Annotation], str | None],
) -> MarkedText:
    """Put the pieces together, and count offsets in the whole."""
    pieces = sorted(document.pieces, key=lambda piece: piece.offset)
    starts = [piece.offset for piece in pieces]
    lengths = [length_of(piece.text, unit) for piece in pieces]
    parts: list[str] = []
    begins: list[int] = []
    length = end = 0
    for piece, size in zip(pieces, lengths, strict=True):
        if parts and piece.offset < end:
            raise FormatError(
                f"the passage at offset {piece.offset} begins before the end of the one before, "
                f"which is {end}",
                where=document.where,
                expected="passages one after the other",
                remedy=(
                    "if offsets count something else, pass ",
                    Use("offsets", placeholder="UNIT"),
                ),
            )
        if parts and piece.offset > end:
            parts.append("\n")
            length += 1
        begins.append(length)
        parts.append(piece.text)
        length, end = length + size, piece.offset + size

    def placed(offset: int) -> int:
        """The offset in the whole; what lies outside of all pieces stays outside."""
        index = bisect_right(starts, offset) - 1
        if index < 0:
            return offset - (starts[0] if starts else 0)
        inside = offset - starts[index]
        is_last = index == len(starts) - 1
        return begins[index] + (inside if is_last else min(inside, lengths[index]))

    return MarkedText(
        where=document.where,
        name=document.name,
        text="".join(parts),
        marked=[
            Marked(
                where=one.where,
                label=label,
                fragments=[(placed(start), placed(end)) for start, end in one.places],
                surface=one.surface,
                annotator=one.infons.get(_ANNOTATOR, ""),
                id=one.id,
            )
            for one in document.annotations
            if (label := label_of(one))
        ],
        sentences=[
            (begin, begin + size) for begin, size in zip(begins, lengths, strict=True) if size
        ]
        if pieces and all(piece.is_sentence for piece in pieces)
        else None,
        annotator=annotator,
    )


def _check_places(annotations: Sequence[_Annotation], text: MarkedText, unit: str) -> None:
    """Refuse annotations outside of all passages, with their offsets in the file."""
    length = length_of(text.text, unit)
    for one, marked in zip(annotations, text.marked, strict=True):
        for place, (start, end) in zip(one.places, marked.fragments, strict=True):
            is_between = start == end and place[0] < place[1]
            if is_between or not 0 <= start <= end <= length:
                raise SpanError(
                    *(f"span [{place[0]}, {place[1]}) ", Quote(marked.label)),
                    " does not lie in a passage",
                    where=one.where,
                    remedy="check that offsets and text belong together",
                )


# --- Both forms ---------------------------------------------------------------


def _documents(source: Source, upload: Upload, reading: Reading) -> Iterator[_Document]:
    """The documents of a file, which is XML, JSON, or JSON by lines."""
    found = _json_documents(source) if is_json(source) else _xml_documents(source)
    for number, (place, document) in enumerate(found, start=1):
        where: tuple[Piece, ...] = (place, f": document {number}")
        name = identifier(document, "id", where)
        name = (name or "").strip() or f"{upload.prefix_of(source, ':')}{number}"
        yield _document(document, (place, ": document ", Quote(name)), name, reading)


def _document(
    document: Mapping[str, Any], where: tuple[Piece, ...], name: str, reading: Reading
) -> _Document:
    """One document, from the values that both forms have."""
    pieces: list[_Piece] = []
    annotations: list[_Annotation] = []
    levels = [document]
    for number, passage in enumerate(listed(document, "passages", where), start=1):
        place = (*where, f", passage {number}")
        object_of(passage, place)
        sentences = listed(passage, "sentences", place)
        levels += [passage, *(object_of(sentence, place, "a sentence") for sentence in sentences)]
        is_whole = bool(passage.get("text")) or not sentences
        for part in [passage] if is_whole else sentences:
            text = _string(part, "text", place)
            if text:
                offset = whole(part.get("offset"), "'offset'", place)
                pieces.append(_Piece(offset, text, not is_whole))
    for level in levels:
        for annotation in listed(level, "annotations", where):
            one = _annotation(object_of(annotation, where, "an annotation"), where)
            if one.places:
                annotations.append(one)
            else:
                reading.skipped[no_spans("annotations without a place")] += 1
        if relations := listed(level, "relations", where):
            reading.skipped[no_spans("relations")] += len(relations)
    return _Document(where, name, pieces, annotations)


def _annotation(item: Mapping[str, Any], where: tuple[Piece, ...]) -> _Annotation:
    place = (*where, ", annotation ", Quote(item.get("id")))
    places = []
    for location in listed(item, "locations", place):
        object_of(location, place, "a location")
        start = whole(location.get("offset"), "'offset'", place)
        places.append((start, start + whole(location.get("length"), "'length'", place)))
    # PubTator writes an annotation that it found twice with the same location twice.
    places = list(dict.fromkeys(places))
    surface = _string(item, "text", place)
    return _Annotation(
        place,
        _infons(item, place),
        places,
        surface if surface.split() else None,
        # Whatever else it is, nothing depends on it.
        str(item["id"]).strip() if isinstance(item.get("id"), str | int) else "",
    )


def _string(item: Mapping[str, Any], key: str, where: Text) -> str:
    value = item.get(key)
    if value is None:
        return ""
    if not isinstance(value, str):
        raise refused(value, f"{key!r}", where, "a string")
    return value


def _infons(item: Mapping[str, Any], where: Text) -> dict[str, str]:
    """The infons that are single values."""
    infons = item.get("infons")
    pairs = {} if infons is None else object_of(infons, where, "'infons'")
    return {
        key: as_label(value).strip() for key, value in pairs.items() if isinstance(value, str | int)
    }


# --- JSON ---------------------------------------------------------------------


_Found = Iterator[tuple[str, Mapping[str, Any]]]
"""Documents with their places."""


def _json_documents(source: Source) -> _Found:
    """The documents of a collection, of a list of them, or of one object a line."""
    values: Iterable[tuple[str, Any]]
    if _LINES.match(source.text):
        values = ((f"{source.name}:{number}", value) for number, value in source.json_lines())
    else:
        values = [(source.name, source.json())]
    for where, value in values:
        for item in value if isinstance(value, list) else [value]:
            yield from _in_object(item, where)


def _in_object(value: Any, where: str) -> _Found:
    item = object_of(value, where)
    if "passages" in item:
        yield where, item
        return
    key = next((key for key in _LISTS if key in item), None)
    if key is None:
        expected = "a BioC collection with 'documents', or a document with 'passages'"
        raise FormatError("neither 'documents' nor 'passages'", where=where, expected=expected)
    for document in listed(item, key, where):
        yield where, object_of(document, where, "a document")


# --- XML ----------------------------------------------------------------------


def _xml_documents(source: Source) -> _Found:
    root = xml_root(source, program="a tool for BioC", name=_ROOT)
    for document in root.iterfind("document"):
        yield source.name, _values(document, "document")


def _values(element: ET.Element, kind: str) -> dict[str, Any]:
    """An element as the JSON form has it."""
    return {
        "id": element.get("id", element.findtext("id")),
        "text": element.findtext("text"),
        "offset": _number(element.findtext("offset")),
        "infons": {one.get("key", ""): one.text or "" for one in element.iterfind("infon")},
        "locations": [
            {key: _number(one.get(key)) for key in ("offset", "length")}
            for one in element.iterfind("location")
        ],
        **{
            f"{inner}s": [_values(one, inner) for one in element.iterfind(inner)]
            for inner in _INSIDE.get(kind, ())
        },
    }


def _number(text: str | None) -> int | str | None:
    """A whole number; anything else as it is, to be refused where it is needed."""
    return int(text) if text is not None and _NUMBER.fullmatch(text) else text
