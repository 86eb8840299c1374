"""Continua of gamma: the units that annotators marked in texts, and random ones like them."""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import dataclass, replace

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.pairs import annotation_numbers
from beyondchance.core.ragged import bounds, spread, total
from beyondchance.types import Floats, Ints


@dataclass(frozen=True, slots=True, kw_only=True)
class Units:
    """The units of many continua, sorted by continuum, annotator and start.

    Attributes
    ----------
    team : array of int, shape (continua,)
        How many annotators each continuum has, two at least.
    continuum, annotator, start, end, label : arrays of int, shape (units,)
        Annotators are numbered from 0 within each continuum.
    """

    team: Ints
    continuum: Ints
    annotator: Ints
    start: Ints
    end: Ints
    label: Ints

    def __len__(self) -> int:
        return len(self.start)

    def at(self, which: slice | Ints) -> Units:
        """Select some of the units, of the same continua."""
        columns = ("continuum", "annotator", "start", "end", "label")
        return replace(self, **{name: getattr(self, name)[which] for name in columns})

    def sorted(self) -> Units:
        """Sort the units by continuum, annotator and start."""
        return self.at(
            np.lexsort((self.label, self.end, self.start, self.annotator, self.continuum))
        )


def units_at_once(team: Ints) -> int:
    """Return how many units to align at once: combinations grow fast with the team.

    Examples
    --------
    >>> units_at_once(np.array([2, 2])), units_at_once(np.array([2, 4]))
    (100000, 11111)
    """
    largest = int(team.max(initial=2))
    return max(1, 100_000 // int(3 ** (largest - 2)))


def compared_texts(corpus: Corpus) -> tuple[Units, Ints] | None:
    """Collect the texts that two annotators at least annotated, if something is marked in them.

    Returns
    -------
    units : Units
        What was marked, with the texts as continua.
    length : array of int, shape (texts,)
        Positions. None of both, if no text was annotated by two.

    Examples
    --------
    >>> corpus = Corpus.from_spans(
    ...     {"anna": [[(0, 2, "PER")], []], "ben": [[(0, 2, "PER"), (3, 8, "LOC")], []]},
    ...     lengths=[9, 7],
    ... )
    >>> units, length = compared_texts(corpus)
    >>> length.tolist(), units.annotator.tolist()
    ([9], [0, 1, 1])
    """
    begins = bounds(corpus.annotation_document, len(corpus.documents))
    team = np.diff(begins)[corpus.text_document]
    if not (team >= 2).any():
        return None
    marked = np.bincount(corpus.span_text, minlength=len(team)) > 0
    is_kept = (team >= 2) & marked
    kept, number = np.flatnonzero(is_kept), np.cumsum(is_kept) - 1
    span = np.flatnonzero(is_kept[corpus.span_text])
    text = corpus.span_text[span]
    annotation = annotation_numbers(corpus, text, corpus.span_annotator[span])
    units = Units(
        team=team[kept],
        continuum=number[text],
        annotator=annotation - begins[corpus.text_document[text]],
        start=corpus.span_start[span],
        end=corpus.span_end[span],
        label=corpus.span_label[span],
    ).sorted()
    return units, corpus.text_length[kept]


def random_corpora(
    units: Units, length: Ints, n_corpora: int, rng: np.random.Generator
) -> Iterator[tuple[Units, int]]:
    """Draw random corpora like the units of texts, so many at a time that memory suffices.

    Pivots of a text are kept apart by half of the mean length of its units.

    Yields
    ------
    units : Units
        The texts of one random corpus after the other, as continua.
    n_corpora : int

    Examples
    --------
    A unit of 2 in a text of 3 begins at 0, 1 or 2, where it runs over the end.

    >>> spans = {"anna": [[(0, 2, "PER")]], "ben": [[(1, 3, "PER")]]}
    >>> units, length = compared_texts(Corpus.from_spans(spans, lengths=[3]))
    >>> [(units, n_corpora)] = random_corpora(units, length, 50, np.random.default_rng(1))
    >>> n_corpora, sorted(set(units.start.tolist())), sorted(set(units.end.tolist()))
    (50, [0, 1, 2], [2, 3, 4])
    """
    team, n_texts, places = units.team, len(length), int(units.team.max())
    first = bounds(units.continuum * places + units.annotator, n_texts * places)
    marked = total(units.continuum, units.end - units.start, n_texts)
    n_units = np.bincount(units.continuum, minlength=n_texts)
    apart = np.ceil(marked / (2 * n_units)).astype(np.int64)
    at_once = max(1, units_at_once(team) // len(units))
    for begin in range(0, n_corpora, at_once):
        size = min(at_once, n_corpora - begin)
        # All numbers of one random corpus come before those of the next, so that it does
        # not matter how many are drawn at a time.
        uniform = rng.random((size, n_texts, 2, places))
        source = (uniform[:, :, 0] * team[:, None]).astype(np.int64)
        pivot = _pivots(uniform[:, :, 1], length, apart).reshape(-1)
        cell = (np.arange(n_texts)[:, None] * places + source).reshape(-1)
        absent = np.tile((np.arange(places) >= team[:, None]).reshape(-1), size)
        row, place = spread(np.where(absent, 0, first[cell + 1] - first[cell]))
        chosen = first[cell[row]] + place
        continuum, annotator = np.divmod(row, places)
        start = (units.start[chosen] - pivot[row]) % length[continuum % n_texts]
        shuffled = Units(
            team=np.tile(team, size),
            continuum=continuum,
            annotator=annotator,
            start=start,
            end=start + units.end[chosen] - units.start[chosen],
            label=units.label[chosen],
        )
        yield shuffled.sorted(), size


def _pivots(uniform: Floats, length: Ints, apart: Ints) -> Ints:
    """Draw random positions, one after the other, each apart from those before.

    A pivot is anywhere in its text where the others leave no room.

    Parameters
    ----------
    uniform : array of float, shape (corpora, texts, annotators)
        Independent and uniform in [0, 1).
    length, apart : arrays of int, shape (texts,)

    Examples
    --------
    Two pivots of a text of four positions, two or more apart: after 1, only 3 is left.

    >>> draws = np.array([[[0.25, 0.0]], [[0.25, 0.99]]])
    >>> _pivots(draws, np.array([4]), np.array([2])).tolist()
    [[[1, 3]], [[1, 3]]]
    """
    result = np.zeros(uniform.shape, dtype=np.int64)
    limit, gap = length[:, None], apart[:, None]
    for i in range(uniform.shape[2]):
        before = np.sort(result[:, :, :i], axis=2)
        high = np.minimum(before + gap, limit)
        low = np.maximum(before - gap + 1, 0)
        low[:, :, 1:] = np.maximum(low[:, :, 1:], high[:, :, :-1])
        barred = np.maximum(high - low, 0)
        free = length - barred.sum(axis=2)
        barred[free <= 0] = 0
        place = (uniform[:, :, i] * np.where(free > 0, free, length)).astype(np.int64)
        for j in range(i):
            place += np.where(place >= low[:, :, j], barred[:, :, j], 0)
        result[:, :, i] = place
    return result
