"""Observed match: what two annotations of one text have in common.

Spans of one annotation may overlap. What they have in common does not depend on how random
spans are placed.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator

import numpy as np

from beyondchance.core.exact import exact_total, rounded
from beyondchance.core.ragged import (
    blocks,
    bounds,
    distinct,
    largest,
    members,
    spread,
    total,
    widths,
)
from beyondchance.types import Bools, Floats, Ints
from beyondchance.values import internal

_WORD = 32
"""Bits that are gathered at a time."""
_MOST_CELLS = 2**19
"""Words of bits that are held at a time."""

Phi = Callable[[Ints, Ints, Ints, Ints], Floats]
"""Of the starts and lengths of two spans each: how much the two match."""


@internal
class SpanGroups:
    """Spans in groups: those of one annotator with one label in one text.

    Attributes
    ----------
    first : array of int, shape (groups + 1,)
        Group g owns the spans ``first[g]:first[g + 1]``, sorted by start, then end.
    start, end : arrays of int, shape (spans,)
        Half-open.
    are_apart : bool
        Whether spans of one group are known not to overlap.
    """

    first: Ints
    start: Ints
    end: Ints
    are_apart: bool = False

    def __len__(self) -> int:
        return len(self.first) - 1

    def owner(self) -> Ints:
        """Return the group of each span."""
        return np.arange(len(self)).repeat(widths(self.first))


Matched = Callable[[SpanGroups, Ints, Ints], Ints | Floats]
"""Of groups and two arrays of these: what they have in common, pair by pair; where precision
and recall have a match of their own, shape (3, pairs): the match, that of a, that of b."""


def overlapping_groups(groups: SpanGroups) -> Bools:
    """Return which groups have spans that overlap.

    Examples
    --------
    >>> groups = SpanGroups(np.array([0, 2, 4]), np.array([0, 2, 0, 1]), np.array([2, 3, 2, 3]))
    >>> overlapping_groups(groups).tolist()
    [False, True]
    """
    owner = groups.owner()
    overlaps = (groups.start[1:] < groups.end[:-1]) & (owner[1:] == owner[:-1])
    found = np.zeros(len(groups), dtype=bool)
    found[owner[1:][overlaps]] = True
    return found


def shared_positions(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Sum the smaller of the two counts over all positions, pair by pair.

    Examples
    --------
    [0, 3) and [2, 5) share one position.

    >>> groups = SpanGroups(np.array([0, 1, 2]), np.array([0, 2]), np.array([3, 5]))
    >>> shared_positions(groups, np.array([0]), np.array([1])).tolist()
    [1]
    """
    if groups.are_apart:
        return _shared_once(groups, a, b)
    overlaps = overlapping_groups(groups)
    several = overlaps[a] | overlaps[b]
    found = np.empty(len(a), dtype=np.int64)
    found[~several] = _shared_once(groups, a[~several], b[~several])
    used, where = distinct(np.concatenate([a[several], b[several]]))
    found[several] = shared_levels(taken(groups, used), *where.reshape(2, -1))
    return found


def taken(groups: SpanGroups, chosen: Ints) -> SpanGroups:
    """Select some of the groups."""
    owner, span = members(groups.first, chosen)
    return SpanGroups(bounds(owner, len(chosen)), groups.start[span], groups.end[span])


def _shared_once(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Count the positions that group a and group b both cover, pair by pair.

    The spans of a group do not overlap.
    """
    # Most groups are one span, for which nothing needs to be looked up.
    is_one = widths(groups.first) == 1
    are_ones = is_one[a] & is_one[b]
    pairs, others = are_ones.nonzero()[0], (~are_ones).nonzero()[0]
    one, two = groups.first[a[pairs]], groups.first[b[pairs]]
    until = np.minimum(groups.end[one], groups.end[two])
    found = np.empty(len(a), dtype=np.int64)
    found[pairs] = np.maximum(until - np.maximum(groups.start[one], groups.start[two]), 0)
    if len(others):
        found[others] = _shared_by_several(groups, a[others], b[others])
    return found


def _shared_by_several(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Count the positions that groups of any number of disjoint spans share, pair by pair.

    For each span of a, what b covers before its end minus what b covers before its start.
    """
    pair, span = members(groups.first, a)
    stride = largest(groups.end) + 1
    begins = groups.owner() * stride + groups.start
    covered_before = np.concatenate([[0], (groups.end - groups.start).cumsum()])
    other = b[pair]
    first = groups.first[other]
    place = np.array([groups.start[span], groups.end[span]])
    last = begins.searchsorted(other * stride + place, side="right") - 1
    inside = np.minimum(place, groups.end[last]) - groups.start[last]
    before, until = np.where(last >= first, covered_before[last] + inside, covered_before[first])
    return total(pair, until - before, len(a)).astype(np.int64)


def shared_levels(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Sum the smaller of the two counts over all positions, pair by pair.

    For spans that may overlap. The positions that a group holds at least m times
    are its level m, and level m of one is met by level m of the other.

    Examples
    --------
    [0, 4) and [1, 3) against [0, 2) and [1, 2): counts 1221 and 1200.

    >>> groups = SpanGroups(np.array([0, 2, 4]), np.array([0, 1, 0, 1]), np.array([4, 3, 2, 2]))
    >>> shared_levels(groups, np.array([0]), np.array([1])).tolist()
    [3]
    """
    levels, first_level = _levels(groups)
    n_levels = widths(first_level)
    pair, level = spread(np.minimum(n_levels[a], n_levels[b]))
    shared = _shared_once(levels, first_level[a][pair] + level, first_level[b][pair] + level)
    return total(pair, shared, len(a)).astype(np.int64)


def _levels(groups: SpanGroups) -> tuple[SpanGroups, Ints]:
    """Cut each group into levels of disjoint intervals.

    A start that makes the count m opens an interval of level m, and the next end
    that makes it m - 1 closes it.
    """
    owner = groups.owner()
    group = np.concatenate([owner, owner])
    where = np.concatenate([groups.start, groups.end])
    change = np.repeat([1, -1], len(owner))
    order = np.lexsort((change, where, group))
    group, where, change = group[order], where[order], change[order]
    # Every group's changes add up to zero, so the running count needs no reset.
    level = np.cumsum(change) - (change > 0)
    height = np.zeros(len(groups), dtype=np.int64)
    np.maximum.at(height, group, level + 1)
    first_level = np.concatenate([[0], np.cumsum(height)])
    row = first_level[group] + level
    order = np.lexsort((where, row))
    opened = order[change[order] > 0]
    closed = order[change[order] < 0]
    return (
        SpanGroups(bounds(row[opened], int(first_level[-1])), where[opened], where[closed]),
        first_level,
    )


def equal_spans(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Count the spans with the same start and end in group a and in group b, pair by pair.

    Examples
    --------
    >>> groups = SpanGroups(np.array([0, 2, 4]), np.array([0, 4, 0, 5]), np.array([2, 6, 2, 6]))
    >>> equal_spans(groups, np.array([0]), np.array([1])).tolist()
    [1]
    """
    stride = largest(groups.end) + 1
    _, shape = distinct(groups.start * stride + groups.end)
    return _in_common(groups, shape, a, b)


def equal_boundaries(groups: SpanGroups, a: Ints, b: Ints) -> Ints:
    """Count the starts that group a and group b have in common, plus the ends, pair by pair.

    Examples
    --------
    [0, 2) and [4, 6) against [0, 3) and [5, 6): one start and one end.

    >>> groups = SpanGroups(np.array([0, 2, 4]), np.array([0, 4, 0, 5]), np.array([2, 6, 3, 6]))
    >>> equal_boundaries(groups, np.array([0]), np.array([1])).tolist()
    [2]
    """
    return _in_common(groups, groups.start, a, b) + _in_common(groups, groups.end, a, b)


def _in_common(groups: SpanGroups, value: Ints, a: Ints, b: Ints) -> Ints:
    """Count what two multisets of values have in common, one value for each span."""
    n_values = largest(value) + 1
    known, number = distinct(groups.owner() * n_values + value)
    count = np.bincount(number)
    owner, value = np.divmod(known, n_values)
    pair, mine = members(bounds(owner, len(groups)), a)
    wanted = b[pair] * n_values + value[mine]
    theirs = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    shared = np.where(known[theirs] == wanted, np.minimum(count[mine], count[theirs]), 0)
    return total(pair, shared, len(a)).astype(np.int64)


def intersecting(groups: SpanGroups, a: Ints, b: Ints) -> tuple[Ints, Ints, Ints]:
    """Find pairs of spans that share a position: which pair of groups, span of a, span of b.

    Examples
    --------
    [0, 3) meets [2, 5), and [4, 6) does as well.

    >>> groups = SpanGroups(np.array([0, 2, 3]), np.array([0, 4, 2]), np.array([3, 6, 5]))
    >>> [found.tolist() for found in intersecting(groups, np.array([0]), np.array([1]))]
    [[0, 0], [0, 1], [2, 2]]
    """
    stride = largest(groups.end) + 1
    begins = groups.owner() * stride + groups.start

    def starting_within(one: Ints, other: Ints, after: int) -> tuple[Ints, Ints, Ints]:
        """Pair each span of some groups with those of others that start within it."""
        row, span = members(groups.first, one)
        base = other[row] * stride
        begin = np.searchsorted(begins, base + groups.start[span] + after)
        which, place = spread(np.searchsorted(begins, base + groups.end[span]) - begin)
        return row[which], span[which], begin[which] + place

    # Of two spans that meet, one starts within the other; those that start together count once.
    row, one, later = starting_within(a, b, 0)
    other_row, two, later_one = starting_within(b, a, 1)
    return (
        np.concatenate([row, other_row]),
        np.concatenate([one, later_one]),
        np.concatenate([later, two]),
    )


def overlapping(one: Ints, other: Ints, most: int = 2**62) -> tuple[Ints, Ints]:
    """Find pairs of stretches that share a position; none where there are more than `most`.

    Parameters
    ----------
    one, other : array of int, shape (2, stretches)
        Starts and ends, none of them empty, in any order.

    Examples
    --------
    >>> one, other = np.array([[4, 0], [6, 3]]), np.array([[2], [5]])
    >>> [found.tolist() for found in overlapping(one, other)]
    [[1, 0], [0, 0]]
    """
    begun = np.sort(other[0]).searchsorted(one[1])
    if (begun - np.sort(other[1]).searchsorted(one[0], side="right")).sum() > most:
        other = other[:, :0]
    first, second = np.argsort(one[0]), np.argsort(other[0])
    start, end = np.concatenate([one[:, first], other[:, second]], axis=1)
    groups = SpanGroups(np.array([0, len(first), len(start)]), start, end)
    _, i, j = intersecting(groups, np.array([0]), np.array([1]))
    return first[i], second[j - len(first)]


def shared_parts(groups: SpanGroups, a: Ints, b: Ints) -> Floats:
    """Sum the parts of spans that are shared, pair by pair.

    At each position the shortest span of one side meets the shortest of the other, the
    second shortest the second shortest and so on, which makes the sum as large as it can be
    while no position of a span counts twice. Where the spans of a group are disjoint,
    these are all pairs of spans that intersect.

    Returns
    -------
    array of float, shape (3, pairs)
        What they share divided by the mean of their lengths, by the length of the
        span of a, and by that of the span of b.

    Examples
    --------
    [0, 4) and [2, 4) share two positions.

    >>> groups = SpanGroups(np.array([0, 1, 2]), np.array([0, 2]), np.array([4, 4]))
    >>> shared_parts(groups, np.array([0]), np.array([1]))[:, 0].round(4).tolist()
    [0.6667, 0.5, 1.0]
    """
    overlaps = overlapping_groups(groups)
    if not overlaps.any():
        return _shared_by_pairs(groups, groups.end - groups.start, a, b)
    several = overlaps[a] | overlaps[b]
    found = np.empty((3, len(a)))
    lengths = groups.end - groups.start
    found[:, ~several] = _shared_by_pairs(groups, lengths, a[~several], b[~several])
    used, where = distinct(np.concatenate([a[several], b[several]]))
    x, y = where.reshape(2, -1)
    ranks, first, lengths = _ranks(taken(groups, used))
    pair, rank = spread(np.minimum(widths(first)[x], widths(first)[y]))
    shared = _shared_by_pairs(ranks, lengths, first[x][pair] + rank, first[y][pair] + rank)
    found[:, several] = [exact_total(pair, rounded(row), len(x)) for row in shared]
    return found


def _shared_by_pairs(groups: SpanGroups, lengths: Ints, a: Ints, b: Ints) -> Floats:
    """Sum what intersecting spans share, as parts of spans of these lengths."""
    row, one, two = intersecting(groups, a, b)
    shared = _shared(groups, one, two)
    sizes = ((lengths[one] + lengths[two]) / 2, lengths[one], lengths[two])
    return np.array([exact_total(row, rounded(shared / size), len(a)) for size in sizes])


def _ranks(groups: SpanGroups) -> tuple[SpanGroups, Ints, Ints]:
    """Cut each group into stretches of its shortest span, its second shortest and so on.

    Returns
    -------
    ranks : SpanGroups
        A group for each rank of each group.
    first : array of int, shape (groups + 1,)
        Group g has the ranks ``first[g]:first[g + 1]``.
    lengths : array of int
        The length of the span of which each stretch is a part.
    """
    owner = groups.owner()
    stride = largest(groups.end) + 1
    # Stretches lie between all starts and ends of a group; each span has a few of them.
    edges = distinct(np.concatenate([owner * stride + x for x in (groups.start, groups.end)]))[0]
    begin, stop = (np.searchsorted(edges, owner * stride + x) for x in (groups.start, groups.end))
    span, place = spread(stop - begin)
    stretch = begin[span] + place
    lengths = (groups.end - groups.start)[span]
    order = np.lexsort((lengths, stretch))
    stretch, span, lengths = stretch[order], span[order], lengths[order]
    begins = np.diff(stretch, prepend=-1) != 0
    rank = np.arange(len(stretch)) - np.flatnonzero(begins)[np.cumsum(begins) - 1]
    height = np.zeros(len(groups), dtype=np.int64)
    np.maximum.at(height, owner[span], rank + 1)
    first = np.concatenate([[0], np.cumsum(height)])
    row = first[owner[span]] + rank
    order = np.argsort(row, kind="stable")
    where = edges - edges // stride * stride
    start, end = where[stretch[order]], where[stretch[order] + 1]
    return SpanGroups(bounds(row[order], int(first[-1])), start, end), first, lengths[order]


def partners(groups: SpanGroups, a: Ints, b: Ints, *, theta: float) -> Ints:
    """Count the one-to-one pairs of spans of a and b at IoU > theta, pair by pair.

    As many as possible: where a span has several possible partners, the pairing is
    one that leaves the fewest alone.

    Examples
    --------
    [0, 4) and [1, 4) share three of four positions.

    >>> groups = SpanGroups(np.array([0, 1, 2]), np.array([0, 1]), np.array([4, 4]))
    >>> partners(groups, np.array([0]), np.array([1]), theta=0.5).tolist()
    [1]
    """
    row, one, two = intersecting(groups, a, b)
    shared = _shared(groups, one, two)
    lengths = groups.end - groups.start
    close = shared / (lengths[one] + lengths[two] - shared) > theta
    return paired(row[close], one[close], two[close], len(a))


def summed_phi(groups: SpanGroups, a: Ints, b: Ints, *, phi: Phi) -> Floats:
    """Sum any function of two spans over those that intersect, pair by pair."""
    row, one, two = intersecting(groups, a, b)
    lengths = groups.end - groups.start
    value = phi(groups.start[one], lengths[one], groups.start[two], lengths[two])
    return exact_total(row, rounded(value), len(a))


def _shared(groups: SpanGroups, one: Ints, two: Ints) -> Ints:
    """Count the positions that two spans share, if they share any."""
    end = np.minimum(groups.end[one], groups.end[two])
    return np.asarray(end - np.maximum(groups.start[one], groups.start[two]))


def paired(row: Ints, one: Ints, two: Ints, n_rows: int) -> Ints:
    """Compute the size of the largest one-to-one pairing in each row.

    Parameters
    ----------
    row, one, two : arrays of int, shape (possible pairs,)
        Each possible pair once: its row, and its two sides.

    Examples
    --------
    Both 0 and 1 want 7, and 1 is content with 8.

    >>> paired(np.array([0, 0, 0]), np.array([0, 1, 1]), np.array([7, 7, 8]), 1).tolist()
    [2]
    """
    rivals = np.maximum(_repeated(row, one), _repeated(row, two))
    sizes = total(row, rivals == 1, n_rows).astype(np.int64)
    contested = np.flatnonzero(rivals > 1)
    wishes: dict[int, dict[int, int]] = {}
    for which, left, bits in _wishes(row[contested], one[contested], two[contested]):
        wishes.setdefault(which, {})[left] = bits
    for which, own in wishes.items():
        sizes[which] += largest_pairing(own)
    return sizes


def _wishes(row: Ints, one: Ints, two: Ints) -> Iterator[tuple[int, int, int]]:
    """Yield each row and one side with all that it may be paired with, as the bits of a number."""
    rows, number = distinct(row)
    lowest = np.full(len(rows), largest(two))
    np.minimum.at(lowest, number, two)
    two = two - lowest[number]
    n_words = largest(two) // _WORD + 1
    stride = largest(one) + 1
    sides, side = distinct(number * stride + one)
    order = np.argsort(side, kind="stable")
    first = bounds(side, len(sides))
    for part in blocks(np.full(len(sides), n_words), _MOST_CELLS):
        pairs = order[first[part.start] : first[part.stop]]
        word = (side[pairs] - part.start) * n_words + two[pairs] // _WORD
        # Different powers of two, so that their sum has all their bits, and is exact.
        sums = total(word, 1 << two[pairs] % _WORD, (part.stop - part.start) * n_words)
        words = sums.astype("<u4").reshape(-1, n_words)
        names = zip(
            rows[sides[part] // stride].tolist(), (sides[part] % stride).tolist(), strict=True
        )
        for (which, left), bits in zip(names, words, strict=True):
            yield which, left, int.from_bytes(bits.tobytes(), "little")


def _repeated(row: Ints, side: Ints) -> Ints:
    """Count how often each value occurs in its row."""
    code = row * (largest(side) + 1) + side
    number = distinct(code)[1]
    return np.asarray(np.bincount(number)[number])


def largest_pairing(wishes: dict[int, int]) -> int:
    """Compute the size of the largest one-to-one pairing, by augmenting paths.

    Parameters
    ----------
    wishes : dict of int to int
        What each of one side may be paired with, as the bits of a number.

    Examples
    --------
    The first two want the same.

    >>> largest_pairing({0: 0b01, 1: 0b01, 2: 0b11})
    2
    """
    free = 0
    for wish in wishes.values():
        free |= wish
    useful, holds, held_by = free, dict[int, int](), dict[int, int]()
    for one in wishes:
        asked_by: dict[int, int] = {}
        unasked, found, asking = useful, 0, [one]
        for asker in asking:
            # What is wanted and not free is held, and whoever holds it is asked next.
            wanted = wishes[asker] & unasked
            found = wanted & free
            if found:
                asked_by[_lowest(found)] = asker
                break
            unasked ^= wanted
            while wanted:
                asked_by[_lowest(wanted)] = asker
                asking.append(held_by[_lowest(wanted)])
                wanted &= wanted - 1
        if not found:
            # Nothing that was asked for can ever be passed on.
            useful = unasked
            continue
        # Each along the path takes what it asked for and passes on what it held.
        passed_on: int | None = _lowest(found)
        free ^= found & -found
        while passed_on is not None:
            taker = asked_by[passed_on]
            taken, passed_on = passed_on, holds.get(taker)
            holds[taker], held_by[taken] = taken, taker
    return len(holds)


def _lowest(bits: int) -> int:
    """Return the place of the lowest bit."""
    return (bits & -bits).bit_length() - 1
