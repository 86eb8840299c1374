"""The part of a report that shows other coefficients next to ours."""

from __future__ import annotations

from typing import Any

from beyondchance.other_coefficients.catalogue import CATALOGUE
from beyondchance.other_coefficients.coefficient import Coefficient
from beyondchance.other_coefficients.coefficients import Coefficients
from beyondchance.reporting.blocks import Block, Cell, Prose, Report, Table


def report_of_coefficients(found: Coefficients) -> Report:
    """The report of coefficients alone."""
    return Report(
        command="coefficients",
        signature=str(found.settings),
        make_blocks=lambda: [values_table(found), *remarks(found)],
        make_data=lambda: {
            name: value for name, value in found.to_dict().items() if name != "signature"
        },
        make_rows=lambda: rows_of(found),
    )


def blocks_of(found: Coefficients) -> list[Block]:
    """A table of all coefficients, what each is, and why they differ here."""
    return [values_table(found), *remarks(found), definitions_table(found)]


def values_table(found: Coefficients) -> Table:
    """What each coefficient is here."""
    headings: tuple[str, ...] = ("coefficient", "value", "observed", "expected", "of", "sampled")
    rows: list[tuple[Cell, ...]] = []
    for name, item in found.values.items():
        rows.append((name, *_numbers(item), CATALOGUE[name].parts, _margin(item)))
        # Those that have no value for all labels together are shown label by label.
        parts = item.by_label if item.reason is not None else {}
        rows += [(f"  {label}", *_numbers(part), "", "") for label, part in parts.items()]
    if not any(row[-1] for row in rows):
        headings, rows = headings[:-1], [row[:-1] for row in rows]
    return Table(headings, rows, "other coefficients on the same annotations")


def remarks(found: Coefficients) -> list[Prose]:
    """Why some are undefined, and what makes them differ."""
    undefined = [
        f"Undefined: {', '.join(names)}: {why}." for why, names in found.by_reason().items()
    ]
    return [Prose(sentence) for sentence in (*undefined, *found.differences)]


def definitions_table(found: Coefficients) -> Table:
    """What each coefficient is in general, and where it comes from."""
    rows = [
        (name, f"{CATALOGUE[name].title}: {CATALOGUE[name].definition}", CATALOGUE[name].reference)
        for name in found.values
    ]
    return Table(("coefficient", "definition", "reference"), rows)


def _numbers(item: Coefficient) -> tuple[float, float, float]:
    return item.value, item.observed, item.expected


def _margin(item: Coefficient) -> str:
    if item.interval is None:
        return ""
    low, high = item.interval
    return f"{low:.3f} to {high:.3f}"


def rows_of(found: Coefficients) -> list[dict[str, Any]]:
    """The coefficients for CSV, overall and by label."""
    return [
        {
            "level": "coefficient",
            "name": f"{name} {label}".strip(),
            "measure": name,
            "observed": part.observed,
            "chance": part.expected,
            "corrected": part.value,
            "reason": part.reason,
            **dict(zip(("corrected_low", "corrected_high"), part.interval or (), strict=False)),
        }
        for name, item in found.values.items()
        for label, part in {"": item, **item.by_label}.items()
    ]
