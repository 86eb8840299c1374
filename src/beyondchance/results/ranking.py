"""Systems against one gold standard."""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Mapping
from dataclasses import dataclass, field, replace
from math import isnan

import numpy as np
from numpy.typing import ArrayLike

from beyondchance.checks import checked_option, is_whole
from beyondchance.errors import OptionError
from beyondchance.messages import Note, Quote
from beyondchance.numbers import Extent, in_digits
from beyondchance.results.agreement import Agreement
from beyondchance.results.printed import Measured, Named
from beyondchance.settings import Settings
from beyondchance.types import Bools


@dataclass(frozen=True, eq=False, repr=False)
class Ranking(Measured):
    """Systems against one gold standard, before and after correction.

    Attributes
    ----------
    gold : str
        The gold standard: side a of every score, the system is side b.
    systems : mapping of str to Agreement
        The agreement of each system with it, in the order of the corpus.
    settings : Settings
        How it was computed; ``str(settings)`` is the signature to cite.
    notes : tuple of Note
        What was chosen and why.
    skipped : mapping of str to int
        What was left out, and how often.
    sources : frozenset of str
        Paths and SHA-256 of the files that were read, which `report` does not replace.
    extent : Extent
        How many documents and texts any system was compared on.
    """

    gold: str
    systems: Mapping[str, Agreement]
    settings: Settings
    notes: tuple[Note, ...] = ()
    skipped: Mapping[str, int] = field(default_factory=dict)
    sources: frozenset[str] = field(default=frozenset(), repr=False)
    extent: Extent = field(kw_only=True)

    def ranks(self, by: str) -> dict[str, int | None]:
        """Rank each system by ``observed`` or ``corrected``; 1 is the highest.

        Equal scores share a rank, and the next one is skipped. None where the score
        is undefined.
        """
        checked_option("by", by, ("observed", "corrected"))
        scores = {name: getattr(system, by) for name, system in self.systems.items()}
        in_order = sorted(score for score in scores.values() if not isnan(score))
        return {
            name: None if isnan(score) else 1 + len(in_order) - bisect_right(in_order, score)
            for name, score in scores.items()
        }

    def among(self, texts: ArrayLike) -> Ranking:
        """Rank by some of the texts.

        Parameters
        ----------
        texts : array or list of bool or int
            A truth value for each text of the corpus, or the numbers of the texts to keep,
            from 0 on, in any order.

        Raises
        ------
        OptionError
            For anything else, a number that no text has, or one that is listed twice.

        Examples
        --------
        >>> from beyondchance import Corpus, rank
        >>> spans = {"gold": [[(0, 2, "P")], [(5, 6, "P")]], "system": [[(0, 2, "P")], []]}
        >>> ranking = rank(Corpus.from_spans(spans, lengths=[9, 9]), gold="gold")
        >>> ranking.among([0]).systems["system"].observed
        1.0
        >>> ranking.among([False, True]).systems["system"].observed
        0.0
        """
        systems: Named[str, Agreement] = Named()
        for name, system in self.systems.items():
            counts = system.counts.each_document()
            keep = _truth_values(texts, counts.n_texts)
            systems[name] = replace(system, counts=counts.of_texts(keep))
        return replace(self, systems=systems)

    def __repr__(self) -> str:
        scores = ", ".join(
            f"{name}={in_digits(system.corrected)}" for name, system in self.systems.items()
        )
        return f"Ranking(gold={self.gold!r}, corrected: {scores})"


def _truth_values(texts: ArrayLike, n_texts: int) -> Bools:
    """Return a truth value for each text, from truth values or from numbers of texts."""
    # As objects, because NumPy would make numbers of truth values that stand among numbers.
    values = texts if isinstance(texts, np.ndarray) else np.array(texts, dtype=object)
    expected = "a truth value for each text, or the numbers of texts"
    if values.ndim > 1:
        raise OptionError(f"texts have {values.ndim} dimensions", expected=expected)
    if values.ndim == 0:
        raise OptionError("texts are ", Quote(texts, is_given=True), expected=expected)
    if values.dtype == bool or (len(values) and {bool, np.bool_}.issuperset(map(type, values))):
        if len(values) != n_texts:
            found = f"{len(values)} truth values for {n_texts} texts"
            raise OptionError(found, expected="one for each text")
        return values.astype(bool)
    keep = np.zeros(n_texts, dtype=bool)
    for number in values.tolist():
        if not is_whole(number):
            raise OptionError("texts hold ", Quote(number, is_given=True), expected=expected)
        if not 0 <= number < n_texts or keep[number]:
            limits = f"numbers from 0 to {n_texts - 1}, none twice"
            raise OptionError(f"texts hold {number}", expected=limits)
        keep[number] = True
    return keep
