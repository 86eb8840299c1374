"""The histogram of difficulty."""

from __future__ import annotations

from collections.abc import Sequence
from math import isfinite
from typing import Any

import numpy as np

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import INK, OBSERVED
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import counted

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
