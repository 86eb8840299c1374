"""Toxic spans of SemEval-2021: a text in each row, and the indices of its toxic characters.

Spans are runs of indices, so that two spans that touch are one. A file is by one annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from itertools import pairwise

from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.layers import visible
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.table_files import declared_rows, head_rows, kind_of
from beyondchance.io.values import refusal

_LABEL = "toxic"
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
                for place in _runs(_indices(cells["spans"], where))
            )
            yield Draft(
                where=where,
                document=cells.get("name", unnamed).strip(),
                annotator=upload.annotator,
                text=text,
                spans=[DraftSpan(*place, _LABEL) for place in kept if place],
                fields=fields,
            )


def _indices(cell: str, where: str) -> list[int]:
    """Return the indices of characters, in order."""
    inner = cell.strip()
    is_list = inner.startswith("[") and inner.endswith("]")
    numbers = [number.strip() for number in inner[1:-1].split(",")] if inner[1:-1].strip() else []
    odd = next((number for number in numbers if not _NUMBER.fullmatch(number)), None)
    if not is_list or odd is not None:
        found, value = ("an index is {}", odd) if is_list else ("spans are {}", cell)
        raise refusal(where, found, value, expected="indices of characters, such as [0, 1, 2]")
    return sorted(set(map(int, numbers)))


def _runs(indices: list[int]) -> list[Interval]:
    """Return runs of indices that follow one another.

    Examples
    --------
    >>> _runs([2, 3, 4, 7]), _runs([])
    ([(2, 5), (7, 8)], [])
    """
    breaks = [(last + 1, first) for last, first in pairwise(indices) if first > last + 1]
    starts = [*indices[:1], *(first for _, first in breaks)]
    ends = [*(end for end, _ in breaks), *(last + 1 for last in indices[-1:])]
    return list(zip(starts, ends, strict=True))
