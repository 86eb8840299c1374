"""Where two annotators differ: the table of their aligned spans, and what each pair is."""

from __future__ import annotations

from collections.abc import Iterable, Sequence
from dataclasses import dataclass, replace
from functools import cached_property
from typing import Any, Self, Unpack

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import shared_documents
from beyondchance.checks import checked_option
from beyondchance.core.ragged import distinct, n_distinct
from beyondchance.errors import NothingSharedError, OptionError
from beyondchance.messages import Quote
from beyondchance.options import CorpusOptions
from beyondchance.results.counts import rows_of
from beyondchance.scoring.answers import settings_of
from beyondchance.scoring.data import corpus_of
from beyondchance.scoring.marks import nothing_shared
from beyondchance.scoring.one_to_one import KINDS, aligned, value_of
from beyondchance.scoring.places import OfKinds, Places, places_of
from beyondchance.types import Ints

__all__ = ["KINDS", "Disagreements", "disagreements"]


@dataclass(frozen=True, eq=False, repr=False, kw_only=True)
class Disagreements(OfKinds):
    """The spans of pairs of annotators, aligned one to one, as columns.

    A row is a pair of aligned spans, or a span without a partner. Over all pairs of annotators,
    ``2 * (agree + label + boundary + both) + missed + extra`` is the number of spans. The kind:

    ========  ==========================================================
    agree     equal offsets, equal label
    label     equal offsets, different labels
    boundary  overlapping with different offsets, equal label
    both      overlapping with different offsets, different labels
    missed    marked by annotator a only, so that b missed it
    extra     marked by annotator b only, in addition to what a marked
    ========  ==========================================================

    Rows are in reading order: by text and by where the first of their spans starts, then by
    annotators.

    Attributes
    ----------
    corpus : Corpus
        Where the spans are from.
    pairs : tuple of (str, str)
        The annotators a and b who were compared.
    documents : tuple of str
        Those in which annotators were compared.
    a, b : arrays of int, shape (rows,)
        The annotators of each row, by their number in the corpus.
    kind : array of int, shape (rows,)
        The kind of each row, by its number in `KINDS`.
    span_a, span_b : arrays of int, shape (rows,)
        The spans, by their number in the columns of the corpus; -1 where there is none.
    """

    corpus: Corpus
    pairs: tuple[tuple[str, str], ...]
    documents: tuple[str, ...]
    a: Ints
    b: Ints
    kind: Ints
    span_a: Ints
    span_b: Ints
    kinds = KINDS

    def __repr__(self) -> str:
        found = ", ".join(f"{name}={number}" for name, number in self.by_kind().items())
        return f"Disagreements({len(self.pairs)} pairs of annotators: {found})"

    @property
    def text(self) -> Ints:
        """Return the text of each row, by its number in the corpus."""
        return self.corpus.span_text[np.maximum(self.span_a, self.span_b)]

    @cached_property
    def places(self) -> Places:
        """Join spans of any of the annotators that overlap into places.

        With more than two annotators a place is one row, however many pairs differ in it.
        """
        compared = {name for pair in self.pairs for name in pair}
        first = {name for name, _ in self.pairs}
        gold = self.corpus.gold if first == {self.corpus.gold} else None
        names = [name for name in self.corpus.annotators if name in compared]
        return places_of(self.corpus, names, gold)

    @property
    def n_spans(self) -> int:
        """Count the spans in the rows, each once, however many pairs it is in."""
        return n_distinct(self._spans()[1])

    @property
    def signature(self) -> str:
        """Return everything that changes a count, to cite."""
        nothing_scored = dict.fromkeys(("measure", "model", "scope", "average"))
        return str(settings_of(self.corpus, **nothing_scored, gold=self.corpus.gold))

    def by_pair(self) -> dict[tuple[str, str], dict[str, int]]:
        """Return how many rows of each kind each pair of annotators has."""
        index, n = self.corpus.annotators.index, len(self.corpus.annotators)
        # Pairs ascend.
        pair = [index(a) * n + index(b) for a, b in self.pairs]
        row = np.searchsorted(pair, self.a * n + self.b)
        counts = np.bincount(row * len(KINDS) + self.kind, minlength=len(pair) * len(KINDS))
        return {
            names: dict(zip(KINDS, found, strict=True))
            for names, found in zip(
                self.pairs, counts.reshape(-1, len(KINDS)).tolist(), strict=True
            )
        }

    def label_table(self) -> dict[tuple[str | None, str | None], int]:
        """Count how often a label of annotator a met a label of annotator b.

        None stands for no span: ``(label, None)`` counts what b missed, ``(None, label)``
        what b has in addition. Pairs of labels that do not occur are left out.
        """
        names = [*self.corpus.labels, None]  # the last for -1
        code_a, code_b = (self._label(span) % len(names) for span in (self.span_a, self.span_b))
        cells, number = distinct(code_a * len(names) + code_b)
        counts = np.bincount(number, minlength=len(cells))
        return {
            (names[cell // len(names)], names[cell % len(names)]): count
            for cell, count in zip(cells.tolist(), counts.tolist(), strict=True)
        }

    def _spans(self) -> tuple[Ints, Ints]:
        span = np.concatenate([self.span_a, self.span_b])
        row = np.flatnonzero(span >= 0)
        return row % max(len(self), 1), span[row]

    def __getitem__(self, rows: slice | Ints) -> Self:
        """Return some of the rows."""
        columns = ("a", "b", "kind", "span_a", "span_b")
        return replace(self, **{name: getattr(self, name)[rows] for name in columns})

    def characters(self) -> tuple[Ints, Ints, Ints, Ints] | None:
        """Return start and end of the spans of a, then of b, in characters of their texts.

        -1 where there is no span; None where the texts are not known.
        """
        corpus = self.corpus
        if not corpus.knows_characters:
            return None

        def offsets(span: Ints) -> tuple[Ints, Ints]:
            # Rows without a span look up a token of their text, and do not use it.
            start = np.where(span >= 0, corpus.span_start[span], 0)
            end = np.where(span >= 0, corpus.span_end[span], 1)
            low, high = corpus.characters(self.text, start, end)
            return np.where(span >= 0, low, -1), np.where(span >= 0, high, -1)

        return (*offsets(self.span_a), *offsets(self.span_b))

    def to_dict(self) -> dict[str, list[Any]]:
        """Return columns of plain values; None where there is no span or no text.

        ``text`` is the number of the text in its document, from 0 on. Offsets count
        positions from the beginning of the text, and ``surface`` is what they cover.
        """
        corpus, text = self.corpus, self.text
        columns: dict[str, list[Any]] = {
            "document": _picked(corpus.documents, corpus.text_document[text]),
            "text": corpus.number_in_document(text).tolist(),
            "kind": _picked(KINDS, self.kind),
            "a": _picked(corpus.annotators, self.a),
            "b": _picked(corpus.annotators, self.b),
        }
        for side, span in (("a", self.span_a), ("b", self.span_b)):
            columns[f"start_{side}"] = _picked(corpus.span_start.data, span)
            columns[f"end_{side}"] = _picked(corpus.span_end.data, span)
            columns[f"label_{side}"] = _picked(corpus.labels, self._label(span))
            place = corpus.span_text[span], corpus.span_start[span], corpus.span_end[span]
            own = np.where(span < 0, -1, np.arange(len(span)))
            columns[f"surface_{side}"] = _picked(corpus.words(*place), own)
        return columns

    def to_rows(self) -> list[dict[str, Any]]:
        """Return a dictionary for each row, as any table library takes them."""
        return rows_of(self.to_dict())

    def _label(self, span: Ints) -> Ints:
        """Return the label of each span; -1 where there is none."""
        return value_of(self.corpus.span_label, span)


def _picked(values: Sequence[Any], numbers: Ints) -> list[Any]:
    """Return the values that have some numbers; None for -1."""
    return [None if i < 0 else values[i] for i in numbers.tolist()]


def disagreements(
    data: Any,
    *others: Any,
    pairs: Iterable[tuple[str, str]] | None = None,
    **options: Unpack[CorpusOptions],
) -> Disagreements:
    """Align the spans of pairs of annotators one to one, and tell how each pair differs.

    Overlapping spans are aligned: equal ones first, then those with equal offsets. The rest
    is aligned such that spans of one label share most positions in all, then such that spans
    of different labels do. Spans may overlap each other and occur twice. Where no annotator
    marked a span twice with one label, the rows of kind ``agree`` are the equal spans that
    ``agreement(corpus, measure="exact")`` counts as matched, whatever the model.

    The result does not depend on the order of spans, documents or annotators; exchanging
    a and b exchanges ``missed`` and ``extra``. Memory follows the number of spans, even if
    thousands of them overlap.

    Parameters
    ----------
    data, *others
        As in `agreement`.
    pairs : iterable of (str, str), optional
        The annotators to compare, as (a, b). By default all who annotated a document
        together, in the order of the corpus. A gold standard that the corpus names is left
        out where there are two annotators or more, unless `gold` is given: then each is
        compared with it, as annotator a. With one other, it is annotator a too.
    **options
        How these become a corpus (see `corpus`).

    Returns
    -------
    Disagreements

    Raises
    ------
    NothingSharedError
        When no document was annotated by two annotators, or by both of a given pair.
    OptionError
        For a pair that is not one, or names an annotator who is not in the corpus.

    Examples
    --------
    Ben's first span is shorter than Anna's, and he overlooked the place::

        anna  PPP..LL
        ben   .PP....

    >>> corpus = Corpus.from_tags(
    ...     {
    ...         "anna": [["B-P", "I-P", "I-P", "O", "O", "B-L", "I-L"]],
    ...         "ben": [["O", "B-P", "I-P", "O", "O", "O", "O"]],
    ...     }
    ... )
    >>> found = disagreements(corpus)
    >>> for row in found.to_rows():
    ...     print(row["kind"], row["start_a"], row["end_a"], row["start_b"], row["end_b"])
    boundary 0 3 1 3
    missed 5 7 None None
    >>> found.by_kind()["boundary"], found.label_table()
    (1, {('L', None): 1, ('P', 'P'): 1})
    """
    corpus = corpus_of(data, others, options)
    if pairs is None:
        document, a, b = _all_pairs(corpus, with_gold=options.get("gold") is not None)
    else:
        document, a, b = _some_pairs(corpus, pairs)
    if not len(document):
        raise nothing_shared(corpus, "two annotators to compare")
    rows = aligned(corpus, document, a, b)
    return Disagreements(
        corpus=corpus,
        pairs=_distinct_pairs(corpus, a, b),
        documents=tuple(corpus.documents[i] for i in distinct(document)[0].tolist()),
        a=a[rows.comparison],
        b=b[rows.comparison],
        kind=rows.kind,
        span_a=rows.span_a,
        span_b=rows.span_b,
    )


def _all_pairs(corpus: Corpus, *, with_gold: bool) -> tuple[Ints, Ints, Ints]:
    """Return every document with every pair who annotated it: document, a, b.

    Of pairs with a gold standard it is a; there are only these, or only others if there are any.
    """
    gold = corpus.annotators.index(corpus.gold) if corpus.gold in corpus.annotators else -1
    shared = shared_documents(corpus, gold=gold if with_gold else None)
    a, b = (corpus.annotation_annotator[rows] for rows in (shared.one, shared.two))
    keep = (a != gold) & (b != gold) | with_gold | (len(corpus.annotators) < 3)
    document, a, b = (x[keep] for x in (corpus.annotation_document[shared.one], a, b))
    return document, np.where(b == gold, b, a), np.where(b == gold, a, b)


def _some_pairs(corpus: Corpus, pairs: Iterable[tuple[str, str]]) -> tuple[Ints, Ints, Ints]:
    """Return the documents that each of some pairs share: document, a, b."""
    numbers = _validated_pairs(corpus, pairs)
    own = {
        who: corpus.annotation_document[corpus.annotation_annotator == who]
        for who in {who for pair in numbers for who in pair}
    }
    parts = []
    for a, b in numbers:
        shared = np.intersect1d(own[a], own[b])
        if not len(shared):
            one, other = Quote(corpus.annotators[a]), Quote(corpus.annotators[b])
            found = ("no document was annotated by both ", one, " and ", other)
            raise NothingSharedError(*found, expected="pairs who share a document")
        parts.append((shared, np.full(len(shared), a), np.full(len(shared), b)))
    document, left, right = (np.concatenate(column) for column in zip(*parts, strict=True))
    return document, left, right


def _validated_pairs(corpus: Corpus, pairs: object) -> list[tuple[int, int]]:
    """Check that pairs are of different annotators, each once; return their numbers."""
    if not isinstance(pairs, Iterable):
        raise OptionError("pairs are ", Quote(pairs), expected="a list of annotators (a, b)")
    number = {name: index for index, name in enumerate(corpus.annotators)}
    known: set[tuple[int, int]] = set()
    numbers = []
    for pair in pairs:
        if isinstance(pair, str) or not isinstance(pair, Sequence) or len(pair) != 2:
            raise OptionError("pairs hold ", Quote(pair), expected="two annotators, as (a, b)")
        a, b = (
            number[checked_option("annotator", name, corpus.annotators, are_data=True)]
            for name in pair
        )
        if a == b:
            raise OptionError("pairs hold ", Quote(pair), expected="two different annotators")
        if (a, b) in known:
            raise OptionError("pairs hold ", Quote(pair), " twice", expected="each pair once")
        known |= {(a, b), (b, a)}
        numbers.append((a, b))
    if not numbers:
        raise OptionError("pairs are empty", expected="at least one, as (a, b)")
    return numbers


def _distinct_pairs(corpus: Corpus, a: Ints, b: Ints) -> tuple[tuple[str, str], ...]:
    """Return the names of the pairs that are compared."""
    n = len(corpus.annotators)
    names = corpus.annotators
    return tuple((names[i // n], names[i % n]) for i in distinct(a * n + b)[0].tolist())
