"""The report of `difficulty`."""

from __future__ import annotations

from collections.abc import Mapping
from math import isnan
from types import SimpleNamespace
from typing import TYPE_CHECKING

from beyondchance.annotations.corpus import Corpus
from beyondchance.numbers import in_digits
from beyondchance.reporting import breakdown, sentences
from beyondchance.reporting.blocks import Blocks, Report, Table, in_list, methods, report_on
from beyondchance.reporting.columns import (
    COUNT,
    FIGURE,
    FILES,
    METHODS,
    NUMBER,
    TAIL,
    Column,
    Data,
    Group,
    alike,
    command,
    data_of,
    flat_of,
    made,
    many,
    named,
    table_of,
)
from beyondchance.results.difficulty import Difficulty
from beyondchance.results.score import UNMARKED
from beyondchance.tallies import unmarked

if TYPE_CHECKING:
    from beyondchance.results.intervals import Intervals


_DIFFICULTY = Column("difficulty", interval=lambda row: row.intervals.get("difficulty"))
_OVERALL = (_DIFFICULTY, breakdown.INTERVALS)
_DOCUMENT = alike(FIGURE, "name", "difficulty")
_TENTH = Group("", [*alike(NUMBER, "from", "to"), COUNT("documents")])
DIFFICULTY = command(
    "difficulty",
    *FILES,
    *made(_OVERALL),
    breakdown.UNCERTAINTY,
    Column("documents", named(FIGURE)),
    Column("histogram", many(_TENTH)),
    METHODS,
    *TAIL,
)


def difficulty_report(
    result: Difficulty,
    corpus: Corpus | None = None,
    *,
    intervals: Intervals | None = None,
    top: int = 20,
    digits: int = 4,
) -> Report:
    """Build the report of `difficulty`; outputs show parts of it.

    Parameters
    ----------
    result : Difficulty
    corpus : Corpus, optional
        What it was computed from.
    intervals : Intervals, optional
        Of the result.
    top : int
        Documents listed for people; 0 shows all.
    digits : int
        For numbers within sentences.
    """
    counts, defined = result.counts, result.hardest
    by_document = result.by_document if counts.is_by_document else defined
    histogram = [(i / 10, (i + 1) / 10, n) for i, n in enumerate(counts.histogram[:-1].tolist())]
    gold, noun = result.settings.gold, result.extent.noun
    settings = result.settings if intervals is None else intervals.settings
    ends = {} if intervals is None else intervals.overall
    overall = SimpleNamespace(difficulty=result.overall, intervals=ends)

    def blocks() -> Blocks:
        who = f"the gold standard {gold}" if gold else in_list(result.counts.annotators)
        n_spans = result.counts.score().n_spans
        yield sentences.compared(who, result.extent, n_spans, result.settings.positions)
        yield _meaning(result, gold, digits)
        if ends:
            yield table_of([overall], [_DIFFICULTY], settings=settings)
            yield sentences.explained(ends["difficulty"], list(ends.items()), settings)
        if defined:
            tenths = [(f"{low:.1f} to {high:.1f}", number) for low, high, number in histogram]
            yield Table(("difficulty", f"{noun}s"), tenths, f"{noun}s, by difficulty")
            # Not how hard they are to annotate.
            title = f"the {noun}s in which agreement by chance is least likely first"
            yield table_of(documents(defined), _DOCUMENT, title, top=top, name=noun)

    def data() -> Data:
        return {
            **data_of(overall, _OVERALL),
            "uncertainty": breakdown.uncertainty(ends["difficulty"], settings) if ends else None,
            "documents": by_document,
            "histogram": [
                dict(zip(("from", "to", "documents"), row, strict=True)) for row in histogram
            ],
        }

    def documents(found: Mapping[str, float]) -> list[Data]:
        return [
            {"level": "document", "name": name, "difficulty": value}
            for name, value in found.items()
        ]

    return report_on(
        result,
        corpus,
        *sentences.cautions(ends.values()),
        group=DIFFICULTY,
        signature=str(settings),
        skipped=skipped_of(result, gold),
        make_blocks=blocks,
        make_data=data,
        make_rows=lambda: [
            {"level": "all", "name": "", **flat_of(overall, _OVERALL)},
            *documents(by_document),
        ],
        make_methods=lambda digits=3: methods(
            "methods_of_difficulty", result, intervals, digits=digits
        ),
    )


def skipped_of(result: Difficulty, gold: str | None) -> dict[str, int]:
    """Return what was left out; of the gold standard, where only that was looked at."""
    if not gold or UNMARKED not in result.skipped:
        return dict(result.skipped)
    skipped = {what: number for what, number in result.skipped.items() if what != UNMARKED}
    nothing_by_gold = unmarked("{documents} in which the gold standard marked nothing")
    return {**skipped, nothing_by_gold: result.skipped[UNMARKED]}


def _meaning(result: Difficulty, gold: str | None, digits: int) -> str:
    if isnan(result.overall):
        return "Nothing was marked, so there is no difficulty."
    chance = in_digits(1 - result.overall, digits)
    who = "two random copies of the gold standard" if gold else "random annotators like these"
    return (
        f"Difficulty is {sentences.DIFFICULTY}, 1 minus chance. Here it is "
        f"{in_digits(result.overall, digits)}: the chance agreement of {who} is {chance}. The "
        "higher the difficulty, the less of an observed score is due to chance; it does not say "
        "how hard texts are to annotate."
    )
