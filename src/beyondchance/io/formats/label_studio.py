"""Label Studio: the JSON and JSON-MIN exports, with all annotators in one file."""

from __future__ import annotations

import re
from collections import Counter
from collections.abc import Iterator, Mapping, Sequence
from dataclasses import dataclass, field, replace
from functools import lru_cache, partial
from html.parser import HTMLParser
from itertools import chain
from typing import Any

from beyondchance.errors import FormatError, SpanError
from beyondchance.io.columns import named_fields
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.offsets import code_points
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.sources import Source
from beyondchance.io.values import (
    identifier,
    interval,
    label_of,
    listed,
    object_of,
    quoting,
    refused,
    words_of,
)
from beyondchance.messages import Piece, Quote, Text, Use, pieces, quotes
from beyondchance.tallies import left_out, no_spans, not_read

STARRED = "starred"
"""The value of the option gold that asks for ground truths, and the name of that gold standard."""
DOCUMENT = "document_name"
"""The key of the data of a task under which its name is, if the task itself has none."""
NOTE = "note"
"""The key of the data of a task under which there is a note for its annotators."""
_SPANS = ("labels", "hypertextlabels")
_ANNOTATIONS = ("annotations", "completions")
_ANNOTATOR = ("completed_by", "annotator")
# Strings of JSON-MIN that say something about the annotation and are never its text.
_ABOUT = frozenset({*_ANNOTATOR, "id", "annotation_id", "created_at", "updated_at"})

_IS_TASK = re.compile(r'"(annotations|completions)"\s*:\s*\[')
_IS_ANNOTATION = re.compile(r'"(completed_by|was_cancelled|ground_truth|from_name|to_name)"\s*:')
_IS_DATA = re.compile(r'"data"\s*:\s*\{')
_IS_LABELLED = re.compile(r'"(labels|hypertextlabels)"\s*:\s*\[\s*"')
_IS_MIN = re.compile(r'"(annotator|completed_by|annotation_id)"\s*:')
_IS_TIMED = re.compile(r'"lead_time"\s*:')
_MOST_BROKEN = 20
"""Tags of a web page that may lack an end."""
_ADDRESS = re.compile(r"(https?|s3|gs|azure-blob)://\S+|/data/\S+")
_PREDICTED = frozenset({"prediction", "prediction-changed"})
"""Where a result comes from that the annotator took over, or changed."""


@dataclass(frozen=True, slots=True)
class _Work:
    """One annotation, before it is known which field of its task holds the text.

    Attributes
    ----------
    where : Text
    document, annotator : str
    fields : mapping of str to str
        The strings of the task, one of which is the text.
    about : mapping of str to str
        What else is known about the task.
    is_flat : bool
        Whether the strings next to the text may be answers of the annotator.
    spans : sequence of DraftSpan
    is_html : bool
        Whether the offsets count the text of a web page, without its tags.
    is_gold : bool
    is_begun : bool
        Whether it began as a prediction that the annotator was shown.
    updated : str
        When it was changed last, as the file writes it: later times sort behind.
    unnamed : str
        What the file should name and does not: the annotator, or the model of a prediction.
    """

    where: Text
    document: str
    annotator: str
    fields: Mapping[str, str]
    about: Mapping[str, str] = field(default_factory=dict)
    is_flat: bool = False
    spans: Sequence[DraftSpan] = ()
    is_html: bool = False
    is_gold: bool = False
    is_begun: bool = False
    updated: str = ""
    unnamed: str = ""


def _looks_right(source: Source) -> bool:
    """Whether a file looks like an export of Label Studio."""
    head = source.head_text.lstrip()
    if not head.startswith(("[", "{")):
        return False
    if _IS_TASK.search(head):
        return bool(_IS_ANNOTATION.search(head) or _IS_DATA.search(head))
    return bool(_IS_MIN.search(head) and (_IS_LABELLED.search(head) or _IS_TIMED.search(head)))


is_format = by_files(all, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read all tasks: a draft for each annotation that was not cancelled."""
    others: Counter[str] = Counter()
    sources = (_of_source(source, upload, reading, others) for source in upload.sources)
    works = list(chain.from_iterable(sources))
    if others:
        reading.skipped[no_spans("results that are not spans")] += others.total()
        kinds = _counted(others, "")
        if not any(work.spans for work in works):
            raise FormatError(
                *quoting("no result marks a span of text, all are of other types ({})", kinds),
                where=upload.name,
                expected="results with start, end and labels",
            )
        reading.note("results that are not spans: ", *kinds, where=upload.name)
    works = _once(_with_gold(works, upload, reading), reading)
    if n_begun := sum(work.is_begun for work in works):
        told = f"{n_begun:,} of {len(works):,} annotations began as predictions of a model: "
        effect = "their agreement with it is not that of people who did not see it"
        reading.note(told, effect, where=upload.name, is_caution=True)
    for work, (key, text) in zip(works, _texts(works), strict=True):
        reading.calls("text_key", key)
        beside = {} if work.is_flat else {k: v for k, v in work.fields.items() if k != key}
        if beside.get(DOCUMENT) == work.document:
            del beside[DOCUMENT]
        yield Draft(
            where=work.where,
            document=work.document,
            annotator=work.annotator,
            text=text,
            spans=[_with_spaces(span, text) for span in work.spans],
            is_gold=work.is_gold,
            fields={**work.about, **named_fields(beside)},
        )


def _with_spaces(span: DraftSpan, text: str) -> DraftSpan:
    """Give the stored words their white space back: some versions leave line ends out of them."""
    if span.surface is None:
        return span
    found = text[max(span.start, 0) : max(span.end, 0)]
    return replace(span, surface=found) if _same_signs(found, span.surface) else span


def _same_signs(found: str, stored: str) -> bool:
    return "".join(found.split()) == "".join(stored.split())


def _counted(counts: Counter[str], by: str) -> tuple[Piece, ...]:
    """How often there was what, for a message."""
    parts: list[Piece] = []
    for name, n in counts.items():
        parts += [f", {n} {by}" if parts else f"{n} {by}", Quote(name)]
    return tuple(parts)


# --- Tasks --------------------------------------------------------------------


def _of_source(
    source: Source, upload: Upload, reading: Reading, others: Counter[str]
) -> Iterator[_Work]:
    content = source.json()
    for number, task in enumerate(content if isinstance(content, list) else [content], start=1):
        where, item = _named_item(task, "task", number, source.name)
        prefix = upload.prefix_of(source, ", ")
        own = item["data"] if isinstance(item.get("data"), dict) else {}
        name = identifier(item, "id", where) or identifier(own, DOCUMENT, where)
        empty = _Work(where, name or f"{prefix}task {number}", upload.annotator, {})
        if isinstance(item.get("data"), dict) or any(key in item for key in _ANNOTATIONS):
            yield from _of_task(item, empty, reading, others)
        else:
            yield _of_flat_task(item, empty, reading, others)


def _of_task(
    task: dict[str, Any], empty: _Work, reading: Reading, others: Counter[str]
) -> Iterator[_Work]:
    """The annotations of a task of the JSON export, and its predictions if asked for."""
    data = object_of(task.get("data"), empty.where, "'data'")
    strings = {k: v for k, v in data.items() if isinstance(v, str)}
    empty = replace(empty, fields=strings, about=named_fields(task.get("meta")))
    key = next((key for key in _ANNOTATIONS if key in task), _ANNOTATIONS[0])
    for number, annotation in enumerate(listed(task, key, empty.where), start=1):
        where, item = _named_item(annotation, "annotation", number, empty.where)
        if _flag(item, "was_cancelled", where):
            reading.skipped[left_out("cancelled annotations")] += 1
            continue
        who, results = _annotator(item, where), listed(item, "result", where)
        origins = {str(result.get("origin")) for result in results if isinstance(result, dict)}
        work = replace(
            empty,
            where=where,
            annotator=who or empty.annotator,
            unnamed="" if who else "annotator",
            is_gold=_flag(item, "ground_truth", where),
            is_begun=item.get("parent_prediction") is not None
            or not origins.isdisjoint(_PREDICTED),
            updated=str(item.get("updated_at") or ""),
        )
        yield _with_results(work, results, reading, others)
    predictions = listed(task, "predictions", empty.where)
    if predictions and not reading.options["predictions"]:
        reading.skipped[not_read("predictions")] += len(predictions)
        predictions = []
    for number, prediction in enumerate(predictions, start=1):
        where, item = _named_item(prediction, "prediction", number, empty.where)
        model = identifier(item, "model_version", where)
        work = replace(
            empty, where=where, annotator=model or "model", unnamed="" if model else "model"
        )
        yield _with_results(work, listed(item, "result", where), reading, others)
    if unfinished := task.get("drafts"):
        n_unfinished = len(unfinished) if isinstance(unfinished, list) else 1
        reading.skipped[not_read("unfinished drafts")] += n_unfinished


def _of_flat_task(
    task: dict[str, Any], empty: _Work, reading: Reading, others: Counter[str]
) -> _Work:
    """The one annotation of a task of the JSON-MIN export."""
    where = empty.where
    if identifier(task, "annotation_id", where) is not None:
        where = (*pieces(where), ", annotation ", Quote(task["annotation_id"]))
    values = []
    for key, value in task.items():
        regions = value if isinstance(value, list) else []
        if regions and all(isinstance(region, dict) and "end" in region for region in regions):
            values += [(key, region) for region in regions]
        elif regions and all(isinstance(region, dict) for region in regions):
            others[key] += len(regions)
    if not values and not any(key in task for key in (*_ANNOTATOR, "annotation_id")):
        found = "neither 'annotations' nor 'annotator' nor labelled spans were found"
        expected = "a task of Label Studio's JSON or JSON-MIN export"
        raise FormatError(found, where=where, expected=expected)
    fields = {k: v for k, v in task.items() if isinstance(v, str) and k not in _ABOUT}
    who = _annotator(task, where)
    work = replace(
        empty,
        where=where,
        annotator=who or empty.annotator,
        unnamed="" if who else "annotator",
        fields=fields,
        is_flat=True,
        updated=str(task.get("updated_at") or ""),
    )
    results = [{"type": _type_of(value), "value": value, "from_name": key} for key, value in values]
    return _with_results(work, results, reading, others)


def _type_of(value: Mapping[str, Any]) -> str:
    """The type of a result, which JSON-MIN does not name, by the key of its labels."""
    known = (key for key in value if key.endswith("labels") or key in ("choices", "taxonomy"))
    return next(known, "labels")


def _named_item(item: object, kind: str, number: int, outer: Text) -> tuple[Text, dict[str, Any]]:
    """A task, annotation or prediction, and its place: by its identifier, else by its number."""
    checked = object_of(item, outer, f"{kind} #{number}")
    separator = ", " if isinstance(outer, tuple) else ": "
    where = (*pieces(outer), f"{separator}{kind} #{number}")
    if identifier(checked, "id", where) is not None:
        where = (*pieces(outer), f"{separator}{kind} ", Quote(checked["id"]))
    return where, checked


def _annotator(item: Mapping[str, Any], where: Text) -> str | None:
    """The annotator: the mail address, else the user name, else the number."""
    key = next((key for key in _ANNOTATOR if item.get(key) is not None), None)
    if key is None or not isinstance(item[key], dict):
        return None if key is None else identifier(item, key, where)
    place = (*pieces(where), f": {key!r}")
    names = (identifier(item[key], name, place) for name in ("email", "username", "id"))
    annotator = next((name for name in names if name is not None), None)
    if annotator is None:
        raise FormatError("has no email, username or id", where=place, expected="one of them")
    return annotator


# --- Results ------------------------------------------------------------------


def _with_results(
    work: _Work, results: Sequence[object], reading: Reading, others: Counter[str]
) -> _Work:
    """Add the spans of an annotation; count results of other types."""
    spans: list[DraftSpan] = []
    targets: dict[str, None] = {}
    is_html = False
    for number, result in enumerate(results, start=1):
        where = (*pieces(work.where), f", result #{number}")
        item = object_of(result, work.where, f"result #{number}")
        kind = item.get("type", "labels")
        if not isinstance(kind, str):
            raise refused(kind, "'type'", where, "a string")
        if kind == "paragraphlabels":
            why = "type 'paragraphlabels' marks turns of a dialogue, which have no text in common"
            raise FormatError(why, where=where, expected="spans of one text")
        if kind not in _SPANS:
            others[kind] += 1
            continue
        value = object_of(item.get("value"), where, "'value'")
        is_html = is_html or isinstance(value.get("globalOffsets"), dict)
        name = item.get("id")
        own = _spans_of(value, kind, where, name if isinstance(name, str) else "")
        if not own:
            reading.skipped[left_out("spans without labels", " ignored")] += 1
            continue
        spans += own
        target = identifier(item, "to_name", where)
        targets |= {} if target is None else {target: None}
        for key in ("from_name", "to_name"):
            if isinstance(item.get(key), str):
                reading.calls(key, item[key])
    if len(targets) > 1:
        found = quoting("spans lie in several texts (to_name {})", quotes(targets))
        raise FormatError(*found, where=work.where, expected="spans of one text in a task")
    return replace(work, spans=spans, is_html=is_html)


def _spans_of(value: Mapping[str, Any], kind: str, where: Text, name: str) -> list[DraftSpan]:
    """A span for each label of a result."""
    place = value
    if isinstance(value.get("globalOffsets"), dict):
        place = value["globalOffsets"]
    for key in ("start", "end"):
        if isinstance(place.get(key), str) and place[key].startswith("/"):
            raise FormatError(
                f"{key!r} is ",
                *quoting("the place {} in a web page, without 'globalOffsets'", place[key]),
                where=where,
                expected="both",
                remedy="save the annotation again with a newer Label Studio",
            )
    start, end = interval(place, where)
    surface = words_of(value, where)
    labels = listed(value, kind if kind in value else "labels", where)
    return [
        DraftSpan(start, end, label_of(label, where, "a label"), surface, where, id=name)
        for label in labels
    ]


# --- All annotations ----------------------------------------------------------


def _with_gold(works: list[_Work], upload: Upload, reading: Reading) -> list[_Work]:
    """Assign ground truths (starred annotations) to a gold standard, if that is asked for."""
    makers = Counter(work.annotator for work in works if work.is_gold)
    if reading.options["gold"] != STARRED:
        if makers:
            reading.note(
                f"{makers.total()} annotations are marked as ground truth, by a star, and stay "
                "with their annotators (",
                *(Use("gold", STARRED), " makes them a gold standard)"),
                where=upload.name,
            )
        return [replace(work, is_gold=False) for work in works]
    if not makers:
        expected = "annotations that are marked as ground truth"
        raise FormatError("no annotation has a star", where=upload.name, expected=expected)
    if any(work.annotator == STARRED for work in works):
        found = ("an annotator is called ", Quote(STARRED))
        raise FormatError(*found, where=upload.name, expected="another name")
    starred: dict[str, _Work] = {}
    for work in works:
        first = starred.setdefault(work.document, work) if work.is_gold else work
        if first.annotator != work.annotator:
            raise FormatError(
                *quoting("is marked as ground truth by {}, and so is the one ", work.annotator),
                *quoting("by {} at {}", first.annotator, pieces(first.where)),
                where=work.where,
                expected="one ground truth of a task",
                remedy="remove one of the stars",
            )
    reading.note(
        "ground truth annotations are the gold standard and not counted for their annotators: ",
        *_counted(makers, "by "),
        where=upload.name,
    )
    return [replace(work, annotator=STARRED) if work.is_gold else work for work in works]


def _once(works: Sequence[_Work], reading: Reading) -> list[_Work]:
    """One annotation of a task by each annotator: the one that was changed last."""
    kept: dict[tuple[str, str], _Work] = {}
    for work in works:
        first = kept.setdefault((work.document, work.annotator), work)
        if first is work:
            continue
        if first.unnamed and work.unnamed:
            raise _of_nobody(first, work)
        what = "annotations replaced by a later one"
        reading.mend("repeated", what, partial(_again, first, work))
        if work.updated >= first.updated:
            kept[work.document, work.annotator] = work
    return list(kept.values())


def _of_nobody(first: _Work, work: _Work) -> FormatError:
    """The error for two annotations or predictions of a task that cannot be told apart."""
    what, key = "predictions", "model_version"
    if work.unnamed == "annotator":
        what, key = "annotations", "completed_by"
    return FormatError(
        *(f"names no {work.unnamed}, nor does the one at ", *pieces(first.where)),
        where=work.where,
        expected=f"{key!r}, by which {what} of a task are told apart",
        remedy=f"export them with their {work.unnamed}s",
    )


def _again(first: _Work, work: _Work) -> FormatError:
    return FormatError(
        *(Quote(work.annotator), " annotated this task before, at ", *pieces(first.where)),
        where=work.where,
        expected="one annotation of a task by each annotator",
        remedy=("remove one of them, or pass ", Use("repeated", "last")),
    )


def _texts(works: Sequence[_Work]) -> list[tuple[str, str]]:
    """Find the text of each task among its fields, with the name of its field.

    The export does not say which field was annotated. Where a task has several strings,
    it is the field that the spans of all tasks fit, above all the one named ``text``.
    """
    unclear = [work for work in works if len(work.fields) > 1]
    key = _field(unclear) if unclear else ""
    texts = []
    for work in works:
        if not work.fields:
            expected = "a string in its data"
            raise FormatError("the task has no text", where=work.where, expected=expected)
        name = key if len(work.fields) > 1 else next(iter(work.fields))
        text = work.fields[name]
        if work.spans and _ADDRESS.fullmatch(text):
            raise FormatError(
                *quoting("field {} holds the address {} instead of the text", name, text),
                where=work.where,
                remedy="put the texts themselves into the export",
            )
        texts.append((name, _page_text(text, work.where) if work.is_html else text))
    return texts


def _field(works: Sequence[_Work]) -> str:
    """The field that holds the text in tasks with several strings."""
    shared = [name for name in works[0].fields if all(name in work.fields for work in works)]
    fitting = [name for name in shared if all(_fits(work, name) for work in works)]
    # Where nothing fits, an error about a wrong offset is more helpful than one about fields.
    for names in (fitting, shared):
        if "text" in names or len(names) == 1:
            return "text" if "text" in names else names[0]
        for known in ({DOCUMENT}, {DOCUMENT, NOTE}):
            others = [name for name in names if name not in known]
            if len(others) == 1:
                return others[0]
    fields = dict.fromkeys(name for work in works for name in work.fields)
    raise FormatError(
        *quoting("any of the fields {} may hold the text", quotes(fields)),
        where=works[0].where,
        expected="one string in the data of a task, or one named 'text', or one that the words "
        "stored with the spans fit",
    )


def _fits(work: _Work, name: str) -> bool:
    """Whether all spans lie in a field and cover the words stored with them."""
    text = work.fields[name]
    if work.is_html:
        text = _page_text(text, work.where)
    places = [(span.start, span.end) for span in work.spans]
    try:
        other = code_points(text, places, work.where)
    except SpanError:
        other = places
    return any(
        all(
            0 <= start <= end <= len(text)
            and (span.surface is None or _same_signs(text[start:end], span.surface))
            for (start, end), span in zip(offsets, work.spans, strict=True)
        )
        for offsets in (places, other)
    )


class _Page(HTMLParser):
    """Collect the text of a web page as offsets count it: a line break is one character."""

    def __init__(self) -> None:
        super().__init__(convert_charrefs=True)
        self.parts: list[str] = []
        self.n_broken = 0

    def handle_data(self, data: str) -> None:
        self.parts.append(data)
        # For the end of each such tag, all the rest of the page is looked through.
        self.n_broken += data.startswith("<") and data != "<"
        if self.n_broken > _MOST_BROKEN:
            raise ValueError(f"more than {_MOST_BROKEN} tags do not end")

    def handle_starttag(self, tag: str, attrs: object) -> None:  # noqa: ARG002
        if tag == "br":
            self.parts.append("\n")


def _page_text(page: str, where: Text) -> str:
    """The text of a web page, without tags."""
    try:
        return _text_of(page)
    except Exception as error:  # it asserts on some broken pages
        found = quoting("the text is not readable as HTML ({})", str(error))
        raise FormatError(*found, where=where) from None


@lru_cache(maxsize=1)  # the annotations of a page come one after the other
def _text_of(page: str) -> str:
    parser = _Page()
    parser.feed(page)
    parser.close()
    return "".join(parser.parts)


# --- JSON values --------------------------------------------------------------


def _flag(item: Mapping[str, Any], key: str, where: Text) -> bool:
    value = item.get(key)
    if value is not None and not isinstance(value, bool):
        raise refused(value, f"{key!r}", where, "true or false")
    return bool(value)
