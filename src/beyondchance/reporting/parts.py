"""A result in parts, finding and labelling, and in means of labels and documents."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import TYPE_CHECKING, Any

from beyondchance.reporting import breakdown as levels
from beyondchance.reporting.blocks import Table, counted, in_list
from beyondchance.reporting.columns import Column, Group
from beyondchance.reporting.sentences import PARTS
from beyondchance.results.averages import AVERAGES, MacroAverage
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.results.agreement import Agreement
    from beyondchance.results.labelling import Labelling


@dataclass(frozen=True, slots=True, kw_only=True)
class Part(levels.Row):
    """A part of the agreement, by its level, or a mean of scores of labels or documents."""

    @property
    def shown(self) -> str:
        """The name for people."""
        if isinstance(self.score, MacroAverage):
            return f"mean of {counted(self.score.n_averaged, self.score.noun)}"
        return PARTS[self.level]


MACRO = Group(
    "macro",
    [Column(by, levels.LEVELS["macro"]) for by in AVERAGES],
    "macro averages: every label, or every document, counts the same",
)


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
    known = intervals or {}
    parts = []
    if split is not None:
        scores = {"finding": split.finding.score, "labelling": split.labelling.score}
        parts = [
            Part(measure=measure, score=score, level=level, intervals=known.get(level, {}))
            for level, score in scores.items()
        ]
    for by in AVERAGES:
        mean: Any = result.macro(by)
        ends = known.get(by, {})
        parts.append(Part(measure=measure, score=mean, level="macro", name=by, intervals=ends))
    return parts


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
    shown = [part for part in parts if getattr(part.score, "n_averaged", 2) > 1]
    return [parts_table(shown, f"parts and means, by {by}", settings=settings)] if shown else []


def parts_table(rows: Sequence[levels.Row], title: str = "", **more: Any) -> Table:
    """A table of parts or means, with how many labels and documents are not in the means."""
    left_out = [
        f"{counted(number, row.score.noun)} ({reason})"
        for row in rows
        if isinstance(row.score, MacroAverage)
        for reason, number in row.score.left_out.items()
    ]
    remark = f"Not in the means: {in_list(left_out)}." if left_out else ""
    columns = (levels.NAMED, *levels.SCORE_COLUMNS)
    return levels.scored(rows, columns, title, remark, name="", **more)
