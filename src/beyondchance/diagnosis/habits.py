"""Tell habits by exchanging the names of annotators within documents."""

from __future__ import annotations

from collections import Counter
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from beyondchance.types import Floats

_SMALLEST = 1e-15
"""What is left of rounding in probabilities; a p-value is not known to be smaller."""


def exchange_p(documents: Iterable[Sequence[int]], own: int) -> float:
    """Compute how often exchanged names would give an annotator as much, or more.

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


def of_annotator(by_document: Mapping[int, Mapping[int, int]], who: int) -> float:
    """Compute the p-value of an annotator, from how often each did something in each document."""
    documents = [counts for counts in by_document.values() if who in counts]
    own = sum(counts[who] for counts in documents)
    return exchange_p((list(counts.values()) for counts in documents), own)


def of_others(
    by_document: Mapping[int, Mapping[int, int]], whose: Collection[int]
) -> tuple[int, float]:
    """Count how often others did it in the documents of some, and each of them on average."""
    sums: Counter[int] = Counter()
    for counts in by_document.values():
        others = [count for who, count in counts.items() if who not in whose]
        if len(others) < len(counts):
            sums[len(others)] += sum(others)
    # Divided last, so that the order of documents does not matter.
    return sums.total(), sum(sums[size] / size for size in sorted(sums) if size)
