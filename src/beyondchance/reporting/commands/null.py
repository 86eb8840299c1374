"""What the agreement of random annotations prints."""

from __future__ import annotations

from collections.abc import Iterator
from typing import TYPE_CHECKING

from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import Blocks, Report
from beyondchance.reporting.columns import (
    CSV,
    FIGURE,
    JSON,
    PEOPLE,
    Column,
    Data,
    alike,
    data_of,
    flat_of,
    table_of,
)

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution

_COLUMNS = (
    Column("observed"),
    *alike(FIGURE, "mean", "sd", outputs=PEOPLE | CSV),
    Column("p_value", heading="p (chance)", cell=levels.p_cell, outputs=PEOPLE | CSV),
    *(column.only(JSON) for column in levels.NULL_COLUMNS),
)
_TOP = 20


def report_of_null(null: NullDistribution) -> Report:
    """Build the report of random agreement, overall and by document."""
    names = {id(item): name for name, item in null.by_document.items()}
    documents = sorted(null.by_document.values(), key=lambda item: -item.p_value)
    defined = [item for item in documents if item.reason is None]

    def blocks() -> Blocks:
        yield sentences.random_agreement(null, 4)
        if len(defined) > 1:
            name = Column("document", value=lambda item: names[id(item)])
            title = "documents, the least different from chance first"
            yield table_of(defined, [name, *_COLUMNS], title, top=_TOP)

    def rows() -> Iterator[Data]:
        yield {"level": "all", "name": "", **flat_of(null, _COLUMNS)}
        for name, item in null.by_document.items():
            yield {"level": "document", "name": name, **flat_of(item, _COLUMNS)}

    return Report(
        signature=str(null.settings),
        make_blocks=blocks,
        make_data=lambda: {
            **data_of(null, _COLUMNS),
            "documents": {name: data_of(item, _COLUMNS) for name, item in null.by_document.items()},
        },
        make_rows=rows,
    )
