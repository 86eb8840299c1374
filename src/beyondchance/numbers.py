"""Numbers as text, rounded so that nothing is 0 or 1 that is not."""

from __future__ import annotations

from math import ceil, isnan
from typing import NamedTuple


class Extent(NamedTuple):
    """How many documents were compared, and how many texts these have.

    Examples
    --------
    A file that knows only sentences makes each a document of its own.

    >>> Extent(12, 46, "sentence").noun, Extent(46, 46, "sentence").noun
    ('document', 'sentence')
    >>> Extent(12, 12, "document").noun
    'document'
    """

    n_documents: int
    n_texts: int
    unit: str

    @property
    def noun(self) -> str:
        """What a document is called: a sentence, where nothing larger is known."""
        is_sentence = self.unit == "sentence" and self.n_texts == self.n_documents
        return "sentence" if is_sentence else "document"


def in_digits(value: float, digits: int = 4) -> str:
    """Write a number with so many digits, never rounding to 0 or 1 what is neither.

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
    least = f"{10.0**-digits:.{digits}f}"
    most = f"{1 - 10.0**-digits:.{digits}f}"
    if abs(value) < 0.5:
        return f"<{least}" if value > 0 else f">-{least}"
    if abs(value) > 1:
        return f">{float(text):.{digits}f}" if value > 0 else f"<{float(text):.{digits}f}"
    return f">{most}" if value > 0 else f"<-{most}"


def p_in_digits(value: float, digits: int = 4, *, is_floor: bool = False) -> str:
    """Write a p-value; as an upper limit if it is the smallest that its test can show.

    A test that draws so many resamples counts the observed value as one more, and cannot show
    that a p-value is smaller than one of all of them. The bound is rounded up.

    Examples
    --------
    >>> p_in_digits(1 / 10_000, is_floor=True), p_in_digits(1 / 10_000)
    ('< 0.0001', '0.0001')
    >>> p_in_digits(2 / 8_000, is_floor=True), p_in_digits(2 / 8_000, 2, is_floor=True)
    ('< 0.0003', '< 0.01')
    >>> p_in_digits(0.25), p_in_digits(float("nan"))
    ('0.2500', '-')
    """
    if not is_floor:
        return in_digits(value, digits)
    # A little less, because 1 / 10,000 times 10,000 need not be 1.
    bound = ceil(value * 10**digits * (1 - 1e-9)) / 10**digits
    return f"< {bound:.{digits}f}"


def p_is(value: float, digits: int = 4, *, is_floor: bool = False) -> str:
    """Write a p-value within a sentence.

    Examples
    --------
    >>> p_is(0.03, 2), p_is(0.0001, is_floor=True), p_is(0.00001)
    ('p = 0.03', 'p < 0.0001', 'p < 0.0001')
    """
    text = p_in_digits(value, digits, is_floor=is_floor)
    return f"p {text[0]} {text[1:].lstrip()}" if text[0] in "<>" else f"p = {text}"
