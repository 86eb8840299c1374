"""The consensus of a team, and its votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from fractions import Fraction
from functools import cached_property
from math import inf, lcm
from typing import Any, Unpack

import numpy as np

from beyondchance.adjudication.added import with_annotator, with_spans
from beyondchance.adjudication.entities import Entities, agreement_with_others, entities_of
from beyondchance.adjudication.votes import (
    BEST,
    ENTITIES,
    METHODS,
    Chosen,
    Marks,
    Votes,
    cells_of,
    chosen_spans,
    in_order,
    layers,
    taken,
)
from beyondchance.annotations.corpus import Corpus, only
from beyondchance.annotations.names import kept
from beyondchance.checks import as_float, checked_option
from beyondchance.core.ragged import distinct, total
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import Quote, Use, given
from beyondchance.options import CorpusOptions
from beyondchance.results.agreement import Agreement
from beyondchance.results.printed import Printed
from beyondchance.results.score import Score, pooled
from beyondchance.scoring.api import agreement
from beyondchance.scoring.data import corpus_of
from beyondchance.scoring.one_to_one import numbered
from beyondchance.scoring.places import Places, places_of
from beyondchance.types import Bools, Floats, Ints

MEASURES = ("token", "exact")
"""What can be voted on: positions or spans."""
TIES = ("keep", "drop")
"""What becomes of ties."""
FEWEST = 3
"""Members of a document that is scored against their consensus."""
NAME, FRESH = "consensus", "\0consensus"
"""The annotator that a consensus is, unless it is called otherwise; a name that no annotator has.
"""
_MOST_WEIGHT = 10**6
"""The largest weight, as a whole number next to the others."""


def check_ties(n_ties: int, n_entities: int) -> None:
    """Refuse many ties where nobody said what becomes of them."""
    if 10 * n_ties > n_entities:
        raise DataError(
            f"{n_ties:,} of {n_entities:,} entities are ties, which votes do not decide",
            expected="a decision about them",
            remedy=(Use("ties", "drop"), " leaves them out, ", Use("ties", "keep"), " writes them"),
        )


@dataclass(frozen=True, eq=False, kw_only=True)
class Consensus(Printed):
    """A corpus with the consensus of its annotators as one more annotator.

    Attributes
    ----------
    corpus : Corpus
        All annotators, and the consensus as the last one.
    name : str
        What the consensus is called there.
    members : tuple of str
        Those who voted.
    method : {"entities", "best", "majority", "union"}
    measure : {"token", "exact"}, optional
        What was voted on; None for entities.
    weights : mapping of str to float
        How much the votes of members count, if not all count alike.
    chosen : Chosen
        The spans of the consensus, as columns.
    span : array of int, shape (spans,)
        The same, by their numbers in the corpus.
    votes : array of int, shape (spans,)
        How many members found each entity, in any version; with other methods, how many marked the
        span alike.
    alike : array of int, shape (spans,)
        How many members marked each of them, with the same edges and label.
    n_members : array of int, shape (spans,)
        How many members annotated its document.
    support : array of float, shape (spans,)
        The mean share of these who marked its positions with its label.
    is_tie : array of bool, shape (spans,)
        Which of them votes on entities do not decide; False with other methods.
    """

    corpus: Corpus
    name: str
    members: tuple[str, ...]
    method: str
    measure: str | None
    weights: Mapping[str, float]
    chosen: Chosen
    span: Ints
    votes: Ints
    alike: Ints
    n_members: Ints
    support: Floats
    is_tie: Bools
    _ballot: _Ballot

    def __repr__(self) -> str:
        ties = f", {np.count_nonzero(self.is_tie)} of them ties" if self.method == ENTITIES else ""
        return (
            f"Consensus({len(self.span)} spans of {len(self.members)} annotators{ties}, "
            f"method={self.method!r})"
        )

    @property
    def entities(self) -> Entities:
        """The entities that at least half of the members found, whatever the method is."""
        return self._ballot.entities

    @property
    def documents(self) -> Ints:
        """The documents that members annotated, by their numbers in the corpus."""
        return np.flatnonzero(self._ballot.n_here)

    @property
    def n_unscored(self) -> int:
        """How many documents were annotated by members, but by too few to score them."""
        return int(np.count_nonzero(self._ballot.n_here[self.documents] < FEWEST))

    @cached_property
    def agreement(self) -> Agreement | None:
        """How much the members agree with the consensus, which stands for a gold standard.

        Of documents that three or more members annotated: the consensus of two is what they have in
        common and the one's or the other's word for the rest, so that each is compared with their
        own work. None if there are no others. Spans of ties are left out, of the consensus and of
        members.
        """
        corpus, is_scored = self.corpus, self._ballot.n_here >= FEWEST
        if not is_scored.any():
            return None
        keep = np.ones(len(corpus.span_text), dtype=bool)
        if self.method == ENTITIES:
            keep[self._ballot.number[self._ballot.is_undecided]] = False
            keep[self.span[self.is_tie]] = False
        documents = kept(corpus.documents, is_scored)
        part = only(with_spans(corpus, keep), [*self.members, self.name], documents)
        return agreement(part, gold=self.name, measure=self.measure or "token")

    @cached_property
    def bounds(self) -> Mapping[str, tuple[float, float]]:
        """Corrected agreement with the consensus if all ties are decided against and for a member.

        Also of all members together, by the name of the consensus. Empty where nobody is scored,
        and with other methods, which know no ties.
        Decided for a member, the gold standard has that member's version of each tie; against,
        nothing there that the member marked, and all ties that the member left out.
        """
        if self.agreement is None or self.method != ENTITIES:
            return {}
        people = (who for pair in self.agreement.by_pair for who in pair if who != self.name)
        scores = {who: [self._decided(who, is_for=x) for x in (False, True)] for who in people}
        scores[self.name] = [pooled(side) for side in zip(*scores.values(), strict=True)]
        return {who: (low.corrected, high.corrected) for who, (low, high) in scores.items()}

    def _decided(self, who: str, *, is_for: bool) -> Score:
        """Score a member against the consensus with all ties decided for or against them."""
        corpus, ballot, entities = self.corpus, self._ballot, self.entities
        number = corpus.annotators.index(who)
        documents = corpus.annotation_document[corpus.annotation_annotator == number]
        documents = documents[ballot.n_here[documents] >= FEWEST]
        is_own = ballot.marks.annotator == number
        is_left = np.ones(len(entities.votes) + 1, dtype=bool)
        is_left[entities.of_mark[is_own]] = is_for
        is_gold = ~(entities.is_tie & (is_for | entities.is_rival | ~is_left[:-1]))
        own = taken(ballot.marks, is_own & ballot.is_undecided & is_for)
        gold = in_order(*map(np.append, taken(entities.spans, is_gold), own[:4]))
        gold = taken(gold, np.isin(corpus.text_document[gold.text], documents))
        pair = with_annotator(only(corpus, [who]), self.name, gold, documents)
        return agreement(pair, gold=self.name).score

    @cached_property
    def ties(self) -> Places:
        """Places with an entity that votes do not decide, those first that are worth most.

        A place is where spans of any members overlap, joined. An entity is not decided if exactly
        half found it, if labels or edges have equal votes, or if it overlaps another that was found
        by more. The worth of a place is what corrected agreement rises by if all members had the
        version that is first among those with most votes.
        """
        found = places_of(self.corpus, self.members, None)
        tied = taken(self.entities.spans, self.entities.is_tie)
        begin = self.corpus.text_begin
        known = begin[found.text] + found.start
        own = np.searchsorted(known, begin[tied.text] + tied.start, side="right") - 1
        listed = found[distinct(own)[0]]
        return listed[np.argsort(-np.nan_to_num(listed.worth, nan=0.0), kind="stable")]


def consensus(
    data: Any,
    *others: Any,
    method: str = ENTITIES,
    measure: str | None = None,
    weights: Mapping[str, float] | str | None = None,
    ties: str = "keep",
    name: str = NAME,
    **options: Unpack[CorpusOptions],
) -> Consensus:
    """Build the consensus of a team from the votes of its members.

    By default spans are matched to entities, and the members vote: on whether there is one (more
    than half of those who annotated the document found it), on its label, and on its edges. A
    span of the consensus is one that somebody marked. What more than half marked alike is in it,
    and entities overlap only where some annotator marked both. Neither the order of annotators nor
    that of documents changes anything. A gold standard that the corpus names has no vote.

    Parameters
    ----------
    data, *others
        As in `agreement`.
    method : {"entities", "best", "majority", "union"}
        Vote on entities; or take the annotation with the highest observed agreement with all
        members together, the spans that more than half marked alike, or those that anybody marked.
    measure : {"token", "exact"}, optional
        For ``method="best"``: vote on positions, each with its label, or on whole spans. Positions
        are joined to spans as most of those do who marked them, without white space at the edges.
        By default tokens, and whole spans where positions are characters.
    weights : mapping of str to number, or "agreement", optional
        How much the votes of some annotators count, where it is not 1; or, for crowds, the
        square of each annotator's token F1 with all others.
    ties : {"keep", "drop"}
        Whether entities that votes do not decide are in the consensus. Those that are kept follow
        the annotators who agree more with the others over the corpus, then the longer version, the
        earlier one, the alphabet.
    name : str
        What the consensus is called.
    **options
        How these become a corpus (see `corpus`).

    Returns
    -------
    Consensus

    Raises
    ------
    DataError
        If an annotator has that name already, or there is nobody to vote.
    OptionError
        For an unknown method, a measure or ties that do not go with it, or weights that are not
        positive numbers.

    Examples
    --------
    All three mark a name, but not the same words; two mark the place::

        anna  PP.L
        ben   PP..
        cleo  .P.L

    >>> spans = {"anna": [[(0, 2, "P"), (3, 4, "L")]], "ben": [[(0, 2, "P")]]}
    >>> spans["cleo"] = [[(1, 2, "P"), (3, 4, "L")]]
    >>> found = consensus(Corpus.from_spans(spans, lengths=[4]))
    >>> found.corpus.spans("0", "consensus"), found.votes.tolist(), found.alike.tolist()
    ([Span(start=0, end=2, label='P'), Span(start=3, end=4, label='L')], [3, 2], [2, 2])
    >>> round(found.agreement.by_pair["consensus", "ben"].observed, 3)
    0.8
    """
    corpus = corpus_of(data, others, options)
    checked_option("method", method, METHODS)
    checked_option("ties", ties, TIES)
    for option, value, fitting in (("measure", measure, BEST), ("ties", ties, ENTITIES)):
        if method != fitting and value not in (None, "keep"):
            raise OptionError(
                *given(option, value), expected=("it with ", Use("method", fitting), " only")
            )
    if not isinstance(name, str) or not name or name != name.strip():
        raise OptionError(*given("name", name), expected="a name")
    members = tuple(member for member in corpus.annotators if member != corpus.gold)
    if not members:
        raise DataError("there are no annotators but a gold standard", expected="annotators to ask")
    ballot = _ballot(corpus, members, weights)
    if method == ENTITIES:
        found = ballot.entities
        is_in = ~(found.is_tie if ties == "drop" else found.is_rival)
        chosen, is_tie = taken(found.spans, is_in), found.is_tie[is_in]
    else:
        if measure is None:
            measure = "token" if method == BEST and corpus.positions == "tokens" else "exact"
        checked_option("measure", measure, MEASURES)
        chosen = chosen_spans(ballot.marks, ballot.votes, measure=measure, method=method)
        chosen = _trimmed(chosen, ballot.marks, corpus)
        is_tie = np.zeros(len(chosen.text), dtype=bool)
    added = with_annotator(corpus, name, chosen, np.flatnonzero(ballot.n_here))
    n_members = ballot.n_here[corpus.text_document[chosen.text]]
    alike, support = _counted(chosen, ballot.marks, len(corpus.annotators))
    return Consensus(
        corpus=added,
        name=name,
        members=members,
        method=method,
        measure=measure,
        weights=ballot.weights,
        chosen=chosen,
        span=np.arange(len(corpus.span_text), len(added.span_text)),
        votes=found.votes[is_in] if method == ENTITIES else alike,
        alike=alike,
        n_members=n_members,
        support=support / n_members,
        is_tie=is_tie,
        _ballot=ballot,
    )


@dataclass(frozen=True, eq=False)
class _Ballot:
    """What members vote on.

    Attributes
    ----------
    marks : Marks
        The spans of members.
    number : array of int, shape (marks,)
        Their numbers in the corpus.
    n_here : array of int, shape (documents,)
        How many members annotated each document.
    votes : Votes
    trust : array of float, shape (annotators,)
        How much each member agrees with the others.
    weights : mapping of str to float
        How much votes count, where it is not 1.
    """

    marks: Marks
    number: Ints
    n_here: Ints
    votes: Votes
    trust: Floats
    weights: Mapping[str, float]

    @cached_property
    def entities(self) -> Entities:
        return entities_of(self.marks, self.votes, self.trust)

    @property
    def is_undecided(self) -> Bools:
        """The spans that are versions of ties."""
        return np.append(self.entities.is_tie, False)[self.entities.of_mark]


def _ballot(corpus: Corpus, members: tuple[str, ...], weights: object) -> _Ballot:
    is_member = np.array([who in members for who in corpus.annotators], dtype=bool)
    number = np.flatnonzero(is_member[corpus.span_annotator])
    names = ("span_text", "span_label", "span_start", "span_end", "span_annotator")
    marks = Marks(*(getattr(corpus, column)[number] for column in names))
    trust = agreement_with_others(marks, corpus, is_member)
    if weights == "agreement":
        # Those who agree with nobody have a vote that decides nothing but ties of others.
        shares = np.maximum(np.rint(trust**2 * _MOST_WEIGHT), 1) / _MOST_WEIGHT
        weights = dict(zip(members, shares[is_member].tolist(), strict=True))
    known = _checked_weights(members, {} if weights is None else weights)
    weight = _whole(corpus.annotators, known)
    n_here, present = (
        total(corpus.annotation_document, x[corpus.annotation_annotator], len(corpus.documents))
        for x in (is_member, weight * is_member)
    )
    votes = Votes(weight, present.astype(np.int64)[corpus.text_document])
    return _Ballot(marks, number, n_here.astype(np.int64), votes, trust, known)


def _trimmed(chosen: Chosen, marks: Marks, corpus: Corpus) -> Chosen:
    """Trim white space off spans that no member marked as a whole, where texts are known."""
    if corpus.positions != "characters" or corpus.texts is None:
        return chosen
    known = set(zip(*(column.tolist() for column in marks[:4]), strict=True))
    rows: dict[tuple[int, ...], None] = {}
    for row in zip(*(column.tolist() for column in chosen), strict=True):
        text, label, start, end = row
        if row not in known:
            words = corpus.texts[text][start:end]
            start, end = start + len(words) - len(words.lstrip()), start + len(words.rstrip())
        if start < end:
            rows[text, label, start, end] = None
    return Chosen(*np.array(list(rows), dtype=np.int64).reshape(-1, 4).T)


def _checked_weights(members: tuple[str, ...], weights: object) -> dict[str, float]:
    """Return the weights that differ from 1."""
    if not isinstance(weights, Mapping):
        expected = "a number for each annotator, or 'agreement'"
        raise OptionError(*given("weights", weights), expected=expected)
    for who, value in weights.items():
        checked_option("annotator", who, members, are_data=True)
        if not 0 < as_float(value) < inf:
            found = ("the weight of ", Quote(who), " is ", Quote(value))
            raise OptionError(*found, expected="a number greater than 0")
    return dict(weights)


def _whole(annotators: tuple[str, ...], weights: Mapping[str, float]) -> Ints:
    """Return how often each annotator's vote counts, in whole numbers."""
    shares = [Fraction(str(weights.get(who, 1))) for who in annotators]
    scale = lcm(*(share.denominator for share in shares))
    whole = [int(share * scale) for share in shares]
    if max(whole) > _MOST_WEIGHT:
        raise OptionError(
            *given("weights", dict(weights)),
            expected="numbers with fewer digits, no more than a million times one another",
        )
    return np.array(whole, dtype=np.int64)


def _counted(chosen: Chosen, marks: Marks, n_annotators: int) -> tuple[Ints, Floats]:
    """Count who marked each span as it is, and on average each of its positions."""
    n = len(chosen.text)
    number = numbered(*map(np.append, chosen, marks[:4]))
    alike = np.bincount(number[n:], minlength=len(number))[number[:n]]
    # Nested spans of one label cover a position once; each that was chosen is counted by itself.
    flat, layer = layers(marks)
    own = Marks(*chosen, np.arange(n) + n_annotators)
    cells = cells_of(Marks(*map(np.append, own, taken(flat, layer == 0))))
    is_own = cells.annotator >= n_annotators
    votes = np.bincount(cells.number[~is_own], minlength=len(cells.stretch))
    covered = (votes * (cells.spans.end - cells.spans.start))[cells.number]
    support = total(cells.annotator[is_own] - n_annotators, covered[is_own], n)
    return alike, support / (chosen.end - chosen.start)
