"""Answers of language models as they arrive: JSON in prose, in a code fence or in a string.

A file is an answer, or has one in each record: what the batch interfaces of OpenAI, Anthropic and
Gemini return, and records that hold the answer as a string. Quotes are read as `quotes` reads them.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Mapping, Sequence
from contextlib import suppress
from functools import partial
from itertools import islice
from operator import itemgetter
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.formats.quotes import (
    LISTS,
    drafts_of,
    has_quotes,
    is_quote,
    key_in,
    named_rows,
)
from beyondchance.io.json_rows import head_rows, rows_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, required
from beyondchance.io.shapes import Row
from beyondchance.io.sources import Source, parsed_json, parsed_json_at
from beyondchance.io.values import object_of, refusal
from beyondchance.messages import Use
from beyondchance.tallies import Tally, left_out, mended, unsure

_BATCH = ("custom_id", "key")
_REPLIES = ("response", "result", "choices", "candidates")
_ANSWERS = (
    *("response", "result", "output", "answer", "completion", "prediction", "generated_text"),
    *("generation", "model_output", "raw_output", "llm_output"),
)
# Keys below which interfaces have what a model said.
_WAY = (
    *(*_REPLIES, "body", "message", "output", "content", "parts", "text"),
    *("tool_calls", "function", "arguments"),
)
_OPENING = re.compile(r"[\[{](?=\s*[\[{\"'\]}])")
_LINE = re.compile(r"\s*(?:\{.*\}\s*)?")
_OBJECT = re.compile(r"\{[^{}]*\}")
_PAIR = re.compile(r"""(?<!\w)(\w+)["']?\s{0,8}:\s{0,8}(["']|\d)""")
_MOST_TRIED = 100  # brackets in prose

_AROUND = mended("answers with text around their JSON")
_SEVERAL = unsure("answers with several lists or objects, the longest read")
_BROKEN = mended("answers with broken JSON, repaired")
_NONE = left_out("answers without JSON")


# --- Detection ----------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Return whether most files are answers with quotes, or hold such in their records."""
    looks = partial(_looks_right, is_folder=upload.is_folder)
    return 2 * sum(map(looks, upload.sources)) > len(upload.sources)


def _looks_right(source: Source, *, is_folder: bool) -> bool:
    rows = head_rows(source, _REPLIES) or [source.beginning]
    return all(map(is_quote, rows)) or any(_holds_quotes(row, is_folder) for row in rows)


def _is_reply(row: Any) -> bool:
    """Return whether a record is what an interface returned."""
    if not isinstance(row, Mapping):
        return False
    return key_in(row, _REPLIES[2 * (key_in(row, _BATCH) is None) :]) is not None


def _holds_quotes(row: Any, is_folder: bool) -> bool:
    """Return whether a record has an answer with quotes, perhaps in JSON that is broken or cut.

    Lists by label without a text are quotes only if a file is a document.
    """
    answer, _ = _said(row)
    if _is_reply(row):
        return True
    if not isinstance(answer, str):
        return (is_folder or answer is not row) and _any(_records(answer))
    value, _ = _value_in(answer)
    if value is not None:
        return _any(_records(value))
    # Broken records with offsets are refused with their place.
    objects = [
        {key: 0 if sign.isdigit() else sign for key, sign in _PAIR.findall(item)}
        for item in _OBJECT.findall(answer)
    ]
    is_fenced = _fenced(answer) != [] and _OPENING.search(answer) is not None
    return is_fenced or (objects != [] and all(map(is_quote, objects)))


def _fenced(text: str) -> list[str]:
    """Return what stands in code fences, without the name of the language behind them."""
    return [part.partition("\n")[2] for part in text.split("```")[1::2]]


def _any(records: Sequence[Any]) -> bool:
    return any(isinstance(record, Mapping) and has_quotes(record) for record in records)


# --- Reading ------------------------------------------------------------------


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read the quotes in all answers."""
    return drafts_of(uploads, reading, _rows)


def _rows(upload: Upload, reading: Reading) -> Iterator[Row]:
    """Yield the records in the answers of all files."""
    for source in upload.sources:
        found = [
            (where, number, {**object_of(record, where), **known})
            for where, number, (answer, known) in _answers_in(source)
            for record in _records_in(answer, where, reading)
        ]
        yield from named_rows(upload, source, found)


def _answers_in(source: Source) -> list[tuple[str, int, tuple[Any, dict[str, Any]]]]:
    """List the answers of a file: place, number, answer, and what else its record has."""
    try:
        rows = list(rows_of(source)) if source.is_json else []
    except FormatError:
        lines = source.lines() if all(map(_LINE.fullmatch, source.lines())) else []
        # Broken JSON lines are repaired one by one.
        rows = [(f"{source.name}:{i}", i, x) for i, x in enumerate(lines, start=1) if x.strip()]
    if not rows and source.ending.startswith(".json") and not _OPENING.search(source.text):
        raise refusal(source.name, "holds no JSON", expected="an answer with quotes")
    if all(is_quote(row) for *_, row in rows):
        return [(source.name, 1, ([row for *_, row in rows] or source.text, {}))]
    return [(where, number, _said(row)) for where, number, row in rows]


def _said(row: Any) -> tuple[Any, dict[str, Any]]:
    """Return the answer of a record, None if there is none, and what else the record has."""
    if _is_reply(row):
        parts, name = list(_parts(row)), key_in(row, _BATCH)
        objects = [part for part in parts if isinstance(part, Mapping)]
        answer = objects[-1] if objects else "".join(map(str, parts)) or None
        return answer, {} if name is None else {"id": row[name]}
    own = row if isinstance(row, Mapping) else {}
    key = key_in(own, (*_ANSWERS, *LISTS), str) or key_in(own, _ANSWERS, (dict, list))
    return (row, {}) if key is None else (row[key], {x: row[x] for x in row if x != key})


def _parts(value: Any, depth: int = 20) -> Iterator[Any]:
    """Yield what a model said, and the objects that it called tools with; not what it thought."""
    if isinstance(value, Mapping):
        if value.get("type") == "tool_use":
            yield value.get("input", "")
        is_thought = value.get("thought") or "summary" in value
        value = [] if is_thought else [value[key] for key in _WAY if key in value]
    if isinstance(value, str):
        yield value
    for item in value if isinstance(value, list) and depth else ():
        yield from _parts(item, depth - 1)


def _records_in(answer: Any, where: str, reading: Reading) -> list[Any]:
    """Return the records of an answer, and count what had to be done to find them."""
    if not isinstance(answer, str):
        return [{"entities": None}] if answer is None else _records(answer)
    value, how = _value_in(answer)
    if value is None:
        value, how = _repaired(answer)
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
    if is_quote(value):
        return [{"entities": [value]}]
    if isinstance(value, list):
        is_several = any(isinstance(x, Mapping) and has_quotes(x) is not False for x in value)
        return value if is_several else [{"entities": value}]
    if not isinstance(value, Mapping) or key_in(value, LISTS) is not None:
        return [value]
    inner = next(iter(value.values())) if len(value) == 1 else None
    is_list = isinstance(inner, list) and all(map(is_quote, inner))
    return [{"entities": inner if is_list else value}]


# --- The JSON in a text -------------------------------------------------------


def _value_in(text: str) -> tuple[Any, Tally | None]:
    """Return the list or object that a text holds, None if there is none, and what is mended."""
    if text[:1] == '"':
        with suppress(FormatError):  # a string of JSON within one
            return _value_in(str(parsed_json(text, "")))
    text = text.rpartition("</think>")[2]
    # The last of several in code fences is the answer.
    for content in (*reversed(_fenced(text)), text):
        found = list(_values_in(content))
        if found and all(is_quote(value) for value, _ in found):
            return [value for value, _ in found], _AROUND
        if found:
            value, length = max(found, key=itemgetter(1))
            how = None if length == len(text.strip()) else _AROUND
            return value, _SEVERAL if len(found) > 1 else how
    return None, None


def _values_in(text: str) -> Iterator[tuple[Any, int]]:
    """Yield lists and objects in prose, and how long they are."""
    place, broken = 0, ""
    for sign in islice(_OPENING.finditer(text), _MOST_TRIED):
        if sign.start() < place:
            continue
        broken += text[place : sign.start()] if broken else ""
        try:
            value, place = parsed_json_at(text, sign.start(), "")
        except FormatError:
            place = sign.end()
            broken += sign[0]
            continue
        # What lies in brackets that are broken is not all.
        if sum(map(broken.count, "[{")) > sum(map(broken.count, "]}")):
            return
        yield value, place - sign.start()


def _repaired(text: str) -> tuple[Any, Tally]:
    """Return what broken JSON was meant to be; None if there is none."""
    content = next(reversed(_fenced(text)), text)
    sign, end = _OPENING.search(content), max(map(content.rfind, "]}"))
    if sign is None or end < sign.start():
        return None, _NONE
    library: Any = required("json_repair", extra="quotes", purpose="broken JSON")
    # Up to the last bracket: what follows is prose, or a quote that is cut off.
    value = library.loads(content[sign.start() : end + 1])
    return (value, _BROKEN) if isinstance(value, list | dict) and value else (None, _NONE)
