"""Find the texts of annotations that are stored without them."""

from __future__ import annotations

from collections.abc import Callable, Iterable, Iterator
from operator import attrgetter

from beyondchance.io.columns import codes_of
from beyondchance.io.json_rows import rows_of
from beyondchance.io.options import Reading
from beyondchance.io.shapes import given_texts
from beyondchance.io.sources import Source, is_parquet
from beyondchance.io.span_objects import IDS, TEXTS
from beyondchance.io.table_files import read_table
from beyondchance.io.values import identified, object_of, refusal, string_of
from beyondchance.io.workbooks import sheet_of
from beyondchance.messages import Piece, Use

_TABLES = (".csv", ".tsv", ".xlsx")
_RECORDS = (".json", ".jsonl", ".ndjson")


def is_text(file: Source) -> bool:
    """Return whether a file is plain text, by its ending."""
    return file.ending == ".txt"


def files_of_texts(reading: Reading, looks: Callable[[Source], object] = is_text) -> list[Source]:
    """Return the texts that ``documents`` names: a file, those of a folder, or rows of a table."""
    given = given_texts(reading, looks)
    if len(given) != 1 or not (is_parquet(given[0]) or given[0].ending in (*_TABLES, *_RECORDS)):
        return given
    rows = _records if given[0].ending in _RECORDS else _rows
    found = rows(sheet_of(given[0]), reading)
    return [Source(name, member=text.encode("utf-8", "surrogatepass")) for name, text in found]


def by_names(files: Iterable[Source]) -> dict[str, Source]:
    """Return files by their names in full, without folders, and texts without ending."""
    known = {file.stem: file for file in files if is_text(file)}
    # What fits a name best is entered last, and counts.
    for name_of in (attrgetter("posix_path.name"), attrgetter("name")):
        known.update((name_of(file), file) for file in files)
    return known


def remedy_of(reading: Reading) -> tuple[Piece, ...]:
    """Say how to give a text that was not found, where texts were given and where none were."""
    if reading.options["documents"] is None:
        return "pass ", Use("documents", placeholder="FILE_OR_FOLDER")
    table = "a table with the columns document and text"
    return f"rename the text, or pass it alone or {table}: ", Use("documents", placeholder="FILE")


def _records(source: Source, _: Reading) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of records, which have numbers for names where they have none."""
    for where, number, row in rows_of(source):
        item = object_of(row, where, "the record")
        key = next((key for key in TEXTS if key in item), TEXTS[0])
        name = identified(item, ("document", *IDS), where) or f"{number}"
        yield name, string_of(item, key, where)


def _rows(source: Source, reading: Reading) -> Iterator[tuple[str, str]]:
    """Yield the names and texts of a table with the columns document and text."""
    table = read_table(source, reading, needed=("document", "text"))
    columns = [codes_of(table, name) for name in ("document", "text")]
    for row, codes in enumerate(zip(*(codes.tolist() for _, codes in columns), strict=True)):
        if min(codes) < 0:
            raise refusal(table.where(row), "no document or no text", expected="both")
        name, text = (names[code] for (names, _), code in zip(columns, codes, strict=True))
        yield name, text
