"""Toxic spans of SemEval-2021: a text in each row, and the indices of its toxic characters.

Spans are runs of indices, so that two spans that touch are one. A file is by one annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator

from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.layers import visible
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.table_files import declared_rows, head_rows, kind_of
from beyondchance.io.values import refusal

_LABEL = "toxic"
_EXPECTED = "indices of characters, such as [0, 1, 2]"
_PLAIN = {"spans": ("spans",), "text": ("text",)}
_KINDS = ({"name": ("id", "text_id"), **_PLAIN}, _PLAIN)
_SPANS = re.compile(r"\[\s*[\[({]")
_NUMBER = re.compile(r"[0-9]{1,12}", re.ASCII)


def _looks_right(source: Source) -> bool:
    """Return whether the header names both columns, and cells hold lists, but not of spans."""
    header, *rows = head_rows(source, ",", 50) or [[]]
    if kind_of(header, _KINDS) is None:
        return False
    place = [name.strip().lower() for name in header].index("spans")
    cells = ["".join(row[place : place + 1]).lstrip() for row in rows]
    is_list = all(cell.startswith("[") for cell in cells[:1])
    return is_list and not any(map(_SPANS.match, cells))


is_format = by_files(all, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read every row: the annotator is named after the file."""
    for source in upload.sources:
        for number, row in enumerate(declared_rows(source, _KINDS, ","), start=1):
            where, cells, fields = row
            text, unnamed = cells["text"], f"{upload.prefix_of(source, ':')}{number}"
            # What lies behind the end of the text is refused with all else that does.
            kept = (
                place if place[1] > len(text) else visible(text, place, reading)
                for place in _runs(cells["spans"], where)
            )
            yield Draft(
                where=where,
                document=cells.get("name", unnamed).strip(),
                annotator=upload.annotator,
                text=text,
                spans=[DraftSpan(*place, _LABEL) for place in kept if place],
                fields=fields,
            )


def _runs(cell: str, where: str) -> list[Interval]:
    """Return runs of indices that follow one another.

    Examples
    --------
    >>> _runs("[4, 2, 3, 7]", ""), _runs("[]", "")
    ([(2, 5), (7, 8)], [])
    """
    inner = cell.strip()
    if not (inner.startswith("[") and inner.endswith("]")):
        raise refusal(where, "spans are {}", cell, expected=_EXPECTED)
    numbers = list(map(str.strip, inner[1:-1].split(","))) if inner[1:-1].strip() else []
    odd = next((number for number in numbers if not _NUMBER.fullmatch(number)), None)
    if odd is not None:
        raise refusal(where, "an index is {}", odd, expected=_EXPECTED)
    runs: list[Interval] = []
    for index in sorted(set(map(int, numbers))):
        start = runs.pop()[0] if runs and runs[-1][1] == index else index
        runs.append((start, index + 1))
    return runs
