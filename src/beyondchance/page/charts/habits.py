"""The chart of how much each annotator marks."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import INK, OBSERVED
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import in_list


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitRow:
    """How much one annotator marks for each position that the others mark on average."""

    name: str
    ratio: float


def habits_chart(rows: Sequence[HabitRow], *, beside: str = "the others") -> Any:
    """Who marks more, and who less, than the others: a dot next to the line of 1 for each.

    Parameters
    ----------
    rows : sequence of HabitRow
        Drawn in this order. A ratio of 0 has no place on the scale and is named instead.
    beside : str
        The annotators that they are compared with.

    Examples
    --------
    >>> habits_chart([HabitRow(name="ada", ratio=2), HabitRow(name="ben", ratio=0.5)]).description
    'ada marks most (2.00 times as much as the others), ben least (0.50 times).'
    """
    title = f"How much each annotator marks, compared with {beside}"
    chosen = rows[: shared.MOST_ROWS]
    names = shared.shown_names([row.name for row in chosen])
    drawn = {
        name: float(row.ratio)
        for name, row in zip(names, chosen, strict=True)
        if isfinite(row.ratio) and row.ratio > 0
    }
    notes = shared.left_out(len(rows), len(chosen), "annotators", "the first ones")
    silent = [name for name, row in zip(names, chosen, strict=True) if row.ratio == 0]
    if silent:
        notes.append(f"Marked nothing, and so not drawn: {in_list(silent)}.")
    notes += shared.undefined(len(names) - len(drawn) - len(silent), "annotator")
    if not drawn:
        return shared.nothing(title, "no ratio is defined", notes)
    alt = altair()
    reach = max(1.25, *(max(ratio, 1 / ratio) for ratio in drawn.values())) * 1.1
    values = [
        {
            "name": name,
            "ratio": ratio,
            "shown": f"{ratio:.2f}",
            "description": f"{name}: {ratio:.2f}",
        }
        for name, ratio in drawn.items()
    ]
    base = shared.plot(values, width=shared.WIDTH, height=alt.Step(20)).encode(
        x=alt.X(
            "ratio:Q",
            title=f"marked positions, for each one that {beside} marked",
            scale=alt.Scale(type="log", domain=[1 / reach, reach], nice=False),
            axis=alt.Axis(values=_log_ticks(reach), format="~g"),
        ),
        y=shared.name_axis(drawn),
    )
    one = shared.plot([{"one": 1}]).mark_rule(color=INK, aria=False).encode(x="one:Q")
    stems = base.mark_rule(color=OBSERVED, strokeWidth=2, aria=False).encode(x2=alt.datum(1))
    dots = base.mark_point(filled=True, size=75, color=OBSERVED, opacity=1)
    layers = alt.layer(
        one,
        stems,
        dots.encode(description="description:N"),
        shared.numbers_column(values, names=drawn),
    )
    most, least = max(drawn, key=drawn.__getitem__), min(drawn, key=drawn.__getitem__)
    finding = f"{most} marks {drawn[most]:.2f} times as much as {beside}."
    if most != least:
        finding = (
            f"{most} marks most ({drawn[most]:.2f} times as much as {beside}), "
            f"{least} least ({drawn[least]:.2f} times)."
        )
    return shared.finished(layers, title, notes, finding)


def _log_ticks(reach: float) -> list[float]:
    ticks = (0.001, 0.01, 0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 100, 1000)
    return [tick for tick in ticks if 1 / reach <= tick <= reach]
