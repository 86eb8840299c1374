"""The matrix of pairs of annotators."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

from beyondchance.numbers import in_digits
from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import ink_on, ramp
from beyondchance.page.figures import altair

MOST_ANNOTATORS = 30


def pairs_chart(annotators: Sequence[str], pairs: Mapping[tuple[str, str], float]) -> Any:
    """Corrected agreement of each pair of annotators, as a matrix with its numbers.

    Parameters
    ----------
    annotators : sequence of str
        In the order of the matrix; of more than 30, the first 30 are drawn.
    pairs : mapping of (str, str) to float
        Both orders of a pair are the same pair.

    Examples
    --------
    >>> pairs_chart(["ada", "ben"], {("ada", "ben"): 0.75}).description
    'Corrected agreement is 0.750 for the only pair, ada and ben.'
    """
    title = "Corrected agreement of each pair of annotators"
    chosen = list(annotators[:MOST_ANNOTATORS])
    if len(chosen) < 2:
        return shared.nothing(title, "there are no two annotators")
    alt = altair()
    names = dict(zip(chosen, shared.shown_names(chosen, length=18), strict=True))
    found = {
        (b, a): float(pairs.get((a, b), pairs.get((b, a), nan)))
        for place, b in enumerate(chosen)
        for a in chosen[:place]
    }
    known = {pair: value for pair, value in found.items() if isfinite(value)}
    low = min(0.0, *known.values(), 0.0)
    cells = []
    for (row, column), value in known.items():
        colour = ramp((value - low) / (1 - low))
        cells.append(
            {
                "row": names[row],
                "column": names[column],
                "value": value,
                "description": f"{names[column]} and {names[row]}: {shared.shown_number(value)}",
                "shown": in_digits(value, 2),
                "fill": colour,
                "ink": ink_on(colour),
            }
        )
    rows, columns = [names[name] for name in chosen[1:]], [names[name] for name in chosen[:-1]]
    step = min(56, max(24, shared.WIDTH // len(rows)))
    base = shared.plot(cells, width=alt.Step(step), height=alt.Step(min(step, 32))).encode(
        x=alt.X(
            "column:N",
            title=None,
            scale=alt.Scale(domain=columns),
            axis=alt.Axis(orient="bottom", labelAngle=-40, grid=False, ticks=False),
        ),
        y=alt.Y(
            "row:N",
            title=None,
            scale=alt.Scale(domain=rows),
            axis=alt.Axis(grid=False, ticks=False),
        ),
        description="description:N",
    )
    squares = base.mark_rect().encode(fill=alt.Fill("fill:N", scale=None))
    numbers = base.mark_text(fontSize=12 if step > 34 else 9, aria=False).encode(
        text="shown:N", fill=alt.Fill("ink:N", scale=None)
    )
    notes = shared.left_out(len(annotators), len(chosen), "annotators", "the first ones")
    notes += shared.undefined(len(found) - len(known), "pair")
    values = {f"{names[a]} and {names[b]}": value for (b, a), value in found.items()}
    finding = shared.extremes(values, "Corrected agreement", "pair")
    return shared.finished(alt.layer(squares, numbers), title, notes, finding)
