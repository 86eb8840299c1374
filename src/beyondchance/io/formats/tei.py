"""TEI and other XML whose elements mark words in the text: one file for each annotator.

In TEI the elements that name things and times are annotations; in other XML, those that
the option ``layer`` names, or the ENAMEX, NUMEX and TIMEX of MUC. All other elements are markup.
A label is the name of an element, with its type if it has one: ``persName``, ``rs[work]``.

White space depends on how a program indents a file, so each run of it is one space, and there
is one between paragraphs, lines and the like. Notes, and registers such as listPerson, are no
part of the annotated text.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from dataclasses import dataclass
from xml.etree import ElementTree as ET

from beyondchance.errors import FormatError, OptionError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.layers import unknown
from beyondchance.io.markup import local_name, outermost, without_prefix, xml_root
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source
from beyondchance.io.spaces import collapsed
from beyondchance.messages import Quote, Use, quotes
from beyondchance.tallies import left_out, mended

NAMING = frozenset(
    {
        "name", "rs", "persName", "placeName", "orgName", "geogName", "objectName", "eventName",
        "date", "time", "num", "measure",
    }
)  # fmt: skip
"""Elements of TEI that are annotations unless others are asked for."""
_MUC = frozenset({"ENAMEX", "NUMEX", "TIMEX"})
_ROOTS = frozenset({"TEI", "TEI.2", "teiCorpus", "teiCorpus.2"})
_NOTES = frozenset({"note", "noteGrp"})
_REGISTERS = frozenset(
    {
        "listPerson", "listPlace", "listOrg", "listEvent", "listObject", "listNym", "listBibl",
        "listRelation",
    }
)  # fmt: skip
_APART = _NOTES | _REGISTERS
# Words before and after these are never one word.
_BLOCKS = frozenset(
    {
        "ab", "address", "addrLine", "argument", "back", "body", "byline", "castItem", "castList",
        "cell", "closer", "dateline", "div", "div1", "div2", "div3", "div4", "docAuthor",
        "docTitle", "epigraph", "figDesc", "figure", "front", "group", "head", "imprimatur",
        "item", "l", "label", "lg", "list", "opener", "p", "postscript", "quote", "row", "s",
        "salute", "signed", "sp", "speaker", "stage", "table", "text", "titlePage", "titlePart",
        "trailer", "u", "P", "S", "HL", "TEXT", "TXT", "DOC", "DOCNO", "DATELINE",
    }
)  # fmt: skip
_BREAKS = frozenset({"lb", "pb", "cb", "gb", "space"})
_MUC_TAG = re.compile(r'<(?:ENAMEX|NUMEX|TIMEX)\s[^<>]*TYPE\s*=\s*["\']')
_ID = "{http://www.w3.org/XML/1998/namespace}id"


@dataclass(frozen=True, slots=True)
class _Text:
    """The text of one document, with the elements that were asked for."""

    where: str
    document: str
    annotator: str
    is_tei: bool
    text: str
    marks: list[tuple[int, int, ET.Element]]


def _looks_like_it(source: Source) -> bool:
    """Whether a file is TEI or has the elements of MUC."""
    text = source.head_text
    if not text.lstrip().startswith("<"):
        return False
    return without_prefix(outermost(text)) in _ROOTS or _MUC_TAG.search(text) is not None


is_format = by_files(any, _looks_like_it)


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read the files, a document each, or one for each TEI of a teiCorpus."""
    kinds: Counter[str] = Counter()
    texts = [
        (upload, text)
        for upload in uploads
        for source in upload.sources_of(_looks_like_it, reading, ".xml")
        for text in _texts(source, upload, kinds, reading)
    ]
    asked = _asked(reading)
    if not asked:
        _check_guessable(texts, kinds)
    elif not any(kinds[name] for name in asked):
        where = ", ".join(upload.name for upload in uploads)
        raise unknown("element", reading.options["layer"] or "", sorted(kinds), where)
    for name in asked:
        if not kinds[name]:
            reading.note("no element ", Quote(name), "; read as nothing marked")
    read_kinds = dict.fromkeys(local_name(e.tag) for _, text in texts for *_, e in text.marks)
    reading.note("the annotations are the elements ", *quotes(read_kinds, most=30))
    for upload, text in texts:
        reading.met(upload.name, [text.annotator])
        yield Draft(
            where=text.where,
            document=text.document,
            annotator=text.annotator,
            text=text.text,
            spans=list(_spans(text, reading)),
        )


def _asked(reading: Reading) -> tuple[str, ...]:
    """The elements that the option names; none if it is not given."""
    layer = reading.options["layer"]
    if layer is None:
        return ()
    names = tuple(name.strip() for name in layer.split(","))
    if not all(names):
        expected = "names of elements, separated by commas"
        raise OptionError("layer is ", Quote(layer, is_given=True), expected=expected)
    return names


def _check_guessable(texts: list[tuple[Upload, _Text]], kinds: Counter[str]) -> None:
    """Refuse XML of which nothing says what its annotations are."""
    strange = next((text for _, text in texts if not text.is_tei), None)
    if strange is not None and not any(kinds[name] for name in _MUC):
        raise FormatError(
            *("XML that is not TEI, with the elements ", *quotes(kinds)),
            where=strange.where,
            expected="to be told which of them are annotations",
            remedy=("pass ", Use("layer", placeholder="NAME,NAME")),
        )


# --- Files --------------------------------------------------------------------


def _texts(
    source: Source, upload: Upload, kinds: Counter[str], reading: Reading
) -> Iterator[_Text]:
    """The texts of a file; its elements are counted by name."""
    root = xml_root(source, program="an XML editor")
    kinds.update(local_name(element.tag) for element in root.iter())
    name = upload.document_of(source)
    if local_name(root.tag) not in _ROOTS:
        wanted = frozenset(_asked(reading)) or _MUC
        yield _text(root, wanted, source, (name, upload.annotator, False), reading)
        return
    wanted = frozenset(_asked(reading)) or NAMING
    # A corpus contains its documents, which may be corpora.
    documents = [root, *root.iterfind(".//{*}TEI"), *root.iterfind(".//{*}TEI.2")]
    parts = [(element, text) for element in documents for text in element.findall("{*}text")]
    if not parts:
        found = "TEI without an element 'text'"
        raise FormatError(found, where=source.name, expected="the annotated text")
    for number, (element, text) in enumerate(parts, start=1):
        document = name
        if len(parts) > 1:
            own = element.get(_ID) or str(number)
            document = f"{name}/{own}" if upload.is_folder else own
        yield _text(text, wanted, source, (document, upload.annotator, True), reading)


def _text(
    root: ET.Element,
    wanted: frozenset[str],
    source: Source,
    names: tuple[str, str, bool],
    reading: Reading,
) -> _Text:
    """The characters of an element, and where the wanted elements are in them."""
    parts: list[str] = []
    length = 0
    marks: list[tuple[int, int, ET.Element]] = []
    # Elements that are open, each with what of it is still to be read and where it begins.
    opened: list[tuple[ET.Element, Iterator[ET.Element], int]] = [(root, iter(root), 0)]

    def add(words: str | None) -> None:
        nonlocal length
        if words:
            parts.append(words)
            length += len(words)

    add(root.text)
    while opened:
        element, rest, start = opened[-1]
        inner = next(rest, None)
        if inner is None:
            opened.pop()
            if element is root:
                break
            kind = local_name(element.tag)
            if kind in wanted:
                marks.append((start, length, element))
            if kind in _BLOCKS:
                add(" ")
            add(element.tail)
            continue
        kind = local_name(inner.tag)
        if kind in _APART and kind not in wanted:
            _count_left_out(inner, wanted, reading)
            add(inner.tail)
            continue
        if kind in _BLOCKS or (kind in _BREAKS and inner.get("break") != "no"):
            add(" ")
        opened.append((inner, iter(inner), length))
        add(inner.text)
    plain = collapsed("".join(parts))
    placed = [(plain.inside(start), plain.inside(end), e) for start, end, e in marks]
    placed.sort(key=lambda mark: (mark[0], -mark[1]))
    return _Text(source.name, *names, plain.text, placed)


def _count_left_out(element: ET.Element, wanted: frozenset[str], reading: Reading) -> None:
    """Count a note or register, and what is marked in it."""
    is_note = local_name(element.tag) in _NOTES
    place = "notes" if is_note else "registers"
    reading.skipped[left_out(place)] += 1
    number = sum(local_name(inner.tag) in wanted for inner in element.iter())
    if number:
        reading.skipped[left_out(f"elements in {place}")] += number


def _spans(text: _Text, reading: Reading) -> Iterator[DraftSpan]:
    """The elements as spans; those without words, or without a label, are counted."""
    for start, end, element in text.marks:
        label = _label(element, reading)
        # White space is one space at most, so that longer ones need not be looked through.
        if end - start < 2 and not text.text[start:end].strip():
            reading.skipped[left_out("elements without text")] += 1
        elif not label:
            reading.skipped[left_out("elements without a label")] += 1
        else:
            if any(element.get(key) for key in ("next", "prev", "part")):
                reading.skipped[mended("parts of split elements read as spans of their own")] += 1
            yield DraftSpan(start, end, label)


def _label(element: ET.Element, reading: Reading) -> str:
    """The name with the type, or the attribute that was asked for."""
    name, feature = local_name(element.tag), reading.options["feature"]
    if feature is not None:
        values = {local_name(key): value.strip() for key, value in element.attrib.items()}
        return values.get(feature, "")
    if name in _MUC:
        return (element.get("TYPE") or "").strip() or name
    kind = (element.get("type") or "").strip()
    return f"{name}[{kind}]" if kind else name
