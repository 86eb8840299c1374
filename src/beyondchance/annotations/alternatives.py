"""Other places of spans whose offsets are not known, carried along with a corpus."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING

import numpy as np

from beyondchance.types import Bools, Ints

if TYPE_CHECKING:
    from beyondchance.annotations.corpus import Corpus

KNOWN = -1
"""In place of the number of a pool: the span is where it is."""


@dataclass(frozen=True, eq=False, slots=True)
class Alternatives:
    """Where spans may be whose words were quoted without offsets, and occur more than once.

    The quotes of one string by one annotator in one document share a *pool* of places.

    Attributes
    ----------
    span_pool : array of int, shape (spans,)
        The pool of each span; -1 for spans whose place is known.
    pool, text, start, end : arrays of int, shape (places,)
        Every place of every pool, those where its spans were put included; pools ascending.
    """

    span_pool: Ints
    pool: Ints
    text: Ints
    start: Ints
    end: Ints

    def kept(self, keep_span: Bools, new_text: Ints | None = None) -> Alternatives | None:
        """The alternatives of some of the spans; None if they have none.

        Parameters
        ----------
        keep_span : array of bool, shape (spans,)
        new_text : array of int, optional
            The new number of each text, where texts are left out.
        """
        span_pool = self.span_pool[keep_span]
        used = np.zeros(int(self.pool.max(initial=KNOWN)) + 1, dtype=bool)
        used[span_pool[span_pool != KNOWN]] = True
        if not used.any():
            return None
        # The last number is that of KNOWN.
        number = np.append(np.cumsum(used) - 1, KNOWN)
        rows = used[self.pool]
        text = self.text[rows]
        return Alternatives(
            span_pool=number[span_pool],
            pool=number[self.pool[rows]],
            text=text if new_text is None else new_text[text],
            start=self.start[rows],
            end=self.end[rows],
        )


def joined_alternatives(parts: Sequence[Corpus]) -> Alternatives | None:
    """The alternatives of corpora that are joined."""
    if all(part.alternatives is None for part in parts):
        return None
    n_pools = n_texts = 0
    span_pools: list[Ints] = []
    columns: list[tuple[Ints, ...]] = []
    for part in parts:
        own = part.alternatives
        if own is None:
            span_pools.append(np.full(len(part.span_start), KNOWN))
        else:
            span_pools.append(np.where(own.span_pool == KNOWN, KNOWN, own.span_pool + n_pools))
            columns.append((own.pool + n_pools, own.text + n_texts, own.start, own.end))
            n_pools += int(own.pool.max()) + 1
        n_texts += len(part.text_length)
    places = (np.concatenate(column) for column in zip(*columns, strict=True))
    return Alternatives(np.concatenate(span_pools), *places)
