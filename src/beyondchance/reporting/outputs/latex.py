"""A report as LaTeX tables with booktabs, ready for a paper."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import chain
from math import isnan

from beyondchance.numbers import in_digits
from beyondchance.reporting.blocks import (
    Block,
    Cell,
    PaperTable,
    Prose,
    Range,
    Table,
    cell_text,
    in_one,
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


def _block(block: Block | PaperTable, digits: int) -> str:
    if isinstance(block, Prose):
        return "\n".join(f"% {visible(line)}" for line in block.words.splitlines())
    if isinstance(block, PaperTable):
        rows = list(chain.from_iterable(block.sections.values()))
        # Wide tables take both columns of a page that has two.
        kind = "table*" if len(block.headings) > _NARROW else "table"
        caption, label = block.caption.written("latex"), rf"\label{{{block.label}}}"
        said = {"caption": caption, "label": label}
        return _float(kind, Table(block.headings, rows), block.sections, digits=digits, **said)
    title = f"{block.title[0].upper()}{block.title[1:]}." if block.title else ""
    caption = in_latex(in_one(title, block.remark))
    return _float("table", block, {"": block.rows}, digits=digits, caption=caption)


def _float(
    kind: str,
    table: Table,
    sections: Mapping[str, Sequence[Sequence[Cell]]],
    *,
    digits: int,
    caption: str,
    label: str = "",
) -> str:
    """Write a table, whose rows are in sections, with what is said below."""
    lines = [rf"\begin{{{kind}}}", r"\centering"]
    lines += [rf"\begin{{tabular}}{{{_sides(table)}}}", r"\toprule", _line(table.headings)]
    for title, section in sections.items():
        lines.append(r"\midrule")
        if len(sections) > 1:
            span = rf"\multicolumn{{{len(table.headings)}}}{{l}}"
            lines.append(rf"{span}{{\emph{{{in_latex(title)}}}}} \\")
        lines += [_line(row, digits, has_brackets=bool(label)) for row in section]
    lines += [r"\bottomrule", r"\end{tabular}", rf"\caption{{{caption}}}" if caption else ""]
    return "\n".join(filter(None, [*lines, label, rf"\end{{{kind}}}"]))


def _sides(table: Table) -> str:
    """Return the sides of the columns; those of long words have a width."""

    def side(cells: Sequence[Cell], is_left: bool) -> str:
        longest = max(len(str(cell)) for cell in cells)
        left = r"p{0.4\linewidth}" if longest > _LONG else "l"
        return left if is_left else "r"

    columns = zip(*(table.rows or [[""] * len(table.headings)]), strict=True)
    return "".join(map(side, columns, table.left))


def _line(cells: Sequence[Cell], digits: int = 0, *, has_brackets: bool = False) -> str:
    """Write a row; intervals as they are, or in brackets."""
    written = []
    for cell in cells:
        if has_brackets and isinstance(cell, Range) and not isnan(cell.low):
            ends = ", ".join(in_digits(end, digits) for end in (cell.low, cell.high))
            written.append(f"$[{ends}]$" + (f"$^{{{cell.mark}}}$" if cell.mark else ""))
        else:
            written.append(_cell(cell_text(cell, digits)))
    return " & ".join(written) + r" \\"


def _cell(text: str) -> str:
    """Write numbers in maths, so that a minus is one."""
    number = _NUMBER.fullmatch(text)
    if number:
        return f"${number[1].replace(',', '{,}')}$" + (r"\,\%" if number[2] else "")
    return in_latex(text)
