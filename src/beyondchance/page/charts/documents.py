"""The chart of documents: chance against observed agreement."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import ceil, isfinite
from typing import Any

import numpy as np

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import INK, MUTED, OBSERVED, SEQUENTIAL
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import counted

MOST_POINTS = 300
"""With more documents, a chart counts them in cells."""
MOST_CONTESTED = 50
"""As many documents are points of their own even then."""
CELLS = 25
"""Cells along each side."""


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPoint:
    """One document; its point leads to ``#document-<number>``, or nowhere without a number.

    Where there are too many documents, those with the largest `contested` are drawn one by
    one; it is for instance the number of disagreements.
    """

    number: int | None
    name: str
    observed: float
    chance: float
    corrected: float
    difficulty: float
    contested: float = 0.0


def documents_chart(points: Sequence[DocumentPoint]) -> Any:
    """Chance against observed agreement of documents, coloured by difficulty.

    Each point leads to its document. With more than 300 documents all are counted in
    cells, and the 50 most contested ones are points on top.

    Examples
    --------
    >>> point = DocumentPoint(
    ...     number=1, name="d", observed=0.9, chance=0.2, corrected=0.875, difficulty=0.8
    ... )
    >>> documents_chart([point]).description
    'Of 1 document, 1 agrees more than by chance.'
    """
    title = "Documents: agreement observed and expected by chance"
    known = [point for point in points if isfinite(point.observed) and isfinite(point.chance)]
    notes = shared.undefined(len(points) - len(known), "document")
    if not known:
        return shared.nothing(title, "no document has a score", notes)
    alt = altair()
    is_many = len(known) > MOST_POINTS
    drawn = sorted(known, key=lambda point: -point.contested)[:MOST_CONTESTED] if is_many else known
    right = ceil(max(point.chance for point in known) * 5) / 5 or 0.2
    x = alt.X(
        "chance:Q",
        title="expected by chance",
        scale=alt.Scale(domain=[0, right], nice=False),
    )
    y = alt.Y("observed:Q", title="observed", scale=alt.Scale(domain=[0, 1], nice=False))
    ends = [{"chance": end, "observed": end} for end in (0, right)]
    diagonal = (
        shared.plot(ends, width=shared.WIDTH, height=shared.WIDTH)
        .mark_line(color=MUTED, strokeDash=[5, 4], strokeWidth=1.5, aria=False)
        .encode(x=x, y=y)
    )
    values = [_point(point) for point in drawn]
    base = shared.plot(values).encode(x=x, y=y, description="description:N")
    if any(value["href"] for value in values):
        base = base.encode(href="href:N")
    look = {"filled": True, "size": 55, "opacity": 1, "stroke": INK, "strokeWidth": 0.8}
    layers = [diagonal]
    if is_many:
        layers.insert(0, _cells(known, x, y, right=right))
        notes.insert(
            0,
            f"All {len(known):,} documents are counted in cells; the {len(drawn)} most contested "
            "ones are points.",
        )
    if any(value["difficulty"] is not None for value in values):
        colour = alt.Color(
            "difficulty:Q",
            title="difficulty",
            scale=alt.Scale(domain=[0, 1], range=list(SEQUENTIAL), interpolate="rgb"),
            legend=alt.Legend(orient="bottom", direction="horizontal", gradientLength=140),
        )
        layers.append(base.mark_point(**look).encode(color=colour))
    else:
        layers.append(base.mark_point(**look, color=OBSERVED))
    chart = alt.layer(*layers).resolve_scale(color="independent")
    above = sum(point.observed > point.chance for point in known)
    finding = (
        f"Of {counted(len(known), 'document')}, {above:,} {'agrees' if above == 1 else 'agree'} "
        "more than by chance."
    )
    return shared.finished(chart, title, ["Dashed: observed = chance.", *notes], finding)


def _point(point: DocumentPoint) -> dict[str, Any]:
    scores = ("observed", "chance", "corrected", "difficulty")
    numbers = {score: getattr(point, score) for score in scores}
    return {
        "chance": float(point.chance),
        "observed": float(point.observed),
        "difficulty": float(point.difficulty) if isfinite(point.difficulty) else None,
        "href": None if point.number is None else f"#document-{point.number}",
        "description": shared.described(shared.shown_name(point.name, length=60), numbers),
    }


def _cells(points: Sequence[DocumentPoint], x: Any, y: Any, *, right: float) -> Any:
    """Documents counted in cells of a grid; the more documents, the more opaque the cell."""
    alt = altair()
    counts, edges, levels = np.histogram2d(
        [point.chance for point in points],
        [point.observed for point in points],
        bins=CELLS,
        range=[[0, right], [0, 1]],
    )
    cells = [
        {
            "chance": float(edges[column]),
            "right": float(edges[column + 1]),
            "observed": float(levels[row]),
            "top": float(levels[row + 1]),
            "count": int(counts[column, row]),
            "description": counted(int(counts[column, row]), "document"),
        }
        for column, row in np.argwhere(counts).tolist()
    ]
    return (
        shared.plot(cells)
        .mark_rect(fill=OBSERVED)
        .encode(
            x=x,
            x2="right:Q",
            y=y,
            y2="top:Q",
            opacity=alt.Opacity(
                "count:Q",
                title="documents",
                scale=alt.Scale(type="log", range=[0.2, 0.9], nice=False),
                legend=alt.Legend(orient="bottom", direction="horizontal", symbolType="square"),
            ),
            description="description:N",
        )
    )
