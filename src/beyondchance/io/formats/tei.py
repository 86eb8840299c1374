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
from dataclasses import replace
from xml.etree import ElementTree as ET

from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.layers import asked_names, unknown
from beyondchance.io.markup import local_name, outermost, without_prefix, xml_root
from beyondchance.io.offsets import collapsed
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source
from beyondchance.io.values import refusal
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


_Text = tuple[Draft, list[tuple[int, int, ET.Element]]]
"""The text of one document, and where the elements are that were asked for."""


def _looks_like_it(source: Source) -> bool:
    """Return whether a file is TEI or has the elements of MUC."""
    text = source.beginning
    if not text.startswith("<"):
        return False
    return without_prefix(outermost(source)) in _ROOTS or _MUC_TAG.search(text) is not None


is_format = by_files(any, _looks_like_it)


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read the files, a document each, or one for each TEI of a teiCorpus."""
    kinds: Counter[str] = Counter()
    strange: list[str] = []
    asked = asked_names(reading)
    texts = [
        (upload, text)
        for upload in uploads
        for source in upload.sources_of(_looks_like_it, reading, ".xml")
        for text in _texts(source, upload, kinds, strange, reading)
    ]
    if asked and not any(kinds[name] for name in asked):
        where = ", ".join(upload.name for upload in uploads)
        raise unknown("element", reading.options["layer"] or "", sorted(kinds), where)
    if not asked and strange and not any(kinds[name] for name in _MUC):
        raise refusal(
            strange[0],
            "XML that is not TEI, with the elements {}",
            quotes(kinds),
            expected="to be told which of them are annotations",
            remedy=("pass ", Use("layer", placeholder="NAME,NAME")),
        )
    for name in asked:
        if not kinds[name]:
            reading.note("no element ", Quote(name), "; read as nothing marked")
    found = dict.fromkeys(local_name(element.tag) for _, (_, x) in texts for *_, element in x)
    reading.note("the annotations are the elements ", *quotes(found, most=30))
    for upload, (draft, marks) in texts:
        reading.met(upload.name, [draft.annotator])
        yield replace(draft, spans=list(_spans(draft.text, marks, reading)))


# --- Files --------------------------------------------------------------------


def _texts(
    source: Source, upload: Upload, kinds: Counter[str], strange: list[str], reading: Reading
) -> Iterator[_Text]:
    """Return the texts of a file; its elements are counted by name, and other XML is noted."""
    root = xml_root(source, program="an XML editor")
    kinds.update(local_name(element.tag) for element in root.iter())
    name = upload.document_of(source)
    wanted = frozenset(asked_names(reading))
    # A corpus contains its documents, which may be corpora.
    documents = [root, *root.iterfind(".//{*}TEI"), *root.iterfind(".//{*}TEI.2")]
    parts = [(element, text) for element in documents for text in element.findall("{*}text")]
    if local_name(root.tag) not in _ROOTS:
        strange.append(source.name)
        wanted, parts = wanted or _MUC, [(root, root)]
    if not parts:
        raise refusal(source.name, "TEI without an element 'text'", expected="the annotated text")
    for number, (element, text) in enumerate(parts, start=1):
        document = name
        if len(parts) > 1:
            own = element.get(_ID) or str(number)
            document = f"{name}/{own}" if upload.is_folder else own
        plain, marks = _text(text, wanted or NAMING, reading)
        yield (
            Draft(
                where=source.name,
                document=document,
                annotator=upload.annotator,
                text=plain,
                spans=(),
            ),
            marks,
        )


def _text(
    root: ET.Element, wanted: frozenset[str], reading: Reading
) -> tuple[str, list[tuple[int, int, ET.Element]]]:
    """Return the characters of an element, and where the wanted elements are in them."""
    parts: list[str] = []
    length = 0
    marks: list[tuple[int, int, ET.Element]] = []
    # Elements that are open, each with what of it is still to be read and where it begins.
    opened: list[tuple[ET.Element, Iterator[ET.Element], int]] = [(root, iter(root), 0)]

    def add(*words: str | None) -> None:
        nonlocal length
        for word in filter(None, words):
            parts.append(word)
            length += len(word)

    add(root.text)
    while opened:
        element, rest, start = opened[-1]
        inner = next(rest, None)
        if inner is None:
            opened.pop()
            kind = local_name(element.tag)
            if element is not root:
                if kind in wanted:
                    marks.append((start, length, element))
                add(" " if kind in _BLOCKS else "", element.tail)
            continue
        kind = local_name(inner.tag)
        if kind in _NOTES | _REGISTERS and kind not in wanted:
            place = "notes" if kind in _NOTES else "registers"
            reading.skipped[left_out(place)] += 1
            number = sum(local_name(one.tag) in wanted for one in inner.iter())
            reading.skipped[left_out(f"elements in {place}")] += number
            add(inner.tail)
            continue
        is_apart = kind in _BLOCKS or (kind in _BREAKS and inner.get("break") != "no")
        add(" " if is_apart else "")
        opened.append((inner, iter(inner), length))
        add(inner.text)
    plain = collapsed("".join(parts))
    placed = [(plain.inside(start), plain.inside(end), e) for start, end, e in marks]
    return plain.text, sorted(placed, key=lambda mark: (mark[0], -mark[1]))


def _spans(
    text: str, marks: list[tuple[int, int, ET.Element]], reading: Reading
) -> Iterator[DraftSpan]:
    """Return elements as spans; those without words, or without a label, are counted."""
    for start, end, element in marks:
        label = _label(element, reading)
        # White space is one space at most, so that longer ones need not be looked through.
        if end - start < 2 and not text[start:end].strip():
            reading.skipped[left_out("elements without text")] += 1
        elif not label:
            reading.skipped[left_out("elements without a label")] += 1
        else:
            is_part = any(element.get(key) for key in ("next", "prev", "part"))
            reading.skipped[mended("parts of split elements read as spans of their own")] += is_part
            yield DraftSpan(start, end, label)


def _label(element: ET.Element, reading: Reading) -> str:
    """Return the name with the type, or the attribute that was asked for."""
    name, feature = local_name(element.tag), reading.options["feature"]
    if feature is not None:
        values = {local_name(key): value.strip() for key, value in element.attrib.items()}
        return values.get(feature, "")
    is_muc = name in _MUC
    kind = element.get("TYPE" if is_muc else "type", "").strip()
    if not kind:
        return name
    return kind if is_muc else f"{name}[{kind}]"
