"""What a report is made of: sentences, tables and bars, and the same as plain data."""

from __future__ import annotations

import re
from collections.abc import Callable, Iterable, Iterator, Mapping, Sequence
from dataclasses import asdict, dataclass
from functools import cached_property
from importlib import import_module
from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple, TypeAlias, TypeVar

from beyondchance.annotations.corpus import Corpus
from beyondchance.messages import Note, Text, spoken
from beyondchance.numbers import in_digits, p_in_digits
from beyondchance.reporting.paragraphs import Paragraph
from beyondchance.tallies import DOCUMENTS, by_fate

if TYPE_CHECKING:
    from beyondchance.reporting.columns import Group


class Range(NamedTuple):
    """Two numbers to be rounded, and a mark behind them."""

    low: float
    high: float
    mark: str = ""


class Amount(NamedTuple):
    """A number that is written out for people."""

    value: float
    text: str


class Below(NamedTuple):
    """A p-value that is the smallest its test can show, and may be smaller; by which draws."""

    value: float
    draws: str = ""


Cell = str | int | float | Range | Amount | Below | None
"""A name, a count, a number to be rounded, a range, one written out, a bound, or nothing."""


class Prose(NamedTuple):
    """A paragraph; `quiet` ones are details, such as the signature."""

    text: Text
    quiet: bool = False

    @property
    def words(self) -> str:
        """The text in the words of Python, or as it was spoken already."""
        return spoken(self.text)


class Table(NamedTuple):
    """Rows under a heading each. Columns of names stand left, those of numbers right.

    Attributes
    ----------
    headings : sequence of str
    rows : sequence of rows of cells
    title : str
        What the rows are, where the headings do not tell.
    remark : str
        What is to be said below.
    is_cut : bool
        Whether there are more rows than are shown.
    """

    headings: Sequence[str]
    rows: Sequence[Sequence[Cell]]
    title: str = ""
    remark: str = ""
    is_cut: bool = False

    @property
    def left(self) -> list[bool]:
        """For each column whether it holds names or words."""
        columns = zip(*self.rows, strict=True) if self.rows else [()] * len(self.headings)
        return [
            any(isinstance(cell, str) and not _AMOUNT.fullmatch(cell) for cell in cells)
            for cells in columns
        ]

    def texts(self, digits: int, *, headed: bool = False) -> list[list[str]]:
        """Return the rows as they are shown, below the headings if asked for."""
        rows = [self.headings, *self.rows] if headed else self.rows
        return [[cell_text(cell, digits) for cell in row] for row in rows]


_AMOUNT = re.compile(r"[-+▲▼=<>]? ?[\d.,]*( %)?")
"""Amounts that are written out already: a share, a change."""


Block = Prose | Table
Blocks: TypeAlias = Iterable[Block | Text]
"""What a report is made of: a text is a paragraph."""


class PaperTable(NamedTuple):
    """The main table of a result for a paper.

    Attributes
    ----------
    headings : sequence of str
    sections : mapping of str to rows of cells
        By what the rows are; nothing is said of a single section.
    caption : Paragraph
        Sentences that say what the table shows, for readers who have nothing else.
    label : str
        By which the text refers to it.
    """

    headings: Sequence[str]
    sections: Mapping[str, Sequence[Sequence[Cell]]]
    caption: Paragraph
    label: str


@dataclass(frozen=True, kw_only=True)
class Report:
    """A result, ready to be printed; only what an output shows is made.

    Attributes
    ----------
    command : str
        In JSON; that of the group by default.
    group : Group, optional
        What JSON has; all that `make_data` makes by default.
    make_blocks, make_data, make_rows : functions
        What `blocks`, `data` and `rows` are made with, apart from what all commands have. A
        text among the blocks is a paragraph, and an empty one is left out.
    make_asked : function
        What makes the blocks that options asked for: they follow the others, and the table for
        a paper.
    make_paper : function, optional
        What makes the main table for a paper, if the result has one.
    notes : tuple of Note
        What people should know besides the result.
    signature : str, optional
        How the result was computed.
    corpus : Corpus, optional
        What it was computed from.
    skipped : mapping of str to int, optional
        What was left out, and how often.
    make_methods : function
        What a paper says about how the result was computed; empty by default.
    noun : str
        What documents are called.
    """

    command: str = ""
    group: Group | None = None
    make_blocks: Callable[[], Blocks] = tuple
    make_asked: Callable[[], Blocks] = tuple
    make_data: Callable[[], Mapping[str, Any]] = dict
    make_rows: Callable[[], Iterable[Mapping[str, Any]]] = tuple
    make_paper: Callable[[], PaperTable] | None = None
    notes: tuple[Note, ...] = ()
    signature: str | None = None
    corpus: Corpus | None = None
    skipped: Mapping[str, int] | None = None
    make_methods: Callable[..., Paragraph] = Paragraph
    noun: str = "document"

    @cached_property
    def _main(self) -> list[Block]:
        return _as_blocks(self.make_blocks())

    @cached_property
    def _asked(self) -> list[Block]:
        return _as_blocks(self.make_asked())

    @property
    def is_cut(self) -> bool:
        """Whether there are rows that no table shows."""
        return any(isinstance(x, Table) and x.is_cut for x in (*self._main, *self._asked))

    def blocks(self, said: Iterable[str] = ()) -> list[Block]:
        """Return what people read; last what was left out, what else is said, and the signature."""
        skipped = skipped_sentences(self.skipped or {}, self.noun)
        return [*self._main, *self._asked, *_as_blocks((*skipped, *said)), *self._signed]

    @property
    def _signed(self) -> list[Block]:
        return [] if self.signature is None else [Prose(self.signature, quiet=True)]

    def for_paper(self, said: Iterable[str] = ()) -> list[Block | PaperTable]:
        """Return the main table and what options asked for, or all blocks without such a table."""
        if self.make_paper is None:
            return [*self.blocks(said)]
        return [self.make_paper(), *self._asked, *self._signed]

    @cached_property
    def data(self) -> dict[str, Any]:
        """The data of JSON: first signature and files, last what was left out and the notes."""
        head = {} if self.signature is None else {"signature": self.signature}
        files = {} if self.corpus is None else {"inputs": [*map(asdict, self.corpus.inputs)]}
        tail = {} if self.skipped is None else {"skipped": self.skipped}
        notes = {} if self.corpus is None and not self.notes else {"notes": self.notes}
        data = {**head, **files, **self.make_data(), **tail, **notes}
        return data if self.group is None else self.group.make(data)

    @cached_property
    def rows(self) -> Sequence[Mapping[str, Any]]:
        """The rows of CSV: one flat table."""
        found = self.make_rows()
        return found if isinstance(found, Sequence) else list(found)

    def signed_rows(self) -> Iterator[Mapping[str, Any]]:
        """Yield the rows, each with the signature, where there is one."""
        signature = {} if self.signature is None else {"signature": self.signature}
        return ({**row, **signature} for row in self.rows)


def _as_blocks(found: Blocks) -> list[Block]:
    """Make paragraphs of texts; empty ones are left out."""
    return [x if isinstance(x, Block) else Prose(x) for x in found if x]


def report_on(of: Any, corpus: Corpus | None, *notes: Note, **rest: Any) -> Report:
    """Build a report of a result, or of a corpus, with its notes and what was left out."""
    known = of if corpus is None else corpus
    usual = {
        "notes": (*known.notes, *notes),
        "skipped": dict(of.skipped),
        "noun": of.extent.noun,
    }
    return Report(corpus=corpus, **(usual | rest))


def methods(name: str, *results: Any, **options: Any) -> Paragraph:
    """Return what a paper says about results, by the function of that name."""
    written: Paragraph = getattr(import_module("beyondchance.reporting.methods"), name)(
        *results, **options
    )
    return written


def skipped_sentences(counts: Mapping[str, int], noun: str = "document") -> list[str]:
    """Say what was mended, left out or ignored, and how often, in a sentence each.

    Parameters
    ----------
    counts : mapping of str to int
    noun : str
        What documents are called.

    Examples
    --------
    >>> from beyondchance.tallies import left_out, no_spans
    >>> skipped_sentences({no_spans("relations"): 3, left_out("rejected records"): 1})
    ['Left out: 1 rejected records.', 'Not spans, ignored: 3 relations.']
    """
    return [
        f"{fate.value if fate else 'Left out or changed'}: "
        f"{'; '.join(_tallied(what, number, noun) for what, number in found.items())}."
        for fate, found in by_fate(counts).items()
    ]


def _tallied(what: str, number: int, noun: str) -> str:
    if DOCUMENTS in what:
        return what.replace(DOCUMENTS, counted(number, noun))
    return f"{number:,} {what}"


def cell_text(cell: Cell, digits: int) -> str:
    """Return a cell as it is shown.

    >>> cell_text(0.25, 3), cell_text(12345, 3), cell_text("ada", 3), cell_text(None, 3)
    ('0.250', '12,345', 'ada', '')
    >>> cell_text(Range(0.25, 0.5, "*"), 2), cell_text(Amount(0.5, "+50 %"), 2)
    ('0.25 to 0.50*', '+50 %')
    >>> cell_text(Below(0.0002), 4)
    '< 0.0002'
    """
    match cell:
        case None:
            text = ""
        case Amount(_, written):
            text = written
        case Below(value, _):
            text = p_in_digits(value, digits, is_floor=True)
        case Range(low, high, mark):
            ends = f"{in_digits(low, digits)} to {in_digits(high, digits)}{mark}"
            text = "-" if isnan(low) else ends
        case float():
            text = in_digits(cell, digits)
        case int():
            text = f"{cell:,}"
        case _:
            text = cell
    return text


_Item = TypeVar("_Item")


def cut(items: Sequence[_Item], top: int) -> tuple[Sequence[_Item], str]:
    """Return the first `top` items, or all for 0, and a remark if some are left out.

    >>> cut("abc", 2), cut("abc", 0)
    (('ab', '2 of 3.'), ('abc', ''))
    """
    shown = items[:top] if top else items
    return shown, f"{len(shown):,} of {len(items):,}." if len(shown) < len(items) else ""


def in_one(*remarks: str) -> str:
    """Join remarks, of which some may be empty."""
    return " ".join(filter(None, remarks))


def in_list(names: Sequence[str], most: int = 6, word: str = "and") -> str:
    """Join names for a sentence.

    >>> in_list(["ada"]), in_list(["ada", "ben", "cleo"]), in_list(["a", "b", "c", "d"], 2, "or")
    ('ada', 'ada, ben and cleo', 'a, b or 2 more')
    """
    shown = list(names[:most]) if len(names) > most + 1 else list(names)
    rest = len(names) - len(shown)
    parts = [*shown, f"{rest} more"] if rest else shown
    return parts[0] if len(parts) == 1 else f"{', '.join(parts[:-1])} {word} {parts[-1]}"


def counted(number: int, noun: str) -> str:
    """Return a number with its noun.

    >>> counted(1, "document"), counted(1200, "span")
    ('1 document', '1,200 spans')
    """
    return f"{number:,} {noun}" if number == 1 else f"{number:,} {noun}s"
