"""Excel workbooks, read as the CSV of a sheet."""

from __future__ import annotations

import csv
import re
from dataclasses import replace
from io import BytesIO, StringIO

from beyondchance.checks import checked_option
from beyondchance.installing import required
from beyondchance.io.columns import check_filled
from beyondchance.io.sources import Source, is_zip, members, names_in
from beyondchance.io.values import refusal
from beyondchance.messages import Use, quotes

_CELL = re.compile(rb' r="([A-Z]{1,3})([0-9]{1,7})"')
"""The place of a cell in a sheet."""


def sheet_of(source: Source, sheet: str | None = None) -> Source:
    """Return a sheet of a workbook as CSV; any other file as it is.

    `sheet` is the one to read; by default the only one that has a header.
    """
    if not is_workbook(source):
        return source
    return replace(source, path=None, member=_as_csv(source, sheet), digest=source.sha256)


def is_workbook(source: Source) -> bool:
    """Return whether a file is an Excel workbook."""
    return is_zip(source) and "xl/workbook.xml" in names_in(source)


def _as_csv(source: Source, sheet: str | None) -> bytes:
    """Return a sheet of a workbook as CSV, whose rows are numbered as those of the sheet."""
    library = required("python_calamine", extra="excel", purpose="reading Excel workbooks")
    # A cell far from all others would take the memory of all cells between them.
    for part in members(source):
        if found := _CELL.findall(part.data):
            letters = max((column for column, _ in found), key=lambda name: (len(name), name))
            width = sum(26**i * (sign - 64) for i, sign in enumerate(reversed(letters)))
            check_filled(width, max(int(row) for _, row in found), len(found), source.name)
    try:
        book = library.CalamineWorkbook.from_filelike(BytesIO(source.data))
        sheets = {
            name: book.get_sheet_by_name(name).to_python(skip_empty_area=False)
            for name in book.sheet_names
        }
    except (KeyboardInterrupt, MemoryError):
        raise
    except BaseException as error:  # it panics on some broken files, which is no Exception
        raise refusal(source.name, "not a readable workbook ({})", str(error)) from None
    if not sheets:
        raise refusal(source.name, "the workbook has no sheets", expected="a sheet with a header")
    # Remarks and empty sheets have no header.
    headed = [name for name, rows in sheets.items() if sum(map(bool, rows[:1] and rows[0])) > 1]
    if sheet is None and len(headed) > 1:
        remedy = ("pass ", Use("layer", headed[0]))
        several = "several sheets: {}"
        raise refusal(source.name, several, quotes(headed), expected="one of them", remedy=remedy)
    chosen = checked_option("layer", sheet or (headed or [*sheets])[0], sheets, are_data=True)
    text = StringIO()
    # All numbers have a point here.
    csv.writer(text).writerows(
        [int(x) if isinstance(x, float) and x.is_integer() else x for x in row]
        for row in sheets[chosen]
    )
    return text.getvalue().encode()
