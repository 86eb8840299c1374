"""Data sets of Hugging Face, or any iterable of dictionaries with tokens and tags."""

from __future__ import annotations

from collections.abc import Iterator, Mapping
from dataclasses import dataclass
from itertools import chain
from typing import Any

import numpy as np

from beyondchance.annotations.tags import decode_tags
from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft, draft_of_words
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload

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


def drafts(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the data set of one annotator; each example is a document of one sentence."""
    examples = list(_examples(upload, reading))
    scheme = _scheme(examples, upload.name, reading)

    def where(example: int, place: int) -> str:
        return f"{examples[example].where}, token {place}"

    found = decode_tags(
        chain.from_iterable(example.tags for example in examples),
        np.array([len(example.tags) for example in examples], dtype=np.int64),
        scheme=scheme,
        repair=reading.options["repair"],
        where=where,
    )
    if found.n_repaired:
        reading.skipped[f"tags repaired by {reading.options['repair']}"] += found.n_repaired
    spans: list[list[tuple[int, int, str]]] = [[] for _ in examples]
    columns = (found.text, found.start, found.end, found.label)
    for text, start, end, label in zip(*(column.tolist() for column in columns), strict=True):
        spans[text].append((start, end, found.labels[label]))
    for example, marked in zip(examples, spans, strict=True):
        yield draft_of_words(
            example.words,
            marked,
            where=example.where,
            document=example.document,
            annotator=upload.annotator,
            sentences=[(0, len(example.words))],
        )


def _scheme(examples: list[_Example], name: str, reading: Reading) -> str:
    """The scheme asked for, or the one that the tags follow; it belongs to the signature."""
    from beyondchance.io.formats.conll import detected_scheme  # noqa: PLC0415 - only where it is needed

    scheme: str | None = reading.options["scheme"]
    if scheme is None:
        scheme = detected_scheme(example.tags for example in examples)
        reading.notes.append(f"{name}: tags read as {scheme}")
    signed = {*reading.signed.get("scheme", scheme).split("+"), scheme}
    reading.signed["scheme"] = "+".join(sorted(signed))
    return scheme


def _examples(upload: Upload, reading: Reading) -> Iterator[_Example]:
    """Check the examples one by one."""
    data = upload.data
    if data is None:
        raise FormatError(
            f"{upload.name}: a path; expected the data set itself, as in bc.read(dataset_a, "
            "dataset_b, format='hf')"
        )
    if isinstance(data, Mapping):
        keys = ", ".join(map(repr, data)) or "none"
        raise FormatError(
            f"{upload.name}: a mapping with the keys {keys}; expected one data set: choose a split"
        )
    try:
        rows = iter(data)
    except TypeError:
        raise FormatError(
            f"{upload.name}: a {type(data).__name__}; expected a data set or a list of dictionaries"
        ) from None
    key: str | None = None
    names: list[str] | None = None
    for number, row in enumerate(rows, start=1):
        where = f"{upload.name}: example {number}"
        if not isinstance(row, Mapping):
            raise FormatError(
                f"{where} is a {type(row).__name__}; expected a dictionary with tokens and ner_tags"
            )
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
        raise FormatError(
            f"{where} has the keys {', '.join(map(repr, row)) or 'none'}; expected one of "
            f"{', '.join(_TAG_KEYS)}"
        )
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
    words = _listed(row.get("tokens"), f"{where}: tokens")
    if row.get(key) is None:
        return None
    values = _listed(row[key], f"{where}: {key}")
    if len(words) != len(values):
        raise FormatError(
            f"{where} has {len(words)} tokens and {len(values)} {key}; expected as many of each"
        )
    for place, word in enumerate(words):
        if not isinstance(word, str) or not word:
            raise FormatError(f"{where}, token {place} is {word!r}; expected a word")
    document = row.get("id", number)
    if isinstance(document, bool) or not isinstance(document, str | int) or document == "":
        raise FormatError(f"{where} has the id {document!r}; expected a string or a number")
    tags = [_tag(value, names, f"{where}, token {place}") for place, value in enumerate(values)]
    return _Example(where, str(document), words, tags)


def _listed(value: object, what: str) -> list[Any]:
    """A list from a list, a tuple or an array."""
    if isinstance(value, np.ndarray) and value.ndim == 1:
        value = value.tolist()
    if not isinstance(value, list | tuple):
        found = "missing" if value is None else f"a {type(value).__name__}"
        raise FormatError(f"{what} is {found}; expected a list")
    return list(value)


def _tag(value: object, names: list[str] | None, where: str) -> str:
    """A tag as a string: by itself, or by its number."""
    if isinstance(value, str):
        return value
    if isinstance(value, bool) or not isinstance(value, int | np.integer):
        raise FormatError(f"{where} has the tag {value!r}; expected a string or a number")
    if names is None:
        raise FormatError(
            f"{where} has the tag {value}, and nothing says what numbers stand for; expected "
            "strings such as 'B-PER', or a Dataset whose features name them"
        )
    if not 0 <= value < len(names):
        raise FormatError(
            f"{where} has the tag {value}; expected a number from 0 to {len(names) - 1}, for "
            f"{', '.join(names)}"
        )
    return names[int(value)]
