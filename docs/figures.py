"""Draw the pictures of the documentation, from real numbers.

    python docs/figures.py

Writes docs/_static/*.svg. A test checks that they are what this draws.
"""

from __future__ import annotations

import io
from contextlib import redirect_stderr, redirect_stdout
from html import escape
from pathlib import Path

import numpy as np

import beyondchance as bc
from beyondchance.cli.main import main as beyondchance

FOLDER = Path(__file__).parent / "_static"
INK, FAINT, CHANCE, OBSERVED, CORRECTED = "#333", "#ddd", "#999", "#0072b2", "#d55e00"


def example() -> str:
    """Observed, chance and corrected agreement of the example, label by label and pair by pair."""
    result = bc.agreement(bc.example())
    pairs = {" and ".join(pair): score for pair, score in result.by_pair.items()}
    rows = {"all": result.score, **result.by_label, **pairs}
    left, width, top, step = 130, 420, 56, 30
    height = top + step * len(rows) + 34

    def x(value: float) -> float:
        return left + width * value

    box = f'viewBox="0 0 {left + width + 30} {height}" font-family="sans-serif" font-size="13"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} fill="{INK}">',
        "<title>Agreement of the example corpus: observed, expected by chance, corrected</title>",
        f'<rect width="{left + width + 30}" height="{height}" fill="#fff"/>',
    ]
    for place, (name, colour) in enumerate(
        [("chance", CHANCE), ("corrected", CORRECTED), ("observed", OBSERVED)]
    ):
        parts.append(_mark(name, left + 10 + 120 * place, 18, colour))
        parts.append(f'<text x="{left + 22 + 120 * place}" y="22">{name}</text>')
    for tick in (0.0, 0.2, 0.4, 0.6, 0.8, 1.0):
        line = f'<path d="M{x(tick):.1f},{top - 14}V{height - 28}" stroke="{FAINT}"/>'
        number = f'<text x="{x(tick):.1f}" y="{height - 10}" text-anchor="middle">{tick:g}</text>'
        parts += [line, number]
    for row, (name, score) in enumerate(rows.items()):
        y = top + step * row
        parts.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{name}</text>')
        parts.append(
            f'<line x1="{x(score.corrected):.1f}" x2="{x(score.observed):.1f}" y1="{y}" y2="{y}" '
            f'stroke="{INK}" stroke-width="2"/>'
        )
        for kind, value, colour in (
            ("chance", score.chance, CHANCE),
            ("corrected", score.corrected, CORRECTED),
            ("observed", score.observed, OBSERVED),
        ):
            parts.append(_mark(kind, round(x(value), 1), y, colour))
    return "\n".join([*parts, "</svg>\n"])


def disjoint() -> str:
    """Spans that do not overlap."""
    lengths = [3, 2, 4]
    return _moved(
        title="Disjoint: spans are placed anywhere, without overlapping",
        says="probability that each position is covered",
        n=16,
        spans=[(1, 3, "a"), (5, 2, "a"), (10, 4, "a")],
        arrangements=[[6, 1, 12], [11, 14, 0], [2, 0, 5]],
        layers=[("a", bc.coverage(16, lengths).tolist())],
    )


def nested() -> str:
    """Spans inside spans, which move with them."""
    lengths, parents = [8, 3, 2, 3], [-1, 0, 1, -1]
    cover = [
        bc.coverage(16, lengths, model="nested", parents=parents, layer=layer).tolist()
        for layer in (1, 2, 3)
    ]
    return _moved(
        title="Nested: inner spans are placed anywhere inside the outer one, which moves",
        says="probability that the first, second and third layer cover each position",
        n=16,
        spans=[(1, 8, "a"), (2, 3, "b"), (3, 2, "c"), (11, 3, "a")],
        arrangements=[[7, 12, 12, 0], [4, 4, 5, 12], [0, 3, 4, 9]],
        layers=list(zip("abc", cover, strict=True)),
    )


def overlapping() -> str:
    """Spans that are placed independently."""
    lengths = [6, 5, 3]
    cover = [
        bc.coverage(16, lengths, model="overlapping", layer=layer).tolist() for layer in (1, 2, 3)
    ]
    return _moved(
        title="Overlapping: each span is placed independently of the others",
        says="probability that each position is covered at least once, twice, three times",
        n=16,
        spans=[(1, 6, "a"), (4, 5, "b"), (11, 3, "c")],
        arrangements=[[3, 2, 6], [9, 0, 1], [5, 10, 13]],
        layers=list(zip("abc", cover, strict=True)),
    )


def scopes() -> str:
    """Two labels that share a line."""
    # A person of two tokens and a place of one, in three tokens: two arrangements.
    corpus = bc.Corpus.from_spans(
        {name: [[(0, 2, "PER"), (2, 3, "LOC")]] for name in "ab"}, lengths=[3]
    )
    joint, alone = (
        bc.agreement(corpus, scope=scope).by_label["LOC"].chance for scope in ("joint", "label")
    )
    person, place = bc.start_probabilities(3, [2, 1])
    covered = np.convolve(person, [1, 1]).tolist(), place.tolist()
    return _moved(
        title="Joint: a position taken by one label is not free for the other",
        says=f"LOC equals LOC by chance: {joint:.2f}; on its own line {alone:.2f}",
        n=3,
        spans=[(0, 2, "a"), (2, 1, "c")],
        arrangements=[[1, 0]],
        layers=list(zip("ac", covered, strict=True)),
        inset=0,
    )


def _moved(
    *,
    title: str,
    says: str,
    n: int,
    spans: list[tuple[int, int, str]],
    arrangements: list[list[int]],
    layers: list[tuple[str, list[float]]],
    inset: int = 4,
) -> str:
    """Draw an annotation, some random arrangements of it, and bars for probabilities.

    Spans are (start, length, kind), those inside others after them; arrangements have
    other starts.
    """
    left, cell, top, step, bars = 150, 26 if n > 8 else 60, 60, 40, 70
    colours = {"a": OBSERVED, "b": CORRECTED, "c": "#009e73"}
    width = max(left + cell * n + 20, 560)
    rows = [[start for start, _, _ in spans], *arrangements]
    below = top + step * len(rows) + 14
    height = below + bars + 34
    box = f'viewBox="0 0 {width} {height}" font-family="sans-serif" font-size="13"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} fill="{INK}">',
        f"<title>{title}</title>",
        f'<rect width="{width}" height="{height}" fill="#fff"/>',
        f'<text x="10" y="24" font-weight="bold">{title}</text>',
    ]
    for row, starts in enumerate(rows):
        y = top + step * row
        name = "as marked" if not row else "at random" if row == 1 else "or"
        parts.append(f'<text x="{left - 12}" y="{y + 4}" text-anchor="end">{name}</text>')
        parts += [
            f'<rect x="{left + cell * t}" y="{y - 13}" width="{cell}" height="26" fill="none" '
            f'stroke="{FAINT}"/>'
            for t in range(n)
        ]
        for start, (_, length, kind) in zip(starts, spans, strict=True):
            edge = 3 + inset * "abc".index(kind)
            parts.append(
                f'<rect x="{left + cell * start + 2}" y="{y - 14 + edge}" '
                f'width="{cell * length - 4}" height="{28 - 2 * edge}" rx="4" '
                f'fill="{colours[kind]}" fill-opacity="0.55" stroke="{INK}"/>'
            )
    parts.append(f'<text x="{left}" y="{height - 8}">{says}</text>')
    share = cell / (len(layers) + 0.5)
    for number, (kind, values) in enumerate(layers):
        parts += [
            f'<rect x="{left + cell * t + share * (number + 0.25):.1f}" '
            f'y="{below + bars * (1 - value):.1f}" width="{share:.1f}" '
            f'height="{bars * value:.1f}" fill="{colours[kind]}"/>'
            for t, value in enumerate(values)
            if value > 0
        ]
    line = f'<path d="M{left},{below + bars}h{cell * n}" stroke="{INK}"/>'
    one = f'<text x="{left - 12}" y="{below + 5}" text-anchor="end">1</text>'
    nought = f'<text x="{left - 12}" y="{below + bars + 5}" text-anchor="end">0</text>'
    return "\n".join([*parts, line, one, nought, "</svg>\n"])


# Simulations 1 to 4 of Li, Rosé, Yuan & Zhou (2024): positions, spans of either side.
_THREE = [(3, 5), (8, 11), (14, 18)], [(2, 5), (8, 12), (14, 19)]
_LONG = [(6, 15)], [(4, 16)]
_FIVE = [(0, 3), (5, 8), (10, 13), (15, 18), (20, 23)]
SIMULATIONS = {
    "1: more text": ((20, *_THREE), (30, *_THREE)),
    "2: one span instead of three": ((20, *_THREE), (20, *_LONG)),
    "3: a longer span": ((20, [(8, 11)], [(8, 12)]), (20, *_LONG)),
    "4: five short, or one long": (
        (41, [*_FIVE, (25, 41)], _FIVE),
        (41, [*_FIVE, (25, 41)], [(25, 41)]),
    ),
}
SHOWN = ("corrected-f1", "alpha", "mu-alpha", "gamma", "kappa", "pi", "nominal-alpha", "s", "ac1")


def simulations() -> str:
    """Every coefficient in the paper's four simulations, from the first case to the second."""
    left, width, apart, top, step = 110, 150, 30, 64, 26
    bottom = top + step * len(SHOWN)
    right = left + (width + apart) * len(SIMULATIONS)
    box = f'viewBox="0 0 {right} {bottom + 24}" font-family="sans-serif" font-size="12"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} fill="{INK}">',
        "<title>Coefficients in simulations 1 to 4: from the first case to the second</title>",
        f'<rect width="{right}" height="{bottom + 24}" fill="#fff"/>',
        _case("first", left + 6, 14),
        f'<text x="{left + 16}" y="18">first case</text>',
        _case("second", left + 106, 14),
        f'<text x="{left + 116}" y="18">second case</text>',
    ]
    for row, name in enumerate(SHOWN):
        weight = ' font-weight="bold"' if name == "corrected-f1" else ""
        place = f'x="{left - 12}" y="{top + step * row + 4}" text-anchor="end"'
        parts.append(f"<text {place}{weight}>{name}</text>")
    for panel, (title, cases) in enumerate(SIMULATIONS.items()):
        edge = left + (width + apart) * panel
        parts.append(f'<text x="{edge}" y="{top - 20}">{title}</text>')
        for tick in (0.0, 0.5, 1.0):
            x = edge + width * tick
            parts.append(f'<path d="M{x:.1f},{top - 12}V{bottom - 8}" stroke="{FAINT}"/>')
            text = f'<text x="{x:.1f}" y="{bottom + 10}" text-anchor="middle">{tick:g}</text>'
            parts.append(text)
        found = [bc.coefficients(_pair(*case), which=SHOWN).values for case in cases]
        for row, name in enumerate(SHOWN):
            y = top + step * row
            first, second = (round(edge + width * values[name].value, 1) for values in found)
            parts.append(f'<path d="M{first},{y}H{second}" stroke="{INK}" stroke-width="2"/>')
            parts += [_case("first", first, y), _case("second", second, y)]
    return "\n".join([*parts, "</svg>\n"])


def _pair(n: int, a: list[tuple[int, int]], b: list[tuple[int, int]]) -> bc.Corpus:
    """One text with two annotators and one label."""
    spans = {
        name: [[(start, end, "X") for start, end in side]] for name, side in (("a", a), ("b", b))
    }
    return bc.Corpus.from_spans(spans, lengths=[n])


def _case(which: str, x: float, y: float) -> str:
    """A ring for the first case, a disc for the second."""
    fill = "#fff" if which == "first" else OBSERVED
    return f'<circle cx="{x}" cy="{y}" r="5" fill="{fill}" stroke="{OBSERVED}" stroke-width="2"/>'


def _mark(kind: str, x: float, y: float, colour: str) -> str:
    """A mark that differs by more than colour."""
    if kind == "chance":
        return f'<path d="M{x - 5},{y - 5}l10,10m0,-10l-10,10" stroke="{colour}" stroke-width="2"/>'
    if kind == "corrected":
        return f'<path d="M{x},{y - 7}l7,7l-7,7l-7,-7z" fill="{colour}"/>'
    return f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>'


SHOWN_OF_DEMO = "parts and means"
"""What the terminal no longer shows."""


def terminal() -> str:
    """A terminal with the beginning of what ``beyondchance demo`` prints."""
    with redirect_stdout(io.StringIO()) as said, redirect_stderr(io.StringIO()):
        beyondchance(["demo"])
    lines = [
        "$ beyondchance demo",
        *said.getvalue().partition(SHOWN_OF_DEMO)[0].strip().split("\n"),
    ]
    step, left, top, back, ink, prompt = 20, 20, 56, "#1e2430", "#e6e9ef", "#8fd18f"
    width, height = 2 * left + 8.45 * max(map(len, lines)), top + step * len(lines) + 4
    box = f'viewBox="0 0 {width:.0f} {height}" font-family="monospace" font-size="14"'
    parts = [
        f'<svg xmlns="http://www.w3.org/2000/svg" {box} fill="{ink}">',
        "<title>What beyondchance demo prints in a terminal</title>",
        f'<rect width="{width:.0f}" height="{height}" rx="8" fill="{back}"/>',
        *(f'<circle cx="{left + 20 * place}" cy="22" r="6" fill="#566"/>' for place in range(3)),
    ]
    for row, line in enumerate(lines):
        # Whatever font there is, a line is as wide as its number of characters.
        place = f'x="{left}" y="{top + step * row}" textLength="{8.45 * len(line):.2f}"'
        colour = f' fill="{prompt}"' if line.startswith("$") else ""
        if line:
            parts.append(f'<text {place} xml:space="preserve"{colour}>{escape(line)}</text>')
    return "\n".join([*parts, "</svg>\n"])


FIGURES = {
    "coefficients.svg": simulations,
    "disjoint.svg": disjoint,
    "example.svg": example,
    "nested.svg": nested,
    "overlapping.svg": overlapping,
    "scopes.svg": scopes,
    "terminal.svg": terminal,
}


def main() -> None:
    """Write every figure."""
    for name, draw in FIGURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
