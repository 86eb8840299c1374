"""The consensus of a team, and its votes."""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass, replace
from fractions import Fraction
from functools import cached_property
from math import isfinite, lcm
from typing import Any, Unpack

import numpy as np

from beyondchance.adjudication.added import with_annotator
from beyondchance.adjudication.votes import (
    METHODS,
    Chosen,
    Marks,
    Votes,
    chosen_spans,
    layers,
)
from beyondchance.annotations.corpus import Corpus
from beyondchance.checks import as_float, checked_option
from beyondchance.core.ragged import distinct, repeats
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import Quote, given
from beyondchance.options import CorpusOptions
from beyondchance.results.agreement import Agreement
from beyondchance.results.printed import Printed
from beyondchance.scoring.api import agreement
from beyondchance.scoring.data import corpus_of
from beyondchance.scoring.places import Places, places_of
from beyondchance.types import Bools, Ints

MEASURES = ("token", "exact")
"""What can be voted on: positions or spans."""
NAME = "consensus"
"""The annotator that a consensus is, unless it is called otherwise."""
_MOST_WEIGHT = 10**6
"""The largest weight, as a whole number next to the others."""


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
    measure : {"token", "exact"}
    method : {"best", "majority", "union"}
    weights : mapping of str to float
        How much the votes of members count, if not all count alike.
    span : array of int, shape (spans,)
        The spans of the consensus, by their numbers in the corpus.
    votes : array of int, shape (spans,)
        How many members marked each of them, with the same ends and label.
    n_members : array of int, shape (spans,)
        How many members annotated its document.
    support : array of float, shape (spans,)
        The mean share of these who marked its positions with its label.
    """

    corpus: Corpus
    name: str
    members: tuple[str, ...]
    measure: str
    method: str
    weights: Mapping[str, float]
    span: Ints
    votes: Ints
    n_members: Ints
    support: np.ndarray[Any, np.dtype[np.float64]]

    def __repr__(self) -> str:
        return (
            f"Consensus({len(self.span)} spans of {len(self.members)} annotators, "
            f"measure={self.measure!r}, method={self.method!r})"
        )

    @cached_property
    def agreement(self) -> Agreement:
        """How much the members agree with the consensus, which stands for a gold standard."""
        part = self.corpus.select(annotators=[*self.members, self.name])
        part = replace(part, options=self.corpus.options)
        return agreement(part, gold=self.name, measure=self.measure)

    @cached_property
    def ties(self) -> Places:
        """Places where no version has most votes, those first that are worth most to decide.

        A place are spans of any members that overlap, joined; a version, what a member has there,
        which may be nothing. The worth of a place is what corrected agreement rises by if all
        members had the version that is first among those with most votes.
        """
        found = places_of(self.corpus, self.members, None)
        weights = _weights(found.annotators, self.members, self.weights)
        tied = found[np.flatnonzero(_are_tied(found, weights))]
        worth = np.nan_to_num(tied.worth, nan=0.0)
        return tied[np.argsort(-worth, kind="stable")]


def consensus(
    data: Any,
    other: Any = None,
    *,
    measure: str | None = None,
    method: str = "best",
    weights: Mapping[str, float] | None = None,
    name: str = NAME,
    **options: Unpack[CorpusOptions],
) -> Consensus:
    """The annotation that agrees best with all annotators together.

    No annotation has a higher observed agreement with the team, taken over all documents and
    members: the sum of 2 m(g, r) divided by the sum of the sizes of g and r. It is found exactly,
    but for votes on positions in texts where an annotator's spans of one label overlap one
    another. Where spans of no annotator of a text overlap, those of the consensus do not overlap
    either (but for ``union``). Spans that all annotators of a document have are among its spans. A
    gold standard that the corpus names has no vote.

    Parameters
    ----------
    data, other
        As in `agreement`.
    measure : {"token", "exact"}, optional
        Vote on positions, each with its label, or on whole spans. Positions are joined to spans as
        most of those do who marked them, so that a span may be one that nobody marked as a whole;
        white space at its edges is left out. By default on tokens, and on whole spans where
        positions are characters.
    method : {"best", "majority", "union"}
        What agrees best; what more than half of those marked who annotated the document; or what
        anybody marked.
    weights : mapping of str to number, optional
        How much the votes of some annotators count, where it is not 1.
    name : str
        What the consensus is called.
    **options
        How `data` and `other` become a corpus (see `corpus`).

    Returns
    -------
    Consensus

    Raises
    ------
    DataError
        If an annotator has that name already, or there is nobody to vote.
    OptionError
        For an unknown measure or method, or weights that are not positive numbers.

    Examples
    --------
    Two of three mark the first name, too::

        anna  PP.L
        ben   PP..
        cleo  .P.L

    >>> spans = {"anna": [[(0, 2, "P"), (3, 4, "L")]], "ben": [[(0, 2, "P")]]}
    >>> spans["cleo"] = [[(1, 2, "P"), (3, 4, "L")]]
    >>> found = consensus(Corpus.from_spans(spans, lengths=[4]))
    >>> found.corpus.spans("0", "consensus"), found.votes.tolist()
    ([Span(start=0, end=2, label='P'), Span(start=3, end=4, label='L')], [2, 2])
    >>> round(found.agreement.observed, 3)
    0.875
    """
    corpus = corpus_of(data, other, options)
    measure = checked_measure(measure, corpus)
    checked_option("method", method, METHODS)
    check_name(name)
    members = tuple(member for member in corpus.annotators if member != corpus.gold)
    if not members:
        raise DataError("there are no annotators but a gold standard", expected="annotators to ask")
    weight = _weights(corpus.annotators, members, weights or {})
    marks, present = _marks(corpus, members)
    votes = Votes(weight, _sums(corpus, weight * present))
    chosen = _trimmed(chosen_spans(marks, votes, measure=measure, method=method), marks, corpus)
    seen = corpus.annotation_document[present[corpus.annotation_annotator]]
    added = with_annotator(corpus, name, chosen, distinct(seen)[0])
    n_members = _sums(corpus, present.astype(np.int64))[chosen.text]
    n_votes, support = _counted(chosen, marks)
    return Consensus(
        corpus=added,
        name=name,
        members=members,
        measure=measure,
        method=method,
        weights=dict(weights or {}),
        span=np.arange(len(corpus.span_text), len(added.span_text)),
        votes=n_votes,
        n_members=n_members,
        support=support / np.maximum(n_members, 1),
    )


def checked_measure(measure: str | None, corpus: Corpus) -> str:
    """What is voted on: by default tokens, or whole spans if positions are not tokens."""
    if measure is None:
        return "token" if corpus.positions == "tokens" else "exact"
    return checked_option("measure", measure, MEASURES)


def check_name(name: object) -> None:
    """Refuse what is no name of an annotator."""
    if not isinstance(name, str) or not name or name != name.strip():
        raise OptionError(*given("name", name), expected="a name")


def _trimmed(chosen: Chosen, marks: Marks, corpus: Corpus) -> Chosen:
    """Spans that nobody has as a whole without white space at their edges, if that is known."""
    if corpus.positions != "characters" or corpus.texts is None:
        return chosen
    columns = (marks.text, marks.label, marks.start, marks.end)
    known = set(zip(*(column.tolist() for column in columns), strict=True))
    rows: dict[tuple[int, ...], None] = {}
    for row in zip(*(column.tolist() for column in chosen), strict=True):
        text, label, start, end = row
        words = corpus.texts[text][start:end]
        left, right = len(words) - len(words.lstrip()), len(words.rstrip())
        if row in known:
            rows[row] = None
        elif left < right:
            rows[text, label, start + left, start + right] = None
    return Chosen(*np.array(list(rows), dtype=np.int64).reshape(-1, 4).T)


def _weights(
    annotators: tuple[str, ...], members: tuple[str, ...], given_weights: Mapping[str, float]
) -> Ints:
    """How often each annotator's vote counts, in whole numbers."""
    if not isinstance(given_weights, Mapping):
        raise OptionError(*given("weights", given_weights), expected="a number for each annotator")
    for who, value in given_weights.items():
        checked_option("annotator", who, members, are_data=True)
        if not (isfinite(as_float(value)) and as_float(value) > 0):
            found = ("the weight of ", Quote(who), " is ", Quote(value))
            raise OptionError(*found, expected="a number greater than 0")
    shares = [Fraction(str(given_weights.get(who, 1))) for who in annotators]
    scale = lcm(*(share.denominator for share in shares))
    whole = [int(share * scale) for share in shares]
    if max(whole) > _MOST_WEIGHT:
        raise OptionError(
            *given("weights", dict(given_weights)),
            expected="numbers with fewer digits, no more than a million times one another",
        )
    return np.array(whole, dtype=np.int64)


def _marks(corpus: Corpus, members: tuple[str, ...]) -> tuple[Marks, Bools]:
    """The spans of members, and which annotators these are."""
    is_member = np.array([who in members for who in corpus.annotators], dtype=bool)
    names = ("span_text", "span_annotator", "span_label", "span_start", "span_end")
    marks = Marks(*(getattr(corpus, column) for column in names))
    return marks.taken(is_member[marks.annotator]), is_member


def _sums(corpus: Corpus, values: Ints) -> Ints:
    """For each text, the sum of values of those who annotated its document."""
    document = corpus.annotation_document
    own = values[corpus.annotation_annotator]
    sums = np.bincount(document, weights=own, minlength=len(corpus.documents)).astype(np.int64)
    return sums[corpus.text_document]


def _counted(chosen: Chosen, marks: Marks) -> tuple[Ints, np.ndarray[Any, np.dtype[np.float64]]]:
    """How many marked each span as it is, and how many on average each of its positions."""
    n = len(chosen.text)
    columns = [
        np.concatenate([getattr(chosen, name), getattr(marks, name)])
        for name in ("text", "label", "start", "end")
    ]
    order = np.lexsort(columns[::-1])
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(~repeats(*(column[order] for column in columns))) - 1
    votes = np.bincount(number[n:], minlength=len(order))[number[:n]]
    # Nested spans of one label cover a position once.
    flat, layer = layers(marks) if len(marks) else (marks, marks.text)
    once = flat.taken(layer == 0)
    columns = [
        np.concatenate([getattr(chosen, name), getattr(once, name)])
        for name in ("text", "label", "start", "end")
    ]
    # All that overlaps a span: the lines of text and label lie end to end.
    width = int(columns[3].max(initial=0)) + 1
    _, line = distinct(columns[0] * (int(columns[1].max(initial=0)) + 1) + columns[1])
    low, high = line * width + columns[2], line * width + columns[3]
    # Positions up to a place that are covered: a sum over what begins and ends before.
    begins, ends = np.sort(low[n:]), np.sort(high[n:])
    before_begin, before_end = (np.append(0, np.cumsum(side)) for side in (begins, ends))

    def covered(place: Ints) -> Ints:
        i, j = np.searchsorted(begins, place), np.searchsorted(ends, place)
        return np.asarray(i * place - before_begin[i] - (j * place - before_end[j]))

    shared = covered(high[:n]) - covered(low[:n])
    return votes, shared / np.maximum(high[:n] - low[:n], 1)


def _are_tied(found: Places, weights: Ints) -> Bools:
    """The places where the version with most votes has a rival with as many."""
    version = found.version
    place, who = np.nonzero(version >= 0)
    codes, number = distinct(place * (int(version.max(initial=0)) + 1) + version[place, who])
    votes = np.bincount(number, weights=weights[who], minlength=len(codes)).astype(np.int64)
    owner = codes // (int(version.max(initial=0)) + 1)
    most = np.zeros(len(found), dtype=np.int64)
    np.maximum.at(most, owner, votes)
    return np.bincount(owner[votes == most[owner]], minlength=len(found)) > 1
