"""Spans as people have them, in memory or from JSON: their start, end and label.

A span is a dictionary, a tuple or list of three, spaCy's ``Span``, or any object whose
attributes have the names that dictionaries have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from typing import Any

from beyondchance.checks import is_whole
from beyondchance.errors import FormatError
from beyondchance.io.offsets import Interval
from beyondchance.io.values import refused
from beyondchance.messages import Text, quotes

# Names that can only mean characters come first: next to them, "start" and "end" count tokens.
_STARTS_AND_ENDS = (
    ("start_char", "end_char"),
    ("char_start", "char_end"),
    ("start_offset", "end_offset"),
    ("begin_offset", "end_offset"),
    ("startOffset", "endOffset"),
    ("BeginOffset", "EndOffset"),
    ("start", "end"),
    ("begin", "end"),
    ("start_position", "end_position"),
    ("start_pos", "end_pos"),
    ("start_index", "end_index"),
    ("start_idx", "end_idx"),
)
_PAIRS = ("span", "offsets")
_OFFSET, _LENGTH = "offset", "length"
# "entity" comes last: next to another of these it holds the words.
_LABELS = (
    *("label", "entity_group", "entity_type", "type", "tag", "ner", "class", "category"),
    *("labels", "Type", "entity"),
)
_WORDS = ("text", "word", "words", "value", "name", "entity_value", "surface", "mention", "Text")
_EXPECTED = "offsets under 'start' and 'end', 'offset' and 'length', 'span', or names like these"


def triples_of(
    span: Any, where: Text = "", *, positions: str = "characters"
) -> Iterator[tuple[int, int, str]]:
    """The start, end and label of a span, once for each label where it has a list of them.

    Parameters
    ----------
    span : mapping, sequence of three, spaCy Span, or other object
    where : Text, optional
        Its place, for messages.
    positions : {"characters", "tokens"}
        What to take of spaCy's ``Span``, which knows both.

    Examples
    --------
    >>> list(
    ...     triples_of({"entity_group": "PER", "score": 0.9, "word": "Anna", "start": 0, "end": 4})
    ... )
    [(0, 4, 'PER')]
    >>> [*triples_of({"offset": 3, "length": 2, "type": ["LOC"]}), *triples_of((3, 5, "LOC"))]
    [(3, 5, 'LOC'), (3, 5, 'LOC')]
    >>> list(triples_of({"start": 0, "end": 4, "labels": ["PER", "POET"]}))
    [(0, 4, 'PER'), (0, 4, 'POET')]
    """
    if isinstance(span, list | tuple):
        if len(span) != 3:
            found = f"a span of {len(span)} values"
            raise FormatError(found, where=where, expected="three: start, end and label")
        start, end, labels = span
        interval = _whole(start, "the start", where), _whole(end, "the end", where)
        key = "the label"
    elif hasattr(span, "label_"):
        is_tokens = positions == "tokens"
        interval = (span.start, span.end) if is_tokens else (span.start_char, span.end_char)
        key, labels = "'label_'", span.label_
    else:
        get = _lookup(span)
        if get("index") is not None and get("entity") is not None:
            raise FormatError(
                "a span for each piece of a word",
                where=where,
                expected="whole spans",
                remedy='create the pipeline with aggregation_strategy="simple"',
            )
        interval = _interval(span, get, where)
        name = next((name for name in _LABELS if get(name) is not None), "label")
        key, labels = repr(name), get(name)
    if not isinstance(labels, list | tuple) or not labels:
        labels = [labels]
    for label in labels:
        yield *interval, _label(label, key, where)


def has_offsets(span: Any) -> bool:
    """Whether a span has a start and an end, so that it need not be looked for in the text.

    Examples
    --------
    >>> has_offsets({"begin": 3, "end": 5}), has_offsets([3, 5, "LOC"])
    (True, True)
    >>> has_offsets({"text": "Oslo", "label": "LOC"}), has_offsets(["Oslo", "LOC"])
    (False, False)
    """
    if isinstance(span, list | tuple):
        return len(span) == 3 and is_whole(span[0]) and is_whole(span[1])
    return isinstance(span, Mapping) and any(map(is_whole, _offsets(span.get) or ()))


def words_of(span: Any) -> str | None:
    """The words that are stored with a span, if they are.

    Examples
    --------
    >>> words_of({"start": 0, "end": 4, "type": "PER", "entity": "Anna"})
    'Anna'
    >>> words_of({"start": 0, "end": 4, "entity": "PER"})
    """
    if isinstance(span, list | tuple) or hasattr(span, "label_"):
        return None
    get = _lookup(span)
    for name in _WORDS:
        words = get(name)
        if isinstance(words, str) and words:
            return words
    words = get("entity")
    has_label = any(get(name) is not None for name in _LABELS if name != "entity")
    return words if has_label and isinstance(words, str) and words else None


def _lookup(span: Any) -> Callable[[str], Any]:
    if isinstance(span, dict | Mapping):  # asked in this order, which is faster
        return span.get
    return lambda name: getattr(span, name, None)


def _offsets(get: Callable[[str], Any]) -> tuple[Any, Any] | None:
    """Where a span begins and ends, whatever type that is; None if it does not say."""
    for names in _STARTS_AND_ENDS:
        start, end = map(get, names)
        if start is not None and end is not None:
            return start, end
    start, length = get(_OFFSET), get(_LENGTH)
    if is_whole(start) and is_whole(length):
        return start, start + length
    for name in _PAIRS:
        pair = get(name)
        if isinstance(pair, list | tuple) and len(pair) == 1:  # a list of fragments
            pair = pair[0]
        if _is_pair(pair):
            return pair[0], pair[1]
    return None


def _interval(span: Any, get: Callable[[str], Any], where: Text) -> Interval:
    offsets = _offsets(get)
    for name in _PAIRS if offsets is None or isinstance(offsets[0], list | tuple) else ():
        fragments = get(name)
        if isinstance(fragments, list | tuple) and any(map(_is_pair, fragments)):
            problem = f"a span of {len(fragments)} fragments"
            remedy = "split the span"
            raise FormatError(problem, where=where, expected="one fragment", remedy=remedy)
    if offsets is not None:
        return _whole(offsets[0], "the start", where), _whole(offsets[1], "the end", where)
    if not isinstance(span, Mapping):
        is_json = span is None or isinstance(span, str | int | float)
        expected = "an object, or [start, end, label]"
        if is_json:
            raise refused(span, "a span", where, expected)
        raise FormatError(f"a span is a {type(span).__name__}", where=where, expected=expected)
    found = ("a span has the keys ", *quotes(map(str, span))) if span else ("a span is empty",)
    raise FormatError(*found, where=where, expected=_EXPECTED)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2


def _whole(value: Any, what: str, where: Text) -> int:
    if not is_whole(value):
        raise refused(value, what, where, "a whole number")
    return int(value)


def _label(value: Any, key: str, where: Text) -> str:
    """A label: a name, or a number that stands for one."""
    if is_whole(value):
        return str(value)
    if not isinstance(value, str) or not value:
        raise refused(value, key, where, "a name")
    return value
