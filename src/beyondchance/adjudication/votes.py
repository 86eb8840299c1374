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
from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from fractions import Fraction
from itertools import pairwise
from typing import NamedTuple

import numpy as np

from beyondchance.core.ragged import begins_apart, distinct, repeats, spread
from beyondchance.types import Bools, Ints

ENTITIES, BEST, MAJORITY, UNION = "entities", "best", "majority", "union"
METHODS = (ENTITIES, BEST, MAJORITY, UNION)


@dataclass(frozen=True, eq=False)
class Marks:
    """Spans as columns.

    Attributes
    ----------
    text, annotator, label, start, end : arrays of int
    """

    text: Ints
    annotator: Ints
    label: Ints
    start: Ints
    end: Ints

    def __len__(self) -> int:
        return len(self.text)

    def taken(self, rows: Ints | Bools) -> Marks:
        """Some of the spans."""
        columns = (self.text, self.annotator, self.label, self.start, self.end)
        return Marks(*(column[rows] for column in columns))


class Chosen(NamedTuple):
    """Spans of nobody in particular, as columns."""

    text: Ints
    label: Ints
    start: Ints
    end: Ints


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
    """The spans that a team's votes give.

    Parameters
    ----------
    marks : Marks
    votes : Votes
    measure : {"token", "exact"}
        What is voted on: positions, each with its label, or whole spans.
    method : {"best", "majority", "union"}
        Take what agrees best with all, or spans that more than half or anybody marked.
    """
    if not len(marks):
        nothing = np.zeros(0, dtype=np.int64)
        return Chosen(nothing, nothing, nothing, nothing)
    return _by_position(marks, votes) if measure == "token" else _by_span(marks, votes, method)


# --- What may overlap -----------------------------------------------------------------


def _overlaps(line: Ints, start: Ints, end: Ints) -> Ints:
    """The lines that have two spans with a position in common."""
    order = np.lexsort((start, line))
    line, start, end = line[order], start[order], end[order]
    # Lines lie end to end, so that what one covers ends before the next begins.
    shift = line * (int(end.max(initial=0)) + 1)
    return np.unique(line[~begins_apart(shift + start, shift + end)])


def _structure(marks: Marks, n_texts: int) -> tuple[Bools, Bools]:
    """The texts in which members' spans do not overlap at all, and not within a label."""
    _, owner = distinct(marks.text * (int(marks.annotator.max()) + 1) + marks.annotator)
    n_labels = int(marks.label.max()) + 1
    of_owner = np.zeros(int(owner.max()) + 1, dtype=np.int64)
    of_owner[owner] = marks.text
    is_flat, is_disjoint = np.ones((2, n_texts), dtype=bool)
    is_flat[of_owner[_overlaps(owner, marks.start, marks.end)]] = False
    crossing = _overlaps(owner * n_labels + marks.label, marks.start, marks.end) // n_labels
    is_disjoint[of_owner[crossing]] = False
    return is_flat, is_disjoint


# --- The best ratio -------------------------------------------------------------------


def _best_ratio(kinds: dict[tuple[int, int], int], size: int) -> Fraction:
    """The largest ratio that some kinds of votes reach together.

    Parameters
    ----------
    kinds : dict of (int, int) to int
        How many positions have v of R votes.
    size : int
        The size of all members' annotations together, each as often as its vote counts.
    """
    ratio = Fraction(0)
    above, below = 0, size
    for (v, r), n in sorted(kinds.items(), key=lambda kind: Fraction(*kind[0]), reverse=True):
        if Fraction(2 * v, r) <= ratio:
            break
        above += 2 * v * n
        below += r * n
        ratio = Fraction(above, below)
    return ratio


def _is_taken(v: Ints, r: Ints, ratio: Fraction) -> Bools:
    """What is taken, by the votes that it has."""
    kinds, number = _kinds(v, r)
    taken = np.array([Fraction(2 * a, b) > ratio for a, b in kinds], dtype=bool)
    return taken[number]


def _kinds(v: Ints, r: Ints) -> tuple[list[tuple[int, int]], Ints]:
    """The distinct pairs of votes, and the number of the pair of each."""
    width = int(r.max(initial=0)) + 1
    codes, number = distinct(v * width + r)
    return [divmod(code, width) for code in codes.tolist()], number


# --- Positions ------------------------------------------------------------------------


def _by_position(marks: Marks, votes: Votes) -> Chosen:
    """Positions that are taken, joined to spans where members do.

    A span that all members have is taken as it is: whatever agrees best covers its positions once
    more.
    """
    is_flat, _ = _structure(marks, len(votes.present))
    size = int(((marks.end - marks.start) * votes.weight[marks.annotator]).sum())
    common, marks = _unanimous(marks, votes)
    if not len(marks):
        return common
    marks, line, n_layers, cuts, first, last, own, step, cell, number = cells_of(marks)
    n_lines = int(line.max()) + 1
    weight = votes.weight[marks.annotator[own]]
    v, through = (
        np.bincount(number, weights=weight * is_counted).astype(np.int64)
        for is_counted in (True, step < (last - first)[own] - 1)
    )
    stretch, line_of = cell // n_lines, cell % n_lines
    text, length = cuts.text[stretch], cuts.length[stretch]
    r = votes.present[text]
    # One label a position, where no member has several: the one with most votes, of several the
    # first in the alphabet.
    order = np.lexsort((line_of, -v, stretch))
    kept = ~is_flat[text]
    kept[order] |= ~repeats(stretch[order])
    ours = votes.present[common.text]
    ratio = _best_ratio(
        _sizes(
            np.concatenate([v[kept], ours]),
            np.concatenate([r[kept], ours]),
            np.concatenate([length[kept], common.end - common.start]),
        ),
        size,
    )
    taken = np.flatnonzero(kept & _is_taken(v, r, ratio))
    taken = taken[np.lexsort((stretch[taken], line_of[taken]))]
    apart = _votes_for_cuts(marks, first * n_lines + line, last * n_lines + line, votes, cell)
    here, before = taken[1:], taken[:-1]
    joins = np.zeros(len(taken), dtype=bool)
    joins[1:] = (
        (line_of[here] == line_of[before])
        & (stretch[here] == stretch[before] + 1)
        & (through[before] > 0)
        & (apart[here] <= through[before])
    )
    heads, tails = taken[~joins], taken[np.append(~joins[1:], True)] if len(taken) else taken
    found = (
        text[heads],
        line_of[heads] // n_layers,
        cuts.start[stretch[heads]],
        cuts.start[stretch[tails]] + length[tails],
    )
    return _once(in_order(*(np.concatenate(pair) for pair in zip(common, found, strict=True))))


def _unanimous(marks: Marks, votes: Votes) -> tuple[Chosen, Marks]:
    """The spans that all members of their text have, and the spans that not all have."""
    spans, number, v = voted(marks, votes)
    is_all = v == votes.present[spans.text]
    common = spans.taken(is_all)
    return (
        in_order(common.text, common.label, common.start, common.end),
        marks.taken(~is_all[number]),
    )


def voted(marks: Marks, votes: Votes) -> tuple[Marks, Ints, Ints]:
    """Distinct spans in the order of their content; the number of each mark's, and its votes."""
    order = np.lexsort((marks.annotator, marks.label, marks.end, marks.start, marks.text))
    ordered = marks.taken(order)
    is_first = ~repeats(ordered.text, ordered.start, ordered.end, ordered.label)
    number = np.empty(len(order), dtype=np.int64)
    number[order] = np.cumsum(is_first) - 1
    v = np.bincount(number, weights=votes.weight[marks.annotator]).astype(np.int64)
    return ordered.taken(is_first), number, v


def layers(marks: Marks) -> tuple[Marks, Ints]:
    """Spans without overlap of one label of one member, and their layers.

    Where a member's spans of one label overlap, layer m are stretches that m + 1 or more of them
    cover; where one ends and another begins at the same position, they are apart.
    """
    marks = marks.taken(np.lexsort((marks.start, marks.label, marks.annotator, marks.text)))
    is_first = ~repeats(marks.text, marks.annotator, marks.label)
    line = np.cumsum(is_first) - 1
    shift = line * (int(marks.end.max(initial=0)) + 1)
    heads = np.flatnonzero(begins_apart(shift + marks.start, shift + marks.end))
    sizes = np.diff(np.append(heads, len(marks)))
    is_alone = np.repeat(sizes == 1, sizes)
    rows: list[tuple[int, ...]] = []
    for low, n in zip(heads[sizes > 1].tolist(), sizes[sizes > 1].tolist(), strict=True):
        head = (int(marks.text[low]), int(marks.annotator[low]), int(marks.label[low]))
        starts = Counter(marks.start[low : low + n].tolist())
        ends = Counter(marks.end[low : low + n].tolist())
        opened: list[int] = []
        for place in sorted({*starts, *ends}):
            for _ in range(ends[place]):
                begin = opened.pop()
                rows.append((*head, begin, place, len(opened)))
            opened += [place] * starts[place]
    added = np.array(rows, dtype=np.int64).reshape(-1, 6)
    plain = marks.taken(is_alone)
    columns = (plain.text, plain.annotator, plain.label, plain.start, plain.end)
    both = [np.concatenate(pair) for pair in zip(columns, added.T[:5], strict=True)]
    return Marks(*both), np.concatenate([np.zeros(len(plain), dtype=np.int64), added[:, 5]])


class _Cuts(NamedTuple):
    """Stretches of texts in which nothing begins or ends; those of a text follow one another."""

    text: Ints
    start: Ints
    length: Ints


class Cells(NamedTuple):
    """Stretches of texts between two cuts, with a label that a member gave them.

    Texts are cut where a span begins or ends. Where spans of one label overlap, each layer of them
    is a line of its own.

    Attributes
    ----------
    marks : Marks
        Spans without overlap on a line.
    line : array of int, shape (marks,)
        Label and layer.
    n_layers : int
    cuts : stretches
    first, last : arrays of int, shape (marks,)
        The first stretch of each span, and the one behind its last.
    own, step : arrays of int, shape (parts,)
        For each part of a span in a cell the span, and how many parts come before it.
    cell : array of int, shape (cells,)
        Stretch and line.
    number : array of int, shape (parts,)
        The cell of each part.
    """

    marks: Marks
    line: Ints
    n_layers: int
    cuts: _Cuts
    first: Ints
    last: Ints
    own: Ints
    step: Ints
    cell: Ints
    number: Ints


def cells_of(marks: Marks) -> Cells:
    """Cut spans into the cells that they share with others."""
    marks, layer = layers(marks)
    n_layers = int(layer.max()) + 1
    line = marks.label * n_layers + layer
    cuts, first, last = _cut(marks)
    own, step = spread(last - first)
    cell, number = distinct((first[own] + step) * (int(line.max()) + 1) + line[own])
    return Cells(marks, line, n_layers, cuts, first, last, own, step, cell, number)


def _cut(marks: Marks) -> tuple[_Cuts, Ints, Ints]:
    """The stretches of all texts, and for each span its first and the one behind its last."""
    width = int(marks.end.max()) + 1
    begins, ends = (marks.text * width + side for side in (marks.start, marks.end))
    places = distinct(np.concatenate([begins, ends]))[0]
    # Behind the last cut of a text is a stretch that nobody marked.
    length = np.diff(places, append=places[-1])
    stretches = _Cuts(places // width, places % width, length)
    return stretches, np.searchsorted(places, begins), np.searchsorted(places, ends)


def _votes_for_cuts(marks: Marks, begins: Ints, ends: Ints, votes: Votes, cell: Ints) -> Ints:
    """For each cell, the votes of members of whom a span begins with it where another ends."""
    n_members = len(votes.weight)
    meeting = np.intersect1d(
        begins * n_members + marks.annotator, ends * n_members + marks.annotator
    )
    here = np.searchsorted(cell, meeting // n_members)
    weight = votes.weight[meeting % n_members]
    return np.bincount(here, weights=weight, minlength=len(cell)).astype(np.int64)


def _sizes(v: Ints, r: Ints, length: Ints) -> dict[tuple[int, int], int]:
    """How many positions have v of R votes."""
    kinds, number = _kinds(v, r)
    sizes = np.zeros(len(kinds), dtype=np.int64)
    np.add.at(sizes, number, length)
    return dict(zip(kinds, sizes.tolist(), strict=True))


def in_order(text: Ints, label: Ints, start: Ints, end: Ints) -> Chosen:
    """Spans in reading order, the longer first."""
    order = np.lexsort((label, -end, start, text))
    return Chosen(*(column[order] for column in (text, label, start, end)))


def _once(found: Chosen) -> Chosen:
    """The same by spans of which no two are equal: no annotator has a span twice.

    Of two layers that are equal, one is cut into two spans, where there are such that are not
    there yet.
    """
    again = repeats(*found)
    if not again.any():
        return found
    rows = list(zip(*(column.tolist() for column in found), strict=True))
    known = set(rows)
    for (text, label, start, end), is_again in zip(rows, again.tolist(), strict=True):
        halves = (
            {(text, label, start, cut), (text, label, cut, end)} for cut in range(start + 1, end)
        )
        known |= next((both for both in halves if is_again and not both & known), set())
    return in_order(*(np.array(column, dtype=np.int64) for column in zip(*known, strict=True)))


# --- Spans ----------------------------------------------------------------------------


def _by_span(marks: Marks, votes: Votes, method: str) -> Chosen:
    """Spans that are taken, such that those that may not overlap do not."""
    spans, _, v = voted(marks, votes)
    r = votes.present[spans.text]
    if method != BEST:
        taken = np.flatnonzero(2 * v > r * (method == MAJORITY))
    else:
        rivals = _rivals(spans, *_structure(marks, len(votes.present)))
        taken = _best_spans(spans, v, r, rivals, int(votes.weight[marks.annotator].sum()))
    found = spans.taken(taken)
    return in_order(found.text, found.label, found.start, found.end)


def _rivals(spans: Marks, is_flat: Bools, is_disjoint: Bools) -> list[list[int]]:
    """Groups of spans of which some may not be taken together, each in order of their ends."""
    n_labels = int(spans.label.max()) + 1
    line = spans.text * (n_labels + 1) + np.where(is_flat[spans.text], 0, spans.label + 1)
    own = np.flatnonzero(is_disjoint[spans.text])
    own = own[np.lexsort((spans.start[own], line[own]))]
    _, lane = distinct(line[own])
    shift = lane * (int(spans.end.max()) + 1)
    heads = np.flatnonzero(begins_apart(shift + spans.start[own], shift + spans.end[own]))
    groups = pairwise([*heads.tolist(), len(own)])
    members = (own[low:high].tolist() for low, high in groups if high - low > 1)
    return [sorted(group, key=lambda i: int(spans.end[i])) for group in members]


def _best_spans(spans: Marks, v: Ints, r: Ints, rivals: Sequence[Sequence[int]], size: int) -> Ints:
    """The spans that agree best with all members, by Dinkelbach's method."""
    is_free = np.ones(len(spans), dtype=bool)
    is_free[[span for group in rivals for span in group]] = False
    free = np.flatnonzero(is_free)
    contests = [_Contest.of(spans, v, r, group) for group in rivals]
    ratio = Fraction(0)
    while True:
        taken = np.concatenate(
            [
                free[_is_taken(v[free], r[free], ratio)],
                *(np.array(contest.best(ratio), dtype=np.int64) for contest in contests),
            ]
        )
        reached = Fraction(2 * int(v[taken].sum()), int(r[taken].sum()) + size)
        if reached <= ratio:
            return taken
        ratio = reached


class _Contest(NamedTuple):
    """Spans of which those that overlap are not taken together, in order of their ends.

    Attributes
    ----------
    spans : list of int
    before : list of int
        How many of them end before each begins.
    votes, present, preference : list of int
        The preference decides among equals: it is for what is longer.
    """

    spans: list[int]
    before: list[int]
    votes: list[int]
    present: list[int]
    preference: list[int]

    @classmethod
    def of(cls, spans: Marks, v: Ints, r: Ints, group: Sequence[int]) -> _Contest:
        rows = np.array(group, dtype=np.int64)
        ends = spans.end[rows].tolist()
        before = [bisect_right(ends, start) for start in spans.start[rows].tolist()]
        preference = (spans.end - spans.start)[rows].tolist()
        return cls(list(group), before, v[rows].tolist(), r[rows].tolist(), preference)

    def best(self, ratio: Fraction) -> list[int]:
        """The spans without overlap that add most, above this ratio."""
        # The best of the first spans: what it adds, how much it is preferred, and its last span.
        best: list[tuple[int, int]] = [(0, 0)]
        last: list[int] = [-1]
        for i, before in enumerate(self.before):
            gain = 2 * self.votes[i] * ratio.denominator - self.present[i] * ratio.numerator
            known, with_it = best[-1], best[before]
            other = (with_it[0] + gain, with_it[1] + self.preference[i])
            is_better = gain > 0 and other > known
            best.append(other if is_better else known)
            last.append(i if is_better else last[-1])
        chosen, i = [], len(self.spans)
        while last[i] >= 0:
            chosen.append(self.spans[last[i]])
            i = self.before[last[i]]
        return chosen
