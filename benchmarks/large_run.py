"""Files that outgrow memory: time and peak memory on one core, on all cores and on Dask.

Every job runs in a process of its own, whose peak memory is that of the largest of its processes.
Usage: python benchmarks/large_run.py [documents], ten million by default.
"""

from __future__ import annotations

import json
import os
import subprocess
import sys
import time
from collections.abc import Sequence
from pathlib import Path
from tempfile import TemporaryDirectory

from generate import conll_sized

HERE = Path(__file__).parent


# --- Jobs, each in a process of its own -----------------------------------------------


def job(name: str, paths: Sequence[str]) -> dict[str, object]:
    """Run a job; its seconds, its peak memory in MB, and the digits of its result."""
    from resource import RUSAGE_CHILDREN, RUSAGE_SELF, getrusage

    import beyondchance as bc

    scan = bc.scan(*paths)
    client = None
    if name.startswith("dask"):
        from distributed import Client, LocalCluster

        n = int(name.removeprefix("dask"))
        cluster = LocalCluster(
            n_workers=n, threads_per_worker=1, dashboard_address=None, memory_limit=0
        )
        client = Client(cluster)
    begin = time.perf_counter()
    if client is not None:
        result = bc.agreement(scan, executor=client)
    else:
        result = bc.agreement(scan, workers=int(name))
    seconds = time.perf_counter() - begin
    if client is not None:
        client.shutdown()
    peak = max(getrusage(who).ru_maxrss for who in (RUSAGE_SELF, RUSAGE_CHILDREN)) / 1024
    digits = [float.hex(value) for value in (result.observed, result.chance, result.corrected)]
    return {"seconds": seconds, "peak": peak, "digits": digits, "n": result.counts.n_compared}


def run(name: str, *paths: Path) -> dict[str, object]:
    """The same in a new process."""
    command = [sys.executable, __file__, "--job", name, *map(str, paths)]
    # Installers compile what they install; a checkout is compiled when it first runs.
    environment = {key: value for key, value in os.environ.items() if not key.startswith("PYTHON")}
    # A process is a core: pyarrow would read text with as many threads as there are.
    environment |= dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    found = subprocess.run(command, capture_output=True, text=True, check=False, env=environment)
    if found.returncode:
        raise SystemExit(found.stderr)
    result: dict[str, object] = json.loads(found.stdout.splitlines()[-1])
    return result


def one_and_two(*paths: Path, times: int) -> tuple[dict[str, object], dict[str, object]]:
    """The fastest runs in one process and in two, which take turns."""
    runs = [[run(workers, *paths) for workers in "12"] for _ in range(times)]
    one, two = (min((pair[i] for pair in runs), key=n_of_seconds) for i in range(2))
    return one, two


def n_of_seconds(found: dict[str, object]) -> float:
    """How long a job took."""
    return float(str(found["seconds"]))


# --- Files ----------------------------------------------------------------------------


def written(path: Path, n_documents: int) -> Path:
    """A table, written by another process: a process begins with the peak of the one before."""
    subprocess.run([sys.executable, HERE / "large.py", path, str(n_documents)], check=True)
    return path


def conll(folder: Path, n_sentences: int) -> list[Path]:
    """Two files of tokens and tags, of sentences that repeat after a while."""
    pair = conll_sized(20_000)
    paths = [folder / "anna.conll", folder / "ben.conll"]
    for path, tags in zip(paths, pair, strict=True):
        lines = ["".join(f"token{i % 97}\t{tag}\n" for i, tag in enumerate(s)) + "\n" for s in tags]
        with path.open("w") as file:
            for first in range(0, n_sentences, len(lines)):
                file.write("".join(lines[: n_sentences - first]))
    return paths


# --- Other tools ----------------------------------------------------------------------


def seqeval_rate() -> float:
    """Sentences that seqeval scores in a second, from lists in memory."""
    from seqeval.metrics import f1_score

    gold, predicted = conll_sized(20_000)
    times = []
    for _ in range(3):
        begin = time.perf_counter()
        f1_score(gold, predicted)
        times.append(time.perf_counter() - begin)
    return len(gold) / min(times)


def ratio(
    what: str, value: float, *, most: float | None = None, least: float | None = None
) -> None:
    """Print a ratio, and what it should be."""
    bound = f"at most {most}" if most is not None else f"at least {least}"
    missed = (most is not None and value > most) or (least is not None and value < least)
    print(f"{what:60} {value:8.2f}  ({bound}){'  MISSED' if missed else ''}", flush=True)


def shown(what: str, found: dict[str, object]) -> float:
    """Print a job; its seconds."""
    seconds, peak, n = (float(str(found[name])) for name in ("seconds", "peak", "n"))
    rate = f"{n / seconds:10,.0f} documents/s"
    print(f"{what:44} {seconds:8.1f} s {rate} {peak:7,.0f} MB", flush=True)
    return seconds


def main(n_documents: int) -> None:
    """Print all figures."""
    rate = seqeval_rate()
    print(f"seqeval, from lists: {rate:,.0f} sentences/s on one core\n")
    with TemporaryDirectory() as name:
        folder = Path(name)
        tenth = written(folder / "tenth.parquet", n_documents // 10)
        whole = written(folder / "whole.parquet", n_documents)
        small = run("1", tenth)
        one, two = one_and_two(whole, times=2)
        found = {"Parquet, a tenth": small, "Parquet": one, "Parquet, 2 processes": two}
        seconds = {what: shown(what, result) for what, result in found.items()}
        dask = {n: run(f"dask{n}", whole) for n in (1, 2)}
        for n, result in dask.items():
            seconds[f"dask {n}"] = shown(f"Parquet, Dask with {n} workers", result)
        table = written(folder / "whole.csv", n_documents)
        text, text_two = one_and_two(table, times=2)
        shown("CSV", text)
        shown("CSV, 2 processes", text_two)
        table.unlink()
        whole.unlink()
        files = conll(folder, n_documents)
        tags, tags_two = one_and_two(*files, times=2)
        shown("CoNLL, two files", tags)
        shown("CoNLL, two files, 2 processes", tags_two)
        print()
        ratio("whole / a tenth, seconds", seconds["Parquet"] / seconds["Parquet, a tenth"], most=11)
        ratio("documents/s on one core, ours / seqeval's", n_of(one) / rate, least=8)
        ratio("2 processes / 1, Parquet", n_of(two) / n_of(one), least=1.7)
        ratio("2 processes / 1, CSV", n_of(text_two) / n_of(text), least=1.7)
        ratio("2 processes / 1, CoNLL", n_of(tags_two) / n_of(tags), least=1.7)
        ratio("Dask, 2 workers / 1", n_of(dask[2]) / n_of(dask[1]), least=1.6)
        ratio(
            "seconds, Dask / processes, 2 each",
            seconds["dask 2"] / seconds["Parquet, 2 processes"],
            most=1.25,
        )
        ratio("peak MB, Parquet", float(str(one["peak"])), most=500)
        ratio("peak MB, CSV", float(str(text["peak"])), most=800)
        same = {str(r["digits"]) for r in (one, two, *dask.values(), text, text_two)}
        print(f"the same digits in all of them: {len(same) == 1}")


def n_of(found: dict[str, object]) -> float:
    """Documents in a second."""
    return float(str(found["n"])) / float(str(found["seconds"]))


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        print(json.dumps(job(sys.argv[2], sys.argv[3:])))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 10_000_000)
