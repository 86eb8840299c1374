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
from beyondchance.errors import DataError
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files
from beyondchance.io.sources import Source
from beyondchance.io.times import Interval, Recording, Tier, corpus_of_tiers, seconds
from beyondchance.io.values import refusal
from beyondchance.messages import Quote, Text
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


def _parsed(source: Source, reading: Reading) -> tuple[Recording, list[Tier]]:
    """Read one file."""
    where = source.name
    is_binary = source.head.startswith(b"ooBinaryFile")
    header = None if is_binary else _HEADER.match(source.text)
    if header is None:
        raise refusal(
            where if is_binary else f"{where}:1",
            "a binary TextGrid" if is_binary else "the header of a TextGrid is missing",
            expected="'File type = \"ooTextFile\"' and 'Object class = \"TextGrid\"'",
            remedy="save it in Praat as a text file",
        )
    items = _ITEM.finditer(source.text, header.end())
    begin, end = (_time(_number(items), f"{where}: {edge}") for edge in ("xmin", "xmax"))
    recording = Recording(where=where, begin=begin, duration=end - begin)
    if not 0 <= begin < end:
        raise refusal(where, str(recording), expected="an xmin from 0 on and an xmax after it")
    tiers = []
    size = _size(items, source, "", "tiers")
    for number in range(size):
        kind = _string(items)
        if kind not in _TIMES:
            raise _damaged(source, f"says that it has {size} tiers", number)
        name, intervals = _intervals(items, source, number + 1, _TIMES[kind])
        if kind == "IntervalTier":
            tiers.append(Tier(name, intervals.copy))
        else:
            reading.skipped[no_spans("point tiers")] += 1
    if _string(items) is not None:
        raise _damaged(source, f"says that it has {size} tiers", "more")
    return recording, tiers


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


def _size(items: _Items, source: Source, of: str, what: str, *values: str) -> int:
    """Read how many tiers or entries there should be."""
    says = _number(items)
    if says is None or not _SIZE.fullmatch(says):
        raise _damaged(source, f"{of}says that it has an unknown number of {what}", 0, *values)
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
    for _ in ("xmin", "xmax"):
        _number(items)
    size = _size(items, source, f"tier {number} {{}} ", "entries", name)
    found = []
    for entry in range(1, size + 1):
        where = (f"{source.name}: tier ", Quote(name), f", interval {entry}")
        written = [time for _ in range(n_times) if (time := _number(items)) is not None]
        times = [_time(time, where) for time in written]
        text = _string(items) if len(times) == n_times else None
        if text is None:
            raise _damaged(
                source, f"tier {number} {{}} says that it has {size} entries", entry - 1, name
            )
        if text.strip():
            found.append(Interval(times[0], times[-1], text.strip(), where))
    return name, found


def _damaged(source: Source, says: str, n_read: int | str, *values: str) -> DataError:
    """Build the error of a file or tier that does not hold as many entries as it says."""
    remedy = "the file is cut off or damaged: open it in Praat and save it again as a text file"
    return refusal(source.name, f"{says}, but {n_read} can be read", *values, remedy=remedy)


def _time(written: str | None, where: Text) -> Fraction:
    """Return a time as Praat means it.

    Praat writes binary numbers, with more digits than they have: the shortest number that
    stands for the same one is meant.
    """
    exact = seconds(written or "")
    if exact is None:
        raise refusal(
            where, "the time is {}", written or "missing", expected="seconds, such as 1.25"
        )
    return Fraction(repr(float(exact)))
