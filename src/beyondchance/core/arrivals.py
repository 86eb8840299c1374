r"""Where random spans fall in dense texts: an integral over arrival times.

Let each of :math:`N` items draw a uniform time in [0, 1], and line up by time. Given the time
:math:`p` of one item, every other item is before it with probability :math:`p`. So the number of
positions before it has the transform

.. math::
    S(\theta) = \int_0^1 F(p)\, dp, \quad F(p) = \prod_j (1 - p w_j), \quad
    w_j = 1 - e^{-i \theta a_j}

where :math:`a_j` are the lengths of the other items. :math:`F` is a polynomial, so the path from
0 to 1 may lead through complex times. With :math:`\lambda = \sum_j w_j` and :math:`\Lambda` its
real part, for every complex :math:`p`

.. math::
    |F(p)| \le \exp(-\mathrm{Re}(p \lambda) + |p|^2 \Lambda)

because :math:`\log|1 - q| \le -\mathrm{Re}\,q + |q|^2/2`, and :math:`|w_j|^2` is twice the real
part of :math:`w_j`. On the ray :math:`p = u / \lambda`, on which :math:`F` is nearly
:math:`e^{-u}` and does not oscillate, that is :math:`\exp(-u + \kappa u^2)` with
:math:`\kappa = \Lambda / |\lambda|^2`. If :math:`4 E \kappa \le 1`, it has fallen to
:math:`e^{-E}` at :math:`u = 2E / (1 + \sqrt{1 - 4 E \kappa})`, where the real part of :math:`p` is
1/2 at most. On the level line from there to the mirror image :math:`1 - \bar p` it is less, and
from there to 1 the integral is the mirror image of that from 0. So the *left end* of the text, the
integral :math:`L` along the ray, is enough: but for :math:`e^{-E}`,

.. math::
    S(\theta) = L(\theta) + e^{-i \theta (M - 1)} \overline{L(\theta)}

with :math:`M` the number of places. Where :math:`\kappa` is larger, :math:`|\lambda|` is below
:math:`4E`, and the path is from 0 to 1/2 instead of along the ray. Either way 36 nodes
are enough, whatever the text is: the Gauss-Legendre rule of n nodes errs by at most
:math:`\frac{64}{15} \rho^{-2n} / (1 - \rho^{-2})` half lengths of the path times the largest value
on an ellipse around it with half-axes that add up to :math:`\rho` half lengths, where the bound
holds, too. With the best :math:`\rho` that is :math:`e^{-39}` for every :math:`\kappa`.

All items of a text share the product over all of them; an item is taken out by a division, which
adds 1/2 at most to the exponent of the bound. No factor is 0, since the real part of 1/w is 1/2.

**Where the middle is flat**, the cost does not grow with the text. Then
:math:`P(x) = c + D(x) + D(M - 1 - x)`, where :math:`D` is short, and the left end is the transform
of :math:`D` and of a step: :math:`L = \hat D + c / (1 - e^{-i \theta})`. A grid that is longer than
:math:`D` holds both, and that all probabilities add up to 1 tells them apart.
"""

from __future__ import annotations

from collections.abc import Sequence
from functools import cache
from typing import NamedTuple

import numpy as np

from beyondchance.core.ragged import blocks, distinct
from beyondchance.types import Bools, Complexes, Floats, Ints

_FALL = 44.0
"""The exponent E: what is below exp(-E) is left out."""
_NODES = 36
"""Nodes of each integral."""
_FIRST_GRID = 256
_FLAT = 1e-13
"""Relative deviation up to which values count as constant."""
_MOST_CELLS = 2**14
"""Frequencies times nodes that are worked on at once: those that stay near the processor."""
_LOW_POWER = 2
"""Powers up to this one are taken by multiplication."""


def edges_by_arrival(
    n_units: int, length: Sequence[int], count: Sequence[int], taken: list[int]
) -> list[tuple[Floats, float]]:
    """Compute edge and middle of the distribution of the positions before each item.

    No digit of one item depends on which others are asked for.

    Parameters
    ----------
    n_units : int
        Items of length 1: free positions, and spans.
    length, count : sequences of int
        The lengths above 1, and how many spans have each.
    taken : list of int
        The lengths of the items.
    """
    items = np.array([1, *length]), np.array([n_units, *count])
    solved = _with_flat_middle(*items, taken)
    left = [i for i in range(len(taken)) if i not in solved]
    if left:
        solved |= zip(left, _without_flat_middle(*items, [taken[i] for i in left]), strict=True)
    return [solved[i] for i in range(len(taken))]


def _with_flat_middle(
    length: Ints, count: Ints, taken: list[int]
) -> dict[int, tuple[Floats, float]]:
    """Compute edge and middle of items with a flat middle, on the first grid that holds them.

    The next grid is chosen by the text as a whole, of which an item of length 0 is taken out.
    """
    n, longest = int(length @ count), int(length.max())
    solved: dict[int, tuple[Floats, float]] = {}
    grid = max(_FIRST_GRID, 4 << longest.bit_length())
    frequency = np.arange(grid // 2 + 1)
    ends = np.empty((1 + len(taken), len(frequency)), dtype=np.complex128)
    while len(solved) < len(taken) and grid < n - longest:
        paths = _paths(length, count, grid, frequency)
        if not paths.has_ray[frequency > 0].all():
            break
        ends[:, frequency] = _left_ends(length, count, [0, *taken], paths)
        for i, a in enumerate(taken):
            edge, middle, deviation = _unfolded(ends[1 + i], n - a + 1, grid)
            if deviation < _FLAT:
                solved.setdefault(i, (edge, middle))
        # Deviations fall exponentially with the size of the grid.
        _, _, deviation = _unfolded(ends[0], n + 1, grid)
        missing = np.log(_FLAT) / np.log(np.clip(deviation, _FLAT, 0.5))
        growth = 1 << int(np.clip(np.ceil(np.log2(missing)), 1, 3))
        # The frequencies so far are some of those of a finer grid.
        grid *= growth
        frequency = np.flatnonzero(np.arange(grid // 2 + 1) % growth)
        coarse, ends = ends, np.empty((1 + len(taken), grid // 2 + 1), dtype=np.complex128)
        ends[:, ::growth] = coarse
    return solved


def _without_flat_middle(length: Ints, count: Ints, taken: list[int]) -> list[tuple[Floats, float]]:
    """Compute edge and middle of items on a grid as long as the text."""
    n = int(length @ count)
    frequency = np.arange(n // 2 + 1)
    paths = _paths(length, count, n, frequency)
    ends = _left_ends(length, count, taken, paths)
    found = []
    for a, end in zip(taken, ends, strict=True):
        mirror = 1 - paths.turned[frequency * (n - a) % n]
        p = np.maximum(np.fft.irfft(end + mirror * end.conj(), n), 0)
        half = (n - a + 1) // 2
        found.append((p[:half], float(p[half])))
    return found


def _unfolded(end: Complexes, size: int, grid: int) -> tuple[Floats, float, float]:
    """Compute edge and middle from a left end on a grid, and how far the middle is from flat.

    Without its frequency 0, which a step does not have, the left end is the transform of
    D(x) - sum(D)/G + c ((G - 1)/2 - x)/G, with G the size of the grid and sum(D) half of what
    the middle leaves of 1. So every position where D is gone tells c.
    """
    line = np.fft.irfft(np.concatenate([[0], end[1:]]), grid)
    from_step = (grid - 1) / 2 - np.arange(grid)
    half = grid // 2
    middle = float(((0.5 + grid * line[half:]) / (size / 2 + from_step[half:])).mean())
    values = middle + line + ((1 - middle * size) / 2 - middle * from_step) / grid
    deviation = float(np.abs(values[half:] / middle - 1).max())
    return np.maximum(values[:half], 0), middle, deviation


class _Paths(NamedTuple):
    """The paths of the integrals at some frequencies of a grid.

    Attributes
    ----------
    frequency : array of int
    turned : array of complex, shape (grid,)
        See `_turned`.
    end : array of complex
        Where the path from 0 ends; it is straight.
    has_ray : array of bool
        Whether it is a ray.
    """

    frequency: Ints
    turned: Complexes
    end: Complexes
    has_ray: Bools


def _paths(length: Ints, count: Ints, grid: int, frequency: Ints) -> _Paths:
    """Choose the paths of the integrals at some frequencies of a grid."""
    turned = _turned(grid)
    slope = np.zeros(len(frequency), dtype=np.complex128)
    for a, k in zip(length.tolist(), count.tolist(), strict=True):
        slope += k * turned[frequency * a % grid]
    # Where the slope is small, so is all that happens between 0 and 1/2.
    kappa = slope.real / np.maximum(np.abs(slope), 1) ** 2
    has_ray = (4 * _FALL * kappa <= 1) & (np.abs(slope) >= 1)
    end = np.full(len(frequency), 0.5, dtype=np.complex128)
    end[has_ray] = 2 * _FALL / (1 + np.sqrt(1 - 4 * _FALL * kappa[has_ray])) / slope[has_ray]
    return _Paths(frequency, turned, end, has_ray)


def _left_ends(length: Ints, count: Ints, taken: list[int], paths: _Paths) -> Complexes:
    """Compute the left end of the text for each item taken out, shape (taken, frequencies)."""
    turned = paths.turned
    ends = np.empty((len(taken), len(paths.frequency)), dtype=np.complex128)
    node, weight = (column[:, None] for column in _rule(_NODES))
    for block in blocks(np.full(len(paths.frequency), _NODES), _MOST_CELLS):
        frequency, end = paths.frequency[block], paths.end[block]
        p = node * end
        value = weight * end * _product(p, length, count, turned, frequency)
        for row, a in enumerate(taken):
            others = value / (1 - p * turned[frequency * a % len(turned)])
            ends[row, block] = others.sum(axis=0)
    return ends


def _product(
    p: Complexes, length: Ints, count: Ints, turned: Complexes, frequency: Ints
) -> Complexes:
    """Multiply the factors of all items, at times p of shape (nodes, frequencies).

    Higher powers are taken by logarithms, those of equally many items together. What a product
    differs from 1 by is kept instead of it, so that a power does not multiply its error. Where a
    product is nearly 0, that loses digits, but its power is 0.
    """
    value, log = np.ones_like(p), np.zeros_like(p)
    for k in distinct(count[count > 0])[0].tolist():
        steps = (p * turned[frequency * a % len(turned)] for a in length[count == k].tolist())
        if k <= _LOW_POWER:
            for step in steps:
                value *= (1 - step) ** k
            continue
        change = np.zeros_like(p)
        for step in steps:
            change -= (1 + change) * step
        x, y = change.real, change.imag
        with np.errstate(divide="ignore"):
            log.real += k / 2 * np.log1p(x * (2 + x) + y * y)
        log.imag += k * np.arctan2(y, 1 + x)
    return np.asarray(value * np.exp(log))


def _turned(grid: int) -> Complexes:
    """Compute 1 - exp(-i theta) at each angle of a grid.

    By half the angle, which loses no digit where it is small. Larger angles than the grid has
    are taken modulo its size in integers, which does not either.
    """
    m = np.arange(grid)
    half = np.pi / grid * np.where(m > grid // 2, m - grid, m)
    return np.asarray(2 * np.sin(half) * (np.sin(half) + 1j * np.cos(half)))


@cache
def _rule(n: int) -> tuple[Floats, Floats]:
    """Compute nodes and weights of the Gauss-Legendre rule on [0, 1], to the last digit.

    Those of NumPy have errors of 1e-14, which would be those of all that follows.
    """
    from decimal import Decimal, localcontext  # noqa: PLC0415 - few texts are dense

    nodes, weights = [], []
    with localcontext() as context:
        context.prec = 40
        for nearly in np.polynomial.legendre.leggauss(n)[0].tolist():
            x, slope = Decimal(nearly), Decimal(1)
            for _ in range(3):
                before, value = Decimal(1), x
                for j in range(2, n + 1):
                    before, value = value, ((2 * j - 1) * x * value - (j - 1) * before) / j
                slope = n * (before - x * value) / (1 - x * x)
                x -= value / slope
            nodes.append(float((1 + x) / 2))
            weights.append(float(1 / ((1 - x * x) * slope * slope)))
    return np.array(nodes), np.array(weights)
