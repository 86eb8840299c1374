"""The chart of kinds of disagreement."""

from __future__ import annotations

from collections import Counter
from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from typing import Any

from beyondchance.page.charts import shared
from beyondchance.page.charts.colours import KINDS, ink_on
from beyondchance.page.figures import altair
from beyondchance.reporting.blocks import counted


@dataclass(frozen=True, slots=True, kw_only=True)
class KindRow:
    """How often each kind occurs between two annotators; kinds are those of `KINDS`."""

    a: str
    b: str
    counts: Mapping[str, int] = field(default_factory=dict)


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
    chosen = [known[place] for place in sorted(most[: shared.MOST_ROWS])]
    notes = shared.left_out(len(known), len(chosen), "pairs", "those with most cases")
    if len(rows) > len(known):
        notes.append(f"{counted(len(rows) - len(known), 'pair')} without any span: not drawn.")
    if not chosen:
        return shared.nothing(title, "there is no pair with a span", notes)
    alt = altair()
    names = shared.distinct(
        f"{shared.shown_name(row.a, length=14)} and {shared.shown_name(row.b, length=14)}"
        for row in chosen
    )
    parts = [
        part
        for name, row in zip(names, chosen, strict=True)
        for part in _parts_of_bar(name, row.counts)
    ]
    base = shared.plot(parts, width=shared.WIDTH, height=alt.Step(26)).encode(
        x=alt.X(
            "from:Q",
            title="share of all spans, paired or alone",
            scale=alt.Scale(domain=[0, 1], nice=False),
            axis=alt.Axis(format=".0%", grid=False),
        ),
        y=shared.name_axis(names),
    )
    colours = alt.Scale(domain=list(KINDS), range=list(KINDS.values()))
    bars = base.mark_bar().encode(
        x2="to:Q",
        color=alt.Color(
            "kind:N", title=None, scale=colours, legend=alt.Legend(symbolType="square")
        ),
        description="description:N",
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
    return shared.finished(alt.layer(bars, texts), title, notes, finding)


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
        pixels = shared.WIDTH * count / total
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
                "ink": ink_on(KINDS[kind]),
                "description": f"{name}: {kind} {count:,} of {total:,}",
            }
        )
        done += count
    return parts
