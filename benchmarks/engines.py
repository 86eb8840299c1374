"""The same job in plain Python, on Dask and on Spark: time, memory, and the same digits.

A table of spans is written once; every engine counts it in processes of its own, with as many
workers as there are cores. Memory is the most that these processes have at a time, all together.
Usage: python benchmarks/engines.py [documents], a million by default.
"""

from __future__ import annotations

import json
import os
import shutil
import subprocess
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

HERE = Path(__file__).parent
CORES = len(os.sched_getaffinity(0)) if hasattr(os, "sched_getaffinity") else os.cpu_count() or 1


# --- Jobs -----------------------------------------------------------------------------


def timed(work: Callable[[], Any]) -> tuple[float, Any]:
    """Return how many seconds some work took, and its result."""
    begin = time.perf_counter()
    result = work()
    return time.perf_counter() - begin, result


def plain(path: str) -> tuple[float, Any]:
    """Read the table in parts, in this process; return seconds and the result."""
    import beyondchance as bc

    return timed(lambda: bc.agreement(bc.scan(path)))


def processes(path: str) -> tuple[float, Any]:
    """Read the table in parts, in a process for each core."""
    import beyondchance as bc

    return timed(lambda: bc.agreement(bc.scan(path), workers=CORES))


def dask(path: str) -> tuple[float, Any]:
    """Read the table in parts, on a cluster of Dask."""
    from distributed import Client, LocalCluster

    import beyondchance as bc

    with (
        LocalCluster(n_workers=CORES, threads_per_worker=1, dashboard_address=None) as cluster,
        Client(cluster) as client,
    ):
        return timed(lambda: bc.agreement(bc.scan(path), executor=client))


def spark(path: str) -> tuple[float, Any]:
    """Have Spark read the table, count its partitions and carry the counts."""
    import pyarrow as pa
    from pyspark.sql import SparkSession
    from pyspark.sql.pandas.types import from_arrow_schema

    import beyondchance as bc

    def counted(batches: Iterable[pa.RecordBatch]) -> Iterator[pa.RecordBatch]:
        rows = list(batches)
        if rows:
            yield from bc.count(pa.Table.from_batches(rows)).to_arrow().to_batches()

    os.environ["PYSPARK_PYTHON"] = sys.executable
    session = (
        SparkSession.builder.master(f"local[{CORES}]")
        .config("spark.ui.enabled", "false")
        .config("spark.ui.showConsoleProgress", "false")
        .config("spark.driver.bindAddress", "127.0.0.1")
        .config("spark.driver.host", "127.0.0.1")
        .config("spark.log.level", "ERROR")
        .getOrCreate()
    )

    def counted_there() -> bc.Agreement:
        spans = session.read.parquet(path)
        some = bc.count(spans.limit(1000).toArrow())
        schema = from_arrow_schema(some.to_arrow().schema)
        # All rows of a document are in one partition.
        by_document = spans.repartition(8 * CORES, "document")
        table = by_document.mapInArrow(counted, schema).toArrow()
        return bc.agreement(bc.Counts.from_arrow(table))

    try:
        return timed(counted_there)
    finally:
        session.stop()


JOBS: dict[str, Callable[[str], tuple[float, Any]]] = {
    "Python, one process": plain,
    f"Python, {CORES} processes": processes,
    f"Dask, {CORES} workers": dask,
    f"Spark, {CORES} cores": spark,
}


# --- Each in processes of its own -----------------------------------------------------


def run(name: str, path: Path) -> dict[str, Any]:
    """Run a job in a new process; its seconds, peak memory and digits."""
    command = [sys.executable, __file__, "--job", name, str(path)]
    threads = dict.fromkeys(("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS"), "1")
    job = subprocess.Popen(
        command,
        stdout=subprocess.PIPE,
        stderr=subprocess.PIPE,
        text=True,
        env={**os.environ, **threads},
        start_new_session=True,
    )
    peak = [0.0]

    def watch() -> None:
        while job.poll() is None:
            peak[0] = max(peak[0], memory_of(job.pid))
            time.sleep(0.1)

    watching = threading.Thread(target=watch)
    watching.start()
    out, errors = job.communicate()
    watching.join()
    if job.returncode:
        raise SystemExit(errors)
    return {**json.loads(out.splitlines()[-1]), "peak": peak[0]}


def memory_of(session: int) -> float:
    """Return the MB that all processes of a session have, with shared pages counted once."""
    found = 0
    for folder in Path("/proc").glob("[0-9]*"):
        try:
            if int((folder / "stat").read_text().rpartition(")")[2].split()[3]) == session:
                lines = (folder / "smaps_rollup").read_text().splitlines()
                found += sum(int(line.split()[1]) for line in lines if line.startswith("Pss:"))
        except (OSError, ValueError, IndexError):  # it has ended
            continue
    return found / 1024


def main(n_documents: int) -> None:
    """Print all figures, and end with an error if digits differ."""
    if shutil.which("java") is None:
        raise SystemExit("Spark needs Java: apt-get install -y default-jre-headless")
    with TemporaryDirectory() as folder:
        path = Path(folder) / "spans.parquet"
        subprocess.run([sys.executable, HERE / "large.py", path, str(n_documents)], check=True)
        print(f"{n_documents:,} documents{'seconds':>32}{'peak MB':>10}  corrected")
        digits = set()
        for name in JOBS:
            found = run(name, path)
            digits.add(tuple(found["digits"]))
            seconds, peak, corrected = found["seconds"], found["peak"], found["corrected"]
            print(f"{name:40}{seconds:10.1f}{peak:10,.0f}  {corrected!r}", flush=True)
    if len(digits) > 1:
        raise SystemExit("the digits differ")
    print("the same digits in all of them")


if __name__ == "__main__":
    if sys.argv[1:2] == ["--job"]:
        seconds, result = JOBS[sys.argv[2]](sys.argv[3])
        numbers = result.observed, result.chance, result.corrected, *result.interval()
        job = {
            "seconds": seconds,
            "digits": [float.hex(value) for value in numbers],
            "corrected": result.corrected,
        }
        print(json.dumps(job))
    else:
        main(int(sys.argv[1]) if len(sys.argv) > 1 else 1_000_000)
