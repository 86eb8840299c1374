"""The one table of a result for a paper, with a caption that needs no other text."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from itertools import chain, islice
from types import MappingProxyType
from typing import Any

from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import PaperTable, in_list
from beyondchance.reporting.citations import PAPER as CITED
from beyondchance.reporting.columns import PAPER, Column, for_people, table_of
from beyondchance.reporting.paragraphs import Citation, Paragraph
from beyondchance.settings import Settings

_CAPTION = """\
{said}
Measures: {measures}.
{observed}
Chance: F1 expected of random spans of the same lengths (in {positions}), placed in {where} {paper}.
Corrected: share of the way from chance to full agreement.
{undefined}
{brackets}
{star}"""


def paper_table(
    sections: Mapping[str, Sequence[levels.Row]],
    *columns: Column,
    settings: Settings,
    said: str,
    label: str,
    gold: str | None = None,
    headings: Mapping[str, Any] = MappingProxyType({"name": ""}),
) -> PaperTable:
    """Make the table of scores, with the same columns in every section, and its caption.

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
    scores: tuple[Column, ...] = *levels.SCORE_COLUMNS, *columns, levels.SPANS
    observed = "Observed: F1; spans: marked by those compared."
    if gold is not None:
        scores = *levels.RATE_COLUMNS, *columns, levels.SUPPORT
        observed = "Precision, recall and F1: against the gold standard; support: its spans."
    table = table_of(
        rows,
        (for_people("name", _name, "name"), *scores),
        output=PAPER,
        settings=settings,
        **headings,
    )
    cells = iter(table.rows)
    names = dict.fromkeys(row.measure for row in rows)
    measures = [sentences.explained_measure(name, settings.positions) for name in names]
    undefined = [_name(row) for row in rows if row.score.reason is not None]
    ends = [row.intervals["corrected"] for row in rows if row.intervals]
    brackets = ""
    if ends:
        how = sentences.method_of(ends[0], settings)
        brackets = f"Brackets: {sentences.percent(settings)} confidence intervals, {how}."
    return PaperTable(
        headings=table.headings,
        sections={title: list(islice(cells, len(section))) for title, section in sections.items()},
        caption=Paragraph.of(
            _CAPTION,
            said=said,
            measures=in_list(measures),
            observed=observed,
            positions=settings.positions,
            where="the corpus" if settings.unit == "corpus" else f"each {settings.unit}",
            paper=Citation(CITED),
            undefined=f"Undefined (-): {in_list(undefined)}." if undefined else "",
            brackets=brackets,
            star="*: the interval is a rough guide." if any(x.caution for x in ends) else "",
        ),
        label=label,
    )


def _name(row: levels.Row) -> str:
    return row.measure if row.level == "all" else row.shown
