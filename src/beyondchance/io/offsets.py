"""Offsets in texts: what they count, and tokens by rule."""

from __future__ import annotations

import re
import unicodedata
from array import array
from bisect import bisect_left, bisect_right
from collections.abc import Callable, Iterable, Sequence
from functools import cache, lru_cache
from itertools import accumulate
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beyondchance.errors import SpanError
from beyondchance.messages import Text, Use

Interval = tuple[int, int]

UNITS = {"codepoints": "code points", "utf16": "UTF-16 units", "bytes": "bytes of UTF-8"}
"""What offsets can count, by the values of the option ``offsets``."""

_RUN = re.compile(r"\s+")
_TOKENS = {"words": re.compile(r"\w+|[^\w\s]"), "whitespace": re.compile(r"\S+")}
_CLUSTERS = re.compile(r"w[wmj]*|u[mj]*|rr?m*|om*(?:jom*)*j*|[mj]+")
"""Tokens in the kinds of characters (see `_Kinds`)."""
_UNSPACED = (
    *((0x0E00, 0x0FFF), (0x1000, 0x109F), (0x1780, 0x17FF), (0x1950, 0x19DF), (0x1A20, 0x1AAF)),
    *((0x3005, 0x3007), (0x3021, 0x312F), (0x31A0, 0x31FF), (0x3400, 0x9FFF), (0xA000, 0xA48F)),
    *((0xA980, 0xA9FF), (0xAA60, 0xAADF), (0xF900, 0xFAFF), (0xFF66, 0xFF9F), (0x1B000, 0x1B16F)),
    (0x20000, 0x3FFFF),
)
"""Thai, Lao, Tibetan, Burmese, Khmer, Tai, Chinese, Japanese, Yi and Javanese: no spaces."""


def tokenized(text: str, tokeniser: str = "words") -> list[Interval]:
    """Find tokens by rule: words and every other visible character, or what white space separates.

    In scripts without spaces, every letter is a token. Marks, such as vowel signs and accents, stay
    with the character before them, and so do the parts of an emoji (after UAX #29).

    Examples
    --------
    >>> text = "Don't stop, Mr. Day!"
    >>> [text[s:e] for s, e in tokenized(text)]
    ['Don', "'", 't', 'stop', ',', 'Mr', '.', 'Day', '!']
    >>> [text[s:e] for s, e in tokenized(text, "whitespace")]
    ["Don't", 'stop,', 'Mr.', 'Day!']
    >>> text = "हिन्दी 東京の"
    >>> [text[s:e] for s, e in tokenized(text)]
    ['हिन्दी', '東', '京', 'の']
    """
    if tokeniser == "words" and not text.isascii():
        return [match.span() for match in _CLUSTERS.finditer(text.translate(_kinds()))]
    return [match.span() for match in _TOKENS[tokeniser].finditer(text)]


class _Kinds(dict[int, str]):
    """The kinds of characters by code point, found when they are asked for.

    A letter or digit of words (w), a letter of a script without spaces (u), a mark (m), a joiner
    (j), half of a flag (r), white space, or another visible character (o).
    """

    def __missing__(self, code: int) -> str:
        sign = chr(code)
        category = unicodedata.category(sign)
        if sign.isspace():
            kind = " "
        elif code == 0x200D:
            kind = "j"
        elif category[0] == "M" or category == "Cf" or 0x1F3FB <= code <= 0x1F3FF:
            kind = "m"
        elif category[0] == "L" and any(first <= code <= last for first, last in _UNSPACED):
            kind = "u"
        elif 0x1F1E6 <= code <= 0x1F1FF:
            kind = "r"
        else:
            kind = "w" if sign.isalnum() or sign == "_" else "o"
        self[code] = kind
        return kind


@cache
def _kinds() -> _Kinds:
    return _Kinds()


def places_of(parts: Sequence[str]) -> list[Interval]:
    """Return where parts begin and end in a text that has one character between them.

    Examples
    --------
    >>> places_of(["Ada", "left"])
    [(0, 3), (4, 8)]
    """
    ends = accumulate(len(part) + 1 for part in parts)
    return [(end - 1 - len(part), end - 1) for part, end in zip(parts, ends, strict=True)]


def out_of_order(places: Iterable[Interval], end: int) -> Interval | None:
    """Return the first interval that is empty, overlaps the one before or ends after the text."""
    last = 0
    for start, stop in places:
        if not last <= start < stop <= end:
            return start, stop
        last = stop
    return None


def length_of(text: str, unit: str) -> int:
    """Return the length of a text in code points, in UTF-16 units or in bytes of UTF-8.

    Examples
    --------
    >>> [length_of("a😀", unit) for unit in UNITS]
    [2, 3, 5]
    """
    return offsets_at(text, unit)[-1]


def code_points(
    text: str, places: Sequence[Interval], where: Text, unit: str = "utf16"
) -> Sequence[Interval]:
    """Convert offsets that count UTF-16 units or bytes to offsets that count code points.

    Offsets outside of the text stay as they are, to be refused with all others that are.

    Examples
    --------
    >>> code_points("a😀b", [(0, 3), (3, 4), (4, 9)], "")
    [(0, 2), (2, 3), (3, 9)]
    >>> code_points("a😀b", [(0, 5), (5, 6)], "", "bytes")
    [(0, 2), (2, 3)]
    """
    offsets = offsets_at(text, unit)
    if isinstance(offsets, range):
        return places

    def converted(offset: int) -> int:
        if not 0 <= offset <= offsets[-1]:
            return offset
        index = index_at(offsets, offset)
        if index is None:
            size = "two" if unit == "utf16" else "several"
            raise SpanError(
                f"offset {offset} lies inside a character of {size} {UNITS[unit]}",
                where=where,
                expected="offsets between characters",
                remedy=("if they count code points, pass ", Use("offsets", "codepoints")),
            )
        return index

    return [(converted(start), converted(end)) for start, end in places]


def index_at(offsets: Sequence[int], offset: int) -> int | None:
    """Return the index of an offset among those of all characters; None if it is none of them."""
    if isinstance(offsets, range):
        return offset if offset in offsets else None
    index = bisect_left(offsets, offset)
    return index if index < len(offsets) and offsets[index] == offset else None


# All annotators of a document share its text.
@lru_cache(maxsize=8)
def offsets_at(text: str, unit: str = "utf16") -> Sequence[int]:
    """Return the offset of each character and of the end: the way back from `code_points`.

    Examples
    --------
    >>> list(offsets_at("a😀b")), offsets_at("ab")
    ([0, 1, 3, 4], range(0, 3))
    """
    is_plain = unit == "codepoints" or text.isascii()
    if is_plain or (unit == "utf16" and max(text) <= "\uffff"):
        return range(len(text) + 1)
    codes = characters_of(text)
    widths = np.zeros(len(codes) + 1, dtype=np.int64)
    for most in (0xFFFF,) if unit == "utf16" else (0x7F, 0x7FF, 0xFFFF):
        widths[1:] += codes > most
    widths[1:] += 1
    return array("q", np.cumsum(widths).tobytes())


def words_at(text: str, unit: str) -> Callable[[int, int], str | None]:
    """Build a function that returns the text between two offsets; None if there is no such place.

    Examples
    --------
    >>> words = words_at("é Ada", "bytes")
    >>> words(3, 6), words(1, 6), words(3, 9)
    ('Ada', None, None)
    """
    offsets = offsets_at(text, unit)

    def words(start: int, end: int) -> str | None:
        low, high = index_at(offsets, start), index_at(offsets, end)
        return None if low is None or high is None or low > high else text[low:high]

    return words


def same_words(one: str, other: str) -> bool:
    r"""Return whether words are equal except for white space, which formats write differently.

    Examples
    --------
    >>> same_words("Ada  Holt", "Ada\nHolt"), same_words("Ada", "ada")
    (True, False)
    """
    return one == other or one.split() == other.split()


def characters_of(text: str) -> NDArray[np.uint32]:
    """Return the code points of a text, including those of halves of characters."""
    return np.frombuffer(text.encode("utf-32-le", "surrogatepass"), dtype="<u4")


# --- White space: programs that indent a file, or show it as a page, change nothing else -----


class Collapsed(NamedTuple):
    """A text with one space for each run of white space, and none at its ends.

    Attributes
    ----------
    text : str
    limits, ends : sequence of int
        Of each run that became shorter, the offsets in the full text up to which it was kept,
        and where it ends.
    own_ends : sequence of int
        Where it ends in this text.
    """

    text: str
    limits: Sequence[int]
    ends: Sequence[int]
    own_ends: Sequence[int]

    def inside(self, offset: int) -> int:
        """Return the offset in this text of an offset in the full text."""
        number = bisect_right(self.ends, offset)
        if number < len(self.limits):
            offset = min(offset, self.limits[number])
        return offset - self._removed(number)

    def outside(self, offset: int) -> int:
        """Return the offset in the full text of a character of this text."""
        return offset + self._removed(bisect_right(self.own_ends, offset))

    def _removed(self, number: int) -> int:
        """Return how many characters the first so many runs have lost."""
        return self.ends[number - 1] - self.own_ends[number - 1] if number else 0


def collapsed(text: str) -> Collapsed:
    r"""Make one space of each run of white space, and nothing of it at the ends.

    Examples
    --------
    >>> found = collapsed("  Ada\n  met Bo ")
    >>> found.text, found.inside(8), found.outside(4)
    ('Ada met Bo', 4, 8)
    """
    parts: list[str] = []
    limits: list[int] = []
    ends: list[int] = []
    own_ends: list[int] = []
    last = removed = 0
    for match in _RUN.finditer(text):
        start, end = match.span()
        kept = " " if start > 0 and end < len(text) else ""
        parts += text[last:start], kept
        last = end
        if end - start > len(kept):
            removed += end - start - len(kept)
            limits.append(start + len(kept))
            ends.append(end)
            own_ends.append(end - removed)
    parts.append(text[last:])
    return Collapsed("".join(parts), limits, ends, own_ends)
