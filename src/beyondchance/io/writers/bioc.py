"""BioC, as XML or JSON: a collection with the annotations of all annotators, or of each."""

from __future__ import annotations

import json
from bisect import bisect_right
from collections.abc import Mapping, Sequence
from itertools import product
from typing import Any
from xml.etree import ElementTree as ET

from beyondchance.errors import DataError
from beyondchance.io.offsets import Interval, places_of
from beyondchance.io.writers.shared import FOLDER, Documents, Export, Files, check_xml, encoded
from beyondchance.messages import Quote, quotes

_DOCTYPE = '<?xml version="1.0" encoding="UTF-8"?>\n<!DOCTYPE collection SYSTEM "BioC.dtd">\n'


def composed(export: Export) -> Files:
    """Write a collection of all annotators, or one for each in a folder."""
    documents = export.documents()
    is_json = export.ending == "json"

    def collection(annotators: Sequence[int]) -> bytes:
        found: dict[int, list[int]] = {}
        for (document, annotator), spans in export.annotations.items():
            if annotator in annotators:
                found.setdefault(document, []).extend(spans)
        listed = [
            _document(export, documents, document, sorted(spans, key=start_of))
            for document, spans in found.items()
        ]
        return _json(listed) if is_json else _xml(listed)

    def start_of(span: int) -> int:
        return documents.places[span][0]

    if not export.is_folder:
        _check_annotators(export)
    return export.for_each_or_all("json" if is_json else "xml", collection)


def _check_annotators(export: Export) -> None:
    """Refuse several annotators in one file where it would not say who annotated what.

    Only annotations name their annotator, who is then taken to have annotated all documents.
    """
    people = sorted({annotator for _, annotator in export.annotations})
    if len(people) == 1:
        return
    marked = {annotator for (_, annotator), spans in export.annotations.items() if spans}
    silent = [export.corpus.annotators[who] for who in people if who not in marked]
    if silent:
        raise DataError(
            *("one file does not name annotators who marked nothing: ", *quotes(silent)),
            where=export.path,
            remedy=FOLDER,
        )
    documents = dict.fromkeys(document for document, _ in export.annotations)
    export.check_complete(product(documents, people), export.name)


def _document(
    export: Export, documents: Documents, document: int, spans: Sequence[int]
) -> dict[str, Any]:
    """Return a document with its passages, or with sentences where the corpus has them."""
    corpus = export.corpus
    text, infon = documents.texts[document], corpus.origin.get("infon", "type")
    places = [(0, len(text))]
    if "infon" in corpus.origin and not export.has_sentences:
        places = _passages(text)
    passages = [{**_stretch(text, place), "sentences": []} for place in places]
    begins = [begin for begin, _ in places]
    if export.has_sentences:
        passages[0]["text"] = ""
        passages[0]["sentences"] = [_stretch(text, x) for x in documents.sentences[document]]
    for name, index in zip(export.ids_of(spans), spans, strict=True):
        start, end = documents.places[index]
        annotation = {
            "id": name,
            "infons": {
                infon: documents.labels[index],
                "annotator": corpus.annotators[int(corpus.span_annotator[index])],
            },
            "text": text[start:end],
            "locations": [{"offset": start, "length": end - start}],
        }
        passages[bisect_right(begins, start) - 1]["annotations"].append(annotation)
    name = corpus.documents[document]
    return {"id": name, "infons": {}, "passages": passages, "annotations": [], "relations": []}


def _stretch(text: str, place: Interval) -> dict[str, Any]:
    """Return a passage or a sentence without annotations."""
    words = text[slice(*place)]
    return {"offset": place[0], "infons": {}, "text": words, "annotations": [], "relations": []}


def _passages(text: str) -> list[Interval]:
    """Return the passages of a text; a reader puts them on lines of their own.

    It knows nothing of empty ones, so that a text with an empty line stays in one piece.
    """
    lines = text.split("\n")
    return places_of(lines) if all(lines) else [(0, len(text))]


def _json(documents: Sequence[Mapping[str, Any]]) -> bytes:
    collection = {"source": "", "date": "", "key": "", "infons": {}, "documents": documents}
    return encoded(f"{json.dumps(collection, ensure_ascii=False, indent=1)}\n", "the collection")


# --- XML ----------------------------------------------------------------------


def _xml(documents: Sequence[Mapping[str, Any]]) -> bytes:
    root = ET.Element("collection")
    for name in ("source", "date", "key"):
        ET.SubElement(root, name)
    for document in documents:
        where = ("document ", Quote(document["id"]))
        element = ET.SubElement(root, "document")
        ET.SubElement(element, "id").text = document["id"]
        for passage in document["passages"]:
            _add_stretch(element, "passage", passage)
        strings = (
            string for part in element.iter() for string in (part.text, *part.attrib.values())
        )
        check_xml(filter(None, strings), where, remedy="write JSON: a name that ends with .json")
    text = ET.tostring(root, encoding="unicode", short_empty_elements=False)
    # A parser takes a bare carriage return for a line break.
    return encoded(f"{_DOCTYPE}{text}\n".replace("\r", "&#13;"), "the collection")


def _add_stretch(parent: ET.Element, kind: str, stretch: Mapping[str, Any]) -> None:
    """Add a passage or a sentence, in the order that the format wants."""
    element = ET.SubElement(parent, kind)
    ET.SubElement(element, "offset").text = str(stretch["offset"])
    if stretch["text"]:
        ET.SubElement(element, "text").text = stretch["text"]
    for sentence in stretch.get("sentences", ()):
        _add_stretch(element, "sentence", sentence)
    for annotation in stretch["annotations"]:
        mark = ET.SubElement(element, "annotation", id=annotation["id"])
        for key, value in annotation["infons"].items():
            ET.SubElement(mark, "infon", key=key).text = value
        for location in annotation["locations"]:
            ET.SubElement(mark, "location", {key: str(value) for key, value in location.items()})
        ET.SubElement(mark, "text").text = annotation["text"]
