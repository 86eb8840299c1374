"""Chance of annotators who see the shapes of words: option ``chance`` with the value ``shapes``.

A random annotator has as many spans of each length as the real one, and prefers words that look
like those the real one marks: names begin with capitals, and commas are no names. The odds that a
word of a shape lies in a span of a label are counted in other documents than the one that is
scored. The weight of a place is the product of the odds of its words.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator
from itertools import pairwise
from math import prod
from typing import Any, NamedTuple, TypeAlias
from zlib import crc32

import numpy as np
from numpy.typing import NDArray

from beyondchance.annotations.building import CORPUS
from beyondchance.annotations.corpus import Corpus
from beyondchance.core.ragged import bounds, distinct, members, rows_by_value, spread, starts, total
from beyondchance.core.weighted import is_countable, starts_by_fugacities, weighted_starts
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import Note, Use
from beyondchance.scoring.marks import Marked, check_apart
from beyondchance.types import Floats, Ints

WEIGHTS = Note("chance is that of random annotators who follow the weights of the corpus")
SKILL = Note(
    "chance is that of random annotators who see the shapes of words; what is left above it is "
    "skill"
)
BY_FUGACITIES = Note(
    "chance by shapes: in texts with too many spans to count their arrangements, it is computed "
    "by an approximation (fugacities)"
)
LogOdds: TypeAlias = Callable[[Ints, Ints, int, Ints], Floats]
"""Of texts, their annotators, a label and tokens: the logarithms of the odds of these."""
_FOLDS = 10
_PUNCTUATION, _DIGITS, _UPPER, _FIRST, _CAPITALISED, _LOWER = range(6)
_N_SHAPES = 6
_ROUGH = 0.01
"""How far expected counts may be off where spans fill what weights leave them."""
_MOST_CELLS = 2**22
"""Weights of rows that are held at a time."""


def shape_of(word: str) -> int:
    """Return the number of a word's shape; capitalised words are not at the start of a text.

    Letters of scripts without case are as those in lower case.

    Examples
    --------
    >>> [shape_of(word) for word in ("--", "1984", "NATO", "A", "Oslo", "iPad", "東京")]
    [0, 1, 2, 4, 4, 5, 5]
    """
    letters = [letter for letter in word if letter.isalpha()]
    if not letters:
        return _DIGITS if any(map(str.isalnum, word)) else _PUNCTUATION
    if len(letters) > 1 and all(map(str.isupper, letters)):
        return _UPPER
    return _CAPITALISED if letters[0].isupper() or letters[0].istitle() else _LOWER


def check_informed(spans: Marked, chance: str) -> None:
    """Refuse a corpus without words or weights, with one document, or with spans that overlap.

    Raises
    ------
    DataError, OptionError, OverlapError
    """
    corpus = spans.corpus
    if corpus.unit == CORPUS:
        raise OptionError(
            Use("chance", chance),
            " places spans in their own texts",
            expected=("another unit than ", Use("unit", CORPUS)),
        )
    check_apart(spans, f"chance by {chance} places them apart", "; there is no other way here")
    if chance == "weights":
        if corpus.token_weight is None:
            raise DataError("tokens have no weights", remedy="use corpus.with_weights(...)")
        return
    if corpus.positions != "tokens" or not corpus.knows_characters:
        found = "the texts are not known"
        if corpus.knows_characters:
            found = f"positions are {corpus.positions}"
        raise DataError(
            found,
            expected=("words, which ", Use("chance", "shapes"), " looks at"),
            remedy=("read them with ", Use("positions", "tokens"))
            if corpus.knows_characters
            else "use files with words, or pass tokens= with tags",
        )
    if len(corpus.documents) < 2:
        raise DataError(
            "there is one document only",
            expected=("at least two: ", Use("chance", "shapes"), " counts in the others"),
        )


class _Batch(NamedTuple):
    """Lines with as many spans of each length, or with many, which are placed together.

    Attributes
    ----------
    label, length : arrays of int, shape (kinds,)
        A kind is all spans of one label and one length.
    times : array of int, shape (kinds,), or (kinds, lines)
        How many these are; on each line, where there are too many to count arrangements.
    group : array of int, shape (lines, kinds)
        -1 where a line has no such span.
    """

    label: Ints
    length: Ints
    times: Ints
    group: Ints


def expected_by_words(
    spans: Marked, measure: str, chance: str, a: Ints, b: Ints
) -> tuple[Floats, tuple[Note, ...]]:
    """Compute the expected match of pairs of groups, and what there is to know about it.

    Raises
    ------
    DataError
        For spans that have no place, because of weights of 0.
    """
    corpus, is_exact = spans.corpus, True
    part, chosen = spans.part(distinct(np.concatenate([a, b]))[0])
    a, b = np.searchsorted(chosen, a), np.searchsorted(chosen, b)
    logs_of = _by_weights(corpus) if chance == "weights" else _by_shapes(spans)
    # What is compared, for each group and key: a value for each position of the text.
    rows: list[tuple[Ints, Ints, Ints, Floats]] = []
    for batch in _batches(part):
        is_exact &= batch.times.ndim == 1
        one = batch.group.max(axis=1)
        text, who = part.text[one], part.annotator[one]
        n = corpus.text_length[text]
        place = np.arange(int(n.max()))
        is_there = place < n[:, None]
        at = np.where(is_there, corpus.text_begin[text][:, None] + place, 0)
        logs = np.array(
            [
                _log_weights(logs_of(text, who, label, at), n, span)
                for label, span in zip(batch.label.tolist(), batch.length.tolist(), strict=True)
            ]
        )
        found = weighted_starts(np.exp(logs), batch.length, batch.times)
        # Places that are far less likely than others, but needed, leave the range of a float.
        is_off = ~np.isfinite(found).all(axis=(0, 2))
        if is_off.any():
            is_exact = False
            times = batch.times.reshape(len(logs), -1) * np.ones_like(one)
            with np.errstate(all="ignore"):  # there may be no arrangement
                others = starts_by_fugacities(logs[:, is_off], batch.length, times[:, is_off])
            found[:, is_off] = others
        counted, wanted = found.sum(axis=2), batch.times.reshape(len(logs), -1)
        if chance == "weights" and not np.allclose(counted, wanted, rtol=_ROUGH):
            raise DataError("spans have no place", expected="more weights above 0")
        for label in distinct(batch.label)[0].tolist():
            own = (batch.label == label).nonzero()[0]
            group = batch.group[:, own].max(axis=1)
            used = (group >= 0).nonzero()[0]
            for equal, values in _compared(measure, found[own], batch.length[own]):
                kept = values[used][is_there[used]]
                rows.append((group[used], np.full_like(used, equal), n[used], kept))
    group, key, n, values = map(np.concatenate, zip(*rows, strict=True))
    order = np.lexsort((key, group))
    begin, group, key = starts(n)[order], group[order], key[order]
    # Rows of both groups with the same key, multiplied position by position.
    stride = int(key.max()) + 1
    code = group * stride + key
    pair, one = members(bounds(group, len(part.text)), a)
    wanted = b[pair] * stride + key[one]
    two = np.minimum(np.searchsorted(code, wanted), len(code) - 1)
    met = (code[two] == wanted).nonzero()[0]
    pair, one, two = pair[met], one[met], two[met]
    row, place = spread(n[order][one])
    products = values[begin[one][row] + place] * values[begin[two][row] + place]
    told = WEIGHTS if chance == "weights" else SKILL
    notes = (told,) if is_exact else (told, BY_FUGACITIES)
    return total(pair[row], products, len(a)), notes


def _batches(part: Marked) -> Iterator[_Batch]:
    """Collect lines with as many spans of each length, in texts of similar sizes."""
    group, length = part.owner(), part.end - part.start
    stride = int(length.max()) + 1
    kinds, kind = distinct((part.line * len(part.text) + group) * stride + length)
    count = np.bincount(kind)
    rest, length = np.divmod(kinds, stride)
    line, group = np.divmod(rest, len(part.text))
    first = bounds(line, int(line.max()) + 1)
    label = part.label[group]
    columns = [column.tolist() for column in (label, length, count)]
    alike: dict[tuple[tuple[int, ...], ...], list[int]] = {}
    for low, high in pairwise(first.tolist()):
        key = tuple(tuple(column[low:high]) for column in columns)
        if not is_countable(count[low:high]):
            # Placed with all others that have these labels and too many spans to count.
            key = (tuple(dict.fromkeys(key[0])),)
        alike.setdefault(key, []).append(low)
    for key, lows in alike.items():
        is_few = len(key) > 1
        which, member = members(first, line[lows])
        code, column = distinct(label[member] * stride + length[member])
        times, groups = np.zeros((2, len(lows), len(code)), dtype=np.int64)
        times[which, column], groups[which, column] = count[member], group[member] + 1
        n_states = prod((times[0] + 1).tolist()) if is_few else 1
        size = part.corpus.text_length[part.text[groups.max(axis=1) - 1]]
        for block in _blocks(size, n_states):
            # No span is longer than all texts of its block.
            own = np.flatnonzero(times[block].any(axis=0))
            each = times[0] if is_few else times[block][:, own].T
            yield _Batch(*np.divmod(code[own], stride), each, groups[block][:, own] - 1)


def _log_weights(odds: Floats, n: Ints, span: int) -> Floats:
    """Multiply the odds of the words that a span covers, at each place where it has room.

    Parameters
    ----------
    odds : array of float, shape (texts, positions)
        Logarithms.
    n : array of int, shape (texts,)
    span : int

    Returns
    -------
    array of float, shape (texts, positions)
        Logarithms, of which the largest of a text is 0: only ratios matter.
    """
    weight = np.full(odds.shape, -np.inf)
    is_barred = np.isneginf(odds)

    def within(values: NDArray[Any]) -> NDArray[Any]:
        added = values.cumsum(axis=1)
        sums = added[:, span - 1 :].copy()
        sums[:, 1:] -= added[:, :-span]
        return sums

    logs = within(np.where(is_barred, 0, odds))
    has_room = np.arange(span, odds.shape[1] + 1) <= n[:, None]
    if is_barred.any():
        has_room &= within(is_barred.astype(np.int64)) == 0
    weight[:, : logs.shape[1]] = np.where(has_room, logs, -np.inf)
    most = weight.max(axis=1, keepdims=True)
    return weight - np.where(np.isfinite(most), most, 0)


def _blocks(size: Ints, n_states: int) -> list[Ints]:
    """Cut texts into blocks of similar sizes that fit into memory."""
    order = np.argsort(size, kind="stable")
    cells = np.cumsum(size[order]) * n_states // _MOST_CELLS
    # Twice as long at most: what is filled up does not take more than what is there.
    grade = np.log2(np.maximum(size[order], 1)).astype(np.int64)
    return [order[rows] for rows in rows_by_value(cells * 64 + grade)]


def _compared(measure: str, found: Floats, length: Ints) -> list[tuple[int, Floats]]:
    """Return what is compared of the spans of a group, by what has to be equal."""
    if measure == "exact":
        return list(zip(length.tolist(), found, strict=True))
    begin, end = np.zeros_like(found[0]), np.zeros_like(found[0])
    cover = np.zeros_like(found[0])
    for starting, span in zip(found, length.tolist(), strict=True):
        ending = np.zeros_like(starting)
        ending[:, span - 1 :] = starting[:, : starting.shape[1] - span + 1]
        begin += starting
        end += ending
        for shift in range(span):
            cover[:, shift:] += starting[:, : starting.shape[1] - shift]
    return [(0, begin), (1, end)] if measure == "boundary" else [(0, cover)]


# --- Odds -------------------------------------------------------------------------------


def _by_weights(corpus: Corpus) -> LogOdds:
    """Return the function for the weights of tokens, which are the same for all."""
    with np.errstate(divide="ignore"):
        logs = np.log(np.asarray(corpus.token_weight))
    return lambda *place: np.asarray(logs[place[-1]])


def _by_shapes(spans: Marked) -> LogOdds:
    """Return the function for the odds of the shapes of words."""
    corpus = spans.corpus
    shape, fold = _shapes(corpus), _folds(corpus)
    odds = _log_odds(spans, shape, fold)
    fold = fold[corpus.text_document]
    return lambda text, who, label, at: np.take_along_axis(
        odds[who, label, fold[text]], shape[at], axis=1
    )


def _shapes(corpus: Corpus) -> Ints:
    """Return the shape of every word of the corpus."""
    text, place = spread(corpus.text_length)
    words = corpus.words(text, place, place + 1)
    known = {word: shape_of(word) for word in set(words)}
    shape = np.array([known[word] for word in words], dtype=np.int64)
    return np.where((place == 0) & (shape == _CAPITALISED), _FIRST, shape)


def _folds(corpus: Corpus) -> Ints:
    """Return the fold of every document, by its name; each is one of its own if they are few."""
    if len(corpus.documents) < _FOLDS:
        return np.arange(len(corpus.documents))
    return np.array([crc32(name.encode()) % _FOLDS for name in corpus.documents])


def _log_odds(spans: Marked, shape: Ints, fold: Ints) -> Floats:
    """Count how likely words of each shape lie in spans, in all folds but one.

    Returns
    -------
    array of float, shape (annotators, labels, folds, shapes)
    """
    corpus = spans.corpus
    n_labels = max(len(spans.labels), 1)
    size = len(corpus.annotators), _FOLDS, _N_SHAPES
    # Words by document, fold and shape, for everyone who annotated the document.
    document = corpus.text_document.repeat(corpus.text_length)
    by_document = np.bincount(
        document * _N_SHAPES + shape, minlength=len(corpus.documents) * _N_SHAPES
    ).reshape(-1, _N_SHAPES)
    words = np.zeros(size)
    where = corpus.annotation_annotator, fold[corpus.annotation_document]
    np.add.at(words, where, by_document[corpus.annotation_document])
    # Words in spans, each once for an annotator and a label.
    group = spans.owner()
    span, place = spread(spans.end - spans.start)
    text = spans.text[group[span]]
    at = corpus.text_begin[text] + spans.start[span] + place
    who, what = spans.annotator[group[span]], spans.label[group[span]]
    inside = np.bincount(
        ((who * n_labels + what) * _FOLDS + fold[corpus.text_document[text]]) * _N_SHAPES
        + shape[at],
        minlength=len(corpus.annotators) * n_labels * _FOLDS * _N_SHAPES,
    ).reshape(-1, n_labels, _FOLDS, _N_SHAPES)
    elsewhere = inside.sum(axis=2, keepdims=True) - inside
    outside = (words.sum(axis=1, keepdims=True) - words)[:, None] - elsewhere
    return np.asarray(np.log((elsewhere + 0.5) / (outside + 0.5)))
