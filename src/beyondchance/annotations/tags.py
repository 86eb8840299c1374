"""Tag sequences (IOB2, BIOES, ...) to spans, all texts at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from itertools import count
from typing import Any, NamedTuple

import numpy as np

from beyondchance.annotations.names import numbered
from beyondchance.checks import is_bytes_as_text
from beyondchance.core.ragged import distinct, starts
from beyondchance.errors import TagError
from beyondchance.messages import Piece, Quote, Text, Use
from beyondchance.types import Bools, Ints

_OUTSIDE, _BEGIN, _INSIDE, _END, _SINGLE = range(5)
_JOINING = (_INSIDE, _END)
_LEAVING = (_BEGIN, _INSIDE)

SCHEMES: Mapping[str, Mapping[str, int]] = {
    "IOB2": {"B": _BEGIN, "I": _INSIDE},
    "IOB1": {"B": _BEGIN, "I": _INSIDE},
    "IO": {"I": _INSIDE},
    "BIOES": {"B": _BEGIN, "I": _INSIDE, "E": _END, "S": _SINGLE},
    "BILOU": {"B": _BEGIN, "I": _INSIDE, "L": _END, "U": _SINGLE},
    "BMES": {"B": _BEGIN, "M": _INSIDE, "E": _END, "S": _SINGLE},
}
"""For each scheme, its prefixes and their roles. ``O`` is outside in all of them."""


UNNAMED = "_"
"""The label of tags that are a bare prefix, such as ``B`` and ``I``."""


class DecodedTags(NamedTuple):
    """Spans found in tag sequences, in the order of the texts.

    Attributes
    ----------
    text, start, end, label : arrays of int, shape (spans,)
    labels : tuple of str
    n_repaired : int
        Places where a sequence broke its scheme and was repaired.
    refusal : TagError, optional
        The first of them, as it is refused.
    scheme : str
    """

    text: Ints
    start: Ints
    end: Ints
    label: Ints
    labels: tuple[str, ...]
    n_repaired: int
    refusal: TagError | None
    scheme: str


def decode_tags(
    tags: Iterable[str],
    lengths: Ints,
    *,
    scheme: str | None,
    repair: str,
    where: Callable[[int, int], Text],
) -> DecodedTags:
    """Find the spans of texts whose tags lie end to end.

    Parameters
    ----------
    tags : iterable of str
        The tags of all texts, one text after the other.
    lengths : array of int, shape (texts,)
        How many tags each text has.
    scheme : str, optional
        One of `SCHEMES`; by default detected.
    repair : {"conlleval", "discard", "none"}
        What to do where a sequence breaks the rules of its scheme: begin or end a span
        there, as the conlleval script does; leave out the span that breaks them; or
        refuse it.
    where : function of a text and a place in it
        Names the place in error messages.

    Examples
    --------
    >>> found = decode_tags(
    ...     ["B-PER", "I-PER", "O", "B-LOC"],
    ...     np.array([4]),
    ...     scheme="IOB2",
    ...     repair="none",
    ...     where="text {}, tag {}".format,
    ... )
    >>> found.start.tolist(), found.end.tolist(), [found.labels[i] for i in found.label]
    ([0, 3], [2, 4], ['PER', 'LOC'])
    """
    code, spelling = coded_tags(tags)
    return decode_codes(code, spelling, lengths, scheme=scheme, repair=repair, where=where)


def coded_tags(tags: Iterable[Any]) -> tuple[Ints, list[Any]]:
    """Number the distinct tags, in the order met.

    Whatever is asked of tags is asked once of each distinct one.

    Examples
    --------
    >>> code, spelling = coded_tags(["O", "B-X", "O"])
    >>> code.tolist(), spelling
    ([0, 1, 0], ['O', 'B-X'])
    """
    numbers: defaultdict[Any, int] = defaultdict(count().__next__)
    try:
        code = np.fromiter(map(numbers.__getitem__, tags), dtype=np.int64)
    except TypeError:
        raise TagError("a tag is a list or another unhashable value", expected="strings") from None
    return code, list(numbers)


def decode_codes(
    code: Ints,
    spelling: Sequence[Any],
    lengths: Ints,
    *,
    scheme: str | None,
    repair: str,
    where: Callable[[int, int], Text],
) -> DecodedTags:
    """Decode tags that are numbered by `coded_tags` (see `decode_tags`)."""
    first = starts(lengths)
    # Most tags are outside of spans: what follows is about the others, and where they are.
    is_inside = [isinstance(known, str) and known != "O" for known in spelling]
    place = np.array(is_inside, dtype=bool)[code].nonzero()[0]
    tag = code[place]
    text = np.arange(len(lengths)).repeat(lengths)[place]
    # With a gap between texts, no tag adjoins one of another text.
    spaced = place + text
    adjoins = np.zeros(len(place), dtype=bool)
    adjoins[1:] = spaced[1:] - spaced[:-1] == 1
    scheme = scheme or _scheme(spelling, tag, adjoins)
    prefixes = SCHEMES[scheme]
    (role_of, label_of, joins_of, leaves_of), labels = _vocabulary(spelling, prefixes)
    wrong = (role_of < 0).nonzero()[0]
    if len(wrong):
        index = int(np.argmax(code == wrong[0]))
        own = int(first.searchsorted(index, side="right")) - 1
        shown = where(own, index - int(first[own]))
        raise _refusal_of(spelling[code[index]], spelling, scheme, shown)

    label, joins, leaves = label_of[tag], joins_of[tag], leaves_of[tag]
    # A tag goes on with the span before it if that is still open and has the same label.
    opens, closes = np.ones((2, len(place)), dtype=bool)
    opens[1:] = (joins[1:] != leaves[:-1]) | ~adjoins[1:]
    closes[:-1] = opens[1:]
    broken = opens & (joins >= 0)
    if scheme == "IO":
        broken[:] = False
    elif scheme == "IOB1":
        # A B is for nothing but spans that adjoin another of the same label.
        broken = role_of[tag] == _BEGIN
        broken[1:] &= (label[1:] != label[:-1]) | ~adjoins[1:]
    elif _END in prefixes.values():
        broken |= closes & (leaves >= 0)
    begin, last = opens.nonzero()[0], closes.nonzero()[0]
    n_broken = int(np.count_nonzero(broken))
    refusal = None
    if n_broken:
        index = int(np.argmax(broken))
        own = int(text[index])
        tags = [spelling[i] for i in code[first[own] : first[own] + lengths[own]].tolist()]
        position = int(place[index] - first[own])
        refusal = _refusal_at(position, tags, scheme, where(own, position))
    if refusal is not None and repair == "none":
        raise refusal
    if n_broken and repair == "discard":
        breaks = np.cumsum(broken)
        whole = breaks[last] - breaks[begin] + broken[begin] == 0
        begin, last = begin[whole], last[whole]

    text = text[begin]
    return DecodedTags(
        text=text,
        start=place[begin] - first[text],
        end=place[last] + 1 - first[text],
        label=label[begin],
        labels=labels,
        n_repaired=n_broken,
        refusal=refusal,
        scheme=scheme,
    )


def _scheme(spelling: Sequence[str], tag: Ints, adjoins: Bools) -> str:
    """Detect the scheme from the tags of spans, and which of them adjoin the one before."""
    before = np.where(adjoins, np.roll(tag, 1) + 1, 0)
    pairs, _ = distinct(before * len(spelling) + tag)
    names = ["O", *spelling]
    return scheme_of_pairs(
        (names[one], spelling[other])
        for one, other in (divmod(pair, len(spelling)) for pair in pairs.tolist())
    )


def scheme_of_pairs(pairs: Iterable[tuple[str, str]]) -> str:
    """Find the scheme of tags from each tag with the one before, which is O at a text's beginning.

    Examples
    --------
    >>> scheme_of_pairs([("O", "I-X"), ("I-X", "B-X")]), scheme_of_pairs([("O", "B-X")])
    ('IOB1', 'IOB2')
    """
    prefixes: set[str] = set()
    begin_adjoins = begin_alone = False
    for before, tag in pairs:
        if tag != "O":
            prefixes.add(tag[:1])
            adjoins = before != "O" and before[1:] == tag[1:]
            begin_adjoins |= tag[:1] == "B" and adjoins
            begin_alone |= tag[:1] == "B" and not adjoins
    scheme = scheme_with_ends(prefixes)
    if scheme is not None:
        return scheme
    if "I" in prefixes and not begin_alone:
        return "IOB1" if begin_adjoins else "IO"
    return "IOB2"


def _refusal_at(position: int, tags: Sequence[str], scheme: str, where: Text) -> TagError:
    """Build the error for a tag of a text that breaks its scheme."""
    before: Piece = Quote(tags[position - 1]) if position else "the start of the text"
    is_last = position + 1 == len(tags)
    after: Piece = "the end of the text" if is_last else Quote(tags[position + 1])
    tag = Quote(tags[position])
    repairs = (Use("repair", "conlleval"), " or ", Use("repair", "discard"))
    return TagError(
        *("tag ", tag, " after ", before, " and before ", after, f" breaks scheme {scheme}"),
        where=where,
        remedy=("correct it, choose another scheme, or repair it with ", *repairs),
    )


def _refusal_of(tag: Any, known: Iterable[Any], scheme: str, where: Text) -> TagError:
    """Build the error for a tag that its scheme does not have."""
    if isinstance(tag, str) and is_bytes_as_text(tag.partition("-")[2]):
        return TagError(
            *("tag ", Quote(tag), " has bytes written as text for a label"),
            where=where,
            expected="a name",
            remedy="decode it before it is saved",
        )
    if scheme != "IO" and all(str(other) == "O" or _is_bare(other) for other in known):
        return TagError(
            *("tag ", Quote(tag), " has no prefix such as B- or I-"),
            where=where,
            expected="one",
            remedy=(Use("scheme", "IO"), " reads labels without prefixes"),
        )
    valid = ", ".join(["O", *(f"{prefix}-LABEL" for prefix in SCHEMES[scheme])])
    return TagError(
        *("tag ", Quote(tag), f" is not in scheme {scheme}"),
        where=where,
        expected=f"one of {valid}, or choose another scheme",
    )


def _is_bare(tag: Any) -> bool:
    """Return whether a tag is a label without a prefix, rather than a misspelt tag.

    Examples
    --------
    >>> _is_bare("PER"), _is_bare("person-actor"), _is_bare("B_PER"), _is_bare("b-PER")
    (True, True, False, False)
    """
    if not isinstance(tag, str) or tag != tag.strip() or is_bytes_as_text(tag):
        return False
    return tag[:1].isalpha() and tag[1:2] not in {"", "-", "_"}


def joined_tags(parts: Sequence[DecodedTags], numbers: Iterable[Ints]) -> DecodedTags:
    """Join what was decoded in parts; `numbers` are those of the texts of each part in all."""
    if len(parts) == 1:
        return parts[0]
    labels = tuple(dict.fromkeys(label for part in parts for label in part.labels))
    text = np.concatenate([own[part.text] for part, own in zip(parts, numbers, strict=True)])
    order = np.argsort(text, kind="stable")
    return DecodedTags(
        text=text[order],
        start=np.concatenate([part.start for part in parts])[order],
        end=np.concatenate([part.end for part in parts])[order],
        label=np.concatenate([numbered(part.labels, labels)[part.label] for part in parts])[order],
        labels=labels,
        n_repaired=sum(part.n_repaired for part in parts),
        refusal=next((part.refusal for part in parts if part.refusal is not None), None),
        scheme="+".join(sorted({part.scheme for part in parts})),
    )


def scheme_with_ends(prefixes: AbstractSet[str]) -> str | None:
    """Return the scheme of these prefixes if it marks ends and single tokens, else None."""
    if prefixes & {"L", "U"}:
        return "BILOU"
    if prefixes & {"E", "S", "M"}:
        return "BMES" if "M" in prefixes else "BIOES"
    return None


def schemes_with_ends(code: Ints, spelling: Sequence[Any], sizes: Ints) -> list[str | None]:
    """Return the scheme of each annotator's tags, if it marks ends and single tokens.

    `sizes` are the numbers of tags of each annotator in each text.
    """
    prefixes = [tag[:1] if isinstance(tag, str) else "" for tag in spelling]
    if scheme_with_ends(set(prefixes)) is None:
        return [None] * len(sizes)
    return [
        scheme_with_ends({prefixes[i] for i in distinct(own)[0].tolist()})
        for own in by_annotator(code, sizes)
    ]


def by_annotator(code: Ints, sizes: Ints) -> list[Ints]:
    """Cut the tags of all annotators into those of each."""
    return np.split(code, sizes.sum(axis=1).cumsum()[:-1])


def _vocabulary(
    spelling: Sequence[Any], prefixes: Mapping[str, int]
) -> tuple[Ints, tuple[str, ...]]:
    """Return what each distinct tag is, in four rows, and the names of labels.

    Its role, -1 where the scheme lacks it or its label is no name; its label; the label of a span
    that it can go on with; and that of a span that it leaves open. Negative numbers, which differ,
    stand for none.
    """
    labels: dict[str, int] = {}
    # Labels without prefixes are those of IO, unless others have them.
    are_bare = "B" not in prefixes and not any(
        isinstance(tag, str) and tag.startswith("I-") for tag in spelling
    )
    found = []
    for tag in spelling:
        role, label = -1, -1
        if not isinstance(tag, str):
            role = -1
        elif tag == "O":
            role = _OUTSIDE
        else:
            prefix, dash, name = tag.partition("-")
            if is_bytes_as_text(name):
                role = -1
            elif are_bare and _is_bare(tag):
                role, label = _INSIDE, labels.setdefault(tag, len(labels))
            elif prefix in prefixes and (name or not dash) and name == name.strip():
                role, label = prefixes[prefix], labels.setdefault(name or UNNAMED, len(labels))
        joins = label if role in _JOINING else -1
        found.append((role, label, joins, label if role in _LEAVING else -2))
    return np.array(found, dtype=np.int64).reshape(-1, 4).T, tuple(labels)
