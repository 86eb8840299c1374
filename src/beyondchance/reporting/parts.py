"""A result in parts, finding and labelling, and in means of labels and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass, field
from operator import attrgetter
from typing import TYPE_CHECKING, Any

from beyondchance.reporting import breakdown as levels
from beyondchance.reporting.blocks import Table, counted, in_list
from beyondchance.reporting.sentences import PARTS
from beyondchance.results.averages import AVERAGES, MacroAverage
from beyondchance.results.resampling import SCORES
from beyondchance.results.score import Score
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.results.agreement import Agreement
    from beyondchance.results.labelling import Labelling


@dataclass(frozen=True, slots=True, kw_only=True)
class Part:
    """A part of the agreement, or a mean of scores, with its intervals.

    Attributes
    ----------
    name : {"finding", "labelling", "label", "document"}
        The last two are means of labels and documents.
    measure : str
    score : Score or MacroAverage
    intervals : mapping of str to ConfidenceInterval
        Empty where there are none.
    """

    name: str
    measure: str
    score: Score | MacroAverage
    intervals: levels.Scores = field(default_factory=dict)

    @property
    def shown(self) -> str:
        """The name for people."""
        if isinstance(self.score, Score):
            return PARTS[self.name]
        return f"mean of {counted(self.score.n_averaged, self.score.noun)}"

    def to_dict(self) -> dict[str, Any]:
        """The part for JSON."""
        return {**self.score.to_dict(), **levels.json_intervals(self.intervals)}

    def to_flat(self) -> dict[str, Any]:
        """The part for CSV."""
        if isinstance(self.score, Score):
            row = {"level": self.name, "name": "", "measure": self.measure}
            row |= levels.flat_score(self.score)
        else:
            row = {"level": "macro", "name": self.name, "measure": self.measure}
            row |= {name: getattr(self.score, name) for name in (*SCORES, "reason")}
        return {**row, **levels.flat_intervals(self.intervals)}


def parts_of(
    measure: str,
    result: Agreement,
    split: Labelling | None = None,
    intervals: Mapping[str, levels.Scores] | None = None,
) -> list[Part]:
    """The parts of a result, if it was split, and its means.

    Parameters
    ----------
    measure : str
    result : Agreement
    split : Labelling, optional
    intervals : mapping of str to intervals, optional
        By the name of the part.
    """
    scores: dict[str, Score | MacroAverage] = {}
    if split is not None:
        scores |= {"finding": split.finding.score, "labelling": split.labelling.score}
    scores |= {by: result.macro(by) for by in AVERAGES}
    known = intervals or {}
    return [
        Part(name=name, measure=measure, score=score, intervals=known.get(name, {}))
        for name, score in scores.items()
    ]


def parts_tables(parts: Sequence[Part], settings: Settings | None, by: str) -> list[Table]:
    """A table of both parts and both means; none of a single label or document.

    Parameters
    ----------
    parts : sequence of Part
    settings : Settings, optional
        Of the intervals.
    by : str
        What the scores are by, for people.
    """
    shown = [part for part in parts if isinstance(part.score, Score) or part.score.n_averaged > 1]
    if not shown:
        return []
    title = f"parts and means, by {by}"
    remark = left_out([part.score for part in shown if isinstance(part.score, MacroAverage)])
    columns: list[levels.Column] = [("", attrgetter("shown")), *levels.SCORE_COLUMNS]
    return [levels.table_of(shown, *columns, settings=settings, title=title, remark=remark)]


def json_parts(parts: Sequence[Part]) -> dict[str, Any]:
    """The parts for JSON, and the means under a name of their own."""
    plain = {part.name: part.to_dict() for part in parts}
    means = {by: plain.pop(by) for by in AVERAGES if by in plain}
    return {**plain, "macro": means}


def left_out(averages: Sequence[MacroAverage]) -> str:
    """How many labels and documents are not in the means, and why."""
    texts = [
        f"{counted(number, average.noun)} ({reason})"
        for average in averages
        for reason, number in average.left_out.items()
    ]
    return f"Not in the means: {in_list(texts)}." if texts else ""
