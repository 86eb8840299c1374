"""Numbers that follow from names alone: the same on every machine, in every order.

A name is taken as a number in base p, byte after byte, modulo 2**64, and its bits are mixed. All
names are done at once, by sums over all of their bytes.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.letters import letters_of
from beyondchance.types import Ints

Hashes = NDArray[np.uint64]

_BASE = 0x9E3779B97F4A7C15
_INVERSE = pow(_BASE, -1, 2**64)
_AT_A_TIME = 2**16
"""Bytes whose powers are held at a time."""


def hashed(names: Sequence[str]) -> Hashes:
    """A number of 64 bits for each name.

    Examples
    --------
    >>> hashed(["a", "b", "a"]).tolist() == hashed(["a"]).tolist() + hashed(["b", "a"]).tolist()
    True
    """
    letters = letters_of(names)
    return hashed_bytes(letters.data, letters.begins, letters.ends)


def hashed_bytes(data: NDArray[np.uint8], begins: Ints, ends: Ints) -> Hashes:
    """The same of names that lie in bytes, from `begins` to `ends`, both ascending."""
    if not len(begins):
        return np.zeros(0, dtype=np.uint64)
    cuts = np.searchsorted(ends, np.arange(_AT_A_TIME, ends[-1], _AT_A_TIME)).tolist()
    found = np.empty(len(begins), dtype=np.uint64)
    for low, high in zip([0, *cuts], [*cuts, len(begins)], strict=True):
        if low < high:
            first, last = int(begins[low]), int(ends[high - 1])
            own = slice(low, high)
            found[own] = _hashed(data[first:last], begins[own] - first, ends[own] - first)
    return found


def _hashed(data: NDArray[np.uint8], begins: Ints, ends: Ints) -> Hashes:
    sums = np.zeros(len(data) + 1, dtype=np.uint64)
    # One more than a byte, so that a byte of 0 counts.
    np.cumsum((data.astype(np.uint64) + np.uint64(1)) * _powers(_BASE, len(data)), out=sums[1:])
    moved = (sums[ends] - sums[begins]) * _powers(_INVERSE, len(data) + 1)[begins]
    return _mixed(moved)


def _powers(base: int, n: int) -> Hashes:
    # Most names are short, and so are most stretches of them.
    return _first_powers(base)[:n] if n <= 2 * _AT_A_TIME else _made_powers(base, n)


@cache
def _first_powers(base: int) -> Hashes:
    return _made_powers(base, 2 * _AT_A_TIME)


def _made_powers(base: int, n: int) -> Hashes:
    powers = np.full(n, base, dtype=np.uint64)
    powers[0] = 1
    return np.asarray(np.multiply.accumulate(powers))


def _mixed(values: Hashes) -> Hashes:
    """Spread every bit over all of them (the finaliser of splitmix64)."""
    values = (values ^ (values >> np.uint64(30))) * np.uint64(0xBF58476D1CE4E5B9)
    values = (values ^ (values >> np.uint64(27))) * np.uint64(0x94D049BB133111EB)
    return values ^ (values >> np.uint64(31))
