"""Answers of language models as they arrive: JSON in prose, in a code fence or in a string.

A file is an answer, or has one in each record: what the batch interfaces of OpenAI, Anthropic and
Gemini return, and records that hold the answer as a string. Quotes are read as `quotes` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping
from functools import partial
from operator import itemgetter
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.formats.quotes import (
    LISTS,
    drafts_of,
    groups_in,
    has_quotes,
    is_quote,
    key_in,
    named_rows,
)
from beyondchance.io.json_rows import head_rows, rows_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, required
from beyondchance.io.sources import Source, parsed_json, parsed_json_at
from beyondchance.io.values import object_of, refusal
from beyondchance.messages import Use
from beyondchance.tallies import Tally, left_out, mended

_BATCH = ("custom_id", "key")
"""What batch interfaces call the document."""
_REPLIES = ("choices", "candidates")
"""What interfaces call the answers to one question, of which the first counts."""
_ANSWERS = (
    *("response", "result", "output", "answer", "completion", "prediction", "generated_text"),
    *("generation", "model_output", "raw_output", "llm_output"),
)
_WAY = (
    *("response", "result", "body", "message", *_REPLIES, "output", "content", "parts", "text"),
    *("tool_calls", "function", "arguments"),
)
"""Keys below which interfaces have what a model said."""
_FENCE = re.compile(r"^\s*```[^\n]*\n(.*?)(?:^\s*```|\Z)", re.DOTALL | re.MULTILINE)
_OPENING = re.compile(r"[\[{](?=\s*[\[{\"'\]}])")
_OBJECT = re.compile(r"\{[^{}]*\}")
_PAIR = re.compile(r"""["']?(\w+)["']?\s*:\s*(["']|\d)""")
_MOST_TRIED = 100
"""Brackets in prose at which JSON is looked for."""

_AROUND = mended("answers with text around their JSON")
_BROKEN = mended("answers with broken JSON, repaired")
_NONE = left_out("answers without JSON")


# --- Detection ----------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Return whether most files are answers with quotes, or hold such in their records."""
    looks = partial(_looks_right, is_folder=upload.is_folder)
    return 2 * sum(map(looks, upload.sources)) > len(upload.sources)


def _looks_right(source: Source, *, is_folder: bool) -> bool:
    rows = head_rows(source, _is_reply)
    if not rows:
        return _holds_quotes(source.beginning)
    answers = [_said(row)[0] for row in rows]
    if any(map(_is_reply, rows)) or all(map(is_quote, rows)) or any(map(_holds_quotes, answers)):
        return True
    # Without a text, lists by label are quotes only if a file is a document.
    if not (is_folder and len(rows) == 1 and isinstance(rows[0], Mapping)):
        return False
    (record,) = _records(rows[0])
    return groups_in(rows[0]) != {} or isinstance(record.get("entities"), list)


def _is_reply(row: Any) -> bool:
    """Return whether a record is what an interface returned."""
    if not isinstance(row, Mapping):
        return False
    is_batch = key_in(row, _BATCH) is not None and key_in(row, _ANSWERS) is not None
    return is_batch or key_in(row, _REPLIES, list) is not None


def _holds_quotes(answer: Any) -> bool:
    """Return whether an answer has quotes, perhaps in JSON that is broken or cut."""
    if not isinstance(answer, str) or _OPENING.search(answer) is None:
        return False
    value, _ = _value_in(answer)
    if value is not None:
        return any(has_quotes(record) for record in _records(value))
    # Broken records with offsets are refused with their place.
    objects = [
        {key: 0 if sign.isdigit() else sign for key, sign in _PAIR.findall(item)}
        for item in _OBJECT.findall(answer)
    ]
    return _FENCE.search(answer) is not None or (bool(objects) and all(map(is_quote, objects)))


# --- Reading ------------------------------------------------------------------


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read the quotes in all answers."""
    return drafts_of(uploads, reading, _rows)


def _rows(upload: Upload, reading: Reading) -> Iterator[tuple[str, str, Any]]:
    """Yield the records in the answers of all files."""
    for source in upload.sources:
        found = [
            (where, number, {**object_of(record, where), **known})
            for where, number, answer, known in _answers_in(source)
            for record in _records_in(answer, where, reading)
        ]
        yield from named_rows(upload, source, found)


def _answers_in(source: Source) -> list[tuple[str, int, Any, dict[str, Any]]]:
    """List the answers of a file: place, number, answer, and what else its record has."""
    try:
        rows = list(rows_of(source)) if source.is_json else []
    except FormatError:
        # Broken JSON lines are repaired one by one.
        lines = [(i, line.strip()) for i, line in enumerate(source.lines(), start=1)]
        rows = [(f"{source.name}:{i}", i, line) for i, line in lines if line]
        rows = rows if all(row[0] + row[-1] == "{}" for *_, row in rows) else []
    if all(is_quote(row) for *_, row in rows):
        return [(source.name, 1, [row for *_, row in rows] or source.text, {})]
    return [(where, number, *_said(row)) for where, number, row in rows]


def _said(row: Any) -> tuple[Any, dict[str, Any]]:
    """Return the answer of a record, None if there is none, and what else the record has."""
    if _is_reply(row):
        parts, name = list(_parts(row)), key_in(row, _BATCH)
        objects = [part for part in parts if isinstance(part, Mapping)]
        answer = objects[-1] if objects else "".join(parts) or None
        return answer, {} if name is None else {"id": row[name]}
    key = key_in(row, (*_ANSWERS, *LISTS), str) if isinstance(row, Mapping) else None
    return (row, {}) if key is None else (row[key], {x: row[x] for x in row if x != key})


def _parts(value: Any, depth: int = 10) -> Iterator[Any]:
    """Yield what a model said, and the objects that it called tools with; not what it thought."""
    if isinstance(value, str):
        yield value
    elif isinstance(value, list):
        for item in value if depth else ():
            yield from _parts(item, depth - 1)
    elif isinstance(value, Mapping) and not (value.get("thought") or "summary" in value):
        if value.get("type") == "tool_use":
            yield value.get("input")
        for key in _WAY if depth else ():
            inner = value.get(key)
            yield from _parts(inner[:1] if key in _REPLIES and inner else inner, depth - 1)


def _records_in(answer: Any, where: str, reading: Reading) -> list[Any]:
    """Return the records of an answer, and count what had to be done to find them."""
    if not isinstance(answer, str):
        return [{"entities": None}] if answer is None else _records(answer)
    value, how = _value_in(answer)
    if value is None:
        value = _repaired(answer)
        how = _NONE if value is None else _BROKEN
    if how is not None:
        problem = partial(
            refusal,
            where,
            f"one of the {how.noun}",
            expected="JSON and nothing else",
            remedy=(Use("strict", "-answers"), " takes what there is"),
        )
        reading.mend("answers", how, problem)
    return [] if value is None else _records(value)


def _records(value: Any) -> list[Any]:
    """Return what an answer holds as records: those in it, or one of its quotes."""
    if isinstance(value, list):
        is_several = any(isinstance(x, Mapping) and has_quotes(x) is not False for x in value)
        return value if is_several else [{"entities": value}]
    if key_in(value, LISTS) is not None:
        return [value]
    inner = next(iter(value.values())) if len(value) == 1 else None
    if is_quote(value) or (isinstance(inner, list) and all(map(is_quote, inner))):
        value = [value] if is_quote(value) else inner
    return [{"entities": value}]


# --- The JSON in a text -------------------------------------------------------


def _value_in(text: str) -> tuple[Any, Tally | None]:
    """Return the list or object that a text holds, None if there is none, and what is mended."""
    value = _parsed(text)
    if isinstance(value, str):
        return _value_in(value)
    if isinstance(value, list | Mapping):
        return value, None
    # The last of several is the answer.
    for content in reversed(_FENCE.findall(text)):
        value = _parsed(content)
        if isinstance(value, list | Mapping):
            return value, _AROUND
    found = list(_values_in(text))
    if found and all(is_quote(value) for value, _ in found):
        return [value for value, _ in found], _AROUND
    return max(found, key=itemgetter(1), default=(None,))[0], _AROUND


def _parsed(text: str) -> Any:
    try:
        return parsed_json(text, "") if text.lstrip()[:1] in {*'[{"'} else None
    except FormatError:
        return None


def _values_in(text: str) -> Iterator[tuple[Any, int]]:
    """Yield lists and objects in prose, and how long they are."""
    place, broken = 0, ""
    for _ in range(_MOST_TRIED):
        sign = _OPENING.search(text, place)
        if sign is None:
            return
        begin = sign.start()
        broken += text[place:begin] if broken else ""
        try:
            value, place = parsed_json_at(text, begin, "")
        except FormatError:
            place = sign.end()
            broken += sign[0]
            continue
        # What lies in brackets that are broken is not all.
        if sum(map(broken.count, "[{")) > sum(map(broken.count, "]}")):
            return
        yield value, place - begin


def _repaired(text: str) -> Any:
    """Return the value that broken JSON was meant to be; None if there is none."""
    content = next(reversed(_FENCE.findall(text)), text)
    sign, end = _OPENING.search(content), max(map(content.rfind, "]}"))
    if sign is None or end < sign.start():
        return None
    library: Any = required("json_repair", extra="quotes", purpose="broken JSON")
    # Up to the last bracket: what follows is prose, or a quote that is cut off.
    value = library.loads(content[sign.start() : end + 1])
    return value if isinstance(value, list | dict) and value else None
