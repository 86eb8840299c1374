"""Annotations by offsets, with one or several fragments and the words stored next to them.

What a span of several fragments means is an option. Where a format does not promise that
the stored words are those of the text (some writers normalise them), they still show what
the offsets count, and whether text and offsets belong together.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import replace
from functools import partial
from itertools import pairwise
from operator import attrgetter
from pathlib import PurePosixPath
from typing import NamedTuple

from beyondchance.annotations.corpus import IN_ONE_PIECE
from beyondchance.errors import FormatError, SpanError
from beyondchance.io.conventions import (
    BELONG_TOGETHER,
    IGNORING,
    OTHER_WORDS,
    fits,
    other_words,
)
from beyondchance.io.drafts import Draft, DraftSpan, check_everybody
from beyondchance.io.offsets import UNITS, Interval, code_points, words_at
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.values import refusal
from beyondchance.messages import Quote, Text, Use, quotes
from beyondchance.tallies import kept

# Tools cut a span wherever the text breaks into lines; that is not meant as a gap.
_LINE_BREAK = re.compile(r"[^\S\r\n]*(?:\r\n|\r|\n)\s*")

_READ_AS = {
    "keep": kept("discontinuous spans"),
    "split": "discontinuous spans split",
    "join": "discontinuous spans joined",
}
"""What is counted, by the option ``discontinuous``."""

_NEAR = 10
"""Characters by which words may be off their offsets and be recognised as the same."""
_SHORTEST = 3
"""Shorter words may stand next to their offsets by accident."""


class Marked(NamedTuple):
    """An annotation as it stands in a file.

    Attributes
    ----------
    where : Text
    label : str
    fragments : sequence of (start, end)
        At least one.
    surface : str, optional
        The words that the file stores with it.
    annotator : str
        Who made it; empty if the file does not say.
    id : str
        What the file calls it; empty if it has no name.
    fields : mapping of str to str, optional
        What the file says of it besides its label.
    """

    where: Text
    label: str
    fragments: Sequence[Interval]
    surface: str | None = None
    annotator: str = ""
    id: str = ""
    fields: Mapping[str, str] | None = None


class MarkedText(NamedTuple):
    """A document with the annotations of all its annotators.

    Attributes
    ----------
    where : Text
    name : str
    text : str
    marked : sequence of Marked
    annotator : str
        Whose annotations those are that name no annotator.
    sentences : sequence of (start, end), optional
    """

    where: Text
    name: str
    text: str
    marked: Sequence[Marked]
    annotator: str
    sentences: Sequence[Interval] | None = None


# --- Fragments ----------------------------------------------------------------


def spans_of(marked: Iterable[Marked], text: str, unit: str, reading: Reading) -> list[DraftSpan]:
    """Return spans, which may be parts of discontinuous ones, as the options say."""
    return [span for one in marked for span in _spans(one, text, unit, reading)]


def _spans(marked: Marked, text: str, unit: str, reading: Reading) -> list[DraftSpan]:
    fragments, label, where = marked.fragments, marked.label, marked.where
    parts = [
        DraftSpan(*place, label, where=where, id=marked.id, fields=marked.fields)
        for place in fragments
    ]
    if len(fragments) == 1:
        return [replace(parts[0], surface=marked.surface)]
    if not fits(text, fragments, None, unit):
        return parts  # refused with the others that do not lie in their text
    places = code_points(text, fragments, where, unit)
    are_lines, how = _broken_by_lines(text, sorted(places), marked), ""
    if not all(are_lines):
        how = reading.options["discontinuous"]
        found = (Quote(label), f" has {len(fragments)} fragments")
        refusal = partial(SpanError, *found, where=where, expected="one", remedy=IN_ONE_PIECE)
        reading.mend("discontinuous", _READ_AS[how], refusal)
    if how != "join":
        _check_words(marked, text, places)
    if how == "split":
        return parts
    first, *others = sorted(parts, key=attrgetter("start", "end"))
    wholes = [replace(first, whole=marked if how == "keep" else None)]
    for part, is_line in zip(others, are_lines, strict=True):
        if is_line or how != "keep":
            wholes[-1] = replace(wholes[-1], end=part.end)
        else:
            wholes.append(replace(part, whole=marked))
    return wholes


def _broken_by_lines(text: str, places: Sequence[Interval], marked: Marked) -> list[bool]:
    """Return between which fragments only line breaks lie; refuse those that overlap."""
    gaps = [(end, start) for (_, end), (start, _) in pairwise(places)]
    if any(end > start for end, start in gaps):
        raise refusal(
            marked.where,
            "the fragments of {} overlap",
            marked.label,
            expected="one after the other",
            kind=SpanError,
        )
    return [_LINE_BREAK.fullmatch(text, end, start) is not None for end, start in gaps]


def _check_words(marked: Marked, text: str, places: Sequence[Interval]) -> None:
    """Check the fragments together: their words are stored in one string."""
    if not fits(text, places, marked.surface, "codepoints"):
        raise other_words(
            ("the fragments of ", Quote(marked.label)),
            " ".join(text[start:end] for start, end in places),
            marked.surface,
            marked.where,
            remedy=BELONG_TOGETHER,
        )


# --- Stored words that may differ ---------------------------------------------


def fitted(
    documents_in: Callable[[str], Sequence[MarkedText]], reading: Reading, *, where: str
) -> tuple[str, Sequence[MarkedText]]:
    """Return what offsets count, and the documents without the stored words that differ.

    Parameters
    ----------
    documents_in : function of a unit
        The documents, if offsets count this unit.
    reading : Reading
        Its option ``offsets`` is followed. By default offsets count code points, unless
        more of the stored words are at their offsets in another unit.
    where : str
        What the documents come from, for messages.
    """
    asked = reading.options["offsets"]
    unit = asked or "codepoints"
    documents = documents_in(unit)
    n_words = sum(one.surface is not None for document in documents for one in document.marked)
    others = with_other_words(documents, unit)
    if asked is None and others and not all(d.text.isascii() for d in documents):
        for other in ("utf16", "bytes"):
            try:
                again = documents_in(other)
            except FormatError:
                continue
            others_here = with_other_words(again, other)
            if len(others_here) < len(others):
                unit, documents, others = other, again, others_here
        if unit != "codepoints":
            reading.note(f"its offsets count {UNITS[unit]}: only so the words fit", where=where)
    if 2 * len(others) > n_words:
        more = f", and so {len(others)} of {n_words} spans differ from their words"
        raise _other_words(*others[0], unit, more, remedy=BELONG_TOGETHER)
    dropped = set()
    for document, one in others:
        # Words that are right next to their offsets show that these are wrong: they stay, to
        # be refused with the words of other formats that are not where they should be.
        is_known = fits(document.text, one.fragments, None, unit)
        if is_known and not _is_near(one, document.text, unit):
            problem = partial(_other_words, document, one, unit)
            reading.mend("stored_words", OTHER_WORDS, problem)
            dropped.add(id(one))
    if dropped:
        documents = [
            document._replace(
                marked=[
                    one._replace(surface=None) if id(one) in dropped else one
                    for one in document.marked
                ]
            )
            for document in documents
        ]
    return unit, documents


def with_other_words(documents: Iterable[MarkedText], unit: str) -> list[tuple[MarkedText, Marked]]:
    """Return the annotations whose stored words are not at their offsets, with their documents."""
    return [
        (document, one)
        for document in documents
        for one in document.marked
        if one.surface is not None and not fits(document.text, one.fragments, one.surface, unit)
    ]


def _is_near(one: Marked, text: str, unit: str) -> bool:
    """Return whether words are within a few characters of where they should be."""
    places, words = code_points(text, one.fragments, one.where, unit), (one.surface or "").strip()
    start, end = min(places)[0], max(end for _, end in places)
    around = text[max(start - _NEAR, 0) : end + _NEAR]
    return len(words) >= _SHORTEST and words in around


def _other_words(
    document: MarkedText, one: Marked, unit: str, *more: str, remedy: Text = IGNORING
) -> SpanError:
    """Build the refusal of an annotation whose stored words are not those of the text."""
    words = words_at(document.text, unit)
    return other_words(
        DraftSpan(*one.fragments[0], one.label).named,
        " ".join(words(start, end) or "" for start, end in one.fragments),
        one.surface,
        one.where or document.where,
        *more,
        remedy=remedy,
    )


# --- Who ----------------------------------------------------------------------


def drafts_of(
    documents: Sequence[MarkedText], unit: str, reading: Reading, *, where: str
) -> Iterator[Draft]:
    """Yield a draft for each document and annotator.

    If the files name annotators, each of them annotated every document, unless ``empty``
    says that documents in which they marked nothing are missing.
    """
    names_annotators = any(one.annotator for document in documents for one in document.marked)
    are_assumed = names_annotators and reading.options["empty"] == "annotated"
    who: dict[str, None] = {}
    # The annotations of a document may be spread over several files.
    known_in: dict[str, set[str]] = {}
    for document in documents:
        own_names = {one.annotator or document.annotator: None for one in document.marked}
        who.update(own_names)
        known_in.setdefault(document.name, set()).update(own_names)
    if are_assumed:
        n_given = len(documents) + sum(len(document.marked) for document in documents)
        check_everybody(len(known_in), len(who), n_given, where)
    n_implied = 0
    for document in documents:
        own: dict[str, list[Marked]] = {}
        for one in document.marked:
            own.setdefault(one.annotator or document.annotator, []).append(one)
        if not names_annotators:
            own.setdefault(document.annotator, [])
        elif are_assumed:
            implied = who.keys() - known_in[document.name]
            known_in[document.name] |= implied
            n_implied += len(implied)
            own = {name: own.get(name, []) for name in who if name in own or name in implied}
        for annotator, marked in own.items():
            yield Draft(
                where=document.where,
                document=document.name,
                annotator=annotator,
                text=document.text,
                spans=spans_of(marked, document.text, unit, reading),
                sentences=document.sentences,
                offsets=unit,
                is_assumed=names_annotators and not marked,
            )
    if n_implied:
        note = (
            f"{n_implied} times an annotator has no span in a document, which counts as annotated ("
        )
        reading.note(note, Use("empty", "missing"), " leaves such out)", where=where)


def by_folders(
    upload: Upload, stems: Sequence[PurePosixPath], reading: Reading
) -> Iterator[tuple[str, str]]:
    """Yield the document and the annotator of each file.

    The outermost folders name annotators, unless the folder of all was given a name.
    """
    has_folders = not upload.is_named and all(len(stem.parts) > 1 for stem in stems)
    if has_folders and stems:
        names = dict.fromkeys(stem.parts[0] for stem in stems)
        other = " (of one annotator, give it as NAME=FOLDER)"
        reading.note("its folders are annotators: ", *quotes(names), other, where=upload.name)
    for stem in stems:
        parts = stem.parts[1:] if has_folders else stem.parts
        yield str(PurePosixPath(*parts)), stem.parts[0] if has_folders else upload.annotator
