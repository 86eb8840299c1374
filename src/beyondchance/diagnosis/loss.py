r"""Where agreement is lost: why two annotations do not match as much as they could.

Let the two sides of a row of counts (a text, a label and two annotators) have the sizes a and b,
and the match m. Two sides of unequal size cannot match completely: half of :math:`|a - b|` is lost
at least. Of that, some is *more of some labels*: within the text, another label of the pair has too
much where this one has too little, at the same place or not. Of the rest, some is *more in some
texts*: another text of the pair has too much where this one has too little. What is left is *more
overall*: one of the two marks more. All else, :math:`\min(a, b) - m`, is *elsewhere in the text*;
where only spans of equal length can match, some of it is *other lengths*.

With :math:`S = (a + b)/2` and the expected match E, summed over rows, and :math:`D = S - E`,

.. math:: 1 - corrected = (S - m) / D

so that the sums of all causes, divided by D, add up to what is missing. Where what is too much
must be divided among several that have too little, each gets its share.
"""

from __future__ import annotations

from collections.abc import Mapping
from dataclasses import dataclass
from functools import cached_property
from math import nan

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.observed import SpanGroups, equal_spans
from beyondchance.core.ragged import bounds, distinct, largest, total
from beyondchance.core.resampling import places
from beyondchance.results.agreement import Agreement
from beyondchance.results.counts import Counts
from beyondchance.results.intervals import ConfidenceInterval, interval_from
from beyondchance.results.resampling import Resampling
from beyondchance.scoring.answers import without_gold
from beyondchance.scoring.marks import ANY
from beyondchance.scoring.options import Scoring
from beyondchance.types import Floats, Ints

AMOUNT, TEXT, LABEL, LENGTH, PLACE = (
    *("more overall", "more in some texts", "more of some labels"),
    *("other lengths", "elsewhere in the text"),
)
"""Why agreement is lost: one of two annotators marks …"""
_CELLS = 2**22
"""Numbers that are held at a time while documents are left out."""


@dataclass(frozen=True, eq=False)
class Losses:
    """What the rows of counts lose, by cause.

    Attributes
    ----------
    counts : Counts
    names : tuple of str
        The causes that the measure and the scope have.
    uneven : array of float, shape (rows,)
        What is lost because one side is larger, other labels of the text apart.
    is_first : array of bool, shape (rows,)
        Whether, in the text, it is the first of the pair who marks more.
    fixed : mapping of cause to array of float, shape (rows,)
        What is lost in each row by a cause that its text decides.
    """

    counts: Counts
    names: tuple[str, ...]
    uneven: Floats
    is_first: Ints
    fixed: Mapping[str, Floats]

    @cached_property
    def room(self) -> Floats:
        """The most that could match beyond chance, in each row."""
        counts = self.counts
        return (counts.size_a + counts.size_b) / 2 - counts.expected

    def shares(self, group: Ints, n_groups: int) -> list[dict[str, float]]:
        """Compute the causes of each group of rows, as shares of what could match beyond chance.

        Groups may divide the rows of a pair, such as by label.
        """
        pair = self.counts.pair
        side = pair * 2 + self.is_first
        large = total(side, self.uneven, 2 * largest(pair, -1) + 2).reshape(-1, 2)
        moved = (self.uneven * _moved(large).ravel()[side]) if len(side) else self.uneven
        columns = {AMOUNT: self.uneven - moved, TEXT: moved, **self.fixed}
        room = total(group, self.room, n_groups)
        sums = {name: total(group, columns[name], n_groups) for name in self.names}
        with np.errstate(divide="ignore", invalid="ignore"):
            shares = {name: (values / room).tolist() for name, values in sums.items()}
        return [
            {name: values[number] for name, values in shares.items()} for number in range(n_groups)
        ]

    def intervals(
        self, group: Ints, n_groups: int, options: Resampling, unit: str
    ) -> list[dict[str, ConfidenceInterval]]:
        """Compute confidence intervals of the same shares, from leaving out each document."""
        documents, document = distinct(self.counts.document)
        pair, n = self.counts.pair, len(documents)
        # What is uneven by document, pair, side and group, and the rest by document and group.
        n_pairs = largest(pair, -1) + 1
        n_cells = 2 * n_pairs * n_groups
        cell = (pair * 2 + self.is_first) * n_groups + group
        uneven, row = total(cell, self.uneven, n_cells), document * n_groups + group
        flat = {
            name: total(row, values, n * n_groups).reshape(n, n_groups)
            for name, values in {**self.fixed, "": self.room}.items()
        }
        rest = {name: values.sum(axis=0) - values for name, values in flat.items()}
        left_out = np.zeros((n, n_groups, len(self.names)))
        step = max(1, _CELLS // max(n_cells, 1))
        for first in range(0, n, step):
            some = slice(first, min(first + step, n))
            rows = np.flatnonzero((document >= some.start) & (document < some.stop))
            key = (document[rows] - first) * n_cells + cell[rows]
            own = total(key, self.uneven[rows], (some.stop - first) * n_cells)
            large = np.maximum(uneven - own.reshape(-1, n_cells), 0)
            large = large.reshape(-1, n_pairs, 2, n_groups)
            moved = large * _moved(large.sum(axis=3))[..., None]
            columns = {
                AMOUNT: (large - moved).sum(axis=(1, 2)),
                TEXT: moved.sum(axis=(1, 2)),
                **{name: rest[name][some] for name in self.fixed},
            }
            with np.errstate(divide="ignore", invalid="ignore"):
                shares_here = [columns[name] / rest[""][some] for name in self.names]
            left_out[some] = np.stack(shares_here, axis=2)
        if not n:
            nothing = ConfidenceInterval(nan, nan, why="nothing was marked", units=((unit, 0),))
            return [dict.fromkeys(self.names, nothing)] * n_groups
        order = np.argsort(places([self.counts.documents[i] for i in documents.tolist()]))
        shares = self.shares(group, n_groups)
        return [
            {
                name: interval_from(
                    np.zeros(0),
                    shares[which][name],
                    [left_out[order, which, i]],
                    options,
                    kinds=[unit],
                    lowest=0.0,
                )
                for i, name in enumerate(self.names)
            }
            for which in range(n_groups)
        ]


def _moved(large: Floats) -> Floats:
    """Compute which share of its surplus either side has to make up for one of the other.

    The last axis is of the two sides.
    """
    both = large.min(axis=-1, keepdims=True)
    share: Floats = np.divide(both, large, out=np.zeros_like(large), where=large > 0)
    return share


LOST: Mapping[str, str] = {
    AMOUNT: "one marks more overall",
    TEXT: "one marks more in some texts",
    LABEL: "one marks more of some labels within a text",
    LENGTH: "spans have other lengths",
    PLACE: "one marks elsewhere in the text",
}
"""Each cause in the words of a sentence."""


def loss_of(result: Agreement, given: Corpus, scoring: Scoring) -> dict[str, float]:
    """Return what is missing to full agreement, by cause; empty where it is not divided.

    Parameters
    ----------
    result : Agreement
        Of annotators with each other.
    given : Corpus
        What it was computed from.
    scoring : Scoring
    """
    counts = result.counts
    if not counts.is_by_document or counts.is_corpus_wide:
        return {}
    corpus = as_compared(given, scoring)
    ordered = counts.ordered(corpus.annotators)
    found = losses(corpus, ordered, scoring)
    return {} if found is None else found.shares(np.zeros(len(counts), dtype=np.int64), 1)[0]


def as_compared(given: Corpus, scoring: Scoring, gold: str | None = None) -> Corpus:
    """Return the corpus of those who are compared, with one label where labels do not count."""
    corpus = without_gold(given) if gold is None else given.with_gold(gold)
    if scoring.scope.labelled:
        return corpus
    return corpus.rename_labels(dict.fromkeys(corpus.labels, ANY), duplicates="skip")


def losses(corpus: Corpus, counts: Counts, scoring: Scoring) -> Losses | None:
    """Compute what each row loses, by cause; None if nothing limits a match by the measure."""
    if not scoring.measure.is_one_to_one:
        return None
    labelled = scoring.scope.labelled
    difference = counts.size_a - counts.size_b
    half = np.abs(difference) / 2
    pair = counts.pair
    texts, text = distinct(pair * max(counts.n_texts, 1) + counts.text)
    is_first = (difference > 0).astype(np.int64)
    large = total(text * 2 + is_first, half, 2 * len(texts)).reshape(-1, 2)
    relabelled = half * _moved(large).ravel()[text * 2 + is_first] if len(half) else half
    fixed: dict[str, Floats] = {LABEL: relabelled} if labelled else {}
    matched, most = counts.matched, np.minimum(counts.size_a, counts.size_b)
    if scoring.measure.name == "exact":
        by_length = _equal_lengths(corpus, counts, labelled=labelled)
        fixed[LENGTH] = most - by_length
        most = by_length
    fixed[PLACE] = most - matched
    return Losses(
        counts=counts,
        names=(AMOUNT, TEXT, *fixed),
        uneven=half - relabelled,
        is_first=is_first,
        fixed=fixed,
    )


def _equal_lengths(corpus: Corpus, counts: Counts, *, labelled: bool) -> Floats:
    """Count the spans of each row that can be paired with one of equal length."""
    n_labels, n_annotators = len(counts.labels), len(corpus.annotators)
    cell = (corpus.span_text * n_labels + corpus.span_label * labelled) * n_annotators
    row = (counts.text * n_labels + counts.label) * n_annotators
    known, group = distinct(np.r_[cell + corpus.span_annotator, row + counts.a, row + counts.b])
    of_span, a, b = np.split(group, np.cumsum([len(cell), len(row)]))
    length = corpus.shape[np.argsort(of_span, kind="stable")]
    # As if all spans began at one place.
    groups = SpanGroups(bounds(of_span, len(known)), np.zeros_like(length), length)
    return equal_spans(groups, a, b).astype(np.float64)
