"""Results that print themselves, with the tables of the command line, and results by name."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Mapping
from functools import cached_property
from importlib import import_module
from typing import TYPE_CHECKING, Any, NoReturn, Self, TypeVar

from beyondchance.errors import UnknownNameError
from beyondchance.messages import Quote, Text, quotes, spoken

if TYPE_CHECKING:
    from beyondchance.settings import Settings

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
        """Print the tables of the result, notes and the signature, in 80 columns."""
        return str(import_module(_ROOM).printed(self, "text"))

    def _repr_html_(self) -> str:
        """Print the same for notebooks."""
        return str(import_module(_ROOM).printed(self, "html"))

    def to_markdown(self) -> str:
        """Print the same in Markdown."""
        return str(import_module(_ROOM).printed(self, "markdown"))

    def to_latex(self) -> str:
        """Print a table for a paper, in LaTeX with booktabs."""
        return str(import_module(_ROOM).printed(self, "latex"))

    def to_dict(self) -> dict[str, Any]:
        """Return plain values, as in the JSON of the command line; None where undefined."""
        values: dict[str, Any] = import_module(_ROOM).plain_data(self)
        return values

    def to_rows(self) -> list[dict[str, Any]]:
        """Return one flat table, a dictionary for each row, as data frame libraries take them."""
        rows: list[dict[str, Any]] = import_module(_ROOM).plain_rows(self)
        return rows


class Reasoned(Printed):
    """A result that says why a part of it is missing, and what to know before relying on it."""

    __slots__ = ()
    why: Text

    @property
    def reason(self) -> str | None:
        """Why there is none; None where there is one."""
        return spoken(self.why) or None

    @property
    def caution_text(self) -> Text:
        """What to know before relying on it, in parts; empty if nothing."""
        return ()

    @property
    def caution(self) -> str | None:
        """What to know before relying on it; None if nothing."""
        return spoken(self.caution_text) or None


class Described(Printed):
    """A result that has a methods paragraph for a paper."""

    __slots__ = ()

    def methods(self, form: str = "text") -> str:
        """Write what a paper says about how it was computed, with its numbers.

        Parameters
        ----------
        form : {"text", "markdown", "latex"}
        """
        return str(import_module(_ROOM).report_of(self).make_methods().written(form))


class Measured(Described):
    """A result that can be scored by other measures, too."""

    settings: Settings

    def knowing(self, score_others: Callable[[], Mapping[str, Self]]) -> Self:
        """Keep what scores the same annotations by other measures, for `measures`."""
        self.__dict__["_score_others"] = score_others
        return self

    def __getstate__(self) -> dict[str, Any]:
        """Return what is pickled: without what scores by other measures."""
        return {name: value for name, value in self.__dict__.items() if name != "_score_others"}

    @cached_property
    def measures(self) -> Mapping[str, Self]:
        """The result by its own measure, then by ``token`` and by ``exact``.

        The others are scored when this is first used, as printing does. They are missing from
        results that do not know their annotations: those of files that were read in parts, of
        parts of a ranking, and those that were pickled.
        """
        score_others = self.__dict__.get("_score_others", dict)
        return {self.settings.custom or self.settings.measure: self, **score_others()}


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
