"""Read charts back: what is written in a drawing, and the numbers at which its marks lie."""

from __future__ import annotations

import re
from collections import defaultdict
from collections.abc import Callable
from typing import NamedTuple
from xml.etree import ElementTree as ET

from beyondchance.page.svg import Chart


class Mark(NamedTuple):
    """A mark: what the pointer shows, where its middle lies, and its attributes."""

    told: str
    x: float
    y: float
    look: dict[str, str]


def tag(element: ET.Element) -> str:
    """Return the name of an element."""
    return element.tag.rpartition("}")[2]


def parsed(svg: str) -> ET.Element:
    """Return the root of a drawing."""
    return ET.fromstring(svg)  # noqa: S314 - our own


def elements(chart: Chart | str, *tags: str) -> list[ET.Element]:
    """Return the elements of some kinds, in the order of drawing."""
    svg = chart if isinstance(chart, str) else chart.inline()
    return [element for element in parsed(svg).iter() if tag(element) in tags]


def texts(chart: Chart | str) -> list[str]:
    """Return what is written in a chart, without what only the pointer shows."""
    return [(element[-1].tail if len(element) else element.text) or "" for element in _texts(chart)]


def _texts(chart: Chart | str) -> list[ET.Element]:
    return elements(chart, "text")


def told(element: ET.Element) -> str:
    """Return what the pointer shows at an element."""
    return element.findtext("{*}title", default="")


def marks(chart: Chart) -> list[Mark]:
    """Return the marks that say what they are."""
    found = []
    for element in elements(chart, "path"):
        place = re.fullmatch(r"translate\((.*),(.*)\)", element.get("transform", ""))
        if place and told(element):
            found.append(
                Mark(told(element), float(place[1]), float(place[2]), dict(element.attrib))
            )
    return found


def boxes(chart: Chart) -> list[tuple[str, float, float, float, float]]:
    """Return rectangles: what they say, left, top, width and height."""
    sides = ("x", "y", "width", "height")
    return [
        (told(element), *(float(element.get(side)) for side in sides))
        for element in elements(chart, "rect")
    ]


def lines(chart: Chart, colour: str) -> list[tuple[float, float, float, float]]:
    """Return the ends of lines of a colour."""
    sides = ("x1", "y1", "x2", "y2")
    return [
        tuple(float(element.get(side)) for side in sides)
        for element in elements(chart, "line")
        if element.get("stroke") == colour
    ]


def ticks(chart: Chart, side: str) -> dict[float, float]:
    """Return the pixels of the numbers along the axis x or y."""
    along, across, anchor = ("x", "y", "middle") if side == "x" else ("y", "x", "end")
    rows = defaultdict(dict)
    for element in _texts(chart):
        text = "".join(element.itertext())
        is_number = re.fullmatch(r"-?[\d,.]+%?", text)
        if is_number and element.get("text-anchor") == anchor:
            number = float(text.replace(",", "").rstrip("%"))
            rows[element.get(across)][number] = float(element.get(along))
    # Numbers in the plot lie in rows of their own.
    return max(rows.values(), key=len)


def scale(chart: Chart, side: str) -> Callable[[float], float]:
    """Return a function of a pixel: the number there, as the axis x or y has it."""
    found = ticks(chart, side)
    low, high = min(found), max(found)
    shift = 0.35 * 12 if side == "y" else 0

    def number(pixel: float) -> float:
        share = (pixel - found[low] + shift) / (found[high] - found[low])
        return round(low + share * (high - low), 4) + 0.0

    return number
