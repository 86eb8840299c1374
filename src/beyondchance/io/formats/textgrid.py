"""Praat TextGrids, long and short, in UTF-8 or UTF-16.

By default each interval tier is an annotator and the text of an interval its label;
with ``tier="label"`` each file or folder is an annotator and each tier a label, wherever
an interval has a text. ``layer`` selects tiers by name, separated by commas. An interval
without a text is a gap between spans. Point tiers have no length and are ignored.

Praat reads the strings and the numbers of a text file in their order, and skips other words: the
long form is the short one with words in between.
"""

from __future__ import annotations

import re
from collections.abc import Iterator
from fractions import Fraction

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import FormatError
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source
from beyondchance.io.times import Interval, Tier, TierFile, corpus_of_tiers, seconds
from beyondchance.io.values import quoting
from beyondchance.messages import Piece, Quote, Text
from beyondchance.tallies import no_spans

_HEADER = re.compile(
    r'\s*File type\s*=\s*"ooTextFile(?: short)?"\s+(?:Object class\s*=\s*)?"TextGrid"'
)
_ITEM = re.compile(r'"((?:[^"]++|"")*+)"|([^\s"=]++)')
"""A string, or a word, which may be a number."""
_SIZE = re.compile("[0-9]{1,9}")
_TIMES = {"IntervalTier": 2, "TextTier": 1}
"""Times of an entry, by the class of its tier."""
_Items = Iterator[re.Match[str]]


def read(uploads: list[Upload], reading: Reading) -> Corpus:
    """Read TextGrids.

    Raises
    ------
    FormatError
        For a file that is no TextGrid, or not a whole one.
    """
    return corpus_of_tiers(uploads, reading, parsed=_parsed, looks=_looks, ending=".textgrid")


def _looks(source: Source) -> bool:
    """Return whether a file has the header of a TextGrid."""
    return _HEADER.match(source.head_text) is not None


is_format = by_files(any, _looks)


def _parsed(source: Source, reading: Reading) -> TierFile:
    """Read one file."""
    if source.head.startswith(b"ooBinaryFile"):
        raise FormatError(
            "a binary TextGrid",
            where=source.name,
            expected="text",
            remedy="save it in Praat as a text file",
        )
    header = _HEADER.match(source.text)
    if header is None:
        raise FormatError(
            "the header of a TextGrid is missing",
            where=f"{source.name}:1",
            expected="'File type = \"ooTextFile\"' and 'Object class = \"TextGrid\"'",
        )
    items = _ITEM.finditer(source.text, header.end())
    begin, end = (_time(_number(items), f"{source.name}: {edge}") for edge in ("xmin", "xmax"))
    if not 0 <= begin < end:
        raise FormatError(
            f"goes from {float(begin):.12g} to {float(end):.12g} s",
            where=source.name,
            expected="an xmin from 0 on and an xmax after it",
        )
    tiers = []
    size = _size(items, source, (), "tiers")
    for number in range(size):
        kind = _string(items)
        if kind not in _TIMES:
            raise _damaged(source, (), size, "tiers", number)
        name, intervals = _intervals(items, source, number + 1, _TIMES[kind])
        if kind == "IntervalTier":
            tiers.append(Tier(name, intervals.copy))
        else:
            reading.skipped[no_spans("point tiers")] += 1
    if _string(items) is not None:
        raise _damaged(source, (), size, "tiers", "more")
    return TierFile(tiers=tiers, begin=begin, duration=end - begin)


def _string(items: _Items) -> str | None:
    """Return the next string; None if there is no more."""
    return next((item[1].replace('""', '"') for item in items if item[1] is not None), None)


def _number(items: _Items) -> str | None:
    """Return the next number as it is written; None if there is no more before the next tier.

    Where a string comes first, it is that, or the word before it, which stands for the number.
    """
    word = None
    for item in items:
        if item[1] is not None:
            return None if item[1] in _TIMES else word or item[1]
        word = item[2]
        if seconds(word) is not None:
            return word
    return None


def _size(items: _Items, source: Source, name: tuple[Piece, ...], what: str) -> int:
    """Read how many tiers or entries there should be."""
    says = _number(items)
    if says is None or not _SIZE.fullmatch(says):
        raise _damaged(source, name, "an unknown number of", what, 0)
    return int(says)


def _intervals(
    items: _Items, source: Source, number: int, n_times: int
) -> tuple[str, list[Interval]]:
    """Read the name of a tier and its entries, of which those with a text are kept.

    Raises
    ------
    FormatError
        If there are fewer than it says, or a time is none.
    """
    name = _string(items) or ""
    shown = (f"tier {number} ", Quote(name), " ")
    for _ in ("xmin", "xmax"):
        _number(items)
    size = _size(items, source, shown, "entries")
    found = []
    for entry in range(1, size + 1):
        where = (f"{source.name}: tier ", Quote(name), f", interval {entry}")
        written = [time for _ in range(n_times) if (time := _number(items)) is not None]
        times = [_time(time, where) for time in written]
        text = _string(items) if len(times) == n_times else None
        if text is None:
            raise _damaged(source, shown, size, "entries", entry - 1)
        if text.strip():
            found.append(Interval(times[0], times[-1], text.strip(), where))
    return name, found


def _damaged(
    source: Source, name: tuple[Piece, ...], says: int | str, what: str, n_read: int | str
) -> FormatError:
    """Make the error of a file or tier that does not hold as many entries as it says."""
    return FormatError(
        *(*name, f"says that it has {says} {what}, "),
        f"but {n_read} can be read",
        where=source.name,
        remedy="the file is cut off or damaged: open it in Praat and save it again as a text file",
    )


def _time(written: str | None, where: Text) -> Fraction:
    """Return a time as Praat means it.

    Praat writes binary numbers, with more digits than they have: the shortest number that
    stands for the same one is meant.
    """
    exact = seconds(written or "")
    if exact is None:
        found = quoting("the time is {}", written or "missing")
        raise FormatError(*found, where=where, expected="seconds, such as 1.25")
    return Fraction(repr(float(exact)))
