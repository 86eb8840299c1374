"""W3C Web Annotation, as Recogito, Hypothesis and others write it, and Recogito's own form.

An annotation holds a place and a quote, but not the text: that is a file next to it, or what
the option ``documents`` gives. Tags are labels, creators are annotators, sources are documents.
A creator without an annotation of a source did not annotate it.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field
from functools import cached_property, partial
from operator import attrgetter
from os import PathLike
from pathlib import Path, PurePosixPath
from typing import Any

from beyondchance.errors import FormatError, OptionError, SpanError
from beyondchance.io.columns import codes_of
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.offsets import Interval, indices, same_words
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source, is_parquet, opened
from beyondchance.io.spaces import Collapsed, collapsed
from beyondchance.io.table_files import read_table
from beyondchance.io.values import interval, object_of, quoting, refused, words_of
from beyondchance.messages import Quote, Text, Use, quotes
from beyondchance.tallies import mended, no_spans

UNTAGGED = "_"
"""The label of an annotation without a tag."""
_SELECTORS = re.compile(r'"(?:TextPositionSelector|TextQuoteSelector)"')
_TABLES = (".csv", ".tsv", ".jsonl")
_CORE = ('"bodies"', '"selector"', '"quote"')
_LISTS = ("items", "rows", "annotations", "first", "resources", "@graph")
"""Keys below which pages, collections and exports have their annotations."""


@dataclass(frozen=True, slots=True)
class _Place:
    """Where an annotation points to: offsets, a quote with its surroundings, or both."""

    offsets: Interval | None
    quote: str | None
    prefix: str
    suffix: str


@dataclass(frozen=True, slots=True)
class _Mark:
    """A place in a document that an annotator gave labels."""

    where: str
    document: str
    annotator: str
    labels: Sequence[str]
    place: _Place
    id: str


@dataclass(frozen=True)
class _Content:
    """The text of a document, to look quotes up in, and what offsets in it count."""

    text: str = field(repr=False)
    unit: str

    @cached_property
    def index(self) -> Mapping[int, int] | range:
        """The index of the character at each offset."""
        return indices(self.text, self.unit)

    @cached_property
    def offsets(self) -> Sequence[int]:
        """The offset of each character, and of the end."""
        return self.index if isinstance(self.index, range) else list(self.index)

    @cached_property
    def collapsed(self) -> Collapsed:
        """The text without differences in white space."""
        return collapsed(self.text)

    def fits(self, place: _Place) -> bool:
        """Whether the words of a quote are at its position."""
        start, end = place.offsets or (-1, -1)
        return (
            start in self.index
            and end in self.index
            and same_words(self.text[self.index[start] : self.index[end]], place.quote or "")
        )


# --- Files --------------------------------------------------------------------


def _looks_like_it(source: Source) -> bool:
    """Whether a file has selectors of text."""
    text = source.head_text
    if not text.lstrip().startswith(("[", "{")):
        return False
    return _SELECTORS.search(text) is not None or all(key in text for key in _CORE)


is_format = by_files(any, _looks_like_it)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the annotations of a file or folder, and the texts that belong to them."""
    marks = [
        mark
        for source in upload.sources_of(
            _looks_like_it, reading, beside=list(filter(_is_text, upload.sources))
        )
        for mark in _marks(source, upload, reading)
    ]
    if not marks:
        expected = "annotations with a selector of text"
        raise FormatError("holds no annotation of a text", where=upload.name, expected=expected)
    documents: dict[str, dict[str, list[_Mark]]] = {}
    for mark in marks:
        people = documents.setdefault(mark.document, {})
        people.setdefault(mark.annotator, []).append(mark)
    for document, text in _texts(upload, list(documents), reading):
        people = documents[document]
        everything = [mark for group in people.values() for mark in group]
        content = _Content(text, _unit(text, everything, reading))
        for annotator, group in people.items():
            placed = zip(group, _placed(group, content, reading), strict=True)
            yield Draft(
                where=group[0].where,
                document=document,
                annotator=annotator,
                text=text,
                spans=[
                    DraftSpan(*place, label, where=mark.where, id=mark.id)
                    for mark, place in placed
                    for label in mark.labels
                ],
                offsets=content.unit,
            )


# --- Annotations --------------------------------------------------------------


def _items(value: Any, where: str) -> Iterator[Any]:
    """The annotations of a list, page, collection or export, or the only one."""
    waiting = [value]
    while waiting:
        item = waiting.pop()
        if isinstance(item, list):
            waiting += reversed(item)
        elif not isinstance(item, dict) or "target" in item:
            yield item
        else:
            inner = [item[key] for key in _LISTS if isinstance(item.get(key), dict | list)]
            if not inner:
                raise FormatError("an object without 'target'", where=where, expected="annotations")
            waiting += reversed(inner)


def _marks(source: Source, upload: Upload, reading: Reading) -> Iterator[_Mark]:
    """The places that the annotations of a file point to; what points elsewhere is counted."""
    for number, value in enumerate(_items(source.json(), source.name), start=1):
        where = f"{source.name}: annotation {number}"
        item = object_of(value, where, "the annotation")
        labels = list(dict.fromkeys(_tags(item, where, reading)))
        targets = [target for target in _several(item["target"]) if isinstance(target, dict)]
        found = [(target, place) for target in targets for place in _places(target, where)]
        if not found:
            reading.skipped[no_spans("annotations without a place in a text")] += 1
            continue
        if not labels:
            reading.skipped[
                mended(f"annotations without a tag, read as labelled {UNTAGGED!r}")
            ] += 1
        if len(labels) > 1:
            reading.skipped[mended("annotations with several tags, read as a span for each")] += 1
        if len(found) > 1:
            reading.skipped[
                mended("annotations with several places, read as spans of their own")
            ] += 1
        for target, place in found:
            creator = item.get("creator") or target.get("creator") or item.get("user")
            yield _Mark(
                where=where,
                document=_identified(target.get("source") or item.get("uri"), where, "'source'")
                or upload.document_of(source),
                annotator=_person(creator, where) or upload.annotator,
                labels=labels or [UNTAGGED],
                place=place,
                id=item["id"] if isinstance(item.get("id"), str) else "",
            )


def _several(value: object) -> list[Any]:
    """What JSON-LD writes as nothing, one thing or a list."""
    return [] if value is None else value if isinstance(value, list) else [value]


def _identified(value: object, where: str, what: str) -> str:
    """A name or address, or the identifier of an object; empty if there is none."""
    if isinstance(value, dict):
        value = value.get("id") or value.get("@id")
    if not isinstance(value, str | None):
        raise refused(value, what, where, "a name")
    return (value or "").strip()


def _person(value: object, where: str) -> str:
    """The name of a creator; an account or e-mail address without its host."""
    first = next(iter(_several(value)), None)
    if isinstance(first, dict):
        named = next((first[key] for key in ("name", "nickname") if first.get(key)), first)
        first = first if isinstance(named, dict) else named
    name = _identified(first, where, "'creator'")
    is_account = name.startswith(("acct:", "mailto:"))
    return name.partition(":")[2].partition("@")[0] if is_account else name


def _tags(item: Mapping[str, Any], where: str, reading: Reading) -> Iterator[str]:
    """The labels; other bodies are counted."""
    is_tag = _is_tagging(item.get("motivation"))
    for body in _several(item.get("body")) + _several(item.get("bodies")):
        if not isinstance(body, dict):
            reading.skipped[no_spans("comments")] += 1
            continue
        purpose = body.get("purpose")
        if not (is_tag if purpose is None else _is_tagging(purpose)):
            reading.skipped[no_spans("comments")] += 1
            continue
        yield _tag(body, where)
    for tag in _several(item.get("tags")):
        yield _tag({"value": tag}, where)
    if isinstance(item.get("text"), str) and item["text"].strip():
        reading.skipped[no_spans("comments")] += 1


def _is_tagging(purpose: object) -> bool:
    return any(one in {"tagging", "classifying"} for one in map(str, _several(purpose)))


def _tag(body: Mapping[str, Any], where: str) -> str:
    """The label that a tag gives: its value, or the name of the concept that it refers to."""
    concept = body.get("source")
    named = concept.get("label") if isinstance(concept, dict) else None
    value = body.get("value") or named or body.get("label") or concept or body.get("id")
    value = value.get("id") if isinstance(value, dict) else value
    if not isinstance(value, str) or not value.strip():
        raise refused(value, "a tag", where, "a name")
    return value.strip()


def _places(target: Mapping[str, Any], where: str) -> list[_Place]:
    """The places that a target selects: one by W3C selectors, several by Recogito's own."""
    selectors = [one for one in _several(target.get("selector")) if isinstance(one, dict)]
    own = [one for one in selectors if "type" not in one and "start" in one and "end" in one]
    if own:
        return [_Place(interval(one, where), words_of(one, where, "quote"), "", "") for one in own]
    kinds = {str(one.get("type")): one for one in reversed(selectors)}
    position, quoted = kinds.get("TextPositionSelector"), kinds.get("TextQuoteSelector", {})
    place = _Place(
        None if position is None else interval(position, where),
        words_of(quoted, where, "exact"),
        words_of(quoted, where, "prefix") or "",
        words_of(quoted, where, "suffix") or "",
    )
    return [place] if place.offsets or place.quote else []


# --- Texts --------------------------------------------------------------------


def _texts(upload: Upload, documents: Sequence[str], reading: Reading) -> Iterator[tuple[str, str]]:
    """The text of each document."""
    sources = _text_files(upload, reading)
    names: dict[str, Source] = {}
    # What fits a document best is entered last, and counts.
    for name_of in (attrgetter("stem"), attrgetter("posix_path.name"), attrgetter("name")):
        names.update((name_of(source), source) for source in sources)
    for document in documents:
        last = PurePosixPath(document.replace("\\", "/"))
        is_unnamed = document == "1" and not upload.is_folder
        own = upload.sources[0].stem if is_unnamed else document
        keys = (own, last.name, last.stem)
        source = next((names[key] for key in keys if key in names), None)
        if source is None and len(sources) == len(documents) == 1:
            (source,) = sources
        if source is None:
            listed = [file.posix_path.name for file in sources]
            raise FormatError(
                *("no text for ", Quote(document), " (text files: ", *quotes(listed), ")"),
                where=upload.name,
                expected="a file .txt next to it with its name, or only one",
                remedy=("pass ", Use("documents", placeholder="FILE_OR_FOLDER")),
            )
        name = source.posix_path.name
        reading.note("the text of ", Quote(document), " is ", Quote(name), where=upload.name)
        # Pages have one character at the end of a line.
        text = reading.shown(source, "text").text
        yield document, text.replace("\r\n", "\n")


def _text_files(upload: Upload, reading: Reading) -> list[Source]:
    """The files that can hold the texts: those asked for, or those next to the annotations."""
    path: Any = reading.options["documents"]
    if path is None:
        files = upload.sources if upload.is_folder else _neighbours(upload.sources[0])
        return [file for file in files if _is_text(file)]
    if not isinstance(path, str | PathLike):
        expected = "the path of a text file, of a folder of them, or of a table with texts"
        raise OptionError("documents is ", Quote(path), expected=expected)
    given = opened(Path(path))
    if isinstance(given, list):
        return [file for file in given if _is_text(file)]
    is_table = given.name.lower().endswith(_TABLES) or is_parquet(given)
    return list(_rows(given, reading)) if is_table else [given]


def _is_text(file: Source) -> bool:
    return file.ending == ".txt"


def _neighbours(source: Source) -> list[Source]:
    """The text files in the folder of a file."""
    if source.path is None:
        return []
    return [
        Source(str(other), path=other)
        for other in sorted(source.path.parent.glob("*.txt"))
        if other.is_file() and not other.is_symlink() and other != source.path
    ]


def _rows(source: Source, reading: Reading) -> Iterator[Source]:
    """The texts of a table with the columns document and text."""
    table = read_table(source, reading, needed=("document", "text"))
    columns = [codes_of(table, name) for name in ("document", "text")]
    for row, codes in enumerate(zip(*(codes.tolist() for _, codes in columns), strict=True)):
        if min(codes) < 0:
            where = table.where(row)
            raise FormatError("no document or no text", where=where, expected="both")
        name, text = (names[code] for (names, _), code in zip(columns, codes, strict=True))
        yield Source(name, member=text.encode("utf-8", "surrogatepass"))


# --- Places -------------------------------------------------------------------


def _unit(text: str, marks: Sequence[_Mark], reading: Reading) -> str:
    """What offsets count: code points, unless the quotes show that it is UTF-16 units."""
    asked = reading.options["offsets"]
    if asked is not None or text.isascii() or max(text) <= "\uffff":
        return asked or "codepoints"
    fitting = {}
    for unit in ("codepoints", "utf16"):
        content = _Content(text, unit)
        fitting[unit] = sum(content.fits(mark.place) for mark in marks if mark.place.quote)
    return max(fitting, key=fitting.__getitem__)  # the first if they are equal


def _placed(marks: Sequence[_Mark], content: _Content, reading: Reading) -> Iterator[Interval]:
    """Offsets; where a quote is not at its position, those of the quote."""
    for mark in marks:
        place = mark.place
        if place.offsets is not None and (not place.quote or content.fits(place)):
            yield place.offsets
            continue
        near = None
        if place.offsets is not None:
            start = max(place.offsets[0], 0)
            near = content.index[start] if start in content.index else len(content.text)
        start, end = _found(content, place, near, mark.where)
        if near is None:
            reading.skipped[mended("quotes without a position looked up in the text")] += 1
        else:
            what = mended("positions corrected by their quotes")
            reading.mend("inexact_quotes", what, partial(_elsewhere, mark))
        yield content.offsets[start], content.offsets[end]


def _elsewhere(mark: _Mark) -> SpanError:
    start, end = mark.place.offsets or (0, 0)
    return SpanError(
        *quoting("the quote {} is not at its position", mark.place.quote),
        f" [{start}, {end})",
        where=mark.where,
        expected="it there",
        remedy=(Use("inexact_quotes", "mend"), " takes the nearest place where it is"),
    )


def _found(content: _Content, place: _Place, near: int | None, where: Text) -> Interval:
    """Where a quote is in the text: the only place, or the one nearest to its position.

    What is quoted before and after it is heeded where it occurs in the text.
    """
    whole_text, quote = content.collapsed, place.quote or ""
    contexts = [(place.prefix, place.suffix), ("", "")]
    for prefix, suffix in contexts:
        words = collapsed(prefix + quote + suffix)
        first, last = words.inside(len(prefix)), words.inside(len(prefix + quote))
        if words.text[first:last].isspace() or first == last:
            break
        wanted = None if near is None else whole_text.inside(near) - first
        starts = _nearest(whole_text.text, words.text, wanted)
        if len(starts) > 1:
            places = "several times in the text"
            if near is not None:
                places = "at two places that are equally far from its position"
            raise FormatError(
                *quoting(f"the quote {{}} occurs {places}", quote),
                where=where,
                expected="a position, or the words before and after it, that say which is meant",
            )
        if starts:
            start = whole_text.outside(starts[0] + first)
            return start, whole_text.outside(starts[0] + last - 1) + 1
    found = quoting("the quote {} does not occur in the text", quote)
    remedy = "check that annotations and text belong together"
    raise SpanError(*found, where=where, remedy=remedy)


def _nearest(text: str, words: str, wanted: int | None) -> list[int]:
    """Where words begin: nearest to the place that is wanted, or the first two places."""
    if wanted is None:
        first = text.find(words)
        second = text.find(words, first + 1)
        return [place for place in (first, second) if place >= 0]
    place, reach = max(wanted, 0), len(words) + 256
    while True:
        # Further and further away, so that what is near is found without reading the whole text.
        before = text.rfind(words, max(wanted - reach, 0), place + len(words))
        after = text.find(words, place, place + reach + len(words))
        found = {start for start in (before, after) if start >= 0}
        if found or (reach > wanted and place + reach > len(text)):
            break
        reach *= 4
    closest = min((abs(start - wanted) for start in found), default=0)
    return sorted(start for start in found if abs(start - wanted) == closest)
