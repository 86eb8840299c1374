"""Charts of scores: by label, by system and by coefficient."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from math import isfinite
from typing import Any

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import ACCENT, CHANCE, CORRECTED, INK, MUTED, OBSERVED
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import in_list
from beyondchance.reporting.breakdown import Row
from beyondchance.reporting.commands.rank import SystemRow
from beyondchance.results.resampling import SCORES


def labels_chart(rows: Sequence[Row]) -> Any:
    """Observed and corrected agreement of each label joined by a line, with chance.

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
        return shared.nothing(title, "there is no label")
    alt = altair()
    names = shared.shown_names([row.shown for row in chosen])
    scores = {name: row.score for name, row in zip(names, chosen, strict=True)}
    intervals = [row.intervals.get("corrected") for row in chosen]
    marks: list[dict[str, Any]] = [
        {
            "name": name,
            "what": kind,
            "value": float(getattr(score, kind)),
            "description": shared.described(name, {kind: getattr(score, kind)}),
        }
        for name, score in scores.items()
        for kind in SCORES
        if isfinite(getattr(score, kind))
    ]
    joined = [
        {"name": name, "from": float(score.observed), "to": float(score.corrected)}
        for name, score in scores.items()
        if isfinite(score.observed) and isfinite(score.corrected)
    ]
    sure = [
        {"name": name, "from": interval.low, "to": interval.high}
        for name, interval in zip(names, intervals, strict=True)
        if interval is not None and isfinite(interval.low)
    ]
    y = shared.name_axis(names)
    scale = shared.score_scale([mark["value"] for mark in marks] + [end["from"] for end in sure])
    ends = {"x": alt.X("from:Q", scale=scale), "x2": "to:Q", "y": y}
    colours = alt.Scale(domain=SCORES, range=[OBSERVED, CHANCE, CORRECTED])
    shapes = alt.Scale(domain=SCORES, range=["circle", "triangle-up", "diamond"])
    points = (
        shared.plot(marks, width=shared.WIDTH, height=alt.Step(24 if sure else 20))
        .mark_point(filled=True, size=75, opacity=1)
        .encode(
            x=alt.X("value:Q", title="agreement", scale=scale, axis=alt.Axis(tickCount=6)),
            y=y,
            color=alt.Color("what:N", title=None, scale=colours),
            shape=alt.Shape("what:N", title=None, scale=shapes),
            description="description:N",
        )
    )
    lines = shared.plot(joined).mark_rule(color=MUTED, strokeWidth=1.5, aria=False).encode(**ends)
    ranges = (
        shared.plot(sure).mark_rule(color=CORRECTED, strokeWidth=1.5, yOffset=7, aria=False)
    ).encode(**ends)
    notes = shared.left_out(len(rows), len(chosen), "labels", "the most frequent ones")
    if sure:
        notes.append("Thin line: interval of the corrected score.")
    notes += shared.undefined(3 * len(chosen) - len(marks), "value")
    corrected = {name: score.corrected for name, score in scores.items()}
    finding = shared.extremes(corrected, "Corrected agreement", "label")
    return shared.finished(alt.layer(ranges, lines, points), title, notes, finding)


def systems_chart(rows: Sequence[SystemRow]) -> Any:
    """Scores of systems before and after correction; a changed rank is a bold line.

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
        return shared.nothing(title, "none has both scores", notes)
    alt = altair()
    names = shared.shown_names([row.shown for row in chosen], length=20)
    before = [row.score.observed for row in chosen]
    after = [row.score.corrected for row in chosen]
    ends = [*before, *after]
    extent = max(ends) - min(ends) or 0.1
    gap = extent / max(8, len(chosen))
    sides = {0.0: spread(before, gap=gap), 1.0: spread(after, gap=gap)}
    places = [*ends, *sides[0.0], *sides[1.0]]
    low, high = min(places) - gap / 2, max(places) + gap / 2
    height = round((high - low) / gap * 18)
    lines, labels = [], []
    for number, (name, row) in enumerate(zip(names, chosen, strict=True)):
        rise = (row.rank_observed or 0) - (row.rank_corrected or 0)
        scores = {"observed": before[number], "corrected": after[number]}
        description = shared.described(name, scores)
        moved = f" {'▲' if rise > 0 else '▼'}{abs(rise)}" if rise else ""
        for side, rank, value in (
            (0.0, row.rank_observed, before[number]),
            (1.0, row.rank_corrected, after[number]),
        ):
            score = shared.shown_number(value)
            place = sides[side][number]
            text = f"{score}\u2002{rank}. {name}{moved}" if side else f"{rank}. {name}\u2002{score}"
            common = {"number": number, "moved": bool(rise)}
            lines.append({**common, "side": side, "value": value, "description": description})
            label = {"side": side, "value": value, "place": place, "shown": text}
            labels.append({**common, **label, "end": side + (0.05 if side else -0.05)})
    axis = alt.Axis(
        orient="top",
        values=[0, 1],
        labelExpr="datum.value == 0 ? 'observed' : 'corrected'",
        labelFontWeight="bold",
        grid=True,
    )
    x = alt.X("side:Q", title=None, scale=alt.Scale(domain=[0, 1], nice=False), axis=axis)
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
    finding = f"Correction changes {n_moved} of {len(chosen)} ranks."
    return shared.finished(alt.layer(*layers), title, notes, finding)


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


def coefficients_chart(coefficients: Mapping[str, float], *, ours: str) -> Any:
    """Values of coefficients side by side, ours as a large diamond with a bold number.

    Examples
    --------
    >>> values = {"corrected F1": 0.7, "kappa": 0.6}
    >>> coefficients_chart(values, ours="corrected F1").description
    'Coefficients range from 0.600 (kappa) to 0.700 (corrected F1).'
    """
    title = "The same annotations under other coefficients"
    names = dict(zip(coefficients, shared.shown_names(coefficients, length=40), strict=True))
    values: list[dict[str, Any]] = [
        {
            "name": names[name],
            "value": float(value),
            "is_ours": name == ours,
            "shown": shared.shown_number(value),
            "description": f"{names[name]}: {shared.shown_number(value)}",
        }
        for name, value in coefficients.items()
        if isfinite(value)
    ]
    missing = [names[name] for name, value in coefficients.items() if not isfinite(value)]
    notes = [f"Undefined here, and so not drawn: {in_list(missing)}."] if missing else []
    if not values:
        return shared.nothing(title, "no coefficient is defined", notes)
    alt = altair()
    scale = shared.score_scale([value["value"] for value in values])
    drawn = [value["name"] for value in values]
    layers = []
    for is_ours in (False, True):
        those = [value for value in values if value["is_ours"] == is_ours]
        if not those:
            continue
        base = shared.plot(those, width=shared.WIDTH, height=alt.Step(20)).encode(
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
            shared.numbers_column(those, names=drawn, fontWeight=weight),
        ]
    by_value = sorted(values, key=lambda value: value["value"])
    least, most = by_value[0], by_value[-1]
    finding = (
        f"Coefficients range from {least['shown']} ({least['name']}) to {most['shown']} "
        f"({most['name']})."
    )
    return shared.finished(alt.layer(*layers), title, notes, finding)
