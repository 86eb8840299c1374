"""Lists of tags in memory: one list for each text, of strings or of numbers.

Arrays, Series and whatever else is like a list are taken for lists. A list of tags by itself is
one text. Positions with the number -100 are not scored, as in the Trainer of Hugging Face; they
are left out for all annotators.
"""

from __future__ import annotations

from collections.abc import Iterator, Mapping, Sequence
from dataclasses import replace
from itertools import chain, compress
from typing import Any

import numpy as np

from beyondchance.annotations.building import columns_of_tags
from beyondchance.annotations.corpus import Corpus
from beyondchance.annotations.names import as_list
from beyondchance.checks import is_whole
from beyondchance.errors import DataError, MismatchError, TagError
from beyondchance.io.drafts import Draft, draft_of_words
from beyondchance.io.label_names import label_names_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.tagged import TAG, decoded, marks_of
from beyondchance.messages import Quote, Use, quotes
from beyondchance.tallies import left_out

IGNORED = -100
"""The number of a position that is not scored."""
_WHAT_IS_IGNORED = left_out("positions with the tag -100")

Sequences = list[list[Any] | None]


def is_format(upload: Upload) -> bool:
    """Whether data are lists of strings or whole numbers, or one such list."""
    if isinstance(upload.data, Mapping | str | bytes) or hasattr(upload.data, "columns"):
        return False
    found = _first(upload.data)
    return found is not None and (is_whole(found) or isinstance(found, str))


def is_nothing(data: Any) -> bool:
    """Whether data are lists of nothing, which could be tags as well as spans."""
    return isinstance(data, list | tuple) and all(
        item is None or (isinstance(item, list | tuple) and not item) for item in data
    )


def _first(data: Any) -> Any:
    """The first tag; None if there is none."""
    if isinstance(data, list | tuple):
        item = next((item for item in data if item is not None and len_of(item)), None)
    elif hasattr(data, "features") or not hasattr(data, "__len__"):
        return None
    else:
        listed = as_list(data)
        return _first(listed) if isinstance(listed, list) else None
    if isinstance(item, str) or is_whole(item):
        # A word by itself is no tag: it may be a path.
        return item if not isinstance(item, str) or all(map(is_tag, data)) else None
    inner = as_list(item) if not isinstance(item, Mapping) else None
    if not isinstance(inner, list | tuple) or not inner:
        return None
    kind = str if isinstance(inner[0], str) else int | np.integer
    return inner[0] if all(isinstance(tag, kind) for tag in inner) else None


def len_of(item: Any) -> int:
    """The length of what has one; 1 for anything else."""
    return len(item) if hasattr(item, "__len__") else 1


def is_tag(value: Any) -> bool:
    """Whether a word by itself is a tag; a line of several is not."""
    return isinstance(value, str) and " " not in value and TAG.fullmatch(value) is not None


def read(uploads: list[Upload], reading: Reading) -> Corpus | Iterator[Draft]:
    """Read the tags of each annotator."""
    given = {upload.annotator: _sequences(upload.data) for upload in uploads}
    names = label_names_of(reading.options["label_names"])
    tokens, documents = reading.beside.get("tokens"), reading.options["documents"]
    if tokens is not None:
        tokens = [as_list(sentence) for sentence in as_list(tokens)]
        if not all(isinstance(sentence, list | tuple) for sentence in tokens):
            raise DataError("tokens are ", Quote(tokens), expected="a list of tokens for each text")
    tags = given
    if any(map(_has_numbers, given.values())):
        tokens = _without_ignored(given, tokens, reading)
        tags = {name: _named(texts, names, name) for name, texts in given.items()}
    if reading.is_mixed:
        return _drafts(uploads, tags, tokens, reading)
    is_refusing = reading.refuses("repair")
    columns = columns_of_tags(
        tags,
        tokens,
        None if documents is None else as_list(documents),
        None,
        scheme=reading.options["scheme"],
        repair="none" if is_refusing else reading.options["repair"],
    )
    return Corpus(**columns, unit=reading.options["unit"] or "sentence")


def _sequences(data: Any) -> Sequences:
    """A list of tags for each text."""
    listed = as_list(data)
    if not isinstance(listed, list | tuple):
        raise DataError("found ", Quote(listed), expected="a list of tags for each text")
    if listed and (all(map(is_tag, listed)) or all(map(is_whole, listed))):
        return [list(listed)]
    sequences = [None if text is None else as_list(text) for text in listed]
    for number, text in enumerate(sequences):
        if not isinstance(text, list | tuple | None):
            where = f"text {number}"
            raise DataError("found ", Quote(text), where=where, expected="a list of tags, or None")
    return sequences


def _without_ignored(
    given: dict[str, Sequences], tokens: list[list[str]] | None, reading: Reading
) -> list[list[str]] | None:
    """Leave out the positions that are not scored, for all annotators.

    Annotators who have such positions must have the same ones, and the gold standard must
    have them: a system does not say what it is scored on.
    """
    n_ignored = 0
    for text in range(min(map(len, given.values()), default=0)):
        found = {name: texts[text] for name, texts in given.items() if texts[text] is not None}
        masks = {name: [tag == IGNORED for tag in tags or ()] for name, tags in found.items()}
        ignoring = [name for name, mask in masks.items() if any(mask)]
        if not ignoring:
            continue
        if len({len(mask) for mask in masks.values()}) > 1:
            sizes = " and ".join(str(len(mask)) for mask in masks.values())
            problem = f"annotators have {sizes} tags, some of them {IGNORED}"
            raise MismatchError(problem, where=f"text {text}", expected="equally many")
        decides = reading.reference if reading.reference in masks else ignoring[0]
        mask = masks[decides]
        other = next((name for name in ignoring if masks[name] != mask), None)
        if other is not None:
            differs = (Quote(other), f" has {IGNORED} at other positions than ", Quote(decides))
            raise MismatchError(*differs, where=f"text {text}", expected="the same positions")
        n_ignored += sum(mask)
        keep = [not is_ignored for is_ignored in mask]
        for name, tags in found.items():
            given[name][text] = list(compress(tags or (), keep))
        if tokens is not None and text < len(tokens) and len(tokens[text]) == len(keep):
            tokens[text] = list(compress(tokens[text], keep))
    if n_ignored:
        reading.skipped[_WHAT_IS_IGNORED] += n_ignored
    return tokens


def _has_numbers(texts: Sequences) -> bool:
    kinds = set(map(type, chain.from_iterable(text for text in texts if text is not None)))
    return any(issubclass(kind, int | np.integer) and kind is not bool for kind in kinds)


def _named(texts: Sequences, names: Mapping[int, str] | None, annotator: str) -> Sequences:
    """Tags as strings; numbers by the names of their classes."""
    if not _has_numbers(texts):
        return texts
    where = ("annotator ", Quote(annotator))
    if names is None:
        remedy = (
            "pass ",
            Use("names", placeholder="[...]", flag="label-names"),
            ", a name for each",
        )
        raise TagError("tags are numbers", where=where, expected="strings", remedy=remedy)
    numbers = {int(tag) for tags in texts if tags is not None for tag in tags if is_whole(tag)}
    unknown = min(numbers - names.keys(), default=None)
    if unknown is not None:
        expected = ("one of the numbers of ", *quotes(names.values(), most=50))
        raise TagError("tag ", Quote(unknown), " has no name", where=where, expected=expected)
    return [
        None if tags is None else [names[int(tag)] if is_whole(tag) else tag for tag in tags]
        for tags in texts
    ]


def _drafts(
    uploads: list[Upload],
    tags: Mapping[str, Sequences],
    tokens: Sequence[Sequence[str]] | None,
    reading: Reading,
) -> Iterator[Draft]:
    """Tags next to files or other data, which have the words unless tokens are given."""
    for upload in uploads:
        texts = [(i, text) for i, text in enumerate(tags[upload.annotator]) if text is not None]
        found = decoded(
            [tag for _, text in texts for tag in text],
            np.array([len(text) for _, text in texts], dtype=np.int64),
            reading,
            file=upload.name,
            annotator=upload.annotator,
            where=lambda text, place: f"{upload.name}: text {text}, position {place}",  # noqa: B023 - called at once
        )
        reading.met(upload.name, [upload.annotator])
        for (i, text), marks in zip(texts, marks_of(found, len(texts)), strict=True):
            words = ["_"] * len(text) if tokens is None else tokens[i] if i < len(tokens) else []
            if len(words) != len(text):
                found_numbers = f"{len(text)} tags for {len(words)} tokens"
                where = f"{upload.name}: text {i}"
                raise MismatchError(found_numbers, where=where, expected="one tag for each token")
            draft = draft_of_words(
                words,
                marks,
                where=f"{upload.name}: text {i}",
                document=str(i + 1),
                annotator=upload.annotator,
                sentences=[(0, len(words))],
            )
            yield replace(draft, is_blank=tokens is None, order=i)
