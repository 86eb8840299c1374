"""From the arguments of a command to results of files that are read in parts."""

from __future__ import annotations

import time
from collections.abc import Callable, Mapping, Sequence
from os import PathLike
from pathlib import Path
from typing import Any

import click

from beyondchance.annotations.corpus import Corpus
from beyondchance.cli import options as flags
from beyondchance.cli.loading import renaming
from beyondchance.cli.running import is_given, tell
from beyondchance.errors import BeyondChanceError
from beyondchance.io.reading import Assumed, Named, Naming
from beyondchance.io.scanning import Scan, Selection, expanded, opened_files
from beyondchance.io.sources import cause
from beyondchance.scoring.answers import Answer, Question
from beyondchance.scoring.engines import n_workers
from beyondchance.scoring.scans import counted, is_counted

LARGE = 2**28
"""Bytes of files from which on they are read in parts, if they can be."""
_PACKED = 4
"""How many bytes of text one of Parquet stands for, about."""
_AT_ONCE = ("null", "coefficients", "sensitivity", "split_by_difficulty", "methods")
"""Options that need all documents at once."""
_OF_READING = (
    *("pseudonyms", "annotators", "labels", "exclude_labels"),
    *("rename_annotator", "rename_label", "format"),
)
"""Options by which annotations are read, besides those of `read`."""


def scan_of(files: Sequence[Any], options: Mapping[str, Any]) -> Scan | None:
    """The files to be read in parts; None where they are read at once.

    They are read in parts where an option asks for it, where they are large, and where they hold
    what was counted before.
    """
    ctx = click.get_current_context()
    asked = [name for name in (*flags.COUNTING, "dask") if is_given(ctx, name)]
    found = _scan_if_there(files, options, is_asked=bool(asked))
    if found is None:
        if asked:
            _refuse(asked[0], "reads files; standard input is read at once")
        return None
    whole_only = next((name for name in _AT_ONCE if options.get(name)), None)
    if is_counted(found):
        # Names are replaced, and labels chosen, when annotations are read.
        asked += [name for name in (*_OF_READING, *flags.READING) if is_given(ctx, name)]
        if whole_only or asked:
            _refuse(whole_only or asked[0], "needs the annotations, and these are saved counts")
        return found
    if not asked and (whole_only is not None or not _is_large(found)):
        return None
    if whole_only is not None:
        _refuse(whole_only, f"needs all documents at once, and {_flag(asked[0])} counts parts")
    if not asked and not _can_be_cut(found):
        return None
    if options["part"] is not None and options["save_counts"] is None:
        raise click.UsageError("--part counts a share of the files; pass --save-counts as well")
    if options["part"] is not None and options["pseudonyms"]:
        _refuse("pseudonyms", "does not go with --part: each share would number annotators anew")
    return found


def _scan_if_there(
    files: Sequence[Any], options: Mapping[str, Any], *, is_asked: bool
) -> Scan | None:
    """What is not there is refused, with its reason, when it is read at once."""
    try:
        return _scan(files, options)
    except BeyondChanceError as error:
        if not is_asked:
            return None
        error.where = () if options["pseudonyms"] else error.where
        raise
    except (OSError, ValueError) as error:
        if not is_asked:
            return None
        raise click.UsageError(f"a file cannot be read ({error})") from None


def _scan(files: Sequence[Any], options: Mapping[str, Any]) -> Scan | None:
    gold = options["gold"]
    assumed = gold.item if isinstance(gold, Assumed) else None
    listed = [*([] if assumed is None else [assumed]), *files]
    paths = [item.item if isinstance(item, Named) else item for item in listed]
    if not paths or not all(isinstance(path, str | PathLike) for path in paths):
        return None
    items = [
        x for item in listed for x in ([item] if isinstance(item, Named) else expanded([item]))
    ]
    if assumed is not None:
        gold = assumed.name if isinstance(assumed, Named) else Path(assumed).stem
    reading = {name: options[name] for name in flags.READING if options[name] is not None}
    duplicates = options["duplicates"] or ("error" if options["strict"] else "skip")
    return Scan(
        tuple(items),
        options["format"],
        {**reading, "gold": gold},
        Naming(renamed=renaming("annotator", options), hides_files=options["pseudonyms"]),
        Selection(
            options["labels"],
            options["exclude_labels"],
            options["annotators"],
            renaming("label", options),
            duplicates,
        ),
    )


def _flag(name: str) -> str:
    return f"--{name.replace('_', '-')}"


def _refuse(name: str, why: str) -> None:
    raise click.UsageError(f"{_flag(name)} {why}")


def _is_large(found: Scan) -> bool:
    """Whether the files are so large that they are better read in parts."""
    size = 0
    for item in found.items:
        path = Path(item.item if isinstance(item, Named) else item)
        try:
            is_packed = path.suffix.lower() in {".parquet", ".gz", ".bz2", ".xz", ".zst"}
            size += path.stat().st_size * (_PACKED if is_packed else 1)
        except OSError:
            return False
    return size >= LARGE


def _can_be_cut(found: Scan) -> bool:
    """Whether large files have a format that is read in parts, and options that allow it."""
    try:
        files = opened_files(found)
    except BeyondChanceError:
        return False
    reading = {name for name in ("documents", "folder") if found.options.get(name) is not None}
    is_wide = found.options.get("unit") == "corpus"
    return files.is_table and not reading and not is_wide


def answers(
    found: Scan,
    questions: Sequence[Question],
    options: Mapping[str, Any],
    say: Callable[[str], None],
) -> tuple[Corpus, tuple[Answer, ...]]:
    """What was read about the files, and the answers to the questions; the first one is needed."""
    how = {name: options[name] for name in flags.COUNTING if options[name] is not None}
    n_workers(how["workers"])
    if options["dask"] is not None:
        how["executor"] = _client(options["dask"])
    how["progress"] = Progress(say)
    try:
        result = counted(found, questions, **how)
    finally:
        if "executor" in how:
            how["executor"].close()
    if result.is_empty:
        tell(f"no document begins in part {how['part']}; what is saved adds nothing to other parts")
        raise click.exceptions.Exit
    return result.corpus, result.answers


def _client(address: str) -> Any:
    from beyondchance.installing import required  # noqa: PLC0415 - for clusters only

    distributed = required("distributed", extra="dask", purpose="counting on a cluster")
    try:
        return distributed.Client(address, timeout="10s")
    except (OSError, ValueError, TypeError) as error:
        why = f" ({cause(error)})" if isinstance(error, OSError) else ""
        raise click.UsageError(f"no cluster of Dask at '{address}'{why}") from None


class Progress:
    """Says how many parts are done, and about how long the others will take."""

    def __init__(self, say: Callable[[str], None]) -> None:
        self.say = say
        self.began = time.monotonic()

    def __call__(self, n_done: int, n_parts: int) -> None:
        """Say it once more."""
        left = (time.monotonic() - self.began) / max(n_done, 1) * (n_parts - n_done)
        self.say(f"{n_done:,} of {n_parts:,} parts, {_in_words(left)} left")


def _in_words(seconds: float) -> str:
    """A time, rounded as people would.

    Examples
    --------
    >>> _in_words(4.2), _in_words(200), _in_words(9000)
    ('4 s', '3 min', '2.5 h')
    """
    if seconds < 100:
        return f"{seconds:.0f} s"
    return f"{seconds / 60:.0f} min" if seconds < 6000 else f"{seconds / 3600:.1f} h"
