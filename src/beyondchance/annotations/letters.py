"""Names as bytes, all of them in one array: what is asked of every name is asked at once."""

from __future__ import annotations

from collections.abc import Sequence
from typing import NamedTuple

import numpy as np
from numpy.typing import NDArray

from beyondchance.types import Ints


class Letters(NamedTuple):
    """The bytes of names, in UTF-8.

    Attributes
    ----------
    text : str
        All names, with a new line between them.
    data : array of uint8
        The same in bytes.
    begins, ends : arrays of int, shape (names,)
        Where each name begins and ends in them.
    """

    text: str
    data: NDArray[np.uint8]
    begins: Ints
    ends: Ints

    @property
    def sizes(self) -> Ints:
        """Return how many bytes each name has."""
        return self.ends - self.begins

    def edges(self) -> NDArray[np.uint8]:
        """Return the first and the last byte of each name, shape (2, names); none may be empty."""
        return self.data[np.stack([self.begins, self.ends - 1])]


def letters_of(names: Sequence[str]) -> Letters:
    """Encode names.

    Examples
    --------
    >>> letters = letters_of(["d1", "", "é"])
    >>> letters.begins.tolist(), letters.ends.tolist()
    ([0, 3, 4], [2, 3, 6])
    """
    text = "\n".join(names)
    data = np.frombuffer(text.encode("utf-8", "surrogatepass"), dtype=np.uint8)
    ends = np.append(np.flatnonzero(data == ord("\n")), len(data))
    if len(ends) != len(names):
        # A name has a new line in it, or there is none.
        sizes = np.array([len(name.encode("utf-8", "surrogatepass")) for name in names], np.int64)
        ends = np.cumsum(sizes + 1) - 1
    begins = np.zeros_like(ends)
    begins[1:] = ends[:-1] + 1
    return Letters(text, data, begins, ends)
