"""Where quotes are in a text: the output of language models has words, but no offsets.

The i-th mention of a string is its i-th occurrence, whatever its label. Occurrences that lie in
the place of a longer quote are passed over while there are enough others: *New York* is rather the
city than a part of *New York Times* that was quoted as well.
"""

from __future__ import annotations

import re
import unicodedata
from bisect import bisect_right
from collections import Counter
from collections.abc import Callable, Iterator, Sequence
from dataclasses import dataclass, field
from functools import cached_property, lru_cache
from itertools import accumulate, permutations
from typing import Any, NamedTuple

from beyondchance.io.drafts import Mention
from beyondchance.io.offsets import UNITS, Interval, offsets_at, tokenized
from beyondchance.io.registry import required

EXACT, FOLDED, NEAR, POINTED = "exact", "folded", "near", "pointed"
"""How a quote was found: as it is, up to case, white space and typography, nearly, by numbers."""

_UNSPACED = re.compile(
    "[\u0e00-\u0eff\u1000-\u109f\u1780-\u17ff\u3040-\u30ff\u3400-\u9fff\uac00-\ud7af"
    "\uf900-\ufaff\U00020000-\U0003ffff]"
)
"""Thai, Lao, Burmese, Khmer, Japanese and Chinese, which have no spaces between words, and
Korean, which writes particles to the word before them."""

_MOST_COMPARED = 200
"""Characters of a string that are compared at every place where it may begin."""
_TYPOGRAPHY = {
    **dict.fromkeys("\u2018\u2019\u201a\u201b\u02bc\u00b4`", "'"),
    **dict.fromkeys("\u201c\u201d\u201e\u201f\u00ab\u00bb", '"'),
    **dict.fromkeys("\u2010\u2011\u2012\u2013\u2014\u2212", "-"),
    "\u2026": "...",
}
"""What models write for characters that keyboards do not have."""


class Place(NamedTuple):
    """Where a quote is taken to be.

    Attributes
    ----------
    start, end : int
        Half-open, in characters.
    how : {"exact", "folded", "near", "pointed"}
        How it was found.
    elsewhere : tuple of (start, end)
        Where it is if such quotes are at the first, and at the last, places of their words; empty
        unless the words occur more often than they were quoted.
    """

    start: int
    end: int
    how: str = EXACT
    elsewhere: tuple[Interval, ...] = ()


class Missing(NamedTuple):
    """A quote without a place.

    Attributes
    ----------
    is_surplus : bool
        Whether its words are in the text, but were quoted more often than they occur.
    """

    is_surplus: bool


def placed(
    text: str, mentions: Sequence[Mention], *, near: float | None = None
) -> list[Place | Missing]:
    """Find the place of each mention.

    Parameters
    ----------
    text : str
    mentions : sequence of Mention
        All quotes of one annotator, in their order.
    near : float, optional
        How similar a stretch of text must be to a quote that is not found, between 0 and 1.

    Examples
    --------
    >>> text = "The New York Times is read in New York and in old New York."
    >>> mentions = [Mention("New York", "LOC"), Mention("New York Times", "ORG")]
    >>> for place in placed(text, mentions):
    ...     print(place.start, place.end, place.elsewhere)
    30 38 ((4, 12), (50, 58))
    4 18 ()
    """
    searched, claimed = _searched(text), bytearray(len(text))
    found: list[Place | Missing] = [Missing(is_surplus=False)] * len(mentions)

    def put(number: int, place: Interval, how: str, elsewhere: tuple[Interval, ...] = ()) -> None:
        found[number] = Place(*place, how, elsewhere)
        claimed[slice(*place)] = b"\1" * (place[1] - place[0])

    known: set[Interval] = set()
    numbers: dict[str, list[int]] = {}
    for number, mention in enumerate(mentions):
        place = searched.pointed(mention.words, mention.numbers)
        if place is None:
            numbers.setdefault(mention.words.strip(), []).append(number)
        else:
            put(number, place, POINTED)
            known.add(place)
    groups: dict[tuple[Interval, ...], list[int]] = {}
    how: dict[int, str] = {}
    # Longer quotes take their places first; those that were found at the same places, together.
    for words in sorted(numbers, key=len, reverse=True):
        places, found_how = searched.occurrences(words, near=near)
        if places:
            places = [place for place in places if place not in known] or places
            groups.setdefault(tuple(places), []).extend(numbers[words])
            how |= dict.fromkeys(numbers[words], found_how)
    for pool, own in groups.items():
        own.sort()
        labels = [mentions[number].label for number in own]
        free = [place for place in pool if claimed.find(1, *place) < 0]
        ranks = _ranks(labels, len(pool))
        order = free if len(free) > max(ranks) else pool
        # How many places stay free behind the quotes that are at different ones.
        n_quoted = Counter(labels) if len(labels) > len(pool) else dict.fromkeys(labels, len(own))
        for number, rank, label in zip(own, ranks, labels, strict=True):
            if rank >= len(pool):
                found[number] = Missing(is_surplus=True)
                continue
            n_free = len(pool) - n_quoted[label]
            elsewhere = (pool[rank], pool[rank + n_free]) if n_free > 0 else ()
            put(number, order[rank], how[number], elsewhere)
    return found


def _ranks(labels: Sequence[str], n_occurrences: int) -> list[int]:
    """Return which occurrence each mention of a string is.

    The i-th mention is the i-th one. Where there are more mentions than occurrences, one
    occurrence can have several labels, and mentions are numbered label by label.

    Examples
    --------
    >>> _ranks(["LOC", "ORG"], 2), _ranks(["LOC", "ORG"], 1), _ranks(["LOC", "LOC"], 1)
    ([0, 1], [0, 0], [0, 1])
    """
    if len(labels) <= n_occurrences:
        return list(range(len(labels)))
    seen: dict[str, int] = {}
    ranks = []
    for label in labels:
        ranks.append(seen.get(label, 0))
        seen[label] = ranks[-1] + 1
    return ranks


# --- Search -------------------------------------------------------------------


# All annotators of a document share its text.
@lru_cache(maxsize=2)
def _searched(text: str) -> _Searched:
    return _Searched(text)


@dataclass(frozen=True)
class _Searched:
    """A text in which quotes are searched for."""

    text: str
    known: dict[tuple[str, float | None], tuple[list[Interval], str]] = field(default_factory=dict)

    def occurrences(self, words: str, *, near: float | None) -> tuple[list[Interval], str]:
        """Return all places of a string that do not overlap, and how they were found.

        Whole words; parts of words where there are none.
        """
        if (words, near) not in self.known:
            self.known[words, near] = self._looked_up(words, near)
        return self.known[words, near]

    def pointed(self, words: str, numbers: Sequence[int]) -> Interval | None:
        """Return where two numbers point, if the words are there.

        The first is the start, in characters of any unit or in words; the second is the end, the
        last one, or the length.
        """
        for first, last in permutations(numbers, 2):
            for offsets in self._offsets:
                start = bisect_right(offsets, first) - 1
                if offsets[start] == first and words and self.text.startswith(words, start):
                    end = start + len(words)
                    if last in {offsets[end], offsets[end] - 1, offsets[end] - first}:
                        return start, end
        return None

    def _looked_up(self, words: str, near: float | None) -> tuple[list[Interval], str]:
        if not words:
            return [], EXACT
        found = _found(self.text, words, self._is_whole)
        if found:
            return found, EXACT
        for gap, text in ((" ", self._folded), ("", self._unspaced)):
            folded = _folded(words, gap).text.strip()
            places = [
                text.place(*place)
                for place in _found(
                    text.text,
                    folded,
                    lambda s, e: self._is_whole(*text.place(s, e)),  # noqa: B023
                )
            ]
            # Without white space, parts of words would be found across words.
            places = places if gap else [place for place in places if self._is_whole(*place)]
            if places:
                return places, FOLDED
        return ([], NEAR) if near is None else (self._nearest(words, near), NEAR)

    @cached_property
    def _offsets(self) -> list[Sequence[int]]:
        """Return the number of each character in every unit, and of the words before it."""
        starts = {start for start, _ in tokenized(self.text, "whitespace")}
        words = accumulate((place in starts for place in range(len(self.text))), initial=0)
        return [*(offsets_at(self.text, unit) for unit in UNITS), [*words]]

    @cached_property
    def _folded(self) -> _Folded:
        return _folded(self.text)

    @cached_property
    def _unspaced(self) -> _Folded:
        """As files of tokens have it, there may be a space before a comma."""
        return _folded(self.text, "")

    def _is_whole(self, start: int, end: int) -> bool:
        """Return whether no word is cut at either end of a stretch."""
        return self._is_edge(start) and self._is_edge(end)

    def _is_edge(self, offset: int) -> bool:
        """Return whether no word goes on across an offset."""
        text = self.text
        if not 0 < offset < len(text):
            return True
        return not (_is_joined(text[offset]) and _is_joined(text[offset - 1]))

    def _nearest(self, words: str, share: float) -> list[Interval]:
        """Find the stretch of whole words that is most similar, if it is similar enough."""
        fuzz: Any = required("rapidfuzz.fuzz", extra="quotes", purpose="near_quotes")
        # A little less is asked of a window as long as the quote: a word that it cuts is completed.
        window = fuzz.partial_ratio_alignment(words, self.text, score_cutoff=90 * share)
        if window is None:
            return []
        start, end = window.dest_start, window.dest_end
        while start < end and not self._is_edge(start):
            start -= 1
        while end > start and not self._is_edge(end):
            end += 1
        stretch = self.text[start:end]
        start += len(stretch) - len(stretch.lstrip())
        end -= len(stretch) - len(stretch.rstrip())
        is_near = start < end and fuzz.ratio(words, self.text[start:end]) >= 100 * share
        return [(start, end)] if is_near else []


def _is_joined(character: str) -> bool:
    """Return whether a character makes a word with another next to it."""
    if character.isascii():
        return character.isalnum() or character == "_"
    is_word = character.isalnum() or unicodedata.category(character)[0] == "M"
    return is_word and _UNSPACED.match(character) is None


def _found(text: str, words: str, is_whole: Callable[[int, int], bool]) -> list[Interval]:
    """Return where a string is, from left to right, without overlap.

    As whole words; as parts of words where there are none.
    """
    size = len(words)
    found: list[Interval] = []
    # Long ones are not compared at every place where they may begin.
    for start in _starts(text, words, 1 if size <= _MOST_COMPARED else size):
        if (not found or start >= found[-1][1]) and is_whole(start, start + size):
            found.append((start, start + size))
    return found or [(start, start + size) for start in _starts(text, words, size)]


def _starts(text: str, words: str, step: int) -> Iterator[int]:
    """Yield where a string begins, at least so many characters after the place before."""
    start = text.find(words)
    while start >= 0:
        yield start
        start = text.find(words, start + step)


class _Folded(NamedTuple):
    """A text without differences in case, white space and typography.

    Attributes
    ----------
    text : str
    starts, ends : list of int
        The characters of the original that each character stands for.
    """

    text: str
    starts: list[int]
    ends: list[int]

    def place(self, start: int, end: int) -> Interval:
        """Return where a stretch is in the original."""
        return self.starts[start], self.ends[end - 1]


def _folded(text: str, gap: str = " ") -> _Folded:
    """Fold a text, with a gap in the place of white space.

    Examples
    --------
    >>> _folded("The  Straße")
    _Folded(text='the strasse', starts=[0, 1, 2, 3, 5, 6, 7, 8, 9, 9, 10], \
ends=[1, 2, 3, 5, 6, 7, 8, 9, 10, 10, 11])
    """
    parts: list[str] = []
    starts: list[int] = []
    ends: list[int] = []
    for offset, character in enumerate(text):
        if character.isspace():
            if not gap:
                continue
            if parts and parts[-1] == gap:
                ends[-1] = offset + 1
                continue
            new = gap
        else:
            new = _TYPOGRAPHY.get(character) or character.casefold()
        parts.append(new)
        starts += [offset] * len(new)
        ends += [offset + 1] * len(new)
    return _Folded("".join(parts), starts, ends)
