"""What people call the parts of records and spans, in memory or in JSON.

Of several names, the first that is there counts. A span is a dictionary, a tuple or list of
three, spaCy's ``Span``, or any object whose attributes have the names that dictionaries have.
"""

from __future__ import annotations

from collections.abc import Callable, Iterator, Mapping
from itertools import chain
from typing import Any

import numpy as np

from beyondchance.checks import is_whole
from beyondchance.io.layers import as_label
from beyondchance.io.offsets import Interval
from beyondchance.io.values import label_of, refusal, refused
from beyondchance.messages import Text, quotes

TEXTS = (
    *("text", "full_text", "sentence", "content", "input", "raw_text", "raw", "body", "passage"),
    *("context", "source_text", "sourceText", "Text"),
)
IDS = ("id", "doc_id", "document_id", "docid", "uid", "guid", "_id", "doc_key", "orig_id")
ANNOTATORS = ("annotator", "annotator_id", "annotator_name", "annotated_by", "coder", "rater")
"""Under which keys records have these."""
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
_N_OF_CHARACTERS = 6
"""How many of these can only mean characters."""
_TOKENS = ("token_start", "token_end")
"""Next to these, "start" and "end" count characters."""
_PAIRS = ("span", "offsets", "pos", "position")
_OFFSET, _LENGTH = "offset", "length"
# "entity" comes last: next to another of these it holds the words.
_LABELS = (
    *("label", "entity_group", "entity_type", "type", "tag", "ner", "class", "category"),
    *("labels", "Type", "entity"),
)
_WORDS = ("text", "word", "words", "value", "name", "entity_value", "surface", "mention", "Text")
_USUAL = frozenset(chain(*_STARTS_AND_ENDS, _TOKENS, _LABELS, _WORDS, IDS, ANNOTATORS))
"""What spans have in any case."""
_EXPECTED = "offsets under 'start' and 'end', 'offset' and 'length', 'span', or names like these"


def has_text(record: Mapping[str, Any]) -> bool:
    """Return whether a record has a text."""
    return any(isinstance(record.get(key), str) for key in TEXTS)


def triples_of(
    span: Any, where: Text = "", *, positions: str = "characters"
) -> Iterator[tuple[int, int, str]]:
    """Yield the start, end and label of a span, once for each label if it has several.

    Parameters
    ----------
    span : mapping, sequence of three, spaCy Span, or other object
    where : Text, optional
        Its place, for messages.
    positions : {"characters", "tokens"}
        What offsets count: spaCy's ``Span`` knows both, and of others, those that can only count
        characters are refused where they are to count tokens.

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
            raise refusal(
                where, f"a span of {len(span)} values", expected="three: start, end and label"
            )
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
            raise refusal(
                where,
                "a span for each piece of a word",
                expected="whole spans",
                remedy='create the pipeline with aggregation_strategy="simple"',
            )
        if positions == "tokens":
            _check_tokens(get, where)
        interval = _interval(span, get, where)
        name = next((name for name in _LABELS if get(name) is not None), "label")
        key, labels = repr(name), get(name)
    if not isinstance(labels, list | tuple) or not labels:
        labels = [labels]
    for label in labels:
        yield *interval, _label(label, key, where)


def fields_of(span: Any) -> dict[str, str] | None:
    """Return what a span has besides its place, its label and its words; None if nothing.

    Examples
    --------
    >>> fields_of({"start": 0, "end": 2, "label": "SYMPTOM", "negation": True, "certainty": "low"})
    {'negation': 'true', 'certainty': 'low'}
    """
    known = span.items() if isinstance(span, Mapping) else ()
    found = {x: as_label(y) for x, y in known if x not in _USUAL and isinstance(y, str | int)}
    return found or None


def is_span(value: Any) -> bool:
    """Return whether a value is meant as a span, even if its offsets are odd and refused later.

    Examples
    --------
    >>> is_span((0, 2, "PER")), is_span({"start": "0", "end": None, "label": "PER"})
    (True, True)
    >>> is_span(("PER", 0, 2)), is_span({"text": "Ada sat", "entities": []}), is_span("B-PER")
    (False, False, False)
    """
    if isinstance(value, Mapping):
        if _RECORD & value.keys():
            return False
        is_named = any(start in value and end in value for start, end in _STARTS_AND_ENDS)
        return is_named or has_offsets(value)
    if isinstance(value, list | tuple):
        is_named = len(value) == 3 and isinstance(value[2], str)
        return is_named and not (isinstance(value[0], str) and not value[0].strip().isdecimal())
    return hasattr(value, "label_") and hasattr(value, "start_char")


_RECORD = frozenset({"tokens", "words", "entities", "spans", "ner"})
"""Keys of what holds spans, rather than of a span."""


def has_offsets(span: Any) -> bool:
    """Return whether a span has a start and an end, so that it need not be found in the text.

    Examples
    --------
    >>> has_offsets({"begin": 3, "end": 5}), has_offsets([3, 5, "LOC"])
    (True, True)
    >>> has_offsets({"text": "Oslo", "label": "LOC"}), has_offsets(["Oslo", "LOC"])
    (False, False)
    """
    if isinstance(span, list | tuple):
        return len(span) == 3 and _is_whole(span[0]) and _is_whole(span[1])
    return isinstance(span, Mapping) and any(map(_is_whole, _offsets(span.get) or ()))


def words_of(span: Any) -> str | None:
    """Return the words that are stored with a span, if they are.

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
    """Return where a span begins and ends, whatever type that is; None if it does not say."""
    for names in _STARTS_AND_ENDS:
        start, end = map(get, names)
        if start is not None and end is not None:
            return start, end
    start, length = get(_OFFSET), get(_LENGTH)
    if _is_whole(start) and _is_whole(length):
        return start, start + length
    for name in _PAIRS:
        pair = get(name)
        if isinstance(pair, list | tuple) and len(pair) == 1:  # a list of fragments
            pair = pair[0]
        if _is_pair(pair) and any(map(_is_whole, pair)):
            return pair[0], pair[1]
    return None


def _interval(span: Any, get: Callable[[str], Any], where: Text) -> Interval:
    offsets = _offsets(get)
    if offsets is None or isinstance(offsets[0], list | tuple):
        lists = [value for value in map(get, _PAIRS) if isinstance(value, list | tuple)]
        for fragments in lists:
            if any(map(_is_pair, fragments)):
                raise refusal(
                    where,
                    f"a span of {len(fragments)} fragments",
                    expected="one",
                    remedy="split the span",
                )
    if offsets is not None:
        return _whole(offsets[0], "the start", where), _whole(offsets[1], "the end", where)
    if not isinstance(span, Mapping):
        raise refused(span, "a span", where, "an object, or [start, end, label]")
    for names in _STARTS_AND_ENDS:
        if names[0] in span and names[1] in span:
            name = next(name for name in names if span[name] is None)
            raise refused(None, repr(name), where, "a whole number")
    found_keys = quotes(map(str, span), none="none: it is empty")
    raise refusal(where, "a span has the keys {}", found_keys, expected=_EXPECTED)


def _is_pair(value: Any) -> bool:
    return isinstance(value, list | tuple) and len(value) == 2


def _check_tokens(get: Callable[[str], Any], where: Text) -> None:
    """Refuse a span whose offsets count characters, where they are to count tokens."""
    of_characters = (*_STARTS_AND_ENDS[:_N_OF_CHARACTERS], _TOKENS)
    found = next((names for names in of_characters if get(names[0]) is not None), None)
    if found is None:
        return
    raise refusal(
        where,
        f"a span has {found[0]!r}, so that its offsets count characters",
        expected="offsets that count tokens, under 'start' and 'end' only",
        remedy="pass texts= instead of tokens=, or (start, end, label) in tokens",
    )


def _is_whole(value: Any) -> bool:
    """Return whether a value is a whole number; some programs write them as 12.0."""
    return is_whole(value) or (isinstance(value, float | np.floating) and value.is_integer())


def _whole(value: Any, what: str, where: Text) -> int:
    if not _is_whole(value):
        raise refused(value, what, where, "a whole number")
    return int(value)


def _label(value: Any, key: str, where: Text) -> str:
    """Return a label: a name, or a number that stands for one."""
    return str(value) if is_whole(value) else label_of(value, where, key)
