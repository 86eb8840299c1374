"""Is it a habit of somebody? The names of annotators exchanged within documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Hashable, Iterable, Mapping, Sequence

import numpy as np

from beyondchance.types import Floats

_SMALLEST = 1e-15
"""What is left of rounding in probabilities; a p-value is not known to be smaller."""


def exchange_p(documents: Iterable[Sequence[int]], own: int) -> float:
    """How often names that are exchanged would give somebody as much, or more.

    In every document any of those who annotated it may have been this annotator. All exchanges
    count alike, and those that give just as much count half (the mid-p-value), so that in
    the long run a share p of all patterns that mean nothing has a p-value below p.

    Parameters
    ----------
    documents : iterable of sequences of int
        How often each of those who annotated a document did something in it.
    own : int
        How often the annotator did it, in all of them.

    Examples
    --------
    In four documents one of two did it, and it was always the same: one exchange of 16 gives as
    much.

    >>> exchange_p([(1, 0)] * 4, 4)
    0.03125
    """
    kinds = Counter(tuple(sorted(counts)) for counts in documents)
    total = sum(max(counts) * n for counts, n in kinds.items())
    size = 1 << (total + 1).bit_length()
    product = np.ones(size // 2 + 1, dtype=np.complex128)
    for counts, n in kinds.items():
        product *= np.fft.rfft(np.bincount(counts) / len(counts), size) ** n
    share: Floats = np.clip(np.fft.irfft(product, size)[: total + 1], 0, None)
    p = float(share[own + 1 :].sum() + share[own] / 2)
    return min(max(p, _SMALLEST), 1.0)


def counted_by(
    rows: Iterable[tuple[Hashable, int, int]],
) -> dict[Hashable, dict[int, Counter[int]]]:
    """How often each did something in each document: by thing, document and annotator."""
    found: dict[Hashable, dict[int, Counter[int]]] = {}
    for thing, document, who in rows:
        found.setdefault(thing, {}).setdefault(document, Counter())[who] += 1
    return found


def of_annotator(
    by_document: Mapping[int, Mapping[int, int]], who: int, team: Mapping[int, Sequence[int]]
) -> tuple[float, int]:
    """The p-value of an annotator, and how often the others of the same documents did it.

    Parameters
    ----------
    by_document : mapping of document to mapping of annotator to int
        How often each did it.
    who : int
    team : mapping of document to sequence of int
        Who annotated it.
    """
    documents = [
        [counts.get(member, 0) for member in team[document]]
        for document, counts in by_document.items()
        if who in team[document]
    ]
    own = sum(counts.get(who, 0) for counts in by_document.values())
    return exchange_p(documents, own), sum(map(sum, documents)) - own
