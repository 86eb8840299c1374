"""A report as LaTeX tables with booktabs, ready for a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence

from beyondchance.messages import spoken
from beyondchance.reporting.blocks import Bars, Block, Curves, Prose, Table, cell_text
from beyondchance.reporting.visible import visible

_ESCAPES = {
    **{character: rf"\{character}" for character in "{}$&#%_"},
    "\\": r"\textbackslash{}",
    "^": r"\textasciicircum{}",
    "~": r"\textasciitilde{}",
    "<": r"\textless{}",
    ">": r"\textgreater{}",
    "|": r"\textbar{}",
    "[": "{[}",  # at the beginning of a row it would be taken for an option of the row before
    "]": "{]}",
    "*": "{*}",  # the same
    '"': r"\textquotedbl{}",
    "▲": r"$\uparrow$",
    "▼": r"$\downarrow$",
}
_SPECIAL = re.compile("|".join(map(re.escape, _ESCAPES)))
_NUMBER = re.compile(r"([-+<>]* ?[\d.,]+)( %)?")


def rendered(blocks: Sequence[Block], *, digits: int) -> str:
    """Tables as floats; sentences become comments, pictures of characters are left out."""
    head = r"% Needs \usepackage{booktabs} (and \usepackage[T1]{fontenc})."
    parts = [_block(block, digits) for block in blocks]
    return "\n\n".join([head, *filter(None, parts)]) + "\n"


def _block(block: Block, digits: int) -> str:
    match block:
        case Prose(text):
            return "\n".join(f"% {visible(line)}" for line in spoken(text).splitlines())
        case Table():
            return _table(block, digits)
        case Bars() | Curves():
            return ""


def _table(table: Table, digits: int) -> str:
    columns = "".join("l" if table.is_left(i) else "r" for i in range(len(table.headings)))
    lines = [r"\begin{table}", r"\centering", rf"\begin{{tabular}}{{{columns}}}", r"\toprule"]
    lines += [_line(table.headings), r"\midrule"]
    lines += [_line([cell_text(cell, digits) for cell in row]) for row in table.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    title = f"{table.title[0].upper()}{table.title[1:]}." if table.title else ""
    caption = " ".join(filter(None, (title, table.remark)))
    if caption:
        lines.append(rf"\caption{{{_escaped(caption)}}}")
    return "\n".join([*lines, r"\end{table}"])


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(text: str) -> str:
    """Numbers in maths, so that a minus is one."""
    number = _NUMBER.fullmatch(text)
    if number:
        return f"${number[1].replace(',', '{,}')}$" + (r"\,\%" if number[2] else "")
    return _escaped(text)


def _escaped(text: str) -> str:
    return _SPECIAL.sub(lambda found: _ESCAPES[found[0]], visible(text))
