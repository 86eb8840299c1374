"""What the functions that score are given: a corpus, or whatever one can be made of."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import replace
from typing import TYPE_CHECKING, Any, get_type_hints

from beyondchance.annotations.corpus import Corpus, check_in_one_piece
from beyondchance.checks import checked_gold
from beyondchance.errors import DataError, OptionError
from beyondchance.messages import Use
from beyondchance.options import (
    CorpusOptions,
    CountingOptions,
    ReadOptions,
    ScoredOptions,
    ScoringOptions,
    check_known,
    checked_options,
    declared,
)
from beyondchance.scoring.answers import Answer, Question, with_origin
from beyondchance.values import internal

if TYPE_CHECKING:
    from beyondchance.io.scanning import Scan


def corpus_of(
    data: Any,
    others: Sequence[Any] = (),
    options: Mapping[str, Any] | None = None,
    *,
    is_first_gold: bool = False,
    in_one_piece: bool = True,
) -> Corpus:
    """Return a corpus as it is, or build one from anything else (see `beyondchance.corpus`).

    Its spans must be `in_one_piece`, unless the caller knows what discontinuous ones are.
    """
    if is_scan(data):
        raise OptionError(
            "this needs all texts at once, and a Scan is read in parts",
            remedy="pass the files, or what read() gives",
        )
    if isinstance(data, Corpus) and options and options.get("gold") is not None:
        checked_gold(options["gold"])
        reading = {name: value for name, value in options.items() if name != "gold"}
        data = data.with_gold(str(options["gold"]))
        return corpus_of(data, others, reading, in_one_piece=in_one_piece)
    if isinstance(data, Corpus) and not others and not options:
        found = data
    else:
        from beyondchance.io.door import corpus_from  # noqa: PLC0415 - most calls have a corpus

        found = corpus_from(data, others, options or {}, is_first_gold=is_first_gold)
    if in_one_piece:
        check_in_one_piece(found)
    return found


@internal
class Scanned:
    """Files that are read in parts, and what is asked of them.

    Attributes
    ----------
    scan : Scan
    gold : str, optional
    scoring : mapping
    how : mapping
        Of `CountingOptions`, and ``executor`` and ``progress``.
    """

    scan: Scan
    gold: str | None
    scoring: Mapping[str, Any]
    how: Mapping[str, Any]

    def answer(self, command: str) -> Answer:
        """Answer the question of a command, with what was read about the files."""
        from beyondchance.scoring.scans import counted  # noqa: PLC0415 - for large data

        question = Question(command, self.gold, self.scoring)
        found = counted(self.scan, [question], **self.how)
        if found.is_empty:
            raise DataError(
                f"no document begins in part {self.how['part']}",
                remedy="add its counts to those of the other parts, if they are saved",
            )
        return with_origin(found.answers[0], found.corpus)


def is_scan(data: Any) -> bool:
    """Return whether files are to be read in parts, without loading what reads them."""
    return type(data).__name__ == "Scan" and type(data).__module__.endswith("io.scanning")


def _in_groups(options: Mapping[str, Any]) -> tuple[dict[str, Any], dict[str, Any], dict[str, Any]]:
    """Tell apart the options of scoring, those of counting files that are given, and others."""
    groups = declared(ScoringOptions), {*declared(CountingOptions), "executor", "progress"}
    scoring, counting = ({n: v for n, v in options.items() if n in group} for group in groups)
    rest = {n: v for n, v in options.items() if n not in scoring and n not in counting}
    return scoring, {n: v for n, v in counting.items() if v is not None}, rest


def scan_of(data: Any, others: Sequence[Any], options: Mapping[str, Any]) -> Scanned | None:
    """Return files to be read in parts, with what is asked of them; None for other data."""
    if not is_scan(data):
        return None
    scoring, how, reading = _in_groups(options)
    if others:
        raise OptionError("a second annotation does not go with a Scan", expected="all in one")
    gold = reading.pop("gold", None)
    for name in (name for name, value in reading.items() if value is not None):
        if name not in get_type_hints(CorpusOptions):
            checked_options(ReadOptions, {name: None})  # says which ones there are
        remedy = ("pass ", Use(name, is_name=True), " to scan")
        raise OptionError(Use(name, is_name=True), " does not go with a Scan", remedy=remedy)
    checked_gold(gold)
    scan = data
    if gold is not None:
        scan = replace(data, options={**data.options, "gold": gold})
    return Scanned(scan, None if gold is None else str(gold), scoring, how)


def scored_data(
    data: Any,
    others: Sequence[Any],
    options: Mapping[str, Any],
    *,
    is_first_gold: bool = False,
    in_one_piece: bool = True,
) -> tuple[Corpus, str | None, dict[str, Any]]:
    """Return the corpus, the gold standard that is asked for, and the options of scoring.

    The options may be those of scoring and those by which a corpus is made. Where there is no
    other gold standard, `is_first_gold` makes the first say what is scored.
    """
    check_known(options, ScoredOptions)
    scoring, how, reading = _in_groups(options)
    if how and not is_scan(data):
        raise OptionError(
            Use(next(iter(how)), is_name=True),
            " is for files that are read in parts",
            remedy="pass scan(...) in the place of the files",
        )
    gold = reading.pop("gold", None)
    checked_gold(gold)
    if isinstance(data, Corpus):
        if gold is not None and reading.get("anonymous"):
            data, gold = data.with_gold(str(gold)), "gold"
        corpus = corpus_of(data, others, reading, in_one_piece=in_one_piece)
        return corpus, None if gold is None else corpus.with_gold(str(gold)).gold, scoring
    if gold is not None:
        reading["gold"] = gold
    is_first_gold &= bool(others)
    corpus = corpus_of(
        data, others, reading, is_first_gold=is_first_gold, in_one_piece=in_one_piece
    )
    return corpus, None if gold is None else corpus.gold, scoring
