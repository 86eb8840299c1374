"""Colours of the charts.

They are few, so that a page can change them by selectors such as ``[fill="#1b1f24"]``.
"""

from __future__ import annotations

import numpy as np

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


def ramp(share: float) -> str:
    """Return the colour of `SEQUENTIAL` at a share of the way.

    >>> ramp(0), ramp(1)
    ('#440154', '#fde725')
    """
    shares = np.linspace(0, 1, len(SEQUENTIAL))
    channels = zip(*map(_channels, SEQUENTIAL), strict=True)
    mixed = (round(float(np.interp(share, shares, channel))) for channel in channels)
    return "#" + "".join(f"{value:02x}" for value in mixed)


def ink_on(colour: str) -> str:
    """Return black or white, whichever stands out more; neither is a colour that a page changes.

    >>> ink_on("#fde725"), ink_on("#440154")
    ('#000000', '#ffffff')
    """
    # There, black and white stand out alike.
    return "#ffffff" if luminance(colour) < 0.179 else "#000000"


def luminance(colour: str) -> float:
    """Return how bright a colour is, from 0 to 1 (WCAG 2).

    >>> luminance("#000000"), luminance("#ffffff")
    (0.0, 1.0)
    """
    linear = [
        value / 12.92 if value <= 0.04045 else ((value + 0.055) / 1.055) ** 2.4
        for value in (channel / 255 for channel in _channels(colour))
    ]
    return sum(
        weight * value for weight, value in zip((0.2126, 0.7152, 0.0722), linear, strict=True)
    )


def _channels(colour: str) -> tuple[int, ...]:
    """Return red, green and blue of a colour such as ``#1b1f24``."""
    return tuple(int(colour[place : place + 2], 16) for place in (1, 3, 5))
