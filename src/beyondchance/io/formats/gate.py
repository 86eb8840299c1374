"""GATE documents, as XML and as bdocjs: annotation sets are annotators.

The labels are the annotation types, unless a type and a feature are chosen. The default
set has no name; it is read only where no named set has anything to read, and is then by
the annotator that the file is named after. XML marks places in the text itself, so its
offsets need no unit; bdocjs says what its offsets count.
"""

from __future__ import annotations

import logging
import re
import tempfile
import warnings
from collections import Counter
from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import pairwise
from pathlib import Path
from typing import Any
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, DraftSpan, Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload, required
from beyondchance.io.sources import Source, safe_xml

_ROOT = re.compile(r"\s*(<\?xml[^>]*\?>)?(\s|<!--.*?-->)*<GateDocument\b", re.DOTALL)
_UNITS = {"p": "codepoints", "j": "utf16"}
# What the tools of GATE make by themselves, before anybody annotates.
_STRUCTURE = frozenset(
    {"Token", "SpaceToken", "Sentence", "Split", "Lookup", "DEFAULT_TOKEN", "paragraph"}
)
_MARKUP = "Original markups"
_DEFAULT = ""


@dataclass(frozen=True, slots=True)
class _Annotation:
    """One annotation."""

    where: str
    kind: str
    start: int
    end: int
    features: Mapping[str, Any]


@dataclass(frozen=True, slots=True)
class _Document:
    """One file: its annotation sets by name."""

    source: Source
    name: str
    text: str
    offsets: str
    sets: Mapping[str, list[_Annotation]]


def is_format(upload: Upload) -> bool:
    """Whether the file, or some file of a folder, is a GATE document."""
    return upload.data is None and any(map(_looks_like_it, upload.sources))


def _looks_like_it(source: Source) -> bool:
    return _ROOT.match(source.head_text) is not None or _is_bdocjs(source)


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
    documents = []
    for source in upload.sources:
        is_other = upload.is_folder and not source.name.endswith((".xml", ".bdocjs"))
        if is_other and not _looks_like_it(source):
            reading.skipped["files of other formats ignored"] += 1
        else:
            documents.append(_document(source, upload.document_of(source), reading))
    chosen = _chosen_sets(documents, reading)
    for document in documents:
        yield from _annotated(document, chosen, upload.annotator, reading)


def _document(source: Source, name: str, reading: Reading) -> _Document:
    # By the bytes too, so that JSON which is not UTF-8 is told so.
    if source.head_text.lstrip().startswith("{") or source.head.lstrip().startswith(b"{"):
        return _from_json(source, name)
    return _from_xml(source, name, reading)


# --- Sets to drafts -----------------------------------------------------------


def _is_wanted(annotation: _Annotation, reading: Reading) -> bool:
    layer = reading.options["layer"]
    return annotation.kind not in _STRUCTURE if layer is None else annotation.kind == layer


def _chosen_sets(documents: list[_Document], reading: Reading) -> list[str]:
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
        raise FormatError(
            f"{where}: no annotation has the type {layer!r}; expected one of those in the file: "
            f"{', '.join(kinds) or 'none'}"
        )
    named = [name for name in contents if name not in {_DEFAULT, _MARKUP}]
    if any(wanted[name] for name in named):
        return [name for name in named if wanted[name] or not contents[name]]
    if wanted.get(_DEFAULT):
        return [_DEFAULT]
    return [name for name in named if not contents[name]] or [_DEFAULT]


def _annotated(
    document: _Document, chosen: list[str], annotator: str, reading: Reading
) -> Iterator[Draft]:
    """What each annotator did with one document."""
    everything = [a for found in document.sets.values() for a in found]
    tokens = _parts(document, everything, "Token", reading)
    sentences = _parts(document, everything, "Sentence", reading)
    for name, found in document.sets.items():
        read = [a for a in found if name in chosen and _is_wanted(a, reading)]
        reading.skipped.update(_ignored(name, found, len(read), chosen, reading))
        if name in chosen:
            yield Draft(
                where=f"{document.source.name}: set {name!r}" if name else document.source.name,
                document=document.name,
                annotator=name or annotator,
                text=document.text,
                spans=[DraftSpan(a.start, a.end, _label(a, reading), where=a.where) for a in read],
                tokens=tokens,
                sentences=sentences,
                offsets=document.offsets,
            )
    if chosen == [_DEFAULT] and _DEFAULT not in document.sets:
        yield Draft(
            where=document.source.name,
            document=document.name,
            annotator=annotator,
            text=document.text,
            spans=[],
            tokens=tokens,
            sentences=sentences,
            offsets=document.offsets,
        )


def _ignored(
    name: str, annotations: list[_Annotation], n_read: int, chosen: list[str], reading: Reading
) -> Counter[str]:
    """Count the annotations of one set that are not read."""
    counts: Counter[str] = Counter()
    if name == _MARKUP:
        counts[f"annotations of the set {_MARKUP!r} ignored"] = len(annotations)
    elif name not in chosen:
        n_wanted = sum(_is_wanted(a, reading) for a in annotations)
        counts["annotations of the default set ignored"] = n_wanted
        counts["annotations of other types ignored"] = len(annotations) - n_wanted
    else:
        counts["annotations of other types ignored"] = len(annotations) - n_read
    return Counter({reason: count for reason, count in counts.items() if count})


def _label(annotation: _Annotation, reading: Reading) -> str:
    """The type, or the feature that was chosen."""
    feature = reading.options["feature"]
    if feature is None:
        return annotation.kind
    value = annotation.features.get(feature)
    if isinstance(value, bool):
        return str(value).lower()
    if isinstance(value, int) or (isinstance(value, str) and value):
        return str(value)
    found = f"is {value!r}" if feature in annotation.features else "is missing"
    known = ", ".join(map(str, annotation.features)) or "none"
    raise FormatError(
        f"{annotation.where}: the feature {feature!r} of a {annotation.kind} {found}; expected a "
        f"name (it has the features: {known})"
    )


def _parts(
    document: _Document, annotations: list[_Annotation], kind: str, reading: Reading
) -> list[Interval] | None:
    """Tokens or sentences, where the file has them and they follow one another."""
    found = sorted({(a.start, a.end) for a in annotations if a.kind == kind})
    if not found:
        return None
    follow = all(before[1] <= after[0] for before, after in pairwise(found))
    n_units = len(document.text)
    if document.offsets == "utf16":
        n_units += sum(ord(character) >= 0x10000 for character in document.text)
    if not follow or any(not 0 <= start < end <= n_units for start, end in found):
        reading.skipped[f"documents whose {kind} annotations overlap or do not fit"] += 1
        return None
    return found


# --- bdocjs -------------------------------------------------------------------


def _from_json(source: Source, name: str) -> _Document:
    data = source.json()
    if not isinstance(data, dict) or not isinstance(data.get("annotation_sets"), dict):
        raise FormatError(
            f"{source.name}: no 'annotation_sets'; expected a GATE document in bdocjs"
        )
    text = data.get("text")
    if not isinstance(text, str):
        raise FormatError(f"{source.name}: 'text' is {_shown(text)}; expected a string")
    unit = data.get("offset_type")
    if not isinstance(unit, str) or unit not in _UNITS:
        raise FormatError(
            f"{source.name}: 'offset_type' is {_shown(unit)}; expected 'p' (code points) or 'j' "
            "(UTF-16 units)"
        )
    own_name = data.get("name")
    return _Document(
        source=source,
        name=own_name if isinstance(own_name, str) and own_name else name,
        text=text,
        offsets=_UNITS[unit],
        sets={
            key: _json_annotations(value, f"{source.name}: set {key!r}")
            for key, value in data["annotation_sets"].items()
        },
    )


def _json_annotations(value: object, where: str) -> list[_Annotation]:
    annotations = value.get("annotations") if isinstance(value, dict) else None
    if not isinstance(annotations, list):
        raise FormatError(f"{where} has no list 'annotations'; expected one")
    found = []
    for number, item in enumerate(annotations, start=1):
        place = f"{where}, annotation {number}"
        if not isinstance(item, dict):
            raise FormatError(f"{place} is {_shown(item)}; expected an object")
        kind, features = item.get("type"), item.get("features")
        if not isinstance(kind, str) or not kind:
            raise FormatError(f"{place}: 'type' is {_shown(kind)}; expected a name")
        if features is not None and not isinstance(features, dict):
            raise FormatError(f"{place}: 'features' is {_shown(features)}; expected an object")
        start, end = (_offset(item.get(key), key, place) for key in ("start", "end"))
        found.append(_Annotation(place, kind, start, end, features or {}))
    return found


def _offset(value: object, key: str, where: str) -> int:
    if type(value) is not int:
        raise FormatError(f"{where}: {key!r} is {_shown(value)}; expected a whole number")
    return value


def _shown(value: object) -> str:
    """A value in a message, cut short."""
    if value is None:
        return "missing"
    text = repr(value)
    return text if len(text) <= 40 else f"{text[:40]}…"


# --- XML ----------------------------------------------------------------------


def _from_xml(source: Source, name: str, reading: Reading) -> _Document:
    data = safe_xml(source)
    try:
        root = ET.fromstring(data)  # noqa: S314 - declares nothing
    except ET.ParseError as error:
        line, column = error.position
        raise FormatError(
            f"{source.name}:{line}: not well-formed XML at column {column + 1}; expected a "
            "document that GATE saved"
        ) from None
    except (LookupError, ValueError) as error:  # an encoding that is not what it says
        raise FormatError(f"{source.name}: XML that cannot be decoded ({error})") from None
    if root.tag != "GateDocument":
        raise FormatError(
            f"{source.name}: the root element is {root.tag!r}; expected 'GateDocument'"
        )
    _check_xml(root, source.name)
    _simplify(root, reading)
    document = _loaded(root, source.name)
    sets = {}
    for key in document.annset_names():
        where = f"{source.name}: set {key!r}, annotation " if key else f"{source.name}: annotation "
        sets[key] = [
            _Annotation(f"{where}{a.id}", a.type, a.start, a.end, dict(a.features))
            for a in document.annset(key)
        ]
    return _Document(source, name, document.text or "", "codepoints", sets)


def _check_xml(root: ET.Element, name: str) -> None:
    """Refuse what the library would overwrite in silence or stumble over."""
    texts = root.findall("TextWithNodes")
    if len(texts) != 1:
        raise FormatError(f"{name}: {len(texts)} elements TextWithNodes; expected one")
    nodes = _once([node.get("id") for node in texts[0]], f"{name}: node")
    sets = root.findall("AnnotationSet")
    _once([item.get("Name") or _DEFAULT for item in sets], f"{name}: annotation set")
    for item in sets:
        where = f"{name}: set {item.get('Name')!r}" if item.get("Name") else name
        annotations = item.findall("Annotation")
        _once([annotation.get("Id") for annotation in annotations], f"{where}: annotation")
        for annotation in annotations:
            place = f"{where}: annotation {annotation.get('Id')}"
            if not re.fullmatch(r"[0-9]{1,18}", annotation.get("Id") or ""):
                raise FormatError(f"{place}: Id is not a number; expected one")
            if not annotation.get("Type"):
                raise FormatError(f"{place} has no Type; expected a name")
            for key in ("StartNode", "EndNode"):
                if annotation.get(key) not in nodes:
                    raise FormatError(
                        f"{place}: {key} is {_shown(annotation.get(key))}, which is not in the "
                        "text; expected the id of a Node"
                    )
            if nodes[annotation.get("StartNode")] > nodes[annotation.get("EndNode")]:
                raise FormatError(
                    f"{place} ends before it starts; expected StartNode before EndNode"
                )


def _once(names: list[str | None], what: str) -> dict[str | None, int]:
    """The place of each name; refused if one comes twice or is missing."""
    for found, count in Counter(names).items():
        if found is None or count > 1:
            problem = "without an id" if found is None else f"{found!r} {count} times"
            raise FormatError(f"{what} {problem}; expected each once, by its own name")
    return {found: place for place, found in enumerate(names)}


def _simplify(root: ET.Element, reading: Reading) -> None:
    """Make every feature a string.

    The library would parse the documents inside lists and maps without a guard, and takes
    every Boolean for true.
    """
    # None of the document's own features is read.
    for features in root.findall("GateDocumentFeatures"):
        root.remove(features)
    for annotation in root.iter("Annotation"):
        for feature in annotation.findall("Feature"):
            name, value = feature.find("Name"), feature.find("Value")
            kind = "" if value is None else value.get("className", "")
            if name is None or value is None or kind == "gate.corpora.ObjectWrapper":
                annotation.remove(feature)
                reading.skipped["features that are no single value ignored"] += 1
            else:
                for element in (name, value):
                    element.set("className", "java.lang.String")
                    # Elements inside would be lost, and are not part of the format.
                    for inner in list(element):
                        element.remove(inner)


def _loaded(root: ET.Element, name: str) -> Any:
    """Have the library read the checked document; it only reads files."""
    library = _library()
    try:
        # A carriage return by itself would be read as the end of a line.
        data = ET.tostring(root, encoding="utf-8").replace(b"\r", b"&#13;")
        with tempfile.TemporaryDirectory() as folder, warnings.catch_warnings():
            warnings.simplefilter("ignore")
            path = Path(folder) / "document.xml"
            path.write_bytes(data)
            return library.Document.load(path, fmt="gatexml", show_warnings=False)
    except Exception as error:
        raise FormatError(f"{name}: gatenlp cannot read the document ({error})") from None


def _library() -> Any:
    """Import the library without the handler that it gives to everybody's log."""
    log = logging.getLogger()
    handlers, level = list(log.handlers), log.level
    with warnings.catch_warnings():
        warnings.simplefilter("ignore")
        library = required("gatenlp", extra="gate", purpose="reading GATE XML")
    for handler in set(log.handlers) - set(handlers):
        log.removeHandler(handler)
    log.setLevel(level)
    return library
