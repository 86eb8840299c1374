"""Files of tagged sentences and of records, cut into stretches with the same texts."""

from __future__ import annotations

from collections.abc import Iterator, Sequence

from beyondchance.io.cutting import Piece
from beyondchance.io.options import Reading
from beyondchance.io.sources import Source


def cut_conll(
    sources: Sequence[Source], reading: Reading, at_a_time: int
) -> Iterator[tuple[Piece, ...]]:
    """Cut files of tokens and tags, one for each annotator, into stretches of documents."""
    raise NotImplementedError


def cut_records(
    sources: Sequence[Source], reading: Reading, at_a_time: int
) -> Iterator[tuple[Piece, ...]]:
    """Cut files of records, one for each annotator, into stretches of the same records."""
    raise NotImplementedError
