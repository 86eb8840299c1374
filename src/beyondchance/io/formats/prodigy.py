"""Prodigy: the JSONL that ``db-out`` writes, one task a line."""

from __future__ import annotations

import json
from collections.abc import Iterator, Mapping
from dataclasses import dataclass, field
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.columns import named_fields
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.offsets import Interval, length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import (
    identifier,
    interval,
    label_of,
    listed,
    object_of,
    quoting,
    refused,
    string_of,
    words_of,
)
from beyondchance.messages import Quote, Use
from beyondchance.tallies import left_out, no_spans

DOCUMENT = "_document"
"""The key of the name of a document that has no hash yet: Prodigy itself makes hashes."""
_LEFT_OUT = {"reject": "rejected", "ignore": "ignored"}
_ANSWERS = ("accept", *_LEFT_OUT)
_MARKS = frozenset({"_input_hash", "_task_hash", "_session_id", "_annotator_id", "_view_id"})
_MANUAL = frozenset({"ner_manual", "spans_manual", "spans", "blocks", "relations"})
"""Views in which the annotator sees all spans of a text."""
_CATEGORIES = ("label", "options", "accept")


@dataclass(slots=True)
class _Seen:
    """What was seen in the tasks of one upload.

    Attributes
    ----------
    names : dict
        The document of each text that has no input hash.
    accepted : dict
        The place where an annotator accepted a task of a document, and whether that was the
        whole annotation.
    n_binary : int
        Accepted tasks whose spans have answers of their own.
    n_categories : int
        Accepted tasks that ask for the category of a text.
    has_spans : bool
        Whether a task is about spans.
    """

    names: dict[str, str] = field(default_factory=dict)
    accepted: dict[tuple[str, str], tuple[str, bool | None]] = field(default_factory=dict)
    n_binary: int = 0
    n_categories: int = 0
    has_spans: bool = False


def _looks_right(source: Source) -> bool:
    """Whether the first line is a task: with a text, and with marks or an answer of Prodigy."""
    head = source.head_text.lstrip()
    line, end, _ = head.partition("\n")
    if not line.startswith("{"):
        return False
    try:
        task = json.loads(line)
    except (ValueError, RecursionError):
        # A line longer than the head is recognised by its marks alone.
        return not end and any(f'"{mark}":' in line for mark in ("_input_hash", "_task_hash"))
    if not isinstance(task, dict):
        return False
    is_answered = task.get("answer") in _ANSWERS and ("spans" in task or "tokens" in task)
    return isinstance(task.get("text"), str) and (bool(_MARKS & task.keys()) or is_answered)


is_format = by_files(all, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read all tasks: a draft for each that was accepted."""
    seen = _Seen()
    for source in upload.sources:
        for number, task in source.json_lines():
            where = f"{source.name}:{number}"
            object_of(task, where, "the line")
            name = f"{upload.prefix_of(source, ':')}{number}"
            draft = _draft(
                task, where, number=name, annotator=upload.annotator, seen=seen, reading=reading
            )
            if draft is not None:
                yield draft
    if seen.n_categories and not seen.has_spans:
        raise FormatError(
            f"no task has spans or tokens, but {seen.n_categories} have categories of whole texts",
            where=upload.name,
            expected="tasks about spans",
        )
    if seen.n_categories:
        reading.skipped[no_spans("categories of whole texts")] += seen.n_categories
    if seen.n_binary:
        reading.note(
            f"spans of {seen.n_binary} accepted tasks were answered one by one (as in ner.teach), "
            "so that other spans of the text may be missing",
            where=upload.name,
        )


def _draft(
    task: dict[str, Any], where: str, *, number: str, annotator: str, seen: _Seen, reading: Reading
) -> Draft | None:
    """One task; None if it was rejected or ignored, because then it was not annotated."""
    text = string_of(task, "text", where, "the text that was annotated, as a string")
    answer = _answer(task, where)
    for key in ("_session_id", "_annotator_id"):
        annotator = identifier(task, key, where) or annotator
    # Without an input hash, the tasks of a text belong to the line on which it came first.
    hashed = identifier(task, "_input_hash", where)
    reading.calls("document_key", "" if hashed is None else "_input_hash")
    named = hashed or identifier(task, DOCUMENT, where)
    document = named or seen.names.setdefault(text, number)
    spans = listed(task, "spans", where)
    tokens = _tokens(task, text, where, reading)
    seen.has_spans = seen.has_spans or "spans" in task or tokens is not None
    if answer != "accept":
        reading.skipped[left_out(f"{_LEFT_OUT[answer]} tasks")] += 1
        return None
    is_asked = (reading.given or {}).get("repeated") == "last"
    is_whole = _is_whole(task, spans)
    if is_whole is None and is_asked:
        is_whole = True
    _check_whole(document, annotator, where, seen, is_whole=is_whole)
    seen.n_categories += any(task.get(key) for key in _CATEGORIES)
    seen.n_binary += _are_answered(spans)
    if relations := listed(task, "relations", where):
        reading.skipped[no_spans("relations")] += len(relations)
    return Draft(
        where=where,
        document=document,
        annotator=annotator,
        text=text,
        spans=list(_spans(spans, where, reading)),
        tokens=tokens,
        fields=named_fields(task.get("meta")),
    )


def _answer(item: Mapping[str, Any], where: str) -> str:
    """What the annotator pressed; accepted if the file does not say."""
    answer = item.get("answer")
    if answer is None:
        return "accept"
    if not isinstance(answer, str) or answer not in _ANSWERS:
        raise refused(answer, "'answer'", where, f"one of: {', '.join(_ANSWERS)}")
    return answer


def _are_answered(spans: list[Any]) -> bool:
    """Whether spans were answered one by one."""
    return any(isinstance(span, dict) and span.get("answer") for span in spans)


def _is_whole(task: Mapping[str, Any], spans: list[Any]) -> bool | None:
    """Whether a task shows all spans of a text, rather than asking whether one is right.

    None if there is no telling.
    """
    if _are_answered(spans):
        return False
    view = task.get("_view_id")
    return view in _MANUAL if isinstance(view, str) else len(spans) > 1 or None


def _check_whole(
    document: str, annotator: str, where: str, seen: _Seen, *, is_whole: bool | None
) -> None:
    """Refuse several accepted tasks of one text, unless each is the whole annotation."""
    first, was_whole = seen.accepted.setdefault((document, annotator), (where, is_whole))
    if first != where and not (is_whole and was_whole):
        raise FormatError(
            Quote(annotator),
            f" accepted a task with this text before, at {first}",
            where=where,
            expected="one, because yes-or-no tasks (ner.teach) do not give the full annotation",
            remedy="if the text was annotated twice, keep only the line that was exported last"
            if is_whole is False or was_whole is False
            else ("if each line is a full annotation, pass ", Use("repeated", "last")),
        )


def _spans(spans: list[Any], where: str, reading: Reading) -> Iterator[DraftSpan]:
    for number, span in enumerate(spans, start=1):
        place = f"{where}: span #{number}"
        object_of(span, where, f"span #{number}")
        answer = _answer(span, place)
        if answer != "accept":
            reading.skipped[left_out(f"{_LEFT_OUT[answer]} spans")] += 1
            continue
        label, surface = label_of(span.get("label"), place), words_of(span, place)
        yield DraftSpan(*interval(span, place), label, surface)


def _tokens(
    task: Mapping[str, Any], text: str, where: str, reading: Reading
) -> list[Interval] | None:
    """Tokens from left to right, within the text."""
    if task.get("tokens") is None:
        return None
    unit = reading.options["offsets"] or "codepoints"
    length = length_of(text, unit)
    tokens: list[Interval] = []
    last = 0
    for number, token in enumerate(listed(task, "tokens", where), start=1):
        place = f"{where}: token #{number}"
        object_of(token, where, f"token #{number}")
        start, end = interval(token, place)
        if not last <= start < end <= length:
            order = "tokens from left to right within the text"
            expected = f"{order}, which has {length} characters"
            raise FormatError(
                f"token #{number} is [{start}, {end})", where=where, expected=expected
            )
        words = token.get("text")
        if isinstance(words, str) and unit == "codepoints" and words != text[start:end]:
            raise FormatError(
                f"token #{number}",
                *quoting(" covers {}, but the file stores {}", text[start:end], words),
                where=where,
                remedy="check that tokens and text belong together",
            )
        tokens.append((start, end))
        last = end
    return tokens
