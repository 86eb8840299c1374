"""The report of `difficulty`."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any, NamedTuple

from beyondchance.annotations.corpus import Corpus
from beyondchance.numbers import in_digits
from beyondchance.reporting import breakdown, sentences
from beyondchance.reporting.blocks import CUT, Bars, Block, Prose, Report, Table, cut, in_list
from beyondchance.reporting.columns import (
    COUNT,
    FIGURE,
    FILES,
    METHODS,
    NUMBER,
    TAIL,
    Column,
    Group,
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
    from beyondchance.reporting.paragraphs import Paragraph
    from beyondchance.results.intervals import Intervals


class _Overall(NamedTuple):
    """The difficulty of all documents."""

    difficulty: float
    intervals: breakdown.Scores


_DIFFICULTY = Column("difficulty", interval=lambda row: row.intervals.get("difficulty"))
_OVERALL = (_DIFFICULTY, breakdown.INTERVALS)
_TENTH = Group("", [Column("from", NUMBER), Column("to", NUMBER), Column("documents", COUNT)])
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
    """The report of `difficulty`, of which an output shows a part.

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
    overall = _Overall(result.overall, ends)

    def blocks() -> list[Block]:
        who = f"the gold standard {gold}" if gold else in_list(result.counts.annotators)
        n_spans = result.counts.score().n_spans
        compared = sentences.compared(who, result.extent, n_spans, result.settings.positions)
        parts: list[Block] = [Prose(compared), Prose(_meaning(result, gold, digits))]
        if ends:
            level = breakdown.interval_heading(settings)
            parts.append(table_of([overall], [_DIFFICULTY], level=level))
            how = sentences.explained(ends["difficulty"], list(ends.items()), settings)
            parts.append(Prose(how))
        if defined:
            bars = {f"{low:.1f} to {high:.1f}": number for low, high, number in histogram}
            parts.append(Bars(f"{noun}s, by difficulty", bars))
            shown, remark = cut([*defined.items()], top)
            title = sentences.least_likely(noun)
            parts.append(Table((noun, "difficulty"), shown, title, remark))
        return parts

    def methods() -> Paragraph:
        from beyondchance.reporting.methods import methods_of_difficulty  # noqa: PLC0415 - rarely wanted

        return methods_of_difficulty(result, intervals, digits=digits)

    def data() -> dict[str, Any]:
        how = {"uncertainty": breakdown.uncertainty(ends["difficulty"], settings)} if ends else {}
        tenths = [dict(zip(("from", "to", "documents"), row, strict=True)) for row in histogram]
        whole = data_of(overall, _OVERALL)
        return {**whole, **how, "documents": by_document, "histogram": tenths}

    def rows() -> list[dict[str, Any]]:
        return [
            {"level": "all", "name": "", **flat_of(overall, _OVERALL)},
            *(
                {"level": "document", "name": name, "difficulty": value}
                for name, value in by_document.items()
            ),
        ]

    return Report(
        command="difficulty",
        group=DIFFICULTY,
        corpus=corpus,
        signature=str(settings),
        skipped=skipped_of(result, gold),
        notes=(
            *(result.notes if corpus is None else corpus.notes),
            *sentences.cautions(ends.values()),
            *([CUT] if 0 < top < len(defined) else []),
        ),
        make_blocks=blocks,
        make_data=data,
        make_rows=rows,
        make_methods=methods,
        noun=noun,
    )


def skipped_of(result: Difficulty, gold: str | None) -> dict[str, int]:
    """What was left out; of the gold standard, where only that was looked at."""
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
