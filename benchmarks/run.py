"""Us beside the others, on the same data, in one run.

    make bench

Times are the best of several; ratios are ours divided by theirs. Peak memory is
that of a process that does the one job (interpreter, libraries and data included).
Nothing here is a test: what must hold is printed beside what was measured.
"""

from __future__ import annotations

import subprocess
import sys
from collections.abc import Callable
from functools import cache
from itertools import combinations
from math import perm
from pathlib import Path
from time import perf_counter

import numpy as np

import beyondchance as bc
from generate import Tags, conll_sized


@cache
def data() -> tuple[Tags, Tags]:
    """Gold and predicted tags of a CoNLL-sized corpus."""
    return conll_sized()


def ours() -> object:
    """Tags to the full result with a score for each label."""
    result = bc.agreement(*data())
    return result.score, result.by_label


def seqeval() -> object:
    """The F1 of seqeval, lenient, as most people call it."""
    from seqeval.metrics import f1_score

    return f1_score(*data())


def nervaluate() -> object:
    """All four schemas of nervaluate."""
    from nervaluate import Evaluator

    return Evaluator(*data(), tags=["LOC", "MISC", "ORG", "PER"], loader="list").evaluate()


JOBS: dict[str, Callable[[], object]] = {
    "beyondchance": ours,
    "seqeval": seqeval,
    "nervaluate": nervaluate,
}


def best(job: Callable[[], object], times: int = 9) -> float:
    """Seconds of the fastest of several runs."""
    seconds = []
    for _ in range(times):
        start = perf_counter()
        job()
        seconds.append(perf_counter() - start)
    return min(seconds)


def peak_memory(name: str) -> float:
    """MB that a process of its own needs for one job."""
    command = [sys.executable, __file__, "--memory", name]
    return float(subprocess.run(command, check=True, capture_output=True, text=True).stdout)


def import_time(statement: str) -> float:
    """Seconds of a new interpreter that imports, less one that does not."""

    def run(code: str) -> Callable[[], object]:
        return lambda: subprocess.run([sys.executable, "-c", code], check=True)

    return best(run(statement), 15) - best(run("pass"), 15)


def long_text(n: int, seed: int = 1) -> tuple[int, np.ndarray, np.ndarray]:
    """A text with one span in ten positions, for two annotators."""
    rng = np.random.default_rng(seed)
    weights = [0.5, 0.3, 0.12, 0.05, 0.03]
    return n, *(rng.choice([1, 2, 3, 4, 7], n // 10, p=weights) for _ in range(2))


def equation_1(n: int, lengths: list[int], start: int) -> float:
    """One place of one span, by the sum over subsets that the paper prints."""
    others, a, k = lengths[1:], sum(lengths), len(lengths)
    ways = 0
    for m in range(k):
        for before in combinations(others, m):
            left = start - sum(before) + m - 1
            right = n - start - a + sum(before) + k - m
            if left >= m and right >= k - 1 - m:
                ways += perm(left, m) * perm(right, k - 1 - m)
    return ways / perm(n - a + k, k)


def row(what: str, measured: str, wanted: str = "") -> None:
    """Print one line."""
    print(f"{what:<66} {measured:>12}  {wanted}")


def compare_on_conll() -> float:
    """The three tools on the same tags; the seconds of seqeval."""
    gold, predicted = data()
    n_entities = [sum(tag[0] == "B" for tags in side for tag in tags) for side in data()]
    print(
        f"{len(gold):,} sentences, {sum(map(len, gold)):,} tokens, {n_entities[0]:,} gold and "
        f"{n_entities[1]:,} predicted entities"
    )
    ours_exact = bc.agreement(gold, predicted, measure="exact").observed
    print(f"exact-span F1: {ours_exact:.6f} (ours), {seqeval():.6f} (seqeval)\n")
    seconds = {name: best(job) for name, job in JOBS.items()}
    print(f"{'':<20}{'best of 9':>12}{'ours / theirs':>16}{'peak memory':>14}")
    for name, value in seconds.items():
        ratio = f"{seconds['beyondchance'] / value:.3f}"
        print(f"{name:<20}{value * 1e3:>9.1f} ms{ratio:>16}{peak_memory(name):>11.0f} MB")
    print()
    row(
        "tags to full result, ours / seqeval",
        f"{seconds['beyondchance'] / seconds['seqeval']:.3f}",
        "at most 0.5, aim 0.2",
    )
    row(
        "tags to full result, ours / nervaluate",
        f"{seconds['beyondchance'] / seconds['nervaluate']:.3f}",
        "at most 0.1",
    )
    twice = conll_sized(2 * len(gold))
    ratio = best(lambda: bc.agreement(*twice).by_label) / seconds["beyondchance"]
    row("twice the sentences, time", f"{ratio:.2f} x", "at most 2.5 x")
    return seconds["seqeval"]


def compare_on_long_texts(seqeval_seconds: float) -> None:
    """The kernel where texts are long and where spans are many."""
    million, tenth = long_text(1_000_000), long_text(10_000)
    seconds = best(lambda: bc.expected_match(*million))
    row(
        "1,000,000 tokens, 100,000 spans each: ours / seqeval above",
        f"{seconds / seqeval_seconds:.3f}",
        "below 1",
    )
    row(
        "100 times the tokens at the same density, time",
        f"{seconds / best(lambda: bc.expected_match(*tenth)):.2f} x",
        "at most 3 x",
    )
    exact = best(lambda: bc.expected_match(*million, measure="exact"))
    row("the same by the exact measure", f"{exact * 1e3:.1f} ms")
    # Twenty spans of 1 to 4 in 200 tokens. One place by Equation 1 is timed; Proposition 3
    # leaves a - a_i - k + 2 places of each span to compute.
    lengths = [1 + i % 4 for i in range(20)]
    places = sum(sum(lengths) - length - 20 + 2 for length in lengths)
    ours_all = best(lambda: bc.start_probabilities(200, lengths))
    one_place = best(lambda: equation_1(200, lengths, 20), 1)
    row(
        f"k = 20, n = 200: Equation 1 ({places} places, one timed) / ours",
        f"{one_place * places / ours_all:,.0f} x",
        "at least 1,000 x",
    )
    for title, n, spans in (
        ("1,000 tokens, 90 spans of 10 (no flat middle)", 1000, [10] * 90),
        ("10,000 tokens, 450 spans of 10 and 450 of 9", 10_000, [10] * 450 + [9] * 450),
        ("30,000 characters, 300 spans of 3 to 30", 30_000, [3 + i % 28 for i in range(300)]),
    ):
        for measure in ("token", "exact"):
            milliseconds = 1e3 * best(
                lambda n=n, s=spans, m=measure: bc.expected_match(n, s, s, measure=m), 3
            )
            row(f"{title}, {measure}", f"{milliseconds:.1f} ms")


def main() -> None:
    """Run everything and print it."""
    if sys.argv[1:2] == ["--memory"]:
        JOBS[sys.argv[2]]()
        # Not ru_maxrss, which a process inherits from the one that started it.
        status = Path("/proc/self/status").read_text(encoding="ascii")
        print(int(status.partition("VmHWM:")[2].split()[0]) / 1024)
        return
    seqeval_seconds = compare_on_conll()
    compare_on_long_texts(seqeval_seconds)
    numpy_seconds = import_time("import numpy")
    ratio = import_time("import beyondchance") / numpy_seconds
    row("import beyondchance / import numpy", f"{ratio:.2f}", "at most 1.3")
    ratio = import_time("from beyondchance import agreement") / numpy_seconds
    row("from beyondchance import agreement / import numpy", f"{ratio:.2f}", "at most 1.3")


if __name__ == "__main__":
    main()
