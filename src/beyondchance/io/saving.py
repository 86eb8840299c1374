"""Files and folders put into place in one step: whole, or not there."""

from __future__ import annotations

import os
from collections.abc import Mapping
from contextlib import suppress
from os import PathLike
from pathlib import Path

from beyondchance.errors import FormatError


def is_folder(path: str | PathLike[str]) -> bool:
    """Whether a path says that it is a folder, or is one."""
    return os.fspath(path).endswith(("/", os.sep)) or Path(path).is_dir()


def check_place(path: str | PathLike[str]) -> None:
    """Refuse a place where no file can be, before work is done for it."""
    if is_folder(path):
        raise FormatError(f"{os.fspath(path)}: is a folder; expected the name of a file")
    _target(os.fspath(path))


def save_file(path: str | PathLike[str], data: bytes) -> None:
    """Write beside the place, then move there: a file is whole or not there."""
    check_place(path)
    shown = os.fspath(path)
    target = _target(shown)
    part = _beside(target)
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
    """Write a folder beside the place, then move it there."""
    from shutil import rmtree  # noqa: PLC0415 - slow to load, and reports need no folder

    shown = os.fspath(path)
    target = _target(shown)
    if target.exists() and not (target.is_dir() and not any(target.iterdir())):
        raise FormatError(f"{shown}: exists already; expected a new folder or an empty one")
    part = _beside(target)
    try:
        part.mkdir()
        for name, data in files.items():
            file = part / name
            file.parent.mkdir(parents=True, exist_ok=True)
            # Some file systems do not tell names apart that differ in case only.
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
        raise FormatError(f"{shown}: its folder does not exist; make it first")
    return target


def _beside(target: Path) -> Path:
    return target.parent / f".{os.urandom(8).hex()}.part"


def _not_written(shown: str, error: OSError) -> FormatError:
    return FormatError(f"{shown}: cannot be written ({(error.strerror or str(error)).lower()})")
