"""Other coefficients once more: position by position, in exact arithmetic.

Nothing here is shared with the package. A *text* is ``(length, {annotator: spans})``
with the spans ``(start, end, label)`` of all annotators who annotated it.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator
from fractions import Fraction
from itertools import combinations, permutations

Spans = list[tuple[int, int, str]]
Text = tuple[int, dict[str, Spans]]
GAP = "(gap)"


def sections(length: int, spans: Spans) -> list[tuple[int, int, str]]:
    """Units and gaps, by hand: walk from left to right."""
    found, place = [], 0
    for start, end, label in sorted(spans):
        if place < start:
            found.append((place, start, GAP))
        found.append((start, end, label))
        place = end
    if place < length:
        found.append((place, length, GAP))
    return found


def shared(texts: list[Text]) -> list[Text]:
    """Texts that two or more annotated and that have positions."""
    return [(n, sides) for n, sides in texts if len(sides) > 1 and n]


# --- Unitizing alpha ----------------------------------------------------------


def difference(g: tuple[int, int, str], h: tuple[int, int, str]) -> int:
    """The squared difference of two sections."""
    (s, e, one), (t, f, other) = g, h
    if min(e, f) <= max(s, t):
        return 0
    if GAP not in {one, other}:
        return (s - t) ** 2 + (e - f) ** 2
    if one != GAP and t <= s and e <= f:
        return (e - s) ** 2
    if other != GAP and s <= t and f <= e:
        return (f - t) ** 2
    return 0


def alpha_of_field(length: int, sides: dict[str, Spans]) -> tuple[Fraction, Fraction]:
    """Observed and expected disagreement of one label in one text."""
    m = len(sides)
    tracks = [sections(length, spans) for spans in sides.values()]
    observed = sum(
        difference(g, h) for one, other in permutations(tracks, 2) for g in one for h in other
    )
    everything = [section for track in tracks for section in track]
    slid = 0
    for i, (s, e, label) in enumerate(everything):
        for j, other in enumerate(everything):
            if i == j or (label == GAP and other[2] == GAP):
                continue
            # One stays where it is, the other slides by. A shift before which, or after
            # which, they do not touch has a difference of zero.
            for start in range(other[0] - (e - s), other[1] + 1):
                slid += difference((start, start + e - s, label), other)
    owner = [
        (row, number if label != GAP else (number, t))
        for row, track in enumerate(tracks)
        for number, (s, e, label) in enumerate(track)
        for t in range(s, e)
    ]
    alone = sum(count * (count - 1) for count in Counter(owner).values())
    pairs = len(owner) * (len(owner) - 1) - alone
    return Fraction(observed, m * (m - 1) * length**2), Fraction(slid, length * pairs)


def alpha(texts: list[Text], labels: str) -> tuple[Fraction, Fraction]:
    """Observed and expected disagreement, added over labels, weighted by length."""
    observed = expected = Fraction(0)
    for length, sides in shared(texts):
        for label in labels:
            mine = {name: [s for s in spans if s[2] == label] for name, spans in sides.items()}
            if any(mine.values()):
                parts = alpha_of_field(length, mine)
                observed, expected = observed + length * parts[0], expected + length * parts[1]
    size = sum(length for length, _ in shared(texts))
    return observed / size, expected / size


def alpha_by_formula(length: int, sides: dict[str, Spans]) -> tuple[Fraction, Fraction]:
    """The printed formulas for one label in one text, in whole numbers of any size."""
    m = len(sides)
    tracks = [sections(length, spans) for spans in sides.values()]
    observed = sum(
        difference(g, h) for one, other in permutations(tracks, 2) for g in one for h in other
    )
    units = [e - s for track in tracks for s, e, label in track if label != GAP]
    gaps = [e - s for track in tracks for s, e, label in track if label == GAP]
    slid = sum(
        Fraction((len(units) - 1) * (2 * b**3 - 3 * b**2 + b), 3)
        + b**2 * sum(g - b + 1 for g in gaps if g >= b)
        for b in units
    )
    pairs = m * length * (m * length - 1) - sum(b * (b - 1) for b in units)
    return Fraction(observed, m * (m - 1) * length**2), 2 * slid / (length * pairs)


# --- The family of 2016 -------------------------------------------------------


def painted(length: int, spans: Spans) -> list[tuple[str, object]]:
    """The label of each position, and what it must not be paired with: its own unit."""
    return [
        (label, start if label != GAP else ("gap", t))
        for start, end, label in sections(length, spans)
        for t in range(start, end)
    ]


def coincidences(length: int, sides: dict[str, Spans]) -> tuple[Counter, Counter]:
    """Observed and expected coincidences of labels, gap included, in one text."""
    m = len(sides)
    rows = [painted(length, spans) for spans in sides.values()]
    observed: Counter = Counter()
    for one, other in permutations(rows, 2):
        for (c, _), (k, _) in zip(one, other, strict=True):
            observed[c, k] += Fraction(1, m - 1)
    everything = [(c, (row, unit)) for row, cells in enumerate(rows) for c, unit in cells]
    free = Counter(
        (c, k) for c, unit in everything for k, other_unit in everything if unit != other_unit
    )
    expected: Counter = Counter()
    for pair, count in free.items():
        expected[pair] = Fraction(m * length * count, sum(free.values()))
    return observed, expected


def marked_coincidences(length: int, sides: dict[str, Spans]) -> tuple[Counter, Counter]:
    """The same where both marked something; None for expected ones that are impossible."""
    m = len(sides)
    observed, _ = coincidences(length, sides)
    observed = Counter({pair: n for pair, n in observed.items() if GAP not in pair})
    squares: Counter = Counter()
    for (_, spans), (_, others) in permutations(sides.items(), 2):
        for start, end, label in spans:
            met = sum(max(0, min(end, f) - max(start, t)) for t, f, _ in others)
            squares[label] += Fraction(met**2, m - 1)
    labels = {c for c, _ in observed}
    total = sum(observed.values())
    held = {c: sum(observed[c, k] for k in labels) for c in labels}
    if len(labels) == 1:
        return observed, observed
    expected: Counter = Counter()
    for c in labels:
        for k in labels:
            room = total - sum(squares.values()) / total
            if room <= 0:
                raise ZeroDivisionError
            expected[c, k] = (held[c] * held[k] - (squares[c] if c == k else 0)) / room
    return observed, expected


def summed(texts: list[Text], count) -> tuple[Counter, Counter]:
    """Coincidences of all texts, each counting by its length."""
    totals: tuple[Counter, Counter] = (Counter(), Counter())
    for length, sides in shared(texts):
        for total, found in zip(totals, count(length, sides), strict=True):
            for pair, number in found.items():
                total[pair] += number / len(sides)
    return totals


def ratio(observed: Fraction, expected: Fraction) -> Fraction | None:
    return 1 - observed / expected if expected else None


def mu_alpha(texts: list[Text]) -> Fraction | None:
    parts = (
        sum(n for (c, k), n in counts.items() if c != k) for counts in summed(texts, coincidences)
    )
    return ratio(*parts)


def bar_u_alpha(texts: list[Text]) -> Fraction | None:
    parts = (
        sum(n for (c, k), n in counts.items() if c == GAP and k != GAP)
        for counts in summed(texts, coincidences)
    )
    return ratio(*parts)


def cu_alpha(texts: list[Text]) -> Fraction | None:
    parts = (
        sum(n for (c, k), n in counts.items() if c != k)
        for counts in summed(texts, marked_coincidences)
    )
    return ratio(*parts)


def ku_alpha(texts: list[Text], label: str) -> Fraction | None:
    shares = []
    for counts in summed(texts, marked_coincidences):
        column = sum(n for (_, k), n in counts.items() if k == label)
        if column <= 0:
            return None
        shares.append((column - counts[label, label]) / column)
    return ratio(*shares)


# --- Positions ----------------------------------------------------------------


def categories(text: Text) -> dict[str, list[str]]:
    length, sides = text
    return {name: [c for c, _ in painted(length, spans)] for name, spans in sides.items()}


def positions(texts: list[Text]) -> Iterator[list[str]]:
    """What the annotators of each position made of it."""
    for text in shared(texts):
        yield from map(list, zip(*categories(text).values(), strict=True))


def pair_lists(texts: list[Text]) -> dict[tuple[str, str], tuple[list[str], list[str]]]:
    """For each pair of annotators, the categories of all positions that both saw."""
    found: dict[tuple[str, str], tuple[list[str], list[str]]] = {}
    for text in shared(texts):
        sides = categories(text)
        for a, b in combinations(sorted(sides), 2):
            one, other = found.setdefault((a, b), ([], []))
            one += sides[a]
            other += sides[b]
    return found


def kappa(texts: list[Text]) -> Fraction | None:
    """Agreement beyond chance, summed over pairs of annotators, then divided."""
    gained = possible = Fraction(0)
    for one, other in pair_lists(texts).values():
        n = len(one)
        agreed = sum(c == k for c, k in zip(one, other, strict=True))
        left, right = Counter(one), Counter(other)
        chance = Fraction(sum(left[c] * right[c] for c in left), n)
        gained, possible = gained + agreed - chance, possible + n - chance
    return gained / possible if possible else None


def pi(texts: list[Text]) -> Fraction | None:
    """As kappa, with one distribution of categories for all annotators."""
    lists = pair_lists(texts).values()
    n = sum(len(one) for one, _ in lists)
    agreed = sum(c == k for one, other in lists for c, k in zip(one, other, strict=True))
    uses = Counter(c for pair in lists for side in pair for c in side)
    chance = sum(Fraction(count, 2 * n) ** 2 for count in uses.values())
    return (Fraction(agreed, n) - chance) / (1 - chance) if chance < 1 else None


def by_position(texts: list[Text], n_categories: int) -> dict[str, Fraction | None]:
    """Fleiss' kappa, S and AC1, each position counting once; nominal alpha."""
    cells = list(positions(texts))
    agreed = sum(
        Fraction(sum(c == k for c, k in permutations(cell, 2)), len(cell) * (len(cell) - 1))
        for cell in cells
    ) / len(cells)
    shares: Counter = Counter()
    for cell in cells:
        for c in cell:
            shares[c] += Fraction(1, len(cell) * len(cells))
    uneven = sum(p * (1 - p) for p in shares.values())
    values = [c for cell in cells for c in cell]
    differ = sum(
        Fraction(sum(c != k for c, k in permutations(cell, 2)), len(cell) - 1) for cell in cells
    ) / len(values)
    would = Fraction(
        sum(c != k for c, k in permutations(values, 2)), len(values) ** 2 - len(values)
    )

    def beyond(chance: Fraction) -> Fraction | None:
        return (agreed - chance) / (1 - chance) if chance < 1 else None

    return {
        "fleiss": beyond(1 - uneven),
        "s": beyond(Fraction(1, n_categories)),
        "ac1": beyond(uneven / (n_categories - 1)),
        "nominal-alpha": ratio(differ, would),
    }
