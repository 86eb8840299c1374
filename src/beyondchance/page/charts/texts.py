"""Charts of texts: documents, their difficulty, and where random spans fall in them."""

from __future__ import annotations

from collections.abc import Sequence
from math import ceil, isfinite
from typing import Any, NamedTuple

import numpy as np

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import INK, LINES, MUTED, OBSERVED, SEQUENTIAL
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import counted
from beyondchance.types import Floats

MOST_POINTS = 300
"""With more documents, a chart counts them in cells."""
MOST_CONTESTED = 50
"""As many documents are points of their own even then."""
CELLS = 25
"""Cells along each side."""


class DocumentPoint(NamedTuple):
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
        "chance:Q", title="expected by chance", scale=alt.Scale(domain=[0, right], nice=False)
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


SPLIT = 0.825
"""Difficulty from which on the paper calls a text difficult."""


def difficulty_chart(values: Sequence[float], *, split: float = SPLIT) -> Any:
    """How many texts are how difficult, with the split between easy and difficult.

    Parameters
    ----------
    values : sequence of float
        Difficulties from 0 to 1.
    split : float
        Texts are difficult from here on; by default where the paper has it.

    Examples
    --------
    >>> difficulty_chart([0.5, 0.9, 0.95]).description
    'Of 3 texts, 2 are at least as difficult as the split at 0.825.'
    """
    title = "Difficulty: how hard it is to agree by chance"
    known = np.asarray([value for value in values if isfinite(value)], dtype=np.float64)
    notes = shared.undefined(len(values) - len(known), "text")
    if not len(known):
        return shared.nothing(title, "no difficulty is defined", notes)
    alt = altair()
    edges = np.arange(41) / 40
    counts, _ = np.histogram(known, bins=edges)
    bars = [
        {
            "low": float(left),
            "high": float(right),
            "count": int(count),
            "description": f"{counted(int(count), 'text')} from {left:.3f} to {right:.3f}",
        }
        for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    hard = int(np.count_nonzero(known >= split))
    x = alt.X("low:Q", title="difficulty", scale=alt.Scale(domain=[0, 1], nice=False))
    histogram = (
        shared.plot(bars, width=shared.WIDTH, height=170)
        .mark_bar(color=OBSERVED, binSpacing=1)
        .encode(
            x=x,
            x2="high:Q",
            y=alt.Y("count:Q", title="texts", axis=shared.whole_ticks(int(counts.max()))),
            y2=alt.datum(0),
            description="description:N",
        )
    )
    rule = (
        shared.plot([{"split": split}])
        .mark_rule(color=INK, strokeWidth=1.5, strokeDash=[5, 3], aria=False)
        .encode(x="split:Q")
    )
    texts = [
        shared.plot([{"split": split, "shown": shown}])
        .mark_text(align=align, dx=shift, y=-8, color=INK, aria=False)
        .encode(x="split:Q", text="shown:N")
        for shown, align, shift in (
            (f"{len(known) - hard:,} easier", "right", -5),
            (f"{hard:,} difficult", "left", 5),
        )
    ]
    notes.insert(0, f"Dashed: the split at {split:g}{' of the paper' if split == SPLIT else ''}.")
    finding = (
        f"Of {counted(len(known), 'text')}, {hard:,} {'is' if hard == 1 else 'are'} at least as "
        f"difficult as the split at {split:g}."
    )
    return shared.finished(alt.layer(histogram, rule, *texts), title, notes, finding)


MOST_POSITIONS = 600
"""Positions along one line; of longer texts, that many are drawn."""
DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])


class Curve(NamedTuple):
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
