"""The one table of a result for a paper, with a caption that needs no other text."""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import TYPE_CHECKING, Any

from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import PaperTable, in_list
from beyondchance.reporting.citations import PAPER as CITED
from beyondchance.reporting.columns import PAPER, Column, for_people, interval_heading, table_of
from beyondchance.reporting.paragraphs import Citation, Paragraph, Sentence
from beyondchance.settings import Settings

if TYPE_CHECKING:
    from beyondchance.results.intervals import ConfidenceInterval

_METHODS = {"bca": "BCa bootstrap", "percentile": "percentile bootstrap"}


def paper_table(
    sections: Mapping[str, Sequence[levels.Row]],
    *columns: Column,
    settings: Settings,
    said: str,
    label: str,
    gold: str | None = None,
    headings: Mapping[str, Any] = MappingProxyType({"name": ""}),
) -> PaperTable:
    """A table of scores, with the same columns in every section.

    Parameters
    ----------
    sections : mapping of str to rows
    *columns : Column
        What stands after the scores.
    settings : Settings
    said : str
        The beginning of the caption: what was compared.
    label : str
    gold : str, optional
        The gold standard: its precision and recall are shown, and its spans.
    headings : mapping of str to str
        Those that depend on the result, by key.
    """
    rows = list(chain.from_iterable(sections.values()))
    scores = levels.SCORE_COLUMNS if gold is None else levels.RATE_COLUMNS
    last = levels.SPANS if gold is None else levels.SUPPORT
    ends = [row.intervals["corrected"] for row in rows if row.intervals]
    shown = (for_people("name", _name, "name"), *scores, *columns, last)
    table = table_of(rows, shown, output=PAPER, settings=settings, **headings)
    cells = iter(table.rows)
    return PaperTable(
        headings=table.headings,
        sections={title: list(islice(cells, len(section))) for title, section in sections.items()},
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
    yield f"Chance: expected F1 of {spans}, placed {place} ", Citation(CITED), "."
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
    yield (f"Brackets: {interval_heading(settings)} confidence intervals ({how}).",)
    if any(item.caution for item in ends):
        yield ("*: the interval is a rough guide.",)
