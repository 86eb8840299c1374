"""Values of somebody else's JSON: taken if they are what is expected, else refused."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beyondchance.errors import FormatError


def shown(value: object) -> str:
    """A JSON value in a message: short, whatever it is.

    Examples
    --------
    >>> shown({"a": 1}), shown(None), shown("x" * 99) == repr("x" * 40)
    ('an object', 'null', True)
    """
    if isinstance(value, dict | list):
        return "an object" if isinstance(value, dict) else "a list"
    if value is None or isinstance(value, bool):
        return {None: "null", True: "true", False: "false"}[value]
    return repr(value if not isinstance(value, str) else value[:40])


def listed(item: Mapping[str, Any], key: str, where: str) -> list[Any]:
    """A list, empty where there is none."""
    value = item.get(key)
    if value is None:
        return []
    if not isinstance(value, list):
        raise FormatError(f"{where}: {key!r} is {shown(value)}; expected a list")
    return value


def identifier(value: object, place: str) -> str | None:
    """A name or number as a string; nothing where it is missing or empty."""
    if value is None or value == "":
        return None
    if isinstance(value, bool) or not isinstance(value, str | int):
        raise FormatError(f"{place} is {shown(value)}; expected a name or a number")
    return str(value)
