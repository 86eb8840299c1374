"""What one call of `read` was asked for, and what it met on the way."""

from __future__ import annotations

from collections import Counter
from dataclasses import dataclass, field
from typing import Any

from beyondchance.messages import Note
from beyondchance.options import ReadOptions, checked_options, declared

EVERYWHERE = frozenset({"gold", "match", "duplicates", "repeated"})
"""Options that every format takes."""
CHARACTERS = EVERYWHERE | {"unit", "positions", "whitespace", "align", "offsets", "zero_length"}
"""Options that every format with character offsets takes."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one call of `read` was asked for, and what it met on the way.

    Attributes
    ----------
    options : ReadOptions
        All of them, checked.
    skipped : Counter
        What was ignored, left out or changed, and how often.
    notes : list of Note
        What was found out, for people.
    signed : dict
        Choices that move a digit, for the signature.
    numbered : dict
        How many texts an annotator has, where only their numbers identify them.
    """

    options: ReadOptions
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[Any] = field(default_factory=list)
    signed: dict[str, Any] = field(default_factory=dict)
    numbered: dict[str, int] = field(default_factory=dict)

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", checked_options(ReadOptions, self.options))

    def changed(self) -> list[str]:
        """The options that were given another value than their default."""
        given: dict[str, Any] = {**self.options}
        known = declared(ReadOptions)
        return [name for name, value in given.items() if value != known[name].option.default]

    def note(self, *text: Any, where: str = "", who: str = "") -> None:
        """Keep something that was found out, once."""
        found = Note(text, where=where, who=who)
        if found not in self.notes:
            self.notes.append(found)
