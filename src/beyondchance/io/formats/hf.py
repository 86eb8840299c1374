"""Data sets of Hugging Face, or any iterable of dictionaries with tokens and tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from typing import Any

import numpy as np

from beyondchance.checks import is_whole
from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, draft_of_sentences
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.tagged import decoded, marks_of
from beyondchance.messages import Quote, Text, quotes

_TAG_KEYS = ("ner_tags", "tags", "labels", "ner")


@dataclass(frozen=True, slots=True)
class _Example:
    """One annotated example."""

    where: str
    document: str
    words: list[str]
    tags: list[str]


def is_format(upload: Upload) -> bool:
    """Whether a data set was given instead of a path."""
    return upload.data is not None


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the data set of one annotator; each example is a document of one sentence."""
    examples = list(_examples(upload, reading))
    found = decoded(
        [tag for example in examples for tag in example.tags],
        np.array([len(example.tags) for example in examples], dtype=np.int64),
        reading,
        file=upload.name,
        annotator=upload.annotator,
        where=lambda example, place: f"{examples[example].where}, token {place}",
    )
    for example, marks in zip(examples, marks_of(found, len(examples)), strict=True):
        yield draft_of_sentences(
            [example.words],
            [marks],
            where=example.where,
            document=example.document,
            annotator=upload.annotator,
        )


def _examples(upload: Upload, reading: Reading) -> Iterator[_Example]:
    """Check the examples one by one."""
    data = upload.data
    if data is None:
        expected = "the data set itself, as in bc.read(dataset_a, dataset_b, format='hf')"
        raise FormatError("a path", where=upload.name, expected=expected)
    if isinstance(data, Mapping):
        found = ("a mapping with the keys ", *quotes(data))
        expected, remedy = "one data set", "choose a split"
        raise FormatError(*found, where=upload.name, expected=expected, remedy=remedy)
    try:
        rows = iter(data)
    except TypeError:
        expected = "a data set or a list of dictionaries"
        problem = f"a {type(data).__name__}"
        raise FormatError(problem, where=upload.name, expected=expected) from None
    key: str | None = None
    names: list[str] | None = None
    for number, row in enumerate(rows, start=1):
        where = f"{upload.name}: example {number}"
        if not isinstance(row, Mapping):
            expected = "a dictionary with tokens and ner_tags"
            raise FormatError(f"a {type(row).__name__}", where=where, expected=expected)
        if key is None:
            key = _tag_key(row, where)
            names = _names(data, key)
        example = _example(row, key, names, where, number)
        if example is None:
            reading.skipped["examples not annotated"] += 1
        elif not example.words:
            reading.skipped["examples without tokens left out"] += 1
        else:
            yield example


def _tag_key(row: Mapping[Any, Any], where: str) -> str:
    key = next((key for key in _TAG_KEYS if key in row), None)
    if key is None:
        found = ("has the keys ", *quotes(row))
        raise FormatError(*found, where=where, expected=f"one of {', '.join(_TAG_KEYS)}")
    return key


def _names(data: object, key: str) -> list[str] | None:
    """What the numbers of a data set stand for, if it says so."""
    features = getattr(data, "features", None)
    kind = features.get(key) if isinstance(features, Mapping) else None
    names = getattr(getattr(kind, "feature", kind), "names", None)
    if not isinstance(names, list | tuple) or not all(isinstance(name, str) for name in names):
        return None
    return list(names)


def _example(
    row: Mapping[Any, Any], key: str, names: list[str] | None, where: str, number: int
) -> _Example | None:
    words = _listed(row, "tokens", where)
    if row.get(key) is None:
        return None
    values = _listed(row, key, where)
    if len(words) != len(values):
        found = f"has {len(words)} tokens and {len(values)} {key}"
        raise FormatError(found, where=where, expected="as many of each")
    for place, word in enumerate(words):
        if not isinstance(word, str) or not word:
            problem = ("the word is ", Quote(word))
            raise FormatError(*problem, where=f"{where}, token {place}", expected="a string")
    document = row.get("id", number)
    if isinstance(document, bool) or not isinstance(document, str | int) or document == "":
        problem = ("has the id ", Quote(document))
        raise FormatError(*problem, where=where, expected="a string or a number")
    tags = [_tag(value, names, f"{where}, token {place}") for place, value in enumerate(values)]
    return _Example(where, str(document), words, tags)


def _listed(row: Mapping[Any, Any], key: str, where: str) -> list[Any]:
    """A list from a list, a tuple or an array."""
    value = row.get(key)
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if not isinstance(value, list | tuple):
        kind = "missing" if value is None else f"a {type(value).__name__}"
        raise FormatError(f"{key} is {kind}", where=where, expected="a list")
    return list(value)


def _tag(value: Any, names: list[str] | None, where: str) -> str:
    """A tag as a string: by itself, or by its number."""
    if isinstance(value, str):
        return value
    expected: Text = "a string or a number"
    if is_whole(value):
        if names is not None and 0 <= value < len(names):
            return names[int(value)]
        expected = "strings such as 'B-PER', or a Dataset whose features name the numbers"
        if names is not None:
            expected = (f"a number from 0 to {len(names) - 1}, for ", *quotes(names, most=50))
    raise FormatError("has the tag ", Quote(value), where=where, expected=expected)
