"""Places where annotators meet: spans of any of them that overlap, joined.

A place is what people decide on: it has a version of each annotator, which may be several spans or
none, and it is listed once, however many annotators there are.
"""

from __future__ import annotations

from abc import abstractmethod
from collections.abc import Collection, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from math import nan
from typing import ClassVar, Self

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus, Span, only
from beyondchance.checks import checked_option
from beyondchance.core.ragged import (
    begins_apart,
    bounds,
    distinct,
    members,
    spread,
    starts,
)
from beyondchance.errors import BeyondChanceError, DataError
from beyondchance.results.printed import Printed
from beyondchance.scoring.api import agreement
from beyondchance.scoring.edits import Base, Edits
from beyondchance.scoring.one_to_one import numbered
from beyondchance.scoring.options import scoring_of
from beyondchance.types import Bools, Floats, Ints

KINDS = ("agree", "label", "boundary", "both", "missing")
"""Kinds of places."""
_AGREE, _LABEL, _BOUNDARY, _BOTH, _MISSING = range(len(KINDS))
_MOST_COUNTED = 2**23
"""Spans that are counted again, over all places, to know what these are worth."""
_MOST_VERSIONS = 2**27
"""Versions of places that are listed."""


class OfKinds(Printed):
    """Rows that have a kind each, and spans of a corpus.

    Attributes
    ----------
    corpus : Corpus
    kind : array of int, shape (rows,)
        By its number in `kinds`.
    kinds : tuple of str
        The names of all kinds.
    """

    corpus: Corpus
    kind: Ints
    kinds: ClassVar[tuple[str, ...]]

    @abstractmethod
    def __getitem__(self, rows: slice | Ints) -> Self:
        """Return some of the rows."""

    @abstractmethod
    def _spans(self) -> tuple[Ints, Ints]:
        """Return all spans by their numbers in the corpus, and before them their rows."""

    def __len__(self) -> int:
        return len(self.kind)

    def by_kind(self) -> dict[str, int]:
        """Return how many rows there are of each kind."""
        counts = np.bincount(self.kind, minlength=len(self.kinds))
        return dict(zip(self.kinds, counts.tolist(), strict=True))

    def only(
        self, *, kinds: Collection[str] | None = None, labels: Collection[str] | None = None
    ) -> Self:
        """Return the rows of some kinds, and those in which a span has one of some labels."""
        keep = np.ones(len(self), dtype=bool)
        if kinds is not None:
            keep &= _is_wanted(self.kind, "kind", kinds, self.kinds)
        if labels is not None:
            row, span = self._spans()
            known = self.corpus.labels
            has = _is_wanted(self.corpus.span_label[span], "label", labels, known, are_data=True)
            keep &= np.bincount(row[has], minlength=len(self)) > 0
        return self[np.flatnonzero(keep)]


def _is_wanted(
    codes: Ints, kind: str, wanted: Collection[str], known: Sequence[str], *, are_data: bool = False
) -> Bools:
    """Return whether each code is that of a name that is wanted."""
    names = [wanted] if isinstance(wanted, str) else wanted
    for name in names:
        checked_option(kind, name, known, are_data=are_data)
    return np.isin(codes, [known.index(name) for name in names])


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Places(OfKinds):
    """Places where at least one annotator marked something, as columns.

    The kind of a place:

    ========  =========================================================================
    agree     all annotators of the document have the same spans
    label     all who marked something have the same offsets, with different labels
    boundary  they have the same labels, with different offsets
    both      offsets and labels differ
    missing   all who marked something have the same spans; others marked nothing
    ========  =========================================================================

    Places are in reading order.

    Attributes
    ----------
    corpus : Corpus
        Of those who are compared.
    gold : str, optional
        The one among them who is a gold standard, and so decides.
    text, start, end : arrays of int, shape (places,)
        The text, by its number in the corpus, and where the place begins and ends in it.
    kind : array of int, shape (places,)
        By its number in `KINDS`.
    first, span : arrays of int
        Place p has the spans ``span[first[p]:first[p + 1]]``, by their numbers in the corpus.
    version : array of int, shape (places, annotators)
        Equal numbers for equal versions of a place; 0 for nothing, -1 for those who did not
        annotate the document.
    """

    corpus: Corpus
    gold: str | None
    text: Ints
    start: Ints
    end: Ints
    kind: Ints
    first: Ints
    span: Ints
    version: Ints
    kinds = KINDS

    def __repr__(self) -> str:
        found = ", ".join(f"{name}={number}" for name, number in self.by_kind().items())
        return f"Places({found})"

    @property
    def annotators(self) -> tuple[str, ...]:
        """Return the names of those who are compared."""
        return self.corpus.annotators

    def __getitem__(self, rows: slice | Ints) -> Self:
        """Return some of the places."""
        chosen = np.arange(len(self))[rows]
        owner, entry = members(self.first, chosen)
        names = ("text", "start", "end", "kind", "version")
        part = replace(
            self,
            **{name: getattr(self, name)[chosen] for name in names},
            first=bounds(owner, len(chosen)),
            span=self.span[entry],
        )
        # What they are worth depends on all documents, and is known already.
        if "worth" in self.__dict__:
            part.__dict__["worth"] = self.worth[chosen]
        return part

    def _spans(self) -> tuple[Ints, Ints]:
        return np.repeat(np.arange(len(self)), np.diff(self.first)), self.span

    @property
    def n_annotators(self) -> Ints:
        """Count those who annotated the document of each place."""
        return np.asarray(np.count_nonzero(self.version >= 0, axis=1))

    @property
    def n_marked(self) -> Ints:
        """Count those of them who marked something there."""
        return np.asarray(np.count_nonzero(self.version > 0, axis=1))

    @cached_property
    def _votes(self) -> tuple[Ints, Ints]:
        """Return the version that most have (of ties the last by content), and how many have it."""
        version = self.version
        if self.gold is not None and self.gold in self.annotators:
            decided = version[:, self.annotators.index(self.gold)]
            best = np.where(decided >= 0, decided, version.max(axis=1, initial=0))
            return best, np.count_nonzero(version == best[:, None], axis=1)
        place, who = np.nonzero(version >= 0)
        own = version[place, who]
        _, number = distinct(place * (int(version.max(initial=0)) + 1) + own)
        votes = np.bincount(number)[number]
        order = np.lexsort((-own, -votes, place))
        first = order[np.diff(place[order], prepend=-1) != 0]
        return own[first], votes[first]

    @property
    def n_agree(self) -> Ints:
        """Count those who have the version of most, or that of the gold standard."""
        return self._votes[1]

    @cached_property
    def worth(self) -> Floats:
        """Compute by how much the corrected score would rise if all had the version of most.

        By token, each label by itself; nan where chance cannot be divided among texts, and where
        texts are so long that counting them again for each place would take minutes.
        """
        corpus = self.corpus
        n_spans = np.bincount(corpus.span_text, minlength=len(corpus.text_length))
        n_counted = int(n_spans[self.text[self.kind != _AGREE]].sum())
        unknown = np.full(len(self), nan)
        if corpus.unit == CORPUS or n_counted > _MOST_COUNTED:
            return unknown
        try:
            result = agreement(corpus, gold=self.gold)
        except BeyondChanceError:
            return unknown
        if not result.counts.is_by_document:
            return unknown
        gold = None if self.gold is None else corpus.annotators.index(self.gold)
        base = Base(corpus, result.counts.ordered(corpus.annotators), scoring_of({}), gold)
        scores = base.scores(self._settled(), len(self))
        after = np.array([score.corrected for score in scores], dtype=np.float64)
        return after - result.corrected

    def _settled(self) -> Edits:
        """Give all annotators of a place the version that most have."""
        corpus = self.corpus
        best = self._votes[0]
        owner = self._spans()[0]
        who = corpus.span_annotator[self.span]
        is_best = self.version[owner, who] == best[owner]
        # One of those who have it lends the spans.
        lender = np.argmax(self.version == best[:, None], axis=1)
        lent = np.flatnonzero(is_best & (who == lender[owner]))
        n_lent = np.bincount(owner[lent], minlength=len(self))
        place, annotator = np.nonzero((self.version >= 0) & (self.version != best[:, None]))
        row, step = spread(n_lent[place])
        span = self.span[lent[starts(n_lent)[place][row] + step]]
        return Edits(
            removed_from=owner[~is_best],
            removed=self.span[~is_best],
            variant=place[row],
            text=corpus.span_text[span],
            annotator=annotator[row],
            label=corpus.span_label[span],
            start=corpus.span_start[span],
            end=corpus.span_end[span],
        )

    def versions(self, place: int) -> dict[str, list[Span] | None]:
        """Return what each annotator marked there; None for those who did not annotate it."""
        spans = self.span[self.first[place] : self.first[place + 1]].tolist()
        corpus = self.corpus
        by_name: dict[str, list[Span]] = {}
        for number in spans:
            name = corpus.annotators[corpus.span_annotator[number]]
            by_name.setdefault(name, []).append(corpus.span(number))
        return {
            name: sorted(by_name.get(name, [])) if seen >= 0 else None
            for name, seen in zip(self.annotators, self.version[place].tolist(), strict=True)
        }

    def characters(self) -> tuple[Ints, Ints] | None:
        """Return start and end of each place in the characters of its text; None if not known."""
        corpus = self.corpus
        if not corpus.knows_characters:
            return None
        return corpus.characters(self.text, self.start, self.end)


def places_of(corpus: Corpus, annotators: Sequence[str], gold: str | None) -> Places:
    """Join the spans of some annotators into places, in documents that two of them annotated.

    With a gold standard, in documents that it is of.
    """
    if len(annotators) < len(corpus.annotators):
        corpus = only(corpus, annotators)
    team, n_documents = corpus.annotation_document, len(corpus.documents)
    is_compared = np.bincount(team, minlength=n_documents) > 1
    if gold is not None:
        by_gold = corpus.annotation_annotator == corpus.annotators.index(gold)
        is_compared &= np.isin(np.arange(n_documents), team[by_gold])
    span = np.flatnonzero(is_compared[corpus.text_document[corpus.span_text]])
    order = np.lexsort((corpus.span_start[span], corpus.span_text[span]))
    span = span[order]
    text = corpus.span_text[span]
    start, end = corpus.span_start[span], corpus.span_end[span]
    begin = corpus.text_begin[text]
    # Spans that overlap, one after the other, are one place.
    place_of = np.cumsum(begins_apart(begin + start, begin + end)) - 1
    n_places = int(place_of[-1]) + 1 if len(place_of) else 0
    first = bounds(place_of, n_places)
    head = first[:-1]
    version, kind = _versions(corpus, span, place_of, text[head])
    return Places(
        corpus=corpus,
        gold=gold,
        text=text[head],
        start=start[head],
        end=np.maximum.reduceat(end, head) if n_places else end,
        kind=kind,
        first=first,
        span=span,
        version=version,
    )


def _versions(corpus: Corpus, span: Ints, place: Ints, text: Ints) -> tuple[Ints, Ints]:
    """Return the version of each annotator at each place, and the kind of each place."""
    n_places, n_annotators = len(text), len(corpus.annotators)
    if n_places * n_annotators > _MOST_VERSIONS:
        raise DataError(
            f"{n_places:,} places have versions of {n_annotators:,} annotators",
            expected=f"at most {_MOST_VERSIONS:,} versions",
            remedy="keep some of the annotators, or list pairs of them",
        )
    version = np.full((n_places, n_annotators), -1)
    document = corpus.text_document[text]
    owner, annotation = members(bounds(corpus.annotation_document, len(corpus.documents)), document)
    version[owner, corpus.annotation_annotator[annotation]] = 0
    who = corpus.span_annotator[span]
    start, end, label = corpus.span_start[span], corpus.span_end[span], corpus.span_label[span]
    cell = distinct(place * n_annotators + who)[0]
    here = cell // n_annotators

    def compared(*values: Ints) -> tuple[Ints, Ints]:
        """Number lists of values, equal ones equally, and count those of each place."""
        code = _codes(place, who, values)
        width = int(code.max(initial=0)) + 1
        once = distinct(here * width + code)[0]
        return code, np.bincount(once // width, minlength=n_places)

    code, n_versions = compared(start, end, label)
    n_offsets, n_labels = compared(start, end)[1], compared(label)[1]
    version[here, cell % n_annotators] = code + 1
    n_marked = np.count_nonzero(version > 0, axis=1)
    n_here = np.count_nonzero(version >= 0, axis=1)
    kind = np.select(
        [
            (n_versions == 1) & (n_marked == n_here),
            n_versions == 1,
            n_offsets == 1,
            n_labels == 1,
        ],
        [_AGREE, _MISSING, _LABEL, _BOUNDARY],
        _BOTH,
    )
    return version, kind


def _codes(place: Ints, who: Ints, values: Sequence[Ints]) -> Ints:
    """Return a number for each annotator at each place, equal for equal lists of values.

    Lists are compared as multisets, element by element in their order.
    """
    order = np.lexsort((*values[::-1], who, place))
    owner = numbered(place, who)[order]
    if not len(owner):
        return owner
    n_owners, element = int(owner[-1]) + 1, numbered(*values)[order]
    rank = np.arange(len(owner)) - bounds(owner, n_owners)[owner]
    code = np.zeros(n_owners, dtype=np.int64)
    # One element after the other; those that differ in one differ from then on.
    for step in range(int(rank.max()) + 1):
        now = np.zeros(n_owners, dtype=np.int64)
        here = rank == step
        now[owner[here]] = element[here] + 1
        code = distinct(code * (int(element.max()) + 2) + now)[1]
    return code
