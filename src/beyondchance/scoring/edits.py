"""What scores would be if some spans were other ones.

Many *variants* of a corpus are scored at once. Only the texts in which they differ from the corpus
are counted again; since rows of counts add, the score of a variant is the sum of all rows, less
those of its texts as they are, plus those of its texts as they would be. Sums are of whole numbers,
so that the digits are those of scoring the whole variant.
"""

from __future__ import annotations

from dataclasses import replace
from typing import Any

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import SharedDocuments, every_two
from beyondchance.core.exact import digits_of, put_together
from beyondchance.core.models import AUTO
from beyondchance.core.ragged import bounds, distinct, is_among, members, repeats, total
from beyondchance.results.counts import Counts
from beyondchance.results.score import Score
from beyondchance.scoring.counting import counted
from beyondchance.scoring.marks import marked
from beyondchance.scoring.options import Scoring
from beyondchance.types import Floats, Ints
from beyondchance.values import internal

_SPAN = ("annotator", "label", "start", "end")
_MISSING = ("missing_annotator", "missing_label", "missing_length")
_AT_A_TIME = 2**17
"""Spans of edited texts that are counted at a time."""


@internal
class Edits:
    """Spans that variants of a corpus lack, and spans that they have instead.

    A span that is moved or gets another label is removed, and added as it would be. Where it then
    equals another one of its annotator, there is one of them.

    Attributes
    ----------
    removed_from, removed : arrays of int, shape (removals,)
        The variant, and the number of the span in the corpus.
    variant, text, annotator, label, start, end : arrays of int, shape (additions,)
    """

    removed_from: Ints
    removed: Ints
    variant: Ints
    text: Ints
    annotator: Ints
    label: Ints
    start: Ints
    end: Ints

    def of(self, low: int, high: int) -> Edits:
        """Return the edits of some of the variants, numbered from 0 on."""
        gone = (self.removed_from >= low) & (self.removed_from < high)
        new = (self.variant >= low) & (self.variant < high)
        added = {name: getattr(self, name)[new] for name in ("text", *_SPAN)}
        return Edits(
            removed_from=self.removed_from[gone] - low,
            removed=self.removed[gone],
            variant=self.variant[new] - low,
            **added,
        )


@internal
class Base:
    """What variants are compared with: the corpus as it is, scored.

    Attributes
    ----------
    corpus : Corpus
    counts : Counts
        Of all pairs that are compared.
    scoring : Scoring
    gold : int, optional
        The annotator with whom all others are compared.
    """

    corpus: Corpus
    counts: Counts
    scoring: Scoring
    gold: int | None = None

    def scores(self, edits: Edits, n: int, who: Ints | None = None) -> list[Score]:
        """Compute the scores of n variants.

        Parameters
        ----------
        edits : Edits
        n : int
        who : array of int, shape (n,), optional
            The only annotator whose spans a variant changes, so that only the pairs with this one
            are counted again; -1 where there are several. With a gold standard, the score of a
            variant is that of this one against it, or of all.
        """
        whose = np.full(n, -1) if who is None else who
        return scores_of(self.sums(whose) + self.changes(edits, whose))

    def changes(self, edits: Edits, who: Ints) -> Floats:
        """Compute what each variant adds to the sums of the corpus (see `sums`)."""
        n = len(who)
        sizes = np.bincount(np.r_[edits.variant, edits.removed_from], minlength=n)
        parts = [
            self._changes(edits.of(low, high), who[low:high])
            for low, high in _stretches(sizes * _mean_size(self.corpus))
        ]
        return np.concatenate([np.zeros((_PIECES, 0)), *parts], axis=1)

    def _changes(self, edits: Edits, who: Ints) -> Floats:
        n = len(who)
        part, variant, text = edited(self.corpus, edits, who, self.gold)
        new = self._counted(part, who[variant])
        old, old_variant = self._old_rows(text, variant, who)
        gone = _digits(self.counts, old, old_variant, n)
        return _digits(new, np.arange(len(new)), variant[new.text], n) - gone

    def _counted(self, part: Corpus, who: Ints) -> Counts:
        """Count edited texts, for the pairs that may have changed."""
        one, two = every_two(part.annotation_document)
        a, b = part.annotation_annotator[one], part.annotation_annotator[two]
        own = who[part.annotation_document[one]]
        keep = (own < 0) | (a == own) | (b == own)
        if self.gold is not None:
            keep &= (a == self.gold) | (b == self.gold)
        shared = SharedDocuments(part, one[keep], two[keep])
        # Spans that lay apart may overlap now; where they do not, the digits are the same.
        model = self.scoring.model if self.scoring.model.is_independent else AUTO
        return counted(
            marked(part, self.scoring.scope), shared, replace(self.scoring, model=model)
        )[0]

    def _old_rows(self, text: Ints, variant: Ints, who: Ints) -> tuple[Ints, Ints]:
        """Return the rows of the corpus that variants replace, and the variant of each."""
        counts = self.counts
        order = np.argsort(counts.text, kind="stable")
        owner, row = members(bounds(counts.text[order], counts.n_texts), text)
        row = order[row]
        own = who[variant[owner]]
        keep = (own < 0) | (counts.a[row] == own) | (counts.b[row] == own)
        return row[keep], variant[owner][keep]

    def sums(self, who: Ints) -> Floats:
        """Sum the corpus as it is, over all pairs or, with a gold standard, over one.

        Returns
        -------
        array of float, shape (pieces, len(who))
            Whole numbers, which add without error (see `scores_of`).
        """
        counts, everything = self.counts, np.arange(len(self.counts))
        whole = _digits(counts, everything, np.zeros_like(everything), 1)
        if self.gold is None:
            return np.repeat(whole, len(who), axis=1)
        other = np.where(counts.a == self.gold, counts.b, counts.a)
        of_each = _digits(counts, everything, other, len(counts.annotators))
        return np.where(who < 0, whole, of_each[:, who])


def edited(
    corpus: Corpus, edits: Edits, who: Ints, gold: int | None = None
) -> tuple[Corpus, Ints, Ints]:
    """Return the texts that variants change, each a document of its own.

    Of variants that change the spans of one annotator only, with a gold standard, the spans of
    others are left out.

    Returns
    -------
    corpus : Corpus
    variant, text : arrays of int, shape (texts,)
        Of which variant each text is, and its number in the corpus.
    """
    n_texts = max(len(corpus.text_length), 1)
    touched = np.concatenate(
        [
            edits.removed_from * n_texts + corpus.span_text[edits.removed],
            edits.variant * n_texts + edits.text,
        ]
    )
    keys, number = distinct(touched)
    variant, text = np.divmod(keys, n_texts)
    by_text = np.argsort(corpus.span_text, kind="stable")
    place, row = members(bounds(corpus.span_text[by_text], n_texts), text)
    span = by_text[row]
    n_spans = max(len(corpus.span_text), 1)
    gone = distinct(edits.removed_from * n_spans + edits.removed)[0]
    keep = ~is_among(variant[place] * n_spans + span, gone)
    if gold is not None:
        annotator = corpus.span_annotator[span]
        own = who[variant[place]]
        keep &= (own < 0) | (annotator == own) | (annotator == gold)
    place, span = place[keep], span[keep]
    columns = _distinct_spans(
        np.concatenate([place, number[len(edits.removed) :]]),
        *(
            np.concatenate([getattr(corpus, f"span_{name}")[span], getattr(edits, name)])
            for name in _SPAN
        ),
    )
    at, missing = members(bounds(corpus.missing_text, n_texts), text)
    document = corpus.text_document[text]
    owner, annotation = members(bounds(corpus.annotation_document, len(corpus.documents)), document)
    part = Corpus(
        documents=tuple(map(str, range(len(keys)))),
        text_document=np.arange(len(keys)),
        text_length=corpus.text_length[text],
        annotators=corpus.annotators,
        labels=corpus.labels,
        annotation_document=owner,
        annotation_annotator=corpus.annotation_annotator[annotation],
        **columns,
        missing_text=at,
        **{name: getattr(corpus, name)[missing] for name in _MISSING},
        unit=corpus.unit,
        positions=corpus.positions,
    )
    return part, variant, text


def _distinct_spans(text: Ints, *values: Ints) -> dict[str, Any]:
    """Return columns of spans, each once, from their text, annotator, label, start and end."""
    order = np.lexsort((*values[::-1], text))
    columns = [column[order] for column in (text, *values)]
    keep = ~repeats(*columns)
    named = zip(("text", *_SPAN), columns, strict=True)
    return {f"span_{name}": column[keep] for name, column in named}


def _mean_size(corpus: Corpus) -> int:
    """Return about how many spans a text has."""
    return 1 + len(corpus.span_text) // max(len(corpus.text_length), 1)


def _stretches(sizes: Ints) -> list[tuple[int, int]]:
    """Cut variants into stretches with about as many spans as are counted at once."""
    block = np.cumsum(sizes) // _AT_A_TIME
    edges = np.flatnonzero(np.diff(block, prepend=-1, append=-1))
    return list(zip(edges[:-1].tolist(), edges[1:].tolist(), strict=True)) if len(sizes) else []


_SUMMED = ("matched", "expected", "size_a", "size_b")
_PIECES = 3 * len(_SUMMED) + 3
"""Whole numbers of which sums consist."""


def _digits(counts: Counts, rows: Ints, variant: Ints, n: int) -> Floats:
    """Sum rows by variant, in whole numbers: three digits of each sum, and rows with freedom.

    Returns
    -------
    array of float, shape (pieces, n)
    """
    pieces = [
        total(variant, digits, n)
        for name in _SUMMED
        for digits in digits_of(getattr(counts, name)[rows])
    ]
    flags = [total(variant, ~getattr(counts, name)[rows], n) for name in ("certain", "fixed")]
    return np.stack([*pieces, *flags, total(variant, np.ones(len(rows)), n)])


def scores_of(digits: Floats) -> list[Score]:
    """Compute scores from their sums, one for each column."""
    sums = [put_together(*digits[3 * i : 3 * i + 3]).tolist() for i in range(len(_SUMMED))]
    certain, fixed = ((row == 0).tolist() for row in digits[-3:-1])
    some = (digits[-1] > 0).tolist()
    return [
        Score(
            **dict(zip(_SUMMED, values, strict=True)),
            certain=is_certain and has_rows,
            fixed=is_fixed and has_rows,
        )
        for *values, is_certain, is_fixed, has_rows in zip(*sums, certain, fixed, some, strict=True)
    ]
