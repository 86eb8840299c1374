"""A report for people: drawn by Rich on a terminal, laid out as it is elsewhere.

On a terminal tables are fitted to its width and coloured. Where the output goes to a file or
a pipe nothing is folded, and Rich is not loaded.
"""

from __future__ import annotations

import io
import sys
import unicodedata
from bisect import bisect_right
from collections.abc import Iterator, Sequence
from itertools import accumulate
from textwrap import wrap
from typing import Any

from beyondchance.messages import spoken
from beyondchance.reporting.blocks import Bars, Block, Curves, Prose, Table, cell_text
from beyondchance.reporting.characters import drawn_bars, drawn_curves
from beyondchance.reporting.visible import visible

_WIDEST = 100
"""Columns that a sentence fills at most: longer lines are hard to read."""
_STYLES = {"▲": "green", "▼": "red"}


def rendered(
    blocks: Sequence[Block],
    *,
    digits: int,
    width: int | None = None,
    colour: bool = False,
    columns: int | None = None,
) -> str:
    """Blocks one below the other, with a line between them."""
    if width is None and not colour:
        return "\n".join(
            "".join(f"{line.rstrip()}\n" for line in _lines(block, digits, columns))
            for block in blocks
        )
    return drawn(blocks, digits=digits, width=width or _WIDEST, colour=colour)


def _lines(block: Block, digits: int, columns: int | None) -> Iterator[str]:
    """The lines of a block; without a limit, tables are as wide as they get."""
    width = columns or _WIDEST
    match block:
        case Prose(text, quiet):
            yield from [visible(spoken(text))] if quiet else _wrapped(spoken(text), width)
        case Table():
            yield from _wrapped(block.title, width)
            yield from _laid_out(block, digits, columns)
            yield from _wrapped(block.remark, width)
        case Bars():
            yield from drawn_bars(block, digits=digits, width=width)
        case Curves():
            yield from drawn_curves(block, digits=digits, width=width)


def _wrapped(text: str, columns: int) -> list[str]:
    return wrap(visible(text), columns, break_long_words=False, break_on_hyphens=False)


def _laid_out(table: Table, digits: int, limit: int | None = None) -> Iterator[str]:
    """Columns as wide as what they hold, below their headings.

    Where the table is wider than the limit, if there is one, its widest column of words is
    folded.
    """
    rows = [[visible(cell_text(cell, digits)) for cell in row] for row in table.rows]
    headings = [visible(heading) for heading in table.headings]
    columns = list(zip(headings, *rows, strict=True))
    widths = [max(map(_columns_of, column)) for column in columns]
    left = [table.is_left(number) for number in range(len(columns))]
    excess = sum(widths) + 3 * (len(widths) - 1) - (limit or sys.maxsize)
    if excess > 0 and any(left):
        names = (number for number, is_left in enumerate(left) if is_left)
        widest = max(names, key=widths.__getitem__)
        widths[widest] = max(widths[widest] - excess, _LEAST)
        rows = [line for row in rows for line in _folded(row, widest, widths[widest])]
    for number, row in enumerate([headings, *rows]):
        cells = [
            cell + " " * (room - _columns_of(cell))
            if is_left
            else " " * (room - _columns_of(cell)) + cell
            for cell, room, is_left in zip(row, widths, left, strict=True)
        ]
        yield "   ".join(cells)
        if number == 0:
            yield "─" * (sum(widths) + 3 * (len(widths) - 1))


def _folded(row: Sequence[str], column: int, width: int) -> Iterator[list[str]]:
    """The lines of a row of which one cell has no more room than this."""
    lines = wrap(row[column], width) if " " in row[column] else [row[column]]
    first, *others = [part for line in lines for part in _cut(line, width)] or [""]
    yield [first if number == column else cell for number, cell in enumerate(row)]
    for line in others:
        yield [line if number == column else "" for number in range(len(row))]


def _cut(line: str, width: int) -> Iterator[str]:
    """The parts of a line that fit into so many columns; characters may need two of them."""
    ends = list(accumulate(map(_columns_of, line)))
    start, before = 0, 0
    while line and ends[-1] - before > width:
        end = max(bisect_right(ends, before + width), start + 1)
        yield line[start:end]
        start, before = end, ends[end - 1]
    yield line[start:]


_LEAST = 10
"""Columns that names can be folded to."""


def _least_width(table: Table, digits: int) -> int:
    """Columns that a table needs if names are folded and numbers are not."""
    width = 3 * (len(table.headings) - 1)
    for number, heading in enumerate(table.headings):
        cells = [heading, *(cell_text(row[number], digits) for row in table.rows)]
        widest = max(_columns_of(visible(cell)) for cell in cells)
        width += min(widest, _LEAST) if table.is_left(number) else widest
    return width


def _columns_of(text: str) -> int:
    """Columns that a terminal needs for a text."""
    if text.isascii():
        return len(text)
    return sum(
        0
        if unicodedata.combining(character)
        else 1 + (unicodedata.east_asian_width(character) in "WF")
        for character in text
    )


def drawn(blocks: Sequence[Block], *, digits: int, width: int, colour: bool) -> str:
    """The report as Rich draws it."""
    from rich.console import Console  # noqa: PLC0415 - for terminals only

    text = io.StringIO()
    console = Console(
        file=text,
        width=width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for number, block in enumerate(blocks):
        if number:
            console.print()
        _print(console, block, digits)
    return "\n".join(line.rstrip() for line in text.getvalue().split("\n"))


def _print(console: Any, block: Block, digits: int) -> None:
    from rich.text import Text  # noqa: PLC0415 - for terminals only

    width = min(console.width, _WIDEST)
    match block:
        case Prose(text, quiet=True):
            console.print(Text(visible(spoken(text)), style="dim"), soft_wrap=True)
        case Prose(text):
            console.print(Text(visible(spoken(text))), width=width)
        case Table():
            if block.title:
                console.print(Text(visible(block.title), style="bold"), width=width)
            if _least_width(block, digits) > console.width:
                # Nothing is cut off: the terminal may break lines that are too long.
                for line in _laid_out(block, digits):
                    console.print(Text(line), soft_wrap=True)
            else:
                console.print(_grid(block, digits))
            if block.remark:
                console.print(Text(visible(block.remark), style="dim"), width=width)
        case Bars() | Curves():
            draw: Any = drawn_bars if isinstance(block, Bars) else drawn_curves
            for line in draw(block, digits=digits, width=width):
                console.print(Text(line), soft_wrap=True)


def _grid(table: Table, digits: int) -> Any:
    from rich import box  # noqa: PLC0415 - for terminals only
    from rich.table import Table as Grid  # noqa: PLC0415
    from rich.text import Text  # noqa: PLC0415

    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, heading in enumerate(table.headings):
        left = table.is_left(number)
        grid.add_column(
            Text(visible(heading)),
            justify="left" if left else "right",
            no_wrap=not left,
            overflow="fold",
        )
    for row in table.rows:
        texts = [visible(cell_text(cell, digits)) for cell in row]
        grid.add_row(*(Text(text, style=_STYLES.get(text[:1], "")) for text in texts))
    return grid
