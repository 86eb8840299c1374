"""Toxic spans of SemEval-2021: a text in each row, and the indices of its toxic characters.

Spans are runs of indices, so that two spans that touch are one. A file is by one annotator.
"""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from itertools import pairwise

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.error_spans import visible
from beyondchance.io.offsets import Interval
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.separated import csv_rows, head_rows
from beyondchance.io.sources import Source
from beyondchance.messages import Quote, quotes

_LABEL = "toxic"
_SPANS, _TEXT, _NAMES = "spans", "text", ("id", "text_id")
_NUMBER = re.compile(r"[0-9]{1,12}", re.ASCII)


def _looks_right(source: Source) -> bool:
    """Whether the header names both columns, and the first row begins a list of indices."""
    names, *rows = head_rows(source, ",", 2) or [[]]
    names = _columns(names)
    if not {_SPANS, _TEXT} <= set(names):
        return False
    return all("".join(row[names.index(_SPANS) :][:1]).lstrip().startswith("[") for row in rows)


is_format = by_files(all, _looks_right)


def _columns(header: Sequence[str]) -> list[str]:
    return [name.strip().lower() for name in header]


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read every row: the annotator is named after the file."""
    for source in upload.sources:
        header, *rows = csv_rows(source, ",") or [(1, [])]
        names = _columns(header[1])
        if not {_SPANS, _TEXT} <= set(names) or len(set(names)) < len(names):
            found = ("the columns are ", *quotes(names))
            raise FormatError(*found, where=f"{source.name}:1", expected="spans and text, once")
        column = next((name for name in _NAMES if name in names), None)
        for number, (line, cells) in enumerate(rows, start=1):
            row = dict(zip(names, cells, strict=True))
            where = f"{source.name}:{line}"
            unnamed = f"{upload.prefix_of(source, ':')}{number}"
            name = row.pop(column).strip() if column else unnamed
            text = row.pop(_TEXT)
            places = _runs(_indices(row.pop(_SPANS), where))
            # What lies behind the end of the text is refused with all else that does.
            kept = (
                place if place[1] > len(text) else visible(text, place, reading) for place in places
            )
            yield Draft(
                where=where,
                document=name,
                annotator=upload.annotator,
                text=text,
                spans=[DraftSpan(*place, _LABEL) for place in kept if place],
                fields=row,
            )


def _indices(cell: str, where: str) -> list[int]:
    """The indices of characters, in order."""
    inner = cell.strip()
    is_list = inner.startswith("[") and inner.endswith("]")
    numbers = [number.strip() for number in inner[1:-1].split(",")] if inner[1:-1].strip() else []
    odd = next((number for number in numbers if not _NUMBER.fullmatch(number)), None)
    if not is_list or odd is not None:
        found = ("spans are ", Quote(cell)) if not is_list else ("an index is ", Quote(odd))
        raise FormatError(*found, where=where, expected="indices of characters, such as [0, 1, 2]")
    return sorted(set(map(int, numbers)))


def _runs(indices: list[int]) -> list[Interval]:
    """Runs of indices that follow one another.

    Examples
    --------
    >>> _runs([2, 3, 4, 7]), _runs([])
    ([(2, 5), (7, 8)], [])
    """
    breaks = [(last + 1, first) for last, first in pairwise(indices) if first > last + 1]
    starts = [*indices[:1], *(first for _, first in breaks)]
    ends = [*(end for end, _ in breaks), *(last + 1 for last in indices[-1:])]
    return list(zip(starts, ends, strict=True))
