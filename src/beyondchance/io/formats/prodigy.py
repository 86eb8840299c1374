"""Prodigy: the JSONL that ``db-out`` writes, one task a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, DraftSpan, Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source
from beyondchance.io.values import identifier, listed, shown

_LEFT_OUT = {"reject": "rejected", "ignore": "ignored"}
_ANSWERS = ("accept", *_LEFT_OUT)
_MARKS = frozenset({"_input_hash", "_task_hash", "_session_id", "_annotator_id", "_view_id"})
_CATEGORIES = ("label", "options", "accept")


@dataclass(slots=True)
class _Met:
    """What was met in the tasks of one upload.

    Attributes
    ----------
    names : dict
        The document of each text that has no input hash.
    accepted : dict
        The place where an annotator accepted a task of a document.
    n_binary : int
        Accepted tasks whose spans have answers of their own.
    n_categories : int
        Accepted tasks that ask for the category of a text.
    has_spans : bool
        Whether a task is about spans.
    """

    names: dict[str, str] = field(default_factory=dict)
    accepted: dict[tuple[str, str], str] = field(default_factory=dict)
    n_binary: int = 0
    n_categories: int = 0
    has_spans: bool = False


def is_format(upload: Upload) -> bool:
    """Whether the content looks like a data set of Prodigy."""
    return upload.data is None and all(map(_looks_right, upload.sources))


def _looks_right(source: Source) -> bool:
    """Whether the first line is a task: with a text, and with marks or an answer of Prodigy."""
    head = source.head_text.lstrip()
    line, end, _ = head.partition("\n")
    if not line.startswith("{"):
        return False
    try:
        task = json.loads(line)
    except (ValueError, RecursionError):
        # A line longer than the head is told by its marks alone.
        return not end and any(f'"{mark}":' in line for mark in ("_input_hash", "_task_hash"))
    if not isinstance(task, dict):
        return False
    is_answered = task.get("answer") in _ANSWERS and ("spans" in task or "tokens" in task)
    return isinstance(task.get("text"), str) and (bool(_MARKS & task.keys()) or is_answered)


def drafts(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read all tasks: a draft for each that was accepted."""
    met = _Met()
    for source in upload.sources:
        for number, task in source.json_lines():
            where = f"{source.name}:{number}"
            if not isinstance(task, dict):
                raise FormatError(
                    f"{where}: {shown(task)}; expected an object, one task a line (db-out)"
                )
            name = f"{upload.document_of(source)}:{number}" if upload.is_folder else f"{number}"
            draft = _draft(
                task, where, number=name, annotator=upload.annotator, met=met, reading=reading
            )
            if draft is not None:
                yield draft
    if met.n_categories and not met.has_spans:
        raise FormatError(
            f"{upload.name}: no task has spans or tokens, but {met.n_categories} have categories "
            "of whole texts; expected tasks about spans"
        )
    if met.n_categories:
        reading.skipped["categories of whole texts ignored"] += met.n_categories
    if met.n_binary:
        reading.notes.append(
            f"{upload.name}: spans of {met.n_binary} accepted tasks were answered one by one (as "
            "in ner.teach), which does not tell what else is in the text"
        )


def _draft(
    task: dict[str, Any], where: str, *, number: str, annotator: str, met: _Met, reading: Reading
) -> Draft | None:
    """One task; nothing if it was rejected or ignored, for then nobody annotated it."""
    text = task.get("text")
    if not isinstance(text, str):
        kind = "the task has no 'text'" if text is None else f"'text' is {shown(text)}"
        raise FormatError(f"{where}: {kind}; expected the text that was annotated, as a string")
    answer = _answer(task, where)
    who = _name(task, "_annotator_id", where) or _name(task, "_session_id", where) or annotator
    document = _document(task, text, where, number, met)
    spans = listed(task, "spans", where)
    tokens = _tokens(task, text, where, reading)
    met.has_spans = met.has_spans or "spans" in task or tokens is not None
    if answer != "accept":
        reading.skipped[f"{_LEFT_OUT[answer]} tasks left out"] += 1
        return None
    _check_once(document, who, where, met)
    met.n_categories += any(task.get(key) for key in _CATEGORIES)
    met.n_binary += any(isinstance(span, dict) and span.get("answer") for span in spans)
    if relations := listed(task, "relations", where):
        reading.skipped["relations ignored"] += len(relations)
    return Draft(
        where=where,
        document=document,
        annotator=who,
        text=text,
        spans=list(_spans(spans, where, reading)),
        tokens=tokens,
    )


def _answer(item: Mapping[str, Any], where: str) -> str:
    """What the annotator pressed; accepted if the file does not say."""
    answer = item.get("answer")
    if answer is None:
        return "accept"
    if not isinstance(answer, str) or answer not in _ANSWERS:
        raise FormatError(
            f"{where}: 'answer' is {shown(answer)}; expected one of: {', '.join(_ANSWERS)}"
        )
    return answer


def _document(task: Mapping[str, Any], text: str, where: str, number: str, met: _Met) -> str:
    """The input hash or, without one, the line where the text was met first.

    So annotators of one text meet, on whatever lines they are.
    """
    name = _name(task, "_input_hash", where)
    if name is not None:
        return name
    return met.names.setdefault(text, number)


def _check_once(document: str, annotator: str, where: str, met: _Met) -> None:
    """Refuse a second accepted task of one text: together they may still not be complete."""
    first = met.accepted.setdefault((document, annotator), where)
    if first != where:
        raise FormatError(
            f"{where}: {annotator!r} accepted a task with this text before, at {first}; expected "
            "one, for yes-or-no tasks (ner.teach) do not tell the whole annotation; if the text "
            "was annotated twice, keep only the line that was exported last"
        )


def _spans(spans: list[Any], where: str, reading: Reading) -> Iterator[DraftSpan]:
    for number, span in enumerate(spans, start=1):
        place = f"{where}: span #{number}"
        if not isinstance(span, dict):
            raise FormatError(f"{place} is {shown(span)}; expected an object")
        answer = _answer(span, place)
        if answer != "accept":
            reading.skipped[f"{_LEFT_OUT[answer]} spans left out"] += 1
            continue
        label, surface = span.get("label"), span.get("text")
        if not isinstance(label, str) or not label:
            raise FormatError(f"{place}: 'label' is {shown(label)}; expected a name")
        if not isinstance(surface, str | None):
            raise FormatError(
                f"{place}: 'text' is {shown(surface)}; expected the words of the span"
            )
        start, end = _interval(span, place)
        yield DraftSpan(start, end, label, surface)


def _tokens(
    task: Mapping[str, Any], text: str, where: str, reading: Reading
) -> list[Interval] | None:
    """Tokens from left to right, within the text."""
    if task.get("tokens") is None:
        return None
    counts_utf16 = reading.options["offsets"] == "utf16"
    length = len(text) + (sum(map("\uffff".__lt__, text)) if counts_utf16 else 0)
    tokens: list[Interval] = []
    last = 0
    for number, token in enumerate(listed(task, "tokens", where), start=1):
        place = f"{where}: token #{number}"
        if not isinstance(token, dict):
            raise FormatError(f"{place} is {shown(token)}; expected an object")
        start, end = _interval(token, place)
        if not last <= start < end <= length:
            raise FormatError(
                f"{place} is [{start}, {end}); expected tokens from left to right within the text, "
                f"which has {length} characters"
            )
        words = token.get("text")
        if isinstance(words, str) and not counts_utf16 and words != text[start:end]:
            raise FormatError(
                f"{place} covers {text[start:end]!r}, but the file stores {words[:40]!r}; check "
                "that tokens and text belong together"
            )
        tokens.append((start, end))
        last = end
    return tokens


# --- JSON values --------------------------------------------------------------


def _interval(item: Mapping[str, Any], place: str) -> Interval:
    start, end = item.get("start"), item.get("end")
    for key, value in (("start", start), ("end", end)):
        if isinstance(value, bool) or not isinstance(value, int):
            raise FormatError(f"{place}: {key!r} is {shown(value)}; expected a whole number")
    return int(start), int(end)  # type: ignore[arg-type]


def _name(task: Mapping[str, Any], key: str, where: str) -> str | None:
    """A name or number as a string; nothing where it is missing or empty."""
    return identifier(task.get(key), f"{where}: {key!r}")
