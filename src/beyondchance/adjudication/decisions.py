"""What people decided, place by place, as the page saves it or in a table of places.

A decision is about a stretch of a text: within it, the gold standard has the spans that were
decided on, and no others.
"""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain
from operator import attrgetter
from os import PathLike
from pathlib import Path
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus, Span
from beyondchance.checks import is_whole
from beyondchance.errors import DataError, FormatError, MismatchError, OptionError
from beyondchance.io.columns import number_of
from beyondchance.io.sources import opened, parsed_json
from beyondchance.io.table_files import declared_rows, delimiter_of
from beyondchance.io.values import (
    label_of,
    listed,
    object_of,
    quoting,
    refused,
    string_of,
    whole,
    words_of,
)
from beyondchance.io.workbooks import sheet_of
from beyondchance.messages import Quote, Use, given
from beyondchance.results.adding import numbered
from beyondchance.settings import Settings

KIND, FORMAT = "decisions", 1
CHOICES = ("version", "consensus", "nothing", "edited")
"""How somebody decided: for what an annotator has, the consensus, nothing, or something else."""
_TABLE = {name: (name,) for name in ("document", "text", "start", "end", "decision", "signature")}
"""Columns of the table of places that 'disagreements' saves."""
_BETWEEN = re.compile(r"[;,] (?=\d{1,18}-\d{1,18} )")
_SPAN = re.compile(r"(\d{1,18})-(\d{1,18}) (.+?)(?:: .*)?")
"""A span in a table of places: its offsets and its label, perhaps followed by its words."""
_REMEDY = "decide in a page that was made from these files"
_KEYS = ("document", "text", "start", "end", "spans", "choice", "of", "by", "note", "words")


@dataclass(frozen=True, slots=True, kw_only=True)
class Decision:
    """What somebody decided about a stretch of a text.

    Attributes
    ----------
    document : str
    text : int
        The number of the text in its document, from 0 on.
    start, end : int
        The stretch, in the positions of the corpus.
    spans : tuple of Span
        What the gold standard has there.
    choice : {"version", "consensus", "nothing", "edited"}
    of : tuple of str
        Whose version it is.
    by : str
        Who decided.
    note : str
    words : str, optional
        What the stretch covers, to know that the text is the same.
    """

    document: str
    text: int
    start: int
    end: int
    spans: tuple[Span, ...]
    choice: str = "edited"
    of: tuple[str, ...] = ()
    by: str = ""
    note: str = ""
    words: str | None = None

    def to_dict(self) -> dict[str, Any]:
        """Return the decision as in JSON."""
        plain = {name: getattr(self, name) for name in _KEYS}
        return plain | {"spans": [list(span) for span in self.spans], "of": list(self.of)}


def decisions_in(source: Any, corpus: Corpus) -> list[Decision]:
    """Return the decisions of a file, or of what it holds, checked against the corpus.

    Parameters
    ----------
    source : str, path, or mapping
    corpus : Corpus

    Raises
    ------
    FormatError
        For a file that is none of decisions, or a decision that is none.
    MismatchError
        For decisions about other documents, texts or positions.
    """
    name, content, places = _loaded(source, corpus)
    if not isinstance(content, Mapping) or content.get("beyondchance") != KIND:
        raise FormatError(
            "holds no decisions",
            where=name,
            expected="what the page of 'report' saves, or places with the column decision filled",
        )
    if content.get("format") != FORMAT:
        found = quoting("decisions of format {}", content.get("format"))
        raise FormatError(*found, where=name, expected=f"format {FORMAT}")
    for option in ("unit", "positions"):
        if content.get(option) != getattr(corpus, option):
            raise MismatchError(
                *(f"decisions by {option} ", Quote(content.get(option)), ", and annotations by "),
                Quote(getattr(corpus, option)),
                where=name,
                remedy=("read the files as for the page: pass ", Use(option, content.get(option))),
            )
    made = content.get("decisions")
    if not isinstance(made, list):
        raise refused(made, "'decisions'", name, "a list")
    numbers = numbered(corpus.documents)
    places = places or [f"{name}, decision {number + 1}" for number in range(len(made))]
    return [
        _checked(item, corpus, numbers, where) for where, item in zip(places, made, strict=True)
    ]


def _loaded(source: Any, corpus: Corpus) -> tuple[str, Any, list[str]]:
    """Return the name of a file for messages, what it holds, and the places of decisions."""
    if isinstance(source, Mapping):
        try:
            text = json.dumps(source, default=int)
        except (TypeError, ValueError, RecursionError):
            raise FormatError("holds values that JSON does not have", where=KIND) from None
        return KIND, parsed_json(text, KIND), []
    if not isinstance(source, str | PathLike):
        raise OptionError(*given("decisions", source), expected="a file, or what it holds")
    file, name = opened(source), Path(source).name
    if isinstance(file, list):
        raise FormatError("is a folder", where=name, expected="a file of decisions")
    file = sheet_of(replace(file, name=name))
    if file.is_json:
        return name, file.json(), []
    signed: dict[str, Any] = {}
    decided = {}
    for where, row, _ in declared_rows(file, [_TABLE], delimiter_of(file)):
        if said := row["decision"].strip():
            signed = Settings.parse(row["signature"]).to_dict()
            numbers = {key: number_of(row[key]) for key in ("text", "start", "end")}
            decided[where] = {**_said(said, corpus, where), **numbers, "document": row["document"]}
    made = {"beyondchance": KIND, "format": FORMAT, "decisions": [*decided.values()]}
    return name, {**signed, **made} if decided else None, [*decided]


def _said(said: str, corpus: Corpus, where: str) -> dict[str, Any]:
    """Return what a cell of a table of places decides."""
    if said == "nothing":
        return {"spans": [], "choice": said}
    if (name := said.removeprefix("by ")) in corpus.annotators:
        return {"of": [name], "choice": "version"}
    spans = [_SPAN.fullmatch(part) for part in _BETWEEN.split(said)]
    if None in spans:
        raise FormatError(
            *("the decision is ", Quote(said)),
            where=where,
            expected="the name of an annotator, 'nothing', or spans such as '0-3 PER; 5-8 LOC'",
        )
    return {"spans": [[int(span[1]), int(span[2]), span[3]] for span in spans if span]}


def _checked(item: Any, corpus: Corpus, numbers: Mapping[str, int], where: str) -> Decision:
    """Return a decision, refused if it is none or not about this corpus."""
    row = object_of(item, where)
    if not row.keys() <= {*_KEYS}:
        expected = f"an object with some of {', '.join(sorted(_KEYS))}"
        raise FormatError("is no decision", where=where, expected=expected)
    document = string_of(row, "document", where)
    if document not in numbers:
        raise MismatchError(
            *("no document ", Quote(document), " is there"), where=where, remedy=_REMEDY
        )
    number = numbers[document]
    first, behind = np.searchsorted(corpus.text_document, (number, number + 1)).tolist()
    text, start, end = (whole(row.get(key), repr(key), where) for key in ("text", "start", "end"))
    if not 0 <= text < behind - first:
        raise MismatchError(
            *("document ", Quote(document), f" has no text {text}"),
            where=where,
            expected=f"one of {behind - first}, from 0 on",
        )
    length = int(corpus.text_length[first + text])
    if not 0 <= start < end <= length:
        problem = f"the stretch [{start}, {end}) does not lie in the text"
        raise MismatchError(problem, where=where, expected=f"{length} positions at most")
    by, note, known = (words_of(row, where, key, "a string") for key in ("by", "note", "words"))
    names = [label_of(name, where, "'of'") for name in listed(row, "of", where)]
    (words,) = corpus.words(*np.array([[first + text], [start], [end]]))
    if None not in {known, words} and known != words:
        raise MismatchError(
            *("the text is another one there: ", Quote(words)),
            where=where,
            expected=Quote(known),
            remedy=_REMEDY,
        )
    marked = row.get("spans")
    if marked is None and len(names) == 1 and names[0] in corpus.annotators:
        is_there = (corpus.span_text == first + text) & (corpus.span_start >= start)
        is_there &= corpus.span_annotator == corpus.annotators.index(names[0])
        of_one = np.flatnonzero(is_there & (corpus.span_end <= end)).tolist()
        marked = [list(corpus.span(i)) for i in of_one]
    choice = row.get("choice", "edited")
    if choice not in CHOICES:
        raise refused(choice, "'choice'", where, f"one of {', '.join(CHOICES)}")
    return Decision(
        document=document,
        text=text,
        start=start,
        end=end,
        spans=_spans(marked, start, end, where),
        choice=choice,
        of=tuple(names),
        # People are named without their e-mail addresses, as annotators are.
        by=(by or "").partition("@")[0].strip() or by or "",
        note=note or "",
        words=known,
    )


def _spans(marked: Any, start: int, end: int, where: str) -> tuple[Span, ...]:
    """Return the spans of a decision, in reading order."""
    if not isinstance(marked, list):
        raise refused(marked, "'spans'", where, "a list")
    found = set()
    for item in marked:
        match item:
            case [low, high, str(label)] if is_whole(low) and is_whole(high):
                is_name = label and label == label.strip() and label.isprintable()
                if start <= low < high <= end and is_name:
                    found.add(Span(int(low), int(high), label))
                    continue
                expected = f"a label, and a place within [{start}, {end})"
            case _:
                expected = "start, end and label"
        raise FormatError("has the span ", Quote(item), where=where, expected=expected)
    return tuple(sorted(found))


def together(files: Iterable[Sequence[Decision]]) -> list[Decision]:
    """Return the decisions of several people as one list, text by text in reading order.

    Raises
    ------
    DataError
        Where they decided differently, or overlapping stretches.
    """
    by_text: dict[tuple[str, int], list[Decision]] = {}
    for decision in chain.from_iterable(files):
        by_text.setdefault((decision.document, decision.text), []).append(decision)
    merged: list[Decision] = []
    conflicts: list[tuple[Decision, Decision]] = []
    for own in by_text.values():
        reached = 0
        for decision in sorted(own, key=attrgetter("start")):
            # None of those that are merged overlaps another, so the last is the one to look at.
            if decision.start >= reached:
                merged.append(decision)
            elif is_same(merged[-1], decision):
                merged[-1] = _of_both(merged[-1], decision)
            else:
                conflicts.append((merged[-1], decision))
            reached = merged[-1].end
    if conflicts:
        one, other = conflicts[0]
        n = len(conflicts)
        raise DataError(
            f"{'1 place is' if n == 1 else f'{n:,} places are'} decided differently, the first by ",
            *(Quote(one.by or "the first"), " and ", Quote(other.by or "the second")),
            where=(
                *("document ", Quote(other.document)),
                f", text {other.text}, [{other.start}, {other.end})",
            ),
            expected="one decision for a place",
            remedy="compare the files in the page, and save one that both can stand by",
        )
    return merged


def is_same(one: Decision, other: Decision) -> bool:
    """Return whether two people decided the same about the same stretch."""
    return (one.start, one.end, one.spans) == (other.start, other.end, other.spans)


def _of_both(one: Decision, other: Decision) -> Decision:
    pairs = ((one.by, other.by), (one.note, other.note))
    names, notes = (dict.fromkeys(filter(None, pair)) for pair in pairs)
    return replace(one, by=", ".join(names), note="; ".join(notes))
