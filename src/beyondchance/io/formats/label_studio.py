"""Label Studio: the JSON and JSON-MIN exports, with all annotators in one file."""

from __future__ import annotations

import re
from collections import Counter, defaultdict
from collections.abc import Iterable, Iterator, Mapping, Sequence
from dataclasses import dataclass, replace
from functools import lru_cache, partial
from html.parser import HTMLParser
from typing import Any, NamedTuple

from beyondchance.errors import FormatError
from beyondchance.io.assembling import again
from beyondchance.io.columns import named_fields
from beyondchance.io.conventions import bare, fits
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.options import Reading
from beyondchance.io.registry import Upload, by_files, each_upload
from beyondchance.io.shapes import Item, Row, Shape, objects, written_places
from beyondchance.io.sources import Source
from beyondchance.io.values import quoting, refusal
from beyondchance.messages import Piece, Quote, Text, Use, pieces, quotes
from beyondchance.tallies import left_out, no_spans, not_read

STARRED = "starred"
"""The value of the option gold that asks for ground truths, and the name of that gold standard."""
DOCUMENT = "document_name"
"""The key of the data of a task under which its name is, if the task itself has none."""
NOTE = "note"
"""The key of the data of a task under which there is a note for its annotators."""
_SHAPE = Shape(kind="result", words="text", id="id")
_EDGES = ("start", "end")
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


class _Task(NamedTuple):
    """A task, before it is known which field of its data holds the text.

    Attributes
    ----------
    document : str
    data : mapping
        All data of the task.
    fields : mapping of str to str
        The strings among them, one of which is the text.
    about : mapping of str to str
        What else is known about the task.
    is_flat : bool
        Whether the strings next to the text may be answers of the annotator.
    """

    document: str
    data: Item
    fields: Mapping[str, str]
    about: Mapping[str, str]
    is_flat: bool


@dataclass(frozen=True, slots=True, kw_only=True)
class _Work:
    """One annotation of a task.

    Attributes
    ----------
    where : Text
    annotator : str
    task : _Task
    spans : sequence of DraftSpan
    is_html : bool
        Whether the offsets count the text of a web page, without its tags.
    is_gold : bool
    is_begun : bool
        Whether it began as a prediction that the annotator was shown.
    updated : str
        When it was changed last, as the file writes it: later times sort behind.
    made : object
        When it was made, or else changed: a star that is set later is a change, too.
    unnamed : str
        What the file should name and does not: the annotator, or the model of a prediction.
    """

    where: Text
    annotator: str
    task: _Task
    spans: Sequence[DraftSpan]
    is_html: bool
    is_gold: bool
    is_begun: bool
    updated: str
    made: object
    unnamed: str

    @property
    def document(self) -> str:
        """The name of the task."""
        return self.task.document

    def text_in(self, name: str) -> str:
        """Return the text that a field holds."""
        text = self.task.fields[name]
        return _page_text(text, self.where) if self.is_html else text


def _looks_right(source: Source) -> bool:
    """Return whether a file looks like an export of Label Studio."""
    head = source.beginning
    if not source.is_json:
        return False
    if _IS_TASK.search(head):
        return bool(_IS_ANNOTATION.search(head) or _IS_DATA.search(head))
    return bool(_IS_MIN.search(head) and (_IS_LABELLED.search(head) or _IS_TIMED.search(head)))


is_format = by_files(all, _looks_right)


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read all tasks: a draft for each annotation that was not cancelled."""
    others: Counter[str] = Counter()
    works = [work for source in upload.sources for work in _works(source, upload, reading, others)]
    if others:
        reading.skipped[no_spans("results that are not spans")] += others.total()
        kinds = _counted(others, "")
        if not any(work.spans for work in works):
            raise refusal(
                upload.name,
                "no result marks a span of text, all are of other types ({})",
                kinds,
                expected="results with start, end and labels",
            )
        reading.note("results that are not spans: ", *kinds, where=upload.name)
    works = _once(_with_gold(works, upload, reading), reading)
    if n_begun := sum(work.is_begun for work in works):
        told = f"{n_begun:,} of {len(works):,} annotations began as predictions of a model: "
        effect = "their agreement with it is not that of people who did not see it"
        reading.note(told, effect, where=upload.name, is_caution=True)
    for work, key in zip(works, _text_keys(works), strict=True):
        text, task = work.text_in(key), work.task
        reading.calls("text_key", key)
        beside = {} if task.is_flat else {k: v for k, v in task.fields.items() if k != key}
        if beside.get(DOCUMENT) == task.document:
            del beside[DOCUMENT]
        yield Draft(
            where=work.where,
            document=task.document,
            annotator=work.annotator,
            text=text,
            spans=[_with_spaces(span, text) for span in work.spans],
            is_gold=work.is_gold,
            fields={**task.about, **named_fields(beside)},
            date=work.made,
            tokens=written_places(task.data, "tokens", reading),
            sentences=written_places(task.data, "sentences", reading),
        )


def _with_spaces(span: DraftSpan, text: str) -> DraftSpan:
    """Give the stored words their white space back: some versions leave line ends out of them."""
    found = text[max(span.start, 0) : max(span.end, 0)]
    is_on = span.surface and bare(span.surface) == bare(found)
    return replace(span, surface=found) if is_on else span


def _counted(counts: Counter[str], by: str) -> tuple[Piece, ...]:
    """Return how often there was what, for a message."""
    parts: list[Piece] = []
    for name, n in counts.items():
        parts += [f", {n} {by}" if parts else f"{n} {by}", Quote(name)]
    return tuple(parts)


# --- Tasks --------------------------------------------------------------------


def _named(values: Iterable[object], kind: str, outer: Text) -> Iterator[Row]:
    """Yield tasks, annotations or predictions with their places: by identifier, or by number."""
    for row in objects(values, outer, kind):
        if row.known("id") is not None:
            row = row._replace(where=(*pieces(outer), f": {kind} ", Quote(row.item["id"])))  # noqa: PLW2901
        yield row


def _works(
    source: Source, upload: Upload, reading: Reading, others: Counter[str]
) -> Iterator[_Work]:
    """Yield the annotations of all tasks of a file, and the predictions if asked for."""
    content = source.json()
    tasks = _named(content if isinstance(content, list) else [content], "task", source.name)
    for number, given in enumerate(tasks, start=1):
        key = next((key for key in _ANNOTATIONS if key in given.item), None)
        is_flat = key is None and not isinstance(given.item.get("data"), dict)
        row = _nested(given, others) if is_flat else given
        inner = row.inner("data")
        name = given.known("id") or (None if is_flat else inner.known(DOCUMENT))
        task = _Task(
            name or f"{upload.prefix_of(source, ', ')}task {number}",
            inner.item,
            {k: v for k, v in inner.item.items() if isinstance(v, str)},
            named_fields(row.item.get("meta")),
            is_flat,
        )
        results = {
            "annotation": row.values(key or _ANNOTATIONS[0]),
            "prediction": row.values("predictions"),
        }
        if not reading.options["predictions"]:
            reading.skipped[not_read("predictions")] += len(results.pop("prediction"))
        unfinished = row.item.get("drafts") or []
        n_unfinished = len(unfinished) if isinstance(unfinished, list) else 1
        reading.skipped[not_read("unfinished drafts")] += n_unfinished
        for kind, values in results.items():
            for one in _named(values, kind, row.where):
                if _flag(one, "was_cancelled"):
                    reading.skipped[left_out("cancelled annotations")] += 1
                    continue
                is_model = kind == "prediction"
                who = one.known("model_version") if is_model else _annotator(one)
                found = one.values("result")
                origins = {str(x.get("origin")) for x in found if isinstance(x, dict)}
                is_begun = one.at("parent_prediction") is not None or origins & _PREDICTED
                spans, is_html = _spans(found, one.where, reading, others)
                updated = one.item.get("updated_at")
                yield _Work(
                    where=one.where,
                    annotator=who or ("model" if is_model else upload.annotator),
                    task=task,
                    unnamed="" if who else "model" if is_model else "annotator",
                    spans=spans,
                    is_html=is_html,
                    is_gold=_flag(one, "ground_truth"),
                    is_begun=bool(is_begun) and not is_model,
                    updated=str(updated or ""),
                    made=one.item.get("created_at") or updated,
                )


def _nested(task: Row, others: Counter[str]) -> Row:
    """Return a task of the JSON-MIN export, which has one annotation, as one of the JSON export."""
    results, item = [], task.item
    for key, value in item.items():
        if isinstance(value, list) and value and all(isinstance(x, dict) for x in value):
            if all("end" in region for region in value):
                results += [{"type": _type_of(x), "value": x, "from_name": key} for x in value]
            else:
                others[key] += len(value)
    if not results and item.keys().isdisjoint({*_ANNOTATOR, "annotation_id"}):
        raise refusal(
            task.where,
            "neither 'annotations' nor 'annotator' nor labelled spans were found",
            expected="a task of Label Studio's JSON or JSON-MIN export",
        )
    about = {key: item.get(key) for key in (*_ANNOTATOR, "updated_at", "created_at")}
    data = {key: value for key, value in item.items() if key not in _ABOUT}
    annotation = {**about, "id": item.get("annotation_id"), "result": results}
    return Row(task.where, {"data": data, "annotations": [annotation]})


def _type_of(value: Mapping[str, Any]) -> str:
    """Return the type of a result, which JSON-MIN does not name, by the key of its labels."""
    known = (key for key in value if key.endswith("labels") or key in ("choices", "taxonomy"))
    return next(known, "labels")


def _annotator(row: Row) -> str | None:
    """Return the annotator: the mail address, else the user name, else the number."""
    key = next((key for key in _ANNOTATOR if row.at(key) is not None), "")
    if not isinstance(row.at(key), dict):
        return row.known(key)
    annotator = row.inner(key).known("email", "username", "id")
    if annotator is None:
        raise row.refused(key, "one with an email, username or id")
    return annotator


def _flag(row: Row, key: str) -> bool:
    value = row.at(key)
    if value is not None and not isinstance(value, bool):
        raise row.refused(key, "true or false")
    return bool(value)


def _spans(
    results: list[object], where: Text, reading: Reading, others: Counter[str]
) -> tuple[list[DraftSpan], bool]:
    """Return the spans of an annotation, and whether their text is a web page.

    Results of other types are counted.
    """
    spans: list[DraftSpan] = []
    fields = _answers(results)
    targets: dict[str, None] = {}
    is_html = False
    for result in objects(results, where, _SHAPE.kind):
        kind = result.item.get("type", "labels")
        if not isinstance(kind, str):
            raise result.refused("type", "a string")
        if kind == "paragraphlabels":
            raise refusal(
                result.where,
                "type 'paragraphlabels' marks turns of a dialogue, which have no text in common",
                expected="spans of one text",
            )
        if kind not in _SPANS:
            others[kind] += kind != "choices" or str(result.at("id")) not in fields
            continue
        value = result.inner("value")
        key = kind if kind in value.item else "labels"
        if not value.values(key):
            reading.skipped[left_out("spans without labels", " ignored")] += 1
            continue
        is_html |= isinstance(value.at("globalOffsets"), dict)
        name = result.at("id") if isinstance(result.at("id"), str) else None
        part = {**value.item, **_offsets(value), "id": name}
        marks = _SHAPE._replace(label=key).marks(part, "", result.where, reading)
        spans += [replace(mark, fields=fields.get(mark.id)) for mark in marks]
        target = result.known("to_name")
        targets |= {} if target is None else {target: None}
        for key in ("from_name", "to_name"):
            if isinstance(result.at(key), str):
                reading.calls(key, result.at(key))
    if len(targets) > 1:
        raise refusal(
            where,
            "spans lie in several texts (to_name {})",
            quotes(targets),
            expected="spans of one text in a task",
        )
    return spans, is_html


def _offsets(value: Row) -> Item:
    """Return the start and the end of a result: the places in a web page are its second ones."""
    found = value.at("globalOffsets")
    place = {key: (found if isinstance(found, dict) else value.item).get(key) for key in _EDGES}
    for key, edge in place.items():
        if isinstance(edge, str) and edge.startswith("/"):
            raise refusal(
                value.where,
                f"{key!r} is the place {{}} in a web page, without 'globalOffsets'",
                edge,
                expected="both",
                remedy="save the annotation again with a newer Label Studio",
            )
    return place


def _answers(results: Iterable[object]) -> dict[str, dict[str, str]]:
    """Return what was chosen for each span, by its identifier and by the control."""
    found: defaultdict[str, dict[str, str]] = defaultdict(dict)
    for result in results:
        match result:
            case {
                "type": "choices",
                "id": str(name),
                "from_name": by,
                "value": {"start": _, "choices": [*chosen]},
            }:
                found[name][str(by)] = ", ".join(map(str, chosen))
    return found


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
        raise refusal(
            upload.name,
            "no annotation has a star",
            expected="annotations that are marked as ground truth",
        )
    if any(work.annotator == STARRED for work in works):
        raise refusal(upload.name, "an annotator is called {}", STARRED, expected="another name")
    starred: dict[str, _Work] = {}
    for work in works:
        first = starred.setdefault(work.document, work) if work.is_gold else work
        if first.annotator != work.annotator:
            raise refusal(
                work.where,
                "is marked as ground truth by {}, and so is the one by {} at {}",
                work.annotator,
                first.annotator,
                pieces(first.where),
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
    """Keep one annotation of a task by each annotator: the one that was changed last."""
    kept: dict[tuple[str, str], _Work] = {}
    for work in works:
        first = kept.setdefault((work.document, work.annotator), work)
        if first is work:
            continue
        if first.unnamed and work.unnamed:
            key = "completed_by" if work.unnamed == "annotator" else "model_version"
            raise refusal(
                work.where,
                f"names no {work.unnamed}, nor does the one at {{}}",
                pieces(first.where),
                expected=f"{key!r}, by which they are told apart",
                remedy=f"export them with their {work.unnamed}s",
            )
        what = "annotations replaced by a later one"
        reading.mend("repeated", what, partial(again, first, work, "task"))
        if work.updated >= first.updated:
            kept[work.document, work.annotator] = work
    return list(kept.values())


def _text_keys(works: Sequence[_Work]) -> Iterator[str]:
    """Find the field of each task that holds its text.

    The export does not say which field was annotated. Where a task has several strings,
    it is the field that the spans of all tasks fit, above all the one named ``text``.
    """
    unclear = [work for work in works if len(work.task.fields) > 1]
    key = _field(unclear) if unclear else ""
    for work in works:
        if not work.task.fields:
            raise refusal(work.where, "the task has no text", expected="a string in its data")
        name = key if len(work.task.fields) > 1 else next(iter(work.task.fields))
        is_address = work.spans and _ADDRESS.fullmatch(work.task.fields[name])
        if is_address and not (all(s.surface for s in work.spans) and _fits(work, name)):
            found = "field {} holds the address {} instead of the text"
            raise FormatError(
                *quoting(found, name, work.task.fields[name]),
                where=work.where,
                remedy="put the texts themselves into the export",
            )
        yield name


def _field(works: Sequence[_Work]) -> str:
    """Return the field that holds the text in tasks with several strings."""
    shared = [
        name for name in works[0].task.fields if all(name in work.task.fields for work in works)
    ]
    fitting = [name for name in shared if all(_fits(work, name) for work in works)]
    # Where nothing fits, an error about a wrong offset is more helpful than one about fields.
    for names in (fitting, shared):
        if "text" in names:
            return "text"
        for known in ((), (DOCUMENT,), (DOCUMENT, NOTE)):
            others = [name for name in names if name not in known]
            if len(others) == 1:
                return others[0]
    fields = dict.fromkeys(name for work in works for name in work.task.fields)
    raise refusal(
        works[0].where,
        "any of the fields {} may hold the text",
        quotes(fields),
        expected="one string in the data of a task, or one named 'text', or one that the words "
        "stored with the spans fit",
    )


def _fits(work: _Work, name: str) -> bool:
    """Return whether all spans lie in a field and cover the words stored with them."""
    text = work.text_in(name)
    return any(
        all(fits(text, [(s.start, s.end)], s.surface, unit, bare) for s in work.spans)
        for unit in ("codepoints", "utf16")
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
        self.parts += ["\n"] * (tag == "br")


def _page_text(page: str, where: Text) -> str:
    """Return the text of a web page, without tags."""
    try:
        return _text_of(page)
    except Exception as error:  # it asserts on some broken pages
        raise refusal(where, "the text is not readable as HTML ({})", str(error)) from None


@lru_cache(maxsize=1)  # the annotations of a page come one after the other
def _text_of(page: str) -> str:
    parser = _Page()
    parser.feed(page)
    parser.close()
    return "".join(parser.parts)
