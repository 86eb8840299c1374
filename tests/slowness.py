"""Texts on which a regular expression may need more time than their length accounts for.

A text is something that the beginning of the pattern matches, then many times what a part of it
matches, and something that it may not match at last. What parts match is found by trying.
"""

from __future__ import annotations

import gc
import re
import sys
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from itertools import combinations, cycle, islice, permutations, product, zip_longest
from math import inf
from re import _compiler, _parser
from types import FrameType
from typing import NamedTuple, TypeVar

T = TypeVar("T")
MOST = 2.5
"""How many times as long twice as much may take."""
_LONGEST = 100_000
# Numbers that grow slowly first, because 2^n grows quickly.
_NUMBERS = (16, 20, 24, 32, 44, 100, 400, 2_500, 10_000, 30_000)
_TRIED_UP_TO = 2_500
"""Characters up to which all texts are tried; the slowest of them are tried up to the longest."""
_TELLING = 0.02
"""Seconds from which on two times can be compared."""
_SIGNS = [
    *map(chr, range(9, 14)),
    *map(chr, range(28, 127)),
    *"\0\x85é\u017f٣\u2028中▲\ud800\U0001f642",
]
_REPEATS = (_parser.MAX_REPEAT, _parser.MIN_REPEAT, _parser.POSSESSIVE_REPEAT)
_OF_ONE_SIGN = (_parser.LITERAL, _parser.NOT_LITERAL, _parser.IN, _parser.ANY)


class Text(NamedTuple):
    """A text in which something is repeated."""

    before: str
    repeated: str
    after: str

    def times(self, number: int) -> str:
        return self.before + self.repeated * number + self.after


def n_calls(call: Callable[[], object]) -> int:
    """How many functions are called, those written in C too: the same on every machine."""
    n = 0

    def count(_frame: FrameType, event: str, _argument: object) -> None:
        nonlocal n
        n += event in {"call", "c_call"}

    before = sys.getprofile()
    sys.setprofile(count)
    try:
        call()
    finally:
        sys.setprofile(before)
    return n


def growth(run: Callable[[T], object], short: T, long: T) -> float:
    """How many times as long one input takes as the other, by the best of several times."""
    times = [(_seconds(run, short), _seconds(run, long)) for _ in range(4)]
    return min(long for _, long in times) / min(short for short, _ in times)


def too_slow(pattern: re.Pattern, method: str) -> Text | None:
    """A text that takes a pattern more time than in proportion; None if none was found."""
    run = _use(pattern, method)
    taken: dict[Text, float] = {}
    for text in texts_for(pattern):
        taken[text] = time_for(run, text, _TRIED_UP_TO)
        if taken[text] == inf:
            return text
    slowest = nlargest(3, taken, key=taken.__getitem__)
    return next((text for text in slowest if time_for(run, text) == inf), None)


def time_for(run: Callable[[str], object], text: Text, length: int = _LONGEST) -> float:
    """The time that a text takes, infinite if it is more than in proportion to the length."""
    most = length // len(text.repeated)
    for number in (*(number for number in _NUMBERS if number < most), most):
        taken = _in_proportion(run, text, number)
        if taken == inf:
            break
    return taken


def _in_proportion(run: Callable[[str], object], text: Text, number: int) -> float:
    """The time that a text takes; infinite if a quarter of it takes far less than a quarter."""
    long = text.times(number)
    taken = _seconds(run, long)
    is_more = taken > _TELLING and growth(run, text.times(number // 4), long) > MOST**2
    return inf if is_more else taken


def _seconds(run: Callable[[T], object], text: T) -> float:
    gc.disable()
    begin = time.thread_time()
    run(text)
    taken = time.thread_time() - begin
    gc.enable()
    return taken


def _use(pattern: re.Pattern, method: str) -> Callable[[str], object]:
    """What a method does with a text; those that find all places do the same."""
    if method in {"match", "fullmatch", "search"}:
        found = getattr(pattern, method)
    else:

        def found(text: str | bytes) -> object:
            return deque(pattern.finditer(text), maxlen=0)

    is_text = isinstance(pattern.pattern, str)
    return found if is_text else lambda text: found(text.encode("utf-8", "replace"))


# --- Texts for a pattern ------------------------------------------------------


def texts_for(pattern: re.Pattern) -> Iterator[Text]:
    """Texts on which a pattern may take long."""
    tree = _parser.parse(pattern.pattern, pattern.flags)
    matched = {id(node): _matched(node, tree, pattern) for node in _of_one_sign(tree)}
    rows = list(islice(_rows(tree, matched), 10))
    # One sign of those that no part of the pattern tells apart, the most often matched first.
    groups = {tuple(sign in signs for signs in matched.values()): sign for sign in _SIGNS}
    signs = [groups[group] for group in sorted(groups, key=sum, reverse=True)]
    found: dict[tuple[str, str], None] = {}
    for row in rows:
        begins = ["".join(row[:i]) for i in range(len(row) + 1)]
        for i, j in combinations(range(len(begins)), 2):
            found[begins[i], "".join(row[i:j])] = found["", "".join(row[i:j])] = None
        found |= dict.fromkeys(product(begins, signs[:8]))
        pairs = ["".join(pair) for pair in permutations(signs[:4], 2)]
        found |= dict.fromkeys(product(begins, pairs))
    last = [row[-1] for row in rows if row]
    ends = dict.fromkeys(["", "\0", *last, *(f"{part}\0" for part in last)])
    for (before, repeated), after in product(found, ends):
        if repeated:
            yield Text(before, repeated, after)


def _matched(node: tuple, tree: _parser.SubPattern, pattern: re.Pattern) -> str:
    """The signs that a part of a pattern matches."""
    compiled = _compiler.compile(_parser.SubPattern(tree.state, [node]), pattern.flags)
    if isinstance(pattern.pattern, str):
        return "".join(filter(compiled.fullmatch, _SIGNS))
    return "".join(s for s in _SIGNS if s.isascii() and compiled.fullmatch(s.encode()))


def _of_one_sign(tree: _parser.SubPattern) -> Iterator[tuple]:
    for node in tree:
        if node[0] in _OF_ONE_SIGN:
            yield node
        for inner in _inside(*node):
            yield from _of_one_sign(inner)


def _inside(kind: object, value: tuple) -> Sequence[_parser.SubPattern]:
    if kind is _parser.BRANCH:
        return value[1]
    if kind is _parser.ATOMIC_GROUP:
        return [value]
    is_group = kind in (*_REPEATS, _parser.SUBPATTERN, _parser.ASSERT, _parser.ASSERT_NOT)
    return [value[-1]] if is_group else []


def _rows(tree: _parser.SubPattern, matched: dict[int, str]) -> Iterator[list[str]]:
    """Some texts that a pattern matches, cut into its parts."""
    ways: list[list[list[str]]] = []
    before = None
    for node in tree:
        kind, value = node
        inner = _inside(kind, value)
        if kind is _parser.LITERAL and before is _parser.LITERAL:
            ways[-1][0][0] += matched[id(node)][:1]  # a word is one part
        elif kind in _OF_ONE_SIGN:
            signs = matched[id(node)]
            ends = signs[:1] if kind is _parser.LITERAL else signs[:1] + signs[-1:]
            ways.append([[sign] for sign in dict.fromkeys(ends)] or [[""]])
        elif inner and kind not in (_parser.ASSERT, _parser.ASSERT_NOT):
            least = max(value[0], 1) if kind in _REPEATS else 1
            # The first of each alternative before the second of any.
            ranks = zip_longest(*(islice(_rows(one, matched), 3) for one in inner))
            ways.append([row * least for rank in ranks for row in rank if row] or [[""]])
        before = kind
    number = max(map(len, ways), default=0)
    for row in islice(zip(*map(cycle, ways), strict=False), number):
        yield [part for parts in row for part in parts]


# --- Steps instead of seconds -------------------------------------------------

_MANY = (48, 200)
"""How often something is repeated in texts whose steps are counted: most need no second look."""
_TOO_MANY = 100_000
"""Steps after which their number no longer matters."""
_MOST_TEXTS = 400
Matcher = Callable[[int], bool]


def too_many_steps(pattern: re.Pattern, method: str) -> Text | None:
    """A text that takes a pattern more steps than in proportion; None if none was found.

    Steps are those of trying one way after the other, as Python does, but for what it may skip
    at once: they are the same on every machine. Of many texts, some from everywhere are tried.
    """
    steps = Steps(pattern, method)
    texts = list(texts_for(pattern))
    some = texts[:: -(-len(texts) // _MOST_TEXTS) or 1]
    before = sys.getrecursionlimit()
    sys.setrecursionlimit(10_000)  # a repeated group calls itself
    try:
        return next((one for one in some if all(_is_more(steps, one, n) for n in _MANY)), None)
    finally:
        sys.setrecursionlimit(before)


def _is_more(steps: Steps, text: Text, number: int) -> bool:
    """Whether a quarter of a text takes far less than a quarter of the steps."""
    long = text.times(number)
    found = steps.of(long)
    if found <= 3 * len(long):
        return False
    return found >= _TOO_MANY or found > MOST**2 * steps.of(text.times(number // 4))


class Steps:
    """The steps that a pattern takes on texts of the signs above."""

    def __init__(self, pattern: re.Pattern, method: str) -> None:
        tree = _parser.parse(pattern.pattern, pattern.flags)
        self.is_by_line = bool(pattern.flags & re.MULTILINE)
        self.signs = {id(node): set(_matched(node, tree, pattern)) for node in _of_one_sign(tree)}
        self.method = method
        self.text, self.number, self.end = "", 0, 0
        self.tree = tree  # what the ids are of
        self.matches = self._row(tree, self._done)

    def of(self, text: str) -> int:
        """The number of steps on a text."""
        self.text, self.number = text, 0
        start = 0
        while start <= len(text) and self.number < _TOO_MANY:
            is_found = self.matches(start)
            if self.method in {"match", "fullmatch"} or (is_found and self.method == "search"):
                break
            start = max(self.end, start + 1) if is_found else start + 1
        return self.number

    def end_of(self, text: str) -> int | None:
        """Where a match at the beginning of a text ends; None if there is none."""
        self.text, self.number = text, 0
        return self.end if self.matches(0) else None

    def _done(self, place: int) -> bool:
        self.end = place
        return self.method != "fullmatch" or place == len(self.text)

    def _row(self, nodes: _parser.SubPattern, then: Matcher) -> Matcher:
        for node in reversed(list(nodes)):
            then = self._node(node, then)
        return then

    def _node(self, node: tuple, then: Matcher) -> Matcher:  # noqa: PLR0911 - one for each kind
        kind, value = node
        if kind in _OF_ONE_SIGN:
            return self._sign(self.signs[id(node)], then)
        if kind in _REPEATS:
            least, most, inner = value
            if len(inner) == 1 and inner[0][0] in _OF_ONE_SIGN:
                return self._signs(kind, least, most, self.signs[id(inner[0])], then)
            return self._repeated(kind, least, most, inner, then)
        if kind is _parser.SUBPATTERN:
            return self._row(value[-1], then)
        if kind is _parser.BRANCH:
            ways = [self._row(way, then) for way in value[1]]
            return lambda place: any(way(place) for way in ways)
        if kind is _parser.AT:
            return lambda place: self._is_at(value, place) and then(place)
        if kind is _parser.ATOMIC_GROUP:
            return self._once(value, then)
        if kind in (_parser.ASSERT, _parser.ASSERT_NOT):
            direction, inner = value
            back = inner.getwidth()[0] if direction < 0 else 0
            seen = self._once(inner, lambda _: True)
            is_wanted = kind is _parser.ASSERT
            return lambda place: (place >= back and seen(place - back)) == is_wanted and then(place)
        raise NotImplementedError(kind)

    def _step(self) -> bool:
        """Count a step; whether there may be more of them."""
        self.number += 1
        return self.number < _TOO_MANY

    def _sign(self, signs: set[str], then: Matcher) -> Matcher:
        def matches(place: int) -> bool:
            is_more = self._step() and place < len(self.text)
            return is_more and self.text[place] in signs and then(place + 1)

        return matches

    def _signs(
        self, kind: object, least: int, most: int, signs: set[str], then: Matcher
    ) -> Matcher:
        def matches(place: int) -> bool:
            end, last = place, min(len(self.text), place + int(most))
            while end < last and self.text[end] in signs:
                end += 1
            self.number += end - place + 1
            ends = range(place + least, end + 1)
            if kind is _parser.POSSESSIVE_REPEAT:
                ends = ends[-1:]
            elif kind is _parser.MAX_REPEAT:
                ends = ends[::-1]
            return any(self._step() and then(one) for one in ends)

        return matches

    def _repeated(
        self, kind: object, least: int, most: int, inner: _parser.SubPattern, then: Matcher
    ) -> Matcher:
        counts: list[tuple[int, int]] = []  # how many there are, and where the last began

        def again(place: int) -> bool:
            number, begin = counts[-1]
            if place == begin and number >= least:
                return False
            counts.append((number + 1, place))
            is_found = ahead(place)
            counts.pop()
            return is_found

        def ahead(place: int) -> bool:
            number = counts[-1][0]
            if not self._step():
                return False
            if kind is _parser.MIN_REPEAT and number >= least and then(place):
                return True
            if number < most and one_more(place):
                return True
            return kind is not _parser.MIN_REPEAT and number >= least and then(place)

        one_more = self._row(inner, again)

        def matches(place: int) -> bool:
            counts.append((0, -1))
            is_found = ahead(place)
            counts.pop()
            return is_found

        if kind is _parser.POSSESSIVE_REPEAT:
            rest, then = then, self._note
            return lambda place: matches(place) and rest(self.end)
        return matches

    def _note(self, place: int) -> bool:
        self.end = place
        return True

    def _once(self, inner: _parser.SubPattern, then: Matcher) -> Matcher:
        """What is matched in the first way that there is, and in no other one."""
        first = self._row(inner, self._note)
        return lambda place: first(place) and then(self.end)

    def _is_at(self, what: object, place: int) -> bool:
        self._step()
        text = self.text
        before, after = text[max(place - 1, 0) : place], text[place : place + 1]
        if what is _parser.AT_BEGINNING:
            return not before or (self.is_by_line and before == "\n")
        if what is _parser.AT_END:
            return text[place:] in {"", "\n"} or (self.is_by_line and after == "\n")
        if what is _parser.AT_END_STRING:
            return not after
        is_boundary = (before.isalnum() or before == "_") != (after.isalnum() or after == "_")
        if what is _parser.AT_BOUNDARY:
            return is_boundary
        raise NotImplementedError(what)
