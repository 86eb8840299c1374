"""A report as LaTeX tables with booktabs, ready for a paper."""

from __future__ import annotations

import re
from collections.abc import Sequence
from math import isnan

from beyondchance.messages import spoken
from beyondchance.numbers import in_digits
from beyondchance.reporting.blocks import (
    Block,
    Cell,
    PaperTable,
    Prose,
    Range,
    Table,
    cell_text,
)
from beyondchance.reporting.escaping import in_latex, visible

_LONG = 40
"""Characters; columns with longer words are folded."""
_NARROW = 4
"""Columns that fit into one of the two columns of a page."""
_NEEDS = r"% Needs \usepackage{booktabs} (and \usepackage[T1]{fontenc})."
_NEEDS_TOO = r"% Needs \usepackage{booktabs,natbib} (and \usepackage[T1]{fontenc})."
_NUMBER = re.compile(r"([-+<>]* ?[\d.,]+)( %)?")


def rendered(blocks: Sequence[Block | PaperTable], *, digits: int) -> str:
    """Write tables as floats, and sentences as comments; pictures are left out."""
    parts = [_block(block, digits) for block in blocks]
    cites = any(isinstance(block, PaperTable) for block in blocks)
    return "\n\n".join([_NEEDS_TOO if cites else _NEEDS, *filter(None, parts)]) + "\n"


def _for_paper(table: PaperTable, digits: int) -> str:
    """Write the table of a paper, with its caption and label."""
    rows = [row for section in table.sections.values() for row in section]
    whole = Table(table.headings, rows)
    # Wide tables take both columns of a page that has two.
    kind = "table*" if len(table.headings) > _NARROW else "table"
    lines = [rf"\begin{{{kind}}}", r"\centering"]
    lines += [rf"\begin{{tabular}}{{{_columns(whole)}}}", r"\toprule", _line(table.headings)]
    for title, section in table.sections.items():
        lines.append(r"\midrule")
        if len(table.sections) > 1:
            span = rf"\multicolumn{{{len(table.headings)}}}{{l}}"
            lines.append(rf"{span}{{\emph{{{in_latex(title)}}}}} \\")
        lines += [" & ".join(_paper_cell(cell, digits) for cell in row) + r" \\" for row in section]
    caption = table.caption.written("latex")
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}"]
    return "\n".join([*lines, rf"\label{{{table.label}}}", rf"\end{{{kind}}}"])


def _paper_cell(cell: Cell, digits: int) -> str:
    """Write a cell; intervals in brackets."""
    if not isinstance(cell, Range) or isnan(cell.low):
        return _cell(cell_text(cell, digits))
    ends = (in_digits(end, digits) for end in (cell.low, cell.high))
    return f"$[{', '.join(ends)}]$" + (f"$^{{{cell.mark}}}$" if cell.mark else "")


def _block(block: Block | PaperTable, digits: int) -> str:
    match block:
        case Prose(text):
            return "\n".join(f"% {visible(line)}" for line in spoken(text).splitlines())
        case Table():
            return _table(block, digits)
        case PaperTable():
            return _for_paper(block, digits)


def _table(table: Table, digits: int) -> str:
    lines = [r"\begin{table}", r"\centering"]
    lines += [rf"\begin{{tabular}}{{{_columns(table)}}}", r"\toprule"]
    lines += [_line(table.headings), r"\midrule"]
    lines += [_line([cell_text(cell, digits) for cell in row]) for row in table.rows]
    lines += [r"\bottomrule", r"\end{tabular}"]
    title = f"{table.title[0].upper()}{table.title[1:]}." if table.title else ""
    caption = " ".join(filter(None, (title, table.remark)))
    if caption:
        lines.append(rf"\caption{{{in_latex(caption)}}}")
    return "\n".join([*lines, r"\end{table}"])


def _columns(table: Table) -> str:
    """Return the sides of the columns; those of long words have a width."""

    def side(column: int) -> str:
        longest = max((len(str(row[column])) for row in table.rows), default=0)
        left = r"p{0.4\linewidth}" if longest > _LONG else "l"
        return left if table.is_left(column) else "r"

    return "".join(map(side, range(len(table.headings))))


def _line(cells: Sequence[str]) -> str:
    return " & ".join(map(_cell, cells)) + r" \\"


def _cell(text: str) -> str:
    """Write numbers in maths, so that a minus is one."""
    number = _NUMBER.fullmatch(text)
    if number:
        return f"${number[1].replace(',', '{,}')}$" + (r"\,\%" if number[2] else "")
    return in_latex(text)
