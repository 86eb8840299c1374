"""What is counted next to a result, and what became of it: mended, left out, ignored.

Corpora and results count what happened on the way in `skipped`, by a plural such as
``"relations ignored"``. The plural is a `Tally`: a string that knows what became of the
things that it names, so that reports can sort them without reading English.
"""

from __future__ import annotations

from collections.abc import Mapping
from enum import Enum
from functools import cache
from typing import Self


class Fate(Enum):
    """What became of something, by the words that stand in front of it."""

    MENDED = "Mended"
    KEPT = "Read as they are"
    LEFT_OUT = "Left out"
    WRONG = "Counted as wrong"
    UNSURE = "To be checked"
    NOT_ANNOTATED = "Not annotated"
    UNMARKED = "Nothing to compare"
    NO_SPAN = "Not spans, ignored"
    NOT_READ = "Not read"


DOCUMENTS = "{documents}"
"""What stands for documents in a noun, which may be called sentences."""


class Tally(str):
    """A plural to count under, which is equal to its text.

    Attributes
    ----------
    fate : Fate
    noun : str
        The plural without what became of it; of documents, with `DOCUMENTS` in their place.

    Examples
    --------
    >>> counter = {left_out("rejected records"): 2}
    >>> counter["rejected records left out"], [(key.fate.value, key.noun) for key in counter]
    (2, [('Left out', 'rejected records')])
    """

    fate: Fate
    noun: str

    def __new__(cls, text: str, fate: Fate, noun: str = "") -> Self:
        """Make one from its text; the noun is all of it by default."""
        made = super().__new__(cls, text.replace(DOCUMENTS, "documents"))
        made.fate, made.noun = fate, noun or text
        return made

    def __getnewargs__(self) -> tuple[str, Fate, str]:  # type: ignore[override]
        return str(self), self.fate, self.noun


@cache
def mended(text: str) -> Tally:
    """Name what was read although something was wrong, or was changed on reading."""
    return Tally(text, Fate.MENDED)


@cache
def kept(noun: str) -> Tally:
    """Name what other tools do not take as it is."""
    return Tally(f"{noun} kept", Fate.KEPT, noun)


@cache
def left_out(noun: str, said: str = " left out") -> Tally:
    """Name what would have counted, and does not."""
    return Tally(noun + said, Fate.LEFT_OUT, noun)


@cache
def wrong(noun: str) -> Tally:
    """Name what counts against its annotator."""
    return Tally(f"{noun} counted as wrong", Fate.WRONG, noun)


@cache
def unsure(text: str) -> Tally:
    """Name what was read as it is, and may be wrong."""
    return Tally(text, Fate.UNSURE)


@cache
def not_annotated(noun: str, said: str = " not annotated") -> Tally:
    """Name what no annotator has looked at."""
    return Tally(noun + said, Fate.NOT_ANNOTATED, noun)


@cache
def unmarked(noun: str) -> Tally:
    """Name what was annotated and holds nothing to compare."""
    return Tally(noun, Fate.UNMARKED)


@cache
def no_spans(noun: str, said: str = " ignored") -> Tally:
    """Name what is no span, and so never counted."""
    return Tally(noun + said, Fate.NO_SPAN, noun)


@cache
def not_read(noun: str, said: str = " ignored") -> Tally:
    """Name what was not asked for: other files, other layers, predictions."""
    return Tally(noun + said, Fate.NOT_READ, noun)


def by_fate(counts: Mapping[str, int]) -> dict[Fate | None, dict[str, int]]:
    """Group counts other than 0 by what became of things; None where unknown.

    Examples
    --------
    >>> found = by_fate({no_spans("relations"): 3, mended("tags repaired"): 1, "others": 2})
    >>> [(fate and fate.value, nouns) for fate, nouns in found.items()]
    [('Mended', {'tags repaired': 1}), ('Not spans, ignored', {'relations': 3}), \
(None, {'others': 2})]
    """
    sorted_out: dict[Fate | None, dict[str, int]] = {fate: {} for fate in (*Fate, None)}
    for what, number in counts.items():
        if number:
            fate, noun = (what.fate, what.noun) if isinstance(what, Tally) else (None, what)
            nouns = sorted_out[fate]
            nouns[noun] = nouns.get(noun, 0) + number
    return {fate: nouns for fate, nouns in sorted_out.items() if nouns}


WIDENED = mended("spans widened to whole tokens")
"""Spans that cut tokens, and count as covering them."""
