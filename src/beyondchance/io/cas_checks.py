"""What a CAS declares: checked before dkpro-cassis builds classes, and so code, from it."""

from __future__ import annotations

import re
from collections.abc import Iterator, Sequence
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.io.offsets import Interval
from beyondchance.io.values import DIGITS, quoting
from beyondchance.messages import Quote, Text, quotes

_TYPE_NAME = re.compile(r"[A-Za-z_]\w*(\.[A-Za-z_]\w*)*", re.ASCII)
_FEATURE_NAME = re.compile(r"[A-Za-z_]\w*", re.ASCII)


def check_names(types: Sequence[object], features: Sequence[object], where: str) -> None:
    """Refuse names that are none: the library builds classes, and so code, from them."""
    for names, pattern, what in ((types, _TYPE_NAME, "type"), (features, _FEATURE_NAME, "feature")):
        for name in names:
            if not isinstance(name, str) or not pattern.fullmatch(name.strip()):
                found = (Quote(name), f" is no name of a {what}")
                raise FormatError(*found, where=where, expected="letters, digits and _")


def json_object(value: object, where: Text, expected: str = "a JSON object") -> dict[str, Any]:
    """A value, refused if it is no object of JSON."""
    if not isinstance(value, dict):
        raise FormatError(f"found {type(value).__name__}", where=where, expected=expected)
    return value


def check_json_types(data: object, name: str) -> None:
    """Check the types that CAS JSON declares, before they are built."""
    types = json_object(data, name).get("%TYPES")
    if not isinstance(types, dict):
        raise FormatError(
            f"%TYPES is {type(types).__name__}",
            where=name,
            expected="the types as an object",
            remedy="export the CAS with its type system",
        )
    for type_name, value in types.items():
        declared = json_object(value, (f"{name}: %TYPES, ", Quote(type_name)), "an object")
        features = [key for key in declared if not key.startswith("%")]
        check_names([type_name], features, f"{name}: %TYPES")


def json_offsets(data: dict[str, Any], name: str) -> Iterator[tuple[int, Interval]]:
    """Offsets by id as they stand in the file."""
    for number, structure in _json_structures(data.get("%FEATURE_STRUCTURES"), name):
        where = f"{name}: feature structure {number}"
        if not isinstance(structure, dict) or not isinstance(structure.get("%TYPE"), str):
            raise FormatError("has no %TYPE", where=where, expected="an object with one")
        if "begin" not in structure and "end" not in structure:
            continue
        begin, end = structure.get("begin"), structure.get("end")
        if type(begin) is not int or type(end) is not int:
            found = ("offsets are ", *quotes([begin, end]))
            raise FormatError(*found, where=where, expected="whole numbers")
        yield number, (begin, end)


def _json_structures(structures: object, name: str) -> Iterator[tuple[int, Any]]:
    """Feature structures by id, whether they are a list or an object."""
    if isinstance(structures, dict):
        for key, structure in structures.items():
            if not DIGITS.fullmatch(key):
                problem = quoting("%FEATURE_STRUCTURES has the key {}", key)
                raise FormatError(*problem, where=name, expected="a number")
            yield int(key), structure
    elif isinstance(structures, list):
        for place, structure in enumerate(structures, start=1):
            number = structure.get("%ID") if isinstance(structure, dict) else None
            if type(number) is not int:
                found = f"%FEATURE_STRUCTURES: number {place} has no %ID"
                raise FormatError(found, where=name, expected="a number")
            yield number, structure
    else:
        found = f"%FEATURE_STRUCTURES is {type(structures).__name__}"
        raise FormatError(found, where=name, expected="a list or an object")
