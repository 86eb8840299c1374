"""A report as Markdown, with tables as GitHub and most others read them."""

from __future__ import annotations

from collections.abc import Sequence

from beyondchance.messages import spoken
from beyondchance.reporting.blocks import Block, Prose, Table, cell_text
from beyondchance.reporting.escaping import in_markdown, visible


def rendered(blocks: Sequence[Block], *, digits: int) -> str:
    """Write tables and sentences."""
    return "\n\n".join(_block(block, digits) for block in blocks) + "\n"


def _block(block: Block, digits: int) -> str:
    match block:
        case Prose(text, quiet):
            words = spoken(text)
            return f"`{visible(words)}`" if quiet and "`" not in words else in_markdown(words)
        case Table():
            return _table(block, digits)


def _table(table: Table, digits: int) -> str:
    left = [table.is_left(column) for column in range(len(table.headings))]
    lines = [
        _line([in_markdown(heading) for heading in table.headings]),
        _line(["---" if is_left else "---:" for is_left in left]),
        *(_line([in_markdown(cell_text(cell, digits)) for cell in row]) for row in table.rows),
    ]
    before = [f"**{in_markdown(table.title)}**", ""] if table.title else []
    after = ["", in_markdown(table.remark)] if table.remark else []
    return "\n".join([*before, *lines, *after])


def _line(cells: Sequence[str]) -> str:
    return f"| {' | '.join(cells)} |"
