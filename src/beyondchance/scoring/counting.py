"""From spans to counts: who is compared with whom, what matched, what luck would match."""

from __future__ import annotations

from collections.abc import Callable
from dataclasses import dataclass
from functools import cache
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.corpus import Corpus, kept
from beyondchance.core.lengths import tabulate
from beyondchance.core.measures import Measure, Rule, SampledRule
from beyondchance.core.nesting import Forest, Nesting, depth_among, forest, outer_first
from beyondchance.core.observed import SpanGroups
from beyondchance.core.ragged import bounds, distinct, exact_total, rounded, spread
from beyondchance.core.sets import SpanSets, sets_of_spans, whole_lines
from beyondchance.results.counts import Counts
from beyondchance.scoring.marks import Marked
from beyondchance.types import Bools, Floats, Ints

_NEAR = 1e-6
"""How close, relative to it, an expected match comes to its limit before it is asked
whether it reaches it."""
_REACHED = 1e-12
"""The same, if there is nobody to ask."""


@dataclass(frozen=True, slots=True)
class Layers:
    """Groups of spans, cut into layers that are compared with one another.

    Attributes
    ----------
    spans : Marked
    nesting : Nesting
    overlapping : bool
        Whether random spans may overlap; then how the spans lie does not matter.
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
    nesting: Nesting
    overlapping: bool
    layer: Ints
    first: Ints
    groups: SpanGroups
    size: Floats

    def line(self) -> Ints:
        """The spans that are shuffled together; with overlap nobody is in anybody's way."""
        return self.spans.owner() if self.overlapping else self.spans.line


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


def counted(
    spans: Marked,
    nesting: Nesting,
    measure: Measure,
    rule: Rule | SampledRule,
    *,
    overlapping: bool,
    gold: int | None = None,
    with_self: bool = False,
) -> Counts:
    """Count matches, observed and expected, of every pair in every text.

    Parameters
    ----------
    spans, nesting
        What was marked, and how it lies.
    measure, rule
        What counts as match, and how it is computed.
    overlapping : bool
        Whether random spans may overlap.
    gold : int, optional
        The annotator with whom all others are compared; by default with one another.
    with_self : bool
        Whether each annotator is also paired with itself, as difficulty asks.
    """
    corpus = spans.corpus
    compared = compared_documents(corpus, gold=gold, with_self=with_self)
    cell, a, b, group_a, group_b = _pairs(spans, gold=gold, with_self=with_self)
    text, label = np.divmod(cell, max(len(spans.labels), 1))
    layers = layers_of(spans, nesting, measure, overlapping=overlapping)
    both = np.flatnonzero((group_a >= 0) & (group_b >= 0))
    found = _matches(layers, measure, rule, group_a[both], group_b[both])

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
    matched, expected, certain = map(in_rows, (found.matched, found.expected, found.certain))
    return Counts(
        documents=kept(corpus.documents, compared),
        fields={name: kept(values, compared) for name, values in corpus.fields.items()},
        n_texts=len(corpus.text_length),
        labels=spans.labels,
        annotators=corpus.annotators,
        pairs=_sharing(corpus, compared, gold=gold, with_self=with_self),
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
        # Who marked nothing left nothing unmatched.
        certain_a=certain[1] | (group_a < 0),
        certain_b=certain[2] | (group_b < 0),
        matched_a=matched[1] if measure.own_sides else None,
        matched_b=matched[2] if measure.own_sides else None,
        expected_a=expected[1] if measure.own_sides else None,
        expected_b=expected[2] if measure.own_sides else None,
        error=None if found.error is None else in_rows(found.error),
        stream=None if found.stream is None else in_rows(found.stream),
    )


# --- Who is compared with whom ------------------------------------------------


def compared_documents(corpus: Corpus, *, gold: int | None, with_self: bool) -> Bools:
    """Which documents have two annotators, or one to be compared with itself."""
    teams = np.bincount(corpus.annotation_document, minlength=len(corpus.documents))
    compared = np.asarray(teams >= (1 if with_self else 2))
    if gold is not None:
        seen = corpus.annotation_document[corpus.annotation_annotator == gold]
        compared &= np.isin(np.arange(len(compared)), seen)
    return compared


def _pairs(
    spans: Marked, *, gold: int | None, with_self: bool
) -> tuple[Ints, Ints, Ints, Ints, Ints]:
    """Pair the annotators of each text and label in which somebody marked something.

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
    corpus = spans.corpus
    n_labels, n_annotators = max(len(spans.labels), 1), max(len(corpus.annotators), 1)
    cells, cell_of_group = distinct(spans.text * n_labels + spans.label)
    document = corpus.text_document[cells // n_labels]
    first = bounds(corpus.annotation_document, len(corpus.documents))
    team = np.diff(first)[document]
    listed = corpus.annotation_document * n_annotators + corpus.annotation_annotator
    slot = (
        np.searchsorted(listed, corpus.text_document[spans.text] * n_annotators + spans.annotator)
        - first[corpus.text_document[spans.text]]
    )
    parts = []
    for size in distinct(team)[0].tolist():
        here = np.flatnonzero(team == size)
        number = np.full(len(cells), -1)
        number[here] = np.arange(len(here))
        group = np.full((len(here), size), -1)
        mine = np.flatnonzero(number[cell_of_group] >= 0)
        group[number[cell_of_group[mine]], slot[mine]] = mine
        who = corpus.annotation_annotator[first[document[here]][:, None] + np.arange(size)]
        left, right = np.triu_indices(size, 0 if with_self else 1)
        rows = [np.repeat(cells[here], len(left))]
        rows += [column[:, side].reshape(-1) for column in (who, group) for side in (left, right)]
        wanted = (rows[3] >= 0) | (rows[4] >= 0)
        if gold is not None:
            wanted &= (rows[1] == gold) | (rows[2] == gold)
        marked = np.flatnonzero(wanted)
        parts.append([column[marked] for column in rows])
    if not parts:
        parts = [[np.zeros(0, dtype=np.int64)] * 5]
    joined = [np.concatenate(columns) for columns in zip(*parts, strict=True)]
    order = np.argsort(joined[0], kind="stable")
    cell, a, b, group_a, group_b = (column[order] for column in joined)
    return cell, a, b, group_a, group_b


def _sharing(corpus: Corpus, compared: Bools, *, gold: int | None, with_self: bool) -> Ints:
    """The pairs of annotators who share a document compared, shape (2, pairs)."""
    n_annotators = max(len(corpus.annotators), 1)
    first = bounds(corpus.annotation_document, len(corpus.documents))
    team = np.where(compared, np.diff(first), 0)
    codes = [np.zeros(0, dtype=np.int64)]
    for size in np.flatnonzero(np.bincount(team[compared])).tolist():
        who = corpus.annotation_annotator[first[:-1][team == size][:, None] + np.arange(size)]
        # Everybody together is one team, and other large teams are likely to recur.
        if size == n_annotators:
            who = who[:1]
        elif size > 8:
            who = np.unique(who, axis=0)
        left, right = np.triu_indices(size, 0 if with_self else 1)
        codes.append((who[:, left] * n_annotators + who[:, right]).reshape(-1))
    pairs = np.stack(np.divmod(distinct(np.concatenate(codes))[0], n_annotators))
    return pairs if gold is None else pairs[:, (pairs == gold).any(axis=0)]


# --- What is compared ---------------------------------------------------------


def layers_of(spans: Marked, nesting: Nesting, measure: Measure, *, overlapping: bool) -> Layers:
    """Cut the groups into layers, if the measure looks at layers."""
    group = spans.owner()
    if overlapping or not measure.by_layer or int(nesting.depth.max(initial=1)) == 1:
        layer = np.ones_like(group)
        first = np.arange(len(spans.text) + 1)
        groups = SpanGroups(spans.first, spans.start, spans.end)
        owner = group
    else:
        layer = depth_among(group, nesting.parent, nesting.depth)
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
    return Layers(spans, nesting, overlapping, layer, first, groups, size)


def _sets(layers: Layers) -> tuple[SpanSets, Ints]:
    """What chance depends on: the sets of spans, and the set of each layer."""
    spans, depth = layers.spans, layers.nesting.depth
    group, length = spans.owner(), spans.end - spans.start
    n = spans.corpus.text_length[spans.text]
    n_lines = int(spans.line.max(initial=-1)) + 1
    if layers.overlapping or (n_lines == len(n) and int(depth.max(initial=1)) == 1):
        table, entry = tabulate(n, group, length)
        return whole_lines(table), entry
    line_size = np.zeros(n_lines, dtype=np.int64)
    line_size[spans.line] = n[group]
    owner = layers.first[group] + layers.layer - 1
    return sets_of_spans(
        line_size, spans.line, length, owner, parent=layers.nesting.parent, depth=depth
    )


def trees_on_lines(layers: Layers) -> Callable[[int, Callable[[Ints], Ints]], Forest]:
    """A function of a line that gives all that stands on it, as trees.

    It asks another function what each of some spans is compared with.
    """
    spans, line = layers.spans, layers.line()
    length = spans.end - spans.start
    parent = np.full_like(line, -1) if layers.overlapping else layers.nesting.parent
    order = outer_first(line, spans.start, spans.end)
    first = bounds(line[order], int(line.max(initial=-1)) + 1)

    def on_line(which: int, compared_with: Callable[[Ints], Ints]) -> Forest:
        members = order[first[which] : first[which + 1]]
        columns = parent[members], length[members], compared_with(members)
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return forest(dict(zip(members.tolist(), rows, strict=True)))

    return on_line


def _forests(layers: Layers) -> Callable[[int], Forest]:
    """A function that gives all that stands on the line of a group, as trees."""
    group, line, trees = layers.spans.owner(), layers.line(), trees_on_lines(layers)

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
    # Whoever has a layer that the other lacks has something unmatched.
    needed = np.array([np.maximum(n_layers[a], n_layers[b]), n_layers[a], n_layers[b]])
    return Matches(matched, expected, _added(pair, certain.astype(np.float64), len(a)) == needed)


def _added(owner: Ints, values: NDArray[Any], n_rows: int) -> NDArray[Any]:
    """Sum multiples of 2**-52 over the columns of each owner, if any has several."""
    if len(owner) == n_rows:
        return values
    return np.array([rounded(exact_total(owner, row, n_rows)) for row in values])


def _expected(layers: Layers, rule: Rule, left: Ints, right: Ints) -> tuple[Floats, Bools]:
    """Expected match of pairs of layers, and whether chance is 1."""
    sets, number = _sets(layers)
    i, j = number[left], number[right]
    # Equal problems are solved once, and alike for (a, b) and (b, a).
    low, high, swapped = np.minimum(i, j), np.maximum(i, j), i > j
    code, problem = distinct(low * len(sets) + high)
    solved = np.atleast_2d(rule.expected(sets, *np.divmod(code, len(sets))))
    expected = _sided(solved, problem, swapped)

    sizes = np.array([layers.size[left], layers.size[right]])
    limits = np.array([sizes.mean(axis=0), *sizes])
    if rule.certain is None:
        return expected, np.asarray(limits - expected <= _REACHED * limits)
    near = np.flatnonzero((limits - expected <= _NEAR * limits).any(axis=0))
    certain = np.zeros((3, len(code)), dtype=bool)
    if len(near):
        trees = _forests(layers)
        group = np.searchsorted(layers.first, np.arange(len(layers.size)), side="right") - 1
        # Any pair of layers stands for its problem; here it is the last one.
        for which, row in dict(zip(problem[near].tolist(), near.tolist(), strict=True)).items():
            sides = (right[row], left[row]) if swapped[row] else (left[row], right[row])
            one, two = (trees(int(group[side])) for side in sides)
            layer = int(left[row] - layers.first[group[left[row]]]) + 1
            certain[:, which] = rule.certain(int(sets.n[low[row]]), one, two, layer)
    return expected, _sided(certain, problem, swapped)


def _sided(solved: NDArray[Any], problem: Ints, swapped: Bools) -> NDArray[Any]:
    """What was found for each problem, with side a and side b as they were asked."""
    found = solved[:, problem]
    if len(found) > 1:
        found[1:, swapped] = found[:0:-1, swapped]
    return found


def _estimated(layers: Layers, rule: SampledRule, a: Ints, b: Ints, matched: Floats) -> Matches:
    """Estimates from random arrangements; equal questions are asked once."""
    trees = _forests(layers)
    n = layers.spans.corpus.text_length[layers.spans.text[a]]
    ask = cache(rule.estimate)
    questions = (
        (size, *sorted((trees(one), trees(two))))
        for size, one, two in zip(n.tolist(), a.tolist(), b.tolist(), strict=True)
    )
    found = [ask(*question) for question in questions]
    least = np.array([estimate.least for estimate in found])
    n_spans = np.diff(layers.spans.first)
    of_a, of_b = least == n_spans[a], least == n_spans[b]
    return Matches(
        matched=matched,
        expected=rounded(np.array([[estimate.mean for estimate in found]])),
        certain=np.array([of_a & of_b, of_a, of_b]),
        error=np.array([estimate.error for estimate in found]),
        stream=np.array([estimate.stream for estimate in found]),
    )
