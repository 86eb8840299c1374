"""Compare what people decided, where two of them did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from typing import Any

import numpy as np

from beyondchance.adjudication.added import only, with_annotator
from beyondchance.adjudication.adjudicated import Decided
from beyondchance.adjudication.decisions import Decision, decisions_in, is_same, together
from beyondchance.adjudication.votes import taken
from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import distinct, spread
from beyondchance.errors import OptionError
from beyondchance.results.agreement import Agreement
from beyondchance.scoring.api import agreement


@dataclass(frozen=True, eq=False, kw_only=True)
class Deciders:
    """People who decided, as annotators.

    Attributes
    ----------
    corpus : Corpus
        What was decided on.
    names : tuple of str
    pairs : mapping of (str, str) to Compared
        For each two, how far they decided alike.
    differing : tuple of (Decision, Decision)
        What was decided differently.
    """

    corpus: Corpus
    names: tuple[str, ...]
    pairs: Mapping[tuple[str, str], Compared]
    differing: tuple[tuple[Decision, Decision], ...]


@dataclass(frozen=True, eq=False, kw_only=True)
class Compared:
    """What two people decided.

    Attributes
    ----------
    n_places, n_same : int
        Stretches that both decided, and how many of them the same.
    agreement : Agreement, optional
        Of what they decided there; None if there is no such stretch.
    """

    n_places: int
    n_same: int
    agreement: Agreement | None


def compared_decisions(
    corpus: Corpus, files: Sequence[Any], *, measure: str | None = None
) -> Deciders:
    """Compare what people decided, each in a file, where both of two decided.

    Raises
    ------
    OptionError
        For fewer than two files.
    """
    if len(files) < 2:
        raise OptionError("one file of decisions", expected="two to compare")
    listed = [Decided.of(together([decisions_in(source, corpus)]), corpus) for source in files]
    names = _names(listed)
    pairs = {}
    differing: list[tuple[Decision, Decision]] = []
    for (a, one), (b, other) in combinations(zip(names, listed, strict=True), 2):
        # Those of one person do not overlap, so that what one of them meets follow one another.
        first = np.searchsorted(other.end, one.start, side="right")
        own, step = spread(np.searchsorted(other.start, one.end) - first)
        both = [
            (one.decisions[i], other.decisions[j])
            for i, j in zip(own.tolist(), (first[own] + step).tolist(), strict=True)
        ]
        others = [pair for pair in both if not is_same(*pair)]
        result = None
        if both:
            documents = distinct(corpus.text_document[one.text[own]])[0]
            pair = replace(only(corpus, []), gold=None)
            for name, mine, theirs in ((a, one, other), (b, other, one)):
                spans = taken(mine.spans, theirs.meet(mine.spans)[0])
                pair = with_annotator(pair, name, spans, documents, mine.labels)
            result = agreement(pair, measure=measure or "token")
        pairs[a, b] = Compared(n_places=len(both), n_same=len(both) - len(others), agreement=result)
        differing += others
    return Deciders(corpus=corpus, names=names, pairs=pairs, differing=tuple(differing))


def _names(listed: Sequence[Decided]) -> tuple[str, ...]:
    """Who decided in each file; several are told apart by a number."""
    names: list[str] = []
    for number, own in enumerate(listed, start=1):
        people = dict.fromkeys(decision.by for decision in own.decisions if decision.by)
        name = ", ".join(people) or f"decisions {number}"
        names.append(name if name not in names else f"{name} ({number})")
    return tuple(names)
