"""Values that others wrote: taken if they are what is expected, else refused and quoted."""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from typing import Any

from beyondchance.checks import is_whole
from beyondchance.errors import DataError, FormatError
from beyondchance.io.offsets import Interval
from beyondchance.messages import Piece, Quote, Text

DIGITS = re.compile(r"[0-9]{1,18}")
"""A whole number that is not negative, as files write it."""


_LONGEST_BYTES = 40


def quoting(sentence: str, *values: object) -> tuple[Piece, ...]:
    """Return a sentence in pieces, with a value quoted in the place of each ``{}``.

    A tuple is taken for pieces, and stays as it is.

    Examples
    --------
    >>> quoting("{} is {}, not a tag", "x", ("column ", Quote(3)))
    (Quote(value='x'), ' is ', 'column ', Quote(value=3), ', not a tag')
    """
    first, *others = sentence.split("{}")
    parts: list[Piece] = [first]
    for value, words in zip(values, others, strict=True):
        parts += [*(value if isinstance(value, tuple) else [Quote(value)]), words]
    return tuple(part for part in parts if part != "")


def refusal(
    where: Text,
    sentence: str,
    *values: object,
    expected: Text = (),
    remedy: Text = (),
    kind: type[DataError] = FormatError,
) -> DataError:
    """Build the error for something that was found in a file.

    Parameters
    ----------
    where : Text
        Its place.
    sentence : str
        What was found, with ``{}`` for each of the values.
    *values : object
        They are quoted.
    expected, remedy : Text, optional
        What should have been there, and how to repair it.
    kind : type of DataError
        The class of the error.

    Examples
    --------
    >>> print(refusal("a.txt:3", "the time is {}", "x", expected="seconds"))
    a.txt:3: the time is 'x'; expected seconds
    """
    return kind(*quoting(sentence, *values), where=where, expected=expected, remedy=remedy)


def reason(error: BaseException | None) -> tuple[Piece, ...]:
    """Return what another library says of data, in brackets; nothing where it stumbles.

    Examples
    --------
    >>> reason(KeyError("%RANGE")), reason(FormatError("no text"))
    ((), (' (', Quote(value='no text'), ')'))
    """
    if type(error).__module__ == "builtins":
        return ()
    return (" (", Quote(" ".join(str(error).split())[:200]), ")")


def shown(value: object) -> Piece:
    """Return a JSON value in a message: short, whatever it is.

    Examples
    --------
    >>> shown({"a": 1}), shown([1, 2]), shown(None)
    ('an object', 'a list', 'null')
    >>> print(shown("x"), shown(7))
    'x' 7
    """
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if isinstance(value, bytes) and len(value) > _LONGEST_BYTES:
        return f"{len(value)} bytes"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return Quote(value)


def refused(
    value: object, what: str, where: Text, expected: Text, remedy: Text = ()
) -> FormatError:
    """Return the error for a value that is not what was expected, which is called `what`.

    Examples
    --------
    >>> print(refused([], "'label'", "a.json:3", "a name"))
    a.json:3: 'label' is a list; expected a name
    """
    found = (f"{what} is ", shown(value))
    return FormatError(*found, where=where, expected=expected, remedy=remedy)


def object_of(value: object, where: Text, what: str = "it") -> dict[str, Any]:
    """Return a JSON object, refused if it is something else."""
    if not isinstance(value, dict):
        raise refused(value, what, where, "an object")
    return value


def listed(item: Mapping[str, Any], key: str, where: Text) -> list[Any]:
    """Return a list, empty where there is none."""
    value = value_at(item, key, where)
    if not isinstance(value, list | None):
        raise refused(value, f"{key!r}", where, "a list")
    return value or []


def mapped(item: Mapping[str, Any], key: str, where: Text) -> dict[str, Any]:
    """Return an object, empty where there is none."""
    return object_of({} if item.get(key) is None else item[key], where, f"{key!r}")


def identifier(item: Mapping[str, Any], key: str, where: Text) -> str | None:
    """Return a name or number as a string; None where it is missing or empty."""
    value = value_at(item, key, where)
    if value is None:
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise refused(value, f"{key!r}", where, "a name or a number")
    return str(value) or None


def identified(item: Mapping[str, Any], keys: Iterable[str], where: Text) -> str | None:
    """Return the first name or number that an object has under one of some keys.

    Examples
    --------
    >>> identified({"id": "", "name": 7}, ("id", "name"), "a.json:3")
    '7'
    """
    return next((name for key in keys if (name := identifier(item, key, where))), None)


def named_by(item: Mapping[str, Any], keys: Sequence[str], where: Text) -> str:
    """Return the first name or number that an object has under some keys, refused without one."""
    name = identified(item, keys, where)
    if name is None:
        raise refused(value_at(item, keys[0], where), repr(keys[0]), where, "a name or a number")
    return name


def value_at(value: Any, path: str, where: Text, what: str = "it") -> Any:
    """Return what is under a path: keys and places in lists, joined by dots; None if missing.

    A star stands for all parts of a list, whose values are put into one list. A key that is the
    whole path counts before the keys in it.

    Examples
    --------
    >>> item = {"points": [{"start": 3}, {"start": 8}], "ner": [[[0, 2, "PER"]], []]}
    >>> value_at(item, "points.0.start", "a.json:3"), value_at(item, "points.*.start", "a.json:3")
    (3, [3, 8])
    >>> value_at(item, "ner.*", "a.json:3"), value_at(item, "ner.5.0", "a.json:3")
    ([[0, 2, 'PER']], None)
    """
    if isinstance(value, dict) and (path in value or "." not in path):
        return value.get(path)
    key, _, rest = path.partition(".")
    if value is None or not path:
        return value
    if isinstance(value, list | tuple) and key == "*":
        found = (value_at(part, rest, where) for part in value)
        return [x for part in found for x in (part if isinstance(part, list) else [part])]
    if isinstance(value, list | tuple) and key.isdecimal():
        value = value[int(key)] if int(key) < len(value) else None
    else:
        value = object_of(value, where, what).get(key)
    return value_at(value, rest, where, repr(key))


def label_of(value: object, where: Text, what: str = "'label'") -> str:
    """Return a label: a string that is not empty."""
    if not isinstance(value, str) or not value:
        raise refused(value, what, where, "a name")
    return value


def string_of(item: Mapping[str, Any], key: str, where: Text, expected: Text = "a string") -> str:
    """Return a string, which has to be there.

    Examples
    --------
    >>> string_of({"text": "Ada"}, "text", "a.json:3")
    'Ada'
    """
    value = value_at(item, key, where)
    if not isinstance(value, str):
        raise refused(value, f"{key!r}", where, expected)
    return value


def words_of(
    item: Mapping[str, Any], where: Text, key: str = "text", expected: str = "the words of the span"
) -> str | None:
    """Return the words that a file stores with a span, if it does; or another string."""
    return None if item.get(key) is None else string_of(item, key, where, expected)


def whole(value: Any, what: str, where: Text) -> int:
    """Return a whole number, refused if it is something else."""
    if not is_whole(value):
        raise refused(value, what, where, "a whole number")
    return int(value)


def interval(item: Mapping[str, Any], where: Text) -> Interval:
    """Return the offsets ``start`` and ``end`` of a span or token."""
    return whole(item.get("start"), "'start'", where), whole(item.get("end"), "'end'", where)
