"""Draw charts of texts: documents, their difficulty, and where random spans fall in them."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import ceil, floor, inf, isfinite, log
from typing import Any

import numpy as np

from beyondchance.page.charts import shared
from beyondchance.page.svg import INK, LINES, MUTED, OBSERVED, Chart, Drawing, Scale, ticks
from beyondchance.reporting.blocks import counted
from beyondchance.reporting.breakdown import Row
from beyondchance.results.resampling import SCORES
from beyondchance.types import Floats, Ints

MOST_POINTS = 300
"""With more documents, a chart counts them in cells."""
MOST_POINTED = 50
"""As many documents are points of their own even then."""
STRIPE, FEWEST_IN_STRIPE = 0.1, 10
"""How far apart points of a stripe are on one of the axes, and how many there are at least."""
CELLS = 25
"""Cells along each side."""


def documents_chart(rows: Sequence[Row], links: Mapping[str, str], noun: str = "document") -> Chart:
    """Draw chance against observed agreement of documents; in a stripe, count corrected scores.

    With more than 300 documents all are counted in cells, and the first 50 are points on top.

    Parameters
    ----------
    rows : sequence of Row
        Those that matter most first.
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
    known = [row for row in rows if isfinite(row.score.observed) and isfinite(row.score.chance)]
    notes = shared.undefined(len(rows) - len(known), noun)
    places = np.array([(row.score.chance, row.score.observed) for row in known]).reshape(-1, 2)
    values = [row.score.corrected for row in known if isfinite(row.score.corrected)]
    if is_stripe(places) and min(values, default=-inf) >= -1:
        title = f"{noun.capitalize()}s by corrected agreement"
        notes += shared.undefined(len(known) - len(values), noun)
        return _documents_histogram(values, title, notes, noun)
    title = f"{noun.capitalize()}s: agreement observed and expected by chance"
    if not known:
        return shared.nothing("documents", title, f"no {noun} has a score", notes)
    is_many = len(known) > MOST_POINTS
    drawn = known[:MOST_POINTED] if is_many else known
    right = ceil(max(row.score.chance for row in known) * 5) / 5 or 0.2
    drawing = Drawing(300)
    x = drawing.x_axis(0, right, "expected by chance", ticks(0, right, most=10))
    y = drawing.y_axis(ticks(0, 1, most=10), "observed")
    if is_many:
        _draw_cells(drawing, known, right, noun)
        notes.insert(
            0,
            f"All {len(known):,} {noun}s are counted in cells; the {len(drawn)} that lower "
            "agreement most are points.",
        )
    drawing.line(x(0), y(0), x(right), y(right), MUTED, stroke_dasharray="5,4", stroke_width=1.5)
    for row in drawn:
        numbers = {name: getattr(row.score, name) for name in SCORES}
        drawing.mark(
            "circle",
            x(row.score.chance),
            y(row.score.observed),
            size=4,
            fill=OBSERVED,
            fill_opacity=0.7,
            link=links.get(row.shown),
            told=shared.described(shared.shown_name(row.shown, length=60), numbers),
        )
    above = sum(row.score.observed > row.score.chance for row in known)
    finding = (
        f"Of {counted(len(known), noun)}, {above:,} {'agrees' if above == 1 else 'agree'} "
        "more than by chance."
    )
    notes.insert(0, "Dashed: observed = chance.")
    return Chart("documents", title, notes, finding, drawing)


def is_stripe(places: Floats) -> bool:
    """Tell whether points would be a stripe: most are in a tenth of an axis, or on few places.

    There are at least 10, and the middle nine tenths of chance or of observed agreement differ by
    less than .1; or two points in three are on the place of another one, in two digits.

    Parameters
    ----------
    places : array of float, shape (points, 2)

    Examples
    --------
    >>> wide = np.linspace(0, 1, 20)
    >>> is_stripe(np.stack([wide, wide], axis=1)), is_stripe(np.stack([wide / 20, wide], axis=1))
    (False, True)
    """
    if len(places) < FEWEST_IN_STRIPE:
        return False
    low, high = np.quantile(places, [0.05, 0.95], axis=0)
    n_places = len(np.unique(places.round(2), axis=0))
    return bool((high - low).min() < STRIPE or 3 * n_places <= len(places))


def _documents_histogram(
    values: Sequence[float], title: str, notes: Sequence[str], noun: str
) -> Chart:
    """Count documents by corrected agreement, in steps of .05."""
    first = min(floor(20 * min(values) - 1e-9), 19)
    counts, edges = np.histogram(values, bins=np.arange(first, 21) / 20)
    drawing = Drawing(170)
    ends = floor(first / 4) / 5, 1.0
    x = drawing.x_axis(*ends, "corrected", ticks(*ends, most=8))
    _draw_bars(drawing, x, counts, edges, noun, digits=2)
    middle = shared.shown_number(float(np.median(values)))
    finding = (
        f"At least half of {counted(len(values), noun)} have a corrected score of {middle} or more."
    )
    return Chart("documents", title, [finding, *notes], finding, drawing)


def _draw_bars(
    drawing: Drawing, x: Scale, counts: Ints, edges: Floats, noun: str, *, digits: int = 3
) -> Scale:
    """Draw a bar for each range that holds something, and return the scale of counts."""
    y = drawing.y_axis(ticks(0, counts.max(), most=6, least=1), f"{noun}s")
    for left, right, count in zip(edges[:-1], edges[1:], counts.tolist(), strict=True):
        if count:
            told = f"{counted(count, noun)} from {left:.{digits}f} to {right:.{digits}f}"
            place = x(left) + 0.5, y(count), x(right) - x(left) - 1, y(0) - y(count)
            drawing.rect(*place, fill=OBSERVED, told=told)
    return y


def _draw_cells(drawing: Drawing, rows: Sequence[Row], right: float, noun: str) -> None:
    """Count documents in cells of a grid; the more documents, the more opaque the cell."""
    counts, _, _ = np.histogram2d(
        [row.score.chance for row in rows],
        [row.score.observed for row in rows],
        bins=CELLS,
        range=[[0, right], [0, 1]],
    )
    most, side = int(counts.max()), drawing.width / CELLS

    def look(count: int) -> Any:
        return {"fill": OBSERVED, "fill_opacity": 0.2 + 0.7 * log(count) / log(max(most, 2))}

    for column, row in np.argwhere(counts).tolist():
        count = int(counts[column, row])
        place = column * side, drawing.height - (row + 1) * side
        drawing.rect(*place, side, side, **look(count), told=counted(count, noun))
    drawing.text(170, drawing.height + 50, f"{noun}s")
    shown = sorted({1, round(most**0.5), most})
    drawing.legend({f"{n:,}": look(n) for n in shown}, 170, drawing.height + 69)


SPLIT = 0.825
"""Difficulty from which on the paper calls a text difficult."""


def difficulty_chart(values: Sequence[float]) -> Chart:
    """Draw a histogram of difficulties, with the split between easy and difficult texts.

    Parameters
    ----------
    values : sequence of float
        Difficulties from 0 to 1.

    Examples
    --------
    >>> difficulty_chart([0.5, 0.9, 0.95]).description
    'Of 3 texts, 2 are at least as difficult as the split at 0.825.'
    """
    title = "Difficulty: how hard it is to agree by chance"
    known = np.asarray([value for value in values if isfinite(value)], dtype=np.float64)
    notes = shared.undefined(len(values) - len(known), "text")
    if not len(known):
        return shared.nothing("difficulty", title, "no difficulty is defined", notes)
    counts, edges = np.histogram(known, bins=np.arange(41) / 40)
    drawing = Drawing(170)
    x = drawing.x_axis(0, 1, "difficulty", ticks(0, 1, most=10))
    y = _draw_bars(drawing, x, counts, edges, "text")
    hard = int(np.count_nonzero(known >= SPLIT))
    drawing.line(x(SPLIT), 0, x(SPLIT), y(0), INK, stroke_dasharray="5,3", stroke_width=1.5)
    drawing.text(x(SPLIT) - 5, -9, f"{len(known) - hard:,} easier", anchor="end")
    drawing.text(x(SPLIT) + 5, -9, f"{hard:,} difficult")
    notes.insert(0, f"Dashed: the split at {SPLIT} of the paper.")
    finding = (
        f"Of {counted(len(known), 'text')}, {hard:,} {'is' if hard == 1 else 'are'} at least as "
        f"difficult as the split at {SPLIT}."
    )
    return Chart("difficulty", title, notes, finding, drawing)


MOST_POSITIONS = 600
"""Positions along one line; of longer texts, that many are drawn."""
DASHES = (None, "6,3", "2,2", "8,3,2,3", "4,4", "1,3")


def placement_chart(curves: Sequence[tuple[str, Floats]]) -> Chart:
    """Draw the probability that each position is marked, where spans fall at random.

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
        return shared.nothing("placement", title, "there is no text")
    names = shared.shown_names([name for name, _ in chosen], length=56)
    values = [curve for _, curve in chosen]
    axes = "position in the text", "probability to be marked"
    drawing = _curves(dict(zip(names, values, strict=True)), *axes, first=1)
    notes = shared.left_out(len(known), len(chosen), "texts", "the first ones")
    if max(map(len, values)) > MOST_POSITIONS:
        notes.append(f"Of longer texts, {MOST_POSITIONS} positions are drawn.")
    every = np.concatenate(values)
    low, high = (shared.shown_number(end) for end in (np.nanmin(every), np.nanmax(every)))
    finding = f"At random, positions are marked with probabilities from {low} to {high}."
    return Chart("placement", title, notes, finding, drawing)


def places_chart(spans: Sequence[int], starts: Sequence[Floats]) -> Chart:
    """Draw the paper's first figure: probabilities of all starts, one line for each span."""
    curves = {
        f"span {number}, of length {span}": column
        for number, (span, column) in enumerate(zip(spans, starts, strict=True), start=1)
    }
    title = "Where random spans would begin"
    finding = f"Probabilities of the starts of {counted(len(spans), 'span')}."
    drawing = _curves(curves, "start of the span", "probability", first=0)
    return Chart("places", title, (), finding, drawing)


def _curves(curves: Mapping[str, Floats], across: str, up: str, *, first: int) -> Drawing:
    """Draw values at positions, a line for each curve; in steps where positions are few."""
    drawing = Drawing(200, 360)
    longest = max(map(len, curves.values()))
    high = max(float(np.nanmax(curve)) for curve in curves.values())
    last = first + max(longest - 1, 1)
    x = drawing.x_axis(first, last, across, ticks(first, last, most=8, least=1))
    y = drawing.y_axis(ticks(0, high, most=5), up)
    legend = {}
    for number, (name, curve) in enumerate(curves.items()):
        places = np.linspace(0, len(curve) - 1, min(len(curve), MOST_POSITIONS)).round()
        # In steps, a position reaches half way to its neighbours.
        reach = (-0.5, 0.5) if longest < 60 else (0.0,)
        points = [
            f"{x(first + min(max(place + aside, 0), len(curve) - 1)):.2f},{y(curve[place]):.2f}"
            for place in places.astype(np.int64).tolist()
            for aside in reach
            if isfinite(curve[place])
        ]
        look: Any = {
            "stroke": LINES[number % len(LINES)],
            "stroke_width": 2,
            "stroke_dasharray": DASHES[number % len(DASHES)],
        }
        drawing.add("polyline", points=" ".join(points), fill="none", **look)
        legend[name] = {"shape": "line", **look}
    drawing.legend(legend, 0, drawing.height + 54, columns=1)
    return drawing
