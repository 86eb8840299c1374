"""Pictures made of characters."""

from __future__ import annotations

from math import isnan

import numpy as np

from beyondchance.numbers import in_digits
from beyondchance.reporting.blocks import Bars, Curves, cell_text
from beyondchance.reporting.visible import visible

_EIGHTHS = " ▁▂▃▄▅▆▇█"
_PARTS = " ▏▎▍▌▋▊▉█"


def drawn(picture: Bars | Curves, *, digits: int, width: int = 80) -> list[str]:
    """Return the lines of bars or curves."""
    if isinstance(picture, Bars):
        return _bars(picture, digits, width)
    return _curves(picture, digits, width)


def _bars(bars: Bars, digits: int, width: int) -> list[str]:
    """Draw a bar for each amount, on a line of its own; none below 0.

    Examples
    --------
    >>> for line in drawn(Bars("pets", {"cats": 4, "dogs": 2}), digits=2, width=20):
    ...     print(line)
    pets
      cats  ████████  4
      dogs  ████      2
    """
    names = [visible(name) for name in bars.amounts]
    shown = [cell_text(value, digits) for value in bars.amounts.values()]
    left, right = max(map(len, names)), max(map(len, shown))
    room = max(width - left - right - 7, 8)
    lengths = [0 if isnan(value) else max(value, 0) for value in bars.amounts.values()]
    most = max(lengths) or 1
    lines = [
        f"  {name:{left}}  {_bar(length / most, room):{room}}  {text:>{right}}"
        for name, length, text in zip(names, lengths, shown, strict=True)
    ]
    return [visible(bars.title), *lines]


def _bar(share: float, room: int) -> str:
    eighths = round(share * room * 8)
    full, part = divmod(eighths, 8)
    return "█" * full + (_PARTS[part] if part else "")


def _curves(curves: Curves, digits: int, width: int, height: int = 4) -> list[str]:
    """Draw each curve as an area above 0, all to the same scale, with its range above it.

    Examples
    --------
    >>> for line in _curves(Curves("p", {"a": [0.5, 1.0]}), 2, 30, height=2):
    ...     print(line)
    p
    a, from 0.50 to 1.00
         █
        ██
    """
    lines = [visible(curves.title)]
    top = max(max(values) for values in curves.values.values())
    room = max(width - 6, 20)
    for name, values in curves.values.items():
        low, high = (in_digits(value, digits) for value in (min(values), max(values)))
        lines.append(f"{visible(name)}, from {low} to {high}")
        lines += [
            f"    {line}" for line in _area(np.asarray(values, dtype=float) / top, room, height)
        ]
    return lines


def _area(shares: np.ndarray, room: int, height: int) -> list[str]:
    """Draw a column for each position, or for the middle of each of equal parts."""
    columns = min(room, len(shares))
    middle = ((np.arange(columns) + 0.5) * len(shares) / columns).astype(np.int64)
    eighths = [round(value * height * 8) for value in shares[middle].tolist()]
    rows = []
    for row in reversed(range(height)):
        levels = (min(max(level - 8 * row, 0), 8) for level in eighths)
        rows.append("".join(_EIGHTHS[level] for level in levels).rstrip())
    return rows
