"""Spans in the text around them, for people."""

from __future__ import annotations

import re

_BLANKS = re.compile(r"\s+")
_AROUND, _WITHIN = 25, 60
"""Characters shown on either side of spans, and of a stretch within them."""


def in_text(text: str, a: tuple[int, int], b: tuple[int, int]) -> str:
    """Show two spans in their text, with [ ] around one and { } around the other.

    A span that starts at -1 is none. Brackets nest wherever they can. White space becomes one
    blank, and what is long is cut.

    Examples
    --------
    >>> in_text("I met old Anna Berg.", (6, 19), (10, 19))
    'I met [old {Anna Berg}].'
    >>> in_text("I met Anna.", (-1, -1), (6, 10))
    'I met {Anna}.'
    """
    # At one place spans close, the one that began last first, before others open, the one
    # that ends last first.
    marks = sorted(
        mark
        for side, ((start, end), opening, closing) in enumerate(((a, "[", "]"), (b, "{", "}")))
        if start >= 0
        for mark in ((start, 1, -end, side, opening), (end, 0, -start, -side, closing))
    )
    places = [place for place, *_ in marks]
    before, after = _blank(text[: places[0]]), _blank(text[places[-1] :])
    parts = [before if len(before) <= _AROUND else _last_words(before)]
    for (place, *_, mark), end in zip(marks, [*places[1:], places[-1]], strict=True):
        within = _blank(text[place:end])
        half = _WITHIN // 2
        parts += [mark, within if len(within) <= _WITHIN else f"{within[:half]}…{within[-half:]}"]
    return "".join([*parts, after if len(after) <= _AROUND else _last_words(after[::-1])[::-1]])


def _last_words(text: str) -> str:
    """Return the end of a text, from where a word begins if there is one."""
    end = text[-_AROUND - 1 :]
    blank = end.find(" ", 0, -1)
    return f"…{end[1:] if blank < 0 else end[blank:]}"


def _blank(text: str) -> str:
    return _BLANKS.sub(" ", text)
