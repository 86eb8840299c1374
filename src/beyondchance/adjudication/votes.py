"""The annotation that agrees best with a team, from the votes of its members.

Of all annotations g, the one that maximises the observed agreement with all members r together,
``sum of 2 m(g, r) / sum of (s_g + s_r)``, with matches m and sizes s. What g adds is a sum: a
position or span with votes v, of R votes that there are, adds 2 v above and R below. So the
largest ratio is found as Dinkelbach (1967) does: for a ratio t take what adds more than t, that
is 2 v - t R > 0, and go on with the ratio of that, until it stays. All numbers are whole, so the
result is exact.

An annotation may overlap itself where members do: in texts in which no member's spans overlap, its
spans do not overlap either; in texts in which only spans of different labels do, spans of one label
do not. Where a member's spans of one label overlap one another, the number of spans at each
position is voted on, and what is found is not always the best: it may not be possible to cover
positions that often without a span that is there twice.
"""

from __future__ import annotations

from bisect import bisect_right
from collections.abc import Iterator, Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import Any, NamedTuple, TypeVar

import numpy as np

from beyondchance.core.ragged import begins_apart, distinct, largest, repeats, spread
from beyondchance.scoring.one_to_one import numbered
from beyondchance.types import Bools, Ints

ENTITIES, BEST, MAJORITY, UNION = "entities", "best", "majority", "union"
METHODS = (ENTITIES, BEST, MAJORITY, UNION)


class Chosen(NamedTuple):
    """Spans as columns."""

    text: Ints
    label: Ints
    start: Ints
    end: Ints


class Marks(NamedTuple):
    """Spans of annotators, as columns."""

    text: Ints
    label: Ints
    start: Ints
    end: Ints
    annotator: Ints


_Spans = TypeVar("_Spans", Chosen, Marks)


def taken(spans: _Spans, rows: Ints | Bools) -> _Spans:
    """Return some of the spans."""
    return type(spans)(*(column[rows] for column in spans))


@dataclass(frozen=True, eq=False)
class Votes:
    """Who may vote, and how much that counts.

    Attributes
    ----------
    weight : array of int, shape (annotators,)
        How often the vote of each annotator counts.
    present : array of int, shape (texts,)
        The votes that there are of each text.
    """

    weight: Ints
    present: Ints


def chosen_spans(marks: Marks, votes: Votes, *, measure: str, method: str) -> Chosen:
    """Return the spans that a team's votes give, in reading order.

    Parameters
    ----------
    marks : Marks
    votes : Votes
    measure : {"token", "exact"}
        What is voted on: positions, each with its label, or whole spans.
    method : {"best", "majority", "union"}
        Take what agrees best with all, or spans that more than half or anybody marked.
    """
    if not len(marks.text):
        return Chosen(*marks[:4])
    return _by_position(marks, votes) if measure == "token" else _by_span(marks, votes, method)


def in_order(text: Ints, label: Ints, start: Ints, end: Ints) -> Chosen:
    """Return spans in reading order, the longer first."""
    return taken(Chosen(text, label, start, end), np.lexsort((label, -end, start, text)))


def voted(marks: Marks, votes: Votes) -> tuple[Chosen, Ints, Ints]:
    """Return distinct spans in the order of their content, the number of each mark, and votes."""
    number = numbered(marks.text, marks.start, marks.end, marks.label)
    v = np.bincount(number, weights=votes.weight[marks.annotator]).astype(np.int64)
    mark_of = np.empty(len(v), dtype=np.int64)
    mark_of[number] = np.arange(len(number))
    return taken(Chosen(*marks[:4]), mark_of), number, v


# --- What may overlap -----------------------------------------------------------------


def on_lines(spans: Chosen, line: Ints) -> tuple[Ints, Bools]:
    """Order spans by line and start, and find those that begin behind all before on their line."""
    order = np.lexsort((spans.start, line))
    # Lines lie end to end, so that what one covers ends before the next begins.
    shift = line * (largest(spans.end) + 1)
    return order, begins_apart((shift + spans.start)[order], (shift + spans.end)[order])


def layers(marks: Marks) -> tuple[Marks, Ints]:
    """Return spans without overlap of one label of one member, and their layers.

    Where a member's spans of one label overlap, layer m are stretches that m + 1 or more of them
    cover; where one ends and another begins at the same position, they are apart.
    """
    line = np.tile(numbered(marks.text, marks.annotator, marks.label), 2)
    place = np.append(marks.start, marks.end)
    opens = np.repeat([1, 0], len(marks.text))
    order = np.lexsort((opens, place, line))
    # How many spans are open besides the one that begins or ends there.
    layer = np.cumsum(2 * opens[order] - 1) - opens[order]
    pairs = np.lexsort((layer, line[order])).reshape(-1, 2)
    first, last = order[pairs].T
    return taken(marks, first)._replace(end=place[last]), layer[pairs[:, 0]]


def _is_flat(marks: Marks, n_texts: int) -> Bools:
    """Find the texts in which no two spans of one member and label overlap."""
    flat, layer = layers(marks)
    is_flat = np.ones(n_texts, dtype=bool)
    is_flat[flat.text[layer > 0]] = False
    return is_flat


def _without_labels(marks: Marks) -> Marks:
    return marks._replace(label=np.zeros_like(marks.label))


# --- The best ratio -------------------------------------------------------------------


class _Rival(NamedTuple):
    """A span that may not be taken together with others that it overlaps."""

    end: int
    start: int
    row: int


def _best(
    v: Ints, r: Ints, length: Ints, size: int, rivals: Sequence[Sequence[_Rival]] = ()
) -> Bools:
    """Find what agrees best with all members, by Dinkelbach's method.

    Parameters
    ----------
    v, r, length : arrays of int
        The votes of positions or spans, of how many, and how many of them there are.
    size : int
        The size of all members' annotations together, each as often as its vote counts.
    rivals : sequence of groups
        Spans that may not overlap, in order of their ends.
    """
    is_free = np.ones(len(v), dtype=bool)
    is_free[[rival.row for group in rivals for rival in group]] = False
    width = largest(r) + 1
    codes, kind = distinct(v * width + r)
    shares = [Fraction(2 * votes, of) for votes, of in (divmod(x, width) for x in codes.tolist())]
    ratio = Fraction(0)
    while True:
        is_worth = np.array([share > ratio for share in shares], dtype=bool)
        is_taken: Bools = is_free & is_worth[kind]
        for group in rivals:
            is_taken[list(_apart(group, v, r, ratio))] = True
        above, below = (int((x * length)[is_taken].sum()) for x in (v, r))
        reached = Fraction(2 * above, below + size)
        if reached <= ratio:
            return is_taken
        ratio = reached


def _apart(group: Sequence[_Rival], v: Ints, r: Ints, ratio: Fraction) -> Iterator[int]:
    """Choose rivals without overlap that add most above a ratio, of equals the longer."""
    ends = [rival.end for rival in group]
    # The best of the first rivals: what it adds, its length, and a chain of its rows.
    best: list[tuple[int, int, Any]] = [(0, 0, ())]
    for end, start, row in group:
        gain = 2 * int(v[row]) * ratio.denominator - int(r[row]) * ratio.numerator
        gained, length, chain = best[bisect_right(ends, start)]
        other = (gained + gain, length + end - start, (row, chain))
        best.append(other if gain > 0 and other[:2] > best[-1][:2] else best[-1])
    chain = best[-1][2]
    while chain:
        row, chain = chain
        yield row


# --- Positions ------------------------------------------------------------------------


def _by_position(marks: Marks, votes: Votes) -> Chosen:
    """Choose positions, and join them to spans where members do.

    A span that all members have is taken as it is: whatever agrees best covers its positions once
    more.
    """
    is_flat = _is_flat(_without_labels(marks), len(votes.present))
    size = int(((marks.end - marks.start) * votes.weight[marks.annotator]).sum())
    spans, number, v = voted(marks, votes)
    is_common = v == votes.present[spans.text]
    common, marks = taken(spans, is_common), taken(marks, ~is_common[number])
    if not len(marks.text):
        return in_order(*common)
    cells = cells_of(marks)
    weight = votes.weight[cells.annotator]
    v, through = (
        np.bincount(cells.number, weights=weight * is_counted).astype(np.int64)
        for is_counted in (True, cells.goes_on)
    )
    # One label a position, where no member has several: the one with most votes, of several the
    # first in the alphabet.
    order = np.lexsort((cells.spans.label, -v, cells.stretch))
    is_kept = ~is_flat[cells.spans.text]
    is_kept[order] |= ~repeats(cells.stretch[order])
    every = Chosen(*map(np.append, cells.spans, common))
    present = votes.present[every.text]
    known = np.append(v * is_kept, present[len(v) :])
    is_taken = _best(known, present, every.end - every.start, size)[: len(v)]
    # A cell is joined to the one before if as many spans go on from there as are cut there.
    n_members = len(votes.weight)
    key = cells.number * n_members + cells.annotator
    meeting = np.intersect1d(key, key + n_members)
    both = np.bincount(
        meeting // n_members, weights=votes.weight[meeting % n_members], minlength=len(v)
    )
    joins = np.zeros(len(v) + 1, dtype=bool)
    joins[1:-1] = (through > 0)[:-1] & (both[1:] <= 2 * through[:-1])
    joins[1:-1] &= is_taken[1:] & is_taken[:-1]
    heads, tails = (taken(cells.spans, is_taken & ~side) for side in (joins[:-1], joins[1:]))
    found = Chosen(heads.text, heads.label, heads.start, tails.end)
    # No annotator has a span twice.
    spans = in_order(*map(np.append, common, found))
    return taken(spans, ~repeats(*spans))


class Cells(NamedTuple):
    """Stretches of texts between two cuts, with a label that a member gave them.

    Texts are cut where a span begins or ends. Where spans of one label overlap, each layer of them
    is a line of its own.

    Attributes
    ----------
    spans : Chosen
        The cells, line by line: one that a span reaches from another follows it.
    stretch : array of int, shape (cells,)
        The place of each cell between two cuts, whatever the label.
    number, annotator : arrays of int, shape (parts,)
        The cell of each part of a span, and whose it is.
    goes_on : array of bool, shape (parts,)
        Whether the span reaches the next cell.
    """

    spans: Chosen
    stretch: Ints
    number: Ints
    annotator: Ints
    goes_on: Bools


def cells_of(marks: Marks) -> Cells:
    """Cut spans into the cells that they share with others."""
    marks, layer = layers(marks)
    width, n_layers = largest(marks.end) + 1, largest(layer) + 1
    begins, ends = (marks.text * width + side for side in (marks.start, marks.end))
    cuts = distinct(np.append(begins, ends))[0]
    first = np.searchsorted(cuts, begins)
    n_parts = np.searchsorted(cuts, ends) - first
    own, step = spread(n_parts)
    line = marks.label * n_layers + layer
    cell, number = distinct(line[own] * len(cuts) + first[own] + step)
    stretch = cell % len(cuts)
    low, high = cuts[stretch], cuts[stretch + 1]
    return Cells(
        spans=Chosen(low // width, cell // (len(cuts) * n_layers), low % width, high % width),
        stretch=stretch,
        number=number,
        annotator=marks.annotator[own],
        goes_on=step + 1 < n_parts[own],
    )


# --- Spans ----------------------------------------------------------------------------


def _by_span(marks: Marks, votes: Votes, method: str) -> Chosen:
    """Choose spans, such that those that may not overlap do not."""
    spans, _, v = voted(marks, votes)
    r = votes.present[spans.text]
    if method != BEST:
        return in_order(*taken(spans, 2 * v > r * (method == MAJORITY)))
    is_flat, is_disjoint = (
        _is_flat(x, len(votes.present))[spans.text] for x in (_without_labels(marks), marks)
    )
    own = np.flatnonzero(is_disjoint)
    lane = np.where(is_flat, 0, spans.label)[own]
    order, is_head = on_lines(taken(spans, own), numbered(spans.text[own], lane))
    rows = own[order]
    columns = (spans.end[rows].tolist(), spans.start[rows].tolist(), rows.tolist())
    listed = [_Rival(*row) for row in zip(*columns, strict=True)]
    groups = pairwise([*np.flatnonzero(is_head).tolist(), len(own)])
    rivals = [sorted(listed[low:high]) for low, high in groups if high - low > 1]
    size = int(votes.weight[marks.annotator].sum())
    return in_order(*taken(spans, _best(v, r, np.ones_like(v), size, rivals)))
