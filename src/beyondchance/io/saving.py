"""Files and folders put into place in one step: complete, or not there."""

from __future__ import annotations

import hashlib
import os
from collections.abc import Collection, Iterator, Mapping
from contextlib import contextmanager, suppress
from os import PathLike
from pathlib import Path

from beyondchance.errors import FormatError, OptionError
from beyondchance.io.sources import cause


def is_folder(path: str | PathLike[str]) -> bool:
    """Return whether a path is that of a folder, by a slash at its end or by what is there."""
    with _writing(os.fspath(path)):
        return os.fspath(path).endswith(("/", os.sep)) or Path(path).is_dir()


def check_place(path: str | PathLike[str]) -> None:
    """Refuse a place where no file can be, before work is done for it."""
    shown = os.fspath(path)
    if not shown:
        raise FormatError("the path to write to is empty", expected="the name of a file")
    if is_folder(path):
        raise FormatError("is a folder", where=shown, expected="the name of a file")
    with _writing(shown):
        if _is_stream(shown):
            return
        target = _target(shown)
        # To replace a file, one needs to be allowed to write to its folder only.
        is_open = not target.exists() or (
            target.stat().st_mode & 0o222 and os.access(target, os.W_OK)
        )
    if not is_open:
        remedy = "make it writable, or choose another name"
        raise FormatError("is a file that must not be changed", where=shown, remedy=remedy)


def check_inputs(path: str | PathLike[str], data: bytes, sources: Collection[str]) -> None:
    """Refuse to replace a file that was read, whatever it is called, unless it stays the same.

    Parameters
    ----------
    path : str or path
    data : bytes
    sources : collection of str
        The paths or SHA-256 of files that were read.
    """
    file = Path(path)
    with _writing(os.fspath(path)):
        if not sources or not file.is_file():
            return
        with file.open("rb") as content:
            found = hashlib.file_digest(content, "sha256").hexdigest()
    is_read = found in sources or any(is_same_file(name, path) for name in sources)
    if is_read and found != hashlib.sha256(data).hexdigest():
        raise replaces_input(os.fspath(path))


def is_same_file(one: str | PathLike[str], other: str | PathLike[str]) -> bool:
    """Return whether two paths lead to the same file, which exists."""
    try:
        return Path(one).is_file() and Path(one).samefile(other)
    except (OSError, ValueError):  # it is not there, or no name of a file
        return False


def replaces_input(shown: str) -> OptionError:
    """Build the refusal to replace a file that is read."""
    found = "an input, or a copy of one, would be replaced"
    return OptionError(found, where=shown, remedy="save under another name")


def save_file(path: str | PathLike[str], data: bytes, sources: Collection[str] = ()) -> None:
    """Write next to the place, then move there: a file is complete or not there.

    Parameters
    ----------
    path : str or path
    data : bytes
    sources : collection of str
        The files that the data come from, none of which is replaced, by paths or SHA-256.
    """
    check_place(path)
    check_inputs(path, data, sources)
    shown = os.fspath(path)
    with _writing(shown):
        if _is_stream(shown):
            with Path(shown).open("ab") as stream:
                stream.write(data)
            return
        target = _target(shown)
        part = _part_of(target)
        try:
            _write(part, data)
            if target.exists():
                part.chmod(target.stat().st_mode & 0o7777)
            part.replace(target)
        finally:
            with suppress(OSError):
                part.unlink(missing_ok=True)


def save_folder(path: str | PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write a folder next to the place, then move it there."""
    from shutil import rmtree  # noqa: PLC0415 - slow to load, and reports need no folder

    shown = os.fspath(path)
    with _writing(shown):
        target = _target(shown)
        if target.exists() and not (target.is_dir() and not any(target.iterdir())):
            expected = "a new folder or an empty one"
            raise FormatError("exists already", where=shown, expected=expected)
        part = _part_of(target)
        try:
            part.mkdir()
            for name, data in files.items():
                file = part / name
                file.parent.mkdir(parents=True, exist_ok=True)
                _write(file, data)
            if not target.is_dir():
                part.replace(target)
            else:  # it stays the same folder: it may be the present one
                for entry in part.iterdir():
                    entry.replace(target / entry.name)
        finally:
            rmtree(part, ignore_errors=True)


def _target(shown: str) -> Path:
    target = Path(shown).resolve()
    if not target.parent.is_dir():
        raise FormatError("its folder does not exist", where=shown, remedy="make it first")
    return target


def _part_of(target: Path) -> Path:
    return target.parent / f".{os.urandom(8).hex()}.part"


def _write(file: Path, data: bytes) -> None:
    """Make a file that is on the disk, and not only on its way, before it gets its name."""
    # On some file systems, names that differ in case only are the same: never over another.
    with file.open("xb") as opened:
        opened.write(data)
        opened.flush()
        os.fsync(opened.fileno())


def _is_stream(shown: str) -> bool:
    """Return whether a path is a device or a pipe, which must stay what it is.

    ``/dev/stdout`` is one even where it leads to a file, which has other lines perhaps.
    """
    place = Path(shown)
    is_own = str(place.absolute()).startswith(("/dev/std", "/dev/fd/", "/proc/"))
    return place.exists() and (is_own or not place.is_file())


@contextmanager
def _writing(shown: str) -> Iterator[None]:
    """Say of a place that it cannot be written to, and why."""
    try:
        yield
    except OSError as error:
        raise FormatError(f"cannot be written ({cause(error)})", where=shown) from None
    except (ValueError, RuntimeError) as error:  # a NUL, or links that lead to one another
        if isinstance(error, FormatError):
            raise
        found = "cannot be written (it is no name of a file)"
        raise FormatError(found, where=shown) from None
