"""Results by name, where a name that is not there leads to those that are."""

from __future__ import annotations

from collections.abc import Iterable
from typing import NoReturn, TypeVar

from beyondchance.errors import UnknownNameError
from beyondchance.messages import Quote, quotes

Key = TypeVar("Key")
Value = TypeVar("Value")


class Named(dict[Key, Value]):
    """A dictionary that lists its keys where one is missing.

    Examples
    --------
    >>> Named(PER=1, LOC=2)["ORG"]
    Traceback (most recent call last):
    beyondchance.errors.UnknownNameError: nothing is named 'ORG'; expected one of 'PER', 'LOC'
    """

    def __missing__(self, key: object) -> NoReturn:
        raise unknown_name(key, self)


def unknown_name(key: object, names: Iterable[object]) -> UnknownNameError:
    """Make the error that lists the names."""
    expected = "one of ", *quotes(names, most=20)
    return UnknownNameError("nothing is named ", Quote(key), expected=expected)
