"""Charts of a report: plain values in, charts of Altair out.

Every chart says in its title what it shows, in its subtitle what it leaves out, and in its
description what there is to see, in a sentence. Names are values of the data and never
part of an expression; long ones are cut. Colours are the few of this module, so that a
page can change them by selectors such as ``[fill="#1b1f24"]``.
"""

from __future__ import annotations

import itertools
from collections import Counter
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass, field
from math import ceil, floor, isfinite, nan
from textwrap import wrap
from typing import Any
from unicodedata import bidirectional

import numpy as np

from beyondchance.numbers import in_digits
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import counted, in_list
from beyondchance.reporting.visible import visible
from beyondchance.types import Floats

INK = "#1b1f24"
"""Text and what must be seen first."""
MUTED = "#59636e"
"""Notes, axes and what stays in the background."""
GRID = "#d8dee4"
OBSERVED = "#0072b2"
CORRECTED = "#d55e00"
CHANCE = "#6e7781"
ACCENT = "#a0357a"
"""What a chart wants to be noticed."""
LINES = (OBSERVED, CORRECTED, "#008564", ACCENT, "#8a6d00", CHANCE)
"""Colours of lines that have names; the dashes differ too."""
SEQUENTIAL = ("#440154", "#414487", "#2a788e", "#22a884", "#7ad151", "#fde725")
"""From little to much, darkest first: viridis."""
KINDS = {
    "agree": "#0070b0",
    "label": "#cc79a7",
    "boundary": "#b87a00",
    "both": "#6d7680",
    "missed": "#d45d00",
    "extra": "#008463",
}
"""Kinds of agreement and disagreement, in the order in which they are drawn. No colour is
that of anything else: with text on them, they stay the same on a dark page."""

WIDTH = 330
"""Pixels of a plot, without what stands beside it."""
MOST_ROWS = 40
"""Labels, systems or pairs that one chart shows at most."""
MOST_ANNOTATORS = 30
MOST_POINTS = 300
"""With more documents than these, a chart counts them in cells."""
MOST_CONTESTED = 50
"""So many documents are still points of their own then."""
CELLS = 25
"""Cells along each side."""
MOST_POSITIONS = 600
"""Positions along one line; of longer texts, that many are drawn."""
SPLIT = 0.825
"""Difficulty from which on the paper calls a text difficult."""

_DASHES = ([1, 0], [6, 3], [2, 2], [8, 3, 2, 3], [4, 4], [1, 3])
_NAME = 24
_DIGITS = 3


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


@dataclass(frozen=True, slots=True, kw_only=True)
class HabitRow:
    """How much one annotator marks for each position that the others mark on average."""

    name: str
    ratio: float


@dataclass(frozen=True, slots=True, kw_only=True)
class SystemRow:
    """One system beside a gold standard, with its rank before and after correction."""

    name: str
    observed: float
    corrected: float
    rank_observed: int | None
    rank_corrected: int | None


@dataclass(frozen=True, slots=True, kw_only=True)
class DocumentPoint:
    """One document; its point leads to ``#document-<number>``, or nowhere without a number.

    `contested` tells which documents are drawn one by one where there are too many: those
    where it is largest, for instance the number of disagreements.
    """

    number: int | None
    name: str
    observed: float
    chance: float
    corrected: float
    difficulty: float
    contested: float = 0.0


@dataclass(frozen=True, slots=True, kw_only=True)
class CoefficientRow:
    """The value of one coefficient; `is_ours` emphasises it."""

    name: str
    value: float
    is_ours: bool = False


@dataclass(frozen=True, slots=True, kw_only=True)
class Curve:
    """Probabilities of all positions of a text, first to last."""

    name: str
    values: Sequence[float]


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRow:
    """How often each kind occurs between two annotators; kinds are those of `KINDS`."""

    a: str
    b: str
    counts: Mapping[str, int] = field(default_factory=dict)


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
    most = sorted(range(len(rows)), key=lambda place: -rows[place].n_spans)[:MOST_ROWS]
    chosen = [rows[place] for place in sorted(most)]
    if not chosen:
        return _nothing(title, "there is no label")
    alt = altair()
    names = shown_names([row.name for row in chosen])
    marks: list[dict[str, Any]] = [
        {"name": name, "what": what, "value": float(value), "told": _told(name, {what: value})}
        for name, row in zip(names, chosen, strict=True)
        for what, value in _three(row)
        if isfinite(value)
    ]
    joined = [
        {"name": name, "from": float(row.observed), "to": float(row.corrected)}
        for name, row in zip(names, chosen, strict=True)
        if isfinite(row.observed) and isfinite(row.corrected)
    ]
    sure = [
        {"name": name, "from": float(row.low), "to": float(row.high)}
        for name, row in zip(names, chosen, strict=True)
        if isfinite(row.low) and isfinite(row.high)
    ]
    y = alt.Y("name:N", title=None, sort=None, scale=alt.Scale(domain=names))
    scale = _score_scale([mark["value"] for mark in marks] + [end["from"] for end in sure])
    ends = {"x": alt.X("from:Q", scale=scale), "x2": "to:Q", "y": y}
    kinds = ["observed", "chance", "corrected"]
    points = (
        _chart(marks, width=WIDTH, height=alt.Step(24 if sure else 20))
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
            description="told:N",
        )
    )
    lines = _chart(joined).mark_rule(color=MUTED, strokeWidth=1.5, aria=False).encode(**ends)
    intervals = (
        _chart(sure).mark_rule(color=CORRECTED, strokeWidth=1.5, yOffset=7, aria=False)
    ).encode(**ends)
    notes = _more(len(rows), len(chosen), "labels", "the most frequent ones")
    if sure:
        notes.append("Thin line: interval of the corrected score.")
    notes += _undefined(3 * len(chosen) - len(marks), "value")
    corrected = {name: row.corrected for name, row in zip(names, chosen, strict=True)}
    finding = _extremes(corrected, "Corrected agreement", "label")
    return _finished(alt.layer(intervals, lines, points), title, notes, finding)


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
        return _nothing(title, "there are no two annotators")
    alt = altair()
    names = dict(zip(chosen, shown_names(chosen, length=18), strict=True))
    found = {
        (b, a): float(pairs.get((a, b), pairs.get((b, a), nan)))
        for place, b in enumerate(chosen)
        for a in chosen[:place]
    }
    known = {pair: value for pair, value in found.items() if isfinite(value)}
    low = min(0.0, *known.values(), 0.0)
    cells = []
    for (row, column), value in known.items():
        colour = _ramp((value - low) / (1 - low))
        told = f"{names[column]} and {names[row]}: {in_digits(value, _DIGITS)}"
        where = {"row": names[row], "column": names[column], "value": value, "told": told}
        cells.append(
            {**where, "shown": in_digits(value, 2), "fill": colour, "ink": _ink_on(colour)}
        )
    rows, columns = [names[name] for name in chosen[1:]], [names[name] for name in chosen[:-1]]
    step = min(56, max(24, WIDTH // len(rows)))
    base = _chart(cells, width=alt.Step(step), height=alt.Step(min(step, 32))).encode(
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
        description="told:N",
    )
    squares = base.mark_rect().encode(fill=alt.Fill("fill:N", scale=None))
    numbers = base.mark_text(fontSize=12 if step > 34 else 9, aria=False).encode(
        text="shown:N", fill=alt.Fill("ink:N", scale=None)
    )
    notes = _more(len(annotators), len(chosen), "annotators", "the first ones")
    notes += _undefined(len(found) - len(known), "pair")
    values = {f"{names[a]} and {names[b]}": value for (b, a), value in found.items()}
    finding = _extremes(values, "Corrected agreement", "pair")
    return _finished(alt.layer(squares, numbers), title, notes, finding)


def habits_chart(rows: Sequence[HabitRow], *, beside: str = "the others") -> Any:
    """Who marks more, and who less, than the others: a dot beside the line of 1 for each.

    Parameters
    ----------
    rows : sequence of HabitRow
        Drawn in this order. A ratio of 0 has no place on the scale and is named instead.
    beside : str
        Whom they are compared with.

    Examples
    --------
    >>> habits_chart([HabitRow(name="ada", ratio=2), HabitRow(name="ben", ratio=0.5)]).description
    'ada marks most (2.00 times as much as the others), ben least (0.50 times).'
    """
    title = f"How much each annotator marks beside {beside}"
    chosen = rows[:MOST_ROWS]
    names = shown_names([row.name for row in chosen])
    drawn = {
        name: float(row.ratio)
        for name, row in zip(names, chosen, strict=True)
        if isfinite(row.ratio) and row.ratio > 0
    }
    notes = _more(len(rows), len(chosen), "annotators", "the first ones")
    silent = [name for name, row in zip(names, chosen, strict=True) if row.ratio == 0]
    if silent:
        notes.append(f"Marked nothing, and so not drawn: {in_list(silent)}.")
    notes += _undefined(len(names) - len(drawn) - len(silent), "annotator")
    if not drawn:
        return _nothing(title, "no ratio is defined", notes)
    alt = altair()
    reach = max(1.25, *(max(ratio, 1 / ratio) for ratio in drawn.values())) * 1.1
    values = [
        {"name": name, "ratio": ratio, "shown": f"{ratio:.2f}", "told": f"{name}: {ratio:.2f}"}
        for name, ratio in drawn.items()
    ]
    base = _chart(values, width=WIDTH, height=alt.Step(20)).encode(
        x=alt.X(
            "ratio:Q",
            title=f"marked positions, for each one that {beside} marked",
            scale=alt.Scale(type="log", domain=[1 / reach, reach], nice=False),
            axis=alt.Axis(values=_log_ticks(reach), format="~g"),
        ),
        y=alt.Y("name:N", title=None, sort=None, scale=alt.Scale(domain=list(drawn))),
    )
    one = _chart([{"one": 1}]).mark_rule(color=INK, aria=False).encode(x="one:Q")
    stems = base.mark_rule(color=OBSERVED, strokeWidth=2, aria=False).encode(x2=alt.datum(1))
    dots = base.mark_point(filled=True, size=75, color=OBSERVED, opacity=1)
    layers = alt.layer(one, stems, dots.encode(description="told:N"), _column(values, names=drawn))
    most, least = max(drawn, key=drawn.__getitem__), min(drawn, key=drawn.__getitem__)
    finding = f"{most} marks {drawn[most]:.2f} times as much as {beside}."
    if most != least:
        finding = (
            f"{most} marks most ({drawn[most]:.2f} times as much as {beside}), "
            f"{least} least ({drawn[least]:.2f} times)."
        )
    return _finished(layers, title, notes, finding)


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
        if isfinite(row.observed)
        and isfinite(row.corrected)
        and row.rank_observed is not None
        and row.rank_corrected is not None
    ]
    chosen = sorted(known, key=lambda row: row.rank_corrected or 0)[:MOST_ROWS]
    notes = _more(len(known), len(chosen), "systems", "the first after correction")
    notes += _undefined(len(rows) - len(known), "system")
    if not chosen:
        return _nothing(title, "no system has both scores", notes)
    alt = altair()
    names = shown_names([row.name for row in chosen], length=20)
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
        told = _told(name, {"observed": row.observed, "corrected": row.corrected})
        moved = f" {'▲' if rise > 0 else '▼'}{abs(rise)}" if rise else ""
        for side, rank, value in (
            (0.0, row.rank_observed, float(row.observed)),
            (1.0, row.rank_corrected, float(row.corrected)),
        ):
            score = in_digits(value, _DIGITS)
            place = sides[side][number]
            text = f"{score}\u2002{rank}. {name}{moved}" if side else f"{rank}. {name}\u2002{score}"
            common = {"number": number, "moved": bool(rise)}
            lines.append({**common, "side": side, "value": value, "told": told})
            beside = {"side": side, "value": value, "place": place, "shown": text}
            labels.append({**common, **beside, "end": side + (0.05 if side else -0.05)})
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
        base = _chart(ours, width=170, height=height).encode(x=x, y=y)
        layers += [
            base.mark_line(color=colour, **stroke).encode(detail="number:N", description="told:N"),
            base.mark_point(filled=True, color=colour, size=40, opacity=1).encode(
                description="told:N"
            ),
        ]
        layers += _side_labels([line for line in labels if line["moved"] == is_moved], scale)
    if any(line["moved"] for line in lines):
        notes.insert(0, "Bold: the rank changes, by as many places as the arrow says.")
    n_moved = sum(row.rank_observed != row.rank_corrected for row in chosen)
    finding = f"Correction changes the rank of {n_moved or 'no'} system{'s' * (n_moved > 1)} of "
    return _finished(alt.layer(*layers), title, notes, f"{finding}{len(chosen)}.")


def _side_labels(labels: list[dict[str, Any]], scale: Any) -> list[Any]:
    """Names on both sides, each joined to its point."""
    alt = altair()
    layers = []
    for side, align, shift in ((0.0, "right", -3), (1.0, "left", 3)):
        ours = [label for label in labels if label["side"] == side]
        weight = "bold" if ours[0]["moved"] else "normal"
        layers += [
            _chart(ours)
            .mark_rule(color=MUTED, strokeWidth=0.75, aria=False)
            .encode(
                x=alt.X("side:Q", title=None),
                x2="end:Q",
                y=alt.Y("value:Q", axis=None, scale=scale),
                y2="place:Q",
            ),
            _chart(ours)
            .mark_text(align=align, dx=shift, fontWeight=weight, color=INK, aria=False)
            .encode(
                x=alt.X("end:Q", title=None),
                y=alt.Y("place:Q", axis=None, scale=scale),
                text="shown:N",
            ),
        ]
    return layers


def documents_chart(points: Sequence[DocumentPoint]) -> Any:
    """Chance against observed agreement of documents, coloured by difficulty.

    Each point leads to its document. With more than 300 documents all are counted in
    cells, and the 50 most contested ones are points on top.

    Examples
    --------
    >>> point = DocumentPoint(
    ...     number=1, name="d", observed=0.9, chance=0.2, corrected=0.875, difficulty=0.8
    ... )
    >>> documents_chart([point]).description
    'Of 1 document, 1 lies above the line where agreement is what chance gives.'
    """
    title = "Documents: agreement observed and expected by chance"
    known = [point for point in points if isfinite(point.observed) and isfinite(point.chance)]
    notes = _undefined(len(points) - len(known), "document")
    if not known:
        return _nothing(title, "no document has a score", notes)
    alt = altair()
    is_many = len(known) > MOST_POINTS
    drawn = sorted(known, key=lambda point: -point.contested)[:MOST_CONTESTED] if is_many else known
    right = ceil(max(point.chance for point in known) * 5) / 5 or 0.2
    x = alt.X(
        "chance:Q",
        title="expected by chance",
        scale=alt.Scale(domain=[0, right], nice=False),
    )
    y = alt.Y("observed:Q", title="observed", scale=alt.Scale(domain=[0, 1], nice=False))
    ends = [{"chance": end, "observed": end} for end in (0, right)]
    diagonal = (
        _chart(ends, width=WIDTH, height=WIDTH)
        .mark_line(color=MUTED, strokeDash=[5, 4], strokeWidth=1.5, aria=False)
        .encode(x=x, y=y)
    )
    values = [_point(point, name) for point, name in zip(drawn, _own_names(drawn), strict=True)]
    base = _chart(values).encode(x=x, y=y, description="told:N")
    if any(value["href"] for value in values):
        base = base.encode(href="href:N")
    look = {"filled": True, "size": 55, "opacity": 1, "stroke": INK, "strokeWidth": 0.8}
    layers = [diagonal]
    if is_many:
        layers.insert(0, _cells(known, x, y, right=right))
        notes.insert(
            0,
            f"All {len(known):,} documents are counted in cells; the {len(drawn)} most contested "
            "ones are points.",
        )
    if any(value["difficulty"] is not None for value in values):
        colour = alt.Color(
            "difficulty:Q",
            title="difficulty",
            scale=alt.Scale(domain=[0, 1], range=list(SEQUENTIAL), interpolate="rgb"),
            legend=alt.Legend(orient="bottom", direction="horizontal", gradientLength=140),
        )
        layers.append(base.mark_point(**look).encode(color=colour))
    else:
        layers.append(base.mark_point(**look, color=OBSERVED))
    chart = alt.layer(*layers).resolve_scale(color="independent")
    above = sum(point.observed > point.chance for point in known)
    finding = (
        f"Of {counted(len(known), 'document')}, {above:,} {'lies' if above == 1 else 'lie'} above "
        "the line where agreement is what chance gives."
    )
    return _finished(chart, title, ["Dashed: observed = chance.", *notes], finding)


def _own_names(points: Sequence[DocumentPoint]) -> list[str]:
    return [shown_name(point.name, length=60) for point in points]


def _point(point: DocumentPoint, name: str) -> dict[str, Any]:
    numbers = {
        "observed": point.observed,
        "chance": point.chance,
        "corrected": point.corrected,
        "difficulty": point.difficulty,
    }
    return {
        "chance": float(point.chance),
        "observed": float(point.observed),
        "difficulty": float(point.difficulty) if isfinite(point.difficulty) else None,
        "href": None if point.number is None else f"#document-{point.number}",
        "told": _told(name, numbers),
    }


def _cells(points: Sequence[DocumentPoint], x: Any, y: Any, *, right: float) -> Any:
    """Documents counted in cells of a grid; the more, the less a cell lets through."""
    alt = altair()
    counts, edges, levels = np.histogram2d(
        [point.chance for point in points],
        [point.observed for point in points],
        bins=CELLS,
        range=[[0, right], [0, 1]],
    )
    cells = [
        {
            "chance": float(edges[column]),
            "right": float(edges[column + 1]),
            "observed": float(levels[row]),
            "top": float(levels[row + 1]),
            "count": int(counts[column, row]),
            "told": counted(int(counts[column, row]), "document"),
        }
        for column, row in np.argwhere(counts).tolist()
    ]
    return (
        _chart(cells)
        .mark_rect(fill=OBSERVED)
        .encode(
            x=x,
            x2="right:Q",
            y=y,
            y2="top:Q",
            opacity=alt.Opacity(
                "count:Q",
                title="documents",
                scale=alt.Scale(type="log", range=[0.2, 0.9], nice=False),
                legend=alt.Legend(orient="bottom", direction="horizontal", symbolType="square"),
            ),
            description="told:N",
        )
    )


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
    title = "Difficulty: how unlikely agreement by luck is"
    known = np.asarray([value for value in values if isfinite(value)], dtype=np.float64)
    notes = _undefined(len(values) - len(known), "text")
    if not len(known):
        return _nothing(title, "no difficulty is defined", notes)
    alt = altair()
    edges = np.arange(41) / 40
    counts, _ = np.histogram(known, bins=edges)
    bars = [
        {
            "low": float(left),
            "high": float(right),
            "count": int(count),
            "told": f"{counted(int(count), 'text')} from {left:.3f} to {right:.3f}",
        }
        for left, right, count in zip(edges[:-1], edges[1:], counts, strict=True)
        if count
    ]
    hard = int(np.count_nonzero(known >= split))
    shares = (
        {"split": split, "shown": f"{len(known) - hard:,} easier", "align": "right"},
        {"split": split, "shown": f"{hard:,} difficult", "align": "left"},
    )
    x = alt.X("low:Q", title="difficulty", scale=alt.Scale(domain=[0, 1], nice=False))
    histogram = (
        _chart(bars, width=WIDTH, height=170)
        .mark_bar(color=OBSERVED, binSpacing=1)
        .encode(
            x=x,
            x2="high:Q",
            y=alt.Y("count:Q", title="texts", axis=_whole_ticks(int(counts.max()))),
            y2=alt.datum(0),
            description="told:N",
        )
    )
    rule = (
        _chart([{"split": split}])
        .mark_rule(color=INK, strokeWidth=1.5, strokeDash=[5, 3], aria=False)
        .encode(x="split:Q")
    )
    texts = [
        _chart([share])
        .mark_text(
            align=share["align"],
            dx=5 if share["align"] == "left" else -5,
            y=-8,
            color=INK,
            aria=False,
        )
        .encode(x="split:Q", text="shown:N")
        for share in shares
    ]
    notes.insert(0, f"Dashed: the split at {split:g}{' of the paper' if split == SPLIT else ''}.")
    finding = (
        f"Of {counted(len(known), 'text')}, {hard:,} {'is' if hard == 1 else 'are'} at least as "
        f"difficult as the split at {split:g}."
    )
    return _finished(alt.layer(histogram, rule, *texts), title, notes, finding)


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
    names = shown_names([row.name for row in rows], length=40)
    values: list[dict[str, Any]] = [
        {
            "name": name,
            "value": float(row.value),
            "is_ours": row.is_ours,
            "shown": in_digits(row.value, _DIGITS),
            "told": f"{name}: {in_digits(row.value, _DIGITS)}",
        }
        for name, row in zip(names, rows, strict=True)
        if isfinite(row.value)
    ]
    missing = [name for name, row in zip(names, rows, strict=True) if not isfinite(row.value)]
    notes = [f"Undefined here, and so not drawn: {in_list(missing)}."] if missing else []
    if not values:
        return _nothing(title, "no coefficient is defined", notes)
    alt = altair()
    scale = _score_scale([value["value"] for value in values])
    drawn = [value["name"] for value in values]
    layers = []
    for is_ours in (False, True):
        ours = [value for value in values if value["is_ours"] == is_ours]
        if not ours:
            continue
        base = _chart(ours, width=WIDTH, height=alt.Step(20)).encode(
            x=alt.X("value:Q", title="value", scale=scale, axis=alt.Axis(tickCount=6)),
            y=alt.Y(
                "name:N",
                title=None,
                sort=None,
                scale=alt.Scale(domain=drawn),
                axis=alt.Axis(labelLimit=260),
            ),
        )
        look = (
            {"shape": "diamond", "size": 150, "color": CORRECTED}
            if is_ours
            else {"shape": "circle", "size": 65, "color": CHANCE}
        )
        weight = "bold" if is_ours else "normal"
        layers += [
            base.mark_point(filled=True, opacity=1, **look).encode(description="told:N"),
            _column(ours, names=drawn, fontWeight=weight),
        ]
    by_value = sorted(values, key=lambda value: value["value"])
    least, most = by_value[0], by_value[-1]
    finding = (
        f"Coefficients range from {least['shown']} ({least['name']}) to {most['shown']} "
        f"({most['name']})."
    )
    return _finished(alt.layer(*layers), title, notes, finding)


def placement_chart(curves: Sequence[Curve]) -> Any:
    """Probability that each position is marked, where spans fall at random.

    Parameters
    ----------
    curves : sequence of Curve
        A few; of more than six, the first six are drawn.

    Examples
    --------
    >>> placement_chart([Curve(name="ada", values=[0.5, 1.0, 0.5])]).description
    'At random, positions are marked with probabilities from 0.500 to 1.000.'
    """
    title = "Where random spans would fall in these texts"
    known = [curve for curve in curves if len(curve.values)]
    chosen = known[: len(LINES)]
    if not chosen:
        return _nothing(title, "there is no text")
    alt = altair()
    names = shown_names([curve.name for curve in chosen], length=56)
    values: list[dict[str, Any]] = []
    is_thinned = False
    for name, curve in zip(names, chosen, strict=True):
        places = np.arange(len(curve.values))
        if len(places) > MOST_POSITIONS:
            places = np.linspace(0, len(places) - 1, MOST_POSITIONS).round().astype(np.int64)
            is_thinned = True
        values += [
            {"position": place + 1, "probability": float(curve.values[place]), "name": name}
            for place in places.tolist()
            if isfinite(curve.values[place])
        ]
    longest = max(len(curve.values) for curve in chosen)
    scale = alt.Scale(domain=names, range=list(LINES[: len(names)]))
    dashes = alt.Scale(domain=names, range=list(_DASHES[: len(names)]))
    legend = alt.Legend(orient="bottom", columns=1, labelLimit=400, symbolSize=400)
    lines = (
        _chart(values, width=WIDTH + 60, height=200)
        .mark_line(interpolate="step" if longest < 60 else "linear", strokeWidth=2, aria=False)
        .encode(
            x=alt.X(
                "position:Q",
                title="position in the text",
                scale=alt.Scale(domain=[1, max(longest, 2)], nice=False),
                axis=_whole_ticks(longest),
            ),
            y=alt.Y("probability:Q", title="probability to be marked", scale=alt.Scale(zero=True)),
            color=alt.Color("name:N", title=None, sort=None, scale=scale, legend=legend),
            strokeDash=alt.StrokeDash("name:N", title=None, sort=None, scale=dashes, legend=legend),
        )
    )
    notes = _more(len(known), len(chosen), "texts", "the first ones")
    if is_thinned:
        notes.append(f"Of longer texts, {MOST_POSITIONS} positions are drawn.")
    drawn = [value["probability"] for value in values]
    low, high = (in_digits(end, _DIGITS) for end in (min(drawn), max(drawn)))
    finding = f"At random, positions are marked with probabilities from {low} to {high}."
    return _finished(lines, title, notes, finding)


def kinds_chart(rows: Sequence[KindRow]) -> Any:
    """Kinds of agreement and disagreement of each pair, as shares of one bar.

    Parameters
    ----------
    rows : sequence of KindRow
        Drawn in this order; of more than 40, those 40 with most cases.

    Examples
    --------
    >>> kinds_chart([KindRow(a="ada", b="ben", counts={"agree": 3, "label": 1})]).description
    'Of 4 spans or pairs of spans, 3 agree; the most frequent difference is label (1).'
    """
    title = "How annotators differ, pair by pair"
    known = [row for row in rows if sum(row.counts.values())]
    most = sorted(range(len(known)), key=lambda place: -sum(known[place].counts.values()))
    chosen = [known[place] for place in sorted(most[:MOST_ROWS])]
    notes = _more(len(known), len(chosen), "pairs", "those with most cases")
    if len(rows) > len(known):
        notes.append(f"{counted(len(rows) - len(known), 'pair')} without any span: not drawn.")
    if not chosen:
        return _nothing(title, "there is no pair with a span", notes)
    alt = altair()
    names = _distinct(
        f"{shown_name(row.a, length=14)} and {shown_name(row.b, length=14)}" for row in chosen
    )
    parts = [
        part
        for name, row in zip(names, chosen, strict=True)
        for part in _parts_of_bar(name, row.counts)
    ]
    base = _chart(parts, width=WIDTH, height=alt.Step(26)).encode(
        x=alt.X(
            "from:Q",
            title="share of all spans, paired or alone",
            scale=alt.Scale(domain=[0, 1], nice=False),
            axis=alt.Axis(format=".0%", grid=False),
        ),
        y=alt.Y("name:N", title=None, sort=None, scale=alt.Scale(domain=names)),
    )
    colours = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    bars = base.mark_bar().encode(
        x2="to:Q",
        color=alt.Color(
            "kind:N", title=None, scale=colours, legend=alt.Legend(symbolType="square")
        ),
        description="told:N",
    )
    texts = base.mark_text(fontSize=11, aria=False).encode(
        x="middle:Q", text="shown:N", fill=alt.Fill("ink:N", scale=None)
    )
    total: Counter[str] = Counter()
    for row in chosen:
        total.update(row.counts)
    finding = (
        f"Of {sum(total.values()):,} spans or pairs of spans, {total['agree']:,} agree"
        f"{_most_frequent(total)}."
    )
    return _finished(alt.layer(bars, texts), title, notes, finding)


def _most_frequent(total: Mapping[str, int]) -> str:
    differences = {kind: total[kind] for kind in KINDS if kind != "agree" and total.get(kind)}
    if not differences:
        return ""
    kind = max(differences, key=differences.__getitem__)
    return f"; the most frequent difference is {kind} ({differences[kind]:,})"


def _parts_of_bar(name: str, counts: Mapping[str, int]) -> list[dict[str, Any]]:
    """The parts of one bar from left to right, each with as much text as it has room for."""
    total = sum(counts.values())
    parts, done = [], 0
    for kind in sorted(counts, key=[*KINDS].index):
        count = counts[kind]
        if not count:
            continue
        pixels = WIDTH * count / total
        fitting = (
            text for text in (f"{kind} {count:,}", f"{count:,}", "") if 7 * len(text) < pixels
        )
        parts.append(
            {
                "name": name,
                "kind": kind,
                "count": int(count),
                "from": done / total,
                "to": (done + count) / total,
                "middle": (done + count / 2) / total,
                "shown": next(fitting),
                "ink": _ink_on(KINDS[kind]),
                "told": f"{name}: {kind} {count:,} of {total:,}",
            }
        )
        done += count
    return parts


def places_chart(spans: Sequence[int], starts: Sequence[Floats]) -> Any:
    """The paper's first figure: probabilities of all starts, one line for each span."""
    alt = altair()
    values = [
        {"start": start, "probability": probability, "span": f"{number}: {span}"}
        for number, (span, column) in enumerate(zip(spans, starts, strict=True), start=1)
        for start, probability in enumerate(column.tolist())
    ]
    order = [f"{number}: {span}" for number, span in enumerate(spans, start=1)]
    return (
        _chart(values, width=480, height=240)
        .mark_line(interpolate="step-after" if max(map(len, starts)) < 60 else "linear")
        .encode(
            x=alt.X("start:Q", title="start of the span"),
            y=alt.Y("probability:Q", title="probability"),
            color=alt.Color("span:N", title="span: length", sort=order),
            strokeDash=alt.StrokeDash("span:N", title="span: length", sort=order),
        )
    )


def shown_name(name: str, *, length: int = _NAME) -> str:
    """A name as a chart shows it: on one line, cut where it is long.

    Examples
    --------
    >>> shown_name("ada"), shown_name("a" * 50, length=5), shown_name("")
    ('ada', 'aaaa…', '(empty)')
    """
    text = visible(name[: length + 1]).strip() or "(empty)"
    shown = text if len(text) <= length else f"{text[: length - 1]}…"
    is_from_the_right = any(bidirectional(character) in {"R", "AL"} for character in shown)
    # Isolated, so that it does not reorder the numbers beside it.
    return f"\u2068{shown}\u2069" if is_from_the_right else shown


def shown_names(names: Iterable[str], *, length: int = _NAME) -> list[str]:
    """Names as a chart shows them, numbered where two would look the same.

    Examples
    --------
    >>> shown_names(["ada", "b" * 50, "b" * 60], length=4)
    ['ada', 'bbb…', 'bbb… (2)']
    """
    return _distinct(shown_name(name, length=length) for name in names)


def _distinct(texts: Iterable[str]) -> list[str]:
    """Texts, numbered where they were there before.

    >>> _distinct(["a", "b", "a", "a"])
    ['a', 'b', 'a (2)', 'a (3)']
    """
    taken: dict[str, None] = {}
    for text in texts:
        numbered = (f"{text} ({number})" for number in itertools.count(2))
        taken[next(name for name in itertools.chain([text], numbered) if name not in taken)] = None
    return list(taken)


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


def _chart(values: list[dict[str, Any]], **size: Any) -> Any:
    alt = altair()
    return alt.Chart(alt.Data(values=values), **size)


def _column(values: list[dict[str, Any]], *, names: Iterable[str], **look: Any) -> Any:
    """Numbers to the right of a plot, each in the row of its name."""
    alt = altair()
    return (
        _chart(values)
        .mark_text(align="left", x=WIDTH + 8, color=INK, aria=False, **look)
        .encode(y=alt.Y("name:N", title=None, scale=alt.Scale(domain=list(names))), text="shown:N")
    )


def _finished(chart: Any, title: str, notes: Sequence[str], description: str) -> Any:
    """The chart with its words and the look that all charts share."""
    alt = altair()
    lines = [line for note in notes for line in wrap(note, 68)]
    text = alt.TitleParams(text=wrap(title, 56), subtitle=lines or alt.Undefined)
    return chart.properties(title=text, description=description).configure(
        font="sans-serif",
        view={"stroke": None},
        title={
            "anchor": "start",
            "frame": "bounds",
            "fontSize": 14,
            "subtitleFontSize": 12,
            "color": INK,
            "subtitleColor": MUTED,
            "offset": 8,
            "subtitlePadding": 4,
        },
        axis={
            "labelColor": INK,
            "titleColor": INK,
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": 230,
            "labelFlush": False,
            "gridColor": GRID,
            "domainColor": MUTED,
            "tickColor": MUTED,
        },
        legend={
            "orient": "top",
            "offset": 6,
            "gradientStrokeColor": GRID,
            "labelColor": INK,
            "titleColor": INK,
            "titleFontWeight": "normal",
            "labelFontSize": 12,
            "titleFontSize": 12,
            "labelLimit": 230,
        },
        text={"fontSize": 12},
    )


def _nothing(title: str, why: str, notes: Sequence[str] = ()) -> Any:
    """A chart that says why there is none."""
    sentence = f"Nothing to draw: {why}."
    chart = (
        _chart([{"shown": sentence}], width=WIDTH, height=30)
        .mark_text(align="left", x=0, color=INK, aria=False)
        .encode(text="shown:N")
    )
    return _finished(chart, title, notes, sentence)


def _score_scale(values: Iterable[float]) -> Any:
    """From 0 to 1, and further only where a value lies there."""
    known = [value for value in values if isfinite(value)]
    low = floor(min([0.0, *known]) * 5) / 5
    high = ceil(max([1.0, *known]) * 5) / 5
    return altair().Scale(domain=[low, high], nice=False)


def _whole_ticks(most: int) -> Any:
    """An axis of whole numbers; where they are few, each has its tick."""
    alt = altair()
    few = list(range(most + 1))
    return alt.Axis(format=",d", **({"values": few} if most <= 6 else {"tickCount": 6}))


def _log_ticks(reach: float) -> list[float]:
    ticks = (0.001, 0.01, 0.1, 0.2, 0.5, 0.8, 1, 1.25, 2, 5, 10, 100, 1000)
    return [tick for tick in ticks if 1 / reach <= tick <= reach]


def _three(row: LabelRow) -> tuple[tuple[str, float], ...]:
    return (("observed", row.observed), ("chance", row.chance), ("corrected", row.corrected))


def _told(name: str, numbers: Mapping[str, float]) -> str:
    """What the pointer shows: a name and its numbers."""
    said = (
        f"{what} {in_digits(value, _DIGITS) if isfinite(value) else 'undefined'}"
        for what, value in numbers.items()
    )
    return f"{name}: {', '.join(said)}"


def _more(total: int, shown: int, what: str, which: str) -> list[str]:
    return [f"{shown} of {total:,} {what} are drawn: {which}."] if total > shown else []


def _undefined(number: int, what: str) -> list[str]:
    if not number:
        return []
    return [f"{counted(number, what)} {'is' if number == 1 else 'are'} undefined and left out."]


def _extremes(values: Mapping[str, float], what: str, kind: str) -> str:
    """One sentence on the largest and the smallest of some values."""
    known = {name: value for name, value in values.items() if isfinite(value)}
    if not known:
        return f"{what} is undefined for every {kind}."
    most, least = max(known, key=known.__getitem__), min(known, key=known.__getitem__)
    high, low = (in_digits(known[name], _DIGITS) for name in (most, least))
    if len(known) == 1:
        return f"{what} is {high} for the only {kind}, {most}."
    return f"{what} is highest for {most} ({high}) and lowest for {least} ({low})."


def _ramp(share: float) -> str:
    """The colour of `SEQUENTIAL` at a share of the way.

    >>> _ramp(0), _ramp(1)
    ('#440154', '#fde725')
    """
    place = min(max(share, 0.0), 1.0) * (len(SEQUENTIAL) - 1)
    first = min(floor(place), len(SEQUENTIAL) - 2)
    ends = (_channels(SEQUENTIAL[first]), _channels(SEQUENTIAL[first + 1]))
    mixed = (round(low + (high - low) * (place - first)) for low, high in zip(*ends, strict=True))
    return "#" + "".join(f"{channel:02x}" for channel in mixed)


def _ink_on(colour: str) -> str:
    """Black or white, whichever stands out more; neither is a colour that a page changes.

    >>> _ink_on("#fde725"), _ink_on("#440154")
    ('#000000', '#ffffff')
    """
    white, black = contrast(colour, "#ffffff"), contrast(colour, "#000000")
    return "#ffffff" if white >= black else "#000000"


def contrast(one: str, other: str) -> float:
    """How much two colours stand out from one another, from 1 to 21 (WCAG 2).

    Examples
    --------
    >>> contrast("#000000", "#ffffff"), contrast("#123456", "#123456")
    (21.0, 1.0)
    """
    darker, lighter = sorted((_luminance(one), _luminance(other)))
    return (lighter + 0.05) / (darker + 0.05)


def _luminance(colour: str) -> float:
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(colour))
    ]
    return sum(
        weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def _channels(colour: str) -> tuple[int, ...]:
    """Red, green and blue of a colour such as ``#1b1f24``."""
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
