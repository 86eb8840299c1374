"""What the app does with files: each task in a process of its own, which can be ended."""

from __future__ import annotations

import os
from collections.abc import Callable, Iterable, Mapping, Sequence
from dataclasses import dataclass, replace
from itertools import chain, count
from multiprocessing import get_context
from multiprocessing.connection import Connection
from pathlib import Path
from typing import Any
from zipfile import ZIP_DEFLATED, ZipFile

import numpy as np

from beyondchance.adjudication.adjudicated import (
    NAME,
    RESTS,
    AdjudicatedCorpus,
    adjudicated,
)
from beyondchance.adjudication.consensus import check_ties
from beyondchance.annotations.corpus import Corpus, only
from beyondchance.annotations.dates import day_of, period_of
from beyondchance.errors import BeyondChanceError, DataError, defect, lacks_memory
from beyondchance.io.reading import read_by_names
from beyondchance.io.writing import write
from beyondchance.messages import Text, Use, pieces
from beyondchance.options import ReadOptions, declared
from beyondchance.page.page import PAGE
from beyondchance.page.report import report, saving_to
from beyondchance.reporting.blocks import skipped_sentences
from beyondchance.reporting.commands.adjudicate import how_many_decided
from beyondchance.reporting.sentences import condensed
from beyondchance.scoring.api import agreement, rank
from beyondchance.scoring.engines import begin_work

Tell = Callable[[str], None]
"""Says what a task does now."""
_ONE_FILE = {"table": "gold.csv", "label-studio": "gold.json"}
"""Formats that have no folders, and the file that is written; others write into one."""
NEXT = "The tab of the app writes the gold standard."
"""What to do with decisions."""
_OTHERS = ("documents",)
"""Options of reading that a click cannot choose: their values are files."""


@dataclass(frozen=True)
class Found:
    """What was read.

    Attributes
    ----------
    corpus : Corpus
    notes : tuple of str
        What was found out, mended and left out.
    ways : tuple of Use
        Options that notes name, by which the files could be read otherwise.
    people : tuple of (str, int, int)
        The annotators, and how many documents and spans each has.
    """

    corpus: Corpus
    notes: tuple[str, ...]
    ways: tuple[Use, ...]
    people: tuple[tuple[str, int, int], ...]


class Worker:
    """A process that runs one task.

    Attributes
    ----------
    doing : str
        What it does now.
    """

    def __init__(self, task: Callable[..., Any], *given: Any, **options: Any) -> None:
        context = get_context("spawn")
        self.doing = "starting"
        self._receiver, self._sender = context.Pipe(duplex=False)
        self._process = context.Process(
            target=_run, args=(self._sender, task, given, options), daemon=True
        )
        self._is_ended = False

    def result(self) -> Any:
        """Run the task, and return or raise what it returns or raises."""
        self._process.start()
        self._sender.close()
        if self._is_ended:
            self._process.kill()
        try:
            while True:
                kind, value = self._receiver.recv()
                if kind == "result":
                    return value
                if kind == "error":
                    raise value
                self.doing = value
        except (EOFError, OSError):
            raise DataError(
                "the work was ended", remedy="if nobody did that, there was not enough memory"
            ) from None
        finally:
            self._process.join()
            self._receiver.close()

    def end(self) -> None:
        """End the task, whatever it does."""
        self._is_ended = True
        if self._process.pid is not None:
            self._process.kill()


def _run(sender: Connection, task: Callable[..., Any], given: Any, options: Any) -> None:
    """Run a task in this process, and send what it says and returns."""
    begin_work()
    try:
        found = task(lambda text: sender.send(("doing", text)), *given, **options)
        sender.send(("result", found))
    except BeyondChanceError as error:
        sender.send(("error", error))
    except Exception as error:
        short = "there is not enough memory for these files"
        sender.send(("error", DataError(short if lacks_memory(error) else defect(error))))


def read_files(tell: Tell, folder: Path, options: Mapping[str, Any]) -> Found:
    """Read the files and folders of a folder as the command line does if it is run there."""
    tell("reading")
    others = {name: value for name, value in options.items() if name != "format"}
    os.chdir(folder)  # so that messages name files as people know them
    items = sorted(path.relative_to(folder) for path in folder.iterdir())
    corpus, _ = read_by_names(items, options.get("format"), others)
    n = len(corpus.annotators)
    columns = (corpus.annotation_annotator, corpus.span_annotator)
    numbers = (np.bincount(column, minlength=n).tolist() for column in columns)
    return Found(
        corpus=corpus,
        notes=(
            *condensed(corpus.notes, PAGE),
            *skipped_sentences(corpus.skipped, corpus.extent.noun),
        ),
        ways=ways(note.text for note in corpus.notes),
        people=tuple(zip(corpus.annotators, *numbers, strict=True)),
    )


def ways(texts: Iterable[Text]) -> tuple[Use, ...]:
    """Return the options of reading, each with a value, that sentences name."""
    known = {"format", *declared(ReadOptions)} - {*_OTHERS}
    uses = (piece for text in texts for piece in pieces(text) if isinstance(piece, Use))
    return tuple(
        dict.fromkeys(
            use
            for use in uses
            if use.option in known and not use.is_name and isinstance(use.value, str | bool | int)
        )
    )


def write_report(
    tell: Tell,
    corpus: Corpus,
    *,
    names: Mapping[str, str],
    gold: str | None,
    decisions: Sequence[Any],
    place: Path,
    address: str,
) -> tuple[Corpus, str]:
    """Write the page of `report`; return the corpus it is about, and what is decided of it."""
    tell("comparing annotators")
    corpus = corpus.rename_annotators({old: new for old, new in names.items() if old != new})
    corpus = replace(corpus, gold=None) if gold is None else corpus.with_gold(gold)
    result = agreement(corpus) if gold is None else rank(corpus)
    tell("computing intervals and writing the page")
    noted = replace(corpus, notes=(*corpus.notes, *result.notes))
    page = saving_to(report(result, noted, by=_period(corpus)), address, NEXT)
    place.write_text(page.html, encoding="utf-8")
    return corpus, "" if corpus.gold else check_decisions(tell, corpus, decisions)


def _period(corpus: Corpus) -> str | None:
    """Return what agreement is shown by over time; nothing where all is of one week, or no date."""
    days = {day_of(value) for value in corpus.fields.get("date", ())}
    if corpus.annotation_date is not None:
        days.update(corpus.annotation_date.tolist())
    return "week" if len({period_of(day, "week") for day in days} - {""}) > 1 else None


def check_decisions(tell: Tell, corpus: Corpus, decisions: Sequence[Any]) -> str:
    """Say how many places are decided; refuse decisions that are about something else."""
    tell("putting decisions and votes together")
    return how_many_decided(_gold(corpus, decisions))


def _gold(corpus: Corpus, decisions: Sequence[Any], **options: Any) -> AdjudicatedCorpus:
    numbered = (f"{NAME} {number}" for number in count(2))
    free = (name for name in chain([NAME], numbered) if name not in corpus.annotators)
    return adjudicated(corpus, list(decisions), name=next(free), **options)


def write_gold(
    tell: Tell,
    corpus: Corpus,
    decisions: Sequence[Any],
    *,
    place: Path,
    to: str,
    rest: str,
    ties: str | None,
) -> tuple[Path, str]:
    """Write a gold standard; return its file, a folder as a zip archive, and what it is made of."""
    tell("putting decisions and votes together")
    gold = _gold(corpus, decisions, rest=rest, ties=ties or "keep")
    name = str(gold.gold)
    if ties is None and rest == RESTS[0]:
        check_ties(gold.n_ties, int((gold.span_annotator == len(corpus.annotators)).sum()))
    tell(f"writing {to}")
    whole = place / _ONE_FILE.get(to, f"{name}/")
    write(only(gold, [name]), f"{whole}{'/' * (to not in _ONE_FILE)}", format=to)
    files = [path for path in sorted(place.rglob("*")) if path.is_file()]
    if len(files) == 1:
        return files[0], how_many_decided(gold)
    packed = place / f"gold-{to}.zip"
    with ZipFile(packed, "w", ZIP_DEFLATED) as archive:
        for file in files:
            archive.write(file, file.relative_to(place))
    return packed, how_many_decided(gold)
