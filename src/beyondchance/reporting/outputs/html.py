"""A report as a piece of HTML for notebooks."""

from __future__ import annotations

from collections.abc import Sequence
from html import escape

from beyondchance.reporting.blocks import Block, Prose, Table
from beyondchance.reporting.escaping import visible


def rendered(blocks: Sequence[Block], *, digits: int) -> str:
    """Write tables and paragraphs, without style except for the sides of columns."""
    return "\n".join(["<div>", *(_block(block, digits) for block in blocks), "</div>"]) + "\n"


def _block(block: Block, digits: int) -> str:
    if isinstance(block, Prose):
        words = _escaped(block.words)
        return f"<p><code>{words}</code></p>" if block.quiet else f"<p>{words}</p>"
    lines = ["<table>"]
    if block.title:
        lines.append(f'<caption style="text-align: left">{_escaped(block.title)}</caption>')
    lines += [f"<thead>{_row('th', block.headings, block)}</thead>", "<tbody>"]
    lines += [_row("td", row, block) for row in block.texts(digits)]
    lines += ["</tbody>", "</table>"]
    return "\n".join([*lines, *([f"<p>{_escaped(block.remark)}</p>"] if block.remark else [])])


def _row(kind: str, cells: Sequence[str], table: Table) -> str:
    parts = (
        f'<{kind} style="text-align: {"left" if is_left else "right"}">{_escaped(cell)}</{kind}>'
        for cell, is_left in zip(cells, table.left, strict=True)
    )
    return f"<tr>{''.join(parts)}</tr>"


def _escaped(text: str) -> str:
    return escape(visible(text))
