r"""Where random spans fall: the position of one item among the others.

A text of :math:`n` positions with :math:`k` non-overlapping spans of total
length :math:`a` is a row of :math:`N = n - a + k` *items*: the spans, and the
:math:`n - a` free positions. All arrangements equally likely means that the
items stand in a uniformly random order. A one-position span behaves as a free
position does (both are *units*); only *long* spans, of two positions or more,
move the others, by their *excess*, length minus one.

Take one item out. Among the other :math:`N - 1` items are :math:`K` long spans. The
number of positions before the item is :math:`x = m + e` when :math:`m` items
of total excess :math:`e` precede it, and each :math:`m` has probability
:math:`1/N`:

.. math::
    P(x) = \frac1N \sum_{j,e} E_j(e)\, G_j(x - e)

where :math:`G_j(m)` is the hypergeometric probability of :math:`j` long spans among
:math:`m` items, and :math:`E_j(e)` the probability that :math:`j` long spans taken at
random have the total excess :math:`e`. This is Equation 1 of Li, Rosé, Yuan &
Zhou (2024) with its subsets counted by size and total length. Three facts keep
it small: the distribution mirrors; it is constant for :math:`X \le x \le N - 1`
where :math:`X` is the total excess (Proposition 3); and in floating point it is
constant much sooner.
"""

from __future__ import annotations

from collections.abc import Iterator, Sequence
from functools import cache

import numpy as np

from beyondchance.core.arrivals import edges_by_arrival
from beyondchance.core.lengths import LengthTable
from beyondchance.core.profiles import Profiles, boxes, joined
from beyondchance.core.ragged import (
    distinct,
    largest,
    members,
    rows_by_value,
    spread,
    starts,
    total,
)
from beyondchance.types import Complexes, Floats, Ints

# Problems up to this size are solved together, the others one by one. Which
# road a problem takes depends on its own numbers only, so that splitting a
# corpus never changes a digit.
_SMALL_LONGS = 4
_SMALL_EXCESS = 64

_FIRST_REACH = 63
"""Edge positions to compute before asking whether the middle is reached."""
_FLAT = 1e-13
"""Relative deviation up to which values count as constant."""
_NEGLIGIBLE = 1e-25
"""Probabilities below this cannot move a digit of any sum."""
_FEW_EQUAL = 4
"""Equal long spans up to this number are added one by one, more of them together."""
_HARMLESS = 5e-13
"""Error up to which a long span may be taken out of a table by subtraction."""
_MOST_WORK = 2**24
"""Cells of a table of subsets times passes over it; where it takes more, the integral is faster."""
_PASSES = 10
"""Passes over a table that weights cost, or the transforms for one item."""
_MOST_CELLS = 2**26
"""Cells of a table that fit into memory."""
_FEW_LONGS = 8
"""Long spans up to which a table takes less than the integral, however long the text is."""


def coverage_profiles(table: LengthTable, entry: Ints) -> Profiles:
    """Compute the probability that each position is annotated, a sequence for each entry asked for.

    Every position is held by exactly one item, so what the free positions do
    not hold is annotated: ``c(t) = 1 - free * q(t)``, with q the position of
    one free position.
    """
    n, free = table.n[entry], table.free()[entry]
    is_open = free > 0
    if np.count_nonzero(is_open) < len(n):
        # What spans fill is annotated everywhere.
        full = boxes(n[~is_open])
        order = (~is_open).argsort(kind="stable").argsort()
        return joined(coverage_profiles(table, entry[is_open]), full).take(order)
    position = item_profiles(table, entry, np.ones(len(entry), dtype=np.int64))
    reach, width = position.reach, position.reach + 1
    values = 1 - free.repeat(width) * position.values
    # Where the middle is most of the text, what all positions add up to gives it to the
    # last digit, however small it is; 1 - free * q would lose digits.
    middle = position.first + reach
    edge_sum = total(np.arange(len(n)).repeat(width), values, len(n)) - values[middle]
    rest = n - 2 * reach
    dominant = (2 * rest > n).nonzero()[0]
    values[middle[dominant]] = (n - free - 2 * edge_sum)[dominant] / rest[dominant]
    return Profiles(values, position.first, reach, n)


def item_profiles(table: LengthTable, entry: Ints, item: Ints) -> Profiles:
    """Compute the distribution of the number of positions before one item.

    Parameters
    ----------
    table : LengthTable
    entry, item : arrays of int, shape (problems,)
        The entry, and the length of the item taken out of it: that of one of
        its spans, or 1 for a free position.

    Returns
    -------
    Profiles
        One sequence per problem, of ``n - item + 1`` places.
    """
    problem, run = members(table.first, entry)
    length = table.length[run]
    count = table.count[run] - (length == item[problem])
    others = ((length > 1) & (count > 0)).nonzero()[0]
    problem, excess, count = problem[others], length[others] - 1, count[others]

    long_spans = total(problem, count, len(entry)).astype(np.int64)
    total_excess = total(problem, excess * count, len(entry)).astype(np.int64)
    size = table.n[entry] - item + 1
    n_others = size - 1 - total_excess
    reach = np.minimum(total_excess, size // 2)

    is_large = (long_spans > _SMALL_LONGS) | (total_excess > _SMALL_EXCESS)
    large = _large_problems(table, entry, item, is_large.nonzero()[0])
    for index, (edge, _) in large.items():
        reach[index] = len(edge)

    width = reach + 1
    first = starts(width)
    values = np.empty(int(width.sum()))
    for index, (edge, middle) in large.items():
        values[first[index] : first[index] + reach[index]] = edge
        values[first[index] + reach[index]] = middle
    is_small = ~is_large
    if np.count_nonzero(is_small):
        # Of large problems, no long spans are known here, and no places are asked for.
        n_longs = long_spans * is_small
        slots = np.zeros((len(entry), largest(n_longs) + 1), dtype=np.int64)
        slots[spread(n_longs)] = excess.repeat(count * is_small[problem])
        values[is_small.repeat(width)] = _small_problems(n_others, slots, n_longs, width * is_small)
    return Profiles(values, first, reach, size)


# --- Few and short spans: many problems at once -------------------------------


def _small_problems(n_others: Ints, excess: Ints, n_longs: Ints, width: Ints) -> Floats:
    """Solve problems with few long spans together.

    The hypergeometric weight of one subset of j long spans among m items is a
    product of as many factors as there are long spans, so no table of it is needed.

    Parameters
    ----------
    n_others : array of int, shape (problems,)
    excess : array of int, shape (problems, slots)
        Of the long spans of each problem; 0 in slots that are left over.
    n_longs : array of int, shape (problems,)
        How many slots are used.
    width : array of int, shape (problems,)
        How many places are asked for.

    Returns
    -------
    array of float, shape (width.sum(),)
        P(0), ..., P(width - 1) of each problem.
    """
    owner, n_before, total_excess, ways = _subsets(excess, n_longs)
    state, x = spread(width[owner])
    owner, n_before = owner[state], n_before[state]
    m = x - total_excess[state]
    weight = ways[state]
    n, n_longs = n_others[owner], n_longs[owner]
    after = n - m + n_before
    for i in range(largest(n_longs)):
        rows = (n_longs > i).nonzero()[0]
        chosen = np.where(n_before > i, m, after)[rows] - i
        weight[rows] *= np.maximum(chosen, 0) / (n[rows] - i)
    items = (n_others + 1).repeat(width)
    return total(starts(width)[owner] + x, weight, len(items)) / items


def _subsets(excess: Ints, n_longs: Ints) -> tuple[Ints, Ints, Ints, Floats]:
    """Count the subsets of each problem's long spans by size and total excess.

    Few long spans have few subsets: all are listed, those that cannot be told apart are pooled.
    """
    owner, subset = spread(1 << n_longs)
    is_in = subset[:, None] >> np.arange(excess.shape[1]) & 1
    n_before, total_excess = is_in.sum(axis=1), (is_in * excess[owner]).sum(axis=1)
    size, width = excess.shape[1] + 1, largest(total_excess) + 1
    code, pool = distinct((owner * size + n_before) * width + total_excess)
    rest, total_excess = np.divmod(code, width)
    return *np.divmod(rest, size), total_excess, np.bincount(pool).astype(np.float64)


# --- Many or longer spans: one entry at a time --------------------------------


def _large_problems(
    table: LengthTable, entry: Ints, item: Ints, chosen: Ints
) -> dict[int, tuple[Floats, float]]:
    """Solve problems one entry at a time; all items of an entry share its tables."""
    solved: dict[int, tuple[Floats, float]] = {}
    if not len(chosen):
        return solved
    # Entries may be equal: those of one text of which both sides are.
    edges_of = cache(_edges)
    for rows in rows_by_value(entry[chosen]):
        problems = chosen[rows]
        which = int(entry[problems[0]])
        runs = slice(int(table.first[which]), int(table.first[which + 1]))
        length, count = table.length[runs], table.count[runs]
        n_items = int(table.n[which] - (length * count).sum() + count.sum())
        is_long = length > 1
        parts = length[is_long] - 1, count[is_long], item[problems] - 1
        edges = edges_of(n_items, *(tuple(part.tolist()) for part in parts))
        solved.update(zip(problems.tolist(), edges, strict=True))
    return solved


def _edges(
    n_items: int, excess: Sequence[int], count: Sequence[int], taken: Sequence[int]
) -> list[tuple[Floats, float]]:
    """Compute edge and middle of the distribution of each item, which its excess identifies.

    Tables of units and of long spans are separate, and how far to compute is decided by the entry
    as a whole: so no digit of one item depends on which others are asked for.
    """
    solved: dict[int, tuple[Floats, float]] = {}
    for is_long in (False, True):
        chosen = [i for i, e in enumerate(taken) if (e > 0) == is_long]
        edges = _edges_by_table(n_items, excess, count, [taken[i] for i in chosen])
        solved |= {chosen[i]: edge for i, edge in edges.items()}
    left = [i for i in range(len(taken)) if i not in solved]
    if left:
        lengths, items = [e + 1 for e in excess], [taken[i] + 1 for i in left]
        by_arrival = edges_by_arrival(n_items - sum(count), lengths, count, items)
        solved.update(zip(left, by_arrival, strict=True))
    return [solved[i] for i in range(len(taken))]


def _edges_by_table(
    n_items: int, excess: Sequence[int], count: Sequence[int], taken: Sequence[int]
) -> dict[int, tuple[Floats, float]]:
    """Compute edge and middle of items, all units or all long spans, where that is fast.

    Positions are computed from the edge inwards, twice as many each time, until
    Proposition 3 or the mirror image says that they are enough, or until the
    values have become constant: as many in a row as the longest span has
    positions, and equal to what the sum of all probabilities leaves for the
    middle. (That sum alone does not certify a truncated computation.) Where that
    would take long, as in texts that spans of nearly one length fill nearly
    completely, it is given up.
    """
    n_longs = sum(count)
    all_excess = sum(e * k for e, k in zip(excess, count, strict=True))
    window = max(excess) + 1
    # An item of excess e has as many places as the text has positions, less e.
    size = [n_items + all_excess - e for e in taken]
    limit = [min(all_excess - e, s // 2) for e, s in zip(taken, size, strict=True)]
    furthest = min(all_excess, (n_items + all_excess) // 2)
    solved: dict[int, tuple[Floats, float]] = {}
    pending = list(range(len(taken)))
    reach = max(_FIRST_REACH, 6 * window)
    while pending:
        reach = furthest if furthest <= 2 * reach else reach
        most = min(n_longs, reach // (min(excess) + 1))
        n_cells = (most + 1) * (reach + 1)
        if n_cells > _MOST_CELLS or (most > _FEW_LONGS and n_cells * _PASSES > _MOST_WORK):
            break
        # The item taken out is not among the others: one long span less, or one unit less.
        gone = int(taken[0] > 0)
        weights = _hypergeometric(n_longs - gone, n_items - 1 - n_longs + gone, reach, most)
        weights = weights[:, : 1 + int(np.flatnonzero(weights.max(axis=0) > _NEGLIGIBLE)[-1])]
        work = weights.size * _passes(excess, count, weights, is_long=gone > 0)
        if most > _FEW_LONGS and work > _MOST_WORK:
            break
        mixed = _mixed if len(excess) > 1 else _mixed_equal
        probabilities = mixed(excess, count, weights, [taken[i] for i in pending])
        unsolved = []
        for i, times_items in zip(pending, probabilities, strict=True):
            p = np.maximum(times_items, 0) / n_items
            if reach >= limit[i]:
                # All that mirror and Proposition 3 leave to compute.
                solved[i] = p[: limit[i]], float(p[limit[i]])
            else:
                middle = (1 - 2 * float(p[:reach].sum())) / (size[i] - 2 * reach)
                if float(np.abs(p[-window:] - middle).max()) < _FLAT * middle:
                    solved[i] = p[:reach], middle
                else:
                    unsolved.append(i)
        pending = unsolved
        reach = 2 * reach + 1
    return solved


def _passes(excess: Sequence[int], count: Sequence[int], weights: Floats, *, is_long: bool) -> int:
    """Count the passes over a table of subsets that all items of an entry take.

    Of all items, because no digit of one depends on which others are asked for.
    """
    width, rows = weights.shape
    n_items = len(excess) if is_long else 1
    to_add: list[int] = [min(k, rows, width // e) for k, e in zip(count, excess, strict=True)]
    is_rebuilt = is_long and not _removable(weights.max(axis=0), sum(count))
    n_tables = 1 + n_items * is_rebuilt
    return n_tables * (sum(to_add) - max(to_add)) + n_items * _PASSES


def _mixed(
    excess: Sequence[int], count: Sequence[int], weights: Floats, taken: list[int]
) -> Iterator[Floats]:
    """Yield N P(x) for each item taken out: the sum over j and e.

    `weights` are the hypergeometric probabilities, shape (m, j).
    """
    n_longs = sum(count)
    width, rows = weights.shape
    sums = _excess_sums(excess, count, rows - 1, width)
    spectrum = _spectrum(weights.T)
    removable = _removable(weights.max(axis=0), n_longs)
    for e in taken:
        if not e:
            left = sums
        elif removable:
            left = _without_one(sums, n_longs, e)
        else:
            rest = [k - (length == e) for length, k in zip(excess, count, strict=True)]
            left = _excess_sums(excess, rest, rows - 1, width)
        yield np.fft.irfft((spectrum * _spectrum(left)).sum(axis=0))[:width]


def _mixed_equal(
    excess: Sequence[int], count: Sequence[int], weights: Floats, taken: list[int]
) -> Iterator[Floats]:
    """Yield N P(x) where all long spans are equal: j of them have the total excess j e."""
    mixed = weights[:, 0].copy()
    for j in range(1, min(weights.shape[1], sum(count) + 1)):
        mixed[j * excess[0] :] += weights[: len(mixed) - j * excess[0], j]
    for _ in taken:
        yield mixed


def _spectrum(rows: Floats) -> Complexes:
    """Transform rows, padded so that their products do not wrap around."""
    return np.fft.rfft(rows, 2 << (rows.shape[1] - 1).bit_length())


def _hypergeometric(good: int, bad: int, draws: int, most: int) -> Floats:
    """Compute the probability of i good items among the first d drawn, without replacement.

    Every term is positive and every step a product, so nothing is lost, however
    large the numbers are.

    Returns
    -------
    array of float, shape (draws + 1, most + 1)
    """
    all_items = good + bad
    i = np.arange(most + 1)
    on_diagonal = np.cumprod(np.r_[1.0, (good - i[:-1]) / np.maximum(all_items - i[:-1], 1)])
    if on_diagonal[min(good, most)] > 1e-290:
        d = np.arange(draws + 1)[:, None]
        step = np.maximum(bad - (d - 1 - i), 0) / np.maximum(all_items - d + 1, 1)
        with np.errstate(divide="ignore", invalid="ignore"):
            step *= d / (d - i)
        step = np.where(d > i, step, np.where(d == i, on_diagonal, 1.0))
        return np.where(d >= i, np.cumprod(step, axis=0), 0.0)
    # Columns that begin below the range of a float: row by row instead.
    table = np.zeros((draws + 1, most + 1))
    table[0, 0] = 1
    for drawn in range(min(draws, all_items)):
        hit = table[drawn] * np.maximum(good - i, 0) / (all_items - drawn)
        table[drawn + 1] = table[drawn] * np.maximum(bad - (drawn - i), 0) / (all_items - drawn)
        table[drawn + 1, 1:] += hit[:-1]
    return table


def _excess_sums(excess: Sequence[int], count: Sequence[int], most: int, width: int) -> Floats:
    """Compute the probability that j long spans taken at random have the total excess e.

    Returns
    -------
    array of float, shape (most + 1, width)
        Row j, column e.
    """
    # The most common first, because j equal long spans have one total excess only.
    (k, e), *rest = sorted(zip(count, excess, strict=True), reverse=True)
    table = np.zeros((most + 1, width))
    j = np.arange(min(k, most, (width - 1) // e) + 1)
    table[j, j * e] = 1
    pooled = k
    for k, e in rest:
        if k <= _FEW_EQUAL:
            for n_longs in range(pooled + 1, pooled + k + 1):
                table = _with_one(table, n_longs, e)
        else:
            share = _hypergeometric(k, pooled, most, min(k, most))
            grown = share[:, :1] * table
            for i in range(1, min(k, most, (width - 1) // e) + 1):
                grown[i:, i * e :] += share[i:, i, None] * table[:-i, : -i * e]
            table = grown
        pooled += k
    return table


def _with_one(sums: Floats, n_longs: int, added: int) -> Floats:
    """Add a long span of excess `added` to the table, which makes `n_longs` of them.

    Of j long spans out of K, a given one is among them with probability j/K.
    """
    share = np.minimum(np.arange(len(sums)) / n_longs, 1)[:, None]
    grown: Floats = (1 - share) * sums
    if added < sums.shape[1]:
        grown[1:, added:] += share[1:] * sums[:-1, :-added]
    return grown


def _without_one(sums: Floats, n_longs: int, gone: int) -> Floats:
    """Take a long span of excess `gone` out of the table, which undoes `_with_one`."""
    left = sums.copy()
    for j in range(1, len(sums)):
        if gone < sums.shape[1]:
            left[j, gone:] -= (j / n_longs) * left[j - 1, :-gone]
        left[j] *= n_longs / (n_longs - j)
    return left


def _removable(weight: Floats, n_longs: int) -> bool:
    """Return whether taking a long span out by subtraction is harmless.

    The error of row j, summed over e, is at most that of a rounding and j/K of the
    error of row j - 1, both divided by 1 - j/K; `weight` is what a row is multiplied
    by at most. Rows beyond K/2 lose digits, but hardly matter.
    """
    error, harm = 0.0, 0.0
    for j, most in enumerate(weight.tolist()[:n_longs]):
        error = (2**-52 * n_longs + j * error) / (n_longs - j)
        harm += error * most
    return len(weight) <= n_longs and harm < _HARMLESS
