"""What is placed at random: the spans of a corpus in a scope, and the models that allow them."""

from __future__ import annotations

from dataclasses import replace
from functools import cached_property
from itertools import chain

import numpy as np

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import IN_ONE_PIECE, Corpus, check_in_one_piece
from beyondchance.annotations.names import named_text
from beyondchance.core.measures import MEASURES
from beyondchance.core.models import AUTO, Model
from beyondchance.core.nesting import Nesting, in_order, nesting
from beyondchance.core.ragged import (
    bounds,
    distinct,
    largest,
    members,
    n_distinct,
    repeats,
    widths,
)
from beyondchance.core.span_trees import FREE, structure_of
from beyondchance.errors import NothingSharedError, OverlapError, SpanError
from beyondchance.messages import Note, Piece, Quote, Use, pieces
from beyondchance.scoring.options import CROSSING, INSIDE, Scope, Scoring
from beyondchance.types import Ints
from beyondchance.values import internal

ANY = "(any)"
"""The one label of scope 'unlabelled'."""
LONGEST = 2**20
"""Positions that a span can have."""


@internal
class Marked:
    """The spans of a corpus, in groups that are compared and on lines that are placed together.

    A *group* holds the spans of one annotator with one label in one text. Groups are sorted
    by text, label and annotator, the spans of a group by start and end.

    Attributes
    ----------
    corpus : Corpus
    scope : Scope
    labels : tuple of str
        As they are in the scope.
    index, start, end : arrays of int, shape (spans,)
        The number of each span in the corpus, and its offsets.
    first : array of int, shape (groups + 1,)
        Group g owns the spans ``first[g]:first[g + 1]``.
    text, label, annotator : arrays of int, shape (groups,)
    line : array of int, shape (spans,)
        Spans with the same number are placed together.
    n_merged : int
        Spans left out because they differ from another in their label alone, where labels
        do not count.
    whole : array of int, optional
        Of spans in their parts (see `in_parts`): which span each is a part of.
    """

    corpus: Corpus
    scope: Scope
    labels: tuple[str, ...]
    index: Ints
    start: Ints
    end: Ints
    first: Ints
    text: Ints
    label: Ints
    annotator: Ints
    line: Ints
    n_merged: int
    whole: Ints | None = None

    def owner(self) -> Ints:
        """Return the group of each span."""
        return self._owner

    @cached_property
    def _owner(self) -> Ints:
        return np.arange(len(self.text)).repeat(widths(self.first))

    @cached_property
    def nesting(self) -> Nesting:
        """Which spans of a line lie in which, and whether any of them cross."""
        return nesting(self.line, self.start, self.end)

    @cached_property
    def motif(self) -> Ints:
        """The motif of each span, or of the span that it is a part of; 0 for spans of one piece."""
        return self.corpus.motif[self.index]

    @cached_property
    def shape(self) -> Ints:
        """What spans that start together are equal by."""
        if self.whole is None:
            return self.corpus.shape[self.index]
        return self.end - self.start

    @property
    def n_covered(self) -> Ints:
        """How many positions each span covers."""
        if self.corpus.span_motif is None:
            return self.end - self.start
        sizes = [sum(end - start for start, end in motif) for motif in self.corpus.motifs]
        return np.where(self.motif > 0, np.array(sizes)[self.motif], self.end - self.start)

    def in_parts(self) -> Marked:
        """Return the parts of discontinuous spans in their place; the groups stay."""
        if self.corpus.span_motif is None:
            return self
        motifs = [motif or ((0, 0),) for motif in self.corpus.motifs]
        first = np.cumsum([0, *map(len, motifs)])
        span, part = members(first, self.motif)
        low, high = np.array([*chain(*motifs)])[part].T
        start = self.start[span] + low
        end = np.where(self.motif[span] > 0, self.start[span] + high, self.end[span])
        order = in_order(self.owner()[span], start, end)
        span = span[order]
        return replace(
            self,
            index=self.index[span],
            start=start[order],
            end=end[order],
            first=bounds(self.owner()[span], len(self.text)),
            line=self.line[span],
            whole=span,
        )

    def part(self, groups: Ints) -> tuple[Marked, Ints]:
        """Select some groups with all that are placed together with them; also return which."""
        on_line = np.zeros(largest(self.line, -1) + 1, dtype=bool)
        on_line[self.line[self.first[groups]]] = True
        spans = np.flatnonzero(on_line[self.line])
        chosen, owner = distinct(self.owner()[spans])
        found = replace(
            self,
            index=self.index[spans],
            start=self.start[spans],
            end=self.end[spans],
            first=bounds(owner, len(chosen)),
            text=self.text[chosen],
            label=self.label[chosen],
            annotator=self.annotator[chosen],
            line=distinct(self.line[spans])[1],
            whole=None if self.whole is None else self.whole[spans],
        )
        return found, chosen


def marked(corpus: Corpus, scope: Scope) -> Marked:
    """Collect the spans of a corpus in a scope."""
    _check_lengths(corpus)
    labelled = scope.labelled
    labels = corpus.labels if labelled else (ANY,)
    label = corpus.span_label if labelled else np.zeros_like(corpus.span_label)
    n_labels, n_annotators = max(len(labels), 1), max(len(corpus.annotators), 1)
    key = (corpus.span_text * n_labels + label) * n_annotators + corpus.span_annotator
    order = in_order(key, corpus.span_start, corpus.span_end)
    n_spans = len(order)
    if not labelled:
        order = _without_relabelled(corpus, key, order)
    known, group = distinct(key[order])
    first = bounds(group, len(known))
    # Any span tells where its group is.
    one = order[first[:-1]]
    text, annotator = corpus.span_text[one], corpus.span_annotator[one]
    line = group
    if scope.is_joint:
        line = distinct(text * n_annotators + annotator)[1][group]
    return Marked(
        corpus=corpus,
        scope=scope,
        labels=labels,
        index=order,
        start=corpus.span_start[order],
        end=corpus.span_end[order],
        first=first,
        text=text,
        label=label[one],
        annotator=annotator,
        line=line,
        n_merged=n_spans - len(order),
    )


def _check_lengths(corpus: Corpus) -> None:
    """Refuse spans whose places would take gigabytes: chance has a value for each position."""
    length = corpus.span_end - corpus.span_start
    if largest(length) <= LONGEST:
        return
    longest = int(np.argmax(length))
    annotator = corpus.annotators[int(corpus.span_annotator[longest])]
    text = int(corpus.span_text[longest])
    place = named_text(text, corpus.documents, corpus.text_document)
    raise SpanError(
        f"a span of {length[longest]:,} {corpus.positions}",
        where=(*place, ", annotator ", Quote(annotator)),
        expected=f"at most {LONGEST:,}",
        remedy="count in larger units, such as a coarser grid",
    )


def _without_relabelled(corpus: Corpus, key: Ints, order: Ints) -> Ints:
    """Leave out spans that differ from the one before in their label alone."""
    columns = (key, corpus.span_start, corpus.shape)
    order = order[np.lexsort((corpus.span_label[order], *(c[order] for c in reversed(columns))))]
    repeated = repeats(*(column[order] for column in columns))
    return order[~repeated | repeats(corpus.span_label[order])]


def _first_crossing(spans: Marked) -> tuple[int, int] | None:
    """Find the first two spans that cross, on the first line that has any; None if none do.

    They are the same in whichever part of the files the line is.
    """
    if not len(spans.nesting.crossed):
        return None
    own = np.flatnonzero(spans.line == spans.nesting.crossed[0])
    own = own[np.lexsort((spans.end[own], spans.start[own]))]
    start, end = spans.start[own], spans.end[own]
    for i in range(len(own)):
        crosses = np.flatnonzero((start > start[i]) & (start < end[i]) & (end > end[i]))
        if len(crosses):
            return int(own[i]), int(own[crosses[0]])
    return None


@internal
class Placed:
    """How spans lie that are placed together: how many groups of them in which way.

    Attributes
    ----------
    together : str
        What is placed together.
    apart, nested, crossing : int
        Groups of spans that lie apart, of which some hold others, and of which some cross.
    holds, crosses : tuple of Piece
        Two spans of which one holds the other, and two that cross; empty if there are none.
    """

    together: str
    apart: int = 0
    nested: int = 0
    crossing: int = 0
    holds: tuple[Piece, ...] = ()
    crosses: tuple[Piece, ...] = ()

    def __add__(self, other: Placed) -> Placed:
        """Add the groups of both; the examples are those of the first that has any."""
        return replace(
            self,
            apart=self.apart + other.apart,
            nested=self.nested + other.nested,
            crossing=self.crossing + other.crossing,
            holds=self.holds or other.holds,
            crosses=self.crosses or other.crosses,
        )

    @property
    def notes(self) -> tuple[Note, ...]:
        """What is said about how spans were placed by model 'auto', if some nest or cross."""
        n_lines = self.apart + self.nested + self.crossing
        if self.apart == n_lines:
            return ()
        said: list[Piece] = [f"model 'auto': of {n_lines:,} groups ({self.together})"]
        said += [f", {self.apart:,} placed apart"] if self.apart else []
        for number, how, example in (
            (self.nested, INSIDE, self.holds),
            (self.crossing, CROSSING, self.crosses),
        ):
            if number:
                said += [f", {number:,} ", how, " (", *example, ")"]
        return (Note(tuple(said)),)


def placed_of(spans: Marked) -> Placed:
    """Describe how the spans of a corpus lie: apart, nested or crossing."""
    nest, n_lines = spans.nesting, largest(spans.line, -1) + 1
    together = f"{_together(spans)} in one text"
    if nest.overlap is None:
        return Placed(together, apart=n_lines)
    inner = np.flatnonzero(nest.parent >= 0)
    inner = inner[~np.isin(spans.line[inner], nest.crossed)]
    n_nested, n_crossing = n_distinct(spans.line[inner]), len(nest.crossed)
    crossing = _first_crossing(spans)
    return Placed(
        together,
        apart=n_lines - n_nested - n_crossing,
        nested=n_nested,
        crossing=n_crossing,
        holds=_both(spans, (int(nest.parent[inner[0]]), int(inner[0])), "holds")
        if n_nested
        else (),
        crosses=() if crossing is None else _both(spans, crossing, "crosses"),
    )


def check_closed(spans: Marked, scoring: Scoring) -> None:
    """Refuse discontinuous spans with others between their parts, or that are not scored so.

    Raises
    ------
    SpanError
    """
    if spans.corpus.span_motif is None:
        return
    whole = np.flatnonzero(spans.motif)
    is_known = scoring.measure.name in {"token", "exact"} and not scoring.model.is_independent
    others = "support" in scoring.options or spans.corpus.unit == CORPUS
    if not is_known or scoring.is_informed or others:
        check_in_one_piece(spans.corpus)
    found = structure_of(spans.line, spans.start, spans.end, spans.owner(), spans.nesting)
    n_spans = len(spans.line)
    around, length = found.parent[:n_spans], found.length
    is_equal = (around >= 0) & (around < n_spans) & (length[around] == length[:n_spans])
    is_open = (found.offset[:n_spans] != FREE) | is_equal
    is_open[found.parent[(found.parent >= 0) & (found.parent < n_spans)]] = True
    whole = whole[is_open[whole]]
    if len(whole):
        raise SpanError(
            *spans.corpus.describe_span(int(spans.index[whole[0]])),
            " is discontinuous, and another span lies or ends within it",
            expected=f"{_together(spans)} to be apart from it or around it",
            remedy=IN_ONE_PIECE,
        )


def check_fit(spans: Marked, model: Model) -> None:
    """Refuse spans that a model does not allow.

    Raises
    ------
    OverlapError
        With the spans that contradict it.
    """
    contradiction = model.contradiction(spans.nesting)
    # Two equal spans are an overlap that the strictest model refuses, and the others do not notice.
    if spans.nesting.overlap is not None and (model.has_parents or model.is_independent):
        _check_distinct(spans)
    if contradiction is not None:
        raise OverlapError(
            *_both(spans, contradiction, model.contradicts),
            expected=f"{_together(spans)} {model.expects} under model {model.name!r}",
            remedy=("correct them, or use ", Use("model", AUTO.name)),
        )


def check_apart(spans: Marked, why: str, remedy: str = ", or use another unit") -> None:
    """Refuse spans that are placed together and overlap.

    Raises
    ------
    OverlapError
    """
    if spans.nesting.overlap is not None:
        found = _both(spans, spans.nesting.overlap, "overlaps")
        raise OverlapError(
            *found,
            expected=f"{_together(spans)} not to overlap, because {why}",
            remedy=f"correct them{remedy}",
        )


def refused(spans: Marked, group: int, measure: str, why: str) -> OverlapError:
    """Build the error for a measure that does not take a group of spans that overlap."""
    own = np.arange(spans.first[group], spans.first[group + 1])
    last = int(np.argmax(spans.start[own[1:]] < np.maximum.accumulate(spans.end[own])[:-1])) + 1
    one = int(own[np.argmax(spans.end[own[:last]])])
    return OverlapError(
        *_both(spans, (one, int(own[last])), "overlaps"),
        f"; measure {measure!r} is not defined for them: {why}",
        expected=f"{_together(spans)} not to overlap",
        remedy=f"use one of {', '.join(MEASURES)}",
    )


def _check_distinct(spans: Marked) -> None:
    """Refuse a span that one annotator marked twice with one label."""
    again = repeats(spans.owner(), spans.start, spans.end)
    if again.any():
        twin = int(spans.index[int(np.argmax(again)) - 1])
        found = (*spans.corpus.describe_span(twin), " was marked twice")
        remedy = (
            *("remove it, read with ", Use("strict", "-duplicates")),
            ", or build the corpus with duplicates='skip'",
        )
        raise OverlapError(*found, expected="each span once", remedy=remedy)


def _both(spans: Marked, pair: tuple[int, int], verb: str) -> tuple[Piece, ...]:
    """Name two spans of one annotator in one text."""
    one, two = (int(spans.index[i]) for i in pair)
    other = spans.corpus.span(two)
    first = pieces(spans.corpus.describe_span(one))
    return *first, f" {verb} [{other.start}, {other.end}) ", Quote(other.label)


def _together(spans: Marked) -> str:
    """Name the spans that are placed together."""
    if spans.scope.by_label:
        return "spans of one label by one annotator"
    return "spans of one annotator, whatever their labels,"


_OF_SEVERAL = ("folder", "columns")
"""Options by which what was read as the work of one annotator is that of several."""


def nothing_shared(corpus: Corpus, *who: Piece) -> NothingSharedError:
    """Build the error that no two annotators can be compared, `who` being the two missing."""
    counts = np.bincount(corpus.annotation_annotator, minlength=len(corpus.annotators))
    if not counts.any():
        return NothingSharedError("no document was annotated", expected="at least one")
    if np.count_nonzero(counts) == 1:
        found = ("only one annotator found: ", Quote(corpus.annotators[int(np.argmax(counts))]))
        uses = [piece for note in corpus.notes for piece in pieces(note.text)]
        uses = [piece for piece in uses if isinstance(piece, Use) and piece.option in _OF_SEVERAL]
        return NothingSharedError(
            *found,
            expected="at least two who annotated the same document",
            remedy=("perhaps ", uses[0]) if uses else (),
        )
    numbers: list[Piece] = []
    for name, count in zip(corpus.annotators[:10], counts.tolist(), strict=False):
        numbers += [", ", Quote(name), f" annotated {count}"]
    names = "check that all use the same document names, or read them with "
    return NothingSharedError(
        *("no document was annotated by ", *who, " (", *numbers[1:], ")"),
        expected="documents in common",
        remedy=(names, Use("match", "text"), " or ", Use("match", "order")),
    )
