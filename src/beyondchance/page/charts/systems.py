"""The chart of systems before and after correction."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from math import isfinite
from typing import Any

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import ACCENT, CHANCE, INK, MUTED
from beyondchance.page.figures import altair


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """One system against a gold standard, with its rank before and after correction."""

    name: str
    observed: float
    corrected: float
    rank_observed: int | None
    rank_corrected: int | None


def systems_chart(rows: Sequence[SystemRow]) -> Any:
    """Scores of systems before and after correction; a changed rank is a bold line.

    Parameters
    ----------
    rows : sequence of SystemRow
        With more than 40, the 40 that rank first after correction are drawn.

    Examples
    --------
    >>> row = SystemRow(name="s", observed=0.5, corrected=0.4, rank_observed=1, rank_corrected=1)
    >>> systems_chart([row]).description
    'Correction changes the rank of no system of 1.'
    """
    title = "Systems before and after correction"
    known = [
        row
        for row in rows
        if isfinite(row.observed + row.corrected)
        and None not in {row.rank_observed, row.rank_corrected}
    ]
    chosen = sorted(known, key=lambda row: row.rank_corrected or 0)[: shared.MOST_ROWS]
    notes = shared.left_out(len(known), len(chosen), "systems", "the first after correction")
    notes += shared.undefined(len(rows) - len(known), "system")
    if not chosen:
        return shared.nothing(title, "no system has both scores", notes)
    alt = altair()
    names = shared.shown_names([row.name for row in chosen], length=20)
    ends = [float(end) for row in chosen for end in (row.observed, row.corrected)]
    extent = max(ends) - min(ends) or 0.1
    gap = extent / max(8, len(chosen))
    sides = {
        0.0: spread([float(row.observed) for row in chosen], gap=gap),
        1.0: spread([float(row.corrected) for row in chosen], gap=gap),
    }
    places = [*ends, *sides[0.0], *sides[1.0]]
    low, high = min(places) - gap / 2, max(places) + gap / 2
    height = round((high - low) / gap * 18)
    lines, labels = [], []
    for number, (name, row) in enumerate(zip(names, chosen, strict=True)):
        rise = (row.rank_observed or 0) - (row.rank_corrected or 0)
        description = shared.described(name, {"observed": row.observed, "corrected": row.corrected})
        moved = f" {'▲' if rise > 0 else '▼'}{abs(rise)}" if rise else ""
        for side, rank, value in (
            (0.0, row.rank_observed, float(row.observed)),
            (1.0, row.rank_corrected, float(row.corrected)),
        ):
            score = shared.shown_number(value)
            place = sides[side][number]
            text = f"{score}\u2002{rank}. {name}{moved}" if side else f"{rank}. {name}\u2002{score}"
            common = {"number": number, "moved": bool(rise)}
            lines.append({**common, "side": side, "value": value, "description": description})
            label = {"side": side, "value": value, "place": place, "shown": text}
            labels.append({**common, **label, "end": side + (0.05 if side else -0.05)})
    x = alt.X(
        "side:Q",
        title=None,
        scale=alt.Scale(domain=[0, 1], nice=False),
        axis=alt.Axis(
            orient="top",
            values=[0, 1],
            labelExpr="datum.value == 0 ? 'observed' : 'corrected'",
            labelFontWeight="bold",
            grid=True,
        ),
    )
    scale = alt.Scale(domain=[low, high], nice=False, zero=False)
    y = alt.Y("value:Q", title=None, axis=None, scale=scale)
    layers = []
    for is_moved in (False, True):
        ours = [line for line in lines if line["moved"] == is_moved]
        if not ours:
            continue
        colour = ACCENT if is_moved else CHANCE
        stroke = {"strokeWidth": 2.5} if is_moved else {"strokeWidth": 1.5, "strokeDash": [4, 3]}
        base = shared.plot(ours, width=170, height=height).encode(x=x, y=y)
        layers += [
            base.mark_line(color=colour, **stroke).encode(
                detail="number:N", description="description:N"
            ),
            base.mark_point(filled=True, color=colour, size=40, opacity=1).encode(
                description="description:N"
            ),
        ]
        layers += _side_labels([line for line in labels if line["moved"] == is_moved], scale)
    if any(line["moved"] for line in lines):
        notes.insert(0, "Bold: the rank changes, by as many places as the arrow says.")
    n_moved = sum(row.rank_observed != row.rank_corrected for row in chosen)
    finding = f"Correction changes the rank of {n_moved or 'no'} system{'s' * (n_moved > 1)} of "
    return shared.finished(alt.layer(*layers), title, notes, f"{finding}{len(chosen)}.")


def _side_labels(labels: list[dict[str, Any]], scale: Any) -> list[Any]:
    """Names on both sides, each joined to its point."""
    alt = altair()
    layers = []
    for side, align, shift in ((0.0, "right", -3), (1.0, "left", 3)):
        ours = [label for label in labels if label["side"] == side]
        weight = "bold" if ours[0]["moved"] else "normal"
        layers += [
            shared.plot(ours)
            .mark_rule(color=MUTED, strokeWidth=0.75, aria=False)
            .encode(
                x=alt.X("side:Q", title=None),
                x2="end:Q",
                y=alt.Y("value:Q", axis=None, scale=scale),
                y2="place:Q",
            ),
            shared.plot(ours)
            .mark_text(align=align, dx=shift, fontWeight=weight, color=INK, aria=False)
            .encode(
                x=alt.X("end:Q", title=None),
                y=alt.Y("place:Q", axis=None, scale=scale),
                text="shown:N",
            ),
        ]
    return layers


def spread(targets: Sequence[float], *, gap: float) -> list[float]:
    """Places as near to their targets as they can be with a gap between any two.

    The sum of squared distances is least; the order stays.

    Examples
    --------
    >>> spread([0.0, 10.0], gap=1), spread([5.0, 5.0], gap=2)
    ([0.0, 10.0], [4.0, 6.0])
    """
    order = sorted(range(len(targets)), key=lambda place: targets[place])
    # Without the gaps, places must not decrease: neighbours that do are pooled at their mean.
    pools: list[tuple[float, int]] = []
    for rank, place in enumerate(order):
        mean, size = targets[place] - rank * gap, 1
        while pools and pools[-1][0] > mean:
            before, many = pools.pop()
            mean = (before * many + mean * size) / (many + size)
            size += many
        pools.append((mean, size))
    means = [mean for mean, size in pools for _ in range(size)]
    places = [0.0] * len(targets)
    for rank, place in enumerate(order):
        places[place] = means[rank] + rank * gap
    return places
