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
from collections.abc import Iterable, Iterator, Mapping, Sequence
from typing import Any
from xml.etree import ElementTree as ET

from beyondchance.annotations.tags import UNNAMED
from beyondchance.errors import SpanError
from beyondchance.io.conventions import BELONG_TOGETHER
from beyondchance.io.drafts import Draft
from beyondchance.io.layers import Features, as_label
from beyondchance.io.marked import Marked, MarkedText, drafts_of, fitted
from beyondchance.io.markup import is_json, number_in, outermost, xml_root
from beyondchance.io.offsets import Interval, length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import (
    identifier,
    listed,
    mapped,
    object_of,
    refusal,
    whole,
    words_of,
)
from beyondchance.messages import Piece, Quote, Use, quotes
from beyondchance.tallies import no_spans

_ROOT = "collection"
_TYPE, _ANNOTATOR = "type", "annotator"
_PASSAGES = re.compile(r'"passages"\s*:\s*\[')
_LINES = re.compile(r"\s*\{.*\}[ \t]*\r?\n\s*\{")  # one object a line
_INSIDE = {
    "document": ("passage", "annotation", "relation"),
    "passage": ("sentence", "annotation", "relation"),
    "sentence": ("annotation", "relation"),
}
# What the interfaces of PubTator call a list of documents.
_LISTS = ("documents", "PubTator3")

_Stretch = tuple[int, str, bool]
"""The offset and the text of a passage or a sentence, and whether it is a sentence."""
_Found = Iterator[tuple[str, Mapping[str, Any]]]
"""Documents, each with the file or line that it stands in."""


def _looks_right(source: Source) -> bool:
    """Return whether a file is a BioC collection."""
    head = source.beginning
    if source.is_json:
        return _PASSAGES.search(head) is not None and '"infons"' in head
    return outermost(source) == _ROOT and ("<document>" in head or "<passage>" in head)


is_format = by_files(any, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents of all collections."""
    features = Features(reading)
    documents = [
        _document(document, place, upload.annotator, features, reading)
        for source in upload.sources_of(_looks_right, reading)
        for place, document in _documents(source, upload)
    ]
    reading.calls("infon", features.asked or _TYPE)
    features.check("infon", upload.name)
    labels = [one.label for document, _ in documents for one in document.marked]
    if features.asked is None and UNNAMED in labels:
        others = [key for key in features.known if key not in {_TYPE, _ANNOTATOR}]
        n_unnamed = labels.count(UNNAMED)
        note = f"{n_unnamed} annotations have no infon 'type' and are labelled '{UNNAMED}'"
        use = Use("feature", placeholder="KEY")
        choice = (" (", use, " takes another as the label: ", *quotes(others), ")")
        reading.note(note, *(choice if others else ()), where=upload.name)

    def documents_in(unit: str) -> list[MarkedText]:
        return [_joined(*one, unit) for one in documents]

    unit, texts = fitted(documents_in, reading, where=upload.name)
    for (document, _), text in zip(documents, texts, strict=True):
        _check_places(document.marked, text, unit)
    yield from drafts_of(texts, unit, reading, where=upload.name)


# --- The text and its offsets -------------------------------------------------


def _joined(document: MarkedText, stretches: Sequence[_Stretch], unit: str) -> MarkedText:
    """Put passages together, and count offsets in the whole."""
    stretches = sorted(stretches)
    starts = [offset for offset, *_ in stretches]
    lengths = [length_of(text, unit) for _, text, _ in stretches]
    parts: list[str] = []
    begins: list[int] = []
    length = end = 0
    for (offset, text, _), size in zip(stretches, lengths, strict=True):
        if parts and offset < end:
            raise refusal(
                document.where,
                f"the passage at offset {offset} begins before {end}, the end of the one before",
                expected="passages one after the other",
                remedy=(
                    "if offsets count something else, pass ",
                    Use("offsets", placeholder="UNIT"),
                ),
            )
        if parts and offset > end:
            parts.append("\n")
            length += 1
        begins.append(length)
        parts.append(text)
        length, end = length + size, offset + size

    def placed(offset: int) -> int:
        """Return the offset in the whole; what lies outside of all passages stays outside."""
        if not starts:
            return offset
        index = max(bisect_right(starts, offset) - 1, 0)
        inside = offset - starts[index]
        is_last = index == len(starts) - 1
        return begins[index] + (inside if is_last else min(inside, lengths[index]))

    sentences = [(begin, begin + size) for begin, size in zip(begins, lengths, strict=True)]
    return document._replace(
        text="".join(parts),
        marked=[
            one._replace(fragments=[(placed(start), placed(end)) for start, end in one.fragments])
            for one in document.marked
        ],
        sentences=sentences if sentences and all(x for *_, x in stretches) else None,
    )


def _check_places(marked: Sequence[Marked], text: MarkedText, unit: str) -> None:
    """Refuse annotations outside of all passages, with their offsets in the file."""
    length = length_of(text.text, unit)
    for one, other in zip(marked, text.marked, strict=True):
        for place, (start, end) in zip(one.fragments, other.fragments, strict=True):
            is_between = start == end and place[0] < place[1]
            if is_between or not 0 <= start <= end <= length:
                raise refusal(
                    one.where,
                    f"span [{place[0]}, {place[1]}) {{}} does not lie in a passage",
                    one.label,
                    remedy=BELONG_TOGETHER,
                    kind=SpanError,
                )


# --- Both forms ---------------------------------------------------------------


def _documents(source: Source, upload: Upload) -> _Found:
    """Return the documents of a file, which is XML, JSON, or JSON by lines, with their names."""
    found = _json_documents(source) if is_json(source) else _xml_documents(source)
    for number, (place, document) in enumerate(found, start=1):
        name = (identifier(document, "id", f"{place}: document {number}") or "").strip()
        yield place, {**document, "id": name or f"{upload.prefix_of(source, ':')}{number}"}


def _document(
    document: Mapping[str, Any], file: str, annotator: str, features: Features, reading: Reading
) -> tuple[MarkedText, list[_Stretch]]:
    """Return a document without its text, from the values that both forms have."""
    name = document["id"]
    where = (f"{file}: document ", Quote(name))
    stretches: list[_Stretch] = []
    marked: list[Marked] = []
    levels = [document]
    for number, passage in enumerate(listed(document, "passages", where), start=1):
        place = (*where, f", passage {number}")
        object_of(passage, place)
        sentences = listed(passage, "sentences", place)
        levels += [passage, *(object_of(sentence, place, "a sentence") for sentence in sentences)]
        is_whole = bool(passage.get("text")) or not sentences
        for part in [passage] if is_whole else sentences:
            if text := words_of(part, place, expected="a string"):
                offset = whole(part.get("offset"), "'offset'", place)
                stretches.append((offset, text, not is_whole))
    for level in levels:
        for annotation in listed(level, "annotations", where):
            one, infons = _marked(object_of(annotation, where, "an annotation"), where)
            if not one.fragments:
                reading.skipped[no_spans("annotations without a place")] += 1
            elif label := features.label(infons, infons.get(_TYPE) or UNNAMED):
                marked.append(one._replace(label=label))
        reading.skipped[no_spans("relations")] += len(listed(level, "relations", where))
    found = MarkedText(where=where, name=name, text="", marked=marked, annotator=annotator)
    return found, stretches


def _marked(item: Mapping[str, Any], where: tuple[Piece, ...]) -> tuple[Marked, Mapping[str, str]]:
    """Return an annotation without its label, and those of its infons that are single values."""
    name = item.get("id")
    place = (*where, ", annotation ", Quote(name))
    places: dict[Interval, None] = {}
    for location in listed(item, "locations", place):
        object_of(location, place, "a location")
        start, length = (
            whole(location.get(key), f"{key!r}", place) for key in ("offset", "length")
        )
        # PubTator writes an annotation that it found twice with the same location twice.
        places[start, start + length] = None
    infons = {
        key: as_label(value).strip()
        for key, value in mapped(item, "infons", place).items()
        if isinstance(value, str | int)
    }
    words = words_of(item, place, expected="a string") or ""
    # Whatever else its name is, nothing depends on it.
    name = str(name).strip() if isinstance(name, str | int) else ""
    surface = words if words.split() else None
    return Marked(
        place, "", list(places), surface, infons.get(_ANNOTATOR, ""), name, infons
    ), infons


# --- JSON ---------------------------------------------------------------------


def _json_documents(source: Source) -> _Found:
    """Return the documents of a collection, of a list of them, or of one object a line."""
    values: Iterable[tuple[str, Any]]
    if _LINES.match(source.text):
        values = ((f"{source.name}:{number}", value) for number, value in source.json_lines())
    else:
        values = [(source.name, source.json())]
    for where, value in values:
        for item in value if isinstance(value, list) else [value]:
            keys = [key for key in ("passages", *_LISTS) if key in object_of(item, where)]
            if not keys:
                raise refusal(
                    where,
                    "neither 'documents' nor 'passages'",
                    expected="a BioC collection with 'documents', or a document with 'passages'",
                )
            for document in [item] if "passages" in keys else listed(item, keys[0], where):
                yield where, object_of(document, where, "a document")


# --- XML ----------------------------------------------------------------------


def _xml_documents(source: Source) -> _Found:
    root = xml_root(source, program="a tool for BioC", name=_ROOT)
    for document in root.iterfind("document"):
        yield source.name, _values(document, "document")


def _values(element: ET.Element, kind: str) -> dict[str, Any]:
    """Return an element as the JSON form has it."""
    return {
        "id": element.get("id", element.findtext("id")),
        "text": element.findtext("text"),
        "offset": number_in(element.findtext("offset")),
        "infons": {one.get("key", ""): one.text or "" for one in element.iterfind("infon")},
        "locations": [
            {key: number_in(one.get(key)) for key in ("offset", "length")}
            for one in element.iterfind("location")
        ],
        **{
            f"{inner}s": [_values(one, inner) for one in element.iterfind(inner)]
            for inner in _INSIDE.get(kind, ())
        },
    }
