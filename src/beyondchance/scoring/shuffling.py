"""A reference with mistakes made on purpose, to see how scores react to them."""

from __future__ import annotations

from dataclasses import replace
from typing import Any
from zlib import crc32

import numpy as np

from beyondchance.annotations.corpus import Corpus, only
from beyondchance.checks import checked_option, checked_share, checked_whole
from beyondchance.core.draws import disjoint_starts
from beyondchance.core.ragged import begins_apart, bounds, distinct, starts
from beyondchance.scoring.data import corpus_of
from beyondchance.types import Ints

_KINDS = "shift", "misses", "extras", "label", "split"


def shuffled(data: Any, kind: str, magnitude: float, seed: int = 0) -> Corpus:
    """Add mistakes of one kind to a reference, to see how scores react to them.

    The reference is the gold standard of the corpus, or else the first annotator. A second one,
    called ``shuffled`` and the name of the first, has the same spans with mistakes (*corpus
    shuffling*, Mathet et al. 2012). Spans that do not overlap in the reference do not overlap
    afterwards.

    Parameters
    ----------
    data
        A Corpus, or whatever a corpus can be made of, as in `agreement`.
    kind : {"shift", "misses", "extras", "label", "split"}
        What the mistakes are:

        - ``shift``: spans are moved along the way to a random place in their text. Their order
          stays, and spans that overlap move together.
        - ``misses``: spans are missing.
        - ``extras``: spans are added that have the length and the label of another one of their
          text, at random places where they overlap none. Where there is no room, none is added.
        - ``label``: spans have another label of the reference.
        - ``split``: spans of two positions or more are cut in two.
    magnitude : float
        From 0, where both annotators have marked the same, to 1: for ``shift`` the share of the
        way to the random place, for all others the probability that a span is missing, has an
        extra one, has another label or is cut.
    seed : int
        Where the random numbers begin. Those of a text depend on the seed, the name of its
        document and its number in it, and on no other text. A larger magnitude with the same
        seed makes the same mistakes and more.

    Returns
    -------
    Corpus
        The reference and the annotator with mistakes, who never has the quotes of the reference
        that are missing in the texts.

    Raises
    ------
    OptionError
        For an unknown kind, a magnitude that is not between 0 and 1, or a seed that is not a whole
        number.

    References
    ----------
    Mathet, Widlöcher, Fort, François, Galibert, Grouin, Kahn, Rosset & Zweigenbaum (2012), Manual
    corpus annotation: giving meaning to the evaluation metrics, COLING.

    Examples
    --------
    Both spans of two positions are cut; which tokens are marked stays the same.

    >>> from beyondchance import Corpus, agreement
    >>> ada = Corpus.from_spans({"ada": [[(0, 2, "X"), (4, 6, "X")]]}, lengths=[9])
    >>> cut = shuffled(ada, "split", 1)
    >>> [(span.start, span.end) for span in cut.spans("0", "shuffled ada")]
    [(0, 1), (1, 2), (4, 5), (5, 6)]
    >>> [agreement(cut, measure=name).observed for name in ("token", "exact")]
    [1.0, 0.0]
    """
    corpus = corpus_of(data)
    checked_option("kind", kind, _KINDS)
    magnitude = checked_share("magnitude", magnitude, low=True, high=True)
    checked_whole("seed", seed)
    reference = corpus.gold or next(iter(corpus.annotators), "")
    part = only(corpus, [reference])
    labels, label = distinct(part.span_label)
    # Sorted, so that their order in the source changes nothing.
    rows = np.unique([part.span_text, part.span_start, part.span_end, label], axis=1)
    number = part.number_in_document(np.arange(len(part.text_length)))
    first = bounds(rows[0], len(number))
    parts = [rows[:, :0]]
    for text, n in enumerate(part.text_length.tolist()):
        name = part.documents[part.text_document[text]]
        rng = np.random.default_rng([seed, crc32(name.encode()), number[text]])
        spans = rows[:, first[text] : first[text + 1]].copy()
        parts.append(_changed(spans, n, kind, magnitude, len(labels), rng))
    # Two spans at one place may have got the same label.
    new = np.unique(np.hstack(parts), axis=1)
    text, start, end, label = np.hstack([rows, new])
    return replace(
        part,
        annotators=(reference, f"shuffled {reference}"),
        annotation_document=part.annotation_document.repeat(2),
        annotation_annotator=np.tile([0, 1], len(part.annotation_document)),
        annotation_date=None,
        span_text=text,
        span_start=start,
        span_end=end,
        span_label=labels[label],
        span_annotator=np.repeat([0, 1], [rows.shape[1], new.shape[1]]),
        span_id=None,
        span_fields=None,
        elsewhere=None,
        options={**part.options, "shuffled": (kind, f"{magnitude}", f"{seed}")},
    )


def _changed(  # noqa: PLR0917 - as its caller has them
    spans: Ints, n: int, kind: str, magnitude: float, n_labels: int, rng: np.random.Generator
) -> Ints:
    """Make mistakes in the spans of a text of n positions, which may change in place.

    Parameters
    ----------
    spans : array of int, shape (4, spans)
        The text, starts, ends and labels; starts ascend.
    n_labels : int
        Labels that the reference has somewhere.
    """
    text, start, end, label = spans
    is_hit = rng.random(len(start)) < magnitude
    match kind:
        case "shift":
            # Spans that overlap are one. They and the free positions are in random order.
            begins = begins_apart(start, end)
            low = start[begins]
            more = np.maximum.reduceat(end, begins.nonzero()[0]) - low - 1
            (place,) = disjoint_starts(n - int(more.sum()), np.ones_like(low), 1, rng)
            way = np.sort(place) + starts(more) - low
            # In whole numbers, because rounding could let spans overlap.
            moved = (round(magnitude * 1_000_000) * way + 500_000) // 1_000_000
            spans[1:3] += moved[begins.cumsum() - 1]
        case "misses":
            spans = spans[:, ~is_hit]
        case "extras":
            is_taken = np.zeros(n)
            for low, high in spans[1:3].T.tolist():
                is_taken[low:high] = 1
            for own, low, high, what in spans[:, is_hit].T.tolist():
                size = high - low
                places = np.flatnonzero(np.convolve(is_taken, np.ones(size), "valid") == 0)
                if places.size:
                    place = rng.choice(places)
                    is_taken[place : place + size] = 1
                    spans = np.c_[spans, [own, place, place + size, what]]
        case "label":
            step = rng.integers(1, max(n_labels, 2), len(label)) * is_hit
            spans[3] = (label + step) % n_labels
        case "split":
            cut = np.where(is_hit, start + rng.integers(1, np.maximum(end - start, 2)), end)
            second = np.stack([text, cut, end, label])[:, cut < end]
            spans[2] = cut
            spans = np.c_[spans, second]
    return spans
