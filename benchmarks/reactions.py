"""How coefficients react to mistakes of each kind: by shuffling a corpus.

    python benchmarks/reactions.py [CORPORA]

Corpora are made up, ten unless told otherwise, and `beyondchance.shuffled` makes mistakes of one
kind in each, from none to as many as there can be. Writes docs/_static/reactions.md and
docs/_static/reactions.svg, which docs/background/reactions.md shows, within a minute.
"""

from __future__ import annotations

import sys
from collections.abc import Mapping
from dataclasses import replace
from itertools import product
from pathlib import Path

import numpy as np

import beyondchance as bc
from beyondchance.page.svg import CORRECTED, GRID, INK, MUTED, OBSERVED, Chart, Drawing, scale
from beyondchance.types import Floats
from calibration import say, table
from generate import knowing_annotators

FOLDER = Path(__file__).parent.parent / "docs" / "_static"
KINDS = ("shift", "misses", "extras", "label", "split")
MAGNITUDES = tuple(round(0.1 * step, 1) for step in range(11))
IN_TABLE = (0.1, 0.2, 0.3, 0.5, 0.7, 1.0)
MEASURES = ("token", "exact", "boundary")
OTHERS = ("kappa", "alpha", "mu-alpha", "gamma", "ac1")
NAMES = {
    **{name: f"corrected {name}" for name in MEASURES},
    **{name: name for name in OTHERS},
}
NOTE = (
    "A row for each score, a column for each kind of mistake. The number is the value at magnitude "
    "1; dashes fall from 1 to 0."
)
Curves = Mapping[tuple[str, str], Floats]
"""By kind and name: the mean at each magnitude."""

TEXT = """\
Means of {corpora} corpora; their standard errors are {error:.3f} at most. No mean rises from one
magnitude to the next by more than {rise:.3f}. At magnitude 0 all are 1."""


def reference(seed: int) -> bc.Corpus:
    """Sentences of 15 to 25 tokens, a quarter of them in spans of 2 to 5 with three labels."""
    corpus = knowing_annotators(
        200,
        knowledge=1,
        density=0.25,
        lengths=(2, 3, 4, 5),
        tokens=(15, 25),
        n_annotators=1,
        seed=seed,
    )
    rng = np.random.default_rng(seed)
    label = rng.choice(3, len(corpus.span_start), p=[0.5, 0.3, 0.2])
    return replace(corpus, labels=("A", "B", "C"), span_label=label)


def scores(corpus: bc.Corpus) -> dict[str, float]:
    """All values that are shown, by name."""
    results = {measure: bc.agreement(corpus, measure=measure) for measure in MEASURES}
    others = bc.coefficients(corpus, which=OTHERS, scored=results, seed=1).values
    return {
        **{name: result.corrected for name, result in results.items()},
        **{name: other.value for name, other in others.items()},
    }


def simulated(corpora: int) -> tuple[Curves, float]:
    """The curves, and the largest standard error of their means."""
    curves, errors = {}, []
    references = [reference(seed) for seed in range(corpora)]
    for kind in KINDS:
        rows = [
            [scores(bc.shuffled(one, kind, m, seed)) for m in MAGNITUDES]
            for seed, one in enumerate(references)
        ]
        for name in NAMES:
            values = np.array([[point[name] for point in row] for row in rows])
            curves[kind, name] = values.mean(axis=0)
            errors.append(values.std(axis=0, ddof=1).max() / corpora**0.5)
        say(kind)
    return curves, max(errors)


def figure(value: float) -> str:
    """Two decimals, and no sign for what is rounded to nothing."""
    return f"{value:z.2f}"


def page(curves: Curves, error: float, corpora: int) -> list[str]:
    """The table, and what is true of all its numbers."""
    rise = max(np.diff(curve).max() for curve in curves.values())
    rows = []
    for kind, magnitude in product(KINDS, IN_TABLE):
        place = MAGNITUDES.index(magnitude)
        cells = [figure(curves[kind, name][place]) for name in NAMES]
        rows.append([f"{kind} {magnitude:g}", *cells])
    text = TEXT.format(corpora=corpora, error=error, rise=max(rise, 0))
    return [text, "", *table(["mistakes", *NAMES.values()], rows)]


WIDTH, HEIGHT, ACROSS, DOWN = 90, 46, 42, 14
LOW = -0.5


def picture(curves: Curves) -> Chart:
    """A small chart for each kind and coefficient; a row for each coefficient."""
    wide, high = WIDTH + ACROSS, HEIGHT + DOWN
    drawing = Drawing(high * len(NAMES) - DOWN, wide * len(KINDS) - ACROSS)
    for column, kind in enumerate(KINDS):
        left, bottom = wide * column, high * len(NAMES) - DOWN
        drawing.text(left + WIDTH / 2, -14, kind, anchor="middle", is_bold=True)
        for magnitude in (0, 0.5, 1):
            at = left + WIDTH * magnitude
            drawing.text(at, bottom + 10, f"{magnitude:g}", anchor="middle", size=10, fill=MUTED)
    drawing.text(drawing.width / 2, drawing.height + 28, "magnitude of mistakes", anchor="middle")
    for row, (name, title) in enumerate(NAMES.items()):
        y = scale(LOW, 1, high * row + HEIGHT, high * row)
        drawing.text(-24, y(0.5), title, anchor="end", is_bold=name in MEASURES)
        for value in (0, 1):
            drawing.text(-6, y(value), str(value), anchor="end", size=10, fill=MUTED)
        for column, kind in enumerate(KINDS):
            x = scale(0, 1, wide * column, wide * column + WIDTH)
            for value in (0, 1):
                drawing.line(x(0), y(value), x(1), y(value), GRID)
            drawing.line(x(0), y(1), x(1), y(0), GRID, stroke_dasharray="3,3")
            drawing.line(x(0), y(1), x(0), y(LOW), MUTED)
            curve = curves[kind, name]
            points = " ".join(
                f"{x(m):.1f},{y(value):.1f}" for m, value in zip(MAGNITUDES, curve, strict=True)
            )
            drawing.add(
                "polyline",
                points=points,
                fill="none",
                stroke=CORRECTED if name in MEASURES else OBSERVED,
                stroke_width=2,
                told=f"{title}, {kind}: {figure(curve[5])} at 0.5, {figure(curve[-1])} at 1",
            )
            drawing.text(x(1) + 4, y(curve[-1]), figure(curve[-1]), size=10, fill=INK)
    return Chart(
        name="reactions",
        title="How scores react to mistakes of five kinds",
        notes=[NOTE],
        description="Curves of eight scores over the magnitude of mistakes; all fall or stay.",
        drawing=drawing,
    )


def main() -> None:
    """Simulate, and write the table and the picture."""
    corpora = int(sys.argv[1]) if len(sys.argv) > 1 else 10
    curves, error = simulated(corpora)
    head = f"<!-- Written by python benchmarks/reactions.py {corpora} -->"
    lines = [head, "", *page(curves, error, corpora)]
    (FOLDER / "reactions.md").write_text("\n".join(lines), encoding="utf-8")
    (FOLDER / "reactions.svg").write_text(picture(curves)._repr_svg_(), encoding="utf-8")


if __name__ == "__main__":
    main()
