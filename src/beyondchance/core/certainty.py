"""Whether random annotations agree in every arrangement: decided by integers.

An expected match that comes near its upper limit may have reached it or not, and a
floating-point number does not show it. Here sets of positions are the bits of integers:
what one side *may* have somewhere is compared with what the other side has *always*.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable

from beyondchance.core.nesting import Forest, Tree

Certainty = tuple[bool, bool, bool]
"""Whether chance is 1: for F1, for the share of a that is matched, for that of b."""

Proof = Callable[[int], tuple[int, Callable[[int], int]]]
"""How a match for a span of given length shows at one position: which position of the
span, and which positions of a partner of another given length, as bits, may lie there."""

_FREE: Tree = (1, 0, ())


def if_all_is_covered(n: int, a: Forest, b: Forest, layer: int) -> Certainty:
    """Positions of one side are always matched if, and only if, the other covers all.

    If it does not, then not always the first position, which the one may mark.
    """
    of_a, of_b = (sum(size for size, own in _spans(side) if own == layer) == n for side in (b, a))
    return of_a and of_b, of_a, of_b


def if_never_missed(n: int, a: Forest, b: Forest, layer: int, *, proof: Proof) -> Certainty:
    """Spans of one side are always matched if the other has a partner for each always."""
    of_a, of_b = (_never_missed(n, *sides, layer, proof) for sides in ((a, b), (b, a)))
    return of_a and of_b, of_a, of_b


def if_covered_by_equals(n: int, a: Forest, b: Forest, layer: int) -> Certainty:
    """What spans share: completely if they are equal, the share of one side if it is covered."""
    equal, _, _ = if_never_missed(n, a, b, layer, proof=equal_spans)
    _, of_a, of_b = if_all_is_covered(n, a, b, layer)
    return equal, of_a, of_b


def if_levels_are_full(n: int, a: Forest, b: Forest, layer: int) -> Certainty:
    """Where spans may overlap: the other has at least as many that fill the text."""
    del layer
    of_a, of_b = (_filling(n, two) >= len(one) for one, two in ((a, b), (b, a)))
    return of_a and of_b, of_a, of_b


def if_all_fill(n: int, a: Forest, b: Forest, layer: int) -> Certainty:
    """Where spans may overlap: all fill the text, and so do as many of the other side."""
    _, of_a, of_b = if_levels_are_full(n, a, b, layer)
    of_a, of_b = of_a and _filling(n, a) == len(a), of_b and _filling(n, b) == len(b)
    return of_a and of_b, of_a, of_b


def equal_spans(length: int) -> tuple[int, Callable[[int], int]]:
    """An equal span starts where the span does."""
    return 0, lambda other: int(other == length)


def equal_starts(length: int) -> tuple[int, Callable[[int], int]]:
    """Any span that starts where the span does; for ends it is the mirror image."""
    del length
    return 0, lambda _: 1


def close_spans(length: int, *, theta: float) -> tuple[int, Callable[[int], int]]:
    """A partner at IoU > theta, for theta from 1/2 on, holds the middle of the span."""
    middle = (length - 1) // 2

    def holding(other: int) -> int:
        found = 0
        for position in range(other):
            lag = middle - position
            shared = min(length, other, length - lag, other + lag)
            if shared > 0 and shared / (length + other - shared) > theta:
                found |= 1 << position
        return found

    return middle, holding


def _never_missed(n: int, a: Forest, b: Forest, layer: int, proof: Proof) -> bool:
    """Whether every arrangement of b has a match for whatever span a may have."""
    for length, may_start in _sometimes(n, a, layer).items():
        position, marks = proof(length)
        if (may_start << position) & ~_always(n, b, layer, marks):
            return False
    return True


def _sometimes(n: int, trees: Forest, layer: int) -> dict[int, int]:
    """For each length, where spans of a layer may start."""
    found: dict[int, int] = {}
    if not trees:
        return found
    for (length, own, inner), may_start in _may_start(n, trees).items():
        if own == layer:
            found[length] = found.get(length, 0) | may_start
        for size, inside in _sometimes(length, inner, layer).items():
            found[size] = found.get(size, 0) | _sums(may_start, inside)
    return found


def _always(n: int, trees: Forest, layer: int, marks: Callable[[int], int]) -> int:
    """Positions at which, in every arrangement, some span of a layer has a mark."""
    if not trees:
        return 0
    missing = 0
    for (length, own, inner), may_start in _may_start(n, trees).items():
        marked = _always(length, inner, layer, marks) | (marks(length) if own == layer else 0)
        missing |= _sums(may_start, ~marked & ((1 << length) - 1))
    return ~missing & ((1 << n) - 1)


def _may_start(n: int, trees: Forest) -> dict[Tree, int]:
    """Where each distinct item of a line, free positions included, may start."""
    items = Counter(trees)
    items[_FREE] += n - sum(length for length, _, _ in trees)
    return {item: _subset_sums(items - Counter([item])) for item in +items}


def _subset_sums(items: Counter[Tree]) -> int:
    """Total lengths that some of the items can have."""
    found = 1
    for (length, _, _), count in items.items():
        step, left = 1, count
        while left:
            taken = min(step, left)
            found |= found << taken * length
            left, step = left - taken, 2 * step
    return found


def _sums(a: int, b: int) -> int:
    """Sums of a member of a and a member of b, one run of members of b after the other."""
    found, offset = 0, 0
    while b:
        gap = (b & -b).bit_length() - 1
        b, offset = b >> gap, offset + gap
        run = (~b & (b + 1)).bit_length() - 1
        reached, width = a << offset, 1
        while width < run:
            step = min(width, run - width)
            reached, width = reached | reached << step, width + step
        found |= reached
        b, offset = b >> run, offset + run
    return found


def _spans(trees: Forest) -> list[tuple[int, int]]:
    """Length and layer of every span."""
    return [span for length, own, inner in trees for span in ((length, own), *_spans(inner))]


def _filling(n: int, trees: Forest) -> int:
    """How many spans fill the text."""
    return sum(length == n for length, _, _ in trees)
