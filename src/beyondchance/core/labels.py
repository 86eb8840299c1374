"""Labels on places that two annotators share, and how many agree if labels are permuted.

A *place* is where spans can have the same label: a stretch of positions that no span
boundary cuts, or a pair of offsets. A *mark* is one label of one span at one place.
"""

from __future__ import annotations

from collections.abc import Callable, Mapping

import numpy as np

from beyondchance.core.ragged import blocks, bounds, distinct, members, spread
from beyondchance.types import Floats, Ints
from beyondchance.values import internal

_MOST_CELLS = 2**17
"""Probabilities that are held at a time."""


def cut_at_boundaries(text: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Cut spans wherever a span of the same text begins or ends.

    Returns
    -------
    span, place : arrays of int, shape (pieces,)
        The span of each piece, and the stretch of text that it covers.
    width : array of int, shape (places,)
        Positions of each stretch.

    Examples
    --------
    [0, 4) is cut where [2, 6) begins.

    >>> text = np.zeros(2, dtype=int)
    >>> span, place, width = cut_at_boundaries(text, np.array([0, 2]), np.array([4, 6]))
    >>> span.tolist(), place.tolist(), width[place].tolist()
    ([0, 0, 1, 1], [0, 1, 1, 2], [2, 2, 2, 2])
    """
    edge, first, last = _edges(text, start, end)
    span, place = spread(last - first)
    return span, first[span] + place, np.diff(edge, append=0)


def n_pieces_of(text: Ints, start: Ints, end: Ints) -> Ints:
    """Count the pieces that `cut_at_boundaries` makes of each span.

    Examples
    --------
    >>> n_pieces_of(np.zeros(2, dtype=int), np.array([0, 2]), np.array([4, 6])).tolist()
    [2, 2]
    """
    _, first, last = _edges(text, start, end)
    return last - first


def _edges(text: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Find all positions at which spans begin or end, and the numbers of those of each span."""
    stride = int(end.max(initial=0)) + 1
    edge, number = distinct(np.concatenate([text * stride + start, text * stride + end]))
    first, last = number.reshape(2, -1)
    return edge, first, last


def offset_pairs(text: Ints, start: Ints, end: Ints) -> tuple[Ints, Ints, Ints]:
    """Number the distinct offsets of spans: the same as above, where only equal spans meet.

    Examples
    --------
    >>> text = np.zeros(3, dtype=int)
    >>> span, place, width = offset_pairs(text, np.array([0, 2, 0]), np.array([4, 6, 4]))
    >>> span.tolist(), place.tolist(), width.tolist()
    ([0, 1, 2], [0, 1, 0], [1, 1])
    """
    stride = int(end.max(initial=0)) + 1
    begin = distinct(text * stride + start)[1]
    offsets, place = distinct(begin * stride + end)
    return np.arange(len(place)), place, np.ones(len(offsets), dtype=np.int64)


PLACES: Mapping[str, Callable[[Ints, Ints, Ints], tuple[Ints, Ints, Ints]]] = {
    "token": cut_at_boundaries,
    "exact": offset_pairs,
}
"""Where spans can have the same label, by measure."""


@internal
class LabelSets:
    """The labels of every annotator at every place: a set for each annotator and place.

    A label can be in a set several times, of spans that overlap.

    Attributes
    ----------
    place, annotator : arrays of int, shape (sets,)
        Ascending by place, then annotator.
    n_spans, n_marks : arrays of int, shape (sets,)
        How many different spans, and how many labels on them.
    first : array of int, shape (sets + 1,)
        Set s has the labels ``first[s]:first[s + 1]``.
    label, count : arrays of int, shape (labels of all sets,)
        Which labels each set has, ascending, and how often.
    n_labels : int
    of_mark : array of int, shape (marks,)
        The set of each mark.
    """

    place: Ints
    annotator: Ints
    n_spans: Ints
    n_marks: Ints
    first: Ints
    label: Ints
    count: Ints
    n_labels: int
    of_mark: Ints

    def marks(self, chosen: Ints, other: Ints) -> tuple[Ints, Ints, Ints, Ints]:
        """List the labels of the sets chosen, next to those of one other set each.

        Returns
        -------
        which, label, count, alike : arrays of int
            Which of the sets chosen, a label that it has, how often, and how many of these
            the other set has as well.
        """
        owner = np.repeat(np.arange(len(self.place)), np.diff(self.first))
        which, mine = members(self.first, chosen)
        wanted = other[which] * self.n_labels + self.label[mine]
        theirs = looked_up(owner * self.n_labels + self.label, self.count, wanted)
        count = self.count[mine]
        return which, self.label[mine], count, np.minimum(count, theirs)


def label_sets(
    place: Ints, annotator: Ints, label: Ints, offsets: Ints, n_labels: int
) -> LabelSets:
    """Gather marks by place and annotator.

    Parameters
    ----------
    place, annotator, label, offsets : arrays of int, shape (marks,)
        `offsets` are equal for labels of one and the same span.
    n_labels : int

    Examples
    --------
    At one place annotator 0 has a span with two labels and annotator 1 a span with one of them.

    >>> zeros = np.zeros(3, dtype=int)
    >>> sets = label_sets(zeros, np.array([0, 0, 1]), np.array([0, 1, 1]), zeros, 2)
    >>> sets.n_spans.tolist(), sets.n_marks.tolist()
    ([1, 1], [2, 1])
    >>> [part.tolist() for part in sets.marks(np.array([0]), np.array([1]))]
    [[0, 0], [0, 1], [1, 1], [0, 1]]
    """
    n_annotators = int(annotator.max(initial=0)) + 1
    code, number_of_set = distinct(place * n_annotators + annotator)
    cell, number = distinct(number_of_set * n_labels + label)
    n_offsets = int(offsets.max(initial=0)) + 1
    spans = distinct(number_of_set * n_offsets + offsets)[0] // n_offsets
    return LabelSets(
        place=code // n_annotators,
        annotator=code % n_annotators,
        n_spans=np.bincount(spans, minlength=len(code)),
        n_marks=np.bincount(number_of_set, minlength=len(code)),
        first=bounds(cell // n_labels, len(code)),
        label=cell % n_labels,
        count=np.bincount(number),
        n_labels=n_labels,
        of_mark=number_of_set,
    )


def looked_up(known: Ints, values: Ints, wanted: Ints) -> Ints:
    """Look up the values of wanted keys among known keys, which ascend; 0 for unknown keys.

    Examples
    --------
    >>> looked_up(np.array([2, 5]), np.array([7, 9]), np.array([5, 6, 2])).tolist()
    [9, 0, 7]
    """
    if not len(known):
        return np.zeros_like(wanted)
    number = np.minimum(np.searchsorted(known, wanted), len(known) - 1)
    return np.where(known[number] == wanted, values[number], 0)


def expected_alike(drawn_a: Ints, drawn_b: Ints, pool_a: Floats, pool_b: Floats) -> Floats:
    r"""Compute the expected number of marks of one label that two random sets share.

    Each side draws its set from its own pool of marks, without replacement, so that the
    number of marks with the label is hypergeometric. The smaller of two independent numbers
    has the mean :math:`\sum_{r \ge 1} P(H_A \ge r) P(H_B \ge r)`.

    Parameters
    ----------
    drawn_a, drawn_b : arrays of int, shape (problems,)
        How many marks each side draws.
    pool_a, pool_b : arrays of float, shape (2, problems)
        How many marks of the pool have the label, and how many there are.

    Examples
    --------
    One mark each, of which 1 in 2 and 3 in 4 have the label.

    >>> one, two = np.array([[1], [2]]), np.array([[3], [4]])
    >>> expected_alike(np.array([1]), np.array([1]), one, two).tolist()
    [0.375]
    """
    # Problems of about as many marks together, so that few of them need many steps.
    deepest = np.maximum(drawn_a, drawn_b)
    order = np.argsort(deepest, kind="stable")
    alike = np.zeros(len(order))
    for block in blocks(deepest[order] + 1, _MOST_CELLS):
        some = order[block]
        a, b = (
            _at_least(drawn[some], *pool[:, some])
            for drawn, pool in ((drawn_a, pool_a), (drawn_b, pool_b))
        )
        most = min(len(a), len(b))
        # One after the other: a sum of a single column would be added up in another order.
        for one, two in zip(a[1:most], b[1:most], strict=True):
            alike[some] += one * two
    return alike


def _at_least(drawn: Ints, with_label: Floats, of_all: Floats) -> Floats:
    """Compute how likely 0, 1, ... marks or more have the label, shape (drawn + 1, problems)."""
    most = int(drawn.max(initial=0))
    share = np.zeros((most + 1, len(drawn)))
    share[0] = 1
    # One mark after the other; every term is positive, so nothing is lost.
    had = np.arange(most + 1)[:, None]
    for before in range(most):
        left = np.maximum(of_all - before, 1)
        more = np.maximum(with_label - had, 0) / left * share
        same = np.maximum(of_all - with_label - (before - had), 0) / left * share
        same[1:] += more[:-1]
        share = np.where(before < drawn, same, share)
    return share[::-1].cumsum(axis=0)[::-1]
