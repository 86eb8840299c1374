"""Spans of two annotators aligned one to one.

The alignment takes pairs of overlapping spans, one span of either annotator, in a fixed
order, and skips a pair of which one span has been taken already:

1. equal spans with equal labels, then equal spans with different labels, then spans of one
   label with different offsets, then those in which both differ;
2. among those, the pair that shares most positions first;
3. then the one that covers fewest positions in all, so that the closer one comes first;
4. then, of two pairs with a span in common, the one whose other span comes first in the text,
   by start, end and label.

No step depends on which annotator is a and which is b, so that exchanging them mirrors the
result, nor on the order of spans, documents or annotators. Spans that are left over have no
partner. The choice is greedy because a reader can then check it by hand: two spans are kept
apart only if one of them has a partner that comes earlier in this order.
"""

from __future__ import annotations

from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import blocks, bounds, distinct, spread, starts
from beyondchance.errors import OverlapError
from beyondchance.types import Bools, Ints

KINDS = ("agree", "label", "boundary", "both", "missed", "extra")
"""Kinds of rows. The first four are in the order in which spans are aligned."""
_MISSED, _EXTRA = KINDS.index("missed"), KINDS.index("extra")
_HELD_PAIRS = 2**20
"""Pairs of spans that are sorted at a time."""
_MOST_PAIRS = 2**25
"""Pairs of spans that are looked at however few spans there are."""
_PAIRS_FOR_EACH = 64
"""Pairs for each span, on average, beyond which there may be no more than that."""


class Rows(NamedTuple):
    """Pairs of aligned spans, and spans without a partner.

    Attributes
    ----------
    comparison, kind : arrays of int, shape (rows,)
    span_a, span_b : arrays of int, shape (rows,)
        -1 where there is none.
    """

    comparison: Ints
    kind: Ints
    span_a: Ints
    span_b: Ints


def aligned(corpus: Corpus, document: Ints, a: Ints, b: Ints) -> Rows:
    """Align the spans of two annotators in a document, for many comparisons at once.

    Parameters
    ----------
    corpus : Corpus
    document, a, b : arrays of int, shape (comparisons,)
        A document and two annotators who annotated it.

    Returns
    -------
    Rows
        In reading order: by text and by where the first of the spans starts, then by
        annotators.
    """
    line = _Line.of(corpus)
    rows = _rows(line, line.side(document, a), line.side(document, b))
    x, y = rows.span_a, rows.span_b
    first_start = np.minimum(line.start[np.where(x >= 0, x, y)], line.start[np.where(y >= 0, y, x)])
    order = np.lexsort((y, x, b[rows.comparison], a[rows.comparison], first_start))
    return Rows(
        rows.comparison[order],
        rows.kind[order],
        value_of(line.span, x[order]),
        value_of(line.span, y[order]),
    )


def value_of(column: Ints, span: Ints) -> Ints:
    """The value that a column has for each span; -1 for the span -1."""
    return np.where(span >= 0, column[span], -1)


@dataclass(frozen=True, slots=True)
class _Side:
    """What one of the annotators marked: an entry for each span in each comparison.

    Attributes
    ----------
    annotator : array of int, shape (comparisons,)
    first, entry : arrays of int, shape (comparisons,)
        The first span and the first entry of each comparison; others follow.
    comparison, span : arrays of int, shape (entries,)
    """

    annotator: Ints
    first: Ints
    entry: Ints
    comparison: Ints
    span: Ints


@dataclass(frozen=True, slots=True)
class _Line:
    """All spans with their texts laid end to end, so that an offset determines the text.

    Spans are sorted by annotator, start, end and label.

    Attributes
    ----------
    span : array of int
        Its number in the columns of the corpus.
    start, end, label : arrays of int
    place : array of int
        All starts that occur, ascending.
    key : array of int
        The annotator and the place of the start in one number, ascending.
    document : array of int, shape (documents + 1,)
        Where the documents begin, and where the last one ends.
    """

    span: Ints
    start: Ints
    end: Ints
    label: Ints
    place: Ints
    key: Ints
    document: Ints

    @classmethod
    def of(cls, corpus: Corpus) -> Self:
        """The spans of a corpus."""
        text = np.concatenate([[0], np.cumsum(corpus.text_length)])
        start = text[corpus.span_text] + corpus.span_start
        end = text[corpus.span_text] + corpus.span_end
        order = np.lexsort((corpus.span_label, end, start, corpus.span_annotator))
        place, number = distinct(start[order])
        return cls(
            span=order,
            start=start[order],
            end=end[order],
            label=corpus.span_label[order],
            place=place,
            key=corpus.span_annotator[order] * (len(place) + 1) + number,
            document=text[bounds(corpus.text_document, len(corpus.documents))],
        )

    def at(self, annotator: Ints, offset: Ints) -> Ints:
        """The first span of an annotator that starts at an offset or later."""
        place = np.searchsorted(self.place, offset)
        return np.searchsorted(self.key, annotator * (len(self.place) + 1) + place)

    def side(self, document: Ints, annotator: Ints) -> _Side:
        """What annotators marked in documents, one of each for each comparison."""
        first = self.at(annotator, self.document[document])
        n_spans = self.at(annotator, self.document[document + 1]) - first
        comparison, place = spread(n_spans)
        return _Side(annotator, first, starts(n_spans), comparison, first[comparison] + place)


def _rows(line: _Line, left: _Side, right: _Side) -> Rows:
    """All rows, in no order, with spans by their number in the line."""
    entry_a, entry_b = _one_to_one(line, left, right)
    x, y = left.span[entry_a], right.span[entry_b]
    kind = _kind(line, x, y)
    alone_a = np.delete(np.arange(len(left.span)), entry_a)
    alone_b = np.delete(np.arange(len(right.span)), entry_b)
    none_a, none_b = np.full(len(alone_b), -1), np.full(len(alone_a), -1)
    in_both = left.comparison[entry_a]
    missed, extra = np.full(len(alone_a), _MISSED), np.full(len(alone_b), _EXTRA)
    return Rows(
        np.concatenate([in_both, left.comparison[alone_a], right.comparison[alone_b]]),
        np.concatenate([kind, missed, extra]),
        np.concatenate([x, left.span[alone_a], none_a]),
        np.concatenate([y, none_b, right.span[alone_b]]),
    )


def _kind(line: _Line, x: Ints, y: Ints) -> Ints:
    """How spans that overlap differ, by the number in `KINDS`."""
    moved = (line.start[x] != line.start[y]) | (line.end[x] != line.end[y])
    return np.asarray(2 * moved + (line.label[x] != line.label[y]))


class _Overlaps(NamedTuple):
    """Pairs of entries whose spans overlap: each entry with a stretch of the other side.

    Attributes
    ----------
    entry, first, size : arrays of int
        An entry, the first of the other side that it overlaps, and how many follow.
    is_left : array of bool
        Whether it is an entry of the left side.
    """

    entry: Ints
    first: Ints
    size: Ints
    is_left: Bools

    def pairs(self, chosen: slice) -> tuple[Ints, Ints]:
        """The pairs of some of the stretches: entries of the left and of the right side."""
        owner, place = spread(self.size[chosen])
        entry, other = self.entry[chosen][owner], self.first[chosen][owner] + place
        is_left = self.is_left[chosen][owner]
        return np.where(is_left, entry, other), np.where(is_left, other, entry)


def _overlapping(line: _Line, left: _Side, right: _Side) -> _Overlaps:
    """All pairs of entries whose spans overlap.

    Of two spans that overlap, one starts within the other. Spans that start together are
    found from the left.
    """

    def starting_within(side: _Side, other: _Side, after: int) -> tuple[Ints, Ints, Ints]:
        """Each entry with those of the other side that start within it."""
        whose = other.annotator[side.comparison]
        first = line.at(whose, line.start[side.span] + after)
        count = line.at(whose, line.end[side.span]) - first
        begin = other.entry[side.comparison] + first - other.first[side.comparison]
        some = np.flatnonzero(count)
        return some, begin[some], count[some]

    found = starting_within(left, right, 0), starting_within(right, left, 1)
    entry, first, count = (np.concatenate(columns) for columns in zip(*found, strict=True))
    return _Overlaps(entry, first, count, np.arange(len(entry)) < len(found[0][0]))


def _one_to_one(line: _Line, left: _Side, right: _Side) -> tuple[Ints, Ints]:
    """Of pairs that overlap, those that are aligned: the first ones, each entry once.

    Where there are more pairs than can be held, the first of all are aligned, and what is left
    is looked at again.
    """
    overlaps = _overlapping(line, left, right)
    n_pairs = int(overlaps.size.sum())
    if n_pairs > max(_MOST_PAIRS, _PAIRS_FOR_EACH * (len(left.span) + len(right.span))):
        raise OverlapError(
            f"{n_pairs:,} pairs of spans of two annotators overlap",
            expected=f"at most {_MOST_PAIRS:,}, or {_PAIRS_FOR_EACH} for each span",
            remedy="compare fewer annotators, or spans of fewer labels",
        )
    is_free = np.ones(len(left.span), dtype=bool), np.ones(len(right.span), dtype=bool)
    aligned: list[tuple[Ints, Ints]] = []
    while True:
        found = _first_ones(line, left, right, overlaps, is_free)
        if not len(found[0]):
            break
        taken = _taken(*found)
        aligned.append(taken)
        for free, entry in zip(is_free, taken, strict=True):
            free[entry] = False
        if n_pairs <= _HELD_PAIRS:
            break
    nothing = np.zeros(0, dtype=np.int64)
    entry_a, entry_b = zip((nothing, nothing), *aligned, strict=True)
    return np.concatenate(entry_a), np.concatenate(entry_b)


def _first_ones(
    line: _Line, left: _Side, right: _Side, overlaps: _Overlaps, is_free: tuple[Bools, Bools]
) -> tuple[Ints, Ints]:
    """The first pairs of entries that are free, in their order, as many as can be held."""
    nothing = np.zeros(0, dtype=np.int64)
    a, b, rank = nothing, nothing, np.zeros((3, 0), dtype=np.int64)
    is_full = False
    for chosen in blocks(overlaps.size, _HELD_PAIRS):
        more_a, more_b = overlaps.pairs(chosen)
        free = is_free[0][more_a] & is_free[1][more_b]
        more_a, more_b = more_a[free], more_b[free]
        more = _rank(line, left.span[more_a], right.span[more_b])
        if is_full:
            wanted = np.flatnonzero(_is_not_after(more, rank[:, -1]))
            more_a, more_b, more = more_a[wanted], more_b[wanted], more[:, wanted]
        a, b = np.concatenate([a, more_a]), np.concatenate([b, more_b])
        rank = np.concatenate([rank, more], axis=1)
        is_full = len(a) >= _HELD_PAIRS
        # Pairs without a common span do not compete. Of two that have one, the others are
        # spans of one annotator, and those are sorted by start, end and label.
        order = np.lexsort((b, a, *rank[::-1]))[:_HELD_PAIRS]
        a, b, rank = a[order], b[order], rank[:, order]
    return a, b


def _is_not_after(rank: Ints, last: Ints) -> Bools:
    """Which columns do not come after another, in the order of their rows."""
    found = np.ones(rank.shape[1], dtype=bool)
    for row, value in zip(rank[::-1], last[::-1], strict=True):
        found = (row < value) | ((row == value) & found)
    return found


def _rank(line: _Line, x: Ints, y: Ints) -> Ints:
    """By what pairs of spans are sorted: their kind, how much they share, and cover."""
    overlap = np.minimum(line.end[x], line.end[y]) - np.maximum(line.start[x], line.start[y])
    covered = np.maximum(line.end[x], line.end[y]) - np.minimum(line.start[x], line.start[y])
    return np.stack([_kind(line, x, y), -overlap, covered])


def _taken(entry_a: Ints, entry_b: Ints) -> tuple[Ints, Ints]:
    """Of pairs in their order, those of which neither entry was in a pair before."""
    is_single = [np.bincount(entry)[entry] == 1 for entry in (entry_a, entry_b)]
    undisputed = is_single[0] & is_single[1]
    disputed = np.flatnonzero(~undisputed)
    taken_a: set[int] = set()
    taken_b: set[int] = set()
    aligned = []
    columns = disputed, entry_a[disputed], entry_b[disputed]
    for number, a, b in zip(*(column.tolist() for column in columns), strict=True):
        if a not in taken_a and b not in taken_b:
            taken_a.add(a)
            taken_b.add(b)
            aligned.append(number)
    chosen = np.concatenate([np.flatnonzero(undisputed), np.array(aligned, dtype=np.int64)])
    return entry_a[chosen], entry_b[chosen]
