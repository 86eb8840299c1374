"""UIMA CAS: XMI with its type system, or CAS JSON, for a document of one annotator."""

from __future__ import annotations

import re
import warnings
from collections.abc import Iterator, Mapping
from itertools import chain, count
from typing import Any

from beyondchance.errors import DataError
from beyondchance.io.offsets import Interval
from beyondchance.io.registry import required
from beyondchance.io.writers.shared import Documents, Export, Files, check_xml, encoded, file_name

TYPES = "TypeSystem.xml"
"""What the file next to XMI is called."""
_SEGMENT = "de.tudarmstadt.ukp.dkpro.core.api.segmentation.type"
_ANNOTATION = "uima.tcas.Annotation"
_METADATA = "de.tudarmstadt.ukp.dkpro.core.api.metadata.type.DocumentMetaData"
_ID = re.compile("[1-9][0-9]{0,8}")


def composed(export: Export) -> Files:
    """Write a CAS for each document in the folder of each annotator, or the only one as JSON."""
    corpus = export.corpus
    library = required("cassis", extra="uima", purpose="writing UIMA CAS files")
    kind = export.ending if export.ending in {"json", "xmi"} else corpus.origin.get("cas")
    is_json = kind == "json"
    if not is_json and not export.is_folder:
        raise DataError(
            "XMI needs its type system next to it",
            where=export.path,
            remedy="give a folder, a path that ends with '/', or a name that ends with .json",
        )
    documents, names = export.documents(), export.layer_and_feature()
    types = _type_system(library, *names)

    def content(document: int, annotator: int) -> bytes:
        where = export.named(document)
        if not is_json:
            strings = (documents.texts[document], corpus.documents[document], *corpus.labels)
            check_xml(strings, where, remedy="write CAS JSON: give a folder that ends with .json/")
        with warnings.catch_warnings():
            warnings.simplefilter("ignore")
            cas = library.Cas(types)
            spans = export.annotations[document, annotator]
            ids = dict(zip(spans, map(int, export.ids_of(spans, kind=_ID)), strict=True))
            _fill(cas, export, documents, document, count(max(ids.values(), default=0) + 1))
            _mark(cas, documents, ids, names)
            return encoded(cas.to_json() if is_json else cas.to_xmi(), *where)

    files = export.for_each_document("json" if is_json else "xmi", content, what="a CAS")
    if not is_json and isinstance(files, dict):
        people = dict.fromkeys(corpus.annotators[annotator] for _, annotator in export.annotations)
        files |= {
            f"{file_name('annotator', who)}/{TYPES}": types.to_xml().encode() for who in people
        }
    return files


def _type_system(library: Any, layer: str, feature: str) -> Any:
    """Return the types that documents are made of, each with the features that are written."""
    types = library.TypeSystem()
    wanted = {
        _METADATA: ("documentTitle", "uima.tcas.DocumentAnnotation"),
        f"{_SEGMENT}.Sentence": ("", _ANNOTATION),
        f"{_SEGMENT}.Token": ("", _ANNOTATION),
        layer: (feature, _ANNOTATION),
    }
    for name, (feature_name, supertype) in wanted.items():
        kind = types.create_type(name, supertypeName=supertype)
        if feature_name:
            with warnings.catch_warnings():
                warnings.simplefilter("ignore")  # of names that it changes
                types.create_feature(kind, feature_name, "uima.cas.String")
    return types


def _fill(
    cas: Any, export: Export, documents: Documents, document: int, free: Iterator[int]
) -> None:
    """Put a text into a CAS, its title, and its sentences and tokens if they are known."""
    cas.sofa_string = documents.texts[document]
    cas.sofa_mime = "text/plain"
    cas.get_sofa().xmiID = next(free)
    title = {"documentTitle": export.corpus.documents[document]}
    _add(cas, _METADATA, (0, len(cas.sofa_string)), next(free), **title)
    if export.has_sentences:
        for place in documents.sentences[document]:
            _add(cas, f"{_SEGMENT}.Sentence", place, next(free))
    if documents.tokens is not None:
        for place in chain.from_iterable(documents.tokens[document]):
            _add(cas, f"{_SEGMENT}.Token", place, next(free))


def _mark(cas: Any, documents: Documents, ids: Mapping[int, int], names: tuple[str, str]) -> None:
    """Add spans with their ids to a CAS."""
    layer, feature = names
    # The library renames two features that Python has words for.
    key = {"self": "self_", "type": "type_"}.get(feature, feature)
    for index, number in ids.items():
        features = {key: documents.labels[index]} if key else {}
        _add(cas, layer, documents.places[index], number, **features)


def _add(cas: Any, kind: str, place: Interval, number: int, /, **features: str) -> None:
    """Add an annotation; the library converts its offsets."""
    made = cas.typesystem.get_type(kind)(begin=place[0], end=place[1], **features)
    made.xmiID = number
    cas.add(made)
