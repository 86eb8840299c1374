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

OFTEN, SHARE = 3, 1 / 3
"""How often a word must occur in a label's deviations of one kind to be named, and in which share
of them."""
_MOST_NEIGHBOURS = 2**24
"""Pairs of a stretch and a span near it that are looked at."""
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


@dataclass(frozen=True, eq=False)
class Details:
    """The details of deviations: each by its number.

    Attributes
    ----------
    known : list of Detail
    number : array of int, shape (rows,)
    there : array of int, shape (rows,)
        Of details about an overlap, a span that is marked there; otherwise -1.
    """

    known: Sequence[Detail]
    number: Ints
    there: Ints


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
    there = _span_there(corpus, found, low, high, gold)
    for row in np.flatnonzero(there >= 0).tolist():
        about[row] = Detail("overlap", labels[corpus.span_label[there[row]]])
    for row, detail in _words(corpus, found, low, high, rest & (there < 0)):
        about[row] = detail
    known = list(dict.fromkeys(about))
    number = {detail: i for i, detail in enumerate(known)}
    numbers = np.fromiter((number[detail] for detail in about), np.int64, len(about))
    return Details(known, numbers, there)


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


def _span_there(corpus: Corpus, found: Deviations, low: Ints, high: Ints, gold: int | None) -> Ints:
    """A span in a stretch, of those who do not count it to the span of the deviation; or -1.

    Where the annotator marks more, these are the others, and at least half of them mark something
    of its label there. Where the annotator marks less, it is the annotator.
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
    keep &= _is_inside(corpus, found, owner, span)
    owner, span, who = owner[keep], span[keep], who[keep]
    n_annotators, n_labels = max(len(corpus.annotators), 1), max(len(corpus.labels), 1)
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
    shared = np.minimum(corpus.span_end[span], high[owner]) - np.maximum(
        corpus.span_start[span], low[owner]
    )
    length = corpus.span_end[span] - corpus.span_start[span]
    order = np.lexsort((-span, -corpus.span_start[span], -length, shared, count[place]))
    order = order[often[place[order]]]
    there = np.full(len(found), -1)
    there[owner[order]] = span[order]
    return there


def _is_inside(corpus: Corpus, found: Deviations, owner: Ints, span: Ints) -> Bools:
    """Whether of a span and the one that it is told of, half of the inner one is in the outer.

    What is marked alone or missed is the inner one, in the span that is there; at edges, the span
    that is there is in the longer of the two that differ.
    """
    kind = found.kind[owner]
    own, theirs = np.maximum(found.span, 0)[owner], np.maximum(found.theirs, 0)[owner]
    longer = np.where((kind == EARLIER) | (kind == LONGER) | (kind == ALONE), own, theirs)
    start, end = corpus.span_start[longer], corpus.span_end[longer]
    is_missed = kind == MISSED
    start = np.where(is_missed, found.start[owner], start)
    end = np.where(is_missed, found.end[owner], end)
    shared = np.minimum(end, corpus.span_end[span]) - np.maximum(start, corpus.span_start[span])
    is_inner = (kind == ALONE) | is_missed
    inner = np.where(is_inner, end - start, corpus.span_end[span] - corpus.span_start[span])
    return np.asarray(2 * shared >= inner)


def _overlapping(corpus: Corpus, found: Deviations, low: Ints, high: Ints) -> tuple[Ints, Ints]:
    """The spans that overlap stretches: the row of each stretch, and the span.

    None of them where they are too many to be looked at.
    """
    length = corpus.span_end - corpus.span_start
    begin, chosen = corpus.text_begin[found.text], found.kind != LABEL
    pairs: list[tuple[Ints, Ints]] = []
    # Those of similar length together, so that one long span does not make all others candidates.
    size = np.frexp(length)[1]
    for of_size in np.unique(size).tolist():
        own = np.flatnonzero(size == of_size)
        place = corpus.text_begin[corpus.span_text[own]] + corpus.span_start[own]
        order = np.argsort(place, kind="stable")
        own, place = own[order], place[order]
        longest = int(length[own].max())
        first = np.searchsorted(place, begin + np.maximum(low - longest, 0))
        counts = np.where(chosen, np.searchsorted(place, begin + high) - first, 0)
        if int(counts.sum()) > _MOST_NEIGHBOURS:
            continue
        owner, step = spread(counts)
        span = own[first[owner] + step]
        keep = corpus.span_end[span] > low[owner]
        pairs.append((owner[keep], span[keep]))
    if not pairs:
        return np.zeros(0, dtype=np.int64), np.zeros(0, dtype=np.int64)
    owners, spans = zip(*pairs, strict=True)
    return np.concatenate(owners), np.concatenate(spans)


def _words(
    corpus: Corpus, found: Deviations, low: Ints, high: Ints, wanted: Bools
) -> list[tuple[int, Detail]]:
    """The words of stretches, where some are frequent in a kind of deviation of a label."""
    if not corpus.knows_characters:
        return []
    texts, rows, text = corpus.texts or (), np.flatnonzero(wanted).tolist(), found.text[wanted]
    starts, ends = corpus.characters(text, low[wanted], high[wanted])
    places = zip(text.tolist(), starts.tolist(), ends.tolist(), strict=True)
    surfaces = [texts[number][i:j] for number, i, j in places]
    kinds = found.kind[wanted].tolist()
    columns = (found.panel[wanted].tolist(), found.label[wanted].tolist(), kinds)
    families = list(zip(*columns, strict=True))
    named = [_named(kind, surface) for kind, surface in zip(kinds, surfaces, strict=True)]
    size = Counter(families)
    count = Counter(zip(families, named, strict=True))
    frequent: dict[tuple[int, ...], set[Detail]] = {}
    for (family, detail), n in count.items():
        if detail.about and n >= OFTEN and n >= SHARE * size[family]:
            frequent.setdefault(family, set()).add(detail)
    found_words = []
    for row, family, detail in zip(rows, families, named, strict=True):
        known = frequent.get(family, set())
        if detail in known:
            found_words.append((row, detail))
        elif known:
            others = " or ".join(sorted(item.name or item.about for item in known))
            found_words.append((row, Detail("other words", others)))
    return found_words


def _named(kind: int, surface: str) -> Detail:
    """The detail of a stretch: a whole span, or what lies between two edges."""
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
