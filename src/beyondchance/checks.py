"""Checks of what the public functions are given, each written once."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Hashable, Iterable
from math import inf, nan
from numbers import Real
from os import PathLike
from typing import Any, TypeVar

import numpy as np

from beyondchance.errors import BeyondChanceError, DataError, OptionError
from beyondchance.messages import Quote, Text, given, quotes
from beyondchance.values import internal

Value = TypeVar("Value")
Name = TypeVar("Name", bound=Hashable)


@internal
class Within:
    """The numbers that an option takes."""

    low: float = 0
    high: float = inf
    is_low_open: bool = False
    is_high_open: bool = False

    def __contains__(self, value: float) -> bool:
        above = self.low < value if self.is_low_open else self.low <= value
        return above and (value < self.high if self.is_high_open else value <= self.high)

    def __str__(self) -> str:
        if self.high == inf:
            return f"above {self.low:,}" if self.is_low_open else f"from {self.low:,} on"
        if self.is_low_open and self.is_high_open:
            return f"between {self.low:,} and {self.high:,}"
        more = f", and more than {self.low:,}" if self.is_low_open else ""
        less = f", and less than {self.high:,}" if self.is_high_open else ""
        return f"from {self.low:,} to {self.high:,}{more}{less}"


def checked_option(
    name: str, value: object, valid: Collection[str], *, are_data: bool = False
) -> str:
    """Return `value` if it is one of the `valid` ones; name those otherwise.

    Parameters
    ----------
    name : str
    value : object
    valid : collection of str
    are_data : bool
        Whether these are names from the user's data, of labels or annotators.

    Examples
    --------
    >>> checked_option("measure", "token", ["token", "exact"])
    'token'
    >>> checked_option("measure", "f1", ["token", "exact"])
    Traceback (most recent call last):
    ...
    beyondchance.errors.OptionError: unknown measure 'f1'; choose one of: token, exact
    """
    if isinstance(value, str) and value in valid:
        return value
    known: Text = f"{nearest(value, valid)}choose one of: {', '.join(valid)}"
    if not valid:
        known = "there is none"
    if are_data and valid:
        known = ("choose one of: ", *quotes(valid))
    raise OptionError(f"unknown {name} ", Quote(value, is_given=True), remedy=known)


def nearest(name: object, known: Iterable[str]) -> str:
    """Return a question for the known name that is nearest to an unknown one; empty if none is.

    Examples
    --------
    >>> nearest("tokens", ["token", "exact"]), nearest("x", ["token"])
    ('did you mean token? ', '')
    """
    from difflib import get_close_matches  # noqa: PLC0415 - for mistakes only

    near = get_close_matches(name, known, n=1) if isinstance(name, str) else ()
    return "".join(f"did you mean {one}? " for one in near)


def repeated(values: Iterable[Name]) -> list[Name]:
    """Return the values that occur more than once, in the order met.

    Examples
    --------
    >>> repeated(["ada", "ben", "ada"])
    ['ada']
    """
    listed = list(values)
    if len(set(listed)) == len(listed):
        return []
    return [value for value, times in Counter(listed).items() if times > 1]


def checked_list(name: str, value: object) -> list[Any]:
    """Return the items of a collection; a string is one item.

    Examples
    --------
    >>> checked_list("replace", "gpt"), checked_list("replace", ("gpt", "llama"))
    (['gpt'], ['gpt', 'llama'])
    """
    if isinstance(value, Iterable):
        return [value] if isinstance(value, str) else list(value)
    raise OptionError(*given(name, value), expected="one, or a list of them")


def is_bytes_as_text(name: str) -> bool:
    """Return whether a name is bytes that were written as if they were text.

    Examples
    --------
    >>> is_bytes_as_text("b'PER'"), is_bytes_as_text("b'"), is_bytes_as_text("PER")
    (True, False, False)
    """
    return name.startswith(("b'", 'b"')) and name[-1] == name[1] and len(name) > len("b'")


def is_whole(value: object) -> bool:
    """Return whether a value is an integer, of Python's or of NumPy's; True and False are not."""
    return isinstance(value, int | np.integer) and not isinstance(value, bool)


def as_float(value: object) -> float:
    """Return a real number of any type as a float; nan for anything else.

    Examples
    --------
    >>> as_float(np.float32(0.5)), as_float("0.5")
    (0.5, nan)
    """
    if isinstance(value, bool) or not isinstance(value, Real):
        return nan
    try:
        return float(value)
    except OverflowError:  # a whole number that no float comes near
        return nan


def checked_number(
    name: str,
    value: Any,
    within: Within,
    *,
    kind: type = float,
    error: type[BeyondChanceError] = OptionError,
) -> Any:
    """Return a number of a kind, int or float, that is within limits."""
    number: Any = (value if is_whole(value) else nan) if kind is int else as_float(value)
    if number in within:
        return kind(number)
    what = "a whole number" if kind is int else "a number"
    raise error(*given(name, value), expected=f"{what} {within}")


def checked_gold(value: object) -> None:
    """Refuse what is neither the name of an annotator nor a path.

    Examples
    --------
    >>> checked_gold(["a"])
    Traceback (most recent call last):
    ...
    beyondchance.errors.OptionError: gold is ['a']; expected the name of an annotator, or a file
    """
    if not (value is None or isinstance(value, str | PathLike) or is_whole(value)):
        raise OptionError(*given("gold", value), expected="the name of an annotator, or a file")


def checked_whole(
    name: str,
    value: Any,
    *,
    least: int = 0,
    most: float = inf,
    error: type[BeyondChanceError] = OptionError,
) -> int:
    """Return a whole number from `least` to `most`.

    Examples
    --------
    >>> checked_whole("top", np.int64(3))
    3
    >>> checked_whole("top", "x")
    Traceback (most recent call last):
    ...
    beyondchance.errors.OptionError: top is 'x'; expected a whole number from 0 on
    """
    return int(checked_number(name, value, Within(least, most), kind=int, error=error))


def checked_share(name: str, value: object, *, low: bool = False, high: bool = False) -> float:
    """Return a number between 0 and 1, which may be 0 if `low`, and 1 if `high`.

    Examples
    --------
    >>> checked_share("confidence", np.float32(0.75))
    0.75
    >>> checked_share("theta", 1, low=True)
    Traceback (most recent call last):
    ...
    beyondchance.errors.OptionError: theta is 1; expected a number from 0 to 1, and less than 1
    """
    limits = Within(0, 1, is_low_open=not low, is_high_open=not high)
    return float(checked_number(name, value, limits))


def checked_generator(seed: object) -> np.random.Generator:
    """Return a source of randomness, from a generator, a seed or nothing.

    Examples
    --------
    >>> checked_generator("x")
    Traceback (most recent call last):
    ...
    beyondchance.errors.OptionError: seed is 'x'; expected a whole number from 0 on, a generator \
or None
    """
    if isinstance(seed, np.random.Generator):
        return seed
    if seed is None or (is_whole(seed) and seed >= 0):  # type: ignore[operator]
        return np.random.default_rng(seed)  # type: ignore[arg-type]
    expected = "a whole number from 0 on, a generator or None"
    raise OptionError(*given("seed", seed), expected=expected)


def checked_instance(value: object, kind: type[Value], expected: str) -> Value:
    """Return `value` if it is of a kind; say what it is otherwise.

    Examples
    --------
    >>> checked_instance([], dict, "a mapping")
    Traceback (most recent call last):
    ...
    beyondchance.errors.DataError: got a list; expected a mapping
    """
    if isinstance(value, kind):
        return value
    name = type(value).__name__
    raise DataError(f"got {'an' if name[0] in 'aeiouAEIOU' else 'a'} {name}", expected=expected)
