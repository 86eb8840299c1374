"""Draw charts of annotators: pairs, periods, how they differ, and how much each marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import inf, isfinite, log, nan
from typing import Any

import numpy as np

from beyondchance.diagnosis.periods import Periods
from beyondchance.numbers import in_digits
from beyondchance.page.charts import shared
from beyondchance.page.svg import (
    INK,
    KIND_COLOURS,
    MUTED,
    OBSERVED,
    Chart,
    Drawing,
    ink_on,
    ramp,
    width_of,
)
from beyondchance.reporting.blocks import counted, in_list

MOST_ANNOTATORS = 30
_TICKS = {
    3: (0.5, 0.8, 1, 1.25, 2),
    20: (0.1, 0.2, 0.5, 1, 2, 5, 10),
    inf: (0.001, 0.01, 0.1, 1, 10, 100, 1000),
}
"""Ticks of a scale of ratios, by what it reaches at most."""


def pairs_chart(annotators: Sequence[str], pairs: Mapping[tuple[str, str], float]) -> Chart:
    """Draw the corrected agreement of each pair of annotators, as a matrix with its numbers.

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
        return shared.nothing("pairs", title, "there are no two annotators")
    names = shared.shown_names(chosen, length=18)
    shown = list(names)
    found = {
        (row, column): float(pairs.get((a, b), pairs.get((b, a), nan)))
        for row, b in enumerate(chosen)
        for column, a in enumerate(chosen[:row])
    }
    known = {place: value for place, value in found.items() if isfinite(value)}
    low = min(0.0, *known.values(), 0.0)
    n = len(chosen) - 1
    wide = min(56, max(24, 300 // n))
    high = min(wide, 32)
    drawing = Drawing(high * n, wide * n)
    for (row, column), value in known.items():
        told = f"{shown[column]} and {shown[row]}: {shared.shown_number(value)}"
        _draw_cell(drawing, (column * wide, (row - 1) * high, wide, high), value, low, told)
    rows = {name: names[name] for name in shown[1:]}
    for name, (middle, _) in zip(shown, drawing.rows(rows), strict=False):
        place = middle * wide / high, high * n + 10
        drawing.text(*place, name, anchor="end", turn=-40, told=names[name])
    drawing.line(0, high * n, wide * n, high * n, MUTED)
    notes = shared.left_out(len(annotators), len(chosen), "annotators", "the first ones")
    notes += shared.undefined(len(found) - len(known), "pair")
    values = {f"{shown[a]} and {shown[b]}": value for (b, a), value in found.items()}
    finding = shared.extremes(values, "Corrected agreement", "pair")
    return Chart("pairs", title, notes, finding, drawing)


def _draw_cell(
    drawing: Drawing, box: tuple[float, float, float, float], value: float, low: float, told: str
) -> None:
    """Draw a cell of a matrix, from dark for `low` to bright for 1, with its number."""
    (x, y, wide, high), colour = box, ramp((value - low) / (1 - low))
    drawing.rect(*box, fill=colour, told=told)
    look: Any = {"size": 12 if wide > 34 else 9, "fill": ink_on(colour)}
    drawing.text(x + wide / 2, y + high / 2, in_digits(value, 2), anchor="middle", **look)


def periods_chart(
    found: Periods,
    annotators: Sequence[str],
    *,
    name: str = "periods",
    most: int = MOST_ANNOTATORS,
    others: str = "the others",
) -> Chart:
    """Draw the agreement of annotators with others in each period, as a matrix.

    A line stands where somebody changed.

    Parameters
    ----------
    found : Periods
    annotators : sequence of str
        In the order of the matrix.
    name : str
        Of the chart.
    most : int
        Periods that are drawn at most: the last ones.
    others : str
        Those with whom each is compared.

    Examples
    --------
    >>> found = Periods(
    ...     field="week",
    ...     periods=("1", "2"),
    ...     annotators=("ada",),
    ...     corrected=np.array([[0.75, 0.5]]),
    ...     n_documents=np.array([[4, 4]]),
    ... )
    >>> periods_chart(found, ["ada"]).description
    'Corrected agreement is highest for ada, 1 (0.750) and lowest for ada, 2 (0.500).'
    """
    title = f"Corrected agreement of each with {others}, by {found.field}"
    periods = found.periods[-most:]
    rows = [found.annotators.index(who) for who in annotators[:MOST_ANNOTATORS]]
    names = shared.shown_names([found.annotators[row] for row in rows], length=18)
    columns = shared.shown_names(periods, length=12)
    if not rows or not periods:
        return shared.nothing(name, title, "there is no period")
    first, high = len(found.periods) - len(periods), 28
    wide = 40 if len(rows) > 1 else high
    drawing = Drawing(high * len(rows), wide * len(periods))
    low = min(0.0, float(np.nanmin(found.corrected, initial=0)))
    values: dict[str, float] = {}
    for row, (middle, who) in zip(rows, drawing.rows(names), strict=True):
        y = middle - high / 2
        for column, period in enumerate(columns):
            said, place = f"{who}, {period}", (row, first + column)
            value = values[said] = float(found.corrected[place])
            if isfinite(value):
                n = counted(int(found.n_documents[place]), "document")
                said = f"{said}: {shared.shown_number(value)} ({n})"
                _draw_cell(drawing, (column * wide, y, wide, high), value, low, said)
        for change in found.changes:
            x = wide * (found.periods.index(change.since) - first)
            if change.who in {found.annotators[row], " or ".join(found.annotators)} and x > 0:
                drawing.line(x, y, x, y + high, INK, stroke_width=4)
    for column, (period, whole) in enumerate(columns.items()):
        at = (column + 0.5) * wide, drawing.height + 10
        drawing.text(*at, period, anchor="end", turn=-40, told=whole)
    drawing.line(0, drawing.height, drawing.width, drawing.height, MUTED)
    notes = shared.left_out(len(annotators), len(rows), "annotators", "the first ones")
    notes += shared.left_out(len(found.periods), len(periods), "periods", "the last ones")
    if found.changes:
        notes.append("At a thick line agreement changed.")
    notes += shared.undefined(sum(not isfinite(value) for value in values.values()), "cell")
    finding = shared.extremes(values, "Corrected agreement", "cell")
    return Chart(name, title, notes, finding, drawing)


def kinds_chart(
    by_pair: Mapping[tuple[str, str], Mapping[str, int]], names: Mapping[str, str] | None = None
) -> Chart:
    """Draw the kinds of agreement and disagreement of each pair, as shares of one bar.

    Parameters
    ----------
    by_pair : mapping of (str, str) to mapping of str to int
        How often each kind of `KIND_COLOURS` occurs between two annotators. Drawn in
        this order; of more than 40, those 40 with most cases.
    names : mapping of str to str, optional
        The kinds in words, where these are others.

    Examples
    --------
    >>> kinds_chart({("ada", "ben"): {"agree": 3, "label": 1}}).description
    'Of 4 spans or pairs of spans, 3 agree; the most frequent difference is label (1).'
    """
    title = "How annotators differ, pair by pair"
    known = [pair for pair, counts in by_pair.items() if sum(counts.values())]
    most = sorted(known, key=lambda pair: -sum(by_pair[pair].values()))[: shared.MOST_ROWS]
    chosen = [pair for pair in known if pair in most]
    notes = shared.left_out(len(known), len(chosen), "pairs", "those with most cases")
    if len(by_pair) > len(known):
        notes.append(f"{counted(len(by_pair) - len(known), 'pair')} without any span: not drawn.")
    if not chosen:
        return shared.nothing("kinds", title, "there is no pair with a span", notes)
    spoken = [(names or {}).get(kind, kind) for kind in KIND_COLOURS]
    kinds = dict(zip(KIND_COLOURS, shared.shown_names(spoken), strict=True))
    pairs = shared.shown_names(chosen, length=14)
    drawing = Drawing(26 * len(pairs))
    percent: Any = {share: f"{share}%" for share in range(0, 101, 20)}
    drawing.x_axis(0, 100, "share of all spans, paired or alone", percent)
    for (y, name), pair in zip(drawing.rows(pairs), chosen, strict=True):
        _draw_bar(drawing, y, name, by_pair[pair], kinds)
    drawing.legend({kinds[kind]: {"fill": colour} for kind, colour in KIND_COLOURS.items()}, 0, -28)
    total = sum((Counter(by_pair[pair]) for pair in chosen), Counter[str]())
    finding = (
        f"Of {sum(total.values()):,} spans or pairs of spans, {total['agree']:,} agree"
        f"{_most_frequent(total, kinds)}."
    )
    return Chart("kinds", title, notes, finding, drawing)


def _most_frequent(total: Mapping[str, int], names: Mapping[str, str]) -> str:
    differences = {
        kind: total[kind] for kind in KIND_COLOURS if kind != "agree" and total.get(kind)
    }
    if not differences:
        return ""
    kind = max(differences, key=differences.__getitem__)
    return f"; the most frequent difference is {names[kind]} ({differences[kind]:,})"


def _draw_bar(
    drawing: Drawing, y: float, name: str, counts: Mapping[str, int], names: Mapping[str, str]
) -> None:
    """Draw the parts of one bar from left to right, each with as much text as it has room for."""
    total, x = sum(counts.values()), 0.0
    for kind in sorted(counts, key=[*KIND_COLOURS].index):
        count, colour = counts[kind], KIND_COLOURS[kind]
        width = drawing.width * count / total
        if count:
            told = f"{name}: {names[kind]} {count:,} of {total:,}"
            drawing.rect(x, y - 12, width, 24, fill=colour, told=told)
        texts = (f"{names[kind]} {count:,}", f"{count:,}")
        for text in [text for text in texts if width_of(text, 11) + 2 < width][:1]:
            drawing.text(x + width / 2, y, text, anchor="middle", size=11, fill=ink_on(colour))
        x += width


def habits_chart(ratios: Mapping[str, float], *, beside: str = "the others") -> Chart:
    """Draw how much each annotator marks, compared with the others, as a dot next to a line at 1.

    Parameters
    ----------
    ratios : mapping of str to float
        How much each annotator marks for each position that the others mark on average. Drawn
        in this order. A ratio of 0 has no place on the scale and is named instead.
    beside : str
        The annotators that they are compared with.

    Examples
    --------
    >>> habits_chart({"ada": 2, "ben": 0.5}).description
    'ada marks most (2.00 times as much as the others), ben least (0.50 times).'
    """
    title = f"How much each annotator marks, compared with {beside}"
    names = shared.shown_names(list(ratios)[: shared.MOST_ROWS])
    chosen = dict(zip(names, ratios.values(), strict=False))
    drawn = {name: ratio for name, ratio in chosen.items() if isfinite(ratio) and ratio > 0}
    notes = shared.left_out(len(ratios), len(chosen), "annotators", "the first ones")
    silent = [name for name, ratio in chosen.items() if ratio == 0]
    if silent:
        notes.append(f"Marked nothing, and so not drawn: {in_list(silent)}.")
    notes += shared.undefined(len(names) - len(drawn) - len(silent), "annotator")
    if not drawn:
        return shared.nothing("habits", title, "no ratio is defined", notes)
    reach = max(1.25, *(max(ratio, 1 / ratio) for ratio in drawn.values())) * 1.1
    listed = next(ticks for limit, ticks in _TICKS.items() if reach < limit)
    marks = {log(tick): f"{tick:g}" for tick in listed if 1 / reach <= tick}
    drawing = Drawing(20 * len(drawn))
    across = f"marked positions, for each one that {shared.shown_name(beside)} marked"
    x = drawing.x_axis(-log(reach), log(reach), across, marks)
    drawing.line(x(0), 0, x(0), drawing.height, INK)
    for y, name in drawing.rows({name: names[name] for name in drawn}):
        place, shown = x(log(drawn[name])), f"{drawn[name]:.2f}"
        drawing.line(x(0), y, place, y, OBSERVED, stroke_width=2)
        drawing.mark("circle", place, y, fill=OBSERVED, told=f"{name}: {shown}")
        drawing.text(drawing.width + 8, y, shown)
    least, most = shared.ends(drawn)
    finding = f"{most} marks {drawn[most]:.2f} times as much as {beside}."
    if most != least:
        finding = (
            f"{most} marks most ({drawn[most]:.2f} times as much as {beside}), "
            f"{least} least ({drawn[least]:.2f} times)."
        )
    return Chart("habits", title, notes, finding, drawing)
