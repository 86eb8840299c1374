"""Names of documents, annotators and labels: checked, numbered, chosen and shown."""

from __future__ import annotations

from collections.abc import (
    Collection,
    Iterable,
    Iterator,
    KeysView,
    Mapping,
    Sequence,
    ValuesView,
)
from itertools import chain
from typing import Any, TypeVar

import numpy as np

from beyondchance.checks import is_bytes_as_text, repeated
from beyondchance.errors import DataError
from beyondchance.messages import Piece, Quote, Text, quotes
from beyondchance.types import Bools, Ints

_Value = TypeVar("_Value")


def is_list(value: object) -> bool:
    """Return whether a value is a list, a tuple, a flat array or the like, and not a string."""
    if isinstance(value, np.ndarray):
        return value.ndim == 1
    return isinstance(value, Sequence) and not isinstance(value, str | bytes)


def as_list(value: Any) -> Any:
    """Convert to a list what is like one: an array, a Series, a generator, a view of values.

    Strings, mappings, sets and whatever is no list of values stay as they are, to be refused. A
    generator is used up: this is asked once of each.

    Examples
    --------
    >>> as_list(np.array([[1, 2], [3, 4]])), as_list(x for x in "ab"), as_list("ab")
    ([[1, 2], [3, 4]], ['a', 'b'], 'ab')
    """
    if isinstance(value, _AS_THEY_ARE) or any(hasattr(value, name) for name in _WHOLE):
        return value
    for method in ("tolist", "to_list", "to_pylist"):
        if hasattr(value, method):
            return getattr(value, method)()
    is_listed = isinstance(value, Iterator | Sequence | ValuesView | KeysView)
    is_listed |= all(hasattr(value, name) for name in ("__len__", "__getitem__", "__iter__"))
    return list(value) if is_listed else value


_AS_THEY_ARE = (list, tuple, str, bytes, bytearray, Mapping, set, frozenset, type(None))
_WHOLE = ("columns", "column_names", "schema", "label_", "ents", "read", "__fspath__")
"""What data sets, data frames, the documents and spans of spaCy, and files have."""


def plain(value: Any, where: Text = "", *, depth: int = 3) -> Any:
    """Convert to lists of lists whatever is like that, before anything looks into it.

    Parameters
    ----------
    value : object
    where : Text, optional
        What it is, for messages.
    depth : int
        How deep lists lie in lists. Values of mappings within are looked into as well.

    Raises
    ------
    DataError
        For a set, because it has no order.

    Examples
    --------
    >>> plain([iter(["B-PER"]), (tag for tag in ["O"])]), plain([{"tags": np.array([0, 1])}])
    ([['B-PER'], ['O']], [{'tags': [0, 1]}])
    """
    if isinstance(value, set | frozenset):
        raise DataError("found a set", where=where, expected="a list, because a set has no order")
    if isinstance(value, Mapping):
        if hasattr(value, "column_names") or _SINGLE.issuperset(map(type, value.values())):
            return value
        try:
            return {
                key: cell if isinstance(cell, set | frozenset) else plain(cell, where, depth=depth)
                for key, cell in value.items()
            }
        except RecursionError:
            found = "found a mapping that is nested too deeply, or contains itself"
            raise DataError(found, where=where, expected="annotations as in JSON") from None
    listed = as_list(value)
    if not isinstance(listed, list | tuple) or not depth or _SINGLE.issuperset(map(type, listed)):
        return listed
    # Most are lists of lists already; to ask each of them what it is would take the longest.
    are_lists = _LISTED.issuperset(map(type, listed))
    if are_lists and (depth == 1 or types_within(listed) <= _SINGLE):
        return list(listed)
    return [plain(item, where, depth=depth - 1) for item in listed]


def types_within(lists: Iterable[Sequence[Any] | None]) -> set[type]:
    """Return the types of all values of lists; of equal values, that of one of them.

    Examples
    --------
    >>> types_within([["O", "O"], None, [0.5]]) == {str, float}
    True
    """
    listed = [values for values in lists if values is not None]
    try:
        return set(map(type, set().union(*listed)))  # each distinct value is asked once
    except TypeError:  # some have no hash
        return set(map(type, chain.from_iterable(listed)))


_SINGLE = frozenset({str, int, float, bool, type(None)})
_LISTED = frozenset({list, tuple, type(None)})


def named_text(text: int, documents: Sequence[str], text_document: Ints) -> tuple[Piece, ...]:
    """Name a text: by its document, and its number there if the document has several."""
    document = int(text_document[text])
    first, end = np.searchsorted(text_document, (document, document + 1)).tolist()
    number = () if end - first == 1 else (f", text {text - first}",)
    return ("document ", Quote(documents[document]), *number)


def validated_names(kind: str, names: object) -> tuple[str, ...]:
    """Check that names are distinct strings, not empty, without white space at their edges."""
    if isinstance(names, str) or not isinstance(names, Iterable):
        raise DataError(f"{kind}s are ", Quote(names), expected="a list of names")
    return tuple(map(str, distinct_names(kind, tuple(names), once=True)))


def distinct_names(kind: str, names: Iterable[Any], *, once: bool = False) -> list[str]:
    """Return the distinct ones among names, in the order met, all of them checked."""
    listed = list(names)
    try:
        distinct = list(dict.fromkeys(listed))
    except TypeError:
        raise DataError(f"one {kind} is a list or the like", expected="strings") from None
    for name in distinct:
        expected = "a string that is not empty and has no white space at its edges"
        is_name = isinstance(name, str) and name and name == name.strip()
        if is_name and is_bytes_as_text(name):
            is_name, expected = False, "a name, not bytes written as text"
        if not is_name:
            raise DataError(f"{kind} ", Quote(name), " is not a name", expected=expected)
    if once and len(distinct) < len(listed):
        twice = Quote(repeated(listed)[0])
        raise DataError(f"{kind} ", twice, " occurs twice", expected="distinct names")
    return distinct


def coded(kind: str, names: Sequence[str]) -> tuple[tuple[str, ...], Ints]:
    """Return the distinct ones among names, sorted, and the number of each name among them."""
    known = tuple(sorted(distinct_names(kind, names)))
    return known, numbered(names, known)


def numbered(names: Sequence[str], known: Sequence[str]) -> Ints:
    """Return the number of each name among the known ones."""
    code = {name: number for number, name in enumerate(known)}
    return np.fromiter(map(code.__getitem__, names), dtype=np.int64, count=len(names))


def sorted_names(names: tuple[str, ...], codes: Ints) -> tuple[tuple[str, ...], Ints]:
    """Sort names and renumber what refers to them."""
    ordered = tuple(sorted(names))
    return ordered, numbered(names, ordered)[codes]


def kept(names: tuple[_Value, ...], keep: Bools) -> tuple[_Value, ...]:
    """Return the names for which `keep` is true."""
    if np.count_nonzero(keep) == len(names):
        return names
    return tuple(names[i] for i in keep.nonzero()[0].tolist())


def if_any(values: Iterable[_Value]) -> tuple[_Value, ...] | None:
    """Return values of spans, such as their ids; None if no span has one."""
    listed = tuple(values)
    return listed if any(listed) else None


def membership(kind: str, names: tuple[str, ...], wanted: Collection[str] | None) -> Bools:
    """Return which of the names are wanted; all of them by default."""
    if wanted is None:
        return np.ones(len(names), dtype=bool)
    chosen = {wanted} if isinstance(wanted, str) else set(validated_names(kind, wanted))
    missing = sorted(chosen - set(names))
    if missing:
        known = ("the corpus has: ", *quotes(names))
        raise DataError(f"unknown {kind} ", Quote(missing[0], is_given=True), remedy=known)
    return np.fromiter((name in chosen for name in names), dtype=bool, count=len(names))
