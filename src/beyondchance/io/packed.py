"""Compressed files of text, unpacked as they are read: gzip, bzip2, xz and Zstandard.

A sheet of an Excel workbook is unpacked to CSV, whose rows are numbered as those of the sheet.
"""

from __future__ import annotations

import csv
import hashlib
import re
import zlib
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from io import BytesIO, StringIO
from typing import Any

from beyondchance.checks import checked_option
from beyondchance.errors import FormatError
from beyondchance.installing import required
from beyondchance.io.columns import check_filled
from beyondchance.io.sources import (
    Source,
    is_zip,
    members,
    names_in,
    open_file,
    open_remote,
    too_large,
)
from beyondchance.io.values import refusal
from beyondchance.messages import Use, quotes

_HEAD = 2**16
_AT_ONCE = 2**20
_CELL = re.compile(rb' r="([A-Z]{1,3})([0-9]{1,7})"')
"""The place of a cell in a sheet."""


def _zstandard(place: Any) -> Any:
    arrow = required("pyarrow", extra="parquet", purpose="reading Zstandard")
    file = arrow.OSFile(place) if isinstance(place, str) else arrow.PythonFile(place, mode="r")
    return arrow.CompressedInputStream(file, "zstd")


def _standard(module: str) -> Callable[[Any], Any]:
    return lambda place: import_module(module).open(place, "rb")


_OPENERS: dict[bytes, Callable[[Any], Any]] = {
    b"\x1f\x8b": _standard("gzip"),
    b"BZh": _standard("bz2"),
    b"\xfd7zXZ\0": _standard("lzma"),
    b"\x28\xb5\x2f\xfd": _zstandard,
}
"""What opens a file, by its first bytes."""


def is_packed(source: Source) -> bool:
    """Return whether a file is compressed."""
    return source.rows is None and source.head.startswith(tuple(_OPENERS))


def head(source: Source) -> Source:
    """Unpack the beginning of a file, to recognise its format; return other files as they are."""
    if not is_packed(source):
        return source
    with opened(source) as file:
        return replace(source, path=None, member=read(file, source, _HEAD))


def unpacked(source: Source, sheet: str | None = None) -> Source:
    """Return a file as what it holds, which must not be much more than the file.

    `sheet` is the one to read of a workbook; by default the only one that has a header.
    """
    if is_workbook(source):
        return replace(source, path=None, member=_as_csv(source, sheet), digest=source.sha256)
    if not is_packed(source):
        return source
    most = source.most_of(len(source.data))
    with _opener(source)(BytesIO(source.data)) as file:
        data = read(file, source, most + 1)
    if len(data) > most:
        found = f"unpacks from {len(source.data):,} to more than {most:,} bytes"
        raise too_large(source.name, found, most=most)
    return replace(source, path=None, member=data, digest=source.sha256)


def is_workbook(source: Source) -> bool:
    """Return whether a file is an Excel workbook."""
    return is_zip(source) and "xl/workbook.xml" in names_in(source)


def _as_csv(source: Source, sheet: str | None) -> bytes:
    """Return a sheet of a workbook as CSV."""
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


def _opener(source: Source) -> Callable[[Any], Any]:
    return next(opener for magic, opener in _OPENERS.items() if source.head.startswith(magic))


def opened(source: Source) -> Any:
    """Open what a file holds, which may be packed, to read bytes from."""
    if not is_packed(source):
        return open_file(source.place)
    return _opener(source)(open_remote(source.url) if source.url else source.place)


def read(file: Any, source: Source, size: int) -> bytes:
    """Read so many bytes of what a source holds, or as many as there are."""
    parts: list[bytes] = []
    try:
        while size and (data := file.read(min(size, _AT_ONCE))):
            parts.append(bytes(data))
            size -= len(data)
    except (OSError, EOFError, ValueError, zlib.error, import_module("lzma").LZMAError) as error:
        found = f"cannot be unpacked ({error})"
        raise FormatError(found, where=source.name, remedy="export it again") from None
    return b"".join(parts)


def digest(source: Source) -> str:
    """Compute the digest of a file, without holding the file in memory."""
    if not source.place:
        return source.sha256
    digest = hashlib.sha256()
    with open_file(source.place) as file:
        while data := file.read(_AT_ONCE):
            digest.update(data)
    return digest.hexdigest()
