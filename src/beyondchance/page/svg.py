"""Drawings in SVG: marks, texts and axes in, an element for a page or a file out.

Colours are few and written as attributes, so that a page can change them by selectors such as
``[fill="#1b1f24"]``.
"""

from __future__ import annotations

import re
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass
from html import escape
from math import ceil, cos, floor, isfinite, log10, radians, sin
from textwrap import wrap
from typing import Any
from unicodedata import east_asian_width

import numpy as np

from beyondchance.errors import OptionError
from beyondchance.messages import Quote

INK = "#1b1f24"
"""Text and what must be seen first."""
MUTED = "#59636e"
"""Notes, axes and what stays in the background."""
GRID = "#d8dee4"
OBSERVED = "#0072b2"
CORRECTED = "#d55e00"
CHANCE = "#6e7781"
ACCENT = "#a0357a"
"""What a chart wants to be noticed."""
LINES = (OBSERVED, CORRECTED, "#008564", ACCENT, "#8a6d00", CHANCE)
"""Colours of lines that have names; the dashes differ too."""
SEQUENTIAL = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725")
"""From little to much, darkest first: viridis."""
KIND_COLOURS = {
    "agree": "#1f8a70",
    "label": "#c06a1f",
    "boundary": "#2f7fc0",
    "both": "#9a5aa8",
    "missed": "#cc4a2e",
    "extra": "#858000",
}
"""Kinds of agreement and disagreement, in the order in which they are drawn. No colour is
that of anything else: with text on them, they stay the same on a dark page, and marks in
texts are made of them (documents.css)."""


def ramp(share: float) -> str:
    """Return the colour of `SEQUENTIAL` at a share of the way.

    >>> ramp(0), ramp(1)
    ('#440154', '#fde725')
    """
    shares = np.linspace(0, 1, len(SEQUENTIAL))
    channels = zip(*map(_channels, SEQUENTIAL), strict=True)
    mixed = (round(float(np.interp(share, shares, channel))) for channel in channels)
    return "#" + "".join(f"{value:02x}" for value in mixed)


def ink_on(colour: str) -> str:
    """Return black or white, whichever stands out more; neither is a colour that a page changes.

    >>> ink_on("#fde725"), ink_on("#440154")
    ('#000000', '#ffffff')
    """
    # There, black and white stand out alike.
    return "#ffffff" if luminance(colour) < 0.179 else "#000000"


def luminance(colour: str) -> float:
    """Return how bright a colour is, from 0 to 1 (WCAG 2).

    >>> luminance("#000000"), luminance("#ffffff")
    (0.0, 1.0)
    """
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(colour))
    ]
    return sum(
        weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def _channels(colour: str) -> tuple[int, ...]:
    """Return red, green and blue of a colour such as ``#1b1f24``."""
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))


ENDING = ".svg"
_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_NARROW = frozenset("ijlIJtfr.,:;'|!()[]/ -\u2068\u2069")
_SIZE = 12
_SHAPES = {
    "circle": "M-{0},0a{0},{0} 0 1 0 {1},0a{0},{0} 0 1 0-{1},0",
    "diamond": "M0-{0}l{0},{0}l-{0},{0}l-{0}-{0}z",
    "line": "M-{1},0h{2}",
    "square": "M-{0}-{0}h{1}v{1}h-{1}z",
    "triangle": "M0-{0}l{0},{1}h-{1}z",
}
"""Paths around 0, of a radius, twice and four times as much."""


Scale = Callable[[float], float]
"""The pixel of a number."""


def scale(low: float, high: float, start: float, stop: float) -> Scale:
    """Return a function that gives numbers from low to high as pixels from start to stop."""
    return lambda value: start + (value - low) / (high - low) * (stop - start)


def ticks(low: float, high: float, *, most: int, least: float = 0.0) -> dict[float, str]:
    """Return round numbers from low to the first that is not below high, and as text.

    Parameters
    ----------
    low, high : float
    most : int
        Steps that there are at most between low and high.
    least : float
        How large a step is at least.

    Examples
    --------
    >>> ticks(0, 0.4, most=2), ticks(0, 1100, most=2, least=1)
    ({0.0: '0.0', 0.2: '0.2', 0.4: '0.4'}, {0.0: '0', 1000.0: '1,000', 2000.0: '2,000'})
    """
    rough = max((high - low) / most, least, 1e-9) * (1 - 1e-9)
    power = 10.0 ** floor(log10(rough))
    step = next(step for factor in (1, 2, 5, 10) if (step := factor * power) >= rough)
    digits = max(0, ceil(-log10(step) - 1e-9))
    numbers = range(ceil(low / step - 1e-9), ceil(high / step - 1e-9) + 1)
    return {round(n * step, digits): f"{n * step:,.{digits}f}" for n in numbers}


def width_of(text: str, size: float = _SIZE) -> float:
    """Return the pixels that a text takes at most, in DejaVu Sans or a font as wide."""
    return size * sum(map(_width, text))


def _width(character: str) -> float:
    if character in _NARROW:
        return 0.4
    if character in "mwMW@%…" or east_asian_width(character) in "WF":
        return 1.0
    return 0.78 if character.isupper() else 0.64


def escaped(text: str) -> str:
    r"""Return text for XML; characters that it cannot hold become U+FFFD.

    >>> escaped("a<\x00") == "a&lt;\ufffd"
    True
    """
    return escape(_NOT_IN_XML.sub("\ufffd", text))


def _element(tag: str, content: str = "", **attributes: float | str | None) -> str:
    written = (
        f' {name.replace("_", "-")}="{_written(value)}"'
        for name, value in attributes.items()
        if value is not None
    )
    return f"<{tag}{''.join(written)}{f'>{content}</{tag}>' if content else '/>'}"


def _written(value: float | str) -> str:
    return escaped(value) if isinstance(value, str) else f"{round(value, 2) + 0.0:g}"


class Drawing:
    """Marks around a plot, whose upper left corner is 0, and the room that all of them take.

    Parameters
    ----------
    height, width : float
        Pixels of the plot, without the texts next to it.
    """

    def __init__(self, height: float, width: float = 300) -> None:
        self.width, self.height = width, height
        self.parts: list[str] = []
        self.links: list[tuple[str, str, str]] = []
        self.xs, self.ys = [0, width], [0, height]

    def add(self, tag: str, content: str = "", *, told: str = "", **look: Any) -> None:
        """Draw an element, of which the pointer shows what is told."""
        title = _element("title", escaped(told)) if told else ""
        self.parts.append(_element(tag, title + content, **look))

    def text(
        self,
        x: float,
        y: float,
        text: str,
        *,
        anchor: str = "start",
        size: int = _SIZE,
        turn: int = 0,
        is_bold: bool = False,
        **look: Any,
    ) -> None:
        """Write a line around the height y, with its start, middle or end at x."""
        width = width_of(text, size) * (1.1 if is_bold else 1)
        before = width * {"start": 0, "middle": 0.5, "end": 1}[anchor]
        across, down = cos(radians(turn)), sin(radians(turn))
        for along in (-before, width - before):
            end = x + along * across, y + along * down
            self.make_room(*end, 0.65 * size * abs(down), 0.65 * size * abs(across))
        self.add(
            "text",
            escaped(text),
            x=x,
            y=y + 0.35 * size,
            text_anchor=None if anchor == "start" else anchor,
            font_size=None if size == _SIZE else f"{size}px",
            font_weight="bold" if is_bold else None,
            transform=f"rotate({turn},{x:g},{y:g})" if turn else None,
            **look,
        )

    def make_room(self, x: float, y: float, across: float, up: float) -> None:
        """Let the drawing hold a place, with so many pixels on both sides of it."""
        self.xs += x - across, x + across
        self.ys += y - up, y + up

    @property
    def box(self) -> tuple[float, float, float, float]:
        """The edges of all that is drawn: left, top, right and bottom."""
        return min(self.xs), min(self.ys), max(self.xs), max(self.ys)

    def line(self, x: float, y: float, x2: float, y2: float, stroke: str, **look: Any) -> None:
        """Draw a line, if both ends are defined."""
        if isfinite(x + y + x2 + y2):
            self.add("line", x1=x, y1=y, x2=x2, y2=y2, stroke=stroke, **look)

    def rect(self, x: float, y: float, width: float, height: float, **look: Any) -> None:
        """Draw a rectangle."""
        self.add("rect", x=x, y=y, width=width, height=height, **look)

    def mark(
        self,
        shape: str,
        x: float,
        y: float,
        *,
        size: float = 5,
        link: str | None = None,
        **look: Any,
    ) -> None:
        """Draw a mark, which may lead somewhere, if its place is defined."""
        if not isfinite(x + y):
            return
        self.make_room(x, y, size + 1, size + 1)
        path = _SHAPES[shape].format(*(f"{size * factor:g}" for factor in (1, 2, 4)))
        self.add("path", d=path, transform=f"translate({_written(x)},{_written(y)})", **look)
        if link is not None:
            self.links.append((link, look["told"], self.parts.pop()))

    def rows(self, names: Mapping[str, str]) -> Iterator[tuple[float, str]]:
        """Write names at the left, each in a row; yield the middle of each row and its name."""
        self.line(0, 0, 0, self.height, MUTED)
        for row, (name, told) in enumerate(names.items()):
            y = (row + 0.5) * self.height / len(names)
            self.text(-6, y, name, anchor="end", told=told)
            yield y, name

    def x_axis(
        self, low: float, high: float, title: str, marks: Mapping[float, str] | None = None
    ) -> Scale:
        """Draw an axis below the plot, with a line of the grid at each tick; return its scale."""
        x = scale(low, high, 0, self.width)
        for value, text in (marks or ticks(low, high, most=8)).items():
            if value <= high:
                self.line(x(value), 0, x(value), self.height + 5, GRID)
                self.text(x(value), self.height + 14, text, anchor="middle")
        self.line(0, self.height, self.width, self.height, MUTED)
        self.text(self.width / 2, self.height + 30, title, anchor="middle")
        return x

    def y_axis(self, marks: Mapping[float, str], title: str) -> Scale:
        """Draw an axis at the left of the plot, which ends at the last tick; return its scale."""
        y = scale(0, max(marks), self.height, 0)
        for value, text in marks.items():
            self.line(-5, y(value), self.width, y(value), GRID)
            self.text(-8, y(value), text, anchor="end")
        self.line(0, 0, 0, self.height, MUTED)
        self.text(min(self.xs) - 12, self.height / 2, title, anchor="middle", turn=-90)
        return y

    def legend(
        self, entries: Mapping[str, Mapping[str, Any]], x: float, y: float, *, columns: int = 3
    ) -> None:
        """Write what marks are, each next to one, in columns from a place on."""
        step = max(map(width_of, entries)) + 30
        for number, (text, look) in enumerate(entries.items()):
            row, column = divmod(number, columns)
            left, middle = x + column * step, y + 16 * row
            room = 24 if look.get("shape") == "line" else 12
            self.mark(**{"shape": "square", **look}, x=left + room / 2, y=middle)
            self.text(left + room + 5, middle, text)


@dataclass(frozen=True, slots=True)
class Chart:
    """A drawing with its words; in a notebook it shows itself.

    Attributes
    ----------
    name : str
        The name of its file.
    title : str
        What it shows.
    notes : sequence of str
        What there is to know of it.
    description : str
        What there is to see, in a sentence.
    drawing : Drawing
    """

    name: str
    title: str
    notes: Sequence[str]
    description: str
    drawing: Drawing

    def inline(self) -> str:
        """Return an SVG element for a page, which has its title and notes next to it.

        It has no background and no size but its ratio and a width. A chart without links is one
        image; where marks are links, these are reached one by one and everything else is hidden
        from screen readers.
        """
        drawing = self.drawing
        box = _rounded(drawing.box)
        links = "".join(
            _element("a", mark, href=link, aria_label=told) for link, told, mark in drawing.links
        )
        shown = "".join(drawing.parts)
        return self._svg(
            f'<g aria-hidden="true">{shown}</g>{links}' if links else shown,
            box,
            role="group" if links else "img",
            style=f"--width:{box[2]}px",
        )

    def _repr_svg_(self) -> str:
        """Return the content of a file: with its words, on white and without links."""
        left, top, right, bottom = self.drawing.box
        words = Drawing(0)
        lines = [(line, 14, INK) for line in wrap(self.title, 56)]
        lines += [(line, 12, MUTED) for note in self.notes for line in wrap(note, 68)]
        for place, (line, size, colour) in enumerate(lines):
            y = top - 18 * (len(lines) - place)
            words.text(left, y, line, size=size, is_bold=size > 12, fill=colour)
        words.make_room(left, top, 0, 0)
        words.make_room(right, bottom, 0, 0)
        x, y, width, height = box = _rounded(words.box, margin=5)
        paper = _element("rect", x=x, y=y, width=width, height=height, fill="#ffffff")
        marks = [*words.parts, *self.drawing.parts, *(mark for _, _, mark in self.drawing.links)]
        return self._svg(paper + "".join(marks), box, role="img", width=width, height=height)

    def _svg(self, content: str, box: Sequence[int], **attributes: Any) -> str:
        title, description = f"{self.name}-title", f"{self.name}-description"
        return _element(
            "svg",
            _element("title", escaped(self.title), id=title)
            + _element("desc", escaped(self.description), id=description)
            + _element("g", content, font_family="sans-serif", font_size=f"{_SIZE}px", fill=INK),
            xmlns="http://www.w3.org/2000/svg",
            viewBox=" ".join(map(str, box)),
            aria_labelledby=title,
            aria_describedby=description,
            **attributes,
        )


def _rounded(box: tuple[float, float, float, float], margin: int = 0) -> tuple[int, int, int, int]:
    """Return left, top, width and height of a box, in whole pixels."""
    left, top, right, bottom = box
    x, y = floor(left) - margin, floor(top) - margin
    return x, y, ceil(right) + margin - x, ceil(bottom) + margin - y


def drawn(chart: Chart, ending: str) -> bytes:
    """Return the content of a file with a chart.

    Raises
    ------
    OptionError
        For another ending than .svg.
    """
    if ending.lower() != ENDING:
        raise OptionError(
            "a figure cannot end with ",
            Quote(ending),
            expected=ENDING,
            remedy="other programs convert it, as rsvg-convert -f pdf -o figure.pdf figure.svg",
        )
    return chart._repr_svg_().encode()
