"""Tables whose documents have rows in several places, put into order on disk by DuckDB."""

from __future__ import annotations

import json
import subprocess
import sys
from collections.abc import Iterator
from contextlib import contextmanager
from dataclasses import replace
from pathlib import Path
from tempfile import TemporaryDirectory
from typing import Any

from beyondchance.errors import DataError, FormatError
from beyondchance.installing import required
from beyondchance.io import packed
from beyondchance.io.columns import NUMBERS, our_name
from beyondchance.io.registry import Upload
from beyondchance.io.scanning import Scan, opened_files
from beyondchance.io.separated import delimiter_of, first_line
from beyondchance.io.sources import Source, is_parquet

MEMORY = "400MB"
"""What the engine may hold; more is kept on disk."""


@contextmanager
def regrouped(found: Scan) -> Iterator[tuple[Scan, list[str]]]:
    """The same rows in the order of their documents, in a file for the time being.

    And the annotators in the order in which they occurred before.

    Raises
    ------
    MissingExtraError
        If DuckDB is not installed.
    """
    required("duckdb", extra="duckdb", purpose="putting the rows of documents together")
    uploads = opened_files(found).uploads
    if any(upload.data is not None for upload in uploads):
        raise DataError(
            "a document has rows in several places of a data frame",
            expected="all rows of a document one after the other",
            remedy="sort the data frame by document",
        )
    with TemporaryDirectory(prefix="beyondchance-") as folder:
        target = Path(folder) / "rows.parquet"
        selected = [_selected(upload, source) for upload in uploads for source in upload.sources]
        rows = " UNION ALL BY NAME ".join(query for query, _ in selected)
        document = selected[0][1]
        # Names are quoted, and values are those of the files themselves.
        sorting = (
            f"COPY (SELECT * FROM ({rows}) ORDER BY {document}) "  # noqa: S608
            f"TO {_quoted(str(target))} (FORMAT parquet, ROW_GROUP_SIZE 122880)"
        )
        order = _annotators(
            _run(
                [
                    f"SET memory_limit='{MEMORY}'",
                    f"SET temp_directory={_quoted(folder)}",
                    *(_first_places(query) for query, _ in selected),
                    "SET preserve_insertion_order=false",
                    sorting,
                ],
                uploads[0].name,
            )[2 : 2 + len(selected)]
        )
        # Places of rows are those of the new file; names of columns are all kept.
        others = {name: value for name, value in found.options.items() if name != "columns"}
        yield replace(found, items=(str(target),), format="table", options=others), order


_PROGRAM = """
import json, sys, duckdb
connection = duckdb.connect()
connection.execute("SET enable_progress_bar=false")
print(json.dumps([connection.execute(query).fetchall() for query in json.load(sys.stdin)]))
"""


def _run(queries: list[str], where: str) -> list[list[Any]]:
    """The rows of queries, run in a process of their own, whose memory is free afterwards."""
    found = subprocess.run(  # noqa: S603 - this Python, with a program of our own
        [sys.executable, "-c", _PROGRAM],
        input=json.dumps(queries),
        capture_output=True,
        text=True,
        check=False,
    )
    if found.returncode:
        last = (found.stderr.strip().splitlines() or ["it was ended"])[-1]
        text = f"the rows cannot be put into the order of documents ({last})"
        raise FormatError(text, where=where)
    rows: list[list[Any]] = json.loads(found.stdout)
    return rows


def _first_places(query: str) -> str:
    """The annotators of a file, in the order in which they first occur."""
    return (
        "SELECT name, min(place) AS first FROM "  # noqa: S608 - all names are quoted
        f"(SELECT trim(annotator) AS name, row_number() OVER () AS place FROM ({query})) "
        "GROUP BY name ORDER BY first"
    )


def _annotators(files: list[list[Any]]) -> list[str]:
    """The annotators of all files, as they first occur."""
    names = (name for rows in files for name, _ in rows if name is not None)
    return list(dict.fromkeys(map(str, names)))


def _selected(upload: Upload, source: Source) -> tuple[str, str]:
    """The query for the rows of a file, and its column of documents."""
    if source.url:
        raise DataError(
            "a document has rows in several places",
            where=source.name,
            expected="all rows of a document one after the other, on an object store",
            remedy="sort the rows by document, or copy the files to this machine",
        )
    path = _quoted(str(source.path))
    if is_parquet(source):
        names = _names_of_parquet(source)
        table = f"read_parquet({path})"
    else:
        shown = packed.head(source)
        line = first_line(shown)
        if line.startswith("{"):
            names, table = [], f"read_json({path}, format='newline_delimited')"
            names = _keys(line)
        else:
            delimiter = delimiter_of(shown)
            names = [cell.strip().strip('"') for cell in line.split(delimiter)]
            table = (
                f"read_csv({path}, header=true, delim={_quoted(delimiter)}, all_varchar=true, "
                "nullstr='', quote='\"')"
            )
    columns = []
    for name in names:
        ours, own = our_name(name), _identifier(name)
        kind = "BIGINT" if ours in NUMBERS else "VARCHAR"
        columns.append(f"CAST({own} AS {kind}) AS {_identifier(ours)}")
    if "annotator" not in map(our_name, names) or upload.is_named:
        columns = [item for item in columns if not item.endswith(' AS "annotator"')]
        columns.append(f"{_quoted(upload.annotator)} AS annotator")
    query = f"SELECT {', '.join(columns)} FROM {table}"  # noqa: S608 - all names are quoted
    return query, '"document"'


def _names_of_parquet(source: Source) -> list[str]:
    parquet: Any = required("pyarrow.parquet", extra="parquet", purpose="reading Parquet")
    names: list[str] = parquet.read_schema(str(source.path)).names
    return names


def _keys(line: str) -> list[str]:
    from json import loads  # noqa: PLC0415 - for this kind of file only

    return list(loads(line))


def _quoted(text: str) -> str:
    return "'" + text.replace("'", "''") + "'"


def _identifier(name: str) -> str:
    return '"' + name.replace('"', '""') + '"'
