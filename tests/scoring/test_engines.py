"""Processes, clusters and functions like map: the same digits, and no process is left."""

from __future__ import annotations

import os
import re
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from functools import partial
from multiprocessing import get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beyondchance as bc
from beyondchance.errors import BeyondChanceError
from beyondchance.io import scanning, surveying
from beyondchance.scoring.engines import Processes, meanwhile, n_workers
from large_tables import digits, parquet, spans_table

TESTS = Path(__file__).parents[1]


@pytest.fixture
def path(tmp_path, monkeypatch):
    """A table of a dozen parts, which are cut here and not by workers."""
    monkeypatch.setattr(scanning, "ROWS_OF_PART", 20)
    return parquet(tmp_path / "a.parquet", spans_table(3, 80, has_gaps=True), 7)


@pytest.fixture
def expected(path):
    assert len(scanning.parts_of(bc.scan(path))) > 8
    return brief(bc.agreement(bc.scan(path)))


def brief(result):
    return digits(result, methods=("expanded",))


def test_processes(path, expected):
    for workers in (2, 3, "2"):
        assert brief(bc.agreement(bc.scan(path), workers=workers)) == expected
    gold = {"gold": "ada"}
    one, two = (bc.rank(bc.scan(path), **gold, workers=n) for n in (1, 2))
    assert str(one) == str(two)


@pytest.mark.parametrize("kind", ["map", "threads", "pool"])
def test_functions_like_map(path, expected, kind):
    if kind == "map":
        found = bc.agreement(bc.scan(path), executor=map)
    elif kind == "threads":
        with ThreadPoolExecutor(2) as pool:
            found = bc.agreement(bc.scan(path), executor=pool)
    else:
        with get_context("spawn").Pool(2) as pool:
            found = bc.agreement(bc.scan(path), executor=pool)
            again = bc.agreement(bc.scan(path), executor=pool.imap_unordered)
        assert brief(again) == expected
    assert brief(found) == expected


def test_what_is_no_executor(path):
    with pytest.raises(BeyondChanceError, match="a function like map"):
        bc.agreement(bc.scan(path), executor=3)


def test_how_many_workers():
    assert n_workers("auto") >= 1
    assert n_workers("3") == 3


def test_a_lambda_is_refused(path):
    measure = bc.CustomMeasure(name="mine", phi=lambda *_: 0.0, size=lambda length: length)
    with pytest.raises(BeyondChanceError, match="not lambdas"):
        bc.agreement(bc.scan(path), measure=measure, workers=2)


@pytest.fixture
def tagged(tmp_path, monkeypatch):
    """Two files of tokens and tags, which are gone through in many stretches."""
    monkeypatch.setattr(scanning, "AT_A_TIME", 200)
    monkeypatch.setattr(surveying, "STRETCH", 150)
    paths = []
    for name, tag in (("ada", "I-X"), ("ben", "O")):
        paths.append(tmp_path / f"{name}.conll")
        sentences = (f"w{i} B-X\nx {tag}\n# note\ny {'B-Y' if i % 7 else 'O'}" for i in range(80))
        paths[-1].write_text("\n\n".join(sentences))
    assert len(scanning.parts_of(bc.scan(*paths))) > 8
    return paths


def test_files_of_tags(tagged):
    expected = brief(bc.agreement(bc.scan(*tagged)))
    assert brief(bc.agreement(bc.read(*tagged)))["score"] == expected["score"]
    assert brief(bc.agreement(bc.scan(*tagged), workers=2)) == expected
    with get_context("spawn").Pool(2) as pool:
        assert brief(bc.agreement(bc.scan(*tagged), executor=pool)) == expected
    with ThreadPoolExecutor(2) as pool:
        assert brief(bc.agreement(bc.scan(*tagged), executor=pool)) == expected


def test_a_file_that_is_not_cut(tagged):
    for path in tagged:
        with path.open("a") as file:
            file.write("\n\n# columns = token tag\nz O\n")
    with pytest.raises(BeyondChanceError) as one:
        bc.agreement(bc.scan(*tagged))
    with pytest.raises(BeyondChanceError) as two:
        bc.agreement(bc.scan(*tagged), workers=2)
    assert str(one.value) == str(two.value)


def test_what_is_done_meanwhile():
    assert meanwhile(partial(square, 3))() == 9
    with pytest.raises(TypeError):
        meanwhile(partial(square, None))()


def test_nothing_is_done_meanwhile_without_threads(monkeypatch):
    def refuse(_):
        raise RuntimeError

    monkeypatch.setattr("threading.Thread.start", refuse)
    assert meanwhile(partial(square, 3))() == 9


# --- Workers that die -----------------------------------------------------------------


def square(number):
    return number * number


def die_once(marker, number):
    """Die at the first call for 3."""
    if number == 3 and not Path(marker).exists():
        Path(marker).touch()
        os.kill(os.getpid(), signal.SIGKILL)
    return number * number


def die(number):
    if number == 3:
        os.kill(os.getpid(), signal.SIGKILL)
    return number


def test_a_worker_that_dies_is_replaced(tmp_path):
    pool = Processes(2)
    try:
        found = list(pool(partial(die_once, str(tmp_path / "marker")), range(8)))
    finally:
        pool.stop()
    assert sorted(found) == [number * number for number in range(8)]
    assert (tmp_path / "marker").exists()


def test_workers_that_always_die_name_a_part():
    pool = Processes(2)
    try:
        with pytest.raises(BeyondChanceError, match="^3: processes died 3 times"):
            list(pool(die, [3]))
    finally:
        pool.stop()


def children(parent):
    """The processes that a process has started, and theirs."""
    parents = {}
    for entry in Path("/proc").iterdir():
        if entry.name.isdigit():
            try:
                text = (entry / "stat").read_text()
            except OSError:
                continue
            state, ppid = text.rpartition(")")[2].split()[:2]
            if state != "Z":
                parents[int(entry.name)] = int(ppid)
    found = {parent}
    while more := {pid for pid, ppid in parents.items() if ppid in found} - found:
        found |= more
    return found - {parent}


def is_alive(pid):
    try:
        return Path(f"/proc/{pid}/stat").read_text().rpartition(")")[2].split()[0] != "Z"
    except OSError:
        return False


def until(condition, seconds=20.0):
    end = time.monotonic() + seconds
    while time.monotonic() < end:
        if found := condition():
            return found
        time.sleep(0.05)
    return condition()


SLOW = """
import sys
sys.path.insert(0, {tests!r})
from beyondchance.io import scanning
scanning.ROWS_OF_PART = 1
from beyondchance.cli.main import main
if __name__ == "__main__":
    sys.exit(main(["agree", {path!r}, "--workers", "2", "--quiet"]))
"""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@linux
@pytest.mark.parametrize("how", [signal.SIGINT, signal.SIGKILL])
def test_no_worker_is_left(tmp_path, how):
    table = parquet(tmp_path / "a.parquet", spans_table(3, 3000), 3)
    script = tmp_path / "run.py"
    script.write_text(SLOW.format(tests=str(TESTS), path=table))
    run = subprocess.Popen(
        [sys.executable, str(script)], stdout=subprocess.PIPE, stderr=subprocess.PIPE
    )
    try:
        assert until(lambda: len(children(run.pid)) >= 3)
        time.sleep(0.5)
        workers = children(run.pid)
        assert run.poll() is None
        run.send_signal(how)
        run.communicate(timeout=20)
        assert run.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
        assert until(lambda: not any(map(is_alive, workers)), 3.0)
    finally:
        run.kill()
        run.communicate()


# --- Dask -----------------------------------------------------------------------------


@pytest.fixture
def cluster(request):
    distributed = pytest.importorskip("distributed")
    n = getattr(request, "param", 2)
    with (
        distributed.LocalCluster(
            processes=True, n_workers=n, threads_per_worker=1, dashboard_address=None
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
@pytest.mark.parametrize("cluster", [1, 2, 3], indirect=True)
def test_a_cluster(path, expected, cluster):
    assert brief(bc.agreement(bc.scan(path), executor=cluster)) == expected
    cluster.restart()
    assert brief(bc.agreement(bc.scan(path), executor=cluster)) == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_files_of_tags_on_a_cluster(tagged, cluster):
    expected = brief(bc.agreement(bc.scan(*tagged)))
    assert brief(bc.agreement(bc.scan(*tagged), executor=cluster)) == expected


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_worker_of_a_cluster_that_is_killed(tmp_path, cluster, monkeypatch):
    monkeypatch.setattr(scanning, "ROWS_OF_PART", 30)
    path = parquet(tmp_path / "b.parquet", spans_table(3, 600), 3)
    whole = brief(bc.agreement(bc.scan(path)))
    pids = list(cluster.run(os.getpid).values())
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(bc.agreement, bc.scan(path), executor=cluster)
        time.sleep(0.7)
        os.kill(pids[0], signal.SIGKILL)
        assert brief(found.result(timeout=120)) == whole


@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_part_that_a_cluster_cannot_read(path, cluster):
    rows = spans_table(3, 80, has_gaps=True)
    rows[-1] = {**rows[-1], "start": 5, "end": 99, "label": "PER"}
    parquet(Path(path), rows, 7)
    with pytest.raises(BeyondChanceError, match="a.parquet"):
        bc.agreement(bc.scan(path), executor=cluster)


SCRIPT = """
import sys
import beyondchance as bc
from beyondchance.io import scanning

if __name__ == "__main__":
    scanning.ROWS_OF_PART = 1
    try:
        bc.agreement(bc.scan(sys.argv[1]), workers=2, save_counts=sys.argv[2])
    except bc.FormatError as error:
        print(error)
"""


@pytest.mark.slow
def test_damaged_bytes_name_their_file_and_the_other_parts_are_kept(tmp_path):
    spans = pa.table(
        {
            "document": [f"document {i // 4:05}" for i in range(2000)],
            "annotator": ["ada", "ada", "ben", "ben"] * 500,
            "start": [0, 3] * 1000,
            "end": [2, 5] * 1000,
            "label": ["P"] * 2000,
            "length": [9] * 2000,
        }
    )
    path = tmp_path / "spans.parquet"
    pq.write_table(spans, path, row_group_size=400)
    column = pq.ParquetFile(path).metadata.row_group(2).column(0)
    content = bytearray(path.read_bytes())
    place = column.dictionary_page_offset + 40
    content[place : place + 200] = bytes(byte ^ 0xA5 for byte in content[place : place + 200])
    path.write_bytes(content)
    script = tmp_path / "run.py"
    script.write_text(SCRIPT)
    found = subprocess.run(
        [sys.executable, script, path, tmp_path / "all.counts"],
        capture_output=True,
        text=True,
        check=True,
    )
    # The parts before and after look into the damaged one, for documents that they share.
    assert re.search(r"spans\.parquet: .*not a readable Parquet file", found.stdout)
    assert "3 of 5 parts cannot be counted; 2 are kept" in found.stdout
    assert found.stderr == ""
    assert len([*(tmp_path / "all.counts.parts").iterdir()]) == 2
    assert not (tmp_path / "all.counts").exists()
