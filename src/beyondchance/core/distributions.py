"""Shares and quantiles of the normal, Student's, the chi-square and Fisher's distribution."""

from __future__ import annotations

from functools import lru_cache
from math import cbrt, erfc, exp, inf, lgamma, log, log1p, pi, sqrt

_TINY = 1e-300
_STEPS = 10**4
"""Terms of a continued fraction that converges within a few dozen, or some hundred for Fisher's
distribution with many degrees of freedom."""
_MOST_STEPS = 10**6
"""Terms of one that needs more, the more degrees of freedom there are."""
_HALVINGS = 100


def normal_share(x: float) -> float:
    """Compute the share of a standard normal distribution below `x`.

    Examples
    --------
    >>> normal_share(0.0), round(normal_share(1.96), 4)
    (0.5, 0.975)
    """
    return 0.5 * erfc(-x / sqrt(2))


def normal_quantile(share: float) -> float:
    """Compute the point below which this share of a standard normal distribution lies.

    Examples
    --------
    >>> round(normal_quantile(0.975), 4), normal_quantile(0.0)
    (1.96, -inf)
    """
    if share in {0.0, 1.0}:
        return inf if share else -inf
    from statistics import NormalDist  # noqa: PLC0415 - slow to load, and few ask

    return NormalDist().inv_cdf(share)


def student_share(t: float, freedom: float) -> float:
    """Compute the share of Student's distribution below `t`; freedom need not be whole.

    Examples
    --------
    >>> student_share(0.0, 5.0), round(student_share(2.2281, 10.0), 4)
    (0.5, 0.975)
    """
    square = t * t
    # What lies beyond -|t| and |t| together, by whichever form keeps its digits.
    if square < freedom:
        outside = 1 - beta_share(0.5, freedom / 2, square / (freedom + square))
    else:
        outside = beta_share(freedom / 2, 0.5, freedom / (freedom + square))
    return 1 - outside / 2 if t > 0 else outside / 2


@lru_cache(2**16)
def student_quantile(share: float, freedom: float) -> float:
    """Compute the point below which this share of Student's distribution lies.

    Examples
    --------
    >>> round(student_quantile(0.975, 10.0), 4), round(student_quantile(0.025, 10.0), 4)
    (2.2281, -2.2281)
    """
    if share > 0.5:
        return -student_quantile(1 - share, freedom)
    if share in {0.0, 0.5}:
        return -inf if share == 0 else 0.0
    # The logarithm of the tail is nearly straight on the scale of x = log(1 - t): Newton's
    # method, within bounds.
    low, high = 0.0, 1.0
    while student_share(1 - exp(high), freedom) > share:
        low, high = high, 2 * high
    height = exp(lgamma((freedom + 1) / 2) - lgamma(freedom / 2)) / sqrt(freedom * pi)
    x = (low + high) / 2
    for _ in range(_HALVINGS):
        t = 1 - exp(x)
        tail = student_share(t, freedom)
        low, high = (x, high) if tail > share else (low, x)
        slope = height * (1 + t * t / freedom) ** (-(freedom + 1) / 2) * exp(x) / tail
        before, x = x, x + log(tail / share) / slope
        # The number of right digits doubles with every step.
        if abs(x - before) < 1e-8 * before:
            break
        if not low < x < high:
            x = (low + high) / 2
    return 1 - exp(x)


def unskewed(t: float, skewness: float) -> float:
    """Transform Student's t of skewed data to what it would be without skewness (Hall 1992).

    Parameters
    ----------
    t : float
    skewness : float
        That of the data, divided by the square root of their number.

    Examples
    --------
    Data with a long tail below: a high t is less surprising than it looks.

    >>> round(unskewed(2.0, -0.3), 3), round(skewed(unskewed(2.0, -0.3), -0.3), 9)
    (1.577, 2.0)
    """
    tail = skewness * t
    return t * (1 + tail / 3 + tail**2 / 27) + skewness / 6


def skewed(t: float, skewness: float) -> float:
    """Invert `unskewed`."""
    moved = t - skewness / 6
    root = cbrt(1 + skewness * moved)
    return 3 * moved / (root * root + root + 1)


def chi_square_share(x: float, freedom: float) -> float:
    """Compute the share of a chi-square distribution below `x`; freedom need not be whole.

    Examples
    --------
    >>> round(chi_square_share(3.8415, 1.0), 4), round(chi_square_share(2.0, 2.0), 4)
    (0.95, 0.6321)
    """
    if x <= 0:
        return 0.0
    a, x = freedom / 2, x / 2
    front = exp(a * log(x) - x - lgamma(a))
    if x < a + 1:
        # Terms are positive, and fall from the beginning.
        term = total = 1 / a
        while term > 1e-17 * total:
            a += 1
            term *= x / a
            total += term
        return front * total
    # What lies above, by the continued fraction 1/(x + 1 - a - 1 (1 - a)/(x + 3 - a - ...)).
    middle, numerator = x + 1 - a, inf
    denominator = value = 1 / middle
    for step in range(1, _MOST_STEPS):
        term = step * (a - step)
        middle += 2
        denominator = 1 / (middle + term * denominator or _TINY)
        numerator = middle + term / numerator or _TINY
        value *= numerator * denominator
        if abs(numerator * denominator - 1) < 1e-16:
            break
    return 1 - front * value


def chi_square_quantile(share: float, freedom: float) -> float:
    """Compute the point below which this share of a chi-square distribution lies.

    Examples
    --------
    >>> round(chi_square_quantile(0.975, 9.0), 3), round(chi_square_quantile(0.025, 9.0), 3)
    (19.023, 2.7)
    """
    # On the scale of logarithms, because a low tail can be very near to 0.
    low, high = -1.0, log(freedom) + 1
    while chi_square_share(exp(low), freedom) > share:
        low *= 2
    while chi_square_share(exp(high), freedom) < share:
        high += 1
    for _ in range(_HALVINGS):
        middle = (low + high) / 2
        if chi_square_share(exp(middle), freedom) < share:
            low = middle
        else:
            high = middle
    return exp((low + high) / 2)


def fisher_share(x: float, freedom: float, other: float) -> float:
    """Return the share of Fisher's distribution, of a ratio of two variances, below `x`.

    Examples
    --------
    >>> round(fisher_share(3.1789, 9.0, 9.0), 3), round(fisher_share(1.0, 5.0, 5.0), 9)
    (0.95, 0.5)
    """
    # By the smaller of the two shares of the ratio, which keeps its digits.
    one, two = freedom * x, other
    if one > two:
        return 1 - beta_share(other / 2, freedom / 2, two / (one + two))
    return beta_share(freedom / 2, other / 2, one / (one + two))


def beta_share(a: float, b: float, x: float) -> float:
    """Compute the share of a beta distribution below `x`, by its continued fraction.

    The fraction 1 + 1/(1 + d1/(1 + d2/...)) is evaluated from the front, numerators and
    denominators together (the method of Lentz). It converges fast for x below
    (a + 1) / (a + b + 2); beyond that the mirror image is taken.
    """
    if x <= 0 or x >= 1:
        return 0.0 if x <= 0 else 1.0
    if x > (a + 1) / (a + b + 2):
        return 1 - beta_share(b, a, 1 - x)
    front = exp(lgamma(a + b) - lgamma(a) - lgamma(b) + a * log(x) + b * log1p(-x)) / a
    numerator, denominator, value = 1.0, 0.0, 1.0
    for step in range(_STEPS):
        m = step // 2
        if step == 0:
            term = 1.0
        elif step % 2:
            term = -(a + m) * (a + b + m) * x / ((a + 2 * m) * (a + 2 * m + 1))
        else:
            term = m * (b - m) * x / ((a + 2 * m - 1) * (a + 2 * m))
        denominator = 1 / (1 + term * denominator or _TINY)
        numerator = 1 + term / numerator or _TINY
        value *= numerator * denominator
        if step and abs(numerator * denominator - 1) < 1e-16:
            break
    return front * (value - 1)
