"""Knowtator and eHOST XML: the annotations of one document by all its annotators.

The text is not in the file. eHOST keeps it in the folder ``corpus`` next to the folder
``saved`` with the annotations; otherwise it is looked for next to the file.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from dataclasses import replace
from pathlib import PurePosixPath
from xml.etree import ElementTree as ET

from beyondchance.annotations.tags import UNNAMED
from beyondchance.io.conventions import n_fitting
from beyondchance.io.drafts import Draft
from beyondchance.io.marked import Marked, MarkedText, drafts_of, fitted, stored_in
from beyondchance.io.markup import number_of, outermost, xml_root
from beyondchance.io.offsets import length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source, neighbour
from beyondchance.io.values import refusal
from beyondchance.tallies import mended, no_spans, not_annotated, not_read

_ROOT = "annotations"
_ENDING = ".knowtator.xml"
_CORPUS = "corpus"
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
    """Return whether a file holds annotations of a text elsewhere."""
    return outermost(source) == _ROOT and _HAS_TEXT.search(source.head_text) is not None


is_format = by_files(any, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents of a project; other files than annotations and texts are counted."""
    sources = upload.sources
    texts = {source.name for source in sources if source.ending == ".txt"}
    if upload.is_folder:
        sources = [one for one in sources if one.name.endswith(_ENDING) or _looks_right(one)]
        n_others = len({one.name for one in upload.sources} - texts - {one.name for one in sources})
        reading.skipped[not_read("other files")] += n_others
    documents = []
    for source in sources:
        root = xml_root(source, program="Knowtator or eHOST", name=_ROOT)
        name = PurePosixPath(root.get("textSource", "").replace("\\", "/")).name
        if not name:
            raise refusal(source.name, "no textSource", expected="the name of the text")
        text = _text_of(source, name, upload)
        texts.discard(text.name)
        documents.append(
            MarkedText(
                where=source.name,
                name=name.removesuffix(".txt") or name,
                text=text.text,
                marked=list(_marked(root, source.name, reading)),
                annotator=upload.annotator,
            )
        )
    left = not_annotated("texts without annotations", " left out as not annotated")
    reading.skipped[left] += len(texts)
    documents = _with_line_ends(documents, reading, upload.name)
    unit, fitting = fitted(lambda _: documents, reading, where=upload.name)
    within = [_within(document, unit, reading) for document in fitting]
    yield from drafts_of(within, unit, reading, where=upload.name)


def _text_of(source: Source, name: str, upload: Upload) -> Source:
    """Return the text that a file is about, from ``corpus`` or next to the file."""
    beside = {one.posix_path: one for one in upload.sources}
    folder = source.posix_path.parent
    places = [folder.parent / _CORPUS / name, folder / name]
    for place in places:
        if place in beside:
            return beside[place]
    if source.path is not None:
        # Where only the folder `saved` was given, the texts lie next to it.
        given = source.path.parent
        for place, path in zip(places, (given.parent / _CORPUS / name, given / name), strict=True):
            if path.is_file():
                return neighbour(str(place), path)
    expected = f"it in the folder {_CORPUS} next to the folder of this file, or next to the file"
    raise refusal(source.name, "its text {} is missing", name, expected=expected)


def _marked(root: ET.Element, file: str, reading: Reading) -> Iterator[Marked]:
    """Return the annotations that mark a piece of text; everything else is counted."""
    labels: dict[str, str] = {}
    for mention in root.iterfind("classMention"):
        inner = mention.find("mentionClass")
        name, label = mention.get("id"), "" if inner is None else inner.get("id", "").strip()
        if name and labels.setdefault(name, label) != label:
            found = "mention {} has the classes {} and {}"
            raise refusal(file, found, name, labels[name], label, expected="one")
    for number, element in enumerate(root.iterfind("annotation"), start=1):
        where = f"{file}: annotation {number}"
        fragments = [
            (number_of(span, "start", where), number_of(span, "end", where))
            for span in element.iterfind("span")
        ]
        if not fragments:
            reading.skipped[no_spans("annotations without a span")] += 1
            continue
        named = element.find("mention")
        name = "" if named is None else named.get("id", "")
        label = labels.get(name) or UNNAMED
        unnamed = mended(f"annotations without a class, labelled '{UNNAMED}'")
        reading.skipped[unnamed] += not labels.get(name)
        words = element.findtext("spannedText") or ""
        who = (element.findtext("annotator") or "").strip()
        yield Marked(where, label, fragments, words if words.split() else None, who, name)
    for kind, what in _IGNORED.items():
        reading.skipped[what] += len(root.findall(kind))


def _within(document: MarkedText, unit: str, reading: Reading) -> MarkedText:
    """Return the same without annotations behind the end of the text, which are counted.

    So eHOST stores what is about the document as a whole.
    """
    n_units = length_of(document.text, unit)
    marked = [
        one for one in document.marked if one.surface is not None or one.fragments[0][0] < n_units
    ]
    n_behind = len(document.marked) - len(marked)
    reading.skipped[no_spans("annotations behind the end of the text")] += n_behind
    return replace(document, marked=marked)


def _with_line_ends(documents: list[MarkedText], reading: Reading, where: str) -> list[MarkedText]:
    """Return the same with line ends as one character, if only so the stored words fit."""
    single = [replace(one, text=one.text.replace("\r\n", "\n")) for one in documents]
    unit = reading.options["offsets"] or "codepoints"
    n_single, n_before = (n_fitting(stored_in(texts), unit) for texts in (single, documents))
    if n_single <= n_before:
        return documents
    reading.note(
        "its offsets count a line end as one character: only so the words fit", where=where
    )
    return single
