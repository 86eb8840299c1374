"""What the charts share: their size, their look, names, numbers and sentences."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite
from textwrap import wrap
from typing import Any
from unicodedata import bidirectional

from beyondchance.numbers import in_digits
from beyondchance.page.charts.colours import GRID, INK, MUTED
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import counted
from beyondchance.reporting.visible import visible

WIDTH = 300
"""Pixels of a plot, without the text next to it."""
MOST_ROWS = 40
"""Labels, systems or pairs that one chart shows at most."""
_DIGITS = 3
_WORDS = {
    "labelColor": INK,
    "titleColor": INK,
    "titleFontWeight": "normal",
    "labelFontSize": 12,
    "titleFontSize": 12,
    "labelLimit": 230,
}
"""The look of words at axes and in legends."""
_NAME = 24


def shown_number(value: float) -> str:
    """A number as charts show it."""
    return in_digits(value, _DIGITS)


def plot(values: list[dict[str, Any]], **size: Any) -> Any:
    """A chart of rows of data, without marks."""
    alt = altair()
    return alt.Chart(alt.Data(values=values), **size)


def numbers_column(values: list[dict[str, Any]], *, names: Iterable[str], **look: Any) -> Any:
    """Numbers to the right of a plot, each in the row of its name."""
    return (
        plot(values)
        .mark_text(align="left", x=WIDTH + 8, color=INK, aria=False, **look)
        .encode(y=name_axis(names), text="shown:N")
    )


def name_axis(names: Iterable[str], **axis: Any) -> Any:
    """One row for each name, in this order."""
    alt = altair()
    scale = alt.Scale(domain=list(names))
    return alt.Y("name:N", title=None, sort=None, scale=scale, axis=alt.Axis(**axis))


def finished(chart: Any, title: str, notes: Sequence[str], description: str) -> Any:
    """The chart with its words and the look that all charts share."""
    alt = altair()
    lines = [line for note in notes for line in wrap(note, 68)]
    text = alt.TitleParams(text=wrap(title, 56), subtitle=lines or alt.Undefined)
    return chart.properties(title=text, description=description).configure(
        font="sans-serif",
        view={"stroke": None},
        title={
            "anchor": "start",
            "frame": "bounds",
            "fontSize": 14,
            "subtitleFontSize": 12,
            "color": INK,
            "subtitleColor": MUTED,
            "offset": 8,
            "subtitlePadding": 4,
        },
        axis={
            **_WORDS,
            "labelFlush": False,
            "gridColor": GRID,
            "domainColor": MUTED,
            "tickColor": MUTED,
        },
        legend={**_WORDS, "orient": "top", "offset": 6, "gradientStrokeColor": GRID},
        text={"fontSize": 12},
    )


def nothing(title: str, why: str, notes: Sequence[str] = ()) -> Any:
    """A chart that says why there is none."""
    sentence = f"Nothing to draw: {why}."
    chart = (
        plot([{"shown": sentence}], width=WIDTH, height=30)
        .mark_text(align="left", x=0, color=INK, aria=False)
        .encode(text="shown:N")
    )
    return finished(chart, title, notes, sentence)


def shown_name(name: str, *, length: int = _NAME) -> str:
    """A name as a chart shows it: on one line, cut where it is long.

    Examples
    --------
    >>> shown_name("ada"), shown_name("a" * 50, length=5), shown_name("")
    ('ada', 'aaaa…', '(empty)')
    """
    text = visible(name[: length + 1]).strip() or "(empty)"
    shown = text if len(text) <= length else f"{text[: length - 1]}…"
    is_from_the_right = any(bidirectional(character) in {"R", "AL"} for character in shown)
    # Isolated, so that it does not reorder the numbers next to it.
    return f"\u2068{shown}\u2069" if is_from_the_right else shown


def shown_names(names: Iterable[str], *, length: int = _NAME) -> list[str]:
    """Names as a chart shows them, numbered where two would look the same.

    Examples
    --------
    >>> shown_names(["ada", "b" * 50, "b" * 60], length=4)
    ['ada', 'bbb…', 'bbb… (2)']
    """
    return distinct(shown_name(name, length=length) for name in names)


def distinct(texts: Iterable[str]) -> list[str]:
    """Texts, numbered where they were there before.

    >>> distinct(["a", "b", "a", "a"])
    ['a', 'b', 'a (2)', 'a (3)']
    """
    taken: dict[str, None] = {}
    for text in texts:
        numbered = (f"{text} ({number})" for number in itertools.count(2))
        taken[next(name for name in itertools.chain([text], numbered) if name not in taken)] = None
    return list(taken)


def score_scale(values: Iterable[float]) -> Any:
    """From 0 to 1, and wider only where a value is outside."""
    known = [value for value in values if isfinite(value)]
    low = floor(min([0.0, *known]) * 5) / 5
    high = ceil(max([1.0, *known]) * 5) / 5
    return altair().Scale(domain=[low, high], nice=False)


def whole_ticks(most: int) -> Any:
    """An axis of whole numbers; where they are few, each has its tick."""
    alt = altair()
    few = list(range(most + 1))
    return alt.Axis(format=",d", **({"values": few} if most <= 6 else {"tickCount": 6}))


def described(name: str, numbers: Mapping[str, float]) -> str:
    """What the pointer shows: a name and its numbers."""
    said = (
        f"{what} {shown_number(value) if isfinite(value) else 'undefined'}"
        for what, value in numbers.items()
    )
    return f"{name}: {', '.join(said)}"


def left_out(total: int, shown: int, what: str, which: str) -> list[str]:
    """A note on which rows are drawn, if not all are."""
    return [f"{shown} of {total:,} {what} are drawn: {which}."] if total > shown else []


def undefined(number: int, what: str) -> list[str]:
    """A note on undefined values, if there are any."""
    if not number:
        return []
    return [f"{counted(number, what)} {'is' if number == 1 else 'are'} undefined and left out."]


def extremes(values: Mapping[str, float], what: str, kind: str) -> str:
    """One sentence on the largest and the smallest of some values."""
    known = {name: value for name, value in values.items() if isfinite(value)}
    if not known:
        return f"{what} is undefined for every {kind}."
    most, least = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    high, low = (shown_number(known[name]) for name in (most, least))
    if len(known) == 1:
        return f"{what} is {high} for the only {kind}, {most}."
    return f"{what} is highest for {most} ({high}) and lowest for {least} ({low})."
