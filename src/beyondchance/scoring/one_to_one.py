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
from beyondchance.core.ragged import bounds, distinct, spread, starts
from beyondchance.types import Ints

KINDS = ("agree", "label", "boundary", "both", "missed", "extra")
"""Kinds of rows. The first four are in the order in which spans are aligned."""
_MISSED, _EXTRA = KINDS.index("missed"), KINDS.index("extra")


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
    entry_a, entry_b = _overlapping(line, left, right)
    x, y = left.span[entry_a], right.span[entry_b]
    moved = (line.start[x] != line.start[y]) | (line.end[x] != line.end[y])
    kind = 2 * moved + (line.label[x] != line.label[y])
    taken = _one_to_one(line, (entry_a, entry_b), (x, y), kind)
    alone_a = np.delete(np.arange(len(left.span)), entry_a[taken])
    alone_b = np.delete(np.arange(len(right.span)), entry_b[taken])
    none_a, none_b = np.full(len(alone_b), -1), np.full(len(alone_a), -1)
    in_both = left.comparison[entry_a[taken]]
    missed, extra = np.full(len(alone_a), _MISSED), np.full(len(alone_b), _EXTRA)
    return Rows(
        np.concatenate([in_both, left.comparison[alone_a], right.comparison[alone_b]]),
        np.concatenate([kind[taken], missed, extra]),
        np.concatenate([x[taken], left.span[alone_a], none_a]),
        np.concatenate([y[taken], none_b, right.span[alone_b]]),
    )


def _overlapping(line: _Line, left: _Side, right: _Side) -> tuple[Ints, Ints]:
    """All pairs of entries whose spans overlap.

    Of two spans that overlap, one starts within the other. Spans that start together are
    found from the left.
    """

    def starting_within(side: _Side, other: _Side, after: int) -> tuple[Ints, Ints]:
        """Each entry with those of the other side that start within it."""
        whose = other.annotator[side.comparison]
        first = line.at(whose, line.start[side.span] + after)
        entry, place = spread(line.at(whose, line.end[side.span]) - first)
        comparison = side.comparison[entry]
        span = first[entry] + place
        return entry, other.entry[comparison] + span - other.first[comparison]

    a, later_b = starting_within(left, right, 0)
    b, later_a = starting_within(right, left, 1)
    return np.concatenate([a, later_a]), np.concatenate([later_b, b])


def _one_to_one(
    line: _Line, entries: tuple[Ints, Ints], spans: tuple[Ints, Ints], kind: Ints
) -> Ints:
    """Of pairs that overlap, those that are aligned: the first ones, each entry once.

    A pair neither of whose spans overlaps anything else needs no order.
    """
    is_single = [np.bincount(entry)[entry] == 1 for entry in entries]
    undisputed = is_single[0] & is_single[1]
    disputed = np.flatnonzero(~undisputed)
    x, y = spans[0][disputed], spans[1][disputed]
    overlap = np.minimum(line.end[x], line.end[y]) - np.maximum(line.start[x], line.start[y])
    covered = np.maximum(line.end[x], line.end[y]) - np.minimum(line.start[x], line.start[y])
    # Pairs without a common span do not compete. Of two that have one, the others are spans
    # of one annotator, and those are sorted by start, end and label.
    disputed = disputed[np.lexsort((y, x, covered, -overlap, kind[disputed]))]

    taken_a: set[int] = set()
    taken_b: set[int] = set()
    aligned = []
    columns = (disputed, entries[0][disputed], entries[1][disputed])
    for number, a, b in zip(*(column.tolist() for column in columns), strict=True):
        if a not in taken_a and b not in taken_b:
            taken_a.add(a)
            taken_b.add(b)
            aligned.append(number)
    return np.concatenate([np.flatnonzero(undisputed), np.array(aligned, dtype=np.int64)])
