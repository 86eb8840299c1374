"""Document ids and labels that differ only in how a number is written."""

from __future__ import annotations

import re
from collections.abc import Collection, Iterable, Mapping, Sequence

import numpy as np

from beyondchance.annotations.letters import Letters
from beyondchance.errors import MismatchError
from beyondchance.messages import Quote, Use
from beyondchance.tallies import mended

_WITH_POINT = re.compile(r"([0-9]+)\.0+", re.ASCII)

PLAIN_IDS = mended("document ids such as 1.0 read as 1")
PLAIN_LABELS = mended("labels such as 1.0 read as 1")
"""What to count the ids and labels under that `plain_ids` mends."""


def plain_ids(names: Iterable[str], *, distinct: Iterable[Collection[str]] = ()) -> dict[str, str]:
    """Find the ids that are another one with a decimal point: 1.0 where there is also 1.

    Data frames turn whole numbers into floats where a column has gaps, so that one
    annotator's document 1 is another's 1.0.

    Parameters
    ----------
    names : iterable of str
        The ids of all annotators.
    distinct : iterable of collections of str
        Ids that one annotator has in one file, or that one table of documents lists: they
        name different documents. If any of them differ in the decimal point only, it means
        something, and no id is changed.

    Returns
    -------
    dict of str to str
        Only the ids that change, and what they become.

    Examples
    --------
    >>> plain_ids(["1", "2", "1.0", "3.0", "a", "a.0"])
    {'1.0': '1'}
    >>> plain_ids(["1", "2", "1.0", "2.0"], distinct=[{"1", "2", "1.0"}, {"2.0"}])
    {}
    """
    listed = names if isinstance(names, list) else list(names)
    # Most files have no such name, which a look at all of them together shows faster.
    if ".0" not in "\n".join(listed):
        return {}
    ends = sorted({name for name in listed if name.endswith("0")})
    known = set(listed) if ends else set()
    found = ((name, _WITH_POINT.fullmatch(name)) for name in ends)
    plain = {name: match[1] for name, match in found if match and match[1] in known}
    if not plain:
        return {}
    for own in distinct:
        if len({plain.get(name, name) for name in own}) < len(set(own)):
            return {}
    return plain


def ways_to_write(names: Sequence[str], letters: Letters) -> tuple[bool, bool]:
    """Return whether some names are whole numbers, and whether some are so with a point (1.0).

    Examples
    --------
    >>> from beyondchance.annotations.letters import letters_of
    >>> for names in (["1", "2.0"], ["d1", "2.5"]):
    ...     ways_to_write(names, letters_of(names))
    (True, True)
    (False, False)
    """
    has_point = ".0" in letters.text and any(map(_WITH_POINT.fullmatch, names))
    # Few names begin with a digit, if any; one that is not ASCII may be of other digits.
    first = letters.data[letters.begins[letters.sizes > 0]]
    may_be = np.any((first >= ord("0")) & (first <= ord("9")) | (first >= 128))
    return bool(may_be) and any(map(str.isdecimal, names)), has_point


def written_twice(kind: str, plain: Mapping[str, str]) -> MismatchError:
    """Build the refusal of ids or labels that `plain_ids` would mend."""
    odd, name = next(iter(plain.items()))
    return MismatchError(
        *(f"{kind} ", Quote(name), " of one annotator is ", Quote(odd), " of another"),
        expected="one way to write it",
        remedy=(Use("match", "id"), " reads them as one"),
    )
