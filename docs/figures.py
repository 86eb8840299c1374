"""Draw the pictures of the documentation, from real numbers.

    python docs/figures.py

Writes docs/_static/*.svg. A test checks that they are what this draws.
"""

from __future__ import annotations

from pathlib import Path

import beyondchance as bc

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


def _mark(kind: str, x: float, y: float, colour: str) -> str:
    """A mark that differs by more than colour."""
    if kind == "chance":
        return f'<path d="M{x - 5},{y - 5}l10,10m0,-10l-10,10" stroke="{colour}" stroke-width="2"/>'
    if kind == "corrected":
        return f'<path d="M{x},{y - 7}l7,7l-7,7l-7,-7z" fill="{colour}"/>'
    return f'<circle cx="{x}" cy="{y}" r="6" fill="{colour}"/>'


FIGURES = {"example.svg": example}


def main() -> None:
    """Write every figure."""
    for name, draw in FIGURES.items():
        (FOLDER / name).write_text(draw(), encoding="utf-8")


if __name__ == "__main__":
    main()
