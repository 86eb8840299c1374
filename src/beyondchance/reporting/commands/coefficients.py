"""The part of a report that shows other coefficients next to ours."""

from __future__ import annotations

from collections.abc import Mapping
from typing import Any

from beyondchance.other_coefficients.coefficients import CATALOGUE, Coefficients
from beyondchance.reporting.blocks import Block, Prose, Range, Report, Table
from beyondchance.reporting.columns import Column, Data, for_people, table_of


def report_of_coefficients(found: Coefficients) -> Report:
    """Build the report of coefficients alone."""
    return Report(
        signature=str(found.settings),
        make_blocks=lambda: [values_table(found), *remarks(found)],
        make_data=lambda: {
            name: value for name, value in found.to_dict().items() if name != "signature"
        },
        make_rows=lambda: rows_of(found),
    )


def blocks_of(found: Coefficients) -> list[Block]:
    """Return a table of all coefficients, why they differ here, and what each is."""
    return [values_table(found), *remarks(found), definitions_table(found)]


def values_table(found: Coefficients) -> Table:
    """Return a table of values, label by label where there is none for all together."""
    undefined = [name for name, item in found.values.items() if item.reason is not None]
    rows = [row for row in rows_of(found) if not _label(row) or row["measure"] in undefined]
    return table_of(rows, _VALUES, "other coefficients on the same annotations")


def remarks(found: Coefficients) -> list[Prose]:
    """Say why some are undefined, and what makes them differ."""
    undefined = [
        f"Undefined: {', '.join(names)}: {why}." for why, names in found.by_reason().items()
    ]
    return [*map(Prose, (*undefined, *found.differences))]


def definitions_table(found: Coefficients) -> Table:
    """Return a table of what each coefficient is in general, and where it comes from."""
    return table_of(map(CATALOGUE.__getitem__, found.values), _DEFINITIONS)


_ENDS = ("corrected_low", "corrected_high")


def rows_of(found: Coefficients) -> list[Data]:
    """Return the coefficients for CSV, overall and by label."""
    return [
        {
            "level": "coefficient",
            "name": f"{name} {label}".strip(),
            "measure": name,
            "observed": part.observed,
            "chance": part.expected,
            "corrected": part.value,
            "reason": part.reason,
            **dict(zip(_ENDS, part.interval or (), strict=False)),
        }
        for name, item in found.values.items()
        for label, part in {"": item, **item.by_label}.items()
    ]


def _label(row: Mapping[str, Any]) -> str:
    """Return the label of a row, after a space; nothing for all labels."""
    return str(row["name"].removeprefix(row["measure"]))


def _sampled(row: Mapping[str, Any]) -> Range | None:
    return Range(*(row[end] for end in _ENDS)) if _ENDS[0] in row else None


_VALUES = (
    for_people("coefficient", lambda row: f" {_label(row)}" if _label(row) else row["name"]),
    Column("corrected", heading="value"),
    Column("observed"),
    Column("chance", heading="expected"),
    for_people("of", lambda row: "" if _label(row) else CATALOGUE[row["measure"]].parts),
    for_people("sampled", _sampled, is_optional=True),
)
_DEFINITIONS = (
    Column("name", heading="coefficient"),
    for_people("definition", lambda entry: f"{entry.title}: {entry.definition}"),
    Column("reference"),
)
