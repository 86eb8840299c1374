"""The methods paragraph of a paper, from a result and its settings.

It says what was compared and how, with all numbers, and claims nothing that was not computed.
"""

from __future__ import annotations

from dataclasses import replace
from typing import TYPE_CHECKING, Any

from beyondchance.checks import checked_option
from beyondchance.reporting import clauses
from beyondchance.reporting.blocks import Report
from beyondchance.reporting.commands import difficulty as difficulty_report
from beyondchance.reporting.paragraphs import FORMS, Paragraph, Sentence
from beyondchance.reporting.rendering import rendered

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution
    from beyondchance.inference.standings import Standings
    from beyondchance.results.agreement import Agreement
    from beyondchance.results.difficulty import Difficulty
    from beyondchance.results.intervals import Intervals
    from beyondchance.results.ranking import Ranking
    from beyondchance.settings import Settings

_OVER_PAIRS = "over all ordered pairs of annotators, each with itself included"


def methods_of_agreement(
    result: Agreement,
    intervals: Intervals | None = None,
    *,
    null: NullDistribution | None = None,
    settings: Settings | None = None,
    digits: int = 4,
) -> Paragraph:
    """What a paper says about how an agreement was computed, with its numbers.

    Parameters
    ----------
    result : Agreement
    intervals : Intervals, optional
        Of the result.
    null : NullDistribution, optional
        Of the result.
    settings : Settings, optional
        Whose signature is given, where more was computed than the result and its intervals.
    digits : int
        Digits after the point.

    Examples
    --------
    >>> from beyondchance import agreement, example
    >>> paragraph = methods_of_agreement(agreement(example()), digits=2)
    >>> str(paragraph).partition(";")[0]
    'Agreement was computed among three annotators (3 pairs), who marked 214 spans with 3 labels \
in the 46 sentences of 12 documents that at least two of them annotated'
    >>> paragraph.keys
    ('li-etal-2024-estimating', 'beyondchance')
    """
    own, counts = result.settings, result.counts
    signed = settings or (own if intervals is None else intervals.settings)
    interval = None if intervals is None else intervals.overall["corrected"]
    return _paragraph(
        clauses.compared(result),
        clauses.measure(own, counts),
        clauses.chance(own, result.notes, is_estimated=bool(result.score.error)),
        clauses.values(result.score, interval, signed, digits),
        clauses.one_interval(interval, signed),
        clauses.random(null, digits),
        clauses.left_out(result.skipped, result.extent.noun),
        clauses.software(signed),
    )


def methods_of_ranking(
    ranking: Ranking,
    standings: Standings | None = None,
    *,
    digits: int = 4,
) -> Paragraph:
    """What a paper says about how systems were ranked, with its numbers.

    Parameters
    ----------
    ranking : Ranking
    standings : Standings, optional
        Of the ranking.
    digits : int
        Digits after the point.

    Examples
    --------
    >>> from beyondchance import example, rank
    >>> str(methods_of_ranking(rank(example(), gold="ada"))).partition(";")[0]
    'Two annotation sets were compared with a gold standard'
    """
    own, systems = ranking.settings, list(ranking.systems.values())
    signed = own if standings is None else standings.settings
    ends = {} if standings is None else standings.intervals
    intervals = {name: item["corrected"] for name, item in ends.items()}
    counts, is_estimated = systems[0].counts, any(system.score.error for system in systems)
    return _paragraph(
        clauses.ranked(ranking),
        clauses.measure(own, counts),
        clauses.chance(own, ranking.notes, is_estimated=is_estimated),
        clauses.ranked_values(ranking, intervals, signed, digits),
        clauses.all_intervals(list(intervals.values()), signed),
        clauses.tests(standings, digits),
        clauses.left_out(ranking.skipped, ranking.extent.noun),
        clauses.software(signed),
    )


def methods_of_difficulty(
    result: Difficulty,
    intervals: Intervals | None = None,
    *,
    digits: int = 4,
) -> Paragraph:
    """What a paper says about how a difficulty was computed, with its numbers.

    Parameters
    ----------
    result : Difficulty
    intervals : Intervals, optional
        Of the result.
    digits : int
        Digits after the point.

    Examples
    --------
    >>> from beyondchance import difficulty, example
    >>> str(methods_of_difficulty(difficulty(example(), gold="ada"))).partition(";")[0]
    'Difficulty was computed for a gold standard of 76 spans with 3 labels in 46 sentences \
of 12 documents'
    """
    own, counts = result.settings, result.counts
    signed = own if intervals is None else intervals.settings
    interval = None if intervals is None else intervals.overall["difficulty"]
    return _paragraph(
        clauses.with_difficulty(result),
        clauses.measure(own, counts),
        clauses.chance(
            own,
            result.notes,
            is_estimated=result.error > 0,
            of="two random annotators" if own.gold else "random annotators",
            over="" if own.gold else f", {_OVER_PAIRS}",
        ),
        clauses.difficulty(result, interval, signed, digits),
        clauses.one_interval(interval, signed),
        clauses.left_out(difficulty_report.skipped_of(result, own.gold), result.extent.noun),
        clauses.software(signed),
    )


def rendered_methods(report: Report, output: str, **given: Any) -> str:
    """The methods paragraph of a report in one of the outputs; JSON has it next to the result.

    Parameters
    ----------
    report : Report
        Of a command that has such a paragraph.
    output : {"text", "markdown", "latex", "json"}
    **given
        Passed on to `rendered`, for JSON.

    Raises
    ------
    OptionError
        For an output without room for sentences.
    """
    name = checked_option("output", output, (*FORMS, "json"))
    paragraph = report.make_methods()
    if name != "json":
        return paragraph.with_keys(name)
    both = replace(report, make_data=lambda: {**report.make_data(), "methods": str(paragraph)})
    return rendered(both, name, **given)


def _paragraph(*sentences: str | Sentence) -> Paragraph:
    """A paragraph of sentences, of which empty ones are left out."""
    written = (item if isinstance(item, tuple) else (item,) for item in sentences if item)
    return Paragraph(tuple(written))
