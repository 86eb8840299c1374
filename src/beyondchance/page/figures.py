"""Charts of Altair, drawn: as files for papers, and as SVG that a page carries inside."""

from __future__ import annotations

import json
import re
from collections.abc import Collection, Iterable, Iterator, Mapping
from contextlib import contextmanager
from pathlib import Path
from threading import Thread
from typing import Any
from xml.etree import ElementTree as ET

from beyondchance.errors import BeyondChanceError, OptionError
from beyondchance.installing import required
from beyondchance.messages import Quote

ENDINGS = (".png", ".svg", ".pdf")

_ADDRESSES = 67 * 2**30
"""Bytes of addresses that the drawing library takes."""

_ROOM = 1.2
"""How much wider than in Arial a text may be, as in DejaVu Sans or Verdana: it is laid out for
letters that are larger by this factor."""

_NOT_IN_XML = re.compile("[^\t\n\r\x20-\ud7ff\ue000-\ufffd\U00010000-\U0010ffff]")
_LONG_NUMBER = re.compile(r"-?(?<!\d)\d+(?:\.\d{3,}(?:e[+-]?\d+)?|(?:\.\d+)?e[+-]?\d+)")
_SHORTEST_CUT = 8
"""Characters that are left of a name at least, to know it by."""
_REFERENCE = re.compile(r"url\(#([^)]*)\)")
_GEOMETRY = frozenset(
    ["transform", "d", "x", "y", "x1", "y1", "x2", "y2", "width", "height", "viewBox"]
)
_NOISE = frozenset(["class", "role", "pointer-events", "stroke-miterlimit"])
_INHERITED = (
    "fill",
    "stroke",
    "stroke-width",
    "font-family",
    "font-size",
    "font-weight",
    "text-anchor",
)


def library(name: str, what: str) -> Any:
    """Import a library that only reports need."""
    return required(name, extra="report", purpose=what)


def altair() -> Any:
    """Import the library that charts are written with.

    Raises
    ------
    MissingLibraryError
        If it is not installed.
    """
    alt = library("altair", "a figure")
    _check_room()
    library("vl_convert", "a figure")
    return alt


def _check_room() -> None:
    """Refuse to draw where the drawing library would end the process.

    It reserves addresses, though hardly any memory, for a browser's engine.
    """
    try:
        import resource  # noqa: PLC0415 - there is none on Windows
    except ImportError:
        return
    most, _ = resource.getrlimit(resource.RLIMIT_AS)
    if most != resource.RLIM_INFINITY and most < _ADDRESSES:
        raise BeyondChanceError(
            f"addresses are limited to {most:,} bytes",
            expected=f"{_ADDRESSES:,} to draw charts",
            remedy="lift the limit (ulimit -v unlimited), or limit the memory in use instead",
        )


def warm_up() -> None:
    """Start the drawing library in the background: it takes half a second."""
    altair()
    import vl_convert  # noqa: PLC0415 - an extra

    nothing = '{"data": {"values": []}, "mark": "point"}'
    Thread(target=vl_convert.vegalite_to_svg, args=(nothing,), daemon=True).start()


@contextmanager
def unchecked() -> Iterator[None]:
    """Build charts without validating every part against Altair's schema, which is slow.

    The tests validate the charts.
    """
    altair()
    from altair.utils.schemapi import debug_mode  # noqa: PLC0415 - an extra

    with debug_mode(False):
        yield


def drawn(chart: Any, ending: str) -> bytes:
    """A chart as the content of a file, on white and without links.

    Parameters
    ----------
    chart : Altair's chart
    ending : {".svg", ".png", ".pdf"}

    Raises
    ------
    OptionError
        For another ending.
    """
    kind = ending.lower()
    if kind not in ENDINGS:
        raise OptionError("a figure cannot end with ", Quote(ending), expected=", ".join(ENDINGS))
    import vl_convert  # noqa: PLC0415 - an extra

    spec = {**_without_links(_specification(chart)), "background": "#ffffff"}
    if kind == ".png":
        return bytes(vl_convert.vegalite_to_png(_as_json(spec), scale=3))
    if kind == ".pdf":
        return bytes(vl_convert.vegalite_to_pdf(_as_json(spec)))
    svg, width, height = _drawing(spec, name="chart")
    svg.set("width", str(width))
    svg.set("height", str(height))
    return _written(svg).encode()


def figures(
    charts: Mapping[str, Any], folder: Path, endings: Collection[str] = ENDINGS
) -> dict[Path, bytes]:
    """Draw every chart with every ending; return what ``folder/name.ending`` is to hold.

    Parameters
    ----------
    charts : mapping of str to Altair's chart
        The name of a chart is that of its files.
    folder : Path
    endings : collection of str
    """
    return {
        folder / f"{name}{ending}": drawn(chart, ending)
        for name, chart in charts.items()
        for ending in endings
    }


def inline_svg(
    chart: Any,
    *,
    name: str,
    title: str | None = None,
    description: str | None = None,
    names: Iterable[str] = (),
) -> str:
    """A chart as an SVG element for a page.

    It has no background and no size but its ratio and a width; its ids start with `name`. A
    title and a description come first, for screen readers; for others, the page says above it
    what `caption` has. What the pointer shows at a mark is the mark's title. A chart without
    links is one image; where marks are links, these are reached one by one and everything else
    is hidden from screen readers.

    Parameters
    ----------
    chart : Altair's chart
    name : str
        Unique in the page; letters, digits and hyphens.
    title, description : str, optional
        By default those of the chart.
    names : iterable of str
        Names that the pointer shows in full where the chart has cut them.
    """
    spec = {**_specification(chart), "background": None}
    heading = _heading(spec) if title is None else title
    spec.pop("title", None)
    svg, width, _ = _drawing(spec, name=name, title=heading, description=description)
    svg.set("style", f"--width:{width}px")
    _tell_names(svg, names)
    if any(element.tag == "a" for element in svg.iter()):
        svg.set("role", "group")
        _hide_all_but_links(svg)
    return _written(svg)


def caption(chart: Any) -> tuple[str, str]:
    """What a chart shows, and what there is to know of it, for the page that shows it."""
    spec = _specification(chart)
    notes = spec.get("title", {}).get("subtitle", "")
    return _heading(spec), notes if isinstance(notes, str) else " ".join(notes)


def _drawing(
    spec: dict[str, Any], *, name: str, title: str | None = None, description: str | None = None
) -> tuple[ET.Element, int, int]:
    """A specification drawn as one image with a title and a description; its size."""
    import vl_convert  # noqa: PLC0415 - an extra

    drawn = vl_convert.vegalite_to_svg(_as_json(_with_room(spec)))
    vega = ET.fromstring(drawn)  # noqa: S314 - our own
    width, height = (round(float(vega.attrib[side])) for side in ("width", "height"))
    svg = ET.Element(
        "svg",
        {
            "xmlns": "http://www.w3.org/2000/svg",
            "viewBox": f"0 0 {width} {height}",
            "role": "img",
            "aria-labelledby": f"{name}-title",
            "aria-describedby": f"{name}-description",
        },
    )
    heading = _heading(spec) if title is None else title
    finding = spec.get("description", "") if description is None else description
    ET.SubElement(svg, "title", {"id": f"{name}-title"}).text = _writable(heading)
    ET.SubElement(svg, "desc", {"id": f"{name}-description"}).text = _writable(finding)
    parts = [part for child in vega for part in _simplified(child)]
    _number_ids(parts, name)
    svg.extend(parts)
    return svg, width, height


def _specification(chart: Any) -> dict[str, Any]:
    """What Altair says of a chart, whatever theme is set for other charts."""
    with altair().theme.enable("default"):
        spec: dict[str, Any] = chart.to_dict(validate=False)
    return spec


def _written(svg: ET.Element) -> str:
    # Only tags can hold this: in texts and attributes, ">" is escaped.
    return ET.tostring(svg, encoding="unicode").replace(" />", "/>")


def _as_json(spec: dict[str, Any]) -> str:
    """A specification as JSON; a character that XML cannot hold would stop the program."""
    return _writable(json.dumps(spec, ensure_ascii=False))


def _writable(text: str) -> str:
    r"""Text whose characters XML can hold; others become U+FFFD.

    >>> _writable("a\x00b\ud800c") == "a\ufffdb\ufffdc"
    True
    """
    return _NOT_IN_XML.sub("\ufffd", text)


def _without_links(part: Any) -> Any:
    """A specification without its links, which lead nowhere outside of a page.

    >>> _without_links({"layer": [{"encoding": {"x": 1, "href": 2}}]})
    {'layer': [{'encoding': {'x': 1}}]}
    """
    if isinstance(part, list):
        return [_without_links(item) for item in part]
    if not isinstance(part, dict):
        return part
    kept = {key: _without_links(value) for key, value in part.items() if key != "data"}
    kept.get("encoding", {}).pop("href", None)
    return {**kept, "data": part["data"]} if "data" in part else kept


def _with_room(part: Any, name: str = "") -> Any:
    """A specification with larger letters, and as much more room for them.

    >>> _with_room({"mark": {"fontSize": 10, "dx": 5}, "data": {"fontSize": 10}})
    {'mark': {'fontSize': 12.0, 'dx': 5}, 'data': {'fontSize': 10}}
    """
    if isinstance(part, list):
        return [_with_room(item) for item in part]
    if isinstance(part, dict):
        return {
            key: value if key in {"data", "datasets"} else _with_room(value, key)
            for key, value in part.items()
        }
    is_scaled = name.lower().endswith(("fontsize", "limit")) and isinstance(part, int | float)
    return part * _ROOM if is_scaled else part


def _heading(spec: Mapping[str, Any]) -> str:
    """The title of a specification, on one line."""
    text = spec.get("title", {}).get("text", "")
    return text if isinstance(text, str) else " ".join(text)


def _simplified(element: ET.Element) -> list[ET.Element]:
    """What is drawn of an element: without noise, long numbers and needless groups."""
    tag = _local(element.tag)
    if element.get("display") == "none" or _is_empty_path(element):
        return []
    kept = ET.Element(tag, dict(_kept_attributes(element)))
    kept.text = element.text
    label = element.get("aria-label")
    if label and tag != "g":
        ET.SubElement(kept, "title").text = label
        kept[0].tail, kept.text = kept.text, None
    kept.extend(part for child in element for part in _simplified(child))
    if tag in {"g", "a"}:
        _raise_common_attributes(kept)
    if tag == "a":
        kept.set("aria-label", kept.findtext(".//title", default=""))
    if tag == "g" and not len(kept):
        return []
    return list(kept) if tag == "g" and not kept.attrib else [kept]


def _kept_attributes(element: ET.Element) -> Iterable[tuple[str, str]]:
    for key, value in element.attrib.items():
        name = _local(key)
        if name == "href":
            # Vega puts an address of its own before a link inside the page.
            yield name, "#" + value.partition("#")[2]
        elif name in _GEOMETRY:
            shorter = _LONG_NUMBER.sub(_rounded, value)
            if shorter != "translate(0,0)":
                yield name, shorter
        elif name == "font-size":
            yield name, f"{float(value.removesuffix('px')) / _ROOM:.4g}px"
        elif name not in _NOISE and not name.startswith("aria-") and (name, value) != _OPAQUE:
            yield name, value


_OPAQUE = ("opacity", "1")


def _is_empty_path(element: ET.Element) -> bool:
    """Whether a path is nothing, or the frame of a group that has no colour."""
    if _local(element.tag) != "path":
        return False
    is_frame = element.get("class") == "background"
    return not element.get("d") or (is_frame and not (element.get("stroke") or element.get("fill")))


def _raise_common_attributes(group: ET.Element) -> None:
    """Say once, at the group, what all of its parts inherit alike."""
    parts = [part for part in group if part.tag != "title"]
    if len(parts) < 2 and group.tag != "a":
        return
    for name in _INHERITED:
        values = {part.get(name) for part in parts}
        if len(values) == 1 and None not in values and name not in group.attrib:
            group.set(name, str(values.pop()))
            for part in parts:
                del part.attrib[name]


def _number_ids(parts: Iterable[ET.Element], name: str) -> None:
    """Number ids from 1: those of Vega count on from chart to chart."""
    elements = [element for part in parts for element in part.iter()]
    ids: dict[str, str] = {}
    for element in elements:
        if "id" in element.attrib:
            ids[element.attrib["id"]] = f"{name}-{len(ids) + 1}"
            element.set("id", ids[element.attrib["id"]])
    for element in elements:
        for key, value in element.attrib.items():
            reference = _REFERENCE.fullmatch(value)
            if reference:
                element.set(key, f"url(#{ids[reference[1]]})")


def _tell_names(svg: ET.Element, names: Iterable[str]) -> None:
    """Give texts that were cut the names that they stand for."""
    long = [_writable(name) for name in names if len(name) > _SHORTEST_CUT]
    for element in svg.iter("text") if long else ():
        *cuts, _ = (element.text or "").split("…")
        told = [name for cut in cuts for name in long if _is_beginning(cut, name)]
        if told and len(told) == len(cuts):
            title = ET.SubElement(element, "title")
            title.text, title.tail, element.text = " and ".join(told), element.text, None


def _is_beginning(text: str, name: str) -> bool:
    """Whether a text ends with the beginning of a name.

    >>> _is_beginning("2. annotator_0", "annotator_0001"), _is_beginning("ada", "ada")
    (True, False)
    """
    ends = range(_SHORTEST_CUT, min(len(name), len(text) + 1))
    return any(text.endswith(name[:end]) for end in ends)


def _hide_all_but_links(element: ET.Element) -> None:
    for part in element:
        if part.tag in {"title", "desc", "a"}:
            continue
        if any(inner.tag == "a" for inner in part.iter()):
            _hide_all_but_links(part)
        else:
            part.set("aria-hidden", "true")


def _rounded(number: re.Match[str]) -> str:
    return f"{round(float(number[0]), 2) + 0.0:g}"


def _local(name: str) -> str:
    """A name without its namespace."""
    return name.rpartition("}")[2]
