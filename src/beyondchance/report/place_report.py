"""The report of `place`."""

from __future__ import annotations

from collections.abc import Sequence
from itertools import groupby
from typing import Any

from beyondchance.arrays import Floats
from beyondchance.report.blocks import Block, Curves, Prose, Report, Table, counted
from beyondchance.rounding import in_digits


def place_report(
    length: int,
    spans: Sequence[int],
    starts: Sequence[Floats],
    coverage: Floats,
    *,
    model: str,
    digits: int = 4,
) -> Report:
    """What `place` has to say.

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
        For the rows that are told apart.
    """
    names = _names(spans)
    columns = [[*column.tolist(), *([0.0] * (length - len(column)))] for column in starts]
    rows_by_position = list(zip(*columns, coverage.tolist(), strict=True))
    blocks: list[Block] = [
        Prose(
            f"{counted(len(spans), 'span')} of {', '.join(map(str, spans))} positions, placed at "
            f"random in a text of {length:,}; model {model}."
        ),
        Curves(
            "Probability of each start (from left to right, positions 0 to the end)",
            dict(zip(names, [column.tolist() for column in starts], strict=True)),
        ),
        Table(
            ("position", *names, "marked"),
            _pooled(rows_by_position, digits),
            "probability that a span starts here, and that the position is marked",
        ),
    ]
    data: dict[str, Any] = {
        "length": length,
        "model": model,
        "spans": [
            {"length": span, "start_probabilities": column.tolist()}
            for span, column in zip(spans, starts, strict=True)
        ],
        "coverage": coverage.tolist(),
    }
    rows = [
        {"position": position, **dict(zip([*names, "marked"], values, strict=True))}
        for position, values in enumerate(rows_by_position)
    ]
    return Report(command="place", blocks=tuple(blocks), data=data, rows=rows)


def _names(spans: Sequence[int]) -> list[str]:
    """A name for each span; equal lengths are numbered."""
    names = []
    for number, span in enumerate(spans):
        again = f" ({list(spans[: number + 1]).count(span)})" if list(spans).count(span) > 1 else ""
        names.append(f"length {span}{again}")
    return names


def _pooled(rows: Sequence[tuple[float, ...]], digits: int) -> list[tuple[str | float, ...]]:
    """One row for neighbours that look alike: in the middle of a text all places do."""
    pooled: list[tuple[str | float, ...]] = []
    shown = enumerate(rows)
    for _, group in groupby(shown, key=lambda row: [in_digits(value, digits) for value in row[1]]):
        alike = list(group)
        first, last = alike[0][0], alike[-1][0]
        where = str(first) if first == last else f"{first} to {last}"
        pooled.append((where, *alike[0][1]))
    return pooled
