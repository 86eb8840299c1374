"""What is shuffled: the spans of a corpus as a scope sees them, and how they may lie."""

from __future__ import annotations

from dataclasses import dataclass

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.nesting import Nesting, nesting
from beyondchance.core.ragged import bounds, distinct
from beyondchance.errors import OverlapError
from beyondchance.messages import spoken
from beyondchance.scoring.options import SCOPES
from beyondchance.types import Ints

ANY = "(any)"
"""The one label of scope 'unlabelled'."""


@dataclass(frozen=True, slots=True)
class Marked:
    """The spans of a corpus, in groups that are compared and on lines that are shuffled.

    A *group* holds the spans of one annotator with one label in one text. Groups are sorted
    by text, label and annotator, the spans of a group by start and end.

    Attributes
    ----------
    corpus : Corpus
    scope : str
    labels : tuple of str
        As the scope sees them.
    index, start, end : arrays of int, shape (spans,)
        The number of each span in the corpus, and its offsets.
    first : array of int, shape (groups + 1,)
        Group g owns the spans ``first[g]:first[g + 1]``.
    text, label, annotator : arrays of int, shape (groups,)
    line : array of int, shape (spans,)
        Spans with the same number are shuffled together.
    n_merged : int
        Spans left out because they differ from another in their label alone, where labels
        do not count.
    """

    corpus: Corpus
    scope: str
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

    def owner(self) -> Ints:
        """The group of each span."""
        return np.repeat(np.arange(len(self.text)), np.diff(self.first))


def marked(corpus: Corpus, scope: str) -> Marked:
    """The spans of a corpus as a scope sees them."""
    labelled, by_label = SCOPES[scope].labelled, SCOPES[scope].by_label
    labels = corpus.labels if labelled else (ANY,)
    label = corpus.span_label if labelled else np.zeros_like(corpus.span_label)
    n_labels, n_annotators = max(len(labels), 1), max(len(corpus.annotators), 1)
    key = (corpus.span_text * n_labels + label) * n_annotators + corpus.span_annotator
    order = _sorted_spans(key, corpus.span_start, corpus.span_end)
    n_spans = len(order)
    if not labelled:
        order = _without_relabelled(corpus, key, order)
    key = key[order]
    begins = np.ones(len(key), dtype=bool)
    begins[1:] = key[1:] != key[:-1]
    group = np.cumsum(begins) - 1
    cell, annotator = np.divmod(key[begins], n_annotators)
    text, group_label = np.divmod(cell, n_labels)
    line = group
    if labelled and not by_label:
        line = distinct(text * n_annotators + annotator)[1][group]
    return Marked(
        corpus=corpus,
        scope=scope,
        labels=labels,
        index=order,
        start=corpus.span_start[order],
        end=corpus.span_end[order],
        first=bounds(group, int(np.count_nonzero(begins))),
        text=text,
        label=group_label,
        annotator=annotator,
        line=line,
        n_merged=n_spans - len(order),
    )


def _sorted_spans(key: Ints, start: Ints, end: Ints) -> Ints:
    """Order spans by key, start and end."""
    stride = int(end.max(initial=0)) + 1
    if int(key.max(initial=0)) < 2**62 // stride**2:
        return np.argsort((key * stride + start) * stride + end, kind="stable")
    return np.lexsort((end, start, key))


def _without_relabelled(corpus: Corpus, key: Ints, order: Ints) -> Ints:
    """Leave out spans that differ from the one before in their label alone."""
    columns = (key, corpus.span_start, corpus.span_end)
    order = order[np.lexsort((corpus.span_label[order], *(c[order] for c in reversed(columns))))]
    repeated = np.zeros(len(order), dtype=bool)
    repeated[1:] = corpus.span_label[order[1:]] != corpus.span_label[order[:-1]]
    for column in columns:
        repeated[1:] &= column[order[1:]] == column[order[:-1]]
    return order[~repeated]


def fitting_model(spans: Marked) -> tuple[str, str]:
    """The first of disjoint, nested and overlapping that fits all spans, and why."""
    found = nesting(spans.line, spans.start, spans.end)
    together = _together(spans)
    if found.overlap is None:
        return "disjoint", f"no two {together} overlap"
    if found.crossing is None:
        where = _both(spans, found.overlap, "holds")
        return "nested", f"{together} lie inside one another and none cross: {where}"
    return "overlapping", f"{together} cross: {_both(spans, found.crossing, 'crosses')}"


def checked_nesting(spans: Marked, model: str) -> Nesting:
    """How the spans lie in one another, if the model allows it.

    Raises
    ------
    OverlapError
        If it does not, with the spans that contradict it.
    """
    found = nesting(spans.line, spans.start, spans.end)
    expected = f"model {model!r} expects {_together(spans)}"
    if model == "disjoint" and found.overlap is not None:
        raise OverlapError(
            f"{_both(spans, found.overlap, 'overlaps')}; {expected} not to overlap: correct them, "
            f"or use model={'nested' if found.crossing is None else 'overlapping'!r}"
        )
    if found.overlap is not None:
        _check_distinct(spans)
    if model == "nested" and found.crossing is not None:
        raise OverlapError(
            f"{_both(spans, found.crossing, 'crosses')}; {expected} to be disjoint or one inside "
            "the other: correct them, or use model='overlapping'"
        )
    return found


def _check_distinct(spans: Marked) -> None:
    """Refuse a span that one annotator marked twice with one label."""
    owner = spans.owner()
    same = owner[1:] == owner[:-1]
    for column in (spans.start, spans.end):
        same &= column[1:] == column[:-1]
    if same.any():
        twin = int(spans.index[int(np.argmax(same))])
        raise OverlapError(
            *spans.corpus.describe_span(twin),
            " was marked twice",
            expected="each span once",
            remedy="remove the duplicate",
        )


def _both(spans: Marked, pair: tuple[int, int], verb: str) -> str:
    """Name two spans of one annotator in one text."""
    one, two = (int(spans.index[i]) for i in pair)
    other = spans.corpus.span(two)
    where = spoken(spans.corpus.describe_span(one))
    return f"{where} {verb} [{other.start}, {other.end}) {other.label!r}"


def _together(spans: Marked) -> str:
    """Name the spans that are shuffled together."""
    if SCOPES[spans.scope].by_label:
        return "spans of one label by one annotator"
    return "spans of one annotator, whatever their labels,"
