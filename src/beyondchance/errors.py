"""What can go wrong, each with a name of its own.

Every message says where, what was found, what was expected and how to repair it.
"""

from __future__ import annotations

from collections.abc import Iterable


class BeyondChanceError(Exception):
    """Base of every error that this package raises on purpose."""


class DataError(BeyondChanceError, ValueError):
    """The annotations cannot be used as they are."""


class SpanError(DataError):
    """A span is empty, reversed, negative, past the end or not a pair of integers."""


class OverlapError(DataError):
    """Two spans overlap where the chance model does not allow it."""


class TagError(DataError):
    """A tag is unknown, or a sequence of tags breaks the rules of its scheme."""


class MismatchError(DataError):
    """Two annotators do not have the same texts."""


class NothingSharedError(DataError):
    """No document was annotated by two annotators."""


class LengthsError(DataError):
    """Lengths of spans do not fit the text, or are not positive integers."""


class FormatError(DataError):
    """A file is not what its format says."""


class MissingLibraryError(BeyondChanceError, ImportError):
    """A file needs a library that is not installed."""


class OptionError(BeyondChanceError, ValueError):
    """An option has a value that it does not take."""


def checked_option(name: str, value: object, valid: Iterable[str]) -> str:
    """Return `value` if it is one of the `valid` ones; name those otherwise.

    Examples
    --------
    >>> checked_option("measure", "token", ["token", "exact"])
    'token'
    >>> checked_option("measure", "f1", ["token", "exact"])
    Traceback (most recent call last):
    ...
    beyondchance.errors.OptionError: unknown measure 'f1'; choose one of: token, exact
    """
    choices = list(valid)
    if isinstance(value, str) and value in choices:
        return value
    known = f"choose one of: {', '.join(choices)}" if choices else "there is none"
    raise OptionError(f"unknown {name} {value!r}; {known}")
