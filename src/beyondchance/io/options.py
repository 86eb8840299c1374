"""What one call of `read` was asked for, and what it found out on the way."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterable
from dataclasses import dataclass, field
from typing import Any

from beyondchance.messages import Note, Piece
from beyondchance.options import ReadOptions, checked_options, declared

EVERYWHERE = frozenset({"gold", "match", "duplicates", "repeated"})
"""Options that every format takes."""
CHARACTERS = EVERYWHERE | {"unit", "positions", "whitespace", "align", "offsets", "zero_length"}
"""Options that every format with character offsets takes."""
UNTOKENISED = CHARACTERS | {"tokeniser"}
"""Options of formats with character offsets whose files need not have tokens."""


@dataclass(frozen=True, slots=True)
class Reading:
    """What one call of `read` was asked for, and what it found out on the way.

    Attributes
    ----------
    options : ReadOptions
        All of them, checked.
    skipped : Counter
        What was ignored, left out or changed, and how often.
    notes : list of Note
        What was found out, for people.
    noted : set of str
        The sentences of the notes, so that none is there twice.
    signed : dict
        Choices that change results, for the signature.
    schemes : set of str
        The schemes of tags, asked for or detected.
    numbered : dict
        How many texts an annotator has, where only their numbers identify them.
    people : dict
        The annotators in each upload, by its name.
    is_mixed : bool
        Whether files of several formats are read together, so that drafts are needed.
    """

    options: ReadOptions
    skipped: Counter[str] = field(default_factory=Counter)
    notes: list[Note] = field(default_factory=list)
    noted: set[str] = field(default_factory=set)
    signed: dict[str, Any] = field(default_factory=dict)
    schemes: set[str] = field(default_factory=set)
    numbered: dict[str, int] = field(default_factory=dict)
    people: dict[str, dict[str, None]] = field(default_factory=dict)
    is_mixed: bool = False

    def __post_init__(self) -> None:
        object.__setattr__(self, "options", checked_options(ReadOptions, self.options))

    def changed(self) -> dict[str, Any]:
        """The options that were given another value than their default."""
        known = declared(ReadOptions)
        changed: dict[str, Any] = {}
        for name, value in self.options.items():
            default = known[name].option.default
            # Data frames are compared value by value, so that `!=` gives no answer for them.
            if value is not default and (default is None or value != default):
                changed[name] = value
        return changed

    def note(self, *text: Piece, where: str = "", who: str = "") -> None:
        """Keep something that was found out, once."""
        note = Note(text, where=where, who=who)
        if str(note) not in self.noted:
            self.noted.add(str(note))
            self.notes.append(note)

    def met(self, upload: str, annotators: Iterable[str]) -> None:
        """Keep which annotators an upload holds."""
        self.people.setdefault(upload, {}).update(dict.fromkeys(annotators))
