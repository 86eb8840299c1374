"""Lists of tags in memory: one list for each text, of strings or of numbers.

Arrays, Series and whatever else is like a list were made lists before. A list of tags by itself is
one text. Positions with the number -100 are not scored, as in the Trainer of Hugging Face; they
are left out for all annotators.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from itertools import compress
from typing import Any

import numpy as np

from beyondchance.annotations.building import columns_of_tags, end_to_end
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.joining import with_whole_documents
from beyondchance.annotations.names import plain
from beyondchance.annotations.tags import coded_tags
from beyondchance.checks import is_whole
from beyondchance.errors import DataError, MismatchError, OptionError, TagError
from beyondchance.io.columns import is_gap
from beyondchance.io.drafts import Draft, Tags, draft_of_words
from beyondchance.io.label_names import label_names_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.tagged import IGNORED, TAG, scored
from beyondchance.messages import Quote, Use, quotes

_KINDS = frozenset({str, int})
_NUMBERS = (int, np.integer)
_LISTS = (list, tuple)
_TEXTS = frozenset({*_LISTS, type(None)})

Sequences = list[list[Any] | None]


def is_format(upload: Upload) -> bool:
    """Return whether the data of an upload are lists of tags."""
    return are_lists_of_tags(upload.data)


def are_lists_of_tags(data: Any) -> bool:
    """Return whether data are lists of strings or whole numbers, or one such list.

    The first that is not empty decides; in a single list, all strings have to be tags.
    """
    if not isinstance(data, _LISTS):
        return False
    for first in data:
        if is_nothing(first):
            continue
        if isinstance(first, _LISTS):
            return _are_tags(first)
        # A word by itself is no tag: it may be a path.
        return is_whole(first) or (isinstance(first, str) and all(map(is_tag, data)))
    return False


def is_nothing(data: Any, depth: int = 4) -> bool:
    """Return whether data are lists of nothing, which could be tags as well as spans."""
    if not isinstance(data, _LISTS):
        return data is None
    # No data are lists of lists that deep; a list may be part of itself.
    return depth > 0 and all(is_nothing(item, depth - 1) for item in data)


def _are_tags(values: Sequence[Any]) -> bool:
    """Return whether values are all words or all numbers; gaps among them are refused later."""
    kinds = set(map(type, values))
    if not kinds <= _KINDS:
        kinds = {type(value) for value in values if not is_gap(value)}
    are_words = all(issubclass(kind, str) for kind in kinds)
    return are_words or all(issubclass(kind, _NUMBERS) for kind in kinds)


def is_tag(value: Any) -> bool:
    """Return whether a word by itself is a tag; a line of several is not."""
    return isinstance(value, str) and " " not in value and TAG.fullmatch(value) is not None


def read(uploads: list[Upload], reading: Reading) -> Corpus | Iterator[Draft]:
    """Read the tags of each annotator."""
    for upload in uploads:
        reading.met(upload.name, [upload.annotator])
    given = {upload.annotator: _sequences(upload.data) for upload in uploads}
    coded = coded_tags(end_to_end(given.values()))
    if not _KINDS.issuperset(map(type, coded[1])):
        given = {name: plain(texts) for name, texts in given.items()}
        coded = coded_tags(end_to_end(given.values()))
        _check_gaps(given)
    tokens, documents = reading.beside.get("tokens"), reading.options["documents"]
    if tokens is not None:
        if not all(isinstance(sentence, _LISTS) for sentence in tokens):
            raise DataError("tokens are ", Quote(tokens), expected="a list of tokens for each text")
        tokens = list(tokens)
    names, has_numbers = (
        label_names_of(reading.options["label_names"] or reading.beside.get("names")),
        any(map(is_whole, coded[1])),
    )
    if has_numbers:
        given = {name: _named(texts, names, name) for name, texts in given.items()}
    if reading.is_mixed:
        if documents is not None:
            raise OptionError(
                *(Use("documents", is_name=True), " does not apply to tags next to other data"),
                remedy="documents are named as there",
            )
        return _drafts(uploads, given, tokens, reading)
    if tokens is None:
        reading.check_unused("match", needs="tokens=")
    if has_numbers:
        _leave_out_ignored(given, tokens, reading)
    columns = columns_of_tags(
        given,
        tokens,
        documents,
        None,
        scheme=reading.options["scheme"],
        repair="none" if reading.refuses("repair") else reading.options["repair"],
        coded=None if has_numbers else coded,
    )
    unit = reading.options["unit"] or "sentence"
    corpus = Corpus(**columns, unit=unit)
    return with_whole_documents(corpus) if unit == "document" else corpus


def _sequences(data: Any) -> Sequences:
    """Return a list of tags for each text."""
    if not isinstance(data, list | tuple):
        raise DataError("found ", Quote(data), expected="a list of tags for each text")
    if data and (all(map(is_tag, data)) or all(map(is_whole, data))):
        return [list(data)]
    if not _TEXTS.issuperset(map(type, data)):
        for number, text in enumerate(data):
            if not (text is None or isinstance(text, _LISTS)):
                raise DataError(
                    "found ",
                    Quote(text),
                    where=f"text {number}",
                    expected="a list of tags, or None",
                )
    return list(data)


def _check_gaps(given: Mapping[str, Sequences]) -> None:
    """Refuse a missing value in the place of a tag."""
    for name, texts in given.items():
        for number, text in enumerate(texts):
            for place, tag in enumerate(text or ()):
                if is_gap(tag):
                    raise TagError(
                        *("the tag is ", Quote(tag)),
                        where=("annotator ", Quote(name), f", text {number}, position {place}"),
                        expected="a string, or a number with names=",
                    )


def _leave_out_ignored(
    tags: dict[str, Sequences], tokens: list[list[str]] | None, reading: Reading
) -> None:
    """Leave out the positions that are not scored, for all annotators and from the tokens."""
    for text in range(min(map(len, tags.values()), default=0)):
        found = {name: own for name, texts in tags.items() if (own := texts[text]) is not None}
        masks = {name: [tag is None for tag in own] for name, own in found.items()}
        keep = scored(masks, reading, f"text {text}")
        if keep is None:
            continue
        for name, own in found.items():
            tags[name][text] = list(compress(own, keep))
        if tokens is not None and text < len(tokens) and len(tokens[text]) == len(keep):
            tokens[text] = list(compress(tokens[text], keep))


def _named(texts: Sequences, names: Mapping[int, str] | None, annotator: str) -> Sequences:
    """Return tags as strings: numbers by the names of their classes, None for those not scored."""
    where = ("annotator ", Quote(annotator))
    numbers = {int(tag) for tags in texts if tags is not None for tag in tags if is_whole(tag)}
    named: dict[int, str | None] = {IGNORED: None, **(names or {})}
    unknown = min(numbers - named.keys(), default=None)
    if unknown is not None and names is None:
        raise TagError(
            "tags are numbers",
            where=where,
            expected="strings",
            remedy=(
                "pass ",
                Use("names", placeholder="[...]", flag="label-names"),
                ", a name for each",
            ),
        )
    if unknown is not None:
        raise TagError(
            "tag ",
            Quote(unknown),
            " has no name",
            where=where,
            expected=("one of the numbers of ", *quotes((names or {}).values(), most=50)),
        )
    return [
        None if tags is None else [named[int(tag)] if is_whole(tag) else tag for tag in tags]
        for tags in texts
    ]


def _drafts(
    uploads: list[Upload],
    tags: Mapping[str, Sequences],
    tokens: Sequence[Sequence[str]] | None,
    reading: Reading,
) -> Iterator[Draft]:
    """Yield tags next to files or other data, which have the words unless tokens are given."""
    for upload in uploads:
        texts = tags[upload.annotator]
        reading.lists[upload.annotator] = len(texts)
        for i, text in enumerate(texts):
            if text is None:
                continue
            where = f"{upload.name}: text {i}"
            words = ["_"] * len(text) if tokens is None else tokens[i] if i < len(tokens) else []
            if len(words) != len(text):
                raise MismatchError(
                    f"{len(text)} tags for {len(words)} tokens",
                    where=where,
                    expected="one tag for each token",
                )
            yield draft_of_words(
                words,
                (),
                where=where,
                document=str(i + reading.first_number),
                annotator=upload.annotator,
                sentences=[(0, len(words))],
                order=i,
                is_blank=tokens is None,
                tagged=Tags(list(text), upload.name, "position"),
            )
