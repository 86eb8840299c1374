"""A report as a piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from beyondchance.messages import spoken
from beyondchance.reporting.blocks import Block, Prose, Table, cell_text
from beyondchance.reporting.escaping import visible


def rendered(blocks: Sequence[Block], *, digits: int) -> str:
    """Write tables and paragraphs, without style except for the sides of columns."""
    return "\n".join(["<div>", *(_block(block, digits) for block in blocks), "</div>"]) + "\n"


def _block(block: Block, digits: int) -> str:
    match block:
        case Prose(text, quiet):
            words = _escaped(spoken(text))
            return f"<p><code>{words}</code></p>" if quiet else f"<p>{words}</p>"
        case Table():
            return _table(block, digits)


def _table(table: Table, digits: int) -> str:
    sides = ["left" if table.is_left(column) else "right" for column in range(len(table.headings))]
    lines = ["<table>"]
    if table.title:
        lines.append(f'<caption style="text-align: left">{_escaped(table.title)}</caption>')
    lines.append(f"<thead>{_row('th', table.headings, sides)}</thead>")
    rows = ([cell_text(cell, digits) for cell in row] for row in table.rows)
    lines += ["<tbody>", *(_row("td", row, sides) for row in rows), "</tbody>", "</table>"]
    return "\n".join([*lines, *([f"<p>{_escaped(table.remark)}</p>"] if table.remark else [])])


def _row(kind: str, cells: Sequence[str], sides: Sequence[str]) -> str:
    parts = (
        f'<{kind} style="text-align: {side}">{_escaped(cell)}</{kind}>'
        for cell, side in zip(cells, sides, strict=True)
    )
    return f"<tr>{''.join(parts)}</tr>"


def _escaped(text: str) -> str:
    return escape(visible(text))
