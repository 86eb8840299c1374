"""How far people decided alike: their gold standards, compared as annotations are."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import attrgetter
from typing import Any

from beyondchance.adjudication.added import with_work_of
from beyondchance.adjudication.adjudicated import gold_of
from beyondchance.adjudication.decisions import Decision, decisions_in, is_same, together
from beyondchance.annotations.corpus import Corpus
from beyondchance.errors import OptionError
from beyondchance.results.agreement import Agreement
from beyondchance.scoring.api import agreement


@dataclass(frozen=True, eq=False, kw_only=True)
class Deciders:
    """People who decided, as annotators.

    Attributes
    ----------
    corpus : Corpus
        With the gold standard of each of them as an annotator, and no others.
    agreement : Agreement
        Of these.
    names : tuple of str
    places : mapping of (str, str) to (int, int)
        For each two, how many stretches both decided, and how many of them the same.
    differing : tuple of (Decision, Decision)
        What was decided differently.
    """

    corpus: Corpus
    agreement: Agreement
    names: tuple[str, ...]
    places: Mapping[tuple[str, str], tuple[int, int]]
    differing: tuple[tuple[Decision, Decision], ...]


def compared_decisions(
    corpus: Corpus, files: Sequence[Any], *, measure: str | None = None
) -> Deciders:
    """Compare what people decided, each in a file.

    Raises
    ------
    OptionError
        For fewer than two files.
    """
    if len(files) < 2:
        raise OptionError("one file of decisions", expected="two to compare")
    listed = [decisions_in(source, corpus) for source in files]
    names = _names(listed)
    whole = replace(corpus.select(annotators=[]), options=corpus.options, gold=None)
    for name, own in zip(names, listed, strict=True):
        gold = gold_of(corpus, together([own]), rest="consensus", measure=None, name=_FRESH)
        whole = with_work_of(whole, gold, _FRESH, name)
    places = {}
    differing: list[tuple[Decision, Decision]] = []
    for (a, one), (b, other) in combinations(zip(names, listed, strict=True), 2):
        both = _both(one, other)
        others = [pair for pair in both if not is_same(*pair)]
        places[a, b] = len(both), len(both) - len(others)
        differing += others
    return Deciders(
        corpus=whole,
        agreement=agreement(whole, measure=measure or "token"),
        names=names,
        places=places,
        differing=tuple(differing),
    )


_FRESH = "\0gold"
"""A name that no annotator has: none can be read that begins so."""


def _names(listed: Sequence[Sequence[Decision]]) -> tuple[str, ...]:
    """Who decided in each file; several are told apart by a number."""
    names: list[str] = []
    for number, decisions in enumerate(listed, start=1):
        people = dict.fromkeys(decision.by for decision in decisions if decision.by)
        name = ", ".join(people) or f"decisions {number}"
        names.append(name if name not in names else f"{name} ({number})")
    return tuple(names)


def _both(one: Sequence[Decision], other: Sequence[Decision]) -> list[tuple[Decision, Decision]]:
    """Stretches of both that have a position in common, in reading order."""
    by_text: dict[tuple[str, int], tuple[list[Decision], list[Decision]]] = {}
    for side, listed in enumerate((one, other)):
        for decision in listed:
            key = (decision.document, decision.text)
            by_text.setdefault(key, ([], []))[side].append(decision)
    found = []
    for sides in by_text.values():
        mine, theirs = (sorted(listed, key=attrgetter("start")) for listed in sides)
        first = 0
        for decision in mine:
            # Those of one person do not overlap, so that what ends before is done with.
            while first < len(theirs) and theirs[first].end <= decision.start:
                first += 1
            i = first
            while i < len(theirs) and theirs[i].start < decision.end:
                found.append((decision, theirs[i]))
                i += 1
    return found
