"""What fugacities cost in digits where spans may be placed in any text of a corpus.

    python benchmarks/corpus_unit.py

Corpora that can still be counted are computed both ways; docs/_static/corpus-unit.md is the table:
the relative error, in percent, of the expected match by `token` and by `exact`.
"""

from __future__ import annotations

from collections import Counter
from itertools import cycle
from time import perf_counter

import numpy as np

from beyondchance.core import corpus_placement
from beyondchance.core.corpus_placement import CorpusStarts, corpus_starts
from beyondchance.core.profiles import Profiles, boxes, convolved, joined, summed
from beyondchance.core.ragged import total
from beyondchance.types import Floats, Ints

SPANS = (2, 5, 10, 20, 50, 100, 200)
CORPORA = {
    "texts of 10, 20 % covered": ((10,), 0.2),
    "texts of 10, 60 % covered": ((10,), 0.6),
    "texts of 5 to 40, 5 % covered": ((5, 8, 12, 15, 20, 40), 0.05),
    "texts of 5 to 40, 20 % covered": ((5, 8, 12, 15, 20, 40), 0.2),
    "texts of 4 to 7, 80 % covered": ((4, 5, 6, 7), 0.8),
}
"""Sizes of texts that take turns, and the share of their positions that the first side covers."""
LENGTHS = (2, 3), (1, 2, 4)
"""Lengths of the spans of the two sides that take turns."""


def spans(lengths: tuple[int, ...], k: int) -> tuple[Ints, Ints]:
    """Distinct lengths and counts of so many spans."""
    counts = Counter(length for length, _ in zip(cycle(lengths), range(k), strict=False))
    return np.array(sorted(counts)), np.array([counts[length] for length in sorted(counts)])


def texts(sizes: tuple[int, ...], positions: float) -> tuple[Ints, Ints]:
    """Distinct sizes and numbers of two texts or more with about so many positions."""
    counts: Counter[int] = Counter()
    for size in cycle(sizes):
        if counts.total() > 1 and sum(n * m for n, m in counts.items()) + size / 2 > positions:
            break
        counts[size] += 1
    return np.array(sorted(counts)), np.array([counts[size] for size in sorted(counts)])


def found_by(n: Ints, m: Ints, side: tuple[Ints, Ints], most_products: float) -> CorpusStarts:
    """Intensities by the method that is allowed."""
    usual = corpus_placement._MOST_PRODUCTS
    corpus_placement._MOST_PRODUCTS = most_products  # type: ignore[assignment]
    try:
        return corpus_starts(n, m, *side)
    finally:
        corpus_placement._MOST_PRODUCTS = usual


def coverage(found: CorpusStarts, share: Floats) -> Profiles:
    """Compute the probability that each position is covered, a sequence for each text size.

    Of spans of each length, only a share is meant.
    """
    covered = convolved(found.starts, boxes(found.length[found.run]))
    # A text that has room for no span is not covered.
    owner = np.concatenate([found.size, np.arange(len(found.n))])
    weight = np.concatenate([share[found.run], np.zeros(len(found.n))])
    order = np.argsort(owner, kind="stable")
    parts = joined(covered, boxes(found.n)).take(order)
    return summed(parts, weight[order], owner[order], len(found.n))


def expected(a: CorpusStarts, b: CorpusStarts, m: Ints) -> Floats:
    """Expected positions and spans in common, of all texts."""
    size = np.arange(len(m))
    covered = joined(*(coverage(side, np.ones(len(side.length))) for side in (a, b)))
    tokens = m @ covered.dot(size, len(m) + size)
    i, j = np.nonzero((a.size[:, None] == b.size) & (a.length[a.run][:, None] == b.length[b.run]))
    equal = joined(a.starts, b.starts).dot(i, len(a.run) + j)
    return np.array([tokens, total(a.size[i], equal, len(m)) @ m])


def table() -> list[str]:
    """Relative error of the expected positions and of the expected spans in common, in percent."""
    lines = ["| corpus | " + " | ".join(f"{k} spans" for k in SPANS) + " |"]
    lines.append("|---" * (len(SPANS) + 1) + "|")
    for name, (sizes, share) in CORPORA.items():
        cells = []
        for k in SPANS:
            sides = [spans(lengths, k) for lengths in LENGTHS]
            n, m = texts(sizes, float(sides[0][0] @ sides[0][1]) / share)
            by_counts, by_fugacities = (
                expected(*(found_by(n, m, side, most) for side in sides), m)
                for most in (np.inf, -1)
            )
            token, exact = by_fugacities / by_counts - 1
            cells.append(f"{100 * token:+.2g} / {100 * exact:+.2g}")
        lines.append(f"| {name} | " + " | ".join(cells) + " |")
    return lines


def times() -> list[str]:
    """Seconds for corpora of the sizes that people have."""
    rng = np.random.default_rng(1)
    sentences = np.clip(rng.lognormal(2.4, 0.7, 3500).round(), 1, 120).astype(np.int64)
    lengths = np.arange(1, 61)
    counts = np.maximum(1, (3000 * np.exp(-lengths / 9) / 9).astype(np.int64))
    cases = {
        "3,500 sentences of 1 to 120 tokens, 6 lengths": (
            *np.unique(sentences, return_counts=True),
            np.arange(1, 7),
            np.array([3400, 1600, 400, 90, 20, 7]),
        ),
        "a document of 100,000 characters, 60 lengths": (
            np.array([100_000]),
            np.array([1]),
            lengths,
            counts,
        ),
        "two documents of 100,000 and 90,000 characters, 60 lengths": (
            np.array([90_000, 100_000]),
            np.array([1, 1]),
            lengths,
            counts,
        ),
        "the same, 99 % covered by spans of 10": (
            np.array([90_000, 100_000]),
            np.array([1, 1]),
            np.array([10]),
            np.array([18_900]),
        ),
    }
    lines = []
    for name, (n, m, length, count) in cases.items():
        start = perf_counter()
        found = corpus_starts(n, m, length, count)
        coverage(found, np.ones(len(length)))
        method = "exact" if found.is_exact else "by fugacities"
        lines.append(f"{perf_counter() - start:6.2f} s  {name}, {method}")
    return lines


if __name__ == "__main__":
    print("\n".join([*table(), "", *times()]))
