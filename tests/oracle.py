"""The mathematics once more: slow, obvious, and in exact arithmetic.

Nothing here is shared with the package. `arrangements` enumerates; `equation_1` is
the sum over subsets as the paper prints it; `pooled_equation_1` counts subsets by
size and total length with integers; `flat_value` follows from Proposition 3;
`by_positive_terms` is the same sum with floats; `by_arrival_times` is an integral.
`shuffled` enumerates whole annotations, with labels and with spans inside spans, and
`MATCHES` are the measures in their plainest words.
"""

from __future__ import annotations

from collections import Counter
from collections.abc import Callable, Iterable, Iterator
from fractions import Fraction
from functools import cache
from itertools import combinations, pairwise as neighbours, permutations, product
from math import factorial, perm

import numpy as np


def multisets(n: int, most: int | None = None) -> Iterator[tuple[int, ...]]:
    """Every multiset of span lengths that fits into n positions without overlap."""
    yield ()
    for length in range(1, min(n, most or n) + 1):
        for rest in multisets(n - length, length):
            yield (length, *rest)


@cache
def arrangements(n: int, lengths: tuple[int, ...], model: str) -> list[tuple[int, ...]]:
    """All tuples of starts; spans are distinguishable."""
    found: list[tuple[int, ...]] = []

    def place(starts: tuple[int, ...], held: frozenset[int]) -> None:
        if len(starts) == len(lengths):
            found.append(starts)
            return
        length = lengths[len(starts)]
        for start in range(n - length + 1):
            here = frozenset(range(start, start + length))
            if model == "overlapping" or not here & held:
                place((*starts, start), held | here)

    place((), frozenset())
    return found


@cache
def corpus_arrangements(
    sizes: tuple[int, ...], lengths: tuple[int, ...]
) -> list[tuple[tuple[int, int], ...]]:
    """All tuples of (text, start) of disjoint spans that may be in any text."""
    found: list[tuple[tuple[int, int], ...]] = []

    def place(done: tuple[tuple[int, int], ...], held: frozenset[tuple[int, int]]) -> None:
        if len(done) == len(lengths):
            found.append(done)
            return
        length = lengths[len(done)]
        for text, n in enumerate(sizes):
            for start in range(n - length + 1):
                here = frozenset((text, t) for t in range(start, start + length))
                if not here & held:
                    place((*done, (text, start)), held | here)

    place((), frozenset())
    return found


@cache
def start_probabilities(n: int, lengths: tuple[int, ...], model: str) -> list[list[Fraction]]:
    """By counting arrangements."""
    found = arrangements(n, lengths, model)
    columns = [Counter(column) for column in zip(*found, strict=True)]
    return [
        [Fraction(columns[i][x], len(found)) for x in range(n - a + 1)]
        for i, a in enumerate(lengths)
    ]


def holders(n: int, lengths: tuple[int, ...], starts: tuple[int, ...]) -> list[int]:
    """How many spans hold each position."""
    held = [0] * n
    for start, length in zip(starts, lengths, strict=True):
        for t in range(start, start + length):
            held[t] += 1
    return held


@cache
def holder_distribution(n: int, lengths: tuple[int, ...], model: str) -> list[dict[int, Fraction]]:
    """For each position, the distribution of the number of spans that hold it."""
    found = arrangements(n, lengths, model)
    held = Counter(
        (t, count) for starts in found for t, count in enumerate(holders(n, lengths, starts))
    )
    result: list[dict[int, Fraction]] = [{} for _ in range(n)]
    for (t, count), times in held.items():
        result[t][count] = Fraction(times, len(found))
    return result


def coverage(n: int, lengths: tuple[int, ...], model: str) -> list[Fraction]:
    """Probability that each position is held at least once."""
    return [1 - held.get(0, Fraction(0)) for held in holder_distribution(n, lengths, model)]


@cache
def start_count_distribution(
    n: int, lengths: tuple[int, ...], model: str
) -> dict[tuple[int, int], dict[int, Fraction]]:
    """For each (start, length), the distribution of the number of such spans."""
    found = arrangements(n, lengths, model)
    keys = [(x, a) for a in set(lengths) for x in range(n - a + 1)]
    seen = Counter(
        (key, count)
        for starts in found
        for key, count in Counter(zip(starts, lengths, strict=True)).items()
    )
    result: dict[tuple[int, int], dict[int, Fraction]] = {key: {} for key in keys}
    for (key, count), times in seen.items():
        result[key][count] = Fraction(times, len(found))
    return result


def expected_smaller(a: dict[int, Fraction], b: dict[int, Fraction]) -> Fraction:
    """Expected value of the smaller of two independent counts (0 adds nothing)."""
    return sum((p * q * min(i, j) for i, p in a.items() for j, q in b.items()), Fraction(0))


def expected_tokens(n: int, a: tuple[int, ...], b: tuple[int, ...], model: str) -> Fraction:
    """Expected number of positions in common: the smaller count at each."""
    sides = (holder_distribution(n, side, model) for side in (a, b))
    return sum((expected_smaller(p, q) for p, q in zip(*sides, strict=True)), Fraction(0))


def expected_equal(n: int, a: tuple[int, ...], b: tuple[int, ...], model: str) -> Fraction:
    """Expected number of equal spans: the smaller count of each."""
    left, right = (start_count_distribution(n, side, model) for side in (a, b))
    shared = left.keys() & right.keys()
    return sum((expected_smaller(left[key], right[key]) for key in shared), Fraction(0))


# --- Larger texts -------------------------------------------------------------


def equation_1(n: int, lengths: list[int], i: int) -> list[Fraction]:
    """Equation 1 as printed: a sum over all subsets of the other spans."""
    a, k = sum(lengths), len(lengths)
    others = lengths[:i] + lengths[i + 1 :]
    total = perm(n - a + k, k)
    result = []
    for start in range(1, n - lengths[i] + 2):
        ways = 0
        for m in range(k):
            for before in combinations(others, m):
                left = start - sum(before) + m - 1
                right = n - start - a + sum(before) + k - m
                if left >= m and right >= k - 1 - m:
                    ways += perm(left, m) * perm(right, k - 1 - m)
        result.append(Fraction(ways, total))
    return result


def subset_counts(lengths: list[int], most: int) -> dict[tuple[int, int], int]:
    """Subsets by (size, total length), total at most `most`."""
    counts = {(0, 0): 1}
    for length in lengths:
        for (m, s), ways in list(counts.items()):
            if s + length <= most:
                key = (m + 1, s + length)
                counts[key] = counts.get(key, 0) + ways
    return counts


def pooled_equation_1(n: int, lengths: list[int], taken: int, most: int) -> list[Fraction]:
    """Probabilities of the first `most` places of one item, with integers.

    `taken` is the length of the span taken out, or 0 for a free position.
    """
    others = list(lengths)
    if taken:
        others.remove(taken)
    a = sum(others) + max(taken, 1)
    k = len(others) + 1
    counts = subset_counts(others, most)
    total = perm(n - a + k, k)
    result = []
    for x in range(min(most, n - max(taken, 1) + 1)):
        ways = 0
        for (m, s), number in counts.items():
            left = x - s + m
            right = n - x - 1 - a + s + k - m
            if left >= m and right >= k - 1 - m:
                ways += number * perm(left, m) * perm(right, k - 1 - m)
        result.append(Fraction(ways, total))
    return result


def flat_value(n: int, lengths: list[int], taken: int) -> Fraction:
    """The constant of Proposition 3, which is a polynomial identity.

    With N items, K other spans and their excesses e_i = a_i - 1, the probability
    of each place in the flat middle is (1/N) * sum_j (-1)^j j! s_j / (N - 1)_j,
    where s_j are the elementary symmetric polynomials of the excesses.
    """
    others = list(lengths)
    if taken:
        others.remove(taken)
    items = n - sum(lengths) + len(lengths)
    symmetric = [1]
    for length in others:
        if length > 1:
            longer = [*symmetric, 0]
            for j, value in enumerate(symmetric):
                longer[j + 1] += value * (length - 1)
            symmetric = longer
    total = sum(
        (
            Fraction((-1) ** j * factorial(j) * value, perm(items - 1, j))
            for j, value in enumerate(symmetric)
        ),
        Fraction(0),
    )
    return total / items


def by_positive_terms(n: int, lengths: list[int], taken: int) -> np.ndarray:
    """See `_by_positive_terms`, which is slow enough to be asked once."""
    return _by_positive_terms(n, tuple(lengths), taken)


@cache
def _by_positive_terms(n: int, lengths: tuple[int, ...], taken: int) -> np.ndarray:
    """All places of one item, as a sum of which every term is positive, so that no digit is lost.

    Of j longer spans taken at random, the total excess over one position each; of the first m
    items, the number of longer spans; and what both say about the m items before this one.
    """
    others = list(lengths)
    if taken:
        others.remove(taken)
    size = n - max(taken, 1) + 1
    longer = [a for a in others if a > 1]
    items = size - sum(longer) + len(longer)
    width, j = size // 2 + 1, np.arange(len(longer) + 1)
    sums = np.zeros((len(j), width), dtype=np.longdouble)
    sums[0, 0] = 1
    for number, a in enumerate(longer, 1):
        share = np.minimum(j / np.longdouble(number), 1)[:, None]
        grown = (1 - share) * sums
        grown[1:, a - 1 :] += share[1:] * sums[:-1, : max(width - a + 1, 0)]
        sums = grown
    drawn = np.zeros((min(items, width), len(j)), dtype=np.longdouble)
    drawn[0, 0] = 1
    for m in range(len(drawn) - 1):
        left = items - 1 - m
        drawn[m + 1] = drawn[m] * np.maximum(left - (len(longer) - j), 0) / left
        drawn[m + 1, 1:] += drawn[m, :-1] * (len(longer) - j[:-1]) / left
    half = sum(np.convolve(sums[i], drawn[:, i])[:width] for i in j) / items
    return np.concatenate([half[: (size + 1) // 2], half[: size // 2][::-1]]).astype(float)


def by_arrival_times(n: int, lengths: list[int], taken: int, nodes: int) -> np.ndarray:
    """See `_by_arrival_times`, which is slow enough to be asked once."""
    return _by_arrival_times(n, tuple(lengths), taken, nodes)


@cache
def _by_arrival_times(n: int, lengths: tuple[int, ...], taken: int, nodes: int) -> np.ndarray:
    """Every item arrives at an independent uniform time (an integral over time).

    Exact for `nodes` (an even number) of at least half the number of items, and to
    the last digits long before.
    """
    others = list(lengths)
    if taken:
        others.remove(taken)
    size = n - max(taken, 1) + 1
    free = n - sum(lengths) - (0 if taken else 1)
    distinct, counts = np.unique([1] * free + others, return_counts=True)
    turn = np.exp(-2j * np.pi * np.outer(distinct, np.arange(size // 2 + 1)) / size)
    mirror = np.exp(2j * np.pi * np.arange(size // 2 + 1) / size)
    x, w = np.polynomial.legendre.leggauss(nodes)
    transform = np.zeros(size // 2 + 1, dtype=complex)
    for p, weight in zip((1 + x[x < 0]) / 2, w[x < 0] / 2, strict=True):
        value = weight * np.exp((counts[:, None] * np.log(1 - p + p * turn)).sum(axis=0))
        transform += value + mirror * value.conj()  # the node 1 - p mirrors the node p
    return np.fft.irfft(transform, size)


# --- Whole annotations: every scope, model and measure ------------------------

Span = tuple[int, int, str]
Annotation = tuple[Span, ...]
Match = Callable[[Annotation, Annotation], Fraction]


def seen(annotation: Annotation, scope: str) -> Annotation:
    """The spans as a scope sees them."""
    if scope == "unlabelled":
        return tuple(sorted({(start, end, "(any)") for start, end, _ in annotation}))
    return tuple(sorted(annotation))


def lines(annotation: Annotation, scope: str) -> list[Annotation]:
    """The spans that are shuffled together."""
    if scope != "label":
        return [annotation] if annotation else []
    labels = sorted({label for _, _, label in annotation})
    return [tuple(span for span in annotation if span[2] == label) for label in labels]


def around(line: Annotation, i: int) -> int:
    """The smallest span that holds span i; -1 if there is none.

    Of equal spans the one that comes first holds the other.
    """
    start, end, _ = line[i]
    holding = [
        (e - s, -j)
        for j, (s, e, _) in enumerate(line)
        if s <= start and end <= e and j != i and ((s, e) != (start, end) or j < i)
    ]
    return -min(holding)[1] if holding else -1


@cache
def shuffled(n: int, annotation: Annotation, scope: str, model: str) -> dict[Annotation, Fraction]:
    """Every annotation that chance can make of one, with its probability."""
    ways = [
        [
            tuple(
                (s, s + end - start, label)
                for s, (start, end, label) in zip(starts, line, strict=True)
            )
            for starts in placed(n, line, model)
        ]
        for line in lines(seen(annotation, scope), scope)
    ]
    found = Counter(tuple(sorted(sum(parts, ()))) for parts in product(*ways))
    return {spans: Fraction(times, found.total()) for spans, times in found.items()}


def placed(n: int, line: Annotation, model: str) -> list[tuple[int, ...]]:
    """The starts of all spans of a line, in every arrangement."""
    if model in {"disjoint", "overlapping"}:
        return arrangements(n, tuple(length(span) for span in line), model)
    found = filled(line, tuple(range(len(line))), n)
    return [tuple(starts[i] for i in range(len(line))) for starts in found]


def crosses(a: Span, b: Span) -> bool:
    return a[0] < b[0] < a[1] < b[1] or b[0] < a[0] < b[1] < a[1]


def clusters(line: Annotation, which: tuple[int, ...]) -> list[tuple[int, ...]]:
    """Spans that are linked by crossing one another; most are alone."""
    found = [{i} for i in which]
    for i, j in combinations(which, 2):
        if crosses(line[i], line[j]):
            one, two = (next(part for part in found if k in part) for k in (i, j))
            if one is not two:
                found.remove(two)
                one |= two
    return [tuple(sorted(part)) for part in found]


def hull(line: Annotation, cluster: tuple[int, ...]) -> tuple[int, int]:
    return min(line[i][0] for i in cluster), max(line[i][1] for i in cluster)


Part = tuple[int, ...]


def outermost(line: Annotation, which: Part) -> list[tuple[Part, list[tuple[int, int, Part]]]]:
    """The spans, and clusters of spans that cross, in which all others lie.

    Each with its stretches between two ends of its spans, and what lies in there.
    """
    parts = clusters(line, which)

    def lies_in(inner: Part, outer: Part) -> bool:
        (s, e), (t, f) = hull(line, inner), hull(line, outer)
        equal = (s, e) == (t, f) and (len(inner), inner) < (len(outer), outer)
        return inner != outer and t <= s and e <= f and not equal

    found = []
    for part in parts:
        if any(lies_in(part, other) for other in parts):
            continue
        inside = [i for other in parts if lies_in(other, part) for i in other]
        edges = sorted({edge for i in part for edge in line[i][:2]})
        cells = [
            (s, e, tuple(i for i in inside if s <= line[i][0] and line[i][1] <= e))
            for s, e in neighbours(edges)
        ]
        found.append((part, cells))
    return found


def filled(line: Annotation, which: Part, size: int) -> list[dict[int, int]]:
    """All ways to place these spans in a text, or in a part of one, of that size.

    What lies inside a span moves inside it. What lies inside spans that cross moves inside the
    stretch between two of their ends in which it is.
    """
    parts = outermost(line, which)
    ways = []
    for part, cells in parts:
        low, _ = hull(line, part)
        choices = [[{i: line[i][0] - low for i in part}]]
        for left, right, inner in cells:
            found = filled(line, inner, right - left)
            choices.append([{i: left - low + s for i, s in way.items()} for way in found])
        ways.append([joined(chosen) for chosen in product(*choices)])
    lengths = tuple(e - s for s, e in (hull(line, part) for part, _ in parts))
    return [
        joined(
            {i: start + s for i, s in way.items()}
            for start, way in zip(starts, chosen, strict=True)
        )
        for starts in arrangements(size, lengths, "disjoint")
        for chosen in product(*ways)
    ]


def joined(parts: Iterable[dict[int, int]]) -> dict[int, int]:
    return {key: value for part in parts for key, value in part.items()}


Whole = tuple[tuple[tuple[int, int], ...], str]
"""A span by its parts, and its label."""


def shuffled_wholes(
    n: int, annotation: tuple[Whole, ...], scope: str
) -> dict[tuple[Whole, ...], Fraction]:
    """Every annotation that chance can make of spans of several parts, which keep their distances.

    Nothing else is between the parts, so that a span moves as one that has no gaps.
    """
    listed = {(parts, "(any)") for parts, _ in annotation} if scope == "unlabelled" else annotation
    own = sorted(listed)
    labels = sorted({label for _, label in own}) if scope == "label" else [None]
    ways = []
    for label in labels:
        line = [whole for whole in own if label in {None, whole[1]}]
        hulls = tuple((parts[0][0], parts[-1][1], name) for parts, name in line)
        ways.append(
            [
                tuple(
                    (tuple((s - x[0][0] + start, e - x[0][0] + start) for s, e in x), name)
                    for (x, name), start in zip(line, starts, strict=True)
                )
                for starts in placed(n, hulls, "auto")
            ]
        )
    found = Counter(tuple(sorted(sum(chosen, ()))) for chosen in product(*ways))
    return {wholes: Fraction(times, found.total()) for wholes, times in found.items()}


def matched_wholes(measure: str) -> Callable[[tuple[Whole, ...], tuple[Whole, ...]], Fraction]:
    """What spans of several parts have in common, by token or exact."""

    def matched(a: tuple[Whole, ...], b: tuple[Whole, ...]) -> Fraction:
        if measure == "exact":
            return Fraction((Counter(a) & Counter(b)).total())
        apart = ([(*part, label) for parts, label in side for part in parts] for side in (a, b))
        return matched_tokens(*map(tuple, apart))

    return matched


def layers(annotation: Annotation) -> dict[tuple[str, int], list[Span]]:
    """Spans by label and by the number of spans of that label around them, plus one."""
    found: dict[tuple[str, int], list[Span]] = {}
    for label in {label for _, _, label in annotation}:
        line = tuple(span for span in annotation if span[2] == label)
        for i, span in enumerate(line):
            depth, j = 1, i
            while (j := around(line, j)) >= 0:
                depth += 1
            found.setdefault((label, depth), []).append(span)
    return found


def shared(a: Span, b: Span) -> int:
    """Positions that two spans have in common."""
    return max(0, min(a[1], b[1]) - max(a[0], b[0]))


def matched_tokens(a: Annotation, b: Annotation) -> Fraction:
    held = [Counter((t, label) for s, e, label in side for t in range(s, e)) for side in (a, b)]
    return Fraction((held[0] & held[1]).total())


def matched_exact(a: Annotation, b: Annotation) -> Fraction:
    return Fraction((Counter(a) & Counter(b)).total())


def matched_boundaries(a: Annotation, b: Annotation) -> Fraction:
    """Starts and ends are counted, whatever span they are of."""
    total = 0
    for end in (0, 1):
        one, two = (Counter((span[end], span[2]) for span in side) for side in (a, b))
        total += (one & two).total()
    return Fraction(total)


def pairwise(phi: Callable[[Span, Span], Fraction]) -> Match:
    """Sum over all pairs of spans that share a position."""

    def matched(a: Annotation, b: Annotation) -> Fraction:
        return sum((phi(x, y) for x in a for y in b if shared(x, y)), Fraction(0))

    return matched


def length(span: Span) -> int:
    return span[1] - span[0]


def matched_parts(share: Callable[[int, int], Fraction]) -> Match:
    """At each position every span of one side has one partner at most, so that all is most."""

    def best(a: list[int], b: list[int]) -> list[tuple[int, int]]:
        if not a or not b:
            return []
        short, long = sorted((a, b), key=len)
        pairings = [list(zip(short, p, strict=True)) for p in permutations(long, len(short))]
        found = max(pairings, key=lambda pairs: sum(Fraction(2, x + y) for x, y in pairs))
        return found if short is a else [(y, x) for x, y in found]

    def matched(a: Annotation, b: Annotation) -> Fraction:
        total = Fraction(0)
        for label in {span[2] for span in a}:
            for t in range(max((span[1] for span in a), default=0)):
                sides = [
                    [length(span) for span in side if span[0] <= t < span[1] and span[2] == label]
                    for side in (a, b)
                ]
                total += sum((share(x, y) for x, y in best(*sides)), Fraction(0))
        return total

    return matched


def dice(a: Span, b: Span) -> Fraction:
    return Fraction(2 * shared(a, b), length(a) + length(b))


def close(a: Span, b: Span, theta: Fraction) -> bool:
    return Fraction(shared(a, b), length(a) + length(b) - shared(a, b)) > theta


def matched_pairs(theta: Fraction) -> Match:
    """The most spans of one label that can be paired one to one, by trying everything."""

    def matched(a: Annotation, b: Annotation) -> Fraction:
        if not a:
            return Fraction(0)
        first, rest = a[0], a[1:]
        best = matched(rest, b)
        for i, other in enumerate(b):
            if other[2] == first[2] and close(first, other, theta):
                best = max(best, 1 + matched(rest, b[:i] + b[i + 1 :]))
        return best

    return matched


def custom_phi(a: Span, b: Span) -> Fraction:
    """A function of two spans that depends on where they are, too."""
    return Fraction(shared(a, b) ** 2, (1 + min(a[0], b[0])) * max(length(a), length(b)))


MATCHES: dict[str, Match] = {
    "token": matched_tokens,
    "exact": matched_exact,
    "boundary": matched_boundaries,
    "dice": matched_parts(lambda a, b: Fraction(2, a + b)),
    "dice of a": matched_parts(lambda a, _: Fraction(1, a)),
    "dice of b": matched_parts(lambda _, b: Fraction(1, b)),
    "iou": matched_pairs(Fraction(1, 2)),
    "custom": pairwise(custom_phi),
}
"""By measure."""


def only(annotation: Annotation, label: str) -> Annotation:
    return tuple(span for span in annotation if span[2] == label)


def expected(
    n: int, a: Annotation, b: Annotation, *, scope: str, model: str, match: Match, label: str
) -> Fraction:
    """The match of one label averaged over all annotations that chance can make."""
    sides: list[Counter[Annotation]] = []
    for side in (a, b):
        found: Counter[Annotation] = Counter()
        for spans, probability in shuffled(n, side, scope, model).items():
            found[only(spans, label)] += probability
        sides.append(found)
    return sum(
        (p * q * match(x, y) for x, p in sides[0].items() for y, q in sides[1].items()),
        Fraction(0),
    )


def thrown(n: int, line: Annotation, model: str, rng: np.random.Generator) -> Annotation:
    """One random arrangement of a line, by putting its items in random order."""
    if model == "overlapping":
        starts = [int(rng.integers(n - length(span) + 1)) for span in line]
        return tuple((s, s + length(span), span[2]) for s, span in zip(starts, line, strict=True))
    found: list[Span] = []

    def fill(which: Part, size: int, offset: int) -> None:
        parts = outermost(line, which)
        widths = [e - s for s, e in (hull(line, part) for part, _ in parts)]
        where = offset
        for item in rng.permutation([*range(len(parts)), *[-1] * (size - sum(widths))]).tolist():
            if item < 0:
                where += 1
                continue
            part, cells = parts[item]
            low, _ = hull(line, part)
            found.extend(
                (where + s - low, where + e - low, label) for s, e, label in (line[i] for i in part)
            )
            for left, right, inner in cells:
                fill(inner, right - left, where + left - low)
            where += widths[item]

    fill(tuple(range(len(line))), n, 0)
    return tuple(found)
