"""Texts that recur in a file without names, which may be the work of several annotators."""

from __future__ import annotations

from collections.abc import Sequence
from dataclasses import dataclass

import numpy as np

from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.hashing import Hashes, hashed
from beyondchance.errors import DataError
from beyondchance.io.options import Reading
from beyondchance.io.registry import Format, Upload
from beyondchance.messages import Use
from beyondchance.types import Ints

_MOST = 2**16
"""Distinct texts that are kept: those with the smallest hashes, whatever the pieces."""
_UNNAMED = ("conll", "conllu", "hf", "records", "spacy")
"""Formats whose texts need no names."""
USE = Use("repeated", "annotators")


@dataclass(frozen=True, eq=False)
class Copies:
    """How often texts occur; adds.

    Attributes
    ----------
    hashes : array of int, shape (texts,)
        Of distinct texts, ascending.
    times, size : array of int, shape (texts,)
        How often each occurs, and how many positions all of its copies have.
    """

    hashes: Hashes
    times: Ints
    size: Ints

    def problem(self, where: str) -> DataError | None:
        """Build the question whose the copies are, if they have most of the words.

        Some sentences recur in any corpus.
        """
        recurs = self.times > 1
        if 2 * self.size[recurs].sum() <= self.size.sum():
            return None
        looked_at = " looked at" if len(self.hashes) == _MOST else ""
        return DataError(
            f"{self.times[recurs].sum():,} of {self.times.sum():,} texts{looked_at} occur more "
            f"than once, up to {self.times.max()} times",
            where=where,
            expected="each once, because nothing says whose the copies are",
            remedy=(
                *(USE, " reads them as the work of several annotators, "),
                *(Use("repeated", "documents"), " as several documents"),
            ),
        )


def copies_in(
    corpus: Corpus, uploads: Sequence[Upload], formats: Sequence[Format], reading: Reading
) -> Copies | None:
    """Count the texts of a file; None where names or options say whose they are.

    Documents with names are different ones.
    """
    upload, is_asked = uploads[0], reading.options["repeated"] in {"last", "error"}
    is_file = len(uploads) == 1 and not upload.is_folder and upload.data is None
    has_names = len(corpus.annotators) > 1 or not all(map(str.isdecimal, corpus.documents))
    is_unnamed = formats[0].name in _UNNAMED and not has_names
    if not (is_file and is_asked and is_unnamed and corpus.texts):
        return None
    once = np.ones_like(corpus.text_length)
    return added_copies([Copies(hashed(corpus.texts), once, corpus.text_length)])


def added_copies(parts: Sequence[Copies | None]) -> Copies | None:
    """Add the texts of several pieces; None if some have names."""
    known = [part for part in parts if part is not None]
    if len(known) < len(parts):
        return None
    hashes, number = np.unique(np.concatenate([part.hashes for part in known]), return_inverse=True)
    times, size = (
        np.bincount(number, np.concatenate(column))[:_MOST].astype(np.int64)
        for column in ([part.times for part in known], [part.size for part in known])
    )
    return Copies(hashes[:_MOST], times, size)
