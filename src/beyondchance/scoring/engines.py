"""Where parts are counted: in this process, in others, or on a cluster.

An engine is any function like `map`: it applies a function to every part, and gives the results in
any order.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager, suppress
from functools import partial
from typing import TYPE_CHECKING, Any

from beyondchance.checks import is_whole
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import given

if TYPE_CHECKING:
    from concurrent.futures import ProcessPoolExecutor

Count = Callable[[Any], Any]
"""Counts one part."""
Engine = Callable[[Count, Sequence[Any]], Iterable[Any]]
"""Counts every part, and gives the results in any order."""

_ONE_THREAD = dict.fromkeys(
    ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_IO_THREADS"), "1"
)
"""The environment in which NumPy and pyarrow use one thread."""
_GUARD = "put the code of a script under if __name__ == '__main__'"
_MOST_WORKERS = 1024


@contextmanager
def engine_of(workers: int | str, executor: Any = None) -> Iterator[Engine]:
    """Start the engine that was asked for, and end it.

    Parameters
    ----------
    workers : int or "auto"
        How many processes; as many as there are cores for ``auto``.
    executor : object, optional
        A function like `map`, anything with such a method, or a client of Dask.
    """
    if executor is not None:
        yield _given(executor)
    elif (n := n_workers(workers)) == 1:
        yield map
    else:
        # Windows waits for no more than 61 at once.
        with _processes(min(n, 61) if sys.platform == "win32" else n) as engine:
            yield engine


def n_workers(workers: int | str) -> int:
    """Return how many processes were asked for."""
    if workers == "auto":
        is_known = hasattr(os, "sched_getaffinity")
        return len(os.sched_getaffinity(0)) if is_known else os.cpu_count() or 1
    if isinstance(workers, str) and workers.isdecimal():
        workers = int(workers)
    if not is_whole(workers) or not 0 < int(workers) <= _MOST_WORKERS:
        expected = f"a whole number from 1 to {_MOST_WORKERS:,}, or auto"
        raise OptionError(*given("workers", workers), expected=expected)
    return int(workers)


def _given(executor: Any) -> Engine:
    """Return the engine that an object of the user's is."""
    if type(executor).__module__.partition(".")[0] == "distributed":
        return partial(_on_dask, executor)
    engine = getattr(executor, "imap_unordered", getattr(executor, "map", executor))
    if not callable(engine):
        raise OptionError(
            *given("executor", executor),
            expected="a function like map, an executor with such a method, or a client of Dask",
        )
    return engine  # type: ignore[no-any-return]


def _died(part: Any) -> DataError:
    """Build the refusal of a part that workers did not survive, tried twice."""
    return DataError(
        "workers died while parts were counted, also in a second try",
        where=str(part),
        remedy=f"{_GUARD}, and use fewer workers if memory is short",
    )


@contextmanager
def _processes(n: int) -> Iterator[Engine]:
    """Start processes with one thread each; if one dies, all are started once more."""
    from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - slow to load
    from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - slow to load
    from multiprocessing import current_process, get_context  # noqa: PLC0415 - slow to load

    if getattr(current_process(), "_inheriting", False):
        # A worker runs the script that started it, which asks for workers again.
        raise OptionError("workers begin with the script itself", remedy=_GUARD)
    start = partial(ProcessPoolExecutor, n, get_context("spawn"), begin_work)
    pool = start()

    def engine(count: Count, parts: Sequence[Any]) -> Iterator[Any]:
        nonlocal pool
        n_done = 0
        for is_last in (False, True):
            # Another call may have been given up.
            _stop(pool)
            pool = start()
            try:
                # Processes are started here, and take over the environment.
                with _one_thread_each():
                    futures = [pool.submit(count, part) for part in parts[n_done:]]
                futures.reverse()
                while futures:
                    yield futures.pop().result()
                    n_done += 1
            except BrokenProcessPool:
                if is_last:
                    raise _died(parts[n_done]) from None
            else:
                return

    try:
        yield engine
    finally:
        _stop(pool)


def _stop(pool: ProcessPoolExecutor) -> None:
    """End all processes at once; what waits is not cancelled, which a pool that dies refuses."""
    for process in list((pool._processes or {}).values()):
        process.kill()
    pool.shutdown()


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let NumPy and pyarrow of the processes that are started meanwhile have one thread."""
    kept = {name: os.environ[name] for name in _ONE_THREAD if name in os.environ}
    os.environ.update(_ONE_THREAD)
    try:
        yield
    finally:
        for name in _ONE_THREAD:
            del os.environ[name]
        os.environ.update(kept)


def begin_work() -> None:
    """Prepare a worker: it leaves Ctrl-C to its parent, and ends with it, however that ends."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_end_with_parent, daemon=True).start()


def _end_with_parent() -> None:
    from multiprocessing import parent_process  # noqa: PLC0415 - for workers only

    parent = parent_process()
    if parent is not None:
        parent.join()
        os._exit(1)


def _on_dask(client: Any, count: Count, parts: Sequence[Any]) -> Iterator[Any]:
    """Count parts on a cluster of Dask."""
    from distributed import KilledWorker  # noqa: PLC0415 - for clusters only

    futures = client.map(partial(_on_worker, count), parts, pure=False)
    for part, future in zip(parts, futures, strict=True):
        try:
            yield future.result()
        except KilledWorker:
            raise _died(part) from None


def _on_worker(count: Count, part: Any) -> Any:
    """Count a part where the allocator keeps the memory of arrays for the next ones.

    Dask asks glibc to give memory back early (``MALLOC_TRIM_THRESHOLD_``), which makes every large
    array cost its pages anew: counting a million documents takes 1.8 times as long.
    """
    from ctypes import CDLL  # noqa: PLC0415 - for clusters only

    with suppress(OSError, AttributeError):  # another C library
        allocator = CDLL("libc.so.6")
        allocator.mallopt(_MMAP_THRESHOLD, 2**28)
        allocator.mallopt(_TRIM_THRESHOLD, 2**29)
    return count(part)


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers of the settings of glibc."""
