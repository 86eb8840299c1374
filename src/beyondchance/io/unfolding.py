"""Read tables with a row for each text, whose cells hold lists of spans or of tags.

A row becomes a record of JSON Lines, on the line where the row begins, so that messages name its
place. A column for each annotator is read like a file for each annotator.
"""

from __future__ import annotations

import json
import re
from ast import literal_eval
from collections.abc import Mapping, Sequence
from dataclasses import replace
from itertools import chain, product
from typing import Any

from beyondchance.io.columns import check_distinct
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, format_named, recognised
from beyondchance.io.span_objects import ANNOTATORS, TEXTS
from beyondchance.io.table_files import csv_rows, head_rows
from beyondchance.io.tagged import are_tags
from beyondchance.io.values import refusal
from beyondchance.messages import quotes

_TAGS = re.compile(r"(?:O|[BIELSUM]-\S+)(?:\s+(?:O|[BIELSUM]-\S+))*")
_ID = re.compile(
    r"(?:(?:doc|document|sentence|sent|text)[ _]?)?(?:id|#)|doc|document|sentence|file"
)
_WORDS = ("tokens", "words")
_EXPORTED = frozenset({"annotation_id", "lead_time"})
"""Columns of Label Studio, whose rows are the tasks of its JSON-MIN export."""


def unfolded(upload: Upload, format: str | None, reading: Reading) -> list[Upload]:  # noqa: A002
    """Return tables of lists as the files that they stand for; anything else as it is."""
    if upload.data is not None or upload.sources[0].beginning[:1] in {"{", "[", "<"}:
        return [upload]
    files = [upload]
    if upload.is_folder:
        files = [
            replace(
                upload, name=x.name, annotator=x.stem, sources=[x], is_folder=False, path=x.name
            )
            for x in upload.sources
        ]
    first = _parts(files[0], format, reading)
    if first == files[:1]:
        return [upload]
    return [*first, *chain.from_iterable(_parts(file, format, reading) for file in files[1:])]


def _parts(upload: Upload, format: str | None, reading: Reading) -> list[Upload]:  # noqa: A002
    """Return the files that a table of lists stands for; the table itself if it is another."""
    source = upload.sources[0]
    top = head_rows(source, most=50)
    # Lines of tokens are cells of one column.
    head = [cell for row in top[1:] for cell in row if len(top[0]) > 1]
    has_tags = any(" " in cell and _TAGS.fullmatch(cell) for cell in head)
    if not has_tags and not any(cell[:1] == "[" for cell in head):
        return [upload]
    # Several tags in a cell would be one tag, of a label with spaces, in a table of tokens.
    is_other = not has_tags and recognised(upload)
    if is_other if format is None else "{" not in format_named(format).first:
        return [upload]
    (_, header), *rows = csv_rows(source)
    names = [name.strip() for name in header]
    check_distinct(names, f"{source.name}:1")
    cells = {name: [row[i] for _, row in rows] for i, name in enumerate(names)}
    places = [f"{source.name}:{line}" for line, _ in rows]
    lists = {name: found for name, own in cells.items() if (found := _lists(own, places))}
    if not _EXPORTED.isdisjoint(names):
        tasks = zip(*({**cells, **lists}[name] for name in names), strict=True)
        own = [dict(zip(names, task, strict=True)) for task in tasks]
        return [_made(upload, upload.annotator, json.dumps(own))]
    marks, keys = _marks(lists)
    others = [name for name in names if name not in marks]
    if not marks:
        return [upload]
    text = _text_column({x: cells[x] for x in others}, lists, keys[0], f"{source.name}:1")
    texts: Sequence[Any] = cells[text]
    if keys[0] in _WORDS:
        words = lists.get(text) or [*map(str.split, texts)]
        texts = [own or [] for own in words]
    ids = [x for x in others if x != text and _ID.fullmatch(x.lower()) and all(cells[x])]
    by = [name for name in others if len(marks) == 1 and name.lower() in ANNOTATORS]
    if unread := [name for name in others if name not in {text, *ids, *by}]:
        # They may be named after annotators.
        named = [f"{len(unread)}"] if reading.hides_files else quotes(unread)
        reading.note("columns not read: ", *named, where=upload.name)
    made: dict[str, list[str]] = {}
    for (i, (line, _)), mark in product(enumerate(rows), marks):
        who = cells[by[0]][i].strip() if by else mark if len(marks) > 1 else upload.annotator
        cell = lists[mark][i]
        record = {keys[0]: texts[i], keys[1]: cell}
        if keys[0] in _WORDS and cell and len(texts[i]) != len(cell):
            what = f"{len(texts[i])} words, and {len(cell)} tags under {{}}"
            expected = "as many of each, separated by white space"
            raise refusal(places[i], what, mark, expected=expected)
        if ids:
            record["id"] = "/".join(cells[name][i].strip() for name in ids)
        lines = made.setdefault(who, [])
        # Blank lines keep the numbers of lines.
        lines += [""] * (line - 1 - len(lines)) + [json.dumps(record)]
    upload.check_named(made)
    return [_made(upload, who, "\n".join(lines)) for who, lines in made.items()]


def _text_column(
    cells: Mapping[str, Sequence[str]], lists: Mapping[str, object], key: str, where: str
) -> str:
    """Return the column that has the name of a text, or else the longest that is no identifier."""
    # Lists of anything else, such as parts of speech, are no words.
    own = {*TEXTS, *(_WORDS if key in _WORDS else ())}
    known = [name for name in cells if name.lower() in own]
    others = [name for name in cells if name not in lists and not _ID.fullmatch(name.lower())]
    if not known and not others:
        found = "no text among the columns next to lists: {}"
        raise refusal(where, found, quotes(cells), expected="one such as 'text'")
    return max(known or others, key=lambda name: sum(map(len, cells[name])))


def _made(upload: Upload, annotator: str, content: str) -> Upload:
    """Return an upload of JSON that was made from a table."""
    source = upload.sources[0]
    made = replace(source, path=None, member=content.encode(), digest=source.sha256)
    return replace(upload, annotator=annotator, sources=[made])


def _list_in(cell: str) -> list[Any] | None:
    """Return the list that a cell holds, as JSON, as Python writes it, or tags with spaces."""
    cell = cell.strip()
    if cell[:1] != "[":
        return cell.split() if _TAGS.fullmatch(cell) else None
    for parse in (json.loads, literal_eval):
        try:
            return list(parse(cell))
        except (ValueError, SyntaxError, TypeError, MemoryError, RecursionError):
            continue
    return None


def _lists(cells: Sequence[str], places: Sequence[str]) -> list[list[Any] | None]:
    """Return the lists that the cells of a column hold, None for empty cells; else nothing.

    A cell without a list is refused if most cells of the column have one.
    """
    found = [_list_in(cell) for cell in cells]
    odd = [i for i, cell in enumerate(cells) if found[i] is None and cell.strip()]
    n_lists = len(cells) - found.count(None)
    if odd and n_lists > len(odd):
        expected = "a list, as in other rows"
        raise refusal(places[odd[0]], "a cell holds {}", cells[odd[0]][:80], expected=expected)
    return found if n_lists and not odd else []


def _marks(
    lists: Mapping[str, Sequence[Sequence[Any] | None]],
) -> tuple[list[str], tuple[str, str]]:
    """Return the columns that hold spans, or else tags, and the keys of their records."""
    items = {name: [item for own in found for item in own or ()] for name, found in lists.items()}
    spans = [name for name in items if {dict, list, tuple}.issuperset(map(type, items[name]))]
    if any(map(items.get, spans)):
        return spans, ("text", "spans")
    is_tags = (name for name in items if "chunk" not in name.lower())
    return [name for name in is_tags if are_tags(set(map(str, items[name])))], ("tokens", "tags")
