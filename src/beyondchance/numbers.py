"""Numbers as text, rounded so that nothing is 0 or 1 that is not."""

from __future__ import annotations

from math import isnan


def in_digits(value: float, digits: int = 4) -> str:
    """A number with so many digits, which never rounds to 0 or 1 what is neither.

    Examples
    --------
    >>> in_digits(0.99996), in_digits(1.0), in_digits(0.00001), in_digits(-0.00001)
    ('>0.9999', '1.0000', '<0.0001', '>-0.0001')
    >>> in_digits(0.996, 2), in_digits(0.25, 3), in_digits(float("nan"))
    ('>0.99', '0.250', '-')
    """
    if isnan(value):
        return "-"
    text = f"{value:.{digits}f}"
    if value in {-1.0, 0.0, 1.0} or abs(float(text)) not in {0.0, 1.0}:
        return text
    least = f"{10**-digits:.{digits}f}"
    most = f"{1 - 10**-digits:.{digits}f}"
    if abs(value) < 0.5:
        return f"<{least}" if value > 0 else f">-{least}"
    if abs(value) > 1:
        return f">{float(text):.{digits}f}" if value > 0 else f"<{float(text):.{digits}f}"
    return f">{most}" if value > 0 else f"<-{most}"
