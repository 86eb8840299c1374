"""ESA: error spans in translations, as pearmut, WMT and Appraise store them.

All three count UTF-16 units, and the last index belongs to the error. An error that has no
place in the text is about words that the translation lacks. The lines of pearmut and of WMT
hold the texts. The table of Appraise does not: they are in the batches that the campaign was
made from, which the option ``documents`` names.
"""

from __future__ import annotations

import re
from ast import literal_eval
from collections import Counter
from collections.abc import Iterator
from contextlib import suppress
from functools import lru_cache, partial
from itertools import chain
from typing import Any, NamedTuple

from beyondchance.errors import FormatError, OptionError
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import first_object
from beyondchance.io.layers import Labels, asked_labels, visible
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.shapes import Row, objects, rows
from beyondchance.io.sources import Source, parsed_json
from beyondchance.io.table_files import csv_rows, head_rows
from beyondchance.io.values import object_of, refusal, refused
from beyondchance.messages import Text, Use
from beyondchance.tallies import Tally, left_out, mended, not_annotated

_EARLY = ("annotation", "user_id", "item_i", "item", "src_text", "tgt_text", "scores")
"""Keys of pearmut and of WMT, of which a line has one early on."""
_PARTS = ("category", "severity")
_MISSING = "missing"
_RESET = "__RESET__"
"""What pearmut stores instead of an annotation where those before it do not count."""
_TESTS = ("welcome_", "random_")
"""How pearmut numbers the items of tutorials and attention checks."""
_LEFT_OUT = left_out("tutorials and attention checks")
_UNANSWERED = not_annotated("texts without a score or an error", " left out as skipped")
_BREAK = re.compile("</br>|<br/>|<br>")
_TARGET = "TGT"
"""What Appraise calls an item that is not a test."""
_N_CELLS = (10, 12)
"""Columns of Appraise's table, without and with times."""


class _Text(NamedTuple):
    """A text that was annotated.

    Attributes
    ----------
    text, name, system : str
        The text, the name of its document, and the system that wrote it.
    by_pearmut : bool
        Whether pearmut showed it, which does not count line breaks, and has a sign behind the
        text for what is missing.
    """

    text: str
    name: str
    system: str
    by_pearmut: bool = False


# All annotators of a document share its text.
@lru_cache(maxsize=8)
def _units(text: _Text) -> tuple[int, ...]:
    """Return the characters of a text that offsets count, each as often as it is counted."""
    counted = (
        (place, character)
        for place, character in enumerate(text.text)
        if not text.by_pearmut or character != "\n"
    )
    return tuple(place for place, character in counted for _ in range(1 + (character > "\uffff")))


# --- Detection ----------------------------------------------------------------


def _kind_of(source: Source) -> str:
    """Return the kind of a file, by its first line; empty if it is none of the three."""
    if not source.beginning.startswith("{"):
        return "appraise" if _is_appraise(source) else ""
    value = first_object(source, _EARLY)
    if {"annotation", "user_id", "item_i"} <= value.keys():
        return "pearmut"
    is_wmt = all(isinstance(value.get(key), dict) for key in ("tgt_text", "scores"))
    return "wmt" if is_wmt else ""


is_format = by_files(all, _kind_of)


def _is_appraise(source: Source) -> bool:
    """Return whether a row has the cells of Appraise: what was shown, a score and error spans."""
    cells = [cell for row in head_rows(source, ",") for cell in row]
    if len(cells) not in _N_CELLS:
        return False
    is_item = cells[3].isalpha() and cells[3].isupper() and cells[8] in {"True", "False"}
    return is_item and cells[9][:1] in {"[", "{"}


# --- Reading ------------------------------------------------------------------


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the work of all annotators: one draft for each of them, text and system."""
    labels = asked_labels(reading, "severity")
    kinds = [_kind_of(source) for source in upload.sources]
    if reading.options["documents"] and "appraise" not in kinds:
        found = (Use("documents", is_name=True), " does not apply to a file that holds its texts")
        raise OptionError(*found, where=upload.name)
    readers = {"appraise": _from_appraise, "wmt": _from_wmt}
    for source, kind in zip(upload.sources, kinds, strict=True):
        read_file = readers.get(kind, partial(_from_pearmut, upload.annotator))
        for text, annotator, errors, where in read_file(source, reading):
            yield Draft(
                where=where,
                document="/".join(filter(None, (text.name, text.system))),
                annotator=annotator,
                text=text.text,
                spans=list(_spans(errors, text, labels, where)),
                fields={"system": text.system} if text.system else {},
            )


_Work = tuple[_Text, str, list[Any], Text]
"""A text, who annotated it, the errors that were found, and the place in the file."""


def _spans(errors: list[Any], text: _Text, labels: Labels, where: Text) -> Iterator[DraftSpan]:
    """Yield the errors of one text; what is missing from the text has no place in it."""
    units, skipped = _units(text) if errors else (), labels.reading.skipped
    for error in objects(errors, where, "error"):
        is_missing = _MISSING in (error.at("start_i"), error.at("end_i"))
        if not is_missing:
            start, last = error.whole("start_i"), error.whole("end_i")
            is_missing = text.by_pearmut and len(units) <= start <= last
        if is_missing:
            skipped[left_out("errors of missing words")] += 1
            continue
        if text.by_pearmut and start < last == len(units):
            # The sign for what is missing was marked together with the last words.
            skipped[mended("errors cut at the end of their text")] += 1
            last -= 1
        label = labels.of({part: _part(error, part) for part in _PARTS})
        if not label:
            continue
        if not 0 <= start <= last < len(units):
            # To be refused with others, even if the text has more characters than are counted.
            is_behind = last >= len(units)
            end = max(last, len(text.text)) + 1 if is_behind else last + 1
            yield DraftSpan(start, end, label, where=error.where)
        elif kept := visible(text.text, (units[start], units[last] + 1), labels.reading):
            yield DraftSpan(*kept, label, where=error.where)


def _part(error: Row, part: str) -> str:
    """Return the category or severity of an error; Appraise has the category in a list."""
    key = "error_type" if part == "category" and "error_type" in error.item else part
    value = error.at(key)
    if isinstance(value, list) and all(isinstance(name, str) for name in value):
        return "/".join(value).strip()
    return "" if value is None else error.string(key, "a name").strip()


# --- pearmut ------------------------------------------------------------------


def _from_pearmut(annotator: str, source: Source, reading: Reading) -> Iterator[_Work]:
    """Read the log of a campaign: a line for each annotator and document."""
    skipped = reading.skipped
    works: dict[str, dict[str, list[_Work]]] = {}
    names: dict[tuple[str, str], str] = {}
    for line in rows(source):
        user, item = line.known("user_id") or annotator, line.known("item_i") or ""
        own = works.setdefault(user, {})
        if line.at("annotation") == _RESET:
            before = [own.pop(name, []) for name in ([item] if item else [*own])]
            skipped[left_out("annotations before a reset")] += sum(map(len, before))
        elif item.startswith(_TESTS):
            skipped[_LEFT_OUT] += 1
        else:
            for shown, text, system, answer in _answers(line, skipped):
                unnamed = names.setdefault((system, text), line.name)
                about = _Text(text, shown.known("item_id") or unnamed, system, by_pearmut=True)
                errors = Row(line.where, answer).values("error_spans")
                own.setdefault(item, []).append((about, user, errors, line.where))
    for items in works.values():
        yield from chain.from_iterable(items.values())


def _answers(line: Row, skipped: Counter[Tally]) -> Iterator[tuple[Row, str, str, dict[str, Any]]]:
    """Yield an item, the text of a system, the system, and what was found there."""
    items, answers = line.at("item"), line.at("annotation")
    if items is None:
        raise FormatError(
            "no 'item', which holds the texts",
            where=line.where,
            expected="a log in which pearmut has stored them",
            remedy="add the items of the campaign to each line, as a list under 'item'",
        )
    items, answers = (x if isinstance(x, list) else [x] for x in (items, answers))
    if len(items) != len(answers):
        found = f"{len(items)} items, but {len(answers)} annotations"
        raise FormatError(found, where=line.where, expected="as many of one as of the other")
    for shown, answer in zip(objects(items, line.where, "item"), answers, strict=True):
        place = shown.where
        is_form, is_test = "form" in shown.item and "tgt" not in shown.item, shown.at("validation")
        if is_form or is_test:
            skipped[left_out("forms") if is_form else _LEFT_OUT] += 1
            continue
        texts = shown.inner("tgt")
        for system, value in object_of(answer, place, "the annotation").items():
            object_of(value, place, "the annotation of a system")
            text = _text_of(texts, system)
            is_answered = value.get("score") is not None or "sliders" in value
            if is_answered or value.get("error_spans"):
                yield shown, text, system, value
            else:
                skipped[_UNANSWERED] += 1


def _text_of(texts: Row, system: str) -> str:
    """Return the translation of a system."""
    text = texts.item.get(system)
    if not isinstance(text, str):
        expected = "what was annotated"
        raise refusal(texts.where, "the text of {} is missing", system, expected=expected)
    return text


# --- WMT ----------------------------------------------------------------------


def _from_wmt(source: Source, reading: Reading) -> Iterator[_Work]:
    """Read the human evaluation of WMT: a line for each segment, with all its annotators."""
    for line in rows(source):
        texts, scores = line.inner("tgt_text"), line.inner("scores")
        for system, ratings in scores.item.items():
            text = _Text(_text_of(texts, system), line.known("doc_id") or line.name, system)
            for rating in ratings if isinstance(ratings, list) else [ratings]:
                row = Row(line.where, object_of(rating, line.where, "a rating"))
                keys = [key for key in rating if key.startswith("errors")]
                reading.skipped[left_out("ratings without error spans")] += not keys
                for key in keys:
                    name = key.replace("errors", "annotator", 1)
                    if (annotator := row.known(name)) is None:
                        raise row.refused(name, "who found the errors")
                    yield text, annotator, row.values(key), line.where


# --- Appraise -----------------------------------------------------------------


def _from_appraise(source: Source, reading: Reading) -> Iterator[_Work]:
    """Read the table of scores: a row for each annotator and item."""
    batches, texts, tutorials = _batches(source, reading)
    found = csv_rows(source, ",")
    with suppress(IndexError, ValueError):  # in the order in which they were saved, if it says
        found = sorted(found, key=lambda row: float(row[1][11]))
    for line, cells in found:
        where = f"{source.name}:{line}"
        annotator, system, item, kind, *_, document = cells[:8]
        key = (system, item, document)
        if kind != _TARGET or key in tutorials:
            reading.skipped[_LEFT_OUT] += 1
        elif key not in texts:
            problem = "item {} of {}, document {}, is not among the batches"
            expected = f"one of those in {batches}"
            raise refusal(where, problem, item, system, document, expected=expected)
        elif (text := texts[key]) is None:
            reading.skipped[left_out("items with several texts")] += 1
        else:
            shown = _Text(text, "/".join(filter(None, (document, item))), system)
            yield shown, annotator, _errors(cells[9], source, line), where


def _errors(cell: str, source: Source, line: int) -> list[Any]:
    """Return the errors in a cell: a list, or a single one as Python writes it."""
    value = None
    if cell.startswith("{'"):
        with suppress(ValueError, SyntaxError, MemoryError, RecursionError):
            value = literal_eval(cell)
    if value is None:
        value = parsed_json(cell, source.name, first_line=line)
    errors = [value] if isinstance(value, dict) else value
    if not isinstance(errors, list):
        raise refused(value, "the cell of errors", f"{source.name}:{line}", "a list")
    return errors


_Key = tuple[str, ...]
"""The system, the item and the document of a text."""


def _batches(scores: Source, reading: Reading) -> tuple[str, dict[_Key, str | None], set[_Key]]:
    """Return the file of batches, its texts, None where an item has several, and the tutorials."""
    expected = "the JSON of the batches that the campaign was made from"
    if reading.options["documents"] is None:
        raise FormatError(
            "the scores of Appraise do not hold the texts",
            where=scores.name,
            expected=expected,
            remedy=("pass ", Use("documents", placeholder="FILE")),
        )
    source = reading.documents_file(f"the path of {expected}")
    texts: dict[_Key, str | None] = {}
    tutorials: set[_Key] = set()
    batches = source.json()
    for batch in batches if isinstance(batches, list) else [batches]:
        for item in Row(source.name, object_of(batch, source.name, "a batch")).each(
            "items", "item"
        ):
            key = tuple(item.known(name) or "" for name in ("targetID", "itemID", "documentID"))
            if item.item.get("itemType", _TARGET) == _TARGET:
                # Appraise counts a line break, however it is written, as one character.
                text = _BREAK.sub("\n", item.string("targetText", "a text"))
                if isinstance(mqm := item.at("mqm"), dict) and "tutorial" in mqm:
                    tutorials.add(key)
                texts[key] = text if texts.get(key, text) == text else None
    return source.name, texts, tutorials
