"""The chart of labels."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite, nan
from typing import Any

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import CHANCE, CORRECTED, MUTED, OBSERVED
from beyondchance.page.figures import altair


@dataclass(frozen=True, slots=True, kw_only=True)
class LabelRow:
    """Agreement on one label; `low` and `high` are the ends of an interval of `corrected`."""

    name: str
    observed: float
    chance: float
    corrected: float
    n_spans: int = 0
    low: float = nan
    high: float = nan


def labels_chart(rows: Sequence[LabelRow]) -> Any:
    """Observed and corrected agreement of each label joined by a line, with chance.

    Parameters
    ----------
    rows : sequence of LabelRow
        Drawn in this order. With more than 40, the 40 that have most spans are drawn.

    Examples
    --------
    >>> row = LabelRow(name="PER", observed=0.9, chance=0.2, corrected=0.875)
    >>> labels_chart([row]).description
    'Corrected agreement is 0.875 for the only label, PER.'
    """
    title = "Agreement by label: observed, by chance and corrected"
    most = sorted(range(len(rows)), key=lambda place: -rows[place].n_spans)[: shared.MOST_ROWS]
    chosen = [rows[place] for place in sorted(most)]
    if not chosen:
        return shared.nothing(title, "there is no label")
    alt = altair()
    names = shared.shown_names([row.name for row in chosen])
    by_name = dict(zip(names, chosen, strict=True))
    kinds = ("observed", "chance", "corrected")
    marks: list[dict[str, Any]] = [
        {
            "name": name,
            "what": kind,
            "value": float(getattr(row, kind)),
            "description": shared.described(name, {kind: getattr(row, kind)}),
        }
        for name, row in by_name.items()
        for kind in kinds
        if isfinite(getattr(row, kind))
    ]
    joined = [
        {"name": name, "from": float(row.observed), "to": float(row.corrected)}
        for name, row in by_name.items()
        if isfinite(row.observed) and isfinite(row.corrected)
    ]
    sure = [
        {"name": name, "from": float(row.low), "to": float(row.high)}
        for name, row in by_name.items()
        if isfinite(row.low) and isfinite(row.high)
    ]
    y = shared.name_axis(names)
    scale = shared.score_scale([mark["value"] for mark in marks] + [end["from"] for end in sure])
    ends = {"x": alt.X("from:Q", scale=scale), "x2": "to:Q", "y": y}
    points = (
        shared.plot(marks, width=shared.WIDTH, height=alt.Step(24 if sure else 20))
        .mark_point(filled=True, size=75, opacity=1)
        .encode(
            x=alt.X("value:Q", title="agreement", scale=scale, axis=alt.Axis(tickCount=6)),
            y=y,
            color=alt.Color(
                "what:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=[OBSERVED, CHANCE, CORRECTED]),
            ),
            shape=alt.Shape(
                "what:N",
                title=None,
                scale=alt.Scale(domain=kinds, range=["circle", "triangle-up", "diamond"]),
            ),
            description="description:N",
        )
    )
    lines = shared.plot(joined).mark_rule(color=MUTED, strokeWidth=1.5, aria=False).encode(**ends)
    intervals = (
        shared.plot(sure).mark_rule(color=CORRECTED, strokeWidth=1.5, yOffset=7, aria=False)
    ).encode(**ends)
    notes = shared.left_out(len(rows), len(chosen), "labels", "the most frequent ones")
    if sure:
        notes.append("Thin line: interval of the corrected score.")
    notes += shared.undefined(3 * len(chosen) - len(marks), "value")
    corrected = {name: row.corrected for name, row in by_name.items()}
    finding = shared.extremes(corrected, "Corrected agreement", "label")
    return shared.finished(alt.layer(intervals, lines, points), title, notes, finding)
