"""From spans to counts: who is compared with whom, what matched, what would match by chance.

Everything is arrays over three kinds of things. A *group* is the spans of one annotator with one
label in one text; a *row* of the counts is a text, a label and two annotators, and so at most two
groups; a *problem* is what an expectation depends on, two sets of spans by their lengths, which
many rows share.
"""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from dataclasses import replace
from functools import cache, cached_property, partial
from typing import Any, NamedTuple

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import kept
from beyondchance.annotations.pairs import SharedDocuments, annotation_numbers
from beyondchance.core.estimates import constant_match
from beyondchance.core.exact import are_whole, exact_total, rounded
from beyondchance.core.labels import PLACES
from beyondchance.core.lengths import tabulate
from beyondchance.core.measures import Measure
from beyondchance.core.models import AUTO, Model
from beyondchance.core.observed import SpanGroups
from beyondchance.core.ragged import (
    bounds,
    distinct,
    largest,
    members,
    spread,
    starts,
    total,
    widths,
)
from beyondchance.core.random_places import (
    Members,
    MembersOf,
    SpanSets,
    layers_of,
    rank_pairs,
    ranks_of,
    sets_of,
    spans_of,
    whole_lines,
)
from beyondchance.core.span_trees import Forest, Structure, forest, nested_structure, structure_of
from beyondchance.core.teams import expected_support
from beyondchance.errors import DataError, OptionError, OverlapError
from beyondchance.messages import Note, Use
from beyondchance.results.adding import coded
from beyondchance.results.counts import Counts
from beyondchance.scoring.corpus_wide import BY_FUGACITIES, CorpusWide, corpus_wide
from beyondchance.scoring.marks import Marked, check_apart, refused
from beyondchance.scoring.options import Scoring
from beyondchance.scoring.shapes import expected_by_words
from beyondchance.types import Bools, Floats, Ints
from beyondchance.values import internal

_DIGITS = 9
"""Decimals of an expected match that is approximate."""
_REACHED = 1e-11
"""How close, relative to it, an expected match comes to a limit that it has reached. A match that
falls short of its limit in one arrangement of many does so by much more."""

_TEAM = {"annotators": ("team", "support"), "pairs": np.array([[0], [1]])}
"""Who is compared in counts of what a team supports."""
_DENSE = 2
"""Pairs of annotators for each that one of them marked something, up to which all are listed."""
_MOST_ROWS = 2**21
"""Rows that counts may have however small the corpus is."""
_MOST_DRAWN = 2**32
"""Pairs of spans of one label in one text, over all draws, that are compared."""
_MOST_POSITIONS = 2**24
"""Positions of all lines whose chance is held at a time."""
_MOST_RANKS = 2**23
"""Squares of depths, over all spans, up to which they are ranked by length: within a second."""
_ROWS_FOR_EACH = 64
"""Rows for each span, text and annotation, on average, beyond which there may be no more."""


class Matches(NamedTuple):
    """What pairs of groups have in common; a column for each pair.

    Attributes
    ----------
    matched, expected : arrays of float, shape (1, pairs) or (3, pairs)
        The match; where precision and recall have their own, also that of side a and
        that of side b.
    certain : array of bool, shape (3, pairs)
        Whether chance is 1: for F1, for side a, for side b.
    fixed : array of bool, shape (pairs,)
        Whether every arrangement gives the same match.
    error, stream : arrays, shape (pairs,), optional
        Of estimates, the standard error and the stream of random numbers; 0 where a match is
        exact.
    """

    matched: Floats
    expected: Floats
    certain: Bools
    fixed: Bools
    error: Floats | None = None
    stream: Ints | None = None

    def in_rows(self, where: Ints, n_rows: int) -> Matches:
        """Spread the matches over more rows; nothing matches where one of two marked nothing."""
        if len(where) == n_rows:
            return self

        def spread_out(values: NDArray[Any]) -> NDArray[Any]:
            rows = np.full((*values.shape[:-1], n_rows), values is self.fixed, dtype=values.dtype)
            rows[..., where] = values
            return rows

        columns: Any = [None if values is None else spread_out(values) for values in self]
        return Matches(*columns)


class Compared(NamedTuple):
    """Rows of the counts: who is compared with whom, where.

    Attributes
    ----------
    cell : array of int, shape (rows,)
        ``text * labels + label``, ascending.
    a, b : arrays of int
        Annotators; ``a < b``, or ``a <= b`` with each paired with itself.
    group_a, group_b : arrays of int
        Their groups of spans; -1 where one marked nothing.
    """

    cell: Ints
    a: Ints
    b: Ints
    group_a: Ints
    group_b: Ints


def counted(
    spans: Marked, shared: SharedDocuments, scoring: Scoring
) -> tuple[Counts, tuple[Note, ...]]:
    """Count matches, observed and expected, of every pair in every text.

    Parameters
    ----------
    spans : Marked
        What was marked; the model has to allow it.
    shared : SharedDocuments
        Who is compared with whom.
    scoring : Scoring
        What counts as match, and how random spans are placed.

    Returns
    -------
    counts : Counts
    notes : tuple of Note
        What there is to know about them.
    """
    corpus, measure = spans.corpus, scoring.measure
    is_corpus_wide = corpus.unit == CORPUS
    groups, owner, length = _with_missing(spans)
    rows = _rows(groups, shared, everywhere=is_corpus_wide)
    text, label = np.divmod(rows.cell, max(len(spans.labels), 1))
    each: NDArray[Any] = np.asarray(measure.size(length))
    each = each if are_whole(each) else rounded(each)
    # One more, with nothing: the group -1 of an annotator who marked nothing.
    size = exact_total(owner, each, len(groups.text) + 1)
    of_sides = np.array([rows.group_a, rows.group_b])
    sizes, n_spans = size[of_sides], np.bincount(owner, minlength=len(size))[of_sides]
    if groups is not spans:
        # What is not in the text matches nothing, wherever it would be.
        of_sides = np.where(of_sides < len(spans.text), of_sides, -1)
        rows = rows._replace(group_a=of_sides[0], group_b=of_sides[1])
    notes: tuple[Note, ...] = ()
    if is_corpus_wide:
        wide = corpus_wide(spans, shared, measure)
        matches = _corpus_wide(spans, measure, wide, rows, sizes)
        notes = () if wide.is_exact else (BY_FUGACITIES,)
    else:
        both = (np.minimum(*of_sides) >= 0).nonzero()[0]
        in_parts = measure.members_of is layers_of
        placed = Placement(spans.in_parts() if in_parts else spans, scoring.model)
        sides = rows.group_a[both], rows.group_b[both]
        expected = None
        if scoring.is_informed and len(both):
            by = scoring.options["chance"]
            informed, notes = expected_by_words(spans, measure.name, by, *sides)
            expected = rounded(informed[None])
        found = _matches(placed, measure, sizes[:, both], *sides, expected=expected)
        matches = found.in_rows(both, len(text))
    names = names_of_rows(shared, text)
    names |= {"a": rows.a, "b": rows.b, "is_corpus_wide": is_corpus_wide}
    return _counts_of(matches, sizes, n_spans, labels=spans.labels, label=label, **names), notes


def _counts_of(matches: Matches, sizes: Floats, n_spans: Ints, **known: Any) -> Counts:
    """Make a table of what matched, and of how much and how many spans the two sides marked."""
    matched, expected, certain = matches.matched, matches.expected, matches.certain
    has_sides = len(matched) > 1
    return Counts(
        **known,
        matched=matched[0],
        expected=expected[0],
        size_a=sizes[0],
        size_b=sizes[1],
        spans_a=n_spans[0],
        spans_b=n_spans[1],
        certain=certain[0],
        # An annotator who marked nothing leaves nothing unmatched.
        certain_a=certain[1] | (sizes[0] == 0),
        certain_b=certain[2] | (sizes[1] == 0),
        fixed=matches.fixed,
        matched_a=matched[1] if has_sides else None,
        matched_b=matched[2] if has_sides else None,
        expected_a=expected[1] if has_sides else None,
        expected_b=expected[2] if has_sides else None,
        error=matches.error,
        stream=matches.stream,
    )


def supported(spans: Marked, shared: SharedDocuments, scoring: Scoring) -> Counts:
    """Count what is marked in every text, and what of it enough of a team marked.

    Everything counts as often as it is marked.

    Parameters
    ----------
    spans : Marked
        No two that are placed together overlap.
    shared : SharedDocuments
        The documents that enough annotated.
    scoring : Scoring
        With the option ``support``.

    Raises
    ------
    OptionError, OverlapError
    """
    corpus, measure, fewest = spans.corpus, scoring.measure, scoring.options["support"]
    if corpus.unit == CORPUS:
        raise OptionError(Use("support", fewest), " does not go with ", Use("unit", CORPUS))
    check_apart(spans, f"support counts {fewest} annotators at one place", "")
    groups, owner, length = _with_missing(spans)
    n_labels = max(len(spans.labels), 1)
    cells, cell = distinct(groups.text * n_labels + groups.label)
    text, label = np.divmod(cells, n_labels)
    n, of_span = len(cells), cell[owner]
    sizes = np.array([exact_total(of_span, np.asarray(measure.size(length)), n)] * 2)
    cell_of_span = cell[spans.owner()]
    span, place, width = PLACES[measure.name](cell_of_span, spans.start, spans.end)
    # Each thing as often as it is marked, if often enough.
    weight = width[place] * (np.bincount(place)[place] >= fewest)
    matched = total(cell_of_span[span], weight, n)
    sets, number = Placement(spans, scoring.model).sets(measure.members_of)
    by_length = measure.name == "exact"
    expected = expected_support(
        sets, cell[: len(spans.text)], number, n, fewest, by_length=by_length
    )
    expected = rounded(expected)
    # Nothing varies where at most one of those who mark something leaves room.
    n_covered = np.bincount(spans.owner(), spans.n_covered, len(groups.text))
    moves = (n_covered > 0) & (n_covered < corpus.text_length[groups.text])
    is_still = (np.bincount(cell, moves) <= 1) | (matched == 0)
    matches = Matches(
        matched[None],
        expected[None],
        _certain(expected, sizes),
        is_still & (np.abs(expected - matched) <= _REACHED * np.maximum(matched, 1)),
    )
    n_spans = np.array([np.bincount(of_span), np.zeros_like(cells)])
    names = {**names_of_rows(shared, text), **_TEAM}
    names |= {"a": np.zeros_like(label), "b": np.ones_like(label)}
    counts = _counts_of(matches, sizes, n_spans, labels=spans.labels, label=label, **names)
    return counts.only(shared.compared[corpus.text_document[text]])


def _with_missing(spans: Marked) -> tuple[Marked, Ints, Ints]:
    """Add quotes that are not in their texts to the groups, of which there may be more then.

    Returns
    -------
    groups : Marked
        With the text, label and annotator of all groups; those without a span come last.
    owner, length : arrays of int
        The group and the length of each span, and of each quote that is not in its text.
    """
    corpus, length = spans.corpus, spans.n_covered
    if not len(corpus.missing_text):
        return spans, spans.owner(), length
    columns = [
        np.concatenate(pair)
        for pair in (
            (spans.text, corpus.missing_text),
            (spans.label, corpus.missing_label * spans.scope.labelled),
            (spans.annotator, corpus.missing_annotator),
        )
    ]
    # Numbered as they first occur, so that groups with spans keep their numbers.
    _, first, number = np.unique(coded(columns), return_index=True, return_inverse=True)
    order = np.argsort(first)
    text, label, annotator = (column[first[order]] for column in columns)
    owner = np.argsort(order)[number][len(spans.text) :]
    return (
        replace(spans, text=text, label=label, annotator=annotator),
        np.concatenate([spans.owner(), owner]),
        np.concatenate([length, corpus.missing_length]),
    )


def names_of_rows(shared: SharedDocuments, text: Ints) -> dict[str, Any]:
    """Return what the numbers in rows of counts stand for, and the document of each row."""
    corpus, compared = shared.corpus, shared.compared
    return {
        "documents": kept(corpus.documents, compared),
        "fields": {name: kept(values, compared) for name, values in corpus.fields.items()},
        "n_texts": len(corpus.text_length),
        "n_compared_texts": int(np.count_nonzero(compared[corpus.text_document])),
        "annotators": corpus.annotators,
        "pairs": shared.annotators,
        "document": (compared.cumsum() - 1)[corpus.text_document[text]],
        "text": text,
    }


# --- Who is compared with whom ------------------------------------------------


def _rows(spans: Marked, shared: SharedDocuments, *, everywhere: bool) -> Compared:
    """Pair the annotators of each text and label in which an annotator marked something.

    The cost follows the pairs that share a document, not all pairs there are. Where random
    spans may be everywhere, all texts have rows.
    """
    corpus, n_labels = spans.corpus, max(len(spans.labels), 1)
    marked = spans.text * n_labels + spans.label
    cells, cell_of_group = distinct(marked)
    if everywhere:
        cells, cell_of_group = np.arange(len(corpus.text_length) * n_labels), marked
    document = corpus.text_document[cells // n_labels]
    # Each cell has a place for each annotation of its document: who marked something there puts
    # the number of the group into it. `place + annotation` is where that is.
    first = bounds(corpus.annotation_document, len(corpus.documents))
    team = first[document + 1] - first[document]
    place = starts(team) - first[document]
    group_at = np.full(int(team.sum()), -1)
    annotation = annotation_numbers(corpus, spans.text, spans.annotator)
    group_at[place[cell_of_group] + annotation] = np.arange(len(spans.text))
    who = corpus.annotation_annotator
    n_pairs = shared.first[document + 1] - shared.first[document]
    incident = np.bincount(np.concatenate([shared.one, shared.two]), minlength=len(who))
    n_rows, n_sparse = int(n_pairs.sum()), int(incident[annotation].sum())
    is_dense = everywhere or n_rows <= _DENSE * n_sparse
    _check_rows(corpus, n_rows if is_dense else n_sparse)
    if is_dense:
        # Every cell with every pair of its document; rows in which neither marked anything go.
        cell, pair = spread(n_pairs)
        pair += shared.first[document][cell]
    else:
        # Few of many annotators marked something: every group with every pair that it is in.
        side = np.concatenate([shared.one, shared.two])
        by_side = np.argsort(side, kind="stable") % max(len(shared.one), 1)
        group, row = members(bounds(side, len(who)), annotation)
        code = cell_of_group[group] * len(shared.one) + by_side[row]
        cell, pair = np.divmod(distinct(code)[0], len(shared.one))
    one, two = shared.one[pair], shared.two[pair]
    group_a, group_b = group_at[place[cell] + one], group_at[place[cell] + two]
    wanted = ((np.maximum(group_a, group_b) >= 0) | everywhere).nonzero()[0]
    a, b = who[one[wanted]], who[two[wanted]]
    return Compared(cells[cell[wanted]], a, b, group_a[wanted], group_b[wanted])


def _check_rows(corpus: Corpus, n_rows: int) -> None:
    """Refuse more rows than can be kept.

    Raises
    ------
    DataError
    """
    parts = corpus.span_text, corpus.annotation_document, corpus.text_length
    if n_rows <= max(_MOST_ROWS, _ROWS_FOR_EACH * sum(map(len, parts))):
        return
    raise DataError(
        f"in {len(corpus.text_length):,} texts, {len(corpus.annotators):,} annotators with "
        f"{len(corpus.labels):,} labels make {n_rows:,} comparisons of two annotators in one "
        "text and label",
        expected=f"at most {_MOST_ROWS:,}, or {_ROWS_FOR_EACH} for each span, text and annotation",
        remedy=(
            *("compare all with one annotator by ", Use("gold", placeholder="NAME")),
            *(", ignore labels by ", Use("scope", "unlabelled"), ", or keep some annotators"),
        ),
    )


# --- What is compared ---------------------------------------------------------


@internal
class Placement:
    """Spans, and how a model places them."""

    spans: Marked
    model: Model

    @cached_property
    def is_plain(self) -> Bools:
        """Groups that have a line of their own, on which no spans overlap: most of them."""
        spans = self.spans
        if self.model.is_independent:
            return np.ones(len(spans.text), dtype=bool)
        line = spans.line[spans.first[:-1]]
        is_plain = np.bincount(line) == 1
        if spans.nesting.overlap is not None:
            is_plain[spans.line[spans.nesting.parent >= 0]] = False
            is_plain[spans.nesting.crossed] = False
        if spans.corpus.span_motif is not None:
            is_plain[spans.line[spans.motif > 0]] = False
        return np.asarray(is_plain[line])

    def part(self, groups: Ints) -> tuple[Placement, Callable[[Ints], Ints]]:
        """Select some groups with all on their lines; also return a map to their new numbers."""
        spans, chosen = self.spans.part(groups)
        return Placement(spans, self.model), lambda old: np.searchsorted(chosen, old)

    @cached_property
    def structure(self) -> Structure:
        """How the spans of every line hang together."""
        spans = self.spans
        group, length = spans.owner(), spans.end - spans.start
        if self.model.is_independent:
            none, one = np.full_like(group, -1), np.ones_like(group)
            return nested_structure(group, length, group, parent=none, depth=one)
        return structure_of(
            spans.line, spans.start, spans.end, group, spans.nesting, whole=spans.whole
        )

    def plain_sets(self) -> tuple[SpanSets, Ints]:
        """Build what chance depends on for plain groups: the sets, and the set of each group."""
        spans = self.spans
        n = spans.corpus.text_length[spans.text]
        table, entry = tabulate(n, spans.owner(), spans.end - spans.start)
        return whole_lines(table), entry

    def sets(self, members_of: MembersOf) -> tuple[SpanSets, Ints]:
        """Build what chance depends on for any groups: the sets, and the set of each group."""
        spans, structure = self.spans, self.structure
        n = spans.corpus.text_length[spans.text]
        line_size = np.zeros(largest(structure.line, -1) + 1, dtype=np.int64)
        line_size[structure.line[: len(structure.group)]] = n[structure.group]

        def shaped(*known: Any) -> Members:
            """List members by their shape, as only equal spans match."""
            return members_of(*known)._replace(length=spans.shape)

        return sets_of(line_size, structure, shaped if members_of is spans_of else members_of)

    @cached_property
    def _nodes_on_lines(self) -> tuple[Ints, Ints]:
        """The nodes line by line, each after the one around it, and where each line begins."""
        structure = self.structure
        order = np.lexsort((structure.depth, structure.line))
        return order, bounds(structure.line[order], largest(structure.line, -1) + 1)

    def trees(self, line: int, compared_with: Callable[[Ints], Ints]) -> Forest:
        """Convert all nodes of a line to trees, with what each span is compared with."""
        structure, (order, first) = self.structure, self._nodes_on_lines
        nodes = order[first[line] : first[line + 1]]
        marks, is_span = np.zeros_like(nodes), nodes < len(structure.group)
        own = nodes[is_span]
        # What is compared by its motif has that for a mark.
        mark = np.where(self.spans.motif[own] > 0, self.spans.shape[own], 1)
        marks[is_span] = compared_with(own) * mark
        columns = structure.parent[nodes], structure.length[nodes], marks, structure.offset[nodes]
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return forest(dict(zip(nodes.tolist(), rows, strict=True)))

    def sides(self, a: int, b: int) -> tuple[int, Forest, Forest]:
        """Return text size and trees of two groups, in an order free of who comes first."""
        one, two = sorted(
            self.trees(
                int(self.structure.line[self.spans.first[group]]),
                lambda members, group=group: self.structure.group[members] == group,  # type: ignore[misc]
            )
            for group in (a, b)
        )
        return int(self.spans.corpus.text_length[self.spans.text[a]]), one, two

    def problems(self, a: Ints, b: Ints) -> Iterator[tuple[int, Forest, Forest]]:
        """Yield the sides of a few pairs of groups, looking at their lines only."""
        if len(a):
            part, number = self.part(distinct(np.concatenate([a, b]))[0])
            for pair in zip(number(a).tolist(), number(b).tolist(), strict=True):
                yield part.sides(*pair)


# --- What they have in common -------------------------------------------------


def _matches(
    placed: Placement,
    measure: Measure,
    sizes: Floats,
    a: Ints,
    b: Ints,
    *,
    expected: Floats | None = None,
) -> Matches:
    """Compute what groups a and b have in common, observed and, unless it is known, expected."""
    spans = placed.spans
    has_form = _has_form(placed, measure)
    if measure.estimate is None and not has_form.all():
        raise refused(spans, int(np.argmin(has_form)), measure.name, measure.why_refused)
    is_exact = has_form[a] & has_form[b]
    sampled = (~is_exact).nonzero()[0]
    if len(sampled):
        _check_draws(spans, measure, a[sampled], b[sampled])
    matched = np.zeros((3 if measure.own_sides else 1, len(a)))
    if len(a):
        are_apart = spans.nesting.overlap is None
        groups = SpanGroups(spans.first, spans.start, spans.start + spans.shape, are_apart)
        matched[:] = measure.matched(groups, a, b)

    def constants(rows: Ints) -> Iterator[float]:
        constant = cache(partial(constant_match, model=placed.model, matched=measure.matched))
        return (constant(*sides) for sides in placed.problems(a[rows], b[rows]))

    # What has no exact expectation is estimated below.
    if expected is None:
        expected = _expected_in_texts(placed, measure, is_exact, a, b)
    fixed = _fixed(expected[0], matched[0], _limit(measure, sizes), constants)
    certain = _certain(expected, sizes)
    if measure.estimate is None:
        return Matches(matched, expected, certain, fixed)
    error, stream = np.zeros(len(a)), np.zeros(len(a), dtype=np.int64)
    # Chance is taken to be 1, or fixed, where that is so in every draw.
    estimate = cache(measure.estimate)
    problems = placed.problems(a[sampled], b[sampled])
    for row, sides in zip(sampled.tolist(), problems, strict=True):
        found = estimate(*sides, placed.model)
        expected[0, row] = rounded(np.array(found.mean))
        error[row], stream[row] = found.error, found.stream
        certain[:, row] = _certain(np.array([found.least]), sizes[:, row])
        fixed[row] = found.least == found.most == matched[0, row]
    return Matches(matched, expected, certain, fixed, error, stream)


def _check_draws(spans: Marked, measure: Measure, a: Ints, b: Ints) -> None:
    """Refuse groups of which random arrangements have too many pairs of spans to compare.

    Raises
    ------
    OverlapError
    """
    n_spans = widths(spans.first)
    n_pairs = n_spans[a] * n_spans[b] * int(measure.drawing.get("samples", 0))
    if n_pairs.max(initial=0) > _MOST_DRAWN:
        worst = int(np.argmax(n_pairs))
        sizes = n_spans[a[worst]], n_spans[b[worst]]
        raise OverlapError(
            f"chance of measure {measure.name!r} is estimated, and {measure.drawing['samples']:,} "
            f"arrangements of {sizes[0]:,} and {sizes[1]:,} spans have {n_pairs[worst]:,} pairs",
            expected=f"at most {_MOST_DRAWN:,}",
            remedy=("draw fewer by ", Use("samples", 100), ", or use another measure"),
        )


def _has_form(placed: Placement, measure: Measure) -> Bools:
    """Return which groups have an exact expectation."""
    n_groups = len(placed.spans.text)
    if placed.model.is_independent:
        return np.full(n_groups, measure.overlapping is not None)
    found = np.full(n_groups, measure.adds_up)
    if measure.has_form is not None and not placed.is_plain.all():
        rest = (~placed.is_plain).nonzero()[0]
        part, number = placed.part(rest)
        found[rest] = measure.has_form(part.structure)[number(rest)]
    return found


def _limit(measure: Measure, sizes: Floats) -> Floats:
    """Compute the most that two sides can have in common."""
    return np.asarray(np.minimum(*sizes) if measure.is_one_to_one else np.add(*sizes) / 2)


def _certain(expected: Floats, sizes: Floats) -> Bools:
    """Return whether an expected match is the whole of both sides, of side a, of side b.

    A match never exceeds its limit, so that it is always reached if it is on average.
    """
    one, two = sizes
    limits = np.array([(one + two) / 2, one, two])
    return np.asarray(limits - expected <= _REACHED * limits)


def _expected_in_texts(
    placed: Placement, measure: Measure, is_exact: Bools, a: Ints, b: Ints
) -> Floats:
    """Compute the expected match of pairs of groups, 0 where there is no exact one.

    Most are plain, and what is not costs more.
    """
    expected = np.zeros((3 if measure.own_sides else 1, len(a)))
    is_plain = placed.is_plain[a] & placed.is_plain[b]
    for rows in ((is_plain & is_exact).nonzero()[0], (is_exact > is_plain).nonzero()[0]):
        if not len(rows):
            continue
        left, right = a[rows], b[rows]
        if is_plain[rows[0]]:
            sets, number = placed.plain_sets()
        else:
            part, numbered = placed.part(distinct(np.concatenate([left, right]))[0])
            if measure.members_of is ranks_of:
                _check_ranks(part)
            sets, number = part.sets(measure.members_of)
            left, right = numbered(left), numbered(right)
        expected[:, rows] = _expected(sets, measure, placed.model, number[left], number[right])
    return expected


def _check_ranks(placed: Placement) -> None:
    """Refuse groups in which too many spans overlap to be ranked by length at every position.

    Raises
    ------
    OverlapError
    """
    found = rank_pairs(placed.structure)
    if found.max(initial=0) > _MOST_RANKS:
        group = int(np.argmax(found))
        n_spans = int(widths(placed.spans.first)[group])
        why = f"{n_spans:,} spans overlap so much that ranking them by length takes too long"
        raise refused(placed.spans, group, "dice", why)


def _expected(sets: SpanSets, measure: Measure, model: Model, i: Ints, j: Ints) -> Floats:
    """Compute the expected match of pairs of sets.

    Equal problems are solved once, and with the sides in one order, so that (a, b) and (b, a)
    have the same digits.
    """
    code, problem = distinct(np.minimum(i, j) * len(sets) + np.maximum(i, j))
    expect = measure.expectation(model)
    n_blocks = int(sets.n.sum()) // _MOST_POSITIONS + 1 if sets.are_lines else 1
    blocks = [code] if n_blocks == 1 else np.array_split(code, min(n_blocks, len(code)))
    parts = [expect(sets, *np.divmod(part, len(sets))) for part in blocks]
    solution = np.concatenate(parts, axis=-1).take(problem, axis=-1)
    if measure.own_sides:
        swapped = i > j
        solution[1:, swapped] = solution[:0:-1, swapped]
        # Of equal sides, sums in different order may differ in the last digit.
        solution[2, i == j] = solution[1, i == j]
    return rounded(solution)


def _corpus_wide(
    spans: Marked, measure: Measure, wide: CorpusWide, rows: Compared, sizes: Floats
) -> Matches:
    """Compute matches in every text, where random spans may be in any of them."""
    text, label = np.divmod(rows.cell, max(len(spans.labels), 1))
    matched = np.zeros((3 if measure.own_sides else 1, len(text)))
    expected = np.zeros_like(matched)
    both = np.flatnonzero((rows.group_a >= 0) & (rows.group_b >= 0))
    if len(both):
        groups = SpanGroups(spans.first, spans.start, spans.end)
        matched[:, both] = measure.matched(groups, rows.group_a[both], rows.group_b[both])
    n_labels, n_annotators = max(len(spans.labels), 1), max(len(spans.corpus.annotators), 1)
    pair = np.searchsorted(wide.pairs, rows.a * n_annotators + rows.b)
    i, j = (wide.number[side[pair], label, wide.size[text]] for side in wide.sides)
    met = np.flatnonzero((i >= 0) & (j >= 0))
    if len(met):
        expected[:, met] = _expected(wide.sets, measure, AUTO, i[met], j[met])
    if not wide.is_exact:
        # Far below the error of the approximation, and above what differs between machines.
        expected = rounded(np.round(expected, _DIGITS))
    # Spans are placed in all texts at once: what is fixed or certain, is so in all of them.
    wholes, whole = distinct(pair * n_labels + label)

    def summed(values: Floats) -> Floats:
        return np.array([exact_total(whole, row, len(wholes)) for row in values])

    def constants(rows: Ints) -> Iterator[float]:
        for pair_number, which in (divmod(code, n_labels) for code in wholes[rows].tolist()):
            yield wide.constant_match(pair_number, which, measure.matched)

    of_all, of_sides = summed(expected), summed(sizes)
    fixed = _fixed(of_all[0], summed(matched[:1])[0], _limit(measure, of_sides), constants)
    nothing = None if measure.estimate is None else np.zeros(len(text))
    return Matches(
        matched=matched,
        expected=expected,
        certain=_certain(of_all, of_sides)[:, whole],
        fixed=fixed[whole],
        error=nothing,
        stream=None if nothing is None else nothing.astype(np.int64),
    )


def _fixed(
    expected: Floats, matched: Floats, limit: Floats, constants: Callable[[Ints], Iterable[float]]
) -> Bools:
    """Return whether every arrangement gives the match that was observed.

    Then it does so on average. Where that is nothing, or the most that there can be, it is
    always so; otherwise many arrangements are tried: `constants` gives what they have in
    common in some of the rows, if that is always as much.
    """
    slack = _REACHED * np.maximum(matched, 1)
    fixed: Bools = np.abs(expected - matched) <= slack
    rows = (fixed & (matched > 0) & (matched < limit)).nonzero()[0]
    if len(rows):
        found = np.fromiter(constants(rows), dtype=np.float64, count=len(rows))
        fixed[rows] = np.abs(found - matched[rows]) <= slack[rows]
    return fixed
