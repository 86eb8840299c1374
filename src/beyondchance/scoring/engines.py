"""Where parts are counted: in this process, in others, or on a cluster.

An engine applies a function to every part, as the function `map` does, and gives the results in
any order. A cluster can also add results where they are (`sums`). Processes are started afresh
(``spawn``), count with one thread each, and end with the one that started them, however that ends.
"""

from __future__ import annotations

import os
import signal
import sys
import threading
import time
from collections.abc import Callable, Iterable, Iterator, Sequence
from contextlib import contextmanager
from typing import Any, TypeVar

from beyondchance.checks import is_whole
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import given

Count = Callable[[Any], Any]
"""Counts one part."""
Engine = Callable[[Count, Sequence[Any]], Iterable[Any]]
"""Counts every part, and gives what they give in any order."""
Progress = Callable[[int, int], None]
_T = TypeVar("_T")

_THREADS = ("OPENBLAS_NUM_THREADS", "OMP_NUM_THREADS", "MKL_NUM_THREADS", "ARROW_IO_THREADS")
_GUARD = "put the code of a script under if __name__ == '__main__'"
_MOST_WORKERS = 1024
_MOST_DEATHS = 3
"""How often workers may die before a run is given up."""
_LOOKS = 0.5
"""Seconds after which a worker looks again whether its parent is there."""


def meanwhile(function: Callable[[], _T]) -> Callable[[], _T]:
    """Begin to work out something in a thread; what is given waits for the result.

    Where there are no threads, as in a browser, it is worked out when it is asked for.
    """
    from concurrent.futures import Future  # noqa: PLC0415 - slow to load

    found: Future[_T] = Future()

    def work() -> None:
        try:
            found.set_result(function())
        except BaseException as error:  # raised where the result is asked for
            found.set_exception(error)

    try:
        # Nobody waits for it where an error makes the result useless.
        threading.Thread(target=work, daemon=True).start()
    except RuntimeError:
        return function
    return found.result


@contextmanager
def engine_of(workers: int | str, executor: Any) -> Iterator[Engine]:
    """The engine that was asked for, shut down in the end.

    Parameters
    ----------
    workers : int or "auto"
        How many processes; as many as there are cores for ``auto``.
    executor : object, optional
        A function like `map`, anything with such a method, or a client of Dask.
    """
    if executor is not None:
        yield _given(executor)
        return
    n = n_workers(workers)
    if n == 1:
        yield map
        return
    pool = Processes(n)
    try:
        yield pool
    finally:
        pool.stop()


def n_workers(workers: int | str) -> int:
    """How many processes were asked for."""
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
    """An engine of the user's."""
    if type(executor).__module__.partition(".")[0] == "distributed":
        return Dask(executor)
    if callable(executor):
        engine: Engine = executor
        return engine
    for name in ("imap_unordered", "map"):
        method = getattr(executor, name, None)
        if callable(method):
            return method  # type: ignore[no-any-return]
    raise OptionError(
        *given("executor", executor),
        expected="a function like map, an executor with such a method, or a client of Dask",
    )


# --- Processes ------------------------------------------------------------------------


class Processes:
    """Processes of this machine. One that dies is replaced, and its part counted again."""

    def __init__(self, n_workers: int) -> None:
        self.n_workers = n_workers
        self._pool: Any = None

    def __call__(self, count: Count, parts: Sequence[Any]) -> Iterator[Any]:
        """Count every part."""
        from concurrent.futures import FIRST_COMPLETED, wait  # noqa: PLC0415 - slow to load
        from concurrent.futures.process import BrokenProcessPool  # noqa: PLC0415 - slow to load

        waiting, n_deaths = list(parts), 0
        while waiting:
            try:
                pool = self._started()
                futures = {pool.submit(count, part): part for part in waiting}
                while futures:
                    done, _ = wait(futures, return_when=FIRST_COMPLETED)
                    for future in done:
                        result = future.result()
                        waiting.remove(futures.pop(future))
                        yield result
            except BrokenProcessPool:
                self.stop()
                n_deaths += 1
                if n_deaths >= _MOST_DEATHS:
                    raise DataError(
                        f"processes died {n_deaths} times while parts were counted",
                        where=str(waiting[0]),
                        remedy=f"{_GUARD}, and use fewer workers if memory is short",
                    ) from None
            except BaseException:
                self.stop()
                raise

    def _started(self) -> Any:
        from concurrent.futures import ProcessPoolExecutor  # noqa: PLC0415 - slow to load
        from multiprocessing import current_process, get_context  # noqa: PLC0415 - slow to load

        if getattr(current_process(), "_inheriting", False):
            # A worker runs the script that started it, which asks for workers again.
            raise OptionError("workers begin with the script itself", remedy=_GUARD)
        if self._pool is None:
            with _one_thread_each():
                self._pool = ProcessPoolExecutor(
                    self.n_workers, get_context("spawn"), _begin_work, (os.getpid(),)
                )
                # Workers take over the environment as they are started, which is now: there is
                # one for each call, because none of them is ready yet for a second one.
                for number in range(self.n_workers):
                    self._pool.submit(_nothing, number)
        return self._pool

    def stop(self) -> None:
        """End all processes at once."""
        pool, self._pool = self._pool, None
        if pool is None:
            return
        processes = list((pool._processes or {}).values())
        for process in processes:
            process.kill()
        for process in processes:
            process.join()
        # The pool puts away what it shared with them, now that they are gone.
        pool.shutdown(wait=True, cancel_futures=True)


def _nothing(_: int) -> None:
    time.sleep(0.01)


@contextmanager
def _one_thread_each() -> Iterator[None]:
    """Let NumPy and pyarrow of the processes that are started meanwhile have one thread."""
    before = {name: os.environ.get(name) for name in _THREADS}
    os.environ.update(dict.fromkeys(_THREADS, "1"))
    try:
        yield
    finally:
        for name, value in before.items():
            if value is None:
                os.environ.pop(name, None)
            else:
                os.environ[name] = value


def _begin_work(parent: int) -> None:
    """Prepare a worker: it leaves Ctrl-C to its parent, and ends with it."""
    signal.signal(signal.SIGINT, signal.SIG_IGN)
    threading.Thread(target=_watch, args=(parent,), daemon=True).start()


def _watch(parent: int) -> None:
    while os.getppid() == parent:
        time.sleep(_LOOKS)
    os._exit(1)


# --- Dask -----------------------------------------------------------------------------


def sums(
    engine: Engine, count: Count, parts: Sequence[Any], add: Callable[[list[Any]], Any]
) -> Iterable[Any]:
    """Count every part; results may be of several parts, which the engine has added."""
    if isinstance(engine, Dask):
        return engine.sums(count, parts, add)
    return engine(count, parts)


class Dask:
    """A cluster of Dask."""

    def __init__(self, client: Any) -> None:
        self.client = client

    def __call__(self, count: Count, parts: Sequence[Any]) -> Iterator[Any]:
        """Count every part."""
        for future in self.client.map(_Counting(count), list(parts), pure=False):
            yield future.result()

    def sums(
        self, count: Count, parts: Sequence[Any], add: Callable[[list[Any]], Any]
    ) -> Iterator[Any]:
        """Count every part, and add results there: what travels is of a few megabytes."""
        client = self.client
        futures = client.map(_Counting(count), list(parts), pure=False)
        while len(futures) > 1:
            groups = [futures[i : i + _FAN_IN] for i in range(0, len(futures), _FAN_IN)]
            futures = [
                group[0] if len(group) == 1 else client.submit(add, group, pure=False)
                for group in groups
            ]
        for future in futures:
            yield future.result()


_FAN_IN = 8
"""Results that are added at a time."""


class _Counting:
    """Counts a part on a worker of a cluster."""

    def __init__(self, count: Count) -> None:
        self.count = count

    def __call__(self, part: Any) -> Any:
        keep_memory()
        return self.count(part)


def keep_memory() -> None:
    """Let the allocator keep what it gets, instead of giving it back after every array.

    Dask asks glibc to give memory back early (``MALLOC_TRIM_THRESHOLD_``), which makes every large
    array cost its pages anew: counting takes 2.5 times as long.
    """
    if not sys.platform.startswith("linux"):
        return
    from ctypes import CDLL  # noqa: PLC0415 - for clusters only

    try:
        allocator = CDLL("libc.so.6")
        allocator.mallopt(_MMAP_THRESHOLD, 2**28)
        allocator.mallopt(_TRIM_THRESHOLD, 2**29)
    except (OSError, AttributeError):  # another C library
        return


_TRIM_THRESHOLD, _MMAP_THRESHOLD = -1, -3
"""The numbers of the settings of glibc."""
