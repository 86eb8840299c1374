"""From spans to counts: who is compared with whom, what matched, what would match by chance.

Everything is arrays over four kinds of things. A *group* is the spans of one annotator with one
label in one text; a *layer* is the spans of a group at one depth, which are disjoint; a *row*
of the counts is a text, a label and two annotators, and so at most two groups; a *problem* is
what an expectation depends on, two sets of spans by their lengths, which many rows share.
"""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.names import kept
from beyondchance.annotations.pairs import SharedDocuments, annotation_numbers
from beyondchance.core.exact import exact_total, rounded
from beyondchance.core.lengths import tabulate
from beyondchance.core.measures import Measure, Rule, SampledRule
from beyondchance.core.models import Model
from beyondchance.core.nesting import Forest, depth_among, forest, outer_first
from beyondchance.core.observed import SpanGroups
from beyondchance.core.ragged import bounds, distinct, spread, starts
from beyondchance.core.sets import SpanSets, sets_of_spans, whole_lines
from beyondchance.results.counts import Counts
from beyondchance.scoring.marks import Marked
from beyondchance.scoring.options import Scoring
from beyondchance.types import Bools, Floats, Ints

_NEAR = 1e-6
"""How close, relative to it, an expected match comes to its limit before integers decide
whether it reaches it."""
_REACHED = 1e-12
"""How close it comes where no function decides, and it counts as reached."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Groups of spans, cut into layers that are compared with one another.

    Attributes
    ----------
    spans : Marked
    line, parent, depth : arrays of int, shape (spans,)
        How the spans are placed: with which others, in which of them (-1 for the text), and
        inside how many, itself included.
    layer : array of int, shape (spans,)
        The layer of each span in its group, from 1 on.
    first : array of int, shape (groups + 1,)
        Group g has the layers ``first[g]:first[g + 1]``.
    groups : SpanGroups
        The spans of each layer.
    size : array of float, shape (layers,)
        How much the spans of each layer count.
    """

    spans: Marked
    line: Ints
    parent: Ints
    depth: Ints
    layer: Ints
    first: Ints
    groups: SpanGroups
    size: Floats


@dataclass(frozen=True, slots=True)
class Matches:
    """What pairs of groups have in common; a column for each pair.

    Attributes
    ----------
    matched, expected : arrays of float, shape (1, pairs) or (3, pairs)
        The match; where precision and recall have their own, also that of side a and
        that of side b.
    certain : array of bool, shape (3, pairs)
        Whether chance is 1: for F1, for side a, for side b.
    error, stream : arrays, shape (pairs,), optional
        Of estimates, the standard error and the stream of random numbers.
    """

    matched: Floats
    expected: Floats
    certain: Bools
    error: Floats | None = None
    stream: Ints | None = None


def counted(spans: Marked, shared: SharedDocuments, scoring: Scoring, model: Model) -> Counts:
    """Count matches, observed and expected, of every pair in every text.

    Parameters
    ----------
    spans : Marked
        What was marked; the model has to allow it.
    shared : SharedDocuments
        Who is compared with whom.
    scoring, model
        What counts as match, and how random spans are placed.
    """
    corpus, compared, measure = spans.corpus, shared.compared, scoring.measure
    cell, a, b, group_a, group_b = _rows(spans, shared)
    text, label = np.divmod(cell, max(len(spans.labels), 1))
    layers = layers_of(spans, measure, model)
    both = np.flatnonzero((group_a >= 0) & (group_b >= 0))
    matches = _matches(layers, measure, scoring.rule(model), group_a[both], group_b[both])

    def in_rows(values: NDArray[Any]) -> NDArray[Any]:
        """Nothing is in common where one of the two marked nothing."""
        rows = np.zeros((*values.shape[:-1], len(cell)), dtype=values.dtype)
        rows[..., both] = values
        return rows

    def of_group(values: NDArray[Any], group: Ints) -> NDArray[Any]:
        return np.where(group >= 0, values[group], 0) if len(values) else np.zeros_like(group)

    group = np.repeat(np.arange(len(spans.text)), np.diff(layers.first))
    size = _added(group, layers.size[None], len(spans.text))[0]
    n_spans = np.diff(spans.first)
    matched, expected, certain = map(in_rows, (matches.matched, matches.expected, matches.certain))
    return Counts(
        documents=kept(corpus.documents, compared),
        fields={name: kept(values, compared) for name, values in corpus.fields.items()},
        n_texts=len(corpus.text_length),
        labels=spans.labels,
        annotators=corpus.annotators,
        pairs=shared.annotators,
        document=(np.cumsum(compared) - 1)[corpus.text_document[text]],
        text=text,
        label=label,
        a=a,
        b=b,
        matched=matched[0],
        expected=expected[0],
        size_a=of_group(size, group_a).astype(np.float64),
        size_b=of_group(size, group_b).astype(np.float64),
        spans_a=of_group(n_spans, group_a),
        spans_b=of_group(n_spans, group_b),
        certain=certain[0],
        # An annotator who marked nothing leaves nothing unmatched.
        certain_a=certain[1] | (group_a < 0),
        certain_b=certain[2] | (group_b < 0),
        matched_a=matched[1] if measure.own_sides else None,
        matched_b=matched[2] if measure.own_sides else None,
        expected_a=expected[1] if measure.own_sides else None,
        expected_b=expected[2] if measure.own_sides else None,
        error=None if matches.error is None else in_rows(matches.error),
        stream=None if matches.stream is None else in_rows(matches.stream),
    )


# --- Who is compared with whom ------------------------------------------------


def _rows(spans: Marked, shared: SharedDocuments) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Pair the annotators of each text and label in which an annotator marked something.

    The cost follows the pairs that share a document, not all pairs there are.

    Returns
    -------
    cell : array of int, shape (rows,)
        ``text * labels + label``, ascending.
    a, b : arrays of int
        Annotators; ``a < b``, or ``a <= b`` with each paired with itself.
    group_a, group_b : arrays of int
        Their groups of spans; -1 where one marked nothing.
    """
    corpus, n_labels = spans.corpus, max(len(spans.labels), 1)
    cells, cell_of_group = distinct(spans.text * n_labels + spans.label)
    document = corpus.text_document[cells // n_labels]
    # Each cell has a place for each annotation of its document: who marked something there puts
    # the number of the group into it. `place + annotation` is where that is.
    first = bounds(corpus.annotation_document, len(corpus.documents))
    team = np.diff(first)[document]
    place = starts(team) - first[document]
    group_at = np.full(int(team.sum()), -1)
    annotation = annotation_numbers(corpus, spans.text, spans.annotator)
    group_at[place[cell_of_group] + annotation] = np.arange(len(spans.text))
    # Every cell with every pair of its document; rows in which neither marked anything go.
    cell, pair = spread(np.diff(shared.first)[document])
    pair += shared.first[document][cell]
    one, two = shared.one[pair], shared.two[pair]
    group_a, group_b = group_at[place[cell] + one], group_at[place[cell] + two]
    wanted = np.flatnonzero((group_a >= 0) | (group_b >= 0))
    who = corpus.annotation_annotator
    a, b = who[one[wanted]], who[two[wanted]]
    return cells[cell[wanted]], a, b, group_a[wanted], group_b[wanted]


# --- What is compared ---------------------------------------------------------


def layers_of(spans: Marked, measure: Measure, model: Model) -> Layers:
    """Cut the groups into layers, if the measure compares layers and the model has them."""
    group = spans.owner()
    if model.is_independent:
        line, parent, depth = group, np.full_like(group, -1), np.ones_like(group)
    else:
        line, parent, depth = spans.line, spans.nesting.parent, spans.nesting.depth
    if not measure.by_layer or int(depth.max(initial=1)) == 1:
        layer = np.ones_like(group)
        first = np.arange(len(spans.text) + 1)
        groups = SpanGroups(spans.first, spans.start, spans.end)
        owner = group
    else:
        layer = depth_among(group, parent, depth)
        n_layers = np.zeros(len(spans.text), dtype=np.int64)
        np.maximum.at(n_layers, group, layer)
        first = np.concatenate([[0], np.cumsum(n_layers)])
        owner = first[group] + layer - 1
        order = np.argsort(owner, kind="stable")
        groups = SpanGroups(
            bounds(owner[order], int(first[-1])), spans.start[order], spans.end[order]
        )
    size = exact_total(
        owner, rounded(np.asarray(measure.size(spans.end - spans.start))), len(groups)
    )
    return Layers(spans, line, parent, depth, layer, first, groups, size)


def _sets(layers: Layers) -> tuple[SpanSets, Ints]:
    """What chance depends on: the sets of spans, and the set of each layer."""
    spans = layers.spans
    group, length = spans.owner(), spans.end - spans.start
    n = spans.corpus.text_length[spans.text]
    n_lines = int(layers.line.max(initial=-1)) + 1
    # The usual case: every group has a line of its own, and no span lies in another.
    if n_lines == len(n) and int(layers.depth.max(initial=1)) == 1:
        table, entry = tabulate(n, group, length)
        return whole_lines(table), entry
    line_size = np.zeros(n_lines, dtype=np.int64)
    line_size[layers.line] = n[group]
    owner = layers.first[group] + layers.layer - 1
    return sets_of_spans(
        line_size, layers.line, length, owner, parent=layers.parent, depth=layers.depth
    )


def trees_on_lines(layers: Layers) -> Callable[[int, Callable[[Ints], Ints]], Forest]:
    """A function of a line that gives all spans on it, as trees.

    Its second argument is a function of spans: what each of them is compared with.
    """
    spans, line = layers.spans, layers.line
    length = spans.end - spans.start
    order = outer_first(line, spans.start, spans.end)
    first = bounds(line[order], int(line.max(initial=-1)) + 1)

    def on_line(which: int, compared_with: Callable[[Ints], Ints]) -> Forest:
        members = order[first[which] : first[which + 1]]
        columns = layers.parent[members], length[members], compared_with(members)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return forest(dict(zip(members.tolist(), rows, strict=True)))

    return on_line


def _forests(layers: Layers) -> Callable[[int], Forest]:
    """A function of a group that gives all spans on its line, as trees."""
    group, line, trees = layers.spans.owner(), layers.line, trees_on_lines(layers)

    @cache
    def of_group(which: int) -> Forest:
        def layer(members: Ints) -> Ints:
            return np.where(group[members] == which, layers.layer[members], 0)

        return trees(int(line[layers.spans.first[which]]), layer)

    return of_group


# --- What they have in common -------------------------------------------------


def _matches(
    layers: Layers, measure: Measure, rule: Rule | SampledRule, a: Ints, b: Ints
) -> Matches:
    """What groups a and b have in common, pair by pair."""
    if not len(a):
        nothing, never = np.zeros((3 if measure.own_sides else 1, 0)), np.zeros((3, 0), dtype=bool)
        if isinstance(rule, SampledRule):
            return Matches(nothing, nothing, never, np.zeros(0), np.zeros(0, dtype=np.int64))
        return Matches(nothing, nothing, never)
    n_layers = np.diff(layers.first)
    pair, place = spread(np.minimum(n_layers[a], n_layers[b]))
    left, right = layers.first[a][pair] + place, layers.first[b][pair] + place
    matched = np.atleast_2d(rule.matched(layers.groups, left, right)).astype(np.float64)
    matched = _added(pair, matched, len(a))
    if isinstance(rule, SampledRule):
        return _estimated(layers, rule, a, b, matched)
    expected, certain = _expected(layers, rule, left, right)
    expected = _added(pair, rounded(expected), len(a))
    # An annotator with a layer that the other lacks has spans there that nothing matches.
    needed = np.array([np.maximum(n_layers[a], n_layers[b]), n_layers[a], n_layers[b]])
    return Matches(matched, expected, _added(pair, certain.astype(np.float64), len(a)) == needed)


def _added(owner: Ints, values: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """Sum multiples of 2**-52 over the columns of each owner, if any has several."""
    if len(owner) == n_rows:
        return values
    return np.array([rounded(exact_total(owner, row, n_rows)) for row in values])


def _expected(layers: Layers, rule: Rule, left: Ints, right: Ints) -> tuple[Floats, Bools]:
    """Expected match of pairs of layers, and whether chance is 1.

    Equal problems are solved once, and with the sides in one order, so that (a, b) and (b, a)
    have the same digits.
    """
    sets, number = _sets(layers)
    i, j = number[left], number[right]
    low, high, swapped = np.minimum(i, j), np.maximum(i, j), i > j
    code, problem = distinct(low * len(sets) + high)
    solved = np.atleast_2d(rule.expected(sets, *np.divmod(code, len(sets))))
    expected = _sided(solved, problem, swapped)

    # F1 is at most the mean of the two sizes, precision and recall at most one of them. A floating
    # point number that comes near its limit may have reached it or not: that is asked of integers.
    sizes = np.array([layers.size[left], layers.size[right]])
    limits = np.array([sizes.mean(axis=0), *sizes])
    if rule.certain is None:
        return expected, np.asarray(limits - expected <= _REACHED * limits)
    near = np.flatnonzero((limits - expected <= _NEAR * limits).any(axis=0))
    certain = np.zeros((3, len(code)), dtype=bool)
    if len(near):
        trees = _forests(layers)
        group = np.searchsorted(layers.first, np.arange(len(layers.size)), side="right") - 1
        # Any pair of layers may represent its problem; here it is the last one.
        for which, row in dict(zip(problem[near].tolist(), near.tolist(), strict=True)).items():
            sides = (right[row], left[row]) if swapped[row] else (left[row], right[row])
            one, two = (trees(int(group[side])) for side in sides)
            layer = int(left[row] - layers.first[group[left[row]]]) + 1
            certain[:, which] = rule.certain(int(sets.n[low[row]]), one, two, layer)
    return expected, _sided(certain, problem, swapped)


def _sided(solved: NDArray[Any], problem: Ints, swapped: Bools) -> NDArray[Any]:
    """The solution of each problem, with side a and side b exchanged where they were swapped."""
    solution = solved[:, problem]
    if len(solution) > 1:
        solution[1:, swapped] = solution[:0:-1, swapped]
    return solution


def _estimated(layers: Layers, rule: SampledRule, a: Ints, b: Ints, matched: Floats) -> Matches:
    """Estimates from random arrangements; equal problems are estimated once."""
    trees = _forests(layers)
    n = layers.spans.corpus.text_length[layers.spans.text[a]]
    estimated = cache(rule.estimate)
    problems = (
        (size, *sorted((trees(one), trees(two))))
        for size, one, two in zip(n.tolist(), a.tolist(), b.tolist(), strict=True)
    )
    estimates = [estimated(*problem) for problem in problems]
    # Chance is taken to be 1 where no draw left a span without a partner.
    least = np.array([estimate.least for estimate in estimates])
    n_spans = np.diff(layers.spans.first)
    of_a, of_b = least == n_spans[a], least == n_spans[b]
    return Matches(
        matched=matched,
        expected=rounded(np.array([[estimate.mean for estimate in estimates]])),
        certain=np.array([of_a & of_b, of_a, of_b]),
        error=np.array([estimate.error for estimate in estimates]),
        stream=np.array([estimate.stream for estimate in estimates]),
    )
