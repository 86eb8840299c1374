"""What a deviation is about: the label that a span takes in, the word at its edge, its words."""

from __future__ import annotations

from collections import Counter
from collections.abc import Iterator, Sequence
from typing import NamedTuple

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.core.observed import overlapping
from beyondchance.core.ragged import distinct
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

OFTEN, SHARE = 3, 1 / 3
"""How often a word must occur in a label's deviations of one kind to be named, and in which share
of them."""
_MOST_NEIGHBOURS = 2**24
"""Pairs of a stretch and a span that overlaps it that are looked at."""
_LONGEST = 40
"""Characters of an expression that is named."""


class Detail(NamedTuple):
    """What a deviation is about.

    Attributes
    ----------
    about : {"", "label", "overlap", "punctuation", "white space", "word", "text", "other words"}
        Nothing that is known; the label of the others; a label that the others (or, of what is
        shorter or missed, the annotator) mark there; punctuation, white space or a word at the
        edge; the text of the span; another word or text than the frequent ones.
    name : str
        The label, the word or the text.
    """

    about: str = ""
    name: str = ""


def details(corpus: Corpus, found: Deviations, gold: int | None) -> tuple[Sequence[Detail], Ints]:
    """Find what each deviation is about, and a span that is marked there, or -1.

    The label of the others where that differs; else a label that is marked where the edges differ
    or inside what one of them does not mark; else a word or the text, if it is frequent.
    """
    about: list[Detail] = [Detail()] * len(found)
    labels = corpus.labels
    is_label = found.kind == LABEL
    for row in np.flatnonzero(is_label).tolist():
        about[row] = Detail("label", labels[found.to_label[row]])
    spans = np.stack([corpus.span_start, corpus.span_end])
    own, theirs = (spans[:, np.maximum(side, 0)] for side in (found.span, found.theirs))
    own = np.where(found.kind == MISSED, np.stack([found.start, found.end]), own)
    # What one of them marks and the other does not: between two edges, or a whole span.
    between = [np.stack([own[edge], theirs[edge]]) for edge in (0, 1)]
    is_start, is_end = found.kind <= LATER, np.isin(found.kind, (SHORTER, LONGER))
    stretch = np.sort(np.select([is_start, is_end], between, own), axis=0)
    there = _span_there(corpus, found, (own, theirs, stretch), gold)
    inner = np.where(found.kind > LONGER, found.label, corpus.span_label[there])
    for row in np.flatnonzero(there >= 0).tolist():
        about[row] = Detail("overlap", labels[inner[row]])
    for row, detail in _words(corpus, found, stretch, ~is_label & (there < 0)):
        about[row] = detail
    return about, there


def _shared(one: Ints, other: Ints) -> Ints:
    """Count the positions that stretches have in common, from their starts and ends."""
    return np.asarray(np.minimum(one[1], other[1]) - np.maximum(one[0], other[0]))


def _span_there(
    corpus: Corpus, found: Deviations, places: tuple[Ints, Ints, Ints], gold: int | None
) -> Ints:
    """Find a span in a stretch, of those who do not count it to the span of the deviation; or -1.

    Where the annotator marks more, these are the others, and at least half of them mark something
    of its label there. Where the annotator marks less, it is the annotator. Of this span and the
    one that is told of, half of the inner one is in the outer: what is marked alone or missed is
    the inner one; at edges, the span that is there is in the longer of the two that differ.

    Parameters
    ----------
    corpus : Corpus
    found : Deviations
    places : arrays of int, shape (2, rows)
        Starts and ends of the annotator's spans, or of those missed, of the others' spans, and of
        stretches.
    gold : int, optional
    """
    rows = np.flatnonzero(found.kind != LABEL)
    begin = corpus.text_begin[corpus.span_text]
    marked = np.stack([begin + corpus.span_start, begin + corpus.span_end])
    here = places[2][:, rows] + corpus.text_begin[found.text[rows]]
    owner, span = overlapping(here, marked, most=_MOST_NEIGHBOURS)
    owner = rows[owner]
    own, theirs, stretch = (place[:, owner] for place in places)
    there = np.stack([corpus.span_start[span], corpus.span_end[span]])
    kind, who = found.kind[owner], corpus.span_annotator[span]
    is_more, is_edge = np.isin(found.kind, (EARLIER, LONGER, ALONE)), kind <= LONGER
    keep = (who == found.who[owner]) != is_more[owner]
    if gold is not None:
        keep &= (who == gold) | (who == found.panel[owner])
    # Of edges, what overlaps the part that both mark stands in the place of the span itself.
    both = np.stack([np.maximum(own[0], theirs[0]), np.minimum(own[1], theirs[1])])
    keep &= ~is_edge | (there[0] >= both[1]) | (there[1] <= both[0])
    longer = np.where(is_edge & ~is_more[owner], theirs, own)
    inner = np.where(is_edge, there, longer)
    keep &= 2 * _shared(longer, there) >= inner[1] - inner[0]
    owner, span, who = owner[keep], span[keep], who[keep]
    n_annotators, n_labels = len(corpus.annotators), len(corpus.labels)
    # Each annotator once, however many spans of a label are there.
    cell_of = owner * n_labels + corpus.span_label[span]
    once = distinct(cell_of * n_annotators + who)[0]
    cells, number = distinct(once // n_annotators)
    count = np.bincount(number, minlength=len(cells))
    row = cells // n_labels
    often = 2 * count >= np.where(is_more[row], found.n_others[row], 1)
    place = np.searchsorted(cells, cell_of)
    # The span of the most frequent label that shares most, the shortest and first of several: what
    # is written last stays.
    start, end = there[:, keep]
    shared = _shared(there, stretch)[keep]
    order = np.lexsort((-span, -start, start - end, shared, count[place]))
    order = order[often[place[order]]]
    chosen = np.full(len(found), -1)
    chosen[owner[order]] = span[order]
    return chosen


def _words(
    corpus: Corpus, found: Deviations, stretch: Ints, wanted: Bools
) -> Iterator[tuple[int, Detail]]:
    """Find the words of stretches, where some are frequent in a kind of deviation of a label."""
    if not corpus.knows_characters:
        return
    rows = np.flatnonzero(wanted)
    columns = (found.panel[rows], found.label[rows], found.kind[rows])
    families = list(zip(*(column.tolist() for column in columns), strict=True))
    words = corpus.words(found.text[rows], *stretch[:, rows])
    named = [_named(kind, own) for (*_, kind), own in zip(families, words, strict=True)]
    size = Counter(families)
    count = Counter(zip(families, named, strict=True))
    frequent: dict[tuple[int, ...], set[Detail]] = {}
    for (family, detail), n in count.items():
        if detail.about and n >= OFTEN and n >= SHARE * size[family]:
            frequent.setdefault(family, set()).add(detail)
    for row, family, detail in zip(rows.tolist(), families, named, strict=True):
        known = frequent.get(family, set())
        if detail in known:
            yield row, detail
        elif known:
            others = " or ".join(sorted(item.name or item.about for item in known))
            yield row, Detail("other words", others)


def _named(kind: int, surface: str) -> Detail:
    """Name the words of a stretch: of a whole span, or of what lies between two edges."""
    words = surface.split()
    if kind in {ALONE, MISSED}:
        shown = " ".join(words).lower()
        return Detail("text", shown) if shown and len(shown) <= _LONGEST else Detail()
    if not words:
        return Detail("white space")
    if not any(character.isalnum() for character in surface):
        return Detail("punctuation")
    if len(words) == 1 and len(surface) <= _LONGEST:
        return Detail("word", words[0].lower())
    return Detail()
