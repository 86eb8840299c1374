"""What the agreement of random annotations prints."""

from __future__ import annotations

from typing import TYPE_CHECKING, Any

from beyondchance.reporting import breakdown as levels, sentences
from beyondchance.reporting.blocks import Block, Prose, Report, Table, cut

if TYPE_CHECKING:
    from beyondchance.inference.null import NullDistribution

_COLUMNS = ("observed", "mean", "sd", "p_value")
_TOP = 20


def report_of_null(null: NullDistribution) -> Report:
    """The distribution, and that of documents by how likely their agreement is by chance."""
    documents = sorted(null.by_document.items(), key=lambda item: -item[1].p_value)
    defined = [item for item in documents if item[1].reason is None]

    def blocks() -> list[Block]:
        made: list[Block] = [Prose(sentences.random_agreement(null, 4))]
        if len(defined) > 1:
            shown, remark = cut(defined, _TOP)
            p_cells = [levels.p_cell(item.p_value, is_floor=item.p_is_floor) for _, item in shown]
            cells = [
                (name, item.observed, item.mean, item.sd, p_cell)
                for (name, item), p_cell in zip(shown, p_cells, strict=True)
            ]
            headings = ("document", "observed", "mean", "sd", "p (chance)")
            title = "documents, the least different from chance first"
            remarks = [remark, levels.floor_remark(p_cells, null.settings, levels.DRAWS)]
            made.append(Table(headings, cells, title, " ".join(filter(None, remarks))))
        return made

    def row(level: str, name: str, item: NullDistribution) -> dict[str, Any]:
        return {"level": level, "name": name, **{key: getattr(item, key) for key in _COLUMNS}}

    return Report(
        command="null",
        signature=str(null.settings),
        make_blocks=blocks,
        make_data=lambda: {
            "observed": null.observed,
            **levels.plain_null(null),
            "documents": {
                name: {"observed": item.observed, **levels.plain_null(item)}
                for name, item in null.by_document.items()
            },
        },
        make_rows=lambda: [
            row("all", "", null),
            *(row("document", name, item) for name, item in null.by_document.items()),
        ],
    )
