"""Mirror-symmetric sequences that are constant in the middle.

Where a random span starts, and how likely a position is covered, are such
sequences: they differ near the edges of a text and hardly anywhere else. Only the
left edge and the middle value are kept, so that costs do not grow with the text.
"""

from __future__ import annotations

import numpy as np

from beyondchance.core.ragged import blocks, spread, starts, total
from beyondchance.types import Floats, Ints
from beyondchance.values import internal

_MOST_TERMS = 2**15
"""Products that a convolution may have before it is done by Fourier transforms."""
_MOST_CELLS = 2**21
"""Products that are held in memory at once."""
_MOST_GATHERED = 2**10
"""Products of one pair that are made together with those of other pairs."""


@internal
class Profiles:
    """Mirror-symmetric sequences, each kept as its left edge and its middle.

    Sequence i has ``size[i]`` positions: ``reach[i]`` edge values, then one
    middle value for all positions up to the mirrored edge.

    Attributes
    ----------
    values : array of float
        The edge values of each sequence, followed by its middle value.
    first : array of int, shape (sequences,)
        Where the values of each sequence begin.
    reach, size : arrays of int, shape (sequences,)
    """

    values: Floats
    first: Ints
    reach: Ints
    size: Ints

    def __len__(self) -> int:
        return len(self.first)

    @property
    def middle(self) -> Floats:
        """The middle value of each sequence."""
        return np.asarray(self.values[self.first + self.reach])

    def dot(self, i: Ints, j: Ints) -> Floats:
        """Sum the products of sequences i and j, of equal size, pair by pair."""
        reach = np.maximum(self.reach[i], self.reach[j])
        edge = np.empty(len(i))
        is_short = reach <= _MOST_GATHERED
        for pair in (~is_short).nonzero()[0].tolist():
            one, two = (self.stretch(k[pair], 0, reach[pair]) for k in (i, j))
            edge[pair] = _sum_in_order(one * two)
        short = is_short.nonzero()[0]
        for block in blocks(reach[short], _MOST_CELLS):
            pairs = short[block]
            owner, place = spread(reach[pairs])
            one, two = (
                self.values[self.first[k] + np.minimum(place, self.reach[k])]
                for k in (i[pairs][owner], j[pairs][owner])
            )
            edge[pairs] = total(owner, one * two, len(pairs))
        middle = self.middle
        return np.asarray(2 * edge + (self.size[i] - 2 * reach) * (middle[i] * middle[j]))

    def at(self, sequence: Ints, place: Ints) -> Floats:
        """Return the values of sequences at any places."""
        from_edge = np.minimum(place, self.size[sequence] - 1 - place)
        return np.asarray(
            self.values[self.first[sequence] + np.minimum(from_edge, self.reach[sequence])]
        )

    def meet(self, i: Ints, j: Ints, lag: Ints) -> Floats:
        """Sum sequence i at x times sequence j at x + lag over all x, pair by pair.

        For distributions, the probability that j comes `lag` places after i.
        """
        begin = np.maximum(0, -lag)
        stop = np.maximum(np.minimum(self.size[i], self.size[j] - lag), begin)
        # Both are in their middle from `flat` to `edge`, where that is a range at all.
        flat = np.maximum(self.reach[i], self.reach[j] - lag)
        edge = np.minimum(self.size[i] - self.reach[i], self.size[j] - self.reach[j] - lag)
        flat = np.clip(flat, begin, stop)
        edge = np.clip(edge, flat, stop)
        n_cells = flat - begin + stop - edge
        at_edges = np.empty(len(i))
        for pair in np.flatnonzero(n_cells > _MOST_GATHERED).tolist():
            left, right = (begin[pair], flat[pair]), (edge[pair], stop[pair])
            at_edges[pair] = _sum_in_order(
                np.concatenate([self.stretch(i[pair], *ends) for ends in (left, right)])
                * np.concatenate(
                    [
                        self.stretch(j[pair], *(x + lag[pair] for x in ends))
                        for ends in (left, right)
                    ]
                )
            )
        short = np.flatnonzero(n_cells <= _MOST_GATHERED)
        for block in blocks(n_cells[short], _MOST_CELLS):
            pairs = short[block]
            owner, x = spread(n_cells[pairs])
            x += begin[pairs][owner]
            x += np.where(x >= flat[pairs][owner], (edge - flat)[pairs][owner], 0)
            one = self.at(i[pairs][owner], x)
            two = self.at(j[pairs][owner], x + lag[pairs][owner])
            at_edges[pairs] = total(owner, one * two, len(pairs))
        return np.asarray(at_edges + (edge - flat) * (self.middle[i] * self.middle[j]))

    def stretch(self, i: int, begin: int, stop: int) -> Floats:
        """Return the values of sequence i at the places from `begin` to before `stop`."""
        reach, size = int(self.reach[i]), int(self.size[i])
        edge = self.values[self.first[i] : self.first[i] + reach]
        n_middle = min(stop, size - reach) - max(begin, reach)
        mirrored = slice(max(begin - size + reach, 0), max(stop - size + reach, 0))
        return np.concatenate(
            [edge[begin:stop], np.full(max(n_middle, 0), self.middle[i]), edge[::-1][mirrored]]
        )

    def expand(self, i: int) -> Floats:
        """Return the whole of sequence i."""
        return self.stretch(i, 0, int(self.size[i]))

    def take(self, chosen: Ints) -> Profiles:
        """Select some of the sequences, which share their values with these."""
        return Profiles(self.values, self.first[chosen], self.reach[chosen], self.size[chosen])


def _sum_in_order(values: Floats) -> float:
    """Sum values one after the other, as `total` does, to the same digit."""
    return float(np.cumsum(values)[-1])


def profiles_of(pieces: list[tuple[Floats, float]], size: Ints) -> Profiles:
    """Join (edge, middle) pairs into Profiles."""
    reach = np.array([len(edge) for edge, _ in pieces], dtype=np.int64)
    parts = [part for edge, middle in pieces for part in (edge, [middle])]
    return Profiles(
        values=np.concatenate(parts) if parts else np.empty(0),
        first=starts(reach + 1),
        reach=reach,
        size=size,
    )


def joined(*parts: Profiles) -> Profiles:
    """Join the sequences of all parts, one after the other."""
    offset = np.cumsum([0, *(len(part.values) for part in parts)])
    return Profiles(
        values=np.concatenate([part.values for part in parts]),
        first=np.concatenate([part.first + o for part, o in zip(parts, offset, strict=False)]),
        reach=np.concatenate([part.reach for part in parts]),
        size=np.concatenate([part.size for part in parts]),
    )


def boxes(size: Ints) -> Profiles:
    """Make sequences of ones.

    Examples
    --------
    >>> boxes(np.array([1, 3])).expand(1)
    array([1., 1., 1.])
    """
    return Profiles(np.ones(1), np.zeros_like(size), np.zeros_like(size), size)


def convolved(p: Profiles, q: Profiles) -> Profiles:
    """Convolve each sequence of p with the one of q at the same index.

    For distributions, the result is that of the sum; with a box of ones, it is what the last so
    many values add up to.

    Examples
    --------
    Two even chances of 0 or 1 add up to 0, 1 or 2.

    >>> half = Profiles(np.array([0.5]), np.array([0]), np.array([0]), np.array([2]))
    >>> convolved(half, half).expand(0)
    array([0.25, 0.5 , 0.25])
    """
    size = p.size + q.size - 1
    reach = np.minimum(np.minimum(p.reach + q.size - 1, q.reach + p.size - 1), size // 2)
    first = starts(reach + 1)
    values = np.empty(int((reach + 1).sum()))
    n_terms = (reach + 1) * np.minimum(reach + 1, np.minimum(p.size, q.size))
    is_large = n_terms > _MOST_TERMS
    small = np.flatnonzero(~is_large)
    for block in blocks(n_terms[small], _MOST_CELLS):
        chosen = small[block]
        owner, place = spread(reach[chosen] + 1)
        values[first[chosen][owner] + place] = _products(
            p.take(chosen), q.take(chosen), reach[chosen]
        )
    for i in np.flatnonzero(is_large).tolist():
        values[first[i] : first[i] + reach[i] + 1] = _by_transforms(p, q, i, int(reach[i]) + 1)
    return Profiles(values, first, reach, size)


def _products(p: Profiles, q: Profiles, reach: Ints) -> Floats:
    """Compute convolutions up to each reach, one after the other, by adding up products."""
    sequence, x = spread(reach + 1)
    lowest = np.maximum(0, x - p.size[sequence] + 1)
    cell, d = spread(np.minimum(x, q.size[sequence] - 1) - lowest + 1)
    d += lowest[cell]
    products = q.at(sequence[cell], d) * p.at(sequence[cell], x[cell] - d)
    return total(cell, products, len(x))


def _by_transforms(p: Profiles, q: Profiles, i: int, width: int) -> Floats:
    """Compute the first values of one convolution, by Fourier transforms."""
    spectrum = np.ones(1, dtype=np.complex128)
    for profiles in (p, q):
        places = np.arange(min(width, int(profiles.size[i])))
        sequence = profiles.at(np.full(len(places), i), places)
        spectrum = spectrum * np.fft.rfft(sequence, 2 << (width - 1).bit_length())
    return np.asarray(np.maximum(np.fft.irfft(spectrum)[:width], 0))


def summed(profiles: Profiles, weight: Ints | Floats, owner: Ints, n_rows: int) -> Profiles:
    """Sum weighted sequences of equal size, those of one owner together.

    `owner` is ascending, and every row owns a sequence at least.
    """
    reach = np.zeros(n_rows, dtype=np.int64)
    np.maximum.at(reach, owner, profiles.reach)
    size = np.zeros(n_rows, dtype=np.int64)
    size[owner] = profiles.size
    first = starts(reach + 1)
    sequence, place = spread(reach[owner] + 1)
    cell = profiles.first[sequence] + np.minimum(place, profiles.reach[sequence])
    values = total(
        first[owner[sequence]] + place,
        weight[sequence] * profiles.values[cell],
        int((reach + 1).sum()),
    )
    return Profiles(values, first, reach, size)
