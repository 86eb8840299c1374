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
from typing import NamedTuple

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import annotation_numbers
from beyondchance.core.ragged import begins_apart, bounds, members, repeats
from beyondchance.types import Ints

KINDS = ("agree", "label", "boundary", "both", "missed", "extra")
"""Kinds of rows; the first four of aligned spans."""
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
    n_annotators = max(len(corpus.annotators), 1)
    annotations = corpus.annotation_document * n_annotators + corpus.annotation_annotator
    owner = annotation_numbers(corpus, corpus.span_text, corpus.span_annotator)
    # Texts are laid end to end, so that an offset determines the text.
    begin = corpus.text_begin[corpus.span_text]
    columns = begin + corpus.span_start, begin + corpus.span_end, corpus.span_label
    number = np.lexsort((*columns[::-1], owner))
    spans, first = np.stack(columns)[:, number], bounds(owner, len(annotations))
    (in_a, own_a), (in_b, own_b) = (
        members(first, np.searchsorted(annotations, document * n_annotators + who))
        for who in (a, b)
    )
    met_a, met_b, alone_a, alone_b = _one_to_one(
        np.stack([in_a, *spans[:, own_a]]), np.stack([in_b, *spans[:, own_b]])
    )
    of_a, of_b = np.r_[met_a, alone_a], np.r_[met_b, alone_b]
    comparison = np.r_[in_a[of_a], in_b[alone_b]]
    x = np.r_[own_a[of_a], np.full(len(alone_b), -1)]
    y = np.insert(own_b[of_b], len(met_b), np.full(len(alone_a), -1))
    one, two = spans[:, np.where(x < 0, y, x)], spans[:, np.where(y < 0, x, y)]
    kind = 2 * (one[:2] != two[:2]).any(axis=0) + (one[2] != two[2])
    kind[y < 0], kind[x < 0] = KINDS.index("missed"), KINDS.index("extra")
    order = np.lexsort((y, x, b[comparison], a[comparison], np.minimum(one[0], two[0])))
    span_a, span_b = (value_of(number, side[order]) for side in (x, y))
    return Rows(comparison[order], kind[order], span_a, span_b)


def value_of(column: Ints, span: Ints) -> Ints:
    """Return the value that a column has for each span; -1 for the span -1."""
    return np.where(span >= 0, column[span], -1)


def _one_to_one(a: Ints, b: Ints) -> tuple[Ints, Ints, Ints, Ints]:
    """Align columns of two tables; return which of either are aligned, and which are left over.

    A column is a span: the comparison, start, end and label.
    """
    rest_a, rest_b = np.arange(a.shape[1]), np.arange(b.shape[1])
    taken: list[tuple[Ints, Ints]] = []
    for n_rows, align in ((4, _equal), (3, _equal), (4, _by_overlap)):
        i, j = align(a[:n_rows, rest_a], b[:n_rows, rest_b])
        taken.append((rest_a[i], rest_b[j]))
        rest_a, rest_b = np.delete(rest_a, i), np.delete(rest_b, j)
    met_a, met_b = (np.concatenate(side) for side in zip(*taken, strict=True))
    return met_a, met_b, rest_a, rest_b


def _equal(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Pair equal columns of two tables: the first with the first, and so on.

    Columns are sorted, but for labels of equal spans.
    """
    n, code = a.shape[1], numbered(*np.concatenate([a, b], axis=1))
    _, one, two = np.intersect1d(
        _with_rank(code[:n]), _with_rank(code[n:]), assume_unique=True, return_indices=True
    )
    return one, two


def numbered(*columns: Ints) -> Ints:
    """Return a number for each row of a table, the same for rows with the same values."""
    order = np.lexsort(columns[::-1])
    number = np.empty_like(order)
    number[order] = np.cumsum(~repeats(*(column[order] for column in columns))) - 1
    return number


def _with_rank(code: Ints) -> Ints:
    """Make codes distinct that occur several times, by which time it is."""
    order = np.argsort(code, kind="stable")
    first = bounds(code, int(code.max(initial=-1)) + 1)
    rank = np.empty_like(code)
    rank[order] = np.arange(len(code)) - first[code[order]]
    return code << 32 | rank


def _by_overlap(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Pair spans of which no two are equal, so that their total overlap is largest.

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
    """Return the cluster of each span: spans of a comparison that overlap, directly or not."""
    comparison, start, end, _ = table
    order = np.lexsort((start, comparison))
    begin = comparison[order] * (int(end.max(initial=0)) + 1)
    cluster = np.empty_like(order)
    cluster[order] = np.cumsum(begins_apart(begin + start[order], begin + end[order])) - 1
    return cluster


def _assigned(a: Ints, b: Ints) -> tuple[Ints, Ints]:
    """Pair spans of both sides, so that pairs share most positions in all."""
    is_turned = (a.shape[1], a.T.tolist()) > (b.shape[1], b.T.tolist())
    rows, columns = (b, a) if is_turned else (a, b)
    worth = _Worth(rows, columns)
    column = assignment(worth.row, rows.shape[1], columns.shape[1])
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
        """Return the worth of one span with each of the other side."""
        start, end, label = self.rows[:, number]
        starts, ends, labels = self.columns
        shared = np.minimum(end, ends) - np.maximum(start, starts)
        worth = shared * np.where(labels == label, self.same, self.other)
        if self.is_fine:
            worth = worth - (np.maximum(end, ends) - np.minimum(start, starts))
        # Spans that do not overlap are worth nothing, and need not be paired.
        return np.where(shared > 0, np.maximum(worth, 1), 0)


def assignment(worth_of: Callable[[int], Ints], n_rows: int, n_columns: int) -> Ints:
    """Assign a column to each row, none twice, so that their total worth is largest.

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
