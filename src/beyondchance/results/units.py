"""What intervals draw: documents, or groups of them where they are many."""

from __future__ import annotations

from collections import Counter
from collections.abc import Sequence
from functools import cached_property
from itertools import chain

import numpy as np

from beyondchance.annotations.hashing import hashed
from beyondchance.core.resampling import places
from beyondchance.errors import DataError
from beyondchance.messages import Quote
from beyondchance.types import Ints
from beyondchance.values import internal

MOST_DOCUMENTS = 4096
"""Documents that are units by themselves; also the most groups that there are of more."""


@internal
class Units:
    """What is drawn for intervals: documents, or groups of them by a hash of their names.

    Attributes
    ----------
    names : tuple of str
        The documents, in the order in which they are drawn; none where units are groups.
    n_groups : int
        A power of two; 0 where units are documents.
    n_documents : array of int, shape (units,)
        Documents compared in each unit.
    prints : array of int, shape (units,)
        Sums of the hashes of their names, modulo 2**63: equal only for the same documents.
    """

    names: tuple[str, ...]
    n_groups: int
    n_documents: Ints
    prints: Ints

    def __len__(self) -> int:
        return len(self.n_documents)

    @staticmethod
    def of(documents: Sequence[str]) -> tuple[Units, list[Ints]]:
        """Make units of documents, and number the unit of each document."""
        prints = (hashed(documents) >> np.uint64(1)).astype(np.int64)
        return Units.together([Units.single(documents, prints)])

    @staticmethod
    def single(documents: Sequence[str], prints: Ints) -> Units:
        """Make a unit of each document."""
        return Units(tuple(documents), 0, np.ones(len(documents), dtype=np.int64), prints)

    @staticmethod
    def together(parts: Sequence[Units], n_groups: int = 0) -> tuple[Units, list[Ints]]:
        """Make the units of different documents, and number the new unit of each old one.

        They are documents, if these are few enough in all and no number of groups is given; else
        as many groups as the fewest.
        """
        n_groups = n_groups or min((part.n_groups for part in parts if part.n_groups), default=0)
        names = list(chain.from_iterable(part.names for part in parts))
        if len(parts) > 1:
            check_distinct(names)
        if not n_groups and len(names) <= MOST_DOCUMENTS:
            place = places(names)
            order = np.argsort(place)
            prints = np.concatenate([part.prints for part in parts])[order]
            units = Units.single([names[i] for i in order.tolist()], prints)
            return units, np.split(place, np.cumsum([len(part) for part in parts])[:-1])
        n_groups = n_groups or MOST_DOCUMENTS
        unit_of = [part._groups(n_groups) for part in parts]
        n_documents, prints = np.zeros((2, n_groups), dtype=np.int64)
        for part, unit in zip(parts, unit_of, strict=True):
            np.add.at(n_documents, unit, part.n_documents)
            np.add.at(prints, unit, part.prints)
        # Sums that exceed 64 bits lose their first ones, which the remainder does not have.
        return Units((), n_groups, n_documents, prints & (2**63 - 1)), unit_of

    def _groups(self, n_groups: int) -> Ints:
        """Number the group of each unit."""
        if self.n_groups:
            return np.arange(len(self)) // (self.n_groups // n_groups)
        # By the first bits of the hashes, of which prints have 63.
        return self.prints >> (64 - n_groups.bit_length())

    @cached_property
    def place(self) -> Ints:
        """The number of each unit, in the order of drawing, among those that have documents."""
        return np.cumsum(self.n_documents > 0) - 1 if self.n_groups else places(self.names)

    @cached_property
    def shown(self) -> tuple[str, ...]:
        """A name for each unit, the same only where the documents are; of those that have any."""
        if not self.n_groups:
            return self.names
        own = np.flatnonzero(self.n_documents)
        columns = (own, self.n_documents[own], self.prints[own])
        rows = zip(*(column.tolist() for column in columns), strict=True)
        return tuple(f"{self.n_groups}:{group}:{n}:{code:x}" for group, n, code in rows)


def check_distinct(names: Sequence[str]) -> None:
    """Refuse documents of which two have the same name."""
    if len(set(names)) < len(names):
        raise DataError(
            *("both tables hold the document ", Quote(Counter(names).most_common(1)[0][0])),
            expected="different documents",
            remedy="give them different names",
        )
