"""What the agreement of random annotations prints."""

from __future__ import annotations

from typing import TYPE_CHECKING

from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import Block, Prose, Report, cut
from beyondchance.reporting.columns import CSV, JSON, PEOPLE, Column, data_of, flat_of, table_of

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution

_P_VALUE = Column(
    "p_value",
    heading="p (chance)",
    cell=lambda null: levels.p_cell(null.p_value, is_floor=null.p_is_floor),
    outputs=PEOPLE | CSV,
)
_COLUMNS = (
    Column("observed"),
    *(Column(name, outputs=PEOPLE | CSV) for name in ("mean", "sd")),
    _P_VALUE,
    *(column.only(JSON) for column in levels.NULL_COLUMNS),
)
_TOP = 20


def report_of_null(null: NullDistribution) -> Report:
    """The distribution, and that of documents by how likely their agreement is by chance."""
    names = {id(item): name for name, item in null.by_document.items()}
    documents = sorted(null.by_document.values(), key=lambda item: -item.p_value)
    defined = [item for item in documents if item.reason is None]

    def blocks() -> list[Block]:
        made: list[Block] = [Prose(sentences.random_agreement(null, 4))]
        if len(defined) > 1:
            shown, remark = cut(defined, _TOP)
            floors = levels.floor_remark(_P_VALUE.cells(shown), null.settings, levels.DRAWS)
            name = Column("document", value=lambda item: names[id(item)])
            title = "documents, the least different from chance first"
            remark = " ".join(filter(None, (remark, floors)))
            made.append(table_of(shown, [name, *_COLUMNS], title, remark))
        return made

    return Report(
        command="null",
        signature=str(null.settings),
        make_blocks=blocks,
        make_data=lambda: {
            **data_of(null, _COLUMNS),
            "documents": {name: data_of(item, _COLUMNS) for name, item in null.by_document.items()},
        },
        make_rows=lambda: [
            {"level": "all", "name": "", **flat_of(null, _COLUMNS)},
            *(
                {"level": "document", "name": name, **flat_of(item, _COLUMNS)}
                for name, item in null.by_document.items()
            ),
        ],
    )
