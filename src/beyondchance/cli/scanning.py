"""Score the files of a command, at once or in parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping
from contextlib import suppress
from dataclasses import replace
from datetime import timedelta
from os import PathLike
from pathlib import Path
from typing import TYPE_CHECKING, Any

import click

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli import options as flags
from beyondchance.cli.loading import load, naming_of, path_of, selection_of
from beyondchance.cli.running import flag_of, is_given, progress, refuse, tell
from beyondchance.errors import BeyondChanceError
from beyondchance.io.reading import Assumed, Named
from beyondchance.io.sources import PACKED, cause, holds_counts
from beyondchance.scoring.answers import (
    Answer,
    Question,
    agreement_from,
    by_measures,
    difficulty_from,
    ranking_from,
    with_origin,
)
from beyondchance.scoring.api import agreement, difficulty, rank

if TYPE_CHECKING:
    from beyondchance.io.scanning import Scan

LARGE = 2**28
"""Bytes from which files are read in parts, if they can be."""
_PACKED = 4
"""Bytes of text for each byte of a compressed file, about."""
_AT_ONCE = (
    "null",
    "coefficients",
    "split_by_difficulty",
    "methods",
    "chance",
    "anonymous",
)
"""Options that need all documents at once."""
_OF_READING = (
    *("pseudonyms", "annotators", "labels", "exclude_labels"),
    *("rename_annotator", "rename_label", "format"),
)
"""Options by which annotations are read, besides those of `read`."""


_RESULTS: Mapping[str, tuple[Callable[..., Any], Callable[[Answer], Any]]] = {
    "agreement": (agreement, agreement_from),
    "rank": (rank, ranking_from),
    "difficulty": (difficulty, difficulty_from),
}
"""What makes a result of a corpus, and of counts."""


def scored(
    command: str, options: Mapping[str, Any], *, only: bool = False
) -> tuple[Corpus, dict[str, Any]]:
    """Score the files of a command, at once or in parts.

    Parameters
    ----------
    command : {"agreement", "rank", "difficulty"}
    options : mapping
        The files and options of the command.
    only : bool
        Whether the measure asked for is enough; else those that are best known follow it.

    Returns
    -------
    corpus : Corpus
        Without documents, and without notes, which results have, if it was read in parts.
    results : dict
        By measure.
    """
    scan = _scan_of(options)
    make, make_from = _RESULTS[command]
    asked = flags.scoring_options(options)
    if scan is None:
        corpus = load(options)
        result = make(corpus, **asked)
        return corpus, {options["measure"]: result} if only else dict(result.measures)
    question = Question(command, None, {n: x for n, x in asked.items() if x is not None})
    questions = [question] if only else by_measures(question)
    from beyondchance.scoring.engines import n_workers  # noqa: PLC0415 - for large files
    from beyondchance.scoring.scans import counted  # noqa: PLC0415

    how = {name: options[name] for name in flags.COUNTING if options[name] is not None}
    n_workers(how["workers"])
    if options["dask"] is not None:
        how["executor"] = _client(options["dask"])
    how["progress"] = _progress()
    try:
        found = counted(scan, questions, **how)
    finally:
        if "executor" in how:
            how["executor"].close()
    if found.is_empty:
        nothing = f"no document begins in part {how['part']}"
        tell(f"{nothing}; what is saved adds nothing to other parts", always=True)
        raise click.exceptions.Exit
    answers = {item.question.scoring["measure"]: item for item in found.answers}
    return replace(found.corpus, notes=()), {
        name: make_from(with_origin(item, found.corpus)) for name, item in answers.items()
    }


def _scan_of(options: Mapping[str, Any]) -> Scan | None:
    """Return the files to be read in parts; None where they are read at once.

    They are read in parts where an option asks for it, where they are large, and where they hold
    what was counted before.
    """
    asked = [name for name in (*flags.COUNTING, "dask") if is_given(name)]
    whole_only = [name for name in _AT_ONCE if is_given(name)]
    if not asked and not _may_be_cut(options):
        return None
    from beyondchance.scoring.scans import is_counted  # noqa: PLC0415 - for large files

    try:
        found = _scan(options)
    except (BeyondChanceError, OSError, ValueError) as error:
        # What is not there is refused, with its reason, when it is read at once.
        if not asked:
            return None
        if not isinstance(error, BeyondChanceError):
            raise click.UsageError(f"a file cannot be read ({error})") from None
        error.where = () if options["pseudonyms"] else error.where
        raise
    if found is None:
        refuse(asked, "reads files; standard input is read at once")
        return None
    if is_counted(found):
        # Names are replaced, and labels chosen, when annotations are read.
        unread = (*whole_only, *asked, *_OF_READING, *flags.READING)
        refuse(unread, "needs the annotations, and these are saved counts")
        return found
    if not asked:
        return None if whole_only or not _can_be_cut(found) else found
    refuse(whole_only, f"needs all documents at once, and {flag_of(asked[0])} counts parts")
    if options["part"] is not None:
        if options["save_counts"] is None:
            refuse(["part"], "counts a share of the files; pass --save-counts as well")
        refuse(["pseudonyms"], "does not go with --part: each share would number annotators anew")
    return found


def _scan(options: Mapping[str, Any]) -> Scan | None:
    gold = options["gold"]
    assumed = [gold.item] if isinstance(gold, Assumed) else []
    listed = [*assumed, *options["files"]]
    if not listed or not all(isinstance(path_of(item), str | PathLike) for item in listed):
        return None
    from beyondchance.io.scanning import Scan, expanded  # noqa: PLC0415

    items = [
        x for item in listed for x in ([item] if isinstance(item, Named) else expanded([item]))
    ]
    for item in assumed:
        gold = item.name if isinstance(item, Named) else Path(item).stem
    reading = {name: options[name] for name in flags.READING if options[name] is not None}
    return Scan(
        tuple(items),
        options["format"],
        {**reading, "gold": gold},
        naming_of(options),
        selection_of(options),
    )


def _may_be_cut(options: Mapping[str, Any]) -> bool:
    """Return whether files are large, or hold what was counted before."""
    gold = options["gold"]
    items = [*options["files"], *([gold.item] if isinstance(gold, Assumed) else ())]
    size = 0
    for item in map(path_of, items):
        if not isinstance(item, str | PathLike):
            return False
        if holds_counts(item):
            return True
        path = Path(item)
        with suppress(OSError):
            within = path.rglob("*") if path.is_dir() else [path]
            size += sum(file.stat().st_size * _times(file) for file in within if file.is_file())
    return size >= LARGE


def _times(file: Path) -> int:
    """Return how many bytes of text each byte of a file is, about."""
    return _PACKED if file.suffix.lower() in {".parquet", *PACKED} else 1


def _can_be_cut(found: Scan) -> bool:
    """Return whether large files have a format that is read in parts, and options that allow it."""
    from beyondchance.io.scanning import opened_files  # noqa: PLC0415

    try:
        files = opened_files(found)
    except BeyondChanceError:
        return False
    return files.is_table and found.options.get("unit") != "corpus"


def _client(address: str) -> Any:
    from beyondchance.installing import required  # noqa: PLC0415 - for clusters only

    distributed = required("distributed", extra="dask", purpose="counting on a cluster")
    try:
        return distributed.Client(address, timeout="10s")
    except (OSError, ValueError, TypeError) as error:
        why = f" ({cause(error)})" if isinstance(error, OSError) else ""
        raise click.UsageError(f"no cluster of Dask at '{address}'{why}") from None


def _progress() -> Callable[[int, int], None]:
    """Say how many parts are done, and about how long the others will take."""
    began = time.monotonic()

    def say(n_done: int, n_parts: int) -> None:
        left = (time.monotonic() - began) / max(n_done, 1) * (n_parts - n_done)
        progress(f"{n_done:,} of {n_parts:,} parts, {timedelta(seconds=round(left))} left")

    return say
