"""Small annotated texts for tests of coefficients: drawn, random, and as a Corpus."""

from __future__ import annotations

from itertools import pairwise

import numpy as np
from hypothesis import strategies as st

from beyondchance import Corpus
from beyondchance.other_coefficients.coefficient import Coefficient, Task
from beyondchance.other_coefficients.coefficients import value_of

NAMES = ("anna", "ben", "cleo", "dora")
FAMILY = ("mu-alpha", "bar-u-alpha", "cu-alpha", "ku-alpha")
TOKENS = ("kappa", "shuffled-f1", "pi", "fleiss", "nominal-alpha", "s", "ac1")

# Simulations 1 to 4 of Li, Rosé, Yuan & Zhou (2024): positions, spans of either side.
#
# 1A, 2A  ...AA...AAA...AAAA..            2B, 3B  ......AAAAAAAAA.....
#         ..BBB...BBBB..BBBBB.                    ....BBBBBBBBBBBB....
# 1B      the same, and ten more          3A      ........AAA.........
#                                                 ........BBBB........
# 4       GGG..GGG..GGG..GGG..GGG..GGGGGGGGGGGGGGGG
#         annotator 1 has the five short ones, annotator 2 the long one
_THREE = [(3, 5), (8, 11), (14, 18)], [(2, 5), (8, 12), (14, 19)]
_FIVE, _LONG = [(0, 3), (5, 8), (10, 13), (15, 18), (20, 23)], [(25, 41)]
SIMULATIONS = {
    "1A": (20, *_THREE),
    "1B": (30, *_THREE),
    "2A": (20, *_THREE),
    "2B": (20, [(6, 15)], [(4, 16)]),
    "3A": (20, [(8, 11)], [(8, 12)]),
    "3B": (20, [(6, 15)], [(4, 16)]),
    "4-1": (41, _FIVE + _LONG, _FIVE),
    "4-2": (41, _FIVE + _LONG, _LONG),
}


@st.composite
def texts(draw, labels="PLM", most_annotators=4, most_texts=3, most_positions=12):
    """A few texts ``(length, {annotator: spans})``; spans may touch, not overlap."""
    names = NAMES[: draw(st.integers(2, most_annotators))]
    found = []
    for _ in range(draw(st.integers(1, most_texts))):
        n = draw(st.integers(1, most_positions))
        present = draw(st.sets(st.sampled_from(names), min_size=1))
        found.append((n, {name: draw(span_lists(n, labels)) for name in sorted(present)}))
    if all(len(sides) < 2 for _, sides in found):
        n = draw(st.integers(1, most_positions))
        found.append((n, {name: draw(span_lists(n, labels)) for name in names}))
    return found


@st.composite
def span_lists(draw, n, labels):
    """Pieces of a text, some of them spans."""
    cuts = sorted({0, n, *draw(st.lists(st.integers(0, n), max_size=6))})
    pieces = [(start, end, draw(st.sampled_from(["", *labels]))) for start, end in pairwise(cuts)]
    return [piece for piece in pieces if piece[2]]


def random_spans(rng: np.random.Generator, n: int, labels: str = "P") -> list:
    """The same from a random generator, for larger numbers of cases."""
    cuts = np.unique([0, n, *rng.integers(0, n + 1, rng.integers(0, 9))]).tolist()
    return [
        (start, end, str(rng.choice(list(labels))))
        for start, end in pairwise(cuts)
        if rng.random() < 0.6
    ]


def corpus_of(found, names=NAMES) -> Corpus:
    """A corpus of texts ``(length, {annotator: spans})``, each its own document."""
    return Corpus.from_spans(
        {name: [sides.get(name) for _, sides in found] for name in names},
        lengths=[n for n, _ in found],
    )


def corpus_of_two(n: int, a: list, b: list, label: str = "X") -> Corpus:
    """One text, two annotators, one label."""
    spans = {
        name: [[(start, end, label) for start, end in side]] for name, side in (("a", a), ("b", b))
    }
    return Corpus.from_spans(spans, lengths=[n])


def alpha(corpus: Corpus) -> Coefficient:
    """Unitizing alpha of 2004."""
    return value_of("alpha", Task(corpus=corpus))


def family(corpus: Corpus) -> dict[str, Coefficient]:
    """The unitizing coefficients of 2016."""
    task = Task(corpus=corpus)
    return {name: value_of(name, task) for name in FAMILY}


def token_coefficients(corpus: Corpus) -> dict[str, Coefficient]:
    """The coefficients that look at positions one by one."""
    task = Task(corpus=corpus)
    return {name: value_of(name, task) for name in TOKENS}
