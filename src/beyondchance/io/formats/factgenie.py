"""factgenie: spans in generated texts, one line for each annotator and text.

The texts are in files of their own, the outputs: given as well, in the same folder, or by the
option ``documents``. A span has its beginning and its words. Types of spans are numbers, whose
names are in the configuration of the campaign.
"""

from __future__ import annotations

from collections.abc import Iterable, Iterator, Mapping
from dataclasses import dataclass, field
from functools import partial
from os import PathLike
from typing import Any

from beyondchance.errors import FormatError, OptionError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import first_object
from beyondchance.io.offsets import length_of
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.sources import Source, opened
from beyondchance.io.values import (
    identifier,
    listed,
    object_of,
    quoting,
    refused,
    string_of,
    whole,
    words_of,
)
from beyondchance.messages import Use, given
from beyondchance.tallies import left_out

_KEYS = ("dataset", "split", "example_idx", "setup_id")
_SPANS, _TEXT = "annotations", "output"
_WHO = ("annotator_id", "annotator_group")

_Key = tuple[str, ...]


@dataclass(slots=True)
class _Texts:
    """The texts that were annotated, by what names them in the outputs.

    Attributes
    ----------
    texts : dict
    alike : dict
        The names that are equal but for punctuation.
    spelled : dict
        How the annotations spell each name.
    """

    texts: dict[_Key, str] = field(default_factory=dict)
    alike: dict[_Key, set[_Key]] = field(default_factory=dict)
    spelled: dict[_Key, _Key] = field(default_factory=dict)

    def add(self, key: _Key, text: str, where: str) -> None:
        """Keep a text; it may be there twice, but not two texts of one name."""
        if self.texts.setdefault(key, text) != text:
            found = quoting("{} has another text than before", "/".join(key))
            raise FormatError(*found, where=where, expected="one text for each output")
        self.alike.setdefault(_letters(key), set()).add(key)

    def find(self, key: _Key, where: str, reading: Reading) -> _Key:
        """The name of a text in the outputs: the same, or the only one with these letters."""
        others = {key} if key in self.texts else self.alike.get(_letters(key), set())
        if len(others) != 1:
            raise FormatError(
                *quoting("the text of {} is not among the outputs", "/".join(key)),
                where=where,
                expected="an output with the same dataset, split, example and setup",
                remedy=(
                    "give the file of the outputs as well, or pass ",
                    Use("documents", placeholder="FILE"),
                ),
            )
        (name,) = others
        if name not in self.spelled:
            self.spelled[name] = key
            if name != key:
                what = "texts matched although their names are spelled differently"
                reading.mend("match", what, partial(_respelled, key, name, where))
        if self.spelled[name] != key:
            names = ("/".join(self.spelled[name]), "/".join(key), "/".join(name))
            raise FormatError(
                *quoting("{} and {} would both be the output {}", *names),
                where=where,
                expected="one spelling in all annotations",
            )
        return name


def _respelled(key: _Key, name: _Key, where: str) -> FormatError:
    found = quoting("{} is {} in the outputs", "/".join(key), "/".join(name))
    remedy = (Use("match", "id"), " takes them for the same")
    return FormatError(*found, where=where, expected="one spelling", remedy=remedy)


def _letters(key: _Key) -> _Key:
    """A key without punctuation: one file has ``llama3.3`` where the other has ``llama3-3``."""
    return tuple("".join(filter(str.isalnum, part)) for part in key)


# --- Detection ----------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Whether a file holds annotations or outputs; in a folder, whether one holds annotations."""
    if upload.data is not None:
        return False
    kinds = {_kind_of(source) for source in upload.sources}
    return _SPANS in kinds if upload.is_folder else "" not in kinds


def _kind_of(source: Source) -> str:
    """Whether the first line is of annotations or of outputs; empty if of neither."""
    value = first_object(source, _seems_a_line)
    kinds = (_SPANS, _TEXT) if all(key in value for key in _KEYS) else ()
    return next((kind for kind in kinds if kind in value), "")


def _seems_a_line(value: Any) -> bool:
    """Whether the beginning of a line has a key of annotations or of outputs."""
    return isinstance(value, dict) and not value.keys().isdisjoint((*_KEYS, _SPANS, _TEXT))


# --- Reading ------------------------------------------------------------------


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read the annotations of all files, on the texts of all files."""
    texts = _Texts()
    for source in _given_texts(reading):
        _add_texts(source, texts)
    annotated: list[tuple[Upload, Source]] = []
    for upload in uploads:
        for source in upload.sources_of(_kind_of, reading):
            kind = _kind_of(source)
            if kind == _TEXT:
                _add_texts(source, texts)
            else:
                # What is neither is refused before a text is missed that it may have held.
                annotated.insert(len(annotated) if kind else 0, (upload, source))
    for upload, source in annotated:
        for draft in _drafts(source, upload.annotator, texts, reading):
            reading.met(upload.name, [draft.annotator])
            yield draft


def _given_texts(reading: Reading) -> Iterable[Source]:
    """The files of outputs that the option names: a file, or those of a folder."""
    path = reading.options["documents"]
    if path is None:
        return ()
    if not isinstance(path, str | PathLike):
        raise OptionError(*given("documents", path), expected="the path of a file of outputs")
    found = opened(path)
    files = [found] if isinstance(found, Source) else [s for s in found if _kind_of(s) == _TEXT]
    return [reading.shown(file, "documents") for file in files]


def _lines(source: Source) -> Iterator[tuple[str, dict[str, Any], _Key]]:
    """Each line, its place, and what names its text."""
    for number, line in source.json_lines():
        where = f"{source.name}:{number}"
        object_of(line, where, "the line")
        yield where, line, tuple(_name(line, key, where) for key in _KEYS)


def _name(line: Mapping[str, Any], key: str, where: str) -> str:
    name = identifier(line, key, where)
    if name is None:
        raise refused(line.get(key), f"{key!r}", where, "a name or a number")
    return name


def _add_texts(source: Source, texts: _Texts) -> None:
    for where, line, key in _lines(source):
        text = string_of(line, _TEXT, where, "the text that was annotated")
        texts.add(key, text, where)


def _drafts(source: Source, annotator: str, texts: _Texts, reading: Reading) -> Iterator[Draft]:
    has_numbers = False
    for where, line, key in _lines(source):
        text, name = line.get(_TEXT), key
        if not isinstance(text, str):
            name = texts.find(key, where, reading)
            text = texts.texts[name]
        dataset, split, _, setup = name
        spans = list(_spans(line, where, reading))
        has_numbers = has_numbers or any(span.label.isdecimal() for span in spans)
        yield Draft(
            where=where,
            document="/".join(name),
            annotator=_annotator(line, where) or annotator,
            text=text,
            spans=spans,
            fields={"dataset": dataset, "split": split, "system": setup},
        )
    if has_numbers:
        note = "labels are numbers, which the configuration of the campaign explains"
        reading.note(note, where=source.name)


def _annotator(line: Mapping[str, Any], where: str) -> str | None:
    """Who annotated: by name, or by number in the campaign."""
    more = line.get("metadata")
    both = {**(more if isinstance(more, dict) else {}), **line}
    return next((name for key in _WHO if (name := identifier(both, key, where))), None)


def _spans(line: Mapping[str, Any], where: str, reading: Reading) -> Iterator[DraftSpan]:
    unit = reading.options["offsets"] or "codepoints"
    for number, span in enumerate(listed(line, _SPANS, where), start=1):
        place = f"{where}: span #{number}"
        object_of(span, where, f"span #{number}")
        if span.get("start") is None:
            reading.skipped[left_out("spans without a place")] += 1
            continue
        start = whole(span["start"], "'start'", place)
        words = words_of(span, place)
        if words is None:
            raise refused(words, "'text'", place, "the words of the span")
        label = _name(span, "type", place)
        yield DraftSpan(start, start + length_of(words, unit), label, words, where=place)
