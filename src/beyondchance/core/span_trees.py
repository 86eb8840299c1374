"""How the spans of a line hang together: what moves on its own, and what moves with it.

A span is placed at random in the text, or in the span around it, and moves with that. Spans
that cross are a *cluster*, which moves as one rigid item: its spans keep their distances. The
starts and ends of its spans cut the cluster into *cells*; what lies inside the cluster lies in
one of them, and is placed at random in there. So every span stays inside just those spans in
which it was found.

Spans, clusters and cells are *nodes*, each at random in its parent or fixed in it.
"""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import replace
from heapq import heappop, heappush
from typing import NamedTuple, TypeAlias

import numpy as np

from beyondchance.core.nesting import Nesting, nesting, outer_first
from beyondchance.core.ragged import rows_by_value, spread, starts, total
from beyondchance.types import Floats, Ints
from beyondchance.values import internal

FREE = -1
"""The offset of a node that is placed at random."""

Forest: TypeAlias = tuple[tuple[int, int, int, int], ...]
"""All nodes of a line: whatever chance depends on besides the size of the text.

Of each node how many are around it, its length, a number for what it is compared with (0:
nothing) and its offset in its parent. Nodes come right after the one around them, and before the
next that is beside it; those beside one another are sorted, together with all that is in them.
So forests compare as nested tuples would, which Python refuses where they are deep."""


@internal
class Stacks:
    """Where spans of one group lie on top of each other.

    A stack is a node with the spans of one group that contain it, but not the node of the
    stack around it: a span itself, or the spans of a cluster that contain one of its cells.

    Attributes
    ----------
    node, group : arrays of int, shape (stacks,)
    around : array of int, shape (stacks,)
        The next stack of the same group in which the node lies; -1 if there is none.
    first : array of int, shape (stacks + 1,)
        Stack s has the spans ``first[s]:first[s + 1]``.
    length : array of int
        Their lengths, ascending within a stack.
    starting, ending : arrays of int, shape (stacks,)
        How many of them start where the node starts, and end where it ends.
    """

    node: Ints
    group: Ints
    around: Ints
    first: Ints
    length: Ints
    starting: Ints
    ending: Ints

    def __len__(self) -> int:
        return len(self.node)

    def height(self) -> Ints:
        """Count the spans of each stack."""
        return np.diff(self.first)


class Structure(NamedTuple):
    """The nodes of all lines; the first are the spans, in their order.

    Attributes
    ----------
    line, length : arrays of int, shape (nodes,)
    parent : array of int, shape (nodes,)
        The node in which each node lies; -1 for the text.
    offset : array of int, shape (nodes,)
        Where it is fixed in its parent; `FREE` if it is placed at random.
    depth : array of int, shape (nodes,)
        1 for the outermost nodes, 2 for those inside them, and so on.
    group : array of int, shape (spans,)
        What each span is compared with: spans of one group are matched together.
    stacks : Stacks
    """

    line: Ints
    length: Ints
    parent: Ints
    offset: Ints
    depth: Ints
    group: Ints
    stacks: Stacks

    @property
    def is_flat(self) -> bool:
        """Whether no node lies in another."""
        return int(self.depth.max(initial=1)) == 1

    @property
    def has_clusters(self) -> bool:
        """Whether spans cross."""
        return len(self.length) > len(self.group)

    def mirrored(self) -> Structure:
        """Mirror the structure: starts become ends."""
        fixed = self.offset != FREE
        around = np.where(fixed, self.parent, 0)
        offset = np.where(fixed, self.length[around] - self.length - self.offset, FREE)
        stacks = replace(self.stacks, starting=self.stacks.ending, ending=self.stacks.starting)
        return self._replace(offset=offset, stacks=stacks)


def nested_structure(
    line: Ints, length: Ints, group: Ints, *, parent: Ints, depth: Ints
) -> Structure:
    """Build the structure of spans that are disjoint or lie inside one another."""
    span = np.arange(len(length))
    ones = np.ones_like(length)
    stacks = Stacks(span, group, span, np.arange(len(span) + 1), length, ones, ones)
    offset = np.full(len(length), FREE)
    return _with_stacks(Structure(line, length, parent, offset, depth, group, stacks))


def structure_of(
    line: Ints, start: Ints, end: Ints, group: Ints, nest: Nesting, *, whole: Ints | None = None
) -> Structure:
    """Build the structure of any spans.

    Parameters
    ----------
    line, start, end, group : arrays of int, shape (spans,)
    nest : Nesting
        Which of them lies in which, and on which lines spans cross.
    whole : array of int, optional
        Spans with the same number move together as those that cross do: they are parts of one.

    Examples
    --------
    [0, 4) and [3, 6) cross; [1, 2) lies in the first of their three cells.

    >>> zero, start, end = np.zeros(3, dtype=np.int64), np.array([0, 3, 1]), np.array([4, 6, 2])
    >>> found = structure_of(zero, start, end, zero, nesting(zero, start, end))
    >>> found.length.tolist(), found.parent.tolist(), found.offset.tolist()
    ([4, 3, 1, 6, 3, 1, 2], [3, 3, 4, -1, 3, 3, 3], [0, 3, -1, -1, 0, 3, 4])
    >>> found.stacks.height().tolist(), found.stacks.around.tolist()
    ([1, 1, 2, 1], [1, -1, -1, -1])
    """
    length = end - start
    clusters = _clusters(line, start, end, nest.crossed) if len(nest.crossed) else []
    if whole is not None:
        clusters += [part.tolist() for part in rows_by_value(whole) if len(part) > 1]
    if not clusters:
        return nested_structure(line, length, group, parent=nest.parent, depth=nest.depth)
    n_spans = len(line)
    cut = [_cells(cluster, start, end) for cluster in clusters]
    is_member = np.zeros(n_spans, dtype=bool)
    is_member[np.concatenate(clusters)] = True
    # The nodes: spans, clusters, cells. Clusters and cells contain whatever lies in them.
    cluster_line = line[[cluster[0] for cluster in clusters]]
    n_cells = np.array([len(cells) - 1 for cells in cut])
    owner, place = spread(n_cells)
    edges = np.concatenate(cut)
    left = place + owner + starts(n_cells)[owner]
    nodes_line = np.concatenate([line, cluster_line, cluster_line[owner]])
    nodes_start = np.concatenate([start, [cells[0] for cells in cut], edges[left]])
    nodes_end = np.concatenate([end, [cells[-1] for cells in cut], edges[left + 1]])
    # Of equal nodes the first is the outer one: a cell around a span, a span around a cluster.
    first_cell = n_spans + len(clusters)
    outer = np.r_[
        np.arange(first_cell, len(nodes_line)),
        np.flatnonzero(~is_member),
        np.arange(n_spans, first_cell),
    ]
    found = nesting(nodes_line[outer], nodes_start[outer], nodes_end[outer])
    parent, depth = np.full(len(nodes_line), -1), np.ones(len(nodes_line), dtype=np.int64)
    parent[outer] = np.where(found.parent >= 0, outer[found.parent], -1)
    depth[outer] = found.depth
    offset = np.full(len(nodes_line), FREE)
    offset[first_cell:] = nodes_start[first_cell:] - nodes_start[parent[first_cell:]]
    member = np.concatenate(clusters)
    hull = n_spans + np.repeat(np.arange(len(clusters)), [len(part) for part in clusters])
    parent[member] = hull
    offset[member] = start[member] - nodes_start[hull]
    depth[member] = depth[hull] + 1
    # Where a span that crosses others begins and ends among the edges of its cluster.
    which = hull - n_spans
    width = int(end.max()) + 1
    code = np.repeat(np.arange(len(cut)), n_cells + 1) * width + edges
    low, high = (np.searchsorted(code, which * width + x[member]) for x in (start, end))
    stacks = _stacks(
        np.flatnonzero(~is_member),
        member,
        (first_cell + low - which, high - low),
        (start, end, group),
    )
    nodes_length = nodes_end - nodes_start
    return _with_stacks(Structure(nodes_line, nodes_length, parent, offset, depth, group, stacks))


def _clusters(line: Ints, start: Ints, end: Ints, crossed: Ints) -> list[list[int]]:
    """Group spans that are linked by crossing one another into clusters.

    Spans come by their starts, the longer first. A *block* is a span, or a cluster so far, that
    has not ended: each block lies in the one before it. A span crosses a block if it ends after
    a span of the block that began before it.
    """
    spans = outer_first(line, start, end)
    spans = spans[np.isin(line[spans], crossed)]
    clusters: list[list[int]] = []
    # The ends of a block that are still to come, the next one first, and all its spans.
    blocks: list[tuple[list[int], list[int]]] = []

    def close(block: list[int]) -> None:
        if len(block) > 1:
            clusters.append(sorted(block))

    last = -1
    columns = zip(*(c[spans].tolist() for c in (line, start, end)), spans.tolist(), strict=True)
    for here, begin, stop, span in columns:
        while blocks and (here != last or not _coming(blocks[-1][0], begin)):
            close(blocks.pop()[1])
        last = here
        ends, block = [stop], [span]
        # Spans that began with this one are no shorter, so that they do not end before it.
        while blocks and (coming := _coming(blocks[-1][0], begin)) and coming[0] < stop:
            other_ends, other = blocks.pop()
            if len(other) > len(block):
                ends, block, other_ends, other = other_ends, other, ends, block
            block += other
            for e in other_ends:
                heappush(ends, e)
        blocks.append((ends, block))
    for _, block in blocks:
        close(block)
    return clusters


def _coming(ends: list[int], begin: int) -> list[int]:
    """Take the ends up to a position off a heap, and return those after it."""
    while ends and ends[0] <= begin:
        heappop(ends)
    return ends


def _cells(cluster: Sequence[int], start: Ints, end: Ints) -> Ints:
    """Find where the cells of a cluster begin, and where the last of them ends."""
    return np.unique(np.concatenate([start[cluster], end[cluster]]))


def _stacks(
    alone: Ints, span: Ints, cells: tuple[Ints, Ints], columns: tuple[Ints, Ints, Ints]
) -> Stacks:
    """Build the stacks of spans that cross no other, and those of the cells of clusters.

    Parameters
    ----------
    alone : array of int
        The spans that cross no other.
    span : array of int
        The spans that cross others.
    cells : tuple of array of int, shape (spans that cross others,)
        The node of the first cell of each, and how many cells it has.
    columns : tuple of array of int
        Start, end and group of every span.
    """
    start, end, group = columns
    first, n_cells = cells
    which, place = spread(n_cells)
    node, own = first[which] + place, span[which]
    length = (end - start)[own]
    order = np.lexsort((length, group[own], node))
    which, place, node, own = (column[order] for column in (which, place, node, own))
    begins = (np.diff(node, prepend=-1) != 0) | (np.diff(group[own], prepend=-1) != 0)
    stack = np.cumsum(begins) - 1
    n_stacks = int(np.count_nonzero(begins))
    starting, ending = (
        total(stack, is_there, n_stacks).astype(np.int64)
        for is_there in (place == 0, place == n_cells[which] - 1)
    )
    one = np.ones(len(alone), dtype=np.int64)
    height = np.concatenate([one, np.bincount(stack, minlength=n_stacks)])
    return Stacks(
        node=np.concatenate([alone, node[begins]]),
        group=np.concatenate([group[alone], group[own[begins]]]),
        around=np.full(len(height), -1),
        first=np.concatenate([[0], np.cumsum(height)]),
        length=np.concatenate([(end - start)[alone], length[order]]),
        starting=np.concatenate([one, starting]),
        ending=np.concatenate([one, ending]),
    )


def _with_stacks(found: Structure) -> Structure:
    """Find the stack around each stack."""
    around, _ = linked(found, np.ones(len(found.length)))
    return found._replace(stacks=replace(found.stacks, around=around))


def linked(found: Structure, chance: Floats) -> tuple[Ints, Floats]:
    """Find the stack around each stack, -1 if there is none, and the product of chances up to it.

    Parameters
    ----------
    chance : array of float, shape (nodes,)
        The factor of each node that is left on the way.
    """
    stacks = found.stacks
    around, product = np.full(len(stacks), -1), np.ones(len(stacks))
    if found.is_flat:
        return around, product
    width = int(stacks.group.max(initial=0)) + 1
    code = stacks.node * width + stacks.group
    order = np.argsort(code, kind="stable")
    code = code[order]
    waiting, node = np.arange(len(stacks)), stacks.node
    while len(waiting):
        product[waiting] *= chance[node]
        node = found.parent[node]
        waiting, node = waiting[node >= 0], node[node >= 0]
        wanted = node * width + stacks.group[waiting]
        place = np.minimum(np.searchsorted(code, wanted), len(code) - 1)
        hit = code[place] == wanted
        around[waiting[hit]] = order[place[hit]]
        waiting, node = waiting[~hit], node[~hit]
    return around, product


# --- One line, as a value -----------------------------------------------------


def forest(nodes: dict[int, tuple[int, int, int, int]]) -> Forest:
    """Convert the nodes of a line to sorted trees.

    Parameters
    ----------
    nodes : dict of int to tuple of int
        For each node, after the one around it: that one or -1, its length, what it is compared
        with, its offset.

    Examples
    --------
    >>> forest({0: (-1, 5, 1, FREE), 1: (0, 2, 1, FREE), 2: (-1, 1, 1, FREE)})
    ((0, 1, 1, -1), (0, 5, 1, -1), (1, 2, 1, -1))
    """
    if all(parent < 0 for parent, *_ in nodes.values()):
        return tuple(sorted((0, *row[1:]) for row in nodes.values()))
    inside: dict[int, list[int]] = {-1: []}
    depth = {-1: -1}
    levels: dict[int, list[int]] = {}
    for node, (parent, *_) in nodes.items():
        inside[node] = []
        inside[parent].append(node)
        depth[node] = depth[parent] + 1
        levels.setdefault(depth[node], []).append(node)
    # The rank of a node with all that is in it, among those that have as many around them.
    rank: dict[int, int] = {}
    for level in reversed(levels.values()):
        key = {}
        for node in level:
            inside[node].sort(key=rank.__getitem__)
            key[node] = *nodes[node][1:], tuple(rank[inner] for inner in inside[node])
        ranks = {value: number for number, value in enumerate(sorted(set(key.values())))}
        rank |= {node: ranks[value] for node, value in key.items()}
    found = []
    waiting = sorted(inside[-1], key=rank.__getitem__, reverse=True)
    while waiting:
        node = waiting.pop()
        waiting += reversed(inside[node])
        found.append((depth[node], *nodes[node][1:]))
    return tuple(found)


def written(trees: Forest) -> str:
    """Write a forest as nested tuples: of each tree the length, mark, offset and the trees inside.

    Examples
    --------
    >>> written(((0, 1, 1, -1), (0, 5, 1, -1), (1, 2, 1, -1)))
    '((1, 1, -1, ()), (5, 1, -1, ((2, 1, -1, ()),)))'
    """
    parts, sizes = ["("], [0]
    for depth, length, mark, offset in trees:
        parts += [_closed(sizes.pop()) + ")" for _ in range(len(sizes) - 1 - depth)]
        parts.append(f"{', ' if sizes[-1] else ''}({length}, {mark}, {offset}, (")
        sizes[-1] += 1
        sizes.append(0)
    parts += [_closed(sizes.pop()) + ")" for _ in range(len(sizes) - 1)]
    return "".join([*parts, _closed(sizes.pop())])


def _closed(size: int) -> str:
    """Return how Python ends a tuple of this size."""
    return ",)" if size == 1 else ")"


class Nodes(NamedTuple):
    """The nodes of one line, each after the one around it.

    Attributes
    ----------
    length : array of int, shape (nodes,)
    parent : array of int, shape (nodes,)
        The node in which each lies; -1 for the text.
    offset : array of int, shape (nodes,)
        Where it is fixed in there; `FREE` if it is placed at random.
    """

    length: Ints
    parent: Ints
    offset: Ints


def flattened(trees: Forest) -> tuple[Nodes, Ints]:
    """Invert `forest`: list the nodes of a line, and what each is compared with.

    Examples
    --------
    >>> nodes, marks = flattened(((0, 1, 1, -1), (0, 5, 1, -1), (1, 2, 1, -1)))
    >>> nodes.length.tolist(), nodes.parent.tolist()
    ([1, 5, 2], [-1, -1, 1])
    """
    depth, length, marks, offset = np.array(trees).T
    # Level by level; a node lies in the last before it that has one less around it.
    order = np.argsort(depth, kind="stable")
    number = np.empty_like(order)
    number[order] = np.arange(len(order))
    parent, path = np.full(len(order), -1), [-1] * (int(depth.max(initial=0)) + 2)
    for node, level in enumerate(depth.tolist()):
        parent[number[node]] = path[level]
        path[level + 1] = int(number[node])
    return Nodes(length[order], parent, offset[order]), marks[order]
