"""Compressed files of text, unpacked as they are read: gzip, bzip2, xz and Zstandard."""

from __future__ import annotations

import hashlib
import zlib
from collections.abc import Callable
from dataclasses import replace
from importlib import import_module
from io import BytesIO
from typing import Any

from beyondchance.errors import FormatError
from beyondchance.installing import required
from beyondchance.io.remote import open_file, open_remote
from beyondchance.io.sources import Source, too_large

_HEAD = 2**16
_AT_ONCE = 2**20


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


def unpacked(source: Source) -> Source:
    """Return a file as what it holds, which must not be much more than the file."""
    if not is_packed(source):
        return source
    most = source.most_of(len(source.data))
    with _opener(source)(BytesIO(source.data)) as file:
        data = read(file, source, most + 1)
    if len(data) > most:
        found = f"unpacks from {len(source.data):,} to more than {most:,} bytes"
        raise too_large(source.name, found, most=most)
    return replace(source, path=None, member=data, digest=source.sha256)


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
