"""Us beside the others, on the same data, in one run.

    make bench

Times are the best of several, taken in turns; ratios are ours divided by theirs. Peak
memory is that of a process that does the one job (interpreter, libraries and data
included). Nothing here is a test: what is wanted stands beside what was measured.
"""

from __future__ import annotations

import os
import subprocess
import sys
from collections.abc import Callable
from functools import cache, partial
from itertools import combinations
from math import inf, perm
from pathlib import Path
from tempfile import TemporaryDirectory
from time import perf_counter

import numpy as np

import beyondchance as bc
from generate import Tags, conll_sized, mixed, systems, team, write_conll, write_table

Job = Callable[[], object]


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


def same_as_seqeval() -> object:
    """The same F1, by our function of that name."""
    from beyondchance.metrics import f1_score

    return f1_score(*data())


def nervaluate() -> object:
    """All four schemas of nervaluate."""
    from nervaluate import Evaluator

    return Evaluator(*data(), tags=["LOC", "MISC", "ORG", "PER"], loader="list").evaluate()


PEERS: dict[str, Job] = {"beyondchance": ours, "seqeval": seqeval, "nervaluate": nervaluate}


def million() -> object:
    """Intervals of everything, for a million documents with 1.6 million rows of counts."""
    n_documents, n_rows = 1_000_000, 1_600_000
    rng = np.random.default_rng(1)
    document, one = np.sort(rng.integers(0, n_documents, n_rows)), np.ones(n_rows, dtype=np.int64)
    counts = bc.Counts(
        documents=tuple(map(str, range(n_documents))),
        n_texts=n_documents,
        labels=("LOC", "MISC", "ORG", "PER"),
        annotators=("gold", "system"),
        pairs=np.array([[0], [1]]),
        document=document,
        text=document,
        label=rng.integers(0, 4, n_rows),
        a=0 * one,
        b=one,
        matched=rng.integers(0, 3, n_rows).astype(np.float64),
        expected=rng.integers(0, 2**52, n_rows) * 2.0**-52,
        size_a=2.0 * one,
        size_b=2.0 * one,
        spans_a=one,
        spans_b=one,
        certain=one == 0,
        certain_a=one == 0,
        certain_b=one == 0,
        fixed=one == 0,
    )
    return bc.Agreement(counts, bc.Settings()).intervals(resamples=99, seed=1)


ALONE: dict[str, Job] = {**PEERS, "million": million}
"""Jobs whose memory is measured, each in a process of its own."""


def best(*jobs: Job, times: int = 9) -> list[float]:
    """Seconds of the fastest run of each job; the jobs take turns."""
    seconds = [inf] * len(jobs)
    for _ in range(times):
        for index, job in enumerate(jobs):
            start = perf_counter()
            job()
            seconds[index] = min(seconds[index], perf_counter() - start)
    return seconds


def peak_memory(name: str) -> str:
    """What a process of its own needs for one job, where the system tells."""
    command = [sys.executable, __file__, "--memory", name]
    return subprocess.run(command, check=True, capture_output=True, text=True).stdout.strip()


def own_peak_memory() -> str:
    """What this process has needed so far."""
    # Not ru_maxrss, which a process inherits from the one that started it.
    status = Path("/proc/self/status")
    if not status.exists():
        return "?"
    return f"{int(status.read_text('ascii').partition('VmHWM:')[2].split()[0]) / 1024:.0f} MB"


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


def ratio(what: str, value: float, *, most: float = inf, least: float = 0) -> None:
    """Print a ratio, what is wanted of it, and whether that was missed."""
    wanted = f"at most {most:g}" if most < inf else f"at least {least:,.0f}" if least else ""
    shown = f"{value:,.0f}" if value >= 100 else f"{value:.3f}"
    print(f"{what:<68} {shown:>9}  {wanted}{'' if least <= value <= most else '  MISSED'}")


def conll() -> float:
    """The three tools on the same tags; the seconds of seqeval."""
    gold, predicted = data()
    n_entities = [sum(tag[0] == "B" for tags in side for tag in tags) for side in data()]
    print(
        f"{len(gold):,} sentences, {sum(map(len, gold)):,} tokens, {n_entities[0]:,} gold and "
        f"{n_entities[1]:,} predicted entities"
    )
    exact = bc.agreement(gold, predicted, measure="exact").observed
    print(f"exact-span F1: {exact:.6f} (ours), {seqeval():.6f} (seqeval)\n")
    double = conll_sized(2 * len(gold))
    *seconds, twice = best(*PEERS.values(), lambda: bc.agreement(*double).by_label)
    by_name = dict(zip(PEERS, seconds, strict=True))
    print(f"{'':<20}{'best of 9':>12}{'ours / theirs':>16}{'peak memory':>14}")
    for name, value in by_name.items():
        share = by_name["beyondchance"] / value
        print(f"{name:<20}{value * 1e3:>9.1f} ms{share:>16.3f}{peak_memory(name):>14}")
    print()
    for name, most in (("seqeval", 0.5), ("nervaluate", 0.1)):
        ratio(f"tags to full result, ours / {name}", seconds[0] / by_name[name], most=most)
    mine, theirs = best(same_as_seqeval, seqeval)
    ratio("f1_score of beyondchance.metrics / seqeval's", mine / theirs, most=0.2)
    ratio("twice the sentences, time", twice / seconds[0], most=2.5)
    training_loops()
    return by_name["seqeval"]


def training_loops() -> None:
    """One call after the other on few sentences or many, as where a model is trained."""
    from nervaluate import Evaluator
    from seqeval.metrics import f1_score

    from beyondchance.metrics import schema_scores

    gold, predicted = data()
    for number, most, times in ((len(gold), 0.2, 9), (32, 1.5, 300), (2, 6, 1000)):
        few = gold[:number], predicted[:number]
        mine, theirs = best(
            lambda few=few: bc.agreement(*few), lambda few=few: f1_score(*few), times=times
        )
        ratio(f"agreement of {number:,} sentences / seqeval's f1_score", mine / theirs, most=most)
    labels = ["LOC", "MISC", "ORG", "PER"]
    mine, theirs = best(
        lambda: schema_scores(gold, predicted),
        lambda: Evaluator(gold, predicted, tags=labels, loader="list").evaluate(),
    )
    ratio("schema_scores / all schemas of nervaluate", mine / theirs, most=0.5)
    # Words of which most entities have another shape than the rest.
    words = [
        ["Ada" if tag != "O" or i % 9 == 0 else "a" for i, tag in enumerate(tags)] for tags in gold
    ]
    plain, shapes = best(
        lambda: bc.agreement(gold, predicted, tokens=words).by_label,
        lambda: bc.agreement(gold, predicted, tokens=words, chance="shapes").by_label,
    )
    ratio("chance by shapes / uniform chance, from tags and words", shapes / plain, most=10)


def uncertainty(seqeval_seconds: float) -> None:
    """Intervals, tests and null distributions of a corpus of one-sentence documents."""
    gold, predicted = conll_sized(3450)
    corpus = bc.Corpus.from_tags({"gold": gold, "system": predicted})
    result = bc.agreement(corpus)
    one, every, compared, null = best(
        lambda: result.interval(resamples=10_000, seed=1),
        lambda: result.intervals(resamples=10_000, seed=1),
        lambda: bc.compare(result, result, resamples=10_000, seed=1),
        lambda: bc.null_distribution(corpus, resamples=999, seed=1),
        times=3,
    )
    print("\n3,450 documents of one sentence, four labels")
    for what, seconds in (
        ("BCa interval, 10,000 resamples", one),
        ("intervals of all labels, pairs and annotators", every),
        ("paired comparison, 10,000 resamples and permutations", compared),
        ("null distribution, 999 draws and exact variance", null),
    ):
        print(f"{what:<68} {1e3 * seconds:>6.0f} ms")
    ratio("BCa interval, 10,000 resamples, / ten times seqeval", one / seqeval_seconds / 10, most=1)
    memory = peak_memory("million")
    print(f"{'intervals of 1,000,000 documents, peak memory':<68} {memory:>9}  below 1000 MB")


def long_texts(seqeval_seconds: float) -> None:
    """The kernel where texts are long and where spans are many."""
    million, hundredth = long_text(1_000_000), long_text(10_000)
    slow, fast = best(
        lambda: bc.expected_match(*million), lambda: bc.expected_match(*hundredth), times=15
    )
    ratio("1,000,000 tokens, 100,000 spans each, / seqeval above", slow / seqeval_seconds, most=1)
    ratio("100 times the tokens at the same density, time", slow / fast, most=3)
    # Twenty spans of 1 to 4 in 200 tokens. One place by Equation 1 is timed; Proposition 3
    # leaves a - a_i - k + 2 places of each span to compute.
    lengths = [1 + i % 4 for i in range(20)]
    places = sum(sum(lengths) - length - 20 + 2 for length in lengths)
    (all_places,) = best(lambda: bc.start_probabilities(200, lengths))
    (one_place,) = best(lambda: equation_1(200, lengths, 20), times=1)
    ratio(
        f"k = 20, n = 200: Equation 1 ({places} places, one timed) / ours",
        one_place * places / all_places,
        least=1000,
    )


def hard_texts() -> None:
    """Texts without a flat middle, and texts of characters."""
    print(f"\n{'':<52}{'token':>12}{'exact':>12}")
    for title, n, spans in (
        ("1,000,000 tokens, 100,000 spans of 1 to 7", 1_000_000, long_text(1_000_000)[1]),
        ("1,000 tokens, 90 spans of 10", 1000, [10] * 90),
        ("10,000 tokens, 450 spans of 10 and 450 of 9", 10_000, [10] * 450 + [9] * 450),
        ("3,000 characters, 30 spans of 4 to 30", 3000, [4 + 7 * i % 27 for i in range(30)]),
        ("30,000 characters, 300 spans of 3 to 30", 30_000, [3 + i % 28 for i in range(300)]),
    ):
        jobs = [
            lambda n=n, s=spans, m=measure: bc.expected_match(n, s, s, measure=m)
            for measure in ("token", "exact")
        ]
        print(f"{title:<52}" + "".join(f"{s * 1e3:>9.1f} ms" for s in best(*jobs, times=3)))


def corners() -> None:
    """What took longest, next to the seconds that it took before."""
    n = 1500
    crossing = [(i, i + 50, "P") for i in range(n)]
    nested = [(i, 2 * n - i, "P") for i in range(n)]
    labels = [(i, 2 * n - i, f"L{i}") for i in range(n)]

    def corpus(spans: list[tuple[int, int, str]]) -> bc.Corpus:
        return bc.Corpus.from_spans({"a": [spans], "b": [spans[1:]]}, lengths=[2 * n + 50])

    def expected(n: int, lengths: list[int], measure: str = "token") -> Job:
        return partial(bc.expected_match, n, lengths, lengths, measure=measure)

    various = [2 + i % 120 for i in range(478)]
    sentences = [60 + 37 * i % 121 for i in range(249)]
    sentences.append(30_000 - sum(sentences))
    print(f"\n{'':<52}{'seconds':>12}{'before':>12}")
    jobs: dict[str, tuple[Job, float]] = {
        "50,000 positions, 1,950 spans of 25": (expected(50_000, [25] * 1950), 8),
        "200,000 positions, 2,450 spans of 80": (expected(200_000, [80] * 2450), 26),
        "30,000 positions, 98 % full, 120 lengths": (expected(30_000, various), 5),
        "30,000 characters in 250 sentences, exact": (expected(30_000, sentences, "exact"), 141),
        "1,500 crossing spans of one label": (partial(bc.agreement, corpus(crossing)), 22),
        "1,500 nested spans of one label": (partial(bc.agreement, corpus(nested)), inf),
        "1,500 nested labels": (partial(bc.agreement, corpus(labels)), 25),
        "disagreements of 1,500 crossing spans": (partial(bc.disagreements, corpus(crossing)), 47),
    }
    for title, (job, before) in jobs.items():
        (seconds,) = best(job, times=1)
        shown = f"{before:>12.0f}" if before < inf else f"{'none':>12}"
        print(f"{title:<52}{seconds:>12.2f}{shown}")


def teams() -> None:
    """A thousand annotators with a few documents each, beside two who share all."""
    crowd, pair = team(20_000, 1000, 3), team(30_000, 2, 2)

    def scored(corpus: bc.Corpus) -> tuple[object, ...]:
        result = bc.agreement(corpus)
        return result.score, result.by_annotator, result.by_pair

    many, two = best(lambda: scored(crowd), lambda: scored(pair), times=5)
    n_pairs = len(bc.agreement(crowd).by_pair)
    print(f"\n20,000 documents, three of 1,000 annotators each, {n_pairs:,} pairs: {many:.2f} s")
    ratio("the same / 30,000 documents by two annotators", many / two, most=5)


def measures() -> None:
    """Every measure, model and scope on the same tags."""
    corpus = bc.Corpus.from_tags(dict(zip("ab", data(), strict=True)))
    names = ("token", "exact", "boundary", "dice", "iou")
    print(f"\n{'':<28}" + "".join(f"{name:>12}" for name in names))
    for scope in ("label", "joint", "unlabelled"):
        for model in ("auto", "disjoint", "nested", "overlapping"):
            line = f"{model}, {scope:<12}"
            shown = [f"{line:<28}"]
            for name in names:
                job = partial(bc.agreement, corpus, measure=name, model=model, scope=scope)
                shown.append(f"{best(job, times=3)[0] * 1e3:>9.1f} ms")
            print("".join(shown))
    print()
    plain, various = mixed(20_000), mixed(20_000, nested=0.05, crossing=0.01)
    for name in names:
        job = partial(bc.agreement, measure=name)
        alone, together = best(partial(job, plain), partial(job, various), times=5)
        # Pairs of spans that overlap are sampled where one may have several partners.
        most = inf if name == "iou" else 3
        what = f"{name} with 5 % of texts nested, 1 % crossing / with none"
        ratio(what, together / alone, most=most)


def units_in_one_text(n_units: int, seed: int = 1) -> bc.Corpus:
    """One text in which two annotators have marked units, half of them each."""
    rng = np.random.default_rng(seed)
    spans = []
    for _ in range(2):
        edges = np.cumsum(rng.integers(1, 12, n_units))
        spans.append([(int(a), int(b), "X") for a, b in edges.reshape(-1, 2)])
    length = max(marked[-1][1] for marked in spans) + 10
    return bc.Corpus.from_spans({"a": [spans[0]], "b": [spans[1]]}, lengths=[length])


def coefficients() -> None:
    """Unitizing alpha as units double; gamma on a corpus of sentences."""
    from beyondchance.other_coefficients.coefficient import Task
    from beyondchance.other_coefficients.unitizing import alpha

    small, large = units_in_one_text(10_000), units_in_one_text(20_000)
    few, many = best(lambda: alpha(Task(corpus=small)), lambda: alpha(Task(corpus=large)), times=25)
    print(f"\nunitizing alpha, 10,000 units in one text: {1000 * few:.1f} ms")
    ratio("twice the units, unitizing alpha", many / few, most=2.3)
    corpus = bc.Corpus.from_tags(dict(zip("ab", data(), strict=True)))
    (seconds,) = best(lambda: bc.coefficients(corpus, which=["gamma"]), times=1)
    print(f"gamma of {len(corpus.documents):,} sentences: {seconds:.1f} s")
    ratio("gamma of a CoNLL-sized corpus, in minutes", seconds / 60, most=1)


def files() -> None:
    """Reading: CoNLL files beside seqscore, a million spans beside polars and pyarrow."""
    import polars as pl
    import seqscore.conll
    from pyarrow import csv as arrow_csv, parquet

    with TemporaryDirectory() as name:
        folder = Path(name)
        paths = [folder / "gold.conll", folder / "predicted.conll"]
        for path, tags in zip(paths, data(), strict=True):
            write_conll(path, tags)
        marked = [folder / f"marked-{path.name}" for path in paths]
        for path, tags in zip(marked, data(), strict=True):
            write_conll(path, tags, sentences_per_document=15)
        table = folder / "spans.csv"
        write_table(table, 1_000_000)

        def by_seqscore() -> None:
            for path in paths:
                seqscore.conll.ingest_conll_file(
                    path,
                    "BIO",
                    "utf-8",
                    seqscore.conll.LineSpec(0, 1),
                    ignore_document_boundaries=True,
                    allow_comment_lines=False,
                    quiet=True,
                )

        mine, with_marks, theirs = best(
            lambda: bc.read(*paths), lambda: bc.read(*marked), by_seqscore, times=5
        )
        print()
        ratio("two CoNLL files of 46,000 tokens, ours / seqscore", mine / theirs, most=0.5)
        ratio("CoNLL files with -DOCSTART- / without", with_marks / mine, most=1.3)
        columns = table.with_suffix(".parquet")
        parquet.write_table(arrow_csv.read_csv(table), columns)
        csv_times = best(
            lambda: bc.read(table),
            lambda: pl.read_csv(table),
            lambda: arrow_csv.read_csv(table),
            times=9,
        )
        parquet_times = best(
            lambda: bc.read(columns),
            lambda: pl.read_parquet(columns),
            lambda: parquet.read_table(columns),
            times=9,
        )
        for kind, (mine, *others) in (("CSV", csv_times), ("Parquet", parquet_times)):
            for peer, theirs in zip(("polars", "pyarrow"), others, strict=True):
                title = f"a {kind} table of 1,000,000 spans, ours / {peer}'s bare read"
                ratio(title, mine / theirs, most=2)


def diagnoses() -> None:
    """What to fix first, of a CoNLL-sized corpus and of one of 100,000 documents."""
    print("\nWhat to fix first")
    corpus = bc.Corpus.from_tags(dict(zip("ab", data(), strict=True)))
    scored, mended, listed = best(
        lambda: bc.agreement(corpus).corrected,
        lambda: bc.diagnose(corpus).patterns,
        lambda: bc.disagreements(corpus).places.worth,
    )
    ratio("diagnose / agreement, CoNLL-sized", mended / scored, most=10)
    ratio("places and their worth / agreement, CoNLL-sized", listed / scored, most=10)
    large = bc.Corpus.from_tags(dict(zip("ab", conll_sized(100_000), strict=True)))
    (seconds,) = best(lambda: bc.diagnose(large).patterns, times=2)
    ratio("diagnose, 100,000 documents, in minutes", seconds / 60, most=1)


def gold_standards() -> None:
    """The consensus of a team, and models in the place of its members."""
    print("\nGold standards, and models in the place of people")
    tags = systems(3450, noise=(0.1, 0.12, 0.15, *np.linspace(0.1, 0.4, 10)))
    names = list(tags)
    corpus = bc.Corpus.from_tags(tags)
    people = corpus.select(annotators=names[1:4])
    scored, voted, spans, replaced = best(
        lambda: bc.agreement(people).corrected,
        lambda: bc.consensus(people),
        lambda: bc.consensus(people, method="best", measure="exact"),
        lambda: bc.replacement(corpus, model=names[4:], humans=names[1:4]),
        times=3,
    )
    ratio("consensus by entities / agreement, CoNLL-sized, three people", voted / scored)
    ratio("best consensus by span / agreement, the same", spans / scored)
    ratio("ten models in the place of three people, CoNLL-sized, / 3 s", replaced / 3, most=1)
    large = bc.Corpus.from_tags(dict(zip("ab", conll_sized(300_000), strict=True)))
    (seconds,) = best(lambda: bc.consensus(large), times=1)
    n_spans = len(large.span_start)
    print(f"{f'consensus of {n_spans:,} spans':<68} {seconds:>6.1f} s")


def process(*command: str | Path) -> Job:
    """A whole process, from start to end."""
    # Installers compile what they install; a checkout is compiled when it first runs.
    environment = {
        name: value for name, value in os.environ.items() if not name.startswith("PYTHON")
    }
    return lambda: subprocess.run(
        command, check=True, env=environment, stdout=subprocess.DEVNULL, stderr=subprocess.DEVNULL
    )


def pages() -> None:
    """The page of seven systems beside the plain ranking."""
    program = Path(sys.executable).parent / "beyondchance"
    with TemporaryDirectory() as name:
        folder = Path(name)
        tags = systems(3450, noise=(0.05, 0.08, 0.1, 0.12, 0.15, 0.2, 0.3))
        paths = [folder / f"{who}.conll" for who in tags]
        for path, side in zip(paths, tags.values(), strict=True):
            write_conll(path, side)
        page = folder / "page.html"
        ranked, written = best(
            process(program, "rank", *paths),
            process(program, "report", *paths[1:], "--gold", paths[0], "-o", page),
            times=3,
        )
        size = page.stat().st_size
    print(f"\n3,450 documents, seven systems: rank {ranked:.2f} s, report {written:.2f} s")
    ratio("the page / the plain ranking", written / ranked, most=10)
    print(f"{'the page, size':<68} {size / 1e6:>6.2f} MB  below 2 MB")


def command_line() -> None:
    """Whole processes, from start to result: ours beside seqscore's, and the shortest one."""
    here = Path(sys.executable).parent
    with TemporaryDirectory() as name:
        paths = [Path(name) / "gold.conll", Path(name) / "predicted.conll"]
        for path, tags in zip(paths, data(), strict=True):
            write_conll(path, tags)
        mine, theirs, version, numpy = best(
            process(here / "beyondchance", "agree", *paths),
            process(here / "seqscore", "score", "--labels", "BIO", "--reference", *paths),
            process(here / "beyondchance", "--version"),
            process(sys.executable, "-c", "import numpy"),
            times=15,
        )
    print(f"\nbeyondchance agree {1000 * mine:.0f} ms, seqscore score {1000 * theirs:.0f} ms")
    ratio("the command on two CoNLL files, ours / seqscore's", mine / theirs, most=0.5)
    ratio("beyondchance --version / python -c 'import numpy'", version / numpy, most=1)


def imports() -> None:
    """New interpreters that import, less one that does not."""
    codes = ("pass", "import numpy", "import beyondchance", "from beyondchance import agreement")
    nothing, numpy, package, function = best(
        *(lambda c=code: subprocess.run([sys.executable, "-c", c], check=True) for code in codes),
        times=15,
    )
    print()
    ratio("import beyondchance / import numpy", (package - nothing) / (numpy - nothing), most=1.3)
    ratio(
        "from beyondchance import agreement / import numpy",
        (function - nothing) / (numpy - nothing),
    )


def main() -> None:
    """Run everything and print it."""
    if sys.argv[1:2] == ["--memory"]:
        ALONE[sys.argv[2]]()
        print(own_peak_memory())
        return
    seqeval_seconds = conll()
    long_texts(seqeval_seconds)
    uncertainty(seqeval_seconds)
    hard_texts()
    corners()
    measures()
    teams()
    coefficients()
    files()
    command_line()
    diagnoses()
    gold_standards()
    pages()
    imports()


if __name__ == "__main__":
    main()
