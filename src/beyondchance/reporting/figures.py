"""Figures for papers, drawn by Altair."""

from __future__ import annotations

import json
from collections.abc import Sequence
from typing import Any

from beyondchance.arrays import Floats
from beyondchance.errors import MissingLibraryError, OptionError

ENDINGS = (".png", ".svg", ".pdf")


def drawn_places(spans: Sequence[int], starts: Sequence[Floats], *, ending: str) -> bytes:
    """Probabilities of all starts, one line for each span."""
    return _drawn(places_chart(spans, starts), ending)


def places_chart(spans: Sequence[int], starts: Sequence[Floats]) -> Any:
    """The paper's first figure, as a chart of Altair."""
    alt = _altair()
    values = [
        {"start": start, "probability": probability, "span": f"{number}: {span}"}
        for number, (span, column) in enumerate(zip(spans, starts, strict=True), start=1)
        for start, probability in enumerate(column.tolist())
    ]
    order = [f"{number}: {span}" for number, span in enumerate(spans, start=1)]
    return (
        alt.Chart(alt.Data(values=values), width=480, height=240)
        .mark_line(interpolate="step-after" if max(map(len, starts)) < 60 else "linear")
        .encode(
            x=alt.X("start:Q", title="start of the span"),
            y=alt.Y("probability:Q", title="probability"),
            color=alt.Color("span:N", title="span: length", sort=order),
            strokeDash=alt.StrokeDash("span:N", title="span: length", sort=order),
        )
    )


def _altair() -> Any:
    try:
        import altair as alt  # noqa: PLC0415 - an extra
        import vl_convert  # noqa: F401, PLC0415 - an extra
    except ImportError as error:
        raise MissingLibraryError(
            f"a figure needs the library {error.name}; install it with: "
            "pip install 'beyondchance[report]'"
        ) from None
    return alt


def _drawn(chart: Any, ending: str) -> bytes:
    """The chart as the content of a file."""
    import vl_convert  # noqa: PLC0415 - an extra

    spec = json.dumps(chart.to_dict())
    kind = ending.lower()
    if kind == ".svg":
        drawn: str = vl_convert.vegalite_to_svg(spec)
        return drawn.encode()
    if kind == ".png":
        image: bytes = vl_convert.vegalite_to_png(spec, scale=3)
        return image
    if kind == ".pdf":
        page: bytes = vl_convert.vegalite_to_pdf(spec)
        return page
    raise OptionError(f"a figure cannot end with {ending!r}; expected {', '.join(ENDINGS)}")
