"""Hash names, the same way on every machine and in every order.

A name is taken as a number in base p, byte after byte, modulo 2**64, and its bits are mixed. All
names are done at once, by sums over all of their bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import lru_cache
from itertools import pairwise

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.letters import letters_of
from beyondchance.types import Ints

Hashes = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
_AT_A_TIME = 2**16
"""Bytes that are hashed at a time."""


def hashed(names: Sequence[str]) -> Hashes:
    """Return a number of 64 bits for each name.

    Examples
    --------
    >>> hashed(["a", "b", "a"]).tolist() == hashed(["a"]).tolist() + hashed(["b", "a"]).tolist()
    True
    """
    found = np.empty(len(names), dtype=np.uint64)
    if not len(names):
        return found
    letters = letters_of(names)
    begins, ends = letters.begins, letters.ends
    cuts = np.searchsorted(ends, np.arange(_AT_A_TIME, ends[-1], _AT_A_TIME)).tolist()
    for low, high in pairwise([0, *cuts, len(names)]):
        if low < high:
            first, last = int(begins[low]), int(ends[high - 1])
            own = slice(low, high)
            found[own] = _hashed(letters.data[first:last], begins[own] - first, ends[own] - first)
    return found


def _hashed(data: NDArray[np.uint8], begins: Ints, ends: Ints) -> Hashes:
    # Most names are short, and so are most stretches of them.
    n_powers = max(len(data) + 1, 2 * _AT_A_TIME)
    sums = np.zeros(len(data) + 1, dtype=np.uint64)
    # One more than a byte, so that a byte of 0 counts.
    values = data.astype(np.uint64) + np.uint64(1)
    np.cumsum(values * _powers(_BASE, n_powers)[: len(data)], out=sums[1:])
    return _mixed((sums[ends] - sums[begins]) * _powers(_INVERSE, n_powers)[begins])


@lru_cache(maxsize=4)
def _powers(base: int, n: int) -> Hashes:
    powers = np.full(n, base, dtype=np.uint64)
    powers[0] = 1
    return np.asarray(np.multiply.accumulate(powers))


def _mixed(values: Hashes) -> Hashes:
    """Spread every bit over all of them (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
