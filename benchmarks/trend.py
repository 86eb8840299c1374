"""Whether the test of a trend keeps its level, and how many documents it takes: by simulation.

    python benchmarks/trend.py [CORPORA [PART ...]]

Good and bad sentences are made up, and documents are drawn from both, so that a round has the
agreement that is wanted; 1,000 corpora unless told otherwise. It is counted how often p is at most
.05. Each part (size, power) writes a table docs/_static/trend-PART.md, which
docs/background/uncertainty.md shows.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Sequence
from dataclasses import replace
from functools import cache

import numpy as np

import beyondchance as bc
from beyondchance.inference.trend import Trend
from beyondchance.types import Floats, Ints
from calibration import TABLES, error_of, result_of, say, section, share, sums_of
from generate import population

SENTENCES = 3000
LEVEL = 0.05
NOISES = (0.05, 0.95)
"""Shares of the spans that annotators get wrong in good and in bad sentences."""
HARDER = 0.15
"""How much larger the share of bad sentences is in harder documents, and smaller in easier ones."""

SIZE = """\
How often p is at most .05 where agreement is the same in all rounds, in percent of {corpora:,}
corpora each (standard error about {error:.1f}), for teams of two, three or five annotators and low
(.33) or high (.8) agreement. Documents are five sentences long, with about eight spans;
*unlike* ones have a number of sentences that is lognormal with a standard deviation of its
logarithm of .8, *very unlike* ones of 1.2; *longer* ones are three times as long. Half of the
documents of each round are harder than the others. *Refused* are corpora with
fewer than four effective documents in a round, which are left out. Of two rounds it is the test
of their comparison."""

POWER = """\
How often a drop of corrected agreement by .1 between two rounds is found (p at most .05), in
percent of {corpora:,} corpora each, and, in the last column, the median of the number of documents
that the result itself says it takes to find it four times in five."""


@cache
def pools_of(team: int) -> Floats:
    """What each of many good and of many bad sentences adds, all pairs of a team together."""
    return np.stack([_pool(team, noise) for noise in NOISES])


def _pool(team: int, noise: float) -> Floats:
    corpus = population(SENTENCES, noise=(noise,) * team, seed=team)
    names = [name for name in corpus.annotators if name != "gold"]
    return sums_of(bc.agreement(corpus.select(annotators=names)).counts)


@cache
def bad_share(team: int, corrected: float) -> float:
    """Return the share of bad sentences at which a team agrees so much."""
    matched, expected, size, _ = pools_of(team).sum(axis=1).T
    gain = (matched - expected) - corrected * (size / 2 - expected)
    return float(gain[0] / (gain[0] - gain[1]))


def documents(team: int, corrected: float, sentences: Ints, rng: np.random.Generator) -> Floats:
    """Documents of so many sentences, of which one half is harder than the others."""
    share = bad_share(team, corrected) + HARDER * rng.choice([-1, 1], len(sentences))
    is_bad = rng.random(sentences.sum()) < np.repeat(share, sentences)
    number = rng.integers(SENTENCES, size=len(is_bad))
    first = np.cumsum(sentences) - sentences
    return np.add.reduceat(pools_of(team)[is_bad.astype(np.int64), number], first)


Lengths = Callable[[int, np.random.Generator], Ints]


def alike(n: int, _: np.random.Generator) -> Ints:
    """Documents of five sentences."""
    return np.full(n, 5)


def longer(n: int, _: np.random.Generator) -> Ints:
    """Documents of fifteen sentences."""
    return np.full(n, 15)


def unlike(n: int, rng: np.random.Generator, sd: float = 0.8) -> Ints:
    """Documents of different length."""
    return np.maximum(np.rint(rng.lognormal(np.log(5), sd, n)), 1).astype(np.int64)


def very_unlike(n: int, rng: np.random.Generator) -> Ints:
    """Documents of very different length."""
    return unlike(n, rng, 1.2)


def unlike_longer(n: int, rng: np.random.Generator) -> Ints:
    """The same, three times as long."""
    return 3 * unlike(n, rng)


class Rounds:
    """Rounds of so many documents, of which only the sums change from corpus to corpus."""

    def __init__(self, sizes: Sequence[int]) -> None:
        self.result = result_of(np.zeros((sum(sizes), 4)))
        field = tuple(str(i) for i, n in enumerate(sizes) for _ in range(n))
        self.result = replace(
            self.result, counts=replace(self.result.counts, fields={"round": field})
        )

    def trend(self, rounds: Sequence[Floats]) -> Trend | None:
        """The trend over rounds of documents; None if it is refused."""
        sums = np.concatenate(rounds)
        # Made anew for every corpus, the table would take longer than the test.
        self.result.counts.__dict__["document_sums"] = lambda: sums
        try:
            return bc.trend(self.result, "round")
        except bc.DataError:
            return None


DESIGNS: dict[str, list[tuple[int, Lengths]]] = {
    "2 x 10": [(10, alike)] * 2,
    "2 x 20": [(20, alike)] * 2,
    "2 x 50": [(50, alike)] * 2,
    "6 x 20": [(20, alike)] * 6,
    "20 and 100": [(20, alike), (100, alike)],
    "15, 30, 60, 30": [(15, alike), (30, alike), (60, alike), (30, alike)],
    "2 x 30, the second longer": [(30, alike), (30, longer)],
    "60, and 20 longer": [(60, alike), (20, longer)],
    "20, and 60 longer": [(20, alike), (60, longer)],
    "4 x 25, two longer": [(25, alike), (25, alike), (25, longer), (25, longer)],
    "2 x 40, unlike": [(40, unlike)] * 2,
    "6 x 30, unlike": [(30, unlike)] * 6,
    "100 and 30 longer, unlike": [(100, unlike), (30, unlike_longer)],
    "3 x 40, unlike, the last longer": [(40, unlike), (40, unlike), (40, unlike_longer)],
    "2 x 60, very unlike": [(60, very_unlike)] * 2,
    "4 x 40, very unlike": [(40, very_unlike)] * 4,
}
"""Rounds: how many documents each has, and how long they are."""
LEVELS = {"low": 0.3, "high": 0.8}
"""Agreement that is asked for; low is .33 in effect, since not all hard documents can be harder."""
TEAMS = [(2, "low"), (2, "high"), (3, "low"), (5, "high")]
"""Annotators, and how much they agree."""


def size(corpora: int) -> list[str]:
    """How often a trend is found where there is none."""
    rows = []
    for name, design in DESIGNS.items():
        cells, refused = [], 0
        rounds = Rounds([n for n, _ in design])
        for team, level in TEAMS:
            rng = np.random.default_rng(team)
            p = []
            for _ in range(corpora):
                drawn = [
                    documents(team, LEVELS[level], lengths(n, rng), rng) for n, lengths in design
                ]
                found = rounds.trend(drawn)
                p += [] if found is None else [found.p_value]
            refused += corpora - len(p)
            cells.append(f"{100 * np.mean(np.array(p) <= LEVEL):.1f}")
            say(f"size {name} {team} {level} {cells[-1]}")
        none = 100 * refused / (corpora * len(cells))
        rows.append([name, *cells, f"{none:.1f}" if refused else ""])
    headings = [f"{team}, {level}" for team, level in TEAMS]
    said = SIZE.format(corpora=corpora, error=error_of(corpora))
    return section("Trends", said, ["rounds", *headings, "refused"], rows)


def power(corpora: int) -> list[str]:
    """How often a drop of .1 is found."""
    rows = []
    for team, start in ((2, 0.8), (2, 0.7), (2, 0.6), (3, 0.6), (5, 0.6)):
        levels = (start, start - 0.1)
        for n in (20, 50, 100):
            rng, rounds = np.random.default_rng(n), Rounds([n, n])
            drawn = (
                [documents(team, level, alike(n, rng), rng) for level in levels]
                for _ in range(corpora)
            )
            found = [made for made in map(rounds.trend, drawn) if made is not None]
            times = sum(item.p_value <= LEVEL for item in found)
            needed = np.median([item.needed for item in found])
            drop = f"{start:.1f} to {start - 0.1:.1f}"
            rows.append([f"{team}", drop, f"{n}", share(times, corpora), f"{needed:,.0f}"])
            say(f"power {rows[-1]}")
    headings = ["annotators", "agreement", "documents a round", "found", "needed"]
    return section("Power of trends", POWER.format(corpora=corpora), headings, rows)


PARTS = {"size": size, "power": power}


def main() -> None:
    """Run what is asked for and write its tables."""
    corpora = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name in sys.argv[2:] or PARTS:
        head = f"<!-- Written by python benchmarks/trend.py {corpora} {name} -->"
        (TABLES / f"trend-{name}.md").write_text(
            "\n".join([head, "", *PARTS[name](corpora)]), "utf-8"
        )


if __name__ == "__main__":
    main()
