r"""What is compared: sets of spans, each span known by where it can start.

Spans that are placed together stand on one *line*: a text, in which the spans of
one annotator are arranged. A span with others inside is a line for these. A line is
an entry of a table of lengths, and a span is a run of its line: a length among the
lengths next to it. What a span's start depends on is its *place*: its run and, if it
lies inside another span, the place of that one. Spans of equal place are equally
distributed, and sets of equal places give equal expectations.
"""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beyondchance.core.lengths import LengthTable, tabulate
from beyondchance.core.placement import coverage_profiles, item_profiles
from beyondchance.core.profiles import Profiles, boxes, convolved, joined, summed
from beyondchance.core.ragged import distinct, members, total
from beyondchance.types import Ints


@dataclass(frozen=True, slots=True)
class SpanSets:
    """Sets of spans to compare with one another; equal ones are kept once.

    Attributes
    ----------
    table : LengthTable
        The lines.
    run, parent : arrays of int, shape (places,)
        The run of each place, and the place it lies inside; -1 for the text.
    n : array of int, shape (sets,)
        Positions of the text.
    first : array of int, shape (sets + 1,)
        Set s owns the members ``first[s]:first[s + 1]``.
    place, count : arrays of int, shape (members,)
        A place, ascending within a set, and how many of its spans it has.
    line : array of int, shape (sets,)
        The entry of the table of which the set has all spans; -1 if there is none.
    """

    table: LengthTable
    run: Ints
    parent: Ints
    n: Ints
    first: Ints
    place: Ints
    count: Ints
    line: Ints

    def __len__(self) -> int:
        return len(self.n)

    def owner(self) -> Ints:
        """The set of each member."""
        return np.repeat(np.arange(len(self)), np.diff(self.first))

    def length(self) -> Ints:
        """The length of each member."""
        return np.asarray(self.table.length[self.run[self.place]])

    def members(self, chosen: Ints) -> tuple[Ints, Ints]:
        """For the members of the sets chosen: which of these, and the member."""
        return members(self.first, chosen)


def whole_lines(table: LengthTable) -> SpanSets:
    """Each line of a table as one set."""
    runs = np.arange(len(table.length))
    return SpanSets(
        table=table,
        run=runs,
        parent=np.full(len(runs), -1),
        n=table.n,
        first=table.first,
        place=runs,
        count=table.count,
        line=np.arange(len(table)),
    )


def sets_of_spans(
    n: Ints, line: Ints, length: Ints, owner: Ints, *, parent: Ints, depth: Ints
) -> tuple[SpanSets, Ints]:
    """Put the spans of each owner into one set.

    Parameters
    ----------
    n : array of int, shape (lines,)
        The text size of each line.
    line, length : arrays of int, shape (spans,)
    owner : array of int, shape (spans,)
        Whose set each span belongs to; every owner, from 0 on, has spans on one line only.
    parent : array of int, shape (spans,)
        The span in which each span lies; -1 for the text.
    depth : array of int, shape (spans,)
        1 for the outermost spans, 2 for those inside them, and so on.

    Returns
    -------
    sets : SpanSets
    number : array of int, shape (owners,)
        The set of each owner.

    Examples
    --------
    A span of 2 and one of 3 share a text of 9; each of them is a set of its own.

    >>> two = np.array([0, 0])
    >>> sets, number = sets_of_spans(
    ...     np.array([9]), two, np.array([2, 3]), np.array([0, 1]), parent=two - 1, depth=two + 1
    ... )
    >>> len(sets.table), len(sets), sets.length()[number].tolist(), sets.line.tolist()
    (1, 2, [2, 3], [-1, -1])
    """
    holder = distinct(parent[parent >= 0])[0]
    container = np.where(parent < 0, line, len(n) + np.searchsorted(holder, parent))
    table, entry = tabulate(np.concatenate([n, length[holder]]), container, length)
    stride = int(length.max(initial=0)) + 1
    run = np.searchsorted(table.owner() * stride + table.length, entry[container] * stride + length)
    place, runs, parents = _places(table, run, length, parent, depth)
    text_size = np.zeros(int(owner.max(initial=-1)) + 1, dtype=np.int64)
    text_size[owner] = n[line]
    found, number = tabulate(text_size, owner, place)
    return (
        SpanSets(
            table=table,
            run=runs,
            parent=parents,
            n=found.n,
            first=found.first,
            place=found.length,
            count=found.count,
            line=_whole(table, runs, parents, found),
        ),
        number,
    )


def _places(
    table: LengthTable, run: Ints, length: Ints, parent: Ints, depth: Ints
) -> tuple[Ints, Ints, Ints]:
    """The place of each span; the run and the parent of each place.

    The first places are the runs of the table, taken as runs of a text.
    """
    place = run.copy()
    runs = np.arange(len(table.length))
    parents = np.full(len(runs), -1)
    for layer in range(2, int(depth.max(initial=1)) + 1):
        inner = np.flatnonzero(depth == layer)
        # A span that fills the one around it is wherever that is.
        fills = length[inner] == length[parent[inner]]
        place[inner[fills]] = place[parent[inner[fills]]]
        inner = inner[~fills]
        code, index = distinct(place[parent[inner]] * len(table.length) + run[inner])
        place[inner] = len(runs) + index
        runs = np.concatenate([runs, code % len(table.length)])
        parents = np.concatenate([parents, code // len(table.length)])
    return place, runs, parents


def _whole(table: LengthTable, run: Ints, parent: Ints, sets: LengthTable) -> Ints:
    """For each set of places, the line of which it has all spans, or -1."""
    line = table.owner()[run[sets.length[sets.first[:-1]]]]
    on_line = table.sum_by_entry(table.count)[line]
    is_inner = total(sets.owner(), parent[sets.length] >= 0, len(sets)) > 0
    return np.where(~is_inner & (sets.sum_by_entry(sets.count) == on_line), line, -1)


def start_profiles(sets: SpanSets, place: Ints) -> Profiles:
    """Where a span of each place starts: one sequence for each place asked for.

    The start of an inner span is that of the span around it plus its own start in
    there, which are independent: their distributions are convolved.
    """
    needed = distinct(place)[0]
    around = needed
    while len(around := sets.parent[around][sets.parent[around] >= 0]):
        needed = np.union1d(needed, around)
    run, parent = sets.run[needed], sets.parent[needed]
    found = item_profiles(sets.table, sets.table.owner()[run], sets.table.length[run])
    # Where in `found` the distribution in the text is, as soon as it is known.
    where = np.where(parent < 0, np.arange(len(needed)), -1)
    while len(waiting := np.flatnonzero(where < 0)):
        around = where[np.searchsorted(needed, parent[waiting])]
        ready = waiting[around >= 0]
        moved = convolved(found.take(around[around >= 0]), found.take(ready))
        where[ready] = len(found) + np.arange(len(ready))
        found = joined(found, moved)
    return found.take(where[np.searchsorted(needed, place)])


def place_coverage(sets: SpanSets, place: Ints) -> Profiles:
    """Probability that a span of each place covers each position of its text."""
    used, index = distinct(place)
    lengths = sets.table.length[sets.run[used]]
    return convolved(start_profiles(sets, used), boxes(lengths)).take(index)


def set_coverage(sets: SpanSets, chosen: Ints) -> Profiles:
    """Probability that each position is covered by a set, whose spans are disjoint."""
    line = sets.line[chosen]
    whole = line >= 0
    covered = coverage_profiles(sets.table, line[whole])
    if whole.all():
        return covered
    owner, member = sets.members(chosen[~whole])
    parts = place_coverage(sets, sets.place[member])
    added = summed(parts, sets.count[member], owner, int(np.count_nonzero(~whole)))
    where = np.empty(len(chosen), dtype=np.int64)
    where[np.argsort(~whole, kind="stable")] = np.arange(len(chosen))
    return joined(covered, added).take(where)
