"""Texts on which a regular expression may need more time than their length accounts for.

A text is something that the beginning of the pattern matches, then many times what a part of it
matches, and something that it may not match at last. What parts match is found by trying.
"""

from __future__ import annotations

import gc
import re
import time
from collections import deque
from collections.abc import Callable, Iterator, Sequence
from heapq import nlargest
from itertools import combinations, cycle, islice, permutations, product, zip_longest
from math import inf
from re import _compiler, _parser
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


def growth(run: Callable[[T], object], short: T, long: T) -> float:
    """How many times as long one input takes as the other, by the best of several times."""
    times = [(_seconds(run, short), _seconds(run, long)) for _ in range(4)]
    return min(long for _, long in times) / min(short for short, _ in times)


def too_slow(pattern: re.Pattern, method: str) -> Text | None:
    """A text that takes a pattern more time than in proportion; None if none was found."""
    run = _use(pattern, method)
    taken: dict[Text, float] = {}
    for text in _texts(pattern):
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


def _texts(pattern: re.Pattern) -> Iterator[Text]:
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
