"""Systems against one gold standard."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from math import isnan

from beyondchance.checks import checked_option
from beyondchance.messages import Note
from beyondchance.results.agreement import Agreement
from beyondchance.settings import Settings
from beyondchance.types import Bools


@dataclass(frozen=True, eq=False)
class Ranking:
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
    """

    gold: str
    systems: Mapping[str, Agreement]
    settings: Settings
    notes: tuple[Note, ...] = ()

    def ranks(self, by: str) -> dict[str, int | None]:
        """The rank of each system by ``observed`` or ``corrected``; 1 is the highest.

        Equal scores share a rank, and the next one is skipped. None where the score
        is undefined.
        """
        checked_option("by", by, ("observed", "corrected"))
        scores = {name: getattr(system, by) for name, system in self.systems.items()}
        return {
            name: None if isnan(score) else 1 + sum(other > score for other in scores.values())
            for name, score in scores.items()
        }

    def among(self, texts: Bools) -> Ranking:
        """The ranking by some of the texts, chosen by a truth value for each."""
        systems = {
            name: replace(system, counts=system.counts.only(texts[system.counts.text]))
            for name, system in self.systems.items()
        }
        return replace(self, systems=systems)

    def __repr__(self) -> str:
        return (
            f"Ranking({len(self.systems)} systems, gold={self.gold!r}, settings='{self.settings}')"
        )
