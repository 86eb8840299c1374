r"""What is compared: sets of spans, each known by where it can be.

Spans that are placed together stand on one *line*: a text, in which the spans of
one annotator are arranged. A node with others inside is a line for these. A line is
an entry of a table of lengths, and a node that is placed at random is a run of its line: a
length among the lengths next to it. What its start depends on is its *place*: its run and, if
it lies inside another node, the place of that one; and a *shift*, if it is fixed somewhere on
the way. Nodes of equal place and shift are equally distributed, and sets of equal members give
equal expectations.

What the members of a set are depends on what is asked: its spans (`spans_of`), what is covered
once, twice and so on (`layers_of`), where one span, two and so on start (`starts_of`), and
which is the shortest span at a position, the second shortest and so on (`ranks_of`).
"""

from __future__ import annotations

from collections.abc import Callable
from typing import NamedTuple

import numpy as np

from beyondchance.core.exact import rounded
from beyondchance.core.lengths import LengthTable, tabulate
from beyondchance.core.placement import coverage_profiles, item_profiles
from beyondchance.core.profiles import Profiles, boxes, convolved, joined, summed
from beyondchance.core.ragged import (
    bounds,
    distinct,
    largest,
    members,
    repeats,
    rows_by_value,
    spread,
    total,
    widths,
)
from beyondchance.core.span_trees import FREE, Structure, linked
from beyondchance.types import Bools, Floats, Ints
from beyondchance.values import internal


@internal
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
        Set s owns the members ``first[s]:first[s + 1]``, sorted by level.
    place, shift, length : arrays of int, shape (members,)
        Where each member can be, and how long it is.
    is_rigid : array of bool, shape (members,)
        Whether it is fixed in another node on the way.
    level, kind : arrays of int, shape (members,)
        Members are compared with those of the same level; what the kind means depends on what
        is asked.
    weight : array of float, shape (members,)
        How much each counts.
    are_lines : bool
        Whether each set has just the spans of the line of the same number.
    starts : Profiles, optional
        Where members of each place start, if it does not follow from the lines.
    """

    table: LengthTable
    run: Ints
    parent: Ints
    n: Ints
    first: Ints
    place: Ints
    shift: Ints
    length: Ints
    is_rigid: Bools
    level: Ints
    kind: Ints
    weight: Floats
    are_lines: bool = False
    starts: Profiles | None = None

    def __len__(self) -> int:
        return len(self.n)

    def owner(self) -> Ints:
        """Return the set of each member."""
        return np.repeat(np.arange(len(self)), widths(self.first))

    def members(self, chosen: Ints) -> tuple[Ints, Ints]:
        """List the members of the sets chosen: which of these sets each is in, and the member."""
        return members(self.first, chosen)


class Placed(NamedTuple):
    """Where the nodes of a structure can be.

    Attributes
    ----------
    table : LengthTable
    run, parent : arrays of int, shape (places,)
    place : array of int, shape (nodes,)
    is_rigid : array of bool, shape (nodes,)
    first : array of float, shape (nodes,)
        The probability that a node starts where the one around it does.
    """

    table: LengthTable
    run: Ints
    parent: Ints
    place: Ints
    is_rigid: Bools
    first: Floats


class Members(NamedTuple):
    """Members of sets: whose they are, which node, how they are compared (see `SpanSets`)."""

    group: Ints
    node: Ints
    shift: Ints
    length: Ints
    level: Ints
    kind: Ints
    weight: Floats


MembersOf = Callable[[Structure, Placed], Members]


def whole_lines(table: LengthTable) -> SpanSets:
    """Make each line of a table one set."""
    runs = np.arange(len(table.length))
    zero = np.zeros(len(runs), dtype=np.int64)
    return SpanSets(
        table=table,
        run=runs,
        parent=zero - 1,
        n=table.n,
        first=table.first,
        place=runs,
        shift=zero,
        length=table.length,
        is_rigid=np.zeros(len(runs), dtype=bool),
        level=zero + 1,
        kind=table.length,
        weight=table.count.astype(np.float64),
        are_lines=True,
    )


def sets_of(n: Ints, structure: Structure, members_of: MembersOf) -> tuple[SpanSets, Ints]:
    """Put the members of each group into one set.

    Parameters
    ----------
    n : array of int, shape (lines,)
        The text size of each line.
    structure : Structure
        Every group, from 0 on, has spans on one line only.
    members_of : function of a structure and its places
        What is compared.

    Returns
    -------
    sets : SpanSets
    number : array of int, shape (groups,)
        The set of each group.

    Examples
    --------
    A span of 2 and one of 3 share a text of 9; each of them is a set of its own.

    >>> from beyondchance.core.span_trees import nested_structure
    >>> two = np.array([0, 0])
    >>> structure = nested_structure(
    ...     two, np.array([2, 3]), np.array([0, 1]), parent=two - 1, depth=two + 1
    ... )
    >>> sets, number = sets_of(np.array([9]), structure, spans_of)
    >>> len(sets.table), len(sets), sets.length[number].tolist()
    (1, 2, [2, 3])
    """
    placed = _placed(n, structure)
    found = members_of(structure, placed)
    is_rigid = placed.is_rigid[found.node]
    where = placed.place[found.node], found.shift, found.length, is_rigid
    code, last = coded(found.level, *where, found.kind, found.weight)
    text_size = np.zeros(largest(structure.group, -1) + 1, dtype=np.int64)
    text_size[structure.group] = n[structure.line[: len(structure.group)]]
    table, number = tabulate(text_size, found.group, code)
    example = last[table.length]
    return (
        SpanSets(
            table=placed.table,
            run=placed.run,
            parent=placed.parent,
            n=table.n,
            first=table.first,
            place=placed.place[found.node[example]],
            shift=found.shift[example],
            length=found.length[example],
            is_rigid=is_rigid[example],
            level=found.level[example],
            kind=found.kind[example],
            weight=table.count * found.weight[example],
        ),
        number,
    )


def coded(*columns: Ints | Bools | Floats) -> tuple[Ints, Ints]:
    """Number rows by the order of their values, and an example of each number."""
    code = np.zeros(len(columns[0]), dtype=np.int64)
    for column in columns:
        if len(column) and column.min() != column.max():
            value = np.asarray(column, dtype=np.int64)
            if column.dtype.kind == "f":
                value = np.unique(column, return_inverse=True)[1]
            code = distinct(code * (int(value.max()) + 1) + value)[1]
    example = np.zeros(largest(code, -1) + 1, dtype=np.int64)
    example[code] = np.arange(len(code))
    return code, example


def _placed(n: Ints, structure: Structure) -> Placed:
    """Find where each node can be; the first places are runs of the table, as runs of a text."""
    length, parent = structure.length, structure.parent
    is_free = structure.offset == FREE
    free = np.flatnonzero(is_free)
    holder = distinct(parent[free][parent[free] >= 0])[0]
    container = np.where(
        parent[free] < 0, structure.line[free], len(n) + np.searchsorted(holder, parent[free])
    )
    table, entry = tabulate(np.concatenate([n, length[holder]]), container, length[free])
    stride = largest(length) + 1
    place = np.zeros(len(length), dtype=np.int64)
    place[free] = np.searchsorted(
        table.owner() * stride + table.length, entry[container] * stride + length[free]
    )
    run = place.copy()
    first = np.asarray(structure.offset == 0, dtype=np.float64)
    # Every item of a line is as likely to be its first as any other.
    n_items = table.free() + table.sum_by_entry(table.count)
    first[free] = 1 / n_items[entry[container]]
    is_rigid = ~is_free
    runs = np.arange(len(table.length))
    parents = np.full(len(runs), -1)
    for inner in rows_by_value(structure.depth)[1:]:
        around = parent[inner]
        is_rigid[inner] |= is_rigid[around]
        # A node that is fixed, or that fills the one around it, is wherever that is.
        moves = is_free[inner] & (length[inner] < length[around])
        place[inner[~moves]] = place[around[~moves]]
        moved = inner[moves]
        code, index = distinct(place[around[moves]] * len(table.length) + run[moved])
        place[moved] = len(runs) + index
        runs = np.concatenate([runs, code % len(table.length)])
        parents = np.concatenate([parents, code // len(table.length)])
    return Placed(table, runs, parents, place, is_rigid, first)


def _shift(structure: Structure) -> Ints:
    """Sum the fixed offsets of each node and of all nodes around it."""
    shift = np.maximum(structure.offset, 0)
    for inner in rows_by_value(structure.depth)[1:]:
        shift[inner] += shift[structure.parent[inner]]
    return shift


# --- What is compared ---------------------------------------------------------


def spans_of(structure: Structure, placed: Placed) -> Members:
    """List every span, whatever it lies in."""
    del placed
    span = np.arange(len(structure.group))
    zero = np.zeros_like(span)
    shift = _shift(structure)[span]
    length = structure.length[span]
    return Members(structure.group, span, shift, length, zero + 1, zero, np.ones(len(span)))


def layers_of(structure: Structure, placed: Placed) -> Members:
    """List what is covered at least once, twice and so on: the node of each stack, at its levels.

    Cells side by side that reach the same level are one stretch.
    """
    del placed
    stacks = structure.stacks
    stack, level = spread(stacks.height())
    level += _outer_sums(structure, stacks.height())[stack]
    node, group = stacks.node[stack], stacks.group[stack]
    length = structure.length[node]
    if structure.has_clusters:
        order = np.lexsort((node, level, group))
        node, group, level, length = (x[order] for x in (node, group, level, length))
        parent, is_cell = structure.parent[node], structure.offset[node] != FREE
        follows = repeats(group, level, node - np.arange(len(node)), parent) & is_cell
        begins = np.flatnonzero(~follows)
        length = np.add.reduceat(length, begins) if len(begins) else length
        node, group, level = node[begins], group[begins], level[begins]
    shift, zero = _shift(structure)[node], np.zeros_like(node)
    return Members(group, node, shift, length, level + 1, zero, np.ones(len(node)))


def starts_of(structure: Structure, placed: Placed) -> Members:
    """List where at least one span starts, at least two and so on.

    Let :math:`H_v(m)` be the probability that m spans or more start where stack v starts, and
    :math:`A_v(m)` the part of it that the stacks inside v bring. An outermost start at a
    position is that of v if v starts there and the stack around it does not; so m or more
    spans start at a position with the probability that v starts there, times
    :math:`H_v(m) - A_v(m)`, summed over v. Where spans cross, ends differ from starts: they are
    members of another kind.
    """
    starts = _starts(structure, placed.first)
    if not structure.has_clusters:
        return starts
    mirrored = structure.mirrored()
    first = np.where(structure.offset == FREE, placed.first, mirrored.offset == 0)
    ends = _starts(mirrored, first)
    ends = ends._replace(kind=ends.kind + 1)
    return Members(*(np.concatenate(columns) for columns in zip(starts, ends, strict=True)))


def _starts(structure: Structure, first: Floats) -> Members:
    """List the starts of a structure; `first` is how likely a node starts where its parent does."""
    stacks = structure.stacks
    around, together = linked(structure, first)
    depth = _outer_sums(structure, np.ones(len(stacks), dtype=np.int64))
    by_depth = rows_by_value(depth)[::-1]
    most = stacks.starting.copy()
    for inner in by_depth[:-1]:
        np.maximum.at(most, around[inner], stacks.starting[around[inner]] + most[inner])
    m = np.arange(1, largest(most) + 1)
    have, inside = np.zeros((2, len(stacks), len(m)))
    for inner in by_depth:
        own = stacks.starting[inner, None]
        below = np.take_along_axis(inside[inner], np.maximum(m - own - 1, 0), axis=1)
        have[inner] = np.where(m <= own, 1.0, below)
        inner = inner[around[inner] >= 0]  # noqa: PLW2901
        # Multiples of 2**-52 that sum to 1 at most are added without error, in any order.
        np.add.at(inside, around[inner], rounded(together[inner, None] * have[inner]))
    weight = have - inside
    stack, place = np.nonzero(weight)
    node, kind = stacks.node[stack], np.zeros_like(stack)
    group, shift = stacks.group[stack], _shift(structure)[node]
    length = structure.length[node]
    return Members(group, node, shift, length, place + 1, kind, weight[stack, place])


def ranks_of(structure: Structure, placed: Placed) -> Members:
    """List the shortest span at a position, the second shortest and so on; the kind is its length.

    Where a stack is the innermost, the spans at a position are those of the stack, then those of
    the stack around it, and so on outwards, each longer than those before. It is the innermost
    where its node is and no stack inside it is: what these cover is taken off again.
    """
    del placed
    stacks = structure.stacks
    inner = np.flatnonzero(stacks.around >= 0)
    own = _chains(structure, np.arange(len(stacks)))
    outer = _chains(structure, stacks.around[inner])
    stack = np.concatenate([own[0], inner[outer[0]]])
    rank, length = (np.concatenate([own[i], outer[i]]) for i in (1, 2))
    weight = np.repeat([1.0, -1.0], [len(own[0]), len(outer[0])])
    node = stacks.node[stack]
    group, shift, width = stacks.group[stack], _shift(structure)[node], structure.length[node]
    return Members(group, node, shift, width, rank, length, weight)


def rank_pairs(structure: Structure) -> Ints:
    """Return how many pairs of spans ranking compares: the squares of depths, in each group."""
    stacks = structure.stacks
    n_spans = stacks.height() + _outer_sums(structure, stacks.height())
    n_groups = largest(structure.group, -1) + 1
    return total(stacks.group, n_spans**2, n_groups).astype(np.int64)


def _chains(structure: Structure, chosen: Ints) -> tuple[Ints, Ints, Ints]:
    """List the spans of some stacks and of those around them: which, rank from 1 on, length."""
    stacks = structure.stacks
    which, at, base = np.arange(len(chosen)), chosen, np.zeros_like(chosen)
    found: list[tuple[Ints, Ints, Ints]] = [(chosen[:0],) * 3]
    while len(at):
        row, span = members(stacks.first, at)
        place = span - stacks.first[at][row]
        found.append((which[row], base[row] + place + 1, stacks.length[span]))
        base = base + stacks.height()[at]
        outer = stacks.around[at]
        which, at, base = which[outer >= 0], outer[outer >= 0], base[outer >= 0]
    whole = [np.concatenate(column) for column in zip(*found, strict=True)]
    return whole[0], whole[1], whole[2]


def _outer_sums(structure: Structure, value: Ints) -> Ints:
    """Sum a value over the stacks around each stack."""
    around, found = structure.stacks.around, np.zeros_like(value)
    for stack in rows_by_value(structure.depth[structure.stacks.node]):
        inner = stack[around[stack] >= 0]
        found[inner] = found[around[inner]] + value[around[inner]]
    return found


# --- Where members are --------------------------------------------------------


def start_profiles(sets: SpanSets, place: Ints) -> Profiles:
    """Compute the distribution of a node's start, without its shift, for each place asked for.

    The start of an inner node is that of the one around it plus its own start in
    there, which are independent: their distributions are convolved.
    """
    if sets.starts is not None:
        return sets.starts.take(place)
    needed = distinct(place)[0]
    around = needed
    while len(around := sets.parent[around][sets.parent[around] >= 0]):
        needed = np.union1d(needed, around)
    run, parent = sets.run[needed], sets.parent[needed]
    found = item_profiles(sets.table, sets.table.owner()[run], sets.table.length[run])
    # Level by level: what lies in a place is looked up among the level before.
    inside = np.where(parent >= 0, np.searchsorted(needed, parent), -1)
    level = np.flatnonzero(inside < 0)
    parts, where = [found.take(level)], np.zeros(len(needed), dtype=np.int64)
    where[level] = np.arange(len(level))
    n_found, children = len(level), np.argsort(inside, kind="stable")
    first = bounds(inside[inside >= 0], len(needed)) + n_found
    while len(level := children[members(first, level)[1]]):
        around = where[inside[level]] - (n_found - len(parts[-1]))
        parts.append(convolved(parts[-1].take(around), found.take(level)))
        where[level] = n_found + np.arange(len(level))
        n_found += len(level)
    return joined(*parts).take(where[np.searchsorted(needed, place)])


def member_coverage(sets: SpanSets, member: Ints) -> Profiles:
    """Compute the probability that each member covers each position, from its shift on."""
    stride = largest(sets.length) + 1
    used, index = distinct(sets.place[member] * stride + sets.length[member])
    place, length = np.divmod(used, stride)
    return convolved(start_profiles(sets, place), boxes(length)).take(index)


class Layers(NamedTuple):
    """The members of each set, level by level; those of one level are disjoint.

    Attributes
    ----------
    first : array of int, shape (sets + 1,)
        Set s has the layers ``first[s]:first[s + 1]``, of the levels 1, 2, ...
    member : array of int, shape (layers + 1,)
        Layer i has the members ``member[i]:member[i + 1]``.
    """

    first: Ints
    member: Ints


def layers_in(sets: SpanSets) -> Layers:
    """Cut each set into its levels."""
    owner = sets.owner()
    begins = (np.diff(owner, prepend=-1) != 0) | (np.diff(sets.level, prepend=0) != 0)
    return Layers(
        first=bounds(owner[begins], len(sets)),
        member=np.append(np.flatnonzero(begins), len(owner)),
    )


class Covered(NamedTuple):
    """How likely layers cover each position: sums of sequences, each from its shift on.

    Attributes
    ----------
    profiles : Profiles
    weight : array of float, shape (sequences,)
    shift : array of int, shape (sequences,)
    is_rigid : array of bool, shape (sequences,)
    first : array of int, shape (layers + 1,)
        Layer i is covered by the sequences ``first[i]:first[i + 1]``.
    """

    profiles: Profiles
    weight: Floats
    shift: Ints
    is_rigid: Bools
    first: Ints


def coverage_of(sets: SpanSets, layers: Layers, chosen: Ints) -> Covered:
    """Compute the probability that each position is covered by each of some layers.

    What moves freely is added up; what is rigid has a shift of its own.
    """
    layer, member = members(layers.member, chosen)
    is_rigid = sets.is_rigid[member]
    free, rigid = np.flatnonzero(~is_rigid), np.flatnonzero(is_rigid)
    line = _whole_line(sets, layer, member, len(chosen))
    is_whole = line >= 0
    parts = free[~is_whole[layer[free]]]
    found, owner = [coverage_profiles(sets.table, line[is_whole])], [np.flatnonzero(is_whole)]
    if len(parts):
        has_parts, row = distinct(layer[parts])
        added = member_coverage(sets, member[parts])
        found.append(summed(added, sets.weight[member[parts]], row, len(has_parts)))
        owner.append(has_parts)
    n_free = sum(map(len, owner))
    found.append(member_coverage(sets, member[rigid]))
    owner.append(layer[rigid])
    shift = np.concatenate([np.zeros(n_free, dtype=np.int64), sets.shift[member[rigid]]])
    weight = np.concatenate([np.ones(n_free), sets.weight[member[rigid]]])
    which = np.concatenate(owner)
    order = np.argsort(which, kind="stable")
    return Covered(
        profiles=joined(*found).take(order),
        weight=weight[order],
        shift=shift[order],
        is_rigid=order >= n_free,
        first=bounds(which[order], len(chosen)),
    )


def _whole_line(sets: SpanSets, layer: Ints, member: Ints, n_layers: int) -> Ints:
    """Find for each layer the line of a text of which it has all items, or -1."""
    place = sets.place[member]
    line = np.full(n_layers, -1)
    if sets.starts is not None:
        return line
    line[layer] = sets.table.owner()[sets.run[place]]
    on_line = sets.table.sum_by_entry(sets.table.count)[line]
    others = total(layer, (sets.parent[place] >= 0) | sets.is_rigid[member], n_layers)
    has = total(layer, sets.weight[member], n_layers)
    return np.where((others == 0) & (has == on_line), line, -1)
