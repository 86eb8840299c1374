"""Tag sequences (IOB2, BIOES, ...) to spans, all texts at once."""

from __future__ import annotations

from collections import defaultdict
from collections.abc import Callable, Iterable, Mapping, Sequence, Set as AbstractSet
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np
from numpy.typing import NDArray

from beyondchance.checks import is_bytes_as_text
from beyondchance.core.ragged import starts
from beyondchance.errors import TagError
from beyondchance.messages import Piece, Quote, Text, Use
from beyondchance.types import Bools, Ints

Labels = NDArray[np.int32]

_OUTSIDE, _BEGIN, _INSIDE, _END, _SINGLE = range(5)

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


@dataclass(frozen=True, slots=True)
class DecodedTags:
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
        One of `SCHEMES`; by default the one of the prefixes that mark ends and single tokens,
        or IOB2.
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
    (code,), spelling = coded_tags([tags], [int(lengths.sum())])
    return decode_codes(code, spelling, lengths, scheme=scheme, repair=repair, where=where)


def coded_tags(
    sequences: Iterable[Iterable[Any]], sizes: Iterable[int]
) -> tuple[list[Ints], list[Any]]:
    """Number the distinct tags of several sequences of known sizes, in the order met.

    Whatever is asked of tags is asked once of each distinct one.

    Examples
    --------
    >>> codes, spelling = coded_tags([["O", "B-X"], ["O"]], [2, 1])
    >>> [code.tolist() for code in codes], spelling
    ([[0, 1], [0]], ['O', 'B-X'])
    """
    numbers: defaultdict[Any, int] = defaultdict()
    numbers.default_factory = numbers.__len__
    try:
        codes = [
            np.fromiter(map(numbers.__getitem__, tags), dtype=np.int64, count=size)
            for tags, size in zip(sequences, sizes, strict=True)
        ]
    except TypeError:
        raise TagError("a tag is a list or another unhashable value", expected="strings") from None
    return codes, list(numbers)


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
    known = {tag[:1] for tag in spelling if isinstance(tag, str)}
    scheme = scheme or scheme_with_ends(known) or "IOB2"
    prefixes = SCHEMES[scheme]

    def place_of(index: int) -> Text:
        text = int(np.searchsorted(first, index, side="right")) - 1
        return where(text, index - int(first[text]))

    (role_of, label_of, joins_of, leaves_of), labels = _vocabulary(spelling, prefixes)
    wrong = _wrong_tag(spelling, role_of)
    if wrong is not None:
        place = place_of(int(np.argmax(code == wrong)))
        raise _refusal_of(spelling[wrong], spelling, scheme, place)

    same_text = _same_text(lengths)
    label, joins, leaves = label_of[code], joins_of[code], leaves_of[code]
    opens, closes = _edges(label, joins, leaves, same_text)
    broken = opens & (joins >= 0) & (scheme != "IO")
    if scheme == "IOB1":
        broken = _misplaced(role_of[code] == _BEGIN, label, same_text)
    elif _END in prefixes.values():
        broken |= closes & (leaves >= 0)
    start, last = opens.nonzero()[0], closes.nonzero()[0]
    n_broken = int(np.count_nonzero(broken))
    refusal = None
    if n_broken:
        index = int(np.argmax(broken))
        tag = Quote(spelling[code[index]])
        before: Piece = "the start of the text"
        if same_text[index]:
            before = Quote(spelling[code[index - 1]])
        after: Piece = "the end of the text"
        if same_text[index + 1]:
            after = Quote(spelling[code[index + 1]])
        repairs = (Use("repair", "conlleval"), " or ", Use("repair", "discard"))
        refusal = TagError(
            *("tag ", tag, " after ", before, " and before ", after, f" breaks scheme {scheme}"),
            where=place_of(index),
            remedy=("correct it, choose another scheme, or repair it with ", *repairs),
        )
    if refusal is not None and repair == "none":
        raise refusal
    if n_broken and repair == "discard":
        breaks = np.cumsum(broken)
        whole = breaks[last] - breaks[start] + broken[start] == 0
        start, last = start[whole], last[whole]

    text = first.searchsorted(start, side="right") - 1
    return DecodedTags(
        text=text,
        start=start - first[text],
        end=last + 1 - first[text],
        label=label[start].astype(np.int64),
        labels=labels,
        n_repaired=n_broken,
        refusal=refusal,
        scheme=scheme,
    )


def _wrong_tag(spelling: Sequence[Any], role_of: Labels) -> int | None:
    """The first tag that the scheme lacks, or whose label is no name; None if all are right."""
    for code, (tag, role) in enumerate(zip(spelling, role_of.tolist(), strict=True)):
        if role < 0 or is_bytes_as_text(tag.partition("-")[2]):
            return code
    return None


def _refusal_of(tag: Any, known: Iterable[Any], scheme: str, where: Text) -> TagError:
    """The error for a tag that its scheme does not have."""
    if isinstance(tag, str) and is_bytes_as_text(tag.partition("-")[2]):
        return TagError(
            *("tag ", Quote(tag), " has bytes written as text for a label"),
            where=where,
            expected="a name",
            remedy="decode it before it is saved",
        )
    if scheme != "IO" and all(other == "O" or _is_bare(other) for other in known):
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
    """Whether a tag is a label without a prefix, rather than a misspelt tag.

    Examples
    --------
    >>> _is_bare("PER"), _is_bare("person-actor"), _is_bare("B_PER"), _is_bare("b-PER")
    (True, True, False, False)
    """
    if not isinstance(tag, str) or tag != tag.strip() or is_bytes_as_text(tag):
        return False
    return tag[:1].isalpha() and tag[1:2] not in {"", "-", "_"}


def joined_tags(parts: Sequence[DecodedTags], numbers: Iterable[Ints]) -> DecodedTags:
    """What was decoded in parts, with the numbers that the texts of each part have in all."""
    if len(parts) == 1:
        return parts[0]
    labels = tuple(dict.fromkeys(label for part in parts for label in part.labels))
    code_of = {label: code for code, label in enumerate(labels)}
    codes = [np.array([code_of[x] for x in part.labels], dtype=np.int64) for part in parts]
    pairs = list(zip(parts, codes, strict=True))
    text = np.concatenate([own[part.text] for part, own in zip(parts, numbers, strict=True)])
    order = np.argsort(text, kind="stable")
    return DecodedTags(
        text=text[order],
        start=np.concatenate([part.start for part in parts])[order],
        end=np.concatenate([part.end for part in parts])[order],
        label=np.concatenate([code[part.label] for part, code in pairs])[order],
        labels=labels,
        n_repaired=sum(part.n_repaired for part in parts),
        refusal=next((part.refusal for part in parts if part.refusal is not None), None),
        scheme="+".join(sorted({part.scheme for part in parts})),
    )


def scheme_with_ends(prefixes: AbstractSet[str]) -> str | None:
    """The scheme that these prefixes belong to, if it marks ends and single tokens."""
    if prefixes & {"L", "U"}:
        return "BILOU"
    if prefixes & {"E", "S", "M"}:
        return "BMES" if "M" in prefixes else "BIOES"
    return None


def schemes_of(annotators: Sequence[Iterable[Sequence[str] | None]]) -> list[str]:
    """The scheme of each annotator's tags, by their prefixes and by where spans begin.

    Those without marks of ends have one scheme together: where one writes ``B-`` at the beginning
    of spans, an ``I-`` of another that begins a span breaks the scheme.

    Examples
    --------
    >>> schemes_of([[["I-X", "O"]]]), schemes_of([[["I-X", "O"]], [["B-X", "O"]]])
    (['IO'], ['IOB2', 'IOB2'])
    >>> schemes_of([[["I-X", "B-X"]], [["S-X", "O"]]])
    ['IOB1', 'BIOES']
    """
    listed = [[tags for tags in texts if tags is not None] for texts in annotators]
    lengths = [np.array(list(map(len, texts)), dtype=np.int64) for texts in listed]
    codes, spelling = coded_tags(
        map(chain.from_iterable, listed), (int(own.sum()) for own in lengths)
    )
    return schemes_of_codes(codes, spelling, lengths)


def schemes_of_codes(
    codes: Sequence[Ints], spelling: Sequence[Any], lengths: Sequence[Ints]
) -> list[str]:
    """Tell the schemes of numbered tags (see `schemes_of`), from how many each text has."""
    known = [tag if isinstance(tag, str) and tag != "O" else "" for tag in spelling]
    prefixes = []
    for code in codes:
        occurs = np.bincount(code, minlength=len(known)).nonzero()[0].tolist()
        prefixes.append({known[i][:1] for i in occurs} - {""})
    schemes = [scheme_with_ends(own) for own in prefixes]
    others = [i for i, scheme in enumerate(schemes) if scheme is None]
    together = set().union(*(prefixes[i] for i in others))
    shared = "IOB2"
    if "I" in together:
        # IOB2, unless every B adjoins a span of the same label, or there is none. Tags outside
        # of spans have no label, and B always has one.
        tails = [tag[1:] if tag else None for tag in known]
        (label,), _ = coded_tags([tails], [len(tails)])
        is_begin = np.array([tag[:1] == "B" for tag in known], dtype=bool)
        code = np.concatenate([codes[i] for i in others])
        begins = is_begin[code].nonzero()[0]
        same_text = _same_text(np.concatenate([lengths[i] for i in others]))[begins]
        adjoins = same_text & (label[code[begins]] == label[code[begins - 1]])
        shared = "IO" if not len(begins) else "IOB1" if adjoins.all() else "IOB2"
    return [scheme or shared for scheme in schemes]


def _same_text(lengths: Ints) -> Bools:
    """Whether each tag follows the one before it in one text; False behind the last one."""
    same_text = np.ones(int(lengths.sum()) + 1, dtype=bool)
    same_text[lengths.cumsum()] = same_text[0] = False
    return same_text


def _edges(label: Labels, joins: Labels, leaves: Labels, same_text: Bools) -> tuple[Bools, Bools]:
    """Where spans open and where they close, taking every sequence as it comes.

    A tag goes on with the span before it if that is still open and has the same
    label. ``same_text[i]`` is whether tag i follows tag i - 1 in one text.
    """
    inside = label >= 0
    goes_on = np.zeros(len(label) + 1, dtype=bool)
    goes_on[1:-1] = (joins[1:] == leaves[:-1]) & same_text[1:-1]
    return inside > goes_on[:-1], inside > goes_on[1:]


def _misplaced(begins: Bools, label: Labels, same_text: Bools) -> Bools:
    """Return which B of IOB1 adjoin no span of the same label: they are for nothing else."""
    begins[1:] &= (label[1:] != label[:-1]) | ~same_text[1:-1]
    return begins


def _vocabulary(
    spelling: Sequence[Any], prefixes: Mapping[str, int]
) -> tuple[Labels, tuple[str, ...]]:
    """Return what each distinct tag is, in four rows, and the names of labels.

    Its role, -1 where the scheme lacks it; its label; the label of a span that it can go on with;
    and that of a span that it leaves open. Negative numbers, which differ, stand for none.
    """
    labels: dict[str, int] = {}
    # Labels without prefixes are those of IO, unless others have them.
    are_bare = "B" not in prefixes and not any(
        isinstance(tag, str) and tag.startswith("I-") for tag in spelling
    )
    found = []
    for tag in spelling:
        role, label = -1, -1
        if tag == "O":
            role = _OUTSIDE
        elif isinstance(tag, str):
            prefix, dash, name = tag.partition("-")
            if are_bare and _is_bare(tag):
                role, label = _INSIDE, labels.setdefault(tag, len(labels))
            elif prefix in prefixes and bool(dash) == bool(name) and name == name.strip():
                role, label = prefixes[prefix], labels.setdefault(name or UNNAMED, len(labels))
        joins = label if role in {_INSIDE, _END} else -1
        found.append((role, label, joins, label if role in {_BEGIN, _INSIDE} else -2))
    # Narrow integers: there are three of them for every tag of the corpus.
    return np.array(found, dtype=np.int32).reshape(-1, 4).T, tuple(labels)
