"""Whether intervals hold what they promise, and tests do: by simulation.

    python benchmarks/calibration.py [CORPORA [PART ...]]

A population of documents is made up, and its score is the truth. Corpora are drawn from it,
2,000 unless told otherwise; it is counted how often their intervals hold the truth, and how
often two systems are told apart. Each part (coverage, clusters, alarms, power, teams; all
unless told otherwise) writes a table docs/_static/calibration-PART.md, which
docs/uncertainty.md shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from pathlib import Path
from time import perf_counter

import numpy as np

import beyondchance as bc
from beyondchance.core.exact import exact_total
from beyondchance.core.ragged import total
from beyondchance.results.resampling import METHODS, SCORES
from beyondchance.types import Floats
from generate import population

TABLES = Path(__file__).parent.parent / "docs" / "_static"
POOL = 60_000
"""Sentences of a population."""
RESAMPLES = 1999

CAREFUL, CARELESS = 0.08, 0.3
"""Shares of the spans that a system gets wrong."""

COVERAGE = """\
Of {corpora:,} corpora each, in percent (standard error about {error:.1f}). A document is one
sentence of 13 tokens on average; a careful system gets 8 % of the spans wrong, a careless one
30 %. *Effective* is the median number of documents from which the width would be known as well, if
all varied alike; *none* the percentage of corpora without an interval, mostly because there was no
disagreement at all, which are left out of the others."""

CLUSTERS = """\
Of {corpora:,} corpora each, in percent. *Spread* is how much harder some documents are than
others: the coefficient of variation of the system's errors between documents."""

ALARMS = """\
Two systems that get 15 % of the spans wrong, at random, on {corpora:,} corpora: how often p is
at most .05, in percent with its standard error. A sound test gives at most 5,
within three standard errors."""

POWER = """\
How often two systems that differ are told apart (p at most .05) on {corpora:,} corpora of
one-sentence documents, in percent, and how often the intervals of their difference hold the true
one; *none* is the percentage of corpora without an interval, which are left out."""

TEAMS = """\
Of {corpora:,} teams each, in percent: how often 95 % intervals of the observed score hold what all
annotators of that kind would reach. The annotators are unlike (each finds a share of the spans that
is beta-distributed around .8, with a standard deviation of .12), the 40 documents are alike."""


def sums_of(counts: bc.Counts, unit: str = "document") -> Floats:
    """What each document, or sentence, adds: matched, expected, size, rows with a choice."""
    owner = getattr(counts, unit)
    n_units = len(counts.documents) if unit == "document" else counts.n_texts
    columns = [
        total(owner, counts.matched, n_units),
        exact_total(owner, counts.expected, n_units),
        total(owner, counts.size_a + counts.size_b, n_units),
        total(owner, ~counts.certain, n_units),
    ]
    return np.stack(columns, axis=1)


def result_of(sums: Floats) -> bc.Agreement:
    """A result with one row for each document."""
    n = len(sums)
    number, nothing = np.arange(n), np.zeros(n, dtype=np.int64)
    counts = bc.Counts(
        documents=tuple(map(str, range(n))),
        n_texts=n,
        labels=("all",),
        annotators=("gold", "system"),
        pairs=np.array([[0], [1]]),
        document=number,
        text=number,
        label=nothing,
        a=nothing,
        b=nothing + 1,
        matched=sums[:, 0],
        expected=sums[:, 1],
        size_a=sums[:, 2],
        size_b=np.zeros(n),
        spans_a=nothing,
        spans_b=nothing,
        certain=sums[:, 3] == 0,
        certain_a=sums[:, 3] == 0,
        certain_b=sums[:, 3] == 0,
    )
    return bc.Agreement(counts, bc.Settings())


def population_of(
    noise: Sequence[float], *, sentences: int = 1, spread: float = 0.0
) -> list[bc.Counts]:
    """Each system of a population against its gold standard."""
    corpus = population(POOL // sentences, noise=noise, sentences=sentences, spread=spread)
    return [system.counts for system in bc.rank(corpus).systems.values()]


def draws(n_units: int, size: int, corpora: int) -> Iterator[tuple[int, np.ndarray]]:
    """Corpora: their seeds, and the numbers of their documents."""
    rng = np.random.default_rng(size)
    for seed in range(corpora):
        yield seed, rng.integers(0, n_units, size)


class Tally:
    """How often intervals held the truth, and how wide they were."""

    def __init__(self) -> None:
        self.held = self.none = self.corpora = 0
        self.width = 0.0
        self.below = 0

    def add(self, interval: bc.ConfidenceInterval, truth: float) -> None:
        """Count an interval; one that does not exist holds nothing."""
        self.corpora += 1
        if interval.reason is not None:
            self.none += 1
            return
        self.held += interval.low <= truth <= interval.high
        self.below += truth < interval.low
        self.width += interval.high - interval.low

    def cells(self) -> list[str]:
        """Coverage of the intervals that there are, and how many there are not."""
        there = max(self.corpora - self.none, 1)
        none = f"{100 * self.none / self.corpora:.1f}" if self.none else ""
        return [f"{100 * self.held / there:.1f}", f"{self.width / there:.3f}", none]


def share(times: int, of: int) -> str:
    """A share in percent, with its standard error."""
    p = times / of
    return f"{100 * p:.1f} ± {100 * (p * (1 - p) / of) ** 0.5:.1f}"


def percent(number: float) -> str:
    """A share in whole percents."""
    return f"{100 * number:.0f} %"


def table(headings: Sequence[str], rows: Iterable[Sequence[str]]) -> list[str]:
    """Lines of Markdown."""
    lines = [headings, ["---", *["---:"] * (len(headings) - 1)], *rows]
    return [f"| {' | '.join(line)} |" for line in lines] + [""]


def coverage(corpora: int) -> list[str]:
    """Documents of one sentence each: how often each kind of interval holds the truth."""
    rows = []
    for name, noise in (("careful", CAREFUL), ("careless", CARELESS)):
        (counts,) = population_of([noise])
        pool = sums_of(counts)
        truth = result_of(pool)
        for size in (30, 100, 300, 1000):
            tallies = {(method, score): Tally() for method in METHODS for score in SCORES}
            effective = []
            for seed, chosen in draws(len(pool), size, corpora):
                result = result_of(pool[chosen])
                for method in METHODS:
                    found = result.intervals(seed=seed, resamples=RESAMPLES, method=method)
                    for score in SCORES:
                        tallies[method, score].add(found.overall[score], getattr(truth, score))
                effective.append(found.overall["corrected"].effective)
            rest = f"{np.nanmedian(effective):.0f}"
            for score in SCORES:
                if score != "corrected" and size != 1000:
                    continue
                cells = [tallies[method, score].cells() for method in METHODS]
                rows.append(
                    [f"{name}, {score} {getattr(truth, score):.3f}", f"{size:,}", rest]
                    + [cell for held, width, _ in cells for cell in (held, width)]
                    + [cells[0][2]]
                )
            say(f"coverage {name} {size}")
    headings = ["system, score", "documents", "effective"]
    headings += [f"{method}{what}" for method in METHODS for what in ("", ", width")]
    return [
        "### How often 95 % intervals hold the truth",
        "",
        COVERAGE.format(corpora=corpora, error=100 * (0.05 * 0.95 / corpora) ** 0.5),
        "",
        *table([*headings, "none"], rows),
    ]


def clusters(corpora: int) -> list[str]:
    """Sentences of one document are alike: drawing sentences promises too much."""
    rows = []
    for spread in (0.0, 1.0, 2.0):
        (counts,) = population_of([CAREFUL], sentences=20, spread=spread)
        by_document, by_sentence = sums_of(counts), sums_of(counts, "text")
        truth = result_of(by_document).corrected
        for size in (30, 100):
            tallies = [Tally(), Tally(), Tally()]
            for seed, chosen in draws(len(by_document), size, corpora // 2):
                sentences = (chosen[:, None] * 20 + np.arange(20)).reshape(-1)
                for tally, sums, method in (
                    (tallies[0], by_document[chosen], "bca"),
                    (tallies[1], by_document[chosen], "expanded"),
                    (tallies[2], by_sentence[sentences], "bca"),
                ):
                    found = result_of(sums).interval(seed=seed, resamples=RESAMPLES, method=method)
                    tally.add(found, truth)
            cells = [cell for tally in tallies for cell in tally.cells()[:2]]
            rows.append([f"{spread:g}", f"{size} of 20 sentences", *cells])
            say(f"clusters {spread} {size}")
    headings = ["spread", "documents", "documents, bca", "width", "documents, expanded", "width"]
    return [
        "### Why documents are drawn and not sentences",
        "",
        CLUSTERS.format(corpora=corpora // 2),
        "",
        *table([*headings, "sentences, bca", "width"], rows),
    ]


def alarms(corpora: int) -> list[str]:
    """Two systems that are alike: how often they are told apart all the same."""
    rows = []
    for name, sentences, spread in (("one sentence", 1, 0.0), ("20 sentences, unlike", 20, 1.0)):
        one, other = (
            sums_of(counts)
            for counts in population_of([0.15, 0.15], sentences=sentences, spread=spread)
        )
        for size in (10, 30, 100, 1000):
            told = dict.fromkeys(("permutation", "bootstrap", "unpaired"), 0)
            elsewhere = np.random.default_rng(10**6 + size)
            for seed, chosen in draws(len(one), size, corpora):
                pair = result_of(one[chosen]), result_of(other[chosen])
                for test in ("permutation", "bootstrap"):
                    found = bc.compare(*pair, test=test, seed=seed, resamples=RESAMPLES)
                    told[test] += found.p_value <= 0.05
                rest = result_of(one[elsewhere.integers(0, len(one), size)])
                found = bc.compare(pair[0], rest, paired=False, seed=seed, resamples=RESAMPLES)
                told["unpaired"] += found.p_value <= 0.05
            rows.append([name, f"{size:,}", *(share(times, corpora) for times in told.values())])
            say(f"alarms {name} {size} {told}")
    headings = ["documents of", "documents", "permutation", "bootstrap", "permutation, two rounds"]
    return [
        "### False alarms",
        "",
        ALARMS.format(corpora=corpora),
        "",
        *table(headings, rows),
    ]


def power(corpora: int) -> list[str]:
    """Two systems that differ: how often that is found, and what interval it has."""
    rows = []
    for noise in ((0.08, 0.1), (0.08, 0.12), (0.08, 0.2)):
        one, other = (sums_of(counts) for counts in population_of(noise))
        truth = result_of(one).corrected - result_of(other).corrected
        for size in (30, 100, 300, 1000):
            told, tallies = 0, {"bca": Tally(), "expanded": Tally()}
            for seed, chosen in draws(len(one), size, corpora // 2):
                pair = result_of(one[chosen]), result_of(other[chosen])
                for method, tally in tallies.items():
                    found = bc.compare(*pair, seed=seed, resamples=RESAMPLES, method=method)
                    tally.add(found.interval, truth)
                told += found.p_value <= 0.05
            cells = [tally.cells() for tally in tallies.values()]
            systems = f"{percent(noise[0])} and {percent(noise[1])} wrong"
            held = [cell[0] for cell in cells]
            told_apart = share(told, corpora // 2)
            rows.append([systems, f"{truth:.3f}", f"{size:,}", told_apart, *held, cells[0][2]])
            say(f"power {noise} {size}")
    headings = ["systems", "true difference", "documents", "told apart", "bca", "expanded", "none"]
    return [
        "### Power",
        "",
        POWER.format(corpora=corpora // 2),
        "",
        *table(headings, rows),
    ]


def team_of(n_annotators: int, rng: np.random.Generator, n_documents: int = 40) -> bc.Agreement:
    """Annotators who each find a share of their own of ten spans in every document."""
    mean, sd = 0.8, 0.12
    strength = mean * (1 - mean) / sd**2 - 1
    skill = rng.beta(mean * strength, (1 - mean) * strength, n_annotators)
    found = rng.random((n_documents, 10, n_annotators)) < skill[None, None]
    left, right = np.triu_indices(n_annotators, 1)
    n_pairs = len(left)
    document, pair = np.divmod(np.arange(n_documents * n_pairs), n_pairs)
    size = found.sum(axis=1)
    never = np.zeros(len(document), dtype=bool)
    counts = bc.Counts(
        documents=tuple(map(str, range(n_documents))),
        n_texts=n_documents,
        labels=("all",),
        annotators=tuple(map(str, range(n_annotators))),
        pairs=np.stack([left, right]),
        document=document,
        text=document,
        label=np.zeros_like(document),
        a=left[pair],
        b=right[pair],
        matched=(found[:, :, left] & found[:, :, right]).sum(axis=1).reshape(-1).astype(float),
        expected=np.zeros(len(document)),
        size_a=size[:, left].reshape(-1).astype(float),
        size_b=size[:, right].reshape(-1).astype(float),
        spans_a=size[:, left].reshape(-1),
        spans_b=size[:, right].reshape(-1),
        certain=never,
        certain_a=never,
        certain_b=never,
    )
    return bc.Agreement(counts, bc.Settings())


def teams(corpora: int) -> list[str]:
    """Annotators are few and unlike: what intervals over documents say of others."""
    kinds = [
        ("documents", "bca"),
        ("annotators", "bca"),
        ("annotators", "expanded"),
        ("both", "bca"),
        ("both", "expanded"),
    ]
    rows = []
    for size in (3, 5, 10, 20):
        rng = np.random.default_rng(size)
        tallies = {kind: Tally() for kind in kinds}
        for seed in range(corpora // 2):
            result = team_of(size, rng)
            for (over, method), tally in tallies.items():
                found = result.interval(
                    "observed", seed=seed, resamples=RESAMPLES, method=method, over=over
                )
                # Of two who find each span independently, with a mean share of .8 each.
                tally.add(found, 0.8)
        cells = [tally.cells() for tally in tallies.values()]
        rows.append([str(size), *(held for held, _, _ in cells)])
        say(f"teams {size}")
    headings = ["annotators", *(f"{over}, {method}" for over, method in kinds)]
    return [
        "### Other annotators",
        "",
        TEAMS.format(corpora=corpora // 2),
        "",
        *table(headings, rows),
    ]


def say(what: str) -> None:
    """Tell somebody who waits how far it is."""
    print(f"{perf_counter() - START:7.0f} s  {what}", file=sys.stderr, flush=True)


START = perf_counter()


PARTS = {
    "coverage": coverage,
    "clusters": clusters,
    "alarms": alarms,
    "power": power,
    "teams": teams,
}


def main() -> None:
    """Run what is asked for and write its tables."""
    corpora = int(sys.argv[1]) if len(sys.argv) > 1 else 2000
    for name in sys.argv[2:] or PARTS:
        head = f"<!-- Written by python benchmarks/calibration.py {corpora} {name} -->"
        lines = [head, "", *PARTS[name](corpora)]
        (TABLES / f"calibration-{name}.md").write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
