"""What a deviation is about: the label that a span takes in, the word at its edge, its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from dataclasses import dataclass
from typing import NamedTuple

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import distinct, spread
from beyondchance.diagnosis.deviations import (
    ALONE,
    EARLIER,
    LABEL,
    LATER,
    LONGER,
    MISSED,
    SHORTER,
    Deviations,
)
from beyondchance.types import Bools, Ints

OFTEN = 3
"""How often a word or an expression must occur in one kind of deviation to be named."""
_MOST_NEIGHBOURS = 2**24
"""Pairs of a stretch and a span near it that are looked at."""
_LONGEST = 40
"""Characters of an expression that is named."""


class Detail(NamedTuple):
    """What a deviation is about.

    Attributes
    ----------
    about : {"", "label", "overlap", "punctuation", "word", "text"}
        Nothing that is known; the label of the others; a label that the others (or, of what is
        shorter or missed, the annotator) mark there; punctuation or a word at the edge; the text
        of the span.
    name : str
        The label, the word or the text.
    """

    about: str = ""
    name: str = ""


@dataclass(frozen=True, eq=False)
class Details:
    """The details of deviations: each by its number.

    Attributes
    ----------
    known : list of Detail
    number : array of int, shape (rows,)
    """

    known: Sequence[Detail]
    number: Ints


def details(corpus: Corpus, found: Deviations, gold: int | None) -> Details:
    """What each deviation is about.

    The label of the others where that differs; else a label that is marked where the edges differ
    or inside what one of them does not mark; else a word or the text, if it is frequent.
    """
    about: list[Detail] = [Detail()] * len(found)
    labels = corpus.labels
    for row in np.flatnonzero(found.kind == LABEL).tolist():
        about[row] = Detail("label", labels[found.to_label[row]])
    low, high = _stretches(corpus, found)
    rest = found.kind != LABEL
    met = _label_there(corpus, found, low, high, gold)
    for row in np.flatnonzero(rest & (met >= 0)).tolist():
        about[row] = Detail("overlap", labels[met[row]])
    for row, detail in _words(corpus, found, low, high, rest & (met < 0)):
        about[row] = detail
    known = list(dict.fromkeys(about))
    number = {detail: i for i, detail in enumerate(known)}
    return Details(known, np.fromiter((number[detail] for detail in about), np.int64, len(about)))


def _stretches(corpus: Corpus, found: Deviations) -> tuple[Ints, Ints]:
    """What one of them marks and the other does not: between two edges, or a whole span."""
    own, theirs = np.maximum(found.span, 0), np.maximum(found.theirs, 0)
    is_missed = found.kind == MISSED
    start = np.where(is_missed, found.start, corpus.span_start[own])
    end = np.where(is_missed, found.end, corpus.span_end[own])
    other_start, other_end = corpus.span_start[theirs], corpus.span_end[theirs]
    is_start = found.kind <= LATER
    is_end = (found.kind == SHORTER) | (found.kind == LONGER)
    low = np.select([is_start, is_end], [np.minimum(start, other_start), end], start)
    high = np.select([is_start, is_end], [np.maximum(start, other_start), other_end], end)
    return np.minimum(low, high), np.maximum(low, high)


def _label_there(
    corpus: Corpus, found: Deviations, low: Ints, high: Ints, gold: int | None
) -> Ints:
    """The label that is marked in a stretch by those who do not count it to the span; or -1.

    Where the annotator marks more, these are the others, and at least half of them. Where the
    annotator marks less, it is the annotator.
    """
    owner, span = _overlapping(corpus, found, low, high)
    is_more = np.isin(found.kind, (EARLIER, LONGER, ALONE))
    who = corpus.span_annotator[span]
    keep = (who == found.who[owner]) != is_more[owner]
    if gold is not None:
        keep &= (who == gold) | (who == found.panel[owner])
    # Of edges, what overlaps the part that both mark stands in the place of the span itself.
    own, theirs = np.maximum(found.span, 0)[owner], np.maximum(found.theirs, 0)[owner]
    both_low = np.maximum(corpus.span_start[own], corpus.span_start[theirs])
    both_high = np.minimum(corpus.span_end[own], corpus.span_end[theirs])
    is_between = (corpus.span_start[span] < both_high) & (corpus.span_end[span] > both_low)
    keep &= (found.kind[owner] > LONGER) | ~is_between
    owner, span, who = owner[keep], span[keep], who[keep]
    n_annotators, n_labels = max(len(corpus.annotators), 1), max(len(corpus.labels), 1)
    # Each annotator once, however many spans of a label are there.
    once = distinct((owner * n_labels + corpus.span_label[span]) * n_annotators + who)[0]
    cells, number = distinct(once // n_annotators)
    count = np.bincount(number, minlength=len(cells))
    row, label = np.divmod(cells, n_labels)
    often = 2 * count >= np.where(is_more[row], found.n_others[row], 1)
    row, label, count = row[often], label[often], count[often]
    # The most frequent label of each, the first of several: what is written last stays.
    best = np.lexsort((-label, count, row))
    there = np.full(len(found), -1)
    there[row[best]] = label[best]
    return there


def _overlapping(corpus: Corpus, found: Deviations, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """The spans that overlap stretches: the row of each stretch, and the span.

    None of them where they are too many to be looked at.
    """
    order = np.lexsort((corpus.span_start, corpus.span_text))
    text = corpus.span_text[order]
    place = corpus.text_begin[text] + corpus.span_start[order]
    longest = np.zeros(len(corpus.text_length), dtype=np.int64)
    np.maximum.at(longest, text, (corpus.span_end - corpus.span_start)[order])
    begin = corpus.text_begin[found.text]
    first = np.searchsorted(place, begin + np.maximum(low - longest[found.text], 0))
    counts = np.searchsorted(place, begin + high) - first
    counts[found.kind == LABEL] = 0
    if int(counts.sum()) > _MOST_NEIGHBOURS:
        counts[:] = 0
    owner, step = spread(counts)
    span = order[first[owner] + step]
    keep = corpus.span_end[span] > low[owner]
    return owner[keep], span[keep]


def _words(
    corpus: Corpus, found: Deviations, low: Ints, high: Ints, wanted: Bools
) -> list[tuple[int, Detail]]:
    """The words of stretches, those that are frequent in a kind of deviation of a label."""
    if not corpus.knows_characters:
        return []
    texts, rows, text = corpus.texts or (), np.flatnonzero(wanted).tolist(), found.text[wanted]
    starts, ends = corpus.characters(text, low[wanted], high[wanted])
    places = zip(text.tolist(), starts.tolist(), ends.tolist(), strict=True)
    surfaces = [texts[number][i:j] for number, i, j in places]
    kinds = found.kind[wanted].tolist()
    groups = zip(found.panel[wanted].tolist(), found.label[wanted].tolist(), kinds, strict=True)
    named = [_named(kind, surface) for kind, surface in zip(kinds, surfaces, strict=True)]
    keys = [(*group, detail) for group, detail in zip(groups, named, strict=True)]
    count = Counter(keys)
    return [
        (row, key[-1])
        for row, key in zip(rows, keys, strict=True)
        if key[-1].about and (count[key] >= OFTEN or key[-1].about == "punctuation")
    ]


def _named(kind: int, surface: str) -> Detail:
    """The detail of a stretch: a whole span, or what lies between two edges."""
    words = surface.split()
    if kind in {ALONE, MISSED}:
        shown = " ".join(words).lower()
        return Detail("text", shown) if shown and len(shown) <= _LONGEST else Detail()
    if not any(character.isalnum() for character in surface):
        return Detail("punctuation")
    if len(words) == 1 and len(surface) <= _LONGEST:
        return Detail("word", words[0].lower())
    return Detail()
