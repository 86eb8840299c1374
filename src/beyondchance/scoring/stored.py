"""Write what was counted to files, and read it back."""

from __future__ import annotations

from collections.abc import Collection
from os import PathLike
from pathlib import Path
from typing import Any, TypeVar

from beyondchance.annotations.corpus import Corpus, Input
from beyondchance.errors import FormatError
from beyondchance.io.copies import Copies
from beyondchance.io.options import Whole
from beyondchance.io.reading import Naming
from beyondchance.io.saving import save_file
from beyondchance.io.scanning import Seen
from beyondchance.io.sources import Source, too_large
from beyondchance.messages import Note, Quote, Use, pieces
from beyondchance.results.packing import packed, unpacked
from beyondchance.scoring.answers import Answer, Question, Scored
from beyondchance.scoring.marks import Placed

_KINDS = (
    *(Answer, Copies, Corpus, Input, Naming, Note, Placed, Question, Quote, Scored, Seen, Use),
    Whole,
)
"""What can be in a file, besides counts."""

_Value = TypeVar("_Value")


def save_stored(path: str | PathLike[str], value: Any, sources: Collection[str] = ()) -> None:
    """Write a value to a file, completely or not at all, and to none of the sources."""
    save_file(path, packed(value), sources)


def stored(path: str | PathLike[str], kind: type[_Value]) -> _Value:
    """Read a file back.

    Raises
    ------
    FormatError
        If it is not whole, of another version, or something else.
    """
    source = Source(str(path), path=Path(path))

    def check_size(size: int) -> None:
        if size > source.most:
            said = f"unpacks to {size:,} bytes"
            raise too_large(source.name, said, most=source.most, size=size)

    try:
        return unpacked(source.data, kind, _KINDS, check_size)
    except FormatError as error:
        error.where = pieces(source.name)
        raise
