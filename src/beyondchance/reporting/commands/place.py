"""The report of `place`."""

from __future__ import annotations

from collections.abc import Mapping, Sequence
from dataclasses import dataclass
from typing import Any

import numpy as np

from beyondchance.reporting.blocks import Blocks, Report, Table, counted
from beyondchance.reporting.columns import SHARE, TEXT, Column, Data, Group, command, kind, many
from beyondchance.types import Floats

_LENGTH = kind(type="integer", minimum=1)


_SPAN = Group(
    "",
    [
        _LENGTH("length"),
        Column("start_probabilities", many(SHARE)),
    ],
)
PLACE = command(
    "place",
    _LENGTH("length"),
    TEXT("model"),
    Column("spans", many(_SPAN)),
    Column("coverage", many(kind(type="number", minimum=0))),
)


def place_report(
    length: int,
    spans: Sequence[int],
    starts: Sequence[Floats],
    coverage: Floats,
    *,
    model: str,
    digits: int = 4,
) -> Report:
    """Build the report of `place`; outputs show parts of it.

    Parameters
    ----------
    length : int
        Positions of the text.
    spans : sequence of int
        Lengths of the spans.
    starts : sequence of arrays
        For each span the probability of each place that it can start at.
    coverage : array
        For each position the probability that it is marked.
    model : str
        How random spans are arranged.
    digits : int
        Digits by which neighbouring rows differ, or are shown as one.
    """
    names = _names(spans)
    columns = [np.pad(column, (0, length - len(column))) for column in starts]
    table = np.column_stack([*columns, coverage])

    def blocks() -> Blocks:
        yield (
            f"{counted(len(spans), 'span')} of {', '.join(map(str, spans))} positions, placed "
            f"at random in a text of {length:,}; model {model}."
        )
        yield Table(
            ("position", *names, "marked"),
            _pooled(table, digits),
            "probability that a span starts here, and that the position is marked",
        )

    def data() -> Data:
        return {
            "length": length,
            "model": model,
            "spans": [
                {"length": span, "start_probabilities": column.tolist()}
                for span, column in zip(spans, starts, strict=True)
            ],
            "coverage": coverage.tolist(),
        }

    return Report(
        group=PLACE,
        make_blocks=blocks,
        make_data=data,
        make_rows=lambda: _Rows([*names, "marked"], table),
    )


def _names(spans: Sequence[int]) -> list[str]:
    """Return a name for each span; equal lengths are numbered."""
    names = []
    for number, span in enumerate(spans):
        again = f" ({list(spans[: number + 1]).count(span)})" if list(spans).count(span) > 1 else ""
        names.append(f"length {span}{again}")
    return names


def _pooled(table: Floats, digits: int) -> list[tuple[str | float, ...]]:
    """Join neighbours that look alike: in the middle of a text all places do."""
    shown = np.round(table, digits)
    begins = np.flatnonzero(np.any(np.diff(shown, axis=0, prepend=np.nan) != 0, axis=1))
    ends = [*(begins[1:] - 1).tolist(), len(table) - 1]
    return [
        (str(first) if first == last else f"{first} to {last}", *table[first].tolist())
        for first, last in zip(begins.tolist(), ends, strict=True)
    ]


@dataclass(frozen=True, eq=False)
class _Rows(Sequence[Mapping[str, Any]]):
    """A row for each position, made when it is asked for."""

    names: list[str]
    table: Floats

    def __len__(self) -> int:
        return len(self.table)

    def __getitem__(self, index: Any) -> Any:
        values = self.table[index].tolist()
        return {"position": index, **dict(zip(self.names, values, strict=True))}
