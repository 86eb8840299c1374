"""The entities of tags, by the rules of seqeval, all texts at once.

The tags of all texts lie end to end, with an ``O`` after each text. Whether an entity begins, goes
on or ends between two tags depends on their prefixes, and on whether their types are equal; so a
set of rules is three tables, and each pair of neighbours is looked up in them.

Without a scheme, every sequence is read somehow, as the conlleval script does. With a scheme, an
entity counts only if it begins and ends as the scheme says.
"""

from __future__ import annotations

import re
from collections.abc import Iterable, Mapping, Sequence
from dataclasses import dataclass
from functools import cache
from itertools import chain, repeat
from typing import Any, NoReturn

import numpy as np

from beyondchance.annotations.tags import coded_tags
from beyondchance.checks import checked_option
from beyondchance.errors import ListsError, MismatchError, OptionError, TagError
from beyondchance.messages import Quote, quotes
from beyondchance.types import Bools, Ints

Texts = list[list[str]]

OUTSIDE = "O"
_PREFIXES = "OBIESUL.?"
"""The prefixes that rules distinguish; the last one stands for all others."""
_ANY = _PREFIXES
_OTHER = len(_PREFIXES) - 1
_SAME, _CHANGED, _EITHER = (False,), (True,), (False, True)

Rule = tuple[str, str] | tuple[str, str, tuple[bool, ...]]
"""Prefixes before, prefixes after, and whether the types are equal."""


@dataclass(frozen=True, slots=True, eq=False)
class _Rules:
    """When entities begin, go on and end, between one tag and the next.

    Attributes
    ----------
    begins, goes_on, ends : tuple of Rule
    prefixes : str
        The prefixes that are allowed; any, if empty.
    """

    begins: tuple[Rule, ...]
    ends: tuple[Rule, ...]
    goes_on: tuple[Rule, ...] = ()
    prefixes: str = ""


LENIENT = _Rules(
    begins=((_ANY, "BS"), ("OES", "IE"), (_ANY, "BIESUL?", _CHANGED)),
    ends=(("ES", _ANY), ("BI", "OBS"), ("BIESUL?", _ANY, _CHANGED)),
)
SCHEMES: Mapping[str, _Rules] = {
    "IOB1": _Rules(
        begins=(("OB", "I"), ("I", "I", _CHANGED), ("BI", "B", _SAME)),
        goes_on=(("BI", "I", _SAME),),
        ends=(("BI", "O"), ("BI", "I", _CHANGED), ("I", "B"), ("B", "B", _SAME)),
        prefixes="OIB",
    ),
    "IOE1": _Rules(
        begins=(("OE", "I"), ("I", "I", _CHANGED), ("E", "E", _SAME)),
        goes_on=(("I", "IE", _SAME),),
        ends=(("I", "O"), ("I", "IE", _CHANGED), ("E", "IE", _SAME)),
        prefixes="OIE",
    ),
    "IOB2": _Rules(
        begins=((_ANY, "B"),),
        goes_on=(("BI", "I", _SAME),),
        ends=(("BI", "OB"), ("BI", "I", _CHANGED)),
        prefixes="OIB",
    ),
    "IOE2": _Rules(
        begins=(("OE", "IE"), ("I", "IE", _CHANGED)),
        goes_on=(("I", "IE", _SAME),),
        ends=(("E", _ANY),),
        prefixes="OIE",
    ),
    "IOBES": _Rules(
        begins=((_ANY, "BS"),),
        goes_on=(("BI", "IE", _SAME),),
        ends=(("ES", _ANY),),
        prefixes="OIBES",
    ),
    "BILOU": _Rules(
        begins=((_ANY, "BU"),),
        goes_on=(("BI", "IL", _SAME),),
        ends=(("UL", _ANY),),
        prefixes="OBILU",
    ),
}
"""What counts in strict mode, by scheme. As in seqeval, an entity of IOE1 cannot be one ``E``."""

_DETECTED = {
    "IOB2": ("B", "I"),
    "IOE2": ("E", "I"),
    "IOBES": ("BE", "IS"),
    "BILOU": ("BL", "IU"),
}
"""How strict mode finds a scheme: prefixes that must be there, and others that may be."""
_ALONE = {"S": "IOBES", "U": "BILOU"}

_USUAL = {
    False: re.compile("O|[BIES](-.*)?", re.DOTALL),
    True: re.compile("O|(.*-)?[BIES]", re.DOTALL),
}
"""What a tag looks like, by whether its prefix is a suffix; lenient reading warns of others."""


@dataclass(frozen=True, slots=True)
class Side:
    """The entities of one side, in the order of their ends.

    Attributes
    ----------
    start, stop : arrays of int
        Half-open, in the tags of all texts end to end, with one more after each text.
    label : array of int
        Numbers of labels.
    first, last : arrays of int
        The prefix of the first and the last tag of each entity, as a number.
    """

    start: Ints
    stop: Ints
    label: Ints
    first: Ints
    last: Ints


@dataclass(frozen=True, slots=True)
class Entities:
    """The entities of a gold standard and of a system in the same texts.

    Attributes
    ----------
    lengths : array of int, shape (texts,)
    labels : tuple of str
        In no order; also of tags that are part of no entity.
    true, predicted : Side
    odd : list of str
        Tags that do not look like one, in the order in which they were met.
    """

    lengths: Ints
    labels: tuple[str, ...]
    true: Side
    predicted: Side
    odd: list[str]

    def places(self, side: Side) -> tuple[Ints, Ints, Ints]:
        """Return the text, start and end of each entity, counted within its text."""
        lengths = self.lengths + 1
        first = np.cumsum(lengths) - lengths
        text = np.searchsorted(first, side.start, side="right") - 1
        start, end = side.start - first[text], side.stop - first[text]
        if np.any(end > self.lengths[text]):
            raise TagError(
                "an entity goes on in the next text",
                expected="tags with a type, as in B-PER",
                remedy=("check these tags: ", *quotes(self.odd)) if self.odd else (),
            )
        return text, start, end

    def n_repaired(self, prefixes: str) -> int:
        """Count the tags of both sides that begin or end an entity although they cannot.

        Parameters
        ----------
        prefixes : str
            The prefixes that tags may have: ``I`` begins no entity where there is ``B``, and ``B``
            and ``I`` end none where there are ``E`` or ``L``.
        """
        begins = _numbers("IEL" if "B" in prefixes else "")
        ends = _numbers("BI" if set(prefixes) & set("EL") else "")
        n_repaired = 0
        for side in (self.true, self.predicted):
            first, last = np.isin(side.first, begins), np.isin(side.last, ends)
            # A tag that is an entity by itself may begin and end it, and is one tag.
            twice = first & last & (side.stop - side.start == 1)
            n_repaired += sum(int(np.count_nonzero(marks)) for marks in (first, last))
            n_repaired -= int(np.count_nonzero(twice))
        return n_repaired


def entities_of(
    y_true: Any, y_pred: Any, *, mode: object = None, scheme: object = None, suffix: bool = False
) -> Entities:
    """Find the entities of both sides.

    Parameters
    ----------
    y_true, y_pred : list of lists of str
    mode : {None, "default", "strict"}
        Strict mode needs a scheme; without one, it is the default mode.
    scheme : str or class, optional
        One of `SCHEMES`, or a class of that name.
    suffix : bool
        Whether tags are ``PER-B`` rather than ``B-PER``.

    Examples
    --------
    >>> found = entities_of([["B-PER", "I-PER", "O"]], [["B-PER", "O", "B-PER"]])
    >>> found.true.start.tolist(), found.true.stop.tolist()
    ([0], [2])
    >>> found.predicted.start.tolist(), found.predicted.stop.tolist()
    ([0, 2], [1, 3])
    """
    name = checked_scheme(scheme)
    rules = SCHEMES[name] if is_strict(mode) and name is not None else LENIENT
    lengths = checked_lengths(y_true, y_pred)
    # The tags of both sides as numbers, with an ``O`` after each text.
    texts = chain.from_iterable(zip(chain(y_true, y_pred), repeat((OUTSIDE,))))
    codes, spelling = coded_tags(chain.from_iterable(texts))
    prefix, label, labels, odd = _vocabulary(spelling, rules, suffix=suffix)
    if np.any(prefix < 0):
        _refuse(y_true, y_pred, spelling[int(np.argmin(prefix))], rules, suffix=suffix)
    true, predicted = (_side(prefix[code], label[code], rules) for code in codes.reshape(2, -1))
    return Entities(lengths, labels, true, predicted, odd)


def is_strict(mode: object) -> bool:
    """Return whether a mode is the strict one."""
    return mode is not None and checked_option("mode", mode, ("default", "strict")) == "strict"


def checked_scheme(scheme: object) -> str | None:
    """Return the name of a scheme, which may be given as a class of seqeval."""
    if scheme is None:
        return None
    name = scheme.__name__ if isinstance(scheme, type) else scheme
    return checked_option("scheme", name, SCHEMES)


def checked_lengths(y_true: Any, y_pred: Any) -> Ints:
    """Count the tags of each text, of which both sides must have as many."""
    for side in (y_true, y_pred):
        if not isinstance(side, list):
            raise _not_lists(side, "")
        strange = next((i for i, text in enumerate(side) if type(text) is not list), None)
        if strange is not None:
            raise _not_lists(side[strange], f"text {strange}")
        if not side:
            raise ListsError("there are no texts", expected="a list of tags for each text")
    true, predicted = (np.fromiter(map(len, side), np.int64) for side in (y_true, y_pred))
    if len(true) != len(predicted):
        found = f"{len(true)} texts are true, {len(predicted)} predicted"
        raise MismatchError(found, expected="the same texts in the same order")
    if np.any(true != predicted):
        text = int(np.argmax(true != predicted))
        found = f"{true[text]} true tags, {predicted[text]} predicted"
        raise MismatchError(found, where=f"text {text}", expected="the same tokens, one tag each")
    return true


def _not_lists(value: object, where: str) -> ListsError:
    name = type(value).__name__
    return ListsError(f"got {name}", where=where, expected="a list of tags for each text")


def detected_scheme(texts: Texts, *, suffix: bool = False) -> str:
    """Detect the scheme whose prefixes these tags have.

    Examples
    --------
    >>> detected_scheme([["B-PER", "I-PER", "O"]]), detected_scheme([["U-PER"]])
    ('IOB2', 'BILOU')
    """
    place = -1 if suffix else 0
    tags = chain.from_iterable(texts)
    prefixes = {tag[place] for tag in tags if isinstance(tag, str) and tag}
    inside = prefixes - {OUTSIDE}
    if len(prefixes) == 1:
        # A single token of IOBES or BILOU, where there is nothing else at all.
        alone = _ALONE.get(next(iter(prefixes)))
        if alone is not None:
            return alone
    for scheme, (needed, others) in _DETECTED.items():
        if set(needed) <= inside <= {*needed, *others}:
            return scheme
    raise OptionError(
        "no scheme has exactly the prefixes ",
        *quotes(sorted(prefixes)),
        remedy=f"choose one with scheme: {', '.join(SCHEMES)}",
    )


def types_of(tags: Iterable[str], *, is_strict: bool, suffix: bool) -> set[str]:
    """Return the labels that tags can give to entities.

    Examples
    --------
    >>> sorted(types_of(["O", "B-PER", "I-PER", "B"], is_strict=False, suffix=False))
    ['PER', '_']
    """
    return {_parts(tag, is_strict=is_strict, suffix=suffix)[1] for tag in tags if tag != OUTSIDE}


# --- Tags to entities ---------------------------------------------------------


def _vocabulary(
    spelling: Sequence[str], rules: _Rules, *, suffix: bool
) -> tuple[Ints, Ints, tuple[str, ...], list[str]]:
    """Return prefix and label of each distinct tag, the labels, and tags that look like none.

    The prefix is -1 where a tag is none, or the rules do not allow it.
    """
    types: dict[str, int] = {}
    prefix = np.full(len(spelling), -1)
    label = np.zeros(len(spelling), dtype=np.int64)
    odd = []
    for code, tag in enumerate(spelling):
        if not isinstance(tag, str) or not tag:
            continue
        letter, name = _parts(tag, is_strict=bool(rules.prefixes), suffix=suffix)
        if rules.prefixes and letter not in rules.prefixes:
            continue
        if not rules.prefixes and not _USUAL[bool(suffix)].fullmatch(tag):
            odd.append(tag)
        number = _PREFIXES.find(letter)
        prefix[code] = number if number >= 0 else _OTHER
        label[code] = types.setdefault(name, len(types))
    return prefix, label, tuple(types), odd


def _parts(tag: str, *, is_strict: bool, suffix: bool) -> tuple[str, str]:
    """Split a tag into its prefix, which is one letter, and its type.

    The type is what is beyond the dash next to the prefix; in strict mode all of the rest, without
    dashes at its ends.
    """
    turned = tag[::-1] if suffix else tag
    name = turned[1:].strip("-") if is_strict else turned[1:].split("-", maxsplit=1)[-1]
    return turned[0], (name[::-1] if suffix else name) or "_"


def _refuse(y_true: Texts, y_pred: Texts, tag: object, rules: _Rules, *, suffix: bool) -> NoReturn:
    """Refuse a tag that the rules do not know, with its place."""
    sides = (("true", y_true), ("predicted", y_pred))
    side, text, place = next(
        (name, i, texts_i.index(tag))
        for name, texts in sides
        for i, texts_i in enumerate(texts)
        if tag in texts_i
    )
    letters = rules.prefixes or "a letter"
    expected: str = "a string"
    if isinstance(tag, str):
        shape = f"TYPE-{{{'|'.join(letters)}}}" if suffix else f"{{{'|'.join(letters)}}}-TYPE"
        expected = f"O or {shape}" if rules.prefixes else "a prefix and a type, as in B-PER"
    raise TagError(
        *("tag ", Quote(tag), " is not in the scheme" if rules.prefixes else " is no tag"),
        where=f"{side} tags, text {text}, position {place}",
        expected=expected,
    )


@cache
def _tables(rules: _Rules) -> tuple[Bools, Bools, Bools]:
    """Tabulate whether an entity begins, goes on and ends, by prefixes and equal types."""
    found = []
    for cases in (rules.begins, rules.goes_on, rules.ends):
        table = np.zeros((len(_PREFIXES), len(_PREFIXES), 2), dtype=bool)
        for before, after, *types in cases:
            changes = types[0] if types else _EITHER
            for change in changes:
                table[np.ix_(_numbers(before), _numbers(after), [int(change)])] = True
        found.append(table.reshape(-1))
    return found[0], found[1], found[2]


def _numbers(prefixes: str) -> list[int]:
    return [_PREFIXES.index(letter) for letter in prefixes]


def _side(prefix: Ints, label: Ints, rules: _Rules) -> Side:
    """Find the entities of one side in its tags end to end."""
    before, changed = np.zeros_like(prefix), np.ones(len(prefix), dtype=bool)
    before[1:] = prefix[:-1]
    changed[1:] = label[1:] != label[:-1]
    key = (before * len(_PREFIXES) + prefix) * 2 + changed
    begins, goes_on, ends = (table[key] for table in _tables(rules))
    start, stop = (
        _whole_entities(begins, goes_on, ends) if rules.prefixes else _any_entities(begins, ends)
    )
    return Side(start, stop, label[stop - 1], prefix[start], prefix[stop - 1])


def _any_entities(begins: Bools, ends: Bools) -> tuple[Ints, Ints]:
    """Find an entity wherever one ends, from the last place before where one began."""
    stop = np.flatnonzero(ends)
    start = np.flatnonzero(begins)
    if not len(start):
        return np.zeros_like(stop), stop
    rank = np.searchsorted(start, stop, side="left") - 1
    return np.where(rank >= 0, start[rank], 0), stop


def _whole_entities(begins: Bools, goes_on: Bools, ends: Bools) -> tuple[Ints, Ints]:
    """Find an entity in each run of tags that go on, from the first that begins one.

    It counts only if an entity ends where the run does.
    """
    breaks = np.flatnonzero(~goes_on)
    start = np.flatnonzero(begins)
    run = np.searchsorted(breaks, start, side="right") - 1
    is_first = np.ones(len(start), dtype=bool)
    is_first[1:] = run[1:] != run[:-1]
    start, run = start[is_first], run[is_first]
    stop = breaks[run + 1]
    is_whole = ends[stop]
    return start[is_whole], stop[is_whole]
