"""Praat TextGrids, long and short, in UTF-8 or UTF-16.

By default each interval tier is an annotator and the text of an interval its label;
with ``tier="label"`` each file or folder is an annotator and each tier a label, wherever
an interval has a text. ``layer`` selects tiers by name, separated by commas. An interval
without a text is a gap between spans. Point tiers have no length and are ignored.
"""

from __future__ import annotations

import re
from decimal import Decimal
from fractions import Fraction
from functools import partial
from typing import Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import FormatError
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, required
from beyondchance.io.sources import Source
from beyondchance.io.times import Interval, Tier, TierFile, corpus_of_tiers, seconds
from beyondchance.io.values import quoting, reason
from beyondchance.messages import Piece, Quote, Text
from beyondchance.tallies import no_spans

_HEADER = re.compile(
    r'\s*File type\s*=\s*"ooTextFile(?: short)?"\s+(?:Object class\s*=\s*)?"TextGrid"'
)
# How many tiers there are, and how many entries each has, in the long and the short form.
_N_TIERS = re.compile(r"^(?:size[ \t]*=|<exists>[ \t]*\n)[ \t]*(\d{1,9})[ \t]*$", re.MULTILINE)
_N_LONG = re.compile(
    r"^[ \t]*(?:intervals|points)[ \t]*:[ \t]*size[ \t]*=[ \t]*(\d{1,9})[ \t]*$", re.MULTILINE
)
_N_SHORT = re.compile(
    r'^"(?:IntervalTier|TextTier)"[ \t]*\n"(?:[^"]++|"")*+"[ \t]*\n\S+[ \t]*\n\S+[ \t]*\n'
    r"[ \t]*(\d{1,9})[ \t]*$",
    re.MULTILINE,
)
_TINY = re.compile(
    r"^([ \t]*(?:xmin|xmax|number)[ \t]*=[ \t]*)(\d(?:\.\d{1,20})?[eE]-\d{1,2})(?=[ \t]*$)",
    re.MULTILINE,
)
_NEGATIVE = re.compile(
    r"^[ \t]*(?:xmin|xmax)[ \t]*=[ \t]*(-(?>[\d.]*?[1-9])\S*+)[ \t]*$", re.MULTILINE
)

# What the library cuts the long form at, and the strings that it looks for in each part.
_TIER = re.compile(r"item ?\[")
_ENTRIES = {True: re.compile(r"intervals ?\["), False: re.compile(r"points ?\[")}
_STRING = re.compile(r'(?:name|text|mark) ?= ?"')
_MOST_STRINGS = 100


def read(uploads: list[Upload], reading: Reading) -> Corpus:
    """Read TextGrids.

    Raises
    ------
    FormatError
        For a file that is no TextGrid, or not a whole one.
    """
    return corpus_of_tiers(uploads, reading, parsed=_parsed, looks=_looks, ending=".textgrid")


def _looks(source: Source) -> bool:
    """Whether a file has the header of a TextGrid."""
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
    # The library wants every line to end, and to end alike.
    text = source.text.replace("\r\n", "\n").replace("\r", "\n").rstrip("\n") + "\n"
    if not _HEADER.match(text):
        raise FormatError(
            "the header of a TextGrid is missing",
            where=f"{source.name}:1",
            expected="'File type = \"ooTextFile\"' and 'Object class = \"TextGrid\"'",
        )
    negative = _NEGATIVE.search(text)
    if negative is not None:
        line = text.count("\n", 0, negative.start(1)) + 1
        raise FormatError(
            *("the time ", Quote(negative[1]), " is negative"),
            where=f"{source.name}:{line}",
            expected="seconds from 0 on",
        )
    found = _read_by_library(source, text)
    begin, end = (_time(found[edge], f"{source.name}: {edge}") for edge in ("xmin", "xmax"))
    if not 0 <= begin < end:
        raise FormatError(
            f"goes from {float(begin):.12g} to {float(end):.12g} s",
            where=source.name,
            expected="an xmin from 0 on and an xmax after it",
        )
    tiers = []
    for tier in found["tiers"]:
        if tier["class"] == "IntervalTier":
            tiers.append(Tier(tier["name"], partial(_intervals, tier, source)))
        else:
            reading.skipped[no_spans("point tiers")] += 1
    return TierFile(tiers=tiers, begin=begin, duration=end - begin)


def _read_by_library(source: Source, text: str) -> dict[str, Any]:
    """Let praatio read the text, and check that it found all that is there."""
    praatio = required(
        "praatio.utilities.textgrid_io", extra="textgrid", purpose="reading TextGrids"
    )
    _check_strings(source, text)
    # Praat writes tiny numbers with an exponent, which the library does not know.
    plain = _TINY.sub(lambda match: f"{match[1]}{Decimal(match[2]):f}", text)
    try:
        found: dict[str, Any] = praatio.parseTextgridStr(plain, includeEmptyIntervals=True)
    except MemoryError:
        raise
    except Exception as error:
        raise FormatError(
            *("not a TextGrid that can be read", *reason(error)),
            where=source.name,
            remedy="open it in Praat and save it again as a text file",
        ) from None
    # The library stops in silence at an entry that it cannot read.
    tiers = found["tiers"]
    sizes = _N_LONG.findall(text) or _N_SHORT.findall(text)
    if len(sizes) != len(tiers):
        sizes = [None] * len(tiers)
    says = _N_TIERS.search(text)
    _check_number((), says and says[1], "tiers", len(tiers), source)
    for number, (tier, size) in enumerate(zip(tiers, sizes, strict=True), start=1):
        name = (f"tier {number} ", Quote(tier["name"]), " ")
        _check_number(name, size, "entries", len(tier["entries"]), source)
    return found


def _check_strings(source: Source, text: str) -> None:
    """Refuse an entry of many strings: for the end of each, the library looks through all of it."""
    if "item [" not in text or "ooTextFile short" in text:
        return
    for tier in _TIER.split(text):
        for entry in _ENTRIES['class = "IntervalTier"' in tier].split(tier):
            if len(_STRING.findall(entry)) > _MOST_STRINGS:
                raise FormatError(
                    f"an entry with more than {_MOST_STRINGS} names, texts or marks",
                    where=source.name,
                    expected="one",
                    remedy="the file is cut off or damaged",
                )


def _check_number(
    name: tuple[Piece, ...], says: str | None, what: str, n_read: int, source: Source
) -> None:
    """Refuse a file or tier that does not hold as many entries as it says."""
    if says is None or int(says) != n_read:
        raise FormatError(
            *(*name, f"says that it has {says or 'an unknown number of'} {what}, "),
            f"but {n_read} can be read",
            where=source.name,
            remedy="the file is cut off or damaged",
        )


def _intervals(tier: dict[str, Any], source: Source) -> list[Interval]:
    """The intervals of a tier that have a text."""
    found = []
    for number, (start, end, text) in enumerate(tier["entries"], start=1):
        where = (f"{source.name}: tier ", Quote(tier["name"]), f", interval {number}")
        label = text.strip()
        if label:
            found.append(Interval(_time(start, where), _time(end, where), label, where))
    return found


def _time(written: str | float, where: Text) -> Fraction:
    """A time as Praat means it.

    Praat writes binary numbers, with more digits than they have: the shortest number that
    stands for the same one is meant.
    """
    exact = seconds(str(written))
    if exact is None:
        found = quoting("the time is {}", str(written))
        raise FormatError(*found, where=where, expected="seconds, such as 1.25")
    return Fraction(repr(float(exact)))
