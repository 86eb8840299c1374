"""Draw charts of scores: by label, by system and by coefficient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

from beyondchance.page.charts import shared
from beyondchance.page.svg import (
    ACCENT,
    CHANCE,
    CORRECTED,
    GRID,
    MUTED,
    OBSERVED,
    Chart,
    Drawing,
    scale,
)
from beyondchance.reporting.blocks import in_list
from beyondchance.reporting.breakdown import Row
from beyondchance.reporting.commands.rank import SystemRow

_LOOKS: dict[str, Any] = {
    "observed": {"shape": "circle", "fill": OBSERVED},
    "chance": {"shape": "triangle", "fill": CHANCE},
    "corrected": {"shape": "diamond", "fill": CORRECTED},
}
"""Marks of scores."""
_SIDES = {"observed": (0, "end"), "corrected": (1, "start")}
"""Where scores of systems are drawn, as a share of the width, and where their texts are joined."""


def labels_chart(rows: Sequence[Row]) -> Chart:
    """Draw observed, chance and corrected agreement of each label, the first and last joined.

    Parameters
    ----------
    rows : sequence of Row
        Drawn in this order. With more than 40, the 40 that have most spans are drawn.

    Examples
    --------
    >>> from beyondchance.results.score import Score
    >>> score = Score(matched=9, expected=2, size_a=10, size_b=10)
    >>> labels_chart([Row(measure="token", level="label", name="PER", score=score)]).description
    'Corrected agreement is 0.875 for the only label, PER.'
    """
    title = "Agreement by label: observed, by chance and corrected"
    most = sorted(range(len(rows)), key=lambda place: -rows[place].score.n_spans)
    chosen = [rows[place] for place in sorted(most[: shared.MOST_ROWS])]
    if not chosen:
        return shared.nothing("labels", title, "there is no label")
    names = shared.shown_names([row.shown for row in chosen])
    intervals = [row.intervals.get("corrected") for row in chosen]
    sure = [(nan, nan) if item is None else (item.low, item.high) for item in intervals]
    has_intervals = any(isfinite(low) for low, _ in sure)
    values = [getattr(row.score, kind) for row in chosen for kind in _LOOKS]
    drawing = Drawing(22 * len(chosen))
    x = shared.score_axis(drawing, [*values, *(low for low, _ in sure)], "agreement")
    for (y, name), row, (low, high) in zip(drawing.rows(names), chosen, sure, strict=True):
        drawing.line(x(low), y, x(high), y, CORRECTED, stroke_width=7, stroke_opacity=0.3)
        ends = x(row.score.observed), y, x(row.score.corrected), y
        drawing.line(*ends, MUTED, stroke_width=1.5)
        for kind, look in _LOOKS.items():
            value = getattr(row.score, kind)
            drawing.mark(**look, x=x(value), y=y, told=shared.described(name, {kind: value}))
    drawing.legend(_LOOKS, 0, -14)
    notes = shared.left_out(len(rows), len(chosen), "labels", "the most frequent ones")
    if has_intervals:
        notes.append("Broad line: interval of the corrected score.")
    notes += shared.undefined(sum(not isfinite(value) for value in values), "value")
    corrected = dict(zip(names, (row.score.corrected for row in chosen), strict=True))
    finding = shared.extremes(corrected, "Corrected agreement", "label")
    return Chart("labels", title, notes, finding, drawing)


def systems_chart(rows: Sequence[SystemRow]) -> Chart:
    """Draw scores of systems before and after correction; a changed rank is a bold line.

    Parameters
    ----------
    rows : sequence of SystemRow
        With more than 40, the 40 that rank first after correction are drawn.

    Examples
    --------
    >>> from beyondchance import example, rank
    >>> from beyondchance.reporting.commands.rank import system_rows
    >>> systems_chart(system_rows(rank(example(), gold="ada"), "token")).description
    'Correction changes 0 of 2 ranks.'
    """
    title = "Ranks before and after correction"
    # Those that have both scores have both ranks.
    known = [row for row in rows if isfinite(row.score.observed + row.score.corrected)]
    chosen = sorted(known, key=lambda row: row.rank_corrected or 0)[: shared.MOST_ROWS]
    notes = shared.left_out(len(known), len(chosen), "ranks", "the first after correction")
    notes += shared.undefined(len(rows) - len(known), "score")
    if not chosen:
        return shared.nothing("systems", title, "none has both scores", notes)
    names = shared.shown_names([row.shown for row in chosen], length=20)
    scores = {kind: [getattr(row.score, kind) for row in chosen] for kind in _SIDES}
    ends = [value for values in scores.values() for value in values]
    gap = (max(ends) - min(ends) or 0.1) / max(8, len(chosen))
    places = {kind: spread(values, gap=gap) for kind, values in scores.items()}
    ends += [place for values in places.values() for place in values]
    drawing = Drawing(round((max(ends) - min(ends)) / gap + 1) * 18, 170)
    y = scale(min(ends) - gap / 2, max(ends) + gap / 2, drawing.height, 0)
    for kind, (share, _) in _SIDES.items():
        drawing.line(drawing.width * share, 0, drawing.width * share, drawing.height, GRID)
        drawing.text(drawing.width * share, -12, kind, anchor="middle", is_bold=True)
    moves = [(row.rank_observed or 0) - (row.rank_corrected or 0) for row in chosen]
    # Those that move are drawn last, and so on top.
    for number in sorted(range(len(chosen)), key=lambda number: moves[number] != 0):
        move, name = moves[number], [*names][number]
        look: Any = {"stroke": ACCENT, "stroke_width": 2.5}
        if not move:
            look = {"stroke": CHANCE, "stroke_width": 1.5, "stroke_dasharray": "4,3"}
        told = shared.described(name, {kind: scores[kind][number] for kind in _SIDES})
        ranks = f" {'▲' if move > 0 else '▼'}{abs(move)}" if move else ""
        start, stop = (y(scores[kind][number]) for kind in _SIDES)
        drawing.line(0, start, drawing.width, stop, **look, told=told)
        for kind, (share, anchor) in _SIDES.items():
            value, place = scores[kind][number], y(places[kind][number])
            x, away = drawing.width * share, 9 if share else -9
            drawing.line(x, y(value), x + away, place, MUTED, stroke_width=0.75)
            drawing.mark("circle", x, y(value), size=3.5, fill=look["stroke"], told=told)
            shown = shared.shown_number(value)
            text = f"{getattr(chosen[number], f'rank_{kind}')}. {name}"
            text = f"{shown}\u2002{text}{ranks}" if share else f"{text}\u2002{shown}"
            words: Any = {"anchor": anchor, "is_bold": bool(move), "told": names[name]}
            drawing.text(x + away * 4 / 3, place, text, **words)
    if any(moves):
        notes.insert(0, "Bold: the rank changes, by as many places as the arrow says.")
    finding = f"Correction changes {sum(map(bool, moves))} of {len(chosen)} ranks."
    return Chart("systems", title, notes, finding, drawing)


def spread(targets: Sequence[float], *, gap: float) -> list[float]:
    """Return places as near to their targets as possible, with a gap between any two.

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


def coefficients_chart(coefficients: Mapping[str, float], *, ours: str) -> Chart:
    """Draw values of coefficients, ours as a large diamond with a bold number.

    Examples
    --------
    >>> values = {"corrected F1": 0.7, "kappa": 0.6}
    >>> coefficients_chart(values, ours="corrected F1").description
    'Coefficients range from 0.600 (kappa) to 0.700 (corrected F1).'
    """
    title = "The same annotations under other coefficients"
    names = shared.shown_names(coefficients, length=40)
    values = dict(zip(names, coefficients.values(), strict=True))
    known = {name: value for name, value in values.items() if isfinite(value)}
    missing = [name for name in names if name not in known]
    notes = [f"Undefined here, and so not drawn: {in_list(missing)}."] if missing else []
    if not known:
        return shared.nothing("coefficients", title, "no coefficient is defined", notes)
    drawing = Drawing(20 * len(known))
    x = shared.score_axis(drawing, known.values(), "value")
    for y, name in drawing.rows({name: names[name] for name in known}):
        is_ours, shown = name == ours, shared.shown_number(known[name])
        look: Any = {"shape": "circle", "size": 4.5, "fill": CHANCE}
        if is_ours:
            look = {"shape": "diamond", "size": 7, "fill": CORRECTED}
        drawing.mark(**look, x=x(known[name]), y=y, told=f"{name}: {shown}")
        drawing.text(drawing.width + 8, y, shown, is_bold=is_ours)
    least, most = shared.ends(known)
    low, high = (shared.shown_number(known[name]) for name in (least, most))
    finding = f"Coefficients range from {low} ({least}) to {high} ({most})."
    return Chart("coefficients", title, notes, finding, drawing)
