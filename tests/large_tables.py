"""Tables of spans as files of every kind, and results in all their digits, to compare both."""

from __future__ import annotations

import bz2
import csv
import gzip
import io
import json
import lzma
from collections.abc import Iterable, Sequence
from pathlib import Path
from typing import Any

import numpy as np
import pyarrow as pa
import pyarrow.parquet as pq

import beyondchance as bc

Row = dict[str, Any]
COLUMNS = ("document", "annotator", "start", "end", "label", "length", "genre", "remark", "page")
PEOPLE = ("ada", "ben", "cléo", "dora d'Or")
LABELS = ("PER", "ORG, Inc.", 'the "LOC"', "0")
REMARKS = ("", "plain", "a, b; c\td", 'he said "no"', "two\nlines", "ends in\n", "größer")


def spans_table(
    seed: int,
    n_documents: int = 30,
    n_people: int = 3,
    *,
    has_gaps: bool = False,
    in_order: bool = True,
    remarks: Sequence[str] = REMARKS,
) -> list[Row]:
    """Rows of spans, those of a document one after the other.

    The last annotator occurs late. `genre` and `remark` belong to the documents, `page` varies
    within them. With gaps, not everybody annotated every document, and some found nothing.
    """
    rng = np.random.default_rng(seed)
    numbers = np.arange(n_documents) if in_order else rng.permutation(n_documents)
    rows: list[Row] = []
    for place, number in enumerate(numbers.tolist()):
        length = int(rng.integers(1, 30))
        about = {
            "genre": ("news", "mail", "law")[int(rng.integers(3))],
            "remark": remarks[int(rng.integers(len(remarks)))] or None,
        }
        common = [_span(length, rng) for _ in range(int(rng.integers(0, 4)))]
        n_here = n_people - 1 if place < n_documents // 3 else n_people
        for name in rng.permutation(PEOPLE[:n_here]).tolist():
            if has_gaps and rng.random() < 0.2:
                continue
            own = [span for span in common if rng.random() < 0.8]
            own += [_span(length, rng)] if rng.random() < 0.4 else []
            found: list[tuple[Any, Any, Any]] = [*dict.fromkeys(own)]
            if not found and has_gaps:
                found = [(None, None, None)]
            for start, end, label in found:
                rows.append(
                    {
                        "document": f"doc {number}",
                        "annotator": name,
                        "start": start,
                        "end": end,
                        "label": label,
                        "length": length,
                        **about,
                        "page": str(int(rng.integers(3))),
                    }
                )
    return rows


def _span(length: int, rng: np.random.Generator) -> tuple[int, int, str]:
    start = int(rng.integers(0, length))
    label = LABELS[int(rng.integers(0, len(LABELS)))]
    return start, int(min(length, start + rng.integers(1, 6))), label


# --- Files ----------------------------------------------------------------------------


def arrow_table(rows: Iterable[Row]) -> pa.Table:
    """Rows as a table of pyarrow."""
    rows = list(rows)
    names = list(rows[0]) if rows else COLUMNS
    kinds = {name: pa.int64() for name in ("start", "end", "length")}
    return pa.table(
        {
            name: pa.array([row[name] for row in rows], kinds.get(name, pa.string()))
            for name in names
        }
    )


def parquet(path: Path, rows: Sequence[Row], sizes: Sequence[int] | int = 7) -> str:
    """Write row groups of these sizes, the last one repeated; 0 is an empty one."""
    table = arrow_table(rows)
    given = [sizes] if isinstance(sizes, int) else list(sizes)
    with pq.ParquetWriter(path, table.schema) as writer:
        first, place = 0, 0
        while first < len(table) or place < len(given):
            size = given[min(place, len(given) - 1)]
            if place >= len(given):
                size = max(size, 1)
            writer.write_table(table.slice(first, size), row_group_size=max(size, 1))
            first, place = first + size, place + 1
    return str(path)


def separated(
    path: Path,
    rows: Sequence[Row],
    *,
    delimiter: str = ",",
    newline: str = "\n",
    is_quoted: bool = False,
    bom: bool = False,
) -> str:
    """Write a table of text."""
    text = io.StringIO()
    quoting = csv.QUOTE_ALL if is_quoted else csv.QUOTE_MINIMAL
    writer = csv.writer(text, delimiter=delimiter, lineterminator=newline, quoting=quoting)
    names = list(rows[0]) if rows else COLUMNS
    writer.writerow(names)
    writer.writerows([row[name] for name in names] for row in rows)
    path.write_bytes((b"\xef\xbb\xbf" if bom else b"") + text.getvalue().encode())
    return str(path)


def json_lines(path: Path, rows: Sequence[Row]) -> str:
    """Write JSON Lines."""
    path.write_text("".join(json.dumps(row) + "\n" for row in rows), encoding="utf-8")
    return str(path)


def zstandard(data: bytes) -> bytes:
    """Compress by Zstandard."""
    sink = pa.BufferOutputStream()
    with pa.CompressedOutputStream(sink, "zstd") as stream:
        stream.write(data)
    return sink.getvalue().to_pybytes()


PACKERS = {"gz": gzip.compress, "bz2": bz2.compress, "xz": lzma.compress, "zst": zstandard}
"""What compresses, by the ending of the files."""


def packed(path: str, ending: str) -> str:
    """Compress a file, next to it."""
    target = Path(f"{path}.{ending}")
    target.write_bytes(PACKERS[ending](Path(path).read_bytes()))
    return str(target)


# --- Digits ---------------------------------------------------------------------------

METHODS = ("expanded", "bca", "percentile")


def plain(value: Any) -> Any:
    """Scores and intervals as text that has all digits."""
    if hasattr(value, "to_dict"):
        return repr(value.to_dict())
    if hasattr(value, "items"):
        return {str(key): plain(item) for key, item in value.items()}
    return repr(value)


def digits(
    result: Any,
    *,
    methods: Sequence[str] = METHODS,
    fields: Sequence[str] = ("genre",),
    notes: Iterable[Any] = (),
) -> dict[str, Any]:
    """All that an agreement says, to compare it with that of another way of reading.

    `notes` are those on what was read, where the result has none of them.
    """
    found: dict[str, Any] = {"score": plain(result.score)}
    for name in ("by_label", "by_pair", "by_annotator", "without", "contested"):
        found[name] = plain(getattr(result, name))
        found[f"order of {name}"] = list(map(str, getattr(result, name)))
    found["fields"] = sorted(result.counts.fields)
    for name in fields:
        if name in result.counts.fields:
            found[name] = plain(result.by_field(name))
    for by in ("label", "document"):
        found[f"macro {by}"] = plain(result.macro(by))
    for method in methods:
        how = {"method": method, "resamples": 99, "seed": 5}
        own = [name for name in fields if name in result.counts.fields]
        intervals = result.intervals(by=own, **how)
        for name in ("overall", "by_label", "by_pair", "by_annotator", "without", "by_field"):
            found[f"{method} {name}"] = plain(getattr(intervals, name))
        found[f"{method} settings"] = str(intervals.settings)
        found[f"{method} macro"] = plain(result.macro("label").intervals(**how).overall)
    found["settings"] = str(result.settings)
    found["skipped"] = {str(what): number for what, number in result.skipped.items()}
    found["notes"] = {str(note) for note in (*result.notes, *notes)}
    found["annotators"] = result.counts.annotators
    found["freedom"] = result.counts.texts_without_freedom()
    return found


def ranking_digits(ranking: Any, notes: Iterable[Any] = ()) -> dict[str, Any]:
    """All that a ranking says."""
    return {
        "systems": {
            name: {**digits(system, methods=("expanded",)), "notes": ()}
            for name, system in ranking.systems.items()
        },
        "order": list(ranking.systems),
        "ranks": [ranking.ranks(by) for by in ("observed", "corrected")],
        "gold": ranking.gold,
        "settings": str(ranking.settings),
        "skipped": {str(what): number for what, number in ranking.skipped.items()},
        "notes": {str(note) for note in (*ranking.notes, *notes)},
    }


def difficulty_digits(result: Any, notes: Iterable[Any] = ()) -> dict[str, Any]:
    """All that a difficulty says."""
    how = {"resamples": 99, "seed": 5}
    return {
        "overall": repr(result.overall),
        "hardest": {name: repr(value) for name, value in result.hardest.items()},
        "order": list(result.hardest),
        "labels": repr(dict(result.by_label)),
        "annotators": repr(dict(result.by_annotator)),
        "interval": repr(result.interval(**how)),
        "settings": str(result.settings),
        "skipped": {str(what): number for what, number in result.skipped.items()},
        "notes": {str(note) for note in (*result.notes, *notes)},
    }


def in_memory(
    *paths: Any, gold: str | None = None, methods: Sequence[str] = METHODS, **options: Any
) -> dict[str, Any]:
    """The digits of what is read at once."""
    corpus = bc.read(*paths)
    return digits(bc.agreement(corpus, gold=gold, **options), methods=methods, notes=corpus.notes)
