"""Files of many JSON objects: an array, one object a line, or one after the other."""

from __future__ import annotations

import json
import re
from collections.abc import Iterable, Iterator
from typing import Any, NamedTuple

from beyondchance.errors import FormatError
from beyondchance.io.sources import Source, once, parsed_json_at

_SIGN = re.compile(r"\S")
_BRACKETS = re.compile(r"[\s\[]*")
_TOKEN = re.compile(r'\s*(?:"[^"\\]*(?:\\.[^"\\]*)*"|[\[\]{},:]|[^\s\[\]{},:"]+)', re.DOTALL)
_BEGUN = re.compile(r'"(?:[^"\\]++|\\[^u]|\\u[0-9A-Fa-f]{4})*', re.DOTALL)
_CLOSING = {"[": "]", "{": "}"}
_FIRST = 2**20
"""Bytes in which a first row that is longer than the head is looked for at first."""


def rows_of(source: Source) -> Iterator[tuple[str, int, Any]]:
    """Yield the rows of a file: the place of each, its number, and the row.

    The file is an array, an object with an array named ``data``, an answer of the Hugging
    Face viewer (``{"rows": [{"row": {...}}]}``), JSON lines, or objects of several lines
    one after the other. Lines are numbered as they are in the file. Objects of several
    lines are numbered one by one: the lines they begin on depend on what was annotated,
    and differ between annotators.
    """
    text, name = source.text, source.name
    sign = _SIGN.search(text)
    if sign is None:
        return
    if sign[0] == "[":
        yield from _items(source.json(), name)
        return
    try:
        first, end = parsed_json_at(text, sign.start(), name)
    except FormatError:
        if not source.before:
            raise
        # Some lines of a file, numbered as they are in it, to name the one that is broken.
        for number, value in source.json_lines():
            yield f"{name}:{number}", number, value
        raise
    after = _SIGN.search(text, end)
    items = _wrapped(first) if after is None else None
    if items is not None:
        yield from _items(items, name)
        return
    has_line = "\n" not in text[sign.start() : end]
    if has_line and (after is None or "\n" in text[end : after.start()]):
        for number, value in source.json_lines():
            yield f"{name}:{number}", number, value
    else:
        yield from _one_by_one(source)


def head_rows(source: Source, early: Iterable[str] = ()) -> list[Any]:
    """Return the rows that the head of a file holds, whatever they are. To recognise a format by.

    Where the head ends within the first row, the row has the keys up to there, and what it holds
    last may be cut short; it is looked up in the file if the head has one of the keys that come
    `early` in the rows that are looked for, or a row that begins with a text. Later rows are whole.
    """
    head = _parsed(source)
    if head.is_cut and early and _has_begun(head.rows[0], early):
        whole = _first_of_file(source)
        return head.rows if whole is None else [whole]
    return head.rows


def _has_begun(row: Any, early: Iterable[str]) -> bool:
    if isinstance(row, list):
        return bool(row) and isinstance(row[0], str)
    return isinstance(row, dict) and not row.keys().isdisjoint(early)


def head_row(source: Source, early: Iterable[str] = ()) -> dict[str, Any] | None:
    """Return the first of these rows if it is an object; None otherwise."""
    row = next(iter(head_rows(source, early)), None)
    return row if isinstance(row, dict) else None


def first_object(source: Source, early: Iterable[str]) -> dict[str, Any]:
    """Return the object on the first line, or the only one as `head_row` finds it; else empty."""
    return (_parsed(source).is_line and head_row(source, early)) or {}


class _Head(NamedTuple):
    """The rows in the head of a file, whether one is all, which is cut, or the first is a line."""

    rows: list[Any]
    is_cut: bool = False
    is_line: bool = False


@once
def _parsed(source: Source) -> _Head:
    """Parse the head of a file."""
    text = source.beginning
    if not source.is_json:
        return _Head([])
    decoder = json.JSONDecoder()
    values: list[Any] = []
    place = end = 0
    while (sign := _SIGN.search(text, place)) is not None:
        try:
            value, place = decoder.raw_decode(text, sign.start())
        except (ValueError, RecursionError):
            break
        values.append(value)
        end = end or place
    is_cut = not values and source.is_longer_than_head
    if is_cut:
        values = [_completed(text)]
    is_line = text[0] == "{" and "\n" not in text[: end or len(text)]
    if len(values) != 1:
        return _Head(values, is_line=is_line)
    items = values[0] if isinstance(values[0], list) else _wrapped(values[0])
    if items is None:
        return _Head(values, is_cut, is_line)
    whole = items[:-1] if is_cut and len(items) > 1 else items
    return _Head([_row(item) for item in whole], is_cut and len(items) == 1, is_line)


@once
def _first_of_file(source: Source) -> Any:
    """Return the first row of a file, of which no more is read; None if it cannot be read."""
    size, is_longer = _FIRST, True
    while is_longer and size < 8 * source.most:
        text, is_longer = source.begun(size)
        opened = _BRACKETS.match(text)
        place = opened.end() if opened else 0
        if text.count("[", 0, place) > 1:
            place = text.index("[", text.index("[") + 1)  # a row that is a list, in a list
        try:
            value, _ = parsed_json_at(text, place, source.name)
        except FormatError:
            size *= 8
            continue
        items = _wrapped(value)
        return value if items is None else _row(items[0])
    return None


def _items(values: list[Any], name: str) -> Iterator[tuple[str, int, Any]]:
    for number, value in enumerate(values, start=1):
        yield f"{name}: item {number}", number, _row(value)


def _wrapped(value: Any) -> list[Any] | None:
    """Return the rows within an object that stands for the whole file, if it is one."""
    if not isinstance(value, dict):
        return None
    for key in ("data", "rows"):
        items = value.get(key)
        if isinstance(items, list) and items and all(isinstance(item, dict) for item in items):
            return items if key == "data" or "row" in items[0] else None
    return None


def _row(value: Any) -> Any:
    """Return a row of the Hugging Face viewer without its wrapping; any other as it is."""
    is_wrapped = (
        isinstance(value, dict) and "row_idx" in value and isinstance(value.get("row"), dict)
    )
    return value["row"] if is_wrapped else value


def _one_by_one(source: Source) -> Iterator[tuple[str, int, Any]]:
    """Yield objects of any number of lines, one after the other."""
    text, name = source.text, source.name
    place, line, number = 0, 1, 0
    while (sign := _SIGN.search(text, place)) is not None:
        begin = sign.start()
        line += text.count("\n", place, begin)
        value, place = parsed_json_at(text, begin, name)
        number += 1
        yield f"{name}:{line}", number, value
        line += text.count("\n", begin, place)


def _completed(text: str) -> Any:
    """Return the value that a text begins, with what is open at its end closed; else None."""
    stack: list[str] = []
    # Up to `whole`, nothing is open but the brackets on the stack.
    place = whole = 0
    before = ""
    while (token := _TOKEN.match(text, place)) is not None:
        place = token.end()
        sign = token[0].lstrip()
        if sign in _CLOSING:
            stack.append(sign)
            whole = place
        elif sign in {"]", "}"}:
            if not stack or _CLOSING[stack.pop()] != sign:
                return None
            whole = place
        elif sign == ",":
            whole = token.end() - 1
        before = sign
    string = _BEGUN.match(text, place + len(text[place:]) - len(text[place:].lstrip()))
    if string and (before == ":" or (stack[-1:] == ["["] and before in {"[", ","})):
        # A value that is cut: an escape sequence at its end may be cut as well.
        text = f'{text[: string.end()]}"'
        whole = len(text)
    try:
        return json.loads(text[:whole] + "".join(_CLOSING[sign] for sign in reversed(stack)))
    except (ValueError, RecursionError):
        return None
