"""Do patterns of disagreement come back? Those of one half of the documents, in the other half.

    python benchmarks/replication.py FILE [FILE...] [--splits 20]

Documents are divided in two halves at random. A pattern that an annotator has more often than the
others in the first half points the same way if it is so in the second half, too. Patterns count
that occur at least five times in the first half, with p below .05, and in the second half at all.
"""

from __future__ import annotations

import argparse
from collections.abc import Iterator

import numpy as np

import beyondchance as bc
from beyondchance.diagnosis.diagnosis import Pattern

LEAST = 5
BELOW = 0.05


def key(pattern: Pattern) -> tuple[str, ...]:
    """What makes patterns of two corpora the same, whoever has them."""
    return pattern.label, pattern.kind, *pattern.about


def compared(corpus: bc.Corpus, rng: np.random.Generator) -> Iterator[bool]:
    """For each pattern of one half, whether it points the same way in the other."""
    order = [corpus.documents[i] for i in rng.permutation(len(corpus.documents))]
    half = len(order) // 2
    one, other = (
        bc.diagnose(corpus.select(documents=names)) for names in (order[:half], order[half:])
    )
    there: dict[tuple[str, ...], dict[str, int]] = {}
    for pattern in other.patterns:
        there.setdefault(key(pattern), {}).update(pattern.times)
    n_others = max(len(corpus.annotators) - 1, 1)
    for pattern in one.patterns:
        counts = there.get(key(pattern), {})
        for who, count in pattern.times.items():
            if counts and count >= LEAST and pattern.p_values[who] < BELOW:
                own = counts.get(who, 0)
                yield own > (sum(counts.values()) - own) / n_others


def main() -> None:
    """Print how many patterns came back."""
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("files", nargs="+")
    parser.add_argument("--splits", type=int, default=20)
    given = parser.parse_args()
    corpus = bc.read(*given.files)
    rng = np.random.default_rng(1)
    found = [is_same for _ in range(given.splits) for is_same in compared(corpus, rng)]
    print(f"{sum(found):,} of {len(found):,} patterns point the same way in the other half")


if __name__ == "__main__":
    main()
