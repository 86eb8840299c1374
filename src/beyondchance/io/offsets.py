"""Offsets in texts: what they count, and tokens by rule."""

from __future__ import annotations

import re
from collections.abc import Mapping, Sequence
from itertools import accumulate

from beyondchance.errors import SpanError
from beyondchance.messages import Text, Use

Interval = tuple[int, int]

UNITS = {"codepoints": "code points", "utf16": "UTF-16 units"}
"""What offsets can count, by the values of the option ``offsets``."""

_TOKENS = {"words": re.compile(r"\w+|[^\w\s]"), "whitespace": re.compile(r"\S+")}


def tokenized(text: str, tokeniser: str = "words") -> list[Interval]:
    """Tokens by rule: words and every other visible character, or what white space separates.

    Examples
    --------
    >>> text = "Don't stop, Mr. Day!"
    >>> [text[s:e] for s, e in tokenized(text)]
    ['Don', "'", 't', 'stop', ',', 'Mr', '.', 'Day', '!']
    >>> [text[s:e] for s, e in tokenized(text, "whitespace")]
    ["Don't", 'stop,', 'Mr.', 'Day!']
    """
    return [match.span() for match in _TOKENS[tokeniser].finditer(text)]


def length_of(text: str, unit: str) -> int:
    """The length of a text in code points or in UTF-16 units.

    Examples
    --------
    >>> length_of("a😀", "codepoints"), length_of("a😀", "utf16")
    (2, 3)
    """
    return len(text) + (sum(map("\uffff".__lt__, text)) if unit == "utf16" else 0)


def places(text: str, unit: str) -> dict[int, int]:
    """The index of the character that begins at each offset, and of the end.

    Examples
    --------
    >>> places("a😀b", "utf16")
    {0: 0, 1: 1, 3: 2, 4: 3}
    """
    widths = (1 + (unit == "utf16" and character > "\uffff") for character in text)
    return {offset: index for index, offset in enumerate(accumulate(widths, initial=0))}


def indices(text: str, unit: str) -> Mapping[int, int] | range:
    """The index of the character at each offset; a range where offsets are indices.

    Examples
    --------
    >>> indices("a😀b", "utf16")[3], indices("a😀b", "codepoints")[3]
    (2, 3)
    """
    return places(text, unit) if length_of(text, unit) > len(text) else range(len(text) + 1)


def code_points(text: str, offsets: Sequence[Interval], where: Text) -> list[Interval]:
    """Convert offsets that count UTF-16 units to offsets that count code points.

    Offsets outside of the text stay as they are, to be refused with all others that are.

    Examples
    --------
    >>> code_points("a😀b", [(0, 3), (3, 4), (4, 9)], "")
    [(0, 2), (2, 3), (3, 9)]
    """
    n_units = 0 if text.isascii() else length_of(text, "utf16")
    if n_units <= len(text):
        return list(offsets)
    place = places(text, "utf16")

    def converted(offset: int) -> int:
        if 0 <= offset <= n_units and offset not in place:
            found = f"offset {offset} lies inside a character of two UTF-16 units"
            expected = "offsets between characters"
            remedy = ("if they count code points, pass ", Use("offsets", "codepoints"))
            raise SpanError(found, where=where, expected=expected, remedy=remedy)
        return place.get(offset, offset)

    return [(converted(start), converted(end)) for start, end in offsets]
