"""MQM: errors that raters marked in translations, in the files of WMT and of Bio-MQM.

In the tables, a row is an error, and the words of the error stand between marks in the text:
``<v>`` and ``</v>`` in the files of WMT, ``<tag>`` and ``</tag>`` in those of Bio-MQM. The JSON
of Bio-MQM has offsets instead. A document is a segment as one system translated it.
"""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator
from functools import partial
from itertools import accumulate, takewhile
from operator import eq
from typing import NamedTuple

from beyondchance.errors import FormatError, MismatchError, OptionError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import head_row
from beyondchance.io.layers import Labels, asked_labels, visible
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.shapes import Row
from beyondchance.io.sources import Source
from beyondchance.io.table_files import declared_rows, head_rows, kind_of
from beyondchance.io.values import (
    object_of,
    quoting,
    refusal,
    refused,
    words_of,
)
from beyondchance.messages import Text, Use, given
from beyondchance.tallies import left_out, mended

_LAYERS = ("target", "source")
_NO_ERROR = frozenset({"no-error", "no error"})
_CHECK = "hotw-test"
"""The severity of rows that say whether a rater found an error that was put in as a test."""
_SHARED = {"source": ("source",), "target": ("target",), "severity": ("severity",), "doc": ("doc",)}
_WMT = {
    **_SHARED,
    "system": ("system",),
    "segment": ("seg_id", "docsegid", "globalsegid"),
    "rater": ("rater",),
    "category": ("category",),
}
_BIO = {
    **_SHARED,
    "system": ("mt",),
    "segment": ("seg_id",),
    "rater": ("annotator_id",),
    "category": ("error_category",),
    "marked source": ("tagged_source",),
    "marked target": ("tagged_target",),
}
_MARKS, _BIO_MARKS = re.compile("</?v>"), re.compile("</?tag>")
_BY_WORDS = "marks placed by their words, because the text differs from the marked one"
_BIO_KEYS = ("source_errors", "target_errors", "Annotator_ID")
_BIO_BEGIN = (*_BIO_KEYS, "source", "target", "filename", "MT_Engine", "SEG_ID")


class _Asked(NamedTuple):
    """What is to be read.

    Attributes
    ----------
    layer, other : str
        The text whose marks are read, and the text whose marks are not.
    labels : Labels
    reading : Reading
    """

    layer: str
    other: str
    labels: Labels
    reading: Reading

    def skip(self, what: str, number: int = 1) -> None:
        """Count what is left out."""
        self.reading.skipped[left_out(what)] += number


# --- Detection ----------------------------------------------------------------


def _looks_right(source: Source) -> bool:
    """Return whether a file has the columns of a table of MQM, or the keys of Bio-MQM."""
    if source.is_json:
        row = head_row(source, _BIO_BEGIN)
        return row is not None and all(key in row for key in _BIO_KEYS)
    return any(kind_of(row, (_BIO, _WMT)) for row in head_rows(source, "\t"))


is_format = by_files(all, _looks_right)


# --- Reading ------------------------------------------------------------------


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the work of all raters: one draft for each rater and segment."""
    layer = reading.options["layer"] or _LAYERS[0]
    if layer not in _LAYERS:
        raise OptionError(*given("layer", layer), expected="target or source")
    other = next(name for name in _LAYERS if name != layer)
    asked = _Asked(layer, other, asked_labels(reading, "category"), reading)
    for source in upload.sources:
        from_file = _from_json if source.is_json else _from_table
        yield from from_file(source, upload.annotator, asked)


# --- Tables -------------------------------------------------------------------


def _from_table(source: Source, annotator: str, asked: _Asked) -> Iterator[Draft]:
    """Read a table: the rows of a rater on a segment may stand anywhere in it.

    A rater may have several texts in one segment, because a sentence was split or a number was
    given twice: these are documents of their own. Texts that differ between raters are not.
    Quotation marks are part of the texts, and often unbalanced.
    """
    reading, layer = asked.reading, asked.layer
    names: dict[tuple[str, ...], str] = {}
    numbers: Counter[str] = Counter()
    drafts: dict[tuple[str, str], Draft] = {}
    spans: dict[tuple[str, str], list[DraftSpan]] = {}
    for where, cells, _ in declared_rows(source, (_BIO, _WMT), "\t", has_quotes=False):
        marks = _BIO_MARKS if "marked target" in cells else _MARKS
        row = {name: cell.strip() for name, cell in cells.items()}
        severity = row["severity"].lower()
        if severity == _CHECK:
            asked.skip("attention checks")
            continue
        if not row["segment"]:
            raise FormatError("no segment", where=where, expected="its number")
        # White space at the end of a text differs between rows.
        rater, text = row["rater"] or annotator, marks.sub("", cells[layer]).rstrip()
        segment = "/".join(filter(None, (row["system"], row["doc"], row["segment"])))
        key = (segment, rater, text)
        if key not in names:
            name = names.get((segment, text), segment)
            if (name, rater) in drafts:
                numbers[segment] += 1
                name = f"{segment} ({numbers[segment] + 1})"
                what = "segments with several texts kept apart"
                reading.mend("mismatch", what, partial(_several, segment, rater, where))
            names[key] = names[segment, text] = name
            fields = {"system": row["system"], "article": row["doc"]}
            drafts[name, rater] = Draft(
                where=where,
                document=name,
                annotator=rater,
                text=text,
                spans=spans.setdefault((name, rater), []),
                fields={kind: value for kind, value in fields.items() if value},
            )
        if not _NO_ERROR & {row["category"].lower(), severity}:
            marked, other = (
                cells.get(f"marked {name}", cells[name]) for name in (layer, asked.other)
            )
            if marks.search(marked):
                label = asked.labels.of(row)
                places = _in_text(text, marked, marks, where, reading) if label else ()
                kept = (visible(text, place, reading) for place in places)
                found = (DraftSpan(*place, label, where=where) for place in kept if place)
                spans[names[key], rater].extend(found)
            elif marks.search(other):
                asked.skip(f"errors marked in the {asked.other}")
            elif row["category"] or severity:
                asked.skip("errors without a mark")
    yield from drafts.values()


def _several(segment: str, rater: str, where: str) -> MismatchError:
    remedy = (Use("strict", "-mismatch"), " takes it for a document of its own")
    found = quoting("{} has another text of segment {} already", rater, segment)
    return MismatchError(*found, where=where, expected="one", remedy=remedy)


def _other_text(where: Text) -> MismatchError:
    found = "the words of an error differ from the text"
    remedy = (Use("strict", "-mismatch"), " finds them if only backslashes differ")
    return MismatchError(found, where=where, expected="the same words", remedy=remedy)


def _in_text(
    text: str, marked: str, marks: re.Pattern[str], where: str, reading: Reading
) -> Iterator[Interval]:
    """Yield where marked words are in a text that may differ a little from the marked one."""
    places, plain = _pairs(marked, marks, where, reading), marks.sub("", marked)
    if plain.rstrip() == text:
        yield from ((min(start, len(text)), min(end, len(text))) for start, end in places)
        return
    reading.mend("mismatch", _BY_WORDS, partial(_other_text, where), len(places))
    n_same = len([*takewhile(lambda pair: eq(*pair), zip(plain, text, strict=False))])
    for start, end in places:
        found = placed(text, start, plain[start:end]) if start <= n_same else None
        if found is None:
            words, expected = plain[start:end], "the same text with and without marks"
            raise refusal(where, "{} is marked, but not in the text", words, expected=expected)
        yield found


def _pairs(marked: str, marks: re.Pattern[str], where: str, reading: Reading) -> list[Interval]:
    """Return where the marked words are without the marks; nowhere if these do not pair."""
    found = list(marks.finditer(marked))
    if [mark[0].startswith("</") for mark in found] != [False, True] * (len(found) // 2):
        if reading.is_strict:
            problem = "a mark in {} does not begin or does not end"
            raise refusal(where, problem, marked, expected="marks in pairs")
        reading.skipped[left_out("errors whose mark does not begin or does not end")] += 1
        return []
    removed = accumulate((len(mark[0]) for mark in found), initial=0)
    edges = [mark.start() - before for mark, before in zip(found, removed, strict=False)]
    if len(edges) > 2:
        reading.skipped[mended("errors with several marks split")] += 1
    return list(zip(edges[::2], edges[1::2], strict=True))


def placed(text: str, start: int, words: str) -> Interval | None:
    r"""Return where marked words are in a text, from their beginning; None if they are not.

    Bio-MQM has more backslashes before the apostrophes of marked words than of the text.

    Examples
    --------
    >>> placed("the child's toy", 4, "child's"), placed("the child's toy", 4, "child\\'s")
    ((4, 11), (4, 11))
    >>> placed("the child's toy", 4, "toy")
    """
    end = start
    for character in words.rstrip():
        if character == "\\":
            continue
        while text.startswith("\\", end):
            end += 1
        if not text.startswith(character, end):
            return None
        end += 1
    return start, end


# --- JSON ---------------------------------------------------------------------


def _from_json(source: Source, annotator: str, asked: _Asked) -> Iterator[Draft]:
    """Read the JSON of Bio-MQM: a record for each rater and segment."""
    records = source.json()
    if not isinstance(records, list):
        raise refused(records, "the file", source.name, "a list of segments")
    names: dict[tuple[str | int, ...], str] = {}
    seen: Counter[tuple[str, ...]] = Counter()
    for number, record in enumerate(records, start=1):
        where = f"{source.name}: item {number}"
        row = Row(where, object_of(record, where))
        rater = row.known("Annotator_ID") or annotator
        texts = [row.string(name, "a text") for name in _LAYERS]
        parts = [row.known(key) for key in ("filename", "MT_Engine", "SEG_ID")]
        # Segments are numbered within documents, which are not named: a rater may have several
        # segments of one number and text.
        key = (*(part or "" for part in parts), *texts)
        seen[rater, *key] += 1
        name = "/".join(filter(None, (*parts[:2], str(number))))
        text = texts[_LAYERS.index(asked.layer)].rstrip()
        asked.skip(f"errors marked in the {asked.other}", len(row.values(f"{asked.other}_errors")))
        yield Draft(
            where=row.where,
            document=names.setdefault((*key, seen[rater, *key]), name),
            annotator=rater,
            text=text,
            spans=list(_json_spans(row, text, asked)),
            fields={"system": parts[1]} if parts[1] else {},
        )


def _json_spans(row: Row, text: str, asked: _Asked) -> Iterator[DraftSpan]:
    for error in row.each(f"{asked.layer}_errors", "error"):
        # The last index belongs to the error.
        start, end = error.whole("startIndex"), error.whole("endIndex") + 1
        words = error.string("term", "the words of the error")
        names = {
            part: (words_of(error.item, error.where, key, "a name") or "").strip()
            for part, key in (("category", "error_category"), ("severity", "severity"))
        }
        label = asked.labels.of(names)
        if not label:
            continue
        found = (start, end)
        if text[start:end] != words and start >= 0:
            found = placed(text, start, words) or found
            asked.reading.mend("mismatch", _BY_WORDS, partial(_other_text, error.where))
        if not 0 <= found[0] <= found[1] <= len(text):
            yield DraftSpan(start, end, label, words, where=error.where)
        elif kept := visible(text, found, asked.reading):
            surface = None if found != (start, end) else words
            yield DraftSpan(*kept, label, surface, where=error.where)
