"""Zip archives that others packed: read member by member, with limits."""

from __future__ import annotations

import io
import zipfile
from pathlib import PurePosixPath

from beyondchance.errors import FormatError
from beyondchance.io import sources
from beyondchance.io.sources import Source
from beyondchance.io.values import quoting
from beyondchance.messages import Quote


def members(archive: Source) -> list[Source]:
    """The files of a zip archive, sorted by name."""
    try:
        with zipfile.ZipFile(io.BytesIO(archive.data)) as opened_archive:
            entries = [entry for entry in opened_archive.infolist() if not entry.is_dir()]
            left = sources.MOST_BYTES
            for entry in entries:
                _check_member(archive.name, entry)
                left -= entry.file_size
            if left < 0:
                found = f"unpacks to more than {sources.MOST_BYTES:,} bytes"
                raise FormatError(found, where=archive.name, remedy="split it")  # noqa: TRY301
            return [
                Source(
                    f"{archive.name}/{entry.filename}", member=_member_bytes(opened_archive, entry)
                )
                for entry in sorted(entries, key=lambda entry: entry.filename)
            ]
    except FormatError:
        raise
    except Exception as error:  # damaged archives make their unpackers raise anything
        raise FormatError(f"not a readable zip archive ({error})", where=archive.name) from None


def _member_bytes(archive: zipfile.ZipFile, entry: zipfile.ZipInfo) -> bytes:
    """Read no more than the archive's directory says the member holds."""
    with archive.open(entry) as file:
        data = file.read(entry.file_size + 1)
    if len(data) != entry.file_size:
        raise zipfile.BadZipFile(f"{entry.filename} is not as long as the archive says")
    return data


def _check_member(archive: str, entry: zipfile.ZipInfo) -> None:
    parts = PurePosixPath(entry.filename.replace("\\", "/")).parts
    if ".." in parts or entry.filename.startswith(("/", "\\")) or ":" in entry.filename[:3]:
        found = quoting("member {} points outside the archive", entry.filename)
        raise FormatError(*found, where=archive, expected="plain names")
    most = max(2**20, sources.MOST_EXPANSION * entry.compress_size)
    if entry.file_size > most:
        sizes = f" unpacks to {entry.file_size:,} bytes from {entry.compress_size:,}"
        found = ("member ", Quote(entry.filename), sizes)
        raise FormatError(*found, where=archive, expected=f"at most {most:,}")
