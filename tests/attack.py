"""A standing attack: files and data, changed at random, in every format that is read.

    make attack SECONDS=600

Each mutant is one of the examples of every format, changed in one to three places, and must
be read or refused with one of our errors, within time and memory that follow its size. What
was read is scored, read again by the other road where there are two, and shown by a command
under ``--no-text``, which must not show the text. Mutants are numbered: the same number and
seed make the same mutant, on every machine.

    python tests/attack.py --seed 1 --only 4711
"""

from __future__ import annotations

import argparse
import contextlib
import io
import multiprocessing
import os
import queue
import random
import resource
import shutil
import sys
import tempfile
import time
import traceback
import warnings
import zipfile
import zlib
from collections import Counter, defaultdict
from collections.abc import Callable, Iterator
from copy import deepcopy
from dataclasses import dataclass, field, replace
from functools import cache
from math import inf
from pathlib import Path
from typing import Any
from unittest import mock

import numpy as np

import beyondchance as bc
from beyondchance.cli.main import main as run_command
from beyondchance.io import reading, separated
from beyondchance.io.formats import conll as conll_format
from every_format import EXAMPLES, Annotations, Example
from mutation import MARK, MARKED, ODD, Dice, mutant, places, replaced, retold

COMMANDS = [
    ["agree", "--by", "document"],
    ["rank", "--gold", "ada"],
    ["difficulty"],
    ["convert", "--to", "table"],
    ["agree", "--sensitivity", "--output", "json"],
    ["disagreements", "--output", "json"],
]
MEASURES = ("token", "exact", "boundary", "dice", "iou")
SHOWN_EVERY = 16
"""To give a mutant to a command takes ten times as long as to read it."""
SECONDS, SECONDS_PER_KB = 3.0, 0.05
MEGABYTES, MEGABYTES_PER_KB = 64.0, 1.0
MOST_MEMORY = 6 * 2**30
"""Of a process that attacks, shared libraries included: more is an error, not a dead machine."""
PATIENCE = 60.0
"""Seconds after which a mutant hangs, and its process is ended."""


@dataclass(slots=True)
class Outcome:
    """How far a mutant got, and what was wrong."""

    target: str
    kilobytes: float = 0.0
    seconds: float = 0.0
    megabytes: float = 0.0
    stages: set[str] = field(default_factory=set)
    wrong: list[str] = field(default_factory=list)


# --- Targets ------------------------------------------------------------------


def rttm(data: Annotations) -> Example:
    """Times, which have no text."""

    def line(start: int, end: int, label: str) -> str:
        return f"SPEAKER {data.first} 1 {start} {end - start} <NA> <NA> {label} <NA> <NA>\n"

    files = {
        f"{person}.rttm": "".join(line(*span) for span in data.spans[data.first, person]).encode()
        for person in data.people
    }
    return Example(files, list(files), {"grid": "1s"})


def toxic_spans(data: Annotations) -> Example:
    """Lists of indices of characters."""
    files = {}
    for person in data.people:
        rows = ["spans,text"]
        for document in data.by(person):
            marked = data.marked(document, person)
            indices = [i for start, end, *_ in marked for i in range(start, end)]
            text = data.texts[document].replace('"', '""')
            rows.append(f'"{sorted(set(indices))}","{text}"')
        files[f"{person}.csv"] = "\n".join([*rows, ""]).encode()
    return Example(files, list(files))


FILES = {**EXAMPLES, "rttm": rttm, "toxic_spans": toxic_spans}


@cache
def example_of(name: str) -> Example:
    """The example that a mutant is made of."""
    return FILES[name](MARKED)


def _tags() -> list[Any]:
    return [
        [
            [tag for sentence in MARKED.tagged(document, person) for _, tag in sentence]
            for document in MARKED.by(person)
        ]
        for person in MARKED.people
    ]


def _spans() -> list[Any]:
    return [[MARKED.spans[document, p] for document in MARKED.by(p)] for p in MARKED.people]


def _records(person: str) -> list[Any]:
    return [
        {
            "id": document,
            "text": MARKED.texts[document],
            "spans": [
                {"start": start, "end": end, "label": label}
                for start, end, label, _ in MARKED.marked(document, person)
            ],
        }
        for document in MARKED.by(person)
    ]


def _columns() -> dict[str, Any]:
    rows = [
        (text, person, *span)
        for text, document in enumerate(MARKED.sentences)
        for person in MARKED.people
        for span in MARKED.spans[document, person]
    ]
    names = ("text", "annotator", "start", "end", "label")
    columns = {name: [row[place] for row in rows] for place, name in enumerate(names)}
    lengths = [len(MARKED.words(document)) for document in MARKED.sentences]
    return {**columns, "lengths": lengths, "documents": list(MARKED.sentences)}


DATA: dict[str, tuple[Callable[[], Any], Callable[[Any], Any]]] = {
    "lists of tags": (_tags, lambda data: bc.agreement(*data)),
    "tags by name": (
        lambda: dict(zip(MARKED.people, _tags(), strict=True)),
        bc.Corpus.from_tags,
    ),
    "lists of spans": (
        lambda: {"spans": dict(zip(MARKED.people, _spans(), strict=True)), "lengths": [14, 9]},
        lambda data: bc.Corpus.from_spans(**data),
    ),
    "lists of records": (
        lambda: [_records(person) for person in MARKED.people],
        lambda data: bc.agreement(*data),
    ),
    "records by name": (
        lambda: {person: _records(person) for person in MARKED.people},
        bc.agreement,
    ),
    "columns": (_columns, lambda data: bc.Corpus.from_columns(**data)),
}
"""Data in Python: how they are made, and what takes them."""
TARGETS = (*FILES, *DATA)


def _odd_objects() -> list[Any]:
    """What may stand in data where something else is expected, each made anew."""
    endless: list[Any] = []
    endless.append(endless)
    return [
        *ODD,
        *(float("nan"), float("inf"), -float("inf"), b"PER", bytearray(b"PER"), {1, 2}, object()),
        *(range(3), (x for x in "ab"), iter([1]), lambda: 1, int, Exception("odd"), complex(1, 1)),
        *(np.int64(3), np.float32(1.5), np.array([1, 2]), np.array([[1], [2]]), np.array(3)),
        *(np.array(["a", None], dtype=object), np.str_("B-PER"), np.bool_(True), Path("odd")),
        *(memoryview(b"ab"), ..., NotImplemented, np.datetime64("2020-01-01"), endless),
    ]


# --- One mutant ---------------------------------------------------------------


def attacked(number: int, seed: int, folder: Path, shown_every: int = SHOWN_EVERY) -> Outcome:
    """Make a mutant, and try everything on it.

    Parameters
    ----------
    number, seed : int
        Which mutant. The targets take turns.
    folder : Path
        Empty, and the present one: the files of a mutant are there.
    shown_every : int
        Of so many mutants of a target, one is given to a command.
    """
    outcome = Outcome(TARGETS[number % len(TARGETS)])
    dice = random.Random(f"{seed} {number}")  # noqa: S311 - the same on every run
    before, start = _peak_memory(), time.process_time()
    try:
        if outcome.target in FILES:
            is_shown = number // len(TARGETS) % shown_every == 0
            _try_files(outcome, dice, folder, is_shown=is_shown)
        else:
            _try_data(outcome, dice)
    except Exception:
        outcome.wrong.append(traceback.format_exc())
    outcome.seconds = time.process_time() - start
    outcome.megabytes = _peak_memory() - before
    return outcome


def _try_files(outcome: Outcome, dice: Dice, folder: Path, *, is_shown: bool) -> None:
    example = _mutant_files(example_of(outcome.target), dice)
    outcome.kilobytes = sum(map(len, example.files.values())) / 1024
    example.saved(folder)
    options = dict(example.options)
    if dice.randrange(20) == 0:
        options["strict"] = True
    try:
        corpus = _read(outcome, example, options)
        _compare_roads(outcome, example, options, corpus)
        if corpus is not None:
            _score(outcome, corpus, dice)
        if is_shown:
            _show(outcome, example, corpus, dice)
    finally:
        for item in folder.iterdir():
            shutil.rmtree(item) if item.is_dir() else item.unlink()


def _mutant_files(example: Example, dice: Dice) -> Example:
    """One to three changes, most of them within a file."""
    files = dict(example.files)
    for _ in range(dice.choice([1, 1, 1, 2, 3])):
        path = dice.choice(list(files))
        match dice.randrange(40):
            case 0 if len(files) > 1:
                del files[path]
            case 1:
                files[f"copy of {path}" if "/" not in path else f"{path}.copy"] = files[path]
            case 2:
                files[path] = b""
            case _:
                with contextlib.suppress(*_NOT_WHAT_IT_SAYS):
                    # What was changed before may no longer be what its name says.
                    files[path] = mutant(path, files[path], dice)
    return replace(example, files=files)


_NOT_WHAT_IT_SAYS = (
    *(ValueError, IndexError, KeyError, OSError, NotImplementedError),
    *(zipfile.BadZipFile, zlib.error),
)
"""What reading a file for the next change raises if one before has damaged it."""


def _read(outcome: Outcome, example: Example, options: dict[str, Any]) -> bc.Corpus | None:
    """Read the files; None if they are refused."""
    real = reading._corpus_of

    def noted(*args: Any) -> Any:
        outcome.stages.add("recognised")
        return real(*args)

    with mock.patch.object(reading, "_corpus_of", noted):
        corpus = _or_refused(lambda: bc.read(*example.given, **options))
    if corpus is not None:
        outcome.stages.add("read")
    return corpus


def _or_refused(job: Callable[[], Any]) -> Any:
    """What a job returns; None where it raises one of our errors, which must say something."""
    try:
        return job()
    except bc.BeyondChanceError as error:
        if not str(error).strip() or "\n" in str(error).strip():
            raise AssertionError(f"an error of no or of several lines: {error!r}") from error
        return None


def _compare_roads(
    outcome: Outcome, example: Example, options: dict[str, Any], corpus: bc.Corpus | None
) -> None:
    """Plain files are read by a fast road: the general one must lead to the same."""
    roads = {
        "conll": mock.patch.object(conll_format, "quick_corpus", return_value=None),
        "table": mock.patch.object(separated, "_QUICK_FROM", 0),
    }
    road = roads.get(outcome.target.partition("_")[0])
    if road is None:
        return
    with road:
        other = _or_refused(lambda: bc.read(*example.given, **options))
    outcome.stages.add("by both roads")
    if (corpus is None) != (other is None):
        outcome.wrong.append(f"read by one road only: {corpus!r}, {other!r}")
    elif corpus is not None and _everything(corpus) != _everything(other):
        outcome.wrong.append(f"two roads, two corpora: {corpus!r}, {other!r}")


def _everything(corpus: bc.Corpus) -> Any:
    spans = {
        (document, annotator): corpus.spans(document, annotator)
        for document in corpus.documents
        for annotator in corpus.annotators_of(document)
    }
    return spans, corpus.text_length.tolist(), corpus.texts, corpus.fields, dict(corpus.skipped)


def _score(outcome: Outcome, corpus: bc.Corpus, dice: Dice) -> None:
    result = _or_refused(lambda: bc.agreement(corpus, measure=dice.choice(MEASURES)))
    if result is None:
        return
    outcome.stages.add("scored")
    for score in (result.score, *result.by_label.values(), *result.by_pair.values()):
        for name in ("observed", "chance"):
            value = getattr(score, name)
            if not (np.isnan(value) or -1e-9 <= value <= 1 + 1e-9):
                outcome.wrong.append(f"{name} is {value}")


def _show(outcome: Outcome, example: Example, corpus: bc.Corpus | None, dice: Dice) -> None:
    """Under --no-text no text is shown, unless damage has made a name of it."""
    command = dice.choice(COMMANDS)
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    with contextlib.redirect_stdout(stream), contextlib.redirect_stderr(stream):
        code = run_command([*command, *example.given, *example.flags(), "--no-text"])
    outcome.stages.add("shown")
    stream.seek(0)
    said = stream.read()
    if code not in {0, 1, 2} or "a defect of" in said or "Traceback" in said:
        outcome.wrong.append(f"{' '.join(command)} ended with {code}: {said[-300:]}")
    if MARK in said and not has_marked_names(corpus):
        outcome.wrong.append(f"{' '.join(command)} showed text: {said[-300:]}")


def has_marked_names(corpus: bc.Corpus | None) -> bool:
    """Whether a label, an annotator, a document or a field of what was read holds the mark."""
    if corpus is None:
        return False
    values = [value for values in corpus.fields.values() for value in values]
    names = [*corpus.labels, *corpus.annotators, *corpus.documents, *corpus.fields, *values]
    return any(MARK in name for name in names)


def _try_data(outcome: Outcome, dice: Dice) -> None:
    make, take = DATA[outcome.target]
    data = make()
    for last in [*[False] * dice.choice([0, 0, 0, 1, 2]), True]:
        # Python itself refuses other arguments than there are.
        key = dice.choice(list(data) if isinstance(data, dict) else range(len(data)))
        value = retold(data[key], dice)
        if last and dice.randrange(2):  # what need not be JSON, and may have no end
            value = replaced(value, dice.choice(list(places(value))), dice.choice(_odd_objects()))
        data = replaced(data, (key,), value)
    outcome.kilobytes = 1.0
    outcome.stages.add("recognised")
    if _or_refused(lambda: take(data)) is not None:
        outcome.stages |= {"read", "scored"}


def _peak_memory() -> float:
    """What this process has needed at most so far, in megabytes."""
    return resource.getrusage(resource.RUSAGE_SELF).ru_maxrss / 1024


# --- Many ---------------------------------------------------------------------


@dataclass(slots=True)
class Tally:
    """What was tried on a target."""

    mutants: int = 0
    stages: Counter[str] = field(default_factory=Counter)
    seconds: float = 0.0
    slowest: float = 0.0
    largest: float = 0.0

    def add(self, outcome: Outcome) -> None:
        """Count one more mutant."""
        self.mutants += 1
        self.stages.update(outcome.stages)
        self.seconds += outcome.seconds
        self.slowest = max(self.slowest, outcome.seconds)
        self.largest = max(self.largest, outcome.megabytes)

    def join(self, other: Tally) -> None:
        """Count those of another process."""
        self.mutants += other.mutants
        self.stages.update(other.stages)
        self.seconds += other.seconds
        self.slowest = max(self.slowest, other.slowest)
        self.largest = max(self.largest, other.largest)


def beyond_bounds(outcome: Outcome) -> Iterator[str]:
    """Whether a mutant took more time or memory than its size allows."""
    if outcome.seconds > SECONDS + SECONDS_PER_KB * outcome.kilobytes:
        yield f"took {outcome.seconds:.1f} s for {outcome.kilobytes:.1f} kB"
    if outcome.megabytes > MEGABYTES + MEGABYTES_PER_KB * outcome.kilobytes:
        yield f"took {outcome.megabytes:.0f} MB for {outcome.kilobytes:.1f} kB"


def warm_up(folder: Path) -> None:
    """Import everything that is imported where it is used, so that no mutant pays for it."""
    for name in FILES:
        example = example_of(name)
        example.saved(folder)
        bc.agreement(bc.read(*example.given, **example.options))
        for item in folder.iterdir():
            shutil.rmtree(item) if item.is_dir() else item.unlink()
    for make, take in DATA.values():
        take(deepcopy(make()))


@contextlib.contextmanager
def own_folder() -> Iterator[Path]:
    """A folder in memory, if there is such, that is the present one meanwhile."""
    shared = "/dev/shm" if os.path.isdir("/dev/shm") else None  # noqa: S108, PTH112
    with tempfile.TemporaryDirectory(dir=shared) as name, contextlib.chdir(name):
        yield Path(name)


def attack(seed: int, numbers: tuple[int, int], seconds: float, progress: Any, found: Any) -> None:
    """Try mutant after mutant, in a process of its own.

    Parameters
    ----------
    seed : int
    numbers : (int, int)
        The number of the first mutant, and how many there are from each to the next.
    seconds : float
    progress : shared integer
        The mutant that is being tried, or `_STARTING` or `_DONE`.
    found : queue
        Takes what is wrong, and tallies.
    """
    warnings.simplefilter("ignore")
    resource.setrlimit(resource.RLIMIT_AS, (MOST_MEMORY, MOST_MEMORY))
    with own_folder() as folder:
        warm_up(folder)
        deadline, told = time.monotonic() + seconds, time.monotonic()
        tallies: defaultdict[str, Tally] = defaultdict(Tally)
        number, step = numbers
        parent = os.getppid()
        while time.monotonic() < deadline and os.getppid() == parent:
            progress.value = number
            outcome = attacked(number, seed, folder)
            tallies[outcome.target].add(outcome)
            for wrong in (*outcome.wrong, *beyond_bounds(outcome)):
                found.put((number, outcome.target, wrong))
            if time.monotonic() > told + 1:
                found.put(dict(tallies))
                tallies.clear()
                told = time.monotonic()
            number += step
        found.put(dict(tallies))
        progress.value = _DONE


_STARTING, _DONE = -2, -1


@dataclass(slots=True)
class _Worker:
    """A process that attacks, and the mutant that it was at when it was last looked at."""

    process: Any
    progress: Any
    number: int
    since: float = inf

    def stopped(self) -> str:
        """How it stopped before its end; nothing if it did not."""
        now = self.progress.value
        if now == _DONE or self.since == -inf:
            return ""
        if now not in {self.number, _STARTING} or (now == self.number and self.since == inf):
            self.number, self.since = now, time.monotonic()
        is_alive = self.process.is_alive()
        if is_alive and time.monotonic() < self.since + PATIENCE:
            return ""
        self.since = -inf  # told once
        return "hangs" if is_alive else "died"


def attack_by_all_cores(
    seed: int, seconds: float, workers: int
) -> tuple[dict[str, Tally], list[Any]]:
    """Attack in several processes, each watched: one that hangs is ended and its mutant named."""
    context = multiprocessing.get_context("spawn")
    found = context.Queue()
    end = time.monotonic() + seconds
    tallies: defaultdict[str, Tally] = defaultdict(Tally)
    wrong: list[tuple[int, str, str]] = []

    def started(first: int) -> _Worker:
        progress = context.Value("q", _STARTING)
        args = (seed, (first, workers), max(end - time.monotonic(), 0), progress, found)
        process = context.Process(target=attack, args=args, daemon=True)
        process.start()
        return _Worker(process, progress, first)

    def add(number: int, target: str, what: str) -> None:
        wrong.append((number, target, what))
        print(f"mutant {number}, {target}: {what}", file=sys.stderr)

    running = [started(first) for first in range(workers)]
    while any(worker.process.is_alive() for worker in running) or not found.empty():
        with contextlib.suppress(queue.Empty):
            item = found.get(timeout=1)
            if isinstance(item, dict):
                for name, tally in item.items():
                    tallies[name].join(tally)
            else:
                add(*item)
        for index, worker in enumerate(running):
            how = worker.stopped()
            if how:
                worker.process.kill()
                add(worker.number, TARGETS[worker.number % len(TARGETS)], how)
                if time.monotonic() < end:
                    running[index] = started(worker.number + workers)
    return dict(tallies), wrong


def shown(tallies: dict[str, Tally]) -> str:
    """What was tried, by target, and how deep the mutants got."""
    total = Tally()
    for tally in tallies.values():
        total.join(tally)
    stages = ("recognised", "read", "scored", "by both roads", "shown")
    lines = [
        f"{'':<20}{'mutants':>9}"
        + "".join(f"{name:>15}" for name in stages)
        + f"{'mean ms':>9}{'most s':>8}{'most MB':>9}"
    ]
    known = {name: tallies[name] for name in TARGETS if name in tallies}
    for name, tally in {**known, "all": total}.items():
        n = max(tally.mutants, 1)
        cells = "".join(f"{tally.stages[stage] / n:>15.1%}" for stage in stages)
        line = f"{name:<20}{tally.mutants:>9,}{cells}{1000 * tally.seconds / n:>9.1f}"
        lines.append(f"{line}{tally.slowest:>8.2f}{tally.largest:>9.0f}")
    return "\n".join(lines)


def main() -> int:
    """Attack, and print what came of it."""
    parser = argparse.ArgumentParser(description=__doc__.partition("\n")[0])
    parser.add_argument("--seconds", type=float, default=60)
    parser.add_argument("--seed", type=int, default=1)
    parser.add_argument("--workers", type=int, default=os.cpu_count())
    parser.add_argument("--only", type=int, metavar="NUMBER", help="one mutant")
    args = parser.parse_args()
    if args.only is not None:
        with own_folder() as folder:
            outcome = attacked(args.only, args.seed, folder)
        print(outcome, *outcome.wrong, sep="\n")
        return bool(outcome.wrong)
    tallies, wrong = attack_by_all_cores(args.seed, args.seconds, args.workers)
    print(shown(tallies))
    print(f"\nseed {args.seed}, {args.workers} processes, {args.seconds:g} s: {len(wrong)} wrong")
    return bool(wrong)


if __name__ == "__main__":
    sys.exit(main())
