"""A report as Markdown, with tables as GitHub and most others read them."""

from __future__ import annotations

from collections.abc import Iterable, Sequence

from beyondchance.reporting.blocks import Block, Prose
from beyondchance.reporting.escaping import in_markdown, visible


def rendered(blocks: Sequence[Block], *, digits: int) -> str:
    """Write tables and sentences."""
    return "\n\n".join(_block(block, digits) for block in blocks) + "\n"


def _block(block: Block, digits: int) -> str:
    if isinstance(block, Prose):
        is_code = block.quiet and "`" not in block.words
        return f"`{visible(block.words)}`" if is_code else in_markdown(block.words)
    first, *rows = ([in_markdown(cell) for cell in row] for row in block.texts(digits, headed=True))
    sides = ["---" if is_left else "---:" for is_left in block.left]
    before = [f"**{in_markdown(block.title)}**", ""] if block.title else []
    after = ["", in_markdown(block.remark)] if block.remark else []
    return "\n".join([*before, *map(_line, (first, sides, *rows)), *after])


def _line(cells: Iterable[str]) -> str:
    return f"| {' | '.join(cells)} |"
