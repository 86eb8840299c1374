"""Annotators whose agreement is known and who do not guess blindly: data, scores and a table.

    python benchmarks/known_agreement.py write FOLDER [CORPORA]
    python benchmarks/known_agreement.py ours FOLDER
    python benchmarks/known_agreement.py score FOLDER [CSV ...]
    python benchmarks/known_agreement.py

Two annotators know each span with probability q and guess otherwise, in one of four ways
(docs/background/ground_truth.md). `write` makes corpora, 10 of each kind unless told otherwise,
always the same ones: a CoNLL file for each (word, first annotator, second annotator), and
corpora.csv, which has a row for each file and its truth. `ours` writes our scores and other
coefficients to FOLDER/beyondchance.csv. `score` prints the tables of any such files, with the
columns file, score and value: run your coefficient on the corpora, write one, and compare.
Without arguments: all of it, in five to ten minutes, to docs/_static/known-agreement.md.
"""

from __future__ import annotations

import csv
import sys
import tempfile
from collections import defaultdict
from collections.abc import Iterator, Mapping, Sequence
from itertools import product
from pathlib import Path

import numpy as np

import beyondchance as bc
from beyondchance.types import Bools, Floats, Ints
from calibration import say, table
from generate import _true_spans

PAGE = Path(__file__).parent.parent / "docs" / "_static" / "known-agreement.md"
LENGTHS = (1, 2, 3, 4, 5)
TEXTS = {"sentences": (10, 20), "documents": (100, 100)}
DENSITIES = (0.1, 0.3)
GUESSES = ("uniform", "shapes", "shared", "hard")
"""Anywhere; where words look like names; some where the other one guesses as well; anywhere, by
annotators who miss the same spans."""
KNOWLEDGE = (0.0, 0.7, 0.9)
N_SPANS = 300
"""True spans of a corpus, on average."""

WORDS = ("Name", "word", ",", "12")
INSIDE = np.array([0.80, 0.15, 0.00, 0.05])
OUTSIDE = np.array([0.08, 0.75, 0.12, 0.05])
"""How often each kind of word is in true spans, and elsewhere."""
SHARED = 0.5
"""The probability of a common guess."""

MEASURES = ("token", "exact", "boundary")
OTHERS = ("kappa", "alpha", "mu-alpha", "gamma", "ac1")
Sentences = list[tuple[list[str], list[str], list[str]]]
"""Words, and the tags of either annotator."""


def truth(guesses: str, q: float) -> float:
    """The share of spans that both annotators know."""
    return (1 + (2 * q - 1) ** 2) / 2 if guesses == "hard" else q**2


def cases() -> Iterator[tuple[str, str, float, float]]:
    """Guesses, texts, density and knowledge of all kinds of corpora."""
    for guesses, texts, density, q in product(GUESSES, TEXTS, DENSITIES, KNOWLEDGE):
        # Half of the spans are known to both, so that nobody knows nothing.
        if guesses != "hard" or q > 0:
            yield guesses, texts, density, q


# --- Data -------------------------------------------------------------------------------


def sentences(guesses: str, texts: str, density: float, q: float, seed: int) -> Sentences:
    """A corpus of two annotators."""
    rng = np.random.default_rng([seed, round(1000 * density), round(1000 * q)])
    low, high = TEXTS[texts]
    n_texts = round(N_SPANS * np.mean(LENGTHS) / (density * (low + high) / 2))
    found = []
    for n in rng.integers(low, high, n_texts, endpoint=True).tolist():
        true = _true_spans(n, density, LENGTHS, rng)
        is_in = covered(true, n)
        kind = np.where(is_in, rng.choice(4, n, p=INSIDE), rng.choice(4, n, p=OUTSIDE))
        # Sentences begin with a capital, which says nothing.
        kind[:1] = 0
        odds = (density * INSIDE + 1e-3) / ((1 - density) * OUTSIDE + 1e-3)
        odds = (odds / odds.max())[kind] if guesses == "shapes" else np.ones(n)
        pool = guessed(len(true), np.zeros(n, dtype=bool), odds, rng)
        is_easy = rng.random(len(true)) < 0.5
        chance = np.where(is_easy, 1, 2 * q - 1) if guesses == "hard" else q
        tags = []
        for _ in range(2):
            marked = true[rng.random(len(true)) < chance]
            n_left = len(true) - len(marked)
            if guesses == "shared":
                is_taken = covered(marked, n)
                taken = [s for s in pool if rng.random() < SHARED and not is_taken[slice(*s)].any()]
                marked = np.array([*marked, *taken[:n_left]], dtype=np.int64).reshape(-1, 2)
                n_left = len(true) - len(marked)
            guess = guessed(n_left, covered(marked, n), odds, rng)
            tags.append(tags_of(np.concatenate([marked, guess]), n))
        found.append(([WORDS[one] for one in kind], *tags))
    return found


def covered(spans: Ints, n: int) -> Bools:
    """Which of n positions spans cover."""
    mask = np.zeros(n, dtype=bool)
    for start, end in spans.tolist():
        mask[start:end] = True
    return mask


def guessed(k: int, is_taken: Bools, odds: Floats, rng: np.random.Generator) -> Ints:
    """Draw k spans apart from one another, of random lengths in random order, where there is room.

    Given the order of lengths, an arrangement is as likely as the product of the odds of its
    words. Lengths that do not fit are drawn again.
    """
    n = len(is_taken)
    before = np.concatenate([[0], np.cumsum(is_taken)])
    logs = np.concatenate([[0], np.cumsum(np.log(odds))])
    weight = {
        size: np.exp(logs[size:] - logs[:-size]) * (before[size:] == before[:-size])
        for size in LENGTHS
        if size <= n
    }
    while True:
        lengths = rng.choice(list(weight), k)
        # The weight of the first spans within the first positions, by the number of both.
        ways = [np.ones(n + 1)]
        for size in lengths.tolist():
            last = ways[-1][: n + 1 - size] * weight[size]
            ways.append(np.concatenate([np.zeros(size), np.cumsum(last)]))
        if ways[-1][n] > 0:
            break
    spans, end = [], n
    for i in range(k - 1, -1, -1):
        size = int(lengths[i])
        each = np.cumsum(ways[i][: end + 1 - size] * weight[size][: end + 1 - size])
        end = int(np.searchsorted(each, rng.random() * each[-1], side="right"))
        spans.append((end, end + size))
    return np.array(spans, dtype=np.int64).reshape(-1, 2)


def tags_of(spans: Ints, n: int) -> list[str]:
    """Spans as tags."""
    tags = ["O"] * n
    for start, end in spans.tolist():
        tags[start:end] = ["B-X"] + ["I-X"] * (end - start - 1)
    return tags


def write(folder: Path, corpora: int = 10) -> None:
    """Write all corpora."""
    folder.mkdir(parents=True, exist_ok=True)
    with (folder / "corpora.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "guesses", "texts", "density", "knowledge", "truth"])
        for case in cases():
            guesses, texts, density, q = case
            for seed in range(corpora):
                name = f"{guesses}-{texts}-{density}-{q}-{seed:02}.conll"
                blocks = (
                    "".join(f"{' '.join(row)}\n" for row in zip(*columns, strict=True))
                    for columns in sentences(*case, seed)
                )
                (folder / name).write_text("\n".join(blocks), encoding="utf-8")
                rows.writerow([name, *case, round(truth(guesses, q), 4)])
    say("written")


def read(path: Path) -> bc.Corpus:
    """A corpus that was written; sentences are numbered as `beyondchance agree` does."""
    blocks = path.read_text("utf-8").split("\n\n")
    columns = [list(zip(*map(str.split, block.splitlines()), strict=True)) for block in blocks]
    words, first, second = zip(*columns, strict=True)
    names = [str(number) for number in range(1, len(words) + 1)]
    tags = {"first": first, "second": second}
    return bc.Corpus.from_tags(tags, tokens=words, documents=names)


# --- Scores -----------------------------------------------------------------------------


def scores(corpus: bc.Corpus) -> dict[str, float]:
    """Our scores by both kinds of chance, and other coefficients."""
    results = {measure: bc.agreement(corpus, measure=measure) for measure in MEASURES}
    others = bc.coefficients(corpus, which=OTHERS, scored=results, seed=1).values
    return {
        **{f"corrected {name}": result.corrected for name, result in results.items()},
        **{
            f"skill {name}": bc.agreement(corpus, measure=name, chance="shapes").corrected
            for name in ("token", "exact")
        },
        **{f"F1 {name}": results[name].observed for name in ("token", "exact")},
        **{name: other.value for name, other in others.items()},
    }


def ours(folder: Path) -> None:
    """Write our scores of all corpora."""
    with (folder / "beyondchance.csv").open("w", encoding="utf-8", newline="") as file:
        rows = csv.writer(file)
        rows.writerow(["file", "score", "value"])
        for number, name in enumerate(known(folder)):
            for score, value in scores(read(folder / name)).items():
                rows.writerow([name, score, round(value, 6)])
            if number % 100 == 99:
                say(f"{number + 1} corpora scored")


def known(folder: Path) -> dict[str, dict[str, str]]:
    """What corpora.csv says, by file."""
    with (folder / "corpora.csv").open(encoding="utf-8", newline="") as file:
        return {row["file"]: row for row in csv.DictReader(file)}


Values = Mapping[str, Mapping[tuple[str, str, str, str], Floats]]
"""By score and kind of corpora (guesses, texts, density, knowledge): of all corpora."""


def values_in(folder: Path, paths: Sequence[Path]) -> Values:
    """The values of files of scores."""
    corpora = known(folder)
    found: dict[str, dict[tuple[str, ...], list[float]]] = defaultdict(lambda: defaultdict(list))
    for path in paths:
        with path.open(encoding="utf-8", newline="") as file:
            for row in csv.DictReader(file):
                one = corpora[row["file"]]
                kind = tuple(one[key] for key in ("guesses", "texts", "density", "knowledge"))
                found[row["score"]][kind].append(float(row["value"]))
    return {
        score: {kind: np.array(values) for kind, values in kinds.items()}
        for score, kinds in found.items()
    }


RANGES = """\
The lowest and the highest mean among four kinds of corpora (sentences or documents, density .1 or
.3), and the truth that it should be. The means have standard errors of {error:.3f} at most."""

BIAS = """\
The mean over the four kinds of corpora less the truth, and in brackets the standard deviation
between corpora of one kind (root mean square over the kinds)."""


def tables(values: Values) -> list[str]:
    """How close each score comes to the truth, by the way in which annotators guess."""
    columns = {
        f"{guesses}, {truth(guesses, q):.2f}": (guesses, q)
        for guesses, q in product(GUESSES, KNOWLEDGE[:2])
        if guesses != "hard" or q > 0
    }
    ranges, bias, errors = [], [], []
    for score, kinds in values.items():
        lows, offs = [score], [score]
        for guesses, q in columns.values():
            own = [x for kind, x in kinds.items() if (kind[0], float(kind[3])) == (guesses, q)]
            means = np.array([x.mean() for x in own])
            spread = np.mean([x.var(ddof=1) for x in own]) ** 0.5
            errors += [x.std(ddof=1) / len(x) ** 0.5 for x in own]
            lows.append(f"{means.min():z.2f} to {means.max():z.2f}")
            offs.append(f"{means.mean() - truth(guesses, q):+.2f} ({spread:.2f})")
        ranges.append(lows)
        bias.append(offs)
    headings = ["score", *columns]
    return [
        *(RANGES.format(error=max(errors)), "", *table(headings, ranges)),
        *(BIAS, "", *table(headings, bias)),
    ]


def main() -> None:
    """Do what the arguments say."""
    match sys.argv[1:]:
        case ["write", folder, *corpora]:
            write(Path(folder), *map(int, corpora))
        case ["ours", folder]:
            ours(Path(folder))
        case ["score", folder, *paths]:
            named = [Path(path) for path in paths] or [Path(folder) / "beyondchance.csv"]
            print("\n".join(tables(values_in(Path(folder), named))))
        case []:
            with tempfile.TemporaryDirectory() as temporary:
                folder = Path(temporary)
                write(folder)
                ours(folder)
                lines = tables(values_in(folder, [folder / "beyondchance.csv"]))
            head = "<!-- Written by python benchmarks/known_agreement.py -->"
            PAGE.write_text("\n".join([head, "", *lines]), encoding="utf-8")
        case _:
            sys.exit(__doc__)


if __name__ == "__main__":
    main()
