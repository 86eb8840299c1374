"""A report for people: tables laid out with spaces, in colours on a terminal.

On a terminal tables are fitted to its width. Where the output goes to a file or a pipe nothing is
folded.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate, zip_longest
from textwrap import wrap

from beyondchance.reporting.blocks import Block, Prose, Table
from beyondchance.reporting.escaping import visible

_WIDEST = 100
"""Columns that a sentence fills at most: longer lines are hard to read."""
_LEAST = 10
"""Columns that names can be folded to."""
_GAP = "   "
_BOLD, _DIM = 1, 2
_STYLES = {"▲": 32, "▼": 31}
"""Changes for the better are green, those for the worse red."""
_ESCAPES = re.compile(r"\x1b\[\d+m")


def rendered(
    blocks: Sequence[Block],
    *,
    digits: int,
    width: int | None = None,
    colour: bool = False,
) -> str:
    """Write blocks one below the other, with a line between them."""

    def written(block: Block) -> Iterator[str]:
        for line in _lines(block, digits, width):
            yield f"{(line if colour else _ESCAPES.sub('', line)).rstrip()}\n"

    return "\n".join("".join(written(block)) for block in blocks)


def _lines(block: Block, digits: int, limit: int | None) -> Iterator[str]:
    """Yield the lines of a block; without a limit, tables are as wide as they get."""
    width = min(limit or _WIDEST, _WIDEST)
    match block:
        case Prose(quiet=True):
            yield _styled(visible(block.words), _DIM)
        case Prose():
            yield from _wrapped(block.words, width)
        case Table():
            yield from (_styled(line, _BOLD) for line in _wrapped(block.title, width))
            yield from _laid_out(block, digits, limit)
            yield from (_styled(line, _DIM) for line in _wrapped(block.remark, width))


def _styled(text: str, style: int | None) -> str:
    return text if style is None else f"\x1b[{style}m{text}\x1b[0m"


def _wrapped(text: str, columns: int) -> list[str]:
    return wrap(visible(text), columns, break_long_words=False, break_on_hyphens=False)


def _laid_out(table: Table, digits: int, limit: int | None) -> Iterator[str]:
    """Yield columns as wide as what they hold, or as there is room for, below their headings."""
    rows = [list(map(visible, row)) for row in table.texts(digits, headed=True)]
    widths = [max(map(_columns_of, column)) for column in zip(*rows, strict=True)]
    gaps = len(_GAP) * (len(widths) - 1)
    if limit is not None:
        widths = _fitted(widths, table.left, limit - gaps)
    for number, row in enumerate(rows):
        for line in zip_longest(*map(_folded, row, widths), fillvalue=""):
            cells = (
                _styled(_padded(cell, room, is_left), _STYLES.get(cell[:1]))
                for cell, room, is_left in zip(line, widths, table.left, strict=True)
            )
            yield _styled(_GAP.join(cells).rstrip(), None if number else _BOLD)
        if not number:
            yield "─" * (sum(widths) + gaps)


def _fitted(widths: list[int], left: Sequence[bool], room: int) -> list[int]:
    """Narrow columns of words, the widest first, until all fit; none if they cannot."""
    fitted = list(widths)
    while sum(fitted) > room:
        words = [i for i, width in enumerate(fitted) if left[i] and width > _LEAST]
        if not words:
            return widths
        fitted[max(words, key=fitted.__getitem__)] -= 1
    return fitted


def _padded(cell: str, width: int, is_left: bool) -> str:
    room = " " * (width - _columns_of(cell))
    return cell + room if is_left else room + cell


def _folded(cell: str, width: int) -> list[str]:
    """Fold a cell to lines that have no more room than this."""
    if _columns_of(cell) <= width:
        return [cell]
    lines = [""]
    for part in (part for word in cell.split() for part in _cut(word, width)):
        joined = f"{lines[-1]} {part}".lstrip()
        lines[-1:] = [joined] if _columns_of(joined) <= width else [lines[-1], part]
    return lines


def _cut(word: str, width: int) -> Iterator[str]:
    """Yield the parts of a word that fit into so many columns; characters may need two of them."""
    ends = list(accumulate(map(_columns_of, word)))
    start, before = 0, 0
    while ends[-1] - before > width:
        end = max(bisect_right(ends, before + width), start + 1)
        yield word[start:end]
        start, before = end, ends[end - 1]
    yield word[start:]


def _columns_of(text: str) -> int:
    """Return the columns that a terminal needs for a text."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(character)
        else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )
