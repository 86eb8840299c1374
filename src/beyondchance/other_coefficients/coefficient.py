"""What a coefficient is: what it is computed from, its value, and its entry in the catalogue."""

from __future__ import annotations

from collections.abc import Callable, Mapping
from dataclasses import dataclass, field
from math import isnan, nan
from typing import Any, TypeVar

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import BeyondChanceError, DataError, MissingLibraryError, OverlapError
from beyondchance.messages import Text, spoken
from beyondchance.results.agreement import Agreement
from beyondchance.scoring.api import agreement

NOBODY_TO_COMPARE = "no position was seen by two annotators"
NOTHING_MARKED = "no annotator marked anything"

Result = TypeVar("Result")


class UndefinedError(DataError):
    """A coefficient has no value on these annotations; the message is the reason."""


@dataclass(frozen=True, slots=True, kw_only=True)
class Coefficient:
    """The value of one coefficient on a corpus.

    Attributes
    ----------
    name : str
        As in the catalogue: ``alpha``, ``mu-alpha``, ``kappa`` and so on.
    value : float
        The coefficient; nan where it is undefined.
    observed, expected : float
        The two parts it is made of: agreement, disagreement or disorder, as given in the
        catalogue.
    why : Text
        Why the value is undefined, where it is, in pieces.
    by_label : mapping of str to Coefficient
        The values of single labels, where the coefficient has them.
    settings : mapping of str to str
        Whatever else changes a digit of the value.
    interval : (float, float), optional
        Where the value lies with the stated confidence, if it was sampled.

    Examples
    --------
    >>> kappa = Coefficient(name="kappa", value=0.5, observed=0.75, expected=0.5)
    >>> kappa.to_dict()
    {'value': 0.5, 'observed': 0.75, 'expected': 0.5}
    >>> Coefficient(name="kappa", value=float("nan"), why="no text").to_dict()
    {'value': None, 'observed': None, 'expected': None, 'reason': 'no text'}
    """

    name: str = ""
    value: float
    observed: float = nan
    expected: float = nan
    why: Text = ()
    by_label: Mapping[str, Coefficient] = field(default_factory=dict)
    settings: Mapping[str, str] = field(default_factory=dict)
    interval: tuple[float, float] | None = None

    @property
    def reason(self) -> str | None:
        """Why the value is undefined, as a sentence; None where it is defined."""
        return spoken(self.why) or None

    def to_dict(self) -> dict[str, Any]:
        """Return plain values; None where undefined, with the reason; nothing that is empty."""
        numbers = {name: getattr(self, name) for name in ("value", "observed", "expected")}
        others = {
            "reason": self.reason,
            "interval": list(map(_plain, self.interval or ())),
            "settings": dict(self.settings),
            "by_label": {label: part.to_dict() for label, part in self.by_label.items()},
        }
        return {
            **{name: _plain(number) for name, number in numbers.items()},
            **{name: other for name, other in others.items() if other},
        }


@dataclass(frozen=True, slots=True, kw_only=True, eq=False)
class Task:
    """What coefficients are computed from, and what several of them have in common.

    Attributes
    ----------
    corpus : Corpus
        Without a gold standard.
    model : str
        Of the corrected F1.
    gamma : mapping of str to object
        Parameters of gamma.
    seed : int or Generator, optional
        Where the random numbers of gamma begin.
    progress : callable, optional
        Called with how many samples of gamma are done, and how many there will be.
    scored : mapping of measure to Agreement
        What has been scored already.
    """

    corpus: Corpus
    model: str = "auto"
    gamma: Mapping[str, Any] = field(default_factory=dict)
    seed: int | np.random.Generator | None = None
    progress: Callable[[int, int], object] | None = None
    scored: Mapping[str, Agreement] = field(default_factory=dict)
    _known: dict[Callable[[Task], Any], Any] = field(default_factory=dict, init=False, repr=False)

    def once(self, compute: Callable[[Task], Result]) -> Result:
        """Return what a function makes of the task, computed once for all coefficients.

        An error that makes coefficients undefined is kept and raised again.
        """
        if compute not in self._known:
            try:
                self._known[compute] = compute(self)
            except UNDEFINED as error:
                self._known[compute] = error
        result: Any = self._known[compute]
        if isinstance(result, BeyondChanceError):
            raise result
        return result  # type: ignore[no-any-return]


UNDEFINED = (OverlapError, MissingLibraryError, UndefinedError)
"""What makes a coefficient undefined, while others may still have a value."""


@dataclass(frozen=True, slots=True)
class Entry:
    """An entry of the catalogue: what there is to know about a coefficient.

    Attributes
    ----------
    name : str
        Its name in options and results.
    title : str
        Its name in the literature.
    definition : str
        In one line.
    reference : str
    parts : {"agreement", "disagreement", "disorder"}
        What its observed and expected parts are.
    compute : function of a Task
        Returns coefficients by name; an error of `UNDEFINED` is the reason why they have no value.
    """

    name: str
    title: str
    definition: str
    reference: str
    parts: str
    compute: Callable[[Task], Mapping[str, Coefficient]]

    @property
    def is_sampled(self) -> bool:
        """Whether its value depends on random numbers, as a disorder does."""
        return self.parts == "disorder"


def scored(task: Task, measure: str) -> Agreement:
    """Return the agreement by a measure, unless it is known already."""
    known = task.scored.get(measure)
    return known or agreement(task.corpus, measure=measure, model=task.model)


def from_disagreement(observed: float, expected: float, *, why: Text) -> Coefficient:
    """Compute one minus observed over expected disagreement; undefined where none is expected.

    Parameters
    ----------
    observed, expected : float
        Disagreement.
    why : Text
        Why no disagreement is expected, if none is.

    Examples
    --------
    >>> from_disagreement(0.1, 0.4, why="").value
    0.75
    >>> from_disagreement(0.0, 0.0, why="nothing was marked").value
    nan
    """
    is_defined = expected > 0
    return Coefficient(
        value=1 - observed / expected if is_defined else nan,
        observed=observed,
        expected=expected,
        why=() if is_defined else why,
    )


def _plain(number: float) -> float | None:
    return None if isnan(number) else number
