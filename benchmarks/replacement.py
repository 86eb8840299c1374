"""Whether tests of replacement and shares of ceilings hold what they promise: by simulation.

    python benchmarks/replacement.py [REPETITIONS [PART ...]]

A population of documents is made up, in which people and models depart from a truth that is known.
What is true of all of it is the truth; corpora are drawn from it, 4,000 unless told otherwise
(fewer for ceilings, which ask for a consensus of each corpus). Each part (see PARTS; all unless
told otherwise) prints a table in Markdown.
"""

from __future__ import annotations

import sys
from collections.abc import Callable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import product
from math import sqrt
from time import perf_counter

import numpy as np

import beyondchance as bc
from beyondchance.core.ragged import total
from beyondchance.inference.replacement import Estimate
from beyondchance.results.resampling import score_of
from beyondchance.types import Floats, Ints
from calibration import say, section
from generate import population

MARGIN = 0.05
SIZES = (20, 50, 100, 200)
POOL = 60_000
"""Sentences of a population."""
POPULATIONS = 4
"""Over which false passes are counted: where few documents are very long, these differ."""
LABELS = ("LOC", "ORG", "PER")
SLOT = 5
"""Tokens of a slot: a sentence has two to four, and a slot has at most one span."""
LEVELS = (0.05, 0.1, 0.2, 0.3, 0.45, 0.6)
"""Errors of models, between which those are found that are worse than people by the margin."""
OF_PEOPLE, OF_MODELS = (1.0, 1.0, 0.5, 0.5), (0.6, 0.8, 1.0, 0.8)
"""How often spans are overlooked, have another edge, are made up, and have another label, as a
multiple of an annotator's errors."""

FALSE_PASSES = """\
Of {repetitions:,} corpora each, from {populations} populations, in percent (standard error about
{error:.1f}): how often a model that is worse by exactly the margin passes at p of at most .05.
Three people, who overlook about 10, 15 and 20 % of the spans and move the edges of as many; for
each of them, and for the mean of all, a model of its own, worse by {margin:g} (within {within:.4f};
the margin that is tested is its true difference). *Bias* is the mean of the estimated mean
differences less the true one; *error*, the mean of their standard errors divided by the standard
deviation of the estimates."""

EXCHANGED = """\
Of {repetitions:,} corpora each, in percent (standard error about {error:.1f}): how often two-sided
p of no difference is at most .05, if the model and three people are alike, and who is the model is
drawn by lot for each document. *Distance* is the largest one between the distribution of p and the
uniform one (Kolmogorov and Smirnov; by chance it is above {critical:.3f} in 5 of 100 cases)."""

SHARES = """\
Of {repetitions:,} corpora each, in percent (standard error about {error:.1f}): how often the 95 %
interval of the model's share of a ceiling holds that of the population, which is in brackets."""

BRACKETS = """\
Of {repetitions:,} corpora each, in percent: how often the score of a perfect model, which marks the
truth, is between the two ceilings; and the means of all. Where the *same places* are hard for all,
errors vary from place to place by a factor that all people share, with a coefficient of
variation of {places:g}; else people err independently of one another within a document."""

TIMES = """\
Three people and ten models on {sentences:,} sentences, each a document of its own."""


@dataclass(frozen=True)
class Kind:
    """A kind of documents: how many sentences they have, the same in all or lognormal."""

    name: str
    sentences: int = 1
    deviation: float = 0.0
    """Of the logarithm of the number of sentences."""
    places: float = 0.0
    """The coefficient of variation of errors from place to place, the same for all."""

    def lengths(self, rng: np.random.Generator) -> Ints:
        """Sentences of each document of a population."""
        n_documents = POOL // self.sentences
        logarithms = rng.normal(np.log(self.sentences), self.deviation, n_documents)
        return np.maximum(np.rint(np.exp(logarithms)), 1).astype(np.int64)


KINDS = (
    Kind("one sentence"),
    Kind("10 sentences", 10),
    Kind("about 10, lognormal", 10, 0.8),
)
SAME_PLACES = Kind("one sentence", places=2.0)


@dataclass(frozen=True)
class Worker:
    """Somebody who annotates: errors, and of which sorts."""

    name: str
    errors: float
    sorts: tuple[float, float, float, float] = OF_PEOPLE
    stream: int = 0
    """Workers with the same one err in the same places, as far as they have as many errors."""


def model_of(name: str, errors: float) -> Worker:
    """A model; all of them have the same stream, and are not compared with one another."""
    return Worker(name, errors, OF_MODELS)


def people_of(*errors: float) -> list[Worker]:
    """People with these errors."""
    return [Worker(f"person {i}", error, stream=i) for i, error in enumerate(errors, 1)]


TEAM = people_of(0.1, 0.15, 0.2)
TRUTH = Worker("truth", 0.0)


def simulated(kind: Kind, workers: Sequence[Worker], seed: int = 1) -> bc.Corpus:
    """A population of documents, annotated by all.

    Sentences have 10, 15 or 20 tokens, and a span of 1 to 3 tokens in every other of their slots.
    Documents differ in how many errors are made in them: by a factor that is the same for all who
    annotate them (gamma, with a coefficient of variation of 0.8), and by one of each (with 0.5). A
    slot without a true span has one that is likely to be made up, the same for all. The same seed
    makes the same documents.
    """
    rng = np.random.default_rng(seed)
    sentences = kind.lengths(rng)
    document = np.repeat(np.arange(len(sentences)), sentences)
    slots = rng.integers(2, 5, len(document))
    text = np.repeat(np.arange(len(slots)), slots)
    begin = SLOT * (np.arange(len(text)) - np.repeat(np.cumsum(slots) - slots, slots))
    # True spans leave room for an edge that is moved: they are within the middle of their slot.
    is_true = rng.random(len(text)) < 0.5
    starts, ends = np.array([(1, 2), (2, 3), (3, 4), (1, 3), (2, 4), (1, 4)]).T
    which = rng.integers(0, len(starts), len(text))
    true = np.stack([starts[which], ends[which], rng.integers(0, len(LABELS), len(text))])
    harder = rng.gamma(1 / 0.8**2, 0.8**2, len(sentences))
    hard = rng.gamma(1 / kind.places**2, kind.places**2, len(text)) if kind.places else 1.0
    columns = []
    for number, worker in enumerate(workers):
        own = np.random.default_rng((seed, worker.stream))
        for_worker = harder * own.gamma(1 / 0.5**2, 0.5**2, len(sentences))
        rate = worker.errors * for_worker[document[text]] * hard
        is_there, (start, end, label) = noisy(is_true, true, rate, worker.sorts, own)
        at = np.flatnonzero(is_there)
        who = np.full(len(at), number)
        columns.append(np.stack([text[at], who, (begin + start)[at], (begin + end)[at], label[at]]))
    spans = np.concatenate(columns, axis=1)
    spans = spans[:, np.argsort(spans[0], kind="stable")]
    n_documents, n_workers = len(sentences), len(workers)
    return bc.Corpus(
        documents=tuple(map(str, range(n_documents))),
        text_document=document,
        text_length=SLOT * slots,
        annotators=tuple(worker.name for worker in workers),
        labels=LABELS,
        annotation_document=np.repeat(np.arange(n_documents), n_workers),
        annotation_annotator=np.tile(np.arange(n_workers), n_documents),
        **dict(zip(COLUMNS, spans, strict=True)),
        unit="sentence",
    )


COLUMNS = ("span_text", "span_annotator", "span_start", "span_end", "span_label")


def noisy(
    is_true: np.ndarray,
    true: Ints,
    rate: Floats,
    sorts: Sequence[float],
    rng: np.random.Generator,
) -> tuple[np.ndarray, Ints]:
    """What somebody marks in each slot: whether there is a span, and its start, end and label."""
    overlooks, moves, invents, confuses = (
        rng.random(len(rate)) < 1 - np.exp(-times * rate) for times in sorts
    )
    start, end, label = true
    # One edge by one token; a span of one token is never left with none.
    side, out = rng.random((2, len(rate))) < 0.5
    out |= end - start == 1
    by = np.where(out, 1, -1) * moves
    start, end = start - by * side, end + by * ~side
    label = (label + confuses * rng.integers(1, len(LABELS), len(rate))) % len(LABELS)
    return np.where(is_true, ~overlooks, invents), np.stack([start, end, label])


def drawn(corpus: bc.Corpus, chosen: Ints) -> bc.Corpus:
    """A corpus of some documents, of which some may be drawn twice."""
    text, document = _rows_of(corpus.text_document, chosen)
    span, new_text = _rows_of(corpus.span_text, text)
    n_workers = len(corpus.annotators)
    columns = {name: getattr(corpus, name)[span] for name in COLUMNS[1:]}
    return replace(
        corpus,
        documents=tuple(map(str, range(len(chosen)))),
        text_document=document,
        text_length=corpus.text_length[text],
        annotation_document=np.repeat(np.arange(len(chosen)), n_workers),
        annotation_annotator=np.tile(np.arange(n_workers), len(chosen)),
        span_text=new_text,
        **columns,
    )


def _rows_of(owner: Ints, chosen: Ints) -> tuple[Ints, Ints]:
    """The rows of some owners, who are ascending, and the place of the owner of each."""
    first, end = np.searchsorted(owner, chosen), np.searchsorted(owner, chosen, side="right")
    count = end - first
    place = np.repeat(np.arange(len(chosen)), count)
    return np.arange(count.sum()) + np.repeat(first - (np.cumsum(count) - count), count), place


def sums_by_pair(corpus: bc.Corpus, measure: str = "token") -> Floats:
    """What each two add in each document: shape (documents, annotators, annotators, 4)."""
    counts = bc.agreement(corpus, measure=measure).counts
    if not isinstance(counts, bc.Counts):
        raise TypeError("a corpus in memory has counts")
    k, n = len(counts.annotators), len(counts.documents)
    owner = (counts.document * k + counts.a) * k + counts.b
    columns = (counts.matched, counts.expected, counts.size_a + counts.size_b, ~counts.fixed)
    found = np.stack([total(owner, column, n * k * k) for column in columns], axis=1)
    found = found.reshape(n, k, k, 4)
    return np.asarray(found + found.swapaxes(1, 2))


def in_places(sums: Floats, model: int, n_people: int) -> Floats:
    """A model in the place of each person, and the person: shape (documents, people, 2, 4).

    People are the first among the annotators.
    """
    tables = []
    for person in range(n_people):
        others = [other for other in range(n_people) if other != person]
        tables.append(sums[:, [model, person]][:, :, others].sum(axis=2))
    return np.stack(tables, axis=1)


def differences_of(tables: Floats) -> Floats:
    """The difference of each person: of the last three axes (people, 2, 4)."""
    scores = score_of(tables, "corrected")
    return np.asarray(scores[..., 0] - scores[..., 1])


def estimate_of(tables: Floats) -> Estimate:
    """The mean of the differences of some people: shape (documents, people, 2, 4).

    The same as `beyondchance.replacement` has (see `check`), without a corpus for each draw.
    """
    own = tables[tables[..., 2].any(axis=(1, 2))]
    whole = own.sum(axis=0)
    value, without = differences_of(whole), differences_of(whole - own)
    return Estimate.of(float(value.mean()), without.mean(axis=1))


def check(corpus: bc.Corpus, sums: Floats, measure: str) -> None:
    """Compare the estimates on a corpus that was drawn with those of the library."""
    people = corpus.annotators[: len(TEAM)]
    chosen = np.random.default_rng(1).integers(0, len(sums), 60)
    for model, name in enumerate(corpus.annotators[len(people) :], len(people)):
        part = drawn(corpus, chosen)
        found = bc.replacement(part, model=name, humans=people, measure=measure)
        tables = in_places(sums[chosen], model, len(people))
        for i, one in enumerate(found.by_human.values()):
            own = estimate_of(tables[:, [i]])
            for key in ("value", "error", "freedom"):
                np.testing.assert_allclose(getattr(own, key), getattr(one.estimate, key), 1e-9)
        mean = estimate_of(tables)
        np.testing.assert_allclose(mean.value, found.mean_difference, 1e-9)
        np.testing.assert_allclose(mean.interval(0.95), found.mean_interval, 1e-9)


def at_margin(kind: Kind, measure: str, seed: int) -> list[Floats]:
    """Models that are worse than each person, and than all on average, by the margin.

    Returns
    -------
    list of arrays of float, shape (documents, people, 2, 4)
        For each of the three people what the model and the person add, then for all of them.
    """
    trials = [model_of(f"model {level}", level) for level in LEVELS]
    sums = sums_by_pair(simulated(kind, [*TEAM, *trials], seed), measure)
    every = [in_places(sums, len(TEAM) + i, len(TEAM)).sum(axis=0) for i in range(len(trials))]
    curve = differences_of(np.stack(every))
    models = []
    for i, found in enumerate([*curve.T, curve.mean(axis=1)]):
        # A parabola through the three levels that are nearest.
        near = np.argsort(np.abs(found + MARGIN))[:3]
        line = np.polyfit(found[near], np.array(LEVELS)[near], 2)
        models.append(model_of(f"model {i}", float(np.polyval(line, -MARGIN))))
    corpus = simulated(kind, [*TEAM, *models], seed)
    sums = sums_by_pair(corpus, measure)
    check(corpus, sums, measure)
    tables = [in_places(sums, len(TEAM) + i, len(TEAM)) for i in range(len(models))]
    return [*(table[:, [i]] for i, table in enumerate(tables[:-1])), tables[-1]]


def draws(n_units: int, size: int, repetitions: int) -> Iterator[Ints]:
    """The numbers of the documents of each corpus."""
    rng = np.random.default_rng(size)
    for _ in range(repetitions):
        yield rng.integers(0, n_units, size)


def error_of(rate: float, repetitions: int) -> float:
    """The standard error of a rate, in percent."""
    return 100 * sqrt(rate * (1 - rate) / repetitions)


def percent(found: Sequence[bool] | np.ndarray) -> str:
    """How many of a hundred."""
    return f"{100 * np.mean(found):.1f}"


def passes(repetitions: int) -> list[str]:
    """Models that are worse by the margin: how often they pass all the same."""
    rows, within = [], 0.0
    each = -(-repetitions // POPULATIONS)
    for kind, measure in (*((kind, "token") for kind in KINDS), (KINDS[1], "exact")):
        # For each size, p-values of all models; and of the last, how far off it is, and its error.
        found: dict[int, list[list[float]]] = {size: [] for size in SIZES}
        for seed in range(1, POPULATIONS + 1):
            pools = at_margin(kind, measure, seed)
            truths = [float(differences_of(pool.sum(axis=0)).mean()) for pool in pools]
            within = max(within, *(abs(truth + MARGIN) for truth in truths))
            for size, rows_of_size in found.items():
                for chosen in draws(len(pools[0]), size, each):
                    own = [estimate_of(pool[chosen]) for pool in pools]
                    p = [one.p_value(-truth) for one, truth in zip(own, truths, strict=True)]
                    rows_of_size.append([*p, own[-1].value - truths[-1], own[-1].error])
            say(f"passes {kind.name} {measure}, population {seed}")
        for size, values in found.items():
            *p_values, off, errors = np.array(values).T
            cells = [percent(column <= 0.05) for column in p_values]
            cells += [f"{off.mean():+.4f}", f"{errors.mean() / off.std(ddof=1):.3f}"]
            rows.append([f"{kind.name}, {measure}", str(size), *cells])
    names = [worker.name for worker in TEAM]
    return section(
        "False passes at the margin",
        FALSE_PASSES.format(
            repetitions=each * POPULATIONS,
            populations=POPULATIONS,
            error=error_of(0.05, each * POPULATIONS),
            margin=MARGIN,
            within=within,
        ),
        ["documents of, measure", "documents", *names, "mean", "bias", "error"],
        rows,
    )


def distance(p: Floats) -> float:
    """The largest distance between the distribution of p-values and the uniform one."""
    ordered, n = np.sort(p), len(p)
    steps = np.arange(n + 1) / n
    return float(max((steps[1:] - ordered).max(), (ordered - steps[:-1]).max()))


def exchanged(repetitions: int) -> list[str]:
    """A model that is like the people: how often it is told from them."""
    alike = people_of(0.15, 0.15, 0.15, 0.15)
    rows = []
    for kind in KINDS:
        pool = sums_by_pair(simulated(kind, alike))
        for size in SIZES:
            rng = np.random.default_rng((size, 1))
            p = np.empty((repetitions, len(alike)))
            for row, chosen in enumerate(draws(len(pool), size, repetitions)):
                who = rng.permuted(np.tile(np.arange(len(alike)), (size, 1)), axis=1)
                sums = pool[chosen[:, None, None], who[:, :, None], who[:, None]]
                tables = in_places(sums, len(TEAM), len(TEAM))
                found = [estimate_of(tables[:, [i]]) for i in range(len(TEAM))]
                above = [one.p_value(0.0) for one in (*found, estimate_of(tables))]
                p[row] = [2 * min(one, 1 - one) for one in above]
            cells = [percent(column <= 0.05) for column in p.T]
            far = [f"{distance(p[:, i]):.3f}" for i in (0, -1)]
            rows.append([kind.name, str(size), *cells, *far])
            say(f"exchanged {kind.name} {size}")
    text = EXCHANGED.format(
        repetitions=repetitions,
        error=error_of(0.05, repetitions),
        critical=1.358 / repetitions**0.5,
    )
    names = [worker.name for worker in alike[: len(TEAM)]]
    headings = ["documents of", "documents", *names, "mean", f"distance, {names[0]}"]
    return section("Names exchanged", text, [*headings, "distance, mean"], rows)


def shares(repetitions: int) -> list[str]:
    """A model's share of the ceilings: how often intervals hold it."""
    rows = []
    model = model_of("model", 0.2)
    names = ("human", "lower", "upper", "about")
    for kind in KINDS[:2]:
        for team in (TEAM, TEAM[:2]):
            pool = simulated(kind, [*team, model])
            true = bc.replacement(pool, model="model").ceiling.share
            for size in SIZES[1:]:
                held: dict[str, list[bool]] = {name: [] for name in true}
                for chosen in draws(len(pool.documents), size, repetitions):
                    found = bc.replacement(drawn(pool, chosen), model="model").ceiling.share
                    for name, own in held.items():
                        low, high = found[name].interval
                        own.append(low <= true[name].value <= high)
                cells = [
                    f"{percent(held[name])} ({true[name].value:.3f})" if name in held else ""
                    for name in names
                ]
                rows.append([kind.name, str(len(team)), str(size), *cells])
                say(f"shares {kind.name} {len(team)} {size}")
    text = SHARES.format(repetitions=repetitions, error=error_of(0.05, repetitions))
    headings = ["documents of", "people", "documents", *names]
    return section("Shares of the ceilings", text, headings, rows)


def brackets(repetitions: int) -> list[str]:
    """A perfect model: how often it is between the ceilings."""
    rows = []
    teams = ((0.1, 0.2), (0.1, 0.15, 0.2), (0.1, 0.125, 0.15, 0.175, 0.2))
    for kind, errors, size in product((KINDS[0], SAME_PLACES), teams, (50, 200)):
        pool = simulated(kind, [*people_of(*errors), TRUTH])
        found = [
            bc.replacement(drawn(pool, chosen), model=TRUTH.name).ceiling
            for chosen in draws(len(pool.documents), size, repetitions)
        ]
        human, lower, perfect, upper, about = (
            np.array([getattr(one, name) for one in found])
            for name in ("human", "lower", "model", "upper", "about")
        )
        held = [lower <= perfect, perfect <= upper, (lower <= perfect) & (perfect <= upper)]
        means = [f"{values.mean():.3f}" for values in (human, lower, perfect, upper, about)]
        means = [mean.replace("nan", "") for mean in means]
        errs = "same places" if kind.places else "independent"
        rows.append([errs, str(len(errors)), str(size), *map(percent, held), *means])
        say(f"brackets {errs} {len(errors)} {size}")
    headings = ["errors", "people", "documents", "lower ≤ perfect", "perfect ≤ upper", "both"]
    headings += ["human", "lower", "perfect", "upper", "about"]
    text = BRACKETS.format(repetitions=repetitions, places=SAME_PLACES.places)
    return section("A perfect model", text, headings, rows)


def times(repetitions: int) -> list[str]:
    """How long ten models take."""
    n_sentences, n_people, n_models = 3450, 3, 10
    noise = tuple(np.linspace(0.1, 0.3, n_people + n_models).tolist())
    corpus = population(n_sentences, noise=noise)
    names = [name for name in corpus.annotators if name != "gold"]
    people, models = names[:n_people], names[n_people:]
    seconds = []
    for _ in range(min(repetitions, 3)):
        start = perf_counter()
        bc.replacement(corpus, model=models, humans=people)
        seconds.append(perf_counter() - start)
    cells = [f"{value:.2f}" for value in (min(seconds), max(seconds))]
    return section(
        "Time",
        TIMES.format(sentences=n_sentences),
        ["call", "fastest of three, seconds", "slowest"],
        [["`bc.replacement(corpus, model=[...])`", *cells]],
    )


PARTS: Mapping[str, Callable[[int], list[str]]] = {
    "passes": passes,
    "exchanged": exchanged,
    "shares": shares,
    "brackets": brackets,
    "times": times,
}
FEWER = {"shares": 4, "brackets": 16}
"""Parts that ask for a consensus of each corpus, and by what their repetitions are divided."""


def main() -> None:
    """Run what is asked for and print its tables."""
    repetitions = int(sys.argv[1]) if len(sys.argv) > 1 else 4000
    for name in sys.argv[2:] or PARTS:
        lines = PARTS[name](max(repetitions // FEWER.get(name, 1), 2))
        print("\n".join(lines), flush=True)


if __name__ == "__main__":
    main()
