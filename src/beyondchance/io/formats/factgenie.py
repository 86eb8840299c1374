"""factgenie: spans in generated texts, one line for each annotator and text.

The texts are in files of their own, the outputs: given as well, in the same folder, or by the
option ``documents``. A span has its beginning and its words. Types of spans are numbers, whose
names are in the configuration of the campaign.
"""

from __future__ import annotations

from collections.abc import Iterator
from dataclasses import replace
from functools import partial
from typing import NamedTuple

from beyondchance.errors import FormatError
from beyondchance.io.drafts import Draft
from beyondchance.io.json_rows import first_object
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload
from beyondchance.io.shapes import Row, Shape, given_texts, rows
from beyondchance.io.sources import Source
from beyondchance.io.values import named_by, refusal
from beyondchance.messages import Quote, Use
from beyondchance.tallies import left_out

_KEYS = (("dataset",), ("split",), ("example_idx", "table_idx"), ("setup_id", "model", "setup.id"))
"""What names a text, by its keys today and in earlier versions."""
_SPANS, _TEXT = "annotations", "output"
_SHAPE = Shape(
    texts=(_TEXT,),
    annotators=("annotator_id", "annotator_group"),
    spans=_SPANS,
    end="",
    label="type",
    has_numbers=True,
    words="text",
    needs_words=True,
    unplaced=left_out("spans without a place"),
)

_Key = tuple[str, ...]


class _Texts(NamedTuple):
    """The texts that were annotated, by what names them in the outputs.

    Attributes
    ----------
    texts : dict
    alike : dict
        The names that are equal but for punctuation.
    spelled : dict
        How the annotations spell each name.
    """

    texts: dict[_Key, str]
    alike: dict[_Key, set[_Key]]
    spelled: dict[_Key, _Key]

    def add(self, source: Source) -> None:
        """Keep the texts of a file; one may be there twice, but not two texts of one name."""
        for row, key in _lines(source):
            text = _SHAPE.text(row)
            if self.texts.setdefault(key, text) != text:
                raise refusal(
                    row.where,
                    "{} has another text than before",
                    row.name,
                    expected="one text for each output",
                )
            self.alike.setdefault(_letters(key), set()).add(key)

    def find(self, key: _Key, row: Row, reading: Reading) -> _Key:
        """Return the name of a text in the outputs: the same, or the only one like it."""
        others = {key} if key in self.texts else self.alike.get(_letters(key), set())
        if len(others) != 1:
            raise refusal(
                row.where,
                "the text of {} is not among the outputs",
                row.name,
                expected="an output with the same dataset, split, example and setup",
                remedy=(
                    "give the file of the outputs as well, or pass ",
                    Use("documents", placeholder="FILE"),
                ),
            )
        (name,) = others
        output = (" would be the output ", Quote("/".join(name)))
        differs = partial(FormatError, where=row.where, expected="one spelling")
        if name not in self.spelled and name != key:
            what = "texts matched although their names are spelled differently"
            remedy = (Use("match", "id"), " takes them for the same")
            reading.mend("match", what, partial(differs, Quote(row.name), *output, remedy=remedy))
        before = self.spelled.setdefault(name, key)
        if before != key:
            raise differs(Quote("/".join(before)), " and ", Quote(row.name), *output)
        return name


def _letters(key: _Key) -> _Key:
    """Return a key without punctuation: ``llama3.3`` here is ``llama3-3`` there."""
    return tuple("".join(filter(str.isalnum, part)) for part in key)


# --- Detection ----------------------------------------------------------------


def is_format(upload: Upload) -> bool:
    """Return whether a file holds annotations or outputs.

    In a folder, one of the files has to hold annotations.
    """
    kinds = {_kind_of(source) for source in upload.sources}
    return _SPANS in kinds if upload.is_folder else "" not in kinds


def _kind_of(source: Source) -> str:
    """Return the key that marks the first line as annotations or as outputs; empty if neither."""
    value = first_object(source, (*_KEYS[0], _SPANS, _TEXT))
    is_named = all(value.keys() & keys for keys in (*_KEYS[:3], {"setup_id", "setup"}))
    kinds = (_SPANS, _TEXT) if is_named else ()
    return next((kind for kind in kinds if kind in value), "")


# --- Reading ------------------------------------------------------------------


def read(uploads: list[Upload], reading: Reading) -> Iterator[Draft]:
    """Read the annotations of all files, on the texts of all files."""
    texts = _Texts({}, {}, {})
    if reading.options["documents"] is not None:
        for source in given_texts(reading, lambda file: _kind_of(file) == _TEXT):
            texts.add(reading.shown(source, "documents"))
    annotated: list[tuple[Upload, Source]] = []
    for upload in uploads:
        for source in upload.sources_of(_kind_of, reading):
            kind = _kind_of(source)
            if kind == _TEXT:
                texts.add(source)
            else:
                # What is neither is refused before a text is missed that it may have held.
                annotated.insert(len(annotated) if kind else 0, (upload, source))
    for upload, source in annotated:
        for draft in _drafts(source, upload.annotator, texts, reading):
            reading.met(upload.name, [draft.annotator])
            yield draft


def _lines(source: Source) -> Iterator[tuple[Row, _Key]]:
    """Yield each line with what names its text."""
    for row in rows(source):
        name = tuple(named_by(row.item, keys, row.where) for keys in _KEYS)
        yield row._replace(name="/".join(name)), name


def _drafts(source: Source, annotator: str, texts: _Texts, reading: Reading) -> Iterator[Draft]:
    has_numbers = False
    for row, key in _lines(source):
        more, name, text = row.item.get("metadata"), key, {}
        if not isinstance(row.item.get(_TEXT), str):
            name = texts.find(key, row, reading)
            text = {_TEXT: texts.texts[name]}
        item = {**(more if isinstance(more, dict) else {}), **row.item, **text}
        own = Row(row.where, item, "/".join(name))
        for draft in _SHAPE.drafts(own, annotator, reading):
            has_numbers |= any(span.label.isdecimal() for span in draft.spans)
            dataset, split, _, system = name
            yield replace(draft, fields={"dataset": dataset, "split": split, "system": system})
    if has_numbers:
        note = "labels are numbers, which the configuration of the campaign explains"
        reading.note(note, where=source.name)
