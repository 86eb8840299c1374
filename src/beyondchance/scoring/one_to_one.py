"""Spans of two annotators aligned one to one.

Equal spans are paired first, with equal labels before others. The rest is paired, one span of
either annotator in a pair, such that spans of one label share most positions in all: no other
pairing has a larger total overlap of these. Among such pairings, one is taken in which spans of
different labels share most positions; then one whose pairs cover fewest, so that the closer spans
meet.

No step depends on which annotator is a and which is b, so that exchanging them mirrors the
result, nor on the order of spans, documents or annotators. Spans that are left over have no
partner.

Spans that overlap hang together in clusters, most of them of one or two spans. The few that have
several of either side are assigned by shortest augmenting paths (Kuhn 1955; Jonker & Volgenant
1987), with a row of overlaps in memory at a time, so that thousands of spans that all overlap take
linear memory. Of a thousand or more, the last ones may take the best that is left.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from typing import NamedTuple, Self

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import bounds, distinct, repeats, spread, starts
from beyondchance.types import Ints

KINDS = ("agree", "label", "boundary", "both", "missed", "extra")
"""Kinds of rows; the first four of aligned spans."""
_MISSED, _EXTRA = KINDS.index("missed"), KINDS.index("extra")
_LARGEST = 2**61
"""Numbers that are added without overflow."""
_MOST_LOOKS, _LOOKS_FOR_EACH = 2**22, 16
"""How many pairs of spans of one cluster are looked at, and how often each on average."""


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


def _one_to_one(line: _Line, left: _Side, right: _Side) -> tuple[Ints, Ints]:
    """The entries that are aligned: of the left, and of the right side."""
    columns = [
        np.stack(
            [side.comparison, line.start[side.span], line.end[side.span], line.label[side.span]]
        )
        for side in (left, right)
    ]
    rest = [np.arange(len(side.span)) for side in (left, right)]
    taken: list[tuple[Ints, Ints]] = []
    for n_columns in (4, 3):
        own = [table[:n_columns, entry] for table, entry in zip(columns, rest, strict=True)]
        equal = _equal(*own)
        taken.append((rest[0][equal[0]], rest[1][equal[1]]))
        rest = [np.delete(entry, gone) for entry, gone in zip(rest, equal, strict=True)]
    taken.append(
        _by_overlap(*(table[:, entry] for table, entry in zip(columns, rest, strict=True)))
    )
    taken[-1] = rest[0][taken[-1][0]], rest[1][taken[-1][1]]
    entry_a, entry_b = zip(*taken, strict=True)
    return np.concatenate(entry_a), np.concatenate(entry_b)


def _equal(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Equal columns of two tables, each in one pair: the first with the first, and so on.

    Columns are sorted, but for labels of equal spans.
    """
    n, both = a.shape[1], np.concatenate([a, b], axis=1)
    order = np.lexsort(both[::-1])
    number = np.cumsum(~repeats(*both[:, order])) - 1
    code = np.empty_like(number)
    code[order] = number
    _, one, two = np.intersect1d(
        _with_rank(code[:n]), _with_rank(code[n:]), assume_unique=True, return_indices=True
    )
    return one, two


def _with_rank(code: Ints) -> Ints:
    """Codes that occur several times, told apart by which time it is."""
    order = np.argsort(code, kind="stable")
    first = bounds(code, int(code.max(initial=-1)) + 1)
    rank = np.empty_like(code)
    rank[order] = np.arange(len(code)) - first[code[order]]
    return code << 32 | rank


def _by_overlap(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Pairs of largest total overlap among spans of which no two are equal.

    Spans are columns: the comparison, start, end and label of each.
    """
    table = np.concatenate([a, b], axis=1)
    is_b = np.arange(table.shape[1]) >= a.shape[1]
    cluster = _clusters(table)
    n_clusters = int(cluster.max(initial=-1)) + 1
    n_a, n_b = (np.bincount(cluster[side], minlength=n_clusters) for side in (~is_b, is_b))
    order = np.lexsort((table[3], table[2], table[1], is_b, cluster))
    first = bounds(cluster, n_clusters)
    # One of each overlap; most clusters are such, or have spans of one side only.
    alone = np.flatnonzero((n_a == 1) & (n_b == 1))
    found = [np.stack([order[first[alone]], order[first[alone] + 1]])]
    for number in np.flatnonzero((n_a > 0) & (n_b > 0) & (n_a + n_b > 2)).tolist():
        members = order[first[number] : first[number + 1]]
        one, two = members[: n_a[number]], members[n_a[number] :]
        i, j = _assigned(table[1:, one], table[1:, two])
        found.append(np.stack([one[i], two[j]]))
    x, y = np.concatenate(found, axis=1)
    return x, y - a.shape[1]


def _clusters(table: Ints) -> Ints:
    """The cluster of each span: those of a comparison that overlap, one after the other."""
    comparison, start, end, _ = table
    order = np.lexsort((start, comparison))
    width = int(end.max(initial=0)) + 1
    reach = np.maximum.accumulate(comparison[order] * width + end[order])
    begins = np.ones(len(order), dtype=bool)
    begins[1:] = comparison[order][1:] * width + start[order][1:] >= reach[:-1]
    cluster = np.empty(len(order), dtype=np.int64)
    cluster[order] = np.cumsum(begins) - 1
    return cluster


def _assigned(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Which spans of either side are paired, so that pairs share most positions in all."""
    is_turned = (a.shape[1], a.T.tolist()) > (b.shape[1], b.T.tolist())
    rows, columns = (b, a) if is_turned else (a, b)
    worth = _Worth(rows, columns)
    column = _assignment(worth.row, rows.shape[1], columns.shape[1])
    i, j = np.arange(rows.shape[1]), column
    share = np.minimum(rows[1, i], columns[1, j]) > np.maximum(rows[0, i], columns[0, j])
    i, j = i[share], j[share]
    return (j, i) if is_turned else (i, j)


class _Worth:
    """What pairing two spans is worth: most of all the positions that spans of a label share."""

    def __init__(self, rows: Ints, columns: Ints) -> None:
        self.rows, self.columns = rows, columns
        n = rows.shape[1]
        low = min(int(rows[0].min()), int(columns[0].min()))
        extent = max(int(rows[1].max()), int(columns[1].max())) - low
        # A position weighs more than all that pairs cover, and one of a label more than all others.
        most = n * extent + 1
        is_one_label = np.ptp(rows[2]) == 0 and np.array_equal(np.unique(columns[2]), rows[2, :1])
        above = 1 if is_one_label else most
        self.is_fine = most * above * extent < _LARGEST
        self.other = most if self.is_fine else 1
        self.same = self.other * above

    def row(self, number: int) -> Ints:
        """The worth of one span with each of the other side."""
        start, end, label = self.rows[:, number]
        starts, ends, labels = self.columns
        shared = np.minimum(end, ends) - np.maximum(start, starts)
        worth = shared * np.where(labels == label, self.same, self.other)
        if self.is_fine:
            worth = worth - (np.maximum(end, ends) - np.minimum(start, starts))
        # Spans that do not overlap are worth nothing, and need not be paired.
        return np.where(shared > 0, np.maximum(worth, 1), 0)


def _assignment(worth_of: Callable[[int], Ints], n_rows: int, n_columns: int) -> Ints:
    """The column of each row, none twice, so that their worth is largest in all.

    Rows are assigned one after the other by a shortest augmenting path; prices of rows and
    columns are kept such that no pair is worth more than its prices, and assigned ones just as
    much. There are at least as many columns as rows. Where that would take too long, the last rows
    take what is left.
    """
    row_price = np.zeros(n_rows, dtype=np.int64)
    column_price = np.zeros(n_columns, dtype=np.int64)
    owner = np.full(n_columns, -1)
    column_of = np.full(n_rows, -1)
    for row in range(n_rows):
        # Those whose best column is free take it.
        worth = worth_of(row)
        best = int(np.argmax(worth))
        row_price[row] = worth[best]
        if owner[best] < 0:
            owner[best], column_of[row] = row, best
    n_looks, most = 0, max(_MOST_LOOKS, _LOOKS_FOR_EACH * n_rows * n_columns)
    for row in np.flatnonzero(column_of < 0).tolist():
        if n_looks > most:
            best = int(np.argmax(np.where(owner < 0, worth_of(row), -1)))
            owner[best], column_of[row] = row, best
            continue
        reached = np.zeros(n_columns, dtype=bool)
        slack = np.full(n_columns, np.iinfo(np.int64).max)
        before = np.full(n_columns, -1)
        here, distance, path = row, 0, []
        while True:
            gap = distance + row_price[here] + column_price - worth_of(here)
            closer = ~reached & (gap < slack)
            slack[closer], before[closer] = gap[closer], here
            column = int(np.argmin(np.where(reached, np.iinfo(np.int64).max, slack)))
            distance = int(slack[column])
            reached[column] = True
            path.append(column)
            n_looks += n_columns
            if owner[column] < 0:
                break
            here = int(owner[column])
        # Prices change by how far the end of the path lies behind.
        row_price[row] -= distance
        for passed in path[:-1]:
            row_price[owner[passed]] -= distance - slack[passed]
            column_price[passed] += distance - slack[passed]
        while True:
            here = int(before[column])
            owner[column] = here
            column_of[here], column = column, int(column_of[here])
            if here == row:
                break
    return column_of
