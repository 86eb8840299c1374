"""Files and folders put into place in one step: complete, or not there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path

from beyondchance.errors import FormatError
from beyondchance.io.sources import cause


def is_folder(path: str | PathLike[str]) -> bool:
    """Whether a path says that it is a folder, or is one."""
    return os.fspath(path).endswith(("/", os.sep)) or Path(path).is_dir()


def check_place(path: str | PathLike[str]) -> None:
    """Refuse a place where no file can be, before work is done for it."""
    if is_folder(path):
        raise FormatError("is a folder", where=os.fspath(path), expected="the name of a file")
    _target(os.fspath(path))


def save_file(path: str | PathLike[str], data: bytes) -> None:
    """Write next to the place, then move there: a file is complete or not there."""
    check_place(path)
    shown = os.fspath(path)
    target = _target(shown)
    part = _part_of(target)
    try:
        if target.exists() and not target.is_file():
            target.write_bytes(data)  # a device or a pipe, which must stay what it is
            return
        part.write_bytes(data)
        if target.exists():
            part.chmod(target.stat().st_mode & 0o7777)
        part.replace(target)
    except OSError as error:
        raise _not_written(shown, error) from None
    finally:
        with suppress(OSError):
            part.unlink(missing_ok=True)


def save_folder(path: str | PathLike[str], files: Mapping[str, bytes]) -> None:
    """Write a folder next to the place, then move it there."""
    from shutil import rmtree  # noqa: PLC0415 - slow to load, and reports need no folder

    shown = os.fspath(path)
    target = _target(shown)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise FormatError("exists already", where=shown, expected="a new folder or an empty one")
    part = _part_of(target)
    try:
        part.mkdir()
        for name, data in files.items():
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            # On some file systems, names that differ in case only are the same.
            with file.open("xb") as opened:
                opened.write(data)
        if target.is_dir():
            target.rmdir()
        part.replace(target)
    except OSError as error:
        raise _not_written(shown, error) from None
    finally:
        rmtree(part, ignore_errors=True)


def _target(shown: str) -> Path:
    target = Path(shown).resolve()
    if not target.parent.is_dir():
        raise FormatError("its folder does not exist", where=shown, remedy="make it first")
    return target


def _part_of(target: Path) -> Path:
    return target.parent / f".{os.urandom(8).hex()}.part"


def _not_written(shown: str, error: OSError) -> FormatError:
    return FormatError(f"cannot be written ({cause(error)})", where=shown)
