"""Knowtator and eHOST XML: the annotations of one document by all its annotators.

The text is not in the file. eHOST keeps it in the folder ``corpus`` next to the folder
``saved`` with the annotations; otherwise it is looked for next to the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from dataclasses import replace
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from beyondchance.annotations.tags import UNNAMED
from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.marked import Marked, MarkedText, drafts_of, fitted, number_fitting
from beyondchance.io.markup import outermost, xml_root
from beyondchance.io.offsets import Interval, length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source, neighbour
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote
from beyondchance.tallies import mended, no_spans, not_annotated, not_read

_ROOT = "annotations"
_ENDING = ".knowtator.xml"
_CORPUS = "corpus"
_NUMBER = re.compile(r"\s*[0-9]{1,18}\s*")
_HAS_TEXT = re.compile(r"<annotations\s[^<>]*textSource\s*=")
# What else there is, by the names of elements.
_IGNORED = {
    "stringSlotMention": no_spans("attributes"),
    "booleanSlotMention": no_spans("attributes"),
    "integerSlotMention": no_spans("attributes"),
    "floatSlotMention": no_spans("attributes"),
    "complexSlotMention": no_spans("relations"),
    "adjudicating": not_read("annotations in adjudication"),
}


def _looks_right(source: Source) -> bool:
    """Whether a file holds annotations of a text elsewhere."""
    return outermost(source.head_text) == _ROOT and _HAS_TEXT.search(source.head_text) is not None


is_format = by_files(any, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents of a project."""
    beside = {source.posix_path: source for source in upload.sources}
    found = [
        _document(source, beside, upload.annotator, reading)
        for source in _annotated(upload, reading)
    ]
    texts = {source.name for _, source in found}
    n_left = sum(source.ending == ".txt" and source.name not in texts for source in upload.sources)
    if n_left:
        reading.skipped[
            not_annotated("texts without annotations", " left out as not annotated")
        ] += n_left
    documents = _with_line_ends([document for document, _ in found], reading, upload.name)
    unit, fitting = fitted(lambda _: documents, reading, where=upload.name)
    within = [_within(document, unit, reading) for document in fitting]
    yield from drafts_of(within, unit, reading, where=upload.name)


# --- Files --------------------------------------------------------------------


def _annotated(upload: Upload, reading: Reading) -> list[Source]:
    """The files of annotations; other files than texts are counted."""
    if not upload.is_folder:
        return upload.sources
    found = []
    for source in upload.sources:
        if source.name.endswith(_ENDING) or _looks_right(source):
            found.append(source)
        elif source.ending != ".txt":
            reading.skipped[not_read("other files")] += 1
    return found


def _text_of(source: Source, name: str, beside: Mapping[PurePosixPath, Source]) -> Source:
    """The text that a file is about, from ``corpus`` or next to the file."""
    folder = source.posix_path.parent
    places = [folder.parent / _CORPUS / name, folder / name]
    for place in places:
        if place in beside:
            return beside[place]
    # Where only the folder `saved` was given, the texts lie next to it.
    given = source.path.parent if source.path is not None else None
    paths = [] if given is None else [given.parent / _CORPUS / name, given / name]
    for place, path in zip(places, paths, strict=False):
        if path.is_file():
            return neighbour(str(place), path)
    raise FormatError(
        *quoting("its text {} is missing", name),
        where=source.name,
        expected=f"it in the folder {_CORPUS} next to the folder of this file, or next to the file",
    )


# --- One document -------------------------------------------------------------


def _document(
    source: Source, beside: Mapping[PurePosixPath, Source], annotator: str, reading: Reading
) -> tuple[MarkedText, Source]:
    """The annotations of a file with the text that belongs to them."""
    root = xml_root(source, program="Knowtator or eHOST", name=_ROOT)
    name = PurePosixPath(root.get("textSource", "").replace("\\", "/")).name
    if not name:
        raise FormatError("no textSource", where=source.name, expected="the name of the text")
    text = _text_of(source, name, beside)
    labels = _labels(root, source.name)
    marked = []
    for number, element in enumerate(root.iterfind("annotation"), start=1):
        one = _marked(element, labels, (f"{source.name}: annotation {number}",), reading)
        if one is None:
            reading.skipped[no_spans("annotations without a span")] += 1
        else:
            marked.append(one)
    for kind, words in _IGNORED.items():
        if n_found := len(root.findall(kind)):
            reading.skipped[words] += n_found
    document = MarkedText(
        where=source.name,
        name=name.removesuffix(".txt") or name,
        text=text.text,
        marked=marked,
        annotator=annotator,
    )
    return document, text


def _within(document: MarkedText, unit: str, reading: Reading) -> MarkedText:
    """The same without annotations behind the end of the text, which are counted.

    So eHOST stores what is about the document as a whole.
    """
    n_units = length_of(document.text, unit)
    marked = [
        one for one in document.marked if one.surface is not None or one.fragments[0][0] < n_units
    ]
    if n_behind := len(document.marked) - len(marked):
        reading.skipped[no_spans("annotations behind the end of the text")] += n_behind
    return replace(document, marked=marked)


def _labels(root: ET.Element, where: str) -> dict[str, str]:
    """The class of each mention."""
    labels: dict[str, str] = {}
    for mention in root.iterfind("classMention"):
        inner = mention.find("mentionClass")
        name, label = mention.get("id"), "" if inner is None else inner.get("id", "").strip()
        if name and labels.setdefault(name, label) != label:
            found = quoting("mention {} has the classes {} and {}", name, labels[name], label)
            raise FormatError(*found, where=where, expected="one")
    return labels


def _marked(
    element: ET.Element, labels: Mapping[str, str], where: tuple[Piece, ...], reading: Reading
) -> Marked | None:
    """One annotation; None if it marks no piece of text."""
    fragments = [_interval(span, where) for span in element.iterfind("span")]
    if not fragments:
        return None
    mention = element.find("mention")
    name = "" if mention is None else mention.get("id", "")
    label = labels.get(name)
    if not label:
        reading.skipped[mended(f"annotations without a class, labelled '{UNNAMED}'")] += 1
    words = element.findtext("spannedText") or ""
    return Marked(
        where=where,
        label=label or UNNAMED,
        fragments=fragments,
        surface=words if words.split() else None,
        annotator=(element.findtext("annotator") or "").strip(),
        id=name,
    )


def _interval(span: ET.Element, where: tuple[Piece, ...]) -> Interval:
    start, end = span.get("start"), span.get("end")
    for key, value in (("start", start), ("end", end)):
        if value is None or not _NUMBER.fullmatch(value):
            said = "missing" if value is None else Quote(value)
            raise FormatError(f"{key!r} is ", said, where=where, expected="a whole number")
    return int(start or 0), int(end or 0)


def _with_line_ends(documents: list[MarkedText], reading: Reading, where: str) -> list[MarkedText]:
    """The same with line ends as one character, if only so the stored words fit."""
    if not any("\r\n" in document.text for document in documents):
        return documents
    single = [replace(one, text=one.text.replace("\r\n", "\n")) for one in documents]
    unit = reading.options["offsets"] or "codepoints"
    if number_fitting(single, unit) <= number_fitting(documents, unit):
        return documents
    reading.note(
        "its offsets count a line end as one character: only so the words fit", where=where
    )
    return single
