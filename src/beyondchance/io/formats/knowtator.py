"""Knowtator and eHOST XML: the annotations of one document by all its annotators.

The text is not in the file. eHOST keeps it in the folder ``corpus`` next to the folder
``saved`` with the annotations, Knowtator 2 in ``Articles``; otherwise it is looked for next to the
file, or where the option ``documents`` says. A file of Knowtator 2 may hold several documents.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from operator import attrgetter
from pathlib import Path, PurePath, PurePosixPath
from xml.etree import ElementTree as ET

from beyondchance.annotations.tags import UNNAMED
from beyondchance.io.drafts import Draft
from beyondchance.io.marked import Marked, MarkedText, drafts_of, fitted, with_other_words
from beyondchance.io.markup import number_of, outermost, xml_root
from beyondchance.io.offsets import length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source, neighbour
from beyondchance.io.text_files import by_names, files_of_texts, remedy_of
from beyondchance.io.values import refusal
from beyondchance.tallies import mended, no_spans, not_annotated, not_read

_ROOTS = ("annotations", "knowtator-project")
_ENDING = ".knowtator.xml"
_CORPUS, _ARTICLES = "corpus", "Articles"
_HAS_TEXT = re.compile(r"<annotations\s[^<>]*textSource\s*=")
# What else there is, by the names of elements.
_IGNORED = {
    "stringSlotMention": no_spans("attributes"),
    "booleanSlotMention": no_spans("attributes"),
    "integerSlotMention": no_spans("attributes"),
    "floatSlotMention": no_spans("attributes"),
    "complexSlotMention": no_spans("relations"),
    "adjudicating": not_read("annotations in adjudication"),
    "graph-space/triple": no_spans("relations"),
}


def _looks_right(source: Source) -> bool:
    """Return whether a file holds annotations of a text elsewhere."""
    found = outermost(source)
    return found == _ROOTS[1] or (
        found == _ROOTS[0] and _HAS_TEXT.search(source.head_text) is not None
    )


def _is_annotations(source: Source) -> bool:
    """Return whether a file has annotations by its name, so that it is refused if it is damaged."""
    is_kept = source.posix_path.parent.name == "Annotations" and source.ending == ".xml"
    return is_kept or source.name.endswith(_ENDING)


is_format = by_files(any, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the documents of a project; other files than annotations and texts are counted."""
    sources = upload.sources
    texts = {source.name for source in sources if source.ending == ".txt"}
    if upload.is_folder:
        sources = [one for one in sources if _is_annotations(one) or _looks_right(one)]
        n_others = len({one.name for one in upload.sources} - texts - {one.name for one in sources})
        reading.skipped[not_read("other files")] += n_others
    given = [] if reading.options["documents"] is None else files_of_texts(reading)
    known = by_names(given)
    found = [(source, *one) for source in sources for one in _documents(source)]
    documents = []
    for source, element, name in found:
        short = name.removesuffix(".txt") or name
        text = known.get(name, known.get(short)) if given else _text_of(source, name, upload)
        if text is None and len(given) == len(found) == 1:
            (text,) = given
        if text is None:
            raise refusal(
                source.name,
                "its text {} is missing",
                name,
                expected=f"it in {_CORPUS} or {_ARTICLES} next to this folder, or here",
                remedy=remedy_of(reading),
            )
        texts.discard(text.name)
        documents.append(
            MarkedText(
                where=source.name,
                name=short,
                text=text.text,
                marked=list(_marked(element, source.name, reading)),
                annotator=upload.annotator,
            )
        )
    left = not_annotated("texts without annotations", " left out as not annotated")
    reading.skipped[left] += len(texts)
    documents = _with_line_ends(documents, reading, upload.name)
    unit, fitting = fitted(lambda _: documents, reading, where=upload.name)
    within = [_within(document, unit, reading) for document in fitting]
    yield from drafts_of(within, unit, reading, where=upload.name)


def _documents(source: Source) -> Iterator[tuple[ET.Element, str]]:
    """Yield the elements that hold the annotations of a document, with the name of its text."""
    is_second = outermost(source) == _ROOTS[1]
    root = xml_root(source, program="Knowtator or eHOST", name=_ROOTS[is_second])
    for element in root.iterfind("document") if is_second else [root]:
        own = f"{element.get('id', '')}.txt"
        path = element.get("textSource", element.get("text-file", own))
        if path in {"", ".txt"}:
            raise refusal(
                source.name, "no textSource or text-file", expected="the name of the text"
            )
        yield element, PurePosixPath(path.replace("\\", "/")).name


def _text_of(source: Source, name: str, upload: Upload) -> Source | None:
    """Return the text that a file is about, from its folder or from one next to it."""
    beside: dict[PurePath, Source] = {one.posix_path: one for one in upload.sources}
    folder, path = source.posix_path.parent, source.path
    for place in _places(folder, name):
        if place in beside:
            return beside[place]
    # Where only the folder `saved` was given, the texts lie next to it.
    for file in map(Path, _places(path.parent, name) if path else ()):
        if file.is_file():
            return neighbour(str(folder / name), file)
    return None


def _places(folder: PurePath, name: str) -> list[PurePath]:
    """List where the text of annotations in a folder may be."""
    folders = [folder.parent / _CORPUS, folder.parent / _ARTICLES, folder / _ARTICLES, folder]
    return [place / name for place in folders]


def _marked(root: ET.Element, file: str, reading: Reading) -> Iterator[Marked]:
    """Return the annotations that mark a piece of text; everything else is counted."""
    labels: dict[str, str] = {}
    for mention in root.iterfind("classMention"):
        inner = mention.find("mentionClass")
        name, label = mention.get("id"), "" if inner is None else inner.get("id", "").strip()
        if name and labels.setdefault(name, label) != label:
            raise refusal(
                file,
                "mention {} has the classes {} and {}",
                name,
                labels[name],
                label,
                expected="one",
            )
    for number, element in enumerate(root.iterfind("annotation"), start=1):
        where = f"{file}: annotation {number}"
        fragments = [
            (number_of(span, "start", where), number_of(span, "end", where))
            for span in element.iterfind("span")
        ]
        if not fragments:
            reading.skipped[no_spans("annotations without a span")] += 1
            continue
        named, own = element.find("mention"), element.find("class")
        name = element.get("id", "") if named is None else named.get("id", "")
        known = labels.get(name, "") if own is None else own.get("id", own.get("label", ""))
        label = known.strip() or UNNAMED
        unnamed = mended(f"annotations without a class, labelled '{UNNAMED}'")
        reading.skipped[unnamed] += label == UNNAMED
        # Knowtator 2 has the words in the spans.
        spoken = [
            element.findtext("spannedText"),
            *map(attrgetter("text"), element.iterfind("span")),
        ]
        words = " ".join(filter(None, spoken))
        who = element.findtext("annotator", element.get("annotator", ""))
        yield Marked(where, label, fragments, words if words.split() else None, who.strip(), name)
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
    return document._replace(marked=marked)


def _with_line_ends(documents: list[MarkedText], reading: Reading, where: str) -> list[MarkedText]:
    """Return the same with line ends as one character, if only so the stored words fit."""
    single = [one._replace(text=one.text.replace("\r\n", "\n")) for one in documents]
    unit = reading.options["offsets"] or "codepoints"
    n_other, n_before = (len(with_other_words(texts, unit)) for texts in (single, documents))
    if n_other >= n_before:
        return documents
    reading.note(
        "its offsets count a line end as one character: only so the words fit", where=where
    )
    return single
