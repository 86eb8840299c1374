"""Share sizes, names, numbers and sentences among the charts."""

from __future__ import annotations

import itertools
from collections.abc import Iterable, Mapping, Sequence
from math import ceil, floor, isfinite
from unicodedata import bidirectional

from beyondchance.numbers import in_digits
from beyondchance.page.svg import Chart, Drawing, Scale
from beyondchance.reporting.blocks import counted
from beyondchance.reporting.escaping import visible

MOST_ROWS = 40
"""Labels, systems or pairs that one chart shows at most."""
_MOST_TOLD = 200
"""Characters of a name that the pointer shows at most."""


def shown_number(value: float) -> str:
    """Return a number as charts show it."""
    return in_digits(value, 3)


def change(before: float, after: float) -> str:
    r"""Return two numbers with an arrow between them, which stay on one line.

    >>> change(0.5, 0.75)
    '0.500\xa0→\xa00.750'
    """
    return f"{shown_number(before)}\u00a0→\u00a0{shown_number(after)}"


def nothing(name: str, title: str, why: str, notes: Sequence[str] = ()) -> Chart:
    """Return a chart that says why there is none."""
    sentence = f"Nothing to draw: {why}."
    drawing = Drawing(30)
    drawing.text(0, 15, sentence)
    return Chart(name, title, notes, sentence, drawing)


def shown_name(name: str, *, length: int = 24) -> str:
    """Return a name as a chart shows it: on one line, cut where it is long.

    Examples
    --------
    >>> shown_name("ada"), shown_name("a" * 50, length=5), shown_name("")
    ('ada', 'aaaa…', '(empty)')
    """
    text = visible(name[: length + 1]).strip() or "(empty)"
    shown = text if len(text) <= length else f"{text[: length - 1]}…"
    is_from_the_right = any(bidirectional(character) in {"R", "AL"} for character in shown)
    # Isolated, so that it does not reorder the numbers next to it.
    return f"\u2068{shown}\u2069" if is_from_the_right else shown


def shown_names(names: Iterable[str | tuple[str, str]], *, length: int = 24) -> dict[str, str]:
    """Return names, or pairs of names, as a chart shows them; and of those that are cut, all.

    They are numbered where two would look the same.

    Examples
    --------
    >>> shown_names(["ada", ("ada", "grace"), ("ada", "gracia")], length=4)
    {'ada': '', 'ada and gra…': 'ada and grace', 'ada and gra… (2)': 'ada and gracia'}
    """
    shown: dict[str, str] = {}
    for name in names:
        parts = (name,) if isinstance(name, str) else name
        full, text = (
            " and ".join(shown_name(part, length=most) for part in parts)
            for most in (_MOST_TOLD, length)
        )
        numbered = (f"{text} ({number})" for number in itertools.count(2))
        free = next(one for one in itertools.chain([text], numbered) if one not in shown)
        shown[free] = "" if text == full else full
    return shown


def score_axis(drawing: Drawing, values: Iterable[float], title: str) -> Scale:
    """Draw an axis from 0 to 1, and wider only where a value is outside; return its scale."""
    known = [value for value in values if isfinite(value)]
    low, high = floor(min([0.0, *known]) * 5) / 5, ceil(max([1.0, *known]) * 5) / 5
    return drawing.x_axis(low, high, title)


def described(name: str, numbers: Mapping[str, float]) -> str:
    """Return what the pointer shows: a name and its numbers."""
    said = (
        f"{what} {shown_number(value) if isfinite(value) else 'undefined'}"
        for what, value in numbers.items()
    )
    return f"{name}: {', '.join(said)}"


def left_out(total: int, shown: int, what: str, which: str) -> list[str]:
    """Return a note on which rows are drawn, if not all are."""
    return [f"{shown} of {total:,} {what} are drawn: {which}."] if total > shown else []


def undefined(number: int, what: str) -> list[str]:
    """Return a note on undefined values, if there are any."""
    if not number:
        return []
    return [f"{counted(number, what)} {'is' if number == 1 else 'are'} undefined and left out."]


def extremes(values: Mapping[str, float], what: str, kind: str) -> str:
    """Return a sentence on the largest and the smallest of some values."""
    known = {name: value for name, value in values.items() if isfinite(value)}
    if not known:
        return f"{what} is undefined for every {kind}."
    least, most = ends(known)
    high, low = (shown_number(known[name]) for name in (most, least))
    if len(known) == 1:
        return f"{what} is {high} for the only {kind}, {most}."
    return f"{what} is highest for {most} ({high}) and lowest for {least} ({low})."


def ends(values: Mapping[str, float]) -> tuple[str, str]:
    """Return the names of the smallest and the largest of some values."""
    return min(values, key=values.__getitem__), max(values, key=values.__getitem__)
