"""What an annotator does otherwise than the others.

Spans of two annotators are aligned one to one. Of each span of an annotator it is known, then,
what each of the others has in its place, and so where most of them start it, where they end it,
which label they give it, and whether they mark it at all. An annotator *deviates* where more of
the others do one thing than do as this annotator does. Of several things that equally many
do, the one of the first annotator counts.

A *panel* are those among whom somebody deviates: all annotators, or a gold standard and a system.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, fields, replace
from typing import Self

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import distinct, is_among, largest, spread
from beyondchance.scoring.edits import Edits
from beyondchance.scoring.one_to_one import aligned
from beyondchance.types import Bools, Ints

KINDS = (
    *("starts earlier", "starts later", "ends earlier", "ends later"),
    *("marked alone", "missed", "other label"),
)
"""What an annotator may do otherwise."""
EARLIER, LATER, SHORTER, LONGER, ALONE, MISSED, LABEL = range(len(KINDS))


@dataclass(frozen=True, eq=False)
class _Columns:
    """Columns of equal length, of which some rows can be taken."""

    def __getitem__(self, rows: Ints | Bools) -> Self:
        columns = {item.name: getattr(self, item.name)[rows] for item in fields(self)}
        return replace(self, **columns)


@dataclass(frozen=True, eq=False)
class Deviations(_Columns):
    """What annotators do otherwise than the others, as columns.

    Attributes
    ----------
    panel, who, document, text : arrays of int, shape (rows,)
    kind : array of int
        By its number in `KINDS`.
    label : array of int
        Of the span, or of the one that was missed.
    span : array of int
        By its number in the corpus; -1 for one that was missed.
    theirs : array of int
        The span of one of the others who do what most of them do; -1 for a span marked alone.
    start, end, to_label : arrays of int
        The span as most of the others have it, in what it deviates; -1 for a span marked alone.
    n_others : array of int
        How many others there are.
    other : array of int
        One of them.
    """

    panel: Ints
    who: Ints
    document: Ints
    text: Ints
    kind: Ints
    label: Ints
    span: Ints
    theirs: Ints
    start: Ints
    end: Ints
    to_label: Ints
    n_others: Ints
    other: Ints

    def __len__(self) -> int:
        return len(self.kind)

    def edits(self, corpus: Corpus, rows: Ints, variant: Ints) -> Edits:
        """Let annotators do what the others do, in some rows of each variant.

        Where one span is changed in several ways, it is changed in all of them.
        """
        chosen = self[rows]
        own = np.flatnonzero(chosen.span >= 0)
        n_spans = len(corpus.span_text)
        keys, number = distinct(variant[own] * n_spans + chosen.span[own])
        of, span = np.divmod(keys, n_spans)
        kind = chosen.kind[own]
        start, end = corpus.span_start[span], corpus.span_end[span]
        label = corpus.span_label[span]
        for kinds, column, new in (
            ((EARLIER, LATER), start, chosen.start),
            ((SHORTER, LONGER), end, chosen.end),
            ((LABEL,), label, chosen.to_label),
        ):
            is_new = np.isin(kind, kinds)
            column[number[is_new]] = new[own][is_new]
        # Most start it behind where most end it: as those do who are in the way.
        theirs = np.zeros_like(span)
        theirs[number] = chosen.theirs[own]
        crossed = np.flatnonzero(start >= end)
        start[crossed] = corpus.span_start[theirs[crossed]]
        end[crossed] = corpus.span_end[theirs[crossed]]
        stays = np.ones(len(keys), dtype=bool)
        stays[number[kind == ALONE]] = False
        new = np.flatnonzero(chosen.span < 0)
        return Edits(
            removed_from=of,
            removed=span,
            variant=np.r_[of[stays], variant[new]],
            text=np.r_[corpus.span_text[span][stays], chosen.text[new]],
            annotator=np.r_[corpus.span_annotator[span][stays], chosen.who[new]],
            label=np.r_[label[stays], chosen.to_label[new]],
            start=np.r_[start[stays], chosen.start[new]],
            end=np.r_[end[stays], chosen.end[new]],
        )


@dataclass(frozen=True, eq=False)
class _Met(_Columns):
    """Spans and what each of the others has in their place, both ways.

    Attributes
    ----------
    document, panel, who, other : arrays of int, shape (rows,)
    own, theirs : arrays of int
        Spans; -1 where there is none.
    n_others : array of int
        How many others there are.
    """

    document: Ints
    panel: Ints
    who: Ints
    other: Ints
    own: Ints
    theirs: Ints
    n_others: Ints


def deviations(corpus: Corpus, document: Ints, a: Ints, b: Ints, gold: int | None) -> Deviations:
    """Find everything that annotators do otherwise than the others.

    Parameters
    ----------
    corpus : Corpus
    document, a, b : arrays of int, shape (comparisons,)
        The documents, each with two annotators who are compared in it.
    gold : int, optional
        The annotator with whom all others are compared, each by itself.
    """
    panel = np.zeros_like(a) if gold is None else np.where(a == gold, b, a)
    # Each comparison from both sides.
    document_of, panel_of = np.r_[document, document], np.r_[panel, panel]
    who, other = np.r_[a, b], np.r_[b, a]
    n_annotators = len(corpus.annotators)
    side = (panel_of * len(corpus.documents) + document_of) * n_annotators + who
    _, number = distinct(side)
    n_others = np.bincount(number)[number]
    rows = aligned(corpus, document, a, b)
    both_ways = np.r_[rows.comparison, rows.comparison + len(document)]
    met = _Met(
        document_of[both_ways],
        panel_of[both_ways],
        who[both_ways],
        other[both_ways],
        np.r_[rows.span_a, rows.span_b],
        np.r_[rows.span_b, rows.span_a],
        n_others[both_ways],
    )
    parts = [*_of_own(corpus, met), _missed(corpus, met)]
    return Deviations(
        *(
            np.concatenate([getattr(part, item.name) for part in parts])
            for item in fields(Deviations)
        )
    )


def _of_own(corpus: Corpus, met: _Met) -> list[Deviations]:
    """Find where annotators deviate with a span of their own."""
    rows = met[met.own >= 0]
    groups, group = distinct(_key(corpus, rows.panel, rows.who, rows.own))
    n_groups = len(groups)
    one = np.zeros(n_groups, dtype=np.int64)
    one[group] = np.arange(len(group))
    first = rows[one]
    is_met = rows.theirs >= 0
    n_met = np.bincount(group[is_met], minlength=n_groups)
    is_alone = 2 * n_met < first.n_others
    alone = first[is_alone]
    found = [_table(corpus, alone, ALONE, np.full_like(alone.own, -1))]
    partners, of = rows[is_met], group[is_met]
    for column, lower, higher in (
        (corpus.span_start, EARLIER, LATER),
        (corpus.span_end, SHORTER, LONGER),
        (corpus.span_label, LABEL, LABEL),
    ):
        value, own = column[partners.theirs], column[first.own]
        best, which = _most(of, n_groups, value, partners.other)
        n_own = np.bincount(of[value == own[of]], minlength=n_groups)
        deviates = np.flatnonzero(~is_alone & (best > n_own))
        theirs = partners.theirs[which[deviates]]
        is_lower = own[deviates] < column[theirs]
        for kind in dict.fromkeys((lower, higher)):
            chosen = is_lower | (lower == higher) if kind == lower else ~is_lower
            found.append(_table(corpus, first[deviates[chosen]], kind, theirs[chosen]))
    return found


def _table(
    corpus: Corpus, rows: _Met, kind: int, theirs: Ints, most: Sequence[Ints] | None = None
) -> Deviations:
    """Make deviations of one kind.

    Parameters
    ----------
    corpus : Corpus
    rows : _Met
    kind : int
    theirs : array of int
        Spans of others; -1 where there is none.
    most : sequence of arrays of int, optional
        Starts, ends and labels that most of the others have; by default those of `theirs`.
    """
    columns = (corpus.span_start, corpus.span_end, corpus.span_label)
    start, end, to_label = most or (np.where(theirs < 0, -1, x[theirs]) for x in columns)
    return Deviations(
        panel=rows.panel,
        who=rows.who,
        document=rows.document,
        text=corpus.span_text[np.maximum(rows.own, theirs)],
        kind=np.full_like(theirs, kind),
        label=np.where(rows.own < 0, to_label, corpus.span_label[rows.own]),
        span=rows.own,
        theirs=theirs,
        start=start,
        end=end,
        to_label=to_label,
        n_others=rows.n_others,
        other=rows.other,
    )


def _missed(corpus: Corpus, met: _Met) -> Deviations:
    """Find where annotators lack a span that more than half of the others have.

    The spans that others have there are listed once: by the first of those who marked one.
    """
    lacking = met[met.own < 0]
    known = _key(corpus, lacking.panel, lacking.who, lacking.theirs)
    order = np.argsort(known)
    lacking, known = lacking[order], known[order]
    # Who else has a span there that the annotator lacks: the partners of the one that is lacking.
    pairs = met[(met.own >= 0) & (met.theirs >= 0)]
    pair_key = _key(corpus, pairs.panel, pairs.who, pairs.own)
    by_span = np.argsort(pair_key, kind="stable")
    pairs, pair_key = pairs[by_span], pair_key[by_span]
    key = _key(corpus, lacking.panel, lacking.other, lacking.theirs)
    low, high = (np.searchsorted(pair_key, key, side=side) for side in ("left", "right"))
    owner, place = spread(high - low)
    row = low[owner] + place
    other = pairs.other[row]
    partner = _key(corpus, lacking.panel[owner], lacking.who[owner], pairs.theirs[row])
    has_too = is_among(partner, known) & (other != lacking.who[owner])
    n_having = 1 + np.bincount(owner[has_too], minlength=len(low))
    are_most = 2 * n_having > lacking.n_others
    # Once: by the first of those who have a span there that most have.
    place_of = np.minimum(np.searchsorted(known, partner), len(known) - 1)
    earlier = has_too & (other < lacking.other[owner]) & are_most[place_of]
    is_first = np.bincount(owner[earlier], minlength=len(low)) == 0
    chosen = np.flatnonzero(is_first & are_most)
    rows = lacking[chosen]
    # What most of them have there: the span itself, and its partners.
    number = np.full(len(low), -1)
    number[chosen] = np.arange(len(chosen))
    use = has_too & (number[owner] >= 0)
    group = np.r_[np.arange(len(chosen)), number[owner[use]]]
    spans, others = np.r_[rows.theirs, pairs.theirs[row[use]]], np.r_[rows.other, other[use]]
    start, end, label = (
        column[spans[_most(group, len(chosen), column[spans], others)[1]]]
        for column in (corpus.span_start, corpus.span_end, corpus.span_label)
    )
    crossed = start >= end
    start = np.where(crossed, corpus.span_start[rows.theirs], start)
    end = np.where(crossed, corpus.span_end[rows.theirs], end)
    return _table(corpus, rows, MISSED, rows.theirs, (start, end, label))


def _key(corpus: Corpus, panel: Ints, who: Ints, span: Ints) -> Ints:
    """Return panel, annotator and span as one number."""
    return (panel * len(corpus.annotators) + who) * len(corpus.span_text) + span


def _most(group: Ints, n_groups: int, value: Ints, other: Ints) -> tuple[Ints, Ints]:
    """Find the most frequent value of each group: how many have it, and the first of these rows.

    Nothing, for groups without a row.
    """
    _, code = distinct(value)
    keys, number = distinct(group * (largest(code) + 1) + code)
    count = np.bincount(number, minlength=len(keys))[number]
    order = np.lexsort((other, -count, group))
    is_first = np.diff(group[order], prepend=-1) != 0
    best, which = np.zeros((2, n_groups), dtype=np.int64)
    first = order[is_first]
    best[group[first]], which[group[first]] = count[first], first
    return best, which
