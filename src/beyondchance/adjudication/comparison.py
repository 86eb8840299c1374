"""Compare what people decided, where two of them did."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import combinations
from operator import attrgetter
from typing import Any

from beyondchance.adjudication.added import with_annotator
from beyondchance.adjudication.adjudicated import Stretches, spans_in, texts_of
from beyondchance.adjudication.decisions import Decision, decisions_in, is_same, together
from beyondchance.adjudication.votes import Chosen
from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import distinct
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
    listed = [together([decisions_in(source, corpus)]) for source in files]
    names = _names(listed)
    pairs = {}
    differing: list[tuple[Decision, Decision]] = []
    for (a, one), (b, other) in combinations(zip(names, listed, strict=True), 2):
        both = _both(one, other)
        others = [pair for pair in both if not is_same(*pair)]
        pairs[a, b] = Compared(
            n_places=len(both),
            n_same=len(both) - len(others),
            agreement=_agreement(corpus, {a: one, b: other}, measure) if both else None,
        )
        differing += others
    return Deciders(corpus=corpus, names=names, pairs=pairs, differing=tuple(differing))


def _agreement(
    corpus: Corpus, decided: Mapping[str, Sequence[Decision]], measure: str | None
) -> Agreement:
    """Score what two people decided against one another, where both did."""
    pair = replace(corpus.select(annotators=[]), options=corpus.options, gold=None)
    stretches = [Stretches.of(own, texts_of(own, corpus)) for own in decided.values()]
    one, other = stretches
    shared = one.text[other.touch(one.text, one.start, one.end)]
    documents = distinct(corpus.text_document[shared])[0]
    for (name, own), theirs in zip(decided.items(), (other, one), strict=True):
        spans, labels = spans_in(own, texts_of(own, corpus), pair.labels)
        is_shared = theirs.touch(spans.text, spans.start, spans.end)
        chosen = Chosen(*(column[is_shared] for column in spans))
        pair = with_annotator(pair, name, chosen, documents, labels)
    return agreement(pair, measure=measure or "token")


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
