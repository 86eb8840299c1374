"""Shapes of records that are known, asked for, or guessed."""

from __future__ import annotations

import re
from collections.abc import Iterable, Iterator, Mapping, Sequence
from itertools import islice
from typing import Any

from beyondchance.checks import is_whole
from beyondchance.errors import OptionError
from beyondchance.io.shapes import Shape
from beyondchance.io.span_objects import IDS
from beyondchance.messages import Piece, Use, given
from beyondchance.tallies import no_spans

_RELATIONS = no_spans("relations")
_GLINER = Shape(
    tokens="tokenized_text", spans="ner", start="0", end="1", label="2", ends="inclusive"
)
KNOWN = (
    _GLINER,
    # DyGIE++, as SciERC: offsets count the words of the document
    _GLINER._replace(
        tokens="sentences.*",
        spans="ner.*",
        not_spans={
            "relations.*": _RELATIONS,
            "clusters": no_spans("clusters"),
            "events.*": no_spans("events"),
        },
    ),
    # SpERT
    Shape(
        tokens="tokens",
        spans="entities",
        label="type",
        not_spans={"relations": _RELATIONS},
    ),
    # Dataturks
    Shape(
        texts=("content",),
        spans="annotation",
        start="points.*.start",
        end="points.*.end",
        words="points.*.text",
        ends="inclusive",
    ),
    # LightTag
    Shape(
        texts=("content",),
        documents=("example_id",),
        annotators=("seen_by.*.annotator",),
        spans="annotations",
        label="tag",
        words="value",
        annotator=("annotated_by.*.annotator",),
        not_spans={"classifications": no_spans("categories of whole texts")},
    ),
    # Amazon Comprehend
    Shape(
        texts=(),
        documents=("File",),
        line="Line",
        spans="Entities",
        start="BeginOffset",
        end="EndOffset",
        label="Type",
    ),
)
"""Shapes of popular files."""


def known_shape(records: Sequence[Any]) -> Shape | None:
    """Return the known shape of records: some have all of it, or all of them what is not spans."""
    for shape in KNOWN:
        found = [shape.fits(record) for record in records]
        if any(found) or (found and False not in found):
            return shape
    return None


_RECORD = {"text": "texts", "document": "documents", "annotator": "annotators"}
_KEYS = (*_RECORD, "tokens", "spans", "start", "end", "label", "words", "records", "line")


def shape_of(fields: object) -> Shape:
    """Return the shape that the option ``fields`` describes.

    Examples
    --------
    >>> shape = shape_of("text=content,spans=annotation,start=points.0.start")
    >>> shape.texts, shape.start, shape.end
    (('content',), 'points.0.start', 'end')
    """
    parts = (part.partition("=")[::2] for part in str(fields).split(","))
    pairs = fields.items() if isinstance(fields, Mapping) else parts
    known = {str(key).strip(): str(path).strip() for key, path in pairs}
    if not known.keys() <= set(_KEYS) or {"text", "tokens"} <= known.keys():
        expected = f"KEY=PATH, separated by commas, for some of {', '.join(_KEYS)}; text or tokens"
        raise OptionError(*given("fields", fields), expected=expected)
    asked: dict[str, Any] = {**known, "has_numbers": True}
    asked |= {
        ours: (asked.pop(key),) * bool(known[key]) for key, ours in _RECORD.items() if key in known
    }
    return Shape(**asked, annotator=asked.get("annotators", ()))


_STARTS, _ENDS = ("start", "begin", "from", "offset"), ("end", "stop", "to", "last")
_LABELS = ("label", "type", "tag", "categ", "class", "entity")
_PERSON = re.compile("annotat|coder|rater|user|worker", re.IGNORECASE)
_UNKNOWN = "KEY"
_DEEPEST = 6
_MOST_RECORDS = 100


def asking(records: Iterable[Any]) -> tuple[Piece, ...]:
    """Ask for the option ``fields``, filled in as far as it can be guessed."""
    # The first records may have no spans.
    guesses = map(guessed, islice(records, _MOST_RECORDS))
    best = min(guesses, key=lambda guess: guess.count(f"={_UNKNOWN}"))
    return "say where they are, such as ", Use("fields", best, is_quote=True)


def guessed(record: Any) -> str:
    """Return the option ``fields`` for a record, with ``KEY`` for what cannot be guessed.

    Examples
    --------
    >>> span = {"cat": ["PER"], "at": [{"from": 0, "to": 2}]}
    >>> guessed({"body": {"en": "Ada met Bo"}, "marks": [span]})
    'text=body.en,spans=marks,start=at.*.from,end=at.*.to,label=cat'
    >>> guessed({"n": 2, "docs": [{"words": ["Ada", "met", "Bo"], "ents": [[0, 1, "PER"]]}]})
    'records=docs,tokens=words,spans=ents,start=0,end=1,label=2'
    """
    parts = [part for part in _parts(record) if part[0]]
    lists = [(path, value) for path, value in parts if isinstance(value, list) and value]
    strings = ((path, value) for path, value in parts if isinstance(value, str))
    texts = {path: value for path, value in strings if path not in IDS and ".0" not in path}
    text = max(texts, key=lambda path: (texts[path].count(" "), len(texts[path])), default=_UNKNOWN)
    words = [path for path, value in lists if isinstance(value[0], str) and ".0." not in path]
    has_text = " " in texts.get(text, "")
    for path, value in [] if has_text or words else lists:
        is_outer = isinstance(value[0], dict) and ".0" not in path
        if is_outer and _UNKNOWN not in (inner := guessed(value[0])):
            return f"records={path},{inner}"
    found = {"tokens": words[0]} if words and not has_text else {"text": text}
    found |= dict.fromkeys(("spans", "start", "end", "label"), _UNKNOWN)
    for path, (first, *_) in lists:
        leaves = dict(part for part in _parts(first) if not part[0].startswith("0."))
        numbers = [key for key, value in leaves.items() if is_whole(value)]
        names = [key for key, value in leaves.items() if isinstance(value, str)]
        if len(numbers) > 1 and names:
            start = _named(numbers, _STARTS)
            end = _named([key for key in numbers if key != start], _ENDS)
            place, last = leaves[start], leaves[end]
            covered = [texts.get(text, "")[place : last + more] for more in (0, 1)]
            others = {
                "words": [key for key in names if has_text and leaves[key] in covered],
                "annotator": [key for key in names if _PERSON.search(key)],
            }
            known = {key: paths[0] for key, paths in others.items() if paths}
            labels = [key for key in names if key not in known.values()] or [_UNKNOWN]
            found |= {"spans": path, "start": start, "end": end, "label": _named(labels, _LABELS)}
            found |= known
            break
    # Lists in a list are those of its sentences, and of a span all of its places.
    ends = {"tokens": ".*", "spans": ".*", "label": "", "annotator": ""}
    found = {
        key: path.removesuffix(".0") + ends[key] if path.endswith(".0") and key in ends else path
        for key, path in found.items()
    }
    return ",".join(f"{key}={path.replace('.0.', '.*.')}" for key, path in found.items())


def _named(keys: Sequence[str], names: Sequence[str]) -> str:
    """Return the first key that has one of some names in it, or else the first."""
    return next((key for key in keys if any(name in key.lower() for name in names)), keys[0])


def _parts(value: Any, path: str = "") -> Iterator[tuple[str, Any]]:
    """Yield what is in a record; of lists the first part, and single values next to it."""
    yield path, value
    if isinstance(value, dict | list) and path.count(".") < _DEEPEST:
        items = value.items() if isinstance(value, dict) else enumerate(value[:3])
        for key, part in items:
            if isinstance(value, dict) or not isinstance(part, dict | list) or key == 0:
                yield from _parts(part, f"{path}.{key}".lstrip("."))
