"""What a report is made of: sentences, tables and bars, and the same as plain data."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass, field
from math import isnan
from typing import Any, NamedTuple

from beyondchance.annotations.corpus import Corpus
from beyondchance.numbers import in_digits
from beyondchance.results.score import Score

CUT = "long tables are cut; --top 0 shows all of them"
"""A note for those who look at tables."""


class Range(NamedTuple):
    """Two numbers to be rounded, and a mark behind them."""

    low: float
    high: float
    mark: str = ""


class Amount(NamedTuple):
    """A number that is written out for people."""

    value: float
    text: str


Cell = str | int | float | Range | Amount | None
"""A name, a count, a number to be rounded, a range of them, one written out, or nothing."""


@dataclass(frozen=True, slots=True)
class Prose:
    """A paragraph; `quiet` ones are details, such as the signature."""

    text: str
    quiet: bool = False


@dataclass(frozen=True, slots=True)
class Table:
    """Rows under a heading each. Columns of names stand left, those of numbers right.

    Attributes
    ----------
    headings : sequence of str
    rows : sequence of rows of cells
    title : str
        What the rows are, where the headings do not tell.
    remark : str
        What is to be said below.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    remark: str = ""

    def is_left(self, column: int) -> bool:
        """Whether a column holds names or words."""
        cells = [row[column] for row in self.rows]
        return any(isinstance(cell, str) and not _AMOUNT.fullmatch(cell) for cell in cells)


_AMOUNT = re.compile(r"[-+▲▼=<>]? ?[\d.,]*( %)?")
"""Amounts that are written out already: a share, a change."""


@dataclass(frozen=True, slots=True)
class Bars:
    """Named amounts, to be drawn as bars where there are characters only."""

    title: str
    amounts: Mapping[str, float]


@dataclass(frozen=True, slots=True)
class Curves:
    """Named curves over the same positions, to be drawn where there are characters only."""

    title: str
    values: Mapping[str, Sequence[float]]


Block = Prose | Table | Bars | Curves


@dataclass(frozen=True, slots=True, kw_only=True)
class Report:
    """A result, ready to be printed.

    Attributes
    ----------
    command : str
    blocks : tuple of Block
        For people.
    data : mapping
        For JSON.
    rows : list of mapping
        For CSV: one flat table.
    notes : tuple of str
        What people should know beside the result.
    """

    command: str
    blocks: tuple[Block, ...]
    data: Mapping[str, Any]
    rows: Sequence[Mapping[str, Any]] = field(default_factory=tuple)
    notes: tuple[str, ...] = ()


def cell_text(cell: Cell, digits: int) -> str:
    """A cell as it is shown.

    >>> cell_text(0.25, 3), cell_text(12345, 3), cell_text("ada", 3), cell_text(None, 3)
    ('0.250', '12,345', 'ada', '')
    >>> cell_text(Range(0.25, 0.5, "*"), 2), cell_text(Amount(0.5, "+50 %"), 2)
    ('0.25 to 0.50*', '+50 %')
    """
    if cell is None:
        return ""
    if isinstance(cell, float):
        return in_digits(cell, digits)
    if isinstance(cell, Amount):
        return cell.text
    if isinstance(cell, Range):
        if isnan(cell.low):
            return "-"
        return f"{in_digits(cell.low, digits)} to {in_digits(cell.high, digits)}{cell.mark}"
    return f"{cell:,}" if isinstance(cell, int) else cell


SCORES = ("observed", "chance", "corrected")


def score_cells(score: Score) -> tuple[float, float, float]:
    """The three numbers of a score."""
    return score.observed, score.chance, score.corrected


def with_reasons(table: Table, scores: Iterable[Score]) -> Table:
    """Add a column that says why a score is undefined, if one is."""
    reasons = [score.reason for score in scores]
    if not any(reasons):
        return table
    rows = [(*row, reason) for row, reason in zip(table.rows, reasons, strict=True)]
    return Table((*table.headings, "note"), rows, table.title, table.remark)


def flat_score(score: Score) -> dict[str, Any]:
    """A score for a row of CSV."""
    nested = score.to_dict()
    return {
        **{name: nested[name] for name in SCORES},
        **nested["counts"],
        "n_documents": score.n_documents,
        "n_spans": score.n_spans,
        "reason": score.reason,
    }


def inputs(corpus: Corpus) -> list[dict[str, str]]:
    """The files that annotations came from, for JSON."""
    return [asdict(item) for item in corpus.inputs]


def in_list(names: Sequence[str], most: int = 6) -> str:
    """Names for a sentence.

    >>> in_list(["ada"]), in_list(["ada", "ben", "cleo"]), in_list(["a", "b", "c", "d"], 2)
    ('ada', 'ada, ben and cleo', 'a, b and 2 more')
    """
    shown = list(names[:most]) if len(names) > most + 1 else list(names)
    rest = len(names) - len(shown)
    parts = [*shown, f"{rest} more"] if rest else shown
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} and {parts[-1]}"


def counted(number: int, noun: str) -> str:
    """A number with its noun.

    >>> counted(1, "document"), counted(1200, "span")
    ('1 document', '1,200 spans')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
