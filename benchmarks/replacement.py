"""Whether the test of replacement keeps what it promises: by simulation.

    python benchmarks/replacement.py [CORPORA [PART ...]]

A population of documents is made up, which people and models annotate around a known truth. What is
true of all of it is the truth; corpora are drawn from it, 1,000 unless told otherwise. Each part
(see PARTS; all unless told otherwise) prints a table in Markdown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import product

import numpy as np

import beyondchance as bc
from beyondchance.inference.replacement import Asked, PairSums, Replacement, Scores
from beyondchance.types import Floats, Ints
from calibration import say, section

POOL = 2_000
"""Documents of a population."""
SLOT, LABELS = 5, ("LOC", "ORG", "PER")
"""Tokens of a slot, which has at most one span."""
SLOTS = 20
"""Slots of a document: about ten spans."""
SHARED, OWN = 0.8, 0.5
"""How much errors vary between documents, for all alike and for each annotator: coefficients of
variation."""
TEAMS, AGREEMENTS, SIZES = (3, 8, 20), (0.15, 0.5, 0.95), (20, 50, 100)
KEEP, MARGIN = 0.9, 0.05
COLUMNS = ("span_text", "span_annotator", "span_start", "span_end", "span_label")


@dataclass(frozen=True)
class Worker:
    """An annotator: a share of slots follows the truth, others are filled at random."""

    name: str
    errors: float
    """Per slot, before documents differ."""
    fails: float = 0.0
    """The share of documents with random work as a whole."""
    copies: str = ""
    marks_nothing: bool = False


def _spans(rng: np.random.Generator, n: int) -> tuple[np.ndarray, Ints]:
    """Whether each slot has a span, and its start, end and label."""
    starts, ends = np.array([(0, 1), (1, 2), (2, 3), (1, 3), (2, 4), (1, 4)]).T
    which = rng.integers(0, len(starts), n)
    return rng.random(n) < 0.5, np.stack([starts[which], ends[which], rng.integers(0, 3, n)])


def anywhere(document: Ints, length: Ints, size: Ints, rng: np.random.Generator) -> Ints:
    """Starts of spans that are placed at random, without overlaps: those of all arrangements."""
    free = size - np.bincount(document, length, len(size)).astype(int)
    owner = np.concatenate([document, np.repeat(np.arange(len(size)), free)])
    width = np.concatenate([length, np.ones(free.sum(), int)])
    order = np.lexsort((rng.random(len(owner)), owner))
    begin = np.empty(len(owner), int)
    begin[order] = np.cumsum(width[order]) - width[order]
    return np.asarray((begin - (np.cumsum(size) - size)[owner])[: len(document)])


def population(workers: Sequence[Worker], *, deviation: float = 0.0, seed: int = 1) -> bc.Corpus:
    """Documents that all annotate; the logarithm of their length may vary."""
    rng = np.random.default_rng(seed)
    slots = np.maximum(np.rint(SLOTS * np.exp(rng.normal(0, deviation, POOL))), 2).astype(int)
    document = np.repeat(np.arange(POOL), slots)
    begin = SLOT * (np.arange(len(document)) - np.repeat(np.cumsum(slots) - slots, slots))
    is_true, true = _spans(rng, len(document))
    harder = rng.gamma(1 / SHARED**2, SHARED**2, POOL)
    made: dict[str, Ints] = {}
    for number, worker in enumerate(workers):
        own = np.random.default_rng((seed, number))
        factor = harder * own.gamma(1 / OWN**2, OWN**2, POOL)
        follows = own.random(len(document)) < np.exp(-worker.errors * factor)[document]
        is_there, spans = _spans(own, len(document))
        is_there = np.where(follows, is_true, is_there) & (not worker.marks_nothing)
        start, end, label = np.where(follows, true, spans)[:, is_there]
        at, first = document[is_there], begin[is_there] + start
        is_random = (own.random(POOL) < worker.fails)[at]
        first[is_random] = anywhere(at[is_random], (end - start)[is_random], SLOT * slots, own)
        who = np.full(len(at), number)
        made[worker.name] = np.stack([at, who, first, first + end - start, label])
        if worker.copies:
            made[worker.name] = made[worker.copies].copy()
            made[worker.name][1] = number
    spans = np.concatenate([*made.values()], axis=1)
    spans = spans[:, np.argsort(spans[0], kind="stable")]
    n = len(workers)
    return bc.Corpus(
        documents=tuple(map(str, range(POOL))),
        text_document=np.arange(POOL),
        text_length=SLOT * slots,
        annotators=tuple(worker.name for worker in workers),
        labels=LABELS,
        annotation_document=np.repeat(np.arange(POOL), n),
        annotation_annotator=np.tile(np.arange(n), POOL),
        **dict(zip(COLUMNS, spans, strict=True)),
    )


@cache
def _factors() -> Floats:
    rng = np.random.default_rng(0)
    own = rng.gamma(1 / OWN**2, OWN**2, (100_000, 2))
    return np.asarray(rng.gamma(1 / SHARED**2, SHARED**2, (100_000, 1)) * own)


def errors_for(agreement: float, others: float | None = None) -> float:
    """The errors with which an annotator agrees so well with others (who have as many errors)."""
    low, high = 0.0, 100.0
    while high - low > 1e-6:
        errors = (low + high) / 2
        pair = np.array([errors, errors if others is None else others])
        is_high = np.exp(-(pair * _factors()).sum(axis=1)).mean() > agreement
        low, high = (errors, high) if is_high else (low, errors)
    return low


def team_of(n: int, agreement: float) -> list[Worker]:
    """People who agree so well with each other."""
    return [Worker(f"person {i}", errors_for(agreement)) for i in range(1, n + 1)]


@dataclass(frozen=True)
class Population:
    """What all pairs of a population add in each document."""

    sums: PairSums

    @classmethod
    def of(cls, people: Sequence[Worker], model: Worker, deviation: float = 0.0) -> Population:
        """Score all pairs once."""
        corpus = population([*people, model], deviation=deviation)
        names = tuple(worker.name for worker in people)
        scoring = {"measure": "token", "scope": "label"}
        return cls(PairSums.of(corpus, names, [model.name], scoring))

    def truth(self, model: str) -> tuple[float, float]:
        """The scores of the model and of the people, of all documents."""
        found = Scores.of(self.sums.in_places(model, self.sums.humans)).values[0]
        return float(found[0]), float(found[1])

    def drawn(
        self, model: str, size: int, corpora: int, **asked: float | None
    ) -> list[Replacement]:
        """The results of corpora of some documents, by the library itself."""
        rng = np.random.default_rng((size, corpora))
        found = []
        for _ in range(corpora):
            chosen = rng.integers(0, POOL, size)
            part = PairSums(
                corpus=self.sums.corpus,
                humans=self.sums.humans,
                documents=tuple(map(str, range(size))),
                sums={pair: sums[chosen] for pair, sums in self.sums.sums.items()},
                present={name: here[chosen] for name, here in self.sums.present.items()},
                scoring=self.sums.scoring,
                settings=self.sums.settings,
            )
            found.append(part.replacement(model, Asked(**asked)))
        return found


def at_margin(agreement: float) -> float:
    """The highest agreement of a model that must not pass."""
    return min(KEEP * agreement, agreement - MARGIN)


def exact_bounds(model: float, people: float) -> dict[str, float]:
    """The bound that is reached, moved to where the model of this population is."""
    if KEEP * people < people - MARGIN:
        return {"keep": KEEP, "margin": people - model}
    return {"keep": model / people, "margin": MARGIN}


def percent(found: Sequence[bool]) -> str:
    """How many of a hundred."""
    return f"{100 * np.mean(found):.1f}"


def passed(found: Sequence[Replacement]) -> str:
    """How often a model is shown to be good enough."""
    return percent([one.verdict == "shown" for one in found])


FALSE_PASSES = """\
Of {corpora:,} corpora each, in percent: how often a model that is worse by exactly what is
tolerated passes, by the mean and by every person."""


def passes(corpora: int) -> list[str]:
    """Models at the margin: how often they pass all the same."""
    rows = []
    for n, agreement, deviation in [*product(TEAMS, AGREEMENTS, (0.0,)), (3, 0.5, 0.8)]:
        people = team_of(n, agreement)
        errors = errors_for(at_margin(agreement), people[0].errors)
        pool = Population.of(people, Worker("model", errors), deviation)
        bounds = exact_bounds(*pool.truth("model"))
        for size in SIZES:
            found = pool.drawn("model", size, corpora, **bounds)
            every = percent([one.p_every <= 1 - one.confidence for one in found])
            kind = ", unlike lengths" if deviation else ""
            rows.append([f"{n}{kind}", f"{agreement:g}", str(size), passed(found), every])
            say(f"passes {rows[-1]}")
    text = FALSE_PASSES.format(corpora=corpora)
    headings = ["people", "agreement", "documents", "mean", "every person"]
    return section("False passes at the margin", text, headings, rows)


NEVER = """\
Of {corpora:,} corpora each, in percent: passes, and corpora without a verdict. Good people agree by
.5; others mark at random. A model that fails in whole documents does random work in as many as to
be worse by exactly what is tolerated; *starred* results say that such failures could be missed."""


def never(corpora: int) -> list[str]:
    """Models that must not pass."""
    good, random = team_of(7, 0.5), [Worker(f"random {i}", 0.0, 1.0) for i in range(1, 4)]
    copy = Worker("model", 0.0, copies="random 1")
    nothing = Worker("model", 0.0, marks_nothing=True)
    cases: list[tuple[str, list[Worker], Worker]] = [
        ("marks nothing, 3 good", good[:3], nothing),
        ("marks nothing, 3 random", random, nothing),
        ("random, 3 random", random, Worker("model", 0.0, 1.0)),
        ("copy of a random person, 3 random", random, copy),
        ("copy of a random person, 2 good, 1 random", [*good[:2], random[0]], copy),
        ("copy of a random person, 7 good, 1 random", [*good, random[0]], copy),
        ("fails in whole documents, 3 good", good[:3], Worker("model", good[0].errors, 1 - KEEP)),
    ]
    rows = []
    for name, people, model in cases:
        pool = Population.of(people, model)
        bounds = exact_bounds(*pool.truth("model")) if model.fails else {}
        for size in SIZES:
            found = pool.drawn("model", size, corpora, **bounds)
            silent = percent([not one.has_verdict for one in found])
            starred = percent([one.is_starred for one in found])
            rows.append([name, str(size), passed(found), silent, starred])
            say(f"never {rows[-1]}")
    headings = ["model and people", "documents", "passes", "no verdict", "starred"]
    text = NEVER.format(corpora=corpora)
    return section("Models that must not pass", text, headings, rows)


POWERS = """\
Of {corpora:,} corpora each, in percent: how often a model that is one more equal person passes, by
the mean and by every person, and how often it is called worse or a copy of a person; and the median
of the numbers of documents that are said to be needed, for 80 %."""


def powers(corpora: int) -> list[str]:
    """A model that is one more person: how often it passes."""
    rows = []
    for n, agreement in product(TEAMS[:2], AGREEMENTS):
        people = team_of(n, agreement)
        pool = Population.of(people, Worker("model", people[0].errors))
        for size in SIZES:
            found = pool.drawn("model", size, corpora)
            level = 1 - found[0].confidence
            cells = [
                passed(found),
                percent([one.p_every <= level for one in found]),
                percent([one.verdict == "worse" for one in found]),
                percent([bool(one.copied) for one in found]),
                f"{np.median([one.documents_needed or np.inf for one in found[:100]]):.0f}",
            ]
            rows.append([str(n), f"{agreement:g}", str(size), *cells])
            say(f"powers {rows[-1]}")
    headings = ["people", "agreement", "documents", "mean", "every person", "worse", "copy"]
    text = POWERS.format(corpora=corpora)
    return section("One more person", text, [*headings, "needed"], rows)


PARTS: Mapping[str, Callable[[int], list[str]]] = {
    "passes": passes,
    "never": never,
    "powers": powers,
}


def main() -> None:
    """Run what is asked for and print its tables."""
    corpora = int(sys.argv[1]) if len(sys.argv) > 1 else 1000
    for name in sys.argv[2:] or PARTS:
        print("\n".join(PARTS[name](corpora)), flush=True)


if __name__ == "__main__":
    main()
