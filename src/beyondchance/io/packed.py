"""Compressed files of text, unpacked as they are read: gzip, bzip2, xz and Zstandard."""

from __future__ import annotations

import hashlib
from collections.abc import Callable, Iterator
from dataclasses import replace
from importlib import import_module
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.installing import required
from beyondchance.io.cutting import last_change, open_place, part_of, rows_of_text
from beyondchance.io.options import Reading
from beyondchance.io.remote import open_remote
from beyondchance.io.sources import Source

_HEAD = 2**16
_AT_ONCE = 2**20


def _zstandard(place: Any) -> Any:
    arrow = required("pyarrow", extra="parquet", purpose="reading Zstandard")
    file = arrow.OSFile(place) if isinstance(place, str) else arrow.PythonFile(place)
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
    """Whether a file is compressed."""
    return source.rows is None and source.head.startswith(tuple(_OPENERS))


def head(source: Source) -> Source:
    """A file whose beginning is that of what it holds, to recognise a format by."""
    if not is_packed(source):
        return source
    with _opened(source) as file:
        return replace(source, path=None, member=_read(file, _HEAD, source))


def pieces(source: Source, reading: Reading, at_a_time: int) -> Iterator[Source]:
    """Unpack a table, so many bytes at a time, or a few more, with whole documents."""
    rows = rows_of_text(head(source), reading)
    with _opened(source) as file:
        header = _read(file, len(rows.header), source)
        rest, before = b"", 0
        while True:
            data = _read(file, at_a_time, source)
            block = rest + data
            cut = last_change(block, rows) if data else len(block)
            if cut and (data or block):
                yield part_of(source, header + block[:cut], before=before)
                before += block.count(b"\n", 0, cut)
            rest = block[cut:]
            if not data:
                return


def _opened(source: Source) -> Any:
    opener = next(opener for magic, opener in _OPENERS.items() if source.head.startswith(magic))
    return opener(source.place if not source.url else open_remote(source.url))


def _read(file: Any, size: int, source: Source) -> bytes:
    """So many bytes, or as many as there are."""
    parts: list[bytes] = []
    try:
        while size and (data := file.read(min(size, _AT_ONCE))):
            parts.append(bytes(data))
            size -= len(data)
    except (OSError, EOFError, ValueError, import_module("lzma").LZMAError) as error:
        found = f"cannot be unpacked ({error})"
        raise FormatError(found, where=source.name, remedy="export it again") from None
    return b"".join(parts)


def digest(source: Source) -> str:
    """The digest of a file, without holding it."""
    if not source.place:
        return source.sha256
    digest = hashlib.sha256()
    with open_place(source.place) as file:
        while data := file.read(_AT_ONCE):
            digest.update(data)
    return digest.hexdigest()
