"""Find the texts of annotations that are stored without them."""

from __future__ import annotations

from collections.abc import Iterable, Iterator
from operator import attrgetter

from beyondchance.io.columns import codes_of
from beyondchance.io.options import Reading
from beyondchance.io.shapes import given_texts
from beyondchance.io.sources import Source, is_parquet
from beyondchance.io.table_files import read_table
from beyondchance.io.values import refusal
from beyondchance.messages import Piece, Use

_TABLES = (".csv", ".tsv", ".jsonl")


def is_text(file: Source) -> bool:
    """Return whether a file is plain text, by its ending."""
    return file.ending == ".txt"


def files_of_texts(reading: Reading) -> list[Source]:
    """Return the texts that ``documents`` names: a file, those of a folder, or rows of a table."""
    given = given_texts(reading, is_text)
    is_table = len(given) == 1 and (given[0].name.lower().endswith(_TABLES) or is_parquet(given[0]))
    return list(_rows(given[0], reading)) if is_table else given


def by_names(files: Iterable[Source]) -> dict[str, Source]:
    """Return files by their names in full, without folders, and without ending."""
    known: dict[str, Source] = {}
    # What fits a name best is entered last, and counts.
    for name_of in (attrgetter("stem"), attrgetter("posix_path.name"), attrgetter("name")):
        known.update((name_of(file), file) for file in files)
    return known


def remedy_of(reading: Reading) -> tuple[Piece, ...]:
    """Say how to give a text that was not found, where texts were given and where none were."""
    if reading.options["documents"] is None:
        return "pass ", Use("documents", placeholder="FILE_OR_FOLDER")
    table = "a table with the columns document and text"
    return f"rename the text, or pass it alone or {table}: ", Use("documents", placeholder="FILE")


def _rows(source: Source, reading: Reading) -> Iterator[Source]:
    """Yield the texts of a table with the columns document and text."""
    table = read_table(source, reading, needed=("document", "text"))
    columns = [codes_of(table, name) for name in ("document", "text")]
    for row, codes in enumerate(zip(*(codes.tolist() for _, codes in columns), strict=True)):
        if min(codes) < 0:
            where = table.where(row)
            raise refusal(where, "no document or no text", expected="both")
        name, text = (names[code] for (names, _), code in zip(columns, codes, strict=True))
        yield Source(name, member=text.encode("utf-8", "surrogatepass"))
