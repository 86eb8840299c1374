"""Charts of texts: documents, their difficulty, and where random spans fall in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, isfinite
from typing import Any

import numpy as np

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import INK, LINES, MUTED, OBSERVED, SEQUENTIAL
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import counted
from beyondchance.reporting.breakdown import Row
from beyondchance.results.resampling import SCORES
from beyondchance.types import Floats

MOST_POINTS = 300
"""With more documents, a chart counts them in cells."""
MOST_CONTESTED = 50
"""As many documents are points of their own even then."""
CELLS = 25
"""Cells along each side."""


def documents_chart(rows: Sequence[Row], links: Mapping[str, str], noun: str = "document") -> Any:
    """Chance against observed agreement of documents, coloured by difficulty.

    With more than 300 documents all are counted in cells, and the 50 most contested ones are
    points on top.

    Parameters
    ----------
    rows : sequence of Row
        The most contested documents first.
    links : mapping of str to str
        Where the points of documents lead, by name; those of others lead nowhere.
    noun : str
        What documents are called.

    Examples
    --------
    >>> from beyondchance.results.score import Score
    >>> score = Score(matched=9, expected=2, size_a=10, size_b=10)
    >>> documents_chart([Row(measure="token", name="d", score=score)], {}).description
    'Of 1 document, 1 agrees more than by chance.'
    """
    title = f"{noun.capitalize()}s: agreement observed and expected by chance"
    known = [row for row in rows if isfinite(row.score.observed) and isfinite(row.score.chance)]
    notes = shared.undefined(len(rows) - len(known), noun)
    if not known:
        return shared.nothing(title, f"no {noun} has a score", notes)
    alt = altair()
    is_many = len(known) > MOST_POINTS
    drawn = known[:MOST_CONTESTED] if is_many else known
    right = ceil(max(row.score.chance for row in known) * 5) / 5 or 0.2
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
    values = [_point(row, links.get(row.shown)) for row in drawn]
    base = shared.plot(values).encode(x=x, y=y, description="description:N")
    if any(value["href"] for value in values):
        base = base.encode(href="href:N")
    look = {"filled": True, "size": 55, "opacity": 1, "stroke": INK, "strokeWidth": 0.8}
    layers = [diagonal]
    if is_many:
        layers.insert(0, _cells(known, x, y, right=right, noun=noun))
        notes.insert(
            0,
            f"All {len(known):,} {noun}s are counted in cells; the {len(drawn)} most contested "
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
    above = sum(row.score.observed > row.score.chance for row in known)
    finding = (
        f"Of {counted(len(known), noun)}, {above:,} {'agrees' if above == 1 else 'agree'} "
        "more than by chance."
    )
    return shared.finished(chart, title, ["Dashed: observed = chance.", *notes], finding)


def _point(row: Row, link: str | None) -> dict[str, Any]:
    numbers = {name: getattr(row.score, name) for name in SCORES} | {"difficulty": row.difficulty}
    return {
        "chance": row.score.chance,
        "observed": row.score.observed,
        "difficulty": row.difficulty if isfinite(row.difficulty) else None,
        "href": link,
        "description": shared.described(shared.shown_name(row.shown, length=60), numbers),
    }


def _cells(rows: Sequence[Row], x: Any, y: Any, *, right: float, noun: str) -> Any:
    """Documents counted in cells of a grid; the more documents, the more opaque the cell."""
    alt = altair()
    counts, edges, levels = np.histogram2d(
        [row.score.chance for row in rows],
        [row.score.observed for row in rows],
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
            "description": counted(int(counts[column, row]), noun),
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
                title=f"{noun}s",
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


def placement_chart(curves: Sequence[tuple[str, Floats]]) -> Any:
    """Probability that each position is marked, where spans fall at random.

    Parameters
    ----------
    curves : sequence of (str, array of float)
        Names, and the probabilities of all positions of a text. A few; of more than six, the
        first six are drawn.

    Examples
    --------
    >>> placement_chart([("ada", np.array([0.5, 1.0, 0.5]))]).description
    'At random, positions are marked with probabilities from 0.500 to 1.000.'
    """
    title = "Where random spans would fall in these texts"
    known = [(name, curve) for name, curve in curves if len(curve)]
    chosen = known[: len(LINES)]
    if not chosen:
        return shared.nothing(title, "there is no text")
    alt = altair()
    names = shared.shown_names([name for name, _ in chosen], length=56)
    values: list[dict[str, Any]] = []
    for name, (_, curve) in zip(names, chosen, strict=True):
        places = np.linspace(0, len(curve) - 1, min(len(curve), MOST_POSITIONS)).round()
        values += [
            {"position": place + 1, "probability": float(curve[place]), "name": name}
            for place in places.astype(np.int64).tolist()
            if isfinite(curve[place])
        ]
    longest = max(len(curve) for _, curve in chosen)
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
    if longest > MOST_POSITIONS:
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
