"""What a report is made of: sentences, tables and bars, and the same as plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from math import isnan
from typing import Any, NamedTuple, TypeVar

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note, Text, Use
from beyondchance.numbers import in_digits
from beyondchance.results.score import Score

CUT = Note(("long tables are cut; ", Use("top", 0), " shows all of them"))
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

    text: Text
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


def as_notes(notes: Iterable[Note | str]) -> tuple[Note, ...]:
    """Transitional: notes that are still strings, as notes."""
    return tuple(Note(note) if isinstance(note, str) else note for note in notes)


@dataclass(frozen=True, kw_only=True)
class Report:
    """A result, ready to be printed; only what an output asks for is made.

    Attributes
    ----------
    command : str
    notes : tuple of Note
        What people should know besides the result.
    signature : str, optional
        How the result was computed.
    corpus : Corpus, optional
        What it was computed from.
    make_blocks, make_data, make_rows : functions
        What `blocks`, `data` and `rows` are made with.
    """

    command: str
    notes: tuple[Note, ...] = ()
    signature: str | None = None
    corpus: Corpus | None = None
    make_blocks: Callable[[], Sequence[Block]] = tuple
    make_data: Callable[[], Mapping[str, Any]] = dict
    make_rows: Callable[[], Sequence[Mapping[str, Any]]] = tuple

    def __post_init__(self) -> None:
        object.__setattr__(self, "notes", as_notes(self.notes))

    @cached_property
    def blocks(self) -> Sequence[Block]:
        """For people."""
        return self.make_blocks()

    @cached_property
    def data(self) -> Mapping[str, Any]:
        """For JSON: the signature and the files first, the notes last."""
        signed = {} if self.signature is None else {"signature": self.signature}
        if self.corpus is None:
            return {**signed, **self.make_data()}
        files = [asdict(item) for item in self.corpus.inputs]
        data = {**signed, "inputs": files, **self.make_data()}
        return {**data, "notes": self.notes}

    @cached_property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """For CSV: one flat table."""
        return self.make_rows()


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


_Item = TypeVar("_Item")


def cut(items: Sequence[_Item], top: int) -> tuple[Sequence[_Item], str]:
    """The first `top` items, or all for 0; and a remark if some are left out.

    >>> cut("abc", 2), cut("abc", 0)
    (('ab', '2 of 3.'), ('abc', ''))
    """
    shown = items[:top] if top else items
    return shown, f"{len(shown):,} of {len(items):,}." if len(shown) < len(items) else ""


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
