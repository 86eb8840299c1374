"""Other places of spans whose offsets are not known, carried along with a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass, replace
from typing import TYPE_CHECKING

import numpy as np

from beyondchance.types import Ints

if TYPE_CHECKING:
    from beyondchance.annotations.corpus import Corpus

KNOWN = -1
"""In place of the number of a pool: the span is where it is."""
GONE = -1
"""In place of the number of a span or a text: it is left out."""


@dataclass(frozen=True, eq=False, slots=True)
class Alternatives:
    """Where spans may be whose words were quoted without offsets, and occur more than once.

    Quotes of one annotator in one document that are at different places of the same ones share a
    *pool* of places. Several quotes can be put at one span: two parts of one token, for example.

    Attributes
    ----------
    quote_span, quote_pool : arrays of int, shape (quotes,)
        The span at which each quote was put, and its pool; -1 if its place is known. Every span
        has a quote.
    pool, text, start, end : arrays of int, shape (places,)
        Every place of every pool, those where its spans were put included; pools ascending. A
        place that several quotes of a pool can have is there as often.
    """

    quote_span: Ints
    quote_pool: Ints
    pool: Ints
    text: Ints
    start: Ints
    end: Ints

    def kept(self, new_span: Ints, new_text: Ints | None = None) -> Alternatives | None:
        """The alternatives of some of the spans; None if they have none.

        Parameters
        ----------
        new_span : array of int, shape (spans,)
            The new number of each span; that of another, if it is one with that; -1 of those
            that are left out.
        new_text : array of int, optional
            The same of each text, where texts are left out.
        """
        is_kept = new_span[self.quote_span] != GONE
        quote_pool = self.quote_pool[is_kept]
        used = np.zeros(int(self.pool.max(initial=KNOWN)) + 1, dtype=bool)
        used[quote_pool[quote_pool != KNOWN]] = True
        if not used.any():
            return None
        # The last number is that of KNOWN.
        number = np.append(np.cumsum(used) - 1, KNOWN)
        rows = used[self.pool]
        text = self.text[rows]
        return replace(
            self,
            quote_span=new_span[self.quote_span[is_kept]],
            quote_pool=number[quote_pool],
            pool=number[self.pool[rows]],
            text=text if new_text is None else new_text[text],
            start=self.start[rows],
            end=self.end[rows],
        )


def joined_alternatives(parts: Sequence[Corpus]) -> Alternatives | None:
    """The alternatives of corpora that are joined."""
    if all(part.alternatives is None for part in parts):
        return None
    n_pools = n_texts = n_spans = 0
    quotes: list[tuple[Ints, Ints]] = []
    places: list[tuple[Ints, ...]] = []
    for part in parts:
        own, n_own = part.alternatives, len(part.span_start)
        if own is None:
            quotes.append((n_spans + np.arange(n_own), np.full(n_own, KNOWN)))
        else:
            pool = np.where(own.quote_pool == KNOWN, KNOWN, own.quote_pool + n_pools)
            quotes.append((own.quote_span + n_spans, pool))
            places.append((own.pool + n_pools, own.text + n_texts, own.start, own.end))
            n_pools += int(own.pool.max()) + 1
        n_spans += n_own
        n_texts += len(part.text_length)
    columns = (*zip(*quotes, strict=True), *zip(*places, strict=True))
    return Alternatives(*map(np.concatenate, columns))
