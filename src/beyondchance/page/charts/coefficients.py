"""The chart of coefficients side by side."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import CHANCE, CORRECTED
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import in_list


@dataclass(frozen=True, slots=True, kw_only=True)
class CoefficientRow:
    """The value of one coefficient; `is_ours` emphasises it."""

    name: str
    value: float
    is_ours: bool = False


def coefficients_chart(rows: Sequence[CoefficientRow]) -> Any:
    """Values of coefficients side by side, ours as a large diamond with a bold number.

    Examples
    --------
    >>> rows = [CoefficientRow(name="corrected F1", value=0.7, is_ours=True)]
    >>> rows.append(CoefficientRow(name="kappa", value=0.6))
    >>> coefficients_chart(rows).description
    'Coefficients range from 0.600 (kappa) to 0.700 (corrected F1).'
    """
    title = "The same annotations under other coefficients"
    names = shared.shown_names([row.name for row in rows], length=40)
    values: list[dict[str, Any]] = [
        {
            "name": name,
            "value": float(row.value),
            "is_ours": row.is_ours,
            "shown": shared.shown_number(row.value),
            "description": f"{name}: {shared.shown_number(row.value)}",
        }
        for name, row in zip(names, rows, strict=True)
        if isfinite(row.value)
    ]
    missing = [name for name, row in zip(names, rows, strict=True) if not isfinite(row.value)]
    notes = [f"Undefined here, and so not drawn: {in_list(missing)}."] if missing else []
    if not values:
        return shared.nothing(title, "no coefficient is defined", notes)
    alt = altair()
    scale = shared.score_scale([value["value"] for value in values])
    drawn = [value["name"] for value in values]
    layers = []
    for is_ours in (False, True):
        ours = [value for value in values if value["is_ours"] == is_ours]
        if not ours:
            continue
        base = shared.plot(ours, width=shared.WIDTH, height=alt.Step(20)).encode(
            x=alt.X("value:Q", title="value", scale=scale, axis=alt.Axis(tickCount=6)),
            y=shared.name_axis(drawn, labelLimit=260),
        )
        look = (
            {"shape": "diamond", "size": 150, "color": CORRECTED}
            if is_ours
            else {"shape": "circle", "size": 65, "color": CHANCE}
        )
        weight = "bold" if is_ours else "normal"
        layers += [
            base.mark_point(filled=True, opacity=1, **look).encode(description="description:N"),
            shared.numbers_column(ours, names=drawn, fontWeight=weight),
        ]
    by_value = sorted(values, key=lambda value: value["value"])
    least, most = by_value[0], by_value[-1]
    finding = (
        f"Coefficients range from {least['shown']} ({least['name']}) to {most['shown']} "
        f"({most['name']})."
    )
    return shared.finished(alt.layer(*layers), title, notes, finding)
