"""The report of `difficulty`."""

from __future__ import annotations

from math import isnan
from typing import TYPE_CHECKING, Any

from beyondchance.annotations.corpus import Corpus
from beyondchance.numbers import in_digits
from beyondchance.reporting import sentences as words
from beyondchance.reporting.blocks import CUT, Bars, Block, Prose, Report, Table, in_list, inputs
from beyondchance.reporting.intervals import (
    cautions,
    explained,
    flat_intervals,
    interval_heading,
    json_intervals,
    json_uncertainty,
)
from beyondchance.results.difficulty import Difficulty

if TYPE_CHECKING:
    from beyondchance.results.intervals import Intervals


def difficulty_report(
    result: Difficulty,
    corpus: Corpus,
    *,
    intervals: Intervals | None = None,
    top: int = 20,
    digits: int = 4,
) -> Report:
    """What `difficulty` has to say.

    Parameters
    ----------
    result : Difficulty
    corpus : Corpus
        What it was computed from.
    intervals : Intervals, optional
        Of the result.
    top : int
        Documents listed for people; 0 shows all.
    digits : int
        For numbers within sentences.
    """
    by_document = result.by_document
    defined = {name: value for name, value in by_document.items() if not isnan(value)}
    gold = result.settings.gold
    signed = result.settings if intervals is None else intervals.settings
    found = {} if intervals is None else intervals.overall
    notes = (*corpus.notes, *cautions(found.values()))
    who = f"the gold standard {gold}" if gold else in_list(corpus.annotators)
    blocks: list[Block] = [
        Prose(words.compared(corpus, who, by_document, result.counts.score().n_spans)),
        Prose(_meaning(result, gold, digits)),
    ]
    if intervals is not None:
        blocks.append(Prose(_interval(intervals, digits)))
    histogram = _histogram(list(defined.values()))
    if defined:
        bars = {f"{low:.1f} to {high:.1f}": number for low, high, number in histogram}
        blocks.append(Bars("documents, by difficulty", bars))
        names = sorted(defined, key=lambda name: -defined[name])
        shown = names[:top] if top else names
        cut = f"{len(shown):,} of {len(names):,}." if len(shown) < len(names) else ""
        rows = [(name, defined[name]) for name in shown]
        blocks.append(Table(("document", "difficulty"), rows, "the hardest documents first", cut))
    nothing = "documents in which nobody marked anything"
    if gold and nothing in result.skipped:
        # Others may have marked something there; only the gold standard was looked at.
        skipped = {what: n for what, n in result.skipped.items() if what != nothing}
        skipped["documents in which the gold standard marked nothing"] = result.skipped[nothing]
    else:
        skipped = dict(result.skipped)
    blocks += [Prose(text) for text in (words.skipped(skipped.items()),) if text]
    blocks.append(Prose(str(signed), quiet=True))
    data: dict[str, Any] = {
        "signature": str(signed),
        "inputs": inputs(corpus),
        "difficulty": result.overall,
        **json_intervals(found),
        **({"uncertainty": json_uncertainty(found["difficulty"], signed)} if found else {}),
        "documents": by_document,
        "histogram": [
            {"from": low, "to": high, "documents": number} for low, high, number in histogram
        ],
        "skipped": {what: number for what, number in skipped.items() if number},
    }
    rows_flat: list[dict[str, Any]] = [
        {"level": "all", "name": "", "difficulty": result.overall, **flat_intervals(found)}
    ]
    rows_flat += [
        {"level": "document", "name": name, "difficulty": value}
        for name, value in by_document.items()
    ]
    notes = (*notes, CUT) if 0 < top < len(defined) else notes
    data["notes"] = list(notes)
    return Report(
        command="difficulty", blocks=tuple(blocks), data=data, rows=rows_flat, notes=notes
    )


def _interval(intervals: Intervals, digits: int) -> str:
    """The interval, and how it was made."""
    interval = intervals.overall["difficulty"]
    how = explained(interval, list(intervals.overall.items()), intervals.settings)
    if interval.reason is not None:
        return how
    low, high = in_digits(interval.low, digits), in_digits(interval.high, digits)
    level = interval_heading(intervals.settings)
    mark = "*" if interval.caution else ""
    return f"{level} interval of the difficulty: {low} to {high}{mark}. {how}"


def _meaning(result: Difficulty, gold: str | None, digits: int) -> str:
    if isnan(result.overall):
        return "Nothing was marked, so there is no difficulty."
    chance = in_digits(1 - result.overall, digits)
    who = "two random copies of the gold standard" if gold else "random annotators like these"
    return (
        f"Difficulty {in_digits(result.overall, digits)}: {who} would agree to {chance} by luck; "
        "the higher the difficulty, the less an observed score owes to it."
    )


def _histogram(values: list[float]) -> list[tuple[float, float, int]]:
    """Documents in tenths; the last takes 1 as well."""
    places = [min(int(value * 10 + 1e-9), 9) for value in values]
    return [(i / 10, (i + 1) / 10, places.count(i)) for i in range(10)]
