"""Results that print themselves, with the tables of the command line."""

from __future__ import annotations

from importlib import import_module
from typing import Any

_ROOM = "beyondchance.reporting.results"
"""What prints results. It knows every kind of result, so it is above them all, and is
loaded when a result is printed."""


class Printed:
    """A result that is a table as text, in a notebook and for other programs."""

    __slots__ = ()

    def __eq__(self, other: object) -> bool:
        """Compare with another result of this kind by all that either of them shows."""
        if type(other) is not type(self) or not isinstance(other, Printed):
            return NotImplemented
        return self is other or self.to_dict() == other.to_dict()

    def __hash__(self) -> int:
        return hash(repr(self))

    def __str__(self) -> str:
        """The tables of the result, notes and the signature, in 80 columns."""
        return str(import_module(_ROOM).printed(self, "text"))

    def _repr_html_(self) -> str:
        """The same for notebooks."""
        return str(import_module(_ROOM).printed(self, "html"))

    def to_markdown(self) -> str:
        """The same in Markdown."""
        return str(import_module(_ROOM).printed(self, "markdown"))

    def to_latex(self) -> str:
        """A table for a paper, in LaTeX with booktabs."""
        return str(import_module(_ROOM).printed(self, "latex"))

    def to_dict(self) -> dict[str, Any]:
        """Plain values, as in the JSON of the command line; None where undefined."""
        values: dict[str, Any] = import_module(_ROOM).plain_data(self)
        return values

    def to_rows(self) -> list[dict[str, Any]]:
        """One flat table, a dictionary for each row, as data frame libraries take them."""
        rows: list[dict[str, Any]] = import_module(_ROOM).plain_rows(self)
        return rows


class Described(Printed):
    """A result that has a methods paragraph for a paper."""

    __slots__ = ()

    def methods(self, form: str = "text") -> str:
        """What a paper says about how it was computed, with its numbers.

        Parameters
        ----------
        form : {"text", "markdown", "latex"}
        """
        return str(import_module(_ROOM).report_of(self).make_methods().written(form))
