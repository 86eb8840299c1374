"""GATE documents, as XML and as bdocjs: annotation sets are annotators.

The labels are the annotation types, unless a type and a feature are chosen. The default
set has no name; it is read only where no named set has anything to read, and its annotator
is then named after the file. XML marks places in the text itself, so its offsets need no
unit; bdocjs declares what its offsets count.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import replace
from itertools import accumulate
from operator import itemgetter
from typing import Any
from xml.etree import ElementTree as ET

from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import head_row
from beyondchance.io.layers import as_label, unknown
from beyondchance.io.markup import check_distinct, is_json, only, outermost, xml_root
from beyondchance.io.offsets import Interval, length_of, out_of_order
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.shapes import Shape, numbered
from beyondchance.io.sources import Source
from beyondchance.io.values import (
    DIGITS,
    mapped,
    object_of,
    refusal,
    refused,
    shown,
    string_of,
)
from beyondchance.messages import Quote, Text, pieces, quotes
from beyondchance.tallies import no_spans, not_read, unsure

_ROOT = "GateDocument"
_UNITS = {"p": "codepoints", "j": "utf16"}
# What the tools of GATE make by themselves, before annotators begin.
_STRUCTURE = frozenset(
    {"Token", "SpaceToken", "Sentence", "Split", "Lookup", "DEFAULT_TOKEN", "paragraph"}
)
_MARKUP = "Original markups"
_WRAPPER = "gate.corpora.ObjectWrapper"  # lists and maps, as XML inside XML
_DEFAULT = ""
_KEYS = {"annotation_sets", "offset_type"}
"""What every document in JSON has."""
_SHAPE = Shape(kind="annotation", label="type")

_Marks = list[tuple[DraftSpan, Mapping[str, Any]]]
"""Annotations, labelled by their types, with their features."""
_Document = tuple[Draft, Mapping[str, _Marks]]
"""A document without spans, and its annotation sets by name."""


def _looks_like_it(source: Source) -> bool:
    """Return whether a file is a GATE document."""
    if not source.beginning.startswith("{"):
        return outermost(source) == _ROOT
    if all(f'"{key}"' in source.head_text for key in _KEYS):
        return True
    # They may stand behind a long text.
    row = head_row(source, ("text",))
    return row is not None and row.keys() >= _KEYS


is_format = by_files(any, _looks_like_it)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents, each with its annotators."""
    documents = [
        (_from_json if is_json(source) else _from_xml)(source, upload.document_of(source), reading)
        for source in upload.sources_of(_looks_like_it, reading, ".xml", ".bdocjs")
    ]
    chosen = _chosen_sets(documents, upload.name, reading)
    for draft, sets in documents:
        everything = [span for marks in sets.values() for span, _ in marks]
        tokens, sentences = (
            _parts(draft, everything, kind, reading) for kind in ("Token", "Sentence")
        )
        # Where the default set is read, a document without one was annotated with nothing.
        implied: dict[str, _Marks] = {_DEFAULT: []} if chosen == {_DEFAULT} else {}
        for name, marks in {**implied, **sets}.items():
            wanted = [mark for mark in marks if _is_wanted(mark[0].label, reading)]
            others = "other types" if name != _MARKUP else "the original markup"
            n_others = len(marks) - len(wanted) if name != _MARKUP else len(marks)
            reading.skipped[not_read(f"annotations of {others}")] += n_others
            if name in chosen:
                yield replace(
                    draft,
                    where=_place(draft.where, name),
                    annotator=name or upload.annotator,
                    spans=[_labelled(*mark, reading) for mark in wanted],
                    tokens=tokens,
                    sentences=sentences,
                )
            elif name != _MARKUP:
                reading.skipped[not_read("annotations of the default set")] += len(wanted)


def _is_wanted(kind: str, reading: Reading) -> bool:
    layer = reading.options["layer"]
    return kind not in _STRUCTURE if layer is None else kind == layer


def _chosen_sets(documents: list[_Document], where: str, reading: Reading) -> set[str]:
    """Return the sets that are annotators: those with something to read, and those left empty.

    A set that only holds tokens and the like was made by a tool.
    """
    kinds: dict[str, set[str]] = {}
    for _, sets in documents:
        for name, marks in sets.items():
            kinds.setdefault(name, set()).update(span.label for span, _ in marks)
    wanted = {name for name, own in kinds.items() if any(_is_wanted(x, reading) for x in own)}
    layer = reading.options["layer"]
    if layer is not None and not wanted:
        raise unknown("annotation type", layer, sorted(set().union(*kinds.values())), where)
    named = kinds.keys() - {_DEFAULT, _MARKUP}
    empty = {name for name in named if not kinds[name]}
    if wanted & named:
        return wanted & named | empty
    return {_DEFAULT} if _DEFAULT in wanted else empty or {_DEFAULT}


def _labelled(span: DraftSpan, features: Mapping[str, Any], reading: Reading) -> DraftSpan:
    """Label a span by its type, or by the feature that was chosen."""
    feature = reading.options["feature"]
    if feature is None:
        return span
    value = features.get(feature)
    if isinstance(value, int) or (isinstance(value, str) and value):
        return replace(span, label=as_label(value))
    raise refusal(
        span.where or (),
        "the feature {} of a {} is {}",
        *(feature, span.label, (shown(value) if feature in features else "missing",)),
        expected=("a name (it has the features: ", *quotes(features), ")"),
    )


def _parts(
    draft: Draft, annotations: list[DraftSpan], kind: str, reading: Reading
) -> list[Interval] | None:
    """Return tokens or sentences, where the file has them and they follow one another."""
    places = sorted({(a.start, a.end) for a in annotations if a.label == kind})
    if out_of_order(places, length_of(draft.text, draft.offsets)) is not None:
        reading.skipped[unsure(f"documents whose {kind.lower()}s overlap or do not fit")] += 1
        return None
    return places or None


def _place(file: Text, name: str) -> Text:
    """Name a set in a message."""
    return (f"{file}: set ", Quote(name)) if name else file


def _document(where: str, name: str, text: str, offsets: str = "codepoints") -> Draft:
    return Draft(where=where, document=name, annotator="", text=text, spans=(), offsets=offsets)


# --- bdocjs -------------------------------------------------------------------


def _from_json(source: Source, name: str, reading: Reading) -> _Document:
    where = source.name
    data = object_of(source.json(), where)
    sets = object_of(data.get("annotation_sets"), where, "'annotation_sets'")
    unit = data.get("offset_type")
    if not isinstance(unit, str) or unit not in _UNITS:
        raise refused(unit, "'offset_type'", where, "'p' (code points) or 'j' (UTF-16 units)")
    own = data.get("name")
    if isinstance(own, str) and own:
        name = own
    draft = _document(where, name, string_of(data, "text", where), _UNITS[unit])
    return draft, {
        key: _json_marks(value, _place(where, key), reading) for key, value in sets.items()
    }


def _json_marks(value: object, where: Text, reading: Reading) -> _Marks:
    annotations = object_of(value, where).get("annotations")
    if not isinstance(annotations, list):
        raise refused(annotations, "'annotations'", where, "a list")
    return [
        (span, mapped(item, "features", at))
        for at, item in numbered(annotations, where, _SHAPE.kind)
        for span in _SHAPE.marks(item, "", at, reading)
    ]


# --- XML ----------------------------------------------------------------------


def _from_xml(source: Source, name: str, reading: Reading) -> _Document:
    where = source.name
    root = xml_root(source, program="GATE", name=_ROOT)
    text = only(root, "TextWithNodes", where)
    check_distinct((node.get("id") for node in text), "node", where)
    parts = [text.text or "", *(node.tail or "" for node in text)]
    ends = accumulate(map(len, parts))
    offsets = {node.attrib["id"]: end for node, end in zip(text, ends, strict=False)}
    sets = [
        (element.get("Name") or _DEFAULT, element) for element in root.iterfind("AnnotationSet")
    ]
    check_distinct((key for key, _ in sets), "annotation set", where)
    return _document(where, name, "".join(parts)), {
        key: _xml_marks(element, offsets, _place(where, key), reading) for key, element in sets
    }


def _xml_marks(
    element: ET.Element, offsets: Mapping[str, int], where: Text, reading: Reading
) -> _Marks:
    """Return the annotations of one set, in the order of the text."""
    annotations = element.findall("Annotation")
    check_distinct((annotation.get("Id") for annotation in annotations), "annotation", where)
    found = []
    for annotation in annotations:
        keys = ("Id", "Type", "StartNode", "EndNode")
        name, kind, *nodes = (annotation.get(key) or "" for key in keys)
        start, end = (offsets.get(node, -1) for node in nodes)
        if not DIGITS.fullmatch(name) or not kind or not 0 <= start <= end:
            raise refusal(
                (*pieces(where), ", annotation ", Quote(name)),
                "Id, Type, StartNode and EndNode are {}",
                quotes([name, kind, *nodes]),
                expected="a number, a name, and the ids of two nodes in the order of the text",
            )
        place = (*pieces(where), f", annotation {int(name)}")
        span = DraftSpan(start, end, kind, where=place, id=name)
        found.append((start, int(name), (span, _xml_features(annotation, reading))))
    return [mark for *_, mark in sorted(found, key=itemgetter(0, 1))]


def _xml_features(annotation: ET.Element, reading: Reading) -> dict[str, str]:
    """Return the features that are single values, as text; lists and maps are never opened."""
    features = {}
    for feature in annotation.findall("Feature"):
        name, value = feature.find("Name"), feature.find("Value")
        if name is None or value is None or value.get("className") == _WRAPPER:
            reading.skipped[no_spans("features that are no single value")] += 1
        elif name.text and value.text is not None:
            features[name.text] = value.text
    return features
