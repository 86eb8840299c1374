r"""Random spans that may overlap (Proposition 5): each is uniform on its places.

A position can then be held several times. What two annotations share at a
position is the smaller of their two counts, so the expectation needs the
probability that a position is held at least m times, for each m: the *levels*
of an annotation.
"""

from __future__ import annotations

import numpy as np

from beyondchance.arrays import Floats, Ints
from beyondchance.core.lengths import LengthTable
from beyondchance.core.placement import Profiles, profiles_of

_NEGLIGIBLE = 1e-30


def level_profiles(table: LengthTable) -> tuple[Profiles, Ints]:
    """Probability that each position is held at least m times, m = 1, 2, ...

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
    """Poisson-binomial tails at the edge positions and in the middle.

    Returns
    -------
    array of float, shape (levels, reach + 1)
    """
    places = n - length + 1
    reach = int(np.minimum(length, places).max(initial=1)) - 1
    held = np.zeros((1, reach + 1))
    held[0] = 1
    for size, n_places, repeat in zip(
        length.tolist(), places.tolist(), count.tolist(), strict=True
    ):
        cover = np.minimum(np.arange(1, reach + 2), min(size, n_places)) / n_places
        for _ in range(repeat):
            grown = np.zeros((len(held) + 1, reach + 1))
            grown[:-1] = held * (1 - cover)
            grown[1:] += held * cover
            held = grown if grown[-1].max() > _NEGLIGIBLE else grown[:-1]
    return np.cumsum(held[::-1], axis=0)[::-1][1:]


def binomial_tails(n: int, p: float) -> Floats:
    """P(Binomial(n, p) >= m) for m = 1, ..., n, as far as it is not negligible.

    Examples
    --------
    >>> binomial_tails(2, 0.5)
    array([0.75, 0.25])
    """
    mass = np.ones(1)
    for _ in range(n):
        grown = np.zeros(len(mass) + 1)
        grown[:-1] = mass * (1 - p)
        grown[1:] += mass * p
        mass = grown if grown[-1] > _NEGLIGIBLE else grown[:-1]
    return np.cumsum(mass[::-1])[::-1][1:]
