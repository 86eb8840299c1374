"""What was counted of each part, kept on disk, so that a run that was interrupted goes on.

Each part is a file that is whole or not there. Its name is a digest of everything that its content
follows from: the files by size and time of change, the options, the questions and the version.
"""

from __future__ import annotations

import hashlib
import json
from collections.abc import Callable
from contextlib import suppress
from dataclasses import dataclass
from os import PathLike, fspath
from pathlib import Path
from typing import Any

from beyondchance.errors import BeyondChanceError, FormatError
from beyondchance.io.remote import state_of
from beyondchance.io.scanning import opened_files
from beyondchance.io.sources import Source
from beyondchance.version import __version__


@dataclass(frozen=True)
class Keeping:
    """Where parts are kept.

    Attributes
    ----------
    folder : str
        Empty, if they are not kept.
    is_own : bool
        Whether the folder is removed in the end.
    key : str
        The digest of what all parts of a run have in common.
    hides_names : bool
        Whether no name from the files may be kept.
    """

    folder: str = ""
    is_own: bool = False
    key: str = ""
    hides_names: bool = False

    @staticmethod
    def of(
        save_counts: str | PathLike[str] | None, keep_parts: str | PathLike[str] | None
    ) -> Keeping:
        """A folder that was asked for, or one next to the file for all counts."""
        if keep_parts is not None:
            return Keeping(fspath(keep_parts))
        if save_counts is not None:
            return Keeping(f"{fspath(save_counts)}.parts", is_own=True)
        return Keeping()

    def of_job(self, job: Any) -> Keeping:
        """The same for a job."""
        if not self.folder:
            return self
        try:
            Path(self.folder).mkdir(parents=True, exist_ok=True)
        except OSError as error:
            found = f"cannot be made ({error.strerror})"
            raise FormatError(found, where=self.folder, expected="a folder for parts") from None
        files = [
            [source.name, _state(source)]
            for upload in opened_files(job.scan).uploads
            for source in upload.sources
        ]
        scan = job.scan
        asked = (scan.items, scan.format, scan.options, scan.naming, scan.selection)
        known = [__version__, files, repr(asked), repr(job.questions)]
        known += [repr(job.whole), repr(job.with_hashes)]
        digest = hashlib.sha256(json.dumps(known).encode()).hexdigest()
        return Keeping(self.folder, self.is_own, digest, scan.naming.hides_files)

    def done(self) -> None:
        """Remove the parts, because what they add up to is saved."""
        if self.is_own:
            folder = Path(self.folder)
            for file in folder.glob(f"*-{'?' * 32}.counts"):
                file.unlink()
            with suppress(OSError):  # it holds other files
                folder.rmdir()


def _state(source: Source) -> str:
    """What changes when a file does."""
    if source.url:
        return state_of(source.url)
    if source.path is None:
        return ""
    known = source.path.stat()
    return f"{known.st_size} {known.st_mtime_ns}"


class Kept:
    """Counts a part, or reads what was counted of it before."""

    def __init__(self, count: Callable[[Any], Any], keeping: Keeping) -> None:
        self.count = count
        self.keeping = keeping

    def __call__(self, part: Any) -> Any:
        """What a part gives, or why it cannot be counted."""
        from beyondchance.scoring.scans import Counted  # noqa: PLC0415 - which imports this module
        from beyondchance.scoring.stored import save_stored, stored  # noqa: PLC0415 - likewise

        digest = hashlib.sha256(f"{self.keeping.key} {part!r}".encode()).hexdigest()
        file = Path(self.keeping.folder) / f"{part.number:06}-{digest[:32]}.counts"
        if file.exists():
            with suppress(FormatError):  # a part that is damaged is counted again
                return stored(file, Counted)
        try:
            found = self.count(part)
        except BeyondChanceError as error:
            # The others are counted all the same, and kept.
            return error
        # What is new has names from the files, and makes all parts be counted again.
        if not (self.keeping.hides_names and found.news.annotators):
            save_stored(file, found)
        return found


def kept_or_counted(count: Callable[[Any], Any], keeping: Keeping) -> Callable[[Any], Any]:
    """A function that counts parts, and keeps what it counted if there is a place for it."""
    return Kept(count, keeping) if keeping.folder else count
