"""The one table of a result for a paper, with a caption that needs no other text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain
from operator import attrgetter
from typing import TYPE_CHECKING

from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import PaperTable, in_list
from beyondchance.reporting.citations import PAPER
from beyondchance.reporting.paragraphs import Citation, Paragraph, Sentence
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.results.intervals import ConfidenceInterval

_METHODS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}


def paper_table(
    sections: Mapping[str, Sequence[levels.Row]],
    *columns: levels.Column,
    first: str,
    settings: Settings,
    said: str,
    label: str,
    gold: str | None = None,
) -> PaperTable:
    """A table of scores, with the same columns in every section.

    Parameters
    ----------
    sections : mapping of str to rows
    *columns : Column
        What stands after the scores.
    first : str
        The heading of the names.
    settings : Settings
    said : str
        The beginning of the caption: what was compared.
    label : str
    gold : str, optional
        The gold standard: its precision and recall are shown, and its spans.
    """
    rows = list(chain.from_iterable(sections.values()))
    scores = levels.SCORE_COLUMNS if gold is None else levels.RATE_COLUMNS
    ends = [row.intervals["corrected"] for row in rows if row.intervals]
    shown: list[levels.Column] = [(first, _name), *scores]
    if ends:
        shown.append(("", lambda row: levels.cell_of(row.intervals.get("corrected"))))
    shown += [*columns, levels.SPANS if gold is None else levels.SUPPORT]
    return PaperTable(
        headings=[heading for heading, _ in shown],
        sections={
            title: [tuple(cell(row) for _, cell in shown) for row in section]
            for title, section in sections.items()
        },
        caption=Paragraph(
            ((said,), *_columns_explained(rows, settings, gold), *_brackets(ends, settings))
        ),
        label=label,
    )


def _name(row: levels.Row) -> str:
    return row.measure if row.level == "all" else row.shown


def _columns_explained(
    rows: Iterable[levels.Row], settings: Settings, gold: str | None
) -> Iterator[Sentence]:
    """What the columns are."""
    yield ("Observed: F1." if gold is None else "Support: spans of the gold standard.",)
    spans = f"random spans of the same lengths (in {settings.positions})"
    unit = settings.unit
    place = "anywhere in the corpus" if unit == "corpus" else f"within {unit}s"
    yield f"Chance: expected F1 of {spans}, placed {place} ", Citation(PAPER), "."
    yield ("Corrected: share of the way from chance to full agreement.",)
    undefined = [_name(row) for row in rows if row.score.reason is not None]
    if undefined:
        yield (f"Undefined (-): {in_list(undefined)}.",)


def _brackets(ends: Sequence[ConfidenceInterval], settings: Settings) -> Iterator[Sentence]:
    """What the brackets are; nothing where there are none."""
    if not ends:
        return
    units = sentences.units_of(ends[0])
    how = f"Student's t from the jackknife over {units}"
    if method := _METHODS.get(settings.interval_method or ""):
        how = f"{method}, {settings.resamples:,} resamples of {units}"
    yield (f"Brackets: {levels.interval_heading(settings)} confidence intervals ({how}).",)
    if any(item.caution for item in ends):
        yield ("*: the interval is a rough guide.",)


GROUP: levels.Column = ("", attrgetter("letters"))
"""The letters of systems that do not differ significantly."""
