"""Processes, clusters and functions like map: the same digits, and no process is left."""

from __future__ import annotations

import os
import signal
import subprocess
import sys
import time
from concurrent.futures import ThreadPoolExecutor
from concurrent.futures.process import BrokenProcessPool
from contextlib import contextmanager
from functools import partial
from multiprocessing import current_process, get_context
from pathlib import Path

import pyarrow as pa
import pyarrow.parquet as pq
import pytest

import beyondchance as bc
from beyondchance.errors import DataError, FormatError, OptionError
from beyondchance.io import aligned, scanning
from beyondchance.scoring.engines import engine_of, n_workers
from large_tables import digits, parquet, spans_table
from refusals import assert_tells, refused

TESTS = Path(__file__).parents[1]


@pytest.fixture(scope="module", autouse=True)
def few_rows():
    """Let few rows make many parts, which are cut here and not by workers."""
    with pytest.MonkeyPatch.context() as patch:
        patch.setattr(scanning, "ROWS_OF_PIECE", 4)
        yield


@pytest.fixture(scope="module")
def path(tmp_path_factory):
    """A table of more parts than a cluster adds at a time."""
    folder = tmp_path_factory.mktemp("table")
    found = parquet(folder / "a.parquet", spans_table(3, 16, has_gaps=True), 2)
    assert len(scanning.pieces_of(bc.scan(found))) > 8
    return found


@pytest.fixture(scope="module")
def expected(path):
    return brief(bc.agreement(bc.scan(path)))


def brief(result):
    return digits(result, methods=("expanded",))


@pytest.mark.slow
def test_processes(path, expected):
    assert brief(bc.agreement(bc.scan(path), workers=2)) == expected


@pytest.mark.engines
def test_any_number_of_processes(path, expected):
    for workers in (3, "2", "auto"):
        assert brief(bc.agreement(bc.scan(path), workers=workers)) == expected
    one, two = (bc.rank(bc.scan(path), gold="ada", workers=n) for n in (1, 2))
    assert str(one) == str(two)


def test_what_is_no_executor(path):
    with refused(OptionError, "executor … 3 … map … Dask"):
        bc.agreement(bc.scan(path), executor=3)


def test_how_many_workers():
    assert n_workers("auto") >= 1
    assert n_workers("3") == 3
    for wrong in (0, "many", 1.5):
        with refused(OptionError, f"workers … {wrong!r} … auto"):
            n_workers(wrong)


def test_a_lambda_is_refused(path):
    measure = bc.CustomMeasure(name="mine", phi=lambda *_: 0.0, size=lambda length: length)
    with refused(DataError, "lambda", use="workers"):
        bc.agreement(bc.scan(path), measure=measure, workers=2)


@pytest.fixture
def tagged(tmp_path, monkeypatch):
    """Two files of tokens and tags."""
    monkeypatch.setattr(scanning, "AT_A_TIME", 70)
    monkeypatch.setattr(aligned, "STEP", 1)
    paths = []
    for name, tag in (("ada", "I-X"), ("ben", "O")):
        paths.append(tmp_path / f"{name}.conll")
        sentences = (f"w{i} B-X\nx {tag}\n# note\ny {'B-Y' if i % 7 else 'O'}" for i in range(24))
        paths[-1].write_text("\n\n".join(sentences))
    assert len(scanning.pieces_of(bc.scan(*paths))) > 4
    return paths


@pytest.mark.slow
def test_functions_like_map(path, expected, tagged):
    of_tags = brief(bc.agreement(bc.scan(*tagged)))
    assert brief(bc.agreement(bc.read(*tagged)))["score"] == of_tags["score"]
    with ThreadPoolExecutor(2) as threads, get_context("spawn").Pool(2) as pool:
        for executor in (map, threads, pool, pool.imap_unordered):
            assert brief(bc.agreement(bc.scan(path), executor=executor)) == expected, executor
            assert brief(bc.agreement(bc.scan(*tagged), executor=executor)) == of_tags, executor


@pytest.mark.engines
def test_files_of_tags_in_processes(tagged):
    expected = brief(bc.agreement(bc.scan(*tagged)))
    assert brief(bc.agreement(bc.scan(*tagged), workers=2)) == expected


@pytest.mark.slow
def test_a_file_that_is_not_cut(tagged):
    for path in tagged:
        with path.open("a") as file:
            file.write("\n\n# columns = token tag\nz O\n")
    with refused(FormatError, "ada.conll:") as one:
        bc.agreement(bc.scan(*tagged))
    with pytest.raises(FormatError) as two:
        bc.agreement(bc.scan(*tagged), workers=2)
    assert str(one.value) == str(two.value)


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


class Threads(ThreadPoolExecutor):
    """Threads in the place of processes, which are quick to start."""

    _processes = None

    def __init__(self, n, *_):
        super().__init__(n)


def test_parts_of_workers_that_die_are_counted_again_but_not_for_ever(monkeypatch):
    monkeypatch.setattr("concurrent.futures.ProcessPoolExecutor", Threads)
    left = 1

    def count(part):
        nonlocal left
        if part == 3 and left:
            left -= 1
            raise BrokenProcessPool
        return square(part)

    with engine_of(2) as engine:
        assert list(engine(count, [1, 2, 3])) == [1, 4, 9]
        left = 2
        with refused(DataError, "3: … died … workers"):
            list(engine(count, [1, 2, 3]))


@pytest.mark.engines
def test_a_worker_that_dies_is_replaced(tmp_path):
    with engine_of(2) as engine:
        found = list(engine(partial(die_once, str(tmp_path / "marker")), range(8)))
    assert found == [number * number for number in range(8)]
    assert (tmp_path / "marker").exists()


@pytest.mark.engines
def test_workers_that_always_die_name_a_part():
    with refused(DataError, "3: … died"), engine_of(2) as engine:
        list(engine(die, [3]))


@pytest.mark.slow
def test_a_call_that_is_given_up_does_not_hold_up_the_next_one():
    with engine_of(2) as engine:
        assert next(iter(engine(square, range(1, 200)))) == 1
        assert list(engine(square, [2, 3])) == [4, 9]


def threads():
    return {name: os.environ.get(name) for name in ("OMP_NUM_THREADS", "OPENBLAS_NUM_THREADS")}


def threads_of_worker(_):
    return threads()


@pytest.mark.slow
def test_workers_have_one_thread(monkeypatch):
    monkeypatch.setenv("OMP_NUM_THREADS", "7")
    monkeypatch.delenv("OPENBLAS_NUM_THREADS", raising=False)
    before = threads()
    with engine_of(2) as engine:
        for parts in ([1], [1, 2, 3]):
            for found in engine(threads_of_worker, parts):
                assert found == dict.fromkeys(before, "1")
                assert threads() == before


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


def until(condition, seconds=300.0):
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
scanning.ROWS_OF_PIECE = 1
from beyondchance.cli.main import main
if __name__ == "__main__":
    sys.exit(main(["agree", {path!r}, "--workers", "2", "--quiet"]))
"""
linux = pytest.mark.skipif(not sys.platform.startswith("linux"), reason="looks into /proc")


@linux
@pytest.mark.parametrize(
    "how",
    [
        pytest.param(signal.SIGINT, marks=pytest.mark.engines),
        pytest.param(signal.SIGKILL, marks=pytest.mark.slow),
    ],
)
def test_no_worker_is_left(tmp_path, how):
    table = parquet(tmp_path / "a.parquet", spans_table(3, 3000), 6)
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
        run.communicate(timeout=300)
        assert run.returncode == (130 if how is signal.SIGINT else -signal.SIGKILL)
        assert until(lambda: not any(map(is_alive, workers)))
    finally:
        run.kill()
        run.communicate()


# --- Dask -----------------------------------------------------------------------------


@contextmanager
def cluster_of(n_workers):
    """A client of a cluster, on ports that the system chooses."""
    distributed = pytest.importorskip("distributed")
    with (
        distributed.LocalCluster(
            processes=True,
            n_workers=n_workers,
            threads_per_worker=1,
            scheduler_port=0,
            dashboard_address=None,
        ) as cluster,
        distributed.Client(cluster) as client,
    ):
        yield client


@pytest.fixture(scope="module")
def large_cluster():
    with cluster_of(3) as client:
        yield client


# All that needs a cluster of one worker, which takes seconds to start.
@pytest.mark.slow
@pytest.mark.filterwarnings("default")
def test_a_cluster(path, expected, tagged, tmp_path):
    rows = spans_table(3, 16, has_gaps=True)
    rows[-1] = {**rows[-1], "start": 5, "end": 99, "label": "PER"}
    bad = parquet(tmp_path / "bad.parquet", rows, 2)
    of_tags = brief(bc.agreement(bc.scan(*tagged)))
    with cluster_of(1) as cluster:
        assert brief(bc.agreement(bc.scan(path), executor=cluster)) == expected
        assert brief(bc.agreement(bc.scan(*tagged), executor=cluster)) == of_tags
        with refused(bc.SpanError, "bad.parquet: … 99"):
            bc.agreement(bc.scan(bad), executor=cluster)


@pytest.mark.slow
def test_workers_of_a_cluster_that_always_die_name_a_part():
    distributed = pytest.importorskip("distributed")

    class Future:
        def result(self):
            raise distributed.KilledWorker("task", None, 3)

    class Client:
        def map(self, _, parts, **_options):
            return [Future() for _ in parts]

    Client.__module__ = "distributed.client"
    with refused(DataError, "7: … died"), engine_of(1, Client()) as engine:
        list(engine(square, [7]))


@pytest.mark.engines
@pytest.mark.filterwarnings("default")
def test_a_cluster_of_several_workers_that_is_restarted(path, expected, large_cluster):
    assert brief(bc.agreement(bc.scan(path), executor=large_cluster)) == expected
    large_cluster.restart()
    assert brief(bc.agreement(bc.scan(path), executor=large_cluster)) == expected


@pytest.mark.engines
@pytest.mark.filterwarnings("default")
def test_a_worker_of_a_cluster_that_is_killed(tmp_path, large_cluster, monkeypatch):
    monkeypatch.setattr(scanning, "ROWS_OF_PIECE", 30)
    path = parquet(tmp_path / "b.parquet", spans_table(3, 300), 3)
    whole = brief(bc.agreement(bc.scan(path)))
    pids = list(large_cluster.run(os.getpid).values())
    with ThreadPoolExecutor(1) as thread:
        found = thread.submit(bc.agreement, bc.scan(path), executor=large_cluster)
        time.sleep(0.7)
        os.kill(pids[0], signal.SIGKILL)
        assert brief(found.result(timeout=600)) == whole


SCRIPT = """
import sys
import beyondchance as bc
from beyondchance.io import scanning

if __name__ == "__main__":
    scanning.ROWS_OF_PIECE = 1
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
    assert_tells(found.stdout, "spans.parquet: … Parquet")
    assert found.stderr == ""
    assert not (tmp_path / "all.counts").exists()


def test_workers_need_the_guard_of_a_script(monkeypatch: pytest.MonkeyPatch) -> None:
    monkeypatch.setattr(current_process(), "_inheriting", True, raising=False)
    with refused(OptionError, "workers … script … __main__"), engine_of(2):
        pass


@pytest.mark.engines
def test_a_script_without_the_guard_is_told_of_it(tmp_path: Path) -> None:
    (tmp_path / "a.csv").write_text("document,annotator,label,start,end\n1,a,P,0,2\n1,b,P,1,2\n")
    code = "import beyondchance as bc\nbc.agreement(bc.scan('a.csv', length=9), workers=2)\n"
    (tmp_path / "script.py").write_text(code)
    words = [sys.executable, "script.py"]
    done = subprocess.run(words, cwd=tmp_path, capture_output=True, text=True, check=False)
    assert "__name__ == '__main__'" in done.stderr.splitlines()[-1]
