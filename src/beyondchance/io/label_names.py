"""What the numbers of tags stand for, as users say it."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

from beyondchance.annotations.names import as_list
from beyondchance.checks import is_whole, repeated
from beyondchance.errors import OptionError
from beyondchance.io.sources import Source, parsed_json
from beyondchance.io.values import refusal
from beyondchance.messages import Quote, Use, given


def label_names_of(value: Any, *, option: str = "label_names") -> dict[int, str] | None:
    """Return the names of numbers from an option: a list, a mapping, or a string for either.

    Examples
    --------
    >>> label_names_of("O,B-PER"), label_names_of({"B-PER": 1, "O": 0})
    ({0: 'O', 1: 'B-PER'}, {1: 'B-PER', 0: 'O'})
    """
    if value is None:
        return None
    if isinstance(value, PathLike) or (isinstance(value, str) and value.lower().endswith(".json")):
        source = Source(str(value), path=Path(value))
        content = parsed_json(source.text, source.name)
        names = _numbered(content)
        if names is None:
            raise refusal(
                source.name,
                "holds no names of labels",
                expected="a JSON list of names, or an object of names and numbers",
            )
        return names
    names = _numbered(
        [name.strip() for name in value.split(",")] if isinstance(value, str) else as_list(value)
    )
    if names is None:
        expected = "names in the order of their numbers, or a mapping of numbers to names"
        raise OptionError(*given(option, value), expected=expected)
    for twice in repeated(names.values())[:1]:
        found = (Use(option, is_name=True), " has ", Quote(twice, is_given=True), " twice")
        raise OptionError(*found, expected="a name for each number")
    return names


def _numbered(value: Any) -> dict[int, str] | None:
    """Return names by number, from a list, or from a mapping in either direction."""
    if isinstance(value, Mapping):
        pairs = list(value.items())
        if pairs and all(is_whole(number) for _, number in pairs):
            pairs = [(number, name) for name, number in pairs]
        # The keys of JSON are strings.
        numbers = [int(n) if isinstance(n, str) and n.isdecimal() else n for n, _ in pairs]
        listed = [name for _, name in pairs]
    elif isinstance(value, Sequence) and not isinstance(value, str | bytes):
        numbers, listed = list(range(len(value))), list(value)
    else:
        return None
    are_named = all(isinstance(name, str) and name for name in listed)
    if not listed or not are_named or not all(map(is_whole, numbers)):
        return None
    names = {int(number): name for number, name in zip(numbers, listed, strict=True)}
    return names if len(names) == len(listed) else None
