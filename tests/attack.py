"""A standing attack: files and data, changed at random, in every format that is read.

    make attack SECONDS=600

Each mutant is one of the examples of every format, changed in one to three places, and must
be read or refused with one of our errors, within time and memory that follow its size. What
was read is scored, read again by the other road where there are two and in parts where it can
be, and shown by a command under ``--no-text``, which must not show the text. In turns, a result
is saved under pseudonyms, unpacked and searched for names; one file of a folder is damaged,
which must be refused by its name; and output goes to an input, a link to one, a folder, a full
device or nowhere, where no input may change. Mutants are numbered: the same number and seed make
the same mutant, on every machine.

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
from beyondchance.io import assembling, reading, scanning, table_files
from every_format import EXAMPLES, Annotations, Example
from mutation import MARK, MARKED, ODD, Dice, mutant, places, replaced, retold

COMMANDS = [
    ["agree", "--by", "document"],
    ["rank", "--gold", "ada"],
    ["difficulty"],
    ["convert", "--to", "table"],
    ["agree", "--output", "json"],
    ["disagreements", "--output", "json"],
]
SAVING = [
    *(["agree", "--save", f"saved.{ending}"] for ending in ("txt", "json", "csv", "md", "tex")),
    *(["disagreements", "--save", f"saved.{ending}"] for ending in ("jsonl", "html", "csv")),
    *(["agree", "--save-counts", "saved.counts", "--save", "saved.json"] for _ in range(3)),
    ["rank", "--gold", "Wexcleo", "--save-counts", "saved.counts", "--save", "saved.json"],
    ["report", "-o", "saved.html", "--resamples", "19"],
    *([name, "--save", "saved.json"] for name in ("difficulty", "diagnose", "careless")),
    ["consensus", "--to", "table", "--ties", "keep", "--with-annotators", "--save", "saved.csv"],
    *(
        ["convert", "--to", form, "--save", "saved"]
        for form in ("table", "label-studio", "prodigy")
    ),
]
"""Commands that save, all under pseudonyms."""
MEASURES = ("token", "exact", "boundary", "dice", "iou")
SHOWN_EVERY = 16
"""To give a mutant to a command takes ten times as long as to read it."""
SECONDS, SECONDS_PER_KB = 3.0, 0.05
MEGABYTES, MEGABYTES_PER_KB = 64.0, 1.0
MOST_MEMORY = 6 * 2**30
"""Of a process that attacks, shared libraries included: more is an error, not a dead machine."""
STAGES = ("by both roads", "in parts", "shown", "unnamed", "one damaged", "placed")
"""What is tried on some of the mutants only."""
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


NAME = "Wex"
"""A part of the name of every annotator, and of nothing else, where names are looked for."""
NAMED = Annotations(
    MARKED.sentences,
    {(text, f"{NAME}{who}"): spans for (text, who), spans in MARKED.spans.items()}
    | {(text, f"{NAME}cleo"): MARKED.spans[text, "ada"][1:] for text in MARKED.sentences},
)
"""The same texts, and one more annotator."""


@cache
def example_of(name: str, *, is_named: bool = False) -> Example:
    """The example that a mutant is made of."""
    return FILES[name](NAMED if is_named else MARKED)


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
            _try_files(outcome, dice, folder, turn=number // len(TARGETS) % shown_every)
        else:
            _try_data(outcome, dice)
    except Exception:
        outcome.wrong.append(traceback.format_exc())
    outcome.seconds = time.process_time() - start
    outcome.megabytes = _peak_memory() - before
    return outcome


def _try_files(outcome: Outcome, dice: Dice, folder: Path, *, turn: int) -> None:
    example = _mutant_files(example_of(outcome.target), dice)
    outcome.kilobytes = sum(map(len, example.files.values())) / 1024
    example.saved(folder)
    options = dict(example.options)
    if dice.randrange(20) == 0:
        options["strict"] = True
        example = replace(example, options=options)  # for commands, too
    try:
        corpus = _read(outcome, example, options)
        _compare_roads(outcome, example, options, corpus)
        _compare_parts(outcome, example, options)
        if corpus is not None:
            _score(outcome, corpus, dice)
        if turn == 0:
            _show(outcome, example, corpus, dice)
        elif turn == 1:
            _place_output(outcome, example, dice)
        elif turn in {2, 3}:
            _emptied(folder)
            (_hide_names if turn == 2 else _damage_one)(outcome, folder, dice)
    finally:
        _emptied(folder)


def _emptied(folder: Path) -> None:
    for item in folder.iterdir():
        shutil.rmtree(item) if item.is_dir() and not item.is_symlink() else item.unlink()


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
        "conll": mock.patch.object(assembling, "by_annotator", return_value=None),
        "table": mock.patch.object(table_files, "_QUICK_FROM", 0),
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


def _compare_parts(outcome: Outcome, example: Example, options: dict[str, Any]) -> None:
    """Files that are read in parts give the same digits, or are refused."""
    if outcome.target.partition("_")[0] not in {"conll", "hf", "table", "records"}:
        return
    small = {"AT_A_TIME": 80, "ROWS_AT_A_TIME": 2, "ROWS_OF_PIECE": 3}
    with mock.patch.multiple(scanning, **small):
        parts = _or_refused(lambda: bc.agreement(bc.scan(*example.given, **options)))
    if parts is None:
        return
    outcome.stages.add("in parts")
    whole = _or_refused(lambda: bc.agreement(bc.read(*example.given, **options)))
    if whole is None or _digits(whole) != _digits(parts):
        outcome.wrong.append(f"in parts {_digits(parts)}, at once {whole and _digits(whole)}")


def _digits(result: Any) -> Any:
    scores = {"all": result.score, **result.by_label, **result.by_pair}
    return {
        name: tuple(repr(float(getattr(score, rate))) for rate in ("observed", "chance"))
        for name, score in scores.items()
    }


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


def _run(outcome: Outcome, words: list[str], *, is_closed: bool = False) -> tuple[int, str]:
    """The exit code of a command, which must not show a defect, and all that it printed."""
    stream = io.TextIOWrapper(io.BytesIO(), "utf-8", write_through=True)
    out = None if is_closed else stream
    with contextlib.redirect_stdout(out), contextlib.redirect_stderr(stream):
        code = run_command(words)
    stream.seek(0)
    said = stream.read()
    if code not in {0, 1, 2} or "a defect of" in said or "Traceback" in said:
        outcome.wrong.append(f"{' '.join(words)} ended with {code}: {said[-300:]}")
    return code, said


def _show(outcome: Outcome, example: Example, corpus: bc.Corpus | None, dice: Dice) -> None:
    """Under --no-text no text is shown, unless damage has made a name of it."""
    command = dice.choice(COMMANDS)
    _, said = _run(outcome, [*command, *example.given, *example.flags(), "--no-text"])
    outcome.stages.add("shown")
    if MARK in said and not has_marked_names(corpus):
        outcome.wrong.append(f"{' '.join(command)} showed text: {said[-300:]}")


def _hide_names(outcome: Outcome, folder: Path, dice: Dice) -> None:
    """Under --pseudonyms neither what is saved nor what is printed has a name of an annotator."""
    example = example_of(outcome.target, is_named=True)
    (folder / "given").mkdir()
    example.saved(folder / "given")
    given = [f"given/{name}" for name in example.given]
    options = {key: _path_in("given", value, folder) for key, value in example.options.items()}
    flags = replace(example, options=options).flags()
    words = [*dice.choice(SAVING), *given, *flags, "--pseudonyms"]
    code, said = _run(outcome, words)
    shutil.rmtree(folder / "given")
    saved = [item for item in folder.rglob("*") if item.is_file()]
    outcome.stages |= {"unnamed"} if saved and not code else set()
    found = [item.name for item in saved if any(map(_is_named, unpacked(item.read_bytes())))]
    if _is_named(said.encode()):
        found.append("what was printed")
    if found or any(map(_is_named, (str(item).encode() for item in saved))):
        outcome.wrong.append(f"{' '.join(words)}: a name is in {', '.join(found)}: {said[-300:]}")


def _path_in(parent: str, value: str, folder: Path) -> str:
    return f"{parent}/{value}" if (folder / parent / value).exists() else value


def _is_named(data: bytes) -> bool:
    return NAME.lower().encode() in data.lower() or b"given/" in data


def unpacked(data: bytes) -> Iterator[bytes]:
    """The content of a file, and of the archive in it, if there is one."""
    yield data
    begin = data.find(b"PK\x03\x04")
    if begin >= 0:
        with zipfile.ZipFile(io.BytesIO(data[begin:])) as archive:
            for entry in archive.infolist():
                yield entry.filename.encode()
                yield archive.read(entry)


def _damage_one(outcome: Outcome, folder: Path, dice: Dice) -> None:
    """A file of a folder that is damaged is refused by its name, and never left out."""
    example = example_of(outcome.target, is_named=True)
    team = folder / "team"
    team.mkdir()
    example.saved(team)
    options = {key: _path_in("team", value, folder) for key, value in example.options.items()}
    before = _or_refused(lambda: bc.agreement(bc.read("team", **options)))
    if before is None:
        return
    name = dice.choice(sorted(example.files))
    data = (team / name).read_bytes()
    half = len(data) // 2
    damages = [b"\xff\xfd\x00" * 50, data[:half] + b"\xff\xfd\xff" + data[half:]]
    if name.endswith((".json", ".xml", ".xmi", ".zip", ".parquet", ".spacy", ".eaf", ".bdocjs")):
        damages.append(data[:half])
    (team / name).write_bytes(dice.choice(damages))
    outcome.stages.add("one damaged")
    try:
        after = bc.agreement(bc.read("team", **options))
    except bc.BeyondChanceError as error:
        if Path(name).stem not in str(error):
            outcome.wrong.append(f"{name} is damaged, and not named: {error}")
    else:
        if _digits(after) != _digits(before):
            outcome.wrong.append(f"{name} is damaged, and the score is another one")


def _place_output(outcome: Outcome, example: Example, dice: Dice) -> None:
    """Wherever output goes, no input changes; what cannot be written is not a success."""
    # What is not given is no input, and may be replaced.
    given = [name for name in sorted(example.files) if _is_given(name, example)]
    if not given:
        return
    Path("link").symlink_to(given[0])
    Path("hard").hardlink_to(given[0])
    places = ["link", "hard", ".", given[0], str(Path(given[0]).absolute()), "/dev/full", "new"]
    place = dice.choice([*places, given[-1], str(Path(given[0]).parent), "closed"])
    command = dice.choice(
        [
            *(["agree", "--save"], ["disagreements", "--save"], ["agree", "--save-counts"]),
            *(["convert", "--to", "table", "--save"], ["convert", "--to", "conll", "--save"]),
            ["consensus", "--ties", "keep", "--to", "table", "--save"],
        ]
    )
    is_closed = place == "closed"
    where = command[:-1] if is_closed else [*command, place]
    words = [*where, *example.given, *example.flags()]
    code, said = _run(outcome, words, is_closed=is_closed)
    outcome.stages.add("placed")
    if code == 0 and (is_closed or place == "/dev/full"):
        outcome.wrong.append(f"{' '.join(words)} ended well, and its output is lost: {said}")
    for name in given:
        if not Path(name).is_file() or Path(name).read_bytes() != example.files[name]:
            outcome.wrong.append(f"{' '.join(words)} changed {name}")


def _is_given(name: str, example: Example) -> bool:
    """Whether a file, or a folder that it is in, is an argument of commands."""
    places = [str(place) for place in (Path(name), *Path(name).parents)]
    return any(str(Path(given)) in places for given in example.given)


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
    stages = ("recognised", "read", "scored", *STAGES)
    lines = [
        f"{'':<20}{'mutants':>9}"
        + "".join(f"{name:>14}" for name in stages)
        + f"{'mean ms':>9}{'most s':>8}{'most MB':>9}"
    ]
    known = {name: tallies[name] for name in TARGETS if name in tallies}
    for name, tally in {**known, "all": total}.items():
        n = max(tally.mutants, 1)
        cells = "".join(f"{tally.stages[stage] / n:>14.1%}" for stage in stages)
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
