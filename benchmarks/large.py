"""A corpus of any size as a table of spans: made up, seeded, written part by part."""

from __future__ import annotations

import argparse
from collections.abc import Iterator
from pathlib import Path

import numpy as np

LABELS = ("LOC", "MISC", "ORG", "PER")
ANNOTATORS = ("anna", "ben")
AT_A_TIME = 2**17
"""Documents made at a time: what is made does not depend on how many there are in all."""
_LENGTHS = np.array([0.63, 0.28, 0.06, 0.02, 0.01])
"""How many spans have one token, two, and so on."""


def columns(first: int, n_documents: int, *, seed: int = 1) -> dict[str, np.ndarray]:
    """The rows of some documents: two annotators who mostly mark the same spans.

    Documents have 3 to 28 tokens, 14.9 on average, and 1.7 spans of each annotator. Of a hundred
    spans ben misses four, gives four another label and makes four a token longer.
    """
    rng = np.random.default_rng((seed, first))
    length = np.clip(rng.gamma(4.0, 3.8, n_documents), 3, 28).astype(np.int64)
    # Each document is cut into stretches of eight tokens, and most of them have a span.
    stretch = np.maximum(length // 8, 1)
    document = np.repeat(np.arange(n_documents), stretch)
    place = np.arange(len(document)) - np.repeat(np.cumsum(stretch) - stretch, stretch)
    size = 1 + rng.choice(5, len(document), p=_LENGTHS)
    start = place * 8 + rng.integers(0, 3, len(document))
    end = np.minimum(start + size, length[document])
    label = rng.integers(0, len(LABELS), len(document))
    marked = (rng.random(len(document)) < 0.97) & (start < end)
    draw = rng.random(len(document))
    by_ben = marked & (draw >= 0.04)
    other = np.where((draw >= 0.04) & (draw < 0.08), (label + 1) % len(LABELS), label)
    longer = np.where((draw >= 0.08) & (draw < 0.12), np.minimum(end + 1, length[document]), end)
    parts = [
        np.stack([document[keep], np.full(keep.sum(), who), start[keep], ends[keep], names[keep]])
        for who, (keep, ends, names) in enumerate(((marked, end, label), (by_ben, longer, other)))
    ]
    rows = np.concatenate(parts, axis=1)
    rows = rows[:, np.lexsort((rows[2], rows[1], rows[0]))]
    return {
        "document": rows[0] + first,
        "annotator": rows[1],
        "start": rows[2],
        "end": rows[3],
        "label": rows[4],
        "length": length[rows[0]],
    }


def tables(n_documents: int, *, seed: int = 1) -> Iterator[object]:
    """Tables of pyarrow, a part of the documents each."""
    import pyarrow as pa

    for first in range(0, n_documents, AT_A_TIME):
        rows = columns(first, min(AT_A_TIME, n_documents - first), seed=seed)
        numbers = rows.pop("document")
        names = pa.array(np.char.add("d", numbers.astype("U10")))
        coded = {
            name: pa.DictionaryArray.from_arrays(rows.pop(name).astype(np.int8), list(values))
            for name, values in (("annotator", ANNOTATORS), ("label", LABELS))
        }
        small = {name: pa.array(values.astype(np.int32)) for name, values in rows.items()}
        yield pa.table({"document": names, **coded, **small})


def write(path: Path, n_documents: int, *, seed: int = 1) -> None:
    """Write Parquet or CSV, by the ending."""
    import pyarrow.csv
    import pyarrow.parquet

    writer = None
    for table in tables(n_documents, seed=seed):
        if writer is None:
            is_csv = path.suffix == ".csv"
            kind = pyarrow.csv.CSVWriter if is_csv else pyarrow.parquet.ParquetWriter
            writer = kind(path, table.schema if not is_csv else _plain(table).schema)
        writer.write_table(_plain(table) if path.suffix == ".csv" else table)
    writer.close()


def _plain(table):
    import pyarrow as pa

    return pa.table(
        {
            name: column.cast(pa.string()) if pa.types.is_dictionary(column.type) else column
            for name, column in zip(table.column_names, table.columns, strict=True)
        }
    )


if __name__ == "__main__":
    parser = argparse.ArgumentParser(description=__doc__)
    parser.add_argument("path", type=Path)
    parser.add_argument("documents", type=int)
    given = parser.parse_args()
    write(given.path, given.documents)
