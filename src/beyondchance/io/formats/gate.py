"""GATE documents, as XML and as bdocjs: annotation sets are annotators.

The labels are the annotation types, unless a type and a feature are chosen. The default
set has no name; it is read only where no named set has anything to read, and its annotator
is then named after the file. XML marks places in the text itself, so its offsets need no
unit; bdocjs declares what its offsets count.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from operator import itemgetter
from typing import Any, TypeVar
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.layers import as_label, out_of_order, unknown
from beyondchance.io.markup import check_distinct, is_json, outermost, xml_root
from beyondchance.io.offsets import Interval, length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import DIGITS, refused, shown
from beyondchance.messages import Piece, Quote, Text, quotes
from beyondchance.tallies import Tally, no_spans, not_read, unsure

V = TypeVar("V")

_ROOT = "GateDocument"
_UNITS = {"p": "codepoints", "j": "utf16"}
# What the tools of GATE make by themselves, before annotators begin.
_STRUCTURE = frozenset(
    {"Token", "SpaceToken", "Sentence", "Split", "Lookup", "DEFAULT_TOKEN", "paragraph"}
)
_MARKUP = "Original markups"
_WRAPPER = "gate.corpora.ObjectWrapper"  # lists and maps, as XML inside XML
_DEFAULT = ""


@dataclass(frozen=True, slots=True)
class _Annotation:
    """One annotation."""

    where: Text
    kind: str
    start: int
    end: int
    features: Mapping[str, Any]
    id: str = ""


@dataclass(frozen=True, slots=True)
class _Document:
    """One file: its annotation sets by name."""

    source: Source
    name: str
    text: str
    offsets: str
    sets: Mapping[str, list[_Annotation]]


def _looks_like_it(source: Source) -> bool:
    """Whether a file is a GATE document."""
    return outermost(source.head_text) == _ROOT or _is_bdocjs(source)


is_format = by_files(any, _looks_like_it)


def _is_bdocjs(source: Source) -> bool:
    if not source.head_text.lstrip().startswith("{"):
        return False
    try:
        # The annotations may stand behind a long text.
        data = source.data
    except FormatError:
        return False
    return b'"annotation_sets"' in data and b'"offset_type"' in data


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents, each with its annotators."""
    documents = [
        _document(source, upload.document_of(source), reading)
        for source in upload.sources_of(_looks_like_it, reading, ".xml", ".bdocjs")
    ]
    chosen = _chosen_sets(documents, reading)
    for document in documents:
        yield from _annotated(document, chosen, upload.annotator, reading)


def _document(source: Source, name: str, reading: Reading) -> _Document:
    return _from_json(source, name) if is_json(source) else _from_xml(source, name, reading)


# --- Sets to drafts -----------------------------------------------------------


def _is_wanted(annotation: _Annotation, reading: Reading) -> bool:
    layer = reading.options["layer"]
    return annotation.kind not in _STRUCTURE if layer is None else annotation.kind == layer


def _chosen_sets(documents: list[_Document], reading: Reading) -> set[str]:
    """The sets that are annotators: those with something to read, and those left empty.

    A set that only holds tokens and the like was made by a tool.
    """
    contents: dict[str, list[_Annotation]] = {}
    for document in documents:
        for name, found in document.sets.items():
            contents.setdefault(name, []).extend(found)
    wanted = {name: any(_is_wanted(a, reading) for a in found) for name, found in contents.items()}
    layer = reading.options["layer"]
    if layer is not None and not any(wanted.values()):
        kinds = sorted({a.kind for found in contents.values() for a in found})
        where = documents[0].source.name if documents else "the folder"
        raise unknown("annotation type", layer, kinds, where)
    named = [name for name in contents if name not in {_DEFAULT, _MARKUP}]
    if any(wanted[name] for name in named):
        return {name for name in named if wanted[name] or not contents[name]}
    if wanted.get(_DEFAULT):
        return {_DEFAULT}
    return {name for name in named if not contents[name]} or {_DEFAULT}


def _annotated(
    document: _Document, chosen: set[str], annotator: str, reading: Reading
) -> Iterator[Draft]:
    """What each annotator did with one document."""
    everything = [a for found in document.sets.values() for a in found]
    tokens = _parts(document, everything, "Token", reading)
    sentences = _parts(document, everything, "Sentence", reading)
    # Where the default set is read, a document without one was annotated with nothing.
    implied: dict[str, list[_Annotation]] = {_DEFAULT: []} if chosen == {_DEFAULT} else {}
    for name, marks in {**implied, **document.sets}.items():
        reading.skipped.update(_ignored(name, marks, chosen, reading))
        if name in chosen:
            read = [a for a in marks if _is_wanted(a, reading)]
            yield Draft(
                where=_place(document.source, name),
                document=document.name,
                annotator=name or annotator,
                text=document.text,
                spans=[
                    DraftSpan(a.start, a.end, _label(a, reading), where=a.where, id=a.id)
                    for a in read
                ],
                tokens=tokens,
                sentences=sentences,
                offsets=document.offsets,
            )


def _ignored(
    name: str, annotations: list[_Annotation], chosen: set[str], reading: Reading
) -> Counter[Tally]:
    """Count the annotations of one set that are not read."""
    counts: Counter[Tally] = Counter()
    if name == _MARKUP:
        counts[not_read("annotations of the original markup")] = len(annotations)
    else:
        n_wanted = sum(_is_wanted(a, reading) for a in annotations)
        if name not in chosen:
            counts[not_read("annotations of the default set")] = n_wanted
        counts[not_read("annotations of other types")] = len(annotations) - n_wanted
    return +counts  # without those that are zero


def _label(annotation: _Annotation, reading: Reading) -> str:
    """The type, or the feature that was chosen."""
    feature = reading.options["feature"]
    if feature is None:
        return annotation.kind
    value = annotation.features.get(feature)
    if isinstance(value, int) or (isinstance(value, str) and value):
        return as_label(value)
    raise FormatError(
        *("the feature ", Quote(feature), " of a ", Quote(annotation.kind), " is "),
        shown(value) if feature in annotation.features else "missing",
        where=annotation.where,
        expected=("a name (it has the features: ", *quotes(annotation.features), ")"),
    )


def _parts(
    document: _Document, annotations: list[_Annotation], kind: str, reading: Reading
) -> list[Interval] | None:
    """Tokens or sentences, where the file has them and they follow one another."""
    places = sorted({(a.start, a.end) for a in annotations if a.kind == kind})
    if out_of_order(places, length_of(document.text, document.offsets)) is not None:
        reading.skipped[unsure(f"documents whose {kind.lower()}s overlap or do not fit")] += 1
        return None
    return places or None


# --- bdocjs -------------------------------------------------------------------


def _from_json(source: Source, name: str) -> _Document:
    data = source.json()
    sets = data.get("annotation_sets") if isinstance(data, dict) else None
    if not isinstance(sets, dict):
        raise FormatError(
            "no 'annotation_sets'", where=source.name, expected="a GATE document in bdocjs"
        )
    text = _value(data, "text", str, "a string", source.name)
    unit = data.get("offset_type")
    if not isinstance(unit, str) or unit not in _UNITS:
        expected = "'p' (code points) or 'j' (UTF-16 units)"
        raise refused(unit, "'offset_type'", source.name, expected)
    own_name = data.get("name")
    return _Document(
        source=source,
        name=own_name if isinstance(own_name, str) and own_name else name,
        text=text,
        offsets=_UNITS[unit],
        sets={key: _json_annotations(value, _place(source, key)) for key, value in sets.items()},
    )


def _json_annotations(value: object, where: tuple[Piece, ...]) -> list[_Annotation]:
    annotations = value.get("annotations") if isinstance(value, dict) else None
    if not isinstance(annotations, list):
        raise FormatError("no list 'annotations'", where=where, expected="one")
    found = []
    for number, item in enumerate(annotations, start=1):
        place = (*where, f", annotation {number}")
        if not isinstance(item, dict):
            raise FormatError("is ", shown(item), where=place, expected="an object")
        kind = _value(item, "type", str, "a name", place)
        if not kind:
            raise FormatError("'type' is empty", where=place, expected="a name")
        features: Mapping[str, Any] = {}
        if item.get("features") is not None:
            features = _value(item, "features", dict, "an object", place)
        start, end = (_value(item, key, int, "a whole number", place) for key in ("start", "end"))
        found.append(_Annotation(place, kind, start, end, features))
    return found


def _value(item: Mapping[str, Any], key: str, kind: type[V], expected: str, where: Text) -> V:
    """A value of JSON that has to be of a type; True and False are no numbers."""
    value = item.get(key)
    if type(value) is not kind:
        said = "missing" if value is None else shown(value)
        raise FormatError(f"{key!r} is ", said, where=where, expected=expected)
    return value


# --- XML ----------------------------------------------------------------------


def _from_xml(source: Source, name: str, reading: Reading) -> _Document:
    root = xml_root(source, program="GATE", name=_ROOT)
    texts = root.findall("TextWithNodes")
    if len(texts) != 1:
        raise FormatError(f"{len(texts)} elements TextWithNodes", where=source.name, expected="one")
    text, offsets = _text_with_nodes(texts[0], source.name)
    elements = root.findall("AnnotationSet")
    names = [element.get("Name") or _DEFAULT for element in elements]
    check_distinct(names, "annotation set", source.name)
    sets = {
        key: _xml_annotations(element, offsets, _place(source, key), reading)
        for key, element in zip(names, elements, strict=True)
    }
    return _Document(source, name, text, "codepoints", sets)


def _place(source: Source, name: str) -> tuple[Piece, ...]:
    """Name a set in a message."""
    return (f"{source.name}: set ", Quote(name)) if name else (source.name,)


def _text_with_nodes(element: ET.Element, where: str) -> tuple[str, dict[str, int]]:
    """The text, and the offset of each node in it."""
    nodes = list(element)
    check_distinct([node.get("id") for node in nodes], "node", where)
    parts = [element.text or ""]
    offsets = {}
    length = len(parts[0])
    for node in nodes:
        offsets[node.attrib["id"]] = length
        parts.append(node.tail or "")
        length += len(parts[-1])
    return "".join(parts), offsets


def _xml_annotations(
    element: ET.Element, offsets: Mapping[str, int], where: tuple[Piece, ...], reading: Reading
) -> list[_Annotation]:
    """The annotations of one set, in the order of the text."""
    annotations = element.findall("Annotation")
    check_distinct([annotation.get("Id") for annotation in annotations], "annotation", where)
    found = []
    for annotation in annotations:
        number, kind = annotation.attrib["Id"], annotation.get("Type")
        place = (*where, ", annotation ", Quote(number))
        if not DIGITS.fullmatch(number):
            raise FormatError("Id is not a number", where=place, expected="one")
        if not kind:
            raise FormatError("no Type", where=place, expected="a name")
        for key in ("StartNode", "EndNode"):
            if annotation.get(key) not in offsets:
                raise FormatError(
                    *(f"{key} is ", Quote(annotation.get(key)), ", which is not in the text"),
                    where=place,
                    expected="the id of a Node",
                )
        start, end = (offsets[annotation.attrib[key]] for key in ("StartNode", "EndNode"))
        if start > end:
            raise FormatError(
                "ends before it starts", where=place, expected="StartNode before EndNode"
            )
        place = (*where, f", annotation {int(number)}")
        features = _xml_features(annotation, reading)
        mark = _Annotation(place, kind, start, end, features, number)
        found.append((start, int(number), mark))
    return [mark for *_, mark in sorted(found, key=itemgetter(0, 1))]


def _xml_features(annotation: ET.Element, reading: Reading) -> dict[str, str]:
    """The features that are single values, as text; lists and maps are never opened."""
    features = {}
    for feature in annotation.findall("Feature"):
        name, value = feature.find("Name"), feature.find("Value")
        if name is None or value is None or value.get("className") == _WRAPPER:
            reading.skipped[no_spans("features that are no single value")] += 1
        elif name.text and value.text is not None:
            features[name.text] = value.text
    return features
