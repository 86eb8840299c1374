"""W3C Web Annotation, as Recogito, Hypothesis and others write it, and Recogito's own form.

An annotation holds a place and a quote, but not the text: that is a file next to it, or what
the option ``documents`` gives. Tags are labels, creators are annotators, sources are documents.
A creator without an annotation of a source did not annotate it.
"""

from __future__ import annotations

import re
from bisect import bisect_left
from collections.abc import Iterator, Mapping, Sequence
from functools import lru_cache, partial
from pathlib import PurePosixPath
from typing import Any, NamedTuple

from beyondchance.errors import SpanError
from beyondchance.io.conventions import BELONG_TOGETHER, fits
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.offsets import Interval, collapsed, offsets_at
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.shapes import Row
from beyondchance.io.sources import Source
from beyondchance.io.text_files import by_names, files_of_texts, is_text, remedy_of
from beyondchance.io.values import object_of, quoting, refusal, refused, words_of
from beyondchance.messages import Quote, Use, quotes
from beyondchance.tallies import mended, no_spans

UNTAGGED = "_"
"""The label of an annotation without a tag."""
_SELECTORS = re.compile(r'"(?:TextPositionSelector|TextQuoteSelector)"')
_TAGGING = frozenset({"tagging", "classifying"})
_COUNTED = ("codepoints", "utf16")
_CORE = ('"bodies"', '"selector"', '"quote"')
_LISTS = ("items", "rows", "annotations", "first", "resources", "@graph")
"""Keys below which pages, collections and exports have their annotations."""


class _Mark(NamedTuple):
    """A place in a document that an annotator gave labels.

    It is known by its offsets, by a quote with what is before and after it, or by both.
    """

    where: str
    document: str
    annotator: str
    labels: Sequence[str]
    id: str
    offsets: Interval | None
    quote: str | None
    prefix: str = ""
    suffix: str = ""


# --- Files --------------------------------------------------------------------


def _looks_like_it(source: Source) -> bool:
    """Return whether a file has selectors of text."""
    text = source.beginning
    if not source.is_json:
        return False
    return _SELECTORS.search(text) is not None or all(key in text for key in _CORE)


is_format = by_files(any, _looks_like_it)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the annotations of a file or folder, and the texts that belong to them."""
    marks = [
        mark
        for source in upload.sources_of(
            _looks_like_it, reading, beside=list(filter(is_text, upload.sources))
        )
        for mark in _marks(source, upload, reading)
    ]
    if not marks:
        raise refusal(
            upload.name,
            "holds no annotation of a text",
            expected="annotations with a selector of text",
        )
    documents: dict[str, dict[str, list[_Mark]]] = {}
    for mark in marks:
        people = documents.setdefault(mark.document, {})
        people.setdefault(mark.annotator, []).append(mark)
    for document, text in _texts(upload, list(documents), reading):
        groups = documents[document].items()
        stored = [
            (text, [mark.offsets], mark.quote)
            for _, group in groups
            for mark in group
            if mark.offsets is not None and mark.quote
        ]
        # Code points, unless the quotes show that offsets count UTF-16 units.
        best = max(_COUNTED, key=lambda unit: sum(fits(*one, unit) for one in stored))
        unit = reading.options["offsets"] or best
        for annotator, group in groups:
            yield Draft(
                where=group[0].where,
                document=document,
                annotator=annotator,
                text=text,
                spans=[
                    DraftSpan(*place, label, where=mark.where, id=mark.id)
                    for mark in group
                    for place in [_placed(mark, text, unit, reading)]
                    for label in mark.labels
                ],
                offsets=unit,
            )


# --- Annotations --------------------------------------------------------------


def _items(value: Any, where: str) -> Iterator[Any]:
    """Yield the annotations of a list, page, collection or export, or the only one."""
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
                raise refusal(where, "an object without 'target'", expected="annotations")
            waiting += reversed(inner)


def _marks(source: Source, upload: Upload, reading: Reading) -> Iterator[_Mark]:
    """Yield the places that the annotations of a file point to, and count what points elsewhere."""
    for number, value in enumerate(_items(source.json(), source.name), start=1):
        where = f"{source.name}: annotation {number}"
        item = object_of(value, where, "the annotation")
        labels = list(dict.fromkeys(_tags(item, where, reading)))
        targets = [Row(where, x) for x in _several(item["target"]) if isinstance(x, dict)]
        found = [(target.item, place) for target in targets for place in _places(target)]
        if not found:
            reading.skipped[no_spans("annotations without a place in a text")] += 1
            continue
        for is_so, change in (
            (not labels, f"annotations without a tag, read as labelled {UNTAGGED!r}"),
            (len(labels) > 1, "annotations with several tags, read as a span for each"),
            (len(found) > 1, "annotations with several places, read as spans of their own"),
        ):
            reading.skipped[mended(change)] += is_so
        for target, place in found:
            creator = item.get("creator") or target.get("creator") or item.get("user")
            document = _identified(target.get("source") or item.get("uri"), where, "'source'")
            yield _Mark(
                where,
                document or upload.document_of(source),
                _person(creator, where) or upload.annotator,
                labels or [UNTAGGED],
                item["id"] if isinstance(item.get("id"), str) else "",
                *place,
            )


def _several(value: object) -> list[Any]:
    """Return what JSON-LD writes as nothing, one thing or a list."""
    return [] if value is None else value if isinstance(value, list) else [value]


def _identified(value: object, where: str, what: str) -> str:
    """Return a name or address, or the identifier of an object; empty if there is none."""
    if isinstance(value, dict):
        value = value.get("id") or value.get("@id")
    if not isinstance(value, str | None):
        raise refused(value, what, where, "a name")
    return (value or "").strip()


def _person(value: object, where: str) -> str:
    """Return the name of a creator, without the host of an account or e-mail address."""
    first = next(iter(_several(value)), None)
    if isinstance(first, dict):
        named = next((first[key] for key in ("name", "nickname") if first.get(key)), first)
        first = first if isinstance(named, dict) else named
    name = _identified(first, where, "'creator'")
    is_account = name.startswith(("acct:", "mailto:"))
    return name.partition(":")[2].partition("@")[0] if is_account else name


def _tags(item: Mapping[str, Any], where: str, reading: Reading) -> Iterator[str]:
    """Yield the labels, and count other bodies."""
    motive, text = item.get("motivation"), item.get("text")
    for body in _several(item.get("body")) + _several(item.get("bodies")):
        own = body.get("purpose") if isinstance(body, dict) else "none"
        if _TAGGING.intersection(map(str, _several(motive if own is None else own))):
            # The value of a tag, or the name of its concept.
            concept = body.get("source")
            named = concept.get("label") if isinstance(concept, dict) else None
            value = body.get("value") or named or body.get("label") or concept or body.get("id")
            yield _label(value.get("id") if isinstance(value, dict) else value, where)
        else:
            reading.skipped[no_spans("comments")] += 1
    for value in _several(item.get("tags")):
        yield _label(value, where)
    reading.skipped[no_spans("comments")] += isinstance(text, str) and bool(text.strip())


def _label(value: object, where: str) -> str:
    if not isinstance(value, str) or not value.strip():
        raise refused(value, "a tag", where, "a name")
    return value.strip()


def _places(target: Row) -> list[tuple[Any, ...]]:
    """Return the places that a target selects: one by W3C selectors, several by Recogito's own."""
    selectors = [
        Row(target.where, one)
        for one in _several(target.item.get("selector"))
        if isinstance(one, dict)
    ]
    own = [x for x in selectors if "type" not in x.item and {"start", "end"} <= x.item.keys()]
    if own:
        return [(_offsets(one), _words(one, "quote")) for one in own]
    kinds = {str(one.item.get("type")): one for one in reversed(selectors)}
    position = kinds.get("TextPositionSelector")
    quoted = kinds.get("TextQuoteSelector", Row(target.where, {}))
    words = [_words(quoted, key) or "" for key in ("exact", "prefix", "suffix")]
    offsets = position and _offsets(position)
    return [(offsets, *words)] if offsets or words[0] else []


def _offsets(selector: Row) -> Interval:
    return selector.whole("start"), selector.whole("end")


def _words(selector: Row, key: str) -> str | None:
    return words_of(selector.item, selector.where, key)


# --- Texts --------------------------------------------------------------------


def _texts(upload: Upload, documents: Sequence[str], reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield the text of each document."""
    sources, first = _text_files(upload, reading), upload.sources[0]
    names = by_names(sources)
    for document in documents:
        # An address may end with what the page is asked for.
        page = PurePosixPath(document.replace("\\", "/").partition("?")[0].partition("#")[0])
        is_unnamed = document == "1" and not upload.is_folder
        own = first.stem if is_unnamed else document
        known = (names[key] for key in (own, page.name, page.stem) if key in names)
        source = next(known, sources[0] if len(sources) == len(documents) == 1 else None)
        if source is None:
            raise refusal(
                upload.name,
                "no text for {} (text files: {})",
                document,
                quotes(file.posix_path.name for file in sources),
                expected=quoting(
                    "a file {}, or only one", f"{own if is_unnamed else page.stem}.txt"
                ),
                remedy=remedy_of(reading),
            )
        name = source.posix_path.name
        reading.note("the text of ", Quote(document), " is ", Quote(name), where=upload.name)
        # Pages have one character at the end of a line.
        yield document, reading.shown(source, "text").text.replace("\r\n", "\n")


def _text_files(upload: Upload, reading: Reading) -> list[Source]:
    """Return the files that can hold the texts: those asked for, or those next to it."""
    if reading.options["documents"] is not None:
        return files_of_texts(reading)
    first = upload.sources[0]
    if upload.is_folder or first.path is None:
        return list(filter(is_text, upload.sources if upload.is_folder else ()))
    return [
        Source(str(other), path=other)
        for other in sorted(first.path.parent.glob("*.txt"))
        if other.is_file() and not other.is_symlink() and other != first.path
    ]


# --- Places -------------------------------------------------------------------


def _placed(mark: _Mark, text: str, unit: str, reading: Reading) -> Interval:
    """Return the offsets of a mark; where its quote is not there, those of the quote."""
    if mark.offsets is not None and (
        not mark.quote or fits(text, [mark.offsets], mark.quote, unit)
    ):
        return mark.offsets  # refused with all others if they do not lie in their text
    offsets, near = offsets_at(text, unit), None
    if mark.offsets is None:
        reading.skipped[mended("quotes without a position looked up in the text")] += 1
    else:
        near = min(bisect_left(offsets, max(mark.offsets[0], 0)), len(text))
        refusal = partial(
            SpanError,
            *("the quote ", Quote(mark.quote), " is not at its position "),
            f"[{mark.offsets[0]}, {mark.offsets[1]})",
            where=mark.where,
            expected="it there",
            remedy=(Use("strict", "-inexact_quotes"), " takes the nearest place where it is"),
        )
        reading.mend("inexact_quotes", mended("positions corrected by their quotes"), refusal)
    start, end = _found(mark, text, near)
    return offsets[start], offsets[end]


_collapsed = lru_cache(maxsize=1)(collapsed)


def _found(mark: _Mark, text: str, near: int | None) -> Interval:
    """Return where a quote is in the text: the only place, or the one nearest to its position.

    What is quoted before and after it is heeded where it occurs in the text.
    """
    whole_text, quote = _collapsed(text), mark.quote or ""
    for prefix, suffix in ((mark.prefix, mark.suffix), ("", "")):
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
            raise refusal(
                mark.where,
                f"the quote {{}} occurs {places}",
                quote,
                expected="a position, or the words before and after it, that say which is meant",
            )
        for start in starts:
            begin, end = (whole_text.outside(start + place) for place in (first, last - 1))
            return begin, end + 1
    problem, kind = "the quote {} does not occur in the text", SpanError
    raise refusal(mark.where, problem, quote, remedy=BELONG_TOGETHER, kind=kind)


def _nearest(text: str, words: str, wanted: int | None) -> list[int]:
    """Return where words begin: nearest to the place that is wanted, or the first two places."""
    if wanted is None:
        first = text.find(words)
        return [place for place in (first, text.find(words, first + 1)) if place >= 0]
    place = max(wanted, 0)
    # Python looks for both from there on, so that what is near is found at once.
    found = {text.rfind(words, 0, place + len(words)), text.find(words, place)} - {-1}
    closest = min((abs(start - wanted) for start in found), default=0)
    return sorted(start for start in found if abs(start - wanted) == closest)
