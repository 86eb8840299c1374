r"""Random spans that may overlap (Proposition 5): each is uniform on its places.

A position can then be held several times. What two annotations share at a
position is the smaller of their two counts, so the expectation needs the
probability that a position is held at least m times, for each m: the *levels*
of an annotation.
"""

from __future__ import annotations

import numpy as np

from beyondchance.core.lengths import LengthTable
from beyondchance.core.profiles import Profiles, profiles_of
from beyondchance.types import Floats, Ints

_NEGLIGIBLE = 1e-30


def level_profiles(table: LengthTable) -> tuple[Profiles, Ints]:
    """Compute the probability that each position is held at least m times, m = 1, 2, ...

    Returns
    -------
    profiles : Profiles
        One sequence per level, the levels of an entry in a row.
    n_levels : array of int, shape (entries,)
        Levels of each entry; higher ones have no probability to speak of.
    """
    pieces: list[tuple[Floats, float]] = []
    n_levels = np.zeros(len(table), dtype=np.int64)
    for entry in range(len(table)):
        runs = slice(int(table.first[entry]), int(table.first[entry + 1]))
        at_least = _held_at_least(int(table.n[entry]), table.length[runs], table.count[runs])
        n_levels[entry] = len(at_least)
        pieces += [(row[:-1], float(row[-1])) for row in at_least]
    return profiles_of(pieces, np.repeat(table.n, n_levels)), n_levels


def _held_at_least(n: int, length: Ints, count: Ints) -> Floats:
    """Compute how likely m spans or more hold each edge position, and one in the middle.

    Returns
    -------
    array of float, shape (levels, reach + 1)
    """
    places = n - length + 1
    reach = int(np.minimum(length, places).max(initial=1)) - 1
    from_edge = np.arange(1, reach + 2)
    return tails_of(
        np.minimum(from_edge, np.minimum(length, places)[:, None]) / places[:, None], count
    )


def rank_profiles(n: int, length: Ints, count: Ints, edge: int) -> Floats:
    """Compute how likely the r-th shortest span at a position has each length, r = 1, 2, ...

    Returns
    -------
    array of float, shape (lengths, levels, edge)
        At the positions from the edge of the text on; the last stands for the middle.

    Examples
    --------
    One span of 1 and one of 2 in two positions: the shorter is there half of the time.

    >>> rank_profiles(2, np.array([1, 2]), np.array([1, 1]), 1)[:, :, 0].tolist()
    [[0.5, 0.0], [0.5, 0.5]]
    """
    places = n - length + 1
    from_edge = np.arange(1, edge + 1)
    chance = np.minimum(from_edge, np.minimum(length, places)[:, None]) / places[:, None]
    # With the spans up to each length, how likely a position is held r times or more.
    tails = [tails_of(chance[: i + 1], count[: i + 1]) for i in range(len(length))]
    found = np.zeros((len(length) + 1, len(tails[-1]), edge))
    for i, tail in enumerate(tails):
        found[i + 1, : len(tail)] = tail
    return np.diff(found, axis=0)


def start_tails(table: LengthTable, entry: int) -> tuple[Ints, Floats]:
    """Compute the probability that at least m spans start at a place, m = 1, 2, ...

    Returns
    -------
    stop : array of int, shape (stretches,)
        Where each stretch of places that are alike ends, ascending.
    tails : array of float, shape (levels, stretches)
    """
    runs = slice(int(table.first[entry]), int(table.first[entry + 1]))
    # The longer a span, the fewer its places.
    places = table.n[entry] - table.length[runs][::-1] + 1
    can_start = places[:, None] >= places
    return places, tails_of(can_start / places[:, None], table.count[runs][::-1])


def binomial_tails(n: int, p: float) -> Floats:
    """Compute P(Binomial(n, p) >= m) for m = 1, ..., n, as far as it is not negligible.

    Examples
    --------
    >>> binomial_tails(2, 0.5)
    array([0.75, 0.25])
    """
    return tails_of(np.array([[p]]), np.array([n]))[:, 0]


def tails_of(chance: Floats, count: Ints) -> Floats:
    """Compute Poisson-binomial tails: the probability that at least m of all events happen.

    Parameters
    ----------
    chance : array of float, shape (kinds, columns)
        The probability of one event of each kind; columns are independent problems.
    count : array of int, shape (kinds,)
        How many events of each kind there are.

    Returns
    -------
    array of float, shape (levels, columns)
        For m = 1, 2, ..., as far as it is not negligible in all columns.
    """
    mass = np.ones((1, chance.shape[1]))
    for p, repeat in zip(chance, count.tolist(), strict=True):
        for _ in range(repeat):
            grown = np.zeros((len(mass) + 1, len(p)))
            grown[:-1] = mass * (1 - p)
            grown[1:] += mass * p
            mass = grown if grown[-1].max() > _NEGLIGIBLE else grown[:-1]
    return np.cumsum(mass[::-1], axis=0)[::-1][1:]
