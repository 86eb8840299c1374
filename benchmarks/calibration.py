"""Whether intervals hold what they promise, and tests and plans do: by simulation.

    python benchmarks/calibration.py [CORPORA [PART ...]]

A population of documents is made up, and its score is the truth. Corpora are drawn from it,
1,000 unless told otherwise; it is counted how often their intervals hold the truth, how often
two systems are told apart, and how often the range of a plan holds what is needed. Each part
(see PARTS; all unless told otherwise) writes a table docs/_static/calibration-PART.md, which
docs/background/uncertainty.md shows.
"""

from __future__ import annotations

import sys
from collections.abc import Iterable, Iterator, Sequence
from functools import cache
from pathlib import Path
from time import perf_counter
from typing import Any

import numpy as np

import beyondchance as bc
from beyondchance.core.exact import exact_total
from beyondchance.core.ragged import total
from beyondchance.core.resampling import bootstrap_weights, stacked, totals_of
from beyondchance.results.intervals import interval_from, lowest_of
from beyondchance.results.resampling import (
    METHODS,
    SCORES,
    resampling_of,
    score_of,
)
from beyondchance.types import Floats
from generate import population

TABLES = Path(__file__).parent.parent / "docs" / "_static"
POOL = 60_000
"""Sentences of a population."""
RESAMPLES = 999

CAREFUL, CARELESS = 0.08, 0.3
"""Shares of the spans that a system gets wrong."""
TEAM = 0.15
"""The same, for each of three annotators."""

COVERAGE = """\
Of {corpora:,} corpora each, in percent (standard error about {error:.1f}). A document is one
sentence of 13 tokens on average; a careful system gets 8 % of the spans wrong, a careless one
30 %. *Effective* is the median number of documents from which the width would be known as well, if
all varied alike; *none* the percentage of corpora without an expanded interval, mostly because
there was no disagreement at all, which are left out of the others."""

LENGTHS = """\
Corrected scores of {corpora:,} corpora each, in percent (standard error about {error:.1f}). The
number of sentences in a document is lognormal with a median of 5 and a standard deviation of its
logarithm of 1.2: of a hundred documents, one is longer than eighty sentences. In *unlike* documents
errors vary as well, with a coefficient of variation of 1. A team is three annotators who get 15 %
of the spans wrong each, and are compared in all three pairs."""

GROUPS = """\
Corrected scores of {corpora:,} corpora each, in percent (standard error about {error:.1f}), of
many sentences with 30 % of the spans wrong, put into groups at random, as a hash does."""

CLUSTERS = """\
Of {corpora:,} corpora each, in percent. *Spread* is how much harder some documents are than
others: the coefficient of variation of the system's errors between documents."""

ALARMS = """\
Two systems that get 15 % of the spans wrong, at random, on {corpora:,} corpora: how often p is
at most .05, in percent with its standard error. A sound test gives at most 5,
within three standard errors."""

POWER = """\
How often two systems that differ are told apart (p at most .05) on {corpora:,} corpora of
one-sentence documents, in percent."""

DIFFERENCES = """\
How often 95 % intervals of the difference between two systems hold the true one, in percent of
{corpora:,} corpora each (standard error about {error:.1f}). *None* is the percentage of corpora
without an expanded interval, in which the systems do not differ in any document; these are left
out."""

TEAMS = """\
Of {corpora:,} teams each, in percent: how often 95 % intervals of the observed score hold what all
annotators of that kind would reach. Annotators are *unlike* (each finds a share of the spans that
is beta-distributed around .8, with a standard deviation of .12) or of *two kinds* (four in five
find .9 of the spans, one in five finds half of them); the 40 documents are alike."""

PLANS = """\
Of {corpora:,} pilots each, in percent: how often the range of a plan (95 %) holds the number of
documents that the whole population asks for; *below* and *above*, how often that is less than the
range and more. *Times* is the median of the upper end divided by the lower one. Pilots without a
plan, in which all documents agree completely, are left out."""


def sums_of(counts: bc.Counts, unit: str = "document") -> Floats:
    """What each document, or sentence, adds: matched, expected, size, rows with a choice."""
    owner = getattr(counts, unit)
    n_units = len(counts.documents) if unit == "document" else counts.n_texts
    columns = [
        total(owner, counts.matched, n_units),
        exact_total(owner, counts.expected, n_units),
        total(owner, counts.size_a + counts.size_b, n_units),
        total(owner, ~counts.fixed, n_units),
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
        fixed=sums[:, 3] == 0,
    )
    return bc.Agreement(counts, bc.Settings())


@cache
def population_of(
    noise: tuple[float, ...], *, sentences: int = 1, spread: float = 0.0, is_lognormal: bool = False
) -> list[bc.Counts]:
    """Each system of a population against its gold standard."""
    corpus = _population(noise, sentences, spread, is_lognormal)
    return [system.counts for system in bc.rank(corpus).systems.values()]


def _population(
    noise: tuple[float, ...], sentences: int, spread: float, is_lognormal: bool
) -> bc.Corpus:
    each: int | list[int] = sentences
    n_documents = POOL // sentences
    if is_lognormal:
        n_documents = 7000
        logarithms = np.random.default_rng(3).normal(np.log(5), 1.2, n_documents)
        each = np.maximum(np.rint(np.exp(logarithms)), 1).astype(int).tolist()
    return population(n_documents, noise=noise, sentences=each, spread=spread)


def team_population(*, spread: float = 0.0, is_lognormal: bool = False) -> bc.Counts:
    """Three annotators, in all three pairs; what they are compared with elsewhere is left out."""
    corpus = _population((TEAM, TEAM, TEAM), 20, spread, is_lognormal)
    names = [name for name in corpus.annotators if name != "gold"]
    return bc.agreement(corpus.select(annotators=names)).counts


def interval_of(
    sums: Sequence[Floats], seed: int, method: str, score: str = "corrected"
) -> bc.ConfidenceInterval:
    """The interval of a result with these sums by document, or of the difference of two."""
    options = resampling_of(
        bc.Settings(), {"seed": seed, "method": method, "resamples": RESAMPLES}, over="documents"
    )
    table = np.stack(sums, axis=1)
    totals = totals_of(table)
    whole = totals(np.ones((1, len(table))))[0]
    weights = bootstrap_weights(len(table), options.draws, options.generator)
    drawn = stacked((totals(block) for block in weights), whole)

    def scored(found: Floats) -> Floats:
        first, *rest = (score_of(found[..., i, :], score) for i in range(len(sums)))
        return first - rest[0] if rest else first

    return interval_from(
        scored(drawn),
        float(scored(whole)),
        [scored(whole - table)],
        options,
        kinds=["documents"],
        lowest=lowest_of(whole[0], score) if len(sums) == 1 else None,
    )


def error_of(corpora: int) -> float:
    """The standard error of a coverage of 95 %, in percent."""
    return 100 * (0.05 * 0.95 / corpora) ** 0.5


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

    def wide_cells(self) -> list[str]:
        """Coverage and width, with more digits of narrow intervals."""
        there = max(self.corpora - self.none, 1)
        return [f"{100 * self.held / there:.1f}", f"{self.width / there:.5f}"]

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


def section(
    title: str, text: str, headings: Sequence[str], rows: Iterable[Sequence[str]]
) -> list[str]:
    """A table with what it shows."""
    return [f"### {title}", "", text, "", *table(headings, rows)]


def coverage(corpora: int) -> list[str]:
    """Documents of one sentence each: how often each kind of interval holds the truth."""
    rows = []
    for name, noise in (("careful", CAREFUL), ("careless", CARELESS)):
        (counts,) = population_of((noise,))
        pool = sums_of(counts)
        for size in (10, 30, 100, 300, 1000):
            for score in SCORES if size == 1000 else ("corrected",):
                truth = float(score_of(pool.sum(axis=0), score))
                cells = covered([pool], truth, size, corpora, methods=METHODS, score=score)
                rows.append([f"{name}, {score} {truth:.3f}", f"{size:,}", *cells])
            say(f"coverage {name} {size}")
    headings = ["system, score", "documents", "effective"]
    headings += [f"{method}{what}" for method in METHODS for what in ("", ", width")]
    return section(
        "How often 95 % intervals hold the truth",
        COVERAGE.format(corpora=corpora, error=error_of(corpora)),
        [*headings, "none"],
        rows,
    )


def covered(
    pools: Sequence[Floats],
    truth: float,
    size: int,
    corpora: int,
    *,
    methods: Sequence[str],
    score: str = "corrected",
) -> list[str]:
    """Effective documents, coverage and width by each method, and how often there is none."""
    tallies = {method: Tally() for method in methods}
    effective = []
    for seed, chosen in draws(len(pools[0]), size, corpora):
        for method, tally in tallies.items():
            found = interval_of([pool[chosen] for pool in pools], seed, method, score)
            tally.add(found, truth)
        effective.append(found.effective)
    cells = [tally.cells() for tally in tallies.values()]
    both = [cell for held, width, _ in cells for cell in (held, width)]
    return [f"{np.nanmedian(effective):.0f}", *both, cells[0][2]]


def lengths(corpora: int) -> list[str]:
    """Documents of very unlike length, alike and unlike otherwise; and teams of three."""
    rows = []
    for kind, spread in (("alike", 0.0), ("unlike", 1.0)):
        pools = {
            name: sums_of(population_of((noise,), spread=spread, is_lognormal=True)[0])
            for name, noise in (("careful", CAREFUL), ("careless", CARELESS))
        }
        pools["team of three"] = sums_of(team_population(spread=spread, is_lognormal=True))
        if spread:
            pools["team of three, 20 sentences each"] = sums_of(team_population(spread=spread))
        for name, pool in pools.items():
            truth = float(score_of(pool.sum(axis=0), "corrected"))
            for size in (10, 20, 30, 100):
                cells = covered([pool], truth, size, corpora, methods=METHODS)
                rows.append([f"{name} {truth:.3f}", kind, f"{size}", *cells[:-1]])
            say(f"lengths {name} {kind}")
    headings = ["annotators", "documents", "number", "effective"]
    headings += [f"{method}{what}" for method in METHODS for what in ("", ", width")]
    return section(
        "Documents of unlike length, and teams",
        LENGTHS.format(corpora=corpora, error=error_of(corpora)),
        headings,
        rows,
    )


def groups(corpora: int) -> list[str]:
    """Many documents, in groups by a hash of their names, which is a number drawn at random."""
    rows = []
    for name, spread in (("alike", 0.0), ("unlike", 1.0)):
        (counts,) = population_of((CARELESS,), spread=spread)
        pool = sums_of(counts)
        truth = float(score_of(pool.sum(axis=0), "corrected"))
        for size, n_groups in ((5_000, 4096), (5_000, 256), (40_000, 4096), (40_000, 256)):
            tallies = {method: Tally() for method in ("expanded", "bca")}
            single = Tally()
            for seed, chosen in draws(len(pool), size, corpora):
                group = np.random.default_rng((seed, n_groups)).integers(0, n_groups, size)
                own = np.stack(
                    [total(group, column, n_groups) for column in pool[chosen].T], axis=1
                )
                own = own[np.bincount(group, minlength=n_groups) > 0]
                for method, tally in tallies.items():
                    tally.add(interval_of([own], seed, method), truth)
                single.add(interval_of([pool[chosen]], seed, "expanded"), truth)
            cells = [cell for tally in tallies.values() for cell in tally.wide_cells()]
            rows.append([name, f"{size:,}", f"{n_groups:,}", *cells, *single.wide_cells()])
            say(f"groups {name} {size} {n_groups}")
    headings = ["documents", "number", "groups", "expanded", "width", "bca", "width"]
    headings += ["expanded, over documents", "width"]
    text = GROUPS.format(corpora=corpora, error=error_of(corpora))
    return section("Groups of documents", text, headings, rows)


def clusters(corpora: int) -> list[str]:
    """Sentences of one document are alike: drawing sentences promises too much."""
    rows = []
    for spread in (0.0, 1.0, 2.0):
        (counts,) = population_of((CAREFUL,), sentences=20, spread=spread)
        by_document, by_sentence = sums_of(counts), sums_of(counts, "text")
        truth = result_of(by_document).corrected
        for size in (30, 100):
            tallies = [Tally(), Tally(), Tally()]
            for seed, chosen in draws(len(by_document), size, corpora // 2):
                sentences = (chosen[:, None] * 20 + np.arange(20)).reshape(-1)
                for tally, sums, method in (
                    (tallies[0], by_document[chosen], "expanded"),
                    (tallies[1], by_document[chosen], "bca"),
                    (tallies[2], by_sentence[sentences], "expanded"),
                ):
                    tally.add(interval_of([sums], seed, method), truth)
            cells = [cell for tally in tallies for cell in tally.cells()[:2]]
            rows.append([f"{spread:g}", f"{size} of 20 sentences", *cells])
            say(f"clusters {spread} {size}")
    headings = ["spread", "documents", "documents, expanded", "width", "documents, bca", "width"]
    return section(
        "Why documents are drawn and not sentences",
        CLUSTERS.format(corpora=corpora // 2),
        [*headings, "sentences, expanded", "width"],
        rows,
    )


def alarms(corpora: int) -> list[str]:
    """Two systems that are alike: how often they are told apart all the same."""
    rows = []
    for name, sentences, spread in (("one sentence", 1, 0.0), ("20 sentences, unlike", 20, 1.0)):
        one, other = (
            sums_of(counts)
            for counts in population_of((0.15, 0.15), sentences=sentences, spread=spread)
        )
        for size in (10, 30, 100, 1000):
            told = dict.fromkeys(("permutation", "bootstrap"), 0)
            for seed, chosen in draws(len(one), size, corpora):
                pair = result_of(one[chosen]), result_of(other[chosen])
                for test in told:
                    found = bc.compare(*pair, test=test, seed=seed, resamples=RESAMPLES)
                    told[test] += found.p_value <= 0.05
            rows.append([name, f"{size:,}", *(share(times, corpora) for times in told.values())])
            say(f"alarms {name} {size} {told}")
    headings = ["documents of", "documents", "permutation", "bootstrap"]
    return section("False alarms", ALARMS.format(corpora=corpora), headings, rows)


def power(corpora: int) -> list[str]:
    """Two systems that differ: how often that is found."""
    rows = []
    for noise in ((0.08, 0.1), (0.08, 0.12), (0.08, 0.2)):
        one, other = (sums_of(counts) for counts in population_of(noise))
        truth = result_of(one).corrected - result_of(other).corrected
        for size in (30, 100, 300, 1000):
            told = 0
            for seed, chosen in draws(len(one), size, corpora // 2):
                pair = result_of(one[chosen]), result_of(other[chosen])
                told += bc.compare(*pair, seed=seed, resamples=RESAMPLES).p_value <= 0.05
            systems = f"{percent(noise[0])} and {percent(noise[1])} wrong"
            rows.append([systems, f"{truth:.3f}", f"{size:,}", share(told, corpora // 2)])
            say(f"power {noise} {size}")
    headings = ["systems", "true difference", "documents", "told apart"]
    return section("Power", POWER.format(corpora=corpora // 2), headings, rows)


KINDS: dict[str, dict[str, Any]] = {
    "one sentence": {},
    "20 sentences": {"sentences": 20},
    "20 sentences, unlike": {"sentences": 20, "spread": 1.0},
    "lognormal": {"is_lognormal": True},
    "lognormal, unlike": {"is_lognormal": True, "spread": 1.0},
}
"""Documents, and how they are generated."""


def differences(corpora: int) -> list[str]:
    """Two systems on few documents: how often intervals hold their difference."""
    rows = []
    for kind, options in KINDS.items():
        counts = population_of((0.08, 0.12, 0.3, 0.15, 0.15), **options)
        pools = dict(enumerate(map(sums_of, counts)))
        for first, second, what in (
            (0, 1, "8 % and 12 %"),
            (0, 2, "8 % and 30 %"),
            (3, 4, "15 % both"),
        ):
            pair = [pools[first], pools[second]]
            one, other = (float(score_of(pool.sum(axis=0), "corrected")) for pool in pair)
            for size in (8, 10, 20, 30, 100):
                cells = covered(pair, one - other, size, corpora, methods=("expanded", "bca"))
                rows.append([kind, what, f"{size}", *cells])
        say(f"differences {kind}")
    headings = ["documents of", "systems wrong", "documents", "effective"]
    headings += [f"{method}{what}" for method in ("expanded", "bca") for what in ("", ", width")]
    return section(
        "Differences of systems",
        DIFFERENCES.format(corpora=corpora, error=error_of(corpora)),
        [*headings, "none"],
        rows,
    )


def plans(corpora: int) -> list[str]:
    """Pilots: how often the range of a plan holds the true need."""
    rows = []
    for kind, options in KINDS.items():
        careful, _, careless, *_ = population_of((0.08, 0.12, 0.3, 0.15, 0.15), **options)
        pools = {"careful": sums_of(careful), "careless": sums_of(careless)}
        for name, pool in pools.items():
            need = bc.plan(result_of(pool), 0.02).documents
            for size in (10, 20, 50, 100):
                found = [
                    bc.plan(result_of(pool[chosen]), 0.02)
                    for _, chosen in draws(len(pool), size, corpora)
                ]
                made = [plan for plan in found if plan.documents is not None]
                held = sum(plan.low <= need <= plan.high for plan in made)
                below = sum(need < plan.low for plan in made) / len(made)
                above = sum(need > plan.high for plan in made) / len(made)
                times = np.median([plan.high / plan.low for plan in made])
                cells = [f"{100 * below:.1f}", f"{100 * above:.1f}", f"{times:,.1f}"]
                rows.append([kind, name, f"{need:,}", f"{size}", share(held, len(made)), *cells])
        say(f"plans {kind}")
    headings = ["documents of", "system", "need for ± .02", "pilot", "held", "below", "above"]
    return section("Plans", PLANS.format(corpora=corpora), [*headings, "times"], rows)


def team_of(kind: str, n_annotators: int, rng: np.random.Generator) -> bc.Agreement:
    """Annotators who each find a share of their own of ten spans in every document."""
    n_documents, mean, sd = 40, 0.8, 0.12
    strength = mean * (1 - mean) / sd**2 - 1
    skill = rng.beta(mean * strength, (1 - mean) * strength, n_annotators)
    if kind == "two kinds":
        skill = np.where(rng.random(n_annotators) < 0.2, 0.5, 0.9)
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
        fixed=never,
    )
    return bc.Agreement(counts, bc.Settings())


def teams(corpora: int) -> list[str]:
    """Annotators are few and unlike: what intervals over documents say of others."""
    kinds = [
        ("documents", "expanded"),
        ("annotators", "expanded"),
        ("annotators", "bca"),
        ("both", "expanded"),
        ("both", "bca"),
    ]
    rows = []
    # What two find who find each span independently: the mean share.
    for kind, truth in (("unlike", 0.8), ("two kinds", 0.82)):
        for size in (3, 5, 10, 20):
            rng = np.random.default_rng(size)
            tallies = {how: Tally() for how in kinds}
            for seed in range(corpora // 2):
                result = team_of(kind, size, rng)
                for (over, method), tally in tallies.items():
                    found = result.interval(
                        "observed", seed=seed, resamples=RESAMPLES, method=method, over=over
                    )
                    tally.add(found, truth)
            cells = [tally.cells() for tally in tallies.values()]
            rows.append([kind, str(size), *(held for held, _, _ in cells)])
            say(f"teams {kind} {size}")
    headings = ["annotators", "number", *(f"{over}, {method}" for over, method in kinds)]
    return section("Other annotators", TEAMS.format(corpora=corpora // 2), headings, rows)


def say(what: str) -> None:
    """Tell somebody who waits how far it is."""
    print(f"{perf_counter() - START:7.0f} s  {what}", file=sys.stderr, flush=True)


START = perf_counter()


PARTS = {
    "coverage": coverage,
    "lengths": lengths,
    "groups": groups,
    "clusters": clusters,
    "differences": differences,
    "alarms": alarms,
    "power": power,
    "teams": teams,
    "plans": plans,
}


def main() -> None:
    """Run what is asked for and write its tables."""
    corpora = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name in sys.argv[2:] or PARTS:
        head = f"<!-- Written by python benchmarks/calibration.py {corpora} {name} -->"
        lines = [head, "", *PARTS[name](corpora)]
        (TABLES / f"calibration-{name}.md").write_text("\n".join(lines), "utf-8")


if __name__ == "__main__":
    main()
