"""Charts of annotators: pair by pair, how they differ, and how much each marks."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from math import isfinite, nan
from typing import Any

from beyondchance.numbers import in_digits
from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import INK, KINDS, OBSERVED, ink_on, ramp
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import counted, in_list

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
    below = alt.Axis(orient="bottom", labelAngle=-40, grid=False, ticks=False)
    left = alt.Axis(grid=False, ticks=False)
    step = min(56, max(24, shared.WIDTH // len(rows)))
    base = shared.plot(cells, width=alt.Step(step), height=alt.Step(min(step, 32))).encode(
        x=alt.X("column:N", title=None, scale=alt.Scale(domain=columns), axis=below),
        y=alt.Y("row:N", title=None, scale=alt.Scale(domain=rows), axis=left),
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


def kinds_chart(
    by_pair: Mapping[tuple[str, str], Mapping[str, int]], names: Mapping[str, str] | None = None
) -> Any:
    """Kinds of agreement and disagreement of each pair, as shares of one bar.

    Parameters
    ----------
    by_pair : mapping of (str, str) to mapping of str to int
        How often each kind occurs between two annotators; kinds are those of `KINDS`. Drawn in
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
        return shared.nothing(title, "there is no pair with a span", notes)
    alt = altair()
    pairs = shared.distinct(
        " and ".join(shared.shown_name(name, length=14) for name in pair) for pair in chosen
    )
    asked = {**dict(zip(KINDS, KINDS, strict=True)), **(names or {})}
    spoken = shared.distinct(shared.shown_name(asked[kind], length=24) for kind in KINDS)
    kinds = dict(zip(KINDS, spoken, strict=True))
    parts = [
        part
        for name, pair in zip(pairs, chosen, strict=True)
        for part in _parts_of_bar(name, by_pair[pair], kinds)
    ]
    base = shared.plot(parts, width=shared.WIDTH, height=alt.Step(26)).encode(
        x=alt.X(
            "from:Q",
            title="share of all spans, paired or alone",
            scale=alt.Scale(domain=[0, 1], nice=False),
            axis=alt.Axis(format=".0%", grid=False),
        ),
        y=shared.name_axis(pairs),
    )
    colours = alt.Scale(domain=spoken, range=list(KINDS.values()))
    bars = base.mark_bar().encode(
        x2="to:Q",
        color=alt.Color(
            "kind:N", title=None, scale=colours, legend=alt.Legend(symbolType="square", columns=3)
        ),
        description="description:N",
    )
    texts = base.mark_text(fontSize=11, aria=False).encode(
        x="middle:Q", text="shown:N", fill=alt.Fill("ink:N", scale=None)
    )
    total = sum((Counter(by_pair[pair]) for pair in chosen), Counter[str]())
    finding = (
        f"Of {sum(total.values()):,} spans or pairs of spans, {total['agree']:,} agree"
        f"{_most_frequent(total, kinds)}."
    )
    return shared.finished(alt.layer(bars, texts), title, notes, finding)


def _most_frequent(total: Mapping[str, int], names: Mapping[str, str]) -> str:
    differences = {kind: total[kind] for kind in KINDS if kind != "agree" and total.get(kind)}
    if not differences:
        return ""
    kind = max(differences, key=differences.__getitem__)
    return f"; the most frequent difference is {names[kind]} ({differences[kind]:,})"


def _parts_of_bar(
    name: str, counts: Mapping[str, int], names: Mapping[str, str]
) -> list[dict[str, Any]]:
    """The parts of one bar from left to right, each with as much text as it has room for."""
    total = sum(counts.values())
    parts, done = [], 0
    for kind in sorted(counts, key=[*KINDS].index):
        count = counts[kind]
        if not count:
            continue
        pixels = shared.WIDTH * count / total
        texts = (f"{names[kind]} {count:,}", f"{count:,}", "")
        fitting = (text for text in texts if 8 * len(text) < pixels)
        parts.append(
            {
                "name": name,
                "kind": names[kind],
                "count": int(count),
                "from": done / total,
                "to": (done + count) / total,
                "middle": (done + count / 2) / total,
                "shown": next(fitting),
                "ink": ink_on(KINDS[kind]),
                "description": f"{name}: {names[kind]} {count:,} of {total:,}",
            }
        )
        done += count
    return parts


def habits_chart(ratios: Mapping[str, float], *, beside: str = "the others") -> Any:
    """Who marks more, and who less, than the others: a dot next to the line of 1 for each.

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
