"""A report for the terminal, drawn by Rich."""

from __future__ import annotations

import io

from rich import box
from rich.console import Console
from rich.table import Table as Grid
from rich.text import Text

from beyondchance.report.blocks import Bars, Block, Curves, Prose, Report, Table, cell_text
from beyondchance.report.drawing import drawn_bars, drawn_curves
from beyondchance.report.visible import visible

_WIDEST = 100
"""Columns that a sentence fills at most: longer lines are hard to read."""
_UNBOUNDED = 100_000
"""Columns where the output is no terminal: nothing is folded."""
_STYLES = {"▲": "green", "▼": "red"}


def rendered(report: Report, *, digits: int, width: int | None = None, colour: bool = False) -> str:
    """Blocks one below the other, with a line between them."""
    text = io.StringIO()
    console = Console(
        file=text,
        width=_UNBOUNDED if width is None else width,
        force_terminal=colour,
        color_system="standard" if colour else None,
        highlight=False,
        markup=False,
        emoji=False,
        legacy_windows=False,
    )
    for number, block in enumerate(report.blocks):
        if number:
            console.print()
        _print(console, block, digits)
    return "\n".join(line.rstrip() for line in text.getvalue().split("\n"))


def _print(console: Console, block: Block, digits: int) -> None:
    width = min(console.width, _WIDEST)
    match block:
        case Prose(text, quiet=True):
            console.print(Text(visible(text), style="dim"), soft_wrap=True)
        case Prose(text):
            console.print(Text(visible(text)), width=width)
        case Table():
            if block.title:
                console.print(Text(visible(block.title), style="bold"), width=width)
            console.print(_grid(block, digits))
            if block.remark:
                console.print(Text(visible(block.remark), style="dim"), width=width)
        case Bars():
            _print_lines(console, drawn_bars(block, digits=digits, width=width))
        case Curves():
            _print_lines(console, drawn_curves(block, digits=digits, width=width))


def _print_lines(console: Console, lines: list[str]) -> None:
    for line in lines:
        console.print(Text(line), soft_wrap=True)


def _grid(table: Table, digits: int) -> Grid:
    grid = Grid(box=box.SIMPLE_HEAD, pad_edge=False, show_edge=False)
    for number, heading in enumerate(table.headings):
        left = table.is_left(number)
        grid.add_column(
            Text(heading), justify="left" if left else "right", no_wrap=not left, overflow="fold"
        )
    for row in table.rows:
        grid.add_row(*(_cell(cell_text(cell, digits)) for cell in row))
    return grid


def _cell(text: str) -> Text:
    return Text(visible(text), style=_STYLES.get(text[:1], ""))
