"""Argilla: records with the responses of users to a question about spans.

Records are nested, as ``records.to_json`` writes them, or flattened, as they are on the
Hugging Face hub, where the answers to a question ``q`` are in columns ``q.responses``,
``q.responses.users``, ``q.responses.status`` and ``q.suggestion``.
"""

from __future__ import annotations

from collections.abc import Collection, Iterator, Mapping
from dataclasses import dataclass
from typing import Any

from beyondchance.errors import FormatError, OptionError
from beyondchance.io.conventions import check_unit
from beyondchance.io.drafts import Draft, DraftSpan
from beyondchance.io.json_rows import head_row, rows_of
from beyondchance.io.options import Reading
from beyondchance.io.parquet_rows import parquet_rows, schema_of
from beyondchance.io.registry import Upload, each_upload
from beyondchance.io.sources import is_parquet
from beyondchance.io.values import identifier, interval, label_of, listed, object_of, refused
from beyondchance.messages import Use, given, quotes
from beyondchance.tallies import left_out, not_annotated, not_read

_LEFT_OUT = {"discarded": left_out("discarded responses"), "draft": left_out("draft responses")}
_STATUSES = ("submitted", *_LEFT_OUT)
_RESPONSES, _SUGGESTION = ".responses", ".suggestion"
_FLAT_PARTS = (".users", ".status", ".score", ".agent")
# Keys of a flattened record that are neither fields nor metadata.
_ABOUT = frozenset({"id", "status", "_server_id", "score"})


@dataclass(frozen=True, slots=True)
class _Answer:
    """What a user or a model answered to one question.

    Attributes
    ----------
    where, question : str
    annotator : str, optional
    value : object
    status : str, optional
        Where the file has it.
    is_suggestion : bool
        Whether it is a model's.
    """

    where: str
    question: str
    annotator: str | None
    value: Any
    status: str | None = None
    is_suggestion: bool = False


@dataclass(frozen=True, slots=True)
class _Record:
    """One record, nested or flattened.

    Attributes
    ----------
    where, document : str
    texts : dict
        The fields that hold text; of a flattened record also its metadata.
    fields : dict
        The metadata that are text.
    answers : list of _Answer
    """

    where: str
    document: str
    texts: dict[str, str]
    fields: dict[str, str]
    answers: list[_Answer]


def is_format(upload: Upload) -> bool:
    """Whether the first object is a record."""
    if upload.data is not None or upload.is_folder:
        return False
    source = upload.sources[0]
    if is_parquet(source):
        schema = schema_of(source)
        return schema is not None and _has_answers(schema.names)
    row = head_row(source, _seems_a_record)
    if row is None:
        return False
    if isinstance(row.get("fields"), dict):
        return all(isinstance(row.get(key), dict) for key in ("responses", "suggestions"))
    return _has_answers(row)


def _seems_a_record(row: Any) -> bool:
    """Whether the beginning of a record is of a nested or a flattened one."""
    return isinstance(row, dict) and not row.keys().isdisjoint({"fields", "_server_id", "status"})


def _has_answers(keys: Collection[str]) -> bool:
    """Whether a flattened record has answers to a question."""
    return any(
        f"{key}.users" in keys or f"{key}.agent" in keys
        for key in keys
        if key.endswith((_RESPONSES, _SUGGESTION))
    )


@each_upload
def read(upload: Upload, reading: Reading) -> Iterator[Draft]:
    """Read the answers to the question about spans: users are annotators."""
    source = upload.sources[0]
    rows = parquet_rows(source) if is_parquet(source) else rows_of(source)
    records = [_record(row, where, number) for where, number, row in rows]
    answers = [answer for record in records for answer in record.answers]
    question = _question(answers, source.name, reading)
    if any(answer.status is None and not answer.is_suggestion for answer in answers):
        reading.note(
            "does not say which responses are drafts or were discarded, so that all are read",
            where=source.name,
        )
    for record in records:
        n_others = sum(answer.question != question for answer in record.answers)
        if n_others:
            reading.skipped[not_read("answers to other questions")] += n_others
        works = [answer for answer in record.answers if _is_read(answer, question, reading)]
        if not works:
            reading.skipped[not_annotated("records")] += 1
        for answer in works:
            key = _text_key(record)
            text, spans = record.texts[key], _spans(answer)
            if reading.options["offsets"] is None:
                check_unit(text, spans, answer.where, _UNITS)
            yield Draft(
                where=answer.where,
                document=record.document,
                annotator=answer.annotator or upload.annotator,
                text=text,
                spans=spans,
                fields={name: value for name, value in record.fields.items() if name != key},
            )


def _is_read(answer: _Answer, question: str, reading: Reading) -> bool:
    """Whether an answer is the work of an annotator; if it is not, it is counted."""
    if answer.question != question:
        return False
    if answer.is_suggestion:
        if answer.value is None:
            return False
        if not reading.options["predictions"]:
            reading.skipped[not_read("suggestions")] += 1
        return bool(reading.options["predictions"])
    if answer.status in _LEFT_OUT:
        reading.skipped[_LEFT_OUT[answer.status]] += 1
    elif answer.value is None:
        reading.skipped[left_out("responses without a value")] += 1
    return answer.status not in _LEFT_OUT and answer.value is not None


def _spans(answer: _Answer) -> list[DraftSpan]:
    if not isinstance(answer.value, list):
        raise refused(answer.value, "the answer", answer.where, "a list of spans")
    spans = []
    for number, item in enumerate(answer.value, start=1):
        where = f"{answer.where}, span {number}"
        span = object_of(item, where)
        spans.append(
            DraftSpan(*interval(span, where), label_of(span.get("label"), where), where=where)
        )
    return spans


# Spans that are marked in Argilla's pages count UTF-16 units (argilla-io/argilla#5729).
_UNITS = (
    *("pass ", Use("offsets", "utf16"), " for spans marked in Argilla's pages, or "),
    *(Use("offsets", "codepoints"), " for spans sent by its library"),
)


# --- What is annotated, and what was asked ------------------------------------


def _text_key(record: _Record) -> str:
    """The field that was annotated: the only one with text, or the one named ``text``."""
    names = list(record.texts)
    if len(names) == 1 or "text" in record.texts:
        return names[0] if len(names) == 1 else "text"
    found = ("the fields with text are ", *quotes(names))
    if not names:
        raise FormatError("has no field with text", where=record.where, expected="one")
    raise FormatError(
        *found,
        where=record.where,
        expected="one of them, or one named 'text'",
        remedy="rename the field that was annotated to 'text'",
    )


def _question(answers: list[_Answer], file: str, reading: Reading) -> str:
    """The question about spans, by its answers, or the one that was asked for."""
    asked = reading.options["layer"]
    names = list(dict.fromkeys(answer.question for answer in answers))
    if asked is not None:
        if asked not in names:
            found = (*given("layer", asked), ", and the questions are ", *quotes(names))
            raise OptionError(*found, where=file, expected="one of them")
        return str(asked)
    about_spans = dict.fromkeys(answer.question for answer in answers if _has_spans(answer.value))
    # Where nothing was marked at all, an empty list is all there is to go by.
    about_spans = about_spans or dict.fromkeys(
        answer.question for answer in answers if answer.value == []
    )
    if len(about_spans) == 1:
        return next(iter(about_spans))
    if not about_spans:
        raise FormatError(
            *("no answer has spans; the questions are ", *quotes(names)),
            where=file,
            expected="a question about spans (SpanQuestion) with responses",
        )
    raise FormatError(
        *("several questions are about spans: ", *quotes(about_spans)),
        where=file,
        expected="one of them",
        remedy=("choose it with ", Use("layer", next(iter(about_spans)))),
    )


def _has_spans(value: Any) -> bool:
    return isinstance(value, list) and any(
        isinstance(item, dict) and "start" in item and "end" in item for item in value
    )


# --- Records ------------------------------------------------------------------


def _record(row: Any, where: str, number: int) -> _Record:
    item = object_of(row, where)
    is_nested = isinstance(item.get("fields"), dict)
    name = identifier(item, "id", where) or identifier(item, "_server_id", where) or str(number)
    if is_nested:
        answers, fields = list(_nested_answers(item, where)), item.get("metadata")
        texts = _texts(item["fields"])
    else:
        answers, fields = list(_flat_answers(item, where)), item
        texts = {key: text for key, text in _texts(item).items() if _is_field(key)}
    metadata = _texts(fields) if isinstance(fields, dict) else {}
    metadata = {key: text for key, text in metadata.items() if is_nested or key in texts}
    return _Record(where, name, texts, metadata, answers)


def _texts(values: Mapping[str, Any]) -> dict[str, str]:
    return {key: value for key, value in values.items() if isinstance(value, str)}


def _is_field(key: str) -> bool:
    """Whether a key of a flattened record is not about the record or its answers."""
    parts = (f"{part}{more}" for part in (_RESPONSES, _SUGGESTION) for more in ("", *_FLAT_PARTS))
    return key not in _ABOUT and not key.endswith(tuple(parts))


def _nested_answers(item: Mapping[str, Any], where: str) -> Iterator[_Answer]:
    for question, responses in _objects(item, "responses", where):
        for number, response in enumerate(listed({question: responses}, question, where), start=1):
            at = f"{where}, response {number}"
            answer = object_of(response, at)
            user, status = identifier(answer, "user_id", at), answer.get("status")
            yield _Answer(at, question, user, answer.get("value"), _status(status, at))
    for question, suggestion in _objects(item, "suggestions", where):
        at = f"{where}, suggestion"
        answer = object_of(suggestion, at)
        agent = identifier(answer, "agent", at) or "suggestion"
        yield _Answer(at, question, agent, answer.get("value"), is_suggestion=True)


def _objects(item: Mapping[str, Any], key: str, where: str) -> Iterator[tuple[str, Any]]:
    value = {} if item.get(key) is None else item[key]
    yield from object_of(value, where, f"{key!r}").items()


def _flat_answers(item: Mapping[str, Any], where: str) -> Iterator[_Answer]:
    for key in item:
        if key.endswith(_RESPONSES):
            values = listed(item, key, where)
            users, statuses = (listed(item, f"{key}.{part}", where) for part in ("users", "status"))
            for part, found in (("users", users), ("status", statuses)):
                if found and len(found) != len(values):
                    problem = f"has {len(values)} answers in {key!r} and {len(found)} in '{part}'"
                    raise FormatError(problem, where=where, expected="as many of each")
            for i, value in enumerate(values):
                at = f"{where}, response {i + 1}"
                yield _Answer(
                    at,
                    key.removesuffix(_RESPONSES),
                    identifier({"user": users[i]}, "user", at) if users else None,
                    value,
                    _status(statuses[i], at) if statuses else None,
                )
        elif key.endswith(_SUGGESTION):
            question, at = key.removesuffix(_SUGGESTION), f"{where}, suggestion"
            agent = identifier(item, f"{key}.agent", at) or "suggestion"
            yield _Answer(at, question, agent, item[key], is_suggestion=True)


def _status(value: Any, where: str) -> str | None:
    if value is None or (isinstance(value, str) and value in _STATUSES):
        return value
    raise refused(value, "the status", where, f"one of {', '.join(_STATUSES)}")
