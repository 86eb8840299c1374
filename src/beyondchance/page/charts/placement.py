"""Charts of where random spans fall."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

import numpy as np

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import LINES
from beyondchance.page.figures import altair
from beyondchance.types import Floats

MOST_POSITIONS = 600
"""Positions along one line; of longer texts, that many are drawn."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Probabilities of all positions of a text, first to last."""

    name: str
    values: Sequence[float]


def placement_chart(curves: Sequence[Curve]) -> Any:
    """Probability that each position is marked, where spans fall at random.

    Parameters
    ----------
    curves : sequence of Curve
        A few; of more than six, the first six are drawn.

    Examples
    --------
    >>> placement_chart([Curve(name="ada", values=[0.5, 1.0, 0.5])]).description
    'At random, positions are marked with probabilities from 0.500 to 1.000.'
    """
    title = "Where random spans would fall in these texts"
    known = [curve for curve in curves if len(curve.values)]
    chosen = known[: len(LINES)]
    if not chosen:
        return shared.nothing(title, "there is no text")
    alt = altair()
    names = shared.shown_names([curve.name for curve in chosen], length=56)
    values: list[dict[str, Any]] = []
    is_thinned = False
    for name, curve in zip(names, chosen, strict=True):
        places = np.arange(len(curve.values))
        if len(places) > MOST_POSITIONS:
            places = np.linspace(0, len(places) - 1, MOST_POSITIONS).round().astype(np.int64)
            is_thinned = True
        values += [
            {"position": place + 1, "probability": float(curve.values[place]), "name": name}
            for place in places.tolist()
            if isfinite(curve.values[place])
        ]
    longest = max(len(curve.values) for curve in chosen)
    scale = alt.Scale(domain=names, range=list(LINES[: len(names)]))
    dashes = alt.Scale(domain=names, range=list(DASHES[: len(names)]))
    legend = alt.Legend(orient="bottom", columns=1, labelLimit=400, symbolSize=400)
    lines = (
        shared.plot(values, width=shared.WIDTH + 60, height=200)
        .mark_line(interpolate="step" if longest < 60 else "linear", strokeWidth=2, aria=False)
        .encode(
            x=alt.X(
                "position:Q",
                title="position in the text",
                scale=alt.Scale(domain=[1, max(longest, 2)], nice=False),
                axis=shared.whole_ticks(longest),
            ),
            y=alt.Y("probability:Q", title="probability to be marked", scale=alt.Scale(zero=True)),
            color=alt.Color("name:N", title=None, sort=None, scale=scale, legend=legend),
            strokeDash=alt.StrokeDash("name:N", title=None, sort=None, scale=dashes, legend=legend),
        )
    )
    notes = shared.left_out(len(known), len(chosen), "texts", "the first ones")
    if is_thinned:
        notes.append(f"Of longer texts, {MOST_POSITIONS} positions are drawn.")
    drawn = [value["probability"] for value in values]
    low, high = (shared.shown_number(end) for end in (min(drawn), max(drawn)))
    finding = f"At random, positions are marked with probabilities from {low} to {high}."
    return shared.finished(lines, title, notes, finding)


def places_chart(spans: Sequence[int], starts: Sequence[Floats]) -> Any:
    """The paper's first figure: probabilities of all starts, one line for each span."""
    alt = altair()
    values = [
        {"start": start, "probability": probability, "span": f"{number}: {span}"}
        for number, (span, column) in enumerate(zip(spans, starts, strict=True), start=1)
        for start, probability in enumerate(column.tolist())
    ]
    order = [f"{number}: {span}" for number, span in enumerate(spans, start=1)]
    return (
        shared.plot(values, width=480, height=240)
        .mark_line(interpolate="step-after" if max(map(len, starts)) < 60 else "linear")
        .encode(
            x=alt.X("start:Q", title="start of the span"),
            y=alt.Y("probability:Q", title="probability"),
            color=alt.Color("span:N", title="span: length", sort=order),
            strokeDash=alt.StrokeDash("span:N", title="span: length", sort=order),
        )
    )
